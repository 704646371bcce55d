/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft info: what is in a network, where each operator would run, and why.
 */
#include <stdio.h>
#include <string.h>

#include "weft_cmd.h"

enum { CONFIG = N_LOAD, STRICT, MEMORY };

static const struct option_def defs[] = { LOAD_OPTIONS, { "--config", true }, { "--strict", false }, { "--memory", true },
	{ NULL, false } };

static void print_port(const char *kind, int i, const struct weft_port *p)
{
	printf("%s %d: %s %s [", kind, i, p->name, weft_dtype_name(p->dtype));
	for (int d = 0; d < p->rank; d++)
		printf("%s%lld", d ? "," : "", (long long)p->dim[d]);
	printf("]");
	if (p->quantised)
		printf(" scale %.9g zero point %lld", p->scale, (long long)p->zp);
	printf("\n");
}

static void print_plan(const struct weft_session_options *so, const struct weft_report *r)
{
	char host[32];

	printf("%4s %-4s %12s %10s %9s  %-28s %s\n", "op", "unit", "MACs", "estimate", "host ms", "operator", "why");
	for (int i = 0; i < r->n_ops; i++) {
		const struct weft_op_report *o = &r->ops[i];
		snprintf(host, sizeof(host), o->host_ms < 0 ? "?" : o->host_ms > 0 ? "%.3g" : "", o->host_ms);
		printf("%4d %-4s %12llu %10llu %9s  %-28s %s\n", o->index, o->unit == WEFT_RUN_NPU ? "npu" : "host",
		       (unsigned long long)o->macs, (unsigned long long)o->estimate, host, o->op, o->reason);
	}
	printf("%llu MACs on the NPU, estimate %llu cycles, memory %s\n", (unsigned long long)r->macs,
	       (unsigned long long)r->estimate, memory_name(so));
	if (r->host_ms > 0)
		printf("about %.3g ms of processor time on the host (golden, as measured on one core of an AMD EPYC)\n", r->host_ms);
}

struct args { struct weft_session_options o; struct load_args load; const char *model; };

static int take(struct args *a, int opt, const char *v)
{
	if (opt >= 0 && opt < N_LOAD)
		return take_load(&a->load, opt, v);
	switch (opt) {
	case CONFIG: a->o.config = v; return 0;
	case STRICT: a->o.strict = true; return 0;
	case MEMORY: return parse_memory(v, &a->o.memory);
	default:
		if (a->model)
			return fail(-1, "info: \"%s\": one model at a time", v);
		a->model = v;
		return 0;
	}
}

static int show(const struct args *a, const weft_net *net)
{
	char msg[WEFT_MSG_LEN] = "";
	weft_session *s;
	struct weft_report *r;
	struct weft_port p;

	int err = weft_session_open(net, &a->o, &s, msg);
	if (err)
		return fail(status_of(err), "%s: %s", a->model, msg);
	err = weft_session_plan(s, &r, msg);
	for (int i = 0; !err && i < weft_net_n_inputs(net); i++)
		if (!weft_net_input(net, i, &p))
			print_port("input", i, &p);
	for (int i = 0; !err && i < weft_net_n_outputs(net); i++)
		if (!weft_net_output(net, i, &p))
			print_port("output", i, &p);
	if (!err && weft_net_runtime(net))
		printf("bits of %s\n", weft_runtime_name(weft_net_runtime(net)));
	if (!err) {
		print_plan(&a->o, r);
		weft_report_free(r);
	}
	weft_session_close(s);
	return err ? fail(status_of(err), "%s: %s", a->model, msg) : EXIT_DONE;
}

static int info_main(int argc, char **argv)
{
	struct args a = { .o = weft_session_options_default() };
	const char *v;
	weft_net *net;
	int at = 0, opt, bad = 0;

	while (!bad && (opt = next_option(&at, argc, argv, defs, &v)) != -2)
		bad = opt == -3 ? -1 : take(&a, opt, v);
	if (!bad && !a.model)
		bad = fail(-1, "info: no model is named");
	int status = bad ? EXIT_USAGE : load_net(a.model, &a.load, &net);
	load_release(&a.load);
	if (status)
		return status;
	status = show(&a, net);
	weft_net_free(net);
	return status;
}

const struct subcommand cmd_info = {
	"info", "operators, types, shapes, where each runs and why",
	"usage: weft info MODEL [options]\n\n"
	"  --config C          " WEFT_CONFIG_NAMES " (default: w16)\n"
	"  --memory M          of the estimate: ddr (default) or sram\n"
	"  --strict            refuse host operators in the middle of the network\n" LOAD_USAGE, info_main,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft info: what is in a network, where each operator would run, and why.
 */
#include <stdio.h>
#include <string.h>

#include "weft_cmd.h"

static const struct option_def defs[] = { { "--config", true }, { "--strict", false },
	{ "--requant", true }, { "--bind", true }, { "--level", true }, { "--memory", true }, { "--backbone", false }, { NULL, false } };

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

static int info_main(int argc, char **argv)
{
	struct weft_session_options o = weft_session_options_default();
	char msg[WEFT_MSG_LEN] = "";
	const char *model = NULL, *v;
	weft_net *net;
	weft_session *s;
	struct weft_report *r;
	struct weft_port p;
	struct load_args load = { 0 };
	int at = 0, opt;

	while ((opt = next_option(&at, argc, argv, defs, &v)) != -2) {
		if (opt == -3)
			return EXIT_USAGE;
		if (opt == 0)
			o.config = v;
		else if (opt == 1)
			o.strict = true;
		else if (opt >= 2 && opt <= 4) {
			if (opt == 4 ? take_level(&load, v) : opt == 2 ? take_requant(&load, v) : take_bind(&load, v))
				return EXIT_USAGE;
		}
		else if (opt == 6) {
			load.o.backbone = true;
		} else if (opt == 5) {
			if (parse_memory(v, &o.memory))
				return EXIT_USAGE;
		} else
			model = v;
	}
	if (!model)
		return fail(EXIT_USAGE, "info: no model is named");
	int err = weft_net_load_file_with(model, &load.o, &net, msg);
	load_release(&load);
	if (err)
		return fail(status_of(err), "%s", msg);
	for (int i = 0; i < weft_net_n_inputs(net); i++)
		if (!weft_net_input(net, i, &p))
			print_port("input", i, &p);
	for (int i = 0; i < weft_net_n_outputs(net); i++)
		if (!weft_net_output(net, i, &p))
			print_port("output", i, &p);
	err = weft_session_open(net, &o, &s, msg);
	if (!err) {
		err = weft_session_plan(s, &r, msg);
		if (!err) {
			print_plan(&o, r);
			weft_report_free(r);
		}
		weft_session_close(s);
	}
	if (err)
		fail(0, "%s: %s", model, msg);
	weft_net_free(net);
	return status_of(err);
}

const struct subcommand cmd_info = {
	"info", "operators, types, shapes, where each runs and why",
	"usage: weft info MODEL [--config w16] [--memory ddr|sram] [--strict]\n\n" LOAD_USAGE, info_main,
};

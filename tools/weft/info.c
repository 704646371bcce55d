/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft info: what is in a network, where each operator would run, and why.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "weft_cmd.h"

enum { CONFIG = N_LOAD, STRICT, MEMORY, JSON, NO_CACHE };

static const struct option_def defs[] = { LOAD_OPTIONS, { "--config", true }, { "--strict", false }, { "--memory", true },
	{ "--json", false }, { "--no-cache", false }, { NULL, false } };

/* The part of all MACs that the NPU does, 0 to 1; a network without any leaves none to the host. */
static double share_of_macs(const struct weft_report *r)
{
	return r->macs_all ? (double)r->macs / (double)r->macs_all : 1;
}

/* A part as percent, rounded down to a tenth: 100 means all of it. */
static double percent(double part)
{
	return (double)(int)(part * 1000) / 10;
}

/* Whether multiplications depend on the data: those of a loop are counted for one round, those of a branch for the larger side. */
static bool is_open(const struct weft_report *r)
{
	for (int i = 0; i < r->n_ops; i++)
		if (r->ops[i].host_ms < 0 && r->ops[i].macs)
			return true;
	return false;
}

/* The line that says how much of the network the NPU does. */
static void print_shares(const struct weft_session_options *so, const struct weft_report *r)
{
	printf("on the NPU (%s): %.1f %% of %llu MACs%s, %.1f %% of the cycles (%llu; the host's %.3g ms taken as cycles at 100 MHz), "
	       "%d switch%s between NPU and host\n", so->config, percent(share_of_macs(r)), (unsigned long long)r->macs_all,
	       is_open(r) ? " (a loop's in one round, a branch's on its larger side)" : "", percent(r->npu_cycles), (unsigned long long)r->estimate, r->host_ms, r->n_switches, r->n_switches == 1 ? "" : "es");
	print_folded(r);
}

static void print_port(const char *kind, int i, const struct weft_port *p)
{
	printf("%s %d: %s %s [", kind, i, shown(p->name), weft_dtype_name(p->dtype));
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

/* An input or output as a JSON object. */
static cJSON *json_port(const struct weft_port *p)
{
	cJSON *j = cJSON_CreateObject(), *shape = cJSON_AddArrayToObject(j, "shape");

	cJSON_AddStringToObject(j, "name", p->name);
	cJSON_AddStringToObject(j, "dtype", weft_dtype_name(p->dtype));
	for (int d = 0; d < p->rank; d++)
		cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)p->dim[d]));
	if (p->quantised) {
		cJSON_AddNumberToObject(j, "scale", p->scale);
		cJSON_AddNumberToObject(j, "zero_point", (double)p->zp);
	}
	return j;
}

/* All inputs, or all outputs, as a JSON array. */
static cJSON *json_ports(const weft_net *net, int n, int (*get)(const weft_net *, int, struct weft_port *))
{
	cJSON *list = cJSON_CreateArray();
	struct weft_port p;

	for (int i = 0; i < n; i++)
		if (!get(net, i, &p))
			cJSON_AddItemToArray(list, json_port(&p));
	return list;
}

/* The plan as one JSON object on standard output. Returns 0, or a status with a message. */
static int print_plan_json(const weft_net *net, const struct weft_session_options *so, const char *model, const struct weft_report *r)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "model", model);
	cJSON_AddStringToObject(j, "config", so->config);
	cJSON_AddStringToObject(j, "memory", memory_name(so));
	if (weft_net_runtime(net))
		cJSON_AddStringToObject(j, "runtime", weft_runtime_name(weft_net_runtime(net)));
	if (weft_net_requant(net))
		cJSON_AddStringToObject(j, "requant", weft_requant_name(weft_net_requant(net)));
	cJSON_AddNumberToObject(j, "macs", (double)r->macs_all);
	cJSON_AddNumberToObject(j, "npu_macs", (double)r->macs);
	cJSON_AddNumberToObject(j, "npu_macs_share", share_of_macs(r));
	cJSON_AddNumberToObject(j, "estimate", (double)r->estimate);
	cJSON_AddNumberToObject(j, "host_ms", r->host_ms);
	cJSON_AddNumberToObject(j, "npu_cycles_share", r->npu_cycles);
	cJSON_AddNumberToObject(j, "channels", (double)r->channels);
	cJSON_AddNumberToObject(j, "folded_channels", (double)r->folded);
	cJSON_AddNumberToObject(j, "switches", r->n_switches);
	cJSON *at = cJSON_AddArrayToObject(j, "switch_tensors");
	for (int i = 0; i < r->n_switches; i++)
		cJSON_AddItemToArray(at, cJSON_CreateString(r->switches[i]));
	cJSON_AddItemToObject(j, "inputs", json_ports(net, weft_net_n_inputs(net), weft_net_input));
	cJSON_AddItemToObject(j, "outputs", json_ports(net, weft_net_n_outputs(net), weft_net_output));
	cJSON *ops = json_ops(so, r), *o;
	int i = 0;
	cJSON_ArrayForEach(o, ops)
		cJSON_AddStringToObject(o, "reason", r->ops[i++].reason);
	cJSON_AddItemToObject(j, "ops", ops);
	return print_tree(j);
}

struct args { struct weft_session_options o; struct load_args load; const char *model; bool json; bool no_cache; };

static int take(struct args *a, int opt, const char *v)
{
	if (opt >= 0 && opt < N_LOAD)
		return take_load(&a->load, opt, v);
	switch (opt) {
	case CONFIG: a->o.config = v; return 0;
	case STRICT: a->o.strict = true; return 0;
	case MEMORY: return parse_memory(v, &a->o.memory);
	case NO_CACHE: a->no_cache = true; return 0;
	case JSON: a->json = true; return 0;
	default:
		if (a->model)
			return fail(-1, "info: \"%s\": one model at a time", v);
		a->model = v;
		return 0;
	}
}

/* Print what is known without a run, as text. */
static void show_text(const struct args *a, const weft_net *net, const struct weft_report *r)
{
	struct weft_port p;

	print_shares(&a->o, r);
	for (int i = 0; i < weft_net_n_inputs(net); i++)
		if (!weft_net_input(net, i, &p))
			print_port("input", i, &p);
	for (int i = 0; i < weft_net_n_outputs(net); i++)
		if (!weft_net_output(net, i, &p))
			print_port("output", i, &p);
	if (weft_net_runtime(net))
		printf("bits of %s\n", weft_runtime_name(weft_net_runtime(net)));
	if (weft_net_requant(net))
		printf("requant %s\n", weft_requant_name(weft_net_requant(net)));
	print_plan(&a->o, r);
}

/* Plan the network and print it. Returns a status; a message is printed where it is not 0. */
static int show(const struct args *a, const weft_net *net)
{
	char msg[WEFT_MSG_LEN] = "";
	weft_session *s;
	struct weft_report *r;

	int err = weft_session_open(net, &a->o, &s, msg), status = EXIT_DONE;
	if (err)
		return fail(status_of(err), "%s: %s", a->model, msg);
	say_cache(s);
	err = weft_session_plan(s, &r, msg);
	if (!err && a->json)
		status = print_plan_json(net, &a->o, a->model, r);
	else if (!err)
		show_text(a, net, r);
	if (!err)
		weft_report_free(r);
	weft_session_close(s);
	return err ? fail(status_of(err), "%s: %s", a->model, msg) : status;
}

static int info_main(int argc, char **argv)
{
	struct args a = { .o = weft_session_options_default() };
	const char *v;
	weft_net *net;
	int at = 0, opt, bad = 0;
	char cache[CACHE_PATH];

	while (!bad && (opt = next_option(&at, argc, argv, defs, &v)) != -2)
		bad = opt == -3 ? -1 : take(&a, opt, v);
	if (!bad && !a.model)
		bad = fail(-1, "info: no model is named");
	int status = bad ? EXIT_USAGE : load_net(a.model, &a.load, &net);
	load_release(&a.load);
	if (status)
		return status;
	a.o.cache = a.no_cache ? NULL : cache_folder(cache);
	status = show(&a, net);
	weft_net_free(net);
	return status;
}

const struct subcommand cmd_info = {
	"info", "operators, types, shapes, where each runs and why",
	"usage: weft info MODEL [options]\n\n"
	"  --config C          " WEFT_CONFIG_NAMES " (default: w16)\n"
	"  --memory M          of the estimate: ddr (default) or sram\n"
	"  --strict            refuse host operators in the middle of the network\n"
	"  --json              all of it as one JSON object: also the tensors at which the\n"
	"                      network switches between NPU and host\n" CACHE_USAGE LOAD_USAGE, info_main,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft bench: cycles and simulation speed of the networks at hand.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft/gen/config.h"
#include "weft_cmd.h"

static const struct option_def defs[] = { { "--memory", true }, { "--config", true }, { "--micro", false },
	{ NULL, false } };

/* One network once on the RTL, unchecked, so that the simulation runs alone. */
static int bench_one(const char *path, const struct weft_session_options *o)
{
	char msg[WEFT_MSG_LEN] = "";
	weft_net *net;
	weft_session *s;
	struct weft_report *r = NULL;
	int err = weft_net_load_file(path, &net, msg);

	if (err)
		return fail(status_of(err), "%s", msg);
	err = weft_session_open(net, o, &s, msg);
	if (err) {
		weft_net_free(net);
		return fail(status_of(err), "%s: %s", path, msg);
	}
	int n_in = weft_net_n_inputs(net), n_out = weft_net_n_outputs(net);
	weft_tensor *in = calloc((size_t)n_in + 1, sizeof(*in)), *out = calloc((size_t)n_out + 1, sizeof(*out));
	for (int i = 0; i < n_in; i++) {
		struct weft_port p;
		weft_net_input(net, i, &p);
		in[i] = tensor_for(&p);
		in[i].data = malloc(weft_tensor_bytes(&in[i]) + 1);
		fill_random(&in[i], (uint64_t)i);
	}
	err = weft_session_run(s, in, out, &r, msg);
	if (!err) {
		const struct weft_config *c = weft_config_find(o->config);
		const char *slash = strrchr(path, '/');
		printf("%-34s %-5s %10llu %12llu %10llu %6.1f%% %8.2f\n", slash ? slash + 1 : path,
		       o->memory == WEFT_MEMORY_SRAM ? "sram" : "ddr", (unsigned long long)r->cycles,
		       (unsigned long long)r->macs, (unsigned long long)(r->macs / (c->n * c->n)),
		       100 * r->utilization, r->cpu_seconds > 0 ? (double)r->sim_cycles / r->cpu_seconds * 1e-6 : 0);
		fflush(stdout);
	} else {
		fail(0, "%s: %s", path, msg);
	}
	for (int i = 0; i < n_in; i++)
		weft_tensor_release(&in[i]);
	for (int i = 0; i < n_out; i++)
		weft_tensor_release(&out[i]);
	free(in);
	free(out);
	weft_report_free(r);
	weft_session_close(s);
	weft_net_free(net);
	return status_of(err);
}

static int bench_main(int argc, char **argv)
{
	struct weft_session_options o = weft_session_options_default();
	const char *v;
	int at = 0, opt, status = 0, n = 0;

	o.device = WEFT_DEVICE_RTL;
	o.memory = WEFT_MEMORY_SRAM;
	printf("%-34s %-5s %10s %12s %10s %7s %8s\n", "network", "mem", "cycles", "MACs", "bound", "util", "Mcyc/s");
	while ((opt = next_option(&at, argc, argv, defs, &v)) != -2) {
		if (opt == -3 || (opt == 0 && parse_memory(v, &o.memory)))
			return EXIT_USAGE;
		if (opt == 1)
			o.config = v;
		if (opt != -1 && opt != 2)
			continue;
		int one = opt == 2 ? micro_benchmarks(&o) : bench_one(v, &o);
		status = status ? status : one;
		n++;
	}
	return n ? status : fail(EXIT_USAGE, "bench: no network is named; make bench runs all");
}

const struct subcommand cmd_bench = {
	"bench", "cycles, MACs, utilisation, bound and simulation speed",
	"usage: weft bench [--memory sram|ddr] [--config w16] [--micro] MODEL...\n\n"
	"--micro times single operators with their operands on chip.\n"
	"Options hold for the models that follow them.\n", bench_main,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What weft bench says about a network: a line, or a JSON object.
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "weft/gen/config.h"

static uint64_t macs_per_cycle(const struct weft_session_options *o)
{
	const struct weft_config *c = weft_config_find(o->config);

	return (uint64_t)c->n * c->n;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static double simulation_rate(const struct weft_report *r)
{
	return r->cpu_seconds > 0 ? (double)r->sim_cycles / r->cpu_seconds : 0;
}

void bench_print_head(void)
{
	printf("%-34s %-5s %10s %12s %10s %7s %8s %10s %-7s %10s %-8s\n", "network", "mem", "cycles", "MACs", "bound", "util",
	       "Mcyc/s", "target", "", "best peer", "");
}

void bench_print(const struct bench_targets *t, const char *model, const struct weft_session_options *o,
                 const struct weft_report *r)
{
	const struct bench_target *l = bench_target_find(t, base_name(model), memory_name(o));
	int best = bench_best_peer(t, l, (uint32_t)macs_per_cycle(o));

	printf("%-34s %-5s %10llu %12llu %10llu %6.1f%% %8.2f", base_name(model), memory_name(o),
	       (unsigned long long)r->cycles, (unsigned long long)r->macs, (unsigned long long)((r->macs - r->macs_folded) / macs_per_cycle(o)),
	       100 * r->utilization, simulation_rate(r) * 1e-6);
	if (l && l->target > 0)
		printf(" %10.0f %-7s", l->target, (double)r->cycles <= l->target ? "met" : "missed");
	if (best >= 0)
		printf("%*s %10.0f %-8s", l->target > 0 ? 0 : 19, "", l->peer[best], t->peer[best]);
	printf("\n");
	fflush(stdout);
}

static void add_targets(cJSON *j, const struct bench_targets *t, const struct bench_target *l, uint32_t macs)
{
	cJSON *peers = cJSON_CreateObject();
	int best = bench_best_peer(t, l, macs);

	if (l && l->target > 0)
		cJSON_AddNumberToObject(j, "target", l->target);
	else
		cJSON_AddNullToObject(j, "target");
	for (int i = 0; l && i < t->n_peers; i++)
		if (l->peer[i] > 0)
			cJSON_AddNumberToObject(peers, t->peer[i], l->peer[i]);
	cJSON_AddItemToObject(j, "peers", peers);
	if (best >= 0)
		cJSON_AddStringToObject(j, "best_peer", t->peer[best]);
	else
		cJSON_AddNullToObject(j, "best_peer");
}

cJSON *bench_json(const struct bench_targets *t, const char *model, const struct weft_session_options *o,
                  const struct weft_report *r)
{
	const struct bench_target *l = bench_target_find(t, base_name(model), memory_name(o));
	uint64_t peak = macs_per_cycle(o);
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "model", model);
	cJSON_AddStringToObject(j, "name", bench_name(t, base_name(model)));
	cJSON_AddStringToObject(j, "config", o->config);
	cJSON_AddStringToObject(j, "memory", memory_name(o));
	cJSON_AddNumberToObject(j, "macs_per_cycle", (double)peak);
	cJSON_AddNumberToObject(j, "cycles", (double)r->cycles);
	cJSON_AddNumberToObject(j, "estimate", (double)r->estimate);
	cJSON_AddNumberToObject(j, "macs", (double)r->macs);
	cJSON_AddNumberToObject(j, "folded_macs", (double)r->macs_folded);
	cJSON_AddNumberToObject(j, "bound", (double)((r->macs - r->macs_folded) / peak));
	cJSON_AddNumberToObject(j, "utilization", r->utilization);
	add_targets(j, t, l, (uint32_t)peak);
	cJSON_AddNumberToObject(j, "dram_read_bytes", r->counters.rd_bytes);
	cJSON_AddNumberToObject(j, "dram_write_bytes", r->counters.wr_bytes);
	cJSON_AddNumberToObject(j, "sim_cycles_per_second", simulation_rate(r));
	cJSON_AddItemToObject(j, "ops", json_ops(o, r));
	return j;
}

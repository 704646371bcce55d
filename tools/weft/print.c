/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports as a table and as JSON.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "weft/gen/config.h"
#include "weft_cmd.h"

const char *memory_name(const struct weft_session_options *o)
{
	return o->memory == WEFT_MEMORY_SRAM ? "sram" : "ddr";
}

static const char *unit_name(const struct weft_session_options *o, const struct weft_op_report *r)
{
	return r->unit == WEFT_RUN_NPU && o->device != WEFT_DEVICE_GOLDEN ? "npu" : "host";
}

static double op_utilization(const struct weft_session_options *o, const struct weft_op_report *r)
{
	const struct weft_config *c = weft_config_find(o->config);

	return r->cycles && c ? (double)(r->macs - r->macs_folded) / ((double)r->cycles * c->n * c->n) : 0;
}

static cJSON *json_first(const struct weft_report *r)
{
	const struct weft_mismatch *m = &r->first;

	if (!m->found && !m->bytes.found)
		return cJSON_CreateNull();
	cJSON *j = cJSON_CreateObject();
	if (m->found) {
		cJSON_AddNumberToObject(j, "op", m->op);
		cJSON_AddStringToObject(j, "name", m->op_name);
		cJSON_AddStringToObject(j, "tensor", m->tensor);
		cJSON_AddNumberToObject(j, "index", (double)m->index);
		cJSON_AddNumberToObject(j, "expected", (double)m->expected);
		cJSON_AddNumberToObject(j, "got", (double)m->got);
		cJSON_AddNumberToObject(j, "command", (double)m->cmd);
		cJSON_AddNumberToObject(j, "cycle", (double)m->cycle);
	} else {
		cJSON_AddNumberToObject(j, "command", (double)m->bytes.cmd);
		cJSON_AddNumberToObject(j, "cycle", (double)m->bytes.cycle);
	}
	return j;
}

static cJSON *json_op(const struct weft_session_options *o, const struct weft_op_report *r)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddNumberToObject(j, "index", r->index);
	cJSON_AddStringToObject(j, "name", r->name);
	cJSON_AddStringToObject(j, "op", r->op);
	cJSON_AddStringToObject(j, "unit", unit_name(o, r));
	cJSON_AddNumberToObject(j, "cycles", (double)r->cycles);
	cJSON_AddNumberToObject(j, "estimate", (double)r->estimate);
	if (r->host_ms < 0)
		cJSON_AddNullToObject(j, "host_ms");
	else
		cJSON_AddNumberToObject(j, "host_ms", r->host_ms);
	cJSON_AddNumberToObject(j, "macs", (double)r->macs);
	cJSON_AddNumberToObject(j, "folded_macs", (double)r->macs_folded);
	cJSON_AddNumberToObject(j, "utilization", op_utilization(o, r));
	cJSON_AddNumberToObject(j, "dram_read_bytes", (double)r->dram_read_bytes);
	cJSON_AddNumberToObject(j, "dram_write_bytes", (double)r->dram_write_bytes);
	return j;
}

cJSON *json_ops(const struct weft_session_options *o, const struct weft_report *r)
{
	cJSON *ops = cJSON_CreateArray();

	for (int i = 0; i < r->n_ops; i++)
		cJSON_AddItemToArray(ops, json_op(o, &r->ops[i]));
	return ops;
}

static cJSON *json_outputs(const weft_net *net, char *const *files)
{
	cJSON *list = cJSON_CreateArray();
	struct weft_port p;

	for (int i = 0; i < weft_net_n_outputs(net); i++) {
		cJSON *j = cJSON_CreateObject(), *shape = cJSON_CreateArray();
		weft_net_output(net, i, &p);
		for (int d = 0; d < p.rank; d++)
			cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)p.dim[d]));
		cJSON_AddStringToObject(j, "name", p.name);
		cJSON_AddStringToObject(j, "dtype", weft_dtype_name(p.dtype));
		cJSON_AddItemToObject(j, "shape", shape);
		cJSON_AddItemToObject(j, "file", files[i] ? cJSON_CreateString(files[i]) : cJSON_CreateNull());
		cJSON_AddItemToArray(list, j);
	}
	return list;
}

int print_tree(struct cJSON *j)
{
	char *text = cJSON_Print(j);

	cJSON_Delete(j);
	if (!text)
		return fail(EXIT_DEVICE, "out of memory");
	puts(text);
	free(text);
	return EXIT_DONE;
}

int print_json(const weft_net *net, const struct weft_session_options *o, const char *model, uint64_t seed,
               const struct weft_report *r, const struct requant_report *requant, char *const *files)
{
	cJSON *j = cJSON_CreateObject();
	char number[24];

	cJSON_AddStringToObject(j, "model", model);
	cJSON_AddStringToObject(j, "device", weft_device_name(o->device));
	cJSON_AddStringToObject(j, "config", o->config);
	cJSON_AddStringToObject(j, "memory", memory_name(o));
	snprintf(number, sizeof(number), "%" PRIu64, seed);
	cJSON_AddRawToObject(j, "seed", number);     /* a double has only 53 bits of it */
	cJSON_AddNumberToObject(j, "cycles", (double)r->cycles);
	cJSON_AddNumberToObject(j, "estimate", (double)r->estimate);
	cJSON_AddNumberToObject(j, "macs", (double)r->macs);
	cJSON_AddNumberToObject(j, "folded_macs", (double)r->macs_folded);
	cJSON_AddNumberToObject(j, "utilization", r->utilization);
	cJSON_AddNumberToObject(j, "channels", (double)r->channels);
	cJSON_AddNumberToObject(j, "folded_channels", (double)r->folded);
	cJSON *check = r->checked ? cJSON_AddObjectToObject(j, "check") : cJSON_AddNullToObject(j, "check");
	if (r->checked) {
		cJSON_AddNumberToObject(check, "tensors", (double)r->tensors);
		cJSON_AddNumberToObject(check, "elements", (double)r->elements);
		cJSON_AddNumberToObject(check, "mismatches", (double)r->mismatches);
		cJSON_AddItemToObject(check, "first", json_first(r));
	}
	if (requant->done) {
		cJSON *q = cJSON_AddObjectToObject(j, "requant");
		cJSON_AddNumberToObject(q, "elements", (double)requant->elements);
		cJSON_AddNumberToObject(q, "differ", (double)requant->differ);
		cJSON_AddNumberToObject(q, "most", requant->most);
	}
	cJSON_AddItemToObject(j, "ops", json_ops(o, r));
	cJSON_AddItemToObject(j, "outputs", json_outputs(net, files));
	cJSON_AddNumberToObject(j, "seconds", r->seconds);
	cJSON_AddNumberToObject(j, "sim_cycles_per_second", r->cpu_seconds > 0 ? (double)r->sim_cycles / r->cpu_seconds : 0);
	return print_tree(j);
}

void print_folded(const struct weft_report *r)
{
	if (r->folded)
		printf("%llu of %llu channels of convolutions are not computed: constants, or nothing reads them\n",
		       (unsigned long long)r->folded, (unsigned long long)r->channels);
}

/* What the units did, in percent of all cycles. */
static void print_counters(const struct weft_counters *c)
{
	double p = c->cycles ? 100.0 / c->cycles : 0;

	printf("busy: LD %.0f %%, ST %.0f %%, CV %.0f %%, VE %.0f %%; CV waited for activations %.1f %%, weights %.1f %%, "
	       "post %.1f %%\n", p * c->ld_busy, p * c->st_busy, p * c->cv_busy, p * c->ve_busy, p * c->cv_stall_act,
	       p * c->cv_stall_wgt, p * c->cv_stall_post);
	printf("memory: %u bytes read (%.2f a cycle while LD was busy), %u written; %u scratchpad conflicts, %u commands\n",
	       c->rd_bytes, c->ld_busy ? (double)c->rd_bytes / c->ld_busy : 0, c->wr_bytes, c->sp_conflict, c->cmds);
}

/*
 * Sets *cycles to the sum over all operators of the kind that takes most, in cycles or, where none are
 * counted for operators, in the compiler's estimate, and *share to its part of all. Returns the kind's name.
 */
static const char *costliest(const struct weft_report *r, uint64_t *cycles, double *share)
{
	const char *name = "nothing";
	uint64_t counted = 0, all = 0;

	for (int i = 0; i < r->n_ops; i++)
		counted += r->ops[i].cycles;
	*cycles = 0;
	for (int i = 0; i < r->n_ops; i++) {
		uint64_t sum = 0;

		for (int k = 0; k < r->n_ops; k++)
			if (!strcmp(r->ops[k].op, r->ops[i].op))
				sum += counted ? r->ops[k].cycles : r->ops[k].estimate;
		all += counted ? r->ops[i].cycles : r->ops[i].estimate;
		if (sum > *cycles) {
			*cycles = sum;
			name = r->ops[i].op;
		}
	}
	*share = all ? (double)*cycles / (double)all : 0;
	return name;
}

/*
 * Prints what N tokens of a run take and what bounds it: the cycles in which the memory of the session's profile
 * moves the bytes of all operators, and those in which the array makes all products, as parts of the run's cycles,
 * or of the compiler's estimate if the device counts none. Memory of the profile ddr moves half a word of the bus a
 * cycle, reads and writes together (sim/rtl/memory.cc). The run is bound by what needs at least half of the cycles.
 */
void print_tokens(const struct weft_session_options *o, const struct weft_report *r, uint64_t tokens)
{
	const struct weft_config *c = weft_config_find(o->config ? o->config : "w16");
	const uint64_t cycles = r->cycles ? r->cycles : r->estimate;
	uint64_t bytes = 0;

	for (int i = 0; i < r->n_ops; i++)
		bytes += r->ops[i].dram_read_bytes + r->ops[i].dram_write_bytes;
	if (!c || !cycles)
		return;
	const unsigned rate = o->memory == WEFT_MEMORY_SRAM ? (unsigned)c->axi_bytes : (unsigned)c->axi_bytes / 2;
	const double bus = (double)bytes / rate, array = (double)(r->macs - r->macs_folded) / ((double)c->n * c->n), all = (double)cycles;
	const char *by = bus >= array && bus >= all / 2 ? "memory" : array >= all / 2 ? "products" : "neither";
	double share;
	uint64_t most;
	const char *kind = costliest(r, &most, &share);
	printf("%llu token%s in %llu cycles%s: %.2f tokens per M cycles\n", (unsigned long long)tokens, tokens == 1 ? "" : "s",
	       (unsigned long long)cycles, r->cycles ? "" : " (estimate)", (double)tokens * 1e6 / all);
	printf("memory: %llu bytes, %.0f cycles at %u bytes each (%.1f %%); products: %llu, %.0f cycles at %u each (%.1f %%); bound by %s; "
	       "most cycles: %s, %llu (%.1f %%)\n",
	       (unsigned long long)bytes, bus, rate, 100 * bus / all, (unsigned long long)(r->macs - r->macs_folded), array,
	       (unsigned)(c->n * c->n), 100 * array / all, by, kind, (unsigned long long)most, 100 * share);
}

void print_report(const struct weft_session_options *o, const struct weft_report *r)
{
	printf("%4s %-4s %10s %10s %12s %6s  %s\n", "op", "unit", "cycles", "estimate", "MACs", "util", "operator");
	for (int i = 0; i < r->n_ops; i++) {
		const struct weft_op_report *p = &r->ops[i];
		printf("%4d %-4s %10llu %10llu %12llu %5.1f%%  %s\n", p->index, unit_name(o, p),
		       (unsigned long long)p->cycles, (unsigned long long)p->estimate, (unsigned long long)p->macs,
		       100 * op_utilization(o, p), shown(p->op));
	}
	if (o->device == WEFT_DEVICE_RTL)
		print_counters(&r->counters);
	if (o->device == WEFT_DEVICE_RTL)
		printf("%llu cycles (estimate %llu) at %s, memory %s, utilization %.1f %%, %.2f M cycles a processor second simulated\n",
		       (unsigned long long)r->cycles, (unsigned long long)r->estimate, o->config, memory_name(o), 100 * r->utilization,
		       r->cpu_seconds > 0 ? (double)r->sim_cycles / r->cpu_seconds * 1e-6 : 0);
	if (o->device == WEFT_DEVICE_USB) {
		print_counters(&r->counters);
		printf("%llu cycles on the card (estimate %llu), utilization %.1f %%, %.4f s with transfers\n",
		       (unsigned long long)r->cycles, (unsigned long long)r->estimate, 100 * r->utilization, r->seconds);
	}
	print_folded(r);
	if (r->checked)
		printf("checked %llu tensors, %llu elements: %llu mismatches\n", (unsigned long long)r->tensors,
		       (unsigned long long)r->elements, (unsigned long long)r->mismatches);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft replay: a captured job again in simulation.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include <weft/replay.h>
#include "weft_cmd.h"

#define WAVE_CYCLES 1000

static const struct option_def defs[] = {
	{ "--device", true }, { "--wave", true }, { "--cycles", true }, { "--plant", false }, { "--json", false }, { NULL, false },
};

struct args { const char *file; struct weft_replay_options o; bool json; };

static int take_args(int argc, char **argv, struct args *a)
{
	struct weft_session_options device;
	const char *v;
	int at = 0, opt;

	*a = (struct args){ .o = { .device = WEFT_DEVICE_RTL, .wave_cycles = WAVE_CYCLES } };
	while ((opt = next_option(&at, argc, argv, defs, &v)) != -2) {
		int bad = opt == -3;
		switch (opt) {
		case 0:
			bad = parse_device(v, &device);
			if (!bad && device.device != WEFT_DEVICE_MODEL && device.device != WEFT_DEVICE_RTL)
				return fail(EXIT_USAGE, "replay: --device model or rtl");
			a->o.device = bad ? a->o.device : device.device;
			break;
		case 1: a->o.wave = v; break;
		case 2: bad = parse_number("--cycles", v, UINT32_MAX, &a->o.wave_cycles); break;
		case 3: a->o.plant = true; break;
		case 4: a->json = true; break;
		case -1:
			if (a->file)
				return fail(EXIT_USAGE, "replay: \"%s\": one file at a time", v);
			a->file = v;
			break;
		default: break;
		}
		if (bad)
			return EXIT_USAGE;
	}
	if (a->o.wave && a->o.device != WEFT_DEVICE_RTL)
		return fail(EXIT_USAGE, "replay: --wave wants --device rtl");
	return a->file ? 0 : fail(EXIT_USAGE, "replay: no file is named");
}

static void print_place(const struct weft_replay_place *f, uint32_t first_cmd)
{
	printf("first wrong: command %zu, %s\n", first_cmd + f->cmd, f->text);
	if (f->cycle)
		printf("  retires at cycle %llu%s", (unsigned long long)f->cycle, f->written ? "" : "\n");
	if (f->written)
		printf(", wrote it wrong at cycle %llu\n", (unsigned long long)f->written);
	if (f->op >= 0)
		printf(f->tensor[0] ? "  operator %d %s, tensor \"%s\"\n" : "  operator %d %s\n", f->op, shown(f->op_name), shown(f->tensor));
	if (f->element) {
		printf("  element %llu", (unsigned long long)f->index);
		for (int d = 0; d < f->rank; d++)
			printf("%s%lld", d ? "," : " at [", (long long)f->at[d]);
		printf("%s: expected %lld, got %lld\n  tile", f->rank ? "]" : "", (long long)f->want, (long long)f->have);
		for (int d = 0; d < f->rank; d++)
			printf("%s%llu..%llu", d ? ", " : " [", (unsigned long long)f->tile[d][0], (unsigned long long)f->tile[d][1]);
		printf("]\n");
	}
	if (f->expected != f->got)
		printf("  first byte at %s 0x%llx: expected 0x%02x, got 0x%02x\n", f->in_sp ? "scratchpad" : "arena",
		       (unsigned long long)f->addr, f->expected, f->got);
}

static void print_as_text(const struct weft_capture *c, const struct weft_replay_report *r)
{
	printf("captured: %s on %s, %s: %s\n", c->model, c->device, c->config, c->message);
	if (c->mismatch)
		printf("  it saw: operator %d, tensor \"%s\", element %llu: expected %lld, got %lld\n", c->op, c->tensor,
		       (unsigned long long)c->index, (long long)c->expected, (long long)c->got);
	if (r->memory) {
		printf("memory: %llu bytes of the constants differ, first at 0x%llx: 0x%02x, must be 0x%02x",
		       (unsigned long long)r->memory_bytes, (unsigned long long)r->memory_at, r->memory_got, r->memory_expected);
		if (r->memory_cmd != SIZE_MAX)
			printf("; command %zu loads it", r->first_cmd + r->memory_cmd);
		printf("\n");
	}
	if (r->result.fault_code)
		printf("simulation: fault %u at command %u\n", r->result.fault_code, r->first_cmd + r->result.fault_cmd);
	if (r->first.found)
		print_place(&r->first, r->first_cmd);
	printf("%s\n", r->reproduced && (r->simulation_differs || r->memory) ? "reproduced: the simulation leaves the device's memory"
	             : r->reproduced ? "nothing differs: device and simulation leave the memory of a correct run"
	             : r->simulation_differs ? "not reproduced: the simulation differs in another way"
	             : "not reproduced: the simulation is right, the device was not");
}

static void json_place(cJSON *j, const struct weft_replay_place *f, uint32_t first_cmd)
{
	cJSON *o = cJSON_AddObjectToObject(j, "first"), *at, *tile;

	cJSON_AddNumberToObject(o, "cmd", (double)(first_cmd + f->cmd));
	cJSON_AddStringToObject(o, "command", f->text);
	cJSON_AddNumberToObject(o, "cycle", (double)f->cycle);
	if (f->written)
		cJSON_AddNumberToObject(o, "written", (double)f->written);
	cJSON_AddNumberToObject(o, "op", f->op);
	cJSON_AddStringToObject(o, "op_name", f->op_name);
	cJSON_AddStringToObject(o, "tensor", f->tensor);
	cJSON_AddStringToObject(o, "space", f->in_sp ? "scratchpad" : "arena");
	cJSON_AddNumberToObject(o, "address", (double)f->addr);
	if (!f->element)
		return;
	cJSON_AddNumberToObject(o, "index", (double)f->index);
	cJSON_AddNumberToObject(o, "expected", (double)f->want);
	cJSON_AddNumberToObject(o, "got", (double)f->have);
	at = cJSON_AddArrayToObject(o, "at");
	tile = cJSON_AddArrayToObject(o, "tile");
	for (int d = 0; d < f->rank; d++) {
		const int pair[2] = { (int)f->tile[d][0], (int)f->tile[d][1] };
		cJSON_AddItemToArray(at, cJSON_CreateNumber((double)f->at[d]));
		cJSON_AddItemToArray(tile, cJSON_CreateIntArray(pair, 2));
	}
}

static void print_as_json(const struct weft_capture *c, const struct weft_replay_report *r)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "model", c->model);
	cJSON_AddStringToObject(j, "device", c->device);
	cJSON_AddStringToObject(j, "config", c->config);
	cJSON_AddStringToObject(j, "versions", c->versions);
	cJSON_AddStringToObject(j, "message", c->message);
	cJSON_AddBoolToObject(j, "reproduced", r->reproduced);
	cJSON_AddBoolToObject(j, "simulation_differs", r->simulation_differs);
	cJSON_AddBoolToObject(j, "device_differs", r->device_differs);
	cJSON_AddBoolToObject(j, "memory_differs", r->memory);
	if (r->memory)
		cJSON_AddNumberToObject(j, "memory_at", (double)r->memory_at);
	if (r->first.found)
		json_place(j, &r->first, r->first_cmd);
	char *s = cJSON_Print(j);
	if (s)
		puts(s);
	free(s);
	cJSON_Delete(j);
}

/* The first cycles of a job have no --cycles before them. */
static uint64_t wave_lead(const struct args *a, const struct weft_replay_place *f)
{
	uint64_t at = f->written ? f->written : f->cycle;

	return at < a->o.wave_cycles ? at : a->o.wave_cycles;
}

/* F.fst has F.gtkw beside it. */
static int signals(const struct args *a, const struct weft_replay_report *r)
{
	char path[4096], msg[WEFT_MSG_LEN] = "";
	size_t n = strlen(a->o.wave);

	n -= n > 4 && !strcmp(a->o.wave + n - 4, ".fst") ? 4 : 0;
	snprintf(path, sizeof path, "%.*s.gtkw", (int)(n < 4000 ? n : 4000), a->o.wave);
	int err = weft_replay_signals(path, a->o.wave, &r->first, msg);
	if (err)
		return fail(file_status(err), "%s", msg);
	if (!a->json)
		printf("waveform: %s, the moment is %llu cycles after its start; signals: %s (gtkwave %s)\n", a->o.wave,
		       (unsigned long long)wave_lead(a, &r->first), path, path);
	return 0;
}

static int run(int argc, char **argv)
{
	char msg[WEFT_MSG_LEN] = "";
	struct weft_capture c;
	struct weft_replay_report r;
	struct args a;
	int status = take_args(argc, argv, &a);

	if (status)
		return status;
	int err = weft_capture_read(a.file, &c, msg);
	if (err)
		return fail(file_status(err), "%s", msg);
	err = weft_replay(&c, &a.o, &r, msg);
	if (err)
		status = fail(run_status(err), "%s: %s", a.file, msg);
	else if (a.json)
		print_as_json(&c, &r);
	else
		print_as_text(&c, &r);
	if (!err && a.o.wave && r.first.found)
		status = signals(&a, &r);
	weft_capture_release(&c);
	if (status || err)
		return status;
	return r.first.found || r.memory || r.result.fault_code || !r.reproduced ? EXIT_DIFFERS : EXIT_DONE;
}

const struct subcommand cmd_replay = {
	"replay", "run a captured failure again in simulation and name its place",
	"usage: weft replay FILE.wcap [options]\n\n"
	"  --device rtl|model  where to run it (rtl)\n"
	"  --wave F.fst        record the moment: from the first wrong byte to the command's\n"
	"                      retirement; and F.gtkw for GTKWave\n"
	"  --cycles N          that many cycles before and after (1000)\n"
	"  --plant             plant the fault that the captured run had planted\n"
	"  --json              one object on standard output\n\n"
	"Exit status: 1 where something differs, 0 where all is as it must be.\n",
	run,
};

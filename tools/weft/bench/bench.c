/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft bench: cycles and simulation speed of the networks at hand.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/clock.h"
#include "bench.h"

enum { OPT_MEMORY, OPT_CONFIG, OPT_MICRO, OPT_JSON, OPT_SAVE, OPT_TARGETS, OPT_NOTE, OPT_HOST, OPT_COMPILE, OPT_PROFILE,
       OPT_GOLDEN, OPT_MODEL };
static const struct option_def defs[] = {
	[OPT_MEMORY] = { "--memory", true }, [OPT_CONFIG] = { "--config", true }, [OPT_MICRO] = { "--micro", false },
	[OPT_JSON] = { "--json", false }, [OPT_SAVE] = { "--save", true }, [OPT_TARGETS] = { "--targets", true },
	[OPT_NOTE] = { "--note", true }, [OPT_HOST] = { "--host", false }, [OPT_COMPILE] = { "--compile", true },
	[OPT_PROFILE] = { "--profile", true }, [OPT_GOLDEN] = { "--golden", true }, [OPT_MODEL] = { "--model", true }, { NULL, false },
};

struct bench {
	struct weft_session_options o;
	struct bench_targets targets;
	const char *save, *note, *targets_file, *profiles;
	char profile[4096];        /* of the network at work */
	bool json;
	int k, n;                  /* network at work, of all */
	const char *name;          /* its file */
	double shown;              /* progress, by the monotonic clock */
	cJSON *networks, *micro, *host;
};

/* One line on a terminal, rewritten five times a second. */
static void show_progress(void *user, uint64_t done, uint64_t all)
{
	struct bench *b = user;
	double now = now_seconds();

	if (now - b->shown < 0.2)
		return;
	b->shown = now;
	fprintf(stderr, "\r\033[Kbench: network %d of %d: %s, %s, %.0f %%", b->k, b->n, b->name, memory_name(&b->o),
	        all ? 100.0 * (double)done / (double)all : 0);
}

static void end_progress(const struct bench *b)
{
	if (b->o.progress && b->shown > 0)
		fprintf(stderr, "\r\033[K");
}

static void record(struct bench *b, const char *path, const struct weft_report *r)
{
	if (!b->json)
		bench_print(&b->targets, path, &b->o, r);
	cJSON_AddItemToArray(b->networks, bench_json(&b->targets, path, &b->o, r));
}

/* A network that could not be measured stays in the record. */
static int record_failure(struct bench *b, const char *path, int err, const char *msg)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "model", path);
	cJSON_AddStringToObject(j, "memory", memory_name(&b->o));
	cJSON_AddStringToObject(j, "error", msg);
	cJSON_AddItemToArray(b->networks, j);
	return fail(status_of(err), "%s", msg);
}

/* Once, unchecked, so that the simulation runs alone. */
static int run_once(struct bench *b, const weft_net *net, weft_session *s, struct weft_report **r, char *msg)
{
	int n_in = weft_net_n_inputs(net), n_out = weft_net_n_outputs(net);
	weft_tensor *in = calloc((size_t)n_in + 1, sizeof(*in)), *out = calloc((size_t)n_out + 1, sizeof(*out));

	int err = in && out ? 0 : -ENOMEM;
	for (int i = 0; i < n_in && !err; i++)
		err = random_input(net, i, 0, &in[i]);
	if (err)
		snprintf(msg, WEFT_MSG_LEN, "%s", strerror(-err));
	else
		err = weft_session_run(s, in, out, r, msg);
	end_progress(b);
	for (int i = 0; in && i < n_in; i++)
		weft_tensor_release(&in[i]);
	for (int i = 0; out && i < n_out; i++)
		weft_tensor_release(&out[i]);
	free(in);
	free(out);
	return err;
}

/* DIR/NAME-MEMORY.json, and the table as .txt. */
static int name_profile(struct bench *b)
{
	b->o.profile = NULL;
	if (!b->profiles)
		return 0;
	snprintf(b->profile, sizeof(b->profile), "%.2000s/%.1000s-%s.json", b->profiles, b->name, memory_name(&b->o));
	b->o.profile = b->profile;
	return make_dir(b->profiles);
}

static int write_table(const struct bench *b, const weft_session *s)
{
	char *text = b->profiles ? weft_session_profile_text(s) : NULL, path[sizeof(b->profile)];

	if (!text)
		return 0;
	snprintf(path, sizeof(path), "%.*s.txt", (int)strlen(b->profile) - 5, b->profile);
	int status = write_file(path, (const uint8_t *)text, strlen(text));
	free(text);
	return status;
}

static int bench_one(struct bench *b, const char *path)
{
	char msg[WEFT_MSG_LEN] = "", line[4096 + WEFT_MSG_LEN];
	struct weft_report *r = NULL;
	weft_session *s = NULL;
	weft_net *net = NULL;
	const char *slash = strrchr(path, '/');

	b->k++;
	b->name = slash ? slash + 1 : path;
	b->shown = 0;
	if (name_profile(b))
		return EXIT_USAGE;
	if (b->o.progress)
		show_progress(b, 0, 1);
	struct weft_load_options load = weft_load_options_default();
	load.backbone = true;      /* a custom operator at the end would be the host's */
	int err = weft_net_load_file_with(path, &load, &net, msg);
	snprintf(line, sizeof(line), "%s", msg);
	if (!err) {
		err = weft_session_open(net, &b->o, &s, msg);
		if (!err)
			err = run_once(b, net, s, &r, msg);
		snprintf(line, sizeof(line), "%s: %s", path, msg);
	}
	if (err)
		end_progress(b);
	int status = err ? record_failure(b, path, err, line) : 0;
	if (!err)
		record(b, path, r);
	if (!err)
		status = write_table(b, s);
	weft_report_free(r);
	weft_session_close(s);
	weft_net_free(net);
	return status;
}

static void take_micro(void *user, const char *name, uint64_t cycles, uint64_t macs, double speed)
{
	struct bench *b = user;
	cJSON *j = cJSON_CreateObject();

	if (!b->json)
		printf("%-34s %-5s %10llu %12llu %10llu %6.1f%%  %.1f MACs a cycle, simulated at %.2f M cycles/s\n", name, "chip",
		       (unsigned long long)cycles, (unsigned long long)macs, (unsigned long long)(macs / 256),
		       100.0 * (double)macs / (256.0 * (double)cycles), (double)macs / (double)cycles, speed * 1e-6);
	cJSON_AddStringToObject(j, "name", name);
	cJSON_AddNumberToObject(j, "cycles", (double)cycles);
	cJSON_AddNumberToObject(j, "macs", (double)macs);
	cJSON_AddNumberToObject(j, "sim_cycles_per_second", speed);
	cJSON_AddItemToArray(b->micro, j);
}

/* One argument: a setting, or something to measure if `measure`. */
static int take(struct bench *b, int opt, const char *v, bool measure)
{
	switch (opt) {
	case OPT_MEMORY:  return parse_memory(v, &b->o.memory) ? EXIT_USAGE : 0;
	case OPT_CONFIG:  b->o.config = v; return 0;
	case OPT_MICRO:   return measure ? micro_benchmarks(&b->o, take_micro, b) : 0;
	case OPT_HOST:    return measure ? bench_golden(!b->json, b->host) : 0;
	case OPT_COMPILE: return measure ? bench_compile(v, !b->json, b->host) : 0;
	case OPT_GOLDEN:  return measure ? bench_run(v, WEFT_DEVICE_GOLDEN, !b->json, b->host) : 0;
	case OPT_MODEL:   return measure ? bench_run(v, WEFT_DEVICE_MODEL, !b->json, b->host) : 0;
	case OPT_JSON:    b->json = true; return 0;
	case OPT_SAVE:    b->save = v; return 0;
	case OPT_NOTE:    b->note = v; return 0;
	case OPT_TARGETS: b->targets_file = v; return 0;
	case OPT_PROFILE: b->profiles = v; return 0;
	default:
		if (measure)
			return bench_one(b, v);
		b->n++;
		return 0;
	}
}

/* Every argument in turn; a network that fails does not stop the others. */
static int walk(struct bench *b, int argc, char **argv, bool measure)
{
	const char *v;
	int at = 0, opt, status = 0;

	while ((opt = next_option(&at, argc, argv, defs, &v)) != -2) {
		int one = opt == -3 ? EXIT_USAGE : take(b, opt, v, measure);
		status = status ? status : one;
		if (one && !measure)
			return one;
	}
	return status;
}

static int write_record(struct bench *b)
{
	cJSON *j = cJSON_CreateObject();
	int status = 0;

	cJSON_AddStringToObject(j, "note", b->note ? b->note : "");
	cJSON_AddItemToObject(j, "networks", b->networks);
	cJSON_AddItemToObject(j, "micro", b->micro);
	cJSON_AddItemToObject(j, "host", b->host);
	char *text = cJSON_Print(j);
	cJSON_Delete(j);
	if (!text)
		return fail(EXIT_DEVICE, "out of memory");
	if (b->json)
		puts(text);
	if (b->save)
		status = write_file(b->save, (const uint8_t *)text, strlen(text));
	free(text);
	return status;
}

static int bench_main(int argc, char **argv)
{
	struct bench b = { .o = weft_session_options_default() };
	bool micro = false;

	for (int i = 0; i < argc; i++)
		micro |= !strcmp(argv[i], "--micro") || !strcmp(argv[i], "--host") || !strncmp(argv[i], "--compile", 9) ||
		         !strncmp(argv[i], "--golden", 8) || !strncmp(argv[i], "--model", 7);
	int status = walk(&b, argc, argv, false);
	if (!status && !b.n && !micro)
		status = fail(EXIT_USAGE, "bench: no network is named; make bench runs all");
	if (!status && b.save)
		status = can_write(b.save);
	if (!status && b.profiles)
		status = make_dir(b.profiles);
	if (!status && b.targets_file)
		status = bench_targets_read(b.targets_file, &b.targets);
	if (!status) {
		b.o = weft_session_options_default();
		b.o.device = WEFT_DEVICE_RTL;
		b.o.memory = WEFT_MEMORY_SRAM;
		b.o.progress = isatty(STDERR_FILENO) ? show_progress : NULL;
		b.o.progress_user = &b;
		b.networks = cJSON_CreateArray();
		b.micro = cJSON_CreateArray();
		b.host = cJSON_CreateArray();
		if (!b.json)
			bench_print_head();
		status = walk(&b, argc, argv, true);
		int written = write_record(&b);
		status = status ? status : written;
	}
	bench_targets_free(&b.targets);
	return status;
}

const struct subcommand cmd_bench = {
	"bench", "cycles, MACs, utilisation, bound and simulation speed",
	"usage: weft bench [options] MODEL...\n\n"
	"  --memory M      sram (default) or ddr; holds for the models that follow it\n"
	"  --config C      " WEFT_CONFIG_NAMES " (default: w16); likewise\n"
	"  --micro         also time single operators with their operands on chip\n"
	"  --host          also time golden's convolutions; int8: with the scaling behind them\n"
	"  --compile F     also time compiling F, and take its memory\n"
	"  --golden F      also time F on golden: every operator, as the host would run it\n"
	"  --model F       also time F on the functional model\n"
	"  --targets FILE  table of targets and peers (tools/bench_targets.tsv)\n"
	"  --json          one object on standard output, with every operator\n"
	"  --profile DIR   a trace and a table of each network (docs/profile.md)\n"
	"  --save FILE     that object into a file, beside the table\n"
	"  --note TEXT     for the object: which machine, which commit\n", bench_main,
};

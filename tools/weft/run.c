/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft run: a network on a device.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/file.h>

#include "tools/clock.h"
#include "target.h"
#include "segments.h"

#define MAX_INPUTS 64

struct run {
	struct weft_session_options o;
	const char *model, *out_dir, *dump_dir;
	const char *inputs[MAX_INPUTS];
	int n_inputs;
	uint64_t seed;
	bool json;
	char *wave;                /* owned */
	bool no_capture;
	char capture[256];         /* the default name */
	struct load_args load;
	struct jobs jobs;
	const char *segment, *regs;
	uint64_t tokens;           /* that a run makes; 0: not said */
	bool no_cache;
	char cache[CACHE_PATH];
};

enum { OPT_INPUT = N_LOAD, OPT_OUT, OPT_DEVICE, OPT_CHECK, OPT_STRICT, OPT_CONFIG, OPT_MEMORY, OPT_SEED,
       OPT_WAVE, OPT_DUMP, OPT_JSON, OPT_PLANT, OPT_CAPTURE, OPT_NO_CAPTURE,
       OPT_WAIT, OPT_TIMEOUT, OPT_JOBS, OPT_SEGMENT, OPT_CHECKPOINTS, OPT_PROFILE, OPT_GRAIN, OPT_REGS, OPT_TOKENS, OPT_NO_CACHE };

static const struct option_def defs[] = {
	LOAD_OPTIONS, { "-i", true }, { "-o", true }, { "--device", true }, { "--check", false }, { "--strict", false },
	{ "--config", true }, { "--memory", true }, { "--seed", true }, { "--wave", true },
	{ "--dump", true }, { "--json", false }, { "--plant", true },
	{ "--capture", true }, { "--no-capture", false },
	{ "--wait", true }, { "--timeout", true }, { "--jobs", true }, { "--segment", true }, { "--checkpoints", true },
	{ "--profile", true }, { "--grain", true }, { "--regs", true }, { "--tokens", true }, { "--no-cache", false }, { NULL, false },
};

/* F.fst, F.fst:CMD±N, also CMD+-N. */
static int parse_wave(struct run *r, const char *text)
{
	free(r->wave);
	r->wave = strdup(text);
	if (!r->wave)
		return fail(-1, "--wave: out of memory");
	r->o.wave = r->wave;
	r->o.wave_cmd = -1;
	char *colon = strrchr(r->wave, ':');
	if (!colon)
		return 0;
	char *end;
	long long cmd = strtoll(colon + 1, &end, 10);
	size_t sign = !strncmp(end, "\xc2\xb1", 2) || !strncmp(end, "+-", 2) ? 2 : 0;
	uint64_t n;
	if (end == colon + 1 || cmd < 0 || !sign)
		return fail(-1, "--wave: \"%s\" is not FILE.fst or FILE.fst:COMMAND±CYCLES", text);
	if (parse_number("--wave", end + sign, UINT32_MAX, &n))
		return -1;
	*colon = '\0';
	r->o.wave_cmd = cmd;
	r->o.wave_cycles = n;
	return 0;
}

static int parse_ms(const char *option, const char *text, unsigned *ms)
{
	uint64_t n;
	int err = parse_number(option, text, 86400000, &n);

	*ms = err ? 0 : (unsigned)n;
	return err;
}

static int parse_jobs(struct run *r, const char *text)
{
	uint64_t n;
	int err = parse_number("--jobs", text, 999, &n);

	if (!err && !n)
		return fail(-1, "--jobs: 1 to 999");
	r->jobs.n = err ? 0 : (int)n;
	return err;
}

static int take(struct run *r, int opt, const char *v)
{
	if (opt >= 0 && opt < N_LOAD)
		return take_load(&r->load, opt, v);
	switch (opt) {
	case OPT_INPUT:
		if (r->n_inputs == MAX_INPUTS)
			return fail(-1, "more than %d inputs", MAX_INPUTS);
		r->inputs[r->n_inputs++] = v;
		return 0;
	case OPT_OUT:    r->out_dir = v; return 0;
	case OPT_DEVICE: return parse_device(v, &r->o);
	case OPT_CHECK:  r->o.check = true; return 0;
	case OPT_STRICT: r->o.strict = true; return 0;
	case OPT_CONFIG: r->o.config = v; return 0;
	case OPT_MEMORY: return parse_memory(v, &r->o.memory);
	case OPT_SEED:   return parse_number("--seed", v, UINT64_MAX, &r->seed);
	case OPT_WAVE:   return parse_wave(r, v);
	case OPT_DUMP:   r->dump_dir = v; r->o.keep = true; return 0;
	case OPT_JSON:   r->json = true; return 0;
	case OPT_PLANT:  return parse_plant(v, &r->o.plant);
	case OPT_JOBS:   return parse_jobs(r, v);
	case OPT_SEGMENT: r->segment = v; return 0;
	case OPT_CHECKPOINTS: r->jobs.dir = v; return 0;
	case OPT_PROFILE: r->o.profile = v; return 0;
	case OPT_REGS:   r->regs = v; return 0;
	case OPT_GRAIN:  return parse_number("--grain", v, 1u << 20, &r->o.profile_grain);
	case OPT_WAIT:   return parse_ms("--wait", v, &r->o.usb_wait_ms);
	case OPT_TIMEOUT: return parse_ms("--timeout", v, &r->o.timeout_ms);
	case OPT_TOKENS: return parse_number("--tokens", v, UINT32_MAX, &r->tokens);
	case OPT_CAPTURE: r->o.capture = v; return 0;
	case OPT_NO_CAPTURE: r->no_capture = true; return 0;
	case OPT_NO_CACHE: r->no_cache = true; return 0;
	default:
		if (r->model)
			return fail(-1, "\"%s\": one model at a time", v);
		r->model = v;
		return 0;
	}
}

/* No file, and NAME= in front names no input. */
static int no_input(const weft_net *net, const char *arg)
{
	const char *eq = strchr(arg, '=');
	struct weft_port p;
	char names[512] = "";
	size_t n = 0;

	if (!eq || !access(arg, F_OK))
		return 0;
	for (int i = 0; i < weft_net_n_inputs(net) && n < sizeof(names); i++) {
		weft_net_input(net, i, &p);
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", i ? ", " : "", p.name);
	}
	return fail(EXIT_USAGE, "-i %s: no input is called \"%.*s\"; %s", arg, (int)(eq - arg), arg, names);
}

/* Returns the port that an -i argument is for: NAME=FILE by name, else by position. */
static int port_of(const weft_net *net, const char *arg, int position, const char **file)
{
	const char *eq = strchr(arg, '=');
	struct weft_port p;

	*file = arg;
	for (int i = 0; eq && i < weft_net_n_inputs(net); i++) {
		weft_net_input(net, i, &p);
		if (strlen(p.name) == (size_t)(eq - arg) && !strncmp(p.name, arg, (size_t)(eq - arg))) {
			*file = eq + 1;
			return i;
		}
	}
	return position < weft_net_n_inputs(net) ? position : -1;
}

/* The network has no input of that name: it became a constant. */
static bool is_constant(const weft_net *net, const char *arg)
{
	const size_t n = strcspn(arg, "=");
	struct weft_port p;

	for (int i = 0; i < weft_net_n_inputs(net); i++) {
		weft_net_input(net, i, &p);
		if (strlen(p.name) == n && !strncmp(p.name, arg, n))
			return false;
	}
	return true;
}

static int get_inputs(const struct run *r, const weft_net *net, weft_tensor *in)
{
	int n = weft_net_n_inputs(net);
	struct weft_port p;

	for (int k = 0; k < r->n_inputs; k++) {
		const char *file;
		int i = port_of(net, r->inputs[k], k, &file);
		if ((i < 0 || file == r->inputs[k]) && was_given(&r->load, r->inputs[k]) && is_constant(net, r->inputs[k]))
			continue;
		if (i < 0)
			return fail(EXIT_USAGE, "-i %s: the network has %d input%s", r->inputs[k], n, n == 1 ? "" : "s");
		if (in[i].data)
			return fail(EXIT_USAGE, "-i %s: input %d is given twice", r->inputs[k], i);
		weft_net_input(net, i, &p);
		int status = file == r->inputs[k] ? no_input(net, file) : 0;
		if (!status)
			status = read_input(file, &p, &in[i]);
		if (status)
			return status;
	}
	for (int i = 0; i < n; i++) {
		if (!in[i].data && random_input(net, i, r->seed, &in[i]))
			return fail(EXIT_DEVICE, "out of memory");
	}
	return 0;
}

static int write_outputs(const struct run *r, const weft_net *net, const weft_tensor *out, char **files)
{
	char path[4096];
	struct weft_port p;
	int status = 0;

	for (int i = 0; r->out_dir && !status && i < weft_net_n_outputs(net); i++) {
		weft_net_output(net, i, &p);
		status = write_output(r->out_dir, i, p.name, &out[i], path, sizeof(path));
		files[i] = strdup(path);
	}
	return status;
}

/* The source's tensors in DIR, those that lowering made in DIR/lowered. */
static int write_dump(const struct run *r, weft_session *s)
{
	char inner[4096], path[4096];
	struct weft_kept k;
	int status = 0;

	snprintf(inner, sizeof(inner), "%s/lowered", r->dump_dir);
	for (int i = 0; !status && i < weft_session_n_kept(s); i++) {
		weft_session_kept(s, i, &k);
		if (!k.tensor || k.op < 0)
			continue;
		if (k.internal)
			status = make_dir(inner);
		if (!status)
			status = write_output(k.internal ? inner : r->dump_dir, k.op, k.name, k.tensor, path, sizeof(path));
	}
	return status;
}

static void print_outputs(const weft_net *net, const weft_tensor *out)
{
	struct weft_port p;

	for (int i = 0; i < weft_net_n_outputs(net); i++) {
		weft_net_output(net, i, &p);
		printf("output %d %s %s [", i, shown(p.name), weft_dtype_name(p.dtype));
		for (int d = 0; d < p.rank; d++)
			printf("%s%lld", d ? "," : "", (long long)p.dim[d]);
		printf("]");
		int64_t n = weft_tensor_elements(&out[i]);
		for (int64_t k = 0; k < n && k < 12 && weft_dtype_bytes(p.dtype) == 1; k++)
			printf(" %d", p.dtype == WEFT_UINT8 ? ((uint8_t *)out[i].data)[k] : ((int8_t *)out[i].data)[k]);
		printf("%s\n", n > 12 ? " ..." : "");
	}
}

static void print_mismatch(const struct weft_report *r)
{
	const struct weft_mismatch *m = &r->first;
	const struct weft_cosim_diff *d = &m->bytes;

	if (m->found)
		fprintf(stderr, "weft: first difference: operator %d %s, tensor %s, index %lld: expected %lld, got %lld"
		        " (command %lld, cycle %llu)\n", m->op, shown(m->op_name), shown(m->tensor), (long long)m->index,
		        (long long)m->expected, (long long)m->got, (long long)m->cmd, (unsigned long long)m->cycle);
	if (d->found)
		fprintf(stderr, "weft: first byte that differs from the model: command %zu, %s 0x%llx: expected 0x%02x, "
		        "got 0x%02x (cycle %llu)\n", d->cmd, d->in_sp ? "scratchpad" : "memory",
		        (unsigned long long)d->addr, d->expected, d->got, (unsigned long long)d->cycle);
}

/* A bar with rate and time left, on a terminal, once the run takes long. */
struct bar { double start, shown; };

static void show_progress(void *user, uint64_t done, uint64_t all)
{
	struct bar *b = user;
	double t = now_seconds(), spent = t - b->start;
	static const char full[] = "##############################";

	if (spent < 1 || (t - b->shown < 0.2 && done < all))
		return;
	b->shown = t;
	fprintf(stderr, "\r[%-30.*s] %3.0f %%  %.0f commands/s  %.0f s left ", (int)(30 * done / all), full,
	        100.0 * (double)done / (double)all, (double)done / spent,
	        spent * (double)(all - done) / (double)done);
}

static void end_progress(const struct bar *b)
{
	if (b->shown > 0)
		fprintf(stderr, "\r\033[K");
}

static void print_profile(const weft_session *s)
{
	char *text = weft_session_profile_text(s);

	if (text)
		fputs(text, stdout);
	free(text);
}

static int run_once(struct run *r, const weft_net *net, weft_session *s, weft_tensor *in, weft_tensor *out,
                    char **files)
{
	char msg[WEFT_MSG_LEN] = "";
	struct weft_report *rep = NULL;
	struct requant_report requant = { 0 };
	int status = get_inputs(r, net, in);

	if (status)
		return status;
	int err = r->jobs.n ? run_in_segments(&r->jobs, &r->o, s, in, out, &rep, msg) : weft_session_run(s, in, out, &rep, msg);
	if (r->o.progress)
		end_progress(r->o.progress_user);
	status = run_status(err);
	if (!err)
		status = write_outputs(r, net, out, files);
	if ((!err || err == -EBADMSG) && r->dump_dir && write_dump(r, s))
		status = EXIT_USAGE;
	if (!err && r->load.o.requant == WEFT_REQUANT_RESCALE && requant_compare(r->model, &r->load, in, out, weft_net_n_outputs(net), &requant))
		status = EXIT_USAGE;
	if (r->regs && weft_session_device(s)) {
		struct target t;
		target_of(&t, "this run's device", weft_session_device(s));
		int bad = regs_dump(&t, r->regs);
		status = status ? status : bad;
	}
	if (rep && r->json)
		print_json(net, &r->o, r->model, r->seed, rep, &requant, files);
	if (rep && !r->json) {
		print_report(&r->o, rep);
		if (!err && r->tokens)
			print_tokens(&r->o, rep, r->tokens);
		if (!err)
			print_outputs(net, out);
		if (!err && r->o.profile)
			print_profile(s);
		if (requant.done)
			printf("--requant rescale: %lld of %lld elements of outputs differ from ONNX's, by %g at most\n", requant.differ,
			       requant.elements, requant.most);
	}
	if (rep && rep->mismatches)
		print_mismatch(rep);
	if (err)
		fail(0, "%s: %s", r->model, msg);
	const int captured = err ? weft_session_captured(s) : 0;
	if (captured > 0)
		fprintf(stderr, "weft: kept in %s; weft replay %s says where\n", r->o.capture, r->o.capture);
	else if (captured < 0 && captured != err)      /* one line says that there is no memory */
		fail(0, "%s: not kept: %s", r->o.capture, weft_file_error(captured));
	weft_report_free(rep);
	return status;
}

/* A whole network's waveform may fill a disk. Measured: 170 to 430 bytes a cycle with 16 x 16 PEs, most of them the array's. */
static void say_wave_size(const struct run *r, weft_session *s)
{
	const struct weft_config *c = weft_config_find(r->o.config);
	char msg[WEFT_MSG_LEN];
	struct weft_report *plan;

	if (!c || !r->wave || r->o.wave_cmd >= 0 || weft_session_plan(s, &plan, msg))
		return;
	const uint64_t mb = plan->estimate * c->n * c->n / 1000000;
	if (mb >= 100)
		fprintf(stderr, "weft: %s: %llu to %llu MB and minutes for the whole network; --wave F.fst:C±N records N cycles around "
		        "command C (weft dump lists them)\n", r->wave, (unsigned long long)(mb * 2 / 3), (unsigned long long)(mb * 5 / 3));
	weft_report_free(plan);
}

/* Without --capture a failure is kept in <model>.wcap here. */
static void name_capture(struct run *r)
{
	const char *slash = strrchr(r->model, '/'), *name = slash ? slash + 1 : r->model;
	const char *dot = strrchr(name, '.');

	snprintf(r->capture, sizeof r->capture, "%.*s.wcap", (int)(dot && dot > name ? dot - name : (long)strlen(name)), name);
	if (r->no_capture)
		r->o.capture = NULL;
	else if (!r->o.capture && r->o.device != WEFT_DEVICE_GOLDEN)
		r->o.capture = r->capture;
}

static int with_net(struct run *r, const weft_net *net)
{
	char msg[WEFT_MSG_LEN] = "";
	weft_session *s;
	struct bar bar = { .start = now_seconds() };
	int n_in = weft_net_n_inputs(net), n_out = weft_net_n_outputs(net);

	if (isatty(STDERR_FILENO)) {
		r->o.progress = show_progress;
		r->o.progress_user = &bar;
	}
	name_capture(r);
	r->o.cache = r->no_cache ? NULL : cache_folder(r->cache);
	struct weft_session_options o = r->o;
	/* In segments the functional model runs first. */
	if (r->jobs.n) {
		o.for_rtl = o.device == WEFT_DEVICE_RTL;
		o.device = WEFT_DEVICE_MODEL;
		o.plant.kind = WEFT_PLANT_NONE;
		o.capture = NULL;
		o.threads = (unsigned)r->jobs.n;
	}
	int err = weft_session_open(net, &o, &s, msg);
	if (err)
		return fail(status_of(err), "%s: %s", r->model, msg);
	r->o.config = weft_session_config(s);
	say_cache(s);
	say_wave_size(r, s);
	weft_tensor *in = calloc((size_t)n_in + 1, sizeof(*in));
	weft_tensor *out = calloc((size_t)n_out + 1, sizeof(*out));
	char **files = calloc((size_t)n_out + 1, sizeof(*files));
	int status = in && out && files ? run_once(r, net, s, in, out, files) : fail(EXIT_DEVICE, "out of memory");
	for (int i = 0; in && i < n_in; i++)
		weft_tensor_release(&in[i]);
	for (int i = 0; out && i < n_out; i++)
		weft_tensor_release(&out[i]);
	for (int i = 0; files && i < n_out; i++)
		free(files[i]);
	free(in);
	free(out);
	free(files);
	weft_session_close(s);
	return status;
}

/* What only the RTL, or only a device, can do. */
static int check_device(const struct run *r)
{
	const bool rtl = r->o.device == WEFT_DEVICE_RTL;

	if (r->wave && !rtl)
		return fail(-1, "--wave: only the RTL has signals; --device rtl");
	if (r->o.plant.kind != WEFT_PLANT_NONE && !rtl)
		return fail(-1, "--plant: --device rtl");
	if (r->regs && !rtl && r->o.device != WEFT_DEVICE_USB)
		return fail(-1, "--regs: --device rtl or usb have registers");
	return 0;
}

/* Before a run that may take long, not behind it. */
static int make_folders(const struct run *r)
{
	const char *const dirs[] = { r->out_dir, r->dump_dir, r->jobs.dir };
	int status = 0;

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]) && !status; i++)
		status = dirs[i] ? make_dir(dirs[i]) : 0;
	if (!status && r->o.profile)
		status = can_write(r->o.profile);
	return !status && r->regs ? can_write(r->regs) : status;
}

static int check_profile(const struct run *r)
{
	if (r->o.device == WEFT_DEVICE_GOLDEN)
		return fail(-1, "--profile: golden has no units; --device rtl, usb or model");
	return r->jobs.n || r->segment ? fail(-1, "--profile: not in segments") : 0;
}

static int check_segments(struct run *r)
{
	if (r->segment && (r->model || r->jobs.n || r->jobs.dir))
		return fail(-1, "--segment: the checkpoint holds the network and all that belongs to it");
	if (r->o.device != WEFT_DEVICE_RTL && r->o.device != WEFT_DEVICE_MODEL)
		return fail(-1, "segments run on --device rtl or model");
	if (r->wave || r->dump_dir)
		return fail(-1, "segments: no --wave and no --dump");
	if (r->jobs.dir && !r->jobs.n)
		return fail(-1, "--checkpoints: --jobs says how many");
	return 0;
}

static int run_main(int argc, char **argv)
{
	struct run r = { .o = weft_session_options_default() };
	weft_net *net = NULL;
	const char *v;
	int at = 0, opt, bad = 0;

	r.o.config = NULL;
	while (!bad && (opt = next_option(&at, argc, argv, defs, &v)) != -2)
		bad = opt == -3 ? -1 : take(&r, opt, v);
	config_by_device(&r.o);
	if (!bad && (r.jobs.n || r.jobs.dir || r.segment))
		bad = check_segments(&r);
	if (!bad && r.o.profile)
		bad = check_profile(&r);
	if (!bad)
		bad = check_device(&r);
	if (!bad && r.segment) {
		free(r.wave);
		return run_one_segment(r.segment, &r.o);
	}
	if (!bad && !r.model)
		bad = fail(-1, "run: no model is named; see weft run --help");
	int status = bad ? EXIT_USAGE : 0;
	const char *dot = r.model ? strrchr(r.model, '.') : NULL;
	for (int i = 0; !status && dot && !strcmp(dot, ".onnx") && i < r.n_inputs; i++)
		status = take_given(&r.load, r.inputs[i]);
	if (!status)
		status = load_net(r.model, &r.load, &net);
	if (!status)
		status = make_folders(&r);
	if (!status)
		status = with_net(&r, net);
	weft_net_free(net);
	load_release(&r.load);
	free(r.wave);
	return status;
}

const struct subcommand cmd_run = {
	"run", "run a network on a device",
	"usage: weft run MODEL [options]\n\n"
	"  -i [NAME=]FILE      input: .npy, .bin (raw), .png, .jpg; repeat for more inputs\n"
	"  -o DIR              write outputs as DIR/<index>_<name>.npy\n"
	"  --device D          golden, model (default), rtl, or a card: usb (any), usb:SERIAL,\n"
	"                      usb:@SOCKET (simulated: weft-card --listen SOCKET); several:\n"
	"                      usb:* (all that are free), or a list with commas\n"
	"  --wait MS           card: wait so long for it to be plugged in\n"
	"  --timeout MS        give up a stream, or a loop on the host, that takes longer\n"
	"  --check             compare every tensor that the device makes with golden\n"
	"  --strict            refuse host operators in the middle of the network; at its edge\n"
	"                      (docs/STATUS.md) they may stay\n"
	"  --config C          " WEFT_CONFIG_NAMES " (default: the card's, or w16)\n"
	"  --memory M          rtl: ddr (default) or sram\n"
	"  --seed N            inputs without -i are pseudo-random from N (default 0)\n"
	"  --dump DIR          write every tensor as DIR/<operator index>_<name>.npy,\n"
	"                      those that lowering made in DIR/lowered\n"
	"  --wave F.fst[:C±N]  rtl: waveform, whole or N cycles around command C\n"
	"  --profile F.json    trace for ui.perfetto.dev: units, stalls and why, bytes,\n"
	"                      operators, host, USB; and a table (rtl: by cycle, a card: by\n"
	"                      its counters, for which it runs more than once)\n"
	"  --grain N           states shorter than N cycles share a slice of the trace\n"
	"  --regs DUMP         registers as the run left them, for weft regs --diff\n"
	"  --tokens N          the run makes N tokens: say how many in a million cycles, and\n"
	"                      whether memory or products bound them\n"
	"  --json              one object on standard output\n"
	"  --jobs N            rtl: in N segments, each a process; same report but for cycles\n"
	"  --checkpoints DIR   with --jobs: only write the segments' checkpoints there\n"
	"  --segment FILE      rtl: run one segment from its checkpoint (docs/segments.md)\n"
	"  --capture F.wcap    where a run that fails or differs is kept for weft replay\n"
	"                      (<model>.wcap in this folder); --no-capture: nowhere\n"
	"  --plant FAULT       rtl, for tests: pe:ROW,COL,BIT lane:LANE,BIT sp:ADDRESS,BIT\n"
	"                      stuck at 1\n"
	CACHE_USAGE LOAD_USAGE,
	run_main,
};

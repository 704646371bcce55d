/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft reduce: a failing network made small, and written as a test case.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/clock.h"
#include <weft/npy.h>
#include <weft/reduce.h>
#include "weft_cmd.h"

#define MAX_INPUTS 64

static const struct option_def defs[] = {
	{ "-i", true }, { "-o", true }, { "--device", true }, { "--config", true }, { "--memory", true }, { "--seed", true },
	{ "--plant", true }, { NULL, false },
};

struct args {
	struct weft_session_options o;
	const char *model, *dir, *device, *plant, *inputs[MAX_INPUTS];
	int n_inputs;
	uint64_t seed;
};

static int take(struct args *a, int opt, const char *v)
{
	switch (opt) {
	case 0:
		if (a->n_inputs == MAX_INPUTS)
			return fail(-1, "more than %d inputs", MAX_INPUTS);
		a->inputs[a->n_inputs++] = v;
		return 0;
	case 1: a->dir = v; return 0;
	case 2: a->device = v; return parse_device(v, &a->o);
	case 3: a->o.config = v; return 0;
	case 4: return parse_memory(v, &a->o.memory);
	case 5: return parse_number("--seed", v, UINT64_MAX, &a->seed);
	case 6: a->plant = v; return parse_plant(v, &a->o.plant);
	default:
		if (a->model)
			return fail(-1, "reduce: \"%s\": one model at a time", v);
		a->model = v;
		return 0;
	}
}

static int take_args(int argc, char **argv, struct args *a)
{
	const char *v;
	int at = 0, opt;

	while ((opt = next_option(&at, argc, argv, defs, &v)) != -2)
		if (opt == -3 || take(a, opt, v))
			return EXIT_USAGE;
	if (!a->model || !a->dir)
		return fail(EXIT_USAGE, "reduce: wants MODEL and -o DIR");
	return can_write(a->dir);
}

static int get_inputs(const struct args *a, const weft_net *net, weft_tensor *in)
{
	struct weft_port p;

	if (a->n_inputs > weft_net_n_inputs(net))
		return fail(EXIT_USAGE, "reduce: %d inputs given, the network has %d", a->n_inputs, weft_net_n_inputs(net));
	for (int i = 0; i < weft_net_n_inputs(net); i++) {
		weft_net_input(net, i, &p);
		int status = i < a->n_inputs ? read_input(a->inputs[i], &p, &in[i])
		           : random_input(net, i, a->seed, &in[i]) ? fail(EXIT_DEVICE, "out of memory") : 0;
		if (status)
			return status;
	}
	return 0;
}

/* DIR/net.tosa, DIR/input-<k>.npy, and how to run them. */
static int write_case(const struct args *a, const struct weft_reduction *r)
{
	char custom[WEFT_MSG_LEN] = "", msg[WEFT_MSG_LEN] = "", path[4096];
	uint8_t *data;
	size_t len;
	int status = make_dir(a->dir);
	int err = status ? 0 : weft_net_convert(r->net, false, &data, &len, custom, msg);

	if (status)
		return status;
	if (err)
		return fail(status_of(err), "%s", msg);
	snprintf(path, sizeof path, "%s/net.tosa", a->dir);
	status = write_file(path, data, len);
	free(data);
	for (int i = 0; !status && i < weft_net_n_inputs(r->net); i++) {
		snprintf(path, sizeof path, "%s/input-%d.npy", a->dir, i);
		const int bad = weft_npy_write(path, &r->inputs[i], msg);
		if (bad)
			status = fail(output_status(bad), "%s", msg);
	}
	if (status)
		return status;
	printf("%d of %d operators still fail (%d networks tried): %s\n", r->ops, r->ops_before, r->runs, r->why);
	for (int i = 0; i < weft_net_n_ops(r->net); i++)
		printf("  %s\n", weft_op_name(weft_net_op(r->net, i)));
	printf("weft run %s/net.tosa --check --device %s --config %s", a->dir, a->device, a->o.config);
	for (int i = 0; i < weft_net_n_inputs(r->net); i++)
		printf(" -i %s/input-%d.npy", a->dir, i);
	printf("%s%s\n", a->plant ? " --plant " : "", a->plant ? a->plant : "");
	return 0;
}

/* How far the search is: how far it has to go nobody knows. On a terminal, once it takes long. */
struct tries { double start, shown; uint64_t last; int n; };

static void show_tries(void *user, uint64_t done, uint64_t all)
{
	struct tries *t = user;
	double now = now_seconds();

	t->n += done <= t->last;   /* another network begins */
	t->last = done;
	if (now - t->start < 1 || now - t->shown < 0.2)
		return;
	t->shown = now;
	fprintf(stderr, "\r%d networks tried, this one %3.0f %%, %.0f s ", t->n, 100.0 * (double)done / (double)all, now - t->start);
}

static int search(const struct args *a, const weft_net *net, const weft_tensor *in, struct weft_reduction *r, char *msg)
{
	struct tries t = { .start = now_seconds() };
	struct weft_session_options o = a->o;

	if (isatty(STDERR_FILENO)) {
		o.progress = show_tries;
		o.progress_user = &t;
	}
	int err = weft_reduce(net, in, &o, r, msg);
	if (t.shown > 0)
		fprintf(stderr, "\r\033[K");
	return err;
}

static int with_net(const struct args *a, const weft_net *net)
{
	const int n = weft_net_n_inputs(net);
	weft_tensor *in = calloc((size_t)n + 1, sizeof *in);
	char msg[WEFT_MSG_LEN] = "";
	struct weft_reduction r;
	int status = in ? get_inputs(a, net, in) : fail(EXIT_DEVICE, "out of memory");

	if (!status) {
		int err = search(a, net, in, &r, msg);
		status = err == -ENOENT ? fail(EXIT_USAGE, "%s: %s", a->model, msg)
		       : err ? fail(status_of(err), "%s: %s", a->model, msg) : write_case(a, &r);
		if (!err)
			weft_reduction_release(&r);
	}
	for (int i = 0; in && i < n; i++)
		weft_tensor_release(&in[i]);
	free(in);
	return status;
}

/* ---- a captured stream ---- */

/* DIR/case.wcap, and how to run it. */
static int write_stream(const struct args *a, const struct weft_stream_case *r)
{
	char msg[WEFT_MSG_LEN] = "", path[4096];
	int status = make_dir(a->dir);

	if (status)
		return status;
	snprintf(path, sizeof path, "%s/case.wcap", a->dir);
	int err = weft_capture_write(path, &r->capture, msg);
	if (err)
		return fail(file_status(err), "%s", msg);
	printf("%u of %u commands still fail, with %u load%s and %u store%s added (%d streams tried); the last is\n  %s\n", r->kept,
	       r->before, r->loads, r->loads == 1 ? "" : "s", r->stores, r->stores == 1 ? "" : "s", r->runs, r->text);
	printf("weft replay %s%s\n", path, r->capture.plant.kind != WEFT_PLANT_NONE ? " --plant" : "");
	return 0;
}

static int with_capture(const struct args *a)
{
	const struct weft_stream_options o = { .device = a->o.device, .usb = a->o.usb };
	char msg[WEFT_MSG_LEN] = "";
	struct weft_stream_case r;
	struct weft_capture c;

	if (a->n_inputs || a->plant)
		return fail(EXIT_USAGE, "reduce: a capture holds its inputs and faults: no -i, no --plant");
	if (a->o.device == WEFT_DEVICE_GOLDEN)
		return fail(EXIT_USAGE, "reduce: golden runs no streams; --device rtl, usb or model");
	int err = weft_capture_read(a->model, &c, msg);
	if (err)
		return fail(file_status(err), "%s", msg);
	err = weft_reduce_stream(&c, &o, &r, msg);
	int status = err == -ENOENT ? fail(EXIT_USAGE, "%s: %s", a->model, msg)
	           : err ? fail(status_of(err), "%s: %s", a->model, msg) : write_stream(a, &r);
	if (!err)
		weft_capture_release(&r.capture);
	weft_capture_release(&c);
	return status;
}

static int run(int argc, char **argv)
{
	struct args a = { .o = weft_session_options_default(), .device = "rtl" };
	weft_net *net;
	int status;

	a.o.device = WEFT_DEVICE_RTL;
	status = take_args(argc, argv, &a);
	if (status)
		return status;
	if (ends_with(a.model, ".wcap"))
		return with_capture(&a);
	status = load_net(a.model, NULL, &net);
	if (status)
		return status;
	status = with_net(&a, net);
	weft_net_free(net);
	return status;
}

const struct subcommand cmd_reduce = {
	"reduce", "make a failing network, or a captured stream, small",
	"usage: weft reduce MODEL -o DIR [options]\n"
	"       weft reduce FILE.wcap -o DIR [--device D]\n\n"
	"Finds the fewest operators that still fail, fed with what golden computes in\n"
	"front of them, and writes DIR/net.tosa and DIR/input-<k>.npy. Of a capture: the\n"
	"fewest commands that still fail on that device (usb too), with loads of what they\n"
	"read and a store of what they make, as DIR/case.wcap for weft replay.\n\n"
	"  -i FILE          input: .npy, .bin, .png, .jpg; repeat for more inputs\n"
	"  --device D       rtl (default), model, or a card: usb (any), usb:SERIAL, usb:@SOCKET\n"
	"  --config C       " WEFT_CONFIG_NAMES " (default: w16)\n"
	"  --memory M       rtl: ddr (default) or sram\n"
	"  --seed N         inputs without -i are pseudo-random from N (default 0)\n"
	"  --plant FAULT    for tests, as in weft run\n",
	run,
};

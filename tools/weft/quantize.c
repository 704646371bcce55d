/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft quantize: a float .onnx or .tflite network with integers, or float8, in the middle.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samples.h"

struct args {
	const char *model, *out, *dir;
	struct weft_quantize_options o;
	struct load_args load;
};

static const struct option_def defs[] = {
	{ "-o", true }, { "--calibrate", true }, { "--type", true }, { "--range", true }, { "--bind", true }, { NULL, false },
};

static int take_type(struct args *a, const char *v)
{
	static const char *const names[] = { "int8", "int16x8", "fp8e4m3" };

	for (int i = 0; i < 3; i++)
		if (!strcmp(v, names[i])) {
			a->o.type = (enum weft_quantize_type)i;
			return 0;
		}
	return fail(-1, "--type: \"%s\" is not int8, int16x8 or fp8e4m3", v);
}

static int take_range(struct args *a, const char *v)
{
	char *end;

	if (!strcmp(v, "minmax")) {
		a->o.percentile = 100;
		return 0;
	}
	a->o.percentile = strtod(v, &end);
	if (end == v || *end || !(a->o.percentile > 50 && a->o.percentile <= 100))
		return fail(-1, "--range: \"%s\" is not minmax or a percentile above 50, up to 100", v);
	return 0;
}

static int take(struct args *a, int opt, const char *v)
{
	switch (opt) {
	case 0: a->out = v; return 0;
	case 1: a->dir = v; return 0;
	case 2: return take_type(a, v);
	case 3: return take_range(a, v);
	case 4: return take_load(&a->load, LOAD_BIND, v);
	default:
		if (a->model)
			return fail(-1, "quantize: \"%s\": one model at a time", v);
		a->model = v;
		return 0;
	}
}

/* How alike the two networks' outputs are. */
struct likeness { double least, sum; };

static double cosine(const weft_tensor *a, const weft_tensor *b)
{
	double ab = 0, aa = 0, bb = 0;

	for (int64_t i = 0, n = weft_tensor_elements(a); i < n; i++) {
		double x = (double)((const float *)a->data)[i], y = (double)((const float *)b->data)[i];
		ab += x * y;
		aa += x * x;
		bb += y * y;
	}
	return aa == 0 && bb == 0 ? 1 : ab / sqrt(aa * bb);
}

static int compare_one(weft_session *const *s, weft_tensor *in, const struct samples *samples, int i, struct likeness *k, int n_out)
{
	weft_tensor *y = calloc(2 * (size_t)n_out, sizeof *y);
	char msg[WEFT_MSG_LEN] = "";
	int n_in = weft_net_n_inputs(samples->net), status = EXIT_DONE;

	int read = y ? samples_read((void *)(uintptr_t)samples, i, in, n_in, msg) : 0;
	if (!y)
		status = fail(EXIT_DEVICE, "out of memory");
	else if (read < 0)
		status = samples->told ? file_status(read) : fail(file_status(read), "%s", msg);
	for (int side = 0; side < 2 && !status; side++) {
		int err = weft_session_run(s[side], in, y + side * n_out, NULL, msg);
		status = err ? fail(status_of(err), "sample %d: %s", i, msg) : EXIT_DONE;
	}
	for (int o = 0; o < n_out && !status; o++) {
		double c = y[o].dtype == WEFT_FP32 ? cosine(&y[o], &y[n_out + o]) : 1;
		k[o].least = fmin(k[o].least, c);
		k[o].sum += c;
	}
	for (int o = 0; y && o < 2 * n_out; o++)
		weft_tensor_release(&y[o]);
	for (int o = 0; o < n_in; o++)
		weft_tensor_release(&in[o]);
	free(y);
	return status;
}

/* Both networks over the samples, on golden. */
static int compare(const weft_net *a, const weft_net *b, const struct samples *samples)
{
	struct weft_session_options o = weft_session_options_default();
	int n_out = weft_net_n_outputs(a), status = EXIT_DONE;
	struct likeness *k = calloc((size_t)n_out + 1, sizeof *k);
	weft_tensor *in = calloc((size_t)weft_net_n_inputs(a) + 1, sizeof *in);
	weft_session *s[2] = { NULL, NULL };
	char msg[WEFT_MSG_LEN] = "";

	o.device = WEFT_DEVICE_GOLDEN;
	if (!k || !in)
		status = fail(EXIT_DEVICE, "out of memory");
	for (int i = 0; k && i < n_out; i++)
		k[i] = (struct likeness){ 1, 0 };
	for (int i = 0; i < 2 && !status; i++) {
		int err = weft_session_open(i ? b : a, &o, &s[i], msg);
		status = err ? fail(status_of(err), "%s", msg) : EXIT_DONE;
	}
	for (int i = 0; i < samples->n && !status; i++)
		status = compare_one(s, in, samples, i, k, n_out);
	for (int i = 0; i < n_out && !status; i++) {
		struct weft_port p;
		weft_net_output(a, i, &p);
		printf("output %d %s: cosine with the float network's %.6f, at least %.6f, over %d samples\n", i, shown(p.name),
		       k[i].sum / samples->n, k[i].least, samples->n);
	}
	weft_session_close(s[0]);
	weft_session_close(s[1]);
	free(k);
	free(in);
	return status;
}

static int quantise(struct args *a, const weft_net *net, const uint8_t *data, size_t len)
{
	char msg[WEFT_MSG_LEN] = "";
	struct samples samples;
	uint8_t *out = NULL;
	weft_net *q = NULL;
	size_t n_out = 0;
	int status = samples_open(&samples, a->dir, net);

	a->o.sample = samples_read;
	a->o.user = &samples;
	if (!status) {
		int err = weft_quantize(data, len, &a->o, &out, &n_out, msg);
		status = !err ? EXIT_DONE : samples.told ? file_status(err) : fail(file_status(err), "%s: %s", a->model, msg);
	}
	if (!status) {
		int err = weft_net_load_with(out, n_out, a->out, &a->load.o, &q, msg);
		status = err ? fail(file_status(err), "%s: %s", a->out, msg) : compare(net, q, &samples);
	}
	if (!status)
		status = write_file(a->out, out, n_out);
	weft_net_free(q);
	free(out);
	samples_close(&samples);
	return status;
}

static int with_file(struct args *a)
{
	const char *slash = strrchr(a->model, '/');
	char msg[WEFT_MSG_LEN] = "", folder[4096];
	weft_net *net = NULL;
	uint8_t *data;
	size_t len;

	snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - a->model) : 1, slash ? a->model : ".");
	a->load.o.folder = a->o.folder = folder;
	a->o.bound = a->load.o.bound;
	a->o.n_bound = a->load.o.n_bound;
	int status = read_whole(a->model, &data, &len);
	if (status)
		return status;
	int err = weft_net_load_with(data, len, a->model, &a->load.o, &net, msg);
	status = err ? fail(file_status(err), "%s: %s", a->model, msg) : quantise(a, net, data, len);
	weft_net_free(net);
	free(data);
	return status;
}

static int run(int argc, char **argv)
{
	struct args a = { .o = weft_quantize_options_default() };
	const char *v;
	int at = 0, opt, bad = 0;

	while (!bad && (opt = next_option(&at, argc, argv, defs, &v)) != -2)
		bad = opt == -3 ? -1 : take(&a, opt, v);
	if (!bad && (!a.model || !a.out || !a.dir))
		bad = fail(-1, "quantize: wants MODEL, -o FILE and --calibrate DIR");
	int status = bad ? EXIT_USAGE : can_write(a.out);
	if (!status)
		status = with_file(&a);
	load_release(&a.load);
	return status;
}

const struct subcommand cmd_quantize = {
	"quantize", "quantise a float .onnx or .tflite network",
	"usage: weft quantize MODEL -o FILE --calibrate DIR [options]\n\n"
	"MODEL is a float .onnx or .tflite file, FILE is of the same kind. Of .onnx,\n"
	"QuantizeLinear and DequantizeLinear stand around convolutions, matrix products\n"
	"and what lies between them; of .tflite, operators become those of integers\n"
	"where LiteRT has them. Weights have a scale per channel.\n\n"
	"  -o FILE             the file to write\n"
	"  --calibrate DIR     inputs to see which values occur: <n>_<input>.npy for each\n"
	"                      input, or pictures\n"
	"  --type T            int8 (default), int16x8 or fp8e4m3 (.onnx)\n"
	"  --range R           minmax (default), or a percentile such as 99.99\n"
	"  --bind NAME=V       an input becomes a constant (V: FILE.npy) or gets the shape\n"
	"                      that the file leaves open (V: 1x3x224x224); repeatable\n",
	run,
};

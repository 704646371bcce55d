/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft accuracy: how many of a set of labelled inputs a classifier gets right.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/convert.h>

#include <weft/image.h>
#include <weft/npy.h>
#include "weft_cmd.h"

struct accuracy {
	struct weft_session_options o;
	const char *files[3];      /* model, inputs, labels */
	int n_files;
	weft_tensor x, y;
	bool no_cache;
	char cache[CACHE_PATH];
};

enum { OPT_DEVICE, OPT_CONFIG, OPT_MEMORY, OPT_CHECK, OPT_NO_CACHE };

static const struct option_def defs[] = {
	{ "--device", true }, { "--config", true }, { "--memory", true }, { "--check", false }, { "--no-cache", false }, { NULL, false },
};

static int take(struct accuracy *a, int opt, const char *v)
{
	switch (opt) {
	case OPT_DEVICE: return parse_device(v, &a->o);
	case OPT_CONFIG: a->o.config = v; return 0;
	case OPT_MEMORY: return parse_memory(v, &a->o.memory);
	case OPT_CHECK:  a->o.check = true; return 0;
	case OPT_NO_CACHE: a->no_cache = true; return 0;
	default:
		if (a->n_files == 3)
			return fail(-1, "accuracy: \"%s\" is one file too many", v);
		a->files[a->n_files++] = v;
		return 0;
	}
}

static int64_t value(const weft_tensor *t, int64_t i)
{
	switch (t->dtype) {
	case WEFT_BOOL:
	case WEFT_INT4:
	case WEFT_INT8:   return ((const int8_t *)t->data)[i];
	case WEFT_UINT8:  return ((const uint8_t *)t->data)[i];
	case WEFT_INT16:  return ((const int16_t *)t->data)[i];
	case WEFT_UINT16: return ((const uint16_t *)t->data)[i];
	case WEFT_INT32:  return ((const int32_t *)t->data)[i];
	default:          return ((const int64_t *)t->data)[i];
	}
}

static double real(const weft_tensor *t, int64_t i)
{
	uint64_t bits = 0;

	memcpy(&bits, (const char *)t->data + i * weft_dtype_bytes(t->dtype), (size_t)weft_dtype_bytes(t->dtype));
	return weft_float_decode(t->dtype, bits);
}

/* NaN is never the largest. */
static int64_t largest(const weft_tensor *t)
{
	bool is_float = t->dtype >= WEFT_FP8E4M3;
	int64_t best = 0;

	for (int64_t i = 1; i < weft_tensor_elements(t); i++) {
		bool more = is_float ? !(real(t, i) <= real(t, best)) && real(t, i) == real(t, i) : value(t, i) > value(t, best);
		best = more ? i : best;
	}
	return best;
}

/* 8-bit inputs of another type than the network's are pixels, which it gets as from a picture. */
static int from_pixels(struct accuracy *a, const struct weft_port *p)
{
	const struct weft_quant q = { p->quantised, p->scale, p->zp };
	weft_tensor as = a->x;
	int64_t n = weft_tensor_elements(&a->x);
	uint8_t *pixel = a->x.data;

	as.dtype = p->dtype;
	as.data = malloc(weft_tensor_bytes(&as) + 1);
	if (!as.data)
		return fail(EXIT_DEVICE, "out of memory");
	for (int64_t i = 0; a->x.dtype == WEFT_INT8 && i < n; i++)
		pixel[i] ^= 0x80;
	weft_image_values(&as, &q, pixel);
	weft_tensor_release(&a->x);
	a->x = as;
	return 0;
}

/* One input and one output; x holds as many inputs as y has labels. */
static int judge(struct accuracy *a, const weft_net *net, weft_tensor *in)
{
	struct weft_port p;
	int status;

	if (weft_net_n_inputs(net) != 1 || weft_net_n_outputs(net) != 1)
		return fail(EXIT_USAGE, "%s: accuracy wants one input and one output", a->files[0]);
	weft_net_output(net, 0, &p);
	if (p.dtype > WEFT_FP64)
		return fail(EXIT_USAGE, "%s: the output is %s; accuracy cannot compare that", a->files[0], weft_dtype_name(p.dtype));
	weft_net_input(net, 0, &p);
	*in = tensor_for(&p);
	int64_t n = weft_tensor_elements(&a->y), each = weft_tensor_elements(in);
	bool bytes = a->x.dtype == WEFT_INT8 || a->x.dtype == WEFT_UINT8;
	bool convert = bytes && a->x.dtype != in->dtype && weft_image_type(in->dtype);
	if (convert && weft_tensor_elements(&a->x) == n * each && (status = from_pixels(a, &p)))
		return status;
	if (a->x.dtype != in->dtype || weft_tensor_elements(&a->x) != n * each)
		return fail(EXIT_USAGE, "%s: %lld elements of %s; %lld inputs of %lld %s are wanted", a->files[1],
		            (long long)weft_tensor_elements(&a->x), weft_dtype_name(a->x.dtype), (long long)n,
		            (long long)each, weft_dtype_name(in->dtype));
	if (a->y.dtype >= WEFT_FP8E4M3 || a->y.dtype == WEFT_INT4 || a->y.dtype == WEFT_BOOL)
		return fail(EXIT_USAGE, "%s: labels are %s, not integers", a->files[2], weft_dtype_name(a->y.dtype));
	return 0;
}

static int count_right(const struct accuracy *a, weft_session *s, weft_tensor *in, int64_t *right)
{
	int64_t n = weft_tensor_elements(&a->y);
	size_t each = weft_tensor_bytes(in);
	char msg[WEFT_MSG_LEN] = "";
	bool show = isatty(STDERR_FILENO);

	*right = 0;
	for (int64_t i = 0; i < n; i++) {
		weft_tensor out = { 0 };
		in->data = (char *)a->x.data + (size_t)i * each;
		int err = weft_session_run(s, in, &out, NULL, msg);
		if (err)
			return fail(status_of(err), "%s: input %lld: %s", a->files[1], (long long)i, msg);
		*right += largest(&out) == value(&a->y, i);
		weft_tensor_release(&out);
		if (show && (i % 20 == 19 || i == n - 1))
			fprintf(stderr, "\r%lld of %lld", (long long)i + 1, (long long)n);
	}
	if (show)
		fprintf(stderr, "\r                    \r");
	return EXIT_DONE;
}

static int with_net(struct accuracy *a, const weft_net *net)
{
	char msg[WEFT_MSG_LEN] = "";
	weft_session *s;
	weft_tensor in;
	int64_t right, n = weft_tensor_elements(&a->y);
	int status = judge(a, net, &in);

	if (status)
		return status;
	a->o.cache = a->no_cache ? NULL : cache_folder(a->cache);
	int err = weft_session_open(net, &a->o, &s, msg);
	if (err)
		return fail(status_of(err), "%s: %s", a->files[0], msg);
	say_cache(s);
	status = count_right(a, s, &in, &right);
	if (!status)
		printf("%lld of %lld right, %.2f %%\n", (long long)right, (long long)n, 100.0 * (double)right / (double)n);
	weft_session_close(s);
	return status;
}

static int accuracy_main(int argc, char **argv)
{
	struct accuracy a = { .o = weft_session_options_default() };
	char msg[WEFT_MSG_LEN] = "";
	weft_net *net = NULL;
	const char *v;
	int at = 0, opt, bad = 0;

	a.o.config = NULL;
	while (!bad && (opt = next_option(&at, argc, argv, defs, &v)) != -2)
		bad = opt == -3 ? -1 : take(&a, opt, v);
	config_by_device(&a.o);
	if (!bad && a.n_files != 3)
		bad = fail(-1, "accuracy: wants MODEL X.npy Y.npy; see weft accuracy --help");
	if (bad)
		return EXIT_USAGE;
	int status = load_net(a.files[0], NULL, &net);
	if (!status && (weft_npy_read(a.files[1], &a.x, msg) || weft_npy_read(a.files[2], &a.y, msg)))
		status = fail(EXIT_USAGE, "%s", msg);
	if (!status)
		status = with_net(&a, net);
	weft_tensor_release(&a.x);
	weft_tensor_release(&a.y);
	weft_net_free(net);
	return status;
}

const struct subcommand cmd_accuracy = {
	"accuracy", "count what a classifier gets right",
	"usage: weft accuracy MODEL X.npy Y.npy [options]\n\n"
	"X.npy holds inputs in the network's own type, Y.npy as many labels; the\n"
	"answer is the index of the largest output. int8 or uint8 inputs for a network\n"
	"of another type are pixels (int8: less 128) and become what weft run makes of\n"
	"a picture's.\n\n"
	"  --device D          golden, model (default) or rtl\n"
	"  --config C          " WEFT_CONFIG_NAMES " (default: the card's, or w16)\n"
	"  --memory M          rtl: ddr (default) or sram\n"
	"  --check             compare every tensor with golden\n" CACHE_USAGE,
	accuracy_main,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* What the nearest RESCALE costs: outputs beside those of ONNX's own rounding, on golden. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <weft/convert.h>

#include "weft_cmd.h"

static double element(const weft_tensor *t, int64_t i)
{
	uint64_t bits = 0;
	size_t n = weft_dtype_bytes(t->dtype);

	memcpy(&bits, (const char *)t->data + (size_t)i * n, n);
	switch (t->dtype) {
	case WEFT_INT8:   return (int8_t)bits;
	case WEFT_INT16:  return (int16_t)bits;
	case WEFT_INT32:  return (int32_t)bits;
	case WEFT_INT64:  return (double)(int64_t)bits;
	default:          return t->dtype >= WEFT_FP8E4M3 && t->dtype <= WEFT_FP64 ? weft_float_decode(t->dtype, bits) : (double)bits;
	}
}

static void compare(const weft_tensor *a, const weft_tensor *b, struct requant_report *r)
{
	for (int64_t i = 0, n = weft_tensor_elements(a); i < n; i++) {
		double d = fabs(element(a, i) - element(b, i));

		r->elements++;
		r->differ += d != 0;
		r->most = d > r->most ? d : r->most;
	}
}

int requant_compare(const char *model, const struct load_args *load, const weft_tensor *in, const weft_tensor *out, int n_out,
                    struct requant_report *r)
{
	struct weft_session_options o = weft_session_options_default();
	struct weft_load_options exact = load->o;
	weft_tensor *y = calloc((size_t)n_out + 1, sizeof *y);
	const char *dot = strrchr(model, '.');
	char msg[WEFT_MSG_LEN] = "";
	weft_session *s = NULL;
	weft_net *net = NULL;

	/* A program has one arithmetic of sums, and no file of which another one could be made. */
	*r = (struct requant_report){ .done = !dot || strcasecmp(dot, ".weft") };
	exact.requant = WEFT_REQUANT_EXACT;
	o.device = WEFT_DEVICE_GOLDEN;
	if (!r->done) {
		free(y);
		return EXIT_DONE;
	}
	if (!y)
		return fail(EXIT_DEVICE, "out of memory");
	int err = weft_net_load_file_with(model, &exact, &net, msg);
	err = err ? err : weft_session_open(net, &o, &s, msg);
	err = err ? err : weft_session_run(s, in, y, NULL, msg);
	for (int i = 0; i < n_out && !err; i++)
		compare(&out[i], &y[i], r);
	for (int i = 0; i < n_out; i++)
		weft_tensor_release(&y[i]);
	free(y);
	weft_session_close(s);
	weft_net_free(net);
	return err ? fail(status_of(err), "%s: with --requant exact: %s", model, msg) : EXIT_DONE;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quantize.h"
#include "tflite/tflite_quantize.h"

struct weft_quantize_options weft_quantize_options_default(void)
{
	return (struct weft_quantize_options){ .type = WEFT_QUANTIZE_INT8, .percentile = 100 };
}

/*
 * Writes the model as it is now and imports it as graph *g, with the options' bound dimensions, so that
 * golden can run it. Returns 0 or a negative errno with one line in the message.
 */
static int import(struct qz *z, weft_graph **g)
{
	struct weft_import_bound bound[16];
	struct weft_onnx_options o = { .folder = z->o->folder, .bound = bound };
	uint8_t *data;
	size_t len;
	int err = qz_pack(z, &data, &len);

	if (err)
		return err;
	for (int i = 0; i < z->o->n_bound && i < 16; i++)
		bound[o.n_bound++] = (struct weft_import_bound){ z->o->bound[i].name, &z->o->bound[i].value };
	err = weft_import_onnx(data, len, "float", &o, g, z->msg);
	free(data);
	return err;
}

/*
 * Checks the options. Returns 0, or -EINVAL with one line in msg if there is no function for samples,
 * there are more than 16 bound inputs, the type is unknown, or the percentile is not above 50 and at
 * most 100.
 */
static int check_options(const struct weft_quantize_options *o, char *msg)
{
	if (!o->sample || o->n_bound > 16 || (o->type != WEFT_QUANTIZE_INT8 && o->type != WEFT_QUANTIZE_INT16X8 && o->type != WEFT_QUANTIZE_FP8) ||
	    !(o->percentile > 50 && o->percentile <= 100)) {
		snprintf(msg, WEFT_MSG_LEN, "quantize: no samples, more than 16 bound inputs, no such type, or a percentile outside 50..100");
		return -EINVAL;
	}
	return 0;
}

/*
 * Returns 0 if no node of the model quantises; otherwise -EINVAL with one line in the message that names
 * the first QuantizeLinear or operator whose name begins with QLinear.
 */
static int already(struct qz *z)
{
	for (int i = 0; i < z->n_node; i++)
		if (!strncmp(z->node[i]->op_type, "QLinear", 7) || !strcmp(z->node[i]->op_type, "QuantizeLinear"))
			return qz_fail(z, -EINVAL, "node %d is %.40s: the network is quantised already", i, z->node[i]->op_type);
	return 0;
}

/*
 * Quantises the model of len bytes: reads it, raises its opset, simplifies it, finds ranges, inserts
 * quantisers, and writes it to *out (from malloc, *len_out bytes). Returns 0, or a negative errno with
 * one line in the message, and without output: -EINVAL for a bad or already quantised model, -ENOTSUP if
 * no product could be quantised, or what a step returned. qz_close() is due either way.
 */
static int all(struct qz *z, const void *data, size_t len, uint8_t **out, size_t *len_out)
{
	int err = qz_open(z, data, len);

	if (err || (err = already(z)) || (err = import(z, &z->g)) || (err = qz_raise(z)) || (err = qz_index(z)) || (err = qz_prepare(z)))
		return err;
	weft_graph_free(z->g);
	z->g = NULL;
	if ((err = qz_index(z)) || (err = import(z, &z->g)) || (err = qz_index(z)) || (err = qz_ranges(z)) || (err = qz_insert(z)))
		return err;
	if (!z->n_products)
		return qz_fail(z, -ENOTSUP, "there is no Conv, Gemm or MatMul with constant float32 weights");
	return qz_pack(z, out, len_out);
}

int weft_quantize(const void *data, size_t len_bytes, const struct weft_quantize_options *o, uint8_t **out, size_t *len_out, char msg WEFT_ROOM(WEFT_MSG_LEN))
{
	struct qz z = { .o = o, .msg = msg };
	int err = check_options(o, msg);

	if (err)
		return err;
	if (len_bytes >= 8 && !memcmp((const char *)data + 4, "TFL3", 4))
		return weft_quantize_tflite(data, len_bytes, o, out, len_out, msg);
	if (!weft_onnx_is(data, len_bytes)) {
		snprintf(msg, WEFT_MSG_LEN, "not a .tflite or .onnx file");
		return -EINVAL;
	}
	err = all(&z, data, len_bytes, out, len_out);
	/* Functions that try to read a constant take any failure for "no", also this one, which is none. */
	if (z.no_memory || err == -ENOMEM) {
		if (!err) {
			free(*out);
			*out = NULL;
		}
		snprintf(msg, WEFT_MSG_LEN, "out of memory");
		err = -ENOMEM;
	}
	qz_close(&z);
	return err;
}

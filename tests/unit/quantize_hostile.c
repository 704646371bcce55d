/* SPDX-License-Identifier: Apache-2.0 */
/* Files of .tflite that weft_quantize() must refuse, with one line, before it believes them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

#include "userlib/export/fb_write.h"
#include "userlib/import/tflite/tflite_ids.h"

/* Writes a table that the offset at slot leads to. */
static void table(struct fbw *w, size_t slot, const struct fbw_field *f, int n, size_t *slots)
{
	fbw_link(w, slot, fbw_table(w, f, n, slots));
}

/* Writes a list of one offset at slot. Returns the offset's place. */
static size_t list_of_one(struct fbw *w, size_t slot)
{
	size_t at = fbw_offsets(w, 1);

	fbw_link(w, slot, at);
	return at + 4;
}

/*
 * Makes a network of one constant, of this type and shape and with so many bytes, and one DEQUANTIZE that reads it and has
 * no result.
 */
static struct fbw network(int type, const int32_t *dim, uint32_t rank, uint32_t bytes)
{
	static const int32_t zero[1];
	static const struct fbw_field model[] = { { MODEL_VERSION, 4, 3 }, { MODEL_OPERATOR_CODES, 0, 0 }, { MODEL_SUBGRAPHS, 0, 0 },
		{ MODEL_BUFFERS, 0, 0 } };
	static const struct fbw_field graph[] = { { SUBGRAPH_TENSORS, 0, 0 }, { SUBGRAPH_INPUTS, 0, 0 }, { SUBGRAPH_OUTPUTS, 0, 0 },
		{ SUBGRAPH_OPERATORS, 0, 0 } };
	static const struct fbw_field op[] = { { OP_CODE_INDEX, 4, 0 }, { OP_INPUTS, 0, 0 }, { OP_OUTPUTS, 0, 0 } };
	static const struct fbw_field code[] = { { CODE_DEPRECATED, 1, TFL_DEQUANTIZE }, { CODE_BUILTIN, 4, TFL_DEQUANTIZE } };
	static const struct fbw_field buffer[] = { { BUFFER_DATA, 0, 0 } };
	const struct fbw_field tensor[] = { { TENSOR_SHAPE, 0, 0 }, { TENSOR_TYPE, 1, type }, { TENSOR_BUFFER, 4, 1 }, { TENSOR_NAME, 0, 0 } };
	static const uint8_t data[4];
	struct fbw w = { 0 };
	size_t m[4], g[4], s[4];

	fbw_begin(&w, "TFL3");
	table(&w, 0, model, 4, m);
	table(&w, list_of_one(&w, m[1]), code, 2, s);
	table(&w, list_of_one(&w, m[2]), graph, 4, g);
	table(&w, list_of_one(&w, g[0]), tensor, 4, s);
	fbw_link(&w, s[0], fbw_vector(&w, dim, rank, 4, 4));
	fbw_link(&w, s[3], fbw_string(&w, "w"));
	fbw_link(&w, g[1], fbw_vector(&w, zero, 0, 4, 4));
	fbw_link(&w, g[2], fbw_vector(&w, zero, 0, 4, 4));
	table(&w, list_of_one(&w, g[3]), op, 3, s);
	fbw_link(&w, s[1], fbw_vector(&w, zero, 1, 4, 4));
	fbw_link(&w, s[2], fbw_vector(&w, zero, 0, 4, 4));
	size_t at = fbw_offsets(&w, 2);
	fbw_link(&w, m[3], at);
	table(&w, at + 4, NULL, 0, s);
	table(&w, at + 8, buffer, 1, s);
	fbw_link(&w, s[0], fbw_vector(&w, data, bytes, 1, 8));
	assert_false(w.failed);
	return w;
}

static int no_samples(void *user, int i, weft_tensor *inputs, int n, char msg WEFT_ROOM(WEFT_MSG_LEN))
{
	(void)user, (void)i, (void)inputs, (void)n, (void)msg;
	return 0;
}

/* Quantises w and frees it: it must be refused. */
static void refuse(struct fbw *w)
{
	struct weft_quantize_options o = weft_quantize_options_default();
	char msg[WEFT_MSG_LEN] = "";
	uint8_t *out;
	size_t len;

	o.sample = no_samples;
	assert_true(weft_quantize(w->p, w->n, &o, &out, &len, msg) < 0);
	assert_true(*msg && !strchr(msg, '\n'));
	free(w->p);
}

/* A DEQUANTIZE of a float16 constant, whose result would become one. */
static void no_result_bad(void **state)
{
	struct fbw w = network(TFL_FLOAT16, (const int32_t[]){ 1 }, 1, 2);

	(void)state;
	refuse(&w);
}

/* 2^62 + 1 elements: 4 bytes modulo 2^64, as many as the constant has. */
static void too_many_elements_bad(void **state)
{
	struct fbw w = network(TFL_FLOAT32, (const int32_t[]){ 5, 5581, 8681, 49477, 384773 }, 5, 4);

	(void)state;
	refuse(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(no_result_bad), cmocka_unit_test(too_many_elements_bad) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

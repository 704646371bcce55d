/* SPDX-License-Identifier: Apache-2.0 */
/* Constants of wide integers in ONNX files: nodes on them are computed before the run, also where int32 does not hold them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/onnx_build.h"
#include "userlib/import/onnx/onnx.h"

enum { FLOAT = 1, UINT32 = 12, UINT64 = 13, INT64 = 7 };

static void node(struct ob *graph, const char *op, const char *const *in, int n, const char *out)
{
	struct ob b = { 0 };

	for (int i = 0; i < n; i++)
		ob_text(&b, 1, in[i]);
	ob_text(&b, 2, out);
	ob_text(&b, 4, op);
	ob_sub(graph, 1, &b);
}

/* Imports y = Where(c > 1, x, x) with a constant c of that type. Returns what the condition has become. */
static bool greater_than_one(int type, const void *c, size_t bytes)
{
	static const uint64_t one = 1;
	static const int64_t n = 2;
	struct ob graph = { 0 }, model = { 0 };
	char msg[WEFT_MSG] = "";
	weft_graph *g = NULL;

	ob_tensor(&graph, "c", type, 0, NULL, c, bytes);
	ob_tensor(&graph, "one", type, 0, NULL, &one, bytes);
	ob_port(&graph, 11, "x", FLOAT, 1, &n);
	ob_port(&graph, 12, "y", FLOAT, 1, &n);
	node(&graph, "Greater", (const char *const[]){ "c", "one" }, 2, "greater");
	node(&graph, "Where", (const char *const[]){ "greater", "x", "x" }, 3, "y");
	ob_model(&model, &graph, 16);
	if (weft_import_onnx(model.p, model.n, "constants", NULL, &g, msg))
		fail_msg("%s", msg);
	free(model.p);
	assert_int_equal(g->n_ops, 1);
	assert_int_equal(g->ops[0].op, WEFT_OP_SELECT);
	const weft_tensor *t = &g->tensors[g->ops[0].in[0]].t;
	assert_non_null(t->data);
	bool is = *(const uint8_t *)t->data;
	weft_graph_free(g);
	return is;
}

static void test_limits(void **state)
{
	static const struct { int type; uint64_t c; bool greater; } cases[] = {
		{ INT64, 1, false }, { INT64, INT32_MAX, true }, { INT64, (uint64_t)INT32_MIN, false }, { INT64, UINT64_MAX, false },
		{ INT64, UINT64_C(1) << 31, true }, { INT64, UINT64_C(1) << 63, false }, { UINT64, 1, false }, { UINT64, INT32_MAX, true },
		{ UINT64, UINT64_C(1) << 31, true }, { UINT64, UINT64_C(1) << 63, true }, { UINT64, UINT64_MAX, true },
		{ UINT64, (uint64_t)INT32_MIN, true }, { UINT32, 1, false }, { UINT32, INT32_MAX, true }, { UINT32, UINT32_MAX, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (greater_than_one(cases[i].type, &cases[i].c, cases[i].type == UINT32 ? 4 : 8) != cases[i].greater)
			fail_msg("case %zu: %s", i, cases[i].greater ? "not greater than 1" : "greater than 1");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_limits) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TOSA files that must be refused: each breaks one rule, and the line names it.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/tosa_build.h"

/* y = a + b over int32[2,3], b constant. */
static void build_add(struct tosa_build *t)
{
	static int32_t values[6] = { 1, 2, 3, 4, 5, 6 };

	tb_begin(t, 1);
	tb_tensor(t, "a", WEFT_INT32, 2, 2, 3, NULL);
	tb_tensor(t, "b", WEFT_INT32, 2, 2, 3, values);
	tb_tensor(t, "y", WEFT_INT32, 2, 2, 3, NULL);
	tb_add(t, TOSA_CONST, "", "b");
	tb_add(t, TOSA_ADD, "a b", "y");
	tb_ports(t, "a", "y");
}

static void good(void **state)
{
	struct tosa_build t;
	char msg[WEFT_MSG] = "";
	weft_graph *g = NULL;

	(void)state;
	build_add(&t);
	if (tb_import(&t, &g, msg))
		fail_msg("%s", msg);
	assert_int_equal(g->n_ops, 1);
	assert_int_equal(g->ops[0].op, WEFT_OP_ADD);
	assert_string_equal(g->tensors[g->outputs[0]].name, "y");
	weft_graph_free(g);
}

/* A file whose one change is refused with this line (its start). */
#define REFUSED(err, change, says) do { \
		struct tosa_build t; \
		char msg[WEFT_MSG] = ""; \
		weft_graph *g = NULL; \
		build_add(&t); \
		struct xblock *b = t.x.b; \
		(void)b; \
		change; \
		int got = tb_import(&t, &g, msg); \
		if (got != (err) || strncmp(msg, says, strlen(says)) || g) \
			fail_msg("%s: returned %d '%s', wanted %d '%s'", #change, got, msg, err, says); \
	} while (0)

static void rename_to(char **name, const char *to)
{
	free(*name);
	*name = strdup(to);
}

static void one_change_bad(void **state)
{
	(void)state;
	REFUSED(-EINVAL, b->tensors[0].dim[0] = 0, "tensor \"a\": dimension 0 is 0 (1 or more, 268435456 elements)");
	REFUSED(-EINVAL, b->tensors[0].dim[1] = -1, "tensor \"a\": dimension 1 is -1");
	REFUSED(-EINVAL, (b->tensors[0].dim[0] = 65536, b->tensors[0].dim[1] = 65536), "tensor \"a\": dimension 1 is 65536");
	REFUSED(-EINVAL, (b->tensors[0].dim[0] = 1000000000, b->tensors[2].dim[0] = 1000000000, b->tensors[0].dim[1] = 1,
	                  b->tensors[2].dim[1] = 1), "tensor \"a\": dimension 0 is 1000000000 (1 or more, 268435456 elements)");
	REFUSED(-EINVAL, (b->tensors[0].dim[0] = b->tensors[2].dim[0] = 1 << 28, b->tensors[0].dim[1] = b->tensors[2].dim[1] = 1),
	        "operator 1 ADD: tensors take more memory than allowed");
	REFUSED(-EINVAL, b->tensors[2].rank = 7, "operator 1 ADD: tensor \"y\" has rank 7 > 6");
	REFUSED(-EINVAL, b->tensors[2].type = 77, "operator 1 ADD: tensor \"y\" has type 0");
	REFUSED(-EINVAL, b->tensors[2].type = TOSA_SHAPE, "operator 1 ADD: tensor \"y\" has type 10");
	REFUSED(-EINVAL, b->tensors[2].type = TOSA_INT16, "operator 1 ADD: int32, int32 -> int16: not a row of its table");
	REFUSED(-EINVAL, b->tensors[1].data_len = 23, "operator 1 ADD: constant \"b\" has 23 bytes, not 24");
	REFUSED(-EINVAL, b->tensors[1].data_len = 0, "operator 0 CONST: result has no data");
	REFUSED(-EINVAL, b->tensors[2].dim[1] = 4, "operator 1 ADD: dimension 1: 3 and 3 into 4");
	REFUSED(-EINVAL, rename_to(&b->tensors[1].name, "a"), "two tensors are called \"a\"");
	REFUSED(-EINVAL, rename_to(&b->ops[1].in[1], "q"), "operator 1 ADD: no tensor is called \"q\"");
	REFUSED(-EINVAL, rename_to(&b->ops[1].in[1], "y"), "operator 1 ADD: needs its own result: the block has a cycle");
	REFUSED(-EINVAL, rename_to(&b->ops[1].out[0], "a"), "operator 1 ADD: result \"a\" already has a value");
	REFUSED(-EINVAL, rename_to(&b->ops[1].out[0], "b"), "operator 1 ADD: result \"b\" already has a value");
	REFUSED(-EINVAL, rename_to(&b->out[0], "z"), "no tensor is called \"z\"");
	REFUSED(-EINVAL, rename_to(&b->in[0], "z"), "input 0 is no tensor of its block");
	REFUSED(-EINVAL, (free(b->out[0]), b->n_out = 0), "1 inputs and 0 outputs");
	REFUSED(-EINVAL, (x_drop(&b->ops[1]), b->n_ops = 1), "nothing gives \"y\" a value");
	REFUSED(-EINVAL, (free(b->ops[1].in[1]), b->ops[1].n_in = 1), "operator 1 ADD: 1 operands, wants 2..2");
	REFUSED(-EINVAL, (free(b->ops[1].out[0]), b->ops[1].n_out = 0), "operator 1 ADD: 0 results, wants 1");
	REFUSED(-EINVAL, b->ops[1].code = 0, "operator 1 ?: code 0 is none of TOSA 1.0");
	REFUSED(-EINVAL, b->ops[1].code = 76, "operator 1 ?: code 76 is none of TOSA 1.0");
	REFUSED(-ENOTSUP, b->ops[1].code = TOSA_CUSTOM, "operator 1 CUSTOM: \"\" of domain \"\" is not supported");
	REFUSED(-EINVAL, tb_add(&t, TOSA_SUB, "a b", "y"), "operator 2 SUB: result \"y\" already has a value");
	REFUSED(-EINVAL, rename_to(&b->tensors[0].name, "aa"), "input 0 is no tensor of its block");
}

/* Two operators that wait for each other. */
static void cycle_bad(void **state)
{
	struct tosa_build t;
	char msg[WEFT_MSG] = "";
	weft_graph *g = NULL;

	(void)state;
	tb_begin(&t, 1);
	for (int i = 0; i < 3; i++)
		tb_tensor(&t, i == 0 ? "a" : i == 1 ? "p" : "q", WEFT_INT32, 0, 1, 1, NULL);
	tb_add(&t, TOSA_ADD, "a q", "p");
	tb_add(&t, TOSA_ADD, "p a", "q");
	tb_ports(&t, "a", "q");
	assert_int_equal(tb_import(&t, &g, msg), -EINVAL);
	assert_string_equal(msg, "operator 1 ADD: needs its own result: the block has a cycle");
}

/* A chain in the wrong order is put right, in linear time and without recursion. */
static void backwards(void **state)
{
	enum { N = 20000 };
	struct tosa_build t;
	char in[32], out[32], msg[WEFT_MSG] = "";
	weft_graph *g = NULL;

	(void)state;
	tb_begin(&t, 1);
	for (int i = 0; i <= N; i++) {
		snprintf(in, sizeof in, "t%d", i);
		tb_tensor(&t, in, WEFT_INT32, 0, 1, 1, NULL);
	}
	for (int i = N; i > 0; i--) {
		snprintf(in, sizeof in, "t%d", i - 1);
		snprintf(out, sizeof out, "t%d", i);
		tb_add(&t, TOSA_ABS, in, out);
	}
	snprintf(out, sizeof out, "t%d", N);
	tb_ports(&t, "t0", out);
	if (tb_import(&t, &g, msg))
		fail_msg("%s", msg);
	assert_int_equal(g->n_ops, N);
	for (int i = 0; i < N; i++)
		assert_int_equal(g->ops[i].in[0], i ? g->ops[i - 1].out[0] : g->inputs[0]);
	weft_graph_free(g);
}

/* b0 asks b1, which asks itself or b0. */
static void own_block_bad(void **state)
{
	(void)state;
	for (int back = 0; back < 2; back++) {
		struct tosa_build t;
		char msg[WEFT_MSG] = "";
		weft_graph *g = NULL;

		tb_begin(&t, 2);
		for (int i = 0; i < 2; i++) {
			t.x.b = &t.x.blocks[i];
			tb_tensor(&t, "c", WEFT_BOOL, 0, 1, 1, NULL);
			tb_tensor(&t, "y", WEFT_BOOL, 0, 1, 1, NULL);
			tb_flow(&t, TOSA_COND_IF, i && back ? "b0" : "b1", "b1", "c c", "y");
			tb_ports(&t, "c", "y");
		}
		assert_int_equal(tb_import(&t, &g, msg), -EINVAL);
		assert_string_equal(msg, back ? "block \"b1\" operator 0 COND_IF: block \"b0\" contains itself" :
		                                "block \"b1\" operator 0 COND_IF: block \"b1\" contains itself");
	}
}

/* A value of one block is not to be had in another. */
static void foreign_value_bad(void **state)
{
	struct tosa_build t;
	char msg[WEFT_MSG] = "";
	weft_graph *g = NULL;

	(void)state;
	tb_begin(&t, 2);
	tb_tensor(&t, "c", WEFT_BOOL, 0, 1, 1, NULL);
	tb_tensor(&t, "y", WEFT_BOOL, 0, 1, 1, NULL);
	tb_flow(&t, TOSA_COND_IF, "b1", "b1", "c", "y");
	tb_ports(&t, "c", "y");
	t.x.b = &t.x.blocks[1];
	tb_tensor(&t, "z", WEFT_BOOL, 0, 1, 1, NULL);
	tb_add(&t, TOSA_LOGICAL_NOT, "c", "z");
	tb_ports(&t, "", "z");
	assert_int_equal(tb_import(&t, &g, msg), -EINVAL);
	assert_string_equal(msg, "block \"b1\" operator 0 LOGICAL_NOT: no tensor is called \"c\"");
}

/* The version stands first: the four numbers of the table behind the root. */
static void version_bad(void **state)
{
	static const struct { int32_t v[2]; uint8_t draft; const char *says; } bad[] = {
		{ { 0, 80 }, 0, "TOSA file: version 0.80, not 1.0" },
		{ { 1, 1 }, 0, "TOSA file: version 1.1, not 1.0" },
		{ { 2, 0 }, 0, "TOSA file: version 2.0, not 1.0" },
		{ { 1, 0 }, 1, "TOSA file: version 1.0 draft, not 1.0" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct tosa_build t;
		char msg[WEFT_MSG] = "";
		weft_graph *g = NULL;
		build_add(&t);
		struct fbw w = tb_end(&t);
		/* Find the pattern 1, 0, 0 of 32-bit numbers; draft follows. */
		size_t at = 8;
		while (at + 13 < w.n && !(w.p[at] == 1 && !memcmp(w.p + at + 1, "\0\0\0\0\0\0\0\0\0\0\0", 11)))
			at += 4;
		memcpy(w.p + at, bad[i].v, 8);
		w.p[at + 12] = bad[i].draft;
		assert_int_equal(weft_import_tosa(w.p, w.n, "test", &g, msg), -ENOTSUP);
		assert_memory_equal(msg, bad[i].says, strlen(bad[i].says));
		free(w.p);
	}
}

static void identifier_bad(void **state)
{
	struct tosa_build t;
	char msg[WEFT_MSG] = "";
	weft_graph *g = NULL;

	(void)state;
	build_add(&t);
	struct fbw w = tb_end(&t);
	w.p[4] = 'X';
	assert_false(weft_tosa_is(w.p, w.n));
	assert_int_equal(weft_import_tosa(w.p, w.n, "test", &g, msg), -EINVAL);
	assert_string_equal(msg, "TOSA file: no TOSA identifier, at byte 4");
	for (size_t n = 0; n < w.n; n++) {
		w.p[4] = 'T';
		assert_int_not_equal(weft_import_tosa(w.p, n, "test", &g, msg), 0);
	}
	free(w.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good),
		cmocka_unit_test(one_change_bad),
		cmocka_unit_test(cycle_bad),
		cmocka_unit_test(backwards),
		cmocka_unit_test(own_block_bad),
		cmocka_unit_test(foreign_value_bad),
		cmocka_unit_test(version_bad),
		cmocka_unit_test(identifier_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* TOSA files made by hand, also wrong ones: blocks, tensors and operators as they are asked for. */
#ifndef WEFT_TESTS_TOSA_BUILD_H
#define WEFT_TESTS_TOSA_BUILD_H

#include <stdlib.h>
#include <string.h>

#include "userlib/export/tosa_out.h"
#include "userlib/import/tosa/tosa.h"

struct tosa_build {
	struct xout x;
	char msg[WEFT_MSG];
};

/* Blocks are called "b0", "b1", ...; the first is current. */
static void tb_begin(struct tosa_build *t, int n_blocks)
{
	memset(t, 0, sizeof *t);
	t->x.msg = t->msg;
	t->x.i_op = -1;
	t->x.n_blocks = n_blocks;
	t->x.blocks = calloc((size_t)n_blocks, sizeof *t->x.blocks);
	for (int i = 0; i < n_blocks; i++) {
		char name[16];
		snprintf(name, sizeof name, "b%d", i);
		t->x.blocks[i].name = strdup(name);
	}
	t->x.b = t->x.blocks;
}

static void tb_tensor(struct tosa_build *t, const char *name, weft_dtype dtype, int rank, int64_t d0, int64_t d1, void *data)
{
	weft_tensor v = { .dtype = dtype, .rank = rank, .dim = { d0, d1, 1, 1, 1, 1, 1, 1 }, .data = data };

	assert_true(x_tensor(&t->x, name, &v, false) >= 0);
}

/* Names separated by spaces. */
static void tb_names(char ***list, int *n, const char *names)
{
	char copy[4096], *save = NULL;
	struct xop o = { 0 };

	snprintf(copy, sizeof copy, "%s", names);
	for (char *p = strtok_r(copy, " ", &save); p; p = strtok_r(NULL, " ", &save))
		assert_true(x_in(&o, p) >= 0);
	*list = o.in;
	*n = o.n_in;
}

static struct xop tb_op(int code, const char *in, const char *out)
{
	struct xop o = { .code = code };

	tb_names(&o.in, &o.n_in, in);
	tb_names(&o.out, &o.n_out, out);
	return o;
}

static void tb_add(struct tosa_build *t, int code, const char *in, const char *out)
{
	struct xop o = tb_op(code, in, out);

	assert_true(x_op(&t->x, &o) >= 0);
}

/* COND_IF or WHILE_LOOP on two blocks. */
static void tb_flow(struct tosa_build *t, int code, const char *a, const char *b, const char *in, const char *out)
{
	struct xop o = tb_op(code, in, out);

	assert_true(x_bytes(&o, FLOW_FIRST, a, (int)strlen(a)) >= 0);
	assert_true(x_bytes(&o, FLOW_SECOND, b, (int)strlen(b)) >= 0);
	assert_true(x_op(&t->x, &o) >= 0);
}

static void tb_ports(struct tosa_build *t, const char *in, const char *out)
{
	tb_names(&t->x.b->in, &t->x.b->n_in, in);
	tb_names(&t->x.b->out, &t->x.b->n_out, out);
}

/* The bytes; what was built is gone. */
static struct fbw tb_end(struct tosa_build *t)
{
	struct fbw w = { 0 };

	x_write(&t->x, &w);
	x_release(&t->x);
	return w;
}

/* Import what was built; msg says why not. */
static inline int tb_import(struct tosa_build *t, weft_graph **g, char *msg)
{
	struct fbw w = tb_end(t);
	int err = weft_import_tosa(w.p, w.n, "test", g, msg);

	free(w.p);
	return err;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Another compiler's end-to-end tests of TOSA operators (WEFT_DATA's
 * iree_tosa_e2e_mlir): small functions with constants and the values that they
 * must give. Each becomes a graph and runs on golden.
 *
 * "almost equal" is that project's own rule: within 1e-4, for constants that the
 * files write with four digits.
 */
#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/file.h"
#include "tests/support/level.h"
#include "userlib/graph/graph.h"
#include "userlib/run/golden_exec.h"

#define MAX_VALUES 64
#define MAX_EXPECT 4

struct value { char name[32]; int tensor; };
struct expect { int tensor; bool almost; weft_tensor want; };

/* A function, or a region of one. */
struct scope {
	struct scope *outer;
	weft_graph *g;
	struct value v[MAX_VALUES];
	int n;
	struct expect e[MAX_EXPECT];
	int n_e;
	struct value captured[4];      /* inputs: name, the outer scope's tensor */
	int port[4], n_captured;       /* and this one's */
};

static const char *file_name;

static int named(struct scope *s, const char *name)
{
	for (int i = s->n - 1; i >= 0; i--)
		if (!strcmp(s->v[i].name, name))
			return s->v[i].tensor;
	if (!s->outer)
		fail_msg("%s: %s is not defined", file_name, name);
	int from = named(s->outer, name);
	const weft_tensor *t = &s->outer->g->tensors[from].t;
	int i = weft_graph_tensor(s->g, name, t->dtype, t->rank, t->dim);
	snprintf(s->v[s->n].name, sizeof s->v[0].name, "%s", name);
	s->v[s->n++].tensor = i;
	s->captured[s->n_captured] = s->v[s->n - 1];
	s->captured[s->n_captured].tensor = from;
	s->port[s->n_captured++] = i;
	return i;
}

static void define(struct scope *s, const char *name, int tensor)
{
	assert_true(s->n < MAX_VALUES && tensor >= 0);
	snprintf(s->v[s->n].name, sizeof s->v[0].name, "%s", name);
	s->v[s->n++].tensor = tensor;
}

static const char *blank(const char *p)
{
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

/* "%name" at p; returns what follows it. */
static const char *take_name(const char *p, char *out)
{
	int n = 0;

	for (p = blank(p) + 1; isalnum((unsigned char)*p) || *p == '_'; p++)
		if (n < 31)
			out[n++] = *p;
	out[n] = '\0';
	return p;
}

/* "tensor<2x3xi32>" at p. */
static weft_tensor take_type(const char *p)
{
	static const struct { const char *s; weft_dtype t; } types[] = {
		{ "i1>", WEFT_BOOL }, { "i8>", WEFT_INT8 }, { "i16>", WEFT_INT16 }, { "i32>", WEFT_INT32 }, { "f32>", WEFT_FP32 },
		{ "index>", WEFT_INT64 },
	};
	weft_tensor t = { .dim = { 1, 1, 1, 1, 1, 1, 1, 1 } };
	char *end;

	p = strstr(p, "tensor<");
	assert_non_null(p);
	for (p += 7; isdigit((unsigned char)*p); p = end + 1)
		t.dim[t.rank++] = strtoll(p, &end, 10);
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
		if (!strncmp(p, types[i].s, strlen(types[i].s)))
			t.dtype = types[i].t;
	assert_int_not_equal(t.dtype, 0);
	return t;
}

static void put(weft_tensor *t, int64_t i, double v)
{
	switch (t->dtype) {
	case WEFT_BOOL:
	case WEFT_INT8:  ((int8_t *)t->data)[i] = (int8_t)v; break;
	case WEFT_INT16: ((int16_t *)t->data)[i] = (int16_t)v; break;
	case WEFT_INT32: ((int32_t *)t->data)[i] = (int32_t)v; break;
	case WEFT_INT64: ((int64_t *)t->data)[i] = (int64_t)v; break;
	default:         ((float *)t->data)[i] = (float)v; break;
	}
}

/* "dense<...> : tensor<...>" at p, with data. */
static weft_tensor take_dense(const char *p)
{
	const char *end = strchr(p, '>');
	weft_tensor t = take_type(end);
	const int64_t n = weft_tensor_elements(&t);
	int64_t i = 0;

	t.data = calloc(1, weft_tensor_bytes(&t));
	for (p = strstr(p, "dense<") + 6; p < end; p++) {
		char *after = (char *)p + 1;
		bool word = *p == 't' || *p == 'f';
		if (!word && !isdigit((unsigned char)*p) && *p != '-')
			continue;
		double v = word ? *p == 't' : strtod(p, &after);
		assert_true(i < n);
		put(&t, i++, v);
		p = word ? strpbrk(p, ",]>") - 1 : after - 1;
	}
	for (; i < n && i; i++)  /* one value for all */
		memcpy((char *)t.data + i * (int64_t)weft_dtype_bytes(t.dtype), t.data, weft_dtype_bytes(t.dtype));
	return t;
}

/* Integers behind "key = ". */
static int list(const char *line, const char *key, int32_t *v, int max)
{
	char text[32];
	int n = 0;

	snprintf(text, sizeof text, "%s = ", key);
	const char *p = strstr(line, text);
	if (!p)
		return 0;
	p += strlen(text);
	if (!strncmp(p, "array<", 6))
		p = strchr(p, ':') + 1;
	for (char *end; n < max; p = end) {
		v[n++] = (int32_t)strtol(blank(p), &end, 10);
		if (*end++ != ',')
			break;
	}
	return n;
}

static weft_opcode op_named(const char *p)
{
	char name[48] = "";

	for (int i = 0; i < 47 && (isalnum((unsigned char)p[i]) || p[i] == '_'); i++)
		name[i] = (char)toupper((unsigned char)p[i]);
	for (int op = 1; op < WEFT_N_OPS; op++)
		if (!strcmp(weft_op_name((weft_opcode)op), name))
			return (weft_opcode)op;
	fail_msg("%s: no operator %s", file_name, name);
	return 0;
}

/* Constant operands that are attributes here. */
static int fold(struct scope *s, weft_opcode op, const int *in, int n_in, weft_attr *a)
{
	if (op == WEFT_OP_MUL) {
		a->mul.shift = *(int8_t *)s->g->tensors[in[2]].t.data;
		return 2;
	}
	if (op == WEFT_OP_PAD) {
		const weft_tensor *p = &s->g->tensors[in[1]].t;
		for (int64_t i = 0; i < weft_tensor_elements(p); i++)
			(i % 2 ? a->pad.after : a->pad.before)[i / 2] = (int32_t)((int64_t *)p->data)[i];
		a->pad.value = *(int32_t *)s->g->tensors[in[2]].t.data;
		return 1;
	}
	return n_in;
}

static weft_attr attributes(weft_opcode op, const char *line)
{
	weft_attr a;
	int32_t v;

	memset(&a, 0, sizeof a);
	if (op == WEFT_OP_MAX_POOL2D) {
		list(line, "kernel", a.pool.kernel, 2);
		list(line, "stride", a.pool.stride, 2);
		list(line, "pad", a.pool.pad, 4);
	} else if (op == WEFT_OP_TRANSPOSE) {
		list(line, "perms", a.perm.perm, WEFT_MAX_RANK);
	} else if (op == WEFT_OP_ARITHMETIC_RIGHT_SHIFT) {
		list(line, "round", &v, 1);
		a.shift.round = v;
	} else if (list(line, "axis", &v, 1)) {
		a.axis.axis = v;
	}
	return a;
}

static int put_op(struct scope *s, weft_opcode op, const weft_attr *a, const int *in, int n_in, const char *type)
{
	weft_tensor y = take_type(type);
	int out = weft_graph_tensor(s->g, "y", y.dtype, y.rank, y.dim);

	assert_true(weft_graph_op(s->g, op, a, -1, in, n_in, &out, 1) >= 0);
	return out;
}

/* "%r = tosa.op %a, %b {...} : (...) -> tensor<...>"; p behind "tosa.". */
static int take_op(struct scope *s, const char *p, const char *line)
{
	const char *end = strchr(p, ':'), *brace = strchr(p, '{');
	int in[4], n = 0;
	weft_opcode op = op_named(p);
	weft_attr a = attributes(op, line);

	end = brace && brace < end ? brace : end;
	while ((p = strchr(p, '%')) && p < end) {
		char name[32];
		p = take_name(p, name);
		in[n++] = named(s, name);
	}
	n = fold(s, op, in, n, &a);
	return put_op(s, op, &a, in, n, strstr(line, "->"));
}

static void mark(weft_graph *g, const int *in, int n_in, int out)
{
	g->inputs = calloc((size_t)n_in + 1, sizeof(int));
	for (int i = 0; i < n_in; i++) {
		g->inputs[g->n_inputs++] = in[i];
		g->tensors[in[i]].is_input = true;
	}
	if (out < 0)
		return;
	g->outputs = calloc(1, sizeof(int));
	g->outputs[g->n_outputs++] = out;
	g->tensors[out].is_output = true;
}

static char *next_line(char **text)
{
	char *line = *text, *end = line ? strchr(line, '\n') : NULL;

	if (!line || !*line)
		return NULL;
	if (end)
		*end = '\0';
	*text = end ? end + 1 : NULL;
	return (char *)blank(line);
}

static int statement(struct scope *s, char *line, char **text);

/* Lines up to one that begins with "}"; the yielded tensor. */
static int region(struct scope *s, char **text)
{
	char *line, name[32];
	int y = -1;

	while ((line = next_line(text)) && *line != '}') {
		if (!strncmp(line, "tosa.yield", 10)) {
			take_name(strchr(line, '%'), name);
			y = named(s, name);
		} else {
			statement(s, line, text);
		}
	}
	return y;
}

/* Both branches take what either uses. */
static int take_cond_if(struct scope *s, char *line, char **text)
{
	struct scope *branch[2];
	char cond[32];
	weft_attr a;
	int in[8], n_in = 1, y[2];

	memset(&a, 0, sizeof a);
	take_name(strchr(strstr(line, "cond_if"), '%'), cond);
	in[0] = named(s, cond);
	for (int b = 0; b < 2; b++) {
		branch[b] = calloc(1, sizeof **branch);
		branch[b]->outer = s;
		branch[b]->g = weft_graph_new("branch");
		if (b)  /* the first branch's inputs first */
			for (int i = 0; i < branch[0]->n_captured; i++)
				named(branch[1], branch[0]->captured[i].name);
		y[b] = region(branch[b], text);
	}
	assert_int_equal(branch[0]->n_captured, branch[1]->n_captured);
	for (int i = 0; i < branch[1]->n_captured; i++)
		in[n_in++] = branch[1]->captured[i].tensor;
	for (int b = 0; b < 2; b++) {
		mark(branch[b]->g, branch[b]->port, branch[b]->n_captured, y[b]);
		a.flow.graph[b] = branch[b]->g;
		assert_true(weft_graph_sub(s->g, branch[b]->g) >= 0);
		free(branch[b]);
	}
	return put_op(s, WEFT_OP_COND_IF, &a, in, n_in, strstr(line, "->"));
}

/* The 513 entries that count from 0, as the file says in its own way. */
static int counting_table(struct scope *s, char **text)
{
	int16_t *v = calloc(513, sizeof *v);
	char *line;

	for (int i = 0; i < 513; i++)
		v[i] = (int16_t)i;
	while ((line = next_line(text)) && *line != '}')
		;
	return weft_graph_const(s->g, "table", WEFT_INT16, 1, (int64_t[]){ 513 }, v);
}

static void take_expect(struct scope *s, const char *line)
{
	char name[32];

	if (!strstr(line, "_const"))
		return;  /* which branch it is: seen by its value */
	assert_true(s->n_e < MAX_EXPECT);
	take_name(strchr(line, '%'), name);
	s->e[s->n_e].tensor = named(s, name);
	s->e[s->n_e].almost = strstr(line, "almost") != NULL;
	s->e[s->n_e++].want = take_dense(line);
}

static int statement(struct scope *s, char *line, char **text)
{
	char name[32];
	const char *p;
	int t = -1;

	if (*line == '/' || !*line || !strncmp(line, "return", 6))
		return 0;
	if (!strncmp(line, "check.", 6))
		return take_expect(s, line), 0;
	if (*line != '%')
		fail_msg("%s: \"%s\" is not understood", file_name, line);
	take_name(line, name);
	if (strstr(line, "linalg.generic"))
		t = counting_table(s, text);
	else if (strstr(line, "tosa.cond_if"))
		t = take_cond_if(s, line, text);
	else if (strstr(line, "dense<")) {
		weft_tensor v = take_dense(line);
		t = weft_graph_const(s->g, name, v.dtype, v.rank, v.dim, v.data);
	} else if ((p = strstr(line, "tosa.")))
		t = take_op(s, p + 5, line);
	else
		return 0;  /* %path, tensor.empty: nothing that is computed with */
	define(s, name, t);
	return 0;
}

/* Is a result what is wanted? */
static bool equal(const struct expect *e, const weft_tensor *y)
{
	if (!e->almost)
		return !memcmp(y->data, e->want.data, weft_tensor_bytes(y));
	for (int64_t i = 0; i < weft_tensor_elements(y); i++)
		if (!(fabs((double)((float *)y->data)[i] - (double)((float *)e->want.data)[i]) <= 1e-4))
			return false;
	return true;
}

/* Runs what was read; 1: checked, 0: refused. */
static int run(struct scope *s, const char *function)
{
	weft_tensor *all = calloc((size_t)s->g->n_tensors, sizeof *all);
	char msg[WEFT_MSG] = "";
	int done = 0;

	mark(s->g, NULL, 0, -1);
	if (weft_graph_check(s->g, msg) == 0) {
		if (weft_golden_exec(s->g, NULL, all, false, msg))
			fail_msg("%s %s: %s", file_name, function, msg);
		for (int i = 0; i < s->n_e; i++)
			if (!equal(&s->e[i], &all[s->e[i].tensor]))
				fail_msg("%s %s: another value", file_name, function);
		assert_true(s->n_e > 0);
		weft_golden_release(s->g, all);
		done = 1;
	}
	for (int i = 0; i < s->n_e; i++)
		free(s->e[i].want.data);
	free(all);
	if (!done)
		print_message("%s %s refused: %s\n", file_name, function, msg);
	return done;
}

/* Functions of a file; counts those that ran and those refused. */
static void run_file(char *text, int count[2])
{
	char *line;

	while ((line = next_line(&text))) {
		if (strncmp(line, "func.func @", 11))
			continue;
		char function[64];
		snprintf(function, sizeof function, "%.*s", (int)strcspn(line + 11, "("), line + 11);
		struct scope *s = calloc(1, sizeof *s);
		s->g = weft_graph_new(function);
		region(s, &text);
		count[!run(s, function)]++;
		weft_graph_free(s->g);
		free(s);
	}
}

static char *read_text(const char *dir, const char *name)
{
	char path[4300];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	char *text = test_file(path, NULL);
	assert_non_null(text);
	return text;
}

static void values(void **state)
{
	char dir[4000];
	int count[2] = { 0, 0 };

	(void)state;
	snprintf(dir, sizeof dir, "%s/iree_tosa_e2e_mlir", test_data());
	DIR *d = opendir(dir);
	if (!d) {
		printf("no %s\n", dir);
		skip();
	}
	for (struct dirent *f; (f = readdir(d));) {
		if (!strstr(f->d_name, ".mlir"))
			continue;
		file_name = f->d_name;
		char *text = read_text(dir, f->d_name);
		run_file(text, count);
		free(text);
	}
	closedir(d);
	print_message("%d functions give the values, %d refused\n", count[0], count[1]);
	assert_true(count[0] >= 30);
	assert_int_equal(count[1], 1); /* MAX_POOL2D on int32 is no row of TOSA 1.0 */
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(values) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The importer's type tables against the specification's own (WEFT_DATA's
 * tosa.xml, the rows of version 1.0): of all combinations of types exactly the
 * rows are taken. CAST is left out: the file lists it otherwise.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/level.h"
#include "userlib/import/tosa/tosa_lower.h"

#define MAX_ROWS 64

static const struct { const char *name; weft_dtype type; } types[] = {
	{ "bool_t", WEFT_BOOL }, { "i4_t", WEFT_INT4 }, { "i8_t", WEFT_INT8 }, { "i16_t", WEFT_INT16 }, { "i32_t", WEFT_INT32 },
	{ "i48_t", WEFT_INT48 }, { "fp16_t", WEFT_FP16 }, { "bf16_t", WEFT_BF16 }, { "fp32_t", WEFT_FP32 },
	{ "fp8e4m3_t", WEFT_FP8E4M3 }, { "fp8e5m2_t", WEFT_FP8E5M2 },
};
#define N_TYPES ((int)(sizeof types / sizeof types[0]))

/* Types of up to three operands, the result, and the accumulator (0: none). */
struct row { weft_dtype x[3], y, acc; weft_resize_mode mode; };

struct operator {
	char name[40];
	char x[3][24], y[24];      /* type variables or types */
	int n_x;
	bool acc;
	struct row rows[MAX_ROWS];
	int n_rows;
};

static weft_dtype type_named(const char *name)
{
	for (int i = 0; i < N_TYPES; i++)
		if (!strcmp(types[i].name, name))
			return types[i].type;
	return 0;
}

/* The value of an attribute of the element that starts at p; "" if it has none. */
static void attribute(const char *p, const char *name, char *out, size_t len)
{
	const char *end = strchr(p, '>');
	char key[40];

	out[0] = '\0';
	snprintf(key, sizeof key, " %s=\"", name);
	const char *at = strstr(p, key);
	if (!at || at > end)
		return;
	at += strlen(key);
	snprintf(out, len, "%.*s", (int)strcspn(at, "\""), at);
}

/* A type variable's type in a row, or the type that it is itself. */
static weft_dtype resolve(const char *row, const char *variable)
{
	char value[24];

	attribute(row, variable, value, sizeof value);
	return type_named(*value ? value : variable);
}

static void read_row(struct operator *o, const char *p)
{
	struct row *r = &o->rows[o->n_rows];
	char text[80];

	attribute(p, "version_added", text, sizeof text);
	if (strcmp(text, "1.0"))
		return;
	assert_true(o->n_rows < MAX_ROWS - 1);
	*r = (struct row){ .y = resolve(p, o->y), .acc = o->acc ? resolve(p, "acc_t") : 0 };
	for (int i = 0; i < o->n_x; i++)
		r->x[i] = resolve(p, o->x[i]);
	attribute(p, "mode", text, sizeof text);
	r->mode = strstr(text, "bilinear") ? WEFT_RESIZE_BILINEAR : WEFT_RESIZE_NEAREST;
	o->n_rows++;
	/* Floats have one row for both modes. */
	if (!strcmp(o->name, "RESIZE") && !strstr(text, "bilinear") && !strstr(text, "nearest")) {
		o->rows[o->n_rows] = *r;
		o->rows[o->n_rows++].mode = WEFT_RESIZE_BILINEAR;
	}
}

static void read_operator(struct operator *o, const char *p, const char *end, int n_data)
{
	char category[24], kind[24];

	o->n_x = o->n_rows = 0;
	o->acc = false;
	o->y[0] = '\0';
	for (const char *a = strstr(p, "<argument "); a && a < end; a = strstr(a + 1, "<argument ")) {
		attribute(a, "category", category, sizeof category);
		attribute(a, "type", kind, sizeof kind);
		o->acc = o->acc || !strcmp(kind, "acc_type_t");
		if (!strcmp(category, "input") && o->n_x < n_data && strncmp(kind, "shape", 5))
			attribute(a, "tensor-element-type", o->x[o->n_x++], sizeof o->x[0]);
		if (!strcmp(category, "output") && !o->y[0])
			attribute(a, "tensor-element-type", o->y, sizeof o->y);
	}
	for (const char *r = strstr(p, "<typesupport "); r && r < end; r = strstr(r + 1, "<typesupport "))
		read_row(o, r);
}

static bool listed(const struct operator *o, const struct row *t, bool modes)
{
	for (int i = 0; i < o->n_rows; i++) {
		const struct row *r = &o->rows[i];
		bool same = r->y == t->y && r->acc == t->acc && (!modes || r->mode == t->mode);
		for (int k = 0; k < o->n_x; k++)
			same = same && r->x[k] == t->x[k];
		if (same)
			return true;
	}
	return false;
}

/* One combination: the table says what the rows say. */
static void compare(struct tosa_lower *l, const struct operator *o, const struct row *t, int n_y)
{
	weft_tensor x[3] = { { .dtype = t->x[0] }, { .dtype = t->x[1] }, { .dtype = t->x[2] } };
	weft_tensor y[2] = { { .dtype = t->y }, { .dtype = t->y } };
	bool want = listed(o, t, !strcmp(o->name, "RESIZE"));
	bool got = !tosa_check_types(l, x, o->n_x, y, n_y, t->acc, t->mode);

	if (got != want)
		fail_msg("%s: %s, %s, %s -> %s, accumulator %s: %s", o->name, weft_dtype_name(t->x[0]), weft_dtype_name(t->x[1]),
		         weft_dtype_name(t->x[2]), weft_dtype_name(t->y), weft_dtype_name(t->acc),
		         got ? "taken, but no row" : "refused, but a row");
}

static void combinations(struct tosa_lower *l, const struct operator *o, int n_y)
{
	static const weft_dtype accs[] = { WEFT_INT32, WEFT_INT48, WEFT_FP16, WEFT_FP32 };
	int total = N_TYPES;
	struct row t;

	for (int k = 0; k < o->n_x; k++)
		total *= N_TYPES;
	for (int c = 0; c < total; c++) {
		int rest = c;
		memset(&t, 0, sizeof t);
		for (int k = 0; k < o->n_x; k++, rest /= N_TYPES)
			t.x[k] = types[rest % N_TYPES].type;
		t.y = types[rest % N_TYPES].type;
		for (int a = 0; a < (o->acc ? 4 : 1); a++)
			for (int m = WEFT_RESIZE_NEAREST; m <= WEFT_RESIZE_BILINEAR; m++) {
				t.acc = o->acc ? accs[a] : 0;
				t.mode = (weft_resize_mode)m;
				compare(l, o, &t, n_y);
			}
	}
}

static int code_named(const char *name)
{
	for (int i = 1; i < TOSA_N_CODES; i++)
		if (!strcmp(weft_op_name(tosa_infos[i].op), name))
			return i;
	return 0;
}

/* Operators whose operands are lists, or that have none. */
static bool left_out(int code)
{
	switch (code) {
	case TOSA_CAST: case TOSA_CONST: case TOSA_CUSTOM: case TOSA_COND_IF: case TOSA_WHILE_LOOP: case TOSA_VARIABLE:
	case TOSA_VARIABLE_READ: case TOSA_VARIABLE_WRITE: case TOSA_CONST_SHAPE: return true;
	default: return false;
	}
}

static void check_all(const char *xml)
{
	char msg[WEFT_MSG];
	struct tosa_lower *l = calloc(1, sizeof *l);
	struct operator *o = calloc(1, sizeof *o);
	int n = 0;

	l->msg = msg;
	for (const char *p = strstr(xml, "<operator>"); p; p = strstr(p + 1, "<operator>")) {
		const char *name = strstr(p, "<name>"), *end = strstr(p, "</operator>");
		struct tosa_op op = { 0 };
		snprintf(o->name, sizeof o->name, "%.*s", (int)strcspn(name + 6, "<"), name + 6);
		op.code = code_named(o->name);
		if (!op.code || left_out((int)op.code))
			continue;
		const struct tosa_info *f = &tosa_infos[op.code];
		/* RESCALE's multiplier and shift are data of ours, but no part of its table. */
		read_operator(o, p, end, op.code == TOSA_RESCALE || f->n_data < 0 ? 1 : f->n_data);
		assert_true(o->n_rows > 0);
		l->op = &op;
		combinations(l, o, f->n_out);
		n++;
	}
	assert_int_equal(n, TOSA_N_CODES - 1 - 9);
	free(l);
	free(o);
}

static void rows_of_the_specification(void **state)
{
	char path[512];

	(void)state;
	snprintf(path, sizeof path, "%s/tosa_spec/tosa.xml", test_data());
	FILE *f = fopen(path, "rb");
	if (!f) {
		printf("no specification at %s\n", path);
		fflush(stdout);
		skip();
	}
	char *xml = calloc(1, 1 << 20);
	size_t n = fread(xml, 1, (1 << 20) - 1, f);
	fclose(f);
	assert_true(n > 0);
	check_all(xml);
	free(xml);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(rows_of_the_specification) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

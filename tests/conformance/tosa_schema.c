/* SPDX-License-Identifier: Apache-2.0 */
/*
 * userlib/import/tosa/tosa.fbs against the published schema (WEFT_DATA): the same
 * enumerations with the same numbers, the same tables with the same fields at
 * the same ids, the same union; and tosa_ids.h against both.
 */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/level.h"
#include "userlib/graph/attr.h"
#include "userlib/import/tosa/tosa_ids.h"

#define MAX_FACTS 1024

/* A schema as sorted lines: "enum Op CONV2D 3", "table TosaShape rank uint32 1". */
struct schema {
	char *fact[MAX_FACTS];
	int n;
};

static char *read_text(const char *path)
{
	FILE *f = fopen(path, "rb");
	char *text = calloc(1, 1 << 18);

	if (!f) {
		free(text);
		return NULL;
	}
	size_t n = fread(text, 1, (1 << 18) - 1, f);
	fclose(f);
	text[n] = '\0';
	return text;
}

/* The next word or single character; comments and white space left out. */
static const char *token(const char *p, char *out)
{
	size_t n = 0;

	for (;;) {
		while (isspace((unsigned char)*p))
			p++;
		if (p[0] != '/' || p[1] != '/')
			break;
		p += strcspn(p, "\n");
	}
	if (isalnum((unsigned char)*p) || *p == '_' || *p == '-' || *p == '"')
		while ((isalnum((unsigned char)*p) || strchr("_-\"", *p)) && *p && n < 99)
			out[n++] = *p++;
	else if (*p)
		out[n++] = *p++;
	out[n] = '\0';
	return p;
}

static void add(struct schema *s, const char *kind, const char *of, const char *name, const char *type, int id)
{
	char line[400];

	snprintf(line, sizeof line, "%s %s %s %s %d", kind, of, name, type, id);
	assert_true(s->n < MAX_FACTS);
	s->fact[s->n++] = strdup(line);
}

/* enum and union: names, each with its number. */
static const char *parse_names(struct schema *s, const char *p, const char *kind, const char *of, int first)
{
	char t[100], name[100] = "";
	int id = first;

	do
		p = token(p, t);
	while (t[0] && t[0] != '{');
	for (;;) {
		p = token(p, t);
		if ((t[0] == ',' || t[0] == '}') && name[0]) {
			add(s, kind, of, name, "", id++);
			name[0] = '\0';
		} else if (t[0] == '=') {
			p = token(p, t);
			id = atoi(t);
		} else if (t[0] != ',' && t[0] != '}') {
			memcpy(name, t, sizeof name);
		}
		if (t[0] == '}' || !t[0])
			return p;
	}
}

/* Fields; a union takes two ids, the first for which it is. */
static const char *parse_table(struct schema *s, const char *p, const char *of)
{
	char t[100], name[100], type[300];
	int id = 0;

	p = token(p, t);
	for (;;) {
		p = token(p, name);
		if (name[0] == '}' || !name[0])
			return p;
		p = token(p, t);                /* ':' */
		type[0] = '\0';
		for (p = token(p, t); t[0] != ';' && t[0] != '=' && t[0] != '('; p = token(p, t))
			strncat(type, t, sizeof type - strlen(type) - 1);
		id += !strcmp(type, "Attribute");
		while (t[0] != ';') {
			if (!strcmp(t, "id")) {
				p = token(p, t);
				p = token(p, t);
				id = atoi(t);
			}
			p = token(p, t);
		}
		add(s, "table", of, name, type, id++);
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void parse(struct schema *s, const char *p)
{
	char t[100], name[100];

	s->n = 0;
	for (p = token(p, t); t[0]; p = token(p, t)) {
		bool is_enum = !strcmp(t, "enum"), is_union = !strcmp(t, "union"), is_table = !strcmp(t, "table");
		if (!is_enum && !is_union && !is_table)
			continue;
		p = token(p, name);
		if (is_table)
			p = parse_table(s, p, name);
		else
			p = parse_names(s, p, is_enum ? "enum" : "union", name, is_union);
	}
	qsort(s->fact, (size_t)s->n, sizeof s->fact[0], by_text);
}

static void release(struct schema *s)
{
	for (int i = 0; i < s->n; i++)
		free(s->fact[i]);
}

static bool states(const struct schema *s, const char *fact)
{
	return bsearch(&fact, s->fact, (size_t)s->n, sizeof s->fact[0], by_text);
}

static void same_as_published(void **state)
{
	char path[512];
	struct schema ours, theirs;

	(void)state;
	snprintf(path, sizeof path, "%s/tosa_1_0/schema/tosa.fbs", test_data());
	char *published = read_text(path), *own = read_text("userlib/import/tosa/tosa.fbs");
	assert_non_null(own);
	if (!published) {
		free(own);
		printf("no schema at %s\n", path);
		fflush(stdout);
		skip();
	}
	parse(&ours, own);
	parse(&theirs, published);
	for (int i = 0; i < ours.n; i++)
		if (!states(&theirs, ours.fact[i]))
			fail_msg("only ours says: %s", ours.fact[i]);
	for (int i = 0; i < theirs.n; i++)
		if (!states(&ours, theirs.fact[i]))
			fail_msg("only the published one says: %s", theirs.fact[i]);
	assert_true(ours.n > 250);
	release(&ours);
	release(&theirs);
	free(own);
	free(published);
}

/* The number that the table of attributes gives an operator's field in a TOSA file; -1: it has no such field. */
static int number_of(weft_opcode op, const char *field)
{
	const struct attr_op *a = &attr_ops[op];

	for (int i = 0; i < a->n_tosa_field; i++)
		if (!strcmp(a->tosa_field[i].name, field))
			return a->tosa_field[i].id;
	return -1;
}

static void numbers_for_c(void **state)
{
	char *own = read_text("userlib/import/tosa/tosa.fbs"), line[400];
	struct schema s;
#define SAYS(kind, of, name, type, id) do { \
		snprintf(line, sizeof line, "%s %s %s %s %d", kind, of, name, type, id); \
		if (!states(&s, line)) \
			fail_msg("tosa.fbs does not say: %s", line); \
	} while (0)
#define NUMBERED(of, name, type, op, field) SAYS("table", of, name, type, number_of(op, field))

	(void)state;
	assert_non_null(own);
	parse(&s, own);
	SAYS("enum", "Op", "ARGMAX", "", TOSA_ARGMAX);
	SAYS("enum", "Op", "MUL", "", TOSA_MUL);
	SAYS("enum", "Op", "RESCALE", "", TOSA_RESCALE);
	SAYS("enum", "Op", "CONST_SHAPE", "", TOSA_CONST_SHAPE);
	SAYS("union", "Attribute", "ArgMaxAttribute", "", TOSA_ARGMAX);
	SAYS("union", "Attribute", "MulAttribute", "", TOSA_MUL);
	SAYS("union", "Attribute", "ConstShapeAttribute", "", TOSA_CONST_SHAPE);
	SAYS("enum", "DType", "INT48", "", TOSA_INT48);
	SAYS("enum", "DType", "FP8E5M2", "", TOSA_FP8E5M2);
	SAYS("table", "TosaOperator", "outputs", "[string]", TOSA_OP_OUTPUTS);
	SAYS("table", "TosaOperator", "attribute", "Attribute", TOSA_OP_ATTRIBUTE);
	SAYS("table", "TosaTensor", "variable_name", "string", TOSA_TENSOR_VARIABLE_NAME);
	SAYS("table", "TosaBasicBlock", "shapes", "[TosaShape]", TOSA_BLOCK_SHAPES);
	SAYS("table", "TosaShape", "data", "[ubyte]", TOSA_SHAPE_DATA);
	SAYS("table", "TosaGraph", "regions", "[TosaRegion]", TOSA_GRAPH_REGIONS);
	NUMBERED("Conv2dAttribute", "acc_type", "DType", WEFT_OP_CONV2D, "acc");
	NUMBERED("Conv3dAttribute", "local_bound", "bool", WEFT_OP_CONV3D, "local_bound");
	NUMBERED("TransposeConv2dAttribute", "acc_type", "DType", WEFT_OP_TRANSPOSE_CONV2D, "acc");
	NUMBERED("RescaleAttribute", "output_unsigned", "bool", WEFT_OP_RESCALE, "y_unsigned");
	NUMBERED("ClampAttribute", "nan_mode", "NanPropagationMode", WEFT_OP_CLAMP, "nan");
	NUMBERED("ReduceMaxAttribute", "nan_mode", "NanPropagationMode", WEFT_OP_REDUCE_MAX, "nan");
	NUMBERED("MaxPool2dAttribute", "nan_mode", "NanPropagationMode", WEFT_OP_MAX_POOL2D, "nan");
	NUMBERED("AvgPool2dAttribute", "acc_type", "DType", WEFT_OP_AVG_POOL2D, "acc");
	SAYS("table", "WhileLoopAttribute", "body_graph", "string", FLOW_SECOND);
	SAYS("table", "CondIfAttribute", "then_graph", "string", FLOW_FIRST);
	release(&s);
	free(own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_as_published),
		cmocka_unit_test(numbers_for_c),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

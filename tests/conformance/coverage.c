/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docs/COVERAGE.md: which operators of which types run where. Each of its sections is
 * made anew from recorded cases and compared with the page; WEFT_WRITE=1 writes it.
 *
 *   .tflite  tests/models/{litert,litert_host,tflite}_ops.gz, the cases of conformance/tflite_ops
 *   .onnx    WEFT_DATA/onnx_node and tests/models/onnx_ops.gz, of conformance/onnx_node and onnx_ops
 *   .tosa    WEFT_DATA/tosa_1_0, the cases of conformance/tosa
 *
 * Of each row up to TRIED cases, evenly spaced, are compiled for every configuration but w4, which has the
 * modes of w8b.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/each_file.h"
#include "tests/support/file.h"
#include "tests/support/page.h"
#include "tests/support/recorded_case.h"
#include "userlib/compile/program.h"
#include "userlib/import/onnx/onnx.h"
#include "userlib/import/tflite/tflite.h"
#include "userlib/import/tosa/tosa.h"

#define MAX_CASES 20000
#define MAX_ROWS  2000
#define TRIED     12
#define MAX_PORTS 16

static const char *const configs[] = { "w8b", "w8", "w16", "w32" };
#define N_CONFIGS (sizeof configs / sizeof *configs)
#define SHOWN 2                /* the configuration whose reason is shown */

struct coverage_case {
	char op[64], type[24];
	char path[512];            /* a file, or "" */
	const uint8_t *data;       /* in a recorded file */
	size_t bytes;
	enum weft_runtime runtime;
};

struct row {
	const struct coverage_case *first;
	int n, tried, on_npu[N_CONFIGS];
	char why[200];
};

static struct coverage_case cases[MAX_CASES];
static int n_cases;
static struct row rows[MAX_ROWS];
static int n_rows;

/* ---- one case ---- */

static weft_graph *load(const struct coverage_case *c)
{
	char msg[WEFT_MSG] = "";
	weft_graph *g = NULL;
	size_t bytes = c->bytes;
	uint8_t *file = *c->path ? test_file(c->path, &bytes) : NULL;
	const uint8_t *data = file ? file : c->data;
	size_t n = strlen(c->path);
	int err;

	if (n > 5 && !strcmp(c->path + n - 5, ".tosa"))
		err = weft_import_tosa(data, bytes, c->op, &g, msg);
	else if (c->runtime)
		err = weft_import_tflite_with(data, bytes, c->op, &(struct weft_tflite_options){ .runtime = c->runtime }, &g, msg);
	else
		err = weft_import_onnx(data, bytes, c->op, NULL, &g, msg);
	free(file);
	return err ? NULL : g;
}

/*
 * Says whether the operator only changes between uint8 and int8 at a network's edge, or reads or writes the variable in which SVDF
 * keeps its memory: there the host copies the elements anyway. READ_VARIABLE and ASSIGN_VARIABLE of a file do nothing else, so
 * they count as the host's.
 */
static bool is_edge(const weft_graph *g, const struct weft_gop *o)
{
	const struct weft_attr_rescale *a = &o->attr.rescale;

	if ((o->op == WEFT_OP_VARIABLE_READ || o->op == WEFT_OP_VARIABLE_WRITE) && o->src >= 0 && !strcmp(g->srcs[o->src].name, "SVDF"))
		return true;
	return o->op == WEFT_OP_RESCALE && ((a->x_unsigned && g->tensors[o->in[0]].is_input) || (a->y_unsigned && g->tensors[o->out[0]].is_output));
}

/* Is nothing of it on the host? If something is, why says for what reason. */
static bool all_on_npu(const weft_graph *g, const char *config, char *why, size_t len)
{
	const struct weft_compile_options o = { .config = config, .quick = true };
	char msg[WEFT_MSG] = "";
	weft_program *p = NULL;
	bool all = true;

	if (weft_compile(g, &o, &p, msg))
		fail_msg("%s", msg);
	for (int i = 0; i < p->n_ops && all; i++)
		if (p->ops[i].unit == WEFT_ON_HOST && !is_edge(g, &g->ops[i])) {
			all = false;
			snprintf(why, len, "%s: %s", weft_op_name(g->ops[i].op), p->ops[i].reason ? p->ops[i].reason : "?");
		}
	weft_program_free(p);
	return all;
}

static void try_case(struct row *r, const struct coverage_case *c)
{
	weft_graph *g = load(c);
	char why[200];

	if (!g)
		return;
	r->tried++;
	for (size_t k = 0; k < N_CONFIGS; k++) {
		bool all = all_on_npu(g, configs[k], why, sizeof why);
		r->on_npu[k] += all;
		if (!all && k == SHOWN && !*r->why)
			snprintf(r->why, sizeof r->why, "%s", why);
	}
	weft_graph_free(g);
}

/* ---- rows and the page ---- */

static int by_name(const void *a, const void *b)
{
	const struct coverage_case *x = a, *y = b;
	int d = strcmp(x->op, y->op);

	return d ? d : strcmp(x->type, y->type);
}

/* Make the rows of the cases at hand. */
static void make_rows(void)
{
	/* A stable order of equal names: qsort's own may differ from machine to machine. */
	static struct coverage_case *of_row[MAX_CASES];

	n_rows = 0;
	for (int i = 0; i < n_cases; i++) {
		int r = 0;
		while (r < n_rows && by_name(rows[r].first, &cases[i]))
			r++;
		assert_true(r < MAX_ROWS);
		if (r == n_rows)
			rows[n_rows++] = (struct row){ .first = &cases[i] };
		rows[r].n++;
	}
	for (int r = 0; r < n_rows; r++) {
		int n = 0;
		for (int i = 0; i < n_cases; i++)
			if (!by_name(rows[r].first, &cases[i]))
				of_row[n++] = &cases[i];
		int step = n > TRIED ? n / TRIED : 1;
		for (int i = 0; i < n && i / step < TRIED; i += step)
			try_case(&rows[r], of_row[i]);
	}
}

static int by_row(const void *a, const void *b)
{
	return by_name(((const struct row *)a)->first, ((const struct row *)b)->first);
}

static struct text make_section(void)
{
	struct text t = { 0 };

	make_rows();
	qsort(rows, (size_t)n_rows, sizeof *rows, by_row);
	add(&t, "| operator | type | cases | tried |");
	for (size_t k = 0; k < N_CONFIGS; k++)
		add(&t, " %s |", configs[k]);
	add(&t, " on the host at %s |\n|---|---|---:|---:|---:|---:|---:|---:|---|\n", configs[SHOWN]);
	for (int i = 0; i < n_rows; i++) {
		const struct row *r = &rows[i];
		add(&t, "| %s | %s | %d | %d |", r->first->op, r->first->type, r->n, r->tried);
		for (size_t k = 0; k < N_CONFIGS; k++) {
			if (r->on_npu[k] == r->tried && r->tried)
				add(&t, " all |");
			else if (r->on_npu[k])
				add(&t, " %d |", r->on_npu[k]);
			else
				add(&t, " |");
		}
		add(&t, " %s |\n", r->why);
	}
	return t;
}

static void judge(const char *section)
{
	struct text t = make_section();

	judge_section(section, &t, "conformance/coverage");
	printf("%s: %d cases, %d rows\n", section, n_cases, n_rows);
	fflush(stdout);
	free(t.p);
}

static struct coverage_case *new_case(void)
{
	assert_true(n_cases < MAX_CASES);
	cases[n_cases] = (struct coverage_case){ .path = "" };
	return &cases[n_cases++];
}

/* ---- where cases come from ---- */

/* "CONV_2D int8 ..." becomes operator and type. */
static void set_names(struct coverage_case *c, const char *name)
{
	if (sscanf(name, "%63s %23s", c->op, c->type) < 2)
		snprintf(c->type, sizeof c->type, "-");
}

static struct reader list_tflite(const char *file, enum weft_runtime runtime)
{
	struct reader r = open_recorded(file, "TFLOPS1\n");

	while (r.at < r.n) {
		struct coverage_case *c = new_case();
		const struct one_operator o = read_operator(&r);

		set_names(c, o.name);
		c->runtime = runtime;
		c->bytes = o.file_bytes;
		c->data = o.file;
	}
	return r;
}

static void tflite(void **state)
{
	(void)state;
	n_cases = 0;
	struct reader files[] = {
		list_tflite("tests/models/litert_ops.gz", WEFT_RUNTIME_LITERT_2_3),
		list_tflite("tests/models/litert_host_ops.gz", WEFT_RUNTIME_LITERT_2_3),
		list_tflite("tests/models/tflite_ops.gz", WEFT_RUNTIME_TFLITE_2_14),
	};
	judge(".tflite");
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		free(files[i].p);
}

/* Operator and type of a graph: of its only source operator, and of the first tensor that it does not know. */
static bool name_by_graph(struct coverage_case *c)
{
	weft_graph *g = load(c);

	if (!g)
		return false;
	bool one = g->n_srcs == 1 && g->n_inputs;
	if (one) {
		snprintf(c->op, sizeof c->op, "%.60s", g->srcs[0].name);
		snprintf(c->type, sizeof c->type, "%s", weft_dtype_name(g->tensors[g->inputs[0]].t.dtype));
	}
	weft_graph_free(g);
	return one;
}

static void list_files(const char *pattern)
{
	glob_t g = test_files(pattern);

	for (size_t i = 0; i < g.gl_pathc; i++) {
		struct coverage_case *c = new_case();
		snprintf(c->path, sizeof c->path, "%s", g.gl_pathv[i]);
		if (!name_by_graph(c))
			n_cases--;
	}
	globfree(&g);
}

static void onnx(void **state)
{
	(void)state;
	n_cases = 0;
	list_files("onnx_node/*/model.onnx");
	judge(".onnx");
}

static void tosa(void **state)
{
	(void)state;
	n_cases = 0;
	list_files("tosa_1_0/*/*/test.tosa");
	judge(".tosa");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(tflite), cmocka_unit_test(onnx), cmocka_unit_test(tosa) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

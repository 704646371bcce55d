/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single int16x8 operators of a speech network through importer and golden, and
 * those of them that run on the NPU on the RTL (else the model) as well: the
 * outputs that TensorFlow Lite Micro's authors stored, bit for bit. SUB
 * agrees with the scale ratios taken in double, as TensorFlow Lite has it
 * (TensorFlow Lite Micro takes them in float32, which these files do not follow).
 *
 * Reads tflite_micro_seanet_int16x8 of the foreign data: <name>.tflite,
 * <name>_input<k>_<type>.csv, <name>_golden_<type>.csv.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/each_file.h"
#include "tests/support/file.h"
#include "userlib/import/tflite/tflite.h"
#include "userlib/run/golden_exec.h"
#include "userlib/run/internal.h"

static void put(const weft_tensor *t, int64_t i, long v)
{
	if (t->dtype == WEFT_INT16)
		((int16_t *)t->data)[i] = (int16_t)v;
	else
		((int32_t *)t->data)[i] = (int32_t)v;
}

/* The integers of the one file "<name>_<what>_*.csv"; false where there is none. */
static bool read_csv(const char *name, const char *what, weft_tensor *t)
{
	char pattern[700];
	glob_t found;
	size_t n;

	snprintf(pattern, sizeof pattern, "%s_%s_*.csv", name, what);
	if (glob(pattern, 0, NULL, &found))
		return false;
	char *text = test_file(found.gl_pathv[0], &n), *p = text;
	globfree(&found);
	assert_non_null(text);
	t->data = calloc(1, weft_tensor_bytes(t));
	assert_non_null(t->data);
	int64_t i = 0, want = weft_tensor_elements(t);
	for (;;) {
		char *end;
		p += strspn(p, ", \r\n");
		long v = strtol(p, &end, 10);
		if (end == p)
			break;
		assert_true(i < want);
		put(t, i++, v);
		p = end;
	}
	assert_int_equal(i, want);
	free(text);
	return true;
}

static void judge(const char *file, const weft_tensor *got, const weft_tensor *want, const char *where)
{
	const int16_t *g = got->data, *e = want->data;

	for (int64_t i = 0; i < weft_tensor_elements(want); i++)
		if (g[i] != e[i])
			fail_msg("%s: on %s, element %lld: expected %d, got %d", file, where, (long long)i, e[i], g[i]);
}

static int n_files, n_on_npu;

/* Every tensor that the NPU makes is compared with golden as well. */
static void on_device(const char *file, weft_graph *g, const weft_tensor *in, const weft_tensor *want)
{
	struct weft_session_options o = weft_session_options_default();
	struct weft_compile_options c = { .config = "w16" };
	struct weft_net net = { .g = g };
	char msg[WEFT_MSG_LEN] = "";
	bool npu = false;
	weft_session *s;
	weft_tensor out;

	assert_int_equal(weft_compile(g, &c, &net.loaded, msg), 0);
	for (int i = 0; i < net.loaded->n_ops; i++)
		npu |= net.loaded->ops[i].unit == WEFT_ON_NPU;
	n_files++;
	n_on_npu += npu;
	o.device = test_have_rtl("w16") ? WEFT_DEVICE_RTL : WEFT_DEVICE_MODEL;
	o.check = true;
	if (npu) {
		if (weft_session_open(&net, &o, &s, msg) || weft_session_run(s, in, &out, NULL, msg))
			fail_msg("%s: %s", file, msg);
		judge(file, &out, want, o.device == WEFT_DEVICE_RTL ? "RTL" : "model");
		weft_tensor_release(&out);
		weft_session_close(s);
	}
	weft_program_free(net.loaded);
}

static int say_how_many(void **state)
{
	(void)state;
	printf("# %d of %d operators have a part on the NPU\n", n_on_npu, n_files);
	return 0;
}

static void operator(void **state)
{
	const char *file = *state;
	char name[600], what[32], msg[WEFT_MSG] = "";
	weft_graph *g = NULL;
	weft_tensor in[4];
	size_t n;

	snprintf(name, sizeof name, "%.*s", (int)(strlen(file) - strlen(".tflite")), file);
	char *bytes = test_file(file, &n);
	assert_non_null(bytes);
	if (weft_import_tflite(bytes, n, name, &g, msg))
		fail_msg("%s: %s", file, msg);
	free(bytes);
	assert_in_range(g->n_inputs, 1, 4);
	for (int i = 0; i < g->n_inputs; i++) {
		in[i] = g->tensors[g->inputs[i]].t;
		snprintf(what, sizeof what, "input%d", i);
		if (read_csv(name, what, &in[i]))
			continue;
		/* TRANSPOSE_CONV's shape operand: the result's tensor says the same */
		in[i].data = calloc(1, weft_tensor_bytes(&in[i]));
		assert_non_null(in[i].data);
	}
	weft_tensor want = g->tensors[g->outputs[0]].t;
	assert_true(read_csv(name, "golden", &want));
	for (int fast = 0; fast < 2; fast++) {
		weft_tensor *all = calloc((size_t)g->n_tensors, sizeof *all);
		assert_non_null(all);
		if (weft_golden_exec(g, in, all, fast, msg))
			fail_msg("%s: %s", file, msg);
		judge(file, &all[g->outputs[0]], &want, "golden");
		weft_golden_release(g, all);
		free(all);
	}
	on_device(file, g, in, &want);
	free(want.data);
	for (int i = 0; i < g->n_inputs; i++)
		free(in[i].data);
	weft_graph_free(g);
}

int main(void)
{
	return test_each_file("seanet", "tflite_micro_seanet_int16x8/*/*.tflite", operator, say_how_many);
}

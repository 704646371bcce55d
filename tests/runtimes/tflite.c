/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TensorFlow Lite with Weft's delegate: ai-edge-litert and tflite-runtime come from PyPI into
 * environments of their own, and the tests of userlib/tflite run there. Without PyPI they are
 * skipped, but fail where CI=true. And what needs no runtime: what the library exports, and that
 * an interpreter of another layout is left alone.
 *
 * Takes about a minute, and half a minute more to install; test-full about 15 minutes.
 */
#define _GNU_SOURCE            /* dladdr() in preload.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/card_process.h"
#include "tests/support/level.h"
#include "tests/support/preload.h"
#include "tests/support/shell.h"
#include "tests/support/venv.h"
#include "userlib/tflite/tflite_abi.h"

#define TFLITE "'numpy<2' pytest pillow tflite-runtime==2.14.*"

/* Runs a file of tests in an environment; more are further variables. What they leave is removed. */
static void python_tests(const char *venv, const char *file, const char *more)
{
	assert_int_equal(shell("t=$TMPDIR/python && mkdir -p $t && WEFT_BUILD=$(realpath %s) WEFT_MODELS=$(realpath tests/models) WEFT_MADE=$TMPDIR/made "
	                       "WEFT_DATA=$(realpath %s) %s PYTHONDONTWRITEBYTECODE=1 TMPDIR=$t %s/bin/python -m pytest -q -p no:cacheprovider "
	                       "--basetemp=$t/pytest userlib/tflite/tests/%s; s=$?; rm -rf $t; exit $s",
	                       test_env("WEFT_BUILD", "build"), test_data(), more, venv, file), 0);
}

static void delegate(void **state)
{
	char litert[512], tflite[512];

	(void)state;
	test_venv(litert, sizeof(litert), "litert", TEST_LITERT);
	test_venv(tflite, sizeof(tflite), "tflite", TFLITE);
	assert_int_equal(shell("mkdir -p $TMPDIR/made && %s/bin/python userlib/tflite/tests/make_networks.py tests/models/digits_int8.tflite $TMPDIR/made", litert), 0);
	python_tests(litert, "test_delegate.py", "");
	python_tests(tflite, "test_delegate.py", "");
	assert_int_equal(shell("rm -r $TMPDIR/made"), 0);
}

/*
 * The example in C, compiled against the library of LiteRT's wheel: it says of each picture what the example in Python says,
 * and what it cannot do in one line.
 */
static void example_in_c(void **state)
{
	char litert[512];

	(void)state;
	test_venv(litert, sizeof(litert), "litert", TEST_LITERT);
	setenv("VENV", litert, 1);
	setenv("B", test_env("WEFT_BUILD", "build"), 1);
	assert_int_equal(shell("d=$TMPDIR/example && mkdir -p $d && lib=$(echo $VENV/lib/python3.*/site-packages/ai_edge_litert) && "
	                       "${CC:-cc} -std=c11 -O2 -Wall -Wextra -Wshadow -Werror userlib/tflite/examples/label_image.c -o $d/label_image "
	                       "$lib/libLiteRt.so -Wl,-rpath,$(realpath $lib) -lpng -ldl -lm && seq -f 'digit %%g' 0 9 >$d/labels"), 0);
	assert_int_equal(shell("d=$TMPDIR/example; n=0; for p in $(ls tests/models/digits/*.png | head -4); do "
	                       "set -- tests/models/digits_int8.tflite $p --labels $d/labels --delegate $B/libweft_delegate.so --option device=rtl --option check=1; "
	                       "$d/label_image \"$@\" >$d/c 2>$d/c.log && $VENV/bin/python userlib/tflite/examples/label_image.py \"$@\" >$d/python 2>/dev/null && "
	                       "[ $(wc -l <$d/c) = 5 ] && diff $d/c $d/python && grep -q '6 of 6 nodes' $d/c.log && "
	                       "head -1 $d/c | grep -q \" digit $(echo $p | sed 's/.*label\\([0-9]\\).*/\\1/')$\" && n=$((n + 1)) || cat $d/c.log; done; [ $n = 4 ]"), 0);
	assert_int_equal(shell("d=$TMPDIR/example; p=$(ls tests/models/digits/*.png | head -1); bad() { want=$1; shift; $d/label_image \"$@\" >$d/c 2>$d/c.log; [ $? = 1 ] && "
	                       "[ ! -s $d/c ] && grep -q \"^label_image: .*$want\" $d/c.log || { cat $d/c.log; false; }; }; m=tests/models/digits_int8.tflite; l=\"--delegate $B/libweft_delegate.so\"; "
	                       "bad 'is not golden, model' $m $p $l --option device=moon && bad 'cannot open' $m $p --delegate ./none.so && "
	                       "bad 'LiteRT.s status' /dev/null $p $l && bad 'none.png' $m $d/none.png $l && rm -r $d"), 0);
}

static void data(void **state)
{
	char litert[512], tflite[512];

	(void)state;
	if (access(test_data(), R_OK)) {
		printf("%s: not there\n", test_data());
		skip();
	}
	test_venv(litert, sizeof(litert), "litert", TEST_LITERT);
	test_venv(tflite, sizeof(tflite), "tflite", TFLITE);
	python_tests(litert, "test_data.py", "");
	python_tests(tflite, "test_data.py", "WEFT_LEVEL=test WEFT_OPTIONS=runtime=tflite-2.14");
}

/* Nothing but what TensorFlow Lite looks up is visible to the programs that load the delegate. */
static void exports(void **state)
{
	(void)state;
	assert_int_equal(shell("test \"$(nm -D --defined-only %s/libweft_delegate.so | cut -d' ' -f3 | sort | xargs)\" = "
	                       "'tflite_plugin_create_delegate tflite_plugin_destroy_delegate'", test_env("WEFT_BUILD", "build")), 0);
}

/* ---- an interpreter of one node, whose layout can be spoilt ---- */

static struct {
	struct rt_context rt;
	struct rt_tensor tensors[2];
	struct rt_node node;
	struct rt_kernel kernel;
	struct rt_part part;
	struct { int n, v[4]; } plan, shape, in, out;
	int replaced;
} fake;

static int fake_plan(struct rt_context *rt, struct rt_ints **plan)
{
	(void)rt;
	*plan = (struct rt_ints *)&fake.plan;
	return 0;
}

static int fake_node(struct rt_context *rt, int i, struct rt_node **n, struct rt_kernel **k)
{
	(void)rt;
	(void)i;
	*n = &fake.node;
	*k = &fake.kernel;
	return 0;
}

static int fake_replace(struct rt_context *rt, struct rt_kernel k, const struct rt_ints *nodes, struct rt_delegate *d)
{
	(void)rt;
	(void)k;
	(void)nodes;
	(void)d;
	fake.replaced++;
	return 0;
}

static int fake_preview(struct rt_context *rt, const struct rt_ints *nodes, struct rt_part **parts, int *n)
{
	(void)rt;
	fake.part = (struct rt_part){ .nodes = (struct rt_ints *)(uintptr_t)nodes, .inputs = fake.node.inputs, .outputs = fake.node.outputs };
	*parts = &fake.part;
	*n = 1;
	return 0;
}

static void fake_report(struct rt_context *rt, const char *format, ...)
{
	(void)rt;
	(void)format;
}

/* RELU6 of int8 [1,2,3]. */
static void fake_reset(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.plan.n = fake.in.n = fake.out.n = 1;
	fake.out.v[0] = 1;
	fake.shape.n = 3;
	memcpy(fake.shape.v, (int[]){ 1, 2, 3 }, sizeof(int[3]));
	for (int i = 0; i < 2; i++)
		fake.tensors[i] = (struct rt_tensor){ .type = RT_INT8, .dims = (struct rt_ints *)&fake.shape, .allocation = RT_ARENA, .bytes = 6 };
	fake.node = (struct rt_node){ .inputs = (struct rt_ints *)&fake.in, .outputs = (struct rt_ints *)&fake.out };
	fake.kernel = (struct rt_kernel){ .builtin_code = 21, .version = 1 };
	fake.rt = (struct rt_context){ .n_tensors = 2, .tensors = fake.tensors, .execution_plan = fake_plan, .node = fake_node, .replace = fake_replace,
	                               .preview = fake_preview, .report = fake_report, .threads = 1 };
}

static void spoil_counts(void) { fake.rt.n_tensors = (size_t)1 << 40; }
static void spoil_threads(void) { fake.rt.threads = 1 << 30; }
static void spoil_function(void) { fake.rt.preview = NULL; }
static void spoil_type(void) { fake.tensors[1].type = 4096; }
static void spoil_memory(void) { fake.tensors[1].allocation = -7; }
static void spoil_flags(void) { fake.tensors[0].is_variable = 0x40; }
static void spoil_quantisation(void) { fake.tensors[0].quantization.type = 1 << 20; }
static void spoil_dimensions(void) { fake.shape.v[1] = -5; }
static void spoil_rank(void) { fake.shape.n = 1 << 16; }
static void spoil_bytes(void) { fake.tensors[0].bytes = 7; }
static void spoil_plan(void) { fake.plan.n = -1; }
static void spoil_inputs(void) { fake.in.v[0] = 2; }
static void spoil_outputs(void) { fake.node.outputs = NULL; }
static void spoil_code(void) { fake.kernel.builtin_code = -3; }
static void spoil_options(void)
{
	static int32_t padding[6] = { 1, 1, 1, 1, 1, 99 };
	fake.kernel.builtin_code = 17;
	fake.node.builtin_data = padding;
}

static const struct {
	void (*spoil)(void);
	const char *words;
} spoilt[] = {
	{ NULL, "0 of 1 nodes in 0 parts" },
	{ spoil_counts, "(counts)" }, { spoil_threads, "(counts)" }, { spoil_function, "(a function that is not there)" },
	{ spoil_type, "(type of tensor 1)" }, { spoil_memory, "(kind of memory of tensor 1)" }, { spoil_flags, "(flags of tensor 0)" },
	{ spoil_quantisation, "(quantisation of tensor 0)" }, { spoil_dimensions, "(dimensions of tensor 0)" }, { spoil_rank, "(dimensions of tensor 0)" },
	{ spoil_bytes, "(bytes of tensor 0)" }, { spoil_plan, "(the list of nodes)" }, { spoil_inputs, "(inputs of node 0)" },
	{ spoil_outputs, "(outputs of node 0)" }, { spoil_code, "(code of node 0)" }, { spoil_options, "(options of node 0)" },
};

/* Applies a delegate to the fake interpreter. Returns what it wrote to standard error, until the next call. */
static const char *apply(struct rt_delegate *d)
{
	static char text[1024];
	char path[256];
	int old = dup(2);

	test_path(path, sizeof(path), "delegate.txt");
	assert_non_null(freopen(path, "w", stderr));
	int status = d->prepare(&fake.rt, d);
	fflush(stderr);
	dup2(old, 2);
	close(old);
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	remove(path);
	assert_int_equal(status, TFL_OK);
	return text;
}

/* Another layout disables the delegate with one line, and nothing else happens. */
static void layouts(void **state)
{
	char path[512];

	(void)state;
	snprintf(path, sizeof(path), "%s/libweft_delegate.so", test_env("WEFT_BUILD", "build"));
	void *lib = dlopen(path, RTLD_NOW);
	if (!lib)
		fail_msg("%s", dlerror());
	struct rt_delegate *(*create)(const char *const *, const char *const *, size_t, void (*)(const char *));
	void (*destroy)(struct rt_delegate *);
	*(void **)&create = dlsym(lib, "tflite_plugin_create_delegate");
	*(void **)&destroy = dlsym(lib, "tflite_plugin_destroy_delegate");
	const char *const key = "device", *const value = "model";
	struct rt_delegate *d = create(&key, &value, 1, NULL);
	assert_non_null(d);
	for (size_t i = 0; i < sizeof(spoilt) / sizeof(spoilt[0]); i++) {
		fake_reset();
		if (spoilt[i].spoil)
			spoilt[i].spoil();
		const char *text = apply(d);
		if (!strstr(text, spoilt[i].words) || strchr(text, '\n') != text + strlen(text) - 1)
			fail_msg("expected one line with \"%s\", got \"%s\"", spoilt[i].words, text);
		assert_int_equal(strstr(text, "takes nothing") != NULL, spoilt[i].spoil != NULL);
		assert_int_equal(fake.replaced, 0);
	}
	/* The runtime may ask a destroyed one: it says nothing and takes nothing. */
	destroy(d);
	fake_reset();
	assert_string_equal(apply(d), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exports), cmocka_unit_test(layouts), cmocka_unit_test(delegate), cmocka_unit_test(example_in_c), cmocka_unit_test(data),
	};

	return preload_sanitizer() || cmocka_run_group_tests(tests, NULL, NULL);
}

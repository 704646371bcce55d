/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the weft command refuses: its exit status (2 usage or a file, 3 a device) and
 * the line that it says. And that its files are written whole or not at all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/card_process.h"
#include "tests/support/file.h"
#include "tests/support/level.h"
#include "tests/support/shell.h"
#include <weft/npy.h>

#define MODEL "tests/models/digits_int8.tflite"
#define INPUT "image"

static char text[65536], dir[128];

static void refused_bad(void **state)
{
	static const struct { const char *line; int status; const char *says; } bad[] = {
		/* A pipe cannot be read as a model, and is no device. */
		{ "run /dev/stdin", 2, "/dev/stdin: " },
		{ "info /dev/stdin", 2, "/dev/stdin: " },
		{ "compile /dev/stdin -o x.weft", 2, "/dev/stdin: " },
		{ "convert /dev/stdin -o x.tosa", 2, "/dev/stdin: " },
		{ "reduce /dev/stdin -o x", 2, "/dev/stdin: " },
		{ "replay /dev/stdin", 2, "/dev/stdin: " },
		{ "accuracy /dev/stdin x.npy y.npy", 2, "/dev/stdin: " },
		{ "run " MODEL " --device usb:@/nowhere", 3, "no simulated card answers at /nowhere" },
		{ "diag --device usb:@/nowhere", 3, "no simulated card answers at /nowhere" },
		{ "diag --device golden", 2, "not a device" },
		{ "diag nothing --device model", 2, "\"nothing\" is not a test" },
		{ "info " MODEL " other", 2, "\"other\": one model at a time" },
		{ "verify " MODEL " other", 2, "\"other\": one file at a time" },
		{ "compile " MODEL, 2, "no -o FILE" },
		{ "dump " MODEL " -o x", 2, "option -o is not known" },
		{ "compile " MODEL " -o /nowhere/x.weft", 2, "/nowhere/x.weft: No such file or directory" },
		{ "run " MODEL " --bind nothing=2", 2, "no input \"nothing\" to bind; the first of 1 is \"" INPUT "\"" },
		{ "info " MODEL " --bind " INPUT "=2", 2, "input 0 \"" INPUT "\": 0 of its 4 dimensions are open" },
		{ "info " MODEL " --bind " INPUT "=1x8x8", 2, "input 0 \"" INPUT "\": its rank is 4, not 3" },
		{ "run " MODEL " --bind " INPUT "=1x8x9x1", 2, "input 0 \"" INPUT "\": dimension 2 is 8 in the file, not 9" },
		{ "run " MODEL " --bind " INPUT "=1x8x0x1", 2, "input 0 \"" INPUT "\": 0 is no extent; 1 to 2147483647" },
		{ "compile " MODEL " -o x.weft --bind " INPUT "=tests/models/digits_test_y.npy", 2, "only its shape can be given in .tflite" },
		{ "run " MODEL " --bind " INPUT "=lots", 2, "--bind: \"lots\" is no shape (1x2x3), and as a file: lots: No such file or directory" },
		{ "run " MODEL " --bind " INPUT "=", 2, "--bind: \"" INPUT "=\" is not NAME=SIZE, NAME=1x2x3 or NAME=FILE.npy" },
		{ "run tests/models/digits_qdq.onnx --bind image=2x1x8x8", 2, "input \"image\": dimension 0 is 1 in the file, not 2" },
		{ "run tests/models/digits_qdq.onnx --bind logits=2", 2, "no input \"logits\" to bind; the first of 1 is \"image\"" },
		{ "run tests/models/digits_fp8.tosa --bind image=2", 2, "a .tosa file leaves no shape open; --bind is for .onnx and .tflite" },
		{ "compile " MODEL " -o /dev/full", 3, "/dev/full: No space left on device" },
		{ "run /dev/null", 2, "/dev/null: not a regular file" },
		{ "run README.md", 2, "README.md: not a .tflite, .tosa, .onnx or .weft file" },
		{ "run " MODEL " -i tests/models/digits_test_y.npy", 2, "elements of uint8, the input takes 64 of int8" },
		{ "run " MODEL " -i x=y.npy", 2, "no input is called \"x\"; image" },
		{ "run " MODEL " --config w9", 2, "configuration \"w9\" is not known; w4, w8, w8b, w16 or w32" },
		/* What takes long is not tried where its result could not be written. */
		{ "run " MODEL " -o /nowhere/x", 2, "/nowhere/x: No such file or directory" },
		{ "run " MODEL " -o README.md", 2, "README.md: Not a directory" },
		{ "run " MODEL " --dump /nowhere/x", 2, "/nowhere/x: No such file or directory" },
		{ "run " MODEL " --device rtl --wave /nowhere/x.fst", 2, "/nowhere/x.fst: No such file or directory" },
		{ "run " MODEL " --device rtl --profile /nowhere/x.json", 2, "/nowhere/x.json: No such file or directory" },
		{ "run " MODEL " --device rtl --regs /nowhere/x.json", 2, "/nowhere/x.json: No such file or directory" },
		{ "bench " MODEL " --save /nowhere/x.json", 2, "/nowhere/x.json: No such file or directory" },
		{ "bench " MODEL " --profile /nowhere/x", 2, "/nowhere/x: No such file or directory" },
		{ "reduce " MODEL " -o /nowhere/x", 2, "/nowhere/x: No such file or directory" },
		{ "quantize tests/models/digits_float.onnx -o /nowhere/q.onnx --calibrate tests/models/digits", 2, "/nowhere/q.onnx: No such file or directory" },
		{ "conform tests -o /nowhere/x", 2, "/nowhere/x: No such file or directory" },
		/* Not passed over where it means nothing. */
		{ "run " MODEL " --wave x.fst", 2, "--wave: only the RTL has signals" },
		{ "run " MODEL " --regs x.json", 2, "--regs: --device rtl or usb" },
		{ "run " MODEL " --device rtl --plant pe:16,0,0", 2, "no such place for a fault" },
		{ "run " MODEL " --device rtl --plant pe:0,0,48", 2, "no such place for a fault" },
		{ "run " MODEL " --device rtl --plant lane:-1,0", 2, "no such place for a fault" },
		{ "run " MODEL " --device rtl --plant sp:0x80000,0", 2, "no such place for a fault" },
		{ "diag --device model --loop 0", 2, "--loop: 1 or more" },
		{ "help nothing", 2, "\"nothing\" is not a command" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int status = run_line(text, sizeof(text), "%s", bad[i].line);
		if (status != bad[i].status || !strstr(text, bad[i].says) || strncmp(text, "weft: ", 6))
			fail_msg("weft %s: exit status %d, not %d with \"%s\": %s", bad[i].line, status, bad[i].status, bad[i].says, text);
	}
}

/* Each option that --help lists is taken. */
static void load_options(void **state)
{
	static const char *const commands[] = { "run", "info", "compile", "dump", "verify", "convert" };

	(void)state;
	for (int i = 0; i < 6; i++) {
		const char *name = commands[i];
		const bool writes = i == 2 || i == 5;
		assert_int_equal(run_line(text, sizeof(text), "%s " MODEL " --signature no%s%s", name, writes ? " -o " : "", writes ? "/dev/null" : ""), 2);
		assert_non_null(strstr(text, "no signature \"no\"; the file has none"));
		int status = run_line(text, sizeof(text), "%s " MODEL " --backbone --runtime tflm --level 8K --requant rescale --bind " INPUT "=1x8x8x1 %s%s", name,
		                      writes ? "-o " : "", writes ? "/dev/null" : "");
		if (status)
			fail_msg("weft %s: exit status %d: %s", name, status, text);
		assert_int_equal(run_line(text, sizeof(text), "%s --help", name), 0);
		assert_non_null(strstr(text, "--backbone"));
		assert_non_null(strstr(text, "--bind"));
		assert_non_null(strstr(text, "--runtime"));
		assert_non_null(strstr(text, "--signature"));
		assert_non_null(strstr(text, "--custom"));
	}
}

/* A byte a label, which is not to be read as eight. */
static void labels_bad(void **state)
{
	const weft_dtype types[] = { WEFT_BOOL, WEFT_FP16, WEFT_UINT32 };
	uint8_t zeros[4 * 360] = { 0 };
	char file[160], msg[WEFT_NPY_MSG];

	(void)state;
	test_path(file, sizeof(file), "labels.npy");
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		const weft_tensor t = { .dtype = types[i], .rank = 1, .dim = { 360, 1, 1, 1, 1, 1, 1, 1 }, .data = zeros };
		assert_int_equal(weft_npy_write(file, &t, msg), 0);
		assert_int_equal(run_line(text, sizeof(text), "accuracy " MODEL " tests/models/digits_test_x.npy %s", file), 2);
		assert_non_null(strstr(text, "not integers"));
	}
	unlink(file);
}

/* Tokens of a run, and what bounds them. */
static void tokens(void **state)
{
	(void)state;
	assert_int_equal(run_line(text, sizeof(text), "run " MODEL " --device model --tokens 2"), 0);
	assert_non_null(strstr(text, "2 tokens in "));
	assert_non_null(strstr(text, " tokens per M cycles"));
	assert_non_null(strstr(text, "; most cycles: "));
	assert_non_null(strstr(text, " cycles at 8 bytes each"));
	assert_int_equal(run_line(text, sizeof(text), "run " MODEL " --device model --memory sram --tokens 2"), 0);
	assert_non_null(strstr(text, " cycles at 16 bytes each"));
	assert_int_equal(run_line(text, sizeof(text), "run " MODEL " --device model"), 0);
	assert_null(strstr(text, "tokens per"));
	assert_int_equal(run_line(text, sizeof(text), "run " MODEL " --tokens some"), 2);
}

/* A seed can be used again as it is printed. */
static void seed_is_whole(void **state)
{
	(void)state;
	assert_int_equal(run_line(text, sizeof(text), "run " MODEL " --json --seed 18446744073709551615"), 0);
	assert_non_null(strstr(text, "\"seed\":\t18446744073709551615,"));
}

/* What could not be printed was not done. */
static void printed(void **state)
{
	static const char *const lines[] = { "info " MODEL, "run " MODEL " --json", "dump " MODEL, "help", "--version" };

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(shell("%s/weft %s >/dev/null", test_env("WEFT_BUILD", "build"), lines[i]), 0);
		assert_int_equal(shell("%s/weft %s 2>&1 >/dev/full | grep -q 'weft: standard output: No space left on device'",
		                       test_env("WEFT_BUILD", "build"), lines[i]), 0);
		assert_int_equal(shell("%s/weft %s >/dev/full 2>/dev/null", test_env("WEFT_BUILD", "build"), lines[i]), 3);
	}
}

static void written_whole(void **state)
{
	char file[160];
	size_t n, m;

	(void)state;
	test_path(dir, sizeof(dir), "commands-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/net.weft", dir);
	assert_int_equal(run_line(text, sizeof(text), "compile " MODEL " -o %s", file), 0);
	uint8_t *was = (uint8_t *)test_file(file, &n);
	/* No room for more: the old file stays, and nothing else. */
	assert_int_equal(shell("ulimit -f 1; trap '' XFSZ; %s/weft compile " MODEL " -o %s 2>%s/said", test_env("WEFT_BUILD", "build"), file, dir), 3);
	assert_int_equal(shell("grep -q 'net.weft: File too large' %s/said", dir), 0);
	uint8_t *is = (uint8_t *)test_file(file, &m);
	assert_true(n > 4096 && n == m);
	assert_memory_equal(is, was, n);
	assert_int_equal(shell("rm %s %s/said && rmdir %s", file, dir, dir), 0);
	free(was);
	free(is);
	/* A device stays one. */
	assert_int_equal(shell("test -c /dev/null"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused_bad),
		cmocka_unit_test(load_options),
		cmocka_unit_test(labels_bad),
		cmocka_unit_test(tokens), cmocka_unit_test(seed_is_whole),
		cmocka_unit_test(printed),
		cmocka_unit_test(written_whole),
	};

	/* The shell's commands read from a pipe. */
	int fd[2];
	if (pipe(fd) || dup2(fd[0], 0) < 0 || close(fd[1]))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ONNX's node tests as the wheel of the package onnx 1.18.0 has them, all that
 * have tensors of numbers at their edge, on golden. pip fetches the wheel once,
 * into the build folder. A case that does not pass has to be listed in
 * tests/expected/onnx_wheel.tsv with what the refusal says and the reason; one
 * that passes although it is listed fails, too. At least BAR cases pass.
 * Takes about 20 s on two cores once the wheel is there.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fnmatch.h>
#include <glob.h>
#include <string.h>

#include <weft/weft.h>

#include "../support/level.h"
#include "../support/onnx_case.h"
#include "../support/expected.h"

#define BAR 1200

static void wheel(void **state)
{
	char pattern[512], command[700];
	int passed = 0, listed = 0, wrong = 0, other = 0;
	glob_t g;

	(void)state;
	snprintf(pattern, sizeof pattern, "%s/onnx_wheel", test_env("WEFT_BUILD", "build"));
	snprintf(command, sizeof command, "python3 tools/onnx_wheel.py %s", pattern);
	if (system(command)) {
		printf("no wheel of onnx 1.18.0: tools/onnx_wheel.py\n");
		fflush(stdout);
		skip();
	}
	strcat(pattern, "/node/*");
	assert_int_equal(glob(pattern, 0, NULL, &g), 0);
	for (size_t i = 0; i < g.gl_pathc; i++) {
		const char *name = strrchr(g.gl_pathv[i], '/') + 1;
		char why[WEFT_MSG_LEN] = "", says[512];
		int err = onnx_case_run(g.gl_pathv[i], why);
		bool known = expected_says("tests/expected/onnx_wheel.tsv", name, says, sizeof says);

		if (err == ONNX_CASE_NO_TENSORS) {
			other++;
			continue;
		}
		passed += !err;
		if (err && known && strstr(why, says)) {
			listed++;
			continue;
		}
		if (err || known) {
			wrong++;
			print_error("%s\t%s\n", name, err ? why : "passes, but is listed");
		}
	}
	globfree(&g);
	printf("%d of %d pass, %d are listed, %d are wrong; %d have no tensors\n", passed, passed + listed + wrong, listed, wrong, other);
	fflush(stdout);
	assert_true(passed >= BAR);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(wheel) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

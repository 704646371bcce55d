/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ONNX's node tests: every case either gives the stored results or is listed in
 * tests/expected/onnx_node.tsv with what the refusal says and the reason. A case
 * that passes although it is listed, or is refused with other words, fails too.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>

#include <weft/weft.h>

#include "../support/each_file.h"
#include "../support/expected.h"
#include "../support/onnx_case.h"

static void node_tests(void **state)
{
	char says[512];
	int passed = 0, refused = 0, wrong = 0;

	(void)state;
	glob_t g = test_files("onnx_node/*");
	for (size_t i = 0; i < g.gl_pathc; i++) {
		const char *name = strrchr(g.gl_pathv[i], '/') + 1;
		char why[WEFT_MSG_LEN] = "";
		int err = onnx_case_run(g.gl_pathv[i], why);
		const bool reason = expected_says("tests/expected/onnx_node.tsv", name, says, sizeof says);

		passed += !err;
		bool as_listed = err && reason && strstr(why, says);
		refused += as_listed;
		if (as_listed || (!err && !reason))
			continue;
		wrong++;
		print_error("%s\t%s\n", name, err ? why : "passes, but is listed");
	}
	printf("%d passed, %d listed as not supported, %d other\n", passed, refused, wrong);
	fflush(stdout);
	assert_int_equal(passed + refused + wrong, g.gl_pathc);
	globfree(&g);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(node_tests) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every public header compiles alone, as C11 and as C++; and the libraries export
 * the functions that the headers declare, and nothing else.
 */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../support/level.h"

static void compile_each(const char *compiler)
{
	glob_t found;
	assert_int_equal(glob("include/weft/*.h", 0, NULL, &found), 0);
	assert_int_equal(glob("include/weft/gen/*.h", GLOB_APPEND, NULL, &found), 0);
	assert_true(found.gl_pathc >= 3);
	int bad = 0;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char command[512];
		int n = snprintf(command, sizeof command, "%s -Wall -Wextra -Werror -fsyntax-only -Iinclude %s 2>&1",
		                 compiler, found.gl_pathv[i]);
		assert_in_range(n, 1, sizeof command - 1);
		if (system(command) != 0) {
			print_error("%s: not alone with %s\n", found.gl_pathv[i], compiler);
			bad++;
		}
	}
	globfree(&found);
	assert_int_equal(bad, 0);
}

static void alone_as_c(void **state)
{
	(void)state;
	compile_each("gcc -std=c11 -pedantic -x c");
}

static void alone_as_cxx(void **state)
{
	(void)state;
	compile_each("g++ -std=c++17 -x c++");
}

/* Room for a message of so many bytes: does a call compile, with no option but to fail on warnings? */
static int compile_call(int bytes)
{
	char command[512];

	snprintf(command, sizeof command,
	         "printf '#include <weft/weft.h>\\nint f(weft_net **n);\\nint f(weft_net **n)\\n{\\n\\tchar msg[%d];\\n"
	         "\\treturn weft_net_load_file(\"x\", n, msg);\\n}\\n' | gcc -std=c11 -Werror -Iinclude -x c -S -o /dev/null - 2>&1", bytes);
	return system(command);
}

static void small_message_bad(void **state)
{
	(void)state;
	assert_int_equal(compile_call(256), 0);
	assert_int_not_equal(compile_call(255), 0);
}

static void exported(void **state)
{
	char command[512];

	(void)state;
	snprintf(command, sizeof command, "python3 tools/lint/api.py '%s'", test_env("WEFT_BUILD", "build"));
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alone_as_c),
		cmocka_unit_test(alone_as_cxx),
		cmocka_unit_test(small_message_bad),
		cmocka_unit_test(exported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

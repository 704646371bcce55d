/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools/lint/layers.py: the tree keeps to its table, and the script sees a file that does
 * not. Takes a second.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "../support/level.h"
#include "../support/shell.h"

static char root[128];

static int set_up(void **state)
{
	(void)state;
	test_path(root, sizeof(root), "layers-%d", (int)getpid());
	return shell("mkdir -p %s/driver %s/sim/model %s/userlib/run %s/tools/weft", root, root, root, root);
}

static int tear_down(void **state)
{
	(void)state;
	return shell("rm -rf %s", root);
}

static void tree(void **state)
{
	(void)state;
	assert_int_equal(shell("python3 tools/lint/layers.py"), 0);
}

/* The script must fail on the planted tree and print this line. */
static void says(const char *line)
{
	assert_int_equal(shell("! python3 tools/lint/layers.py %s >%s/out && grep -qxF '%s' %s/out || { cat %s/out; exit 1; }", root, root,
	                       line, root, root), 0);
}

static void include_bad(void **state)
{
	(void)state;
	assert_int_equal(shell("cd %s && touch sim/model/state.h userlib/run/internal.h && echo '#include \"sim/model/state.h\"' >driver/dev.c && "
	                       "printf '\\n#include \"../../userlib/run/internal.h\"\\n' >tools/weft/run.c && "
	                       "echo '#include \"weft/gone.h\"' >sim/model/load.c", root), 0);
	says("driver/dev.c:1: driver may not include sim/model/state.h");
	says("tools/weft/run.c:2: tools may not include userlib/run/internal.h");
	says("sim/model/load.c:1: \"weft/gone.h\" is no file of the project");
}

static void folder_bad(void **state)
{
	(void)state;
	assert_int_equal(shell("cd %s && for i in $(seq 25); do touch driver/part_$i.c; done", root), 0);
	says("driver: 26 .c and .h files, above 25: divide it");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tree), cmocka_unit_test(include_bad), cmocka_unit_test(folder_bad),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools/lint/argument_order.py: no call in the tree has two arguments that add to a graph, and no initialiser two such elements;
 * and the script finds such a call and such an initialiser that are planted. The test takes some seconds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "../support/level.h"
#include "../support/shell.h"

static void tree(void **state)
{
	(void)state;
	assert_int_equal(shell("python3 tools/lint/argument_order.py"), 0);
}

/*
 * The script must report the call that begins in line 10, because two of its arguments call one(), and the initialiser in line 11,
 * because two of its elements do. It must report no other: in line 8 only one argument calls one(), and in line 9 the other two are in a string and in a comment.
 */
static void planted(void **state)
{
	char path[256];

	(void)state;
	test_path(path, sizeof(path), "order-%d.c", (int)getpid());
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs("static int one(weft_graph *g)\n{\n\treturn weft_graph_op(g);\n}\n\n"
	      "static int both(weft_graph *g)\n{\n"
	      "\tint a = max(one(g), 2);\n"
	      "\tint b = max(\"one(g)\", one(g)) /* one(g) */;\n"
	      "\tint c = max(a, b,\n\t            one(g), add(g, one(g))), d[2] = { one(g), one(g) };\n\treturn c + d[0];\n}\n", f);
	assert_int_equal(fclose(f), 0);
	int seen = shell("! python3 tools/lint/argument_order.py %s >%s.out && grep -q '%s:10: max() evaluates one() and one() in an order that C leaves open' %s.out && "
	                 "grep -q '%s:11: an initialiser evaluates one() and one() in' %s.out && tail -1 %s.out | grep -q ': 2 calls'",
	                 path, path, path, path, path, path, path);
	if (seen)
		shell("cat %s.out", path);
	shell("rm -f %s %s.out", path, path);
	assert_int_equal(seen, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(tree), cmocka_unit_test(planted) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

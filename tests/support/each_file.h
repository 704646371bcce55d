/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the foreign data that fit a pattern, and a test for each of them. Include behind cmocka.h. */
#ifndef WEFT_TESTS_EACH_FILE_H
#define WEFT_TESTS_EACH_FILE_H

#include <assert.h>
#include <glob.h>

#include "level.h"

static inline void no_file(void **state)
{
	print_message("no %s in %s\n", (const char *)*state, test_data());
	skip();
}

/* The files of the foreign data that fit a pattern; the caller's globfree() frees them. Without any the test is skipped. */
static inline glob_t test_files(const char *pattern)
{
	char full[600];
	glob_t found;

	snprintf(full, sizeof full, "%s/%s", test_data(), pattern);
	if (glob(full, 0, NULL, &found)) {
		printf("no %s\n", full);
		fflush(stdout);
		skip();
	}
	return found;
}

/*
 * Runs f with each path as its state, which it may change; the test's name is the
 * path below the data folder. Without any there is one test that is skipped.
 */
static inline int test_each_file(const char *group, const char *pattern, CMUnitTestFunction f, CMFixtureFunction teardown)
{
	const size_t root = strlen(test_data()) + 1;
	char full[600];
	glob_t found;

	snprintf(full, sizeof full, "%s/%s", test_data(), pattern);
	if (glob(full, 0, NULL, &found)) {
		const struct CMUnitTest none[] = { { .name = "no_file", .test_func = no_file, .initial_state = (void *)(uintptr_t)pattern } };
		return _cmocka_run_group_tests(group, none, 1, NULL, NULL);
	}
	struct CMUnitTest *tests = calloc(found.gl_pathc, sizeof *tests);
	char **names = calloc(found.gl_pathc, sizeof *names);
	assert(tests && names);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		names[i] = strdup(found.gl_pathv[i] + root);
		tests[i] = (struct CMUnitTest){ .name = names[i], .test_func = f, .initial_state = found.gl_pathv[i] };
	}
	int failed = _cmocka_run_group_tests(group, tests, found.gl_pathc, NULL, teardown);
	for (size_t i = 0; i < found.gl_pathc; i++)
		free(names[i]);
	free(names);
	free(tests);
	globfree(&found);
	return failed;
}

#endif

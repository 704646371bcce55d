/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the foreign data that fit a pattern, and a test for each of them. Include behind cmocka.h. */
#ifndef WEFT_TESTS_EACH_FILE_H
#define WEFT_TESTS_EACH_FILE_H

#include <assert.h>
#include <glob.h>

#include "level.h"

/* Skips the test: no file fits the pattern that is its state. */
static inline void no_file(void **state)
{
	printf("no %s in %s\n", (const char *)*state, test_data());
	fflush(stdout);
	skip();
}

/* Sets *found to the files of the foreign data that fit a pattern; globfree() frees them. Returns false, with nothing to free, if none does. */
static inline bool find_files(const char *pattern, glob_t *found)
{
	char full[600];

	snprintf(full, sizeof full, "%s/%s", test_data(), pattern);
	return !glob(full, 0, NULL, found);
}

/* Returns the files of the foreign data that fit a pattern; the caller's globfree() frees them. If there are none, the test is skipped. */
static inline glob_t test_files(const char *pattern)
{
	void *state = (void *)(uintptr_t)pattern;
	glob_t found;

	if (!find_files(pattern, &found))
		no_file(&state);
	return found;
}

/*
 * Runs f with each path as its state, which it may change; the test's name is the
 * path below the data folder. Without any there is one test that is skipped.
 */
static inline int test_each_file(const char *group, const char *pattern, CMUnitTestFunction f, CMFixtureFunction teardown)
{
	const size_t root = strlen(test_data()) + 1;
	glob_t found;

	if (!find_files(pattern, &found)) {
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

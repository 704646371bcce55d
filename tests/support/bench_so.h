/* SPDX-License-Identifier: Apache-2.0 */
/* Verilated libraries that tests load. */
#ifndef TESTS_SUPPORT_BENCH_SO_H
#define TESTS_SUPPORT_BENCH_SO_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/level.h"

/*
 * Loads the library `file` of the build folder, which stays loaded, and calls its function `name`, which takes no
 * arguments. Returns what that function returns. If the library is not built or cannot be loaded, prints a line that
 * says so and returns NULL. A library without the function ends the test program.
 */
static inline const void *so_api(const char *file, const char *name)
{
	const void *(*get)(void) = NULL;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", test_env("WEFT_BUILD", "build"), file);
	void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (so)
		*(void **)&get = dlsym(so, name);
	if (get)
		return get();
	printf("%s cannot be used (make sim): %s\n", path, dlerror());
	fflush(stdout);
	if (so)
		abort();
	return NULL;
}

/* Loads weft-NAME.so, the bench of a single block. Returns what its function weft_NAME_bench_api() returns, or NULL as so_api() does. */
static inline const void *bench_api(const char *name)
{
	char file[64], function[64];

	snprintf(file, sizeof(file), "tests/cosim/rtl/weft-%s.so", name);
	snprintf(function, sizeof(function), "weft_%s_bench_api", name);
	return so_api(file, function);
}

#endif

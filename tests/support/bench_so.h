/* SPDX-License-Identifier: Apache-2.0 */
/* Verilated libraries that tests load. */
#ifndef TESTS_SUPPORT_BENCH_SO_H
#define TESTS_SUPPORT_BENCH_SO_H

#include <dlfcn.h>
#include <stdio.h>

#include "tests/support/level.h"

/*
 * Loads the file of the build folder, which stays loaded, and calls its function `name`, which takes nothing. Returns
 * what that returns; NULL if the file is not built or cannot be loaded, after a line that says so.
 */
static inline const void *so_api(const char *file, const char *name)
{
	const void *(*get)(void) = NULL;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", test_env("WEFT_BUILD", "build"), file);
	void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (so)
		*(void **)&get = dlsym(so, name);
	if (!get) {
		printf("%s cannot be used (make sim): %s\n", path, dlerror());
		fflush(stdout);
	}
	return get ? get() : NULL;
}

/* Loads weft-NAME.so, the bench of a single block, and returns what its function weft_NAME_bench_api() gives; NULL as above. */
static inline const void *bench_api(const char *name)
{
	char file[64], function[64];

	snprintf(file, sizeof(file), "tests/cosim/rtl/weft-%s.so", name);
	snprintf(function, sizeof(function), "weft_%s_bench_api", name);
	return so_api(file, function);
}

#endif

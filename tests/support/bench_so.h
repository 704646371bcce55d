/* SPDX-License-Identifier: Apache-2.0 */
/* Verilated benches of single blocks, which tests load. */
#ifndef TESTS_SUPPORT_BENCH_SO_H
#define TESTS_SUPPORT_BENCH_SO_H

#include <dlfcn.h>
#include <stdio.h>

#include "tests/support/level.h"

/* Loads tests/cosim/rtl/weft-NAME.so of the build and returns what its function weft_NAME_bench_api() gives; NULL if it
 * is not built, after a line that says so. */
static inline const void *bench_api(const char *name)
{
	char path[512];
	const void *(*get)(void);

	snprintf(path, sizeof(path), "%s/tests/cosim/rtl/weft-%s.so", test_env("WEFT_BUILD", "build"), name);
	void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!so) {
		printf("%s is not built (make sim)\n", path);
		return NULL;
	}
	snprintf(path, sizeof(path), "weft_%s_bench_api", name);
	*(void **)&get = dlsym(so, path);
	return get ? get() : NULL;
}

#endif

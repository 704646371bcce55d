/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the Verilated chip. */
#ifndef WEFT_TESTS_RTL_CHIP_H
#define WEFT_TESTS_RTL_CHIP_H

#include <dlfcn.h>
#include <stdio.h>

#include "sim/card/chip.h"
#include "tests/support/level.h"

/* NULL, said on standard output: not built. The library stays loaded. */
static inline const struct weft_chip_ops *rtl_chip(const char *config)
{
	char path[512];
	const struct weft_chip_ops *(*get)(void);

	snprintf(path, sizeof(path), "%s/tests/card/rtl/weft-chip-%s.so", test_env("WEFT_BUILD", "build"), config);
	void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!so) {
		printf("%s: %s (make chip)\n", path, dlerror());
		fflush(stdout);
		return NULL;
	}
	*(void **)&get = dlsym(so, "weft_chip_api");
	return get ? get() : NULL;
}

#endif

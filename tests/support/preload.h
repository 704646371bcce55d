/* SPDX-License-Identifier: Apache-2.0 */
/* Foreign programs, such as Python, that load a library of this build. */
#ifndef WEFT_TESTS_PRELOAD_H
#define WEFT_TESTS_PRELOAD_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "level.h"

/*
 * For the first lines of main(). If this test is built with the address sanitizer, the programs that it starts load the
 * sanitizer's library first, because a library that is built with it does not run otherwise, and that of C++, whose
 * exceptions the sanitizer looks for when it starts. Leaks of these programs do not count. Returns 0; or, after printing a
 * line, 1 if the test was not linked with the sanitizer's shared library.
 */
static inline int preload_sanitizer(void)
{
	void *init = dlsym(RTLD_DEFAULT, "__asan_init");
	Dl_info in = { 0 };
	char libraries[512];

	if (!test_sanitized())
		return 0;
	if (!init || !dladdr(init, &in) || !strstr(in.dli_fname, ".so")) {
		fprintf(stderr, "no library of the sanitizer that another program could load\n");
		return 1;
	}
	snprintf(libraries, sizeof(libraries), "%s libstdc++.so.6", in.dli_fname);
	return setenv("LD_PRELOAD", libraries, 1) || setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What time it is, for programs here. */
#ifndef WEFT_TOOLS_CLOCK_H
#define WEFT_TOOLS_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t which)
{
	struct timespec t;

	clock_gettime(which, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static inline double now_seconds(void)
{
	return 1e-9 * (double)now_ns();
}

/** Processor time of the whole process. */
static inline double cpu_seconds(void)
{
	return 1e-9 * (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

#endif

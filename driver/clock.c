/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/clock.h"

#define S_NS UINT64_C(1000000000)

uint64_t weft_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * S_NS + (uint64_t)t.tv_nsec;
}

uint64_t weft_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * S_NS + (uint64_t)t.tv_nsec;
}

struct timespec weft_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / S_NS), .tv_nsec = (long)(ns % S_NS) };
}

struct timeval weft_timeval(uint64_t ns)
{
	return (struct timeval){ .tv_sec = (time_t)(ns / S_NS), .tv_usec = (suseconds_t)(ns % S_NS / 1000) };
}

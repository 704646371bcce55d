/* SPDX-License-Identifier: Apache-2.0 */
/* Times, in nanoseconds. Thread-safe. */
#ifndef WEFT_DRIVER_CLOCK_H
#define WEFT_DRIVER_CLOCK_H

#include <stdint.h>
#include <sys/time.h>
#include <time.h>

/** Time since some moment before the program began; it never goes back (CLOCK_MONOTONIC). */
uint64_t weft_now_ns(void);

/** Processor time that the calling thread has used. */
uint64_t weft_cpu_ns(void);

/** Returns the earlier of two times. */
static inline uint64_t weft_sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/** The same time as the system's calls take it. */
struct timespec weft_timespec(uint64_t ns);

/** The same, in whole microseconds; what is left over is dropped. */
struct timeval weft_timeval(uint64_t ns);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutations of a file's bytes, and a child process to try them in, so that a
 * crash, a hang or a memory hog is a failure with a number and not the end. The
 * bytes end at a page that cannot be read, so that reading on is a crash.
 */
#ifndef WEFT_TESTS_MUTATE_H
#define WEFT_TESTS_MUTATE_H

#include <stddef.h>
#include <stdint.h>

struct bytes { uint8_t *p; size_t n; };

/* Whole file; p is NULL where it cannot be read. */
struct bytes bytes_read(const char *path);

/* Mutation `seed` of a file, from malloc: truncation, bits, bytes, splices, lengths and offsets. */
struct bytes mutate(const struct bytes *from, uint64_t seed);

/*
 * What to do with a mutated file. Returns NULL or what is wrong with the
 * outcome (static text); *accepted says whether the file was taken.
 */
typedef const char *mutate_fn(const struct bytes *b, int *accepted);

struct mutate_result {
	long done, accepted;
	size_t peak_bytes;         /* most heap in use at once during one mutation; 0: not measured */
	double slowest_s;          /* of processor time */
	char wrong[256];           /* "" or the first failure: seed, and what */
};

/*
 * Try mutations first..first+n-1. A mutation may take limit_bytes of heap (0:
 * no limit) and limit_s seconds of processor time. Heap is counted where the program includes
 * tests/fuzz/heap.h, and not under sanitizers.
 */
void mutate_all(const struct bytes *from, uint64_t first, long n, mutate_fn *fn, size_t limit_bytes, int limit_s,
                struct mutate_result *r);

/* The heap's high-water mark since the last call with reset, above what was in use then. */
size_t heap_peak(int reset);

#endif

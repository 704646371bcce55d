/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of a network, loaded with one allocation after another failing (tests/support/fail_at.h). Each such load gives the same
 * graph as without a failure, or -ENOMEM and "out of memory" in one line; nothing stays allocated. Above all, the
 * importer must not take a graph that it had no memory to rewrite for one that it cannot rewrite.
 */
#ifndef WEFT_TESTS_SHORT_OF_MEMORY_H
#define WEFT_TESTS_SHORT_OF_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include <weft/weft.h>

/* Of all points of all files so far, one in `every` is tried, beginning with `at` modulo `every`; 1: all of them. */
struct short_of_memory {
	uint64_t every, at;
	long files, points, refused, same, wrong;
};

/*
 * Loads the file of n bytes with options o as it is, then at each point that is its turn: the k-th allocation fails, and
 * at every other point all later ones do too. A file that does not load as it is has no points. Prints what is wrong
 * with the file's name, and counts.
 */
void short_of_memory(struct short_of_memory *s, const void *file, size_t n, const char *name, const struct weft_load_options *o);

/* Prints the counts, and fails the test if something was wrong, or if fewer files than that loaded, or if no point failed. */
void short_of_memory_judge(const struct short_of_memory *s, long files);

#endif

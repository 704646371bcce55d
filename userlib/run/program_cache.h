/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled programs, kept in a folder that the caller names. An entry is named by a SHA-256 of all that a program
 * depends on: the network's graph, the options of the compiler, and the library, by the build ID that the linker gave
 * it. So another network, another option or another library never finds it. It holds that SHA-256 once more, then the
 * program as a bare container (compile/program.h), each section with its CRC.
 */
#ifndef WEFT_RUN_PROGRAM_CACHE_H
#define WEFT_RUN_PROGRAM_CACHE_H

#include <weft/weft.h>

#include "userlib/compile/program.h"

#define WEFT_CACHE_BYTES (UINT64_C(2) << 30)   /* that the files of a folder have together, at most */

/* A cache of programs: where it is, how large it may become, and what came of the last program. */
struct weft_program_cache {
	const char *folder;
	uint64_t most;             /* bytes of all files together */
	enum weft_cache_state state;
	char why[WEFT_MSG_LEN];    /* WEFT_CACHE_FAILED: one line; else "" */
};

/*
 * Takes the program of graph g with options o (NULL: defaults) from the cache, or compiles it (weft_compile()) and puts it there.
 * A damaged entry is as good as none, and is replaced. If the cache cannot be used, the program is compiled all the same.
 * c->state becomes WEFT_CACHE_HIT (taken from the cache), WEFT_CACHE_MADE (compiled and put there) or WEFT_CACHE_FAILED
 * (compiled; c->why says why it is not in the cache, and is "" otherwise). The program borrows g. Returns 0, or as
 * weft_compile(), and then c->state stays as it was.
 */
WEFT_MUST_USE int weft_program_cached(struct weft_program_cache *c, const weft_graph *g, const struct weft_compile_options *o,
                                      weft_program **p, char *msg);

#endif

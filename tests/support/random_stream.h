/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random legal command streams, without a compiler: unaligned bases, odd and
 * transposed strides, gaps, partial padding on every side, kept sums, runs of
 * one tap, alu commands of every function on operands that lie in any way, commands
 * of all units and modes side by side with no more waits than needed.
 * Every stream passes the verifier and brings all that it wrote back to memory.
 */
#ifndef WEFT_TESTS_RANDOM_STREAM_H
#define WEFT_TESTS_RANDOM_STREAM_H

#include <stdint.h>

#include <weft/gen/cmd.h>
#include <weft/gen/config.h>

#define RANDOM_STREAM_MODES 6

struct random_stream {
	uint64_t *words;
	size_t n_words, n_cmds;    /* END included */
	uint8_t *consts;           /* contents of window WEFT_WIN_CONST */
	uint64_t n_consts;
	uint64_t n_arena;          /* bytes of window WEFT_WIN_ARENA, zero before the run */
	unsigned count[256];       /* commands by opcode */
	/* Those of CV and VE by mode; that write raw sums; loads of int4; coded ones. */
	unsigned modes[RANDOM_STREAM_MODES];
};

/* The same seed gives the same stream. */
void random_stream_make(struct random_stream *s, uint64_t seed, const struct weft_config *cfg);
void random_stream_free(struct random_stream *s);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the stream reducer share: a part of a captured stream, and how it becomes a
 * stream of its own.
 */
#ifndef WEFT_RUN_REDUCE_STREAM_INTERNAL_H
#define WEFT_RUN_REDUCE_STREAM_INTERNAL_H

#include "driver/words.h"
#include "driver/model.h"
#include "userlib/run/internal.h"
#include <weft/reduce.h>
#include "weft/gen/cmd.h"

#define WEFT_PART_BLOCK 256u   /* bytes of a block of the scratchpad; blocks are loaded as a whole */

/* Where a command's results are: bytes lo..hi-1 of the scratchpad, or of the arena. */
struct weft_part_out { bool in_sp; uint64_t lo, hi; };

/* Commands of a step that are kept, with the memory of a correct run before the first of them. */
struct weft_part {
	const weft_program *p;
	const struct weft_step *step;
	const struct weft_config *cfg;
	const struct weft_cmd *cmds;       /* the step's commands, decoded */
	const bool *keep;          /* for each command: it is kept */
	uint32_t from, target;     /* kept commands lie in from..target; the target is the one that goes wrong */
	const uint8_t *sp, *arena; /* scratchpad and arena before command `from` */
	struct weft_part_out out;  /* where the target's results are */
};

/* The stream of a part, and the memory on which it runs. */
struct weft_part_stream {
	struct weft_words stream;
	uint32_t n_cmds, target;   /* number of commands, END included; the target's place among them */
	uint32_t loads, stores, kept;      /* how many commands were added in front and behind, and kept */
	uint8_t *consts, *arena;   /* the two windows' contents as the stream begins; owned */
	uint64_t n_consts, n_arena;        /* their bytes */
};

/**
 * Make the stream of a part in *s, with the memory on which it runs: loads of those blocks of the
 * scratchpad that the verifier finds to be read before anything writes them, the kept commands, stores
 * of the target's results, END.
 * @return 0 with *s to be freed (weft_part_release); or with *s empty -EINVAL: the verifier refuses the
 *         kept commands for another reason; -ENOMEM
 */
WEFT_MUST_USE int weft_part_build(const struct weft_part *k, struct weft_part_stream *s);
/** Free a part's stream and memory and make it empty. */
void weft_part_release(struct weft_part_stream *s);

/**
 * Write a part's stream as a program (.weft) of one NPU step whose debug map names what the target
 * makes.
 * @param[out] out  The program's *n bytes, from malloc; set on success only (*n is 0 otherwise).
 * @return 0 or a negative errno of weft_program_write(); -ENOMEM, for which msg (WEFT_MSG_LEN bytes)
 *         may have no line
 */
WEFT_MUST_USE int weft_part_program(const struct weft_part *k, const struct weft_part_stream *s, uint8_t **out, uint64_t *n, char *msg);

#endif

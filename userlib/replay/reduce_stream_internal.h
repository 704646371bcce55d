/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the stream reducer share: a part of a captured stream, made a
 * stream of its own.
 */
#ifndef WEFT_RUN_REDUCE_STREAM_INTERNAL_H
#define WEFT_RUN_REDUCE_STREAM_INTERNAL_H

#include "driver/words.h"
#include "driver/model.h"
#include "userlib/run/internal.h"
#include <weft/reduce.h>
#include "weft/gen/cmd.h"

#define WEFT_PART_BLOCK 256u   /* scratchpad bytes that are loaded or not */

/* Where a command's results are. */
struct weft_part_out { bool in_sp; uint64_t lo, hi; };

/* Commands of a step that are kept, with correct scratchpad and arena as they were before the first of them. */
struct weft_part {
	const weft_program *p;
	const struct weft_step *step;
	const struct weft_config *cfg;
	const struct weft_cmd *cmds;       /* of the step, decoded */
	const bool *keep;          /* by command */
	uint32_t from, target;     /* keep[] holds between these, target included */
	const uint8_t *sp, *arena;
	struct weft_part_out out;  /* of the target */
};

/* The stream of a part, and the memory that it wants. */
struct weft_part_stream {
	struct weft_words stream;
	uint32_t n_cmds, target;   /* END included; the target's index */
	uint32_t loads, stores, kept;
	uint8_t *consts, *arena;   /* as it begins */
	uint64_t n_consts, n_arena;
};

/** Loads exactly what the verifier misses. @return 0; -EINVAL: it is no stream by itself; -ENOMEM */
int weft_part_build(const struct weft_part *k, struct weft_part_stream *s);
void weft_part_release(struct weft_part_stream *s);

/** As a program whose debug map names what the target makes. @return 0, -ENOMEM */
int weft_part_program(const struct weft_part *k, const struct weft_part_stream *s, uint8_t **out, uint64_t *n, char *msg);

#endif

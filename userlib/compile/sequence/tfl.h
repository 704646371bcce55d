/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_COMPILE_TFL_H
#define WEFT_COMPILE_TFL_H

#include "sequence.h"

/* TensorFlow Lite's operators as integer operations with its bits. 1 matched, 0 not (reason set), or a negative errno */
WEFT_MUST_USE int match_tfl(struct cc *cc, int i);

/*
 * Leave SOFTMAX at the end of a network with products to the host, with what only converts its result:
 * the host reads that anyway, and computes a short one in less time than the commands take. Likewise a
 * long result of int64. 0 or -ENOMEM
 */
WEFT_MUST_USE int tfl_leave_ends(struct cc *cc);

/* match/match_move.c: TFL_RESIZE_BILINEAR, the same. */
WEFT_MUST_USE int match_tfl_resize(struct cc *cc, int i);

/* resize.c: TFL_RESIZE_BILINEAR of int8 to whole multiples, the same. */
WEFT_MUST_USE int match_tfl_resize_regular(struct cc *cc, int i);

/* requantize.c: TFL_REQUANTIZE, the same. */
WEFT_MUST_USE int match_tfl_requantize(struct cc *cc, int i);

/* Add 1/(1 + a) in Q0.31 of every row's, or every element's a, 0 to 2^31 - 1. */
struct nest_operand seq_reciprocal(struct sequence *q, struct nest_operand a, bool per_row);

#endif

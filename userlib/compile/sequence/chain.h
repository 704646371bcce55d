/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_COMPILE_CHAIN_H
#define WEFT_COMPILE_CHAIN_H

#include "sequence.h"

/*
 * Match RESCALE i together with the sums, products and RESCALEs of int32 in front of it that nothing else reads. This is done if there are
 * any and their results would have no room on chip. `last` is i, or a CLAMP behind it. *scale is the nest of RESCALE and CLAMP, whose operand a
 * is replaced. Returns 1 if the RESCALE was matched, 0 if not (no reason is set), or a negative errno.
 */
WEFT_MUST_USE int match_chain(struct cc *cc, int i, int last, const struct loop_nest *scale);

#endif

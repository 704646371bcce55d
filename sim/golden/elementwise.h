/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two inputs, one output, broadcasting. TOSA 1.0 section 4.4.6.
 *
 * Ranks are equal; in each dimension the inputs agree or one of them is 1.
 */
#ifndef WEFT_GOLDEN_ELEMENTWISE_H
#define WEFT_GOLDEN_ELEMENTWISE_H

#include "ops.h"

/* The output's shape is what the inputs broadcast to. */
int weft_check_broadcast(const struct weft_call *c);

/* A walk over the output; off[0] and off[1] follow the inputs. After the check. */
struct weft_walk weft_broadcast_walk(const struct weft_call *c);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* weft_golden_run with arguments written out. */
#ifndef WEFT_TESTS_GOLDEN_CALL_H
#define WEFT_TESTS_GOLDEN_CALL_H

#include "sim/golden/golden.h"

extern char golden_msg[WEFT_GOLDEN_MSG]; /* of the last call; "" after success */
extern bool golden_fast;                 /* false at first */

/* Inputs up to the first NULL; nothing is freed. */
int golden(weft_opcode op, const weft_attr *attr, weft_tensor *y,
           const weft_tensor *a, const weft_tensor *b, const weft_tensor *c);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* For every operator a call that golden takes, to be spoiled by tests. */
#ifndef WEFT_TESTS_VALID_CALL_H
#define WEFT_TESTS_VALID_CALL_H

#include "sim/golden/golden.h"

#define MOST_X 13              /* operands of TFL_LSTM */

struct call {
	weft_opcode op;
	weft_attr attr;
	int n_x, n_y;
	weft_tensor x[MOST_X], y, y1;   /* y1: the second output; without type, y again */
};

/* Shapes, types and attributes; no data. */
struct call valid_call(weft_opcode op);

#endif

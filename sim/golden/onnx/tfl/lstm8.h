/* SPDX-License-Identifier: Apache-2.0 */
/* The last operand of the host operator SequenceLSTM8: its numbers, int32, in this order. */
#ifndef WEFT_GOLDEN_ONNX_TFL_LSTM8_H
#define WEFT_GOLDEN_ONNX_TFL_LSTM8_H

#include <stdint.h>

/* A factor is a multiplier of 31 bits and the places by which 2^-31 times it is shifted to the left. */
struct lstm8 {
	int32_t x_zp, h_zp, hidden_zp;      /* zero points of input, state and result, and what is projected */
	int32_t cell_power;                 /* the cell state's scale is 2^cell_power */
	int32_t cell_clip, projection_clip; /* in steps; 0: none */
	int32_t guard[4];                   /* the variance that counts for one below 1, of gates i, f, g, o */
	int32_t input[4][2], state[4][2];   /* factors of both products, to the gate's scale */
	int32_t peephole[3][2];             /* of gates i, f, o */
	int32_t norm[4][2];                 /* of normalised gates, to Q3.12 less 12 bits */
	int32_t hidden[2], projection[2];
};

enum { LSTM8_NORM = 11, LSTM8_FACTORS = 17 };   /* from input on */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The last operand of the host operator StepLSTM8: its numbers, int32, in this order. */
#ifndef WEFT_GOLDEN_ONNX_TFL_LSTM_STEP8_H
#define WEFT_GOLDEN_ONNX_TFL_LSTM_STEP8_H

#include <stdint.h>

/* A factor is a multiplier of 31 bits and the places by which 2^-31 times it is shifted to the left. */
struct lstm_step8 {
	int32_t x_zp, y_zp;                 /* zero points of input and result */
	int32_t cell_clip, projection_clip; /* in steps; 0: none */
	int32_t product_zp[3];              /* zero points of the products of gates f, g, o */
	int32_t product[3][2], gate[3][2];  /* factors to a product's 8 bits, and from there to a gate's 16 */
	int32_t norm[3][2], projection[2];  /* factors of the coefficients, and of the projection */
};

enum { LSTM_STEP8_FACTORS = 10 };           /* from product on */

#endif

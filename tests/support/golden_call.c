/* SPDX-License-Identifier: Apache-2.0 */
#include "golden_call.h"

char golden_msg[WEFT_GOLDEN_MSG];
bool golden_fast;

int golden(weft_opcode op, const weft_attr *attr, weft_tensor *y,
           const weft_tensor *a, const weft_tensor *b, const weft_tensor *c)
{
	const weft_tensor *x[3] = { a, b, c };
	int n = c ? 3 : b ? 2 : 1;

	golden_msg[0] = '\0';
	return weft_golden_run(op, attr, x, n, &y, 1, golden_fast, golden_msg);
}

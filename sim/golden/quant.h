/* SPDX-License-Identifier: Apache-2.0 */
/* The rule for a scale and zero point that an extension operator is given. */
#ifndef WEFT_GOLDEN_QUANT_H
#define WEFT_GOLDEN_QUANT_H

#include "ops.h"

/* scale is finite and above 0, zero point within the type. */
int weft_check_quant(const struct weft_call *c, const char *what, float scale, int32_t zp, weft_dtype t);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What the conversions share beyond include/weft/convert.h. */
#ifndef WEFT_GOLDEN_FLOAT_CAST_H
#define WEFT_GOLDEN_FLOAT_CAST_H

#include <weft/convert.h>

/* Returns whether this is a row of TOSA 1.0's CAST table. */
bool weft_cast_tosa_row(weft_dtype from, weft_dtype to);

/* Write the message; returns -EINVAL. */
int weft_convert_fail(char *msg, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Known type, possible shape, data there. */
int weft_convert_check(const char *what, const weft_tensor *t, char *msg);

#endif

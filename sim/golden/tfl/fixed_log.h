/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_GOLDEN_FIXED_LOG_H
#define WEFT_GOLDEN_FIXED_LOG_H

#include "fixed_exp.h"

/* log(x) in Q5.26 for x >= 1 in Q12.19. */
int32_t weft_log_q12(int32_t x);

#endif

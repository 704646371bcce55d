/* SPDX-License-Identifier: Apache-2.0 */
/* The functional chip's core behind the same functions as the Verilated one's. */
#ifndef WEFT_TESTS_RV32_MODEL_H
#define WEFT_TESTS_RV32_MODEL_H

#include "sim/rtl/rv32/rv32.h"

/* decode is NULL; cycles are estimates. */
const struct weft_rv32_bench_api *rv32_model_api(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The golden model of one operator: the plainest correct C, which takes tensors and gives tensors
 * and knows no graph, no commands and no hardware. Thread-safe.
 */
#ifndef WEFT_GOLDEN_H
#define WEFT_GOLDEN_H

#include <stdbool.h>

#include <weft/api.h>
#include <weft/op.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_GOLDEN_MSG 160    /* bytes of a message buffer */

/**
 * Run one operator.
 *
 * Checks types, shapes and attributes first (TOSA's ERROR_IF and REQUIRE that
 * depend on them), then computes. A wrong shape of a result is an error, never an overrun.
 *
 * @param x, n_x  The n_x operands, with data.
 * @param y, n_y  The n_y results: the caller sets types, shapes, and data with room for them.
 * @param fast  true: use the fast implementations where there are any (they give the same bits);
 *              false: the plain loops throughout.
 * @param msg   WEFT_GOLDEN_MSG bytes; one line that names operator, argument and
 *              rule on failure; untouched on success.
 * @return 0; -EINVAL (a rule is broken); -ENOTSUP (the operator is not implemented for these types)
 */
WEFT_API int weft_golden_run(weft_opcode op, const weft_attr *attr,
                    const weft_tensor *const *x, int n_x,
                    weft_tensor *const *y, int n_y, bool fast, char msg WEFT_ROOM(WEFT_GOLDEN_MSG));

#ifdef __cplusplus
}
#endif
#endif

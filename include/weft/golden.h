/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The golden model of one operator: the plainest correct C, tensors in, tensors
 * out; no graph, no commands, no hardware. Thread-safe.
 */
#ifndef WEFT_GOLDEN_H
#define WEFT_GOLDEN_H

#include <stdbool.h>

#include <weft/api.h>
#include <weft/op.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_GOLDEN_MSG 160

/**
 * Run one operator.
 *
 * Checks types, shapes and attributes first (TOSA's ERROR_IF and REQUIRE that
 * depend on them), then computes. Caller allocates y[i].data for the shapes
 * that it states; a wrong stated shape is an error, never an overrun.
 *
 * @param fast  true: the fast twins where there are any (same bits);
 *              false: the plain loops throughout.
 * @param msg   WEFT_GOLDEN_MSG bytes; one line naming operator, argument and
 *              rule on failure; untouched on success.
 * @return 0, -EINVAL (rule broken), -ENOTSUP (row not implemented)
 */
WEFT_API int weft_golden_run(weft_opcode op, const weft_attr *attr,
                    const weft_tensor *const *x, int n_x,
                    weft_tensor *const *y, int n_y, bool fast, char msg WEFT_ROOM(WEFT_GOLDEN_MSG));

#ifdef __cplusplus
}
#endif
#endif

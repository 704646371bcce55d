/* SPDX-License-Identifier: Apache-2.0 */
/* TFL_CUSTOM: what importers and the graph need of it besides its run. */
#ifndef WEFT_GOLDEN_TFL_CUSTOM_H
#define WEFT_GOLDEN_TFL_CUSTOM_H

#include <weft/custom.h>
#include <weft/op.h>

/* The operands of TFL_CUSTOM in front of the operator's own ones. */
enum { WEFT_CUSTOM_NAME, WEFT_CUSTOM_OPTIONS, WEFT_CUSTOM_OWN };

/**
 * Returns the operator of that name in a table (NULL: an empty one), or NULL if there is none.
 */
const struct weft_custom_op *weft_custom_find(const struct weft_custom_table *t, const char *name);

/**
 * Ask the functions of a custom operator, attr->of, for the shapes of its results.
 *
 * @param attr  The operator's attributes.
 * @param x     All n_x operands of TFL_CUSTOM, the first two with data.
 * @param[in,out] y  n_y results, whose types and shapes are those of the file; as uint8 if unsigned_out says so.
 * @param msg   n_msg bytes: one line on failure.
 * @return 0; -EINVAL (rank, type or a dimension below 1); or what the function returned, -EINVAL for a positive number
 */
int weft_custom_shapes(const struct weft_attr_tfl_custom *attr, const weft_tensor *const *x, int n_x, weft_tensor *y, int n_y,
                       char *msg, size_t n_msg);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What the caller of an importer says of the file's inputs: a value, or a shape that the file leaves open. */
#ifndef WEFT_IMPORT_BOUND_H
#define WEFT_IMPORT_BOUND_H

#include <stdbool.h>
#include <stddef.h>

#include <weft/tensor.h>

/*
 * What is said of one input. If value has data, the input becomes a constant with these elements.
 * If not, only value's dimensions count: they are the input's shape, or, if there is one dimension
 * and the input has another rank, that number is the length of the input's only open dimension.
 */
struct weft_import_bound {
	const char *name;          /* the input's name in the file */
	const weft_tensor *value;  /* its type has to be the file's; importers copy the data */
};

/*
 * Returns the first of the n entries b whose name equals the name_len bytes at name, or NULL if there is
 * none.
 */
const struct weft_import_bound *weft_bound_find(const struct weft_import_bound *b, int n, const char *name, size_t name_len);

/*
 * Sets the open dimensions of t to what the caller has given, and checks that the others are the
 * same.
 *
 * @param given  The dimensions: all of t's, or, if given has one dimension and t another rank, the
 *               length of t's only open dimension. Each is at least 1 (at least 0 if given has
 *               data) and at most INT32_MAX.
 * @param open   Bit i is set if the file leaves dimension i of t open.
 * @param t      The input's type and the file's shape; its dimensions are changed, and may be
 *               changed in part after a failure.
 * @param why    len bytes; receives one line after a failure, without the input's name.
 *
 * @return 0, or -EINVAL if a given dimension is out of range, the ranks differ, one number is given
 *         and not exactly one dimension is open, a dimension that is not open differs, or t would
 *         have more than INT32_MAX elements (a dimension of 0 counts as 1)
 */
WEFT_MUST_USE int weft_bound_shape(const weft_tensor *given, unsigned open, weft_tensor *t, char *why, size_t len);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What the caller says of inputs whose shape a file leaves open. */
#ifndef WEFT_IMPORT_BOUND_H
#define WEFT_IMPORT_BOUND_H

#include <stdbool.h>
#include <stddef.h>

#include <weft/tensor.h>

/*
 * An input that becomes a constant, such as a shape; without data: its shape where
 * the file leaves it open, or as a list of one number its one open extent.
 */
struct weft_import_bound {
	const char *name;
	const weft_tensor *value;  /* type as the file says; copied */
};

/* NULL: nothing is said of it. */
const struct weft_import_bound *weft_bound_find(const struct weft_import_bound *b, int n, const char *name, size_t name_len);

/*
 * t's shape as given (without data); open: bits of the extents that may be chosen.
 *
 * @return 0, or -EINVAL with one line in why, which begins with what is wrong
 */
int weft_bound_shape(const weft_tensor *given, unsigned open, weft_tensor *t, char *why, size_t len);

#endif

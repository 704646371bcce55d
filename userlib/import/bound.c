/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what the caller says of an input, and completes a shape from it. */
#include "bound.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * Returns the first of the n entries b whose name equals the name_len bytes at name, or NULL if
 * there is none.
 */
const struct weft_import_bound *weft_bound_find(const struct weft_import_bound *b, int n, const char *name, size_t name_len)
{
	for (int i = 0; i < n; i++)
		if (strlen(b[i].name) == name_len && !memcmp(b[i].name, name, name_len))
			return &b[i];
	return NULL;
}

/*
 * Sets the only open dimension of t to v; bit i of open says that dimension i is open. Returns 0,
 * or -EINVAL with the reason in why (len bytes) if no dimension or more than one is open; t is then
 * unchanged.
 */
static int one_extent(int64_t v, unsigned open, weft_tensor *t, char *why, size_t len)
{
	int n = 0;

	for (int i = 0; i < t->rank; i++)
		n += open >> i & 1;
	if (n != 1) {
		snprintf(why, len, "%d of its %d dimensions are open; one number says only one", n, t->rank);
		return -EINVAL;
	}
	for (int i = 0; i < t->rank; i++)
		if (open >> i & 1)
			t->dim[i] = v;
	return 0;
}

/*
 * Checks that t has at most INT32_MAX elements, where a dimension of 0 counts as 1. Returns 0, or
 * -EINVAL with the reason in why (len bytes).
 */
static int check_size(const weft_tensor *t, char *why, size_t len)
{
	int64_t n = 1;

	for (int i = 0; i < t->rank; i++) {
		if (t->dim[i] > INT32_MAX / n) {
			snprintf(why, len, "more than %d elements", INT32_MAX);
			return -EINVAL;
		}
		n *= t->dim[i] > 1 ? t->dim[i] : 1;
	}
	return 0;
}

int weft_bound_shape(const weft_tensor *given, unsigned open, weft_tensor *t, char *why, size_t len)
{
	for (int i = 0; i < given->rank; i++) {
		const int least = given->data ? 0 : 1;   /* a value may have no elements */

		if (given->dim[i] < least || given->dim[i] > INT32_MAX) {
			snprintf(why, len, "%lld is no extent; %d to %d", (long long)given->dim[i], least, INT32_MAX);
			return -EINVAL;
		}
	}
	if (given->rank == 1 && t->rank != 1)
		return one_extent(given->dim[0], open, t, why, len) ? -EINVAL : check_size(t, why, len);
	if (given->rank != t->rank) {
		snprintf(why, len, "its rank is %d, not %d", t->rank, given->rank);
		return -EINVAL;
	}
	for (int i = 0; i < t->rank; i++) {
		if (!(open >> i & 1) && given->dim[i] != t->dim[i]) {
			snprintf(why, len, "dimension %d is %lld in the file, not %lld", i, (long long)t->dim[i], (long long)given->dim[i]);
			return -EINVAL;
		}
		t->dim[i] = given->dim[i];
	}
	return check_size(t, why, len);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set of bytes as sorted, disjoint, non-touching ranges [from, to).
 */
#ifndef WEFT_DRIVER_RANGES_H
#define WEFT_DRIVER_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/api.h>

struct weft_range { uint64_t from, to; };

/* Zeroed: empty. */
struct weft_ranges {
	struct weft_range *r;
	size_t n, cap;
};

/** @return 0, -ENOMEM (unchanged) */
WEFT_MUST_USE int weft_ranges_add(struct weft_ranges *s, uint64_t from, uint64_t to);
WEFT_MUST_USE int weft_ranges_remove(struct weft_ranges *s, uint64_t from, uint64_t to);

/** The first part of the set inside [from, to); false: none. */
WEFT_MUST_USE bool weft_ranges_first(const struct weft_ranges *s, uint64_t from, uint64_t to, struct weft_range *part);

/** Empty and without memory. */
void weft_ranges_clear(struct weft_ranges *s);

#endif

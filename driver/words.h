/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command stream under construction.
 */
#ifndef WEFT_DRIVER_WORDS_H
#define WEFT_DRIVER_WORDS_H

#include <weft/gen/cmd.h>

/* Zeroed: empty. words is the owner's to free(). */
struct weft_words {
	uint64_t *words;
	size_t n, cap;
};

/** Append a command. @return 0, -ENOMEM (nothing appended) */
WEFT_MUST_USE int weft_words_add(struct weft_words *s, const struct weft_cmd *c);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/words.h"

#include <errno.h>
#include <stdlib.h>

int weft_words_add(struct weft_words *s, const struct weft_cmd *c)
{
	if (s->n + WEFT_CMD_MAX_WORDS > s->cap) {
		size_t cap = 2 * s->cap + 1024;
		uint64_t *w = realloc(s->words, cap * sizeof(*w));
		if (!w)
			return -ENOMEM;
		s->words = w;
		s->cap = cap;
	}
	s->n += weft_cmd_encode(c, s->words + s->n);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Short command streams made by hand, for tests of what happens around a job. */
#ifndef WEFT_TESTS_CARD_STREAM_H
#define WEFT_TESTS_CARD_STREAM_H

#include <stdbool.h>
#include <string.h>

#include <weft/gen/cmd.h>

struct card_stream {
	uint64_t words[512];
	size_t n;
};

static inline void stream_put(struct card_stream *s, const struct weft_cmd *c)
{
	weft_cmd_encode(c, s->words + s->n);
	s->n += (size_t)c->h.n_words;
}

static inline void stream_end(struct card_stream *s)
{
	struct weft_cmd c;

	weft_cmd_init(&c, WEFT_CMD_END);
	stream_put(s, &c);
}

/* One row between scratchpad address 0 and a window. */
static inline void stream_row(struct card_stream *s, bool store, int window, int64_t off, int bytes)
{
	struct weft_cmd c;

	weft_cmd_init(&c, store ? WEFT_CMD_STORE : WEFT_CMD_LOAD);
	c.load.window = window;
	c.load.dram_off = off;
	c.load.row_bytes = bytes;
	if (store) /* behind all loads so far */
		for (size_t at = 0; at < s->n;) {
			struct weft_cmd d;
			weft_cmd_decode(s->words + at, s->n - at, &d);
			at += (size_t)d.h.n_words;
			c.h.wait[WEFT_UNIT_LD] += d.h.op == WEFT_CMD_LOAD;
		}
	stream_put(s, &c);
}

/* Copy bytes from one window to another. */
static inline void stream_copy(struct card_stream *s, int from, int64_t from_off, int to, int64_t to_off, int bytes)
{
	memset(s, 0, sizeof(*s));
	stream_row(s, false, from, from_off, bytes);
	stream_row(s, true, to, to_off, bytes);
	stream_end(s);
}

#endif

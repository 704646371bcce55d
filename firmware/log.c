/* SPDX-License-Identifier: Apache-2.0 */
/* The log: a ring in RAM that outlives resets, but not power. */
#include "fw.h"

#define ENTRIES 128
#define MAGIC   0x474f4c57u

struct ring {
	uint32_t magic, next;
	struct weft_msg_log_entry entry[ENTRIES];
};

_Static_assert(sizeof(struct ring) <= RAM_LOG_BYTES, "log");

#define RING ((struct ring *)RAM_LOG)

void log_init(bool keep)
{
	if (keep && RING->magic == MAGIC)
		return;
	RING->magic = MAGIC;
	RING->next = 0;
}

void log_add(enum weft_log code, uint32_t a, uint32_t b)
{
	struct weft_msg_log_entry *e = &RING->entry[RING->next % ENTRIES];

	e->index = RING->next++;
	e->time = (uint32_t)(time_now() >> 10);
	e->code = code;
	e->a = a;
	e->b = b;
}

uint32_t log_next(void)
{
	return RING->next;
}

void log_reply(uint32_t index)
{
	uint32_t next = RING->next, oldest = next > ENTRIES ? next - ENTRIES : 0;

	if (index < oldest)
		index = oldest;
	reply_begin(WEFT_MSG_LOG_READ, WEFT_MSG_ERR_OK);
	reply_put(next);
	for (uint32_t n = 0; n < WEFT_MSG_LOG_MAX && index < next; n++, index++) {
		const struct weft_msg_log_entry *e = &RING->entry[index % ENTRIES];

		reply_put(e->index);
		reply_put(e->time);
		reply_put(e->code);
		reply_put(e->a);
		reply_put(e->b);
	}
	reply_send(msg_seq());
}

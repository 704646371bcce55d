/* SPDX-License-Identifier: Apache-2.0 */
#include "link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "broker.h"
#include "include/le.h"

/* Beyond so many frames or bytes that a client has not taken yet, nothing more is taken from it. */
#define OUT_FRAMES 64
#define OUT_BYTES (2u << 20)

struct link_out {
	struct link_out *next;
	size_t len, at;
	uint8_t bytes[];
};

/* Returns the CRC-32 of n bytes. */
static uint32_t crc(const uint8_t *p, size_t n)
{
	return (uint32_t)crc32(0, p, (uInt)n);
}

/* ---- to the client ---- */

/* Frees all frames that wait to go to the client. */
static void drop_out(struct link *l)
{
	while (l->first) {
		struct link_out *o = l->first;
		l->first = o->next;
		free(o);
	}
	l->last = &l->first;
	l->n_out = 0;
	l->out_bytes = 0;
}

int link_send(struct client *c, unsigned epoch, uint8_t type, uint16_t seq, uint32_t addr, const void *body, uint32_t len)
{
	struct link *l = &c->link;
	const bool bare = type == WEFT_FRAME_ACK;
	const size_t n = WEFT_FRAME_HEADER_BYTES + (bare ? 0 : len + 4u);

	if (epoch != l->epoch || l->error)
		return 0;
	struct link_out *o = malloc(sizeof(*o) + n);
	if (!o) {
		l->error = true;
		return -ENOMEM;
	}
	*o = (struct link_out){ .len = n };
	uint8_t *p = o->bytes;
	p[0] = WEFT_FRAME_MAGIC;
	p[1] = type;
	p[2] = (uint8_t)seq;
	p[3] = (uint8_t)(seq >> 8);
	put32(p + 4, addr);
	put32(p + 8, bare ? 0 : len);
	put32(p + 12, crc(p, 12));
	if (!bare) {
		memcpy(p + WEFT_FRAME_HEADER_BYTES, body, len);
		put32(p + WEFT_FRAME_HEADER_BYTES + len, crc(body, len));
	}
	*l->last = o;
	l->last = &o->next;
	l->n_out++;
	l->out_bytes += n;
	c->stirred = true;
	broker_stir(c->b);
	return 0;
}

void link_break(struct client *c)
{
	link_send(c, c->link.epoch, WEFT_FRAME_ACK, 0, WEFT_FRAME_STATUS_RESYNC, NULL, 0);
	c->link.error = true;
}

/*
 * A chip's `get`: hands up to len bytes of the first frame to the client to `data`; *end says whether they end
 * that frame. Returns how many.
 */
static size_t link_get(void *chip, uint8_t *data, size_t len, bool *end)
{
	struct client *c = chip;
	struct link *l = &c->link;
	size_t n = 0;

	*end = false;
	pthread_mutex_lock(&c->b->lock);
	struct link_out *o = l->first;
	if (o) {
		n = len < o->len - o->at ? len : o->len - o->at;
		memcpy(data, o->bytes + o->at, n);
		o->at += n;
		l->out_bytes -= n;
		*end = o->at == o->len;
	}
	if (*end) {
		l->first = o->next;
		if (!l->first)
			l->last = &l->first;
		l->n_out--;
		free(o);
	}
	pthread_mutex_unlock(&c->b->lock);
	return n;
}

/* ---- from the client ---- */

/* Returns the bytes that follow the header that is there, its body and checksum: none for a READ. */
static uint32_t body_bytes(const struct link *l)
{
	return l->head[1] == WEFT_FRAME_READ ? 0 : get32(l->head + 8) + 4;
}

struct frame link_frame(const struct client *c)
{
	const uint8_t *h = c->link.head;

	return (struct frame){ .type = h[1], .seq = (uint16_t)(h[2] | h[3] << 8), .addr = get32(h + 4), .len = get32(h + 8),
		.body = c->link.body, .epoch = c->link.epoch };
}

/* Answers the frame whose header is there with an ACK of that status; RESYNC has sequence number 0. */
static void ack(struct client *c, enum weft_frame_status status)
{
	const struct frame f = link_frame(c);

	link_send(c, f.epoch, WEFT_FRAME_ACK, status == WEFT_FRAME_STATUS_RESYNC ? 0 : f.seq, status, NULL, 0);
}

/* Hands the frame that is complete to the client's worker. */
static void hand_over(struct client *c)
{
	c->op = OP_WAITS;
	worker_wake(c->w);
}

/*
 * Looks at a header that is complete. A wrong magic or checksum, and a wrong type or length but for a READ, put
 * the link into its error state; a READ with a wrong length is answered with INVALID alone. Otherwise a READ is
 * handed over, and others get memory for their bodies.
 */
static void on_head(struct client *c)
{
	struct link *l = &c->link;
	const struct frame f = link_frame(c);
	const bool msg = f.type == WEFT_FRAME_MSG, sized = f.type == WEFT_FRAME_WRITE || f.type == WEFT_FRAME_READ;
	const bool fits = msg ? f.len >= WEFT_FRAME_MSG_MIN && f.len <= WEFT_FRAME_MSG_MAX && f.len % 4 == 0
	                      : f.len >= 1 && f.len <= WEFT_FRAME_WRITE_MAX;

	if (l->head[0] != WEFT_FRAME_MAGIC || get32(l->head + 12) != crc(l->head, 12)) {
		ack(c, WEFT_FRAME_STATUS_RESYNC);
		l->error = true;
	} else if (!(msg || sized) || !fits) {
		ack(c, WEFT_FRAME_STATUS_INVALID);
		l->error = f.type != WEFT_FRAME_READ;
		l->at = 0;
	} else if (f.type == WEFT_FRAME_READ) {
		hand_over(c);
	} else if (!(l->body = malloc((size_t)f.len + 4))) {
		link_break(c);
	}
}

/*
 * Looks at a body that is complete: hands the frame over if the checksum is right, else answers with status CRC
 * and drops it.
 */
static void on_body(struct client *c)
{
	struct link *l = &c->link;
	const uint32_t len = body_bytes(l) - 4;

	if (get32(l->body + len) == crc(l->body, len)) {
		hand_over(c);
		return;
	}
	ack(c, WEFT_FRAME_STATUS_CRC);
	free(l->body);
	l->body = NULL;
	l->at = 0;
}

/*
 * Takes up to len bytes into the frame that is coming in, but none beyond its header or its end. Returns how
 * many.
 */
static size_t take(struct client *c, const uint8_t *data, size_t len)
{
	struct link *l = &c->link;
	const bool in_head = l->at < WEFT_FRAME_HEADER_BYTES;
	const uint32_t all = WEFT_FRAME_HEADER_BYTES + (in_head ? 0 : body_bytes(l));
	const size_t n = len < all - l->at ? len : all - l->at;

	memcpy(in_head ? l->head + l->at : l->body + (l->at - WEFT_FRAME_HEADER_BYTES), data, n);
	l->at += (uint32_t)n;
	if (l->at < all)
		return n;
	if (in_head)
		on_head(c);
	else
		on_body(c);
	return n;
}

/*
 * A chip's `put`: takes bytes from the client until a frame waits for the worker, the client has taken too few
 * of its answers, or its chip is being reset. In the error state all bytes are thrown away. Returns how many
 * were taken.
 */
static size_t link_put(void *chip, const uint8_t *data, size_t len)
{
	struct client *c = chip;
	struct link *l = &c->link;
	size_t n = 0;

	pthread_mutex_lock(&c->b->lock);
	while (n < len && !l->error && c->op == OP_NONE && !c->reset && l->n_out < OUT_FRAMES && l->out_bytes < OUT_BYTES)
		n += take(c, data + n, len - n);
	if (l->error)
		n = len;
	pthread_mutex_unlock(&c->b->lock);
	return n;
}

/* ---- resets ---- */

/*
 * Resets the link: what came in and what was to go out is dropped, and the error state ends. A frame that the
 * worker is answering just now stays until it has, and that answer is not sent.
 */
static void begin_anew(struct client *c)
{
	struct link *l = &c->link;

	l->epoch++;
	l->error = false;
	drop_out(l);
	if (c->op == OP_TAKEN)
		return;
	c->op = OP_NONE;
	l->at = 0;
	free(l->body);
	l->body = NULL;
}

/* A chip's `link_reset`. */
static void link_link_reset(void *chip)
{
	struct client *c = chip;

	pthread_mutex_lock(&c->b->lock);
	begin_anew(c);
	pthread_mutex_unlock(&c->b->lock);
}

/*
 * A chip's `reset`: resets the link, and has the worker reset what is behind it; `asked` notes whether the host
 * wanted it.
 */
static void link_chip_reset(void *chip, enum weft_chip_cause cause)
{
	struct client *c = chip;

	pthread_mutex_lock(&c->b->lock);
	begin_anew(c);
	c->reset = true;
	c->asked = cause == WEFT_CHIP_CAUSE_HOST;
	worker_wake(c->w);
	pthread_mutex_unlock(&c->b->lock);
}

/* A chip's `run`: this one does nothing with time, so it returns false. */
static bool link_run(void *chip, uint64_t cycles)
{
	(void)chip;
	(void)cycles;
	return false;
}

/* A chip's `status`: the bits of WEFT_USB_STATUS_... as a real link would give them. */
static uint32_t link_status(void *chip)
{
	struct client *c = chip;

	pthread_mutex_lock(&c->b->lock);
	uint32_t s = (c->link.error ? WEFT_USB_STATUS_LINK_ERROR : 0) | (c->op ? WEFT_USB_STATUS_RX_FULL : 0) |
	             (c->link.first ? WEFT_USB_STATUS_IN_PENDING : 0) | WEFT_USB_STATUS_CORE_IDLE;
	pthread_mutex_unlock(&c->b->lock);
	return s;
}

const struct weft_chip_ops link_ops = {
	.version = WEFT_CHIP_API_VERSION,
	.name = "broker",
	.put = link_put,
	.get = link_get,
	.run = link_run,
	.link_reset = link_link_reset,
	.reset = link_chip_reset,
	.status = link_status,
};

void link_open(struct client *c)
{
	c->link.last = &c->link.first;
}

void link_close(struct client *c)
{
	drop_out(&c->link);
	free(c->link.body);
	c->link.body = NULL;
}

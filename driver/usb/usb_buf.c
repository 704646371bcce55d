/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers in card memory. The host keeps a shadow of each; sets of ranges say
 * where the host's copy is newer (dirty), where the card's is (stale), and where
 * nobody knows what the card has (vague). Nothing goes over the wire before
 * somebody needs it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/sys.h"
#include "usb_card.h"

/* A WRITE of a part of a buffer or stream for a job. */
struct upload {
	struct weft_req r;         /* first */
	struct card *c;
	struct card_job *j;
	struct card_buf *b;        /* or */
	struct card_stream *s;
	uint64_t off;
};

/* ---- memory ---- */

static uint64_t round_up(uint64_t n)
{
	return (n + CARD_ALIGN - 1) / CARD_ALIGN * CARD_ALIGN;
}

int weft_card_alloc(struct card *c, uint64_t len, uint64_t *addr)
{
	len = round_up(len ? len : 1);
	for (size_t i = 0; i < c->heap.n; i++) {
		struct weft_range r = c->heap.r[i];
		if (r.to - r.from >= len) {
			*addr = r.from;
			if (r.from + len > c->used_end)
				c->used_end = r.from + len;
			return weft_ranges_remove(&c->heap, r.from, r.from + len);
		}
	}
	return -ENOSPC;
}

void weft_card_free(struct card *c, uint64_t addr, uint64_t len)
{
	/* Without memory for the bookkeeping the bytes stay unused: the caller is done with them either way. */
	const int err = weft_ranges_add(&c->heap, addr, addr + round_up(len ? len : 1));

	(void)err;
}

int weft_card_buf_new(void *state, uint8_t *shadow, uint64_t len, void **buf, char *msg)
{
	struct card *c = state;
	struct card_buf *b = calloc(1, sizeof(*b));
	int err = b ? weft_ranges_add(&b->dirty, 0, len) : -ENOMEM;

	if (!err)
		err = weft_card_alloc(c, len, &b->addr);
	if (err) {
		if (b)
			weft_ranges_clear(&b->dirty);
		free(b);
		if (err == -ENOSPC)
			snprintf(msg, WEFT_DEV_MSG, "usb: no %llu bytes of card memory are free (the card has %llu)",
			         (unsigned long long)len, (unsigned long long)(c->hello.host_limit - c->hello.host_base));
		return -ENOMEM;
	}
	b->shadow = shadow;
	b->len = len;
	b->next = c->bufs;
	c->bufs = b;
	*buf = b;
	return 0;
}

static void destroy(struct card *c, struct card_buf *b)
{
	struct card_buf **p = &c->bufs;

	while (*p != b)
		p = &(*p)->next;
	*p = b->next;
	weft_card_free(c, b->addr, b->len);
	weft_ranges_clear(&b->dirty);
	weft_ranges_clear(&b->stale);
	weft_ranges_clear(&b->vague);
	free(b);
}

void weft_card_buf_free(void *state, void *buf)
{
	struct card_buf *b = buf;

	/* The card may still write there for a job that was given up. */
	b->shadow = NULL;
	if (!b->n_jobs)
		destroy(state, b);
}

void weft_card_buf_unref(struct card *c, struct card_buf *b)
{
	if (!--b->n_jobs && !b->shadow)
		destroy(c, b);
}

/* ---- the host's side ---- */

struct settling { struct card *c; const struct card_buf *b; };

static bool is_settled(void *user)
{
	const struct settling *s = user;

	return !s->b->n_jobs || !weft_card_any_forgotten(s->c, s->b);
}

/* Jobs that were forgotten hold their buffers until the card has ended them. */
static int settle(struct card *c, const struct card_buf *b, char *msg)
{
	struct settling s = { c, b };

	if (weft_card_until(c, is_settled, &s, weft_policy_call_until(&c->policy, 0)))
		return 0;
	snprintf(msg, WEFT_DEV_MSG, "usb: the card does not end a forgotten job that uses the buffer");
	return -ETIMEDOUT;
}

int weft_card_buf_write(void *state, void *buf, uint64_t off, uint64_t len, char *msg)
{
	struct card_buf *b = buf;
	int err = settle(state, b, msg);

	if (err)
		return err;
	if (b->n_jobs) {
		snprintf(msg, WEFT_DEV_MSG, "usb: buffer belongs to a job that was not waited for");
		return -EBUSY;
	}
	err = weft_ranges_add(&b->dirty, off, off + len);
	if (!err)
		err = weft_ranges_remove(&b->stale, off, off + len);
	if (!err)
		err = weft_ranges_remove(&b->vague, off, off + len);
	if (!err && !b->stale.n)
		b->lost = false;
	return err;
}

int weft_card_buf_discard(void *state, void *buf, char *msg)
{
	struct card_buf *b = buf;
	int err = settle(state, b, msg);

	if (err || b->n_jobs)
		return err ? err : -EBUSY;
	err = weft_ranges_add(&b->vague, 0, b->len);
	if (err)
		return err;
	b->dirty.n = b->stale.n = 0;
	b->lost = false;
	return 0;
}

int weft_card_buf_doubt(void *state, void *buf, char *msg)
{
	struct card_buf *b = buf;
	int err = settle(state, b, msg);

	if (err || b->n_jobs)
		return err ? err : -EBUSY;
	err = weft_ranges_add(&b->stale, 0, b->len);
	/* What was not sent is nowhere else. */
	for (size_t i = 0; i < b->dirty.n && !err; i++)
		err = weft_ranges_remove(&b->stale, b->dirty.r[i].from, b->dirty.r[i].to);
	return err;
}

/* READs of one weft_card_buf_read(). */
struct fetch {
	struct weft_req r;         /* first */
	struct fetches *all;
};
struct fetches { int n_pending, err; struct card *c; };

static void fetched(struct weft_req *r)
{
	struct fetches *all = ((struct fetch *)r)->all;

	all->n_pending--;
	all->c->n_done += !r->status;
	if (r->status && !all->err)
		all->err = r->status;
	free(r);
}

static bool is_fetched(void *user)
{
	const struct fetches *all = user;

	return !all->n_pending || all->err;
}

/* Take back what this call still has under way: its memory goes out of sight. */
static void fetch_drop(struct fetches *all)
{
	struct weft_link *l = &all->c->link;
	struct weft_req *next;

	for (struct weft_req *r = l->first; r; r = next) {
		next = r->next;
		if (r->done == fetched && ((struct fetch *)r)->all == all) {
			weft_link_drop(l, r);
			free(r);
		}
	}
}

static int fetch_range(struct card *c, struct card_buf *b, uint64_t from, uint64_t to, struct fetches *all)
{
	for (; from < to; from += LINK_CHUNK) {
		struct fetch *f = calloc(1, sizeof(*f));
		if (!f)
			return -ENOMEM;
		f->all = all;
		f->r.type = WEFT_FRAME_READ;
		f->r.addr = (uint32_t)(b->addr + from);
		f->r.len = (uint32_t)(to - from < LINK_CHUNK ? to - from : LINK_CHUNK);
		f->r.in = b->shadow + from;
		f->r.done = fetched;
		all->n_pending++;
		weft_link_queue(&c->link, &f->r);
	}
	return 0;
}

/* One range from the card into the shadow. */
static int fetch(struct card *c, struct card_buf *b, const struct weft_range *part, uint64_t until_ns, char *msg)
{
	struct fetches all = { .c = c };
	int err = weft_card_wake(c, msg);

	if (err)
		return err;
	err = fetch_range(c, b, part->from, part->to, &all);
	if (!err && !weft_card_until(c, is_fetched, &all, until_ns))
		err = -ETIMEDOUT;
	fetch_drop(&all);
	err = err ? err : all.err;
	if (err == -ECONNRESET)
		snprintf(msg, WEFT_DEV_MSG, "usb: the card was reset; what jobs left in the buffer is gone");
	else if (err)
		snprintf(msg, WEFT_DEV_MSG, "usb: reading card memory at 0x%llx failed: %s%s%.150s",
		         (unsigned long long)(b->addr + part->from), weft_sys_error(err), weft_card_out(c) ? "; " : "",
		         weft_card_out(c) ? c->why : "");
	return err;
}

int weft_card_buf_read(void *state, void *buf, uint64_t off, uint64_t len, char *msg)
{
	struct card *c = state;
	struct card_buf *b = buf;
	const uint64_t until = weft_policy_call_until(&c->policy, len);
	struct weft_range part;
	int err = settle(c, b, msg);

	if (!err && b->n_writers) {
		snprintf(msg, WEFT_DEV_MSG, "usb: buffer belongs to a job that was not waited for");
		err = -EBUSY;
	}
	while (!err) {
		bool stale = weft_ranges_first(&b->stale, off, off + len, &part);
		if (!stale && !weft_ranges_first(&b->vague, off, off + len, &part))
			break;
		if (stale && b->lost) {
			snprintf(msg, WEFT_DEV_MSG, "usb: the card was reset; what jobs left in the buffer is gone");
			return -ECONNRESET;
		}
		err = fetch(c, b, &part, until, msg);
		if (!err)
			err = weft_ranges_remove(&b->stale, part.from, part.to);
		if (!err)
			err = weft_ranges_remove(&b->vague, part.from, part.to);
	}
	return err;
}

void weft_card_bufs_lost(struct card *c)
{
	for (struct card_buf *b = c->bufs; b; b = b->next) {
		b->lost = b->lost || b->stale.n;
		/* On failure too little would be sent: then nothing of it is valid. */
		if (weft_ranges_add(&b->dirty, 0, b->len))
			b->lost = true;
		for (size_t i = 0; i < b->stale.n; i++)
			if (weft_ranges_remove(&b->dirty, b->stale.r[i].from, b->stale.r[i].to))
				b->lost = true;
		b->vague.n = 0;            /* the host's copy is sent there, too */
	}
	for (int i = 0; i < CARD_STREAMS; i++)
		c->streams[i].there = false;
}

/* ---- to the card ---- */

static void redo(struct upload *u)
{
	if (u->s)
		u->s->there = false;
	else if (weft_ranges_add(&u->b->dirty, u->off, u->off + u->r.len))
		u->b->lost = true;
}

/* A WRITE is no longer on its way. */
static void over(struct upload *u, int status)
{
	u->j->n_pending--;
	if (u->s)
		u->s->n_uploads--;
	else
		u->b->n_uploads--;
	if (status)
		redo(u);
	free(u);
}

static void uploaded(struct weft_req *r)
{
	struct upload *u = (struct upload *)r;

	const int status = r->status;

	u->c->n_done += !status;
	if (status)
		u->j->failed = status;
	over(u, status);
}

bool weft_card_is_upload(const struct weft_req *r)
{
	return r->done == uploaded;
}

void weft_card_upload_lost(struct weft_req *r)
{
	struct upload *u = (struct upload *)r;

	over(u, -ECONNRESET);
}

void weft_card_upload_drop(struct card *c, const struct card_job *j)
{
	struct weft_req *next;

	for (struct weft_req *r = c->link.first; r; r = next) {
		next = r->next;
		if (weft_card_is_upload(r) && (!j || ((struct upload *)r)->j == j)) {
			weft_link_drop(&c->link, r);
			weft_card_upload_lost(r);
		}
	}
}

static int queue_write(struct card *c, struct card_job *j, struct card_buf *b, struct card_stream *s,
                       const uint8_t *data, uint64_t addr, uint64_t from, uint64_t to)
{
	for (; from < to; from += LINK_CHUNK) {
		struct upload *u = calloc(1, sizeof(*u));
		if (!u)
			return -ENOMEM;
		*u = (struct upload){ .c = c, .j = j, .b = b, .s = s, .off = from };
		u->r.type = WEFT_FRAME_WRITE;
		u->r.addr = (uint32_t)(addr + from);
		u->r.len = (uint32_t)(to - from < LINK_CHUNK ? to - from : LINK_CHUNK);
		u->r.out = data + from;
		u->r.done = uploaded;
		j->n_pending++;
		if (s)
			s->n_uploads++;
		else
			b->n_uploads++;
		weft_link_queue(&c->link, &u->r);
	}
	return 0;
}

int weft_card_upload(struct card *c, struct card_job *j)
{
	int err = 0;

	for (unsigned i = 1; i < WEFT_N_WINDOWS && !err; i++) {
		struct card_buf *b = j->win[i].buf;
		for (size_t k = 0; b && k < b->dirty.n && !err; k++)
			err = queue_write(c, j, b, NULL, b->shadow, b->addr, b->dirty.r[k].from, b->dirty.r[k].to);
		if (b && !err)
			b->dirty.n = 0;
	}
	if (!err && !j->stream->there) {
		err = queue_write(c, j, NULL, j->stream, (const uint8_t *)j->stream->words, j->stream->addr, 0,
		                  j->stream->n_words * 8);
		j->stream->there = !err;
	}
	return err;
}

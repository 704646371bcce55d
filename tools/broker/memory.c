/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int memory_open(struct memory *m, uint32_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	*m = (struct memory){ 0 };
	if (p == MAP_FAILED)
		return -ENOMEM;
	m->image = p;
	m->bytes = bytes;
	return 0;
}

/* Gives the whole pages among these bytes of the image back to the system; they read as zeros from then on. */
static void give_back(struct memory *m, uint32_t at, uint32_t len)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t from = (at + page - 1) / page * page, to = ((uint64_t)at + len) / page * page;

	if (from < to)
		madvise(m->image + from, to - from, MADV_DONTNEED);
}

/* Takes piece p off the list and frees it with its buffer; its bytes are lost. */
static void unlink_piece(struct memory *m, struct piece *p)
{
	struct piece **at = &m->pieces;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	weft_buf_free(p->buf);
	free(p);
}

void memory_clear(struct memory *m)
{
	while (m->pieces)
		unlink_piece(m, m->pieces);
	if (m->image)
		madvise(m->image, m->bytes, MADV_DONTNEED);
}

void memory_close(struct memory *m)
{
	memory_clear(m);
	if (m->image)
		munmap(m->image, m->bytes);
	*m = (struct memory){ 0 };
}

/* ---- bytes ---- */

/* Says whether piece p has one of these bytes. */
static bool meets(const struct piece *p, uint32_t at, uint32_t len)
{
	return p->at < (uint64_t)at + len && at < (uint64_t)p->at + p->len;
}

/* Says whether a job on the card uses one of these bytes. */
static bool in_use(const struct memory *m, uint32_t at, uint32_t len)
{
	for (const struct piece *p = m->pieces; p; p = p->next)
		if (p->pins && meets(p, at, len))
			return true;
	return false;
}

/*
 * Returns how many of these bytes lie in the same place as the first one, and sets *out to the piece that holds
 * it, or to NULL if the image does.
 */
static uint32_t same_place(const struct memory *m, uint32_t at, uint32_t len, struct piece **out)
{
	struct piece *p = m->pieces;
	uint64_t end = (uint64_t)at + len;

	while (p && p->at + (uint64_t)p->len <= at)
		p = p->next;
	*out = p && p->at <= at ? p : NULL;
	if (*out)
		end = p->at + (uint64_t)p->len < end ? p->at + (uint64_t)p->len : end;
	else if (p && p->at < end)
		end = p->at;
	return (uint32_t)(end - at);
}

int memory_write(struct memory *m, uint32_t at, const uint8_t *data, uint32_t len)
{
	struct piece *p;
	int err = in_use(m, at, len) ? -EBUSY : 0;

	for (uint32_t n; len && !err; at += n, data += n, len -= n) {
		n = same_place(m, at, len, &p);
		if (p)
			err = weft_buf_write(p->buf, at - p->at, data, n);
		else
			memcpy(m->image + at, data, n);
	}
	return err;
}

int memory_read(struct memory *m, uint32_t at, uint8_t *data, uint32_t len)
{
	struct piece *p;
	int err = in_use(m, at, len) ? -EBUSY : 0;

	for (uint32_t n; len && !err; at += n, data += n, len -= n) {
		n = same_place(m, at, len, &p);
		if (p)
			err = weft_buf_read(p->buf, at - p->at, data, n);
		else
			memcpy(data, m->image + at, n);
	}
	return err;
}

/* ---- pieces ---- */

int memory_dissolve(struct memory *m, struct piece *p)
{
	int err = weft_buf_read(p->buf, 0, m->image + p->at, p->len);

	unlink_piece(m, p);
	return err;
}

/*
 * Makes a piece of these bytes, of which no other piece has one: a buffer of dev with what the image holds.
 * Returns 0 with it in *out, or a negative errno with nothing changed.
 */
static int make(struct memory *m, weft_dev *dev, uint32_t at, uint32_t len, struct piece **out)
{
	struct piece *p = calloc(1, sizeof(*p)), **place = &m->pieces;
	int err = p ? weft_buf_alloc(dev, len, &p->buf) : -ENOMEM;

	if (!err && (err = weft_buf_write(p->buf, 0, m->image + at, len)))
		weft_buf_free(p->buf);
	if (err) {
		free(p);
		return err;
	}
	give_back(m, at, len);
	p->at = at;
	p->len = len;
	while (*place && (*place)->at < at)
		place = &(*place)->next;
	p->next = *place;
	*place = p;
	*out = p;
	return 0;
}

int memory_piece(struct memory *m, weft_dev *dev, uint32_t at, uint32_t len, struct piece **out)
{
	struct piece *next;

	for (struct piece *p = m->pieces; p; p = p->next) {
		if (p->at == at && p->len == len) {
			*out = p;
			return 0;
		}
	}
	if (in_use(m, at, len))
		return -EBUSY;
	for (struct piece *p = m->pieces; p; p = next) {
		next = p->next;
		int err = meets(p, at, len) ? memory_dissolve(m, p) : 0;
		if (err)
			return err;
	}
	return make(m, dev, at, len, out);
}

struct piece *memory_oldest(const struct memory *m)
{
	struct piece *oldest = NULL;

	for (struct piece *p = m->pieces; p; p = p->next)
		if (!p->pins && (!oldest || p->used < oldest->used))
			oldest = p;
	return oldest;
}

uint64_t memory_on_card(const struct memory *m)
{
	uint64_t n = 0;

	for (const struct piece *p = m->pieces; p; p = p->next)
		n += p->len;
	return n;
}

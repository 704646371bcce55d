/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boot records, the rollback floor and what is asked of the boot ROM about both, as they are read. Boot records: which slot
 * starts. Two sectors; the valid record with the higher seq counts. Only the boot ROM writes them (record_write.c);
 * the firmware asks (request.c).
 */
#include "chip.h"

#define SEALED_WORDS  (offsetof(struct weft_flash_record, crc) / 4)
#define REQUEST_WORDS (sizeof(struct weft_flash_request) / 4)

static bool read_record(uint32_t addr, struct weft_flash_record *r)
{
	flash_read(addr, (uint32_t *)r, sizeof(*r) / 4);
	return r->magic == WEFT_FLASH_RECORD_MAGIC && r->slot < 2 && crc32_words(0, (uint32_t *)r, SEALED_WORDS) == r->crc;
}

static uint32_t count_tries(uint32_t tries)
{
	uint32_t used = 0;

	while (used < WEFT_FLASH_BOOT_TRIES && !(tries >> used & 1))
		used++;
	return WEFT_FLASH_BOOT_TRIES - used;
}

void record_choose(struct boot_choice *c)
{
	c->record = ~0u;
	c->seq = 0;
	for (uint32_t i = 0; i < 2; i++) {
		struct weft_flash_record r;
		uint32_t at = i ? WEFT_FLASH_RECORD_B : WEFT_FLASH_RECORD_A;

		if (!read_record(at, &r) || (c->record != ~0u && r.seq <= c->seq))
			continue;
		c->record = at;
		c->seq = r.seq;
		c->slot = r.slot;
		c->trial = r.confirmed == ~0u;
		c->tries_left = count_tries(r.tries);
	}
}

/* ---- the floor ---- */

#define FLOOR_WORDS (sizeof(struct weft_flash_floor) / 4)

bool floor_get(struct weft_flash_floor *f)
{
	flash_read(WEFT_FLASH_FLOOR, (uint32_t *)f, FLOOR_WORDS);
	if (f->magic == WEFT_FLASH_FLOOR_MAGIC)
		return true;
	f->magic = WEFT_FLASH_FLOOR_MAGIC;
	for (uint32_t i = 0; i < FLOOR_BIT_WORDS; i++)
		f->bits[i] = ~0u;
	return false;
}

uint32_t floor_count(const struct weft_flash_floor *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < FLOOR_BIT_WORDS; i++)
		for (uint32_t w = ~f->bits[i]; w; w &= w - 1)
			n++;
	return n;
}

uint32_t floor_read(void)
{
	struct weft_flash_floor f;

	floor_get(&f);
	return floor_count(&f);
}

/* ---- requests ---- */

bool request_read(uint32_t i, struct weft_flash_request *q)
{
	flash_read(WEFT_FLASH_REQUEST + i * sizeof(*q), (uint32_t *)q, REQUEST_WORDS);
	return q->magic == WEFT_FLASH_REQUEST_MAGIC && crc32_words(0, (uint32_t *)q, REQUEST_WORDS - 1) == q->crc;
}

uint32_t request_count(void)
{
	uint32_t n = WEFT_FLASH_REQUEST_ENTRIES, words[REQUEST_WORDS];

	for (; n; n--) {
		flash_read(WEFT_FLASH_REQUEST + (n - 1) * sizeof(words), words, REQUEST_WORDS);
		for (uint32_t i = 0; i < REQUEST_WORDS; i++)
			if (words[i] != ~0u)
				return n;
	}
	return 0;
}

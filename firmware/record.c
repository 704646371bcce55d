/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boot records and the rollback floor. Boot records: which slot starts. Two sectors; the valid record with the higher
 * seq counts, and only the other sector is ever erased. So there is always one
 * valid record, whenever power fails.
 */
#include "chip.h"

#define SEALED_WORDS (offsetof(struct weft_flash_record, crc) / 4)

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

void record_burn_try(uint32_t record)
{
	uint32_t at = record + offsetof(struct weft_flash_record, tries), tries;

	flash_read(at, &tries, 1);
	tries &= tries - 1;
	flash_program(at, &tries, 1);
}

bool record_confirm(uint32_t record)
{
	uint32_t zero = 0;

	return flash_program(record + offsetof(struct weft_flash_record, confirmed), &zero, 1);
}

bool record_write(uint32_t keep, uint32_t seq, uint32_t slot)
{
	uint32_t at = keep == WEFT_FLASH_RECORD_A ? WEFT_FLASH_RECORD_B : WEFT_FLASH_RECORD_A;
	struct weft_flash_record r = { .magic = WEFT_FLASH_RECORD_MAGIC, .seq = seq, .slot = slot };

	r.crc = crc32_words(0, (uint32_t *)&r, SEALED_WORDS);
	return flash_erase_sector(at) && flash_program(at, (uint32_t *)&r, SEALED_WORDS + 1);
}

/* ---- the floor ---- */

#define FLOOR_WORDS (sizeof(struct weft_flash_floor) / 4)
#define BIT_WORDS   (sizeof(((struct weft_flash_floor *)0)->bits) / 4)

/*
 * Reads the floor's record from the flash into *f; if there is none, *f becomes one of floor 0. Returns false
 * in that case: the sector must then be erased before it is written.
 */
static bool get_floor(struct weft_flash_floor *f)
{
	flash_read(WEFT_FLASH_FLOOR, (uint32_t *)f, FLOOR_WORDS);
	if (f->magic == WEFT_FLASH_FLOOR_MAGIC)
		return true;
	f->magic = WEFT_FLASH_FLOOR_MAGIC;
	for (uint32_t i = 0; i < BIT_WORDS; i++)
		f->bits[i] = ~0u;
	return false;
}

static uint32_t count_floor(const struct weft_flash_floor *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < BIT_WORDS; i++)
		for (uint32_t w = ~f->bits[i]; w; w &= w - 1)
			n++;
	return n;
}

uint32_t floor_read(void)
{
	struct weft_flash_floor f;

	get_floor(&f);
	return count_floor(&f);
}

/* Bits that are 0 already stay, wherever they are: more are cleared, the lowest first, until there are enough. */
bool floor_raise(uint32_t floor)
{
	struct weft_flash_floor f;

	if (!get_floor(&f) && !flash_erase_sector(WEFT_FLASH_FLOOR))
		return false;
	uint32_t n = count_floor(&f);
	for (uint32_t i = 0; i < BIT_WORDS; i++)
		for (; f.bits[i] && n < floor; n++)
			f.bits[i] &= f.bits[i] - 1;
	return n >= floor && flash_program(WEFT_FLASH_FLOOR, (const uint32_t *)&f, FLOOR_WORDS);
}

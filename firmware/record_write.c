/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boot records and the rollback floor, as the boot ROM writes them: before it locks their sectors and starts an
 * image, because the image that ran before has asked for it; or at once, while it answers the host itself.
 */
#include "chip.h"

#define SEALED_WORDS (offsetof(struct weft_flash_record, crc) / 4)

void record_burn_try(uint32_t record)
{
	uint32_t at = record + offsetof(struct weft_flash_record, tries), tries;

	flash_read(at, &tries, 1);
	tries &= tries - 1;
	flash_program(at, &tries, 1);
}

static bool confirm(uint32_t record)
{
	uint32_t zero = 0;

	return flash_program(record + offsetof(struct weft_flash_record, confirmed), &zero, 1);
}

/* Let slot be the one that starts, on trial. The record at `keep` is left alone: so one is valid whenever power fails. */
static bool write_record(uint32_t keep, uint32_t seq, uint32_t slot)
{
	uint32_t at = keep == WEFT_FLASH_RECORD_A ? WEFT_FLASH_RECORD_B : WEFT_FLASH_RECORD_A;
	struct weft_flash_record r = { .magic = WEFT_FLASH_RECORD_MAGIC, .seq = seq, .slot = slot };

	r.crc = crc32_words(0, (uint32_t *)&r, SEALED_WORDS);
	return flash_erase_sector(at) && flash_program(at, (uint32_t *)&r, SEALED_WORDS + 1);
}

/* ---- the floor ---- */

/* Bits that are 0 already stay, wherever they are: more are cleared, the lowest first, until there are enough. */
static bool raise_floor(uint32_t floor)
{
	struct weft_flash_floor f;

	if (!floor_get(&f) && !flash_erase_sector(WEFT_FLASH_FLOOR))
		return false;
	uint32_t n = floor_count(&f);
	for (uint32_t i = 0; i < FLOOR_BIT_WORDS; i++)
		for (; f.bits[i] && n < floor; n++)
			f.bits[i] &= f.bits[i] - 1;
	return n >= floor && flash_program(WEFT_FLASH_FLOOR, (const uint32_t *)&f, sizeof(f) / 4);
}

/* ---- what is asked for ---- */

/* Are there two images to start when none below this is started any more? */
static bool floor_allowed(uint32_t floor)
{
	for (uint32_t slot = 0; slot < 2; slot++) {
		struct weft_flash_image h;

		if (image_check(slot, &h, false) || floor > h.security_version)
			return false;
	}
	return true;
}

/* What cannot be done, or was done before power failed, is left out. */
static void carry_out(const struct weft_flash_request *q)
{
	struct boot_choice c;

	record_choose(&c);
	if (q->what == WEFT_FLASH_REQUEST_CONFIRM && c.record != ~0u && c.trial && c.seq == q->seq)
		confirm(c.record);
	else if (q->what == WEFT_FLASH_REQUEST_SLOT && q->value < 2 && q->seq == c.seq + 1)
		write_record(c.record, q->seq, q->value);
	else if (q->what == WEFT_FLASH_REQUEST_FLOOR && q->value > floor_read() && floor_allowed(q->value))
		raise_floor(q->value);
}

static bool forget_requests(void)
{
	return !request_count() || flash_erase_sector(WEFT_FLASH_REQUEST);
}

void requests_carry_out(void)
{
	const uint32_t n = request_count();

	for (uint32_t i = 0; i < n; i++) {
		struct weft_flash_request q;

		if (request_read(i, &q))
			carry_out(&q);
	}
	forget_requests();
}

/* ---- while the boot ROM answers: what was asked for before counts no more ---- */

enum weft_msg_error ask_confirm(uint32_t seq)
{
	(void)seq;
	return WEFT_MSG_ERR_FW_STATE;
}

enum weft_msg_error ask_slot(uint32_t slot, uint32_t *seq)
{
	struct boot_choice c;

	record_choose(&c);
	*seq = c.seq + 1;
	return forget_requests() && write_record(c.record, *seq, slot) ? WEFT_MSG_ERR_OK : WEFT_MSG_ERR_FLASH;
}

enum weft_msg_error ask_floor(uint32_t floor)
{
	return raise_floor(floor) ? WEFT_MSG_ERR_OK : WEFT_MSG_ERR_FLASH;
}

uint32_t asked_floor(void)
{
	return floor_read();
}

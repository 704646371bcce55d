/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the firmware asks the boot ROM to write, since the sectors of boot records and floor are locked while an
 * image runs: entries in a sector of their own, which the next start carries out. Each is whole or counts for
 * nothing, and what the host was told to be done survives power.
 */
#include "fw.h"

#define REQUEST_WORDS (sizeof(struct weft_flash_request) / 4)

/* Add an entry. The page is full when the host has asked for too much without a reset. */
static enum weft_msg_error ask(uint32_t what, uint32_t seq, uint32_t value)
{
	struct weft_flash_request q = { .magic = WEFT_FLASH_REQUEST_MAGIC, .what = what, .seq = seq, .value = value };
	const uint32_t n = request_count();

	if (n == WEFT_FLASH_REQUEST_ENTRIES)
		return WEFT_MSG_ERR_FW_STATE;
	q.crc = crc32_words(0, (uint32_t *)&q, REQUEST_WORDS - 1);
	return flash_program(WEFT_FLASH_REQUEST + n * sizeof(q), (uint32_t *)&q, REQUEST_WORDS) ? WEFT_MSG_ERR_OK : WEFT_MSG_ERR_FLASH;
}

enum weft_msg_error ask_confirm(uint32_t seq)
{
	return ask(WEFT_FLASH_REQUEST_CONFIRM, seq, 0);
}

enum weft_msg_error ask_slot(uint32_t slot, uint32_t *seq)
{
	const uint32_t n = request_count();
	uint32_t next = ~0u;
	struct boot_choice c;

	record_choose(&c);
	*seq = c.seq;
	for (uint32_t i = 0; i < n; i++) {
		struct weft_flash_request q;

		if (request_read(i, &q) && q.what == WEFT_FLASH_REQUEST_SLOT && q.seq == *seq + 1) {
			*seq = q.seq;
			next = q.value;
		}
	}
	if (next == slot)
		return WEFT_MSG_ERR_OK;
	++*seq;
	return ask(WEFT_FLASH_REQUEST_SLOT, *seq, slot);
}

enum weft_msg_error ask_floor(uint32_t floor)
{
	return floor == asked_floor() ? WEFT_MSG_ERR_OK : ask(WEFT_FLASH_REQUEST_FLOOR, 0, floor);
}

uint32_t asked_floor(void)
{
	const uint32_t n = request_count();
	uint32_t floor = floor_read();

	for (uint32_t i = 0; i < n; i++) {
		struct weft_flash_request q;

		if (request_read(i, &q) && q.what == WEFT_FLASH_REQUEST_FLOOR && q.value > floor)
			floor = q.value;
	}
	return floor;
}

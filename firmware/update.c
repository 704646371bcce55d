/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Firmware update: the image goes into the slot that does not run, is checked as
 * it lies in the flash, and only then may a new boot record name it.
 */
#include "chip.h"

static struct {
	bool open, checked;
	uint32_t slot, bytes, next;
} up;

static uint32_t other_slot(void)
{
	return BOOT_INFO->slot == 0 ? 1 : 0;
}

static void answer(uint32_t type, enum weft_msg_error error)
{
	reply_begin(type, error);
	reply_send(msg_seq());
}

/* One word behind the head. */
static void answer_word(uint32_t type, enum weft_msg_error error, uint32_t word)
{
	reply_begin(type, error);
	reply_put(word);
	reply_send(msg_seq());
}

/* Not beside a floor that was asked for: it is raised if the images are still those that were looked at. */
static enum weft_msg_error begin(uint32_t bytes)
{
	up.open = up.checked = false;
	if (BOOT_INFO->trial || asked_floor() != floor_read())
		return WEFT_MSG_ERR_FW_STATE;
	if (bytes <= offsetof(struct weft_flash_image, signature) || bytes > sizeof(struct weft_flash_image) + RAM_IMAGE_BYTES || bytes % 4)
		return WEFT_MSG_ERR_FW_RANGE;
	up.slot = other_slot();
	update_log(WEFT_LOG_FW_BEGIN, up.slot, bytes);
	if (!flash_erase_sector(slot_address(up.slot)))
		return WEFT_MSG_ERR_FLASH;
	up.bytes = bytes;
	up.next = 0;
	up.open = true;
	return WEFT_MSG_ERR_OK;
}

/* The first sector was erased at the begin. */
static bool write_chunk(uint32_t offset, const uint32_t *words, uint32_t n_words)
{
	uint32_t at = slot_address(up.slot) + offset;

	if (offset && offset % WEFT_FLASH_SECTOR_BYTES == 0 && !flash_erase_sector(at))
		return false;
	return flash_program(at, words, n_words);
}

static enum weft_msg_error data(uint32_t offset, const uint32_t *words, uint32_t n_words)
{
	uint32_t left = up.bytes - offset, wanted = left < WEFT_MSG_FW_CHUNK ? left : WEFT_MSG_FW_CHUNK;

	if (!up.open)
		return WEFT_MSG_ERR_FW_STATE;
	if (offset >= up.bytes || offset % WEFT_MSG_FW_CHUNK || n_words * 4 != wanted)
		return WEFT_MSG_ERR_FW_RANGE;
	if (offset + wanted == up.next)
		return WEFT_MSG_ERR_OK; /* again: the reply was lost */
	if (offset != up.next)
		return WEFT_MSG_ERR_FW_RANGE;
	if (!write_chunk(offset, words, n_words)) {
		update_log(WEFT_LOG_FLASH_ERROR, up.slot, offset);
		up.open = false;
		return WEFT_MSG_ERR_FLASH;
	}
	up.next += wanted;
	return WEFT_MSG_ERR_OK;
}

static void end(void)
{
	struct weft_flash_image h = { 0 };
	enum weft_msg_error error = WEFT_MSG_ERR_FW_STATE;

	if (up.open && up.next == up.bytes) {
		error = image_check(up.slot, &h, false);
		if (!error && header_bytes(&h) + h.image_bytes != up.bytes)
			error = WEFT_MSG_ERR_FW_RANGE;
		up.checked = !error;
		up.open = up.checked;
		update_log(WEFT_LOG_FW_CHECKED, up.slot, error);
	}
	reply_begin(WEFT_MSG_FW_END, error);
	reply_put(h.fw_version);
	reply_put(h.image_crc);
	reply_send(msg_seq());
}

/* From the next start on. */
static enum weft_msg_error start_with(uint32_t slot)
{
	uint32_t seq;
	const enum weft_msg_error error = ask_slot(slot, &seq);

	if (error)
		return error;
	update_log(WEFT_LOG_FW_SWITCHED, slot, seq);
	up.open = false;
	return WEFT_MSG_ERR_OK;
}

static enum weft_msg_error switch_slot(void)
{
	return up.open && up.checked ? start_with(up.slot) : WEFT_MSG_ERR_FW_STATE;
}

static enum weft_msg_error boot(uint32_t slot)
{
	struct weft_flash_image h;

	if (slot > 1)
		return WEFT_MSG_ERR_ARGUMENT;
	if (BOOT_INFO->trial)
		return WEFT_MSG_ERR_FW_STATE;
	const enum weft_msg_error error = image_check(slot, &h, false);
	return error ? error : start_with(slot);
}

/* A boot_id is made by the first HELLO of a start. */
static enum weft_msg_error raise(uint32_t floor)
{
	if (BOOT_INFO->trial || !BOOT_INFO->boot_id)
		return WEFT_MSG_ERR_FW_STATE;
	for (uint32_t slot = 0; slot < 2; slot++) {
		struct weft_flash_image h;
		const enum weft_msg_error error = image_check(slot, &h, false);

		if (error)
			return error;
		if (floor > h.security_version)
			return WEFT_MSG_ERR_ARGUMENT;
	}
	if (floor < asked_floor())
		return WEFT_MSG_ERR_ARGUMENT;
	const enum weft_msg_error error = ask_floor(floor);
	update_log(WEFT_LOG_FW_FLOOR, asked_floor(), floor);
	return error;
}

/* Words behind the head that a message must have. */
static bool long_enough(uint32_t type)
{
	switch (type) {
	case WEFT_MSG_FW_BEGIN:
	case WEFT_MSG_FW_BOOT:
	case WEFT_MSG_FW_FLOOR:
		return msg_words == 2;
	case WEFT_MSG_FW_DATA:
		return msg_words > 2 && msg_words <= 2 + WEFT_MSG_FW_CHUNK / 4;
	}
	return msg_words == 1;
}

bool update_message(uint32_t type)
{
	if ((type < WEFT_MSG_FW_BEGIN || type > WEFT_MSG_FW_SWITCH) && type != WEFT_MSG_FW_BOOT && type != WEFT_MSG_FW_FLOOR)
		return false;
	enum weft_msg_error error;

	if (!long_enough(type)) {
		answer(type, WEFT_MSG_ERR_LENGTH);
		return true;
	}
	switch (type) {
	case WEFT_MSG_FW_BEGIN:
		error = begin(msg_in[1]);
		answer_word(type, error, up.slot);
		break;
	case WEFT_MSG_FW_DATA:
		error = data(msg_in[1], msg_in + 2, msg_words - 2);
		answer_word(type, error, up.next);
		break;
	case WEFT_MSG_FW_END:
		end();
		break;
	case WEFT_MSG_FW_SWITCH:
		error = switch_slot();
		answer_word(type, error, up.slot);
		break;
	case WEFT_MSG_FW_BOOT:
		answer_word(type, boot(msg_in[1]), msg_in[1]);
		break;
	case WEFT_MSG_FW_FLOOR:
		error = raise(msg_in[1]);
		answer_word(type, error, asked_floor());
		break;
	}
	return true;
}

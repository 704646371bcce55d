/* SPDX-License-Identifier: Apache-2.0 */
/* SPI NOR flash, and what a factory writes into one. */
#include "flash.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

#include <weft/chip.h>

/* Status reads during which an operation lasts: enough to see firmware wait. */
enum { BUSY_PROGRAM = 2, BUSY_ERASE = 6 };

void flash_init(struct flash *f, uint8_t *data)
{
	memset(f, 0, sizeof(*f));
	f->data = data;
	f->id = WEFT_FLASH_JEDEC_ID;
	f->cut = -1;
}

void flash_power(struct flash *f)
{
	f->selected = f->write_enabled = false;
	f->n = f->busy = 0;
	f->lost_power = false;
}

/* Returns whether this is the operation during which power fails. */
static bool cut_now(struct flash *f)
{
	if (f->cut < 0 || f->cut--)
		return false;
	f->lost_power = true;
	return true;
}

/* Programming only clears bits. Cut short: half the bytes, and half a byte more. */
static void program(struct flash *f)
{
	uint32_t base = f->addr & ~(WEFT_FLASH_PAGE_BYTES - 1);
	unsigned n = 0, done = 0;
	bool cut = cut_now(f);

	for (unsigned i = 0; i < 256; i++)
		n += f->given[i];
	for (unsigned i = 0; i < 256; i++) {
		if (!f->given[i])
			continue;
		if (cut && done == n / 2) {
			f->data[base + i] &= f->page[i] | 0xf0;
			return;
		}
		f->data[base + i] &= f->page[i];
		done++;
	}
}

/* What an erase command takes, a power of two; 0: it is none, or has not had its bytes. */
static uint32_t erase_bytes(const struct flash *f)
{
	if (f->cmd == WEFT_FLASH_CMD_CHIP_ERASE)
		return f->n == 1 ? WEFT_FLASH_BYTES : 0;
	if (f->n != 4)
		return 0;
	return f->cmd == WEFT_FLASH_CMD_SECTOR_ERASE ? WEFT_FLASH_SECTOR_BYTES : f->cmd == WEFT_FLASH_CMD_HALF_ERASE ? 0x8000 :
	       f->cmd == WEFT_FLASH_CMD_BLOCK_ERASE ? 0x10000 : 0;
}

/* Cut short: the first half is erased, and some bits of the byte behind it. */
static void erase(struct flash *f, uint32_t bytes)
{
	uint8_t *at = f->data + (f->addr & ~(bytes - 1));
	bool cut = cut_now(f);
	size_t n = cut ? bytes / 2 : bytes;

	memset(at, 0xff, n);
	if (cut)
		at[n] |= 0xa5;
}

static void execute(struct flash *f)
{
	if (f->cmd == WEFT_FLASH_CMD_WRITE_ENABLE && f->n == 1) {
		f->write_enabled = !f->busy;
	} else if (f->write_enabled && f->cmd == WEFT_FLASH_CMD_PROGRAM && f->n > 4) {
		program(f);
		f->busy = BUSY_PROGRAM;
		f->write_enabled = false;
	} else if (f->write_enabled && erase_bytes(f)) {
		erase(f, erase_bytes(f));
		f->busy = BUSY_ERASE;
		f->write_enabled = false;
	}
}

void flash_select(struct flash *f, bool selected)
{
	if (f->selected && !selected)
		execute(f);
	if (!f->selected && selected) {
		f->n = 0;
		memset(f->given, 0, sizeof(f->given));
	}
	f->selected = selected;
}

static uint8_t status(struct flash *f)
{
	uint8_t s = (uint8_t)((f->busy ? 1 : 0) | (f->write_enabled ? 2 : 0));

	if (f->busy)
		f->busy--;
	return s;
}

/* The byte behind command and address. */
static uint8_t data_byte(struct flash *f, uint8_t out)
{
	uint8_t in = 0xff;

	if (f->cmd == WEFT_FLASH_CMD_READ && !f->busy) {
		in = f->data[f->addr];
		f->addr = (f->addr + 1) % WEFT_FLASH_BYTES;
	} else if (f->cmd == WEFT_FLASH_CMD_PROGRAM) {
		unsigned at = (f->addr + f->n - 4) % WEFT_FLASH_PAGE_BYTES;
		f->page[at] = out;
		f->given[at] = true;
	}
	return in;
}

uint8_t flash_byte(struct flash *f, uint8_t out)
{
	uint8_t in = 0xff;

	if (!f->selected)
		return in;
	if (f->n == 0) {
		f->cmd = out;
		f->addr = 0;
	} else if (f->cmd == WEFT_FLASH_CMD_READ_STATUS) {
		in = status(f);
	} else if (f->cmd == WEFT_FLASH_CMD_JEDEC_ID) {
		in = f->n <= 3 ? (uint8_t)(f->id >> 8 * (3 - f->n)) : 0xff;
	} else if (f->n <= 3) {
		f->addr = (f->addr << 8 | out) % WEFT_FLASH_BYTES;
	} else {
		in = data_byte(f, out);
	}
	f->n++;
	return in;
}

/* ---- a fresh one ---- */

static void put_words(uint8_t *to, const uint32_t *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (unsigned b = 0; b < 4; b++)
			*to++ = (uint8_t)(words[i] >> 8 * b);
}

/* The crc over the words before it. */
static void seal(uint8_t *to, uint32_t *words, size_t n)
{
	put_words(to, words, n);
	words[n] = (uint32_t)crc32(0, to, (uInt)(4 * n));
	put_words(to, words, n + 1);
}

int weft_flash_format(uint8_t *flash, size_t flash_bytes, const char *serial,
		      const uint8_t *image, size_t image_bytes)
{
	struct weft_flash_board board = { .magic = WEFT_FLASH_BOARD_MAGIC };
	struct weft_flash_record record = { .magic = WEFT_FLASH_RECORD_MAGIC, .seq = 1 };
	size_t len = strlen(serial);

	if (flash_bytes != WEFT_FLASH_BYTES || len > sizeof(board.serial) || image_bytes > WEFT_FLASH_SLOT_BYTES)
		return -EINVAL;
	memset(flash, 0xff, flash_bytes);
	for (size_t i = 0; i < len; i++)
		board.serial[i / 4] |= (uint32_t)(uint8_t)serial[i] << i % 4 * 8;
	seal(flash + WEFT_FLASH_BOARD, &board.magic, offsetof(struct weft_flash_board, crc) / 4);
	if (!image)
		return 0;
	memcpy(flash + WEFT_FLASH_SLOT_A, image, image_bytes);
	seal(flash + WEFT_FLASH_RECORD_A, &record.magic, offsetof(struct weft_flash_record, crc) / 4);
	put_words(flash + WEFT_FLASH_RECORD_A + offsetof(struct weft_flash_record, confirmed), &(uint32_t){ 0 }, 1);
	return 0;
}

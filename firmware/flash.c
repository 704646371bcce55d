/* SPDX-License-Identifier: Apache-2.0 */
/* SPI NOR flash behind the byte shifter. */
#include "chip.h"

/* Polls of a status register before an operation counts as failed: an erase takes
 * up to 400 ms, a poll 32 cycles and more. */
#define POLLS 4000000u

enum { STATUS_BUSY = 1, STATUS_WRITE_ENABLED = 2 };

static void select(void)
{
	CHIP(WEFT_CHIP_FLASH_CONTROL) = WEFT_CHIP_FLASH_CONTROL_CS_MASK;
}

static void deselect(void)
{
	CHIP(WEFT_CHIP_FLASH_CONTROL) = 0;
}

/* Command and address: the first byte out is the lowest of the word. */
static void command(uint8_t cmd, uint32_t addr)
{
	select();
	CHIP(WEFT_CHIP_FLASH_WORD) = cmd | (addr >> 16 & 0xff) << 8 | (addr & 0xff00) << 8 | addr << 24;
}

static uint8_t status(void)
{
	select();
	CHIP(WEFT_CHIP_FLASH_BYTE) = WEFT_FLASH_CMD_READ_STATUS;
	CHIP(WEFT_CHIP_FLASH_BYTE) = 0;
	uint8_t s = (uint8_t)CHIP(WEFT_CHIP_FLASH_BYTE);
	deselect();
	return s;
}

static bool wait_ready(void)
{
	for (uint32_t i = 0; i < POLLS; i++) {
		if (!(status() & STATUS_BUSY))
			return true;
		wdt_kick();
	}
	return false;
}

static bool write_enable(void)
{
	select();
	CHIP(WEFT_CHIP_FLASH_BYTE) = WEFT_FLASH_CMD_WRITE_ENABLE;
	deselect();
	return status() & STATUS_WRITE_ENABLED;
}

uint32_t flash_id(void)
{
	select();
	CHIP(WEFT_CHIP_FLASH_BYTE) = WEFT_FLASH_CMD_JEDEC_ID;
	uint32_t id = 0;
	for (int i = 0; i < 3; i++) {
		CHIP(WEFT_CHIP_FLASH_BYTE) = 0;
		id = id << 8 | (CHIP(WEFT_CHIP_FLASH_BYTE) & 0xff);
	}
	deselect();
	return id;
}

void flash_read(uint32_t addr, uint32_t *to, uint32_t n_words)
{
	command(WEFT_FLASH_CMD_READ, addr);
	for (uint32_t i = 0; i < n_words; i++) {
		CHIP(WEFT_CHIP_FLASH_WORD) = 0;
		to[i] = CHIP(WEFT_CHIP_FLASH_WORD);
	}
	deselect();
}

/* Programming can only clear bits: what is wanted may not have more. */
static bool holds(uint32_t addr, const uint32_t *words, uint32_t n_words)
{
	bool same = true;

	command(WEFT_FLASH_CMD_READ, addr);
	for (uint32_t i = 0; i < n_words; i++) {
		CHIP(WEFT_CHIP_FLASH_WORD) = 0;
		if (CHIP(WEFT_CHIP_FLASH_WORD) != (words ? words[i] : ~0u))
			same = false;
	}
	deselect();
	return same;
}

bool flash_program(uint32_t addr, const uint32_t *words, uint32_t n_words)
{
	if (!write_enable())
		return false;
	command(WEFT_FLASH_CMD_PROGRAM, addr);
	for (uint32_t i = 0; i < n_words; i++)
		CHIP(WEFT_CHIP_FLASH_WORD) = words[i];
	deselect();
	return wait_ready() && holds(addr, words, n_words);
}

bool flash_erase_sector(uint32_t addr)
{
	if (!write_enable())
		return false;
	command(WEFT_FLASH_CMD_SECTOR_ERASE, addr);
	deselect();
	return wait_ready() && holds(addr, NULL, WEFT_FLASH_SECTOR_BYTES / 4);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the card by itself; no job runs meanwhile. */
#include "fw.h"

struct failure {
	uint32_t where, expected, got;
};

static const uint32_t pattern[] = { 0x00000000, 0xffffffff, 0x55555555, 0xaaaaaaaa, 0x12345678 };

static bool differs(struct failure *f, uint32_t where, uint32_t expected, uint32_t got)
{
	if (expected == got)
		return false;
	*f = (struct failure){ where, expected, got };
	return true;
}

/* March C-: up w0; up r0 w1; up r1 w0; down r0 w1; down r1 w0; up r0. */
static bool march_step(volatile uint32_t *m, uint32_t n, bool down, uint32_t expect, uint32_t write, struct failure *f)
{
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = down ? n - 1 - k : k;

		if (differs(f, (uint32_t)(uintptr_t)&m[i], expect, m[i]))
			return false;
		m[i] = write;
	}
	return true;
}

static bool march(uint32_t base, uint32_t bytes, struct failure *f)
{
	volatile uint32_t *m = (volatile uint32_t *)(uintptr_t)base;
	uint32_t n = bytes / 4;

	for (uint32_t p = 0; p < 3; p++) {
		uint32_t zero = p == 0 ? 0 : p == 1 ? 0x55555555 : 0x0f0f3c3c, one = ~zero;

		for (uint32_t i = 0; i < n; i++)
			m[i] = zero;
		if (!march_step(m, n, false, zero, one, f) || !march_step(m, n, false, one, zero, f) ||
		    !march_step(m, n, true, zero, one, f) || !march_step(m, n, true, one, zero, f) ||
		    !march_step(m, n, false, zero, zero, f))
			return false;
	}
	return true;
}

/* Every word its own address: finds address lines that march cannot tell apart. */
static bool addresses(uint32_t base, uint32_t bytes, struct failure *f)
{
	volatile uint32_t *m = (volatile uint32_t *)(uintptr_t)base;

	for (uint32_t i = 0; i < bytes / 4; i++)
		m[i] = base + 4 * i;
	for (uint32_t i = 0; i < bytes / 4; i++)
		if (differs(f, base + 4 * i, base + 4 * i, m[i]))
			return false;
	return true;
}

static bool test_ram(struct failure *f)
{
	uint32_t bytes = RAM_END - RAM_FREE;
	volatile uint8_t *b = (volatile uint8_t *)RAM_FREE;

	if (!march(RAM_FREE, bytes, f) || !addresses(RAM_FREE, bytes, f))
		return false;
	*(volatile uint32_t *)RAM_FREE = 0;
	b[1] = 0x5a;
	b[3] = 0xc3;
	return !differs(f, RAM_FREE, 0xc3005a00, *(volatile uint32_t *)RAM_FREE);
}

/* The check value of CRC-32 is that of "123456789"; this is that of eight bytes of it. */
static bool test_crc(struct failure *f)
{
	static const uint32_t text[2] = { 0x34333231, 0x38373635 };
	volatile uint32_t a = 0x9e3779b9, b = 0x7f4a7c15;

	return !differs(f, 0, 0x9ae0daaf, crc32_words(0, text, 2)) && !differs(f, 1, 0xcffc982d, a * b) &&
	       !differs(f, 2, 0x4eab8e1b, (uint32_t)((uint64_t)a * b >> 32)) && !differs(f, 3, 1, a / b) &&
	       !differs(f, 4, 0x1eecfda4, a % b);
}

static bool test_timer(struct failure *f)
{
	uint64_t then = time_now() + 200;
	uint32_t polls = 0;

	CHIP(WEFT_CHIP_TIMER_CMP_HI) = (uint32_t)(then >> 32);
	CHIP(WEFT_CHIP_TIMER_CMP_LO) = (uint32_t)then;
	if (differs(f, WEFT_CHIP_TIMER_CMP_LO, 0, csr_read(mip) & MIE_TIMER))
		return false;
	while (!(csr_read(mip) & MIE_TIMER) && polls < 10000)
		polls++;
	if (polls == 10000 || time_now() < then)
		return !differs(f, WEFT_CHIP_TIMER_LO, (uint32_t)then, (uint32_t)time_now());
	return !differs(f, WEFT_CHIP_WDT_LEFT, 1, CHIP(WEFT_CHIP_WDT_LEFT) <= WEFT_CHIP_BOOT_PERIOD);
}

static bool test_npu(struct failure *f)
{
	if (differs(f, WEFT_REG_ID, WEFT_REG_ID_VALUE, NPU(WEFT_REG_ID)) ||
	    differs(f, WEFT_REG_VERSION, WEFT_REG_VERSION_VALUE, NPU(WEFT_REG_VERSION)) ||
	    differs(f, WEFT_REG_STATUS, 0, NPU(WEFT_REG_STATUS) & WEFT_REG_STATUS_BUSY_MASK))
		return false;
	npu_forget();
	for (uint32_t p = 0; p < sizeof(pattern) / sizeof(pattern[0]); p++) {
		for (uint32_t i = 0; i < WEFT_N_WINDOWS; i++) {
			NPU(WEFT_REG_WIN_BASE_LO(i)) = pattern[p] ^ i << 8;
			NPU(WEFT_REG_WIN_SIZE(i)) = pattern[p] + i;
			NPU(WEFT_REG_WIN_CTRL(i)) = i & 3;
		}
		for (uint32_t i = 0; i < WEFT_N_WINDOWS; i++)
			if (differs(f, WEFT_REG_WIN_BASE_LO(i), (pattern[p] ^ i << 8) & ~63u, NPU(WEFT_REG_WIN_BASE_LO(i))) ||
			    differs(f, WEFT_REG_WIN_SIZE(i), pattern[p] + i, NPU(WEFT_REG_WIN_SIZE(i))) ||
			    differs(f, WEFT_REG_WIN_CTRL(i), i & 3, NPU(WEFT_REG_WIN_CTRL(i))))
				return false;
	}
	return true;
}

/* The first 4 KiB of the firmware's part of card memory. */
static bool test_dram(struct failure *f)
{
	return march(WEFT_CHIP_DRAM_BASE, 1024, f) && addresses(WEFT_CHIP_DRAM_BASE, 4096, f);
}

_Static_assert(1u << (WEFT_FLASH_JEDEC_ID & 0xff) == WEFT_FLASH_BYTES, "the simulated flash is as large as its ID says");

/*
 * Returns whether a flash with this JEDEC ID will do. Boards have flashes of several makers, so any maker is accepted but 0 and 0xff,
 * which are what a broken line gives. The last byte of the ID is the binary logarithm of the flash's size in bytes; the flash must be
 * at least as large as the simulated one.
 */
static bool is_flash(uint32_t id)
{
	const uint32_t maker = id >> 16, log2_bytes = id & 0xff;

	return maker != 0 && maker != 0xff && log2_bytes < 0xff && log2_bytes >= (WEFT_FLASH_JEDEC_ID & 0xff);
}

static bool test_flash(struct failure *f)
{
	struct weft_flash_image h;
	const uint32_t id = flash_id();

	if (!is_flash(id))
		return !differs(f, 0, WEFT_FLASH_JEDEC_ID, id);
	return !differs(f, slot_address(BOOT_INFO->slot), WEFT_MSG_ERR_OK, image_check(BOOT_INFO->slot, &h, false));
}

void self_test(void)
{
	static bool (*const test[])(struct failure *) = { test_ram, test_crc, test_timer, test_npu, test_dram, test_flash };
	struct failure first = { 0 }, f;
	uint32_t mask = msg_in[1], ran = 0, failed = 0;

	for (uint32_t i = 0; i < sizeof(test) / sizeof(test[0]); i++) {
		if (!(mask >> i & 1))
			continue;
		wdt_kick();
		ran |= 1u << i;
		if (test[i](&f))
			continue;
		if (!failed)
			first = f;
		failed |= 1u << i;
	}
	npu_forget();
	log_add(WEFT_LOG_SELF_TEST, ran, failed);
	reply_begin(WEFT_MSG_SELF_TEST, failed ? WEFT_MSG_ERR_SELF_TEST : WEFT_MSG_ERR_OK);
	reply_put(ran);
	reply_put(failed);
	reply_put(first.where);
	reply_put(first.expected);
	reply_put(first.got);
	reply_send(msg_seq());
}

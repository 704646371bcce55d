/* SPDX-License-Identifier: Apache-2.0 */
/* HELLO: who is there. The boot ROM's rescue code answers with the same words. */
#include "chip.h"

static void put_serial(void)
{
	struct weft_flash_board b;
	uint32_t sealed = offsetof(struct weft_flash_board, crc) / 4;

	flash_read(WEFT_FLASH_BOARD, (uint32_t *)&b, sizeof(b) / 4);
	bool valid = b.magic == WEFT_FLASH_BOARD_MAGIC && crc32_words(0, (uint32_t *)&b, sealed) == b.crc;
	for (int i = 0; i < WEFT_MSG_NAME_WORDS; i++)
		reply_put(valid ? b.serial[i] : 0);
}

/*
 * A number that another start, or another session, has only by chance. The chip has no source of random bits, but its
 * host has, and sends 32 of them with HELLO: any of them gives another number. Where a host sends none there is the
 * moment of its first question: the timer counts cycles since the reset. The numbers of the starts before go
 * into it, so that they never repeat one after the other, and a start after power was off, whose count of
 * starts begins anew, does not look like the first one before.
 */
static uint32_t boot_id(struct boot_info *b)
{
	if (!b->boot_id) {
		const uint32_t before = CHIP(WEFT_CHIP_SYS_SCRATCH(SCRATCH_ID));
		const uint32_t session = msg_words > 2 ? msg_in[2] : 0;
		const uint32_t from[5] = { before, CHIP(WEFT_CHIP_TIMER_LO), b->boot_count, b->fw_crc, session };

		b->boot_id = crc32_words(0, from, 5);
		while (!b->boot_id || b->boot_id == before)
			b->boot_id++;
		CHIP(WEFT_CHIP_SYS_SCRATCH(SCRATCH_ID)) = b->boot_id;
	}
	return b->boot_id;
}

void hello(void)
{
	struct boot_info *b = BOOT_INFO;
	enum weft_msg_error error = msg_in[1] >> 16 == WEFT_MSG_MAJOR ? WEFT_MSG_ERR_OK : WEFT_MSG_ERR_VERSION;

	reply_begin(WEFT_MSG_HELLO, error);
	reply_put(WEFT_MSG_VERSION_VALUE);
	reply_put(b->fw_version);
	reply_put(b->fw_crc);
	reply_put(CHIP(WEFT_CHIP_SYS_VERSION));
	reply_put(NPU(WEFT_REG_VERSION));
	reply_put(NPU(WEFT_REG_CONFIG));
	reply_put(NPU(WEFT_REG_FEATURES));
	reply_put(CHIP(WEFT_CHIP_SYS_DRAM_BYTES));
	reply_put(HOST_BASE);
	reply_put(CHIP(WEFT_CHIP_SYS_DRAM_BYTES));
	reply_put(CHIP(WEFT_CHIP_SYS_CLOCK_KHZ));
	reply_put(b->slot == SLOT_RESCUE ? 0 : WEFT_MSG_JOBS_MAX);
	reply_put(b->slot);
	reply_put(b->trial);
	reply_put(b->boot_count);
	reply_put(b->cause);
	reply_put(boot_id(b));
	reply_put(WEFT_FRAME_MSG_MAX);
	put_serial();
	reply_put(b->key_id);
	reply_put(b->development);
	reply_put(b->security_version);
	reply_put(floor_read());
	reply_send(msg_seq());
}

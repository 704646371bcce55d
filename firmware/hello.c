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

void hello(void)
{
	const struct boot_info *b = BOOT_INFO;
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
	reply_put(b->boot_count);
	reply_put(WEFT_FRAME_MSG_MAX);
	put_serial();
	reply_send(msg_seq());
}

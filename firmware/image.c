/* SPDX-License-Identifier: Apache-2.0 */
/* Is a firmware image in flash whole, and made for this chip? */
#include "chip.h"

#define HEADER_WORDS (sizeof(struct weft_flash_image) / 4)

uint32_t slot_address(uint32_t slot)
{
	return slot ? WEFT_FLASH_SLOT_B : WEFT_FLASH_SLOT_A;
}

static bool fits(const struct weft_flash_image *h)
{
	return h->load == RAM_IMAGE && h->image_bytes && h->image_bytes <= RAM_IMAGE_BYTES && h->image_bytes % 4 == 0 &&
	       h->entry >= h->load && h->entry < h->load + h->image_bytes && h->entry % 4 == 0;
}

enum weft_msg_error image_check(uint32_t slot, struct weft_flash_image *h, bool load)
{
	uint32_t at = slot_address(slot);

	flash_read(at, (uint32_t *)h, HEADER_WORDS);
	if (h->magic != WEFT_FLASH_IMAGE_MAGIC || h->header_version != WEFT_FLASH_IMAGE_VERSION ||
	    crc32_words(0, (uint32_t *)h, HEADER_WORDS - 1) != h->crc || !fits(h))
		return WEFT_MSG_ERR_FW_HEADER;
	if (h->chip_version >> 16 != CHIP(WEFT_CHIP_SYS_VERSION) >> 16 || h->protocol >> 16 != WEFT_MSG_MAJOR)
		return WEFT_MSG_ERR_FW_VERSION;
	uint32_t *to = load ? (uint32_t *)(uintptr_t)h->load : NULL;
	if (flash_read_crc(at + sizeof(*h), to, h->image_bytes / 4) != h->image_crc)
		return WEFT_MSG_ERR_FW_CRC;
	return WEFT_MSG_ERR_OK;
}

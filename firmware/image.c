/* SPDX-License-Identifier: Apache-2.0 */
/* Is a firmware image in flash whole, made for this chip, and signed by its owner? Only the ROM has this code. */
#include "chip.h"
#include "ed25519.h"
#include "owner_key.h"

#define SEALED_WORDS (offsetof(struct weft_flash_image, crc) / 4)
#define SIGNED_BYTES offsetof(struct weft_flash_image, signature)
#define PART_WORDS   64u       /* of flash read at once */

static const uint8_t owner_key[ED25519_KEY_BYTES] = OWNER_KEY;

/* An image being read: what its parts add up to. */
struct sums {
	uint32_t crc;
	bool is_signed;
	struct sha512 digest;  /* if it is */
};

void ed25519_alive(void)
{
	wdt_kick();
}

static bool fits(const struct weft_flash_image *h)
{
	return h->load == RAM_IMAGE && h->image_bytes && h->image_bytes <= RAM_IMAGE_BYTES && h->image_bytes % 4 == 0 &&
	       h->entry >= h->load && h->entry < h->load + h->image_bytes && h->entry % 4 == 0;
}

/* Where everybody can sign, an image without a signature is as good as one with. */
static bool must_be_signed(const struct weft_flash_image *h)
{
	return !OWNER_KEY_DEVELOPMENT || h->header_version != WEFT_FLASH_IMAGE_UNSIGNED;
}

/* All that can be said without having read the image. */
static enum weft_msg_error check_header(const struct weft_flash_image *h)
{
	if (h->magic != WEFT_FLASH_IMAGE_MAGIC || crc32_words(0, (const uint32_t *)h, SEALED_WORDS) != h->crc || !fits(h) ||
	    (h->header_version != WEFT_FLASH_IMAGE_VERSION && h->header_version != WEFT_FLASH_IMAGE_UNSIGNED) ||
	    h->security_version > WEFT_FLASH_IMAGE_SECURITY)
		return WEFT_MSG_ERR_FW_HEADER;
	if (h->chip_version >> 16 != CHIP(WEFT_CHIP_SYS_VERSION) >> 16 || h->protocol >> 16 != WEFT_MSG_MAJOR)
		return WEFT_MSG_ERR_FW_VERSION;
	if (must_be_signed(h) && (h->header_version != WEFT_FLASH_IMAGE_VERSION || h->key_id != OWNER_KEY_ID))
		return WEFT_MSG_ERR_FW_KEY;
	return h->security_version < floor_read() ? WEFT_MSG_ERR_FW_ROLLBACK : WEFT_MSG_ERR_OK;
}

/* Read n_words once: what is summed up is what is loaded, if to is not NULL. */
static void read_image(struct sums *s, uint32_t at, uint32_t *to, uint32_t n_words)
{
	uint32_t part[PART_WORDS];

	while (n_words) {
		const uint32_t n = n_words < PART_WORDS ? n_words : PART_WORDS;
		uint32_t *words = to ? to : part;

		flash_read(at, words, n);
		s->crc = crc32_words(s->crc, words, n);
		if (s->is_signed)
			sha512_add(&s->digest, words, 4 * n);
		wdt_kick();
		at += 4 * n;
		n_words -= n;
		if (to)
			to += n;
	}
}

enum weft_msg_error image_check(uint32_t slot, struct weft_flash_image *h, bool load)
{
	const uint32_t at = slot_address(slot);
	struct sums s;

	flash_read(at, (uint32_t *)h, sizeof(*h) / 4);
	const enum weft_msg_error error = check_header(h);
	if (error)
		return error;
	const uint8_t *signature = (const uint8_t *)h->signature;
	s.crc = 0;
	s.is_signed = must_be_signed(h);
	ed25519_begin(&s.digest, owner_key, signature);
	sha512_add(&s.digest, h, SIGNED_BYTES);
	read_image(&s, at + header_bytes(h), load ? (uint32_t *)(uintptr_t)h->load : NULL, h->image_bytes / 4);
	if (s.crc != h->image_crc)
		return WEFT_MSG_ERR_FW_CRC;
	return !s.is_signed || ed25519_end(&s.digest, owner_key, signature) ? WEFT_MSG_ERR_OK : WEFT_MSG_ERR_FW_SIGNATURE;
}

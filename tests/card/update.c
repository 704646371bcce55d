/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Firmware updates on the functional chip: broken images are refused, by the
 * running firmware and by the boot ROM, and power may fail at any step. One
 * update there and back on the Verilated chip.
 *
 * At level test-full every bit of the image is flipped; otherwise every bit of
 * the header and a sample of the rest.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "tests/support/card.h"
#include "tests/support/level.h"
#include "tests/support/tensors.h"

#define DRAM (1u << 17)
/* Cycles within which an image is judged and started, or refused. */
#define START 12000000
#define SAID_BITS   (8 * offsetof(struct weft_flash_image, signature))
#define HEADER_BITS (8 * sizeof(struct weft_flash_image))

static struct card card;
static const struct weft_chip_ops *rtl;

static int setup(void **state)
{
	(void)state;
	card_open(&card, weft_chip_model(), "w16", DRAM);
	return 0;
}

static int setup_rtl(void **state)
{
	(void)state;
	card_open(&card, rtl, "w16", DRAM);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	card_close(&card);
	return 0;
}

/* A reset loses a message that had come; hence several. */
static struct weft_msg_hello_reply greet(void)
{
	struct weft_msg_hello_reply h;

	for (int i = 0; i < 6; i++)
		if (card_hello(&card, &h))
			return h;
	fail_msg("the card does not answer");
	return h;
}

static void fresh(void)
{
	struct weft_chip_plant none = { .kind = WEFT_CHIP_PLANT_NONE };

	assert_int_equal(card.ops->plant(card.chip, &none), 0);
	assert_int_equal(weft_flash_format(card.flash, WEFT_FLASH_BYTES, "TEST0001", card.image, card.image_bytes), 0);
	card_power(&card);
	card.n_done = 0;
	assert_int_equal(greet().slot, 0);
}

static uint8_t *newer(void)
{
	return card_image_with(card.image, card.image_bytes, offsetof(struct weft_flash_image, fw_version), 0x020304);
}

static void updates(void **state)
{
	uint8_t *image = newer();

	(void)state;
	fresh();
	assert_int_equal(card_update(&card, image, card.image_bytes), WEFT_MSG_ERR_OK);
	assert_int_equal(greet().slot, 0);
	assert_int_equal(card_ask(&card, WEFT_MSG_REBOOT, 0, 0, 0, NULL, 0), WEFT_MSG_ERR_OK);
	card_run(&card, 5000);
	struct weft_msg_hello_reply h = greet();
	assert_int_equal(h.slot, 1);
	assert_int_equal(h.fw_version, 0x020304);
	assert_int_equal(h.trial, 1);
	assert_int_equal(greet().trial, 0);
	card_power(&card);
	h = greet();
	assert_int_equal(h.slot, 1);
	assert_int_equal(h.trial, 0);
	/* And back into slot 0. */
	assert_int_equal(card_update(&card, card.image, card.image_bytes), WEFT_MSG_ERR_OK);
	card_power(&card);
	h = greet();
	assert_int_equal(h.slot, 0);
	assert_int_equal(h.fw_crc, greet().fw_crc);
	assert_true(h.fw_version != 0x020304);
	free(image);
}

/* A lost answer: the same part again is not written twice. */
static void repeats_parts(void **state)
{
	uint32_t words[2 + WEFT_MSG_FW_CHUNK / 4] = { WEFT_MSG_FW_DATA, 0 }, reply[2];
	enum weft_msg_error error;

	(void)state;
	fresh();
	assert_int_equal(card_ask(&card, WEFT_MSG_FW_BEGIN, (uint32_t)card.image_bytes, 0, 1, reply, 8), WEFT_MSG_ERR_OK);
	assert_int_equal(reply[1], 1);
	memcpy(words + 2, card.image, WEFT_MSG_FW_CHUNK);
	for (int i = 0; i < 3; i++) {
		card_message(&card, words, 2 + WEFT_MSG_FW_CHUNK / 4, reply, 2, &error);
		assert_int_equal(error, WEFT_MSG_ERR_OK);
		assert_int_equal(reply[1], WEFT_MSG_FW_CHUNK);
	}
	words[1] = 2 * WEFT_MSG_FW_CHUNK; /* one left out */
	card_message(&card, words, 2 + WEFT_MSG_FW_CHUNK / 4, reply, 2, &error);
	assert_int_equal(error, WEFT_MSG_ERR_FW_RANGE);
	words[1] = WEFT_MSG_FW_CHUNK;
	card_message(&card, words, 1 + WEFT_MSG_FW_CHUNK / 4, reply, 2, &error);
	assert_int_equal(error, WEFT_MSG_ERR_FW_RANGE);
	assert_int_equal(card_ask(&card, WEFT_MSG_FW_END, 0, 0, 0, NULL, 0), WEFT_MSG_ERR_FW_STATE);
	assert_int_equal(card_ask(&card, WEFT_MSG_FW_SWITCH, 0, 0, 0, NULL, 0), WEFT_MSG_ERR_FW_STATE);
	assert_int_equal(card_ask(&card, WEFT_MSG_FW_BEGIN, 3, 0, 1, NULL, 0), WEFT_MSG_ERR_FW_RANGE);
	assert_int_equal(card_ask(&card, WEFT_MSG_FW_BEGIN, 0xfffffffc, 0, 1, NULL, 0), WEFT_MSG_ERR_FW_RANGE);
	card_power(&card);
	assert_int_equal(greet().slot, 0);
}

/* Sent whole, then checked: neither may be switched to. */
static void refuse(const uint8_t *image, size_t bytes, enum weft_msg_error want)
{
	int error = card_update(&card, image, bytes);

	if (error != (int)want)
		fail_msg("image of %zu bytes: error %d, not %s", bytes, error, weft_msg_error_name(want));
	assert_int_equal(card_ask(&card, WEFT_MSG_FW_SWITCH, 0, 0, 0, NULL, 0), WEFT_MSG_ERR_FW_STATE);
}

static void refuses_other_versions(void **state)
{
	static const struct { size_t offset; uint32_t value; enum weft_msg_error error; } cases[] = {
		{ offsetof(struct weft_flash_image, chip_version), WEFT_CHIP_VERSION_VALUE + 0x10000, WEFT_MSG_ERR_FW_VERSION },
		{ offsetof(struct weft_flash_image, chip_version), 0, WEFT_MSG_ERR_FW_VERSION },
		{ offsetof(struct weft_flash_image, protocol), WEFT_MSG_VERSION_VALUE + 0x10000, WEFT_MSG_ERR_FW_VERSION },
		{ offsetof(struct weft_flash_image, header_version), 3, WEFT_MSG_ERR_FW_HEADER },
		{ offsetof(struct weft_flash_image, header_version), 0, WEFT_MSG_ERR_FW_HEADER },
		{ offsetof(struct weft_flash_image, security_version), WEFT_FLASH_IMAGE_SECURITY + 1, WEFT_MSG_ERR_FW_HEADER },
		{ offsetof(struct weft_flash_image, key_id), 1, WEFT_MSG_ERR_FW_KEY },
		{ offsetof(struct weft_flash_image, load), WEFT_CHIP_ROM_BASE, WEFT_MSG_ERR_FW_HEADER },
		{ offsetof(struct weft_flash_image, load), WEFT_CHIP_RAM_BASE + 4, WEFT_MSG_ERR_FW_HEADER },
		{ offsetof(struct weft_flash_image, entry), WEFT_CHIP_RAM_BASE - 4, WEFT_MSG_ERR_FW_HEADER },
		{ offsetof(struct weft_flash_image, entry), WEFT_CHIP_RAM_BASE + 2, WEFT_MSG_ERR_FW_HEADER },
		{ offsetof(struct weft_flash_image, entry), WEFT_CHIP_RAM_BASE + 0x8000, WEFT_MSG_ERR_FW_HEADER },
		{ offsetof(struct weft_flash_image, image_bytes), 0, WEFT_MSG_ERR_FW_HEADER },
		{ offsetof(struct weft_flash_image, image_bytes), 0x7fffffff, WEFT_MSG_ERR_FW_HEADER },
		{ offsetof(struct weft_flash_image, image_bytes), 0xfffffffc, WEFT_MSG_ERR_FW_HEADER },
		{ offsetof(struct weft_flash_image, image_crc), 0, WEFT_MSG_ERR_FW_CRC },
	};

	(void)state;
	fresh();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t *image = card_image_with(card.image, card.image_bytes, cases[i].offset, cases[i].value);

		refuse(image, card.image_bytes, cases[i].error);
		free(image);
	}
	greet();
}

static void refuses_truncated(void **state)
{
	size_t step = test_level() == 2 ? 4 : card.image_bytes / 40 & ~3ull;

	(void)state;
	fresh();
	for (size_t n = sizeof(struct weft_flash_image) + 4; n < card.image_bytes; n += step)
		refuse(card.image, n, WEFT_MSG_ERR_FW_CRC);
	/* Longer than it says. */
	uint8_t *longer = calloc(1, card.image_bytes + 8);
	memcpy(longer, card.image, card.image_bytes);
	refuse(longer, card.image_bytes + 8, WEFT_MSG_ERR_FW_RANGE);
	free(longer);
	greet();
}

/* Every bit of what the header says, some of the signature, which only the slow arithmetic sees, some of the code. */
static size_t next_bit(size_t bit, uint64_t *rng)
{
	if (bit + 1 < SAID_BITS || test_level() == 2)
		return bit + 1;
	if (bit + 1 < HEADER_BITS)
		return bit + 1 + test_random(rng) % (512 / (size_t)test_count(10, 40, 1));
	return bit + 1 + test_random(rng) % (8 * card.image_bytes / (size_t)test_count(40, 120, 1));
}

/* The running firmware refuses each. */
static void refuses_flipped_bits(void **state)
{
	uint64_t rng = test_seed(1);
	unsigned n = 0;
	uint8_t *copy = malloc(card.image_bytes);

	(void)state;
	fresh();
	memcpy(copy, card.image, card.image_bytes);
	for (size_t bit = 0; bit < 8 * card.image_bytes; bit = next_bit(bit, &rng), n++) {
		copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
		int error = card_update(&card, copy, card.image_bytes);
		if (error != (int)(bit < SAID_BITS ? WEFT_MSG_ERR_FW_HEADER : bit < HEADER_BITS ? WEFT_MSG_ERR_FW_SIGNATURE : WEFT_MSG_ERR_FW_CRC))
			fail_msg("bit %zu: error %d", bit, error);
		copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	assert_int_equal(greet().slot, 0);
	printf("%u flipped bits refused\n", n);
	free(copy);
}

/* The boot ROM refuses each in the slot that it should start, and takes the other;
 * with no good one it takes an update itself. */
static void boots_around_flipped_bits(void **state)
{
	uint64_t rng = test_seed(2);
	unsigned n = 0;

	(void)state;
	fresh();
	uint8_t *image = newer();
	assert_int_equal(card_update(&card, image, card.image_bytes), WEFT_MSG_ERR_OK);
	card_power(&card);
	assert_int_equal(greet().slot, 1);
	/* Each costs a start with a good image. */
	for (size_t bit = 0; bit < 8 * card.image_bytes; bit = next_bit(bit, &rng) + (test_level() < 2 && bit < SAID_BITS ? 6 : 0), n++) {
		card.flash[WEFT_FLASH_SLOT_B + bit / 8] ^= (uint8_t)(1u << bit % 8);
		card_power(&card);
		if (greet().slot != 0)
			fail_msg("bit %zu of slot B: slot %u starts", bit, greet().slot);
		card.flash[WEFT_FLASH_SLOT_B + bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	card_power(&card);
	assert_int_equal(greet().slot, 1);
	printf("%u flipped bits: the boot ROM takes the other slot\n", n);
	free(image);
}

static void rescues(void **state)
{
	struct weft_msg_hello_reply h;

	(void)state;
	fresh();
	card.flash[WEFT_FLASH_SLOT_A + 100] ^= 1;
	card_power(&card);
	h = greet();
	assert_int_equal(h.slot, 2);
	assert_int_equal(h.jobs_max, 0);
	assert_memory_equal(h.serial, "TEST0001", 8);
	assert_int_equal(card_ask(&card, WEFT_MSG_STATS, 0, 0, 0, NULL, 0), WEFT_MSG_ERR_TYPE);
	for (int i = 0; i < 20; i++) /* it kicks the watchdog */
		card.ops->run(card.chip, WEFT_CHIP_BOOT_PERIOD / 3);
	assert_int_equal(greet().boot_count, h.boot_count);
	assert_int_equal(card_update(&card, card.image, card.image_bytes), WEFT_MSG_ERR_OK);
	assert_int_equal(card_ask(&card, WEFT_MSG_REBOOT, 0, 0, 0, NULL, 0), WEFT_MSG_ERR_OK);
	card_run(&card, 5000);
	h = greet();
	assert_int_equal(h.slot, 0);
	/* Nothing in the flash at all. */
	memset(card.flash, 0xff, WEFT_FLASH_BYTES);
	card_power(&card);
	assert_int_equal(greet().slot, 2);
	assert_int_equal(card_update(&card, card.image, card.image_bytes), WEFT_MSG_ERR_OK);
	card_power(&card);
	assert_int_equal(greet().slot, 0);
	memset(card.flash, 0, WEFT_FLASH_BYTES);
	card_power(&card);
	assert_int_equal(greet().slot, 2);
}

/* A sound image whose code never answers is given up after its tries. */
static void falls_back_from_a_dead_image(void **state)
{
	uint8_t *image = card_dead_image(card.image, card.image_bytes);
	struct weft_msg_hello_reply r;

	(void)state;
	fresh();
	assert_int_equal(card_update(&card, image, card.image_bytes), WEFT_MSG_ERR_OK);
	card_power(&card);
	card.patience = 5 * (START + WEFT_CHIP_BOOT_PERIOD);
	r = greet();
	assert_int_equal(r.slot, 0);
	assert_int_equal(r.boot_count, WEFT_FLASH_BOOT_TRIES + 1);
	assert_int_equal(r.reset_cause, WEFT_CHIP_CAUSE_WATCHDOG);
	card_power(&card);
	assert_int_equal(greet().slot, 0);
	/* And it can be replaced. */
	free(image);
	image = newer();
	assert_int_equal(card_update(&card, image, card.image_bytes), WEFT_MSG_ERR_OK);
	card_power(&card);
	assert_int_equal(greet().slot, 1);
	free(image);
}

/*
 * Power fails in the middle of flash operation number i, for every i of an update
 * with the confirmation behind it: the card comes back with one of both images,
 * and the update can be done again.
 */
static void survives_power_cuts(void **state)
{
	uint8_t *image = newer();
	unsigned n = 0, old = 0, step = test_level() ? 1 : 5;
	bool cut = true;
	const uint32_t old_version = ((struct weft_flash_image *)(void *)card.image)->fw_version;

	(void)state;
	for (uint64_t i = 0; cut; i += step, n++) {
		struct weft_chip_plant p = { .kind = WEFT_CHIP_PLANT_POWER_CUT, .addr = i };
		struct weft_msg_hello_reply h;

		fresh();
		assert_int_equal(card.ops->plant(card.chip, &p), 0);
		card.patience = START;
		int error = card_update(&card, image, card.image_bytes);
		if (!error) /* the cut may still meet the try or the confirmation */
			card.ops->reset(card.chip, WEFT_CHIP_CAUSE_HOST);
		h = greet();
		card_run(&card, START);
		assert_in_range(h.slot, 0, 1);
		assert_int_equal(h.fw_version, h.slot ? 0x020304 : old_version);
		assert_true(!error || error == -1);
		/* Nothing was cut: the host's reset is the second start. */
		cut = greet().boot_count == 1;
		card_power(&card);
		h = greet();
		old += !h.slot;
		if (h.slot == 0)
			assert_int_equal(card_update(&card, image, card.image_bytes), 0);
		card_power(&card);
		assert_int_equal(greet().slot, 1);
	}
	printf("power cut in each of %u operations: %u came back with the old image\n", (n - 1) * step, old);
	assert_true(n * step > card.image_bytes / 256);
	free(image);
}

/* The same where the new image is dead and goes into slot 0: only the image that ran
 * before can come back, so its boot record has to outlive every moment. */
static void survives_power_cuts_with_a_dead_image(void **state)
{
	uint8_t *good = newer(), *image = card_dead_image(card.image, card.image_bytes), *flash = malloc(WEFT_FLASH_BYTES);
	uint64_t n_parts = (card.image_bytes + 255) / 256 + (card.image_bytes + 4095) / 4096;
	bool cut = true;
	unsigned n = 0;

	(void)state;
	assert_non_null(flash);
	fresh();
	assert_int_equal(card_update(&card, good, card.image_bytes), 0);
	card_power(&card);
	assert_int_equal(greet().slot, 1);
	memcpy(flash, card.flash, WEFT_FLASH_BYTES);
	/* The image's own parts were cut above. */
	for (uint64_t i = test_level() == 2 ? 0 : n_parts - 2; cut; i++, n++) {
		struct weft_chip_plant p = { .kind = WEFT_CHIP_PLANT_POWER_CUT, .addr = i };

		memcpy(card.flash, flash, WEFT_FLASH_BYTES);
		card_power(&card);
		card.patience = START;
		assert_int_equal(greet().slot, 1);
		assert_int_equal(card.ops->plant(card.chip, &p), 0);
		int error = card_update(&card, image, card.image_bytes);
		if (!error)
			card.ops->reset(card.chip, WEFT_CHIP_CAUSE_HOST);
		card_run(&card, 5 * (START + WEFT_CHIP_BOOT_PERIOD));
		struct weft_msg_hello_reply h = greet();
		assert_int_equal(h.slot, 1);
		/* Host's reset and three tries: five starts when nothing was cut. */
		cut = h.boot_count < 5;
		card_power(&card);
		assert_int_equal(greet().slot, 1);
	}
	assert_true(n > 7);
	printf("%u power cuts around a dead image: the one before comes back\n", n - 1);
	free(good);
	free(image);
	free(flash);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(updates),
		cmocka_unit_test(repeats_parts),
		cmocka_unit_test(refuses_other_versions),
		cmocka_unit_test(refuses_truncated),
		cmocka_unit_test(refuses_flipped_bits),
		cmocka_unit_test(boots_around_flipped_bits),
		cmocka_unit_test(rescues),
		cmocka_unit_test(falls_back_from_a_dead_image),
		cmocka_unit_test(survives_power_cuts),
		cmocka_unit_test(survives_power_cuts_with_a_dead_image),
	};

	const struct CMUnitTest rtl_tests[] = { cmocka_unit_test(updates) };
	int failed = cmocka_run_group_tests_name("functional", tests, setup, teardown);

	if (!test_level())
		return failed;
	rtl = card_rtl("w16");
	return failed + (rtl ? cmocka_run_group_tests_name("rtl", rtl_tests, setup_rtl, teardown) : card_rtl_missing());
}

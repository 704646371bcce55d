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
	card.patience = 5 * START;
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
	unsigned n = 0, old = 0, step = test_level() == 2 ? 1 : 5;
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

/* ---- images that are sound and do harm ---- */

/* Where the built firmware has something. */
static uint32_t address_of(const char *symbol)
{
	char line[400];
	unsigned long at = 0;

	snprintf(line, sizeof(line), "riscv64-unknown-elf-nm %s/firmware/main.elf | sed -n 's/ [TBD] %s$//p'", test_env("WEFT_BUILD", "build"), symbol);
	FILE *f = popen(line, "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lx", &at), 1);
	pclose(f);
	return (uint32_t)at;
}

/* Where a function of it stands in the image's code. */
static size_t code_of(const char *symbol)
{
	const uint32_t at = address_of(symbol);

	assert_true(at > WEFT_CHIP_RAM_BASE && at < WEFT_CHIP_RAM_BASE + card.image_bytes);
	return at - WEFT_CHIP_RAM_BASE;
}

enum { HANGS = 0x0000006f, TRAPS = 0 };

/* An image that answers everything but updates: they hang it, or trap. Unsigned: started at once by either chip. */
static uint8_t *brick(uint32_t how, size_t *n)
{
	uint8_t *whole = card_image_patched(card.image, card.image_bytes, code_of("update_message"), how);
	uint8_t *image = card_image_unsigned(whole, card.image_bytes, n);

	free(whole);
	return image;
}

/* It is asked for an update and does not come back with an answer. */
static void dies(void)
{
	const uint64_t keep = card.patience;
	enum weft_msg_error error;

	card.patience = WEFT_CHIP_BOOT_PERIOD + WEFT_CHIP_BOOT_PERIOD / 2;
	const unsigned n = card_message(&card, (uint32_t[]){ WEFT_MSG_FW_BEGIN, 4096 }, 2, NULL, 0, &error);
	card.patience = keep;
	assert_int_equal(n, 0);
}

/* The good image, unsigned too, in slot 0, and a brick in slot 1, which has answered HELLO: it is confirmed. */
static void install_brick(uint32_t how)
{
	const struct weft_chip_plant none = { .kind = WEFT_CHIP_PLANT_NONE };
	size_t n, n_good;

	card.patience = 5 * START;
	uint8_t *image = brick(how, &n), *good = card_image_unsigned(card.image, card.image_bytes, &n_good);

	assert_int_equal(card.ops->plant(card.chip, &none), 0);
	assert_int_equal(weft_flash_format(card.flash, WEFT_FLASH_BYTES, "TEST0001", good, n_good), 0);
	card_power(&card);
	assert_int_equal(greet().slot, 0);
	assert_int_equal(card_update(&card, image, n), WEFT_MSG_ERR_OK);
	card_power(&card);
	assert_int_equal(greet().slot, 1);
	assert_int_equal(greet().trial, 0);
	free(image);
	free(good);
}

/* Three bad ends, and the other slot starts; nothing else was asked of anybody. Then it takes an update. */
static void recovers_from_a_brick(void **state)
{
	(void)state;
	for (int trap = 0; trap < 2; trap++) {
		size_t n;
		uint8_t *good;

		install_brick(trap ? TRAPS : HANGS);
		for (unsigned i = 0; i < WEFT_FLASH_BOOT_TRIES; i++) {
			assert_int_equal(greet().slot, 1);
			dies();
		}
		const struct weft_msg_hello_reply h = greet();
		assert_int_equal(h.slot, 0);
		assert_int_equal(h.reset_cause, trap ? WEFT_CHIP_CAUSE_SOFTWARE : WEFT_CHIP_CAUSE_WATCHDOG);
		/* A reset by the host changes nothing; a new image begins anew. */
		card.ops->reset(card.chip, WEFT_CHIP_CAUSE_HOST);
		assert_int_equal(greet().slot, 0);
		good = card_image_unsigned(card.image, card.image_bytes, &n);
		assert_int_equal(card_update(&card, good, n), WEFT_MSG_ERR_OK);
		card_power(&card);
		assert_int_equal(greet().slot, 1);
		free(good);
	}
}

/* Resets by the host and power cycles are no bad ends, and no image is blamed for what came before power was off. */
static void forgives_power_cycles(void **state)
{
	(void)state;
	install_brick(TRAPS);
	for (int i = 0; i < 3; i++) {
		dies();
		assert_int_equal(greet().slot, 1);
		dies();
		assert_int_equal(greet().slot, 1);
		card.ops->reset(card.chip, WEFT_CHIP_CAUSE_HOST);
		assert_int_equal(greet().slot, 1);
		card_power(&card);
		assert_int_equal(greet().slot, 1);
	}
	/* On trial, too: without a host it stays on trial. */
	fresh();
	uint8_t *image = newer();
	assert_int_equal(card_update(&card, image, card.image_bytes), WEFT_MSG_ERR_OK);
	for (int i = 0; i < 6; i++) {
		card_power(&card);
		card_run(&card, START);
	}
	assert_int_equal(greet().slot, 1);
	free(image);
}

/* Bricks in both slots: the ROM answers, and takes an update. */
static void rescues_from_two_bricks(void **state)
{
	size_t n;
	uint8_t *image = brick(HANGS, &n), *good;

	(void)state;
	install_brick(TRAPS);
	memcpy(card.flash + WEFT_FLASH_SLOT_A, image, n);
	card_power(&card);
	for (unsigned i = 0; i < 2 * WEFT_FLASH_BOOT_TRIES; i++) {
		assert_int_equal(greet().slot, i < WEFT_FLASH_BOOT_TRIES);
		dies();
	}
	assert_int_equal(greet().slot, 2);
	good = card_image_unsigned(card.image, card.image_bytes, &n);
	assert_int_equal(card_update(&card, good, n), WEFT_MSG_ERR_OK);
	card.ops->reset(card.chip, WEFT_CHIP_CAUSE_HOST);
	assert_int_equal(greet().slot, 0);
	free(good);
	free(image);
}

/* ---- memory protection ---- */

/* Entries of the log that name a trap: its cause and mtval of the last one. */
static bool last_trap(uint32_t *cause, uint32_t *value)
{
	struct { struct weft_msg_log_read_reply r; struct weft_msg_log_entry e[WEFT_MSG_LOG_MAX]; } a;
	bool found = false;
	uint32_t at = 0;

	do {
		memset(&a, 0, sizeof(a));
		assert_int_equal(card_ask(&card, WEFT_MSG_LOG_READ, at, 0, 1, &a, sizeof(a)), WEFT_MSG_ERR_OK);
		for (unsigned i = 0; i < WEFT_MSG_LOG_MAX && a.e[i].code; i++) {
			at = a.e[i].index + 1;
			found |= a.e[i].code == WEFT_LOG_TRAP;
			if (a.e[i].code == WEFT_LOG_TRAP)
				*cause = a.e[i].a;
			if (a.e[i].code == WEFT_LOG_TRAP_VALUE)
				*value = a.e[i].a;
		}
	} while (at < a.r.next);
	return found;
}

/*
 * Images whose update handler tries what the firmware forbids itself: it traps where it does, with the address. Without
 * protection the store into code and the one below the stack go through, and instructions in card memory are executed.
 */
static void protects_memory(void **state)
{
	static const struct { const char *what; uint32_t code[3], cause, value; } tries[] = {
		{ "a store into code", { 0x100002b7, 0x0002a023, 0x00008067 }, WEFT_CHIP_MCAUSE_STORE_FAULT, 0x10000000 },
		{ "code in card memory", { 0x800002b7, 0x00028067, 0 }, WEFT_CHIP_MCAUSE_FETCH_FAULT, 0x80000000 },
		{ "code on the stack", { 0x1000d2b7, 0x00028067, 0 }, WEFT_CHIP_MCAUSE_FETCH_FAULT, 0x1000d000 },
		{ "a store below the stack", { 0x1000c2b7, 0xfe02ae23, 0x00008067 }, WEFT_CHIP_MCAUSE_STORE_FAULT, 0x1000bffc },
		{ "a load below the stack", { 0x1000c2b7, 0xffc2a283, 0x00008067 }, WEFT_CHIP_MCAUSE_LOAD_FAULT, 0x1000bffc },
		{ "an entry changed, then a store", { 0x3a005073, 0x100002b7, 0x0002a023 }, WEFT_CHIP_MCAUSE_STORE_FAULT, 0x10000000 },
	};
	const struct weft_chip_plant none = { .kind = WEFT_CHIP_PLANT_NONE };

	(void)state;
	assert_int_equal(card.ops->plant(card.chip, &none), 0);
	card.patience = 5 * START;
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		const size_t at = sizeof(struct weft_flash_image) + code_of("update_message");
		size_t n;
		uint8_t *image = malloc(card.image_bytes), *plain;
		uint32_t cause = 0, value = 0;

		assert_non_null(image);
		memcpy(image, card.image, card.image_bytes);
		memcpy(image + at, tries[i].code, sizeof(tries[i].code));
		const uint32_t crc = (uint32_t)crc32(0, image + sizeof(struct weft_flash_image), (uInt)(card.image_bytes - sizeof(struct weft_flash_image)));
		memcpy(image + offsetof(struct weft_flash_image, image_crc), &crc, 4);
		plain = card_image_unsigned(image, card.image_bytes, &n);
		assert_int_equal(weft_flash_format(card.flash, WEFT_FLASH_BYTES, "TEST0001", plain, n), 0);
		card_power(&card);
		assert_int_equal(greet().slot, 0);
		assert_false(last_trap(&cause, &value));
		dies();
		assert_int_equal(greet().reset_cause, WEFT_CHIP_CAUSE_SOFTWARE);
		if (!last_trap(&cause, &value) || cause != tries[i].cause || value != tries[i].value)
			fail_msg("%s: cause %u at 0x%08x, not %u at 0x%08x", tries[i].what, cause, value, tries[i].cause, tries[i].value);
		free(plain);
		free(image);
	}
}

/* ---- the flash's lock ---- */

/*
 * An image, unsigned, whose update handler is this instead: stores of words to registers, (offset, value) after (offset, value)
 * from the message's third word on, up to offset 0. It answers nothing.
 */
static uint8_t *storing_image(size_t *n)
{
	const uint32_t list = address_of("msg_in") + 8, upper = (list + 0x800) >> 12;
	const uint32_t code[] = {
		upper << 12 | 0x2b7,                       /* lui  t0, upper */
		(list - (upper << 12)) << 20 | 0x28293,    /* addi t0, t0, rest */
		0x30000337,                                /* lui  t1, the registers */
		0x0002a383,                                /* lw   t2, 0(t0) */
		0x00038c63,                                /* beqz t2, end */
		0x006383b3,                                /* add  t2, t2, t1 */
		0x0042ae03,                                /* lw   t3, 4(t0) */
		0x01c3a023,                                /* sw   t3, 0(t2) */
		0x00828293,                                /* addi t0, t0, 8 */
		0xfe9ff06f,                                /* j    to the first lw */
		0x00008067,                                /* end: ret */
	};
	const size_t at = sizeof(struct weft_flash_image) + code_of("update_message");
	uint8_t *image = malloc(card.image_bytes), *plain;

	assert_non_null(image);
	memcpy(image, card.image, card.image_bytes);
	memcpy(image + at, code, sizeof(code));
	const uint32_t crc = (uint32_t)crc32(0, image + sizeof(struct weft_flash_image), (uInt)(card.image_bytes - sizeof(struct weft_flash_image)));
	memcpy(image + offsetof(struct weft_flash_image, image_crc), &crc, 4);
	plain = card_image_unsigned(image, card.image_bytes, n);
	free(image);
	return plain;
}

#define SELECT   { WEFT_CHIP_FLASH_CONTROL, 1 }
#define RELEASE  { WEFT_CHIP_FLASH_CONTROL, 0 }
#define BYTE(b)  { WEFT_CHIP_FLASH_BYTE, b }
#define WORD(w)  { WEFT_CHIP_FLASH_WORD, w }
#define ENABLE   SELECT, BYTE(WEFT_FLASH_CMD_WRITE_ENABLE), RELEASE
/* Command and address, as a word has them; a0 is the address's byte that goes first. */
#define CALL(cmd, a0, a1, a2) WORD((uint32_t)(cmd) | (uint32_t)(a0) << 8 | (uint32_t)(a1) << 16 | (uint32_t)(a2) << 24)

/* Stores for the image above, behind reads of the status until the flash is ready. */
static void store(const uint32_t (*stores)[2], size_t n)
{
	static const uint32_t ready[][2] = { SELECT, BYTE(WEFT_FLASH_CMD_READ_STATUS), WORD(0), WORD(0), RELEASE };
	uint32_t words[WEFT_FRAME_MSG_MAX / 4] = { WEFT_MSG_FW_DATA, 0 };
	const size_t begin = 2 + sizeof(ready) / 4;

	assert_in_range(begin + 2 * n + 1, 1, sizeof(words) / 4);
	memcpy(words + 2, ready, sizeof(ready));
	memcpy(words + begin, stores, n * sizeof(*stores));
	assert_true(card_send(&card, WEFT_FRAME_MSG, 77, 0, words, (uint32_t)(4 * (begin + 2 * n + 1))));
	card_run(&card, 40000);
}

/*
 * Whatever an image tells the flash, the sectors in front of the slots stay as they are. The first three are what an image
 * may do: they show that the others would have been seen.
 */
static void locks_its_sectors(void **state)
{
	static const struct { const char *what; bool allowed; uint32_t stores[16][2]; } tries[] = {
		{ "a program of slot B", true, { ENABLE, SELECT, CALL(WEFT_FLASH_CMD_PROGRAM, 0x09, 0, 0), WORD(0x12345678), RELEASE } },
		{ "an erase of slot B", true, { ENABLE, SELECT, CALL(WEFT_FLASH_CMD_SECTOR_ERASE, 0x09, 0, 0), RELEASE } },
		{ "a program of the first word beyond", true, { ENABLE, SELECT, CALL(WEFT_FLASH_CMD_PROGRAM, 0x01, 0, 0), WORD(0), RELEASE } },
		{ "an erase of the floor", false, { ENABLE, SELECT, CALL(WEFT_FLASH_CMD_SECTOR_ERASE, 0, 0x30, 0), RELEASE } },
		{ "a program of the floor", false, { ENABLE, SELECT, CALL(WEFT_FLASH_CMD_PROGRAM, 0, 0x30, 4), WORD(0), RELEASE } },
		{ "an erase of record A", false, { ENABLE, SELECT, CALL(WEFT_FLASH_CMD_SECTOR_ERASE, 0, 0, 0), RELEASE } },
		{ "an erase of record B", false, { ENABLE, SELECT, CALL(WEFT_FLASH_CMD_SECTOR_ERASE, 0, 0x10, 0), RELEASE } },
		{ "an erase of the board record", false, { ENABLE, SELECT, CALL(WEFT_FLASH_CMD_SECTOR_ERASE, 0, 0x2f, 0xff), RELEASE } },
		{ "a program of the last word", false, { ENABLE, SELECT, CALL(WEFT_FLASH_CMD_PROGRAM, 0, 0xff, 0xfc), WORD(0), RELEASE } },
		{ "an erase whose address wraps", false, { ENABLE, SELECT, CALL(WEFT_FLASH_CMD_SECTOR_ERASE, 0x40, 0x30, 0), RELEASE } },
		{ "a program whose address wraps", false, { ENABLE, SELECT, CALL(WEFT_FLASH_CMD_PROGRAM, 0xc0, 0x30, 4), WORD(0), RELEASE } },
		{ "an erase byte by byte", false, { ENABLE, SELECT, BYTE(WEFT_FLASH_CMD_SECTOR_ERASE), BYTE(0), BYTE(0x30), BYTE(0), RELEASE } },
		{ "the same, more in the word", false, { ENABLE, SELECT, BYTE(WEFT_FLASH_CMD_SECTOR_ERASE | 0x0900), BYTE(0), BYTE(0x30), BYTE(0), RELEASE } },
		{ "a program byte by byte", false, { ENABLE, SELECT, BYTE(WEFT_FLASH_CMD_PROGRAM), BYTE(0), BYTE(0x30), BYTE(4), BYTE(0), RELEASE } },
		{ "a program by a byte and a word", false, { ENABLE, SELECT, BYTE(WEFT_FLASH_CMD_PROGRAM), WORD(0x043000), BYTE(0), RELEASE } },
		{ "an erase of 32 KiB", false, { ENABLE, SELECT, CALL(WEFT_FLASH_CMD_HALF_ERASE, 0, 0, 0), RELEASE } },
		{ "an erase of 64 KiB", false, { ENABLE, SELECT, CALL(WEFT_FLASH_CMD_BLOCK_ERASE, 0, 0, 0), RELEASE } },
		{ "an erase of the chip", false, { ENABLE, SELECT, BYTE(WEFT_FLASH_CMD_CHIP_ERASE), RELEASE } },
		{ "the same again, selected as it is", false, { ENABLE, SELECT, SELECT, BYTE(WEFT_FLASH_CMD_CHIP_ERASE), RELEASE } },
		{ "a command behind one that was refused", false, { ENABLE, SELECT, BYTE(WEFT_FLASH_CMD_CHIP_ERASE), CALL(WEFT_FLASH_CMD_SECTOR_ERASE, 0, 0x30, 0), RELEASE } },
		{ "the lock taken back, then an erase", false, { { WEFT_CHIP_FLASH_LOCK, 0 }, ENABLE, SELECT, CALL(WEFT_FLASH_CMD_SECTOR_ERASE, 0, 0x30, 0), RELEASE } },
	};
	const struct weft_chip_plant none = { .kind = WEFT_CHIP_PLANT_NONE };
	const struct weft_flash_floor one = { .magic = WEFT_FLASH_FLOOR_MAGIC, .bits = { ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u } };
	uint8_t *flash = malloc(WEFT_FLASH_BYTES);
	size_t n;
	uint8_t *image = storing_image(&n);

	(void)state;
	assert_non_null(flash);
	card.patience = 5 * START;
	assert_int_equal(card.ops->plant(card.chip, &none), 0);
	assert_int_equal(weft_flash_format(card.flash, WEFT_FLASH_BYTES, "TEST0001", image, n), 0);
	memcpy(card.flash + WEFT_FLASH_FLOOR, &one, sizeof(one));
	card_power(&card);
	assert_int_equal(greet().slot, 0);
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		memset(card.flash + WEFT_FLASH_SLOT_B, 0xa5, WEFT_FLASH_SECTOR_BYTES);
		memcpy(flash, card.flash, WEFT_FLASH_BYTES);
		store(tries[i].stores, sizeof(tries[i].stores) / sizeof(tries[i].stores[0]));
		if (memcmp(flash, card.flash, WEFT_FLASH_LOCKED_BYTES) != 0)
			fail_msg("%s: went through", tries[i].what);
		if (!memcmp(flash, card.flash, WEFT_FLASH_BYTES) == tries[i].allowed)
			fail_msg("%s: %s", tries[i].what, tries[i].allowed ? "did nothing" : "went through, beside the lock");
		memcpy(card.flash, flash, WEFT_FLASH_BYTES);
	}
	/* The core lives; and the lock is no image's that comes after a reset. */
	assert_int_equal(greet().slot, 0);
	card.ops->reset(card.chip, WEFT_CHIP_CAUSE_HOST);
	assert_int_equal(greet().floor, 0);
	store(tries[3].stores, sizeof(tries[3].stores) / sizeof(tries[3].stores[0]));
	assert_memory_equal(flash, card.flash, WEFT_FLASH_LOCKED_BYTES);
	printf("%zu ways to write: refused in front of the slots\n", sizeof(tries) / sizeof(tries[0]) - 3);
	free(flash);
	free(image);
}

/* Put an entry where the firmware puts what it asks of the boot ROM. */
static void put_request(unsigned at, uint32_t what, uint32_t seq, uint32_t value)
{
	struct weft_flash_request q = { WEFT_FLASH_REQUEST_MAGIC, what, seq, value, 0 };

	q.crc = (uint32_t)crc32(0, (const uint8_t *)&q, offsetof(struct weft_flash_request, crc));
	memcpy(card.flash + WEFT_FLASH_REQUEST + at * sizeof(q), &q, sizeof(q));
}

static bool nothing_asked(void)
{
	for (size_t i = 0; i < WEFT_FLASH_SECTOR_BYTES; i++)
		if (card.flash[WEFT_FLASH_REQUEST + i] != 0xff)
			return false;
	return true;
}

/* What an image may ask for is what the host may: the ROM leaves the rest out, and its sector is blank then. */
static void carries_out_no_more(void **state)
{
	static const struct { uint32_t what, seq, value; } bad[] = {
		{ WEFT_FLASH_REQUEST_FLOOR, 0, 2 }, { WEFT_FLASH_REQUEST_FLOOR, 0, ~0u }, { WEFT_FLASH_REQUEST_SLOT, 1, 1 },
		{ WEFT_FLASH_REQUEST_SLOT, 3, 1 }, { WEFT_FLASH_REQUEST_SLOT, ~0u, 1 }, { WEFT_FLASH_REQUEST_SLOT, 2, 2 },
		{ WEFT_FLASH_REQUEST_CONFIRM, 2, 0 }, { 0, 2, 1 }, { 9, 2, 1 },
	};
	uint8_t *records = malloc(WEFT_FLASH_LOCKED_BYTES);

	(void)state;
	assert_non_null(records);
	fresh();
	memcpy(records, card.flash, WEFT_FLASH_LOCKED_BYTES);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put_request(0, bad[i].what, bad[i].seq, bad[i].value);
		card_power(&card);
		assert_int_equal(greet().slot, 0);
		assert_memory_equal(records, card.flash, WEFT_FLASH_LOCKED_BYTES);
		assert_true(nothing_asked());
	}
	/* Anything at all, and entries behind broken ones. Slot B is empty: the record changes, slot A starts. */
	memset(card.flash + WEFT_FLASH_REQUEST, 0x5a, WEFT_FLASH_PAGE_BYTES);
	put_request(3, WEFT_FLASH_REQUEST_SLOT, 2, 1);
	card_power(&card);
	assert_int_equal(greet().slot, 0);
	assert_true(nothing_asked());
	assert_int_equal(((struct weft_flash_record *)(void *)(card.flash + WEFT_FLASH_RECORD_B))->seq, 2);
	free(records);
}

/* A host that never resets the card is told so; what it asked for last counts. */
static void says_when_too_much_is_asked(void **state)
{
	uint8_t *image = newer();
	unsigned n = 0;
	uint32_t reply[2];

	(void)state;
	fresh();
	assert_int_equal(card_update(&card, image, card.image_bytes), WEFT_MSG_ERR_OK);
	card_power(&card);
	assert_int_equal(greet().slot, 1);
	assert_int_equal(greet().trial, 0);
	/* The confirmation is one; the same slot again is none. */
	for (; n < WEFT_FLASH_REQUEST_ENTRIES - 1; n++)
		for (int again = 0; again < 2; again++)
			assert_int_equal(card_ask(&card, WEFT_MSG_FW_BOOT, n % 2, 0, 1, reply, 8), WEFT_MSG_ERR_OK);
	assert_int_equal(card_ask(&card, WEFT_MSG_FW_BOOT, n % 2, 0, 1, reply, 8), WEFT_MSG_ERR_FW_STATE);
	assert_int_equal(card_ask(&card, WEFT_MSG_FW_BOOT, !(n % 2), 0, 1, reply, 8), WEFT_MSG_ERR_OK);
	card_power(&card);
	assert_int_equal(greet().slot, !(n % 2));
	assert_int_equal(card_ask(&card, WEFT_MSG_FW_BOOT, n % 2, 0, 1, reply, 8), WEFT_MSG_ERR_OK);
	/* A rescue takes it back: what it installs itself starts. */
	card.ops->strap(card.chip, true);
	card_power(&card);
	assert_int_equal(greet().slot, 2);
	assert_int_equal(card_update(&card, card.image, card.image_bytes), WEFT_MSG_ERR_OK);
	card.ops->strap(card.chip, false);
	card_power(&card);
	assert_int_equal(greet().slot, 0);
	assert_true(greet().fw_version != 0x020304);
	free(image);
}

/* ---- rescue ---- */

/* The board's button at a start: the boot ROM answers, whatever is in the flash; not when it is held later. */
static void rescues_by_the_button(void **state)
{
	const struct weft_chip_plant none = { .kind = WEFT_CHIP_PLANT_NONE };
	size_t n;
	uint8_t *image = card_image_unsigned(card.image, card.image_bytes, &n);

	(void)state;
	card.patience = 5 * START;
	assert_int_equal(card.ops->plant(card.chip, &none), 0);
	assert_int_equal(weft_flash_format(card.flash, WEFT_FLASH_BYTES, "TEST0001", image, n), 0);
	for (int power = 0; power < 2; power++) {
		card_power(&card);
		assert_int_equal(greet().slot, 0);
		card.ops->strap(card.chip, true);
		assert_int_equal(greet().slot, 0);
		card.ops->reset(card.chip, power ? WEFT_CHIP_CAUSE_POWER : WEFT_CHIP_CAUSE_HOST);
		assert_int_equal(greet().slot, 2);
		card.ops->strap(card.chip, false);
		assert_int_equal(greet().slot, 2);
		card.ops->reset(card.chip, WEFT_CHIP_CAUSE_HOST);
		assert_int_equal(greet().slot, 0);
	}
	free(image);
}

/* n resets, each before the ROM has judged an image. */
static void reset_often(unsigned n)
{
	while (n--) {
		card.ops->reset(card.chip, WEFT_CHIP_CAUSE_HOST);
		card.ops->run(card.chip, 20000);
	}
}

/* An image that answers nobody, or whatever else it does: resets by the host bring the boot ROM. */
static void rescues_by_resets(void **state)
{
	size_t n, n_good;
	uint8_t *dead = card_dead_image(card.image, card.image_bytes), *image = card_image_unsigned(dead, card.image_bytes, &n);
	uint8_t *good = card_image_unsigned(card.image, card.image_bytes, &n_good);
	const uint64_t keep = card.patience;

	(void)state;
	assert_int_equal(weft_flash_format(card.flash, WEFT_FLASH_BYTES, "TEST0001", image, n), 0);
	memcpy(card.flash + WEFT_FLASH_SLOT_B, good, n_good);
	card_power(&card);
	card_run(&card, 400000);
	/* One too few, or with an image started in between: not yet. */
	reset_often(WEFT_FLASH_RESCUE_RESETS - 1);
	card.patience = WEFT_CHIP_BOOT_PERIOD / 2;
	struct weft_msg_hello_reply h;
	assert_false(card_hello(&card, &h));
	card.patience = keep;
	reset_often(WEFT_FLASH_RESCUE_RESETS);
	h = greet();
	assert_int_equal(h.slot, 2);
	assert_int_equal(h.reset_cause, WEFT_CHIP_CAUSE_HOST);
	assert_int_equal(card_update(&card, good, n_good), WEFT_MSG_ERR_OK);
	card.ops->reset(card.chip, WEFT_CHIP_CAUSE_HOST);
	assert_int_equal(greet().slot, 0);
	free(dead);
	free(image);
	free(good);
}

/* ---- slots and the floor ---- */

static enum weft_msg_error order(enum weft_msg_type type, uint32_t value, uint32_t *now)
{
	uint32_t reply[2];
	const enum weft_msg_error error = card_ask(&card, type, value, 0, 1, reply, sizeof(reply));

	if (now)
		*now = reply[1];
	return error;
}

static void starts_the_slot_that_is_asked_for(void **state)
{
	uint8_t *image = newer();

	(void)state;
	fresh();
	assert_int_equal(order(WEFT_MSG_FW_BOOT, 1, NULL), WEFT_MSG_ERR_FW_HEADER);     /* nothing is there */
	assert_int_equal(order(WEFT_MSG_FW_BOOT, 2, NULL), WEFT_MSG_ERR_ARGUMENT);
	assert_int_equal(card_update(&card, image, card.image_bytes), WEFT_MSG_ERR_OK);
	card_power(&card);
	assert_int_equal(greet().slot, 1);
	for (uint32_t slot = 0; slot < 2; slot++) {
		assert_int_equal(order(WEFT_MSG_FW_BOOT, slot, NULL), WEFT_MSG_ERR_OK);
		card_power(&card);
		const struct weft_msg_hello_reply h = greet();
		assert_int_equal(h.slot, slot);
		assert_int_equal(h.trial, 1);
		assert_int_equal(greet().trial, 0);
	}
	free(image);
}

static uint8_t *with_security(uint32_t version)
{
	return card_image_with(card.image, card.image_bytes, offsetof(struct weft_flash_image, security_version), version);
}

/* Which image starts with these two in the flash, the record asking for slot 0. */
static uint32_t starts_of(const uint8_t *a, const uint8_t *b)
{
	memcpy(card.flash + WEFT_FLASH_SLOT_A, a, card.image_bytes);
	memcpy(card.flash + WEFT_FLASH_SLOT_B, b, card.image_bytes);
	card_power(&card);
	return greet().slot;
}

static void keeps_the_floor(void **state)
{
	uint8_t *v1 = with_security(1), *v2 = with_security(2), *v3 = with_security(3), *v256 = with_security(256);
	uint32_t now;
	size_t n;
	uint8_t *unsigned_image = card_image_unsigned(card.image, card.image_bytes, &n);

	(void)state;
	fresh();
	assert_int_equal(greet().floor, 0);
	assert_int_equal(order(WEFT_MSG_FW_FLOOR, 1, &now), WEFT_MSG_ERR_FW_HEADER);    /* slot 1 is empty */
	assert_int_equal(starts_of(v2, v3), 0);
	/* Not before somebody has greeted this start. */
	card_power(&card);
	assert_int_equal(order(WEFT_MSG_FW_FLOOR, 1, &now), WEFT_MSG_ERR_FW_STATE);
	assert_int_equal(greet().floor, 0);
	assert_int_equal(order(WEFT_MSG_FW_FLOOR, 3, &now), WEFT_MSG_ERR_ARGUMENT);     /* above the lower one */
	assert_int_equal(now, 0);
	assert_int_equal(order(WEFT_MSG_FW_FLOOR, 2, &now), WEFT_MSG_ERR_OK);
	assert_int_equal(now, 2);
	assert_int_equal(order(WEFT_MSG_FW_FLOOR, 2, &now), WEFT_MSG_ERR_OK);
	assert_int_equal(order(WEFT_MSG_FW_FLOOR, 1, &now), WEFT_MSG_ERR_ARGUMENT);     /* it only rises */
	/* From the next start on; until then the images stay that were looked at. */
	assert_int_equal(greet().floor, 0);
	assert_int_equal(card_update(&card, v1, card.image_bytes), WEFT_MSG_ERR_FW_STATE);
	card_power(&card);
	assert_int_equal(greet().floor, 2);
	assert_int_equal(order(WEFT_MSG_FW_FLOOR, 2, &now), WEFT_MSG_ERR_OK);
	assert_int_equal(order(WEFT_MSG_FW_FLOOR, 1, &now), WEFT_MSG_ERR_ARGUMENT);
	assert_true(nothing_asked());
	/* Older images: by update, and in the slot that should start. */
	assert_int_equal(card_update(&card, v1, card.image_bytes), WEFT_MSG_ERR_FW_ROLLBACK);
	assert_int_equal(card_update(&card, unsigned_image, n), WEFT_MSG_ERR_FW_ROLLBACK);
	assert_int_equal(card_update(&card, v2, card.image_bytes), WEFT_MSG_ERR_OK);
	assert_int_equal(starts_of(v1, v3), 1);
	assert_int_equal(starts_of(v1, v1), 2);
	assert_int_equal(greet().floor, 2);
	/* As high as it can be. */
	starts_of(v256, v256);
	assert_int_equal(order(WEFT_MSG_FW_FLOOR, 256, &now), WEFT_MSG_ERR_OK);
	assert_int_equal(now, 256);
	/* Images that are not there any more at the next start are no reason to lock them out. */
	assert_int_equal(starts_of(v256, v3), 1);
	assert_int_equal(greet().floor, 2);
	starts_of(v256, v256);
	assert_int_equal(order(WEFT_MSG_FW_FLOOR, 256, &now), WEFT_MSG_ERR_OK);
	card_power(&card);
	assert_int_equal(greet().floor, 256);
	assert_int_equal(starts_of(v256, v3), 0);
	free(v1);
	free(v2);
	free(v3);
	free(v256);
	free(unsigned_image);
}

/*
 * The older image, on either chip: in the slot that is to start and the newer one behind it; in both, where the boot ROM
 * answers and takes the newer one and not the older. The older one without a signature is judged at once; with one, its
 * signature is looked at only where its version would do.
 */
static void starts_no_older_image(void **state)
{
	const struct weft_chip_plant none = { .kind = WEFT_CHIP_PLANT_NONE };
	const struct weft_flash_floor one = { .magic = WEFT_FLASH_FLOOR_MAGIC, .bits = { ~1u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u } };
	uint8_t *signed_older = with_security(0);
	size_t n;
	uint8_t *older = card_image_unsigned(card.image, card.image_bytes, &n);

	(void)state;
	assert_int_equal(card.ops->plant(card.chip, &none), 0);
	card.patience = 5 * START;
	assert_int_equal(weft_flash_format(card.flash, WEFT_FLASH_BYTES, "TEST0001", older, n), 0);
	/* Without a floor it starts. */
	card_power(&card);
	assert_int_equal(greet().slot, 0);
	memcpy(card.flash + WEFT_FLASH_FLOOR, &one, sizeof(one));
	memcpy(card.flash + WEFT_FLASH_SLOT_B, signed_older, card.image_bytes);
	card_power(&card);
	struct weft_msg_hello_reply h = greet();
	assert_int_equal(h.slot, 2);
	assert_int_equal(h.floor, 1);
	assert_int_equal(card_update(&card, older, n), WEFT_MSG_ERR_FW_ROLLBACK);
	memcpy(card.flash + WEFT_FLASH_SLOT_A, older, n);
	memcpy(card.flash + WEFT_FLASH_SLOT_B, card.image, card.image_bytes);
	card_power(&card);
	h = greet();
	assert_int_equal(h.slot, 1);
	assert_int_equal(h.security_version, 1);
	assert_int_equal(card_update(&card, older, n), WEFT_MSG_ERR_FW_ROLLBACK);
	assert_int_equal(card_ask(&card, WEFT_MSG_FW_SWITCH, 0, 0, 0, NULL, 0), WEFT_MSG_ERR_FW_STATE);
	free(signed_older);
	free(older);
}

/*
 * Power fails in each flash operation that raises the floor: asked for in the firmware, done by the ROM, forgotten by
 * it. What was told to be done is done by the start after it; where the message was not answered it may not be.
 */
static void raises_the_floor_through_power_cuts(void **state)
{
	uint8_t *v = with_security(200);

	(void)state;
	for (uint64_t i = 0; i < 4; i++) {
		const struct weft_chip_plant cut = { .kind = WEFT_CHIP_PLANT_POWER_CUT, .addr = i };
		uint32_t now = 0;
		enum weft_msg_error error;

		fresh();
		starts_of(v, v);
		assert_int_equal(order(WEFT_MSG_FW_FLOOR, 7, &now), WEFT_MSG_ERR_OK);
		card_power(&card);
		assert_int_equal(greet().floor, 7);
		assert_int_equal(card.ops->plant(card.chip, &cut), 0);
		card.patience = 3 * START;
		const bool answered = card_message(&card, (uint32_t[]){ WEFT_MSG_FW_FLOOR, 200 }, 2, NULL, 0, &error) > 0;
		assert_int_equal(answered, i > 0);
		card.patience = 10 * START;
		if (answered)
			card.ops->reset(card.chip, WEFT_CHIP_CAUSE_HOST);
		assert_int_equal(greet().floor, answered ? 200 : 7);
		assert_int_equal(greet().boot_count, i < 3 ? 1 : 2);
		assert_true(nothing_asked());
		assert_int_equal(order(WEFT_MSG_FW_FLOOR, 200, &now), WEFT_MSG_ERR_OK);
		card_power(&card);
		assert_int_equal(greet().floor, 200);
	}
	free(v);
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
		cmocka_unit_test(recovers_from_a_brick),
		cmocka_unit_test(forgives_power_cycles),
		cmocka_unit_test(rescues_from_two_bricks),
		cmocka_unit_test(rescues_by_resets),
		cmocka_unit_test(rescues_by_the_button),
		cmocka_unit_test(protects_memory),
		cmocka_unit_test(locks_its_sectors),
		cmocka_unit_test(carries_out_no_more),
		cmocka_unit_test(says_when_too_much_is_asked),
		cmocka_unit_test(starts_the_slot_that_is_asked_for),
		cmocka_unit_test(keeps_the_floor),
		cmocka_unit_test(starts_no_older_image),
		cmocka_unit_test(raises_the_floor_through_power_cuts),
	};

	const struct CMUnitTest rtl_tests[] = { cmocka_unit_test(updates), cmocka_unit_test(recovers_from_a_brick), cmocka_unit_test(rescues_by_resets),
		cmocka_unit_test(starts_no_older_image), cmocka_unit_test(protects_memory), cmocka_unit_test(locks_its_sectors), cmocka_unit_test(rescues_by_the_button) };
	int failed = cmocka_run_group_tests_name("functional", tests, setup, teardown);

	if (!test_level())
		return failed;
	rtl = card_rtl("w16");
	return failed + (rtl ? cmocka_run_group_tests_name("rtl", rtl_tests, setup_rtl, teardown) : card_rtl_missing());
}

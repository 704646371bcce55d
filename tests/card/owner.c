/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A card runs only what its owner signed: forged images sent to the firmware and written straight into the flash, on
 * both chips; a boot ROM and an image that were built for another owner; signing away from the machine that builds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <zlib.h>

#include "tests/support/card.h"
#include "tests/support/file.h"
#include "tests/support/level.h"

#define DRAM   (1u << 17)
#define HEADER sizeof(struct weft_flash_image)

/* Firmware images may take so many cycles to be judged: docs/firmware.md. */
#define JUDGED_WITHIN 20000000u

static struct card card;
static const struct weft_chip_ops *rtl;
static char dir[160];

static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void shell(const char *format, ...)
{
	char line[1200];
	va_list ap;

	va_start(ap, format);
	assert_in_range(vsnprintf(line, sizeof(line), format, ap), 0, sizeof(line) - 1);
	va_end(ap);
	if (system(line))
		fail_msg("failed: %s", line);
}

static const char *in_dir(const char *name)
{
	static char path[4][256];
	static int n;

	n = (n + 1) % 4;
	snprintf(path[n], sizeof(path[n]), "%s/%s", dir, name);
	return path[n];
}

/* A key pair of somebody else. */
static int make_keys(void **state)
{
	(void)state;
	test_path(dir, sizeof(dir), "owner-XXXXXX");
	assert_non_null(mkdtemp(dir));
	shell("openssl genpkey -algorithm ed25519 -out %s", in_dir("owner.pem"));
	shell("openssl pkey -in %s -pubout -out %s", in_dir("owner.pem"), in_dir("public.pem"));
	return 0;
}

static int remove_keys(void **state)
{
	(void)state;
	shell("rm -r %s", dir);
	return 0;
}

static struct weft_msg_hello_reply greet(void)
{
	struct weft_msg_hello_reply h = { 0 };

	for (int i = 0; i < 6; i++)
		if (card_hello(&card, &h))
			return h;
	fail_msg("the card does not answer");
	return h;
}

/* Header and code as the CRCs want them; the signature stays what it was. */
static void seal(uint8_t *image, size_t bytes)
{
	uint32_t crc = (uint32_t)crc32(0, image + HEADER, (uInt)(bytes - HEADER));

	memcpy(image + offsetof(struct weft_flash_image, image_crc), &crc, 4);
	crc = (uint32_t)crc32(0, image, offsetof(struct weft_flash_image, crc));
	memcpy(image + offsetof(struct weft_flash_image, crc), &crc, 4);
}

static uint8_t *copy_of(const uint8_t *image, size_t bytes)
{
	uint8_t *copy = malloc(bytes);

	assert_non_null(copy);
	memcpy(copy, image, bytes);
	return copy;
}

/* The card refuses it in an update; and where it lies in slot A, slot B starts. */
static void expect_refused(const uint8_t *image, size_t bytes, enum weft_msg_error want, const char *what)
{
	const int error = card_update(&card, image, bytes);

	if (error != (int)want)
		fail_msg("%s: error %d, not %s", what, error, weft_msg_error_name(want));
	/* Good in B, as the update that was refused began to overwrite it, and this in A. */
	assert_int_equal(weft_flash_format(card.flash, WEFT_FLASH_BYTES, "OWNER1", image, bytes), 0);
	memcpy(card.flash + WEFT_FLASH_SLOT_B, card.image, card.image_bytes);
	card_power(&card);
	if (greet().slot != 1)
		fail_msg("%s: slot %u starts", what, greet().slot);
}

static void refuses_forged_images(void **state)
{
	const size_t n = card.image_bytes;
	uint32_t word;

	(void)state;
	assert_int_equal(greet().slot, 0);
	/* One instruction changed, all checksums right. */
	uint8_t *forged = copy_of(card.image, n);
	forged[HEADER + 64] ^= 4;
	seal(forged, n);
	expect_refused(forged, n, WEFT_MSG_ERR_FW_SIGNATURE, "another instruction");
	free(forged);
	if (card.ops == rtl)           /* each costs it some fifteen seconds */
		return;
	/* A newer version number on it. */
	forged = copy_of(card.image, n);
	word = 0x7f0000;
	memcpy(forged + offsetof(struct weft_flash_image, fw_version), &word, 4);
	seal(forged, n);
	expect_refused(forged, n, WEFT_MSG_ERR_FW_SIGNATURE, "another version");
	free(forged);
	/* Signed by somebody else, who says that the key is ours. */
	forged = copy_of(card.image, n);
	card_sign(forged, n, in_dir("owner.pem"));
	expect_refused(forged, n, WEFT_MSG_ERR_FW_SIGNATURE, "another key");
	free(forged);
}

static void development_key_takes_unsigned_images(void **state)
{
	size_t n;
	uint8_t *old = card_image_unsigned(card.image, card.image_bytes, &n);

	(void)state;
	card_power(&card);
	assert_int_equal(greet().development, 1);
	assert_int_equal(greet().security_version, 1);
	const uint32_t slot = greet().slot;
	assert_int_equal(card_update(&card, old, n), WEFT_MSG_ERR_OK);
	card_power(&card);
	assert_int_equal(greet().slot, !slot);
	assert_int_equal(greet().security_version, 0);
	free(old);
}

/* ---- a card of another owner ---- */

/* Boot ROM and image for a key of dir, below dir/NAME. */
static void build_for(const char *key, const char *name)
{
	shell(OWN_MAKE "make -s -j1 O=%s FW_KEY=%s FW_SECURITY=7 firmware >%s 2>&1 || { tail -5 %s; exit 1; }",
	      in_dir(name), in_dir(key), in_dir("log"), in_dir("log"));
}

static void open_of(const char *name)
{
	char build[256];

	snprintf(build, sizeof(build), "%s", test_env("WEFT_BUILD", "build"));
	assert_int_equal(setenv("WEFT_BUILD", in_dir(name), 1), 0);
	card_open(&card, NULL, "w16", DRAM);
	assert_int_equal(setenv("WEFT_BUILD", build, 1), 0);
}

static void serves_its_owner_only(void **state)
{
	size_t n, n_old;
	uint8_t *theirs = card_file("weft-fw.img", &n), *old;
	struct weft_msg_hello_reply h;

	(void)state;
	build_for("owner.pem", "owned");
	open_of("owned");
	h = greet();
	assert_int_equal(h.slot, 0);
	assert_int_equal(h.development, 0);
	assert_int_equal(h.security_version, 7);
	assert_memory_equal(&h.key_id, card.image + offsetof(struct weft_flash_image, key_id), 4);
	expect_refused(theirs, n, WEFT_MSG_ERR_FW_KEY, "the development key's image");
	old = card_image_unsigned(card.image, card.image_bytes, &n_old);
	expect_refused(old, n_old, WEFT_MSG_ERR_FW_KEY, "an unsigned image");
	free(old);
	/* The key that everyone has, under the owner's name. */
	memcpy(theirs, card.image, card.image_bytes);
	card_sign(theirs, card.image_bytes, CARD_KEY);
	expect_refused(theirs, card.image_bytes, WEFT_MSG_ERR_FW_SIGNATURE, "the development key's signature");
	free(theirs);
	card_close(&card);
}

/* Ed25519 has one signature for a key and a message: signed elsewhere the image is the same. */
static void is_signed_elsewhere(void **state)
{
	(void)state;
	build_for("public.pem", "unsigned");
	shell("grep -q 'is not signed' %s", in_dir("log"));
	open_of("unsigned");
	assert_int_equal(greet().slot, 2);
	card_close(&card);
	shell("%s tools/fw_image.py sign %s/firmware/weft-fw.img %s --key %s", test_env("PYTHON", "python3"), in_dir("unsigned"), in_dir("out.img"),
	      in_dir("owner.pem"));
	shell("cmp %s %s/firmware/weft-fw.img", in_dir("out.img"), in_dir("owned"));
	shell("cmp %s/firmware/boot.bin %s/firmware/boot.bin", in_dir("unsigned"), in_dir("owned"));
	/* Somebody else's key cannot. */
	shell("! %s tools/fw_image.py sign %s/firmware/weft-fw.img %s --key %s 2>%s && grep -q 'made for the key' %s", test_env("PYTHON", "python3"),
	      in_dir("unsigned"), in_dir("no.img"), CARD_KEY, in_dir("said"), in_dir("said"));
}

/* An image as large as can be, which is never started: what judging it costs, within the watchdog's kicks. */
static void judges_in_time(void **state)
{
	const size_t code = 48 * 1024, n = HEADER + code;
	uint8_t *image = calloc(1, n);
	struct weft_flash_image h;

	(void)state;
	assert_non_null(image);
	assert_int_equal(weft_flash_format(card.flash, WEFT_FLASH_BYTES, "OWNER1", card.image, card.image_bytes), 0);
	card_power(&card);
	const uint64_t on = card.ops->cycles(card.chip);
	assert_int_equal(greet().slot, 0);
	printf("%s: %zu bytes started and greeted in %llu cycles\n", card.ops->name, card.image_bytes,
	       (unsigned long long)(card.ops->cycles(card.chip) - on));
	memcpy(&h, card.image, sizeof(h));
	h.image_bytes = (uint32_t)code;
	memcpy(image, &h, sizeof(h));
	memset(image + HEADER, 0x5a, code);
	memcpy(image + HEADER, "\x6f\0\0", 4);        /* j . */
	seal(image, n);
	card_sign(image, n, CARD_KEY);
	image[offsetof(struct weft_flash_image, signature)] ^= 1;
	/* Refused at the very end, in both slots: then the ROM answers. */
	assert_int_equal(weft_flash_format(card.flash, WEFT_FLASH_BYTES, "OWNER1", image, n), 0);
	memset(card.flash + WEFT_FLASH_SLOT_B, 0xff, WEFT_FLASH_SLOT_BYTES);
	card_power(&card);
	const uint64_t begin = card.ops->cycles(card.chip);
	const struct weft_msg_hello_reply r = greet();
	const uint64_t took = card.ops->cycles(card.chip) - begin;

	assert_int_equal(r.slot, 2);
	assert_int_equal(r.boot_count, 1);            /* no bite */
	printf("%s: 48 KiB judged in %llu cycles\n", card.ops->name, (unsigned long long)took);
	assert_in_range(took, 1, JUDGED_WITHIN);
	free(image);
}

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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(refuses_forged_images), cmocka_unit_test(development_key_takes_unsigned_images),
		cmocka_unit_test(judges_in_time) };
	const struct CMUnitTest rtl_tests[] = { cmocka_unit_test(refuses_forged_images), cmocka_unit_test(judges_in_time) };
	const struct CMUnitTest others[] = { cmocka_unit_test(serves_its_owner_only), cmocka_unit_test(is_signed_elsewhere) };

	make_keys(NULL);
	int failed = cmocka_run_group_tests_name("functional", tests, setup, teardown) +
	             cmocka_run_group_tests_name("another owner", others, NULL, NULL);

	if (test_level()) {
		rtl = card_rtl("w16");
		failed += rtl ? cmocka_run_group_tests_name("rtl", rtl_tests, setup_rtl, teardown) : card_rtl_missing();
	}
	remove_keys(NULL);
	return failed;
}

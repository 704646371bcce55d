/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `weft card` and a card that is a process of its own: what the command says, and
 * new firmware, good, broken, dead, and where there was none.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <weft/admin.h>

#include "tests/support/card.h"
#include "tests/support/card_process.h"
#include "tests/support/level.h"

static char dir[128];
static struct card_process server;
static char said[16384];

static const char *in_dir(const char *name)
{
	static char path[4][160];
	static int n;

	n = (n + 1) % 4;
	snprintf(path[n], sizeof(path[n]), "%s/%s", dir, name);
	return path[n];
}

static void put_file(const char *name, const void *data, size_t n)
{
	FILE *f = fopen(in_dir(name), "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, n, f), n);
	fclose(f);
}

/* A card with this flash file; it is made where it is not there. */
static void start(const char *flash)
{
	char option[] = "--flash", file[160], *const extra[] = { option, file, NULL };

	snprintf(file, sizeof(file), "%s", in_dir(flash));
	card_process_start(&server, "ADMIN1", extra);
}

/* weft card, or another command, with these arguments; its exit status, and in said both its outputs. */
static int weft(const char *command, const char *arguments)
{
	char line[600];

	snprintf(line, sizeof(line), "timeout 60 %s/weft %s %s %s 2>&1", test_env("WEFT_BUILD", "build"), command, server.device, arguments);
	FILE *f = popen(line, "r");
	assert_non_null(f);
	said[fread(said, 1, sizeof(said) - 1, f)] = '\0';
	return WEXITSTATUS(pclose(f));
}

static void expect(const char *arguments, int status, const char *text)
{
	int got = weft("card", arguments);

	if (got != status || !strstr(said, text))
		fail_msg("weft card %s: status %d, not %d with \"%s\":\n%s", arguments, got, status, text, said);
}

static void expect_update(const char *file, int status, const char *text)
{
	char arguments[128];

	snprintf(arguments, sizeof(arguments), "--update %s", in_dir(file));
	expect(arguments, status, text);
}

/* An image with zeros behind its code, and another version, that is a multiple of the parts in which images travel. *n becomes its bytes; free it. */
static uint8_t *whole_parts(const uint8_t *image, size_t *n)
{
	const size_t bytes = (*n / WEFT_MSG_FW_CHUNK + 1) * WEFT_MSG_FW_CHUNK;
	uint8_t *padded = calloc(1, bytes);
	struct weft_flash_image h;

	assert_non_null(padded);
	memcpy(padded, image, *n);
	memcpy(&h, padded, sizeof(h));
	h.image_bytes += (uint32_t)(bytes - *n);
	h.fw_version = 0x07080a;
	memcpy(padded, &h, sizeof(h));
	uint32_t first;
	memcpy(&first, padded + sizeof(h), 4);
	uint8_t *signed_one = card_image_patched(padded, bytes, 0, first);     /* for its checksum */
	free(padded);
	*n = bytes;
	return signed_one;
}

static int setup(void **state)
{
	size_t n;
	uint8_t *image = card_file("weft-fw.img", &n);

	(void)state;
	test_path(dir, sizeof(dir), "admin-XXXXXX");
	assert_non_null(mkdtemp(dir));
	uint8_t *other = card_image_with(image, n, offsetof(struct weft_flash_image, fw_version), 0x070809);
	put_file("other.img", other, n);
	put_file("short.img", image, n - 64);
	put_file("none.img", dir, sizeof(dir));
	uint8_t *chip = card_image_with(image, n, offsetof(struct weft_flash_image, chip_version), 0x70000);
	put_file("chip.img", chip, n);
	uint8_t *dead = card_dead_image(image, n);
	put_file("dead.img", dead, n);
	uint8_t *whole = whole_parts(image, &n);
	put_file("whole.img", whole, n);
	free(image);
	free(other);
	free(chip);
	free(dead);
	free(whole);
	return 0;
}

static int teardown(void **state)
{
	char line[160];

	(void)state;
	snprintf(line, sizeof(line), "rm -r %s", dir);
	return system(line);
}

static void says(void **state)
{
	(void)state;
	start("flash");
	expect("", 0, "card ADMIN1: firmware ");
	expect("", 0, "\ndevelopment key: anybody can sign firmware for this card\n");
	assert_int_equal(weft("devices", ""), 0);
	assert_non_null(strstr(said, "slot 0  development key\n"));
	expect("--test", 0, "flash                passed");
	assert_null(strstr(said, "FAILED"));
	expect("--stats", 0, "1  starts since power");
	expect("--regs", 0, "0x000  0x57454654  id\n");
	expect("--log", 0, "self-test 0x3f: failed 0x0\n");
	expect("--reset", 0, "started 2 times since power, last because the host");
	expect("--nonsense", 2, "not known");
	card_process_stop(&server);
	expect("", 3, "no simulated card");
}

static void updates(void **state)
{
	(void)state;
	start("flash");
	expect_update("other.img", 0, "firmware 7.8.9 in slot 1 (new, confirmed now)");
	expect("--log", 0, "image in slot 1 confirmed");
	expect_update("short.img", 2, "do not match their checksum");
	expect_update("none.img", 2, "firmware image: ");
	expect_update("chip.img", 2, "for another chip or protocol");
	expect_update("nowhere.img", 2, "No such file");
	expect("", 0, "firmware 7.8.9 in slot 1,");
	expect_update("dead.img", 3, "the new firmware did not answer; slot 1 runs again");
	expect("", 0, "firmware 7.8.9 in slot 1,");
	card_process_stop(&server);
	/* It stays. */
	start("flash");
	expect("", 0, "firmware 7.8.9 in slot 1,");
	/* Behind its last part is none. */
	expect_update("whole.img", 0, "firmware 7.8.10 in slot 0");
	card_process_stop(&server);
}

/* Nothing in the flash is good: the boot ROM takes firmware. */
static void rescues(void **state)
{
	uint8_t *flash = calloc(1, WEFT_FLASH_BYTES);

	(void)state;
	assert_non_null(flash);
	put_file("empty", flash, WEFT_FLASH_BYTES);
	free(flash);
	start("empty");
	expect("", 0, "the boot ROM answers: no firmware is good, or a rescue");
	expect("--stats", 3, "unknown message type: the boot ROM answers, load firmware first");
	expect_update("short.img", 2, "do not match their checksum");
	expect_update("other.img", 0, "firmware 7.8.9 in slot 0");
	/* Asked for: whatever runs is stopped, and it goes on with a reset. */
	expect("--rescue", 0, "the boot ROM answers: no firmware is good, or a rescue");
	expect("--reset", 0, "firmware 7.8.9 in slot 0");
	expect("--floor 1", 2, "firmware image: header is broken");
	expect_update("other.img", 0, "firmware 7.8.9 in slot 1");
	expect("--slot 0", 0, "firmware 7.8.9 in slot 0 (new, confirmed now)");
	expect("--slot 2", 2, "\"2\" is not a number from 0 to 1");
	expect("--floor 1", 0, "security version 1, none below 1 is started");
	expect("--floor 2", 2, "an argument is out of range");
	expect("--test", 0, "flash                passed");
	card_process_stop(&server);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(says), cmocka_unit_test(updates), cmocka_unit_test(rescues) };

	return cmocka_run_group_tests(tests, setup, teardown);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "card.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "include/le.h"
#include "file.h"
#include "level.h"

/* Cycles that a card runs before a test looks again. */
#define SLICE 2000

uint8_t *card_file(const char *name, size_t *bytes)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/firmware/%s", test_env("WEFT_BUILD", "build"), name);
	uint8_t *data = test_file(path, bytes);
	if (!data)
		fail_msg("%s is missing; make firmware", path);
	return data;
}

static void seal(uint8_t *image)
{
	struct weft_flash_image h;

	memcpy(&h, image, sizeof(h));
	h.crc = (uint32_t)crc32(0, image, offsetof(struct weft_flash_image, crc));
	memcpy(image, &h, sizeof(h));
}

static void write_file(const char *path, const void *data, size_t n)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

void card_sign(uint8_t *image, size_t bytes, const char *key)
{
	const size_t is_signed = offsetof(struct weft_flash_image, signature), code = sizeof(struct weft_flash_image);
	char message[300], made[300], command[1000];
	uint8_t *data = malloc(bytes);
	size_t n;

	assert_non_null(data);
	memcpy(data, image, is_signed);
	memcpy(data + is_signed, image + code, bytes - code);
	test_path(message, sizeof(message), "%d.message", (int)getpid());
	test_path(made, sizeof(made), "%d.signature", (int)getpid());
	write_file(message, data, bytes - (code - is_signed));
	free(data);
	snprintf(command, sizeof(command), "openssl pkeyutl -sign -rawin -inkey '%s' -in '%s' -out '%s'", key, message, made);
	if (system(command))
		fail_msg("%s: failed", command);
	uint8_t *signature = test_file(made, &n);
	assert_non_null(signature);
	assert_int_equal(n, code - is_signed);
	memcpy(image + is_signed, signature, n);
	free(signature);
	remove(message);
	remove(made);
}

uint8_t *card_image_with(const uint8_t *image, size_t bytes, size_t offset, uint32_t value)
{
	uint8_t *copy = malloc(bytes);

	assert_non_null(copy);
	memcpy(copy, image, bytes);
	memcpy(copy + offset, &value, 4);
	seal(copy);
	card_sign(copy, bytes, CARD_KEY);
	return copy;
}

uint8_t *card_image_patched(const uint8_t *image, size_t bytes, size_t at, uint32_t instruction)
{
	const size_t code = sizeof(struct weft_flash_image);
	uint8_t *copy = malloc(bytes);

	assert_non_null(copy);
	memcpy(copy, image, bytes);
	memcpy(copy + code + at, &instruction, 4);
	const uint32_t crc = (uint32_t)crc32(0, copy + code, (uInt)(bytes - code));
	memcpy(copy + offsetof(struct weft_flash_image, image_crc), &crc, 4);
	seal(copy);
	card_sign(copy, bytes, CARD_KEY);
	return copy;
}

uint8_t *card_image_unsigned(const uint8_t *image, size_t bytes, size_t *n)
{
	const size_t kept = offsetof(struct weft_flash_image, signature), code = sizeof(struct weft_flash_image);
	struct weft_flash_image h;
	uint8_t *copy = malloc(bytes);

	assert_non_null(copy);
	memcpy(&h, image, sizeof(h));
	h.header_version = WEFT_FLASH_IMAGE_UNSIGNED;
	h.security_version = h.key_id = 0;
	memcpy(copy, &h, kept);
	memcpy(copy + kept, image + code, bytes - code);
	seal(copy);
	*n = bytes - (code - kept);
	return copy;
}

uint8_t *card_dead_image(const uint8_t *image, size_t bytes)
{
	return card_image_patched(image, bytes, 0, 0x0000006f); /* j . */
}

const struct weft_chip_ops *card_rtl(const char *config)
{
	char path[512];
	const struct weft_chip_ops *(*get)(void);

	snprintf(path, sizeof(path), "%s/tests/card/rtl/weft-chip-%s.so", test_env("WEFT_BUILD", "build"), config);
	void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!so) {
		printf("%s is not built (make chip)\n", path);
		fflush(stdout);
		return NULL;
	}
	*(void **)&get = dlsym(so, "weft_chip_api");
	assert_non_null(get);
	assert_int_equal(get()->version, WEFT_CHIP_API_VERSION);
	return get();
}

static void rtl_missing(void **state)
{
	(void)state;
	card_rtl("w16");
	skip();
}

int card_rtl_missing(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(rtl_missing) };

	return cmocka_run_group_tests_name("rtl", tests, NULL, NULL);
}

void card_open_quick(struct card *c, const struct weft_chip_ops *ops, const char *config, uint64_t dram_bytes)
{
	size_t n;

	card_open(c, ops, config, dram_bytes);
	uint8_t *image = card_image_unsigned(c->image, c->image_bytes, &n);
	assert_int_equal(weft_flash_format(c->flash, WEFT_FLASH_BYTES, "TEST0001", image, n), 0);
	free(image);
	card_power(c);
}

static void open_chip(struct card *c, const char *config, uint64_t dram_bytes)
{
	struct weft_chip_options o = { .config = config, .dram_bytes = dram_bytes, .rom = c->rom, .rom_bytes = c->rom_bytes,
		.flash = c->flash, .flash_bytes = WEFT_FLASH_BYTES };
	char msg[WEFT_DEV_MSG] = "";

	if (c->ops->open(&o, &c->chip, msg))
		fail_msg("%s", msg);
}

void card_open(struct card *c, const struct weft_chip_ops *ops, const char *config, uint64_t dram_bytes)
{
	memset(c, 0, sizeof(*c));
	c->ops = ops ? ops : weft_chip_model();
	c->patience = 50000000; /* two slots judged, and more */
	c->rom = card_file("boot.bin", &c->rom_bytes);
	c->image = card_file("weft-fw.img", &c->image_bytes);
	c->flash = malloc(WEFT_FLASH_BYTES);
	assert_non_null(c->flash);
	assert_int_equal(weft_flash_format(c->flash, WEFT_FLASH_BYTES, "TEST0001", c->image, c->image_bytes), 0);
	open_chip(c, config, dram_bytes);
}

void card_close(struct card *c)
{
	const char *broken = c->ops->broken ? c->ops->broken(c->chip) : NULL;

	if (broken)
		fail_msg("the chip's memory port broke a rule of AXI: %s", broken);
	c->ops->close(c->chip);
	free(c->rom);
	free(c->image);
	free(c->flash);
}

void card_power(struct card *c)
{
	c->ops->reset(c->chip, WEFT_CHIP_CAUSE_POWER);
}

void card_run(struct card *c, uint64_t cycles)
{
	uint64_t end = c->ops->cycles(c->chip) + cycles;

	while (c->ops->cycles(c->chip) < end && c->ops->run(c->chip, SLICE))
		;
}

/* ---- frames ---- */

bool card_send_bytes(struct card *c, const uint8_t *bytes, size_t n)
{
	uint64_t begin = c->ops->cycles(c->chip);

	while (n) {
		size_t taken = c->ops->put(c->chip, bytes, n);

		bytes += taken;
		n -= taken;
		if (n && c->ops->cycles(c->chip) - begin > c->patience)
			return false;
		if (n && !taken)
			c->ops->run(c->chip, SLICE);
	}
	return true;
}

bool card_send(struct card *c, unsigned type, uint16_t seq, uint32_t addr, const void *payload, uint32_t len)
{
	uint8_t h[WEFT_FRAME_HEADER_BYTES] = { WEFT_FRAME_MAGIC, (uint8_t)type, (uint8_t)seq, (uint8_t)(seq >> 8) }, crc[4];

	put32(h + 4, addr);
	put32(h + 8, len);
	put32(h + 12, (uint32_t)crc32(0, h, 12));
	if (!payload)
		return card_send_bytes(c, h, sizeof(h));
	put32(crc, (uint32_t)crc32(0, payload, len));
	return card_send_bytes(c, h, sizeof(h)) && card_send_bytes(c, payload, len) && card_send_bytes(c, crc, sizeof(crc));
}

/* n bytes of the frame under way. */
static bool receive_bytes(struct card *c, uint8_t *to, size_t n, bool *end)
{
	uint64_t begin = c->ops->cycles(c->chip);

	*end = false;
	while (n) {
		size_t got = c->ops->get(c->chip, to, n, end);

		to += got;
		n -= got;
		if (n && got)
			assert_false(*end);
		if (n && c->ops->cycles(c->chip) - begin > c->patience)
			return false;
		if (n && !got)
			c->ops->run(c->chip, SLICE);
	}
	return true;
}

static void keep_done(struct card *c)
{
	struct weft_msg_done_reply *d = &c->done[c->n_done];

	assert_true(c->n_done < sizeof(c->done) / sizeof(c->done[0]));
	assert_int_equal(c->len, sizeof(*d));
	memcpy(d, c->payload, sizeof(*d));
	assert_int_equal(d->head, WEFT_MSG_DONE | WEFT_MSG_REPLY);
	c->n_done++;
}

bool card_receive(struct card *c)
{
	uint8_t h[WEFT_FRAME_HEADER_BYTES], crc[4];
	bool end;

	if (!receive_bytes(c, h, sizeof(h), &end))
		return false;
	assert_int_equal(h[0], WEFT_FRAME_MAGIC);
	assert_int_equal(get32(h + 12), crc32(0, h, 12));
	c->type = h[1];
	c->got_seq = (uint16_t)(h[2] | h[3] << 8);
	c->addr = get32(h + 4);
	c->len = get32(h + 8);
	if (c->type == WEFT_FRAME_ACK) {
		assert_true(end);
		return true;
	}
	assert_false(end);
	assert_true(c->len <= sizeof(c->payload));
	if (!receive_bytes(c, c->payload, c->len, &end) || !receive_bytes(c, crc, 4, &end))
		return false;
	assert_true(end);
	assert_int_equal(get32(crc), crc32(0, c->payload, c->len));
	return true;
}

/* The answer to c->seq; DONEs in between are kept. */
static bool receive_answer(struct card *c)
{
	while (card_receive(c)) {
		if (c->type == WEFT_FRAME_REPLY && c->got_seq == 0)
			keep_done(c);
		else if (c->got_seq == c->seq)
			return true;
		else
			fail_msg("an answer to %u, not to %u", c->got_seq, c->seq);
	}
	return false;
}

static void next_seq(struct card *c)
{
	if (!++c->seq)
		c->seq = 1;
}

int card_write(struct card *c, uint32_t addr, const void *data, uint32_t len)
{
	next_seq(c);
	if (!card_send(c, WEFT_FRAME_WRITE, c->seq, addr, data, len) || !receive_answer(c))
		return -1;
	assert_int_equal(c->type, WEFT_FRAME_ACK);
	return c->addr == WEFT_FRAME_STATUS_OK ? 0 : -2;
}

int card_read(struct card *c, uint32_t addr, void *data, uint32_t len)
{
	next_seq(c);
	if (!card_send(c, WEFT_FRAME_READ, c->seq, addr, NULL, len) || !receive_answer(c))
		return -1;
	if (c->type == WEFT_FRAME_ACK)
		return -2;
	assert_int_equal(c->type, WEFT_FRAME_DATA);
	assert_int_equal(c->len, len);
	memcpy(data, c->payload, len);
	return 0;
}

unsigned card_message(struct card *c, const uint32_t *words, unsigned n, uint32_t *reply, unsigned reply_words,
                      enum weft_msg_error *error)
{
	next_seq(c);
	if (reply)
		memset(reply, 0, reply_words * 4);
	if (!card_send(c, WEFT_FRAME_MSG, c->seq, 0, words, n * 4) || !receive_answer(c))
		return 0;
	assert_int_equal(c->type, WEFT_FRAME_REPLY);
	uint32_t head = get32(c->payload);
	assert_int_equal(head & 0xffff, (words[0] & 0x7fff) | WEFT_MSG_REPLY);
	if (error)
		*error = (enum weft_msg_error)(head >> 16);
	for (unsigned i = 0; i < reply_words && i < c->len / 4; i++)
		reply[i] = get32(c->payload + 4 * i);
	return c->len / 4;
}

enum weft_msg_error card_ask(struct card *c, enum weft_msg_type type, uint32_t a, uint32_t b, unsigned n_args,
                             void *reply, size_t reply_bytes)
{
	uint32_t words[3] = { type, a, b }, answer[WEFT_FRAME_MSG_MAX / 4];
	enum weft_msg_error error = WEFT_MSG_ERR_OK;

	if (!card_message(c, words, 1 + n_args, answer, WEFT_FRAME_MSG_MAX / 4, &error))
		fail_msg("no answer to message %s", weft_msg_type_name(type));
	if (reply)
		memcpy(reply, answer, reply_bytes);
	return error;
}

bool card_hello(struct card *c, struct weft_msg_hello_reply *h)
{
	uint32_t words[2] = { WEFT_MSG_HELLO, WEFT_MSG_VERSION_VALUE };
	enum weft_msg_error error;

	return card_message(c, words, 2, (uint32_t *)h, sizeof(*h) / 4, &error) == sizeof(*h) / 4 && !error;
}

bool card_hello_as(struct card *c, uint32_t session, struct weft_msg_hello_reply *h)
{
	uint32_t words[3] = { WEFT_MSG_HELLO, WEFT_MSG_VERSION_VALUE, session };
	enum weft_msg_error error;

	return card_message(c, words, 3, (uint32_t *)h, sizeof(*h) / 4, &error) == sizeof(*h) / 4 && !error;
}

enum weft_msg_error card_submit(struct card *c, uint32_t job, uint64_t deadline, uint32_t stream, uint32_t n_words,
                                const struct weft_msg_window *w, unsigned n, struct weft_msg_submit_reply *r)
{
	uint32_t words[7 + 3 * WEFT_MSG_WINDOWS_MAX] = { WEFT_MSG_SUBMIT, job, (uint32_t)deadline, (uint32_t)(deadline >> 32),
		stream, n_words, n };
	struct weft_msg_submit_reply mine;
	enum weft_msg_error error = WEFT_MSG_ERR_OK;

	memcpy(words + 7, w, n * sizeof(*w));
	if (!card_message(c, words, 7 + 3 * n, (uint32_t *)(r ? r : &mine), sizeof(mine) / 4, &error))
		fail_msg("no answer to SUBMIT");
	return error;
}

static bool take_done(struct card *c, uint32_t job, struct weft_msg_done_reply *d)
{
	for (unsigned i = 0; i < c->n_done; i++) {
		if (c->done[i].job != job)
			continue;
		*d = c->done[i];
		memmove(&c->done[i], &c->done[i + 1], (--c->n_done - i) * sizeof(*d));
		return true;
	}
	return false;
}

bool card_wait(struct card *c, uint32_t job, uint64_t cycles, struct weft_msg_done_reply *d)
{
	uint64_t keep = c->patience;

	c->patience = cycles;
	while (!take_done(c, job, d)) {
		if (!card_receive(c)) {
			c->patience = keep;
			return false;
		}
		assert_int_equal(c->type, WEFT_FRAME_REPLY);
		assert_int_equal(c->got_seq, 0);
		keep_done(c);
	}
	c->patience = keep;
	return true;
}

static int ask(struct card *c, const uint32_t *words, unsigned n)
{
	enum weft_msg_error error;

	return card_message(c, words, n, NULL, 0, &error) ? (int)error : -1;
}

int card_update(struct card *c, const uint8_t *image, size_t bytes)
{
	int error = ask(c, (uint32_t[]){ WEFT_MSG_FW_BEGIN, (uint32_t)bytes }, 2);

	for (size_t at = 0; at < bytes && !error; at += WEFT_MSG_FW_CHUNK) {
		uint32_t words[2 + WEFT_MSG_FW_CHUNK / 4] = { WEFT_MSG_FW_DATA, (uint32_t)at };
		size_t n = bytes - at < WEFT_MSG_FW_CHUNK ? bytes - at : WEFT_MSG_FW_CHUNK;

		memcpy(words + 2, image + at, n);
		error = ask(c, words, (unsigned)(2 + n / 4));
	}
	if (!error)
		error = ask(c, (uint32_t[]){ WEFT_MSG_FW_END }, 1);
	return error ? error : ask(c, (uint32_t[]){ WEFT_MSG_FW_SWITCH }, 1);
}

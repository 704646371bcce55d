/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A card in a test: a simulated chip with the built boot ROM and firmware, and
 * the plainest host there can be. Every step is bounded, so that a card that
 * does not answer fails a test instead of hanging it.
 */
#ifndef WEFT_TESTS_CARD_H
#define WEFT_TESTS_CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/gen/msg.h>

#include <weft/chip.h>

struct card {
	const struct weft_chip_ops *ops;
	void *chip;
	uint8_t *rom, *image, *flash;
	size_t rom_bytes, image_bytes;
	uint64_t patience;         /* cycles to wait for an answer */
	uint16_t seq;

	/* The last frame that came: header and payload. */
	uint8_t type;
	uint16_t got_seq;
	uint32_t addr, len;
	uint8_t payload[WEFT_FRAME_WRITE_MAX];

	/* DONEs that came by themselves, oldest first. */
	struct weft_msg_done_reply done[64];
	unsigned n_done;
};

/* A card with a fresh flash holding the built image. ops NULL: the functional chip.
 * Fails the test if the firmware was not built. */
void card_open(struct card *c, const struct weft_chip_ops *ops, const char *config, uint64_t dram_bytes);
/* The same with an unsigned image, which a boot ROM with the development key starts at once: for tests that ask nothing
 * about starting, where the Verilated chip would take seconds for a signature. */
void card_open_quick(struct card *c, const struct weft_chip_ops *ops, const char *config, uint64_t dram_bytes);
void card_close(struct card *c);

/* Power off and on with the flash as it is. */
void card_power(struct card *c);

/* Raw: a frame with these fields, correctly sealed. False: the card took no more. */
bool card_send(struct card *c, unsigned type, uint16_t seq, uint32_t addr, const void *payload, uint32_t len);
bool card_send_bytes(struct card *c, const uint8_t *bytes, size_t n);
/* The next frame; false: none within patience. A wrong frame fails the test. */
bool card_receive(struct card *c);
/* Let the card run until it is idle or this many cycles passed. */
void card_run(struct card *c, uint64_t cycles);

/* 0, or a negative number: -1 no answer, -2 refused by the link. */
int card_write(struct card *c, uint32_t addr, const void *data, uint32_t len);
int card_read(struct card *c, uint32_t addr, void *data, uint32_t len);

/*
 * One message and its answer. reply may be shorter or longer than what comes.
 * Returns the words of the answer, or 0: none came. *error may be NULL.
 */
unsigned card_message(struct card *c, const uint32_t *words, unsigned n, uint32_t *reply, unsigned reply_words,
                      enum weft_msg_error *error);
/* The same for messages of at most two arguments; the error. */
enum weft_msg_error card_ask(struct card *c, enum weft_msg_type type, uint32_t a, uint32_t b, unsigned n_args,
                             void *reply, size_t reply_bytes);

/* HELLO; false: no answer, or an error. */
bool card_hello(struct card *c, struct weft_msg_hello_reply *h);

/* The same as the client of that session; card_hello() is one of protocol 1.1, which has none. */
bool card_hello_as(struct card *c, uint32_t session, struct weft_msg_hello_reply *h);

/* SUBMIT; windows' base, size, perm. */
enum weft_msg_error card_submit(struct card *c, uint32_t job, uint64_t deadline, uint32_t stream, uint32_t n_words,
                                const struct weft_msg_window *w, unsigned n, struct weft_msg_submit_reply *r);
/* Wait for this job's DONE; false: it did not come within cycles. */
bool card_wait(struct card *c, uint32_t job, uint64_t cycles, struct weft_msg_done_reply *d);

/* A whole firmware update, up to and without the reboot: 0, the first error, or -1:
 * no answer. */
int card_update(struct card *c, const uint8_t *image, size_t bytes);

/* The Verilated chip; NULL, said on standard output: not built. */
const struct weft_chip_ops *card_rtl(const char *config);
/* Instead of a group of tests on it: a skipped case that says so. */
int card_rtl_missing(void);

/* Whole file; fails the test where it is missing. */
uint8_t *card_file(const char *name, size_t *bytes);

/* The key with which make firmware signs. */
#define CARD_KEY "firmware/keys/unsafe-development.pem"

/* Sign an image with the private key of a file, by openssl. */
void card_sign(uint8_t *image, size_t bytes, const char *key);

/* A copy of an image with another word in its header, sealed and signed again; free it. */
uint8_t *card_image_with(const uint8_t *image, size_t bytes, size_t offset, uint32_t value);
/* One with another instruction at byte `at` of its code; the same. */
uint8_t *card_image_patched(const uint8_t *image, size_t bytes, size_t at, uint32_t instruction);
/* With a header of version 1, which has no signature; *n bytes. The same. */
uint8_t *card_image_unsigned(const uint8_t *image, size_t bytes, size_t *n);
/* A sound image whose code only jumps to itself: the watchdog ends it. */
uint8_t *card_dead_image(const uint8_t *image, size_t bytes);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any words as messages to the firmware, which the functional chip executes: every message is answered or left out, the
 * watchdog does not bite, the firmware does not trap, and HELLO is answered afterwards. What cannot be told apart by this
 * is memory that the firmware touches wrongly inside what its memory protection leaves it.
 *
 * Messages: a byte n, the type's low byte, 4 n bytes of words behind it. Before each input the chip is what it was when it had
 * been switched on and had answered its first HELLO, which takes far longer than most inputs do.
 */
#define _GNU_SOURCE            /* memfd_create() */
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "sim/model/chip_state.h"
#include "tests/support/card.h"

enum { STARTS = 12000000, ANSWERS = 3000000, MEMORY = 1 << 20 };

/* Takes all frames that come until the card rests. */
static void drain(struct card *c, uint64_t cycles)
{
	const uint64_t begin = c->ops->cycles(c->chip);
	uint8_t bytes[4096];
	bool end, busy = true;

	while (busy && c->ops->cycles(c->chip) - begin < cycles) {
		busy = c->ops->run(c->chip, 20000);
		while (c->ops->get(c->chip, bytes, sizeof bytes, &end))
			busy = true;
	}
}

/* Makes the n bytes at p, whole pages of a mapping, a view of a copy of themselves; madvise() drops what is written there later. */
static void keep(void *p, size_t n)
{
	const int fd = memfd_create("kept", MFD_CLOEXEC);

	fuzz_require(fd >= 0 && write(fd, p, n) == (ssize_t)n, "a copy");
	fuzz_require(mmap(p, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0) == p, "a view");
	close(fd);
}

/* Switches the card on and says HELLO; its flash moves to a mapping. */
static void start(struct card *card, struct weft_msg_hello_reply *hello)
{
	struct chip *c;
	void *flash = mmap(NULL, WEFT_FLASH_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	card_open_quick(card, NULL, "w16", MEMORY);
	c = card->chip;
	fuzz_require(flash != MAP_FAILED, "memory");
	memcpy(flash, card->flash, WEFT_FLASH_BYTES);
	free(card->flash);
	card->flash = c->flash.data = flash;
	card->patience = STARTS;
	fuzz_require(card_hello(card, hello), "the card starts");
	drain(card, STARTS);
	keep(flash, WEFT_FLASH_BYTES);
	keep(c->dram, MEMORY);
}

/* The card as it is after start(), with the answer to its HELLO. */
static struct card *started(struct weft_msg_hello_reply *hello)
{
	static struct card card, saved_card;
	static struct chip saved;
	static struct weft_msg_hello_reply first;
	struct chip *c = card.chip;

	if (!c) {
		start(&card, &first);
		c = card.chip;
		saved = *c;
		saved_card = card;
	} else {
		*c = saved;
		card = saved_card;
		weft_model_reset(c->npu.model);
		fuzz_require(!madvise(c->flash.data, WEFT_FLASH_BYTES, MADV_DONTNEED) && !madvise(c->dram, MEMORY, MADV_DONTNEED), "memory as it was");
	}
	*hello = first;
	return &card;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct weft_msg_hello_reply first, last;
	struct weft_msg_stats_reply stats;
	struct card *card = started(&first);
	bool resets = false;

	for (size_t at = 0; at + 2 <= size; ) {
		uint32_t words[WEFT_FRAME_MSG_MAX / 4] = { data[at + 1] };
		size_t n = 4 * (size_t)(data[at] % (WEFT_FRAME_MSG_MAX / 4));
		at += 2;
		n = n < size - at ? n & ~(size_t)3 : (size - at) & ~(size_t)3;
		memcpy(words + 1, data + at, n);
		at += n;
		resets |= words[0] == WEFT_MSG_REBOOT && !n;
		card_send(card, WEFT_FRAME_MSG, (uint16_t)(at + 1), 0, words, (uint32_t)n + 4);
		drain(card, words[0] == WEFT_MSG_SELF_TEST ? 4 * (uint64_t)STARTS : ANSWERS);
	}
	drain(card, STARTS);
	card->ops->link_reset(card->chip);
	card->seq = 0;
	fuzz_require(card_hello(card, &last) && card_hello(card, &last), "HELLO is answered afterwards");
	fuzz_require(last.slot == 0 && last.reset_cause != WEFT_CHIP_CAUSE_WATCHDOG, "the watchdog does not bite");
	fuzz_require(resets || last.boot_count == first.boot_count, "nothing resets the card");
	fuzz_require(card_ask(card, WEFT_MSG_STATS, 0, 0, 0, &stats, sizeof stats) == WEFT_MSG_ERR_OK && !stats.traps, "the firmware does not trap");
	return 0;
}

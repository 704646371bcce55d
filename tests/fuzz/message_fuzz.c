/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any words as messages to the firmware, which the functional chip executes: every message is answered or left out, the
 * watchdog does not bite, the firmware does not trap, and HELLO is answered afterwards. What cannot be told apart by this
 * is memory that the firmware touches wrongly inside what its memory protection leaves it.
 *
 * Messages: a byte n, the type's low byte, 4 n bytes of words behind it. The card is switched off and on before each input.
 */
#include "fuzz.h"
#include "tests/support/card.h"

enum { STARTS = 12000000, ANSWERS = 3000000 };

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct card card;
	static uint8_t *flash;
	struct weft_msg_hello_reply first, last;
	struct weft_msg_stats_reply stats;
	bool resets = false;

	if (!flash) {
		card_open_quick(&card, NULL, "w16", 1 << 20);
		flash = malloc(WEFT_FLASH_BYTES);
		fuzz_require(flash, "memory");
		memcpy(flash, card.flash, WEFT_FLASH_BYTES);
	}
	memcpy(card.flash, flash, WEFT_FLASH_BYTES);
	card_power(&card);
	card.patience = STARTS;
	card.n_done = 0;
	fuzz_require(card_hello(&card, &first), "the card starts");
	for (size_t at = 0; at + 2 <= size; ) {
		uint32_t words[WEFT_FRAME_MSG_MAX / 4] = { data[at + 1] };
		size_t n = 4 * (size_t)(data[at] % (WEFT_FRAME_MSG_MAX / 4));
		at += 2;
		n = n < size - at ? n & ~(size_t)3 : (size - at) & ~(size_t)3;
		memcpy(words + 1, data + at, n);
		at += n;
		resets |= words[0] == WEFT_MSG_REBOOT && !n;
		card_send(&card, WEFT_FRAME_MSG, (uint16_t)(at + 1), 0, words, (uint32_t)n + 4);
		drain(&card, words[0] == WEFT_MSG_SELF_TEST ? 4 * (uint64_t)STARTS : ANSWERS);
	}
	drain(&card, STARTS);
	card.ops->link_reset(card.chip);
	card.seq = 0;
	fuzz_require(card_hello(&card, &last) && card_hello(&card, &last), "HELLO is answered afterwards");
	fuzz_require(last.slot == 0 && last.reset_cause != WEFT_CHIP_CAUSE_WATCHDOG, "the watchdog does not bite");
	fuzz_require(resets || last.boot_count == first.boot_count, "nothing resets the card");
	fuzz_require(card_ask(&card, WEFT_MSG_STATS, 0, 0, 0, &stats, sizeof stats) == WEFT_MSG_ERR_OK && !stats.traps, "the firmware does not trap");
	return 0;
}

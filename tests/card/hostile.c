/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a host could do on purpose: messages of any words, jobs whose windows reach
 * where they may not, and streams that no verifier has seen. Nothing outside a job's windows may
 * change, nor decide what the job does: each stream runs twice with different
 * bytes around its windows and must leave the same bytes inside.
 *
 * On the functional chip, and on the Verilated one where it is built.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/card.h"
#include "tests/support/card_stream.h"
#include "tests/support/level.h"
#include "tests/support/random_stream.h"
#include "tests/support/tensors.h"

#define DRAM      (1u << 20)
#define HOST_BASE 0x10000u
#define DEADLINE  60000u
#define ROOM      (DRAM - HOST_BASE)

/* A job: where its parts lie, and what they hold at its start. */
struct attack {
	struct weft_msg_window w[WEFT_MSG_WINDOWS_MAX];
	unsigned n;
	uint32_t stream, n_words;
	uint64_t words[2048];
	uint64_t seed;
};

static struct card card;
static uint32_t next_job;

static void open_card(const struct weft_chip_ops *ops)
{
	struct weft_msg_hello_reply h;

	card_open_quick(&card, ops, "w16", DRAM);
	assert_true(card_hello(&card, &h));
	assert_int_equal(h.host_base, HOST_BASE);
	next_job = 1;
}

/* ---- SUBMITs ---- */

static void submits(void **state)
{
	enum { R = WEFT_MSG_PERM_READ, W = WEFT_MSG_PERM_WRITE };
	static const struct {
		struct weft_msg_window w[2];
		uint32_t stream, words;
		enum weft_msg_error error;
	} bad[] = {
		{ { { 0, 64, R } }, 0x20000, 8, WEFT_MSG_ERR_WINDOW },
		{ { { HOST_BASE - 64, 64, R | W } }, 0x20000, 8, WEFT_MSG_ERR_WINDOW },
		{ { { HOST_BASE - 64, 128, R } }, 0x20000, 8, WEFT_MSG_ERR_WINDOW },
		{ { { DRAM - 64, 65, R } }, 0x20000, 8, WEFT_MSG_ERR_WINDOW },
		{ { { DRAM, 64, R } }, 0x20000, 8, WEFT_MSG_ERR_WINDOW },
		{ { { DRAM - 64, 0xffffffc0, R } }, 0x20000, 8, WEFT_MSG_ERR_WINDOW },
		{ { { HOST_BASE, 0xffffffff, R } }, 0x20000, 8, WEFT_MSG_ERR_WINDOW },
		{ { { 0xffffffc0, 0x200c0, R } }, 0x20000, 8, WEFT_MSG_ERR_WINDOW },
		{ { { 0x80010000, 64, R } }, 0x20000, 8, WEFT_MSG_ERR_WINDOW },
		{ { { HOST_BASE + 1, 64, R } }, 0x20000, 8, WEFT_MSG_ERR_ALIGN },
		{ { { HOST_BASE + 32, 64, R } }, 0x20000, 8, WEFT_MSG_ERR_ALIGN },
		{ { { HOST_BASE, 64, 0 } }, 0x20000, 8, WEFT_MSG_ERR_PERM },
		{ { { HOST_BASE, 64, 4 } }, 0x20000, 8, WEFT_MSG_ERR_PERM },
		{ { { HOST_BASE, 64, 0xffffffff } }, 0x20000, 8, WEFT_MSG_ERR_PERM },
		{ { { 0x20000, 64, R | W } }, 0x20000, 8, WEFT_MSG_ERR_OVERLAP },
		{ { { 0x1ffc0, 65, W } }, 0x20000, 8, WEFT_MSG_ERR_OVERLAP },
		{ { { 0x20040, 64, W } }, 0x20000, 9, WEFT_MSG_ERR_OVERLAP },
		{ { { 0x30000, 4096, R }, { 0x30fc0, 4096, W } }, 0x20000, 8, WEFT_MSG_ERR_OVERLAP },
		{ { { 0x30000, 4096, W }, { 0x30fc0, 4096, R } }, 0x20000, 8, WEFT_MSG_ERR_OVERLAP },
		{ { { 0x30000, 4096, R }, { 0x2f000, 0x10000, R | W } }, 0x20000, 8, WEFT_MSG_ERR_OVERLAP },
		{ { { 0x30000, 64, R } }, 0, 8, WEFT_MSG_ERR_WINDOW },
		{ { { 0x30000, 64, R } }, DRAM - 64, 9, WEFT_MSG_ERR_WINDOW },
		{ { { 0x30000, 64, R } }, 0x20008, 8, WEFT_MSG_ERR_ALIGN },
		{ { { 0x30000, 64, R } }, 0x20000, 0, WEFT_MSG_ERR_STREAM },
		{ { { 0x30000, 64, R } }, 0x20000, 0x20000000, WEFT_MSG_ERR_STREAM },
		{ { { 0x30000, 64, R } }, 0x20000, 0xffffffff, WEFT_MSG_ERR_STREAM },
		{ { { 0x30000, 64, R } }, 0x20000, 0x1fffffff, WEFT_MSG_ERR_WINDOW },
	};
	struct weft_msg_stats_reply before, after;

	(void)state;
	open_card(NULL);
	card_ask(&card, WEFT_MSG_STATS, 0, 0, 0, &before, sizeof(before));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		enum weft_msg_error e = card_submit(&card, 1 + (uint32_t)i, 1000, bad[i].stream, bad[i].words, bad[i].w, 2, NULL);
		if (e != bad[i].error)
			fail_msg("case %zu: %s, not %s", i, weft_msg_error_name(e), weft_msg_error_name(bad[i].error));
	}
	assert_int_equal(card_submit(&card, 0, 1000, 0x20000, 8, bad[0].w, 0, NULL), WEFT_MSG_ERR_JOB_ID);
	/* Counts that the message's length does not bear out. */
	for (uint32_t n = 0; n < 40; n++) {
		uint32_t words[7 + 21] = { WEFT_MSG_SUBMIT, 77, 0, 0, 0x20000, 8, n == 39 ? 0x40000000 : n };
		enum weft_msg_error error;
		if (n == 7)
			continue;
		assert_true(card_message(&card, words, 28, NULL, 0, &error) > 0);
		assert_int_equal(error, WEFT_MSG_ERR_LENGTH);
	}
	card_ask(&card, WEFT_MSG_STATS, 0, 0, 0, &after, sizeof(after));
	assert_int_equal(after.npu_resets, before.npu_resets);
	assert_int_equal(after.jobs_ok + after.jobs_fault + after.jobs_deadline, 0);
	assert_int_equal(after.jobs_refused, sizeof(bad) / sizeof(bad[0]) + 40);
	assert_int_equal(after.traps, 0);
	card_close(&card);
}

/* ---- messages ---- */

/* Words that mean something somewhere. */
static uint32_t draw_word(uint64_t *rng)
{
	const uint32_t some[] = { 0, 1, 2, 7, 8, 63, 64, 256, 0x1000, HOST_BASE, 0x20000, DRAM, DRAM - 64, 0x10000, 0x7fffffff,
		0x80000000, 0xffffffff, 0xfffffffc, (uint32_t)test_below(rng, 0x440), (uint32_t)test_below(rng, 1000) };

	return test_below(rng, 3) ? some[test_below(rng, sizeof(some) / sizeof(some[0]))] : (uint32_t)test_random(rng);
}

/* Words that a message of this type has. */
static unsigned draw_length(uint32_t type, uint64_t *rng)
{
	static const uint8_t fixed[WEFT_MSG_REBOOT + 1] = { [WEFT_MSG_HELLO] = 2, [WEFT_MSG_DONE] = 2, [WEFT_MSG_CANCEL] = 2,
		[WEFT_MSG_ABORT_ALL] = 1, [WEFT_MSG_STATS] = 1, [WEFT_MSG_LOG_READ] = 2, [WEFT_MSG_REG_READ] = 3,
		[WEFT_MSG_REG_WRITE] = 3, [WEFT_MSG_SELF_TEST] = 2, [WEFT_MSG_FW_BEGIN] = 2, [WEFT_MSG_FW_END] = 1,
		[WEFT_MSG_FW_SWITCH] = 1, [WEFT_MSG_FW_DATA] = 2 + WEFT_MSG_FW_CHUNK / 4 };

	if (type <= WEFT_MSG_REBOOT && fixed[type] && test_below(rng, 8))
		return fixed[type];
	if (type == WEFT_MSG_SUBMIT)
		return 7 + 3 * (unsigned)test_below(rng, WEFT_MSG_WINDOWS_MAX + 1);
	return 1 + (unsigned)test_below(rng, 128);
}

/* Any words as messages: each is answered, the firmware never traps or hangs, and the
 * boot record in the flash is never touched. */
static void messages(void **state)
{
	uint64_t rng = test_seed(5);
	const long n = test_count(2000, 20000, 1000000);
	struct weft_msg_stats_reply s;
	struct weft_msg_hello_reply h;
	unsigned errors[32] = { 0 };
	uint8_t *records = malloc(2 * WEFT_FLASH_SECTOR_BYTES);

	(void)state;
	open_card(NULL);
	memcpy(records, card.flash, 2 * WEFT_FLASH_SECTOR_BYTES);
	for (long i = 0; i < n; i++) {
		uint32_t words[WEFT_FRAME_MSG_MAX / 4], type = 1 + (uint32_t)test_below(&rng, WEFT_MSG_REBOOT + 2);
		unsigned len = draw_length(type, &rng);
		enum weft_msg_error error;

		if (type == WEFT_MSG_REBOOT || (type == WEFT_MSG_SELF_TEST && test_below(&rng, 50)))
			continue;
		words[0] = test_below(&rng, 20) ? type : draw_word(&rng) | 0x100;
		for (unsigned k = 1; k < len; k++)
			words[k] = draw_word(&rng);
		if (type == WEFT_MSG_SUBMIT && test_below(&rng, 8))
			words[6] = (len - 7) / 3;
		card.n_done = 0;
		if (!card_message(&card, words, len, NULL, 0, &error))
			fail_msg("message %ld, type %u, %u words: no answer", i, words[0], len);
		assert_non_null(weft_msg_error_name(error));
		errors[error & 31]++;
	}
	card_ask(&card, WEFT_MSG_ABORT_ALL, 0, 0, 0, NULL, 0);
	card.n_done = 0;
	card_ask(&card, WEFT_MSG_STATS, 0, 0, 0, &s, sizeof(s));
	assert_int_equal(s.traps, 0);
	assert_true(card_hello(&card, &h));
	assert_int_equal(h.boot_count, 1);
	assert_memory_equal(records, card.flash, 2 * WEFT_FLASH_SECTOR_BYTES);
	printf("%u messages: %u taken, %u wrong lengths, %u unknown, %u other errors\n", s.messages, errors[0],
	       errors[WEFT_MSG_ERR_LENGTH], errors[WEFT_MSG_ERR_TYPE],
	       s.messages - errors[0] - errors[WEFT_MSG_ERR_LENGTH] - errors[WEFT_MSG_ERR_TYPE]);
	free(records);
	card_close(&card);
}

/* ---- streams ---- */

static int64_t edge(uint64_t *rng, int64_t size)
{
	const int64_t at[] = { 0, 1, size - 1, size, size + 1, -1, -size, size / 2, size - 64, 1ll << 31, (1ll << 40) - 1,
		(1ll << 32) - 64, (int64_t)test_below(rng, DRAM) };

	return at[test_below(rng, sizeof(at) / sizeof(at[0]))];
}

/* A window that load or store may use, if there is one; else any. */
static unsigned draw_window(const struct attack *a, uint64_t *rng, bool store)
{
	unsigned k = (unsigned)test_below(rng, 8);

	for (unsigned i = 0; i < a->n && test_below(rng, 8); i++) {
		unsigned w = (unsigned)test_below(rng, a->n);
		if (a->w[w].perm & (store ? WEFT_MSG_PERM_WRITE : WEFT_MSG_PERM_READ))
			return w + 1;
	}
	return k;
}

/* Loads and stores within, at and beyond every edge. */
static void draw_dma(struct attack *a, uint64_t *rng)
{
	struct card_stream s = { .n = 0 };
	unsigned n = 1 + (unsigned)test_below(rng, 12);

	for (unsigned i = 0; i < n; i++) {
		struct weft_cmd c;
		bool store = test_below(rng, 2), tame = test_below(rng, 6);
		unsigned k = draw_window(a, rng, store);
		int64_t size = k && k <= a->n ? a->w[k - 1].size : 8 * a->n_words;

		weft_cmd_init(&c, store ? WEFT_CMD_STORE : WEFT_CMD_LOAD);
		c.load.window = (int32_t)k;
		c.load.n1 = 1 + (int32_t)test_below(rng, 4);
		c.load.n2 = 1 + (int32_t)test_below(rng, 3);
		c.load.row_bytes = 1 + (int32_t)test_below(rng, tame ? (uint64_t)(size < 4096 ? size : 4096) : 5000);
		c.load.dram_off = tame ? (int64_t)test_below(rng, (uint64_t)(size - c.load.row_bytes + 1))
		                       : edge(rng, size) & ((1ll << 40) - 1);
		if (tame)
			c.load.dram_stride1 = -(int32_t)test_below(rng, (uint64_t)c.load.dram_off / 12 + 1);
		else
			c.load.dram_stride1 = (int32_t)edge(rng, size);
		c.load.dram_stride2 = tame ? c.load.dram_stride1 : (int32_t)edge(rng, size);
		c.load.sp_addr = (int32_t)test_below(rng, 1u << 18);
		c.load.sp_stride1 = (int32_t)test_below(rng, 8192);
		c.load.sp_stride2 = (int32_t)test_below(rng, 8192);
		stream_put(&s, &c);
	}
	stream_end(&s);
	a->n_words = (uint32_t)s.n;
	memcpy(a->words, s.words, s.n * 8);
}

/* A legal stream with some bits turned. */
static void draw_mutant(struct attack *a, uint64_t *rng)
{
	struct random_stream r;

	do {
		random_stream_make(&r, test_random(rng), weft_config_find("w16"));
		if (r.n_words > sizeof(a->words) / 8)
			random_stream_free(&r);
		else
			break;
	} while (true);
	a->n_words = (uint32_t)r.n_words;
	memcpy(a->words, r.words, r.n_words * 8);
	random_stream_free(&r);
	for (unsigned i = (unsigned)test_below(rng, 6); i; i--)
		a->words[test_below(rng, a->n_words)] ^= 1ull << test_below(rng, 64);
}

/* Anything, sometimes behind a header that looks right. */
static void draw_noise(struct attack *a, uint64_t *rng)
{
	a->n_words = 1 + (uint32_t)test_below(rng, 64);
	for (uint32_t i = 0; i < a->n_words; i++)
		a->words[i] = test_random(rng);
	for (uint32_t i = 0; i < a->n_words;) {
		const struct weft_cmd_info *k = &weft_cmd_list()[test_below(rng, WEFT_N_CMDS)];
		a->words[i] = (a->words[i] & ~0xffffull) | k->op | (uint64_t)k->n_words << 8;
		i += k->n_words;
	}
}

/* Windows in order of their addresses, with gaps, in a memory that is full of guards. */
static void draw(struct attack *a, uint64_t seed)
{
	uint64_t rng = a->seed = seed;
	uint32_t at = HOST_BASE + 64 * (uint32_t)test_below(&rng, 64);

	a->n = 1 + (unsigned)test_below(&rng, WEFT_MSG_WINDOWS_MAX);
	a->n_words = 100;
	for (unsigned i = 0; i < a->n; i++) {
		a->w[i] = (struct weft_msg_window){ at, 1 + (uint32_t)test_below(&rng, ROOM / 8 - 4096), 1 + (uint32_t)test_below(&rng, 3) };
		at = (at + a->w[i].size + 63) / 64 * 64 + 64 * (uint32_t)test_below(&rng, 4);
	}
	a->stream = at;
	switch (test_below(&rng, 4)) {
	case 0:
		draw_noise(a, &rng);
		break;
	case 1:
		draw_mutant(a, &rng);
		break;
	default:
		draw_dma(a, &rng);
		break;
	}
}

/* The whole memory as it is before the job: guards of this kind, and the parts. */
static void fill(const struct attack *a, uint8_t *m, uint8_t guard)
{
	uint64_t rng = a->seed;

	for (size_t i = 0; i < DRAM; i++)
		m[i] = (uint8_t)(guard + i * 5 + (i >> 8) * guard);
	for (unsigned i = 0; i < a->n; i++)
		for (uint32_t k = 0; k < a->w[i].size; k += 8) {
			uint64_t v = test_random(&rng);
			memcpy(m + a->w[i].base + k, &v, a->w[i].size - k < 8 ? a->w[i].size - k : 8);
		}
	memcpy(m + a->stream, a->words, 8 * a->n_words);
}

/* The RTL's scratchpad keeps what the job before left there: zeros for everybody. */
static void scrub(void)
{
	const uint32_t zeros = 0x20000, n_zeros = 65536, stream = HOST_BASE;
	struct weft_msg_window w = { zeros, n_zeros, WEFT_MSG_PERM_READ };
	struct card_stream s = { .n = 0 };
	struct weft_msg_done_reply d;
	struct weft_cmd c;
	uint8_t *dram = card.ops->dram(card.chip);

	weft_cmd_init(&c, WEFT_CMD_LOAD);
	c.load.window = 1;
	c.load.row_bytes = (int32_t)n_zeros;
	c.load.n1 = (int32_t)(weft_config_find("w16")->sp_bytes / n_zeros);
	c.load.sp_stride1 = (int32_t)n_zeros;
	stream_put(&s, &c);
	stream_end(&s);
	memset(dram + zeros, 0, n_zeros);
	memcpy(dram + stream, s.words, s.n * 8);
	assert_int_equal(card_submit(&card, next_job, 1000000, stream, (uint32_t)s.n, &w, 1, NULL), WEFT_MSG_ERR_OK);
	assert_true(card_wait(&card, next_job++, 10000000, &d));
	assert_int_equal(d.result, WEFT_MSG_RESULT_OK);
}

static void run(const struct attack *a, const uint8_t *before, uint8_t *after, struct weft_msg_done_reply *d)
{
	uint8_t *dram = card.ops->dram(card.chip);

	if (card.ops != weft_chip_model())
		scrub();
	uint32_t job = next_job++;
	memcpy(dram, before, DRAM);
	enum weft_msg_error e = card_submit(&card, job, DEADLINE, a->stream, a->n_words, a->w, a->n, NULL);
	if (e)
		fail_msg("seed %llu: %s", (unsigned long long)a->seed, weft_msg_error_name(e));
	if (!card_wait(&card, job, 10000000, d))
		fail_msg("seed %llu: no end", (unsigned long long)a->seed);
	memcpy(after, dram, DRAM);
}

static bool may_change(const struct attack *a, size_t i)
{
	for (unsigned k = 0; k < a->n; k++)
		if (i >= a->w[k].base && i - a->w[k].base < a->w[k].size)
			return a->w[k].perm & WEFT_MSG_PERM_WRITE;
	return false;
}

static void judge(const struct attack *a, const uint8_t *before, const uint8_t *after)
{
	for (size_t i = 0; i < DRAM; i++)
		if (before[i] != after[i] && !may_change(a, i))
			fail_msg("seed %llu: byte 0x%zx outside the windows changed from %u to %u", (unsigned long long)a->seed, i,
			         before[i], after[i]);
}

static uint8_t before[2][DRAM], after[2][DRAM];

static void streams_on(const struct weft_chip_ops *ops, long n)
{
	static struct attack a;
	unsigned ends[8] = { 0 }, faults[16] = { 0 }, wrote = 0;

	open_card(ops);
	for (long i = 0; i < n; i++) {
		struct weft_msg_done_reply d[2];
		draw(&a, test_seed(1) + (uint64_t)i);
		for (int k = 0; k < 2; k++) {
			fill(&a, before[k], k ? 0xa5 : 0x3c);
			run(&a, before[k], after[k], &d[k]);
			judge(&a, before[k], after[k]);
		}
		/* A deadline ends a job at a moment that the core's own steps decide. */
		bool same = d[0].result == d[1].result && d[0].fault == d[1].fault && d[0].fault_cmd == d[1].fault_cmd &&
		            d[0].fault_info == d[1].fault_info;
		if (!same)
			fail_msg("seed %llu: bytes outside decide how the job ends", (unsigned long long)a.seed);
		for (unsigned k = 0; k < a.n; k++) {
			bool leaks = memcmp(after[0] + a.w[k].base, after[1] + a.w[k].base, a.w[k].size);
			if (leaks && d[0].result != WEFT_MSG_RESULT_DEADLINE)
				fail_msg("seed %llu: bytes from outside came into window %u", (unsigned long long)a.seed, k + 1);
			wrote += memcmp(before[0] + a.w[k].base, after[0] + a.w[k].base, a.w[k].size) != 0;
		}
		ends[d[0].result & 7]++;
		faults[d[0].fault & 15]++;
	}
	printf("%s: %ld streams twice: %u done, %u faults (%u WINDOW, %u SP_RANGE, %u DEADLOCK), %u deadlines; "
	       "%u windows written, nothing outside\n", card.ops->name, n, ends[0], ends[1], faults[WEFT_FAULT_WINDOW],
	       faults[WEFT_FAULT_SP_RANGE], faults[WEFT_FAULT_DEADLOCK], ends[2], wrote);
	struct weft_msg_stats_reply s;
	card_ask(&card, WEFT_MSG_STATS, 0, 0, 0, &s, sizeof(s));
	assert_int_equal(s.traps, 0);
	assert_int_equal(s.watchdog_bites, 0);
	if (n >= 100) {
		assert_true(faults[WEFT_FAULT_WINDOW] > n / 20);
		assert_true(wrote > n / 20);
		assert_true(ends[0] > 0);
	}
	card_close(&card);
}

static void streams(void **state)
{
	(void)state;
	streams_on(NULL, test_count(200, 1000, 10000));
}

static void streams_rtl(void **state)
{
	const struct weft_chip_ops *rtl = card_rtl("w16");

	(void)state;
	if (!rtl)
		skip();
	streams_on(rtl, test_count(5, 20, 1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(submits),
		cmocka_unit_test(messages),
		cmocka_unit_test(streams),
		cmocka_unit_test(streams_rtl),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs on the Verilated chip, as messages: random streams give the functional
 * model's bytes, also after resets of every kind at random moments. States what
 * a job costs beside the NPU's own cycles.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "tests/cosim/compare_stream.h"
#include "tests/support/card.h"

/* WEFT_CONFIG=w8 runs the chip of another configuration, once `make chip CHIP_CONFIGS=w8` has built it. */
static const char *config(void)
{
	return test_env("WEFT_CONFIG", "w16");
}

/* What the firmware may add to a job, from the last byte of SUBMIT to the last of DONE. */
#define FIRMWARE_CYCLES 2000

static struct card card;
static struct weft_msg_hello_reply hello;
static weft_dev *model;
static uint32_t job_id;
static uint64_t rng;

static uint32_t below(uint32_t n)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return (uint32_t)((rng >> 32) * n >> 32);
}

/* One stream, its expected arena, and where it lies on the card. */
struct job {
	struct random_stream s;
	uint8_t *want, *got;
	uint32_t stream, consts, arena;
	uint64_t seed;
};

static uint32_t up64(uint32_t v)
{
	return (v + 63) & ~63u;
}

static void job_make(struct job *j, uint64_t seed)
{
	j->seed = seed;
	random_stream_make(&j->s, seed, weft_config_find(config()));
	j->want = malloc(j->s.n_arena);
	j->got = malloc(j->s.n_arena);
	assert_non_null(j->want);
	assert_non_null(j->got);
	stream_run(seed, model, "model", &j->s, j->want);
	j->stream = up64(hello.host_base);
	j->consts = up64(j->stream + (uint32_t)j->s.n_words * 8);
	j->arena = up64(j->consts + (uint32_t)j->s.n_consts);
}

static void job_free(struct job *j)
{
	free(j->want);
	free(j->got);
	random_stream_free(&j->s);
}

static void job_write(struct job *j)
{
	memset(j->got, 0, j->s.n_arena);
	assert_int_equal(card_write(&card, j->stream, j->s.words, (uint32_t)j->s.n_words * 8), 0);
	assert_int_equal(card_write(&card, j->consts, j->s.consts, (uint32_t)j->s.n_consts), 0);
	assert_int_equal(card_write(&card, j->arena, j->got, (uint32_t)j->s.n_arena), 0);
}

static enum weft_msg_error job_submit(struct job *j, uint64_t deadline)
{
	const struct weft_msg_window w[2] = {
		{ .base = j->consts, .size = (uint32_t)j->s.n_consts, .perm = WEFT_MSG_PERM_READ },
		{ .base = j->arena, .size = (uint32_t)j->s.n_arena, .perm = WEFT_MSG_PERM_READ | WEFT_MSG_PERM_WRITE },
	};

	return card_submit(&card, ++job_id, deadline, j->stream, (uint32_t)j->s.n_words, w, 2, NULL);
}

static void job_check(struct job *j)
{
	assert_int_equal(card_read(&card, j->arena, j->got, (uint32_t)j->s.n_arena), 0);
	for (uint64_t i = 0; i < j->s.n_arena; i++)
		if (j->got[i] != j->want[i])
			fail_msg("seed %" PRIu64 ": arena 0x%" PRIx64 " expected 0x%02x, got 0x%02x", j->seed, i, j->want[i], j->got[i]);
}

static void job_run(struct job *j)
{
	struct weft_msg_done_reply d;

	job_write(j);
	assert_int_equal(job_submit(j, 0), WEFT_MSG_ERR_OK);
	assert_true(card_wait(&card, job_id, 4000000, &d));
	assert_int_equal(d.result, WEFT_MSG_RESULT_OK);
	job_check(j);
}

static void test_streams(void **state)
{
	const long n = test_count(2, 8, 200);
	const uint64_t first = test_seed(1);

	(void)state;
	for (long i = 0; i < n; i++) {
		struct job j;

		job_make(&j, first + (uint64_t)i);
		job_run(&j);
		job_free(&j);
	}
}

/* Cycles from the end of SUBMIT to the end of DONE; the NPU's own in *npu. */
static uint64_t timed(struct job *j, uint64_t *npu)
{
	uint8_t bytes[2048];
	size_t n = 0, n_frames = 0, first = 0;
	const uint32_t words[] = { WEFT_MSG_SUBMIT, ++job_id, 0, 0, j->stream, (uint32_t)j->s.n_words, 2,
		j->consts, (uint32_t)j->s.n_consts, WEFT_MSG_PERM_READ,
		j->arena, (uint32_t)j->s.n_arena, WEFT_MSG_PERM_READ | WEFT_MSG_PERM_WRITE };

	job_write(j);
	card_run(&card, 10000);
	uint64_t begin = card.ops->cycles(card.chip);
	assert_true(card_send(&card, WEFT_FRAME_MSG, 999, 0, words, sizeof(words)));
	while (n_frames < 2) {
		bool end;

		assert_true(card.ops->cycles(card.chip) - begin < 10000000);
		card.ops->run(card.chip, 10);
		n += card.ops->get(card.chip, bytes + n, sizeof(bytes) - n, &end);
		n_frames += end;
		if (end && n_frames == 1)
			first = n;
	}
	struct weft_msg_done_reply d;
	assert_int_equal(n - first, sizeof(d) + WEFT_FRAME_HEADER_BYTES + 4);
	memcpy(&d, bytes + first + WEFT_FRAME_HEADER_BYTES, sizeof(d));
	assert_int_equal(d.job, job_id);
	assert_int_equal(d.result, WEFT_MSG_RESULT_OK);
	*npu = d.counters[0];
	/* A byte goes in each cycle. */
	return card.ops->cycles(card.chip) - begin - (WEFT_FRAME_HEADER_BYTES + sizeof(words) + 4);
}

static void test_overhead(void **state)
{
	uint64_t worst = 0, sum = 0;
	const unsigned n = 4;

	(void)state;
	for (unsigned i = 0; i < n; i++) {
		struct job j;
		uint64_t npu = 0;

		job_make(&j, 1000 + i);
		const uint64_t all = timed(&j, &npu);
		job_check(&j);
		job_free(&j);
		sum += all - npu;
		worst = all - npu > worst ? all - npu : worst;
	}
	print_message("a job adds %" PRIu64 " cycles to the NPU's, at most %" PRIu64 ", SUBMIT's last byte to DONE's last byte\n",
	              sum / n, worst);
	assert_true(worst <= FIRMWARE_CYCLES);
}

/* CANCEL, and a deadline that passes, in the middle of a stream. */
static void test_stopped(void **state)
{
	const long n = test_count(2, 6, 200);

	(void)state;
	for (long i = 0; i < n; i++) {
		struct weft_msg_done_reply d;
		struct job j;

		job_make(&j, test_seed(1) + 50 + (uint64_t)i);
		job_write(&j);
		assert_int_equal(job_submit(&j, i & 1 ? 0 : 1 + below(3000)), WEFT_MSG_ERR_OK);
		if (i & 1) {
			card_run(&card, below(3000));
			assert_int_equal(card_ask(&card, WEFT_MSG_CANCEL, job_id, 0, 1, NULL, 0), WEFT_MSG_ERR_OK);
		}
		assert_true(card_wait(&card, job_id, 4000000, &d));
		assert_true(d.result == WEFT_MSG_RESULT_OK || d.result == (i & 1 ? WEFT_MSG_RESULT_CANCELLED : WEFT_MSG_RESULT_DEADLINE));
		job_run(&j);
		job_free(&j);
	}
}

/* An NPU that does not even hear ctrl.reset is reset the hard way. */
static void test_stuck(void **state)
{
	const struct weft_chip_plant hang = { .kind = WEFT_CHIP_PLANT_NPU_HANG };
	struct weft_msg_done_reply d;
	struct job j;

	(void)state;
	job_make(&j, 77);
	job_write(&j);
	assert_int_equal(card.ops->plant(card.chip, &hang), 0);
	assert_int_equal(job_submit(&j, 20000), WEFT_MSG_ERR_OK);
	assert_true(card_wait(&card, job_id, 4000000, &d));
	assert_int_equal(d.result, WEFT_MSG_RESULT_HUNG);
	job_run(&j);
	job_free(&j);
}

/* Somewhere in a WRITE, a READ or a job: the link or the whole chip is reset. */
static void test_resets(void **state)
{
	const long n = test_count(3, 12, 500);

	(void)state;
	for (long i = 0; i < n; i++) {
		struct job j;

		job_make(&j, test_seed(1) + 100 + (uint64_t)i);
		job_write(&j);
		if (i % 3 == 0) {
			/* A WRITE cut off: what lies around it stays. */
			uint32_t len = (uint32_t)j.s.n_consts, cut = below(len);
			uint8_t h[16] = { WEFT_FRAME_MAGIC, WEFT_FRAME_WRITE };
			uint32_t fields[3] = { j.consts, len, 0 };
			memcpy(h + 4, fields, 8);
			fields[2] = (uint32_t)crc32(0, h, 12);
			memcpy(h + 12, &fields[2], 4);
			assert_true(card_send_bytes(&card, h, sizeof(h)));
			assert_true(card_send_bytes(&card, j.s.consts, cut));
			card.ops->run(card.chip, 1 + below(len));
		} else if (i % 3 == 1) {
			assert_true(card_send(&card, WEFT_FRAME_READ, 5, j.arena, NULL, (uint32_t)j.s.n_arena));
			card.ops->run(card.chip, 17 + below(400));
		} else {
			assert_int_equal(job_submit(&j, 0), WEFT_MSG_ERR_OK);
			card.ops->run(card.chip, below(3000));
		}
		if (i % 2)
			card.ops->reset(card.chip, WEFT_CHIP_CAUSE_HOST);
		else
			card.ops->link_reset(card.chip);
		card.n_done = 0;
		struct weft_msg_hello_reply h;
		assert_true(card_hello(&card, &h));
		if (i % 2)
			assert_int_equal(h.reset_cause, WEFT_CHIP_CAUSE_HOST);
		else if (i % 3 == 2)
			card_ask(&card, WEFT_MSG_ABORT_ALL, 0, 0, 0, NULL, 0);
		job_run(&j);
		job_free(&j);
	}
}

#define EVERY_CYCLES 800000

/* Another chip like the group's, which has just been switched on; with a waveform if `wave` is a file. */
static struct card another_chip(uint8_t *flash, const char *wave)
{
	struct card c = { .ops = card.ops, .patience = card.patience };
	const struct weft_chip_options o = { .config = config(), .rom = card.rom, .rom_bytes = card.rom_bytes,
	                                     .flash = flash, .flash_bytes = WEFT_FLASH_BYTES, .wave = wave };
	char msg[WEFT_DEV_MSG] = "";

	memcpy(flash, card.flash, WEFT_FLASH_BYTES);
	if (c.ops->open(&o, &c.chip, msg))
		fail_msg("%s", msg);
	return c;
}

/* What the host does to the chip in this cycle. */
static void disturb(struct card *c, unsigned cycle)
{
	const uint32_t hello_words[] = { WEFT_MSG_HELLO, WEFT_MSG_VERSION_VALUE, 1 };
	static const uint8_t data[300] = { 1, 2, 3 };

	switch (cycle) {
	case 1000:          /* answered after 731 864 cycles, when the firmware has started */
	case 744000:
	case 772000: card_send(c, WEFT_FRAME_MSG, 7, 0, hello_words, sizeof(hello_words)); break;
	case 740000: card_send(c, WEFT_FRAME_WRITE, 8, 0x1000004, data, sizeof(data)); break;
	case 741000: card_send(c, WEFT_FRAME_READ, 9, 0x1000003, NULL, 200); break;
	case 742000: card_send(c, WEFT_FRAME_READ, 10, 0x1000000, NULL, 4096); break;
	case 742200: c->ops->link_reset(c->chip); break;
	case 750000: c->ops->reset(c->chip, WEFT_CHIP_CAUSE_HOST); break;
	case 760000: c->ops->strap(c->chip, true); break;
	case 761000: c->ops->reset(c->chip, WEFT_CHIP_CAUSE_POWER); break;
	case 765000: c->ops->strap(c->chip, false); break;
	}
}

/*
 * A chip that records a waveform is evaluated as Verilator does it, any other one by fewer steps (sim/rtl/chip.cc). Both show
 * the same in each cycle.
 */
static void test_every_cycle(void **state)
{
	uint8_t *flash[2] = { malloc(WEFT_FLASH_BYTES), malloc(WEFT_FLASH_BYTES) };
	unsigned n_bytes = 0, n_frames = 0;
	struct card c[2];
	char wave[300];

	(void)state;
	assert_true(flash[0] && flash[1]);
	test_path(wave, sizeof(wave), "every_cycle.fst");
	c[0] = another_chip(flash[0], NULL);
	c[1] = another_chip(flash[1], wave);
	for (unsigned cycle = 0; cycle < EVERY_CYCLES; cycle++) {
		uint8_t bytes[2][16];
		uint64_t at[2][3];
		size_t n[2] = { 0 };
		bool end[2] = { false };

		for (int k = 0; k < 2; k++) {
			disturb(&c[k], cycle);
			card.ops->run(c[k].chip, 1);
			at[k][0] = card.ops->cycles(c[k].chip);
			at[k][1] = card.ops->instret(c[k].chip);
			at[k][2] = card.ops->status(c[k].chip);
			/* get() also drives the chip's inputs anew. */
			if (at[k][2] & WEFT_USB_STATUS_IN_PENDING)
				n[k] = card.ops->get(c[k].chip, bytes[k], sizeof(bytes[k]), &end[k]);
		}
		for (int i = 0; i < 3; i++)
			if (at[0][i] != at[1][i])
				fail_msg("cycle %u: %s is %" PRIu64 ", with a waveform %" PRIu64, cycle,
				         (const char *[]){ "the cycle's number", "the number of instructions", "the status" }[i], at[0][i], at[1][i]);
		assert_int_equal(n[0], n[1]);
		assert_memory_equal(bytes[0], bytes[1], n[0]);
		assert_int_equal(end[0], end[1]);
		n_bytes += (unsigned)n[0];
		n_frames += end[0];
	}
	print_message("%d cycles, %" PRIu64 " instructions, %u bytes in %u frames came back\n", EVERY_CYCLES, card.ops->instret(c[0].chip), n_bytes, n_frames);
	assert_true(n_frames >= 4 && n_bytes > 200);
	for (int k = 0; k < 2; k++) {
		assert_null(card.ops->broken(c[k].chip));
		card.ops->close(c[k].chip);
		free(flash[k]);
	}
	remove(wave);
}

static int setup(void **state)
{
	const struct weft_chip_ops *ops = card_rtl(config());

	(void)state;
	rng = test_seed(1) * 0x9e3779b97f4a7c15u + 1;
	if (!ops)
		return -1;
	model = stream_device(WEFT_DEV_MODEL, WEFT_MEMORY_SRAM, config());
	card_open_quick(&card, ops, config(), 0);
	card.patience = 2000000;
	return card_hello(&card, &hello) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	weft_dev_close(model);
	card_close(&card);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_streams), cmocka_unit_test(test_overhead), cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_stuck),   cmocka_unit_test(test_resets), cmocka_unit_test(test_every_cycle),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

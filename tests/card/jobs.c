/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs on the functional chip and on the Verilated one, through frames and
 * firmware: queue, order, replays, faults, deadlines, cancelling, and how long
 * all that takes.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <weft/gen/regs.h>

#include "tests/support/card.h"
#include "tests/support/card_stream.h"
#include "tests/support/level.h"

#define DRAM    (1u << 20)
#define STREAM  0x10000u
#define CONSTS  0x20000u
#define ARENA   0x30000u
#define BYTES   4096u

static struct card card;
static const struct weft_chip_ops *rtl;
static uint8_t consts[BYTES], arena[BYTES];

static const struct weft_msg_window windows[2] = {
	{ CONSTS, BYTES, WEFT_MSG_PERM_READ },
	{ ARENA, BYTES, WEFT_MSG_PERM_READ | WEFT_MSG_PERM_WRITE },
};

static int setup_on(const struct weft_chip_ops *ops)
{
	struct weft_msg_hello_reply h;

	card_open_quick(&card, ops, "w16", DRAM);
	assert_true(card_hello(&card, &h)); /* before that no memory is open */
	for (size_t i = 0; i < BYTES; i++)
		consts[i] = (uint8_t)(i * 13 + 5);
	assert_int_equal(card_write(&card, CONSTS, consts, BYTES), 0);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	return setup_on(weft_chip_model());
}

static int setup_rtl(void **state)
{
	(void)state;
	return setup_on(rtl);
}

static bool functional(void)
{
	return card.ops == weft_chip_model();
}

/* False: this chip cannot. */
static bool plant(enum weft_chip_plant_kind kind, uint64_t addr)
{
	struct weft_chip_plant p = { .kind = kind, .addr = addr };
	int err = card.ops->plant(card.chip, &p);

	if (err == -ENOTSUP)
		return false;
	assert_int_equal(err, 0);
	return true;
}

static int teardown(void **state)
{
	(void)state;
	card_close(&card);
	return 0;
}

static void put_stream(const struct card_stream *s)
{
	assert_int_equal(card_write(&card, STREAM, s->words, (uint32_t)s->n * 8), 0);
}

/* Copies consts to the arena. */
static uint32_t put_copy(void)
{
	struct card_stream s;

	stream_copy(&s, WEFT_WIN_CONST, 0, WEFT_WIN_ARENA, 64, 1000);
	put_stream(&s);
	return (uint32_t)s.n;
}

/* Copies rows until the end of time: a pool over as large a window as fields allow. */
static uint32_t put_long(void)
{
	struct card_stream s = { .n = 0 };
	struct weft_cmd c;

	weft_cmd_init(&c, WEFT_CMD_POOL);
	c.pool.n_ky = c.pool.n_kx = 4000;
	c.pool.post.ow = c.pool.post.oh = 1000;
	c.pool.post.oc = 16;
	stream_put(&s, &c);
	stream_end(&s);
	put_stream(&s);
	return (uint32_t)s.n;
}

static struct weft_msg_done_reply finish(uint32_t job)
{
	struct weft_msg_done_reply d;

	if (!card_wait(&card, job, 50000000, &d))
		fail_msg("job %u: no DONE", job);
	return d;
}

/* With nothing to do the core sleeps: no interrupt is left behind. */
static void sleeps(void)
{
	card_run(&card, 20000);
	assert_false(card.ops->run(card.chip, 1000));
	assert_true(card.ops->status(card.chip) & WEFT_USB_STATUS_CORE_IDLE);
}

static void good_job(uint32_t job)
{
	uint32_t n = put_copy();

	memset(arena, 0, BYTES);
	assert_int_equal(card_write(&card, ARENA, arena, BYTES), 0);
	assert_int_equal(card_submit(&card, job, 1000000, STREAM, n, windows, 2, NULL), WEFT_MSG_ERR_OK);
	struct weft_msg_done_reply d = finish(job);
	assert_int_equal(d.state, WEFT_MSG_STATE_DONE);
	assert_int_equal(d.result, WEFT_MSG_RESULT_OK);
	assert_int_equal(d.fault, 0);
	assert_int_equal(d.retired[WEFT_UNIT_LD], 1);
	assert_int_equal(d.retired[WEFT_UNIT_ST], 1);
	assert_int_equal(d.counters[(WEFT_REG_CNT_RD_BYTES - WEFT_REG_CNT_CYCLES) / 4], 1000);
	assert_int_equal(d.counters[(WEFT_REG_CNT_WR_BYTES - WEFT_REG_CNT_CYCLES) / 4], 1000);
	assert_true(d.counters[0] > 0 && d.time_lo >= d.counters[0] && !d.time_hi);
	assert_int_equal(card_read(&card, ARENA, arena, BYTES), 0);
	assert_memory_equal(arena + 64, consts, 1000);
	sleeps();
	for (size_t i = 0; i < BYTES; i++)
		assert_true((i >= 64 && i < 1064) || !arena[i]);
}

static void runs_a_job(void **state)
{
	(void)state;
	good_job(1);
	good_job(2);
}

/* Eight wait, the ninth is told so; they end in order. */
static void queues_eight(void **state)
{
	struct weft_msg_submit_reply r;
	uint32_t n = put_long();

	(void)state;
	for (uint32_t i = 0; i < WEFT_MSG_JOBS_MAX; i++) {
		assert_int_equal(card_submit(&card, 100 + i, 20000, STREAM, n, windows, 2, &r), WEFT_MSG_ERR_OK);
		assert_int_equal(r.job, 100 + i);
		assert_int_equal(r.state, i ? WEFT_MSG_STATE_QUEUED : WEFT_MSG_STATE_RUNNING);
		assert_int_equal(r.free, WEFT_MSG_JOBS_MAX - 1 - i);
	}
	assert_int_equal(card_submit(&card, 108, 20000, STREAM, n, windows, 2, &r), WEFT_MSG_ERR_QUEUE_FULL);
	assert_int_equal(card_ask(&card, WEFT_MSG_SELF_TEST, 1, 0, 1, NULL, 0), WEFT_MSG_ERR_BUSY);
	assert_int_equal(card_ask(&card, WEFT_MSG_REG_WRITE, WEFT_REG_STREAM_OFF, 0, 2, NULL, 0), WEFT_MSG_ERR_BUSY);
	assert_int_equal(card_ask(&card, WEFT_MSG_FW_BEGIN, 1024, 0, 1, NULL, 0), WEFT_MSG_ERR_BUSY);
	finish(107);
	assert_int_equal(card.n_done, 7);
	for (uint32_t i = 0; i < 7; i++) {
		assert_int_equal(card.done[i].job, 100 + i);
		assert_int_equal(card.done[i].result, WEFT_MSG_RESULT_DEADLINE);
		assert_in_range(card.done[i].time_lo, 20000, 22000);
	}
	card.n_done = 0;
	good_job(109);
}

/* The same identity again is answered, not run; QUERY tells what is known. */
static void remembers(void **state)
{
	struct weft_msg_submit_reply r;
	struct weft_msg_done_reply d;
	uint32_t n = put_copy();
	uint8_t zero[BYTES] = { 0 };

	(void)state;
	good_job(200);
	assert_int_equal(card_write(&card, ARENA, zero, BYTES), 0);
	assert_int_equal(card_submit(&card, 200, 0, STREAM, n, windows, 2, &r), WEFT_MSG_ERR_OK);
	assert_int_equal(r.state, WEFT_MSG_STATE_DONE);
	card_run(&card, 100000);
	assert_int_equal(card_read(&card, ARENA, arena, BYTES), 0);
	assert_memory_equal(arena, zero, BYTES);
	assert_int_equal(card_ask(&card, WEFT_MSG_DONE, 200, 0, 1, &d, sizeof(d)), WEFT_MSG_ERR_OK);
	assert_int_equal(d.job, 200);
	assert_int_equal(d.result, WEFT_MSG_RESULT_OK);
	assert_int_equal(d.retired[0], 1);
	assert_int_equal(card_ask(&card, WEFT_MSG_DONE, 201, 0, 1, &d, sizeof(d)), WEFT_MSG_ERR_NO_JOB);
	assert_int_equal(card_ask(&card, WEFT_MSG_DONE, 0, 0, 1, &d, sizeof(d)), WEFT_MSG_ERR_NO_JOB);
	/* Sixteen are kept. */
	for (uint32_t i = 0; i < WEFT_MSG_JOBS_KEPT - 1; i++)
		good_job(210 + i);
	assert_int_equal(card_ask(&card, WEFT_MSG_DONE, 200, 0, 1, &d, sizeof(d)), WEFT_MSG_ERR_OK);
	good_job(240);
	assert_int_equal(card_ask(&card, WEFT_MSG_DONE, 200, 0, 1, &d, sizeof(d)), WEFT_MSG_ERR_NO_JOB);
}

/* The fault is the NPU's own, and the next job runs. */
static void reports_faults(void **state)
{
	struct card_stream s;
	struct weft_msg_done_reply d;

	(void)state;
	stream_copy(&s, WEFT_WIN_CONST, BYTES - 10, WEFT_WIN_ARENA, 0, 100);
	put_stream(&s);
	assert_int_equal(card_submit(&card, 300, 0, STREAM, (uint32_t)s.n, windows, 2, NULL), WEFT_MSG_ERR_OK);
	d = finish(300);
	assert_int_equal(d.result, WEFT_MSG_RESULT_FAULT);
	assert_int_equal(d.fault, WEFT_FAULT_WINDOW | WEFT_UNIT_LD << WEFT_REG_FAULT_UNIT_LSB);
	assert_int_equal(d.fault_cmd, 0);
	assert_int_equal(d.fault_info, BYTES - 10);
	sleeps();
	good_job(301);
	stream_copy(&s, WEFT_WIN_CONST, 0, WEFT_WIN_CONST, 0, 100);
	put_stream(&s);
	assert_int_equal(card_submit(&card, 302, 0, STREAM, (uint32_t)s.n, windows, 2, NULL), WEFT_MSG_ERR_OK);
	d = finish(302);
	assert_int_equal(d.fault, WEFT_FAULT_WINDOW | WEFT_UNIT_ST << WEFT_REG_FAULT_UNIT_LSB);
	assert_int_equal(d.fault_cmd, 1);
	s.words[0] = 0xee;
	put_stream(&s);
	assert_int_equal(card_submit(&card, 303, 0, STREAM, (uint32_t)s.n, windows, 2, NULL), WEFT_MSG_ERR_OK);
	d = finish(303);
	assert_int_equal(d.fault, WEFT_FAULT_BAD_OP | WEFT_UNIT_CP << WEFT_REG_FAULT_UNIT_LSB);
	uint32_t n = put_copy();
	if (plant(WEFT_CHIP_PLANT_NPU_FAULT, 0)) {
		assert_int_equal(card_submit(&card, 304, 0, STREAM, n, windows, 2, NULL), WEFT_MSG_ERR_OK);
		d = finish(304);
		assert_int_equal(d.fault & WEFT_REG_FAULT_CODE_MASK, WEFT_FAULT_BUS);
		assert_int_equal(d.fault_cmd, 0);
	}
	good_job(305);
	/* No END. */
	n = put_copy();
	assert_int_equal(card_submit(&card, 306, 0, STREAM, n - 2, windows, 2, NULL), WEFT_MSG_ERR_OK);
	assert_int_equal(finish(306).fault & WEFT_REG_FAULT_CODE_MASK, WEFT_FAULT_STREAM_END);
	good_job(307);
	/* The stream's own window ends with the stream: what lies behind it in card memory cannot be read. */
	stream_copy(&s, WEFT_WIN_STREAM, 0, WEFT_WIN_ARENA, 0, 16);
	stream_copy(&s, WEFT_WIN_STREAM, (int64_t)s.n * 8 - 16, WEFT_WIN_ARENA, 0, 16);
	put_stream(&s);
	assert_int_equal(card_submit(&card, 308, 0, STREAM, (uint32_t)s.n, windows, 2, NULL), WEFT_MSG_ERR_OK);
	assert_int_equal(finish(308).result, WEFT_MSG_RESULT_OK);
	stream_copy(&s, WEFT_WIN_STREAM, (int64_t)s.n * 8 - 15, WEFT_WIN_ARENA, 0, 16);
	put_stream(&s);
	assert_int_equal(card_submit(&card, 309, 0, STREAM, (uint32_t)s.n, windows, 2, NULL), WEFT_MSG_ERR_OK);
	d = finish(309);
	assert_int_equal(d.fault, WEFT_FAULT_WINDOW | WEFT_UNIT_LD << WEFT_REG_FAULT_UNIT_LSB);
	assert_int_equal(d.fault_info, s.n * 8 - 15);
	good_job(310);
}

/* An NPU that does not even take a reset is reset by the chip; later jobs run. */
static void ends_what_hangs(void **state)
{
	struct weft_msg_stats_reply before, after;
	struct weft_msg_done_reply d;

	(void)state;
	card_ask(&card, WEFT_MSG_STATS, 0, 0, 0, &before, sizeof(before));
	if (!plant(WEFT_CHIP_PLANT_NPU_HANG, 0))
		skip();
	uint32_t n = put_copy();
	assert_int_equal(card_submit(&card, 400, 100000, STREAM, n, windows, 2, NULL), WEFT_MSG_ERR_OK);
	assert_int_equal(card_submit(&card, 401, 100000, STREAM, n, windows, 2, NULL), WEFT_MSG_ERR_OK);
	d = finish(400);
	assert_int_equal(d.result, WEFT_MSG_RESULT_HUNG);
	assert_int_equal(finish(401).result, WEFT_MSG_RESULT_OK);
	good_job(402);
	card_ask(&card, WEFT_MSG_STATS, 0, 0, 0, &after, sizeof(after));
	assert_int_equal(after.npu_hard_resets, before.npu_hard_resets + 1);
	assert_int_equal(after.jobs_deadline, before.jobs_deadline + 1);
	assert_int_equal(after.traps, 0);
}

static void cancels(void **state)
{
	struct weft_msg_cancel_reply r;
	uint32_t n = put_long();

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(card_submit(&card, 500 + i, 0, STREAM, n, windows, 2, NULL), WEFT_MSG_ERR_OK);
	assert_int_equal(card_ask(&card, WEFT_MSG_CANCEL, 501, 0, 1, &r, sizeof(r)), WEFT_MSG_ERR_OK);
	assert_int_equal(r.state, WEFT_MSG_STATE_QUEUED);
	assert_int_equal(finish(501).result, WEFT_MSG_RESULT_CANCELLED);
	assert_int_equal(card_ask(&card, WEFT_MSG_CANCEL, 500, 0, 1, &r, sizeof(r)), WEFT_MSG_ERR_OK);
	assert_int_equal(r.state, WEFT_MSG_STATE_RUNNING);
	assert_int_equal(finish(500).result, WEFT_MSG_RESULT_CANCELLED);
	assert_int_equal(card_ask(&card, WEFT_MSG_CANCEL, 499, 0, 1, &r, sizeof(r)), WEFT_MSG_ERR_NO_JOB);
	struct weft_msg_done_reply d;
	assert_int_equal(card_ask(&card, WEFT_MSG_DONE, 502, 0, 1, &d, sizeof(d)), WEFT_MSG_ERR_OK);
	assert_int_equal(d.state, WEFT_MSG_STATE_RUNNING);
	assert_int_equal(d.time_lo, 0);
	/* Ended already: the DONE comes again. */
	assert_int_equal(card_ask(&card, WEFT_MSG_CANCEL, 500, 0, 1, &r, sizeof(r)), WEFT_MSG_ERR_OK);
	assert_int_equal(r.state, WEFT_MSG_STATE_DONE);
	assert_int_equal(finish(500).result, WEFT_MSG_RESULT_CANCELLED);
	struct weft_msg_abort_all_reply a;
	assert_int_equal(card_submit(&card, 503, 0, STREAM, n, windows, 2, NULL), WEFT_MSG_ERR_OK);
	assert_int_equal(card_ask(&card, WEFT_MSG_ABORT_ALL, 0, 0, 0, &a, sizeof(a)), WEFT_MSG_ERR_OK);
	assert_int_equal(a.n_ended, 2);
	assert_int_equal(card_ask(&card, WEFT_MSG_DONE, 502, 0, 1, &d, sizeof(d)), WEFT_MSG_ERR_NO_JOB);
	card_run(&card, 100000);
	assert_int_equal(card.n_done, 0);
	good_job(504);
}

/* A DONE that a link reset threw away can be asked for. */
/* Memory is the host's again once it has said who it is. */
static void reset_link(void)
{
	struct weft_msg_hello_reply h;

	card.ops->link_reset(card.chip);
	assert_true(card_hello(&card, &h));
}

static void outlives_link_resets(void **state)
{
	struct weft_msg_done_reply d;
	uint32_t n = put_copy();

	(void)state;
	assert_int_equal(card_submit(&card, 600, 0, STREAM, n, windows, 2, NULL), WEFT_MSG_ERR_OK);
	card_run(&card, 100000);
	reset_link();
	assert_int_equal(card_ask(&card, WEFT_MSG_DONE, 600, 0, 1, &d, sizeof(d)), WEFT_MSG_ERR_OK);
	assert_int_equal(d.result, WEFT_MSG_RESULT_OK);
	assert_int_equal(card.n_done, 0);
	good_job(601);
	/* In the middle of frames, too. */
	uint8_t part[10] = { WEFT_FRAME_MAGIC, WEFT_FRAME_MSG };
	assert_true(card_send_bytes(&card, part, sizeof(part)));
	reset_link();
	good_job(602);
	assert_true(card_send(&card, WEFT_FRAME_WRITE, 1, ARENA, NULL, 100));
	assert_true(card_send_bytes(&card, part, sizeof(part)));
	reset_link();
	good_job(603);
}

/* A restart forgets jobs and says so. */
static void resets_forget(void **state)
{
	struct weft_msg_hello_reply before, after;
	struct weft_msg_done_reply d;
	uint32_t n = put_long();

	(void)state;
	assert_true(card_hello(&card, &before));
	assert_int_equal(card_submit(&card, 700, 0, STREAM, n, windows, 2, NULL), WEFT_MSG_ERR_OK);
	card.ops->reset(card.chip, WEFT_CHIP_CAUSE_HOST);
	assert_true(card_hello(&card, &after));
	assert_true(after.boot_id != before.boot_id);
	assert_int_equal(card_ask(&card, WEFT_MSG_DONE, 700, 0, 1, &d, sizeof(d)), WEFT_MSG_ERR_NO_JOB);
	good_job(701);
}

/* Nor does a start after power was off look like one before: the count of starts is the same. */
static void power_forgets(void **state)
{
	struct weft_msg_hello_reply h[3];
	struct weft_msg_stats_reply stats;

	(void)state;
	for (int i = 0; i < 3; i++) {
		card_power(&card);
		/* A host is never as quick as another. */
		for (int k = 0; k < i; k++)
			card_ask(&card, WEFT_MSG_STATS, 0, 0, 0, &stats, sizeof(stats));
		assert_true(card_hello(&card, &h[i]));
		assert_int_equal(h[i].boot_count, 1);
		for (int k = 0; k < i; k++)
			assert_true(h[i].boot_id != h[k].boot_id);
		/* As long as it runs it is the same. */
		card.ops->link_reset(card.chip);
		uint32_t id = h[i].boot_id;
		assert_true(card_hello(&card, &h[i]));
		assert_int_equal(h[i].boot_id, id);
	}
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One job, both answers taken as soon as they are there: the card's cycles, but for the NPU's. */
static uint64_t own_cycles(uint32_t job, uint32_t n)
{
	struct weft_msg_done_reply d = { 0 };
	uint32_t words[13] = { WEFT_MSG_SUBMIT, job, 1000000, 0, STREAM, n, 2 };
	uint64_t begin = card.ops->cycles(card.chip);

	memcpy(words + 7, windows, sizeof(windows));
	assert_true(card_send(&card, WEFT_FRAME_MSG, 7, 0, words, sizeof(words)));
	for (int frames = 0; frames < 2;) {
		uint8_t b[600];
		bool end;
		size_t at = 0, got;

		do {
			card.ops->run(card.chip, 1);
			got = card.ops->get(card.chip, b + at, sizeof(b) - at, &end);
			at += got;
			assert_true(card.ops->cycles(card.chip) - begin < 100000);
		} while (!got || !end);
		frames++;
		memcpy(&d, b + WEFT_FRAME_HEADER_BYTES, sizeof(d));
	}
	assert_int_equal(d.job, job);
	assert_int_equal(d.result, WEFT_MSG_RESULT_OK);
	return card.ops->cycles(card.chip) - begin - d.counters[0];
}

/* The firmware's part of a job; jobs a second with everything in it are printed. */
static void is_quick(void **state)
{
	struct weft_msg_done_reply d;
	const long n_jobs = functional() ? test_count(500, 2000, 20000) : 20;
	uint64_t worst = 0, instructions = 0;
	uint32_t n = put_copy();

	(void)state;
	for (uint32_t i = 0; i < 20; i++) {
		uint64_t instret = card.ops->instret(card.chip), own = own_cycles(1000 + i, n);

		worst = own > worst ? own : worst;
		instructions = card.ops->instret(card.chip) - instret;
	}
	double begin = now();
	for (long i = 0; i < n_jobs; i++) {
		uint32_t job = 10000 + (uint32_t)i;
		assert_int_equal(card_submit(&card, job, 1000000, STREAM, n, windows, 2, NULL), WEFT_MSG_ERR_OK);
		assert_true(card_wait(&card, job, 1000000, &d));
		assert_int_equal(d.result, WEFT_MSG_RESULT_OK);
	}
	double rate = (double)n_jobs / (now() - begin);
	printf("%s: a job takes at most %llu cycles beside the NPU's, %llu instructions; %.0f jobs a second\n", card.ops->name,
	       (unsigned long long)worst, (unsigned long long)instructions, rate);
	assert_true(worst <= 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_a_job),
		cmocka_unit_test(queues_eight),
		cmocka_unit_test(remembers),
		cmocka_unit_test(reports_faults),
		cmocka_unit_test(ends_what_hangs),
		cmocka_unit_test(cancels),
		cmocka_unit_test(outlives_link_resets),
		cmocka_unit_test(resets_forget),
		cmocka_unit_test(is_quick),
		cmocka_unit_test(power_forgets),
	};
	int failed = cmocka_run_group_tests_name("functional", tests, setup, teardown);

	rtl = card_rtl("w16");
	return failed + (rtl ? cmocka_run_group_tests_name("rtl", tests, setup_rtl, teardown) : card_rtl_missing());
}

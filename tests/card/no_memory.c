/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver while memory ends: the k-th allocation fails (tests/support/fail_at.h), or a thread does not start, for
 * every k, in a run of three jobs on the functional model, on a card in this process, whose events the
 * caller or the driver's thread lets happen, and on one behind a socket. Each run gives the right bytes, or an error with
 * one line: out of memory and no other, but of the card in this process, whose own memory ends as well. Nothing stays allocated, and the card does its next run.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/fail_at.h"
#include "tests/support/fake_card.h"
#include "tests/support/inproc.h"
#include "tests/support/level.h"
#include "tests/support/random_stream.h"
#include "tests/support/stub_chip.h"

#define N_STREAMS 2
#define N_JOBS    3
#define JOB_MS    3000

struct plan { struct random_stream s[N_STREAMS]; uint8_t *want[N_STREAMS]; };

/* The first error of a run, its words, and whether bytes were wrong without one. */
struct outcome { int status; char what[WEFT_DEV_MSG]; bool wrong; };

static struct plan plan;

static int went_wrong(struct outcome *o, int err, weft_dev *dev)
{
	if (err && !o->status) {
		o->status = err;
		snprintf(o->what, sizeof(o->what), "%s", weft_dev_error(dev));
	}
	return err;
}

/* Reads what a job left, and compares it. */
static void compare(struct outcome *o, weft_dev *dev, weft_buf *arena, int i)
{
	uint8_t *got = malloc(plan.s[i].n_arena);

	if (!went_wrong(o, weft_buf_read(arena, 0, got, plan.s[i].n_arena), dev) && plan.want[i])
		o->wrong |= memcmp(got, plan.want[i], plan.s[i].n_arena) != 0;
	else if (!o->status) {
		plan.want[i] = got;
		return;
	}
	free(got);
}

/* Buffers of stream i, with what it reads. Returns false if there is none. */
static bool prepare(struct outcome *o, weft_dev *dev, int i, struct weft_window win[2])
{
	const struct random_stream *s = &plan.s[i];
	uint8_t *zero = calloc(1, s->n_arena);

	win[0].rd = win[1].rd = win[1].wr = true;
	const bool bad = went_wrong(o, weft_buf_alloc(dev, s->n_consts, &win[0].buf), dev) ||
	                 went_wrong(o, weft_buf_alloc(dev, s->n_arena, &win[1].buf), dev) ||
	                 went_wrong(o, weft_buf_write(win[0].buf, 0, s->consts, s->n_consts), dev) ||
	                 went_wrong(o, weft_buf_write(win[1].buf, 0, zero, s->n_arena), dev);
	free(zero);
	return !bad;
}

/*
 * Two jobs queued and one after them, in buffers of which one is read meanwhile; then one that nobody waits for. What is
 * left in job[] when an error ends it has been submitted and not been waited for.
 */
static void jobs(struct outcome *o, weft_dev *dev, struct weft_window win[N_STREAMS][2], weft_job job[N_JOBS])
{
	struct weft_job_result r;

	for (int i = 0; i < N_STREAMS; i++)
		if (!prepare(o, dev, i, win[i]) || went_wrong(o, weft_submit(dev, plan.s[i].words, plan.s[i].n_words, win[i], 2, &job[i]), dev))
			return;
	for (int i = 0; i < N_STREAMS; i++) {
		const int err = went_wrong(o, weft_finish(dev, job[i], JOB_MS, &r), dev);
		job[i] = 0;
		if (!err && !went_wrong(o, r.status, dev))
			compare(o, dev, win[i][1].buf, i);
		if (o->status)
			return;
	}
	went_wrong(o, weft_buf_doubt(win[0][1].buf), dev);
	went_wrong(o, weft_submit(dev, plan.s[1].words, plan.s[1].n_words, win[1], 2, &job[2]), dev);
}

/* One run, from opening to closing. */
static void run(const struct weft_dev_options *options, struct outcome *o)
{
	struct weft_window win[N_STREAMS][2] = { 0 };
	weft_job job[N_JOBS] = { 0 };
	weft_dev *dev;

	memset(o, 0, sizeof(*o));
	o->status = weft_dev_open(options, &dev, o->what);
	if (o->status)
		return;
	jobs(o, dev, win, job);
	for (int i = 0; i < N_JOBS; i++)       /* a job that still runs may use the buffers */
		if (job[i])
			went_wrong(o, weft_forget(dev, job[i]), dev);
	for (int i = 0; i < N_STREAMS; i++) {
		weft_buf_free(win[i][0].buf);
		weft_buf_free(win[i][1].buf);
	}
	weft_dev_close(dev);
}

/* What is wrong with a run, NULL if nothing is. `strict`: all that can fail is the driver's memory. */
static const char *judge(const struct outcome *o, bool strict, bool go_on)
{
	const bool in_vain = go_on && o->status == -ETIMEDOUT;   /* a job that cannot even be asked after */

	return o->wrong ? "wrong bytes" : !o->status ? NULL : o->status > 0 ? "no errno" : !*o->what || strchr(o->what, '\n') ? "no line" :
	       strict && !in_vain && (o->status != -ENOMEM || !strstr(o->what, "out of memory")) ? "another error than out of memory" :
	       fail_live() ? "allocations that nobody frees" : NULL;
}

static void points(const struct weft_dev_options *options, unsigned kinds, bool strict, long most)
{
	long tried = 0, failed = 0, wrong = 0, n = 0;
	struct outcome o;

	for (int i = 0; i < 2; i++) {          /* twice: what is kept for ever is there now */
		fail_begin(kinds, 0, false);
		run(options, &o);
		n = fail_end();
		if (o.status || o.wrong)
			fail_msg("without a failure: %d %s", o.status, o.what);
	}
	assert_true(n > 0);
	const long step = n > most ? n / most : 1;
	for (long at = 1 + (long)(test_seed(0) % (uint64_t)step); at <= n; at += step) {
		fail_begin(kinds, at, tried++ % 2);
		run(options, &o);
		fail_end();
		failed += o.status != 0;
		const char *what = judge(&o, strict, tried % 2 == 0);
		if (what)
			print_error("%s %ld of %ld%s fails: %s (%d \"%s\")\n", fail_kind_name(fail_kind()), at, n, tried % 2 ? "" : " and all later ones",
			            what, o.status, o.what);
		wrong += what != NULL;
		fail_begin(0, 0, false);
		run(options, &o);
		fail_end();
		if (o.status || o.wrong)
			fail_msg("after %ld: %d %s", at, o.status, o.what);
	}
	print_message("%ld of %ld points: %ld errors, %ld wrong\n", tried, n, failed, wrong);
	assert_true(failed > 0);
	assert_int_equal(wrong, 0);
}

static void on_model(void **state)
{
	struct weft_dev_options o = weft_dev_options_default();

	(void)state;
	points(&o, FAIL_MEMORY, true, test_count(60, 400, 100000));
	o.events = WEFT_EVENTS_THREAD;
	points(&o, FAIL_MEMORY, true, test_count(60, 400, 100000));
	points(&o, FAIL_THREAD, false, 100);
}

static void on_card(void **state)
{
	struct weft_dev_options o = weft_dev_options_default();
	char msg[WEFT_DEV_MSG] = "";
	void *chip;

	(void)state;
	if (stub_chip.open(&(struct weft_chip_options){ .config = "w16" }, &chip, msg))
		fail_msg("%s", msg);
	struct usbdev *d = usbdev_new(&stub_chip, chip, "POOR", NULL, 0);
	inproc_plug(d);
	o.kind = WEFT_DEV_USB;
	o.usb_ops = &inproc_ops;
	o.usb_timeout_ms = 20;
	o.usb_boot_ms = 200;
	o.events = WEFT_EVENTS_CALLER;
	points(&o, FAIL_MEMORY, false, test_count(150, 600, 100000));
	o.events = WEFT_EVENTS_THREAD;
	points(&o, FAIL_MEMORY, false, test_count(60, 200, 100000));
	points(&o, FAIL_THREAD, false, 100);
	usbdev_free(d);
	stub_chip.close(chip);
}

static void on_socket(void **state)
{
	struct weft_dev_options o = weft_dev_options_default();
	char path[100], where[120];

	(void)state;
	test_path(path, sizeof(path), "poor.sock");
	snprintf(where, sizeof(where), "@%s", path);
	const pid_t card = fake_card_start(path, FAKE_none);
	assert_true(card > 0);
	o.kind = WEFT_DEV_USB;
	o.usb = where;
	o.usb_timeout_ms = 1000;
	o.events = WEFT_EVENTS_CALLER;
	points(&o, FAIL_MEMORY, true, test_count(60, 200, 100000));
	kill(card, SIGKILL);
	waitpid(card, NULL, 0);
	unlink(path);
}

static int begin(void **state)
{
	(void)state;
	for (int i = 0; i < N_STREAMS; i++)
		random_stream_make(&plan.s[i], 7 + (uint64_t)i, weft_config_find("w16"));
	return 0;
}

static int end(void **state)
{
	(void)state;
	for (int i = 0; i < N_STREAMS; i++) {
		random_stream_free(&plan.s[i]);
		free(plan.want[i]);
	}
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(on_model), cmocka_unit_test(on_card), cmocka_unit_test(on_socket) };

	return cmocka_run_group_tests(tests, begin, end);
}

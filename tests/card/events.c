/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who lets things happen on a card: its own thread, or the caller by a descriptor; several threads at one
 * card; what is left to a child after fork(). On a plain card behind a socket, and on the functional model. Some 3 s.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "driver/clock.h"
#include "tests/support/card_stream.h"
#include "tests/support/fake_card.h"
#include "tests/support/level.h"

#define BYTES 64
#define N_JOBS 8
#define AWAY_SECONDS 32        /* in which jobs surely run on any machine */

struct setting {
	pid_t card;                /* 0: the functional model */
	char path[100];
	weft_dev *dev;
	struct card_stream s;
	struct weft_window win[N_JOBS][2];
};

static void open_as(struct setting *t, bool card, enum weft_events_by events, enum fake_behaviour b)
{
	struct weft_dev_options o = weft_dev_options_default();
	char where[128], msg[WEFT_DEV_MSG] = "";

	memset(t, 0, sizeof(*t));
	if (card) {
		test_path(t->path, sizeof(t->path), "events-%d.sock", (int)getpid());
		t->card = fake_card_start(t->path, b);
		assert_true(t->card > 0);
		snprintf(where, sizeof(where), "@%s", t->path);
		o.kind = WEFT_DEV_USB;
		o.usb = where;
	}
	o.events = events;
	if (weft_dev_open(&o, &t->dev, msg))
		fail_msg("%s", msg);
	stream_copy(&t->s, WEFT_WIN_CONST, 0, WEFT_WIN_ARENA, 0, BYTES);
	for (int i = 0; i < N_JOBS; i++) {
		t->win[i][0].rd = t->win[i][1].rd = t->win[i][1].wr = true;
		for (int k = 0; k < 2; k++)
			assert_int_equal(weft_buf_alloc(t->dev, BYTES, &t->win[i][k].buf), 0);
	}
}

static void open_it(struct setting *t, bool card, enum weft_events_by events)
{
	open_as(t, card, events, FAKE_none);
}

static void close_it(struct setting *t)
{
	for (int i = 0; i < 2 * N_JOBS; i++)
		weft_buf_free(t->win[i / 2][i % 2].buf);
	weft_dev_close(t->dev);
	if (t->card) {
		kill(t->card, SIGKILL);
		waitpid(t->card, NULL, 0);
		unlink(t->path);
	}
}

static weft_job submit(struct setting *t, int i, uint8_t value)
{
	uint8_t in[BYTES];
	weft_job job = 0;

	memset(in, value, sizeof(in));
	assert_int_equal(weft_buf_write(t->win[i][0].buf, 0, in, sizeof(in)), 0);
	assert_int_equal(weft_submit(t->dev, t->s.words, t->s.n, t->win[i], 2, &job), 0);
	return job;
}

static void check(struct setting *t, int i, uint8_t value)
{
	uint8_t out[BYTES];

	assert_int_equal(weft_buf_read(t->win[i][1].buf, 0, out, sizeof(out)), 0);
	for (int k = 0; k < BYTES; k++)
		assert_int_equal(out[k], value);
}

/*
 * Submits jobs, does not call the library for so many seconds, and checks the results. Returns how many jobs had ended when
 * they were asked for then, the last one first; the others are waited for.
 */
static int ended_while_away(struct setting *t, unsigned seconds)
{
	struct weft_job_result r;
	weft_job job[N_JOBS];
	int ended = 0;

	for (int i = 0; i < N_JOBS; i++)
		job[i] = submit(t, i, (uint8_t)(i + 1));
	sleep(seconds);
	for (int i = N_JOBS - 1; i >= 0; i--) {
		int err = weft_wait(t->dev, job[i], 0, &r);

		if (!err)
			ended++;
		else if (err == -ETIMEDOUT)
			err = weft_wait(t->dev, job[i], WEFT_FOREVER, &r);
		assert_int_equal(err, 0);
		assert_int_equal(r.status, 0);
		check(t, i, (uint8_t)(i + 1));
	}
	return ended;
}

/*
 * Queued jobs run while the program does not call the library at all. The card answers late, so that one call behind the time away
 * could not make up for it.
 */
static void away(void **state)
{
	struct setting t;
	int ended = 0;

	(void)state;
	fake_card_interval_ms = 20;
	open_as(&t, true, WEFT_EVENTS_DEFAULT, FAKE_interval);
	/* A slow machine gets more time: twice as much in each round. */
	for (unsigned s = 1; ended < N_JOBS && s <= AWAY_SECONDS; s *= 2)
		ended = ended_while_away(&t, s);
	assert_int_equal(ended, N_JOBS);
	close_it(&t);
}

static bool readable(int fd, int ms)
{
	struct pollfd p = { fd, POLLIN, 0 };

	return poll(&p, 1, ms) == 1;
}

/* A program with a loop of its own: the descriptor says when, and that jobs have ended. */
static void by_descriptor(bool card, enum weft_events_by events)
{
	struct setting t;
	struct weft_job_result r;
	weft_job job[N_JOBS];
	int ended = 0;

	open_it(&t, card, events);
	int fd = weft_dev_fd(t.dev);
	assert_true(fd >= 0);
	assert_int_equal(weft_dev_fd(t.dev), fd);
	for (int i = 0; i < N_JOBS; i++)
		job[i] = submit(&t, i, (uint8_t)(i + 7));
	for (int i = 0; i < 1000 && ended < N_JOBS; i++) {
		assert_true(readable(fd, 5000));
		ended = weft_dev_process(t.dev);
		assert_true(ended >= 0);
	}
	assert_int_equal(ended, N_JOBS);
	for (int i = 0; i < N_JOBS; i++) {
		assert_int_equal(weft_wait(t.dev, job[i], 0, &r), 0);
		assert_int_equal(r.status, 0);
		check(&t, i, (uint8_t)(i + 7));
	}
	/* With nothing to do it is silent. */
	for (int i = 0; i < 10 && readable(fd, 0); i++)
		assert_int_equal(weft_dev_process(t.dev), 0);
	assert_false(readable(fd, 50));
	close_it(&t);
}

static void descriptor(void **state)
{
	(void)state;
	by_descriptor(true, WEFT_EVENTS_CALLER);
	by_descriptor(true, WEFT_EVENTS_THREAD);
	by_descriptor(false, WEFT_EVENTS_CALLER);
	by_descriptor(false, WEFT_EVENTS_THREAD);
}

/* Looking does not forget, and a job that is only looked at ends. */
static void looking(void **state)
{
	(void)state;
	for (int card = 0; card < 2; card++) {
		struct setting t;
		struct weft_job_result r;
		open_it(&t, card, WEFT_EVENTS_CALLER);
		weft_job job = submit(&t, 0, 9);
		int err = -ETIMEDOUT;
		for (int i = 0; i < 10000 && err == -ETIMEDOUT; i++) {
			err = weft_wait(t.dev, job, i % 2, &r);
			usleep(100);
		}
		assert_int_equal(err, 0);
		assert_int_equal(r.status, 0);
		assert_int_equal(weft_wait(t.dev, job, 0, &r), -ENOENT);
		assert_true(strstr(weft_dev_error(t.dev), "no job"));
		check(&t, 0, 9);
		job = submit(&t, 0, 10);
		assert_int_equal(weft_cancel(t.dev, job), 0);
		assert_int_equal(weft_wait(t.dev, job, WEFT_FOREVER, &r), 0);
		assert_true(r.status == 0 || r.status == -ECANCELED);
		job = submit(&t, 0, 11);
		assert_int_equal(weft_forget(t.dev, job), 0);
		assert_int_equal(weft_wait(t.dev, job, 0, &r), -ENOENT);
		assert_int_equal(weft_finish(t.dev, submit(&t, 0, 12), 5000, &r), 0);
		check(&t, 0, 12);
		close_it(&t);
	}
}

struct worker { struct setting *t; int i; pthread_t thread; };

static void *work(void *arg)
{
	struct worker *w = arg;

	for (int n = 0; n < 100; n++) {
		struct weft_job_result r;
		weft_job job = submit(w->t, w->i, (uint8_t)(n + 50 * w->i));
		assert_int_equal(weft_wait(w->t->dev, job, WEFT_FOREVER, &r), 0);
		assert_int_equal(r.status, 0);
		check(w->t, w->i, (uint8_t)(n + 50 * w->i));
	}
	return NULL;
}

static void threads(void **state)
{
	static const struct { bool card; enum weft_events_by events; } kinds[] = { { true, WEFT_EVENTS_THREAD },
		{ true, WEFT_EVENTS_CALLER }, { false, WEFT_EVENTS_CALLER }, { false, WEFT_EVENTS_THREAD } };

	(void)state;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		struct worker w[N_JOBS];
		struct setting t;
		open_it(&t, kinds[k].card, kinds[k].events);
		for (int i = 0; i < N_JOBS; i++) {
			w[i] = (struct worker){ &t, i, 0 };
			assert_int_equal(pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
		}
		for (int i = 0; i < N_JOBS; i++)
			pthread_join(w[i].thread, NULL);
		close_it(&t);
	}
}

/* In the child everything says -EPERM, and closing there does the parent no harm. */
static void forked(void **state)
{
	struct setting t;
	struct weft_job_result r;
	int status;

	(void)state;
	open_it(&t, true, WEFT_EVENTS_DEFAULT);
	weft_job job = submit(&t, 0, 3), other;
	pid_t pid = fork();
	if (!pid) {
		uint8_t out[BYTES];
		bool ok = weft_wait(t.dev, job, 0, &r) == -EPERM && strstr(weft_dev_error(t.dev), "belongs to the process") &&
		          weft_buf_read(t.win[0][1].buf, 0, out, BYTES) == -EPERM && weft_buf_write(t.win[1][0].buf, 0, out, 1) == -EPERM &&
		          weft_submit(t.dev, t.s.words, t.s.n, t.win[1], 2, &other) == -EPERM && weft_dev_process(t.dev) == -EPERM &&
		          weft_cancel(t.dev, job) == -EPERM && weft_dev_fd(t.dev) == -EPERM;
		for (int i = 0; i < 2 * N_JOBS; i++)
			weft_buf_free(t.win[i / 2][i % 2].buf);
		weft_dev_close(t.dev);
		_exit(ok ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(weft_wait(t.dev, job, 5000, &r), 0);
	assert_int_equal(r.status, 0);
	check(&t, 0, 3);
	close_it(&t);
}

/* From inside a callback what would wait does not. */
static weft_dev *told;
static int said;

static void on_transfer(void *user, const struct weft_transfer *x)
{
	struct setting *t = user;
	uint8_t out[BYTES];

	(void)x;
	if (told)
		said = weft_buf_read(t->win[1][1].buf, 0, out, BYTES);
	told = NULL;
}

static void nested(void **state)
{
	struct setting t;
	struct weft_job_result r;

	(void)state;
	open_it(&t, true, WEFT_EVENTS_DEFAULT);
	told = t.dev;
	assert_int_equal(weft_dev_traffic(t.dev, on_transfer, &t), 0);
	assert_int_equal(weft_wait(t.dev, submit(&t, 0, 4), 5000, &r), 0);
	assert_int_equal(weft_dev_traffic(t.dev, NULL, NULL), 0);
	assert_int_equal(said, -EDEADLK);
	check(&t, 0, 4);
	close_it(&t);
}

/* Jobs with input and output, so many in flight. @return how often the card has looked at what came */
static uint32_t pipeline(struct setting *t, int n_jobs, int in_flight)
{
	weft_job job[N_JOBS];
	const uint32_t before = weft_dev_reg_read(t->dev, 0);

	for (int i = 0; i < n_jobs + in_flight; i++) {
		struct weft_job_result r;
		const int k = i % in_flight;
		if (i >= in_flight) {
			assert_int_equal(weft_wait(t->dev, job[k], WEFT_FOREVER, &r), 0);
			assert_int_equal(r.status, 0);
			check(t, k, (uint8_t)(i - in_flight));
		}
		if (i < n_jobs)
			job[k] = submit(t, k, (uint8_t)i);
	}
	return weft_dev_reg_read(t->dev, 0) - before;
}

/*
 * Runs 100 jobs one at a time and 100 with eight in flight on a card that looks at what came every so many milliseconds, and prints
 * what they took. Says whether the latter needed less than two fifths of the looks.
 */
static bool fewer_looks(unsigned interval_ms)
{
	struct setting t;

	fake_card_interval_ms = interval_ms;
	open_as(&t, true, WEFT_EVENTS_DEFAULT, FAKE_interval);
	const uint64_t begin = weft_now_ns();
	const uint32_t one = pipeline(&t, 100, 1);
	const uint64_t middle = weft_now_ns();
	const uint32_t eight = pipeline(&t, 100, 8);
	const double first = (double)(middle - begin) * 1e-6, second = (double)(weft_now_ns() - middle) * 1e-6;
	printf("100 jobs with input and output, a look each %u ms: %u looks and %.0f ms one at a time, %u and %.0f ms with eight in flight: "
	       "%.2f times fewer, %.2f times as fast\n", interval_ms, one, first, eight, second, (double)one / eight, first / second);
	fflush(stdout);
	close_it(&t);
	return 2 * one > 5 * eight;
}

/*
 * Eight jobs in flight need the card's attention less often than jobs one at a time. The card's looks are counted, because time depends
 * on what else the machine does. On a machine that is slower than the card the host itself is what everything waits for; so
 * the card gets slower until it is not.
 */
static void in_flight(void **state)
{
	bool fewer = false;

	(void)state;
	for (unsigned ms = 1; !fewer && ms <= 32; ms *= 2)
		fewer = fewer_looks(ms);
#ifndef __SANITIZE_THREAD__    /* with it the host is slower than the card */
	assert_true(fewer);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(away), cmocka_unit_test(descriptor), cmocka_unit_test(looking), cmocka_unit_test(threads),
		cmocka_unit_test(forked), cmocka_unit_test(nested), cmocka_unit_test(in_flight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

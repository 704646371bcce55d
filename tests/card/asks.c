/* SPDX-License-Identifier: Apache-2.0 */
/* When a card is asked after a job: looks into the driver's states, on a plain card behind a socket. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "driver/device.h"
#include "driver/usb/usb_card.h"
#include "tests/support/fake_card.h"
#include "tests/support/level.h"
#include "tests/support/random_stream.h"

/* So many milliseconds the transport rests the next time before it looks for what has come. */
static unsigned rest_ms;

static int poll_late(void *t, uint64_t until_ns)
{
	usleep(rest_ms * 1000);
	rest_ms = 0;
	return weft_usb_redir.poll(t, until_ns);
}

/* A device on the plain card at that path, which is asked after a job that has been silent for 50 ms. */
static weft_dev *open_late(const char *path)
{
	static struct weft_usb_ops late;
	struct weft_dev_options o = weft_dev_options_default();
	char where[128], msg[WEFT_DEV_MSG] = "";
	weft_dev *dev;

	late = weft_usb_redir;
	late.poll = poll_late;
	snprintf(where, sizeof(where), "@%s", path);
	o.kind = WEFT_DEV_USB;
	o.usb = where;
	o.usb_ops = &late;
	o.usb_timeout_ms = 200;
	o.events = WEFT_EVENTS_CALLER;
	if (weft_dev_open(&o, &dev, msg))
		fail_msg("%s", msg);
	return dev;
}

/*
 * A job is asked after also if that becomes due just when the driver has looked at the link. The question then goes out in the
 * same call: nothing else would come back to it, and a card that says nothing by itself would be waited for without end.
 */
static void asks_in_time(void **state)
{
	struct weft_window win[2] = { { .rd = true }, { .rd = true, .wr = true } };
	struct weft_job_result r = { 0 };
	struct random_stream s;
	char path[100];
	weft_job job;

	(void)state;
	test_path(path, sizeof(path), "asks-%d.sock", (int)getpid());
	const pid_t pid = fake_card_start(path, FAKE_done_silent);
	assert_true(pid > 0);
	weft_dev *dev = open_late(path);
	random_stream_make(&s, 3, weft_config_find("w16"));
	assert_int_equal(weft_buf_alloc(dev, s.n_consts, &win[0].buf), 0);
	assert_int_equal(weft_buf_alloc(dev, s.n_arena, &win[1].buf), 0);
	assert_int_equal(weft_submit(dev, s.words, s.n_words, win, 2, &job), 0);
	struct card *c = dev->state;
	for (int i = 0; i < 20000 && c->jobs->state != JOB_RUNS; i++) {
		weft_card_process(c);
		usleep(500);
	}
	assert_int_equal(c->jobs->state, JOB_RUNS);
	assert_null(c->link.first);
	const uint64_t since = c->jobs->since_ns;
	rest_ms = 80;              /* before it, the question is not due; behind it, it is */
	weft_card_process(c);
	assert_true(c->jobs->since_ns > since);        /* it was asked, */
	assert_false(weft_link_can_send(&c->link));    /* the question is on its way, or answered, */
	/* and whatever comes of it, the job is looked at again soon. */
	assert_true(weft_card_next_ns(c) <= weft_now_ns() + c->policy.ask_ns);
	assert_int_equal(weft_cancel(dev, job), 0);
	assert_int_equal(weft_wait(dev, job, 30000, &r), 0);
	assert_int_not_equal(r.status, 0);
	weft_buf_free(win[0].buf);
	weft_buf_free(win[1].buf);
	weft_dev_close(dev);
	random_stream_free(&s);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(asks_in_time) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

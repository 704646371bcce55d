/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the driver of a card says to a caller who asks for too much or for what is not there: more jobs, streams or
 * memory than the card has, a job that nobody submitted, a buffer whose job runs, an image that is none. The card is one in
 * this process (tests/support/stub_chip.h) whose events nobody but the caller lets happen: until it waits, nothing of a
 * job goes on. unit/dev_refusals asks the functional model.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <weft/gen/cmd.h>

#include "tests/support/fail_at.h"
#include "tests/support/inproc.h"
#include "tests/support/random_stream.h"
#include "tests/support/stub_chip.h"

#define JOBS    64             /* the most that wait (driver/usb/usb_job.c) */
#define STREAMS 16             /* the most different ones among them */
#define MEMORY  (64u << 20)    /* more than the card has for anybody */

#define DROPS   256            /* transfers that a deaf card loses */

static weft_dev *dev;
static struct usbdev *card;
static void *chip;
static struct usbdev_fault faults[DROPS];

/* From now on the card hears nothing, and no job goes on; or it hears again, and all end. */
static void deaf(bool yes)
{
	for (uint64_t i = 0; i < DROPS; i++)
		faults[i] = (struct usbdev_fault){ .kind = USBDEV_DROP, .at = usbdev_n_transfers(card) + i, .done = !yes };
}

/* A stream that only ends, with that tag. Returns its words. */
static size_t stream(uint64_t *words, unsigned tag)
{
	struct weft_cmd end;

	weft_cmd_init(&end, WEFT_CMD_END);
	end.h.tag = tag;
	return weft_cmd_encode(&end, words);
}

static void says(int got, int err, const char *words)
{
	if (got != err || !strstr(weft_dev_error(dev), words))
		fail_msg("%d \"%s\", not %d \"%s\"", got, weft_dev_error(dev), err, words);
}

static void too_many_jobs(void **state)
{
	uint64_t words[WEFT_CMD_MAX_WORDS];
	struct weft_job_result r;
	weft_job job, all[JOBS];
	size_t n = stream(words, 1);

	(void)state;
	deaf(true);
	for (int i = 0; i < JOBS; i++)
		says(weft_submit(dev, words, n, NULL, 0, &all[i]), 0, "");
	says(weft_submit(dev, words, n, NULL, 0, &job), -EAGAIN, "64 jobs are queued");
	deaf(false);
	for (int i = 0; i < JOBS; i++) {
		says(weft_wait(dev, all[i], WEFT_FOREVER, &r), 0, "");
		assert_int_equal(r.status, 0);
	}
	deaf(true);
	for (unsigned i = 0; i < STREAMS; i++)
		says(weft_submit(dev, words, stream(words, i + 2), NULL, 0, &all[i]), 0, "");
	says(weft_submit(dev, words, stream(words, STREAMS + 2), NULL, 0, &job), -EAGAIN, "16 different streams");
	for (int i = 0; i < STREAMS; i++)
		says(weft_forget(dev, all[i]), 0, "");
	deaf(false);
	says(weft_wait(dev, all[0], 0, &r), -ENOENT, "no job");
	says(weft_cancel(dev, all[0]), -ENOENT, "cancel: no job");
	says(weft_forget(dev, all[0]), -ENOENT, "forget: no job");
	says(weft_finish(dev, all[0], 0, &r), -ENOENT, "no job");
}

static void too_much_memory(void **state)
{
	struct weft_window win[2] = { { .rd = true }, { .rd = true, .wr = true } };
	weft_buf *buf[64] = { NULL };
	struct weft_job_result r;
	struct random_stream s;
	size_t bytes = MEMORY;
	weft_job job;
	int n = 0;

	(void)state;
	random_stream_make(&s, 5, weft_config_find("w16"));
	says(weft_buf_alloc(dev, s.n_consts, &win[0].buf), 0, "");
	says(weft_buf_alloc(dev, s.n_arena, &win[1].buf), 0, "");
	fail_begin(FAIL_MEMORY, 0, false);
	says(weft_buf_alloc(dev, MEMORY, &buf[0]), -ENOMEM, "of card memory are free");
	assert_int_equal(fail_live(), 0);
	fail_end();
	/* All of it, down to the last 64 bytes. */
	while (bytes >= 64 && n < 64) {
		if (weft_buf_alloc(dev, bytes, &buf[n]))
			bytes /= 2;
		else
			n++;
	}
	assert_in_range(n, 1, 63);
	says(weft_submit(dev, s.words, s.n_words, win, 2, &job), -ENOMEM, "no card memory for a stream of");
	while (n > 0)
		weft_buf_free(buf[--n]);
	says(weft_submit(dev, s.words, s.n_words, win, 2, &job), 0, "");
	says(weft_wait(dev, job, WEFT_FOREVER, &r), 0, "");
	assert_int_equal(r.status, 0);
	weft_buf_free(win[0].buf);
	weft_buf_free(win[1].buf);
	random_stream_free(&s);
}

static void busy_buffers(void **state)
{
	uint64_t words[WEFT_CMD_MAX_WORDS];
	struct weft_window win = { .rd = true, .wr = true };
	struct weft_job_result r;
	uint8_t bytes[64] = { 0 };
	weft_job job;

	(void)state;
	says(weft_buf_alloc(dev, sizeof(bytes), &win.buf), 0, "");
	deaf(true);
	says(weft_submit(dev, words, stream(words, 3), &win, 1, &job), 0, "");
	says(weft_buf_write(win.buf, 0, bytes, 1), -EBUSY, "was not waited for");
	says(weft_buf_read(win.buf, 0, bytes, 1), -EBUSY, "was not waited for");
	says(weft_buf_discard(win.buf), -EBUSY, "busy");
	says(weft_buf_doubt(win.buf), -EBUSY, "busy");
	says(weft_buf_write(win.buf, 63, bytes, 2), -ERANGE, "a buffer of 64 bytes has no 2 at byte 63");
	says(weft_wait(dev, job, 0, &r), -ETIMEDOUT, "");
	deaf(false);
	says(weft_wait(dev, job, WEFT_FOREVER, &r), 0, "");
	assert_int_equal(r.status, 0);
	says(weft_buf_write(win.buf, 0, bytes, 1), 0, "");
	says(weft_buf_read(win.buf, 0, bytes, 1), 0, "");
	weft_buf_free(win.buf);
}

/* A card that is not there, and what no card can do. */
static void odd_questions(void **state)
{
	static const char *const speeds[] = { "unknown speed", "low speed, 1.5 Mbit/s", "full speed, 12 Mbit/s", "high speed, 480 Mbit/s",
	                                      "super speed, 5 Gbit/s or more", "unknown speed" };
	struct weft_dev_options o = weft_dev_options_default();
	char msg[WEFT_DEV_MSG] = "", path[300];
	weft_dev *none;

	(void)state;
	for (int i = 0; i < (int)(sizeof(speeds) / sizeof(*speeds)); i++)
		assert_string_equal(weft_usb_speed_text((enum weft_usb_speed)i), speeds[i]);
	memset(path, 'x', sizeof(path) - 1);
	path[0] = '@';
	path[sizeof(path) - 1] = '\0';
	o.kind = WEFT_DEV_USB;
	o.usb = path;
	assert_int_equal(weft_dev_open(&o, &none, msg), -EINVAL);
	assert_non_null(strstr(msg, "is too long"));
	assert_int_equal(weft_dev_sample(dev, NULL, NULL), -ENOTSUP);
	assert_int_equal(weft_dev_wave(dev, 0), -ENOTSUP);
}

static int begin(void **state)
{
	struct weft_dev_options o = weft_dev_options_default();
	char msg[WEFT_DEV_MSG] = "";

	(void)state;
	if (stub_chip.open(&(struct weft_chip_options){ .config = "w16" }, &chip, msg))
		return -1;
	card = usbdev_new(&stub_chip, chip, "ASKED", faults, DROPS);
	deaf(false);
	inproc_plug(card);
	o.kind = WEFT_DEV_USB;
	o.usb_ops = &inproc_ops;
	o.usb_timeout_ms = 200;
	o.events = WEFT_EVENTS_CALLER;
	return weft_dev_open(&o, &dev, msg);
}

static int end(void **state)
{
	(void)state;
	weft_dev_close(dev);
	usbdev_free(card);
	stub_chip.close(chip);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(too_many_jobs), cmocka_unit_test(too_much_memory), cmocka_unit_test(busy_buffers), cmocka_unit_test(odd_questions),
	};

	return cmocka_run_group_tests(tests, begin, end);
}

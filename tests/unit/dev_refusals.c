/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the driver says to a caller who asks for what is not there: an unknown configuration or kind of device,
 * a job that nobody submitted, too many windows or jobs, bytes behind the end of a buffer or the scratchpad,
 * what the functional model cannot do. Each has its error, and its words where the header promises some.
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

#include "driver/device.h"

static weft_dev *model(void)
{
	const struct weft_dev_options o = weft_dev_options_default();
	char msg[WEFT_DEV_MSG] = "";
	weft_dev *dev = NULL;

	if (weft_dev_open(&o, &dev, msg))
		fail_msg("%s", msg);
	return dev;
}

/* An opening that must fail with `err` and these words. */
static void opens_not(const struct weft_dev_options *o, int err, const char *words)
{
	char msg[WEFT_DEV_MSG] = "";
	weft_dev *dev = NULL;

	assert_int_equal(weft_dev_open(o, &dev, msg), err);
	if (!strstr(msg, words))
		fail_msg("no \"%s\" in \"%s\"", words, msg);
	assert_null(dev);
}

static void opens_nothing(void **state)
{
	struct weft_dev_options o = weft_dev_options_default();

	(void)state;
	o.config = "w99";
	opens_not(&o, -ENOENT, "\"w99\" is not known");
	o = weft_dev_options_default();
	o.kind = (enum weft_dev_kind)77;
	opens_not(&o, -EINVAL, "kind 77");
	o = weft_dev_options_default();
	o.events = (enum weft_events_by)9;
	opens_not(&o, -EINVAL, "events 9");
	o = weft_dev_options_default();
	o.kind = WEFT_DEV_RTL;
	o.rtl_dir = "/nowhere";
	opens_not(&o, -ENOENT, "weft-rtl-w16.so cannot be loaded");
	weft_dev_close(NULL);
	weft_buf_free(NULL);
}

/* A stream that only ends. */
static size_t end_stream(uint64_t *words)
{
	struct weft_cmd end;

	weft_cmd_init(&end, WEFT_CMD_END);
	return weft_cmd_encode(&end, words);
}

static void jobs(void **state)
{
	const struct weft_window windows[WEFT_N_WINDOWS] = { 0 };
	uint64_t words[WEFT_CMD_MAX_WORDS];
	struct weft_job_result r;
	weft_dev *dev = model();
	weft_job job, first = 0;
	size_t n = end_stream(words);

	(void)state;
	assert_int_equal(weft_submit(dev, words, n, windows, WEFT_N_WINDOWS, &job), -EINVAL);
	assert_non_null(strstr(weft_dev_error(dev), "windows > "));
	assert_int_equal(weft_dev_verify(dev, words, n, windows, 1), 0);
	assert_int_equal(weft_dev_verify(dev, words, 0, windows, 1), -EINVAL);
	assert_true(*weft_dev_error(dev));
	for (int i = 0; i < 16; i++) {
		assert_int_equal(weft_submit(dev, words, n, NULL, 0, &job), 0);
		first = i ? first : job;
	}
	assert_int_equal(weft_submit(dev, words, n, NULL, 0, &job), -EAGAIN);
	assert_non_null(strstr(weft_dev_error(dev), "16 jobs are queued"));
	assert_int_equal(weft_wait(dev, first, WEFT_FOREVER, &r), 0);
	assert_int_equal(r.status, 0);
	assert_int_equal(weft_wait(dev, first, 0, &r), -ENOENT);
	assert_non_null(strstr(weft_dev_error(dev), "wait: no job"));
	assert_int_equal(weft_finish(dev, first, 0, &r), -ENOENT);
	assert_int_equal(weft_cancel(dev, first), -ENOENT);
	assert_non_null(strstr(weft_dev_error(dev), "cancel: no job"));
	assert_int_equal(weft_forget(dev, first), -ENOENT);
	assert_non_null(strstr(weft_dev_error(dev), "forget: no job"));
	assert_int_equal(weft_cancel(dev, first + 1), 0);
	assert_int_equal(weft_forget(dev, first + 2), 0);
	weft_dev_close(dev);           /* with jobs in its queue */
}

/* What the verifier refuses goes to a device that was told to take everything, and to no other. */
static void trusted(void **state)
{
	uint64_t words[WEFT_CMD_MAX_WORDS];
	struct weft_job_result r;
	struct weft_cmd c;
	weft_dev *dev = model();
	weft_job job;

	(void)state;
	weft_cmd_init(&c, WEFT_CMD_END);
	c.h.wait[WEFT_UNIT_LD] = 1;     /* nothing is loaded */
	const size_t n = weft_cmd_encode(&c, words);
	assert_int_equal(weft_submit(dev, words, n, NULL, 0, &job), -EINVAL);
	weft_dev_trust(dev, true);
	assert_int_equal(weft_submit(dev, words, n, NULL, 0, &job), 0);
	assert_int_equal(weft_wait(dev, job, WEFT_FOREVER, &r), 0);
	weft_dev_trust(dev, false);
	assert_int_equal(weft_submit(dev, words, n, NULL, 0, &job), -EINVAL);
	weft_dev_close(dev);
}

static void buffers(void **state)
{
	uint8_t bytes[16] = { 0 };
	weft_dev *dev = model();
	weft_buf *buf;

	(void)state;
	assert_int_equal(weft_buf_alloc(dev, 8, &buf), 0);
	assert_int_equal(weft_buf_write(buf, 9, bytes, 0), -ERANGE);
	assert_int_equal(weft_buf_write(buf, 1, bytes, 8), -ERANGE);
	assert_int_equal(weft_buf_write(buf, 1, bytes, SIZE_MAX), -ERANGE);
	assert_int_equal(weft_buf_read(buf, 8, bytes, 1), -ERANGE);
	assert_string_equal(weft_dev_error(dev), "model: a buffer of 8 bytes has no 1 at byte 8");
	assert_int_equal(weft_buf_read(buf, 8, bytes, 0), 0);
	assert_string_equal(weft_dev_error(dev), "");
	weft_buf_free(buf);
	weft_dev_close(dev);
}

/* What only other devices can do, and places that this one does not have. */
static void inside(void **state)
{
	const struct weft_plant plant = { .kind = WEFT_PLANT_PE };
	uint8_t bytes[4] = { 1, 2, 3, 4 }, back[4] = { 0 };
	weft_dev *dev = model();
	const uint32_t sp = weft_config_of_model("w16")->sp_bytes;
	uint32_t n = 7;

	(void)state;
	assert_int_equal(weft_dev_poke_sp(dev, sp - 4, 4, bytes), 0);
	assert_int_equal(weft_dev_peek_sp(dev, sp - 4, 4, back), 0);
	assert_memory_equal(bytes, back, 4);
	assert_int_equal(weft_dev_poke_sp(dev, sp - 3, 4, bytes), -ERANGE);
	assert_int_equal(weft_dev_peek_sp(dev, sp + 1, 0, back), -ERANGE);
	assert_int_equal(weft_dev_peek_sp(dev, 4, UINT32_MAX, back), -ERANGE);
	assert_int_equal(weft_dev_sample(dev, NULL, NULL), -ENOTSUP);
	assert_int_equal(weft_dev_wave(dev, 0), -ENOTSUP);
	assert_int_equal(weft_dev_plant(dev, &plant), -ENOTSUP);
	assert_null(weft_dev_points(dev, &n));
	assert_int_equal(n, 0);
	if (!weft_dev_has_regs(dev)) {
		assert_int_equal(weft_dev_reg_read(dev, 0), 0);
		assert_int_equal(weft_dev_reg_write(dev, 0, 0), -ENOTSUP);
	}
	assert_int_equal(weft_dev_reset(dev), 0);
	assert_string_equal(weft_track_name(WEFT_TRACK_CP), "CP");
	assert_string_equal(weft_track_name(WEFT_N_TRACKS), "?");
	assert_string_equal(weft_does_text(0), "idle");
	assert_string_equal(weft_does_text(WEFT_N_DOES), "?");
	weft_dev_close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opens_nothing),
		cmocka_unit_test(jobs),
		cmocka_unit_test(trusted),
		cmocka_unit_test(buffers),
		cmocka_unit_test(inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

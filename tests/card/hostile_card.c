/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cards that mean ill (tests/support/fake_card.h), over the socket, with the library's own thread: each
 * behaviour meets each call. The call ends within the bound that include/weft/dev.h states, nothing crashes,
 * and bytes that are taken for a job's results are the job's results. Some 10 s on two cores.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/card_process.h"
#include "tests/support/level.h"
#include "tests/support/meet_card.h"

/* The card of a meeting: where it listens, and its process. */
static struct { char path[100]; pid_t pid; } met;

static bool come(int b, char *usb, size_t len)
{
	test_path(met.path, sizeof(met.path), "fake-%d-%d.sock", b, (int)getpid());
	snprintf(usb, len, "@%s", met.path);
	met.pid = fake_card_start(met.path, (enum fake_behaviour)b);
	return met.pid > 0;
}

static void go(void)
{
	kill(met.pid, SIGKILL);
	waitpid(met.pid, NULL, 0);
	unlink(met.path);
}

static bool all(int b, int call)
{
	(void)b;
	(void)call;
	return true;
}

static void behaviours(void **state)
{
	static const struct meet_way way = { .timeout_ms = 15, .boot_ms = 60, .call_ms = 200, .slack_ms = 1500, .at_once = 8,
		.meets = all, .come = come, .go = go };
	struct tally t = { 0 };

	(void)state;
	meet_everybody(&way, &t);
	printf("%d behaviours x %d calls: %u right, %u refused, %u lied to; slowest call %u ms; %d bad\n", FAKE_N - 2, N_CALLS,
	       t.right, t.refused, t.lied, t.slowest, t.bad);
	fflush(stdout);
	assert_true(FAKE_N - 2 >= 60);
	/* A card without a behaviour works, and so does one whose oddities do no harm. */
	for (int c = 0; c < N_CALLS; c++)
		if (!meet_outcome(FAKE_none, c)->right)
			fail_msg("a good card, %s: %s", call_names[c], meet_outcome(FAKE_none, c)->what);
	assert_true(meet_outcome(FAKE_interval, RUN)->right);
	assert_true(meet_outcome(FAKE_ack_dup, RUN)->right);
	assert_true(meet_outcome(FAKE_done_dup, RUN)->right);
	assert_true(meet_outcome(FAKE_write_crc_once, RUN)->right);
	assert_true(meet_outcome(FAKE_submit_full_once, RUN)->right);
	assert_int_equal(t.bad, 0);
}

/* What a job on such a card ends with, and what the card has counted by then. */
struct ended { int status; struct weft_card_info info; };

/* Runs a job on such a card until it ends. The device's thread may still reset the chip after that, so this function takes the card's
 * counts once they show `chip_resets` resets of the chip, or after ten seconds. */
static struct ended run_to_the_end(enum fake_behaviour b, unsigned timeout_ms, unsigned chip_resets)
{
	struct weft_dev_options o = weft_dev_options_default();
	struct weft_window win[2] = { { .rd = true }, { .rd = true, .wr = true } };
	struct weft_job_result r = { 0 };
	struct ended e;
	char path[100], where[110], msg[WEFT_DEV_MSG] = "";
	weft_dev *dev;
	weft_job job;

	test_path(path, sizeof(path), "ends-%d.sock", (int)getpid());
	pid_t card = fake_card_start(path, b);
	snprintf(where, sizeof(where), "@%s", path);
	o.kind = WEFT_DEV_USB;
	o.usb = where;
	o.usb_timeout_ms = timeout_ms;
	if (weft_dev_open(&o, &dev, msg))
		fail_msg("%s", msg);
	assert_int_equal(weft_buf_alloc(dev, meet_stream.n_consts, &win[0].buf), 0);
	assert_int_equal(weft_buf_alloc(dev, meet_stream.n_arena, &win[1].buf), 0);
	assert_int_equal(weft_buf_write(win[0].buf, 0, meet_stream.consts, meet_stream.n_consts), 0);
	assert_int_equal(weft_submit(dev, meet_stream.words, meet_stream.n_words, win, 2, &job), 0);
	assert_int_equal(weft_wait(dev, job, WEFT_FOREVER, &r), 0);
	assert_int_equal(weft_dev_card(dev, &e.info), 0);
	for (int i = 0; i < 1000 && e.info.chip_resets < chip_resets; i++) {
		usleep(10000);
		assert_int_equal(weft_dev_card(dev, &e.info), 0);
	}
	e.status = r.status;
	weft_buf_free(win[0].buf);
	weft_buf_free(win[1].buf);
	weft_dev_close(dev);
	kill(card, SIGKILL);
	waitpid(card, NULL, 0);
	unlink(path);
	return e;
}

/* A job whose card forgets everything each time starts anew twice, and ends then. */
static void forgets_every_job(void **state)
{
	(void)state;
	const struct ended e = run_to_the_end(FAKE_done_reboots, 0, 0);

	assert_int_equal(e.status, -ECONNRESET);
	assert_int_equal(e.info.jobs, 1);
	assert_int_equal(e.info.jobs_repeated, 2);
}

/*
 * How often a card is put right, and how, before it or a job is given up: its link three times and then the chip, as
 * driver/usb/policy.c has it. A job that is on the card ends with the ninth trouble. The chip is then reset a third time,
 * because the job may still run. A card that takes no data is lost when its link failed three times more after two resets of
 * the chip. Opening resets the link once. What the card answers at all comes long before the timeout; on a busy machine it
 * may not, so a row is run again with twice the timeout before it is judged.
 */
static void put_right(void **state)
{
	static const struct { enum fake_behaviour b; unsigned link, chip, repeats; } rows[] = {
		{ FAKE_submit_never, 1 + 2 * 3, 2 + 1, 2 }, { FAKE_write_never, 1 + 3 * 3, 2, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ended e = run_to_the_end(rows[i].b, 250, rows[i].chip);
		for (unsigned ms = 500; ms <= 2000 && (e.info.link_resets != rows[i].link || e.info.chip_resets != rows[i].chip); ms *= 2)
			e = run_to_the_end(rows[i].b, ms, rows[i].chip);
		assert_int_equal(e.status, -EIO);
		assert_int_equal(e.info.link_resets, rows[i].link);
		assert_int_equal(e.info.chip_resets, rows[i].chip);
		assert_int_equal(e.info.jobs_repeated, rows[i].repeats);
	}
}

/* What a card makes up shows when every tensor is compared. */
static void lies(void **state)
{
	char path[100], text[8192];

	(void)state;
	for (int b = 0; b < FAKE_N; b++) {
		if (!fake_infos[b].lies && b != FAKE_none)
			continue;
		test_path(path, sizeof(path), "lies-%d-%d.sock", b, (int)getpid());
		pid_t card = fake_card_start(path, (enum fake_behaviour)b);
		int status = run_line(text, sizeof(text), "run tests/models/digits_int8.tflite --device usb:@%s --check", path);
		kill(card, SIGKILL);
		waitpid(card, NULL, 0);
		unlink(path);
		if (status != (fake_infos[b].lies ? 1 : 0))
			fail_msg("%s: exit status %d: %s", fake_infos[b].name, status, text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(behaviours), cmocka_unit_test(forgets_every_job),
		cmocka_unit_test(put_right), cmocka_unit_test(lies) };

	return cmocka_run_group_tests(tests, meet_setup, meet_teardown);
}

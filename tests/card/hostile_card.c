/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cards that mean ill (tests/support/fake_card.h), over the socket, with the library's own thread: each
 * behaviour meets each call. The call ends within the bound that include/weft/dev.h states, nothing crashes,
 * and bytes that are taken for a job's results are the job's results. Some 10 s on two cores.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "driver/clock.h"
#include "tests/support/card_process.h"
#include "tests/support/fake_card.h"
#include "tests/support/level.h"
#include "tests/support/random_stream.h"

#define TIMEOUT_MS 15
#define BOOT_MS    60
#define CALL_MS    200
#define WAIT_MS    100
/* A busy machine's share. */
#define SLACK_MS   1500
#define RECOVER_MS (2 * BOOT_MS + 48 * TIMEOUT_MS)
#define AT_ONCE    8

/* A job ends when the card had to be put right for the ninth time while it was there. */
#define LOST_MS    (9 * RECOVER_MS)

enum call { WAIT_0, WAIT_LIMIT, WAIT_FOREVER, READ, WRITE, RUN, CLOSE, N_CALLS };
static const char *const call_names[N_CALLS] = { "wait with 0", "wait with a limit", "wait for ever", "read", "write", "run",
	"close" };

struct outcome {
	bool over, right, refused;             /* right bytes; an error instead */
	bool wrong, late;
	unsigned ms, bound_ms;                 /* of the slowest call in it */
	char what[WEFT_DEV_MSG];
};

static struct random_stream stream;
static uint8_t *want;
static struct outcome (*outcomes)[N_CALLS];    /* shared with the processes that fill it */

/* ---- one call ---- */

struct meeting {
	struct outcome *o;
	weft_dev *dev;
	struct weft_window win[2];
	uint64_t begin;
};

static void begin(struct meeting *m)
{
	m->begin = weft_now_ns();
}

/* The call is over: was that in time? */
static int end(struct meeting *m, const char *what, unsigned bound_ms, int err)
{
	const unsigned ms = (unsigned)((weft_now_ns() - m->begin) / 1000000);

	if (ms >= m->o->ms) {
		m->o->ms = ms;
		m->o->bound_ms = bound_ms;
	}
	if (ms > bound_ms + SLACK_MS && !m->o->late) {
		m->o->late = true;
		snprintf(m->o->what, sizeof(m->o->what), "%s took %u ms, not %u", what, ms, bound_ms);
	}
	return err;
}

static unsigned call_ms(uint64_t bytes)
{
	return CALL_MS + TIMEOUT_MS * (unsigned)((bytes + 65535) / 65536);
}

static int read_arena(struct meeting *m, uint8_t *got)
{
	begin(m);
	return end(m, "weft_buf_read", call_ms(stream.n_arena), weft_buf_read(m->win[1].buf, 0, got, stream.n_arena));
}

static int write_consts(struct meeting *m)
{
	begin(m);
	return end(m, "weft_buf_write", call_ms(0), weft_buf_write(m->win[0].buf, 0, stream.consts, stream.n_consts));
}

static int submit(struct meeting *m, weft_job *job)
{
	begin(m);
	return end(m, "weft_submit", 0, weft_submit(m->dev, stream.words, stream.n_words, m->win, 2, job));
}

/* A job under a limit, its result compared. */
static void job_and_read(struct meeting *m, unsigned limit_ms)
{
	struct weft_job_result r = { 0 };
	weft_job job;
	uint8_t *got = malloc(stream.n_arena);
	int err = write_consts(m);

	if (!err)
		err = submit(m, &job);
	if (!err) {
		begin(m);
		err = end(m, "weft_finish", limit_ms, weft_finish(m->dev, job, limit_ms, &r));
	}
	if (!err)
		err = r.status;
	if (!err)
		err = read_arena(m, got);
	m->o->right = !err && !memcmp(got, want, stream.n_arena);
	m->o->wrong = !err && !m->o->right;
	m->o->refused = err;
	if (err && !m->o->late)
		snprintf(m->o->what, sizeof(m->o->what), "%.250s", weft_dev_error(m->dev));
	free(got);
}

static void wait_0(struct meeting *m)
{
	struct weft_job_result r;
	weft_job job;
	int err = write_consts(m);

	if (!err)
		err = submit(m, &job);
	for (int i = 0; !err && i < 60; i++) {
		begin(m);
		int got = end(m, "weft_wait with 0", 0, weft_wait(m->dev, job, 0, &r));
		if (got != -ETIMEDOUT) {
			err = got ? got : r.status ? r.status : 1;
			break;
		}
		usleep(2000);
	}
	m->o->right = err == 1;
	m->o->refused = err != 1;
}

static void wait_limit(struct meeting *m)
{
	struct weft_job_result r;
	weft_job job;
	int err = write_consts(m);

	if (!err)
		err = submit(m, &job);
	for (int i = 0; !err && i < 3; i++) {
		begin(m);
		err = end(m, "weft_wait", WAIT_MS, weft_wait(m->dev, job, WAIT_MS, &r));
		if (err != -ETIMEDOUT)
			err = err ? err : r.status ? r.status : 1;
		else
			err = 0;       /* it is still there */
	}
	m->o->right = err == 1;
	m->o->refused = err != 1;
}

static void wait_forever(struct meeting *m)
{
	struct weft_job_result r;
	weft_job job;
	int err = write_consts(m);

	if (!err)
		err = submit(m, &job);
	if (!err) {
		begin(m);
		err = end(m, "weft_wait without a limit", LOST_MS, weft_wait(m->dev, job, WEFT_FOREVER, &r));
	}
	m->o->right = !err && !r.status;
	m->o->refused = !m->o->right;
}

/* Card memory itself, also where no job gets to its end. */
static void read_it(struct meeting *m)
{
	struct weft_job_result r;
	weft_job job;
	uint8_t *got = malloc(stream.n_arena);
	int err = write_consts(m);

	if (!err)
		err = submit(m, &job);
	if (!err)
		err = weft_finish(m->dev, job, WAIT_MS, &r);
	begin(m);
	err = end(m, "weft_buf_doubt", call_ms(0), weft_buf_doubt(m->win[1].buf));
	if (!err)
		err = read_arena(m, got);
	m->o->right = !err;
	m->o->refused = err;
	free(got);
}

/* Before and after a job that nobody waits for. */
static void write_it(struct meeting *m)
{
	weft_job job;
	int err = write_consts(m);

	if (!err)
		err = submit(m, &job);
	if (!err) {
		usleep(20000);
		begin(m);
		err = end(m, "weft_forget", 0, weft_forget(m->dev, job));
	}
	int after = write_consts(m);
	m->o->right = !err && !after;
	m->o->refused = !m->o->right;
}

static void close_it(struct meeting *m)
{
	weft_job job;
	int err = write_consts(m);

	for (int i = 0; i < 3 && !err; i++)
		err = submit(m, &job);
	m->o->right = !err;
	m->o->refused = err;
	usleep(20000);
}

static int open_it(struct meeting *m, const char *path)
{
	struct weft_dev_options o = weft_dev_options_default();
	char where[160];

	snprintf(where, sizeof(where), "@%s", path);
	o.kind = WEFT_DEV_USB;
	o.usb = where;
	o.usb_timeout_ms = TIMEOUT_MS;
	o.usb_boot_ms = BOOT_MS;
	o.usb_call_ms = CALL_MS;
	begin(m);
	return end(m, "weft_dev_open", 2 * BOOT_MS + 5000, weft_dev_open(&o, &m->dev, m->o->what));
}

static void meet(struct outcome *o, const char *path, enum call call)
{
	static void (*const calls[N_CALLS])(struct meeting *m) = { [WAIT_0] = wait_0, [WAIT_LIMIT] = wait_limit, [WAIT_FOREVER] = wait_forever, [READ] = read_it,
		[WRITE] = write_it, [CLOSE] = close_it };
	struct meeting m = { .o = o, .win = { { .rd = true }, { .rd = true, .wr = true } } };

	o->refused = open_it(&m, path);
	if (!o->refused) {
		o->refused = weft_buf_alloc(m.dev, stream.n_consts, &m.win[0].buf) || weft_buf_alloc(m.dev, stream.n_arena, &m.win[1].buf);
		if (!o->refused && call == RUN)
			job_and_read(&m, RECOVER_MS);
		else if (!o->refused)
			calls[call](&m);
		weft_buf_free(m.win[0].buf);
		weft_buf_free(m.win[1].buf);
		begin(&m);
		weft_dev_close(m.dev);
		end(&m, "weft_dev_close", 1000, 0);
	}
	o->over = true;
}

/* ---- all of them ---- */

/* A job that the card says is running takes as long as it takes. */
static bool endless(int b, int call)
{
	return call == WAIT_FOREVER && (b == FAKE_done_never || b == FAKE_cancel_never || b == FAKE_cancel_runs_on);
}

/* In a process of its own: what crashes or hangs does so there. */
static void meet_alone(int b, int call)
{
	char path[100];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(120);
	test_path(path, sizeof(path), "fake-%d-%d.sock", b, (int)getpid());
	pid_t card = fake_card_start(path, (enum fake_behaviour)b);
	if (card < 0)
		_exit(3);
	meet(&outcomes[b][call], path, (enum call)call);
	kill(card, SIGKILL);
	waitpid(card, NULL, 0);
	unlink(path);
	_exit(0);
}

struct tally { unsigned right, refused, lied, slowest; int bad; };

static void judge(int b, int call, int status, struct tally *t)
{
	const struct outcome *o = &outcomes[b][call];
	const char *what = !WIFEXITED(status) || WEXITSTATUS(status) || !o->over ? "crashed or did not end" : o->late ? o->what :
	                   o->wrong && !fake_infos[b].lies ? "wrong bytes" : NULL;

	if (what)
		printf("%s, %s: %s (status 0x%x)\n", fake_infos[b].name, call_names[call], what, (unsigned)status);
	t->bad += what != NULL;
	t->right += o->right;
	t->lied += o->wrong;
	t->refused += !o->right && !o->wrong;
	t->slowest = o->ms > t->slowest ? o->ms : t->slowest;
	if (*test_env("WEFT_VERBOSE", ""))
		printf("%-20s %-18s %s %5u ms of %5u %s\n", fake_infos[b].name, call_names[call],
		       o->right ? "right  " : o->wrong ? "lied to" : "refused", o->ms, o->bound_ms, o->what);
}

static void meet_everybody(struct tally *t)
{
	pid_t pid[FAKE_N][N_CALLS] = { { 0 } };
	int begun = 0, running = 0, status;

	fflush(NULL);
	while (begun < FAKE_N * N_CALLS || running) {
		if (begun < FAKE_N * N_CALLS && running < AT_ONCE) {
			/* The slowest are the last. */
			const int b = FAKE_N - 1 - begun / N_CALLS, call = begun % N_CALLS;
			begun++;
			if (endless(b, call))
				continue;
			pid[b][call] = fork();
			if (!pid[b][call])
				meet_alone(b, call);
			assert_true(pid[b][call] > 0);
			running++;
			continue;
		}
		const pid_t over = waitpid(-1, &status, 0);
		for (int i = 0; i < FAKE_N * N_CALLS; i++)
			if (pid[i / N_CALLS][i % N_CALLS] == over)
				judge(i / N_CALLS, i % N_CALLS, status, t);
		running--;
	}
}

static void behaviours(void **state)
{
	struct tally t = { 0 };

	(void)state;
	meet_everybody(&t);
	printf("%d behaviours x %d calls: %u right, %u refused, %u lied to; slowest call %u ms; %d bad\n", FAKE_N - 2, N_CALLS,
	       t.right, t.refused, t.lied, t.slowest, t.bad);
	fflush(stdout);
	assert_true(FAKE_N - 2 >= 60);
	/* A card without a behaviour works, and so does one whose oddities do no harm. */
	for (int c = 0; c < N_CALLS; c++)
		if (!outcomes[FAKE_none][c].right)
			fail_msg("a good card, %s: %s", call_names[c], outcomes[FAKE_none][c].what);
	assert_true(outcomes[FAKE_interval][RUN].right);
	assert_true(outcomes[FAKE_ack_dup][RUN].right);
	assert_true(outcomes[FAKE_done_dup][RUN].right);
	assert_true(outcomes[FAKE_write_crc_once][RUN].right);
	assert_true(outcomes[FAKE_submit_full_once][RUN].right);
	assert_int_equal(t.bad, 0);
}

/* What a job on such a card ends with, and what the card has counted by then. */
struct ended { int status; struct weft_card_info info; };

static struct ended run_to_the_end(enum fake_behaviour b, unsigned timeout_ms)
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
	assert_int_equal(weft_buf_alloc(dev, stream.n_consts, &win[0].buf), 0);
	assert_int_equal(weft_buf_alloc(dev, stream.n_arena, &win[1].buf), 0);
	assert_int_equal(weft_buf_write(win[0].buf, 0, stream.consts, stream.n_consts), 0);
	assert_int_equal(weft_submit(dev, stream.words, stream.n_words, win, 2, &job), 0);
	assert_int_equal(weft_wait(dev, job, WEFT_FOREVER, &r), 0);
	assert_int_equal(weft_dev_card(dev, &e.info), 0);
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
	const struct ended e = run_to_the_end(FAKE_done_reboots, 0);

	assert_int_equal(e.status, -ECONNRESET);
	assert_int_equal(e.info.jobs, 1);
	assert_int_equal(e.info.jobs_repeated, 2);
}

/*
 * How often a card is put right, and how, before it or a job is given up: its link three times and then the chip, as
 * driver/usb/policy.c has it. A job that is on the card ends with the ninth trouble; a card that takes no data is lost when
 * its link failed three times more after two resets of the chip. Opening resets the link once. What the card answers at all
 * comes long before the timeout; on a busy machine it may not, so a row is run again with twice the timeout before it is judged.
 */
static void put_right(void **state)
{
	static const struct { enum fake_behaviour b; unsigned link, chip, repeats; } rows[] = {
		{ FAKE_submit_never, 1 + 2 * 3, 2, 2 }, { FAKE_write_never, 1 + 3 * 3, 2, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ended e = run_to_the_end(rows[i].b, 250);
		for (unsigned ms = 500; ms <= 2000 && (e.info.link_resets != rows[i].link || e.info.chip_resets != rows[i].chip); ms *= 2)
			e = run_to_the_end(rows[i].b, ms);
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

static int setup(void **state)
{
	struct weft_dev_options o = weft_dev_options_default();
	struct weft_window win[2] = { { .rd = true }, { .rd = true, .wr = true } };
	char msg[WEFT_DEV_MSG];
	struct weft_job_result r;
	weft_dev *dev;
	weft_job job;

	(void)state;
	outcomes = mmap(NULL, sizeof(*outcomes) * FAKE_N, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	random_stream_make(&stream, test_seed(3), weft_config_find("w16"));
	want = malloc(stream.n_arena);
	if (outcomes == MAP_FAILED || weft_dev_open(&o, &dev, msg) || weft_buf_alloc(dev, stream.n_consts, &win[0].buf) ||
	    weft_buf_alloc(dev, stream.n_arena, &win[1].buf) || weft_buf_write(win[0].buf, 0, stream.consts, stream.n_consts) ||
	    weft_submit(dev, stream.words, stream.n_words, win, 2, &job) || weft_wait(dev, job, WEFT_FOREVER, &r) || r.status ||
	    weft_buf_read(win[1].buf, 0, want, stream.n_arena))
		return -1;
	weft_buf_free(win[0].buf);
	weft_buf_free(win[1].buf);
	weft_dev_close(dev);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(want);
	random_stream_free(&stream);
	munmap(outcomes, sizeof(*outcomes) * FAKE_N);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(behaviours), cmocka_unit_test(forgets_every_job),
		cmocka_unit_test(put_right), cmocka_unit_test(lies) };

	return cmocka_run_group_tests(tests, setup, teardown);
}

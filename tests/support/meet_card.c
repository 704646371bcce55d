/* SPDX-License-Identifier: Apache-2.0 */
#include "meet_card.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include <cmocka.h>

#include "driver/clock.h"
#include "level.h"

#define WAIT_MS 100

const char *const call_names[N_CALLS] = { "wait with 0", "wait with a limit", "wait for ever", "read", "write", "run",
	"close" };

struct random_stream meet_stream;
static uint8_t *want;
static struct outcome (*outcomes)[N_CALLS];    /* shared with the processes that fill it */

static const struct meet_way *way;

/* Putting a card right takes no longer. */
static unsigned recover_ms(void)
{
	return 2 * way->boot_ms + 48 * way->timeout_ms;
}

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
	if (ms > bound_ms + way->slack_ms && !m->o->late) {
		m->o->late = true;
		snprintf(m->o->what, sizeof(m->o->what), "%s took %u ms, not %u", what, ms, bound_ms);
	}
	return err;
}

static unsigned call_ms(uint64_t bytes)
{
	return way->call_ms + way->timeout_ms * (unsigned)((bytes + 65535) / 65536);
}

static int read_arena(struct meeting *m, uint8_t *got)
{
	begin(m);
	return end(m, "weft_buf_read", call_ms(meet_stream.n_arena), weft_buf_read(m->win[1].buf, 0, got, meet_stream.n_arena));
}

static int write_consts(struct meeting *m)
{
	begin(m);
	return end(m, "weft_buf_write", call_ms(0), weft_buf_write(m->win[0].buf, 0, meet_stream.consts, meet_stream.n_consts));
}

static int submit(struct meeting *m, weft_job *job)
{
	begin(m);
	return end(m, "weft_submit", 0, weft_submit(m->dev, meet_stream.words, meet_stream.n_words, m->win, 2, job));
}

/* A job under a limit, its result compared. */
static void job_and_read(struct meeting *m, unsigned limit_ms)
{
	struct weft_job_result r = { 0 };
	weft_job job;
	uint8_t *got = malloc(meet_stream.n_arena);
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
	m->o->right = !err && !memcmp(got, want, meet_stream.n_arena);
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
		/* A job ends when the card had to be put right for the ninth time while it was there. */
		err = end(m, "weft_wait without a limit", 9 * recover_ms(), weft_wait(m->dev, job, WEFT_FOREVER, &r));
	}
	m->o->right = !err && !r.status;
	m->o->refused = !m->o->right;
}

/* Card memory itself, also where no job gets to its end. */
static void read_it(struct meeting *m)
{
	struct weft_job_result r;
	weft_job job;
	uint8_t *got = malloc(meet_stream.n_arena);
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

static int open_it(struct meeting *m, const char *usb)
{
	struct weft_dev_options o = weft_dev_options_default();

	o.kind = WEFT_DEV_USB;
	o.usb = usb;
	o.usb_timeout_ms = way->timeout_ms;
	o.usb_boot_ms = way->boot_ms;
	o.usb_call_ms = way->call_ms;
	begin(m);
	return end(m, "weft_dev_open", 2 * way->boot_ms + 5000, weft_dev_open(&o, &m->dev, m->o->what));
}

static void meet(struct outcome *o, const char *usb, enum call call)
{
	static void (*const calls[N_CALLS])(struct meeting *m) = { [WAIT_0] = wait_0, [WAIT_LIMIT] = wait_limit, [WAIT_FOREVER] = wait_forever, [READ] = read_it,
		[WRITE] = write_it, [CLOSE] = close_it };
	struct meeting m = { .o = o, .win = { { .rd = true }, { .rd = true, .wr = true } } };

	o->refused = open_it(&m, usb);
	if (!o->refused) {
		o->refused = weft_buf_alloc(m.dev, meet_stream.n_consts, &m.win[0].buf) || weft_buf_alloc(m.dev, meet_stream.n_arena, &m.win[1].buf);
		if (!o->refused && call == RUN)
			job_and_read(&m, recover_ms());
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

/* The process of a meeting. */
static void meet_alone(int b, int call)
{
	char usb[160];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(120);
	if (!way->come(b, usb, sizeof(usb)))
		_exit(3);
	meet(&outcomes[b][call], usb, (enum call)call);
	way->go();
	_exit(0);
}

static void judge(int b, int call, int status, struct tally *t)
{
	const struct outcome *o = &outcomes[b][call];
	const char *what = !WIFEXITED(status) || WEXITSTATUS(status) || !o->over ? "crashed or did not end" : o->late ? o->what :
	                   o->wrong && !fake_infos[b].lies ? "wrong bytes" : NULL;

	if (what)
		printf("%s, %s: %s (status 0x%x)\n", fake_infos[b].name, call_names[call], what, (unsigned)status);
	t->bad += what != NULL;
	t->met++;
	t->right += o->right;
	t->lied += o->wrong;
	t->refused += !o->right && !o->wrong;
	t->slowest = o->ms > t->slowest ? o->ms : t->slowest;
	if (*test_env("WEFT_VERBOSE", ""))
		printf("%-20s %-18s %s %5u ms of %5u %s\n", fake_infos[b].name, call_names[call],
		       o->right ? "right  " : o->wrong ? "lied to" : "refused", o->ms, o->bound_ms, o->what);
}

void meet_everybody(const struct meet_way *by, struct tally *t)
{
	pid_t pid[FAKE_N][N_CALLS] = { { 0 } };
	int begun = 0, running = 0, status;

	way = by;
	fflush(NULL);
	while (begun < FAKE_N * N_CALLS || running) {
		if (begun < FAKE_N * N_CALLS && running < way->at_once) {
			/* The slowest are the last. */
			const int b = FAKE_N - 1 - begun / N_CALLS, call = begun % N_CALLS;
			begun++;
			if (endless(b, call) || !way->meets(b, call))
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

const struct outcome *meet_outcome(int b, int call)
{
	return &outcomes[b][call];
}

int meet_setup(void **state)
{
	struct weft_dev_options o = weft_dev_options_default();
	struct weft_window win[2] = { { .rd = true }, { .rd = true, .wr = true } };
	char msg[WEFT_DEV_MSG];
	struct weft_job_result r;
	weft_dev *dev;
	weft_job job;

	(void)state;
	outcomes = mmap(NULL, sizeof(*outcomes) * FAKE_N, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	random_stream_make(&meet_stream, test_seed(3), weft_config_find("w16"));
	want = malloc(meet_stream.n_arena);
	if (outcomes == MAP_FAILED || weft_dev_open(&o, &dev, msg) || weft_buf_alloc(dev, meet_stream.n_consts, &win[0].buf) ||
	    weft_buf_alloc(dev, meet_stream.n_arena, &win[1].buf) || weft_buf_write(win[0].buf, 0, meet_stream.consts, meet_stream.n_consts) ||
	    weft_submit(dev, meet_stream.words, meet_stream.n_words, win, 2, &job) || weft_wait(dev, job, WEFT_FOREVER, &r) || r.status ||
	    weft_buf_read(win[1].buf, 0, want, meet_stream.n_arena))
		return -1;
	weft_buf_free(win[0].buf);
	weft_buf_free(win[1].buf);
	weft_dev_close(dev);
	return 0;
}

int meet_teardown(void **state)
{
	(void)state;
	free(want);
	random_stream_free(&meet_stream);
	munmap(outcomes, sizeof(*outcomes) * FAKE_N);
	return 0;
}

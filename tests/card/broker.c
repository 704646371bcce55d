/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft-broker in front of simulated cards: many processes at once with right results, each its share of the card's
 * cycles, nobody in another's memory, and nothing of the card itself for those who do not administer it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <weft/admin.h>

#include "tests/support/card_process.h"
#include "tests/support/card.h"
#include "tests/support/card_stream.h"
#include "tests/support/level.h"
#include "tests/support/process.h"

#define N_CLIENTS 32
#define IMAGE "tests/models/digits/000_label0.png"
#define SECRET 0xa7

static struct card_process card, broker;

static void start(char *const card_args[], char *const args[])
{
	brokered_start(&card, &broker, card_args, args);
}

static int stop(void **state)
{
	(void)state;
	brokered_stop(&card, &broker);
	return 0;
}

static pid_t child(void)
{
	pid_t pid = fork();

	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	assert_true(pid >= 0);
	return pid;
}

static int exit_of(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- clients by hand ---- */

/* A client that words its messages itself; begun as drivers do. */
static weft_admin *client(bool begun)
{
	char msg[WEFT_ADMIN_MSG] = "";
	weft_admin *a = NULL;

	if (weft_admin_open(broker.where, 20000, &a, msg))
		fail_msg("%s", msg);
	if (begun && weft_admin_ask(a, (uint32_t[]){ WEFT_MSG_ABORT_ALL }, 1, NULL, 0, msg) < 0)
		fail_msg("%s", msg);
	return a;
}

static uint32_t base_of(const weft_admin *a)
{
	return weft_admin_hello(a)->host_base;
}

static void put(weft_admin *a, uint32_t at, const void *data, uint32_t len)
{
	char msg[WEFT_ADMIN_MSG];

	if (weft_admin_write(a, base_of(a) + at, data, len, msg))
		fail_msg("%s", msg);
}

static void get(weft_admin *a, uint32_t at, void *data, uint32_t len)
{
	char msg[WEFT_ADMIN_MSG];

	if (weft_admin_read(a, base_of(a) + at, data, len, msg))
		fail_msg("%s", msg);
}

/* The stream is at offset 0; windows by offsets. @return the answer's error */
static enum weft_msg_error submit(weft_admin *a, uint32_t job, const struct card_stream *s, const struct weft_msg_window *w, uint32_t n)
{
	struct {
		struct weft_msg_submit m;
		struct weft_msg_window w[WEFT_MSG_WINDOWS_MAX];
	} m = { .m = { .head = WEFT_MSG_SUBMIT, .job = job, .stream_base = base_of(a), .stream_words = (uint32_t)s->n, .n_windows = n } };
	struct weft_msg_submit_reply r;
	char msg[WEFT_ADMIN_MSG];

	put(a, 0, s->words, (uint32_t)(8 * s->n));
	for (uint32_t i = 0; i < n; i++)
		m.w[i] = (struct weft_msg_window){ base_of(a) + w[i].base, w[i].size, w[i].perm };
	int err = weft_admin_ask(a, (const uint32_t *)&m, (unsigned)((sizeof(m.m) + n * sizeof(m.w[0])) / 4), (uint32_t *)&r,
	                         sizeof(r) / 4, msg);
	if (err < 0 && err != -EPROTO)
		fail_msg("%s", msg);
	return r.head >> 16;
}

static struct weft_msg_done_reply wait_for(weft_admin *a, uint32_t job)
{
	struct weft_msg_done_reply d;
	char msg[WEFT_ADMIN_MSG];

	do
		if (weft_admin_ask(a, (uint32_t[]){ WEFT_MSG_DONE, job }, 2, (uint32_t *)&d, sizeof(d) / 4, msg) < 0)
			fail_msg("%s", msg);
	while (d.state != WEFT_MSG_STATE_DONE && !usleep(1000));
	return d;
}

static enum weft_msg_result run(weft_admin *a, uint32_t job, const struct card_stream *s, const struct weft_msg_window *w, uint32_t n)
{
	enum weft_msg_error e = submit(a, job, s, w, n);

	if (e)
		fail_msg("SUBMIT: %s", weft_msg_error_name(e));
	return wait_for(a, job).result;
}

/* @return the error in the answer to a message; 0: none */
static uint32_t error_of(weft_admin *a, const uint32_t *words, unsigned n)
{
	uint32_t reply[WEFT_FRAME_MSG_MAX / 4];
	char msg[WEFT_ADMIN_MSG];

	if (weft_admin_ask(a, words, n, reply, WEFT_FRAME_MSG_MAX / 4, msg) == -EPROTO)
		return reply[0] >> 16;
	return 0;
}

static uint32_t n_clients(weft_admin *a, struct weft_msg_client *first)
{
	struct {
		struct weft_msg_clients_reply r;
		struct weft_msg_client e[WEFT_MSG_CLIENTS_MAX];
	} all;
	char msg[WEFT_ADMIN_MSG];

	if (weft_admin_ask(a, (uint32_t[]){ WEFT_MSG_CLIENTS, 0 }, 2, (uint32_t *)&all, sizeof(all) / 4, msg) < 0)
		fail_msg("%s", msg);
	if (first)
		*first = all.e[0];
	return all.r.count;
}

/* ---- many ---- */

/* Each process runs the network and compares every tensor with golden. */
static void many_run_digits(void **state)
{
	static char text[N_CLIENTS][8192];
	int pipes[N_CLIENTS][2];
	pid_t pid[N_CLIENTS];

	(void)state;
	start(NULL, NULL);
	for (int i = 0; i < N_CLIENTS; i++) {
		assert_int_equal(pipe(pipes[i]), 0);
		pid[i] = child();
		if (!pid[i]) {
			int err = run_line(text[0], sizeof(text[0]), "run tests/models/%s --device %s --check -i " IMAGE,
			                   i % 2 ? "digits_int16x8.tflite" : "digits_int8.tflite", broker.device);
			ssize_t n = write(pipes[i][1], text[0], strlen(text[0]));
			_exit(n < 0 ? 99 : err);
		}
		close(pipes[i][1]);
	}
	for (int i = 0; i < N_CLIENTS; i++) {
		size_t at = 0;
		for (ssize_t n; (n = read(pipes[i][0], text[i] + at, sizeof(text[i]) - 1 - at)) > 0;)
			at += (size_t)n;
		close(pipes[i][0]);
		int status = exit_of(pid[i]);
		if (status || !strstr(text[i], ": 0 mismatches"))
			fail_msg("client %d: status %d: %s", i, status, text[i]);
	}
}

/* weft devices, while another uses the card. */
static void devices_tells(void **state)
{
	static const struct weft_msg_window w[2] = { { 0x10000, 4096, WEFT_MSG_PERM_READ }, { 0x20000, 4096, WEFT_MSG_PERM_WRITE } };
	char text[2048], line[160];
	struct card_stream s;

	(void)state;
	start(NULL, NULL);
	weft_admin *a = client(true);
	stream_copy(&s, 1, 0, 2, 0, 64);
	assert_int_equal(run(a, 1, &s, w, 2), WEFT_MSG_RESULT_OK);
	assert_int_equal(run_line(text, sizeof(text), "devices %s", broker.device), 0);
	snprintf(line, sizeof(line), "  card 0: broker (pid %d, uid %d): idle, 1 jobs, ", (int)getpid(), (int)getuid());
	if (!strstr(text, line) || !strstr(text, "; 8 of ") || strstr(text, ": weft (pid"))
		fail_msg("%s", text);
	weft_admin_close(a);
	/* A card by itself has nobody to tell of. */
	assert_int_equal(run_line(text, sizeof(text), "devices %s", broker.device), 0);
	assert_null(strstr(text, "  card "));
}

/* "usb" without a name is the broker's where one has the cards, and says so; what the broker cannot do is an error, and nothing else is tried. */
static void plain_usb(void **state)
{
	static const char run[] = "run tests/models/digits_int8.tflite --device usb --check --no-capture -i " IMAGE;
	char text[8192], line[512];

	(void)state;
	start(NULL, (char *[]){ "--clients", "2", NULL });
	setenv("WEFT_BROKER", broker.path, 1);
	assert_int_equal(run_line(text, sizeof(text), run), 0);
	snprintf(line, sizeof(line), "weft: usb: through the broker at %s\n", broker.path);
	if (!strstr(text, line) || !strstr(text, ": 0 mismatches"))
		fail_msg("%s", text);
	assert_int_equal(run_line(text, sizeof(text), "devices"), 0);
	snprintf(line, sizeof(line), "usb without a name: through the broker at %s\nusb:%s ", broker.path, broker.where);
	if (strncmp(text, line, strlen(line)) || !strstr(text, "firmware "))
		fail_msg("%s", text);
	/* It has clients enough, and none goes past it. */
	weft_admin *a = client(true), *b = client(true);
	assert_int_equal(run_line(text, sizeof(text), run), 3);
	if (!strstr(text, broker.path) || !strstr(text, " is in use by ") || !strstr(text, "WEFT_BROKER=none"))
		fail_msg("%s", text);
	assert_int_equal(run_line(text, sizeof(text), "devices"), 3);
	weft_admin_close(a);
	weft_admin_close(b);
	setenv("WEFT_BROKER", "none", 1);
	assert_int_equal(run_line(text, sizeof(text), "devices"), 0);
	assert_int_equal(strncmp(text, "usb without a name: any free card on the USB; no broker\n", 56), 0);
	/* A path is a socket to which somebody listens. */
	static const char *const bad[][2] = { { "", "is \"\", not a socket's path" }, { "/nowhere/broker.sock", "/nowhere/broker.sock: No such file" },
	                                      { "/dev/null", "/dev/null: Connection refused" } };
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		setenv("WEFT_BROKER", bad[i][0], 1);
		if (run_line(text, sizeof(text), run) == 0 || !strstr(text, bad[i][1]))
			fail_msg("%s", text);
	}
	setenv("WEFT_BROKER", "none", 1);
}

/* ---- whose turn it is ---- */

/* A job of n loads of 4 KiB each. */
static void heavy(struct card_stream *s, int n)
{
	memset(s, 0, sizeof(*s));
	for (int i = 0; i < n; i++)
		stream_row(s, false, 1, 0, 4096);
	stream_row(s, true, 2, 0, 64);
	stream_end(s);
}

/*
 * While the card stands still three clients queue eight jobs each, whose jobs cost as different as 1 to 12; then it goes on.
 * The broker says which jobs end, in their order, and after how many cycles. As long as all have jobs the cycles that they had
 * never differ by more than the jobs that may be on the card and a client's estimate of one.
 */
static void shares_are_equal(void **state)
{
	static const int loads[3] = { 12, 1, 4 };
	static const struct weft_msg_window w[2] = { { 0x10000, 4096, WEFT_MSG_PERM_READ }, { 0x20000, 64, WEFT_MSG_PERM_WRITE } };
	unsigned long long had[3] = { 0 }, most = 0, cycles;
	struct card_stream s;
	weft_admin *a[3];
	unsigned number, job, ended[3] = { 0 }, lines = 0;
	char line[256], word[32];

	(void)state;
	start(NULL, NULL);
	/* They come one after another, behind the connection that start() tried, so their numbers are known. */
	for (int i = 0; i < 3; i++) {
		a[i] = client(true);
		heavy(&s, loads[i]);
		assert_int_equal(run(a[i], 100, &s, w, 2), WEFT_MSG_RESULT_OK);
	}
	kill(card.pid, SIGSTOP);
	for (int i = 0; i < 3; i++)
		for (uint32_t k = 1; k <= 8; k++) {
			heavy(&s, loads[i]);
			assert_int_equal(submit(a[i], k, &s, w, 2), WEFT_MSG_ERR_OK);
		}
	kill(card.pid, SIGCONT);
	for (int i = 0; i < 3; i++)
		for (uint32_t k = 1; k <= 8; k++)
			assert_int_equal(wait_for(a[i], k).result, WEFT_MSG_RESULT_OK);
	FILE *f = fopen(broker.log, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "weft-broker: client %u: job %u: %31[^,], %llu cycles", &number, &job, word, &cycles) != 4)
			continue;
		assert_in_range(number, 2, 4);
		assert_true(cycles > 0);
		lines++;
		most = cycles > most ? cycles : most;
		if (job == 100)
			continue;
		had[number - 2] += cycles;
		ended[number - 2]++;
		if (ended[0] > 7 || ended[1] > 7 || ended[2] > 7)
			break;
		for (int i = 0; i < 3; i++)
			for (int k = 0; k < 3; k++)
				if (had[i] > had[k] + 3 * most)
					fail_msg("after %u jobs client %d had %llu cycles and client %d %llu; the longest job takes %llu", lines,
					         i, had[i], k, had[k], most);
	}
	fclose(f);
	/* The light ones are through long before the heavy ones. */
	assert_true(ended[1] > 2 * ended[0]);
	for (int i = 0; i < 3; i++)
		weft_admin_close(a[i]);
}

/* Jobs that wait are cancelled and forgotten as a card does it; a full queue is one client's own. */
static void jobs_are_ended(void **state)
{
	static const struct weft_msg_window w[2] = { { 0x10000, 4096, WEFT_MSG_PERM_READ }, { 0x20000, 4096, WEFT_MSG_PERM_WRITE } };
	struct weft_msg_cancel_reply r;
	struct weft_msg_abort_all_reply n;
	char msg[WEFT_ADMIN_MSG];
	struct card_stream s;

	(void)state;
	start(NULL, NULL);
	weft_admin *a = client(true), *b = client(true);
	stream_copy(&s, 1, 0, 2, 0, 4096);
	kill(card.pid, SIGSTOP);
	for (uint32_t k = 1; k <= 8; k++)
		assert_int_equal(submit(a, k, &s, w, 2), WEFT_MSG_ERR_OK);
	assert_int_equal(submit(a, 9, &s, w, 2), WEFT_MSG_ERR_QUEUE_FULL);
	assert_int_equal(submit(b, 1, &s, w, 2), WEFT_MSG_ERR_OK);
	assert_true(weft_admin_ask(a, (uint32_t[]){ WEFT_MSG_CANCEL, 8 }, 2, (uint32_t *)&r, sizeof(r) / 4, msg) > 0);
	assert_int_equal(r.state, WEFT_MSG_STATE_QUEUED);
	assert_int_equal(wait_for(a, 8).result, WEFT_MSG_RESULT_CANCELLED);
	/* Known already: not run again. */
	assert_int_equal(submit(a, 8, &s, w, 2), WEFT_MSG_ERR_OK);
	assert_int_equal(wait_for(a, 8).result, WEFT_MSG_RESULT_CANCELLED);
	assert_int_equal(submit(a, 9, &s, w, 2), WEFT_MSG_ERR_OK);
	assert_true(weft_admin_ask(a, (uint32_t[]){ WEFT_MSG_ABORT_ALL }, 1, (uint32_t *)&n, sizeof(n) / 4, msg) > 0);
	assert_int_equal(n.n_ended, 8);
	assert_int_equal(error_of(a, (uint32_t[]){ WEFT_MSG_DONE, 1 }, 2), WEFT_MSG_ERR_NO_JOB);
	kill(card.pid, SIGCONT);
	assert_int_equal(wait_for(b, 1).result, WEFT_MSG_RESULT_OK);
	assert_int_equal(run(a, 20, &s, w, 2), WEFT_MSG_RESULT_OK);
	weft_admin_close(a);
	weft_admin_close(b);
}

/* A job that the card does not end is stopped after --job-seconds; the next one has its own time. */
static void long_jobs_are_stopped(void **state)
{
	static const struct weft_msg_window w[2] = { { 0x10000, 4096, WEFT_MSG_PERM_READ }, { 0x20000, 4096, WEFT_MSG_PERM_WRITE } };
	const uint8_t input[4096] = { 1 };
	struct card_stream s;

	(void)state;
	start(NULL, (char *[]){ "--job-seconds", "1", NULL });
	weft_admin *a = client(true), *b = client(true);
	stream_copy(&s, 1, 0, 2, 0, 4096);
	assert_int_equal(run(a, 1, &s, w, 2), WEFT_MSG_RESULT_OK);
	/* Its input does not reach a card that stands still. */
	kill(card.pid, SIGSTOP);
	put(a, 0x10000, input, sizeof(input));
	assert_int_equal(submit(a, 2, &s, w, 2), WEFT_MSG_ERR_OK);
	enum weft_msg_result result = wait_for(a, 2).result;
	kill(card.pid, SIGCONT);
	assert_int_equal(result, WEFT_MSG_RESULT_DEADLINE);
	assert_int_equal(run(b, 1, &s, w, 2), WEFT_MSG_RESULT_OK);
	assert_int_equal(run(a, 3, &s, w, 2), WEFT_MSG_RESULT_OK);
	weft_admin_close(a);
	weft_admin_close(b);
}

/* ---- nobody else's memory ---- */

static void memory_is_ones_own(void **state)
{
	static uint8_t page[65536];
	static const struct weft_msg_window w[2] = { { 0x10000, 4096, WEFT_MSG_PERM_READ }, { 0x20000, 4096, WEFT_MSG_PERM_WRITE } };
	struct card_stream s;

	(void)state;
	start((char *[]){ "--dram", "4", NULL }, NULL);
	weft_admin *a = client(true), *b = client(true);
	const uint32_t bytes = weft_admin_hello(a)->host_limit - base_of(a);
	/* What A writes, and what its job leaves on the card. */
	memset(page, SECRET, sizeof(page));
	for (uint32_t at = 0; at + sizeof(page) <= bytes; at += sizeof(page))
		put(a, at, page, sizeof(page));
	stream_copy(&s, 1, 0, 2, 0, 4096);
	assert_int_equal(run(a, 1, &s, w, 2), WEFT_MSG_RESULT_OK);
	for (uint32_t at = 0; at + sizeof(page) <= bytes; at += sizeof(page)) {
		get(b, at, page, sizeof(page));
		for (size_t i = 0; i < sizeof(page); i++)
			assert_int_equal(page[i], 0);
	}
	/* The same memory of the card, after A: what was never written reads as zeros to a job, too. */
	weft_admin_close(a);
	while (n_clients(b, NULL) > 1)
		usleep(1000);
	const struct weft_msg_window all[2] = { { 0x10000, 0x100000, WEFT_MSG_PERM_READ }, { 0x200000, 65536, WEFT_MSG_PERM_WRITE } };
	for (uint32_t at = 0; at < 0x100000; at += 0x40000) {
		stream_copy(&s, 1, at, 2, 0, 4096);
		assert_int_equal(run(b, 2 + at, &s, all, 2), WEFT_MSG_RESULT_OK);
		get(b, 0x200000, page, sizeof(page));
		for (size_t i = 0; i < sizeof(page); i++)
			assert_int_equal(page[i], 0);
	}
	weft_admin_close(b);
}

/* Streams that reach out of their windows, or for what another left in the scratchpad, never run. */
static void streams_are_judged(void **state)
{
	static const struct weft_msg_window w[2] = { { 0x10000, 4096, WEFT_MSG_PERM_READ }, { 0x20000, 4096, WEFT_MSG_PERM_WRITE } };
	uint8_t page[4096];
	struct card_stream s;

	(void)state;
	start(NULL, NULL);
	weft_admin *a = client(true), *b = client(true);
	memset(page, SECRET, sizeof(page));
	put(a, 0x10000, page, sizeof(page));
	stream_copy(&s, 1, 0, 2, 0, 4096);
	assert_int_equal(run(a, 1, &s, w, 2), WEFT_MSG_RESULT_OK);
	struct bad { int from, to; int64_t from_off, to_off; } bad[] = {
		{ 1, 2, 1, 0 }, { 1, 2, -64, 0 }, { 1, 2, 4096, 0 }, { 1, 2, 0, 64 }, { 1, 2, 0, -4096 }, { 1, 2, 0, 1ll << 31 },
		{ 1, 1, 0, 0 }, { 2, 2, 0, 0 }, { 3, 2, 0, 0 }, { 1, 3, 0, 0 }, { 1, 0, 0, 0 },
	};
	for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		stream_copy(&s, bad[i].from, bad[i].from_off, bad[i].to, bad[i].to_off, 4096);
		assert_int_equal(run(b, 1 + i, &s, w, 2), WEFT_MSG_RESULT_FAULT);
	}
	/* A's job left its bytes in the scratchpad: a store without a load would hand them out. */
	memset(&s, 0, sizeof(s));
	stream_row(&s, true, 2, 0, 4096);
	stream_end(&s);
	assert_int_equal(run(b, 50, &s, w, 2), WEFT_MSG_RESULT_FAULT);
	/* Not even a stream. */
	for (size_t i = 0; i < 8; i++)
		s.words[i] = 0x0123456789abcdefull * (i + 1);
	s.n = 8;
	assert_int_equal(run(b, 51, &s, w, 2), WEFT_MSG_RESULT_FAULT);
	get(b, 0x20000, page, sizeof(page));
	for (size_t i = 0; i < sizeof(page); i++)
		assert_int_equal(page[i], 0);
	weft_admin_close(a);
	weft_admin_close(b);
}

/* Windows by absolute addresses, as firmware's own test has them, in a card of 1 MiB. */
static void windows_are_judged(void **state)
{
	enum { R = WEFT_MSG_PERM_READ, W = WEFT_MSG_PERM_WRITE, M = 1 << 20 };
	static const struct { struct weft_msg_window w[2]; uint32_t error; } bad[] = {
		{ { { 0x10000, 2 * M, R } }, WEFT_MSG_ERR_WINDOW },
		{ { { M - 64, 128, R } }, WEFT_MSG_ERR_WINDOW },
		{ { { 0x10000, 0xffffffc0, R } }, WEFT_MSG_ERR_WINDOW },
		{ { { (uint32_t)-64, 64, R } }, WEFT_MSG_ERR_WINDOW },
		{ { { (uint32_t)-64, 128, W } }, WEFT_MSG_ERR_WINDOW },
		{ { { 0x10001, 64, R } }, WEFT_MSG_ERR_ALIGN },
		{ { { 0x10000, 64, 0 } }, WEFT_MSG_ERR_PERM },
		{ { { 0x10000, 64, 4 } }, WEFT_MSG_ERR_PERM },
		{ { { 0, 64, W } }, WEFT_MSG_ERR_OVERLAP },
		{ { { 0x10000, 4096, R }, { 0x10fc0, 4096, W } }, WEFT_MSG_ERR_OVERLAP },
		{ { { 0x10000, 4096, R }, { 0x10fc0, 4096, R } }, WEFT_MSG_ERR_OVERLAP },
	};
	struct card_stream s;

	(void)state;
	start(NULL, (char *[]){ "--memory", "1", NULL });
	weft_admin *a = client(true);
	assert_int_equal(weft_admin_hello(a)->host_limit - base_of(a), M);
	stream_copy(&s, 1, 0, 2, 0, 64);
	for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		enum weft_msg_error e = submit(a, 1 + i, &s, bad[i].w, 2);
		if (e != bad[i].error)
			fail_msg("case %u: %s", i, weft_msg_error_name(e));
	}
	weft_admin_close(a);
}

/* ---- a death ---- */

/* One is killed with jobs queued and all of its memory in use; what it had is free, and another's job goes on as if nothing were. */
static void death_frees(void **state)
{
	static const struct weft_msg_window w[2] = { { 0x10000, 4096, WEFT_MSG_PERM_READ }, { 0x20000, 4096, WEFT_MSG_PERM_WRITE } };
	static uint8_t page[1 << 20], back[4096];
	struct card_stream s;
	struct weft_msg_client first;
	int ready[2];
	char byte;

	(void)state;
	start(NULL, NULL);
	weft_admin *b = client(true);
	memset(page, 3, sizeof(page));
	put(b, 0x10000, page, 4096);
	stream_copy(&s, 1, 0, 2, 0, 4096);
	assert_int_equal(run(b, 1, &s, w, 2), WEFT_MSG_RESULT_OK);
	const unsigned long before = process_kib(broker.pid, "VmRSS:");
	assert_int_equal(pipe(ready), 0);
	pid_t pid = child();
	if (!pid) {
		static const struct weft_msg_window all[2] = { { 0x1000000, 32 << 20, WEFT_MSG_PERM_READ }, { 0x20000, 4096, WEFT_MSG_PERM_WRITE } };
		weft_admin *a = client(true);
		memset(page, SECRET, sizeof(page));
		for (uint32_t at = 0x1000000; at < 0x3000000; at += sizeof(page))
			put(a, at, page, sizeof(page));
		run(a, 1, &s, all, 2);
		for (uint32_t k = 2; k < 10; k++)
			submit(a, k, &s, all, 2);
		_exit(write(ready[1], "x", 1) == 1 ? pause() : 1);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_true(process_kib(broker.pid, "VmRSS:") > before + (24 << 10));
	assert_int_equal(n_clients(b, &first), 2);
	assert_int_equal(first.pid, pid);
	assert_int_equal(first.on_card_kib, (32 << 10) + 4);
	assert_int_equal(submit(b, 2, &s, w, 2), WEFT_MSG_ERR_OK);
	kill(pid, SIGKILL);
	assert_int_equal(exit_of(pid), -1);
	assert_int_equal(wait_for(b, 2).result, WEFT_MSG_RESULT_OK);
	get(b, 0x20000, back, sizeof(back));
	for (size_t i = 0; i < sizeof(back); i++)
		assert_int_equal(back[i], 3);
	while (n_clients(b, &first) > 1)
		usleep(1000);
	assert_int_equal(first.on_card_kib, 8);
	if (!test_sanitized())
		assert_in_range(process_kib(broker.pid, "VmRSS:"), 0, before + (8 << 10));
	close(ready[0]);
	close(ready[1]);
	weft_admin_close(b);
}

/* More memory than the card has, among three: what does not fit goes and comes back. */
static void cards_memory_is_shared(void **state)
{
	static const struct weft_msg_window w[2] = { { 0x10000, 0x200000, WEFT_MSG_PERM_READ }, { 0x210000, 4096, WEFT_MSG_PERM_WRITE } };
	struct card_stream s;
	weft_admin *a[3];
	uint8_t page[4096];

	(void)state;
	start((char *[]){ "--dram", "4", NULL }, NULL);
	stream_copy(&s, 1, 0x1ff000, 2, 0, 4096);
	for (int i = 0; i < 3; i++) {
		a[i] = client(true);
		memset(page, 0x11 * (i + 1), sizeof(page));
		put(a[i], 0x10000 + 0x1ff000, page, sizeof(page));
	}
	for (uint32_t k = 1; k < 5; k++)
		for (int i = 0; i < 3; i++)
			assert_int_equal(submit(a[i], k, &s, w, 2), WEFT_MSG_ERR_OK);
	for (int i = 0; i < 3; i++) {
		for (uint32_t k = 1; k < 5; k++)
			assert_int_equal(wait_for(a[i], k).result, WEFT_MSG_RESULT_OK);
		get(a[i], 0x210000, page, sizeof(page));
		for (size_t n = 0; n < sizeof(page); n++)
			assert_int_equal(page[n], 0x11 * (i + 1));
	}
	for (int i = 0; i < 3; i++)
		weft_admin_close(a[i]);
}

/* ---- who may what ---- */

/* In a child: somebody without rights, whom the kernel tells the broker of. */
static void become_nobody(void)
{
	if (geteuid())
		return;
	if (setgroups(0, NULL) || setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		_exit(90);
}

#define MUST(x) do { if (!(x)) { fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); _exit(1); } } while (0)

/* Everything that only administrators may; image, of n bytes, is a firmware image that the real card would take. */
static void try_all(const uint8_t *image, size_t n)
{
	static const uint32_t orders[][3] = {
		{ WEFT_MSG_FW_BEGIN, 65536 }, { WEFT_MSG_FW_DATA, 0, 0 }, { WEFT_MSG_FW_END }, { WEFT_MSG_FW_SWITCH }, { WEFT_MSG_FW_BOOT, 1 },
		{ WEFT_MSG_FW_FLOOR, 9 }, { WEFT_MSG_REBOOT }, { WEFT_MSG_REG_READ, 0, 1 }, { WEFT_MSG_REG_WRITE, 64, 1 },
		{ WEFT_MSG_SELF_TEST, 1 }, { WEFT_MSG_LOG_READ, 0 },
	};
	static const unsigned lengths[] = { 2, 3, 1, 1, 2, 2, 1, 3, 3, 2, 2 };
	char msg[WEFT_ADMIN_MSG];
	uint32_t word = 0;

	/* First as an administrator's command comes, then as a driver. */
	for (int begun = 0; begun < 2; begun++) {
		weft_admin *a = client(begun);
		for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
			MUST(error_of(a, orders[i], lengths[i]) == WEFT_MSG_ERR_DENIED);
		weft_admin_close(a);
	}
	weft_admin *a = client(false);
	MUST(error_of(a, (uint32_t[]){ WEFT_MSG_SUBMIT, 1, 0, 0, 0x20000, 8, 0 }, 7) == WEFT_MSG_ERR_DENIED);
	MUST(weft_admin_read(a, base_of(a), &word, 4, msg) != 0);
	weft_admin_close(a);
	a = client(false);
	MUST(weft_admin_write(a, base_of(a), &word, 4, msg) != 0);
	weft_admin_close(a);
	a = client(false);
	MUST(weft_admin_reset(a, msg) == -EACCES);
	MUST(weft_admin_update(a, image, n, NULL, NULL, msg) == -EINVAL && strstr(msg, "administrators"));
	weft_admin_close(a);
	_exit(0);
}

/* The card itself is not for everyone; nothing of what was tried has reached it. */
static void others_are_refused(void **state)
{
	struct weft_msg_hello_reply before, after;
	char msg[WEFT_ADMIN_MSG];
	weft_admin *a;

	(void)state;
	card_process_start(&card, "BROKERED", NULL);
	assert_int_equal(weft_admin_open(card.where, 20000, &a, msg), 0);
	before = *weft_admin_hello(a);
	weft_admin_close(a);
	broker_process_start(&broker, (const struct card_process *const[]){ &card, NULL }, NULL);
	assert_int_equal(chmod(broker.path, 0666), 0);
	/* Read before: nobody may be kept out of the folder that the project lies in. */
	size_t n;
	uint8_t *image = card_file("weft-fw.img", &n);
	pid_t pid = child();
	if (!pid) {
		become_nobody();
		try_all(image, n);
	}
	free(image);
	assert_int_equal(exit_of(pid), 0);
	broker_process_stop(&broker);
	broker.pid = 0;
	assert_int_equal(weft_admin_open(card.where, 20000, &a, msg), 0);
	after = *weft_admin_hello(a);
	weft_admin_close(a);
	assert_memory_equal(&before, &after, sizeof(before));
}

/* An administrator has the card between other clients' jobs: memory of theirs, and jobs that wait, outlast an update. */
static void administrators_may(void **state)
{
	static const struct weft_msg_window w[2] = { { 0x10000, 4096, WEFT_MSG_PERM_READ }, { 0x20000, 4096, WEFT_MSG_PERM_WRITE } };
	const struct group *g = getgrgid(getegid());
	char name[64], msg[WEFT_ADMIN_MSG];
	struct weft_msg_reg_read_reply head[2];
	struct card_stream s;
	uint8_t page[4096];
	uint32_t word;
	size_t n;

	(void)state;
	assert_non_null(g);
	snprintf(name, sizeof(name), "%s", g->gr_name);
	start(NULL, (char *[]){ "--admin-group", name, NULL });
	weft_admin *b = client(true);
	memset(page, 7, sizeof(page));
	put(b, 0x10000, page, sizeof(page));
	stream_copy(&s, 1, 0, 2, 0, 4096);
	assert_int_equal(run(b, 1, &s, w, 2), WEFT_MSG_RESULT_OK);
	weft_admin *a = client(false);
	const uint32_t boots = weft_admin_hello(a)->boot_count;
	assert_int_equal(weft_admin_ask(a, (uint32_t[]){ WEFT_MSG_REG_READ, 0, 1 }, 3, (uint32_t *)head, 2, msg), 2);
	assert_int_equal(weft_admin_write(a, base_of(a) + 64, &(uint32_t){ 0x12345678 }, 4, msg), 0);
	assert_int_equal(weft_admin_read(a, base_of(a) + 64, &word, 4, msg), 0);
	assert_int_equal(word, 0x12345678);
	/* Meanwhile another client's job waits. */
	assert_int_equal(submit(b, 2, &s, w, 2), WEFT_MSG_ERR_OK);
	uint8_t *image = card_file("weft-fw.img", &n);
	if (weft_admin_update(a, image, n, NULL, NULL, msg))
		fail_msg("%s", msg);
	free(image);
	assert_true(weft_admin_hello(a)->boot_count > boots);
	assert_int_equal(weft_admin_reset(a, msg), 0);
	struct weft_msg_done_reply d;
	assert_true(weft_admin_ask(b, (uint32_t[]){ WEFT_MSG_DONE, 2 }, 2, (uint32_t *)&d, sizeof(d) / 4, msg) > 0);
	assert_int_equal(d.state, WEFT_MSG_STATE_QUEUED);
	weft_admin_close(a);
	assert_int_equal(wait_for(b, 2).result, WEFT_MSG_RESULT_OK);
	get(b, 0x20000, page, sizeof(page));
	for (size_t i = 0; i < sizeof(page); i++)
		assert_int_equal(page[i], 7);
	weft_admin_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(many_run_digits, stop),
		cmocka_unit_test_teardown(devices_tells, stop),
		cmocka_unit_test_teardown(plain_usb, stop),
		cmocka_unit_test_teardown(shares_are_equal, stop),
		cmocka_unit_test_teardown(jobs_are_ended, stop),
		cmocka_unit_test_teardown(long_jobs_are_stopped, stop),
		cmocka_unit_test_teardown(memory_is_ones_own, stop),
		cmocka_unit_test_teardown(streams_are_judged, stop),
		cmocka_unit_test_teardown(windows_are_judged, stop),
		cmocka_unit_test_teardown(death_frees, stop),
		cmocka_unit_test_teardown(cards_memory_is_shared, stop),
		cmocka_unit_test_teardown(others_are_refused, stop),
		cmocka_unit_test_teardown(administrators_may, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The card as a process of its own, reached over its socket: the driver
 * unmodified, the firmware that was built, the functional chip. What two
 * processes and two cards do, and how fast it is.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "../support/card_process.h"
#include "../support/level.h"
#include "../support/process.h"
#include "../support/random_stream.h"
#include "../support/shell.h"
#include "driver/clock.h"
#include "tools/card/redir_conn.h"
#include "weft/gen/cmd.h"
#include "weft/gen/msg.h"

#define BYTES 256

/* A child that ends with its parent, also when that one fails. */
static pid_t child(void)
{
	pid_t pid = fork();

	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

static int open_card(const struct card_process *c, unsigned wait_ms, weft_dev **dev, char *msg)
{
	struct weft_dev_options o = weft_dev_options_default();

	o.kind = WEFT_DEV_USB;
	o.usb = c->where;
	o.usb_wait_ms = wait_ms;
	return weft_dev_open(&o, dev, msg);
}

static weft_dev *must_open(const struct card_process *c)
{
	char msg[WEFT_DEV_MSG] = "";
	weft_dev *dev = NULL;

	if (open_card(c, 5000, &dev, msg))
		fail_msg("%s", msg);
	return dev;
}

/* Copies BYTES from the constants to the arena. */
struct copy {
	uint64_t words[64];
	size_t n;
	struct weft_window win[2];
};

static void copy_make(struct copy *k, weft_dev *dev)
{
	struct weft_cmd c;

	memset(k, 0, sizeof(*k));
	for (int i = 0; i < 2; i++) {
		weft_cmd_init(&c, i ? WEFT_CMD_STORE : WEFT_CMD_LOAD);
		c.load.window = i ? WEFT_WIN_ARENA : WEFT_WIN_CONST;
		c.load.row_bytes = BYTES;
		c.h.wait[WEFT_UNIT_LD] = i;
		k->n += weft_cmd_encode(&c, k->words + k->n);
	}
	weft_cmd_init(&c, WEFT_CMD_END);
	k->n += weft_cmd_encode(&c, k->words + k->n);
	k->win[0].rd = k->win[1].rd = k->win[1].wr = true;
	for (int i = 0; i < 2; i++)
		assert_int_equal(weft_buf_alloc(dev, BYTES, &k->win[i].buf), 0);
}

static void copy_free(struct copy *k)
{
	weft_buf_free(k->win[0].buf);
	weft_buf_free(k->win[1].buf);
}

static weft_job copy_submit(struct copy *k, weft_dev *dev, uint8_t value)
{
	uint8_t in[BYTES];
	weft_job job = 0;

	memset(in, value, sizeof(in));
	int err = weft_buf_write(k->win[0].buf, 0, in, sizeof(in));
	if (!err)
		err = weft_submit(dev, k->words, k->n, k->win, 2, &job);
	if (err)
		fail_msg("submit: %d %s", err, weft_dev_error(dev));
	return job;
}

static void copy_wait(struct copy *k, weft_dev *dev, weft_job job, uint8_t value)
{
	struct weft_job_result r;
	uint8_t out[BYTES];

	assert_int_equal(weft_wait(dev, job, 10000, &r), 0);
	if (r.status)
		fail_msg("job: %d %s", r.status, weft_dev_error(dev));
	assert_int_equal(weft_buf_read(k->win[1].buf, 0, out, sizeof(out)), 0);
	for (int i = 0; i < BYTES; i++)
		assert_int_equal(out[i], value);
}

static double seconds_since(uint64_t begin)
{
	return (double)(weft_now_ns() - begin) * 1e-9;
}

/* Input written, job run, output read and compared: N times, and several in flight. */
static void test_speed(void **state)
{
	struct card_process c;
	struct copy k[8];
	weft_job job[8] = { 0 };
	long n = test_count(200, 500, 20000);

	(void)state;
	card_process_start(&c, "SPEED", NULL);
	weft_dev *dev = must_open(&c);
	for (int i = 0; i < 8; i++)
		copy_make(&k[i], dev);
	copy_wait(&k[0], dev, copy_submit(&k[0], dev, 7), 7);
	uint64_t begin = weft_now_ns(), cpu = weft_cpu_ns();
	for (long i = 0; i < n; i++)
		copy_wait(&k[0], dev, copy_submit(&k[0], dev, (uint8_t)i), (uint8_t)i);
	double one = seconds_since(begin), own = (double)(weft_cpu_ns() - cpu) * 1e-9;
	begin = weft_now_ns();
	for (long i = 0; i < n + 8; i++) {
		if (i >= 8)
			copy_wait(&k[i % 8], dev, job[i % 8], (uint8_t)(i - 8));
		if (i < n)
			job[i % 8] = copy_submit(&k[i % 8], dev, (uint8_t)i);
	}
	double many = seconds_since(begin);
	begin = weft_now_ns();
	for (long i = 0; i < n + 8; i++) {
		struct weft_job_result r;
		if (i >= 8) {
			assert_int_equal(weft_wait(dev, job[i % 8], 10000, &r), 0);
			assert_int_equal(r.status, 0);
		}
		if (i < n)
			assert_int_equal(weft_submit(dev, k[i % 8].words, k[i % 8].n, k[i % 8].win, 2, &job[i % 8]), 0);
	}
	double bare = seconds_since(begin);
	printf("jobs/s over the socket: %.0f one at a time, %.0f with eight in flight, %.0f without input and output; "
	       "the driver itself %.1f us a job\n", (double)n / one, (double)n / many, (double)n / bare, own / (double)n * 1e6);
	fflush(stdout);
	for (int i = 0; i < 8; i++)
		copy_free(&k[i]);
	weft_dev_close(dev);
	card_process_stop(&c);
}

/* Buffers of some megabytes there and back. */
static void test_bulk(void **state)
{
	size_t n = 8u << 20;
	uint8_t *a = malloc(n), *b = calloc(1, n);
	struct card_process c;
	struct copy k;
	weft_buf *big;
	struct weft_job_result r;
	weft_job job;

	(void)state;
	card_process_start(&c, "BULK", NULL);
	weft_dev *dev = must_open(&c);
	copy_make(&k, dev);
	for (size_t i = 0; i < n; i++)
		a[i] = (uint8_t)(i * 2654435761u >> 13);
	assert_int_equal(weft_buf_alloc(dev, n, &big), 0);
	assert_int_equal(weft_buf_write(big, 0, a, n), 0);
	/* A window that the job may write: all of it is the card's afterwards. */
	const struct weft_window win[3] = { k.win[0], k.win[1], { .buf = big, .rd = true, .wr = true } };
	uint64_t begin = weft_now_ns();
	assert_int_equal(weft_submit(dev, k.words, k.n, win, 3, &job), 0);
	assert_int_equal(weft_wait(dev, job, 20000, &r), 0);
	assert_int_equal(r.status, 0);
	double out = seconds_since(begin);
	begin = weft_now_ns();
	assert_int_equal(weft_buf_read(big, 0, b, n), 0);
	double in = seconds_since(begin);
	assert_memory_equal(a, b, n);
	printf("MB/s over the socket: %.0f to the card, %.0f from it\n", (double)n / out * 1e-6, (double)n / in * 1e-6);
	fflush(stdout);
	weft_buf_free(big);
	copy_free(&k);
	weft_dev_close(dev);
	card_process_stop(&c);
	free(a);
	free(b);
}

/* What is read of a discarded buffer is what the card has there, as before a job so behind it. */
static void test_discarded(void **state)
{
	uint8_t was[2 * BYTES], is[2 * BYTES];
	struct weft_job_result r;
	struct card_process c;
	weft_buf *old, *buf;
	struct copy k;
	weft_job job;

	(void)state;
	card_process_start(&c, "DISCARD", NULL);
	weft_dev *dev = must_open(&c);
	copy_make(&k, dev);
	/* Card memory that somebody has used before. */
	assert_int_equal(weft_buf_alloc(dev, sizeof(was), &old), 0);
	memset(was, 0x5a, sizeof(was));
	assert_int_equal(weft_buf_write(old, 0, was, sizeof(was)), 0);
	const struct weft_window fill[3] = { k.win[0], k.win[1], { .buf = old, .rd = true } };
	assert_int_equal(weft_submit(dev, k.words, k.n, fill, 3, &job), 0);
	assert_int_equal(weft_wait(dev, job, 10000, &r), 0);
	assert_int_equal(r.status, 0);
	weft_buf_free(old);
	assert_int_equal(weft_buf_alloc(dev, sizeof(was), &buf), 0);
	assert_int_equal(weft_buf_discard(buf), 0);
	memset(is, 7, BYTES);
	assert_int_equal(weft_buf_write(buf, BYTES / 2, is, BYTES), 0);
	assert_int_equal(weft_buf_read(buf, 0, was, sizeof(was)), 0);
	assert_memory_equal(was + BYTES / 2, is, BYTES);
	/* A job that may write it, and does not. */
	const struct weft_window win[3] = { k.win[0], k.win[1], { .buf = buf, .rd = true, .wr = true } };
	assert_int_equal(weft_submit(dev, k.words, k.n, win, 3, &job), 0);
	assert_int_equal(weft_wait(dev, job, 10000, &r), 0);
	assert_int_equal(r.status, 0);
	assert_int_equal(weft_buf_read(buf, 0, is, sizeof(is)), 0);
	assert_memory_equal(was, is, sizeof(was));
	assert_int_equal(is[0], 0x5a);
	weft_buf_free(buf);
	copy_free(&k);
	weft_dev_close(dev);
	card_process_stop(&c);
}

/* With --pace a job does not end before its cycles are over. */
static void test_pace(void **state)
{
	struct card_process c;
	struct weft_cmd load;
	struct weft_job_result r;
	uint64_t words[64];
	size_t n = 0;
	struct copy k;
	weft_job job;

	(void)state;
	card_process_start(&c, "PACE", (char *[]){ "--pace", "20000", NULL });
	weft_dev *dev = must_open(&c);
	copy_make(&k, dev);
	/* One byte, again and again: many cycles that are soon simulated. */
	weft_cmd_init(&load, WEFT_CMD_LOAD);
	load.load.window = WEFT_WIN_CONST;
	load.load.row_bytes = 1;
	load.load.n1 = load.load.n2 = 700;
	n += weft_cmd_encode(&load, words + n);
	weft_cmd_init(&load, WEFT_CMD_END);
	n += weft_cmd_encode(&load, words + n);
	for (int i = 0; i < 5; i++) {
		const uint64_t begin = weft_now_ns();
		if (weft_submit(dev, words, n, k.win, 2, &job) || weft_wait(dev, job, 10000, &r) || r.status)
			fail_msg("%s", weft_dev_error(dev));
		assert_true(r.cycles >= 490000);
		assert_true(weft_now_ns() - begin >= r.cycles * 50);
	}
	copy_free(&k);
	weft_dev_close(dev);
	card_process_stop(&c);
}

/* One card, two who want it: the second is told who has it, and gets it afterwards. */
static void test_in_use(void **state)
{
	struct card_process c;
	struct copy k;
	char msg[WEFT_DEV_MSG] = "", want[64];
	weft_dev *other = NULL;
	int pipes[2][2];
	char byte;

	(void)state;
	card_process_start(&c, "SHARED", NULL);
	assert_int_equal(pipe(pipes[0]) | pipe(pipes[1]), 0);
	pid_t pid = child();
	if (!pid) {
		weft_dev *dev = NULL;
		int bad = open_card(&c, 5000, &dev, msg);
		if (write(pipes[0][1], "x", 1) != 1 || read(pipes[1][0], &byte, 1) != 1)
			bad = 1;
		weft_dev_close(dev);
		_exit(bad != 0);
	}
	assert_int_equal(read(pipes[0][0], &byte, 1), 1);
	assert_int_equal(open_card(&c, 0, &other, msg), -EBUSY);
	snprintf(want, sizeof(want), "(pid %d)", (int)pid);
	if (!strstr(msg, "in use by") || !strstr(msg, want))
		fail_msg("message is \"%s\", process %d", msg, (int)pid);
	int status;
	assert_int_equal(write(pipes[1][1], "x", 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	other = must_open(&c);
	copy_make(&k, other);
	copy_wait(&k, other, copy_submit(&k, other, 9), 9);
	copy_free(&k);
	weft_dev_close(other);
	card_process_stop(&c);
}

/* Two cards, two processes, at the same time; each gets its own bytes. */
static void test_two_cards(void **state)
{
	struct card_process c[2];
	pid_t pid[2];

	(void)state;
	card_process_start(&c[0], "LEFT", NULL);
	card_process_start(&c[1], "RIGHT", NULL);
	for (int i = 0; i < 2; i++) {
		pid[i] = child();
		if (pid[i])
			continue;
		char msg[WEFT_DEV_MSG] = "";
		struct weft_card_info info;
		struct copy k;
		weft_dev *dev;
		if (open_card(&c[i], 5000, &dev, msg) || weft_dev_card(dev, &info) ||
		    strcmp(info.serial, i ? "RIGHT" : "LEFT"))
			_exit(1);
		copy_make(&k, dev);
		for (int n = 0; n < 100; n++)
			copy_wait(&k, dev, copy_submit(&k, dev, (uint8_t)(n + 100 * i)), (uint8_t)(n + 100 * i));
		copy_free(&k);
		weft_dev_close(dev);
		_exit(0);
	}
	for (int i = 0; i < 2; i++) {
		int status = -1;
		assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
		assert_int_equal(status, 0);
	}
	card_process_stop(&c[0]);
	card_process_stop(&c[1]);
}

/* The cable is pulled while jobs are on their way: an error, and soon; then the same process goes on. */
static void test_unplug(void **state)
{
	struct card_process c;
	struct copy k;
	struct weft_job_result r;
	char msg[WEFT_DEV_MSG] = "";
	weft_dev *dev, *again = NULL;

	(void)state;
	card_process_start(&c, "PULLED", NULL);
	dev = must_open(&c);
	copy_make(&k, dev);
	copy_wait(&k, dev, copy_submit(&k, dev, 1), 1);
	kill(c.pid, SIGUSR1);
	weft_job job = 0;
	int err;
	/* Jobs run until the card has seen the signal. The limit is less than the driver takes to give up a card that is silent. */
	do {
		err = weft_submit(dev, k.words, k.n, k.win, 2, &job);
		if (!err) {
			assert_int_equal(weft_finish(dev, job, 10000, &r), 0);
			err = r.status;
		}
	} while (!err);
	assert_int_equal(err, -ENODEV);
	assert_int_equal(weft_submit(dev, k.words, k.n, k.win, 2, &job), -ENODEV);
	copy_free(&k);
	weft_dev_close(dev);
	assert_int_equal(open_card(&c, 0, &again, msg), -ENODEV);
	kill(c.pid, SIGUSR2);
	again = must_open(&c);
	copy_make(&k, again);
	copy_wait(&k, again, copy_submit(&k, again, 2), 2);
	copy_free(&k);
	weft_dev_close(again);
	card_process_stop(&c);
}

#define HANGS 6

/*
 * A core that hangs between a job and the reading of what the job wrote takes that with it; the job's result
 * has to be discarded before the buffer is used again. Each of the hangs can do so once, so one try more than
 * there are hangs must succeed.
 */
static void copy_until_kept(struct copy *k, weft_dev *dev, uint8_t value)
{
	uint8_t out[BYTES];
	int err = -ECONNRESET;

	for (int i = 0; i < HANGS + 1 && err == -ECONNRESET; i++) {
		struct weft_job_result r;
		assert_int_equal(weft_wait(dev, copy_submit(k, dev, value), 10000, &r), 0);
		err = r.status ? r.status : weft_buf_read(k->win[1].buf, 0, out, sizeof(out));
		if (err == -ECONNRESET)
			assert_int_equal(weft_buf_discard(k->win[1].buf), 0);
	}
	if (err)
		fail_msg("job or read: %d %s", err, weft_dev_error(dev));
	for (int i = 0; i < BYTES; i++)
		assert_int_equal(out[i], value);
}

/* Firmware that hangs, again and again: the watchdog starts it anew, the driver repeats what was lost. */
static void test_hang(void **state)
{
	char *const extra[2 * HANGS + 1] = { "--fault", "hang@40", "--fault", "hang@51", "--fault", "hang@62", "--fault", "hang@73",
		"--fault", "hang@84", "--fault", "hang@95", NULL };
	struct weft_card_info info, later;
	struct card_process c;
	struct copy k;

	(void)state;
	card_process_start(&c, "HANGS", extra);
	weft_dev *dev = must_open(&c);
	copy_make(&k, dev);
	for (int i = 0; i < 40; i++)
		copy_until_kept(&k, dev, (uint8_t)(i + 1));
	assert_int_equal(weft_dev_card(dev, &info), 0);
	copy_free(&k);
	weft_dev_close(dev);
	dev = must_open(&c);
	assert_int_equal(weft_dev_card(dev, &later), 0);
	printf("%u starts; %llu link resets, %llu chip resets, %llu jobs repeated\n", later.boot_count,
	       (unsigned long long)info.link_resets, (unsigned long long)info.chip_resets,
	       (unsigned long long)info.jobs_repeated);
	fflush(stdout);
	assert_int_equal(later.boot_count, 7);
	weft_dev_close(dev);
	card_process_stop(&c);
}

/* weft run on such a card; its exit status, and what it said. */
static int run_command(const char *name, const char *fault, const char *more, char *text, size_t len)
{
	char *const extra[] = { "--fault", (char *)fault, NULL };
	struct card_process c;

	card_process_start(&c, name, extra);
	int status = run_line(text, len, "run tests/models/digits_int8.tflite --device %s --wait 5000 --check %s", c.device, more);
	card_process_stop(&c);
	return status;
}

/* One bit of card memory is wrong, before the stream runs or between that and the check: found and named. */
static void test_memory_error(void **state)
{
	char text[8192], fault[64], file[128], capture[160];

	(void)state;
	test_path(file, sizeof(file), "bits-%d.wcap", (int)getpid());
	snprintf(capture, sizeof(capture), "--capture %s", file);
	for (int at = 9; at < 13; at++) {
		snprintf(fault, sizeof(fault), "memory@%d,%u", at, 0x12000 * 8 + 3);
		int status = run_command("BITS", fault, at == 9 ? capture : "", text, sizeof(text));
		if (status != 1 || !strstr(text, "first difference: operator 2 CONV_2D, tensor conv3"))
			fail_msg("%s: exit status %d: %s", fault, status, text);
	}
	/* The capture holds what was in the card's memory: replayed in simulation it goes wrong as the card did. */
	run_line(text, sizeof(text), "replay %s --device model", file);
	unlink(file);
	if (!strstr(text, "\"conv3\"") || !strstr(text, "memory: 1 bytes of the constants differ") ||
	    !strstr(text, "\nreproduced: the simulation leaves the device's memory"))
		fail_msg("replay: %s", text);
}

/* Firmware hangs at some transfer of a network's run: the run starts over if it has to, and is right. */
static void test_hang_in_run(void **state)
{
	char text[8192], fault[64];

	(void)state;
	for (int at = 6; at < 24; at += test_level() ? 1 : 5) {
		snprintf(fault, sizeof(fault), "hang@%d", at);
		int status = run_command("HUNG", fault, "", text, sizeof(text));
		if (status || !strstr(text, " 0 mismatches"))
			fail_msg("%s: exit status %d: %s", fault, status, text);
	}
}

/* What the commands refuse: one line, exit status 2 or 3. */
static void test_bad(void **state)
{
	static const struct { const char *line, *says; int status; } bad[] = {
		{ "weft-card", "neither --listen nor --usbip", 2 },
		{ "weft-card --listen /tmp/x --chip gold", "\"gold\" is not model or rtl", 2 },
		{ "weft-card --listen /tmp/x --fault burn@1", "\"burn@1\" is not KIND@N", 2 },
		{ "weft-card --listen /tmp/x --serial 12345678901234567", "is not 1 to 16 characters", 2 },
		{ "weft-card --listen /nowhere/x", "/nowhere/x: No such file", 2 },
		{ "weft-card --usbip 99999", "\"99999\" is not a port", 2 },
		{ "weft-card --listen", "--listen wants a value", 2 },
		{ "weft-card --listen /tmp/x --gold", "option --gold is not known", 2 },
		{ "weft-card --listen /tmp/x --dram 17592186044417", "is not 1 to 1024 MiB", 2 },
		{ "weft-card --listen /tmp/x --flash /dev/full", "/dev/full: not a file of 4 MiB", 2 },
		{ "weft-card --listen /tmp/x --flash $TMPDIR/flash --image /nowhere", "/nowhere: No such file", 2 },
		/* Only sockets are taken away. */
		{ "weft-card --listen tests/models/README.md", "tests/models/README.md: Address already in use", 2 },
		{ "weft run tests/models/digits_int8.tflite --device usb:@/tmp/nobody", "no simulated card answers at /tmp/nobody", 3 },
		{ "weft run tests/models/digits_int8.tflite --device usb:", "is not golden, model, rtl, usb", 2 },
		{ "weft devices usb:@/tmp/nobody", "", 3 },
	};

	glob_t left;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char line[512], text[4096];
		snprintf(line, sizeof(line), "%s/%s 2>&1", test_env("WEFT_BUILD", "build"), bad[i].line);
		FILE *f = popen(line, "r");
		assert_non_null(f);
		size_t n = fread(text, 1, sizeof(text) - 1, f);
		text[n] = '\0';
		int status = WEXITSTATUS(pclose(f));
		if (status != bad[i].status || !strstr(text, bad[i].says) || !n || strchr(text, '\n') != text + n - 1)
			fail_msg("%s: exit status %d: %s", bad[i].line, status, text);
	}
	/* A path that a file has already leaves no socket beside it. */
	assert_int_equal(glob("tests/models/README.md.*", 0, NULL, &left), GLOB_NOMATCH);
}

static atomic_bool over;

/* Connects to the socket at path p again and again until `over` is set. Returns p if a connection was refused, else NULL. */
static void *connects(void *p)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	void *bad = NULL;

	strcpy(a.sun_path, p);
	while (!over && !bad) {
		const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a)) && errno == ECONNREFUSED)
			bad = p;
		if (fd >= 0)
			close(fd);
	}
	return bad;
}

/* A card's socket accepts connections as soon as its path exists. */
static void test_path_is_last(void **state)
{
	enum { ROUNDS = 500 };
	char path[256], msg[256] = "";
	int fds[ROUNDS];
	pthread_t other;
	void *refused;

	(void)state;
	test_path(path, sizeof(path), "last-%d.sock", (int)getpid());
	over = false;
	assert_int_equal(pthread_create(&other, NULL, connects, path), 0);
	for (int i = 0; i < ROUNDS; i++) {
		fds[i] = redir_bind(path, msg, sizeof(msg));
		if (fds[i] < 0)
			fail_msg("%s", msg);
		/* The socket stays open: the other thread may have found the path before it is removed, and must not be refused then. */
		unlink(path);
	}
	over = true;
	assert_int_equal(pthread_join(other, &refused), 0);
	for (int i = 0; i < ROUNDS; i++)
		close(fds[i]);
	assert_null(refused);
}

/* ---- USB/IP, as the kernel's vhci speaks it ---- */

static void all(int fd, void *p, size_t n, bool out)
{
	for (size_t at = 0; at < n; ) {
		ssize_t k = out ? write(fd, (char *)p + at, n - at) : read(fd, (char *)p + at, n - at);
		if (k <= 0)
			fail_msg("USB/IP: the connection ended");
		at += (size_t)k;
	}
}

static void submit_urb(int fd, uint32_t seq, uint32_t ep, bool in, uint32_t len, const uint8_t *setup, void *data)
{
	uint32_t h[12] = { htonl(1), htonl(seq), htonl(1 << 16 | 1), htonl(in), htonl(ep), 0, htonl(len) };

	if (setup)
		memcpy(h + 10, setup, 8);
	all(fd, h, sizeof(h), true);
	if (!in && len)
		all(fd, data, len, true);
}

/* Returns the status; the data of an IN. */
static int urb_ret(int fd, uint32_t seq, bool in, void *data, uint32_t *actual)
{
	uint32_t h[12];

	all(fd, h, sizeof(h), false);
	assert_int_equal(ntohl(h[0]), 3);
	assert_int_equal(ntohl(h[1]), seq);
	*actual = ntohl(h[6]);
	if (in && *actual)
		all(fd, data, *actual, false);
	return (int)ntohl(h[5]);
}

static void usbip(bool usb_phy)
{
	static const uint8_t get_device[8] = { 0x80, 6, 0, 1, 0, 0, 64, 0 }, reset[8] = { 0x40, WEFT_USB_REQ_LINK_RESET };
	static const uint8_t unknown[8] = { 0xc0, 0x77, 0, 0, 0, 0, 4, 0 };
	const unsigned port = free_port();
	char text[8];
	char *const extra[] = { "--usbip", text, usb_phy ? "--usb-phy" : NULL, NULL };
	uint8_t buf[512], list[8 + 4 + 312 + 4], ask[40] = { 1, 0x11, 0x80, 3 };
	const uint8_t *want;
	size_t n_want;
	struct weft_msg_hello m = { WEFT_MSG_HELLO, WEFT_MSG_VERSION_VALUE, 1 };
	struct weft_msg_hello_reply h;
	uint32_t n, w[4];
	struct card_process c;

	snprintf(text, sizeof(text), "%u", port);
	card_process_start(&c, "IP", extra);
	int fd = connect_port(port);
	all(fd, (uint8_t[]){ 1, 0x11, 0x80, 5, 0, 0, 0, 0 }, 8, true);
	all(fd, list, sizeof(list), false);
	assert_int_equal(list[11], 1);
	assert_string_equal((char *)list + 12 + 256, "1-1");
	strcpy((char *)ask + 8, "1-1");
	all(fd, ask, sizeof(ask), true);
	all(fd, list, 8 + 312, false);
	assert_int_equal(list[7], 0);
	assert_int_equal(list[8 + 299], usb_phy ? 2 : 3);      /* full speed, high speed */
	submit_urb(fd, 1, 0, true, 64, get_device, NULL);
	assert_int_equal(urb_ret(fd, 1, true, buf, &n), 0);
	want = weft_usb_descriptor(WEFT_USB_DESCRIPTOR_DEVICE, &n_want);
	assert_int_equal(n, n_want);
	assert_memory_equal(buf, want, n);
	submit_urb(fd, 2, 0, true, 4, unknown, NULL);
	assert_int_equal(urb_ret(fd, 2, true, buf, &n), -EPIPE);
	submit_urb(fd, 3, 0, false, 0, reset, NULL);
	assert_int_equal(urb_ret(fd, 3, false, NULL, &n), 0);
	/* HELLO, as a frame. */
	w[0] = WEFT_FRAME_MAGIC | WEFT_FRAME_MSG << 8 | 7 << 16;
	w[1] = 0;
	w[2] = sizeof(m);
	w[3] = (uint32_t)crc32(0, (uint8_t *)w, 12);
	memcpy(buf, w, 16);
	memcpy(buf + 16, &m, sizeof(m));
	w[0] = (uint32_t)crc32(0, (uint8_t *)&m, sizeof(m));
	memcpy(buf + 16 + sizeof(m), w, 4);
	submit_urb(fd, 4, 1, true, 512, NULL, NULL);
	submit_urb(fd, 5, 1, false, 20 + sizeof(m), NULL, buf);
	assert_int_equal(urb_ret(fd, 5, false, NULL, &n), 0);
	assert_int_equal(urb_ret(fd, 4, true, buf, &n), 0);
	assert_int_equal(n, 20 + sizeof(h));
	memcpy(&h, buf + 16, sizeof(h));
	assert_int_equal(h.head, WEFT_MSG_HELLO | WEFT_MSG_REPLY);
	assert_string_equal((char *)h.serial, "IP");
	/* Nobody else gets it meanwhile. */
	char msg[WEFT_DEV_MSG] = "";
	weft_dev *other = NULL;
	assert_int_equal(open_card(&c, 0, &other, msg), -EBUSY);
	assert_non_null(strstr(msg, "in use by a host that came over USB/IP"));
	/* An IN that is taken back. */
	submit_urb(fd, 6, 1, true, 512, NULL, NULL);
	uint32_t unlink_urb[12] = { htonl(2), htonl(7), htonl(1 << 16 | 1), 0, 0, htonl(6) };
	all(fd, unlink_urb, sizeof(unlink_urb), true);
	all(fd, unlink_urb, sizeof(unlink_urb), false);
	assert_int_equal(ntohl(unlink_urb[0]), 4);
	assert_int_equal((int)ntohl(unlink_urb[5]), -104);
	close(fd);
	/* And afterwards over the other way, as soon as that is noticed. */
	int err = -EBUSY;
	for (int i = 0; i < 250 && err == -EBUSY; i++) {
		usleep(20000);
		err = open_card(&c, 0, &other, msg);
	}
	assert_int_equal(err, 0);
	weft_dev_close(other);
	card_process_stop(&c);
}

static void test_usbip(void **state)
{
	(void)state;
	usbip(false);
}

/* The same through the Verilated USB device, at full speed. */
static void test_usbip_phy(void **state)
{
	(void)state;
	usbip(true);
}

/* w8 and w8b have the same config register: their features tell them apart. */
static void test_features(void **state)
{
	struct weft_dev_options o = weft_dev_options_default();
	struct weft_card_info info;
	char msg[WEFT_DEV_MSG] = "";
	weft_dev *dev = NULL;
	struct card_process c;

	(void)state;
	card_process_start(&c, "FEATURES", (char *[]){ "--config", "w8b", NULL });
	o.kind = WEFT_DEV_USB;
	o.usb = c.where;
	o.usb_wait_ms = 5000;
	o.config = "w8";
	assert_int_equal(weft_dev_open(&o, &dev, msg), -EPROTO);
	assert_string_equal(msg, "usb: card has configuration w8b, not w8 (--config w8b)");
	o.config = "w8b";
	assert_int_equal(weft_dev_open(&o, &dev, msg), 0);
	assert_int_equal(weft_dev_card(dev, &info), 0);
	assert_string_equal(info.config, "w8b");
	weft_dev_close(dev);
	/* Without a name it is whichever the card has. */
	o.config = NULL;
	assert_int_equal(weft_dev_open(&o, &dev, msg), 0);
	assert_int_equal(weft_dev_card(dev, &info), 0);
	assert_string_equal(info.config, "w8b");
	weft_dev_close(dev);
	const char *build = test_env("WEFT_BUILD", "build");
	assert_int_equal(shell("'%s/weft' run tests/models/digits_int8.tflite --device '%s' --check | grep ' 0 mismatches'", build, c.device), 0);
	assert_int_equal(shell("'%s/weft' diag identify --device '%s' | grep '^identify *passed *card FEATURES, w8b,'", build, c.device), 0);
	card_process_stop(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_speed), cmocka_unit_test(test_bulk), cmocka_unit_test(test_discarded), cmocka_unit_test(test_pace), cmocka_unit_test(test_in_use),
		cmocka_unit_test(test_two_cards), cmocka_unit_test(test_unplug), cmocka_unit_test(test_hang),
		cmocka_unit_test(test_memory_error), cmocka_unit_test(test_hang_in_run), cmocka_unit_test(test_usbip), cmocka_unit_test(test_usbip_phy),
		cmocka_unit_test(test_path_is_last), cmocka_unit_test(test_bad), cmocka_unit_test(test_features),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

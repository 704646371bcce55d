/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one client, the machine or the card may do to weft-broker, and what others notice of it: connections that say
 * nothing, read nothing or send anything, no descriptors, too many clients, a card that hangs or is unplugged. And how it
 * is started: by systemd, as root, wrongly. Some 15 s.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <usbredirparser.h>
#include <zlib.h>

#include <cmocka.h>

#include <weft/admin.h>

#include "driver/clock.h"
#include "include/le.h"
#include "tests/support/card_process.h"
#include "tests/support/level.h"
#include "tests/support/process.h"
#include "tests/support/tensors.h"

#define DIGITS "run tests/models/digits_int8.tflite --check -i tests/models/digits/000_label0.png --device "

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

/* Others are served, with right results. */
static void digits_run(void)
{
	char text[8192];
	int status = run_line(text, sizeof(text), DIGITS "%s", broker.device);

	if (status || !strstr(text, ": 0 mismatches"))
		fail_msg("status %d: %s", status, text);
}

/* As much as the other side takes, until it takes nothing for half a second or hangs up. @return bytes */
static size_t pour(int fd, const void *p, size_t n)
{
	uint64_t until = weft_now_ns() + 500000000;
	size_t all = 0;

	while (all < n && weft_now_ns() < until) {
		ssize_t k = send(fd, (const uint8_t *)p + all, n - all, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (k > 0) {
			all += (size_t)k;
			until = weft_now_ns() + 500000000;
		} else if (errno == EAGAIN) {
			usleep(1000);
		} else {
			break;
		}
	}
	return all;
}

/* ---- connections ---- */

static void silence_ends(void **state)
{
	uint8_t byte[4096];
	ssize_t n;

	(void)state;
	start(NULL, (char *[]){ "--handshake-ms", "300", NULL });
	int fd = connect_unix(broker.path);
	while ((n = recv(fd, byte, sizeof(byte), 0)) > 0)
		;
	assert_int_equal(n, 0);
	close(fd);
	digits_run();
}

static void no_descriptors(void **state)
{
	struct rlimit none = { 3, 0 }, was;

	(void)state;
	start(NULL, NULL);
	digits_run();
	assert_int_equal(prlimit(broker.pid, RLIMIT_NOFILE, NULL, &was), 0);
	none.rlim_max = was.rlim_max;
	assert_int_equal(prlimit(broker.pid, RLIMIT_NOFILE, &none, NULL), 0);
	const unsigned long idle = process_ms_of_second(broker.pid);
	int fd = connect_unix(broker.path);
	const unsigned long used = process_ms_of_second(broker.pid);
	/* A loop that does not wait takes the whole second. The broker's own time depends on the machine. */
	assert_in_range(used, 0, 100 + 2 * idle);
	/* It is served when there are some again. */
	assert_int_equal(prlimit(broker.pid, RLIMIT_NOFILE, &was, NULL), 0);
	digits_run();
	close(fd);
}

static void too_many(void **state)
{
	char msg[WEFT_ADMIN_MSG];
	weft_admin *a[3];

	(void)state;
	start(NULL, (char *[]){ "--clients", "2", NULL });
	for (int i = 0; i < 2; i++)
		assert_int_equal(weft_admin_open(broker.where, 20000, &a[i], msg), 0);
	assert_int_equal(weft_admin_open(broker.where, 20000, &a[2], msg), -EBUSY);
	if (!strstr(msg, "is in use by 2 clients of the broker"))
		fail_msg("%s", msg);
	weft_admin_close(a[0]);
	while (weft_admin_open(broker.where, 20000, &a[0], msg))
		usleep(1000);
	weft_admin_close(a[0]);
	weft_admin_close(a[1]);
}

static void garbage(void **state)
{
	static uint8_t bytes[1 << 16];
	uint64_t rng = 7;

	(void)state;
	start(NULL, NULL);
	for (int i = 0; i < 40; i++) {
		int fd = connect_unix(broker.path);
		for (size_t k = 0; k < sizeof(bytes); k++)
			bytes[k] = i % 4 ? (uint8_t)test_random(&rng) : 0;
		/* A header whose length is all that the parser would take memory for. */
		if (i % 4 == 1)
			memcpy(bytes, (const uint8_t[]){ 0, 0, 0, 0, 0xff, 0xff, 0xff, 0x07, 0, 0, 0, 0 }, 12);
		pour(fd, bytes, sizeof(bytes));
		close(fd);
	}
	digits_run();
}

/* ---- a client that speaks usb-redir, and reads nothing ---- */

static int put_out(void *priv, uint8_t *data, int count)
{
	return (int)pour(*(int *)priv, data, (size_t)count);
}

static int take_in(void *priv, uint8_t *data, int count)
{
	(void)priv;
	(void)data;
	(void)count;
	return 0;
}

static void quiet(void *priv, int level, const char *text)
{
	(void)priv;
	(void)level;
	(void)text;
}

static void on_hello(void *priv, struct usb_redir_hello_header *h)
{
	(void)priv;
	(void)h;
}

static struct usbredirparser *speak(int *fd)
{
	uint32_t caps[USB_REDIR_CAPS_SIZE] = { 0 };
	struct usbredirparser *p = usbredirparser_create();

	*fd = connect_unix(broker.path);
	p->priv = fd;
	p->log_func = quiet;
	p->read_func = take_in;
	p->write_func = put_out;
	p->hello_func = on_hello;
	usbredirparser_init(p, "test", caps, USB_REDIR_CAPS_SIZE, 0);
	return p;
}

static size_t put_frame(uint8_t *p, uint8_t type, uint32_t addr, uint32_t len, const void *body)
{
	p[0] = WEFT_FRAME_MAGIC;
	p[1] = type;
	p[2] = 1;
	p[3] = 0;
	put32(p + 4, addr);
	put32(p + 8, len);
	put32(p + 12, (uint32_t)crc32(0, p, 12));
	if (!body)
		return 16;
	memcpy(p + 16, body, len);
	put32(p + 16 + len, (uint32_t)crc32(0, p + 16, len));
	return 20 + len;
}

static void send_out(struct usbredirparser *p, uint64_t id, const uint8_t *data, size_t n)
{
	struct usb_redir_bulk_packet_header h = { .endpoint = WEFT_USB_EP_OUT, .length = (uint16_t)n };

	usbredirparser_send_bulk_packet(p, id, &h, (uint8_t *)(uintptr_t)data, (int)n);
}

/* Reads of its whole memory, answers that it never takes, and transfers without number. */
static void unread_answers(void **state)
{
	static uint8_t out[32768];
	const uint32_t abort_all = WEFT_MSG_ABORT_ALL;
	size_t n = 0;
	int fd;

	(void)state;
	start(NULL, NULL);
	digits_run();
	const unsigned long before = process_kib(broker.pid, "VmRSS:");
	struct usbredirparser *p = speak(&fd);
	usbredirparser_do_write(p);
	n = put_frame(out, WEFT_FRAME_MSG, 0, 4, &abort_all);
	send_out(p, 1, out, n);
	for (n = 0; n + 16 <= sizeof(out);)
		n += put_frame(out + n, WEFT_FRAME_READ, 0x10000, WEFT_FRAME_WRITE_MAX, NULL);
	for (uint64_t i = 2; i < 200; i++) {
		struct usb_redir_bulk_packet_header in = { .endpoint = WEFT_USB_EP_IN, .length = 65535 };
		send_out(p, 1000 + i, out, n);
		for (int k = 0; k < 32; k++)
			usbredirparser_send_bulk_packet(p, 100000 + 32 * i + (uint64_t)k, &in, NULL, 0);
	}
	usbredirparser_do_write(p);
	digits_run();
	const unsigned long more = process_kib(broker.pid, "VmRSS:") - before;
	printf("6336 transfers and 400000 READs of a MiB each, not taken: %lu KiB more\n", more);
	fflush(stdout);
	/* Sanitizers double what is in use, and keep what was freed. */
	if (!test_sanitized())
		assert_in_range(more, 0, 48 << 10);
	usbredirparser_destroy(p);
	close(fd);
	digits_run();
}

/* ---- the card ---- */

/* It hangs again and again; who runs a network meanwhile gets right results. */
static void card_hangs(void **state)
{
	(void)state;
	start((char *[]){ "--fault", "hang@60", "--fault", "hang@140", NULL }, NULL);
	for (int i = 0; i < 8; i++)
		digits_run();
}

static void card_is_pulled(void **state)
{
	char text[8192], msg[WEFT_ADMIN_MSG];
	weft_admin *a;

	(void)state;
	start(NULL, NULL);
	assert_int_equal(weft_admin_open(broker.where, 20000, &a, msg), 0);
	kill(card.pid, SIGUSR1);
	const uint32_t ping[2] = { WEFT_MSG_PING, 1 };
	uint32_t reply[2];
	int err;
	while (!((err = weft_admin_ask(a, ping, 2, reply, 2, msg)) < 0))
		usleep(1000);
	assert_int_equal(err, -ENODEV);
	weft_admin_close(a);
	assert_int_equal(run_line(text, sizeof(text), DIGITS "%s", broker.device), 3);
	assert_non_null(strstr(text, "no card is plugged in"));
	kill(card.pid, SIGUSR2);
	while (weft_admin_open(broker.where, 20000, &a, msg))
		usleep(1000);
	weft_admin_close(a);
	digits_run();
}

/* Two cards: the one that is left serves all. */
static void two_cards(void **state)
{
	struct card_process other;
	char msg[WEFT_ADMIN_MSG];
	weft_admin *a[2];
	int differ;

	(void)state;
	card_process_start(&card, "BROKERED", NULL);
	card_process_start(&other, "HOSTILES2", NULL);
	broker_process_start(&broker, (const struct card_process *const[]){ &card, &other, NULL }, NULL);
	digits_run();
	do {
		for (int i = 0; i < 2; i++)
			assert_int_equal(weft_admin_open(broker.where, 20000, &a[i], msg), 0);
		differ = memcmp(weft_admin_hello(a[0])->serial, weft_admin_hello(a[1])->serial, 16);
		for (int i = 0; i < 2; i++)
			weft_admin_close(a[i]);
	} while (!differ && !usleep(10000));
	card_process_stop(&other);
	for (int i = 0; i < 4; i++) {
		char text[8192];
		while (run_line(text, sizeof(text), DIGITS "%s", broker.device))
			usleep(10000);
		assert_non_null(strstr(text, ": 0 mismatches"));
	}
}

/* ---- how it is started ---- */

/* As systemd does it: descriptor 3 listens, the environment says for whom. */
static void by_socket_activation(void **state)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	char program[256], pid[16];
	int status;

	(void)state;
	card_process_start(&card, "BROKERED", NULL);
	test_path(broker.path, sizeof(broker.path), "activated-%d.sock", (int)getpid());
	snprintf(broker.where, sizeof(broker.where), "@%s", broker.path);
	snprintf(broker.device, sizeof(broker.device), "usb:%s", broker.where);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", broker.path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(fd, 8), 0);
	snprintf(program, sizeof(program), "%s/weft-broker", test_env("WEFT_BUILD", "build"));
	pid_t child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		snprintf(pid, sizeof(pid), "%d", (int)getpid());
		setenv("LISTEN_PID", pid, 1);
		setenv("LISTEN_FDS", "1", 1);
		if (fd == 3 ? fcntl(3, F_SETFD, 0) : dup2(fd, 3) != 3)
			_exit(126);
		execl(program, program, "--card", card.where, (char *)NULL);
		_exit(127);
	}
	close(fd);
	for (int i = 0; i < 3; i++)
		digits_run();
	kill(child, SIGTERM);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
	/* The socket is systemd's and stays. */
	assert_int_equal(unlink(broker.path), 0);
}

static void rights_are_dropped(void **state)
{
	char path[64], line[256], text[1024] = "";

	(void)state;
	if (geteuid()) {
		print_message("not root: there is nothing to drop\n");
		skip();
	}
	start(NULL, (char *[]){ "--user", "nobody", NULL });
	snprintf(path, sizeof(path), "/proc/%d/status", (int)broker.pid);
	/* The socket is there a moment earlier. */
	for (int i = 0; i < 12000 && !strstr(text, "Uid:\t65534\t65534\t65534\t65534"); i++) {
		text[0] = '\0';
		FILE *f = fopen(path, "r");
		assert_non_null(f);
		while (fgets(line, sizeof(line), f))
			if (!strncmp(line, "Uid:", 4) || !strncmp(line, "Gid:", 4) || !strncmp(line, "CapEff:", 7) || !strncmp(line, "Groups:", 7))
				strncat(text, line, sizeof(text) - strlen(text) - 1);
		fclose(f);
		usleep(10000);
	}
	assert_non_null(strstr(text, "Uid:\t65534\t65534\t65534\t65534"));
	assert_non_null(strstr(text, "Gid:\t65534\t65534\t65534\t65534"));
	assert_non_null(strstr(text, "CapEff:\t0000000000000000"));
	assert_null(strstr(text, "Groups:\t0"));
	/* It ends as it should; nobody may not unlink a socket that root has opened. */
	kill(broker.pid, SIGTERM);
	assert_int_equal(waitpid(broker.pid, NULL, 0), broker.pid);
	unlink(broker.path);
	unlink(broker.log);
	broker.pid = 0;
}

static void bad_starts(void **state)
{
	static const struct { const char *line, *says; } bad[] = {
		{ "", "--listen is not given, and systemd has handed over no socket" },
		{ "--listen /nowhere/x", "/nowhere/x: No such file" },
		{ "--listen /tmp/x --memory 0", "--memory: \"0\" is not 1 to 4095" },
		{ "--listen /tmp/x --clients many", "--clients: \"many\" is not 1 to 1024" },
		{ "--listen /tmp/x --clients -1", "--clients: \"-1\" is not" },
		{ "--listen /tmp/x --user no-such-user", "there is no user \"no-such-user\"" },
		{ "--listen /tmp/x --group no-such-group", "there is no group \"no-such-group\"" },
		{ "--listen /tmp/x --admin-group no-such-group", "there is no group \"no-such-group\"" },
		{ "--listen", "--listen wants a value" },
		{ "--lost /tmp/x", "--lost is not known" },
		{ "x", "\"x\" is not an option" },
	};
	char line[512], text[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(line, sizeof(line), "%s/weft-broker %s 2>&1", test_env("WEFT_BUILD", "build"), bad[i].line);
		FILE *f = popen(line, "r");
		assert_non_null(f);
		text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
		int status = pclose(f);
		if (WEXITSTATUS(status) != 2 || !strstr(text, bad[i].says) || strchr(text, '\n') != text + strlen(text) - 1)
			fail_msg("%s: status %d: %s", bad[i].line, WEXITSTATUS(status), text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(silence_ends, stop),
		cmocka_unit_test_teardown(no_descriptors, stop),
		cmocka_unit_test_teardown(too_many, stop),
		cmocka_unit_test_teardown(garbage, stop),
		cmocka_unit_test_teardown(unread_answers, stop),
		cmocka_unit_test_teardown(card_hangs, stop),
		cmocka_unit_test_teardown(card_is_pulled, stop),
		cmocka_unit_test_teardown(two_cards, stop),
		cmocka_unit_test_teardown(by_socket_activation, stop),
		cmocka_unit_test_teardown(rights_are_dropped, stop),
		cmocka_unit_test(bad_starts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

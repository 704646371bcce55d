/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one client may take of weft-card: no processor time for a connection that cannot be accepted, no
 * memory for answers that it does not read, or for transfers without number. Some 4 s.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "driver/clock.h"
#include "tests/support/card_process.h"
#include "tests/support/level.h"
#include "tests/support/process.h"

/* With the address sanitizer a card would keep up to 256 MiB that it has freed, which here must not count as taken. */
static unsigned start(struct card_process *c, const char *serial)
{
	static char port[16];
	unsigned number = free_port();
	char *const extra[] = { "--usbip", port, NULL };

	snprintf(port, sizeof(port), "%u", number);
	assert_int_equal(setenv("ASAN_OPTIONS", "quarantine_size_mb=1", 0), 0);
	card_process_start(c, serial, extra);
	return number;
}

/* Without a descriptor for it a connection waits; the loop does not. */
static void no_descriptors(void **state)
{
	const struct rlimit none = { 3, 3 };
	struct card_process c;
	unsigned port = start(&c, "NOFDS");

	(void)state;
	close(connect_port(port));            /* it listens */
	const unsigned long idle = process_ms_of_second(c.pid);
	assert_int_equal(prlimit(c.pid, RLIMIT_NOFILE, &none, NULL), 0);
	int a = connect_unix(c.path), b = connect_port(port);
	const unsigned long used = process_ms_of_second(c.pid);
	printf("%lu ms of processor time in a second with two connections that cannot be taken, %lu ms without\n", used, idle);
	fflush(stdout);
	close(a);
	close(b);
	card_process_stop(&c);
	/* A loop that does not wait takes the whole second. The card's own time depends on the machine. */
	assert_true(used < 100 + 2 * idle);
}

/* As much as the other side takes within a second. @return bytes */
static size_t pour(int fd, const uint8_t *p, size_t n)
{
	uint64_t until = weft_now_ns() + 1000000000;
	size_t all = 0;

	while (weft_now_ns() < until) {
		ssize_t k = send(fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (k > 0)
			all += (size_t)k;
		else if (errno == EAGAIN)
			usleep(1000);
		else
			break;
	}
	return all;
}

static void unread_answers(void **state)
{
	uint8_t list[8 * 4096];
	struct card_process c;
	unsigned port = start(&c, "UNREAD");

	(void)state;
	for (size_t i = 0; i < sizeof(list); i += 8)
		memcpy(list + i, (const uint8_t[]){ 1, 0x11, 0x80, 5, 0, 0, 0, 0 }, 8);
	int fd = connect_port(port);
	unsigned long before = process_kib(c.pid, "VmRSS:");
	size_t sent = pour(fd, list, sizeof(list));
	unsigned long more = process_kib(c.pid, "VmRSS:") - before;
	printf("%zu lists asked for and not read: %lu KiB more\n", sent / 8, more);
	fflush(stdout);
	close(fd);
	card_process_stop(&c);
	assert_true(more < 32 << 10);
}

static void put32be(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> (24 - 8 * i));
}

static void many_transfers(void **state)
{
	uint8_t import[40] = { 1, 0x11, 0x80, 3, 0, 0, 0, 0, '1', '-', '1' }, got[8 + 312], urb[48] = { 0 };
	struct card_process c;
	unsigned port = start(&c, "URBS");

	(void)state;
	int fd = connect_port(port);
	assert_int_equal(send(fd, import, sizeof(import), 0), sizeof(import));
	assert_int_equal(recv(fd, got, sizeof(got), MSG_WAITALL), sizeof(got));
	unsigned long before = process_kib(c.pid, "VmSize:");
	put32be(urb, 1);
	put32be(urb + 12, 1);
	put32be(urb + 16, 1);
	put32be(urb + 24, 1 << 20);
	for (uint32_t i = 1; i <= 5000; i++) {
		put32be(urb + 4, i);
		if (send(fd, urb, sizeof(urb), MSG_NOSIGNAL) != (ssize_t)sizeof(urb))
			break;
	}
	usleep(500000);
	unsigned long more = process_kib(c.pid, "VmSize:") - before;
	printf("5000 transfers of a MiB each: %lu KiB more\n", more);
	fflush(stdout);
	close(fd);
	card_process_stop(&c);
	assert_true(more < 96 << 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(no_descriptors), cmocka_unit_test(unread_answers),
		cmocka_unit_test(many_transfers) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

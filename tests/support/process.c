/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/process.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

unsigned long process_kib(pid_t pid, const char *line)
{
	char path[64], text[256];
	unsigned long value = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(text, sizeof(text), f))
		if (!strncmp(text, line, strlen(line)))
			value = strtoul(text + strlen(line), NULL, 10);
	fclose(f);
	return value;
}

unsigned long process_ms(pid_t pid)
{
	char path[64], text[1024];
	unsigned long user = 0, sys = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	assert_int_equal(sscanf(strrchr(text, ')') + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &sys), 2);
	return (user + sys) * 1000 / (unsigned long)sysconf(_SC_CLK_TCK);
}

unsigned long process_ms_of_second(pid_t pid)
{
	const unsigned long before = process_ms(pid);

	sleep(1);
	return process_ms(pid) - before;
}

int connect_unix(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

int connect_port(unsigned port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	for (int i = 0; i < 12000; i++) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (!connect(fd, (struct sockaddr *)&a, sizeof(a)))
			return fd;
		close(fd);
		usleep(10000);
	}
	fail_msg("nobody listens on port %u", port);
	return -1;
}

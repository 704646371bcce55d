/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/card_process.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/level.h"

void card_process_start(struct card_process *c, const char *serial, char *const extra[])
{
	char *argv[24] = { NULL }, program[256];
	int n = 0;

	snprintf(program, sizeof(program), "%s/weft-card", test_env("WEFT_BUILD", "build"));
	test_path(c->path, sizeof(c->path), "%s-%d.sock", serial, (int)getpid());
	snprintf(c->where, sizeof(c->where), "@%s", c->path);
	snprintf(c->device, sizeof(c->device), "usb:%s", c->where);
	argv[n++] = program;
	argv[n++] = "--listen";
	argv[n++] = c->path;
	argv[n++] = "--serial";
	argv[n++] = (char *)(uintptr_t)serial;
	for (int i = 0; extra && extra[i] && n < 23; i++)
		argv[n++] = extra[i];
	c->pid = fork();
	if (!c->pid) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		execv(program, argv);
		_exit(127);
	}
	assert_true(c->pid > 0);
	for (int i = 0; i < 500 && access(c->path, F_OK); i++)
		usleep(10000);
}

void card_process_stop(struct card_process *c)
{
	kill(c->pid, SIGTERM);
	waitpid(c->pid, NULL, 0);
	unlink(c->path);
}

unsigned free_port(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	close(fd);
	return ntohs(a.sin_port);
}

int run_line(char *text, size_t len, const char *format, ...)
{
	char line[2048], rest[1900];
	va_list ap;

	va_start(ap, format);
	vsnprintf(rest, sizeof(rest), format, ap);
	va_end(ap);
	snprintf(line, sizeof(line), "%s/weft %s 2>&1", test_env("WEFT_BUILD", "build"), rest);
	FILE *f = popen(line, "r");
	assert_non_null(f);
	text[fread(text, 1, len - 1, f)] = '\0';
	int status = pclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

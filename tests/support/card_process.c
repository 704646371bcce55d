/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/card_process.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/level.h"

void card_process_start(struct card_process *c, const char *serial, char *const extra[])
{
	char *argv[24] = { NULL }, program[256];
	int n = 0;

	snprintf(program, sizeof(program), "%s/weft-card", test_env("WEFT_BUILD", "build"));
	snprintf(c->path, sizeof(c->path), "/tmp/weft-%s-%d.sock", serial, (int)getpid());
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
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execv(program, argv);
		_exit(127);
	}
	assert_true(c->pid > 0);
}

void card_process_stop(struct card_process *c)
{
	kill(c->pid, SIGTERM);
	waitpid(c->pid, NULL, 0);
	unlink(c->path);
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

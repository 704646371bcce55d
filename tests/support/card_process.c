/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/card_process.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/card.h"
#include "tests/support/level.h"

static bool asks_for(char *const extra[], const char *option, const char *value)
{
	for (int i = 0; extra && extra[i]; i++)
		if (!strcmp(extra[i], option) && (!value || (extra[i + 1] && !strcmp(extra[i + 1], value))))
			return true;
	return false;
}

/* The built firmware without its signature, which a boot ROM with the development key starts at once. */
static void write_unsigned(char *path, size_t len)
{
	size_t n, bytes;
	uint8_t *whole = card_file("weft-fw.img", &n), *image = card_image_unsigned(whole, n, &bytes);

	test_path(path, len, "unsigned-%d.img", (int)getpid());
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(image, 1, bytes, f), bytes);
	assert_int_equal(fclose(f), 0);
	free(whole);
	free(image);
}

void card_process_start(struct card_process *c, const char *serial, char *const extra[])
{
	char *argv[24] = { NULL }, program[256], image[256];
	const bool quick = asks_for(extra, "--chip", "rtl") && !asks_for(extra, "--image", NULL) && !asks_for(extra, "--flash", NULL);
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
	if (quick) {
		write_unsigned(image, sizeof(image));
		argv[n++] = "--image";
		argv[n++] = image;
	}
	for (int i = 0; extra && extra[i] && n < 23; i++)
		argv[n++] = extra[i];
	c->pid = fork();
	if (!c->pid) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		execv(program, argv);
		_exit(127);
	}
	assert_true(c->pid > 0);
	/* It listens when it has booted. */
	for (int i = 0; i < 12000 && access(c->path, F_OK) && !waitpid(c->pid, NULL, WNOHANG); i++)
		usleep(10000);
	if (quick)
		unlink(image);            /* the socket is there: it has been read */
}

void card_process_stop(struct card_process *c)
{
	kill(c->pid, SIGTERM);
	waitpid(c->pid, NULL, 0);
	c->pid = 0;
	unlink(c->path);
}

/* Its socket is there a moment before somebody listens. */
static bool listens(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	const bool heard = !connect(fd, (struct sockaddr *)&a, sizeof(a));
	close(fd);
	return heard;
}

void broker_process_start(struct card_process *b, const struct card_process *const cards[], char *const extra[])
{
	char *argv[32] = { NULL }, program[256];
	static int count;
	int n = 0;

	snprintf(program, sizeof(program), "%s/weft-broker", test_env("WEFT_BUILD", "build"));
	test_path(b->log, sizeof(b->log), "broker-%d-%d.log", (int)getpid(), count);
	test_path(b->path, sizeof(b->path), "broker-%d-%d.sock", (int)getpid(), count++);
	snprintf(b->where, sizeof(b->where), "@%s", b->path);
	snprintf(b->device, sizeof(b->device), "usb:%s", b->where);
	argv[n++] = program;
	argv[n++] = "--listen";
	argv[n++] = b->path;
	argv[n++] = "--verbose";
	for (int i = 0; cards[i] && n < 20; i++) {
		argv[n++] = "--card";
		argv[n++] = (char *)(uintptr_t)cards[i]->where;
	}
	for (int i = 0; extra && extra[i] && n < 31; i++)
		argv[n++] = extra[i];
	b->pid = fork();
	if (!b->pid) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (!freopen(b->log, "w", stderr))
			_exit(126);
		execv(program, argv);
		_exit(127);
	}
	assert_true(b->pid > 0);
	for (int i = 0; i < 12000 && !listens(b->path); i++)
		usleep(10000);
}

void broker_process_stop(struct card_process *b)
{
	int status;

	kill(b->pid, SIGTERM);
	assert_int_equal(waitpid(b->pid, &status, 0), b->pid);
	b->pid = 0;
	unlink(b->log);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_not_equal(access(b->path, F_OK), 0);
}

void brokered_start(struct card_process *card, struct card_process *broker, char *const card_args[], char *const args[])
{
	card_process_start(card, "BROKERED", card_args);
	broker_process_start(broker, (const struct card_process *const[]){ card, NULL }, args);
}

void brokered_stop(struct card_process *card, struct card_process *broker)
{
	if (broker->pid)
		broker_process_stop(broker);
	if (card->pid)
		card_process_stop(card);
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

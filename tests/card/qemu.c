/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole way: the weft command and libusb in a Linux guest, its xHCI driver
 * and USB core, QEMU's xHCI controller, usb-redir, weft-card, the chip and its
 * firmware. Nothing of ours is special in the guest. Emulated by TCG, so it
 * runs where there is no hardware virtualisation.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/level.h"
#include "../support/shell.h"
#include "driver/backend.h"

#define RESNET "mlperf_tiny/pretrainedResnet_quant.tflite"

struct run {
	pid_t card, qemu;
	int serial;
	char dir[64], text[65536];
	size_t n;
};

static const char *build(void)
{
	return test_env("WEFT_BUILD", "build");
}

/* Says what is missing. */
static bool ready(void)
{
	if (shell("command -v qemu-system-x86_64 busybox cpio >/dev/null")) {
		printf("qemu-system-x86, busybox-static or cpio is not installed: tools/deps.sh qemu\n");
		fflush(stdout);
		return false;
	}
	if (shell("tests/card/guest/kernel.sh %s/guest/kernel 2>&1", build()))
		return false;
	if (shell("test -x %s/guest/weft && test -x %s/weft-card", build(), build())) {
		printf("%s/guest/weft is not built\n", build());
		fflush(stdout);
		return false;
	}
	return true;
}

static bool have_chip(void)
{
	if (!shell("test -e %s/rtl/weft-chip-w16.so", build()))
		return true;
	printf("%s/rtl/weft-chip-w16.so is not built: make chip\n", build());
	fflush(stdout);
	return false;
}

static pid_t spawn(char *const argv[], int out)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (out >= 0) {
		dup2(out, 1);
		dup2(out, 2);
	}
	execvp(argv[0], argv);
	_exit(127);
}

/* Networks, and what they give on the functional model. */
static void prepare(struct run *r, unsigned bulk_kib)
{
	snprintf(r->dir, sizeof(r->dir), "/tmp/weft-qemu-%d", (int)getpid());
	assert_int_equal(shell("rm -rf %s && mkdir -p %s/nets %s/want && cp tests/models/digits_int8.tflite %s/nets",
	                       r->dir, r->dir, r->dir, r->dir), 0);
	if (shell("cp %s/" RESNET " %s/nets 2>/dev/null", test_data(), r->dir))
		printf("%s/" RESNET " is not there; without it\n", test_data());
	assert_int_equal(shell("for net in %s/nets/*; do %s/weft run $net --device model --seed 5 -o %s/want/${net##*/} >/dev/null "
	                       "|| exit 1; done", r->dir, build(), r->dir), 0);
	assert_int_equal(shell("echo %u >%s/want/bulk", bulk_kib, r->dir), 0);
	assert_int_equal(shell("tests/card/guest/image.sh %s %s/guest.cpio tests/card/guest/test %s/nets %s/want", build(),
	                       r->dir, r->dir, r->dir), 0);
}

static void start(struct run *r, const char *chip)
{
	char card[256], sock[128], kernel[256], initrd[256], chardev[256];
	int pipes[2];

	snprintf(card, sizeof(card), "%s/weft-card", build());
	snprintf(sock, sizeof(sock), "%s/card.sock", r->dir);
	snprintf(kernel, sizeof(kernel), "%s/guest/kernel/vmlinux", build());
	snprintf(initrd, sizeof(initrd), "%s/guest.cpio", r->dir);
	snprintf(chardev, sizeof(chardev), "socket,id=rc,path=%s,reconnect=1", sock);
	char *const card_argv[] = { card, "--listen", sock, "--serial", "QEMU", "--chip", (char *)chip, NULL };
	r->card = spawn(card_argv, -1);
	for (int i = 0; i < 100 && access(sock, F_OK); i++)
		usleep(50000);
	char *const argv[] = { "qemu-system-x86_64", "-M", "q35", "-accel", "tcg", "-cpu", "max", "-m", "512", "-nodefaults",
		"-no-user-config", "-nographic", "-serial", "stdio", "-no-reboot", "-kernel", kernel, "-initrd", initrd,
		"-append", "console=ttyS0 quiet panic=-1 mitigations=off no_timer_check tsc=unstable clocksource=hpet",
		"-device", "qemu-xhci,id=xhci", "-chardev", chardev, "-device", "usb-redir,chardev=rc,bus=xhci.0", NULL };
	assert_int_equal(pipe(pipes), 0);
	r->qemu = spawn(argv, pipes[1]);
	close(pipes[1]);
	r->serial = pipes[0];
	r->n = 0;
}

static void finish(struct run *r)
{
	kill(r->qemu, SIGKILL);
	kill(r->card, SIGTERM);
	waitpid(r->qemu, NULL, 0);
	waitpid(r->card, NULL, 0);
	close(r->serial);
	shell("rm -rf %s", r->dir);
}

/* Read the console until a line has that text. False: it ends, or too late. */
static bool until(struct run *r, const char *text, int seconds)
{
	uint64_t end = weft_now_ns() + (uint64_t)seconds * 1000000000u;

	for (;;) {
		r->text[r->n] = '\0';
		if (strstr(r->text, text))
			return true;
		struct pollfd p = { r->serial, POLLIN, 0 };
		uint64_t now = weft_now_ns();
		if (now >= end || poll(&p, 1, (int)((end - now) / 1000000)) <= 0)
			return false;
		ssize_t n = read(r->serial, r->text + r->n, sizeof(r->text) - 1 - r->n);
		for (ssize_t i = 0; i < n; i++)
			if (!r->text[r->n + (size_t)i])
				r->text[r->n + (size_t)i] = ' ';
		if (n <= 0)
			return false;
		r->n += (size_t)n;
	}
}

static void need(struct run *r, const char *text)
{
	if (strstr(r->text, text))
		return;
	printf("the guest did not say \"%s\"; it said:\n%s\n", text, r->text);
	fflush(stdout);
	finish(r);
	fail_msg("no \"%s\"", text);
}

static void print_lines(const struct run *r, const char *with)
{
	char *copy = strdup(r->text), *save = NULL;

	for (char *line = strtok_r(copy, "\r\n", &save); line; line = strtok_r(NULL, "\r\n", &save))
		if (strstr(line, with))
			printf("%s\n", line);
	fflush(stdout);
	free(copy);
}

static void whole(const char *chip, unsigned bulk_kib, int seconds)
{
	struct run r;

	prepare(&r, bulk_kib);
	start(&r, chip);
	if (until(&r, "guest: pull", seconds))
		kill(r.card, SIGUSR1);
	need(&r, "guest: pull");
	if (until(&r, "guest: gone", 60)) {
		usleep(500000);
		kill(r.card, SIGUSR2);
	}
	until(&r, "guest: end", seconds);
	print_lines(&r, "usb:QEMU");
	print_lines(&r, "checked");
	print_lines(&r, "guest:");
	need(&r, "usb:QEMU");
	need(&r, "guest: run digits_int8.tflite: 0");
	need(&r, "guest: same digits_int8.tflite: yes");
	assert_null(strstr(r.text, "same digits_int8.tflite: no"));
	if (!shell("test -e %s/nets/pretrainedResnet_quant.tflite", r.dir)) {
		need(&r, "guest: run pretrainedResnet_quant.tflite: 0");
		need(&r, "guest: same pretrainedResnet_quant.tflite: yes");
	}
	need(&r, "in use by guest (pid");
	need(&r, "guest: bulk: 0 ok");
	need(&r, "guest: unplugged: -19");
	need(&r, "in time");
	/* Before and after. */
	need(&r, "guest: infer: 0");
	if (!strstr(strstr(r.text, "guest: unplugged"), "guest: infer: 0"))
		need(&r, "a run after the card was plugged in again");
	finish(&r);
}

static void test_model(void **state)
{
	(void)state;
	if (!ready())
		skip();
	whole("model", 24 << 10, 120);
}

static void test_rtl(void **state)
{
	(void)state;
	if (!ready() || !have_chip())
		skip();
	whole("rtl", 512, 600);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_model), cmocka_unit_test(test_rtl),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

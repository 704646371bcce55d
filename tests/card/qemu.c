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
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/card_process.h"
#include "../support/level.h"
#include "../support/shell.h"
#include "driver/clock.h"

#define RESNET "mlperf_tiny/pretrainedResnet_quant.tflite"

struct run {
	pid_t card, second, qemu;
	int serial;
	char dir[96], text[65536];
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
		assert_string_not_equal(test_env("CI", ""), "true");
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

/* One run of the guest. */
struct plan {
	const char *script;
	const char *chip;          /* of the first card; the second is always functional */
	bool two, usb_phy;         /* the first card's USB is the Verilated device */
	unsigned port;             /* USB/IP there instead of usb-redir */
	unsigned bulk_kib, bulk_mbs;
	int seconds;
};

/* Networks, and what they give on the functional model. */
static void prepare(struct run *r, const struct plan *p)
{
	test_path(r->dir, sizeof(r->dir), "qemu-%d", (int)getpid());
	assert_int_equal(shell("rm -rf %s && mkdir -p %s/nets %s/want && cp tests/models/digits_int8.tflite %s/nets",
	                       r->dir, r->dir, r->dir, r->dir), 0);
	if (shell("cp %s/" RESNET " %s/nets 2>/dev/null", test_data(), r->dir))
		printf("%s/" RESNET " is not there; without it\n", test_data());
	assert_int_equal(shell("for net in %s/nets/*; do %s/weft run $net --device model --seed 5 -o %s/want/${net##*/} >/dev/null "
	                       "|| exit 1; done", r->dir, build(), r->dir), 0);
	assert_int_equal(shell("cd %s/want; echo %u %u >bulk; echo QEMU %s >cards; echo %u >port", r->dir, p->bulk_kib, p->bulk_mbs,
	                       p->two ? "SECOND" : "", p->port), 0);
	assert_int_equal(shell("tests/card/guest/image.sh %s %s/guest.cpio tests/card/guest/%s %s/nets %s/want", build(),
	                       r->dir, p->script, r->dir, r->dir), 0);
}

static pid_t start_card(const struct run *r, const char *serial, const char *chip, unsigned usbip, bool usb_phy)
{
	char card[256], sock[128], port[16];

	snprintf(card, sizeof(card), "%s/weft-card", build());
	snprintf(sock, sizeof(sock), "%s/%s", r->dir, serial);
	snprintf(port, sizeof(port), "%u", usbip);
	char *argv[16] = { card, "--listen", sock, "--serial", (char *)serial, "--chip", (char *)chip };
	int n = 7;
	if (usb_phy)
		argv[n++] = "--usb-phy";
	if (usbip) {
		argv[n++] = "--usbip";
		argv[n++] = port;
	}
	pid_t pid = spawn(argv, -1);
	/* It listens when it has booted. */
	for (int i = 0; i < 2400 && access(sock, F_OK) && !waitpid(pid, NULL, WNOHANG); i++)
		usleep(50000);
	return pid;
}

static void start(struct run *r, const struct plan *p)
{
	char kernel[256], initrd[256], first[256], second[256];
	int pipes[2];

	snprintf(kernel, sizeof(kernel), "%s/guest/kernel/vmlinux", build());
	snprintf(initrd, sizeof(initrd), "%s/guest.cpio", r->dir);
	snprintf(first, sizeof(first), "socket,id=c1,path=%s/QEMU,reconnect=1", r->dir);
	snprintf(second, sizeof(second), "socket,id=c2,path=%s/SECOND,reconnect=1", r->dir);
	r->card = start_card(r, "QEMU", p->chip, p->port, p->usb_phy);
	r->second = p->two ? start_card(r, "SECOND", "model", 0, false) : 0;
	char *argv[40] = { "qemu-system-x86_64", "-M", "q35", "-accel", "tcg", "-cpu", "max", "-m", "512", "-nodefaults",
		"-no-user-config", "-nographic", "-serial", "stdio", "-no-reboot", "-kernel", kernel, "-initrd", initrd,
		"-append", "console=ttyS0 quiet panic=-1 mitigations=off no_timer_check tsc=unstable clocksource=hpet" };
	char *const network[] = { "-netdev", "user,id=net", "-device", "e1000,netdev=net,romfile=" };
	char *const cards[] = { "-device", "qemu-xhci,id=xhci", "-chardev", first, "-device", "usb-redir,chardev=c1,bus=xhci.0",
		"-chardev", second, "-device", "usb-redir,chardev=c2,bus=xhci.0" };
	int n = 0;
	while (argv[n])
		n++;
	if (p->port)
		memcpy(argv + n, network, sizeof(network));
	else
		memcpy(argv + n, cards, p->two ? sizeof(cards) : sizeof(cards) - 4 * sizeof(cards[0]));
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
	if (r->second) {
		kill(r->second, SIGTERM);
		waitpid(r->second, NULL, 0);
	}
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

/* After the bulk transfers' line: what the guest measured. A slow machine is told, not failed. */
static void tell_speed(struct run *r, double mbs)
{
	double out = 0, in = 0;
	const char *line = strstr(r->text, "guest: bulk MB/s: ");

	if (!line || sscanf(line, "guest: bulk MB/s: %lf out, %lf in", &out, &in) != 2)
		need(r, "how many MB/s the bulk transfers made");
	if (out < mbs || in < mbs)
		printf("bulk transfers: less than the %.0f MB/s wanted\n", mbs);
}

static void need_both(struct run *r)
{
	need(r, "usb:SECOND");
	need(r, "guest: the free one: 0");
	need(r, "guest: usb refused: ");
	need(r, "guest: both QEMU digits_int8.tflite: 0 same: yes");
	need(r, "guest: both SECOND digits_int8.tflite: 0 same: yes");
}

/* The watcher saw it there, then gone, then there again. */
static void need_watch(struct run *r)
{
	const char *at = strstr(r->text, "guest: watch: usb:QEMU");
	const char *gone = at ? strstr(at, "unplugged") : NULL;

	if (!gone || !strstr(gone, "guest: watch: usb:QEMU"))
		need(r, "that the card was unplugged and plugged in again");
}

static void whole(const struct plan *p)
{
	struct run r = { 0 };

	prepare(&r, p);
	start(&r, p);
	if (until(&r, "guest: pull", p->seconds))
		kill(r.card, SIGUSR1);
	need(&r, "guest: pull");
	if (until(&r, "guest: gone", 60)) {
		usleep(500000);
		kill(r.card, SIGUSR2);
	}
	until(&r, "guest: end", p->seconds);
	print_lines(&r, "usb:");
	print_lines(&r, "checked");
	print_lines(&r, "guest:");
	need(&r, "usb:QEMU");
	need(&r, "guest: run QEMU digits_int8.tflite: 0 same: yes");
	assert_null(strstr(r.text, "same: no"));
	if (!shell("test -e %s/nets/pretrainedResnet_quant.tflite", r.dir))
		need(&r, "guest: run QEMU pretrainedResnet_quant.tflite: 0 same: yes");
	need(&r, "guest: usb:QEMU refused: ");
	need(&r, "in use by guest (pid");
	if (p->two)
		need_both(&r);
	need(&r, "guest: after a kill QEMU digits_int8.tflite: 0 same: yes");
	need(&r, "guest: bulk: 0 ok");
	tell_speed(&r, p->bulk_mbs);
	need(&r, "guest: unplugged: -19");
	need(&r, "in time");
	/* Before and after. */
	need(&r, "guest: infer: 0");
	if (!strstr(strstr(r.text, "guest: unplugged"), "guest: infer: 0"))
		need(&r, "a run after the card was plugged in again");
	need_watch(&r);
	finish(&r);
}

static void test_model(void **state)
{
	const struct plan p = { .script = "test", .chip = "model", .two = true, .bulk_kib = 16 << 10, .bulk_mbs = 100, .seconds = 180 };

	(void)state;
	if (!ready())
		skip();
	whole(&p);
}

/* Through the Verilated USB device: libusb, Linux' and QEMU's xHCI, usb-redir, host controller, hw/usb, the functional chip. */
static void test_usb_phy(void **state)
{
	const struct plan p = { .script = "test", .chip = "model", .usb_phy = true, .bulk_kib = 64, .seconds = 600 };

	(void)state;
	if (!ready())
		skip();
	whole(&p);
}

static void test_rtl(void **state)
{
	const struct plan p = { .script = "test", .chip = "rtl", .bulk_kib = 512, .seconds = 600 };

	(void)state;
	if (!ready() || !have_chip())
		skip();
	whole(&p);
}

/* The kernel's own USB/IP host controller instead of QEMU's xHCI; what `usbip attach` does. */
static void test_usbip(void **state)
{
	const struct plan p = { .script = "usbip", .chip = "model", .port = free_port(), .seconds = 120 };
	struct run r = { 0 };

	(void)state;
	if (!ready())
		skip();
	prepare(&r, &p);
	start(&r, &p);
	if (until(&r, "guest: pull", p.seconds))
		kill(r.card, SIGUSR1);
	need(&r, "guest: pull");
	if (until(&r, "guest: gone", 60))
		kill(r.card, SIGUSR2);
	until(&r, "guest: end", p.seconds);
	print_lines(&r, "usb:");
	print_lines(&r, "checked");
	print_lines(&r, "guest:");
	need(&r, "usb:QEMU");
	need(&r, "guest: run one: 0 same: yes");
	need(&r, "guest: bulk: 0 ok");
	need(&r, "guest: run two: 0 same: yes");
	finish(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_model), cmocka_unit_test(test_usb_phy), cmocka_unit_test(test_rtl), cmocka_unit_test(test_usbip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the guest does that the weft command does not: measure bulk transfers,
 * hold a card, be killed while it works, and lose one in the middle of a job.
 *
 *	guest bulk KIB MB_PER_S | guest hold SERIAL SECONDS | guest busy | guest unplug MODEL
 *	guest attach IP PORT       what `usbip attach` does
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <weft/gen/cmd.h>
#include <weft/weft.h>

#define DEADLINE_MS 20000
#define N_LONG 10000           /* copies of so many bytes: gigabytes */
#define N_BUSY 1000
#define LONG_BYTES (256 << 10)
#define ROUNDS 40
#define CARD "QEMU"            /* its serial */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int say(const char *what, int status, const char *msg)
{
	printf("guest: %s: %d %s\n", what, status, msg);
	fflush(stdout);
	return status != 0;
}

static weft_dev *open_card(const char *serial)
{
	struct weft_dev_options o = weft_dev_options_default();
	char msg[WEFT_DEV_MSG] = "";
	weft_dev *dev = NULL;

	o.kind = WEFT_DEV_USB;
	o.usb = serial;
	int err = weft_dev_open(&o, &dev, msg);
	if (err)
		say("open", err, msg);
	return dev;
}

/* n pairs of a load and a store of so many bytes. */
static size_t stream(uint64_t *words, int n, int bytes)
{
	struct weft_cmd c;
	size_t at = 0;

	for (int i = 0; i < 2 * n; i++) {
		weft_cmd_init(&c, i & 1 ? WEFT_CMD_STORE : WEFT_CMD_LOAD);
		c.load.window = i & 1 ? WEFT_WIN_ARENA : WEFT_WIN_CONST;
		c.load.row_bytes = bytes;
		c.h.wait[WEFT_UNIT_LD] = (i + 1) / 2;
		c.h.wait[WEFT_UNIT_ST] = i / 2;
		at += weft_cmd_encode(&c, words + at);
	}
	weft_cmd_init(&c, WEFT_CMD_END);
	return at + weft_cmd_encode(&c, words + at);
}

static double pulled;          /* when the host below was asked for it */

/* text: what the job's being under way is told with, or NULL. */
static int run(weft_dev *dev, struct weft_window *win, int n, int bytes, unsigned timeout_ms, const char *text,
               struct weft_job_result *r)
{
	uint64_t *words = malloc(sizeof(*words) * (size_t)(n + 1) * 2 * WEFT_CMD_MAX_WORDS);
	size_t n_words = stream(words, n, bytes);
	weft_job job;
	int err = weft_submit(dev, words, n_words, win, 2, &job);

	free(words);
	if (text) {
		printf("guest: %s\n", text);
		fflush(stdout);
		pulled = now();
	}
	if (!err)
		err = weft_finish(dev, job, timeout_ms, r);
	return err ? err : r->status;
}

/* Written and read back until both were that fast: others use the machine below too. */
static int bulk(size_t n, double enough)
{
	weft_dev *dev = open_card(CARD);
	struct weft_window win[2] = { { .rd = true }, { .rd = true, .wr = true } };
	struct weft_job_result r;
	double want = (double)n / (enough * 1e6), out = 1e9, in = 1e9;

	if (!dev)
		return 1;
	uint8_t *a = malloc(n), *b = malloc(n);
	int err = weft_buf_alloc(dev, 4096, &win[0].buf);
	if (!err)
		err = weft_buf_alloc(dev, n, &win[1].buf);
	for (size_t i = 0; i < n; i++)
		a[i] = (uint8_t)(i * 2654435761u >> 11);
	memset(a, 0, 4096);        /* what the job copies there */
	for (int i = 0; !i || (i < ROUNDS && !err && (out > want || in > want)); i++) {
		if (!err)
			err = weft_buf_write(win[1].buf, 0, a, n);
		double t0 = now();
		if (!err)
			err = run(dev, win, 1, 4096, 60000, NULL, &r);
		double t1 = now();
		if (!err)
			err = weft_buf_read(win[1].buf, 0, b, n);
		double t2 = now();
		if (!err && memcmp(a, b, n))
			err = -EBADMSG;
		memset(b, 0, n);
		out = t1 - t0 < out ? t1 - t0 : out;
		in = t2 - t1 < in ? t2 - t1 : in;
	}
	if (!err)
		printf("guest: bulk MB/s: %.1f out, %.1f in\n", (double)n / out * 1e-6, (double)n / in * 1e-6);
	say("bulk", err, err ? weft_dev_error(dev) : "ok");
	weft_buf_free(win[0].buf);
	weft_buf_free(win[1].buf);
	weft_dev_close(dev);
	return err != 0;
}

static int hold(const char *serial, int seconds)
{
	weft_dev *dev = open_card(serial);

	if (!dev)
		return 1;
	say("hold", 0, "ok");
	sleep((unsigned)seconds);
	weft_dev_close(dev);
	return 0;
}

/* A job that takes long. */
static int work(int n, const char *text)
{
	weft_dev *dev = open_card(CARD);
	struct weft_window win[2] = { { .rd = true }, { .rd = true, .wr = true } };
	struct weft_job_result r;

	if (!dev)
		return -EINVAL;
	int err = weft_buf_alloc(dev, LONG_BYTES, &win[0].buf);
	if (!err)
		err = weft_buf_alloc(dev, LONG_BYTES, &win[1].buf);
	if (!err)
		err = run(dev, win, n, LONG_BYTES, DEADLINE_MS, text, &r);
	weft_buf_free(win[0].buf);
	weft_buf_free(win[1].buf);
	weft_dev_close(dev);
	return err;
}

/* The cable goes in the middle of it. */
static int lose(void)
{
	int err = work(N_LONG, "pull");
	double took = now() - pulled;
	char line[64];

	snprintf(line, sizeof(line), "after %.2f s, %s", took, took < DEADLINE_MS * 1e-3 + 1 ? "in time" : "too late");
	printf("guest: gone\n");
	say("unplugged", err, line);
	return err != -ENODEV;
}

/* On a card that may still be starting, and slowly: a Verilated chip on a busy machine takes seconds for its first answer. */
static int infer(const char *model)
{
	struct weft_session_options o = weft_session_options_default();
	struct weft_dev_options d = weft_dev_options_default();
	char msg[WEFT_MSG_LEN] = "ok", why[WEFT_DEV_MSG] = "";
	weft_session *s = NULL;
	weft_net *net = NULL;
	weft_tensor in = { 0 }, out = { 0 };
	struct weft_port p;

	d.kind = WEFT_DEV_USB;
	d.usb = CARD;
	d.usb_wait_ms = 60000;
	d.usb_timeout_ms = 20000;
	o.device = WEFT_DEVICE_USB;
	o.check = true;
	int err = weft_dev_open(&d, &o.on, why);
	if (err)
		snprintf(msg, sizeof msg, "%s", why);
	if (!err)
		err = weft_net_load_file(model, &net, msg);
	if (!err)
		err = weft_session_open(net, &o, &s, msg);
	if (!err) {
		weft_net_input(net, 0, &p);
		in = (weft_tensor){ .dtype = p.dtype, .rank = p.rank };
		memcpy(in.dim, p.dim, sizeof(in.dim));
		in.data = calloc(1, weft_tensor_bytes(&in) + 1);
		err = weft_session_run(s, &in, &out, NULL, msg);
	}
	say("infer", err, msg);
	weft_tensor_release(&in);
	weft_tensor_release(&out);
	weft_session_close(s);
	weft_net_free(net);
	if (o.on)
		weft_dev_close(o.on);
	return err != 0;
}

/* Ask for bus 1-1 and hand the connection to the kernel. */
static int attach(const char *ip, unsigned port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	uint8_t ask[40] = { 0x01, 0x11, 0x80, 0x03, 0, 0, 0, 0, '1', '-', '1' }, reply[8 + 312];
	int fd = socket(AF_INET, SOCK_STREAM, 0), err;

	inet_pton(AF_INET, ip, &to.sin_addr);
	err = connect(fd, (struct sockaddr *)&to, sizeof(to)) || send(fd, ask, sizeof(ask), 0) != sizeof(ask);
	if (!err)
		err = recv(fd, reply, sizeof(reply), MSG_WAITALL) != sizeof(reply) || memcmp(reply + 4, "\0\0\0", 4);
	FILE *f = err ? NULL : fopen("/sys/devices/platform/vhci_hcd.0/attach", "w");
	/* Port 0, device 1 of bus 1, high speed. */
	if (f)
		err = fprintf(f, "0 %d %u 3", fd, 1u << 16 | 1) < 0 || fclose(f);
	return say("attach", err || !f ? -errno : 0, err || !f ? strerror(errno) : "ok");
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "bulk"))
		return bulk((size_t)atoi(argv[2]) << 10, atof(argv[3]));
	if (argc == 4 && !strcmp(argv[1], "hold"))
		return hold(argv[2], atoi(argv[3]));
	if (argc == 4 && !strcmp(argv[1], "attach"))
		return attach(argv[2], (unsigned)atoi(argv[3]));
	if (argc == 2 && !strcmp(argv[1], "busy"))
		return work(N_BUSY, "busy") != 0;
	if (argc == 3 && !strcmp(argv[1], "unplug"))
		return infer(argv[2]) || lose() || infer(argv[2]);
	return 2;
}

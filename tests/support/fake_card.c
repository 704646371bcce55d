/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_card.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <usbredirproto.h>
#include <zlib.h>

#include "driver/backend.h"
#include "include/le.h"
#include "weft/gen/msg.h"
#include "weft/gen/regs.h"

#define DRAM (16u << 20)
#define BASE 0x10000u
#define N_INS 64

const struct fake_info fake_infos[FAKE_N] = {
#define FAKE_INFO(name, lies) { #name, lies },
	FAKE_BEHAVIOURS(FAKE_INFO)
};

struct bytes { uint8_t *p; size_t n, cap; };

struct fake {
	enum fake_behaviour b;
	int fd;
	const struct weft_config *cfg;
	void *npu;
	uint8_t *dram;
	struct bytes rx, frames, out;          /* from the socket; OUT data; what leaves */
	struct { uint64_t id; uint32_t len; } in[N_INS];
	int n_in;
	struct bytes frame[256];               /* waiting for IN transfers */
	int n_frames;
	bool greeted, dead;
	uint32_t boot, job, result, n_writes, n_reads, n_submits, n_intervals;
	const uint8_t *spam;                   /* sent to every IN transfer */
	uint32_t n_spam;
};

static void add(struct bytes *b, const void *p, size_t n)
{
	if (b->n + n > b->cap)
		b->p = realloc(b->p, b->cap = 2 * (b->n + n));
	if (n)
		memcpy(b->p + b->n, p, n);
	b->n += n;
}

static void drop(struct bytes *b, size_t n)
{
	memmove(b->p, b->p + n, b->n - n);
	b->n -= n;
}

unsigned fake_card_interval_ms = 1;

static void pause_ms(unsigned ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

/* ---- usb-redir ---- */

static void packet(struct fake *f, uint32_t type, uint64_t id, const void *head, size_t n_head, const void *data, size_t n)
{
	uint32_t h[4] = { type, (uint32_t)(n_head + n), (uint32_t)id, (uint32_t)(id >> 32) };

	add(&f->out, h, sizeof(h));
	add(&f->out, head, n_head);
	add(&f->out, data, n);
}

static void bulk(struct fake *f, uint8_t endpoint, uint64_t id, uint8_t status, uint32_t length, const void *data, uint32_t n)
{
	struct usb_redir_bulk_packet_header h = { .endpoint = endpoint, .status = status, .length = (uint16_t)length,
		.length_high = (uint16_t)(length >> 16) };

	packet(f, usb_redir_bulk_packet, id, &h, sizeof(h), data, n);
}

static void flush_in(struct fake *f)
{
	while (f->n_in && (f->n_frames || f->spam)) {
		uint64_t id = f->in[0].id;
		memmove(f->in, f->in + 1, (size_t)--f->n_in * sizeof(f->in[0]));
		if (!f->n_frames) {
			bulk(f, WEFT_USB_EP_IN, id, 0, f->n_spam, f->spam, f->n_spam);
			pause_ms(2);
			return;
		}
		struct bytes d = f->frame[0];
		memmove(f->frame, f->frame + 1, (size_t)--f->n_frames * sizeof(f->frame[0]));
		bulk(f, WEFT_USB_EP_IN, id, 0, (uint32_t)d.n, d.p, (uint32_t)d.n);
		free(d.p);
	}
}

static void push(struct fake *f, const void *p, size_t n)
{
	if (f->n_frames == 256)
		return;
	f->frame[f->n_frames] = (struct bytes){ 0 };
	add(&f->frame[f->n_frames++], p, n);
	flush_in(f);
}

/* ---- frames ---- */

enum { BAD_HEAD = 1, BAD_CRC = 2, NO_BODY = 4 };

static struct bytes make_frame(unsigned type, unsigned seq, uint32_t addr, const void *body, uint32_t len, unsigned how)
{
	struct bytes b = { 0 };
	uint8_t h[16] = { WEFT_FRAME_MAGIC, (uint8_t)type, (uint8_t)seq, (uint8_t)(seq >> 8) }, tail[4];

	put32(h + 4, addr);
	put32(h + 8, len);
	put32(h + 12, (uint32_t)crc32(0, h, 12) ^ (how & BAD_HEAD));
	add(&b, h, 16);
	if (type == WEFT_FRAME_ACK || how & NO_BODY)
		return b;
	add(&b, body, len);
	put32(tail, (uint32_t)crc32(0, body, len));
	add(&b, tail, 4);
	if (how & BAD_CRC)
		b.p[16 + len / 2] ^= 1;
	return b;
}

static void frame(struct fake *f, unsigned type, unsigned seq, uint32_t addr, const void *body, uint32_t len, unsigned how)
{
	struct bytes b = make_frame(type, seq, addr, body, len, how);

	push(f, b.p, b.n);
	free(b.p);
}

static void ack(struct fake *f, unsigned seq, uint32_t status)
{
	frame(f, WEFT_FRAME_ACK, seq, status, NULL, 0, 0);
}

static void reply(struct fake *f, unsigned seq, const void *words, uint32_t bytes)
{
	frame(f, WEFT_FRAME_REPLY, seq, 0, words, bytes, 0);
}

/* ---- firmware ---- */

static void hello(struct fake *f, unsigned seq)
{
	struct weft_msg_hello_reply h = { .head = WEFT_MSG_HELLO | WEFT_MSG_REPLY, .protocol = WEFT_MSG_VERSION_VALUE,
		.fw_version = 0x10000, .npu_version = WEFT_HW_MAJOR << WEFT_REG_VERSION_MAJOR_LSB, .npu_config = f->cfg->reg_config,
		.npu_features = f->cfg->features, .dram_bytes = DRAM, .host_base = BASE, .host_limit = DRAM, .clock_khz = 100000,
		.jobs_max = WEFT_MSG_JOBS_MAX, .boot_id = f->boot, .max_msg = WEFT_FRAME_MSG_MAX };
	uint32_t n = sizeof(h);
	static uint8_t empty[1];

	memcpy(h.serial, "FAKE", 4);
	switch (f->b) {
	case FAKE_hello_never: return;
	case FAKE_hello_short: n = 8; break;
	case FAKE_hello_error: h.head |= WEFT_MSG_ERR_VERSION << 16; break;
	case FAKE_hello_major: h.protocol = 77u << 16; break;
	case FAKE_hello_rescue: h.slot = 2; break;
	case FAKE_hello_config: h.npu_config ^= 0x100; break;
	case FAKE_hello_no_jobs: h.jobs_max = 0; break;
	case FAKE_hello_reversed: h.host_base = DRAM; h.host_limit = BASE; break;
	case FAKE_hello_huge: h.dram_bytes = h.host_limit = 0xffffffff; h.jobs_max = 0xffffffff; break;
	case FAKE_hello_serial: memset(h.serial, 0xff, sizeof(h.serial)); break;
	case FAKE_hello_reboots: h.boot_id = ++f->boot; break;
	case FAKE_hello_type: h.head = WEFT_MSG_STATS | WEFT_MSG_REPLY; break;
	case FAKE_hello_twice: reply(f, seq, &h, n); break;
	case FAKE_hello_late: pause_ms(15); break;
	case FAKE_hello_empty_forever:
		f->spam = empty;
		return;
	default: break;
	}
	reply(f, seq, &h, n);
}

static struct weft_msg_done_reply run_job(struct fake *f, const uint32_t *m)
{
	struct weft_backend_job j = { .words = (const uint64_t *)(f->dram + m[4]), .n_words = m[5] };
	struct weft_msg_done_reply d = { .head = WEFT_MSG_DONE | WEFT_MSG_REPLY, .job = m[1], .state = WEFT_MSG_STATE_DONE };
	struct weft_job_result r = { 0 };
	char msg[WEFT_DEV_MSG];

	j.win[0] = (struct weft_backend_window){ f->dram + m[4], 8ull * m[5], true, false, NULL };
	for (uint32_t i = 0; i < m[6]; i++)
		if (m[8 + 3 * i])
			j.win[i + 1] = (struct weft_backend_window){ f->dram + m[7 + 3 * i], m[8 + 3 * i], m[9 + 3 * i] & 1,
				m[9 + 3 * i] & 2, NULL };
	if (weft_backend_model.run(f->npu, &j, UINT64_MAX, &r, msg))
		d.result = WEFT_MSG_RESULT_FAULT;
	/* One bit of what it wrote. */
	for (uint32_t i = 0; f->b == FAKE_job_lie && i < m[6]; i++)
		if (m[9 + 3 * i] & 2)
			for (uint32_t k = 0; k < m[8 + 3 * i]; k++)
				f->dram[m[7 + 3 * i] + k] ^= 1;
	return d;
}

static void submit(struct fake *f, unsigned seq, const uint32_t *m)
{
	struct weft_msg_submit_reply r = { WEFT_MSG_SUBMIT | WEFT_MSG_REPLY, m[1], WEFT_MSG_STATE_QUEUED, 7 };
	uint32_t n = sizeof(r);

	f->n_submits++;
	switch (f->b) {
	case FAKE_submit_never: return;
	case FAKE_submit_full: r.head |= WEFT_MSG_ERR_QUEUE_FULL << 16; break;
	case FAKE_submit_full_once: r.head |= f->n_submits < 3 ? WEFT_MSG_ERR_QUEUE_FULL << 16 : 0; break;
	case FAKE_submit_error: r.head |= WEFT_MSG_ERR_WINDOW << 16; break;
	case FAKE_submit_dead: r.head |= WEFT_MSG_ERR_NPU_DEAD << 16; break;
	case FAKE_submit_job: r.job ^= 1; break;
	case FAKE_submit_type: r.head = WEFT_MSG_STATS | WEFT_MSG_REPLY; break;
	case FAKE_submit_short: n = 4; break;
	default: break;
	}
	struct weft_msg_done_reply d = { 0 };
	if (!(r.head >> 16) && f->job != m[1]) {
		d = run_job(f, m);
		f->job = m[1];
		f->result = d.result;
	}
	if (f->b == FAKE_done_early)
		reply(f, 0, &d, sizeof(d));
	reply(f, seq, &r, n);
	if (r.head >> 16 || !d.head)
		return;
	switch (f->b) {
	case FAKE_done_never: case FAKE_done_silent: case FAKE_done_forgotten: case FAKE_done_early: case FAKE_cancel_never:
	case FAKE_cancel_runs_on: return;
	case FAKE_done_job: d.job ^= 1; break;
	case FAKE_done_state: d.state = 77; break;
	case FAKE_done_result: d.result = 99; break;
	case FAKE_done_fault:
		d.result = WEFT_MSG_RESULT_FAULT;
		memset(&d.fault, 0xff, sizeof(d) - 16);
		break;
	case FAKE_done_reboots: f->boot++; f->job = 0; return;
	case FAKE_done_twice:
		reply(f, 0, &d, sizeof(d));
		d.result = WEFT_MSG_RESULT_FAULT;
		break;
	default: break;
	}
	for (int i = 0; i < (f->b == FAKE_done_dup ? 100 : 1); i++)
		reply(f, 0, &d, f->b == FAKE_done_short ? 16 : sizeof(d));
}

static void asked_done(struct fake *f, unsigned seq, const uint32_t *m)
{
	struct weft_msg_done_reply d = { .head = WEFT_MSG_DONE | WEFT_MSG_REPLY, .job = m[1], .state = WEFT_MSG_STATE_RUNNING };

	if (f->b == FAKE_done_silent)
		return;
	if (f->b == FAKE_done_state)
		d.state = 77;
	else if (f->b == FAKE_done_forgotten || f->job != m[1])
		d.head |= WEFT_MSG_ERR_NO_JOB << 16;
	else if (f->b != FAKE_done_never && f->b != FAKE_cancel_never && f->b != FAKE_cancel_runs_on)
		d.state = WEFT_MSG_STATE_DONE, d.result = f->result;
	reply(f, seq, &d, f->b == FAKE_done_short ? 16 : sizeof(d));
}

static void message(struct fake *f, unsigned seq, const uint8_t *p, uint32_t len)
{
	uint32_t m[WEFT_FRAME_MSG_MAX / 4] = { 0 }, r[3] = { 0 };

	memcpy(m, p, len < sizeof(m) ? len : sizeof(m));
	r[0] = (m[0] & 0xffff) | WEFT_MSG_REPLY;
	r[1] = m[1];
	switch (m[0] & 0xffff) {
	case WEFT_MSG_HELLO: hello(f, seq); return;
	case WEFT_MSG_SUBMIT: submit(f, seq, m); return;
	case WEFT_MSG_DONE: asked_done(f, seq, m); return;
	case WEFT_MSG_ABORT_ALL:
		if (f->b == FAKE_abort_never)
			return;
		r[0] |= f->b == FAKE_abort_error ? WEFT_MSG_ERR_BUSY << 16 : 0;
		break;
	case WEFT_MSG_CANCEL:
		if (f->b == FAKE_cancel_never)
			return;
		break;
	case WEFT_MSG_REG_READ:
		r[1] = f->n_intervals;
		reply(f, seq, r, 8);
		return;
	default: break;
	}
	reply(f, seq, r, 12);
}

static void wrote(struct fake *f, unsigned seq, uint32_t addr, const uint8_t *p, uint32_t len)
{
	f->n_writes++;
	switch (f->b) {
	case FAKE_write_never: return;
	case FAKE_write_crc_forever: ack(f, seq, WEFT_FRAME_STATUS_CRC); return;
	case FAKE_write_fence: ack(f, seq, WEFT_FRAME_STATUS_FENCE); return;
	case FAKE_write_junk: ack(f, seq, 0xdeadbeef); return;
	case FAKE_write_resync: ack(f, 0, WEFT_FRAME_STATUS_RESYNC); return;
	case FAKE_ack_seq: ack(f, seq ^ 0x5555, 0); return;
	case FAKE_ack_late: pause_ms(4); break;
	case FAKE_write_crc_once:
		if (f->n_writes < 4) {
			ack(f, seq, WEFT_FRAME_STATUS_CRC);
			return;
		}
		break;
	default: break;
	}
	if (addr < DRAM && len <= DRAM - addr)
		memcpy(f->dram + addr, p, len);
	for (int i = 0; i < (f->b == FAKE_ack_dup ? 50 : 1); i++)
		ack(f, seq, 0);
}

/* What is odd about the answer is all but the frame itself. True: it is answered. */
static bool odd_socket(struct fake *f, const struct bytes *d)
{
	uint8_t junk[4096];
	uint64_t id = f->n_in ? f->in[0].id : 0;

	switch (f->b) {
	case FAKE_sock_close:
		f->dead = true;
		return true;
	case FAKE_sock_half: {
		struct bytes keep = f->out;
		f->out = (struct bytes){ 0 };
		bulk(f, WEFT_USB_EP_IN, id, 0, (uint32_t)d->n, d->p, (uint32_t)d->n);
		add(&keep, f->out.p, f->out.n / 2);
		free(f->out.p);
		f->out = keep;
		f->dead = true;
		return true;
	}
	case FAKE_sock_garbage:
		for (size_t i = 0; i < sizeof(junk); i++)
			junk[i] = (uint8_t)(i * 2654435761u >> 11);
		add(&f->out, junk, sizeof(junk));
		return true;
	case FAKE_sock_length: {
		const uint32_t h[4] = { usb_redir_bulk_packet, 0x7fffffff, 1, 0 };
		add(&f->out, h, sizeof(h));
		return true;
	}
	case FAKE_sock_id:
		bulk(f, WEFT_USB_EP_IN, id + 1000000, 0, (uint32_t)d->n, d->p, (uint32_t)d->n);
		return true;
	case FAKE_sock_dup:
		bulk(f, WEFT_USB_EP_IN, id, 0, (uint32_t)d->n, d->p, (uint32_t)d->n);
		push(f, d->p, d->n);
		return true;
	case FAKE_sock_lie:
		bulk(f, WEFT_USB_EP_IN, id, 0, 0xffffff, d->p, (uint32_t)d->n);
		return true;
	case FAKE_sock_unplug:
		packet(f, usb_redir_device_disconnect, 0, NULL, 0, NULL, 0);
		return true;
	case FAKE_sock_stops:
		raise(SIGSTOP);
		return true;
	default:
		return false;
	}
}

static void forever(struct fake *f, unsigned type, unsigned seq, const void *body, uint32_t len)
{
	struct bytes b = make_frame(type, seq, 0, body, len, 0);

	f->spam = b.p ? b.p : (const uint8_t *)"";
	f->n_spam = type ? (uint32_t)b.n : 0;
	flush_in(f);
}

static void wants(struct fake *f, unsigned seq, uint32_t addr, uint32_t len)
{
	const bool inside = addr < DRAM && len <= DRAM - addr;
	const struct weft_msg_done_reply stray = { .head = WEFT_MSG_DONE | WEFT_MSG_REPLY, .job = 0x1234567, .state = 3 };
	uint8_t *data = calloc(1, len + 64u);
	struct bytes b;

	if (inside && f->b != FAKE_read_lie)
		memcpy(data, f->dram + addr, len);
	f->n_reads++;
	b = make_frame(WEFT_FRAME_DATA, seq, addr, data, len, 0);
	switch (f->b) {
	case FAKE_read_never: break;
	case FAKE_read_empty_forever: forever(f, 0, 0, NULL, 0); break;
	case FAKE_read_acks_forever: forever(f, WEFT_FRAME_ACK, 0x7777, NULL, 0); break;
	case FAKE_read_msgs_forever: forever(f, WEFT_FRAME_REPLY, 0, &stray, sizeof(stray)); break;
	case FAKE_sock_flood: forever(f, WEFT_FRAME_ACK, 0x7777, NULL, 0); break;
	case FAKE_read_short: frame(f, WEFT_FRAME_DATA, seq, addr, data, len / 2, 0); break;
	case FAKE_read_trunc: push(f, b.p, 16 + len / 2); break;
	case FAKE_read_long: frame(f, WEFT_FRAME_DATA, seq, addr, data, len + 64, 0); break;
	case FAKE_read_huge: frame(f, WEFT_FRAME_DATA, seq, addr, NULL, 0xfffffff0, NO_BODY); break;
	case FAKE_read_addr: frame(f, WEFT_FRAME_DATA, seq, addr ^ 64, data, len, 0); break;
	case FAKE_read_seq: frame(f, WEFT_FRAME_DATA, seq ^ 1, addr, data, len, 0); break;
	case FAKE_read_crc_forever: frame(f, WEFT_FRAME_DATA, seq, addr, data, len, BAD_CRC); break;
	case FAKE_read_crc_once:
		frame(f, WEFT_FRAME_DATA, seq, addr, data, len, f->n_reads < 4 ? BAD_CRC : 0);
		break;
	case FAKE_read_head: frame(f, WEFT_FRAME_DATA, seq, addr, data, len, BAD_HEAD); break;
	case FAKE_read_dup:
		push(f, b.p, b.n);
		memset(data, 0, len);
		frame(f, WEFT_FRAME_DATA, seq, addr, data, len, 0);
		break;
	case FAKE_read_ack:
		ack(f, seq, 0);
		push(f, b.p, b.n);
		break;
	case FAKE_read_reply:
		reply(f, seq, "abcd", 4);
		push(f, b.p, b.n);
		break;
	case FAKE_read_stall:
		if (f->n_in) {
			uint64_t id = f->in[0].id;
			memmove(f->in, f->in + 1, (size_t)--f->n_in * sizeof(f->in[0]));
			bulk(f, WEFT_USB_EP_IN, id, usb_redir_stall, 0, NULL, 0);
		}
		break;
	case FAKE_read_drip:
		/* Some bytes at a time, each in time, the whole not. */
		for (size_t i = 0; i < b.n && i < 200 * 16; i += 16)
			push(f, b.p + i, 16);
		break;
	case FAKE_read_two: {
		struct bytes two = { 0 };
		add(&two, b.p, b.n);
		add(&two, b.p, b.n);
		push(f, two.p, two.n);
		free(two.p);
		break;
	}
	default:
		if (!odd_socket(f, &b))
			push(f, b.p, b.n);
	}
	free(b.p);
	free(data);
}

static void on_frames(struct fake *f)
{
	while (f->frames.n >= 16) {
		const uint8_t *p = f->frames.p;
		unsigned type = p[1], seq = p[2] | p[3] << 8u;
		uint32_t addr = get32(p + 4), len = get32(p + 8);
		size_t all = type == WEFT_FRAME_READ ? 16 : 20 + (size_t)len;

		if (f->frames.n < all)
			return;
		if (type == WEFT_FRAME_READ)
			wants(f, seq, addr, len);
		else if (type == WEFT_FRAME_WRITE)
			wrote(f, seq, addr, p + 16, len);
		else
			message(f, seq, p + 16, len);
		drop(&f->frames, all);
	}
}

/* ---- what comes ---- */

static void on_control(struct fake *f, uint64_t id, const uint8_t *p)
{
	struct usb_redir_control_packet_header h;

	memcpy(&h, p, sizeof(h));
	if (f->b == FAKE_ctrl_never)
		return;
	if (f->b == FAKE_ctrl_late)
		pause_ms(12);
	h.status = f->b == FAKE_ctrl_stall ? usb_redir_stall : usb_redir_success;
	h.length = 0;
	if (h.requesttype == 0x40) {
		f->frames.n = 0;
		f->spam = NULL;
		while (f->n_frames)
			free(f->frame[--f->n_frames].p);
	}
	if (h.requesttype == 0x40 && h.request == WEFT_USB_REQ_CHIP_RESET) {
		f->boot++;
		f->job = 0;
	}
	packet(f, usb_redir_control_packet, id, &h, sizeof(h), NULL, 0);
}

static void on_out(struct fake *f, uint64_t id, const uint8_t *p, uint32_t n)
{
	switch (f->b) {
	case FAKE_out_never: return;
	case FAKE_out_stall: bulk(f, WEFT_USB_EP_OUT, id, usb_redir_stall, 0, NULL, 0); return;
	case FAKE_out_error: bulk(f, WEFT_USB_EP_OUT, id, usb_redir_ioerror, 0, NULL, 0); return;
	case FAKE_out_short: bulk(f, WEFT_USB_EP_OUT, id, 0, n / 2, NULL, 0); break;
	default: bulk(f, WEFT_USB_EP_OUT, id, 0, n, NULL, 0);
	}
	add(&f->frames, p, n);
	on_frames(f);
}

static void on_bulk(struct fake *f, uint64_t id, const uint8_t *p, uint32_t n)
{
	struct usb_redir_bulk_packet_header h;

	memcpy(&h, p, sizeof(h));
	if (!(h.endpoint & 0x80)) {
		on_out(f, id, p + sizeof(h), n - (uint32_t)sizeof(h));
	} else if (f->n_in < N_INS) {
		f->in[f->n_in].id = id;
		f->in[f->n_in++].len = (uint32_t)h.length_high << 16 | h.length;
		flush_in(f);
	}
}

static void on_cancel(struct fake *f, uint64_t id)
{
	if (f->b == FAKE_cancel_ignored)
		return;
	for (int i = 0; i < f->n_in; i++) {
		if (f->in[i].id != id)
			continue;
		memmove(f->in + i, f->in + i + 1, (size_t)(--f->n_in - i) * sizeof(f->in[0]));
		bulk(f, WEFT_USB_EP_IN, id, usb_redir_cancelled, 0, NULL, 0);
		return;
	}
	if (f->b == FAKE_out_never)
		bulk(f, WEFT_USB_EP_OUT, id, usb_redir_cancelled, 0, NULL, 0);
}

/* A packet of each kind that belongs to endpoints or capabilities which no card of ours has. */
static void send_others(struct fake *f)
{
	static const struct { uint32_t type, bytes; uint8_t header[10]; } others[] = {
		{ usb_redir_configuration_status, 2, { 0 } }, { usb_redir_alt_setting_status, 3, { 0 } },
		{ usb_redir_iso_stream_status, 2, { 0 } }, { usb_redir_interrupt_receiving_status, 2, { 0 } },
		{ usb_redir_iso_packet, 4, { 0x81 } }, { usb_redir_interrupt_packet, 4, { 0x81 } },
		{ usb_redir_filter_filter, 0, { 0 } }, { usb_redir_bulk_streams_status, 9, { 0 } },
		{ usb_redir_bulk_receiving_status, 6, { 0 } },
		{ usb_redir_buffered_bulk_packet, 10, { [8] = 0x81 } },
	};
	static const char rule[] = "-1,-1,-1,-1,1";

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		packet(f, others[i].type, 0, others[i].header, others[i].bytes, others[i].bytes ? NULL : rule, others[i].bytes ? 0 : sizeof(rule));
}

static void show(struct fake *f)
{
	struct usb_redir_interface_info_header i = { .interface_count = 1, .interface_class = { WEFT_USB_CLASS } };
	struct usb_redir_ep_info_header e = { 0 };
	struct usb_redir_device_connect_header c = { .speed = usb_redir_speed_high, .vendor_id = WEFT_USB_VENDOR_ID,
		.product_id = WEFT_USB_PRODUCT_ID, .device_version_bcd = WEFT_USB_DEVICE_BCD };

	for (int k = 0; k < 32; k++)
		e.type[k] = k % 16 > 1 ? usb_redir_type_invalid : k % 16 ? usb_redir_type_bulk : usb_redir_type_control;
	e.max_packet_size[0] = e.max_packet_size[16] = 64;
	e.max_packet_size[1] = e.max_packet_size[17] = WEFT_USB_PACKET_HIGH;
	/* The last array of the endpoints' description comes only with a capability that nobody has here. */
	packet(f, usb_redir_ep_info, 0, &e, sizeof(e) - sizeof(e.max_streams), NULL, 0);
	packet(f, usb_redir_interface_info, 0, &i, sizeof(i), NULL, 0);
	packet(f, usb_redir_device_connect, 0, &c, sizeof(c), NULL, 0);
	if (f->b == FAKE_sock_others)
		send_others(f);
}

static void on_greeting(struct fake *f)
{
	if (f->rx.n < 12 || f->rx.n < 12 + get32(f->rx.p + 4))
		return;
	drop(&f->rx, 12 + get32(f->rx.p + 4));
	f->greeted = true;
	if (f->b != FAKE_sock_silent)
		show(f);
}

static void parse(struct fake *f)
{
	if (!f->greeted)
		on_greeting(f);
	while (f->greeted && !f->dead && f->rx.n >= 16 && f->rx.n >= 16 + (size_t)get32(f->rx.p + 4)) {
		const uint8_t *p = f->rx.p;
		uint32_t type = get32(p), n = get32(p + 4);
		uint64_t id = get32(p + 8) | (uint64_t)get32(p + 12) << 32;

		if (type == usb_redir_control_packet)
			on_control(f, id, p + 16);
		else if (type == usb_redir_bulk_packet)
			on_bulk(f, id, p + 16, n);
		else if (type == usb_redir_cancel_data_packet)
			on_cancel(f, id);
		drop(&f->rx, 16 + (size_t)n);
	}
}

/* ---- the process ---- */

static void greet(struct fake *f)
{
	const uint32_t caps = 1u << usb_redir_cap_connect_device_version | 1u << usb_redir_cap_ep_info_max_packet_size |
	                      1u << usb_redir_cap_64bits_ids | 1u << usb_redir_cap_32bits_bulk_length;
	struct usb_redir_hello_header h = { .version = "fake card" };
	const uint32_t head[3] = { usb_redir_hello, sizeof(h) + 4, 0 };

	add(&f->out, head, sizeof(head));
	add(&f->out, &h, sizeof(h));
	add(&f->out, &caps, 4);
}

static void serve(struct fake *f)
{
	static uint8_t room[1 << 20];

	greet(f);
	while (!f->dead || f->out.n) {
		struct pollfd p = { f->fd, POLLIN | (f->out.n ? POLLOUT : 0), 0 };
		if (f->b == FAKE_sock_flood && f->spam)
			for (int i = 0; i < 1000; i++)
				packet(f, usb_redir_interface_info, 0, room, sizeof(struct usb_redir_interface_info_header), NULL, 0);
		poll(&p, 1, 1000);
		if (p.revents & POLLOUT) {
			ssize_t n = send(f->fd, f->out.p, f->out.n, MSG_DONTWAIT | MSG_NOSIGNAL);
			if (n < 0 && errno != EAGAIN)
				return;
			drop(&f->out, n > 0 ? (size_t)n : 0);
		}
		if (f->dead || !(p.revents & (POLLIN | POLLHUP)))
			continue;
		ssize_t n = recv(f->fd, room, sizeof(room), MSG_DONTWAIT);
		if (n == 0 || (n < 0 && errno != EAGAIN))
			return;
		if (n > 0)
			add(&f->rx, room, (size_t)n);
		if (f->b == FAKE_interval) {
			pause_ms(fake_card_interval_ms);
			f->n_intervals++;
			n = recv(f->fd, room, sizeof(room), MSG_DONTWAIT);
			add(&f->rx, room, n > 0 ? (size_t)n : 0);
		}
		parse(f);
	}
}

static void serve_all(int listening, enum fake_behaviour b)
{
	struct weft_dev_options o = weft_dev_options_default();
	struct fake f = { .b = b, .cfg = weft_config_find("w16"), .dram = calloc(1, DRAM), .boot = 1 };
	char msg[WEFT_DEV_MSG];

	if (!f.dram || weft_backend_model.open(&o, f.cfg, &f.npu, msg))
		return;
	while ((f.fd = accept(listening, NULL, NULL)) >= 0) {
		f.rx.n = f.frames.n = f.out.n = 0;
		f.n_in = f.n_frames = 0;
		f.greeted = f.dead = false;
		f.spam = NULL;
		serve(&f);
		close(f.fd);
	}
}

pid_t fake_card_start(const char *path, enum fake_behaviour b)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	unlink(path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 4))
		return -1;
	pid_t pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve_all(fd, b);
		_exit(0);
	}
	close(fd);
	return pid;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "usb_link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "driver/clock.h"
#include "include/le.h"

static uint32_t crc(const uint8_t *p, size_t n)
{
	return (uint32_t)crc32(0, p, (uInt)n);
}

static void break_link(struct weft_link *l, const char *format, int value)
{
	if (!l->broken)
		snprintf(l->why, sizeof(l->why), format, value);
	l->broken = true;
}

/* ---- what arrives ---- */

static struct weft_req *find(struct weft_link *l, uint16_t seq)
{
	for (struct weft_req *r = l->first; r && r->sent; r = r->next)
		if (r->seq == seq)
			return r;
	return NULL;
}

static void unlink_req(struct weft_link *l, struct weft_req *r)
{
	struct weft_req **p = &l->first;

	if (l->first == r)
		l->first_ns = weft_now_ns();
	while (*p != r)
		p = &(*p)->next;
	*p = r->next;
	if (!*p)
		l->last = p;
	if (r->sent && r->type == WEFT_FRAME_READ)
		l->reading -= r->len;
}

static void tell(const struct weft_link *l, const struct weft_req *r)
{
	const char *name = r->type == WEFT_FRAME_MSG ? weft_msg_type_name(get32(r->msg)) : NULL;
	const struct weft_transfer t = {
		.what = r->type == WEFT_FRAME_WRITE ? "WRITE" : r->type == WEFT_FRAME_READ ? "READ" : name ? name : "message",
		.bytes = r->len, .from_ns = r->sent_ns, .to_ns = weft_now_ns(),
	};

	l->traffic(l->traffic_user, &t);
}

static void finish(struct weft_link *l, struct weft_req *r, int status)
{
	unlink_req(l, r);
	r->status = status;
	if (l->traffic)
		tell(l, r);
	r->done(r);
}

/* Once more, behind what waits: the card saw its frame and did not take it. */
static void again(struct weft_link *l, struct weft_req *r)
{
	if (++r->tries > (int)l->policy->req_tries) {
		finish(l, r, -EIO);
		return;
	}
	unlink_req(l, r);
	l->n_retried++;
	/* Behind the sent ones, before those that were not yet. */
	struct weft_req **p = &l->first;
	while (*p && (*p)->sent)
		p = &(*p)->next;
	r->sent = false;
	r->next = *p;
	*p = r;
	if (!r->next)
		l->last = &r->next;
}

static void on_ack(struct weft_link *l, uint16_t seq, uint32_t status)
{
	struct weft_req *r = find(l, seq);

	if (status == WEFT_FRAME_STATUS_RESYNC)
		break_link(l, "the card lost the frames' thread", 0);
	if (!r)
		return;
	switch (status) {
	case WEFT_FRAME_STATUS_OK:
		if (r->type == WEFT_FRAME_WRITE)
			finish(l, r, 0);
		break;
	case WEFT_FRAME_STATUS_CRC:
		again(l, r);
		break;
	case WEFT_FRAME_STATUS_FENCE:
		/* Firmware opens the fence when it starts: perhaps it is just doing so. */
		if (r->tries >= (int)l->policy->fence_tries)
			finish(l, r, -EACCES);
		else
			break_link(l, "the card lets nobody at its memory", 0);
		break;
	default:
		break_link(l, "the card refuses a frame, status %d", (int)status);
	}
}

static uint32_t body_len(const struct weft_link *l)
{
	return l->head[1] == WEFT_FRAME_ACK ? 0 : get32(l->head + 8);
}

/* A header is complete: checks it, and says where its payload goes. */
static bool on_head(struct weft_link *l)
{
	const uint8_t *h = l->head;
	uint32_t len = get32(h + 8);

	l->sink = NULL;
	if (h[0] != WEFT_FRAME_MAGIC || get32(h + 12) != crc(h, 12))
		return false;
	if (h[1] == WEFT_FRAME_ACK)
		return true;
	if (h[1] == WEFT_FRAME_DATA) {
		struct weft_req *r = find(l, (uint16_t)(h[2] | h[3] << 8));
		if (r && r->type == WEFT_FRAME_READ && r->len == len && r->addr == get32(h + 4))
			l->sink = r;
		return len <= WEFT_FRAME_WRITE_MAX;
	}
	return h[1] == WEFT_FRAME_REPLY && len >= WEFT_FRAME_MSG_MIN && len <= WEFT_FRAME_MSG_MAX;
}

static void on_reply(struct weft_link *l, uint16_t seq, uint32_t len)
{
	struct weft_req *r = seq ? find(l, seq) : NULL;

	if (!seq) {
		if (l->on_msg)
			l->on_msg(l->user, l->body, len);
		return;
	}
	if (!r || r->type != WEFT_FRAME_MSG)
		return;
	memcpy(r->reply, l->body, len);
	r->reply_len = len;
	finish(l, r, 0);
}

/* A whole frame is there. */
static void on_frame(struct weft_link *l)
{
	const uint8_t *h = l->head;
	uint16_t seq = (uint16_t)(h[2] | h[3] << 8);
	uint32_t len = body_len(l);

	if (h[1] == WEFT_FRAME_ACK) {
		on_ack(l, seq, get32(h + 4));
	} else if (h[1] == WEFT_FRAME_DATA) {
		struct weft_req *r = l->sink;
		l->sink = NULL;
		if (!r)
			return;
		if (get32(l->tail) == crc(r->in, len))
			finish(l, r, 0);
		else
			l->n_frames_bad++, again(l, r);
	} else if (get32(l->tail) == crc(l->body, len)) {
		on_reply(l, seq, len);
	} else {
		/* Whose it was is known if the header was right; firmware answers a repeated message again. */
		struct weft_req *r = seq ? find(l, seq) : NULL;
		l->n_frames_bad++;
		if (r)
			again(l, r);
	}
}

/* Bytes of the stream from the card. */
static void take(struct weft_link *l, const uint8_t *p, uint32_t n)
{
	while (n && !l->broken) {
		uint64_t head = WEFT_FRAME_HEADER_BYTES;
		if (l->at < head) {
			l->head[l->at++] = *p++;
			n--;
			if (l->at < head)
				continue;
			if (!on_head(l)) {
				l->n_frames_bad++;
				break_link(l, "a frame of the card has a broken header", 0);
				return;
			}
		} else if (l->at < head + body_len(l)) {
			uint32_t at = (uint32_t)(l->at - head), rest = body_len(l) - at, k = n < rest ? n : rest;
			if (l->sink)
				memcpy(l->sink->in + at, p, k);
			else if (l->head[1] == WEFT_FRAME_REPLY)
				memcpy(l->body + at, p, k);
			l->at += k;
			p += k;
			n -= k;
		} else {
			l->tail[l->at++ - head - body_len(l)] = *p++;
			n--;
		}
		uint64_t all = l->head[1] == WEFT_FRAME_ACK ? head : head + body_len(l) + 4;
		if (l->at == all) {
			l->at = 0;
			on_frame(l);
		}
	}
}

/* Each frame ends with a short packet, so one that goes on behind it lost bytes. */
static void on_in(struct weft_xfer *x)
{
	struct weft_link *l = x->user;

	l->n_events++;
	if (l->stopped)
		return;
	if (x->status == -ENODEV) {
		l->gone = true;
	} else if (x->status) {
		l->stalled_in = l->stalled_in || x->status == -EPIPE;
		break_link(l, "transfer from the card failed (%d)", x->status);
	} else {
		take(l, x->data, x->actual);
		if (l->at && x->actual < x->len) {
			l->n_frames_bad++;
			break_link(l, "a frame of the card ends early, after %d bytes", (int)l->at);
		}
	}
}

static void on_out(struct weft_xfer *x)
{
	struct weft_link *l = x->user;

	l->n_events++;
	if (l->stopped)
		return;
	if (x->status == -ENODEV) {
		l->gone = true;
	} else if (x->status || x->actual != x->len) {
		l->stalled_out = l->stalled_out || x->status == -EPIPE;
		break_link(l, "transfer to the card failed (%d)", x->status);
	}
}

static void on_ctrl(struct weft_xfer *x)
{
	struct weft_link *l = x->user;

	l->n_events++;
	if (x->status == -ENODEV)
		l->gone = true;
}

/* ---- what leaves ---- */

static uint32_t frame_bytes(const struct weft_req *r)
{
	return WEFT_FRAME_HEADER_BYTES + (r->type == WEFT_FRAME_READ ? 0 : r->len + 4);
}

static uint32_t put_frame(uint8_t *p, const struct weft_req *r)
{
	const uint8_t *body = r->type == WEFT_FRAME_MSG ? r->msg : r->out;

	p[0] = WEFT_FRAME_MAGIC;
	p[1] = r->type;
	p[2] = (uint8_t)r->seq;
	p[3] = (uint8_t)(r->seq >> 8);
	put32(p + 4, r->addr);
	put32(p + 8, r->len);
	put32(p + 12, crc(p, 12));
	if (r->type != WEFT_FRAME_READ) {
		memcpy(p + WEFT_FRAME_HEADER_BYTES, body, r->len);
		put32(p + WEFT_FRAME_HEADER_BYTES + r->len, crc(body, r->len));
	}
	return frame_bytes(r);
}

static bool may_send(const struct weft_link *l, const struct weft_req *r, uint32_t used)
{
	if (l->only && r != l->only)
		return false;
	if (r->type == WEFT_FRAME_READ && l->reading && l->reading + r->len > LINK_READ_MAX)
		return false;
	return used + frame_bytes(r) <= LINK_OUT_BUF;
}

/* Returns the first request that was not sent, or NULL. */
static struct weft_req *first_unsent(const struct weft_link *l)
{
	struct weft_req *r = l->first;

	while (r && r->sent)
		r = r->next;
	return r;
}

bool weft_link_can_send(const struct weft_link *l)
{
	const struct weft_req *r = first_unsent(l);

	for (int i = 0; i < LINK_N_OUT && r && !l->stopped && !l->broken && !l->gone; i++)
		if (!l->out[i].busy)
			return may_send(l, r, 0);
	return false;
}

static void submit(struct weft_link *l, struct weft_xfer *x)
{
	int err = l->ops->submit(l->t, x);

	if (err == -ENODEV)
		l->gone = true;
	else if (err)
		break_link(l, "transfer cannot be submitted (%d)", err);
}

static void send_some(struct weft_link *l)
{
	struct weft_req *r = first_unsent(l);

	for (int i = 0; i < LINK_N_OUT && r && !l->broken && !l->gone; i++) {
		struct weft_xfer *x = &l->out[i];
		if (x->busy)
			continue;
		x->len = 0;
		while (r && may_send(l, r, x->len)) {
			if (r == l->first)
				l->first_ns = weft_now_ns();
			r->sent = true;
			if (l->traffic)
				r->sent_ns = weft_now_ns();
			if (r->type == WEFT_FRAME_READ)
				l->reading += r->len;
			x->len += put_frame(x->data + x->len, r);
			r = r->next;
		}
		if (!x->len)
			return;
		submit(l, x);
	}
}

static void listen_in(struct weft_link *l)
{
	for (int i = 0; i < LINK_N_IN && !l->broken && !l->gone; i++)
		if (!l->in[i].busy)
			submit(l, &l->in[i]);
}

/* ---- the owner's side ---- */

static int new_xfer(struct weft_xfer *x, struct weft_link *l, enum weft_xfer_kind kind, uint32_t len,
                    void (*done)(struct weft_xfer *))
{
	*x = (struct weft_xfer){ .kind = kind, .len = len, .done = done, .user = l };
	if (l->ops->alloc && kind != WEFT_XFER_CONTROL)
		x->data = l->ops->alloc(l->t, len);
	if (!x->data)
		x->data = l->own[l->n_own++] = malloc(len);
	return x->data ? 0 : -ENOMEM;
}

int weft_link_init(struct weft_link *l, const struct weft_usb_ops *ops, void *t, const struct weft_policy *policy)
{
	int err = 0;

	memset(l, 0, sizeof(*l));
	l->ops = ops;
	l->t = t;
	l->last = &l->first;
	l->stopped = true;
	l->policy = policy;
	for (int i = 0; i < LINK_N_OUT; i++)
		err |= new_xfer(&l->out[i], l, WEFT_XFER_OUT, LINK_OUT_BUF, on_out);
	for (int i = 0; i < LINK_N_IN; i++)
		err |= new_xfer(&l->in[i], l, WEFT_XFER_IN, LINK_IN_BUF, on_in);
	err |= new_xfer(&l->ctrl, l, WEFT_XFER_CONTROL, LINK_CTRL_BUF, on_ctrl);
	return err ? -ENOMEM : 0;
}

void weft_link_free(struct weft_link *l)
{
	while (l->n_own)
		free(l->own[--l->n_own]);
}

static void number(struct weft_link *l, struct weft_req *r)
{
	if (!++l->next_seq)        /* 0 is the card's own */
		++l->next_seq;
	r->seq = l->next_seq;
	r->sent = false;
	r->tries = 0;
	r->status = 0;
	r->reply_len = 0;
}

static void insert(struct weft_link *l, struct weft_req **at, struct weft_req *r)
{
	r->next = *at;
	*at = r;
	if (!r->next)
		l->last = &r->next;
}

/* Nothing that is said to firmware speaks of WRITEs that were not acknowledged. */
void weft_link_queue(struct weft_link *l, struct weft_req *r)
{
	struct weft_req **at = l->last;

	number(l, r);
	if (r->type == WEFT_FRAME_MSG)
		for (at = &l->first; *at && ((*at)->sent || (*at)->type == WEFT_FRAME_MSG);)
			at = &(*at)->next;
	insert(l, at, r);
}

void weft_link_queue_first(struct weft_link *l, struct weft_req *r)
{
	number(l, r);
	insert(l, &l->first, r);
}

/* A simulated card takes its time over many bytes. */
uint64_t weft_link_late_ns(const struct weft_link *l)
{
	if (l->stopped || l->broken || l->gone || !l->first || !l->first->sent)
		return UINT64_MAX;
	return l->first_ns + l->policy->timeout_ns * (1 + l->first->len / l->policy->slow_bytes);
}

void weft_link_poll(struct weft_link *l, uint64_t until_ns)
{
	if (l->stopped || l->broken || l->gone)
		return;
	listen_in(l);
	send_some(l);
	if (l->broken || l->gone)
		return;
	l->ops->poll(l->t, weft_sooner(until_ns, weft_link_late_ns(l)));
	if (weft_now_ns() >= weft_link_late_ns(l))
		break_link(l, "no answer within %d ms", (int)(l->policy->timeout_ns / 1000000));
}

bool weft_link_busy(const struct weft_link *l)
{
	bool busy = l->ctrl.busy;

	for (int i = 0; i < LINK_N_OUT; i++)
		busy |= l->out[i].busy;
	for (int i = 0; i < LINK_N_IN; i++)
		busy |= l->in[i].busy;
	return busy;
}

void weft_link_begin_stop(struct weft_link *l)
{
	l->stopped = true;
	for (int i = 0; i < LINK_N_OUT; i++)
		if (l->out[i].busy)
			l->ops->cancel(l->t, &l->out[i]);
	for (int i = 0; i < LINK_N_IN; i++)
		if (l->in[i].busy)
			l->ops->cancel(l->t, &l->in[i]);
	if (l->ctrl.busy)
		l->ops->cancel(l->t, &l->ctrl);
}

int weft_link_stop(struct weft_link *l, uint64_t until_ns)
{
	weft_link_begin_stop(l);
	while (weft_link_busy(l) && !l->gone) {
		if (weft_now_ns() >= until_ns)
			return -ETIMEDOUT;
		l->ops->poll(l->t, until_ns);
	}
	return l->gone ? -ENODEV : 0;
}

void weft_link_start(struct weft_link *l)
{
	l->at = 0;
	l->sink = NULL;
	l->reading = 0;
	l->stopped = l->broken = l->stalled_in = l->stalled_out = false;
	l->only = NULL;
	l->why[0] = '\0';
	l->first_ns = weft_now_ns();
	for (struct weft_req *r = l->first; r; r = r->next) {
		l->n_retried += r->sent;
		r->tries += r->sent;
		r->sent = false;
	}
}

struct weft_req *weft_link_take(struct weft_link *l)
{
	struct weft_req *all = l->first;

	l->first = NULL;
	l->last = &l->first;
	l->reading = 0;
	l->sink = NULL;
	return all;
}

void weft_link_drop(struct weft_link *l, struct weft_req *r)
{
	if (l->sink == r)
		l->sink = NULL;
	unlink_req(l, r);
}

/* ---- endpoint 0 ---- */

static int submit_ctrl(struct weft_link *l)
{
	int err = l->ops->submit(l->t, &l->ctrl);

	l->gone = l->gone || err == -ENODEV;
	return err;
}

int weft_link_begin_control(struct weft_link *l, uint8_t request_type, uint8_t request, uint16_t value, uint16_t index,
                            const uint8_t *data, uint32_t len)
{
	struct weft_xfer *x = &l->ctrl;

	if (x->busy)
		return -EBUSY;
	if (len > LINK_CTRL_BUF)
		return -EINVAL;
	x->kind = WEFT_XFER_CONTROL;
	x->request_type = request_type;
	x->request = request;
	x->value = value;
	x->index = index;
	x->len = len;
	if (!(request_type & 0x80) && len)
		memcpy(x->data, data, len);
	return submit_ctrl(l);
}

int weft_link_begin_clear(struct weft_link *l, uint8_t endpoint)
{
	struct weft_xfer *x = &l->ctrl;

	if (x->busy)
		return -EBUSY;
	x->kind = WEFT_XFER_CLEAR_HALT;
	x->value = endpoint;
	x->len = 0;
	return submit_ctrl(l);
}

/* err: of its beginning. */
static int wait_ctrl(struct weft_link *l, int err, uint64_t until_ns)
{
	struct weft_xfer *x = &l->ctrl;

	if (err)
		return err;
	while (x->busy && !l->gone && weft_now_ns() < until_ns)
		l->ops->poll(l->t, until_ns);
	if (x->busy && !l->gone) {
		l->ops->cancel(l->t, x);
		return -ETIMEDOUT;
	}
	return l->gone ? -ENODEV : x->status;
}

int weft_link_reset(struct weft_link *l, uint8_t request, uint64_t until_ns)
{
	int err = 0;

	if (l->stalled_in)
		err = wait_ctrl(l, weft_link_begin_clear(l, WEFT_USB_EP_IN), until_ns);
	if (!err && l->stalled_out)
		err = wait_ctrl(l, weft_link_begin_clear(l, WEFT_USB_EP_OUT), until_ns);
	if (!err)
		err = wait_ctrl(l, weft_link_begin_control(l, 0x40, request, 0, 0, NULL, 0), until_ns);
	return err;
}

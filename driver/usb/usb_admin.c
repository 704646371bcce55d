/* SPDX-License-Identifier: Apache-2.0 */
/* A card's own affairs over the link alone: no buffers, no jobs, no recovery but greeting again. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/admin.h>
#include <weft/gen/chip.h>

#include "driver/sys.h"
#include "driver/clock.h"
#include "usb_link.h"

#define MS 1000000ull
/* Of one greeting, before the link is reset for the next. */
#define GREET_MS 500
/* A card whose new firmware is dead needs three bites of its watchdog to go back. */
#define BACK_MS 10000
#define RESCUE_TRIES 4
/* A reset that the card stalls is asked for so often. */
#define RESET_TRIES 3

struct weft_admin {
	const struct weft_usb_ops *ops;
	void *t;
	struct weft_link link;
	struct weft_policy policy;
	unsigned timeout_ms;
	struct weft_msg_hello_reply hello;
	uint32_t session;
	uint32_t wrote_end;        /* first byte of card memory behind all that was written */
};

static uint64_t in_ms(unsigned ms)
{
	return weft_now_ns() + ms * MS;
}

/* ---- one message ---- */

static void over(struct weft_req *r)
{
	*(bool *)r->user = true;
}

/* 0 or a negative errno. r: all but done and user. */
static int answered(weft_admin *a, struct weft_req *r, uint64_t until)
{
	bool done = false;

	r->done = over;
	r->user = &done;
	weft_link_queue(&a->link, r);
	while (!done && !a->link.gone && !a->link.broken && weft_now_ns() < until)
		weft_link_poll(&a->link, until);
	if (!done) {
		weft_link_drop(&a->link, r);
		return a->link.gone ? -ENODEV : a->link.broken ? -EIO : -ETIMEDOUT;
	}
	return r->status;
}

/* Bytes of the answer in *r, or a negative errno. */
static int exchange(weft_admin *a, struct weft_req *r, const uint32_t *words, unsigned n, uint64_t until)
{
	memset(r, 0, sizeof(*r));
	r->type = WEFT_FRAME_MSG;
	r->len = 4 * n;
	memcpy(r->msg, words, 4 * n);
	int err = answered(a, r, until);
	return err ? err : (int)r->reply_len;
}

static int complain(const weft_admin *a, int err, const char *what, char *msg)
{
	snprintf(msg, WEFT_ADMIN_MSG, "card: %s: %s", what, err == -EIO && a->link.why[0] ? a->link.why : weft_sys_error(err));
	return err;
}

static const char *name_of(const uint32_t *words)
{
	const char *name = weft_msg_type_name(words[0]);

	return name ? name : "message";
}

int weft_admin_ask(weft_admin *a, const uint32_t *words, unsigned n, uint32_t *reply, unsigned max, char msg WEFT_ROOM(WEFT_ADMIN_MSG))
{
	struct weft_req r;
	uint32_t head;
	int len = n && n <= sizeof(r.msg) / 4 ? exchange(a, &r, words, n, in_ms(a->timeout_ms)) : -EINVAL;

	if (max)
		memset(reply, 0, 4 * max);
	if (len < 0)
		return complain(a, len, name_of(words), msg);
	memcpy(&head, r.reply, 4);
	if (max)
		memcpy(reply, r.reply, (unsigned)len < 4 * max ? (unsigned)len : 4 * max);
	if ((head & 0xffff) != (words[0] | WEFT_MSG_REPLY))
		return complain(a, -EPROTO, name_of(words), msg);
	if (head >> 16) {
		const char *text = weft_msg_error_text(head >> 16);
		/* A slot above 1 is the boot ROM, which knows little more than updates. */
		snprintf(msg, WEFT_ADMIN_MSG, "card: %s: %s%s", name_of(words), text ? text : "unknown error",
		         a->hello.slot > 1 && head >> 16 == WEFT_MSG_ERR_TYPE ? ": the boot ROM answers, load firmware first" : "");
		return -EPROTO;
	}
	return len / 4;
}

static int move(weft_admin *a, uint8_t type, uint32_t addr, uint8_t *in, const uint8_t *out, uint32_t len, char *msg)
{
	if (addr < a->hello.host_base || addr > a->hello.host_limit || len > a->hello.host_limit - addr) {
		snprintf(msg, WEFT_ADMIN_MSG, "card: memory at 0x%x: the host may use 0x%x to 0x%x", addr, a->hello.host_base,
		         a->hello.host_limit - 1);
		return -EACCES;
	}
	if (out && addr + len > a->wrote_end)
		a->wrote_end = addr + len;
	for (uint32_t at = 0, part; at < len; at += part) {
		struct weft_req r = { .type = type, .addr = addr + at };

		part = len - at < LINK_CHUNK ? len - at : LINK_CHUNK;
		r.len = part;
		r.in = in ? in + at : NULL;
		r.out = out ? out + at : NULL;
		int err = answered(a, &r, in_ms(a->timeout_ms));
		if (err)
			return complain(a, err, type == WEFT_FRAME_READ ? "read" : "write", msg);
	}
	return 0;
}

int weft_admin_read(weft_admin *a, uint32_t addr, void *data, uint32_t len, char msg WEFT_ROOM(WEFT_ADMIN_MSG))
{
	return move(a, WEFT_FRAME_READ, addr, data, NULL, len, msg);
}

int weft_admin_write(weft_admin *a, uint32_t addr, const void *data, uint32_t len, char msg WEFT_ROOM(WEFT_ADMIN_MSG))
{
	return move(a, WEFT_FRAME_WRITE, addr, NULL, data, len, msg);
}

/* ---- greeting ---- */

/* Empty the link, whatever was on it. */
static int clear(weft_admin *a, uint8_t request, uint64_t until)
{
	int err = weft_link_stop(&a->link, until);

	if (!err)
		err = weft_link_reset(&a->link, request, until);
	weft_link_take(&a->link);
	weft_link_start(&a->link);
	return err;
}

static int greet_once(weft_admin *a, uint64_t until)
{
	const uint32_t words[3] = { WEFT_MSG_HELLO, WEFT_MSG_VERSION_VALUE, a->session };
	struct weft_req r;
	int len = exchange(a, &r, words, 3, until);
	uint32_t head = 0;

	if (len >= 4)
		memcpy(&head, r.reply, 4);
	if (weft_hello_too_long(head))
		len = exchange(a, &r, words, 2, until);

	if (len < 0)
		return len;
	/* Protocol 1.0 ends before the words about keys. */
	if (len < (int)offsetof(struct weft_msg_hello_reply, key_id))
		return -EPROTO;
	memset(&a->hello, 0, sizeof(a->hello));
	memcpy(&a->hello, r.reply, (size_t)len < sizeof(a->hello) ? (size_t)len : sizeof(a->hello));
	return a->hello.head >> 16 ? -EPROTO : 0;
}

/* first: the request that goes before the first HELLO. */
static int greet(weft_admin *a, uint8_t first, unsigned ms, char *msg)
{
	uint64_t until = in_ms(ms);
	uint8_t request = first;
	int err, stalls = 0;

	do {
		uint64_t one = in_ms(GREET_MS);

		err = clear(a, request, until);
		/* A reset that was not done is asked for again. */
		if (err == -EPIPE && ++stalls < RESET_TRIES)
			continue;
		if (err == -EPIPE) {
			snprintf(msg, WEFT_ADMIN_MSG, "card: %s is refused", weft_usb_request_name(request));
			return -EACCES;
		}
		if (!err)
			err = greet_once(a, one < until ? one : until);
		if (!err || err == -ENODEV || err == -EPROTO)
			break;
		request = WEFT_USB_REQ_LINK_RESET;
	} while (weft_now_ns() < until);
	return err ? complain(a, err, "hello", msg) : 0;
}

/*
 * Resets that follow each other before the boot ROM has judged an image; none can keep it from counting them. A host
 * that was too slow for that begins again.
 */
static int greet_rescue(weft_admin *a, char *msg)
{
	int err = 0;

	for (int k = 0; k < RESCUE_TRIES && !err; k++) {
		const uint64_t until = in_ms(a->timeout_ms);

		for (unsigned i = 0; i < WEFT_FLASH_RESCUE_RESETS && !err; i++)
			err = clear(a, WEFT_USB_REQ_CHIP_RESET, until);
		err = err ? complain(a, err, "reset", msg) : greet(a, WEFT_USB_REQ_LINK_RESET, a->timeout_ms, msg);
		if (!err && a->hello.slot > 1)
			return 0;
	}
	if (!err)
		snprintf(msg, WEFT_ADMIN_MSG, "card: %u resets did not bring the boot ROM's rescue code, %d times", WEFT_FLASH_RESCUE_RESETS,
		         RESCUE_TRIES);
	return err ? err : -EPROTO;
}

static int open_card(const char *which, unsigned timeout_ms, bool rescue, weft_admin **out, char *msg)
{
	weft_admin *a = calloc(1, sizeof(*a));
	struct weft_usb_way way;
	int err;

	msg[0] = '\0';
	if (!a)
		return -ENOMEM;
	a->timeout_ms = timeout_ms;
	a->session = weft_session_new();
	err = weft_usb_way(which, &way, msg);
	a->ops = way.ops;
	if (!err)
		err = weft_usb_go(&way, in_ms(timeout_ms), &a->t, msg);
	if (err) {
		free(a);
		return err;
	}
	a->policy = weft_policy_of(&(struct weft_dev_options){ .usb_timeout_ms = timeout_ms });
	err = weft_link_init(&a->link, a->ops, a->t, &a->policy);
	if (!err)
		err = rescue ? greet_rescue(a, msg) : greet(a, WEFT_USB_REQ_LINK_RESET, timeout_ms, msg);
	if (err) {
		weft_admin_close(a);
		return err;
	}
	*out = a;
	return 0;
}

int weft_admin_open(const char *which, unsigned timeout_ms, weft_admin **a, char msg WEFT_ROOM(WEFT_ADMIN_MSG))
{
	return open_card(which, timeout_ms, false, a, msg);
}

int weft_admin_open_rescue(const char *which, unsigned timeout_ms, weft_admin **a, char msg WEFT_ROOM(WEFT_ADMIN_MSG))
{
	return open_card(which, timeout_ms, true, a, msg);
}

void weft_admin_close(weft_admin *a)
{
	if (!a)
		return;
	weft_session_end(&a->link, a->hello.protocol, a->wrote_end);
	a->ops->close(a->t);
	weft_link_take(&a->link);
	weft_link_free(&a->link);
	free(a);
}

const struct weft_msg_hello_reply *weft_admin_hello(const weft_admin *a)
{
	return &a->hello;
}

int weft_admin_reset(weft_admin *a, char msg WEFT_ROOM(WEFT_ADMIN_MSG))
{
	return greet(a, WEFT_USB_REQ_CHIP_RESET, a->timeout_ms + BACK_MS, msg);
}

/* ---- new firmware ---- */

static int send_image(weft_admin *a, const uint8_t *image, size_t bytes, void (*progress)(void *user, size_t done),
                      void *user, char *msg)
{
	uint32_t words[2 + WEFT_MSG_FW_CHUNK / 4] = { WEFT_MSG_FW_BEGIN, (uint32_t)bytes };
	int n = weft_admin_ask(a, words, 2, NULL, 0, msg);

	for (size_t at = 0; at < bytes && n >= 0; at += WEFT_MSG_FW_CHUNK) {
		size_t part = bytes - at < WEFT_MSG_FW_CHUNK ? bytes - at : WEFT_MSG_FW_CHUNK;

		words[0] = WEFT_MSG_FW_DATA;
		words[1] = (uint32_t)at;
		memcpy(words + 2, image + at, part);
		n = weft_admin_ask(a, words, (unsigned)(2 + part / 4), NULL, 0, msg);
		if (progress && n >= 0)
			progress(user, at + part);
	}
	if (n >= 0)
		n = weft_admin_ask(a, (uint32_t[]){ WEFT_MSG_FW_END }, 1, NULL, 0, msg);
	if (n >= 0)
		n = weft_admin_ask(a, (uint32_t[]){ WEFT_MSG_FW_SWITCH }, 1, NULL, 0, msg);
	return n == -EPROTO ? -EINVAL : n < 0 ? n : 0;
}

int weft_admin_update(weft_admin *a, const void *image, size_t bytes, void (*progress)(void *user, size_t done),
                      void *user, char msg WEFT_ROOM(WEFT_ADMIN_MSG))
{
	struct weft_flash_image h;

	if (bytes < sizeof(h) || bytes % 4 || bytes > WEFT_FLASH_SLOT_BYTES) {
		snprintf(msg, WEFT_ADMIN_MSG, "firmware image: %zu bytes are none", bytes);
		return -EINVAL;
	}
	memcpy(&h, image, sizeof(h));
	if (h.magic != WEFT_FLASH_IMAGE_MAGIC) {
		snprintf(msg, WEFT_ADMIN_MSG, "firmware image: begins with 0x%08x, not 0x%08x", h.magic, WEFT_FLASH_IMAGE_MAGIC);
		return -EINVAL;
	}
	int err = send_image(a, image, bytes, progress, user, msg);
	if (!err)
		err = weft_admin_reset(a, msg);
	if (!err && a->hello.fw_crc != h.image_crc) {
		snprintf(msg, WEFT_ADMIN_MSG, "card: the new firmware did not answer; slot %u runs again", a->hello.slot);
		err = -EPROTO;
	}
	return err;
}

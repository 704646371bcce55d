/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Putting a card right: a few states, none of which waits.
 *
 *	STOP -> CLEAR_IN -> CLEAR_OUT -> RESET -> HELLO -> UP
 *	  each, when it fails or takes too long: -> PAUSE -> STOP, or LOST
 *
 * Reset is of the link first, and of the chip when that did not help. policy.h says how
 * often and how long; progress in between starts the count anew.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "driver/sys.h"
#include "usb_card.h"
#include "weft/gen/regs.h"

/* ---- the end ---- */

/* Nothing that was queued will be answered. */
static void drop_all(struct card *c, int status)
{
	struct weft_req *next;

	for (struct weft_req *r = weft_link_take(&c->link); r; r = next) {
		next = r->next;
		if (weft_card_is_upload(r)) {
			weft_card_upload_lost(r);
		} else {
			r->status = status;
			r->done(r);
		}
	}
}

void weft_card_give_up(struct card *c, int status)
{
	if (status == -ENODEV)
		snprintf(c->why, WEFT_DEV_MSG, "usb: card %s is gone", c->info.serial);
	c->rec.phase = status == -ENODEV ? CARD_GONE : CARD_LOST;
	c->rec.err = status;
	c->rec.link_tries = c->rec.chip_tries = 0;
	weft_link_begin_stop(&c->link);
	drop_all(c, status);
	weft_card_jobs_end(c, status, c->why);
}

/* ---- HELLO ---- */

/* Bytes of the shortest answer: protocol 1.0 says nothing of keys, which reads as 0. */
#define HELLO_LEAST offsetof(struct weft_msg_hello_reply, key_id)

/* Checks that this is a card for us. Every answer that breaks a promise is an error, not a surprise later. */
static int check_hello(struct card *c, const struct weft_msg_hello_reply *h, uint32_t len)
{
	const struct weft_config *has = weft_config_of_device(h->npu_config, h->npu_features);
	char *msg = c->why;

	if ((h->head & 0xffff) != (WEFT_MSG_HELLO | WEFT_MSG_REPLY) || len < HELLO_LEAST || h->head >> 16) {
		uint32_t code = h->head >> 16;
		snprintf(msg, WEFT_DEV_MSG, "usb: HELLO answered with %u bytes, error %u (%s)", len, code,
		         weft_msg_error_text(code) ? weft_msg_error_text(code) : "unknown");
		return -EPROTO;
	}
	if (h->protocol >> 16 != WEFT_MSG_MAJOR) {
		snprintf(msg, WEFT_DEV_MSG, "usb: card speaks protocol %u.%u, driver %u", h->protocol >> 16,
		         h->protocol & 0xffff, WEFT_MSG_MAJOR);
		return -EPROTO;
	}
	if (h->slot > 1) {
		snprintf(msg, WEFT_DEV_MSG, "usb: card runs its rescue code: no firmware image is good; load one");
		return -EPROTO;
	}
	if (h->npu_version >> WEFT_REG_VERSION_MAJOR_LSB != WEFT_HW_MAJOR) {
		snprintf(msg, WEFT_DEV_MSG, "usb: card has command version %u, driver %u",
		         h->npu_version >> WEFT_REG_VERSION_MAJOR_LSB, WEFT_HW_MAJOR);
		return -EPROTO;
	}
	if (!has) {
		snprintf(msg, WEFT_DEV_MSG, "usb: card has configuration 0x%08x, features 0x%x, which this driver does not know", h->npu_config, h->npu_features);
		return -EPROTO;
	}
	if (!c->cfg)
		c->cfg = has;
	if (strcmp(has->name, c->cfg->name)) {
		snprintf(msg, WEFT_DEV_MSG, "usb: card has configuration %s, not %s (--config %s)", has->name, c->cfg->name, has->name);
		return -EPROTO;
	}
	if (h->host_base % CARD_ALIGN || h->host_base >= h->host_limit || h->host_limit > h->dram_bytes ||
	    !h->jobs_max) {
		snprintf(msg, WEFT_DEV_MSG, "usb: card offers memory 0x%x..0x%x of 0x%x and %u jobs", h->host_base,
		         h->host_limit, h->dram_bytes, h->jobs_max);
		return -EPROTO;
	}
	return 0;
}

static void describe(struct card *c)
{
	const struct weft_msg_hello_reply *h = &c->hello;
	struct weft_card_info *i = &c->info;

	memcpy(i->serial, h->serial, sizeof(h->serial));
	const struct weft_config *cfg = weft_config_of_device(h->npu_config, h->npu_features);
	if (cfg)
		snprintf(i->config, sizeof(i->config), "%s", cfg->name);
	i->fw_version = h->fw_version;
	i->protocol = h->protocol;
	i->chip_version = h->chip_version;
	i->dram_bytes = h->dram_bytes;
	i->clock_khz = h->clock_khz;
	i->slot = h->slot;
	i->boot_count = h->boot_count;
	i->reset_cause = h->reset_cause;
	i->development_key = h->development;
	i->key_id = h->key_id;
	i->security_version = h->security_version;
}

/* The card works again; checks that it is still the one that it was. */
static void back(struct card *c, const struct weft_msg_hello_reply *h)
{
	const bool anew = c->known && (h->boot_id != c->hello.boot_id || c->rec.chip_was_reset);

	c->hello = *h;
	c->known = true;
	c->rec.phase = CARD_UP;
	c->rec.boot_until_ns = 0;
	c->rec.chip_was_reset = false;
	c->link.only = NULL;
	describe(c);
	if (!anew)
		return;
	drop_all(c, -ECONNRESET);
	weft_card_bufs_lost(c);
	weft_card_jobs_lost(c);
}

static void hello_done(struct weft_req *r)
{
	((struct card *)r->user)->rec.hello_over = true;
}

/* Over a link that has just started, or has nothing under way. */
static void ask_who(struct card *c)
{
	const struct weft_msg_hello m = { WEFT_MSG_HELLO, WEFT_MSG_VERSION_VALUE, c->session };
	struct weft_req *r = &c->rec.hello;

	memset(r, 0, sizeof(*r));
	r->type = WEFT_FRAME_MSG;
	r->len = c->rec.old_hello ? WEFT_HELLO_OLD_BYTES : sizeof(m);
	r->done = hello_done;
	r->user = c;
	memcpy(r->msg, &m, sizeof(m));
	c->rec.hello_over = false;
	c->rec.phase = CARD_HELLO;
	/* What was unanswered waits until it is known who is there (back()): after a reset the card's memory is lost. */
	c->link.only = r;
	weft_link_queue_first(&c->link, r);
}

static void say_hello(struct card *c)
{
	weft_link_start(&c->link);
	ask_who(c);
}

/* ---- one try ---- */

static bool link_failed(const struct card *c)
{
	return c->rec.link_tries >= c->policy.link_tries && weft_now_ns() >= c->rec.boot_until_ns;
}

static void begin_try(struct card *c)
{
	struct card_recovery *r = &c->rec;
	const uint64_t now = weft_now_ns();

	if ((r->chip_tries >= c->policy.chip_tries && link_failed(c)) || now >= r->until_ns) {
		weft_card_give_up(c, -EIO);
		return;
	}
	r->chip = r->force_chip || link_failed(c);
	r->step_until_ns = weft_sooner(r->until_ns, now + (c->policy.timeout_ns << (r->link_tries < 2 ? r->link_tries : 2)));
	r->link_tries = r->chip ? 0 : r->link_tries + 1;
	r->chip_tries += r->chip;
	r->phase = CARD_STOP;
	weft_link_begin_stop(&c->link);
}

static void try_failed(struct card *c, const char *what, int err)
{
	struct card_recovery *r = &c->rec;

	if (r->phase == CARD_HELLO && !r->hello_over)
		weft_link_drop(&c->link, &r->hello);
	if (what)
		snprintf(c->why, WEFT_DEV_MSG, "usb: %s failed: %s", what, weft_sys_error(err));
	weft_link_begin_stop(&c->link);
	r->phase = CARD_PAUSE;
	/* It may be starting; do not press it. */
	r->step_until_ns = weft_now_ns() + c->policy.pause_ns;
}

/* Begin to end one endpoint's halt; without one that is over. */
static void clear(struct card *c, bool stalled, uint8_t endpoint, enum card_phase phase)
{
	c->link.ctrl.status = 0;
	c->rec.phase = phase;
	int err = stalled ? weft_link_begin_clear(&c->link, endpoint) : 0;
	if (err)
		try_failed(c, "clearing a halt", err);
}

static uint8_t reset_request(const struct card *c)
{
	return c->rec.chip ? WEFT_USB_REQ_CHIP_RESET : WEFT_USB_REQ_LINK_RESET;
}

static void reset(struct card *c)
{
	int err = weft_link_begin_control(&c->link, 0x40, reset_request(c), 0, 0, NULL, 0);

	c->rec.phase = CARD_RESET;
	if (err)
		try_failed(c, weft_usb_request_name(reset_request(c)), err);
}

static void was_reset(struct card *c)
{
	c->info.link_resets += !c->rec.chip;
	c->info.chip_resets += c->rec.chip;
	if (c->rec.chip) {
		c->rec.boot_until_ns = weft_now_ns() + c->policy.boot_ns;
		c->rec.chip_was_reset = true;
	}
	c->rec.force_chip = false;
	say_hello(c);
}

static void was_greeted(struct card *c)
{
	struct weft_msg_hello_reply h = { 0 };
	const struct weft_req *r = &c->rec.hello;

	if (r->status) {
		try_failed(c, "HELLO", r->status);
		return;
	}
	memcpy(&h, r->reply, r->reply_len < sizeof(h) ? r->reply_len : sizeof(h));
	if (!c->rec.old_hello && weft_hello_too_long(h.head)) {
		c->rec.old_hello = true;
		ask_who(c);
		return;
	}
	if (check_hello(c, &h, r->reply_len))
		weft_card_give_up(c, -EPROTO);
	else
		back(c, &h);
}

/* What is over goes on, what has failed or is late is tried again. */
static bool step(struct card *c, bool over, int err, const char *what, void (*next)(struct card *c))
{
	const bool late = weft_now_ns() >= c->rec.step_until_ns;

	if (over && !err)
		next(c);
	else if (over || late)
		try_failed(c, what, over ? err : -ETIMEDOUT);
	return over || late;
}

static void stopped(struct card *c)
{
	clear(c, c->link.stalled_in, WEFT_USB_EP_IN, CARD_CLEAR_IN);
}

static void cleared_in(struct card *c)
{
	clear(c, c->link.stalled_out, WEFT_USB_EP_OUT, CARD_CLEAR_OUT);
}

bool weft_card_recover(struct card *c)
{
	const struct weft_xfer *ctrl = &c->link.ctrl;

	switch (c->rec.phase) {
	case CARD_STOP:
		return step(c, !weft_link_busy(&c->link), 0, "taking transfers back", stopped);
	case CARD_CLEAR_IN:
		return step(c, !ctrl->busy, ctrl->status, "clearing a halt", cleared_in);
	case CARD_CLEAR_OUT:
		return step(c, !ctrl->busy, ctrl->status, "clearing a halt", reset);
	case CARD_RESET:
		return step(c, !ctrl->busy, ctrl->status, weft_usb_request_name(reset_request(c)), was_reset);
	case CARD_HELLO:
		if (c->link.broken && !c->rec.hello_over) {
			snprintf(c->why, WEFT_DEV_MSG, "usb: %s", c->link.why);
			try_failed(c, NULL, -EIO);
			return true;
		}
		return step(c, c->rec.hello_over, 0, "HELLO", was_greeted);
	case CARD_PAUSE:
		if (weft_now_ns() < c->rec.step_until_ns)
			return false;
		begin_try(c);
		return true;
	default:
		return false;
	}
}

void weft_card_trouble(struct card *c, const char *why)
{
	struct card_recovery *r = &c->rec;

	if (why[0])
		snprintf(c->why, WEFT_DEV_MSG, "usb: %s", why);
	/* Not the same trouble as before if something was done since. */
	if (c->n_done != r->n_done_before)
		r->link_tries = r->chip_tries = 0;
	r->n_done_before = c->n_done;
	r->until_ns = weft_now_ns() + c->policy.recover_ns;
	/* A job that was given up may still run there, in memory that others get. */
	if (weft_card_jobs_troubled(c))
		r->force_chip = true;
	begin_try(c);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "usb_card.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "weft/gen/regs.h"

#define MS 1000000ull
#define TIMEOUT_MS 2000
#define BOOT_MS 30000
#define UDEV_MS 2000           /* for the udev rule to be applied */
/* Tries to recover without a request answered in between: that often with the link alone, then with
 * the chip and the link again, and so on. */
#define LINK_TRIES 3
#define CHIP_TRIES 2
/* Of one request. */
#define REQ_TRIES 8

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- HELLO ---- */

struct ask { struct weft_req r; bool over; };

static void asked(struct weft_req *r)
{
	((struct ask *)r)->over = true;
}

/* One message over a link that works, its answer checked for type and error. */
static int ask(struct card *c, const void *msg, uint32_t len, void *reply, uint32_t reply_len, uint64_t until_ns,
               bool pump)
{
	struct ask *a = calloc(1, sizeof(*a));
	int err = 0;

	if (!a)
		return -ENOMEM;
	a->r.type = WEFT_FRAME_MSG;
	a->r.len = len;
	a->r.done = asked;
	memcpy(a->r.msg, msg, len);
	weft_link_queue(&c->link, &a->r);
	while (!a->over && !err) {
		if (pump)
			err = weft_card_pump(c, until_ns);
		else
			weft_link_poll(&c->link, until_ns);
		if (!pump && (c->link.gone || c->link.broken))
			err = c->link.gone ? -ENODEV : -EIO;
		if (!err && !a->over && weft_now_ns() >= until_ns)
			err = -ETIMEDOUT;
	}
	if (!a->over) {
		weft_link_drop(&c->link, &a->r);
	} else if (a->r.status) {
		err = a->r.status;
	} else {
		uint32_t head, want, n = a->r.reply_len < reply_len ? a->r.reply_len : reply_len;
		memcpy(&head, a->r.reply, 4);
		memcpy(&want, msg, 4);
		memset(reply, 0, reply_len);
		memcpy(reply, a->r.reply, n);
		c->n_done += pump;
		err = (head & 0xffff) == (want | WEFT_MSG_REPLY) ? (int)a->r.reply_len : -EPROTO;
	}
	free(a);
	return err;
}

int weft_card_ask(struct card *c, const void *msg, uint32_t len, void *reply, uint32_t reply_len, uint64_t until_ns)
{
	return ask(c, msg, len, reply, reply_len, until_ns, true);
}

/* Is that a card for us? Every answer that breaks a promise is an error, not a surprise later. */
static int check_hello(struct card *c, const struct weft_msg_hello_reply *h, int len)
{
	char *msg = c->why;

	if (len < (int)sizeof(*h) || h->head >> 16) {
		uint32_t code = h->head >> 16;
		snprintf(msg, WEFT_DEV_MSG, "usb: HELLO answered with %d bytes, error %u (%s)", len, code,
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
	if (c->cfg && h->npu_version >> WEFT_REG_VERSION_MAJOR_LSB != WEFT_HW_MAJOR) {
		snprintf(msg, WEFT_DEV_MSG, "usb: card has command version %u, driver %u",
		         h->npu_version >> WEFT_REG_VERSION_MAJOR_LSB, WEFT_HW_MAJOR);
		return -EPROTO;
	}
	if (c->cfg && (h->npu_config != c->cfg->reg_config || h->npu_features != c->cfg->features)) {
		snprintf(msg, WEFT_DEV_MSG, "usb: card has configuration 0x%08x, features 0x%x; %s is 0x%08x, 0x%x",
		         h->npu_config, h->npu_features, c->cfg->name, c->cfg->reg_config, c->cfg->features);
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

static int hello(struct card *c, struct weft_msg_hello_reply *h, uint64_t until_ns)
{
	const struct weft_msg_hello m = { WEFT_MSG_HELLO, WEFT_MSG_VERSION_VALUE };
	int n = ask(c, &m, sizeof(m), h, sizeof(*h), until_ns, false);

	if (n == -EIO)
		snprintf(c->why, WEFT_DEV_MSG, "usb: %s", c->link.why);
	return n < 0 ? n : check_hello(c, h, n);
}

/* ---- recovery ---- */

static int reset(struct card *c, uint8_t request, uint64_t until_ns)
{
	int err = weft_link_reset(&c->link, request, until_ns);

	if (err)
		snprintf(c->why, WEFT_DEV_MSG, "usb: %s failed: %s", weft_usb_request_name(request), strerror(-err));
	return err;
}

static bool link_failed(const struct card *c)
{
	return c->link_tries >= LINK_TRIES && weft_now_ns() >= c->boot_until_ns;
}

/* Stop, reset, start, HELLO. What was queued waits in *held. */
static int try_again(struct card *c, struct weft_req **held, struct weft_msg_hello_reply *h, uint64_t until_ns)
{
	uint64_t one = weft_now_ns() + (c->link.timeout_ns << (c->link_tries < 2 ? c->link_tries : 2));
	bool chip = link_failed(c);
	int err = weft_link_stop(&c->link, sooner(one, until_ns));

	*held = NULL;
	c->link_tries = chip ? 0 : c->link_tries + 1;
	c->chip_tries += chip;
	if (err)
		return err;
	err = reset(c, chip ? WEFT_USB_REQ_CHIP_RESET : WEFT_USB_REQ_LINK_RESET, sooner(one, until_ns));
	if (err)
		return err;
	c->info.link_resets += !chip;
	c->info.chip_resets += chip;
	if (chip)
		c->boot_until_ns = weft_now_ns() + c->boot_ns;
	*held = weft_link_take(&c->link);
	weft_link_start(&c->link);
	return hello(c, h, sooner(one, until_ns));
}

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

static int give_up(struct card *c, int status)
{
	drop_all(c, status);
	weft_card_jobs_end(c, status, c->why);
	c->down = true;
	c->link_tries = c->chip_tries = 0;
	return status;
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
}

static void restarted(struct card *c, const struct weft_msg_hello_reply *h)
{
	bool anew = c->known && h->boot_id != c->hello.boot_id;

	c->hello = *h;
	c->known = true;
	c->boot_until_ns = 0;
	describe(c);
	if (!anew)
		return;
	drop_all(c, -ECONNRESET);
	weft_card_bufs_lost(c);
	weft_card_jobs_lost(c);
}

static int recover(struct card *c, uint64_t until_ns)
{
	struct weft_msg_hello_reply h;
	struct weft_req *held;

	if (c->link.why[0])
		snprintf(c->why, WEFT_DEV_MSG, "usb: %s", c->link.why);
	/* Not the same trouble as before if something was answered since. */
	if (!c->down && c->n_done != c->n_done_before)
		c->link_tries = c->chip_tries = 0;
	c->n_done_before = c->n_done;
	c->down = true;
	for (;;) {
		if (c->link.gone)
			return give_up(c, -ENODEV);
		if (c->chip_tries >= CHIP_TRIES && link_failed(c))
			return give_up(c, -EIO);
		if (weft_now_ns() >= until_ns)
			return -ETIMEDOUT;
		int err = try_again(c, &held, &h, until_ns);
		if (held)
			weft_link_give(&c->link, held);
		if (err == -EPROTO)
			return give_up(c, err);
		if (err) {
			/* It may be starting; do not press it. */
			c->ops->poll(c->t, sooner(until_ns, weft_now_ns() + 5 * MS));
			continue;
		}
		c->down = false;
		restarted(c, &h);
		return 0;
	}
}

/* A request that was sent so often and never answered will not be. */
static void drop_hopeless(struct card *c)
{
	struct weft_req *r = c->link.first;

	while (r) {
		if (r->tries <= REQ_TRIES) {
			r = r->next;
			continue;
		}
		weft_link_drop(&c->link, r);
		r->status = -EIO;
		r->done(r);
		r = c->link.first;     /* done() may have dropped others */
	}
}

int weft_card_pump(struct card *c, uint64_t until_ns)
{
	if (c->link.gone) {
		snprintf(c->why, WEFT_DEV_MSG, "usb: card %s is gone", c->info.serial);
		return give_up(c, -ENODEV);
	}
	if (c->down || c->link.broken)
		return recover(c, until_ns);
	drop_hopeless(c);
	weft_card_advance(c);
	weft_link_poll(&c->link, sooner(until_ns, weft_card_next_ask(c)));
	if (!c->link.broken && !c->link.gone)
		weft_card_advance(c);
	return 0;
}

/* ---- opening ---- */

/* Until then. A socket tells nobody that somebody listens on it. */
static void wait_for_card(struct weft_usb_watch *w, uint64_t until_ns)
{
	uint64_t now = weft_now_ns(), left = until_ns > now ? until_ns - now : 0;

	if (w)
		weft_usb_watch_wait(w, until_ns);
	else
		usleep((useconds_t)sooner(left / 1000 + 1, 50000));
}

static int open_transport(struct card *c, const struct weft_dev_options *o, char *msg)
{
	const char *where = o->usb ? o->usb : "";
	uint64_t now = weft_now_ns(), until = now + o->usb_wait_ms * MS, barred = 0;
	struct weft_usb_watch *w = NULL;
	int err;

	c->ops = o->usb_ops ? o->usb_ops : where[0] == '@' ? &weft_usb_redir : &weft_usb_libusb;
	if (o->usb_wait_ms && c->ops == &weft_usb_libusb)
		w = weft_usb_watch_new();
	for (;;) {
		err = c->ops->open(where, now + 5000 * MS, &c->t, msg);
		now = weft_now_ns();
		/* Its node appears before udev says who may open it. */
		if (err == -EACCES && !barred)
			barred = now;
		bool soon = err == -ENODEV || (err == -EACCES && now - barred < UDEV_MS * MS);
		if (!soon || now >= until)
			break;
		wait_for_card(err == -EACCES ? NULL : w, until);
	}
	weft_usb_watch_free(w);
	return err;
}

/* A card that somebody else left in any state. */
static int begin(struct card *c, char *msg)
{
	const struct weft_msg_abort_all m = { WEFT_MSG_ABORT_ALL };
	struct weft_msg_abort_all_reply r;
	uint64_t until;
	int err;

	c->boot_until_ns = weft_now_ns() + sooner(c->boot_ns, 3 * c->link.timeout_ns);
	until = weft_now_ns() + 2 * c->boot_ns;
	c->down = true;
	err = weft_card_pump(c, until);
	if (!err)
		err = weft_card_ask(c, &m, sizeof(m), &r, sizeof(r), until);
	if (err < 0) {
		snprintf(msg, WEFT_DEV_MSG, "%.*s", WEFT_DEV_MSG - 1, c->why[0] ? c->why : "usb: card does not answer");
		return err;
	}
	return weft_ranges_add(&c->heap, c->hello.host_base, c->hello.host_limit / CARD_ALIGN * CARD_ALIGN);
}

int weft_card_open(const struct weft_dev_options *o, const struct weft_config *cfg, struct card **out, char *msg)
{
	struct card *c = calloc(1, sizeof(*c));
	int err;

	msg[0] = '\0';
	if (!c) {
		snprintf(msg, WEFT_DEV_MSG, "usb: out of memory");
		return -ENOMEM;
	}
	c->cfg = cfg;
	c->boot_ns = (o->usb_boot_ms ? o->usb_boot_ms : BOOT_MS) * MS;
	if (getrandom(&c->next_card_id, sizeof(c->next_card_id), GRND_NONBLOCK) < 0)
		c->next_card_id = (uint32_t)weft_now_ns();
	err = open_transport(c, o, msg);
	if (err) {
		free(c);
		return err;
	}
	err = weft_link_init(&c->link, c->ops, c->t, o->usb_timeout_ms ? o->usb_timeout_ms : TIMEOUT_MS);
	c->link.on_msg = weft_card_on_msg;
	c->link.user = c;
	if (!err)
		err = begin(c, msg);
	else
		snprintf(msg, WEFT_DEV_MSG, "usb: out of memory");
	if (err) {
		weft_card_close(c);
		return err;
	}
	*out = c;
	return 0;
}

void weft_card_close(struct card *c)
{
	struct weft_req *next;

	c->ops->close(c->t);
	for (struct weft_req *r = weft_link_take(&c->link); r; r = next) {
		next = r->next;
		free(r);
	}
	weft_link_free(&c->link);
	weft_card_jobs_free(c);
	while (c->bufs) {
		c->bufs->n_jobs = 0;
		weft_card_buf_free(c, c->bufs);
	}
	for (int i = 0; i < CARD_STREAMS; i++)
		free(c->streams[i].words);
	weft_ranges_clear(&c->heap);
	free(c);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* One card: what happens to it, waiting for that, opening and closing. */
#include "usb_card.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define MS 1000000ull
#define UDEV_MS 2000           /* for the udev rule to be applied */
/* Rounds of one process(): a card that talks without end does not keep others from the device. */
#define ROUNDS 64

/* ---- what happens ---- */

bool weft_card_out(const struct card *c)
{
	return c->rec.phase == CARD_LOST || c->rec.phase == CARD_GONE;
}

int weft_card_wake(struct card *c, char *msg)
{
	if (c->rec.phase == CARD_GONE) {
		snprintf(msg, WEFT_DEV_MSG, "usb: card %s is gone", c->info.serial);
		return -ENODEV;
	}
	if (c->rec.phase == CARD_LOST) {
		/* What it did when it was given up nobody knows. */
		c->rec.force_chip = true;
		weft_card_trouble(c, "");
	}
	return 0;
}

/* A request that was sent so often and never answered will not be. */
static void drop_hopeless(struct card *c)
{
	struct weft_req *r = c->link.first;

	while (r) {
		if (r->tries <= (int)c->policy.req_tries) {
			r = r->next;
			continue;
		}
		weft_link_drop(&c->link, r);
		r->status = -EIO;
		r->done(r);
		r = c->link.first;     /* done() may have dropped others */
	}
}

static bool is_up(const struct card *c)
{
	return c->rec.phase == CARD_UP && !c->link.broken && !c->link.gone;
}

/* Does one round. Returns whether something happened. */
static bool round_once(struct card *c)
{
	const uint64_t before = c->link.n_events;

	if (weft_card_out(c)) {
		/* The last transfers come back, and nobody wants them. */
		if (weft_link_busy(&c->link) && c->rec.phase == CARD_LOST)
			c->ops->poll(c->t, 0);
		return false;
	}
	if (c->rec.phase == CARD_UP) {
		drop_hopeless(c);
		weft_card_advance(c);
	}
	if (c->link.stopped)
		c->ops->poll(c->t, 0);
	else
		weft_link_poll(&c->link, 0);
	if (c->link.gone)
		weft_card_give_up(c, -ENODEV);
	else if (c->rec.phase == CARD_UP && c->link.broken)
		weft_card_trouble(c, c->link.why);
	else if (is_up(c))
		weft_card_advance(c);
	else
		return weft_card_recover(c) || c->link.n_events != before;
	/* A request that was queued after the link was polled needs another round, because no event and no timer would send it. */
	return c->link.n_events != before || weft_link_can_send(&c->link);
}

bool weft_card_process(void *state)
{
	struct card *c = state;
	int i = 0;

	while (i < ROUNDS && round_once(c))
		i++;
	c->more = i == ROUNDS;
	return false;
}

uint64_t weft_card_next_ns(void *state)
{
	struct card *c = state;

	if (c->more)
		return 0;
	switch (c->rec.phase) {
	case CARD_UP:
		return c->link.broken || c->link.gone ? 0 : weft_sooner(weft_link_late_ns(&c->link), weft_card_next_ask(c));
	case CARD_LOST:
	case CARD_GONE:
		return UINT64_MAX;
	case CARD_HELLO:
		return weft_sooner(c->rec.step_until_ns, weft_link_late_ns(&c->link));
	default:
		return c->rec.step_until_ns;
	}
}

/* ---- waiting ---- */

bool weft_card_until(struct card *c, bool (*done)(void *user), void *user, uint64_t until_ns)
{
	bool enough;

	if (c->events)
		return weft_events_wait(c->events, done, user, until_ns);
	/* Nobody else has the card yet. */
	for (;;) {
		weft_card_process(c);
		enough = done(user);
		if (enough || weft_now_ns() >= until_ns)
			return enough;
		c->ops->poll(c->t, weft_sooner(until_ns, weft_card_next_ns(c)));
	}
}

struct ask { struct weft_req r; bool over; };

static void asked(struct weft_req *r)
{
	((struct ask *)r)->over = true;
}

static bool is_asked(void *user)
{
	return ((struct ask *)user)->over;
}

int weft_card_ask(struct card *c, const void *msg, uint32_t len, void *reply, uint32_t reply_len, uint64_t until_ns)
{
	struct ask *a = calloc(1, sizeof(*a));
	uint32_t head, want;
	int err = a ? weft_card_wake(c, c->why) : -ENOMEM;

	if (err) {
		free(a);
		return err;
	}
	a->r.type = WEFT_FRAME_MSG;
	a->r.len = len;
	a->r.done = asked;
	memcpy(a->r.msg, msg, len);
	weft_link_queue(&c->link, &a->r);
	if (!weft_card_until(c, is_asked, a, until_ns)) {
		weft_link_drop(&c->link, &a->r);
		err = -ETIMEDOUT;
	} else if (a->r.status) {
		err = a->r.status;
	} else {
		memcpy(&head, a->r.reply, 4);
		memcpy(&want, msg, 4);
		memset(reply, 0, reply_len);
		memcpy(reply, a->r.reply, a->r.reply_len < reply_len ? a->r.reply_len : reply_len);
		c->n_done++;
		err = (head & 0xffff) == (want | WEFT_MSG_REPLY) ? (int)a->r.reply_len : -EPROTO;
	}
	free(a);
	return err;
}

static bool ctrl_free(void *user)
{
	const struct card *c = user;

	return weft_card_out(c) || (c->rec.phase == CARD_UP && !c->link.ctrl.busy);
}

static bool ctrl_over(void *user)
{
	const struct card *c = user;

	return !c->link.ctrl.busy || weft_card_out(c);
}

int weft_card_control(struct card *c, uint8_t request_type, uint8_t request, uint16_t value, uint16_t index,
                      uint8_t *data, uint32_t len, uint64_t until_ns)
{
	struct weft_xfer *x = &c->link.ctrl;
	int err = weft_card_wake(c, c->why);

	if (err)
		return err;
	if (!weft_card_until(c, ctrl_free, c, until_ns))
		return -ETIMEDOUT;
	err = weft_card_out(c) ? -EIO : weft_link_begin_control(&c->link, request_type, request, value, index, data, len);
	if (err)
		return err;
	if (!weft_card_until(c, ctrl_over, c, until_ns)) {
		c->ops->cancel(c->t, x);
		return -ETIMEDOUT;
	}
	if (x->busy || c->rec.phase == CARD_GONE)
		return c->rec.phase == CARD_GONE ? -ENODEV : -EIO;
	if (x->status)
		return x->status == -ECANCELED ? -EIO : x->status;
	if (request_type & 0x80)
		memcpy(data, x->data, x->actual < len ? x->actual : len);
	return (int)x->actual;
}

/* ---- opening ---- */

/* Until then. A socket tells nobody that somebody listens on it. */
static void wait_for_card(struct weft_usb_watch *w, uint64_t until_ns)
{
	uint64_t now = weft_now_ns(), left = until_ns > now ? until_ns - now : 0;

	if (w)
		weft_usb_watch_wait(w, until_ns);
	else
		usleep((useconds_t)weft_sooner(left / 1000 + 1, 50000));
}

static int open_transport(struct card *c, const struct weft_dev_options *o, char *msg)
{
	uint64_t now = weft_now_ns(), until = now + o->usb_wait_ms * MS, barred = 0;
	struct weft_usb_watch *w = NULL;
	struct weft_usb_way way;
	int err;

	if ((err = weft_usb_way(o->usb ? o->usb : "", &way, msg)))
		return err;
	if (o->usb_ops)
		way = (struct weft_usb_way){ .ops = o->usb_ops, .where = o->usb ? o->usb : "" };
	c->ops = way.ops;
	if (o->usb_wait_ms && c->ops == &weft_usb_libusb)
		w = weft_usb_watch_new();
	for (;;) {
		err = weft_usb_go(&way, now + 5000 * MS, &c->t, msg);
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

static bool is_settled(void *user)
{
	const struct card *c = user;

	return c->rec.phase == CARD_UP || weft_card_out(c);
}

/* A card that somebody else left in any state. */
static int begin(struct card *c, char *msg)
{
	const struct weft_msg_abort_all m = { WEFT_MSG_ABORT_ALL };
	const uint64_t until = weft_now_ns() + 2 * c->policy.boot_ns;
	struct weft_msg_abort_all_reply r;
	int err;

	c->rec.boot_until_ns = weft_now_ns() + c->policy.hello_ns;
	weft_card_trouble(c, "");
	err = !weft_card_until(c, is_settled, c, until) ? -ETIMEDOUT : c->rec.phase == CARD_UP ? 0 : c->rec.err;
	if (!err)
		err = weft_card_ask(c, &m, sizeof(m), &r, sizeof(r), until);
	if (err < 0) {
		snprintf(msg, WEFT_DEV_MSG, "%.*s", WEFT_DEV_MSG - 1, err == -ENOMEM ? "usb: out of memory" : c->why[0] ? c->why : "usb: card does not answer");
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
	c->policy = weft_policy_of(o);
	if (getrandom(&c->next_card_id, sizeof(c->next_card_id), GRND_NONBLOCK) < 0)
		c->next_card_id = (uint32_t)weft_now_ns();
	c->session = weft_session_new();
	err = open_transport(c, o, msg);
	if (err) {
		free(c);
		return err;
	}
	err = weft_link_init(&c->link, c->ops, c->t, &c->policy);
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

/* All memory of a card, whose transport is closed, or not ours. */
static void forget(struct card *c)
{
	struct weft_req *next;

	for (struct weft_req *r = weft_link_take(&c->link); r; r = next) {
		next = r->next;
		if (r != &c->rec.hello)
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

/* Nobody wants what is queued any more. A card that is in trouble is cleared by its next client. */
static void end_session(struct card *c)
{
	if (!c->known || !is_up(c))
		return;
	c->events = NULL;
	weft_card_upload_drop(c, NULL);
	weft_session_end(&c->link, c->hello.protocol, (uint32_t)c->used_end);
}

void weft_card_close(struct card *c)
{
	end_session(c);
	c->ops->close(c->t);
	forget(c);
}

void weft_card_disown(struct card *c)
{
	if (c->ops->disown)
		c->ops->disown(c->t);
	forget(c);
}

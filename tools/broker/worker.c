/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One card: finding and opening it, and again when it was gone; the loop that answers its clients' frames and runs
 * their jobs.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "broker.h"
#include "tools/clock.h"

#define MS 1000000ull
#define GREET_MS 5000          /* a card that is opened must say who it is within this time */
#define RETRY_NS (1000 * MS)   /* how often to look for a card that is not there, or has nothing to do and may have gone */

void worker_wake(struct worker *w)
{
	const uint64_t one = 1;

	if (write(w->wake, &one, sizeof(one)) < 0)
		return;                /* full: it will wake */
}

void broker_stir(struct broker *b)
{
	const uint64_t one = 1;

	if (write(b->wake, &one, sizeof(one)) < 0)
		return;
}

/* ---- clients ---- */

struct client *worker_next(struct worker *w, struct client *c)
{
	pthread_mutex_lock(&w->b->lock);
	c = c ? c->next : w->b->clients;
	while (c && (c->w != w || c->reaped))
		c = c->next;
	pthread_mutex_unlock(&w->b->lock);
	return c;
}

/* Makes the client's card as new: no jobs, memory of zeros, another boot id. */
static void renew(struct client *c)
{
	jobs_drop(c);
	memory_clear(&c->mem);
	c->boot_id++;
}

void client_restart(struct client *c)
{
	renew(c);
	pthread_mutex_lock(&c->b->lock);
	link_break(c);
	pthread_mutex_unlock(&c->b->lock);
}

bool worker_failed(struct worker *w, struct client *c, int err)
{
	if (err == -ENODEV)
		w->lost = true;
	else if (err == -ECONNRESET)
		client_restart(c);
	return err == -ENODEV || err == -ECONNRESET;
}

/* Frees all streams of the client. No job has one any more. */
static void forget_streams(struct client *c)
{
	while (c->streams) {
		struct stream *s = c->streams;
		c->streams = s->next;
		free(s->words);
		free(s);
	}
}

/* Says whether the checker reads a stream of the client just now. Called with broker.lock held. */
static bool being_judged(const struct client *c)
{
	for (const struct stream *s = c->streams; s; s = s->next)
		if (s->verdict == VERDICT_BUSY)
			return true;
	return false;
}

/*
 * Frees all that a client whose connection is gone had. Returns false if it has to be done again later, since
 * the checker still reads a stream of it.
 */
static bool reap(struct worker *w, struct client *c)
{
	admin_give_back(c);
	jobs_drop(c);
	memory_close(&c->mem);
	pthread_mutex_lock(&w->b->lock);
	const bool busy = being_judged(c);
	if (!busy) {
		forget_streams(c);
		c->reaped = true;
	}
	pthread_mutex_unlock(&w->b->lock);
	if (!busy)
		broker_stir(w->b);
	return !busy;
}

/*
 * Gives a client that has no memory yet some, as much as the options or the card say, and a boot id. Returns
 * false if there is no memory.
 */
static bool furnish(struct client *c)
{
	const struct weft_msg_hello_reply *h = &c->w->hello;
	const uint64_t all = (h->host_limit - h->host_base) / BROKER_ALIGN * BROKER_ALIGN;
	const uint64_t want = c->b->o.memory ? c->b->o.memory / BROKER_ALIGN * BROKER_ALIGN : all;

	if (c->mem.image)
		return true;
	if (getrandom(&c->boot_id, sizeof(c->boot_id), GRND_NONBLOCK) < 0)
		c->boot_id = (uint32_t)now_ns();
	return !memory_open(&c->mem, (uint32_t)(want < all ? want : all));
}

/* Notes how much memory each client has, and how much of it is on the card, where others may read it. */
static void publish(struct worker *w)
{
	for (struct client *c = worker_next(w, NULL); c; c = worker_next(w, c)) {
		const uint64_t on_card = memory_on_card(&c->mem);
		pthread_mutex_lock(&w->b->lock);
		c->memory = c->mem.bytes;
		c->on_card = on_card;
		pthread_mutex_unlock(&w->b->lock);
	}
}

enum next { NEXT_NOTHING, NEXT_FRAME, NEXT_RESET, NEXT_REAP };

/* Says whether the worker has its card open, as a device or for an administrator. */
static bool has_card(const struct worker *w)
{
	return w->dev || w->admin;
}

/*
 * Returns what is to be done for the client next. A frame is marked as taken and copied to *f; f is NULL if
 * there is no card, and then only a connection that is gone counts.
 */
static enum next take(struct client *c, struct frame *f)
{
	enum next n = NEXT_NOTHING;

	pthread_mutex_lock(&c->b->lock);
	if (c->dead)
		n = NEXT_REAP;
	else if (c->reset && f)
		n = NEXT_RESET;
	else if (c->op == OP_WAITS && f)
		n = NEXT_FRAME;
	if (n == NEXT_FRAME) {
		c->op = OP_TAKEN;
		*f = link_frame(c);
	}
	pthread_mutex_unlock(&c->b->lock);
	return n;
}

/*
 * Notes that the frame taken in link epoch `epoch` has been answered, or that it goes on waiting unless the
 * link was reset meanwhile. When it is over, the link takes bytes again.
 */
static void give_back(struct client *c, unsigned epoch, bool answered)
{
	pthread_mutex_lock(&c->b->lock);
	const bool over = answered || c->link.epoch != epoch;
	c->op = over ? OP_NONE : OP_WAITS;
	if (over) {
		free(c->link.body);
		c->link.body = NULL;
		c->link.at = 0;
		c->stirred = true;
	}
	pthread_mutex_unlock(&c->b->lock);
	if (over)
		broker_stir(c->b);
}

/*
 * Carries out a reset of the client's chip: of the card itself if an administrator who is no driver asked for
 * it, else of the client's own card. Returns false if that has to wait for the card.
 */
static bool after_reset(struct worker *w, struct client *c)
{
	pthread_mutex_lock(&w->b->lock);
	const bool card = c->asked && admin_may(c);
	pthread_mutex_unlock(&w->b->lock);
	if (card && !admin_take(c))
		return false;
	if (card)
		admin_reset(c);
	else
		renew(c);
	pthread_mutex_lock(&w->b->lock);
	c->reset = c->asked = false;
	c->stirred = true;
	pthread_mutex_unlock(&w->b->lock);
	broker_stir(w->b);
	return true;
}

/*
 * Does one thing for a client: frees it, resets its card, or answers a frame. Returns whether something was
 * done.
 */
static bool serve_one(struct worker *w, struct client *c)
{
	struct frame f;
	const enum next n = take(c, has_card(w) ? &f : NULL);

	if (n == NEXT_REAP)
		return reap(w, c);
	if (n == NEXT_RESET)
		return after_reset(w, c);
	if (n == NEXT_NOTHING)
		return false;
	const bool furnished = furnish(c), answered = !furnished || frame_answer(c, &f);
	if (!furnished) {
		pthread_mutex_lock(&c->b->lock);
		link_break(c);
		pthread_mutex_unlock(&c->b->lock);
	}
	give_back(c, f.epoch, answered);
	return answered;
}

/* ---- the card ---- */

/* Says a line on stderr, with --verbose. */
static void say(const struct worker *w, const char *text)
{
	if (w->b->o.verbose)
		fprintf(stderr, "weft-broker: %s\n", text);
}

/*
 * Notes that the card has come or gone, and wakes those who want to know: the main thread, for each client, and
 * the checker.
 */
static void set_state(struct worker *w, enum card_state state)
{
	pthread_mutex_lock(&w->b->lock);
	w->state = state;
	for (struct client *c = w->b->clients; c; c = c->next)
		c->stirred |= c->w == w;
	pthread_cond_signal(&w->check);
	pthread_mutex_unlock(&w->b->lock);
	broker_stir(w->b);
}

/*
 * Says whether the worker may look for a card. One that serves no certain card waits until all workers before
 * it have one, so that they take the cards in their order.
 */
static bool may_look(struct worker *w)
{
	bool may = true;

	pthread_mutex_lock(&w->b->lock);
	for (unsigned i = 0; i < w->index && !w->where[0]; i++)
		may &= w->b->workers[i].state == CARD_HERE;
	pthread_mutex_unlock(&w->b->lock);
	return may;
}

/*
 * Find out which card it is: sets w->hello, w->which (its name for weft_dev_open()) and w->cfg.
 * @return 0; -EPROTO, with a line in msg: a configuration that is not known (w->cfg is NULL); or as weft_admin_open()
 */
static int ask_who(struct worker *w, char *msg)
{
	weft_admin *a = NULL;
	int err = weft_admin_open(w->which[0] ? w->which : w->where, GREET_MS, &a, msg);

	if (err)
		return err;
	w->hello = *weft_admin_hello(a);
	weft_admin_close(a);
	char serial[sizeof(w->hello.serial) + 1] = "";
	memcpy(serial, w->hello.serial, sizeof(w->hello.serial));
	snprintf(w->which, sizeof(w->which), "%s", w->where[0] ? w->where : serial);
	const struct weft_config *cfg = weft_config_of_device(w->hello.npu_config, w->hello.npu_features);
	pthread_mutex_lock(&w->b->lock);
	w->cfg = cfg;
	pthread_mutex_unlock(&w->b->lock);
	if (!cfg)
		snprintf(msg, WEFT_DEV_MSG, "card %s has a configuration that is not known", serial);
	return cfg ? 0 : -EPROTO;
}

int worker_open(struct worker *w)
{
	struct weft_dev_options o = weft_dev_options_default();
	char msg[WEFT_DEV_MSG] = "";
	int err = ask_who(w, msg);

	o.kind = WEFT_DEV_USB;
	o.usb = w->which;
	o.config = w->cfg ? w->cfg->name : NULL;
	if (!err)
		err = weft_dev_open(&o, &w->dev, msg);
	if (err) {
		w->dev = NULL;
		w->retry_ns = now_ns() + RETRY_NS;
		/* Others may have all cards that are there. */
		if (err != -ENODEV && (err != -EBUSY || w->where[0]))
			say(w, msg);
		return err;
	}
	/* Its streams have been judged, by the checker. */
	weft_dev_trust(w->dev, true);
	w->lost = false;
	say(w, "a card is there");
	set_state(w, CARD_HERE);
	return 0;
}

/* Closes a card that is gone: all its clients' jobs and memory are gone, too. */
static void close_card(struct worker *w)
{
	for (struct client *c = worker_next(w, NULL); c; c = worker_next(w, c)) {
		jobs_gone(c);
		memory_close(&c->mem);
		pthread_mutex_lock(&w->b->lock);
		c->begun = false;
		pthread_mutex_unlock(&w->b->lock);
	}
	weft_dev_close(w->dev);
	weft_admin_close(w->admin);
	w->dev = NULL;
	w->admin = NULL;
	w->admin_of = w->admin_wants = NULL;
	w->which[0] = '\0';
	w->n_on_card = 0;
	w->lost = false;
	w->retry_ns = 0;
	say(w, "a card is gone");
	set_state(w, CARD_AWAY);
}

/* ---- the loop ---- */

/*
 * Waits until the worker is woken, the card has something to say, a job has run for too long, or it is time to
 * look for the card.
 */
static void nap(struct worker *w)
{
	const uint64_t now = now_ns(), look = w->retry_ns > now ? w->retry_ns : now + RETRY_NS;
	const uint64_t at = w->n_on_card || w->admin ? jobs_next_ns(w) : look;
	const uint64_t ms = at == UINT64_MAX ? 3600000 : at <= now ? 0 : (at - now) / MS + 1;
	struct pollfd p[2] = { { w->wake, POLLIN, 0 }, { w->dev ? weft_dev_fd(w->dev) : -1, POLLIN, 0 } };
	uint64_t n;

	poll(p, 2, (int)(ms < 3600000 ? ms : 3600000));
	if (p[0].revents && read(w->wake, &n, sizeof(n)) < 0)
		return;
}

/* Says whether the broker is to end. */
static bool stopped(struct worker *w)
{
	pthread_mutex_lock(&w->b->lock);
	const bool stop = w->b->stop;
	pthread_mutex_unlock(&w->b->lock);
	return stop;
}

/*
 * Does one thing for each client (serve_one()). A client that is freed by that may be gone at once. Returns
 * whether anything was done.
 */
static bool serve_each(struct worker *w)
{
	struct client *next;
	bool busy = false;

	for (struct client *c = worker_next(w, NULL); c && !w->lost; c = next) {
		next = worker_next(w, c);
		busy |= serve_one(w, c);
	}
	return busy;
}

bool worker_once(struct worker *w)
{
	if (w->dev)
		weft_dev_process(w->dev);
	jobs_collect(w);
	const bool busy = serve_each(w);
	if (!w->lost && w->dev && !w->admin_wants)
		jobs_start(w);
	publish(w);
	return busy;
}

/*
 * Looks from time to time whether a card is still there while it has no jobs, since it then says nothing when
 * it goes. Sets w->lost if it is gone.
 */
static void look_after(struct worker *w)
{
	struct weft_usb_info info;

	if (!w->dev || w->n_on_card || now_ns() < w->retry_ns)
		return;
	w->lost = weft_dev_usb(w->dev, &info) == -ENODEV;
	w->retry_ns = now_ns() + RETRY_NS;
}

/*
 * One round of the worker while it has no card: takes up what clients sent (serve_each()), and tries to open the card
 * once it is time for another attempt.
 */
static void work_without(struct worker *w)
{
	serve_each(w);
	if (now_ns() >= w->retry_ns && may_look(w))
		worker_open(w);
}

/*
 * A worker's thread: serves its clients while there is a card, looks for the card while there is none, and
 * frees everything at the end.
 */
static void *run(void *arg)
{
	struct worker *w = arg;

	while (!stopped(w)) {
		if (!has_card(w))
			work_without(w);
		while (has_card(w) && !w->lost && !stopped(w) && worker_once(w))
			;
		if (!w->lost)
			look_after(w);
		if (w->lost)
			close_card(w);
		else if (!stopped(w))
			nap(w);
	}
	for (struct client *c = worker_next(w, NULL); c; c = worker_next(w, c)) {
		jobs_drop(c);
		memory_close(&c->mem);
	}
	weft_dev_close(w->dev);
	weft_admin_close(w->admin);
	return NULL;
}

int worker_start(struct worker *w)
{
	w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_cond_init(&w->check, NULL);
	if (w->wake < 0)
		return -errno;
	int err = pthread_create(&w->checker, NULL, check_run, w);
	if (!err && (err = pthread_create(&w->thread, NULL, run, w))) {
		pthread_mutex_lock(&w->b->lock);
		w->b->stop = true;
		pthread_cond_signal(&w->check);
		pthread_mutex_unlock(&w->b->lock);
		pthread_join(w->checker, NULL);
	}
	return -err;
}

void worker_join(struct worker *w)
{
	worker_wake(w);
	pthread_mutex_lock(&w->b->lock);
	pthread_cond_signal(&w->check);
	pthread_mutex_unlock(&w->b->lock);
	pthread_join(w->thread, NULL);
	pthread_join(w->checker, NULL);
	for (struct client *c = worker_next(w, NULL); c; c = worker_next(w, c))
		forget_streams(c);
	close(w->wake);
	pthread_cond_destroy(&w->check);
}

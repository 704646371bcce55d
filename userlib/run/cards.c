/* SPDX-License-Identifier: Apache-2.0 */
/* Several cards as one: opening them, and a session on each. worker_pool.c divides runs among them. */
#include "userlib/run/cards.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/device.h"
#include "userlib/run/async.h"

#define NAME sizeof(((struct weft_cards_info *)0)->name)

struct weft_cards {
	struct weft_worker_pool *pool; /* a thread for each card; NULL until all are open */
	int n;
	weft_dev *dev[WEFT_CARDS_MAX];
	char name[WEFT_CARDS_MAX][NAME];   /* serials, or "@SOCKET" */
};

bool weft_cards_named(const char *usb)
{
	return usb && strpbrk(usb, "*,");
}

bool weft_over_cards(const struct weft_session_options *o)
{
	return o->device == WEFT_DEVICE_USB && !o->on && (o->on_cards || weft_cards_named(o->usb));
}

/* ---- which cards ---- */

/* What the names are collected with. */
struct naming {
	const struct weft_dev_options *o;
	weft_cards *cards;
	int left_out;              /* the negative errno of the last card that was found and could not be opened, or 0 */
	char *msg;                 /* WEFT_DEV_MSG bytes */
};

/* Writes one line about a name to the message and returns -EINVAL. */
static int bad_name(const struct naming *g, const char *name, const char *why)
{
	snprintf(g->msg, WEFT_DEV_MSG, "usb: card \"%.100s\" %s", name, why);
	return -EINVAL;
}

/*
 * Opens the card called `name` (a serial or "@SOCKET") with the options g->o and appends it to the
 * cards. Returns 0 or a negative errno with one line in g->msg: -EINVAL if the name is there already,
 * is empty, has NAME characters or more, or there are WEFT_CARDS_MAX cards; otherwise as
 * weft_dev_open().
 */
static int add(struct naming *g, const char *name)
{
	weft_cards *const c = g->cards;
	struct weft_dev_options one = *g->o;

	for (int i = 0; i < c->n; i++)
		if (!strcmp(c->name[i], name))
			return bad_name(g, name, "is named twice");
	if (!*name)
		return bad_name(g, name, "has no name: an entry of the list is empty");
	if (strlen(name) >= NAME)
		return bad_name(g, name, "has a name that is too long");
	if (c->n == WEFT_CARDS_MAX)
		return bad_name(g, name, "is one too many: a session takes 64");
	/* Without a configuration in the options, the first card's is that of all. */
	if (!one.config && c->n)
		one.config = c->dev[0]->cfg->name;
	one.usb = strcpy(c->name[c->n], name);
	int err = weft_dev_open(&one, &c->dev[c->n], g->msg);
	c->n += !err;
	return err;
}

/*
 * Adds a card that was found, not named, as add() does. If it cannot be opened for another reason than -ENOMEM
 * or -EINVAL (a bad or repeated name, or one card too many), it is left out: its errno is noted in g->left_out,
 * why is in g->msg, and 0 is returned. Otherwise returns as add().
 */
static int add_found(struct naming *g, const char *name)
{
	int err = add(g, name);

	if (!err || err == -ENOMEM || err == -EINVAL)
		return err;
	g->left_out = err;
	return 0;
}

/*
 * Adds those of the first WEFT_CARDS_MAX cards on the USB that can be opened; others are left out as by
 * add_found(). Returns 0, also if none could be opened; -ENODEV if none is plugged in; -ENOMEM; or as
 * weft_dev_list() and add_found(), with one line in g->msg.
 */
static int add_plugged(struct naming *g)
{
	struct weft_dev_info *info = calloc(WEFT_CARDS_MAX, sizeof(*info));
	size_t n = 0;

	if (!info) {
		snprintf(g->msg, WEFT_DEV_MSG, "usb: out of memory");
		return -ENOMEM;
	}
	int err = weft_dev_list(info, WEFT_CARDS_MAX, &n, g->msg);
	for (size_t i = 0; !err && i < n && i < WEFT_CARDS_MAX; i++)
		err = add_found(g, info[i].name);
	if (!err && !n) {
		snprintf(g->msg, WEFT_DEV_MSG, "usb: no card is plugged in");
		err = -ENODEV;
	}
	free(info);
	return err;
}

/*
 * Adds the cards behind all sockets whose paths fit the glob pattern behind the "@" with which
 * `pattern` begins; those that cannot be opened are left out as by add_found(). Returns 0, also if none
 * could be opened; -ENODEV if no path fits; -EINVAL if a path is too long; -ENOMEM; or as add_found(),
 * with one line in g->msg.
 */
static int add_sockets(struct naming *g, const char *pattern)
{
	char name[NAME];
	glob_t found;
	int err = glob(pattern + 1, 0, NULL, &found);

	if (err) {
		snprintf(g->msg, WEFT_DEV_MSG, err == GLOB_NOSPACE ? "usb: out of memory" : "usb: no socket fits \"%.100s\"", pattern + 1);
		return err == GLOB_NOSPACE ? -ENOMEM : -ENODEV;
	}
	for (size_t i = 0; !err && i < found.gl_pathc; i++) {
		if ((size_t)snprintf(name, NAME, "@%s", found.gl_pathv[i]) >= NAME)
			err = bad_name(g, found.gl_pathv[i], "has a name that is too long");
		else
			err = add_found(g, name);
	}
	globfree(&found);
	return err;
}

/*
 * Adds the cards of one entry of the list: "*" all cards on the USB, "@PATTERN" with a "*" those behind
 * all sockets that fit, anything else without a "*" one card. A "*" within a serial is -EINVAL. Returns
 * 0, or a negative errno with one line in g->msg.
 */
static int add_entry(struct naming *g, const char *entry)
{
	if (!strcmp(entry, "*"))
		return add_plugged(g);
	if (entry[0] == '@' && strchr(entry, '*'))
		return add_sockets(g, entry);
	return strchr(entry, '*') ? bad_name(g, entry, "is no serial: \"*\" stands alone, or in the name of a socket") : add(g, entry);
}

int weft_cards_open(const struct weft_dev_options *o, weft_cards **out, char msg WEFT_ROOM(WEFT_DEV_MSG))
{
	weft_cards *c = calloc(1, sizeof(*c));
	char *list = strdup(o->usb ? o->usb : ""), *rest = list, *entry;
	struct naming g = { .o = o, .cards = c, .msg = msg };
	int err = c && list ? 0 : -ENOMEM;

	msg[0] = '\0';
	while (!err && (entry = strsep(&rest, ",")))
		err = add_entry(&g, entry);
	/* Of what was found nothing could be opened: the message says why the last one could not. */
	if (!err && !c->n)
		err = g.left_out ? g.left_out : -ENODEV;
	if (!err && (err = weft_worker_pool_new(c->n, true, &c->pool)) && err != -ENOMEM)
		snprintf(msg, WEFT_DEV_MSG, "usb: no threads for %d cards", c->n);
	if (err == -ENOMEM)
		snprintf(msg, WEFT_DEV_MSG, "usb: out of memory");
	free(list);
	if (err)
		weft_cards_close(c);
	else
		*out = c;
	return err;
}

void weft_cards_close(weft_cards *cards)
{
	if (!cards)
		return;
	weft_worker_pool_free(cards->pool);
	for (int i = 0; i < cards->n; i++)
		weft_dev_close(cards->dev[i]);
	free(cards);
}

const char *weft_cards_config(const weft_cards *cards)
{
	return cards->dev[0]->cfg->name;
}

int weft_cards_count(const weft_cards *cards)
{
	return cards->n;
}

int weft_cards_info(weft_cards *cards, int i, struct weft_cards_info *out)
{
	if (i < 0 || i >= cards->n)
		return -ERANGE;
	const struct weft_worker *w = &cards->pool->worker[i];
	pthread_mutex_lock(&cards->pool->lock);
	*out = (struct weft_cards_info){ .lost = w->lost, .runs = w->runs, .repeated = w->repeated, .cycles = w->cycles };
	memcpy(out->name, cards->name[i], NAME);
	snprintf(out->why, sizeof(out->why), "%s", w->why);
	pthread_mutex_unlock(&cards->pool->lock);
	return 0;
}

struct weft_worker_pool *weft_cards_pool(weft_cards *cards)
{
	return cards->pool;
}

/* ---- sessions on them ---- */

/*
 * Opens the cards that the session's options name, with usb, usb_wait_ms and config of these options,
 * into s->cards, which is untouched on failure. Returns 0 or a negative errno with one line in msg.
 */
static int open_own(weft_session *s, char *msg)
{
	struct weft_dev_options d = weft_dev_options_default();

	d.kind = WEFT_DEV_USB;
	d.usb = s->o.usb;
	d.usb_wait_ms = s->o.usb_wait_ms;
	d.config = s->o.config;
	return weft_cards_open(&d, &s->cards, msg);
}

/*
 * Refuses what one session over several cards cannot do: the options profile and keep, and a network
 * with variables. Returns 0, or -EINVAL with the first of these in msg.
 */
static int refuse(const weft_session *s, char *msg)
{
	const char *what = s->o.profile ? "a profile is one of a run on one card" : s->o.keep ? "tensors are kept of a run on one card"
	                 : s->net->g->n_vars ? "each run of a network with variables begins with what the one before left" : NULL;

	if (what)
		snprintf(msg, WEFT_MSG_LEN, "several cards: %s; name one card", what);
	return what ? -EINVAL : 0;
}

int weft_session_cards_take(weft_session *s, char *msg)
{
	if (s->cards)
		return 0;
	int err = refuse(s, msg);
	if (!err && !(s->cards = s->o.on_cards))
		err = open_own(s, msg);
	return err;
}

int weft_session_cards_open(weft_session *s, char *msg)
{
	struct weft_session_options o = s->o;
	struct weft_report *plan = NULL;
	int err = weft_session_cards_take(s, msg);

	if (err)
		return err;
	s->each = calloc((size_t)s->cards->n, sizeof(s->each[0]));
	if (!s->each) {
		snprintf(msg, WEFT_MSG_LEN, "out of memory");
		return -ENOMEM;
	}
	o.on_cards = NULL;
	for (int i = 0; !err && i < s->cards->n; i++) {
		o.on = s->cards->dev[i];
		o.usb = s->cards->name[i];
		err = weft_session_open_with(s->net, &o, s->p, &s->each[i], msg);
		if (!err)
			s->each[i]->over = s;
		/* The caller's cards may have lost one meanwhile, which then has no session. */
		if (err == -ENODEV && weft_worker_pool_lose(s->cards->pool, i, msg) > 0)
			err = 0;
	}
	if (!err)
		err = weft_session_plan(s, &plan, msg);
	s->cost = plan && plan->estimate ? plan->estimate : 1;
	weft_report_free(plan);
	return err;
}

void weft_session_cards_free(weft_session *s)
{
	for (int i = 0; s->each && i < s->cards->n; i++)
		weft_session_close(s->each[i]);
	free(s->each);
	s->each = NULL;
	if (!s->o.on_cards)
		weft_cards_close(s->cards);
	s->cards = NULL;
}

weft_cards *weft_session_cards(weft_session *s)
{
	return s->cards;
}

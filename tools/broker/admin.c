/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The card itself, for those who administer it: registers, the log, self-tests, firmware, resets, memory by its real
 * address. An administrator's client that asks for any of that before it says ABORT_ALL, with which drivers begin, gets the
 * card when the jobs that are on it have ended, and has it until its connection ends. Meanwhile the other clients' jobs
 * wait; their memory is in the broker, so nothing of it is lost whatever becomes of the card.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "broker.h"

#define ANSWER_MS 10000        /* time for an answer: a self-test, or checking a signature */

bool admin_may(const struct client *c)
{
	return c->peer.admin && !c->begun;
}

bool admin_has(const struct client *c)
{
	return c->w->admin_of == c;
}

/*
 * Brings the bytes of all pieces on the card back into the broker, and takes the pieces off it. A client whose
 * bytes cannot be read starts anew; the loop ends early if the card is lost.
 */
static void bring_home(struct worker *w)
{
	for (struct client *c = worker_next(w, NULL); c; c = worker_next(w, c)) {
		struct piece *p;
		while (!w->lost && (p = memory_oldest(&c->mem))) {
			int err = memory_dissolve(&c->mem, p);
			if (err && !worker_failed(w, c, err))
				client_restart(c);
		}
	}
}

/*
 * Opens the card for administration as w->admin. Returns 0 or a negative errno; the card counts as lost then.
 */
static int open_admin(struct worker *w)
{
	char msg[WEFT_ADMIN_MSG];
	int err = weft_admin_open(w->which, ANSWER_MS, &w->admin, msg);

	if (err && w->b->o.verbose)
		fprintf(stderr, "weft-broker: %s\n", msg);
	w->lost = w->lost || err;
	return err;
}

bool admin_take(struct client *c)
{
	struct worker *w = c->w;

	if (admin_has(c))
		return true;
	if (!w->admin_wants)
		w->admin_wants = c;
	if (w->admin_of || w->n_on_card || w->admin_wants != c)
		return false;
	bring_home(w);
	if (w->lost)
		return false;
	weft_dev_close(w->dev);
	w->dev = NULL;
	w->admin_wants = NULL;
	if (open_admin(w))
		return false;
	w->admin_of = c;
	if (w->b->o.verbose)
		fprintf(stderr, "weft-broker: client %u has the card\n", c->number);
	return true;
}

void admin_give_back(struct client *c)
{
	struct worker *w = c->w;
	const struct weft_msg_hello_reply before = w->hello;

	if (w->admin_wants == c)
		w->admin_wants = NULL;
	if (!admin_has(c))
		return;
	weft_admin_close(w->admin);
	w->admin = NULL;
	w->admin_of = NULL;
	/* Other firmware may be there now. Without the memory that its clients know it is another card. */
	if (w->lost || worker_open(w) || w->hello.host_base != before.host_base || w->hello.host_limit != before.host_limit)
		w->lost = true;
}

/*
 * Opens the card for administration anew after its link has failed, and takes over what it says of itself,
 * which may be another card by now. The card counts as lost if that fails.
 */
static void regreet(struct worker *w)
{
	weft_admin_close(w->admin);
	w->admin = NULL;
	if (!open_admin(w))
		w->hello = *weft_admin_hello(w->admin);
}

/*
 * Looks at what a call for the card itself returned: -ENODEV means that it is lost, after -EIO and -ETIMEDOUT
 * it is greeted anew. Returns err.
 */
static int after(struct client *c, int err)
{
	if (err == -ENODEV)
		c->w->lost = true;
	else if (err == -EIO || err == -ETIMEDOUT)
		regreet(c->w);
	return err;
}

int admin_ask(struct client *c, const uint32_t *words, unsigned n, uint32_t *reply, unsigned max)
{
	char msg[WEFT_ADMIN_MSG];
	int len = weft_admin_ask(c->w->admin, words, n, reply, max, msg);

	/* An error that the card says is an answer: its head alone. */
	if (len == -EPROTO && reply[0] >> 16)
		return 1;
	return len < 0 ? after(c, len) : len;
}

int admin_move(struct client *c, const struct frame *f, uint8_t *in)
{
	char msg[WEFT_ADMIN_MSG];

	return after(c, in ? weft_admin_read(c->w->admin, f->addr, in, f->len, msg)
	                   : weft_admin_write(c->w->admin, f->addr, f->body, f->len, msg));
}

void admin_reset(struct client *c)
{
	char msg[WEFT_ADMIN_MSG];

	if (!after(c, weft_admin_reset(c->w->admin, msg)))
		c->w->hello = *weft_admin_hello(c->w->admin);
}

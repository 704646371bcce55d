/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions of the parts that a plugin took, and their runs. */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/cards.h>

#include "plugin.h"

struct plugin_device {
	weft_dev *dev;             /* NULL: golden, or several cards */
	weft_cards *cards;         /* NULL: one device */
	pthread_mutex_t lock;      /* of one device: held by the part that runs, or is opened or closed */
	atomic_int users;          /* parts, and who opens them */
	char config[16];           /* the name of its configuration */
	/* Of a card or cards, which lie in the list `cards_open`: */
	struct plugin_device *next;
	char usb[PLUGIN_PATH];     /* the name that they were opened by */
	atomic_bool lost;          /* none is left: the next one who wants these cards opens them anew */
};

/*
 * The cards that this process has open: a card is opened once, and all who name it with the same words share
 * it, also the sessions of a runtime that know nothing of each other.
 */
static struct plugin_device *cards_open;
static pthread_mutex_t cards_lock = PTHREAD_MUTEX_INITIALIZER;

/* Waits until nobody else runs on the device; runs on several cards wait for one another by themselves. */
static void occupy(struct plugin_device *d)
{
	if (!d->cards)
		pthread_mutex_lock(&d->lock);
}

/* Ends what occupy() began. */
static void release(struct plugin_device *d)
{
	if (!d->cards)
		pthread_mutex_unlock(&d->lock);
}

/*
 * Returns the open card or cards of the same name as in the options, and of the same configuration if they name one, unless they are
 * lost, with one more user; NULL: there are none. Called with cards_lock held.
 */
static struct plugin_device *find_cards(const struct plugin_options *p)
{
	struct plugin_device *d = cards_open;

	while (d && (strcmp(d->usb, p->usb) || (p->config[0] && strcmp(d->config, p->config)) || atomic_load(&d->lost)))
		d = d->next;
	if (d)
		atomic_fetch_add(&d->users, 1);
	return d;
}

/* Sets the device's configuration: the one that the options name, else that of the card or cards, or w16. */
static void note_config(struct plugin_device *d, const struct plugin_options *p)
{
	struct weft_card_info card;
	const char *own = d->cards ? weft_cards_config(d->cards) : d->dev && !weft_dev_card(d->dev, &card) ? card.config : "w16";

	snprintf(d->config, sizeof(d->config), "%s", p->config[0] ? p->config : own);
}

/*
 * Opens the device that the options name, as plugin_device() says. If they name several cards, these are its `cards` and its `dev` is
 * NULL; for golden both are NULL.
 * Sets *out to it, with one user: the caller, who gives it to plugin_leave().
 * Returns 0, or -ENOMEM or as weft_dev_open() or weft_cards_open() with one line in msg and *out unchanged.
 */
static int open_new(const struct plugin_options *p, struct plugin_device **out, char msg[static WEFT_MSG_LEN])
{
	struct weft_dev_options o = weft_dev_options_default();
	struct plugin_device *d = calloc(1, sizeof(*d));

	if (!d) {
		snprintf(msg, WEFT_MSG_LEN, "not enough memory");
		return -ENOMEM;
	}
	o.kind = weft_device_kind(p->device);
	o.config = p->config[0] ? p->config : NULL;
	o.usb = p->usb[0] ? p->usb : NULL;
	o.cosim = p->check && p->device == WEFT_DEVICE_RTL;
	o.samples = p->profile[0];
	int err = p->device == WEFT_DEVICE_GOLDEN ? 0 : p->device == WEFT_DEVICE_USB && weft_cards_named(o.usb) ? weft_cards_open(&o, &d->cards, msg)
	        : weft_dev_open(&o, &d->dev, msg);
	if (err) {
		free(d);
		return err;
	}
	pthread_mutex_init(&d->lock, NULL);
	atomic_init(&d->users, 1);
	atomic_init(&d->lost, false);
	strcpy(d->usb, p->usb);
	note_config(d, p);
	*out = d;
	return 0;
}

/*
 * Does as open_new(), but of USB cards that this process has open already by the same name and configuration,
 * and has not lost, the caller becomes one more user, and a newly opened one is put on the list of open
 * cards. Other devices are always opened anew. *out is unchanged after a failure.
 */
static int open_device(const struct plugin_options *p, struct plugin_device **out, char msg[static WEFT_MSG_LEN])
{
	if (p->device != WEFT_DEVICE_USB)
		return open_new(p, out, msg);
	pthread_mutex_lock(&cards_lock);
	struct plugin_device *d = find_cards(p);
	int err = d ? 0 : open_new(p, &d, msg);
	if (!err && atomic_load(&d->users) == 1) {
		d->next = cards_open;
		cards_open = d;
	}
	pthread_mutex_unlock(&cards_lock);
	*out = err ? *out : d;
	return err;
}

/*
 * Notes that a device has one user less. If that was its last one, takes the device out of the list of open cards
 * and returns true. The caller holds cards_lock.
 */
static bool take_off(struct plugin_device *d)
{
	struct plugin_device **at = &cards_open;

	if (atomic_fetch_sub(&d->users, 1) > 1)
		return false;
	while (*at && *at != d)
		at = &(*at)->next;
	if (*at)
		*at = d->next;
	return true;
}

void plugin_leave(struct plugin_device *d)
{
	if (!d)
		return;
	/* Who wants these cards meanwhile finds them closed, not being closed. */
	pthread_mutex_lock(&cards_lock);
	if (!take_off(d)) {
		pthread_mutex_unlock(&cards_lock);
		return;
	}
	weft_cards_close(d->cards);
	weft_dev_close(d->dev);
	pthread_mutex_unlock(&cards_lock);
	pthread_mutex_destroy(&d->lock);
	free(d);
	/* What compiling and the simulated memory took lies between the runtime's own allocations, and would stay resident. */
	malloc_trim(0);
}

/*
 * Opens the session of part->net, by part->options and part->trace, on part->device, whose lock it holds
 * meanwhile. It compiles with at most `threads` threads. Returns 0 with the session in part->session, or
 * as weft_session_open(), with one line in msg; part->session then stays NULL.
 */
static int open_session(struct plugin_part *part, unsigned threads, char msg[static WEFT_MSG_LEN])
{
	struct weft_session_options o = weft_session_options_default();

	o.device = part->options.device;
	o.config = part->options.config;
	o.check = part->options.check;
	o.on = part->device->dev;
	o.on_cards = part->device->cards;
	o.profile = part->options.profile[0] ? part->trace : NULL;
	o.threads = threads;
	occupy(part->device);
	int err = weft_session_open(part->net, &o, &part->session, msg);
	release(part->device);
	return err;
}

/*
 * Closes a part's session, if it is open, after waiting for the lock of its device, and frees its
 * network. part->session and part->net are NULL then; the part keeps its device.
 */
static void close_session(struct plugin_part *part)
{
	if (part->session) {
		occupy(part->device);
		weft_session_close(part->session);
		release(part->device);
	}
	weft_net_free(part->net);
	part->session = NULL;
	part->net = NULL;
}

int plugin_device(struct plugin_options *p, struct plugin_device **device, char msg[static WEFT_MSG_LEN])
{
	int err = *device ? 0 : open_device(p, device, msg);

	if (!err && !p->config[0])
		strcpy(p->config, (*device)->config);
	return err;
}

int plugin_open(struct plugin_part *part, struct plugin_options *p, int i, unsigned threads, struct plugin_device **device,
                char msg[static WEFT_MSG_LEN])
{
	int err = plugin_device(p, device, msg);

	/* The session keeps pointers to the strings. */
	part->options = *p;
	snprintf(part->trace, sizeof(part->trace), i ? "%s.%d" : "%s", p->profile, i);
	if (err)
		return err;
	part->device = *device;
	atomic_fetch_add(&part->device->users, 1);
	return open_session(part, threads, msg);
}

int plugin_replace(struct plugin_part *part, weft_net *net, unsigned threads, char msg[static WEFT_MSG_LEN])
{
	close_session(part);
	part->net = net;
	return open_session(part, threads, msg);
}

void plugin_close(struct plugin_part *part)
{
	close_session(part);
	plugin_leave(part->device);
	*part = (struct plugin_part){ 0 };
}

/*
 * Writes one line about a checked run that differed to msg, of WEFT_MSG_LEN bytes: how many of how many
 * elements differ, and the index, tensor, operator, value and expected value of the first; if the report
 * has no first difference, only that the results differ.
 */
static void say_mismatch(const struct weft_report *r, char *msg)
{
	const struct weft_mismatch *m = &r->first;

	if (!m->found) {
		snprintf(msg, WEFT_MSG_LEN, "the device's results differ from golden's");
		return;
	}
	snprintf(msg, WEFT_MSG_LEN, "%llu of %llu elements differ from golden's; the first is %lld of tensor \"%.60s\" of operator %d %.40s: %lld, expected %lld",
	         (unsigned long long)r->mismatches, (unsigned long long)r->elements, (long long)m->index, m->tensor ? m->tensor : "", m->op,
	         m->op_name ? m->op_name : "", (long long)m->got, (long long)m->expected);
}

int plugin_run(const struct plugin_part *part, const weft_tensor *inputs, const weft_tensor *outputs, char msg[static WEFT_MSG_LEN])
{
	struct weft_report *r = NULL;

	occupy(part->device);
	int err = weft_session_run_into(part->session, inputs, outputs, &r, msg);
	release(part->device);

	if (err == -ENODEV)
		atomic_store(&part->device->lost, true);
	if (err == -EBADMSG && r)
		say_mismatch(r, msg);
	weft_report_free(r);
	return err;
}

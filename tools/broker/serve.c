/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients come and go. Each has a USB device of its own, as weft-card's host has one; what is behind it is link.c.
 * One thread, which never waits for a client or a card.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "broker.h"
#include "tools/card/redir_conn.h"
#include "tools/clock.h"

/* Transfers, and bytes in them, that one client may have under way; a driver has eight of 256 KiB. */
#define FLIGHTS_MAX 64
#define BYTES_MAX (8u << 20)
/* Steps that a client's device makes before the others have theirs. */
#define STEPS 64
/* If there is no descriptor for another connection, none is taken for so long. */
#define DEAF_NS 100000000ull
#define EVENTS 64

struct house {
	struct broker *b;
	int epoll, signals;
	const int *fds;
	int n_fds;
	uint64_t deaf_until_ns;    /* until when no connections are taken; 0: they are */
	bool over;
};

/*
 * Lets epoll watch fd for these events (op: EPOLL_CTL_...), and name it by `what`. Returns 0, or -1 with errno.
 */
static int watch(const struct house *h, int op, int fd, uint32_t events, void *what)
{
	struct epoll_event e = { .events = events, .data.ptr = what };

	return epoll_ctl(h->epoll, op, fd, &e);
}

/* Says on stderr, with --verbose, what a client did. */
static void note(const struct client *c, const char *what)
{
	if (c->b->o.verbose)
		fprintf(stderr, "weft-broker: client %u, %s (pid %u, uid %u)%s: %s\n", c->number, c->peer.name, c->peer.pid,
		        c->peer.uid, c->peer.admin ? ", administrator" : "", what);
}

/* ---- a client ---- */

/*
 * Says whether a control transfer is refused: a reset of the chip by a client that is neither a driver, whose
 * own card it would reset, nor an administrator, who means the card that everyone uses.
 */
static bool refuses(void *client, const uint8_t *setup)
{
	struct client *c = client;
	const bool reset = setup[0] == 0x40 && setup[1] == WEFT_USB_REQ_CHIP_RESET;

	pthread_mutex_lock(&c->b->lock);
	const bool mine = c->begun || c->peer.admin;
	pthread_mutex_unlock(&c->b->lock);
	return reset && !mine;
}

/*
 * Returns the worker whose card is there and has the fewest clients; the first one if no card is there. Called
 * with broker.lock held.
 */
static struct worker *choose_worker(struct broker *b)
{
	struct worker *best = NULL;

	for (unsigned i = 0; i < b->n_workers; i++) {
		struct worker *w = &b->workers[i];
		const bool better = best && w->state == CARD_HERE && (best->state != CARD_HERE || w->n_clients < best->n_clients);
		best = !best || better ? w : best;
	}
	return best;
}

/* Frees the client's connection, which closes its socket, and its USB device; both are NULL then. */
static void forget(struct client *c)
{
	if (c->conn)
		redir_conn_free(c->conn);
	usbdev_free(c->usb);
	c->conn = NULL;
	c->usb = NULL;
}

/*
 * Makes a client of connection fd, with a USB device of its own at the card that choose_worker() finds. Returns
 * NULL without memory.
 */
static struct client *new_client(struct house *h, int fd)
{
	struct client *c = calloc(1, sizeof(*c));
	struct redir_limits limits = { .flights = FLIGHTS_MAX, .bytes = BYTES_MAX, .quiet = true, .refuse = refuses, .user = c };
	char serial[17] = "";

	if (!c)
		return NULL;
	c->b = h->b;
	c->fd = fd;
	c->number = ++h->b->n_connections;
	peer_of(fd, h->b->admin_gid, &c->peer);
	link_open(c);
	pthread_mutex_lock(&h->b->lock);
	c->w = choose_worker(h->b);
	if (c->w->state == CARD_HERE)
		memcpy(serial, c->w->hello.serial, sizeof(c->w->hello.serial));
	pthread_mutex_unlock(&h->b->lock);
	c->usb = usbdev_new(&link_ops, c, serial, NULL, 0);
	c->conn = c->usb ? redir_conn_new(fd, c->usb, "weft-broker", &limits) : NULL;
	if (c->conn)
		return c;
	forget(c);
	free(c);
	return NULL;
}

/* Takes connection fd in as a client, or tells it that there are too many and closes it. */
static void admit(struct house *h, int fd)
{
	struct broker *b = h->b;
	char text[64];

	if (b->n_clients >= b->o.clients) {
		snprintf(text, sizeof(text), "in use by %u clients of the broker", b->n_clients);
		redir_refuse(fd, text);
		return;
	}
	struct client *c = new_client(h, fd);
	if (!c || watch(h, EPOLL_CTL_ADD, fd, EPOLLIN, c)) {
		if (c)
			forget(c);
		else
			close(fd);
		free(c);
		return;
	}
	c->events = EPOLLIN;
	c->until_ns = now_ns() + b->o.handshake_ms * 1000000ull;
	pthread_mutex_lock(&b->lock);
	c->next = b->clients;
	b->clients = c;
	b->n_clients++;
	c->w->n_clients++;
	pthread_mutex_unlock(&b->lock);
	note(c, "has come");
}

/*
 * Ends a client whose connection is gone, or is to go: its connection and USB device are freed, and its worker
 * frees what else it had; then client_free() follows.
 */
static void leave(struct client *c)
{
	note(c, "has gone");
	forget(c);
	pthread_mutex_lock(&c->b->lock);
	c->dead = true;
	pthread_mutex_unlock(&c->b->lock);
	worker_wake(c->w);
}

/* Plugs the client's USB device in if its card is here, and pulls it out if it is not. */
static void plug(struct client *c)
{
	pthread_mutex_lock(&c->b->lock);
	const bool here = c->w->state == CARD_HERE;
	pthread_mutex_unlock(&c->b->lock);
	if (here != usbdev_attached(c->usb))
		usbdev_attach(c->usb, here);
}

/*
 * Moves what can be moved between the client's connection and its USB device, in at most STEPS steps; with more
 * to do it will be attended to again. A client whose connection is gone leaves.
 */
static void attend(struct house *h, struct client *c)
{
	uint64_t wake;
	int steps = 0;

	bool alive = redir_conn_read(c->conn);
	plug(c);
	while (alive && steps < STEPS && usbdev_step(c->usb, &wake))
		steps++;
	alive = alive && redir_conn_write(c->conn);
	if (alive && c->until_ns && redir_conn_greeted(c->conn))
		c->until_ns = 0;
	if (!alive) {
		leave(c);
		return;
	}
	const short want = redir_conn_events(c->conn);
	const uint32_t events = (want & POLLIN ? EPOLLIN : 0u) | (want & POLLOUT ? EPOLLOUT : 0u);
	if (events != c->events)
		watch(h, EPOLL_CTL_MOD, c->fd, events, c);
	c->events = events;
	if (steps < STEPS)
		return;
	pthread_mutex_lock(&h->b->lock);
	c->stirred = true;
	pthread_mutex_unlock(&h->b->lock);
	broker_stir(h->b);
}

/* ---- all of them ---- */

/* Says whether something happened for the client in its worker since the last call. */
static bool take_stirred(struct client *c)
{
	pthread_mutex_lock(&c->b->lock);
	const bool stirred = c->stirred;
	c->stirred = false;
	pthread_mutex_unlock(&c->b->lock);
	return stirred;
}

/* Says whether the client's worker has forgotten it. */
static bool is_reaped(struct client *c)
{
	pthread_mutex_lock(&c->b->lock);
	const bool reaped = c->reaped;
	pthread_mutex_unlock(&c->b->lock);
	return reaped;
}

void client_free(struct client *c)
{
	struct broker *b = c->b;
	struct client **p = &b->clients;

	pthread_mutex_lock(&b->lock);
	while (*p != c)
		p = &(*p)->next;
	*p = c->next;
	b->n_clients--;
	c->w->n_clients--;
	pthread_mutex_unlock(&b->lock);
	link_close(c);
	free(c);
}

/*
 * Attends to the clients that the workers have stirred, ends those that took too long to say who they are, and
 * frees those that their workers have forgotten.
 */
static void attend_all(struct house *h)
{
	const uint64_t now = now_ns();
	struct client *next;

	for (struct client *c = h->b->clients; c; c = next) {
		next = c->next;
		const bool stirred = take_stirred(c);
		if (c->conn && c->until_ns && now >= c->until_ns)
			leave(c);
		if (c->conn && stirred)
			attend(h, c);
		if (!c->conn && is_reaped(c))
			client_free(c);
	}
}

/* Takes connections from now on, or takes none until DEAF_NS have passed. */
static void listen_to(struct house *h, bool on)
{
	for (int i = 0; i < h->n_fds; i++)
		watch(h, EPOLL_CTL_MOD, h->fds[i], on ? EPOLLIN : 0, (void *)&h->fds[i]);
	h->deaf_until_ns = on ? 0 : now_ns() + DEAF_NS;
}

/*
 * Takes a connection that waits at a listening socket. Where there is no descriptor or memory for it, none are
 * taken for a while.
 */
static void welcome(struct house *h, int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0)
		admit(h, fd);
	else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
		listen_to(h, false);
}

/*
 * Returns how many milliseconds the loop may wait: until a handshake takes too long or connections are taken
 * again; -1: forever.
 */
static int timeout_ms(const struct house *h)
{
	uint64_t at = h->deaf_until_ns ? h->deaf_until_ns : UINT64_MAX, now = now_ns();

	for (const struct client *c = h->b->clients; c; c = c->next)
		at = c->conn && c->until_ns && c->until_ns < at ? c->until_ns : at;
	return at == UINT64_MAX ? -1 : at <= now ? 0 : (int)((at - now) / 1000000 + 1);
}

/* Says whether epoll's `what` is one of the listening sockets. */
static bool is_listener(const struct house *h, const void *what)
{
	return (const int *)what >= h->fds && (const int *)what < h->fds + h->n_fds;
}

/* Empties an eventfd. */
static void drain(int fd)
{
	uint64_t count;

	if (read(fd, &count, sizeof(count)) < 0)
		return;                /* it was empty */
}

/* One turn of the loop: waits for something to happen, and deals with it. */
static void turn(struct house *h)
{
	struct epoll_event e[EVENTS];
	int n = epoll_wait(h->epoll, e, EVENTS, timeout_ms(h));

	for (int i = 0; i < n; i++) {
		struct client *c = e[i].data.ptr;
		if (is_listener(h, c))
			welcome(h, *(const int *)e[i].data.ptr);
		else if (e[i].data.ptr == &h->signals)
			h->over = true;
		else if (e[i].data.ptr == h->b)
			drain(h->b->wake);
		else if (c->conn)
			attend(h, c);
	}
	attend_all(h);
	if (h->deaf_until_ns && now_ns() >= h->deaf_until_ns)
		listen_to(h, true);
}

/*
 * Opens what the loop waits for: epoll, signals that end it, the workers' eventfd and the listening sockets.
 * Returns 0, or -1 with errno.
 */
static int open_house(struct house *h)
{
	sigset_t set;
	int err = 0;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	h->epoll = epoll_create1(EPOLL_CLOEXEC);
	h->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (h->epoll < 0 || h->signals < 0)
		return -1;
	err |= watch(h, EPOLL_CTL_ADD, h->signals, EPOLLIN, &h->signals);
	err |= watch(h, EPOLL_CTL_ADD, h->b->wake, EPOLLIN, h->b);
	for (int i = 0; i < h->n_fds; i++)
		err |= watch(h, EPOLL_CTL_ADD, h->fds[i], EPOLLIN, (void *)&h->fds[i]);
	return err;
}

int serve(struct broker *b, const int *fds, int n_fds)
{
	struct house h = { .b = b, .fds = fds, .n_fds = n_fds, .epoll = -1, .signals = -1 };
	int err = open_house(&h);

	if (err)
		fprintf(stderr, "weft-broker: %s\n", strerror(errno));
	while (!err && !h.over)
		turn(&h);
	for (struct client *c = b->clients; c; c = c->next)
		if (c->conn)
			leave(c);
	if (h.epoll >= 0)
		close(h.epoll);
	if (h.signals >= 0)
		close(h.signals);
	return err ? 3 : 0;
}

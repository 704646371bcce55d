/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers to a client's frames, as its own card would give them: the worker's part of the link.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "broker.h"

#define HEAD(type, error) ((uint32_t)(type) | WEFT_MSG_REPLY | (uint32_t)(error) << 16)

/*
 * Sends the client a frame that answers f: its type, address and body of len bytes, with f's sequence number.
 * It is dropped if the link was reset since f came.
 */
static void send(struct client *c, const struct frame *f, uint8_t type, uint32_t addr, const void *body, uint32_t len)
{
	pthread_mutex_lock(&c->b->lock);
	link_send(c, f->epoch, type, f->seq, addr, body, len);
	pthread_mutex_unlock(&c->b->lock);
}

/* Answers f with an ACK of that status. */
static void ack(struct client *c, const struct frame *f, enum weft_frame_status status)
{
	send(c, f, WEFT_FRAME_ACK, status, NULL, 0);
}

/* Answers f with the message msg of len bytes. */
static void reply(struct client *c, const struct frame *f, const void *msg, uint32_t len)
{
	send(c, f, WEFT_FRAME_REPLY, 0, msg, len);
}

/* Answers f, a message of that type, with an error; wrong types and lengths are counted as bad messages. */
static void refuse(struct client *c, const struct frame *f, uint32_t type, enum weft_msg_error error)
{
	const uint32_t head = HEAD(type, error);

	if (error == WEFT_MSG_ERR_TYPE || error == WEFT_MSG_ERR_LENGTH)
		c->stats.messages_bad++;
	reply(c, f, &head, sizeof(head));
}

void frame_tell(struct client *c, const void *msg, uint32_t len)
{
	pthread_mutex_lock(&c->b->lock);
	link_send(c, c->link.epoch, WEFT_FRAME_REPLY, 0, 0, msg, len);
	pthread_mutex_unlock(&c->b->lock);
}

/* ---- memory ---- */

/*
 * Says whether the client may read or write the bytes of frame f: they lie in its own memory, and it has said
 * ABORT_ALL, as drivers do; who has not wants to look at the card itself.
 */
static bool within(const struct client *c, const struct frame *f)
{
	const uint32_t base = c->w->hello.host_base;

	return c->begun && f->addr >= base && f->addr - base <= c->mem.bytes && f->len <= c->mem.bytes - (f->addr - base);
}

/*
 * Returns the status of an ACK for the outcome of a transfer: OK for 0, FENCE for -EACCES, CRC (try again) for
 * other errors.
 */
static enum weft_frame_status status_of(int err)
{
	return !err ? WEFT_FRAME_STATUS_OK : err == -EACCES ? WEFT_FRAME_STATUS_FENCE : WEFT_FRAME_STATUS_CRC;
}

/*
 * Answers an administrator's READ or WRITE of the card's real memory. Returns false if the frame has to wait
 * for the card.
 */
static bool move_raw(struct client *c, const struct frame *f)
{
	uint8_t *in = f->type == WEFT_FRAME_READ ? malloc(f->len) : NULL;
	const bool memory = in || f->type == WEFT_FRAME_WRITE, taken = memory && admin_take(c);
	int err = !memory ? -ENOMEM : taken ? admin_move(c, f, in) : 0;

	if (taken && !err && in)
		send(c, f, WEFT_FRAME_DATA, f->addr, in, f->len);
	else if (taken || !memory)
		ack(c, f, status_of(err));
	free(in);
	return taken || !memory;
}

/* Answers a WRITE. Returns false if it has to wait: for the card, or for a job that uses these bytes. */
static bool on_write(struct client *c, const struct frame *f)
{
	if (admin_may(c))
		return move_raw(c, f);
	if (!within(c, f)) {
		ack(c, f, WEFT_FRAME_STATUS_FENCE);
		return true;
	}
	int err = memory_write(&c->mem, f->addr - c->w->hello.host_base, f->body, f->len);
	if (err == -EBUSY)
		return false;
	if (!worker_failed(c->w, c, err))
		ack(c, f, status_of(err));
	return true;
}

/*
 * Answers a READ. Returns false if it has to wait: for the card, or for a job that uses these bytes. If the
 * bytes are lost the client's card starts anew.
 */
static bool on_read(struct client *c, const struct frame *f)
{
	if (admin_may(c))
		return move_raw(c, f);
	if (!within(c, f)) {
		ack(c, f, WEFT_FRAME_STATUS_FENCE);
		return true;
	}
	uint8_t *data = malloc(f->len);
	int err = data ? memory_read(&c->mem, f->addr - c->w->hello.host_base, data, f->len) : -ENOMEM;
	if (!err)
		send(c, f, WEFT_FRAME_DATA, f->addr, data, f->len);
	else if (err != -EBUSY && !worker_failed(c->w, c, err))
		client_restart(c);
	free(data);
	return err != -EBUSY;
}

/* ---- messages ---- */

struct message { const uint32_t *words; unsigned n; };

/*
 * Answers HELLO, with or without a session's number, since a connection is a session: with what the real card
 * says of itself, but with the memory, jobs and boot id of the client's own card, unless the client has the
 * real one.
 */
static bool on_hello(struct client *c, const struct frame *f, const struct message *m)
{
	struct weft_msg_hello_reply h = c->w->hello;

	/* With the session or without: a connection is one. */
	if (m->n != 2 && m->n != 3) {
		refuse(c, f, WEFT_MSG_HELLO, WEFT_MSG_ERR_LENGTH);
		return true;
	}
	h.head = HEAD(WEFT_MSG_HELLO, m->words[1] >> 16 == WEFT_MSG_MAJOR ? WEFT_MSG_ERR_OK : WEFT_MSG_ERR_VERSION);
	if (!admin_has(c)) {
		h.dram_bytes = h.host_limit = h.host_base + c->mem.bytes;
		h.jobs_max = WEFT_MSG_JOBS_MAX;
		h.boot_id = c->boot_id;
		h.trial = 0;
	}
	reply(c, f, &h, h.head >> 16 ? 8 : sizeof(h));
	return true;
}

/* Answers PING with the words that it has. */
static bool on_ping(struct client *c, const struct frame *f, const struct message *m)
{
	uint32_t words[WEFT_FRAME_MSG_MAX / 4];

	memcpy(words, m->words, 4 * m->n);
	words[0] = HEAD(WEFT_MSG_PING, 0);
	reply(c, f, words, 4 * m->n);
	return true;
}

/*
 * Answers SUBMIT, which only a client that has said ABORT_ALL may send. Returns false if it has to wait for a
 * job that uses the stream's bytes.
 */
static bool on_submit(struct client *c, const struct frame *f, const struct message *m)
{
	struct weft_msg_submit_reply r;

	if (!c->begun) {
		refuse(c, f, WEFT_MSG_SUBMIT, WEFT_MSG_ERR_DENIED);
		return true;
	}
	if (!job_submit(c, m->words, m->n, &r))
		return false;
	c->stats.jobs_refused += r.head >> 16 != 0;
	reply(c, f, &r, sizeof(r));
	return true;
}

/* Answers DONE with what became of the job that it names. */
static bool on_done(struct client *c, const struct frame *f, const struct message *m)
{
	const struct vjob *j = job_find(c, m->words[1]);
	struct weft_msg_done_reply d;

	if (!j) {
		refuse(c, f, WEFT_MSG_DONE, WEFT_MSG_ERR_NO_JOB);
		return true;
	}
	d = j->done;
	d.head = HEAD(WEFT_MSG_DONE, 0);
	reply(c, f, &d, sizeof(d));
	return true;
}

/* Answers CANCEL with the job's state, and then cancels the job that it names. */
static bool on_cancel(struct client *c, const struct frame *f, const struct message *m)
{
	struct vjob *j = job_find(c, m->words[1]);

	if (!j) {
		refuse(c, f, WEFT_MSG_CANCEL, WEFT_MSG_ERR_NO_JOB);
		return true;
	}
	const struct weft_msg_cancel_reply r = { HEAD(WEFT_MSG_CANCEL, 0), j->done.job, j->done.state };
	reply(c, f, &r, sizeof(r));
	job_cancel(c, j);
	return true;
}

/*
 * Answers ABORT_ALL: the client counts as a driver from now on, gives the card itself back if it has it, and
 * its jobs are dropped. The answer says how many had not ended.
 */
static bool on_abort_all(struct client *c, const struct frame *f, const struct message *m)
{
	(void)m;
	admin_give_back(c);
	pthread_mutex_lock(&c->b->lock);
	c->begun = true;
	pthread_mutex_unlock(&c->b->lock);
	const struct weft_msg_abort_all_reply r = { HEAD(WEFT_MSG_ABORT_ALL, 0), jobs_drop(c) };
	reply(c, f, &r, sizeof(r));
	return true;
}

/*
 * Answers RELEASE and drops the client's jobs. Its memory stays: it is the client's own, and goes with the
 * connection.
 */
static bool on_release(struct client *c, const struct frame *f, const struct message *m)
{
	const uint32_t head = HEAD(WEFT_MSG_RELEASE, 0);

	(void)m;
	jobs_drop(c);
	reply(c, f, &head, sizeof(head));
	return true;
}

/*
 * Passes a message that only administrators may send to the card and answers with what the card says; if it
 * says nothing usable, the link is broken. Returns false if the message has to wait for the card.
 */
static bool on_admin(struct client *c, const struct frame *f, const struct message *m)
{
	uint32_t words[WEFT_FRAME_MSG_MAX / 4] = { 0 };

	if (!admin_may(c)) {
		refuse(c, f, m->words[0] & 0xffff, WEFT_MSG_ERR_DENIED);
		return true;
	}
	if (!admin_take(c))
		return false;
	int n = admin_ask(c, m->words, m->n, words, WEFT_FRAME_MSG_MAX / 4);
	if (n > 0) {
		reply(c, f, words, 4 * (uint32_t)n);
	} else {
		pthread_mutex_lock(&c->b->lock);
		link_break(c);
		pthread_mutex_unlock(&c->b->lock);
	}
	return true;
}

/* Answers STATS: for an administrator the real card does, for a driver with the counts of this client alone. */
static bool on_stats(struct client *c, const struct frame *f, const struct message *m)
{
	if (admin_may(c))
		return on_admin(c, f, m);
	c->stats.head = HEAD(WEFT_MSG_STATS, 0);
	c->stats.time_lo = (uint32_t)c->use.cycles;
	c->stats.time_hi = (uint32_t)(c->use.cycles >> 32);
	c->stats.boot_count = 1;
	reply(c, f, &c->stats, sizeof(c->stats));
	return true;
}

/* Returns what CLIENTS says of client o. Called with broker.lock held. */
static struct weft_msg_client describe(const struct client *o)
{
	struct weft_msg_client d = { .card = o->w->index, .pid = o->peer.pid, .uid = o->peer.uid, .state = o->use.waiting,
		.memory_kib = (uint32_t)(o->memory >> 10), .on_card_kib = (uint32_t)(o->on_card >> 10), .jobs = (uint32_t)o->use.jobs,
		.cycles_lo = (uint32_t)o->use.cycles, .cycles_hi = (uint32_t)(o->use.cycles >> 32) };

	memcpy(d.name, o->peer.name, sizeof(d.name));
	return d;
}

/*
 * Answers CLIENTS: of the clients of all cards that are connected those from the number in the message on, at
 * most WEFT_MSG_CLIENTS_MAX, and how many there are in all.
 */
static bool on_clients(struct client *c, const struct frame *f, const struct message *m)
{
	struct {
		struct weft_msg_clients_reply r;
		struct weft_msg_client e[WEFT_MSG_CLIENTS_MAX];
	} a = { .r.head = HEAD(WEFT_MSG_CLIENTS, 0) };
	uint32_t n = 0;

	pthread_mutex_lock(&c->b->lock);
	for (const struct client *o = c->b->clients; o; o = o->next) {
		if (o->dead)
			continue;
		if (a.r.count >= m->words[1] && n < WEFT_MSG_CLIENTS_MAX)
			a.e[n++] = describe(o);
		a.r.count++;
	}
	pthread_mutex_unlock(&c->b->lock);
	reply(c, f, &a, (uint32_t)(sizeof(a.r) + n * sizeof(a.e[0])));
	return true;
}

/* The handlers by type of message. `words` is how long the whole message must be; 0: the handler looks itself. */
static const struct handler {
	bool (*run)(struct client *c, const struct frame *f, const struct message *m);
	unsigned words;
} handlers[] = {
	[WEFT_MSG_HELLO] = { on_hello, 0 },
	[WEFT_MSG_PING] = { on_ping, 0 },
	[WEFT_MSG_SUBMIT] = { on_submit, 0 },
	[WEFT_MSG_DONE] = { on_done, 2 },
	[WEFT_MSG_CANCEL] = { on_cancel, 2 },
	[WEFT_MSG_ABORT_ALL] = { on_abort_all, 1 },
	[WEFT_MSG_STATS] = { on_stats, 1 },
	[WEFT_MSG_LOG_READ] = { on_admin, 0 },
	[WEFT_MSG_REG_READ] = { on_admin, 0 },
	[WEFT_MSG_REG_WRITE] = { on_admin, 0 },
	[WEFT_MSG_SELF_TEST] = { on_admin, 0 },
	[WEFT_MSG_FW_BEGIN] = { on_admin, 0 },
	[WEFT_MSG_FW_DATA] = { on_admin, 0 },
	[WEFT_MSG_FW_END] = { on_admin, 0 },
	[WEFT_MSG_FW_SWITCH] = { on_admin, 0 },
	[WEFT_MSG_REBOOT] = { on_admin, 0 },
	[WEFT_MSG_FW_BOOT] = { on_admin, 0 },
	[WEFT_MSG_FW_FLOOR] = { on_admin, 0 },
	[WEFT_MSG_CLIENTS] = { on_clients, 2 },
	[WEFT_MSG_RELEASE] = { on_release, 2 },
};

/*
 * Answers a MSG by the handler of its type, after checking that there is one and the length. Counts it in the
 * client's messages once it is answered. Returns false if it has to wait.
 */
static bool on_msg(struct client *c, const struct frame *f)
{
	uint32_t words[WEFT_FRAME_MSG_MAX / 4];
	const struct message m = { words, f->len / 4 };

	memcpy(words, f->body, f->len);
	const uint32_t type = words[0] & 0xffff;
	const struct handler *h = type < sizeof(handlers) / sizeof(handlers[0]) ? &handlers[type] : NULL;
	enum weft_msg_error error = !h || !h->run ? WEFT_MSG_ERR_TYPE : h->words && h->words != m.n ? WEFT_MSG_ERR_LENGTH : WEFT_MSG_ERR_OK;
	bool done = true;

	if (error)
		refuse(c, f, type, error);
	else
		done = h->run(c, f, &m);
	c->stats.messages += done;
	return done;
}

bool frame_answer(struct client *c, const struct frame *f)
{
	switch (f->type) {
	case WEFT_FRAME_WRITE: return on_write(c, f);
	case WEFT_FRAME_READ:  return on_read(c, f);
	default:               return on_msg(c, f);
	}
}

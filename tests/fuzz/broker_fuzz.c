/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client says to weft-broker's link, in one thread, with the functional model as the card. The bytes are orders
 * (fuzz_broker.h): frames whose checksums the target makes right, raw bytes, resets. Another client has been there before and
 * has run a job, so that its bytes are on the card as well: whatever the first one does, no frame that it gets holds what that
 * one wrote, and what that one wrote stays.
 */
#define _GNU_SOURCE
#include <sys/eventfd.h>

#include "fuzz.h"
#include "fuzz_broker.h"
#include "include/le.h"
#include "tests/support/card_stream.h"
#include "tests/support/tensors.h"
#include "tools/broker/broker.h"

#include <zlib.h>

#define BASE 0x10000u
#define MEMORY (1u << 20)
#define SECRET_BYTES 4096u

/* What the other client wrote. It is drawn from the whole input, so that no input can hold it: libFuzzer learns constants. */
static uint8_t secret[16];

static struct broker broker;
static struct checker checker;

struct bytes { const uint8_t *p; size_t n; };

static unsigned take(struct bytes *b, unsigned n)
{
	unsigned v = 0;

	for (unsigned i = 0; i < n && b->n; i++, b->p++, b->n--)
		v |= (unsigned)*b->p << 8 * i;
	return v;
}

static struct client *new_client(void)
{
	struct client *c = calloc(1, sizeof(*c));

	fuzz_require(c != NULL, "a client");
	c->b = &broker;
	c->w = &broker.workers[0];
	link_open(c);
	c->next = broker.clients;
	broker.clients = c;
	return c;
}

/* Frames that it gets; none holds the other's bytes. */
static void drain(struct client *c)
{
	static uint8_t got[WEFT_FRAME_WRITE_MAX + 64];
	size_t n = 0, k;
	bool end;

	while ((k = link_ops.get(c, got + n, sizeof(got) - n, &end))) {
		n += k;
		if (!end)
			continue;
		fuzz_require(!memmem(got, n, secret, sizeof(secret)), "nobody gets another's bytes");
		n = 0;
	}
}

/* Let worker and checker work until nothing happens any more. */
static void turns(struct client *c)
{
	struct worker *w = &broker.workers[0];

	for (int i = 0; i < 1000; i++) {
		const bool busy = worker_once(w);
		pthread_mutex_lock(&broker.lock);
		const bool judged = check_once(w, &checker);
		pthread_mutex_unlock(&broker.lock);
		drain(c);
		if (!busy && !judged && !w->n_on_card)
			return;
	}
}

static void say(struct client *c, const uint8_t *p, size_t n)
{
	for (int i = 0; n && i < 1000; i++) {
		const size_t k = link_ops.put(c, p, n);
		p += k;
		n -= k;
		if (n)
			turns(c);
	}
}

static void frame(struct client *c, uint8_t type, uint32_t addr, uint32_t len, const uint8_t *body)
{
	uint8_t head[WEFT_FRAME_HEADER_BYTES] = { WEFT_FRAME_MAGIC, type, 1 }, tail[4];

	put32(head + 4, addr);
	put32(head + 8, len);
	put32(head + 12, (uint32_t)crc32(0, head, 12));
	say(c, head, sizeof(head));
	if (type == WEFT_FRAME_READ)
		return;
	put32(tail, (uint32_t)crc32(0, body, len));
	say(c, body, len);
	say(c, tail, sizeof(tail));
}

/* A MSG of so many words, or a WRITE of so many bytes, that follow. */
static void with_body(struct client *c, struct bytes *b, uint8_t type, uint32_t addr, uint32_t len)
{
	static uint8_t body[WEFT_FRAME_WRITE_MAX];

	memset(body, 0, len);
	memcpy(body, b->p, b->n < len ? b->n : len);
	const size_t k = b->n < len ? b->n : len;
	b->p += k;
	b->n -= k;
	frame(c, type, addr, len, body);
}

/* A SUBMIT whose windows lie mostly in its memory. */
static void submit(struct client *c, struct bytes *b)
{
	uint32_t m[7 + 3 * WEFT_MSG_WINDOWS_MAX] = { WEFT_MSG_SUBMIT, take(b, 1), 0, 0, BASE + 64 * take(b, 2), take(b, 2), take(b, 1) % 8 };

	for (uint32_t i = 0; i < m[6]; i++) {
		m[7 + 3 * i] = BASE + 64 * take(b, 2);
		m[8 + 3 * i] = take(b, 3);
		m[9 + 3 * i] = take(b, 1);
	}
	frame(c, WEFT_FRAME_MSG, 0, 4 * (7 + 3 * m[6]), (const uint8_t *)m);
}

static void order(struct client *c, struct bytes *b)
{
	uint8_t raw[256];
	uint32_t at;

	switch (take(b, 1) % BROKER_FUZZ_ORDERS) {
	case BROKER_FUZZ_RAW:
		with_body(c, b, (uint8_t)take(b, 1), take(b, 4), take(b, 1));
		for (at = 0; at < sizeof(raw) && b->n; at++)
			raw[at] = (uint8_t)take(b, 1);
		say(c, raw, at);
		break;
	case BROKER_FUZZ_MSG:
		with_body(c, b, WEFT_FRAME_MSG, 0, 4 * (1 + take(b, 1) % 128));
		break;
	case BROKER_FUZZ_WRITE:
		at = take(b, 3);
		with_body(c, b, WEFT_FRAME_WRITE, BASE + at, 1 + take(b, 2));
		break;
	case BROKER_FUZZ_READ:
		at = take(b, 4);
		frame(c, WEFT_FRAME_READ, at, take(b, 3), NULL);
		break;
	case BROKER_FUZZ_SUBMIT:
		submit(c, b);
		break;
	case BROKER_FUZZ_LINK_RESET:
		link_ops.link_reset(c);
		break;
	case BROKER_FUZZ_CHIP_RESET:
		link_ops.reset(c, WEFT_CHIP_CAUSE_HOST);
		break;
	default:
		turns(c);
	}
}

static void begin(void)
{
	struct worker *w = &broker.workers[0];
	struct weft_dev_options o = weft_dev_options_default();
	char msg[WEFT_DEV_MSG];
	static weft_dev *card;         /* opening one takes as long as an input; finish() sees to it that nothing is left on it */

	broker = (struct broker){ .lock = PTHREAD_MUTEX_INITIALIZER, .n_workers = 1, .o = { .memory = MEMORY, .job_ms = 10000 }, .admin_gid = -1 };
	*w = (struct worker){ .b = &broker, .check = PTHREAD_COND_INITIALIZER, .state = CARD_HERE, .where = "" };
	w->hello = (struct weft_msg_hello_reply){ .host_base = BASE, .host_limit = BASE + 4 * MEMORY, .clock_khz = 100000 };
	/* The one with the smallest scratchpad, which is cleared for each job. */
	w->cfg = weft_config_find("w4");
	o.config = w->cfg->name;
	/* Many inputs share them: a full eventfd is no harm. */
	static int wake = -1;
	wake = wake < 0 ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : wake;
	broker.wake = w->wake = wake;
	fuzz_require(card || !weft_dev_open(&o, &card, msg), "a device");
	weft_dev_trust(card, true);
	w->dev = card;
}

static void finish(void)
{
	for (struct client *c = broker.clients; c; c = c->next)
		c->dead = true;
	worker_once(&broker.workers[0]);
	while (broker.clients) {
		struct client *c = broker.clients;
		fuzz_require(c->reaped, "a client that is dead is forgotten");
		broker.clients = c->next;
		link_close(c);
		free(c);
	}
	fuzz_require(!broker.workers[0].n_on_card && broker.workers[0].dev, "nothing of it is left on the card");
}

/* Draws the secret from the input, and fills a page with it. */
static void draw_secret(const uint8_t *data, size_t size, uint8_t page[SECRET_BYTES])
{
	uint64_t state = size;

	for (size_t i = 0; i < size; i++) {
		state ^= data[i];
		state = test_random(&state);
	}
	for (size_t i = 0; i < sizeof(secret); i++)
		secret[i] = (uint8_t)(test_random(&state) >> 32);
	for (size_t i = 0; i < SECRET_BYTES; i++)
		page[i] = secret[i % sizeof(secret)];
}

/* The other client writes its page, and a job of it copies 64 bytes of that behind the page. */
static struct client *new_victim(const uint8_t *page)
{
	static const uint8_t abort_all[4] = { WEFT_MSG_ABORT_ALL };
	struct client *c = new_client();
	struct card_stream s;

	stream_copy(&s, 1, 0, 2, 0, 64);
	const uint32_t m[] = { WEFT_MSG_SUBMIT, 1, 0, 0, BASE + 2 * SECRET_BYTES, (uint32_t)s.n, 2,
		BASE, SECRET_BYTES, WEFT_MSG_PERM_READ, BASE + SECRET_BYTES, 64, WEFT_MSG_PERM_WRITE };
	frame(c, WEFT_FRAME_MSG, 0, sizeof(abort_all), abort_all);
	frame(c, WEFT_FRAME_WRITE, BASE, SECRET_BYTES, page);
	frame(c, WEFT_FRAME_WRITE, BASE + 2 * SECRET_BYTES, (uint32_t)(8 * s.n), (const uint8_t *)s.words);
	frame(c, WEFT_FRAME_MSG, 0, sizeof(m), (const uint8_t *)m);
	/* The verifier would take as long as all the rest of an input, and say each time that it is good. */
	for (int i = 0; i < 10 && !c->streams; i++)
		worker_once(c->w);
	fuzz_require(c->streams != NULL, "the other's stream is queued");
	c->streams->verdict = VERDICT_GOOD;
	turns(c);
	fuzz_require(c->jobs[0].done.job == 1 && !c->jobs[0].stream && c->mem.pieces, "the other's job has run");
	return c;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t page[SECRET_BYTES], got[SECRET_BYTES + 64];
	struct bytes b = { data, size };

	begin();
	draw_secret(data, size, page);
	struct client *victim = new_victim(page), *c = new_client();
	while (b.n)
		order(c, &b);
	turns(c);
	memset(got, 0, sizeof(got));
	fuzz_require(!memory_read(&victim->mem, 0, got, sizeof(got)), "the other's memory is there");
	for (size_t i = 0; i < sizeof(got); i++)
		fuzz_require(got[i] == secret[i % sizeof(secret)], "nobody writes another's bytes");
	finish();
	return 0;
}

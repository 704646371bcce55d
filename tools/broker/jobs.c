/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clients' jobs. A SUBMIT is checked as firmware checks it, against the client's own memory; its stream is
 * copied and judged by the verifier, and then waits until it is the client's turn. Its windows become pieces of the
 * client's memory, that is, buffers of the library's, which gives them their places in the card's memory.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/gen/cmd.h>
#include <weft/gen/regs.h>

#include "broker.h"
#include "tools/clock.h"

/* ---- a SUBMIT ---- */

/*
 * Checks that `bytes` bytes from `base` on, a real card's address, are aligned and in the client's memory; no
 * sum exceeds 64 bits. Returns WEFT_MSG_ERR_OK, _ALIGN or _WINDOW.
 */
static enum weft_msg_error check_range(const struct client *c, uint64_t base, uint64_t bytes)
{
	const uint64_t from = c->w->hello.host_base, end = from + c->mem.bytes;

	if (base % BROKER_ALIGN)
		return WEFT_MSG_ERR_ALIGN;
	return base < from || base + bytes > end ? WEFT_MSG_ERR_WINDOW : WEFT_MSG_ERR_OK;
}

/* Says whether the ranges of a_bytes from a on and of b_bytes from b on have a byte in common. */
static bool overlap(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
	return a < b + b_bytes && b < a + a_bytes;
}

/*
 * Says whether two windows cannot be in one job: they overlap, and one is written or they are not the same
 * bytes, since each is a buffer on the card.
 */
static bool collide(const struct weft_msg_window *a, const struct weft_msg_window *b)
{
	if (!a->size || !b->size || !overlap(a->base, a->size, b->base, b->size))
		return false;
	return ((a->perm | b->perm) & WEFT_MSG_PERM_WRITE) || a->base != b->base || a->size != b->size;
}

/*
 * Checks window i of SUBMIT m against memory, the stream and the windows before it. An empty window passes.
 * Returns WEFT_MSG_ERR_OK or the error with which firmware would refuse it.
 */
static enum weft_msg_error check_window(const struct client *c, const struct weft_msg_submit *m,
                                        const struct weft_msg_window *all, uint32_t i)
{
	const struct weft_msg_window *w = &all[i];
	enum weft_msg_error error = w->size ? check_range(c, w->base, w->size) : WEFT_MSG_ERR_OK;

	if (error || !w->size)
		return error;
	if (!w->perm || w->perm > (WEFT_MSG_PERM_READ | WEFT_MSG_PERM_WRITE))
		return WEFT_MSG_ERR_PERM;
	if (w->perm & WEFT_MSG_PERM_WRITE && overlap(w->base, w->size, m->stream_base, 8ull * m->stream_words))
		return WEFT_MSG_ERR_OVERLAP;
	for (uint32_t k = 0; k < i; k++)
		if (collide(w, &all[k]))
			return WEFT_MSG_ERR_OVERLAP;
	return WEFT_MSG_ERR_OK;
}

/*
 * Checks the job's number, the stream's range and all windows of SUBMIT m. Returns WEFT_MSG_ERR_OK or the first
 * error.
 */
static enum weft_msg_error check_submit(const struct client *c, const struct weft_msg_submit *m, const struct weft_msg_window *w)
{
	if (!m->job)
		return WEFT_MSG_ERR_JOB_ID;
	if (!m->stream_words || m->stream_words >= 1u << 29)
		return WEFT_MSG_ERR_STREAM;
	enum weft_msg_error error = check_range(c, m->stream_base, 8ull * m->stream_words);
	for (uint32_t i = 0; i < m->n_windows && !error; i++)
		error = check_window(c, m, w, i);
	return error;
}

/* Says whether a SUBMIT of n words is as long as its number of windows wants. */
static bool length_fits(const struct weft_msg_submit *m, unsigned n)
{
	const unsigned fixed = sizeof(*m) / 4, each = sizeof(struct weft_msg_window) / 4;

	return n >= fixed && m->n_windows <= WEFT_MSG_WINDOWS_MAX && n == fixed + m->n_windows * each;
}

struct vjob *job_find(struct client *c, uint32_t id)
{
	for (unsigned i = 0; i < WEFT_MSG_JOBS_KEPT && id; i++)
		if (c->jobs[i].done.job == id)
			return &c->jobs[i];
	return NULL;
}

/* Says whether this place holds no job, or one that has ended. */
static bool is_over(const struct vjob *j)
{
	return !j->done.job || j->done.state == WEFT_MSG_STATE_DONE;
}

/* Returns the number of the client's jobs that have not ended. */
static unsigned n_open(const struct client *c)
{
	unsigned n = 0;

	for (unsigned i = 0; i < WEFT_MSG_JOBS_KEPT; i++)
		n += !is_over(&c->jobs[i]);
	return n;
}

/* ---- streams ---- */

/* Takes stream s off the client's list and frees it. Called with broker.lock held. */
static void forget_stream(struct client *c, struct stream *s)
{
	struct stream **p = &c->streams;

	while (*p != s)
		p = &(*p)->next;
	*p = s->next;
	c->stream_bytes -= s->n_words * 8;
	free(s->words);
	free(s);
}

/*
 * Forgets the client's streams that no job has and the checker does not read, the one used least recently
 * first, until one more of so many bytes may be remembered: at most BROKER_STREAMS, and together no larger than
 * the client's memory. Returns whether it may. Called with broker.lock held.
 */
static bool make_room(struct client *c, size_t bytes)
{
	for (;;) {
		struct stream *oldest = NULL;
		unsigned n = 0;
		for (struct stream *s = c->streams; s; s = s->next, n++)
			if (!s->refs && s->verdict != VERDICT_BUSY && (!oldest || s->used < oldest->used))
				oldest = s;
		if (n < BROKER_STREAMS && bytes <= c->mem.bytes && c->stream_bytes <= c->mem.bytes - bytes)
			return true;
		if (!oldest)
			return false;
		forget_stream(c, oldest);
	}
}

/* Says whether two streams have the same words and windows, so that one verdict holds for both. */
static bool same(const struct stream *a, const struct stream *b)
{
	return a->n_words == b->n_words && !memcmp(a->win, b->win, sizeof(a->win)) && !memcmp(a->words, b->words, a->n_words * 8);
}

/*
 * Returns the client's stream that is equal to *mine, for one job more: one that is known already, or a new
 * one, which the checker is woken for. The words of *mine are taken over or freed. NULL: there are too many
 * streams, or no memory.
 */
static struct stream *keep_stream(struct client *c, struct stream *mine)
{
	struct stream *s, *made = NULL;

	pthread_mutex_lock(&c->b->lock);
	for (s = c->streams; s && !same(s, mine); s = s->next)
		;
	if (!s && make_room(c, mine->n_words * 8) && (made = malloc(sizeof(*made)))) {
		*made = *mine;
		made->next = c->streams;
		c->streams = s = made;
		c->stream_bytes += made->n_words * 8;
		pthread_cond_signal(&c->w->check);
	}
	if (s) {
		s->refs++;
		s->used = ++c->w->uses;
	}
	pthread_mutex_unlock(&c->b->lock);
	if (!made)
		free(mine->words);
	return s;
}

/*
 * Copies the stream of SUBMIT m with windows w out of the client's memory and sets *out to it (keep_stream()).
 * Returns 0; -EBUSY if a job on the card uses these bytes; -EAGAIN if there are too many streams; -ENOMEM; or
 * what the library says.
 */
static int fetch_stream(struct client *c, const struct weft_msg_submit *m, const struct weft_msg_window *w, struct stream **out)
{
	struct stream mine = { .n_words = m->stream_words, .words = malloc(8 * (size_t)m->stream_words) };
	int err = mine.words ? memory_read(&c->mem, m->stream_base - c->w->hello.host_base, (uint8_t *)mine.words,
	                                   8 * m->stream_words) : -ENOMEM;

	for (uint32_t i = 0; i < m->n_windows; i++)
		mine.win[i] = (struct stream_window){ w[i].size, w[i].size ? w[i].perm : 0 };
	if (err) {
		free(mine.words);
		return err;
	}
	*out = keep_stream(c, &mine);
	return *out ? 0 : -EAGAIN;
}

/* ---- queued ---- */

/* Returns how many milliseconds job m may run: its deadline, but at most the option job_ms. */
static uint64_t ms_of(const struct client *c, const struct weft_msg_submit *m)
{
	const uint64_t cycles = (uint64_t)m->deadline_hi << 32 | m->deadline_lo, khz = c->w->hello.clock_khz;
	const uint64_t ms = cycles && khz ? cycles / khz + 1 : UINT64_MAX;

	return ms < c->b->o.job_ms ? ms : c->b->o.job_ms;
}

/*
 * Returns the place of the oldest job that is over. There is one, since at most half of the places hold jobs
 * that are not.
 */
static struct vjob *take_record(struct client *c)
{
	struct vjob *j;

	do
		j = &c->jobs[c->next_job++ % WEFT_MSG_JOBS_KEPT];
	while (!is_over(j));
	return j;
}

/* Tells the client's clock that it has work again (turn_come()). */
static void come(struct client *c)
{
	uint64_t least = UINT64_MAX, newest = 0;

	pthread_mutex_lock(&c->b->lock);
	for (const struct client *o = c->b->clients; o; o = o->next) {
		if (o->w != c->w || o == c)
			continue;
		const uint64_t at = o->use.clock - o->use.charged;
		least = o->use.waiting && at < least ? at : least;
		newest = at > newest ? at : newest;
	}
	turn_come(&c->use, least, newest);
	pthread_mutex_unlock(&c->b->lock);
}

/* Notes a job of SUBMIT m with windows w and stream s as queued. */
static void enqueue(struct client *c, const struct weft_msg_submit *m, const struct weft_msg_window *w, struct stream *s)
{
	struct vjob *j = take_record(c);

	*j = (struct vjob){ .stream = s, .order = ++c->n_submits, .limit_ns = ms_of(c, m) * 1000000 };
	j->done = (struct weft_msg_done_reply){ .head = WEFT_MSG_DONE | WEFT_MSG_REPLY, .job = m->job, .state = WEFT_MSG_STATE_QUEUED };
	memcpy(j->win, w, m->n_windows * sizeof(*w));
	come(c);
}

bool job_submit(struct client *c, const uint32_t *words, unsigned n, struct weft_msg_submit_reply *r)
{
	struct {
		struct weft_msg_submit m;
		struct weft_msg_window w[WEFT_MSG_WINDOWS_MAX];
	} s = { 0 };
	struct stream *stream;

	memcpy(&s, words, 4 * n < sizeof(s) ? 4 * n : sizeof(s));
	enum weft_msg_error error = length_fits(&s.m, n) ? WEFT_MSG_ERR_OK : WEFT_MSG_ERR_LENGTH;
	const bool known = !error && job_find(c, s.m.job);
	if (!error && !known)
		error = check_submit(c, &s.m, s.w);
	if (!error && !known && n_open(c) == WEFT_MSG_JOBS_MAX)
		error = WEFT_MSG_ERR_QUEUE_FULL;
	if (!error && !known) {
		int err = fetch_stream(c, &s.m, s.w, &stream);
		if (err == -EBUSY)
			return false;
		if (!err)
			enqueue(c, &s.m, s.w, stream);
		else if (!worker_failed(c->w, c, err))
			error = WEFT_MSG_ERR_QUEUE_FULL;
	}
	const struct vjob *j = job_find(c, s.m.job);
	*r = (struct weft_msg_submit_reply){ .head = WEFT_MSG_SUBMIT | WEFT_MSG_REPLY | (uint32_t)error << 16, .job = s.m.job,
		.state = j && !error ? j->done.state : 0, .free = WEFT_MSG_JOBS_MAX - n_open(c) };
	return true;
}

/* ---- the end of a job ---- */

/* Lets go of the pieces that a job has pinned. */
static void unpin(struct vjob *j)
{
	for (unsigned i = 0; i < WEFT_MSG_WINDOWS_MAX; i++)
		if (j->piece[i])
			j->piece[i]->pins--;
	memset(j->piece, 0, sizeof(j->piece));
}

/*
 * Notes that nothing of job j is on the card any more, after `cycles` cycles there: unpins its pieces, settles
 * its charge, and lets go of its stream.
 */
static void leave(struct client *c, struct vjob *j, uint64_t cycles)
{
	c->w->n_on_card -= j->on_card;
	unpin(j);
	pthread_mutex_lock(&c->b->lock);
	if (j->on_card)
		turn_end(&c->use, j->expected, cycles);
	j->stream->refs--;
	pthread_mutex_unlock(&c->b->lock);
	j->on_card = false;
	j->stream = NULL;
}

/* Notes whether the client still has jobs that have not ended. */
static void settle(struct client *c)
{
	pthread_mutex_lock(&c->b->lock);
	c->use.waiting = n_open(c);
	pthread_mutex_unlock(&c->b->lock);
}

/*
 * Ends job j with this result and, if it ran, what the library says of it (NULL: nothing); counts it, and tells
 * the client.
 */
static void finish(struct client *c, struct vjob *j, enum weft_msg_result result, const struct weft_job_result *r)
{
	struct weft_msg_done_reply *d = &j->done;
	const uint64_t cycles = r ? r->cycles : 0;

	leave(c, j, cycles);
	d->state = WEFT_MSG_STATE_DONE;
	d->result = result;
	d->time_lo = (uint32_t)cycles;
	d->time_hi = (uint32_t)(cycles >> 32);
	if (r) {
		_Static_assert(sizeof(d->counters) == sizeof(r->counters), "both are the NPU's registers in their order");
		memcpy(d->counters, &r->counters, sizeof(d->counters));
		d->fault = r->fault_code << WEFT_REG_FAULT_CODE_LSB | r->fault_unit << WEFT_REG_FAULT_UNIT_LSB;
		d->fault_cmd = r->fault_cmd;
		d->fault_tag = r->fault_tag;
		d->fault_info = r->fault_info;
	}
	c->stats.jobs_ok += result == WEFT_MSG_RESULT_OK;
	c->stats.jobs_fault += result == WEFT_MSG_RESULT_FAULT;
	c->stats.jobs_deadline += result == WEFT_MSG_RESULT_DEADLINE;
	c->stats.jobs_cancelled += result == WEFT_MSG_RESULT_CANCELLED;
	settle(c);
	if (c->b->o.verbose)
		fprintf(stderr, "weft-broker: client %u: job %u: %s, %llu cycles\n", c->number, d->job, weft_msg_result_text(result),
		        (unsigned long long)cycles);
	frame_tell(c, d, sizeof(*d));
}

void job_cancel(struct client *c, struct vjob *j)
{
	if (is_over(j))
		frame_tell(c, &j->done, sizeof(j->done));
	else if (j->on_card)
		weft_cancel(c->w->dev, j->job);
	else
		finish(c, j, WEFT_MSG_RESULT_CANCELLED, NULL);
}

unsigned jobs_drop(struct client *c)
{
	unsigned n = 0;

	for (unsigned i = 0; i < WEFT_MSG_JOBS_KEPT; i++) {
		struct vjob *j = &c->jobs[i];
		if (!is_over(j)) {
			n++;
			if (j->on_card)
				weft_forget(c->w->dev, j->job);
			leave(c, j, j->on_card ? j->expected : 0);
		}
		j->done.job = 0;
	}
	settle(c);
	return n;
}

void jobs_gone(struct client *c)
{
	for (unsigned i = 0; i < WEFT_MSG_JOBS_KEPT; i++) {
		struct vjob *j = &c->jobs[i];
		if (!is_over(j))
			leave(c, j, 0);
		j->done.job = 0;
	}
	settle(c);
}

/*
 * Returns the result of a job that the card has ended: a cancelled one is _DEADLINE if the broker stopped it as
 * late.
 */
static enum weft_msg_result result_of(const struct vjob *j, const struct weft_job_result *r)
{
	if (!r->status)
		return WEFT_MSG_RESULT_OK;
	if (r->status == -ECANCELED)
		return j->late ? WEFT_MSG_RESULT_DEADLINE : WEFT_MSG_RESULT_CANCELLED;
	return r->fault_code ? WEFT_MSG_RESULT_FAULT : WEFT_MSG_RESULT_HUNG;
}

/* ---- on the card ---- */

/* Cancels job j, which runs, if it has run for longer than it may at time `now`. */
static void stop_late(struct worker *w, struct vjob *j, uint64_t now)
{
	if (j->late || now < w->started_ns || now - w->started_ns < j->limit_ns)
		return;
	j->late = true;
	weft_cancel(w->dev, j->job);
}

/* Ends those jobs of the client that the card has finished, and stops the one that runs too long. */
static void collect_of(struct worker *w, struct client *c)
{
	struct weft_job_result r;

	for (unsigned i = 0; i < WEFT_MSG_JOBS_KEPT && !w->lost; i++) {
		struct vjob *j = &c->jobs[i];
		if (!j->on_card)
			continue;
		int err = weft_wait(w->dev, j->job, 0, &r);
		if (err == -ETIMEDOUT) {
			if (j->done.state == WEFT_MSG_STATE_RUNNING)
				stop_late(w, j, now_ns());
			continue;
		}
		w->started_ns = now_ns();
		if (!worker_failed(w, c, err ? err : r.status))
			finish(c, j, err ? WEFT_MSG_RESULT_HUNG : result_of(j, &r), err ? NULL : &r);
	}
}

/* Marks the job on the card that was submitted to it first as running: it is the one that runs. */
static void mark_running(struct worker *w)
{
	struct vjob *first = NULL;

	for (struct client *c = worker_next(w, NULL); c; c = worker_next(w, c))
		for (unsigned i = 0; i < WEFT_MSG_JOBS_KEPT; i++)
			if (c->jobs[i].on_card && (!first || c->jobs[i].job < first->job))
				first = &c->jobs[i];
	if (first)
		first->done.state = WEFT_MSG_STATE_RUNNING;
}

void jobs_collect(struct worker *w)
{
	for (struct client *c = worker_next(w, NULL); c && !w->lost; c = worker_next(w, c))
		collect_of(w, c);
	mark_running(w);
}

uint64_t jobs_next_ns(const struct worker *w)
{
	uint64_t at = UINT64_MAX;

	for (struct client *c = worker_next((struct worker *)w, NULL); c; c = worker_next((struct worker *)w, c))
		for (unsigned i = 0; i < WEFT_MSG_JOBS_KEPT; i++)
			if (c->jobs[i].on_card && !c->jobs[i].late && w->started_ns + c->jobs[i].limit_ns < at)
				at = w->started_ns + c->jobs[i].limit_ns;
	return at;
}

/* ---- starting ---- */

/*
 * Returns the client's oldest job that is not over and not on the card; NULL if there is none. Jobs of one
 * client run in their order.
 */
static struct vjob *next_job(struct client *c)
{
	struct vjob *first = NULL;

	for (unsigned i = 0; i < WEFT_MSG_JOBS_KEPT; i++) {
		struct vjob *j = &c->jobs[i];
		if (!is_over(j) && !j->on_card && (!first || j->order < first->order))
			first = j;
	}
	return first;
}

/* Returns the verdict on job j's stream so far. */
static enum verdict verdict_of(struct client *c, const struct vjob *j)
{
	pthread_mutex_lock(&c->b->lock);
	const enum verdict v = j->stream->verdict;
	pthread_mutex_unlock(&c->b->lock);
	return v;
}

/*
 * Makes room on the card: dissolves the piece without pins that was used least recently, whosever it is. A
 * client whose bytes are lost by that starts anew. Returns false if there is no such piece.
 */
static bool evict(struct worker *w)
{
	struct client *whose = NULL;
	struct piece *oldest = NULL;

	for (struct client *c = worker_next(w, NULL); c; c = worker_next(w, c)) {
		struct piece *p = memory_oldest(&c->mem);
		if (p && (!oldest || p->used < oldest->used)) {
			oldest = p;
			whose = c;
		}
	}
	if (!oldest)
		return false;
	int err = memory_dissolve(&whose->mem, oldest);
	if (err && !worker_failed(w, whose, err))
		client_restart(whose);
	return true;
}

/*
 * Gives all windows of job j a place on the card and pins them there, evicting others as needed. Returns 0, or
 * a negative errno with none pinned.
 */
static int pin(struct client *c, struct vjob *j)
{
	struct worker *w = c->w;
	int err = 0;

	for (unsigned i = 0; i < WEFT_MSG_WINDOWS_MAX && !err; i++) {
		struct piece *p;
		if (!j->win[i].size)
			continue;
		do
			err = memory_piece(&c->mem, w->dev, j->win[i].base - w->hello.host_base, j->win[i].size, &p);
		while (err == -ENOMEM && evict(w) && !w->lost && j->done.job);
		if (err)
			break;
		p->pins++;
		p->used = ++w->uses;
		j->piece[i] = p;
	}
	if (err)
		unpin(j);
	return err;
}

/*
 * Puts job j on the card, with its windows, and charges the client for it. Returns 0, or a negative errno with
 * nothing of it there.
 */
static int start(struct client *c, struct vjob *j)
{
	struct weft_window win[WEFT_MSG_WINDOWS_MAX] = { 0 };
	int err = pin(c, j);

	if (err)
		return err;
	for (unsigned i = 0; i < WEFT_MSG_WINDOWS_MAX; i++)
		if (j->piece[i])
			win[i] = (struct weft_window){ j->piece[i]->buf, j->win[i].perm & WEFT_MSG_PERM_READ, j->win[i].perm & WEFT_MSG_PERM_WRITE };
	do
		err = weft_submit(c->w->dev, j->stream->words, j->stream->n_words, win, WEFT_MSG_WINDOWS_MAX, &j->job);
	while (err == -ENOMEM && evict(c->w) && !c->w->lost && j->done.job);
	if (err) {
		unpin(j);
		return err;
	}
	if (!c->w->n_on_card++)
		c->w->started_ns = now_ns();
	j->on_card = true;
	pthread_mutex_lock(&c->b->lock);
	j->expected = turn_start(&c->use);
	pthread_mutex_unlock(&c->b->lock);
	return 0;
}

/*
 * Returns the job that is next: of the clients' next jobs that have a good verdict and are not held, that of
 * the client whose clock is furthest behind; *whose is that client. NULL if there is none. Jobs whose streams
 * are bad are ended on the way.
 */
static struct vjob *choose(struct worker *w, struct client **whose)
{
	struct vjob *best = NULL;

	for (struct client *c = worker_next(w, NULL); c; c = worker_next(w, c)) {
		struct vjob *j;
		enum verdict v = VERDICT_OPEN;
		while ((j = next_job(c)) && (v = verdict_of(c, j)) == VERDICT_BAD)
			finish(c, j, WEFT_MSG_RESULT_FAULT, &(struct weft_job_result){ .fault_code = WEFT_FAULT_BAD_FIELD });
		if (!j || v != VERDICT_GOOD || j->held)
			continue;
		if (!best || c->use.clock < (*whose)->use.clock) {
			best = j;
			*whose = c;
		}
	}
	return best;
}

/* Lets all jobs be tried again that were held because jobs on the card were in their way. */
static void release_held(struct worker *w)
{
	for (struct client *c = worker_next(w, NULL); c; c = worker_next(w, c))
		for (unsigned i = 0; i < WEFT_MSG_JOBS_KEPT; i++)
			c->jobs[i].held = false;
}

void jobs_start(struct worker *w)
{
	struct client *c = NULL;
	struct vjob *j;

	release_held(w);
	while (!w->lost && w->n_on_card < BROKER_ON_CARD && (j = choose(w, &c))) {
		int err = start(c, j);
		if (!err || w->lost || worker_failed(w, c, err) || !j->done.job)
			continue;
		const bool busy = err == -EBUSY, full = err == -ENOMEM || err == -EAGAIN;
		if (full && w->n_on_card)
			break;             /* it is its turn: those that are on the card end first */
		else if (busy && w->n_on_card)
			j->held = true;    /* behind another job of the same client */
		else if (busy || full)
			finish(c, j, WEFT_MSG_RESULT_HUNG, NULL);
		else
			client_restart(c); /* bytes of its memory are lost */
	}
	mark_running(w);
}

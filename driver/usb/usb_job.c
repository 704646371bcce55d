/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs on their way to a card and back. A job goes from one state to the next
 * in weft_card_advance(): its buffers are sent, then, when every WRITE is
 * acknowledged, SUBMIT. Uploads of several jobs overlap. SUBMITs leave in the order of
 * the jobs, and several may be unanswered, but of two jobs, one of which writes a
 * buffer that the other uses, the second is submitted only when the card has taken
 * the first: a SUBMIT that has to be repeated would be overtaken. DONE comes by itself
 * and is asked for when it is late. A job that is known to the card is never run twice.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/sys.h"
#include "usb_card.h"
#include "weft/gen/cmd.h"
#include "weft/gen/regs.h"

#define QUEUE_MAX 64
/* A job that no command bounds ends after so many cycles; no network takes as long. */
#define MAX_CYCLES (1ull << 40)

struct job_req {
	struct weft_req r;         /* first */
	struct card *c;
	uint32_t card_id;
};

static struct card_job *by_card_id(struct card *c, uint32_t id)
{
	struct card_job *j = c->jobs;

	while (j && j->card_id != id)
		j = j->next;
	return j;
}

static bool on_card(const struct card_job *j)
{
	return j->state == JOB_SUBMIT || j->state == JOB_RUNS;
}

/* ---- ends ---- */

static void unlink_job(struct card *c, struct card_job *j)
{
	struct card_job **p = &c->jobs;

	while (*p != j)
		p = &(*p)->next;
	*p = j->next;
	free(j);
}

/* Nothing of it is on the card or under way any more. */
static void end(struct card *c, struct card_job *j, int status)
{
	bool ran = on_card(j);

	if (j->state == JOB_ENDED)
		return;
	weft_card_upload_drop(c, j);
	j->state = JOB_ENDED;
	j->r.status = status;
	j->stream->n_jobs--;
	for (unsigned i = 1; i < WEFT_N_WINDOWS; i++) {
		struct card_buf *b = j->win[i].buf;
		if (!b)
			continue;
		if (j->win[i].wr) {
			b->n_writers--;
			if (ran && weft_ranges_add(&b->stale, 0, b->len))
				b->lost = true;
		}
		weft_card_buf_unref(c, b);
	}
	c->info.jobs++;
	if (j->abandoned)
		unlink_job(c, j);
	else if (c->events)
		weft_events_ended(c->events);
}

static void end_with(struct card *c, struct card_job *j, int status, const char *why)
{
	snprintf(j->msg, sizeof(j->msg), "%s", why);
	end(c, j, status);
}

void weft_card_jobs_end(struct card *c, int status, const char *why)
{
	struct card_job *next;

	for (struct card_job *j = c->jobs; j; j = next) {
		next = j->next;
		end_with(c, j, status, why);
	}
}

void weft_card_jobs_free(struct card *c)
{
	while (c->jobs) {
		struct card_job *next = c->jobs->next;
		free(c->jobs);
		c->jobs = next;
	}
}

static bool uses(const struct card_job *j, const struct card_buf *b)
{
	for (unsigned i = 1; i < WEFT_N_WINDOWS; i++)
		if (j->win[i].buf == b)
			return true;
	return false;
}

bool weft_card_any_forgotten(const struct card *c, const struct card_buf *b)
{
	for (const struct card_job *j = c->jobs; j; j = j->next)
		if (j->abandoned && j->state != JOB_ENDED && uses(j, b))
			return true;
	return false;
}

int weft_card_n_ended(void *state)
{
	const struct card *c = state;
	int n = 0;

	for (const struct card_job *j = c->jobs; j; j = j->next)
		n += j->state == JOB_ENDED;
	return n;
}

static void from_done(struct card *c, struct card_job *j, const struct weft_msg_done_reply *d)
{
	struct weft_job_result *r = &j->r;
	int status = 0;

	c->n_done++;
	memcpy(&r->counters, d->counters, sizeof(r->counters));
	r->cycles = r->counters.cycles;
	switch (d->result) {
	case WEFT_MSG_RESULT_OK:
		break;
	case WEFT_MSG_RESULT_CANCELLED:
		status = -ECANCELED;
		snprintf(j->msg, sizeof(j->msg), "usb: job was cancelled");
		break;
	case WEFT_MSG_RESULT_FAULT:
		status = -EIO;
		r->fault_code = (d->fault & WEFT_REG_FAULT_CODE_MASK) >> WEFT_REG_FAULT_CODE_LSB;
		r->fault_unit = (d->fault & WEFT_REG_FAULT_UNIT_MASK) >> WEFT_REG_FAULT_UNIT_LSB;
		r->fault_cmd = d->fault_cmd;
		r->fault_tag = d->fault_tag;
		r->fault_info = d->fault_info;
		snprintf(j->msg, sizeof(j->msg), "usb: command %u (%s): fault %s (%s), info 0x%x", r->fault_cmd,
		         weft_unit_name(r->fault_unit), weft_fault_name(r->fault_code),
		         weft_fault_brief(r->fault_code), r->fault_info);
		break;
	default:
		status = -EIO;
		snprintf(j->msg, sizeof(j->msg), "usb: job ended by the card: %s; retired LD %u ST %u CV %u VE %u",
		         weft_msg_result_text(d->result) ? weft_msg_result_text(d->result) : "unknown",
		         d->retired[0], d->retired[1], d->retired[2], d->retired[3]);
	}
	end(c, j, status);
}

/* ---- messages ---- */

static int queue_msg(struct card *c, const struct card_job *j, const void *msg, uint32_t len,
                     void (*done)(struct weft_req *))
{
	struct job_req *q = calloc(1, sizeof(*q));

	if (!q)
		return -ENOMEM;
	q->c = c;
	q->card_id = j->card_id;
	q->r.type = WEFT_FRAME_MSG;
	q->r.len = len;
	q->r.done = done;
	memcpy(q->r.msg, msg, len);
	weft_link_queue(&c->link, &q->r);
	return 0;
}

/* What a reply is about: NULL if the job has gone meanwhile. Frees r. */
static struct card_job *take_reply(struct weft_req *r, void *reply, size_t len, int *err)
{
	struct job_req *q = (struct job_req *)r;
	struct card *c = q->c;
	struct card_job *j = by_card_id(c, q->card_id);

	*err = r->status;
	memset(reply, 0, len);
	memcpy(reply, r->reply, r->reply_len < len ? r->reply_len : len);
	free(q);
	return j;
}

/* What it says makes no sense: ask who that is. */
static void distrust(struct card *c, const char *why)
{
	if (!c->link.broken)
		snprintf(c->link.why, sizeof(c->link.why), "%s", why);
	c->link.broken = true;
}

static bool is_reply(uint32_t head, enum weft_msg_type type)
{
	return (head & 0xffff) == ((uint32_t)type | WEFT_MSG_REPLY);
}

static void on_done_msg(struct card *c, struct card_job *j, const struct weft_msg_done_reply *d)
{
	const uint32_t code = d->head >> 16;

	j->since_ns = weft_now_ns();
	if (!on_card(j))
		return;
	if (code == WEFT_MSG_ERR_NO_JOB)
		distrust(c, "the card has forgotten a job");
	else if (code || !is_reply(d->head, WEFT_MSG_DONE) || d->job != j->card_id || !d->state || d->state > WEFT_MSG_STATE_DONE)
		distrust(c, "the card's answer about a job makes no sense");
	else if (d->state == WEFT_MSG_STATE_DONE)
		from_done(c, j, d);
}

static void answered_done(struct weft_req *r)
{
	struct card *c = ((struct job_req *)r)->c;
	struct weft_msg_done_reply d;
	int err;
	struct card_job *j = take_reply(r, &d, sizeof(d), &err);

	if (!j)
		return;
	j->asking = false;
	if (!err)
		on_done_msg(c, j, &d);
}

static void answered_cancel(struct weft_req *r)
{
	struct weft_msg_cancel_reply d;
	int err;
	struct card_job *j = take_reply(r, &d, sizeof(d), &err);

	if (j)
		j->since_ns = 0;   /* its DONE follows; ask if it does not */
}

void weft_card_on_msg(void *user, const uint8_t *msg, uint32_t len)
{
	struct card *c = user;
	struct weft_msg_done_reply d = { 0 };

	memcpy(&d, msg, len < sizeof(d) ? len : sizeof(d));
	if ((d.head & 0xffff) != (WEFT_MSG_DONE | WEFT_MSG_REPLY) || len < sizeof(d))
		return;
	struct card_job *j = by_card_id(c, d.job);
	if (j)
		on_done_msg(c, j, &d);
}

/* It did not run. */
static void refused(struct card *c, struct card_job *j, uint32_t code)
{
	snprintf(j->msg, sizeof(j->msg), "usb: the card refuses the job: %s",
	         weft_msg_error_text(code) ? weft_msg_error_text(code) : "unknown error");
	j->state = JOB_UPLOAD;
	end(c, j, code == WEFT_MSG_ERR_NPU_DEAD || code == WEFT_MSG_ERR_QUEUE_FULL ? -EIO : -EINVAL);
}

static bool any_on_card(const struct card *c, const struct card_job *but)
{
	for (const struct card_job *j = c->jobs; j; j = j->next)
		if (j != but && on_card(j))
			return true;
	return false;
}

/* Later, when a job has ended there; an idle card that is full is none. */
static void queue_full(struct card *c, struct card_job *j)
{
	if (!any_on_card(c, j) && ++j->n_full > c->policy.full_tries) {
		refused(c, j, WEFT_MSG_ERR_QUEUE_FULL);
		return;
	}
	j->state = JOB_UPLOAD;
	j->not_before_ns = weft_now_ns() + c->policy.ask_ns;
}

static void answered_submit(struct weft_req *r)
{
	struct card *c = ((struct job_req *)r)->c;
	struct weft_msg_submit_reply d;
	int err;
	struct card_job *j = take_reply(r, &d, sizeof(d), &err);
	uint32_t code = d.head >> 16;

	if (!j || j->state != JOB_SUBMIT)
		return;
	j->since_ns = weft_now_ns();
	if (err == -ECONNRESET)
		return;                /* weft_card_jobs_lost() comes next */
	if (err) {
		end_with(c, j, err, "usb: the job could not be submitted");
	} else if (!is_reply(d.head, WEFT_MSG_SUBMIT) || (!code && d.job != j->card_id)) {
		distrust(c, "the card's answer to a job makes no sense");
		j->state = JOB_RUNS;   /* perhaps it does: it is asked after */
	} else if (code == WEFT_MSG_ERR_QUEUE_FULL) {
		queue_full(c, j);
	} else if (code) {
		refused(c, j, code);
	} else {
		j->state = JOB_RUNS;
		if (d.state == WEFT_MSG_STATE_DONE)
			j->since_ns = 0;
	}
}

static int send_submit(struct card *c, struct card_job *j)
{
	struct {
		struct weft_msg_submit m;
		struct weft_msg_window w[WEFT_MSG_WINDOWS_MAX];
	} s = { .m = { .head = WEFT_MSG_SUBMIT, .job = j->card_id, .deadline_lo = (uint32_t)MAX_CYCLES,
		.deadline_hi = (uint32_t)(MAX_CYCLES >> 32), .stream_base = (uint32_t)j->stream->addr,
		.stream_words = (uint32_t)j->stream->n_words } };

	for (uint32_t i = 1; i < WEFT_N_WINDOWS; i++) {
		struct card_buf *b = j->win[i].buf;
		if (!b)
			continue;
		s.m.n_windows = i;
		s.w[i - 1] = (struct weft_msg_window){ (uint32_t)b->addr, (uint32_t)b->len,
			(j->win[i].rd ? WEFT_MSG_PERM_READ : 0) | (j->win[i].wr ? WEFT_MSG_PERM_WRITE : 0) };
	}
	uint32_t len = (uint32_t)(sizeof(s.m) + s.m.n_windows * sizeof(s.w[0]));
	return queue_msg(c, j, &s, len, answered_submit);
}

static void ask_done(struct card *c, struct card_job *j)
{
	const struct weft_msg_done m = { WEFT_MSG_DONE, j->card_id };

	j->since_ns = weft_now_ns();
	if (!j->asking && !queue_msg(c, j, &m, sizeof(m), answered_done))
		j->asking = true;
}

/* Once; if it does not help in time, the chip is reset. */
static void ask_cancel(struct card *c, struct card_job *j)
{
	const struct weft_msg_cancel m = { WEFT_MSG_CANCEL, j->card_id };

	if (j->cancel_ns && weft_now_ns() >= j->cancel_ns + c->policy.cancel_ns) {
		c->rec.force_chip = true;
		distrust(c, "the card does not end a cancelled job");
		return;
	}
	if (j->cancel_ns || queue_msg(c, j, &m, sizeof(m), answered_cancel))
		return;
	j->cancel_ns = weft_now_ns();
}

/* ---- from state to state ---- */

/* Returns whether the job has ended. */
static bool upload(struct card *c, struct card_job *j)
{
	int err = 0;

	for (unsigned i = 1; i < WEFT_N_WINDOWS; i++) {
		struct card_buf *b = j->win[i].buf;
		if (b && b->lost)
			err = -ECONNRESET;
	}
	if (err) {
		end_with(c, j, err, "usb: the card was reset; what earlier jobs left in a buffer is gone");
		return true;
	}
	j->failed = 0;
	j->state = JOB_UPLOAD;
	err = weft_card_upload(c, j);
	if (err)
		end_with(c, j, err, "usb: out of memory");
	return err;
}

/* All that it reads is on the card, or (sent) on its way there. */
static bool all_there(const struct card_job *j, bool sent)
{
	for (unsigned i = 1; i < WEFT_N_WINDOWS; i++) {
		const struct card_buf *b = j->win[i].buf;
		if (b && (b->dirty.n || (b->n_uploads && !sent)))
			return false;
	}
	return j->stream->there && (!j->stream->n_uploads || sent);
}

/* Returns whether one of the jobs writes what the other uses. */
static bool conflict(const struct card_job *a, const struct card_job *b)
{
	for (unsigned i = 1; i < WEFT_N_WINDOWS; i++)
		for (unsigned k = 1; a->win[i].buf && k < WEFT_N_WINDOWS; k++)
			if (a->win[i].buf == b->win[k].buf && (a->win[i].wr || b->win[k].wr))
				return true;
	return false;
}

/* Returns whether the jobs before j let its SUBMIT leave. */
static bool may_follow(const struct card *c, const struct card_job *j)
{
	unsigned n_on_card = 0;

	for (const struct card_job *e = c->jobs; e != j; e = e->next) {
		if (e->state == JOB_ENDED)
			continue;
		if (!on_card(e) || (e->state == JOB_SUBMIT && conflict(e, j)))
			return false;
		n_on_card++;
	}
	return n_on_card < c->hello.jobs_max;
}

/* Before it is on the card. Returns whether the job has ended, and if nobody waits for it, is gone. */
static bool prepare(struct card *c, struct card_job *j)
{
	if (j->cancel) {
		end_with(c, j, -ECANCELED, "usb: job was cancelled");
		return true;
	}
	if (j->state == JOB_UPLOAD && !j->n_pending && j->failed) {
		snprintf(j->msg, sizeof(j->msg), "usb: sending the job's data failed: %s", weft_sys_error(j->failed));
		end(c, j, j->failed == -EACCES ? -EPROTO : j->failed);
		return true;
	}
	/* Another's upload was given up, or the card was reset. */
	if (j->state == JOB_UPLOAD && !j->n_pending && !all_there(j, true))
		j->state = JOB_NEW;
	return j->state == JOB_NEW && upload(c, j);
}

/* Returns whether the job has ended, and if nobody waits for it, is gone. */
static bool try_submit(struct card *c, struct card_job *j)
{
	if (j->n_pending || !all_there(j, false) || weft_now_ns() < j->not_before_ns || !may_follow(c, j))
		return false;
	int err = send_submit(c, j);
	/* Nothing would wake the driver to try again. */
	if (err) {
		end_with(c, j, err, "usb: out of memory");
		return true;
	}
	j->state = JOB_SUBMIT;
	j->since_ns = weft_now_ns();
	return false;
}

/* A job that was forgotten may still write its buffers. */
static bool held_up(const struct card *c, const struct card_job *j)
{
	for (const struct card_job *e = c->jobs; e != j; e = e->next)
		if (e->abandoned && e->state != JOB_ENDED && conflict(e, j))
			return true;
	return false;
}

void weft_card_advance(struct card *c)
{
	struct card_job *next;

	for (struct card_job *j = c->jobs; j && !c->link.broken; j = next) {
		next = j->next;
		if (j->state == JOB_NEW && !j->cancel && held_up(c, j))
			continue;
		if ((j->state == JOB_NEW || j->state == JOB_UPLOAD) && prepare(c, j))
			continue;
		if (j->state == JOB_UPLOAD && try_submit(c, j))
			continue;
		if (j->state == JOB_RUNS && j->cancel)
			ask_cancel(c, j);
		if (j->state == JOB_RUNS && weft_now_ns() >= j->since_ns + c->policy.ask_ns)
			ask_done(c, j);
	}
}

/* Returns when something is to be asked or tried of this job. A job that has not ended is looked at within ask_ns, whatever it waits for. */
static uint64_t next_of(const struct card *c, const struct card_job *j)
{
	uint64_t at = j->state == JOB_ENDED ? UINT64_MAX : weft_now_ns() + c->policy.ask_ns;

	if (j->state == JOB_RUNS && !j->asking)
		at = weft_sooner(at, j->since_ns + c->policy.ask_ns);
	if (j->state == JOB_RUNS && j->cancel)
		at = weft_sooner(at, j->cancel_ns ? j->cancel_ns + c->policy.cancel_ns : 0);
	if (j->state == JOB_UPLOAD && j->not_before_ns > weft_now_ns())
		at = weft_sooner(at, j->not_before_ns);
	return at;
}

uint64_t weft_card_next_ask(const struct card *c)
{
	uint64_t at = UINT64_MAX;

	for (const struct card_job *j = c->jobs; j; j = j->next)
		at = weft_sooner(at, next_of(c, j));
	return at;
}

bool weft_card_jobs_troubled(struct card *c)
{
	struct card_job *next;
	bool ended = false;

	for (struct card_job *j = c->jobs; j; j = next) {
		next = j->next;
		if (!on_card(j) || ++j->troubles <= c->policy.job_troubles)
			continue;
		snprintf(j->msg, sizeof(j->msg), "usb: the job was given up after the card had to be put right %u times; %.150s",
		         c->policy.job_troubles, c->why);
		end(c, j, j->cancel ? -ECANCELED : -EIO);
		ended = true;
	}
	return ended;
}

void weft_card_jobs_lost(struct card *c)
{
	struct card_job *next;

	for (struct card_job *j = c->jobs; j; j = next) {
		next = j->next;
		j->asking = false;
		j->cancel_ns = 0;
		if (j->state == JOB_ENDED)
			continue;
		if (!on_card(j)) {
			j->state = JOB_NEW;
		} else if (j->repeatable && !j->cancel && j->repeats < c->policy.job_repeats) {
			j->state = JOB_NEW;
			j->repeats++;
			j->card_id = ++c->next_card_id ? c->next_card_id : ++c->next_card_id;
			c->info.jobs_repeated++;
		} else {
			/* What nobody waits for is freed as it ends, perhaps with its buffers. */
			const bool kept = !j->abandoned;
			end_with(c, j, j->cancel ? -ECANCELED : -ECONNRESET,
			         j->cancel ? "usb: job was cancelled" : "usb: the card was reset while the job ran");
			for (unsigned i = 1; kept && i < WEFT_N_WINDOWS; i++) {
				struct card_buf *b = j->win[i].buf;
				if (b && j->win[i].wr)
					b->lost = true;
			}
		}
	}
}

/* ---- from above ---- */

static int find_stream(struct card *c, const uint64_t *words, size_t n, struct card_stream **out)
{
	struct card_stream *free_one = NULL;

	for (int i = 0; i < CARD_STREAMS; i++) {
		struct card_stream *s = &c->streams[i];
		if (s->words && s->n_words == n && !memcmp(s->words, words, n * 8)) {
			*out = s;
			return 0;
		}
		if (!s->n_jobs && (!free_one || s->used < free_one->used))
			free_one = s;
	}
	if (!free_one)
		return -EAGAIN;
	if (free_one->words) {
		weft_card_free(c, free_one->addr, free_one->n_words * 8);
		free(free_one->words);
	}
	*free_one = (struct card_stream){ .words = malloc(n * 8), .n_words = n };
	if (!free_one->words)
		return -ENOMEM;
	int err = weft_card_alloc(c, n * 8, &free_one->addr);
	if (err) {
		free(free_one->words);
		free_one->words = NULL;
		return err;
	}
	memcpy(free_one->words, words, n * 8);
	*out = free_one;
	return 0;
}

static void hold(struct card_job *j, const struct weft_backend_job *job)
{
	j->repeatable = true;
	for (unsigned i = 1; i < WEFT_N_WINDOWS; i++) {
		struct card_buf *b = job->win[i].buf;
		if (!b)
			continue;
		j->win[i] = job->win[i];
		if (b->stale.n || b->n_writers)
			j->repeatable = false;
		b->n_jobs++;
		b->n_writers += job->win[i].wr;
	}
}

int weft_card_submit(void *state, weft_job id, const struct weft_backend_job *job, char *msg)
{
	struct card *c = state;
	struct card_job *j, **last = &c->jobs;
	struct card_stream *s;
	int n = 0;

	for (; *last; last = &(*last)->next)
		n++;
	if (n >= QUEUE_MAX) {
		snprintf(msg, WEFT_DEV_MSG, "submit: %d jobs are queued; wait for one", n);
		return -EAGAIN;
	}
	int err = weft_card_wake(c, msg);
	if (err)
		return err;
	err = find_stream(c, job->words, job->n_words, &s);
	if (err == -EAGAIN)
		snprintf(msg, WEFT_DEV_MSG, "submit: %d different streams are queued; wait for one", CARD_STREAMS);
	else if (err == -ENOSPC)
		snprintf(msg, WEFT_DEV_MSG, "usb: no card memory for a stream of %zu words", job->n_words);
	if (err)
		return err == -ENOSPC ? -ENOMEM : err;
	j = calloc(1, sizeof(*j));
	if (!j)
		return -ENOMEM;
	j->id = id;
	j->card_id = ++c->next_card_id ? c->next_card_id : ++c->next_card_id;
	j->stream = s;
	s->n_jobs++;
	s->used = ++c->uses;
	hold(j, job);
	*last = j;
	/* Begin, without waiting for anything. */
	weft_card_process(c);
	return 0;
}

static struct card_job *by_id(struct card *c, weft_job id)
{
	struct card_job *j = c->jobs;

	while (j && (j->id != id || j->abandoned))
		j = j->next;
	return j;
}

int weft_card_cancel(void *state, weft_job id)
{
	struct card *c = state;
	struct card_job *j = by_id(c, id);

	if (!j)
		return -ENOENT;
	j->cancel = true;
	if (j->state == JOB_NEW || j->state == JOB_UPLOAD)
		end_with(c, j, -ECANCELED, "usb: job was cancelled");
	weft_card_process(c);
	return 0;
}

int weft_card_forget(void *state, weft_job id)
{
	struct card *c = state;
	struct card_job *j = by_id(c, id);

	if (!j)
		return -ENOENT;
	if (j->state == JOB_ENDED) {
		unlink_job(c, j);
		return 0;
	}
	j->abandoned = j->cancel = true;
	if (!on_card(j))
		end(c, j, -ECANCELED);
	weft_card_process(c);
	return 0;
}

static bool has_ended(void *job)
{
	return ((struct card_job *)job)->state == JOB_ENDED;
}

int weft_card_wait(void *state, weft_job id, uint64_t until_ns, struct weft_job_result *r, char *msg)
{
	struct card *c = state;
	const uint64_t begin = weft_now_ns(), cpu = weft_cpu_ns();
	struct card_job *j = by_id(c, id);

	if (!j) {
		snprintf(msg, WEFT_DEV_MSG, "wait: no job %llu", (unsigned long long)id);
		return -ENOENT;
	}
	if (!weft_card_until(c, has_ended, j, until_ns)) {
		const bool up = c->rec.phase == CARD_UP;
		snprintf(msg, WEFT_DEV_MSG, "usb: the job has not ended within the time limit%s%.150s", up ? "" : "; ",
		         up ? "" : c->why);
		return -ETIMEDOUT;
	}
	*r = j->r;
	snprintf(msg, WEFT_DEV_MSG, "%s", j->msg);
	unlink_job(c, j);
	r->seconds = (double)(weft_now_ns() - begin) * 1e-9;
	r->cpu_seconds = (double)(weft_cpu_ns() - cpu) * 1e-9;
	return 0;
}

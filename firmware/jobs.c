/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs: checked when they come, run one after another, remembered for a while
 * so that a host whose reply was lost can ask, or submit again without harm.
 */
#include "fw.h"

#define N_COUNTERS 12
#define N_RETIRED  4
#define NONE       0xff

_Static_assert(WEFT_REG_CNT_CMDS == WEFT_REG_CNT_CYCLES + 4 * (N_COUNTERS - 1), "counters are in a row");
_Static_assert(WEFT_REG_RETIRED_VE == WEFT_REG_RETIRED_LD + 4 * (N_RETIRED - 1), "counters are in a row");
_Static_assert(WEFT_REG_FAULT_INFO == WEFT_REG_FAULT + 12, "fault registers are in a row");

/* What a DONE says behind its head, in its order. */
struct outcome {
	uint32_t id;                   /* 0: free */
	uint32_t state, result;        /* enum weft_msg_state, enum weft_msg_result */
	uint32_t fault[4];
	uint32_t time[2];
	uint32_t counters[N_COUNTERS], retired[N_RETIRED];
};

#define OUTCOME_WORDS (sizeof(struct outcome) / 4)

_Static_assert(sizeof(struct outcome) + 4 == sizeof(struct weft_msg_done_reply) &&
               offsetof(struct outcome, counters) + 4 == offsetof(struct weft_msg_done_reply, counters), "DONE");

struct job {
	struct outcome out;            /* behind state only once it has ended */
	bool unreported;               /* it stands in reports[] */
	uint64_t deadline;             /* cycles; 0: none */
	uint32_t stream_base, stream_words, n_windows;
	struct weft_msg_window windows[WEFT_MSG_WINDOWS_MAX];
};

static struct job jobs[WEFT_MSG_JOBS_KEPT];
static uint8_t queue[WEFT_MSG_JOBS_MAX];   /* indexes, oldest first; the first one may run */
static uint32_t n_queued;                  /* the running one included */
static bool running;
static uint64_t started, must_end;
static uint8_t reports[WEFT_MSG_JOBS_KEPT]; /* indexes whose DONE is due, oldest first */
static uint32_t n_reports;
static uint32_t next_record;

bool jobs_any(void)
{
	return n_queued;
}

uint64_t jobs_deadline(void)
{
	return running ? must_end : ~0ull;
}

static struct job *find(uint32_t id)
{
	for (uint32_t i = 0; i < WEFT_MSG_JOBS_KEPT; i++)
		if (jobs[i].out.id == id)
			return &jobs[i];
	return NULL;
}

/* Records are used in turn, so that the youngest jobs are remembered. Among sixteen
 * there is one to take: at most eight are queued, and ends are reported before
 * messages are taken. */
static struct job *take_record(void)
{
	struct job *j;

	do {
		j = &jobs[next_record];
		next_record = (next_record + 1) % WEFT_MSG_JOBS_KEPT;
	} while (j->out.id && j->out.state != WEFT_MSG_STATE_DONE);
	return j;
}

/* ---- checks: nothing of a message is believed ---- */

/* No sum here can overflow once base lies in memory: that has at most 1 GiB. */
static enum weft_msg_error check_range(uint32_t base, uint32_t bytes)
{
	uint32_t end = CHIP(WEFT_CHIP_SYS_DRAM_BYTES);

	if (base % 64)
		return WEFT_MSG_ERR_ALIGN;
	if (base < HOST_BASE || base > end || bytes > end - base)
		return WEFT_MSG_ERR_WINDOW;
	return WEFT_MSG_ERR_OK;
}

/* Both have passed check_range(). */
static bool overlap(uint32_t a, uint32_t a_bytes, uint32_t b, uint32_t b_bytes)
{
	return a < b + b_bytes && b < a + a_bytes;
}

static enum weft_msg_error check_window(const struct weft_msg_submit *m, const struct weft_msg_window *all, uint32_t i)
{
	const struct weft_msg_window *w = &all[i];

	if (!w->size)
		return WEFT_MSG_ERR_OK;
	enum weft_msg_error error = check_range(w->base, w->size);
	if (error)
		return error;
	if (!w->perm || w->perm > (WEFT_MSG_PERM_READ | WEFT_MSG_PERM_WRITE))
		return WEFT_MSG_ERR_PERM;
	bool writes = w->perm & WEFT_MSG_PERM_WRITE;
	if (writes && overlap(w->base, w->size, m->stream_base, 8 * m->stream_words))
		return WEFT_MSG_ERR_OVERLAP;
	for (uint32_t k = 0; k < i; k++)
		if (all[k].size && (writes || (all[k].perm & WEFT_MSG_PERM_WRITE)) &&
		    overlap(w->base, w->size, all[k].base, all[k].size))
			return WEFT_MSG_ERR_OVERLAP;
	return WEFT_MSG_ERR_OK;
}

static enum weft_msg_error check_submit(const struct weft_msg_submit *m, const struct weft_msg_window *w)
{
	if (!m->job)
		return WEFT_MSG_ERR_JOB_ID;
	if (!m->stream_words || m->stream_words >= 1u << 29)
		return WEFT_MSG_ERR_STREAM;
	enum weft_msg_error error = check_range(m->stream_base, 8 * m->stream_words);
	for (uint32_t i = 0; i < m->n_windows && !error; i++)
		error = check_window(m, w, i);
	return error;
}

/* Whatever of it is written, or read: the last byte that it may know of. It has passed check_submit(). */
static uint32_t end_of(const struct weft_msg_submit *m, const struct weft_msg_window *w)
{
	uint32_t end = m->stream_base + 8 * m->stream_words;

	for (uint32_t i = 0; i < m->n_windows; i++)
		if (w[i].size && w[i].base + w[i].size > end)
			end = w[i].base + w[i].size;
	return end;
}

/* ---- running ---- */

static void report(struct job *j)
{
	if (j->unreported)
		return;
	j->unreported = true;
	reports[n_reports++] = (uint8_t)(j - jobs);
}

/* Take place `at` out of the queue; the job has ended. */
static void leave_queue(uint32_t at, enum weft_msg_result result)
{
	struct job *j = &jobs[queue[at]];

	n_queued--;
	for (uint32_t i = at; i < n_queued; i++)
		queue[i] = queue[i + 1];
	j->out.state = WEFT_MSG_STATE_DONE;
	j->out.result = result;
	report(j);
}

static void never_ran(struct job *j)
{
	uint32_t *out = &j->out.id;

	for (uint32_t i = 2; i < OUTCOME_WORDS; i++)
		out[i] = 0;
}

static void start_next(void)
{
	if (running || !n_queued)
		return;
	struct job *j = &jobs[queue[0]];
	if (npu_dead) {
		never_ran(j);
		leave_queue(0, WEFT_MSG_RESULT_HUNG);
		return;
	}
	j->out.state = WEFT_MSG_STATE_RUNNING;
	running = true;
	started = time_now();
	must_end = j->deadline && started + j->deadline > started ? started + j->deadline : ~0ull;
	npu_start(j->windows, j->n_windows, j->stream_base, j->stream_words);
}

/* What the NPU says of the job that has just ended, before it forgets. */
static void note_result(struct job *j)
{
	uint64_t cycles = time_now() - started;

	j->out.time[0] = (uint32_t)cycles;
	j->out.time[1] = (uint32_t)(cycles >> 32);
	for (int i = 0; i < 4; i++)
		j->out.fault[i] = 0;
	copy_words(j->out.counters, &NPU(WEFT_REG_CNT_CYCLES), N_COUNTERS);
	copy_words(j->out.retired, &NPU(WEFT_REG_RETIRED_LD), N_RETIRED);
}

static void end_running(enum weft_msg_result result)
{
	running = false;
	leave_queue(0, result);
}

static void on_done(uint32_t status)
{
	struct job *j = &jobs[queue[0]];

	note_result(j);
	if (status & WEFT_REG_STATUS_FAULT_MASK) {
		bool forced;

		copy_words(j->out.fault, &NPU(WEFT_REG_FAULT), 4);
		stats.jobs_fault++;
		log_add(WEFT_LOG_JOB_FAULT, j->out.id, j->out.fault[0]);
		npu_stop(&forced);
		end_running(WEFT_MSG_RESULT_FAULT);
	} else {
		NPU(WEFT_REG_IRQ_STATUS) = WEFT_REG_IRQ_STATUS_DONE_MASK;
		stats.jobs_ok++;
		BOOT_INFO->worked();
		end_running(WEFT_MSG_RESULT_OK);
	}
}

static void stop_running(enum weft_msg_result result)
{
	struct job *j = &jobs[queue[0]];
	bool forced;

	note_result(j);
	npu_stop(&forced);
	result = forced ? WEFT_MSG_RESULT_HUNG : result;
	log_add(WEFT_LOG_JOB_STOPPED, j->out.id, result);
	end_running(result);
}

void jobs_poll(void)
{
	if (running) {
		uint32_t status = NPU(WEFT_REG_STATUS);

		if (status & (WEFT_REG_STATUS_DONE_MASK | WEFT_REG_STATUS_FAULT_MASK)) {
			on_done(status);
		} else if (must_end != ~0ull && time_now() >= must_end) {
			stats.jobs_deadline++;
			stop_running(WEFT_MSG_RESULT_DEADLINE);
		}
	}
	start_next();
}

/* ---- messages ---- */

static void refuse(const struct weft_msg_submit *m, enum weft_msg_error error)
{
	stats.jobs_refused++;
	log_add(WEFT_LOG_JOB_REFUSED, m->job, error);
	reply_begin(WEFT_MSG_SUBMIT, error);
	reply_put(m->job);
	reply_put(0);
	reply_put(WEFT_MSG_JOBS_MAX - n_queued);
	reply_send(msg_seq());
}

static struct job *enqueue(const struct weft_msg_submit *m, const struct weft_msg_window *w)
{
	struct job *j = take_record();

	j->out.id = m->job;
	j->out.state = WEFT_MSG_STATE_QUEUED;
	j->unreported = false;
	j->deadline = (uint64_t)m->deadline_hi << 32 | m->deadline_lo;
	j->stream_base = m->stream_base;
	j->stream_words = m->stream_words;
	j->n_windows = m->n_windows;
	for (uint32_t i = 0; i < m->n_windows; i++)
		j->windows[i] = w[i];
	queue[n_queued++] = (uint8_t)(j - jobs);
	return j;
}

static bool submit_length(const struct weft_msg_submit *m)
{
	uint32_t fixed = sizeof(*m) / 4;

	return msg_words >= fixed && m->n_windows <= WEFT_MSG_WINDOWS_MAX &&
	       msg_words == fixed + m->n_windows * (sizeof(struct weft_msg_window) / 4);
}

void jobs_submit(void)
{
	const struct weft_msg_submit *m = (const void *)msg_in;
	const struct weft_msg_window *w = (const void *)(msg_in + sizeof(*m) / 4);
	enum weft_msg_error error = submit_length(m) ? WEFT_MSG_ERR_OK : WEFT_MSG_ERR_LENGTH;
	struct job *j = !error && m->job ? find(m->job) : NULL;

	if (!error && !j) {
		error = check_submit(m, w);
		if (!error && npu_dead)
			error = WEFT_MSG_ERR_NPU_DEAD;
		if (!error && n_queued == WEFT_MSG_JOBS_MAX)
			error = WEFT_MSG_ERR_QUEUE_FULL;
		if (!error) {
			client_job(end_of(m, w));
			j = enqueue(m, w);
		}
	}
	if (error) {
		refuse(m, error);
		return;
	}
	start_next();
	reply_begin(WEFT_MSG_SUBMIT, WEFT_MSG_ERR_OK);
	reply_put(j->out.id);
	reply_put(j->out.state);
	reply_put(WEFT_MSG_JOBS_MAX - n_queued);
	reply_send(msg_seq());
}

/* All that is known of a job. */
static void send_done(const struct job *j, uint32_t seq)
{
	reply_begin(WEFT_MSG_DONE, WEFT_MSG_ERR_OK);
	if (j->out.state == WEFT_MSG_STATE_DONE) {
		copy_words(reply_at, &j->out.id, OUTCOME_WORDS);
		reply_at += OUTCOME_WORDS;
	} else {
		reply_put(j->out.id);
		reply_put(j->out.state);
		for (uint32_t i = 2; i < OUTCOME_WORDS; i++)
			reply_put(0);
	}
	reply_send(seq);
}

static void no_job(uint32_t type)
{
	reply_begin(type, WEFT_MSG_ERR_NO_JOB);
	reply_put(msg_in[1]);
	reply_send(msg_seq());
}

void jobs_query(void)
{
	const struct job *j = msg_in[1] ? find(msg_in[1]) : NULL;

	if (j)
		send_done(j, msg_seq());
	else
		no_job(WEFT_MSG_DONE);
}

static void cancel(struct job *j)
{
	if (j->out.state == WEFT_MSG_STATE_RUNNING) {
		stop_running(WEFT_MSG_RESULT_CANCELLED);
	} else {
		uint32_t at = 0;

		while (queue[at] != j - jobs)
			at++;
		never_ran(j);
		leave_queue(at, WEFT_MSG_RESULT_CANCELLED);
	}
	stats.jobs_cancelled++;
}

void jobs_cancel(void)
{
	struct job *j = msg_in[1] ? find(msg_in[1]) : NULL;

	if (!j) {
		no_job(WEFT_MSG_CANCEL);
		return;
	}
	uint32_t was = j->out.state;
	if (was != WEFT_MSG_STATE_DONE)
		cancel(j);
	else
		report(j);
	start_next();
	reply_begin(WEFT_MSG_CANCEL, WEFT_MSG_ERR_OK);
	reply_put(j->out.id);
	reply_put(was);
	reply_send(msg_seq());
}

uint32_t jobs_drop(void)
{
	uint32_t n = n_queued;

	while (n_queued)
		cancel(&jobs[queue[n_queued - 1]]);
	for (uint32_t i = 0; i < WEFT_MSG_JOBS_KEPT; i++)
		jobs[i] = (struct job){ 0 };
	n_reports = 0;
	return n;
}

void jobs_abort_all(void)
{
	const uint32_t n = jobs_drop();

	reply_begin(WEFT_MSG_ABORT_ALL, WEFT_MSG_ERR_OK);
	reply_put(n);
	reply_send(msg_seq());
}

bool jobs_report(void)
{
	if (!n_reports)
		return false;
	struct job *j = &jobs[reports[0]];
	n_reports--;
	for (uint32_t i = 0; i < n_reports; i++)
		reports[i] = reports[i + 1];
	j->unreported = false;
	send_done(j, 0);
	return true;
}

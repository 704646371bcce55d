/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backend: the functional model. Commands execute in stream order; a command
 * retires as soon as it has executed.
 */
#include "driver/backend.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/model.h"
#include "weft/gen/cmd.h"

struct state {
	const struct weft_config *cfg;
	struct weft_model *model;
	bool poked;                /* the next job begins with the scratchpad as it is */
	/* Of the stream under way: */
	bool running;
	size_t i_word, i_cmd;      /* the next command */
	uint32_t retired[WEFT_N_UNITS];
};

static int model_open(const struct weft_dev_options *o, const struct weft_config *cfg, void **out, char *msg)
{
	struct state *s = calloc(1, sizeof(*s));

	(void)o;
	if (s)
		s->model = weft_model_new(cfg);
	if (!s || !s->model) {
		free(s);
		snprintf(msg, WEFT_DEV_MSG, "model: out of memory");
		return -ENOMEM;
	}
	s->cfg = cfg;
	*out = s;
	return 0;
}

static void model_close(void *state)
{
	struct state *s = state;

	weft_model_free(s->model);
	free(s);
}

static void fault(struct weft_job_result *r, const struct weft_cmd *c, size_t i, unsigned unit,
                  unsigned code, uint32_t info, char *msg)
{
	r->status = -EIO;
	r->fault_code = code;
	r->fault_unit = unit;
	r->fault_cmd = (uint32_t)i;
	r->fault_tag = c ? (uint32_t)c->h.tag : 0;
	r->fault_info = info;
	snprintf(msg, WEFT_DEV_MSG, "model: command %zu (%s): fault %s (%s), info 0x%x", i,
	         weft_unit_name(unit), weft_fault_name(code), weft_fault_brief(code), info);
}

/* In stream order nothing that comes later can ever meet a wait count. */
static bool waits_forever(const struct state *s, const struct weft_cmd *c)
{
	for (unsigned u = 0; u < WEFT_N_UNITS; u++)
		if ((uint32_t)c->h.wait[u] > s->retired[u])
			return true;
	return false;
}

/* What decoding finds is the command processor's, as in hardware. */
static unsigned unit_of(unsigned code, unsigned unit)
{
	return code == WEFT_FAULT_SP_RANGE || code == WEFT_FAULT_WINDOW ? unit : WEFT_UNIT_CP;
}

/* One command. 1: END was reached, 0: go on, negative: stop. */
static int step(struct state *s, const struct weft_backend_job *job, struct weft_job_result *r, char *msg)
{
	struct weft_cmd c;
	struct weft_model_fault f = { 0 };
	const size_t i = s->i_cmd;

	if (s->i_word >= job->n_words) {
		fault(r, NULL, i, WEFT_UNIT_CP, WEFT_FAULT_STREAM_END, 0, msg);
		return -EIO;
	}
	const uint64_t *w = job->words + s->i_word;
	unsigned code = weft_cmd_fault(w, job->n_words - s->i_word, s->cfg);
	if (code || weft_cmd_decode(w, job->n_words - s->i_word, &c)) {
		fault(r, NULL, i, WEFT_UNIT_CP, code, (uint32_t)w[0], msg);
		r->fault_tag = (uint32_t)(w[0] >> WEFT_CMD_HEADER_TAG_LSB);
		return -EIO;
	}
	s->i_word += (size_t)c.h.n_words;
	s->i_cmd++;
	unsigned unit = weft_cmd_info((unsigned)c.h.op)->unit;
	if (c.h.op == WEFT_CMD_END)
		return 1;
	if (waits_forever(s, &c)) {
		fault(r, &c, i, WEFT_UNIT_CP, WEFT_FAULT_DEADLOCK, (uint32_t)w[0], msg);
		return -EIO;
	}
	if (weft_model_exec(s->model, &c, &f)) {
		fault(r, &c, i, unit_of(f.code, unit), f.code, f.info, msg);
		return -EIO;
	}
	s->retired[unit]++;
	r->counters.cmds++;
	if (!job->observer)
		return 0;
	struct weft_retire ret = { .cmd = i, .unit = unit };
	return job->observer(job->user, &ret);
}

static void begin(struct state *s, const struct weft_backend_job *job)
{
	if (!s->poked)
		weft_model_reset(s->model);
	s->poked = false;
	s->running = true;
	s->i_word = s->i_cmd = 0;
	memset(s->retired, 0, sizeof(s->retired));
	for (unsigned i = 0; i < WEFT_N_WINDOWS; i++) {
		struct weft_model_window w = { .data = job->win[i].data, .size = job->win[i].len,
			.rd = job->win[i].rd, .wr = job->win[i].wr };
		weft_model_set_window(s->model, i, &w);
	}
}

static int model_run(void *state, const struct weft_backend_job *job, uint64_t until_ns, struct weft_job_result *r, char *msg)
{
	struct state *s = state;
	const uint64_t start = weft_now_ns(), cpu = weft_cpu_ns();
	int done;

	if (!s->running) {
		memset(r, 0, sizeof(*r));
		begin(s, job);
	}
	do {
		done = step(s, job, r, msg);
		if (done < 0 && !r->status)
			r->status = done;
	} while (!done && weft_now_ns() < until_ns);
	s->running = !done;
	r->seconds += (double)(weft_now_ns() - start) * 1e-9;
	r->cpu_seconds += (double)(weft_cpu_ns() - cpu) * 1e-9;
	return done ? r->status : -EAGAIN;
}

static void model_stop(void *state)
{
	((struct state *)state)->running = false;
}

static int model_peek_sp(void *state, uint32_t addr, uint32_t len, uint8_t *out)
{
	struct state *s = state;

	memcpy(out, weft_model_sp(s->model) + addr, len);
	return 0;
}

static int model_poke_sp(void *state, uint32_t addr, uint32_t len, const uint8_t *data)
{
	struct state *s = state;

	weft_model_poke_sp(s->model, addr, data, len);
	s->poked = true;
	return 0;
}

static int model_reset(void *state)
{
	struct state *s = state;

	weft_model_reset(s->model);
	return 0;
}

const struct weft_backend weft_backend_model = {
	.name = "model",
	.open = model_open,
	.close = model_close,
	.run = model_run,
	.stop = model_stop,
	.peek_sp = model_peek_sp,
	.poke_sp = model_poke_sp,
	.reset = model_reset,
};

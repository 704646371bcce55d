/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/cosim/cosim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "driver/model.h"
#include "weft/gen/cmd.h"

/* A run of bytes that one command wrote, with what the model left there. */
struct run {
	bool in_sp;
	unsigned window;
	uint64_t addr, len;
	size_t data;               /* offset in the command's bytes */
};

struct written {
	struct run *runs;
	size_t n_runs, cap_runs;
	uint8_t *bytes;
	unsigned unit;
	unsigned fault;            /* the model refused the command */
};

/* A device's unit may have begun so many commands behind the one that retires. */
#define AHEAD 4

struct weft_cosim {
	const struct weft_config *cfg;
	const uint64_t *words;
	size_t n_words, i_word;    /* the model's place in the stream */
	size_t n_done;             /* commands that it has executed */
	struct weft_model *model;
	struct weft_cosim_window dev[WEFT_N_WINDOWS];
	uint8_t *copy[WEFT_N_WINDOWS];
	struct written *written;   /* by command; emptied as commands retire */
	size_t cap_written;
	weft_cosim_peek *peek;
	void *user;
	bool no_memory;
	uint8_t *scratch;
	size_t cap_scratch;
};

static void forget(struct written *w)
{
	free(w->runs);
	free(w->bytes);
	memset(w, 0, sizeof(*w));
}

void weft_cosim_free(struct weft_cosim *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->cap_written; i++)
		forget(&c->written[i]);
	free(c->written);
	for (int i = 0; i < WEFT_N_WINDOWS; i++)
		free(c->copy[i]);
	weft_model_free(c->model);
	free(c->scratch);
	free(c);
}

/* The model's windows: its own copy of each, also of what may only be read, which nobody is to write. */
static int open_windows(struct weft_cosim *c, const struct weft_cosim_window *win)
{
	for (unsigned i = 0; i < WEFT_N_WINDOWS; i++) {
		c->dev[i] = win[i];
		struct weft_model_window w = { .data = (uint8_t *)(uintptr_t)win[i].data,
			.size = win[i].len, .rd = win[i].rd, .wr = win[i].wr };
		if (win[i].data && win[i].len) {
			c->copy[i] = malloc(win[i].len);
			if (!c->copy[i])
				return -ENOMEM;
			memcpy(c->copy[i], win[i].data, win[i].len);
			w.data = c->copy[i];
		}
		weft_model_set_window(c->model, i, &w);
	}
	return 0;
}

static void log_run(void *user, enum weft_model_space space, unsigned window, uint64_t addr, uint64_t len)
{
	struct weft_cosim *c = user;
	struct written *w = &c->written[c->n_done];

	if (w->n_runs == w->cap_runs) {
		size_t cap = w->cap_runs ? 2 * w->cap_runs : 16;
		struct run *r = realloc(w->runs, cap * sizeof(*r));
		if (!r) {
			c->no_memory = true;
			return;
		}
		w->runs = r;
		w->cap_runs = cap;
	}
	w->runs[w->n_runs++] = (struct run){ space == WEFT_MODEL_SP, window, addr, len, 0 };
}

struct weft_cosim *weft_cosim_new(const struct weft_config *cfg, const uint64_t *words, size_t n_words,
                                  const struct weft_cosim_window *windows,
                                  weft_cosim_peek *peek, void *user)
{
	struct weft_cosim *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->cfg = cfg;
	c->words = words;
	c->n_words = n_words;
	c->peek = peek;
	c->user = user;
	c->model = weft_model_new(cfg);
	if (!c->model || open_windows(c, windows)) {
		weft_cosim_free(c);
		return NULL;
	}
	weft_model_set_log(c->model, log_run, c);
	return c;
}

static int make_room(struct weft_cosim *c, size_t cmd)
{
	if (cmd < c->cap_written)
		return 0;
	size_t cap = 2 * cmd + 64;
	struct written *w = realloc(c->written, cap * sizeof(*w));
	if (!w)
		return -ENOMEM;
	memset(w + c->cap_written, 0, (cap - c->cap_written) * sizeof(*w));
	c->written = w;
	c->cap_written = cap;
	return 0;
}

/* What the last command left in the places that it wrote. */
static int keep_bytes(struct weft_cosim *c, struct written *w)
{
	size_t len = 0;

	for (size_t i = 0; i < w->n_runs; i++) {
		w->runs[i].data = len;
		len += w->runs[i].len;
	}
	w->bytes = malloc(len ? len : 1);
	if (!w->bytes)
		return -ENOMEM;
	for (size_t i = 0; i < w->n_runs; i++) {
		const struct run *r = &w->runs[i];
		const uint8_t *from = r->in_sp ? weft_model_sp(c->model) : c->copy[r->window];
		memcpy(w->bytes + r->data, from + r->addr, r->len);
	}
	return 0;
}

/* Execute one more command on the model. */
static int model_step(struct weft_cosim *c)
{
	struct weft_cmd cmd;
	struct weft_model_fault f = { 0 };

	if (make_room(c, c->n_done))
		return -ENOMEM;
	if (c->i_word >= c->n_words)
		return -EINVAL;
	if (weft_cmd_decode(c->words + c->i_word, c->n_words - c->i_word, &cmd))
		return -EINVAL;
	struct written *w = &c->written[c->n_done];
	w->unit = weft_cmd_info((unsigned)cmd.h.op)->unit;
	if (weft_model_exec(c->model, &cmd, &f))
		w->fault = f.code;
	if (c->no_memory || keep_bytes(c, w))
		return -ENOMEM;
	c->i_word += (size_t)cmd.h.n_words;
	c->n_done++;
	return 0;
}

static const uint8_t *device_bytes(struct weft_cosim *c, const struct run *r)
{
	if (!r->in_sp)
		return c->dev[r->window].data + r->addr;
	if (r->len > c->cap_scratch) {
		uint8_t *s = realloc(c->scratch, r->len);
		if (!s)
			return NULL;
		c->scratch = s;
		c->cap_scratch = r->len;
	}
	c->peek(c->user, (uint32_t)r->addr, (uint32_t)r->len, c->scratch);
	return c->scratch;
}

static bool covers(const struct run *r, const struct run *other, uint64_t addr)
{
	return r->in_sp == other->in_sp && (r->in_sp || r->window == other->window) && addr >= r->addr && addr - r->addr < r->len;
}

/*
 * A unit begins its next commands before this one's retirement is seen, and they may
 * write the same bytes. Such a byte is judged when they retire. 1: it is one.
 */
static int written_again(struct weft_cosim *c, size_t cmd, const struct run *r, uint64_t addr)
{
	const unsigned unit = c->written[cmd].unit;
	unsigned n = 0;

	for (size_t k = cmd + 1; n < AHEAD; k++) {
		int err = k < c->n_done ? 0 : model_step(c);
		if (err)
			return err == -ENOMEM ? err : 0;   /* the stream's end */
		const struct written *w = &c->written[k];
		if (w->unit != unit)
			continue;
		n++;
		for (size_t i = 0; i < w->n_runs; i++)
			if (covers(&w->runs[i], r, addr))
				return 1;
	}
	return 0;
}

/* The first byte of a run that differs and that nobody has written since. @return 1: *at, 0: none, -ENOMEM */
static int find_difference(struct weft_cosim *c, size_t cmd, const struct run *r, const uint8_t *got, const uint8_t *want,
                           uint64_t *at)
{
	for (uint64_t k = 0; k < r->len; k++) {
		if (got[k] == want[k])
			continue;
		int again = written_again(c, cmd, r, r->addr + k);
		if (again < 0)
			return again;
		*at = k;
		if (!again)
			return 1;
	}
	return 0;
}

static int compare(struct weft_cosim *c, size_t cmd, struct weft_cosim_found *d)
{
	for (size_t i = 0; i < c->written[cmd].n_runs; i++) {
		const struct run r = c->written[cmd].runs[i];
		const uint8_t *got = device_bytes(c, &r), *want = c->written[cmd].bytes + r.data;
		uint64_t k;

		if (!got)
			return -ENOMEM;
		if (!memcmp(got, want, r.len))
			continue;
		int differs = find_difference(c, cmd, &r, got, want, &k);
		if (differs > 0)
			*d = (struct weft_cosim_found){ .cmd = cmd, .in_sp = r.in_sp, .window = r.window, .addr = r.addr + k,
				.expected = want[k], .got = got[k] };
		if (differs)
			return differs;
	}
	return 0;
}

void weft_cosim_poke_sp(struct weft_cosim *c, const uint8_t *data, size_t len)
{
	weft_model_poke_sp(c->model, 0, data, len);
}

int weft_cosim_retire(struct weft_cosim *c, size_t cmd, struct weft_cosim_found *d)
{
	while (c->n_done <= cmd) {
		int err = model_step(c);
		if (err)
			return err;
	}
	int r = compare(c, cmd, d);
	if (!r && c->written[cmd].fault) {
		*d = (struct weft_cosim_found){ .cmd = cmd, .model_fault = true, .fault_code = c->written[cmd].fault };
		r = 1;
	}
	/* Who wrote it stays known: an earlier command of the unit cannot retire any more. */
	forget(&c->written[cmd]);
	return r;
}

/* All of a region, against the model's. */
static int compare_all(struct weft_cosim *c, const struct run *r, const uint8_t *want, struct weft_cosim_found *d)
{
	const uint8_t *got = device_bytes(c, r);
	uint64_t k = 0;

	if (!got)
		return -ENOMEM;
	if (!memcmp(got, want, r->len))
		return 0;
	while (got[k] == want[k])
		k++;
	*d = (struct weft_cosim_found){ .cmd = c->n_done ? c->n_done - 1 : 0, .in_sp = r->in_sp, .window = r->window, .addr = k,
		.expected = want[k], .got = got[k] };
	return 1;
}

int weft_cosim_end(struct weft_cosim *c, struct weft_cosim_found *d)
{
	const struct run sp = { .in_sp = true, .len = c->cfg->sp_bytes };
	int r = 0;

	for (unsigned i = 0; i < WEFT_N_WINDOWS && !r; i++)
		if (c->copy[i])
			r = compare_all(c, &(struct run){ .window = i, .len = c->dev[i].len }, c->copy[i], d);
	return r ? r : compare_all(c, &sp, weft_model_sp(c->model), d);
}

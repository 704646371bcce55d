/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The comparison with golden on a device that cannot be looked into while it runs: a card.
 *
 * The stream runs unchanged first. Then the same commands run once more, on a copy of the memory as
 * it was before, with a store added behind each command that makes elements of a tensor. The store
 * copies them from the scratchpad to a window of its own (the trace window), and later commands
 * wait for it. The stored bytes go through the same comparison as on other devices, and both runs
 * must leave the same memory, byte for byte. A fault stays hidden if it appears only without the
 * added stores and reaches neither memory nor an output.
 */
#include "internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/words.h"
#include "weft/gen/cmd.h"

#define TRACE_BYTES (8u << 20)   /* the most bytes of one pass's trace window, unless one command needs more */
#define TRACE_STORES 30000       /* the most stores of one pass; waits can count to 65535 */
#define WIN_TRACE 3
#define SP_MASK 0xfffff

/* One pass over a step's stream, in which some of its commands are followed by added stores. */
struct pass {
	struct weft_words stream;  /* the stream with the added stores */
	uint64_t bytes;            /* bytes of the trace window that are used so far */
	uint32_t n_st, last_added; /* stores so far, added ones included; their number up to the last added one */
	uint32_t *st_of;           /* [n]: the number of all stores here up to the n-th store of the original stream */
	uint32_t n_orig_st;        /* stores of the original stream so far */
	uint32_t retired[WEFT_N_UNITS];        /* commands of each unit so far; for ST added ones included */
};

/*
 * Fills in the scratchpad address, counts and steps of a store for the elements of one debug record;
 * size is the bytes of one element. If the pixels of a line lie side by side and the line is shorter
 * than 1 MiB, a row of the store is the whole line; otherwise it is the channels of one pixel. In
 * memory the rows follow each other without gaps. Where they go there (window, dram_off) is the
 * caller's to set.
 */
static void shape(const struct weft_prec *q, uint32_t size, struct weft_cmd_load *l)
{
	bool joined = q->x_bytes == q->n_c * size && (uint64_t)q->n_x * q->n_c * size < (1u << 20);
	uint32_t row = (joined ? q->n_x * q->n_c : q->n_c) * size;

	l->row_bytes = (int32_t)row;
	l->n1 = joined ? 1 : (int32_t)q->n_x;
	l->n2 = (int32_t)q->n_y;
	l->n3 = 1;
	l->sp_addr = (int32_t)(q->addr & SP_MASK);
	l->sp_stride1 = (int32_t)(q->x_bytes & SP_MASK);
	l->sp_stride2 = (int32_t)(q->y_bytes & SP_MASK);
	l->dram_stride1 = (int32_t)row;
	l->dram_stride2 = (int32_t)(row * (uint32_t)l->n1);
}

/* Returns the bytes of all elements of a debug record. */
static uint64_t record_bytes(const struct weft_session *s, const struct weft_prec *q)
{
	return (uint64_t)q->n_y * q->n_x * q->n_c * weft_dtype_bytes(s->net->g->tensors[q->tensor].t.dtype);
}

/*
 * Adds a store of record q's elements into the trace window to p's stream, behind what is in the window
 * already, and counts it. It waits for all commands of `unit` so far, the last of which made the
 * elements. Returns 0 or -ENOMEM.
 */
static int add_store(const struct weft_session *s, struct pass *p, const struct weft_prec *q, unsigned unit)
{
	struct weft_cmd c;

	weft_cmd_init(&c, WEFT_CMD_STORE);
	shape(q, (uint32_t)weft_dtype_bytes(s->net->g->tensors[q->tensor].t.dtype), &c.load);
	c.load.window = WIN_TRACE;
	c.load.dram_off = (int64_t)p->bytes;
	c.h.wait[unit] = (int32_t)p->retired[unit];
	p->bytes += record_bytes(s, q);
	p->last_added = ++p->n_st;
	p->retired[WEFT_UNIT_ST] = p->n_st;
	return weft_words_add(&p->stream, &c);
}

/*
 * Builds the stream of one pass in *p, which is all zeros before: all of the step's commands, with
 * stores added for what the commands from `from` up to *to - 1 make. *to, which is set here, is the
 * step's end, or the first command with which the trace window (TRACE_BYTES) or the count of stores
 * (TRACE_STORES) would be too large; what one command alone makes always fits. Counts of stores for
 * which commands wait are adjusted, and every command waits for all added stores before it. The caller
 * frees p->st_of and p->stream.words, also after a failure. Returns 0, -ENOMEM, or -EINVAL if the
 * stream cannot be decoded or waits for stores that are not there.
 */
static int build(const struct weft_session *s, const struct weft_step *step, uint32_t from, uint32_t *to,
                 struct pass *p)
{
	const uint64_t *w = weft_session_words(s) + step->first_word;
	struct weft_cmd c;
	size_t at = 0;
	int err = 0;
	bool full = false;

	*to = step->n_cmds;
	p->st_of = calloc(step->n_cmds + 1u, sizeof(*p->st_of));
	if (!p->st_of)
		return -ENOMEM;
	for (uint32_t i = 0; i < step->n_cmds && !err; i++) {
		const struct weft_pcmd *cmd = &s->p->cmds[step->first_cmd + i];
		if (weft_cmd_decode(w + at, step->n_words - at, &c))
			return -EINVAL;
		at += (size_t)c.h.n_words;
		unsigned unit = weft_cmd_info((unsigned)c.h.op)->unit;
		uint32_t st = (uint32_t)c.h.wait[WEFT_UNIT_ST];
		if (st > p->n_orig_st)
			return -EINVAL;
		st = p->st_of[st];
		c.h.wait[WEFT_UNIT_ST] = (int32_t)(st > p->last_added ? st : p->last_added);
		err = weft_words_add(&p->stream, &c);
		if (unit == WEFT_UNIT_ST) {
			p->st_of[++p->n_orig_st] = ++p->n_st;
			p->retired[unit] = p->n_st;
		} else if (unit < WEFT_N_UNITS) {
			p->retired[unit]++;
		}
		uint64_t bytes = 0;
		for (uint32_t k = 0; k < cmd->n_recs; k++)
			bytes += record_bytes(s, &s->p->recs[cmd->first_rec + k]);
		if (i < from || full)
			continue;
		if (p->bytes && (p->bytes + bytes > TRACE_BYTES || p->n_st + cmd->n_recs > TRACE_STORES)) {
			full = true;
			*to = i;
			continue;
		}
		for (uint32_t k = 0; k < cmd->n_recs && !err; k++)
			err = add_store(s, p, &s->p->recs[cmd->first_rec + k], unit);
	}
	return err;
}

/*
 * Compares the bytes that the added stores brought for the commands from..to-1 of the step (data, one
 * record after another) with golden, and notes them as covered (weft_checker_record). Returns 0 or
 * -ENOMEM; differences are only counted in s->check.
 */
static int compare(weft_session *s, const struct weft_step *step, uint32_t from, uint32_t to, const uint8_t *data)
{
	uint64_t at = 0;

	for (uint32_t i = from; i < to; i++) {
		const struct weft_pcmd *cmd = &s->p->cmds[step->first_cmd + i];
		for (uint32_t k = 0; k < cmd->n_recs; k++) {
			const struct weft_prec *q = &s->p->recs[cmd->first_rec + k];
			int err = weft_checker_record(&s->check, q, data + at, step->first_cmd + i);
			if (err)
				return err;
			at += record_bytes(s, q);
		}
	}
	return 0;
}

/*
 * Runs p's stream on the session's card, with the constants, a copy of the arena as it was before the
 * step (`before`), and a trace window of its own; waits as long as it takes. data,
 * p->bytes long, becomes what the added stores brought; the arena that the pass leaves is compared with
 * the session's (weft_trace_same). Both buffers are freed. Returns 0 or a negative errno, that of the
 * job too; differences are only counted.
 */
static int run_pass(weft_session *s, const struct pass *p, const uint8_t *before, uint8_t *data)
{
	weft_buf *arena = NULL, *trace = NULL;
	struct weft_job_result r;
	weft_job job;
	int err = weft_buf_alloc(s->dev, s->p->arena_bytes, &arena);

	if (!err)
		err = weft_buf_alloc(s->dev, p->bytes, &trace);
	if (!err)
		err = weft_buf_discard(trace);
	if (!err)
		err = weft_buf_write(arena, 0, before, s->p->arena_bytes);
	const struct weft_window win[WIN_TRACE] = {
		{ .buf = s->consts, .rd = true }, { .buf = arena, .rd = true, .wr = true }, { .buf = trace, .wr = true },
	};
	if (!err)
		err = weft_submit(s->dev, p->stream.words, p->stream.n, win, WIN_TRACE, &job);
	if (!err)
		err = weft_wait(s->dev, job, WEFT_FOREVER, &r);
	if (!err)
		err = r.status;
	if (!err)
		err = weft_buf_read(trace, 0, data, p->bytes);
	if (!err)
		err = weft_trace_same(s, arena);
	weft_buf_free(arena);
	weft_buf_free(trace);
	return err;
}

int weft_trace_same(weft_session *s, weft_buf *other)
{
	size_t n = s->p->arena_bytes;
	uint8_t *a = malloc(n + 1), *b = malloc(n + 1);
	int err = a && b ? 0 : -ENOMEM;

	if (!err)
		err = weft_buf_read(s->arena, 0, a, n);
	if (!err)
		err = weft_buf_read(other, 0, b, n);
	for (size_t i = 0; !err && i < n; i++) {
		if (a[i] == b[i])
			continue;
		weft_checker_byte(&s->check, i, b[i], a[i]);
		break;
	}
	free(a);
	free(b);
	return err;
}

int weft_trace_step(weft_session *s, const struct weft_step *step, const uint8_t *before)
{
	uint32_t from = 0, to;
	int err = 0;

	while (!err && from < step->n_cmds) {
		struct pass p = { 0 };
		uint8_t *data = NULL;
		err = build(s, step, from, &to, &p);
		if (!err && p.bytes) {
			data = malloc(p.bytes);
			err = data ? run_pass(s, &p, before, data) : -ENOMEM;
			if (!err)
				err = compare(s, step, from, to, data);
		}
		free(data);
		free(p.stream.words);
		free(p.st_of);
		from = to;
	}
	return err;
}

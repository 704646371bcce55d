/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a program can be cut, and its parts as streams of their own.
 *
 * Wait counts are of commands retired since the stream's start. A part starts
 * when all before it has retired, so its waits are less by the commands of
 * that unit before it, and at least zero.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userlib/run/segment.h"
#include "weft/gen/cmd.h"

uint64_t *weft_cut_stream(const weft_program *p, const struct weft_step *step, uint32_t from, uint32_t to, size_t *n_words)
{
	const uint64_t *w = p->words + step->first_word;
	uint64_t *out = malloc(((size_t)step->n_words + WEFT_CMD_MAX_WORDS) * sizeof(*out));
	uint32_t before[WEFT_N_UNITS] = { 0 };
	struct weft_cmd c, end;
	size_t n = 0, at = 0;

	if (!out)
		return NULL;
	for (uint32_t i = 0; i < to && at < step->n_words && !weft_cmd_decode(w + at, step->n_words - at, &c); i++) {
		unsigned unit = weft_cmd_info((unsigned)c.h.op)->unit;
		at += (size_t)c.h.n_words;
		if (unit >= WEFT_N_UNITS)
			break;
		if (i < from) {
			before[unit]++;
			continue;
		}
		for (int u = 0; u < WEFT_N_UNITS; u++)
			c.h.wait[u] = (uint32_t)c.h.wait[u] > before[u] ? (int32_t)((uint32_t)c.h.wait[u] - before[u]) : 0;
		n += weft_cmd_encode(&c, out + n);
	}
	weft_cmd_init(&end, WEFT_CMD_END);
	end.h.tag = UINT32_MAX;
	*n_words = n + weft_cmd_encode(&end, out + n);
	return out;
}

/* May the program be cut behind command i of a step? last[op]: its last command that is no load. */
struct walk { const weft_program *p; enum weft_memory memory; uint32_t *last; uint64_t begin; };

static int find_last(struct walk *k, const struct weft_step *step)
{
	const uint64_t *w = k->p->words + step->first_word;
	struct weft_cmd c;
	size_t at = 0;

	memset(k->last, 0, ((size_t)k->p->n_ops + 1) * sizeof(*k->last));
	for (uint32_t i = 0; i < step->n_cmds && !weft_cmd_decode(w + at, step->n_words - at, &c); i++) {
		int op = k->p->cmds[step->first_cmd + i].op;
		at += (size_t)c.h.n_words;
		if (op >= 0 && c.h.op != WEFT_CMD_LOAD)
			k->last[op] = i;
	}
	return 0;
}

/* Cuts of one step, as long as there are points to set. */
static int cut_step(struct walk *k, int i_step, uint64_t total, int n, int have, struct weft_point *points)
{
	const struct weft_step *step = &k->p->steps[i_step];
	const uint64_t *w = k->p->words + step->first_word;
	struct weft_cmd c;
	size_t at = 0;
	uint64_t done = 0;

	find_last(k, step);
	for (uint32_t i = 0; i + 2 < step->n_cmds && have < n && !weft_cmd_decode(w + at, step->n_words - at, &c); i++) {
		int op = k->p->cmds[step->first_cmd + i].op;
		at += (size_t)c.h.n_words;
		if (op < 0 || c.h.op == WEFT_CMD_LOAD || k->last[op] != i)
			continue;
		uint64_t end = k->p->ops[op].done[k->memory];
		done = end > done ? end : done;
		/* Sums that stay in the array belong to the next command as well. */
		if (c.h.op == WEFT_CMD_CONV && c.conv.keep)
			continue;
		if ((k->begin + done) * (uint64_t)n >= total * (uint64_t)have)
			points[have++] = (struct weft_point){ i_step, i + 1 };
	}
	return have;
}

int weft_cut_points(const weft_program *p, enum weft_memory memory, int n, struct weft_point *points)
{
	struct walk k = { .p = p, .memory = memory, .last = malloc(((size_t)p->n_ops + 1) * sizeof(uint32_t)) };
	uint64_t total = 0;
	int have = 1;

	if (!k.last)
		return -ENOMEM;
	points[0] = (struct weft_point){ 0, 0 };
	for (int i = 0; i < p->n_steps; i++)
		total += p->steps[i].estimate[memory];
	for (int i = 0; i < p->n_steps && have < n; i++) {
		/* Between steps as well, where that is due. */
		if (i && have < n && k.begin * (uint64_t)n >= total * (uint64_t)have)
			points[have++] = (struct weft_point){ i, 0 };
		if (p->steps[i].kind == WEFT_STEP_NPU)
			have = cut_step(&k, i, total, n, have, points);
		k.begin += p->steps[i].estimate[memory];
	}
	points[have] = (struct weft_point){ p->n_steps, 0 };
	free(k.last);
	return have;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When commands run, if their costs are right: units in parallel, each in its
 * own order, commands waiting for the counts that they state. A command
 * occupies its unit and retires some cycles later; the next may begin in
 * between. The post unit takes one row a cycle and serves the array first, so
 * the vector engine slows down while the array delivers many rows.
 */
#include <errno.h>
#include <stdlib.h>

#include "plan.h"

#define ONE 256                /* fixed point of work and rates */

struct unit {
	uint32_t *cmd, n;      /* its commands, in order */
	uint32_t next;         /* the next to start */
	uint32_t retired;
	bool busy;
	uint32_t now;          /* busy: which */
	uint64_t left;         /* busy: work, in 1/ONE cycles */
	uint64_t *retire;      /* when the k-th retires, for those that have left the unit */
	uint32_t n_left;       /* so many have left */
};

struct sim {
	const struct cmds *c;
	bool slow;             /* memory */
	struct unit u[WEFT_N_UNITS];
	uint64_t t, *start, *end;
};

static int open_units(struct sim *s)
{
	for (int u = 0; u < WEFT_N_UNITS; u++) {
		s->u[u].cmd = malloc((s->c->n + 1) * sizeof *s->u[u].cmd);
		s->u[u].retire = malloc((s->c->n + 1) * sizeof *s->u[u].retire);
		if (!s->u[u].cmd || !s->u[u].retire)
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < s->c->n; i++) {
		struct unit *u = &s->u[s->c->p[i].unit];
		u->cmd[u->n++] = i;
	}
	return 0;
}

static bool may_start(const struct sim *s, const struct cmd *c)
{
	for (int u = 0; u < WEFT_N_UNITS; u++)
		if (c->wait[u] > s->u[u].retired)
			return false;
	return true;
}

static void start_heads(struct sim *s)
{
	for (int k = 0; k < WEFT_N_UNITS; k++) {
		struct unit *u = &s->u[k];
		if (u->busy || u->next == u->n || !may_start(s, &s->c->p[u->cmd[u->next]]))
			continue;
		u->busy = true;
		u->now = u->cmd[u->next++];
		const struct cmd *c = &s->c->p[u->now];
		u->left = (uint64_t)(s->slow && c->slow ? c->slow : c->cost) * ONE;
		s->start[u->now] = s->t;
	}
}

/* Rows a cycle that the unit's command hands to the post unit, of ONE. */
static uint64_t rows_rate(const struct sim *s, int k)
{
	const struct unit *u = &s->u[k];

	if (!u->busy)
		return 0;
	const struct cmd *c = &s->c->p[u->now];
	uint64_t r = (uint64_t)c->rows * ONE / (c->cost ? c->cost : 1);
	return r > ONE ? ONE : r;
}

static uint64_t rate_of(const struct sim *s, int k)
{
	/* Slow memory serves one direction at a time. */
	if (s->slow && ((k == WEFT_UNIT_LD && s->u[WEFT_UNIT_ST].busy) || (k == WEFT_UNIT_ST && s->u[WEFT_UNIT_LD].busy)))
		return ONE / 2;
	if (k != WEFT_UNIT_VE)
		return ONE;
	uint64_t want = rows_rate(s, WEFT_UNIT_VE), room = ONE - rows_rate(s, WEFT_UNIT_CV);
	if (want <= room)
		return ONE;
	uint64_t r = room * ONE / want;
	return r ? r : 1;
}

/* Cycles until something changes; 0: nothing is under way. */
static uint64_t next_event(const struct sim *s)
{
	uint64_t dt = 0;

	for (int k = 0; k < WEFT_N_UNITS; k++) {
		const struct unit *u = &s->u[k];
		uint64_t d = 0, rate = rate_of(s, k);
		if (u->busy) {
			d = (u->left + rate - 1) / rate;
			dt = d && (!dt || d < dt) ? d : dt;
		}
		if (u->retired < u->n_left) {
			d = u->retire[u->retired] - s->t;
			dt = d && (!dt || d < dt) ? d : dt;
		}
	}
	return dt;
}

static void advance(struct sim *s, uint64_t dt)
{
	uint64_t rate[WEFT_N_UNITS];

	for (int k = 0; k < WEFT_N_UNITS; k++)
		rate[k] = rate_of(s, k);
	s->t += dt;
	for (int k = 0; k < WEFT_N_UNITS; k++) {
		struct unit *u = &s->u[k];
		if (u->busy) {
			uint64_t done = rate[k] * dt;
			u->left = u->left > done ? u->left - done : 0;
			if (!u->left) {
				u->busy = false;
				u->retire[u->n_left++] = s->end[u->now] = s->t + s->c->p[u->now].latency;
			}
		}
		while (u->retired < u->n_left && u->retire[u->retired] <= s->t)
			u->retired++;
	}
}

int simulate(const struct cmds *c, bool slow_memory, uint64_t *start, uint64_t *end, uint64_t *total)
{
	struct sim s = { .c = c, .slow = slow_memory, .start = start, .end = end };
	int err = open_units(&s);

	while (!err) {
		start_heads(&s);
		uint64_t dt = next_event(&s);
		if (!dt)
			break;
		advance(&s, dt);
	}
	*total = s.t;
	for (int u = 0; u < WEFT_N_UNITS; u++) {
		free(s.u[u].cmd);
		free(s.u[u].retire);
	}
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of the vector engine's commands. They are emitted node by node; but where
 * nodes are cut into jobs, the engine would wait for the last job of one node though the
 * first of the next one could run, and the array would find nothing to do behind it. Here
 * a command that can begin goes ahead of those that cannot yet. Times are those of units
 * that work side by side at full speed, with slow memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userlib/compile/estimate/cost.h"
#include "userlib/compile/plan/plan.h"

/* Commands of the vector engine that are looked at: the first that are left. Not measured. */
#define WINDOW 64

#define VE WEFT_UNIT_VE

struct schedule {
	const struct cmds *c;
	uint32_t *unit[WEFT_N_UNITS], n_unit[WEFT_N_UNITS];   /* the commands of each unit as they were emitted, their number */
	uint32_t next[WEFT_N_UNITS];   /* how many of each unit have their time; of the vector engine, so many of the first */
	uint32_t *behind;      /* for each command, how many of the first commands of the vector engine must come before it */
	uint64_t *start, *end; /* for each command, the cycles in which it begins and retires */
	uint64_t *all_end;     /* for each unit's commands, cycle in which it and all before it have retired (indexed by command) */
	bool *done;            /* it has its time */
	uint64_t free_at[WEFT_N_UNITS];   /* cycle in which each unit can begin another command */
	uint64_t last;         /* cycle in which everything has retired */
};

/* Allocate what a schedule of these commands needs, and list each unit's commands. Returns 0 or -ENOMEM; schedule_close()
 * must follow in both cases. */
static int schedule_open(struct schedule *d, const struct cmds *c)
{
	*d = (struct schedule){ .c = c };
	for (int u = 0; u < WEFT_N_UNITS; u++)
		if (!(d->unit[u] = malloc((c->n + 1) * sizeof *d->unit[u])))
			return -ENOMEM;
	d->behind = calloc(c->n + 1, sizeof *d->behind);
	d->start = calloc(c->n + 1, sizeof *d->start);
	d->end = calloc(c->n + 1, sizeof *d->end);
	d->all_end = calloc(c->n + 1, sizeof *d->all_end);
	d->done = calloc(c->n + 1, sizeof *d->done);
	if (!d->behind || !d->start || !d->end || !d->all_end || !d->done)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->n; i++)
		d->unit[c->p[i].unit][d->n_unit[c->p[i].unit]++] = i;
	return 0;
}

/* Free what schedule_open() allocated. */
static void schedule_close(struct schedule *d)
{
	for (int u = 0; u < WEFT_N_UNITS; u++)
		free(d->unit[u]);
	free(d->behind);
	free(d->start);
	free(d->end);
	free(d->all_end);
	free(d->done);
}

/*
 * Set d->behind of all commands: how many of the first commands of the vector engine come before each in
 * any order. These are those that it waits for, and those that the commands that it waits for, and all
 * before these in their units, wait for; for a command of another unit, whose order stays, also those that come
 * before the commands in front of it there.
 */
static void find_behind(struct schedule *d)
{
	uint32_t most[WEFT_N_UNITS] = { 0 };

	for (uint32_t i = 0; i < d->c->n; i++) {
		const struct cmd *k = &d->c->p[i];
		uint32_t b = k->wait[VE];
		for (int u = 0; u < WEFT_N_UNITS; u++)
			if (u != VE && k->wait[u] && d->behind[d->unit[u][k->wait[u] - 1]] > b)
				b = d->behind[d->unit[u][k->wait[u] - 1]];
		/* Units but the vector engine keep their order, so a command comes behind what the one before it comes behind. */
		if (k->unit != VE && most[k->unit] > b)
			b = most[k->unit];
		d->behind[i] = most[k->unit] = b;
	}
}

/*
 * Returns whether command i can be given its time, which is when all that it waits for, and the first behind[i]
 * commands of the vector engine, have theirs. If so, *t is the cycle in which all these and all before them in
 * their units have retired; if not, *t says nothing.
 */
static bool known(const struct schedule *d, uint32_t i, uint64_t *t)
{
	const struct cmd *k = &d->c->p[i];

	*t = 0;
	if (d->behind[i] > d->next[VE])
		return false;
	for (int u = 0; u < WEFT_N_UNITS; u++) {
		uint32_t w = u == VE ? d->behind[i] : k->wait[u];
		if (!w)
			continue;
		if (w > d->next[u])
			return false;
		uint64_t end = d->all_end[d->unit[u][w - 1]];
		*t = end > *t ? end : *t;
	}
	return true;
}

/*
 * Give command i its time: it begins in cycle t, or when its unit is free if that is later. Sets start and end
 * (the cycle of its retirement, with slow memory), marks it done, and moves on d->last and the cycle in which
 * its unit is free again. all_end is set for all further commands of the unit of which none before is still
 * without a time.
 */
static void give_time(struct schedule *d, uint32_t i, uint64_t t)
{
	const struct cmd *k = &d->c->p[i];
	bool dma = k->unit == WEFT_UNIT_LD || k->unit == WEFT_UNIT_ST;
	uint64_t cost = k->slow ? k->slow : k->cost;

	d->start[i] = t > d->free_at[k->unit] ? t : d->free_at[k->unit];
	d->free_at[k->unit] = d->start[i] + cost;
	d->end[i] = d->start[i] + cost + k->latency + (dma ? COST_MEMORY_FAR : 0);
	d->done[i] = true;
	d->last = d->end[i] > d->last ? d->end[i] : d->last;
	for (uint32_t *n = &d->next[k->unit]; *n < d->n_unit[k->unit] && d->done[d->unit[k->unit][*n]]; ++*n) {
		uint32_t at = d->unit[k->unit][*n];
		d->all_end[at] = d->end[at];
		if (*n && d->all_end[d->unit[k->unit][*n - 1]] > d->end[at])
			d->all_end[at] = d->all_end[d->unit[k->unit][*n - 1]];
	}
}

/*
 * Give the commands of all units but the vector engine their time, in their order, as far as that of what
 * they wait for is known.
 */
static void run_others(struct schedule *d)
{
	bool any = true;
	uint64_t t;

	while (any) {
		any = false;
		for (int u = 0; u < WEFT_N_UNITS; u++)
			while (u != VE && d->next[u] < d->n_unit[u] && known(d, d->unit[u][d->next[u]], &t)) {
				give_time(d, d->unit[u][d->next[u]], t);
				any = true;
			}
	}
}

/*
 * Returns the vector engine's next command. It is one of those without a time, among the `window` commands
 * from the first of them on in the order of emission, for which it is known() when they can begin: the
 * first that can begin by the time that the engine is free, or, if none can, the one that can begin first.
 * *t is the cycle in which what it waits for has retired.
 */
static uint32_t choose(const struct schedule *d, uint32_t window, uint64_t *t)
{
	uint32_t best = UINT32_MAX, end = d->next[VE] + window < d->n_unit[VE] ? d->next[VE] + window : d->n_unit[VE];
	uint64_t free_at = d->free_at[VE], when;

	for (uint32_t j = d->next[VE]; j < end; j++) {
		uint32_t i = d->unit[VE][j];
		if (d->done[i] || !known(d, i, &when))
			continue;
		if (best == UINT32_MAX || when < *t) {
			best = i;
			*t = when;
		}
		if (*t <= free_at)
			break;
	}
	return best;
}

/*
 * Give all commands their times, the vector engine's in an order of which each is chosen among the first `window` that are
 * left. Returns whether any went ahead of another.
 */
static bool arrange(struct schedule *d, uint32_t window)
{
	bool other = false;
	uint64_t t = 0;

	memset(d->next, 0, sizeof d->next);
	memset(d->free_at, 0, sizeof d->free_at);
	memset(d->done, 0, d->c->n * sizeof *d->done);
	d->last = 0;
	run_others(d);
	for (uint32_t n = 0; n < d->n_unit[VE]; n++) {
		uint32_t i = choose(d, window, &t);
		other |= i != d->unit[VE][d->next[VE]];
		give_time(d, i, t);
		run_others(d);
	}
	return other;
}

/* A command and the cycle in which it begins, for sorting. */
struct begin { uint64_t start; uint32_t i; };

/* Compare two begins for qsort(): the earlier one comes first, of equals the lower number. */
static int earlier(const void *pa, const void *pb)
{
	const struct begin *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->i < b->i ? -1 : 1;
}

/*
 * Put the step's commands into the order in which they begin: whatever a command waits for then stands before it, and all
 * units but the vector engine keep their order. Waits are found anew. Returns 0 or -ENOMEM.
 */
static int apply(struct npu_step *s, const struct schedule *d)
{
	struct cmds *c = &s->cmds;
	struct begin *order = malloc((c->n + 1) * sizeof *order);
	int err = order ? cmds_spare(c) : -ENOMEM;

	for (uint32_t i = 0; i < c->n && !err; i++)
		order[i] = (struct begin){ d->start[i], i };
	if (!err) {
		qsort(order, c->n, sizeof *order, earlier);
		for (uint32_t i = 0; i < c->n; i++)
			c->spare[i] = c->p[order[i].i];
		cmds_exchange(c);
		err = hazards_again(s);
	}
	free(order);
	return err;
}

/*
 * Put the vector engine's commands into another order, in which each goes ahead of those that cannot begin
 * yet, if by the schedule of these times the step then ends sooner; otherwise they stay as they are. A wait
 * is a count of a unit's commands in the order of emission, so a command never goes ahead of any command
 * that such a count includes. Waits are found anew for the new order. Returns 0 or -ENOMEM.
 */
int order_vector(struct npu_step *s)
{
	struct schedule d;
	int err = schedule_open(&d, &s->cmds);

	if (!err && d.n_unit[VE] > 1) {
		find_behind(&d);
		arrange(&d, 1);
		uint64_t last = d.last;
		if (arrange(&d, WINDOW) && d.last < last)
			err = apply(s, &d);
	}
	schedule_close(&d);
	return err;
}

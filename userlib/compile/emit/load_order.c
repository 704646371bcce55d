/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of loads. They are emitted as their nodes are, and run one after another;
 * so a load that waits for its place holds up all behind it, though their places may
 * be free. Here loads are put into another order: of those that can begin, the one
 * that is needed first goes first, unless that makes a more urgent one late. Times are
 * those of units that work side by side at full speed, with slow memory.
 */
#include <errno.h>
#include <stdlib.h>

#include "userlib/compile/estimate/cost.h"
#include "userlib/compile/plan/plan.h"

/* Loads that are looked at: the first that are left. On the ten networks of search/search.c 16 costs 0.3 % in ddr
 * (MobileNetV2 1.6 %), 384 changes 0.1 % either way. */
#define WINDOW 96
#define NEVER  UINT64_MAX

/* A load, and what bounds its place. */
struct load {
	uint32_t cmd;          /* its number among the step's commands */
	uint32_t after;        /* it must come behind command number after - 1; 0: behind none */
	uint32_t n_before;     /* it must come behind the first n_before loads, as they were emitted */
	uint32_t before;       /* it must come before the command with this number */
	uint64_t ready, need;  /* cycle in which it can begin, and in which it should be done (NEVER: nobody needs it) */
	uint64_t cycles;       /* for which it occupies the unit */
	bool done;             /* it has its place in the new order */
};

struct order {
	struct npu_step *s;
	struct load *l;        /* the loads as they were emitted, */
	uint32_t n;            /* and their number */
	uint32_t *unit[WEFT_N_UNITS], n_unit[WEFT_N_UNITS];   /* the commands of each unit, and how many there are */
	uint64_t *start, *end; /* cycles in which each command begins and retires */
	uint32_t *at;          /* for each load in the new order: the command right before which it is put */
	uint32_t *next;        /* the new order: indices in l */
};

/*
 * Set up *o for the commands of the step: room in all its lists for as many entries as there are commands,
 * none of them filled. Returns 0 or -ENOMEM; order_close() must follow in both cases.
 */
static int order_open(struct order *o, struct npu_step *s)
{
	uint32_t n = s->cmds.n;

	*o = (struct order){ .s = s };
	for (int u = 0; u < WEFT_N_UNITS; u++) {
		o->unit[u] = malloc((n + 1) * sizeof *o->unit[u]);
		if (!o->unit[u])
			return -ENOMEM;
	}
	o->l = calloc(n + 1, sizeof *o->l);
	o->start = malloc((n + 1) * sizeof *o->start);
	o->end = malloc((n + 1) * sizeof *o->end);
	o->at = malloc((n + 1) * sizeof *o->at);
	o->next = malloc((n + 1) * sizeof *o->next);
	return o->l && o->start && o->end && o->at && o->next ? 0 : -ENOMEM;
}

/* Free what order_open() allocated. */
static void order_close(struct order *o)
{
	for (int u = 0; u < WEFT_N_UNITS; u++)
		free(o->unit[u]);
	free(o->l);
	free(o->start);
	free(o->end);
	free(o->at);
	free(o->next);
}

/*
 * Returns the cycle in which all commands that c waits for have retired; with `others`, loads are left out.
 */
static uint64_t ready_at(const struct order *o, const struct cmd *c, bool others)
{
	uint64_t t = 0;

	for (int u = 0; u < WEFT_N_UNITS; u++)
		if (c->wait[u] && !(others && u == WEFT_UNIT_LD) && o->end[o->unit[u][c->wait[u] - 1]] > t)
			t = o->end[o->unit[u][c->wait[u] - 1]];
	return t;
}

/*
 * Bound the loads that command number i waits for, which is no load and has been given its times. They must come before
 * it (before), and those that it needs should be done when it begins (need). Without s->urgent it waits for all loads up
 * to a count, and needs them all. With s->urgent it needs the loads whose bytes it touches, and besides waits for all
 * loads up to the last one that reads what it writes (n_read). The first *waited loads have been bounded by such counts
 * of earlier commands; *waited grows with the count of this one.
 */
static void bound_loads(struct order *o, uint32_t i, uint32_t *waited)
{
	const struct cmd *k = &o->s->cmds.p[i];
	const uint32_t *touched = hazards_loads(o->s->hazards);
	uint32_t upto = o->s->urgent ? k->n_read : k->wait[WEFT_UNIT_LD];

	for (; *waited < upto; (*waited)++) {
		struct load *l = &o->l[*waited];
		l->before = l->before < i ? l->before : i;
		l->need = o->s->urgent ? l->need : o->start[i];
	}
	for (uint32_t j = 0; o->s->urgent && j < k->n_loads; j++) {
		struct load *l = &o->l[touched[k->first_load + j] - 1];
		l->before = l->before < i ? l->before : i;
		l->need = l->need < o->start[i] ? l->need : o->start[i];
	}
}

/*
 * Find when every command would begin and retire with slow memory if units ran at full speed, and for each
 * load what bounds its place in the order: when it can begin, when it should be done, and which commands it
 * comes behind and before. Sets o->l, n, unit, start and end.
 */
static void list_times(struct order *o)
{
	const struct cmds *c = &o->s->cmds;
	uint64_t free_at[WEFT_N_UNITS] = { 0 };
	uint32_t waited = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		const struct cmd *k = &c->p[i];
		uint64_t t = ready_at(o, k, false), cost = k->slow ? k->slow : k->cost;
		bool dma = k->unit == WEFT_UNIT_LD || k->unit == WEFT_UNIT_ST;

		o->start[i] = t > free_at[k->unit] ? t : free_at[k->unit];
		free_at[k->unit] = o->start[i] + cost;
		o->end[i] = o->start[i] + cost + k->latency + (dma ? COST_MEMORY_FAR : 0);
		if (k->unit != WEFT_UNIT_LD)
			bound_loads(o, i, &waited);
		o->unit[k->unit][o->n_unit[k->unit]++] = i;
		if (k->unit != WEFT_UNIT_LD)
			continue;
		struct load *l = &o->l[o->n++];
		*l = (struct load){ .cmd = i, .n_before = k->wait[WEFT_UNIT_LD], .before = c->n, .need = NEVER,
		                    .ready = ready_at(o, k, true), .cycles = cost };
		for (int u = 0; u < WEFT_N_UNITS; u++)
			if (u != WEFT_UNIT_LD && k->wait[u] && o->unit[u][k->wait[u] - 1] + 1 > l->after)
				l->after = o->unit[u][k->wait[u] - 1] + 1;
	}
}

/*
 * Returns whether load j may come next, if it then comes behind command number `after` - 1. All loads that it
 * waits for must be placed, and no other load that is left among [first, end) may have to come before that
 * command.
 */
static bool may_go(const struct order *o, uint32_t first, uint32_t end, uint32_t j, uint32_t after)
{
	if (o->l[j].n_before > first)
		return false;
	for (uint32_t k = first; k < end; k++)
		if (!o->l[k].done && k != j && o->l[k].before < after)
			return false;
	return true;
}

/*
 * Returns the load to begin at cycle t: the first that is left, number `first`, or another of the next WINDOW loads
 * that can begin and may go (may_go()), of several the one that is needed first. Another one must be done before the
 * first can begin, or let the first still be done COST_LOAD_SPARE cycles before it is needed. If the first can begin,
 * another one goes ahead of it only with s->urgent, and only if it is needed before the first. `after` is where the
 * load before it stands at the earliest.
 */
static uint32_t choose(const struct order *o, uint32_t first, uint32_t after, uint64_t t)
{
	uint32_t end = first + WINDOW < o->n ? first + WINDOW : o->n, best = first;
	const struct load *u = &o->l[first];
	bool can_begin = u->ready <= t;

	if (can_begin && !o->s->urgent)
		return first;
	for (uint32_t j = first + 1; j < end; j++) {
		const struct load *l = &o->l[j];
		if (l->done || l->ready > t)
			continue;
		if (t + l->cycles > u->ready && t + l->cycles + u->cycles + COST_LOAD_SPARE > u->need)
			continue;
		if ((can_begin || best != first) && l->need >= o->l[best].need)
			continue;
		if (may_go(o, first, end, j, l->after > after ? l->after : after))
			best = j;
	}
	return best;
}

/*
 * Find the new order of loads (o->next) and for each of them the command right before which it is put
 * (o->at), load after load as choose() says, at the times that list_times() has found. Returns whether the
 * order differs from the one in which they were emitted.
 */
static bool find_order(struct order *o)
{
	uint32_t first = 0, after = 0;
	uint64_t t = 0;
	bool other = false;

	for (uint32_t i = 0; i < o->n; i++) {
		uint32_t j = choose(o, first, after, t);
		struct load *l = &o->l[j];
		l->done = true;
		after = l->after > after ? l->after : after;
		o->next[i] = j;
		o->at[i] = after;
		other |= j != i;
		t = (l->ready > t ? l->ready : t) + l->cycles;
		while (first < o->n && o->l[first].done)
			first++;
	}
	return other;
}

/*
 * Set count[k] for each load k, in the order of emission, to its place among the loads in the new order, from
 * 1 on.
 */
static void list_counts(struct order *o, uint32_t *count)
{
	for (uint32_t i = 0; i < o->n; i++)
		count[o->next[i]] = i + 1;
}

/*
 * Returns whether a command waits for a load because it writes what the load reads. Waits for loads then do not
 * follow from the loads whose bytes a command touches alone.
 */
static bool writes_behind_loads(const struct cmds *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->p[i].n_read)
			return true;
	return false;
}

/*
 * Set anew how many loads each command waits for: the last, in the new order (count[]), of the loads whose
 * bytes it touches (loads[]). Who depends on whom stays as it was.
 */
static void renumber(struct cmds *c, const uint32_t *loads, const uint32_t *count)
{
	for (uint32_t i = 0; i < c->n; i++) {
		struct cmd *k = &c->p[i];
		uint32_t last = 0;
		for (uint32_t j = 0; j < k->n_loads; j++) {
			uint32_t n = count[loads[k->first_load + j] - 1];
			last = n > last ? n : last;
		}
		k->wait[WEFT_UNIT_LD] = last;
	}
}

/* Find all waits of the step's commands anew from the bytes that they touch. Returns 0 or -ENOMEM. */
int hazards_again(struct npu_step *s)
{
	uint32_t count[WEFT_N_UNITS] = { 0 };
	int err = 0;

	hazards_clear(s->hazards, s->overlap);
	for (uint32_t i = 0; i < s->cmds.n && !err; i++)
		err = hazards_add(s->hazards, &s->cmds.p[i], count[s->cmds.p[i].unit]++);
	return err;
}

/*
 * Make sure that the spare array has room for as many commands as the other one; what was in it may be
 * lost. Returns 0, or -ENOMEM with no spare array left.
 */
int cmds_spare(struct cmds *c)
{
	if (c->cap_spare < c->cap) {
		free(c->spare);
		c->spare = malloc(c->cap * sizeof *c->spare);
		c->cap_spare = c->spare ? c->cap : 0;
	}
	return c->spare ? 0 : -ENOMEM;
}

/*
 * Exchange the array of commands and its capacity with the spare one's. The number of commands stays, so
 * the spare one must hold as many.
 */
void cmds_exchange(struct cmds *c)
{
	struct cmd *p = c->p;
	uint32_t cap = c->cap;

	c->p = c->spare;
	c->cap = c->cap_spare;
	c->spare = p;
	c->cap_spare = cap;
}

/*
 * Put the step's commands into the new order, all but loads in the order that they had. Then the counts of
 * loads that commands wait for are set for the new order; if writes_behind_loads(), all waits are found anew.
 * Uses up o->at. Returns 0 or -ENOMEM.
 */
static int apply(struct order *o)
{
	struct cmds *c = &o->s->cmds;
	const struct cmd *was = c->p;
	uint32_t n = 0, next = 0;

	if (cmds_spare(c))
		return -ENOMEM;
	for (uint32_t i = 0; i <= c->n; i++) {
		while (next < o->n && (i == c->n || (o->at[next] <= i)))
			c->spare[n++] = was[o->l[o->next[next++]].cmd];
		if (i < c->n && was[i].unit != WEFT_UNIT_LD)
			c->spare[n++] = was[i];
	}
	cmds_exchange(c);
	if (writes_behind_loads(c))
		return hazards_again(o->s);
	list_counts(o, o->at);
	renumber(c, hazards_loads(o->s->hazards), o->at);
	return 0;
}

/*
 * Put the loads of the step's commands into another order if one that cannot begin yet would hold up others
 * that can. Times are estimated with slow memory and units at full speed; whether the step as a whole ends
 * sooner is not checked. Returns 0 or -ENOMEM.
 */
int order_loads(struct npu_step *s)
{
	struct order o;
	int err = order_open(&o, s);

	if (!err) {
		list_times(&o);
		if (find_order(&o))
			err = apply(&o);
	}
	order_close(&o);
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a plan loses cycles. The critical path is followed from the last command
 * back: a command began when the one before it on its unit had left the unit, or
 * when the last of those that it waits for had retired. Cycles between two commands
 * of the path count for the node of the later one. Cycles in which the busier of the
 * two engines works on the path do not count: that work has to be done anyway.
 */
#include <errno.h>
#include <stdlib.h>

#include "userlib/compile/estimate/cost.h"
#include "userlib/compile/plan/plan.h"

struct critical_path {
	const struct npu_step *s;
	int64_t *of;           /* cycles of each node of the step */
	int *number;           /* for a node's number in cc.nodes its number in the step */
	uint64_t *start, *end; /* cycles in which each command begins and retires */
	uint32_t *cmd[WEFT_N_UNITS], n[WEFT_N_UNITS];   /* the commands of each unit, in order, and how many there are */
	uint32_t *place;       /* for each command its index among its unit's */
};

/*
 * Prepare *l to follow the critical path of the step's emitted commands: list the commands of each unit and
 * set of[], the cycles of each node of the step, to 0. Returns 0 or -ENOMEM; path_close() must follow in both
 * cases.
 */
static int path_open(struct critical_path *l, const struct npu_step *s, int64_t *of)
{
	size_t n = s->cmds.n + 1;

	*l = (struct critical_path){ .s = s, .of = of };
	l->number = calloc((size_t)s->cc->n_nodes + 1, sizeof *l->number);
	l->start = malloc(n * sizeof *l->start);
	l->end = malloc(n * sizeof *l->end);
	l->place = malloc(n * sizeof *l->place);
	if (!l->number || !l->start || !l->end || !l->place)
		return -ENOMEM;
	for (int u = 0; u < WEFT_N_UNITS; u++)
		if (!(l->cmd[u] = malloc(n * sizeof *l->cmd[u])))
			return -ENOMEM;
	for (uint32_t i = 0; i < s->cmds.n; i++) {
		int u = s->cmds.p[i].unit;
		l->place[i] = l->n[u];
		l->cmd[u][l->n[u]++] = i;
	}
	for (int i = 0; i < s->n; i++) {
		l->number[s->cc->items[s->first_item + i].index] = i;
		of[i] = 0;
	}
	return 0;
}

/* Free what path_open() allocated. */
static void path_close(struct critical_path *l)
{
	for (int u = 0; u < WEFT_N_UNITS; u++)
		free(l->cmd[u]);
	free(l->number);
	free(l->start);
	free(l->end);
	free(l->place);
}

/*
 * Returns the unit with more cycles of work in all the step's commands: the array or the vector engine; the
 * array if both have as many.
 */
static int busiest(const struct npu_step *s)
{
	int64_t sum[WEFT_N_UNITS] = { 0 };

	for (uint32_t i = 0; i < s->cmds.n; i++)
		sum[s->cmds.p[i].unit] += s->cmds.p[i].cost;
	return sum[WEFT_UNIT_CV] >= sum[WEFT_UNIT_VE] ? WEFT_UNIT_CV : WEFT_UNIT_VE;
}

/*
 * Returns the cycle from which command c no longer holds up the next one of its unit: c's retirement less
 * its latency, in which that of fast memory counts for loads and stores. With slow memory their unit is
 * free a little sooner.
 */
static uint64_t leaves(const struct critical_path *l, uint32_t c)
{
	const struct cmd *k = &l->s->cmds.p[c];
	bool dma = k->unit == WEFT_UNIT_LD || k->unit == WEFT_UNIT_ST;

	return l->end[c] - k->latency - (dma ? COST_MEMORY_NEAR : 0);
}

/*
 * Find the command that command c began after: the one before it on its unit, or one that it waits for,
 * whichever let it begin later; if several did in the same cycle, the one before it on its unit, else that of
 * the unit with the lowest number. Sets *after to that command and *when to the cycle in which it let c
 * begin. Returns false, with both unchanged, if c waited for nothing.
 */
static bool began_after(const struct critical_path *l, uint32_t c, uint32_t *after, uint64_t *when)
{
	const struct cmd *k = &l->s->cmds.p[c];
	bool any = l->place[c];

	if (any) {
		*after = l->cmd[k->unit][l->place[c] - 1];
		*when = leaves(l, *after);
	}
	for (int u = 0; u < WEFT_N_UNITS; u++) {
		if (!k->wait[u])
			continue;
		uint32_t d = l->cmd[u][k->wait[u] - 1];
		if (!any || l->end[d] > *when) {
			*after = d;
			*when = l->end[d];
		}
		any = true;
	}
	return any;
}

/*
 * Add cycles, if there are more than 0, to the node of command c; nothing if the command belongs to no
 * node.
 */
static void add(struct critical_path *l, uint32_t c, int64_t cycles)
{
	int node = l->s->cmds.p[c].node;

	if (node >= 0 && cycles > 0)
		l->of[l->number[node]] += cycles;
}

/*
 * Simulate with fast or slow memory, follow the critical path from the command that retires last back to the
 * start, and add the cycles between its commands to the nodes of the later ones, less the work of `unit`, the
 * busier engine. Returns 0 or -ENOMEM.
 */
static int add_critical(struct critical_path *l, int unit, bool slow)
{
	uint64_t until;
	uint32_t c = 0, after = 0;
	int err = simulate(l->s, NULL, slow, l->start, l->end, &until);

	for (uint32_t i = 1; i < l->s->cmds.n && !err; i++)
		if (l->end[i] > l->end[c])
			c = i;
	for (bool more = l->s->cmds.n && !err; more; c = after) {
		uint64_t from = 0;
		const struct cmd *k = &l->s->cmds.p[c];
		more = began_after(l, c, &after, &from);
		if (from > l->start[c])
			from = l->start[c];
		add(l, c, (int64_t)(until - from) - (k->unit == unit ? k->cost : 0));
		until = from;
	}
	return err;
}

/*
 * Set cycles[i] for each node i of the step to its cycles on the critical path of the emitted commands, with
 * fast and with slow memory together, without the busier engine's own work. Returns 0 or -ENOMEM.
 */
int step_critical_cycles(const struct npu_step *s, int64_t *cycles)
{
	struct critical_path l;
	int err = path_open(&l, s, cycles), unit = busiest(s);

	if (!err)
		err = add_critical(&l, unit, false);
	if (!err)
		err = add_critical(&l, unit, true);
	path_close(&l);
	return err;
}

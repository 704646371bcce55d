/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits: array, vector engine and DMA work at the same time if a node's first rows
 * are enough for the next one to begin. Into how many jobs each node is best cut is
 * found by trying: emit, simulate, keep what is faster. The search is bounded by a
 * count of commands, never by time, so its result is the same everywhere.
 */
#include <errno.h>
#include <stdlib.h>

#include "userlib/compile/plan/plan.h"

/* Cycles with fast memory beyond fast_limit count so many times more, so that a search does not buy cycles of slow memory with those of
 * fast memory: MobileNetV1 0.25/128 then takes 82.1 k (ddr) and 79.0 k (sram) instead of 83.1 k and 80.8 k. */
#define FAST_DEAR 4

/*
 * A cycle with slow memory counts SLOW_QUARTERS / 4 times as much as one with fast memory, because most cards have slow memory. With 7 instead
 * of 6, MobileNetV3Small takes 1.1 % fewer cycles in ddr (estimate), EfficientNetB0 0.6 % more, and VWW 0.9 % more in ddr
 * and 1.0 % fewer in sram; 12 other networks change by at most 0.15 %. With 9, 10 or 11, MobileNetV2 takes 0.3 to 1.2 % more in ddr.
 */
#define SLOW_QUARTERS 7

/*
 * Cut each node into as many jobs as its request asks for, where its tiling allows that, and emit the step's
 * commands. Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count) or -ERANGE (a command cannot
 * hold a value).
 */
int step_emit_split(struct npu_step *s)
{
	for (int i = 0; i < s->n; i++)
		plan_split(s->cc, step_node(s, i), &s->plan[i], s->plan[i].req.split);
	return step_emit(s);
}

/*
 * Emit the plan with its splits and estimate it. Set o->emitted to the number of commands emitted, also if emitting fails.
 * Set o->cycles to the cycles with fast memory plus SLOW_QUARTERS / 4 times those with slow memory. If there is a limit
 * (s->fast_limit), cycles with fast memory beyond it count FAST_DEAR times more. If the plan cannot be expressed, o->cycles is
 * INT64_MAX and o->err 0; after another failure o->cycles is INT64_MAX and o->err the negative errno. The outcome's other fields are
 * left alone.
 */
void step_measure(struct npu_step *s, struct outcome *o)
{
	uint64_t fast = 0, slow = 0;

	o->cycles = INT64_MAX;
	o->err = step_emit_split(s);
	o->emitted = s->cmds.n;
	if (!o->err)
		o->err = step_cycles(s, &fast, &slow);
	if (!o->err)
		o->cycles = (int64_t)(4 * fast + SLOW_QUARTERS * slow) / 4 + (s->fast_limit ? FAST_DEAR * max64(0, (int64_t)fast - s->fast_limit) : 0);
	/* A plan that cannot be expressed is no error: it keeps cycles = INT64_MAX. */
	if (o->err == -E2BIG || o->err == -ERANGE)
		o->err = 0;
}

/*
 * Callback of climb(): set *o to the outcome of the replica of this worker, on which move c has been made.
 * `user` is the replicas.
 */
static void measure(void *user, int worker, const struct move *c, struct outcome *o)
{
	const struct replicas *w = user;

	(void)c;
	step_measure(w->step[worker], o);
}

/*
 * Callback of climb(): emit the best plan, which all replicas have, on the first replica. Returns 0, -ENOMEM,
 * -E2BIG (more commands than a stream can count) or -ERANGE (a command cannot hold a value).
 */
static int emit_best(void *user)
{
	const struct replicas *w = user;

	return step_emit_split(w->step[0]);
}

/*
 * Climb over splits from the step's plan as it stands, until no split helps or `most` commands have been
 * emitted; the best splits are left in the plan. Returns 0 or a negative errno.
 */
static int search(struct npu_step *s, int64_t most)
{
	struct replicas replicas;
	struct budget budget = { .most = most, .limit = most, .stretch = most };
	struct climb c = { .replicas = &replicas, .list = list_splits, .tiers = 2, .emit_best = emit_best, .measure = measure, .user = &replicas, .budget = &budget };
	struct outcome o;
	int err = replicas_open(&replicas, s);

	if (!err) {
		step_measure(s, &o);
		c.cycles = o.cycles;
		err = o.err;
	}
	if (!err)
		err = climb(&c);
	replicas_close(&replicas);
	return err;
}

/*
 * Emit the plan, whose splits are chosen, without and with a switch of the step, and simulate both in the stream's
 * order. `on` points to the switch: s->overlap or s->urgent. It stays set if with it the step takes no more cycles,
 * neither with fast nor with slow memory; otherwise it is cleared. In the end s->cmds holds the commands of that choice.
 * Returns 0 or a negative errno.
 */
static int try_switch(struct npu_step *s, bool *on)
{
	uint64_t with[2], without[2];
	bool known = s->known_order;
	int err = 0;

	s->known_order = true;
	for (int k = 0; k < 2 && !err; k++) {
		*on = k == 1;
		err = step_emit_split(s);
		if (!err)
			err = step_cycles(s, k ? &with[0] : &without[0], k ? &with[1] : &without[1]);
	}
	s->known_order = known;
	if (err || (with[0] <= without[0] && with[1] <= without[1]))
		return err;
	*on = false;
	return step_emit_split(s);
}

/*
 * Say that everything has its place (s->placed), choose what is left to choose, and emit the plan. First try_switch()
 * says whether urgent loads go first (s->urgent). Then a climb that emits at most `most` commands in all chooses the
 * splits of all nodes. Then try_switch() says whether writes of the array overlap (s->overlap), and once more whether
 * urgent loads go first. With the options no_fuse and quick the plan is emitted as it stands. Returns 0, -ENOMEM, -E2BIG
 * (more commands than a stream can count) or -ERANGE (a command cannot hold a value).
 */
int step_search_splits(struct npu_step *s, int64_t most)
{
	int err = 0;

	s->placed = true;
	if (s->cc->o->no_fuse || s->cc->o->quick)
		return step_emit_split(s);
	s->overlap = true;
	err = try_switch(s, &s->urgent);
	if (!err)
		err = search(s, most);
	if (!err)
		err = try_switch(s, &s->overlap);
	return err ? err : try_switch(s, &s->urgent);
}

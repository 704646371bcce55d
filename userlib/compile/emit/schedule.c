/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One stream out of the commands of four units. Every unit keeps its own order;
 * between units, commands are sorted by when they should begin if the costs are right.
 * Loads thus come as early as their space is free, and the queues of the command
 * processor never hold a unit back for long.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userlib/compile/plan/plan.h"

/* The commands of a unit that are not in the stream yet. */
struct line {
	uint32_t *cmd;         /* all commands of the unit, in order */
	uint32_t n, at;        /* how many there are; how many of them are in the stream */
};

/*
 * List the commands of each unit in line[], by their numbers in c->p and in that order. line[] must be all
 * zeros before. Returns 0 or -ENOMEM; the caller frees line[].cmd in any case.
 */
static int split_units(const struct cmds *c, struct line line[WEFT_N_UNITS])
{
	for (int u = 0; u < WEFT_N_UNITS; u++) {
		line[u].cmd = malloc((c->n + 1) * sizeof *line[u].cmd);
		if (!line[u].cmd)
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < c->n; i++) {
		struct line *l = &line[c->p[i].unit];
		l->cmd[l->n++] = i;
	}
	return 0;
}

/*
 * Returns the unit whose next command begins first by start[], the cycle in which each command should begin;
 * of equals the one whose command was emitted first. Returns -1 if all commands of all units are in the stream.
 */
static int next_unit(const struct line line[WEFT_N_UNITS], const uint64_t *start)
{
	int best = -1;

	for (int u = 0; u < WEFT_N_UNITS; u++) {
		if (line[u].at == line[u].n)
			continue;
		uint32_t i = line[u].cmd[line[u].at], b = best < 0 ? 0 : line[best].cmd[line[best].at];
		if (best < 0 || start[i] < start[b] || (start[i] == start[b] && i < b))
			best = u;
	}
	return best;
}

/*
 * Append the words of command c to the program; *cap is the capacity of its array of words. Returns 0 or
 * -ENOMEM.
 */
static int append_words(weft_program *p, const struct weft_cmd *c, uint32_t *cap)
{
	while (p->n_words + WEFT_CMD_MAX_WORDS > *cap) {
		int err = cc_grow(&p->words, *cap, cap, sizeof *p->words);

		if (err)
			return err;
	}
	p->n_words += (uint32_t)weft_cmd_encode(c, p->words + p->n_words);
	return 0;
}

/*
 * Note in the program that the command k, whose words come next, takes its log2_scale from a tensor when the
 * program runs. Returns 0 or -ENOMEM.
 */
static int append_scale(struct npu_step *s, const struct cmd *k)
{
	weft_program *p = s->cc->p;
	int err = cc_grow(&p->scales, (uint32_t)p->n_scales, &s->cc->cap_scales, sizeof *p->scales);

	if (!err)
		p->scales[p->n_scales++] = (struct weft_pscale){ s->step, p->n_words, s->cc->nodes[k->node].wt.scale_t - 1 };
	return err;
}

/*
 * Append command k to the program: its words, with its waits and as tag the graph operator that it works for
 * (-1: none), and a row in p->cmds with that operator and its debug records. A conv whose node takes its
 * log2_scale from a tensor is noted in p->scales, too. rec_base is the number of the step's first debug record.
 * Returns 0 or -ENOMEM.
 */
static int append_cmd(struct npu_step *s, const struct cmd *k, uint32_t rec_base)
{
	weft_program *p = s->cc->p;
	struct weft_cmd c = k->c;
	int err = cc_grow(&p->cmds, p->n_cmds, &s->cc->cap_cmds, sizeof *p->cmds);

	if (err)
		return err;
	for (int u = 0; u < WEFT_N_UNITS; u++)
		c.h.wait[u] = k->wait[u];
	int op = k->node < 0 ? -1 : s->cc->nodes[k->node].last;
	c.h.tag = (uint32_t)op;
	p->cmds[p->n_cmds++] = (struct weft_pcmd){ op, rec_base + k->first_rec, k->n_recs };
	if (k->node >= 0 && s->cc->nodes[k->node].wt.scale_t && c.h.op == WEFT_CMD_CONV && (err = append_scale(s, k)))
		return err;
	return append_words(p, &c, &s->cc->cap_words);
}

/*
 * Append the step's debug records to the program's and set *base to the number of the first. Returns 0 or
 * -ENOMEM.
 */
static int append_recs(struct npu_step *s, uint32_t *base)
{
	weft_program *p = s->cc->p;
	uint32_t n = s->cmds.n_rec;

	*base = p->n_recs;
	if (!n)
		return 0;
	void *q = realloc(p->recs, ((size_t)p->n_recs + n) * sizeof *p->recs);
	if (!q)
		return -ENOMEM;
	p->recs = q;
	memcpy(p->recs + p->n_recs, s->cmds.rec, n * sizeof *p->recs);
	p->n_recs += n;
	return 0;
}

/*
 * Add to every node's halves[m] its share, in half cycles, of the cycles estimate[m] of the program's step,
 * which must be set. `order` is the stream's order, end[] are the cycles in which commands retire. Returns
 * 0 or -ENOMEM.
 */
static int share_out(struct npu_step *s, const uint32_t *order, const uint64_t *end, int m)
{
	struct weft_ran *ran = malloc((s->cmds.n + 1) * sizeof *ran);
	uint64_t *halves = calloc((size_t)s->cc->n_nodes + 1, sizeof *halves);
	int err = ran && halves ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < s->cmds.n && !err; i++) {
		const struct cmd *k = &s->cmds.p[order[i]];
		ran[i] = (struct weft_ran){ .unit = (uint8_t)k->unit, .who = k->node, .end = end[order[i]] };
		memcpy(ran[i].wait, k->wait, sizeof ran[i].wait);
	}
	if (!err)
		err = weft_share_cycles(ran, s->cmds.n, s->cc->p->steps[s->step].estimate[m], halves);
	for (int i = 0; i < s->cc->n_nodes && !err; i++)
		s->cc->nodes[i].halves[m] += halves[i];
	free(ran);
	free(halves);
	return err;
}

/*
 * Estimate the stream in this order with each memory profile m. Sets estimate[m] of the program's step to the
 * stream's cycles, raises done[m] of each node to the cycle in which the last of its commands but loads
 * retires, and adds the node's share of the cycles to its halves[m], in half cycles. start[] and end[] are room
 * for a cycle of each command. Returns 0 or -ENOMEM.
 */
static int note_estimates(struct npu_step *s, const uint32_t *order, uint64_t *start, uint64_t *end)
{
	struct weft_step *step = &s->cc->p->steps[s->step];

	for (int m = 0; m < WEFT_N_MEMORIES; m++) {
		int err = simulate(s, order, m != WEFT_MEMORY_SRAM, start, end, &step->estimate[m]);
		if (!err)
			err = share_out(s, order, end, m);
		if (err)
			return err;
		for (uint32_t i = 0; i < s->cmds.n; i++) {
			const struct cmd *k = &s->cmds.p[i];
			if (k->node < 0 || k->unit == WEFT_UNIT_LD)
				continue;
			uint64_t *done = &s->cc->nodes[k->node].done[m];
			*done = end[i] > *done ? end[i] : *done;
		}
	}
	return 0;
}

/*
 * Find the stream's order: order[i] is the command at place i. Each unit keeps its own order; between units,
 * commands are sorted by when they should begin with slow memory. Where memory is slower than an order
 * assumes, the command processor waits with loads in its hands and other units run dry; where it is faster,
 * nothing is lost. start[] and end[] are room for a cycle of each command. Returns 0 or -ENOMEM.
 */
static int interleave(const struct npu_step *s, uint32_t *order, uint64_t *start, uint64_t *end)
{
	struct line line[WEFT_N_UNITS] = { 0 };
	uint32_t n = 0;
	uint64_t total;
	int err = split_units(&s->cmds, line), u;

	if (!err)
		err = simulate(s, NULL, true, start, end, &total);
	while (!err && (u = next_unit(line, start)) >= 0)
		order[n++] = line[u].cmd[line[u].at++];
	for (u = 0; u < WEFT_N_UNITS; u++)
		free(line[u].cmd);
	return err;
}

/*
 * Set *fast and *slow to the cycles that the emitted commands should take with fast and with slow memory: in
 * the stream's order if s->known_order is set, else with every unit for itself. Returns 0 or -ENOMEM.
 */
int step_cycles(const struct npu_step *s, uint64_t *fast, uint64_t *slow)
{
	uint64_t *start = malloc((s->cmds.n + 1) * sizeof *start), *end = malloc((s->cmds.n + 1) * sizeof *end);
	uint32_t *order = malloc((s->cmds.n + 1) * sizeof *order), *known = s->known_order ? order : NULL;
	int err = start && end && order ? 0 : -ENOMEM;

	if (!err && known)
		err = interleave(s, known, start, end);
	if (!err)
		err = simulate(s, known, false, start, end, fast);
	if (!err)
		err = simulate(s, known, true, start, end, slow);
	free(start);
	free(end);
	free(order);
	return err;
}

/*
 * Append all commands of the step in this order, then END, and their debug records to the program. Returns 0
 * or -ENOMEM.
 */
static int append(struct npu_step *s, const uint32_t *order)
{
	struct cmd end = { .node = -1 };
	uint32_t base;
	int err = append_recs(s, &base);

	for (uint32_t i = 0; i < s->cmds.n && !err; i++)
		err = append_cmd(s, &s->cmds.p[order[i]], base);
	weft_cmd_init(&end.c, WEFT_CMD_END);
	return err ? err : append_cmd(s, &end, base);
}

/*
 * Append the step's stream to the program s->cc->p: the commands s->cmds of all units, sorted by when they
 * should begin with slow memory while each unit keeps its own order, and END. Each command brings its words, a
 * row in p->cmds and, if a tensor holds its log2_scale, an entry in p->scales; the step's debug records go to
 * p->recs. first_word, n_words, first_cmd and n_cmds of the step in p->steps then say where the stream lies,
 * END included. Sets the step's estimated cycles and each node's done[] and halves[] as note_estimates().
 * Returns 0, or -ENOMEM, after which the program may hold a part of the stream.
 */
int step_schedule(struct npu_step *s)
{
	weft_program *p = s->cc->p;
	struct weft_step *step = &p->steps[s->step];
	uint64_t *start = malloc((s->cmds.n + 1) * sizeof *start), *end = malloc((s->cmds.n + 1) * sizeof *end);
	uint32_t *order = malloc((s->cmds.n + 1) * sizeof *order);

	step->first_word = p->n_words;
	step->first_cmd = p->n_cmds;
	int err = start && end && order ? interleave(s, order, start, end) : -ENOMEM;
	if (!err)
		err = append(s, order);
	step->n_words = p->n_words - step->first_word;
	step->n_cmds = p->n_cmds - step->first_cmd;
	if (!err)
		err = note_estimates(s, order, start, end);
	free(order);
	free(start);
	free(end);
	return err;
}

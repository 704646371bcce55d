/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which operator a cycle counts for, once it is known when commands retired.
 *
 * A command begins when the one before it on its unit and all that it waits for have
 * retired, so that need not be known. Loads and stores do not count: they are for
 * what the engines do later, or did before.
 */
#include <errno.h>
#include <stdlib.h>

#include <weft/gen/cmd.h>

#include "userlib/compile/program.h"

/* Commands of one engine, in order, and the first that has not retired. */
struct engine { struct { uint64_t start, end; int32_t who; } *cmd; uint32_t n, at; };

/* Returns the later of two times. */
static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * Returns the cycle in which command c began: when the command before it on its unit, and all commands
 * before it in the stream that it waits for, had retired, but not after its own end. retire[u] are the
 * retirements of the n[u] commands of each unit that come before it.
 */
static uint64_t begins(const struct weft_ran *c, uint64_t *const retire[WEFT_N_UNITS], const uint32_t n[WEFT_N_UNITS])
{
	uint64_t start = n[c->unit] ? retire[c->unit][n[c->unit] - 1] : 0;

	for (int u = 0; u < WEFT_N_UNITS; u++)
		if (c->wait[u] && c->wait[u] <= n[u])
			start = later(start, retire[u][c->wait[u] - 1]);
	return start < c->end ? start : c->end;
}

/*
 * List what array (e[0]) and vector engine (e[1]) did in the n commands of c: begin, end and for whom;
 * fills retire[] with the retirements of each unit. Commands for nobody (who -1) are left out of e. Of all
 * commands that worked for someone, loads left out, returns for whom the one did that retired last, of
 * equals the later in the stream; -1 if there is none.
 */
static int32_t list(const struct weft_ran *c, uint32_t n, uint64_t *const retire[WEFT_N_UNITS], struct engine e[2])
{
	uint32_t have[WEFT_N_UNITS] = { 0 };
	uint64_t end = 0;
	int32_t last = -1;

	for (uint32_t i = 0; i < n; i++) {
		struct engine *to = &e[c[i].unit == WEFT_UNIT_VE];
		if ((c[i].unit == WEFT_UNIT_CV || c[i].unit == WEFT_UNIT_VE) && c[i].who >= 0) {
			to->cmd[to->n].start = begins(&c[i], retire, have);
			to->cmd[to->n].end = c[i].end;
			to->cmd[to->n++].who = c[i].who;
		}
		retire[c[i].unit][have[c[i].unit]++] = c[i].end;
		if (c[i].unit != WEFT_UNIT_LD && c[i].who >= 0 && c[i].end >= end) {
			end = c[i].end;
			last = c[i].who;
		}
	}
	return last;
}

/*
 * Find for whom the cycles from t on count, half each: who[0] and who[1]. They are those for whom array and
 * vector engine work; if only one works, it is twice the one for whom it does; if neither works, twice the
 * one whose command begins next (of equals the array's), and behind all commands twice `last`. *next is
 * lowered to the cycle in which that changes. Each engine's `at` moves past the commands that have ended by
 * t, so t must not become less from call to call.
 */
static void owners(struct engine e[2], uint64_t t, uint64_t *next, int32_t last, int32_t who[2])
{
	bool runs[2] = { false, false }, waits[2] = { false, false };
	int32_t of[2] = { -1, -1 };
	uint64_t start[2] = { 0, 0 };

	for (int k = 0; k < 2; k++) {
		while (e[k].at < e[k].n && e[k].cmd[e[k].at].end <= t)
			e[k].at++;
		if (e[k].at == e[k].n)
			continue;
		of[k] = e[k].cmd[e[k].at].who;
		start[k] = e[k].cmd[e[k].at].start;
		runs[k] = start[k] <= t;
		waits[k] = !runs[k];
		uint64_t change = runs[k] ? e[k].cmd[e[k].at].end : start[k];
		*next = change < *next ? change : *next;
	}
	if (runs[0] || runs[1]) {
		who[0] = of[runs[0] ? 0 : 1];
		who[1] = of[runs[1] ? 1 : 0];
		return;
	}
	/* The one that begins next is waited for. */
	int k = waits[0] && waits[1] ? start[1] < start[0] : waits[1];
	who[0] = who[1] = waits[k] ? of[k] : last;
}

/*
 * Share out the cycles of a stream of n commands, c in the stream's order, that took `total` cycles. A
 * cycle in which the array or the vector engine works counts for whom it does, half each if both work for
 * different ones; a cycle in which neither works counts for the one whose command begins next, at the end
 * for the one whose retired last. Adds half cycles to halves[who], 2 * total in all; nothing if all
 * commands but loads are for nobody. Returns 0 or -ENOMEM.
 */
int weft_share_cycles(const struct weft_ran *c, uint32_t n, uint64_t total, uint64_t *halves)
{
	uint64_t *retire[WEFT_N_UNITS] = { 0 }, t = 0;
	struct engine e[2] = { 0 };
	int err = 0;

	for (int u = 0; u < WEFT_N_UNITS; u++)
		if (!(retire[u] = malloc(((size_t)n + 1) * sizeof(*retire[u]))))
			err = -ENOMEM;
	for (int k = 0; k < 2; k++)
		if (!(e[k].cmd = malloc(((size_t)n + 1) * sizeof(*e[k].cmd))))
			err = -ENOMEM;
	int32_t last = err ? -1 : list(c, n, retire, e);
	while (!err && last >= 0 && t < total) {
		uint64_t next = total;
		int32_t who[2];
		owners(e, t, &next, last, who);
		halves[who[0]] += next - t;
		halves[who[1]] += next - t;
		t = next;
	}
	for (int u = 0; u < WEFT_N_UNITS; u++)
		free(retire[u]);
	free(e[0].cmd);
	free(e[1].cmd);
	return err;
}

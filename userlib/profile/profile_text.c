/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profile as a table: for each operator its cycles, the least cycles that it could take, which unit
 * needs them, and what that unit did instead during the operator's window.
 *
 * The least cycles are the most of three: words that the array takes (one a cycle), bytes over the
 * bus at the memory's rate, and cycles in which the vector engine was busy. Work that was done
 * ahead, such as loading weights, counts for the operator for which it was done.
 */
#define _GNU_SOURCE
#include "profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft/gen/cmd.h"

/* The least cycles of an operator, the track of the unit that needs them, and that unit's name. */
struct bound { uint64_t cycles; enum weft_track track; const char *name; };

/*
 * Returns the least cycles that an operator with work w could take, by the unit with most to do, with
 * that unit's track and name: array, memory (in profile DDR half the bus's width a cycle for reads and
 * writes together, otherwise the full width for each; the track is the load's unless more is written)
 * or vector engine; of equal ones the first.
 */
static struct bound bound_of(const struct weft_profile *p, const struct weft_prof_work *w)
{
	const uint64_t bus = p->s->cfg->axi_bytes, slow = p->s->o.memory == WEFT_MEMORY_DDR ? 2 : 1;
	const uint64_t bytes = slow == 2 ? w->rd_bytes + w->wr_bytes : w->rd_bytes > w->wr_bytes ? w->rd_bytes : w->wr_bytes;
	const struct bound all[] = {
		{ w->busy[WEFT_UNIT_CV], WEFT_TRACK_CV, "array" },
		{ (bytes + bus - 1) / bus * slow, w->rd_bytes >= w->wr_bytes ? WEFT_TRACK_LD : WEFT_TRACK_ST, "memory" },
		{ w->busy[WEFT_UNIT_VE], WEFT_TRACK_VE, "vector" },
	};
	struct bound b = all[0];

	for (int i = 1; i < 3; i++)
		b = all[i].cycles > b.cycles ? all[i] : b;
	return b;
}

/*
 * Prints the up to three states, other than busy, in which the track spent most cycles of the window,
 * with these cycles, the most first, separated by commas; nothing if there is none.
 */
static void why_not(FILE *f, const struct weft_prof_window *w, enum weft_track track)
{
	const uint64_t *n = w->n[track];
	uint64_t below = UINT64_MAX;
	unsigned last = WEFT_PROF_STATES;

	for (int k = 0; k < 3; k++) {
		unsigned best = WEFT_PROF_STATES;
		for (unsigned i = 0; i < WEFT_PROF_STATES; i++)
			if (i != WEFT_DOES_BUSY && n[i] && (n[i] < below || (n[i] == below && i > last)) &&
			    (best == WEFT_PROF_STATES || n[i] > n[best]))
				best = i;
		if (best == WEFT_PROF_STATES)
			break;
		fprintf(f, "%s%s %llu", k ? ", " : "", weft_profile_state(best), (unsigned long long)n[best]);
		below = n[best];
		last = best;
	}
}

/* Adds window w to a sum: its length to to->to, and the cycles of each track in each state. */
static void add(struct weft_prof_window *to, const struct weft_prof_window *w)
{
	to->to += w->to - w->from;
	for (int t = 0; t < WEFT_N_TRACKS; t++)
		for (int i = 0; i < WEFT_PROF_STATES; i++)
			to->n[t][i] += w->n[t][i];
}

/*
 * Prints one line: the track's name and the share of each of its states that occurred in p->cycles,
 * which is not 0, in percent.
 */
static void print_unit(FILE *f, const struct weft_profile *p, int t)
{
	const struct weft_prof_track *k = &p->track[t];

	fprintf(f, "%-9s", weft_track_name((unsigned)t));
	for (unsigned i = 0; i < WEFT_PROF_STATES; i++)
		if (k->total[i])
			fprintf(f, "  %s %.1f %%", weft_profile_state(i), 100.0 * (double)k->total[i] / (double)p->cycles);
	fprintf(f, "\n");
}

/*
 * Prints where the run's p->cycles went, which is not 0, by what the array did, in lines of cycles that sum up to them:
 * slots in which it took a word (and how many would do for the products of all operators on the NPU, if every one of
 * them were used); waits for the vector engine and, within a convolution, for operands and the post unit;
 * the bus, which is waits for loads, stores and memory; and overhead, which is all the rest: words on their
 * way through the array, and cycles without a command.
 */
static void print_losses(FILE *f, const struct weft_profile *p, const struct weft_report *r)
{
	const uint64_t *n = p->track[WEFT_TRACK_CV].total;
	const uint64_t products = (r->macs - r->macs_folded) / ((uint64_t)p->s->cfg->n * (uint64_t)p->s->cfg->n);
	uint64_t slots = n[WEFT_DOES_BUSY], left = p->cycles;
	uint64_t bus = n[WEFT_DOES_WAIT_MEMORY] + n[WEFT_PROF_WAIT_UNIT + WEFT_UNIT_LD] + n[WEFT_PROF_WAIT_UNIT + WEFT_UNIT_ST];
	uint64_t waits = n[WEFT_PROF_WAIT_UNIT + WEFT_UNIT_VE] + n[WEFT_DOES_WAIT_SP] + n[WEFT_DOES_WAIT_POST] + n[WEFT_DOES_WAIT_ACT] +
	                 n[WEFT_DOES_WAIT_WGT];

	left -= slots + waits + bus;
	fprintf(f, "where %llu cycles went, by the array:\n", (unsigned long long)p->cycles);
	fprintf(f, "%15llu %5.1f%%  slots; products would fill %llu\n", (unsigned long long)slots, 100.0 * (double)slots / (double)p->cycles,
	        (unsigned long long)products);
	fprintf(f, "%15llu %5.1f%%  waits for the vector engine, operands and the post unit\n", (unsigned long long)waits, 100.0 * (double)waits / (double)p->cycles);
	fprintf(f, "%15llu %5.1f%%  bus: waits for loads and stores\n", (unsigned long long)bus, 100.0 * (double)bus / (double)p->cycles);
	fprintf(f, "%15llu %5.1f%%  overhead: fills, drains, no command\n", (unsigned long long)left, 100.0 * (double)left / (double)p->cycles);
}

/*
 * Returns the profile as a table: a line for each operator with cycles or work (cycles, the least that it
 * could take and by which unit, and why that unit was not busy), one for the streams' ends if they took
 * cycles; then, if the run took any, one for each measured unit and, if the array is one, where the cycles
 * went (print_losses()). From malloc; the caller frees it. NULL: out of memory.
 */
char *weft_profile_text(const struct weft_profile *p)
{
	struct weft_prof_window *sum = calloc((size_t)p->n_entries + 1, sizeof *sum);
	struct weft_report *r = weft_report_new(p->s);
	char *text = NULL;
	size_t len;
	FILE *f = sum && r ? open_memstream(&text, &len) : NULL;

	for (size_t i = 0; f && i < p->n_win; i++)
		add(&sum[p->win[i].entry >= 0 ? p->win[i].entry : p->n_entries], &p->win[i]);
	if (f)
		fprintf(f, "%4s %10s %10s %-7s %6s  %-24s %s\n", "op", "cycles", "at least", "for", "", "operator", "its unit besides being busy");
	for (int e = 0; f && e < p->n_entries; e++) {
		struct bound b = bound_of(p, &p->work[e]);
		if (!sum[e].to && !b.cycles)
			continue;
		fprintf(f, "%4d %10llu %10llu %-7s", r->ops[e].index, (unsigned long long)sum[e].to, (unsigned long long)b.cycles, b.name);
		fprintf(f, sum[e].to ? " %5.1f%%" : "      -", 100.0 * (double)b.cycles / (double)(sum[e].to ? sum[e].to : 1));
		fprintf(f, "  %-24.40s %s: ", r->ops[e].op, weft_track_name(b.track));
		why_not(f, &sum[e], b.track);
		fprintf(f, "\n");
	}
	if (f && sum[p->n_entries].to)
		fprintf(f, "   - %10llu  the streams' ends\n", (unsigned long long)sum[p->n_entries].to);
	for (int t = 0; f && t < WEFT_N_TRACKS && p->cycles; t++)
		if (p->track[t].measured)
			print_unit(f, p, t);
	if (f && p->cycles && p->track[WEFT_TRACK_CV].measured)
		print_losses(f, p, r);
	if (f)
		fclose(f);
	weft_report_free(r);
	free(sum);
	return text;
}

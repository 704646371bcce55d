/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From wrong sums to a place. Which PEs are wrong says where to look: one alone has a
 * wrong sum register; a row from some column on has a wrong activation, a column from
 * some row on a wrong weight, because operands move on from PE to PE. Then every fault
 * that could be there is played through; it is named if it explains every single sum,
 * and no other one does.
 */
#include <stdlib.h>
#include <string.h>

#include "userlib/diag/array.h"

enum what { SUM, SHADOW, ACT, WEIGHT, SKEW_ACT, SKEW_WEIGHT };
enum how { STUCK0, STUCK1, AND, OR };

struct guess { enum what what; enum how how; int bit, phase; };

static int64_t sign_extend(uint64_t v, int bits)
{
	uint64_t top = UINT64_C(1) << (bits - 1);

	v &= top | (top - 1);
	return (int64_t)((v ^ top) - top);
}

/* The value with the guessed fault in its bits: one bit stuck, or two neighbours connected. */
static int64_t force(int64_t value, const struct guess *g, int bits)
{
	uint64_t v = (uint64_t)value, one = UINT64_C(1) << g->bit, two = one | one << 1;

	switch (g->how) {
	case STUCK0:
		v &= ~one;
		break;
	case STUCK1:
		v |= one;
		break;
	case AND:
		v = (v & two) == two ? v : v & ~two;
		break;
	case OR:
		v = v & two ? v | two : v;
		break;
	}
	return sign_extend(v, bits);
}

/*
 * The sum that PE (r, col) would have made if the guessed fault were there. forced: the sum
 * register already held the fault when the sum began.
 */
static int64_t play(const struct array_set *s, const struct array_conv *c, int group, int r, int col, const struct guess *g,
                    bool forced)
{
	const int16_t *a = c->a + (group * s->n + r) * c->k;
	const int8_t *w = c->w + col * c->k;
	int64_t acc = forced ? force(0, g, s->acc_bits) : 0;

	for (int k = 0; k < c->k; k++) {
		int64_t x = a[k] - c->x_zp, y = w[k] - c->w_zp;
		if (g->what == ACT || (g->what == SKEW_ACT && (r + k) % s->n == g->phase))
			x = force(x, g, s->a_bits);
		if (g->what == WEIGHT || (g->what == SKEW_WEIGHT && (col + k) % s->n == g->phase))
			y = force(y, g, 9);
		acc = sign_extend((uint64_t)acc + (uint64_t)(x * y), s->acc_bits);
		if (g->what == SUM)
			acc = force(acc, g, s->acc_bits);
	}
	return g->what == SHADOW ? force(acc, g, s->acc_bits) : acc;
}

/* Would the guessed fault give every wrong sum that was seen? */
static bool explains(const struct array_set *s, const uint8_t *got, const bool *bad, const struct guess *g)
{
	int64_t sum;

	for (int i = s->n_convs - 1; i >= 0; i--)
		for (int group = 0; group < s->conv[i].groups; group++)
			for (int r = 0; r < s->n; r++)
				for (int c = 0; c < s->n; c++)
					if (bad[r * s->n + c] && (sum = array_sum(s, &s->conv[i], got, group, r, c),
					    play(s, &s->conv[i], group, r, c, g, g->what == SUM) != sum &&
					    (g->what != SUM || play(s, &s->conv[i], group, r, c, g, false) != sum)))
						return false;
	return true;
}

/*
 * Looks for the one fault of a kind that explains all wrong sums. False if there is none, or more
 * than one.
 */
static bool search(const struct array_set *s, const uint8_t *got, const bool *bad, enum what what, struct guess *found)
{
	int bits = what == SUM || what == SHADOW ? s->acc_bits : what == ACT || what == SKEW_ACT ? s->a_bits : 9;
	int phases = what == SKEW_ACT || what == SKEW_WEIGHT ? s->n : 1, n = 0;

	for (int phase = 0; phase < phases; phase++)
		for (int how = STUCK0; how <= OR; how++)
			for (int bit = 0; bit < bits - (how >= AND); bit++) {
				struct guess g = { what, (enum how)how, bit, phase };
				if (!explains(s, got, bad, &g))
					continue;
				if (n++ == 0)
					*found = g;
			}
	return n == 1;
}

/* ---- which PEs ---- */

struct extent { int r0, r1, c0, c1, count; };

/* Marks the PEs that gave a wrong sum and returns the rectangle around them. */
static struct extent extent_of(const struct array_set *s, const struct diag_out *out, bool *bad)
{
	struct extent e = { s->n, -1, s->n, -1, 0 };

	for (int i = 0; i < s->n_convs; i++)
		for (int g = 0; g < s->conv[i].groups; g++)
			for (int r = 0; r < s->n; r++)
				for (int c = 0; c < s->n; c++)
					if (array_sum(s, &s->conv[i], out->got, g, r, c) != array_sum(s, &s->conv[i], out->want, g, r, c))
						bad[r * s->n + c] = true;
	for (int r = 0; r < s->n; r++)
		for (int c = 0; c < s->n; c++)
			if (bad[r * s->n + c]) {
				e.r0 = r < e.r0 ? r : e.r0;
				e.r1 = r;
				e.c0 = c < e.c0 ? c : e.c0;
				e.c1 = c > e.c1 ? c : e.c1;
				e.count++;
			}
	return e;
}

static const char *how_text(enum how how)
{
	return how == STUCK0 ? "stuck at 0" : how == STUCK1 ? "stuck at 1" : how == AND ? "and the next one wired to their and"
	                                                                              : "and the next one wired to their or";
}

/*
 * One PE is wrong: names accumulator, result register, activation or weight register and bit, by
 * the first guess that explains all sums.
 */
static void say_pe(struct weft_diag *d, const struct array_set *s, const uint8_t *got, const bool *bad, struct extent e,
                   const char *mode)
{
	struct diag_place at = DIAG_NOWHERE;
	struct guess g;

	at.row = e.r0;
	at.col = e.c0;
	if (search(s, got, bad, SUM, &g) || search(s, got, bad, SHADOW, &g)) {
		at.bit = g.bit;
		diag_find(d, "DIAG-ARRAY-1", at, "PE row %d column %d: %s bit %d %s in %s mode", e.r0, e.c0,
		          g.what == SUM ? "accumulator" : "result register", g.bit, how_text(g.how), mode);
	} else if (e.c0 == s->n - 1 && search(s, got, bad, ACT, &g)) {
		at.bit = g.bit;
		diag_find(d, "DIAG-ARRAY-2", at, "PE row %d column %d: activation bit %d %s in %s mode", e.r0, e.c0, g.bit,
		          how_text(g.how), mode);
	} else if (e.r0 == s->n - 1 && search(s, got, bad, WEIGHT, &g)) {
		at.bit = g.bit;
		diag_find(d, "DIAG-ARRAY-3", at, "PE row %d column %d: weight bit %d %s in %s mode", e.r0, e.c0, g.bit, how_text(g.how),
		          mode);
	} else {
		diag_find(d, "DIAG-ARRAY-4", at, "PE row %d column %d: wrong sums in %s mode", e.r0, e.c0, mode);
	}
}

/* Reports a row of PEs that is wrong from column c0 on, or a column that is wrong from row r0 on. */
static void say_line(struct weft_diag *d, const struct array_set *s, const uint8_t *got, const bool *bad, struct extent e,
                     const char *mode, bool row)
{
	struct diag_place at = DIAG_NOWHERE;
	int start = row ? e.c0 : e.r0, line = row ? e.r0 : e.c0;
	const char *operand = row ? "activation" : "weight", *across = row ? "row" : "column", *along = row ? "column" : "row";
	const char *id = row ? "DIAG-ARRAY-2" : "DIAG-ARRAY-3";
	struct guess g;

	at.row = e.r0;
	at.col = e.c0;
	if (search(s, got, bad, row ? ACT : WEIGHT, &g)) {
		at.bit = g.bit;
		diag_find(d, id, at, "PE row %d column %d: %s bit %d %s in %s mode, and from there on to the end of the %s", e.r0, e.c0, operand,
		          g.bit, how_text(g.how), mode, across);
	} else if (start == 0 && search(s, got, bad, row ? SKEW_ACT : SKEW_WEIGHT, &g)) {
		at.bit = g.bit;
		diag_find(d, "DIAG-ARRAY-5", at, "%s %d: bit %d of the %s's skew buffer (slot %d) %s in %s mode", across, line, g.bit, operand,
		          g.phase, how_text(g.how), mode);
	} else {
		diag_find(d, "DIAG-ARRAY-6", at, "%s %d of the array: wrong sums from %s %d on in %s mode", across, line, along, start, mode);
	}
}

void array_judge(struct weft_diag *d, const struct array_set *s, const struct diag_out *out, const char *mode)
{
	bool *bad = calloc((size_t)(s->n * s->n), sizeof(*bad));

	if (!bad)
		return;
	struct extent e = extent_of(s, out, bad);
	bool row = e.r0 == e.r1 && e.c1 == s->n - 1, col = e.c0 == e.c1 && e.r1 == s->n - 1;
	if (e.count == 1)
		say_pe(d, s, out->got, bad, e, mode);
	else if (e.count && (row || col))
		say_line(d, s, out->got, bad, e, mode, row);
	else if (e.count && e.c0 == e.c1)
		diag_find(d, "DIAG-ARRAY-7", (struct diag_place){ -1, e.c0, -1, -1, -1 },
		          "column %d of the array: %d of %d sums are wrong in %s mode", e.c0, e.count, s->n, mode);
	else if (e.count && e.r0 == e.r1)
		diag_find(d, "DIAG-ARRAY-7", (struct diag_place){ e.r0, -1, -1, -1, -1 },
		          "row %d of the array: %d of %d sums are wrong in %s mode", e.r0, e.count, s->n, mode);
	else if (e.count)
		diag_find(d, "DIAG-ARRAY-8", DIAG_NOWHERE, "%d PEs of the array, rows %d to %d, columns %d to %d: wrong sums in %s mode",
		          e.count, e.r0, e.r1, e.c0, e.c1, mode);
	free(bad);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Concludes from wrong sums to a place. Which PEs are wrong says where to look: if one PE alone is
 * wrong, its sum register is; if a row is wrong from some column on, an activation is, and if a
 * column is wrong from some row on, a weight is, because operands move on from PE to PE (weights up to the
 * end of the array, or of one half of it: array_last_row()). Then every
 * fault that could be there is simulated; a fault is named if it explains every single sum and no
 * other fault does.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userlib/diag/array.h"

/*
 * The register that could be faulty: a PE's running sum (SUM), the register from which its result is
 * read (SHADOW), its activation (ACT) or weight (WEIGHT), or a slot of the buffers that delay the
 * activations of a row (SKEW_ACT) or the weights of a column (SKEW_WEIGHT).
 */
enum what { SUM, SHADOW, ACT, WEIGHT, SKEW_ACT, SKEW_WEIGHT };
/* One bit stuck at 0 or 1, or two neighbouring bits connected, so that both are their AND or OR. */
enum how { STUCK0, STUCK1, AND, OR };

/* A possible fault: bit is the faulty bit (the lower one of two), phase the slot of a skew buffer. */
struct guess { enum what what; enum how how; int bit, phase; };

/* Returns the lowest `bits` bits of v as a signed number. */
static int64_t sign_extend(uint64_t v, int bits)
{
	uint64_t top = UINT64_C(1) << (bits - 1);

	v &= top | (top - 1);
	return (int64_t)((v ^ top) - top);
}

/*
 * Returns what a register of `bits` bits holds, sign-extended, if value is written to it and the
 * guessed fault is in it: bit g->bit stuck at 0 or 1, or bits g->bit and g->bit + 1 that are both their
 * AND or OR.
 */
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
 * Returns the sum that the PE in row r and column col would have made for pixel group `group` of c if
 * the guessed fault were there: in activations or weights as they are read (of skew buffers only those
 * in slot g->phase), in the sum after each product, or (SHADOW) in the finished sum. With forced, the
 * sum starts not from 0 but from 0 with the fault in its bits, since the sum register already held the
 * fault.
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

/*
 * Says whether the guessed fault gives exactly the sums that the wrong PEs (bad, [n][n]) delivered in
 * all convolutions, those that came out right included. got is the arena as the device left it. A fault
 * of the sum register may show from the sum's start or from the first product on.
 */
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
 * Tries every fault of one kind of register: each bit stuck at 0 or 1, each two neighbouring bits
 * connected (AND or OR), in skew buffers in each of the n slots. *found becomes the first that explains
 * all sums of the wrong PEs, and is untouched if none does. Returns true if exactly one does.
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

/* The rectangle around the wrong PEs, rows r0..r1 and columns c0..c1, and how many are wrong. */
struct extent { int r0, r1, c0, c1, count; };

/*
 * Sets bad[row * n + column], [n][n] and all false before, for every PE that gave at least one sum
 * other than the model's, and returns the rectangle around these PEs and their number; with none, count
 * is 0 and r1 and c1 are -1.
 */
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

/* Returns a kind of fault in words that follow "bit 3 " in a message. */
static const char *how_text(enum how how)
{
	return how == STUCK0 ? "stuck at 0" : how == STUCK1 ? "stuck at 1" : how == AND ? "and the next one wired to their and"
	                                                                              : "and the next one wired to their or";
}

/*
 * Reports the one wrong PE, at (e.r0, e.c0), with register and bit if exactly one fault explains all
 * its sums: of its sum register or else its result register (DIAG-ARRAY-1), of its activation if it
 * stands in the last column (DIAG-ARRAY-2), of its weight if it stands in the last row (of its half, with pairs; DIAG-ARRAY-3).
 * Otherwise only the PE is named (DIAG-ARRAY-4). mode is the arithmetic's name.
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
	} else if (e.r0 == array_last_row(d->cfg, e.r0) && search(s, got, bad, WEIGHT, &g)) {
		at.bit = g.bit;
		diag_find(d, "DIAG-ARRAY-3", at, "PE row %d column %d: weight bit %d %s in %s mode", e.r0, e.c0, g.bit, how_text(g.how),
		          mode);
	} else {
		diag_find(d, "DIAG-ARRAY-4", at, "PE row %d column %d: wrong sums in %s mode", e.r0, e.c0, mode);
	}
}

/*
 * Reports a row (row true) of PEs that is wrong up to its last column, or a column that is wrong up to
 * its last row or that of its half, from e.c0 or e.r0 on: with the bit of the activation or weight in the first wrong PE if
 * exactly one such fault explains all sums (DIAG-ARRAY-2, DIAG-ARRAY-3); if not and it is wrong from where words enter
 * on, with bit and slot of the skew buffer before it (DIAG-ARRAY-5); otherwise only the place
 * (DIAG-ARRAY-6).
 */
static void say_line(struct weft_diag *d, const struct array_set *s, const uint8_t *got, const bool *bad, struct extent e,
                     const char *mode, bool row)
{
	struct diag_place at = DIAG_NOWHERE;
	int start = row ? e.c0 : e.r0, line = row ? e.r0 : e.c0;
	const char *operand = row ? "activation" : "weight", *across = row ? "row" : "column", *along = row ? "column" : "row";
	const char *id = row ? "DIAG-ARRAY-2" : "DIAG-ARRAY-3";
	bool second = !row && d->cfg->has_pairs && start == s->n / 2;   /* where the weights of the lower half enter */
	struct guess g;

	at.row = e.r0;
	at.col = e.c0;
	if (search(s, got, bad, row ? ACT : WEIGHT, &g)) {
		at.bit = g.bit;
		diag_find(d, id, at, "PE row %d column %d: %s bit %d %s in %s mode, and from there on to the end of the %s", e.r0, e.c0, operand,
		          g.bit, how_text(g.how), mode, across);
	} else if ((start == 0 || second) && search(s, got, bad, row ? SKEW_ACT : SKEW_WEIGHT, &g)) {
		/* The lower half's words enter their skew buffers N/2 slots later. */
		int slot = second ? (g.phase + s->n / 2) % s->n : g.phase;
		at.bit = g.bit;
		diag_find(d, "DIAG-ARRAY-5", at, "%s %d: bit %d of the %s's skew buffer (slot %d) %s in %s mode", across, line, g.bit, operand,
		          slot, how_text(g.how), mode);
	} else {
		diag_find(d, "DIAG-ARRAY-6", at, "%s %d of the array: wrong sums from %s %d on in %s mode", across, line, along, start, mode);
	}
}

int array_judge(struct weft_diag *d, const struct array_set *s, const struct diag_out *out, const char *mode)
{
	bool *bad = calloc((size_t)(s->n * s->n), sizeof(*bad));

	if (!bad)
		return -ENOMEM;
	struct extent e = extent_of(s, out, bad);
	bool row = e.r0 == e.r1 && e.c1 == s->n - 1;
	bool col = e.c0 == e.c1 && (e.r1 == s->n - 1 || e.r1 == array_last_row(d->cfg, e.r0));
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
	return 0;
}

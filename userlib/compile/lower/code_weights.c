/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coded loads: which constants may be coded in memory, how long they become, and the code.
 *
 * A coded row is a sequence of units of N bits. Eight units state the widths of the next 2N words. Behind them, each of
 * these words has as many units as its width says. Source: include/spec/cmd.toml, load, field coded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userlib/compile/ir.h"

#define HEADER_UNITS 8         /* units that state the widths of 2N words, and units of a word of memory */

/* A row of constants is coded if that makes it at least 1/CODE_SAVES shorter. */
#define CODE_SAVES 16

/* How words are taken: each has n bytes, from each of which the centre is subtracted. */
struct words { int64_t n; uint8_t centre; };

/* Returns the fewest bits in which every byte of this word, less the centre, fits as a signed number. They are 0 if all
 * bytes equal the centre. */
static unsigned width_of(const uint8_t *word, struct words k)
{
	unsigned any = 0, bits = 0;

	for (int64_t i = 0; i < k.n; i++) {
		uint8_t v = (uint8_t)(word[i] - k.centre);
		any |= v;
		bits |= v & 0x80 ? ~v & 0x7fu : v;
	}
	return bits ? 33 - (unsigned)__builtin_clz(bits) : any ? 1 : 0;
}

/* Returns how many units the words from `from` on take, without those that state their widths. */
static int64_t count_units(const uint8_t *from, int64_t words, struct words k)
{
	int64_t units = 0;

	for (int64_t i = 0; i < words; i++)
		units += width_of(from + i * k.n, k);
	return units;
}

/*
 * Returns how many words of memory a coded row takes. The row has `words` words in the scratchpad, which take `units`
 * units without their widths. Its last word of memory may be partly unused.
 */
int64_t coded_words(const struct cc *cc, int64_t words, int64_t units)
{
	return ceil_div(units + HEADER_UNITS * ceil_div(words, 2 * cc->n), HEADER_UNITS);
}

/* Returns whether a row of so many words is at least 1/CODE_SAVES shorter in memory if it is coded, in so many units. */
bool code_pays(const struct cc *cc, int64_t words, int64_t units)
{
	return coded_words(cc, words, units) * CODE_SAVES <= words * (CODE_SAVES - 1);
}

/*
 * Find how long the node's constants become if they are coded. If its weights become short enough (code_pays()), nd->wt.code
 * then says where in cc->units the units of its records begin, one number for each column tile, and behind them those of
 * its weights. Call this for nodes whose records and weights lie in the constants as the scratchpad shall have them. Returns
 * 0 or -ENOMEM.
 */
int code_measure(struct cc *cc, struct node *nd)
{
	const uint8_t *rec = cc->consts.p + nd->wt.blob, *w = rec + nd->wt.rec_bytes;
	const struct words k = { cc->n, (uint8_t)nd->wt.w_zp };
	uint64_t at;
	int err = blob_reserve(&cc->units, (uint64_t)nd->wt.n_tiles * 2 * sizeof(uint32_t), sizeof(uint32_t), &at);

	if (err)
		return err;
	uint32_t *units = (uint32_t *)(void *)(cc->units.p + at);
	for (int64_t t = 0; t < nd->wt.n_tiles; t++) {
		units[t] = (uint32_t)count_units(rec + t * nd->wt.tile_rec_bytes, nd->wt.tile_rec_bytes / cc->n, k);
		units[nd->wt.n_tiles + t] = (uint32_t)count_units(w + t * nd->wt.tile_bytes, nd->wt.tile_bytes / cc->n, k);
	}
	int64_t words = nd->wt.n_tiles * nd->wt.tile_bytes / cc->n, sum = 0;
	for (int64_t t = 0; t < nd->wt.n_tiles; t++)
		sum += units[nd->wt.n_tiles + t];
	nd->wt.code = code_pays(cc, words, sum) ? 1 + at / sizeof(uint32_t) : 0;
	return 0;
}

/* Returns the units of the records (weights: false) or weights of the node's column tiles [tile, +n). Loads of the node may be coded (wt.code). */
int64_t code_units(const struct cc *cc, const struct node *nd, bool weights, int64_t tile, int64_t n)
{
	const uint32_t *units = (const uint32_t *)(const void *)cc->units.p + nd->wt.code - 1 + (weights ? nd->wt.n_tiles : 0);
	int64_t sum = 0;

	for (int64_t t = tile; t < tile + n; t++)
		sum += units[t];
	return sum;
}

/* Write the code of so many words from `from` on to `to`, whose bytes must be 0. */
static void encode(const uint8_t *from, int64_t words, struct words k, uint8_t *to)
{
	const int64_t n = k.n;
	uint8_t *widths = to;

	for (int64_t i = 0; i < words; i++, from += n) {
		unsigned width = width_of(from, k);
		if (i % (2 * n) == 0) {
			widths = to;
			to += n;
		}
		widths[i % (2 * n) / 2] |= (uint8_t)(width << 4 * (i & 1));
		for (unsigned b = 0; b < width; b++, to += n / 8)
			for (int64_t j = 0; j < n; j++)
				to[j / 8] |= (uint8_t)(((uint8_t)(from[j] - k.centre) >> b & 1) << j % 8);
	}
}

/*
 * Overwrite the row of constants that load l reads with its code. The bytes of the row that the code does not need become
 * 0. Returns 0 or -ENOMEM.
 */
int code_row(struct cc *cc, const struct weft_cmd_load *l)
{
	const int64_t bytes = l->row_bytes;
	uint8_t *row = cc->consts.p + l->dram_off;

	/* If no width were below 8, the code would be as long as the row and its widths. */
	uint8_t *code = calloc(1, (size_t)(bytes + cc->n * (1 + bytes / cc->n / (2 * cc->n) + 1)));

	if (!code)
		return -ENOMEM;
	encode(row, bytes / cc->n, (struct words){ cc->n, (uint8_t)l->centre }, code);
	memcpy(row, code, (size_t)bytes);
	free(code);
	return 0;
}

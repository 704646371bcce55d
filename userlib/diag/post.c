/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test of the post unit: every way through it, in every mode, with factors and shifts chosen so
 * that each bit of the product decides a result somewhere. Sums come from the array, which has been
 * tested without the post unit, and from the commands elt, pool and dw: whether those are wrong too
 * tells if the fault lies in the post unit or in the unit that feeds it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userlib/diag/ops.h"

/* Kinds of commands; SHORT are conv and dw with parameter records of 8 bytes. */
enum { CONV, ELT, POOL, DW, SHORT, N_OPS };

static const char *const op_names[N_OPS] = { "conv", "elt", "pool", "dw", "conv or dw with short records" };
static const char *const mode_names[] = { "int8", "int16x8", "float8" };

#define MAX_PIECES 256        /* the most commands of one mode whose results are compared */
#define TILES 61              /* column tiles of parameter records: as many as there are shifts, 2..62 */

/*
 * The results of one command: its kind (CONV, ELT ...) and mode, their offset in the arena and length in
 * bytes, the channels of a pixel and the bytes of an element.
 */
struct piece { int op, mode; size_t out, len; uint32_t channels, elem; };

/* The commands of one mode while they are put together. */
struct post_test {
	const struct weft_config *cfg;
	struct diag_stream s;
	struct piece piece[MAX_PIECES];
	int n_pieces;
	uint64_t seed;             /* state of the random generator */
	bool spread;               /* results go to random addresses from `out` on */
	uint32_t in, weights, params, b, out;      /* scratchpad addresses: input, weights, records, second addend, results */
};

/* Returns a random number from 0 to n - 1; 0 if n is 0. */
static uint32_t pick(struct post_test *t, uint32_t n)
{
	return n ? diag_random(&t->seed) % n : 0;
}

/*
 * Returns a random number of exactly `bits` bits (1..32), the highest of which is 1; 0 if bits is not
 * positive.
 */
static uint32_t of_bits(struct post_test *t, int bits)
{
	return bits <= 0 ? 0 : (UINT32_C(1) << (bits - 1)) | (diag_random(&t->seed) & ((UINT32_C(1) << (bits - 1)) - 1));
}

/* Returns v limited to lo..hi. */
static int clip(int v, int lo, int hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

/*
 * Adds len random bytes to the constants, and a load of them to scratchpad address sp. If most is not
 * 0, the bytes, as int8, lie in -most..most. t->seed advances; t->s.failed is set if there is no
 * memory.
 */
static void put_random(struct post_test *t, uint32_t sp, uint32_t len, int most)
{
	size_t off = diag_data(&t->s, NULL, len);

	for (uint32_t i = 0; i < len && !t->s.failed; i++)
		t->s.data[off + i] = (uint8_t)(most ? (int)pick(t, (uint32_t)(2 * most + 1)) - most : (int)diag_random(&t->seed));
	diag_load(&t->s, off, sp, len);
}

/*
 * Chooses random zero points y_zp for the first stage of the post unit and s_zp for the sum of two
 * addends (any int16, or -32..31 in int8), and, each in half of the cases, random limits y_min..y_max
 * and s_min..s_max within the type of p->mode; otherwise limits stay.
 */
static void limits(struct post_test *t, struct weft_cmd_post *p)
{
	int top = p->mode ? 32767 : 127;

	p->y_zp = p->mode ? (int16_t)diag_random(&t->seed) : (int32_t)pick(t, 64) - 32;
	p->s_zp = p->mode ? (int16_t)diag_random(&t->seed) : (int32_t)pick(t, 64) - 32;
	if (pick(t, 2)) {
		p->y_min = (int32_t)pick(t, (uint32_t)top) - top / 2 - (pick(t, 2) ? top / 2 : 0);
		p->y_max = p->y_min + (int32_t)pick(t, (uint32_t)(top - p->y_min));
	}
	if (pick(t, 2)) {
		p->s_min = (int32_t)pick(t, (uint32_t)top) - top / 2 - (pick(t, 2) ? top / 2 : 0);
		p->s_max = p->s_min + (int32_t)pick(t, (uint32_t)(top - p->s_min));
	}
}

/*
 * Sets p->add and the fields of a second addend but its address and steps: random pre_shift, zero points
 * and multipliers a_mul, b_mul and s_mul of 4 to 30 bits, and shifts (2..62) with which scaled addends
 * have a random number of bits (8 to 21) and the sum fits the type.
 */
static void addends(struct post_test *t, struct weft_cmd_post *p)
{
	int width = p->mode ? 16 : 8, target = 8 + (int)pick(t, 14), l[3];

	p->add = 1;
	p->pre_shift = (int32_t)pick(t, p->mode ? 15 : 22);
	for (int i = 0; i < 3; i++)
		l[i] = 4 + (int)pick(t, 27);
	p->a_zp = (int32_t)pick(t, 40) - 20;
	p->b_zp = (int32_t)pick(t, 40) - 20;
	p->a_mul = (int32_t)of_bits(t, l[0]);
	p->b_mul = (int32_t)of_bits(t, l[1]);
	p->s_mul = (int32_t)of_bits(t, l[2]);
	p->a_shift = clip(width - 1 + (int)p->pre_shift + l[0] - target, 2, 62);
	p->b_shift = clip(width - 1 + (int)p->pre_shift + l[1] - target, 2, 62);
	p->s_shift = clip(target + l[2] - (width - 2), 2, 62);
}

/*
 * Appends a copy of command c and a store of its results, and notes them in t->piece. op is its kind,
 * pixels the number of output pixels, and channels counts all channels of an output pixel in memory,
 * also those that the command does not write. With t->spread, the results' address is raised by a
 * random multiple of 8 below a quarter of the scratchpad. Aborts the process if there are more than
 * MAX_PIECES.
 */
static void add_piece(struct post_test *t, const struct weft_cmd *c, int op, uint32_t pixels, uint32_t channels)
{
	struct weft_cmd cmd = *c;
	uint32_t elem = (uint32_t)cmd.conv.post.out_x_stride / channels;

	if (t->n_pieces == MAX_PIECES)
		abort();                   /* the list of commands is constant, so this is a mistake in the source */
	/* Results go to many addresses, unless bytes around them are to be compared as well. */
	if (t->spread)
		cmd.conv.post.out_base += (int32_t)(pick(t, t->cfg->sp_bytes / 4) / 8 * 8);
	diag_add(&t->s, &cmd);
	struct piece *p = &t->piece[t->n_pieces++];
	*p = (struct piece){ op, cmd.conv.post.mode, 0, (size_t)pixels * channels * elem, channels, elem };
	p->out = diag_store(&t->s, (uint32_t)cmd.conv.post.out_base, (uint32_t)p->len);
}

/*
 * Returns the parameter record of a lane with this shift, a random positive multiplier of at most max_m bits and a random bias
 * of at most max_v bits and either sign. Their product, shifted, has 5 to 7 bits beside its sign in mode int8 and 13 to 15 in int16x8,
 * so that results fill the type; large shifts leave fewer bits.
 */
static struct weft_param record(struct post_test *t, int mode, int shift, int max_v, int max_m)
{
	/* bias * mul >> shift shall have `width` bits; lo..hi are the bits of mul with which the bias stays in range. */
	const int width = mode ? 14 : 6, lo = clip(shift + width - max_v, 1, max_m), hi = clip(shift + width - 2, lo, max_m);
	const int m_bits = lo + (int)pick(t, (uint32_t)(hi - lo + 1)), v_bits = clip(shift + width - m_bits + 1, 1, max_v);
	const uint32_t mul = of_bits(t, m_bits);
	int64_t v = v_bits > 31 ? (int64_t)((uint64_t)of_bits(t, v_bits - 24) << 24 | (diag_random(&t->seed) & 0xffffff))
	                        : (int64_t)of_bits(t, v_bits);

	if (diag_random(&t->seed) & 1)
		v = -v;
	return (struct weft_param){ .bias = v, .mul = (int32_t)mul, .shift = (uint8_t)shift };
}

/*
 * Adds n parameter records, one for each lane, for column tile number `tile` (from 0) to the constants,
 * and a load of them to the scratchpad behind the records of the tiles before it, which begin at
 * t->params. Four neighbouring lanes share a shift: lanes 4j..4j + 3 have 2 + (tile + j) % TILES, so
 * that over TILES tiles every lane sees all shifts 2..62. Multipliers have at most 31 bits and biases at most 30. If scale16, the
 * command's field, is set, multipliers have at most 15 bits and biases at most 46.
 */
static void records(struct post_test *t, uint32_t n, int mode, bool scale16, int tile)
{
	size_t off = diag_data(&t->s, NULL, (size_t)n * WEFT_PARAM_BYTES);

	for (uint32_t i = 0; i < n && !t->s.failed; i++) {
		const int shift = 2 + (int)((uint32_t)tile + (i / 4)) % TILES;
		const struct weft_param p = record(t, mode, shift, scale16 ? 46 : 30, scale16 ? 15 : 31);
		weft_param_write(&p, t->s.data + off + i * WEFT_PARAM_BYTES);
	}
	diag_load(&t->s, off, t->params + (uint32_t)tile * n * WEFT_PARAM_BYTES, n * WEFT_PARAM_BYTES);
}

/*
 * Adds input, weights and records for convolutions of one group of N pixels and `tiles` column tiles,
 * in which each lane has its own record, and then two such commands, the second with random zero points
 * and limits, and, if the configuration has column tiles in pairs, a third one with these. double_round and scale16 are the command's fields.
 */
static void convs(struct post_test *t, int mode, bool double_round, bool scale16, int tiles)
{
	const uint32_t n = t->cfg->n, run = n * diag_in_bytes(mode);

	put_random(t, t->in, n * run, mode == WEFT_POST_MODE_INT16 ? 0 : 3);
	put_random(t, t->weights, n * n * (uint32_t)tiles, 2);
	for (int k = 0; k < tiles; k++)
		records(t, n, mode, scale16, k);
	struct weft_cmd c = diag_conv(t->cfg, t->in, t->weights, t->params, t->out, mode, (int)n, run);
	c.conv.post.oc = (int32_t)n * tiles;
	c.conv.post.out_x_stride *= tiles;
	c.conv.post.out_y_stride *= tiles;
	c.conv.post.double_round = double_round;
	c.conv.post.scale16 = scale16;
	add_piece(t, &c, CONV, n, n * (uint32_t)tiles);
	limits(t, &c.conv.post);
	add_piece(t, &c, CONV, n, n * (uint32_t)tiles);
	if (!t->cfg->has_pairs)
		return;
	/* Two tiles at a time take their records by turns. The weights lie in another order, which is as good as this one. */
	c.conv.pairs = 1;
	add_piece(t, &c, CONV, n, n * (uint32_t)tiles);
}

/*
 * Adds conv and elt commands with fewer channels than the array has lanes, all with the same output, which
 * is filled with random bytes before most of them (the others find what the command before has left): lanes
 * without a channel must not write anything. The convolutions come once without and once with a second
 * addend. t->spread is false meanwhile, and true at the end.
 */
static void part_of_the_lanes(struct post_test *t, int mode)
{
	const uint32_t n = t->cfg->n, elem = diag_out_bytes(mode);

	t->spread = false;
	for (uint32_t channels = 1; channels < n; channels++) {
		struct weft_cmd c = diag_conv(t->cfg, t->in, t->weights, t->params, t->out, mode, (int)n, n * diag_in_bytes(mode));
		if (channels % 4 == 1)
			put_random(t, t->out, n * n * elem, 0);
		c.conv.post.oc = (int32_t)channels;
		limits(t, &c.conv.post);
		add_piece(t, &c, CONV, n, n);
		/* The same with a second addend, which goes through the row buffers. */
		addends(t, &c.conv.post);
		c.conv.post.b_base = (int32_t)t->in;
		c.conv.post.b_x_stride = c.conv.post.out_x_stride;
		c.conv.post.b_y_stride = c.conv.post.out_y_stride;
		put_random(t, t->out, n * n * elem, 0);
		add_piece(t, &c, CONV, n, n);
	}
	for (uint32_t channels = 1; channels < n; channels += channels % 4 == 3 ? 5 : 1) {
		struct weft_cmd c = diag_elt(t->in, t->out, mode, 4, 1, n);
		put_random(t, t->out, 4 * n * elem, 0);
		c.elt.post.oc = (int32_t)channels;
		add_piece(t, &c, ELT, 4, n);
	}
	t->spread = true;
}

/*
 * Adds twelve convolutions with a second addend, with other records, scales and shifts each; the last
 * six have random zero points and limits. Input and weights are those of the commands before.
 */
static void convs_with_addend(struct post_test *t, int mode)
{
	const uint32_t n = t->cfg->n, run = n * diag_in_bytes(mode);

	put_random(t, t->b, n * n * 2, 0);
	for (int k = 0; k < 12; k++) {
		struct weft_cmd c = diag_conv(t->cfg, t->in, t->weights, t->params + (uint32_t)(4 * k) * n * WEFT_PARAM_BYTES, t->out, mode,
		                              (int)n, run);
		if (k > 5)
			limits(t, &c.conv.post);
		addends(t, &c.conv.post);
		c.conv.post.b_base = (int32_t)t->b;
		c.conv.post.b_x_stride = c.conv.post.out_x_stride;
		c.conv.post.b_y_stride = c.conv.post.out_y_stride;
		add_piece(t, &c, CONV, n, n);
	}
}

/*
 * Adds 16 elt commands over random elements, with and without a second addend (in half of these
 * subtracted, if the configuration can), with and without limits, and without an addend also with
 * double rounding, so that the same stages of the post unit are fed by the vector engine.
 */
static void elts(struct post_test *t, int mode)
{
	const uint32_t n = t->cfg->n, pixels = 8;

	put_random(t, t->in, n * pixels * 2, 0);
	put_random(t, t->b, n * pixels * 2, 0);
	for (int k = 0; k < 16; k++) {
		struct weft_cmd c = diag_elt(t->in, t->out, mode, pixels, 1, n);
		struct weft_cmd_post *p = &c.elt.post;
		if (k & 2)
			limits(t, p);
		addends(t, p);
		p->add = k & 1;
		p->sub = p->add && t->cfg->has_sub && k & 8;
		p->double_round = !p->add && k & 4;
		if (!p->add)
			p->a_shift = clip((mode ? 15 : 7) + (int)p->pre_shift + 31 - __builtin_clz((uint32_t)p->a_mul | 1) - (mode ? 14 : 6), 2, 62);
		p->b_base = (int32_t)t->b;
		p->b_x_stride = c.elt.in_x_stride;
		p->b_y_stride = c.elt.in_y_stride;
		add_piece(t, &c, ELT, pixels, n);
	}
}

/*
 * Adds two int8 elt commands over 256 random elements: one that looks values up in a table, and one
 * that multiplies two tensors; each only if the configuration has it.
 */
static void lookups(struct post_test *t)
{
	const uint32_t n = t->cfg->n, pixels = 256 / n;

	put_random(t, t->in, n * pixels, 0);
	put_random(t, t->b, 256, 0);
	for (int k = 0; k < 2; k++) {
		struct weft_cmd c = diag_elt(t->in, t->out, 0, pixels, 1, n);
		struct weft_cmd_post *p = &c.elt.post;
		if (k ? !t->cfg->has_mul : !t->cfg->has_table)
			continue;
		c.elt.table = !k;
		c.elt.mul = k;
		p->a_zp = k ? (int32_t)pick(t, 40) - 20 : 0;
		p->b_zp = (int32_t)pick(t, 40) - 20;
		p->a_mul = 1 << 30;
		p->a_shift = k ? 38 : 30;
		p->b_base = (int32_t)t->b;
		p->b_x_stride = c.elt.in_x_stride;
		p->b_y_stride = c.elt.in_y_stride;
		add_piece(t, &c, ELT, pixels, n);
	}
}

/*
 * Adds two elt commands and a conv whose exact results often lie halfway between two integers, some
 * above an odd one, to be rounded to even: in the first stage and, with a second addend, in the sum.
 * They come from the vector engine and from the array: if both are wrong, it is the post unit's fault.
 * Nothing is added if the configuration cannot round to even.
 */
static void ties(struct post_test *t, int mode)
{
	const uint32_t n = t->cfg->n, pixels = n, eighths = t->params + TILES * n * WEFT_PARAM_BYTES;

	if (!t->cfg->has_even)
		return;
	put_random(t, t->in, n * pixels * 2, 0);
	put_random(t, t->b, n * pixels * 2, 0);
	for (int add = 0; add < 2; add++) {
		struct weft_cmd c = diag_elt(t->in, t->out, mode, pixels, 1, n);
		struct weft_cmd_post *p = &c.elt.post;
		p->add = add;
		p->even = !add;
		p->s_even = add;
		p->a_mul = p->b_mul = p->s_mul = 1 << 30;
		p->a_shift = 31 - add;
		p->b_shift = 30;
		p->s_shift = 31;
		p->b_base = (int32_t)t->b;
		p->b_x_stride = c.elt.in_x_stride;
		p->b_y_stride = c.elt.in_y_stride;
		add_piece(t, &c, ELT, pixels, n);
	}
	put_random(t, t->weights, n * n, 6);
	diag_params(&t->s, eighths, n, 1 << 30, 33, 0);
	struct weft_cmd c = diag_conv(t->cfg, t->in, t->weights, eighths, t->out, mode, (int)n, n * diag_in_bytes(mode));
	c.conv.post.even = 1;
	add_piece(t, &c, CONV, n, n);
}

/*
 * Adds eight pool commands of 2x2 (sum and maximum by turns) and six dw commands of 3x3 with different
 * factors, zero points and limits, and, if the configuration has larger depthwise kernels, three dw of
 * 15x9, 5x7 and 5x5 (rows by columns). Records must have been loaded by convs().
 */
static void pools_and_dws(struct post_test *t, int mode)
{
	const uint32_t n = t->cfg->n, size = 6;

	put_random(t, t->in, size * size * n * 2, 0);
	put_random(t, t->weights, 9 * n, mode ? 0 : 7);
	for (int k = 0; k < 8; k++) {
		struct weft_cmd c = diag_pool(t->in, t->out, mode, size - 1, size - 1, n);
		c.pool.n_kx = c.pool.n_ky = 2;
		c.pool.kx_step = c.pool.ox_step;
		c.pool.oy_step = c.pool.ky_step = c.pool.ox_step * (int32_t)size;
		c.pool.sum = k & 1;
		if (k & 2)
			limits(t, &c.pool.post);
		c.pool.post.y_zp = c.pool.sum ? c.pool.post.y_zp : 0;
		c.pool.x_zp = c.pool.sum ? (int32_t)pick(t, 20) - 10 : 0;
		c.pool.post.a_mul = (int32_t)of_bits(t, 6 + 3 * k);
		c.pool.post.a_shift = clip(6 + 3 * k + 1, 2, 62);
		add_piece(t, &c, POOL, (size - 1) * (size - 1), n);
	}
	for (int k = 0; k < 6; k++) {
		struct weft_cmd c = diag_dw(t->in, t->weights, t->params + (uint32_t)(7 * k) * n * WEFT_PARAM_BYTES, t->out, mode, n, size, size);
		c.dw.post.scale16 = mode == WEFT_POST_MODE_INT16 && k < 3;
		c.dw.post.double_round = !c.dw.post.scale16 && k & 1;
		if (k & 2)
			limits(t, &c.dw.post);
		add_piece(t, &c, DW, (size - 2) * (size - 2), n);
	}
	if (!t->cfg->has_dwk)
		return;
	/* Larger kernels: sums of a row are made in as many passes as the kernel has rows. */
	put_random(t, t->weights, 15 * 9 * n, mode ? 0 : 7);
	for (int k = 0; k < 3; k++) {
		struct weft_cmd c = diag_dw(t->in, t->weights, t->params + (uint32_t)(5 * k) * n * WEFT_PARAM_BYTES, t->out, mode, n, size, size);
		c.dw.n_ky = k ? 5 : 15;
		c.dw.n_kx = 9 - 2 * k;
		c.dw.iy_start = -c.dw.n_ky / 2;
		c.dw.ix_start = -c.dw.n_kx / 2;
		add_piece(t, &c, DW, (size - 2) * (size - 2), n);
	}
}

enum { SHORT_TILES = 16 };     /* column tiles whose records have 8 bytes; with 4 lanes or more they see all shifts that fit */

/*
 * Adds parameter records of 8 bytes, whose biases have at most 24 bits, in the place of the records of convs(). Two conv commands of
 * SHORT_TILES column tiles read all of them, each from another address, and three dw commands read some. Does nothing if the
 * configuration has no such records.
 */
static void short_records(struct post_test *t, int mode)
{
	const uint32_t n = t->cfg->n, run = n * diag_in_bytes(mode), size = 6, tile = n * WEFT_PARAM_SHORT_BYTES;

	if (!t->cfg->has_p_short)
		return;
	put_random(t, t->in, n * run, mode == WEFT_POST_MODE_INT16 ? 0 : 3);
	put_random(t, t->weights, n * n * SHORT_TILES, 2);
	const size_t off = diag_data(&t->s, NULL, (size_t)SHORT_TILES * tile);
	for (uint32_t i = 0; i < n * SHORT_TILES && !t->s.failed; i++) {
		const struct weft_param p = record(t, mode, 2 + (int)(i / 4) % 52, 22, 31);
		const struct weft_param_short brief = { .bias = (int32_t)p.bias, .mul = p.mul, .shift = p.shift };
		weft_param_short_write(&brief, t->s.data + off + i * WEFT_PARAM_SHORT_BYTES);
	}
	for (int odd = 0; odd < 2; odd++) {
		const uint32_t at = t->params + (odd ? tile : 0);
		diag_load(&t->s, off, at, SHORT_TILES * tile);
		struct weft_cmd c = diag_conv(t->cfg, t->in, t->weights, at, t->out, mode, (int)n, run);
		c.conv.p_short = 1;
		c.conv.post.oc = (int32_t)n * SHORT_TILES;
		c.conv.post.out_x_stride *= SHORT_TILES;
		c.conv.post.out_y_stride *= SHORT_TILES;
		c.conv.post.double_round = odd;
		add_piece(t, &c, SHORT, n, n * SHORT_TILES);
	}
	put_random(t, t->in, size * size * run, 0);
	put_random(t, t->weights, 9 * n, mode ? 0 : 7);
	for (uint32_t k = 0; k < 3; k++) {
		struct weft_cmd c = diag_dw(t->in, t->weights, t->params + (1 + 3 * k) * tile, t->out, mode, n, size, size);
		c.dw.p_short = 1;
		add_piece(t, &c, SHORT, (size - 2) * (size - 2), n);
	}
}

/* ---- float8 ---- */

/*
 * Returns a random fp16 bit pattern, sign-extended: in seven of eight cases of moderate size (2^-5 to
 * 2^5), otherwise any, infinities and NaN included.
 */
static int32_t half_pattern(struct post_test *t)
{
	/* Mostly of moderate size; one in eight is any pattern. */
	uint32_t v = pick(t, 8) ? (pick(t, 2) << 15) | ((10 + pick(t, 10)) << 10) | pick(t, 1024) : pick(t, 65536);

	return (int16_t)v;
}

/*
 * Chooses output format and saturation for the k-th float command, sets its output steps to a dense
 * tensor of that format, and for every third k chooses random limits around 0.
 */
static void float_limits(struct post_test *t, struct weft_cmd_post *p, int k)
{
	p->out_fmt = k & 1 ? 4 : k / 2 % 5;
	p->saturate = k / 5 & 1;
	p->out_x_stride = p->oc * (p->out_fmt == WEFT_POST_OUT_FMT_FP16 ? 2 : 1);
	p->out_y_stride = p->out_x_stride * p->ow;
	if (k % 3 == 2) {
		p->y_min = p->s_min = (int16_t)(0x8000 | (0x4000 + pick(t, 0x1800)));
		p->y_max = p->s_max = (int32_t)(0x3000 + pick(t, 0x2800));
	}
}

/*
 * Adds n parameter records, one for each lane, with random fp16 biases from half_pattern() and
 * all other fields 0, to the constants, and a load of them to scratchpad address t->params.
 */
static void float_records(struct post_test *t, uint32_t n)
{
	size_t off = diag_data(&t->s, NULL, (size_t)n * WEFT_PARAM_BYTES);

	for (uint32_t i = 0; i < n && !t->s.failed; i++) {
		const struct weft_param p = { .bias = half_pattern(t) };
		weft_param_write(&p, t->s.data + off + i * WEFT_PARAM_BYTES);
	}
	diag_load(&t->s, off, t->params, n * WEFT_PARAM_BYTES);
}

/*
 * Adds 20 elt commands, each of which converts all 256 patterns of one of the four float8 formats into
 * one of these or into fp16, every second pair with saturation.
 */
static void conversions(struct post_test *t)
{
	const uint32_t n = t->cfg->n;
	size_t off = diag_data(&t->s, NULL, 256);

	for (uint32_t i = 0; i < 256 && !t->s.failed; i++)
		t->s.data[off + i] = (uint8_t)i;
	diag_load(&t->s, off, t->in, 256);
	for (int from = 0; from < 4; from++)
		for (int to = 0; to < 5; to++) {
			struct weft_cmd c = diag_elt(t->in, t->out, 2, 256 / n, 1, n);
			c.elt.post.x_fmt = from;
			c.elt.post.out_fmt = to;
			c.elt.post.saturate = (from + to) & 1;
			c.elt.post.out_x_stride = (int32_t)n * (to == 4 ? 2 : 1);
			c.elt.post.out_y_stride = c.elt.post.out_x_stride * (int32_t)(256 / n);
			add_piece(t, &c, ELT, 256 / n, n);
		}
}

/*
 * Adds the commands of float8 mode: conversions(), and 20 times one conv, elt, pool and dw each, with
 * random operands (infinities and NaN among them), biases, formats, limits and scales; every second
 * time conv and elt have a second addend.
 */
static void floats(struct post_test *t)
{
	const uint32_t n = t->cfg->n, size = 6;

	conversions(t);
	put_random(t, t->b, size * size * n * 2, 0);
	for (int k = 0; k < 20; k++) {
		put_random(t, t->in, size * size * n * 2, 0);
		put_random(t, t->weights, n * n > 9 * n ? n * n : 9 * n, 0);
		float_records(t, n);
		struct weft_cmd e = diag_elt(t->in, t->out, 2, size, size, n), p = diag_pool(t->in, t->out, 2, size, size, n),
		                w = diag_dw(t->in, t->weights, t->params, t->out, 2, n, size, size),
		                c = diag_conv(t->cfg, t->in, t->weights, t->params, t->out, 2, (int)n, n);
		struct weft_cmd *all[] = { &c, &e, &p, &w };
		for (int i = 0; i < 4; i++) {
			float_limits(t, &all[i]->conv.post, k + i);
			all[i]->conv.post.x_fmt = (k + i) % (i == CONV || i == DW ? 4 : 5);
			all[i]->conv.post.w_fmt = i == CONV || i == DW ? (k >> 1) % 4 : 0;
		}
		for (int i = 0; i < 4; i++)
			if (all[i]->conv.post.x_fmt == WEFT_POST_X_FMT_FP16) {
				e.elt.in_x_stride *= i == ELT ? 2 : 1;
				e.elt.in_y_stride *= i == ELT ? 2 : 1;
				p.pool.ox_step *= i == POOL ? 2 : 1;
				p.pool.oy_step *= i == POOL ? 2 : 1;
			}
		/* Scales that give sums of moderate size, and every fifth time any scale. */
		c.conv.log2_scale = w.dw.log2_scale = k % 5 == 4 ? (int32_t)pick(t, 63) - 32 : (int32_t)pick(t, 12) - 8;
		for (int i = 0; i < 2; i++)
			if (k & 1) {
				struct weft_cmd_post *q = &all[i]->conv.post;
				q->add = 1;
				q->b_fmt = (k + i) % 5;
				q->b_base = (int32_t)t->b;
				q->b_x_stride = q->oc * (q->b_fmt == WEFT_POST_B_FMT_FP16 ? 2 : 1);
				q->b_y_stride = q->b_x_stride * q->ow;
			}
		add_piece(t, &c, CONV, n, n);
		add_piece(t, &e, ELT, size * size, n);
		add_piece(t, &p, POOL, size * size, n);
		add_piece(t, &w, DW, (size - 2) * (size - 2), n);
	}
}

/* ---- judging ---- */

/*
 * What is wrong with one kind of command: how many bytes, in which lanes (one bit each), and the
 * first wrong byte, at offset `first` of the results of number `piece`.
 */
struct wrong { uint32_t bytes; uint64_t lanes; size_t first; int piece; };

/*
 * Compares all results with the model's. For each kind of command, w[kind], which starts as zeros, gets
 * the number of wrong bytes, the lanes that they are in (channel modulo N, one bit each), and the first
 * one: its command and its offset in that command's results.
 */
static void count_wrong(const struct post_test *t, const struct diag_out *out, struct wrong *w)
{
	for (int i = 0; i < t->n_pieces; i++) {
		const struct piece *p = &t->piece[i];
		struct wrong *x = &w[p->op];
		for (size_t k = 0; k < p->len; k++)
			if (out->got[p->out + k] != out->want[p->out + k]) {
				if (!x->bytes++) {
					x->first = k;
					x->piece = i;
				}
				x->lanes |= UINT64_C(1) << (k / p->elem % p->channels % t->cfg->n);
			}
	}
}

/*
 * Reports one finding if results differ from the model's. If only conv and dw with parameter records of 8 bytes are wrong, the
 * fault lies in how such records are read (DIAG-POST-3). If only one kind of command is wrong and it is not conv, the fault lies in
 * that command of the vector engine (DIAG-VEC-1). Otherwise it lies in the post unit, in one lane (DIAG-POST-1) or in several
 * (DIAG-POST-2). In float8 mode nothing is reported if conv alone is
 * wrong: the array's float8 sums have a test of their own. mode indexes mode_names.
 */
static void judge(struct weft_diag *d, const struct post_test *t, const struct diag_out *out, int mode)
{
	struct wrong w[N_OPS] = { { 0 } };
	struct diag_place at = DIAG_NOWHERE;
	int n_wrong = 0, n_vector = 0, op = N_OPS;
	uint64_t lanes = 0;

	count_wrong(t, out, w);
	for (int i = N_OPS - 1; i >= 0; i--)
		if (w[i].bytes) {
			n_wrong++;
			n_vector += i != CONV && i != SHORT;
			lanes |= w[i].lanes;
			op = i;
		}
	if (!n_wrong || (mode == WEFT_POST_MODE_FLOAT8 && n_vector == 0))
		return;                    /* float8 sums of the array have a test of their own */
	if (n_wrong == 1 && op != CONV) {
		const struct piece *p = &t->piece[w[op].piece];
		diag_find(d, op == SHORT ? "DIAG-POST-3" : "DIAG-VEC-1", at, "%s in %s mode: %u bytes of the results are wrong, first 0x%02x, not 0x%02x; other commands' are right",
		          op_names[op], mode_names[mode], w[op].bytes, out->got[p->out + w[op].first], out->want[p->out + w[op].first]);
	} else if (!(lanes & (lanes - 1))) {
		at.col = __builtin_ctzll(lanes);
		diag_find(d, "DIAG-POST-1", at, "post unit lane %d: wrong results in %s mode, first of a %s", at.col, mode_names[mode],
		          op_names[op]);
	} else {
		diag_find(d, "DIAG-POST-2", at, "post unit: wrong results in %s mode in %d lanes, first of a %s", mode_names[mode],
		          __builtin_popcountll(lanes), op_names[op]);
	}
}

/*
 * Reports that the commands of this mode did not reach their end, as DIAG-RUN-6, with the fault in r
 * and its command, or, if there is none, after how many commands.
 */
static void stopped(struct weft_diag *d, const struct weft_job_result *r, int mode)
{
	if (r->fault_code)
		diag_find(d, "DIAG-RUN-6", DIAG_NOWHERE, "post unit in %s mode: fault %s of unit %s at command %u", mode_names[mode],
		          weft_fault_name(r->fault_code), weft_unit_name(r->fault_unit), r->fault_cmd);
	else
		diag_find(d, "DIAG-RUN-6", DIAG_NOWHERE, "post unit in %s mode: does not end after %u commands", mode_names[mode],
		          r->counters.cmds);
}

/*
 * Runs the test's commands of one arithmetic mode in one stream and reports what is wrong (judge), or
 * that the stream does not end (stopped). Returns 0 whatever it found, or a negative errno as
 * diag_exec().
 */
static int run_mode(struct weft_diag *d, int mode)
{
	const uint32_t sp = d->cfg->sp_bytes;
	struct post_test *t = calloc(1, sizeof(*t));
	struct diag_out out = { 0 };

	if (!t)
		return -ENOMEM;
	*t = (struct post_test){ .cfg = d->cfg, .seed = 0x5eed0001u + (unsigned)mode, .in = 0, .weights = sp / 8, .params = sp / 4,
		.b = sp * 7 / 16, .out = sp / 2, .spread = true };
	if (mode == WEFT_POST_MODE_FLOAT8) {
		floats(t);
	} else {
		convs(t, mode, false, false, TILES);
		convs(t, mode, true, false, TILES);
		convs(t, mode, true, false, TILES);
		if (mode == WEFT_POST_MODE_INT16)
			convs(t, mode, false, true, TILES);
		part_of_the_lanes(t, mode);
		convs_with_addend(t, mode);
		elts(t, mode);
		ties(t, mode);
		if (!mode)
			lookups(t);
		pools_and_dws(t, mode);
		short_records(t, mode);
	}
	int err = diag_exec(d, &t->s, &out);
	if (err == DIAG_STOPPED)
		stopped(d, &out.job, mode);
	if (err == DIAG_RAN)
		judge(d, t, &out, mode);
	diag_out_free(&out);
	free(t);
	return err < 0 ? err : 0;
}

/*
 * Test post: the post unit in int8, int16 and float8, as far as the configuration has these modes; a
 * mode is left out if an earlier one failed. Findings go to d->r. Returns 0 whatever it found, or a
 * negative errno as diag_exec().
 */
int diag_post(struct weft_diag *d)
{
	int err = run_mode(d, WEFT_POST_MODE_INT8);

	if (!err && d->cfg->has_int16 && d->r->state == WEFT_DIAG_PASSED)
		err = run_mode(d, WEFT_POST_MODE_INT16);
	if (!err && d->cfg->has_fp8 && d->r->state == WEFT_DIAG_PASSED)
		err = run_mode(d, WEFT_POST_MODE_FLOAT8);
	return err;
}

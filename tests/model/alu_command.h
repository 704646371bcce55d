/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random alu commands: operands dense, broadcast, reversed or strided, each in its
 * own quarter of the scratchpad; half of the reductions with their operand dense along
 * the axis.
 */
#ifndef WEFT_TESTS_MODEL_ALU_COMMAND_H
#define WEFT_TESTS_MODEL_ALU_COMMAND_H

#include "brute.h"

static const char *const names[] = {
	"move", "add", "sub", "rsub", "mul", "max", "min", "abs", "and", "or", "xor", "shl", "shr", "eq", "gt", "ge",
	"select", "clz", "rescale", "lookup", "interp", "scatter", "sum", "rmax", "rmin", "rand", "ror", "dot", "argmax",
};
#define N_FUNCS (sizeof(names) / sizeof(names[0]))

static inline int func_of(const char *name)
{
	int i = 0;

	while (strcmp(names[i], name))
		i++;
	return i;
}

static inline bool is(const struct weft_cmd_alu *c, const char *name)
{
	return !strcmp(names[c->func], name);
}

static const int32_t sizes[] = {1, 2, 4, 8, 1, 2, 4};

static inline int32_t step_of(int32_t s)
{
	return s >= 1 << 19 ? s - (1 << 20) : s;
}


/* One operand of the test: the fields of c, by hand. */
struct side { int32_t base, s[4], type, zp; };

/* An operand of dense, broadcast, reversed or strided dimensions that stays in its quarter; dimension
 * `first` is most often dense. */
static inline void random_side(struct rng *r, struct side *s, const int32_t n[4], int32_t base, int first, bool out)
{
	int32_t step, order[4] = {first, !first, 2, 3};

	s->type = rng_int(r, 0, 6);
	s->zp = rng_int(r, 0, 2) ? 0 : rng_int(r, -65536, 65535);
	s->base = base + rng_int(r, 0, 31);
	step = sizes[s->type];
	for (int k = 3; k > 0; k--) {
		int j = rng_int(r, 0, 5) ? k : rng_int(r, 0, k), t = order[k];
		order[k] = order[j];
		order[j] = t;
	}
	for (int k = 0; k < 4; k++) {
		int32_t d = order[k], how = rng_int(r, 0, 9);

		s->s[d] = step;
		if (!out && how == 0)
			s->s[d] = 0;
		if (how == 1 && n[d] > 1) {
			s->base += (n[d] - 1) * step;
			s->s[d] = (1 << 20) - step;
		}
		step = step * n[d] + (how == 2 ? rng_int(r, 0, 9) : 0);
	}
}

static inline void set_counts(struct rng *r, struct weft_cmd_alu *c, bool along)
{
	c->n0 = rng_int(r, 1, along ? 5 : 40);
	c->n1 = rng_int(r, 1, along ? 100 : 7);
	c->n2 = rng_int(r, 1, 5);
	c->n3 = rng_int(r, 1, 3);
}

static inline void set_sides(struct rng *r, int32_t sp_bytes, struct weft_cmd_alu *c, bool along)
{
	int32_t n[4] = {c->n0, c->n1, c->n2, c->n3}, part = sp_bytes / 4, span = c->idx_last + 2;
	int32_t flat[4] = {c->n0, span, c->n2, c->n3}, one_row[4] = {c->n0, 1, c->n2, c->n3};
	bool reads_index = is(c, "lookup") || is(c, "interp"), reduces = c->func >= func_of("sum");
	struct side s;

	random_side(r, &s, n, 0, along, false);
	c->a_base = s.base, c->a_s0 = s.s[0], c->a_s1 = s.s[1], c->a_s2 = s.s[2], c->a_s3 = s.s[3];
	c->a_type = s.type, c->a_zp = s.zp;
	random_side(r, &s, reads_index ? flat : n, part, 0, false);
	c->b_base = s.base, c->b_s0 = s.s[0], c->b_s1 = s.s[1], c->b_s2 = s.s[2], c->b_s3 = s.s[3];
	c->b_type = s.type, c->b_zp = s.zp;
	if (reads_index) {
		c->idx_step = step_of(c->b_s1) < 0 ? 0 : c->b_s1;
		c->b_s1 = 0;
	}
	random_side(r, &s, n, 2 * part, 0, false);
	c->c_base = s.base, c->c_s0 = s.s[0], c->c_s1 = s.s[1], c->c_s2 = s.s[2], c->c_s3 = s.s[3], c->c_type = s.type;
	random_side(r, &s, is(c, "scatter") ? flat : reduces ? one_row : n, 3 * part, 0, true);
	c->out_base = s.base, c->out_s0 = s.s[0], c->out_s1 = s.s[1], c->out_s2 = s.s[2], c->out_s3 = s.s[3];
	c->out_type = s.type, c->out_zp = s.zp;
	if (is(c, "scatter")) {
		c->idx_step = step_of(c->out_s1) < 0 ? 0 : c->out_s1;
		c->out_s1 = 0;
		if (!c->idx_step)
			c->n1 = c->n2 = c->n3 = 1;
	}
}

/* Make a lookup in one dense table of up to 256 entries, of many elements, some of them with the table at the scratchpad's end. */
static inline void one_table(struct rng *r, int32_t sp_bytes, struct weft_cmd_alu *c)
{
	int32_t size = sizes[c->b_type];

	c->b_s0 = c->b_s2 = c->b_s3 = 0;
	c->idx_step = size;
	if (!rng_int(r, 0, 4)) {
		c->b_base = sp_bytes - (c->idx_last + 1) * size - rng_int(r, 0, 20);
		/* The quarter of the result ends there. */
		c->out_base -= sp_bytes / 4, c->c_base -= sp_bytes / 4;
	}
}

/* Let b be what a is, or nearly so: the same but along one dimension, along which it stays where it is. */
static inline void make_twins(struct rng *r, struct weft_cmd_alu *c)
{
	int other = rng_int(r, 0, 7);

	c->b_base = c->a_base, c->b_type = c->a_type;
	c->b_s0 = other == 0 ? 0 : c->a_s0;
	c->b_s1 = other == 1 ? 0 : c->a_s1;
	c->b_s2 = other == 2 ? 0 : c->a_s2;
	c->b_s3 = other == 3 ? 0 : c->a_s3;
}

static inline int32_t most32(int32_t a, int32_t b)
{
	return a > b ? a : b;
}

static inline void random_alu(struct rng *r, int32_t sp_bytes, struct weft_cmd *cmd, int func)
{
	struct weft_cmd_alu *c = &cmd->alu;
	bool along = func >= func_of("sum") && rng_int(r, 0, 1), table = func == func_of("lookup") && rng_int(r, 0, 1);

	weft_cmd_init(cmd, WEFT_CMD_ALU);
	c->func = func;
	set_counts(r, c, along);
	c->idx_last = rng_int(r, 0, is(c, "interp") ? 511 : 20);
	if (is(c, "interp"))
		c->n0 = rng_int(r, 1, 3), c->n2 = c->n3 = 1;
	if (table)
		c->n0 = rng_int(r, 240, 300), c->n1 = rng_int(r, 1, 2), c->n2 = c->n3 = 1, c->idx_last = rng_int(r, 0, rng_int(r, 0, 1) ? 255 : 260);
	/* Elements of 8 bytes, gaps between rows. */
	while (!table && c->n0 * most32(c->n1, c->idx_last + 2) * c->n2 * c->n3 * 10 > sp_bytes / 4)
		c->n0 = (c->n0 + 1) / 2, c->n3 = (c->n3 + 1) / 2;
	set_sides(r, sp_bytes, c, along);
	if (table)
		one_table(r, sp_bytes, c);
	else if (!is(c, "interp") && !is(c, "lookup") && !rng_int(r, 0, 3))
		make_twins(r, c);
	c->b_imm = rng_int(r, 0, 3) == 0;
	c->c_imm = rng_int(r, 0, 3) == 0;
	c->b_value = rng_int(r, 0, 1) ? rng_int(r, -40, 40) : (int32_t)rng_next(r);
	c->c_value = rng_int(r, -2, 70);
	c->lo = (int32_t)rng_next(r) >> rng_int(r, 0, 31);
	c->hi = (int32_t)rng_next(r) >> rng_int(r, 0, 31);
	brute_order(&c->lo, &c->hi);
	c->clamp = rng_int(r, 0, 1);
	c->round = rng_int(r, 0, 1);
	c->even = rng_int(r, 0, 1);
	c->shift = rng_int(r, 0, 63);
	if (func_of("interp") == func && rng_int(r, 0, 3))
		c->a_type = 1, c->a_zp = -32768, c->b_type = 1;
}

#endif

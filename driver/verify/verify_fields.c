/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that a command keeps or breaks by its fields alone. */
#include <errno.h>

#include "verify_state.h"

/* Commands and fields of features that the configuration has not. */
static int features(struct verify *v)
{
	if (weft_cmd_lacks(v->info, v->cfg))
		return verify_fail(v, WEFT_VERIFY_BAD_OP, "not in %s", v->cfg->name);
	for (size_t i = 0; i < v->info->n_fields; i++) {
		const struct weft_field_info *f = &v->info->fields[i];
		int64_t value = f->needs ? weft_cmd_get(&v->c, f) : 0;

		if (value && weft_field_lacks(f, value, v->cfg))
			return verify_fail(v, WEFT_VERIFY_MODE, "%s %lld is not in %s", f->name, (long long)value,
					   v->cfg->name);
	}
	return 0;
}

static int ranges(struct verify *v)
{
	const char *field = "?";
	int64_t value = 0, min = 0, max = 0;

	if (weft_cmd_check_ranges(&v->c, &field, &value, &min, &max)) {
		int low = value < min;

		return verify_fail(v, WEFT_VERIFY_BAD_FIELD, "%s %lld %c %lld", field, (long long)value,
				   low ? '<' : '>', (long long)(low ? min : max));
	}
	if (weft_cmd_check_align(&v->c, v->cfg->n, &field, &value))
		return verify_fail(v, WEFT_VERIFY_BAD_ALIGN, "%s 0x%llx is not a multiple of %u", field,
				   (unsigned long long)value, v->cfg->n);
	if (weft_cmd_check_elems(&v->c, &field, &value))
		return verify_fail(v, WEFT_VERIFY_BAD_ALIGN, "%s %lld is not a multiple of 2", field,
				   (long long)value);
	return 0;
}

/* Fields that the mode has not, or not in this command. */
static int mode_fields(struct verify *v)
{
	const struct weft_cmd_post *p = &v->c.conv.post;
	unsigned op = (unsigned)v->c.h.op;
	bool sums = op == WEFT_CMD_CONV || op == WEFT_CMD_DW;
	const char *field = "?";
	int64_t value = 0;

	if (weft_cmd_check_modes(&v->c, &field, &value))
		return verify_fail(v, WEFT_VERIFY_MODE_FIELD, "%s %lld != 0 in mode %d", field,
				   (long long)value, p->mode);
	if (p->scale16 && !sums)
		return verify_fail(v, WEFT_VERIFY_MODE_FIELD, "scale16 1 > 0");
	if (p->raw && !sums)
		return verify_fail(v, WEFT_VERIFY_MODE_FIELD, "raw 1 > 0");
	if (p->raw && p->add)
		return verify_fail(v, WEFT_VERIFY_ADD_NOT_ALLOWED, "add 1 > 0 with raw");
	if (p->scale16 && p->double_round)
		return verify_fail(v, WEFT_VERIFY_MODE_FIELD, "double_round 1 > 0 with scale16");
	if (p->mode == WEFT_POST_MODE_FLOAT8 && sums && p->x_fmt == WEFT_POST_X_FMT_FP16)
		return verify_fail(v, WEFT_VERIFY_MODE_FIELD, "x_fmt %d > %d", p->x_fmt, WEFT_POST_X_FMT_FP16 - 1);
	if (p->mode == WEFT_POST_MODE_FLOAT8 && op == WEFT_CMD_POOL && v->c.pool.sum)
		return verify_fail(v, WEFT_VERIFY_MODE_FIELD, "sum 1 > 0 in mode %d", p->mode);
	return 0;
}

/*
 * Limits and zero points of mode 0 are wider in the encoding than int8. Those of
 * mode 2 are numbers.
 */
static int types(struct verify *v, const struct weft_cmd_post *p)
{
	const struct {
		const char *name;
		int32_t value;
	} f[] = {
		{"y_zp", p->y_zp}, {"y_min", p->y_min}, {"y_max", p->y_max}, {"a_zp", p->a_zp},
		{"b_zp", p->b_zp}, {"s_zp", p->s_zp}, {"s_min", p->s_min}, {"s_max", p->s_max},
	};

	for (size_t i = 0; p->mode == WEFT_POST_MODE_INT8 && i < sizeof(f) / sizeof(f[0]); i++) {
		if (f[i].value < INT8_MIN)
			return verify_fail(v, WEFT_VERIFY_TYPE_RANGE, "%s %d < %d", f[i].name, f[i].value, INT8_MIN);
		if (f[i].value > INT8_MAX)
			return verify_fail(v, WEFT_VERIFY_TYPE_RANGE, "%s %d > %d", f[i].name, f[i].value, INT8_MAX);
	}
	/* Zero points are 0 there, and pass. */
	for (size_t i = 0; p->mode == WEFT_POST_MODE_FLOAT8 && i < sizeof(f) / sizeof(f[0]); i++)
		if ((f[i].value & 0x7fff) > 0x7c00)
			return verify_fail(v, WEFT_VERIFY_TYPE_RANGE, "%s 0x%04x is no number", f[i].name,
					   (unsigned)f[i].value & 0xffff);
	return 0;
}

/* Patterns of fp16 are sign and magnitude. */
static int32_t fp16_order(int32_t v)
{
	return v < 0 ? -1 - (v & 0x7fff) : v;
}

static int limits(struct verify *v, const struct weft_cmd_post *p, const char *stage, int32_t lo, int32_t hi)
{
	if (p->mode == WEFT_POST_MODE_FLOAT8 && fp16_order(lo) > fp16_order(hi))
		return verify_fail(v, WEFT_VERIFY_CLAMP_ORDER, "fp16 %s_min 0x%04x > %s_max 0x%04x", stage,
				   (unsigned)lo & 0xffff, stage, (unsigned)hi & 0xffff);
	if (p->mode != WEFT_POST_MODE_FLOAT8 && lo > hi)
		return verify_fail(v, WEFT_VERIFY_CLAMP_ORDER, "%s_min %d > %s_max %d", stage, lo, stage, hi);
	return 0;
}

static int post(struct verify *v, const struct weft_cmd_post *p, bool may_add)
{
	int ret = mode_fields(v);

	if (!ret)
		ret = types(v, p);
	if (!ret)
		ret = limits(v, p, "y", p->y_min, p->y_max);
	if (ret || !p->add)
		return ret;
	if (!may_add)
		return verify_fail(v, WEFT_VERIFY_ADD_NOT_ALLOWED, "add 1 > 0");
	return limits(v, p, "s", p->s_min, p->s_max);
}

/* Mode m is bit m of the features. */
static int mode(struct verify *v, const struct weft_cmd_post *p)
{
	if (!(v->cfg->features >> p->mode & 1))
		return verify_fail(v, WEFT_VERIFY_MODE, "mode %d is not in %s", p->mode, v->cfg->name);
	return 0;
}

static int coordinate(struct verify *v, const char *object, int64_t last, int64_t limit)
{
	if (last >= limit)
		return verify_fail(v, WEFT_VERIFY_COORD_RANGE, "last %s %lld > %lld", object,
				   (long long)last, (long long)limit - 1);
	return 0;
}

/* How many operands the command multiplies or compares. */
static int taps(struct verify *v, uint64_t pixels, uint64_t each, uint64_t channels)
{
	/* pixels < 2^32, channels < 2^16 */
	if (each > WEFT_VERIFY_MAX_TAPS || pixels * channels > WEFT_VERIFY_MAX_TAPS ||
	    pixels * channels * each > WEFT_VERIFY_MAX_TAPS)
		return verify_fail(v, WEFT_VERIFY_TOO_LARGE, "operands (%llu pixels * %llu * %llu) > %llu",
				   (unsigned long long)pixels, (unsigned long long)each,
				   (unsigned long long)channels,
				   (unsigned long long)WEFT_VERIFY_MAX_TAPS);
	return 0;
}

static uint64_t pixels_of(const struct weft_cmd_post *p)
{
	return (uint64_t)p->ow * (uint64_t)p->oh;
}

static int conv(struct verify *v, const struct weft_cmd_conv *c)
{
	uint32_t n = v->cfg->n;
	uint64_t pad = ((uint64_t)c->run_len / x_bytes(&c->post) + n - 1) / n * n;
	uint64_t tiles = ((uint64_t)c->post.oc + n - 1) / n;
	int64_t row = c->iy_start + (int64_t)(c->post.oh - 1) * c->stride_y +
		      (int64_t)(c->n_ky - 1) * c->dil_y;
	int64_t xb = c->xb_start + (int64_t)(c->post.ow - 1) * c->ox_step +
		     (int64_t)(c->n_kx - 1) * c->kx_step + c->run_len - 1;
	int ret = post(v, &c->post, true);

	if (!ret)
		ret = coordinate(v, "input row", row, WEFT_VERIFY_MAX_ROW);
	if (!ret)
		ret = coordinate(v, "byte of an input row", xb, WEFT_VERIFY_MAX_XB);
	if (!ret)
		ret = taps(v, pixels_of(&c->post), (uint64_t)c->n_ky * (uint64_t)c->n_kx * pad, tiles);
	return ret;
}

/* A table begins with a word. */
static int table_word(struct verify *v, const struct weft_cmd_post *p)
{
	if ((uint32_t)p->b_base % v->cfg->n)
		return verify_fail(v, WEFT_VERIFY_MODE_FIELD, "b_base 0x%x of a table is not a multiple of %u", (unsigned)p->b_base, v->cfg->n);
	return 0;
}

static int dw(struct verify *v, const struct weft_cmd_dw *c)
{
	bool any = c->n_ky > 0;       /* kernel, not 3x3 */
	int64_t line = (int64_t)(c->post.ow - 1) * c->stride_x + (any ? 9 : 3);
	int64_t row = c->iy_start + (int64_t)(c->post.oh - 1) * c->stride_y + (any ? c->n_ky : 3) - 1;
	int64_t most = v->cfg->dw_line / (any ? 2 : x_bytes(&c->post));
	int ret = post(v, &c->post, false);

	if (!ret && (any ? c->n_kx < 3 : c->n_kx > 0))
		ret = verify_fail(v, WEFT_VERIFY_BAD_FIELD, "n_kx %d %s", c->n_kx, any ? "< 3" : "> 0 with n_ky 0");
	if (!ret && c->table)
		ret = table_word(v, &c->post);
	if (!ret && line > most)
		ret = verify_fail(v, WEFT_VERIFY_LINE_TOO_LONG, "row %lld > %lld", (long long)line,
				  (long long)most);
	if (!ret)
		ret = coordinate(v, "input row", row, WEFT_VERIFY_MAX_ROW);
	if (!ret)
		ret = taps(v, pixels_of(&c->post), any ? (uint64_t)(c->n_ky * c->n_kx) : WEFT_DW_TAPS, (uint64_t)c->post.oc);
	return ret;
}

static int pool(struct verify *v, const struct weft_cmd_pool *c)
{
	int ret = post(v, &c->post, false);

	if (!ret)
		ret = taps(v, pixels_of(&c->post), (uint64_t)c->n_ky * (uint64_t)c->n_kx,
			   (uint64_t)c->post.oc);
	return ret;
}

static int elt(struct verify *v, const struct weft_cmd_elt *c)
{
	int ret = post(v, &c->post, true);

	if (!ret && c->post.add + c->table + c->mul > 1)
		ret = verify_fail(v, WEFT_VERIFY_MODE_FIELD, "add %d + table %d + mul %d > 1", c->post.add, c->table, c->mul);
	if (!ret && c->table)
		ret = table_word(v, &c->post);
	if (!ret)
		ret = taps(v, pixels_of(&c->post), 1, (uint64_t)c->post.oc);
	return ret;
}

static int dma(struct verify *v, const struct weft_cmd_load *c)
{
	uint64_t rows = (uint64_t)c->n1 * (uint64_t)c->n2 * (uint64_t)c->n3;
	uint64_t bytes = rows * (uint64_t)c->row_bytes;
	int32_t n = (int32_t)v->cfg->n;

	if (c->int4 && v->unit == WEFT_UNIT_ST)
		return verify_fail(v, WEFT_VERIFY_MODE_FIELD, "int4 1 > 0");
	if (c->coded && v->unit == WEFT_UNIT_ST)
		return verify_fail(v, WEFT_VERIFY_MODE_FIELD, "coded %d > 0", c->coded);
	if (c->centre && !c->coded)
		return verify_fail(v, WEFT_VERIFY_MODE_FIELD, "centre %d != 0, coded 0", c->centre);
	if (c->coded && (rows != 1 || c->int4))
		return verify_fail(v, WEFT_VERIFY_MODE_FIELD, "coded %d with n1 %d, n2 %d, n3 %d, int4 %d", c->coded, c->n1, c->n2, c->n3,
				   c->int4);
	if (c->coded && (c->row_bytes % n || c->dram_off % n || c->sp_addr % n))
		return verify_fail(v, WEFT_VERIFY_MODE_FIELD, "coded %d with row_bytes %d, dram_off %lld or sp_addr %d no multiple of %d",
				   c->coded, c->row_bytes, (long long)c->dram_off, c->sp_addr, n);
	/* rows < 2^48 and row_bytes < 2^20, so their product may wrap. */
	if (rows > WEFT_VERIFY_MAX_ROWS)
		return verify_fail(v, WEFT_VERIFY_TOO_LARGE, "rows %llu > %llu", (unsigned long long)rows,
				   (unsigned long long)WEFT_VERIFY_MAX_ROWS);
	if (bytes > WEFT_VERIFY_MAX_BYTES)
		return verify_fail(v, WEFT_VERIFY_TOO_LARGE, "bytes %llu > %llu", (unsigned long long)bytes,
				   (unsigned long long)WEFT_VERIFY_MAX_BYTES);
	return 0;
}

static int alu(struct verify *v, const struct weft_cmd_alu *c)
{
	if (c->clamp && c->lo > c->hi)
		return verify_fail(v, WEFT_VERIFY_CLAMP_ORDER, "lo %d > hi %d", c->lo, c->hi);
	if ((c->func == WEFT_ALU_FUNC_LOOKUP || c->func == WEFT_ALU_FUNC_INTERP) && c->b_s1)
		return verify_fail(v, WEFT_VERIFY_MODE_FIELD, "b_s1 %d != 0", c->b_s1);
	if (c->func == WEFT_ALU_FUNC_SCATTER && c->out_s1)
		return verify_fail(v, WEFT_VERIFY_MODE_FIELD, "out_s1 %d != 0", c->out_s1);
	return taps(v, (uint64_t)c->n0 * (uint64_t)c->n1, (uint64_t)c->n2 * (uint64_t)c->n3, 1);
}

static bool has_post(const struct weft_cmd *c)
{
	return c->h.op == WEFT_CMD_CONV || c->h.op == WEFT_CMD_DW || c->h.op == WEFT_CMD_POOL ||
	       c->h.op == WEFT_CMD_ELT;
}

int verify_fields(struct verify *v)
{
	const struct weft_cmd *c = &v->c;
	/* post is the first member of all commands that have it. The range
	 * check would refuse the mode too, but not say why. */
	int ret = has_post(c) ? mode(v, &c->conv.post) : 0;

	if (!ret)
		ret = features(v);
	if (!ret)
		ret = ranges(v);
	if (ret)
		return ret;
	switch (c->h.op) {
	case WEFT_CMD_LOAD:
	case WEFT_CMD_STORE:
		return dma(v, &c->load);
	case WEFT_CMD_CONV:
		return conv(v, &c->conv);
	case WEFT_CMD_DW:
		return dw(v, &c->dw);
	case WEFT_CMD_POOL:
		return pool(v, &c->pool);
	case WEFT_CMD_ELT:
		return elt(v, &c->elt);
	case WEFT_CMD_ALU:
		return alu(v, &c->alu);
	}
	return 0;
}

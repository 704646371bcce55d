/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which scratchpad bytes each command reads and writes, as boxes.
 *
 * Only bytes whose value matters count: not padding, not what lies behind the
 * last channel or the end of a run, although hardware reads whole words.
 */
#include <errno.h>

#include "verify_state.h"

static const struct axis one = {.n1 = 1, .n2 = 1};

static int range(struct verify *v, const char *object, uint32_t base, uint64_t len)
{
	struct box b = {.object = object, .use = USE_READ, .base = base, .y = one, .x = one};

	/* Constants may not wrap onto themselves. */
	if (len > v->cfg->sp_bytes)
		return verify_fail(v, WEFT_VERIFY_SP_RANGE, "%s %llu bytes > %u", object,
				   (unsigned long long)len, v->cfg->sp_bytes);
	b.len = (uint32_t)len;
	return verify_box(v, &b);
}

/* oh rows of ow pixels of oc elements of so many bytes. */
static int tensor(struct verify *v, const struct weft_cmd_post *p, const char *object, enum use use,
		  uint32_t elem, int32_t base, int32_t y_stride, int32_t x_stride)
{
	struct box b = {
		.object = object, .use = use, .base = (uint32_t)base,
		.y = {.n1 = (uint32_t)p->oh, .n2 = 1, .a1 = y_stride},
		.x = {.n1 = (uint32_t)p->ow, .n2 = 1, .a1 = x_stride},
		.len = (uint32_t)p->oc * elem,
	};

	return verify_box(v, &b);
}

static uint32_t out_bytes(const struct weft_cmd_post *p)
{
	if (p->raw)
		return p->mode == WEFT_POST_MODE_INT16 ? 8 : 4;
	return elem_bytes(p, p->out_fmt);
}

/*
 * Finds out whether a tensor lies exactly where the output goes. If so, each pixel is read before it is
 * written, and no other pixel is touched.
 */
static enum use beside_output(const struct weft_cmd_post *p, uint32_t elem, int32_t base, int32_t y_stride,
			      int32_t x_stride)
{
	if (elem == out_bytes(p) && base == p->out_base && (p->oh == 1 || y_stride == p->out_y_stride) &&
	    (p->ow == 1 || x_stride == p->out_x_stride))
		return USE_READ_IN_PLACE;
	return USE_READ;
}

static int addend_and_output(struct verify *v, const struct weft_cmd_post *p)
{
	uint32_t elem = elem_bytes(p, p->b_fmt);
	int ret = 0;

	if (p->add)
		ret = tensor(v, p, "addend", beside_output(p, elem, p->b_base, p->b_y_stride, p->b_x_stride),
			     elem, p->b_base, p->b_y_stride, p->b_x_stride);
	if (!ret)
		ret = tensor(v, p, "output", USE_WRITE, out_bytes(p), p->out_base, p->out_y_stride,
			     p->out_x_stride);
	return ret;
}

static uint64_t blocks_of(const struct verify *v, int32_t channels)
{
	return ((uint64_t)channels + v->cfg->n - 1) / v->cfg->n;
}

static uint64_t record_bytes(int32_t p_short)
{
	return p_short ? WEFT_PARAM_SHORT_BYTES : WEFT_PARAM_BYTES;
}

static int conv(struct verify *v, const struct weft_cmd_conv *c)
{
	uint64_t n = v->cfg->n, blocks = blocks_of(v, c->post.oc);
	uint64_t chunks = ((uint64_t)c->run_len / x_bytes(&c->post) + n - 1) / n * (uint64_t)c->n_ky *
			  (uint64_t)c->n_kx;
	struct box in = {
		.object = "input", .use = USE_READ, .base = (uint32_t)c->in_base,
		.y = {.n1 = (uint32_t)c->post.oh, .n2 = (uint32_t)c->n_ky, .a1 = c->oy_step, .a2 = c->ky_step,
		      .c0 = c->iy_start, .c1 = c->stride_y, .c2 = c->dil_y, .limit = c->in_h},
		.x = {.n1 = (uint32_t)c->post.ow, .n2 = (uint32_t)c->n_kx, .a1 = c->ox_step, .a2 = c->kx_step,
		      .c0 = c->xb_start, .c1 = c->ox_step, .c2 = c->kx_step},
		.len = (uint32_t)c->run_len, .clip_limit = c->x_limit,
	};
	int ret = range(v, "weights", (uint32_t)c->w_base, blocks * chunks * n * n);

	if (!ret)
		ret = verify_box(v, &in);
	if (ret || c->keep)
		return ret;
	ret = range(v, "records", (uint32_t)c->p_base, blocks * n * record_bytes(c->p_short));
	if (!ret)
		ret = addend_and_output(v, &c->post);
	return ret;
}

static int dw(struct verify *v, const struct weft_cmd_dw *c)
{
	uint64_t n = v->cfg->n, blocks = blocks_of(v, c->post.oc);
	uint32_t ky = c->n_ky ? (uint32_t)c->n_ky : 3, kx = c->n_ky ? (uint32_t)c->n_kx : 3;
	int64_t first = (int64_t)c->iy_start * c->in_y_stride + (int64_t)c->ix_start * c->in_x_stride;
	struct box in = {
		.object = "input", .use = USE_READ, .base = (uint32_t)(c->in_base + first) & SP_MASK,
		.y = {.n1 = (uint32_t)c->post.oh, .n2 = ky, .a1 = (int64_t)c->stride_y * c->in_y_stride,
		      .a2 = c->in_y_stride, .c0 = c->iy_start, .c1 = c->stride_y, .c2 = 1, .limit = c->in_h},
		.x = {.n1 = (uint32_t)c->post.ow, .n2 = kx, .a1 = (int64_t)c->stride_x * c->in_x_stride,
		      .a2 = c->in_x_stride, .c0 = c->ix_start, .c1 = c->stride_x, .c2 = 1, .limit = c->in_w},
		.len = (uint32_t)c->post.oc * x_bytes(&c->post),
	};
	int ret = range(v, "weights", (uint32_t)c->w_base, blocks * ky * kx * n);

	if (!ret)
		ret = range(v, "records", (uint32_t)c->p_base, blocks * n * record_bytes(c->p_short));
	if (!ret && c->table)
		ret = range(v, "table", (uint32_t)c->post.b_base, 256);
	if (!ret)
		ret = verify_box(v, &in);
	if (!ret)
		ret = addend_and_output(v, &c->post);
	return ret;
}

static int pool(struct verify *v, const struct weft_cmd_pool *c)
{
	bool single = c->n_ky == 1 && c->n_kx == 1;
	struct box in = {
		.object = "input", .base = (uint32_t)c->in_base,
		.use = single ? beside_output(&c->post, x_bytes(&c->post), c->in_base, c->oy_step, c->ox_step) : USE_READ,
		.y = {.n1 = (uint32_t)c->post.oh, .n2 = (uint32_t)c->n_ky, .a1 = c->oy_step, .a2 = c->ky_step},
		.x = {.n1 = (uint32_t)c->post.ow, .n2 = (uint32_t)c->n_kx, .a1 = c->ox_step, .a2 = c->kx_step},
		.len = (uint32_t)c->post.oc * x_bytes(&c->post),
	};
	int ret = verify_box(v, &in);

	if (!ret)
		ret = addend_and_output(v, &c->post);
	return ret;
}

static int elt(struct verify *v, const struct weft_cmd_elt *c)
{
	uint32_t elem = x_bytes(&c->post);
	enum use use = beside_output(&c->post, elem, c->in_base, c->in_y_stride, c->in_x_stride);
	int ret = tensor(v, &c->post, "input", use, elem, c->in_base, c->in_y_stride, c->in_x_stride);

	if (!ret && c->table)
		ret = range(v, "table", (uint32_t)c->post.b_base, 256);
	if (!ret && c->mul)
		ret = tensor(v, &c->post, "factor",
			     beside_output(&c->post, elem, c->post.b_base, c->post.b_y_stride, c->post.b_x_stride), elem,
			     c->post.b_base, c->post.b_y_stride, c->post.b_x_stride);
	if (!ret)
		ret = addend_and_output(v, &c->post);
	return ret;
}

/* Where one operand of alu lies. */
struct alu_operand {
	const char *object;
	int32_t base, step[4], type;
};

static uint32_t alu_bytes(int32_t type)
{
	static const uint8_t bytes[] = {1, 2, 4, 8, 1, 2, 4};

	return bytes[type];
}

/* Steps are modulo 2^20; the smaller number joins neighbours. */
static int64_t alu_step(int32_t step)
{
	return step >= 1 << (WEFT_SP_ADDR_BITS - 1) ? (int64_t)step - SP_SIZE : step;
}

/* What is read again and again at one place need be looked at once; places side by side are one. */
static void alu_simplify(struct box *b)
{
	struct axis *axes[] = {&b->y, &b->x};

	for (int i = 0; i < 2; i++) {
		if (!axes[i]->a1)
			axes[i]->n1 = 1;
		if (!axes[i]->a2)
			axes[i]->n2 = 1;
	}
	if (b->x.n2 == 1 && b->x.a1 == b->len && (int64_t)b->x.n1 * b->len <= SP_SIZE) {
		b->len *= b->x.n1;
		b->x.n1 = 1;
	}
}

/* n1 and step[1] may stand for the places that an index chooses from. */
static int alu_box(struct verify *v, const struct weft_cmd_alu *c, const struct alu_operand *o, uint32_t n1,
		   enum use use)
{
	uint32_t bytes = alu_bytes(o->type);
	bool dense = o->step[0] == (int32_t)bytes;
	struct box b = {
		.object = o->object, .use = use, .base = (uint32_t)o->base,
		.y = {.n1 = (uint32_t)c->n3, .n2 = (uint32_t)c->n2, .a1 = alu_step(o->step[3]), .a2 = alu_step(o->step[2])},
		.x = {.n1 = n1, .n2 = dense ? 1 : (uint32_t)c->n0, .a1 = alu_step(o->step[1]), .a2 = alu_step(o->step[0])},
		.len = dense ? bytes * (uint32_t)c->n0 : bytes,
	};

	if (use != USE_WRITE)
		alu_simplify(&b);
	return verify_box(v, &b);
}

/* Returns whether an operand lies exactly where the output goes. */
static bool alu_in_place(const struct weft_cmd_alu *c, const struct alu_operand *o, const struct alu_operand *out)
{
	const int32_t n[4] = {c->n0, c->n1, c->n2, c->n3};

	if (c->func > WEFT_ALU_FUNC_RESCALE || o->base != out->base || alu_bytes(o->type) != alu_bytes(out->type))
		return false;
	for (int i = 0; i < 4; i++)
		if (n[i] > 1 && o->step[i] != out->step[i])
			return false;
	return true;
}

#define ALU_OPERAND(name, text) 	{text, c->name##_base, {c->name##_s0, c->name##_s1, c->name##_s2, c->name##_s3}, c->name##_type}

static bool alu_has_b(int32_t func)
{
	return (func >= WEFT_ALU_FUNC_ADD && func <= WEFT_ALU_FUNC_SELECT && func != WEFT_ALU_FUNC_ABS) || func == WEFT_ALU_FUNC_RESCALE ||
	       func == WEFT_ALU_FUNC_SCATTER || func == WEFT_ALU_FUNC_DOT;
}

static int alu_inputs(struct verify *v, const struct weft_cmd_alu *c, const struct alu_operand *out)
{
	struct alu_operand a = ALU_OPERAND(a, "operand a"), b = ALU_OPERAND(b, "operand b"), x = ALU_OPERAND(c, "operand c");
	bool indexed = c->func == WEFT_ALU_FUNC_LOOKUP || c->func == WEFT_ALU_FUNC_INTERP;
	uint32_t n1 = (uint32_t)c->n1;
	int ret = alu_box(v, c, &a, n1, alu_in_place(c, &a, out) ? USE_READ_IN_PLACE : USE_READ);

	if (!ret && indexed) {
		b.step[1] = c->idx_step;
		ret = alu_box(v, c, &b, (uint32_t)c->idx_last + (c->func == WEFT_ALU_FUNC_INTERP ? 2 : 1), USE_READ);
	} else if (!ret && alu_has_b(c->func) && !c->b_imm) {
		ret = alu_box(v, c, &b, n1, alu_in_place(c, &b, out) ? USE_READ_IN_PLACE : USE_READ);
	}
	if (!ret && (c->func == WEFT_ALU_FUNC_SELECT || c->func == WEFT_ALU_FUNC_RESCALE) && !c->c_imm)
		ret = alu_box(v, c, &x, n1, alu_in_place(c, &x, out) ? USE_READ_IN_PLACE : USE_READ);
	return ret;
}

static int alu(struct verify *v, const struct weft_cmd_alu *c)
{
	struct alu_operand out = ALU_OPERAND(out, "output");
	uint32_t n1 = c->func >= WEFT_ALU_FUNC_SUM ? 1 : (uint32_t)c->n1;
	int ret = alu_inputs(v, c, &out);

	if (ret || c->func != WEFT_ALU_FUNC_SCATTER)
		return ret ? ret : alu_box(v, c, &out, n1, USE_WRITE);
	/* Anywhere among bytes that must have been written; some stay as they are. */
	out.step[1] = c->idx_step;
	ret = alu_box(v, c, &out, (uint32_t)c->idx_last + 1, USE_READ_IN_PLACE);
	return ret ? ret : alu_box(v, c, &out, (uint32_t)c->idx_last + 1, USE_WRITE);
}

static int dma(struct verify *v, const struct weft_cmd_load *c)
{
	struct box b = {
		.object = "block", .use = v->unit == WEFT_UNIT_LD ? USE_WRITE_ORDERED : USE_READ,
		.base = (uint32_t)c->sp_addr,
		.y = {.n1 = (uint32_t)c->n3, .n2 = (uint32_t)c->n2, .a1 = c->sp_stride3, .a2 = c->sp_stride2},
		.x = {.n1 = (uint32_t)c->n1, .n2 = 1, .a1 = c->sp_stride1},
		.len = (uint32_t)c->row_bytes,
	};

	return verify_box(v, &b);
}

int verify_use(struct verify *v)
{
	switch (v->c.h.op) {
	case WEFT_CMD_LOAD:
	case WEFT_CMD_STORE:
		return dma(v, &v->c.load);
	case WEFT_CMD_CONV:
		return conv(v, &v->c.conv);
	case WEFT_CMD_DW:
		return dw(v, &v->c.dw);
	case WEFT_CMD_POOL:
		return pool(v, &v->c.pool);
	case WEFT_CMD_ELT:
		return elt(v, &v->c.elt);
	case WEFT_CMD_ALU:
		return alu(v, &v->c.alu);
	}
	return 0;
}

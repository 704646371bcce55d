/* SPDX-License-Identifier: Apache-2.0 */
#include "random_stream.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/dev.h>

#include "tensors.h"

#define MAX_CMDS 256
#define MAX_AREAS 128
#define MAX_JOBS 6
#define PARAM_USED (WEFT_PARAM_SHIFT_AT + 1)   /* bytes of a record that its fields take */
#define N_OF(a) ((int)(sizeof(a) / sizeof((a)[0])))

/*
 * Scratchpad bytes that belong together. wrote and read count the commands of
 * each unit up to the last that touched them.
 */
struct area {
	int64_t at, len;
	int wrote[WEFT_N_UNITS], read[WEFT_N_UNITS];
};

/* One command and the areas that it touches; the last n_out of them it writes. */
struct step {
	struct weft_cmd c;
	int area[6];
	int n_in, n_out;
	bool with_next;            /* nothing of the same unit in between */
};

/* Steps in order; jobs touch disjoint areas and are interleaved. */
struct job {
	struct step step[160];
	int n, done;
};

struct maker {
	struct random_stream *s;
	const struct weft_config *cfg;
	uint64_t rng;
	int64_t n;                 /* lanes */
	struct area area[MAX_AREAS];
	int n_areas;
	uint64_t cap_consts, cap_words;
	int count[WEFT_N_UNITS];
	int style;                 /* of waits */
	/* Of the job that is drawn: */
	int mode, x_fmt, w_fmt, b_fmt, out_fmt;
};

enum { INT8, INT16, FLOAT };

/* What bytes stand for: float8 as in the commands' fields, or anything. */
enum { FMT_E4M3FN, FMT_E5M2, FMT_E4M3FNUZ, FMT_E5M2FNUZ, FMT_FP16, FMT_ANY };

/* ---- drawing ---- */

static int64_t draw(struct maker *m, int64_t lo, int64_t hi)
{
	return lo + (int64_t)(test_random(&m->rng) % (uint64_t)(hi - lo + 1));
}

static bool chance(struct maker *m, int percent)
{
	return draw(m, 0, 99) < percent;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

static int64_t draw_count(struct maker *m, int64_t max)
{
	int64_t edges[] = { 1, 1, 2, 3, m->n - 1, m->n, m->n + 1, 2 * m->n, 2 * m->n + 1, max };

	return most(1, least(chance(m, 60) ? edges[draw(m, 0, N_OF(edges) - 1)] : draw(m, 1, max), max));
}

static int draw_zp(struct maker *m)
{
	static const int edges[] = { 0, 0, -128, 127, -1, 1 };

	return chance(m, 60) ? edges[draw(m, 0, N_OF(edges) - 1)] : (int)draw(m, -128, 127);
}

static uint32_t draw_mul(struct maker *m)
{
	static const uint32_t edges[] = { 0, 1, 1u << 30, INT32_MAX, (1u << 30) + 1 };

	return chance(m, 30) ? edges[draw(m, 0, N_OF(edges) - 1)] : (uint32_t)draw(m, 1 << 30, INT32_MAX);
}

static int draw_shift(struct maker *m)
{
	static const int edges[] = { 2, 3, 30, 31, 32, 33, 47, 61, 62 };

	return chance(m, 30) ? edges[draw(m, 0, N_OF(edges) - 1)] : chance(m, 60) ? (int)draw(m, 36, 44) : (int)draw(m, 2, 62);
}

static void *must(void *p)
{
	if (!p) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	return p;
}

/* ---- numbers ---- */

static int elem_bytes(const struct maker *m, int fmt)
{
	return m->mode == INT16 || (m->mode == FLOAT && fmt == FMT_FP16) ? 2 : 1;
}

static uint16_t draw_fp16(struct maker *m)
{
	static const uint16_t edges[] = { 0, 0x8000, 0x7c00, 0xfc00, 0x7e00, 1, 0x8001, 0x7bff, 0xfbff, 0x3c00 };

	return chance(m, 20) ? edges[draw(m, 0, N_OF(edges) - 1)]
	                     : (uint16_t)(draw(m, 0, 0xffff) & (chance(m, 80) ? 0xdfff : 0xffff));
}

/* A limit is a number. */
static int16_t draw_limit(struct maker *m)
{
	uint16_t h = draw_fp16(m);

	return (int16_t)((h & 0x7fff) > 0x7c00 ? h & 0xfc00 : h);
}

/* How large the values of an area are, so that not all sums end as NaN. */
enum { ALL, NO_NAN, SMALL, SMALLER };

static uint8_t draw_code(struct maker *m, int fmt, int size)
{
	uint8_t c = (uint8_t)draw(m, 0, 255);

	if (size == ALL)
		return c;
	if (fmt == FMT_E5M2 && (c & 0x7c) == 0x7c)
		c &= 0xbf;
	if (fmt == FMT_E4M3FN && (c & 0x7f) == 0x7f)
		c &= 0xbf;
	if (size >= SMALL)
		c = size == SMALL ? c & 0xbf : (c & 0x8f) | 0x30;
	return c == 0x80 && fmt >= FMT_E4M3FNUZ ? 0 : c;
}

static void draw_values(struct maker *m, int fmt, uint8_t *data, int64_t len)
{
	int size = (int)draw(m, 0, 9), rare = (int)draw(m, 0, 40);

	size = size < 2 ? ALL : size < 5 ? NO_NAN : size < 8 ? SMALL : SMALLER;
	for (int64_t i = 0; i < len; i++) {
		if (fmt == FMT_FP16) {
			uint16_t h = draw_fp16(m);
			data[i] = (uint8_t)h;
			if (++i < len)
				data[i] = (uint8_t)(h >> 8);
		} else {
			/* Now and then one that is not like the others. */
			data[i] = draw_code(m, fmt, size && draw(m, 0, 999) < rare ? ALL : size);
		}
	}
}

/* ---- memory ---- */

/* Random bytes in the constants' window, at any address. */
static uint64_t new_consts(struct maker *m, int64_t len, uint8_t **data)
{
	uint64_t at = m->s->n_consts + (uint64_t)draw(m, 0, 40), end = at + (uint64_t)len;
	uint8_t all = (uint8_t)draw(m, 0, 255);
	int style = (int)draw(m, 0, 9);

	if (end > m->cap_consts) {
		m->cap_consts = 2 * end;
		m->s->consts = must(realloc(m->s->consts, m->cap_consts));
	}
	memset(m->s->consts + m->s->n_consts, 0x5a, end - m->s->n_consts);
	m->s->n_consts = end;
	for (int64_t i = 0; i < len; i++)
		m->s->consts[at + (uint64_t)i] = style == 0 ? all : style == 1 ? 0x80 : (uint8_t)draw(m, 0, 255);
	if (data)
		*data = m->s->consts + at;
	return at;
}

static uint64_t new_arena(struct maker *m, int64_t len)
{
	uint64_t at = m->s->n_arena + (uint64_t)draw(m, 0, 40);

	m->s->n_arena = at + (uint64_t)len;
	return at;
}

static bool is_free(const struct maker *m, int64_t at, int64_t len)
{
	if (at < 0 || at + len > m->cfg->sp_bytes)
		return false;
	for (int i = 0; i < m->n_areas; i++)
		if (at < m->area[i].at + m->area[i].len && m->area[i].at < at + len)
			return false;
	return true;
}

/* Scratchpad bytes, mostly at odd places and across regions. -1: none found. */
static int new_area(struct maker *m, int64_t len, int64_t align)
{
	int64_t region = m->cfg->sp_bytes / WEFT_SP_REGIONS;

	for (int tries = 0; tries < 60 && m->n_areas < MAX_AREAS; tries++) {
		int64_t at = draw(m, 0, m->cfg->sp_bytes - 1);
		int kind = (int)draw(m, 0, 5);
		if (kind == 0)
			at = draw(m, 1, WEFT_SP_REGIONS - 1) * region - draw(m, 0, len);
		else if (kind == 1)
			at = m->cfg->sp_bytes - len;
		else if (kind == 2)
			at = at / region * region;
		else if (kind == 3 && m->n_areas)
			at = m->area[m->n_areas - 1].at + m->area[m->n_areas - 1].len;
		at = chance(m, 20) ? at / m->n * m->n : at;
		at = (at + align - 1) / align * align;
		if (!is_free(m, at, len))
			continue;
		m->area[m->n_areas] = (struct area){ .at = at, .len = len };
		return m->n_areas++;
	}
	return -1;
}

/* ---- steps ---- */

static struct step *new_step(struct job *j, unsigned op)
{
	struct step *s = &j->step[j->n++];

	if (j->n > N_OF(j->step)) {
		fprintf(stderr, "random_stream: job too long\n");
		exit(1);
	}
	memset(s, 0, sizeof(*s));
	weft_cmd_init(&s->c, op);
	return s;
}

static void reads(struct step *s, int area) { s->area[s->n_in++] = area; }

/* After all reads. */
static void writes(struct step *s, int area)
{
	s->area[s->n_in + s->n_out++] = area;
}

/* Split len bytes of one run into rows that lie side by side: n1 * n2 rows and what is left. */
static int64_t cut_rows(struct maker *m, int64_t len, struct weft_cmd_load *l)
{
	int64_t row = chance(m, 40) ? len : draw(m, 1, len), rows = len / row;

	if (rows > 200) {
		rows = 200;
		row = len / rows;
	}
	l->row_bytes = (int32_t)row;
	l->n1 = (int32_t)rows;
	l->sp_stride1 = (int32_t)row;
	if (rows % 2 == 0 && chance(m, 30)) {
		l->n1 = (int32_t)(rows / 2);
		l->n2 = 2;
		l->sp_stride2 = (int32_t)(rows / 2 * row);
	} else if (rows % 3 == 0 && chance(m, 30)) {
		l->n1 = (int32_t)(rows / 3);
		l->n3 = 3;
		l->sp_stride3 = (int32_t)(rows / 3 * row);
	}
	return row * rows;
}

/* Memory strides for the rows: gaps, or backwards. Returns the bytes that they span. */
static int64_t spread(struct maker *m, struct weft_cmd_load *l, int64_t *first)
{
	int64_t row = l->int4 ? ceil_div(l->row_bytes, 2) : l->row_bytes;
	int64_t gap = chance(m, 50) ? 0 : draw(m, 0, 300), stride = row + gap;
	int64_t s2 = stride * l->n1 + (chance(m, 50) ? 0 : draw(m, 0, 50)), s3 = s2 * l->n2 + (chance(m, 50) ? 0 : 7);
	bool back = chance(m, 15);

	l->dram_stride1 = (int32_t)(back ? -stride : stride);
	l->dram_stride2 = (int32_t)s2;
	l->dram_stride3 = (int32_t)s3;
	*first = back ? stride * (l->n1 - 1) : 0;
	return s3 * l->n3;
}

/*
 * Make *l the load of a coded row of random words, at most len bytes, to address `at`, both multiples of N. Mostly memory
 * has what the widths ask for, sometimes more or less. Returns the bytes that it fills.
 */
static int64_t load_coded(struct maker *m, struct weft_cmd_load *l, int64_t at, int64_t len)
{
	int64_t n = m->cfg->n, words = chance(m, 40) ? len / n : draw(m, 1, len / n), most = chance(m, 30) ? 15 : draw(m, 0, 8);
	uint64_t base = new_consts(m, words * n + (words / (2 * n) + 6) * n, NULL), bytes = 0, widths = 0;

	base = (base + (uint64_t)n - 1) / (uint64_t)n * (uint64_t)n;
	for (int64_t i = 0; i < words; i++) {
		if (i % (2 * n) == 0) {
			widths = base + bytes;
			bytes += (uint64_t)n;
		}
		uint8_t *two = m->s->consts + widths + i % (2 * n) / 2;
		int64_t width = draw(m, 0, most);
		*two = (uint8_t)(i & 1 ? (*two & 15) | width << 4 : (*two & 0xf0) | width);
		bytes += (uint64_t)((width < 8 ? width : 8) * n / 8);
	}
	int64_t coded = ceil_div((int64_t)bytes, n);
	l->coded = (int32_t)(chance(m, 80) ? coded : draw(m, 1, coded + 3));
	l->centre = (int32_t)(chance(m, 50) ? 0 : draw(m, -128, 127));
	l->window = WEFT_WIN_CONST;
	l->dram_off = (int64_t)base;
	l->sp_addr = (int32_t)at;
	l->row_bytes = (int32_t)(words * n);
	return words * n;
}

/* Commands that fill [at, at+len) of an area from a copy of it in memory. */
static void load_exactly(struct maker *m, struct job *j, int area, int64_t at, int64_t len, const uint8_t *data)
{
	while (len) {
		struct step *s = new_step(j, WEFT_CMD_LOAD);
		struct weft_cmd_load *l = &s->c.load;
		if (!data && m->cfg->has_coded && at % m->cfg->n == 0 && len >= m->cfg->n && chance(m, 25)) {
			int64_t done = load_coded(m, l, at, len);
			writes(s, area);
			at += done;
			len -= done;
			continue;
		}
		int64_t first, done = cut_rows(m, len, l);
		l->int4 = !data && m->cfg->has_int4 && chance(m, 25);
		int64_t span = spread(m, l, &first);
		uint64_t base = new_consts(m, span, NULL);

		l->window = WEFT_WIN_CONST;
		l->dram_off = (int64_t)base + first;
		l->sp_addr = (int32_t)at;
		for (int64_t i3 = 0; data && i3 < l->n3; i3++)
			for (int64_t i2 = 0; i2 < l->n2; i2++)
				for (int64_t i1 = 0; i1 < l->n1; i1++) {
					memcpy(m->s->consts + l->dram_off + i1 * l->dram_stride1 + i2 * l->dram_stride2 +
					       i3 * l->dram_stride3, data, (size_t)l->row_bytes);
					data += l->row_bytes;
				}
		writes(s, area);
		at += done;
		len -= done;
	}
}

/* Random contents for a whole area. */
static void fill(struct maker *m, struct job *j, int area, int fmt)
{
	const struct area *a = &m->area[area];
	uint8_t *data = NULL;

	if (m->mode == FLOAT && fmt != FMT_ANY) {
		data = must(malloc((size_t)a->len));
		draw_values(m, fmt, data, a->len);
	}
	load_exactly(m, j, area, a->at, a->len, data);
	free(data);
}

static void store(struct maker *m, struct job *j, int area, int64_t at, int64_t len)
{
	while (len) {
		struct step *s = new_step(j, WEFT_CMD_STORE);
		struct weft_cmd_load *l = &s->c.load;
		int64_t first, done = cut_rows(m, len, l);
		int64_t span = spread(m, l, &first);

		l->window = WEFT_WIN_ARENA;
		l->dram_off = (int64_t)new_arena(m, span) + first;
		l->sp_addr = (int32_t)at;
		reads(s, area);
		at += done;
		len -= done;
	}
}

/* ---- tensors in the scratchpad ---- */

/* c channels of e bytes, steps in bytes. */
struct ten { int64_t at, ys, xs, h, w, c, e; int fmt, area; };

static struct ten new_ten(const struct maker *m, int64_t h, int64_t w, int64_t c, int fmt)
{
	return (struct ten){ .h = h, .w = w, .c = c, .e = elem_bytes(m, fmt), .fmt = fmt };
}

static int64_t extent(const struct ten *t)
{
	return (t->h - 1) * t->ys + (t->w - 1) * t->xs + t->c * t->e;
}

/* Strides: dense, with gaps, or x outermost. */
static void draw_strides(struct maker *m, struct ten *t)
{
	int64_t gap = chance(m, 50) ? 0 : draw(m, 0, 19), gap2 = chance(m, 60) ? 0 : draw(m, 0, 40);

	t->xs = t->e * (t->c + gap);
	t->ys = t->w * t->xs + t->e * gap2;
	if (chance(m, 15)) {
		t->ys = t->e * (t->c + gap);
		t->xs = t->h * t->ys + t->e * gap2;
	}
}

static bool place_at(struct maker *m, struct ten *t, int64_t align)
{
	draw_strides(m, t);
	t->area = new_area(m, extent(t), align);
	t->at = t->area < 0 ? 0 : m->area[t->area].at;
	return t->area >= 0;
}

static bool place(struct maker *m, struct ten *t)
{
	return place_at(m, t, t->e);
}

static bool place_filled(struct maker *m, struct job *j, struct ten *t)
{
	if (!place(m, t))
		return false;
	fill(m, j, t->area, t->fmt);
	return true;
}

/* ---- what post wants ---- */

/* A limit or a zero point of the elements' type. */
static int draw_value(struct maker *m)
{
	return m->mode == INT16 && chance(m, 70) ? (int)draw(m, INT16_MIN, INT16_MAX) : draw_zp(m);
}

static void draw_limits(struct maker *m, int32_t *lo, int32_t *hi)
{
	int bits = m->mode == INT16 ? 15 : 7;

	*lo = chance(m, 50) ? -(1 << bits) : draw_value(m);
	*hi = chance(m, 50) ? (1 << bits) - 1 : draw_value(m);
	if (*lo > *hi) {
		int32_t t = *lo;

		*lo = *hi;
		*hi = t;
	}
}

static int32_t fp16_order(int32_t v)
{
	return v < 0 ? -1 - (v & 0x7fff) : v;
}

static void draw_float_limits(struct maker *m, int32_t *lo, int32_t *hi)
{
	*lo = chance(m, 60) ? (int16_t)0xfc00 : draw_limit(m);
	*hi = chance(m, 60) ? 0x7c00 : draw_limit(m);
	if (fp16_order(*lo) > fp16_order(*hi)) {
		int32_t t = *lo;

		*lo = *hi;
		*hi = t;
	}
}

static void draw_float_post(struct maker *m, struct weft_cmd_post *p)
{
	p->out_fmt = m->out_fmt;
	p->x_fmt = m->x_fmt;
	p->w_fmt = m->w_fmt;
	p->b_fmt = m->b_fmt;
	p->saturate = (int32_t)draw(m, 0, 1);
	draw_float_limits(m, &p->y_min, &p->y_max);
	draw_float_limits(m, &p->s_min, &p->s_max);
}

/* sums: of products, of which int16 ones may be 48 bits wide behind them. */
static void draw_post(struct maker *m, struct weft_cmd_post *p, bool sums)
{
	p->mode = m->mode;
	p->a_shift = draw_shift(m);
	p->b_shift = draw_shift(m);
	p->s_shift = draw_shift(m);
	if (m->mode == FLOAT) {
		draw_float_post(m, p);
		return;
	}
	p->raw = sums && m->cfg->has_raw && chance(m, 30);
	p->scale16 = m->mode == INT16 && sums && chance(m, 50);
	p->double_round = p->scale16 ? 0 : (int32_t)draw(m, 0, 1);
	p->even = m->cfg->has_even && chance(m, 40);
	p->s_even = m->cfg->has_even && chance(m, 40);
	p->sub = m->cfg->has_sub && chance(m, 40);
	p->y_zp = draw_value(m);
	draw_limits(m, &p->y_min, &p->y_max);
	p->pre_shift = chance(m, 50) ? 20 : (int32_t)draw(m, 0, 30);
	if (m->mode == INT16 && chance(m, 50))
		p->pre_shift = (int32_t)draw(m, 0, 15);
	p->a_zp = draw_value(m);
	p->b_zp = draw_value(m);
	p->s_zp = draw_value(m);
	draw_limits(m, &p->s_min, &p->s_max);
	p->a_mul = draw_mul(m);
	p->b_mul = draw_mul(m);
	p->s_mul = draw_mul(m);
	/* Powers of two, where sums tie. */
	if (chance(m, 30))
		p->a_mul = p->b_mul = p->s_mul = 1u << 30;
	if (chance(m, 70)) {
		/* Scales at which the sum does not only clamp. */
		p->a_shift = p->b_shift = 31;
		p->s_shift = 31 + p->pre_shift - (int32_t)draw(m, 0, 2);
		p->s_shift = p->s_shift > 62 ? 62 : p->s_shift;
	}
	/* One addend is halved, the other one is not. */
	if (chance(m, 40)) {
		bool a = chance(m, 50);
		*(a ? &p->a_mul : &p->b_mul) = 1u << 30;
		*(a ? &p->a_shift : &p->b_shift) = 31;
		*(a ? &p->b_mul : &p->a_mul) = draw_mul(m);
	}
}

static int draw_log2_scale(struct maker *m)
{
	static const int edges[] = { -32, 31, -1, 1, -28, 16 };

	return m->mode != FLOAT || chance(m, 50) ? 0 : chance(m, 40) ? edges[draw(m, 0, N_OF(edges) - 1)] : (int)draw(m, -12, 12);
}

/* Place of the output; prefilled if other bytes between its pixels shall be seen to stay. */
static bool place_output(struct maker *m, struct job *j, struct weft_cmd_post *p, struct ten *y, bool *whole)
{
	*y = new_ten(m, p->oh, p->ow, p->oc, m->out_fmt);
	if (p->raw)
		y->e = m->mode == INT16 ? 8 : 4;
	*whole = chance(m, 60);
	if (!place_at(m, y, elem_bytes(m, m->out_fmt)))
		return false;
	if (*whole)
		fill(m, j, y->area, y->fmt);
	p->out_base = (int32_t)y->at;
	p->out_y_stride = (int32_t)y->ys;
	p->out_x_stride = (int32_t)y->xs;
	return true;
}

static bool place_addend(struct maker *m, struct job *j, struct weft_cmd_post *p, const struct ten *y, bool whole,
                         struct ten *b)
{
	*b = new_ten(m, p->oh, p->ow, p->oc, m->b_fmt);
	p->add = 1;
	if (whole && y->e == b->e && chance(m, 20))
		*b = *y;
	else if (!place_filled(m, j, b))
		return false;
	p->b_base = (int32_t)b->at;
	p->b_y_stride = (int32_t)b->ys;
	p->b_x_stride = (int32_t)b->xs;
	return true;
}

static void store_output(struct maker *m, struct job *j, const struct ten *y, bool whole)
{
	if (whole) {
		store(m, j, y->area, m->area[y->area].at, m->area[y->area].len);
		return;
	}
	struct step *s = new_step(j, WEFT_CMD_STORE);
	struct weft_cmd_load *l = &s->c.load;
	int64_t first;
	l->window = WEFT_WIN_ARENA;
	l->sp_addr = (int32_t)y->at;
	l->row_bytes = (int32_t)(y->c * y->e);
	l->n1 = (int32_t)y->w;
	l->sp_stride1 = (int32_t)y->xs;
	l->n2 = (int32_t)y->h;
	l->sp_stride2 = (int32_t)y->ys;
	int64_t span = spread(m, l, &first);
	l->dram_off = (int64_t)new_arena(m, span) + first;
	reads(s, y->area);
}

/* Parameter records for n channels, of 8 bytes if is_short; they are data, so that no shift in them is refused. */
static int new_records(struct maker *m, struct job *j, int64_t n, bool is_short)
{
	int area = new_area(m, n * (is_short ? WEFT_PARAM_SHORT_BYTES : WEFT_PARAM_BYTES), m->n);
	uint8_t *r = must(calloc((size_t)n, WEFT_PARAM_BYTES));

	for (int64_t i = 0; i < n; i++) {
		int64_t bias = chance(m, 70) ? draw(m, -200000, 200000) : chance(m, 60) ? draw(m, INT32_MIN, INT32_MAX)
		                                                                        : draw(m, -(1ll << 47), (1ll << 47) - 1);
		uint32_t mul = draw_mul(m);
		int shift = draw_shift(m);
		if (chance(m, 30)) {
			shift = (int)draw(m, 6, 30);
			mul = 1u << shift;
			shift += (int)draw(m, 1, 8);
		}
		if (chance(m, 3))
			shift = chance(m, 50) ? (int)draw(m, 0, 1) : (int)draw(m, 0, 255);
		if (m->mode == FLOAT)
			bias = chance(m, 30) ? 0 : draw_fp16(m) | (bias & ~0xffffll);
		if (is_short) {
			weft_param_short_write(&(struct weft_param_short){ .bias = (int32_t)bias, .mul = (int32_t)mul, .shift = (uint8_t)shift },
			                       r + i * WEFT_PARAM_SHORT_BYTES);
			continue;
		}
		const struct weft_param p = { .bias = bias, .mul = (int32_t)mul, .shift = (uint8_t)shift };
		weft_param_write(&p, r + i * WEFT_PARAM_BYTES);
		/* Behind the fields there may be anything. */
		memset(r + i * WEFT_PARAM_BYTES + PARAM_USED, (int)(i * 0x55 & 0xff), WEFT_PARAM_BYTES - PARAM_USED);
	}
	if (area >= 0)
		load_exactly(m, j, area, m->area[area].at, m->area[area].len, r);
	free(r);
	return area;
}

/* ---- one command each; false: it did not fit ---- */

struct axis { int64_t in, out, kernel, stride, dilation, start; };

static void draw_axis(struct maker *m, struct axis *a, int64_t max_in, int64_t max_out)
{
	a->in = draw_count(m, max_in);
	a->kernel = chance(m, 40) ? 3 : draw(m, 1, 5);
	a->stride = chance(m, 60) ? 1 : draw(m, 1, 5);
	a->dilation = chance(m, 80) ? 1 : draw(m, 1, 5);
	int64_t reach = (a->kernel - 1) * a->dilation + 1;
	a->start = -(chance(m, 40) ? 0 : draw(m, 0, reach + 1));
	if (chance(m, 10))
		a->start = draw(m, 0, a->in);
	/* Past the end as well: rows and columns of padding only are legal. */
	int64_t fits = (a->in - a->start - reach) / a->stride + 1;
	a->out = most(1, least(chance(m, 60) ? fits : fits + draw(m, -2, 3), max_out));
}

struct conv { struct axis y, x; int64_t ic, oc; bool joined; };

static void conv_fields(struct maker *m, const struct conv *v, const struct ten *x, struct weft_cmd_conv *c)
{
	int64_t base = x->at + v->y.start * x->ys + v->x.start * x->xs;

	c->in_base = (int32_t)(base & 0xfffff);
	c->oy_step = (int32_t)(v->y.stride * x->ys);
	c->ox_step = (int32_t)(v->x.stride * x->xs);
	c->ky_step = (int32_t)(v->y.dilation * x->ys);
	c->n_ky = (int32_t)v->y.kernel;
	c->n_kx = v->joined ? 1 : (int32_t)v->x.kernel;
	c->kx_step = v->joined ? (int32_t)(x->e * draw(m, 0, 49)) : (int32_t)(v->x.dilation * x->xs);
	c->run_len = (int32_t)(x->e * (v->joined ? v->x.kernel * v->ic : v->ic));
	c->stride_y = (int32_t)v->y.stride;
	c->dil_y = (int32_t)v->y.dilation;
	c->in_h = (int32_t)x->h;
	c->iy_start = (int32_t)v->y.start;
	c->x_limit = (int32_t)(x->w * x->xs);
	c->xb_start = (int32_t)(v->x.start * x->xs);
	c->x_zp = m->mode == INT8 ? draw_zp(m) : 0;
	c->w_zp = m->mode == FLOAT || chance(m, 60) ? 0 : draw_zp(m);
	c->log2_scale = draw_log2_scale(m);
	c->post.ow = (int32_t)v->x.out;
	c->post.oh = (int32_t)v->y.out;
	c->post.oc = (int32_t)v->oc;
}

static bool steps_fit(const struct weft_cmd_conv *c)
{
	const int32_t max = 0xfffff;

	return c->oy_step <= max && c->ox_step <= max && c->ky_step <= max && c->kx_step <= max && c->x_limit <= max;
}

/* Input, weights and the fields that say where they are. */
static bool conv_operands(struct maker *m, struct job *j, const struct conv *v, struct weft_cmd_conv *c, struct ten *x, int *w)
{
	*x = new_ten(m, v->y.in, v->x.in, v->ic, m->x_fmt);
	if (v->joined) {
		x->xs = x->e * v->ic;
		x->ys = x->w * x->xs + (chance(m, 60) ? 0 : x->e * draw(m, 0, 40));
		x->area = new_area(m, extent(x), x->e);
		if (x->area < 0)
			return false;
		x->at = m->area[x->area].at;
		fill(m, j, x->area, x->fmt);
	} else if (!place_filled(m, j, x)) {
		return false;
	}
	conv_fields(m, v, x, c);
	if (!steps_fit(c))
		return false;
	int64_t chunks = ceil_div(c->run_len / x->e, m->n) * c->n_ky * c->n_kx;
	*w = new_area(m, ceil_div(v->oc, m->n) * chunks * m->n * m->n, m->n);
	if (*w < 0)
		return false;
	fill(m, j, *w, m->w_fmt);
	c->w_base = (int32_t)m->area[*w].at;
	return true;
}

static void draw_conv(struct maker *m, struct conv *v, int64_t max_out, int64_t max_oc)
{
	do {
		draw_axis(m, &v->y, 12, max_out);
		draw_axis(m, &v->x, 20, max_out / v->y.out);
		v->ic = draw_count(m, 40);
		v->oc = draw_count(m, max_oc);
		v->joined = v->x.dilation == 1 && chance(m, 50);
	} while (v->y.out * v->x.out * v->oc * v->ic * v->y.kernel * v->x.kernel > 600000);
}

/* All but the last leave their sums in the array. */
static bool conv_job(struct maker *m, struct job *j)
{
	bool chain = chance(m, 25), whole;
	int n = chain ? (int)draw(m, 2, 4) : 1, w[4];
	struct weft_cmd c[4];
	struct ten x[4], y, b;
	struct conv v = { .oc = 0 };
	bool pairs = m->cfg->has_pairs && m->mode != FLOAT && chance(m, 50);
	int64_t max_out = chain ? pairs ? m->n / 2 : m->n : 200, max_oc = m->n * (chain ? pairs ? 2 : 1 : pairs ? 5 : 3);

	for (int i = 0; i < n; i++) {
		struct conv first = v;
		draw_conv(m, &v, max_out, max_oc);
		if (i) {
			/* The same pixels and channels, from anywhere with any kernel. */
			v.y.out = first.y.out;
			v.x.out = first.x.out;
			v.oc = first.oc;
		}
		weft_cmd_init(&c[i], WEFT_CMD_CONV);
		if (!conv_operands(m, j, &v, &c[i].conv, &x[i], &w[i]))
			return false;
		draw_post(m, &c[i].conv.post, true);
		c[i].conv.keep = i < n - 1;
		c[i].conv.pairs = pairs;
		c[i].conv.turns = m->cfg->has_turns && chance(m, 50);
	}
	struct weft_cmd_conv *last = &c[n - 1].conv;
	last->p_short = m->cfg->has_p_short && chance(m, 50);
	int records = new_records(m, j, ceil_div(v.oc, m->n) * m->n, last->p_short);
	if (records < 0 || !place_output(m, j, &last->post, &y, &whole))
		return false;
	last->p_base = (int32_t)m->area[records].at;
	bool add = !last->post.raw && chance(m, 35);
	if (add && !place_addend(m, j, &last->post, &y, whole, &b))
		return false;
	for (int i = 0; i < n; i++) {
		struct step *s = new_step(j, WEFT_CMD_CONV);
		s->c.conv = c[i].conv;
		s->with_next = i < n - 1;
		reads(s, x[i].area);
		reads(s, w[i]);
		if (i < n - 1)
			continue;
		reads(s, records);
		if (add)
			reads(s, b.area);
		writes(s, y.area);
	}
	store_output(m, j, &y, whole);
	return true;
}

static int64_t draw_rows(struct maker *m)
{
	static const int edges[] = { 1, 2, 3, 5, 7, 15 };

	return chance(m, 60) ? edges[draw(m, 0, N_OF(edges) - 1)] : draw(m, 1, 15);
}

static bool dw_job(struct maker *m, struct job *j)
{
	struct weft_cmd c;
	struct axis ay, ax;
	struct ten x, y;
	bool whole;
	int64_t oc = draw_count(m, 3 * m->n), blocks = ceil_div(oc, m->n);
	int64_t line = m->cfg->dw_line / elem_bytes(m, m->x_fmt);
	bool any = m->cfg->has_dwk && m->mode != FLOAT && chance(m, 60);      /* kernel, not 3x3 */
	int64_t ky = any ? draw_rows(m) : 3, kx = any ? draw(m, 3, 9) : 3;

	line = any ? m->cfg->dw_line / 2 - 6 : line;
	draw_axis(m, &ay, 12, 40);
	draw_axis(m, &ax, chance(m, 10) ? line : 30, line);
	ax.out = least(ax.out, (line - 3) / ax.stride + 1);
	if (any && chance(m, 70)) {
		ay.start -= draw(m, 0, ky - 1);
		ax.start -= draw(m, 0, kx - 1);
	}
	x = new_ten(m, ay.in, ax.in, oc, m->x_fmt);
	weft_cmd_init(&c, WEFT_CMD_DW);
	if (!place_filled(m, j, &x))
		return false;
	c.dw.p_short = m->cfg->has_p_short && chance(m, 50);
	int w = new_area(m, blocks * ky * kx * m->n, m->n), records = new_records(m, j, blocks * m->n, c.dw.p_short);
	if (w < 0 || records < 0)
		return false;
	fill(m, j, w, m->w_fmt);
	c.dw.in_base = (int32_t)x.at;
	c.dw.in_x_stride = (int32_t)x.xs;
	c.dw.in_y_stride = (int32_t)x.ys;
	c.dw.in_h = (int32_t)x.h;
	c.dw.in_w = (int32_t)x.w;
	c.dw.iy_start = (int32_t)ay.start;
	c.dw.ix_start = (int32_t)ax.start;
	c.dw.stride_y = (int32_t)ay.stride;
	c.dw.stride_x = (int32_t)ax.stride;
	c.dw.x_zp = m->mode == INT8 ? draw_zp(m) : 0;
	c.dw.w_zp = m->mode == FLOAT || chance(m, 60) ? 0 : draw_zp(m);
	c.dw.log2_scale = draw_log2_scale(m);
	c.dw.n_ky = any ? (int32_t)ky : 0;
	c.dw.n_kx = any ? (int32_t)kx : 0;
	c.dw.w_base = (int32_t)m->area[w].at;
	c.dw.p_base = (int32_t)m->area[records].at;
	draw_post(m, &c.dw.post, true);
	c.dw.post.ow = (int32_t)ax.out;
	c.dw.post.oh = (int32_t)ay.out;
	c.dw.post.oc = (int32_t)oc;
	if (!place_output(m, j, &c.dw.post, &y, &whole))
		return false;
	int table = -1;
	if (m->mode == INT8 && m->cfg->has_dwtable && chance(m, 40)) {
		if ((table = new_area(m, 256, m->n)) < 0)
			return false;
		fill(m, j, table, FMT_ANY);
		c.dw.table = 1;
		c.dw.post.b_base = (int32_t)m->area[table].at;
	}
	struct step *s = new_step(j, WEFT_CMD_DW);
	s->c.dw = c.dw;
	reads(s, x.area);
	reads(s, w);
	if (table >= 0)
		reads(s, table);
	reads(s, records);
	writes(s, y.area);
	store_output(m, j, &y, whole);
	return true;
}

static struct ten draw_ten(struct maker *m)
{
	int64_t h = draw_count(m, 14), w = draw_count(m, 14), c = draw_count(m, 3 * m->n);

	return new_ten(m, h, w, c, m->x_fmt);
}

static bool pool_job(struct maker *m, struct job *j)
{
	struct weft_cmd c;
	struct ten x = draw_ten(m), y;
	int64_t ky = draw(m, 1, least(x.h, 6)), kx = draw(m, 1, least(x.w, 6));
	int64_t sy = draw(m, 1, 4), sx = draw(m, 1, 4);
	bool whole;

	if (chance(m, 10))
		ky = x.h;
	weft_cmd_init(&c, WEFT_CMD_POOL);
	if (!place_filled(m, j, &x))
		return false;
	c.pool.in_base = (int32_t)x.at;
	c.pool.oy_step = (int32_t)(sy * x.ys);
	c.pool.ox_step = (int32_t)(sx * x.xs);
	c.pool.ky_step = (int32_t)x.ys;
	c.pool.kx_step = (int32_t)x.xs;
	if (chance(m, 10)) {
		/* Windows that stand still or walk backwards along x. */
		c.pool.oy_step = 0;
		c.pool.ky_step = c.pool.kx_step = (int32_t)(x.w >= ky + kx ? x.xs : 0);
	}
	c.pool.x_zp = m->mode == FLOAT ? 0 : draw_zp(m);
	c.pool.sum = m->mode == FLOAT ? 0 : (int32_t)draw(m, 0, 1);
	c.pool.n_ky = (int32_t)ky;
	c.pool.n_kx = (int32_t)kx;
	draw_post(m, &c.pool.post, false);
	c.pool.post.a_shift = chance(m, 70) ? (int32_t)draw(m, 30, 36) : draw_shift(m);
	c.pool.post.oh = (int32_t)((x.h - ky) / sy + 1);
	c.pool.post.ow = (int32_t)((x.w - kx) / sx + 1);
	if (!c.pool.oy_step)
		c.pool.post.ow = 1;
	c.pool.post.oc = (int32_t)x.c;
	if (c.pool.oy_step > 0xfffff || c.pool.ox_step > 0xfffff || !place_output(m, j, &c.pool.post, &y, &whole))
		return false;
	struct step *s = new_step(j, WEFT_CMD_POOL);
	s->c.pool = c.pool;
	reads(s, x.area);
	writes(s, y.area);
	store_output(m, j, &y, whole);
	return true;
}

static bool elt_job(struct maker *m, struct job *j)
{
	struct weft_cmd c;
	struct ten x = draw_ten(m), y, b;
	bool whole, mul = m->mode != FLOAT && m->cfg->has_mul && chance(m, 25), add = !mul && chance(m, 60);
	bool table = m->mode == INT8 && m->cfg->has_table && !mul && !add && chance(m, 50);
	int bytes = -1;

	weft_cmd_init(&c, WEFT_CMD_ELT);
	draw_post(m, &c.elt.post, false);
	if (!add && c.elt.post.even && c.elt.post.pre_shift < 30) {
		c.elt.post.a_mul = 1u << 30;
		c.elt.post.a_shift = c.elt.post.pre_shift + (int32_t)draw(m, 31, 32);
	}
	c.elt.post.oh = (int32_t)x.h;
	c.elt.post.ow = (int32_t)x.w;
	c.elt.post.oc = (int32_t)x.c;
	if (!place_output(m, j, &c.elt.post, &y, &whole))
		return false;
	if (whole && x.e == y.e && chance(m, 20))
		x = y;
	else if (!place_filled(m, j, &x))
		return false;
	if ((add || mul) && !place_addend(m, j, &c.elt.post, &y, whole, &b))
		return false;
	c.elt.post.add = add;
	c.elt.mul = mul;
	if (mul && b.area != y.area && chance(m, 50)) {
		/* One pixel for all, or one row. */
		c.elt.post.b_y_stride = 0;
		c.elt.post.b_x_stride = chance(m, 50) ? c.elt.post.b_x_stride : 0;
	}
	if (table) {
		if ((bytes = new_area(m, 256, m->n)) < 0)
			return false;
		fill(m, j, bytes, FMT_ANY);
		c.elt.table = 1;
		c.elt.post.b_base = (int32_t)m->area[bytes].at;
	}
	c.elt.in_base = (int32_t)x.at;
	c.elt.in_y_stride = (int32_t)x.ys;
	c.elt.in_x_stride = (int32_t)x.xs;
	struct step *s = new_step(j, WEFT_CMD_ELT);
	s->c.elt = c.elt;
	reads(s, x.area);
	if (add || mul)
		reads(s, b.area);
	if (table)
		reads(s, bytes);
	writes(s, y.area);
	store_output(m, j, &y, whole);
	return true;
}

/* A block with gaps on both sides, out to memory, and back to another place, whose gaps shall stay. */
static bool copy_job(struct maker *m, struct job *j)
{
	struct ten t = { .h = draw_count(m, 12), .w = draw_count(m, 12), .c = draw_count(m, 400), .e = 1, .fmt = FMT_ANY }, u = t;

	bool whole = chance(m, 50);

	if (!place_filled(m, j, &t) || !(whole ? place_filled(m, j, &u) : place(m, &u)))
		return false;
	store_output(m, j, &t, false);
	struct weft_cmd_load out = j->step[j->n - 1].c.load;
	struct step *s = new_step(j, WEFT_CMD_LOAD);
	s->c.load = out;
	/* What was stored, or of each row the first half, widened. */
	s->c.load.int4 = m->cfg->has_int4 && chance(m, 30);
	s->c.load.sp_addr = (int32_t)u.at;
	s->c.load.sp_stride1 = (int32_t)u.xs;
	s->c.load.sp_stride2 = (int32_t)u.ys;
	/* Standing for the memory: behind the store that made it. */
	reads(s, t.area);
	/* What filled it has retired, so that it was compared before it is overwritten. */
	reads(s, u.area);
	writes(s, u.area);
	store_output(m, j, &u, whole);
	return true;
}

/* ---- alu ---- */

/* One operand: elements at base + sum of i[d] * s[d] in an area of its own. */
struct side { int32_t base, s[4], type, zp; int area; };

static int64_t side_bytes(int32_t type)
{
	static const int bytes[] = { 1, 2, 4, 8, 1, 2, 4 };

	return bytes[type];
}

/* Dense, strided, in any order, backwards; broadcast where it is read. Dimension `fixed` goes forwards,
 * `first` is most often dense. */
static bool draw_side(struct maker *m, struct job *j, struct side *s, const int64_t n[4], int first, int fixed, bool out)
{
	int order[4] = { first, !first, 2, 3 };
	int64_t back = 0;

	s->type = (int32_t)draw(m, 0, 6);
	s->zp = chance(m, 60) ? 0 : (int32_t)draw(m, -65536, 65535);
	int64_t step = side_bytes(s->type);
	for (int k = 3; k > 0; k--) {
		int i = chance(m, 85) ? k : (int)draw(m, 0, k), t = order[k];
		order[k] = order[i];
		order[i] = t;
	}
	for (int k = 0; k < 4; k++) {
		int d = order[k], how = d == fixed ? 3 : (int)draw(m, 0, 9);
		if (!out && how == 0) {
			s->s[d] = 0;
			continue;
		}
		s->s[d] = (int32_t)step;
		if (how == 1 && n[d] > 1) {
			back += (n[d] - 1) * step;
			s->s[d] = (int32_t)((1 << WEFT_SP_ADDR_BITS) - step);
		}
		step = step * n[d] + (how == 2 ? draw(m, 0, 9) : 0);
	}
	s->area = new_area(m, step, 1);
	if (s->area < 0)
		return false;
	s->base = (int32_t)(m->area[s->area].at + back);
	fill(m, j, s->area, FMT_ANY);
	return true;
}

#define SET_SIDE(c, x, from) do { \
	(c)->x##_base = (from).base; (c)->x##_type = (from).type; \
	(c)->x##_s0 = (from).s[0]; (c)->x##_s1 = (from).s[1]; (c)->x##_s2 = (from).s[2]; (c)->x##_s3 = (from).s[3]; } while (0)

/* What no operand depends on. true: a reduction along what a has dense. */
static bool draw_alu(struct maker *m, struct weft_cmd_alu *c)
{
	c->func = (int32_t)draw(m, 0, WEFT_ALU_FUNC_ARGMAX);
	c->n0 = (int32_t)(chance(m, 20) ? draw(m, 1, 200) : draw_count(m, 3 * m->n));
	c->n1 = (int32_t)draw(m, 1, 7);
	c->n2 = (int32_t)draw(m, 1, 5);
	c->n3 = (int32_t)draw(m, 1, 3);
	c->idx_last = (int32_t)draw(m, 0, c->func == WEFT_ALU_FUNC_INTERP ? 511 : 20);
	if (c->func == WEFT_ALU_FUNC_INTERP) {
		c->n0 = (int32_t)draw(m, 1, 3);
		c->n2 = c->n3 = 1;
	}
	if (c->func == WEFT_ALU_FUNC_LOOKUP && chance(m, 40)) {
		c->n0 = (int32_t)draw(m, 250, 400);
		c->n1 = (int32_t)draw(m, 1, 2);
		c->n2 = c->n3 = 1;
		c->idx_last = (int32_t)draw(m, 100, 255);
	}
	c->b_imm = chance(m, 25);
	c->c_imm = chance(m, 25);
	c->b_value = (int32_t)(chance(m, 50) ? draw(m, -40, 40) : draw(m, INT32_MIN, INT32_MAX));
	c->c_value = (int32_t)(chance(m, 50) ? draw(m, 0, 62) : draw(m, INT32_MIN, INT32_MAX));
	c->clamp = chance(m, 40);
	c->lo = (int32_t)draw(m, INT32_MIN, 100);
	c->hi = (int32_t)draw(m, c->lo, INT32_MAX);
	c->round = chance(m, 50);
	c->even = m->cfg->has_even && chance(m, 50);
	c->shift = (int32_t)(chance(m, 50) ? 0 : draw(m, 0, 63));
	if (c->func < WEFT_ALU_FUNC_SUM || chance(m, 50))
		return false;
	c->n0 = (int32_t)draw(m, 1, 5);
	c->n1 = (int32_t)draw_count(m, 5 * m->n);
	return true;
}

static bool alu_job(struct maker *m, struct job *j)
{
	struct weft_cmd cmd;
	struct weft_cmd_alu *c = &cmd.alu;
	struct side a, b, x, y;

	if (!(m->cfg->features & WEFT_FEATURE_ALU))
		return false;
	m->mode = INT8;
	weft_cmd_init(&cmd, WEFT_CMD_ALU);
	bool along = draw_alu(m, c);
	const int64_t n[4] = { c->n0, c->n1, c->n2, c->n3 }, flat[4] = { c->n0, c->idx_last + 2, c->n2, c->n3 };
	const int64_t line[4] = { c->n0, 1, c->n2, c->n3 };
	const int64_t entries[4] = { 1, c->idx_last + 2, 1, 1 };
	bool one_table = c->func == WEFT_ALU_FUNC_LOOKUP && c->n0 >= 250;
	bool indexed = c->func == WEFT_ALU_FUNC_LOOKUP || c->func == WEFT_ALU_FUNC_INTERP, spreads = c->func == WEFT_ALU_FUNC_SCATTER;
	bool folds = c->func >= WEFT_ALU_FUNC_SUM;
	if (!draw_side(m, j, &a, n, along, -1, c->func <= WEFT_ALU_FUNC_RESCALE && chance(m, 30)) ||
	    !draw_side(m, j, &b, one_table ? entries : indexed ? flat : n, 0, indexed ? 1 : -1, false) || !draw_side(m, j, &x, n, 0, -1, false))
		return false;
	if (one_table)
		b.s[0] = b.s[2] = b.s[3] = 0;
	if (!indexed && chance(m, 12)) {
		const int32_t zp = b.zp;
		b = a;
		b.zp = zp;
	}
	bool in_place = c->func <= WEFT_ALU_FUNC_RESCALE && chance(m, 25);
	for (int d = 0; d < 4; d++)
		in_place &= a.s[d] != 0;
	if (in_place) {
		y = a;
		y.zp = (int32_t)draw(m, -65536, 65535);
	} else if (!draw_side(m, j, &y, spreads ? flat : folds ? line : n, 0, spreads ? 1 : -1, true)) {
		return false;
	}
	SET_SIDE(c, a, a);
	SET_SIDE(c, b, b);
	SET_SIDE(c, c, x);
	SET_SIDE(c, out, y);
	c->a_zp = a.zp;
	c->b_zp = b.zp;
	c->out_zp = y.zp;
	if (indexed) {
		c->idx_step = c->b_s1;
		c->b_s1 = 0;
		c->b_imm = 0;
	}
	if (spreads) {
		c->idx_step = c->out_s1;
		c->out_s1 = 0;
	}
	struct step *s = new_step(j, WEFT_CMD_ALU);
	s->c.alu = *c;
	reads(s, a.area);
	reads(s, b.area);
	reads(s, x.area);
	/* Its other bytes stay what they were; they have been compared before. */
	reads(s, y.area);
	writes(s, y.area);
	store(m, j, y.area, m->area[y.area].at, m->area[y.area].len);
	return true;
}

/* Mode and formats; sums of products have no input of fp16. */
static void draw_mode(struct maker *m, bool sums)
{
	do
		m->mode = chance(m, 40) ? INT8 : chance(m, 45) ? INT16 : FLOAT;
	while (!(m->cfg->features >> m->mode & 1));
	m->x_fmt = (int)draw(m, 0, sums ? FMT_E5M2FNUZ : FMT_FP16);
	m->w_fmt = (int)draw(m, 0, FMT_E5M2FNUZ);
	m->b_fmt = (int)draw(m, 0, FMT_FP16);
	m->out_fmt = (int)draw(m, 0, FMT_FP16);
}

static void draw_job(struct maker *m, struct job *j)
{
	static bool (*const make[])(struct maker *, struct job *) = {
		conv_job, conv_job, conv_job, dw_job, dw_job, pool_job, elt_job, elt_job, copy_job, alu_job, alu_job,
	};

	for (int tries = 0; tries < 8; tries++) {
		int n_areas = m->n_areas, kind = (int)draw(m, 0, N_OF(make) - 1);
		memset(j, 0, sizeof(*j));
		draw_mode(m, make[kind] == conv_job || make[kind] == dw_job);
		if (make[kind](m, j))
			return;
		m->n_areas = n_areas;
	}
	memset(j, 0, sizeof(*j));
}

/* ---- the stream ---- */

static void up(int *to, int v)
{
	*to = *to > v ? *to : v;
}

/* What must have retired before the step may start. */
static void needed(const struct maker *m, const struct step *s, unsigned unit, int wait[WEFT_N_UNITS])
{
	for (int i = 0; i < s->n_in + s->n_out; i++) {
		const struct area *a = &m->area[s->area[i]];
		bool out = i >= s->n_in;
		for (unsigned u = 0; u < WEFT_N_UNITS; u++) {
			/* A unit writes in order; only reading back its own needs a wait. */
			if (!out || u != unit)
				up(&wait[u], a->wrote[u]);
			if (out && u != unit)
				up(&wait[u], a->read[u]);
		}
	}
	/* Memory: a load behind a store of the same bytes; area[0] is what was stored. */
	if (s->c.h.op == WEFT_CMD_LOAD && s->n_in)
		up(&wait[WEFT_UNIT_ST], m->area[s->area[0]].read[WEFT_UNIT_ST]);
}

static void put(struct maker *m, struct step *s)
{
	unsigned unit = weft_cmd_info((unsigned)s->c.h.op)->unit;
	int wait[WEFT_N_UNITS] = { 0 };

	if (s->c.h.op != WEFT_CMD_END)
		needed(m, s, unit, wait);
	for (unsigned u = 0; u < WEFT_N_UNITS; u++) {
		if (m->style == 1 || (m->style == 2 && chance(m, 30)))
			wait[u] = m->count[u];
		s->c.h.wait[u] = wait[u];
	}
	s->c.h.tag = (uint32_t)m->s->n_cmds * 0x9e3779b1u;   /* all its bits */
	if (m->s->n_words + WEFT_CMD_MAX_WORDS > m->cap_words) {
		m->cap_words = 2 * m->cap_words + 256;
		m->s->words = must(realloc(m->s->words, m->cap_words * 8));
	}
	m->s->n_words += weft_cmd_encode(&s->c, m->s->words + m->s->n_words);
	m->s->n_cmds++;
	m->s->count[s->c.h.op & 0xff]++;
	if (s->c.h.op == WEFT_CMD_END)
		return;
	/* post is the first member of all commands that have it. */
	bool has_post = (unit == WEFT_UNIT_CV || unit == WEFT_UNIT_VE) && s->c.h.op != WEFT_CMD_ALU;
	if (has_post)
		m->s->modes[s->c.conv.post.mode]++;
	if (has_post && s->c.conv.post.raw && !(unit == WEFT_UNIT_CV && s->c.conv.keep))
		m->s->modes[3]++;
	if (s->c.h.op == WEFT_CMD_LOAD && s->c.load.int4)
		m->s->modes[4]++;
	if (s->c.h.op == WEFT_CMD_LOAD && s->c.load.coded)
		m->s->modes[5]++;
	m->count[unit]++;
	for (int i = 0; i < s->n_in + s->n_out; i++) {
		struct area *a = &m->area[s->area[i]];
		up(i < s->n_in ? &a->read[unit] : &a->wrote[unit], m->count[unit]);
	}
}

static void interleave(struct maker *m, struct job *jobs, int n)
{
	int left = 0, locked = -1;

	for (int i = 0; i < n; i++)
		left += jobs[i].n;
	while (left) {
		int i = locked >= 0 ? locked : (int)draw(m, 0, n - 1);
		if (jobs[i].done == jobs[i].n)
			continue;
		struct step *s = &jobs[i].step[jobs[i].done++];
		put(m, s);
		locked = s->with_next ? i : -1;
		left--;
	}
}

void random_stream_make(struct random_stream *s, uint64_t seed, const struct weft_config *cfg)
{
	struct maker *m = must(calloc(1, sizeof(*m)));
	struct job *jobs = must(calloc(MAX_JOBS, sizeof(*jobs)));
	struct step last = { 0 };

	memset(s, 0, sizeof(*s));
	*m = (struct maker){ .s = s, .cfg = cfg, .rng = seed * 0x9e3779b97f4a7c15u, .n = cfg->n };
	m->style = (int)draw(m, 0, 2);
	int n = (int)draw(m, 1, MAX_JOBS);
	for (int i = 0; i < n; i++)
		draw_job(m, &jobs[i]);
	interleave(m, jobs, n);
	weft_cmd_init(&last.c, WEFT_CMD_END);
	put(m, &last);
	s->n_arena += 1;
	s->n_consts += s->n_consts ? 0 : 1;
	s->consts = must(realloc(s->consts, s->n_consts + 1));
	free(jobs);
	free(m);
}

void random_stream_free(struct random_stream *s)
{
	free(s->words);
	free(s->consts);
	memset(s, 0, sizeof(*s));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * float8 on the RTL against arithmetic in doubles, without the model: every
 * product of two codes in all 16 pairs of formats, in the array and in the
 * depthwise engine, random sums, and every conversion between fp16 and float8
 * in the post unit.
 *
 * Codes are their own addresses: pixel x holds code x, channel w has the weight
 * w, so a convolution of one channel makes all 65536 products.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <weft/dev.h>
#include <weft/gen/cmd.h>
#include <weft/gen/config.h>

#include "../model/brute_float.h"
#include "../support/level.h"
#include "../support/tensors.h"

#define CODES 256
#define PART 64                /* pixels of one command */
#define PARTS (CODES / PART)
#define PAIRS 16
#define DW_PART 32             /* as many as leave room for the others at w8 */
#define FLOAT 2                /* mode */

struct bench {
	const struct weft_config *cfg;
	weft_dev *dev;
	uint64_t words[4096];
	size_t n_words;
	int n_ld, n_st, n_cv, n_ve;
	uint8_t *consts;
	uint32_t n_consts;
	uint8_t *arena;
	uint64_t n_arena;
	uint64_t rng;
};

static bool bench_open(struct bench *b, const char *config)
{
	struct weft_dev_options o = weft_dev_options_default();
	char msg[WEFT_DEV_MSG] = "";

	*b = (struct bench){ .cfg = weft_config_find(config), .rng = test_seed(1) };
	if (!test_have_rtl(config))
		return false;
	o.kind = WEFT_DEV_RTL;
	o.config = config;
	o.memory = WEFT_MEMORY_SRAM;
	if (weft_dev_open(&o, &b->dev, msg))
		fail_msg("%s", msg);
	b->consts = calloc(1, 1 << 20);
	assert_non_null(b->consts);
	return true;
}

static void bench_close(struct bench *b)
{
	weft_dev_close(b->dev);
	free(b->consts);
	free(b->arena);
}

static void bench_reset(struct bench *b)
{
	free(b->arena);
	b->arena = NULL;
	b->n_words = b->n_arena = 0;
	b->n_consts = 0;
	b->n_ld = b->n_st = b->n_cv = b->n_ve = 0;
}

static void put(struct bench *b, struct weft_cmd *c)
{
	assert_true(b->n_words + WEFT_CMD_MAX_WORDS <= sizeof(b->words) / 8);
	b->n_words += weft_cmd_encode(c, b->words + b->n_words);
}

/* Bytes for the scratchpad; the caller fills them. */
static uint8_t *load(struct bench *b, uint32_t at, uint32_t len)
{
	uint8_t *data = b->consts + b->n_consts;
	struct weft_cmd c;

	weft_cmd_init(&c, WEFT_CMD_LOAD);
	c.load.window = WEFT_WIN_CONST;
	c.load.dram_off = b->n_consts;
	c.load.sp_addr = (int32_t)at;
	c.load.row_bytes = (int32_t)len;
	put(b, &c);
	b->n_consts += len;
	b->n_ld++;
	assert_true(b->n_consts <= 1 << 20);
	return data;
}

/* Behind everything before it; returns where in the arena. */
static uint64_t store(struct bench *b, uint32_t at, uint32_t len)
{
	struct weft_cmd c;
	uint64_t to = b->n_arena;

	weft_cmd_init(&c, WEFT_CMD_STORE);
	c.h.wait[WEFT_UNIT_CV] = b->n_cv;
	c.h.wait[WEFT_UNIT_VE] = b->n_ve;
	c.load.window = WEFT_WIN_ARENA;
	c.load.dram_off = (int64_t)to;
	c.load.sp_addr = (int32_t)at;
	c.load.row_bytes = (int32_t)len;
	put(b, &c);
	b->n_st++;
	b->n_arena += len;
	return to;
}

static void run(struct bench *b)
{
	struct weft_window win[2] = { { .rd = true }, { .rd = true, .wr = true } };
	struct weft_job_result r;
	struct weft_cmd end;
	weft_job job;

	weft_cmd_init(&end, WEFT_CMD_END);
	put(b, &end);
	b->arena = malloc(b->n_arena);
	assert_non_null(b->arena);
	assert_int_equal(weft_buf_alloc(b->dev, b->n_consts, &win[0].buf), 0);
	assert_int_equal(weft_buf_alloc(b->dev, b->n_arena, &win[1].buf), 0);
	assert_int_equal(weft_buf_write(win[0].buf, 0, b->consts, b->n_consts), 0);
	if (weft_submit(b->dev, b->words, b->n_words, win, 2, &job))
		fail_msg("%s", weft_dev_error(b->dev));
	assert_int_equal(weft_wait(b->dev, job, WEFT_FOREVER, &r), 0);
	if (r.status)
		fail_msg("%s", weft_dev_error(b->dev));
	assert_int_equal(weft_buf_read(win[1].buf, 0, b->arena, b->n_arena), 0);
	weft_buf_free(win[0].buf);
	weft_buf_free(win[1].buf);
}

static int half_at(const struct bench *b, uint64_t at)
{
	return b->arena[at] | b->arena[at + 1] << 8;
}

static const char *const formats[] = { "E4M3FN", "E5M2", "E4M3FNUZ", "E5M2FNUZ", "fp16" };

/* ---- post ---- */

static void open_limits(struct weft_cmd_post *p)
{
	p->mode = FLOAT;
	p->y_min = p->s_min = (int16_t)0xfc00;
	p->y_max = p->s_max = 0x7c00;
}

/* A row of pixels of all channels, in fp16. */
static void post_row(struct weft_cmd_post *p, uint32_t out, int width)
{
	open_limits(p);
	p->out_fmt = FP16;
	p->out_base = (int32_t)out;
	p->out_x_stride = 2 * CODES;
	p->ow = width;
	p->oc = CODES;
}

/* ---- products ---- */

/* Each region its own use; outputs alternate between two of PART pixels. */
static uint32_t region(const struct bench *b, int i) { return b->cfg->sp_bytes / 8 * (uint32_t)i; }

static uint32_t output(const struct bench *b, int command) { return region(b, command % 2 ? 6 : 4); }

/* One weight a channel, in front of a chunk; what is behind the run does not count. */
static void load_weights(struct bench *b, uint32_t at)
{
	uint32_t n = b->cfg->n;
	uint8_t *w = load(b, at, CODES * n);

	memset(w, 0x7f, CODES * n);
	for (uint32_t c = 0; c < CODES; c++)
		w[c * n] = (uint8_t)c;
}

/* A bias of -0 changes nothing. */
static void load_records(struct bench *b, uint32_t at)
{
	uint8_t *p = load(b, at, CODES * WEFT_PARAM_BYTES);

	for (int c = 0; c < CODES; c++)
		weft_param_write(&(struct weft_param){ .bias = 0x8000 }, p + c * WEFT_PARAM_BYTES);
}

static void conv_products(struct bench *b, int scale, uint64_t at[PAIRS][PARTS])
{
	uint8_t *x = load(b, 0, CODES);

	for (int i = 0; i < CODES; i++)
		x[i] = (uint8_t)i;
	load_weights(b, region(b, 1));
	load_records(b, region(b, 2));
	for (int pair = 0; pair < PAIRS; pair++)
		for (int part = 0; part < PARTS; part++) {
			struct weft_cmd c;
			uint32_t out = output(b, b->n_cv);
			weft_cmd_init(&c, WEFT_CMD_CONV);
			c.h.wait[WEFT_UNIT_LD] = b->n_ld;
			c.h.wait[WEFT_UNIT_ST] = b->n_cv > 1 ? b->n_cv - 1 : 0;
			post_row(&c.conv.post, out, PART);
			c.conv.post.x_fmt = pair % 4;
			c.conv.post.w_fmt = pair / 4;
			c.conv.in_base = part * PART;
			c.conv.ox_step = 1;
			c.conv.run_len = 1;
			c.conv.x_limit = PART;
			c.conv.w_base = (int32_t)region(b, 1);
			c.conv.p_base = (int32_t)region(b, 2);
			c.conv.log2_scale = scale;
			put(b, &c);
			b->n_cv++;
			at[pair][part] = store(b, out, PART * CODES * 2);
		}
}

/*
 * Pixel x is column 3x + 1, others hold zero. One tap is the channel's weight, in
 * turn each of the nine, the others zero. Only one input row exists.
 */
static void dw_products(struct bench *b, int part, uint64_t at[PAIRS])
{
	uint32_t n = b->cfg->n, width = 3 * DW_PART;
	uint8_t *x = load(b, 0, width * CODES);

	memset(x, 0, width * CODES);
	for (int i = 0; i < DW_PART; i++)
		memset(x + (3 * i + 1) * CODES, part * DW_PART + i, CODES);
	load_records(b, 3 * DW_PART * CODES);
	for (int pair = 0; pair < PAIRS; pair++) {
		struct weft_cmd c;
		uint32_t out = output(b, pair), weights = region(b, 2);
		int tap = pair % 9;
		/* Weights of a block: nine words of N. */
		if (pair)
			weights += (uint32_t)tap * 9 * CODES;
		if (pair < 9) {
			uint8_t *w = load(b, weights, 9 * CODES);
			memset(w, 0, 9 * CODES);
			for (uint32_t k = 0; k < CODES; k++)
				w[k / n * 9 * n + (uint32_t)tap * n + k % n] = (uint8_t)k;
		}
		weft_cmd_init(&c, WEFT_CMD_DW);
		c.h.wait[WEFT_UNIT_LD] = b->n_ld;
		c.h.wait[WEFT_UNIT_ST] = pair > 1 ? pair - 1 : 0;
		post_row(&c.dw.post, out, DW_PART);
		c.dw.post.x_fmt = pair % 4;
		c.dw.post.w_fmt = pair / 4;
		c.dw.in_x_stride = CODES;
		c.dw.in_h = 1;
		c.dw.in_w = (int32_t)width;
		c.dw.iy_start = -(tap / 3);
		c.dw.ix_start = 1 - tap % 3;
		c.dw.stride_x = 3;
		c.dw.w_base = (int32_t)weights;
		c.dw.p_base = 3 * DW_PART * CODES;
		put(b, &c);
		b->n_ve++;
		at[pair] = store(b, out, DW_PART * CODES * 2);
	}
}

static void want_products(const struct bench *b, const char *where, int pair, int first, int n, int scale, uint64_t at)
{
	int xf = pair % 4, wf = pair / 4;

	for (int i = 0; i < n; i++)
		for (int w = 0; w < CODES; w++) {
			int x = first + i;
			int want = bf_sum_out(bf_product(xf, x, wf, w, scale));
			int got = half_at(b, at + 2 * (uint64_t)(i * CODES + w));
			if (want != got)
				fail_msg("%s %s, %s 0x%02x * %s 0x%02x * 2^%d: expected 0x%04x, got 0x%04x", b->cfg->name,
				         where, formats[xf], x, formats[wf], w, scale, want, got);
		}
}

static void conv_all(struct bench *b, int scale)
{
	uint64_t at[PAIRS][PARTS];

	bench_reset(b);
	conv_products(b, scale, at);
	run(b);
	for (int pair = 0; pair < PAIRS; pair++)
		for (int part = 0; part < PARTS; part++)
			want_products(b, "conv", pair, part * PART, PART, scale, at[pair][part]);
}

static void dw_all(struct bench *b)
{
	uint64_t at[PAIRS];

	for (int part = 0; part < CODES / DW_PART; part++) {
		bench_reset(b);
		dw_products(b, part, at);
		run(b);
		for (int pair = 0; pair < PAIRS; pair++)
			want_products(b, "dw", pair, part * DW_PART, DW_PART, 0, at[pair]);
	}
}

/* ---- sums ---- */

#define TERMS 23               /* more than a chunk */

/* Random codes, mostly of like size, so that sums round, cancel and overflow. */
static uint8_t draw_code(struct bench *b, int near)
{
	uint64_t r = test_random(&b->rng);

	if (r % 200 == 0)
		return (uint8_t)(r >> 8);
	return (uint8_t)(near + (int)(r >> 8 & 15) - 8) ^ (uint8_t)(r >> 20 & 0x80);
}

static void sums(struct bench *b, int pair)
{
	uint32_t n = b->cfg->n, chunks = (TERMS + n - 1) / n;
	int xf = pair % 4, wf = pair / 4, scale = (int)(test_random(&b->rng) % 33) - 16;
	int x_near = 16 + (int)(test_random(&b->rng) % 96), w_near = 16 + (int)(test_random(&b->rng) % 96);
	struct weft_cmd c;

	bench_reset(b);
	uint8_t *x = load(b, 0, PART * TERMS);
	for (int i = 0; i < PART * TERMS; i++)
		x[i] = draw_code(b, x_near);
	uint8_t *w = load(b, region(b, 1), CODES * chunks * n);
	memset(w, 0, CODES * chunks * n);
	uint8_t *p = load(b, region(b, 3), CODES * WEFT_PARAM_BYTES);
	for (uint32_t k = 0; k < CODES; k++) {
		uint16_t bias = (uint16_t)test_random(&b->rng) & (k % 8 ? 0xbfff : 0xffff);
		for (uint32_t t = 0; t < TERMS; t++)
			w[(k / n * chunks + t / n) * n * n + k % n * n + t % n] = draw_code(b, w_near);
		weft_param_write(&(struct weft_param){ .bias = bias }, p + k * WEFT_PARAM_BYTES);
	}
	weft_cmd_init(&c, WEFT_CMD_CONV);
	c.h.wait[WEFT_UNIT_LD] = b->n_ld;
	post_row(&c.conv.post, output(b, 0), PART);
	c.conv.post.x_fmt = xf;
	c.conv.post.w_fmt = wf;
	c.conv.ox_step = c.conv.run_len = TERMS;
	c.conv.x_limit = PART * TERMS;
	c.conv.w_base = (int32_t)region(b, 1);
	c.conv.p_base = (int32_t)region(b, 3);
	c.conv.log2_scale = scale;
	put(b, &c);
	b->n_cv++;
	store(b, output(b, 0), PART * CODES * 2);
	run(b);
	for (uint32_t i = 0; i < PART; i++)
		for (uint32_t k = 0; k < CODES; k++) {
			double sum = 0;
			for (uint32_t t = 0; t < TERMS; t++)
				sum = bf_accumulate(sum, bf_product(xf, x[i * TERMS + t], wf,
				                                    w[(k / n * chunks + t / n) * n * n + k % n * n + t % n], scale));
			int want = bf_add(bf_sum_out(sum), (uint16_t)weft_param_read(p + k * WEFT_PARAM_BYTES).bias);
			int got = half_at(b, 2 * (uint64_t)(i * CODES + k));
			if (want != got)
				fail_msg("%s seed %llu, sum of %s * %s * 2^%d, pixel %u, channel %u: expected 0x%04x, got 0x%04x",
				         b->cfg->name, (unsigned long long)test_seed(1), formats[xf], formats[wf], scale, i, k, want, got);
		}
}

/* ---- conversions ---- */

#define PATTERNS 65536
#define AT_ONCE 16384          /* what a w8 has room for */

struct conversion {
	int x_fmt, out_fmt, saturate, lo, hi;
	bool add, plus_nothing;    /* r is random, or -0 */
	int b_fmt;
};

static void limits(struct weft_cmd_post *p, const struct conversion *v)
{
	p->y_min = p->s_min = (int16_t)v->lo;
	p->y_max = p->s_max = (int16_t)v->hi;
}

/* What the post unit makes of x, and of the addend r. */
static int converted(const struct conversion *v, int x, int r)
{
	int q = bf_read(v->x_fmt, x);

	if (v->add)
		q = bf_add(q, bf_read(v->b_fmt, r));
	q = bf_clamp(q, v->lo, v->hi);
	return v->out_fmt == FP16 ? q : bf_encode(v->out_fmt, v->saturate, q);
}

static int element(const uint8_t *from, int fmt, uint32_t i)
{
	return fmt == FP16 ? from[2 * i] | from[2 * i + 1] << 8 : from[i];
}

/* x counts through all patterns, from first on; r is random. */
static void convert(struct bench *b, const struct conversion *v, uint32_t first, uint32_t count)
{
	uint32_t x_bytes = v->x_fmt == FP16 ? 2 : 1, b_bytes = v->b_fmt == FP16 ? 2 : 1, o_bytes = v->out_fmt == FP16 ? 2 : 1;
	uint32_t width = count / CODES, at_b = region(b, 3), at_out = region(b, 6);
	struct weft_cmd c;

	bench_reset(b);
	uint8_t *x = load(b, 0, count * x_bytes), *r = x;
	for (uint32_t i = 0; i < count; i++) {
		x[i * x_bytes] = (uint8_t)(first + i);
		x[i * x_bytes + x_bytes - 1] = (uint8_t)((first + i) >> 8 * (x_bytes - 1));
	}
	weft_cmd_init(&c, WEFT_CMD_ELT);
	open_limits(&c.elt.post);
	limits(&c.elt.post, v);
	c.elt.post.x_fmt = v->x_fmt;
	c.elt.post.out_fmt = v->out_fmt;
	c.elt.post.saturate = v->saturate;
	c.elt.post.ow = (int32_t)width;
	c.elt.post.oc = CODES;
	c.elt.post.out_base = (int32_t)at_out;
	c.elt.post.out_x_stride = (int32_t)(CODES * o_bytes);
	c.elt.in_x_stride = (int32_t)(CODES * x_bytes);
	if (v->add) {
		r = load(b, at_b, count * b_bytes);
		for (uint32_t i = 0; i < count * b_bytes; i++)
			r[i] = !v->plus_nothing ? (uint8_t)test_random(&b->rng) : i % b_bytes == b_bytes - 1 ? 0x80 : 0;
		c.elt.post.add = 1;
		c.elt.post.b_fmt = v->b_fmt;
		c.elt.post.b_base = (int32_t)at_b;
		c.elt.post.b_x_stride = (int32_t)(CODES * b_bytes);
	}
	c.h.wait[WEFT_UNIT_LD] = b->n_ld;
	put(b, &c);
	b->n_ve++;
	store(b, at_out, count * o_bytes);
	run(b);
	for (uint32_t i = 0; i < count; i++) {
		int xe = element(x, v->x_fmt, i), re = element(r, v->b_fmt, i), want = converted(v, xe, re);
		int got = element(b->arena, v->out_fmt, i);
		if (want != got)
			fail_msg("%s, %s 0x%04x%s%s 0x%04x to %s, saturate %d, limits 0x%04x and 0x%04x: expected 0x%04x, got 0x%04x",
			         b->cfg->name, formats[v->x_fmt], xe, v->add ? " + " : ", not added: ", formats[v->b_fmt], re,
			         formats[v->out_fmt], v->saturate, v->lo, v->hi, want, got);
	}
}

static void convert_all(struct bench *b, const struct conversion *v)
{
	uint32_t values = v->x_fmt == FP16 ? PATTERNS : CODES;

	for (uint32_t first = 0; first < values; first += AT_ONCE)
		convert(b, v, first, values < AT_ONCE ? values : AT_ONCE);
}

static void conversions(struct bench *b)
{
	static const int range[][2] = { { 0xfc00, 0x7c00 }, { 0x8000, 0x4600 }, { 0, 0x7bff }, { 0xbc01, 0x8001 } };

	for (int fmt = E4M3FN; fmt <= E5M2FNUZ; fmt++) {
		for (int saturate = 0; saturate < 2; saturate++)
			convert_all(b, &(struct conversion){ .x_fmt = FP16, .out_fmt = fmt, .saturate = saturate, .lo = 0xfc00, .hi = 0x7c00 });
		convert_all(b, &(struct conversion){ .x_fmt = fmt, .out_fmt = FP16, .lo = 0xfc00, .hi = 0x7c00 });
		convert_all(b, &(struct conversion){ .x_fmt = FP16, .out_fmt = FP16, .lo = range[fmt][0], .hi = range[fmt][1] });
	}
	convert_all(b, &(struct conversion){ .x_fmt = FP16, .out_fmt = FP16, .lo = 0xfc00, .hi = 0x7c00, .add = true, .plus_nothing = true, .b_fmt = FP16 });
	for (int fmt = E4M3FN; fmt <= FP16; fmt++)
		convert_all(b, &(struct conversion){ .x_fmt = FP16, .out_fmt = FP16, .lo = 0xfc00, .hi = 0x7c00, .add = true, .b_fmt = fmt });
}

/* ---- */

static void each(void (*what)(struct bench *b))
{
	struct bench b;

	for (int i = 0; i < WEFT_N_CONFIGS; i++) {
		if (!weft_config_list()[i].has_fp8)
			continue;
		if (!bench_open(&b, weft_config_list()[i].name)) {
			if (!strcmp(weft_config_list()[i].name, "w16"))
				skip();
			continue;
		}
		what(&b);
		bench_close(&b);
	}
}

static void array_products(struct bench *b)
{
	static const int some[] = { 0, 9, -32, 31 };

	for (int i = 0; i < (test_level() ? 4 : 1); i++)
		conv_all(b, some[i]);
	for (int scale = -31; test_level() > 1 && scale < 31; scale++)
		conv_all(b, scale);
}

static void random_sums(struct bench *b)
{
	for (long i = 0; i < test_count(1, 2, 50); i++)
		for (int pair = 0; pair < PAIRS; pair++)
			sums(b, pair);
}

static void test_array_products(void **state)
{
	(void)state;
	each(array_products);
}

static void test_dw_products(void **state)
{
	(void)state;
	each(dw_all);
}

static void test_sums(void **state)
{
	(void)state;
	each(random_sums);
}

static void test_conversions(void **state)
{
	(void)state;
	each(conversions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_array_products), cmocka_unit_test(test_dw_products),
		cmocka_unit_test(test_sums), cmocka_unit_test(test_conversions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

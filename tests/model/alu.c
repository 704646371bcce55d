/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alu, raw sums and int4 loads against their sentences in cmd.toml, on random
 * small tensors. The arithmetic is written once more, in 128-bit integers.
 */
#include "brute.h"
#include "alu_command.h"

/* Two's complement of so many bits. */
static wide cut(wide v, int bits)
{
	wide top = (wide)1 << bits;

	v %= top;
	v += v < 0 ? top : 0;
	return v >= top / 2 ? v - top : v;
}

static wide low32(wide v)
{
	return cut(v, 32);
}

static wide read_at(const struct bench *b, const uint8_t *sp, int32_t at, int32_t type)
{
	wide v = 0;

	(void)b;
	for (int i = type == 3 ? 5 : sizes[type] - 1; i >= 0; i--)
		v = v * 256 + sp[at + i];
	return type >= 4 ? v : cut(v, type == 3 ? 48 : 8 * sizes[type]);
}



static struct side side_a(const struct weft_cmd_alu *c)
{
	return (struct side){c->a_base, {c->a_s0, c->a_s1, c->a_s2, c->a_s3}, c->a_type, c->a_zp};
}

static struct side side_b(const struct weft_cmd_alu *c)
{
	return (struct side){c->b_base, {c->b_s0, c->b_s1, c->b_s2, c->b_s3}, c->b_type, c->b_zp};
}

static struct side side_c(const struct weft_cmd_alu *c)
{
	return (struct side){c->c_base, {c->c_s0, c->c_s1, c->c_s2, c->c_s3}, c->c_type, 0};
}

static struct side side_out(const struct weft_cmd_alu *c)
{
	return (struct side){c->out_base, {c->out_s0, c->out_s1, c->out_s2, c->out_s3}, c->out_type, c->out_zp};
}

static int32_t at_of(const struct side *s, const int32_t i[4])
{
	int32_t at = s->base;

	for (int k = 0; k < 4; k++)
		at += i[k] * step_of(s->s[k]);
	return at;
}

static wide shift_down(wide v, int by)
{
	wide d = (wide)1 << by;

	return (v - ((v % d) + d) % d) / d;
}

static wide clip(wide v, wide lo, wide hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

static wide rescale_of(const struct weft_cmd_alu *c, wide a, wide b, wide x)
{
	int s = (int)(((x % 64) + 64) % 64);
	wide v = c->a_type == 3 ? a : low32(a), m = c->a_type == 3 ? cut(b, 16) : low32(b), r = s ? (wide)1 << (s - 1) : 0;

	if (c->even && s)
		return low32(brute_even(v * m, s));
	if (c->round && s > 31)
		r += v < 0 ? -((wide)1 << 30) : (wide)1 << 30;
	return low32(shift_down(v * m + r, s));
}

static wide shr_of(const struct weft_cmd_alu *c, wide a, wide b)
{
	int s = (int)(((b % 64) + 64) % 64);
	wide v = shift_down(a, s);

	return c->round && s ? v + (shift_down(a, s - 1) & 1) : v;
}

static wide clz_of(wide a)
{
	wide v = low32(a), n = 0;

	v += v < 0 ? (wide)1 << 32 : 0;
	while (n < 32 && v < (wide)1 << (31 - n))
		n++;
	return n;
}

/* The elementwise functions. */
static wide one(const struct weft_cmd_alu *c, wide a, wide b, wide x)
{
	switch (c->func) {
	case 0: return a;
	case 1: return a + b;
	case 2: return a - b;
	case 3: return b - a;
	case 4: return shift_down(low32(a) * low32(b) + (c->shift ? (wide)1 << (c->shift - 1) : 0), c->shift);
	case 5: return a < b ? b : a;
	case 6: return a < b ? a : b;
	case 7: return a < 0 ? -a : a;
	case 8: return a & b;
	case 9: return a | b;
	case 10: return a ^ b;
	case 11: return cut(a * ((wide)1 << (((b % 64) + 64) % 64)), 48);
	case 12: return shr_of(c, a, b);
	case 13: return a == b;
	case 14: return a > b;
	case 15: return a >= b;
	case 16: return x ? a : b;
	case 17: return clz_of(a);
	case 18: return rescale_of(c, a, b, x);
	default: return 0;
	}
}

struct values { const struct bench *b; const uint8_t *sp; const struct weft_cmd_alu *c; };

static wide a_of(const struct values *v, const int32_t i[4])
{
	struct side s = side_a(v->c);

	return cut(read_at(v->b, v->sp, at_of(&s, i), s.type) - s.zp, 48);
}

static wide b_of(const struct values *v, const int32_t i[4])
{
	struct side s = side_b(v->c);

	return v->c->b_imm ? v->c->b_value : cut(read_at(v->b, v->sp, at_of(&s, i), s.type) - s.zp, 48);
}

static wide c_of(const struct values *v, const int32_t i[4])
{
	struct side s = side_c(v->c);

	return v->c->c_imm ? v->c->c_value : read_at(v->b, v->sp, at_of(&s, i), s.type);
}

static wide indexed(const struct values *v, const int32_t i[4], wide index)
{
	struct side s = side_b(v->c);
	int32_t at = at_of(&s, i) + (int32_t)index * v->c->idx_step;

	return cut(read_at(v->b, v->sp, at, s.type) - s.zp, 48);
}

/* All along dimension 1. */
static wide reduced(const struct values *v, const int32_t at[4])
{
	int32_t i[4] = {at[0], 0, at[2], at[3]};
	wide acc = 0, best = 0, top = 0;

	for (i[1] = 0; i[1] < v->c->n1; i[1]++) {
		wide a = a_of(v, i);

		if (is(v->c, "dot"))
			a = low32(a) * low32(b_of(v, i));
		if (!i[1] || a > top) {
			top = a;
			best = i[1];
		}
		if (!i[1])
			acc = a;
		else if (is(v->c, "rmax"))
			acc = a > acc ? a : acc;
		else if (is(v->c, "rmin"))
			acc = a < acc ? a : acc;
		else if (is(v->c, "rand"))
			acc &= a;
		else if (is(v->c, "ror"))
			acc |= a;
		else
			acc += a;
	}
	return is(v->c, "argmax") ? best : acc;
}

static wide expected(const struct values *v, const int32_t i[4])
{
	const struct weft_cmd_alu *c = v->c;

	if (c->func >= func_of("sum"))
		return reduced(v, i);
	if (is(c, "lookup"))
		return indexed(v, i, clip(a_of(v, i), 0, c->idx_last));
	if (is(c, "interp")) {
		wide j = a_of(v, i) & 0xffff, k = clip(shift_down(j, 7), 0, c->idx_last);
		wide t0 = indexed(v, i, k), t1 = indexed(v, i, k + 1);

		return t0 * 128 + (t1 - t0) * (j & 127);
	}
	if (is(c, "scatter"))
		return a_of(v, i);
	return one(c, a_of(v, i), b_of(v, i), c_of(v, i));
}

static void write_at(uint8_t *sp, int32_t at, int32_t type, wide v)
{
	for (int i = 0; i < sizes[type]; i++)
		sp[at + i] = (uint8_t)(unsigned)(shift_down(v, 8 * i) & 255);
}

static void want_all(struct bench *b, const uint8_t *before, const struct weft_cmd_alu *c)
{
	struct values v = {b, before, c};
	int32_t i[4], n1 = c->func >= func_of("sum") ? 1 : c->n1;
	struct side out = side_out(c);

	for (i[3] = 0; i[3] < c->n3; i[3]++)
	for (i[2] = 0; i[2] < c->n2; i[2]++)
	for (i[1] = 0; i[1] < n1; i[1]++)
	for (i[0] = 0; i[0] < c->n0; i[0]++) {
		wide r = cut(cut(expected(&v, i), 48) + c->out_zp, 48);
		int32_t at = at_of(&out, i);

		if (c->clamp)
			r = clip(r, c->lo, c->hi);
		if (is(c, "scatter"))
			at += (int32_t)clip(b_of(&v, i), 0, c->idx_last) * c->idx_step;
		write_at(b->want, at, out.type, r);
	}
}

static void alu_random(void **state)
{
	struct bench b = {.rng = rng_start()};

	(void)state;
	for (long i = 0; i < env_number("WEFT_N", 40) * (long)N_FUNCS; i++) {
		struct weft_cmd c;
		uint8_t *before;

		bench_open_config(&b, weft_config_of_model(i % 2 ? "w8" : "w16"));
		random_alu(&b.rng, (int32_t)b.cfg->sp_bytes, &c, (int)(i % (long)N_FUNCS));
		bench_load(&b);
		before = malloc(b.cfg->sp_bytes);
		assert_non_null(before);
		memcpy(before, b.want, b.cfg->sp_bytes);
		want_all(&b, before, &c.alu);
		bench_run(&b, &c);
		bench_compare(&b, &c, i);
		free(before);
		bench_close(&b);
	}
}

/* Without the feature the opcode is unknown, whatever else the command says. */
static void alu_without_feature_bad(void **state)
{
	const struct weft_config *with = weft_config_of_model("w16");
	struct weft_config without = *with;
	uint64_t words[WEFT_CMD_MAX_WORDS];
	struct weft_cmd c;
	size_t n;

	(void)state;
	without.features &= ~(WEFT_FEATURE_ALU | WEFT_FEATURE_RAW | WEFT_FEATURE_INT4);
	weft_cmd_init(&c, WEFT_CMD_ALU);
	n = weft_cmd_encode(&c, words);
	assert_int_equal(weft_cmd_fault(words, n, with), WEFT_FAULT_NONE);
	assert_int_equal(weft_cmd_fault(words, n, &without), WEFT_FAULT_BAD_OP);
	weft_cmd_init(&c, WEFT_CMD_CONV);
	c.conv.post.raw = 1;
	n = weft_cmd_encode(&c, words);
	assert_int_equal(weft_cmd_fault(words, n, with), WEFT_FAULT_NONE);
	assert_int_equal(weft_cmd_fault(words, n, &without), WEFT_FAULT_BAD_FIELD);
}

/* One pixel of one channel: sums with their biases, as they are. */
static void raw_sums(void **state)
{
	struct bench b = {.rng = rng_start()};

	(void)state;
	for (int i = 0; i < 400; i++) {
		struct weft_cmd c;
		struct weft_cmd_dw *d = &c.dw;
		int64_t bias = random_bias(&b.rng);
		int32_t oc = rng_int(&b.rng, 1, 40), mode = i & 1, size = mode ? 8 : 4, n;
		bool depthwise = i & 2;

		bench_open_config(&b, weft_config_of_model("w16"));
		n = (int32_t)b.cfg->n;
		weft_cmd_init(&c, depthwise ? WEFT_CMD_DW : WEFT_CMD_CONV);
		d->post.mode = mode;
		d->post.raw = 1;
		d->post.oc = oc;
		d->post.out_base = 0x1000;
		for (int32_t ch = 0; ch < 48; ch++)
			put_record(b.want + 0x2000, ch, false, bias + ch, 1 << 30, 30);
		if (depthwise) {
			d->in_h = d->in_w = 1;
			d->w_base = 0x4000;
			d->p_base = 0x2000;
		} else {
			c.conv.run_len = c.conv.x_limit = mode ? 2 : 1;
			c.conv.w_base = 0x4000;
			c.conv.p_base = 0x2000;
		}
		bench_load(&b);
		for (int32_t ch = 0; ch < oc; ch++) {
			int32_t x = depthwise ? ch : 0, block = ch / n;
			int32_t a = mode ? (int16_t)(b.want[2 * x] + 256 * b.want[2 * x + 1]) : (int8_t)b.want[x];
			int32_t w = (int8_t)b.want[0x4000 + (depthwise ? block * 9 * n + ch % n : block * n * n + ch % n * n)];

			write_at(b.want, 0x1000 + ch * size, mode ? 3 : 2, cut((wide)bias + ch + a * w, mode ? 48 : 32));
		}
		bench_run(&b, &c);
		bench_compare(&b, &c, i);
		bench_close(&b);
	}
}

static void int4_loads(void **state)
{
	struct bench b = {.rng = rng_start()};
	uint8_t mem[256];
	struct weft_model_window w = {.data = mem, .size = sizeof(mem), .rd = true};

	(void)state;
	for (int i = 0; i < 100; i++) {
		struct weft_cmd c;
		int32_t row = rng_int(&b.rng, 1, 100), rows = rng_int(&b.rng, 1, 4);

		bench_open_config(&b, weft_config_of_model("w16"));
		rng_fill(&b.rng, mem, sizeof(mem));
		weft_cmd_init(&c, WEFT_CMD_LOAD);
		c.load.int4 = 1;
		c.load.window = 1;
		c.load.dram_off = rng_int(&b.rng, 0, 56);
		c.load.row_bytes = row;
		c.load.n1 = rows;
		c.load.dram_stride1 = (row + 1) / 2;
		c.load.sp_addr = 0x333;
		c.load.sp_stride1 = 101;
		weft_model_set_window(b.m, 1, &w);
		bench_load(&b);
		for (int32_t y = 0; y < rows; y++)
			for (int32_t x = 0; x < row; x++) {
				int32_t v = mem[c.load.dram_off + y * ((row + 1) / 2) + x / 2] >> 4 * (x % 2) & 15;

				b.want[0x333 + y * 101 + x] = (uint8_t)(v > 7 ? v + 240 : v);
			}
		bench_run(&b, &c);
		bench_compare(&b, &c, i);
		bench_close(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alu_random), cmocka_unit_test(alu_without_feature_bad),
		cmocka_unit_test(raw_sums), cmocka_unit_test(int4_loads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

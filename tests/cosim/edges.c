/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams made for single edges that random ones seldom come to: counts that pass 65 535,
 * walks that would come round to the input again if they did not saturate, padding of a
 * whole chunk of int16, rows that are due before their parameters are there, rows of the
 * array and of the vector engine that meet at the post unit, addends that are halved, a
 * command that is planned while it waits.
 */
#include "compare_stream.h"

#include "../support/tensors.h"

#define N_CONSTS 65536
#define N_ARENA 65536

/* A stream that is being written; a row of constants and arena as compare_stream.h has them. */
static void begin(struct random_stream *s, size_t cap_words)
{
	uint64_t rng = 0x1234567;

	memset(s, 0, sizeof(*s));
	s->words = malloc(cap_words * sizeof(*s->words));
	s->consts = malloc(N_CONSTS);
	assert_non_null(s->words);
	assert_non_null(s->consts);
	s->n_consts = N_CONSTS;
	s->n_arena = N_ARENA;
	for (int i = 0; i < N_CONSTS; i++)
		s->consts[i] = (uint8_t)test_random(&rng);
}

static void add(struct random_stream *s, const struct weft_cmd *c)
{
	s->n_words += weft_cmd_encode(c, s->words + s->n_words);
	s->n_cmds++;
}

/* Returns the command that takes one row from a window to the scratchpad (LOAD) or back (STORE). */
static struct weft_cmd row(unsigned op, int32_t off, int32_t sp, int32_t len)
{
	struct weft_cmd c;

	weft_cmd_init(&c, op);
	c.load.window = op == WEFT_CMD_LOAD ? WEFT_WIN_CONST : WEFT_WIN_ARENA;
	c.load.dram_off = off;
	c.load.sp_addr = sp;
	c.load.row_bytes = len;
	return c;
}

/* Appends the command that row() returns. It waits until so many commands of LD and of CV have retired. */
static void move(struct random_stream *s, unsigned op, int32_t off, int32_t sp, int32_t len, int ld, int cv)
{
	struct weft_cmd c = row(op, off, sp, len);

	c.h.wait[WEFT_UNIT_LD] = ld;
	c.h.wait[WEFT_UNIT_CV] = cv;
	add(s, &c);
}

/*
 * Appends END, runs the stream on the model and on the RTL with the model beside it, compares the arena, and frees the stream.
 * If unverified is set, it runs although the verifier refuses it. Returns the cycles on the RTL.
 */
static uint64_t finish(struct random_stream *s, const char *what, bool unverified)
{
	static uint8_t want[N_ARENA], got[N_ARENA];
	struct weft_cmd c;

	weft_cmd_init(&c, WEFT_CMD_END);
	add(s, &c);
	weft_dev *model = stream_device(WEFT_DEV_MODEL, WEFT_MEMORY_SRAM, "w16");
	weft_dev *rtl = stream_device(WEFT_DEV_RTL, WEFT_MEMORY_SRAM, "w16");
	weft_dev_trust(model, unverified);
	weft_dev_trust(rtl, unverified);
	stream_run(0, model, "model", s, want);
	uint64_t cycles = stream_run(0, rtl, "rtl", s, got);
	print_message("%s: %zu commands, %llu cycles\n", what, s->n_cmds, (unsigned long long)cycles);
	for (int i = 0; i < N_ARENA; i++)
		if (want[i] != got[i])
			fail_msg("%s: memory 0x%x at the end: expected 0x%02x, got 0x%02x", what, i, want[i], got[i]);
	weft_dev_close(model);
	weft_dev_close(rtl);
	free(s->words);
	free(s->consts);
	return cycles;
}

/* Places in the scratchpad, each in a region of its own. */
enum { INPUT = 0x00000, WEIGHTS = 0x10000, RECORDS = 0x20000, OUTPUT = 0x30000, OUT_VE = 0x40000 };

/* Parameter records for 16 channels into the constants, from 0 on. */
static void put_records(struct random_stream *s)
{
	for (int i = 0; i < 16; i++) {
		const struct weft_param p = { .bias = 1000 * i - 7000, .mul = 0x40000000 + 1234567 * i, .shift = (uint8_t)(36 + i % 3) };
		weft_param_write(&p, s->consts + i * WEFT_PARAM_BYTES);
	}
}

/* A convolution with one tap of 16 bytes, as many pixels, and 16 output channels. */
static struct weft_cmd conv(int mode, int32_t ow, int32_t oh, int32_t out)
{
	struct weft_cmd c;
	int32_t bytes = mode == 1 ? 2 : 1;

	weft_cmd_init(&c, WEFT_CMD_CONV);
	struct weft_cmd_post *p = &c.conv.post;
	p->mode = mode;
	p->ow = ow;
	p->oh = oh;
	p->oc = 16;
	p->out_base = out;
	p->out_x_stride = 16 * bytes;
	p->out_y_stride = 16 * bytes * ow;
	p->y_min = mode == 1 ? INT16_MIN : -128;
	p->y_max = mode == 1 ? INT16_MAX : 127;
	p->a_shift = p->b_shift = p->s_shift = 31;
	c.conv.in_base = INPUT;
	c.conv.w_base = WEIGHTS;
	c.conv.p_base = RECORDS;
	c.conv.n_ky = c.conv.n_kx = 1;
	c.conv.run_len = 16 * bytes;
	c.conv.stride_y = c.conv.dil_y = 1;
	c.conv.in_h = 1;
	c.conv.x_limit = 16 * bytes;
	c.conv.x_zp = mode == 1 ? 0 : -3;
	return c;
}

static void load_operands(struct random_stream *s)
{
	put_records(s);
	move(s, WEFT_CMD_LOAD, 4096, INPUT, 4096, 0, 0);
	move(s, WEFT_CMD_LOAD, 16384, WEIGHTS, 32768, 0, 0);
	move(s, WEFT_CMD_LOAD, 0, RECORDS, 16 * WEFT_PARAM_BYTES, 0, 0);
}

static void need_rtl(void)
{
	if (!test_have_rtl("w16"))
		skip();
}

/*
 * LD retires 65 536 times and more; what waits for fewer still starts. The verifier refuses
 * streams of so many commands. The loads that the stores do not wait for write elsewhere.
 */
static void test_waits(void **state)
{
	struct random_stream s;
	const int n = 65600, waited = 65535;

	(void)state;
	need_rtl();
	begin(&s, (size_t)n * 7 + 64);
	for (int i = 0; i < n; i++)
		move(&s, WEFT_CMD_LOAD, i % N_CONSTS, i % 4096 + (i < waited ? 0 : 4096), 1, 0, 0);
	move(&s, WEFT_CMD_STORE, 0, 0, 4096, waited, 0);
	move(&s, WEFT_CMD_STORE, 8192, 0, 4096, 100, 0);
	finish(&s, "waits", true);
}

/*
 * Steps of 2^19 bytes: a pixel or a kernel column that is 2^22 bytes beyond the input is
 * padding, although its address and the low 22 bits of its place are those of byte 0. Rows
 * in steps of 8192: row 2^18 likewise. The verifier refuses such streams.
 */
static void test_walks(void **state)
{
	struct random_stream s;
	struct weft_cmd c;

	(void)state;
	need_rtl();
	begin(&s, 4096);
	load_operands(&s);

	c = conv(0, 20, 1, OUTPUT);
	c.conv.ox_step = 1 << 19;
	c.h.wait[WEFT_UNIT_LD] = 3;
	add(&s, &c);

	c = conv(0, 2, 70, OUTPUT + 0x1000);
	c.conv.stride_y = 8192;
	c.conv.ox_step = 16;
	c.conv.x_limit = 64;
	add(&s, &c);

	c = conv(0, 3, 1, OUTPUT + 0x3000);
	c.conv.n_kx = 20;
	c.conv.kx_step = 1 << 19;
	c.conv.ox_step = 16;
	c.conv.x_limit = 64;
	add(&s, &c);

	c = conv(0, 3, 1, OUTPUT + 0x4000);
	c.conv.n_ky = 70;
	c.conv.dil_y = 8192;
	c.conv.ox_step = 16;
	c.conv.x_limit = 64;
	add(&s, &c);

	/* What no command has written is anything. */
	move(&s, WEFT_CMD_STORE, 0, OUTPUT, 20 * 16, 3, 4);
	move(&s, WEFT_CMD_STORE, 0x1000, OUTPUT + 0x1000, 140 * 16, 3, 4);
	move(&s, WEFT_CMD_STORE, 0x3000, OUTPUT + 0x3000, 3 * 16, 3, 4);
	move(&s, WEFT_CMD_STORE, 0x4000, OUTPUT + 0x4000, 3 * 16, 3, 4);
	finish(&s, "walks", true);
}

/* Rows of int16 that begin 1 to 40 elements in front of the input, in runs of several chunks. */
static void test_int16_padding(void **state)
{
	struct random_stream s;

	(void)state;
	need_rtl();
	begin(&s, 4096);
	load_operands(&s);
	for (int k = 1; k <= 40; k++) {
		struct weft_cmd c = conv(1, 3, 1, OUTPUT + 96 * (k - 1));
		c.conv.run_len = 128;
		c.conv.ox_step = 34;
		c.conv.x_limit = 150;
		c.conv.xb_start = -2 * k;
		c.conv.in_base = (INPUT + 512 - 2 * k) & 0xfffff;
		c.h.wait[WEFT_UNIT_LD] = 3;
		add(&s, &c);
	}
	move(&s, WEFT_CMD_STORE, 0, OUTPUT, 40 * 96, 3, 40);
	finish(&s, "int16 padding", false);
}

/*
 * Input, weights and records in one region, the input's words all in one bank: the records,
 * which are read last, come behind the first rows that need them.
 */
static void test_late_parameters(void **state)
{
	struct random_stream s;

	(void)state;
	need_rtl();
	begin(&s, 4096);
	put_records(&s);
	move(&s, WEFT_CMD_LOAD, 4096, INPUT, 16384, 0, 0);
	move(&s, WEFT_CMD_LOAD, 20480, INPUT + 0x4000, 4096, 0, 0);
	move(&s, WEFT_CMD_LOAD, 0, INPUT + 0x6000, 16 * WEFT_PARAM_BYTES, 0, 0);
	for (int k = 0; k < 8; k++) {
		struct weft_cmd c = conv(0, 16, 2, OUTPUT + 0x200 * k);
		c.conv.in_base = INPUT + 3 * k;        /* mostly two words a read */
		c.conv.ox_step = 32;
		c.conv.oy_step = 512;
		c.conv.in_h = 2;
		c.conv.x_limit = 512;
		c.conv.w_base = INPUT + 0x4000 + 256 * k;
		c.conv.p_base = INPUT + 0x6000;
		c.h.wait[WEFT_UNIT_LD] = 3;
		c.h.wait[WEFT_UNIT_CV] = k;            /* alone, so that nothing is read ahead */
		add(&s, &c);
	}
	move(&s, WEFT_CMD_STORE, 0, OUTPUT, 0x1000, 3, 8);
	finish(&s, "late parameters", false);
}

/* Returns a command by which the vector engine copies `rows` rows of 64 words from INPUT to OUT_VE. It has a row for the post unit in every cycle. */
static struct weft_cmd copy(int32_t rows)
{
	struct weft_cmd c;

	weft_cmd_init(&c, WEFT_CMD_ELT);
	struct weft_cmd_post *p = &c.elt.post;
	p->ow = 64;
	p->oh = rows;
	p->oc = 16;
	p->out_base = OUT_VE;
	p->out_x_stride = c.elt.in_x_stride = 16;
	p->out_y_stride = c.elt.in_y_stride = 16 * 64;
	p->y_min = -128;
	p->y_max = 127;
	p->a_mul = 1 << 30;
	p->a_shift = 30;
	p->b_shift = p->s_shift = 31;
	c.elt.in_base = INPUT;
	return c;
}

/* Returns a command by which the vector engine makes 16x8 maxima, each of 4x4 words of INPUT. It has a row for the post unit in every 16th
 * cycle. */
static struct weft_cmd maxima(void)
{
	struct weft_cmd c;

	weft_cmd_init(&c, WEFT_CMD_POOL);
	struct weft_cmd_post *p = &c.pool.post;
	p->ow = 16;
	p->oh = 8;
	p->oc = 16;
	p->out_base = OUT_VE;
	p->out_x_stride = c.pool.ox_step = c.pool.kx_step = 16;
	p->out_y_stride = c.pool.oy_step = c.pool.ky_step = 16 * 16;
	p->y_min = -128;
	p->y_max = 127;
	p->a_shift = p->b_shift = p->s_shift = 31;
	c.pool.in_base = INPUT;
	c.pool.n_ky = c.pool.n_kx = 4;
	return c;
}

/*
 * Returns the cycles of a stream in which both units work at once: the array makes 2048 rows, one in every cycle, and the vector engine
 * first copies 1024 rows and then reads 2048 words for maxima, which hardly need the post unit. `turns` is the field of the array's command.
 */
static uint64_t meet_at_post_unit(bool turns)
{
	struct random_stream s;
	struct weft_cmd c = conv(0, 64, 32, OUTPUT);

	begin(&s, 4096);
	load_operands(&s);
	move(&s, WEFT_CMD_LOAD, 8192, INPUT + 4096, 12288, 0, 0);
	c.conv.turns = turns;
	c.h.wait[WEFT_UNIT_LD] = 4;
	add(&s, &c);
	for (int i = 0; i < 2; i++) {
		c = i ? maxima() : copy(16);
		c.h.wait[WEFT_UNIT_LD] = 4;
		c.h.wait[WEFT_UNIT_VE] = i;
		add(&s, &c);
	}
	move(&s, WEFT_CMD_STORE, 0, OUTPUT, 4096, 4, 1);
	return finish(&s, turns ? "in turns" : "the array first", false);
}

/*
 * With turns, the copy is done after about 2048 cycles, while the array is still at work. Without them it is done after about
 * 3072 cycles. The maxima follow the copy, so the whole stream ends about 1000 cycles later.
 */
static void test_turns(void **state)
{
	(void)state;
	need_rtl();
	uint64_t array_first = meet_at_post_unit(false), in_turns = meet_at_post_unit(true);
	assert_true(in_turns + 800 < array_first);
}

/* An addition of two tensors: the multipliers that scale the addends, whose shifts are 31, and whether the second one is subtracted. */
struct addition {
	const char *name;
	uint32_t a, b;
	bool sub;
	bool saves;            /* a row takes three passes instead of four */
};

/* Returns the cycles of a stream in which the vector engine adds to each of 1024 words of INPUT the word behind it, as k says. */
static uint64_t add_words(const struct addition *k)
{
	struct random_stream s;
	struct weft_cmd c = copy(16);
	struct weft_cmd_post *p = &c.elt.post;

	begin(&s, 4096);
	move(&s, WEFT_CMD_LOAD, 0, INPUT, 16 * 1025, 0, 0);
	p->add = 1;
	p->sub = k->sub;
	p->pre_shift = 20;
	p->a_zp = 3;
	p->b_zp = -77;
	p->b_base = INPUT + 16;
	p->b_x_stride = c.elt.in_x_stride;
	p->b_y_stride = c.elt.in_y_stride;
	p->a_mul = k->a;
	p->b_mul = k->b;
	p->s_mul = 1 << 30;
	p->a_shift = p->b_shift = 31;
	p->s_shift = 50;
	p->s_min = -128;
	p->s_max = 127;
	c.h.wait[WEFT_UNIT_LD] = 1;
	add(&s, &c);
	c = row(WEFT_CMD_STORE, 0, OUT_VE, 16 * 1024);
	c.h.wait[WEFT_UNIT_VE] = 1;
	add(&s, &c);
	return finish(&s, k->name, false);
}

/*
 * An addend that is only halved takes no pass of its own in the post unit, so that a row takes three cycles instead of four. An addend
 * that is subtracted takes a pass even if it is halved.
 */
static void test_halved_addends(void **state)
{
	static const struct addition additions[] = {
		{ "no addend halved", 1508074311, 1811939328, false, false },
		{ "the first halved", 1 << 30, 1811939328, false, true },
		{ "the second halved", 1508074311, 1 << 30, false, true },
		{ "both halved", 1 << 30, 1 << 30, false, true },
		{ "the first halved, the second subtracted", 1 << 30, 1811939328, true, true },
		{ "the second halved and subtracted", 1508074311, 1 << 30, true, false },
	};

	(void)state;
	need_rtl();
	const uint64_t four_passes = add_words(&additions[0]);
	for (size_t i = 1; i < sizeof(additions) / sizeof(additions[0]); i++) {
		const uint64_t cycles = add_words(&additions[i]);
		assert_true(additions[i].saves ? cycles + 900 < four_passes : cycles + 100 > four_passes);
	}
}

/* Returns a 3x3 depthwise command over 8x8 words of `in`, with the weights and records of load_operands(). */
static struct weft_cmd depthwise(int32_t in)
{
	struct weft_cmd c;

	weft_cmd_init(&c, WEFT_CMD_DW);
	struct weft_cmd_post *p = &c.dw.post;
	p->ow = p->oh = 8;
	p->oc = 16;
	p->out_base = OUT_VE + 4096;
	p->out_x_stride = c.dw.in_x_stride = 16;
	p->out_y_stride = c.dw.in_y_stride = 16 * 8;
	p->y_min = -128;
	p->y_max = 127;
	p->a_shift = p->b_shift = p->s_shift = 31;
	c.dw.in_base = in;
	c.dw.in_h = c.dw.in_w = 8;
	c.dw.iy_start = c.dw.ix_start = -1;
	c.dw.stride_y = c.dw.stride_x = 1;
	c.dw.w_base = WEIGHTS;
	c.dw.p_base = RECORDS;
	return c;
}

/*
 * Returns the cycles of a stream in which the array makes 64 words. After that, the vector engine copies 64 other words if `copies` is
 * set, and then convolves the words of the array if `convolves` is set.
 */
static uint64_t follow_array(const char *what, bool copies, bool convolves)
{
	struct random_stream s;
	struct weft_cmd c = conv(0, 8, 8, OUTPUT);

	begin(&s, 4096);
	load_operands(&s);
	c.h.wait[WEFT_UNIT_LD] = 3;
	add(&s, &c);
	c = copy(1);
	c.h.wait[WEFT_UNIT_CV] = 1;
	if (copies)
		add(&s, &c);
	c = depthwise(OUTPUT);
	c.h.wait[WEFT_UNIT_CV] = 1;
	if (convolves)
		add(&s, &c);
	c = row(WEFT_CMD_STORE, 0, convolves ? OUT_VE + 4096 : OUTPUT, 1024);
	c.h.wait[WEFT_UNIT_CV] = 1;
	c.h.wait[WEFT_UNIT_VE] = copies + convolves;
	add(&s, &c);
	return finish(&s, what, false);
}

/*
 * The vector engine plans a depthwise command while the command waits for the array, which saves seven cycles. It does not if it has
 * other work at that time. A command that follows a copy begins one cycle sooner than one that follows the array.
 */
static void test_planned_ahead(void **state)
{
	(void)state;
	need_rtl();
	uint64_t none = follow_array("array alone", false, false), copied = follow_array("copied", true, false);
	uint64_t ahead = follow_array("convolved", false, true), behind = follow_array("copied and convolved", true, true);
	assert_int_equal(ahead - none + 7 - 1, behind - copied);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_walks),
		cmocka_unit_test(test_int16_padding),
		cmocka_unit_test(test_late_parameters),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_halved_addends),
		cmocka_unit_test(test_planned_ahead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

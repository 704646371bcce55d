/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single loads and stores with any offset, count, stride and scratchpad address, which the verifier does not
 * see: the RTL ends each as the model does, with the same fault or with the same bytes in memory; the
 * scratchpad is compared by the co-simulation that runs beside it.
 */
#include "compare_stream.h"
#include "tests/support/tensors.h"

/* The size of each window, and of the part of the scratchpad whose bytes are known when the command begins. */
#define WIN_BYTES 4096
#define MOST_ROWS 10000        /* of a command whose first row is in its window */

static const char *const configs[] = { "w4", "w8", "w8b", "w16", "w32" };

/* A device, and its windows 1 and 2. */
struct side {
	weft_dev *dev;
	struct weft_window win[2];
};

static void side_open(struct side *s, enum weft_dev_kind kind, const char *config)
{
	*s = (struct side){ .win = { { NULL, true, false }, { NULL, true, true } } };
	s->dev = stream_device(kind, WEFT_MEMORY_SRAM, config);
	for (int i = 0; i < 2; i++)
		assert_int_equal(weft_buf_alloc(s->dev, WIN_BYTES, &s->win[i].buf), 0);
	weft_dev_trust(s->dev, true);
}

static void side_close(struct side *s)
{
	for (int i = 0; i < 2; i++)
		weft_buf_free(s->win[i].buf);
	weft_dev_close(s->dev);
}

/* A number of up to `bits` bits: a small one, one around a power of two, or any. */
static int64_t number(uint64_t *r, int bits)
{
	const uint64_t any = test_random(r), mask = (UINT64_C(1) << bits) - 1;

	switch (test_below(r, 4)) {
	case 0:
		return (int64_t)(any % 64);
	case 1:
		return (int64_t)(((UINT64_C(1) << any % (uint64_t)bits) + test_below(r, 3) - 1) & mask);
	case 2:
		return (int64_t)(any % WIN_BYTES & mask);
	default:
		return (int64_t)(any & mask);
	}
}

/* A number of `bits` bits as number() draws it, or one below `least` where the command is to end. */
static int64_t field(uint64_t *r, bool ends, int bits, uint64_t least)
{
	return ends ? (int64_t)test_below(r, least) : number(r, bits);
}

/* How many rows a command moves. */
static uint64_t rows_of(const struct weft_cmd *c)
{
	return (uint64_t)c->load.n1 * (uint64_t)c->load.n2 * (uint64_t)c->load.n3;
}

/*
 * Draws a load or a store. In every second one the fields are small enough for all its bytes to lie in the windows
 * and the scratchpad, so that it ends without a fault unless the window is one that it may not use.
 */
static struct weft_cmd random_move(uint64_t *r)
{
	const bool ends = test_below(r, 2), is_load = test_below(r, 2);
	struct weft_cmd c;

	weft_cmd_init(&c, is_load ? WEFT_CMD_LOAD : WEFT_CMD_STORE);
	c.load.window = is_load ? WEFT_WIN_CONST : WEFT_WIN_ARENA;
	if (!test_below(r, 8))
		c.load.window = (int)test_below(r, WEFT_N_WINDOWS);
	c.load.dram_off = field(r, ends, test_below(r, 2) ? 12 : 40, 1024);
	c.load.sp_addr = (int32_t)field(r, ends, 20, 1024);
	c.load.row_bytes = (int32_t)(1 + field(r, ends, test_below(r, 4) ? 8 : 20, 200) % 0xfffff);
	c.load.int4 = is_load && !test_below(r, 4);
	do {
		c.load.n1 = (int32_t)(1 + field(r, ends, 16, 4) % 0xffff);
		c.load.n2 = (int32_t)(1 + field(r, ends, 16, 4) % 0xffff);
		c.load.n3 = (int32_t)(1 + field(r, ends, 16, 4) % 0xffff);
	} while (c.load.dram_off < WIN_BYTES && rows_of(&c) > MOST_ROWS);
	c.load.dram_stride1 = (int32_t)field(r, ends, 32, 256);
	c.load.dram_stride2 = (int32_t)field(r, ends, 32, 256);
	c.load.dram_stride3 = (int32_t)field(r, ends, 32, 256);
	c.load.sp_stride1 = (int32_t)field(r, ends, 20, 256);
	c.load.sp_stride2 = (int32_t)field(r, ends, 20, 256);
	c.load.sp_stride3 = (int32_t)field(r, ends, 20, 256);
	if (!is_load)
		c.h.wait[WEFT_UNIT_LD] = 1;
	return c;
}

/* Says whether a store reads only those bytes of the scratchpad that are known. */
static bool reads_known(const struct weft_cmd *c)
{
	const int64_t last = c->load.sp_addr + (int64_t)(c->load.n1 - 1) * c->load.sp_stride1 +
	                     (int64_t)(c->load.n2 - 1) * c->load.sp_stride2 +
	                     (int64_t)(c->load.n3 - 1) * c->load.sp_stride3;

	return last + c->load.row_bytes <= WIN_BYTES;
}

/* Runs the command behind a load of window 1 to the scratchpad's begin, and out gets window 2. */
static struct weft_job_result run(struct side *s, const struct weft_cmd *c, const uint8_t *consts, uint8_t *out)
{
	const uint8_t zeros[WIN_BYTES] = { 0 };
	struct weft_job_result r;
	struct weft_cmd fill, end;
	uint64_t words[32];
	weft_job job;

	weft_cmd_init(&fill, WEFT_CMD_LOAD);
	fill.load.window = WEFT_WIN_CONST;
	fill.load.row_bytes = WIN_BYTES;
	weft_cmd_init(&end, WEFT_CMD_END);
	size_t n = weft_cmd_encode(&fill, words);
	n += weft_cmd_encode(c, words + n);
	n += weft_cmd_encode(&end, words + n);
	assert_int_equal(weft_buf_write(s->win[0].buf, 0, consts, WIN_BYTES), 0);
	assert_int_equal(weft_buf_write(s->win[1].buf, 0, zeros, WIN_BYTES), 0);
	assert_int_equal(weft_submit(s->dev, words, n, s->win, 2, &job), 0);
	assert_int_equal(weft_wait(s->dev, job, WEFT_FOREVER, &r), 0);
	assert_int_equal(weft_buf_read(s->win[1].buf, 0, out, WIN_BYTES), 0);
	return r;
}

/* For an address behind the scratchpad's end the model reports the byte and hardware the row: that may differ. */
static bool same_end(const struct weft_job_result *a, const struct weft_job_result *b)
{
	return a->status == b->status && a->fault_code == b->fault_code && a->fault_unit == b->fault_unit &&
	       (a->fault_code == WEFT_FAULT_SP_RANGE || a->fault_info == b->fault_info);
}

/* Says how the command ended on either side. */
static void differs(const char *config, uint64_t seed, const struct weft_cmd *c, const struct weft_job_result *m,
                    const struct weft_job_result *t)
{
	char line[2048];

	weft_cmd_print(c, line, sizeof(line));
	fail_msg("%s, seed %llu: model %d %s 0x%x, RTL %d %s 0x%x%s: %s", config, (unsigned long long)seed, m->status,
	         weft_fault_name(m->fault_code), m->fault_info, t->status, weft_fault_name(t->fault_code),
	         t->fault_info, same_end(m, t) ? ", other bytes" : "", line);
}

static void compare(const char *config, long n)
{
	struct side model, rtl;
	uint8_t consts[WIN_BYTES], want[WIN_BYTES], got[WIN_BYTES];
	long done = 0, fault[WEFT_FAULT_ECC + 1] = { 0 };
	const uint64_t first = test_seed(1);

	side_open(&model, WEFT_DEV_MODEL, config);
	side_open(&rtl, WEFT_DEV_RTL, config);
	for (long i = 0; i < n; i++) {
		const uint64_t seed = first + (uint64_t)i;
		uint64_t r = seed;
		const struct weft_cmd c = random_move(&r);
		const bool known = c.h.op == WEFT_CMD_LOAD || reads_known(&c);

		for (int k = 0; k < WIN_BYTES; k++)
			consts[k] = (uint8_t)test_random(&r);
		const struct weft_job_result m = run(&model, &c, consts, want), t = run(&rtl, &c, consts, got);
		if (!same_end(&m, &t) || (!m.status && known && memcmp(want, got, WIN_BYTES)))
			differs(config, seed, &c, &m, &t);
		done += !m.status;
		fault[m.fault_code]++;
	}
	side_close(&model);
	side_close(&rtl);
	printf("%s: %ld moves, %ld to their end, %ld left a window, %ld the scratchpad\n", config, n, done,
	       fault[WEFT_FAULT_WINDOW], fault[WEFT_FAULT_SP_RANGE]);
	fflush(stdout);
	if (n >= 100)
		assert_true(done > n / 4 && fault[WEFT_FAULT_WINDOW] > n / 4);
}

static void test_moves(void **state)
{
	unsigned n = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(configs) / sizeof(*configs); i++) {
		if (!test_have_rtl(configs[i]))
			continue;
		compare(configs[i], test_count(300, 3000, 30000));
		n++;
	}
	if (!n)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_moves) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* load and store: random strided blocks, the log, the faults. */
#include "brute.h"

#define MEM_BYTES 65536

struct pair {
	int64_t mem, sp;
};

/* Places of all bytes of a command, in order. */
static size_t places(const struct weft_cmd_load *l, struct pair *out, size_t room)
{
	size_t n = 0;

	for (int64_t a = 0; a < l->n3; a++)
	for (int64_t b = 0; b < l->n2; b++)
	for (int64_t c = 0; c < l->n1; c++)
	for (int64_t i = 0; i < l->row_bytes; i++, n++) {
		assert_true(n < room);
		out[n].mem = l->dram_off + a * l->dram_stride3 + b * l->dram_stride2 + c * l->dram_stride1 + i;
		out[n].sp = (l->sp_addr + a * l->sp_stride3 + b * l->sp_stride2 + c * l->sp_stride1 + i) & 0xfffff;
	}
	return n;
}

static void random_block(struct rng *r, struct weft_cmd *c, unsigned op)
{
	struct weft_cmd_load *l = &c->load;

	weft_cmd_init(c, op);
	l->window = rng_int(r, 0, 7);
	l->row_bytes = rng_int(r, 1, 70);
	l->n1 = rng_int(r, 1, 4);
	l->n2 = rng_int(r, 1, 4);
	l->n3 = rng_int(r, 1, 4);
	l->dram_off = 20000 + rng_int(r, 0, 20000);
	l->dram_stride1 = rng_int(r, -1000, 1000);
	l->dram_stride2 = rng_int(r, -2000, 2000);
	l->dram_stride3 = rng_int(r, -3000, 3000);
	l->sp_addr = rng_int(r, 0, 70000);
	l->sp_stride1 = rng_int(r, 0, 300);
	l->sp_stride2 = rng_int(r, 0, 3000);
	l->sp_stride3 = rng_int(r, 0, 9000);
	if (rng_int(r, 0, 1)) {
		/* Backwards: a stride just below 2^20. */
		l->sp_stride1 = 0x100000 - l->row_bytes;
		l->sp_addr += 1000;
	}
}

/* Keeps a copy of both memories up to date from the log alone. */
struct mirror {
	struct weft_model *m;
	const uint8_t *mem;
	uint8_t sp[1 << 20], win[MEM_BYTES];
	int window;
	uint64_t bytes;
};

static void on_write(void *user, enum weft_model_space space, unsigned window, uint64_t addr, uint64_t len)
{
	struct mirror *x = user;

	x->bytes += len;
	if (space == WEFT_MODEL_SP) {
		assert_true(addr + len <= 1 << 20);
		memcpy(x->sp + addr, weft_model_sp(x->m) + addr, len);
		return;
	}
	assert_int_equal(window, x->window);
	assert_true(addr + len <= MEM_BYTES);
	memcpy(x->win + addr, x->mem + addr, len);
}

static void dma_random(void **state)
{
	static struct mirror x;
	static struct pair at[70 * 64];
	static uint8_t mem[MEM_BYTES], want_mem[MEM_BYTES];
	struct bench b = {.rng = rng_start()};

	(void)state;
	for (long i = 0; i < env_number("WEFT_N", 400); i++) {
		unsigned op = i % 2 ? WEFT_CMD_STORE : WEFT_CMD_LOAD;
		struct weft_model_window w = {mem, MEM_BYTES, op == WEFT_CMD_LOAD, op == WEFT_CMD_STORE};
		struct weft_cmd c;
		size_t n;

		bench_open(&b, "w8");
		random_block(&b.rng, &c, op);
		rng_fill(&b.rng, mem, sizeof(mem));
		memcpy(want_mem, mem, sizeof(mem));
		bench_load(&b);
		x.m = b.m;
		x.mem = mem;
		x.window = c.load.window;
		x.bytes = 0;
		memcpy(x.sp, b.want, b.cfg->sp_bytes);
		memcpy(x.win, mem, sizeof(mem));
		weft_model_set_window(b.m, (unsigned)c.load.window, &w);
		weft_model_set_log(b.m, on_write, &x);
		n = places(&c.load, at, sizeof(at) / sizeof(at[0]));
		for (size_t k = 0; k < n; k++) {
			if (op == WEFT_CMD_LOAD)
				b.want[at[k].sp] = mem[at[k].mem];
			else
				want_mem[at[k].mem] = b.want[at[k].sp];
		}
		bench_run(&b, &c);
		bench_compare(&b, &c, i);
		assert_memory_equal(mem, want_mem, sizeof(mem));
		assert_memory_equal(x.sp, b.want, b.cfg->sp_bytes);
		assert_memory_equal(x.win, want_mem, sizeof(mem));
		assert_int_equal(x.bytes, n);
		bench_close(&b);
	}
}

/* Writes `bits` bits, the low ones of v first, to the stream of bits at *at. */
static void put_bits(uint8_t *stream, size_t *at, unsigned v, unsigned bits)
{
	for (unsigned i = 0; i < bits; i++, ++*at)
		stream[*at / 8] |= (uint8_t)((v >> i & 1) << *at % 8);
}

/*
 * Codes `words` words of n bytes, each byte less the centre, with widths that are wide enough, now and then too wide. The
 * stream is zeroed. Returns its bits.
 */
static size_t code(struct rng *r, const uint8_t *from, int64_t words, int64_t n, int centre, uint8_t *stream)
{
	unsigned width[128];
	size_t at = 0;

	for (int64_t i = 0; i < words; i++) {
		for (int64_t k = i; i % (2 * n) == 0 && k < i + 2 * n; k++) {
			unsigned w = 0;
			for (int64_t j = 0; k < words && j < n; j++)
				for (int v = (int8_t)(from[k * n + j] - centre); w < 8 && (w ? v < -(1 << (w - 1)) || v >= 1 << (w - 1) : v != 0); )
					w++;
			if (rng_int(r, 0, 9) == 0)
				w = (unsigned)rng_int(r, (int)w, 15);
			width[k - i] = w;
			put_bits(stream, &at, w, 4);
		}
		unsigned w = width[i % (2 * n)] < 8 ? width[i % (2 * n)] : 8;
		for (unsigned b = 0; b < w; b++)
			for (int64_t j = 0; j < n; j++)
				put_bits(stream, &at, (uint8_t)(from[i * n + j] - centre) >> b & 1, 1);
	}
	return at;
}

/* A coded row becomes what was coded. If memory holds fewer words than the code has, the rest of the code counts as
 * zeros; if it holds more, they count for nothing. */
static void dma_coded(void **state)
{
	static uint8_t mem[MEM_BYTES], row[8192], zeros[MEM_BYTES];
	static const char *const configs[] = {"w8", "w16", "w32"};
	struct bench b = {.rng = rng_start()};
	uint64_t short_rows = 0;

	(void)state;
	for (long i = 0; i < env_number("WEFT_N", 300); i++) {
		struct weft_model_window w = {mem, MEM_BYTES, true, false};
		struct weft_cmd c;

		bench_open(&b, configs[i % 3]);
		int64_t n = b.cfg->n, words = rng_int(&b.rng, 1, (int)(sizeof(row) / (size_t)n)), fits = rng_int(&b.rng, 0, 8);
		int centre = rng_int(&b.rng, 0, 1) ? 0 : rng_int(&b.rng, -128, 127);
		for (int64_t k = 0; k < words * n; k++) {
			/* Small ones, words of them or all. */
			int most = k % (n * 7) < n ? 127 : fits ? (1 << (fits - 1)) - 1 : 0;
			row[k] = (uint8_t)(centre + rng_int(&b.rng, -most - (fits && most < 127), most));
		}
		memset(mem, 0, sizeof(mem));
		int64_t off = rng_int(&b.rng, 0, 100) * n;
		int64_t coded = ((int64_t)code(&b.rng, row, words, n, centre, mem + off) + 8 * n - 1) / (8 * n);
		weft_cmd_init(&c, WEFT_CMD_LOAD);
		c.load.window = 3;
		c.load.dram_off = off;
		c.load.row_bytes = (int32_t)(words * n);
		c.load.sp_addr = (int32_t)(rng_int(&b.rng, 0, 1000) * n);
		c.load.centre = centre;
		c.load.coded = (int32_t)(coded + rng_int(&b.rng, 0, 2));
		if (i % 4 == 3 && coded > 1) {
			/* What is not there any more is zero, and so is what the program does not state. */
			c.load.coded = rng_int(&b.rng, 1, (int)coded - 1);
			rng_fill(&b.rng, mem + off + c.load.coded * n, (size_t)(coded * n - c.load.coded * n));
			short_rows++;
		}
		bench_load(&b);
		weft_model_set_window(b.m, 3, &w);
		if (i % 4 == 3 && coded > 1) {
			/* As if the rest were zeros: of another copy of memory, with all of its length. */
			memcpy(zeros, mem, sizeof(mem));
			memset(zeros + off + c.load.coded * n, 0, sizeof(zeros) - (size_t)(off + c.load.coded * n));
			struct weft_cmd all = c;
			struct weft_model *m = weft_model_new(b.cfg);
			struct weft_model_window z = {zeros, MEM_BYTES, true, false};
			struct weft_model_fault f;
			all.load.coded = (int32_t)coded;
			weft_model_set_window(m, 3, &z);
			assert_int_equal(weft_model_exec(m, &all, &f), 0);
			memcpy(row, weft_model_sp(m) + c.load.sp_addr, (size_t)c.load.row_bytes);
			weft_model_free(m);
		}
		memcpy(b.want + c.load.sp_addr, row, (size_t)c.load.row_bytes);
		bench_run(&b, &c);
		bench_compare(&b, &c, i);
		bench_close(&b);
	}
	assert_true(short_rows > 10);
}

static void check(struct weft_model *m, const struct weft_cmd *c, enum weft_fault want, uint32_t info)
{
	struct weft_model_fault f = {WEFT_FAULT_NONE, 0};
	int ret = weft_model_exec(m, c, &f);

	assert_int_equal(f.code, want);
	assert_int_equal(f.info, info);
	assert_int_equal(ret == 0, want == WEFT_FAULT_NONE);
}

static void dma_faults_bad(void **state)
{
	static uint8_t mem[1024];
	const struct weft_config *cfg = weft_config_find("w16");
	struct weft_model *m = weft_model_new(cfg);
	struct weft_model_window w = {mem, sizeof(mem), true, true};
	struct weft_cmd c;

	(void)state;
	weft_model_set_window(m, 3, &w);
	weft_cmd_init(&c, WEFT_CMD_LOAD);
	c.load.window = 3;
	c.load.row_bytes = 100;
	c.load.dram_off = 924;
	check(m, &c, WEFT_FAULT_NONE, 0);
	c.load.dram_off = 925;
	check(m, &c, WEFT_FAULT_WINDOW, 925);
	c.load.dram_off = 0;
	c.load.n1 = 2;
	c.load.dram_stride1 = -1;
	check(m, &c, WEFT_FAULT_WINDOW, UINT32_MAX);
	c.load.dram_stride1 = 0;
	c.load.window = 2;
	check(m, &c, WEFT_FAULT_WINDOW, 0);
	c.load.window = 3;
	c.load.sp_addr = (int32_t)cfg->sp_bytes - 100;
	check(m, &c, WEFT_FAULT_NONE, 0);
	c.load.sp_addr++;
	check(m, &c, WEFT_FAULT_SP_RANGE, cfg->sp_bytes);
	c.load.sp_addr = 0;
	w.wr = false;
	weft_model_set_window(m, 3, &w);
	check(m, &c, WEFT_FAULT_NONE, 0);
	/* Eight words of which memory has three, and then one too few. */
	c.load.n1 = 1;
	c.load.row_bytes = 128;
	c.load.coded = 3;
	c.load.dram_off = 976;
	check(m, &c, WEFT_FAULT_NONE, 0);
	c.load.coded = 4;
	check(m, &c, WEFT_FAULT_WINDOW, 976);
	c.load.coded = 0;
	c.load.dram_off = 0;
	c.h.op = WEFT_CMD_STORE;
	check(m, &c, WEFT_FAULT_WINDOW, 0);
	c.h.op = 0x7f;
	check(m, &c, WEFT_FAULT_BAD_OP, 0x77f);
	weft_model_free(m);
}

/* A whole stream: what runs, and where it stops. */
static void dma_stream(void **state)
{
	static uint8_t mem[256];
	struct weft_model *m = weft_model_new(weft_config_find("w16"));
	struct weft_model_window w = {mem, sizeof(mem), true, true};
	struct weft_model_fault f;
	uint64_t words[32];
	struct weft_cmd c;
	size_t n, i_cmd;

	(void)state;
	for (int i = 0; i < 128; i++)
		mem[i] = (uint8_t)(i + 1);
	weft_model_set_window(m, 0, &w);
	weft_cmd_init(&c, WEFT_CMD_LOAD);
	c.load.row_bytes = 128;
	c.load.sp_addr = 77;
	n = weft_cmd_encode(&c, words);
	c.h.op = WEFT_CMD_STORE;
	c.load.dram_off = 128;
	n += weft_cmd_encode(&c, words + n);
	assert_int_not_equal(weft_model_run(m, words, n, &i_cmd, &f), 0);
	assert_int_equal(f.code, WEFT_FAULT_STREAM_END);
	assert_int_equal(i_cmd, 2);
	weft_cmd_init(&c, WEFT_CMD_END);
	n += weft_cmd_encode(&c, words + n);
	memset(mem + 128, 0, 128);
	assert_int_equal(weft_model_run(m, words, n, &i_cmd, &f), 0);
	assert_int_equal(i_cmd, 2);
	assert_memory_equal(mem, mem + 128, 128);
	weft_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dma_random),
		cmocka_unit_test(dma_coded),
		cmocka_unit_test(dma_faults_bad),
		cmocka_unit_test(dma_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

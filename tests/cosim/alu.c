/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alu on the RTL: random commands of every operation, one after another on
 * random bytes; what each writes is compared with the model as it retires. Reductions
 * along what lies dense take a word a cycle.
 */
#include "tests/model/alu_command.h"
#include "tests/support/level.h"

#define PER_STREAM 8

struct chip {
	weft_dev *dev;
	const struct weft_config *cfg;
	struct weft_window win[2];
	struct rng rng;
	long refused;
};

/* The scratchpad from the arena. Returns words. */
static size_t load_all(const struct chip *b, uint64_t *words)
{
	struct weft_cmd c;

	weft_cmd_init(&c, WEFT_CMD_LOAD);
	c.load.window = WEFT_WIN_ARENA;
	c.load.row_bytes = (int32_t)b->cfg->sp_bytes / 2;
	c.load.n1 = 2;
	c.load.dram_stride1 = c.load.sp_stride1 = c.load.row_bytes;
	return weft_cmd_encode(&c, words);
}

/* Then the commands. */
static size_t make(struct chip *b, uint64_t *words, long first, uint32_t n)
{
	struct weft_cmd c;
	size_t at = load_all(b, words);

	for (uint32_t i = 0; i < n; i++) {
		random_alu(&b->rng, (int32_t)b->cfg->sp_bytes, &c, (int)((first + i) % (long)N_FUNCS));
		c.h.wait[WEFT_UNIT_LD] = 1;
		c.h.wait[WEFT_UNIT_VE] = (int32_t)i;
		at += weft_cmd_encode(&c, words + at);
	}
	weft_cmd_init(&c, WEFT_CMD_END);
	return at + weft_cmd_encode(&c, words + at);
}

static void run_stream(struct chip *b, long first, uint32_t n, uint64_t *cycles)
{
	uint64_t words[16 + WEFT_CMD_MAX_WORDS * (PER_STREAM + 1)];
	uint64_t seed = b->rng.s;
	uint8_t *bytes = malloc(b->cfg->sp_bytes);
	struct weft_job_result r;
	weft_job job;

	assert_non_null(bytes);
	rng_fill(&b->rng, bytes, b->cfg->sp_bytes);
	for (size_t i = 0; i < b->cfg->sp_bytes; i += 97)  /* small values, too */
		memset(bytes + i, i % 3 ? 0 : 0xff, i + 9 <= b->cfg->sp_bytes ? (size_t)rng_int(&b->rng, 0, 9) : 0);
	weft_buf_write(b->win[1].buf, 0, bytes, b->cfg->sp_bytes);
	free(bytes);
	size_t len = make(b, words, first, n);
	if (weft_submit(b->dev, words, len, b->win, 2, &job)) {
		if (!strstr(weft_dev_error(b->dev), "OVERLAP_SELF"))
			fail_msg("%s", weft_dev_error(b->dev));
		b->refused++;      /* outputs that meet: no order is promised */
		return;
	}
	assert_int_equal(weft_wait(b->dev, job, WEFT_FOREVER, &r), 0);
	if (r.status)
		fail_msg("rng 0x%llx: %s", (unsigned long long)seed, weft_dev_error(b->dev));
	const struct weft_cosim_diff *d = weft_dev_cosim(b->dev);
	if (d->found) {
		struct weft_cmd c;
		char line[2048];
		size_t at = 0;
		for (size_t i = 0; i <= d->cmd && !weft_cmd_decode(words + at, len - at, &c); i++)
			at += (size_t)c.h.n_words;
		weft_cmd_print(&c, line, sizeof line);
		fail_msg("%s\ncommand %zu, scratchpad 0x%llx: expected 0x%02x, got 0x%02x", line, d->cmd, (unsigned long long)d->addr,
		         d->expected, d->got);
	}
	*cycles += r.cycles;
}

static void open_chip(struct chip *b, const char *name, bool cosim)
{
	struct weft_dev_options o = weft_dev_options_default();
	char msg[WEFT_DEV_MSG] = "";

	*b = (struct chip){ .cfg = weft_config_find(name), .rng = rng_start() };
	o.kind = WEFT_DEV_RTL;
	o.config = name;
	o.memory = WEFT_MEMORY_SRAM;
	o.cosim = cosim;
	assert_int_equal(weft_dev_open(&o, &b->dev, msg), 0);
	assert_int_equal(weft_buf_alloc(b->dev, 64, &b->win[0].buf), 0);
	assert_int_equal(weft_buf_alloc(b->dev, b->cfg->sp_bytes, &b->win[1].buf), 0);
	b->win[0].rd = b->win[1].rd = true;
}

static void close_chip(struct chip *b)
{
	weft_buf_free(b->win[0].buf);
	weft_buf_free(b->win[1].buf);
	weft_dev_close(b->dev);
}

static void run_config(const char *name, long n)
{
	uint64_t cycles = 0;
	struct chip b;

	open_chip(&b, name, true);
	for (long i = 0; i < n; i += PER_STREAM)
		run_stream(&b, i, PER_STREAM, &cycles);
	print_message("%s: %ld commands, %ld streams refused, %llu cycles\n", name, n, b.refused, (unsigned long long)cycles);
	assert_true(b.refused * PER_STREAM < n / 4);
	close_chip(&b);
}

/* Of the job that loads the scratchpad and reduces so many rows of so many elements. */
static uint64_t cycles_of(struct chip *b, int32_t func, int32_t type, int32_t rows, int32_t n)
{
	uint64_t words[16 + 2 * WEFT_CMD_MAX_WORDS];
	struct weft_job_result r;
	struct weft_cmd c;
	weft_job job;
	size_t len = load_all(b, words);

	weft_cmd_init(&c, WEFT_CMD_ALU);
	c.h.wait[WEFT_UNIT_LD] = 1;
	c.alu.func = func;
	c.alu.n0 = rows;
	c.alu.n1 = n;
	c.alu.a_base = 3;
	c.alu.a_type = type;
	c.alu.a_s1 = sizes[type];
	c.alu.a_s0 = n * sizes[type];
	c.alu.out_base = (int32_t)b->cfg->sp_bytes / 2;
	c.alu.out_type = WEFT_ALU_OUT_TYPE_INT32;
	c.alu.out_s0 = 4;
	len += weft_cmd_encode(&c, words + len);
	weft_cmd_init(&c, WEFT_CMD_END);
	len += weft_cmd_encode(&c, words + len);
	assert_int_equal(weft_submit(b->dev, words, len, b->win, 2, &job), 0);
	assert_int_equal(weft_wait(b->dev, job, WEFT_FOREVER, &r), 0);
	assert_int_equal(r.status, 0);
	return r.cycles;
}

/* DeepLab's 21 classes, and others: so many words for each row, in a command and between rows no more. */
static void words_along(void **state)
{
	static const struct { const char *func; int32_t type, n; } all[] = {
		{ "argmax", 0, 21 }, { "argmax", 4, 16 }, { "argmax", 1, 21 }, { "rmax", 0, 100 }, { "rmin", 5, 3 }, { "rmax", 2, 9 },
		{ "rmin", 6, 40 }, { "sum", 2, 40 },
	};
	struct chip b;

	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	open_chip(&b, "w16", false);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		int32_t func = func_of(all[i].func), n = (int32_t)b.cfg->n;
		uint64_t few = cycles_of(&b, func, all[i].type, 10, all[i].n), many = cycles_of(&b, func, all[i].type, 210, all[i].n);
		uint64_t words = (uint64_t)((all[i].n * sizes[all[i].type] + n - 1) / n);

		if (many - few > 200 * words + 4)
			fail_msg("%s of %d elements, type %d: %llu cycles for 200 rows", all[i].func, all[i].n, all[i].type,
			         (unsigned long long)(many - few));
	}
	close_chip(&b);
}

static void every_operation(void **state)
{
	const char *const configs[] = { "w16", "w8", "w32" };

	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	for (int i = 0; i < 3; i++)
		if (weft_config_find(configs[i])->features & WEFT_FEATURE_ALU && (!i || test_have_rtl(configs[i])))
			run_config(configs[i], test_count(29 * 120, 29 * 120, 29 * 4000));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_operation), cmocka_unit_test(words_along) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

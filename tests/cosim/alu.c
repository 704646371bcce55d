/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alu on the RTL: random commands of every operation, one after another on
 * random bytes; what each writes is compared with the model as it retires.
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

/* The scratchpad from the arena, then the commands. Returns words. */
static size_t make(struct chip *b, uint64_t *words, long first, uint32_t n)
{
	struct weft_cmd c;
	size_t at = 0;

	weft_cmd_init(&c, WEFT_CMD_LOAD);
	c.load.window = WEFT_WIN_ARENA;
	c.load.row_bytes = (int32_t)b->cfg->sp_bytes / 2;
	c.load.n1 = 2;
	c.load.dram_stride1 = c.load.sp_stride1 = c.load.row_bytes;
	at += weft_cmd_encode(&c, words);
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
	assert_int_equal(weft_wait(b->dev, job, 0, &r), 0);
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

static void run_config(const char *name, long n)
{
	struct weft_dev_options o = weft_dev_options_default();
	struct chip b = { .cfg = weft_config_find(name), .rng = rng_start() };
	char msg[WEFT_DEV_MSG] = "";
	uint64_t cycles = 0;

	o.kind = WEFT_DEV_RTL;
	o.config = name;
	o.memory = WEFT_MEMORY_SRAM;
	o.cosim = true;
	assert_int_equal(weft_dev_open(&o, &b.dev, msg), 0);
	assert_int_equal(weft_buf_alloc(b.dev, 64, &b.win[0].buf), 0);
	assert_int_equal(weft_buf_alloc(b.dev, b.cfg->sp_bytes, &b.win[1].buf), 0);
	b.win[0].rd = b.win[1].rd = true;
	for (long i = 0; i < n; i += PER_STREAM)
		run_stream(&b, i, PER_STREAM, &cycles);
	print_message("%s: %ld commands, %ld streams refused, %llu cycles\n", name, n, b.refused, (unsigned long long)cycles);
	assert_true(b.refused * PER_STREAM < n / 4);
	weft_buf_free(b.win[0].buf);
	weft_buf_free(b.win[1].buf);
	weft_dev_close(b.dev);
}

static void every_operation(void **state)
{
	const char *const configs[] = { "w16", "w8", "w32" };

	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	for (int i = 0; i < 3; i++)
		if (weft_config_find(configs[i])->features & WEFT_FEATURE_ALU && (!i || test_have_rtl(configs[i])))
			run_config(configs[i], test_count(29 * 40, 29 * 40, 29 * 4000));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_operation) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

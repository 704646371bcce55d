/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command processor refuses bad commands and unreadable streams before any unit sees them. Commands of random
 * words, in which every bit can be wrong, end on the RTL with the same fault, tag and information as on the model.
 * Streams lie anywhere in 40 bits of address. If a stream's window is closed, misaligned or too short, or if memory
 * answers with an error behind the first words, the stream ends as docs/registers.md says. The registers of all windows
 * are read back.
 */
#include "compare_stream.h"
#include "sim/rtl/rtl.h"
#include "tests/support/bench_so.h"
#include "tests/support/tensors.h"

#include <weft/gen/regs.h>

#define STREAM_WORDS 512       /* of the memory behind window 0 */
#define MOST_CYCLES 10000      /* until a stream or a reset has ended */

static const char *const configs[] = { "w4", "w8", "w8b", "w16", "w32" };
#define N_CONFIGS (sizeof(configs) / sizeof(*configs))

/* ---- commands of random words ---- */

/* One command that the command processor has to refuse, and END. Returns words. */
static size_t random_words(uint64_t *r, const struct weft_config *cfg, uint64_t *words)
{
	struct weft_cmd c;
	size_t n;

	do {
		const struct weft_cmd_info *info = &weft_cmd_list()[test_below(r, WEFT_N_CMDS)];
		const int64_t one = test_below(r, 2) ? (int64_t)test_below(r, 64) : -1;

		weft_cmd_init(&c, info->op);
		c.h.tag = (uint32_t)test_random(r);
		n = weft_cmd_encode(&c, words);
		/* Of the first word the low half is opcode and length. In the others one bit is wrong, or all are random. */
		if (one >= 0)
			words[1 + test_below(r, n - 1)] ^= UINT64_C(1) << one;
		for (size_t i = 1; i < n && one < 0; i++)
			words[i] = test_random(r);
		if (!test_below(r, 16))
			words[0] ^= test_below(r, 0x100) << 8 * test_below(r, 2);
	} while (weft_cmd_fault(words, n, cfg) == WEFT_FAULT_NONE);
	weft_cmd_init(&c, WEFT_CMD_END);
	return n + weft_cmd_encode(&c, words + n);
}

static struct weft_job_result end_of(weft_dev *dev, const uint64_t *words, size_t n)
{
	struct weft_job_result r;
	weft_job job;

	assert_int_equal(weft_submit(dev, words, n, NULL, 0, &job), 0);
	assert_int_equal(weft_wait(dev, job, WEFT_FOREVER, &r), 0);
	return r;
}

static void refused(const char *config, long n)
{
	const struct weft_config *cfg = weft_config_find(config);
	weft_dev *model = stream_device(WEFT_DEV_MODEL, WEFT_MEMORY_SRAM, config);
	weft_dev *rtl = stream_device(WEFT_DEV_RTL, WEFT_MEMORY_SRAM, config);
	const uint64_t first = test_seed(1);
	long faults[WEFT_FAULT_ECC + 1] = { 0 };

	weft_dev_trust(model, true);
	weft_dev_trust(rtl, true);
	for (long i = 0; i < n; i++) {
		uint64_t r = first + (uint64_t)i, words[2 * WEFT_CMD_MAX_WORDS];
		const size_t n_words = random_words(&r, cfg, words);
		const struct weft_job_result m = end_of(model, words, n_words), t = end_of(rtl, words, n_words);

		if (m.status != t.status || m.fault_code != t.fault_code || m.fault_unit != t.fault_unit || m.fault_cmd != t.fault_cmd ||
		    m.fault_tag != t.fault_tag || m.fault_info != t.fault_info)
			fail_msg("%s, seed %llu: model %d %s, tag 0x%x, info 0x%x; RTL %d %s, tag 0x%x, info 0x%x", config,
			         (unsigned long long)r, m.status, weft_fault_name(m.fault_code), m.fault_tag, m.fault_info, t.status,
			         weft_fault_name(t.fault_code), t.fault_tag, t.fault_info);
		assert_int_equal(m.status, -EIO);
		faults[m.fault_code]++;
	}
	weft_dev_close(model);
	weft_dev_close(rtl);
	printf("%s: %ld commands refused, BAD_OP %ld, BAD_LEN %ld, BAD_FIELD %ld, BAD_MODE %ld\n", config, n,
	       faults[WEFT_FAULT_BAD_OP], faults[WEFT_FAULT_BAD_LEN], faults[WEFT_FAULT_BAD_FIELD], faults[WEFT_FAULT_BAD_MODE]);
	fflush(stdout);
}

/* ---- streams that cannot be read ---- */

/* The NPU without a driver. */
struct bare {
	const struct weft_rtl_api *api;
	struct weft_rtl *rtl;
	uint64_t *words;           /* STREAM_WORDS of them, END commands unless a test writes others */
};

static void put_ends(const struct bare *b)
{
	struct weft_cmd end;

	weft_cmd_init(&end, WEFT_CMD_END);
	for (size_t i = 0; i < STREAM_WORDS;)
		i += weft_cmd_encode(&end, b->words + i);
}

static bool bare_open(struct bare *b, const char *config)
{
	char file[64];

	snprintf(file, sizeof(file), "tests/cosim/rtl/weft-rtl-%s.so", config);
	*b = (struct bare){ .api = so_api(file, "weft_rtl_api") };
	if (!b->api)
		return false;
	assert_int_equal(b->api->version, WEFT_RTL_API_VERSION);
	b->rtl = b->api->open(WEFT_RTL_SRAM, false);
	b->words = malloc(STREAM_WORDS * sizeof(uint64_t));
	assert_true(b->rtl && b->words);
	put_ends(b);
	return true;
}

static void bare_close(struct bare *b)
{
	b->api->close(b->rtl);
	free(b->words);
}

static void expect_reg(const struct bare *b, uint32_t addr, uint32_t want)
{
	const uint32_t got = b->api->reg_read(b->rtl, addr);

	if (got != want)
		fail_msg("%s: register 0x%03x is 0x%x and not 0x%x", b->api->config, addr, got, want);
}

/* Random values in all windows, of which bases are multiples of 64; they hold them. Window 0 can be read and is at base, of that size. */
static void random_windows(const struct bare *b, uint64_t *r, uint64_t base, uint32_t size, bool open)
{
	for (uint32_t i = 0; i < WEFT_N_WINDOWS; i++) {
		const uint64_t at = i ? (test_random(r) >> 24) & ~UINT64_C(63) : base;
		const uint32_t len = i ? (uint32_t)test_random(r) : size, ctrl = i ? (uint32_t)test_below(r, 4) : open;

		b->api->reg_write(b->rtl, WEFT_REG_WIN_BASE_LO(i), (uint32_t)at);
		b->api->reg_write(b->rtl, WEFT_REG_WIN_BASE_HI(i), (uint32_t)(at >> 32));
		b->api->reg_write(b->rtl, WEFT_REG_WIN_SIZE(i), len);
		b->api->reg_write(b->rtl, WEFT_REG_WIN_CTRL(i), ctrl);
		expect_reg(b, WEFT_REG_WIN_BASE_LO(i), (uint32_t)at);
		expect_reg(b, WEFT_REG_WIN_BASE_HI(i), (uint32_t)(at >> 32));
		expect_reg(b, WEFT_REG_WIN_SIZE(i), len);
		expect_reg(b, WEFT_REG_WIN_CTRL(i), ctrl);
	}
}

/* Waits until no stream and no reset is under way. */
static void until_idle(const struct bare *b)
{
	struct weft_rtl_event ev;
	uint64_t cycles = 0;

	do
		cycles += b->api->step(b->rtl, 20, &ev);
	while (b->api->reg_read(b->rtl, WEFT_REG_STATUS) & WEFT_REG_STATUS_BUSY_MASK && cycles < MOST_CYCLES);
	assert_true(cycles < MOST_CYCLES);
}

/* Starts the stream after a reset and waits until it has ended. */
static void start(const struct bare *b, uint32_t off, uint32_t n_words)
{
	b->api->reg_write(b->rtl, WEFT_REG_CTRL, WEFT_REG_CTRL_RESET_MASK);
	until_idle(b);
	b->api->reg_write(b->rtl, WEFT_REG_STREAM_OFF, off);
	b->api->reg_write(b->rtl, WEFT_REG_STREAM_WORDS, n_words);
	expect_reg(b, WEFT_REG_STREAM_OFF, off);
	expect_reg(b, WEFT_REG_STREAM_WORDS, n_words);
	b->api->reg_write(b->rtl, WEFT_REG_CTRL, WEFT_REG_CTRL_START_MASK);
	until_idle(b);
}

static void expect_fault(const struct bare *b, uint32_t code, uint32_t info)
{
	expect_reg(b, WEFT_REG_STATUS, WEFT_REG_STATUS_FAULT_MASK);
	expect_reg(b, WEFT_REG_FAULT, code | WEFT_UNIT_CP << WEFT_REG_FAULT_UNIT_LSB);
	expect_reg(b, WEFT_REG_FAULT_CMD, 0);
	expect_reg(b, WEFT_REG_FAULT_INFO, info);
	for (uint32_t reg = WEFT_REG_RETIRED_LD; reg <= WEFT_REG_RETIRED_VE; reg += 4)
		expect_reg(b, reg, 0);
}

/* A stream of END whose window is as it has to be, or wrong in one of three ways. */
static void window_of_stream(const struct bare *b, uint64_t *r)
{
	enum { RIGHT, CLOSED, MISALIGNED, SHORT };
	const unsigned wrong = (unsigned)test_below(r, 4);
	const uint64_t base = (test_random(r) >> 24) & ~UINT64_C(63);
	const uint32_t n_words = wrong == RIGHT ? STREAM_WORDS : (uint32_t)(2 + 2 * test_below(r, 1 << 21));
	uint32_t off = wrong == RIGHT ? 0 : (uint32_t)test_below(r, UINT32_C(1) << (wrong == SHORT ? 26 : 25)) * 64;
	uint64_t size = off + UINT64_C(8) * n_words;

	/* Only what is to be wrong is: a window that is too short lacks up to eight bytes, or all that 32 bits cannot count. */
	if (wrong == SHORT)
		size = size - 1 > UINT32_MAX ? UINT32_MAX : size - 1 - test_below(r, 8);
	if (wrong == MISALIGNED) {
		off += 1 + (uint32_t)test_below(r, 63);
		size += 64;
	}
	random_windows(b, r, base, (uint32_t)size, wrong != CLOSED);
	if (wrong == RIGHT)
		assert_int_equal(b->api->map(b->rtl, base, (uint8_t *)b->words, 8 * STREAM_WORDS), 0);
	start(b, off, n_words);
	if (wrong != RIGHT) {
		expect_fault(b, WEFT_FAULT_WINDOW, off);
	} else {
		expect_reg(b, WEFT_REG_STATUS, WEFT_REG_STATUS_DONE_MASK);
		assert_int_equal(b->api->map(b->rtl, base, NULL, 0), 0);
	}
}

/* A long command of which memory has the first words only, and at times none. */
static void bus_error(const struct bare *b, uint64_t *r)
{
	const uint64_t base = (test_random(r) >> 24) & ~UINT64_C(63);
	const uint32_t beat = (weft_config_find(b->api->config)->axi_bits + 63) / 64;
	struct weft_cmd c;

	weft_cmd_init(&c, WEFT_CMD_CONV);
	c.h.tag = (uint32_t)test_random(r);
	const uint32_t n_words = (uint32_t)weft_cmd_encode(&c, b->words), there = (uint32_t)test_below(r, n_words / beat) * beat;
	random_windows(b, r, base, 8 * STREAM_WORDS, true);
	if (there)
		assert_int_equal(b->api->map(b->rtl, base, (uint8_t *)b->words, 8 * there), 0);
	start(b, 0, STREAM_WORDS);
	expect_fault(b, WEFT_FAULT_BUS, there ? (uint32_t)b->words[0] : 0);
	expect_reg(b, WEFT_REG_FAULT_TAG, there ? (uint32_t)c.h.tag : 0);
	assert_int_equal(b->api->map(b->rtl, base, NULL, 0), 0);
	put_ends(b);
}

static void unreadable(const char *config, long n)
{
	const uint64_t first = test_seed(1);
	struct bare b;

	assert_true(bare_open(&b, config));
	for (long i = 0; i < n; i++) {
		uint64_t r = first + (uint64_t)i;

		window_of_stream(&b, &r);
		bus_error(&b, &r);
	}
	bare_close(&b);
	printf("%s: %ld streams whose window is right or wrong, %ld that meet a bus error\n", config, n, n);
	fflush(stdout);
}

/* Of each configuration whose simulator is there. */
static void each_config(void (*run)(const char *config, long n), long n)
{
	unsigned there = 0;

	for (size_t i = 0; i < N_CONFIGS; i++) {
		if (!test_have_rtl(configs[i]))
			continue;
		run(configs[i], n);
		there++;
	}
	if (!there)
		skip();
}

static void test_refused(void **state)
{
	(void)state;
	each_config(refused, test_count(300, 3000, 100000));
}

static void test_unreadable(void **state)
{
	(void)state;
	each_config(unreadable, test_count(50, 500, 10000));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_refused), cmocka_unit_test(test_unreadable) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

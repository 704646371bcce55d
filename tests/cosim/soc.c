/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The NPU with AXI ports (hw/top/weft_npu_axi.sv), as it is in somebody's SoC: random streams
 * between a memory and a bus master that are slow at random on every channel, registers read
 * and written meanwhile, beside the functional model. In most runs something happens
 * in the middle: the memory answers a read or a write with SLVERR or DECERR, or a reset comes. Then
 * the registers must say so, and the stream runs again. WEFT_SEED is the first seed, WEFT_N the count.
 */
#include <inttypes.h>

#include "compare_stream.h"

#include "sim/rtl/soc/soc.h"
#include "tests/support/bench_so.h"

static const char *const channels[WEFT_SOC_CHANNELS] = { "AW", "W", "B", "AR", "R",
	"AW of registers", "W of registers", "B of registers", "AR of registers", "R of registers" };
static const char *const events[WEFT_SOC_EVENTS] = { "streams that ended", "read errors", "write errors", "resets by register",
	"resets" };

static const struct weft_soc_bench_api *api, *ecc;

static int setup(void **state)
{
	(void)state;
	api = bench_api("soc");
	ecc = bench_api("ecc");
	return api && ecc ? 0 : -1;
}

/* The event of a seed: any kind, early or late. */
static void choose_event(struct weft_soc_job *job, uint64_t seed)
{
	static const uint32_t most[WEFT_SOC_EVENTS] = { 1, 400, 40, 4000, 4000 };

	job->event = (enum weft_soc_event)(seed % WEFT_SOC_EVENTS);
	job->at = (uint32_t)(seed * 2654435761u >> 8) % most[job->event];
	job->response = seed / WEFT_SOC_EVENTS % 2 ? 3 : 2;
}

static void run_one(const struct weft_soc_bench_api *bench, unsigned flips, uint64_t seed, weft_dev *model,
                    struct weft_soc_counts *counts)
{
	struct random_stream s;
	char msg[WEFT_SOC_MSG];

	random_stream_make(&s, seed, weft_config_find("w8b"));
	uint8_t *want = malloc(s.n_arena), *got = calloc(1, s.n_arena);
	assert_non_null(want);
	assert_non_null(got);
	stream_run(seed, model, "model", &s, want);
	struct weft_soc_job job = { .seed = seed, .words = s.words, .n_words = s.n_words,
		.data = { (uint8_t *)s.words, s.consts, got }, .len_bytes = { 8 * s.n_words, s.n_consts, s.n_arena } };
	job.flips = flips;
	if (!flips)
		choose_event(&job, seed);
	if (bench->run(&job, counts, msg))
		fail_msg("seed %" PRIu64 ": %s", seed, msg);
	for (uint64_t i = 0; i < s.n_arena; i++)
		if (want[i] != got[i])
			fail_msg("seed %" PRIu64 ": byte 0x%" PRIx64 " of memory is 0x%02x, not 0x%02x", seed, i, got[i], want[i]);
	free(want);
	free(got);
	random_stream_free(&s);
}

static void random_traffic(void **state)
{
	weft_dev *model = stream_device(WEFT_DEV_MODEL, WEFT_MEMORY_SRAM, "w8b");
	struct weft_soc_counts counts = { 0 };
	uint64_t first = test_seed(1);
	long n = test_count(20, 150, 5000);

	(void)state;
	for (long i = 0; i < n; i++)
		run_one(api, 0, first + (uint64_t)i, model, &counts);
	weft_dev_close(model);
	print_message("%ld streams, %" PRIu64 " cycles, %" PRIu64 " bursts read, %" PRIu64 " written, %" PRIu64
	              " register accesses, %" PRIu64 " refused\n", n, counts.cycles, counts.reads, counts.writes, counts.accesses,
	              counts.refused);
	for (int i = 0; i < WEFT_SOC_EVENTS; i++)
		print_message("%" PRIu64 " %s%s", counts.events[i], events[i], i == WEFT_SOC_EVENTS - 1 ? "\n" : ", ");
	if (test_count_given())
		return;
	/* Each channel has moved at once and, but for the memory's answers, which the NPU is always ready for, has waited;
	 * everything has happened. */
	for (int i = 0; i < WEFT_SOC_CHANNELS; i++)
		if ((!counts.waits[i] && i != 2) || !counts.before[i])
			fail_msg("%s: waited in %" PRIu64 " cycles, moved at once in %" PRIu64, channels[i], counts.waits[i], counts.before[i]);
	for (int i = 0; i < WEFT_SOC_EVENTS; i++)
		if (!counts.events[i])
			fail_msg("%s: none", events[i]);
	assert_int_equal(counts.events[WEFT_SOC_NOTHING], n);
	assert_true(counts.refused > 0);
}

/* With check bits: nothing is put right that was not wrong, also behind power-up; each wrong bit is; of two in a byte
 * each run either says so or leaves the model's bytes. */
static void wrong_bits(void **state)
{
	weft_dev *model = stream_device(WEFT_DEV_MODEL, WEFT_MEMORY_SRAM, "w8b");
	struct weft_soc_counts counts = { 0 };
	uint64_t first = test_seed(1);
	long n = test_count(24, 160, 4000);

	(void)state;
	for (long i = 0; i < n; i++)
		run_one(ecc, (unsigned)(i % 4), first + (uint64_t)i, model, &counts);
	weft_dev_close(model);
	print_message("%ld streams, %" PRIu64 " words put right, %" PRIu64 " runs stopped by two wrong bits in the scratchpad, %" PRIu64
	              " in a command\n", n, counts.fixed, counts.found[0], counts.found[1]);
	if (test_count_given())
		return;
	assert_true(counts.fixed > 0);
	assert_true(counts.found[0] > 0);
	assert_true(counts.found[1] > 0);
}

static void bring_up(void **state)
{
	char msg[WEFT_SOC_MSG];

	(void)state;
	if (api->bring_up(test_seed(1), msg) || ecc->bring_up(test_seed(1), msg))
		fail_msg("%s", msg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bring_up), cmocka_unit_test(random_traffic), cmocka_unit_test(wrong_bits),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}

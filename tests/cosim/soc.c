/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The NPU with AXI ports (hw/top/weft_npu_axi.sv) runs random streams, and its memory is compared with that of the
 * functional model. The bench around the NPU is a memory and a master of the registers, which are slow at random on
 * every channel; the master reads and writes registers while the stream runs. In most runs of the NPU without check
 * bits an event interrupts the stream: the memory answers a read or a write with SLVERR or DECERR, or a reset comes.
 * The registers must then report the event, and the stream must run once more to its end.
 * WEFT_SEED is the first seed, WEFT_N the number of streams.
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
	ecc = bench_api("soc_ecc");
	return api && ecc ? 0 : -1;
}

/* Chooses the event of a seed, and how early or late in the stream the event comes. */
static void choose_event(struct weft_soc_job *job, uint64_t seed)
{
	static const uint32_t most[WEFT_SOC_EVENTS] = { 1, 400, 40, 4000, 4000 };

	job->event = (enum weft_soc_event)(seed % WEFT_SOC_EVENTS);
	job->at = (uint32_t)(seed * 2654435761u >> 8) % most[job->event];
	job->response = seed / WEFT_SOC_EVENTS % 2 ? 3 : 2;
}

/*
 * Runs the stream of a seed on the functional model and on a bench. Fails the test if the bench complains, or if it leaves
 * other bytes in window 2 than the model does. `flips` says which bits of memories change (weft_soc_job.flips); if it
 * is 0, the event that belongs to the seed (choose_event()) comes instead.
 */
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

/* n runs on a bench, of the seeds from WEFT_SEED on; weft_soc_job.flips is 0 to n_flips - 1 in turn. Returns their sums. */
static struct weft_soc_counts run_many(const struct weft_soc_bench_api *bench, unsigned n_flips, long n)
{
	weft_dev *model = stream_device(WEFT_DEV_MODEL, WEFT_MEMORY_SRAM, "w8b");
	struct weft_soc_counts counts = { 0 };
	uint64_t first = test_seed(1);

	for (long i = 0; i < n; i++)
		run_one(bench, (unsigned)(i % n_flips), first + (uint64_t)i, model, &counts);
	weft_dev_close(model);
	return counts;
}

static void random_traffic(void **state)
{
	long n = test_count(20, 150, 5000);
	const struct weft_soc_counts counts = run_many(api, 1, n);

	(void)state;
	print_message("%ld streams, %" PRIu64 " cycles, %" PRIu64 " bursts read, %" PRIu64 " written, %" PRIu64
	              " register accesses, %" PRIu64 " refused\n", n, counts.cycles, counts.reads, counts.writes, counts.accesses,
	              counts.refused);
	for (int i = 0; i < WEFT_SOC_EVENTS; i++)
		print_message("%" PRIu64 " %s%s", counts.events[i], events[i], i == WEFT_SOC_EVENTS - 1 ? "\n" : ", ");
	if (test_count_given())
		return;
	/* Each channel has transferred at once, and each has waited except the memory's write answers (channel 2), for which
	 * the NPU is always ready. Each event has come. */
	for (int i = 0; i < WEFT_SOC_CHANNELS; i++)
		if ((!counts.waits[i] && i != 2) || !counts.at_once[i])
			fail_msg("%s: waited in %" PRIu64 " cycles, moved at once in %" PRIu64, channels[i], counts.waits[i], counts.at_once[i]);
	for (int i = 0; i < WEFT_SOC_EVENTS; i++)
		if (!counts.events[i])
			fail_msg("%s: none", events[i]);
	assert_int_equal(counts.events[WEFT_SOC_NOTHING], n);
	assert_true(counts.refused > 0);
}

/*
 * With check bits. In a run in which no bits change, no bit is corrected: after power-up too all check bits fit their
 * bytes. If one bit of a byte changes, the bench leaves the model's bytes. If two bits of a byte change, the stream
 * stops with the fault ECC, or the bench leaves the model's bytes.
 */
static void wrong_bits(void **state)
{
	long n = test_count(24, 160, 4000);
	const struct weft_soc_counts counts = run_many(ecc, 4, n);

	(void)state;
	print_message("%ld streams, %" PRIu64 " words corrected, %" PRIu64 " runs stopped by two wrong bits in the scratchpad, %" PRIu64
	              " in a command\n", n, counts.fixed, counts.found[0], counts.found[1]);
	if (test_count_given())
		return;
	assert_true(counts.fixed > 0);
	assert_true(counts.found[0] > 0);
	assert_true(counts.found[1] > 0);
}

/* The first steps of the bring-up list of docs/soc.md, on both benches. */
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

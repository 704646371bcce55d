/* SPDX-License-Identifier: Apache-2.0 */
/* Thirty random graphs and thirty random streams: is anything badly wrong? */
#include "compare_net.h"
#include "compare_stream.h"

#define N_GRAPHS 30
#define N_STREAMS 30

/* Compares thirty graphs on the RTL and the model, or, if there is no RTL, on the model alone, and then counts as skipped. */
static void test_graphs(void **state)
{
	struct compare_total total = { 0 };
	const enum weft_device device = compare_device();

	(void)state;
	for (uint64_t seed = 1; seed <= N_GRAPHS; seed++) {
		struct compare_case c = compare_case_of(seed, seed % 3 ? WEFT_INT8 : WEFT_INT16);
		compare_net(&c, device, &total);
	}
	compare_print(&total, N_GRAPHS);
	compare_all_kinds(&total);
	assert_true(total.npu_ops > total.host_ops);
	if (device == WEFT_DEVICE_MODEL)
		skip();
}

static void test_streams_rtl(void **state)
{
	unsigned count[256] = { 0 }, modes[RANDOM_STREAM_MODES] = { 0 };
	uint64_t cycles = 0;

	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	weft_dev *devices[2] = { stream_device(WEFT_DEV_MODEL, WEFT_MEMORY_SRAM, "w16"),
		stream_device(WEFT_DEV_RTL, WEFT_MEMORY_SRAM, "w16") };
	for (uint64_t seed = 1; seed <= N_STREAMS; seed++)
		cycles += stream_compare(seed, devices, weft_config_find("w16"), count, modes);
	stream_print_count(count, modes, N_STREAMS, cycles);
	assert_true(cycles > 0);
	weft_dev_close(devices[0]);
	weft_dev_close(devices[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_graphs), cmocka_unit_test(test_streams_rtl),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random command streams that no compiler would write: verifier, model and RTL
 * agree on them. WEFT_SEED is the first seed, WEFT_N the count.
 */
#include "compare_stream.h"

static void run_all(bool rtl, const char *config, long n)
{
	const struct weft_config *cfg = weft_config_find(config);
	weft_dev *model = stream_device(WEFT_DEV_MODEL, WEFT_MEMORY_SRAM, config);
	weft_dev *chips[2] = { NULL, NULL };
	unsigned count[256] = { 0 }, modes[RANDOM_STREAM_MODES] = { 0 };
	uint64_t first = test_seed(1), cycles = 0;

	for (int i = 0; i < 2 && rtl; i++)
		chips[i] = stream_device(WEFT_DEV_RTL, i ? WEFT_MEMORY_DDR : WEFT_MEMORY_SRAM, config);
	for (long i = 0; i < n; i++) {
		uint64_t seed = first + (uint64_t)i;
		weft_dev *const devices[2] = { model, chips[seed % 3 == 2] };
		cycles += stream_compare(seed, devices, cfg, count, modes);
	}
	stream_print_count(count, modes, n, cycles);
	for (int i = 0; i < WEFT_N_CMDS && !test_count_given(); i++)
		assert_true(count[weft_cmd_list()[i].op] > 0 || (weft_cmd_list()[i].needs && !(cfg->features >> (weft_cmd_list()[i].needs - 1) & 1)));
	const uint32_t has[RANDOM_STREAM_MODES] = { cfg->has_int8, cfg->has_int16, cfg->has_fp8, cfg->has_raw, cfg->has_int4, cfg->has_coded };
	for (int i = 0; i < RANDOM_STREAM_MODES && !test_count_given(); i++)
		assert_true(modes[i] > 0 || !has[i]);
	weft_dev_close(model);
	weft_dev_close(chips[0]);
	weft_dev_close(chips[1]);
}

/* The verifier takes them all, for every configuration. */
static void test_model(void **state)
{
	(void)state;
	for (int i = 0; i < WEFT_N_CONFIGS; i++)
		run_all(false, weft_config_list()[i].name, test_count(100, 300, 3000));
}

static void test_rtl(void **state)
{
	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	run_all(true, "w16", test_count(100, 300, 3000));
}

/* Of the other configurations those that are built: make sim CONFIGS="w4 w8 w8b w32". */
static void test_rtl_others(void **state)
{
	int found = 0;

	(void)state;
	for (int i = 0; i < WEFT_N_CONFIGS; i++) {
		const char *name = weft_config_list()[i].name;
		if (!strcmp(name, "w16") || !test_have_rtl(name))
			continue;
		found++;
		printf("%s: ", name);
		run_all(true, name, test_count(30, 100, 1000));
	}
	if (!found)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_model), cmocka_unit_test(test_rtl), cmocka_unit_test(test_rtl_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

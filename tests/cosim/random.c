/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random graphs: plain golden, the model and the RTL agree on every tensor.
 * WEFT_SEED is the first seed, WEFT_N the count; of int8, int16 and float8. Every fourth seed compiles for
 * a small scratchpad, every eighth has tensors that are larger than that.
 */
#include "compare_net.h"

static void run_all(weft_dtype type)
{
	struct compare_total total = { 0 };
	uint64_t first = test_seed(1000);
	/* So many graphs are needed to have commands of every kind. Sanitizers would run a third of that. */
	const long least = type == WEFT_INT8 ? 20 : 40;
	long n = type == WEFT_INT8 ? test_count(least, 500, 5000) : test_count(least, 300, 3000);
	const enum weft_device device = compare_device();

	n = !test_count_given() && n < least ? least : n;
	for (long i = 0; i < n; i++) {
		struct compare_case c = compare_case_of(first + (uint64_t)i, type);
		compare_net(&c, device, &total);
	}
	compare_print(&total, n);
	if (!test_count_given())
		compare_all_kinds(&total);
	assert_true(n == 0 || total.elements > 0);
	if (device == WEFT_DEVICE_MODEL)
		skip();
}

static void random_int8(void **state)
{
	(void)state;
	run_all(WEFT_INT8);
}

static void random_int16(void **state)
{
	(void)state;
	run_all(WEFT_INT16);
}

static bool have_float8(void)
{
	if (weft_config_find("w16")->has_fp8)
		return true;
	printf("w16 has no float8\n");
	fflush(stdout);
	return false;
}

static void random_float8(void **state)
{
	(void)state;
	if (!have_float8())
		skip();
	run_all(WEFT_FP8E4M3);
}

/* n graphs from seed `first` on, of the kind that *kind says, in scratchpads of two sizes. Returns what they had. */
static struct compare_total run_kind(const struct compare_case *kind, enum weft_device device, const uint32_t limit[2], uint64_t first, long n)
{
	struct compare_total total = { 0 };

	for (long i = 0; i < n; i++) {
		struct compare_case c = *kind;
		c.seed = first + (uint64_t)i;
		c.type = i % 4 == 3 ? WEFT_INT16 : WEFT_INT8;
		c.sp_limit = limit[(i + i / 4) % 2];   /* of each type in both sizes */
		c.memory = i % 3 ? WEFT_MEMORY_DDR : WEFT_MEMORY_SRAM;
		compare_net(&c, device, &total);
	}
	compare_print(&total, n);
	assert_true(n == 0 || total.elements > 0);
	return total;
}

/* Images made smaller and larger again, and dense blocks, in stripes. */
static void random_unets(void **state)
{
	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	run_kind(&(struct compare_case){ .make = random_net_make_unet, .kind = ", U-Net" }, WEFT_DEVICE_RTL, (uint32_t[]){ 48 << 10, 80 << 10 }, test_seed(1000), test_count(3, 20, 300));
}

/* Blocks of mobile networks, in slices of channels. */
static void random_mobile(void **state)
{
	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	run_kind(&(struct compare_case){ .make = random_net_make_mobile, .kind = ", mobile" }, WEFT_DEVICE_RTL, (uint32_t[]){ 0, 128 << 10 }, test_seed(1000), test_count(4, 30, 500));
}

/* First layers of networks for images, with kernel rows side by side where that pays. */
static void random_stems(void **state)
{
	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	run_kind(&(struct compare_case){ .make = random_net_make_stem, .kind = ", first layer" }, WEFT_DEVICE_RTL, (uint32_t[]){ 0, 64 << 10 }, test_seed(1000), test_count(3, 20, 300));
}

/* First layers of few channels: several pixels become one, with their windows side by side where that pays. */
static void random_thin(void **state)
{
	(void)state;
	const long n = test_count(5, 60, 1000);
	if (!test_have_rtl("w16"))
		skip();
	struct compare_total t = run_kind(&(struct compare_case){ .make = random_net_make_thin, .kind = ", few channels" }, WEFT_DEVICE_RTL, (uint32_t[]){ 0, 64 << 10 }, test_seed(1000), n);
	if (!test_count_given() && n >= 60 && !t.strips.groups)
		fail_msg("no windows of several pixels were ever side by side");
}

/* Several column tiles on small maps, two at a time where that pays, in scratchpads of 512 and 16 KiB, where some sums come in parts. */
static void run_pairs(enum weft_device device, long n)
{
	struct compare_total t = run_kind(&(struct compare_case){ .make = random_net_make_pairs, .kind = ", pairs" }, device, (uint32_t[]){ 0, 16 << 10 }, test_seed(1000), n);

	if (!test_count_given() && n >= 40 && (!t.pairs.odd || !t.pairs.add || !t.pairs.int16))
		fail_msg("conv of pairs: some kind was never executed");
}

static void random_pairs(void **state)
{
	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	run_pairs(WEFT_DEVICE_RTL, test_count(10, 100, 1000));
}

/* Compares more graphs of this kind on the model alone, which takes less time than the RTL. */
static void pairs_model(void **state)
{
	(void)state;
	run_pairs(WEFT_DEVICE_MODEL, test_count(40, 500, 5000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_int8), cmocka_unit_test(random_int16), cmocka_unit_test(random_float8),
		cmocka_unit_test(random_unets), cmocka_unit_test(random_mobile), cmocka_unit_test(random_stems),
		cmocka_unit_test(random_thin), cmocka_unit_test(random_pairs), cmocka_unit_test(pairs_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

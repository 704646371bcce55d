/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random graphs through the compiler, for every array size and for scratchpads
 * from roomy to tiny. WEFT_SEED and WEFT_N choose others.
 */
#include "tests/unit/compile_run.h"

#include "tests/support/level.h"
#include "tests/support/random_graph.h"

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *v = getenv(name);

	return v && *v ? strtoull(v, NULL, 0) : otherwise;
}

/* How many graphs of a kind, if WEFT_N does not say; sanitizers make each ten times as slow. */
static uint64_t graphs(void)
{
	return test_in_part() ? 30 : test_sanitized() ? 100 : 300;
}

static uint64_t on_device;

static void one(uint64_t seed, const char *config, int lanes, uint32_t limit, bool large, weft_dtype type, bool alu)
{
	struct weft_compile_options o = { .config = config, .sp_limit = limit, .of_model = alu };
	struct random_net r;
	char what[160];

	snprintf(what, sizeof what, "seed %llu, %s, %s, %u bytes%s%s", (unsigned long long)seed,
	         weft_dtype_name(type), config, limit, large ? ", large" : "", alu ? ", alu" : "");
	(alu ? random_net_make_alu : random_net_make)(&r, seed, lanes, large, type);
	if (getenv("WEFT_PRINT"))
		random_net_print(&r, stderr);
	on_device += compile_run(r.g, &o, r.inputs, what);
	random_net_free(&r);
}

static void run_all(weft_dtype type, bool alu)
{
	static const struct { const char *name; int lanes; uint32_t small; } config[] = {
		{ "w16", 16, 24 << 10 }, { "w8", 8, 8 << 10 }, { "w32", 32, 64 << 10 }, { "w8b", 8, 8 << 10 }, { "w4", 4, 8 << 10 },
	};
	/* Of int8 alone, and without the alu. */
	uint64_t n_config = type == WEFT_INT8 && !alu ? 5 : 3;
	uint64_t seed = number("WEFT_SEED", 1), n = number("WEFT_N", graphs()) / (alu ? 6 : type == WEFT_FP8E4M3 ? 3 : 1);

	on_device = compile_run_folded = 0;
	for (uint64_t i = 0; i < n; i++) {
		int k = (int)((seed + i) % n_config);
		one(seed + i, config[k].name, config[k].lanes, 0, (seed + i) % 16 == 0, type, alu);
		one(seed + i, config[k].name, config[k].lanes, config[k].small, false, type, alu);
	}
	print_message("%llu elements made on the device, %llu channels folded\n", (unsigned long long)on_device,
	              (unsigned long long)compile_run_folded);
	assert_true(on_device > 1000);
	assert_true(type == WEFT_FP8E4M3 ? !compile_run_folded : alu || n < 300 || compile_run_folded > 20);
}

static void random_graphs(void **state)
{
	(void)state;
	run_all(WEFT_INT8, false);
}

static void random_int16(void **state)
{
	(void)state;
	run_all(WEFT_INT16, false);
}

static void random_float8(void **state)
{
	(void)state;
	run_all(WEFT_FP8E4M3, false);
}

/* For devices with the command alu. */
static void random_alu(void **state)
{
	(void)state;
	run_all(WEFT_INT8, true);
}

static void random_alu_int16(void **state)
{
	(void)state;
	run_all(WEFT_INT16, true);
}

/* Runs graphs that `make` makes, a tenth as many as of other kinds, for configurations and scratchpads of several sizes. */
static void run_kind(void (*make)(struct random_net *r, uint64_t seed, int lanes, weft_dtype type))
{
	static const struct { const char *name; int lanes; uint32_t limit; } config[] = {
		{ "w16", 16, 48 << 10 }, { "w8", 8, 24 << 10 }, { "w16", 16, 80 << 10 }, { "w8", 8, 0 }, { "w8b", 8, 40 << 10 }, { "w4", 4, 24 << 10 },
	};
	uint64_t seed = number("WEFT_SEED", 1), n = number("WEFT_N", graphs()) / 10;

	for (uint64_t i = 0; i < n; i++) {
		int k = (int)((seed + i) % 6);
		struct weft_compile_options o = { .config = config[k].name, .sp_limit = config[k].limit };
		struct random_net r;
		char what[80];
		snprintf(what, sizeof what, "seed %llu, %s, %u bytes", (unsigned long long)(seed + i), config[k].name, config[k].limit);
		make(&r, seed + i, config[k].lanes, k < 4 && i % 4 == 3 ? WEFT_INT16 : WEFT_INT8);
		if (getenv("WEFT_PRINT"))
			random_net_print(&r, stderr);
		assert_true(compile_run(r.g, &o, r.inputs, what) > 0);
		random_net_free(&r);
	}
}

/* Images that are made smaller and larger again, in so little that they run in stripes. */
static void random_unets(void **state)
{
	(void)state;
	run_kind(random_net_make_unet);
}

/* Blocks of mobile networks, which run in slices of channels. */
static void random_mobile(void **state)
{
	(void)state;
	run_kind(random_net_make_mobile);
	/* An activation in front of a depthwise layer is looked up there. */
	assert_true(test_count_given() || compile_run_tables > 0);
}

/* First layers of networks for images, whose kernel rows lie side by side where that pays. */
static void random_stems(void **state)
{
	(void)state;
	run_kind(random_net_make_stem);
	assert_true(test_count_given() || compile_run_joined > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(random_graphs), cmocka_unit_test(random_int16), cmocka_unit_test(random_float8),
		cmocka_unit_test(random_alu), cmocka_unit_test(random_alu_int16), cmocka_unit_test(random_unets),
		cmocka_unit_test(random_mobile), cmocka_unit_test(random_stems) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

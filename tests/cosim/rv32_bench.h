/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the Verilated control core and runs small programs on it. */
#ifndef WEFT_TESTS_RV32_BENCH_H
#define WEFT_TESTS_RV32_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "sim/rtl/rv32/rv32.h"
#include "tests/support/bench_so.h"
#include "tests/support/rv32_asm.h"

#define RAM WEFT_RV32_BENCH_RAM
#define BUS WEFT_RV32_BENCH_BUS

static const struct weft_rv32_bench_api *api;
static struct weft_rv32_bench *bench;

/* For setup functions: the core with so many bytes behind its bus; bench stays NULL where it is not built. */
static inline int bench_open(const struct weft_rv32_bench_api *of, uint32_t bus_bytes, uint64_t seed)
{
	api = of;
	bench = api ? api->open(bus_bytes, seed) : NULL;
	return 0;
}

static inline int bench_close(void **state)
{
	(void)state;
	if (api)
		api->close(bench);
	return 0;
}

static inline void bench_there(void **state)
{
	(void)state;
	assert_non_null(bench);
}

/*
 * The ROM jumps to RAM; the program stands there. Out of reset, which comes first:
 * what is under way then ends in its first cycle, and may write.
 */
static inline void bench_start(const struct rv_program *p)
{
	const uint32_t rom[] = { rv_lui(31, RAM), rv_jalr(0, 31, 0) };
	uint32_t pc;

	api->irq(bench, false, false);
	api->reset(bench);
	assert_true(api->load(bench, 0, rom, sizeof(rom)));
	assert_true(api->load(bench, RAM, p->word, 4 * p->n));
	assert_int_equal(api->step(bench, 20, &pc), 1);
	assert_int_equal(api->step(bench, 20, &pc), 1);
	assert_int_equal(pc, 4);
}

/* Until something traps; the pc of that. */
static inline uint32_t bench_run(unsigned max)
{
	uint32_t pc = 0;

	for (unsigned i = 0; i < max; i++) {
		int r = api->step(bench, 1000, &pc);
		assert_int_not_equal(r, 0);
		if (r == 2)
			return pc;
	}
	fail_msg("no trap within %u instructions", max);
	return 0;
}

#endif

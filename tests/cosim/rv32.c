/* SPDX-License-Identifier: Apache-2.0 */
/* Traps, interrupts, WFI, the bus and the cycles of the control core in RTL. */
#include "rv32_bench.h"

#define BUS_BYTES 4096
#define HANDLER (RAM + 0x4000)

static uint32_t reg(unsigned i)
{
	return api->reg(bench, i);
}

/* Reads cause, pc and value into x20 to x22, then stops at an ecall of its own. */
static void put_handler(void)
{
	const uint32_t code[] = { rv_csrrs(20, 0x342, 0), rv_csrrs(21, 0x341, 0), rv_csrrs(22, 0x343, 0),
		rv_csrrs(23, 0x300, 0), RV_ECALL };

	assert_true(api->load(bench, HANDLER, code, sizeof(code)));
}

static void set_handler(struct rv_program *p)
{
	rv_li(p, 30, HANDLER);
	rv_emit(p, rv_csrrw(0, 0x305, 30));
}

/* The word traps with cause and value, its predecessors have retired, and its
 * successor has done nothing. */
static void expect_trap(uint32_t base, uint32_t word, uint32_t cause, uint32_t value)
{
	struct rv_program p = { .n = 0 };

	set_handler(&p);
	rv_li(&p, 10, base);
	rv_li(&p, 11, 0x55aa);
	rv_emit(&p, rv_addi(12, 0, 1));
	unsigned at = p.n;
	rv_emit(&p, word);
	rv_emit(&p, rv_addi(12, 0, 2));
	rv_emit(&p, rv_addi(11, 0, 2));
	bench_start(&p);
	put_handler();
	assert_int_equal(bench_run(20), RAM + 4 * at);
	assert_int_equal(bench_run(20), HANDLER + 16);
	assert_int_equal(reg(20), cause);
	assert_int_equal(reg(21), RAM + 4 * at);
	assert_int_equal(reg(22), value);
	assert_int_equal(reg(23), 0x1800);
	assert_int_equal(reg(12), 1);
	assert_int_equal(reg(11), 0x55aa);
}

static void test_traps(void **state)
{
	(void)state;
	expect_trap(0, RV_ECALL, 11, 0);
	expect_trap(0, RV_EBREAK, 3, 0);
	expect_trap(0, 0, 2, 0);
	expect_trap(0, 0xffffffff, 2, 0xffffffff);
	expect_trap(0, rv_csrrw(11, 0x7c0, 0), 2, rv_csrrw(11, 0x7c0, 0));
	expect_trap(0, rv_csrrw(11, 0xf14, 0), 2, rv_csrrw(11, 0xf14, 0));
	expect_trap(RAM, rv_lw(11, 10, 1), 4, RAM + 1);
	expect_trap(RAM, rv_i(0x03, 1, 11, 10, 3), 4, RAM + 3);
	expect_trap(RAM, rv_sw(11, 10, 2), 6, RAM + 2);
	expect_trap(RAM, rv_s(1, 10, 11, 1), 6, RAM + 1);
	expect_trap(RAM + 0x10000, rv_lw(11, 10, 0), 5, RAM + 0x10000);
	expect_trap(RAM + 0x10000, rv_sw(11, 10, -4 + 8), 7, RAM + 0x10004);
	expect_trap(0x40000000, rv_lw(11, 10, 0), 5, 0x40000000);
	expect_trap(0x2000, rv_lw(11, 10, 0), 5, 0x2000);
	expect_trap(0x100, rv_sw(11, 10, 0), 7, 0x100);
	expect_trap(BUS + BUS_BYTES, rv_lw(11, 10, 0), 5, BUS + BUS_BYTES);
	expect_trap(BUS + BUS_BYTES, rv_s(0, 10, 11, 3), 7, BUS + BUS_BYTES + 3);
	expect_trap(0x20000000, rv_lw(11, 10, 4), 5, 0x20000004);
	expect_trap(RAM, rv_jalr(11, 10, 2), 0, RAM + 2);
	expect_trap(RAM, rv_jal(11, 6), 0, RAM + 4 * 8 + 6);
	expect_trap(0, rv_b(0, 0, 0, 10), 0, RAM + 4 * 8 + 10);
}

/* A jump to nowhere retires; the fetch there traps. */
static void test_fetch_fault(void **state)
{
	static const uint32_t nowhere[] = { 0x2000, RAM + 0x10000, 0x20000000, 0x7ffffffc, BUS + BUS_BYTES, 0xfffffffc };

	(void)state;
	for (unsigned i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++) {
		struct rv_program p = { .n = 0 };

		set_handler(&p);
		rv_li(&p, 10, nowhere[i]);
		rv_emit(&p, rv_jalr(1, 10, 0));
		bench_start(&p);
		put_handler();
		assert_int_equal(bench_run(20), nowhere[i]);
		assert_int_equal(bench_run(20), HANDLER + 16);
		assert_int_equal(reg(20), 1);
		assert_int_equal(reg(21), nowhere[i]);
		assert_int_equal(reg(22), nowhere[i]);
		assert_int_equal(reg(1), RAM + 4 * p.n);
	}
}

/* Instructions and data on the bus: the program copies a loop there and runs it. */
static void test_run_from_bus(void **state)
{
	struct rv_program p = { .n = 0 };
	const uint32_t loop[] = { rv_lw(6, 10, 0x100), rv_r(0x33, 0, 0, 5, 5, 6), rv_addi(7, 7, -1), rv_b(1, 7, 0, -12),
		rv_s(1, 10, 5, 0x106), rv_i(0x03, 5, 8, 10, 0x106), rv_i(0x03, 0, 9, 10, 0x103), rv_jalr(0, 1, 0) };

	(void)state;
	const uint32_t datum = 0x80000123;
	assert_true(api->load(bench, BUS, loop, sizeof(loop)));
	assert_true(api->load(bench, BUS + 0x100, &datum, 4));
	rv_li(&p, 10, BUS);
	rv_emit(&p, rv_addi(5, 0, 0));
	rv_emit(&p, rv_addi(7, 0, 10));
	rv_emit(&p, rv_jalr(1, 10, 0));
	rv_emit(&p, RV_ECALL);
	bench_start(&p);
	assert_int_equal(bench_run(100), RAM + 4 * (p.n - 1));
	assert_int_equal(reg(5), 10 * 0x80000123u);
	assert_int_equal(reg(8), 10 * 0x123);
	assert_int_equal(reg(9), 0xffffff80u);
}

/* On the bus nothing behind a refused access is asked for: the handler's first word is what is fetched next. */
static void test_refused_on_bus(void **state)
{
	struct rv_program p = { .n = 0 };
	const uint32_t code[] = { rv_lw(11, 10, 0), rv_addi(12, 0, 2) };
	const uint32_t handler[] = { rv_addi(13, 13, 1), rv_csrrs(21, 0x341, 0), RV_ECALL };

	(void)state;
	assert_true(api->load(bench, BUS, code, sizeof(code)));
	assert_true(api->load(bench, BUS + 0x200, handler, sizeof(handler)));
	rv_li(&p, 30, BUS + 0x200);
	rv_emit(&p, rv_csrrw(0, 0x305, 30));
	rv_li(&p, 10, RAM + 0x10000);
	rv_emit(&p, rv_addi(12, 0, 1));
	rv_emit(&p, rv_addi(13, 0, 0));
	rv_li(&p, 1, BUS);
	rv_emit(&p, rv_jalr(0, 1, 0));
	bench_start(&p);
	assert_int_equal(bench_run(100), BUS);
	assert_int_equal(bench_run(100), BUS + 0x208);
	assert_int_equal(reg(12), 1);
	assert_int_equal(reg(13), 1);
	assert_int_equal(reg(21), BUS);
}

static void enable_interrupts(struct rv_program *p, uint32_t mie)
{
	set_handler(p);
	rv_li(p, 30, mie);
	rv_emit(p, rv_csrrw(0, 0x304, 30));
	rv_emit(p, rv_csrrsi(0, 0x300, 8));
}

/* Between any two instructions, and never twice. */
static void test_interrupts(void **state)
{
	(void)state;
	for (unsigned after = 0; after < 24; after++) {
		struct rv_program p = { .n = 0 };
		uint32_t pc = 0;

		enable_interrupts(&p, 0x880);
		unsigned first = p.n;
		rv_li(&p, 10, BUS + 64);
		rv_li(&p, 12, 77);
		rv_emit(&p, rv_lw(11, 10, 0));
		rv_emit(&p, rv_r(0x33, 4, 1, 13, 12, 12));
		rv_emit(&p, rv_sw(12, 10, 4));
		rv_emit(&p, rv_r(0x33, 0, 1, 14, 12, 13));
		rv_emit(&p, rv_jal(0, -4 * (int32_t)(p.n - first)));
		bench_start(&p);
		put_handler();
		for (unsigned i = 0; i < first + after; i++)
			assert_int_equal(api->step(bench, 1000, &pc), 1);
		const uint32_t before = pc;
		api->irq(bench, after & 1, after & 2);
		if (!(after & 3)) {
			assert_int_equal(api->step(bench, 1000, &pc), 1);
			continue;
		}
		assert_int_equal(api->step(bench, 1000, &pc), 2);
		assert_int_equal(pc, before == RAM + 4 * (p.n - 1) ? RAM + 4 * first : before + 4);
		uint32_t epc = pc;
		assert_int_equal(bench_run(20), HANDLER + 16);
		assert_int_equal(reg(20), after & 2 ? 0x8000000bu : 0x80000007u);
		assert_int_equal(reg(21), epc);
		assert_int_equal(reg(22), 0);
		assert_int_equal(reg(23), 0x1880);
	}
}

static void test_wfi(void **state)
{
	struct rv_program p = { .n = 0 };
	uint32_t pc;

	(void)state;
	/* With interrupts on: sleeps, wakes into the handler behind the WFI. */
	enable_interrupts(&p, 0x80);
	rv_emit(&p, RV_WFI);
	rv_emit(&p, rv_addi(5, 0, 9));
	rv_emit(&p, RV_ECALL);
	unsigned wfi = p.n - 3;
	bench_start(&p);
	put_handler();
	for (unsigned i = 0; i < wfi; i++)
		assert_int_equal(api->step(bench, 1000, &pc), 1);
	assert_int_equal(api->step(bench, 500, &pc), 0);
	assert_true(api->asleep(bench));
	api->irq(bench, false, true);   /* not enabled */
	assert_int_equal(api->step(bench, 500, &pc), 0);
	assert_true(api->asleep(bench));
	api->irq(bench, true, true);
	assert_int_equal(api->step(bench, 10, &pc), 1);
	assert_int_equal(pc, RAM + 4 * wfi);
	assert_int_equal(api->step(bench, 10, &pc), 2);
	assert_int_equal(pc, RAM + 4 * wfi + 4);

	/* With interrupts off: goes on behind the WFI. */
	p.word[wfi - 1] = RV_NOP;
	api->set_reg(bench, 5, 0);
	bench_start(&p);
	assert_int_equal(api->step(bench, 1000, &pc), 1);
	for (unsigned i = 1; i < wfi; i++)
		assert_int_equal(api->step(bench, 1000, &pc), 1);
	assert_int_equal(api->step(bench, 500, &pc), 0);
	api->irq(bench, true, false);
	assert_int_equal(api->step(bench, 10, &pc), 1);
	assert_int_equal(api->step(bench, 10, &pc), 1);
	assert_int_equal(api->step(bench, 10, &pc), 2);
	assert_int_equal(reg(5), 9);
}

/* A handler that returns: mret restores MIE and goes on where it was. */
static void test_mret(void **state)
{
	struct rv_program p = { .n = 0 };
	const uint32_t handler[] = { rv_addi(9, 9, 1), rv_csrrs(15, 0x341, 0), rv_addi(15, 15, 4), rv_csrrw(0, 0x341, 15), RV_MRET };

	(void)state;
	enable_interrupts(&p, 0);
	rv_emit(&p, rv_addi(9, 0, 0));
	rv_emit(&p, RV_EBREAK);
	rv_emit(&p, rv_addi(9, 9, 16));
	rv_emit(&p, RV_EBREAK);
	rv_emit(&p, rv_csrrs(16, 0x300, 0));
	rv_emit(&p, rv_jal(0, 0));
	bench_start(&p);
	assert_true(api->load(bench, HANDLER, handler, sizeof(handler)));
	uint32_t pc = 0;
	for (unsigned i = 0; i < 40; i++)
		assert_int_not_equal(api->step(bench, 100, &pc), 0);
	assert_int_equal(pc, RAM + 4 * (p.n - 1));
	assert_int_equal(reg(9), 18);
	assert_int_equal(reg(16), 0x1888);
}

/* Cycles of n copies of a sequence. */
static double cycles_of(const uint32_t *seq, unsigned n_seq, unsigned copies)
{
	struct rv_program p = { .n = 0 };

	rv_li(&p, 10, RAM + 0x8000);
	unsigned lead = p.n;
	for (unsigned i = 0; i < copies * n_seq; i++)
		rv_emit(&p, seq[i % n_seq]);
	rv_emit(&p, RV_ECALL);
	bench_start(&p);
	uint32_t pc;
	for (unsigned i = 0; i < lead; i++)
		api->step(bench, 10, &pc);
	uint64_t start = api->cycles(bench);
	bench_run(10000);
	return (double)(api->cycles(bench) - start - 1) / copies;
}

static void test_cycles(void **state)
{
	const uint32_t add = rv_r(0x33, 0, 0, 5, 5, 6), load = rv_lw(6, 10, 0), store = rv_sw(6, 10, 4), taken = rv_b(0, 0, 0, 4),
		       not_taken = rv_b(1, 0, 0, 4), mul = rv_r(0x33, 0, 1, 7, 6, 6), divide = rv_r(0x33, 4, 1, 7, 6, 6);
	const uint32_t load_use[] = { load, add }, load_other[] = { load, rv_addi(9, 9, 1) };

	(void)state;
	assert_int_equal((int)(1000 * cycles_of(&add, 1, 100)), 1000);
	assert_int_equal((int)(1000 * cycles_of(&load, 1, 100)), 1000);
	assert_int_equal((int)(1000 * cycles_of(&store, 1, 100)), 1000);
	assert_int_equal((int)(1000 * cycles_of(load_use, 2, 100)), 3000);
	assert_int_equal((int)(1000 * cycles_of(load_other, 2, 100)), 2000);
	assert_int_equal((int)(1000 * cycles_of(&not_taken, 1, 100)), 1000);
	assert_int_equal((int)(1000 * cycles_of(&taken, 1, 100)), 2000);
	assert_int_equal((int)(1000 * cycles_of(&mul, 1, 100)), 3000);
	assert_int_equal((int)(1000 * cycles_of(&divide, 1, 100)), 34000);
}

/* mcycle and mcycleh hold what is written and count a cycle for each of the instructions behind it, with the carry. */
static void test_cycle_counter(void **state)
{
	static const uint64_t values[] = { 0, 0xfffffffc, 0x12345678fffffffcu, 0xedcba98700000000u, UINT64_MAX - 3, 0x5555555555555555u, 0xaaaaaaaaaaaaaaaau };

	(void)state;
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		struct rv_program p = { .n = 0 };

		rv_li(&p, 10, (uint32_t)(values[i] >> 32));
		rv_li(&p, 11, (uint32_t)values[i]);
		rv_emit(&p, rv_csrrw(0, 0xb80, 10));
		rv_emit(&p, rv_csrrw(0, 0xb00, 11));
		rv_emit(&p, rv_csrrs(12, 0xb00, 0));
		for (int k = 0; k < 6; k++)
			rv_emit(&p, RV_NOP);
		rv_emit(&p, rv_csrrs(13, 0xb80, 0));
		rv_emit(&p, rv_csrrs(14, 0xb00, 0));
		rv_emit(&p, RV_ECALL);
		bench_start(&p);
		bench_run(1000);
		assert_int_equal(reg(12), (uint32_t)values[i]);
		assert_int_equal(reg(13), (uint32_t)((values[i] + 7) >> 32));
		assert_int_equal(reg(14), (uint32_t)(values[i] + 8));
	}
}

static int setup(void **state)
{
	(void)state;
	return bench_open(bench_api("rv32"), BUS_BYTES, test_seed(1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bench_there),       cmocka_unit_test(test_traps),          cmocka_unit_test(test_fetch_fault),
		cmocka_unit_test(test_run_from_bus), cmocka_unit_test(test_refused_on_bus), cmocka_unit_test(test_interrupts),
		cmocka_unit_test(test_wfi),          cmocka_unit_test(test_mret),           cmocka_unit_test(test_cycles),
		cmocka_unit_test(test_cycle_counter),
	};

	return cmocka_run_group_tests(tests, setup, bench_close);
}

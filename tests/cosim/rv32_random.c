/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random programs on the control core in RTL and on the interpreter of the
 * functional chip, instruction by instruction: pc, whether it trapped, all
 * registers; and both memories at the end. The two were written separately.
 *
 * Programs are words of any kind that RV32IM and the machine CSRs know, a few
 * that it does not, jumps and branches nearby, loads and stores around three
 * base registers (RAM, memory on the bus, nowhere), with a trap handler that
 * skips what trapped. Half of the programs begin by protecting memory, with entries
 * at the pages that they use, some locked; code and handler stay executable.
 */
#include "rv32_bench.h"

#include <inttypes.h>
#include <string.h>

#include "sim/model/rv32.h"

#define CODE_WORDS 512
#define HANDLER    (RAM + 0x6000)
#define DATA       (RAM + 0x8000)
#define DATA_BYTES 4096
#define BUS_BYTES  4096
#define STEPS      500

static uint64_t rng;

static uint32_t rnd(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return (uint32_t)(rng >> 32);
}

static uint32_t below(uint32_t n)
{
	return (uint32_t)((uint64_t)rnd() * n >> 32);
}

/* x1 to x15, often the same few, so that results are used at once. */
static uint32_t any_reg(void)
{
	return below(3) ? 10 + below(3) : below(16);
}

/* What must stay: x28 to x30 are the bases, x31 is the handler's. */
static uint32_t any_source(void)
{
	return below(12) ? any_reg() : 28 + below(3);
}

static uint32_t random_csr(void)
{
	/* Not mcycle (time differs), not mtvec. Interrupts never come here. */
	static const uint16_t csrs[] = { 0x300, 0x304, 0x344, 0xb02, 0xb82, 0x301, 0x340, 0x340, 0x341, 0x342, 0x343, 0xf11, 0xf12, 0xf13, 0xf14, 0x105, 0x7c0, 0xc00,
		0x3a0, 0x3a1, 0x3a2, 0x3b1, 0x3b2, 0x3b4, 0x3b6, 0x3b7, 0x3b8 };

	return csrs[below(sizeof(csrs) / sizeof(csrs[0]))];
}

static int32_t small(void)
{
	return (int32_t)below(4096) - 2048;
}

static uint32_t random_word(void)
{
	const struct rv_op *op = &rv_ops[below(RV_N_OPS)];
	int32_t off = 4 * ((int32_t)below(24) - 8);

	switch (below(16)) {
	case 0:
		return rv_lui(any_reg(), rnd());
	case 1:
		return rv_u(0x17, any_reg(), rnd());
	case 2:
		return rv_jal(any_reg(), off ? off : 8);
	case 3:
		return rv_i(0x73, 1 + below(3) + 4 * below(2), any_reg(), any_source(), (int32_t)random_csr());
	case 4:
		return below(4) ? RV_NOP : below(2) ? RV_ECALL : below(2) ? RV_EBREAK : rnd();
	case 5:
		/* To an address computed here: mostly near, sometimes odd or nowhere. */
		return rv_jalr(any_reg(), 27, (int32_t)(4 * below(200)) + (below(20) ? 0 : (int32_t)below(4)));
	case 6:
		return below(2) ? 0x0000000fu | below(1u << 12) << 20 : 0x0000100fu;
	default:
		break;
	}
	if (op->format == RV_FORMAT_BRANCH)
		return rv_encode(op, 0, any_source(), any_source(), off ? off : 8);
	if (op->format == RV_FORMAT_LOAD || op->format == RV_FORMAT_STORE) {
		/* Mostly aligned, near the base. */
		int32_t near = (int32_t)below(1024) - 512;
		/* Stores never into the code: what was fetched already would differ. */
		uint32_t base = below(10) ? 28 + below(2) : below(2) || op->format == RV_FORMAT_STORE ? 30 : any_reg();
		return rv_encode(op, any_reg(), base, any_source(), below(8) ? near & -4 : near);
	}
	return rv_encode(op, any_reg(), any_source(), any_source(), op->format == RV_FORMAT_SHIFT ? (int32_t)below(32) : small());
}

/* The handler skips the word that trapped, or returns to the code where there was none. */
static unsigned make_handler(uint32_t *code)
{
	struct rv_program p = { .n = 0 };

	rv_emit(&p, rv_csrrs(31, 0x341, 0));
	rv_emit(&p, rv_addi(31, 31, 4));
	rv_li(&p, 26, RAM + 4 * CODE_WORDS);
	rv_emit(&p, rv_b(6, 31, 26, 12));      /* bltu: inside the code */
	rv_li(&p, 31, RAM);
	rv_emit(&p, rv_csrrw(0, 0x341, 31));
	rv_emit(&p, RV_MRET);
	memcpy(code, p.word, 4 * p.n);
	return p.n;
}

/* Entry 0 has code and handler, and is locked or stands in front of the others; those are at pages that are used, or anywhere. */
static void protect(struct rv_program *p)
{
	static const uint32_t pages[] = { RAM, HANDLER, RAM + 0x7000, DATA, DATA + 0x1000, 0x20000000, 0x40000000, BUS, BUS + 0x10001000, 0xf0000000 };
	const uint32_t n = sizeof(pages) / sizeof(pages[0]);
	uint32_t at = 3 + below(3), cfg[2];

	for (uint32_t i = 0; i < 8; i++) {
		rv_li(p, 26, i ? pages[at] >> 2 | below(2) << 3 : (RAM + 0x7000) >> 2);
		rv_emit(p, rv_csrrw(0, 0x3b0 + i, 26));
		/* Mostly rising, so that there is something between them. */
		at = below(4) ? at + (at + 1 < n) * below(2) : below(n);
	}
	for (uint32_t k = 0; k < 2; k++) {
		cfg[k] = 0;
		for (uint32_t i = 0; i < 4; i++)
			cfg[k] |= (below(4) ? 0x08 : below(4) * 8) << 8 * i | below(8) << 8 * i | (below(2) ? 0x80u : 0) << 8 * i;
	}
	cfg[0] = (cfg[0] & 0xffffff00u) | 0x0d | below(2) * 2 | below(2) * 0x80;
	for (uint32_t k = 0; k < 2; k++) {
		rv_li(p, 26, cfg[1 - k]);
		rv_emit(p, rv_csrrw(0, 0x3a1 - k, 26));
	}
}

static void make_program(struct rv_program *p)
{
	p->n = 0;
	rv_li(p, 30, HANDLER);
	rv_emit(p, rv_csrrw(0, 0x305, 30));
	rv_li(p, 27, RAM + 0x40);
	rv_li(p, 28, DATA + DATA_BYTES / 2);
	rv_li(p, 29, BUS + BUS_BYTES / 2);
	rv_li(p, 30, below(2) ? 0x40000000 : RAM + 0x10000 - 100);
	for (unsigned r = 1; r < 16; r++)
		rv_li(p, r, below(4) ? rnd() : below(2) ? 0x80000000u : UINT32_MAX - below(3));
	if (below(2))
		protect(p);
	while (p->n < CODE_WORDS)
		rv_emit(p, random_word());
}

/* The interpreter beside the bench. */
struct twin {
	struct rv32 core;
	uint8_t rom[WEFT_RV32_BENCH_ROM_BYTES], ram[WEFT_RV32_BENCH_RAM_BYTES], bus[BUS_BYTES];
};

static bool no_load(void *user, uint32_t addr, uint32_t *value)
{
	(void)user, (void)addr, (void)value;
	return false;
}

static bool no_store(void *user, uint32_t addr, uint32_t value)
{
	(void)user, (void)addr, (void)value;
	return false;
}

static void twin_connect(struct twin *t)
{
	memset(&t->core, 0, sizeof(t->core));
	t->core.mem[0] = (struct rv32_mem){ t->rom, WEFT_RV32_BENCH_ROM, sizeof(t->rom), true, 0 };
	t->core.mem[1] = (struct rv32_mem){ t->ram, WEFT_RV32_BENCH_RAM, sizeof(t->ram), false, 0 };
	t->core.mem[2] = (struct rv32_mem){ t->bus, WEFT_RV32_BENCH_BUS, sizeof(t->bus), false, 0 };
	t->core.bus = (struct rv32_bus){ no_load, no_store, NULL };
	rv32_reset(&t->core, 0);
}

static struct twin twin;

static void start(uint64_t seed, struct rv_program *p)
{
	static const uint8_t zero[4096];
	uint32_t handler[32];

	rng = seed * 0x9e3779b97f4a7c15u + 1;
	make_program(p);
	api->reset(bench);
	for (uint32_t at = 0; at < WEFT_RV32_BENCH_RAM_BYTES; at += sizeof(zero))
		assert_true(api->load(bench, RAM + at, zero, sizeof(zero)));
	assert_true(api->load(bench, BUS, zero, BUS_BYTES));
	unsigned n = make_handler(handler);
	assert_true(api->load(bench, HANDLER, handler, 4 * n));
	for (unsigned r = 1; r < 32; r++)
		api->set_reg(bench, r, 0);
	bench_start(p);

	twin_connect(&twin);
	assert_true(api->peek(bench, 0, twin.rom, sizeof(twin.rom)));
	assert_true(api->peek(bench, RAM, twin.ram, sizeof(twin.ram)));
	assert_true(api->peek(bench, BUS, twin.bus, sizeof(twin.bus)));
	twin.core.pc = RAM;
	twin.core.instret = 2; /* those in the ROM */
	twin.core.x[31] = RAM;
}

/* One instruction of the interpreter; false: it trapped. */
static bool twin_step(void)
{
	uint64_t before = twin.core.n_instr;

	twin.core.limit = twin.core.n_cycles + 1;
	twin.core.wfi = false;
	rv32_run(&twin.core);
	return twin.core.n_instr != before;
}

static void registers_agree(uint64_t seed, unsigned step, uint32_t pc)
{
	for (unsigned r = 1; r < 32; r++)
		if (api->reg(bench, r) != twin.core.x[r])
			fail_msg("seed %" PRIu64 " step %u pc 0x%08x: x%u expected 0x%08x, got 0x%08x; make test T=cosim/rv32_random SEED=%" PRIu64 " N=1",
			         seed, step, pc, r, twin.core.x[r], api->reg(bench, r), seed);
}

static void run_program(uint64_t seed, unsigned *n_traps)
{
	struct rv_program p;
	uint32_t pc;

	start(seed, &p);
	for (unsigned step = 0; step < STEPS; step++) {
		uint32_t expected = twin.core.pc;
		bool retired = twin_step();
		int got = api->step(bench, 1000, &pc);

		if (pc != expected || got != (retired ? 1 : 2))
			fail_msg("seed %" PRIu64 " step %u: expected 0x%08x to %s, got 0x%08x and %d; make test T=cosim/rv32_random SEED=%" PRIu64 " N=1",
			         seed, step, expected, retired ? "retire" : "trap", pc, got, seed);
		*n_traps += !retired;
		/* The last result is still on its way to the file. */
		if (got == 2)
			registers_agree(seed, step, pc);
	}
	static uint8_t ram[WEFT_RV32_BENCH_RAM_BYTES], bus[BUS_BYTES];
	assert_true(api->peek(bench, RAM, ram, sizeof(ram)));
	assert_true(api->peek(bench, BUS, bus, sizeof(bus)));
	assert_memory_equal(ram, twin.ram, sizeof(ram));
	assert_memory_equal(bus, twin.bus, sizeof(bus));
}

static void test_random(void **state)
{
	const uint64_t first = test_seed(1);
	const long n = test_count(50, 2000, 100000);
	unsigned traps = 0;

	(void)state;
	for (long i = 0; i < n; i++)
		run_program(first + (uint64_t)i, &traps);
	print_message("%ld programs of %d steps, %u of them traps\n", n, STEPS, traps);
	assert_true(traps > (unsigned)n);
}

static int setup(void **state)
{
	(void)state;
	return bench_open(bench_api("rv32"), BUS_BYTES, test_seed(1));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(bench_there), cmocka_unit_test(test_random) };

	return cmocka_run_group_tests(tests, setup, bench_close);
}

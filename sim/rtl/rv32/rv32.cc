// SPDX-License-Identifier: Apache-2.0
//
// The Verilated control core behind the C interface of rv32.h.
#include "sim/rtl/rv32/rv32.h"

#include <cstring>
#include <new>
#include <vector>

#include "Vweft_rv32_bench.h"
#include "Vweft_rv32_bench___024root.h"
#include "sim/rtl/counted.h"
#include "verilated.h"

#define CORE(name) top.rootp->weft_rv32_bench__DOT__u_ctrl__DOT__u_core__DOT__##name

struct weft_rv32_bench {
	VerilatedContext ctx;
	Vweft_rv32_bench top;
	std::vector<uint8_t> bus;
	uint64_t seed, cycle = 0;
	unsigned wait = 0;

	weft_rv32_bench(size_t bus_bytes, uint64_t s) : top(&ctx, "rv32"), bus(bus_bytes), seed(s)
	{
		top.clk_i = 0;
		top.irq_timer_i = 0;
		top.irq_external_i = 0;
		top.bus_ready_i = 0;
		reset();
	}

	~weft_rv32_bench()
	{
		top.final();
		keep_counts(ctx, top, "rv32");
	}

	void reset()
	{
		top.rst_ni = 0;
		tick();
		tick();
		top.rst_ni = 1;
		cycle = 0;
	}

	// Few cycles mostly, many sometimes.
	unsigned random_wait()
	{
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		const unsigned r = static_cast<unsigned>(seed >> 40);
		return r % 8 ? r / 8 % 3 : r / 8 % 30;
	}

	void answer()
	{
		top.bus_ready_i = 0;
		if (!top.bus_valid_o) {
			wait = random_wait();
			return;
		}
		if (wait) {
			wait--;
			return;
		}
		top.bus_ready_i = 1;
		const uint32_t at = (top.bus_addr_o & ~3u) - WEFT_RV32_BENCH_BUS;
		top.bus_error_i = top.bus_addr_o < WEFT_RV32_BENCH_BUS || at + 4 > bus.size();
		if (top.bus_error_i)
			return;
		if (top.bus_write_o) {
			for (unsigned i = 0; i < 4; i++)
				if (top.bus_mask_o >> i & 1)
					bus[at + i] = static_cast<uint8_t>(top.bus_wdata_o >> 8 * i);
		} else {
			std::memcpy(&top.bus_rdata_i, &bus[at], 4);
		}
	}

	void tick()
	{
		top.clk_i = 0;
		top.eval();
		answer();
		top.eval();
		top.clk_i = 1;
		top.eval();
		cycle++;
	}

	uint8_t *find(uint32_t addr, size_t len)
	{
		auto in = [&](uint32_t base, size_t bytes) {
			return addr >= base && addr - base <= bytes && bytes - (addr - base) >= len;
		};
		auto *r = top.rootp;
		if (in(WEFT_RV32_BENCH_ROM, WEFT_RV32_BENCH_ROM_BYTES))
			return reinterpret_cast<uint8_t *>(&r->weft_rv32_bench__DOT__u_ctrl__DOT__u_rom__DOT__mem[0]) + addr;
		if (in(WEFT_RV32_BENCH_RAM, WEFT_RV32_BENCH_RAM_BYTES))
			return reinterpret_cast<uint8_t *>(&r->weft_rv32_bench__DOT__u_ctrl__DOT__u_ram__DOT__mem[0]) +
			       (addr - WEFT_RV32_BENCH_RAM);
		if (in(WEFT_RV32_BENCH_BUS, bus.size()))
			return &bus[addr - WEFT_RV32_BENCH_BUS];
		return nullptr;
	}
};

namespace {

weft_rv32_bench *bench_open(size_t bus_bytes, uint64_t seed)
{
	return new (std::nothrow) weft_rv32_bench(bus_bytes, seed | 1);
}

void bench_close(weft_rv32_bench *b)
{
	delete b;
}

void bench_reset(weft_rv32_bench *b)
{
	b->reset();
}

bool bench_load(weft_rv32_bench *b, uint32_t addr, const void *data, size_t len)
{
	uint8_t *p = b->find(addr, len);
	if (p)
		std::memcpy(p, data, len);
	return p;
}

bool bench_peek(weft_rv32_bench *b, uint32_t addr, void *data, size_t len)
{
	const uint8_t *p = b->find(addr, len);
	if (p)
		std::memcpy(data, p, len);
	return p;
}

void bench_irq(weft_rv32_bench *b, bool timer, bool external)
{
	b->top.irq_timer_i = timer;
	b->top.irq_external_i = external;
}

int bench_step(weft_rv32_bench *b, uint64_t max_cycles, uint32_t *pc)
{
	auto &top = b->top;
	for (uint64_t i = 0; i < max_cycles; i++) {
		b->tick();
		*pc = b->CORE(t_pc_q);
		if (b->CORE(t_retire_q))
			return 1;
		if (b->CORE(t_trap_q))
			return 2;
	}
	(void)top;
	return 0;
}

uint32_t bench_reg(weft_rv32_bench *b, unsigned i)
{
	if (i == 0)
		return 0;
	return b->CORE(regs)[i & 31];
}

void bench_set_reg(weft_rv32_bench *b, unsigned i, uint32_t value)
{
	b->CORE(regs)[i & 31] = value;
}

bool bench_asleep(weft_rv32_bench *b)
{
	return b->top.sleep_o;
}

uint64_t bench_cycles(weft_rv32_bench *b)
{
	return b->cycle;
}

void bench_decode(weft_rv32_bench *b, uint32_t instr, weft_rv32_decoded *d)
{
	auto &t = b->top;
	t.dec_instr_i = instr;
	t.eval();
	d->kind = t.dec_kind_o;
	d->alu = t.dec_alu_o;
	d->a = t.dec_a_o;
	d->rd = t.dec_rd_o;
	d->b_imm = t.dec_b_imm_o;
	d->rs1_used = t.dec_rs1_used_o;
	d->rs2_used = t.dec_rs2_used_o;
	d->jalr = t.dec_jalr_o;
	d->imm = t.dec_imm_o;
}

} // namespace

extern "C" __attribute__((visibility("default"))) const struct weft_rv32_bench_api *weft_rv32_bench_api(void)
{
	static const struct weft_rv32_bench_api api = {
		bench_open, bench_close, bench_reset, bench_load, bench_peek, bench_irq, bench_step,
		bench_reg, bench_set_reg, bench_asleep, bench_cycles, bench_decode,
	};
	return &api;
}

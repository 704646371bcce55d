// SPDX-License-Identifier: Apache-2.0
//
// The Verilated NPU behind the C interface of rtl.h. Compiled twice per
// configuration, which WEFT_CONFIG and VTOP name: as it is, and with WEFT_WAVE to
// record waveforms and to be sampled. Both make Verilator keep signals, which costs a
// quarter of the speed even while nothing is recorded.
#include "sim/rtl/rtl.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>

#include "verilated.h"

#include "sim/rtl/counted.h"
#include "sim/rtl/memory.h"
#include "sim/rtl/power_up.h"
#include "sim/rtl/profile.h"
#ifdef WEFT_WAVE
#include "sim/rtl/wave.h"
#endif

#define STR_(x) #x
#define STR(x) STR_(x)
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#include VTOP_H
#include STR(CAT(VTOP, ___024root).h)

#ifdef FAULT_POINTS_H
#include "sim/rtl/fault.h"
#endif

#if !defined(WEFT_WAVE) && !defined(FAULT_POINTS_H) && !VM_COVERAGE
#define WEFT_LEAN
// Verilator's own steps of an evaluation.
void CAT(VTOP, ___024root___eval_triggers__act)(CAT(VTOP, ___024root) *);
void CAT(VTOP, ___024root___eval_ico)(CAT(VTOP, ___024root) *);
void CAT(VTOP, ___024root___eval_nba)(CAT(VTOP, ___024root) *);
#endif

// Storage of scratchpad bank b in the Verilated model.
#define BANK(b) weft_npu__DOT__u_sp__DOT__g_bank__BRA__##b##__KET____DOT__u_ram__DOT__mem

// The units that have clocks of their own.
#define EACH_UNIT(X) X(cp) X(ld) X(st) X(cv) X(ve) X(alu) X(post)

namespace {

constexpr unsigned kBanks = 16;

#ifndef WEFT_WAVE
struct Wave {               // never made
	void dump(uint64_t) {}
	int close() { return 0; }
};
#endif

// A clock was low since its last edge. A configuration without the alu does not look at
// the alu's clock.
#define LOW(u) \
	template <class R> auto low_##u(R &r, int) -> decltype(void(r.__Vtrigrprev__TOP__clk_##u##_i)) \
	{ \
		r.__Vtrigrprev__TOP__clk_##u##_i = 0; \
	} \
	template <class R> void low_##u(R &, long) {}
EACH_UNIT(LOW)
#undef LOW

} // namespace

struct weft_rtl {
	// A context that may trace; the default one would dangle after close().
	struct Context : VerilatedContext {
		Context()
		{
			power_up_at_random(*this);
#ifdef WEFT_WAVE
			traceEverOn(true);
#endif
		}
	} ctx;
	VTOP top;
	Memory memory;
#ifdef WEFT_WAVE
	Profile profile;
#endif
	std::unique_ptr<Wave> wave;
	uint64_t cycle = 0;
	bool all_clocks = true;     // units' clocks never rest; so in reset
	uint8_t *bank[kBanks];
	uint32_t word_bytes, bank_bytes;
#ifdef FAULT_POINTS_H
	Faults faults;
#endif

	explicit weft_rtl(weft_rtl_profile speed)
		: top(&ctx, "npu"), memory(speed, sizeof(top.m_wdata_o), true)
	{
		find_banks();
		find_points();
		find_triggers();
		reset();
	}

	~weft_rtl()
	{
		close_wave();
		top.final();
		keep_counts(ctx, top, "npu-" STR(WEFT_CONFIG));
		Verilated::threadContextp(&ctx);   // scopes leave the thread's context, which may be another's
	}

	template <typename T> void bank_at(unsigned i, T &mem)
	{
		bank[i] = reinterpret_cast<uint8_t *>(&mem[0]);
		word_bytes = sizeof(mem[0]);
		bank_bytes = sizeof(mem);
	}

	void find_banks()
	{
		auto *r = top.rootp;
		bank_at(0, r->BANK(0));   bank_at(1, r->BANK(1));
		bank_at(2, r->BANK(2));   bank_at(3, r->BANK(3));
		bank_at(4, r->BANK(4));   bank_at(5, r->BANK(5));
		bank_at(6, r->BANK(6));   bank_at(7, r->BANK(7));
		bank_at(8, r->BANK(8));   bank_at(9, r->BANK(9));
		bank_at(10, r->BANK(10)); bank_at(11, r->BANK(11));
		bank_at(12, r->BANK(12)); bank_at(13, r->BANK(13));
		bank_at(14, r->BANK(14)); bank_at(15, r->BANK(15));
	}

	// tools/fault_points.py wrote the list.
	void find_points()
	{
#ifdef FAULT_POINTS_H
		auto *r = top.rootp;
#define FORCE(name, bits, sig, en, val) faults.force(name, bits, sig, en, val);
#define ARRAY(name, bits, a) faults.array(name, bits, a);
#define ADDRESS(name, mem) faults.address(name, mem);
#include FAULT_POINTS_H
#endif
	}

	void disturb()
	{
#ifdef FAULT_POINTS_H
		if (faults.active()) {
			faults.apply(cycle);
			top.eval();
		}
#endif
	}

	// Byte at a scratchpad address: regions of two word-interleaved banks.
	uint8_t *sp(uint32_t addr)
	{
		uint32_t word = addr / word_bytes;
		uint32_t region_words = 2 * (bank_bytes / word_bytes);
		uint32_t b = 2 * (word / region_words) + (word & 1);
		return b < kBanks ? bank[b] + word % region_words / 2 * word_bytes + addr % word_bytes : nullptr;
	}

	void reset()
	{
		top.clk_i = 0;
		top.rst_ni = 0;
		top.reg_req_i = 0;
		top.reg_we_i = 0;
		drive();
		memory.in_reset(true);
		for (int i = 0; i < 4; i++)
			tick();
		memory.in_reset(false);
		top.rst_ni = 1;
		reset_is_over(ctx);
		news = true;
		tick();
		cycle = 0;
	}

	// A unit that can be disturbed may need a clock without saying so: there clocks never rest.
	void rest([[maybe_unused]] bool yes)
	{
#ifndef FAULT_POINTS_H
		all_clocks = !yes;
#endif
	}

	void drive()
	{
		drive_memory_port(top, memory.out());
	}

#ifdef WEFT_LEAN
	// Which of Verilator's triggers each unit's clock is, and clk_i. A clock that nobody
	// looks at is none.
	struct {
#define TRIGGER(u) bool *u;
		EACH_UNIT(TRIGGER)
		bool *all, none;
	} trigger;
	bool news = true;           // inputs have changed since the last edge

	static void clocks_low(VTOP &top)
	{
#define LOW(u) top.clk_##u##_i = 0; low_##u(*top.rootp, 0);
		EACH_UNIT(LOW)
		top.clk_i = top.rootp->__Vtrigrprev__TOP__clk_i = 0;
	}

	bool *triggered()
	{
		auto *r = top.rootp;
		bool *found = &trigger.none;
		CAT(VTOP, ___024root___eval_triggers__act)(r);
		for (size_t i = 0; i < sizeof(r->__VactTriggered); i++)
			if (r->__VactTriggered.at(i))
				found = &r->__VnbaTriggered.at(i);
		clocks_low(top);
		return found;
	}

	void find_triggers()
	{
		clocks_low(top);
		top.eval();
#define FIND(u) top.clk_##u##_i = 1; trigger.u = triggered();
		EACH_UNIT(FIND)
		top.clk_i = 1;
		trigger.all = triggered();
	}

	// One whole cycle: look, settle, clock edge, next inputs. Edges come at inputs only, so
	// what Verilator does around them, looking for edges until there are none, finds
	// nothing, and the clocks themselves may stay low. No output depends on an input of the
	// same cycle. A unit that does not need the edge gets none, and costs nothing.
	uint32_t tick()
	{
		auto *r = top.rootp;
		const uint32_t retired = top.retire_o;
		*trigger.all = true;
#define RISE(u) *trigger.u = all_clocks || top.need_##u##_o;
		EACH_UNIT(RISE)
		const bool moved = memory.clock(see_memory_port(top));
		r->__VicoTriggered.at(0) = news;
		CAT(VTOP, ___024root___eval_ico)(r);
		CAT(VTOP, ___024root___eval_nba)(r);
		if (moved)
			drive();
		news = moved;
		cycle++;
		return retired;
	}
#else
	bool news;                  // nobody asks
	void find_triggers() {}

	// One whole cycle: settle, look, clock edge, next inputs. No output depends on an
	// input of the same cycle, so without a waveform nobody sees the clocks fall. A unit
	// that does not need the edge gets none, and costs nothing.
	uint32_t tick()
	{
		if (wave) {
#define FALL(u) top.clk_##u##_i = 0;
			EACH_UNIT(FALL)
			top.clk_i = 0;
			top.eval();
			wave->dump(2 * cycle);
		} else {
#define LOW(u) low_##u(*top.rootp, 0);
			EACH_UNIT(LOW)
			top.rootp->__Vtrigrprev__TOP__clk_i = 0;
		}
#define RISE(u) top.clk_##u##_i = all_clocks || top.need_##u##_o;
		EACH_UNIT(RISE)
		const uint32_t retired = top.retire_o;
		const Memory::FromChip c = see_memory_port(top);
#ifdef WEFT_WAVE
		if (profile.on())
			profile.sample(*top.rootp, memory.out(), c, retired);
#endif
		memory.clock(c);
		top.clk_i = 1;
		top.eval();
		disturb();
		if (wave)
			wave->dump(2 * cycle + 1);
		drive();
		cycle++;
		return retired;
	}
#endif

	const char *failed = nullptr; // an exception has come, and the state is half done: it does nothing any more

	// A design that tests disturb may break any rule.
	const char *broken() const
	{
		if (failed)
			return failed;
#ifdef FAULT_POINTS_H
		return nullptr;
#else
		return memory.broken();
#endif
	}

	// 0, or the negative errno for which the file is not there.
	int close_wave()
	{
		const int err = wave ? wave->close() : 0;
		wave.reset();
		return err;
	}
};

namespace {

weft_rtl *rtl_open(weft_rtl_profile profile, bool all_clocks)
{
	// The harness is called from C, which no exception may reach.
	try {
		auto *r = new weft_rtl(profile);

		r->rest(!all_clocks);
		return r;
	} catch (const std::exception &) {
		return nullptr;
	}
}

void rtl_close(weft_rtl *r)
{
	delete r;
}

int rtl_map(weft_rtl *r, uint64_t addr, uint8_t *data, uint64_t len)
{
	try {
		return r->memory.map(addr, data, len);
	} catch (const std::exception &) {
		return -ENOMEM;
	}
}

void rtl_reg_write(weft_rtl *r, uint32_t addr, uint32_t value)
{
	r->top.reg_req_i = 1;
	r->top.reg_we_i = 1;
	r->top.reg_addr_i = addr;
	r->top.reg_wdata_i = value;
	r->news = true;
	try {
		r->tick();
	} catch (const std::exception &) {
		r->failed = "out of memory";
	}
	r->top.reg_req_i = 0;
	r->top.reg_we_i = 0;
	r->news = true;
}

// Combinational: costs no cycle.
uint32_t rtl_reg_read(weft_rtl *r, uint32_t addr)
{
	r->top.clk_i = 0;
	r->top.reg_req_i = 1;
	r->top.reg_we_i = 0;
	r->top.reg_addr_i = addr;
	r->top.eval();
	const uint32_t value = r->top.reg_rdata_o;
	r->top.reg_req_i = 0;
	r->top.eval();
	return value;
}

uint64_t rtl_step(weft_rtl *r, uint64_t max_cycles, weft_rtl_event *ev)
{
	uint64_t n = 0;
	ev->retired = 0;
	ev->irq = r->top.irq_o;
	ev->broken = nullptr;
	try {
		while (n < max_cycles && !ev->retired && !ev->irq && !r->broken()) {
			ev->retired = r->tick();
			ev->irq = r->top.irq_o;
			n++;
		}
		ev->broken = r->broken();
	} catch (const std::exception &) {
		ev->broken = r->failed = "out of memory";
	}
	ev->cycle = r->cycle;
	return n;
}

void rtl_peek_sp(weft_rtl *r, uint32_t addr, uint32_t len, uint8_t *out)
{
	for (uint32_t i = 0; i < len;) {
		const uint8_t *p = r->sp(addr + i);
		uint32_t run = r->word_bytes - (addr + i) % r->word_bytes;
		if (run > len - i)
			run = len - i;
		if (p)
			std::memcpy(out + i, p, run);
		else
			std::memset(out + i, 0, run);
		i += run;
	}
}

void rtl_poke_sp(weft_rtl *r, uint32_t addr, uint32_t len, const uint8_t *data)
{
	for (uint32_t i = 0; i < len; i++)
		if (uint8_t *p = r->sp(addr + i))
			*p = data[i];
}

int rtl_plant(weft_rtl *r, const weft_rtl_plant *p)
{
	auto *root = r->top.rootp;
	root->weft_npu__DOT__u_conv__DOT__u_array__DOT__fault_hook_q =
		p->kind == WEFT_RTL_PLANT_PE
			? 0x80000000u | (p->col & 0xff) << 16 | (p->row & 0xff) << 8 | (p->bit & 0x3f) : 0;
	root->weft_npu__DOT__u_post__DOT__fault_hook_q =
		p->kind == WEFT_RTL_PLANT_LANE ? 0x80000000u | (p->lane & 0xff) << 8 | (p->bit & 0x3f) : 0;
	root->weft_npu__DOT__u_sp__DOT__fault_hook_q =
		p->kind == WEFT_RTL_PLANT_SP
			? uint64_t(1) << 63 | uint64_t(p->bit & 7) << 24 | (p->addr & 0xfffff) : 0;
	r->news = true;
	return 0;
}

int32_t rtl_operand(weft_rtl *r, uint32_t row, uint32_t col)
{
	auto &op = r->top.rootp->weft_npu__DOT__u_conv__DOT__u_array__DOT__op_a;
	const uint32_t n = r->word_bytes;
	return row < n && col < n ? static_cast<int16_t>(op[n * row + col]) : 0;
}

#ifdef WEFT_WAVE
int rtl_wave(weft_rtl *r, const char *file)
{
	int err = r->close_wave();
	if (!file)
		return err;
	r->wave.reset(new (std::nothrow) Wave);
	err = r->wave ? r->wave->open(r->top, file) : -ENOMEM;
	if (err)
		r->wave.reset();
	return err;
}
#else
int rtl_wave(weft_rtl *, const char *file)
{
	return file ? -ENOTSUP : 0;
}
#endif

uint64_t rtl_cycle(weft_rtl *r)
{
	return r->cycle;
}

const weft_rtl_point *rtl_points(weft_rtl *r, uint32_t *n)
{
#ifdef FAULT_POINTS_H
	return r->faults.points(n);
#else
	(void)r;
	*n = 0;
	return nullptr;
#endif
}

int rtl_fault(weft_rtl *r, const weft_rtl_fault *f)
{
#ifdef FAULT_POINTS_H
	return r->faults.set(f);
#else
	(void)r;
	return f ? -ENOTSUP : 0;
#endif
}

int rtl_sample(weft_rtl *r, weft_sampler *fn, void *user)
{
#ifdef WEFT_WAVE
	r->profile.watch(fn, user);
	return 0;
#else
	(void)r;
	(void)user;
	return fn ? -ENOTSUP : 0;
#endif
}

} // namespace

extern "C" __attribute__((visibility("default"))) const struct weft_rtl_api *weft_rtl_api(void)
{
	static const struct weft_rtl_api api = {
		WEFT_RTL_API_VERSION, STR(WEFT_CONFIG),
		rtl_open, rtl_close, rtl_map, rtl_reg_write, rtl_reg_read,
		rtl_step, rtl_peek_sp, rtl_poke_sp, rtl_plant, rtl_operand, rtl_wave, rtl_cycle, rtl_sample,
		rtl_points, rtl_fault,
	};
	return &api;
}

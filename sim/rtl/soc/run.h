// SPDX-License-Identifier: Apache-2.0
//
// A SoC around the NPU: it programs the registers, plays the memory, and looks at both ports in
// every cycle. While a stream runs, it also reads and writes registers that the stream does not need, at random.
#ifndef WEFT_SIM_RTL_SOC_RUN_H
#define WEFT_SIM_RTL_SOC_RUN_H

#include <array>
#include <cstring>

#include "sim/rtl/soc/soc.h"

#include "include/weft/gen/cmd.h"
#include "include/weft/gen/regs.h"
#include "sim/rtl/axi_check.h"
#include "sim/rtl/bench.h"
#include "sim/rtl/counted.h"
#include "sim/rtl/power_up.h"
#include "sim/rtl/soc/bus.h"
#include "sim/rtl/soc/flips.h"
#include "verilated.h"

static_assert(WEFT_SOC_MSG >= kBenchMsg, "room for a message");

constexpr uint64_t kLimit = 4000000;            // a run of more cycles is taken for hung
constexpr uint32_t kId = 5, kCache = 3, kProt = 1; // as in weft_soc_bench.sv
constexpr unsigned kIncr = 1, kSize = 3;        // bursts are of kind INCR, their beats have 8 bytes
constexpr uint32_t kFirstFree = 3;              // windows 3 to 7 are used by no stream

// Top is the Verilated weft_soc_bench.sv. An object does one run or one bring-up.
template <class Top> class Soc {
public:
	Soc(const weft_soc_job &job, weft_soc_counts &counts, char *msg)
		: job_(job), counts_(counts), fail_{ msg }, random_(job.seed), t_(&ctx_, "soc"), memory_(random_, fail_),
		  master_(random_, fail_), check_(8, true), flips_(random_, job.flips)
	{
		for (unsigned i = 0; i < 3; i++) {
			base_[i] = (uint64_t(i + 1) << 32) + 64 * random_.below(1 << 12);
			memory_.ranges.push_back({ base_[i], job.len_bytes[i], job.data[i] });
		}
		memory_.event = job.event;
		memory_.at = job.at;
		memory_.response = job.response;
	}
	~Soc()
	{
		t_.final();
		keep_counts(ctx_, t_, t_.modelName());
	}

	int run()
	{
		power_up();
		program();
		start();
		if (wait()) {
			counts_.events[job_.event] += job_.event != WEFT_SOC_NOTHING;
			std::memset(job_.data[2], 0, job_.len_bytes[2]);
			memory_.event = WEFT_SOC_NOTHING;
			start();
			wait();
		}
		counts_.events[WEFT_SOC_NOTHING]++;
		counts_.cycles += cycle_;
		counts_.reads += memory_.n_reads;
		counts_.writes += memory_.n_writes;
		counts_.accesses += master_.n_accesses;
		counts_.refused += master_.n_refused;
		return fail_.failed ? -1 : 0;
	}

	int bring_up()
	{
		power_up();
		write(WEFT_REG_WIN_BASE_LO(7), ~0u);
		expect("win_base_lo[7]", read(WEFT_REG_WIN_BASE_LO(7)), 0xffffffc0);
		master_.ask({ true, WEFT_REG_WIN_BASE_LO(7), 0, 0, 4, nullptr });
		settle();
		expect("writes that were refused", static_cast<uint32_t>(master_.n_refused), 1);
		expect("win_base_lo[7] behind a write of one byte", read(WEFT_REG_WIN_BASE_LO(7)), 0xffffffc0);
		write(WEFT_REG_IRQ_ENABLE, 3);
		write(WEFT_REG_WIN_CTRL(0), WEFT_REG_WIN_CTRL_READ_MASK);
		start();
		for (unsigned i = 0; i < 100 && !t_.irq_o; i++)
			cycle();
		expect("the interrupt of an empty stream", t_.irq_o, 1);
		expect("status behind it", read(WEFT_REG_STATUS), 4);
		expect("the fault", read(WEFT_REG_FAULT), WEFT_UNIT_CP << WEFT_REG_FAULT_UNIT_LSB | WEFT_FAULT_STREAM_END);
		clear_interrupt(2);
		reset_by_register();
		return fail_.failed ? -1 : 0;
	}

private:
	const weft_soc_job &job_;
	weft_soc_counts &counts_;
	Failure fail_;
	Random random_;
	struct Context : VerilatedContext {
		Context() { power_up_at_random(*this); }
	} ctx_;                             // before t_, whose constructor gives registers and memories their first values
	Top t_;
	SocMemory memory_;
	SocMaster master_;
	AxiCheck check_;
	Flips flips_;
	uint64_t base_[3], cycle_ = 0;
	bool chatter_ = false;              // registers that the stream does not need are accessed at random
	bool irq_ = false;                  // irq_o in the cycle before
	bool irq_cleared_ = true;           // irq_o may fall
	uint32_t shadow_[5][4] = {};        // what the registers of the windows from kFirstFree on must read
	bool offered_[WEFT_SOC_CHANNELS] = {};   // the channel's valid was high in the cycle before, its ready was not

	// ---- a cycle ----

	// Every output of the NPU that may change; Cache and Prot are constants, which look() checks.
	using Outputs = std::array<uint64_t, 27>;
	Outputs outputs() const
	{
		return { t_.irq_o, t_.s_awready_o, t_.s_wready_o, t_.s_bvalid_o, t_.s_bresp_o, t_.s_arready_o, t_.s_rvalid_o,
			t_.s_rdata_o, t_.s_rresp_o, t_.m_awvalid_o, t_.m_awid_o, t_.m_awaddr_o, t_.m_awlen_o, t_.m_awsize_o,
			t_.m_awburst_o, t_.m_wvalid_o, t_.m_wdata_o, t_.m_wstrb_o, t_.m_wlast_o, t_.m_bready_o, t_.m_arvalid_o,
			t_.m_arid_o, t_.m_araddr_o, t_.m_arlen_o, t_.m_arsize_o, t_.m_arburst_o, t_.m_rready_o };
	}

	SocMaster::Answers answers() const
	{
		return { t_.s_awready_o != 0, t_.s_wready_o != 0, t_.s_bvalid_o != 0, t_.s_arready_o != 0, t_.s_rvalid_o != 0,
			t_.s_bresp_o, t_.s_rresp_o, t_.s_rdata_o };
	}

	// Sets the NPU's inputs to the outputs of the memory and of the master.
	void drive()
	{
		const SocMaster::Port &s = master_.out;

		drive_memory_port(t_, memory_.out);
		t_.m_rid_i = kId;
		t_.m_bid_i = kId;
		// Signals of a channel that is not valid have any value.
		if (!t_.m_rvalid_i) {
			t_.m_rid_i = random_.below(8);
			t_.m_rresp_i = random_.below(4);
			t_.m_rlast_i = random_.below(2);
			for (unsigned i = 0; i < 8; i++)
				reinterpret_cast<uint8_t *>(&t_.m_rdata_i)[i] = static_cast<uint8_t>(random_.below(256));
		}
		if (!t_.m_bvalid_i) {
			t_.m_bid_i = random_.below(8);
			t_.m_bresp_i = random_.below(4);
		}
		t_.s_awvalid_i = s.awvalid;
		t_.s_awaddr_i = s.awvalid ? s.awaddr : random_.below(4096);
		t_.s_wvalid_i = s.wvalid;
		t_.s_wdata_i = s.wvalid ? s.wdata : random_.below(~0u);
		t_.s_wstrb_i = s.wvalid ? s.wstrb : random_.below(16);
		t_.s_arvalid_i = s.arvalid;
		t_.s_araddr_i = s.arvalid ? s.araddr : random_.below(4096);
		t_.s_bready_i = s.bready;
		t_.s_rready_i = s.rready;
	}

	// Checks the NPU's outputs in this cycle.
	void look()
	{
		check_.look(see_memory_port(t_), memory_.out);
		if (check_.broken())
			fail_("cycle %llu: %s", static_cast<unsigned long long>(cycle_), check_.broken());
		if (t_.m_arvalid_o && (t_.m_arid_o != kId || t_.m_arcache_o != kCache || t_.m_arprot_o != kProt ||
		                       t_.m_arburst_o != kIncr || t_.m_arsize_o != kSize || t_.m_arlen_o > 15 || t_.m_araddr_o % 8))
			fail_("a read burst has another ID, size, kind, cache or protection than it should, or too many beats");
		if (t_.m_awvalid_o && (t_.m_awid_o != kId || t_.m_awcache_o != kCache || t_.m_awprot_o != kProt ||
		                       t_.m_awburst_o != kIncr || t_.m_awsize_o != kSize || t_.m_awlen_o > 15 || t_.m_awaddr_o % 8))
			fail_("a write burst has another ID, size, kind, cache or protection than it should, or too many beats");
		if (irq_ && !t_.irq_o && !irq_cleared_)
			fail_("the interrupt is withdrawn before it is cleared");
		irq_ = t_.irq_o;
		count();
	}

	// Counts how the channels wait and move in this cycle.
	void count()
	{
		const bool valid[WEFT_SOC_CHANNELS] = { t_.m_awvalid_o != 0, t_.m_wvalid_o != 0, t_.m_bvalid_i != 0, t_.m_arvalid_o != 0,
			t_.m_rvalid_i != 0, t_.s_awvalid_i != 0, t_.s_wvalid_i != 0, t_.s_bvalid_o != 0, t_.s_arvalid_i != 0, t_.s_rvalid_o != 0 };
		const bool ready[WEFT_SOC_CHANNELS] = { t_.m_awready_i != 0, t_.m_wready_i != 0, t_.m_bready_o != 0, t_.m_arready_i != 0,
			t_.m_rready_o != 0, t_.s_awready_o != 0, t_.s_wready_o != 0, t_.s_bready_i != 0, t_.s_arready_o != 0, t_.s_rready_i != 0 };

		for (unsigned i = 0; i < WEFT_SOC_CHANNELS; i++) {
			counts_.waits[i] += valid[i] && !ready[i];
			counts_.at_once[i] += valid[i] && ready[i] && !offered_[i];
			offered_[i] = valid[i] && !ready[i];
		}
	}

	// The clock rises and falls.
	void edge()
	{
		flips_.show(t_);
		t_.clk_i = 1;
		t_.eval();
		t_.clk_i = 0;
		t_.eval();
		cycle_++;
	}

	// One cycle of the SoC.
	void cycle()
	{
		if (chatter_ && !random_.below(12) && master_.n_waiting() < 6)
			access_at_random();
		const Outputs before = outputs();
		memory_.show(see_memory_port(t_));
		master_.show(answers());
		drive();
		t_.eval();
		if (outputs() != before)
			fail_("cycle %llu: an output depends on an input of the same cycle", static_cast<unsigned long long>(cycle_));
		look();
		const Memory::FromChip c = see_memory_port(t_);
		const SocMaster::Answers s = answers();
		memory_.move(c);
		master_.move(s);
		edge();
		if (cycle_ > kLimit)
			fail_("hung: %llu cycles", static_cast<unsigned long long>(kLimit));
	}

	// ---- registers ----

	void write(uint32_t addr, uint32_t data)
	{
		master_.ask({ true, addr, data, 0, 15, nullptr });
		settle();
	}

	uint32_t read(uint32_t addr)
	{
		uint32_t value = 0;
		master_.ask({ false, addr, 0, 0, 0, &value });
		settle();
		return value;
	}

	// Lets cycles pass until every access is answered.
	void settle()
	{
		const bool chatter = chatter_;
		chatter_ = false;
		while (!master_.idle() && !fail_.failed)
			cycle();
		chatter_ = chatter;
	}

	void expect(const char *what, uint32_t got, uint32_t want)
	{
		if (got != want)
			fail_("%s is 0x%x, not 0x%x", what, got, want);
	}

	// Begins an access that changes nothing for the stream: of a window that the stream does not use, of an address
	// without a register, or of a counter or the status.
	void access_at_random()
	{
		static const uint32_t holes[] = { 0x028, 0x02c, 0x050, 0x0fc, 0x180, 0x234, 0x3fc, 0x400, 0x800, 0xffc };
		const uint32_t w = random_.below(5), field = random_.below(4);
		const uint32_t addr = WEFT_REG_WIN_BASE_LO(kFirstFree + w) + 4 * field;
		const uint32_t hole = holes[random_.below(sizeof(holes) / sizeof(*holes))];

		if (master_.uses(addr) || master_.uses(hole))
			return;
		switch (random_.below(5)) {
		case 0:
			master_.ask({ false, addr, shadow_[w][field], ~0u, 0, nullptr });
			break;
		case 1:
		case 2:
			write_window(w, field, addr);
			break;
		case 3:
			if (random_.below(2))
				master_.ask({ false, hole, 0, ~0u, 0, nullptr });
			else
				master_.ask({ true, hole, random_.below(~0u), 0, 15, nullptr });
			break;
		default:               // a counter or the status, which may have any value
			master_.ask({ false, random_.below(2) ? WEFT_REG_CNT_CYCLES + 4 * random_.below(12) : WEFT_REG_STATUS, 0, 0, 0, nullptr });
		}
	}

	// Writes a register of a window that no stream uses. Only a write with all strobes changes it.
	void write_window(uint32_t w, uint32_t field, uint32_t addr)
	{
		static const uint32_t kept[] = { 0xffffffc0, 0xff, 0xffffffff, 3 };
		const uint32_t data = random_.below(~0u);
		const unsigned strb = random_.below(4) ? 15 : random_.below(16);

		master_.ask({ true, addr, data, 0, strb, nullptr });
		if (strb == 15)
			shadow_[w][field] = data & kept[field];
	}

	// ---- a run ----

	// Resets the NPU, the memory and the master for one to four cycles.
	void hard_reset()
	{
		const unsigned n = 1 + random_.below(4);

		memory_.reset();
		master_.reset();
		check_.reset();
		std::memset(shadow_, 0, sizeof(shadow_));
		std::memset(offered_, 0, sizeof(offered_));
		t_.rst_ni = 0;
		for (unsigned i = 0; i < n; i++) {
			drive();
			t_.eval();
			if (t_.m_arvalid_o || t_.m_awvalid_o || t_.m_wvalid_o || t_.s_bvalid_o || t_.s_rvalid_o)
				fail_("something is offered in cycle %u of the reset", i);
			edge();
		}
		t_.rst_ni = 1;
		t_.eval();
		irq_ = false;
		irq_cleared_ = true;
	}

	// The first reset. Assertions hold from the second cycle after it on: some compare with the cycle before, and the last
	// cycle of a reset still shows the random state in which the NPU begins.
	void power_up()
	{
		hard_reset();
		cycle();
		reset_is_over(ctx_);
		constants();
	}

	// Checks registers whose values are known after a reset.
	void constants()
	{
		expect("id", read(WEFT_REG_ID), 0x57454654);
		expect("axi_bytes", read(WEFT_REG_CONFIG) >> WEFT_REG_CONFIG_AXI_BYTES_LSB & 0xff, 8);
		expect("status", read(WEFT_REG_STATUS), 0);
	}

	// Writes the registers that a stream needs.
	void program()
	{
		for (uint32_t i = 0; i < 3; i++) {
			write(WEFT_REG_WIN_BASE_LO(i), static_cast<uint32_t>(base_[i]));
			write(WEFT_REG_WIN_BASE_HI(i), static_cast<uint32_t>(base_[i] >> 32));
			write(WEFT_REG_WIN_SIZE(i), static_cast<uint32_t>(job_.len_bytes[i]));
			write(WEFT_REG_WIN_CTRL(i), WEFT_REG_WIN_CTRL_READ_MASK | (i == 2 ? WEFT_REG_WIN_CTRL_WRITE_MASK : 0));
		}
		write(WEFT_REG_STREAM_OFF, 0);
		write(WEFT_REG_STREAM_WORDS, static_cast<uint32_t>(job_.n_words));
		write(WEFT_REG_IRQ_ENABLE, WEFT_REG_IRQ_ENABLE_DONE_MASK | WEFT_REG_IRQ_ENABLE_FAULT_MASK);
	}

	void start()
	{
		if (t_.irq_o)
			fail_("there is an interrupt before the start");
		irq_cleared_ = false;
		write(WEFT_REG_CTRL, WEFT_REG_CTRL_START_MASK);
	}

	// Lets cycles pass until the interrupt, or until the reset that the job asks for is over, and judges what the
	// registers report. Returns whether the stream did not end and must run again.
	bool wait()
	{
		const uint64_t begin = cycle_;

		chatter_ = true;
		while (!t_.irq_o && !fail_.failed) {
			if (memory_.event == WEFT_SOC_RESET && cycle_ - begin >= job_.at) {
				chatter_ = false;
				return reset_by_register();
			}
			if (memory_.event == WEFT_SOC_HARD_RESET && cycle_ - begin >= job_.at) {
				chatter_ = false;
				hard_reset();
				constants();
				program();
				return true;
			}
			cycle();
		}
		chatter_ = false;
		settle();
		if (job_.flips > 1 && read(WEFT_REG_FAULT))
			return judge_flips();
		return memory_.came && memory_.event ? judge_fault() : judge_end();
	}

	// The stream has stopped while two bits of a byte change: the fault must be ECC, at a place where bits were changed.
	// Bytes that cannot be corrected stay wrong until they are written, so a hard reset follows, which clears the scratchpad.
	bool judge_flips()
	{
		const uint32_t fault = read(WEFT_REG_FAULT), unit = fault >> WEFT_REG_FAULT_UNIT_LSB & 0xff;
		const uint32_t info = read(WEFT_REG_FAULT_INFO);

		expect("the fault's code", fault >> WEFT_REG_FAULT_CODE_LSB & 0xff, WEFT_FAULT_ECC);
		if (unit == WEFT_UNIT_CP && !flips_.made_at(info))
			fail_("the fault is at 0x%x, where no bits were changed", info);
		if ((unit == WEFT_UNIT_CP) != (job_.flips == 2))
			fail_("the fault is unit %u's", unit);
		clear_interrupt(WEFT_REG_IRQ_STATUS_FAULT_MASK);
		counts_.found[job_.flips - 2]++;
		flips_.stop();
		hard_reset();
		constants();
		program();
		return true;
	}

	// Clears the interrupt, whose cause must be the only one.
	void clear_interrupt(uint32_t cause)
	{
		expect("irq_status", read(WEFT_REG_IRQ_STATUS), cause);
		irq_cleared_ = true;
		write(WEFT_REG_IRQ_STATUS, cause);
		if (t_.irq_o)
			fail_("the interrupt stays when its cause is cleared");
	}

	// The stream has ended without a fault.
	bool judge_end()
	{
		expect("status of a stream that has ended", read(WEFT_REG_STATUS), WEFT_REG_STATUS_DONE_MASK);
		clear_interrupt(WEFT_REG_IRQ_STATUS_DONE_MASK);
		const uint32_t n_fixed = read(WEFT_REG_CNT_ECC);
		if (n_fixed && job_.flips != 1)
			fail_("%u words were corrected of which no bit was changed", n_fixed);
		counts_.fixed += n_fixed;
		if (!memory_.idle())
			fail_("a stream has ended, and the memory still owes answers");
		return false;
	}

	// The memory has answered a burst with an error: the fault must name the unit that asked for the burst, and its address.
	// ctrl.reset must then be enough for the stream to run again.
	bool judge_fault()
	{
		const bool wrote = memory_.event == WEFT_SOC_WRITE_ERROR;
		const bool fetch = memory_.came_addr >> 32 == base_[0] >> 32;
		const uint32_t unit = wrote ? WEFT_UNIT_ST : fetch ? WEFT_UNIT_CP : WEFT_UNIT_LD;
		const uint32_t fault = read(WEFT_REG_FAULT), info = read(WEFT_REG_FAULT_INFO);

		expect("status behind an error of the bus", read(WEFT_REG_STATUS), WEFT_REG_STATUS_FAULT_MASK);
		expect("the fault's code", fault >> WEFT_REG_FAULT_CODE_LSB & 0xff, WEFT_FAULT_BUS);
		expect("the fault's unit", fault >> WEFT_REG_FAULT_UNIT_LSB & 0xff, unit);
		if (!fetch && info / 8 != static_cast<uint32_t>(memory_.came_addr) / 8)
			fail_("the fault is at 0x%x, not at 0x%x", info, static_cast<uint32_t>(memory_.came_addr));
		clear_interrupt(WEFT_REG_IRQ_STATUS_FAULT_MASK);
		return reset_by_register();
	}

	// Sets ctrl.reset and waits until the reset is over. The memory must then owe no answer.
	bool reset_by_register()
	{
		write(WEFT_REG_CTRL, WEFT_REG_CTRL_RESET_MASK);
		while (!fail_.failed && read(WEFT_REG_STATUS) & WEFT_REG_STATUS_BUSY_MASK)
			cycle();
		expect("status behind a reset", read(WEFT_REG_STATUS), 0);
		if (!memory_.idle())
			fail_("the reset is over, and the memory still owes answers");
		// The stream may have ended, and raised the interrupt, before the write of ctrl.reset arrived.
		irq_cleared_ = true;
		write(WEFT_REG_IRQ_STATUS, WEFT_REG_IRQ_STATUS_DONE_MASK | WEFT_REG_IRQ_STATUS_FAULT_MASK);
		return true;
	}
};

// The functions that a bench's shared object hands out.
template <class Top> const struct weft_soc_bench_api *bench_of()
{
	static const struct weft_soc_bench_api api = {
		[](const weft_soc_job *job, weft_soc_counts *counts, char *msg) { return Soc<Top>(*job, *counts, msg).run(); },
		[](uint64_t seed, char *msg) {
			weft_soc_counts counts = {};
			weft_soc_job job = {};

			job.seed = seed;
			return Soc<Top>(job, counts, msg).bring_up();
		},
	};

	return &api;
}

#endif

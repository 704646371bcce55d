// SPDX-License-Identifier: Apache-2.0
//
// An SDR SDRAM at its pins, as its data sheet has it, and random traffic through the controller in front.
#include "sim/rtl/board/board.h"

#include <cstdio>
#include <cstring>
#include <deque>
#include <vector>

#include "Vweft_board_bench.h"
#include "sim/rtl/bench.h"
#include "sim/rtl/counted.h"
#include "verilated.h"

static_assert(WEFT_BOARD_MSG >= kBenchMsg, "room for a message");

namespace {

constexpr uint32_t kBytes = 32u << 20;

// Takes commands at the rising edge of its clock, the falling one of ours.
struct Sdram {
	std::vector<uint16_t> mem = std::vector<uint16_t>(kBytes / 2, 0xdead);
	bool open[4] = {};
	uint32_t row[4] = {};
	int64_t opened[4] = {}, closed[4] = {}, written = -100, refreshed = -100, now = 0;
	bool ready = false;           // the mode register was set
	unsigned n_init = 0;
	bool pending = false;         // CAS latency 2: data of the read one edge ago
	uint16_t data = 0;
	Failure &fail;

	explicit Sdram(Failure &f) : fail(f) {}

	bool all_closed() const { return !open[0] && !open[1] && !open[2] && !open[3]; }

	void need(bool condition, const char *what)
	{
		if (!condition)
			fail("sdram: %s at cycle %lld", what, static_cast<long long>(now));
	}

	void edge(Vweft_board_bench &t, Random &r)
	{
		now++;
		t.sdram_d_i = pending ? data : static_cast<uint16_t>(r.below(65536));
		pending = false;
		const unsigned b = t.sdram_ba_o, a = t.sdram_a_o;
		switch (t.sdram_cmd_no) {
		case 0x7: break;
		case 0x3:
			need(ready && !open[b], "row opened in a bank that is open");
			need(now - closed[b] >= 1 && now - refreshed >= 4, "row opened too soon");
			open[b] = true;
			row[b] = a;
			opened[b] = now;
			break;
		case 0x5:
		case 0x4: {
			need(open[b] && now - opened[b] >= 1, "column of a row that is not open");
			need(!(a & 0x400), "auto precharge");
			uint16_t &w = mem[(row[b] << 2 | b) << 9 | (a & 0x1ff)];
			if (t.sdram_cmd_no == 0x5) {
				need(!t.sdram_oe_o, "two on the data bus");
				pending = true;
				data = w;
			} else {
				need(t.sdram_oe_o, "nobody on the data bus");
				const uint16_t mask = static_cast<uint16_t>((t.sdram_dqm_o & 1 ? 0 : 0xff) | (t.sdram_dqm_o & 2 ? 0 : 0xff00));
				w = static_cast<uint16_t>((w & ~mask) | (t.sdram_d_o & mask));
				written = now;
			}
			break;
		}
		case 0x2:
			need(now - written >= 2, "row closed before its data was written");
			for (unsigned i = 0; i < 4; i++) {
				if (!(a & 0x400) && i != b)
					continue;
				need(!open[i] || now - opened[i] >= 2, "row closed too soon");
				open[i] = false;
				closed[i] = now;
			}
			n_init++;
			break;
		case 0x1:
			need(all_closed() && now - refreshed >= 4, "refresh with a row open, or too soon");
			need(!ready || now - refreshed <= 280, "refresh too late");
			refreshed = now;
			n_init++;
			break;
		case 0x0:
			need(n_init >= 3 && a == 0x20 && b == 0, "wrong initialisation");
			ready = true;
			break;
		default: need(false, "unknown command");
		}
	}
};

struct Burst {
	uint64_t addr;
	uint32_t beats;

	bool outside() const { return addr >= kBytes; }
};

struct SdramBench {
	VerilatedContext ctx;
	Vweft_board_bench t;
	Random r;
	Failure fail;
	Sdram sdram;
	std::vector<uint8_t> shadow = std::vector<uint8_t>(kBytes);
	std::deque<Burst> ar, aw, reading;
	std::deque<bool> writing;               // writes without an answer yet: does it lie outside?
	std::deque<std::pair<uint64_t, uint8_t>> w;
	unsigned stopped = 0;                   // cycles for which no data is taken
	unsigned outside = 0;                   // bursts behind the last byte
	unsigned rounds = 0;
	uint32_t near = 0;
	uint64_t cycles = 0, beats = 0;

	SdramBench(uint64_t seed, char *msg) : t(&ctx, "board"), r(seed), fail{ msg }, sdram(fail)
	{
		for (uint32_t i = 0; i < kBytes; i++)
			shadow[i] = static_cast<uint8_t>(i & 1 ? 0xde : 0xad);
		t.clk_i = 0;
		t.rst_ni = 0;
		t.eval();
		tick();
		t.rst_ni = 1;
	}

	~SdramBench()
	{
		t.final();
		keep_counts(ctx, t, "board");
	}

	void check_beat()
	{
		Burst &b = reading.front();
		uint64_t want;
		if (t.rresp_o != (b.outside() ? 2 : 0))
			fail("sdram: 0x%07llx is answered with %u", static_cast<unsigned long long>(b.addr), t.rresp_o);
		std::memcpy(&want, &shadow[b.addr % kBytes], 8);
		if (!b.outside() && t.rdata_o != want)
			fail("sdram: 0x%07llx expected %016llx, got %016llx", static_cast<unsigned long long>(b.addr),
			     static_cast<unsigned long long>(want), static_cast<unsigned long long>(t.rdata_o));
		b.addr += 8;
		beats++;
		if (t.rlast_o != (--b.beats == 0))
			fail("sdram: last at 0x%07llx is %d", static_cast<unsigned long long>(b.addr - 8), t.rlast_o);
		if (b.beats == 0)
			reading.pop_front();
	}

	void tick()
	{
		t.arvalid_i = !ar.empty();
		if (!ar.empty()) {
			t.araddr_i = ar.front().addr;
			t.arlen_i = static_cast<uint8_t>(ar.front().beats - 1);
		}
		t.awvalid_i = !aw.empty();
		if (!aw.empty()) {
			t.awaddr_i = aw.front().addr;
			t.awlen_i = static_cast<uint8_t>(aw.front().beats - 1);
		}
		t.wvalid_i = !w.empty() && r.below(4);
		if (!w.empty()) {
			t.wdata_i = w.front().first;
			t.wstrb_i = w.front().second;
		}
		if (stopped)
			stopped--;
		else if (!r.below(500))
			stopped = 50 + r.below(600);     // the read queue fills up
		t.rready_i = !stopped && r.below(4) != 0;
		t.bready_i = r.below(2);
		t.eval();
		const bool ar_taken = t.arvalid_i && t.arready_o, aw_taken = t.awvalid_i && t.awready_o;
		const bool w_taken = t.wvalid_i && t.wready_o, b_taken = t.bvalid_o && t.bready_i;
		if (t.rvalid_o && t.rready_i) {
			if (reading.empty())
				fail("sdram: data that nobody asked for");
			else
				check_beat();
		}
		if (ar_taken) {
			reading.push_back(ar.front());
			ar.pop_front();
		}
		if (aw_taken)
			aw.pop_front();
		if (w_taken)
			w.pop_front();
		if (b_taken && writing.empty()) {
			fail("sdram: an answer to no write");
		} else if (b_taken) {
			if (t.bresp_o != (writing.front() ? 2 : 0))
				fail("sdram: a write %s is answered with %u", writing.front() ? "behind the last byte" : "to memory", t.bresp_o);
			writing.pop_front();
		}
		t.clk_i = 1;
		t.eval();
		t.clk_i = 0;
		t.eval();
		sdram.edge(t, r);
		cycles++;
	}

	// Mostly 0; else what makes an address lie behind the last byte.
	uint64_t beyond()
	{
		const uint64_t more = r.below(8) ? 0 : 1ull << (25 + r.below(15));
		outside += more != 0;
		return more;
	}

	// Reads in one half of memory while the other is written; halves change. Half of the bursts are near one place, which stays the same
	// for eight rounds, so that what was written is read.
	void round(uint32_t half)
	{
		if (rounds++ % 8 == 0)
			near = r.below(kBytes / 2 - 0x2000) & ~7u;
		for (unsigned i = 0; i < 4; i++) {
			const Burst rd{ beyond() + half + (r.below(2) ? near + 8 * r.below(0x300) : r.below(kBytes / 16 - 32) * 8), 1 + r.below(16) };
			ar.push_back(rd);
			const uint32_t other = half ^ kBytes / 2;
			Burst wr{ beyond() + other + (r.below(2) ? near + 8 * r.below(0x300) : r.below(kBytes / 16 - 32) * 8), 1 + r.below(16) };
			aw.push_back(wr);
			writing.push_back(wr.outside());
			for (; wr.beats; wr.beats--, wr.addr += 8) {
				const uint64_t data = static_cast<uint64_t>(r.below(~0u)) << 32 | r.below(~0u);
				const auto strb = static_cast<uint8_t>(r.below(3) ? 0xff : r.below(256));
				w.emplace_back(data, strb);
				for (unsigned k = 0; k < 8; k++)
					if (strb >> k & 1 && !wr.outside())
						shadow[wr.addr + k] = static_cast<uint8_t>(data >> 8 * k);
				beats++;
			}
		}
		const uint64_t begin = cycles;
		while ((!ar.empty() || !reading.empty() || !writing.empty()) && !fail.failed) {
			tick();
			if (cycles - begin > 20000)
				fail("sdram: nothing moves");
		}
	}
};

int bench_sdram(uint64_t seed, unsigned n, uint64_t *cycles, uint64_t *beats, unsigned *outside, char *msg)
{
	SdramBench b(seed, msg);
	for (unsigned i = 0; i < n && !b.fail.failed; i++)
		b.round(i & 1 ? kBytes / 2 : 0);
	*cycles = b.cycles;
	*beats = b.beats;
	*outside = b.outside;
	return b.fail.failed ? -1 : 0;
}

} // namespace

extern "C" __attribute__((visibility("default"))) const struct weft_board_bench_api *weft_board_bench_api(void)
{
	static const struct weft_board_bench_api api = { bench_sdram };
	return &api;
}

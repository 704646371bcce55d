// SPDX-License-Identifier: Apache-2.0
//
// What the NPU's two AXI ports are connected to: a memory and a master of the NPU's registers. Both keep the rules of
// AXI. Each of their channels is slow at random.
#ifndef WEFT_SIM_RTL_SOC_BUS_H
#define WEFT_SIM_RTL_SOC_BUS_H

#include <cstring>
#include <deque>
#include <map>
#include <vector>

#include "include/weft/gen/regs.h"
#include "sim/rtl/bench.h"
#include "sim/rtl/memory.h"
#include "sim/rtl/soc/soc.h"

// The speed of a channel: always ready, ready in some cycles at random, or in addition with long pauses.
class Pace {
public:
	explicit Pace(Random &random) : random_(random), one_in_(1u << random.below(4)), pause_(random.below(3) ? 0 : 60) {}
	// To be called once in each cycle: may the channel move in this one?
	bool go()
	{
		if (left_) {
			left_--;
			return false;
		}
		if (pause_ && !random_.below(40))
			left_ = random_.below(pause_);
		return !random_.below(one_in_);
	}

private:
	Random &random_;
	const uint32_t one_in_, pause_;
	uint32_t left_ = 0;            // cycles of the pause that are still to come
};

// The memory. It serves bursts in order, a beat or an answer in a cycle in which the channel may move.
class SocMemory {
public:
	struct Range {
		uint64_t addr, len;
		uint8_t *data;
	};
	struct Burst {
		uint64_t first, addr;      // address of the burst, address of its next beat
		unsigned left;             // beats that are still to come
		bool bad;                  // the memory answers with an error
	};

	SocMemory(Random &random, Failure &fail) : random_(random), fail_(fail), ar_(random), r_(random), aw_(random), w_(random), b_(random)
	{
		std::memset(&out, 0, sizeof(out));
	}

	std::vector<Range> ranges;         // what lies at which addresses; no other address may be accessed
	Memory::ToChip out;                // outputs in this cycle
	weft_soc_event event = WEFT_SOC_NOTHING;   // event, at, response: as in weft_soc_job
	uint32_t at = 0;
	unsigned response = 2;
	bool came = false;                 // the memory has answered a burst with an error
	uint64_t came_addr = 0;            // address of that burst
	uint64_t n_reads = 0, n_writes = 0;    // bursts

	// Has every burst been answered?
	bool idle() const { return reads_.empty() && writes_.empty() && answers_.empty(); }
	void reset()
	{
		reads_.clear();
		writes_.clear();
		answers_.clear();
		std::memset(&out, 0, sizeof(out));
	}

	// Before the clock edge: sets the outputs of this cycle. What was offered and not taken stays.
	void show(const Memory::FromChip &c)
	{
		// In half of the cycles ready is high only if valid is.
		out.arready = ar_.go() && (c.arvalid || random_.below(2)) && reads_.size() < 24;
		out.awready = aw_.go() && (c.awvalid || random_.below(2)) && writes_.size() < 24;
		out.wready = w_.go() && (c.wvalid || random_.below(2));
		if (!out.rvalid && !reads_.empty() && r_.go())
			offer_read();
		if (!out.bvalid && !answers_.empty() && b_.go()) {
			out.bvalid = true;
			out.bresp = answers_.front();
		}
	}

	// At the clock edge: takes what both sides have agreed on in this cycle.
	void move(const Memory::FromChip &c)
	{
		if (out.rvalid && c.rready) {
			if (--reads_.front().left == 0)
				reads_.pop_front();
			else
				reads_.front().addr += 8;
			out.rvalid = false;
		}
		if (out.bvalid && c.bready) {
			answers_.pop_front();
			out.bvalid = false;
		}
		if (c.wvalid && out.wready)
			write(c);
		if (c.awvalid && out.awready) {
			writes_.push_back({ c.awaddr, c.awaddr, c.awlen + 1, event == WEFT_SOC_WRITE_ERROR && n_writes == at });
			n_writes++;
			if (writes_.back().bad)
				keep(c.awaddr);
		}
		if (c.arvalid && out.arready) {
			reads_.push_back({ c.araddr, c.araddr, c.arlen + 1, false });
			n_reads++;
		}
	}

private:
	Random &random_;
	Failure &fail_;
	Pace ar_, r_, aw_, w_, b_;
	std::deque<Burst> reads_, writes_;
	std::deque<unsigned> answers_;
	uint64_t n_beats_ = 0;

	// Remembers that the burst at addr is answered with an error.
	void keep(uint64_t addr)
	{
		came = true;
		came_addr = addr;
	}

	// The byte at addr, or null if no range has it.
	uint8_t *find(uint64_t addr)
	{
		for (const Range &r : ranges)
			if (addr >= r.addr && addr - r.addr < r.len)
				return r.data + (addr - r.addr);
		return nullptr;
	}

	// Offers the next beat of the oldest read. A window may end inside of a bus word: the bytes of that word behind
	// the end have any value. A word of which no byte is in a window must not be read.
	void offer_read()
	{
		Burst &b = reads_.front();
		bool any = false;
		for (unsigned i = 0; i < 8; i++) {
			const uint8_t *p = find(b.addr + i);
			out.rdata[i] = p ? *p : static_cast<uint8_t>(random_.below(256));
			any = any || p;
		}
		if (!any)
			fail_("address 0x%llx is read, which is in no window", static_cast<unsigned long long>(b.addr));
		if (event == WEFT_SOC_READ_ERROR && n_beats_ == at) {
			b.bad = true;
			keep(b.first);
		}
		n_beats_++;
		out.rvalid = true;
		out.rresp = b.bad ? response : 0;
		if (b.bad)                // the data of a beat with an error has any value
			std::memset(out.rdata, static_cast<int>(random_.below(256)), 8);
		out.rlast = b.left == 1;
	}

	// Writes a beat to the oldest write burst.
	void write(const Memory::FromChip &c)
	{
		if (writes_.empty()) {
			fail_("data is written without an address");
			return;
		}
		Burst &b = writes_.front();
		for (unsigned i = 0; i < 8; i++) {
			if (!(c.wstrb >> i & 1))
				continue;
			uint8_t *p = b.addr + i >= kWritable ? find(b.addr + i) : nullptr;
			if (!p)
				fail_("address 0x%llx is written, which is not in window 2", static_cast<unsigned long long>(b.addr + i));
			else if (!b.bad)
				*p = c.wdata[i];
		}
		b.addr += 8;
		if (--b.left == 0) {
			answers_.push_back(b.bad ? response : 0);
			writes_.pop_front();
		}
	}

public:
	static constexpr uint64_t kWritable = uint64_t(3) << 32;   // window 2 and no other lies from this address on
};

// A master of the registers. It writes and reads at the same time, and sends a write's address and data in any order.
class SocMaster {
public:
	struct Access {
		bool write;              // else a read
		uint32_t addr, data;     // data of a write; a read must return data in the bits that mask has
		uint32_t mask;           // of a read
		unsigned strb;           // of a write
		uint32_t *to;            // where the data of a read is stored, or null
	};
	struct Port {                // outputs in this cycle
		bool awvalid, wvalid, bready, arvalid, rready;
		uint32_t awaddr, wdata, araddr;
		unsigned wstrb;
	};
	struct Answers {
		bool awready, wready, bvalid, arready, rvalid;
		unsigned bresp, rresp;
		uint32_t rdata;
	};

	SocMaster(Random &random, Failure &fail) : random_(random), fail_(fail), aw_(random), w_(random), b_(random), ar_(random), r_(random)
	{
		std::memset(&out, 0, sizeof(out));
	}

	Port out;
	uint64_t n_accesses = 0, n_refused = 0;

	bool idle() const { return writes_.empty() && reads_.empty(); }
	// Does an access wait that has this address?
	bool uses(uint32_t addr) const
	{
		for (const auto *list : { &writes_, &reads_ })
			for (const Access &a : *list)
				if (a.addr == addr)
					return true;
		return false;
	}
	size_t n_waiting() const { return writes_.size() + reads_.size(); }
	// Begins an access behind those of the same kind that wait.
	void ask(const Access &a)
	{
		(a.write ? writes_ : reads_).push_back(a);
		n_accesses++;
	}
	void reset()
	{
		writes_.clear();
		reads_.clear();
		aw_done_ = w_done_ = ar_done_ = 0;
		held_ = {};
		std::memset(&out, 0, sizeof(out));
	}

	// Before the clock edge: sets the outputs of this cycle. What was offered and not taken stays.
	void show(const Answers &s)
	{
		if (!out.awvalid && aw_done_ < writes_.size() && aw_.go()) {
			out.awvalid = true;
			out.awaddr = writes_[aw_done_].addr | random_.below(4);
		}
		if (!out.wvalid && w_done_ < writes_.size() && w_.go()) {
			out.wvalid = true;
			out.wdata = writes_[w_done_].data;
			out.wstrb = writes_[w_done_].strb;
		}
		if (!out.arvalid && ar_done_ < reads_.size() && ar_.go()) {
			out.arvalid = true;
			out.araddr = reads_[ar_done_].addr | random_.below(4);
		}
		out.bready = b_.go() && (s.bvalid || random_.below(2));
		out.rready = r_.go() && (s.rvalid || random_.below(2));
	}

	// At the clock edge: takes what both sides have agreed on in this cycle.
	void move(const Answers &s)
	{
		if (out.awvalid && s.awready) {
			out.awvalid = false;
			aw_done_++;
		}
		if (out.wvalid && s.wready) {
			out.wvalid = false;
			w_done_++;
		}
		if (out.arvalid && s.arready) {
			out.arvalid = false;
			ar_done_++;
		}
		look(s);
		if (s.bvalid && out.bready)
			end_write(s);
		if (s.rvalid && out.rready)
			end_read(s);
	}

private:
	Random &random_;
	Failure &fail_;
	Pace aw_, w_, b_, ar_, r_;
	std::deque<Access> writes_, reads_;    // not yet answered, the oldest in front
	size_t aw_done_ = 0, w_done_ = 0, ar_done_ = 0;   // how many of these have been taken on each channel
	Answers held_ = {};                    // the answers that were offered in the cycle before and not taken

	// Checks that an answer stays as it is until it is taken.
	void look(const Answers &s)
	{
		if (held_.bvalid && (!s.bvalid || s.bresp != held_.bresp))
			fail_("an answer to a register's write changed, or was withdrawn, before it was taken");
		if (held_.rvalid && (!s.rvalid || s.rdata != held_.rdata || s.rresp != held_.rresp))
			fail_("an answer to a register's read changed, or was withdrawn, before it was taken");
		held_ = s;
		held_.bvalid = s.bvalid && !out.bready;
		held_.rvalid = s.rvalid && !out.rready;
	}

	// Takes the answer to the oldest write and checks it.
	void end_write(const Answers &s)
	{
		if (!aw_done_ || !w_done_) {
			fail_("a register's write is answered that was not asked for");
			return;
		}
		const unsigned want = writes_.front().strb == 0 || writes_.front().strb == 15 ? 0 : 2;
		if (s.bresp != want)
			fail_("register 0x%x: a write with strobes 0x%x is answered with %u, not with %u", writes_.front().addr,
			      writes_.front().strb, s.bresp, want);
		n_refused += want != 0;
		writes_.pop_front();
		aw_done_--;
		w_done_--;
	}

	// Takes the answer to the oldest read and checks it.
	void end_read(const Answers &s)
	{
		if (!ar_done_) {
			fail_("a register's read is answered that was not asked for");
			return;
		}
		const Access &a = reads_.front();
		if (s.rresp != 0 || (s.rdata & a.mask) != a.data)
			fail_("register 0x%x reads 0x%x (response %u), not 0x%x", a.addr, s.rdata & a.mask, s.rresp, a.data);
		if (a.to)
			*a.to = s.rdata;
		reads_.pop_front();
		ar_done_--;
	}
};

#endif

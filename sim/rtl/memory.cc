// SPDX-License-Identifier: Apache-2.0
#include "sim/rtl/memory.h"

#include <cerrno>

static constexpr unsigned kMaxRanges = 64;

Memory::Memory(weft_rtl_profile profile, unsigned bus_bytes, bool address_first)
	: bus_bytes_(bus_bytes),
	  latency_(profile == WEFT_RTL_SRAM ? 8 : 100),
	  rate_(profile == WEFT_RTL_SRAM ? bus_bytes : bus_bytes / 2),
	  max_bursts_(16),
	  shared_(profile == WEFT_RTL_DDR),
	  check_(bus_bytes, address_first),
	  hint_(0)
{
	reset();
}

void Memory::reset()
{
	reads_.clear();
	writes_.clear();
	answers_.clear();
	std::memset(&out_, 0, sizeof(out_));
	check_.reset();
	now_ = 0;
	read_budget_ = 0;
	write_turn_ = false;
	quiet_ = false;
}

int Memory::map(uint64_t addr, uint8_t *data, uint64_t len)
{
	for (size_t i = 0; i < ranges_.size(); i++) {
		if (ranges_[i].addr != addr)
			continue;
		ranges_.erase(ranges_.begin() + static_cast<long>(i));
		break;
	}
	hint_ = 0;
	if (len == 0)
		return 0;
	if (ranges_.size() >= kMaxRanges)
		return -ENOSPC;
	ranges_.push_back(Range{addr, len, data});
	return 0;
}

// Memory behind [addr, addr+len), or null where it is not wholly mapped.
uint8_t *Memory::find(uint64_t addr, unsigned len)
{
	for (size_t k = 0; k < ranges_.size(); k++) {
		size_t i = (hint_ + k) % ranges_.size();
		const Range &r = ranges_[i];
		if (addr >= r.addr && addr - r.addr <= r.len && r.len - (addr - r.addr) >= len) {
			hint_ = i;
			return r.data + (addr - r.addr);
		}
	}
	return nullptr;
}

void Memory::accept(const FromChip &c)
{
	if (c.arvalid && out_.arready)
		reads_.push_back(Burst{c.araddr & ~uint64_t(bus_bytes_ - 1), now_ + latency_, c.arlen + 1, c.fail});
	if (c.awvalid && out_.awready)
		writes_.push_back(Burst{c.awaddr & ~uint64_t(bus_bytes_ - 1), 0, c.awlen + 1, false});
	if (c.wvalid && out_.wready)
		take_write_beat(c);
	if (out_.bvalid && c.bready)
		answers_.pop_front();
	if (out_.rvalid && c.rready) {
		Burst &b = reads_.front();
		b.addr += bus_bytes_;
		if (--b.left == 0)
			reads_.pop_front();
		out_.rvalid = false;
	}
}

void Memory::take_write_beat(const FromChip &c)
{
	if (writes_.empty())   // data without an address: only a faulty chip does that
		return;
	Burst &b = writes_.front();
	for (unsigned i = 0; i < bus_bytes_; i++) {
		if (!(c.wstrb >> i & 1))
			continue;
		uint8_t *p = find(b.addr + i, 1);
		if (p)
			*p = c.wdata[i];
		else
			b.bad = true;
	}
	b.addr += bus_bytes_;
	if (--b.left == 0) {
		b.ready = now_ + latency_;
		answers_.push_back(b);
		writes_.pop_front();
	}
}

void Memory::offer_read()
{
	if (out_.rvalid || reads_.empty() || reads_.front().ready > now_)
		return;
	if (read_budget_ < static_cast<int>(bus_bytes_))
		return;
	read_budget_ -= static_cast<int>(bus_bytes_);
	const Burst &b = reads_.front();
	// Only the part of the word that is mapped can be asked for: a window may
	// end inside a bus word.
	bool any = false;
	if (const uint8_t *p = find(b.addr, bus_bytes_)) {
		std::memcpy(out_.rdata, p, bus_bytes_);
		any = true;
	} else {
		for (unsigned i = 0; i < bus_bytes_; i++) {
			const uint8_t *q = find(b.addr + i, 1);
			out_.rdata[i] = q ? *q : 0;
			any = any || q;
		}
	}
	out_.rvalid = true;
	out_.rresp = any && !b.bad ? 0 : 2;
	out_.rlast = b.left == 1;
}

void Memory::move(const FromChip &c)
{
	if (in_reset_)
		return;
	bool wrote = c.wvalid && out_.wready;
	check_.look(c, out_);
	accept(c);
	now_++;
	refill(wrote ? static_cast<int>(bus_bytes_) : 0);

	// A shared budget goes in turn to reads and to writes that wait, a beat each; what one does not use the
	// other gets.
	bool want_write = shared_ && !writes_.empty();
	if (!want_write)
		write_turn_ = false;
	if (read_budget_ >= static_cast<int>(bus_bytes_)) {
		if (!write_turn_)
			offer_read();
		write_turn_ = want_write && !write_turn_;
	}
	const int write_budget = shared_ ? read_budget_ : static_cast<int>(2 * bus_bytes_);
	out_.arready = reads_.size() < max_bursts_;
	out_.awready = writes_.size() < max_bursts_;
	// The write data channel is open for bursts whose address is in.
	unsigned beats = 0;
	for (const Burst &b : writes_)
		beats += b.left;
	out_.wready = beats > 0 && write_budget >= static_cast<int>(bus_bytes_);
	out_.bvalid = !answers_.empty() && answers_.front().ready <= now_;
	out_.bresp = out_.bvalid && answers_.front().bad ? 2 : 0;
	quiet_ = reads_.empty() && writes_.empty() && answers_.empty() && !out_.rvalid;
}

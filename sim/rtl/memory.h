/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory behind the NPU's AXI port: bandwidth, latency, and nothing else.
 *
 * Reads and writes are answered in order, each after `latency` cycles at the
 * earliest. A budget of bytes a cycle limits the beats; in the ddr profile both
 * directions draw on the same budget, reads and writes taking turns.
 */
#ifndef WEFT_RTL_MEMORY_H
#define WEFT_RTL_MEMORY_H

#include <cstdint>
#include <cstring>
#include <deque>
#include <vector>

#include "sim/rtl/axi_check.h"
#include "sim/rtl/rtl.h"

class Memory {
public:
	/* address_first: the master offers data only when its address was taken (axi_check.h). */
	Memory(weft_rtl_profile profile, unsigned bus_bytes, bool address_first);

	int map(uint64_t addr, uint8_t *data, uint64_t len);

	/* What the chip shows in this cycle, before the clock edge. */
	struct FromChip {
		bool arvalid, rready, awvalid, wvalid, wlast, bready;
		uint64_t araddr, awaddr;
		unsigned arlen, awlen;
		const uint8_t *wdata;
		uint64_t wstrb;
		bool fail = false;   // the read that is asked for gets an error
	};
	/* What the memory shows in the next cycle. */
	struct ToChip {
		bool arready, rvalid, rlast, awready, wready, bvalid;
		unsigned rresp, bresp;
		uint8_t rdata[64];
	};

	/* One clock edge: handshakes of this cycle, then the next cycle's outputs. False: they are what they were. */
	bool clock(const FromChip &c)
	{
		if (quiet_ && !c.arvalid && !c.awvalid && !c.wvalid) {
			now_++;
			refill(0);
			return false;
		}
		move(c);
		return true;
	}
	const ToChip &out() const { return out_; }
	/* The rule of AXI that the master broke first, or NULL. */
	const char *broken() const { return check_.broken(); }
	void reset();
	/* While the master's reset is low its outputs may be anything; the memory does not look. */
	void in_reset(bool low)
	{
		in_reset_ = low;
		reset();
	}

private:
	struct Burst { uint64_t addr, ready; unsigned left; bool bad; };
	struct Range { uint64_t addr, len; uint8_t *data; };

	uint8_t *find(uint64_t addr, unsigned len);
	void move(const FromChip &c);
	void refill(int used);
	void accept(const FromChip &c);
	void take_write_beat(const FromChip &c);
	void offer_read();

	const unsigned bus_bytes_, latency_, rate_, max_bursts_;
	const bool shared_;
	std::vector<Range> ranges_;
	std::deque<Burst> reads_, writes_, answers_;
	ToChip out_;
	AxiCheck check_;
	uint64_t now_;
	int read_budget_;
	bool write_turn_;
	bool in_reset_ = false;
	bool quiet_;           /* nothing is under way, and nothing is offered */
	size_t hint_;
};

/* Budgets of a new cycle: full speed each way, or one shared. */
inline void Memory::refill(int used)
{
	const int cap = static_cast<int>(2 * bus_bytes_);

	if (shared_)
		read_budget_ = read_budget_ - used + static_cast<int>(rate_);
	if (!shared_ || read_budget_ > cap)
		read_budget_ = cap;
}

/* The memory's outputs on a Verilated top's port m_. */
template <typename Top> inline void drive_memory_port(Top &top, const Memory::ToChip &m)
{
	top.m_arready_i = m.arready;
	top.m_rvalid_i = m.rvalid;
	if (m.rvalid) {
		std::memcpy(&top.m_rdata_i, m.rdata, sizeof(top.m_rdata_i));
		top.m_rresp_i = m.rresp;
		top.m_rlast_i = m.rlast;
	}
	top.m_awready_i = m.awready;
	top.m_wready_i = m.wready;
	top.m_bvalid_i = m.bvalid;
	top.m_bresp_i = m.bresp;
}

/* What that port shows. wdata points into top. */
template <typename Top> inline Memory::FromChip see_memory_port(const Top &top)
{
	Memory::FromChip c;
	c.arvalid = top.m_arvalid_o;
	c.araddr = top.m_araddr_o;
	c.arlen = top.m_arlen_o;
	c.rready = top.m_rready_o;
	c.awvalid = top.m_awvalid_o;
	c.awaddr = top.m_awaddr_o;
	c.awlen = top.m_awlen_o;
	c.wvalid = top.m_wvalid_o;
	c.wlast = top.m_wlast_o;
	c.wdata = reinterpret_cast<const uint8_t *>(&top.m_wdata_o);
	c.wstrb = top.m_wstrb_o;
	c.bready = top.m_bready_o;
	return c;
}

#endif

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

#include "sim/rtl/rtl.h"

class Memory {
public:
	Memory(weft_rtl_profile profile, unsigned bus_bytes);

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

	/* One clock edge: handshakes of this cycle, then the next cycle's outputs. */
	void clock(const FromChip &c);
	const ToChip &out() const { return out_; }
	void reset();

private:
	struct Burst { uint64_t addr, ready; unsigned left; bool bad; };
	struct Range { uint64_t addr, len; uint8_t *data; };

	uint8_t *find(uint64_t addr, unsigned len);
	void accept(const FromChip &c);
	void take_write_beat(const FromChip &c);
	void offer_read();

	const unsigned bus_bytes_, latency_, rate_, max_bursts_;
	const bool shared_;
	std::vector<Range> ranges_;
	std::deque<Burst> reads_, writes_, answers_;
	ToChip out_;
	uint64_t now_;
	int read_budget_, write_budget_;
	bool write_turn_;
	size_t hint_;
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of AXI4 that a master has to keep, checked at the simulated memory's port in
 * every cycle:
 *
 *   - what is offered (valid high) stays offered, and unchanged, until it is taken;
 *   - no burst crosses a boundary of 4 KiB;
 *   - WLAST is high with the last beat of a burst, and only then;
 *   - no data is offered without an address that it belongs to.
 *
 * The port of the NPU is stricter than AXI in the last rule: the address must have been
 * taken. On the port of the chip it is enough that the address is offered.
 *
 * The first broken rule is kept; the harness ends the run and reports it.
 */
#ifndef WEFT_RTL_AXI_CHECK_H
#define WEFT_RTL_AXI_CHECK_H

#include <cstdint>
#include <cstring>
#include <deque>

class AxiCheck {
public:
	AxiCheck(unsigned bus_bytes, bool address_first) : bus_bytes_(bus_bytes), address_first_(address_first) {}

	/* One cycle, before the clock edge. FromChip and ToChip are those of Memory. */
	template <class FromChip, class ToChip> void look(const FromChip &c, const ToChip &m)
	{
		ar_.look(*this, c.arvalid, m.arready, c.araddr, c.arlen);
		aw_.look(*this, c.awvalid, m.awready, c.awaddr, c.awlen);
		if (c.wvalid || w_held_)
			look_data(c.wvalid, m.wready, c.wlast, c.wstrb, c.wdata, c.awvalid);
		if (c.awvalid && m.awready)
			beats_.push_back(c.awlen + 1);
	}

	/* The rule that was broken first, or NULL. */
	const char *broken() const { return broken_; }

	void reset()
	{
		ar_.held = aw_.held = w_held_ = false;
		beats_.clear();
	}

private:
	struct Address {
		const char *moved, *crosses;   /* what to say */
		bool held = false;             /* offered in the cycle before, and not taken */
		uint64_t addr = 0;
		unsigned len = 0;

		void look(AxiCheck &check, bool valid, bool ready, uint64_t a, unsigned l)
		{
			if (held && (!valid || a != addr || l != len))
				check.say(moved);
			if (valid && !held && (a & 4095) / check.bus_bytes_ * check.bus_bytes_ + (l + 1) * check.bus_bytes_ > 4096)
				check.say(crosses);
			held = valid && !ready;
			addr = a;
			len = l;
		}
	};

	void say(const char *rule)
	{
		if (!broken_)
			broken_ = rule;
	}

	void look_data(bool valid, bool ready, bool last, uint64_t strb, const uint8_t *data, bool aw_offered)
	{
		if (w_held_ && (!valid || last != last_ || strb != strb_ || std::memcmp(data, data_, bus_bytes_) != 0))
			say("write data changed, or was withdrawn, before it was taken");
		if (valid && beats_.empty() && (address_first_ || !aw_offered))
			say("write data came before its address");
		if (valid && !beats_.empty() && last != (beats_.front() == 1))
			say("WLAST is not with the last beat of the burst");
		if (valid && ready && !beats_.empty() && --beats_.front() == 0)
			beats_.pop_front();
		w_held_ = valid && !ready;
		if (w_held_) {
			last_ = last;
			strb_ = strb;
			std::memcpy(data_, data, bus_bytes_);
		}
	}

	const unsigned bus_bytes_;
	const bool address_first_;
	Address ar_{ "a read address changed, or was withdrawn, before it was taken", "a read burst crosses 4 KiB" };
	Address aw_{ "a write address changed, or was withdrawn, before it was taken", "a write burst crosses 4 KiB" };
	std::deque<unsigned> beats_;       /* still to come of each burst whose address was taken */
	bool w_held_ = false, last_ = false;
	uint64_t strb_ = 0;
	uint8_t data_[64];
	const char *broken_ = nullptr;
};

#endif

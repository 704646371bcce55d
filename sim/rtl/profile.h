// SPDX-License-Identifier: Apache-2.0
//
// What every unit does in the cycle that is about to end, from signals that
// profile.vlt keeps. One state per unit and cycle, so that a unit's states sum up
// to the cycles of the run.
#ifndef WEFT_RTL_PROFILE_H
#define WEFT_RTL_PROFILE_H

#include "sim/rtl/memory.h"
#include "sim/rtl/rtl.h"

class Profile {
public:
	void watch(weft_sampler *fn, void *user)
	{
		fn_ = fn;
		user_ = user;
		cycle_ = 0;
		reads_ = writes_ = 0;
	}

	bool on() const { return fn_ != nullptr; }

	template <typename Root> void sample(const Root &r, const Memory::ToChip &m, const Memory::FromChip &c, uint32_t retired)
	{
		channels(m, c);
		if (!r.weft_npu__DOT__running)
			return;
		weft_sample w;
		w.cycle = cycle_++;
		w.issued = r.weft_npu__DOT__u_valid & r.weft_npu__DOT__u_ready & 15;
		w.retired = static_cast<uint8_t>(retired);
		w.rd_bytes = static_cast<uint16_t>(r.weft_npu__DOT__rd_bytes);
		w.wr_bytes = static_cast<uint16_t>(r.weft_npu__DOT__wr_bytes);
		w.state[WEFT_TRACK_CP] = command_processor(r);
		w.state[WEFT_TRACK_LD] = unit(r, 0, load(r));
		w.state[WEFT_TRACK_ST] = unit(r, 1, store(r));
		w.state[WEFT_TRACK_CV] = unit(r, 2, conv(r));
		w.state[WEFT_TRACK_VE] = unit(r, 3, vec(r));
		w.state[WEFT_TRACK_POST] = post(r);
		w.state[WEFT_TRACK_RD] = rd_;
		w.state[WEFT_TRACK_WR] = wr_;
		fn_(user_, &w);
	}

private:
	weft_sampler *fn_ = nullptr;
	void *user_ = nullptr;
	uint64_t cycle_ = 0;
	unsigned reads_ = 0, writes_ = 0;   // bursts that the memory owes data, or an answer
	uint8_t rd_ = WEFT_DOES_IDLE, wr_ = WEFT_DOES_IDLE;

	// The bus seen from the memory: a beat, nobody takes it, or there is none yet.
	void channels(const Memory::ToChip &m, const Memory::FromChip &c)
	{
		rd_ = m.rvalid ? (c.rready ? WEFT_DOES_BUSY : WEFT_DOES_WAIT_SP)
		      : reads_ || c.arvalid ? WEFT_DOES_WAIT_MEMORY : WEFT_DOES_IDLE;
		wr_ = c.wvalid && m.wready ? WEFT_DOES_BUSY
		      : c.wvalid || c.awvalid ? WEFT_DOES_WAIT_MEMORY
		      : writes_ ? WEFT_DOES_WAIT_ANSWER : WEFT_DOES_IDLE;
		reads_ += c.arvalid && m.arready;
		reads_ -= m.rvalid && c.rready && m.rlast;
		writes_ += c.awvalid && m.awready;
		writes_ -= m.bvalid && c.bready;
	}

	template <typename Root> static uint8_t command_processor(const Root &r)
	{
		if (r.weft_npu__DOT__u_cmd__DOT__ended_q)
			return WEFT_DOES_IDLE;
		if (r.weft_npu__DOT__u_cmd__DOT__take || r.weft_npu__DOT__u_cmd__DOT__leave)
			return WEFT_DOES_BUSY;
		if (r.weft_npu__DOT__u_cmd__DOT__blocked)
			return WEFT_DOES_WAIT_QUEUE;
		return r.weft_npu__DOT__u_cmd__DOT__bad ? WEFT_DOES_WAIT_COMMAND : WEFT_DOES_WAIT_MEMORY;
	}

	// A unit without a command waits for what its next one waits for, or has none.
	template <typename Root> static uint8_t unit(const Root &r, unsigned u, uint8_t under_way)
	{
		if (r.weft_npu__DOT__active >> u & 1)
			return under_way;
		if (r.weft_npu__DOT__u_cmd__DOT__waiting >> u & 1)
			return WEFT_DOES_WAIT_COMMAND;
		return WEFT_DOES_IDLE;
	}

	template <typename Root> static uint8_t load(const Root &r)
	{
		return !r.weft_npu__DOT__u_load__DOT__ldw_req ? WEFT_DOES_WAIT_MEMORY
		       : r.weft_npu__DOT__ldw_gnt ? WEFT_DOES_BUSY : WEFT_DOES_WAIT_SP;
	}

	template <typename Root> static uint8_t store(const Root &r)
	{
		return !r.weft_npu__DOT__u_store__DOT__str_req ? WEFT_DOES_WAIT_MEMORY
		       : r.weft_npu__DOT__str_gnt ? WEFT_DOES_BUSY : WEFT_DOES_WAIT_SP;
	}

	// As the counters count: the array can wait for two things at once.
	template <typename Root> static uint8_t conv(const Root &r)
	{
		if (r.weft_npu__DOT__u_conv__DOT__word_ready)
			return WEFT_DOES_BUSY;
		if (r.weft_npu__DOT__stall_post)
			return WEFT_DOES_WAIT_POST;
		if (r.weft_npu__DOT__stall_act)
			return WEFT_DOES_WAIT_ACT;
		return r.weft_npu__DOT__stall_wgt ? WEFT_DOES_WAIT_WGT : WEFT_DOES_FILL;
	}

	template <typename Root> static uint8_t vec(const Root &r)
	{
		if (r.weft_npu__DOT__c1_valid && !r.weft_npu__DOT__c1_ready)
			return WEFT_DOES_WAIT_POST;
		if ((r.weft_npu__DOT__vec_req && !r.weft_npu__DOT__vec_gnt) ||
		    (r.weft_npu__DOT__alu_req && !r.weft_npu__DOT__alu_gnt))
			return WEFT_DOES_WAIT_SP;
		return WEFT_DOES_BUSY;
	}

	template <typename Root> static uint8_t post(const Root &r)
	{
		if (r.weft_npu__DOT__pst_req || r.weft_npu__DOT__raw_req)
			return r.weft_npu__DOT__out_gnt ? WEFT_DOES_BUSY : WEFT_DOES_WAIT_SP;
		return r.weft_npu__DOT__c0_idle && r.weft_npu__DOT__c1_idle ? WEFT_DOES_IDLE : WEFT_DOES_BUSY;
	}
};

#endif

// SPDX-License-Identifier: Apache-2.0
//
// Bits that change in the memories of the NPU while it runs, as weft_soc_job.flips says: in most cycles those of
// one byte, chosen at random. No byte is chosen twice in a run.
#ifndef WEFT_SIM_RTL_SOC_FLIPS_H
#define WEFT_SIM_RTL_SOC_FLIPS_H

#include <set>

#include "sim/rtl/bench.h"

class Flips {
public:
	// kind: weft_soc_job.flips.
	Flips(Random &random, unsigned kind) : random_(random), kind_(kind) {}

	// From now on no bit changes.
	void stop() { kind_ = 0; }

	// Before the clock edge: sets the inputs flip_* of the bench for this cycle.
	template <class Top> void show(Top &t)
	{
		t.flip_i = 0;
		if (!kind_ || !t.rst_ni)
			return;
		const bool queue = kind_ == 3 || (kind_ == 1 && !random_.below(4));
		const unsigned bank = random_.below(kBanks), row = random_.below(queue ? kQueueRows : kRows), byte = random_.below(8);
		const unsigned first = random_.below(kCodeBits), other = (first + 1 + random_.below(kCodeBits - 1)) % kCodeBits;

		if (!changed_.insert(place(queue, bank, row, byte)).second)
			return;
		t.flip_i = 1;
		t.flip_queue_i = queue;
		t.flip_bank_i = bank;
		t.flip_row_i = row;
		t.flip_byte_i = byte;
		t.flip_mask_i = 1u << first | (kind_ > 1 ? 1u << other : 0);
	}

	// Is addr the address of a word of the scratchpad of which a byte was changed?
	bool made_at(uint32_t addr) const
	{
		const uint32_t word = addr / 8, in_region = word % (2 * kRows);

		for (unsigned byte = 0; byte < 8; byte++)
			if (changed_.count(place(false, 2 * (word / (2 * kRows)) + word % 2, in_region / 2, byte)))
				return addr % 8 == 0;
		return false;
	}

private:
	// Of the scratchpad and of the queues of commands at w8b; a byte has 8 bits of data and 5 check bits.
	static constexpr unsigned kBanks = 16, kRows = 1024, kQueueRows = 32, kCodeBits = 13;

	Random &random_;
	unsigned kind_;
	std::set<uint32_t> changed_;       // the places of the bytes that were changed

	// A number for each byte of the scratchpad and of the queues.
	static uint32_t place(bool queue, unsigned bank, unsigned row, unsigned byte)
	{
		return (queue * kBanks + bank) * kRows * 8 + row * 8 + byte;
	}
};

#endif

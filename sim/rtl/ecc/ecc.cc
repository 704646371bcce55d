// SPDX-License-Identifier: Apache-2.0
//
// The NPU with AXI ports and check bits, while bits of its memories change.
#include <set>

#include "Vweft_ecc_bench.h"
#include "sim/rtl/soc/run.h"

namespace {

constexpr unsigned kBanks = 16, kRows = 1024, kQueueRows = 32, kCodeBits = 13;

// What job.flips says, in a random byte in most cycles.
class Flips {
public:
	Flips(Random &random, unsigned kind) : random_(random), kind_(kind) {}
	void stop() { kind_ = 0; }

	void show(Vweft_ecc_bench &t)
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

	// Was a byte of the scratchpad's word there changed?
	bool made_at(uint32_t addr) const
	{
		const uint32_t word = addr / 8, in_region = word % (2 * kRows);

		for (unsigned byte = 0; byte < 8; byte++)
			if (changed_.count(place(false, 2 * (word / (2 * kRows)) + word % 2, in_region / 2, byte)))
				return addr % 8 == 0;
		return false;
	}

private:
	Random &random_;
	unsigned kind_;
	std::set<uint32_t> changed_;

	static uint32_t place(bool queue, unsigned bank, unsigned row, unsigned byte)
	{
		return (queue * kBanks + bank) * kRows * 8 + row * 8 + byte;
	}
};

int bench_run(const weft_soc_job *job, weft_soc_counts *counts, char *msg)
{
	return Soc<Vweft_ecc_bench, Flips>(*job, *counts, msg).run();
}

int bench_bring_up(uint64_t seed, char *msg)
{
	weft_soc_counts counts = {};
	weft_soc_job job = {};

	job.seed = seed;
	return Soc<Vweft_ecc_bench, Flips>(job, counts, msg).bring_up();
}

} // namespace

extern "C" __attribute__((visibility("default"))) const struct weft_soc_bench_api *weft_ecc_bench_api(void)
{
	static const struct weft_soc_bench_api api = { bench_run, bench_bring_up };
	return &api;
}

// SPDX-License-Identifier: Apache-2.0
//
// The NPU with AXI ports as it is.
#include "Vweft_soc_bench.h"
#include "sim/rtl/soc/run.h"

namespace {

int bench_run(const weft_soc_job *job, weft_soc_counts *counts, char *msg)
{
	return Soc<Vweft_soc_bench>(*job, *counts, msg).run();
}

int bench_bring_up(uint64_t seed, char *msg)
{
	weft_soc_counts counts = {};
	weft_soc_job job = {};

	job.seed = seed;
	return Soc<Vweft_soc_bench>(job, counts, msg).bring_up();
}

} // namespace

extern "C" __attribute__((visibility("default"))) const struct weft_soc_bench_api *weft_soc_bench_api(void)
{
	static const struct weft_soc_bench_api api = { bench_run, bench_bring_up };
	return &api;
}

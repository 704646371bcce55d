// SPDX-License-Identifier: Apache-2.0
//
// The bench of the NPU with AXI ports without check bits (Ecc = 0): weft-soc.so.
#include "Vweft_soc_bench.h"
#include "sim/rtl/soc/run.h"

extern "C" __attribute__((visibility("default"))) const struct weft_soc_bench_api *weft_soc_bench_api(void)
{
	return bench_of<Vweft_soc_bench>();
}

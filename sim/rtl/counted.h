/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which lines and signals of the RTL a process reached. Only simulators that Verilator built with
 * --coverage-line or --coverage-toggle know (make coverage-rtl); in the others nothing is left of this file.
 *
 * Verilator counts in an array, a point each. What counts here is whether a point was reached by any
 * device that the process had, so the file is written only when one was reached for the first time.
 * SYMS_H names the Verilated design's header of symbols, where the array is.
 */
#ifndef WEFT_RTL_COUNTED_H
#define WEFT_RTL_COUNTED_H

#if VM_COVERAGE
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "verilated.h"
#include "verilated_cov.h"
#include SYMS_H

/*
 * Call before a device goes: adds what it reached to what the process has reached in this design, and if that is
 * more than before, writes all of it in Verilator's format to DESIGN-PID.dat in the folder that the environment's
 * WEFT_SEEN_RTL names. Without that variable nothing is written. Any thread may call.
 */
template <class Top> void keep_counts(VerilatedContext &ctx, Top &top, const char *design)
{
	static std::mutex lock;
	static std::vector<bool> reached;
	const char *folder = getenv("WEFT_SEEN_RTL");
	auto &counts = top.rootp->vlSymsp->__Vcoverage;
	const size_t n = sizeof(counts) / sizeof(counts[0]);
	bool news = false;

	if (!folder)
		return;
	std::lock_guard<std::mutex> guard(lock);
	reached.resize(n);
	for (size_t i = 0; i < n; i++) {
		if (counts[i] && !reached[i])
			reached[i] = news = true;
		counts[i] = reached[i];
	}
	if (news)
		ctx.coveragep()->write((std::string(folder) + "/" + design + "-" + std::to_string(getpid()) + ".dat").c_str());
}
#else
#define keep_counts(ctx, top, design) ((void)0)
#endif

#endif

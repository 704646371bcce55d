// SPDX-License-Identifier: Apache-2.0
//
// What benches of single blocks share: seeded random numbers, and a failure's message.
#ifndef WEFT_SIM_RTL_BENCH_H
#define WEFT_SIM_RTL_BENCH_H

#include <cstdarg>
#include <cstdint>
#include <cstdio>

constexpr int kBenchMsg = 256;    // bytes of a message, the most that a bench's header promises

struct Random {
	uint64_t s;
	explicit Random(uint64_t seed) : s(seed * 0x9e3779b97f4a7c15u + 1) {}
	// A number in 0..n-1.
	uint32_t below(uint32_t n)
	{
		s ^= s << 13;
		s ^= s >> 7;
		s ^= s << 17;
		return static_cast<uint32_t>((s >> 32) * n >> 32);
	}
};

// The first failure is kept, as a line in msg of kBenchMsg bytes.
struct Failure {
	char *msg;
	bool failed = false;
	void operator()(const char *format, ...) __attribute__((format(printf, 2, 3)))
	{
		if (failed)
			return;
		failed = true;
		va_list args;
		va_start(args, format);
		std::vsnprintf(msg, kBenchMsg, format, args);
		va_end(args);
	}
};

#endif

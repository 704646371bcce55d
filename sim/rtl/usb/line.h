// SPDX-License-Identifier: Apache-2.0
//
// The two lines of a full-speed bus, with the device's pins and its two clocks on one end.
// The other end sends bits and looks at what the device drives.
#ifndef WEFT_SIM_RTL_USB_LINE_H
#define WEFT_SIM_RTL_USB_LINE_H

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "Vweft_usb_bench.h"
#include "sim/rtl/bench.h"
#include "sim/rtl/counted.h"
#include "sim/rtl/power_up.h"
#include "verilated.h"

namespace usb {

using Bytes = std::vector<uint8_t>;
using Time = int64_t;                     // femtoseconds

constexpr Time kBit = 83'333'333;         // the host's, 12 Mbit/s
constexpr Time kSample = kBit / 4;

enum Level : uint8_t { kSe0, kJ, kK, kSe1 };

// A packet on the lines as the device drove it.
struct Driven {
	Bytes bytes;
	const char *wrong = nullptr;      // what breaks a rule of chapter 7, or NULL
	Time began = 0, ended = 0;        // SYNC's first change; SE0 to J
};

struct Line {
	VerilatedContext ctx;
	Vweft_usb_bench t;
	Random noise;
	Time now = 0, next_usb = 0, next_chip = 0, usb_half, chip_half;
	Time jitter = 0;                          // how far an edge may be away from its place
	std::vector<Level> bits;                  // what the host sends, a bit each
	Time bits_at = 0;
	Level rest = kJ;                          // when it sends nothing
	std::vector<uint8_t> driven;              // what the device drove in each of its cycles: D+, D- << 1
	Time driven_at = 0;
	bool drives = false, done = false;        // the device does; it has stopped and nobody has looked yet

	std::deque<uint16_t> to_host;             // bytes at the chip's side; bit 8: last of a frame
	std::deque<uint8_t> from_host;
	size_t from_host_max = SIZE_MAX;          // no more than that are taken
	uint32_t lazy = 0;                        // of 256 cycles: those in which the chip's side does nothing
	uint64_t link_resets = 0, chip_resets = 0, n_taken = 0, usb_cycles = 0;
	Time taken_at = 0;                        // the last byte for the host was taken then
	std::function<void(bool chip)> on_reset;

	// ppm: by how much the device's clock is too fast.
	Line(uint64_t seed, int ppm, Time chip_period) : t(&setup(ctx), "usb"), noise(seed)
	{
		usb_half = (kSample / 2) * 1'000'000 / (1'000'000 + ppm);
		chip_half = chip_period / 2;
		t.clk_usb_i = t.clk_i = 0;
		t.rst_ni = 0;
		t.dp_i = 1;
		t.dn_i = 0;
		t.in_ready_i = t.out_valid_i = 0;
		t.link_error_i = t.link_full_i = t.core_sleep_i = 0;
		for (unsigned i = 0; i < 4; i++)
			t.serial_i[i] = 0;
		t.eval();
		run(20 * kBit);
		t.rst_ni = 1;
		run(20 * kBit);
		reset_is_over(ctx);
		// What came out of the state at power-up means nothing.
		driven.clear();
		from_host.clear();
		drives = done = false;
		link_resets = chip_resets = n_taken = 0;
	}

	~Line()
	{
		t.final();
		keep_counts(ctx, t, "usb");
	}

	void serial(const char *text)
	{
		for (unsigned i = 0; i < 16; i++) {
			const unsigned c = *text ? static_cast<uint8_t>(*text++) : 0;
			t.serial_i[i / 4] = (t.serial_i[i / 4] & ~(0xffu << 8 * (i % 4))) | c << 8 * (i % 4);
		}
	}

	void run(Time duration)
	{
		for (const Time end = now + duration; now < end;)
			step();
	}

	// The host drives these from now on; returns when they have gone out.
	void send(const std::vector<Level> &levels)
	{
		bits = levels;
		bits_at = now;
		run(static_cast<Time>(bits.size()) * kBit);
		bits.clear();
	}

	// Waits for the device to begin within so many bits, and until it is done. False: it does not.
	bool receive(unsigned wait_bits, Driven *p)
	{
		for (const Time end = now + wait_bits * kBit; now < end && !drives && !done;)
			step();
		if (!drives && !done)
			return false;
		for (unsigned n = 0; !done && n < 200000; n++)
			step();
		*p = done ? decode() : Driven{ {}, "it never stops", driven_at, now };
		done = false;
		return true;
	}

private:
	static VerilatedContext &setup(VerilatedContext &ctx)
	{
		power_up_at_random(ctx);
		return ctx;
	}

	Level host_level(Time at) const
	{
		const Time i = (at - bits_at) / kBit;
		return at < bits_at || bits.empty() || i >= static_cast<Time>(bits.size()) ? rest : bits[static_cast<size_t>(i)];
	}

	// Each line by itself sees a time that is a little off.
	Time shaken() { return jitter ? now + (static_cast<Time>(noise.below(2001)) - 1000) * (jitter / 1000) : now; }

	void step()
	{
		const bool usb = next_usb <= next_chip;
		now = usb ? next_usb : next_chip;
		if (usb) {
			next_usb += 2 * usb_half;
			usb_edge();
		} else {
			next_chip += 2 * chip_half;
			chip_edge();
		}
	}

	void usb_edge()
	{
		if (t.oe_o) {
			if (!drives)
				driven_at = now;
			drives = true;
			driven.push_back(static_cast<uint8_t>(t.dp_o | t.dn_o << 1));
			t.dp_i = t.dp_o;
			t.dn_i = t.dn_o;
		} else {
			done = done || drives;
			drives = false;
			const Level p = host_level(shaken()), n = host_level(shaken());
			t.dp_i = p == kJ || p == kSe1;
			t.dn_i = n == kK || n == kSe1;
		}
		t.clk_usb_i = 1;
		t.eval();
		t.clk_usb_i = 0;
		t.eval();
		usb_cycles++;
	}

	void chip_edge()
	{
		const bool awake = !lazy || noise.below(256) >= lazy;
		if (!t.out_valid_i)
			t.out_valid_i = awake && !to_host.empty();
		if (t.out_valid_i && to_host.empty())
			t.out_valid_i = 0;                // a reset took it
		if (t.out_valid_i) {
			t.out_data_i = static_cast<uint8_t>(to_host.front());
			t.out_last_i = to_host.front() >> 8 & 1;
		}
		t.in_ready_i = awake && from_host.size() < from_host_max;
		// Neither side's ready or valid depends on the other's: what is seen is from the edge before.
		if (t.in_valid_o && t.in_ready_i)
			from_host.push_back(t.in_data_o);
		const bool taken = t.out_valid_i && t.out_ready_o;
		const bool link = t.link_reset_o, chip = t.chip_reset_o;
		t.clk_i = 1;
		t.eval();
		t.clk_i = 0;
		t.eval();
		if (taken) {
			to_host.pop_front();
			n_taken++;
			taken_at = now;
			t.out_valid_i = 0;
		}
		if (link || chip) {
			link_resets += link;
			chip_resets += chip;
			to_host.clear();
			from_host.clear();
			if (on_reset)
				on_reset(chip);
		}
	}

	// Bits of what the device drove, each four cycles of its clock, to bytes.
	Driven decode()
	{
		Driven p;
		std::vector<uint8_t> line;
		p.began = driven_at;
		for (size_t i = 0; i < driven.size(); i += 4) {
			for (size_t k = i; k < i + 4 && !p.wrong; k++)
				if (k >= driven.size() || driven[k] != driven[i])
					p.wrong = "a bit that does not last four cycles";
			line.push_back(driven[i]);
		}
		driven.clear();
		const size_t n = line.size();
		p.ended = p.began + static_cast<Time>(n - 1) * 8 * usb_half;
		if (!p.wrong && (n < 19 || line[n - 1] != 1 || line[n - 2] != 0 || line[n - 3] != 0))
			p.wrong = "no end of two bits SE0 and one of J";
		uint8_t before = 1, value = 0;
		unsigned ones = 0, count = 0;
		for (size_t i = 0; i + 3 < n && !p.wrong; i++) {
			const bool one = line[i] == before;
			if (line[i] != 1 && line[i] != 2)
				p.wrong = "SE0 or SE1 in a packet";
			before = line[i];
			if (i < 8) {
				if (one != (i == 7))
					p.wrong = "a broken SYNC";
				ones = one;
				continue;
			}
			if (ones == 6) {
				if (one)
					p.wrong = "seven ones in a row";
				ones = 0;
				continue;
			}
			ones = one ? ones + 1 : 0;
			value = static_cast<uint8_t>(value >> 1 | one << 7);
			if (++count % 8 == 0)
				p.bytes.push_back(value);
		}
		if (!p.wrong && ones == 6)
			p.wrong = "six ones at the end and no zero behind them";
		if (!p.wrong && count % 8)
			p.wrong = "an end in the middle of a byte";
		return p;
	}
};

} // namespace usb

#endif

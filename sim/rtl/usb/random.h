// SPDX-License-Identifier: Apache-2.0
//
// Random transactions of a host that loses and breaks packets, beside the model of device.h.
#ifndef WEFT_SIM_RTL_USB_RANDOM_H
#define WEFT_SIM_RTL_USB_RANDOM_H

#include <cstring>

#include "sim/rtl/usb/device.h"
#include "sim/rtl/usb/usb.h"

namespace usb {

struct RandomRun {
	Host h;
	Device d;
	Failure fail;
	weft_usb_counts &n;

	RandomRun(uint64_t seed, int ppm, weft_usb_counts *counts, char *msg)
		: h(seed, ppm, 10'000'000 + static_cast<Time>(Random(seed + 7).below(90)) * 1'000'000), fail{ msg }, n(*counts)
	{
		std::memset(counts, 0, sizeof(*counts));
		h.line.serial(Device::kSerial);
		h.line.jitter = 8'000'000;
		h.line.on_reset = [](bool) {};
	}

	uint32_t below(uint32_t k) { return h.random.below(k); }

	static const char *name(uint8_t pid)
	{
		switch (pid) {
		case kAck: return "ACK";
		case kNak: return "NAK";
		case kStall: return "STALL";
		case kData0: return "DATA0";
		case kData1: return "DATA1";
		case kNothing: return "nothing";
		default: return "a broken packet";
		}
	}

	void expect(const char *what, uint8_t got, uint8_t want)
	{
		n.acks += got == kAck;
		n.naks += got == kNak;
		n.stalls += got == kStall;
		n.silent += got == kNothing;
		if (h.wrong)
			fail("usb: transaction %llu, %s: %s", (unsigned long long)n.transactions, what, h.wrong);
		else if (got != want)
			fail("usb: transaction %llu, %s: expected %s, got %s", (unsigned long long)n.transactions, what, name(want), name(got));
	}

	Bytes bytes(uint32_t length)
	{
		Bytes b(length);
		for (uint8_t &x : b)
			x = static_cast<uint8_t>(below(4) ? below(256) : 0xff);     // many bits to stuff
		return b;
	}

	uint32_t length()
	{
		const uint32_t edges[] = { 0, 1, 63, 64, 64 };
		return below(2) ? edges[below(5)] : below(65);
	}

	Break some_break(uint32_t one_in, bool data)
	{
		if (below(one_in))
			return kWhole;
		n.broken++;
		return static_cast<Break>(1 + below(data ? kBreaks - 1 : kBreaks - 2));
	}

	// Bytes that came to the chip are those that were acknowledged.
	void drain()
	{
		for (; !h.line.from_host.empty(); h.line.from_host.pop_front()) {
			if (d.up.empty() || d.up.front() != h.line.from_host.front()) {
				fail("usb: transaction %llu: the chip got a byte 0x%02x that was not sent", (unsigned long long)n.transactions,
				     h.line.from_host.front());
				return;
			}
			d.up.pop_front();
			n.out_bytes++;
		}
	}

	void out()
	{
		const bool elsewhere = !below(20);
		const unsigned address = elsewhere && below(2) ? (h.addr + 1 + below(126)) % 128 : h.addr;
		const unsigned endpoint = elsewhere && address == h.addr ? 2 + below(14) : 1;
		const bool right = below(7) != 0, toggle = d.toggle[0] == right;
		const Break at_token = some_break(20, false), at_data = some_break(12, true);
		const Pid pid = below(40) ? toggle ? kData1 : kData0 : below(2) ? kData2 : kMdata;
		const Bytes payload = bytes(length());
		drain();
		const bool taken = d.up.empty();
		h.token(kOut, address, endpoint, at_token);
		h.data(pid, payload, at_data);
		const uint8_t got = h.answer();
		const bool ours = d.configured && address == h.addr && endpoint == 1 && !at_token && !at_data && (pid == kData0 || pid == kData1);
		if (!ours)
			return expect("OUT that is broken or not for it", got, kNothing);
		if (d.halted[0])
			return expect("OUT, halted", got, kStall);
		if (!right) {
			n.repeated++;
			return expect("OUT, repeated", got, kAck);
		}
		if (got == kNak && !taken)
			return expect("OUT", got, kNak);
		expect("OUT", got, kAck);
		d.toggle[0] = !d.toggle[0];
		d.up.insert(d.up.end(), payload.begin(), payload.end());
		drain();
		if (d.up.size() > 2 * WEFT_USB_PACKET_FULL + 17)
			fail("usb: %zu bytes are said to be in the device", d.up.size());
	}

	// The host's answer to data. True: the device must take it for an ACK.
	bool acknowledge()
	{
		switch (below(20)) {
		case 0: h.idle(60); return false;
		case 1: h.handshake(below(2) ? kNak : kNyet); return false;
		case 2:
			h.idle(22);       // the device has given up
			h.handshake(kAck);
			return false;
		case 3:
			n.broken++;
			h.handshake(kAck, below(2) ? kPid : kStuff);
			return false;
		case 4: h.idle(7); // at the end of what is allowed
			// fall through
		default: h.handshake(kAck); return true;
		}
	}

	void in()
	{
		const bool elsewhere = !below(20);
		const unsigned endpoint = elsewhere ? 2 + below(14) : 1;
		const Break at_token = some_break(20, false);
		Bytes payload;
		// Long enough ago for the bytes to be in the buffer.
		const bool ready = !d.packets.empty() && h.line.n_taken >= d.packets.front().end && h.line.now - h.line.taken_at > 3'000'000'000;
		h.token(kIn, h.addr, endpoint, at_token);
		const uint8_t got = h.answer(&payload);
		drain();
		if (elsewhere || at_token || !d.configured)
			return expect("IN that is broken or not for it", got, kNothing);
		if (d.halted[1])
			return expect("IN, halted", got, kStall);
		if (got == kNak && !ready)
			return expect("IN", got, kNak);
		expect("IN", got, d.packets.empty() ? kNak : d.toggle[1] ? kData1 : kData0);
		if (fail.failed || got == kNak)
			return;
		if (payload != d.packets.front().bytes)
			return fail("usb: transaction %llu: IN of %zu bytes, expected %zu, or with others in them", (unsigned long long)n.transactions,
			            payload.size(), d.packets.front().bytes.size());
		n.repeated += d.sent;
		d.sent = true;
		if (!acknowledge())
			return;
		n.in_bytes += payload.size();
		d.packets.pop_front();
		d.toggle[1] = !d.toggle[1];
		d.sent = false;
	}

	Bytes some_request()
	{
		const unsigned eps[] = { WEFT_USB_EP_OUT, WEFT_USB_EP_IN, 0, 0x80, 2 }, ep = eps[below(5)];
		const unsigned lengths[] = { 0, 8, 18, 64, 255, 0xffff }, some = lengths[below(6)];
		const unsigned values[] = { 0x100, 0x200, 0x300, 0x301, 0x302, 0x303, 0x304, 0x600, 0x700, 0xf00, 0x101, 0x2200 };
		switch (below(24)) {
		case 0: return request(0x80, 0, 0, 0, 2);
		case 1: return request(0x81, 0, 0, below(4) == 0, 2);
		case 2: case 3: return request(0x82, 0, 0, ep, 2);
		case 4: case 5: case 6: return request(2, 1, 0, ep, 0);
		case 7: return request(2, 3, below(4) == 0, ep, 0);
		case 8: return request(0, 5, below(130), 0, 0);
		case 9: return request(0x80, 8, 0, 0, 1 + below(2));
		case 10: return request(0, 9, below(8) ? 1 : below(4), 0, 0);
		case 11: return request(0x81, 10, 0, 0, 1);
		case 12: return request(1, 11, below(8) == 0, 0, 0);
		case 13: return request(0x40, WEFT_USB_REQ_LINK_RESET, 0, 0, 0);
		case 14: return below(3) ? request(0xc0, WEFT_USB_REQ_GET_STATUS, 0, 0, 8) : request(0x40, WEFT_USB_REQ_CHIP_RESET, 0, 0, 0);
		case 15: return request(0xc0, WEFT_USB_MS_VENDOR_CODE, 0, 7 + (below(5) == 0), some);
		case 16: return request(below(256), below(256), below(65536), below(65536), below(3) ? 0 : below(65536));
		default: return request(0x80, 6, values[below(12)], below(2) ? 0x409 : 0, some);
		}
	}

	// GET_STATUS of the vendor's: what of it is certain.
	void check_status(const Bytes &b)
	{
		const uint32_t flags = b[0] | b[1] << 8u | b[2] << 16u | static_cast<uint32_t>(b[3]) << 24;
		const uint32_t resets = b[4] | b[5] << 8u | b[6] << 16u | static_cast<uint32_t>(b[7]) << 24;
		const auto &t = h.line.t;
		const uint32_t want = (t.link_error_i ? WEFT_USB_STATUS_LINK_ERROR : 0u) | (t.link_full_i ? WEFT_USB_STATUS_RX_FULL : 0u) |
		                      (t.core_sleep_i ? WEFT_USB_STATUS_CORE_IDLE : 0u);
		if ((flags & ~static_cast<uint32_t>(WEFT_USB_STATUS_IN_PENDING)) != want)
			fail("usb: status 0x%x, expected 0x%x", flags, want);
		if (resets != d.resets)
			fail("usb: %u resets counted, expected %u", resets, d.resets);
		if (flags & WEFT_USB_STATUS_IN_PENDING ? d.packets.empty() : !d.packets.empty() && h.line.n_taken >= d.packets.front().end)
			fail("usb: status 0x%x with %zu packets waiting", flags, d.packets.size());
	}

	// A data stage to the host, some packets of it again. False: it was given up.
	bool data_stage(const Bytes &want, unsigned asked, bool is_status)
	{
		Bytes all, packet;
		for (bool toggle = true;;) {
			if (!below(30))
				return false;
			if (!below(8))
				bulk();
			const Break how = some_break(25, false);
			h.token(kIn, h.addr, 0, how);
			const uint8_t got = h.answer(&packet);
			if (how) {
				expect("broken IN of endpoint 0", got, kNothing);
				if (fail.failed)
					return false;
				continue;
			}
			expect("IN of endpoint 0", got, toggle ? kData1 : kData0);
			if (fail.failed)
				return false;
			if (!acknowledge()) {
				n.repeated++;
				continue;
			}
			toggle = !toggle;
			all.insert(all.end(), packet.begin(), packet.end());
			if (packet.size() < 64 || all.size() >= asked)
				break;
		}
		if (all.size() != std::min<size_t>(want.size(), asked))
			fail("usb: a request got %zu bytes, expected %zu", all.size(), std::min<size_t>(want.size(), asked));
		else if (is_status && all.size() == 8)
			check_status(all);
		else if (!is_status && !std::equal(all.begin(), all.end(), want.begin()))
			fail("usb: a request got other bytes than those of the model");
		return !fail.failed;
	}

	// The status stage of a request that was read. True: the device has seen it.
	bool status_out()
	{
		for (unsigned i = 0; i < 3; i++) {
			const Break at_token = some_break(25, false), at_data = some_break(25, true);
			h.token(kOut, h.addr, 0, at_token);
			h.data(kData1, {}, at_data);
			expect("status stage, OUT", h.answer(), at_token || at_data ? kNothing : kAck);
			if (fail.failed)
				return false;
		}
		return true;
	}

	bool status_in(bool slow, uint32_t patience = 2000)
	{
		Bytes packet;
		for (;;) {
			h.token(kIn, h.addr, 0);
			const uint8_t got = h.answer(&packet);
			if (got == kNak && slow && patience--)
				continue;
			expect("status stage, IN", got, kData1);
			if (fail.failed)
				return false;
			if (!packet.empty())
				fail("usb: bytes in a status stage");
			if (acknowledge())
				return true;
		}
	}

	void control(const Bytes &r, bool to_the_end = false)
	{
		const unsigned asked = r[6] | r[7] << 8u;
		Bytes want;
		n.controls++;
		for (Break how = kFlip; how;) {
			how = some_break(25, true);
			const uint8_t got = h.setup(r, how);
			expect("SETUP", got, how ? kNothing : kAck);
			if (fail.failed)
				return;
		}
		const bool ok = d.judge(r, &want), reset = ok && r[0] == 0x40;
		drain();
		if (!ok) {
			for (unsigned i = 1 + below(2); i--;)
				expect("request that is refused", below(2) ? h.in(0, &want) : h.out(0, true, {}), kStall);
			return;
		}
		d.act(h.line, r);
		n.link_resets += reset;
		if (!reset && !to_the_end && !below(10))
			bulk();
		if (r[0] & 0x80 && asked) {
			if (data_stage(want, asked, r[0] == 0xc0 && r[1] == WEFT_USB_REQ_GET_STATUS) || !fail.failed)
				if (below(8))
					status_out();
			return;
		}
		if (!reset && !to_the_end && !below(20))
			return;            // given up
		if (status_in(reset) && r[0] == 0 && r[1] == 5)
			h.addr = r[2];
		if (reset) {
			const uint64_t seen = h.line.link_resets + h.line.chip_resets;
			if (seen != d.resets + n.bus_resets)
				fail("usb: the chip saw %llu resets, expected %llu", (unsigned long long)seen, (unsigned long long)(d.resets + n.bus_resets));
		}
	}

	void bulk()
	{
		n.transactions++;
		if (below(2))
			out();
		else
			in();
	}

	void bus_reset()
	{
		h.line.lazy = 0;
		n.bus_resets++;
		h.bus_reset(10'000'000'000 + below(1000) * kBit);
		h.idle(20);
		h.line.from_host.clear();
		d.bus_reset(h.line);
		control(request(0, 5, 1 + below(127), 0, 0), true);
		if (!fail.failed && below(4))
			control(request(0, 9, 1, 0, 0), true);
	}

	// Bits that are no packet; SE0 stays too short for a reset.
	void babble()
	{
		std::vector<Level> bits(1 + below(30));
		for (Level &b : bits)
			b = static_cast<Level>(below(4));
		n.broken++;
		h.line.send(bits);
		h.idle(40);
		Driven p;
		if (h.line.receive(1, &p))
			fail("usb: an answer to no packet");
	}

	// How the chip's side behaves for a while.
	void mood()
	{
		const uint32_t lazy[] = { 0, 0, 128, 250 };
		h.line.lazy = lazy[below(4)];
		h.line.from_host_max = SIZE_MAX;
		h.dribble = !below(4);
		h.short_sync = !below(4);
		auto &t = h.line.t;
		t.link_error_i = below(2);
		t.link_full_i = below(2);
		t.core_sleep_i = below(2);
		h.idle(30);
	}

	void one()
	{
		n.transactions++;
		if (d.packets.size() < 6 && !below(3))
			d.feed(h.line, bytes(1 + (below(2) ? below(20) : 64 * below(4) + below(3) * 63)));
		if (!below(64))
			mood();
		// Nobody takes bytes at the chip's side, from time to time.
		h.line.from_host_max = below(20) ? SIZE_MAX : 0;
		const uint32_t kind = below(400);
		if (kind == 0)
			bus_reset();
		else if (kind < 6)
			babble();
		else if (kind < 20)
			h.token(kSof, below(128), below(16));
		else if (kind < 24)
			h.token(below(2) ? kPing : kSplit, h.addr, 1), expect("PID of another speed", h.answer(), kNothing);
		else if (kind < 60)
			control(some_request());
		else if (kind < 230)
			out();
		else
			in();
		drain();
	}
};

inline int random_run(uint64_t seed, unsigned n, int ppm, weft_usb_counts *counts, char *msg)
{
	RandomRun r(seed, ppm, counts, msg);
	r.bus_reset();
	while (counts->transactions < n && !r.fail.failed)
		r.one();
	counts->packets = r.h.n_packets;
	counts->cycles = r.h.line.usb_cycles;
	return r.fail.failed ? -1 : 0;
}

} // namespace usb

#endif

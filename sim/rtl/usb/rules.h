// SPDX-License-Identifier: Apache-2.0
//
// Rules of USB 2.0 one by one, each on a device that has just been plugged in: the table of
// docs/usb.md.
#ifndef WEFT_SIM_RTL_USB_RULES_H
#define WEFT_SIM_RTL_USB_RULES_H

#include "sim/rtl/usb/device.h"

namespace usb {

struct RuleRun {
	Host h;
	Failure fail;

	explicit RuleRun(char *msg) : h(1, 0, 40'000'000), fail{ msg }
	{
		h.line.serial(Device::kSerial);
		h.line.on_reset = [](bool) {};
		h.bus_reset(10'000'000'000);
		h.idle(50);
	}

	void need(bool holds, const char *what)
	{
		if (h.wrong)
			fail("usb: %s", h.wrong);
		if (!holds)
			fail("usb: %s", what);
	}

	// A request that is done, and its bytes.
	Bytes ask(unsigned kind, unsigned number, unsigned value, unsigned index, unsigned length)
	{
		Bytes b;
		const int got = h.control(request(kind, number, value, index, length), &b);
		need(got >= 0, "a request was not done");
		return b;
	}

	void refused(unsigned kind, unsigned number, unsigned value, unsigned index, unsigned length)
	{
		Bytes b;
		need(h.control(request(kind, number, value, index, length), &b) == -1, "a request was not answered with STALL");
	}

	void configure()
	{
		ask(0, 5, 9, 0, 0);
		h.addr = 9;
		ask(0, 9, 1, 0, 0);
	}

	void feed(unsigned n)
	{
		for (unsigned i = 0; i < n; i++)
			h.line.to_host.push_back(static_cast<uint16_t>(i | (i + 1 == n) << 8));
		h.idle(200);
	}

	// A bulk IN transaction: its PID and how many bytes.
	void in_gives(uint8_t pid, size_t n, bool ack = true)
	{
		Bytes b;
		const uint8_t got = h.in(1, &b, ack);
		if (got != pid || (b.size() != n && pid != kNak && pid != kStall))
			fail("usb: bulk IN: PID %u with %zu bytes, expected %u with %zu", got, b.size(), pid, n);
	}
};

struct Rule {
	const char *section, *name;
	void (*run)(RuleRun &r);
};

inline const Rule kRules[] = {
	{ "5.8.3", "a frame that ends with a whole packet has an empty one behind it", [](RuleRun &r) {
		r.configure();
		r.feed(128);
		r.in_gives(kData0, 64);
		r.in_gives(kData1, 64);
		r.in_gives(kData0, 0);
		r.in_gives(kNak, 0);
	} },
	{ "7.1.5", "D+ is pulled up", [](RuleRun &r) { r.need(r.h.line.t.pull_up_o, "no pull-up"); } },
	{ "7.1.7.5", "SE0 of 2 us is no reset, of 10 us it is one", [](RuleRun &r) {
		r.configure();
		r.h.line.rest = kSe0;
		r.h.line.run(2'000'000'000);
		r.h.line.rest = kJ;
		r.h.idle(20);
		r.need(r.ask(0x80, 8, 0, 0, 1)[0] == 1, "reset too early");
		r.h.bus_reset(10'000'000'000);
		r.need(r.ask(0x80, 8, 0, 0, 1)[0] == 0, "still configured, or not at address 0");
	} },
	{ "7.1.7.6", "suspended behind 3 ms of J, not while there are frames", [](RuleRun &r) {
		r.configure();
		for (unsigned ms = 0; ms < 6; ms++) {
			r.h.token(kSof, ms, 0);
			r.h.idle(11900);
			r.need(!r.h.line.t.suspend_o, "suspended in front of 3 ms");
		}
		r.h.idle(12000 * 3);
		r.need(r.h.line.t.suspend_o, "not suspended");
	} },
	{ "7.1.7.7", "resumes with K, and is as it was", [](RuleRun &r) {
		r.configure();
		r.h.idle(12000 * 4);
		r.need(r.h.line.t.suspend_o, "not suspended");
		r.h.line.rest = kK;
		r.h.idle(12000 * 20);
		r.need(!r.h.line.t.suspend_o, "K does not resume");
		r.h.line.rest = kSe0;
		r.h.idle(16);
		r.h.line.rest = kJ;
		r.h.idle(20);
		r.need(r.ask(0x80, 8, 0, 0, 1)[0] == 1, "no longer configured");
	} },
	{ "7.1.9", "bits are stuffed, also at a packet's end", [](RuleRun &r) {
		r.configure();
		for (unsigned n = 1; n <= 64; n++) {
			for (unsigned i = 0; i < n; i++)
				r.h.line.to_host.push_back(static_cast<uint16_t>(0xff | (i + 1 == n) << 8));
			r.h.idle(300);
			r.in_gives(n % 2 ? kData0 : kData1, n);
		}
	} },
	{ "7.1.18.1", "answers 2 to 6.5 bits behind the end of a packet", [](RuleRun &r) {
		r.configure();     // Host::answer() measures each
		r.in_gives(kNak, 0);
		r.need(r.h.out(1, false, { 1, 2, 3 }) == kAck, "no answer");
	} },
	{ "8.3.1", "a PID without its complement is not answered", [](RuleRun &r) {
		r.configure();
		r.h.token(kIn, 9, 1, kPid);
		r.need(r.h.answer() == kNothing, "an answer");
	} },
	{ "8.3.2.1", "another address is not answered, and takes nothing", [](RuleRun &r) {
		r.configure();
		r.h.addr = 10;
		r.need(r.h.out(1, false, { 1 }) == kNothing && r.h.setup(request(0x80, 8, 0, 0, 1)) == kNothing, "an answer");
		r.h.addr = 0;
		r.need(r.h.setup(request(0x80, 8, 0, 0, 1)) == kNothing, "an answer at address 0");
	} },
	{ "8.3.2.2", "endpoints that are not there are not answered", [](RuleRun &r) {
		r.configure();
		for (unsigned ep = 2; ep < 16; ep++) {
			Bytes b;
			r.need(r.h.in(ep, &b) == kNothing && r.h.out(ep, false, {}) == kNothing, "an answer");
		}
	} },
	{ "8.3.5.1", "a token with one wrong bit is not answered, whichever", [](RuleRun &r) {
		r.configure();
		for (unsigned i = 0; i < 200; i++) {
			r.h.token(kIn, 9, 1, kFlip);
			r.need(r.h.answer() == kNothing, "an answer");
		}
	} },
	{ "8.3.5.2", "data with one wrong bit is not answered and not taken, whichever", [](RuleRun &r) {
		r.configure();
		for (unsigned i = 0; i < 200; i++)
			r.need(r.h.out(1, false, { 1, 2, 3 }, kFlip) == kNothing, "an answer");
		r.h.idle(100);
		r.need(r.h.line.from_host.empty(), "bytes were taken");
	} },
	{ "8.4.4", "more than 64 bytes are not answered and not taken", [](RuleRun &r) {
		r.configure();
		r.need(r.h.out(1, false, Bytes(65)) == kNothing && r.h.out(1, false, Bytes(1000)) == kNothing, "an answer");
		r.h.idle(100);
		r.need(r.h.line.from_host.empty(), "bytes were taken");
		r.need(r.h.out(1, false, Bytes(64)) == kAck, "64 bytes are not taken");
	} },
	{ "8.4.6.1", "IN: STALL if halted, NAK without data, data", [](RuleRun &r) {
		r.configure();
		r.in_gives(kNak, 0);
		r.feed(5);
		r.in_gives(kData0, 5, false);
		r.h.idle(40);
		r.ask(2, 3, 0, 0x81, 0);
		r.in_gives(kStall, 0);
	} },
	{ "8.4.6.3", "OUT: STALL if halted, ACK of a repetition, NAK without room", [](RuleRun &r) {
		r.configure();
		r.h.line.from_host_max = 0;
		uint8_t got = kAck;
		bool toggle = false;
		unsigned n = 0;
		while (n < 5 && (got = r.h.out(1, toggle, Bytes(64))) == kAck) {
			n++;
			toggle = !toggle;
			r.h.idle(100);
		}
		r.need(got == kNak && n == 2, "not two packets are held");
		r.need(r.h.out(1, !toggle, Bytes(64)) == kAck, "a repetition is not acknowledged");
		r.ask(2, 3, 0, 1, 0);
		r.need(r.h.out(1, toggle, Bytes(64)) == kStall, "no STALL");
		r.h.line.from_host_max = SIZE_MAX;
		r.h.idle(2000);
		r.need(r.h.line.from_host.size() == 128, "not 128 bytes have come");
	} },
	{ "8.4.6.4", "SETUP is taken always, and by endpoint 0 alone", [](RuleRun &r) {
		r.configure();
		const Bytes bad = request(0x80, 6, 0x9900, 0, 8), good = request(0x80, 8, 0, 0, 1);
		for (unsigned i = 0; i < 5; i++)
			r.need(r.h.setup(bad) == kAck, "SETUP was not acknowledged");
		r.need(r.h.setup(good) == kAck, "SETUP was not acknowledged");
		r.h.token(kSetup, 9, 1);
		r.h.data(kData0, good);
		r.need(r.h.answer() == kNothing, "endpoint 1 takes SETUP");
	} },
	{ "8.5.3", "SETUP with DATA1, or not of 8 bytes, is not taken", [](RuleRun &r) {
		const Bytes good = request(0x80, 8, 0, 0, 1);
		r.h.token(kSetup, 0, 0);
		r.h.data(kData1, good);
		r.need(r.h.answer() == kNothing, "DATA1 is taken");
		for (size_t n : { 0, 7, 9, 64 }) {
			Bytes b = good;
			b.resize(n);
			r.need(r.h.setup(b) == kNothing, "another length is taken");
		}
	} },
	{ "8.5.3.1, 8.5.3.4", "status stages are DATA1 without bytes; STALL lasts until the next SETUP", [](RuleRun &r) {
		Bytes b;
		r.need(r.h.setup(request(0, 9, 1, 0, 0)) == kAck && r.h.in(0, &b) == kData1 && b.empty(), "status stage, IN");
		r.need(r.h.setup(request(0x80, 6, 0x9900, 0, 8)) == kAck, "SETUP");
		for (unsigned i = 0; i < 3; i++)
			r.need(r.h.in(0, &b) == kStall && r.h.out(0, true, {}) == kStall, "no STALL");
		r.ask(0x80, 8, 0, 0, 1);
	} },
	{ "8.5.3.2", "a read may end early; a packet of 0 bytes where more was asked for", [](RuleRun &r) {
		Bytes b;
		r.need(r.h.setup(request(0xc0, 0x4d, 0, 7, 200)) == kAck && r.h.in(0, &b) == kData1 && b.size() == 64, "first packet");
		r.need(r.h.out(0, true, {}) == kAck, "early status stage");
		const size_t whole = Device::descriptor(WEFT_USB_DESCRIPTOR_MSOS20).size();
		r.need(r.ask(0xc0, 0x4d, 0, 7, 64).size() == 64 && r.ask(0xc0, 0x4d, 0, 7, 128).size() == 128, "whole packets");
		r.need(r.ask(0xc0, 0x4d, 0, 7, 1000).size() == whole, "all of it");
	} },
	{ "8.6.4", "data of a control read is repeated until it is acknowledged", [](RuleRun &r) {
		Bytes a, b;
		r.need(r.h.setup(request(0x80, 6, 0x100, 0, 18)) == kAck, "SETUP");
		for (unsigned i = 0; i < 3; i++) {
			r.need(r.h.in(0, &a, false) == kData1 && a.size() == 18 && (!i || a == b), "another packet");
			b = a;
			r.h.idle(40);
		}
	} },
	{ "8.6.4", "OUT data that was taken is not taken again, if its ACK was lost", [](RuleRun &r) {
		r.configure();
		for (unsigned i = 0; i < 4; i++)
			r.need(r.h.out(1, false, { 7, 8 }) == kAck, "no ACK");
		r.need(r.h.out(1, true, { 9 }) == kAck, "no ACK");
		r.h.idle(200);
		r.need(r.h.line.from_host == std::deque<uint8_t>{ 7, 8, 9 }, "other bytes than 7, 8, 9");
	} },
	{ "8.6.4", "IN data is the same, with its toggle, until its ACK comes", [](RuleRun &r) {
		r.configure();
		r.feed(70);
		for (unsigned i = 0; i < 3; i++) {
			r.in_gives(kData0, 64, false);
			r.h.idle(40);
		}
		r.in_gives(kData0, 64);
		r.in_gives(kData1, 6);
		r.in_gives(kNak, 0);
	} },
	{ "8.7.2", "an ACK 16 bits behind is in time, 19 bits behind too late", [](RuleRun &r) {
		r.configure();
		r.feed(10);
		for (unsigned wait : { 19u, 16u }) {
			Bytes b;
			const bool first = wait == 19;
			r.need(r.h.in(1, &b, false) == kData0, "no data");
			r.h.line.run(r.h.ended + wait * kBit - r.h.line.now);
			r.h.send({ 0xd2 });
			r.h.idle(30);
			r.in_gives(first ? kData0 : kNak, 10, false);
			r.h.idle(30);
		}
	} },
	{ "8.7.2", "data that does not come ends the transaction", [](RuleRun &r) {
		r.configure();
		r.h.token(kOut, 9, 1);
		r.h.idle(40);
		r.h.data(kData0, { 1 });
		r.need(r.h.answer() == kNothing, "an answer");
	} },
	{ "8.7.3", "a packet without an end does not keep the device", [](RuleRun &r) {
		r.configure();
		r.h.token(kOut, 9, 1);
		r.h.data(kData0, { 1, 2, 3 }, kNoEnd);
		r.need(r.h.out(1, false, { 4 }) == kAck, "it listens no more");
	} },
	{ "9.1.1", "bulk endpoints are there from SET_CONFIGURATION(1) to SET_CONFIGURATION(0)", [](RuleRun &r) {
		Bytes b;
		r.need(r.h.in(1, &b) == kNothing, "an answer before");
		r.configure();
		r.in_gives(kNak, 0);
		r.ask(0, 9, 0, 0, 0);
		r.need(r.h.in(1, &b) == kNothing, "an answer behind");
	} },
	{ "9.1.1.5", "SET_CONFIGURATION sets toggles to DATA0 and ends halts", [](RuleRun &r) {
		r.configure();
		r.need(r.h.out(1, false, { 1 }) == kAck, "no ACK");
		r.feed(1);
		r.in_gives(kData0, 1);
		r.ask(2, 3, 0, 0x81, 0);
		r.ask(0, 9, 1, 0, 0);
		r.feed(2);
		r.in_gives(kData0, 2);
		r.need(r.h.out(1, false, { 2 }) == kAck, "no ACK");
		r.h.idle(200);
		r.need(r.h.line.from_host.size() == 2, "the second byte was taken for a repetition");
	} },
	{ "9.2.7", "requests that are not known get STALL", [](RuleRun &r) {
		r.refused(0x80, 0x33, 0, 0, 4);
		r.refused(0x21, 1, 0, 0, 0);
		r.refused(0xc1, WEFT_USB_REQ_GET_STATUS, 0, 0, 8);
	} },
	{ "9.4.1", "CLEAR_FEATURE(ENDPOINT_HALT) ends a halt and sets the toggle to DATA0, of that endpoint", [](RuleRun &r) {
		r.configure();
		r.need(r.h.out(1, false, { 1 }) == kAck, "no ACK");
		r.feed(1);
		r.in_gives(kData0, 1);
		r.ask(2, 3, 0, 0x81, 0);
		r.in_gives(kStall, 0);
		r.ask(2, 1, 0, 0x81, 0);
		r.feed(3);
		r.in_gives(kData0, 3);
		r.need(r.h.out(1, true, { 2 }) == kAck, "no ACK");
		r.h.idle(200);
		r.need(r.h.line.from_host.size() == 2, "the other endpoint's toggle was set too");
		r.refused(2, 1, 0, 2, 0);
		r.refused(0, 1, 1, 0, 0);      // DEVICE_REMOTE_WAKEUP: there is none
	} },
	{ "9.4.2", "GET_CONFIGURATION", [](RuleRun &r) {
		r.need(r.ask(0x80, 8, 0, 0, 1) == Bytes{ 0 }, "not 0");
		r.configure();
		r.need(r.ask(0x80, 8, 0, 0, 1) == Bytes{ 1 }, "not 1");
	} },
	{ "9.4.3", "GET_DESCRIPTOR: all of them, as docs/protocol.md says, as long as they are or as asked for", [](RuleRun &r) {
		const enum weft_usb_descriptor which[] = { WEFT_USB_DESCRIPTOR_DEVICE, WEFT_USB_DESCRIPTOR_CONFIG_FULL, WEFT_USB_DESCRIPTOR_BOS };
		const unsigned types[] = { 1, 2, 15 };
		for (unsigned i = 0; i < 3; i++) {
			const Bytes all = Device::descriptor(which[i]);
			for (unsigned n = 1; n < 80; n++) {
				const Bytes got = r.ask(0x80, 6, types[i] << 8, 0, n);
				r.need(got == Bytes(all.begin(), all.begin() + static_cast<long>(std::min<size_t>(n, all.size()))), "other bytes");
			}
		}
		r.need(r.ask(0xc0, WEFT_USB_MS_VENDOR_CODE, 0, 7, 4096) == Device::descriptor(WEFT_USB_DESCRIPTOR_MSOS20), "MS OS 2.0");
		r.refused(0x80, 6, 0x0101, 0, 18);
		r.refused(0x80, 6, 0x0201, 0, 18);
	} },
	{ "9.4.4, 9.4.10", "GET_INTERFACE, SET_INTERFACE: there is setting 0, once it is configured", [](RuleRun &r) {
		r.refused(0x81, 10, 0, 0, 1);
		r.configure();
		r.need(r.ask(0x81, 10, 0, 0, 1) == Bytes{ 0 }, "not 0");
		r.ask(1, 11, 0, 0, 0);
		r.refused(1, 11, 1, 0, 0);
		r.refused(1, 11, 0, 1, 0);
	} },
	{ "9.4.5", "GET_STATUS of device, interface, endpoints", [](RuleRun &r) {
		/* A host that asks for more gets these two bytes as well. */
		for (unsigned asked = 2; asked <= 64; asked += 62) {
			r.need(r.ask(0x80, 0, 0, 0, asked) == Bytes({ 0, 0 }), "device");
			r.need(r.ask(0x82, 0, 0, 0, asked) == Bytes({ 0, 0 }), "endpoint 0");
		}
		r.refused(0x82, 0, 0, 0x81, 2);
		r.configure();
		r.need(r.ask(0x81, 0, 0, 0, 2) == Bytes({ 0, 0 }) && r.ask(0x81, 0, 0, 0, 64) == Bytes({ 0, 0 }), "interface");
		r.refused(0x81, 0, 0, 1, 2);
		r.ask(2, 3, 0, 0x01, 0);
		r.need(r.ask(0x82, 0, 0, 0x01, 2) == Bytes({ 1, 0 }) && r.ask(0x82, 0, 0, 0x81, 2) == Bytes({ 0, 0 }), "endpoints");
	} },
	{ "9.4.6", "SET_ADDRESS holds from behind its status stage on", [](RuleRun &r) {
		Bytes b;
		r.need(r.h.setup(request(0, 5, 77, 0, 0)) == kAck, "SETUP");
		r.need(r.h.in(0, &b, false) == kData1, "status stage");
		r.h.idle(40);
		r.need(r.h.in(0, &b, true) == kData1, "status stage again, at the old address");
		r.need(r.h.in(0, &b) == kNothing, "still at the old address");
		r.h.addr = 77;
		r.ask(0x80, 8, 0, 0, 1);
		r.refused(0, 5, 128, 0, 0);
	} },
	{ "9.4.7", "SET_CONFIGURATION: 0 and 1", [](RuleRun &r) {
		r.configure();
		r.refused(0, 9, 2, 0, 0);
		r.need(r.ask(0x80, 8, 0, 0, 1) == Bytes{ 1 }, "no longer configured");
	} },
	{ "9.4.8, 9.4.9, 9.4.11", "SET_DESCRIPTOR, SYNCH_FRAME, TEST_MODE get STALL", [](RuleRun &r) {
		r.configure();
		r.refused(0, 7, 0x100, 0, 18);
		r.refused(0x82, 12, 0, 0x81, 2);
		r.refused(0, 3, 2, 0x100, 0);
	} },
	{ "9.6.2", "no DEVICE_QUALIFIER, no OTHER_SPEED_CONFIGURATION at full speed alone", [](RuleRun &r) {
		r.refused(0x80, 6, 0x600, 0, 10);
		r.refused(0x80, 6, 0x700, 0, 32);
	} },
	{ "9.6.7", "strings: languages, manufacturer, product, serial", [](RuleRun &r) {
		for (unsigned i = 0; i < 4; i++)
			r.need(r.ask(0x80, 6, 0x300 | i, i ? 0x409 : 0, 255) == Device::string(i), "another string");
		r.refused(0x80, 6, 0x304, 0x409, 255);
	} },
	{ "protocol", "LINK_RESET empties both streams, once, and counts", [](RuleRun &r) {
		r.configure();
		r.h.line.from_host_max = 0;
		r.need(r.h.out(1, false, Bytes(64)) == kAck && r.h.out(1, true, Bytes(64)) == kAck, "no ACK");
		r.feed(100);
		const uint64_t before = r.h.line.link_resets;
		r.ask(0x40, WEFT_USB_REQ_LINK_RESET, 0, 0, 0);
		r.need(r.h.line.link_resets == before + 1 && !r.h.line.chip_resets, "not one reset of the link");
		r.h.line.from_host_max = SIZE_MAX;
		r.h.idle(2000);
		r.need(r.h.line.from_host.empty(), "bytes of before come to the chip");
		r.in_gives(kNak, 0);
		const Bytes s = r.ask(0xc0, WEFT_USB_REQ_GET_STATUS, 0, 0, 8);
		r.need(s == Bytes({ 0, 0, 0, 0, 1, 0, 0, 0 }), "another status");
		r.need(r.h.out(1, false, { 5 }) == kAck, "no ACK");
		r.h.idle(200);
		r.need(r.h.line.from_host == std::deque<uint8_t>{ 5 }, "it is not alive");
	} },
	{ "protocol", "LINK_RESET: a packet whose ACK was lost keeps its turn, empty", [](RuleRun &r) {
		r.configure();
		r.feed(100);
		r.in_gives(kData0, 64, false);
		r.h.idle(40);
		r.ask(0x40, WEFT_USB_REQ_LINK_RESET, 0, 0, 0);
		r.feed(3);
		r.in_gives(kData0, 0);
		r.in_gives(kData1, 3);
	} },
	{ "protocol", "CHIP_RESET resets the chip, once", [](RuleRun &r) {
		r.configure();
		const uint64_t before = r.h.line.link_resets;
		for (unsigned i = 1; i <= 5; i++) {
			r.ask(0x40, WEFT_USB_REQ_CHIP_RESET, 0, 0, 0);
			r.need(r.h.line.chip_resets == i && r.h.line.link_resets == before, "not one reset of the chip");
		}
	} },
	{ "protocol", "a reset of the bus empties both streams and resets the link", [](RuleRun &r) {
		r.configure();
		r.feed(100);
		const uint64_t before = r.h.line.link_resets;
		r.h.bus_reset(10'000'000'000);
		r.h.idle(50);
		r.need(r.h.line.link_resets == before + 1, "not one reset of the link");
		r.configure();
		r.in_gives(kNak, 0);
	} },
};

inline int run_rule(unsigned i, const char **section, const char **name, char *msg)
{
	if (i >= sizeof(kRules) / sizeof(kRules[0]))
		return 1;
	*section = kRules[i].section;
	*name = kRules[i].name;
	RuleRun r(msg);
	kRules[i].run(r);
	r.need(true, "");
	return r.fail.failed ? -1 : 0;
}

} // namespace usb

#endif

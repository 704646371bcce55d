// SPDX-License-Identifier: Apache-2.0
//
// A host controller: transactions of the simulated host for somebody who has transfers, and a
// simulated chip on the device's other side (include/sim/usb_phy.h).
#ifndef WEFT_SIM_RTL_USB_CONTROLLER_H
#define WEFT_SIM_RTL_USB_CONTROLLER_H

#include <algorithm>
#include <cerrno>
#include <new>
#include <string>

#include "include/sim/usb_phy.h"
#include "include/weft/gen/msg.h"
#include "sim/rtl/usb/host.h"

namespace usb {

constexpr size_t kQueue = 4096;           // bytes that wait between device and chip, each way
constexpr unsigned kPatience = 20000;     // NAKs of a request before it is given up
constexpr Time kFrame = 12000 * kBit;     // 1 ms
constexpr uint8_t kAddress = 1;

struct Controller {
	Host h;
	const weft_chip_ops *ops;
	void *chip;
	std::string serial;
	bool toggle[2] = {};                  // OUT, IN
	uint64_t sent = 0, arrived = 0;       // bytes to the chip: acknowledged, there
	Time frame_at = 0;
	unsigned frame = 0;

	Controller(const weft_chip_ops *o, void *c, const char *s) : h(1, 0, 40'000'000), ops(o), chip(c), serial(s)
	{
		h.line.from_host_max = kQueue;
		h.line.on_reset = [this](bool whole) {
			sent = arrived = 0;
			if (whole)
				ops->reset(chip, WEFT_CHIP_CAUSE_HOST);
			else
				ops->link_reset(chip);
		};
		enumerate();
	}

	void power()
	{
		h.line.t.rst_ni = 0;
		h.idle(20);
		h.line.t.rst_ni = 1;
		h.idle(20);
		h.line.to_host.clear();
		h.line.from_host.clear();
		enumerate();
	}

	// What a host's system does with a device that is new.
	void enumerate()
	{
		Bytes none;
		h.line.serial(serial.c_str());
		h.bus_reset(10'000'000'000);
		h.idle(100);
		sent = arrived = 0;
		if (h.control({ 0, 5, kAddress, 0, 0, 0, 0, 0 }, &none) >= 0)
			h.addr = kAddress;
		h.control({ 0, 9, 1, 0, 0, 0, 0, 0 }, &none);
		toggle[0] = toggle[1] = false;
	}

	// A frame begins where the last one is over.
	void start_of_frame()
	{
		if (h.line.now < frame_at)
			return;
		frame_at = h.line.now + kFrame;
		h.token(kSof, ++frame & 0x7f, frame >> 7 & 15);
	}

	// The chip's bytes to the device's pins and back, as far as there is room. True: some moved.
	bool exchange()
	{
		const uint32_t status = ops->status(chip);
		auto &t = h.line.t;
		t.link_error_i = (status & WEFT_USB_STATUS_LINK_ERROR) != 0;
		t.link_full_i = (status & WEFT_USB_STATUS_RX_FULL) != 0;
		t.core_sleep_i = (status & WEFT_USB_STATUS_CORE_IDLE) != 0;
		bool moved = false;
		auto &up = h.line.from_host;
		if (!up.empty()) {
			const Bytes b(up.begin(), up.end());
			const size_t n = ops->put(chip, b.data(), b.size());
			up.erase(up.begin(), up.begin() + static_cast<long>(n));
			arrived += n;
			moved = n > 0;
		}
		uint8_t b[512];
		bool end = false;
		for (size_t n; h.line.to_host.size() < kQueue && (n = ops->get(chip, b, sizeof(b), &end)) > 0; moved = true)
			for (size_t i = 0; i < n; i++)
				h.line.to_host.push_back(static_cast<uint16_t>(b[i] | (end && i + 1 == n) << 8));
		return moved;
	}

	bool pump()
	{
		bool any = exchange();
		for (unsigned i = 0; i < 64; i++) {
			const uint64_t taken = h.line.n_taken, came = arrived;
			if (sent == arrived && h.line.to_host.empty())
				break;
			h.idle(16);
			any |= exchange();
			if (taken == h.line.n_taken && came == arrived)
				break;
			any = true;
		}
		return any;
	}

	// The host's own toggles follow what a request does.
	void follow(const Bytes &r)
	{
		const unsigned what = r[0] << 8 | r[1];
		if (what == 0x0009 || what == 0x010b)
			toggle[0] = toggle[1] = false;
		if (what == 0x0201)
			toggle[r[4] >> 7] = false;
	}

	int control(const uint8_t *setup, uint8_t *data)
	{
		const Bytes r(setup, setup + 8);
		Bytes got;
		if (setup[0] == 0 && setup[1] == 5)
			return 0;             // the controller gives addresses
		pump();
		start_of_frame();
		const int n = h.control(r, &got, kPatience);
		if (n < 0)
			return n == -1 ? -EPIPE : -ETIMEDOUT;
		follow(r);
		std::copy(got.begin(), got.end(), data);
		return n;
	}

	int out(const uint8_t *data, size_t len)
	{
		start_of_frame();
		for (unsigned again = 0; again < 3; again++) {
			const uint8_t pid = h.out(WEFT_USB_EP_OUT, toggle[0], Bytes(data, data + len));
			if (pid == kAck) {
				toggle[0] = !toggle[0];
				sent += len;
				return 0;
			}
			if (pid == kNak || pid == kStall)
				return pid == kNak ? -EAGAIN : -EPIPE;
		}
		return -ETIMEDOUT;
	}

	int in(uint8_t *data)
	{
		start_of_frame();
		for (unsigned again = 0; again < 3; again++) {
			Bytes b;
			const uint8_t pid = h.in(WEFT_USB_EP_IN & 15, &b);
			if (pid == kNak || pid == kStall)
				return pid == kNak ? -EAGAIN : -EPIPE;
			if (pid != kData0 && pid != kData1)
				continue;
			if ((pid == kData1) != toggle[1])
				continue;         // we had it, and our ACK was lost
			if (b.size() > WEFT_USB_PHY_PACKET)
				return -ETIMEDOUT;
			toggle[1] = !toggle[1];
			std::copy(b.begin(), b.end(), data);
			return static_cast<int>(b.size());
		}
		return -ETIMEDOUT;
	}
};

inline void *phy_open(const weft_chip_ops *ops, void *chip, const char *serial)
{
	try {
		return new Controller(ops, chip, serial);
	} catch (const std::bad_alloc &) {
		return nullptr;
	}
}

inline Controller *of(void *p) { return static_cast<Controller *>(p); }

// C calls, which no exception may reach.
template <typename Work> int guarded(Work work)
{
	try {
		return work();
	} catch (const std::bad_alloc &) {
		return -ETIMEDOUT;
	}
}

inline const weft_usb_phy_ops kPhyOps = {
	WEFT_USB_PHY_VERSION,
	phy_open,
	[](void *p) { delete of(p); },
	[](void *p) { guarded([&] { of(p)->power(); return 0; }); },
	[](void *p) { guarded([&] { of(p)->enumerate(); return 0; }); },
	[](void *p, const uint8_t *setup, uint8_t *data) { return guarded([&] { return of(p)->control(setup, data); }); },
	[](void *p, const uint8_t *data, size_t len) { return guarded([&] { return of(p)->out(data, len); }); },
	[](void *p, uint8_t *data) { return guarded([&] { return of(p)->in(data); }); },
	[](void *p) { return guarded([&] { return int(of(p)->pump()); }) > 0; },
	[](void *p) { return of(p)->h.line.usb_cycles; },
};

} // namespace usb

#endif

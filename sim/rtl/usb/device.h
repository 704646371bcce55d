// SPDX-License-Identifier: Apache-2.0
//
// What a host may expect of the device: a model of its answers, written from USB 2.0,
// chapters 8 and 9, and docs/protocol.md, without a look at hw/usb.
#ifndef WEFT_SIM_RTL_USB_DEVICE_H
#define WEFT_SIM_RTL_USB_DEVICE_H

#include <deque>

#include "include/weft/gen/msg.h"
#include "sim/rtl/usb/host.h"

namespace usb {

inline Bytes request(unsigned kind, unsigned number, unsigned value, unsigned index, unsigned length)
{
	return { static_cast<uint8_t>(kind), static_cast<uint8_t>(number), static_cast<uint8_t>(value), static_cast<uint8_t>(value >> 8),
		 static_cast<uint8_t>(index), static_cast<uint8_t>(index >> 8), static_cast<uint8_t>(length), static_cast<uint8_t>(length >> 8) };
}

// A packet for the host: its bytes, and how many of the chip's bytes go up to its end.
struct Packet {
	Bytes bytes;
	uint64_t end;
};

struct Device {
	static constexpr const char *kSerial = "USB-0123456789ab";

	bool configured = false, halted[2] = {}, toggle[2] = {};   // OUT, IN
	uint32_t resets = 0;                // LINK_RESET and CHIP_RESET
	uint64_t fed = 0;                   // bytes that the chip has offered
	std::deque<Packet> packets;         // for the host
	bool sent = false;                  // the first one went out already
	std::deque<uint8_t> up;             // bytes that were acknowledged and have not come to the chip

	// The chip offers a frame.
	void feed(Line &line, const Bytes &frame)
	{
		Packet p;
		for (size_t i = 0; i < frame.size(); i++) {
			const bool last = i + 1 == frame.size();
			line.to_host.push_back(static_cast<uint16_t>(frame[i] | last << 8));
			p.bytes.push_back(frame[i]);
			fed++;
			if (!last && p.bytes.size() < WEFT_USB_PACKET_FULL)
				continue;
			p.end = fed;
			packets.push_back(p);
			if (last && p.bytes.size() == WEFT_USB_PACKET_FULL)
				packets.push_back({ {}, fed });
			p.bytes.clear();
		}
	}

	void clear_toggle(bool in)
	{
		toggle[in] = false;
		if (in)
			sent = false;
	}

	// Both streams are empty; a packet that the host may have keeps its turn as an empty one.
	void empty(Line &line)
	{
		up.clear();
		packets.clear();
		fed = line.n_taken;
		if (sent)
			packets.push_back({ {}, 0 });
	}

	void bus_reset(Line &line)
	{
		configured = halted[0] = halted[1] = toggle[0] = toggle[1] = sent = false;
		empty(line);
	}

	// Who knows the descriptors: weft_usb_descriptor() of the library.
	static inline const uint8_t *(*source)(unsigned which, size_t *len_bytes) = nullptr;

	static Bytes descriptor(enum weft_usb_descriptor which)
	{
		size_t n = 0;
		const uint8_t *p = source(which, &n);
		return Bytes(p, p + n);
	}

	static Bytes string(unsigned i)
	{
		const char *const texts[] = { nullptr, WEFT_USB_MANUFACTURER, WEFT_USB_PRODUCT, kSerial };
		Bytes b = { 4, 3, 9, 4 };
		if (!i)
			return b;
		b.resize(2);
		for (const char *c = texts[i]; *c; c++) {
			b.push_back(static_cast<uint8_t>(*c));
			b.push_back(0);
		}
		b[0] = static_cast<uint8_t>(b.size());
		return b;
	}

	// Is the request one for the device as it is now? Its bytes if it reads.
	bool judge(const Bytes &r, Bytes *bytes) const
	{
		const unsigned value = r[2] | r[3] << 8u, index = r[4] | r[5] << 8u, length = r[6] | r[7] << 8u;
		const unsigned ep = index & 0xff;
		const bool bulk = configured && (ep == WEFT_USB_EP_OUT || ep == WEFT_USB_EP_IN);
		bytes->clear();
		if (!(r[0] & 0x80) && length)
			return false;
		switch (r[0] << 8 | r[1]) {
		case 0x8000: *bytes = { 0, 0 }; return true;
		case 0x8100: *bytes = { 0, 0 }; return configured && !index;
		case 0x8200: *bytes = { bulk && halted[ep >> 7], 0 }; return bulk || (ep & 0x7f) == 0;
		case 0x0201:
		case 0x0203: return bulk && !value;
		case 0x0005: return value < 128;
		case 0x8008: *bytes = { configured }; return true;
		case 0x0009: return value < 2;
		case 0x810a: *bytes = { 0 }; return configured && !index;
		case 0x010b: return configured && !index && !value;
		case 0x8006: return get_descriptor(value, bytes);
		case 0x4001:
		case 0x4002: return true;
		case 0xc003: bytes->resize(8); return true;
		case 0xc000 | WEFT_USB_MS_VENDOR_CODE: *bytes = descriptor(WEFT_USB_DESCRIPTOR_MSOS20); return index == 7;
		default: return false;
		}
	}

	// What a request does that was judged to be one.
	void act(Line &line, const Bytes &r)
	{
		const bool in = r[4] & 0x80;
		switch (r[0] << 8 | r[1]) {
		case 0x0201: halted[in] = false; clear_toggle(in); break;
		case 0x0203: halted[in] = true; break;
		case 0x0009:
			configured = r[2];
			// fall through
		case 0x010b:
			halted[0] = halted[1] = false;
			clear_toggle(false);
			clear_toggle(true);
			break;
		case 0x4001:
		case 0x4002:
			resets++;
			empty(line);
			break;
		default: break;
		}
	}

private:
	static bool get_descriptor(unsigned value, Bytes *bytes)
	{
		if (value == 0x0100 || value == 0x0200 || value == 0x0f00) {
			*bytes = descriptor(value == 0x0100 ? WEFT_USB_DESCRIPTOR_DEVICE
			                    : value == 0x0200 ? WEFT_USB_DESCRIPTOR_CONFIG_FULL : WEFT_USB_DESCRIPTOR_BOS);
			return true;
		}
		if (value >> 8 == 3 && (value & 0xff) < 4) {
			*bytes = string(value & 0xff);
			return true;
		}
		return false;
	}
};

} // namespace usb

#endif

// SPDX-License-Identifier: Apache-2.0
//
// A full-speed host at the level of packets: it makes them, breaks them if it is told to, and
// judges what comes back by the rules of USB 2.0, chapters 7 and 8. Written from the
// specification, without a look at hw/usb.
#ifndef WEFT_SIM_RTL_USB_HOST_H
#define WEFT_SIM_RTL_USB_HOST_H

#include "sim/rtl/usb/line.h"

namespace usb {

enum Pid : uint8_t {
	kOut = 1, kIn = 9, kSof = 5, kSetup = 13, kData0 = 3, kData1 = 11, kData2 = 7, kMdata = 15, kAck = 2, kNak = 10,
	kStall = 14, kNyet = 6, kPre = 12, kSplit = 8, kPing = 4, kReserved = 0,
	kNothing = 0x80,              // no answer
	kBroken = 0x81,               // one that breaks a rule
};

// What is wrong with a packet of the host's.
enum Break {
	kWhole,
	kFlip,                        // a bit of what stands behind the PID, or of the PID
	kPid,                         // the PID's second half is not its complement
	kStuff,                       // seven ones in a row
	kCut,                         // it ends in the middle of a byte
	kShort,                       // a byte too few
	kNoEnd,                       // no SE0
	kLost,                        // it is never sent
	kLong,                        // data: more bytes than a packet may have
	kBreaks,
};

struct Host {
	Line line;
	Random random;
	uint8_t addr = 0;
	const char *wrong = nullptr;  // the first rule that the device broke
	Time ended = 0;               // of the last packet on the bus, SE0 to J
	uint64_t n_packets = 0;
	bool dribble = false, short_sync = false;   // as hubs do: a bit too many, or too few in SYNC

	Host(uint64_t seed, int ppm, Time chip_period) : line(seed + 1, ppm, chip_period), random(seed) {}

	static uint16_t crc5(uint16_t bits)
	{
		uint8_t crc = 0x1f;
		for (unsigned i = 0; i < 11; i++)
			crc = static_cast<uint8_t>(((crc ^ bits >> i) & 1 ? crc >> 1 ^ 0x14 : crc >> 1));
		return crc ^ 0x1f;
	}

	static uint16_t crc16(const uint8_t *p, size_t n)
	{
		uint16_t crc = 0xffff;
		for (size_t i = 0; i < n; i++) {
			crc ^= p[i];
			for (unsigned b = 0; b < 8; b++)
				crc = static_cast<uint16_t>(crc & 1 ? crc >> 1 ^ 0xa001 : crc >> 1);
		}
		return static_cast<uint16_t>(~crc);
	}

	void idle(unsigned n_bits) { line.run(n_bits * kBit); }

	// SE0 for so long is a reset.
	void bus_reset(Time duration)
	{
		line.rest = kSe0;
		line.run(duration);
		line.rest = kJ;
		addr = 0;
		idle(10);
	}

	void send(Bytes bytes, Break how = kWhole)
	{
		if (how == kLost) {
			idle(20);
			return;
		}
		if (how == kPid)
			bytes[0] = static_cast<uint8_t>(bytes[0] ^ 0x10u << random.below(4));
		if (how == kFlip) {
			const unsigned i = random.below(static_cast<uint32_t>(bytes.size()) * 8);
			bytes[i / 8] = static_cast<uint8_t>(bytes[i / 8] ^ 1u << i % 8);
		}
		if (how == kShort && bytes.size() > 1)
			bytes.pop_back();
		std::vector<Level> levels = encode(bytes, how);
		line.send(levels);
		ended = line.now - (how == kNoEnd ? 0 : kBit);
		n_packets++;
		if (how == kNoEnd)
			idle(40);
	}

	void token(Pid pid, unsigned address, unsigned endpoint, Break how = kWhole)
	{
		const auto bits = static_cast<uint16_t>(address | endpoint << 7);
		const auto word = static_cast<uint16_t>(bits | crc5(bits) << 11);
		gap();
		send({ pid_byte(pid), static_cast<uint8_t>(word), static_cast<uint8_t>(word >> 8) }, how);
	}

	void data(Pid pid, const Bytes &payload, Break how = kWhole)
	{
		Bytes b = payload;
		if (how == kLong)
			while (b.size() < 65)
				b.push_back(static_cast<uint8_t>(random.below(256)));
		const uint16_t crc = crc16(b.data(), b.size());
		b.insert(b.begin(), pid_byte(pid));
		b.push_back(static_cast<uint8_t>(crc));
		b.push_back(static_cast<uint8_t>(crc >> 8));
		gap();
		send(b, how == kLong ? kWhole : how);
	}

	void handshake(Pid pid, Break how = kWhole)
	{
		gap();
		send({ pid_byte(pid) }, how);
	}

	// The device's answer within 18 bits: its PID, kNothing or kBroken; payload of a data packet.
	uint8_t answer(Bytes *payload = nullptr)
	{
		Driven p;
		if (!line.receive(18, &p))
			return kNothing;
		n_packets++;
		const double after = static_cast<double>(p.began - ended) / kBit;
		ended = p.ended;
		if (p.wrong)
			return broken(p.wrong);
		if (after < 2 || after > 6.5)
			return broken("an answer too early or too late (7.1.18.1)");
		const uint8_t pid = p.bytes[0] & 15;
		if ((p.bytes[0] >> 4 ^ pid) != 15)
			return broken("PID without its complement");
		if (pid == kData0 || pid == kData1) {
			if (p.bytes.size() < 3 || crc16(&p.bytes[1], p.bytes.size() - 3) != (p.bytes.end()[-2] | p.bytes.end()[-1] << 8))
				return broken("CRC16");
			if (payload)
				payload->assign(p.bytes.begin() + 1, p.bytes.end() - 2);
			return pid;
		}
		if (p.bytes.size() != 1)
			return broken("a handshake of several bytes");
		if (pid != kAck && pid != kNak && pid != kStall)
			return broken("a PID that no device sends at full speed");
		return pid;
	}

	// ---- whole transactions ----

	uint8_t out(unsigned endpoint, bool toggle, const Bytes &payload, Break how = kWhole)
	{
		token(kOut, addr, endpoint);
		data(toggle ? kData1 : kData0, payload, how);
		return answer();
	}

	// Data is acknowledged if that is wanted.
	uint8_t in(unsigned endpoint, Bytes *payload, bool ack = true)
	{
		token(kIn, addr, endpoint);
		const uint8_t pid = answer(payload);
		if (ack && (pid == kData0 || pid == kData1))
			handshake(kAck);
		return pid;
	}

	uint8_t setup(const Bytes &request, Break how = kWhole)
	{
		token(kSetup, addr, 0);
		data(kData0, request, how);
		return answer();
	}

	// A whole control transfer, NAKs repeated. Returns the bytes of a read, 0 of others, -1: STALL, -2: no, or another, answer.
	int control(const Bytes &request, Bytes *bytes, unsigned patience = 100000)
	{
		const unsigned length = request[6] | request[7] << 8u;
		const bool read = request[0] & 0x80 && length;
		bool toggle = true;
		Bytes packet;
		bytes->clear();
		if (setup(request) != kAck)
			return -2;
		while (read) {
			const uint8_t pid = in(0, &packet);
			if (pid == kNak && patience--)
				continue;
			if (pid == kStall)
				return -1;
			if (pid != (toggle ? kData1 : kData0) || bytes->size() + packet.size() > length)
				return -2;
			toggle = !toggle;
			bytes->insert(bytes->end(), packet.begin(), packet.end());
			if (packet.size() < 64 || bytes->size() == length)
				break;
		}
		for (;;) {
			const uint8_t pid = read ? out(0, true, {}) : in(0, &packet);
			if (pid == kNak && patience--)
				continue;
			if (pid == kStall)
				return -1;
			if (read ? pid != kAck : pid != kData1 || !packet.empty())
				return -2;
			return static_cast<int>(bytes->size());
		}
	}

private:
	static uint8_t pid_byte(Pid pid) { return static_cast<uint8_t>(pid | (~pid & 15) << 4); }

	uint8_t broken(const char *what)
	{
		if (!wrong)
			wrong = what;
		return kBroken;
	}

	// Between two packets of the host's, at least three bits behind SE0 (7.1.18.1: two).
	void gap() { idle(3 + random.below(4)); }

	std::vector<Level> encode(const Bytes &bytes, Break how)
	{
		std::vector<bool> all;
		for (unsigned i = short_sync ? 2 : 0; i < 8; i++)
			all.push_back(i == 7);
		unsigned ones = 1;
		size_t n = bytes.size() * 8;
		if (how == kCut)
			n -= 2 + random.below(5);
		for (size_t i = 0; i < n; i++) {
			const bool one = bytes[i / 8] >> i % 8 & 1;
			all.push_back(one);
			ones = one ? ones + 1 : 0;
			if (ones == 6) {
				all.push_back(false);
				ones = 0;
			}
		}
		if (how == kStuff)
			for (size_t k = 0, at = 8 + random.below(static_cast<uint32_t>(all.size() - 8)); k < 7; k++)
				all.insert(all.begin() + static_cast<long>(at), true);
		std::vector<Level> levels;
		Level now = kJ;
		for (const bool one : all) {
			now = one ? now : now == kJ ? kK : kJ;
			levels.push_back(now);
		}
		if (dribble)
			levels.push_back(now);
		if (how != kNoEnd) {
			levels.push_back(kSe0);
			levels.push_back(kSe0);
		}
		levels.push_back(kJ);
		return levels;
	}
};

} // namespace usb

#endif

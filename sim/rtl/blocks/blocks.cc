// SPDX-License-Identifier: Apache-2.0
//
// A host and a memory around the link, events and sums around the registers, requests around
// the resets, commands before the flash: what docs/protocol.md, docs/registers.md and docs/chip.md say, cycle by cycle.
#include "sim/rtl/blocks/blocks.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <vector>

#include "Vweft_blocks_bench.h"
#include "include/weft/gen/chip.h"
#include "include/weft/gen/msg.h"
#include "include/weft/gen/regs.h"
#include "sim/rtl/bench.h"
#include "sim/rtl/counted.h"
#include "verilated.h"

static_assert(WEFT_BLOCKS_MSG >= kBenchMsg, "room for a message");

namespace {

constexpr uint32_t kMemory = 4u << 20;

// Clock and reset; everything that nobody drives is low.
struct Bench {
	VerilatedContext ctx;
	Vweft_blocks_bench t;
	Failure fail;

	explicit Bench(char *msg) : t(&ctx, "blocks"), fail{ msg }
	{
		t.clk_i = 0;
		t.rst_ni = 0;
		t.dram_bytes_i = kMemory;
		edge();
		edge();
		t.rst_ni = 1;
	}
	~Bench()
	{
		t.final();
		keep_counts(ctx, t, "blocks");
	}

	void edge()
	{
		t.eval();
		t.clk_i = 1;
		t.eval();
		t.clk_i = 0;
		t.eval();
	}
};

uint32_t crc32(const uint8_t *p, size_t n)
{
	uint32_t crc = ~0u;
	for (size_t i = 0; i < n; i++) {
		crc ^= p[i];
		for (unsigned b = 0; b < 8; b++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

void put32(std::vector<uint8_t> &v, uint32_t x)
{
	for (unsigned i = 0; i < 4; i++)
		v.push_back(static_cast<uint8_t>(x >> 8 * i));
}

struct LinkBench : Bench {
	struct Burst {
		uint32_t addr, beats;
	};
	std::vector<uint8_t> memory = std::vector<uint8_t>(kMemory), answer;
	std::deque<uint8_t> to_card;
	std::deque<Burst> reading, writing;
	std::deque<uint64_t> answers;      // cycles from which on each write may be acknowledged
	uint64_t cycle = 0;
	uint32_t slow = 0;                 // cycles until a write is acknowledged
	unsigned most = 0, frames = 0;
	bool complete = false;             // the answer's last byte has come

	explicit LinkBench(char *msg) : Bench(msg) {}

	void reg(uint32_t addr, uint32_t value)
	{
		t.link_req_i = t.link_write_i = 1;
		t.link_addr_i = static_cast<uint16_t>(addr);
		t.link_wdata_i = value;
		tick();
		t.link_req_i = t.link_write_i = 0;
	}

	uint32_t reg_read(uint32_t addr)
	{
		t.link_req_i = 1;
		t.link_write_i = 0;
		t.link_addr_i = static_cast<uint16_t>(addr);
		t.eval();
		const uint32_t value = t.link_rdata_o;
		t.link_req_i = 0;
		return value;
	}

	void fence(uint32_t base, uint32_t limit)
	{
		reg(WEFT_CHIP_LINK_FENCE_BASE, base);
		reg(WEFT_CHIP_LINK_FENCE_LIMIT, limit);
		reg(WEFT_CHIP_LINK_FENCE_PERM, 3);
	}

	void take_beat()
	{
		if (writing.empty()) {
			fail("link: data before its address");
			return;
		}
		Burst &b = writing.front();
		for (unsigned i = 0; i < 16; i++)
			if (t.wstrb_o >> i & 1)
				memory[(b.addr + i) % kMemory] = static_cast<uint8_t>(t.wdata_o[i / 4] >> 8 * (i % 4));
		b.addr += 16;
		if (--b.beats == 0) {
			writing.pop_front();
			answers.push_back(cycle + slow);
		}
	}

	void tick()
	{
		t.in_valid_i = !to_card.empty();
		if (!to_card.empty())
			t.in_data_i = to_card.front();
		t.out_ready_i = 1;
		t.arready_i = t.awready_i = 1;
		t.wready_i = 1;
		t.rvalid_i = !reading.empty();
		if (t.rvalid_i)
			for (unsigned i = 0; i < 4; i++)
				std::memcpy(&t.rdata_i[i], &memory[(reading.front().addr + 4 * i) % kMemory], 4);
		t.bvalid_i = !answers.empty() && cycle >= answers.front();
		t.eval();
		const bool in = t.in_valid_i && t.in_ready_o, out = t.out_valid_o;
		if (out) {
			answer.push_back(t.out_data_o);
			complete = t.out_last_o;
			if (complete)
				frames++;
		}
		const bool ar = t.arvalid_o, aw = t.awvalid_o, w = t.wvalid_o, r = t.rvalid_i, b = t.bvalid_i;
		const Burst new_ar{ t.araddr_o, t.arlen_o + 1u }, new_aw{ t.awaddr_o, t.awlen_o + 1u };
		if (w)
			take_beat();
		t.clk_i = 1;
		t.eval();
		t.clk_i = 0;
		t.eval();
		if (in)
			to_card.pop_front();
		if (r) {
			reading.front().addr += 16;
			if (--reading.front().beats == 0)
				reading.pop_front();
		}
		if (b)
			answers.pop_front();
		if (ar)
			reading.push_back(new_ar);
		if (aw)
			writing.push_back(new_aw);
		most = std::max(most, static_cast<unsigned>(answers.size() + writing.size()));
		cycle++;
	}

	// Queues a frame of the host's and forgets the last answer.
	void send(uint8_t kind, uint32_t addr, uint32_t len, const std::vector<uint8_t> &payload)
	{
		std::vector<uint8_t> f{ WEFT_FRAME_MAGIC, kind, 7, 0 };
		put32(f, addr);
		put32(f, len);
		put32(f, crc32(f.data(), f.size()));
		if (!payload.empty()) {
			f.insert(f.end(), payload.begin(), payload.end());
			put32(f, crc32(payload.data(), payload.size()));
		}
		to_card.assign(f.begin(), f.end());
		answer.clear();
		complete = false;
	}

	// Sends a frame and waits for the answer. Returns bytes 4 to 7 of the answer's header, which are the status of an
	// ACK, or ~0 if the answer has no header.
	uint32_t frame(uint8_t kind, uint32_t addr, uint32_t len, const std::vector<uint8_t> &payload)
	{
		send(kind, addr, len, payload);
		const uint64_t begin = cycle;
		while (!complete && !fail.failed) {
			tick();
			if (cycle - begin > 4 * static_cast<uint64_t>(len) + 100000 + 64 * static_cast<uint64_t>(slow))
				fail("link: no answer to a frame of %u bytes at 0x%x", len, addr);
		}
		if (answer.size() < 16)
			return ~0u;
		uint32_t status;
		std::memcpy(&status, &answer[4], 4);
		return status;
	}

	static const char *name(uint32_t status)
	{
		return status == WEFT_FRAME_STATUS_OK ? "OK" : status == WEFT_FRAME_STATUS_FENCE ? "FENCE" : "another";
	}

	// A WRITE that should be done, or refused with nothing written.
	void write(uint32_t addr, uint32_t len, uint32_t want, Random &r)
	{
		std::vector<uint8_t> data(len), expected;
		for (auto &x : data)
			x = static_cast<uint8_t>(r.below(256));
		expected = memory;
		if (want == WEFT_FRAME_STATUS_OK)
			std::copy(data.begin(), data.end(), expected.begin() + addr);
		const uint32_t got = frame(WEFT_FRAME_WRITE, addr, len, data);
		if (!fail.failed && got != want)
			fail("link: WRITE of %u bytes at 0x%x: answer %s (%u), expected %s", len, addr, name(got), got, name(want));
		if (!fail.failed && !answers.empty())
			fail("link: WRITE of %u bytes at 0x%x acknowledged with %zu bursts under way", len, addr, answers.size());
		if (!fail.failed && memory != expected)
			fail("link: WRITE of %u bytes at 0x%x left other bytes in memory", len, addr);
	}

	void read(uint32_t addr, uint32_t len, bool inside)
	{
		frame(WEFT_FRAME_READ, addr, len, {});
		if (fail.failed)
			return;
		const bool data = answer[1] == WEFT_FRAME_DATA;
		if (data != inside)
			fail("link: READ of %u bytes at 0x%x is %s", len, addr, data ? "answered" : "refused");
		else if (inside && (answer.size() != 20 + len || !std::equal(memory.begin() + addr, memory.begin() + addr + len, answer.begin() + 16)))
			fail("link: READ of %u bytes at 0x%x brings other bytes", len, addr);
	}

	// Sends a message of the host's. The link answers nothing; software reads the words, in any order.
	void message_in(const std::vector<uint32_t> &words, Random &r)
	{
		std::vector<uint8_t> data;
		for (const uint32_t w : words)
			put32(data, w);
		const auto len = static_cast<uint32_t>(data.size());
		send(WEFT_FRAME_MSG, 0, len, data);
		for (unsigned i = 0; i < 10000 && reg_read(WEFT_CHIP_LINK_STATUS) != WEFT_CHIP_LINK_STATUS_RX_VALID_MASK; i++)
			tick();
		if (reg_read(WEFT_CHIP_LINK_STATUS) != WEFT_CHIP_LINK_STATUS_RX_VALID_MASK || !answer.empty())
			fail("link: a message of %u bytes: status %u, %zu bytes of an answer", len, reg_read(WEFT_CHIP_LINK_STATUS), answer.size());
		else if (reg_read(WEFT_CHIP_LINK_RX_LEN) != len || reg_read(WEFT_CHIP_LINK_RX_SEQ) != 7)
			fail("link: message 7 of %u bytes is number %u of %u", len, reg_read(WEFT_CHIP_LINK_RX_SEQ), reg_read(WEFT_CHIP_LINK_RX_LEN));
		const auto first = r.below(static_cast<uint32_t>(words.size()));
		for (uint32_t i = 0; i < words.size() && !fail.failed; i++) {
			const uint32_t at = (first + i) % static_cast<uint32_t>(words.size()), word = reg_read(WEFT_CHIP_LINK_RX + 4 * at);
			if (word != words[at])
				fail("link: word %u of a message of %u bytes is 0x%08x, not 0x%08x", at, len, word, words[at]);
		}
		reg(WEFT_CHIP_LINK_RX_DONE, 1);
		if (!fail.failed && reg_read(WEFT_CHIP_LINK_STATUS))
			fail("link: a message is there that was taken");
	}

	// Lets software send a message, which has to come out as a frame.
	void message_out(const std::vector<uint32_t> &words, uint32_t seq)
	{
		std::vector<uint8_t> data, want{ WEFT_FRAME_MAGIC, WEFT_FRAME_REPLY, static_cast<uint8_t>(seq), static_cast<uint8_t>(seq >> 8) };
		const auto len = static_cast<uint32_t>(4 * words.size());
		put32(want, 0);
		put32(want, len);
		put32(want, crc32(want.data(), want.size()));
		for (uint32_t i = 0; i < words.size(); i++) {
			put32(data, words[i]);
			reg(WEFT_CHIP_LINK_TX + 4 * i, words[i]);
		}
		want.insert(want.end(), data.begin(), data.end());
		put32(want, crc32(data.data(), data.size()));
		reg(WEFT_CHIP_LINK_TX_LEN, len);
		reg(WEFT_CHIP_LINK_TX_SEQ, seq);
		answer.clear();
		complete = false;
		reg(WEFT_CHIP_LINK_TX_SEND, 1);
		for (unsigned i = 0; i < 10000 && !complete; i++)
			tick();
		tick();
		if (answer != want)
			fail("link: a message of %u bytes goes out as another frame of %zu bytes", len, answer.size());
		else if (reg_read(WEFT_CHIP_LINK_STATUS))
			fail("link: a message of %u bytes has gone out, but the link is busy", len);
	}
};

int bench_link_edges(char *msg)
{
	Random r(1);
	for (const uint32_t limit : { 0x20000u, 0x20001u, 0x2fff7u }) {
		const uint32_t base = 0x10003;
		struct Case {
			uint32_t addr, len;
			bool inside;
		} cases[] = { { limit - 40, 40, true }, { limit - 40, 41, false }, { limit - 1, 1, true }, { limit, 1, false },
			      { base, 33, true },       { base - 1, 33, false },   { base - 1, 1, false },  { 0xffffffff, 2, false } };
		for (const Case &c : cases) {
			LinkBench b(msg);
			b.fence(base, limit);
			b.write(c.addr, c.len, c.inside ? WEFT_FRAME_STATUS_OK : WEFT_FRAME_STATUS_FENCE, r);
			if (!b.fail.failed)
				b.read(c.addr, c.len, c.inside);
			if (b.fail.failed)
				return -1;
		}
	}
	// The end of memory binds where the fence goes beyond it; lengths up to the largest.
	LinkBench b(msg);
	b.fence(0, 2 * kMemory);
	b.write(kMemory - 8, 8, WEFT_FRAME_STATUS_OK, r);
	if (!b.fail.failed)
		b.write(17, WEFT_FRAME_WRITE_MAX, WEFT_FRAME_STATUS_OK, r);
	if (!b.fail.failed)
		b.read(17, WEFT_FRAME_WRITE_MAX, true);
	if (!b.fail.failed)
		b.write(kMemory - 8, 9, WEFT_FRAME_STATUS_FENCE, r);
	return b.fail.failed ? -1 : 0;
}

int bench_link_slow(uint64_t seed, unsigned n, unsigned *most, char *msg)
{
	Random r(seed);
	LinkBench b(msg);
	b.fence(0, kMemory);
	for (unsigned i = 0; i < n && !b.fail.failed; i++) {
		b.slow = r.below(2) ? r.below(40) : 500 + r.below(6000);
		b.write(r.below(kMemory / 2), 1 + r.below(r.below(2) ? 100 : 9000), WEFT_FRAME_STATUS_OK, r);
	}
	*most = b.most;
	return b.fail.failed ? -1 : 0;
}

int bench_link_messages(uint64_t seed, unsigned n, char *msg)
{
	Random r(seed);
	LinkBench b(msg);
	for (unsigned i = 0; i < 2 * n && !b.fail.failed; i++) {
		std::vector<uint32_t> words(i < 8 ? WEFT_FRAME_MSG_MAX / 4 : 1 + r.below(WEFT_FRAME_MSG_MAX / 4));
		for (auto &w : words)
			w = r.below(0xffffffff);
		if (i % 2)
			b.message_in(words, r);
		else
			b.message_out(words, r.below(65536));
	}
	return b.fail.failed ? -1 : 0;
}

struct RegisterBench : Bench {
	explicit RegisterBench(char *msg) : Bench(msg) {}

	uint32_t read(uint32_t addr)
	{
		t.reg_req_i = 1;
		t.reg_we_i = 0;
		t.reg_addr_i = static_cast<uint16_t>(addr);
		t.eval();
		const uint32_t value = t.reg_rdata_o;
		t.reg_req_i = 0;
		return value;
	}
};

int bench_registers(uint64_t seed, unsigned n, char *msg)
{
	static const struct {
		uint32_t addr;
		const char *name;
	} counter[] = {
		{ WEFT_REG_CNT_CYCLES, "cycles" },           { WEFT_REG_CNT_LD_BUSY, "ld_busy" },
		{ WEFT_REG_CNT_ST_BUSY, "st_busy" },         { WEFT_REG_CNT_CV_BUSY, "cv_busy" },
		{ WEFT_REG_CNT_VE_BUSY, "ve_busy" },         { WEFT_REG_CNT_CV_STALL_ACT, "cv_stall_act" },
		{ WEFT_REG_CNT_CV_STALL_WGT, "cv_stall_wgt" }, { WEFT_REG_CNT_CV_STALL_POST, "cv_stall_post" },
		{ WEFT_REG_CNT_SP_CONFLICT, "sp_conflict" }, { WEFT_REG_CNT_RD_BYTES, "rd_bytes" },
		{ WEFT_REG_CNT_WR_BYTES, "wr_bytes" },       { WEFT_REG_CNT_CMDS, "cmds" },
	};
	constexpr unsigned kCounters = sizeof(counter) / sizeof(counter[0]);
	Random r(seed);
	RegisterBench b(msg);
	auto &t = b.t;
	uint64_t sum[kCounters] = {};
	uint32_t status = 0, enable = 0;      // bit 0 done, bit 1 fault

	for (unsigned i = 0; i < n && !b.fail.failed; i++) {
		t.running_i = r.below(8) != 0;
		t.clear_i = r.below(500) == 0;
		t.active_i = static_cast<uint8_t>(r.below(16));
		t.retire_i = static_cast<uint8_t>(r.below(16));
		t.stalls_i = static_cast<uint8_t>(r.below(8));
		t.conflicts_i = static_cast<uint8_t>(r.below(10));
		t.rd_bytes_i = static_cast<uint8_t>(r.below(17));
		t.wr_bytes_i = static_cast<uint8_t>(r.below(17));
		t.done_pulse_i = r.below(4) == 0;
		t.fault_pulse_i = !t.done_pulse_i && r.below(4) == 0;
		// Cleared by writing ones, often in the very cycle in which it is set.
		const unsigned what = r.below(8);
		const uint32_t bits = r.below(4);
		t.reg_req_i = t.reg_we_i = what < 3;
		t.reg_addr_i = what == 2 ? WEFT_REG_IRQ_ENABLE : WEFT_REG_IRQ_STATUS;
		t.reg_wdata_i = bits;
		b.edge();
		if (what < 2)
			status &= ~bits;
		if (what == 2)
			enable = bits;
		status |= static_cast<uint32_t>(t.done_pulse_i) | static_cast<uint32_t>(t.fault_pulse_i) << 1;
		const uint64_t add[kCounters] = { 1, t.active_i & 1u, t.active_i >> 1 & 1u, t.active_i >> 2 & 1u, t.active_i >> 3 & 1u,
			                          t.stalls_i & 1u, t.stalls_i >> 1 & 1u, t.stalls_i >> 2 & 1u, t.conflicts_i, t.rd_bytes_i,
			                          t.wr_bytes_i, static_cast<uint64_t>(__builtin_popcount(t.retire_i)) };
		for (unsigned k = 0; k < kCounters; k++)
			sum[k] = t.clear_i ? 0 : sum[k] + (t.running_i ? add[k] : 0);
		const uint32_t got = b.read(WEFT_REG_IRQ_STATUS);
		if (got != status)
			b.fail("registers: irq_status is %u in cycle %u, expected %u", got, i, status);
		if (t.irq_o != ((status & enable) != 0))
			b.fail("registers: irq_o is %d in cycle %u, with status %u and enable %u", t.irq_o, i, status, enable);
		const unsigned k = r.below(kCounters);
		const uint32_t count = b.read(counter[k].addr);
		if (count != static_cast<uint32_t>(sum[k]))
			b.fail("registers: %s is %u in cycle %u, expected %llu", counter[k].name, count, i,
			       static_cast<unsigned long long>(sum[k]));
	}
	return b.fail.failed ? -1 : 0;
}

int bench_resets(uint64_t seed, unsigned n, char *msg)
{
	static const char *const who[] = { "power", "watchdog", "software", "host" };
	Random r(seed);
	Bench b(msg);
	auto &t = b.t;
	unsigned low = 0;

	for (unsigned i = 0; i <= n && !b.fail.failed; i++) {
		const unsigned kind = i == 0 ? 0 : 1 + r.below(3);
		const uint32_t cause[] = { WEFT_CHIP_CAUSE_POWER, WEFT_CHIP_CAUSE_WATCHDOG, WEFT_CHIP_CAUSE_SOFTWARE, WEFT_CHIP_CAUSE_HOST };
		// A host's request wins over software's, and that over the watchdog's.
		t.watchdog_i = kind == 1 || (kind > 1 && r.below(2));
		t.software_i = kind == 2 || (kind > 2 && r.below(2));
		t.host_i = kind == 3;
		b.edge();
		t.watchdog_i = t.software_i = t.host_i = 0;
		for (low = 0; low < 100; low++) {
			b.edge();
			if (t.rst_chip_no)
				break;
			if (t.rst_npu_no || t.rst_link_no)
				b.fail("resets: the chip is reset, but not NPU and link");
		}
		if (kind == 0)
			low += 2;   // the edge above, and that at which power's reset was seen to end
		if (low != (kind ? 15u : 16u))
			b.fail("resets: %s resets for %u cycles, expected %u", who[kind], low, kind ? 15 : 16);
		if (t.cause_o != cause[kind])
			b.fail("resets: cause %u behind a request of %s", t.cause_o, who[kind]);
		for (unsigned k = 0; k < 40; k++) {
			b.edge();
			if (t.irq_timer_o)
				b.fail("resets: the timer's interrupt is due %u cycles behind a reset by %s", k, who[kind]);
			if (!t.rst_chip_no)
				b.fail("resets: reset again without a request");
		}
		// The timer does come where it is asked for, so that the reset has something to undo.
		t.sys_req_i = t.sys_write_i = 1;
		t.sys_addr_i = WEFT_CHIP_TIMER_CMP_HI;
		t.sys_wdata_i = 0;
		b.edge();
		t.sys_addr_i = WEFT_CHIP_TIMER_CMP_LO;
		t.sys_wdata_i = 0;
		b.edge();
		t.sys_req_i = t.sys_write_i = 0;
		b.edge();
		b.edge();
		if (!t.irq_timer_o)
			b.fail("resets: the timer's interrupt does not come");
	}
	return b.fail.failed ? -1 : 0;
}

// The chip's window of the flash: its second half, as weft_blocks_bench has it.
constexpr uint8_t kWindow = 0x20, kInside = 0x1f;     // in an address' first byte

struct FlashBench : Bench {
	std::vector<uint8_t> seen;         // whole bytes at the pins since the selection
	unsigned bits = 0, byte = 0;
	bool old_sck = false;

	explicit FlashBench(char *msg) : Bench(msg) {}

	void tick()
	{
		edge();
		if (!t.spi_cs_no && t.spi_sck_o && !old_sck) {
			byte = byte << 1 | t.spi_mosi_o;
			if (++bits % 8 == 0)
				seen.push_back(static_cast<uint8_t>(byte));
		}
		old_sck = t.spi_sck_o;
	}

	// One write of a register; the bytes that follow from it have left when it returns.
	void write(uint16_t addr, uint32_t value)
	{
		t.flash_req_i = 1;
		t.flash_addr_i = addr;
		t.flash_wdata_i = value;
		tick();
		t.flash_req_i = 0;
		for (unsigned i = 0; i < 200 && !t.flash_ready_o; i++)
			tick();
	}
};

int bench_flash_window(uint64_t seed, unsigned n, unsigned *passed, unsigned *refused, char *msg)
{
	static const uint8_t commands[] = { WEFT_FLASH_CMD_READ, WEFT_FLASH_CMD_READ_STATUS, WEFT_FLASH_CMD_JEDEC_ID, WEFT_FLASH_CMD_WRITE_ENABLE,
		                            WEFT_FLASH_CMD_PROGRAM, WEFT_FLASH_CMD_SECTOR_ERASE, WEFT_FLASH_CMD_HALF_ERASE,
		                            WEFT_FLASH_CMD_BLOCK_ERASE, WEFT_FLASH_CMD_CHIP_ERASE, WEFT_FLASH_CMD_WRITE_STATUS };
	Random r(seed);
	FlashBench b(msg);

	*passed = *refused = 0;
	for (unsigned i = 0; i < n && !b.fail.failed; i++) {
		if (i == n / 2)
			b.write(WEFT_CHIP_FLASH_LOCK, 1);
		const bool locked = i >= n / 2, word = r.below(2);
		const unsigned kind = r.below(12);
		const uint8_t command = kind < 10 ? commands[kind] : static_cast<uint8_t>(r.below(256));
		// Often the locked 64 KiB, and often addresses that are another byte's in the window.
		const uint8_t upper = static_cast<uint8_t>(r.below(2) ? r.below(256) : r.below(8) << 5);
		const uint32_t rest = r.below(1 << 16), data = r.below(1u << 31);
		const bool harmless = std::find(commands, commands + 4, command) != commands + 4;
		const bool writes = command == WEFT_FLASH_CMD_PROGRAM || command == WEFT_FLASH_CMD_SECTOR_ERASE;
		const bool passes = harmless || (writes && word && !(locked && (upper & kInside) == 0));
		std::vector<uint8_t> expected;

		b.seen.clear();
		b.bits = 0;
		b.write(WEFT_CHIP_FLASH_CONTROL, 1);
		b.write(word ? WEFT_CHIP_FLASH_WORD : WEFT_CHIP_FLASH_BYTE, command | static_cast<uint32_t>(upper) << 8 | rest << 16);
		if (passes) {
			// What follows is data, which leaves as it is.
			b.write(WEFT_CHIP_FLASH_WORD, data);
			expected.push_back(command);
			if (word) {
				expected.push_back(kWindow | (upper & kInside));
				expected.push_back(static_cast<uint8_t>(rest));
				expected.push_back(static_cast<uint8_t>(rest >> 8));
			}
			put32(expected, data);
		}
		if (b.seen != expected || b.bits != 8 * expected.size())
			b.fail("flash: command %02x, address %02x%04x as a %s, %s: the flash sees %u bits that begin with %02x %02x, expected %zu", command, upper,
			       rest, word ? "word" : "byte", locked ? "locked" : "not locked", b.bits, b.seen.empty() ? 0 : b.seen[0],
			       b.seen.size() < 2 ? 0 : b.seen[1], 8 * expected.size());
		if (!b.t.spi_cs_no != passes)
			b.fail("flash: command %02x leaves the flash %s", command, passes ? "deselected" : "selected");
		b.write(WEFT_CHIP_FLASH_CONTROL, 0);
		++*(passes ? passed : refused);
	}
	return b.fail.failed ? -1 : 0;
}

} // namespace

extern "C" __attribute__((visibility("default"))) const struct weft_blocks_bench_api *weft_blocks_bench_api(void)
{
	static const struct weft_blocks_bench_api api = { bench_link_edges, bench_link_slow, bench_link_messages, bench_registers, bench_resets,
		                                          bench_flash_window };
	return &api;
}

// SPDX-License-Identifier: Apache-2.0
//
// The Verilated chip behind the C interface of include/weft/chip.h: memory, flash
// and the two byte streams around it. Compiled once per configuration.
#include <weft/chip.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <new>
#include <vector>

#include <sys/mman.h>

#include <weft/gen/msg.h>

#include "verilated.h"

#include "sim/rtl/counted.h"
#include "sim/rtl/memory.h"
#include "sim/rtl/power_up.h"
#include "sim/rtl/wave.h"

extern "C" {
#include "sim/model/flash.h"
}

#define STR_(x) #x
#define STR(x) STR_(x)
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#include VTOP_H
#include STR(CAT(VTOP, ___024root).h)

#if !VM_COVERAGE
#define WEFT_LEAN
// Verilator's own steps of an evaluation.
void CAT(VTOP, ___024root___eval_triggers__act)(CAT(VTOP, ___024root) *);
void CAT(VTOP, ___024root___eval_ico)(CAT(VTOP, ___024root) *);
void CAT(VTOP, ___024root___eval_nba)(CAT(VTOP, ___024root) *);
#endif

#define INSIDE(name) top.rootp->weft_chip__DOT__##name
#define NPU(name) INSIDE(u_npu__DOT__##name)
#define CORE(name) INSIDE(u_ctrl__DOT__u_core__DOT__##name)

namespace {

constexpr uint64_t kDramDefault = 64ull << 20;
constexpr uint64_t kDramUnit = 65536;
constexpr size_t kQueue = 1 << 16;        // bytes that wait on either side
constexpr unsigned kClockKhz = 100000;
constexpr unsigned kIdleSlice = 64;       // cycles that run() lets pass when nothing happens

// A SPI flash at its pins, around the model of its commands.
struct Spi {
	struct flash f;
	bool selected = false, clock = false;
	unsigned n_bits = 0;
	uint8_t out = 0, in = 0xff;

	// What the flash answers never depends on the byte that goes out meanwhile.
	void next_byte()
	{
		struct flash guess = f;
		n_bits = 0;
		in = flash_byte(&guess, 0);
	}

	void pins(bool cs_n, bool sck, bool mosi)
	{
		if (selected == cs_n) {
			selected = !cs_n;
			flash_select(&f, selected);
			if (selected)
				next_byte();
		}
		if (selected && sck && !clock) {
			out = static_cast<uint8_t>(out << 1 | mosi);
			if (++n_bits == 8) {
				flash_byte(&f, out);
				next_byte();
			}
		}
		clock = sck;
	}

	bool miso() const { return in >> (7 - n_bits) & 1; }
};

struct Chip {
	// A context that may trace; the default one would dangle after close().
	struct Context : VerilatedContext {
		Context()
		{
			power_up_at_random(*this);
			traceEverOn(true);
		}
	} ctx;
	VTOP top;
	Memory memory;
	std::unique_ptr<Wave> wave;
	Spi spi;
	uint8_t *dram = nullptr;
	uint64_t dram_bytes;
	uint64_t cycle = 0, n_instr = 0;
	int64_t bus_fault_at = -1;    // the load with this index is to get a bus error
	bool news = true;             // an input has changed since the last edge, or the harness has written a register
	std::deque<uint8_t> in;
	std::deque<uint16_t> out;     // bit 8: last of its frame
	const char *failed = nullptr; // why it cannot go on: an exception has come, and its state is half done

	Chip(weft_rtl_profile profile, uint64_t bytes)
		: top(&ctx, "chip"), memory(profile, sizeof(top.m_wdata_o), false), dram_bytes(bytes)
	{
	}

	~Chip()
	{
		if (wave)
			wave->close();
		top.final();
		keep_counts(ctx, top, "chip");
		Verilated::threadContextp(&ctx);
		if (dram)
			munmap(dram, dram_bytes);
	}

	template <typename T> void set(T &input, T value)
	{
		news |= input != value;
		input = value;
	}

	void drive_streams()
	{
		set<CData>(top.in_valid_i, !in.empty());
		if (!in.empty())
			set<CData>(top.in_data_i, in.front());
		set<CData>(top.out_ready_i, out.size() < kQueue);
	}

	void drive()
	{
		drive_memory_port(top, memory.out());
		drive_streams();
		news = true;
	}

	void streams()
	{
		if (top.in_valid_i && top.in_ready_o)
			in.pop_front();
		if (top.out_valid_o && top.out_ready_i)
			out.push_back(static_cast<uint16_t>(top.out_data_o | top.out_last_o << 8));
	}

	// Does the NPU ask for something in one of its windows but the stream's?
	bool in_window(uint64_t addr)
	{
		const auto &windows = NPU(windows);   // weft_cfg_pkg::windows_t: base, above it size
		for (unsigned i = 1; i < 8; i++) {
			const unsigned bit = 40 * i, word = bit / 32, shift = bit % 32;
			const uint64_t low = (uint64_t(windows[word + 1]) << 32 | windows[word]) >> shift & 0xffffffff;
			const uint32_t size = windows[8 * 40 / 32 + i];
			if (size && addr + 64 > low && addr < low + size)
				return true;
		}
		return false;
	}

	// Is this the read of the load that was picked, once all loads before it have retired?
	bool picked(uint64_t addr)
	{
		const unsigned oldest = NPU(u_cmd__DOT__g_queue__BRA__0__KET____DOT__u_queue__DOT__rptr_q);
		const unsigned issued = NPU(u_cmd__DOT__g_queue__BRA__0__KET____DOT__u_queue__DOT__iptr_q);
		const uint64_t name = NPU(u_cmd__DOT__g_queue__BRA__0__KET____DOT__u_queue__DOT__name)[oldest];
		if (oldest == issued || static_cast<int64_t>(name >> 32) != bus_fault_at || !in_window(addr))
			return false;
		bus_fault_at = -1;
		return true;
	}

#ifdef WEFT_LEAN
	// Verilator's flags that say that the clock of the chip, or that of the NPU, has risen.
	struct { bool *chip = nullptr, *npu = nullptr; } trigger;

	void clocks_low()
	{
		top.clk_i = top.rootp->__Vtrigrprev__TOP__clk_i = 0;
		top.clk_npu_i = top.rootp->__Vtrigrprev__TOP__clk_npu_i = 0;
	}

	bool *triggered()
	{
		auto *r = top.rootp;
		bool *found = nullptr;
		CAT(VTOP, ___024root___eval_triggers__act)(r);
		for (size_t i = 0; i < sizeof(r->__VactTriggered); i++)
			if (r->__VactTriggered.at(i))
				found = &r->__VnbaTriggered.at(i);
		clocks_low();
		return found;
	}

	void find_triggers()
	{
		clocks_low();
		top.eval();
		top.clk_i = 1;
		trigger.chip = triggered();
		top.clk_npu_i = 1;
		trigger.npu = triggered();
	}

	// Clock edges come from the harness alone. Verilator's search for further edges would find none, so it is left out, and the
	// clock inputs stay low. Logic that depends on inputs is evaluated only if an input has changed.
	void settle()
	{
		if (wave) {
			eval_low();
			return;
		}
		if (!trigger.chip)
			find_triggers();
		top.rootp->__VicoTriggered.at(0) = news;
		CAT(VTOP, ___024root___eval_ico)(top.rootp);
	}

	void edge()
	{
		if (wave) {
			eval_high();
			return;
		}
		*trigger.chip = true;
		*trigger.npu = !top.npu_quiet_o;
		CAT(VTOP, ___024root___eval_nba)(top.rootp);
	}
#else
	void settle() { eval_low(); }
	void edge() { eval_high(); }
#endif

	void eval_low()
	{
		top.clk_i = 0;
		top.clk_npu_i = 0;
		top.eval();
		if (wave)
			wave->dump(2 * cycle);
	}

	void eval_high()
	{
		top.clk_i = 1;
		top.clk_npu_i = !top.npu_quiet_o;
		top.eval();
		if (wave)
			wave->dump(2 * cycle + 1);
	}

	// Runs one cycle: settles the logic, reads the outputs, lets the clocks rise, and drives the next inputs. An NPU at rest
	// gets no edge, because evaluating it would take most of the time.
	void tick()
	{
		settle();
		streams();
		Memory::FromChip c = see_memory_port(top);
		if (bus_fault_at >= 0 && c.arvalid && top.m_arready_i)
			c.fail = picked(c.araddr);
		const bool moved = memory.clock(c);
		if (!top.spi_cs_no || spi.selected)
			spi.pins(top.spi_cs_no, top.spi_sck_o, top.spi_mosi_o);
		edge();
		news = moved;
		if (moved)
			drive_memory_port(top, memory.out());
		drive_streams();
		set<CData>(top.spi_miso_i, spi.miso());
		n_instr += CORE(t_retire_q);
		cycle++;
	}

	void ticks(unsigned n)
	{
		while (n--)
			tick();
	}

	// Nothing but time, or a byte in or out, would change anything.
	bool idle()
	{
		return top.idle_o && !(top.in_valid_i && top.in_ready_o) && !top.out_valid_o;
	}

	void forget_streams()
	{
		in.clear();
		out.clear();
		drive();
	}

	void power()
	{
		madvise(dram, dram_bytes, MADV_DONTNEED);
		auto &ram = INSIDE(u_ctrl__DOT__u_ram__DOT__mem);
		for (size_t i = 0; i < sizeof(ram) / sizeof(ram[0]); i++)
			ram[i] = static_cast<uint32_t>(i * 2654435761u);
		memory.in_reset(true);
		forget_streams();
		top.rst_ni = 0;
		ticks(4);
		memory.in_reset(false);
		top.rst_ni = 1;
		news = true;
		reset_is_over(ctx);
		flash_power(&spi.f);
		forget_streams();
	}

	void pulse(CData &line)
	{
		forget_streams();
		line = 1;
		tick();
		line = 0;
		news = true;
		ticks(2);
		forget_streams();
	}
};

int refuse(char *msg, const char *what, unsigned long long got)
{
	std::snprintf(msg, WEFT_DEV_MSG, "chip: %s: %llu", what, got);
	return -EINVAL;
}

int check_options(const weft_chip_options *o, char *msg)
{
	if (!o->config || std::strcmp(o->config, STR(WEFT_CONFIG)) != 0) {
		std::snprintf(msg, WEFT_DEV_MSG, "chip: this simulator is of configuration " STR(WEFT_CONFIG) ", not %s",
		              o->config ? o->config : "(none)");
		return -EINVAL;
	}
	if (!o->rom || o->rom_bytes > WEFT_CHIP_ROM_SIZE || o->rom_bytes % 4)
		return refuse(msg, "bytes of boot ROM, a multiple of 4 up to 16384", o->rom_bytes);
	if (!o->flash || o->flash_bytes != WEFT_FLASH_BYTES)
		return refuse(msg, "bytes of flash, must be 4194304", o->flash_bytes);
	if (o->dram_bytes % kDramUnit || o->dram_bytes > WEFT_CHIP_DRAM_SIZE)
		return refuse(msg, "bytes of card memory, a multiple of 65536 up to 1073741824", o->dram_bytes);
	return 0;
}

int open_wave(Chip *c, const char *file, char *msg)
{
	c->wave.reset(new (std::nothrow) Wave);
	const int err = c->wave ? c->wave->open(c->top, file) : -ENOMEM;
	if (err == -ENOMEM)
		std::snprintf(msg, WEFT_DEV_MSG, "chip: out of memory");
	else if (err)
		std::snprintf(msg, WEFT_DEV_MSG, "chip: %.200s: %s", file, std::strerror(-err));
	return err;
}

// The chip is called from C, which no exception may reach. What needs memory runs in here; if there is none,
// the chip is broken from then on, says so (chip_broken()), and does nothing any more.
template <typename Work> void guarded(Chip *c, Work work)
{
	if (c->failed)
		return;
	try {
		work();
	} catch (const std::bad_alloc &) {
		c->failed = "out of memory";
	} catch (const std::exception &) {
		c->failed = "the simulator has failed";
	}
}

int open_chip(const weft_chip_options *o, void **out, char *msg)
{
	const uint64_t bytes = o->dram_bytes ? o->dram_bytes : kDramDefault;
	std::unique_ptr<Chip> c(new (std::nothrow) Chip(o->memory == WEFT_MEMORY_SRAM ? WEFT_RTL_SRAM : WEFT_RTL_DDR, bytes));
	void *dram = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!c || dram == MAP_FAILED) {
		std::snprintf(msg, WEFT_DEV_MSG, "chip: out of memory");
		return -ENOMEM;
	}
	c->dram = static_cast<uint8_t *>(dram);
	c->memory.map(0, c->dram, bytes);
	std::memcpy(&c->top.rootp->weft_chip__DOT__u_ctrl__DOT__u_rom__DOT__mem[0], o->rom, o->rom_bytes);
	flash_init(&c->spi.f, o->flash);
	if (const int err = o->wave ? open_wave(c.get(), o->wave, msg) : 0)
		return err;
	c->top.dram_bytes_i = static_cast<uint32_t>(bytes);
	c->top.clock_khz_i = kClockKhz;
	c->top.link_reset_i = 0;
	c->top.chip_reset_i = 0;
	c->top.strap_i = 0;
	c->top.spi_miso_i = 1;
	c->power();
	*out = c.release();
	return 0;
}

int chip_open(const weft_chip_options *o, void **out, char *msg)
{
	const int err = check_options(o, msg);
	if (err)
		return err;
	try {
		return open_chip(o, out, msg);
	} catch (const std::exception &) {
		std::snprintf(msg, WEFT_DEV_MSG, "chip: out of memory");
		return -ENOMEM;
	}
}

void chip_close(void *chip)
{
	delete static_cast<Chip *>(chip);
}

size_t chip_put(void *chip, const uint8_t *data, size_t len)
{
	auto *c = static_cast<Chip *>(chip);
	const size_t room = c->in.size() < kQueue ? kQueue - c->in.size() : 0;
	const size_t n = len < room ? len : room;
	guarded(c, [&] {
		c->in.insert(c->in.end(), data, data + n);
		c->drive();
	});
	return c->failed ? 0 : n;
}

size_t chip_get(void *chip, uint8_t *data, size_t len, bool *frame_end)
{
	auto *c = static_cast<Chip *>(chip);
	size_t n = 0;
	*frame_end = false;
	while (n < len && !c->out.empty() && !*frame_end) {
		data[n++] = static_cast<uint8_t>(c->out.front());
		*frame_end = c->out.front() >> 8;
		c->out.pop_front();
	}
	guarded(c, [&] { c->drive(); });
	return n;
}

bool chip_run(void *chip, uint64_t cycles)
{
	auto *c = static_cast<Chip *>(chip);
	unsigned still = 0;
	guarded(c, [&] {
		for (uint64_t i = 0; i < cycles && still < kIdleSlice; i++) {
			c->tick();
			if (c->spi.f.lost_power)
				c->power();
			still = c->idle() ? still + 1 : 0;
		}
	});
	return !c->failed && still == 0;
}

void chip_link_reset(void *chip)
{
	auto *c = static_cast<Chip *>(chip);
	guarded(c, [&] { c->pulse(c->top.link_reset_i); });
}

void chip_reset(void *chip, weft_chip_cause cause)
{
	auto *c = static_cast<Chip *>(chip);
	guarded(c, [&] {
		if (cause == WEFT_CHIP_CAUSE_POWER)
			c->power();
		else
			c->pulse(c->top.chip_reset_i);
	});
}

uint32_t chip_status(void *chip)
{
	auto *c = static_cast<Chip *>(chip);
	return (c->top.link_error_o ? WEFT_USB_STATUS_LINK_ERROR : 0u) | (c->top.link_full_o ? WEFT_USB_STATUS_RX_FULL : 0u) |
	       (!c->out.empty() || c->top.out_valid_o ? WEFT_USB_STATUS_IN_PENDING : 0u) |
	       (c->top.core_sleep_o ? WEFT_USB_STATUS_CORE_IDLE : 0u);
}

int chip_plant(void *chip, const weft_chip_plant *p)
{
	auto *c = static_cast<Chip *>(chip);
	auto &top = c->top;
	c->news = true;
	switch (p->kind) {
	case WEFT_CHIP_PLANT_NONE:
		CORE(fault_hook_q) = 0;
		INSIDE(fault_hook_q) = 0;
		NPU(u_conv__DOT__u_array__DOT__fault_hook_q) = 0;
		c->bus_fault_at = -1;
		c->spi.f.id = WEFT_FLASH_JEDEC_ID;
		return 0;
	case WEFT_CHIP_PLANT_HANG:
		CORE(fault_hook_q) = 1;
		return 0;
	case WEFT_CHIP_PLANT_MEMORY:
		if (p->addr >= c->dram_bytes || p->bit > 7)
			return -EINVAL;
		c->dram[p->addr] ^= static_cast<uint8_t>(1u << p->bit);
		return 0;
	case WEFT_CHIP_PLANT_NPU_HANG:
		INSIDE(fault_hook_q) = 1;
		return 0;
	case WEFT_CHIP_PLANT_POWER_CUT:
		c->spi.f.cut = static_cast<int64_t>(p->addr);
		return 0;
	case WEFT_CHIP_PLANT_FLASH_ID:
		c->spi.f.id = static_cast<uint32_t>(p->addr);
		return 0;
	case WEFT_CHIP_PLANT_NPU_FAULT:
		c->bus_fault_at = static_cast<int64_t>(p->addr);
		return 0;
	case WEFT_CHIP_PLANT_PE:
		NPU(u_conv__DOT__u_array__DOT__fault_hook_q) = 0x80000000u | (static_cast<uint32_t>(p->addr) & 0xff) << 16 |
			(static_cast<uint32_t>(p->addr) & 0xff00) | (p->bit & 0x3f);
		return 0;
	case WEFT_CHIP_PLANT_RAM:
		return -ENOTSUP;
	}
	return -EINVAL;
}

void chip_strap(void *chip, bool held)
{
	auto *c = static_cast<Chip *>(chip);
	c->top.strap_i = held;
	c->news = true;
}

uint64_t chip_cycles(void *chip)
{
	return static_cast<Chip *>(chip)->cycle;
}

uint64_t chip_instret(void *chip)
{
	return static_cast<Chip *>(chip)->n_instr;
}

uint8_t *chip_dram(void *chip)
{
	return static_cast<Chip *>(chip)->dram;
}

const char *chip_broken(void *chip)
{
	const auto *c = static_cast<Chip *>(chip);
	return c->failed ? c->failed : c->memory.broken();
}

} // namespace

extern "C" __attribute__((visibility("default"))) const struct weft_chip_ops *weft_chip_api(void)
{
	static const struct weft_chip_ops ops = {
		WEFT_CHIP_API_VERSION, "rtl", chip_open, chip_close, chip_put, chip_get, chip_run, chip_link_reset,
		chip_reset, chip_status, chip_plant, chip_cycles, chip_instret, chip_dram, chip_broken, chip_strap,
	};
	return &ops;
}

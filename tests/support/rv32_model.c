/* SPDX-License-Identifier: Apache-2.0 */
#include "rv32_model.h"

#include <stdlib.h>
#include <string.h>

#include "sim/model/rv32.h"

struct weft_rv32_bench {
	struct rv32 core;
	uint8_t rom[WEFT_RV32_BENCH_ROM_BYTES], ram[WEFT_RV32_BENCH_RAM_BYTES], *bus;
	size_t bus_bytes;
};

static bool no_load(void *user, uint32_t addr, uint32_t *value)
{
	(void)user, (void)addr, (void)value;
	return false;
}

static bool no_store(void *user, uint32_t addr, uint32_t value)
{
	(void)user, (void)addr, (void)value;
	return false;
}

static void bench_reset(struct weft_rv32_bench *b)
{
	rv32_reset(&b->core, WEFT_RV32_BENCH_ROM);
}

static struct weft_rv32_bench *bench_open(size_t bus_bytes, uint64_t seed)
{
	struct weft_rv32_bench *b = calloc(1, sizeof(*b));

	(void)seed;
	if (!b || !(b->bus = calloc(1, bus_bytes))) {
		free(b);
		return NULL;
	}
	b->bus_bytes = bus_bytes;
	b->core.mem[0] = (struct rv32_mem){ b->ram, WEFT_RV32_BENCH_RAM, sizeof(b->ram), false, 0 };
	b->core.mem[1] = (struct rv32_mem){ b->rom, WEFT_RV32_BENCH_ROM, sizeof(b->rom), true, 0 };
	b->core.mem[2] = (struct rv32_mem){ b->bus, WEFT_RV32_BENCH_BUS, (uint32_t)bus_bytes, false, 0 };
	b->core.bus = (struct rv32_bus){ no_load, no_store, NULL };
	bench_reset(b);
	return b;
}

static void bench_close(struct weft_rv32_bench *b)
{
	if (b)
		free(b->bus);
	free(b);
}

static uint8_t *find(struct weft_rv32_bench *b, uint32_t addr, size_t len)
{
	for (unsigned i = 0; i < RV32_N_MEM; i++) {
		const struct rv32_mem *m = &b->core.mem[i];
		uint32_t off = addr - m->base;

		if (off < m->size && m->size - off >= len)
			return m->data + off;
	}
	return NULL;
}

static bool bench_load(struct weft_rv32_bench *b, uint32_t addr, const void *data, size_t len)
{
	uint8_t *at = find(b, addr, len);

	if (at)
		memcpy(at, data, len);
	return at;
}

static bool bench_peek(struct weft_rv32_bench *b, uint32_t addr, void *data, size_t len)
{
	const uint8_t *at = find(b, addr, len);

	if (at)
		memcpy(data, at, len);
	return at;
}

static void bench_irq(struct weft_rv32_bench *b, bool timer, bool external)
{
	b->core.mip = (timer ? RV32_MIP_MTIP : 0) | (external ? RV32_MIP_MEIP : 0);
}

static int bench_step(struct weft_rv32_bench *b, uint64_t max_cycles, uint32_t *pc)
{
	uint64_t retired = b->core.n_instr, begin = b->core.n_cycles;

	*pc = b->core.pc;
	b->core.limit = begin + 1;
	rv32_run(&b->core);
	if (b->core.n_instr > retired)
		return 1;
	if (b->core.n_cycles > begin)
		return 2;
	rv32_skip(&b->core, max_cycles);
	return 0;
}

static uint32_t bench_reg(struct weft_rv32_bench *b, unsigned i)
{
	return b->core.x[i];
}

static void bench_set_reg(struct weft_rv32_bench *b, unsigned i, uint32_t value)
{
	b->core.x[i] = i ? value : 0;
}

static bool bench_asleep(struct weft_rv32_bench *b)
{
	return b->core.wfi;
}

static uint64_t bench_cycles(struct weft_rv32_bench *b)
{
	return b->core.n_cycles;
}

const struct weft_rv32_bench_api *rv32_model_api(void)
{
	static const struct weft_rv32_bench_api api = {
		.open = bench_open, .close = bench_close, .reset = bench_reset, .load = bench_load, .peek = bench_peek,
		.irq = bench_irq, .step = bench_step, .reg = bench_reg, .set_reg = bench_set_reg,
		.asleep = bench_asleep, .cycles = bench_cycles,
	};

	return &api;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C interface of the Verilated control core, alone with its ROM and RAM.
 *
 * On its bus are `bus_bytes` of memory at 0x8000_0000, which answers after a
 * number of cycles that a seed varies; everything else on the bus answers an
 * error. The shared object's only exported symbol is weft_rv32_bench_api().
 */
#ifndef WEFT_RTL_RV32_H
#define WEFT_RTL_RV32_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_RV32_BENCH_ROM 0x00000000u
#define WEFT_RV32_BENCH_RAM 0x10000000u
#define WEFT_RV32_BENCH_BUS 0x80000000u
#define WEFT_RV32_BENCH_ROM_BYTES 8192u
#define WEFT_RV32_BENCH_RAM_BYTES 65536u

/* What the decoder says of one instruction; values of hw/ctrl/weft_rv32_pkg.sv. */
struct weft_rv32_decoded {
	uint8_t kind, alu, a, rd;
	bool b_imm, rs1_used, rs2_used, jalr;
	uint32_t imm;
};

struct weft_rv32_bench;

struct weft_rv32_bench_api {
	/* In reset until the first step. NULL: out of memory. */
	struct weft_rv32_bench *(*open)(size_t bus_bytes, uint64_t seed);
	void (*close)(struct weft_rv32_bench *b);
	void (*reset)(struct weft_rv32_bench *b);

	/* Bytes of ROM, RAM or the memory on the bus. false: not wholly there. */
	bool (*load)(struct weft_rv32_bench *b, uint32_t addr, const void *data, size_t len);
	bool (*peek)(struct weft_rv32_bench *b, uint32_t addr, void *data, size_t len);

	void (*irq)(struct weft_rv32_bench *b, bool timer, bool external);

	/* Run until an instruction retires or traps, or max_cycles pass. 1: it
	 * retired, 2: it trapped (also an interrupt in front of it), 0: neither. */
	int (*step)(struct weft_rv32_bench *b, uint64_t max_cycles, uint32_t *pc);

	/* As instructions before the last step left it. */
	uint32_t (*reg)(struct weft_rv32_bench *b, unsigned i);
	void (*set_reg)(struct weft_rv32_bench *b, unsigned i, uint32_t value);
	bool (*asleep)(struct weft_rv32_bench *b);
	uint64_t (*cycles)(struct weft_rv32_bench *b);

	void (*decode)(struct weft_rv32_bench *b, uint32_t instr, struct weft_rv32_decoded *d);
};

const struct weft_rv32_bench_api *weft_rv32_bench_api(void);

#ifdef __cplusplus
}
#endif
#endif

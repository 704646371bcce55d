/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control core as an instruction-set simulator: RV32IM, machine mode only,
 * as include/spec/chip.toml ([core]) says. Written from that and the RISC-V
 * manuals; the RTL in hw/ctrl is written separately.
 *
 * Time is estimated: one cycle an instruction, more for loads, stores, taken
 * branches, multiplication, division and devices.
 */
#ifndef WEFT_SIM_MODEL_RV32_H
#define WEFT_SIM_MODEL_RV32_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RV32_N_MEM 3
#define RV32_N_PMP 8

#define RV32_MIP_MTIP (1u << 7)
#define RV32_MIP_MEIP (1u << 11)

/* Memory that the core reaches without asking; instructions come from here only. */
struct rv32_mem {
	uint8_t *data;
	uint32_t base, size;
	bool rom;              /* stores are access faults */
	unsigned wait;         /* extra cycles of a load or store */
};

/* Everything else: 32-bit accesses at multiples of 4. False: access fault. */
struct rv32_bus {
	bool (*load)(void *user, uint32_t addr, uint32_t *value);
	bool (*store)(void *user, uint32_t addr, uint32_t value);
	void *user;
};

struct rv32 {
	uint32_t x[32], pc;
	uint32_t mstatus, mie, mip, mtvec, mscratch, mepc, mcause, mtval;
	uint64_t cycle, instret;   /* mcycle, minstret */
	uint64_t n_cycles;         /* like cycle, but nobody can write it */
	uint64_t n_instr;
	uint8_t pmp_cfg[RV32_N_PMP];       /* as the manual has them; only off and TOR, and what chip.toml says of addresses */
	uint32_t pmp_addr[RV32_N_PMP];
	bool pmp_on;               /* an entry is locked and may refuse */
	uint32_t pmp_fetch;        /* page + 1 whose instructions may be fetched; 0: not known of any */
	bool wfi;                  /* waits; the owner lets time pass */
	uint64_t limit;            /* rv32_run() stops when n_cycles gets there; a device may lower it */
	struct rv32_mem mem[RV32_N_MEM];
	struct rv32_bus bus;
};

/* Registers as after reset; memory, bus, n_cycles and n_instr stay. */
void rv32_reset(struct rv32 *c, uint32_t pc);

/*
 * Take a pending interrupt, then execute until n_cycles reaches limit, or WFI
 * finds nothing pending (wfi is set then). The owner keeps mip current; a device
 * that changes it lowers limit so that this returns.
 */
void rv32_run(struct rv32 *c);

/* Let time pass without instructions. */
void rv32_skip(struct rv32 *c, uint64_t cycles);

#endif

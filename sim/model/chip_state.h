/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the functional chip share; nobody else includes this. */
#ifndef WEFT_SIM_MODEL_CHIP_STATE_H
#define WEFT_SIM_MODEL_CHIP_STATE_H

#include <weft/chip.h>
#include "sim/model/flash.h"
#include "sim/model/link.h"
#include "driver/model.h"
#include "sim/model/rv32.h"
#include "weft/gen/regs.h"

#define NEVER UINT64_MAX

/* The NPU behind its registers: one command at a time, each taking an estimated
 * time, its effects at the end of it. */
struct npu {
	const struct weft_config *cfg;
	struct weft_model *model;
	uint8_t *dram;
	uint64_t dram_bytes;

	uint32_t reg[WEFT_REG_SPACE / 4];   /* those that software writes, and counters */
	bool running, done, fault, hung;
	uint32_t irq_status, fault_code, fault_unit, fault_cmd, fault_tag, fault_info;
	uint32_t retired[WEFT_N_UNITS];

	const uint64_t *words;
	size_t n_words, at;
	uint32_t i_cmd;
	struct weft_cmd cmd;                /* that runs, until event */
	uint64_t start, event;              /* cycles; event NEVER: nothing runs */

	bool hang_next;                     /* planted */
	int64_t fault_at;                   /* planted: command index; -1 */
};

int npu_init(struct npu *n, const struct weft_config *cfg, uint8_t *dram, uint64_t dram_bytes);
void npu_free(struct npu *n);
void npu_hard_reset(struct npu *n);
uint32_t npu_read(struct npu *n, uint32_t addr);
void npu_write(struct npu *n, uint32_t addr, uint32_t value, uint64_t now);
void npu_event(struct npu *n, uint64_t now);
bool npu_irq(const struct npu *n);

struct chip {
	const struct weft_config *cfg;
	struct rv32 core;
	uint8_t rom[WEFT_CHIP_ROM_SIZE], ram[WEFT_CHIP_RAM_SIZE];
	uint8_t *dram;
	uint64_t dram_bytes;
	struct flash flash;
	struct link link;
	struct npu npu;

	uint64_t time_zero;        /* n_cycles at reset */
	enum weft_chip_cause cause;
	uint32_t scratch[WEFT_CHIP_SYS_SCRATCH_COUNT];
	bool npu_reset;
	bool want_reset;           /* software asked */
	uint32_t irq_latched, irq_enable;
	uint64_t timer_cmp;
	bool wdt_on, wdt_warned;
	uint32_t wdt_period;
	uint64_t wdt_kicked;       /* n_cycles */
	uint32_t flash_in;         /* what the last shift brought */
	bool flash_lock, flash_first;  /* nothing shifted since flash_control was written */
	bool strap;                /* of the board's button */
	uint32_t tx_len, tx_seq;   /* as written; the link copies them on send */
	uint32_t fence_perm;
	uint32_t link_resets;      /* by the host, since open */
	bool hung;                 /* planted */
	int64_t touching;          /* planted: offset in RAM of a word with two bits that touch; -1 */
	uint32_t touching_mask;    /* these bits */
};

/* chip_regs.c */
bool chip_load(void *chip, uint32_t addr, uint32_t *value);
bool chip_store(void *chip, uint32_t addr, uint32_t value);
uint64_t chip_time(const struct chip *c);
uint32_t chip_irq_pending(const struct chip *c);

/* chip.c */
void chip_reset(struct chip *c, enum weft_chip_cause cause);

#endif

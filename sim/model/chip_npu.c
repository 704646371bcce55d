/* SPDX-License-Identifier: Apache-2.0 */
/* The NPU's registers in front of the functional model. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "chip_state.h"

int npu_init(struct npu *n, const struct weft_config *cfg, uint8_t *dram, uint64_t dram_bytes)
{
	n->cfg = cfg;
	n->dram = dram;
	n->dram_bytes = dram_bytes;
	n->fault_at = -1;
	n->event = NEVER;
	n->model = weft_model_new(cfg);
	return n->model ? 0 : -ENOMEM;
}

void npu_free(struct npu *n)
{
	weft_model_free(n->model);
}

/* ctrl.reset: everything but windows, stream registers and what concerns interrupts. */
static void soft_reset(struct npu *n)
{
	n->running = n->done = n->fault = false;
	n->fault_code = n->fault_unit = n->fault_cmd = n->fault_tag = n->fault_info = 0;
	n->event = NEVER;
	memset(n->retired, 0, sizeof(n->retired));
	memset(&n->reg[WEFT_REG_CNT_CYCLES / 4], 0, WEFT_REG_CNT_CMDS + 4 - WEFT_REG_CNT_CYCLES);
}

void npu_hard_reset(struct npu *n)
{
	soft_reset(n);
	n->hung = false;
	n->irq_status = 0;
	memset(n->reg, 0, sizeof(n->reg));
	weft_model_reset(n->model);
}

bool npu_irq(const struct npu *n)
{
	return n->irq_status & n->reg[WEFT_REG_IRQ_ENABLE / 4];
}

/* ---- time: rough, from the work that a command states ---- */

static uint64_t mul(uint64_t a, int64_t b)
{
	uint64_t r;

	return b < 0 || __builtin_mul_overflow(a, (uint64_t)b, &r) ? UINT64_MAX >> 2 : r;
}

static uint64_t estimate(const struct npu *n, const struct weft_cmd *c)
{
	uint64_t lanes = n->cfg->n, pixels, blocks;
	const struct weft_cmd_post *p = &c->conv.post; /* first member of most */

	switch (c->h.op) {
	case WEFT_CMD_LOAD:
	case WEFT_CMD_STORE:
		pixels = mul(mul((uint64_t)c->load.n1, c->load.n2), c->load.n3);
		return 100 + mul(pixels, (weft_cmd_load_bytes(&c->load, n->cfg->n) + n->cfg->axi_bytes - 1) / n->cfg->axi_bytes);
	case WEFT_CMD_CONV:
	case WEFT_CMD_DW:
	case WEFT_CMD_POOL:
	case WEFT_CMD_ELT:
		pixels = mul((uint64_t)p->ow, p->oh);
		blocks = ((uint64_t)p->oc + lanes - 1) / lanes;
		if (c->h.op == WEFT_CMD_CONV)
			return 40 + mul(mul(mul((pixels + lanes - 1) / lanes, (int64_t)blocks), (int64_t)c->conv.n_ky * c->conv.n_kx),
			                c->conv.run_len);
		if (c->h.op == WEFT_CMD_POOL)
			return 40 + mul(mul(pixels, (int64_t)blocks), (int64_t)c->pool.n_ky * c->pool.n_kx);
		return 40 + mul(pixels, (int64_t)blocks);
	case WEFT_CMD_ALU:
		return 40 + mul(mul(mul((uint64_t)c->alu.n0, c->alu.n1), c->alu.n2), c->alu.n3) / lanes;
	}
	return 1;
}

/* ---- a stream ---- */

static void latch(struct npu *n, unsigned code, unsigned unit, uint32_t tag, uint32_t info, uint64_t now)
{
	n->fault = true;
	n->running = false;
	n->event = NEVER;
	n->fault_code = code;
	n->fault_unit = unit;
	n->fault_cmd = n->i_cmd;
	n->fault_tag = tag;
	n->fault_info = info;
	n->irq_status |= WEFT_REG_IRQ_STATUS_FAULT_MASK;
	n->reg[WEFT_REG_CNT_CYCLES / 4] = (uint32_t)(now - n->start);
}

static void finish(struct npu *n, uint64_t now)
{
	n->done = true;
	n->running = false;
	n->event = NEVER;
	n->irq_status |= WEFT_REG_IRQ_STATUS_DONE_MASK;
	n->reg[WEFT_REG_CNT_CYCLES / 4] = (uint32_t)(now - n->start);
}

static bool waits_forever(const struct npu *n)
{
	for (unsigned u = 0; u < WEFT_N_UNITS; u++)
		if ((uint32_t)n->cmd.h.wait[u] > n->retired[u])
			return true;
	return false;
}

/* Decode the next command and say when it will be through. */
static void fetch(struct npu *n, uint64_t now)
{
	if (n->at >= n->n_words) {
		latch(n, WEFT_FAULT_STREAM_END, WEFT_UNIT_CP, 0, 0, now);
		return;
	}
	const uint64_t *w = n->words + n->at;
	unsigned code = weft_cmd_fault(w, n->n_words - n->at, n->cfg);
	if (code || weft_cmd_decode(w, n->n_words - n->at, &n->cmd)) {
		latch(n, code, WEFT_UNIT_CP, (uint32_t)(w[0] >> WEFT_CMD_HEADER_TAG_LSB), (uint32_t)w[0], now);
		return;
	}
	n->at += (size_t)n->cmd.h.n_words;
	if (n->cmd.h.op == WEFT_CMD_END) {
		finish(n, now);
		return;
	}
	if (waits_forever(n)) {
		latch(n, WEFT_FAULT_DEADLOCK, WEFT_UNIT_CP, (uint32_t)n->cmd.h.tag, (uint32_t)w[0], now);
		return;
	}
	n->event = now + estimate(n, &n->cmd);
}

static void count(struct npu *n, unsigned unit, uint64_t cycles)
{
	static const uint16_t busy[WEFT_N_UNITS] = { WEFT_REG_CNT_LD_BUSY, WEFT_REG_CNT_ST_BUSY,
		WEFT_REG_CNT_CV_BUSY, WEFT_REG_CNT_VE_BUSY };
	const struct weft_cmd_load *l = &n->cmd.load;

	n->retired[unit]++;
	n->reg[WEFT_REG_CNT_CMDS / 4]++;
	n->reg[busy[unit] / 4] += (uint32_t)cycles;
	if (n->cmd.h.op == WEFT_CMD_LOAD || n->cmd.h.op == WEFT_CMD_STORE) {
		uint64_t bytes = (uint64_t)weft_cmd_load_bytes(l, n->cfg->n) * (uint64_t)l->n1 * (uint64_t)l->n2 * (uint64_t)l->n3;
		n->reg[(n->cmd.h.op == WEFT_CMD_LOAD ? WEFT_REG_CNT_RD_BYTES : WEFT_REG_CNT_WR_BYTES) / 4] += (uint32_t)bytes;
	}
}

/* The command that ran is through: its effects, then the next one. */
void npu_event(struct npu *n, uint64_t now)
{
	struct weft_model_fault f;

	if (now < n->event)
		return;
	n->event = NEVER;
	unsigned unit = weft_cmd_info((unsigned)n->cmd.h.op)->unit;
	if (n->fault_at == n->i_cmd) {
		n->fault_at = -1;
		latch(n, WEFT_FAULT_BUS, WEFT_UNIT_LD, (uint32_t)n->cmd.h.tag, 0, now);
		return;
	}
	if (weft_model_exec(n->model, &n->cmd, &f)) {
		bool late = f.code == WEFT_FAULT_SP_RANGE || f.code == WEFT_FAULT_WINDOW;
		latch(n, f.code, late ? unit : WEFT_UNIT_CP, (uint32_t)n->cmd.h.tag, f.info, now);
		return;
	}
	count(n, unit, estimate(n, &n->cmd));
	n->i_cmd++;
	fetch(n, now);
}

/* Card memory behind window i, cut to what exists. */
static struct weft_model_window window(const struct npu *n, unsigned i)
{
	uint64_t base = n->reg[WEFT_REG_WIN_BASE_LO(i) / 4] | (uint64_t)n->reg[WEFT_REG_WIN_BASE_HI(i) / 4] << 32;
	uint64_t size = n->reg[WEFT_REG_WIN_SIZE(i) / 4];
	uint32_t ctrl = n->reg[WEFT_REG_WIN_CTRL(i) / 4];

	if (base >= n->dram_bytes)
		size = 0;
	else if (size > n->dram_bytes - base)
		size = n->dram_bytes - base;
	return (struct weft_model_window){ .data = size ? n->dram + base : NULL, .size = size,
		.rd = ctrl & WEFT_REG_WIN_CTRL_READ_MASK, .wr = ctrl & WEFT_REG_WIN_CTRL_WRITE_MASK };
}

static void start(struct npu *n, uint64_t now)
{
	uint64_t off = n->reg[WEFT_REG_STREAM_OFF / 4], words = n->reg[WEFT_REG_STREAM_WORDS / 4];

	if (n->running || n->fault || n->hung)
		return;
	soft_reset(n);
	weft_model_reset(n->model);
	for (unsigned i = 0; i < WEFT_N_WINDOWS; i++) {
		struct weft_model_window w = window(n, i);
		weft_model_set_window(n->model, i, &w);
	}
	struct weft_model_window s = window(n, 0);
	n->running = true;
	n->start = now;
	n->i_cmd = 0;
	n->at = 0;
	if (n->hang_next) {
		n->hang_next = false;
		n->hung = true;
		return;
	}
	if (!s.rd || off % 64 || off > s.size || words > (s.size - off) / 8 || (uintptr_t)(s.data + off) % 8) {
		latch(n, WEFT_FAULT_WINDOW, WEFT_UNIT_CP, 0, (uint32_t)off, now);
		return;
	}
	n->words = (const uint64_t *)(const void *)(s.data + off);
	n->n_words = words;
	if (n->fault_at >= 0 && !words)
		n->fault_at = -1;
	fetch(n, now);
}

/* ---- registers ---- */

uint32_t npu_read(struct npu *n, uint32_t addr)
{
	switch (addr) {
	case WEFT_REG_ID:
		return WEFT_REG_ID_VALUE;
	case WEFT_REG_VERSION:
		return WEFT_REG_VERSION_VALUE;
	case WEFT_REG_CONFIG:
		return n->cfg->reg_config;
	case WEFT_REG_FEATURES:
		return n->cfg->features;
	case WEFT_REG_CTRL:
		return 0;
	case WEFT_REG_STATUS:
		return (n->running || n->hung ? WEFT_REG_STATUS_BUSY_MASK : 0) | (n->done ? WEFT_REG_STATUS_DONE_MASK : 0) |
		       (n->fault ? WEFT_REG_STATUS_FAULT_MASK : 0);
	case WEFT_REG_IRQ_STATUS:
		return n->irq_status;
	case WEFT_REG_FAULT:
		return n->fault_code << WEFT_REG_FAULT_CODE_LSB | n->fault_unit << WEFT_REG_FAULT_UNIT_LSB;
	case WEFT_REG_FAULT_CMD:
		return n->fault_cmd;
	case WEFT_REG_FAULT_TAG:
		return n->fault_tag;
	case WEFT_REG_FAULT_INFO:
		return n->fault_info;
	}
	if (addr >= WEFT_REG_RETIRED_LD && addr <= WEFT_REG_RETIRED_VE)
		return n->retired[(addr - WEFT_REG_RETIRED_LD) / 4];
	return n->reg[addr / 4];
}

/* What may be written: bits of the windows' registers that exist. */
static uint32_t window_mask(uint32_t addr)
{
	switch (addr & 0xf) {
	case 0x0:
		return ~63u;
	case 0x4:
		return (1u << (WEFT_DRAM_ADDR_BITS - 32)) - 1;
	case 0xc:
		return WEFT_REG_WIN_CTRL_READ_MASK | WEFT_REG_WIN_CTRL_WRITE_MASK;
	}
	return ~0u;
}

void npu_write(struct npu *n, uint32_t addr, uint32_t value, uint64_t now)
{
	if (addr >= WEFT_REG_WIN_BASE_LO(0) && addr <= WEFT_REG_WIN_CTRL(WEFT_N_WINDOWS - 1)) {
		n->reg[addr / 4] = value & window_mask(addr);
		return;
	}
	switch (addr) {
	case WEFT_REG_CTRL:
		if (value & WEFT_REG_CTRL_RESET_MASK)
			soft_reset(n);
		else if (value & WEFT_REG_CTRL_START_MASK)
			start(n, now);
		break;
	case WEFT_REG_IRQ_STATUS:
		n->irq_status &= ~value;
		break;
	case WEFT_REG_IRQ_ENABLE:
		n->reg[addr / 4] = value & (WEFT_REG_IRQ_ENABLE_DONE_MASK | WEFT_REG_IRQ_ENABLE_FAULT_MASK);
		break;
	case WEFT_REG_STREAM_OFF:
	case WEFT_REG_STREAM_WORDS:
		n->reg[addr / 4] = value;
		break;
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The chip's registers (include/spec/chip.toml) as the core's loads and stores meet them. */
#include <string.h>

#include "chip_state.h"

#define CLOCK_KHZ 100000

static void set_half(uint64_t *v, bool high, uint32_t half)
{
	*v = high ? (uint64_t)half << 32 | (uint32_t)*v : (*v >> 32 << 32) | half;
}

uint64_t chip_time(const struct chip *c)
{
	return c->core.n_cycles - c->time_zero;
}

uint32_t chip_irq_pending(const struct chip *c)
{
	return c->irq_latched | (c->link.rx_valid ? WEFT_CHIP_IRQ_PENDING_LINK_RX_MASK : 0) |
	       (c->link.tx_busy ? 0 : WEFT_CHIP_IRQ_PENDING_LINK_TX_MASK) |
	       (npu_irq(&c->npu) ? WEFT_CHIP_IRQ_PENDING_NPU_MASK : 0);
}

static uint32_t read_buffer(const uint8_t *from)
{
	return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

/* Would these bytes, the first of a selection, begin a write where flash_lock forbids it, or might they? */
static bool locked(uint32_t out, unsigned n_bytes)
{
	const uint32_t address = (out >> 8 & 0xff) << 16 | (out >> 16 & 0xff) << 8 | out >> 24;

	switch (out & 0xff) {
	case WEFT_FLASH_CMD_READ:
	case WEFT_FLASH_CMD_READ_STATUS:
	case WEFT_FLASH_CMD_JEDEC_ID:
	case WEFT_FLASH_CMD_WRITE_ENABLE:
		return false;
	case WEFT_FLASH_CMD_PROGRAM:
	case WEFT_FLASH_CMD_SECTOR_ERASE:
		return n_bytes != 4 || address % WEFT_FLASH_BYTES < WEFT_FLASH_LOCKED_BYTES;
	}
	return true;
}

/* Eight clocks at half the core's for each byte. */
static void shift(struct chip *c, uint32_t out, unsigned n_bytes)
{
	if (c->flash_lock && c->flash_first && locked(out, n_bytes)) {
		flash_select(&c->flash, false);
		return;
	}
	c->flash_first = false;
	c->flash_in = 0;
	for (unsigned i = 0; i < n_bytes; i++)
		c->flash_in |= (uint32_t)flash_byte(&c->flash, (uint8_t)(out >> 8 * i)) << 8 * i;
	rv32_skip(&c->core, 16 * n_bytes);
}

static uint32_t sys_read(const struct chip *c, uint32_t reg)
{
	if (reg >= WEFT_CHIP_SYS_SCRATCH(0) && reg < WEFT_CHIP_SYS_SCRATCH(WEFT_CHIP_SYS_SCRATCH_COUNT))
		return c->scratch[(reg - WEFT_CHIP_SYS_SCRATCH(0)) / 4];
	switch (reg) {
	case WEFT_CHIP_SYS_ID:
		return WEFT_CHIP_ID_VALUE;
	case WEFT_CHIP_SYS_VERSION:
		return WEFT_CHIP_VERSION_VALUE;
	case WEFT_CHIP_SYS_DRAM_BYTES:
		return (uint32_t)c->dram_bytes;
	case WEFT_CHIP_SYS_CLOCK_KHZ:
		return CLOCK_KHZ;
	case WEFT_CHIP_SYS_RESET_CAUSE:
		return c->cause;
	case WEFT_CHIP_SYS_STRAP:
		return c->strap ? WEFT_CHIP_SYS_STRAP_RESCUE_MASK : 0;
	case WEFT_CHIP_SYS_CONTROL:
		return c->npu_reset ? WEFT_CHIP_SYS_CONTROL_NPU_RESET_MASK : 0;
	}
	return 0;
}

static uint32_t link_read(const struct chip *c, uint32_t reg)
{
	const struct link *l = &c->link;

	switch (reg) {
	case WEFT_CHIP_LINK_STATUS:
		return (l->rx_valid ? WEFT_CHIP_LINK_STATUS_RX_VALID_MASK : 0) |
		       (l->tx_busy ? WEFT_CHIP_LINK_STATUS_TX_BUSY_MASK : 0) | (l->error ? WEFT_CHIP_LINK_STATUS_ERROR_MASK : 0);
	case WEFT_CHIP_LINK_RX_LEN:
		return l->rx_len;
	case WEFT_CHIP_LINK_RX_SEQ:
		return l->rx_seq;
	case WEFT_CHIP_LINK_TX_LEN:
		return c->tx_len;
	case WEFT_CHIP_LINK_TX_SEQ:
		return c->tx_seq;
	case WEFT_CHIP_LINK_FENCE_BASE:
		return l->fence_base;
	case WEFT_CHIP_LINK_FENCE_LIMIT:
		return l->fence_limit;
	case WEFT_CHIP_LINK_FENCE_PERM:
		return c->fence_perm;
	case WEFT_CHIP_LINK_WRITTEN:
		return WEFT_CHIP_LINK_WRITTEN_COUNTS_MASK |
		       (l->written ? WEFT_CHIP_LINK_WRITTEN_ANY_MASK | (uint32_t)((l->written - 1) >> 16) : 0);
	case WEFT_CHIP_LINK_FRAMES_IN:
		return l->count.frames_in;
	case WEFT_CHIP_LINK_FRAMES_OUT:
		return l->count.frames_out;
	case WEFT_CHIP_LINK_HEADER_ERRORS:
		return l->count.header_errors;
	case WEFT_CHIP_LINK_PAYLOAD_ERRORS:
		return l->count.payload_errors;
	case WEFT_CHIP_LINK_REFUSED:
		return l->count.refused;
	}
	return 0;
}

static uint32_t wdt_left(const struct chip *c)
{
	return c->wdt_on ? (uint32_t)(c->wdt_kicked + c->wdt_period - c->core.n_cycles) : ~0u;
}

static uint32_t reg_read(struct chip *c, uint32_t reg)
{
	if (reg >= WEFT_CHIP_LINK_RX && reg < WEFT_CHIP_LINK_RX + WEFT_CHIP_LINK_RX_BYTES)
		return read_buffer(c->link.rx + (reg - WEFT_CHIP_LINK_RX));
	switch (reg) {
	case WEFT_CHIP_IRQ_PENDING:
		return chip_irq_pending(c);
	case WEFT_CHIP_IRQ_ENABLE:
		return c->irq_enable;
	case WEFT_CHIP_TIMER_LO:
		return (uint32_t)chip_time(c);
	case WEFT_CHIP_TIMER_HI:
		return (uint32_t)(chip_time(c) >> 32);
	case WEFT_CHIP_TIMER_CMP_LO:
		return (uint32_t)c->timer_cmp;
	case WEFT_CHIP_TIMER_CMP_HI:
		return (uint32_t)(c->timer_cmp >> 32);
	case WEFT_CHIP_WDT_PERIOD:
		return c->wdt_period;
	case WEFT_CHIP_WDT_CONTROL:
		return c->wdt_on;
	case WEFT_CHIP_WDT_LEFT:
		return wdt_left(c);
	case WEFT_CHIP_FLASH_CONTROL:
		return c->flash.selected;
	case WEFT_CHIP_FLASH_BYTE:
		return c->flash_in & 0xff;
	case WEFT_CHIP_FLASH_WORD:
		return c->flash_in;
	case WEFT_CHIP_FLASH_LOCK:
		return c->flash_lock;
	}
	return reg < 0x100 ? sys_read(c, reg) : link_read(c, reg);
}

bool chip_load(void *user, uint32_t addr, uint32_t *value)
{
	struct chip *c = user;

	if (addr - WEFT_CHIP_NPU_BASE < WEFT_CHIP_NPU_SIZE)
		*value = c->npu_reset ? 0 : npu_read(&c->npu, addr - WEFT_CHIP_NPU_BASE);
	else if (addr - WEFT_CHIP_CHIP_BASE < WEFT_CHIP_CHIP_SIZE)
		*value = reg_read(c, addr - WEFT_CHIP_CHIP_BASE);
	else
		return false;
	return true;
}

static void sys_write(struct chip *c, uint32_t reg, uint32_t value)
{
	if (reg >= WEFT_CHIP_SYS_SCRATCH(0) && reg < WEFT_CHIP_SYS_SCRATCH(WEFT_CHIP_SYS_SCRATCH_COUNT)) {
		c->scratch[(reg - WEFT_CHIP_SYS_SCRATCH(0)) / 4] = value;
	} else if (reg == WEFT_CHIP_SYS_CONTROL) {
		c->npu_reset = value & WEFT_CHIP_SYS_CONTROL_NPU_RESET_MASK;
		if (c->npu_reset)
			npu_hard_reset(&c->npu);
	} else if (reg == WEFT_CHIP_SYS_RESET && (value & WEFT_CHIP_SYS_RESET_CHIP_MASK)) {
		c->want_reset = true;
	}
}

static void link_send(struct chip *c)
{
	struct link *l = &c->link;

	if (l->tx_busy || c->tx_len < WEFT_FRAME_MSG_MIN || c->tx_len > WEFT_FRAME_MSG_MAX || c->tx_len % 4)
		return;
	l->tx_len = c->tx_len;
	l->tx_seq = c->tx_seq & 0xffff;
	l->tx_busy = true;
}

static void link_write(struct chip *c, uint32_t reg, uint32_t value)
{
	struct link *l = &c->link;

	switch (reg) {
	case WEFT_CHIP_LINK_RX_DONE:
		if (value & WEFT_CHIP_LINK_RX_DONE_DONE_MASK)
			l->rx_valid = false;
		break;
	case WEFT_CHIP_LINK_TX_LEN:
		c->tx_len = value;
		break;
	case WEFT_CHIP_LINK_TX_SEQ:
		c->tx_seq = value;
		break;
	case WEFT_CHIP_LINK_TX_SEND:
		if (value & WEFT_CHIP_LINK_TX_SEND_SEND_MASK)
			link_send(c);
		break;
	case WEFT_CHIP_LINK_FENCE_BASE:
		l->fence_base = value;
		break;
	case WEFT_CHIP_LINK_FENCE_LIMIT:
		l->fence_limit = value;
		break;
	case WEFT_CHIP_LINK_FENCE_PERM:
		c->fence_perm = value & (WEFT_CHIP_LINK_FENCE_PERM_READ_MASK | WEFT_CHIP_LINK_FENCE_PERM_WRITE_MASK);
		l->fence_read = value & WEFT_CHIP_LINK_FENCE_PERM_READ_MASK;
		l->fence_write = value & WEFT_CHIP_LINK_FENCE_PERM_WRITE_MASK;
		break;
	case WEFT_CHIP_LINK_WRITTEN:
		l->written = 0;
		break;
	}
}

static void tx_write(struct chip *c, uint32_t at, uint32_t value)
{
	for (unsigned i = 0; i < 4; i++)
		c->link.tx[at + i] = (uint8_t)(value >> 8 * i);
}

static void wdt_write(struct chip *c, uint32_t reg, uint32_t value)
{
	if (reg == WEFT_CHIP_WDT_PERIOD && !c->wdt_on)
		c->wdt_period = value;
	if (reg == WEFT_CHIP_WDT_CONTROL && !c->wdt_on && (value & WEFT_CHIP_WDT_CONTROL_ENABLE_MASK))
		c->wdt_on = true;
	else if (reg != WEFT_CHIP_WDT_KICK || value != WEFT_CHIP_KICK_VALUE)
		return;
	c->wdt_kicked = c->core.n_cycles;
	c->wdt_warned = false;
}

static void reg_write(struct chip *c, uint32_t reg, uint32_t value)
{
	if (reg >= WEFT_CHIP_LINK_TX && reg < WEFT_CHIP_LINK_TX + WEFT_CHIP_LINK_TX_BYTES) {
		tx_write(c, reg - WEFT_CHIP_LINK_TX, value);
		return;
	}
	switch (reg) {
	case WEFT_CHIP_IRQ_PENDING:
		c->irq_latched &= ~value;
		return;
	case WEFT_CHIP_IRQ_ENABLE:
		c->irq_enable = value & 0x1f;
		return;
	case WEFT_CHIP_TIMER_CMP_LO:
	case WEFT_CHIP_TIMER_CMP_HI:
		set_half(&c->timer_cmp, reg == WEFT_CHIP_TIMER_CMP_HI, value);
		return;
	case WEFT_CHIP_WDT_PERIOD:
	case WEFT_CHIP_WDT_CONTROL:
	case WEFT_CHIP_WDT_KICK:
		wdt_write(c, reg, value);
		return;
	case WEFT_CHIP_FLASH_CONTROL:
		flash_select(&c->flash, value & WEFT_CHIP_FLASH_CONTROL_CS_MASK);
		c->flash_first = true;
		return;
	case WEFT_CHIP_FLASH_BYTE:
		shift(c, value, 1);
		return;
	case WEFT_CHIP_FLASH_WORD:
		shift(c, value, 4);
		return;
	case WEFT_CHIP_FLASH_LOCK:
		c->flash_lock |= value & WEFT_CHIP_FLASH_LOCK_LOCK_MASK;
		return;
	}
	if (reg < 0x100)
		sys_write(c, reg, value);
	else
		link_write(c, reg, value);
}

bool chip_store(void *user, uint32_t addr, uint32_t value)
{
	struct chip *c = user;

	if (addr - WEFT_CHIP_NPU_BASE < WEFT_CHIP_NPU_SIZE) {
		if (!c->npu_reset)
			npu_write(&c->npu, addr - WEFT_CHIP_NPU_BASE, value, c->core.n_cycles);
	} else if (addr - WEFT_CHIP_CHIP_BASE < WEFT_CHIP_CHIP_SIZE) {
		reg_write(c, addr - WEFT_CHIP_CHIP_BASE, value);
	} else {
		return false;
	}
	/* Interrupts, timers or the NPU may have changed: look again, except where
	 * that cannot be. */
	if (addr - (WEFT_CHIP_CHIP_BASE + WEFT_CHIP_LINK_TX) >= WEFT_CHIP_LINK_TX_BYTES)
		c->core.limit = 0;
	return true;
}

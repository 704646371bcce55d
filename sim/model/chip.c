/* SPDX-License-Identifier: Apache-2.0 */
/* The functional chip: time, resets, and the C interface of include/weft/chip.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "chip_state.h"

#define DRAM_DEFAULT (64ull << 20)
#define DRAM_UNIT    65536u
#define TOUCH_CYCLES 64        /* the most cycles between two calls of touch() */

/* ---- resets ---- */

void chip_reset(struct chip *c, enum weft_chip_cause cause)
{
	if (cause == WEFT_CHIP_CAUSE_POWER) {
		/* RAM comes up with anything; card memory of a simulation with zeros. */
		for (size_t i = 0; i < sizeof(c->ram); i++)
			c->ram[i] = (uint8_t)(i * 151 + (i >> 8));
		madvise(c->dram, c->dram_bytes, MADV_DONTNEED);
		memset(c->scratch, 0, sizeof(c->scratch));
		flash_power(&c->flash);
	}
	flash_select(&c->flash, false);
	rv32_reset(&c->core, WEFT_CHIP_ROM_BASE);
	npu_hard_reset(&c->npu);
	const uint64_t written = cause == WEFT_CHIP_CAUSE_POWER ? 0 : c->link.written;
	link_init(&c->link, c->dram, c->dram_bytes);
	c->link.written = written;
	c->cause = cause;
	c->time_zero = c->core.n_cycles;
	c->npu_reset = c->want_reset = c->wdt_on = c->wdt_warned = c->hung = c->flash_lock = c->flash_first = false;
	c->irq_latched = c->irq_enable = c->fence_perm = c->tx_len = c->tx_seq = c->flash_in = 0;
	c->wdt_period = WEFT_CHIP_WDT_PERIOD_RESET;
	c->timer_cmp = NEVER;
}

/* ---- time ---- */

static uint64_t min64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t wdt_warning(const struct chip *c)
{
	return c->wdt_kicked + c->wdt_period - c->wdt_period / 4;
}

/* In n_cycles: when something will happen without the core. */
static uint64_t next_event(const struct chip *c)
{
	uint64_t now = c->core.n_cycles, at = c->npu.event;

	if (c->timer_cmp < NEVER - c->time_zero && c->time_zero + c->timer_cmp > now)
		at = min64(at, c->time_zero + c->timer_cmp);
	if (c->wdt_on) {
		at = min64(at, c->wdt_kicked + c->wdt_period);
		if (wdt_warning(c) > now)
			at = min64(at, wdt_warning(c));
	}
	return at;
}

static void events(struct chip *c)
{
	uint64_t now = c->core.n_cycles;

	if (c->flash.lost_power) {
		chip_reset(c, WEFT_CHIP_CAUSE_POWER);
		return;
	}
	if (c->want_reset) {
		chip_reset(c, WEFT_CHIP_CAUSE_SOFTWARE);
		return;
	}
	npu_event(&c->npu, now);
	if (c->wdt_on && !c->wdt_warned && now >= wdt_warning(c)) {
		c->wdt_warned = true;
		c->irq_latched |= WEFT_CHIP_IRQ_PENDING_WDT_MASK;
	}
	if (c->wdt_on && now >= c->wdt_kicked + c->wdt_period)
		chip_reset(c, WEFT_CHIP_CAUSE_WATCHDOG);
}

static void set_mip(struct chip *c)
{
	bool external = chip_irq_pending(c) & c->irq_enable;

	c->core.mip = (external ? RV32_MIP_MEIP : 0) | (chip_time(c) >= c->timer_cmp ? RV32_MIP_MTIP : 0);
}

static bool asleep(const struct chip *c)
{
	return c->hung || (c->core.wfi && !(c->core.mip & c->core.mie));
}

/* Sets both of the RAM bits that are planted to touch each other to 0 if one of them is 0. */
static void touch(struct chip *c)
{
	uint32_t word;

	memcpy(&word, c->ram + c->touching, sizeof(word));
	if ((word & c->touching_mask) != c->touching_mask)
		word &= ~c->touching_mask;
	memcpy(c->ram + c->touching, &word, sizeof(word));
}

static bool chip_run(void *chip, uint64_t cycles)
{
	struct chip *c = chip;
	uint64_t end = c->core.n_cycles + cycles;

	while (c->core.n_cycles < end) {
		set_mip(c);
		uint64_t until = min64(end, next_event(c));
		if (c->touching >= 0) {
			touch(c);
			until = min64(until, c->core.n_cycles + TOUCH_CYCLES);
		}
		if (asleep(c)) {
			if (until > c->core.n_cycles)
				rv32_skip(&c->core, until - c->core.n_cycles);
		} else {
			c->core.limit = until;
			rv32_run(&c->core);
		}
		events(c);
	}
	set_mip(c);
	return !(c->core.wfi && !c->hung && asleep(c) && c->npu.event == NEVER && !c->npu.hung);
}

/* ---- the interface ---- */

static void chip_close(void *chip)
{
	struct chip *c = chip;

	if (c->dram)
		munmap(c->dram, c->dram_bytes);
	npu_free(&c->npu);
	free(c);
}

static int check_options(const struct weft_chip_options *o, char *msg)
{
	if (!weft_config_find(o->config))
		snprintf(msg, WEFT_DEV_MSG, "chip: configuration \"%.40s\" is not known; " WEFT_CONFIG_NAMES, o->config);
	else if (!o->rom || o->rom_bytes > WEFT_CHIP_ROM_SIZE)
		snprintf(msg, WEFT_DEV_MSG, "chip: boot ROM of %zu bytes; at most %u", o->rom_bytes, WEFT_CHIP_ROM_SIZE);
	else if (!o->flash || o->flash_bytes != WEFT_FLASH_BYTES)
		snprintf(msg, WEFT_DEV_MSG, "chip: flash of %zu bytes, not %u", o->flash_bytes, WEFT_FLASH_BYTES);
	else if (o->dram_bytes % DRAM_UNIT || o->dram_bytes > WEFT_CHIP_DRAM_SIZE)
		snprintf(msg, WEFT_DEV_MSG, "chip: card memory of %llu bytes is no multiple of %u up to %u",
		         (unsigned long long)o->dram_bytes, DRAM_UNIT, WEFT_CHIP_DRAM_SIZE);
	else
		return 0;
	return -EINVAL;
}

static void connect(struct chip *c)
{
	c->core.mem[0] = (struct rv32_mem){ c->ram, WEFT_CHIP_RAM_BASE, WEFT_CHIP_RAM_SIZE, false, 0 };
	c->core.mem[1] = (struct rv32_mem){ c->rom, WEFT_CHIP_ROM_BASE, WEFT_CHIP_ROM_SIZE, true, 0 };
	c->core.mem[2] = (struct rv32_mem){ c->dram, WEFT_CHIP_DRAM_BASE, (uint32_t)c->dram_bytes, false, 20 };
	c->core.bus = (struct rv32_bus){ chip_load, chip_store, c };
}

static int chip_open(const struct weft_chip_options *o, void **out, char *msg)
{
	int err = check_options(o, msg);

	if (err)
		return err;
	struct chip *c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->cfg = weft_config_find(o->config);
	c->touching = -1;
	c->dram_bytes = o->dram_bytes ? o->dram_bytes : DRAM_DEFAULT;
	c->dram = mmap(NULL, c->dram_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (c->dram == MAP_FAILED)
		c->dram = NULL;
	if (!c->dram || npu_init(&c->npu, c->cfg, c->dram, c->dram_bytes)) {
		snprintf(msg, WEFT_DEV_MSG, "chip: out of memory");
		chip_close(c);
		return -ENOMEM;
	}
	memcpy(c->rom, o->rom, o->rom_bytes);
	flash_init(&c->flash, o->flash);
	connect(c);
	chip_reset(c, WEFT_CHIP_CAUSE_POWER);
	*out = c;
	return 0;
}

static size_t chip_put(void *chip, const uint8_t *data, size_t len)
{
	return link_put(&((struct chip *)chip)->link, data, len);
}

static size_t chip_get(void *chip, uint8_t *data, size_t len, bool *frame_end)
{
	return link_get(&((struct chip *)chip)->link, data, len, frame_end);
}

static void chip_link_reset(void *chip)
{
	struct chip *c = chip;

	link_reset(&c->link);
	c->irq_latched |= WEFT_CHIP_IRQ_PENDING_LINK_RESET_MASK;
	c->link_resets++;
}

static void chip_reset_by(void *chip, enum weft_chip_cause cause)
{
	chip_reset(chip, cause);
}

static uint32_t chip_status(void *chip)
{
	struct chip *c = chip;

	return (c->link.error ? WEFT_USB_STATUS_LINK_ERROR : 0) | (c->link.rx_valid ? WEFT_USB_STATUS_RX_FULL : 0) |
	       (link_has_output(&c->link) ? WEFT_USB_STATUS_IN_PENDING : 0) | (c->core.wfi ? WEFT_USB_STATUS_CORE_IDLE : 0);
}

static int chip_plant(void *chip, const struct weft_chip_plant *p)
{
	struct chip *c = chip;

	switch (p->kind) {
	case WEFT_CHIP_PLANT_NONE:
		c->hung = c->npu.hang_next = c->npu.hung = false;
		c->npu.fault_at = c->flash.cut = c->touching = -1;
		c->flash.id = WEFT_FLASH_JEDEC_ID;
		return 0;
	case WEFT_CHIP_PLANT_HANG:
		c->hung = true;
		return 0;
	case WEFT_CHIP_PLANT_MEMORY:
		if (p->addr >= c->dram_bytes || p->bit > 7)
			return -EINVAL;
		c->dram[p->addr] ^= (uint8_t)(1u << p->bit);
		return 0;
	case WEFT_CHIP_PLANT_NPU_FAULT:
		c->npu.fault_at = (int64_t)p->addr;
		return 0;
	case WEFT_CHIP_PLANT_NPU_HANG:
		c->npu.hang_next = true;
		return 0;
	case WEFT_CHIP_PLANT_POWER_CUT:
		c->flash.cut = (int64_t)p->addr;
		return 0;
	case WEFT_CHIP_PLANT_RAM:
		if (p->addr % 4 || p->addr >= sizeof(c->ram) || p->bit > 30)
			return -EINVAL;
		c->touching = (int64_t)p->addr;
		c->touching_mask = 3u << p->bit;
		return 0;
	case WEFT_CHIP_PLANT_FLASH_ID:
		c->flash.id = (uint32_t)p->addr;
		return 0;
	case WEFT_CHIP_PLANT_PE:
		return -ENOTSUP;
	}
	return -EINVAL;
}

static void chip_strap(void *chip, bool held)
{
	((struct chip *)chip)->strap = held;
}

static uint64_t chip_cycles(void *chip)
{
	return ((struct chip *)chip)->core.n_cycles;
}

static uint64_t chip_instret(void *chip)
{
	return ((struct chip *)chip)->core.n_instr;
}

static uint8_t *chip_dram(void *chip)
{
	return ((struct chip *)chip)->dram;
}

static const struct weft_chip_ops chip_ops = {
	.version = WEFT_CHIP_API_VERSION,
	.name = "model",
	.open = chip_open,
	.close = chip_close,
	.put = chip_put,
	.get = chip_get,
	.run = chip_run,
	.link_reset = chip_link_reset,
	.reset = chip_reset_by,
	.status = chip_status,
	.plant = chip_plant,
	.cycles = chip_cycles,
	.instret = chip_instret,
	.dram = chip_dram,
	.strap = chip_strap,
};

const struct weft_chip_ops *weft_chip_model(void)
{
	return &chip_ops;
}

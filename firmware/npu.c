/* SPDX-License-Identifier: Apache-2.0 */
/* The NPU's registers: programming a job, and stopping one. */
#include "fw.h"

/* Polls until a reset must be through: it waits for bus transactions only. */
#define RESET_POLLS 4096

bool npu_dead;

static uint32_t open_windows;          /* bits: may hold something */
static bool dirty;                     /* registers that jobs leave alone may have changed */

/* What the last job left in the registers, where the firmware has used the NPU for itself since. */
static uint32_t kept[WEFT_REG_SPACE / 4];
static bool keeps;

void npu_keep(void)
{
	if (keeps)
		return;
	for (uint32_t i = 0; i < WEFT_REG_SPACE / 4; i++)
		kept[i] = NPU(4 * i);
	keeps = true;
}

void npu_unkeep(void)
{
	keeps = false;
}

uint32_t npu_register(uint32_t offset)
{
	return keeps ? kept[offset / 4] : NPU(offset);
}

void npu_forget(void)
{
	open_windows = (1u << WEFT_N_WINDOWS) - 1;
	dirty = true;
	keeps = false;
}

void npu_init(void)
{
	npu_forget();
	npu_dead = NPU(WEFT_REG_ID) != WEFT_REG_ID_VALUE;
}

static bool idle(void)
{
	for (int i = 0; i < RESET_POLLS; i++)
		if (!(NPU(WEFT_REG_STATUS) & WEFT_REG_STATUS_BUSY_MASK))
			return true;
	return false;
}

static void hard_reset(void)
{
	CHIP(WEFT_CHIP_SYS_CONTROL) = WEFT_CHIP_SYS_CONTROL_NPU_RESET_MASK;
	for (int i = 0; i < 16; i++)
		__asm__ volatile("nop");
	CHIP(WEFT_CHIP_SYS_CONTROL) = 0;
	npu_forget();
	stats.npu_hard_resets++;
	npu_dead = NPU(WEFT_REG_ID) != WEFT_REG_ID_VALUE || !idle();
	log_add(WEFT_LOG_NPU_RESET, !npu_dead, 0);
}

bool npu_stop(bool *forced)
{
	stats.npu_resets++;
	NPU(WEFT_REG_CTRL) = WEFT_REG_CTRL_RESET_MASK;
	*forced = !idle();
	NPU(WEFT_REG_IRQ_STATUS) = WEFT_REG_IRQ_STATUS_DONE_MASK | WEFT_REG_IRQ_STATUS_FAULT_MASK;
	if (*forced)
		hard_reset();
	return !npu_dead;
}

static void clean(void)
{
	for (uint32_t i = 0; i < WEFT_N_WINDOWS; i++)
		NPU(WEFT_REG_WIN_BASE_HI(i)) = 0;
	NPU(WEFT_REG_STREAM_OFF) = 0;
	NPU(WEFT_REG_IRQ_ENABLE) = WEFT_REG_IRQ_ENABLE_DONE_MASK | WEFT_REG_IRQ_ENABLE_FAULT_MASK;
	dirty = false;
}

static void set_window(uint32_t i, uint32_t base, uint32_t size, uint32_t perm)
{
	volatile uint32_t *w = &NPU(WEFT_REG_WIN_BASE_LO(i));

	w[0] = base;
	w[2] = size;
	w[3] = perm;
}

_Static_assert(WEFT_REG_WIN_SIZE(0) == WEFT_REG_WIN_BASE_LO(0) + 8 && WEFT_REG_WIN_CTRL(0) == WEFT_REG_WIN_BASE_LO(0) + 12, "");
_Static_assert(WEFT_MSG_PERM_READ == WEFT_REG_WIN_CTRL_READ_MASK && WEFT_MSG_PERM_WRITE == WEFT_REG_WIN_CTRL_WRITE_MASK, "");

void npu_start(const struct weft_msg_window *w, uint32_t n_windows, uint32_t stream_base, uint32_t stream_words)
{
	uint32_t was_open = open_windows;

	if (dirty)
		clean();
	set_window(0, stream_base, stream_words * 8, WEFT_MSG_PERM_READ);
	open_windows = 1;
	for (uint32_t i = 1; i <= n_windows; i++, w++) {
		if (!w->size)
			continue;
		set_window(i, w->base, w->size, w->perm);
		open_windows |= 1u << i;
	}
	was_open &= ~open_windows;
	for (uint32_t i = 1; was_open >> i; i++)
		if (was_open >> i & 1)
			set_window(i, 0, 0, 0);
	NPU(WEFT_REG_STREAM_WORDS) = stream_words;
	NPU(WEFT_REG_IRQ_STATUS) = WEFT_REG_IRQ_STATUS_DONE_MASK | WEFT_REG_IRQ_STATUS_FAULT_MASK;
	NPU(WEFT_REG_CTRL) = WEFT_REG_CTRL_START_MASK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test of the registers: what they read after a reset, and walking bits in all bits that software
 * may write. The generated table of registers says which bits those are.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "userlib/diag/diag.h"

/*
 * Reads the register at byte address addr of the NPU into *value, through the driver or, on a card,
 * through its firmware (the administration link is opened for that). Returns 0; -ENOTSUP on the model,
 * which has no registers (*value is untouched); or a negative errno if the device does not answer, and
 * *value is then 0 or of no use.
 */
int diag_reg_read(struct weft_diag *d, uint32_t addr, uint32_t *value)
{
	if (d->o.kind == WEFT_DEV_MODEL)
		return -ENOTSUP;
	if (d->o.kind != WEFT_DEV_USB) {
		int err = diag_use_dev(d);
		*value = err ? 0 : weft_dev_reg_read(d->dev, addr);
		return err;
	}
	char msg[WEFT_ADMIN_MSG] = "";
	uint32_t words[3] = { WEFT_MSG_REG_READ, addr, 1 }, reply[2] = { 0 };
	int err = diag_use_admin(d), n = err ? err : weft_admin_ask(d->admin, words, 3, reply, 2, msg);
	*value = reply[1];
	return n < 0 ? n : 0;
}

/*
 * Writes value to the register at byte address addr of the NPU, through the driver or, on a card,
 * through its firmware (the administration link is opened for that). Returns 0; -EPERM if the card's
 * firmware keeps the register to itself; -ENOTSUP on the model; or another negative errno if the device
 * refuses or does not answer.
 */
int diag_reg_write(struct weft_diag *d, uint32_t addr, uint32_t value)
{
	if (d->o.kind == WEFT_DEV_MODEL)
		return -ENOTSUP;
	if (d->o.kind != WEFT_DEV_USB) {
		int err = diag_use_dev(d);
		return err ? err : weft_dev_reg_write(d->dev, addr, value);
	}
	char msg[WEFT_ADMIN_MSG] = "";
	uint32_t words[3] = { WEFT_MSG_REG_WRITE, addr, value }, reply[1] = { 0 };
	int err = diag_use_admin(d), n = err ? err : weft_admin_ask(d->admin, words, 3, reply, 1, msg);
	if (n == -EPROTO && reply[0] >> 16 == WEFT_MSG_ERR_REG)
		return -EPERM;     /* the firmware keeps this one to itself */
	return n < 0 ? n : 0;
}

/*
 * Writes the name of register k of group g to name (len bytes): "name[k]" if the group has several,
 * otherwise "name".
 */
static void name_of(char *name, size_t len, const struct weft_reg_info *g, unsigned k)
{
	if (g->count > 1)
		snprintf(name, len, "%s[%u]", g->name, k);
	else
		snprintf(name, len, "%s", g->name);
}

/*
 * What was seen wrong in one register over all patterns: bits that read 1 instead of 0 (high) and 0
 * instead of 1 (low), and the first pattern that came back wrong, as it was written and as it was read.
 */
struct seen { uint32_t high, low, wrote, got; unsigned n_high, n_low; };

/*
 * Adds one write and read of a register to *s: bits that read 1 instead of 0 to high, 0 instead of 1 to
 * low, and, if it is the first difference, both values. Nothing if want, which was written, and got are
 * equal.
 */
static void note_seen(struct seen *s, uint32_t want, uint32_t got)
{
	if (want == got)
		return;
	if (!(s->high | s->low)) {
		s->wrote = want;
		s->got = got;
	}
	s->high |= got & ~want;
	s->low |= want & ~got;
}

/* Returns the number of the lowest bit that is set; -1 if none is. */
static int lowest(uint32_t bits)
{
	return bits ? __builtin_ctz(bits) : -1;
}

/* Says whether exactly one bit is set. */
static bool one_bit(uint32_t bits)
{
	return bits && !(bits & (bits - 1));
}

/*
 * Reports a register's fault from what was seen: one bit that is wrong in one direction only is stuck
 * (DIAG-REG-2); two bits wrong in the same direction only are connected (DIAG-REG-3); anything else is
 * DIAG-REG-4 with the first wrong pattern. The finding has the address and, for the first two, the
 * (lower) bit.
 */
static void say(struct weft_diag *d, const char *name, uint32_t addr, const struct seen *s)
{
	struct diag_place at = DIAG_NOWHERE;
	uint32_t both = s->high | s->low;

	at.addr = addr;
	if (one_bit(both) && (!s->high || !s->low)) {
		at.bit = lowest(both);
		diag_find(d, "DIAG-REG-2", at, "register %s (0x%03x): bit %d stuck at %d", name, addr, at.bit, s->high != 0);
	} else if (__builtin_popcount(both) == 2 && (!s->high || !s->low)) {
		at.bit = lowest(both);
		diag_find(d, "DIAG-REG-3", at, "register %s (0x%03x): bits %d and %d are connected: both read %d when they differ",
		          name, addr, at.bit, lowest(both & (both - 1)), s->high != 0);
	} else {
		diag_find(d, "DIAG-REG-4", at, "register %s (0x%03x): wrote 0x%08x, reads 0x%08x", name, addr, s->wrote, s->got);
	}
}

/*
 * Writes value to the register's writable bits (mask), 0 to the others, reads the register back and
 * notes a difference in *s. Counts a check in each case. Returns 0 or a negative errno of
 * diag_reg_write() or diag_reg_read().
 */
static int pattern(struct weft_diag *d, uint32_t addr, uint32_t mask, uint32_t value, struct seen *s)
{
	uint32_t got;
	int err = diag_reg_write(d, addr, value & mask);

	if (!err)
		err = diag_reg_read(d, addr, &got);
	if (!err)
		note_seen(s, value & mask, got);
	d->r->checks++;
	return err;
}

/*
 * Tests register k of group g: writes all zeros, all ones, a single one and a single zero in each
 * writable bit, and zeros again, reads each back and reports what is wrong (say). Bits that software may not
 * write are written as 0 and must read 0. A register that the firmware keeps to itself is left out. Returns 0
 * whatever it found, or a negative errno of diag_reg_write() or diag_reg_read(); what was wrong until then is
 * not reported.
 */
static int walk(struct weft_diag *d, const struct weft_reg_info *g, unsigned k)
{
	uint32_t addr = (uint32_t)(g->offset + k * g->stride), mask = g->writable;
	struct seen s = { 0 };
	char name[48];
	int err = pattern(d, addr, mask, 0, &s);

	if (err == -EPERM)
		return 0;
	if (!err)
		err = pattern(d, addr, mask, UINT32_MAX, &s);
	for (unsigned b = 0; b < 32 && !err; b++)
		if (mask >> b & 1)
			err = pattern(d, addr, mask, UINT32_C(1) << b, &s);
	for (unsigned b = 0; b < 32 && !err; b++)
		if (mask >> b & 1)
			err = pattern(d, addr, mask, ~(UINT32_C(1) << b), &s);
	if (!err)
		err = pattern(d, addr, mask, 0, &s);
	name_of(name, sizeof(name), g, k);
	if (!err && (s.high | s.low))
		say(d, name, addr, &s);
	return err;
}

/*
 * Writes a different value to every writable register, then reads all of them back, so that two
 * registers at one address are noticed. The first that does not have its own value is DIAG-REG-5.
 * Registers that the firmware keeps to itself and irq_enable are not compared. Returns 0 or a negative
 * errno as diag_reg_write().
 */
static int apart(struct weft_diag *d)
{
	const struct weft_reg_info *const regs = weft_reg_list();
	uint32_t got;
	char name[48];

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < WEFT_N_REGS; i++)
			for (unsigned k = 0; k < regs[i].count && regs[i].writable; k++) {
				uint32_t addr = (uint32_t)(regs[i].offset + k * regs[i].stride);
				uint32_t want = (addr * UINT32_C(0x9e3779b1)) & regs[i].writable;
				int err = pass ? diag_reg_read(d, addr, &got) : diag_reg_write(d, addr, want);
				if (err == -EPERM || (!err && addr == WEFT_REG_IRQ_ENABLE))
					continue;
				if (err)
					return err;
				d->r->checks++;
				name_of(name, sizeof(name), &regs[i], k);
				if (pass && got != want) {
					struct diag_place at = DIAG_NOWHERE;
					at.addr = addr;
					diag_find(d, "DIAG-REG-5", at, "register %s (0x%03x) reads 0x%08x instead of 0x%08x once others were written",
					          name, addr, got, want);
					return 0;
				}
			}
	return 0;
}

/*
 * Writes 0 to every register that software may write; those that the firmware keeps to itself (-EPERM)
 * are left out. Returns 0 or another negative errno of diag_reg_write().
 */
static int clear(struct weft_diag *d)
{
	const struct weft_reg_info *const regs = weft_reg_list();

	for (size_t i = 0; i < WEFT_N_REGS; i++)
		for (unsigned k = 0; k < regs[i].count && regs[i].writable; k++) {
			int err = diag_reg_write(d, (uint32_t)(regs[i].offset + k * regs[i].stride), 0);
			if (err && err != -EPERM)
				return err;
		}
	return 0;
}

/*
 * Compares the read-only registers with what they must read after a reset of the NPU: id, version,
 * config and features have the configuration's values, all others 0 (on a card these others are left
 * out, since the firmware's last job shows there). Each wrong register is a finding: DIAG-REG-2 if one
 * bit of one that must be 0 is wrong, otherwise DIAG-REG-1. Returns 0 or a negative errno as
 * diag_reg_read().
 */
static int reset_values(struct weft_diag *d)
{
	const struct weft_reg_info *const regs = weft_reg_list();
	static const uint32_t fixed[] = { WEFT_REG_ID, WEFT_REG_VERSION, WEFT_REG_CONFIG, WEFT_REG_FEATURES };
	const uint32_t want_fixed[] = { WEFT_REG_ID_VALUE, WEFT_REG_VERSION_VALUE, d->cfg->reg_config, d->cfg->features };
	char name[48];

	for (size_t i = 0; i < WEFT_N_REGS; i++) {
		const struct weft_reg_info *g = &regs[i];
		uint32_t want = 0, got;
		bool known = false;
		if (strcmp(g->access, "ro"))
			continue;
		for (size_t k = 0; k < sizeof(fixed) / sizeof(fixed[0]); k++)
			if (fixed[k] == g->offset) {
				want = want_fixed[k];
				known = true;
			}
		if (!known && d->o.kind == WEFT_DEV_USB)
			continue;          /* the firmware's last job is still there to be seen */
		int err = diag_reg_read(d, g->offset, &got);
		if (err)
			return err;
		d->r->checks++;
		name_of(name, sizeof(name), g, 0);
		struct diag_place at = DIAG_NOWHERE;
		at.addr = g->offset;
		if (one_bit(got ^ want) && !known) {
			at.bit = lowest(got ^ want);
			diag_find(d, "DIAG-REG-2", at, "register %s (0x%03x): bit %d stuck at %d", name, g->offset, at.bit, (got & ~want) != 0);
		} else if (got != want) {
			diag_find(d, "DIAG-REG-1", at, "register %s (0x%03x) reads 0x%08x after a reset, not 0x%08x", name, g->offset, got,
			          want);
		}
	}
	return 0;
}

/*
 * Writes 1 to both causes in irq_status, before any stream has run, and reports the register if it does
 * not read 0 then: DIAG-REG-2 for a single bit, otherwise DIAG-REG-4. Returns 0 whatever it found, or a
 * negative errno of diag_reg_write() or diag_reg_read().
 */
static int causes(struct weft_diag *d)
{
	struct diag_place at = DIAG_NOWHERE;
	uint32_t all = WEFT_REG_IRQ_STATUS_DONE_MASK | WEFT_REG_IRQ_STATUS_FAULT_MASK, got;
	int err = diag_reg_write(d, WEFT_REG_IRQ_STATUS, all);

	if (!err)
		err = diag_reg_read(d, WEFT_REG_IRQ_STATUS, &got);
	if (err || !got)
		return err;
	at.addr = WEFT_REG_IRQ_STATUS;
	at.bit = one_bit(got) ? lowest(got) : -1;
	if (one_bit(got))
		diag_find(d, "DIAG-REG-2", at, "register irq_status (0x%03x): bit %d stuck at 1", WEFT_REG_IRQ_STATUS, at.bit);
	else
		diag_find(d, "DIAG-REG-4", at, "register irq_status (0x%03x): wrote 0x%08x to clear, reads 0x%08x", WEFT_REG_IRQ_STATUS, all, got);
	return 0;
}

/*
 * Test registers, in this order. The RTL is reset, and its read-only registers are compared with what they
 * must then read, unless the reset does not end; a card is not reset, and only its id, version, config and
 * features are compared. On the RTL all interrupt causes are cleared and must then read 0. Bits walk
 * through every writable register, and, if nothing was found so far, each register must keep its own value
 * while the others are written. At the end all writable registers are 0. Registers that a card does
 * not let the host write are left out throughout. Findings go to d->r; on the model, which has no registers,
 * the test's state becomes absent. Returns 0 whatever it found, or a negative errno if the device does not
 * answer or the RTL cannot be opened, after which registers may hold anything.
 */
int diag_registers(struct weft_diag *d)
{
	const struct weft_reg_info *const regs = weft_reg_list();
	int err = 0;

	if (d->o.kind == WEFT_DEV_MODEL) {
		diag_absent(d, "the model has no registers");
		return 0;
	}
	/* If the reset does not end, a unit holds it up, which the test of the units will report. */
	bool reset = d->o.kind == WEFT_DEV_RTL && !(err = diag_use_dev(d)) && !weft_dev_reset(d->dev);
	if (!err && (reset || d->o.kind == WEFT_DEV_USB))
		err = reset_values(d);
	if (!err && d->o.kind == WEFT_DEV_RTL)
		err = causes(d);
	for (size_t i = 0; i < WEFT_N_REGS && !err; i++)
		for (unsigned k = 0; k < regs[i].count && regs[i].writable && !err; k++)
			err = walk(d, &regs[i], k);
	if (!err && d->r->state == WEFT_DIAG_PASSED)
		err = apart(d);
	return err ? err : clear(d);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test identify: a card's serial and firmware, how it is connected to the USB, and the NPU's own
 * registers.
 */
#include <stdio.h>
#include <string.h>

#include <weft/file.h>

#include "userlib/diag/diag.h"

/*
 * Asks the card who it is and writes serial, configuration, firmware version and slot, memory in MiB,
 * count of starts and USB to the note. Findings: no answer (DIAG-ID-1, then nothing else is done),
 * another configuration than the one expected (DIAG-ID-2), and what diag_usb() finds. Always returns 0.
 */
static int identify_card(struct weft_diag *d)
{
	struct weft_card_info i;
	char usb[128];
	int err = diag_use_dev(d);

	if (!err)
		err = weft_dev_card(d->dev, &i);
	if (err) {
		diag_find(d, "DIAG-ID-1", DIAG_NOWHERE, "the card does not answer a greeting (%s)", weft_file_error(err));
		return 0;
	}
	d->r->checks++;
	diag_usb(d, i.serial, usb, sizeof(usb));
	diag_note(d, "card %s, %s, firmware %u.%u.%u in slot %u, %llu MiB, started %u times%s", i.serial, i.config, i.fw_version >> 16,
	          i.fw_version >> 8 & 255, i.fw_version & 255, i.slot, (unsigned long long)(i.dram_bytes >> 20), i.boot_count, usb);
	if (strcmp(i.config, d->cfg->name))
		diag_find(d, "DIAG-ID-2", DIAG_NOWHERE, "the card has configuration %s, not %s", i.config, d->cfg->name);
	return 0;
}

/*
 * Test identify: who the device is. A card is asked (identify_card); on the RTL the registers id,
 * config and features must have the configuration's values, each that has not is DIAG-ID-2; the model
 * is only named in the note, and so is the RTL. Findings go to d->r. Returns 0 whatever it found, or a
 * negative errno of diag_reg_read().
 */
int diag_identify(struct weft_diag *d)
{
	static const struct { const char *name; uint32_t addr; } regs[] = {
		{ "id", WEFT_REG_ID }, { "config", WEFT_REG_CONFIG }, { "features", WEFT_REG_FEATURES },
	};
	const uint32_t want[] = { WEFT_REG_ID_VALUE, d->cfg->reg_config, d->cfg->features };

	if (d->o.kind == WEFT_DEV_USB)
		return identify_card(d);
	if (d->o.kind == WEFT_DEV_MODEL) {
		diag_note(d, "the functional model of %s", d->cfg->name);
		return 0;
	}
	diag_note(d, "the RTL of %s", d->cfg->name);
	for (size_t i = 0; i < sizeof(regs) / sizeof(regs[0]); i++) {
		uint32_t got;
		int err = diag_reg_read(d, regs[i].addr, &got);
		if (err)
			return err;
		d->r->checks++;
		struct diag_place at = DIAG_NOWHERE;
		at.addr = regs[i].addr;
		if (got != want[i])
			diag_find(d, "DIAG-ID-2", at, "register %s reads 0x%08x, not 0x%08x", regs[i].name, got, want[i]);
	}
	return 0;
}

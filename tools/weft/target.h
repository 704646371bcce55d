/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device whose registers, memory and log are looked at: a card without opening
 * it as a device, so that any configuration and a broken firmware will do; or a
 * simulated NPU.
 */
#ifndef TOOLS_WEFT_TARGET_H
#define TOOLS_WEFT_TARGET_H

#include <weft/admin.h>
#include <weft/dev.h>
#include <weft/gen/config.h>

#define TARGET_TIMEOUT_MS 10000

struct target {
	weft_admin *a;             /* a card, or NULL */
	weft_dev *dev;             /* simulated */
	char name[128];
};

/** rtl, model, usb, usb:SERIAL, usb:@SOCKET. 0, or a status with a message. */
int target_open(struct target *t, const char *device, const char *config);
/** The same for a device that is open already; not closed. */
void target_of(struct target *t, const char *name, weft_dev *dev);
void target_close(struct target *t);

/** @return 0, negative errno with msg (WEFT_ADMIN_MSG bytes) */
int target_reg_read(struct target *t, uint32_t offset, uint32_t *value, char *msg);
int target_reg_write(struct target *t, uint32_t offset, uint32_t value, char *msg);

/* regs.c */

/** Every register, as text. @return 0, negative errno with msg */
int regs_print(struct target *t, char *msg);
/** As JSON into a file. 0, or a status with a message. */
int regs_dump(struct target *t, const char *file);

/** card.c: 0 or a negative errno with msg. */
int card_log(weft_admin *a, char *msg);

#endif

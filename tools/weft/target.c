/* SPDX-License-Identifier: Apache-2.0 */
#include "target.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "weft_cmd.h"

static int open_simulated(struct target *t, const struct weft_session_options *o, const char *config, char *msg)
{
	struct weft_dev_options d = weft_dev_options_default();

	d.kind = weft_device_kind(o->device);
	d.config = config;
	return weft_dev_open(&d, &t->dev, msg);
}

int target_open(struct target *t, const char *device, const char *config)
{
	struct weft_session_options o = weft_session_options_default();
	char msg[WEFT_ADMIN_MSG] = "";

	memset(t, 0, sizeof(*t));
	if (parse_device(device, &o))
		return EXIT_USAGE;
	if (o.device == WEFT_DEVICE_GOLDEN)
		return fail(EXIT_USAGE, "golden is no device");
	snprintf(t->name, sizeof(t->name), "%.100s", device);
	int err = o.device == WEFT_DEVICE_USB ? weft_admin_open(o.usb ? o.usb : "", TARGET_TIMEOUT_MS, &t->a, msg)
	                                      : open_simulated(t, &o, config, msg);
	return err ? fail(status_of(err), "%s", msg[0] ? msg : strerror(-err)) : 0;
}

void target_of(struct target *t, const char *name, weft_dev *dev)
{
	memset(t, 0, sizeof(*t));
	t->dev = dev;
	snprintf(t->name, sizeof(t->name), "%.100s", name);
}

void target_close(struct target *t)
{
	weft_admin_close(t->a);
	weft_dev_close(t->dev);
	memset(t, 0, sizeof(*t));
}

int target_reg_read(struct target *t, uint32_t offset, uint32_t *value, char *msg)
{
	if (!t->a && !weft_dev_has_regs(t->dev)) {
		snprintf(msg, WEFT_ADMIN_MSG, "%s has no registers; --device rtl or usb", t->name);
		return -ENOTSUP;
	}
	if (!t->a) {
		*value = weft_dev_reg_read(t->dev, offset);
		return 0;
	}
	uint32_t words[3] = { WEFT_MSG_REG_READ, offset, 1 }, reply[2];
	int n = weft_admin_ask(t->a, words, 3, reply, 2, msg);
	*value = reply[1];
	if (n >= 0 && n < 2) {
		snprintf(msg, WEFT_ADMIN_MSG, "card: reg_read of 0x%x: the answer holds no register", offset);
		return -EPROTO;
	}
	return n < 0 ? n : 0;
}

int target_reg_write(struct target *t, uint32_t offset, uint32_t value, char *msg)
{
	if (!t->a) {
		int err = weft_dev_reg_write(t->dev, offset, value);
		if (err)
			snprintf(msg, WEFT_ADMIN_MSG, "%s has no registers; --device rtl or usb", t->name);
		return err;
	}
	uint32_t words[3] = { WEFT_MSG_REG_WRITE, offset, value };
	int n = weft_admin_ask(t->a, words, 3, NULL, 0, msg);
	return n < 0 ? n : 0;
}

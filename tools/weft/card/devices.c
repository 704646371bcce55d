/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft devices: the cards that are plugged in, and what they say about themselves.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/gen/config.h>

#include "tools/weft/weft_cmd.h"

#define MAX_CARDS 64

/*
 * Prints one line; a card that is not free is listed without being opened. Returns whether the device
 * answers.
 */
static bool show(const char *which, const struct weft_dev_info *i)
{
	struct weft_dev_options o = weft_dev_options_default();
	struct weft_card_info c;
	char msg[WEFT_DEV_MSG] = "", line[256];
	weft_dev *dev = NULL;
	int err = i ? i->access : 0;

	o.kind = WEFT_DEV_USB;
	o.usb = which;
	/* Of whichever configuration it is. */
	for (int k = 0; k < WEFT_N_CONFIGS && !dev && !err; k++) {
		o.config = weft_config_list()[k].name;
		err = weft_dev_open(&o, &dev, msg);
		if (err == -EPROTO && k + 1 < WEFT_N_CONFIGS)
			err = 0;
	}
	if (dev && !weft_dev_card(dev, &c))
		snprintf(line, sizeof(line), "%-4s firmware %u.%u.%u  %4llu MiB  %u kHz  slot %u%s", c.config,
		         c.fw_version >> 16, c.fw_version >> 8 & 255, c.fw_version & 255,
		         (unsigned long long)(c.dram_bytes >> 20), c.clock_khz, c.slot, c.development_key ? "  development key" : "");
	else if (err == -EBUSY && i && i->used_by[0])
		snprintf(line, sizeof(line), "in use by %s", i->used_by);
	else if (err == -EACCES)
		snprintf(line, sizeof(line), "no permission: install the udev rule and be in group plugdev");
	else
		snprintf(line, sizeof(line), "%s", msg[0] ? msg : strerror(-err));
	printf("usb:%-18s %-20s %s\n", which, i ? i->where : "", line);
	const bool opened = dev != NULL;
	weft_dev_close(dev);
	return opened;
}

static int on_change(void *user, const struct weft_dev_info *i, bool here)
{
	(void)user;
	printf("usb:%-18s %-20s %s%s\n", i->serial, i->where, !here ? "unplugged" : i->used_by[0] ? "in use by " : "plugged in",
	       here ? i->used_by : "");
	return fflush(stdout);     /* nobody reads any more: enough */
}

static int devices_main(int argc, char **argv)
{
	static const struct option_def options[] = { { "--watch", false }, { NULL, false } };
	struct weft_dev_info info[MAX_CARDS];
	char msg[WEFT_DEV_MSG] = "";
	const char *v;
	int at = 0, opt, bad = 0, named = 0;
	size_t n = 0;
	bool watch = false;

	while ((opt = next_option(&at, argc, argv, options, &v)) != -2) {
		if (opt == -3)
			return EXIT_USAGE;
		if (opt == 0) {
			watch = true;
			continue;
		}
		if (!strncmp(v, "usb:", 4))
			v += 4;
		named++;
		if (watch)
			continue;
		bad += !show(v, NULL);
	}
	if (watch && named)
		return fail(EXIT_USAGE, "--watch is for all cards on the USB");
	if (watch)
		return weft_dev_watch(on_change, NULL, WEFT_FOREVER, msg) < 0 && msg[0] ? fail(EXIT_DEVICE, "%s", msg) : EXIT_DONE;
	if (named)
		return bad ? EXIT_DEVICE : EXIT_DONE;
	if (weft_dev_list(info, MAX_CARDS, &n, msg))
		return fail(EXIT_DEVICE, "%s", msg);
	for (size_t i = 0; i < n && i < MAX_CARDS; i++)
		show(info[i].serial, &info[i]);
	if (!n)
		printf("no card is plugged in\n");
	return EXIT_DONE;
}

const struct subcommand cmd_devices = {
	"devices", "list the cards",
	"usage: weft devices [usb:SERIAL | usb:@SOCKET]...\n"
	"       weft devices --watch\n\n"
	"Without arguments the cards on the USB; with them those that are named, and\n"
	"exit status 3 if one does not answer.\n\n"
	"  --watch             a line for each card that is there, and then for each that is\n"
	"                      plugged in or out, until interrupted\n",
	devices_main,
};

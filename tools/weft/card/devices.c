/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft devices: the cards that are plugged in, and what they say about themselves.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/admin.h>
#include <weft/file.h>

#include "tools/weft/weft_cmd.h"

#define MAX_CARDS 64

#define ASK_MS 2000

/* A broker's clients but this process, a line for each; a card that has no broker in front says nothing. */
static void show_clients(const char *which)
{
	struct {
		struct weft_msg_clients_reply r;
		struct weft_msg_client e[WEFT_MSG_CLIENTS_MAX];
	} a = { .r.count = 1 };
	char msg[WEFT_ADMIN_MSG], name[4 * sizeof(a.e[0].name) + 1] = "";
	weft_admin *admin;
	uint32_t first = 0;

	if (weft_admin_open(which, ASK_MS, &admin, msg))
		return;
	for (; first < a.r.count; first += WEFT_MSG_CLIENTS_MAX) {
		const uint32_t ask[2] = { WEFT_MSG_CLIENTS, first };
		if (weft_admin_ask(admin, ask, 2, (uint32_t *)&a, sizeof(a) / 4, msg) < 0)
			break;
		for (uint32_t i = 0; first + i < a.r.count && i < WEFT_MSG_CLIENTS_MAX; i++) {
			const struct weft_msg_client *c = &a.e[i];
			if (c->pid == (uint32_t)getpid())
				continue;
			snprintf(name, sizeof(name), "%.*s", (int)sizeof(c->name), (const char *)c->name);
			weft_one_line(name, sizeof(name));
			printf("  card %u: %s (pid %u, uid %u): %s, %u jobs, %llu cycles; %u of %u KiB on the card\n", c->card, name, c->pid, c->uid,
			       c->state ? "works" : "idle", c->jobs, (unsigned long long)c->cycles_hi << 32 | c->cycles_lo, c->on_card_kib,
			       c->memory_kib);
		}
	}
	weft_admin_close(admin);
}

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
	o.config = NULL;
	if (!err)
		err = weft_dev_open(&o, &dev, msg);
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
	if (opened && which[0] == '@')
		show_clients(which);
	return opened;
}

static int on_change(void *user, const struct weft_dev_info *i, bool here)
{
	(void)user;
	printf("usb:%-18s %-20s %s%s\n", i->name, i->where, !here ? "unplugged" : i->used_by[0] ? "in use by " : "plugged in",
	       here ? i->used_by : "");
	return fflush(stdout);     /* nobody reads any more: enough */
}

static int devices_main(int argc, char **argv)
{
	static const struct option_def options[] = { { "--watch", false }, { NULL, false } };
	struct weft_dev_info info[MAX_CARDS];
	char msg[WEFT_DEV_MSG] = "", where[WEFT_DEV_WHERE];
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
	if (weft_dev_broker(where, msg))
		return fail(EXIT_USAGE, "%s", msg);
	if (where[0]) {
		printf("usb without a name: through the broker at %s\n", where + 1);
		bad = !show(where, NULL);
	} else {
		printf("usb without a name: any free card on the USB; no broker\n");
	}
	if (weft_dev_list(info, MAX_CARDS, &n, msg))
		return fail(EXIT_DEVICE, "%s", msg);
	for (size_t i = 0; i < n && i < MAX_CARDS; i++)
		show(info[i].name, &info[i]);
	if (!n && !where[0])
		printf("no card is plugged in\n");
	return bad ? EXIT_DEVICE : EXIT_DONE;
}

const struct subcommand cmd_devices = {
	"devices", "list the cards",
	"usage: weft devices [usb:SERIAL | usb:PORT | usb:@SOCKET]...\n"
	"       weft devices --watch\n\n"
	"Without arguments what usb without a name leads to (a broker, or the USB), and the\n"
	"cards on the USB; with them those that are named. Exit status 3 if the broker or one\n"
	"that is named does not answer. Behind the socket of weft-broker also who uses it.\n\n"
	"  --watch             a line for each card that is there, and then for each that is\n"
	"                      plugged in or out, until interrupted\n",
	devices_main,
};

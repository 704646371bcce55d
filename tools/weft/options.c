/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/dev.h>

#include "weft_cmd.h"

int next_option(int *at, int argc, char **argv, const struct option_def *defs, const char **value)
{
	if (*at >= argc)
		return -2;
	char *arg = argv[(*at)++];
	*value = arg;
	if (arg[0] != '-' || !arg[1])
		return -1;
	for (int i = 0; defs[i].name; i++) {
		size_t n = strlen(defs[i].name);
		if (strncmp(arg, defs[i].name, n) || (arg[n] && arg[n] != '='))
			continue;
		if (!defs[i].takes_value && arg[n]) {
			fail(0, "%s takes no value", defs[i].name);
			return -3;
		}
		if (defs[i].takes_value && !arg[n] && *at >= argc) {
			fail(0, "%s wants a value", defs[i].name);
			return -3;
		}
		*value = !defs[i].takes_value ? NULL : arg[n] ? arg + n + 1 : argv[(*at)++];
		return i;
	}
	fail(0, "option %s is not known; see --help", arg);
	return -3;
}

int parse_number(const char *option, const char *text, uint64_t max, uint64_t *out)
{
	char *end;

	errno = 0;
	unsigned long long v = strtoull(text, &end, 0);
	if (errno || end == text || *end || text[0] == '-' || v > max) {
		fail(0, "%s: \"%s\" is not a number from 0 to %llu", option, text, (unsigned long long)max);
		return -1;
	}
	*out = v;
	return 0;
}

void say_broker(void)
{
	char where[WEFT_DEV_WHERE], msg[WEFT_DEV_MSG];

	/* Who then opens a card says what is wrong with its name. */
	if (!weft_dev_broker(where, msg) && where[0])
		fprintf(stderr, "weft: usb: through the broker at %s\n", where + 1);
}

int parse_device(const char *text, struct weft_session_options *o)
{
	for (enum weft_device d = WEFT_DEVICE_GOLDEN; d <= WEFT_DEVICE_USB; d++) {
		if (!strcmp(text, weft_device_name(d))) {
			o->device = d;
			if (d == WEFT_DEVICE_USB)
				say_broker();
			return 0;
		}
	}
	if (!strncmp(text, "usb:", 4) && text[4]) {
		o->device = WEFT_DEVICE_USB;
		o->usb = text + 4;
		return 0;
	}
	fail(0, "--device: \"%s\" is not golden, model, rtl, usb, usb:SERIAL, usb:@SOCKET, a list of these cards or usb:*", text);
	return -1;
}

void config_by_device(struct weft_session_options *o)
{
	if (!o->config && o->device != WEFT_DEVICE_USB)
		o->config = "w16";
}

int parse_memory(const char *text, enum weft_memory *m)
{
	if (!strcmp(text, "ddr") || !strcmp(text, "sram")) {
		*m = text[0] == 'd' ? WEFT_MEMORY_DDR : WEFT_MEMORY_SRAM;
		return 0;
	}
	fail(0, "--memory: \"%s\" is not sram or ddr", text);
	return -1;
}

int parse_plant(const char *text, struct weft_plant *p)
{
	int n = 0;

	if (sscanf(text, "pe:%u,%u,%u%n", &p->row, &p->col, &p->bit, &n) == 3 && !text[n])
		p->kind = WEFT_PLANT_PE;
	else if (sscanf(text, "lane:%u,%u%n", &p->lane, &p->bit, &n) == 2 && !text[n])
		p->kind = WEFT_PLANT_LANE;
	else if (sscanf(text, "sp:%i,%u%n", (int *)&p->addr, &p->bit, &n) == 2 && !text[n])
		p->kind = WEFT_PLANT_SP;
	else
		return fail(-1, "--plant: \"%s\" is not pe:ROW,COL,BIT, lane:LANE,BIT or sp:ADDRESS,BIT", text);
	return 0;
}

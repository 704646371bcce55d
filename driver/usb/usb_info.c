/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a card shows itself on the USB: its descriptors, read from the card and not
 * from what the host's system has kept of them. A card may send anything here.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "driver/sys.h"
#include "usb_card.h"

/* Chapter 9 of USB 2.0. */
enum { DEVICE = 1, CONFIGURATION = 2, STRING = 3, ENDPOINT = 5, DEVICE_QUALIFIER = 6 };
#define GET_DESCRIPTOR 6
#define IN_STANDARD 0x80
#define ENGLISH 0x0409
#define BULK 2
#define DESCRIPTOR_NS 1000000000ull

static unsigned get16(const uint8_t *p)
{
	return p[0] | p[1] << 8u;
}

/* Bytes of it, at least two: its length and its type, which is right. */
static int read_one(struct card *c, unsigned type, unsigned number, uint8_t *d)
{
	int n = weft_card_control(c, IN_STANDARD, GET_DESCRIPTOR, (uint16_t)(type << 8 | number),
	                          type == STRING && number ? ENGLISH : 0, d, LINK_CTRL_BUF - 1, weft_now_ns() + DESCRIPTOR_NS);

	if (n >= 0 && (n < 2 || d[1] != type))
		return -EIO;
	return type != CONFIGURATION && n > d[0] ? d[0] : n;
}

static int need(struct card *c, unsigned type, const char *name, int least, uint8_t *d, char *msg)
{
	int n = read_one(c, type, 0, d);

	if (n >= least)
		return n;
	if (n >= 0)
		snprintf(msg, WEFT_DEV_MSG, "usb: the card's %s descriptor has %d bytes, not %d", name, n, least);
	else
		snprintf(msg, WEFT_DEV_MSG, "usb: the card's %s descriptor cannot be read: %s", name, weft_sys_error(n));
	return n < 0 ? n : -EIO;
}

/* UTF-16 becomes plain ASCII, what is not becomes "?". A missing string is an empty one. */
static void read_string(struct card *c, unsigned number, char *out, size_t len)
{
	uint8_t d[LINK_CTRL_BUF];
	int n = number ? read_one(c, STRING, number, d) : 0;
	size_t at = 0;

	for (int i = 2; i + 1 < n && at + 1 < len; i += 2) {
		unsigned ch = get16(d + i);
		out[at++] = ch >= ' ' && ch < 0x7f ? (char)ch : '?';
	}
	out[at] = '\0';
}

static void find_endpoints(const uint8_t *d, int n, struct weft_usb_info *i)
{
	for (int at = 0; at + 2 <= n && d[at] >= 2 && at + d[at] <= n; at += d[at]) {
		const uint8_t *e = d + at;
		if (e[1] != ENDPOINT || e[0] < 7 || (e[3] & 3) != BULK)
			continue;
		if (e[2] == WEFT_USB_EP_IN)
			i->packet_in = get16(e + 4) & 0x7ff;
		if (e[2] == WEFT_USB_EP_OUT)
			i->packet_out = get16(e + 4) & 0x7ff;
	}
}

int weft_card_usb(void *state, struct weft_usb_info *i, char *msg)
{
	struct card *c = state;
	uint8_t d[LINK_CTRL_BUF];
	int n = need(c, DEVICE, "device", 18, d, msg);

	memset(i, 0, sizeof(*i));
	if (n < 0)
		return n;
	i->usb_bcd = (uint16_t)get16(d + 2);
	i->packet_0 = d[7];
	i->vendor = (uint16_t)get16(d + 8);
	i->product_id = (uint16_t)get16(d + 10);
	i->device_bcd = (uint16_t)get16(d + 12);
	read_string(c, d[14], i->manufacturer, sizeof(i->manufacturer));
	read_string(c, d[15], i->product, sizeof(i->product));
	read_string(c, d[16], i->serial, sizeof(i->serial));
	n = need(c, CONFIGURATION, "configuration", 9, d, msg);
	if (n < 0)
		return n;
	find_endpoints(d, n, i);
	/* A device that knows one speed only refuses. */
	i->high_capable = read_one(c, DEVICE_QUALIFIER, 0, d) >= 2;
	if (c->ops->place)
		c->ops->place(c->t, i);
	return 0;
}

const char *weft_usb_speed_text(enum weft_usb_speed speed)
{
	switch (speed) {
	case WEFT_USB_SPEED_LOW:   return "low speed, 1.5 Mbit/s";
	case WEFT_USB_SPEED_FULL:  return "full speed, 12 Mbit/s";
	case WEFT_USB_SPEED_HIGH:  return "high speed, 480 Mbit/s";
	case WEFT_USB_SPEED_SUPER: return "super speed, 5 Gbit/s or more";
	default:                   return "unknown speed";
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a card lies on the USB: its numbers and serial, the size of its packets, and the speed. A
 * card that came up at full instead of high speed works, but forty times slower.
 */
#include <stdio.h>
#include <string.h>

#include <weft/gen/msg.h>

#include "userlib/diag/diag.h"

/*
 * Returns the largest size in bytes of a bulk packet at that speed, which all speeds but full also
 * demand as the only one; 0 for speeds that have no bulk packets or are unknown.
 */
static unsigned bulk_bytes(enum weft_usb_speed speed)
{
	return speed == WEFT_USB_SPEED_FULL ? 64 : speed == WEFT_USB_SPEED_HIGH ? 512 : speed == WEFT_USB_SPEED_SUPER ? 1024 : 0;
}

/*
 * Reports DIAG-USB-2 if a bulk endpoint is missing (a packet size of 0), or if packets of either
 * direction are larger than the bulk packet of u->speed or, at all speeds but full, smaller. An unknown
 * speed has no packet size, and none is compared.
 */
static void judge_packets(struct weft_diag *d, const struct weft_usb_info *u)
{
	unsigned want = bulk_bytes(u->speed);
	bool full = u->speed == WEFT_USB_SPEED_FULL;

	if (!u->packet_in || !u->packet_out)
		diag_find(d, "DIAG-USB-2", DIAG_NOWHERE, "the configuration descriptor has no bulk endpoint 0x%02x",
		          u->packet_in ? WEFT_USB_EP_OUT : WEFT_USB_EP_IN);
	else if (want && (u->packet_in > want || u->packet_out > want || (!full && (u->packet_in < want || u->packet_out < want))))
		diag_find(d, "DIAG-USB-2", DIAG_NOWHERE, "packets of %u bytes to the card and %u from it; at %s a bulk packet has %u",
		          u->packet_out, u->packet_in, weft_usb_speed_text(u->speed), want);
}

/*
 * Reports a speed below high speed of a card that says that it can do high speed, with the reason: a hub between card and host
 * that runs below high speed (DIAG-USB-3), else the cable (DIAG-USB-4). An unknown speed is not reported. Neither is full speed
 * if the card offers no other speed, as a card without a bridge does.
 */
static void judge_speed(struct weft_diag *d, const struct weft_usb_info *u)
{
	if (!u->speed || u->speed >= WEFT_USB_SPEED_HIGH || !u->high_capable)
		return;
	if (u->hub_speed && u->hub_speed < WEFT_USB_SPEED_HIGH)
		diag_find(d, "DIAG-USB-3", DIAG_NOWHERE,
		          "the card runs at %s, because a hub between it and the host does: plug it into another port or hub (it is at %s)",
		          weft_usb_speed_text(u->speed), u->port);
	else
		diag_find(d, "DIAG-USB-4", DIAG_NOWHERE,
		          "the card runs at %s, though it says that it can do high speed%s: cable, connector, or the pair D+ D-",
		          weft_usb_speed_text(u->speed), u->hub_speed ? " and the hubs before it do" : "");
}

/*
 * Reports what is wrong with a card's descriptors, u: numbers of vendor and product (DIAG-USB-1), a
 * serial other than the firmware's (`serial`, also DIAG-USB-1; "" if the card's flash has none), packets (DIAG-USB-2) and speed
 * (DIAG-USB-3 and -4). Counts four checks.
 */
void diag_usb_judge(struct weft_diag *d, const struct weft_usb_info *u, const char *serial)
{
	d->r->checks += 4;
	if (u->vendor != WEFT_USB_VENDOR_ID || u->product_id != WEFT_USB_PRODUCT_ID)
		diag_find(d, "DIAG-USB-1", DIAG_NOWHERE, "the device descriptor says %04x:%04x, not %04x:%04x", u->vendor, u->product_id,
		          WEFT_USB_VENDOR_ID, WEFT_USB_PRODUCT_ID);
	if (*serial && strcmp(u->serial, serial))
		diag_find(d, "DIAG-USB-1", DIAG_NOWHERE, "the USB serial is \"%s\", the firmware's \"%s\"", u->serial, serial);
	judge_packets(d, u);
	judge_speed(d, u);
}

void diag_usb(struct weft_diag *d, const char *serial, char *note, size_t len)
{
	struct weft_usb_info u;

	note[0] = '\0';
	if (weft_dev_usb(d->dev, &u)) {
		diag_find(d, "DIAG-USB-1", DIAG_NOWHERE, "%.200s", weft_dev_error(d->dev));
		return;
	}
	snprintf(note, len, "; USB %04x:%04x%s%s, %s, packets of %u", u.vendor, u.product_id, u.port[0] ? " at " : "", u.port,
	         weft_usb_speed_text(u.speed), u.packet_in);
	diag_usb_judge(d, &u, serial);
}

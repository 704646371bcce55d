/* SPDX-License-Identifier: Apache-2.0 */
/* The cards, and the virtual NPU, as hardware of ONNX Runtime. */
#include <stdio.h>
#include <string.h>

#include <weft/gen/msg.h>

#include "hardware.h"

/* ONNX Runtime's words for metadata, and our own. */
#define KEY_VIRTUAL "is_virtual"
#define KEY_FOUND_BY "DiscoveredBy"
#define KEY_SERIAL "weft_serial"
#define KEY_WHERE "weft_where"

/*
 * Makes the hardware of a card with that name (for options.usb) and place, or of the virtual NPU if the name is NULL, and
 * puts it behind the others of h, which has room. Returns NULL or a status.
 */
static struct ort_status *make_one(const struct ort_api *api, struct hardware *h, const char *card, const char *where)
{
	struct ort_pairs *pairs = NULL;

	api->new_pairs(&pairs);
	if (!pairs)
		return fail_ort(api, ORT_FAIL, ORT_PROVIDER ": not enough memory");
	api->add_pair(pairs, KEY_FOUND_BY, ORT_PROVIDER);
	if (card) {
		api->add_pair(pairs, KEY_SERIAL, card);
		api->add_pair(pairs, KEY_WHERE, where);
	} else {
		api->add_pair(pairs, KEY_VIRTUAL, "1");
	}
	struct ort_status *status = h->makes->new_hardware(ORT_HARDWARE_NPU, card ? WEFT_USB_VENDOR_ID : 0, card ? WEFT_USB_PRODUCT_ID : 0,
	                                                   WEFT_USB_MANUFACTURER, pairs, &h->made[h->n]);
	api->release_pairs(pairs);
	h->n += !status;
	return status;
}

struct ort_status *hardware_make(const struct ort_api *api, struct hardware *h, size_t room)
{
	struct weft_dev_info cards[MOST_HARDWARE];
	struct ort_status *status = NULL;
	char broker[WEFT_DEV_WHERE], msg[WEFT_DEV_MSG];
	size_t n = 0;

	if (!h->makes || !room)
		return NULL;
	/* It has the cards, and gives each session one. */
	if (!weft_dev_broker(broker, msg) && broker[0])
		return make_one(api, h, broker, "broker");
	/* Where the USB cannot be looked at there are no cards; opening one says why. */
	if (weft_dev_list(cards, MOST_HARDWARE, &n, msg))
		n = 0;
	n = n < MOST_HARDWARE ? n : MOST_HARDWARE;
	for (size_t i = 0; !status && i < n && h->n < room; i++)
		if (cards[i].name[0])
			status = make_one(api, h, cards[i].name, cards[i].where);
	return status || h->n ? status : make_one(api, h, NULL, NULL);
}

void hardware_release(struct hardware *h)
{
	while (h->n)
		h->makes->release_hardware(h->made[--h->n]);
}

bool hardware_cards(const struct ort_api *api, const struct ort_hardware *const *hardware, size_t n, struct plugin_options *o)
{
	char list[PLUGIN_PATH] = "";
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		const struct ort_pairs *pairs = api->hardware_metadata(hardware[i]);
		const char *serial = pairs ? api->value_of(pairs, KEY_SERIAL) : NULL;
		if (!serial)
			return false;
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? "," : "", serial);
		if (len >= sizeof(list))
			return false;
	}
	if (!n)
		return false;
	o->device = WEFT_DEVICE_USB;
	strcpy(o->usb, list);
	return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Which cards there are, and what is known of an open one. */
#include <errno.h>

#include "driver/device.h"
#include "driver/usb/usb.h"

int weft_dev_list(struct weft_dev_info *out, size_t max, size_t *n, char msg WEFT_ROOM(WEFT_DEV_MSG))
{
	return weft_usb_list(out, max, n, msg);
}

int weft_dev_watch(weft_dev_watcher *fn, void *user, unsigned timeout_ms, char msg WEFT_ROOM(WEFT_DEV_MSG))
{
	msg[0] = '\0';
	return weft_usb_watch(fn, user, weft_dev_until(timeout_ms), msg);
}

int weft_dev_card(weft_dev *dev, struct weft_card_info *out)
{
	int err = dev->be->async ? weft_dev_enter(dev, false) : -ENOTSUP;

	if (err)
		return err;
	dev->be->async->info(dev->state, out);
	return weft_dev_leave(dev, 0);
}

int weft_dev_usb(weft_dev *dev, struct weft_usb_info *out)
{
	int err = dev->be->async ? weft_dev_enter(dev, true) : -ENOTSUP;

	return err ? err : weft_dev_leave(dev, dev->be->async->usb(dev->state, out, weft_dev_msg(dev)));
}

int weft_dev_traffic(weft_dev *dev, weft_traffic *fn, void *user)
{
	int err = dev->be->async ? weft_dev_enter(dev, false) : -ENOTSUP;

	if (err)
		return err;
	dev->be->async->traffic(dev->state, fn, user);
	return weft_dev_leave(dev, 0);
}

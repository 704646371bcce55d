/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cards as libusb sees them. What follows from opening one is in usb_libusb.c.
 */
#ifndef WEFT_DRIVER_USB_FIND_H
#define WEFT_DRIVER_USB_FIND_H

#include <libusb-1.0/libusb.h>

#include "usb.h"

#define WEFT_USB_INTERFACE 0

/** libusb's error as a negative errno. */
WEFT_MUST_USE int weft_usb_errno(int err);

/** A libusb context, or a line in msg. @return 0, -EIO */
WEFT_MUST_USE int weft_usb_start(libusb_context **ctx, char *msg);

bool weft_usb_is_card(libusb_device *dev, struct libusb_device_descriptor *desc);

/**
 * Which other process has the file at path `node` (of at most 62 bytes) open, as far as we may see it: "weft (pid 12)";
 * "" if none has.
 */
void weft_usb_user_of(const char *node, char *out, size_t len);

/** "bus 1 device 4", without opening it. */
void weft_usb_where(libusb_device *dev, char *out, size_t len);

/** Its speed, port and slowest hub, while the list that it comes from is held. */
void weft_usb_place(libusb_device *dev, struct weft_usb_info *i);

/** Opens the device, but claims nothing. Its name is its serial, or its port if it has none. */
void weft_usb_describe(libusb_device *dev, struct weft_dev_info *i);

/** Names a card by its port if another one has the same serial. */
void weft_usb_tell_apart(const struct weft_dev_info *other, struct weft_dev_info *i);

/**
 * For each card that is there now.
 * @return 0; what fn returned, if that is not 0, and no more are looked at; -EIO
 */
WEFT_MUST_USE int weft_usb_each(int (*fn)(void *user, libusb_device *dev), void *user, char *msg);

#endif

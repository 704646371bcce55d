/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A transport to a simulated card in this process: no kernel, no socket. The
 * card lives on between two opens of the driver, as one on a cable does.
 */
#ifndef WEFT_TESTS_INPROC_H
#define WEFT_TESTS_INPROC_H

#include "driver/usb/usb.h"
#include "tools/card/usbdev.h"

/* The card that the next open gets; NULL: none is plugged in. */
void inproc_plug(struct usbdev *d);

extern const struct weft_usb_ops inproc_ops;

#endif

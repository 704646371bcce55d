/* SPDX-License-Identifier: Apache-2.0 */
/* The Verilated USB device behind a simulated host controller, for tests that have a card in their own process. */
#ifndef TESTS_SUPPORT_USB_PHY_H
#define TESTS_SUPPORT_USB_PHY_H

#include <stdint.h>
#include <zlib.h>

#include "include/sim/usb_phy.h"
#include "tests/support/bench_so.h"

/* Its functions; NULL, said on standard output: it is not built. */
static inline const struct weft_usb_phy_ops *usb_phy_ops(void)
{
	return so_api("tests/card/rtl/weft-usb.so", "weft_usb_phy_api");
}

/* The CRC-32 of frames. */
static inline uint32_t usb_phy_crc32(const void *data, unsigned n)
{
	return (uint32_t)crc32(0, data, n);
}

#endif

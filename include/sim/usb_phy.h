/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated host controller, the two lines of a full-speed bus, and the Verilated USB device
 * of hw/usb, whose other side is a simulated chip. build/rtl/weft-usb.so exports
 *
 *	const struct weft_usb_phy_ops *weft_usb_phy_api(void);
 *
 * weft-card takes it with --usb-phy. One thread at a time.
 */
#ifndef SIM_USB_PHY_H
#define SIM_USB_PHY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/chip.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Both change with the functions of a chip, too. */
#define WEFT_USB_PHY_VERSION (1u << 8 | WEFT_CHIP_API_VERSION)
#define WEFT_USB_PHY_PACKET 64     /* bytes of a bulk packet */

struct weft_usb_phy_ops {
	uint32_t version;          /* WEFT_USB_PHY_VERSION */

	/* Plugs in a device around chip, gives it an address and configuration 1. serial: at most 16 characters, copied.
	 * ops and chip stay the caller's, and outlive what open() returns: NULL if there is no memory. */
	void *(*open)(const struct weft_chip_ops *ops, void *chip, const char *serial);
	void (*close)(void *p);

	/* Power was off: the device is new, and has its address and configuration again. The chip is the caller's to reset. */
	void (*power)(void *p);
	/* A reset of the bus, then the same. The device resets the chip's link. */
	void (*port_reset)(void *p);

	/* A request: setup is its 8 bytes, data has room for as many as it asks for, or is NULL if it asks for none.
	 * Returns the bytes that came; -EPIPE: STALL; -ETIMEDOUT: no answer, or one that breaks a rule. */
	int (*control)(void *p, const uint8_t *setup, uint8_t *data);

	/* One transaction with at most WEFT_USB_PHY_PACKET bytes: 0, -EAGAIN: NAK, or as control(). */
	int (*out)(void *p, const uint8_t *data, size_t len);
	/* One transaction: bytes that came into data, of WEFT_USB_PHY_PACKET bytes; -EAGAIN: NAK, or as control(). */
	int (*in)(void *p, uint8_t *data);

	/* Moves bytes between device and chip, time passing on the bus. Returns whether some moved. */
	bool (*pump)(void *p);

	uint64_t (*cycles)(void *p);   /* Returns the cycles of 48 MHz that have passed. */
};

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The card as a USB device: descriptors, requests and two bulk endpoints around
 * a simulated chip. Who carries the transfers (usb-redir, USB/IP, a test in the
 * same process) does not matter here.
 */
#ifndef TOOLS_CARD_USBDEV_H
#define TOOLS_CARD_USBDEV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/chip.h>

#include "include/sim/usb_phy.h"

/* A bulk transfer of the host's. Owned by who queued it. */
struct usbdev_xfer {
	struct usbdev_xfer *next;
	bool in;
	uint8_t *data;
	uint32_t len, actual;
	int status;                /* 0, -EPIPE, -ENODEV */
	void (*done)(struct usbdev_xfer *x);
	void *user;
	/* for usbdev.c */
	bool counted, ready;
	uint32_t skip;             /* OUT: bytes behind this many are lost */
	uint64_t at_ns;            /* done then */
};

enum usbdev_fault_kind {
	USBDEV_DROP,               /* the bytes are lost; a control request is never answered */
	USBDEV_STALL,
	USBDEV_SHORT,              /* the second half is lost */
	USBDEV_CORRUPT,            /* one bit is flipped */
	USBDEV_DELAY,              /* takes arg milliseconds longer */
	USBDEV_DISCONNECT,         /* the cable is pulled; for arg milliseconds, 0: for good */
	USBDEV_HANG,               /* the core stops: firmware hangs */
	USBDEV_MEMORY,             /* flip bit arg of card memory, counted in bits */
	USBDEV_BUS,                /* load number arg of a stream gets a bus error */
	USBDEV_PE,                 /* rtl: bit arg % 64 of the sum of PE row arg / 64 / 256, column arg / 64 % 256 stuck at 1 */
	USBDEV_N_KINDS,
};

/* Something goes wrong with transfer number at, counted from 0 since the device was made. */
struct usbdev_fault {
	enum usbdev_fault_kind kind;
	uint64_t at, arg;
	bool done;
};

struct usbdev;

/** faults stay the caller's. */
struct usbdev *usbdev_new(const struct weft_chip_ops *ops, void *chip, const char *serial,
                          struct usbdev_fault *faults, size_t n_faults);
void usbdev_free(struct usbdev *d);

/** From now on the chip's cycles take the time that they take at so many kHz; 0: as fast as it can be simulated, as at first. */
void usbdev_pace(struct usbdev *d, uint32_t khz);

/**
 * From now on transfers go through a simulated host controller and the Verilated USB device around the same
 * chip. phy stays the caller's.
 */
void usbdev_use_phy(struct usbdev *d, const struct weft_usb_phy_ops *ops, void *phy);

/** Returns whether the device is at high speed, else at full speed. */
bool usbdev_high_speed(const struct usbdev *d);
/** Returns the bytes of a bulk packet. */
unsigned usbdev_packet(const struct usbdev *d);

/** "KIND@N" or "KIND@N,ARG". @return 0, -EINVAL */
int usbdev_parse_fault(const char *text, struct usbdev_fault *f);
const char *usbdev_fault_name(enum usbdev_fault_kind kind);

/**
 * A request on endpoint 0. setup is the 8 bytes; data has wLength of them.
 * @return bytes of data, or -EPIPE (stall), -ENODEV, -ETIMEDOUT (never answered)
 */
int usbdev_control(struct usbdev *d, const uint8_t *setup, uint8_t *data);

/** Queue a transfer; x->done() is called from usbdev_step(). */
void usbdev_bulk(struct usbdev *d, struct usbdev_xfer *x);
/** Take it back, if it is still there: then done() is not called. */
bool usbdev_cancel(struct usbdev *d, struct usbdev_xfer *x);

/**
 * Let the chip work and finish what can be finished.
 * @return false: nothing will happen until the host does something, or until *wake_ns
 */
bool usbdev_step(struct usbdev *d, uint64_t *wake_ns);

/**
 * Returns whether the device is on the bus. A pulled device comes back when its time is over, or by
 * usbdev_attach().
 */
bool usbdev_attached(struct usbdev *d);
void usbdev_attach(struct usbdev *d, bool attached);
/** The host resets the port. */
void usbdev_port_reset(struct usbdev *d);

/** One host at a time, whichever way it comes. @return false: another has it */
bool usbdev_claim(struct usbdev *d, const void *who);
void usbdev_release(struct usbdev *d, const void *who);

uint64_t usbdev_n_transfers(const struct usbdev *d);
const char *usbdev_serial(const struct usbdev *d);

#endif

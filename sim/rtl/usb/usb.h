/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Benches of the USB device at full speed (hw/usb) behind a host at the level of packets. They
 * return 0, or -1 and say in msg (WEFT_USB_MSG bytes) what went wrong. The shared object exports
 * weft_usb_bench_api(), and what include/sim/usb_phy.h says.
 */
#ifndef WEFT_RTL_USB_H
#define WEFT_RTL_USB_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_USB_MSG 256

/* What a random run came by. */
struct weft_usb_counts {
	uint64_t transactions, packets, cycles;
	uint64_t out_bytes, in_bytes;    /* that arrived */
	uint64_t broken;                 /* packets of the host that were lost or broken */
	uint64_t acks, naks, stalls, silent, repeated;
	uint64_t controls, bus_resets, link_resets;
};

struct weft_usb_bench_api {
	/* Before all others: weft_usb_descriptor(), for what the device must answer. */
	void (*descriptors)(const uint8_t *(*of)(unsigned which, size_t *len_bytes));
	/* n random transactions beside a reference model, the device's clock ppm too fast. */
	int (*random)(uint64_t seed, unsigned n, int ppm, struct weft_usb_counts *counts, char *msg);
	/* Rule number i: *section of USB 2.0 and *name, and whether it holds. 1: there is no such rule. */
	int (*rule)(unsigned i, const char **section, const char **name, char *msg);
};

const struct weft_usb_bench_api *weft_usb_bench_api(void);

#ifdef __cplusplus
}
#endif
#endif

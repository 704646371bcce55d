/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hardware on which the provider offers itself to ONNX Runtime, which finds no cards on the USB by itself.
 */
#ifndef WEFT_ORT_HARDWARE_H
#define WEFT_ORT_HARDWARE_H

#include "ep.h"

#define MOST_HARDWARE 8

/* Pieces of hardware that a factory has made, all zero at first. ONNX Runtime refers to them until the library is unregistered. */
struct hardware {
	const struct ort_ep_api *makes;    /* what makes them; NULL: this release of ONNX Runtime cannot */
	struct ort_hardware *made[MOST_HARDWARE];
	size_t n;
};

/**
 * Make pieces of hardware, NPUs, at most `room` and MOST_HARDWARE of them. If a broker has the cards
 * (weft_dev_broker()), that is one for all of them; otherwise one for each card that is plugged in and has a
 * serial; and if there is none of either, one that says that it is virtual. What opens it, "@PATH" of the
 * broker or the card's serial as weft_dev_list() gives it, stands in its metadata. Does nothing if h->makes is
 * NULL or room is 0.
 * @return NULL, or ONNX Runtime's status; h has what was made, for hardware_release()
 */
struct ort_status *hardware_make(const struct ort_api *api, struct hardware *h, size_t room);

/** Release what hardware_make() made. h->n is 0 then. */
void hardware_release(struct hardware *h);

/**
 * Set the device in *o to the cards that n pieces of hardware are: one by its serial or its broker's socket,
 * several as a list.
 * @return whether n is not 0, none is the virtual NPU and the list fits; otherwise *o is unchanged
 */
bool hardware_cards(const struct ort_api *api, const struct ort_hardware *const *hardware, size_t n, struct plugin_options *o);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protocol buffers as bytes. A message starts as all zeros and grows at its end. If there is no
 * memory, `failed` is set, and from then on nothing is appended.
 */
#ifndef WEFT_ORT_WIRE_H
#define WEFT_ORT_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wire {
	uint8_t *data;             /* from malloc; wire_free() frees it */
	size_t len, room;          /* bytes used, and bytes allocated */
	bool failed;               /* there was no memory */
};

/**
 * Append a field with its number and value: an integer, a float, len bytes, or a text without its zero
 * byte.
 */
void wire_int(struct wire *w, unsigned field, int64_t v);
void wire_float(struct wire *w, unsigned field, float v);
void wire_bytes(struct wire *w, unsigned field, const void *data, size_t len);
void wire_text(struct wire *w, unsigned field, const char *text);

/** Append a field that is a message, and free that message. If it has failed, w has failed too. */
void wire_message(struct wire *w, unsigned field, struct wire *inner);

/** Free a message's bytes and make it empty. */
void wire_free(struct wire *w);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protocol buffers as bytes: a message grows at its end. An allocation that fails is
 * remembered, and everything after it does nothing.
 */
#ifndef WEFT_ORT_WIRE_H
#define WEFT_ORT_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wire {
	uint8_t *data;             /* from malloc; wire_free() frees it */
	size_t len, room;
	bool failed;               /* there was no memory */
};

/** Field number, then the value, of the kinds that ONNX's messages have. */
void wire_int(struct wire *w, unsigned field, int64_t v);
void wire_float(struct wire *w, unsigned field, float v);
void wire_bytes(struct wire *w, unsigned field, const void *data, size_t len);
void wire_text(struct wire *w, unsigned field, const char *text);

/** A message inside one; inner is freed. */
void wire_message(struct wire *w, unsigned field, struct wire *inner);

void wire_free(struct wire *w);

#endif

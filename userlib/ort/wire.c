/* SPDX-License-Identifier: Apache-2.0 */
/* The writer of protocol buffers, with the three kinds of the wire format that ONNX's messages need. */
#include <stdlib.h>
#include <string.h>

#include "wire.h"

enum { KIND_VARINT, KIND_BYTES = 2, KIND_32 = 5 };

/*
 * Appends len bytes to a message, which grows as needed. If there is no memory, w->failed is set; then,
 * and from then on, nothing is appended.
 */
static void put(struct wire *w, const void *data, size_t len)
{
	if (w->failed)
		return;
	if (w->room - w->len < len) {
		size_t room = (w->len + len) * 2 + 64;
		uint8_t *more = room > w->len + len ? realloc(w->data, room) : NULL;
		if (!more) {
			w->failed = true;
			return;
		}
		w->data = more;
		w->room = room;
	}
	if (len)
		memcpy(w->data + w->len, data, len);
	w->len += len;
}

/* Appends a number in 7-bit groups, the lowest first. */
static void put_varint(struct wire *w, uint64_t v)
{
	uint8_t bytes[10];
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		bytes[n++] = (uint8_t)(v | 0x80);
	bytes[n++] = (uint8_t)v;
	put(w, bytes, n);
}

/* Appends the key of a field: its number and its kind. */
static void put_key(struct wire *w, unsigned field, unsigned kind)
{
	put_varint(w, (uint64_t)field << 3 | kind);
}

void wire_int(struct wire *w, unsigned field, int64_t v)
{
	put_key(w, field, KIND_VARINT);
	put_varint(w, (uint64_t)v);
}

void wire_float(struct wire *w, unsigned field, float v)
{
	put_key(w, field, KIND_32);
	put(w, &v, sizeof(v));
}

void wire_bytes(struct wire *w, unsigned field, const void *data, size_t len)
{
	put_key(w, field, KIND_BYTES);
	put_varint(w, len);
	put(w, data, len);
}

void wire_text(struct wire *w, unsigned field, const char *text)
{
	wire_bytes(w, field, text, strlen(text));
}

void wire_message(struct wire *w, unsigned field, struct wire *inner)
{
	if (inner->failed)
		w->failed = true;
	wire_bytes(w, field, inner->data, inner->len);
	wire_free(inner);
}

void wire_free(struct wire *w)
{
	free(w->data);
	*w = (struct wire){ 0 };
}

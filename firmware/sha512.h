/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-512 of FIPS 180-4. Also compiled for the host, where tests compare it with others. */
#ifndef WEFT_FIRMWARE_SHA512_H
#define WEFT_FIRMWARE_SHA512_H

#include <stdint.h>

#define SHA512_BYTES 64

/* A digest under way. Messages of less than 2^32 bytes. */
struct sha512 {
	uint64_t h[8];
	uint8_t block[128];    /* bytes that do not make a whole block yet */
	uint32_t n_bytes;      /* of the message so far */
};

void sha512_begin(struct sha512 *s);
/* The message goes on with n bytes at data, which need no alignment. */
void sha512_add(struct sha512 *s, const void *data, uint32_t n);
/* The message ends; its digest. */
void sha512_end(struct sha512 *s, uint8_t digest[SHA512_BYTES]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4) of bytes in memory. */
#ifndef WEFT_ORT_SHA256_H
#define WEFT_ORT_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES 32

/**
 * Write the SHA-256 of len bytes of data (data may be NULL if len is 0) to out, the first byte of the
 * digest first.
 */
void sha256(const void *data, size_t len, uint8_t out[SHA256_BYTES]);

#endif

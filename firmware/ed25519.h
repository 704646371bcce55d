/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is an Ed25519 signature right (RFC 8032)? Only that: nothing here is secret, so nothing is of constant time. Also
 * compiled for the host, where tests compare it with others.
 *
 *	ed25519_begin(&s, key, signature);
 *	sha512_add(&s, message, n);        as often as the message has parts
 *	good = ed25519_end(&s, key, signature);
 */
#ifndef WEFT_FIRMWARE_ED25519_H
#define WEFT_FIRMWARE_ED25519_H

#include <stdbool.h>
#include <stdint.h>

#include "sha512.h"

#define ED25519_KEY_BYTES       32
#define ED25519_SIGNATURE_BYTES 64

void ed25519_begin(struct sha512 *s, const uint8_t key[ED25519_KEY_BYTES], const uint8_t signature[ED25519_SIGNATURE_BYTES]);

/*
 * false: the signature is refused. The rules are those of RFC 8032, 5.1.7 and 5.1.3: s below the order L of the
 * base point; y of the key below p, a point of the curve, and no sign bit where x is 0; and the equation without
 * the cofactor, [s]B = R + [k]A, by comparing encodings, so that an R that is not canonical is refused, too.
 */
bool ed25519_end(struct sha512 *s, const uint8_t key[ED25519_KEY_BYTES], const uint8_t signature[ED25519_SIGNATURE_BYTES]);

/* Given by whoever uses this: called about every 30 000 cycles of the core, for its watchdog. */
void ed25519_alive(void);

#endif

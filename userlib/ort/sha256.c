/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256, FIPS 180-4: sections 4.1.2 (functions), 4.2.2 (constants), 5.1.1 (padding), 5.3.3 (first
 * state), 6.2.2 (computation).
 */
#include "sha256.h"

#include <string.h>

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/* Rotates x right by n bits, 1..31. */
static uint32_t rotate(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

/* Takes one block of 64 bytes into the state of 8 words, as section 6.2.2 has it. */
static void take_block(uint32_t state[8], const uint8_t *block)
{
	uint32_t w[64], s[8];

	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < 64; i++)
		w[i] = w[i - 16] + (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] +
		       (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10);
	memcpy(s, state, sizeof(s));
	for (int i = 0; i < 64; i++) {
		const uint32_t t1 = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i];
		const uint32_t t2 = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
		memmove(s + 1, s, 7 * sizeof(s[0]));
		s[4] += t1;
		s[0] = t1 + t2;
	}
	for (int i = 0; i < 8; i++)
		state[i] += s[i];
}

void sha256(const void *data, size_t len, uint8_t out[SHA256_BYTES])
{
	uint32_t state[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
	const uint8_t *const p = data;
	const size_t whole = len / 64 * 64, rest = len - whole;
	uint8_t tail[128] = { 0 };

	for (size_t at = 0; at < whole; at += 64)
		take_block(state, p + at);
	if (rest)
		memcpy(tail, p + whole, rest);
	tail[rest] = 0x80;
	/* The length in bits ends the last block, which is another one if there is no room for it. */
	const size_t end = rest < 56 ? 64 : 128;
	for (int i = 0; i < 8; i++)
		tail[end - 1 - (size_t)i] = (uint8_t)((uint64_t)len * 8 >> 8 * i);
	for (size_t at = 0; at < end; at += 64)
		take_block(state, tail + at);
	for (int i = 0; i < SHA256_BYTES; i++)
		out[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
}

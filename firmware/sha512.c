/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-512 as FIPS 180-4 says: sections 4.1.3, 4.2.3, 5.1.2, 5.3.5 and 6.4. Names are the standard's. */
#include "sha512.h"

#define ROUNDS 80
#define BLOCK  128u

/* 4.2.3: the first 64 bits of the fractional parts of the cube roots of the first eighty primes. */
static const uint64_t k[ROUNDS] = {
	0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc,
	0x3956c25bf348b538, 0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118,
	0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2,
	0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694,
	0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
	0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5,
	0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4,
	0xc6e00bf33da88fc2, 0xd5a79147930aa725, 0x06ca6351e003826f, 0x142929670a0e6e70,
	0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df,
	0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
	0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30,
	0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8,
	0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8,
	0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3,
	0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
	0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b,
	0xca273eceea26619c, 0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178,
	0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b,
	0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c,
	0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817,
};

/* 5.3.5: of the square roots of the first eight primes. */
static const uint64_t h_0[8] = {
	0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
	0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
};

/* n is 1 to 63. */
static inline uint64_t rotr(uint64_t x, unsigned n)
{
	return x >> n | x << (64 - n);
}

/* Bytes 8 * i to 8 * i + 7 of a block, high first. */
static uint64_t word_at(const uint8_t *block, unsigned i)
{
	uint32_t half[2] = { 0, 0 };

	for (unsigned b = 0; b < 8; b++)
		half[b / 4] = half[b / 4] << 8 | block[8 * i + b];
	return (uint64_t)half[0] << 32 | half[1];
}

/*
 * 6.4.2 for one block. The working variables a to h are v[t] to v[t + 7], and t falls by one each round: so none of
 * them is ever moved, only the new a is written in front of the others, and the old d becomes e.
 */
static void add_block(struct sha512 *s, const uint8_t *block)
{
	uint64_t w[16], v[ROUNDS + 8];

	for (unsigned i = 0; i < 8; i++)
		v[ROUNDS + i] = s->h[i];
	for (unsigned t = 0; t < 16; t++)
		w[t] = word_at(block, t);
	for (unsigned t = 0; t < ROUNDS; t++) {
		uint64_t *p = v + ROUNDS - t, *wt = &w[t % 16];

		if (t >= 16) {
			const uint64_t w2 = w[(t - 2) % 16], w15 = w[(t - 15) % 16];

			*wt += (rotr(w2, 19) ^ rotr(w2, 61) ^ w2 >> 6) + w[(t - 7) % 16] + (rotr(w15, 1) ^ rotr(w15, 8) ^ w15 >> 7);
		}
		const uint64_t a = p[0], e = p[4], ch = (e & (p[5] ^ p[6])) ^ p[6], maj = (a & (p[1] | p[2])) | (p[1] & p[2]);
		const uint64_t t1 = p[7] + (rotr(e, 14) ^ rotr(e, 18) ^ rotr(e, 41)) + ch + k[t] + *wt;

		p[3] += t1;
		p[-1] = t1 + (rotr(a, 28) ^ rotr(a, 34) ^ rotr(a, 39)) + maj;
	}
	for (unsigned i = 0; i < 8; i++)
		s->h[i] += v[i];
}

void sha512_begin(struct sha512 *s)
{
	for (unsigned i = 0; i < 8; i++)
		s->h[i] = h_0[i];
	s->n_bytes = 0;
}

void sha512_add(struct sha512 *s, const void *data, uint32_t n)
{
	const uint8_t *p = data;

	while (n--) {
		s->block[s->n_bytes++ % BLOCK] = *p++;
		if (s->n_bytes % BLOCK == 0)
			add_block(s, s->block);
	}
}

/* 5.1.2: a 1 bit, zeros, and the length in bits as 16 bytes. */
void sha512_end(struct sha512 *s, uint8_t digest[SHA512_BYTES])
{
	static const uint8_t mark = 0x80, zero = 0;
	const uint32_t n = s->n_bytes;
	const uint8_t length[16] = { [11] = (uint8_t)(n >> 29), (uint8_t)(n >> 21), (uint8_t)(n >> 13), (uint8_t)(n >> 5),
		(uint8_t)(n << 3) };

	sha512_add(s, &mark, 1);
	while (s->n_bytes % BLOCK != BLOCK - sizeof(length))
		sha512_add(s, &zero, 1);
	sha512_add(s, length, sizeof(length));
	for (unsigned i = 0; i < SHA512_BYTES; i++) {
		const uint32_t half = (uint32_t)(i & 4 ? s->h[i / 8] : s->h[i / 8] >> 32);

		digest[i] = (uint8_t)(half >> (24 - 8 * (i & 3)));
	}
}

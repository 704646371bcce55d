/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ed25519 verification, from RFC 8032: p = 2^255 - 19; the curve -x^2 + y^2 = 1 + d x^2 y^2; base point B of order L.
 *
 * Small rather than fast: field elements are eight 32-bit words of any value below 2^256, kept only congruent mod p,
 * with 2^256 = 38 mod p. Points are (X : Y : Z : T) as in 5.1.4, whose formulas hold for all points of the curve,
 * the neutral one and equal ones included.
 */
#include "ed25519.h"

#define WORDS 8

typedef uint32_t num[WORDS];      /* low word first */

struct point {
	num x, y, z, t;
};

/* Curve and field, 5.1. */
static const num p = { 0xffffffed, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x7fffffff };
static const num d = { 0x135978a3, 0x75eb4dca, 0x4141d8ab, 0x00700a4d, 0x7779e898, 0x8cc74079, 0x2b6ffe73, 0x52036cee };
static const num order = { 0x5cf5d3ed, 0x5812631a, 0xa2f79cd6, 0x14def9de, 0x00000000, 0x00000000, 0x00000000, 0x10000000 };
static const num base_x = { 0x8f25d51a, 0xc9562d60, 0x9525a7b2, 0x692cc760, 0xfdd6dc5c, 0xc0a4e231, 0xcd6e53fe, 0x216936d3 };
static const num base_y = { 0x66666658, 0x66666666, 0x66666666, 0x66666666, 0x66666666, 0x66666666, 0x66666666, 0x66666666 };
/* 2^((p - 1) / 4): its square is -1. */
static const num root = { 0x4a0ea0b0, 0xc4ee1b27, 0xad2fe478, 0x2f431806, 0x3dfbd7a7, 0x2b4d0099, 0x4fc1df0b, 0x2b832480 };
static const num one = { 1 };

/* ---- numbers of 256 bits ---- */

static void copy(num r, const num a)
{
	for (unsigned i = 0; i < WORDS; i++)
		r[i] = a[i];
}

/* r = a + b mod 2^256; the carry. */
static uint32_t sum(num r, const num a, const num b)
{
	uint32_t carry = 0;

	for (unsigned i = 0; i < WORDS; i++) {
		const uint32_t s = a[i] + carry;

		carry = s < carry;
		r[i] = s + b[i];
		carry += r[i] < s;
	}
	return carry;
}

/* r = a - b mod 2^256; the borrow. */
static uint32_t difference(num r, const num a, const num b)
{
	uint32_t borrow = 0;

	for (unsigned i = 0; i < WORDS; i++) {
		const uint32_t s = a[i] - b[i], under = a[i] < b[i];

		r[i] = s - borrow;
		borrow = under | (s < borrow);
	}
	return borrow;
}

static bool below(const num a, const num b)
{
	num r;

	return difference(r, a, b);
}

static bool equal(const num a, const num b)
{
	uint32_t other = 0;

	for (unsigned i = 0; i < WORDS; i++)
		other |= a[i] ^ b[i];
	return !other;
}

static void from_bytes(num r, const uint8_t *bytes)
{
	for (unsigned i = 0; i < WORDS; i++, bytes += 4)
		r[i] = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* ---- the field ---- */

/* r += 38 * n mod 2^256, n at most 2^26, and again 38 for a carry. */
static void add_38(num r, uint32_t n)
{
	uint32_t carry = 38 * n;

	while (carry) {
		for (unsigned i = 0; carry && i < WORDS; i++) {
			r[i] += carry;
			carry = r[i] < carry;
		}
		carry *= 38;
	}
}

static void add(num r, const num a, const num b)
{
	add_38(r, sum(r, a, b));
}

static void sub(num r, const num a, const num b)
{
	uint32_t borrow = 38 * difference(r, a, b);

	while (borrow) {
		for (unsigned i = 0; borrow && i < WORDS; i++) {
			const uint32_t under = r[i] < borrow;

			r[i] -= borrow;
			borrow = under;
		}
		borrow *= 38;
	}
}

/* t[0..7] += a * b; t[8] is the carry. */
static inline void multiply_row(uint32_t *t, const num a, uint32_t b)
{
	uint32_t carry = 0;

#pragma GCC unroll 8
	for (unsigned i = 0; i < WORDS; i++) {
		const uint64_t s = (uint64_t)a[i] * b + t[i] + carry;

		t[i] = (uint32_t)s;
		carry = (uint32_t)(s >> 32);
	}
	t[WORDS] = carry;
}

/* r = low + 38 * high half of the product, since 2^256 = 38; what is carried out of that goes in once more. */
static void mul(num r, const num a, const num b)
{
	uint32_t t[2 * WORDS];

	for (unsigned i = 0; i < WORDS; i++)
		t[i] = 0;
	for (unsigned i = 0; i < WORDS; i++)
		multiply_row(t + i, a, b[i]);
	uint64_t s = 0;
	for (unsigned i = 0; i < WORDS; i++) {
		s += (uint64_t)t[WORDS + i] * 38 + t[i];
		r[i] = (uint32_t)s;
		s >>= 32;
	}
	add_38(r, (uint32_t)s);
}

/* r = a squared n times, n at least 1. */
static void square(num r, const num a, unsigned n)
{
	mul(r, a, a);
	while (--n)
		mul(r, r, r);
}

/* The least number that is congruent. */
static void reduce(num r, const num a)
{
	copy(r, a);
	while (!below(r, p))
		difference(r, r, p);
}

static bool same(const num a, const num b)
{
	num r;

	sub(r, a, b);
	reduce(r, r);
	return equal(r, (const num){ 0 });
}

/* r = a^(2^252 - 3). The name of a power is the number of ones in its exponent. */
static void power(num r, const num a)
{
	num a5, a10, a50, t, u;

	square(t, a, 1);
	square(u, t, 2);
	mul(u, u, a);             /* 9 */
	mul(t, t, u);             /* 11 */
	square(t, t, 1);
	mul(a5, t, u);            /* 22 + 9 = 31 */
	square(t, a5, 5);
	mul(a10, t, a5);
	square(t, a10, 10);
	mul(t, t, a10);
	square(u, t, 20);
	mul(t, t, u);             /* 40 */
	square(t, t, 10);
	mul(a50, t, a10);
	ed25519_alive();
	square(t, a50, 50);
	mul(t, t, a50);           /* 100 */
	square(u, t, 100);
	mul(t, t, u);             /* 200 */
	ed25519_alive();
	square(t, t, 50);
	mul(t, t, a50);
	square(t, t, 2);
	mul(r, t, a);
}

/* r = 1 / a = a^(p - 2), and p - 2 = 8 * (2^252 - 3) + 3. */
static void invert(num r, const num a)
{
	num t, cube;

	square(cube, a, 1);
	mul(cube, cube, a);
	power(t, a);
	square(t, t, 3);
	mul(r, t, cube);
}

/* ---- the curve ---- */

/* r = a + b; 5.1.4. r may be a or b. */
static void add_points(struct point *r, const struct point *a, const struct point *b)
{
	num A, B, C, D, t;

	sub(A, a->y, a->x);
	sub(t, b->y, b->x);
	mul(A, A, t);
	add(B, a->y, a->x);
	add(t, b->y, b->x);
	mul(B, B, t);
	mul(C, a->t, b->t);
	mul(C, C, d);
	add(C, C, C);
	mul(D, a->z, b->z);
	add(D, D, D);
	sub(t, B, A);             /* E */
	add(B, B, A);             /* H */
	sub(A, D, C);             /* F */
	add(C, D, C);             /* G */
	mul(r->x, t, A);
	mul(r->y, C, B);
	mul(r->t, t, B);
	mul(r->z, A, C);
}

/* r = 2 r; 5.1.4. */
static void double_point(struct point *r)
{
	num A, B, C, E;

	mul(A, r->x, r->x);
	mul(B, r->y, r->y);
	mul(C, r->z, r->z);
	add(C, C, C);
	add(E, r->x, r->y);
	mul(E, E, E);
	sub(r->z, A, B);          /* G */
	add(B, A, B);             /* H */
	sub(E, B, E);
	add(A, C, r->z);          /* F */
	mul(r->x, E, A);
	mul(r->y, r->z, B);
	mul(r->t, E, B);
	mul(r->z, A, r->z);
}

/*
 * 5.1.3. false: no point. Step 1: y below p; steps 2 and 3: x from y by a power that is a square root, or is one times
 * the root of -1, or there is none; step 4: no x of 0 with the sign bit; the other x where the sign asks for it.
 */
static bool decode(struct point *r, const uint8_t *bytes)
{
	num u, v, t, x;

	from_bytes(r->y, bytes);
	const uint32_t sign = r->y[WORDS - 1] >> 31;
	r->y[WORDS - 1] &= 0x7fffffff;
	if (!below(r->y, p))
		return false;
	square(t, r->y, 1);
	sub(u, t, one);
	mul(v, t, d);
	add(v, v, one);
	mul(t, u, v);
	square(x, v, 1);
	mul(v, t, x);             /* u v^3 */
	mul(t, v, x);
	mul(t, t, x);             /* u v^7 */
	power(t, t);
	mul(x, v, t);
	square(v, r->y, 1);       /* v again */
	mul(v, v, d);
	add(v, v, one);
	square(t, x, 1);
	mul(t, t, v);
	if (!same(t, u)) {
		add(t, t, u);
		if (!same(t, (const num){ 0 }))
			return false;
		mul(x, x, root);
	}
	reduce(r->x, x);
	if (sign && equal(r->x, (const num){ 0 }))
		return false;
	if ((r->x[0] & 1) != sign)
		sub(r->x, p, r->x);
	copy(r->z, one);
	mul(r->t, r->x, r->y);
	return true;
}

/* 5.1.2. Are these bytes the encoding of this point? */
static bool encodes(const uint8_t *bytes, const struct point *a)
{
	num x, y, z, e;

	invert(z, a->z);
	mul(x, a->x, z);
	mul(y, a->y, z);
	reduce(x, x);
	reduce(y, y);
	y[WORDS - 1] |= x[0] << 31;
	from_bytes(e, bytes);
	return equal(y, e);
}

/* Bits 2 i and 2 i + 1. */
static unsigned two_bits(const num a, unsigned i)
{
	return a[i / 16] >> 2 * (i % 16) & 3;
}

/* r = [m]a + [n]b, both scalars two bits at a time (Straus). */
static void multiply_points(struct point *r, const num m, const struct point *a, const num n, const struct point *b)
{
	struct point table[16] = { { .y = { 1 }, .z = { 1 } } }; /* [i / 4]a + [i % 4]b */

	for (unsigned i = 1; i < 16; i++)
		add_points(&table[i], i < 4 ? &table[i - 1] : &table[i - 4], i < 4 ? b : a);
	*r = table[0];
	for (unsigned i = 128; i--;) {
		double_point(r);
		double_point(r);
		add_points(r, r, &table[4 * two_bits(m, i) + two_bits(n, i)]);
		ed25519_alive();
	}
}

/* r = the digest, its first byte the lowest, mod the order of B: bit by bit, r always below the order. */
static void to_scalar(num r, const uint8_t digest[SHA512_BYTES])
{
	copy(r, (const num){ 0 });
	for (unsigned bit = 8 * SHA512_BYTES; bit--;) {
		sum(r, r, r);
		r[0] |= digest[bit / 8] >> bit % 8 & 1;
		if (!below(r, order))
			difference(r, r, order);
	}
}

/* ---- the signature ---- */

void ed25519_begin(struct sha512 *s, const uint8_t key[ED25519_KEY_BYTES], const uint8_t signature[ED25519_SIGNATURE_BYTES])
{
	sha512_begin(s);
	sha512_add(s, signature, 32);
	sha512_add(s, key, ED25519_KEY_BYTES);
}

bool ed25519_end(struct sha512 *s, const uint8_t key[ED25519_KEY_BYTES], const uint8_t signature[ED25519_SIGNATURE_BYTES])
{
	struct point a, b, r;
	uint8_t digest[SHA512_BYTES];
	num k, scalar;

	sha512_end(s, digest);
	from_bytes(scalar, signature + 32);
	if (!below(scalar, order) || !decode(&a, key))
		return false;
	sub(a.x, p, a.x);         /* -A: [s]B - [k]A is R */
	sub(a.t, p, a.t);
	copy(b.x, base_x);
	copy(b.y, base_y);
	copy(b.z, one);
	mul(b.t, b.x, b.y);
	to_scalar(k, digest);
	multiply_points(&r, scalar, &b, k, &a);
	return encodes(signature, &r);
}

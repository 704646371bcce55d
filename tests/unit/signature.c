/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The boot ROM's SHA-512 and Ed25519, compiled for the host: against the vectors of Debian's
 * python3-cryptography-vectors (NIST's for the digest; sign.input, which begins with those of RFC 8032, for the
 * signature), against Debian's libsodium on random messages, and at the edges where RFC 8032 says what is refused.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/ed25519.h"
#include "tests/support/file.h"
#include "tests/support/level.h"
#include "tests/support/tensors.h"

#define VECTORS "/usr/lib/python3/dist-packages/cryptography_vectors/"
#define SODIUM  "libsodium.so.23"

void ed25519_alive(void)
{
}

static bool good(const uint8_t *key, const uint8_t *signature, const void *message, size_t n)
{
	struct sha512 s;

	ed25519_begin(&s, key, signature);
	sha512_add(&s, message, (uint32_t)n);
	return ed25519_end(&s, key, signature);
}

/* Bytes of hexadecimal digits, up to another character; how many. */
static size_t from_hex(uint8_t *to, const char *text)
{
	size_t n = 0;
	unsigned byte;

	for (; isxdigit((unsigned char)text[0]) && sscanf(text, "%2x", &byte) == 1; text += 2)
		to[n++] = (uint8_t)byte;
	return n;
}

static char *vectors(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), VECTORS "%s", name);
	char *text = test_file(path, NULL);
	if (!text) {
		printf("%s is not there (python3-cryptography-vectors)\n", path);
		fflush(stdout);
		skip();
	}
	return text;
}

static void digest_of(const uint8_t *message, size_t n, uint8_t digest[SHA512_BYTES])
{
	struct sha512 s;

	sha512_begin(&s);
	sha512_add(&s, message, (uint32_t)n);
	sha512_end(&s, digest);
}

/* A file of NIST's: lines "Len = bits", "Msg = ...", "MD = ...". */
static unsigned digest_file(const char *name)
{
	char *text = vectors(name), *save = NULL;
	uint8_t *message = malloc(strlen(text)), digest[SHA512_BYTES], want[SHA512_BYTES];
	size_t n = 0;
	unsigned done = 0;

	assert_non_null(message);
	for (char *line = strtok_r(text, "\r\n", &save); line; line = strtok_r(NULL, "\r\n", &save)) {
		if (!strncmp(line, "Len = ", 6)) {
			n = strtoul(line + 6, NULL, 10) / 8;
		} else if (!strncmp(line, "Msg = ", 6)) {
			assert_true(from_hex(message, line + 6) >= n);
		} else if (!strncmp(line, "MD = ", 5)) {
			assert_int_equal(from_hex(want, line + 5), sizeof(want));
			digest_of(message, n, digest);
			assert_memory_equal(digest, want, sizeof(want));
			done++;
		}
	}
	free(message);
	free(text);
	return done;
}

static void digests_as_nist(void **state)
{
	(void)state;
	const unsigned n = digest_file("hashes/SHA2/SHA512ShortMsg.rsp") + digest_file("hashes/SHA2/SHA512LongMsg.rsp");

	printf("%u digests\n", n);
	assert_true(n > 200);
}

/* Each line of sign.input: secret and public key, public key, message, signature and message. */
static void signatures_as_rfc8032(void **state)
{
	char *text, *save = NULL;
	uint64_t rng = test_seed(1);
	unsigned n = 0, refused = 0;

	(void)state;
	text = vectors("asymmetric/Ed25519/sign.input");
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save), n++) {
		uint8_t bytes[32 + 64 + 2048], *const key = bytes, *const signature = bytes + 32, *const message = bytes + 96;
		const char *part[4] = { line };

		for (int i = 1; i < 4; i++) {
			part[i] = strchr(part[i - 1], ':');
			assert_non_null(part[i]);
			part[i]++;
		}
		assert_true(strlen(part[3]) < 2 * (64 + 2048));
		/* The last part is signature and message, and lies so in bytes; the key comes before it. */
		const size_t length = from_hex(signature, part[3]) - ED25519_SIGNATURE_BYTES;
		assert_int_equal(length, from_hex(message, part[2]));
		assert_int_equal(from_hex(key, part[1]), ED25519_KEY_BYTES);
		if (!good(key, signature, message, length))
			fail_msg("line %u: refused", n + 1);
		/* The first with every bit of key and signature flipped, each of the others with one bit. */
		const size_t bits = 8 * (96 + length), step = n ? bits : 1;
		for (size_t bit = n ? test_random(&rng) % bits : 0; bit < bits; bit += step, refused++) {
			bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
			if (good(key, signature, message, length))
				fail_msg("line %u with bit %zu flipped: accepted", n + 1, bit);
			bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
	}
	printf("%u signatures, %u with a flipped bit\n", n, refused);
	assert_int_equal(n, 1024);
	free(text);
}

/* ---- what RFC 8032 refuses ---- */

/* The order L of the base point, low byte first; 5.1. */
static const uint8_t order[32] = { 0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde,
	0x14, [31] = 0x10 };

/* s += the order; false: beyond 256 bits. */
static bool add_order(uint8_t s[32])
{
	unsigned carry = 0;

	for (int i = 0; i < 32; i++) {
		carry += s[i] + (unsigned)order[i];
		s[i] = (uint8_t)carry;
		carry >>= 8;
	}
	return !carry;
}

/* The neutral point (0, 1) as a key, R the same, s 0: the equation holds for every message. RFC 8032 has no rule
 * against such a key, and who chooses a key for a ROM can do worse. What encodes the same otherwise is refused. */
static void refuses_what_is_not_canonical(void **state)
{
	static const uint8_t neutral[32] = { 1 }, with_sign[32] = { 1, [31] = 0x80 };
	uint8_t beyond[32], off_curve[32] = { 2 }, y_is_p[32], signature[64] = { 1 };

	(void)state;
	memset(beyond, 0xff, 32);
	beyond[0] = 0xee;         /* 1 + p */
	beyond[31] = 0x7f;
	memcpy(y_is_p, beyond, 32);
	y_is_p[0] = 0xed;         /* 0 + p; y = 0 is a point */
	assert_true(good(neutral, signature, "x", 1));
	assert_false(good(with_sign, signature, "x", 1));     /* 5.1.3, step 4 */
	assert_false(good(beyond, signature, "x", 1));        /* 5.1.3, step 1 */
	assert_false(good(y_is_p, signature, "x", 1));
	assert_false(good(off_curve, signature, "x", 1));     /* 5.1.3, step 3 */
	memcpy(signature, with_sign, 32);
	assert_false(good(neutral, signature, "x", 1));
	memcpy(signature, beyond, 32);
	assert_false(good(neutral, signature, "x", 1));
	memcpy(signature, neutral, 32);
	memcpy(signature + 32, order, 32);                    /* 5.1.7: s = L is 0 again, but not below L */
	assert_false(good(neutral, signature, "x", 1));
	memset(signature + 32, 0xff, 32);
	assert_false(good(neutral, signature, "x", 1));
}

/* ---- libsodium ---- */

static struct {
	int (*init)(void);
	int (*seed_keypair)(unsigned char *pk, unsigned char *sk, const unsigned char *seed);
	int (*sign)(unsigned char *sig, unsigned long long *n, const unsigned char *m, unsigned long long len, const unsigned char *sk);
	int (*verify)(const unsigned char *sig, const unsigned char *m, unsigned long long len, const unsigned char *pk);
	int (*hash)(unsigned char *out, const unsigned char *in, unsigned long long n);
} sodium;

static int setup(void **state)
{
	void *so = dlopen(SODIUM, RTLD_NOW | RTLD_LOCAL);

	(void)state;
	if (!so)
		return 0;
	*(void **)&sodium.init = dlsym(so, "sodium_init");
	*(void **)&sodium.seed_keypair = dlsym(so, "crypto_sign_ed25519_seed_keypair");
	*(void **)&sodium.sign = dlsym(so, "crypto_sign_ed25519_detached");
	*(void **)&sodium.verify = dlsym(so, "crypto_sign_ed25519_verify_detached");
	*(void **)&sodium.hash = dlsym(so, "crypto_hash_sha512");
	assert_true(sodium.init() >= 0);
	return 0;
}

static void need_sodium(void)
{
	if (sodium.init)
		return;
	printf(SODIUM " is not there (libsodium23)\n");
	fflush(stdout);
	skip();
}

static void fill(uint8_t *to, size_t n, uint64_t *rng)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (uint8_t)test_random(rng);
}

/* In parts, each of another length. */
static void digests_as_libsodium(void **state)
{
	uint8_t message[1500], want[SHA512_BYTES], digest[SHA512_BYTES];
	uint64_t rng = test_seed(2);
	const long rounds = test_count(300, 1000, 20000);

	(void)state;
	need_sodium();
	for (long i = 0; i < rounds; i++) {
		const size_t n = i < 300 ? (size_t)i : test_random(&rng) % sizeof(message);
		struct sha512 s;

		fill(message, n, &rng);
		sha512_begin(&s);
		for (size_t at = 0, part; at < n; at += part) {
			part = 1 + test_random(&rng) % (n - at);
			sha512_add(&s, message + at, (uint32_t)part);
		}
		sha512_end(&s, digest);
		sodium.hash(want, message, n);
		assert_memory_equal(digest, want, sizeof(want));
	}
	printf("%ld random messages\n", rounds);
}

/* What libsodium signs is good; with one bit changed somewhere, and with s + L, both say the same: no. */
static void signatures_as_libsodium(void **state)
{
	uint8_t bytes[32 + 64 + 300], seed[32], secret[64], *const key = bytes, *const signature = bytes + 32, *const message = bytes + 96;
	uint64_t rng = test_seed(3);
	const long rounds = test_count(200, 1000, 20000);
	unsigned beyond = 0;

	(void)state;
	need_sodium();
	for (long i = 0; i < rounds; i++) {
		const size_t n = test_random(&rng) % 300, bit = test_random(&rng) % (8 * (96 + n));

		fill(seed, sizeof(seed), &rng);
		fill(message, n, &rng);
		sodium.seed_keypair(key, secret, seed);
		sodium.sign(signature, NULL, message, n, secret);
		if (!good(key, signature, message, n))
			fail_msg("round %ld: refused", i);
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		const bool theirs = !sodium.verify(signature, message, n, key);
		if (good(key, signature, message, n) != theirs)
			fail_msg("round %ld, bit %zu: libsodium %s it", i, bit, theirs ? "takes" : "refuses");
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		while (add_order(signature + 32)) {           /* the same scalar mod L */
			assert_false(good(key, signature, message, n));
			beyond++;
		}
	}
	printf("%ld random keys and messages, %u scalars not below the order\n", rounds, beyond);
	assert_true(beyond > rounds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digests_as_nist),
		cmocka_unit_test(signatures_as_rfc8032),
		cmocka_unit_test(refuses_what_is_not_canonical),
		cmocka_unit_test(digests_as_libsodium),
		cmocka_unit_test(signatures_as_libsodium),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}

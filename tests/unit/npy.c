/* SPDX-License-Identifier: Apache-2.0 */
/* .npy: every type there and back, NumPy's own spellings, and bad files. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/level.h"
#include "tests/support/mutate.h"
#include <weft/npy.h>

static char path[128];

static int setup(void **state)
{
	test_path(path, sizeof path, "npy-XXXXXX");
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
	(void)state;
	return unlink(path);
}

/* What a type is read back as. */
static weft_dtype held_as(weft_dtype t)
{
	switch (t) {
	case WEFT_INT4:
	case WEFT_INT2:
		return WEFT_INT8;
	case WEFT_INT48:
		return WEFT_INT64;
	case WEFT_BF16:
		return WEFT_UINT16;
	case WEFT_FP8E4M3:
	case WEFT_FP8E5M2:
	case WEFT_FP8E4M3FNUZ:
	case WEFT_FP8E5M2FNUZ:
	case WEFT_FP4E2M1:
	case WEFT_FP8E8M0:
	case WEFT_UINT4:
	case WEFT_UINT2:
		return WEFT_UINT8;
	default:
		return t;
	}
}

static void round_trip_rank(weft_dtype type, int rank)
{
	weft_tensor t = { .dtype = type, .rank = rank }, back;
	char msg[WEFT_NPY_MSG] = "";

	for (int i = 0; i < WEFT_MAX_RANK; i++)
		t.dim[i] = i < rank ? 1 + i % 3 : 1;
	size_t n = weft_tensor_bytes(&t);
	uint8_t *p = malloc(n);
	assert_non_null(p);
	for (size_t i = 0; i < n; i++)
		p[i] = type == WEFT_BOOL ? i % 2 : (uint8_t)(i * 37 + 5);
	t.data = p;
	assert_int_equal(weft_npy_write(path, &t, msg), 0);
	assert_int_equal(weft_npy_read(path, &back, msg), 0);
	assert_int_equal(back.dtype, held_as(type));
	assert_int_equal(back.rank, rank);
	assert_memory_equal(back.dim, t.dim, sizeof t.dim);
	assert_memory_equal(back.data, p, n);
	free(back.data);
	free(p);
}

static void round_trip(void **state)
{
	(void)state;
	for (int type = WEFT_BOOL; type < WEFT_N_DTYPES; type++)
		for (int rank = 0; rank <= WEFT_MAX_RANK; rank++)
			round_trip_rank((weft_dtype)type, rank);
}

/* Values start at a multiple of 64, the header ends in a newline, as NumPy writes. */
static void layout(void **state)
{
	int32_t v[3] = { 1, -2, 3 };
	weft_tensor t = { .dtype = WEFT_INT32, .rank = 1, .dim = { 3, 1, 1, 1, 1, 1, 1, 1 }, .data = v };
	char msg[WEFT_NPY_MSG], got[256];

	(void)state;
	assert_int_equal(weft_npy_write(path, &t, msg), 0);
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	size_t n = fread(got, 1, sizeof got, f);
	fclose(f);
	assert_int_equal(n, 128 + 12);
	assert_memory_equal(got, "\x93NUMPY\x01\x00\x76\x00{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }", 67);
	assert_int_equal(got[127], '\n');
	assert_memory_equal(got + 128, v, sizeof v);
}

/* A file of the given version around a header and n bytes of values. */
static size_t make(uint8_t *out, int version, const char *header, size_t n)
{
	size_t len = strlen(header), at = version == 1 ? 10 : 12;

	memcpy(out, "\x93NUMPY", 6);
	out[6] = (uint8_t)version;
	out[7] = 0;
	out[8] = (uint8_t)len;
	out[9] = (uint8_t)(len >> 8);
	out[10] = out[11] = 0;
	memcpy(out + at, header, len);
	for (size_t i = 0; i < n; i++)
		out[at + len + i] = (uint8_t)(i + 1);
	return at + len + n;
}

static void spellings(void **state)
{
	static const struct { int version; const char *header; size_t n; weft_dtype type; int rank; int64_t dim[2]; } good[] = {
		{ 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }      \n", 24, WEFT_FP32, 2, { 2, 3 } },
		{ 2, "{'descr': '<f2', 'fortran_order': False, 'shape': (5,), }\n", 10, WEFT_FP16, 1, { 5, 1 } },
		{ 3, "{'shape': (), 'fortran_order': False, 'descr': '<i8'}", 8, WEFT_INT64, 0, { 1, 1 } },
		{ 1, "{\"descr\":\"=u2\",\"fortran_order\":False,\"shape\":(1,2)}", 4, WEFT_UINT16, 2, { 1, 2 } },
		{ 1, "{'descr': '<i1', 'fortran_order': False, 'shape': (4,)}", 4, WEFT_INT8, 1, { 4, 1 } },
		{ 1, "{'descr': '|b1', 'fortran_order': False, 'shape': (4,)}", 4, WEFT_BOOL, 1, { 4, 1 } },
	};
	uint8_t file[256];
	char msg[WEFT_NPY_MSG];
	weft_tensor t;

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		size_t n = make(file, good[i].version, good[i].header, good[i].n);
		assert_int_equal(weft_npy_parse(file, n, &t, msg), 0);
		assert_int_equal(t.dtype, good[i].type);
		assert_int_equal(t.rank, good[i].rank);
		assert_int_equal(t.dim[0], good[i].dim[0]);
		assert_int_equal(t.dim[1], good[i].dim[1]);
		assert_int_equal(((uint8_t *)t.data)[3], good[i].type == WEFT_BOOL ? 1 : 4);
		free(t.data);
	}
}

static void refusals_bad(void **state)
{
	static const struct { const char *header; size_t n; int err; const char *says; } bad[] = {
		{ "{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", 4, -ENOTSUP, "npy: type '>f4' is not supported" },
		{ "{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", 8, -ENOTSUP, "npy: type '<c8' is not supported" },
		{ "{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }", 4, -ENOTSUP,
		  "npy: Fortran order is not supported" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 4, -EINVAL,
		  "npy: 4 bytes of values, shape wants 8" },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (0,), }", 0, -ENOTSUP, NULL },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", 4, -EINVAL, NULL },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", 4, -ENOTSUP, NULL },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (65536,65536,65536), }", 4, -ENOTSUP, NULL },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }", 4, -ENOTSUP, NULL },
		{ "{'descr': '<f4', 'shape': (1,), }", 4, -EINVAL, NULL },
		{ "{'descr': '<f4', 'fortran_order': False, 'shape': (1,", 4, -EINVAL, NULL },
		{ "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", 4, -ENOTSUP, NULL },
		{ "", 4, -EINVAL, NULL },
	};
	uint8_t file[256];
	char msg[WEFT_NPY_MSG];
	weft_tensor t;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		size_t n = make(file, 1, bad[i].header, bad[i].n);
		msg[0] = 0;
		if (weft_npy_parse(file, n, &t, msg) != bad[i].err)
			fail_msg("%s: %s", bad[i].header, msg);
		if (bad[i].says)
			assert_string_equal(msg, bad[i].says);
		assert_true(msg[0] && !strchr(msg, '\n'));
	}
	assert_int_equal(weft_npy_read("/nonexistent/x.npy", &t, msg), -ENOENT);
	assert_string_equal(msg, "/nonexistent/x.npy: No such file or directory");
	assert_int_equal(weft_npy_read("/tmp", &t, msg), -EIO);
}

/* Any damage gives a tensor or one line. */
static void damage_bad(void **state)
{
	uint8_t file[256];
	uint32_t rng = 1;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		char msg[WEFT_NPY_MSG] = "";
		weft_tensor t;
		size_t n = make(file, 1 + i % 3, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24);
		for (int k = 0; k <= i % 4; k++) {
			rng = rng * 1664525u + 1013904223u;
			file[(rng >> 16) % n] ^= (uint8_t)(1u << (rng >> 8) % 8);
		}
		if (i % 5 == 0)
			n = (rng >> 9) % (n + 1);
		uint8_t *exact = malloc(n ? n : 1);
		assert_non_null(exact);
		memcpy(exact, file, n);
		int err = weft_npy_parse(exact, n, &t, msg);
		free(exact);
		if (!err) {
			assert_true(weft_tensor_bytes(&t) <= 256);
			free(t.data);
		} else {
			assert_true(msg[0] != 0 && (err == -EINVAL || err == -ENOTSUP));
		}
	}
}

/* Texts of 1 and 4 bytes a character, written as U; damage as above. */
static void texts(void **state)
{
	const char all[3][8] = { "3.14", "", "-1e-5" };
	weft_tensor t = { .rank = 1, .dim = { 3, 1, 1, 1, 1, 1, 1, 1 } }, back;
	char msg[WEFT_NPY_MSG] = "", *text = NULL;
	uint8_t file[256];
	uint32_t rng = 1;
	size_t each = 0;

	(void)state;
	assert_int_equal(weft_npy_write_text(path, &t, all[0], 8, msg), 0);
	assert_int_equal(weft_npy_read_text(path, &back, &text, &each, msg), 0);
	assert_int_equal(each, 6);
	assert_memory_equal(back.dim, t.dim, sizeof t.dim);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(text + i * each, all[i]);
	free(text);
	assert_true(weft_npy_read(path, &back, msg) < 0);
	assert_int_equal(weft_npy_write_text(path, &t, "7\0\0\0x", 2, msg), 0);       /* one character: <U1 */
	assert_int_equal(weft_npy_read_text(path, &back, &text, &each, msg), 0);
	assert_int_equal(each, 2);
	assert_memory_equal(text, "7\0\0\0x", 6);
	free(text);
	for (int i = 0; i < 20000; i++) {
		size_t n = make(file, 1 + i % 3, i & 1 ? "{'descr': '|S4', 'fortran_order': False, 'shape': (2, 3), }\n"
		                                       : "{'descr': '<U2', 'fortran_order': False, 'shape': (3,), }\n", 24);
		for (int k = 0; k < i % 4; k++) {
			rng = rng * 1664525u + 1013904223u;
			file[(rng >> 16) % n] ^= (uint8_t)(1u << (rng >> 8) % 8);
		}
		uint8_t *exact = malloc(n);
		assert_non_null(exact);
		memcpy(exact, file, n);
		int err = weft_npy_parse_text(exact, n, &back, &text, &each, msg);
		free(exact);
		assert_true(err <= 0 && (i % 4 || !err));
		if (!err)
			free(text);
	}
}

/* A file that is larger than what is wanted is not read: here a gigabyte, most of it not even on the disk. */
static void too_large_bad(void **state)
{
	weft_tensor small = { .dtype = WEFT_UINT8, .rank = 1, .dim = { 144, 1, 1, 1, 1, 1, 1, 1 } }, back = { 0 };
	char file[128], msg[WEFT_NPY_MSG] = "";
	uint8_t data[144] = { 7 };

	(void)state;
	test_path(file, sizeof file, "large.npy");
	small.data = data;
	assert_int_equal(weft_npy_write(file, &small, msg), 0);
	assert_int_equal(weft_npy_read_within(file, 144, &back, msg), 0);
	assert_memory_equal(back.data, data, sizeof data);
	free(back.data);
	assert_int_equal(truncate(file, 1 << 30), 0);
	heap_peak(1);
	assert_int_equal(weft_npy_read_within(file, 144, &back, msg), -EFBIG);
	assert_non_null(strstr(msg, "more than"));
	assert_true(heap_peak(0) < 1 << 20);
	unlink(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(layout),
		cmocka_unit_test(spellings),
		cmocka_unit_test(refusals_bad),
		cmocka_unit_test(damage_bad),
		cmocka_unit_test(texts),
		cmocka_unit_test(too_large_bad),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* PNG and JPEG as inputs: channels, quantisation, wrong sizes, bad files. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <png.h>

#include <weft/image.h>

#define H 5
#define W 7

/* Colours that tell channels and places apart. */
static void pixels(uint8_t *p, int channels)
{
	for (int i = 0; i < H * W; i++)
		for (int c = 0; c < channels; c++)
			p[i * channels + c] = (uint8_t)(i * 7 + c * 60);
}

static uint8_t *png_of(int channels, size_t *n)
{
	uint8_t p[H * W * 4];
	png_image image = { .version = PNG_IMAGE_VERSION, .width = W, .height = H,
	                    .format = channels == 4 ? PNG_FORMAT_RGBA : channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY };
	png_alloc_size_t bytes = 65536;
	uint8_t *out = malloc(bytes);

	pixels(p, channels);
	assert_non_null(out);
	assert_true(png_image_write_to_memory(&image, out, &bytes, 0, p, 0, NULL));
	*n = bytes;
	return out;
}

static uint8_t *jpeg_of(int channels, uint8_t value, size_t *n)
{
	struct jpeg_compress_struct c;
	struct jpeg_error_mgr e;
	unsigned long bytes = 0;
	uint8_t *out = NULL, row[W * 3];

	memset(row, value, sizeof row);
	c.err = jpeg_std_error(&e);
	jpeg_create_compress(&c);
	jpeg_mem_dest(&c, &out, &bytes);
	c.image_width = W;
	c.image_height = H;
	c.input_components = channels;
	c.in_color_space = channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
	jpeg_set_defaults(&c);
	jpeg_set_quality(&c, 100, TRUE);
	jpeg_start_compress(&c, TRUE);
	for (int i = 0; i < H; i++) {
		JSAMPROW r = row;
		jpeg_write_scanlines(&c, &r, 1);
	}
	jpeg_finish_compress(&c);
	jpeg_destroy_compress(&c);
	*n = bytes;
	return out;
}

static weft_tensor input(weft_dtype t, int channels)
{
	return (weft_tensor){ .dtype = t, .rank = 4, .dim = { 1, H, W, channels, 1, 1, 1, 1 } };
}

static uint8_t *decode(uint8_t *file, size_t n, weft_tensor want, struct weft_quant q)
{
	char msg[WEFT_IMAGE_MSG] = "";
	weft_tensor t;
	int err = weft_image_decode(file, n, &want, &q, &t, msg);

	free(file);
	if (err)
		fail_msg("%s", msg);
	assert_int_equal(t.dtype, want.dtype);
	assert_memory_equal(t.dim, want.dim, sizeof want.dim);
	return t.data;
}

static void png_channels(void **state)
{
	const struct weft_quant unit = { true, 1.0 / 255, 0 };
	uint8_t rgb[H * W * 3], gray[H * W];
	size_t n;

	(void)state;
	pixels(rgb, 3);
	pixels(gray, 1);
	for (int alpha = 0; alpha < 2; alpha++) {
		uint8_t *file = png_of(3 + alpha, &n);
		uint8_t *got = decode(file, n, input(WEFT_UINT8, 3), unit);
		for (int i = 0; i < H * W * 3; i++)
			assert_int_equal(got[i], rgb[i]);
		free(got);
	}
	uint8_t *file = png_of(1, &n), *got = decode(file, n, input(WEFT_UINT8, 3), unit);
	for (int i = 0; i < H * W * 3; i++)
		assert_int_equal(got[i], gray[i / 3]);
	free(got);
	file = png_of(3, &n);
	got = decode(file, n, input(WEFT_UINT8, 1), unit);
	for (int i = 0; i < H * W; i++)
		assert_int_equal(got[i], (19595 * rgb[3 * i] + 38470 * rgb[3 * i + 1] + 7471 * rgb[3 * i + 2] + 32768) >> 16);
	free(got);
}

static void channels_first(void **state)
{
	const struct weft_quant unit = { true, 1.0 / 255, 0 };
	const weft_tensor want = { .dtype = WEFT_UINT8, .rank = 4, .dim = { 1, 3, H, W, 1, 1, 1, 1 } };
	uint8_t rgb[H * W * 3];
	size_t n;

	(void)state;
	pixels(rgb, 3);
	uint8_t *file = png_of(3, &n), *got = decode(file, n, want, unit);
	for (int i = 0; i < H * W * 3; i++)
		assert_int_equal(got[i], rgb[i % (H * W) * 3 + i / (H * W)]);
	free(got);
}

/* One rule per row: scale, zero point, and the int8 that pixel 200 becomes. */
static void quantisation(void **state)
{
	static const struct { struct weft_quant q; int want; } rows[] = {
		{ { true, 1.0 / 255, -128 }, 72 }, { { true, 1.0 / 256, -128 }, 72 }, { { true, 1.0 / 127.5, -1 }, 72 },
		{ { true, 1.0 / 128, 0 }, 72 }, { { true, 1.0, -128 }, 72 }, { { true, 1.0, 0 }, 72 },
		{ { false, 0, 0 }, 72 },
		{ { true, 0.02, -30 }, 9 },      /* round(0.7843 / 0.02) = 39 */
		{ { true, 1.0 / 255, 0 }, 127 }, /* 200 saturates */
	};
	size_t n;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint8_t *file = jpeg_of(1, 200, &n);
		int8_t *got = (int8_t *)decode(file, n, input(WEFT_INT8, 1), rows[i].q);
		assert_int_equal(got[0], rows[i].want);
		assert_int_equal(got[H * W - 1], rows[i].want);
		free(got);
	}
	/* int16: real values up to 100 are p / 255, greater ones p */
	static const struct { struct weft_quant q; int want; } wide[] = {
		{ { true, 1.0 / 32640, 0 }, 200 * 128 }, { { true, 1.0 / 32767, 0 }, 25700 },  /* 25699.6 */
		{ { true, 0.003, 0 }, 261 },             { { true, 1.0 / 128, 0 }, 200 * 128 },
		{ { true, 1.0 / 64, -5 }, 200 * 64 - 5 }, { { true, 1e-6, 0 }, 32767 },          { { false, 0, 0 }, 200 },
	};
	for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
		uint8_t *file = jpeg_of(1, 200, &n);
		int16_t *got = (int16_t *)decode(file, n, input(WEFT_INT16, 1), wide[i].q);
		assert_int_equal(got[0], wide[i].want);
		assert_int_equal(got[H * W - 1], wide[i].want);
		free(got);
	}
	uint8_t *file = jpeg_of(3, 51, &n);
	float *real = (float *)decode(file, n, input(WEFT_FP32, 3), (struct weft_quant){ 0 });
	for (int i = 0; i < H * W * 3; i++)
		assert_true(real[i] == 51.0f / 255.0f);
	free(real);
}

/* The nearest code of p / 255: 51 is 1/5, 255 is 1. */
static void floats(void **state)
{
	static const struct { weft_dtype t; int bytes; uint16_t fifth, one; } rows[] = {
		{ WEFT_FP16, 2, 0x3266, 0x3c00 }, { WEFT_BF16, 2, 0x3e4d, 0x3f80 },
		{ WEFT_FP8E4M3, 1, 0x25, 0x38 }, { WEFT_FP8E5M2, 1, 0x32, 0x3c },
	};
	size_t n;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (int k = 0; k < 2; k++) {
			uint8_t *file = jpeg_of(1, k ? 255 : 51, &n);
			uint8_t *got = decode(file, n, input(rows[i].t, 1), (struct weft_quant){ 0 });
			uint16_t last = 0;
			memcpy(&last, got + (H * W - 1) * rows[i].bytes, (size_t)rows[i].bytes);
			assert_int_equal(last, k ? rows[i].one : rows[i].fifth);
			free(got);
		}
}

static void refusals_bad(void **state)
{
	weft_tensor want = input(WEFT_INT8, 3), t;
	struct weft_quant q = { true, 1.0 / 255, -128 };
	char msg[WEFT_IMAGE_MSG];
	size_t n;

	(void)state;
	uint8_t *file = png_of(3, &n);
	want.dim[1] = H + 1;
	assert_int_equal(weft_image_decode(file, n, &want, &q, &t, msg), -EINVAL);
	assert_string_equal(msg, "PNG: image is 5 x 7, input is 6 x 7 (height x width)");
	want.dim[1] = H;
	want.dim[3] = 2;
	assert_int_equal(weft_image_decode(file, n, &want, &q, &t, msg), -ENOTSUP);
	want.dim[3] = 3;
	want.dtype = WEFT_INT32;
	assert_int_equal(weft_image_decode(file, n, &want, &q, &t, msg), -ENOTSUP);
	want.dtype = WEFT_INT8;
	for (size_t cut = 0; cut < n - 12; cut++)    /* the last chunk says only that it ends */
		if (weft_image_decode(file, cut, &want, &q, &t, msg) != -EINVAL)
			fail_msg("PNG cut to %zu of %zu", cut, n);
	free(file);
	file = jpeg_of(3, 90, &n);
	for (size_t cut = 0; cut < n - 2; cut++)
		if (weft_image_decode(file, cut, &want, &q, &t, msg) != -EINVAL)
			fail_msg("JPEG cut to %zu of %zu", cut, n);
	free(file);
	assert_int_equal(weft_image_decode("neither nor", 11, &want, &q, &t, msg), -EINVAL);
}

/* Any damage gives pixels or one line. */
static void damage_bad(void **state)
{
	weft_tensor want = input(WEFT_INT8, 3), t;
	struct weft_quant q = { true, 1.0 / 255, -128 };
	uint32_t rng = 3;
	size_t n[2];
	uint8_t *file[2];

	(void)state;
	file[0] = png_of(3, &n[0]);
	file[1] = jpeg_of(3, 90, &n[1]);
	for (int i = 0; i < 6000; i++) {
		char msg[WEFT_IMAGE_MSG] = "";
		size_t len = n[i % 2];
		uint8_t *bad = malloc(len);
		assert_non_null(bad);
		memcpy(bad, file[i % 2], len);
		for (int k = 0; k <= i % 3; k++) {
			rng = rng * 1664525u + 1013904223u;
			bad[(rng >> 12) % len] ^= (uint8_t)(1u << (rng >> 8) % 8);
		}
		int err = weft_image_decode(bad, len, &want, &q, &t, msg);
		free(bad);
		if (!err)
			free(t.data);
		else
			assert_true(msg[0] && !strchr(msg, '\n'));
	}
	free(file[0]);
	free(file[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(png_channels),
		cmocka_unit_test(channels_first),
		cmocka_unit_test(quantisation),
		cmocka_unit_test(floats),
		cmocka_unit_test(refusals_bad),
		cmocka_unit_test(damage_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

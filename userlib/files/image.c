/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <png.h>

#include <weft/convert.h>

#include <weft/file.h>
#include <weft/image.h>

#define MAX_FILE (1u << 30)

/* A picture that is being decoded: pixels of 8 bits with 1 (grey) or 3 (RGB) channels. */
struct pixels {
	uint32_t h, w;             /* the size in pixels that the input wants; a file of another size is refused */
	int channels;              /* 1 or 3, as the file has them */
	uint8_t *p;                /* h * w * channels values, row by row, channels side by side; from malloc */
	char *msg;                 /* the caller's room of WEFT_IMAGE_MSG bytes for one line */
	int err;                   /* the first failure's negative errno, or 0 */
	jmp_buf fail;              /* both libraries report errors by jumping */
};

/*
 * Writes one line into x->msg, notes err (a negative errno) as the decoder's result in x->err, and
 * returns err.
 */
static int complain(struct pixels *x, int err, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(x->msg, WEFT_IMAGE_MSG, format, ap);
	va_end(ap);
	return x->err = err;
}

/*
 * Checks that a picture has the size x->h by x->w that is wanted, and allocates x->p for it. kind
 * ("PNG", "JPEG") begins the message. Returns 0, -EINVAL for another size, or -ENOMEM; x->err and
 * x->msg say so too.
 */
static int prepare(struct pixels *x, const char *kind, uint32_t h, uint32_t w)
{
	if (h != x->h || w != x->w)
		return complain(x, -EINVAL, "%s: image is %u x %u, input is %u x %u (height x width)", kind, (unsigned)h,
		                (unsigned)w, (unsigned)x->h, (unsigned)x->w);
	x->p = malloc((size_t)h * w * (size_t)x->channels);
	return x->p ? 0 : complain(x, -ENOMEM, "%s: out of memory", kind);
}

/* ---- PNG ---- */

/* The bytes of the file that libpng has not taken yet. */
struct source { const uint8_t *p; size_t left; };

/*
 * libpng's read function: copies the next n bytes of the struct source to `to` and advances it. If
 * fewer are left, it calls png_error(), which does not return.
 */
static void png_take(png_structp png, png_bytep to, size_t n)
{
	struct source *s = png_get_io_ptr(png);

	if (n > s->left)
		png_error(png, "file ends early");
	memcpy(to, s->p, n);
	s->p += n;
	s->left -= n;
}

/*
 * libpng's error handler: notes -EINVAL with libpng's message and jumps to the setjmp() of read_png().
 * Does not return.
 */
static void png_failed(png_structp png, png_const_charp why)
{
	struct pixels *x = png_get_error_ptr(png);

	complain(x, -EINVAL, "PNG: %.100s", why);
	longjmp(x->fail, 1);
}

/* libpng's handler of warnings, which ignores them. */
static void png_quiet(png_structp png, png_const_charp why)
{
	(void)png;
	(void)why;
}

/*
 * Decodes a PNG into x->p, row by row, and sets x->channels: 1 for grey, 3 for colour. A palette becomes
 * RGB, 1, 2 and 4 bits are expanded and 16 bits scaled to 8, alpha is dropped, and interlaced files are
 * read. Returns 0, or what x->err then has too, with a line in x->msg: -EINVAL if the picture is not x->h
 * by x->w, -ENOMEM, -ENOTSUP if a row has not w * channels bytes. An error inside libpng does not return
 * but jumps (png_failed).
 */
static int png_rows(struct pixels *x, png_structp png, png_infop info)
{
	png_read_info(png, info);
	int kind = png_get_color_type(png, info);
	x->channels = kind & PNG_COLOR_MASK_COLOR ? 3 : 1;
	if (prepare(x, "PNG", png_get_image_height(png, info), png_get_image_width(png, info)))
		return x->err;
	png_set_expand(png);
	png_set_scale_16(png);
	png_set_strip_alpha(png);
	int passes = png_set_interlace_handling(png);
	png_read_update_info(png, info);
	size_t row = png_get_rowbytes(png, info);
	if (row != (size_t)x->w * (size_t)x->channels)
		return complain(x, -ENOTSUP, "PNG: rows of %zu bytes", row);
	for (int k = 0; k < passes; k++)
		for (uint32_t i = 0; i < x->h; i++)
			png_read_row(png, x->p + i * row, NULL);
	png_read_end(png, NULL);
	return 0;
}

/*
 * Decodes a PNG file of len bytes into x->p, which the caller frees, also after a failure. Pictures
 * above 65536 pixels a side and chunks above 8 MiB are refused. Returns 0 or a negative errno, also in
 * x->err, with a line in x->msg.
 */
static int read_png(struct pixels *x, const void *bytes, size_t len)
{
	struct source s = { bytes, len };
	png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, x, png_failed, png_quiet);
	png_infop info = png ? png_create_info_struct(png) : NULL;

	if (!info) {
		png_destroy_read_struct(&png, NULL, NULL);
		return complain(x, -ENOMEM, "PNG: out of memory");
	}
	png_set_user_limits(png, 65536, 65536);
	png_set_chunk_malloc_max(png, 8u << 20);
	png_set_read_fn(png, &s, png_take);
	if (!setjmp(x->fail))
		x->err = png_rows(x, png, info);
	png_destroy_read_struct(&png, &info, NULL);
	return x->err;
}

/* ---- JPEG ---- */

/* What libjpeg's callbacks get: the decoder, which must come first, its error handlers, and our picture. */
struct jpeg {
	struct jpeg_decompress_struct d;
	struct jpeg_error_mgr e;
	struct pixels *x;
};

/*
 * libjpeg's error handler: notes -EINVAL with libjpeg's message and jumps to the setjmp() of
 * read_jpeg(). Does not return.
 */
static void jpeg_failed(j_common_ptr c)
{
	struct jpeg *j = (struct jpeg *)c;
	char why[JMSG_LENGTH_MAX];

	c->err->format_message(c, why);
	complain(j->x, -EINVAL, "JPEG: %.100s", why);
	longjmp(j->x->fail, 1);
}

/*
 * libjpeg's handler of messages. Those with level below 0 are warnings of damaged data, which libjpeg
 * would go on with by guessing: they are treated as errors (jpeg_failed, which does not return). Others
 * are ignored.
 */
static void jpeg_message(j_common_ptr c, int level)
{
	if (level < 0)
		jpeg_failed(c);
}

/*
 * Decodes a JPEG into x->p, row by row, and sets x->channels: 1 (grey) for 1 component, 3 (RGB) for 3.
 * Returns 0, or what x->err then has too, with a line in x->msg: -ENOTSUP for other numbers of
 * components, -EINVAL if the picture is not x->h by x->w, -ENOMEM. An error inside libjpeg does not
 * return but jumps (jpeg_failed).
 */
static int jpeg_rows(struct jpeg *j)
{
	struct pixels *x = j->x;
	struct jpeg_decompress_struct *d = &j->d;

	jpeg_read_header(d, TRUE);
	if (d->num_components != 1 && d->num_components != 3)
		return complain(x, -ENOTSUP, "JPEG: %d components", d->num_components);
	x->channels = d->num_components;
	if (prepare(x, "JPEG", d->image_height, d->image_width))
		return x->err;
	d->out_color_space = x->channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
	jpeg_start_decompress(d);
	while (d->output_scanline < d->output_height) {
		JSAMPROW row = x->p + (size_t)d->output_scanline * x->w * (size_t)x->channels;
		jpeg_read_scanlines(d, &row, 1);
	}
	jpeg_finish_decompress(d);
	return 0;
}

/*
 * Decodes a JPEG file of len bytes into x->p, which the caller frees, also after a failure. Returns 0
 * or a negative errno, also in x->err, with a line in x->msg.
 */
static int read_jpeg(struct pixels *x, const void *bytes, size_t len)
{
	struct jpeg j = { .x = x };

	j.d.err = jpeg_std_error(&j.e);
	j.e.error_exit = jpeg_failed;
	j.e.emit_message = jpeg_message;
	if (!setjmp(x->fail)) {
		jpeg_create_decompress(&j.d);
		jpeg_mem_src(&j.d, bytes, (unsigned long)len);
		x->err = jpeg_rows(&j);
	}
	jpeg_destroy_decompress(&j.d);
	return x->err;
}

/* ---- values ---- */

/*
 * Says whether a pixel p (0..255) shall simply become the value least + p of an 8-bit type, whose least
 * value is `least` (-128 or 0), without scaling. True if there is no quantisation; if its 256 values
 * span at least 100 (the network takes pixels as 0..255); if they span about 1 (0.97 to 1.03) and the
 * zero point is `least` (pixels as 0..1); or if they span about 2 (1.94 to 2.06) and the zero point is
 * within 1 of the middle, least + 128 (pixels as -1..1).
 */
static bool is_pixel_range(const struct weft_quant *q, int64_t least)
{
	double span = q->scale * 255;

	if (!q->present || span >= 100)
		return true;
	if (fabs(span - 1) < 0.03)
		return q->zp == least;
	return fabs(span - 2) < 0.06 && llabs(q->zp - (least + 128)) <= 1;
}

/*
 * Quantises a real number: divides it by q's scale, rounds to the nearest (ties away from zero), and
 * adds the zero point; without a quantisation the number itself is taken and its fraction cut off.
 * Returns the result limited to least..most.
 */
static int64_t quantised(double real, const struct weft_quant *q, int64_t least, int64_t most)
{
	double v = q->present ? round(real / q->scale) + (double)q->zp : real;

	return v < (double)least ? least : v > (double)most ? most : (int64_t)v;
}

/*
 * Returns the bits of an input element of type t that stands for a pixel p (0..255); q is the input's
 * quantisation. INT8 and UINT8: least value + p if is_pixel_range() says so, otherwise p / 255 quantised.
 * INT16: p / 255 quantised if there is a quantisation whose scale * 32767 is below 100, otherwise p
 * quantised, or p itself without a quantisation. All other types count as floats: p / 255, encoded
 * (saturating).
 */
static uint64_t code_of(weft_dtype t, const struct weft_quant *q, int p)
{
	int64_t least = t == WEFT_INT8 ? -128 : 0;

	if (t == WEFT_INT16)
		return (uint64_t)quantised(q->present && q->scale * 32767 < 100 ? p / 255.0 : p, q, -32768, 32767);
	if (t != WEFT_INT8 && t != WEFT_UINT8)
		return weft_float_encode(t, p / 255.0, true);
	return (uint64_t)(is_pixel_range(q, least) ? p + least : quantised(p / 255.0, q, least, least + 255));
}

bool weft_image_type(weft_dtype t)
{
	switch (t) {
	case WEFT_INT8: case WEFT_UINT8: case WEFT_INT16: case WEFT_FP32: case WEFT_FP16: case WEFT_BF16:
	case WEFT_FP8E4M3: case WEFT_FP8E5M2:
		return true;
	default:
		return false;
	}
}

void weft_image_values(const weft_tensor *t, const struct weft_quant *q, const uint8_t *p)
{
	size_t n = (size_t)weft_tensor_elements(t);
	uint64_t code[256];

	for (int i = 0; i < 256; i++)
		code[i] = code_of(t->dtype, q, i);
	for (size_t i = 0; i < n; i++)
		switch (weft_dtype_bytes(t->dtype)) {
		case 1:  ((uint8_t *)t->data)[i] = (uint8_t)code[p[i]]; break;
		case 2:  ((uint16_t *)t->data)[i] = (uint16_t)code[p[i]]; break;
		default: ((uint32_t *)t->data)[i] = (uint32_t)code[p[i]]; break;
		}
}

/*
 * Returns channel c of pixel i as a picture of `channels` (1 or 3) channels would have it: the same
 * value if x has as many; grey repeated if x is grey; and if RGB has to become grey, 0.299 R + 0.587 G
 * + 0.114 B (ITU-R BT.601) in 16-bit fixed point, rounded.
 */
static uint8_t channel(const struct pixels *x, size_t i, int c, int channels)
{
	const uint8_t *p = x->p + i * (size_t)x->channels;

	if (x->channels == channels)
		return p[c];
	if (x->channels == 1)
		return p[0];
	return (uint8_t)((19595u * p[0] + 38470u * p[1] + 7471u * p[2] + 32768u) >> 16);
}

/*
 * Fills the elements of t, whose memory is there already, from the decoded pixels x. channels is t's
 * number of channels, 1 or 3. If `first` is set, the channels come before height and width ([C,H,W]),
 * otherwise behind them ([H,W,C]). Returns 0 or -ENOMEM.
 */
static int fill(const struct pixels *x, const weft_tensor *t, const struct weft_quant *q, int channels, bool first)
{
	size_t area = (size_t)x->h * x->w, n = area * (size_t)channels;
	uint8_t *p = malloc(n);

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		p[i] = first ? channel(x, i % area, (int)(i / area), channels)
		             : channel(x, i / (size_t)channels, (int)(i % (size_t)channels), channels);
	weft_image_values(t, q, p);
	free(p);
	return 0;
}

bool weft_image_is(const void *bytes, size_t len)
{
	return len >= 8 && (!memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) || !memcmp(bytes, "\xff\xd8\xff", 3));
}

/* True if a number of channels is 1 (grey) or 3 (RGB). */
static bool gray_or_colour(int64_t channels)
{
	return channels == 1 || channels == 3;
}

/*
 * Reads height and width of an image input from the tensor `want` into x->h and x->w, and its number of
 * channels, 1 or 3, into *channels. The tensor must be [H,W,C] or [C,H,W], perhaps with a batch of 1 in
 * front, with sides of 1..65536 and a type that weft_image_type() knows. *first is set if channels come
 * first: only if the last dimension is neither 1 nor 3 and the first one is. Returns 0, or -ENOTSUP,
 * which x->err then has too, with a line in x->msg; x->h, x->w and *channels are not written then.
 */
static int geometry(const weft_tensor *want, struct pixels *x, int *channels, bool *first)
{
	const int64_t *d = want->dim + (want->rank == 4);

	*first = want->rank >= 3 && !gray_or_colour(d[2]) && gray_or_colour(d[0]);
	const int64_t *area = d + *first, c = *first ? d[0] : d[2];
	if ((want->rank != 3 && want->rank != 4) || (want->rank == 4 && want->dim[0] != 1) || area[0] < 1 || area[0] > 65536 ||
	    area[1] < 1 || area[1] > 65536 || !gray_or_colour(c) || !weft_image_type(want->dtype))
		return complain(x, -ENOTSUP, "the input is no image: wants int8, uint8, int16 or float [1,H,W,1 or 3] or [1,1 or 3,H,W]");
	x->h = (uint32_t)area[0];
	x->w = (uint32_t)area[1];
	*channels = (int)c;
	return 0;
}

int weft_image_decode(const void *bytes, size_t len, const weft_tensor *want, const struct weft_quant *q,
                      weft_tensor *t, char msg WEFT_ROOM(WEFT_IMAGE_MSG))
{
	struct pixels x = { .msg = msg };
	int channels = 0;
	bool first = false;

	if (!weft_image_is(bytes, len))
		return complain(&x, -EINVAL, "neither PNG nor JPEG");
	if (geometry(want, &x, &channels, &first))
		return x.err;
	int err = *(const uint8_t *)bytes == 0x89 ? read_png(&x, bytes, len) : read_jpeg(&x, bytes, len);
	if (!err) {
		weft_tensor out = *want;
		out.data = malloc(weft_tensor_bytes(&out));
		if (out.data && !fill(&x, &out, q, channels, first)) {
			*t = out;
		} else {
			free(out.data);
			err = complain(&x, -ENOMEM, "out of memory");
		}
	}
	free(x.p);
	return err;
}

int weft_image_read(const char *path, const weft_tensor *want, const struct weft_quant *q, weft_tensor *t, char msg WEFT_ROOM(WEFT_IMAGE_MSG))
{
	char line[WEFT_IMAGE_MSG];
	uint8_t *p;
	size_t len;
	int err = weft_file_read(path, MAX_FILE, &p, &len);

	if (err)
		snprintf(line, sizeof line, "%s", weft_file_error(err));
	else
		err = weft_image_decode(p, len, want, q, t, line);
	if (err)
		snprintf(msg, WEFT_IMAGE_MSG, "%s: %.160s", path, line);
	free(p);
	return err;
}

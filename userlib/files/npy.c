/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NumPy's file format (.npy). Layout: "\x93NUMPY", a byte each for the major and the minor version,
 * the header's length (2 bytes in version 1, otherwise 4, little-endian), the header, which is a
 * Python dictionary in text, and then the values.
 *
 * Source: NumPy's description of its format (numpy.lib.format).
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/file.h>
#include <weft/npy.h>

#define MAGIC "\x93NUMPY"
#define MAX_HEADER 65536
#define MAX_CHARS 4096         /* the most characters that one string of an array may have */
#define MAX_ELEMENTS ((int64_t)INT32_MAX)
#define MAX_FILE (8 * MAX_ELEMENTS + MAX_HEADER + 12)

/* Writes one line into msg (WEFT_NPY_MSG bytes) and returns err, a negative errno. */
static int complain(char *msg, int err, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(msg, WEFT_NPY_MSG, format, ap);
	va_end(ap);
	return err;
}

/*
 * Our types and NumPy's names for what is stored. When reading, the first row with the file's name
 * holds; when writing, the row of the tensor's type.
 */
static const struct { weft_dtype t; const char *name; } types[] = {
	{ WEFT_BOOL, "|b1" }, { WEFT_INT8, "|i1" }, { WEFT_UINT8, "|u1" }, { WEFT_INT16, "<i2" },
	{ WEFT_UINT16, "<u2" }, { WEFT_INT32, "<i4" }, { WEFT_INT64, "<i8" }, { WEFT_FP16, "<f2" },
	{ WEFT_FP32, "<f4" }, { WEFT_FP64, "<f8" },
	{ WEFT_INT4, "|i1" }, { WEFT_INT48, "<i8" }, { WEFT_BF16, "<u2" },
	{ WEFT_FP8E4M3, "|u1" }, { WEFT_FP8E5M2, "|u1" }, { WEFT_FP8E4M3FNUZ, "|u1" }, { WEFT_FP8E5M2FNUZ, "|u1" },
	{ WEFT_UINT32, "<u4" }, { WEFT_UINT64, "<u8" }, { WEFT_INT2, "|i1" }, { WEFT_UINT2, "|u1" },
	{ WEFT_UINT4, "|u1" }, { WEFT_FP4E2M1, "|u1" }, { WEFT_FP8E8M0, "|u1" },
};
#define N_TYPES (sizeof types / sizeof types[0])

/* ---- header ---- */

/* The header's text that has not been read yet: from p up to but without end. */
struct text { const char *p, *end; };

/* Advances s->p over white space. */
static void blanks(struct text *s)
{
	while (s->p < s->end && isspace((unsigned char)*s->p))
		s->p++;
}

/*
 * Skips white space, and if the character c comes next, skips it too and returns true. Otherwise
 * returns false; the white space stays skipped.
 */
static bool take(struct text *s, char c)
{
	blanks(s);
	if (s->p == s->end || *s->p != c)
		return false;
	s->p++;
	return true;
}

/*
 * Skips white space and reads a string in single or double quotes into out, which has room for `bytes`
 * bytes, ending with a zero byte. A backslash stands for itself, and white space inside the quotes is
 * part of the string. Returns true with s->p behind the closing quote; false if there is no string, a
 * character is not printable ASCII, the string does not fit, or its closing quote is missing; s->p is
 * then where reading stopped, and out is not to be used.
 */
static bool string(struct text *s, char *out, size_t bytes)
{
	size_t n = 0;

	blanks(s);
	if (s->p == s->end || (*s->p != '\'' && *s->p != '"'))
		return false;
	char quote = *s->p++;
	for (; s->p < s->end && *s->p != quote; s->p++) {
		if (n + 1 >= bytes || *s->p < ' ' || *s->p > '~')
			return false;
		out[n++] = *s->p;
	}
	out[n] = 0;
	return take(s, quote);
}

/*
 * Skips white space, and if the text w comes next, skips it too and returns true. Otherwise returns
 * false; the white space stays skipped.
 */
static bool word(struct text *s, const char *w)
{
	size_t n = strlen(w);

	blanks(s);
	if ((size_t)(s->end - s->p) < n || memcmp(s->p, w, n))
		return false;
	s->p += n;
	return true;
}

/*
 * Reads a shape such as (2, 3), (5,) or () into t's rank and dim, and advances s behind it; dimensions
 * behind the rank become 1, and commas may be missing. Each dimension is at least 1, and their product at
 * most MAX_ELEMENTS. Returns 0; -EINVAL if the text is no shape; -ENOTSUP for a larger rank than
 * WEFT_MAX_RANK or a dimension out of range. After a failure msg has a line, and t may be changed in
 * part.
 */
static int shape(struct text *s, weft_tensor *t, char *msg)
{
	int64_t total = 1;

	if (!take(s, '('))
		return complain(msg, -EINVAL, "npy: shape is no tuple");
	for (t->rank = 0; !take(s, ')'); t->rank++) {
		int64_t v = 0;
		blanks(s);
		if (s->p == s->end || !isdigit((unsigned char)*s->p))
			return complain(msg, -EINVAL, "npy: dimension %d is no number", t->rank);
		for (; s->p < s->end && isdigit((unsigned char)*s->p) && v <= MAX_ELEMENTS; s->p++)
			v = v * 10 + (*s->p - '0');
		if (t->rank == WEFT_MAX_RANK)
			return complain(msg, -ENOTSUP, "npy: rank > %d", WEFT_MAX_RANK);
		if (v < 1 || v > MAX_ELEMENTS / total)
			return complain(msg, -ENOTSUP, "npy: dimension %d is %lld; 1 or more, %lld elements in all", t->rank,
			                (long long)v, (long long)MAX_ELEMENTS);
		t->dim[t->rank] = v;
		total *= v;
		take(s, ',');
	}
	for (int i = t->rank; i < WEFT_MAX_RANK; i++)
		t->dim[i] = 1;
	return 0;
}

/*
 * What the header says. t has rank and dimensions; for numbers also the type, and chars is 0. For
 * strings, chars is the number of characters of each and width the bytes of a character, 1 or 4.
 */
struct head { weft_tensor t; size_t chars, width; };

/*
 * Reads the element type, a string such as '<f4'. For a little-endian number type of the table above, h->t.dtype
 * is set; the byte order of one-byte types does not matter, and '=' counts as '<'. For strings, '<U' (4 bytes a
 * character) or '|S' (1 byte) followed by the number of characters, 1 to MAX_CHARS, h->chars and h->width are
 * set, and the type is not; what stands behind the number does not count. Returns 0, or -ENOTSUP with a line in
 * msg for anything else, text that is no string of at most 15 characters included.
 */
static int descr(struct text *s, struct head *h, char *msg)
{
	char name[16];

	if (!string(s, name, sizeof name))
		return complain(msg, -ENOTSUP, "npy: descr is no plain type");
	if (strlen(name) == 3 && name[2] == '1' && name[1] != 'U')      /* one byte has no order */
		name[0] = '|';
	if (name[0] == '=')
		name[0] = '<';
	for (size_t i = 0; i < N_TYPES; i++)
		if (!strcmp(name, types[i].name)) {
			h->t.dtype = types[i].t;
			return 0;
		}
	if (!strncmp(name, "<U", 2) || !strncmp(name, "|S", 2)) {
		h->chars = strtoul(name + 2, NULL, 10);
		h->width = name[1] == 'U' ? 4 : 1;
		if (h->chars && h->chars <= MAX_CHARS)
			return 0;
	}
	return complain(msg, -ENOTSUP, "npy: type '%s' is not supported", name);
}

/*
 * Reads one entry, "key: value", of the header's dictionary into *h and sets the key's bit in *seen: 1
 * descr, 2 shape, 4 fortran_order. Returns 0; -EINVAL for an unknown key or broken text; -ENOTSUP if
 * the type or shape is not supported or fortran_order is True; with a line in msg.
 */
static int entry(struct text *s, struct head *h, unsigned *seen, char *msg)
{
	char key[24];

	if (!string(s, key, sizeof key) || !take(s, ':'))
		return complain(msg, -EINVAL, "npy: header is no dictionary");
	if (!strcmp(key, "descr")) {
		*seen |= 1;
		return descr(s, h, msg);
	}
	if (!strcmp(key, "shape")) {
		*seen |= 2;
		return shape(s, &h->t, msg);
	}
	if (strcmp(key, "fortran_order"))
		return complain(msg, -EINVAL, "npy: header has '%s'", key);
	*seen |= 4;
	if (word(s, "True"))
		return complain(msg, -ENOTSUP, "npy: Fortran order is not supported");
	return word(s, "False") ? 0 : complain(msg, -EINVAL, "npy: fortran_order is neither True nor False");
}

/*
 * Reads the header's dictionary, in which descr, shape and fortran_order must all occur, into *h.
 * Returns 0, -EINVAL or -ENOTSUP with a line in msg. Text behind the closing brace is not looked at.
 */
static int header(struct text s, struct head *h, char *msg)
{
	unsigned seen = 0;

	if (!take(&s, '{'))
		return complain(msg, -EINVAL, "npy: header is no dictionary");
	while (!take(&s, '}')) {
		int err = entry(&s, h, &seen, msg);
		if (err)
			return err;
		take(&s, ',');
	}
	return seen == 7 ? 0 : complain(msg, -EINVAL, "npy: header lacks descr, fortran_order or shape");
}

/* ---- reading ---- */

/*
 * Reads the magic bytes, the version (1 to 3) and the header of a file of len bytes. Clears and fills *h
 * and writes the offset of the first value, in bytes, to *at. Returns 0; -EINVAL (not such a file, cut
 * off, a header of more than MAX_HEADER bytes or a broken one); or -ENOTSUP for a type, shape or order
 * that is not read; with a line in msg.
 */
static int begin(const void *bytes, size_t len, struct head *h, size_t *at, char *msg)
{
	const uint8_t *p = bytes;
	size_t n;

	*h = (struct head){ .width = 0 };
	if (len < 10 || memcmp(p, MAGIC, 6))
		return complain(msg, -EINVAL, "npy: no NUMPY identifier");
	if (p[6] < 1 || p[6] > 3 || (p[6] > 1 && len < 12))
		return complain(msg, -EINVAL, "npy: version %d.%d of %zu bytes", p[6], p[7], len);
	*at = p[6] == 1 ? 10 : 12;
	n = (size_t)p[8] | (size_t)p[9] << 8;
	if (p[6] > 1)
		n |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
	if (n > MAX_HEADER || n > len - *at)
		return complain(msg, -EINVAL, "npy: header of %zu bytes in a file of %zu", n, len);
	int err = header((struct text){ (const char *)p + *at, (const char *)p + *at + n }, h, msg);
	*at += n;
	return err;
}

int weft_npy_parse(const void *bytes, size_t len, weft_tensor *t, char msg WEFT_ROOM(WEFT_NPY_MSG))
{
	const uint8_t *p = bytes;
	struct head h;
	size_t at;
	int err = begin(bytes, len, &h, &at, msg);

	if (err)
		return err;
	if (h.chars)
		return complain(msg, -ENOTSUP, "npy: texts are not supported here");
	weft_tensor got = h.t;
	if (weft_tensor_bytes(&got) != len - at)
		return complain(msg, -EINVAL, "npy: %zu bytes of values, shape wants %zu", len - at, weft_tensor_bytes(&got));
	uint8_t *data = malloc(len - at);
	if (!data)
		return complain(msg, -ENOMEM, "npy: out of memory for %zu bytes", len - at);
	memcpy(data, p + at, len - at);
	for (size_t i = 0; got.dtype == WEFT_BOOL && i < len - at; i++)
		data[i] = data[i] != 0;
	got.data = data;
	*t = got;
	return 0;
}

/*
 * Copies one string of an array, h->chars characters of h->width bytes (little-endian) from p, to out,
 * which has room for h->chars + 1 bytes, and adds a zero byte. A character that is not ASCII becomes
 * '?', since it is part of no number.
 */
static void take_text(const uint8_t *p, const struct head *h, char *out)
{
	for (size_t k = 0; k < h->chars; k++, p += h->width) {
		uint32_t c = h->width == 1 ? *p : (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
		out[k] = (char)(c < 128 ? c : '?');
	}
	out[h->chars] = 0;
}

/*
 * Parses an array of texts (NumPy's U or S) in a file of len bytes. *t gets its shape, no type and no
 * data; *text, from malloc and freed by the caller, gets all texts one after the other, each in *each
 * bytes (one more than the characters of the array's type) and filled up with zero bytes. Characters that
 * are not ASCII become '?'. Returns 0; -EINVAL for a broken file or values that are not as many bytes as
 * the shape wants; -ENOTSUP for an array of numbers or a header that is not supported; or -ENOMEM; with
 * one line in msg. After a failure no output is written.
 */
int weft_npy_parse_text(const void *bytes, size_t len, weft_tensor *t, char **text, size_t *each, char msg WEFT_ROOM(WEFT_NPY_MSG))
{
	struct head h;
	size_t at;
	int err = begin(bytes, len, &h, &at, msg);

	if (err)
		return err;
	if (!h.chars)
		return complain(msg, -ENOTSUP, "npy: numbers, not texts");
	size_t n = (size_t)weft_tensor_elements(&h.t), size = h.chars * h.width;
	if (n > (len - at) / size || n * size != len - at)
		return complain(msg, -EINVAL, "npy: %zu bytes of values, shape wants %zu texts of %zu", len - at, n, size);
	char *out = malloc(n * (h.chars + 1));
	if (!out)
		return complain(msg, -ENOMEM, "npy: out of memory for %zu texts", n);
	for (size_t i = 0; i < n; i++)
		take_text((const uint8_t *)bytes + at + i * size, &h, out + i * (h.chars + 1));
	*t = h.t;
	*text = out;
	*each = h.chars + 1;
	return 0;
}

/*
 * Reads a whole file of at most `most` bytes into *p, memory from malloc that the caller frees, and its
 * length in bytes into *len. Returns 0 or a negative errno with the path and the reason in msg, *p NULL
 * and *len 0: -EFBIG for a larger file, -ENOMEM, -EIO for a folder, or another of weft_file_read().
 */
static int slurp(const char *path, uint64_t most, uint8_t **p, size_t *len, char *msg)
{
	int err = weft_file_read(path, most, p, len);

	if (err == -EFBIG)
		return complain(msg, err, "%s: more than %llu bytes", path, (unsigned long long)most);
	if (err == -ENOMEM)
		return complain(msg, err, "%s: out of memory", path);

	/* A folder is reported as a read error, like anything else that cannot be read. */
	return err ? complain(msg, err == -EISDIR ? -EIO : err, "%s: %s", path, weft_file_error(err)) : 0;
}

/*
 * Reads the array in a .npy file of at most `most` bytes into *t. If text is NULL, the array must be one
 * of numbers, and t->data comes from malloc (weft_npy_parse). Otherwise it must be one of strings, which
 * go to *text and *each (weft_npy_parse_text). Returns 0 or a negative errno with the path and the reason
 * in msg; no output is written then.
 */
static int read_as(const char *path, uint64_t most, weft_tensor *t, char **text, size_t *each, char *msg)
{
	char line[WEFT_NPY_MSG];
	uint8_t *p;
	size_t len;
	int err = slurp(path, most, &p, &len, msg);

	if (err)
		return err;
	err = text ? weft_npy_parse_text(p, len, t, text, each, line) : weft_npy_parse(p, len, t, line);
	if (err)
		complain(msg, err, "%s: %s", path, line);
	free(p);
	return err;
}

int weft_npy_read(const char *path, weft_tensor *t, char msg WEFT_ROOM(WEFT_NPY_MSG))
{
	return read_as(path, MAX_FILE, t, NULL, NULL, msg);
}

int weft_npy_read_within(const char *path, size_t most_bytes, weft_tensor *t, char msg WEFT_ROOM(WEFT_NPY_MSG))
{
	/* NumPy's own headers take 128 bytes; a long one is no reason to refuse few values. */
	return read_as(path, (uint64_t)most_bytes + MAX_HEADER + 12, t, NULL, NULL, msg);
}

int weft_npy_read_text(const char *path, weft_tensor *t, char **text, size_t *each, char msg WEFT_ROOM(WEFT_NPY_MSG))
{
	return read_as(path, MAX_FILE, t, text, each, msg);
}

/* ---- writing ---- */

/*
 * Writes the header's dictionary for t's shape and the type called `name` to out, which has room for
 * `bytes`, and pads it with blanks and a newline so that the values behind it start at a multiple of 64
 * bytes of the file. Returns the header's length in bytes.
 */
static size_t make_header(const weft_tensor *t, const char *name, char *out, size_t bytes)
{
	size_t n = (size_t)snprintf(out, bytes, "{'descr': '%s', 'fortran_order': False, 'shape': (", name);

	for (int i = 0; i < t->rank; i++)
		n += (size_t)snprintf(out + n, bytes - n, "%lld%s", (long long)t->dim[i],
		                      t->rank == 1 ? "," : i + 1 < t->rank ? ", " : "");
	n += (size_t)snprintf(out + n, bytes - n, "), }");
	while ((10 + n + 1) % 64)
		out[n++] = ' ';
	out[n++] = '\n';
	return n;
}

/*
 * Writes a .npy file (version 1): the header for t's shape with the type called `name`, then `bytes`
 * bytes of data. Returns 0 or a negative errno with the path and the reason in msg.
 */
static int write_values(const char *path, const weft_tensor *t, const char *name, const void *data, size_t bytes, char *msg)
{
	char text[512] = "";
	size_t n = make_header(t, name, text, sizeof text);
	const uint8_t head[10] = { 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (uint8_t)n, (uint8_t)(n >> 8) };
	const struct weft_piece pieces[] = { { head, sizeof head }, { text, n }, { data, bytes } };
	int err = weft_file_write_pieces(path, pieces, 3);

	return err ? complain(msg, err, "%s: %s", path, weft_file_error(err)) : 0;
}

/*
 * Returns NumPy's name of the type in which tensors of type t are stored, for example "<f4", or NULL if
 * they cannot be stored.
 */
static const char *name_of(weft_dtype t)
{
	for (size_t i = 0; i < N_TYPES; i++)
		if (types[i].t == t)
			return types[i].name;
	return NULL;
}

weft_dtype weft_npy_stored(weft_dtype t)
{
	const char *name = name_of(t);

	for (size_t i = 0; name && i < N_TYPES; i++)
		if (!strcmp(types[i].name, name))
			return types[i].t;
	return t;
}

int weft_npy_write(const char *path, const weft_tensor *t, char msg WEFT_ROOM(WEFT_NPY_MSG))
{
	const char *name = name_of(t->dtype);

	if (!name || !t->data || t->rank < 0 || t->rank > WEFT_MAX_RANK)
		return complain(msg, -EINVAL, "%s: tensor of type %d, rank %d cannot be written", path, (int)t->dtype, t->rank);
	return write_values(path, t, name, t->data, weft_tensor_bytes(t), msg);
}

/*
 * Writes strings to a .npy file as an array of t's shape and NumPy's unicode type ("<U" with the length
 * of the longest string in bytes, at least 1); each byte becomes one character. text holds one
 * zero-terminated string in each `each` bytes, as many as t has elements. Returns 0, -ENOMEM or another
 * negative errno, with one line in msg that begins with the path.
 */
int weft_npy_write_text(const char *path, const weft_tensor *t, const char *text, size_t each, char msg WEFT_ROOM(WEFT_NPY_MSG))
{
	size_t n = (size_t)weft_tensor_elements(t), most = 1;
	char name[32];

	for (size_t i = 0; i < n; i++)
		most = strlen(text + i * each) > most ? strlen(text + i * each) : most;
	uint8_t *wide = calloc(n * most + 1, 4);
	if (!wide)
		return complain(msg, -ENOMEM, "%s: out of memory", path);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; text[i * each + k]; k++)
			wide[4 * (i * most + k)] = (uint8_t)text[i * each + k];
	snprintf(name, sizeof name, "<U%zu", most);
	int err = write_values(path, t, name, wide, 4 * n * most, msg);
	free(wide);
	return err;
}

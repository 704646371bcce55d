/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensors in files: inputs of every kind, outputs as .npy.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/file.h>
#include <weft/image.h>
#include <weft/npy.h>
#include "weft_cmd.h"

static uint64_t next_random(uint64_t *state)
{
	/* splitmix64 */
	uint64_t z = (*state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* A byte as one of the type's values, where it has fewer. */
static uint8_t narrowed(weft_dtype t, uint8_t v)
{
	switch (t) {
	case WEFT_BOOL:  return v & 1;
	case WEFT_INT4:  return (uint8_t)((int8_t)v >> 4);
	case WEFT_INT2:  return (uint8_t)((int8_t)v >> 6);
	case WEFT_UINT4:
	case WEFT_FP4E2M1: return v >> 4;
	case WEFT_UINT2: return v >> 6;
	default:         return v;
	}
}

void fill_random(weft_tensor *t, uint64_t seed)
{
	size_t n = weft_tensor_bytes(t);
	uint8_t *p = t->data;

	if (t->dtype == WEFT_FP32) {
		for (int64_t i = 0; i < weft_tensor_elements(t); i++)
			((float *)t->data)[i] = (float)((double)(next_random(&seed) >> 40) / 8388608.0 - 1.0);
		return;
	}
	if (t->dtype == WEFT_INT48) {
		for (int64_t i = 0; i < weft_tensor_elements(t); i++)
			((int64_t *)t->data)[i] = (int64_t)next_random(&seed) >> 16;
		return;
	}
	for (size_t i = 0; i < n; i++)
		p[i] = narrowed(t->dtype, (uint8_t)(next_random(&seed) >> 56));
}

weft_tensor tensor_for(const struct weft_port *p)
{
	weft_tensor t = { .dtype = p->dtype, .rank = p->rank };

	memcpy(t.dim, p->dim, sizeof(t.dim));
	return t;
}

int random_input(const weft_net *net, int i, uint64_t seed, weft_tensor *t)
{
	struct weft_port p;

	weft_net_input(net, i, &p);
	*t = tensor_for(&p);
	t->data = malloc(weft_tensor_bytes(t) + 1);
	if (!t->data)
		return -ENOMEM;
	fill_random(t, seed + (uint64_t)i);
	return 0;
}

bool ends_with(const char *s, const char *tail)
{
	size_t n = strlen(s), k = strlen(tail);

	return n > k && !strcasecmp(s + n - k, tail);
}

static int read_raw(const char *file, weft_tensor *t)
{
	size_t want = weft_tensor_bytes(t), got;
	uint8_t *data;
	int err = weft_file_read(file, want, &data, &got);

	t->data = data;
	if (err && err != -EFBIG)
		return fail(file_status(err), "%s: %s", file, weft_file_error(err));
	if (!err && got == want)
		return 0;
	return fail(EXIT_USAGE, "%s: %s%zu bytes, the input takes %zu", file, err ? "more than " : "", err ? want : got, want);
}

static bool is_integer(weft_dtype t)
{
	switch (t) {
	case WEFT_INT8: case WEFT_INT16: case WEFT_INT32: case WEFT_INT64:
	case WEFT_UINT8: case WEFT_UINT16: case WEFT_UINT32: case WEFT_UINT64:
		return true;
	default:
		return false;
	}
}

/*
 * Returns whether a file of type t fits the input p. Where no scale is known, as in .tosa, integers have no
 * sign.
 */
static bool fits(weft_dtype t, const struct weft_port *p)
{
	const weft_dtype want = weft_npy_stored(p->dtype);

	if (t == want)
		return true;
	return !p->quantised && is_integer(t) && is_integer(want) && weft_dtype_bytes(t) == weft_dtype_bytes(want);
}

static int read_npy(const char *file, const struct weft_port *p, weft_tensor *t)
{
	char msg[WEFT_MSG_LEN];
	weft_tensor want = *t;

	/* A number of another type takes 8 bytes at most; which type it is the message says. */
	int err = weft_npy_read_within(file, 8 * (size_t)weft_tensor_elements(t), t, msg);
	if (err)
		return fail(file_status(err), "%s%s", msg, err == -EFBIG ? ", more than the input takes" : "");
	if (!fits(t->dtype, p) || weft_tensor_elements(t) != weft_tensor_elements(&want))
		return fail(EXIT_USAGE, "%s: %lld elements of %s, the input takes %lld of %s", file,
		            (long long)weft_tensor_elements(t), weft_dtype_name(t->dtype),
		            (long long)weft_tensor_elements(&want), weft_dtype_name(p->dtype));
	want.data = t->data;
	*t = want;
	return 0;
}

int read_input(const char *file, const struct weft_port *p, weft_tensor *t)
{
	char msg[WEFT_MSG_LEN];

	*t = tensor_for(p);
	if (ends_with(file, ".npy"))
		return read_npy(file, p, t);
	if (ends_with(file, ".png") || ends_with(file, ".jpg") || ends_with(file, ".jpeg")) {
		const weft_tensor want = *t;
		const struct weft_quant q = { p->quantised, p->scale, p->zp };
		const int err = weft_image_read(file, &want, &q, t, msg);
		return err ? fail(file_status(err), "%s", msg) : 0;
	}
	if (ends_with(file, ".bin"))
		return read_raw(file, t);
	return fail(EXIT_USAGE, "%s: not .npy, .bin, .png or .jpg", file);
}

int can_write(const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[4096];

	if (!access(path, F_OK))
		return access(path, W_OK) ? fail(EXIT_USAGE, "%s: %s", path, strerror(errno)) : 0;
	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
	return access(folder, W_OK | X_OK) ? fail(EXIT_USAGE, "%s: %s", path, strerror(errno)) : 0;
}

int make_dir(const char *dir)
{
	struct stat st;

	if (!mkdir(dir, 0777) || (errno == EEXIST && !stat(dir, &st) && S_ISDIR(st.st_mode)))
		return 0;
	return fail(EXIT_USAGE, "%s: %s", dir, strerror(errno == EEXIST ? ENOTDIR : errno));
}

void safe_name(const char *name, char *safe, size_t len)
{
	size_t k = 0;

	for (; name[k] && k < len - 1; k++)
		safe[k] = isalnum((unsigned char)name[k]) || strchr("._-", name[k]) ? name[k] : '_';
	safe[k] = '\0';
}

int read_whole(const char *path, uint8_t **data, size_t *len)
{
	int err = weft_file_read(path, INT32_MAX, data, len);

	return err ? fail(file_status(err), "%s: %s", path, weft_file_error(err)) : 0;
}

int write_output(const char *dir, int index, const char *name, const weft_tensor *t, char *path, size_t len)
{
	char safe[128], msg[WEFT_MSG_LEN];

	safe_name(name, safe, sizeof(safe));
	if ((size_t)snprintf(path, len, "%s/%d_%s.npy", dir, index, safe) >= len)
		return fail(EXIT_USAGE, "%s: path is too long", dir);
	const int err = weft_npy_write(path, t, msg);
	return err ? fail(output_status(err), "%s", msg) : 0;
}

int write_file(const char *path, const uint8_t *data, size_t len)
{
	int err = weft_file_write(path, data, len);

	return err ? fail(output_status(err), "%s: %s", path, weft_file_error(err)) : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "npz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static uint32_t le16(const uint8_t *p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8; }
static uint32_t le32(const uint8_t *p) { return le16(p) | le16(p + 2) << 16; }

static uint8_t *read_file(const char *path, size_t *n_bytes)
{
	FILE *f = fopen(path, "rb");
	uint8_t *p = NULL;
	long n;

	if (!f)
		return NULL;
	if (fseek(f, 0, SEEK_END) == 0 && (n = ftell(f)) >= 0 && fseek(f, 0, SEEK_SET) == 0) {
		p = malloc((size_t)n + 1);
		if (p && fread(p, 1, (size_t)n, f) != (size_t)n) {
			free(p);
			p = NULL;
		}
		*n_bytes = (size_t)n;
	}
	fclose(f);
	return p;
}

/* The header is Python: {'descr': '<i4', 'fortran_order': False, 'shape': (3, 4), } */
static int parse_header(const char *h, struct npz_array *a, bool *columns_first)
{
	const char *descr = strstr(h, "'descr': '"), *shape = strstr(h, "'shape': (");

	if (!descr || !shape || descr[10] == '>')
		return -1;
	*columns_first = strstr(h, "'fortran_order': True") != NULL;
	a->kind = descr[11];
	a->item_bytes = atoi(descr + 12);
	if (a->item_bytes < 1 || a->item_bytes > 8 || !strchr("iufb", a->kind))
		return -1;
	a->n = 1;
	shape += 10;
	for (a->rank = 0; *shape && *shape != ')' && a->rank < 8; a->rank++) {
		char *end;

		a->dim[a->rank] = strtoll(shape, &end, 10);
		if (end == shape)
			return -1;
		a->n *= a->dim[a->rank];
		for (shape = end; *shape == ',' || *shape == ' '; shape++)
			;
	}
	return *shape == ')' ? 0 : -1;
}

/* Elements whose first index runs fastest, into the usual order. */
static void turn(const uint8_t *from, struct npz_array *a)
{
	const size_t size = (size_t)a->item_bytes;

	for (int64_t i = 0; i < a->n; i++) {
		int64_t rest = i, at = 0, stride[8] = { 1 };

		for (int d = 1; d < a->rank; d++)
			stride[d] = stride[d - 1] * a->dim[d - 1];
		for (int d = a->rank - 1; d >= 0; rest /= a->dim[d--])
			at += rest % a->dim[d] * stride[d];
		memcpy((uint8_t *)a->data + (size_t)i * size, from + (size_t)at * size, size);
	}
}

static int parse_npy(const uint8_t *p, size_t n, struct npz_array *a)
{
	size_t at, len, bytes;
	bool columns_first = false;
	char *h;
	int err;

	if (n < 12 || memcmp(p, "\x93NUMPY", 6) != 0)
		return -1;
	at = p[6] == 1 ? 10 : 12;
	len = p[6] == 1 ? le16(p + 8) : le32(p + 8);
	if (len > n - at || !(h = strndup((const char *)p + at, len)))
		return -1;
	err = parse_header(h, a, &columns_first);
	free(h);
	bytes = err ? 0 : (size_t)a->n * (size_t)a->item_bytes;
	if (err || bytes > n - at - len || !(a->data = malloc(bytes + 1)))
		return -1;
	if (columns_first)
		turn(p + at + len, a);
	else
		memcpy(a->data, p + at + len, bytes);
	return 0;
}

int npy_load(const char *path, struct npz_array *a)
{
	size_t n = 0;
	uint8_t *p = read_file(path, &n);
	int err;

	memset(a, 0, sizeof(*a));
	err = p ? parse_npy(p, n, a) : -1;
	free(p);
	return err;
}

static int inflate_raw(const uint8_t *from, size_t n_from, uint8_t *to, size_t n_to)
{
	z_stream s = { .next_in = (Bytef *)from, .avail_in = (uInt)n_from,
	               .next_out = to, .avail_out = (uInt)n_to };
	int end;

	if (inflateInit2(&s, -MAX_WBITS) != Z_OK)
		return -1;
	end = inflate(&s, Z_FINISH);
	inflateEnd(&s);
	return end == Z_STREAM_END && s.total_out == n_to ? 0 : -1;
}

/* One central directory entry: find the local data, unpack, parse. */
static int load_member(const uint8_t *zip, size_t n_zip, const uint8_t *entry, struct npz_array *a)
{
	size_t packed = le32(entry + 20), plain = le32(entry + 24), name = le16(entry + 28);
	size_t at = le32(entry + 42);
	uint8_t *p;
	int err;

	if (name < 5 || name >= sizeof(a->name) || at > n_zip - 30)
		return -1;
	memcpy(a->name, entry + 46, name);
	a->name[name - 4] = '\0';
	at += 30 + le16(zip + at + 26) + le16(zip + at + 28);
	if (at > n_zip || packed > n_zip - at || !(p = malloc(plain + 1)))
		return -1;
	if (le16(entry + 10) == 8)
		err = inflate_raw(zip + at, packed, p, plain);
	else
		err = packed == plain ? (memcpy(p, zip + at, plain), 0) : -1;
	if (!err)
		err = parse_npy(p, plain, a);
	free(p);
	return err;
}

int npz_load(const char *path, struct npz *z)
{
	size_t n = 0, end, at;
	uint8_t *zip = read_file(path, &n);
	int members, err = -1;

	memset(z, 0, sizeof(*z));
	if (!zip || n < 22)
		goto out;
	for (end = n - 22; end > 0 && memcmp(zip + end, "PK\5\6", 4) != 0; end--)
		;
	members = (int)le16(zip + end + 10);
	at = le32(zip + end + 16);
	z->a = calloc((size_t)members + 1, sizeof(*z->a));
	for (err = z->a ? 0 : -1; !err && z->n < members; z->n++) {
		if (at + 46 > n || memcmp(zip + at, "PK\1\2", 4) != 0 ||
		    at + 46 + le16(zip + at + 28) > n) {
			err = -1;
			break;
		}
		err = load_member(zip, n, zip + at, &z->a[z->n]);
		at += 46 + le16(zip + at + 28) + le16(zip + at + 30) + le16(zip + at + 32);
	}
	if (err)
		npz_free(z);
out:
	free(zip);
	return err;
}

void npz_free(struct npz *z)
{
	for (int i = 0; i < z->n; i++)
		free(z->a[i].data);
	free(z->a);
	memset(z, 0, sizeof(*z));
}

const struct npz_array *npz_find(const struct npz *z, const char *name)
{
	for (int i = 0; i < z->n; i++) {
		if (strcmp(z->a[i].name, name) == 0)
			return &z->a[i];
	}
	return NULL;
}

int64_t npz_int(const struct npz_array *a, int64_t i)
{
	const uint8_t *p = (const uint8_t *)a->data + i * a->item_bytes;
	uint64_t v = 0, sign = (uint64_t)1 << (8 * a->item_bytes - 1);

	for (int b = a->item_bytes - 1; b >= 0; b--)
		v = v << 8 | p[b];
	return a->kind == 'i' ? (int64_t)((v ^ sign) - sign) : (int64_t)v;
}

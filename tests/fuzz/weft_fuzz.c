/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program beneath its checksums: the bytes are ten sections as they are before compression, each
 * behind its length (four bytes), and are sealed here as userlib/compile/file/container.c writes
 * them. What loads is verified.
 */
#include <zlib.h>

#include "fuzz.h"
#include "userlib/compile/program.h"

#define N_SECTIONS 10

static const char names[N_SECTIONS][5] = { "HEAD", "GRPH", "CNST", "CMDW", "STEP", "TENS", "OPER", "DBGC", "DBGR", "LATE" };

/* A file under way. */
struct file { uint8_t *p; size_t n; };

static void put(struct file *f, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		f->p[f->n++] = (uint8_t)(v >> 8 * i);
}

/* The next section of the input: its length is cut to what is there. */
static size_t next(const uint8_t **data, size_t *size, const uint8_t **section)
{
	size_t n = 0;

	for (int i = 0; i < 4 && *size; i++, (*data)++, (*size)--)
		n |= (size_t)**data << 8 * i;
	n = n < *size ? n : *size;
	*section = *data;
	*data += n;
	*size -= n;
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *section[N_SECTIONS];
	size_t n[N_SECTIONS];
	uint8_t *packed[N_SECTIONS];
	uLongf stored[N_SECTIONS];
	char msg[WEFT_MSG_LEN] = "";
	weft_net *net = NULL;
	struct file f = { malloc(size * 2 + 4096), 0 };

	memcpy(f.p, "WEFT\r\n\x1a\n", 8);
	f.n = 8;
	put(&f, WEFT_PROGRAM_VERSION, 4);
	put(&f, N_SECTIONS, 4);
	for (int i = 0; i < N_SECTIONS; i++) {
		n[i] = next(&data, &size, &section[i]);
		stored[i] = compressBound(n[i]);
		packed[i] = malloc(stored[i]);
		compress2(packed[i], &stored[i], section[i], n[i], 0);
		memcpy(f.p + f.n, names[i], 4);
		f.n += 4;
		put(&f, crc32_z(0, packed[i], stored[i]), 4);
		put(&f, n[i], 8);
		put(&f, stored[i], 8);
	}
	put(&f, crc32_z(0, f.p, f.n), 4);
	for (int i = 0; i < N_SECTIONS; i++) {
		memcpy(f.p + f.n, packed[i], stored[i]);
		f.n += stored[i];
		free(packed[i]);
	}
	int err = weft_net_load(f.p, f.n, "fuzz.weft", &net, msg);
	fuzz_judge(err, msg);
	if (!err)
		fuzz_judge(weft_net_verify(net, "w16", msg), msg);
	weft_net_free(net);
	free(f.p);
	return 0;
}

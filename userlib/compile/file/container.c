/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The .weft container.
 *
 *   8 bytes   magic
 *   u32       version
 *   u32       count of sections
 *   sections  u32 name, u32 CRC-32 of the stored bytes, u64 raw bytes, u64 stored bytes
 *   u32       CRC-32 of all before
 *   the sections' stored bytes (zlib), in the same order, nothing between or behind
 *
 * Every section appears once, in the order below. Stored bytes are never less
 * than a quarter of the raw ones, less a fixed allowance: what compresses
 * better is stored uncompressed, so that no small file can unfold to a large one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST
#include <zlib.h>

#include "save_program.h"

static const uint8_t magic[8] = { 'W', 'E', 'F', 'T', '\r', '\n', 0x1a, '\n' };

/* Raw bytes of a section are at most RATIO_MAX times its stored bytes and RATIO_FREE more. */
#define RATIO_MAX  4
#define RATIO_FREE (1u << 20)
#define HEAD_BYTES 16          /* magic, version, count of sections */

/* What a section's packing is chosen by: so many pieces of so many bytes each. */
#define PIECES     16
#define PIECE      2048

enum { SEC_HEAD, SEC_GRAPH, SEC_CONSTS, SEC_WORDS, SEC_STEPS, SEC_TENSORS, SEC_OPS, SEC_CMDS, SEC_RECS, SEC_LATE, N_SECTIONS };

static const char section_name[N_SECTIONS][5] = {
	"HEAD", "GRPH", "CNST", "CMDW", "STEP", "TENS", "OPER", "DBGC", "DBGR", "LATE",
};

/* An entry of the table of sections. */
struct section { uint32_t crc; uint64_t raw, stored; };

/*
 * Returns whether the n bytes at data begin with the magic of a .weft container. Nothing else of them is
 * checked.
 */
bool weft_program_is(const uint8_t *data, size_t n)
{
	return n >= sizeof magic && !memcmp(data, magic, sizeof magic);
}

/*
 * Write or read the section of command words: a count, then all 64-bit words. When reading, p->words is
 * allocated and p->n_words set. A failure sets io->err.
 */
static void words_io(struct io *io, weft_program *p)
{
	int n = (int)p->n_words;

	io_count(io, &n, 8);
	if (!io->write && !io->err) {
		p->words = malloc(((size_t)n + 1) * 8);
		if (!p->words)
			io->err = -ENOMEM;
	}
	if (io->err)
		return;
	p->n_words = (uint32_t)n;
	for (int i = 0; i < n; i++)
		io_u64(io, &p->words[i]);
}

/*
 * Write or read the section of constants, which is nothing but their bytes. When reading, all bytes of the
 * section are taken: p->consts is allocated and p->n_consts set. A failure sets io->err.
 */
static void consts_io(struct io *io, weft_program *p)
{
	if (!io->write) {
		p->n_consts = io->n;
		p->consts = malloc(io->n + 1);
		if (!p->consts) {
			io->err = -ENOMEM;
			return;
		}
	}
	io_raw(io, p->consts, (size_t)p->n_consts);
}

/*
 * Write section number `which` of the program into io, or read it from there into the program, as io->write
 * says. When reading, bytes left over behind the section's end are an error. A failure sets io->err, and for
 * -EINVAL io->why, or msg if the graph's own check refused it.
 */
static void section_io(struct io *io, int which, weft_program *p, char *msg)
{
	weft_graph *g = (weft_graph *)p->graph;

	switch (which) {
	case SEC_HEAD:
		save_head(io, p);
		break;
	case SEC_GRAPH:
		save_graph(io, &g, msg);
		if (!io->write)
			p->graph = p->own_graph = g;
		break;
	case SEC_CONSTS:
		consts_io(io, p);
		break;
	case SEC_WORDS:
		words_io(io, p);
		break;
	case SEC_STEPS:
		save_steps(io, p);
		break;
	case SEC_TENSORS:
		save_tensors(io, p);
		break;
	case SEC_OPS:
		save_ops(io, p);
		break;
	case SEC_CMDS:
		save_cmds(io, p);
		break;
	case SEC_RECS:
		save_recs(io, p);
		break;
	default:
		save_late(io, p);
		break;
	}
	if (!io->write && !io->err && io->at != io->n)
		io_fail(io, "bytes follow its end");
}

/* ---- writing ---- */

/* How a section is compressed; zlib's reader need not know. */
struct packing { int level, strategy; };

static const struct packing thorough = { 6, Z_DEFAULT_STRATEGY }, quick = { 1, Z_DEFAULT_STRATEGY };
static const struct packing no_search = { 1, Z_RLE };      /* codes of bytes and runs of one byte; nothing else is looked for */
static const struct packing no_packing = { 0, Z_DEFAULT_STRATEGY };

/*
 * Compress n bytes with zlib into *room bytes at `to`, and set *room to how many were written. `from` may be
 * NULL if n is 0. Returns 0, or -ENOMEM if zlib has no memory or the result does not fit; compressBound(n)
 * bytes suffice for each packing of this file.
 */
static int deflate_bytes(const uint8_t *from, size_t n, struct packing how, uint8_t *to, size_t *room)
{
	z_stream z = { .next_out = to };
	size_t left = n, space = *room;
	int state = Z_OK;

	if (deflateInit2(&z, how.level, Z_DEFLATED, MAX_WBITS, 8, how.strategy) != Z_OK)
		return -ENOMEM;
	z.next_in = from ? from : (const uint8_t *)"";
	while (state == Z_OK) {                            /* zlib counts in 32 bits */
		const uInt in = left < 1u << 30 ? (uInt)left : 1u << 30, out = space < 1u << 30 ? (uInt)space : 1u << 30;

		z.avail_in = in;
		z.avail_out = out;
		state = deflate(&z, in == left ? Z_FINISH : Z_NO_FLUSH);
		left -= in - z.avail_in;
		space -= out - z.avail_out;
		if (state == Z_BUF_ERROR || (state == Z_OK && !space))
			break;
	}
	deflateEnd(&z);
	*room -= space;
	return state == Z_STREAM_END ? 0 : -ENOMEM;
}

/*
 * Compress the bytes of `raw` into room behind the bytes of `out`, of which they become no part yet. Returns how
 * many they are; without memory out->err is -ENOMEM.
 */
static size_t compress_as(const struct io *raw, struct packing how, struct io *out)
{
	size_t n = compressBound(raw->n);

	io_reserve(out, n);
	if (!out->err)
		out->err = deflate_bytes(raw->p, raw->n, how, out->p + out->n, &n);
	return n;
}

/*
 * Chooses how to compress a section, in *how: thoroughly if it is small (less than twice PIECES * PIECE bytes),
 * or if a quick packing of pieces from all of it saves at least a quarter; else by codes alone, without a
 * search for repetitions, which with most networks' weights takes three times as long and saves less than 1 %
 * more. Returns 0 or -ENOMEM.
 */
static int choose_packing(const struct io *raw, struct packing *how)
{
	uint8_t probe[PIECES * PIECE], packed[PIECES * PIECE + 4096];
	size_t n = sizeof packed;
	int err;

	*how = thorough;
	if (raw->n < 2 * sizeof probe)
		return 0;
	for (size_t i = 0; i < PIECES; i++)
		memcpy(probe + i * PIECE, raw->p + (raw->n - PIECE) / (PIECES - 1) * i, PIECE);
	err = deflate_bytes(probe, sizeof probe, quick, packed, &n);
	if (!err && n > sizeof probe / 4 * 3)
		*how = no_search;
	return err;
}

/*
 * Append a compressed section to `out`, and set *s to checksum and sizes. If it compresses better than a
 * reader accepts (RATIO_MAX, RATIO_FREE), it is stored uncompressed. Without memory out->err is -ENOMEM.
 */
static void pack_section(const struct io *raw, struct io *out, struct section *s)
{
	struct packing how = thorough;
	size_t n = 0;

	if (!out->err)
		out->err = choose_packing(raw, &how);
	if (!out->err)
		n = compress_as(raw, how, out);
	if (!out->err && raw->n > RATIO_MAX * (uint64_t)n + RATIO_FREE)
		n = compress_as(raw, no_packing, out);
	if (out->err)
		return;
	*s = (struct section){ (uint32_t)crc32_z(0, out->p + out->n, n), raw->n, n };
	out->n += n;
}

/*
 * Write or read magic, version, count of sections and the table of sections. When reading, *version, *n and
 * s[N_SECTIONS] are set but not judged; only a section whose name is not the expected one fails (io->err
 * -EINVAL).
 */
static void head_io(struct io *io, uint32_t *version, uint32_t *n, struct section *s)
{
	uint8_t m[8];

	memcpy(m, magic, sizeof m);
	io_raw(io, m, sizeof m);
	io_u32(io, version);
	io_u32(io, n);
	for (int i = 0; i < N_SECTIONS && !io->err; i++) {
		char name[4];
		memcpy(name, section_name[i], 4);
		io_raw(io, name, 4);
		if (memcmp(name, section_name[i], 4))
			io_fail(io, "a section has another name");
		io_u32(io, &s[i].crc);
		io_u64(io, &s[i].raw);
		io_u64(io, &s[i].stored);
	}
}

/* Append the header with the table of sections and its checksum to `out`. A failure sets out->err. */
static void write_head(struct section *s, struct io *out)
{
	uint32_t version = WEFT_PROGRAM_VERSION, n = N_SECTIONS;

	head_io(out, &version, &n, s);
	uint32_t crc = out->err ? 0 : (uint32_t)crc32_z(0, out->p, out->n);
	io_u32(out, &crc);
}

/*
 * Append section i to `out`, and set *s. The constants are compressed from where they are, other sections from a
 * buffer that lives no longer than this. Returns 0; -EINVAL with msg: the container cannot hold a value; -ENOMEM
 * without msg.
 */
static int write_section(weft_program *p, int i, struct io *out, struct section *s, char *msg)
{
	const struct io consts = { .p = p->consts, .n = (size_t)p->n_consts };
	struct io raw = { .write = true };

	if (i != SEC_CONSTS)
		section_io(&raw, i, p, msg);
	if (raw.err == -EINVAL)
		snprintf(msg, WEFT_MSG, "cannot save: %s", raw.why);
	if (!raw.err)
		pack_section(i == SEC_CONSTS ? &consts : &raw, out, s);
	free(raw.p);
	return raw.err ? raw.err : out->err;
}

/*
 * Write the whole container to `out`, which is empty: header, checksum of the header, sections. The header comes
 * twice, since it states what compressing the sections gives. Returns 0; -EINVAL with msg: the container cannot
 * hold a value; -ENOMEM without msg.
 */
static int write_all(const weft_program *p, struct io *out, char *msg)
{
	struct section s[N_SECTIONS] = { { 0 } };
	struct io head = { .write = true };
	weft_program copy = *p;
	int err;

	write_head(s, out);
	err = out->err;
	for (int i = 0; i < N_SECTIONS && !err; i++)
		err = write_section(&copy, i, out, &s[i], msg);
	if (err)
		return err;
	write_head(s, &head);
	if (!head.err)
		memcpy(out->p, head.p, head.n);
	free(head.p);
	return head.err;
}

/*
 * Write the program as a .weft container into memory: *out comes from malloc and has *n_out bytes. Returns 0;
 * -EINVAL: a container cannot hold a value; -ENOMEM. On failure msg (WEFT_MSG bytes) has one line, and *out and
 * *n_out are unchanged.
 */
int weft_program_write(const weft_program *p, uint8_t **out, size_t *n_out, char *msg)
{
	struct io io = { .write = true };

	int err = write_all(p, &io, msg);

	if (err) {
		if (err == -ENOMEM)
			snprintf(msg, WEFT_MSG, "out of memory while saving");
		free(io.p);
		return err;
	}
	*out = io.p;
	*n_out = io.n;
	return 0;
}

/* ---- reading ---- */

/*
 * Write into msg what is wrong with a container, naming the section unless `section` is empty. Returns
 * -EINVAL, for callers to return.
 */
static int say(char *msg, const char *section, const char *why)
{
	snprintf(msg, WEFT_MSG, ".weft%s%s: %s", *section ? " section " : "", section, why);
	return -EINVAL;
}

/*
 * Check one section and decompress it: its raw size must not be more than its stored size allows, its CRC-32
 * must be right, and it must decompress to exactly the raw size, using all stored bytes. Sets raw->p (the
 * caller frees it, also after a failure) and raw->n. Returns 0, -EINVAL with msg, or -ENOMEM without.
 */
static int unpack(const uint8_t *stored, const struct section *s, const char *name, struct io *raw, char *msg)
{
	if (s->raw > RATIO_MAX * s->stored + RATIO_FREE)
		return say(msg, name, "it claims to be larger than its stored bytes allow");
	if (crc32_z(0, stored, s->stored) != s->crc)
		return say(msg, name, "checksum mismatch");
	raw->p = malloc(s->raw ? (size_t)s->raw : 1);
	if (!raw->p)
		return -ENOMEM;
	uLongf n = (uLongf)s->raw, used = (uLongf)s->stored;
	int err = uncompress2(raw->p, &n, stored, &used);
	if (err == Z_MEM_ERROR)
		return -ENOMEM;
	if (err != Z_OK || n != s->raw || used != s->stored)
		return say(msg, name, "it does not decompress to the size that is stated");
	raw->n = (size_t)n;
	return 0;
}

/*
 * Check and decompress section i from its stored bytes and read its contents into the program. Returns 0,
 * -EINVAL with msg, or -ENOMEM without. What was allocated in the program stays there in all cases.
 */
static int read_section(const uint8_t *stored, const struct section *s, int i, weft_program *p, char *msg)
{
	struct io raw = { .write = false };
	int err = unpack(stored, s, section_name[i], &raw, msg);

	if (!err) {
		section_io(&raw, i, p, msg);
		err = raw.err;
		if (err == -EINVAL && raw.why)
			err = say(msg, section_name[i], raw.why);
	}
	free(raw.p);
	return err;
}

/*
 * Read the header of a container of n bytes: magic, version and table of sections must be this library's, and
 * the checksum right. Sets s[N_SECTIONS] and *at, the offset of the first section's bytes. Returns 0, or
 * -EINVAL with msg.
 */
static int read_head(const uint8_t *data, size_t n, struct section *s, size_t *at, char *msg)
{
	struct io io = { .p = (uint8_t *)data, .n = n };
	uint32_t version = 0, count = 0, crc = 0;

	if (!weft_program_is(data, n))
		return say(msg, "", "the file does not begin as one");
	if (n < HEAD_BYTES)
		return say(msg, "", "it ends inside the header");
	io.at = sizeof magic;
	io_u32(&io, &version);
	if (version != WEFT_PROGRAM_VERSION) {
		snprintf(msg, WEFT_MSG, ".weft: version %u, this library reads %d; compile the model again", (unsigned)version, WEFT_PROGRAM_VERSION);
		return -EINVAL;
	}
	io.at = 0;
	head_io(&io, &version, &count, s);
	if (!io.err && count != N_SECTIONS)
		io_fail(&io, "it has another count of sections");
	size_t head = io.at;
	io_u32(&io, &crc);
	if (!io.err && crc32_z(0, data, head) != crc)
		io_fail(&io, "checksum mismatch of the header");
	*at = io.at;
	return io.err ? say(msg, "", io.why) : 0;
}

/*
 * Read all sections of a container of n bytes into the zeroed program p, then check that its tables agree
 * with each other and that nothing follows the last section. Returns 0, -EINVAL with msg, or -ENOMEM without.
 * The caller frees p in all cases.
 */
static int read_all(const uint8_t *data, size_t n, weft_program *p, char *msg)
{
	struct section s[N_SECTIONS];
	struct io check = { .write = false };
	size_t at;
	int err = read_head(data, n, s, &at, msg);

	for (int i = 0; i < N_SECTIONS && !err; i++) {
		if (s[i].stored > n - at)
			return say(msg, section_name[i], "it ends beyond the file");
		err = read_section(data + at, &s[i], i, p, msg);
		at += (size_t)s[i].stored;
	}
	if (err)
		return err;
	if (at != n)
		return say(msg, "", "bytes follow the last section");
	save_check(&check, p);
	return check.err ? say(msg, "", check.why) : 0;
}

/*
 * Read a .weft container of n bytes, none of which is trusted, into a new program *p that owns its graph; the
 * caller frees it by weft_program_free(). Graph and tables are checked here, command words only when the driver
 * gets them. Returns 0, -EINVAL or -ENOMEM; on failure msg (WEFT_MSG bytes) has one line and *p is unchanged.
 */
int weft_program_parse(const uint8_t *data, size_t n, weft_program **p, char *msg)
{
	weft_program *q = calloc(1, sizeof *q);
	int err = q ? read_all(data, n, q, msg) : -ENOMEM;

	if (err) {
		if (err == -ENOMEM)
			snprintf(msg, WEFT_MSG, "out of memory while reading");
		weft_program_free(q);
		return err;
	}
	*p = q;
	return 0;
}

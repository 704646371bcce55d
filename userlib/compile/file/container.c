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

#define CHUNK      (1u << 16)  /* bytes that zlib is given, and gives, at a time */

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

/* A section that is being written: its table entry, and where its bytes go. */
struct writer {
	weft_program *p;       /* the program */
	int which;             /* the section's number */
	const struct weft_program_out *out;   /* gets the packed bytes */
	uint64_t from;         /* offset of the section's first byte in the container */
	struct section s;      /* what is known of it so far: its uncompressed bytes; those stored, and their checksum */
};

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
 * An io function (user is a uint64_t): takes the next n bytes of a section, which are not looked at, and
 * adds n to *user.
 */
static void count_bytes(void *user, const uint8_t *bytes, size_t n)
{
	(void)bytes;
	*(uint64_t *)user += n;
}

/* Pieces of a section on their way into a probe: PIECES of PIECE bytes each, evenly spread. */
struct prober {
	uint8_t *to;           /* PIECES * PIECE bytes */
	uint64_t step;         /* from the first byte of a piece to that of the next one, at least PIECE */
	uint64_t at;           /* bytes of the section seen so far */
	uint64_t i;            /* the piece that is not complete yet; PIECES: all are */
};

/*
 * An io function (user is a struct prober): takes the next n bytes of a section and copies those that
 * belong to pieces of the probe to their places in k->to; k->at and k->i move on.
 */
static void probe_bytes(void *user, const uint8_t *bytes, size_t n)
{
	struct prober *k = user;
	const uint64_t end = k->at + n;

	for (; k->i < PIECES && k->i * k->step < end; k->i++) {
		const uint64_t piece = k->i * k->step, lo = piece > k->at ? piece : k->at, hi = piece + PIECE < end ? piece + PIECE : end;
		memcpy(k->to + k->i * PIECE + (lo - piece), bytes + (lo - k->at), hi - lo);
		if (piece + PIECE > end)
			break;
	}
	k->at = end;
}

/*
 * Give the bytes of the writer's section to `take`, a function of struct io, with this user; none of a graph that is
 * left out (w->out->bare). Returns 0, or -EINVAL with a line in msg: the container cannot hold a value.
 */
static int send_section(const struct writer *w, void (*take)(void *user, const uint8_t *bytes, size_t n), void *user, char *msg)
{
	struct io io = { .write = true, .take = take, .user = user };

	if (w->out->bare && w->which == SEC_GRAPH)
		return 0;
	section_io(&io, w->which, w->p, msg);
	if (io.err == -EINVAL)
		snprintf(msg, WEFT_MSG, "cannot save: %s", io.why);
	return io.err;
}

/*
 * Chooses how to compress the writer's section of n bytes, in *how: thoroughly if it is small (less than twice
 * PIECES * PIECE bytes), or if a quick packing of pieces from all of it saves at least a quarter; else by codes
 * alone, without a search for repetitions, which with most networks' weights takes three times as long and saves
 * less than 1 % more. Returns 0, -ENOMEM or -EINVAL with msg.
 */
static int choose_packing(const struct writer *w, uint64_t n, struct packing *how, char *msg)
{
	uint8_t probe[PIECES * PIECE], packed[PIECES * PIECE + 4096];
	struct prober k = { .to = probe, .step = n >= 2 * sizeof probe ? (n - PIECE) / (PIECES - 1) : 0 };
	size_t room = sizeof packed;

	*how = thorough;
	if (!k.step)
		return 0;
	int err = send_section(w, probe_bytes, &k, msg);
	if (!err)
		err = deflate_bytes(probe, sizeof probe, quick, packed, &room);
	if (!err && room > sizeof probe / 4 * 3)
		*how = no_search;
	return err;
}

/*
 * Put n packed bytes behind those of the section that have been put, and count them in w->s.stored and w->s.crc. Returns
 * 0 or the negative errno of w->out.
 */
static int put_packed(struct writer *w, const uint8_t *bytes, size_t n)
{
	w->s.crc = (uint32_t)crc32_z(w->s.stored ? w->s.crc : 0, bytes, n);
	int err = w->out->put(w->out->user, w->from + w->s.stored, bytes, n);
	w->s.stored += n;
	return err;
}

/* A section's bytes on their way through zlib to a writer. Short pieces are gathered before zlib gets them. */
struct packer {
	struct writer *w;
	z_stream z;
	int err;               /* the first failure; nothing is done after it */
	size_t n_in;           /* bytes gathered */
	uint8_t in[CHUNK], packed[CHUNK];
};

/*
 * Give the next n bytes of the section to zlib, and put what zlib has packed by then (put_packed()). flush is Z_FINISH for
 * the section's last bytes, else Z_NO_FLUSH. Nothing happens if k->err is set; a failure sets it.
 */
static void pack(struct packer *k, const uint8_t *bytes, size_t n, int flush)
{
	int state = Z_OK;

	k->z.next_in = bytes;
	while (!k->err && state == Z_OK) {                 /* zlib counts in 32 bits */
		const uInt in = n < 1u << 30 ? (uInt)n : 1u << 30;

		k->z.avail_in = in;
		k->z.next_out = k->packed;
		k->z.avail_out = CHUNK;
		state = deflate(&k->z, in == n ? flush : Z_NO_FLUSH);
		n -= in - k->z.avail_in;
		k->err = put_packed(k->w, k->packed, CHUNK - k->z.avail_out);
		if (flush == Z_NO_FLUSH && !n && k->z.avail_out)
			return;
	}
	if (!k->err && state != Z_STREAM_END && state != Z_BUF_ERROR)
		k->err = -ENOMEM;
}

/*
 * An io function (user is a struct packer): takes the next n bytes of a section. They are gathered in
 * k->in, and compressed when more have come than it holds; the caller compresses what is left there at the
 * end. A failure goes to k->err.
 */
static void pack_bytes(void *user, const uint8_t *bytes, size_t n)
{
	struct packer *k = user;

	if (k->n_in + n > CHUNK) {
		pack(k, k->in, k->n_in, Z_NO_FLUSH);
		k->n_in = 0;
	}
	if (n > CHUNK) {
		pack(k, bytes, n, Z_NO_FLUSH);
	} else if (n) {
		memcpy(k->in + k->n_in, bytes, n);
		k->n_in += n;
	}
}

/*
 * Write the section compressed, from where its bytes are, a chunk at a time; w->s.stored and w->s.crc are what was
 * written. Returns 0, -ENOMEM, -EINVAL with msg, or a negative errno of w->out.
 */
static int write_packed(struct writer *w, struct packing how, char *msg)
{
	struct packer *k = calloc(1, sizeof *k);

	if (!k)
		return -ENOMEM;
	k->w = w;
	if (deflateInit2(&k->z, how.level, Z_DEFLATED, MAX_WBITS, 8, how.strategy) != Z_OK) {
		free(k);
		return -ENOMEM;
	}
	int err = send_section(w, pack_bytes, k, msg);
	if (!err) {
		pack(k, k->in, k->n_in, Z_FINISH);
		err = k->err;
	}
	deflateEnd(&k->z);
	free(k);
	return err;
}

/*
 * Write the section uncompressed over the bytes that write_packed() has written, which are fewer;
 * w->s.stored and w->s.crc are then those of the uncompressed bytes. Returns 0, -ENOMEM, -EINVAL with msg
 * unset, or a negative errno of w->out. All of the section is in memory at once meanwhile.
 */
static int write_stored(struct writer *w, char *msg)
{
	struct io raw = { .write = true };
	size_t n = 0;

	section_io(&raw, w->which, w->p, msg);
	uint8_t *stored = raw.err ? NULL : malloc(n = compressBound(raw.n));
	int err = raw.err ? raw.err : stored ? deflate_bytes(raw.p, raw.n, no_packing, stored, &n) : -ENOMEM;
	w->s.stored = 0;
	if (!err)
		err = put_packed(w, stored, n);
	free(stored);
	free(raw.p);
	return err;
}

/*
 * Write the writer's section at w->from, and set w->s to its checksum and sizes. The section is stored uncompressed if
 * w->out is bare, or if it compresses better than a reader accepts (RATIO_MAX, RATIO_FREE). Returns 0; -EINVAL with msg:
 * the container cannot hold a value; -ENOMEM without; or a negative errno of w->out.
 */
static int write_section(struct writer *w, char *msg)
{
	struct packing how;
	int err = send_section(w, count_bytes, &w->s.raw, msg);

	if (w->out->bare)
		return err ? err : write_packed(w, no_packing, msg);
	if (!err)
		err = choose_packing(w, w->s.raw, &how, msg);
	if (!err)
		err = write_packed(w, how, msg);
	if (!err && w->s.raw > RATIO_MAX * w->s.stored + RATIO_FREE)
		err = write_stored(w, msg);
	return err;
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

/*
 * Write the header with the table of sections and its checksum at the container's beginning; *n is set to its bytes.
 * Returns 0, -ENOMEM or a negative errno of `out`.
 */
static int write_head(const struct weft_program_out *out, struct section *s, uint64_t *n)
{
	uint32_t version = WEFT_PROGRAM_VERSION, count = N_SECTIONS, crc;
	struct io io = { .write = true };

	head_io(&io, &version, &count, s);
	crc = io.err ? 0 : (uint32_t)crc32_z(0, io.p, io.n);
	io_u32(&io, &crc);
	*n = io.n;
	int err = io.err ? io.err : out->put(out->user, 0, io.p, io.n);
	free(io.p);
	return err;
}

/*
 * Write the program as a .weft container to `out`, a section after the other, each packed from where its
 * bytes are. The header is put twice, at the beginning and the end, since it states what compressing the
 * sections gives. Returns 0; -EINVAL: a container cannot hold a value; -ENOMEM, both with a line in msg
 * (WEFT_MSG bytes); or what out->put() returned, with msg unset. After a failure `out` has got a part of
 * the container.
 */
int weft_program_write_to(const weft_program *p, const struct weft_program_out *out, char *msg)
{
	struct section s[N_SECTIONS] = { { 0 } };
	weft_program copy = *p;
	uint64_t at, head;
	int err = write_head(out, s, &at);

	for (int i = 0; i < N_SECTIONS && !err; i++) {
		struct writer w = { .p = &copy, .which = i, .out = out, .from = at };

		err = write_section(&w, msg);
		s[i] = w.s;
		at += w.s.stored;
	}
	if (!err)
		err = write_head(out, s, &head);
	if (err == -ENOMEM)
		snprintf(msg, WEFT_MSG, "out of memory while saving");
	return err;
}

/* Put n bytes at offset `at` of user, a struct io whose bytes reach to there at least. Returns 0 or -ENOMEM. */
static int put_memory(void *user, uint64_t at, const void *bytes, size_t n)
{
	struct io *io = user;

	if (at + n > io->n) {
		io_reserve(io, at + n - io->n);
		if (io->err)
			return io->err;
		io->n = at + n;
	}
	if (n)
		memcpy(io->p + at, bytes, n);
	return 0;
}

/*
 * Write the program as a .weft container into memory: *out comes from malloc and has *n_out bytes. Returns 0;
 * -EINVAL: a container cannot hold a value; -ENOMEM. On failure msg (WEFT_MSG bytes) has one line, and *out and
 * *n_out are unchanged.
 */
int weft_program_write(const weft_program *p, uint8_t **out, size_t *n_out, char *msg)
{
	struct io io = { .write = true };
	int err = weft_program_write_to(p, &(struct weft_program_out){ .put = put_memory, .user = &io }, msg);

	if (err) {
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
 * Check and decompress section i, described by *s, from its stored bytes and read its contents into the program. The
 * graph's section must be empty if the program has a graph already (weft_program_parse_for()). Returns 0, -EINVAL with
 * msg, or -ENOMEM without. What was allocated in the program stays there in all cases.
 */
static int read_section(const uint8_t *stored, const struct section *s, int i, weft_program *p, char *msg)
{
	struct io raw = { .write = false };
	int err = unpack(stored, s, section_name[i], &raw, msg);

	if (!err && i == SEC_GRAPH && p->graph) {
		err = raw.n ? say(msg, section_name[i], "a graph that is not wanted") : 0;
	} else if (!err) {
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
	return weft_program_parse_for(data, n, NULL, p, msg);
}

/*
 * Read a container of n bytes as weft_program_parse() does. If g is not NULL, the container must have been written bare,
 * without a graph, and the program borrows g as its graph.
 */
int weft_program_parse_for(const uint8_t *data, size_t n, const weft_graph *g, weft_program **p, char *msg)
{
	weft_program *q = calloc(1, sizeof *q);

	if (q)
		q->graph = g;
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

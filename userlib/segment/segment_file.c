/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of segments: checkpoints, and results. Their format:
 *
 *   8 bytes  "WEFTSEG" or "WEFTRES" and a version
 *   u32      CRC-32 of what follows this head
 *   u64      bytes of the fields
 *   u64      bytes of them as they are stored
 *   zlib     the fields, little-endian
 *   ...      checkpoints: the program, a container that is compressed already
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "userlib/files/byte_io.h"
#include "segment.h"

#define HEAD_BYTES 28
#define MAX_BYTES  (UINT64_C(1) << 34)

static const char segment_magic[8] = { 'W', 'E', 'F', 'T', 'S', 'E', 'G', 1 };
static const char result_magic[8] = { 'W', 'E', 'F', 'T', 'R', 'E', 'S', 1 };

/*
 * Frees what a state owns and clears it; scratchpad and arena that were lent to it stay with their
 * owner.
 */
void weft_state_free(struct weft_state *s)
{
	if (!s->lent) {
		free(s->sp);
		free(s->arena);
	}
	free(s->host);
	memset(s, 0, sizeof(*s));
}

/* Frees everything that a segment owns and clears it. */
void weft_segment_free(struct weft_segment *s)
{
	free(s->program);
	free(s->inputs);
	weft_state_free(&s->from);
	weft_state_free(&s->to);
	memset(s, 0, sizeof(*s));
}

/*
 * Compresses the fields that io has collected and makes a file of them: magic, CRC-32 of all that
 * follows the lengths, lengths before and after compression, the compressed fields, and the n_tail
 * bytes of tail as they are. io's buffer is freed in each case. Returns 0 with the file's *n bytes in
 * *out, from malloc; or io's own error or -ENOMEM, with *out untouched.
 */
static int pack(const char magic[8], struct io *io, const uint8_t *tail, uint64_t n_tail, uint8_t **out, size_t *n)
{
	uLongf room = compressBound((uLong)io->n);
	struct io head = { .write = true };
	uint8_t *z = io->err ? NULL : malloc(room);
	int err = io->err ? io->err : z ? 0 : -ENOMEM;

	if (!err && compress2(z, &room, io->p, (uLong)io->n, 1) != Z_OK)
		err = -ENOMEM;
	if (!err) {
		uLong sum = crc32_z(0, z, room);
		uint32_t crc = (uint32_t)(n_tail ? crc32_z(sum, tail, n_tail) : sum);
		uint64_t raw = io->n, stored = room;
		io_raw(&head, (void *)(uintptr_t)magic, 8);
		io_u32(&head, &crc);
		io_u64(&head, &raw);
		io_u64(&head, &stored);
		io_raw(&head, z, room);
		if (n_tail)
			io_raw(&head, (void *)(uintptr_t)tail, n_tail);
		err = head.err;
	}
	free(z);
	free(io->p);
	if (err) {
		free(head.p);
		return err;
	}
	*out = head.p;
	*n = head.n;
	return 0;
}

/*
 * Checks magic, CRC-32 and lengths of a file of n bytes and unpacks its fields into *io, ready to be
 * read, whose buffer unpacked() frees. *tail becomes the offset of what is stored behind the fields.
 * Fields of more than MAX_BYTES, or 2000 times the file, are refused. what names the file in messages.
 * Returns 0, -EINVAL with one line in msg, or -ENOMEM without one; after a failure there is nothing to
 * free.
 */
static int unpack(const char magic[8], const char *what, const uint8_t *data, size_t n, struct io *io, size_t *tail, char *msg)
{
	struct io head = { .p = (uint8_t *)(uintptr_t)data, .n = n };
	char found[8];
	uint32_t crc = 0;
	uint64_t raw = 0, stored = 0;

	io_raw(&head, found, 8);
	io_u32(&head, &crc);
	io_u64(&head, &raw);
	io_u64(&head, &stored);
	if (head.err || memcmp(found, magic, 8)) {
		snprintf(msg, WEFT_MSG_LEN, "not a %s of this version", what);
		return -EINVAL;
	}
	if (crc32_z(0, data + HEAD_BYTES, n - HEAD_BYTES) != crc || raw > MAX_BYTES || raw > 2000 * (uint64_t)n ||
	    stored > n - HEAD_BYTES) {
		snprintf(msg, WEFT_MSG_LEN, "%s: checksum mismatch", what);
		return -EINVAL;
	}
	*io = (struct io){ .p = malloc((size_t)raw + 1), .n = (size_t)raw };
	uLongf got = (uLongf)raw;
	*tail = HEAD_BYTES + (size_t)stored;
	if (!io->p)
		return -ENOMEM;
	if (uncompress(io->p, &got, data + HEAD_BYTES, (uLong)stored) == Z_OK && got == raw)
		return 0;
	free(io->p);
	snprintf(msg, WEFT_MSG_LEN, "%s: does not decompress to the size that is stated", what);
	return -EINVAL;
}

/*
 * Ends the reading of fields: bytes left over are a failure (io_fail). Frees io's buffer. Returns 0, or
 * the first failure's -EINVAL or -ENOMEM with one line in msg, in which `what` names the file.
 */
static int unpacked(struct io *io, const char *what, char *msg)
{
	if (!io->err && io->at != io->n)
		io_fail(io, "bytes follow its end");
	if (io->err)
		snprintf(msg, WEFT_MSG_LEN, "%s: %s", what, io->why ? io->why : "out of memory");
	free(io->p);
	return io->err;
}

/*
 * Writes *n (8 bytes) and the *n bytes at *p, or reads both. Reading, a length above what is left is a
 * failure (io_fail), and *p is from malloc, the caller's to free, also after a later failure.
 */
static void io_blob(struct io *io, uint8_t **p, uint64_t *n)
{
	io_u64(io, n);
	if (!io->write && !io->err) {
		if (*n > io->n - io->at)
			io_fail(io, "it ends too early");
		else if (!(*p = malloc((size_t)*n + 1)))
			io->err = -ENOMEM;
	}
	if (!io->err)
		io_raw(io, *p, (size_t)*n);
}

/*
 * Writes or reads a state: its point, scratchpad, arena and the host's tensors. Scratchpad and arena
 * must have the segment's sizes (io_fail). Reading, *s owns what was read, also after a failure, which
 * is left in io->err.
 */
static void io_state(struct io *io, struct weft_segment *g, struct weft_state *s)
{
	uint64_t sp = g->sp_bytes, arena = g->arena_bytes;

	io_i32(io, &s->at.step);
	io_u32(io, &s->at.cmd);
	io_blob(io, &s->sp, &sp);
	io_blob(io, &s->arena, &arena);
	io_blob(io, &s->host, &s->n_host);
	if (!io->err && (sp != g->sp_bytes || arena != g->arena_bytes))
		io_fail(io, "states of different sizes");
}

/*
 * Writes or reads a segment but for its program's bytes, of which only the number is there; a memory
 * profile that does not exist is a failure (io_fail). Points and tensors are not checked. Reading, *s
 * owns what was read, also after a failure.
 */
static void io_segment(struct io *io, struct weft_segment *s)
{
	io_u32(io, &s->k);
	io_u32(io, &s->n);
	io_u8(io, &s->memory);
	io_bool(io, &s->check);
	io_u64(io, &s->n_program);
	io_blob(io, &s->inputs, &s->n_inputs);
	io_u64(io, &s->sp_bytes);
	io_u64(io, &s->arena_bytes);
	io_state(io, s, &s->from);
	io_state(io, s, &s->to);
	if (!io->err && s->memory >= WEFT_N_MEMORIES)
		io_fail(io, "no such memory profile");
}

int weft_segment_write(struct weft_segment *s, uint8_t **out, size_t *n)
{
	struct io io = { .write = true };

	io_segment(&io, s);
	return pack(segment_magic, &io, s->program, s->n_program, out, n);
}

int weft_segment_read(const uint8_t *data, size_t n, struct weft_segment *s, char *msg)
{
	struct io io;
	size_t tail = 0;

	memset(s, 0, sizeof(*s));
	int err = unpack(segment_magic, "checkpoint", data, n, &io, &tail, msg);
	if (err)
		return err;
	io_segment(&io, s);
	if (!io.err && s->n_program != n - tail)
		io_fail(&io, "its program has not the size that is stated");
	s->program = io.err ? NULL : malloc((size_t)s->n_program + 1);
	if (!io.err && !s->program)
		io.err = -ENOMEM;
	if (!io.err)
		memcpy(s->program, data + tail, (size_t)s->n_program);
	err = unpacked(&io, "checkpoint", msg);
	if (err)
		weft_segment_free(s);
	return err;
}

/* ---- results ---- */

/* Returns the graph's tensor that has this very name (the same pointer); -1 if there is none. */
static int tensor_named(const weft_graph *g, const char *name)
{
	for (int i = 0; name && i < g->n_tensors; i++)
		if (g->tensors[i].name == name)
			return i;
	return -1;
}

/*
 * Writes or reads the first difference that a segment found. Its tensor is written as its number;
 * reading, names of tensor and operator become those of the graph g, and a number that is no tensor of
 * g is a failure (io_fail) if there is a difference.
 */
static void io_first(struct io *io, const weft_graph *g, struct weft_mismatch *m)
{
	int32_t op = m->op, tensor = tensor_named(g, m->tensor);
	uint64_t addr = m->bytes.addr, cmd = m->bytes.cmd, window = m->bytes.window;

	io_bool(io, &m->found);
	io_i32(io, &op);
	io_i32(io, &tensor);
	io_i64(io, &m->index);
	io_i64(io, &m->expected);
	io_i64(io, &m->got);
	io_i64(io, &m->cmd);
	io_u64(io, &m->cycle);
	io_bool(io, &m->bytes.found);
	io_bool(io, &m->bytes.in_sp);
	io_u64(io, &cmd);
	io_u64(io, &window);
	io_u64(io, &addr);
	io_u64(io, &m->bytes.cycle);
	io_u8(io, &m->bytes.expected);
	io_u8(io, &m->bytes.got);
	if (io->write || io->err)
		return;
	m->op = op;
	m->bytes.addr = addr;
	m->bytes.cmd = (size_t)cmd;
	m->bytes.window = (unsigned)window;
	if (m->found && (tensor < 0 || tensor >= g->n_tensors)) {
		io_fail(io, "it names no tensor");
		return;
	}
	m->tensor = m->found ? g->tensors[tensor].name : NULL;
	int producer = m->found ? g->tensors[tensor].producer : -1;
	m->op_name = producer >= 0 ? weft_graph_src_of(g, producer)->name : "input";
}

/*
 * Writes or reads what a segment measured and compared: cycles, times, counters, measurements of
 * operators, elements compared and covered, and the first difference. Reading needs a session of the
 * same network, with room for measurements and coverage, whose fields are overwritten; another number
 * of operators or tensors is a failure (io_fail).
 */
static void io_result(struct io *io, weft_session *s)
{
	const weft_graph *g = s->net->g;
	uint32_t *c = (uint32_t *)&s->counters;
	int32_t n_ops = g->n_ops, n_tensors = g->n_tensors;

	io_i32(io, &n_ops);
	io_i32(io, &n_tensors);
	if (!io->err && (n_ops != g->n_ops || n_tensors != g->n_tensors))
		io_fail(io, "it is another network's");
	io_u64(io, &s->cycles_before);
	io_u64(io, &s->sim_cycles);
	io_f64(io, &s->seconds);
	io_f64(io, &s->cpu_seconds);
	for (size_t i = 0; i < sizeof(s->counters) / sizeof(*c); i++)
		io_u32(io, &c[i]);
	for (int i = 0; i < g->n_ops && !io->err; i++) {
		io_u64(io, &s->measure[i].halves);
		io_u64(io, &s->measure[i].rd_bytes);
		io_u64(io, &s->measure[i].wr_bytes);
	}
	io_u64(io, &s->check.elements);
	io_u64(io, &s->check.mismatches);
	io_first(io, g, &s->check.first);
	for (int i = 0; i < g->n_tensors && !io->err; i++)
		io_i64(io, &s->check.covered[i]);
}

/*
 * Writes what a segment measured and compared in session s as *n bytes in *out, from malloc. Without a
 * comparison the coverage of all tensors is 0. Returns 0 or -ENOMEM.
 */
int weft_segment_result_write(weft_session *s, uint8_t **out, size_t *n)
{
	struct io io = { .write = true };
	int64_t *none = s->check.covered ? NULL : calloc((size_t)s->net->g->n_tensors + 1, sizeof(*none));

	/* Without a comparison no element was covered. */
	if (none)
		s->check.covered = none;
	if (!s->check.covered)
		return -ENOMEM;
	io_result(&io, s);
	if (none) {
		s->check.covered = NULL;
		free(none);
	}
	return pack(result_magic, &io, NULL, 0, out, n);
}

/*
 * Adds the result that was read into r to the run of session s: counters, times, cycles and
 * measurements; coverage, elements and differences only if s compares (s->check.g). The first
 * difference stays that of the earliest result added that had one.
 */
static void add_result(weft_session *s, const weft_session *r)
{
	const weft_graph *g = s->net->g;
	uint32_t *to = (uint32_t *)&s->counters;
	const uint32_t *from = (const uint32_t *)&r->counters;

	for (size_t i = 0; i < sizeof(s->counters) / sizeof(*to); i++)
		to[i] += from[i];
	for (int i = 0; i < g->n_ops; i++) {
		s->measure[i].halves += r->measure[i].halves;
		s->measure[i].rd_bytes += r->measure[i].rd_bytes;
		s->measure[i].wr_bytes += r->measure[i].wr_bytes;
	}
	s->cycles_before += r->cycles_before;
	s->sim_cycles += r->sim_cycles;
	s->seconds += r->seconds;
	s->cpu_seconds += r->cpu_seconds;
	if (!s->check.g)
		return;
	for (int i = 0; i < g->n_tensors; i++)
		s->check.covered[i] += r->check.covered[i];
	s->check.elements += r->check.elements;
	s->check.mismatches += r->check.mismatches;
	if (!s->check.first.found && !s->check.first.bytes.found)
		s->check.first = r->check.first;
}

/*
 * Reads the result of a segment from its n bytes and adds it to the run of session s, which has
 * measurements. Returns 0; or with s unchanged -EINVAL for broken bytes or another network's, with one
 * line in msg, or -ENOMEM, perhaps without one.
 */
int weft_segment_result_add(weft_session *s, const uint8_t *data, size_t n, char *msg)
{
	const weft_graph *g = s->net->g;
	weft_session r = { .net = s->net };
	struct io io;
	size_t tail = 0;
	int err = unpack(result_magic, "result of a segment", data, n, &io, &tail, msg);

	if (err)
		return err;
	r.measure = calloc((size_t)g->n_ops + 1, sizeof(*r.measure));
	r.check.covered = calloc((size_t)g->n_tensors + 1, sizeof(*r.check.covered));
	if (!r.measure || !r.check.covered)
		io.err = -ENOMEM;
	if (!io.err)
		io_result(&io, &r);
	err = unpacked(&io, "result of a segment", msg);
	if (!err)
		add_result(s, &r);
	free(r.measure);
	free(r.check.covered);
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing and reading captures. The format of a .wcap file:
 *
 *   8 bytes   magic
 *   u32       version
 *   u32       CRC-32 of the rest
 *   sections  u64 raw bytes, u64 stored bytes, the stored bytes (zlib)
 *
 * in the order HEAD, program, before, after, constants.
 */
#include <weft/capture.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "userlib/files/byte_io.h"
#include <weft/file.h>

static const uint8_t magic[8] = { 'W', 'C', 'A', 'P', '\r', '\n', 0x1a, '\n' };

#define FILE_LIMIT ((uint64_t)1 << 31)
#define RAW_LIMIT  ((uint64_t)1 << 31)

/* Writes or reads the n bytes of a text's array. The last byte becomes 0 in either case. */
static void text_io(struct io *io, char *s, size_t n)
{
	io_raw(io, s, n);
	s[n - 1] = '\0';
}

/*
 * Writes or reads the head of a capture: device, configuration, memory profile, versions, model,
 * planted fault, step, how the step ended, and the first difference that was seen. An unknown kind of
 * planted fault becomes none; nothing else is checked. A failure is left in io->err.
 */
static void head_io(struct io *io, struct weft_capture *c)
{
	uint32_t kind = (uint32_t)c->plant.kind;

	text_io(io, c->device, sizeof c->device);
	text_io(io, c->config, sizeof c->config);
	io_u32(io, &c->memory);
	text_io(io, c->versions, sizeof c->versions);
	text_io(io, c->model, sizeof c->model);
	io_u32(io, &kind);
	c->plant.kind = kind <= WEFT_PLANT_SP ? (enum weft_plant_kind)kind : WEFT_PLANT_NONE;
	io_u32(io, &c->plant.row);
	io_u32(io, &c->plant.col);
	io_u32(io, &c->plant.lane);
	io_u32(io, &c->plant.addr);
	io_u32(io, &c->plant.bit);
	io_i32(io, &c->step);
	io_i32(io, &c->status);
	text_io(io, c->message, sizeof c->message);
	for (int i = 0; i < 5; i++)
		io_u32(io, &c->fault[i]);
	io_u64(io, &c->cycles);
	io_bool(io, &c->mismatch);
	io_i32(io, &c->op);
	io_u64(io, &c->index);
	io_i64(io, &c->cmd);
	io_i64(io, &c->expected);
	io_i64(io, &c->got);
	text_io(io, c->tensor, sizeof c->tensor);
}

void weft_capture_release(struct weft_capture *c)
{
	free(c->program);
	free(c->before);
	free(c->after);
	free(c->consts);
	c->program = c->before = c->after = c->consts = NULL;
}

/* ---- writing ---- */

/*
 * Appends one section: the lengths of the n bytes of data (NULL if n is 0) before and after
 * compression, 8 bytes each, and the bytes compressed by zlib. If there is no memory, out->err becomes
 * -ENOMEM; after an earlier failure nothing is appended.
 */
static void put_section(struct io *out, const uint8_t *data, uint64_t n)
{
	uLongf stored = compressBound(n);
	uint8_t *packed = malloc(stored ? stored : 1);

	if (out->err || !packed || compress2(packed, &stored, data ? data : (const uint8_t *)"", n, 6) != Z_OK) {
		out->err = out->err ? out->err : -ENOMEM;
	} else {
		uint64_t s = stored;
		io_u64(out, &n);
		io_u64(out, &s);
		io_raw(out, packed, s);
	}
	free(packed);
}

int weft_capture_write(const char *path, const struct weft_capture *c, char msg WEFT_ROOM(WEFT_MSG_LEN))
{
	struct weft_capture copy = *c;
	struct io head = { .write = true }, body = { .write = true };
	uint32_t version = WEFT_CAPTURE_VERSION, crc = 0;
	uint8_t m[8];

	memcpy(m, magic, sizeof m);
	io_raw(&body, m, sizeof m);
	io_u32(&body, &version);
	io_u32(&body, &crc);
	const size_t begin = body.n;
	head_io(&head, &copy);
	body.err = body.err ? body.err : head.err;
	put_section(&body, head.p, head.n);
	put_section(&body, c->program, c->n_program);
	put_section(&body, c->before, c->n_arena);
	put_section(&body, c->after, c->n_arena);
	put_section(&body, c->consts, c->n_consts);
	if (!body.err) {
		struct io at = { .write = true, .p = body.p, .n = begin - sizeof crc, .cap = body.cap };
		crc = (uint32_t)crc32_z(0, body.p + begin, body.n - begin);
		io_u32(&at, &crc);
	}
	int err = body.err ? body.err : weft_file_write(path, body.p, body.n);
	free(head.p);
	free(body.p);
	if (err)
		snprintf(msg, WEFT_MSG_LEN, "%.200s: %s", path, weft_file_error(err));
	return err;
}

/* ---- reading ---- */

/*
 * Reads one section into *data, memory from malloc, and its length in bytes into *n; advances in->at behind
 * it. Failures in in->err: -EINVAL if the section is longer than what is left, longer than RAW_LIMIT, more
 * than about 1040 times its stored length (zlib's best ratio, so that a small file cannot ask for much
 * memory), or does not unpack; -ENOMEM. After an earlier one nothing is read. The caller sets *data to NULL
 * before, since most failures leave it as it is, and frees it in each case; *n says nothing after a failure.
 */
static void get_section(struct io *in, uint8_t **data, uint64_t *n)
{
	uint64_t stored;

	io_u64(in, n);
	io_u64(in, &stored);
	if (in->err)
		return;
	/* zlib makes data at most 1032 times smaller, so a small file cannot ask for much memory. */
	if (stored > in->n - in->at || *n > RAW_LIMIT || *n / 1040 > stored) {
		io_fail(in, "a section is larger than the file allows");
		return;
	}
	uLongf raw = *n;
	*data = malloc(*n + 1);
	if (!*data) {
		in->err = -ENOMEM;
		return;
	}
	const int z = uncompress(*data, &raw, in->p + in->at, stored);
	if (z == Z_MEM_ERROR)
		in->err = -ENOMEM;
	else if (z != Z_OK || raw != *n)
		io_fail(in, "a section does not unpack");
	in->at += stored;
}

/*
 * Reads head, program, memory before and after, and constants into *c, which was all zeros, and must
 * fill the file exactly; memory before and after must have one length. Failures are left in in->err;
 * what was read belongs to the caller even then.
 */
static void read_sections(struct io *in, struct weft_capture *c)
{
	struct io head = { 0 };
	uint64_t n = 0, n_after = 0;

	get_section(in, &head.p, &n);
	head.n = n;
	if (!in->err) {
		head_io(&head, c);
		if (head.err || head.at != head.n)
			io_fail(in, "the head has another length");
	}
	free(head.p);
	get_section(in, &c->program, &c->n_program);
	get_section(in, &c->before, &c->n_arena);
	get_section(in, &c->after, &n_after);
	get_section(in, &c->consts, &c->n_consts);
	if (!in->err && n_after != c->n_arena)
		io_fail(in, "memory before and after differ in size");
	if (!in->err && in->at != in->n)
		io_fail(in, "bytes follow the end");
}

/*
 * Reads magic, version and CRC-32 of a capture's bytes and checks them, in this order; in->at is then
 * behind them. Each that does not fit is -EINVAL in in->err with a reason in in->why; a file that is
 * too short is no capture.
 */
static void check_head(struct io *in)
{
	uint8_t m[8];
	uint32_t version, crc;

	io_raw(in, m, sizeof m);
	io_u32(in, &version);
	io_u32(in, &crc);
	if (in->err || memcmp(m, magic, sizeof m)) {
		in->err = 0;
		io_fail(in, "not a capture");
	} else if (version != WEFT_CAPTURE_VERSION) {
		io_fail(in, "another version of the format");
	} else if ((uint32_t)crc32_z(0, in->p + in->at, in->n - in->at) != crc) {
		io_fail(in, "damaged: its checksum does not fit");
	}
}

int weft_capture_read(const char *path, struct weft_capture *c, char msg WEFT_ROOM(WEFT_MSG_LEN))
{
	struct io in = { 0 };
	int err = weft_file_read(path, FILE_LIMIT, &in.p, &in.n);

	memset(c, 0, sizeof *c);
	if (err) {
		snprintf(msg, WEFT_MSG_LEN, "%.200s: %s", path, weft_file_error(err));
		return err;
	}
	check_head(&in);
	if (!in.err)
		read_sections(&in, c);
	if (in.err) {
		snprintf(msg, WEFT_MSG_LEN, "%.180s: %s", path, in.err == -ENOMEM ? "out of memory" : in.why);
		weft_capture_release(c);
	}
	free(in.p);
	return in.err;
}

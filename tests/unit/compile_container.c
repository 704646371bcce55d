/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The .weft container: repeatable, survives a round trip, and damaged or
 * hostile files give one line.
 */
#define _GNU_SOURCE             /* RTLD_NEXT */
#include "tests/unit/compile_run.h"

#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>
#include <zlib.h>

#include <weft/file.h>
#include <weft/weft.h>

#include "tests/support/fail_at.h"
#include "tests/support/level.h"
#include "tests/support/random_graph.h"
#include "userlib/compile/file/save_program.h"

#define HEAD 16
#define ENTRY 24
#define SECTIONS 10

static uint64_t rng = 5;

/* zlib's own, until no memory is left to store what was packed too well. */
static bool no_memory;

int deflateInit2_(z_streamp z, int level, int method, int bits, int memory, int strategy, const char *version, int size)
{
	int (*own)(z_streamp, int, int, int, int, int, const char *, int);

	*(void **)&own = dlsym(RTLD_NEXT, "deflateInit2_");
	return no_memory && level == 0 ? Z_MEM_ERROR : own(z, level, method, bits, memory, strategy, version, size);
}

static void make(uint64_t seed, struct random_net *r, uint8_t **file, size_t *n)
{
	weft_program *p;
	char msg[WEFT_MSG];

	random_net_make(r, seed, 16, false, seed % 3 ? WEFT_INT8 : WEFT_INT16);
	if (weft_compile(r->g, NULL, &p, msg) || weft_program_write(p, file, n, msg))
		fail_msg("%s", msg);
	weft_program_free(p);
}

static void round_trip(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= (test_in_part() ? 10 : 60); seed++) {
		struct random_net r, again;
		uint8_t *a, *b, *c;
		size_t na, nb, nc;
		weft_program *p;
		char msg[WEFT_MSG];

		make(seed, &r, &a, &na);
		make(seed, &again, &b, &nb);
		assert_int_equal(na, nb);
		assert_memory_equal(a, b, na);
		assert_true(weft_program_is(a, na));
		if (weft_program_parse(a, na, &p, msg))
			fail_msg("%s", msg);
		assert_int_equal(p->graph->n_ops, r.g->n_ops);
		assert_int_equal(weft_program_write(p, &c, &nc, msg), 0);
		assert_int_equal(na, nc);
		assert_memory_equal(a, c, na);
		weft_program_free(p);
		free(a);
		free(b);
		free(c);
		random_net_free(&r);
		random_net_free(&again);
	}
}

/* ---- the fields of a program's tables ---- */

#define FIELD(type, name) { offsetof(struct type, name), sizeof(((struct type *)0)->name), _Alignof(__typeof__(((struct type *)0)->name)) }

/* A table of a program and all fields of its entries, in their order. */
struct table {
	const char *name;
	void (*save)(struct io *io, weft_program *p);
	size_t list, count;            /* where weft_program has them; the count has four bytes */
	size_t bytes, align;           /* of an entry */
	struct { size_t at, bytes, align; } field[12];
};

#define TABLE(save, type, list, count) \
	#type, save, offsetof(weft_program, list), offsetof(weft_program, count), sizeof(struct type), _Alignof(struct type)

static const struct table tables[] = {
	{ TABLE(save_steps, weft_step, steps, n_steps), { FIELD(weft_step, kind), FIELD(weft_step, op), FIELD(weft_step, first_word),
		FIELD(weft_step, n_words), FIELD(weft_step, first_cmd), FIELD(weft_step, n_cmds), FIELD(weft_step, estimate[0]),
		FIELD(weft_step, estimate[1]) } },
	{ TABLE(save_tensors, weft_ptensor, tensors, n_tensors), { FIELD(weft_ptensor, place), FIELD(weft_ptensor, on_npu),
		FIELD(weft_ptensor, folded), FIELD(weft_ptensor, alias_of), FIELD(weft_ptensor, first_step), FIELD(weft_ptensor, last_step),
		FIELD(weft_ptensor, offset), FIELD(weft_ptensor, bytes) } },
	{ TABLE(save_ops, weft_pop, ops, n_ops), { FIELD(weft_pop, unit), FIELD(weft_pop, into), FIELD(weft_pop, step), FIELD(weft_pop, macs),
		FIELD(weft_pop, done[0]), FIELD(weft_pop, done[1]), FIELD(weft_pop, halves[0]), FIELD(weft_pop, halves[1]),
		FIELD(weft_pop, stripes), FIELD(weft_pop, reason) } },
	{ TABLE(save_cmds, weft_pcmd, cmds, n_cmds), { FIELD(weft_pcmd, op), FIELD(weft_pcmd, first_rec), FIELD(weft_pcmd, n_recs) } },
	{ TABLE(save_recs, weft_prec, recs, n_recs), { FIELD(weft_prec, tensor), FIELD(weft_prec, addr), FIELD(weft_prec, n_y), FIELD(weft_prec, n_x),
		FIELD(weft_prec, n_c), FIELD(weft_prec, y_bytes), FIELD(weft_prec, x_bytes), FIELD(weft_prec, first), FIELD(weft_prec, y_elems),
		FIELD(weft_prec, x_elems) } },
	{ TABLE(save_late, weft_pscale, scales, n_scales), { FIELD(weft_pscale, step), FIELD(weft_pscale, word), FIELD(weft_pscale, tensor) } },
	{ TABLE(save_late, weft_ppack, packs, n_packs), { FIELD(weft_ppack, step), FIELD(weft_ppack, tensor), FIELD(weft_ppack, k),
		FIELD(weft_ppack, cols), FIELD(weft_ppack, offset) } },
};

static uint8_t **list_of(const struct table *t, weft_program *p)
{
	return (uint8_t **)((uint8_t *)p + t->list);
}

/* Whether that field is text of its own. All others are numbers, those of one byte perhaps a bool. */
static bool is_text(const struct table *t, int f)
{
	return t->save == save_ops && t->field[f].at == offsetof(struct weft_pop, reason);
}

/* Two entries, of which no two fields have the same bytes. */
static void fill(const struct table *t, weft_program *p)
{
	uint8_t *e = calloc(2, t->bytes);

	for (int i = 0; i < 2; i++)
		for (int f = 0; f < 12 && t->field[f].bytes; f++) {
			const uint64_t v = t->field[f].bytes == 1 ? 1 : 0x1020304050607080 + (uint64_t)(16 * i + f) * 0x0101010101010101;
			char text[16];
			snprintf(text, sizeof text, "reason %d", i);
			char *copy = is_text(t, f) ? strdup(text) : NULL;
			memcpy(e + (size_t)i * t->bytes + t->field[f].at, copy ? (const void *)&copy : &v, t->field[f].bytes);
		}
	*list_of(t, p) = e;
	memcpy((uint8_t *)p + t->count, &(uint32_t){ 2 }, 4);
}

/* The fields that a test would have to name are all there are: nothing but padding lies between them. */
static void check_layout(const struct table *t)
{
	size_t end = 0;

	for (int f = 0; f < 12 && t->field[f].bytes; end = t->field[f].at + t->field[f].bytes, f++)
		if (t->field[f].at != (end + t->field[f].align - 1) / t->field[f].align * t->field[f].align)
			fail_msg("%s: no field is named for the bytes from %zu to %zu", t->name, end, t->field[f].at);
	if (t->bytes != (end + t->align - 1) / t->align * t->align)
		fail_msg("%s: no field is named for the bytes from %zu on", t->name, end);
}

/* Each field of each table comes back, also one that both the writer and the reader would leave out. */
static void each_field(void **state)
{
	weft_program *p = calloc(1, sizeof *p), *q = calloc(1, sizeof *q);

	(void)state;
	strcpy(p->config, "fifteen bytes..");
	p->arena_bytes = 0x12345678;
	for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) {
		check_layout(&tables[k]);
		fill(&tables[k], p);
	}
	struct io out = { .write = true };
	void (*const sections[])(struct io *io, weft_program *p) = { save_head, save_steps, save_tensors, save_ops, save_cmds, save_recs, save_late };
	for (size_t k = 0; k < 7; k++)
		sections[k](&out, p);
	assert_int_equal(out.err, 0);
	struct io in = { .p = out.p, .n = out.n };
	for (size_t k = 0; k < 7; k++)
		sections[k](&in, q);
	assert_int_equal(in.err, 0);
	assert_int_equal(in.at, out.n);
	assert_string_equal(q->config, p->config);
	assert_int_equal(q->arena_bytes, p->arena_bytes);
	for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) {
		const struct table *t = &tables[k];
		assert_memory_equal((uint8_t *)q + t->count, (uint8_t *)p + t->count, 4);
		for (int i = 0; i < 2; i++)
			for (int f = 0; f < 12 && t->field[f].bytes; f++) {
				const uint8_t *a = *list_of(t, p) + (size_t)i * t->bytes + t->field[f].at;
				const uint8_t *b = *list_of(t, q) + (size_t)i * t->bytes + t->field[f].at;
				if (is_text(t, f) ? strcmp(*(char *const *)a, *(char *const *)b) : memcmp(a, b, t->field[f].bytes))
					fail_msg("%s: the field at byte %zu is another one after writing and reading", t->name, t->field[f].at);
			}
	}
	free(out.p);
	weft_program_free(p);
	weft_program_free(q);
}

/* Parse what must be refused, with one line. */
static void refuse(const uint8_t *file, size_t n)
{
	uint8_t *copy = malloc(n ? n : 1);   /* exact, so that a sanitizer sees reads beyond */
	weft_program *p;
	char msg[WEFT_MSG] = "";

	memcpy(copy, file, n);
	assert_int_equal(weft_program_parse(copy, n, &p, msg), -EINVAL);
	assert_true(*msg && !strchr(msg, '\n'));
	free(copy);
}

static void damaged_bad(void **state)
{
	struct random_net r;
	uint8_t *file;
	size_t n;

	(void)state;
	make(11, &r, &file, &n);
	for (size_t k = 0; k < n; k += k < 400 ? 1 : 37)
		refuse(file, k);
	for (int k = 0; k < 3000; k++) {
		size_t at = test_random(&rng) % n;
		uint8_t bit = (uint8_t)(1u << (test_random(&rng) % 8));
		file[at] ^= bit;
		refuse(file, n);
		file[at] ^= bit;
	}
	free(file);
	random_net_free(&r);
}

static uint64_t get(const uint8_t *p, int bytes)
{
	uint64_t v = 0;

	for (int i = bytes - 1; i >= 0; i--)
		v = v << 8 | p[i];
	return v;
}

static void put(uint8_t *p, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

struct unpacked { uint8_t *raw[SECTIONS]; size_t n[SECTIONS]; };

static void unpack(const uint8_t *file, struct unpacked *u)
{
	size_t at = HEAD + ENTRY * SECTIONS + 4;

	for (int i = 0; i < SECTIONS; i++) {
		const uint8_t *e = file + HEAD + ENTRY * i;
		uLongf n = get(e + 8, 8);
		u->n[i] = n;
		u->raw[i] = malloc(n + 16);
		assert_int_equal(uncompress(u->raw[i], &n, file + at, get(e + 16, 8)), Z_OK);
		at += get(e + 16, 8);
	}
}

/* A file whose checksums are right. Its sections are stored, not compressed, which is quick. */
static uint8_t *repack(const struct unpacked *u, const uint8_t *head, size_t *n)
{
	size_t at = HEAD + ENTRY * SECTIONS + 4, cap = at;

	for (int i = 0; i < SECTIONS; i++)
		cap += compressBound(u->n[i]);
	uint8_t *f = malloc(cap);
	memcpy(f, head, HEAD + ENTRY * SECTIONS);
	for (int i = 0; i < SECTIONS; i++) {
		uint8_t *e = f + HEAD + ENTRY * i;
		uLongf len = cap - at;
		assert_int_equal(compress2(f + at, &len, u->raw[i], u->n[i], 0), Z_OK);
		put(e + 4, crc32(0, f + at, (uInt)len), 4);
		put(e + 8, u->n[i], 8);
		put(e + 16, len, 8);
		at += len;
	}
	put(f + HEAD + ENTRY * SECTIONS, crc32(0, f, HEAD + ENTRY * SECTIONS), 4);
	*n = at;
	return f;
}

/* Well-formed outside, nonsense inside. Either is refused, or is a program that can be used. */
static void hostile_bad(void **state)
{
	struct random_net r;
	struct unpacked u;
	uint8_t *file;
	size_t n, taken = 0;

	(void)state;
	for (uint64_t seed = 20; seed < (test_in_part() ? 22 : 32); seed++) {
		make(seed, &r, &file, &n);
		unpack(file, &u);
		for (int k = 0; k < 400; k++) {
			int s = (int)(test_random(&rng) % SECTIONS);
			if (!u.n[s])
				continue;
			size_t at = test_random(&rng) % u.n[s], was = u.n[s];
			uint8_t old = u.raw[s][at];
			switch (test_random(&rng) % 4) {
			case 0: u.raw[s][at] = 0xff; break;
			case 1: u.raw[s][at] ^= (uint8_t)(1u << (test_random(&rng) % 8)); break;
			case 2: u.raw[s][at] = (uint8_t)test_random(&rng); break;
			default: u.n[s] = at; break;
			}
			size_t bad_n;
			uint8_t *bad = repack(&u, file, &bad_n), *again;
			weft_program *p;
			char msg[WEFT_MSG] = "";
			int err = weft_program_parse(bad, bad_n, &p, msg);
			if (err) {
				assert_int_equal(err, -EINVAL);
				assert_true(*msg && !strchr(msg, '\n'));
			} else {
				taken++;
				assert_int_equal(weft_program_write(p, &again, &bad_n, msg), 0);
				free(again);
				weft_program_free(p);
			}
			free(bad);
			u.raw[s][at] = old;
			u.n[s] = was;
		}
		for (int s = 0; s < SECTIONS; s++)
			free(u.raw[s]);
		free(file);
		random_net_free(&r);
	}
	assert_true(taken > 0);
}

/* Operators whose cycle of completion belongs to no step. */
static void no_step_bad(void **state)
{
	const int s = 6;                     /* operators */
	struct random_net r;
	struct unpacked u;
	uint8_t *file;
	size_t n, changed = 0;

	(void)state;
	make(4, &r, &file, &n);
	unpack(file, &u);
	assert_memory_equal(file + HEAD + ENTRY * s, "OPER", 4);
	/* unit, into, step, macs; done, and half cycles, in two memories; stripes, reason */
	for (size_t at = 4; at < u.n[s]; at += 53 + 4 + get(u.raw[s] + at + 53, 4)) {
		uint8_t *step = u.raw[s] + at + 5;
		uint64_t was = get(step, 4);
		size_t bad_n;

		if (!get(u.raw[s] + at + 17, 8))
			continue;
		put(step, UINT32_MAX, 4);
		uint8_t *bad = repack(&u, file, &bad_n);
		refuse(bad, bad_n);
		free(bad);
		put(step, was, 4);
		changed++;
	}
	assert_true(changed > 0);
	for (int i = 0; i < SECTIONS; i++)
		free(u.raw[i]);
	free(file);
	random_net_free(&r);
}

/* Operators that go into, or share stripes with, an operator just beyond the last, or one before "none"; an unknown unit. */
static void operator_bad(void **state)
{
	const int s = 6;                     /* operators */
	struct random_net r;
	struct unpacked u;
	uint8_t *file;
	size_t n;

	(void)state;
	make(4, &r, &file, &n);
	unpack(file, &u);
	const uint64_t n_ops = get(u.raw[s], 4), none = UINT32_MAX;
	const struct { size_t at; int bytes; uint64_t value; } bad[] = {
		{ 4, 1, WEFT_ON_HOST + 1 }, { 5, 4, n_ops }, { 5, 4, none - 1 }, { 53, 4, n_ops }, { 53, 4, none - 1 },
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		uint8_t *p = u.raw[s] + bad[i].at;
		const uint64_t was = get(p, bad[i].bytes);
		size_t n_file;

		put(p, bad[i].value, bad[i].bytes);
		uint8_t *spoiled = repack(&u, file, &n_file);
		refuse(spoiled, n_file);
		free(spoiled);
		put(p, was, bad[i].bytes);
	}
	for (int i = 0; i < SECTIONS; i++)
		free(u.raw[i]);
	free(file);
	random_net_free(&r);
}

/* An operator without a source, at which reports would look for a record before the first. */
static void no_source_bad(void **state)
{
	struct random_net r;
	weft_program *p;
	uint8_t *file;
	char msg[WEFT_MSG] = "";
	size_t n;

	(void)state;
	random_net_make(&r, 3, 16, false, WEFT_INT8);
	assert_int_equal(weft_compile(r.g, NULL, &p, msg), 0);
	for (int i = 0; i < r.g->n_ops; i++) {
		int was = r.g->ops[i].src;
		r.g->ops[i].src = -1;
		assert_int_equal(weft_program_write(p, &file, &n, msg), 0);
		refuse(file, n);
		free(file);
		r.g->ops[i].src = was;
	}
	weft_program_free(p);
	random_net_free(&r);
}

/* A small file must not ask for much memory. */
static void bomb_bad(void **state)
{
	struct random_net r;
	uint8_t *file;
	size_t n;

	(void)state;
	make(3, &r, &file, &n);
	for (int s = 0; s < SECTIONS; s++) {
		uint8_t *e = file + HEAD + ENTRY * s;
		uint64_t was = get(e + 8, 8);
		put(e + 8, UINT64_C(1) << 40, 8);
		put(file + HEAD + ENTRY * SECTIONS, crc32(0, file, HEAD + ENTRY * SECTIONS), 4);
		refuse(file, n);
		put(e + 8, was, 8);
	}
	free(file);
	random_net_free(&r);
}

/* Constants that pack too well are stored, if there is memory for that. */
static void memory_bad(void **state)
{
	struct random_net r;
	weft_program *p;
	uint8_t *file;
	char msg[WEFT_MSG] = "";
	size_t n;

	(void)state;
	random_net_make(&r, 1, 16, false, WEFT_INT8);
	assert_int_equal(weft_compile(r.g, NULL, &p, msg), 0);
	free(p->consts);
	p->n_consts = 4 << 20;
	p->consts = calloc(1, p->n_consts);
	assert_non_null(p->consts);
	no_memory = true;
	assert_int_equal(weft_program_write(p, &file, &n, msg), -ENOMEM);
	assert_non_null(strstr(msg, "memory"));
	no_memory = false;
	assert_int_equal(weft_program_write(p, &file, &n, msg), 0);
	free(file);
	weft_program_free(p);
	random_net_free(&r);
}

/* Writes the program with n constants from data; what is stored of them unpacks to the same. Returns its bytes. */
static uint64_t stored_consts(weft_program *p, const uint8_t *data, size_t n)
{
	const int consts = 2;
	struct unpacked u;
	uint8_t *file;
	char msg[WEFT_MSG];
	size_t size;

	free(p->consts);
	p->n_consts = n;
	p->consts = malloc(n);
	assert_non_null(p->consts);
	memcpy(p->consts, data, n);
	assert_int_equal(weft_program_write(p, &file, &size, msg), 0);
	unpack(file, &u);
	assert_int_equal(u.n[consts], n);
	assert_memory_equal(u.raw[consts], data, n);
	const uint64_t stored = get(file + HEAD + ENTRY * consts + 16, 8);
	for (int s = 0; s < SECTIONS; s++)
		free(u.raw[s]);
	free(file);
	return stored;
}

/* Constants of any kind are kept: noise grows by little, uneven codes shrink, and repetitions far apart are found. */
static void packing(void **state)
{
	const size_t n = 1 << 20;
	uint8_t *data = malloc(n);
	struct random_net r;
	weft_program *p;
	char msg[WEFT_MSG] = "";

	(void)state;
	assert_non_null(data);
	random_net_make(&r, 1, 16, false, WEFT_INT8);
	assert_int_equal(weft_compile(r.g, NULL, &p, msg), 0);
	for (size_t i = 0; i < n; i++)
		data[i] = (uint8_t)test_random(&rng);
	for (size_t left = n; left > n - 3; left--)
		assert_true(stored_consts(p, data, left) < n + n / 1000);
	for (size_t few = (1 << 16) - 1; few <= (1 << 16) + 1; few++)   /* about what a choice is made for */
		assert_true(stored_consts(p, data, few) < few + few / 1000 + 64);
	for (size_t i = 8192; i < n; i++)
		data[i] = data[i - 8192];
	assert_true(stored_consts(p, data, n) < n / 8);
	for (size_t i = 0; i < n; i++)
		data[i] = (uint8_t)(test_random(&rng) % 100);
	assert_true(stored_consts(p, data, n) < n / 100 * 86);
	free(data);
	weft_program_free(p);
	random_net_free(&r);
}

/* A file that takes so many pieces and then no more. */
struct short_disk { int left; };

static int put_some(void *user, uint64_t at, const void *bytes, size_t n)
{
	(void)at, (void)bytes, (void)n;
	return ((struct short_disk *)user)->left-- > 0 ? 0 : -ENOSPC;
}

/* Whatever piece cannot be written, that is what the caller hears, and nothing more is written. */
static void full_bad(void **state)
{
	struct random_net r;
	weft_program *p;
	char msg[WEFT_MSG] = "";
	int all = 0, err = -ENOSPC;

	(void)state;
	random_net_make(&r, 1, 16, false, WEFT_INT8);
	assert_int_equal(weft_compile(r.g, NULL, &p, msg), 0);
	for (; err == -ENOSPC && all < 1000; all++) {
		struct short_disk disk = { all };

		err = weft_program_write_to(p, &(struct weft_program_out){ .put = put_some, .user = &disk }, msg);
		assert_int_equal(disk.left, err ? -1 : 0);
		assert_string_equal(msg, "");
	}
	assert_int_equal(err, 0);
	assert_true(all > SECTIONS + 2);
	weft_program_free(p);
	random_net_free(&r);
}

/* The file of this path must have these bytes. */
static void content(const char *path, const uint8_t *want, size_t n_want)
{
	uint8_t *data;
	size_t n;

	assert_int_equal(weft_file_read(path, 1 << 30, &data, &n), 0);
	assert_int_equal(n, n_want);
	assert_memory_equal(data, want, n);
	free(data);
}

/* A file gets the bytes that memory gets, a pipe as well; what cannot be written leaves the old file. */
static void to_file(void **state)
{
	char msg[WEFT_MSG_LEN] = "", path[400], none[500];
	weft_net *net;
	uint8_t *bytes;
	size_t n;

	(void)state;
	test_path(path, sizeof path, "net.weft");
	snprintf(none, sizeof none, "%s/x", path);
	assert_int_equal(weft_net_load_file("tests/models/digits_int8.tflite", &net, msg), 0);
	assert_int_equal(weft_net_save(net, "w8", &bytes, &n, msg), 0);
	assert_int_equal(weft_net_save_file(net, "w8", path, msg), 0);
	content(path, bytes, n);
	assert_int_equal(weft_net_save_file(net, "w16", none, msg), -ENOTDIR);
	assert_non_null(strstr(msg, none));
	assert_int_equal(weft_net_save_file(net, "w17", path, msg), -EINVAL);
	assert_non_null(strstr(msg, "w17"));
	assert_int_equal(weft_net_save_file(net, "w16", "/dev/full", msg), -ENOSPC);
	fail_begin(FAIL_WRITE, 2, true);
	assert_int_equal(weft_net_save_file(net, "w16", path, msg), -ENOSPC);
	fail_end();
	assert_non_null(strstr(msg, path));
	content(path, bytes, n);
	assert_int_equal(weft_net_save_file(net, "w16", path, msg), 0);
	free(bytes);
	assert_int_equal(weft_net_save(net, "w16", &bytes, &n, msg), 0);
	content(path, bytes, n);
	unlink(path);
	free(bytes);
	weft_net_free(net);
}

/* Loads a program for which that arithmetic of sums is wanted, and a session of it; says whether both were granted. */
static bool granted(const uint8_t *program, size_t n, enum weft_requant load, enum weft_requant session, char *msg)
{
	struct weft_load_options l = weft_load_options_default();
	struct weft_session_options o = weft_session_options_default();
	weft_session *s = NULL;
	weft_net *net = NULL;

	l.requant = load;
	o.requant = session;
	int err = weft_net_load_with(program, n, "x.weft", &l, &net, msg);
	err = err ? err : weft_session_open(net, &o, &s, msg);
	assert_true(!err || err == -EINVAL);
	weft_session_close(s);
	weft_net_free(net);
	return !err;
}

/* A program keeps the arithmetic by which its sums become codes, and serves for no other one. */
static void requant_kept(void **state)
{
	(void)state;
	for (int k = WEFT_REQUANT_ANY + 1; k < WEFT_N_REQUANTS; k++) {
		const enum weft_requant r = (enum weft_requant)k, next = (enum weft_requant)(k % (WEFT_N_REQUANTS - 1) + 1);
		struct weft_load_options l = weft_load_options_default(), old = l;
		char msg[WEFT_MSG_LEN] = "", want[WEFT_MSG_LEN];
		weft_net *net, *same;
		uint8_t *p;
		size_t n;

		l.requant = r;
		old.requant_rescale = r == WEFT_REQUANT_RESCALE;
		old.requant_runtime = r >= WEFT_REQUANT_RUNTIME;
		old.requant_avx2 = r == WEFT_REQUANT_RUNTIME_AVX2;
		assert_true(weft_requant_named(weft_requant_name(r)) == r);
		if (weft_net_load_file_with("tests/models/digits_qdq.onnx", &l, &net, msg) ||
		    weft_net_load_file_with("tests/models/digits_qdq.onnx", &old, &same, msg) || weft_net_save(net, "w16", &p, &n, msg))
			fail_msg("%s", msg);
		assert_int_equal(weft_net_requant(net), r);
		assert_int_equal(weft_net_requant(same), r);
		assert_true(granted(p, n, WEFT_REQUANT_ANY, WEFT_REQUANT_ANY, msg) && granted(p, n, r, r, msg));
		snprintf(want, sizeof want, "the network was imported with --requant %s, not %s; import the model again with --requant %s",
		         weft_requant_name(r), weft_requant_name(next), weft_requant_name(next));
		assert_false(granted(p, n, next, WEFT_REQUANT_ANY, msg));
		assert_string_equal(msg, want);
		assert_false(granted(p, n, WEFT_REQUANT_ANY, next, msg));
		assert_string_equal(msg, want);
		free(p);
		weft_net_free(net);
		weft_net_free(same);
	}
	assert_null(weft_requant_name(WEFT_N_REQUANTS));
	assert_int_equal(weft_requant_named("any"), WEFT_REQUANT_ANY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_field), cmocka_unit_test(round_trip), cmocka_unit_test(damaged_bad), cmocka_unit_test(hostile_bad), cmocka_unit_test(no_step_bad),
		cmocka_unit_test(operator_bad),
		cmocka_unit_test(no_source_bad), cmocka_unit_test(bomb_bad), cmocka_unit_test(memory_bad),
		cmocka_unit_test(packing), cmocka_unit_test(full_bad), cmocka_unit_test(to_file), cmocka_unit_test(requant_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

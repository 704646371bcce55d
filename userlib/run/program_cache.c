/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE             /* dl_iterate_phdr() */
#include "userlib/run/program_cache.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/file.h>

#include "userlib/files/cache_folder.h"
#include "userlib/graph/save.h"

static const char magic[8] = "WEFTPRG1";

#define HEAD (sizeof magic + SHA256_DIGEST_SIZE)   /* bytes in front of an entry's container */
#define MOST ((uint64_t)1 << 31)                   /* bytes that an entry may have */

/* What a program depends on, as its SHA-256, and the name of its entry. */
struct key { uint8_t digest[SHA256_DIGEST_SIZE]; char name[WEFT_CACHE_HEX + sizeof WEFT_CACHE_ENDING]; };

/* ---- keys ---- */

/* The build ID of the file that an address belongs to; n 0: none was found. */
struct build_id { uintptr_t address; uint8_t id[64]; size_t n; };

/*
 * Copies the first GNU build ID of at most sizeof b->id bytes among these notes, which are `bytes` bytes long
 * together, to b->id, and sets b->n to its length in bytes. If there is none, *b is untouched.
 */
static void find_note(struct build_id *b, const uint8_t *notes, size_t bytes)
{
	ElfW(Nhdr) h;

	for (size_t at = 0; at + sizeof h <= bytes; ) {
		memcpy(&h, notes + at, sizeof h);
		const size_t name = at + sizeof h, desc = name + (h.n_namesz + (size_t)3) / 4 * 4;
		at = desc + (h.n_descsz + (size_t)3) / 4 * 4;
		if (at > bytes)
			return;
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 && !memcmp(notes + name, "GNU", 4) && h.n_descsz <= sizeof b->id) {
			b->n = h.n_descsz;
			memcpy(b->id, notes + desc, b->n);
			return;
		}
	}
}

/*
 * For dl_iterate_phdr(); user is a struct build_id. If its address lies in this loaded file, puts the file's build ID
 * there (find_note()) and returns 1, which ends the search, also if the file has none. Otherwise returns 0.
 */
static int visit(struct dl_phdr_info *file, size_t size, void *user)
{
	struct build_id *b = user;
	bool here = false;

	(void)size;
	for (int i = 0; i < file->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &file->dlpi_phdr[i];
		here |= h->p_type == PT_LOAD && b->address - file->dlpi_addr - h->p_vaddr < h->p_memsz;
	}
	for (int i = 0; here && i < file->dlpi_phnum && !b->n; i++)
		if (file->dlpi_phdr[i].p_type == PT_NOTE)
			find_note(b, (const uint8_t *)(file->dlpi_addr + file->dlpi_phdr[i].p_vaddr), file->dlpi_phdr[i].p_memsz);
	return here;
}

/* The io function that hashes (user, a struct sha256_ctx). */
static void hash_bytes(void *user, const uint8_t *bytes, size_t n)
{
	sha256_update(user, n, bytes);
}

/*
 * Makes the key of the program of graph g with options o. Returns 0; -ENOTSUP if the linker gave the library no build
 * ID; or -EINVAL if no container holds such a graph.
 */
static int make_key(const weft_graph *g, const struct weft_compile_options *o, struct key *k)
{
	struct build_id b = { .address = (uintptr_t)&weft_program_cached };
	struct sha256_ctx hash;
	struct io io = { .write = true, .take = hash_bytes, .user = &hash };
	weft_graph *graph = (weft_graph *)g;
	char *config = (char *)(o->config ? o->config : "");
	bool flags[] = { o->host_only, o->no_fuse, o->of_model, o->quick, o->no_fold, o->no_compress };
	uint32_t sp_limit = o->sp_limit;
	char msg[WEFT_MSG];

	dl_iterate_phdr(visit, &b);
	if (!b.n)
		return -ENOTSUP;
	sha256_init(&hash);
	io_raw(&io, b.id, b.n);
	io_string(&io, &config);
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		io_bool(&io, &flags[i]);
	io_u32(&io, &sp_limit);
	save_graph(&io, &graph, msg);
	sha256_digest(&hash, sizeof k->digest, k->digest);
	for (size_t i = 0; i < sizeof k->digest; i++)
		snprintf(k->name + 2 * i, 3, "%02x", k->digest[i]);
	strcpy(k->name + WEFT_CACHE_HEX, WEFT_CACHE_ENDING);
	return io.err;
}

/* ---- entries ---- */

/*
 * Reads the entry of key k into a new program *p of graph g. Returns 0; -EINVAL if it is damaged or another key's; or
 * as weft_cache_read().
 */
static int load(const struct weft_program_cache *c, const struct key *k, const weft_graph *g, weft_program **p)
{
	char msg[WEFT_MSG];
	uint8_t *data;
	size_t n;
	int err = weft_cache_read(c->folder, k->name, MOST, &data, &n);

	if (err)
		return err;
	if (n < HEAD || memcmp(data, magic, sizeof magic) || memcmp(data + sizeof magic, k->digest, sizeof k->digest))
		err = -EINVAL;
	else
		err = weft_program_parse_for(data + HEAD, n - HEAD, g, p, msg);
	free(data);
	return err;
}

/* An entry that is being written. */
struct entry { struct weft_file_out file; uint64_t bytes; };

/* Puts bytes of a container behind the head of user, a struct entry. Returns 0 or a negative errno. */
static int put_entry(void *user, uint64_t at, const void *bytes, size_t n)
{
	struct entry *e = user;

	e->bytes = at + n > e->bytes ? at + n : e->bytes;
	return weft_file_put(&e->file, HEAD + at, bytes, n);
}

/*
 * Writes program p as the entry of key k, which replaces an older one when it is complete, and then removes entries until
 * all together have at most c->most bytes (weft_cache_trim()). Returns 0; -EFBIG, with nothing written, if the entry alone
 * has more; or the negative errno of writing or removing.
 */
static int store(const struct weft_program_cache *c, const struct key *k, const weft_program *p)
{
	struct entry e = { .bytes = 0 };
	char msg[WEFT_MSG];
	int err = weft_cache_create(c->folder, k->name, &e.file);

	if (err)
		return err;
	err = weft_file_put(&e.file, 0, magic, sizeof magic);
	if (!err)
		err = weft_file_put(&e.file, sizeof magic, k->digest, sizeof k->digest);
	if (!err)
		err = weft_program_write_to(p, &(struct weft_program_out){ .put = put_entry, .user = &e, .bare = true }, msg);
	if (!err && HEAD + e.bytes > c->most)
		err = -EFBIG;
	err = weft_file_finish(&e.file, err);
	return err ? err : weft_cache_trim(c->folder, c->most);
}

/* Sets c->state to WEFT_CACHE_FAILED, and c->why to one line with the folder and what err, a negative errno, means. */
static void note_failure(struct weft_program_cache *c, int err)
{
	const char *why = err == -EPERM ? "it is another user's, or others may write to it" :
	                  err == -EFBIG ? "the program is larger than all that it may hold" :
	                  err == -ENOTSUP ? "the library has no build ID" : weft_file_error(err);

	c->state = WEFT_CACHE_FAILED;
	snprintf(c->why, sizeof c->why, "%.150s: %s", c->folder, why);
	weft_one_line(c->why, sizeof c->why);
}

int weft_program_cached(struct weft_program_cache *c, const weft_graph *g, const struct weft_compile_options *o,
                        weft_program **p, char *msg)
{
	static const struct weft_compile_options none;
	struct key k;
	int bad = weft_cache_folder(c->folder);

	c->why[0] = '\0';
	if (!bad)
		bad = make_key(g, o ? o : &none, &k);
	if (!bad && !load(c, &k, g, p)) {
		c->state = WEFT_CACHE_HIT;
		return 0;
	}
	const int err = weft_compile(g, o, p, msg);
	if (err)
		return err;
	c->state = WEFT_CACHE_MADE;
	if (!bad)
		bad = store(c, &k, *p);
	if (bad)
		note_failure(c, bad);
	return 0;
}

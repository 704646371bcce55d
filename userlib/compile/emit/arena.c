/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Offsets in the arena. Storages take the smallest gap that fits, in the order of
 * their first use; bytes are used again when nothing reads them any more.
 */
#include <errno.h>
#include <stdlib.h>

#include "userlib/compile/ir.h"

/* Bytes [lo, hi), in use up to item `last`. */
struct block { uint64_t lo, hi; int last; };

struct arena {
	struct block *live;    /* the blocks that are in use, sorted by address */
	int n;                 /* how many there are */
	uint64_t top;          /* highest end of any block so far: the arena's bytes */
};

/* Remove the blocks that are not in use any more when this item runs. */
static void expire(struct arena *a, int item)
{
	int n = 0;

	for (int i = 0; i < a->n; i++)
		if (a->live[i].last >= item)
			a->live[n++] = a->live[i];
	a->n = n;
}

/*
 * Add a block of so many bytes in use up to item `last`: in the smallest gap between blocks that is large
 * enough, of equals the lowest, else behind all blocks. Raises a->top if necessary. Returns the block's
 * offset in bytes.
 */
static uint64_t take(struct arena *a, uint64_t bytes, int last)
{
	uint64_t at = 0, best_at = UINT64_MAX, best_gap = UINT64_MAX;
	int slot = a->n, best = a->n;

	for (int i = 0; i < a->n; i++) {
		uint64_t gap = a->live[i].lo - at;
		if (gap >= bytes && gap < best_gap) {
			best_gap = gap;
			best_at = at;
			best = i;
		}
		at = a->live[i].hi;
	}
	if (best_at == UINT64_MAX) {
		best_at = at;
		best = slot;
	}
	for (int i = a->n; i > best; i--)
		a->live[i] = a->live[i - 1];
	a->live[best] = (struct block){ best_at, best_at + bytes, last };
	a->n++;
	if (best_at + bytes > a->top)
		a->top = best_at + bytes;
	return best_at;
}

/* A storage and the item that first uses it. */
struct start { int item, root; };

/* Compare two starts for qsort(): the earlier item comes first, of equals the lower root. */
static int by_start(const void *pa, const void *pb)
{
	const struct start *a = pa, *b = pb;

	return a->item != b->item ? (a->item < b->item ? -1 : 1) : a->root < b->root ? -1 : 1;
}

/*
 * Choose the offset in the arena, a multiple of 64, of every storage that needs a place there (in_dram), in
 * the order of the items that first write them (src_item; -1 comes first); bytes are used again behind the
 * storage's last item (last_item). Sets the offset of each and the program's arena_bytes. Returns 0,
 * -ENOMEM, or -E2BIG: the arena would exceed the 2^32 - 1 bytes that a window addresses.
 */
int cc_place_arena(struct cc *cc)
{
	int n_roots = cc->n_roots, n = 0, err = 0;
	struct start *s = malloc(((size_t)n_roots + 1) * sizeof *s);
	struct arena a = { .live = malloc(((size_t)n_roots + 1) * sizeof *a.live) };

	if (!s || !a.live)
		err = -ENOMEM;
	for (int i = 0; i < n_roots && !err; i++)
		if (cc->ten[i].in_dram)
			s[n++] = (struct start){ cc->ten[i].src_item, i };
	if (!err)
		qsort(s, (size_t)n, sizeof *s, by_start);
	for (int i = 0; i < n && !err; i++) {
		struct cten *t = &cc->ten[s[i].root];
		uint64_t bytes = ((uint64_t)t->bytes + 63) / 64 * 64;
		expire(&a, t->src_item);
		t->offset = take(&a, bytes, t->last_item);
		if (a.top > UINT32_MAX)
			err = -E2BIG;
	}
	cc->p->arena_bytes = a.top;
	free(s);
	free(a.live);
	return err;
}

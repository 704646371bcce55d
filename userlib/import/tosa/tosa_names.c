/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds tensors and shapes by name. The tables are sorted instead of hashed, so
 * that no choice of names makes them slow.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tosa_lower.h"

/* Returns the 64-bit FNV-1a hash of a name. */
static uint64_t hash(struct tosa_name n)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (uint32_t i = 0; i < n.n; i++)
		h = (h ^ (uint8_t)n.p[i]) * 0x100000001b3u;
	return h;
}

/*
 * Compares two entries (struct tosa_entry) for qsort(): by hash, then by length of the name, then
 * by its bytes. Returns a negative number, 0 or a positive one; 0 for equal names.
 */
static int compare(const void *pa, const void *pb)
{
	const struct tosa_entry *a = pa, *b = pb;

	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	if (a->name.n != b->name.n)
		return a->name.n < b->name.n ? -1 : 1;
	return memcmp(a->name.p, b->name.p, a->name.n);
}

/*
 * Compares two entries for qsort() as compare() does, and those with equal names by their index in
 * the file, so that a search finds the first of the file.
 */
static int compare_stable(const void *pa, const void *pb)
{
	const struct tosa_entry *a = pa, *b = pb;
	int c = compare(a, b);

	return c ? c : (a->index > b->index) - (a->index < b->index);
}

static void put(struct tosa_names *n, struct tosa_name name, bool is_shape, int index)
{
	n->e[n->n++] = (struct tosa_entry){ hash(name), name, is_shape, index };
}

/*
 * Fills *n with the names of a block's own tensors and shapes, sorted for tosa_find(); the caller
 * frees n->e, also after a failure. Returns 0, -EINVAL if two of them have the same name, or
 * -ENOMEM.
 */
int tosa_index_block(struct tosa_lower *l, int block, struct tosa_names *n)
{
	const struct tosa_block *k = &l->f.blocks[block];

	n->n = 0;
	n->e = malloc(((size_t)k->n_tensors + (size_t)k->n_shapes + 1) * sizeof *n->e);
	if (!n->e)
		return tosa_fail(l, -ENOMEM, "out of memory");
	for (int i = 0; i < k->n_tensors; i++)
		put(n, l->f.tensors[k->tensor + i].name, false, k->tensor + i);
	for (int i = 0; i < k->n_shapes; i++)
		put(n, l->f.shapes[k->shape + i].name, true, k->shape + i);
	qsort(n->e, (size_t)n->n, sizeof *n->e, compare_stable);
	for (int i = 1; i < n->n; i++)
		if (!compare(&n->e[i - 1], &n->e[i]))
			return tosa_fail(l, -EINVAL, "two tensors are called \"%.*s\"",
			                 TOSA_SHOWN(n->e[i].name));
	return 0;
}

/*
 * Fills l->consts with the names that all blocks may use, sorted for tosa_find(): tensors of any
 * block that have data or are variables, and all shapes. Of equal names the one with the lower
 * index in its list (tensors or shapes) is found. Returns 0 or -ENOMEM.
 */
int tosa_index_consts(struct tosa_lower *l)
{
	struct tosa_names *n = &l->consts;

	n->e = malloc(((size_t)l->f.n_tensors + (size_t)l->f.n_shapes + 1) * sizeof *n->e);
	if (!n->e)
		return tosa_fail(l, -ENOMEM, "out of memory");
	for (int i = 0; i < l->f.n_tensors; i++)
		if (l->f.tensors[i].variable || l->f.tensors[i].data)
			put(n, l->f.tensors[i].name, false, i);
	for (int i = 0; i < l->f.n_shapes; i++)
		put(n, l->f.shapes[i].name, true, i);
	qsort(n->e, (size_t)n->n, sizeof *n->e, compare_stable);
	return 0;
}

/*
 * Fills l->blocks with the names of all blocks and of the regions that have a block, sorted for
 * tosa_find(). A region's index is the number of blocks plus its own, so that of equal names a
 * block is found first. Returns 0 or -ENOMEM.
 */
int tosa_index_blocks(struct tosa_lower *l)
{
	struct tosa_names *n = &l->blocks;

	n->e = malloc(((size_t)l->f.n_blocks + (size_t)l->f.n_regions + 1) * sizeof *n->e);
	if (!n->e)
		return tosa_fail(l, -ENOMEM, "out of memory");
	for (int i = 0; i < l->f.n_blocks; i++)
		put(n, l->f.blocks[i].name, false, i);
	/* Regions stand behind all blocks, so that a block of that name is found first. */
	for (int i = 0; i < l->f.n_regions; i++)
		if (l->f.regions[i].n_blocks)
			put(n, l->f.regions[i].name, false, l->f.n_blocks + i);
	qsort(n->e, (size_t)n->n, sizeof *n->e, compare_stable);
	return 0;
}

/*
 * Returns the first entry with that name in the sorted table n, found by bisection, or NULL if
 * there is none.
 */
const struct tosa_entry *tosa_find(const struct tosa_names *n, struct tosa_name name)
{
	const struct tosa_entry key = { .hash = hash(name), .name = name };
	int lo = 0, hi = n->n;

	while (lo < hi) {
		int mid = lo + (hi - lo) / 2;
		if (compare(&n->e[mid], &key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < n->n && !compare(&n->e[lo], &key) ? &n->e[lo] : NULL;
}

/*
 * Sets *what to what a name means in the block at hand: the index of a file tensor, or -1 minus the
 * index of a shape. The block's own names come first, then the constants, variables and shapes of
 * all blocks. Returns 0, or -EINVAL if nothing has the name.
 */
int tosa_lookup(struct tosa_lower *l, struct tosa_name name, int *what)
{
	const struct tosa_entry *e = tosa_find(&l->s.names, name);

	if (!e)
		e = tosa_find(&l->consts, name);
	if (!e)
		return tosa_fail(l, -EINVAL, "no tensor is called \"%.*s\"",
		                 TOSA_SHOWN(name));
	*what = e->is_shape ? -1 - e->index : e->index;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names to tensors and shapes. Sorted tables instead of hash tables: no choice
 * of names makes them slow.
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

/* Orders entries by hash, then by length, then by bytes. */
static int compare(const void *pa, const void *pb)
{
	const struct tosa_entry *a = pa, *b = pb;

	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	if (a->name.n != b->name.n)
		return a->name.n < b->name.n ? -1 : 1;
	return memcmp(a->name.p, b->name.p, a->name.n);
}

/* Orders entries as compare(), and those with equal names as in the file, so that searches find the first. */
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
 * Fills *n with the names of a block's tensors and shapes, sorted for tosa_find(). Returns 0,
 * or a negative errno.
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

/* Makes the table of names that all blocks may use: constants, variables and constant shapes. */
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

/* Makes the table of names of blocks and regions. */
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

/* Finds a name by bisection; NULL if it is not there. */
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
 * Looks a name up in the block, then among constants. *what is a file tensor's index, or -1 -
 * index for a shape.
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

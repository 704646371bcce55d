/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constants of which the file has only some elements; the others are 0. Every operator gets them whole.
 *
 *   levels   a tree: its root is the tensor, each level divides a node of the one above by the places
 *            along one dimension, and the leaves are the elements in the file, in their order
 *   blocks   a dimension may be cut into blocks of one size; the places within a block are a level of its own
 *   dense    a level that has each place below every node
 *   sparse   one that lists them: indices has all nodes of the level, segments where those of each node begin
 *
 * Source: tflite.fbs, SparsityParameters; what FormatConverter of TensorFlow Lite makes of them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tflite_lower.h"

#define MAX_LEVELS (2 * TFL_MAX_RANK)

/* Integers in the file, `bytes` bytes each and not below 0. */
struct list { const uint8_t *p; int bytes; int64_t n; };

struct level {
	int dim;                   /* the dimension, or the tensor's rank plus the number of the block */
	int64_t size;              /* places along it */
	bool sparse;
	struct list segments, indices;   /* if it is sparse */
};

struct tree {
	int i;                     /* the file tensor */
	weft_tensor t;             /* its type and shape */
	int n, n_blocks;           /* levels, blocks */
	struct level level[MAX_LEVELS];
	int block_of[TFL_MAX_RANK];      /* for each dimension: its block, or -1 */
};

static int64_t at(const struct list *v, int64_t k)
{
	const uint8_t *p = v->p + k * v->bytes;

	return v->bytes == 1 ? p[0] : v->bytes == 2 ? p[0] | p[1] << 8 : (int64_t)(p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24);
}

/*
 * Sets *v to the list of integers of a level's table of which fields field_type and field_type + 1 give the type and
 * the table. Returns 0, or -EINVAL if it is absent or of another type than int32, uint16 and uint8.
 */
static int read_list(struct tfl_lower *l, const struct fb *b, const struct fb_table *level, int field_type, struct list *v)
{
	int64_t type;
	struct fb_table table;
	struct fb_vec values = { 0 };
	int err = fb_int(b, level, field_type, 1, false, 0, &type);

	if (err || (err = fb_sub(b, level, field_type + 1, &table)) < 0)
		return err;
	v->bytes = type == INDEX_INT32 ? 4 : type == INDEX_UINT16 ? 2 : 1;
	if (!err || type < INDEX_INT32 || type > INDEX_UINT8)
		return tfl_fail(l, -EINVAL, "tensor %ld: a sparse level without a list of int32, uint16 or uint8", b->index);
	if ((err = fb_vector(b, &table, 0, (size_t)v->bytes, &values)) < 0)
		return err;
	v->p = b->p + values.at;
	v->n = values.n;
	return 0;
}

/*
 * Reads a level's table into *v, whose `dim` is known: its size, and the two lists of a sparse level. Returns
 * 0, or -EINVAL if it is neither dense nor sparse or a list is not as read_list() wants it.
 */
static int read_level(struct tfl_lower *l, const struct fb *b, const struct fb_table *table, struct level *v)
{
	int64_t format;
	int err = fb_int(b, table, LEVEL_FORMAT, 1, true, 0, &format);

	if (err || (err = fb_int(b, table, LEVEL_SIZE, 4, true, 0, &v->size)))
		return err;
	v->sparse = format == 1;
	if (format != 0 && format != 1)
		return tfl_fail(l, -EINVAL, "tensor %ld: sparsity of format %lld", b->index, (long long)format);
	if (!v->sparse)
		return 0;
	err = read_list(l, b, table, LEVEL_SEGMENTS_TYPE, &v->segments);
	return err ? err : read_list(l, b, table, LEVEL_INDICES_TYPE, &v->indices);
}

/*
 * Reads the sparsity of tensor s->i, whose shape is known, into *s: which dimension each level divides, and its table. The
 * first levels are the tensor's dimensions in any order, the others its blocks. Returns 0 or -EINVAL.
 */
static int read_tree(struct tfl_lower *l, struct tree *s)
{
	const struct tfl_tensor *f = tfl_file_tensor(l, s->i);
	struct fb b = l->m->b;
	struct fb_vec order, blocks, levels;
	struct fb_table table;
	bool taken[MAX_LEVELS] = { false };
	int err;

	b.what = "tensor";
	b.index = s->i;
	if ((err = fb_vector(&b, &f->sparsity, SPARSITY_ORDER, 4, &order)) < 0 || (err = fb_vector(&b, &f->sparsity, SPARSITY_BLOCKS, 4, &blocks)) < 0 ||
	    (err = fb_vector(&b, &f->sparsity, SPARSITY_LEVELS, 4, &levels)) < 0)
		return err;
	const int rank = s->t.rank;
	if (blocks.n > (uint32_t)rank || order.n != (uint32_t)rank + blocks.n || levels.n != order.n)
		return tfl_fail(l, -EINVAL, "tensor %d: sparsity of %u levels in an order of %u, for rank %d and %u blocks", s->i, (unsigned)levels.n,
		                (unsigned)order.n, rank, (unsigned)blocks.n);
	s->n = (int)levels.n;
	s->n_blocks = (int)blocks.n;
	for (int d = 0; d < TFL_MAX_RANK; d++)
		s->block_of[d] = -1;
	for (int k = 0; k < s->n_blocks; k++) {
		const int d = fb_i32_at(&b, &blocks, (uint32_t)k);
		if (d < 0 || d >= rank || s->block_of[d] >= 0)
			return tfl_fail(l, -EINVAL, "tensor %d: sparsity has blocks of dimension %d, or twice", s->i, d);
		s->block_of[d] = k;
	}
	for (int k = 0; k < s->n; k++) {
		struct level *v = &s->level[k];
		v->dim = fb_i32_at(&b, &order, (uint32_t)k);
		if (v->dim < 0 || v->dim >= s->n || taken[v->dim] || (k < rank) != (v->dim < rank))
			return tfl_fail(l, -EINVAL, "tensor %d: level %d of its sparsity is dimension %d", s->i, k, v->dim);
		taken[v->dim] = true;
		if ((err = fb_vector_table(&b, &levels, (uint32_t)k, &table)) || (err = read_level(l, &b, &table, v)))
			return err;
	}
	return 0;
}

/* Returns the level of s that divides dimension dim, or block dim - rank. */
static struct level *level_of(struct tree *s, int dim)
{
	int k = 0;

	while (s->level[k].dim != dim)
		k++;
	return &s->level[k];
}

/*
 * Sets the size of each level that divides a dimension: its extent, over the size of its block if there is one. Returns 0,
 * or -EINVAL if a block's level is sparse or does not divide the extent, or a dense level names another size.
 */
static int find_sizes(struct tfl_lower *l, struct tree *s)
{
	for (int d = 0; d < s->t.rank; d++) {
		const struct level *in = s->block_of[d] < 0 ? NULL : level_of(s, s->t.rank + s->block_of[d]);
		struct level *v = level_of(s, d);
		const int64_t size = in ? in->size : 1;

		if ((in && in->sparse) || size < 1 || s->t.dim[d] % size || (!v->sparse && v->size != s->t.dim[d] / size))
			return tfl_fail(l, -EINVAL, "tensor %d: dimension %d is %lld, in blocks of %lld; its sparsity names %lld", s->i, d,
			                (long long)s->t.dim[d], (long long)size, (long long)v->size);
		v->size = s->t.dim[d] / size;
	}
	return 0;
}

/*
 * Checks that the lists of sparse level v fit `above` nodes of the level above: segments begin at 0, never fall and end at
 * the number of indices, which are places along the level, each once and in order. Returns 0 or -EINVAL.
 */
static int check_lists(struct tfl_lower *l, const struct tree *s, const struct level *v, int64_t above)
{
	bool ok = v->segments.n == above + 1 && at(&v->segments, 0) == 0 && at(&v->segments, above) == v->indices.n;

	for (int64_t k = 0; ok && k < above; k++) {
		const int64_t from = at(&v->segments, k), to = at(&v->segments, k + 1);
		ok = from <= to && to <= v->indices.n;
		for (int64_t j = from; ok && j < to; j++)
			ok = at(&v->indices, j) < v->size && (j == from || at(&v->indices, j - 1) < at(&v->indices, j));
	}
	return ok ? 0 : tfl_fail(l, -EINVAL, "tensor %d: segments and indices of dimension %d of its sparsity do not fit %lld nodes of size %lld",
	                         s->i, v->dim, (long long)above, (long long)v->size);
}

/* Sets *n to the number of leaves of s, after a check of all levels; it is at most the tensor's elements. Returns 0 or -EINVAL. */
static int count_leaves(struct tfl_lower *l, const struct tree *s, int64_t *n)
{
	*n = 1;
	for (int k = 0; k < s->n; k++) {
		const struct level *v = &s->level[k];
		const int err = v->sparse ? check_lists(l, s, v, *n) : 0;
		if (err)
			return err;
		*n = v->sparse ? v->indices.n : *n * v->size;
	}
	return 0;
}

/* Returns the node of the level above to which node k of sparse level v belongs: the last one whose segment begins at k or before. */
static int64_t node_above(const struct level *v, int64_t k)
{
	int64_t low = 0, high = v->segments.n - 1;

	while (high - low > 1) {
		const int64_t middle = (low + high) / 2;
		if (at(&v->segments, middle) <= k)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Returns which element of the tensor leaf k of s is. */
static int64_t place_of(struct tree *s, int64_t k)
{
	int64_t place[MAX_LEVELS], element = 0;

	for (int j = s->n - 1; j >= 0; j--) {
		const struct level *v = &s->level[j];
		place[v->dim] = v->sparse ? at(&v->indices, k) : k % v->size;
		k = v->sparse ? node_above(v, k) : k / v->size;
	}
	for (int d = 0; d < s->t.rank; d++) {
		const int block = s->block_of[d];
		const int64_t x = block < 0 ? place[d] : place[d] * level_of(s, s->t.rank + block)->size + place[s->t.rank + block];
		element = element * s->t.dim[d] + x;
	}
	return element;
}

/*
 * Makes constant file tensor i, which is sparse, a constant with all its elements; those that the file does not
 * have are 0. Returns 0; -ENOTSUP for int4; -EINVAL if its sparsity contradicts its shape or its data; or
 * another negative errno.
 */
static int densify(struct tfl_lower *l, int i)
{
	const struct tfl_tensor *f = tfl_file_tensor(l, i);
	struct tree s = { .i = i };
	int64_t n;
	int err = tfl_shape(l, i, &s.t);

	if (err)
		return err;
	const size_t elem = weft_dtype_bytes(s.t.dtype);
	if (s.t.dtype == WEFT_INT4)
		return tfl_fail(l, -ENOTSUP, "tensor %d: sparse int4", i);
	if ((err = read_tree(l, &s)) || (err = find_sizes(l, &s)) || (err = count_leaves(l, &s, &n)))
		return err;
	if (f->data_len != (size_t)n * elem)
		return tfl_fail(l, -EINVAL, "tensor %d: %zu bytes of data, its sparsity wants %lld elements of %zu", i, f->data_len, (long long)n, elem);
	const size_t bytes = (size_t)weft_tensor_elements(&s.t) * elem;
	uint8_t *p = tfl_alloc(l, (int64_t)bytes, 1);
	if (!p)
		return l->err;
	memset(p, 0, bytes);
	for (int64_t k = 0; k < n; k++)
		memcpy(p + (size_t)place_of(&s, k) * elem, f->data + (size_t)k * elem, elem);
	l->tensors[i].is_sparse = false;
	return tfl_make_const(l, i, s.t.dim, p, bytes);
}

int tfl_densify(struct tfl_lower *l)
{
	int err = 0;

	for (uint32_t k = 0; !err && k < l->op->in.n; k++) {
		const int i = fb_i32_at(&l->m->b, &l->op->in, k);
		if (i >= 0 && i < l->m->n_tensors && l->tensors[i].is_sparse && l->tensors[i].data)
			err = densify(l, i);
	}
	return err;
}

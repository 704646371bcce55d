/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays that double, growing bytes, new storages and new nodes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ir.h"

/*
 * Make sure that the array that the pointer at `array` points to has room for n + 1 elements of `elem` bytes.
 * *cap is its capacity in elements: if n has reached it, the array is reallocated with twice as many (16 at
 * first) and *cap updated. Returns 0, or -ENOMEM with array and capacity unchanged.
 */
int cc_grow(void *array, uint32_t n, uint32_t *cap, size_t elem)
{
	uint32_t want = *cap ? *cap * 2 : 16;
	void *p;

	if (n < *cap)
		return 0;
	memcpy(&p, array, sizeof p);
	p = want > *cap ? realloc(p, (size_t)want * elem) : NULL;
	if (!p)
		return -ENOMEM;
	memcpy(array, &p, sizeof p);
	*cap = want;
	return 0;
}

/*
 * Append `bytes` zero bytes to b, at the next offset that is a multiple of align, and set *off to that
 * offset; the bytes skipped for alignment are zero as well. Returns 0, -ENOMEM, or -E2BIG if b would exceed
 * the 2^32 - 1 bytes that a window can address.
 */
int blob_reserve(struct blob *b, uint64_t bytes, uint64_t align, uint64_t *off)
{
	uint64_t at = (b->n + align - 1) / align * align;

	if (at + bytes > UINT32_MAX)
		return -E2BIG;
	if (at + bytes > b->cap) {
		uint64_t cap = b->cap * 2 > at + bytes ? b->cap * 2 : at + bytes;
		uint8_t *p = realloc(b->p, cap);
		if (!p)
			return -ENOMEM;
		b->p = p;
		b->cap = cap;
	}
	memset(b->p + b->n, 0, at + bytes - b->n);
	b->n = at + bytes;
	*off = at;
	return 0;
}

/*
 * Add a storage of so many bytes that belongs to no tensor of the graph. Returns its number, which views use
 * as root (its entry is cc->ten[number]), or -ENOMEM.
 */
int cc_new_root(struct cc *cc, int64_t bytes)
{
	int err = cc_grow(&cc->ten, (uint32_t)cc->n_roots, &cc->cap_roots, sizeof *cc->ten);

	if (err)
		return err;
	cc->ten[cc->n_roots] = (struct cten){ .v = { .root = cc->n_roots }, .bytes = bytes };
	return cc->n_roots++;
}

/*
 * Append a node of this kind to cc->nodes: its window is one pixel, it has no weights (wt.w, wt.bias -1)
 * and no second operand (r_t -1), and its post unit changes nothing (scales of 1, zero points 0, limits of
 * the whole type). `elem` is the size of an element in bytes: with 2 the node's arithmetic is int16's, else
 * int8's. Convolutions of all kinds get conv.m 1; all other fields are 0, which the caller must set where
 * that is wrong (op, last, y_tensor, x_t, views). Returns the node, or NULL if there is no memory. The
 * array may move, so pointers to other nodes are invalid after the call.
 */
struct node *cc_new_node(struct cc *cc, enum node_kind kind, int64_t elem)
{
	const int lowest = -(1 << (8 * elem - 1));
	const struct scale same = { 1u << 30, 30, ROUND_UP };

	if (cc_grow(&cc->nodes, (uint32_t)cc->n_nodes, &cc->cap_nodes, sizeof *cc->nodes))
		return NULL;
	struct node *nd = &cc->nodes[cc->n_nodes++];
	*nd = (struct node){
		.kind = kind, .r_t = -1, .mode = elem == 2,
		.win = { .kh = 1, .kw = 1, .sy = 1, .sx = 1, .dy = 1, .dx = 1 },
		.wt = { .w = -1, .bias = -1 },
		.post = { .scale_mul = -1, .scale_shift = -1, .y_min = lowest, .y_max = -1 - lowest,
		          .s_min = lowest, .s_max = -1 - lowest, .a = same, .b = same, .s = same },
	};
	if (kind == NODE_CONV || kind == NODE_DW || kind == NODE_DWCONV)
		nd->conv.m = 1;
	return nd;
}

/*
 * Returns the multiplier and shift by which TOSA's AVG_POOL2D divides by `count`: with 2^k the least power of
 * two that is at least count, (2^30 + 1) * 2^k / count and 30 + k.
 */
struct scale cc_reciprocal(int64_t count)
{
	int k = 0;

	while (k < 32 && (int64_t)1 << k < count)
		k++;
	return (struct scale){ (uint32_t)((((int64_t)1 << 30) + 1) * ((int64_t)1 << k) / count), 30 + k, ROUND_UP };
}

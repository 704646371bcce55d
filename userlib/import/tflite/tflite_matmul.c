/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BATCH_MATMUL: [...,M,K] by [...,K,N] as TOSA's MATMUL over flattened batches.
 * Either matrix may be stored transposed. The leading dimensions of the two are
 * broadcast, each where it is 1.
 *
 * TOSA's MATMUL does not multiply int16 by constant int8. That product is a 1x1
 * convolution with the columns as output channels, perhaps with a scale each.
 */
#include <errno.h>
#include <stdlib.h>

#include "tflite_host.h"

/* The product of [batches,m,k] by [batches,k,n]; adj says which operands are stored transposed. */
struct product {
	struct tfl_quant a, b, y;  /* quantisation of both operands and the result */
	int64_t batches[2], m, k, n;
	int adj[2];
};

/*
 * Emits x [...,rows,columns] as [batches,rows,columns]; if `transposed` is set, x is stored as
 * [...,columns,rows] and is transposed. Returns the graph tensor, or a negative errno.
 */
static int matrix(struct tfl_lower *l, int x, int64_t batches, int64_t rows, int64_t columns, bool transposed)
{
	weft_attr a = { .perm = { { 0, 2, 1 } } };
	weft_dtype t = l->g->tensors[x].t.dtype;

	x = tfl_reshape(l, x, 3, (int64_t[]){ batches, transposed ? columns : rows, transposed ? rows : columns });
	if (x < 0 || !transposed)
		return x;
	return tfl_step(l, WEFT_OP_TRANSPOSE, &a, &x, 1, t, 3, (int64_t[]){ batches, rows, columns }, false);
}

/* Returns how often dimension d of the result, one of its leading ones, repeats the batches of factor t; 0 if t does not fit it. */
static int64_t repeats(const struct tfl_lower *l, const weft_tensor *t, int d)
{
	const int own = d - (l->y.rank - t->rank);
	const int64_t n = own < 0 ? 1 : t->dim[own];

	return n == l->y.dim[d] ? 1 : n == 1 ? l->y.dim[d] : 0;
}

/*
 * Sets m, k, n and both batch counts (the products of all leading dimensions) in *p for the product of
 * a and b, whose transpositions are in p->adj. Returns 0, or -EINVAL if a rank is below 2 or above the result's, if the
 * matrices do not fit each other or the result, or if a leading dimension is neither 1 nor the result's.
 */
static int extents(struct tfl_lower *l, const weft_tensor *a, const weft_tensor *b, struct product *p)
{
	if (a->rank < 2 || b->rank < 2 || l->y.rank < a->rank || l->y.rank < b->rank)
		return tfl_fail(l, -EINVAL, "ranks %d and %d into %d", a->rank, b->rank, l->y.rank);
	p->m = a->dim[a->rank - (p->adj[0] ? 1 : 2)];
	p->k = a->dim[a->rank - (p->adj[0] ? 2 : 1)];
	p->n = b->dim[b->rank - (p->adj[1] ? 2 : 1)];
	int64_t k = b->dim[b->rank - (p->adj[1] ? 1 : 2)];
	p->batches[0] = weft_tensor_elements(a) / (p->m * p->k);
	p->batches[1] = weft_tensor_elements(b) / (k * p->n);
	bool fits = k == p->k && l->y.dim[l->y.rank - 1] == p->n && l->y.dim[l->y.rank - 2] == p->m;
	for (int d = 0; fits && d < l->y.rank - 2; d++) {
		const int64_t by_a = repeats(l, a, d), by_b = repeats(l, b, d);
		fits = by_a && by_b && (by_a == 1 || by_b == 1);
	}
	return fits ? 0 : tfl_fail(l, -EINVAL, "%lldx%lld by %lldx%lld, or their leading dimensions, do not fit %lld elements", (long long)p->m,
	                           (long long)p->k, (long long)k, (long long)p->n, (long long)weft_tensor_elements(&l->y));
}

/*
 * Repeats the batches of factor x[k], as the file has it, until it has all of the result's, and sets p's count of its
 * batches. Returns 0 or a negative errno.
 */
static int spread_one(struct tfl_lower *l, struct product *p, int x[2], int k)
{
	const int lead = l->y.rank - 2;
	const int64_t total = weft_tensor_elements(&l->y) / (p->m * p->n);
	const weft_tensor t = l->g->tensors[x[k]].t;
	weft_attr a = { .tile = { { 1, 1 } } };
	int64_t from[WEFT_MAX_RANK], to[WEFT_MAX_RANK];

	if (p->batches[k] == total)
		return 0;
	for (int d = 0; d < lead + 2; d++) {
		const int64_t n = d < lead ? repeats(l, &t, d) : 1;

		to[d] = d < lead ? l->y.dim[d] : t.dim[t.rank - 2 + d - lead];
		from[d] = to[d] / n;
		a.tile.multiple[d] = (int32_t)n;
	}
	if ((x[k] = tfl_reshape(l, x[k], lead + 2, from)) < 0 ||
	    (x[k] = tfl_step(l, WEFT_OP_TILE, &a, &x[k], 1, t.dtype, lead + 2, to, false)) < 0)
		return x[k];
	p->batches[k] = total;
	return 0;
}

/*
 * Makes both factors x have all of the result's batches (spread_one()). Nothing is done where one factor has all and the
 * other one all or a single one (align()). Returns 0 or a negative errno.
 */
static int spread(struct tfl_lower *l, struct product *p, int x[2])
{
	const int64_t total = weft_tensor_elements(&l->y) / (p->m * p->n);

	for (int k = 0; k < 2; k++)
		if (p->batches[k] == total && (p->batches[!k] == total || p->batches[!k] == 1))
			return 0;
	const int err = spread_one(l, p, x, 0);
	return err ? err : spread_one(l, p, x, 1);
}

/*
 * Gives both factors x, of rank 3, one number of batches: if the second has one batch, the rows of all
 * batches of the first become one matrix; else, if the first has one, it is repeated; otherwise they are
 * equal already. x[0] and *p are updated. Returns 0 or a negative errno.
 */
static int align(struct tfl_lower *l, struct product *p, int x[2])
{
	weft_attr a = { .tile = { { (int32_t)p->batches[1], 1, 1 } } };
	weft_dtype t = l->g->tensors[x[0]].t.dtype;

	if (p->batches[1] == 1) {
		p->m *= p->batches[0];
		p->batches[0] = 1;
		x[0] = tfl_reshape(l, x[0], 3, (int64_t[]){ 1, p->m, p->k });
	} else if (p->batches[0] == 1) {
		p->batches[0] = p->batches[1];
		x[0] = tfl_step(l, WEFT_OP_TILE, &a, x, 1, t, 3, (int64_t[]){ p->batches[1], p->m, p->k }, false);
	}
	return x[0] < 0 ? x[0] : 0;
}

/*
 * Emits sums y requantised by n factors f, in the result's shape, as the operator's result. Returns
 * the result's tensor, or a negative errno; a negative y is returned as it is.
 */
static int finish(struct tfl_lower *l, int y, int64_t n, const struct tfl_factor *f)
{
	if (y >= 0)
		y = tfl_requantise(l, y, n, f, TFL_NONE, false);
	return y < 0 ? y : tfl_step(l, WEFT_OP_RESHAPE, NULL, &y, 1, l->y.dtype, l->y.rank, l->y.dim, true);
}

/*
 * Emits the integer product of operands x, of one type, whose sizes and quantisation are in *p, by MATMUL,
 * requantised, as the operator's result. If that is int32, it is the sum of products of the codes themselves, without
 * zero points. x[] and the sizes in *p are used up: they are changed as spread() and align() do. Returns the result's
 * tensor, or a negative errno.
 */
static int multiply(struct tfl_lower *l, struct product *p, int x[2])
{
	const bool sums = l->y.dtype == WEFT_INT32;
	weft_attr a = { .matmul = { .a_zp = sums ? 0 : p->a.zp, .b_zp = sums ? 0 : p->b.zp } };
	weft_dtype acc = p->a.t == WEFT_INT16 ? WEFT_INT48 : WEFT_INT32;
	struct tfl_factor f;
	int err = spread(l, p, x);

	if (err)
		return err;
	if ((x[0] = matrix(l, x[0], p->batches[0], p->m, p->k, p->adj[0])) < 0 ||
	    (x[1] = matrix(l, x[1], p->batches[1], p->k, p->n, p->adj[1])) < 0)
		return x[0] < 0 ? x[0] : x[1];
	if ((err = align(l, p, x)) ||
	    (!sums && (err = tfl_factor(l, (double)p->a.scale * (double)p->b.scale / (double)p->y.scale, &f))))
		return err;
	const int y = tfl_step(l, WEFT_OP_MATMUL, &a, x, 2, acc, 3, (int64_t[]){ p->batches[0], p->m, p->n }, false);
	if (!sums || y < 0)
		return finish(l, y, 1, &f);
	return tfl_step(l, WEFT_OP_RESHAPE, NULL, &y, 1, WEFT_INT32, l->y.rank, l->y.dim, true);
}

/*
 * Adds batch number `batch` of constant operand 1, [K,N] or, if p->adj[1] is set, [N,K], as int8 weights [N,1,1,K]. Returns
 * the graph tensor, or a negative errno.
 */
static int columns(struct tfl_lower *l, const struct product *p, int64_t batch)
{
	int w = tfl_const_as(l, 1, 4, (int64_t[]){ p->batches[1] * p->n, 1, 1, p->k });

	if (w < 0 || (p->adj[1] && p->batches[1] == 1))
		return w;
	int8_t *data = tfl_alloc(l, p->n * p->k, 1);
	if (!data)
		return l->err;
	const int8_t *from = (const int8_t *)l->g->tensors[w].t.data + batch * p->n * p->k;
	for (int64_t i = 0; i < p->n; i++)
		for (int64_t j = 0; j < p->k; j++)
			data[i * p->k + j] = p->adj[1] ? from[i * p->k + j] : from[j * p->n + i];
	return tfl_data(l, "weights", WEFT_INT8, 4, (int64_t[]){ p->n, 1, 1, p->k }, data);
}

/*
 * Emits the product of int16 x and the constant int8 matrix in operand 1 as a convolution with a
 * kernel of 1 by 1, requantised, as the operator's result. Returns the result's tensor, -ENOTSUP if
 * the matrix has several batches or is not int8, or another negative errno.
 */
static int by_weights(struct tfl_lower *l, struct product *p, int x)
{
	weft_attr a = { .conv = { .stride = { 1, 1 }, .dilation = { 1, 1 }, .acc = WEFT_INT48 } };
	const struct tfl_tensor *w = tfl_file_tensor(l, tfl_operand(l, 1));
	struct tfl_weights wq;
	bool narrow;

	if (p->batches[1] != 1 || w->type != TFL_INT8)
		return tfl_fail(l, -ENOTSUP, "int16 by %lld batches of type %d", (long long)p->batches[1], w->type);
	int axis = w->scale.n > 1 ? (int)w->shape.n - (p->adj[1] ? 2 : 1) : 0;
	int err = tfl_weight_factors(l, axis, p->n, p->a.scale, p->y.scale, false, &wq);
	if (err)
		return err;
	int64_t m = p->batches[0] * p->m;
	int y = matrix(l, x, p->batches[0], p->m, p->k, p->adj[0]), iw = y < 0 ? y : columns(l, p, 0);
	int ib = iw < 0 ? iw : tfl_bias(l, 2, p->n, WEFT_INT48, &narrow);
	if (ib >= 0 && (y = tfl_reshape(l, y, 4, (int64_t[]){ m, 1, 1, p->k })) >= 0)
		y = tfl_step(l, WEFT_OP_CONV2D, &a, (int[]){ y, iw, ib }, 3, WEFT_INT48, 4, (int64_t[]){ m, 1, 1, p->n }, false);
	y = ib < 0 ? ib : finish(l, y, wq.n, wq.f);
	free(wq.f);
	return y;
}

/*
 * Emits the product of float32 operands x, whose sizes are in *p, by MATMUL, in a fixed order of additions,
 * as the operator's result. x[] and the sizes in *p are used up: they are changed as spread() and align() do. Returns
 * the result's tensor, or a negative errno.
 */
static int in_float(struct tfl_lower *l, struct product *p, int x[2])
{
	weft_attr a = { .matmul = { .chain = true } };
	int err = spread(l, p, x);

	if (err)
		return err;
	if ((x[0] = matrix(l, x[0], p->batches[0], p->m, p->k, p->adj[0])) < 0 ||
	    (x[1] = matrix(l, x[1], p->batches[1], p->k, p->n, p->adj[1])) < 0)
		return x[0] < 0 ? x[0] : x[1];
	if ((err = align(l, p, x)))
		return err;
	return tfl_real_result(l, tfl_step(l, WEFT_OP_MATMUL, &a, x, 2, WEFT_FP32, 3,
	                                   (int64_t[]){ p->batches[0], p->m, p->n }, false), TFL_NONE);
}

/*
 * Emits the product of m rows of float32 x, of any shape, and batch number `batch` of constant int8 operand 1 as an intermediate
 * tensor [m,1,1,n]; each row of x is quantised by itself when the network runs, symmetrically unless `asymmetric` is set. Returns
 * the graph tensor, or a negative errno; a negative x is returned as it is.
 */
static int rows_by_weights(struct tfl_lower *l, const struct product *p, int x, int64_t m, int64_t batch, int asymmetric)
{
	struct tfl_real r = { .op = WEFT_OP_CONV2D, .dim = { m, 1, 1, p->n }, .rows = m, .columns = p->n,
	                      .attr = { .conv = { .stride = { 1, 1 }, .dilation = { 1, 1 } } }, .symmetric = !asymmetric, .dense = true, .k_bias = 2 };
	const int w = x < 0 ? x : columns(l, p, batch);

	if (w < 0 || (x = tfl_reshape(l, x, 4, (int64_t[]){ m, 1, 1, p->k })) < 0)
		return w < 0 ? w : x;
	return tfl_real_product(l, &r, x, w);
}

/* Says whether more than one of the result's first n leading dimensions is larger than 1. */
static bool several(const struct tfl_lower *l, int n)
{
	int large = 0;

	for (int d = 0; d < n; d++)
		large += l->y.dim[d] > 1;
	return large > 1;
}

/*
 * Emits x, of shape t, as [E0,E1,E2,rows,columns], where E are its leading dimensions, at most 3, behind as many of 1 as are
 * missing; `transposed` as in matrix(). Returns the graph tensor, or a negative errno; a negative x is returned as it is.
 */
static int with_three(struct tfl_lower *l, int x, const weft_tensor *t, int64_t batches, int64_t rows, int64_t columns, bool transposed)
{
	int64_t dim[5] = { 1, 1, 1, rows, columns };

	for (int d = 0; d < t->rank - 2; d++)
		dim[5 - t->rank + d] = t->dim[d];
	return x < 0 ? x : tfl_reshape(l, matrix(l, x, batches, rows, columns, transposed), 5, dim);
}

/*
 * Emits the product of float32 x and constant int8 weights, operand 1 with shape b, as the operator's result, by the host operator
 * HybridMatMul. Returns the result's tensor, -ENOTSUP for more than 3 leading dimensions or several scales, or
 * another negative errno.
 */
static int hybrid_on_host(struct tfl_lower *l, const struct product *p, int x, const weft_tensor *b, int asymmetric)
{
	struct weft_attr_onnx_node a = tfl_node_of("tflite", "HybridMatMul");
	const struct tfl_tensor *f = tfl_file_tensor(l, tfl_operand(l, 1));
	const weft_tensor t = l->g->tensors[x].t;
	float *scale;
	int in[3];

	if (l->y.rank > 5 || f->scale.n != 1 || !tfl_is_const(l, 1))
		return tfl_fail(l, -ENOTSUP, "rank %d by %u scales; at most 5, by constants with one scale wanted", l->y.rank,
		                (unsigned)f->scale.n);
	if ((in[1] = tfl_const_as(l, 1, b->rank, b->dim)) < 0)
		return in[1];
	if (!(scale = tfl_alloc(l, 1, sizeof *scale)))
		return l->err;
	*scale = fb_f32_at(&l->m->b, &f->scale, 0);
	in[0] = with_three(l, x, &t, p->batches[0], p->m, p->k, p->adj[0]);
	in[1] = with_three(l, in[1], b, p->batches[1], p->k, p->n, p->adj[1]);
	in[2] = tfl_data(l, "scale", WEFT_FP32, 1, (int64_t[]){ 1 }, scale);
	tfl_node_int(&a, "asymmetric", asymmetric);
	tfl_node_int(&a, "fold", !p->adj[0] && b->rank > 2 && b->dim[b->rank - 3] == 1);
	return tfl_real_result(l, tfl_node(l, &a, in, 3, false), TFL_NONE);
}

/*
 * Emits the product of float32 x and constant int8 weights, operand 1 with shape b, as the operator's result (rows_by_weights()), a
 * product for each batch of the result if the weights have several; by hybrid_on_host() if there are more than
 * WEFT_OP_MAX_INPUTS such products or batches in several dimensions. Returns the result's tensor, or a negative errno.
 */
static int hybrid(struct tfl_lower *l, struct product *p, int x, const weft_tensor *b, int asymmetric)
{
	const int64_t m = p->m, total = weft_tensor_elements(&l->y) / (m * p->n);
	weft_attr concat = { .axis = { .axis = 0 } };
	int y[WEFT_OP_MAX_INPUTS], both[2] = { x, -1 };
	struct product all = *p;
	const int leading = l->y.rank - 2;

	/* Along several dimensions the kernel takes the scales of other rows; a last one along which the weights have one matrix is rows. */
	const bool rows = !p->adj[0] && b->rank > 2 && b->dim[b->rank - 3] == 1;
	if (several(l, rows ? leading - 1 : leading) || (p->batches[1] > 1 && total > WEFT_OP_MAX_INPUTS))
		return hybrid_on_host(l, p, x, b, asymmetric);

	if (p->batches[1] == 1)
		return tfl_real_result(l, rows_by_weights(l, p, matrix(l, x, p->batches[0], m, p->k, p->adj[0]), p->batches[0] * m, 0, asymmetric), TFL_NONE);
	int err = spread_one(l, &all, both, 0);
	if (!err && (x = matrix(l, both[0], total, m, p->k, p->adj[0])) < 0)
		err = x;
	for (int64_t k = 0; k < total && !err; k++) {
		const weft_attr slice = { .slice = { .start = { k } } };
		const int part = tfl_step(l, WEFT_OP_SLICE, &slice, &x, 1, WEFT_FP32, 3, (int64_t[]){ 1, m, p->k }, false);
		int64_t batch = 0, step = 1, rest = k;

		for (int d = l->y.rank - 3; d >= 0; d--) {         /* the batch of the weights: k without the dimensions that are broadcast */
			const int64_t n = repeats(l, b, d) == 1 ? l->y.dim[d] : 1;

			batch += rest % l->y.dim[d] % n * step;
			step *= n;
			rest /= l->y.dim[d];
		}
		y[k] = rows_by_weights(l, p, part, m, batch, asymmetric);
		err = y[k] < 0 ? y[k] : 0;
	}
	return err ? err : tfl_real_result(l, tfl_step(l, WEFT_OP_CONCAT, &concat, y, (int)total, WEFT_FP32, 4, (int64_t[]){ total * m, 1, 1, p->n }, false), TFL_NONE);
}

/*
 * Emits the product of operand 0, float32, and operand 1, float32 or constant int8, as the operator's result,
 * and sets p's sizes for it; p->adj says which operands are transposed. asymmetric is the operator's option,
 * for int8. Returns the result's tensor, or a negative errno.
 */
static int real(struct tfl_lower *l, struct product *p, int asymmetric)
{
	weft_tensor b;
	int x[2] = { tfl_value(l, 0), -1 }, i = x[0] < 0 ? x[0] : tfl_operand(l, 1), err;

	if (i < 0 || (err = tfl_shape(l, i, &b)) || (err = extents(l, &l->g->tensors[x[0]].t, &b, p)))
		return i < 0 ? i : err;
	if (b.dtype == WEFT_INT8)
		return hybrid(l, p, x[0], &b, asymmetric);
	return (x[1] = tfl_value(l, 1)) < 0 ? x[1] : in_float(l, p, x);
}

/*
 * Lowers BATCH_MATMUL. Its operands are both of 8 bits or both int16, and int8 ones may give int32; or operand 0 is int16 or
 * float32 and operand 1 constant int8; or both are float32. Returns the result's tensor; -ENOTSUP for other types, or for
 * batches that by_weights() or hybrid() refuses; -EINVAL if shapes do not fit (extents()) or integers have a third operand;
 * or another negative errno.
 */
int tfl_lower_batch_matmul(struct tfl_lower *l)
{
	struct product p = { .m = 0 };
	weft_tensor b;
	int x[2], err, i, asymmetric;

	if ((err = tfl_option(l, OPTIONS_BATCH_MATMUL, MATMUL_ADJ_X, 1, 0, &p.adj[0])) ||
	    (err = tfl_option(l, OPTIONS_BATCH_MATMUL, MATMUL_ADJ_Y, 1, 0, &p.adj[1])) ||
	    (err = tfl_option(l, OPTIONS_BATCH_MATMUL, MATMUL_ASYMMETRIC, 1, 0, &asymmetric)))
		return err;
	if (tfl_is_float(l, 0))
		return real(l, &p, asymmetric);
	const bool sums = l->y.dtype == WEFT_INT32;
	if (!sums && (err = tfl_need_result(l, TFL_Q8_16, &p.y)))
		return err;
	if ((x[0] = tfl_quant_value(l, 0, sums ? TFL_Q8 : TFL_Q8_16, &p.a)) < 0)
		return x[0];
	if (tfl_has(l, 2))
		return tfl_fail(l, -EINVAL, "three operands");
	if ((i = tfl_operand(l, 1)) < 0 || (err = tfl_shape(l, i, &b)) ||
	    (err = extents(l, &l->g->tensors[x[0]].t, &b, &p)))
		return i < 0 ? i : err;
	if (!sums && p.a.t != p.y.t)
		return tfl_fail(l, -ENOTSUP, "%s into %s", weft_dtype_name(p.a.t), weft_dtype_name(p.y.t));
	if (p.a.t == WEFT_INT16 && b.dtype == WEFT_INT8 && tfl_is_const(l, 1))
		return by_weights(l, &p, x[0]);
	if ((x[1] = tfl_quant_value(l, 1, TFL_Q8_16, &p.b)) < 0)
		return x[1];
	if (p.b.t != p.a.t)
		return tfl_fail(l, -ENOTSUP, "%s by %s", weft_dtype_name(p.a.t), weft_dtype_name(p.b.t));
	return multiply(l, &p, x);
}

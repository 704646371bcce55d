/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensors as four-dimensional strided views of some root's storage.
 */
#include "userlib/compile/ir.h"

/*
 * Write a tensor's dimensions into dim[4] as n, y, x, c. They are aligned to the right, so that rank 2 [M,K]
 * is 1,1,M,K; missing ones are 1. Beyond rank 4 the leading dimensions are multiplied into n.
 */
void view_dims(const weft_tensor *t, int64_t dim[4])
{
	int extra = t->rank > 4 ? t->rank - 4 : 0;

	for (int i = 0; i < 4; i++)
		dim[i] = 1;
	for (int i = 0; i < extra; i++)
		dim[0] *= t->dim[i];
	for (int i = extra; i < t->rank; i++)
		dim[4 - t->rank + i] *= t->dim[i];
}

/*
 * Returns the view of a dense row-major tensor at the start of root's storage: dimensions n, y, x, c in
 * elements, elements of elem_bytes bytes, steps in bytes.
 */
struct view view_dense(int root, const int64_t dim[4], int64_t elem_bytes)
{
	struct view v = { .root = root };

	for (int i = 0; i < 4; i++)
		v.dim[i] = dim[i];
	v.step[3] = elem_bytes;
	for (int i = 2; i >= 0; i--)
		v.step[i] = v.step[i + 1] * v.dim[i + 1];
	return v;
}

/* Returns how many elements the view has: the product of its four dimensions. */
int64_t view_elements(const struct view *v)
{
	return v->dim[0] * v->dim[1] * v->dim[2] * v->dim[3];
}

/*
 * Returns whether the view's elements lie side by side in the order n, y, x, c, without gaps. Steps of
 * dimensions with one element do not matter.
 */
bool view_is_dense(const struct view *v)
{
	int64_t want = v->step[3];

	for (int i = 3; i >= 0; i--) {
		if (v->dim[i] != 1 && v->step[i] != want)
			return false;
		want *= v->dim[i];
	}
	return true;
}

/*
 * Returns the view of the same elements under the dimensions n, y, x, c. The caller sees to it that v is
 * dense and that both have equally many elements.
 */
struct view view_reshape(const struct view *v, int64_t n, int64_t y, int64_t x, int64_t c)
{
	struct view r = view_dense(v->root, (int64_t[4]){ n, y, x, c }, v->step[3]);

	r.off = v->off;
	return r;
}

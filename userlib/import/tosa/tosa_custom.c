/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUSTOM: reads only domain "weft", which has this library's extension
 * operators, by the names of include/weft/op.h, and some TOSA operators in forms
 * that TOSA itself lacks (`widened`). implementation_attrs holds one byte per
 * operand and result, its type (enum weft_dtype), then the attributes as in a
 * .weft file. CUSTOM operators of other domains are refused.
 */
#include <errno.h>
#include <string.h>

#include "userlib/graph/save.h"
#include "tosa_lower.h"

static int field(struct tosa_lower *l, int id, struct fb_vec *v, struct tosa_name *name)
{
	int err = fb_vector(&l->f.b, &l->op->attr, id, 1, v);

	*name = (struct tosa_name){ v->n ? (const char *)l->f.b.p + v->at : "", v->n };
	return err < 0 ? err : 0;
}

/*
 * TOSA's operators that also occur as ours: with a rounding, zero point or NaN mode of ours, on int48, which TOSA does not
 * move, or with float sums or products in a fixed order, which TOSA leaves open.
 */
static const weft_opcode widened[] = {
	WEFT_OP_RESCALE, WEFT_OP_CONCAT, WEFT_OP_PAD, WEFT_OP_RESHAPE, WEFT_OP_REVERSE, WEFT_OP_SLICE, WEFT_OP_TILE,
	WEFT_OP_TRANSPOSE, WEFT_OP_CONV2D, WEFT_OP_DEPTHWISE_CONV2D, WEFT_OP_TRANSPOSE_CONV2D, WEFT_OP_MATMUL, WEFT_OP_REDUCE_SUM,
	WEFT_OP_REDUCE_PRODUCT, WEFT_OP_REDUCE_MAX, WEFT_OP_REDUCE_MIN, WEFT_OP_ARGMAX, WEFT_OP_MAX_POOL2D,
	WEFT_OP_AVG_POOL2D, WEFT_OP_CLAMP, WEFT_OP_MAXIMUM, WEFT_OP_MINIMUM,
};

static bool is_name(struct tosa_name name, weft_opcode op)
{
	const char *own = weft_op_name(op);

	return strlen(own) == name.n && !memcmp(own, name.p, name.n);
}

/*
 * Returns the operator that a CUSTOM of the domain "weft" with that name stands for: one of
 * `widened` or an extension operator of this library. Returns WEFT_OP_NONE if the name is none of
 * these.
 */
static weft_opcode find(struct tosa_name name)
{
	for (size_t i = 0; i < sizeof widened / sizeof *widened; i++)
		if (is_name(name, widened[i]))
			return widened[i];
	for (int op = WEFT_OP_CONST_SHAPE + 1; op < WEFT_N_OPS; op++)
		if (is_name(name, (weft_opcode)op))
			return (weft_opcode)op;
	return WEFT_OP_NONE;
}

/*
 * Checks that the CUSTOM operator at hand has the domain "weft" and a name that find() knows.
 * Returns 0, -ENOTSUP with name and domain in the message if not, or -EINVAL if the file is broken
 * there.
 */
int tosa_custom_known(struct tosa_lower *l)
{
	struct fb_vec v;
	struct tosa_name domain, name;
	int err;

	if ((err = field(l, CUSTOM_DOMAIN, &v, &domain)) || (err = field(l, CUSTOM_NAME, &v, &name)))
		return err;
	if (domain.n == 4 && !memcmp(domain.p, "weft", 4) && find(name) != WEFT_OP_NONE)
		return 0;
	return tosa_fail(l, -ENOTSUP, "\"%.*s\" of domain \"%.*s\" is not supported", TOSA_SHOWN(name),
	                 TOSA_SHOWN(domain));
}

/*
 * Reads the CUSTOM operator at hand, which tosa_custom_known() has accepted: *op receives its opcode, types[]
 * the types of its operands, then of its results, one byte each in the file, and *a its attributes. The caller
 * gives types[] room for all operands and results. Returns 0, or -EINVAL with a line in l->msg if a type is
 * unknown or the bytes of its attributes are too few, too many or not valid; the three outputs then do not
 * count.
 */
int tosa_custom(struct tosa_lower *l, weft_opcode *op, weft_dtype *types, weft_attr *a)
{
	const uint32_t n = l->op->in.n + l->op->out.n;
	struct tosa_name name, bytes;
	struct fb_vec v;
	int err;

	if ((err = field(l, CUSTOM_NAME, &v, &name)) || (err = field(l, CUSTOM_ATTRS, &v, &bytes)))
		return err;
	*op = find(name);
	struct io io = { .p = (uint8_t *)(uintptr_t)bytes.p, .n = bytes.n };
	for (uint32_t i = 0; i < n; i++) {
		uint8_t t;
		io_u8(&io, &t);
		types[i] = (weft_dtype)t;
		if (!weft_dtype_bytes(types[i]))
			io_fail(&io, "a type is none");
	}
	memset(a, 0, sizeof *a);
	save_attributes(&io, *op, a);
	if (io.err || io.at != io.n)
		return tosa_fail(l, -EINVAL, "its attributes: %s", io.err ? io.why : "bytes are left over");
	return 0;
}

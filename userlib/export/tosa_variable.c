/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables in a .tosa file. TOSA 1.0 has none of int16: such a variable is one of float32 in the file, which has every
 * int16, with a CAST behind each read and before each write.
 */
#include <errno.h>
#include <stdlib.h>

#include "userlib/import/tosa/tosa_lower.h"
#include "tosa_out.h"

/* Says whether variables of that type are float32 in the file. */
static bool is_float_there(weft_dtype t)
{
	return t == WEFT_INT16;
}

/*
 * Adds a tensor with the name of the int16 variable v to the block at hand, of float32 and with its first value, if it has one.
 * Returns 0 or -ENOMEM.
 */
static int add_as_float(struct xout *x, const struct weft_gvar *v)
{
	weft_tensor t = v->t;
	const int64_t n = weft_tensor_elements(&t);
	float *first = v->t.data ? malloc((size_t)n * sizeof *first + 1) : NULL;

	if (v->t.data && !first)
		return -ENOMEM;
	for (int64_t i = 0; first && i < n; i++)
		first[i] = ((const int16_t *)v->t.data)[i];
	t.dtype = WEFT_FP32;
	t.data = first;
	int err = x_tensor(x, v->name, &t, true);
	free(first);
	return err;
}

/*
 * Adds to the block, for each variable of the network, a tensor with its name and, if it has one,
 * its initial value (of float32 if the variable is int16), and a VARIABLE operator whose only result it is.
 * Returns 0 or -ENOMEM.
 */
int x_variables(struct xout *x)
{
	int err = 0;

	for (int i = 0; i < x->outer->n_vars && !err; i++) {
		const struct weft_gvar *v = &x->outer->vars[i];
		struct xop o = { .code = TOSA_VARIABLE };
		err = is_float_there(v->t.dtype) ? add_as_float(x, v) : x_tensor(x, v->name, &v->t, true);
		if (!err)
			err = x_out(&o, v->name);
		if (!err)
			err = x_op(x, &o);
		else
			x_drop(&o);
	}
	return err;
}

/* Appends an operator with one operand and one result, given by name, to the block at hand. Returns 0 or -ENOMEM. */
static int append(struct xout *x, int code, const char *in, const char *out)
{
	struct xop o = { .code = code };
	int err = x_in(&o, in);

	if (!err)
		err = x_out(&o, out);
	if (!err)
		return x_op(x, &o);
	x_drop(&o);
	return err;
}

/*
 * Converts the VARIABLE_READ or VARIABLE_WRITE at hand. The variable, which in the graph is an attribute, is the operand of
 * the first and the result of the second. For an int16 variable, which is float32 in the file, a CAST with a tensor of its
 * own follows the read or precedes the write. Returns 0 or -ENOMEM.
 */
int x_move_variable(struct xout *x)
{
	const struct weft_gop *op = &x->g->ops[x->i_op];
	const struct weft_gvar *v = &x->outer->vars[op->attr.variable.id];
	const bool read = op->op == WEFT_OP_VARIABLE_READ;
	const char *here = x->names[read ? op->out[0] : op->in[0]];
	weft_tensor t = v->t;
	char name[32];

	if (!is_float_there(t.dtype))
		return read ? append(x, TOSA_VARIABLE_READ, v->name, here) : append(x, TOSA_VARIABLE_WRITE, here, v->name);
	x_new_name(x, name, sizeof name);
	t.dtype = WEFT_FP32;
	t.data = NULL;
	int err = x_tensor(x, name, &t, false);
	if (!err)
		err = read ? append(x, TOSA_VARIABLE_READ, v->name, name) : append(x, TOSA_CAST, here, name);
	if (!err)
		err = read ? append(x, TOSA_CAST, name, here) : append(x, TOSA_VARIABLE_WRITE, name, v->name);
	return err;
}

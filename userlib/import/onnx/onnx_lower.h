/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the lowerings of single operators share.
 *
 * A value of the file is held in one or more forms: graph tensors with its
 * dimensions in some order, and for uint8 perhaps as int8, 128 less. Lowerings
 * ask for the form that they want; TRANSPOSE appears only where no form fits.
 *
 * Functions that return int give a graph tensor (or 0), or a negative errno
 * after writing one line into msg. A negative tensor passes through the
 * functions that build operators, so that a chain needs one check at its end.
 * Operators on constants are computed at once.
 */
#ifndef WEFT_IMPORT_ONNX_LOWER_H
#define WEFT_IMPORT_ONNX_LOWER_H

#include "sim/golden/dtype.h"
#include "userlib/graph/graph.h"
#include "onnx.h"
#include "onnx_file.h"

#define OX_MAX_FORMS 6

struct ox_form {
	int tensor;
	bool flip;                 /* int8 for uint8, 128 less */
	int8_t perm[WEFT_MAX_RANK]; /* the tensor's dimension i is the value's perm[i] */
};

struct ox_value {
	const char *name;
	weft_tensor t;             /* type and shape as the file's order; dtype 0: not known yet */
	const onnx_tensor *init;   /* constant, not in the graph yet */
	/* A constant of strings, dtype 0: the file's own, or the numbers that a Cast wrote out (a constant of the graph; else 0). */
	const onnx_tensor *text;
	int written;
	struct ox_form form[OX_MAX_FORMS];
	int n_forms;
	int maker;                 /* node, or -1 */
	/*
	 * A matrix [N,K] made of a tensor whose dimensions were in another order:
	 * that tensor, and its form. A product may turn its weights instead.
	 */
	struct { int rank; int64_t dim[WEFT_MAX_RANK]; struct ox_form form; } flat;   /* rank 0: none; dim in the file's order */
	int n_uses;                /* by nodes */
	bool is_output;
	int pending;               /* node that gives it once somebody asks; or -1: onnx_lazy.c */
	int carrier;               /* value of 8 or 16 bits whose elements it is a function of; or -1 */
	int depth;                 /* that function's nodes behind the DequantizeLinear dq */
	int dq;
};

/* A node of ours among the file's, and whose operand it became (onnx_float_weights.c). */
struct ox_made {
	onnx_node node;
	char *name[4];             /* its operands and its result; owned */
	onnx_node *reader;
	size_t operand;
	char *old;                 /* what the reader's operand was called */
	struct ox_made *next;
};

struct ox {
	struct onnx_file f;
	struct weft_onnx_options o;
	weft_graph *g;
	char *msg;
	int err;                   /* what the last failure returned */
	int64_t room;              /* bytes that the graph may still take */
	int64_t activations;       /* bytes of values that may still be declared */
	int64_t work;              /* multiplications that constants may still cost */
	int opset;
	bool no_memory;            /* an allocation has failed somewhere: no graph comes of this import */
	const char *note; int note_node;   /* for the source of that node */

	struct ox_value *values; int n_values, cap_values;
	int *hash; uint32_t n_hash;  /* power of two; -1: free */

	/* the node at hand */
	const onnx_node *n;        /* NULL outside nodes */
	int i_node, src, made;
	struct ox_value *subst[2]; /* operands 0 and 1 in their place, unless NULL */
	struct ox_value *results;  /* where results go; NULL: to their names */
	const double *zero;        /* Pad's 0 stands for this code; NULL: for itself */
	struct ox_value zeros[3];  /* absent zero points: uint8, int8, int16 */

	uint64_t taken, wanted;    /* bits of o.given: what is constant; what had to be (onnx_want.c) */
	int n_file_nodes;          /* of the file's own graph; behind these stand those of branches (onnx_if.c) */
	onnx_node **file_nodes;    /* the file's array, while a longer one is in its place; or NULL */
	onnx_graph **branches; int n_branches;
	struct ox_made *made_nodes;
};

/* ---- onnx_names.c ---- */
int ox_fail(struct ox *l, int err, const char *format, ...) __attribute__((format(printf, 3, 4)));
int ox_value_new(struct ox *l, const char *name);               /* its index; the old one if there is one */
int ox_value_find(const struct ox *l, const char *name);        /* -1: none */
int ox_rehash(struct ox *l);                                    /* of an empty table; 0 */
struct ox_value ox_blank(const char *name);                     /* nothing known of it */
struct ox_value ox_held(const struct ox *l, const char *name, int tensor);      /* as that tensor has it */

/* ---- onnx_node.c: operands and attributes of any node ---- */
bool ox_node_is(const onnx_node *n, const char *type);
struct ox_value *ox_operand(const struct ox *l, const onnx_node *n, size_t k);   /* as it is, perhaps pending; NULL: absent */
const onnx_attribute *ox_node_attr(const onnx_node *n, const char *name);
int64_t ox_attr_of(const onnx_node *n, const char *name, int64_t otherwise);     /* an integer attribute */

/* ---- onnx_node.c: operands and attributes of the node at hand ---- */
bool ox_is(const struct ox *l, const char *type);
bool ox_has(const struct ox *l, int k);
struct ox_value *ox_in(struct ox *l, int k);                    /* NULL after a failure */
bool ox_is_const(struct ox *l, int k);
const weft_tensor *ox_const(struct ox *l, int k);               /* with data; NULL after a failure */
int ox_ints(struct ox *l, int k, int max, int64_t *v);          /* constant int32 or int64; the count */
int ox_need_rank(struct ox *l, int k, int min, int max);
const onnx_attribute *ox_attr(const struct ox *l, const char *name);
int64_t ox_attr_i(const struct ox *l, const char *name, int64_t otherwise);
double ox_attr_f(const struct ox *l, const char *name, double otherwise);
int ox_attr_ints(struct ox *l, const char *name, int max, int64_t *v);  /* the count; 0: absent */
bool ox_attr_is(const struct ox *l, const char *name, const char *value, bool absent);
/* Attribute in old opsets, operand k in newer ones: the count, 0 if absent. */
int ox_list(struct ox *l, const char *name, int k, int max, int64_t *v);
int ox_axis(struct ox *l, int64_t axis, int rank);              /* negative ones counted from the end */

struct ox_value *ox_raw(struct ox *l, int k);                    /* as ox_operand() */
bool ox_is_const_value(const struct ox *l, const struct ox_value *v);

/* ---- onnx_value.c: forms ---- */
int ox_get(struct ox *l, struct ox_value *v, const int8_t *perm);       /* perm NULL: as in the file */
int ox_get_int8(struct ox *l, struct ox_value *v, const int8_t *perm);  /* uint8 as int8, 128 less */
int ox_x(struct ox *l, int k);                                          /* operand k as in the file */
int ox_result(struct ox *l, int k, int tensor, const int8_t *perm, bool flip);
int ox_alias(struct ox *l, struct ox_value *x, const int8_t *perm);     /* result 0 is x with its dimensions permuted */
int ox_reorder(struct ox *l, int x, const int8_t *from, const int8_t *to);   /* from one order of dimensions to another */
int ox_text_shape(struct ox *l, const onnx_tensor *p, weft_tensor *t);  /* onnx_text.c: strings; without a type */
bool ox_is_text(const struct ox_value *v);
int ox_from_text(struct ox *l, struct ox_value *v, weft_dtype to);      /* Cast from string */
int ox_to_text(struct ox *l, struct ox_value *x, struct ox_value *y);   /* Cast to string */
void ox_channels_last(int rank, int8_t *perm);                          /* [N,C,...] as [N,...,C] */
struct ox_value ox_turned(struct ox *l, struct ox_value *w);            /* matrix w transposed; without a form after a failure */
int ox_outputs(struct ox *l);

/* ---- onnx_build.c: operators ---- */
void *ox_alloc(struct ox *l, int64_t n, size_t bytes);
int ox_data(struct ox *l, weft_dtype t, int rank, const int64_t *dim, void *data);  /* data from ox_alloc */
int ox_ramp(struct ox *l, weft_dtype t, int rank, double v);            /* one element, rank dimensions of 1 */
int ox_op(struct ox *l, weft_opcode op, const weft_attr *a, const int *in, int n_in, weft_dtype t, int rank, const int64_t *dim);
/* Results of any count, types and shapes, also without elements; out is set. 0 or a negative errno. */
int ox_op_many(struct ox *l, weft_opcode op, const weft_attr *a, const int *in, int n_in, const weft_tensor *y, int n_y, int *out);
int ox_reshape(struct ox *l, int x, int rank, const int64_t *dim);
int ox_transpose(struct ox *l, int x, const int8_t *perm);
int ox_cast(struct ox *l, int x, weft_dtype to);                        /* ONNX's Cast, saturating */
int ox_binary(struct ox *l, weft_opcode op, int a, int b);              /* NumPy's broadcasting; bool if it compares */
int ox_unary(struct ox *l, weft_opcode op, int x);
int ox_scale(struct ox *l, int x, double v);                            /* x * v, x + v: float x */
int ox_shift(struct ox *l, int x, double v);
int ox_select(struct ox *l, int cond, int a, int b);
int ox_reduce(struct ox *l, weft_opcode op, int x, int axis);           /* keeps the dimension */
int ox_slice(struct ox *l, int x, const int64_t *start, const int64_t *dim);
int ox_concat(struct ox *l, const int *x, int n, int axis);
int ox_softmax_over(struct ox *l, int x, unsigned axes);                /* of a tensor of floats */
int ox_pad(struct ox *l, int x, const int64_t *before, const int64_t *after, double v);
int ox_tile(struct ox *l, int x, const int64_t *multiple);
int ox_to_rank(struct ox *l, int x, int rank);                          /* with leading dimensions of 1 */
/* The shape that n operands of one rank broadcast to; the rank. */
int ox_broadcast(struct ox *l, const int *x, int n, int64_t *dim);
int ox_expand(struct ox *l, int x, int rank, const int64_t *dim);       /* NumPy's broadcast_to */
int ox_rescale_by(struct ox *l, int x, const weft_attr *a, int32_t mul, int8_t shift, weft_dtype to);   /* as one channel */
int ox_flip_sign(struct ox *l, int x, weft_dtype to);                   /* uint8 <-> int8 */
int ox_widen(struct ox *l, int x);                                      /* small integers and bool to int32 */
const weft_tensor *ox_t(const struct ox *l, int x);

/* ---- lowerings: each sets its node's results ---- */
typedef int ox_lowering(struct ox *l);
ox_lowering ox_conv, ox_conv_transpose, ox_pool, ox_global_pool, ox_gemm, ox_matmul, ox_elementwise, ox_compare, ox_unary_node,
	ox_activation, ox_clip, ox_where, ox_variadic, ox_reduce_node, ox_argmax, ox_reshape_node, ox_flatten, ox_squeeze,
	ox_unsqueeze, ox_transpose_node, ox_concat_node, ox_split, ox_slice_node, ox_pad_node, ox_gather, ox_gather_elements,
	ox_gather_nd, ox_tile_node, ox_expand_node, ox_shape, ox_constant, ox_constant_of_shape, ox_identity, ox_cast_node,
	ox_fake_convert, ox_quantize, ox_dequantize, ox_dynamic_quantize, ox_qlinear_conv, ox_qlinear_matmul, ox_conv_integer,
	ox_matmul_integer, ox_range, ox_softmax, ox_layer_norm, ox_batch_norm, ox_depth_to_space, ox_space_to_depth, ox_resize,
	ox_prelu, ox_size, ox_qgemm, ox_qlinear_binary, ox_qlinear_unary, ox_qlinear_softmax,
	ox_qlinear_concat, ox_qlinear_average, ox_requant_shift, ox_matmul_to_float, ox_dynamic_matmul, ox_i_hard_swish, ox_i_gelu, ox_integer_div, ox_integer_mean,
	ox_group_norm, ox_lp_norm, ox_if, ox_has_element, ox_i_softmax, ox_ita_max, ox_i_layer_norm;

/* ---- windows of convolutions and pools: onnx_window.c ---- */
struct ox_window {
	int n;                     /* spatial dimensions, 1..3 */
	int64_t kernel[3], stride[3], dilation[3], before[3], after[3], out[3];
	int64_t trim[3];           /* what no window reaches, cut off at the end */
};
/* From the attributes; in and kernel are extents. ceil: pools may round up, which after then makes room for. */
int ox_window(struct ox *l, struct ox_window *w, int n, const int64_t *in, const int64_t *kernel, bool ceil);
/* A pool's, and its padding behind, without what ceil_mode adds. */
int ox_pool_window(struct ox *l, struct ox_value *v, struct ox_window *w, int64_t *behind);
/* x [N,spatial...,C] without what no window reaches. */
int ox_trim(struct ox *l, int x, const struct ox_window *w);

/* ---- onnx_conv.c ---- */
struct ox_conv_call {
	int x;                     /* [N,spatial...,C] */
	int w;                     /* [OC,spatial...,C/group] */
	int bias;                  /* [OC] or [1], of the accumulator's type */
	int64_t group;
	int32_t x_zp, w_zp;
	int32_t log2_scale;        /* float8 */
	struct ox_window win;
};
/* The sums [N,spatial...,OC]: int32 for int8, int48 for int16 by int8, else x's type. */
int ox_conv_sums(struct ox *l, const struct ox_conv_call *c);
/* Windows of a ConvTranspose: before and after are cut off the full result. */
int ox_transpose_window(struct ox *l, struct ox_window *win);
void ox_transpose_order(int rank, int8_t *order);
/* Groups and windows of x, operand 0, with weights, operand i_w. */
int ox_conv_shapes(struct ox *l, int i_w, struct ox_conv_call *c);

/* ---- onnx_matmul.c: [...,M,K] by [...,K,N], leading dimensions broadcast; the sums as of convolutions ---- */
int ox_matmul_sums(struct ox *l, int a, int b);
int ox_matmul_sums_zp(struct ox *l, int a, int b, int32_t a_zp, int32_t b_zp);   /* of int8 */
int ox_narrow_48(struct ox *l, int x);                                  /* int48 sums that fit int32 */

/* ---- onnx_gather.c: rows idx [w], int32, of values [k,c], any type ---- */
int ox_rows(struct ox *l, int values, int64_t k, int64_t c, int idx, int64_t w);

/* ---- onnx_sweep.c ---- */
int ox_sweep(struct ox *l);

/* ---- onnx_requant.c ---- */
/*
 * Scales and zero point of a requantisation, values of the file, constant or
 * not. One number each, or along an axis of the sums counted from the end, or
 * of the sums' rank.
 */
struct ox_scaling {
	struct ox_value *a, *b, *y, *zp;   /* b NULL: 1 */
	int a_axis, b_axis, y_axis;
	int64_t count;             /* divides; 0: 1 */
	int counts;                /* tensor of counts, or 0 */
	int64_t least, top;        /* of all sums; equal: not known */
	bool device_only;          /* give 0 where only the host rounds so */
};
/* int32 sums, at most `most` in magnitude, to the type of zp; *flip: the result is int8 for uint8. int16: the nearest RESCALE. */
int ox_requant(struct ox *l, int x, const struct ox_scaling *s, int64_t most, bool *flip);
int ox_before_reshape(const struct ox *l, int x);
/* A constant of one element; *out as a number. */
bool ox_scalar(struct ox *l, struct ox_value *v, double *out);
/* v with x's rank: one element, or spread along axis (counted from the end). */
int ox_along(struct ox *l, struct ox_value *v, int rank, int axis);
int ox_along_tensor(struct ox *l, int x, int rank, int axis);

/* ---- onnx_float_weights.c ---- */
int ox_float_weights(struct ox *l);
void ox_release_made(struct ox *l);

/* ---- onnx_host.c, onnx_want.c, onnx_if.c ---- */
/* The node at hand as ONNX_NODE; -ENOTSUP where there is no kernel. */
int ox_host(struct ox *l);
/* v has to be constant: notes the given inputs that it is computed of. */
void ox_want(struct ox *l, const struct ox_value *v);
/* The graphs of If's branches, and the file's own list of nodes back in its place. */
void ox_release_branches(struct ox *l);
/* Room for n more values: no pointer to a value may be held. */
int ox_grow(struct ox *l, int n);
/* A node behind the graph's own; its index. */
int ox_append_node(struct ox *l, onnx_node *n);

/* ---- onnx_lazy.c ---- */
int ox_lower_node(struct ox *l, int i);                                 /* onnx.c: node i, now or when somebody asks */
int ox_lower_now(struct ox *l, int i);                                  /* onnx.c: node i, in full */
int ox_settle(struct ox *l, struct ox_value *v);                        /* lowers what gives v, if it is pending */
int ox_defer(struct ox *l);                                             /* 1: the node at hand waits, or is done; 0: lower it */

#endif

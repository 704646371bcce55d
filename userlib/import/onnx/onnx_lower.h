/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the lowerings of single operators share.
 *
 * A value of the file is held in one or more forms: graph tensors with its
 * dimensions in some order, and for uint8 perhaps as int8, 128 less, for uint16 as
 * int16, 32768 less. Lowerings ask for the form that they want; a TRANSPOSE is emitted only where no form fits.
 *
 * If not said otherwise, functions that return int return the index of a graph
 * tensor (or 0), or a negative errno after writing one line into msg (ox_fail()).
 * The functions that build operators return a negative operand as it is, so that a
 * chain of them needs one check at its end. An operator whose operands are all
 * constant is computed at once if that costs little.
 *
 * An operand k or result k is the k-th of the node at hand, from 0 on. perm is an
 * order of dimensions: dimension i of the tensor is dimension perm[i] of the value.
 */
#ifndef WEFT_IMPORT_ONNX_LOWER_H
#define WEFT_IMPORT_ONNX_LOWER_H

#include "sim/golden/dtype.h"
#include "userlib/graph/graph.h"
#include "onnx.h"
#include "onnx_file.h"

#define OX_MAX_FORMS 6         /* a value's forms beyond that many are not noted, and made again when asked for */

/* One graph tensor that holds a value. */
struct ox_form {
	int tensor;                /* its index in the graph */
	bool flip;                 /* the value is uint8 or uint16 and the tensor ox_signed() of it, with elements ox_less() less */
	int8_t perm[WEFT_MAX_RANK]; /* the tensor's dimension i is the value's dimension perm[i] */
};

/*
 * A value of the file: what a name stands for. Indices of values are into ox.values, of nodes into the
 * file's list.
 */
struct ox_value {
	const char *name;          /* the file's; "" for values that have none */
	weft_tensor t;             /* type, and shape in the file's order; dtype 0: not known yet, or strings */
	const onnx_tensor *init;   /* the file's constant, if it is one; the graph may not have it yet */
	/*
	 * Strings are constants with dtype 0: the file's own (text), or numbers that a Cast wrote out
	 * (written).
	 */
	const onnx_tensor *text;
	int written;               /* the graph's constant with the numbers, or 0 */
	struct ox_form form[OX_MAX_FORMS];   /* the tensors that hold it */
	int n_forms;
	int maker;                 /* the node whose result it is, or -1 */
	/*
	 * If the value is a matrix [N,K] made of a tensor whose dimensions were in another order: that
	 * tensor's shape in the file's order, and its form; else rank 0. A product may reorder its
	 * weights instead of the tensor.
	 */
	struct { int rank; int64_t dim[WEFT_MAX_RANK]; struct ox_form form; } flat;
	int n_uses;                /* how many operands of nodes it is */
	bool is_output;            /* of the network */
	int pending;               /* the deferred node that gives it once it is asked for, or -1 (onnx_lazy.c) */
	int carrier;               /* the value of 8 or 16 bits of whose elements it is a function, or -1 */
	int depth;                 /* how many nodes that function has behind the DequantizeLinear */
	int dq;                    /* the DequantizeLinear whose result it is, perhaps with elements moved, or -1 */
};

/*
 * A node that the importer put among the file's nodes, and the operand that it became
 * (onnx_float_weights.c).
 */
struct ox_made {
	onnx_node node;
	char *name[4];             /* its operands' names, then its result's; owned */
	onnx_node *reader;         /* the node that reads its result */
	size_t operand;            /* as which operand */
	char *old;                 /* the name that this operand had before; the file's */
	struct ox_made *next;
};

/* One import of one file. */
struct ox {
	struct onnx_file f;
	struct weft_onnx_options o;
	weft_graph *g;             /* the graph that the file becomes */
	char *msg;                 /* WEFT_MSG bytes: one line after a failure */
	int err;                   /* the errno of the last failure, negative; a success does not clear it */
	int64_t room;              /* bytes that the graph and what the import allocates may still take */
	int64_t activations;       /* bytes of computed values that may still be declared */
	int64_t work;              /* multiplications, or elements, that computing constants may still cost */
	int opset;                 /* version of ONNX's own operator set */
	bool no_memory;            /* an allocation has failed somewhere: no graph comes of this import */
	const char *note; int note_node;   /* a note for the record of node note_node in the graph, or NULL */

	struct ox_value *values; int n_values, cap_values;
	int *hash; uint32_t n_hash;  /* indices of values by hash of their names, -1 for free; n_hash is a power of two */

	/* the node at hand */
	const onnx_node *n;        /* NULL outside nodes */
	/*
	 * Its index; its record in the graph, or -1 if it has none yet; how many tensors have been made
	 * for it.
	 */
	int i_node, src, made;
	struct ox_value *subst[2]; /* what stands for operands 0 and 1; NULL: they themselves */
	struct ox_value *results;  /* where its results go; NULL: to the values with their names */
	const double *zero;        /* the code for which Pad's value 0 stands; NULL: none, 0 is 0 */
	struct ox_value zeros[4];  /* what stands for absent zero points of uint8, int8, uint16 and int16 */

	uint64_t taken, wanted;    /* bits of o.given: taken as constants; found to have to be constants (onnx_want.c) */
	int n_file_nodes;          /* nodes of the file's own graph, while file_nodes is not NULL */
	onnx_node **file_nodes;    /* the file's own array of nodes, while a longer one is in its place (onnx_if.c); or NULL */
	onnx_graph **branches; int n_branches;   /* parsed graphs of If's branches */
	struct ox_made *made_nodes;
};

/* Returns by how much codes of type t are less in their signed form: 128 for uint8, 32768 for uint16, 0 for others. */
static inline int32_t ox_less(weft_dtype t) { return t == WEFT_UINT8 ? 128 : t == WEFT_UINT16 ? 32768 : 0; }
/* Returns the type of the signed form of codes of type t: int8 for uint8, int16 for uint16, else t. */
static inline weft_dtype ox_signed(weft_dtype t) { return t == WEFT_UINT8 ? WEFT_INT8 : t == WEFT_UINT16 ? WEFT_INT16 : t; }
/* Returns the unsigned type whose signed form has type t: uint16 for int16, else uint8. */
static inline weft_dtype ox_unsigned(weft_dtype t) { return t == WEFT_INT16 ? WEFT_UINT16 : WEFT_UINT8; }

/* ---- onnx_names.c ---- */
/* Writes the message, with the node at hand in front, to l->msg and sets l->err. Returns err. */
int ox_fail(struct ox *l, int err, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Returns the index of the value with this name, which is entered if there is none. */
WEFT_MUST_USE int ox_value_new(struct ox *l, const char *name);
int ox_value_find(const struct ox *l, const char *name);        /* the index of the value with this name, or -1 */
/* Enters all values in the hash table, which has been emptied. Returns 0. */
int ox_rehash(struct ox *l);
struct ox_value ox_blank(const char *name);                     /* a value of which nothing is known */
/* Returns a new value that this tensor alone holds. */
struct ox_value ox_held(const struct ox *l, const char *name, int tensor);

/* ---- onnx_node.c: operands and attributes of any node ---- */
bool ox_node_is(const onnx_node *n, const char *type);          /* whether that is n's operator type */
/*
 * Returns the value that is operand k of n as it is, perhaps pending; NULL if the operand is absent or not
 * known.
 */
struct ox_value *ox_operand(const struct ox *l, const onnx_node *n, size_t k);
const onnx_attribute *ox_node_attr(const onnx_node *n, const char *name);        /* NULL: n has no such attribute */
/* Returns an integer attribute, or `otherwise` if it is absent. */
int64_t ox_attr_of(const onnx_node *n, const char *name, int64_t otherwise);
/* onnx_scales.c: checks the node's constant scales. Returns 0; -EINVAL if one is not finite and above 0; -ENOMEM. */
WEFT_MUST_USE int ox_check_scales(struct ox *l);

/* ---- onnx_node.c: operands and attributes of the node at hand ---- */
bool ox_is(const struct ox *l, const char *type);               /* whether that is its operator type */
bool ox_has(const struct ox *l, int k);                         /* whether operand k is present */
/* Returns operand k, lowered if it was deferred, or NULL after a failure. */
struct ox_value *ox_in(struct ox *l, int k);
/* Returns NULL if operand k is absent, otherwise what ox_in() gives: also NULL after a failure, which l->err tells. */
struct ox_value *ox_optional(struct ox *l, int k);
/*
 * Says whether operand k is present and constant. A deferred node that makes it is lowered, unless it has
 * a carrier.
 */
bool ox_is_const(struct ox *l, int k);
/* Returns constant operand k with its data, or NULL after a failure. */
const weft_tensor *ox_const(struct ox *l, int k);
/* Copies constant operand k, int32 or int64, to v. Returns the count. */
WEFT_MUST_USE int ox_ints(struct ox *l, int k, int max, int64_t *v);
WEFT_MUST_USE int ox_need_rank(struct ox *l, int k, int min, int max);        /* 0 if operand k has a rank of min to max */
const onnx_attribute *ox_attr(const struct ox *l, const char *name);             /* NULL: it has no such attribute */
/* Returns an integer attribute, or `otherwise` if it is absent. */
int64_t ox_attr_i(const struct ox *l, const char *name, int64_t otherwise);
/* Returns a float attribute, or `otherwise` if it is absent. */
double ox_attr_f(const struct ox *l, const char *name, double otherwise);
/* Copies an attribute that is a list of integers to v. Returns the count, 0 if it is absent. */
WEFT_MUST_USE int ox_attr_ints(struct ox *l, const char *name, int max, int64_t *v);
/* Says whether a string attribute is value; `absent` is the answer if there is no such attribute. */
bool ox_attr_is(const struct ox *l, const char *name, const char *value, bool absent);
/*
 * v: a list that older opsets have as an attribute and newer ones as operand k. Returns the count, 0 if
 * absent.
 */
WEFT_MUST_USE int ox_list(struct ox *l, const char *name, int k, int max, int64_t *v);
/* Returns axis as 0..rank - 1, where a negative one counts from the end; -EINVAL if it is out of range. */
WEFT_MUST_USE int ox_axis(struct ox *l, int64_t axis, int rank);

/* Returns operand k as it is, perhaps pending, or NULL if it is absent. */
struct ox_value *ox_raw(struct ox *l, int k);
/* Says whether v is a constant of the file or the graph. */
bool ox_is_const_value(const struct ox *l, const struct ox_value *v);

/* ---- onnx_value.c: forms; perm NULL: the file's order of dimensions ---- */
/* Returns the tensor of v in order perm, with v's own type; l->err if v is NULL. */
int ox_get(struct ox *l, struct ox_value *v, const int8_t *perm);
/* Returns the tensor of v in order perm, for uint8 and uint16 in its signed form; l->err if v is NULL. */
int ox_get_signed(struct ox *l, struct ox_value *v, const int8_t *perm);
/* Returns the tensor of operand k in the file's order of dimensions. */
int ox_x(struct ox *l, int k);
/*
 * Makes the tensor result k; its dimension i is the result's perm[i], and flip: it is the signed form of
 * uint8 or uint16. Returns 0.
 */
WEFT_MUST_USE int ox_result(struct ox *l, int k, int tensor, const int8_t *perm, bool flip);
/* Makes result 0 the value x with its dimensions permuted by perm. Returns 0. */
int ox_alias(struct ox *l, struct ox_value *x, const int8_t *perm);
WEFT_MUST_USE int ox_reorder(struct ox *l, int x, const int8_t *from, const int8_t *to);   /* x, in order `from`, in order `to` */
/* onnx_text.c: sets *t to the shape of tensor p of strings. Returns 0. */
WEFT_MUST_USE int ox_text_shape(struct ox *l, const onnx_tensor *p, weft_tensor *t);
bool ox_is_text(const struct ox_value *v);                              /* whether v consists of strings */
WEFT_MUST_USE int ox_from_text(struct ox *l, struct ox_value *v, weft_dtype to);      /* strings v as numbers of type `to` */
/* Makes y the strings of constant x. Returns 0. */
WEFT_MUST_USE int ox_to_text(struct ox *l, struct ox_value *x, struct ox_value *y);
/* Sets perm to the order of dimensions that makes [N,C,...] [N,...,C]. */
void ox_channels_last(int rank, int8_t *perm);
/* Returns matrix w transposed, without a form after a failure. */
struct ox_value ox_turned(struct ox *l, struct ox_value *w);
WEFT_MUST_USE int ox_outputs(struct ox *l);                                           /* makes the graph's outputs; returns 0 */

/* ---- onnx_build.c: operators ---- */
/* Allocates n * bytes bytes, all zero, for free(). Returns NULL after a failure. */
void *ox_alloc(struct ox *l, int64_t n, size_t bytes);
/* Returns a new constant that takes over data, from ox_alloc(). */
int ox_data(struct ox *l, weft_dtype t, int rank, const int64_t *dim, void *data);
/* Returns a new constant of one element, v, with `rank` dimensions of 1. */
int ox_ramp(struct ox *l, weft_dtype t, int rank, double v);
/* Returns the one result, of the given type and shape, of operator op with attributes a (NULL: none). */
WEFT_MUST_USE int ox_op(struct ox *l, weft_opcode op, const weft_attr *a, const int *in, int n_in, weft_dtype t, int rank, const int64_t *dim);
/* Takes that many steps from what computing constants may still cost; false, with nothing taken, if it is not left. */
WEFT_MUST_USE bool ox_work(struct ox *l, double steps);
/*
 * Sets out to the n_y results of operator op, of types and shapes y, also without elements. Returns 0 or a
 * negative errno.
 */
WEFT_MUST_USE int ox_op_many(struct ox *l, weft_opcode op, const weft_attr *a, const int *in, int n_in, const weft_tensor *y, int n_y, int *out);
WEFT_MUST_USE int ox_reshape(struct ox *l, int x, int rank, const int64_t *dim);      /* x with that shape */
WEFT_MUST_USE int ox_transpose(struct ox *l, int x, const int8_t *perm);              /* dimension i of the result is x's perm[i] */
WEFT_MUST_USE int ox_cast(struct ox *l, int x, weft_dtype to);                        /* x as ONNX's Cast converts it, saturating */
/* Returns op of a and b with NumPy's broadcasting; the result is bool if op compares. */
WEFT_MUST_USE int ox_binary(struct ox *l, weft_opcode op, int a, int b);
WEFT_MUST_USE int ox_unary(struct ox *l, weft_opcode op, int x);                      /* op of x, with x's type and shape */
WEFT_MUST_USE int ox_scale(struct ox *l, int x, double v);                            /* x * v; x itself if v is 1 */
WEFT_MUST_USE int ox_shift(struct ox *l, int x, double v);                            /* x + v; x itself if v is 0 */
WEFT_MUST_USE int ox_select(struct ox *l, int cond, int a, int b);                    /* a where cond is true, else b */
WEFT_MUST_USE int ox_reduce(struct ox *l, weft_opcode op, int x, int axis);           /* the dimension stays, with length 1 */
/* Returns the part of x that begins at start and has shape dim. */
WEFT_MUST_USE int ox_slice(struct ox *l, int x, const int64_t *start, const int64_t *dim);
WEFT_MUST_USE int ox_concat(struct ox *l, const int *x, int n, int axis);             /* the n tensors joined along axis */
/* onnx_reduce.c: returns the softmax of floats x over a set of axes; bit i is axis i. */
WEFT_MUST_USE int ox_softmax_over(struct ox *l, int x, unsigned axes);
WEFT_MUST_USE int ox_pad(struct ox *l, int x, const int64_t *before, const int64_t *after, double v);   /* elements v around x */
/* Returns x repeated multiple[i] times along each dimension i. */
WEFT_MUST_USE int ox_tile(struct ox *l, int x, const int64_t *multiple);
WEFT_MUST_USE int ox_to_rank(struct ox *l, int x, int rank);                          /* x with leading dimensions of 1 */
/* Sets dim to the shape to which n operands of one rank broadcast. Returns the rank. */
WEFT_MUST_USE int ox_broadcast(struct ox *l, const int *x, int n, int64_t *dim);
/* Returns x broadcast to shape dim, where a 1 keeps x's dimension. */
WEFT_MUST_USE int ox_expand(struct ox *l, int x, int rank, const int64_t *dim);
/* Returns RESCALE of x to type `to` with one multiplier and one shift for all channels. */
WEFT_MUST_USE int ox_rescale_by(struct ox *l, int x, const weft_attr *a, int32_t mul, int8_t shift, weft_dtype to);
WEFT_MUST_USE int ox_flip_sign(struct ox *l, int x, weft_dtype to);                   /* uint8 or uint16 in its signed form, or back */
WEFT_MUST_USE int ox_widen(struct ox *l, int x);                                      /* x in a type that arithmetic takes */
/* Returns type, shape and data of the graph's tensor x; of a negative x, an errno, a float's without data. The pointer holds until a tensor is added. */
const weft_tensor *ox_t(const struct ox *l, int x);

/*
 * ---- lowerings ----
 * Each emits operators for the node at hand and sets its results. Returns 0 or a positive number, or a
 * negative errno: -ENOTSUP or -EINVAL if the lowering does not take the node.
 */
typedef int ox_lowering(struct ox *l);
ox_lowering ox_conv, ox_conv_transpose, ox_pool, ox_global_pool, ox_gemm, ox_matmul, ox_elementwise, ox_compare, ox_unary_node,
	ox_activation, ox_clip, ox_where, ox_variadic, ox_reduce_node, ox_argmax, ox_reshape_node, ox_flatten, ox_squeeze,
	ox_unsqueeze, ox_transpose_node, ox_concat_node, ox_split, ox_slice_node, ox_pad_node, ox_gather, ox_gather_elements,
	ox_gather_nd, ox_tile_node, ox_expand_node, ox_shape, ox_constant, ox_constant_of_shape, ox_identity, ox_cast_node,
	ox_fake_convert, ox_quantize, ox_dequantize, ox_dynamic_quantize, ox_qlinear_conv, ox_qlinear_matmul, ox_conv_integer,
	ox_matmul_integer, ox_range, ox_softmax, ox_layer_norm, ox_batch_norm, ox_depth_to_space, ox_space_to_depth, ox_resize,
	ox_prelu, ox_size, ox_qgemm, ox_qlinear_binary, ox_qlinear_unary, ox_qlinear_softmax,
	ox_qlinear_concat, ox_qlinear_average, ox_requant_shift, ox_matmul_to_float, ox_dynamic_matmul, ox_lstm_in_pairs, ox_i_hard_swish, ox_i_gelu, ox_integer_div, ox_integer_mean,
	ox_group_norm, ox_lp_norm, ox_if, ox_has_element, ox_i_softmax, ox_ita_max, ox_i_layer_norm;

/* ---- windows of convolutions and pools: onnx_window.c ---- */
/* All numbers count elements of one spatial dimension. */
struct ox_window {
	int n;                     /* number of spatial dimensions, 1..3 */
	/*
	 * before, after: padding in front of the image and behind it, as far as windows reach; out: number
	 * of windows.
	 */
	int64_t kernel[3], stride[3], dilation[3], before[3], after[3], out[3];
	int64_t trim[3];           /* elements at the image's end that no window reaches */
};
/*
 * Fills *w from the attributes of the node at hand; `in` are the image's lengths, kernel the weights' or
 * NULL. Returns 0.
 */
WEFT_MUST_USE int ox_window(struct ox *l, struct ox_window *w, int n, const int64_t *in, const int64_t *kernel, bool ceil);
/*
 * Fills *w for the pool at hand of v, and behind with the padding behind the image that counts in
 * averages. Returns 0.
 */
WEFT_MUST_USE int ox_pool_window(struct ox *l, struct ox_value *v, struct ox_window *w, int64_t *behind);
/* Returns x [N,spatial...,C] without the elements that no window reaches. */
WEFT_MUST_USE int ox_trim(struct ox *l, int x, const struct ox_window *w);

/* ---- onnx_conv.c ---- */
struct ox_conv_call {
	int x;                     /* tensor [N,spatial...,C] */
	int w;                     /* tensor of weights [OC,spatial...,C/group] */
	int bias;                  /* tensor [OC] or [1], of the sums' type */
	int64_t group;             /* number of groups */
	int32_t x_zp, w_zp;        /* zero points of x and w */
	int32_t log2_scale;        /* float8: the sums are multiplied by 2 to this power */
	struct ox_window win;
};
/*
 * Returns the sums [N,spatial...,OC]: int32 for int8, int48 for int16 by int8, fp16 for float8, else x's
 * type.
 */
WEFT_MUST_USE int ox_conv_sums(struct ox *l, const struct ox_conv_call *c);
/*
 * Fills *win for the ConvTranspose at hand; before and after are what is cut off the full result (negative:
 * what is added), out are the result's lengths, and trim has no meaning. Returns 0.
 */
WEFT_MUST_USE int ox_transpose_window(struct ox *l, struct ox_window *win);
/* Sets order to the order of dimensions that makes weights [C,OC,...] [OC,...,C]. */
void ox_transpose_order(int rank, int8_t *order);
/* Sets c->group and c->win for x, operand 0, and weights, operand i_w, of the node at hand. Returns 0. */
WEFT_MUST_USE int ox_conv_shapes(struct ox *l, int i_w, struct ox_conv_call *c);

/* ---- onnx_matmul.c, onnx_integer.c ---- */
/* Returns the sums of a [...,M,K] by b [...,K,N], whose leading dimensions broadcast; int48 for int16. */
WEFT_MUST_USE int ox_matmul_sums(struct ox *l, int a, int b);
/* Returns the same with zero points of int8 factors. */
WEFT_MUST_USE int ox_matmul_sums_zp(struct ox *l, int a, int b, int32_t a_zp, int32_t b_zp);
WEFT_MUST_USE int ox_narrow_48(struct ox *l, int x);                                  /* int48 sums that fit int32, as int32 */

/* ---- onnx_gather.c ---- */
/* Returns the w rows of values [k,c], of any type, that the int32 indices idx [w] name: [1,w,c]. */
WEFT_MUST_USE int ox_rows(struct ox *l, int values, int64_t k, int64_t c, int idx, int64_t w);

/* ---- onnx_sweep.c ---- */
int ox_sweep(struct ox *l);                                             /* removes what no output needs; returns 0 */

/* ---- onnx_requant.c ---- */
/*
 * How sums become codes: sum * a * b / (y * count) + zp, rounded. The scales a, b and y and the zero
 * point zp are values of the file, constant or not. Each has one element, or runs along an axis of the
 * sums that is counted from the end (1 is the last), or has the sums' rank.
 */
struct ox_scaling {
	struct ox_value *a, *b, *y, *zp;   /* b NULL: 1 */
	int a_axis, b_axis, y_axis;        /* y_axis is zp's, too */
	int64_t count;             /* sums are divided by this; 0: by 1 */
	int down;                  /* sums have been moved down by so many bits */
	int counts;                /* tensor by whose elements sums are divided, or 0 */
	int64_t least, top;        /* the least and the greatest sum; equal if they are not known */
	bool device_only;          /* return 0 if only the host can round exactly */
	bool exact;                /* with --requant runtime, too: the runtime has no integer kernel whose rounding counts */
};
/*
 * Returns int32 sums x, at most `most` in magnitude, as codes of zp's type; *flip: they are the signed form of
 * uint8 or uint16. For 16 bits the nearest RESCALE is taken, else one that is exact, or the host.
 */
WEFT_MUST_USE int ox_requant(struct ox *l, int x, const struct ox_scaling *s, int64_t most, bool *flip);
/*
 * Returns sums x as type `to` with zero point zp, by a RESCALE of `count` multipliers m and shifts s, 1 or one for each
 * channel; both come from ox_alloc() and are taken over. Ties go to even if `even` is set, else up.
 */
WEFT_MUST_USE int ox_rescale_channels(struct ox *l, int x, weft_dtype to, int64_t count, int32_t *m, int8_t *s, bool even, double zp);
int ox_before_reshape(const struct ox *l, int x);                       /* the operand of x's RESHAPE, or x */
/* Sets *out to the only element of constant v. Returns false if v is something else. */
WEFT_MUST_USE bool ox_scalar(struct ox *l, struct ox_value *v, double *out);
/* Return v, or tensor x, with the given rank: one element, or a vector along axis (counted from the end). */
WEFT_MUST_USE int ox_along(struct ox *l, struct ox_value *v, int rank, int axis);
WEFT_MUST_USE int ox_along_tensor(struct ox *l, int x, int rank, int axis);

/* ---- onnx_float_weights.c ---- */
/* Quantises float weights of quantised products; returns 0. */
WEFT_MUST_USE int ox_float_weights(struct ox *l);
void ox_release_made(struct ox *l);                                     /* undoes that in the file's nodes */

/* ---- onnx_host.c, onnx_want.c, onnx_if.c ---- */
/*
 * Lowers the node at hand to ONNX_NODE. Returns 0, -ENOTSUP if there is no kernel, or another negative
 * errno.
 */
WEFT_MUST_USE int ox_host(struct ox *l);
WEFT_MUST_USE int ox_host_in(struct ox *l, const char *domain);                       /* by the kernel of the node's name in that domain */
/*
 * Emits the host operator `name` of ONNX on float x, in the file's order, with the attributes of the node at hand; with --requant runtime in
 * ONNX Runtime's own order. Golden has such a kernel. Returns the graph tensor, or a negative errno after ox_fail(); a negative x is a
 * failure that was there before.
 */
WEFT_MUST_USE int ox_host_of_floats(struct ox *l, const char *name, int x);
/*
 * Emits the host operator of that domain and name, which has one result, on the n tensors x, with the attributes of the node at hand. Golden
 * has such a kernel. Returns the graph tensor, or a negative errno after ox_fail(); a negative tensor is a failure that was there before.
 */
WEFT_MUST_USE int ox_host_of(struct ox *l, const char *domain, const char *name, const int *x, int n);
/*
 * Lowers the node at hand to a host operator that computes float32 in ONNX Runtime's own order, if --requant runtime is set,
 * the node is one of ONNX's own for which golden has such a form (MatMul, Gemm, Conv, LayerNormalization, Erf, AveragePool,
 * GlobalAveragePool, Resize), all its operands are float32, those behind the first perhaps int64, and its attributes alpha
 * and beta, if it has them, are 1. Returns 0 if it was lowered; 1 if one of these conditions does not hold or ox_host() with
 * that form would give -ENOTSUP, so that it is to be lowered otherwise; or another negative errno.
 */
WEFT_MUST_USE int ox_runtime_form(struct ox *l);
/* Notes in l->wanted the given inputs from which v is computed, because v has to be constant. */
void ox_want(struct ox *l, const struct ox_value *v);
/* Frees the graphs of If's branches and puts the file's own list of nodes back in its place. */
void ox_release_branches(struct ox *l);
/* Makes room for n more values; pointers to values do not hold any more. Returns 0 or a negative errno. */
WEFT_MUST_USE int ox_grow(struct ox *l, int n);
/* Puts a node behind the graph's own, which stays the caller's. Returns its index. */
WEFT_MUST_USE int ox_append_node(struct ox *l, onnx_node *n);

/* ---- onnx.c, onnx_lazy.c: each returns 0 or a negative errno ---- */
/* onnx.c: lowers node i, or defers it until its result is asked for. */
WEFT_MUST_USE int ox_lower_node(struct ox *l, int i);
WEFT_MUST_USE int ox_lower_now(struct ox *l, int i);                                  /* onnx.c: lowers node i at once */
/* Lowers the node that gives v, if v is pending. */
WEFT_MUST_USE int ox_settle(struct ox *l, struct ox_value *v);
/* Returns 1 if the node at hand is deferred or done, 0 if it is to be lowered. */
WEFT_MUST_USE int ox_defer(struct ox *l);

#endif

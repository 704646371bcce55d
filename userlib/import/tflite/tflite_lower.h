/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the lowerings of single operators share: access to the operator's
 * operands, checked, and emission of TOSA operators into the graph.
 *
 * Operators see uint8 tensors as int8: values and zero points are 128 less. A
 * file tensor is a tensor by its index in the file, a graph tensor by its index in
 * the graph; x and y are graph tensors, operand k is the operator's k-th from 0 on.
 *
 * If not said otherwise, functions that return int return a graph tensor, an index
 * or 0, or a negative errno after writing one line into msg (tfl_fail()). `last`
 * says that the result is the operator's own: it gets the file's name, and its type
 * and shape have to be those in the file; otherwise it is an intermediate tensor.
 */
#ifndef WEFT_IMPORT_TFLITE_LOWER_H
#define WEFT_IMPORT_TFLITE_LOWER_H

#include "userlib/graph/graph.h"
#include "tflite.h"
#include "tflite_file.h"
#include "tflite_ids.h"

struct tfl_lower {
	const struct tfl_model *m;   /* the file */
	struct tfl_tensor *tensors;  /* m's tensors, writable: results that are known before the run become constants there */
	void **folded;               /* memory of these constants, n_folded blocks */
	int n_folded;
	struct tfl_codes *codes;     /* float32 tensors that are functions of the codes of 8-bit ones (tflite_codes.c) */
	int n_codes, cap_codes;
	struct tfl_lower *parent;    /* what lowers the operator whose subgraph this is, or NULL */
	int i_sub;                   /* the subgraph's number in the file */
	bool inlined;                /* its operators stand in the parent's graph, as parts of the operator at hand there */
	int64_t scanned;             /* tensors and operators that were read to find who assigns variables (tflite_variable.c) */
	weft_graph *g;             /* the graph that the file becomes */
	char *msg;                 /* WEFT_MSG bytes: one line after a failure */
	int err;                   /* the errno of the last failure, negative */
	int *raw;                  /* for each file tensor: the graph tensor with the file's own type (uint8), or -1 */
	int *seen;                 /* for each file tensor: the graph tensor as operators see it, or -1 */
	bool *is_output;           /* for each file tensor: whether it is an output of the network */
	bool *late;                /* for each file tensor: whether it has no value because only the run knows its shape */
	int64_t room;              /* bytes that the graph may still take */
	int64_t activations;       /* bytes of computed values that may still be declared */
	double work;               /* steps that computing constants may still cost; the outermost's counts */

	struct weft_tflite_options o;
	int n_open;                /* number of inputs with open dimensions of which the caller says nothing */
	const struct tfl_op *left_out;   /* the operator that was left out for a backbone, or NULL */

	/* the operator at hand */
	const struct tfl_op *op;   /* NULL outside operators */
	int i_op;                  /* its index in the file */
	int src;                   /* its record in the graph */
	int i_y;                   /* the result at hand, a file tensor */
	weft_tensor y;             /* type and shape of the result at hand, as operators see it */
	uint8_t used[WEFT_N_OPS];  /* how many intermediate tensors each TOSA operator has given it, for their names */
};

/* Whose kernels results have to equal; docs/tflite.md has the table of what changed from release to release. */
static inline bool tfl_is_litert(const struct tfl_lower *l) { return l->o.runtime == WEFT_RUNTIME_LITERT_2_3; }
/* What lowers the file's network itself: l, or what it was made for, whose graph has sub-graphs and variables. */
static inline struct tfl_lower *tfl_outermost(struct tfl_lower *l)
{
	while (l->parent)
		l = l->parent;
	return l;
}

static inline bool tfl_is_micro(const struct tfl_lower *l) { return l->o.runtime == WEFT_RUNTIME_TFLM; }

struct tfl_quant {
	weft_dtype t;              /* the type as operators see it: INT8, INT16 or INT32 */
	float scale;               /* finite and above 0; 0 for an operand without a scale */
	int32_t zp;                /* zero point as operators see it, within the type */
};

/* Sets of quantised types that a lowering takes. */
#define TFL_Q8   1u            /* int8 and uint8 */
#define TFL_Q16  2u            /* int16 with zero point 0 */
#define TFL_QZP  4u            /* int16 and int32 may have another zero point */
#define TFL_Q32  8u            /* int32 with zero point 0 */
#define TFL_Q8_16 (TFL_Q8 | TFL_Q16)

/* Writes one line such as "operator 3 ADD: ..." to l->msg and sets l->err. Returns err. */
int tfl_fail(struct tfl_lower *l, int err, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- operands of the operator at hand ---- */
bool tfl_has(const struct tfl_lower *l, int k);                  /* whether operand k is present */
WEFT_MUST_USE int tfl_operand(struct tfl_lower *l, int k);                     /* the file tensor that is operand k */
const struct tfl_tensor *tfl_file_tensor(const struct tfl_lower *l, int i);   /* file tensor i, as the file has it */
bool tfl_is_const(const struct tfl_lower *l, int k);             /* whether operand k is present and constant */
/* Sets *t to type and shape of file tensor i, checked, without data. Returns 0. */
WEFT_MUST_USE int tfl_shape(struct tfl_lower *l, int i, weft_tensor *t);
/*
 * Sets *q to the only scale and zero point of file tensor i, whose type has to be in the set `types`.
 * Returns 0; a negative i, as tfl_operand() gives for an operand that is absent, is returned as it is.
 */
WEFT_MUST_USE int tfl_quant(struct tfl_lower *l, int i, unsigned types, struct tfl_quant *q);
/* Returns the graph tensor of file tensor i as operators see it. */
WEFT_MUST_USE int tfl_value_of(struct tfl_lower *l, int i);
/* Returns the graph tensor of operand k as operators see it. */
WEFT_MUST_USE int tfl_value(struct tfl_lower *l, int k);
/*
 * Returns the graph tensor of operand k and sets *q to its scale and zero point; its type has to be in the
 * set `types`.
 */
WEFT_MUST_USE int tfl_quant_value(struct tfl_lower *l, int k, unsigned types, struct tfl_quant *q);
/*
 * Sets *q to the scale and zero point of the result at hand, whose type has to be in the set `types`.
 * Returns 0.
 */
WEFT_MUST_USE int tfl_need_result(struct tfl_lower *l, unsigned types, struct tfl_quant *q);
int64_t tfl_type_min(weft_dtype t);                              /* the least number of int8, int16 or else int32 */
/* Copies constant operand k, int8, int16, int32 or int64 with at most max elements, to v. Returns their count. */
WEFT_MUST_USE int tfl_ints(struct tfl_lower *l, int k, int max, int64_t *v);
/* Says whether operand k is an empty constant; tfl_axes() copies axes as tfl_ints() does, of which there may be none then. */
bool tfl_is_empty(const struct tfl_lower *l, int k);
WEFT_MUST_USE int tfl_axes(struct tfl_lower *l, int k, int max, int64_t *v);
/* Sets *set to the axes in constant operand k, at most 16, of a tensor of that rank: bit i stands for axis i. Returns 0, or -EINVAL if
 * an axis is out of range. */
WEFT_MUST_USE int tfl_axis_set(struct tfl_lower *l, int k, int rank, unsigned *set);
/* Returns element k of a constant of signed integers of elem bytes each: 1, 2, 4 or 8. */
int64_t tfl_int_at(const struct tfl_tensor *f, size_t elem, int64_t k);
/* Returns constant operand k in that shape, of as many elements. */
WEFT_MUST_USE int tfl_const_as(struct tfl_lower *l, int k, int rank, const int64_t *dim);
/* tflite_weights.c: returns operand k, a constant or a computed value, in that shape, of as many elements. A constant is another tensor each time. */
WEFT_MUST_USE int tfl_weights_as(struct tfl_lower *l, int k, int rank, const int64_t *dim);

/*
 * ---- options of the operator at hand ----
 * Each sets *value to a field of the options of that type, or to absent_value if the field or the options are absent.
 */
int tfl_option(struct tfl_lower *l, int type, int field, int bytes, int absent_value, int *value);
/* Copies a list of at most max int32 to v. Returns their count, 0 if it is absent. */
WEFT_MUST_USE int tfl_option_ints(struct tfl_lower *l, int type, int field, int max, int64_t *v);
int tfl_option_float(struct tfl_lower *l, int type, int field, float absent_value, float *value);
/*
 * tflite_scale.c: sets *activation to the fused activation in that field of the options of that type, TFL_NONE for numbers that the format does
 * not have. The second is for operators whose kernels can only limit: TANH and SIGN_BIT are TFL_NONE to them. Returns 0.
 */
WEFT_MUST_USE int tfl_activation(struct tfl_lower *l, int type, int field, int *activation);
WEFT_MUST_USE int tfl_limiting(struct tfl_lower *l, int type, int field, int *activation);
/* Sets *activation to what tfl_limiting() gives for the ADD, SUB, MUL or DIV at hand, or to TFL_NONE for another operator. Returns 0. */
WEFT_MUST_USE int tfl_fused_activation(struct tfl_lower *l, int *activation);

/* ---- building the graph ---- */
/* Their memory is taken from l->room. Constants are named after the result at hand, a slash and the suffix. */
/* Returns a new tensor with a copy of the name. */
WEFT_MUST_USE int tfl_tensor(struct tfl_lower *l, const char *name, weft_dtype t, int rank, const int64_t *dim);
/* Returns a new constant that takes over data, from tfl_alloc(). */
int tfl_data(struct tfl_lower *l, const char *suffix, weft_dtype t, int rank, const int64_t *dim, void *data);
/* Returns a new constant of one element, v, of an integer type, with `rank` dimensions of 1. */
int tfl_number(struct tfl_lower *l, const char *suffix, weft_dtype t, int rank, int64_t v);
/* tflite_float_more.c: adds the constant v, float32, with rank dimensions of 1. Returns the tensor, or a negative errno. */
int tfl_real_number(struct tfl_lower *l, int rank, float v);
/* Allocates n * bytes bytes, for free(). Returns NULL after a failure. */
void *tfl_alloc(struct tfl_lower *l, int64_t n, size_t bytes);

/* Returns a new tensor for file tensor i, an input of the network. */
WEFT_MUST_USE int tfl_input(struct tfl_lower *l, int i, const weft_tensor *shape);
WEFT_MUST_USE int tfl_copy(struct tfl_lower *l, int x);  /* an IDENTITY of x under the same name */

/*
 * Emits operator op with attributes attr (NULL: none) and a result of that type and shape. Returns the
 * result.
 */
WEFT_MUST_USE int tfl_step(struct tfl_lower *l, weft_opcode op, const weft_attr *attr, const int *in, int n_in,
             weft_dtype t, int rank, const int64_t *dim, bool last);

/* The n_in operands of an operator with two results, and the types and shapes of these. */
struct tfl_two { const int *in; int n_in; weft_dtype type[2]; int rank[2]; int64_t dim[2][WEFT_MAX_RANK]; };
/* Emits operator op with the operands in *t and two intermediate results as *t says, which y receives. Returns 0. */
WEFT_MUST_USE int tfl_step_two(struct tfl_lower *l, weft_opcode op, const weft_attr *attr, const struct tfl_two *t, int y[2]);

/*
 * Emits operator op of n_in operands, whose results are results result[0..n-1] of the operator at hand, of
 * the types and shapes in t. Returns 0.
 */
struct tfl_many { int n, result[WEFT_OP_MAX_OUTPUTS]; weft_tensor t[WEFT_OP_MAX_OUTPUTS]; };
WEFT_MUST_USE int tfl_step_many(struct tfl_lower *l, weft_opcode op, const weft_attr *attr, const int *in, int n_in, const struct tfl_many *many);

/*
 * The multiplier and the shift by which RESCALE, with DOUBLE_ROUND, multiplies as TFLite does: multiplier
 * / 2^shift.
 */
struct tfl_factor { int32_t multiplier; int8_t shift; };
/* Sets *f to the factor nearest to a real number. Returns 0. */
WEFT_MUST_USE int tfl_factor(struct tfl_lower *l, double real, struct tfl_factor *f);

/*
 * A RESCALE. For an int48 tensor TFLite's rule for 64-bit sums holds: one rounding, with the
 * multiplier cut to 16 bits, (m + 2^15) >> 16, or 0x7FFF at the top.
 */
struct tfl_rescale {
	weft_dtype to;             /* the result's type */
	weft_rounding rounding;    /* not used for int48 */
	int32_t x_zp, y_zp;        /* zero points of operand and result */
	int64_t n;                 /* number of factors: 1, or one for each channel */
	const struct tfl_factor *f;
};
/* Returns x rescaled as *r says. */
WEFT_MUST_USE int tfl_rescale(struct tfl_lower *l, int x, const struct tfl_rescale *r, bool last);

/* Returns (x - zp) << left as int32, exactly; left is 0..20 for int8 x, 0..15 for int16 x. */
WEFT_MUST_USE int tfl_widen(struct tfl_lower *l, int x, int32_t zp, int left);

/* Sets *lo and *hi to the limits of a fused activation in quantisation y, within its type. Returns 0. */
WEFT_MUST_USE int tfl_limits(struct tfl_lower *l, int activation, const struct tfl_quant *y, int32_t *lo, int32_t *hi);
/* Says whether lo..hi leaves out any number of type t (int8, int16 or int32). */
bool tfl_tighter(weft_dtype t, int32_t lo, int32_t hi);
/* Returns integers x limited to lo..hi. */
WEFT_MUST_USE int tfl_clamp(struct tfl_lower *l, int x, int32_t lo, int32_t hi, bool last);

/* Returns int32 or int48 sums x rescaled by n factors f to the result's quantisation, with the activation. */
WEFT_MUST_USE int tfl_requantise(struct tfl_lower *l, int x, int64_t n, const struct tfl_factor *f, int activation, bool last);

/* tflite_exact.c: how sums become results if the scale is applied in float64, as in LiteRT's dense kernel. */
struct tfl_exact {
	float x_scale;             /* the input's scale */
	const float *w_scale;      /* the weights' n scales */
	int64_t n, channels;       /* n is 1 or channels, the number of output channels */
	const int64_t *from, *to;  /* the least and the greatest sum of each channel */
};
/* Returns sums x requantised so to the result's quantisation, with the activation. */
WEFT_MUST_USE int tfl_requantise_exact(struct tfl_lower *l, int x, const struct tfl_exact *e, int activation, bool last);

/* The scales of the weights, operand 1, of an operator that multiplies by them. */
struct tfl_weights {
	struct tfl_factor *f;      /* n factors from sums to the result; from malloc */
	int64_t n;                 /* 1, or the number of output channels */
	int32_t zp;                /* the weights' zero point as operators see it */
};

/*
 * Fills *out with the factors x_scale * weights' scale / y_scale, one for all or one for each of oc
 * channels along dimension `axis` of the weights. The product is taken in double, but in float32
 * where TFLite does: for uint8 weights, and for dense operators with one scale. Returns 0.
 */
WEFT_MUST_USE int tfl_weight_factors(struct tfl_lower *l, int axis, int64_t oc, float x_scale, float y_scale, bool dense,
                       struct tfl_weights *out);

/*
 * Returns operand k as a bias of oc elements for sums of type acc, or a single 0 if it is absent.
 * *narrow: TFLite sums in 32 bits, since the file's bias has 32 though the operands have 16;
 * tfl_narrow() then cuts the sums to that.
 */
WEFT_MUST_USE int tfl_bias(struct tfl_lower *l, int k, int64_t oc, weft_dtype acc, bool *narrow);
WEFT_MUST_USE int tfl_narrow(struct tfl_lower *l, int x);             /* the low 32 bits of int48 x as int32 */

/* Returns int32 x plus v, modulo 2^32. */
WEFT_MUST_USE int tfl_add_int(struct tfl_lower *l, int x, int64_t v, bool last);

/* Returns x in that shape, of as many elements; x itself if it has it, or if it is negative. */
WEFT_MUST_USE int tfl_reshape(struct tfl_lower *l, int x, int rank, const int64_t *dim);

/* tflite_select.c */
WEFT_MUST_USE int tfl_lower_compare(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_logical(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_select(struct tfl_lower *l);

/* Returns x with leading dimensions of 1 up to that rank, since TOSA broadcasts only between equal ranks. */
WEFT_MUST_USE int tfl_match_rank(struct tfl_lower *l, int x, int rank);

/*
 * Makes result k the one at hand; the first is so from the start. Dimensions that the file leaves
 * open are found from the operands. Returns 0.
 */
WEFT_MUST_USE int tfl_result(struct tfl_lower *l, int k);

/*
 * tflite_sum.c: what LiteRT 2.3 makes of SUM of int8 and int16. The first returns the bytes that it
 * sums, of x, which is int32 with numbers of type t. The second emits the operator's result from the
 * sums of these bytes, from which x_zp is taken, with factor f and quantisation y.
 */
WEFT_MUST_USE int tfl_sum_begin(struct tfl_lower *l, int x, weft_dtype t);
WEFT_MUST_USE int tfl_sum_end(struct tfl_lower *l, int x, const struct tfl_factor *f, int64_t x_zp, const struct tfl_quant *y);

/* tflite_lut16.c: a function of one int16, computed in float32 with a parameter of its own. */
struct tfl_function { float (*of)(const struct tfl_function *f, float v); float param; };
/* Emits f of int16 x as the operator's result, by a table with straight lines between its points. */
WEFT_MUST_USE int tfl_lut16(struct tfl_lower *l, int x, const struct tfl_function *f, float x_scale, float y_scale);
/* Returns int16 x looked up in a table of all 65536 values, from x = -32768 on, which is taken over. */
WEFT_MUST_USE int tfl_lookup_all(struct tfl_lower *l, int x, int16_t *values, bool last);

/* tflite_shape.c */
/* Says whether the file leaves dimension i of the result at hand open. */
bool tfl_is_open(const struct tfl_lower *l, int i);
/* Replaces open dimensions of the result at hand, l->y, by those that follow from the operands. Returns 0. */
WEFT_MUST_USE int tfl_find_shape(struct tfl_lower *l);

/*
 * tflite_fold.c: the results of SHAPE and others are known before the run and become constants, and
 * operators whose operands are all constant are computed. A mark remembers how large the graph was.
 */
struct tfl_mark { int n_ops, n_tensors, n_srcs; };
struct tfl_mark tfl_mark(const struct tfl_lower *l);                /* the mark of the graph as it is now */
/*
 * Computes what was emitted since the mark if all operands are constant. Returns 1 if the results are
 * constants now, else 0.
 */
WEFT_MUST_USE int tfl_fold(struct tfl_lower *l, const struct tfl_mark *before);
/*
 * Computes the operator at hand if it has no lowering. Returns 1 if its result is a constant now, 0 for
 * other operators.
 */
WEFT_MUST_USE int tfl_fold_plain(struct tfl_lower *l);
void tfl_fold_release(struct tfl_lower *l);                         /* frees the constants */

/* Emits the fused activation of float32 x, a clamp, as the operator's result. */
WEFT_MUST_USE int tfl_float_clamp(struct tfl_lower *l, int x, int activation);
/* Returns float32 x with the fused activation, a clamp, TANH or SIGN_BIT, as an intermediate tensor. */
WEFT_MUST_USE int tfl_float_limits(struct tfl_lower *l, int x, int activation);

/*
 * A sliding window along one axis, in elements: out is the number of windows, before and after the
 * padding on both sides, trim what no window reaches at the end.
 */
struct tfl_window { int64_t out; int32_t before, after; int64_t trim; };

/*
 * tflite_hybrid.c: a convolution, transposed or not, of float32 x [N,H,W,C] by weights w of float32, or
 * of 8 bits or fewer, which the graph has in the order that the operator takes.
 */
struct tfl_real {
	weft_opcode op;            /* CONV2D, DEPTHWISE_CONV2D or TRANSPOSE_CONV2D */
	weft_attr attr;
	int64_t dim[4];            /* the result's shape */
	int64_t rows;              /* number of rows of x, each of which is quantised by itself */
	int64_t columns;           /* columns of the result */
	bool symmetric;            /* rows are quantised without a zero point */
	bool dense;                /* the row's and the weights' scales are multiplied with each other first, then with the sums */
	int k_bias;                /* the operand that is the bias */
	bool one_scale;            /* the first scale of the weights counts for all columns */
	const struct tfl_window *window;   /* two windows: what they do not reach is cut off behind the quantisation, which sees the whole image; or NULL */
};
/* Returns the product, with the bias, as float32. */
WEFT_MUST_USE int tfl_real_product(struct tfl_lower *l, const struct tfl_real *r, int x, int w);
/* Emits float32 y with the activation (TFL_NONE: none; TFL_FINITE: without infinities) in the result's shape as the operator's result. */
WEFT_MUST_USE int tfl_real_result(struct tfl_lower *l, int y, int activation);
bool tfl_is_float(const struct tfl_lower *l, int k);   /* whether operand k is present and float32 */

/*
 * tflite_float_more.c: the lowering, by several operators, of the operator with that code on float32; or
 * NULL.
 */
int (*tfl_float_more(int code))(struct tfl_lower *);

/* tflite_float_more.c: emits LOG_SOFTMAX of uint8 x, int8 in the graph, in float32 as its kernel does, as the operator's result of that scale and zero point. */
WEFT_MUST_USE int tfl_log_softmax_codes(struct tfl_lower *l, int x, float x_scale, float y_scale, int32_t y_zp);

/* tflite_float.c: the lowering of the operator at hand if its operand 0 is float32; or NULL. */
int (*tfl_float_lowering(const struct tfl_lower *l))(struct tfl_lower *);

/*
 * Removes operator i from the graph; only tensors from first_tensor on may be results of it or of later
 * operators.
 */
void tfl_remove_op(struct tfl_lower *l, int i, int first_tensor);

/*
 * tflite_codes.c: float32 tensors that are functions of the codes of an 8-bit tensor. A QUANTIZE of
 * one is a table.
 */
/* Notes that y is x dequantised with attributes a. Returns y. */
WEFT_MUST_USE int tfl_codes_begin(struct tfl_lower *l, const weft_attr *a, int x, int y);
/* Notes that y is operator op, with attributes a, of x. Returns y. */
WEFT_MUST_USE int tfl_codes_next(struct tfl_lower *l, weft_opcode op, const weft_attr *a, int x, int y);
/*
 * Emits x quantised with attributes a by a TABLE as the operator's result. Returns 1, or 0 if x is no such
 * function.
 */
WEFT_MUST_USE int tfl_codes_end(struct tfl_lower *l, const weft_attr *a, int x);
/* Removes the operators of noted tensors that nothing reads any more. Returns 0. */
WEFT_MUST_USE int tfl_codes_finish(struct tfl_lower *l);

/*
 * tflite_variable.c: lowers VAR_HANDLE, CALL_ONCE and ASSIGN_VARIABLE, and READ_VARIABLE of a variable that
 * never changes. Returns 1 if that is done, 0 for other operators.
 */
WEFT_MUST_USE int tfl_variable_op(struct tfl_lower *l, const char *name);
/*
 * Emits what operand k, a state whose bytes are `first` at first, holds when the operator at hand runs; *id becomes its variable,
 * -1 if the file does not mark it as one: it begins each run so then. Returns the tensor.
 */
WEFT_MUST_USE int tfl_find_state(struct tfl_lower *l, int k, const weft_tensor *t, int first, int *id);
/* Emits that the state with this variable is x from now on; nothing for -1. Returns 0. */
WEFT_MUST_USE int tfl_keep_state(struct tfl_lower *l, int id, int x);
/* Removes variables that no operator of the network refers to. */
void tfl_variables_finish(weft_graph *g);
/* What VAR_HANDLE stands for a tensor of type RESOURCE: the operator and its subgraph; or op is NULL. */
struct tfl_handle { const struct tfl_model *m; const struct tfl_op *op; };
struct tfl_handle tfl_handle_of(const struct tfl_lower *l, int tensor);

/*
 * tflite_flow.c: lowers WHILE, IF, STABLEHLO_CASE and STABLEHLO_COMPOSITE with their subgraphs; name is the
 * operator's for the graph's record of it. Returns 1 if that is done, 0 for other operators, or a negative
 * errno.
 */
WEFT_MUST_USE int tfl_flow_op(struct tfl_lower *l, const char *name);

/* Returns the number of the operator at hand under which the graph records it. */
static inline int tfl_source_number(const struct tfl_lower *l)
{
	while (l->inlined)
		l = l->parent;
	return l->i_op;
}

/*
 * tflite_complex.c: lowers RFFT2D, REAL, IMAG and COMPLEX_ABS, and RESHAPE, SQUEEZE and EXPAND_DIMS of a
 * complex64 tensor that RFFT2D gave; name is the operator's for the graph's record of it. Returns 1 if that is
 * done, 0 for other operators, or a negative errno.
 */
WEFT_MUST_USE int tfl_complex_op(struct tfl_lower *l, const char *name);

/*
 * tflite_custom.c: the lowering of the operator at hand if it is a custom one for which the caller gave functions; or
 * NULL. The second returns these functions, or NULL.
 */
int (*tfl_custom_lowering(const struct tfl_lower *l))(struct tfl_lower *);
const struct weft_custom_op *tfl_custom_of(const struct tfl_lower *l);

/* tflite.c: allocates l's tables by file tensor, without values yet. Returns 0 or -ENOMEM; tfl_free_tables() frees them. */
WEFT_MUST_USE int tfl_tables(struct tfl_lower *l);
void tfl_free_tables(struct tfl_lower *l);
/* tflite.c: lowers all operators of l's subgraph into its graph. Returns 0 or a negative errno. */
WEFT_MUST_USE int tfl_lower_all(struct tfl_lower *l);

/*
 * tflite_late.c: writing an item into one of TensorFlow's lists, which the converter writes as x[:i] + [item] + x[i + 1:],
 * two SLICEs and a CONCATENATION, where i is known only when the network runs. tfl_defer_slice() returns 1 if the operator
 * at hand is such a SLICE, and leaves its result without a value; otherwise it returns 0. tfl_is_put() says whether
 * the operator at hand is such a CONCATENATION, and tfl_lower_put() lowers it.
 */
WEFT_MUST_USE int tfl_defer_slice(struct tfl_lower *l);
bool tfl_is_put(const struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_put(struct tfl_lower *l);

/*
 * tflite_fold.c: makes file tensor i of l a constant of TFL_MAX_RANK extents dim and that many bytes of
 * data, which is taken over. Returns 0.
 */
WEFT_MUST_USE int tfl_make_const(struct tfl_lower *l, int i, const int64_t *dim, void *data, size_t bytes);

/* tflite_fold.c: makes file tensor i of l the constant that file tensor `from` of `of` is. Returns 0. */
WEFT_MUST_USE int tfl_bind_const(struct tfl_lower *l, int i, struct tfl_lower *of, int from);

/* tflite_fold.c: returns 0 if operand k, which decides on a shape, is constant, else -ENOTSUP after a message. */
WEFT_MUST_USE int tfl_need_shape_const(struct tfl_lower *l, int k);

/*
 * tflite_sparse.c: makes operands of the operator at hand that are sparse constants whole. Returns 0 or a
 * negative errno.
 */
WEFT_MUST_USE int tfl_densify(struct tfl_lower *l);

/*
 * tflite_where.c: makes the results of WHERE, UNIQUE and DENSIFY constants. Returns 1 if that is done, 0 for
 * other operators, or a negative errno.
 */
WEFT_MUST_USE int tfl_data_op(struct tfl_lower *l);

/* Returns a copy of the elements of constant file tensor i in the graph's layout, or NULL after a failure. */
void *tfl_copy_const(struct tfl_lower *l, int i, weft_tensor *t);

/*
 * Returns operand k of an operator that only moves values: it has to have the result's type and
 * quantisation.
 */
WEFT_MUST_USE int tfl_moved(struct tfl_lower *l, int k);

/*
 * Returns 0 if y has that scale and zero point, which TFLite fixes for results whose range is known, else
 * -EINVAL.
 */
WEFT_MUST_USE int tfl_need_range(struct tfl_lower *l, const struct tfl_quant *y, float scale, int32_t zp);

/* Returns 0 if type, scale and zero point of x and y are equal, else -ENOTSUP. */
WEFT_MUST_USE int tfl_same_quant(struct tfl_lower *l, const struct tfl_quant *x, const struct tfl_quant *y);

/*
 * Lowerings, one for each group of operators. Each lowers the operator at hand and returns its (first)
 * result.
 */
WEFT_MUST_USE int tfl_lower_conv(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_depthwise(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_fully_connected(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_pool(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_add(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_mul(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_mean(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_reshape(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_transpose(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_pad(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_concat(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_relu(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_softmax(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_l2_norm(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_log_softmax(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_quantize(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_dequantize(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_sub(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_extremum(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_prelu(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_squared_difference(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_batch_matmul(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_reduce(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_space_depth(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_space_to_batch(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_batch_to_space(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_pad_v2(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_mirror_pad(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_tile(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_broadcast_to(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_reverse(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_table(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_slice(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_strided_slice(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_split(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_split_v(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_pack(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_unpack(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_gather(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_gather_nd(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_resize_nearest(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_resize_bilinear(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_transpose_conv(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_svdf(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_sequence_lstm(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_cast(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_arg_max(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_floor_div(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_sqrt(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_div(struct tfl_lower *l);
WEFT_MUST_USE int tfl_lower_read_variable(struct tfl_lower *l);

/* Fills *w for an axis of `in` elements; padding is TFL_SAME or TFL_VALID. Returns 0. */
WEFT_MUST_USE int tfl_window(struct tfl_lower *l, int padding, int64_t in, int64_t kernel, int64_t stride, int64_t dilation,
               struct tfl_window *w);

/* Returns x [N,H,W,C] without the w[0].trim rows at the bottom and the w[1].trim columns at the right. */
WEFT_MUST_USE int tfl_trim(struct tfl_lower *l, int x, const struct tfl_window w[2]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the lowerings of single operators share: access to the operator's
 * operands, checked, and emission of TOSA operators into the graph.
 *
 * Operators see uint8 tensors as int8: values and zero points 128 less.
 * Functions that return int give an index or 0, or a negative errno after
 * writing one line into msg.
 */
#ifndef WEFT_IMPORT_TFLITE_LOWER_H
#define WEFT_IMPORT_TFLITE_LOWER_H

#include "userlib/graph/graph.h"
#include "tflite.h"
#include "tflite_file.h"
#include "tflite_ids.h"

struct tfl_lower {
	const struct tfl_model *m;
	struct tfl_tensor *tensors;  /* m's: values found before the run make constants of results */
	void **folded;               /* their memory, n_folded of them */
	int n_folded;
	struct tfl_codes *codes;     /* float32 tensors that are functions of 8-bit ones */
	int n_codes, cap_codes;
	int n_called;                /* CALL_ONCE so far */
	weft_graph *g;
	char *msg;
	int err;                   /* what the last failure returned */
	int *raw;                  /* per file tensor: graph tensor of the file's own type, or -1 */
	int *seen;                 /* per file tensor: graph tensor as operators see it, or -1 */
	bool *is_output;           /* per file tensor */
	int64_t room;              /* bytes that the graph may still take */
	int64_t activations;       /* bytes of values that may still be declared */

	struct weft_tflite_options o;
	int n_open;                /* inputs with open extents of which nothing is said */
	const struct tfl_op *left_out;

	/* the operator at hand */
	const struct tfl_op *op;   /* NULL outside operators */
	int i_op;
	int src;
	int i_y;                   /* its result at hand, file tensor */
	weft_tensor y;             /* type and shape of it, as operators see it */
	uint8_t used[WEFT_N_OPS];  /* TOSA operators emitted for it, per kind */
};

/* What changed from release to release; docs/tflite.md has the table. */
static inline bool tfl_is_litert(const struct tfl_lower *l) { return l->o.runtime == WEFT_RUNTIME_LITERT_2_3; }
static inline bool tfl_is_micro(const struct tfl_lower *l) { return l->o.runtime == WEFT_RUNTIME_TFLM; }

struct tfl_quant {
	weft_dtype t;              /* as operators see it: INT8, INT16 or INT32 */
	float scale;               /* finite, > 0 */
	int32_t zp;                /* within the type */
};

/* Sets of quantised types that a lowering takes. */
#define TFL_Q8   1u            /* int8, uint8 */
#define TFL_Q16  2u            /* int16, zero point 0 */
#define TFL_QZP  4u            /* int16 and int32 may have a zero point */
#define TFL_Q32  8u            /* int32, zero point 0 */
#define TFL_Q8_16 (TFL_Q8 | TFL_Q16)

/* One line "operator 3 ADD: ..."; returns err. */
int tfl_fail(struct tfl_lower *l, int err, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Operands. k counts the operator's inputs. */
bool tfl_has(const struct tfl_lower *l, int k);
int tfl_operand(struct tfl_lower *l, int k);                     /* file tensor */
const struct tfl_tensor *tfl_file_tensor(const struct tfl_lower *l, int i);
bool tfl_is_const(const struct tfl_lower *l, int k);
int tfl_shape(struct tfl_lower *l, int i, weft_tensor *t);       /* type and shape of a file tensor, judged */
int tfl_quant(struct tfl_lower *l, int i, unsigned types, struct tfl_quant *q);  /* of a file tensor, for all of it */
int tfl_value(struct tfl_lower *l, int k);                       /* graph tensor as operators see it */
int tfl_quant_value(struct tfl_lower *l, int k, unsigned types, struct tfl_quant *q);  /* same; must be quantised */
int tfl_need_result(struct tfl_lower *l, unsigned types, struct tfl_quant *q);
int64_t tfl_type_min(weft_dtype t);                              /* of int8, int16, int32 */
int tfl_ints(struct tfl_lower *l, int k, int max, int64_t *v);   /* constant int32 or int64; returns the count */
int64_t tfl_int_at(const struct tfl_tensor *f, size_t elem, int64_t k);  /* element of a constant of 4 or 8 bytes each */
int tfl_const_as(struct tfl_lower *l, int k, int rank, const int64_t *dim);  /* constant operand, in another shape */

/* Options; absent fields give the format's defaults. */
int tfl_option(struct tfl_lower *l, int type, int field, int bytes, int absent_value, int *value);
int tfl_option_ints(struct tfl_lower *l, int type, int field, int max, int64_t *v);  /* a list; returns the count */
int tfl_option_float(struct tfl_lower *l, int type, int field, float absent_value, float *value);

/* Graph building; counted against room. Names of constants hang below the result's name. */
int tfl_tensor(struct tfl_lower *l, const char *name, weft_dtype t, int rank, const int64_t *dim);
int tfl_data(struct tfl_lower *l, const char *suffix, weft_dtype t, int rank, const int64_t *dim, void *data);
/* One number of an integer type, as a constant of rank dimensions of 1. */
int tfl_number(struct tfl_lower *l, const char *suffix, weft_dtype t, int rank, int64_t v);
void *tfl_alloc(struct tfl_lower *l, int64_t n, size_t bytes);

int tfl_input(struct tfl_lower *l, int i, const weft_tensor *shape);  /* file tensor i as the network's input */
int tfl_copy(struct tfl_lower *l, int x);  /* IDENTITY of x, under the same name */

/*
 * Emit one operator with a new result; last: the result is the source
 * operator's own, and type and shape must be as the file says.
 */
int tfl_step(struct tfl_lower *l, weft_opcode op, const weft_attr *attr, const int *in, int n_in,
             weft_dtype t, int rank, const int64_t *dim, bool last);

/* One operator with two new results. Returns 0. */
struct tfl_two { weft_dtype type[2]; int rank[2]; int64_t dim[2][WEFT_MAX_RANK]; };
int tfl_step_two(struct tfl_lower *l, weft_opcode op, const weft_attr *attr, int x, const struct tfl_two *t, int y[2]);

/* Bits of a real factor: TOSA's multiplier and shift that give TFLite's arithmetic. */
struct tfl_factor { int32_t multiplier; int8_t shift; };
int tfl_factor(struct tfl_lower *l, double real, struct tfl_factor *f);

/*
 * Of an int48 tensor: TFLite's rule for 64-bit sums, one rounding with the
 * multiplier cut to 16 bits, (m + 2^15) >> 16, 0x7FFF at the top.
 */
struct tfl_rescale {
	weft_dtype to;
	weft_rounding rounding;
	int32_t x_zp, y_zp;
	int64_t n;                 /* 1, or channels */
	const struct tfl_factor *f;
};
int tfl_rescale(struct tfl_lower *l, int x, const struct tfl_rescale *r, bool last);

/* Exact int8 or int16 -> int32: (x - zp) << left, left 0..20 for int8, 0..15 for int16. */
int tfl_widen(struct tfl_lower *l, int x, int32_t zp, int left);

/* Activation limits in the result's quantisation, within its type. */
int tfl_limits(struct tfl_lower *l, int activation, const struct tfl_quant *y, int32_t *lo, int32_t *hi);
bool tfl_tighter(weft_dtype t, int32_t lo, int32_t hi);
int tfl_clamp(struct tfl_lower *l, int x, int32_t lo, int32_t hi, bool last);

/* int32 or int48 sums to the result: RESCALE, and CLAMP where the activation asks for one. */
int tfl_requantise(struct tfl_lower *l, int x, int64_t n, const struct tfl_factor *f, int activation, bool last);

/*
 * tflite_exact.c: the same where the scale is applied in float64 (LiteRT's dense
 * kernel). from and to: the least and the greatest sum of each channel.
 */
struct tfl_exact {
	float x_scale;
	const float *w_scale;      /* n of them */
	int64_t n, channels;       /* n is 1 or channels */
	const int64_t *from, *to;  /* one for each channel */
};
int tfl_requantise_exact(struct tfl_lower *l, int x, const struct tfl_exact *e, int activation, bool last);

/* Weights are operand 1, the bias operand 2 of whatever multiplies. */
struct tfl_weights {
	struct tfl_factor *f;      /* n of them; from malloc */
	int64_t n;                 /* 1, or one per output channel */
	int32_t zp;
};

/*
 * Scale factors input * weight / output. Per channel along axis, or one for
 * all. The product is taken in double, but in float32 where TFLite does: uint8
 * weights, and dense operators with one scale.
 */
int tfl_weight_factors(struct tfl_lower *l, int axis, int64_t oc, float x_scale, float y_scale, bool dense,
                       struct tfl_weights *out);

/*
 * Operand k as a bias for sums of type acc, or one zero where there is none.
 * narrow: TFLite sums in 32 bits, since the file's bias has 32 though the
 * operands are 16-bit; tfl_narrow() then brings the sums back to that.
 */
int tfl_bias(struct tfl_lower *l, int k, int64_t oc, weft_dtype acc, bool *narrow);
int tfl_narrow(struct tfl_lower *l, int x);

/* int32 x plus v, which wraps. */
int tfl_add_int(struct tfl_lower *l, int x, int64_t v, bool last);

/* RESHAPE x unless it has that shape. */
int tfl_reshape(struct tfl_lower *l, int x, int rank, const int64_t *dim);

/* The same with leading ones: TOSA broadcasts only between equal ranks. */
/* tflite_select.c */
int tfl_lower_compare(struct tfl_lower *l);
int tfl_lower_logical(struct tfl_lower *l);
int tfl_lower_select(struct tfl_lower *l);

int tfl_match_rank(struct tfl_lower *l, int x, int rank);

/* Make result k the one at hand; the first is so from the start. Open extents are found from the operands. */
int tfl_result(struct tfl_lower *l, int k);

/*
 * tflite_sum.c: what LiteRT 2.3 makes of SUM of int8 and int16. begin: x as int32
 * to the bytes that it sums; end: sums of n * x_zp too much to the result.
 */
int tfl_sum_begin(struct tfl_lower *l, int x, weft_dtype t);
int tfl_sum_end(struct tfl_lower *l, int x, const struct tfl_factor *f, int64_t x_zp, const struct tfl_quant *y);

/* tflite_lut16.c: a function of one int16, in float32, by a table with straight lines; or by one of all 65536 values. */
struct tfl_function { float (*of)(const struct tfl_function *f, float v); float param; };
int tfl_lut16(struct tfl_lower *l, int x, const struct tfl_function *f, float x_scale, float y_scale);
int tfl_lookup_all(struct tfl_lower *l, int x, int16_t *values, bool last);  /* takes values over */

/* tflite_shape.c: is extent i of the result at hand known only when the network runs? And what it is then. */
bool tfl_is_open(const struct tfl_lower *l, int i);
int tfl_find_shape(struct tfl_lower *l);

/*
 * tflite_fold.c: SHAPE and others whose result is known before the run give
 * constants, and operators on nothing but constants are computed.
 */
struct tfl_mark { int n_ops, n_tensors, n_srcs; };
struct tfl_mark tfl_mark(const struct tfl_lower *l);
int tfl_fold(struct tfl_lower *l, const struct tfl_mark *before);  /* 1: folded, 0: is not for it */
int tfl_fold_plain(struct tfl_lower *l);                            /* the same, of operators that have no lowering */
void tfl_fold_release(struct tfl_lower *l);

/* The last operator of one on float32: the activation's limits; or not the last. */
int tfl_float_clamp(struct tfl_lower *l, int x, int activation);
int tfl_float_limits(struct tfl_lower *l, int x, int activation);

/*
 * tflite_hybrid.c: a convolution, transposed or not, in float32, or of float32 by
 * weights of 8 bits and less. x [N,H,W,C]; w in the graph as the operator has it.
 */
struct tfl_real {
	weft_opcode op;
	weft_attr attr;
	int64_t dim[4];            /* of the result */
	int64_t rows;              /* each quantised for itself */
	int64_t columns, first_column;  /* of the last dimension; where the weights' scales for it begin */
	bool symmetric;
	bool dense;                /* scales are multiplied with each other before they are with sums */
	int k_bias;                /* operand */
};
int tfl_real_product(struct tfl_lower *l, const struct tfl_real *r, int x, int w);
/* Its activation, and the operator's own result. */
int tfl_real_result(struct tfl_lower *l, int y, int activation);
bool tfl_is_float(const struct tfl_lower *l, int k);   /* is operand k float32 or float16? */

/* tflite_float_more.c: of those that become several operators, or NULL. */
int (*tfl_float_more(int code))(struct tfl_lower *);

/* tflite_float.c: the lowering of an operator on float32 values, or NULL: it is none, or another one's work. */
int (*tfl_float_lowering(const struct tfl_lower *l))(struct tfl_lower *);

/* Operator i of the graph goes; tensors from first on may be its result. */
void tfl_remove_op(struct tfl_lower *l, int i, int first_tensor);

/*
 * tflite_codes.c: functions of one 8-bit element in float32. begin: y is x
 * dequantised; next: y is op of x; only: y is f of x, by table alone. They return
 * y or a failure. end: quantises x by a table, 1, or 0: x is no such function.
 * finish: what nothing reads then goes.
 */
int tfl_codes_begin(struct tfl_lower *l, const weft_attr *a, int x, int y);
int tfl_codes_next(struct tfl_lower *l, weft_opcode op, const weft_attr *a, int x, int y);
bool tfl_codes_followed(const struct tfl_lower *l, int x);
int tfl_codes_only(struct tfl_lower *l, float (*f)(float), int x);
int tfl_codes_end(struct tfl_lower *l, const weft_attr *a, int x);
int tfl_codes_finish(struct tfl_lower *l);

/* tflite_variable.c: VAR_HANDLE, CALL_ONCE and ASSIGN_VARIABLE, which have no result. 1: done, 0: another operator */
int tfl_variable_op(struct tfl_lower *l, const char *name);
void *tfl_copy_const(struct tfl_lower *l, int i, weft_tensor *t);   /* elements of a constant in the graph's layout */

/* Operand k of one that only moves values: of the result's type, and quantised like it. */
int tfl_moved(struct tfl_lower *l, int k);

/* TFLite fixes the result's quantisation where the real range is known. */
int tfl_need_range(struct tfl_lower *l, const struct tfl_quant *y, float scale, int32_t zp);

/* Fails unless both are equal. */
int tfl_same_quant(struct tfl_lower *l, const struct tfl_quant *x, const struct tfl_quant *y);

/* Lowerings, one per group of operators. */
int tfl_lower_conv(struct tfl_lower *l);
int tfl_lower_depthwise(struct tfl_lower *l);
int tfl_lower_fully_connected(struct tfl_lower *l);
int tfl_lower_pool(struct tfl_lower *l);
int tfl_lower_add(struct tfl_lower *l);
int tfl_lower_mul(struct tfl_lower *l);
int tfl_lower_mean(struct tfl_lower *l);
int tfl_lower_reshape(struct tfl_lower *l);
int tfl_lower_transpose(struct tfl_lower *l);
int tfl_lower_pad(struct tfl_lower *l);
int tfl_lower_concat(struct tfl_lower *l);
int tfl_lower_relu(struct tfl_lower *l);
int tfl_lower_softmax(struct tfl_lower *l);
int tfl_lower_l2_norm(struct tfl_lower *l);
int tfl_lower_log_softmax(struct tfl_lower *l);
int tfl_lower_quantize(struct tfl_lower *l);
int tfl_lower_dequantize(struct tfl_lower *l);
int tfl_lower_sub(struct tfl_lower *l);
int tfl_lower_extremum(struct tfl_lower *l);
int tfl_lower_prelu(struct tfl_lower *l);
int tfl_lower_squared_difference(struct tfl_lower *l);
int tfl_lower_batch_matmul(struct tfl_lower *l);
int tfl_lower_reduce(struct tfl_lower *l);
int tfl_lower_space_depth(struct tfl_lower *l);
int tfl_lower_space_to_batch(struct tfl_lower *l);
int tfl_lower_batch_to_space(struct tfl_lower *l);
int tfl_lower_pad_v2(struct tfl_lower *l);
int tfl_lower_mirror_pad(struct tfl_lower *l);
int tfl_lower_tile(struct tfl_lower *l);
int tfl_lower_broadcast_to(struct tfl_lower *l);
int tfl_lower_reverse(struct tfl_lower *l);
int tfl_lower_table(struct tfl_lower *l);
int tfl_lower_slice(struct tfl_lower *l);
int tfl_lower_strided_slice(struct tfl_lower *l);
int tfl_lower_split(struct tfl_lower *l);
int tfl_lower_split_v(struct tfl_lower *l);
int tfl_lower_pack(struct tfl_lower *l);
int tfl_lower_unpack(struct tfl_lower *l);
int tfl_lower_gather(struct tfl_lower *l);
int tfl_lower_gather_nd(struct tfl_lower *l);
int tfl_lower_resize_nearest(struct tfl_lower *l);
int tfl_lower_resize_bilinear(struct tfl_lower *l);
int tfl_lower_transpose_conv(struct tfl_lower *l);
int tfl_lower_svdf(struct tfl_lower *l);
int tfl_lower_sequence_lstm(struct tfl_lower *l);
int tfl_lower_cast(struct tfl_lower *l);
int tfl_lower_arg_max(struct tfl_lower *l);
int tfl_lower_floor_div(struct tfl_lower *l);
int tfl_lower_sqrt(struct tfl_lower *l);
int tfl_lower_div(struct tfl_lower *l);
int tfl_lower_read_variable(struct tfl_lower *l);

/* Input extents against a sliding window: padding, and what no window reaches. */
struct tfl_window { int64_t out; int32_t before, after; int64_t trim; };
int tfl_window(struct tfl_lower *l, int padding, int64_t in, int64_t kernel, int64_t stride, int64_t dilation,
               struct tfl_window *w);

/* Cut trimmed rows and columns off the bottom and right of x [N,H,W,C]. */
int tfl_trim(struct tfl_lower *l, int x, const struct tfl_window w[2]);

#endif

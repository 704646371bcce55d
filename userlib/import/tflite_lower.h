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

#include "../graph/graph.h"
#include "tflite_file.h"
#include "tflite_ids.h"

struct tfl_lower {
	const struct tfl_model *m;
	weft_graph *g;
	char *msg;
	int err;                   /* what the last failure returned */
	int *raw;                  /* per file tensor: graph tensor of the file's own type, or -1 */
	int *seen;                 /* per file tensor: graph tensor as operators see it, or -1 */
	bool *is_output;           /* per file tensor */
	int64_t room;              /* bytes that the graph may still take */
	int64_t activations;       /* bytes of values that may still be declared */

	/* the operator at hand */
	const struct tfl_op *op;   /* NULL outside operators */
	int i_op;
	int src;
	int i_y;                   /* its result, file tensor */
	weft_tensor y;             /* type and shape of it, as operators see it */
	uint8_t used[WEFT_N_OPS];  /* TOSA operators emitted for it, per kind */
};

struct tfl_quant {
	float scale;               /* finite, > 0 */
	int32_t zp;                /* within int8 */
};

/* One line "operator 3 ADD: ..."; returns err. */
int tfl_fail(struct tfl_lower *l, int err, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Operands. k counts the operator's inputs. */
bool tfl_has(const struct tfl_lower *l, int k);
int tfl_operand(struct tfl_lower *l, int k);                     /* file tensor */
const struct tfl_tensor *tfl_file_tensor(const struct tfl_lower *l, int i);
bool tfl_is_const(const struct tfl_lower *l, int k);
int tfl_shape(struct tfl_lower *l, int i, weft_tensor *t);       /* type and shape of a file tensor, judged */
int tfl_quant(struct tfl_lower *l, int i, struct tfl_quant *q);  /* per-tensor quantisation of a file tensor */
int tfl_value(struct tfl_lower *l, int k);                       /* graph tensor as operators see it */
int tfl_int8_value(struct tfl_lower *l, int k, struct tfl_quant *q);  /* same; must be quantised 8-bit */
int tfl_need_int8_result(struct tfl_lower *l, struct tfl_quant *q);
int tfl_ints(struct tfl_lower *l, int k, int max, int64_t *v);   /* constant int32 or int64; returns the count */
int tfl_const_as(struct tfl_lower *l, int k, int rank, const int64_t *dim);  /* constant operand, in another shape */

/* Options; absent fields give the format's defaults. */
int tfl_option(struct tfl_lower *l, int type, int field, int bytes, int absent_value, int *value);

/* Graph building; counted against room. Names of constants hang below the result's name. */
int tfl_tensor(struct tfl_lower *l, const char *name, weft_dtype t, int rank, const int64_t *dim);
int tfl_data(struct tfl_lower *l, const char *suffix, weft_dtype t, int rank, const int64_t *dim, void *data);
void *tfl_alloc(struct tfl_lower *l, int64_t n, size_t bytes);

int tfl_input(struct tfl_lower *l, int i, const weft_tensor *shape);  /* file tensor i as the network's input */
int tfl_copy(struct tfl_lower *l, int x);  /* IDENTITY of x, under the same name */

/*
 * Emit one operator with a new result; last: the result is the source
 * operator's own, and type and shape must be as the file says.
 */
int tfl_step(struct tfl_lower *l, weft_opcode op, const weft_attr *attr, const int *in, int n_in,
             weft_dtype t, int rank, const int64_t *dim, bool last);

/* Bits of a real factor: TOSA's multiplier and shift that give TFLite's arithmetic. */
struct tfl_factor { int32_t multiplier; int8_t shift; };
int tfl_factor(struct tfl_lower *l, double real, struct tfl_factor *f);

struct tfl_rescale {
	weft_dtype to;
	weft_rounding rounding;
	int32_t x_zp, y_zp;
	int64_t n;                 /* 1, or channels */
	const struct tfl_factor *f;
};
int tfl_rescale(struct tfl_lower *l, int x, const struct tfl_rescale *r, bool last);

/* Exact int8 -> int32: (x - zp) << left, left 0..20. */
int tfl_widen(struct tfl_lower *l, int x, int32_t zp, int left);

/* Activation limits in the result's quantisation, within int8. */
int tfl_limits(struct tfl_lower *l, int activation, const struct tfl_quant *y, int32_t *lo, int32_t *hi);
bool tfl_tighter(int32_t lo, int32_t hi);
int tfl_clamp(struct tfl_lower *l, int x, int32_t lo, int32_t hi, bool last);

/* int32 sums to the int8 result: RESCALE, and CLAMP where the activation asks for one. */
int tfl_requantise(struct tfl_lower *l, int x, int64_t n, const struct tfl_factor *f, int activation, bool last);

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
int tfl_bias(struct tfl_lower *l, int64_t oc);  /* or one zero where there is none */

/* RESHAPE x unless it has that shape. */
int tfl_reshape(struct tfl_lower *l, int x, int rank, const int64_t *dim);

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
int tfl_lower_logistic(struct tfl_lower *l);
int tfl_lower_quantize(struct tfl_lower *l);
int tfl_lower_dequantize(struct tfl_lower *l);

/* Input extents against a sliding window: padding, and what no window reaches. */
struct tfl_window { int64_t out; int32_t before, after; int64_t trim; };
int tfl_window(struct tfl_lower *l, int padding, int64_t in, int64_t kernel, int64_t stride, int64_t dilation,
               struct tfl_window *w);

/* Cut trimmed rows and columns off the bottom and right of x [N,H,W,C]. */
int tfl_trim(struct tfl_lower *l, int x, const struct tfl_window w[2]);

#endif

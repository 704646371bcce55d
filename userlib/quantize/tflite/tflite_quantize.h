/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A float .tflite file becomes an integer one that LiteRT runs, too.
 *
 *   rules.c     which operators have integer kernels, and what those ask of their operands
 *   plan.c      which operators become integer ones, and the scale of each tensor
 *   constants.c weights, biases and other constants as integers
 *   build.c     the new network as lists of tensors and operators
 *   write.c     the lists as a file
 *   tflite_quantize.c  weft_quantize_tflite(), which calls all that in this order
 *
 * Inputs and outputs stay float32: QUANTIZE and DEQUANTIZE stand at the borders of what is quantised.
 * Source: TensorFlow Lite's quantisation specification.
 */
#ifndef WEFT_QUANTIZE_TFLITE_H
#define WEFT_QUANTIZE_TFLITE_H

#include <weft/weft.h>

#include "userlib/import/tflite/tflite_file.h"
#include "userlib/import/tflite/tflite_ids.h"
#include "userlib/quantize/blocks.h"
#include "userlib/quantize/observe.h"

#define QT_MAX_RANK 8

/* What an operator's integer kernel asks of scales. */
enum qt_kind {
	QT_PRODUCT,            /* weights with a scale per channel, a bias whose scale is their product with the input's */
	QT_FREE,               /* each operand and the result have scales of their own */
	QT_SAME,               /* some operands and all results have one scale */
	QT_FIXED,              /* the kernel states the result's scale */
};

struct qt_rule {
	int code;              /* operator code */
	enum qt_kind kind;
	int version[2];        /* of the operator for int8 and for int16 activations; 0: there is no such kernel */
	unsigned same;         /* SAME: set of operands with the results' scale, bit k for operand k; all bits: all */
	int x, weights, bias, axis;   /* PRODUCT: operands, and the weights' dimension of output channels */
	float scale[2];        /* FIXED: the result's, by type of activations */
	int zp[2];             /* FIXED: its zero point */
};

/* rules.c: returns the rule of an operator code, or NULL if it has no integer kernel. */
const struct qt_rule *qt_rule(int code);

/* A tensor of the file that is quantised. */
struct qt_value {
	const char *name;      /* terminated; lives until the end */
	const float *constant; /* its elements if it is a float constant, else NULL */
	int64_t n;             /* elements */
	int group;             /* index of another tensor with the same scale, or its own; see qt_group() */
	int members;           /* of a group's first tensor: how many the group has */
	struct observed range; /* values over the samples; of a group's first tensor: those of the whole group */
	float scale;           /* of a group's first tensor, once qt_plan() is done */
	int32_t zp;            /* its zero point */
	int as_float, as_int;  /* the new network's tensor that holds it so; -1: not yet. as_float also holds other types */
};

/* A tensor of the new network. */
struct qt_tensor {
	const char *name;
	int type;              /* enum tfl_type */
	int rank;
	int32_t dim[QT_MAX_RANK];
	struct fb_vec signature;      /* of the file: the shape with -1 for what only a run tells; or empty */
	uint32_t n_scale;      /* scales and zero points; 0: none */
	float *scale;
	int64_t *zp;
	int quant_dim;         /* the dimension along which several scales run */
	const void *data;      /* of a constant, else NULL */
	size_t bytes;          /* of data */
	bool variable;         /* it is state, which a run leaves for the next one */
};

/* An operator of the new network. */
struct qt_op {
	int code, version;
	int32_t *in, *out;     /* tensors; -1: an absent operand */
	int n_in, n_out;
	const struct tfl_op *from;    /* whose options it has; NULL: none */
	bool any_scale;        /* ADD and SUB of int16: scales that are no powers of two */
};

/* The network that is being quantised. */
struct qt {
	const struct weft_quantize_options *o;
	bool wide;             /* activations are int16 */
	struct tfl_model m;    /* the file as it was read */
	int *version;          /* of each operator of the file */
	bool *integer;         /* operators that become integer ones */
	struct qt_value *value;       /* for each tensor of the file */
	struct qt_tensor *tensor; int n_tensor, cap_tensor;
	struct qt_op *op; int n_op, cap_op;
	int n_integer;         /* operators with integer kernels */
	struct blocks blocks;  /* memory of qt_alloc() */
	char *msg;             /* the caller's room of WEFT_MSG_LEN bytes */
};

/* tflite_quantize.c: writes one line into the message, control characters as '?'. Returns err. */
int qt_fail(struct qt *q, int err, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Returns n zeroed bytes that live until the end; NULL after qt_fail() with -ENOMEM. */
void *qt_alloc(struct qt *q, size_t n);
/*
 * Makes room for element number n in a list of *cap elements of `size` bytes; `list` is the address of
 * the pointer to it. A list that is full moves to new memory of twice the room and more, and the old one
 * stays until the end. Returns 0 or -ENOMEM.
 */
WEFT_MUST_USE int qt_grow(struct qt *q, void *list, int n, int *cap, size_t size);

/*
 * Returns operand (or result) k of an operator of the file as tensor index; -1 if it is absent or k is
 * beyond the last.
 */
int qt_operand(const struct qt *q, const struct tfl_op *o, int k);
int qt_result(const struct qt *q, const struct tfl_op *o, int k);

/* plan.c: returns the index of the first tensor of t's group, and shortens the chain that leads to it. */
int qt_group(struct qt *q, int t);
/*
 * Decides from the tensors' ranges which operators become integer ones (q->integer, counted in
 * q->n_integer), cuts the range of masks (bound_mask() in plan.c), joins the tensors that must share a scale to
 * groups, and sets scale and zp of every tensor whose range is known from it; a group's first tensor
 * holds those of the group. If a kernel states its result's scale and the result is alone in its group,
 * it has the stated one.
 */
void qt_plan(struct qt *q);
/*
 * Sets *scale and *zp to quantise lo..hi, widened to include 0, with the type of activations: int8 with
 * the width / 255 and the zero point that puts lo at -128, rounded and limited to -128..127; int16 with
 * the greatest magnitude / 32767 and zero point 0. If the range is narrower than 1e-9, hi counts as lo +
 * 1.
 */
void qt_scale_of(const struct qt *q, double lo, double hi, float *scale, int32_t *zp);

/*
 * constants.c: adds constant or variable t of the file to the new network as it is, float16 as float32; a
 * constant's data are referred to, not copied. Returns its index, or -ENOMEM.
 */
int qt_plain(struct qt *q, int t);
/*
 * Adds float constant t of the file as integers of the type of activations, with this scale and zero
 * point (taken as 0 for the elements with int16), as tensor NAME/quantised. Elements are rounded with
 * halves away from zero and limited to the type. Returns its index, or -ENOMEM.
 */
WEFT_MUST_USE int qt_activation(struct qt *q, int t, float scale, int32_t zp);
/*
 * Adds the weights of product o as int8 in -127..127, with a scale for each output channel, and its bias,
 * as int32 or with int16 activations int64, by rule r; x_scale is the scale of its input. *weights and
 * *bias become their indices, *bias -1 if there is none. Returns 0, -ENOMEM, or -EINVAL with one line in
 * the message if the weights' rank is too small for the rule's axis or the bias has not one element for
 * each channel.
 */
WEFT_MUST_USE int qt_product(struct qt *q, const struct tfl_op *o, const struct qt_rule *r, float x_scale, int *weights, int *bias);
/*
 * Adds a tensor of that type with the file's tensor t's name and `suffix` behind it, its shape and its
 * signature, without scale or data. Returns its index, or -ENOMEM.
 */
WEFT_MUST_USE int qt_like(struct qt *q, int t, const char *suffix, int type);
/* Gives tensor i one scale and zero point. Returns 0 or -ENOMEM. */
WEFT_MUST_USE int qt_set_scale(struct qt *q, int i, float scale, int32_t zp);

/*
 * build.c: makes the lists of the new network by what qt_plan() decided: the inputs as they are, each
 * operator of the file in order, on integers or as it is, and at the end a DEQUANTIZE for each output
 * that is only there as integers. Operators whose first result is a constant (DEQUANTIZE of float16
 * weights) are left out. Returns 0, -ENOMEM, or -EINVAL with one line in the message.
 */
WEFT_MUST_USE int qt_build(struct qt *q);

/*
 * write.c: writes the lists as a .tflite file of version 3 to *out, memory from malloc of *len bytes.
 * Returns 0, or -ENOMEM with one line in the message and nothing to free.
 */
WEFT_MUST_USE int qt_write(struct qt *q, uint8_t **out, size_t *len);

/**
 * Quantise a float .tflite file of len bytes, weft_quantize() for this format. The options o have been checked,
 * but for the type.
 *
 * @param[out] out  The new file's *len_out bytes, from malloc; after a failure there is nothing to free.
 * @param msg       WEFT_MSG_LEN bytes; one line on failure.
 * @return 0; -EINVAL (a bad file, or one that is quantised already); -ENOTSUP (float8, an operator that
 *         golden does not run, one that names other subgraphs or whose options cannot be written again,
 *         a sparse constant, a rank above QT_MAX_RANK, or nothing to quantise); -ENOMEM; or what o->sample
 *         returned
 */
WEFT_MUST_USE int weft_quantize_tflite(const void *data, size_t len, const struct weft_quantize_options *o, uint8_t **out, size_t *len_out, char *msg);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that group operators into nodes. */
#ifndef WEFT_COMPILE_MATCH_H
#define WEFT_COMPILE_MATCH_H

#include "userlib/compile/ir.h"

/* One RESCALE, its constants at hand. */
struct rescale {
	int op;                /* its number */
	bool per_channel;      /* it has several multipliers or shifts */
	int x_zp, y_zp;        /* zero points of operand and result */
	int mul, shift;        /* constant tensors of multipliers and shifts */
	struct scale s;        /* the first of them */
};

/*
 * Returns whether this configuration computes with elements of this type: int8, int16, float8 or fp16, if it
 * has the mode.
 */
bool npu_type(const struct cc *cc, weft_dtype t);
/* Returns whether the type is int8 or int16 and this configuration computes with it. */
bool npu_int(const struct cc *cc, weft_dtype t);
/* The lowest number of the integer type with as many bytes. */
static inline int type_lowest(weft_dtype t) { return weft_dtype_bytes(t) == 2 ? INT16_MIN : INT8_MIN; }
static inline weft_dtype type_of(const struct cc *cc, int t) { return cc->g->tensors[t].t.dtype; }

/* Number of a float8 type or fp16 in commands, else -1. */
int float_format(weft_dtype t);

/* The operator that computes t if it has this opcode and constant arguments, else -1. */
int made_by(const struct cc *cc, int t, weft_opcode op);

/* The only reader of t, if t is not an output and the reader has this opcode; else -1. */
int only_reader(const struct cc *cc, int t, weft_opcode op);

/* Read RESCALE i into *r. Returns false if the post unit cannot do it, because it is not signed, not constant or not in
 * range. */
bool read_rescale(const struct cc *cc, int i, struct rescale *r);

/* Returns whether r does nothing but shift (x - x_zp) left. If so, *left is by how many bits, 0..28. */
bool is_left_shift(const struct rescale *r, int *left);

/* Returns whether no operator but i reads t, and t is no output of the graph. */
bool read_only_by(const struct cc *cc, int t, int i);

/* If a CLAMP is the only reader of operator *last's result, narrow the limits *lo and *hi to what both let through and
 * set *last to the CLAMP. */
void take_clamp(const struct cc *cc, int *last, int *lo, int *hi);

/* Add a node that is named after operator op and writes the result of `last`; only these two are claimed. NULL: no
 * memory. Pointers to other nodes are no longer valid. */
struct node *new_node(struct cc *cc, enum node_kind kind, int op, int last);
/* Let the node write the output of operator last. */
void set_output(const struct cc *cc, struct node *nd, int last);
/* Note that the node covers operator op. */
void claim(struct cc *cc, int op, const struct node *nd);

/* Let the node read tensor t as its input, through a SLICE that makes t; and if pads is not NULL, also through a PAD of
 * rows and columns with pad_value, whose padding is added to pads (top, bottom, left, right). */
void set_input(const struct cc *cc, struct node *nd, int t, int pad_value, int pads[4]);
/* Let the node read tensor t as its second operand, through a SLICE that makes t. */
void set_second(const struct cc *cc, struct node *nd, int t);

/* Returns whether the device computes tensor t, so that running its reader there means no extra trip. */
bool near_npu(const struct cc *cc, int t);

/* Returns whether t is constant and all its elements are the same. */
bool is_number(const struct cc *cc, int t);

/* Give the node's second operand the input's dimensions by repeating dimensions of one element (step 0). Returns false
 * if dimensions differ otherwise, or in channels. */
bool spread_second(struct node *nd);

/* The matchers. Each is offered operator i and returns 1 if it has made a node of it, 0 if not (cc_reason() then says
 * why), or a negative errno. */
WEFT_MUST_USE int match_conv(struct cc *cc, int i);
WEFT_MUST_USE int match_pool(struct cc *cc, int i);
WEFT_MUST_USE int match_pool_alone(struct cc *cc, int i);   /* also one that only leaves out rows and columns, pool_is_stride() */
WEFT_MUST_USE int match_mean(struct cc *cc, int i);
WEFT_MUST_USE int match_add(struct cc *cc, int i);
WEFT_MUST_USE int match_unary(struct cc *cc, int i);
/* A function of one byte; with `behind` it is matched only if it joins the node that makes its operand. */
WEFT_MUST_USE int match_function(struct cc *cc, int i, bool behind);
WEFT_MUST_USE int match_product(struct cc *cc, int i);
WEFT_MUST_USE int match_island(struct cc *cc, int i);
WEFT_MUST_USE int match_concat(struct cc *cc, int i);
WEFT_MUST_USE int match_resize(struct cc *cc, int i);      /* as copies */
WEFT_MUST_USE int match_repeat(struct cc *cc, int i);      /* likewise, of TILE and what stands behind it */
WEFT_MUST_USE int match_transpose_conv(struct cc *cc, int i);
WEFT_MUST_USE int match_conv3d(struct cc *cc, int i);
WEFT_MUST_USE int match_matmul(struct cc *cc, int i);
WEFT_MUST_USE int match_same(struct cc *cc, int i);
WEFT_MUST_USE int match_alu(struct cc *cc, int i);
WEFT_MUST_USE int match_float_conv(struct cc *cc, int i);
WEFT_MUST_USE int match_float_matmul(struct cc *cc, int i);
WEFT_MUST_USE int match_float_pool(struct cc *cc, int i);
WEFT_MUST_USE int match_float_add(struct cc *cc, int i);
WEFT_MUST_USE int match_float_unary(struct cc *cc, int i);

/*
 * match_elt.c: add a node that makes operator i's result from the 8-bit tensor x_t: byte k, taken as unsigned
 * (int8 -1 is 255), becomes table[k]. The table is copied; the device must have it (has_table). Returns 1, -ENOMEM
 * or -E2BIG (too many constants).
 */
WEFT_MUST_USE int elt_by_table(struct cc *cc, int i, int x_t, const uint8_t table[256]);

/* match_add.c: how many products one sum of a convolution's node has; -1 if `node` is negative. */
int64_t conv_depth(const struct cc *cc, int node);

/*
 * match_pool.c: returns whether pooling operator i only leaves out rows and columns, so that its readers may
 * read its operand.
 */
bool pool_is_stride(const struct cc *cc, int i);

/* match_pool.c: set the node's kernel, stride and padding from a pooling operator's attributes. */
void set_pool_window(struct node *nd, const struct weft_attr_pool *a);

/* match_conv.c: set the node's window, zero points, kind and conv.m from a CONV2D or DEPTHWISE_CONV2D with weights w;
 * pads are top, bottom, left, right. May set conv.transposed, which counts for NODE_DW alone. */
void conv_shape(const struct cc *cc, struct node *nd, const struct weft_gop *o, const weft_tensor *w, const int pads[4]);
/* match_conv.c: which value of the node's window no field of a command can hold, for people; NULL: all fit. */
const char *conv_limit(const struct node *nd);
/*
 * match_conv.c: returns whether the depthwise engine can do this depthwise convolution, whose result has so
 * many pixels. Sets conv.transposed for kernels above 3x3.
 */
bool conv_is_dw(const struct cc *cc, struct node *nd, int64_t pixels, bool is_float);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that group operators into nodes. */
#ifndef WEFT_COMPILE_MATCH_H
#define WEFT_COMPILE_MATCH_H

#include "userlib/compile/ir.h"

/* One RESCALE, its constants at hand. */
struct rescale {
	int op;
	bool per_channel;
	int x_zp, y_zp;
	int mul, shift;        /* tensors */
	struct scale s;        /* element 0 */
};

/* Does this configuration compute with elements of this type? */
bool npu_type(const struct cc *cc, weft_dtype t);
/* The same of int8 and int16. */
bool npu_int(const struct cc *cc, weft_dtype t);
/* Of the integer with as many bytes. */
static inline int type_lowest(weft_dtype t) { return weft_dtype_bytes(t) == 2 ? INT16_MIN : INT8_MIN; }
static inline weft_dtype type_of(const struct cc *cc, int t) { return cc->g->tensors[t].t.dtype; }

/* Number of a float8 type or fp16 in commands, else -1. */
int float_format(weft_dtype t);

/* Operator that computes t with this opcode, or -1. */
int made_by(const struct cc *cc, int t, weft_opcode op);

/* The only reader of t, if t is not an output and the reader has this opcode; else -1. */
int only_reader(const struct cc *cc, int t, weft_opcode op);

/* Is RESCALE i one that the post unit can do: signed, constant, in range? */
bool read_rescale(const struct cc *cc, int i, struct rescale *r);

/* Is r exactly a left shift by *left, 0..30, of (x - x_zp)? */
bool is_left_shift(const struct rescale *r, int *left);

/* Every reader of t is operator i. */
bool read_only_by(const struct cc *cc, int t, int i);

/* Take a CLAMP behind *last into lo, hi, which have the type of *last's result; moves *last on. */
void take_clamp(const struct cc *cc, int *last, int *lo, int *hi);

/* New node that covers op and writes the output of last; claims only those two. */
struct node *new_node(struct cc *cc, enum node_kind kind, int op, int last);
void set_output(const struct cc *cc, struct node *nd, int last);
void claim(struct cc *cc, int op, const struct node *nd);

/* How a node may read tensor t: through SLICE, and through PAD of pad_value on y and x. */
void set_input(const struct cc *cc, struct node *nd, int t, int pad_value, int pads[4]);
void set_second(const struct cc *cc, struct node *nd, int t);

/* Is something before it on the device, so that a trip there is no detour? */
bool near_npu(const struct cc *cc, int t);

/* Is t constant, and all its elements the same? */
bool is_number(const struct cc *cc, int t);

/* Give r the input's dimensions, each of one element again and again; false: it has others, or other channels. */
bool spread_second(struct node *nd);

/* Each: 1 matched, 0 not (reason set), or a negative errno. */
int match_conv(struct cc *cc, int i);
int match_pool(struct cc *cc, int i);
int match_mean(struct cc *cc, int i);
int match_add(struct cc *cc, int i);
int match_unary(struct cc *cc, int i);
/* behind: only as one with the node that makes its operand. */
int match_function(struct cc *cc, int i, bool behind);
int match_product(struct cc *cc, int i);
int match_concat(struct cc *cc, int i);
int match_resize(struct cc *cc, int i);      /* without the alu */
int match_transpose_conv(struct cc *cc, int i);
int match_conv3d(struct cc *cc, int i);
int match_matmul(struct cc *cc, int i);
int match_same(struct cc *cc, int i);
int match_alu(struct cc *cc, int i);
int match_float_conv(struct cc *cc, int i);
int match_float_matmul(struct cc *cc, int i);
int match_float_pool(struct cc *cc, int i);
int match_float_add(struct cc *cc, int i);
int match_float_unary(struct cc *cc, int i);

/* match_add.c: products of one sum of a convolution's node; -1 without a node */
int64_t conv_depth(const struct cc *cc, int node);

/* match_pool.c: kernel, stride and padding of a pool. */
void set_pool_window(struct node *nd, const struct weft_attr_pool *a);

/* match_conv.c: kernel, stride, padding and kind of a CONV2D or DEPTHWISE_CONV2D; NULL or what
 * no command can hold; can the depthwise engine do it? */
void conv_shape(const struct cc *cc, struct node *nd, const struct weft_gop *o, const weft_tensor *w, const int pads[4]);
const char *conv_limit(const struct node *nd);
bool conv_is_dw(const struct cc *cc, struct node *nd, int64_t pixels, bool is_float);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A float .onnx file becomes a QDQ one.
 *
 *   model.c    the file as lists that can be edited, and tensors of its constants
 *   prepare.c  BatchNormalization, and sums with constants, go into the weights
 *   ranges.c   runs the float network, and sees what values its tensors take
 *   insert.c   decides what is quantised; weights, QuantizeLinear, DequantizeLinear
 *   quantize.c in that order; weft_quantize()
 */
#ifndef WEFT_QUANTIZE_H
#define WEFT_QUANTIZE_H

#include <weft/weft.h>

#include "../graph/graph.h"
#include "userlib/import/onnx/onnx.h"
#include "userlib/import/onnx/onnx_file.h"

#define QZ_BINS 4096

struct qz_value {
	const char *name;
	int maker;                 /* node, or -1 */
	int n_uses, reader;        /* by nodes; the last of them */
	bool is_input, is_output;
	int init;                  /* constant, or -1 */
	/* ranges.c */
	int tensor;                /* of the float graph, or -1 */
	bool seen;
	double min, max, lo, hi;   /* of all samples; of those that are to be represented */
	uint64_t *bins;            /* between min and max; or NULL */
	/* insert.c */
	bool paired;               /* a QuantizeLinear and a DequantizeLinear follow */
};

struct qz {
	struct onnx_file f;
	onnx_model *m;             /* f's; its graph has the lists below */
	onnx_node **node; int n_node, cap_node;          /* NULL: gone */
	onnx_tensor **init; int n_init, cap_init;
	struct qz_value *value; int n_value; size_t cap_value;
	void **block; int n_block, cap_block;            /* freed at the end */
	const struct weft_quantize_options *o;
	Weft__Onnx__OperatorSet **set; size_t n_set;     /* operator sets */
	int opset;                 /* of ONNX's own */
	weft_graph *g;             /* the float network */
	int n_products;            /* of them quantised */
	bool no_memory;            /* an allocation has failed somewhere: no model comes of this */
	char *msg;
};

/* ---- model.c ---- */
int qz_fail(struct qz *z, int err, const char *format, ...) __attribute__((format(printf, 3, 4)));
int qz_open(struct qz *z, const void *data, size_t len);
void qz_close(struct qz *z);
void *qz_alloc(struct qz *z, size_t n);                       /* zeroed; NULL after -ENOMEM in msg */
char *qz_text(struct qz *z, const char *a, const char *b);    /* a followed by b */
int qz_index(struct qz *z);                                   /* the values, anew */
struct qz_value *qz_value(struct qz *z, const char *name);    /* NULL: none, or "" */
const char *qz_operand(const onnx_node *n, size_t k);         /* "" if absent */
bool qz_is(const onnx_node *n, const char *type);             /* of ONNX's own domain */
const onnx_attribute *qz_attribute(const onnx_node *n, const char *name);
int64_t qz_integer(const onnx_node *n, const char *name, int64_t otherwise);
double qz_real(const onnx_node *n, const char *name, double otherwise);
onnx_node *qz_add_node(struct qz *z, const char *type, const char *domain, char *const *in, size_t n_in, char *out);
int qz_set_integer(struct qz *z, onnx_node *n, const char *name, int64_t v);
/* A constant; the data is copied. Its name. */
char *qz_add_tensor(struct qz *z, char *name, int type, int rank, const int64_t *dim, const void *data, size_t bytes);
/* The numbers of a float32 constant of the graph: from malloc-like memory that z owns; NULL: it is none. */
const float *qz_floats(struct qz *z, const char *name, weft_tensor *t);
int qz_set_operand(struct qz *z, onnx_node *n, size_t k, char *name);   /* the list grows if it must */
int qz_pack(struct qz *z, uint8_t **data, size_t *len);       /* from malloc */

/* opset.c: the network at an opset that has the quantisers; z->g is the network as it is. */
int qz_raise(struct qz *z);
int qz_prepare(struct qz *z);
int qz_ranges(struct qz *z);
int qz_insert(struct qz *z);

#endif

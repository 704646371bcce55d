/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A float .onnx file becomes a quantised one, with QuantizeLinear and DequantizeLinear (QDQ).
 *
 *   model.c    the file as lists that can be edited, and the numbers of its constants
 *   opset.c    raises the model to an opset that has the quantisers
 *   prepare.c  BatchNormalization, and sums with constants, go into the weights
 *   ranges.c   finds which values its tensors take (observe.c runs the float network)
 *   insert.c   decides what is quantised; weights, QuantizeLinear, DequantizeLinear
 *   quantize.c weft_quantize(), which calls all that in this order
 */
#ifndef WEFT_QUANTIZE_H
#define WEFT_QUANTIZE_H

#include <weft/weft.h>

#include "../graph/graph.h"
#include "blocks.h"
#include "observe.h"
#include "userlib/import/onnx/onnx.h"
#include "userlib/import/onnx/onnx_file.h"

/* A value of the model. */
struct qz_value {
	const char *name;
	int maker;                 /* index of the node that makes it, or -1 */
	int n_uses, reader;        /* how often nodes read it; index of the last of them, or -1 */
	bool is_input, is_output;  /* of the network; constants are no inputs */
	int init;                  /* index of the constant that it is, or -1 */
	/* filled in by ranges.c */
	int tensor;                /* index of the float graph's tensor that holds it, or -1 */
	bool seen;                 /* finite numbers were seen of it */
	double lo, hi;             /* the numbers that are to be represented, see observe.h */
	/* filled in by insert.c */
	bool paired;               /* a QuantizeLinear and a DequantizeLinear shall follow it */
};

/* The model that is being quantised. */
struct qz {
	struct onnx_file f;        /* the file as it was read */
	onnx_model *m;             /* f's model; the lists below stand for those of its graph */
	onnx_node **node; int n_node, cap_node;          /* an entry that is NULL was removed */
	onnx_tensor **init; int n_init, cap_init;        /* constants */
	float **floats; int cap_floats;                  /* of each constant: what qz_floats() read; NULL: nothing yet */
	struct qz_value *value; int n_value; size_t cap_value;   /* sorted by name */
	struct blocks blocks;      /* memory of qz_alloc() */
	const struct weft_quantize_options *o;
	Weft__Onnx__OperatorSet **set; size_t n_set;     /* the model's operator sets */
	int opset;                 /* the version of ONNX's own one */
	weft_graph *g;             /* the float network, as golden runs it */
	int n_products;            /* products that were quantised */
	bool no_memory;            /* memory has run out somewhere, so that the result must not be used */
	char *msg;                 /* the caller's room of WEFT_MSG_LEN bytes */
};

/* ---- model.c, where each function without a comment here is described ---- */
int qz_fail(struct qz *z, int err, const char *format, ...) __attribute__((format(printf, 3, 4)));
WEFT_MUST_USE int qz_open(struct qz *z, const void *data, size_t len);
void qz_close(struct qz *z);
void *qz_alloc(struct qz *z, size_t n);
char *qz_text(struct qz *z, const char *a, const char *b);
WEFT_MUST_USE int qz_index(struct qz *z);
/* Returns the value of that name; NULL if there is none or the name is "". */
struct qz_value *qz_value(struct qz *z, const char *name);
/* Returns the name of node n's operand k; "" if it has none. */
const char *qz_operand(const onnx_node *n, size_t k);
/* Says whether n is the operator `type` of ONNX's own domain; false if n is NULL. */
bool qz_is(const onnx_node *n, const char *type);
/* Returns node n's attribute of that name; NULL if it has none. */
const onnx_attribute *qz_attribute(const onnx_node *n, const char *name);
/* Return the integer, or the float, in node n's attribute of that name; `otherwise` if it has none. */
int64_t qz_integer(const onnx_node *n, const char *name, int64_t otherwise);
double qz_real(const onnx_node *n, const char *name, double otherwise);
onnx_node *qz_add_node(struct qz *z, const char *type, const char *domain, char *const *in, size_t n_in, char *out);
WEFT_MUST_USE int qz_set_integer(struct qz *z, onnx_node *n, const char *name, int64_t v);
/*
 * Appends a constant of that name (which must live as long as the model), ONNX's type, shape, and `bytes`
 * bytes of data; shape and data are copied. Returns the name; NULL if it is NULL or there is no memory.
 */
char *qz_add_tensor(struct qz *z, char *name, int type, int rank, const int64_t *dim, const void *data, size_t bytes);
/*
 * Returns the numbers of a float32 constant of the model, in memory that lives until qz_close() and is
 * read from the file only once, and sets *t to its type and shape, without data. NULL if the value is no
 * such constant; if it cannot be read or has more than 2^30 bytes (a line says why); or if there is no
 * memory (z->no_memory is set then).
 */
const float *qz_floats(struct qz *z, const char *name, weft_tensor *t);
WEFT_MUST_USE int qz_set_operand(struct qz *z, onnx_node *n, size_t k, char *name);
WEFT_MUST_USE int qz_pack(struct qz *z, uint8_t **data, size_t *len);

/*
 * opset.c: if the model's opset is below the one that has the quantisers (13 for int8, 19 for float8, 21
 * for int16x8), rewrites the nodes whose operators changed and sets the opset to it; z->g must be its
 * graph. Returns 0, also without a change if it is high enough, or a negative errno with one line in the
 * message: -ENOTSUP if an operator cannot be raised, a node has graphs of its own or the opset is below 7, -ENOMEM. After a failure
 * some nodes may be rewritten.
 */
WEFT_MUST_USE int qz_raise(struct qz *z);
/* prepare.c, ranges.c and insert.c, where these are described */
WEFT_MUST_USE int qz_prepare(struct qz *z);
WEFT_MUST_USE int qz_ranges(struct qz *z);
WEFT_MUST_USE int qz_insert(struct qz *z);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ONNX models become graphs: opsets 1 to 28; docs/onnx.md says which operators.
 *
 * Convolutions and pools work on [N,...,C]: values keep the order of dimensions
 * in which they were made until a reader needs another. uint8 values on the
 * way between quantised operators are held as int8, 128 less. Inputs and
 * outputs have the file's types and order.
 */
#ifndef WEFT_IMPORT_ONNX_H
#define WEFT_IMPORT_ONNX_H

#include "userlib/graph/graph.h"
#include "userlib/import/bound.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How int32 sums become 8 bits. */
enum weft_onnx_requant {
	/* With ONNX's bits: a RESCALE if one is proven equal for every sum, else ONNX_REQUANT on the host. */
	WEFT_ONNX_REQUANT_EXACT = 0,
	/* Always with the nearest RESCALE with SINGLE_ROUND. */
	WEFT_ONNX_REQUANT_RESCALE,
	/*
	 * As in ONNX Runtime's kernels: the product is rounded to float32, then to an integer; int16 is computed as float32, and
	 * products of floats add in its order. Mostly on the host.
	 */
	WEFT_ONNX_REQUANT_RUNTIME,
};

struct weft_onnx_options {
	enum weft_onnx_requant requant;
	/*
	 * With WEFT_ONNX_REQUANT_RUNTIME: products of uint8 by int8 in integer operators as on x86-64 with AVX2 and without VNNI, where
	 * sums of two of them saturate to 16 bits. Those that may saturate run on the host. It counts as false with another requant.
	 */
	bool saturate;
	const char *folder;        /* the folder in which, or below which, external data may lie; NULL: nowhere */
	const struct weft_import_bound *bound;   /* inputs that become constants, or whose open shape is given */
	int n_bound;
	/*
	 * Inputs whose values are known, of which the first 64 count: such an input becomes a constant
	 * only if a lowering needs its value. A value with dtype 0 is dim[0] bytes, of the file's type
	 * and shape.
	 */
	const struct weft_import_bound *given;
	int n_given;
};

/** Says whether the bytes could be an ONNX model and nothing else that is read here. */
bool weft_onnx_is(const void *data, size_t len);

/**
 * Import a file held in memory. Nothing in it is trusted. Memory stays below
 * 160 MB plus 8 times the file and its external data.
 *
 * @param data    The file; may be freed after the call.
 * @param name    The model's name for people.
 * @param o       The options; NULL: all of them zero.
 * @param[out] g  Set only on success; passes weft_graph_check().
 * @param msg     WEFT_MSG bytes; one line on failure.
 *
 * @return 0, or
 *   -EINVAL   the file breaks a rule of its format or of an operator
 *   -ENOTSUP  a valid file that uses what is not supported
 *   -ENOMEM
 */
WEFT_MUST_USE int weft_import_onnx(const void *data, size_t len, const char *name, const struct weft_onnx_options *o, weft_graph **g,
                     char msg[WEFT_MSG]);

/**
 * Read a tensor as ONNX's test data stores it (.pb): len bytes at data.
 *
 * @param[out] t  Type, shape and elements; t->data comes from malloc and is the caller's.
 * @param msg     WEFT_MSG bytes; one line on failure.
 *
 * @return 0, or
 *   -EINVAL   the bytes are no such tensor
 *   -ENOTSUP  its type or rank is not supported
 *   -ENOMEM
 */
WEFT_MUST_USE int weft_onnx_tensor(const void *data, size_t len, weft_tensor *t, char msg[WEFT_MSG]);

#ifdef __cplusplus
}
#endif
#endif

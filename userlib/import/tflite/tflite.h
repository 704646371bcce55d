/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TensorFlow Lite files become graphs.
 *
 * Operators are lowered so that every result has the bits of TensorFlow Lite's
 * reference kernels: their two-stage rounding is RESCALE with DOUBLE_ROUND.
 * Networks are int8, uint8 or int16 (with int8 weights), with float32 and int32
 * around them. uint8 tensors inside the network are held as int8, 128 less, zero
 * point likewise; inputs and outputs keep the file's type. What SVDF,
 * LSTM and RNN remember is a variable; an LSTM of int8 with products of 8 bits, or in the form of TensorFlow Lite for
 * Microcontrollers, starts each run from zero.
 */
#ifndef WEFT_IMPORT_TFLITE_H
#define WEFT_IMPORT_TFLITE_H

#include "userlib/graph/graph.h"
#include "userlib/import/bound.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Import a file held in memory. Nothing in it is trusted. Memory stays below
 * 64 MB plus 8 times the file.
 *
 * @param data    The file; may be freed after the call.
 * @param name    The model's name for people.
 * @param[out] g  Set only on success; passes weft_graph_check().
 * @param msg     WEFT_MSG bytes; one line on failure.
 *
 * @return 0, or
 *   -EINVAL   the file breaks a rule of its format or of an operator
 *   -ENOTSUP  a valid file that uses what is not supported
 *   -ENOMEM
 */
WEFT_MUST_USE int weft_import_tflite(const void *data, size_t len, const char *name, weft_graph **g, char msg[WEFT_MSG]);

struct weft_tflite_options {
	/*
	 * If the file's last operator is a custom one, which nobody can know, and makes all outputs, it
	 * is left out and its operands are the outputs. It stays among the sources, with no result.
	 */
	bool backbone;
	enum weft_runtime runtime; /* the runtime whose bits results have; ANY: the newest one known */
	/*
	 * Shapes of inputs where the file leaves them open (shape_signature -1); without one the file's
	 * shape holds.
	 */
	const struct weft_import_bound *bound;
	int n_bound;
	const struct weft_custom_table *custom;   /* functions of custom operators; NULL: none */
	const char *signature;     /* the signature to import, with its names of inputs and outputs; NULL: the first subgraph */
};

/** Import as weft_import_tflite() does, with options o; NULL stands for options that are all zero. */
WEFT_MUST_USE int weft_import_tflite_with(const void *data, size_t len, const char *name, const struct weft_tflite_options *o, weft_graph **g,
                            char msg[WEFT_MSG]);

#ifdef __cplusplus
}
#endif
#endif

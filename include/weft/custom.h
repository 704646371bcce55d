/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Custom operators of .tflite files, which run on the host by functions of the caller.
 *
 *	static int shapes(void *user, const struct weft_custom_call *c) { c->out[0].dim[1] = c->in[0].dim[2]; return 0; }
 *	static int run(void *user, const struct weft_custom_call *c) { ... c->in[0].data ... c->out[0].data ... return 0; }
 *	static const struct weft_custom_op ops[] = { { .name = "MyOperator", .shapes = shapes, .run = run } };
 *	static const struct weft_custom_table table = { .ops = ops, .n_ops = 1 };
 *	struct weft_load_options o = weft_load_options_default();
 *	o.custom = &table;
 *	if (weft_net_load_file_with("net.tflite", &o, &net, msg)) ...
 *
 * The commands take them from a shared library (weft run --custom FILE), which exports WEFT_CUSTOM_ENTRY:
 *
 *	weft_custom_entry weft_custom_operators;
 *	const struct weft_custom_table *weft_custom_operators(void) { return &table; }
 *	cc -shared -fPIC my.c -o my.so; weft run net.tflite --custom my.so
 *
 * The operators between them run on the NPU as ever. A .weft or .tosa file that was made of such
 * a network holds the operators' names, options and operands, but no functions: loading it needs the table, too.
 */
#ifndef WEFT_CUSTOM_H
#define WEFT_CUSTOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_CUSTOM_MAX_IN  16     /* operands of a custom operator, absent ones among them */
#define WEFT_CUSTOM_MAX_OUT 8      /* its results */

/*
 * One call of a custom operator. Everything in it belongs to the library and is valid during the call;
 * the function writes to what out points to, and to msg, alone.
 */
struct weft_custom_call {
	const char *name;          /* the operator's name in the file */
	const uint8_t *options;    /* its options as the file has them, n_options bytes and a zero behind them */
	size_t n_options;
	/*
	 * n_in operands in the file's order, with the file's types; one that is absent has type 0. data is the
	 * value, dense; when shapes are asked for it is NULL unless the operand is constant.
	 */
	const weft_tensor *in;
	int n_in;
	/*
	 * n_out results. When shapes are asked for, type and shape are the file's, and the function may change
	 * dimensions that the file leaves open (shape_signature -1). When the operator runs, data is memory of
	 * weft_tensor_bytes() bytes, which the function fills, and nothing else may be changed.
	 */
	weft_tensor *out;
	int n_out;
	/* Quantisation of operands and results; not present if the file has none or one for each channel. */
	const struct weft_quant *in_quant, *out_quant;
	char *msg;                 /* room for one line of n_msg bytes, with the zero, about a failure */
	size_t n_msg;
};

/*
 * A custom operator. Its functions return 0, or a negative errno after writing a line to c->msg; the loading
 * or the run then fails with that errno and line. They are called in the thread that loads or runs the network,
 * which may be one of the library's own (weft_session_submit()), and at the same time from several threads if several
 * sessions run. run has to be a function of operands and options alone: a checked run calls it for the
 * device and once more for golden, and a result that differs is a difference of the run.
 */
struct weft_custom_op {
	const char *name;          /* the name in the file */
	/* Gives the results' shapes while the file is loaded. NULL: they are the file's. */
	int (*shapes)(void *user, const struct weft_custom_call *c);
	/* Computes the results. Not NULL. */
	int (*run)(void *user, const struct weft_custom_call *c);
	void *user;                /* the first argument of both */
	uint64_t reserved[4];      /* zero */
};

/*
 * Custom operators, of different names. The table, what it points to and the names are the caller's and must live
 * until every network that was loaded with it is freed.
 */
struct weft_custom_table {
	const struct weft_custom_op *ops;
	int n_ops;
	uint64_t reserved[4];      /* zero */
};

/*
 * What a library of custom operators exports under the name WEFT_CUSTOM_ENTRY for the commands, without C++'s mangling: it
 * returns the library's operators, valid until the process ends, or NULL if it cannot serve. It is called once.
 */
typedef const struct weft_custom_table *weft_custom_entry(void);
#define WEFT_CUSTOM_ENTRY "weft_custom_operators"

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of TensorFlow Lite's C ABI that this delegate uses: what a delegate sees of the
 * running interpreter, and what the interpreter sees of a delegate.
 *
 * These structs carry no version. Their layout is the same in tflite-runtime 2.14 and
 * ai-edge-litert 2.3; the assertions at the end state it, and layout.c checks it in the
 * interpreter at hand before anything is believed. A member that is not used stands as
 * room. Everything that the interpreter hands out stays its own.
 */
#ifndef WEFT_TFLITE_ABI_H
#define WEFT_TFLITE_ABI_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TFL_OK = 0, TFL_ERROR = 1, TFL_DELEGATE_ERROR = 2 };

/* Element types: the interpreter's numbers, which are not the file's. */
enum rt_type {
	RT_NO_TYPE, RT_FLOAT32, RT_INT32, RT_UINT8, RT_INT64, RT_STRING, RT_BOOL, RT_INT16, RT_COMPLEX64, RT_INT8, RT_FLOAT16,
	RT_FLOAT64, RT_COMPLEX128, RT_UINT64, RT_RESOURCE, RT_VARIANT, RT_UINT32, RT_UINT16, RT_INT4, RT_BFLOAT16,
	RT_TYPES_MOST = 64,        /* newer releases add some */
};

/* Where a tensor's bytes are. */
enum rt_allocation { RT_NONE, RT_CONSTANT, RT_ARENA, RT_ARENA_KEPT, RT_DYNAMIC, RT_FOUND_IN_PREPARE, RT_CUSTOM_ALLOCATION, RT_ALLOCATIONS_MOST = 16 };

enum { RT_NO_QUANTIZATION, RT_AFFINE, RT_QUANTIZATIONS_MOST = 16 };

/* builtin_code: the operators that the delegate's code names. Custom operators and delegates have one code each. */
enum {
	RT_CONV_2D = 3, RT_DEPTHWISE_CONV_2D = 4, RT_DEQUANTIZE = 6, RT_FULLY_CONNECTED = 9, RT_LSTM = 16, RT_RESHAPE = 22, RT_RNN = 24,
	RT_SVDF = 27, RT_CUSTOM = 32, RT_SEQUENCE_RNN = 35, RT_SEQUENCE_LSTM = 44, RT_BI_RNN = 46, RT_DELEGATE = 51, RT_BI_LSTM = 52,
	RT_TRANSPOSE_CONV = 67, RT_SHAPE = 77, RT_QUANTIZE = 114, RT_BATCH_MATMUL = 126, RT_CONV_3D = 132, RT_CONV_3D_TRANSPOSE = 141,
};

struct rt_ints {
	int n;
	int v[];
};

struct rt_floats {
	int n;
	float v[];
};

struct rt_affine {
	struct rt_floats *scale;
	struct rt_ints *zero_point;
	int32_t dimension;
};

struct rt_tensor {
	int type;
	void *data;                /* NULL: none yet */
	struct rt_ints *dims;      /* NULL: not known */
	struct { float scale; int32_t zero_point; } old_quantization;
	int allocation;
	size_t bytes;
	const void *mapped;
	const char *name;
	struct rt_delegate *delegate;
	int buffer_handle;
	uint8_t data_is_stale, is_variable; /* bool */
	struct { int type; void *params; } quantization;
	void *sparsity;            /* NULL: dense */
	const struct rt_ints *signature;
};

struct rt_node {
	struct rt_ints *inputs, *outputs; /* numbers of tensors; -1: left out */
	struct rt_ints *intermediates, *temporaries;
	void *user_data;           /* what the kernel's init returned */
	void *builtin_data;        /* the operator's options, see op_table.c; of a delegate's node struct rt_part */
	const void *custom_data;
	int custom_bytes;
	struct rt_delegate *delegate;
	uint8_t might_have_side_effect;
};

/* A set of nodes that the interpreter would replace, or replaces, by one of the delegate. */
struct rt_part {
	struct rt_delegate *delegate;
	struct rt_ints *nodes, *inputs, *outputs; /* constants are among the inputs */
};

struct rt_context;

/* A kernel: what the interpreter calls for a node. */
struct rt_kernel {
	void *(*init)(struct rt_context *, const char *data, size_t bytes);
	void (*free)(struct rt_context *, void *user_data);
	int (*prepare)(struct rt_context *, struct rt_node *);
	int (*invoke)(struct rt_context *, struct rt_node *);
	void *profiling_string;
	int32_t builtin_code;
	const char *custom_name;
	int version;
	/*
	 * Zero: what later releases have behind it. The struct is handed over by value, on the stack,
	 * so one that is longer than the interpreter's does no harm, and a shorter one would.
	 */
	void *later[10];
};

struct rt_context {
	size_t n_tensors;
	int (*execution_plan)(struct rt_context *, struct rt_ints **); /* valid until the next call */
	struct rt_tensor *tensors;
	void *impl;
	int (*resize)(struct rt_context *, struct rt_tensor *, struct rt_ints *dims); /* takes dims, which are from malloc */
	void (*report)(struct rt_context *, const char *format, ...) __attribute__((format(printf, 2, 3)));
	void *add_tensors;
	int (*node)(struct rt_context *, int i, struct rt_node **, struct rt_kernel **);
	int (*replace)(struct rt_context *, struct rt_kernel, const struct rt_ints *nodes, struct rt_delegate *);
	int threads;               /* that the program recommends; -1: not said */
	void *skip[9];
	int (*preview)(struct rt_context *, const struct rt_ints *nodes, struct rt_part **, int *n); /* the context's, until the next call */
};

/*
 * A flag of delegates: graphs in which the shapes of some tensors are known only when they run may be
 * theirs, too.
 */
enum { RT_ALLOW_DYNAMIC = 1 };

/* prepare: look at the graph, take nodes with context->replace(). */
struct rt_delegate {
	void *data;
	int (*prepare)(struct rt_context *, struct rt_delegate *);
	void *copy_from_handle, *copy_to_handle, *free_handle;
	int64_t flags;
	void *opaque;
};

#define AT(type, member, byte) static_assert(offsetof(struct type, member) == (byte), #type "." #member)

AT(rt_tensor, data, 8);
AT(rt_tensor, dims, 16);
AT(rt_tensor, allocation, 32);
AT(rt_tensor, bytes, 40);
AT(rt_tensor, name, 56);
AT(rt_tensor, data_is_stale, 76);
AT(rt_tensor, is_variable, 77);
AT(rt_tensor, quantization.type, 80);
AT(rt_tensor, quantization.params, 88);
AT(rt_tensor, sparsity, 96);
AT(rt_tensor, signature, 104);
static_assert(sizeof(struct rt_tensor) == 112, "rt_tensor");
AT(rt_affine, dimension, 16);
AT(rt_node, outputs, 8);
AT(rt_node, user_data, 32);
AT(rt_node, builtin_data, 40);
AT(rt_node, custom_bytes, 56);
AT(rt_node, delegate, 64);
AT(rt_part, nodes, 8);
AT(rt_part, outputs, 24);
AT(rt_kernel, invoke, 24);
AT(rt_kernel, builtin_code, 40);
AT(rt_kernel, custom_name, 48);
AT(rt_kernel, version, 56);
AT(rt_context, execution_plan, 8);
AT(rt_context, tensors, 16);
AT(rt_context, resize, 32);
AT(rt_context, report, 40);
AT(rt_context, node, 56);
AT(rt_context, replace, 64);
AT(rt_context, threads, 72);
AT(rt_context, preview, 152);
AT(rt_delegate, prepare, 8);
AT(rt_delegate, flags, 40);
static_assert(sizeof(struct rt_delegate) == 56, "rt_delegate");

#undef AT

#endif

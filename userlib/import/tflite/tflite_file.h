/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A TFLite file as plain structures. Every offset and length has been checked to
 * lie in the file; what types, ranks and dimensions mean has not been judged.
 *
 * Names, shapes and data point into the file, which has to outlive the model. A
 * tensor is judged when an operator uses it, so odd tensors that no operator uses
 * do no harm.
 */
#ifndef WEFT_IMPORT_TFLITE_FILE_H
#define WEFT_IMPORT_TFLITE_FILE_H

#include "userlib/import/fb.h"

/* More than any real network has; bounds memory for files that repeat one table. */
#define TFL_MAX_TENSORS   65536
#define TFL_MAX_OPERATORS 32768
#define TFL_MAX_RANK      8           /* dimensions of a tensor that an operator uses */
#define TFL_MAX_PARTS     1024        /* results of one operator */

struct tfl_tensor {
	size_t at;                 /* byte offset of its table in the file */
	const char *name;          /* not terminated */
	uint32_t name_len;         /* bytes of name */
	int type;                  /* enum tfl_type, or any other number */
	bool is_variable, has_custom_quant;   /* the latter: custom or blockwise quantisation */
	struct fb_vec shape;       /* dimensions, int32 */
	const int64_t *dim;        /* TFL_MAX_RANK dimensions of a constant that was found before the run; else NULL */
	struct fb_vec signature;   /* the shape with -1 for dimensions that are known only when the network runs; or empty */
	struct fb_vec scale;       /* scales, float */
	struct fb_vec zero_point;  /* zero points, int64 */
	int block_size;            /* blockwise: elements of the last dimension that share a scale; else 0 */
	int block_scales, block_zero_points;   /* of these blocks: tensors, not judged; absent ones are below 0 */
	int quant_dim;             /* the dimension along which scales run, if there are several */
	bool is_sparse;            /* the constant's bytes are only some of its elements, as `sparsity` says (tflite_sparse.c) */
	struct fb_table sparsity;  /* not judged */
	const uint8_t *data;       /* the constant's bytes, or NULL if the tensor is computed */
	size_t data_len;           /* bytes of data */
};

struct tfl_op {
	size_t at;                 /* byte offset of its table in the file */
	int code;                  /* the format's operator code, or any other number */
	const char *custom;        /* own name of an operator of code CUSTOM; not terminated */
	uint32_t custom_len;       /* bytes of custom */
	const uint8_t *custom_options;   /* options of such an operator, n_custom_options bytes; not judged */
	uint64_t n_custom_options;
	struct fb_vec in, out;     /* operands and results: int32 indices of tensors, -1 for an absent operand */
	struct fb_vec intermediates;     /* int32 indices of tensors that only say scales, for LSTM */
	int options_type;          /* which table of options it has */
	bool has_options;
	struct fb_table options;   /* its options, if has_options is set */
};

/* One subgraph of a file. */
struct tfl_model {
	struct fb b;               /* the bytes, and where messages go */
	struct tfl_tensor *tensors;
	int n_tensors;
	struct tfl_op *ops;
	int n_ops;
	struct fb_vec inputs, outputs;   /* int32 indices of tensors */
	int n_subgraphs;           /* of the file */
};

/*
 * Reads the first subgraph of a file of len bytes into *m. Returns 0, -EINVAL or -ENOMEM; after a
 * failure one line is in msg and nothing is left to free.
 */
WEFT_MUST_USE int tfl_read(struct tfl_model *m, const void *data, size_t len, char *msg, size_t msg_bytes);

/* Reads subgraph i of the file from which model `of` was read into *m. Returns as tfl_read(). */
WEFT_MUST_USE int tfl_read_subgraph(struct tfl_model *m, const struct tfl_model *of, uint32_t i);

/*
 * Reads the subgraph that the signature of that name names into *m, as tfl_read_subgraph(); its inputs
 * and outputs get the signature's names. -EINVAL also if the file has no such signature; the message
 * then lists those that it has.
 */
WEFT_MUST_USE int tfl_read_signature(struct tfl_model *m, const struct tfl_model *of, const char *name);
void tfl_release(struct tfl_model *m);              /* frees the lists, not the bytes */

#endif

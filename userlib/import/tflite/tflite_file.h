/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A TFLite file as plain structures, read and bounds-checked but not judged.
 *
 * Everything points into the file, which must outlive the model. Ranks, dims
 * and types are as the file states them; a tensor is judged when an operator
 * uses it, so odd tensors that nobody uses do no harm.
 */
#ifndef WEFT_IMPORT_TFLITE_FILE_H
#define WEFT_IMPORT_TFLITE_FILE_H

#include "userlib/import/fb.h"

/* More than any real network has; bounds memory for files that repeat one table. */
#define TFL_MAX_TENSORS   65536
#define TFL_MAX_OPERATORS 32768
#define TFL_MAX_RANK      6
#define TFL_MAX_PARTS     1024

struct tfl_tensor {
	size_t at;                 /* byte offset of its table */
	const char *name;          /* not terminated */
	uint32_t name_len;
	int type;                  /* enum tfl_type, or any other number */
	bool is_variable, is_sparse_or_custom;
	struct fb_vec shape;
	const int64_t *dim;        /* the shape of a constant found before the run, where the file leaves it open; or NULL */
	struct fb_vec signature;   /* the shape with -1 for extents that are known only when it runs; or empty */
	struct fb_vec scale;       /* float */
	struct fb_vec zero_point;  /* int64 */
	int quant_dim;
	const uint8_t *data;       /* NULL: computed, not constant */
	size_t data_len;
};

struct tfl_op {
	size_t at;
	int code;
	const char *custom;        /* of code CUSTOM; not terminated */
	uint32_t custom_len;
	struct fb_vec in, out;     /* int32 tensor indices */
	int options_type;
	bool has_options;
	struct fb_table options;
};

struct tfl_model {
	struct fb b;
	struct tfl_tensor *tensors;
	int n_tensors;
	struct tfl_op *ops;
	int n_ops;
	struct fb_vec inputs, outputs;
};

/*
 * Read the model. Returns 0, -EINVAL, -ENOTSUP or -ENOMEM with one line in msg;
 * on failure nothing is left to free.
 */
int tfl_read(struct tfl_model *m, const void *data, size_t len, char *msg, size_t msg_bytes);

/* Another subgraph of the file that of was read from; tfl_read() reads the first. */
int tfl_read_subgraph(struct tfl_model *m, const struct tfl_model *of, uint32_t i);
void tfl_release(struct tfl_model *m);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A TOSA file as plain structures, read and bounds-checked but not judged.
 *
 * Everything points into the file, which must outlive the structures. All
 * blocks of all regions stand in one list, and so do their tensors, shapes and
 * operators; a block says which are its own.
 */
#ifndef WEFT_IMPORT_TOSA_FILE_H
#define WEFT_IMPORT_TOSA_FILE_H

#include "userlib/import/fb.h"

/* More than any real network has; bounds memory and time for files that repeat one table. */
#define TOSA_MAX_REGIONS   4096
#define TOSA_MAX_BLOCKS    4096
#define TOSA_MAX_TENSORS   65536
#define TOSA_MAX_OPERATORS 32768
#define TOSA_MAX_NAMES     (1 << 17)  /* operands and results of all operators, ports of all blocks */
#define TOSA_MAX_NAME      1024       /* bytes of a name */
#define TOSA_NAME_SHOWN    48

/* A name for "%.*s". */
#define TOSA_SHOWN(name)   (int)((name).n < TOSA_NAME_SHOWN ? (name).n : TOSA_NAME_SHOWN), (name).p

struct tosa_name {
	const char *p;             /* not terminated */
	uint32_t n;
};

struct tosa_tensor {
	size_t at;                 /* byte offset of its table */
	struct tosa_name name, variable_name;
	int type;                  /* enum tosa_type, or any other number */
	bool variable, unranked;
	struct fb_vec shape;       /* int32 */
	const uint8_t *data;       /* NULL: computed, not constant */
	size_t data_len;
};

struct tosa_shape {
	size_t at;
	struct tosa_name name;
	int64_t rank;
	struct fb_vec data;        /* int64 */
};

struct tosa_op {
	size_t at;
	int64_t code;              /* enum tosa_code, or any other number */
	int attr_type;
	struct fb_table attr;      /* without fields if absent */
	struct fb_vec in, out;     /* strings */
};

struct tosa_block {
	size_t at;
	struct tosa_name name;
	int tensor, n_tensors, shape, n_shapes, op, n_ops;   /* first of its own, count */
	struct fb_vec in, out;     /* strings */
};

struct tosa_region {
	struct tosa_name name;
	int block, n_blocks;
};

struct tosa_file {
	struct fb b;
	struct tosa_region *regions; int n_regions;
	struct tosa_block *blocks;   int n_blocks;
	struct tosa_tensor *tensors; int n_tensors;
	struct tosa_shape *shapes;   int n_shapes;
	struct tosa_op *ops;         int n_ops;
};

/*
 * Read the file. Returns 0, -EINVAL, -ENOTSUP (another version) or -ENOMEM with
 * one line in msg; on failure nothing is left to free.
 */
int tosa_read(struct tosa_file *f, const void *data, size_t len, char *msg, size_t msg_bytes);
void tosa_release(struct tosa_file *f);

/* String i of a vector of strings that tosa_read() has gone through. */
struct tosa_name tosa_string(const struct tosa_file *f, const struct fb_vec *v, uint32_t i);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A TOSA file as plain structures. Every offset and length has been checked to
 * lie in the file; what types, shapes and operators mean has not been judged.
 *
 * Names, shapes and data point into the file, which has to outlive the
 * structures. All blocks of all regions stand in one list, and so do their
 * tensors, shapes and operators; a block says which are its own.
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
#define TOSA_NAME_SHOWN    48         /* bytes of a name that messages show */

/* The two arguments of "%.*s" that show a name in a message. */
#define TOSA_SHOWN(name)   (int)((name).n < TOSA_NAME_SHOWN ? (name).n : TOSA_NAME_SHOWN), (name).p

struct tosa_name {
	const char *p;             /* in the file; not terminated */
	uint32_t n;                /* bytes */
};

/* `at` is the byte offset of the object's table in the file, here and below. */
struct tosa_tensor {
	size_t at;
	struct tosa_name name, variable_name;
	int type;                  /* enum tosa_type; 0 if the file has any other number */
	bool variable, unranked;
	struct fb_vec shape;       /* dimensions, int32 */
	const uint8_t *data;       /* the constant's or variable's bytes; NULL if the file has none */
	size_t data_len;           /* bytes of data */
};

struct tosa_shape {
	size_t at;
	struct tosa_name name;
	int64_t rank;              /* number of values */
	struct fb_vec data;        /* the values, int64; empty if the shape is an input */
};

struct tosa_op {
	size_t at;
	int64_t code;              /* enum tosa_code, or any other number */
	int attr_type;             /* kind of its attribute table: the code, or 0 if it has none */
	struct fb_table attr;      /* its attribute table; a table without fields if it has none */
	struct fb_vec in, out;     /* names of operands and results, strings */
};

struct tosa_block {
	size_t at;
	struct tosa_name name;
	int tensor, n_tensors, shape, n_shapes, op, n_ops;   /* the first of its own in each list, and how many follow */
	struct fb_vec in, out;     /* names of inputs and outputs, strings */
};

struct tosa_region {
	struct tosa_name name;
	int block, n_blocks;       /* its first block in the list, and how many follow */
};

struct tosa_file {
	struct fb b;               /* the bytes, and where messages go */
	struct tosa_region *regions; int n_regions;
	struct tosa_block *blocks;   int n_blocks;
	struct tosa_tensor *tensors; int n_tensors;
	struct tosa_shape *shapes;   int n_shapes;
	struct tosa_op *ops;         int n_ops;
};

/*
 * Reads the len bytes of a file into *f. Returns 0, -EINVAL if the file is broken, -ENOTSUP if its
 * version is not 1.0, or -ENOMEM. After a failure one line is in msg and nothing is left to free.
 */
WEFT_MUST_USE int tosa_read(struct tosa_file *f, const void *data, size_t len, char *msg, size_t msg_bytes);
void tosa_release(struct tosa_file *f);             /* frees the lists, not the bytes */

/* Returns string i of a vector of strings that tosa_read() has checked; it points into the file. */
struct tosa_name tosa_string(const struct tosa_file *f, const struct fb_vec *v, uint32_t i);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A TOSA file before it is bytes: blocks of tensors, shapes and operators that
 * refer to each other by name.
 */
#ifndef WEFT_EXPORT_TOSA_OUT_H
#define WEFT_EXPORT_TOSA_OUT_H

#include "../graph/graph.h"
#include "userlib/import/tosa/tosa_ids.h"
#include "fb_write.h"

struct xtensor {
	char *name;                /* owned */
	int type;                  /* enum tosa_type */
	int rank;
	int32_t dim[WEFT_MAX_RANK];
	uint8_t *data;             /* elements as the file holds them, owned; NULL if the tensor is not constant */
	size_t data_len;           /* bytes of data */
	bool variable;             /* the tensor stands for a variable of the network */
};

struct xshape {
	char *name;                /* owned */
	int n;                     /* number of values */
	bool known;                /* false: the shape is an input and has no values */
	int64_t v[2 * WEFT_MAX_RANK];   /* the values */
};

/* A field of an attribute table. */
struct xfield {
	int id;                    /* the field's number in the table */
	enum { X_BOOL, X_I32, X_LIST, X_BYTES } kind;
	int64_t value;             /* the number of X_BOOL and X_I32 */
	int n;                     /* number of elements of X_LIST and X_BYTES */
	int32_t list[6];           /* elements of X_LIST */
	uint8_t *bytes;            /* elements of X_BYTES, owned */
};

struct xop {
	int code;                  /* enum tosa_code */
	struct xfield field[6];    /* its attribute table */
	int n_fields;
	char **in, **out;          /* names of operands and results, owned */
	int n_in, n_out;
};

struct xblock {
	char *name;                /* owned */
	struct xtensor *tensors; int n_tensors, cap_tensors;
	struct xshape *shapes;   int n_shapes, cap_shapes;
	struct xop *ops;         int n_ops, cap_ops;
	char **in, **out;        int n_in, n_out;   /* names of the block's inputs and outputs, owned */
};

/* The network that is being written. */
struct xout {
	const weft_graph *outer;   /* the network's outermost graph */
	struct xblock *blocks; int n_blocks;   /* the outermost graph's block, then one for each sub-graph */
	bool strict;               /* refuse operators that would be written as CUSTOM */
	int n_custom;              /* number of operators written as CUSTOM */
	char *custom, *msg;        /* WEFT_MSG bytes each: names of operators written as CUSTOM; a line after a failure */
	/* the graph at hand */
	const weft_graph *g;
	struct xblock *b;          /* the block that the graph becomes */
	char **names;              /* the name of each tensor of g in the file; NULL: no operator or port uses it */
	int n_aux;                 /* how many names "weft.<number>" have been made up so far */
	bool clash;                /* some tensor of g has a name that begins with "weft." */
	int i_op;                  /* index of the operator at hand, or -1 */
};

/* Writes one line that names the operator at hand to x->msg. Returns err. */
int x_fail(struct xout *x, int err, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- tosa_out.c: each adds a part to the block or operator; int: 0 or -ENOMEM ---- */
/* Adds a tensor with a copy of t's data. */
WEFT_MUST_USE int x_tensor(struct xout *x, const char *name, const weft_tensor *t, bool variable);
WEFT_MUST_USE int x_shape(struct xout *x, const char *name, const int64_t *v, int n);   /* a shape; v NULL: it is an input */
WEFT_MUST_USE int x_op(struct xout *x, struct xop *o);            /* an operator; takes over what o owns, even on failure */
void x_drop(struct xop *o);                         /* frees what o owns */
WEFT_MUST_USE int x_in(struct xop *o, const char *name);          /* the next operand's name */
WEFT_MUST_USE int x_out(struct xop *o, const char *name);         /* the next result's name */
int x_number(struct xop *o, int id, int64_t v);     /* the attribute `id`, a number of 32 bits */
int x_flag(struct xop *o, int id, bool v);          /* the attribute `id`, a bool */
int x_list(struct xop *o, int id, const int32_t *v, int n);   /* the attribute `id`, n numbers of 32 bits */
WEFT_MUST_USE int x_bytes(struct xop *o, int id, const void *p, int n);     /* the attribute `id`, n bytes */
void x_release(struct xout *x);                     /* frees all blocks */

/* ---- tosa_op.c: one operator of the graph at hand; the first three return 0 or a negative errno ---- */
WEFT_MUST_USE int x_convert_op(struct xout *x);                   /* converts the operator at hand and appends it to the block */
WEFT_MUST_USE int x_const(struct xout *x, const char *name, const weft_tensor *t);   /* a constant tensor and its CONST */
/* Adds a constant shape and its CONST_SHAPE. */
WEFT_MUST_USE int x_const_shape(struct xout *x, const char *name, const int64_t *v, int n);
void x_new_name(struct xout *x, char *name, size_t len);          /* a name "weft.<number>" that nothing in the block has */
int x_file_type(weft_dtype t);                      /* the type's code in the file; 0: TOSA has no such type */

/* ---- tosa_variable.c; int: 0 or -ENOMEM ---- */
WEFT_MUST_USE int x_variables(struct xout *x);      /* adds the network's variables to the block at hand */
WEFT_MUST_USE int x_move_variable(struct xout *x);  /* converts the VARIABLE_READ or VARIABLE_WRITE at hand */

/* ---- tosa.c ---- */
/* Turns x->outer and its sub-graphs into blocks. Returns 0 or a negative errno with one line in msg. */
WEFT_MUST_USE int x_convert(struct xout *x);

/* ---- tosa_bytes.c ---- */
/*
 * Writes all blocks as the bytes of a file into w. Returns 0, or -1 if memory ran out or the file is too
 * long.
 */
int x_write(const struct xout *x, struct fbw *w);

#endif

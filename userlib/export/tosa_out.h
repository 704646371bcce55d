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
	char *name;
	int type;                  /* enum tosa_type */
	int rank;
	int32_t dim[WEFT_MAX_RANK];
	uint8_t *data;             /* packed, or NULL */
	size_t data_len;
	bool variable;
};

struct xshape {
	char *name;
	int n;
	bool known;                /* else an input, without values */
	int64_t v[2 * WEFT_MAX_RANK];
};

/* A field of an attribute table. */
struct xfield {
	int id;
	enum { X_BOOL, X_I32, X_LIST, X_BYTES } kind;
	int64_t value;             /* X_BOOL, X_I32 */
	int n;                     /* elements of the others */
	int32_t list[6];
	uint8_t *bytes;            /* owned */
};

struct xop {
	int code;                  /* enum tosa_code */
	struct xfield field[6];
	int n_fields;
	char **in, **out;          /* names, owned */
	int n_in, n_out;
};

struct xblock {
	char *name;
	struct xtensor *tensors; int n_tensors, cap_tensors;
	struct xshape *shapes;   int n_shapes, cap_shapes;
	struct xop *ops;         int n_ops, cap_ops;
	char **in, **out;        int n_in, n_out;
};

/* The network under way. */
struct xout {
	const weft_graph *outer;
	struct xblock *blocks; int n_blocks;
	bool strict;
	int n_custom;
	char *custom, *msg;
	/* the graph at hand */
	const weft_graph *g;
	struct xblock *b;
	char **names;              /* per tensor of g; NULL: not used. Owned by x_block() */
	int n_aux;                 /* names made up so far: "weft.<number>" */
	bool clash;                /* some tensor of g has such a name */
	int i_op;                  /* operator at hand, or -1 */
};

/* One line naming the operator at hand; returns err. */
int x_fail(struct xout *x, int err, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- tosa_out.c: putting parts in; 0 or -ENOMEM ---- */
int x_tensor(struct xout *x, const char *name, const weft_tensor *t, bool variable);  /* with t's data, if any */
int x_shape(struct xout *x, const char *name, const int64_t *v, int n);
int x_op(struct xout *x, struct xop *o);            /* takes over what o holds, also if the call fails */
void x_drop(struct xop *o);                         /* or frees it */
int x_in(struct xop *o, const char *name);
int x_out(struct xop *o, const char *name);
int x_number(struct xop *o, int id, int64_t v);
int x_flag(struct xop *o, int id, bool v);
int x_list(struct xop *o, int id, const int32_t *v, int n);
int x_bytes(struct xop *o, int id, const void *p, int n);
void x_release(struct xout *x);

/* ---- tosa_op.c: one operator of the graph at hand ---- */
int x_convert_op(struct xout *x);
int x_const(struct xout *x, const char *name, const weft_tensor *t);   /* tensor and CONST */
int x_const_shape(struct xout *x, const char *name, const int64_t *v, int n);
int x_file_type(weft_dtype t);                                         /* 0: TOSA has none */

/* ---- tosa.c: all graphs of x->outer into blocks; 0 or a negative errno with one line in msg ---- */
int x_convert(struct xout *x);

/* ---- tosa_bytes.c ---- */
int x_write(const struct xout *x, struct fbw *w);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files that turn TOSA blocks into graphs share.
 *
 * Functions that return int give an index or 0, or a negative errno after
 * writing one line into msg.
 */
#ifndef WEFT_IMPORT_TOSA_LOWER_H
#define WEFT_IMPORT_TOSA_LOWER_H

#include "userlib/graph/graph.h"
#include "tosa_file.h"
#include "tosa_ids.h"

/* A name of a block and what it means. Sorted by hash, then bytes. */
struct tosa_entry {
	uint64_t hash;
	struct tosa_name name;
	bool is_shape;
	int index;                 /* of the tensor or shape in the file */
};

struct tosa_names {
	struct tosa_entry *e;
	int n;
};

/* The block under way. */
struct tosa_scope {
	int block;
	struct tosa_names names;
	weft_graph *g;
	bool retyped;              /* a CUSTOM said a type that TOSA has not */
};

struct tosa_lower {
	struct tosa_file f;
	char *msg;
	int64_t room;              /* bytes that graphs may still take */
	int64_t activations;       /* bytes of values that may still be declared */
	weft_graph *outer;         /* owns sub-graphs and variables */
	struct tosa_names consts;  /* constants of all blocks: what a block may use of others */
	struct tosa_names blocks;  /* blocks, then regions: index n_blocks + region */
	int *gt;                   /* per file tensor: its tensor in its block's graph, or -1 */
	int *maker;                /* per file tensor: the file operator that gives it, -1 none */
	int *var;                  /* per file tensor: its variable, or -1 */
	int *gshape;               /* per file shape: the tensor in its block's graph, of the block's input, or -1 */
	int *sub;                  /* per block: index of its sub-graph, SUB_NONE or SUB_OPEN */
	int nesting;               /* sub-graphs open at the moment */

	struct tosa_scope s;
	/* the operator at hand */
	const struct tosa_op *op;  /* NULL outside operators */
	int i_op;                  /* within its block */
	bool dynamic;              /* an argument of it is not constant: EXT-DYNAMIC */
	int src;
	int in[WEFT_OP_MAX_INPUTS];        /* file tensors or -1 - shapes, by operand */
};

#define TOSA_SUB_NONE (-1)
#define TOSA_SUB_OPEN (-2)
#define TOSA_MAX_RANK 6

/* What the format says of an operator. */
struct tosa_info {
	weft_opcode op;
	signed char in_min, in_max;  /* operands in the file */
	signed char n_data;          /* of them, those that stay operands; the rest are attributes. -1: all */
	signed char n_out;           /* -1: any count */
	bool bare;                   /* its attribute table has no fields and may be absent */
};
extern const struct tosa_info tosa_infos[TOSA_N_CODES];

/* One line "block x operator 3 ADD: ..."; returns err. */
int tosa_fail(struct tosa_lower *l, int err, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- tosa_names.c ---- */
int tosa_index_block(struct tosa_lower *l, int block, struct tosa_names *n);
int tosa_index_consts(struct tosa_lower *l);
int tosa_index_blocks(struct tosa_lower *l);
const struct tosa_entry *tosa_find(const struct tosa_names *n, struct tosa_name name);
/* What a name means here: a file tensor, or -1 - shape. */
int tosa_lookup(struct tosa_lower *l, struct tosa_name name, int *what);

/* ---- tosa_const.c ---- */
weft_dtype tosa_dtype(int type);                                  /* 0: none */
int tosa_declared(struct tosa_lower *l, int tensor, weft_tensor *t);  /* type and shape, judged; no data */
int tosa_const(struct tosa_lower *l, int tensor, weft_tensor *t);     /* with data from malloc */
/* A shape that is given when the network runs: the input's tensor, else -1. */
int tosa_shape_input(const struct tosa_lower *l, int shape);
double tosa_to_double(weft_dtype t, const void *p);

/* ---- tosa_rows.c ---- */
/* Types of data operands and results are a row of the operator's table. acc 0: the operator has none. */
int tosa_check_types(struct tosa_lower *l, const weft_tensor *x, int n_x, const weft_tensor *y, int n_y, weft_dtype acc,
                     weft_resize_mode mode);

/* ---- tosa_attr.c ---- */
int tosa_attr(struct tosa_lower *l, const weft_tensor *x, const weft_tensor *y, weft_attr *a);

/* ---- tosa_custom.c ---- */
int tosa_custom_known(struct tosa_lower *l);                      /* 0: one of ours; else refused by its name */
/* Its opcode, the types of operands then results, its attributes. */
int tosa_custom(struct tosa_lower *l, weft_opcode *op, weft_dtype *types, weft_attr *a);

/* ---- tosa_signs.c ---- */
void tosa_spread_signs(weft_graph *g);                            /* of a block, all operators there */

/* ---- tosa_block.c ---- */
int tosa_block(struct tosa_lower *l, int block);                  /* outermost */
int tosa_sub(struct tosa_lower *l, struct tosa_name name, struct weft_graph **sub);
int tosa_value(struct tosa_lower *l, int tensor);                 /* graph tensor of a file tensor */

#endif

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

/*
 * An entry of a table of names. Tables are sorted by hash, then by length, then by bytes. A file
 * tensor, file shape or file operator below is one of the lists in struct tosa_file, by its index.
 */
struct tosa_entry {
	uint64_t hash;             /* of the name */
	struct tosa_name name;
	bool is_shape;             /* the name means a shape, not a tensor */
	int index;                 /* of the file tensor, file shape, or block that has the name */
};

struct tosa_names {
	struct tosa_entry *e;
	int n;
};

/* The block that is being imported. */
struct tosa_scope {
	int block;                 /* its index in the file */
	struct tosa_names names;   /* its own tensors and shapes */
	weft_graph *g;             /* the graph that it becomes */
	bool retyped;              /* a CUSTOM has stated a type that TOSA does not have */
};

struct tosa_lower {
	struct tosa_file f;
	char *msg;                 /* WEFT_MSG bytes: one line after a failure */
	int64_t room;              /* bytes that graphs may still take */
	int64_t activations;       /* bytes of computed values that may still be declared */
	weft_graph *outer;         /* the network; owns sub-graphs and variables */
	struct tosa_names consts;  /* constants, variables and shapes of all blocks: what a block may use of others */
	struct tosa_names blocks;  /* blocks, with their index, and regions, with n_blocks + their index */
	int *gt;                   /* for each file tensor: its tensor in its block's graph, or -1 */
	int *maker;                /* for each file tensor: index within its block of the operator that gives it, or -1 */
	int *var;                  /* for each file tensor: its variable's index, or -1 */
	int *gshape;               /* for each file shape that is an input: the tensor in its block's graph; else -1 */
	int *sub;                  /* for each block: index of its sub-graph, TOSA_SUB_NONE or TOSA_SUB_OPEN */
	int nesting;               /* number of sub-graphs that are being imported at the moment */

	struct tosa_scope s;
	/* the operator at hand */
	const struct tosa_op *op;  /* NULL outside operators */
	int i_op;                  /* its index within its block */
	bool dynamic;              /* one of its compile-time arguments is not constant (EXT-DYNAMIC) */
	int src;                   /* its record in the graph */
	int in[WEFT_OP_MAX_INPUTS];        /* for each operand: the file tensor, or -1 minus the file shape */
};

#define TOSA_SUB_NONE (-1)   /* the block has not been imported as a sub-graph */
#define TOSA_SUB_OPEN (-2)   /* the block is being imported at the moment */
#define TOSA_MAX_RANK 6

/* What the format says of an operator. */
struct tosa_info {
	weft_opcode op;
	signed char in_min, in_max;  /* least and largest number of operands in the file */
	signed char n_data;          /* how many of them stay operands in the graph; the rest are attributes. -1: all */
	signed char n_out;           /* number of results; -1: any */
	bool bare;                   /* its attribute table has no fields and may be absent */
};
extern const struct tosa_info tosa_infos[TOSA_N_CODES];

/* Writes one line such as "block x operator 3 ADD: ..." to l->msg. Returns err. */
int tosa_fail(struct tosa_lower *l, int err, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- tosa_names.c ---- */
WEFT_MUST_USE int tosa_index_block(struct tosa_lower *l, int block, struct tosa_names *n);   /* fills *n with a block's own names */
WEFT_MUST_USE int tosa_index_consts(struct tosa_lower *l);                                   /* fills l->consts */
WEFT_MUST_USE int tosa_index_blocks(struct tosa_lower *l);                                   /* fills l->blocks */
/* Returns the entry with that name, or NULL if there is none. */
const struct tosa_entry *tosa_find(const struct tosa_names *n, struct tosa_name name);
/* Sets *what to what a name means in the block at hand: a file tensor, or -1 minus a file shape. */
WEFT_MUST_USE int tosa_lookup(struct tosa_lower *l, struct tosa_name name, int *what);

/* ---- tosa_const.c ---- */
/* Returns the graph's type for the file's, or 0 if there is none. */
weft_dtype tosa_dtype(int type);
/* Sets *t to type and shape, checked, without data. */
WEFT_MUST_USE int tosa_declared(struct tosa_lower *l, int tensor, weft_tensor *t);
/* Sets *t to type, shape and data, from malloc. */
WEFT_MUST_USE int tosa_const(struct tosa_lower *l, int tensor, weft_tensor *t);
/* Returns the graph's tensor of a file shape that is an input of the block at hand, or -1 if it is none. */
int tosa_shape_input(const struct tosa_lower *l, int shape);
double tosa_to_double(weft_dtype t, const void *p);               /* the value of the float of type t at p */

/* ---- tosa_rows.c ---- */
/*
 * Checks that the types of data operands x and results y are a row of the table of the operator at
 * hand. acc is the accumulator's type, 0 if the operator has none; mode counts for RESIZE only.
 */
WEFT_MUST_USE int tosa_check_types(struct tosa_lower *l, const weft_tensor *x, int n_x, const weft_tensor *y, int n_y, weft_dtype acc,
                     weft_resize_mode mode);

/* ---- tosa_attr.c ---- */
/*
 * Sets *a to the attributes of the operator at hand, whose data operands and first result have types and
 * shapes x and y.
 */
WEFT_MUST_USE int tosa_attr(struct tosa_lower *l, const weft_tensor *x, const weft_tensor *y, weft_attr *a);

/* ---- tosa_custom.c ---- */
/* Returns 0 if the CUSTOM at hand is one of ours, else -ENOTSUP. */
WEFT_MUST_USE int tosa_custom_known(struct tosa_lower *l);
/* Reads the CUSTOM at hand: its opcode, the types of its operands and then of its results, its attributes. */
WEFT_MUST_USE int tosa_custom(struct tosa_lower *l, weft_opcode *op, weft_dtype *types, weft_attr *a);

/* ---- tosa_signs.c ---- */
/* Carries types that CUSTOM operators have stated through the operators of g that only move elements. */
void tosa_spread_signs(weft_graph *g);

/* ---- tosa_block.c ---- */
WEFT_MUST_USE int tosa_block(struct tosa_lower *l, int block);                  /* imports a block into l->s.g */
/* Sets *sub to the sub-graph of that block. */
WEFT_MUST_USE int tosa_sub(struct tosa_lower *l, struct tosa_name name, struct weft_graph **sub);
WEFT_MUST_USE int tosa_value(struct tosa_lower *l, int tensor);                 /* the graph's tensor of a file tensor */

#endif

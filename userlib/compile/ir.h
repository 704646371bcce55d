/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the passes hand to each other. One struct cc lives for one compilation.
 *
 * Order: fold (aliases) -> match (nodes) -> pairs (pixels side by side) -> strips
 * (copies before convolutions) -> shape (rows of pixels) -> order (steps) -> layout (constants)
 * -> per NPU step: place (what stays on chip), tile, emit (commands with their
 * byte ranges), hazard, sched (order and waits, words) -> dram (arena).
 */
#ifndef WEFT_COMPILE_IR_H
#define WEFT_COMPILE_IR_H

#include <limits.h>

#include <weft/dev.h>
#include <weft/gen/cmd.h>
#include <weft/gen/config.h>

#include "program.h"

/*
 * Where the elements of a tensor lie in the storage of its root tensor, which
 * is dense row-major. Only tensors of types that the device has have views.
 */
struct view {
	int root;              /* tensor */
	int64_t off;           /* bytes before element (0,0,0,0) */
	int64_t dim[4];        /* n, y, x, c */
	int64_t step[4];       /* bytes; step[3] is an element's */
};

enum node_kind {
	NODE_CONV,             /* array */
	NODE_DW,               /* depthwise engine */
	NODE_DWCONV,           /* depthwise on the array, block diagonal */
	NODE_POOL,
	NODE_ELT,
	NODE_LOOP_NEST,              /* a loop nest, see loop_nest.h */
};

/* What RESCALE makes of ties: half up, double rounding, ties to even. */
enum round { ROUND_UP, ROUND_TWICE, ROUND_EVEN };

/* multiplier and shift of one RESCALE */
struct scale {
	uint32_t mul;
	int32_t shift;
	enum round round;
};

/*
 * Where a convolution's weights lie in their tensor, in elements: output channel,
 * kernel row, kernel column, input channel, which is kd * n_ic + ic.
 */
struct wview {
	bool on;               /* else [oc][ky][kx][ic] */
	bool none;             /* none at all: only biases */
	int64_t off, oc, ky, kx, kd, ic, n_ic;
};

#define WEIGHTS_ONE INT_MAX    /* float8 weights that are all 1 */
#define NO_PRODUCT  0x80       /* float8 weight that makes no product: E4M3FN, E5M2 */

/* One NPU operation: a group of graph operators. */
struct node {
	enum node_kind kind;
	int op, last;          /* the operator that names it; the one whose output it writes */
	int y_tensor;          /* that output, for debug records */
	struct view x, r, y;   /* input, second addend (add), output */
	struct view dbg;       /* the output in y_tensor's own elements */
	struct views { struct view x, r, y, dbg; } own, flat;   /* the same before and after flatten_rows.c; with
	                        * its own rows, or as one long row where that is possible */
	int x_t, r_t;          /* tensors that x and r are views of; r_t -1 without add */
	bool add;              /* there is a second operand r */
	bool sub;              /* which is subtracted; ELT: */
	bool table, product;   /* which is the 256 bytes that x chooses from, for every pixel; a factor */
	int nest;              /* ALU: index of its loop nest; x, r, y and z then only name storages */
	bool third;            /* it has a third operand, in storage z.root, */
	struct view z;
	int z_t;               /* or from this tensor. -1 here and in x_t: storage of a node of the same operator */
	int mode;              /* arithmetic of its command */
	int before;            /* a helper's: 1 + the node that it must precede; 0 */
	bool split_columns;       /* rows and columns are exchanged: cut along columns */

	int kh, kw, sy, sx, dy, dx, pt, pl;   /* kernel, stride, dilation, padding before */
	bool transposed;           /* DW: its commands have rows and columns exchanged */
	int pixel_group;             /* CONV: pixels that are one, pixel_groups.c; 0 or 1: none */
	int m;                 /* DWCONV: channel multiplier */
	int x_zp, w_zp;
	int w, bias;           /* constant tensors, or -1; w: or WEIGHTS_ONE */
	struct wview wv;
	bool w_computed, rec_computed;   /* weights, and records too, lie in z: records of all tiles, weights */
	bool w_int4;           /* two weights a byte in memory, widened as they are loaded */
	bool raw;              /* CONV, DW*: sums as they are */
	bool part;             /* one of several nodes of its operator, or with input of its own */
	int scale_mul, scale_shift;   /* CONV, DW*: constant tensors of the RESCALE */
	bool scale16;          /* sums of 48 bits by 16-bit multipliers */
	bool sum, average;     /* POOL: sum, and divided by the taps in the image */
	enum round round;      /* of the first stage */
	int y_zp, y_min, y_max;
	int pre_shift, a_zp, b_zp, s_zp, s_min, s_max;
	struct scale a, b, s;
	int x_fmt, w_fmt, b_fmt, out_fmt, log2_scale;   /* mode 2; limits are patterns of fp16 there */
	int scale_t;           /* 1 + the tensor that holds log2_scale, known when it runs; 0: log2_scale */
	int w_late;            /* 1 + the root into which the host packs the weights when it runs; 0: consts */
	bool saturate, w_finite;

	/* pack_weights.c */
	uint64_t blob;         /* offset in consts: records of all tiles, then the weights */
	int64_t n_tiles;       /* column tiles, or channel blocks */
	int64_t tile_bytes;    /* weights of one */
	int64_t rec_bytes;     /* records of all */
	bool joined;           /* CONV: kx and channels are one run */
	bool w_by_tap;         /* CONV with one input channel, or of a matrix: weights lie as a depthwise's */
	int64_t run_len;       /* CONV, DWCONV: elements of one run (DWCONV: the longest) */
	int64_t n_runs;        /* runs of one output */
	int64_t chunks;        /* of one run */

	uint64_t macs;
	uint64_t done[WEFT_N_MEMORIES];   /* cycle of the step in which it should be, by memory */
	uint64_t halves[WEFT_N_MEMORIES]; /* half cycles that count for it */
	int stripes;           /* 1 + operator that leads the nodes which run in stripes with this one, 0 none */
};

enum op_state { OP_TODO = 0, OP_NONE, OP_ALIAS, OP_NODE, OP_HOST };

struct cop {
	enum op_state state;
	int node;              /* OP_NODE */
	bool forbidden;        /* tried before and found not to be expressible; reason says why */
	char *reason;          /* owned until moved into the program */
};

struct cten {                  /* tensors of the graph, then storages that passes have added */
	struct view v;         /* root -1: of a type that the device does not know */
	bool pinned;           /* root: a loop nest takes it as it is, so it cannot become part of another */
	int64_t bytes;         /* of the storage, where it is a root */
	int first_use, n_uses; /* range in cc.uses: operators that read it */
	bool host_reads, npu_reads, npu_writes;   /* of any member of the class, at the root */
	int src_item, last_item;   /* root: items (cc.items) that first write and last read it; src -1: from the start */
	bool in_dram;          /* root: needs a place in the arena */
	bool in_const;         /* root: constant data, packed at offset */
	uint64_t offset;       /* in the arena or in consts */
};

/* Execution order. */
struct item {
	bool host;
	int index;             /* node or operator */
	int step;
};

struct blob { uint8_t *p; uint64_t n, cap; };

struct loop_nest;

/* Byte ranges that a command touches: n of them, step apart. */
enum space { SPACE_SP, SPACE_ARENA };
struct access {
	uint8_t space;         /* enum space */
	bool write;
	uint32_t n;
	uint64_t lo, hi;       /* the first: [lo, hi) */
	uint64_t step;
	/* SPACE_SP: */
	uint8_t port;          /* enum port */
	uint8_t banks;         /* enum banks */
	uint8_t one;           /* BANKS_BOTH: of 16 accesses, so many lie in one word */
	uint32_t count;        /* accesses of the whole command; 0: too few to count */
};

/* Of its region's two banks, an access takes one and the next one the other; one, the next ones the same;
 * both, where it lies across words: BANKS_BOTH + n where of 16 n do not. */
enum banks { BANKS_ALTERNATE, BANKS_SAME, BANKS_BOTH };

/* What a command does in the scratchpad: writes results or what it loads; reads x, weights, the second addend,
 * parameters (the vector engine: with the weights). */
enum port { PORT_WRITE, PORT_X, PORT_W, PORT_R, PORT_P, N_PORTS };

#define CMD_MAX_ACCESSES 8

struct cmd {
	struct weft_cmd c;
	int unit;
	int node;
	uint32_t cost;         /* cycles for which it occupies its unit, at least 1 */
	uint32_t slow;         /* the same where the memory is slow; 0: no different */
	uint32_t latency;      /* cycles from then to its retirement; DMA: beside the memory's */
	uint32_t rows;         /* rows that pass the post unit, counted for each pass */
	bool multi_pass;           /* rows of more than one pass: all but the first wait for others' rows */
	uint32_t wait[WEFT_N_UNITS];   /* retired commands of each unit that it needs */
	uint32_t first_load, n_loads;  /* hazards.c: loads that it needs, in the list of them */
	uint32_t first_rec, n_recs;
	int n_acc;
	struct access acc[CMD_MAX_ACCESSES];
};

struct cmds {
	struct cmd *p; uint32_t n, cap;
	struct cmd *spare; uint32_t cap_spare;   /* load_order.c */
	struct weft_prec *rec; uint32_t n_rec, cap_rec;
};

struct cc {
	const weft_graph *g;
	const struct weft_config *cfg;
	const struct weft_compile_options *o;
	weft_program *p;
	char *msg;
	int64_t n;             /* cfg->n */
	int64_t sp_bytes;      /* usable */
	bool has_alu, has_raw, has_int4, has_even, has_table, has_sub, has_mul, has_dwk;

	struct cop *ops;
	struct cten *ten;      int n_roots; uint32_t cap_roots;
	int *uses;             /* operators, grouped by tensor */
	struct node *nodes;    int n_nodes; uint32_t cap_nodes;
	struct loop_nest *nests;  int n_nests; uint32_t cap_nests;
	struct item *items;    int n_items;
	struct blob consts;
	uint32_t cap_cmds, cap_words, cap_scales;   /* of the program's arrays */
	int bad_node;          /* set with -ERANGE: this node cannot be expressed */
	const char *bad_why;
};

/* Has an operator arguments that come as the network runs (EXT-DYNAMIC)? Then its attributes say nothing. */
static inline bool is_dynamic(const struct weft_gop *o)
{
	return o->n_in && o->n_in == weft_op_n_dynamic(o->op);
}

/* ir.c: room for one more in the array that the pointer at `array` points to; doubles. 0 or -ENOMEM */
int cc_grow(void *array, uint32_t n, uint32_t *cap, size_t elem);
int blob_reserve(struct blob *b, uint64_t bytes, uint64_t align, uint64_t *off);
/* A storage of no tensor; its index or -ENOMEM. */
int cc_new_root(struct cc *cc, int64_t bytes);
/* A node of windows of one pixel, in values of so many bytes; NULL: no memory. */
struct node *cc_new_node(struct cc *cc, enum node_kind kind, int64_t elem);

static inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static inline int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }
static inline int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }
/* How much of [a0, a1) lies in [b0, b1). */
static inline int64_t overlap64(int64_t a0, int64_t a1, int64_t b0, int64_t b1) { return max64(0, min64(a1, b1) - max64(a0, b0)); }

/* view.c */
void view_dims(const weft_tensor *t, int64_t dim[4]);
struct view view_dense(int root, const int64_t dim[4], int64_t elem_bytes);
bool view_is_dense(const struct view *v);
int64_t view_elements(const struct view *v);
static inline int64_t view_elem(const struct view *v) { return v->step[3]; }
static inline int64_t view_bytes(const struct view *v) { return view_elements(v) * v->step[3]; }
/* The same elements with other dimensions; v is dense and the counts agree. */
struct view view_reshape(const struct view *v, int64_t n, int64_t y, int64_t x, int64_t c);

/* fold_views.c */
int cc_fold_views(struct cc *cc);

/* match.c and its parts */
int cc_match(struct cc *cc);
int cc_reason(struct cc *cc, int op, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* node_order.c */
int cc_order_nodes(struct cc *cc);

/* pack_weights.c */
int cc_pack_weights(struct cc *cc);

/* im2col.c: convolutions of few channels, see there */
void cc_group_pixels(struct cc *cc);
int cc_im2col(struct cc *cc);

/* flatten_rows.c: dense 1x1 convolutions and elementwise nodes become one row of pixels */
void cc_flatten_rows(struct cc *cc);

/* A depthwise node's commands have fields for the kernel: it is above 3x3, and each of its rows is read apart. */
static inline bool dw_by_row(const struct node *nd)
{
	return nd->kind == NODE_DW && (nd->kh > 3 || nd->kw > 3);
}

/* Rows and columns of the kernel in them; what it has not are taps without weight. */
static inline int64_t dw_rows(const struct node *nd)
{
	return !dw_by_row(nd) ? 3 : nd->transposed ? nd->kw : nd->kh;
}

static inline int64_t dw_cols(const struct node *nd)
{
	return !dw_by_row(nd) ? 3 : max64(nd->transposed ? nd->kh : nd->kw, 3);
}

/* The graph's tensors that a node reads; -1: none, or a storage of no tensor. */
static inline void node_reads(const struct node *nd, int t[3])
{
	t[0] = nd->x_t;
	t[1] = nd->add ? nd->r_t : -1;
	t[2] = nd->third ? nd->z_t : -1;
}

/* node_order.c: notes what the nodes from `from` on read; is a result of operator o noted? */
void cc_need_operands(const struct cc *cc, int from, bool *needed);
bool cc_is_wanted(const struct weft_gop *o, const bool *needed);

/* program_tables.c: the program's tables */
int cc_program_tables(struct cc *cc);

/* arena.c: offsets in the arena */
int cc_place_arena(struct cc *cc);

#endif

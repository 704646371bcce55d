/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the stages of the compiler hand to each other. One struct cc lives for one
 * attempt to compile a graph.
 *
 * The stages run in the order of run_passes() (compile.c): views, nodes, pixel
 * groups, im2col, long rows, the order of nodes, packed weights, steps, and then
 * for every NPU step its plan and its commands. README.md draws them.
 */
#ifndef WEFT_COMPILE_IR_H
#define WEFT_COMPILE_IR_H

#include <limits.h>

#include <weft/dev.h>
#include <weft/gen/cmd.h>
#include <weft/gen/config.h>

#include "program.h"

/*
 * Where the elements of a tensor lie in the storage of its root tensor, which is
 * dense and row-major. Only tensors of types that the device has have views.
 */
struct view {
	int root;              /* tensor, or number of a storage that a stage has added; see struct cc */
	int64_t off;           /* bytes before element (0,0,0,0) */
	int64_t dim[4];        /* n, y, x, c */
	int64_t step[4];       /* bytes from one element to the next along each; step[3] is an element's size */
};

enum node_kind {
	NODE_CONV,             /* convolution on the array */
	NODE_DW,               /* depthwise convolution on the vector engine */
	NODE_DWCONV,           /* depthwise convolution on the array, with block diagonal weights */
	NODE_POOL,             /* pooling on the vector engine */
	NODE_ELT,              /* elementwise on the vector engine */
	NODE_LOOP_NEST,        /* a loop nest on the alu, see match/loop_nest.h */
};

/* What RESCALE makes of ties: half up; rounded twice (DOUBLE_ROUND); to even. */
enum round { ROUND_UP, ROUND_TWICE, ROUND_EVEN };

/* Multiplier and shift of one RESCALE. */
struct scale {
	uint32_t mul;
	int32_t shift;
	enum round round;
};

/*
 * Where a convolution's weights lie in their tensor, in elements: steps of the
 * output channel, the kernel row, the kernel column and the input channel. Input
 * channel c is at kd * (c / n_ic) + ic * (c % n_ic): CONV3D's depth joins the channels.
 */
struct wview {
	bool on;               /* false: the weights are dense, [oc][ky][kx][ic] */
	bool none;             /* there are no weights at all, only biases */
	int64_t off, oc, ky, kx, kd, ic, n_ic;
};

#define WEIGHTS_ONE INT_MAX    /* node_weights.w: weights that are all 1 and in no tensor; integers are scaled by post.a */
#define NO_PRODUCT  0x80       /* float8 weight that makes no product: E4M3FN, E5M2 */

/* Kernel, strides, dilation and padding of a window; one pixel for nodes without one. */
struct window {
	int kh, kw;            /* kernel */
	int sy, sx;            /* stride */
	int dy, dx;            /* dilation */
	int pt, pl;            /* padding above and to the left; negative where rows or columns are left out */
};

/* Weights and parameter records of a convolution of any kind (w >= 0). */
struct node_weights {
	int w;                 /* constant tensor, or WEIGHTS_ONE; -1: the node has no weights */
	int bias;              /* constant tensor, or -1 */
	int w_zp;              /* zero point of the weights */
	struct wview wv;       /* where they lie in their tensor */
	int turn_rows, turn_columns;   /* WEIGHTS_ONE: one weight of each output channel, which turns a matrix of so many rows and
	                        * columns, the elements of a window, on its side; 0: all are 1 */
	bool w_computed;       /* they are computed as the program runs, and lie packed in storage z.root */
	bool rec_computed;     /* w_computed: so are the records, which lie before them */
	bool w_int4;           /* two weights in a byte of memory, widened as they are loaded */
	int w_late;            /* 1 + the root into which the host packs the weights when the program runs; 0: the
	                        * weights are constants, or w_computed */
	bool w_finite;         /* float8: no weight is an infinity or NaN */
	int w_fmt;             /* float8: format of the weights, as in commands */
	int log2_scale;        /* float8: products are multiplied by 2 to this power, if scale_t is 0 */
	int scale_t;           /* 1 + the tensor that holds log2_scale when the program runs; 0: none */

	/* Set by pack_weights.c: */
	uint64_t blob;         /* offset in the constants of the records of all tiles, behind which the weights lie */
	uint64_t code;         /* loads may be coded: 1 + where in cc.units their units begin (code_weights.c); 0: they are plain */
	int64_t n_tiles;       /* number of column tiles of the array, or of blocks of N channels */
	int64_t tile_bytes;    /* bytes of the weights of one tile */
	bool short_recs;       /* records are those of 8 bytes (p_short of the commands) */
	int64_t tile_rec_bytes;       /* bytes of the records of one tile */
	int64_t rec_bytes;     /* bytes of the records of all tiles */
	bool joined;           /* kernel columns and channels are one run (CONV) */
	bool paired;           /* CONV: the array computes its column tiles in pairs, whose weights lie in turn (pairs of
	                        * cmd.conv) */
	bool by_tap;           /* weights lie tap by tap as depthwise ones do, though the kind is CONV: it has one
	                        * input channel */
	int64_t run_len;       /* elements of one run; DWCONV: of the longest run */
	int64_t n_runs;        /* number of runs that make one output */
	int64_t chunks;        /* number of chunks of N elements in one run */
};

/* What the post unit makes of a sum or an element, as in the command's group post (include/spec/cmd.toml). */
struct node_post {
	bool raw;              /* sums are written as they are, int32 or int48 (convolutions) */
	bool scale16;          /* sums of 48 bits are scaled by 16-bit multipliers (convolutions) */
	int scale_mul, scale_shift;   /* constant tensors of the RESCALE of a convolution */
	enum round round;      /* rounding of the first scaling */
	int y_zp, y_min, y_max;       /* zero point and limits of the output; float8: limits as bits of fp16 */
	int pre_shift, a_zp;   /* bits by which the value is shifted left, and its zero point: if there is a second operand,
	                        * and in pooling and elementwise nodes */
	int b_zp;              /* zero point of the second operand */
	int s_zp, s_min, s_max;       /* zero point and limits of the sum of value and second operand */
	struct scale a, b, s;  /* scales of the value, of the second operand and of their sum */
	int x_fmt, b_fmt, out_fmt;    /* float8: formats of input, second operand and output */
	bool saturate;         /* float8: values too large become the largest number, not infinity */
};

/* The four views of a node. */
struct views {
	struct view x;         /* input */
	struct view r;         /* second operand, where there is one */
	struct view y;         /* output */
	struct view dbg;       /* the output in the elements of y_tensor, for debug records */
};

/* One NPU operation: a group of graph operators that one kind of command computes. */
struct node {
	enum node_kind kind;
	int op;                /* the operator that names it */
	int last;              /* the operator whose output it writes */
	int y_tensor;          /* the tensor that it writes, for debug records; -1: an intermediate result, no tensor */
	struct view x, r, y, dbg;     /* the views in force: those of `own` or of `flat` */
	struct views own, flat;       /* with its own rows, and as one long row where that is possible (flatten_rows.c) */
	int x_t, r_t, z_t;     /* graph tensors that x, r and z are views of. -1: r or z is absent, or the storage
	                        * belongs to another node of the same operator */
	struct view z;         /* third operand: only its storage z.root counts */
	bool add;              /* there is a second operand r, whatever the node does with it */
	bool sub;              /* the second operand is subtracted */
	bool third;            /* there is a third operand z: of a loop nest, or computed weights */
	int mode;              /* arithmetic of its command (WEFT_POST_MODE) */
	int x_zp;              /* zero point of the input */
	int before;            /* 1 + the node that it must precede because both are parts of one operator; 0: none */
	bool split_columns;    /* rows and columns are exchanged (im2col.c), so jobs are ranges of columns */
	bool joined_rows;      /* a convolution whose kernel rows join_rows.c has joined, or a copy for it */

	struct window win;
	struct node_weights wt;
	struct node_post post;
	union {                /* by kind */
		struct {           /* CONV, DW, DWCONV */
			int m;             /* DWCONV: output channels for each input channel */
			bool transposed;   /* DW: its commands have rows and columns exchanged */
			bool table;        /* DW: r is a table of 256 bytes in which x is looked up, the same for every pixel */
			bool part;         /* it is one of several nodes of its operator, or has an input of its own */
			bool average;      /* it computes an average; of integers that divides by the taps inside the image */
			int pixel_group;   /* pixels that are taken as one (pixel_groups.c); 0 or 1: none */
			int64_t group_run, group_step;   /* elements of a kernel row of a pixel group's window, and from the window of
			                        * one of its pixels to that of the next */
		} conv;
		struct {           /* POOL: the maximum of each window unless one is set */
			bool sum;          /* the sum of each window */
			bool average;      /* with sum: that sum divided by the number of its taps in the image */
			bool padded;       /* a maximum: taps outside of the image have the value pad; else they do not count */
			int pad;
		} pool;
		struct {           /* ELT with a second operand: a sum unless one is set */
			bool table;        /* r is a table of 256 bytes in which x is looked up, the same for every pixel */
			bool product;      /* r is a factor */
		} elt;
		int nest;          /* LOOP_NEST: its number in cc.nests; x, r, y and z then only name storages */
	};

	/* Set when the step is scheduled: */
	uint64_t done[WEFT_N_MEMORIES];   /* cycle of the step in which the node should be done, by enum weft_memory */
	uint64_t halves[WEFT_N_MEMORIES]; /* half cycles of the step that count for the node, by enum weft_memory */
	int stripes;           /* 1 + the operator that leads the stripe group of this node; 0: it is in none */
};

/* by_table() returns whether the second operand is a table, is_product() whether it is a factor. */
static inline bool by_table(const struct node *nd) { return nd->kind == NODE_ELT ? nd->elt.table : nd->kind == NODE_DW && nd->conv.table; }
static inline bool is_product(const struct node *nd) { return nd->kind == NODE_ELT && nd->elt.product; }

enum op_state {
	OP_TODO = 0,           /* no stage has taken it yet */
	OP_NONE,               /* nothing to do: a constant, or nothing reads its result */
	OP_ALIAS,              /* its result is a view of its operand */
	OP_NODE,               /* part of a node */
	OP_HOST,               /* runs on the host */
};

/* What the compiler knows of a graph operator. */
struct cop {
	enum op_state state;
	int node;              /* OP_NODE: its number in cc.nodes */
	bool forbidden;        /* an earlier attempt found that it cannot be expressed; reason says why */
	char *reason;          /* why it runs where it does; owned until the program takes it */
};

/* What the compiler knows of a tensor of the graph, or of a storage that a stage has added. */
struct cten {
	struct view v;         /* root -1: its type is one that the device does not know */
	bool pinned;           /* root: a loop nest takes it as it is, so it cannot become part of another root */
	int64_t bytes;         /* root: bytes of the storage */
	int first_use, n_uses; /* the operators that read the tensor: a range of cc.uses */
	bool host_reads, npu_reads, npu_writes;   /* root: the host reads, a node reads, a node writes a tensor of this root */
	int src_item, last_item;   /* root: items (cc.items) that first write it and last use it; src_item -1: it is there from
	                            * the start */
	bool in_dram;          /* root: it needs a place in the arena */
	bool in_const;         /* root: its data are among the program's constants, at offset */
	uint64_t offset;       /* root: bytes from the start of the arena, or of the constants */
};

/* One place in the order of execution. */
struct item {
	bool host;
	int index;             /* number of the node, or if host is set, of the operator */
	int step;              /* step of the program in which it runs */
};

/* Bytes that grow at the end. */
struct blob { uint8_t *p; uint64_t n, cap; };

struct loop_nest;

/* What a command does in the scratchpad: writes results or what it loads; reads x, weights, the second operand,
 * parameters. The vector engine reads its parameters with the weights. */
enum port { PORT_WRITE, PORT_X, PORT_W, PORT_R, PORT_P, N_PORTS };

/*
 * Which of its region's two banks successive accesses of a command take: one and the
 * other in turn; the same one; both at once, because an access lies across two words.
 * BANKS_BOTH + n: of 16 accesses n lie in one word.
 */
enum banks { BANKS_ALTERNATE, BANKS_SAME, BANKS_BOTH };

enum space { SPACE_SP, SPACE_ARENA };

/* Bytes that a command touches: n equal ranges, `step` bytes apart. */
struct access {
	uint8_t space;         /* enum space */
	bool write;
	uint32_t n;
	uint64_t lo, hi;       /* the first range: [lo, hi) */
	uint64_t step;
	/* SPACE_SP, for the estimate: */
	uint8_t port;          /* enum port */
	uint8_t banks;         /* enum banks, at most BANKS_BOTH */
	uint8_t one;           /* BANKS_BOTH: of 16 accesses, so many lie in one word */
	uint32_t count;        /* accesses of the whole command; 0: too few to count */
};

#define CMD_MAX_ACCESSES 8

/* A command, with what it touches and what it should cost (estimate/cost.h). */
struct cmd {
	struct weft_cmd c;
	int unit;              /* enum weft_unit */
	int node;              /* index in cc.nodes; -1: END */
	uint32_t cost;         /* cycles for which it occupies its unit, at least 1 */
	uint32_t slow;         /* the same cycles if the memory is slow; 0: they are no different */
	uint32_t latency;      /* cycles from then to its retirement; of DMA beside the memory's latency */
	uint32_t rows;         /* rows that it sends through the post unit, counted once for each pass */
	uint8_t passes;        /* of the array's commands: how many passes a row takes in the post unit. All but the first take turns
	                        * with other units' rows */
	bool by_pixel;         /* emission: if it takes some channels of each pixel, each pixel may be a range (emit_pixels()) */
	uint32_t wait[WEFT_N_UNITS];   /* how many commands of each unit must have retired before it begins */
	uint32_t first_load, n_loads;  /* loads that it needs: a range of hazards_loads() */
	uint32_t n_read;       /* the count of the last load that reads bytes that it writes; 0: no load does */
	uint32_t first_rec, n_recs;    /* debug records: a range of cmds.rec */
	int n_acc;
	struct access acc[CMD_MAX_ACCESSES];
};

/* Commands of a step, and their debug records. */
struct cmds {
	struct cmd *p; uint32_t n, cap;
	struct cmd *spare; uint32_t cap_spare;   /* room for another order (load_order.c) */
	struct weft_prec *rec; uint32_t n_rec, cap_rec;
};

/* One attempt to compile a graph. */
struct cc {
	const weft_graph *g;   /* what is compiled */
	const weft_graph *full;   /* the caller's graph: g, or if channels were folded (fold/), what g was made of */
	const struct weft_config *cfg;
	const struct weft_compile_options *o;
	weft_program *p;       /* being made */
	char *msg;             /* WEFT_MSG bytes, of the caller */
	int64_t n;             /* rows and columns of the array, bytes of a scratchpad word: cfg->n */
	int64_t sp_bytes;      /* usable bytes of the scratchpad */
	bool has_alu, has_raw, has_int4, has_even, has_table, has_sub, has_mul, has_dwk, has_dwtable, has_pairs, has_coded;   /* features, include/spec/regs.toml */

	struct cop *ops;       /* one for each operator of the graph */
	struct cten *ten;      int n_roots; uint32_t cap_roots;   /* one for each tensor, then added storages */
	int *uses;             /* operators, grouped by the tensor that they read */
	struct node *nodes;    int n_nodes; uint32_t cap_nodes;
	struct loop_nest *nests;  int n_nests; uint32_t cap_nests;
	struct item *items;    int n_items;
	struct blob consts;    /* becomes the program's constants */
	struct blob units;     /* uint32_t: units of coded constants, tile by tile (code_weights.c) */
	uint32_t cap_cmds, cap_words, cap_scales;   /* of the program's arrays */
	int bad_node;          /* set with -ERANGE: this node cannot be expressed, */
	const char *bad_why;   /* because of this */
};

/*
 * Returns whether an operator takes arguments that come as the network runs (EXT-DYNAMIC). If so, its
 * attributes say nothing.
 */
static inline bool is_dynamic(const struct weft_gop *o)
{
	return o->n_in && o->n_in == weft_op_n_dynamic(o->op);
}

/* ---- ir.c ---- */

/* Make room for n + 1 elements of `elem` bytes in the array that the pointer at `array` points to; *cap, its capacity,
 * doubles if necessary. Returns 0, or -ENOMEM with the array as it was. */
WEFT_MUST_USE int cc_grow(void *array, uint32_t n, uint32_t *cap, size_t elem);

/* Append zeroed bytes at a multiple of align and set *off to their offset. Returns 0, -ENOMEM, or -E2BIG beyond what a
 * window addresses. */
WEFT_MUST_USE int blob_reserve(struct blob *b, uint64_t bytes, uint64_t align, uint64_t *off);

/* Add a storage that belongs to no tensor. Returns its number, which views use as root, or -ENOMEM. */
WEFT_MUST_USE int cc_new_root(struct cc *cc, int64_t bytes);

/* The multiplier and shift by which TOSA's AVG_POOL2D divides by `count`, 1 or more. */
struct scale cc_reciprocal(int64_t count);

/* Add a node whose window is one pixel and whose post unit changes nothing, for elements of `elem` bytes.
 * NULL: no memory. Pointers to other nodes are no longer valid. */
struct node *cc_new_node(struct cc *cc, enum node_kind kind, int64_t elem);

static inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static inline int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }
static inline int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }
/* How much of [a0, a1) lies in [b0, b1). */
static inline int64_t overlap64(int64_t a0, int64_t a1, int64_t b0, int64_t b1) { return max64(0, min64(a1, b1) - max64(a0, b0)); }

/* ---- match/view.c ---- */

/* A tensor's dimensions as n, y, x, c: leading dimensions beyond four are joined, missing ones are 1. */
void view_dims(const weft_tensor *t, int64_t dim[4]);
/* The view of a dense row-major tensor. */
struct view view_dense(int root, const int64_t dim[4], int64_t elem_bytes);
/*
 * Returns whether the elements lie side by side in the order n, y, x, c. Dimensions of one element do not
 * count.
 */
bool view_is_dense(const struct view *v);
int64_t view_elements(const struct view *v);
/* Bytes of one element, and of all. */
static inline int64_t view_elem(const struct view *v) { return v->step[3]; }
static inline int64_t view_bytes(const struct view *v) { return view_elements(v) * v->step[3]; }
/* The same elements with other dimensions; v is dense and the counts agree. */
struct view view_reshape(const struct view *v, int64_t n, int64_t y, int64_t x, int64_t c);

/* ---- the stages; each returns 0 or a negative errno, -ERANGE with cc->bad_node ---- */

/* match/fold_views.c: give every tensor its view; operators that only rename bytes become aliases. */
WEFT_MUST_USE int cc_fold_views(struct cc *cc);

/* match/match.c: group operators into nodes. */
WEFT_MUST_USE int cc_match(struct cc *cc);

/* Note for people why operator op runs where it does. Returns 0, so that a matcher can return it as "no match", or
 * -ENOMEM. */
int cc_reason(struct cc *cc, int op, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* lower/pixel_groups.c: take several output pixels as one if a convolution has few output channels and that saves time. */
void cc_group_pixels(struct cc *cc);

/* lower/im2col.c: copy windows side by side in front of convolutions with few input channels. */
WEFT_MUST_USE int cc_im2col(struct cc *cc);
/* Cycles of a convolution without pixel groups, with its windows copied if that is what cc_im2col() would do. */
int64_t cc_im2col_cycles(const struct cc *cc, const struct node *nd);

/* lower/join_rows.c: copy the kernel rows of windows side by side where that fills more of the array. */
WEFT_MUST_USE int cc_join_rows(struct cc *cc);

/* lower/flatten_rows.c: make dense 1x1 convolutions and elementwise nodes one row of pixels; sets node.own and .flat. */
void cc_flatten_rows(struct cc *cc);

/* lower/node_order.c: put nodes and host operators in order (cc.items), and list lifetimes of storages. */
WEFT_MUST_USE int cc_order_nodes(struct cc *cc);

/* lower/pack_weights.c: write weights, records and other constants into cc.consts. */
WEFT_MUST_USE int cc_pack_weights(struct cc *cc);

/* lower/code_weights.c: constants that loads find coded. */
WEFT_MUST_USE int code_measure(struct cc *cc, struct node *nd);
int64_t code_units(const struct cc *cc, const struct node *nd, bool weights, int64_t tile, int64_t n);
bool code_pays(const struct cc *cc, int64_t words, int64_t units);
int64_t coded_words(const struct cc *cc, int64_t words, int64_t units);
WEFT_MUST_USE int code_row(struct cc *cc, const struct weft_cmd_load *l);

/* emit/arena.c: choose offsets in the arena for all roots that need a place there (in_dram). */
WEFT_MUST_USE int cc_place_arena(struct cc *cc);

/* program_tables.c: fill the program's tables of operators and tensors. */
WEFT_MUST_USE int cc_program_tables(struct cc *cc);

/* ---- questions about nodes ---- */

/*
 * Returns whether a depthwise node reads each row of its kernel apart. It does above 3x3; its commands then
 * have fields for the kernel's size.
 */
static inline bool dw_by_row(const struct node *nd)
{
	return nd->kind == NODE_DW && (nd->win.kh > 3 || nd->win.kw > 3);
}

/* Rows and columns of the kernel in a depthwise node's commands: at least 3 columns, and exactly 3 rows and columns unless
 * dw_by_row(). Those that the kernel does not have are taps without weight. */
static inline int64_t dw_rows(const struct node *nd)
{
	return !dw_by_row(nd) ? 3 : nd->conv.transposed ? nd->win.kw : nd->win.kh;
}

static inline int64_t dw_cols(const struct node *nd)
{
	return !dw_by_row(nd) ? 3 : max64(nd->conv.transposed ? nd->win.kh : nd->win.kw, 3);
}

/* Pixels of a group, which the array takes at a time: N, or half of that if the node's column tiles are paired. */
static inline int64_t group_pixels(const struct cc *cc, const struct node *nd)
{
	return nd->wt.paired ? cc->n / 2 : cc->n;
}

/* Output channels that are not taken apart: those of a column tile or block, or of two if column tiles are paired. Ranges
 * of a node's channels begin at multiples of it. */
static inline int64_t unit_channels(const struct cc *cc, const struct node *nd)
{
	return nd->wt.paired ? 2 * cc->n : cc->n;
}

/* Returns whether RESCALE with this scale makes exactly the half of each even number. */
static inline bool halves(const struct scale *s)
{
	return s->mul == 1 << 30 && s->shift == 31;
}

/*
 * Returns how many times each row of a node's results passes the lanes of the post unit. For integers this is 1. If a second
 * operand is added or subtracted, it is 4, or 3 if the device adds one of the two addends without a pass of its own. The device
 * does so if RESCALE only halves that addend, unless it is the second one and is subtracted (hw/post). Reading a table and
 * multiplying by a second operand take one pass. For float8 the number is 3 with a second operand; without one, it is 1 for
 * pooling and elementwise nodes, and 2 for convolutions, which round the sum and then add the bias.
 */
static inline int64_t post_passes(const struct cc *cc, const struct node *nd)
{
	if (nd->mode == WEFT_POST_MODE_FLOAT8)
		return nd->add ? 3 : nd->kind == NODE_POOL || nd->kind == NODE_ELT ? 1 : 2;
	if (!nd->add || by_table(nd) || is_product(nd))
		return 1;
	return cc->cfg->free_half && nd->post.pre_shift && (halves(&nd->post.a) || (halves(&nd->post.b) && !nd->sub)) ? 3 : 4;
}

/* Returns how many reads of the scratchpad bring the records of one column tile of the array, or of one block of the
 * depthwise engine. A read brings two words (hw/feed, hw/vec). */
static inline int64_t record_reads(const struct cc *cc, const struct node_weights *wt)
{
	return ceil_div(wt->tile_rec_bytes, 2 * cc->n);
}

/*
 * Returns how many times the array's rows are filled for so many pixels and column tiles of a node with these weights: for
 * each group of pixels and column tile, or two tiles where they are paired. A tile that is left over has groups of N pixels.
 */
static inline int64_t fillings(const struct cc *cc, const struct node_weights *wt, int64_t pixels, int64_t tiles)
{
	int64_t pairs = wt->paired ? tiles / 2 : 0;

	return pairs * ceil_div(pixels, cc->n / 2) + (tiles - 2 * pairs) * ceil_div(pixels, cc->n);
}

/* Set t[0..2] to the graph's tensors that the node reads as x, r and z; -1: there is none, or it reads a storage of no
 * tensor. */
static inline void node_reads(const struct node *nd, int t[3])
{
	t[0] = nd->x_t;
	t[1] = nd->add ? nd->r_t : -1;
	t[2] = nd->third ? nd->z_t : -1;
}

/* lower/node_order.c: set needed[t] for every tensor t that a node from number `from` on reads. */
void cc_need_operands(const struct cc *cc, int from, bool *needed);

/* lower/node_order.c: returns whether needed[] is set for a result of operator o. */
bool cc_is_wanted(const struct weft_gop *o, const bool *needed);

#endif

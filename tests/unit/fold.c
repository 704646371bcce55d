/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Channels that need not be computed, in graphs made by hand: a convolution of 32 channels, 16 of them
 * without weights, and one kind of reader behind it. Each reader says how many of the 16 must go, for a
 * constant that is the readers' zero point and for one that is not; golden, which knows nothing of this, says
 * what comes out.
 */
#include "tests/unit/compile_run.h"
#include "userlib/compile/fold/fold.h"

#define IN 16                  /* channels of the input */
#define MID 32                 /* channels of the first convolution, the last DEAD of them without weights */
#define DEAD 16
#define SIDE 8                 /* height and width */

static uint64_t rng = 4711;

/* What one graph is made of. */
struct net {
	weft_graph *g;
	weft_dtype type;           /* int8 or int16 */
	int zp;                    /* of all tensors between operators */
	int constant;              /* value of the channels without weights, less zp */
	int x;                     /* the tensor with these channels */
};

static int op(struct net *n, weft_opcode code, const weft_attr *a, const int *in, int n_in, weft_dtype t, int rank, const int64_t *dim)
{
	int y = weft_graph_tensor(n->g, "", t, rank, dim);

	assert_true(y >= 0 && weft_graph_op(n->g, code, a, -1, in, n_in, &y, 1) >= 0);
	return y;
}

static const weft_tensor *shape(const struct net *n, int t) { return &n->g->tensors[t].t; }

static int constant(struct net *n, weft_dtype t, int rank, const int64_t *dim, void *data)
{
	int c = weft_graph_const(n->g, "", t, rank, dim, data);

	assert_true(c >= 0);
	return c;
}

/* Sums of 32 or 48 bits to the net's type: divided by 128, zero point added. */
static int rescale(struct net *n, int x)
{
	bool wide = shape(n, x)->dtype == WEFT_INT48;
	weft_attr a = { .rescale = { .scale32 = !wide, .rounding = WEFT_SINGLE_ROUND, .per_channel = true, .y_zp = n->zp } };
	int64_t c = shape(n, x)->dim[3];
	int8_t *shift = malloc((size_t)c);
	void *mul = calloc((size_t)c, 4);

	for (int64_t i = 0; i < c; i++) {
		shift[i] = wide ? 21 : 37;
		if (wide)
			((int16_t *)mul)[i] = 1 << 14;
		else
			((int32_t *)mul)[i] = 1 << 30;
	}
	int m = constant(n, wide ? WEFT_INT16 : WEFT_INT32, 1, &c, mul), s = constant(n, WEFT_INT8, 1, &c, shift);
	return op(n, WEFT_OP_RESCALE, &a, (int[]){ x, m, s }, 3, n->type, 4, shape(n, x)->dim);
}

/* Which weights of a convolution are the zero point, and its shape. */
struct kernel {
	int64_t oc, k;             /* output channels; height and width */
	int pad, w_zp;
	int64_t no_out, no_in;     /* output and input channels from there on have no weights; 0: all have */
	bool depthwise, one_bias;
};

static int conv(struct net *n, int x, struct kernel k)
{
	weft_dtype sum = n->type == WEFT_INT8 ? WEFT_INT32 : WEFT_INT48;
	int64_t ic = shape(n, x)->dim[3], oc = k.depthwise ? ic : k.oc, more = 2 * k.pad - k.k + 1;
	int64_t dim[4] = { oc, k.k, k.k, ic }, dw[4] = { k.k, k.k, ic, 1 }, n_w = k.k * k.k * ic * (k.depthwise ? 1 : oc);
	int8_t *w = malloc((size_t)n_w);
	weft_attr a = { .conv = { .pad = { k.pad, k.pad, k.pad, k.pad }, .stride = { 1, 1 }, .dilation = { 1, 1 },
	                          .x_zp = n->zp, .w_zp = k.w_zp, .acc = sum } };
	int64_t n_b = k.one_bias ? 1 : oc;
	void *b = calloc((size_t)n_b, 8);

	for (int64_t i = 0; i < n_w; i++) {
		int64_t o = k.depthwise ? i % ic : i / (k.k * k.k * ic);
		bool none = (k.no_out && o >= k.no_out) || (k.no_in && i % ic >= k.no_in);
		w[i] = none ? (int8_t)k.w_zp : (int8_t)((int64_t)(test_random(&rng) % 31) - 15 + (k.w_zp ? 1 : 0));
	}
	for (int64_t i = 0; i < n_b; i++) {
		int64_t v = k.no_out && i >= k.no_out ? 128 * n->constant : (int64_t)(test_random(&rng) % 2000) - 1000;
		if (sum == WEFT_INT48)
			((int64_t *)b)[i] = v;
		else
			((int32_t *)b)[i] = (int32_t)v;
	}
	int iw = constant(n, WEFT_INT8, 4, k.depthwise ? dw : dim, w), ib = constant(n, sum, 1, &n_b, b);
	return rescale(n, op(n, k.depthwise ? WEFT_OP_DEPTHWISE_CONV2D : WEFT_OP_CONV2D, &a, (int[]){ x, iw, ib }, 3, sum, 4,
	                     (int64_t[]){ 1, shape(n, x)->dim[1] + more, shape(n, x)->dim[2] + more, oc }));
}

/* The sum of two tensors as networks are lowered: in int32, times 64, then half of it. */
static int add(struct net *n, int a, int b)
{
	weft_attr at = { .rescale = { .scale32 = true, .rounding = WEFT_SINGLE_ROUND, .x_zp = n->zp } };
	int side[2] = { a, b };

	for (int i = 0; i < 2; i++) {
		int32_t *mul = malloc(sizeof *mul);
		int8_t *shift = malloc(1);
		*mul = 1 << 30;
		*shift = 24;
		int m = constant(n, WEFT_INT32, 1, (int64_t[]){ 1 }, mul), s = constant(n, WEFT_INT8, 1, (int64_t[]){ 1 }, shift);
		side[i] = op(n, WEFT_OP_RESCALE, &at, (int[]){ side[i], m, s }, 3, WEFT_INT32, 4, shape(n, a)->dim);
	}
	return rescale(n, op(n, WEFT_OP_ADD, NULL, side, 2, WEFT_INT32, 4, shape(n, a)->dim));
}

/* ---- readers: each ends the network behind n->x and returns its output ---- */

static int by_1x1(struct net *n) { return conv(n, n->x, (struct kernel){ .oc = 24, .k = 1 }); }
static int by_one_bias(struct net *n) { return conv(n, n->x, (struct kernel){ .oc = 24, .k = 1, .one_bias = true }); }
static int by_w_zp(struct net *n) { return conv(n, n->x, (struct kernel){ .oc = 24, .k = 1, .w_zp = 3 }); }
static int by_valid(struct net *n) { return conv(n, n->x, (struct kernel){ .oc = 24, .k = 3 }); }
static int by_padded(struct net *n) { return conv(n, n->x, (struct kernel){ .oc = 24, .k = 3, .pad = 1 }); }
static int by_unweighted(struct net *n) { return conv(n, n->x, (struct kernel){ .oc = 24, .k = 3, .pad = 1, .no_in = MID - DEAD }); }

static int by_depthwise(struct net *n)
{
	n->x = conv(n, n->x, (struct kernel){ .k = 3, .depthwise = true });
	return by_1x1(n);
}

static int by_padded_depthwise(struct net *n)
{
	n->x = conv(n, n->x, (struct kernel){ .k = 3, .pad = 1, .depthwise = true });
	return by_1x1(n);
}

/* The channels without weights are those of a depthwise convolution, whose input channels nobody else reads. */
static int by_empty_depthwise(struct net *n)
{
	n->x = conv(n, n->x, (struct kernel){ .k = 3, .pad = 1, .depthwise = true, .no_out = MID - DEAD });
	return by_1x1(n);
}

/* Two convolutions, of which the second does not read what the first makes of the dead channels. */
static int by_two(struct net *n)
{
	int y = conv(n, n->x, (struct kernel){ .oc = 32, .k = 3, .pad = 1, .no_in = MID - DEAD });

	return conv(n, y, (struct kernel){ .oc = 24, .k = 1, .no_in = 16 });
}

static int by_both(struct net *n)
{
	int a = by_unweighted(n), b = by_padded(n);

	return add(n, a, b);
}

static int pool(struct net *n, bool max)
{
	weft_attr a = { .pool = { .kernel = { 3, 3 }, .stride = { 1, 1 }, .pad = { 1, 1, 1, 1 }, .x_zp = max ? 0 : n->zp,
	                          .y_zp = max ? 0 : n->zp, .acc = max ? 0 : WEFT_INT32 } };

	n->x = op(n, max ? WEFT_OP_MAX_POOL2D : WEFT_OP_AVG_POOL2D, &a, &n->x, 1, n->type, 4, shape(n, n->x)->dim);
	return by_1x1(n);
}

static int by_max_pool(struct net *n) { return pool(n, true); }
static int by_average(struct net *n) { return pool(n, false); }

/* A sum of two tensors, with constant channels in both, or in one alone. */
static int residual(struct net *n, int64_t no_out)
{
	int x = n->g->inputs[0], y = conv(n, x, (struct kernel){ .oc = MID, .k = 1, .no_out = no_out });

	n->x = add(n, n->x, y);
	return by_1x1(n);
}

static int by_sum(struct net *n) { return residual(n, MID - DEAD); }
static int by_sum_of_one(struct net *n) { return residual(n, 0); }

static int by_pad(struct net *n)
{
	weft_attr a = { .pad = { .before = { 0, 1, 1, 0 }, .after = { 0, 1, 1, 0 }, .value = n->zp } };

	n->x = op(n, WEFT_OP_PAD, &a, &n->x, 1, n->type, 4, (int64_t[]){ 1, SIDE + 2, SIDE + 2, MID });
	return by_valid(n);
}

static int by_flatten(struct net *n)
{
	n->x = op(n, WEFT_OP_RESHAPE, &(weft_attr){ 0 }, &n->x, 1, n->type, 4, (int64_t[]){ 1, 1, 1, SIDE * SIDE * MID });
	return by_1x1(n);
}

static int by_concat(struct net *n)
{
	int y = conv(n, n->g->inputs[0], (struct kernel){ .oc = 32, .k = 1 });

	n->x = op(n, WEFT_OP_CONCAT, &(weft_attr){ .axis = { .axis = 3 } }, (int[]){ y, n->x }, 2, n->type, 4, (int64_t[]){ 1, SIDE, SIDE, 32 + MID });
	return by_1x1(n);
}

/* Rows of two tensors below each other, so that a channel of the result is made of that channel of both. */
static int rows(struct net *n, int64_t no_out)
{
	int y = conv(n, n->g->inputs[0], (struct kernel){ .oc = MID, .k = 1, .no_out = no_out });

	n->x = op(n, WEFT_OP_CONCAT, &(weft_attr){ .axis = { .axis = 1 } }, (int[]){ n->x, y }, 2, n->type, 4, (int64_t[]){ 1, 2 * SIDE, SIDE, MID });
	return n->x;
}

static int by_rows(struct net *n)
{
	rows(n, MID - DEAD);
	return by_1x1(n);
}

static int by_rows_of_one(struct net *n)
{
	rows(n, 0);
	return by_1x1(n);
}

static int by_no_rows(struct net *n) { return rows(n, 0); }

static int by_slice(struct net *n)
{
	weft_attr a = { .slice = { .start = { 0, 0, 0, 8 } } };

	n->x = op(n, WEFT_OP_SLICE, &a, &n->x, 1, n->type, 4, (int64_t[]){ 1, SIDE, SIDE, MID - 8 });
	return by_1x1(n);
}

/* Operators that nothing here knows how to shrink. */
static int by_reverse(struct net *n)
{
	n->x = op(n, WEFT_OP_REVERSE, &(weft_attr){ .axis = { .axis = 3 } }, &n->x, 1, n->type, 4, shape(n, n->x)->dim);
	return by_1x1(n);
}

static int by_nobody(struct net *n) { return n->x; }

/* What the host does on w8b, which has no alu: it must find all channels. */
static int by_host(struct net *n)
{
	weft_attr a = { .resize = { 3, 2, 3, 2, 0, 0, 1, 1, WEFT_RESIZE_NEAREST } };
	int64_t side = ((SIDE - 1) * 3 + 1) / 2 + 1;

	n->x = op(n, WEFT_OP_RESIZE, &a, &n->x, 1, n->type, 4, (int64_t[]){ 1, side, side, MID });
	return by_1x1(n);
}

/* ---- the whole ---- */

static const struct reader {
	const char *name;
	int (*end)(struct net *n);
	int at_zp, off_zp;         /* channels of x that must go if the constant is the zero point, and if not */
	const char *config;        /* NULL: w16 */
} readers[] = {
	{ "1x1", by_1x1, DEAD, DEAD, NULL }, { "one bias for all", by_one_bias, DEAD, DEAD, NULL },
	{ "weights with a zero point", by_w_zp, DEAD, DEAD, NULL },
	{ "3x3 without padding", by_valid, DEAD, DEAD, NULL }, { "3x3 with padding", by_padded, DEAD, 0, NULL },
	{ "no weights for them", by_unweighted, DEAD, DEAD, NULL }, { "no weights further on", by_two, DEAD, DEAD, NULL },
	{ "two, of which one needs them", by_both, DEAD, 0, NULL },
	{ "depthwise", by_depthwise, DEAD, DEAD, NULL }, { "depthwise with padding", by_padded_depthwise, DEAD, 0, NULL },
	{ "depthwise without weights", by_empty_depthwise, DEAD, DEAD, NULL },
	{ "maximum", by_max_pool, DEAD, DEAD, NULL }, { "average", by_average, DEAD, DEAD, NULL },
	{ "of two tensors", by_sum, DEAD, DEAD, NULL }, { "of two tensors, one constant", by_sum_of_one, 0, 0, NULL },
	{ "PAD", by_pad, DEAD, 0, NULL }, { "flattened", by_flatten, DEAD, DEAD, NULL }, { "CONCAT", by_concat, DEAD, DEAD, NULL },
	{ "CONCAT of rows", by_rows, DEAD, DEAD, NULL }, { "CONCAT of rows, one constant", by_rows_of_one, 0, 0, NULL },
	{ "CONCAT of rows, output", by_no_rows, 0, 0, NULL }, { "SLICE", by_slice, DEAD, DEAD, NULL }, { "REVERSE", by_reverse, 0, 0, NULL }, { "output", by_nobody, 0, 0, NULL },
	{ "host", by_host, 0, 0, "w8b" }, { "1x1 on w8", by_1x1, DEAD, DEAD, "w8" }, { "1x1 on w32", by_1x1, 0, 0, "w32" },
};

/* The network in front of a reader, and the reader; *folded is where n->x was then. */
static weft_graph *make(const struct reader *r, weft_dtype type, bool at_zp, int *x)
{
	struct net n = { .g = weft_graph_new(r->name), .type = type, .zp = type == WEFT_INT8 ? -5 : 0, .constant = at_zp ? 0 : 9 };
	int in = weft_graph_tensor(n.g, "x", type, 4, (int64_t[]){ 1, SIDE, SIDE, IN });
	char msg[WEFT_MSG];

	n.g->tensors[in].is_input = true;
	n.g->inputs = malloc(sizeof(int));
	n.g->inputs[n.g->n_inputs++] = in;
	n.x = conv(&n, in, (struct kernel){ .oc = MID, .k = 1, .no_out = MID - DEAD });
	*x = n.x;
	int y = r->end(&n);
	n.g->tensors[y].is_output = true;
	n.g->outputs = malloc(sizeof(int));
	n.g->outputs[n.g->n_outputs++] = y;
	if (weft_graph_check(n.g, msg))
		fail_msg("%s: %s", r->name, msg);
	return n.g;
}

/* Compile it, see how many channels are folded, then run it against golden. */
static void one(const struct reader *r, weft_dtype type, bool at_zp, struct weft_compile_options o)
{
	int x, want = o.no_fold || o.no_fuse ? 0 : at_zp ? r->at_zp : r->off_zp;
	weft_graph *g = make(r, type, at_zp, &x);
	weft_program *p;
	char msg[WEFT_MSG], what[160];

	o.config = r->config;
	snprintf(what, sizeof what, "%s, %s, %s", r->name, weft_dtype_name(type), at_zp ? "zero point" : "another constant");
	if (weft_compile(g, &o, &p, msg))
		fail_msg("%s: %s", what, msg);
	if (p->tensors[x].folded != (uint32_t)want)
		fail_msg("%s: %u channels folded, not %d", what, p->tensors[x].folded, want);
	assert_ptr_equal(p->graph, g);
	assert_int_equal(p->n_tensors, g->n_tensors);
	weft_program_free(p);
	weft_tensor *in = tensor_random(TENSOR(type, 1, SIDE, SIDE, IN), &rng);
	assert_true(compile_run(g, &o, in, what) > 0);
	tensor_free(in);
	weft_graph_free(g);
}

static void all_readers(weft_dtype type, struct weft_compile_options o)
{
	for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
		for (int at_zp = 0; at_zp < 2; at_zp++)
			if (type == WEFT_INT8 || (!readers[i].config && readers[i].end != by_average && readers[i].end != by_w_zp))
				one(&readers[i], type, at_zp, o);
}

static void readers_int8(void **state) { (void)state; all_readers(WEFT_INT8, (struct weft_compile_options){ 0 }); }
static void readers_int16(void **state) { (void)state; all_readers(WEFT_INT16, (struct weft_compile_options){ 0 }); }
/* With operators of the alu, and where the scratchpad holds little. */
static void readers_alu(void **state) { (void)state; all_readers(WEFT_INT8, (struct weft_compile_options){ .of_model = true, .sp_limit = 24 << 10 }); }
static void without(void **state)
{
	(void)state;
	all_readers(WEFT_INT8, (struct weft_compile_options){ .no_fold = true });
	all_readers(WEFT_INT8, (struct weft_compile_options){ .no_fuse = true });
}

/* Operators whose tensors have no last dimension have no channels that could go, whatever they compute. */
static void scalars(void **state)
{
	static const weft_opcode codes[] = { WEFT_OP_ADD, WEFT_OP_SUB, WEFT_OP_MAXIMUM, WEFT_OP_ABS };
	struct net n = { .g = weft_graph_new("scalars") };
	int x = weft_graph_tensor(n.g, "x", WEFT_INT32, 0, NULL);

	(void)state;
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
		op(&n, codes[i], NULL, (int[]){ x, x }, codes[i] == WEFT_OP_ABS ? 1 : 2, WEFT_INT32, 0, NULL);
		assert_int_equal(fold_role(n.g, &n.g->ops[i]), ROLE_OPAQUE);
	}
	weft_graph_free(n.g);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(readers_int8), cmocka_unit_test(readers_int16), cmocka_unit_test(readers_alu),
		cmocka_unit_test(without), cmocka_unit_test(scalars) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each operator by itself, in all types that golden takes, with one image and with three, with constant operands and with
 * computed ones: whatever the compiler makes of it, every byte is golden's.
 */
#include "tests/unit/compile_run.h"

#include <zlib.h>

#include "tests/support/level.h"
#include "tests/support/valid_call.h"

/*
 * The call of an operator with type number `from` for its first or all operands, and for its result that type, int32, or its
 * own. Where it is for all operands, a third one, which is a bias in convolutions, has the result's type.
 */
static struct call typed_call(weft_opcode op, int from, int result, bool all, int images)
{
	struct call c = valid_call(op);

	for (int k = 0; k < (all ? c.n_x : 1); k++)
		c.x[k].dtype = (weft_dtype)from;
	c.x[0].dim[0] *= images;
	c.y.dim[0] *= images;
	c.y.dtype = result == 0 ? (weft_dtype)from : result == 1 ? WEFT_INT32 : c.y.dtype;
	if (all && c.n_x == 3)
		c.x[2].dtype = c.y.dtype;
	if (op == WEFT_OP_CONV3D && c.y.dtype == WEFT_INT32)
		c.attr.conv3d.acc = WEFT_INT32;
	return c;
}

/* Gives a tensor data; free them. Operand 0 has any values of its type, others small ones, as indices, shifts and multipliers are. */
static void draw(weft_tensor *t, bool any, uint64_t *rng)
{
	t->data = calloc(1, weft_tensor_bytes(t));
	assert_non_null(t->data);
	if (any)
		tensor_random(t, rng);
	for (int64_t i = 0; !any && i < weft_tensor_elements(t); i++)
		tensor_set(t, i, (int64_t)(test_random(rng) % (t->dtype == WEFT_BOOL ? 2 : t->dtype == WEFT_INT4 ? 8 : 61)));
}

/* Runs the call on golden; msg gets its line. Returns whether golden takes it. */
static bool golden_takes(const struct call *c, char msg[static WEFT_GOLDEN_MSG])
{
	weft_tensor y[2] = { c->y, c->y1.dtype ? c->y1 : c->y }, *out[2] = { &y[0], &y[1] };
	const weft_tensor *in[MOST_X];

	msg[0] = 0;
	for (int k = 0; k < c->n_x; k++)
		in[k] = &c->x[k];
	for (int k = 0; k < c->n_y; k++)
		y[k].data = calloc(1, weft_tensor_bytes(&y[k]));
	const int err = weft_golden_run(c->op, &c->attr, in, c->n_x, out, c->n_y, false, msg);
	for (int k = 0; k < c->n_y; k++)
		free(y[k].data);
	return !err;
}

/* A graph of the call, whose operands behind the first `variable` ones are constant. Free it. */
static weft_graph *graph_of(const struct call *c, int variable)
{
	weft_graph *g = weft_graph_new("one");
	int in[MOST_X], out[2];

	assert_non_null(g);
	for (int k = 0; k < c->n_x; k++) {
		const weft_tensor *x = &c->x[k];
		if (k < variable) {
			in[k] = run_tensor(g, x->dtype, x->rank, x->dim, true, false);
			continue;
		}
		void *data = malloc(weft_tensor_bytes(x));
		assert_non_null(data);
		memcpy(data, x->data, weft_tensor_bytes(x));
		in[k] = weft_graph_const(g, "c", x->dtype, x->rank, x->dim, data);
		assert_true(in[k] >= 0);
	}
	for (int k = 0; k < c->n_y; k++) {
		const weft_tensor *y = k && c->y1.dtype ? &c->y1 : &c->y;
		out[k] = run_tensor(g, y->dtype, y->rank, y->dim, false, true);
	}
	const int src = weft_graph_src(g, 0, weft_op_name(c->op));
	assert_true(src >= 0 && weft_graph_op(g, c->op, &c->attr, src, in, c->n_x, out, c->n_y) >= 0);
	return g;
}

/* How many calls were compiled, and how many elements the device made. */
struct count { unsigned calls; uint64_t made; };

/* Says whether golden's line is about an element of an operand, which a graph's check does not look at. */
static bool about_elements(const char *msg)
{
	return strstr(msg, ": shift") || strstr(msg, ": index ") || strstr(msg, ": element ") || strstr(msg, ": log2_scale ") ||
	       strstr(msg, ": divisor ");
}

/*
 * Runs a call with constant operands behind the first, and without constant ones. What a graph's check takes, golden takes, too,
 * but for the operands' elements.
 */
static void run(struct call c, const char *config, uint64_t *rng, struct count *n)
{
	const struct weft_compile_options o = { .config = config, .of_model = true };
	char msg[WEFT_MSG], says[WEFT_GOLDEN_MSG], what[120];

	if (c.op == WEFT_OP_ONNX_CAST && c.x[0].dtype == c.y.dtype)        /* importers make none; golden and device differ in a NaN's bits */
		return;
	for (int k = 0; k < c.n_x; k++)
		draw(&c.x[k], !k, rng);
	for (int variable = 1; variable <= c.n_x; variable += c.n_x > 1 ? c.n_x - 1 : 1) {
		weft_graph *g = graph_of(&c, variable);

		snprintf(what, sizeof what, "%s of %s into %s, %d variable, on %s", weft_op_name(c.op), weft_dtype_name(c.x[0].dtype),
		         weft_dtype_name(c.y.dtype), variable, config);
		const bool checked = !weft_graph_check(g, msg), taken = golden_takes(&c, says);
		if (checked && !taken && !about_elements(says))
			fail_msg("%s: the check takes it, golden says: %s", what, says);
		if (checked && taken) {
			n->calls++;
			n->made += compile_run(g, &o, c.x, what);
		}
		weft_graph_free(g);
	}
	for (int k = 0; k < c.n_x; k++)
		free(c.x[k].data);
}

/*
 * CONV3D whose weights are computed and do not fit the scratchpad: their copies, with the taps along the depth
 * side by side and in the array's order, lie in memory beside all operands.
 */
static void wide_conv3d(const char *config, struct count *n)
{
	const struct weft_config *cfg = weft_config_find(config);
	const uint32_t limit = cfg->sp_bytes / 4;
	const struct weft_compile_options o = { .config = config, .of_model = true, .sp_limit = limit };
	struct call c = typed_call(WEFT_OP_CONV3D, WEFT_INT8, 1, false, 1);
	uint64_t rng = test_seed(1);

	if (!(cfg->features & WEFT_FEATURE_ALU))
		return;
	c.x[1].dtype = WEFT_INT8;
	c.x[2].dtype = WEFT_INT32;
	c.x[0].dim[4] = c.x[1].dim[4] = cfg->sp_bytes / 2048;
	c.x[1].dim[0] = c.x[2].dim[0] = c.y.dim[4] = 100;
	for (int k = 0; k < c.n_x; k++)
		draw(&c.x[k], !k, &rng);
	weft_graph *g = graph_of(&c, c.n_x);
	const uint64_t made = compile_run(g, &o, c.x, "CONV3D of many weights");
	assert_int_equal(made, weft_tensor_elements(&c.y));
	n->calls++;
	n->made += made;
	weft_graph_free(g);
	for (int k = 0; k < c.n_x; k++)
		free(c.x[k].data);
}

static void calls(void **state)
{
	const char *config = *state;
	struct count n = { 0 };

	for (int op = 1; op < WEFT_N_OPS; op++) {
		const char *name = weft_op_name((weft_opcode)op);
		uint64_t rng = test_seed(1) + crc32(0, (const Bytef *)name, (uInt)strlen(name));

		if (op == WEFT_OP_TFL_CUSTOM || op == WEFT_OP_CUSTOM)      /* a caller's functions */
			continue;
		for (int from = WEFT_BOOL; from < WEFT_N_DTYPES; from++)
			for (int i = 0; i < 12; i++)
				run(typed_call((weft_opcode)op, from, i % 3, i % 6 < 3, i < 6 ? 1 : 3), config, &rng, &n);
	}
	wide_conv3d(config, &n);
	printf("%s: %u calls, %llu elements by the device\n", config, n.calls, (unsigned long long)n.made);
	assert_true(n.calls > 1000 && n.made > 500);
}

#define CALLS(config) { "calls on " config, calls, NULL, NULL, config }

int main(void)
{
	const struct CMUnitTest small[] = { CALLS("w8b") };
	const struct CMUnitTest tests[] = { CALLS("w16"), CALLS("w8b"), CALLS("w8"), CALLS("w32"), CALLS("w4") };

	if (test_sanitized())                      /* all of them take minutes there */
		return cmocka_run_group_tests(small, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden in memory that processes share: the tensors that were asked for, as
 * golden leaves them when it keeps all; and a process that was there before the
 * first of them sees each as it will be. And the results of RESHAPE, which have their
 * operands' memory where nobody else needs it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../support/random_graph.h"
#include "compile_run.h"
#include "userlib/run/golden_room.h"

#define N_GRAPHS 40

struct both {
	struct random_net net;
	weft_tensor *all;          /* golden with everything kept */
	bool *want;
	struct weft_golden_room *room;
};

static void open_both(struct both *b, uint64_t seed, bool shared)
{
	char msg[WEFT_MSG] = "";

	random_net_make(&b->net, seed, 16, false, WEFT_INT8);
	const weft_graph *g = b->net.g;
	b->all = calloc((size_t)g->n_tensors, sizeof(*b->all));
	b->want = calloc((size_t)g->n_tensors, sizeof(*b->want));
	assert_true(b->all && b->want);
	if (weft_golden_exec(g, b->net.inputs, b->all, true, msg))
		fail_msg("graph %llu: %s", (unsigned long long)seed, msg);
	for (int i = 0; i < g->n_tensors; i++)
		b->want[i] = ((uint64_t)i + seed) % 3;
	b->room = weft_golden_room_new(g, b->want, shared);
	assert_non_null(b->room);
}

static void close_both(struct both *b)
{
	weft_golden_room_free(b->room);
	weft_golden_release(b->net.g, b->all);
	free(b->all);
	free(b->want);
	random_net_free(&b->net);
}

static int fill(struct both *b, const weft_tensor *inputs, char *msg)
{
	struct weft_vars vars;

	assert_int_equal(weft_vars_init(&vars, b->net.g), 0);
	int err = weft_golden_room_fill(b->room, &vars, inputs, msg);
	weft_vars_release(&vars);
	return err;
}

/* How many of those that were asked for are not golden's. */
static int wrong(const struct both *b)
{
	const weft_tensor *t = weft_golden_room_tensors(b->room);
	int n = 0;

	for (int i = 0; i < b->net.g->n_tensors; i++) {
		if (!b->want[i])
			continue;
		weft_golden_room_wait(b->room, i);
		n += memcmp(t[i].data, b->all[i].data, weft_tensor_bytes(&t[i])) != 0;
	}
	return n;
}

static void keeps_what_is_wanted(void **state)
{
	char msg[WEFT_MSG] = "";
	struct both b;

	(void)state;
	for (uint64_t seed = 1; seed <= N_GRAPHS; seed++) {
		open_both(&b, seed, false);
		if (fill(&b, b.net.inputs, msg))
			fail_msg("graph %llu: %s", (unsigned long long)seed, msg);
		assert_int_equal(wrong(&b), 0);
		for (int i = 0; i < b.net.g->n_tensors; i++)
			assert_true(b.want[i] || weft_golden_room_tensors(b.room)[i].data == b.net.g->tensors[i].t.data);
		close_both(&b);
	}
}

static void others_wait(void **state)
{
	const struct timespec ms = { 0, 5000000 };
	char msg[WEFT_MSG] = "";
	struct both b;
	int status;

	(void)state;
	for (uint64_t seed = 1; seed <= N_GRAPHS / 4; seed++) {
		open_both(&b, seed, true);
		pid_t child = fork();
		assert_true(child >= 0);
		if (!child) {
			/* What never comes is an error. */
			alarm(20);
			_exit(wrong(&b) ? 1 : 0);
		}
		/* Whoever does not wait has looked by now. */
		nanosleep(&ms, NULL);
		int err = fill(&b, b.net.inputs, msg);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(err, 0);
		assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
		close_both(&b);
	}
}

static void bad_input(void **state)
{
	char msg[WEFT_MSG] = "";
	weft_tensor in[8];
	struct both b;

	(void)state;
	open_both(&b, 1, false);
	assert_in_range(b.net.g->n_inputs, 1, 8);
	memcpy(in, b.net.inputs, (size_t)b.net.g->n_inputs * sizeof(*in));
	in[0].dtype = WEFT_INT32;
	assert_int_equal(fill(&b, in, msg), -EINVAL);
	assert_non_null(strstr(msg, "input 0"));
	close_both(&b);
}

/* ---- RESHAPE ---- */

/*
 * A network of one input of 192 elements. `flat` is a RESHAPE of the input, and `sum` adds it to itself. `square` is a RESHAPE of the sum,
 * and `line` one of `square`, which is read again behind it. There are two outputs: `more` is twice `square`, and `out` is a RESHAPE of
 * `also`, which adds `line` and `flat`.
 */
struct reshapes {
	weft_graph *g;
	int input, flat, sum, square, line, more, out, also;   /* its tensors, in the order in which they are made */
	int32_t value[192];
};

static void reshapes_open(struct reshapes *r)
{
	static const int64_t two[] = { 2, 96 }, flat[] = { 192 }, square[] = { 4, 48 };
	char msg[WEFT_MSG] = "";
	weft_graph *g = r->g = weft_graph_new("reshapes");

	assert_non_null(g);
	r->input = run_tensor(g, WEFT_INT32, 2, two, true, false);
	r->flat = run_tensor(g, WEFT_INT32, 1, flat, false, false);
	r->sum = run_tensor(g, WEFT_INT32, 1, flat, false, false);
	r->square = run_tensor(g, WEFT_INT32, 2, square, false, false);
	r->line = run_tensor(g, WEFT_INT32, 1, flat, false, false);
	r->more = run_tensor(g, WEFT_INT32, 2, square, false, true);
	r->also = run_tensor(g, WEFT_INT32, 1, flat, false, false);
	r->out = run_tensor(g, WEFT_INT32, 2, two, false, true);
	const struct { weft_opcode op; int in[2], n, out; } op[] = {
		{ WEFT_OP_RESHAPE, { r->input }, 1, r->flat }, { WEFT_OP_ADD, { r->flat, r->flat }, 2, r->sum },
		{ WEFT_OP_RESHAPE, { r->sum }, 1, r->square }, { WEFT_OP_RESHAPE, { r->square }, 1, r->line },
		{ WEFT_OP_ADD, { r->square, r->square }, 2, r->more }, { WEFT_OP_ADD, { r->line, r->flat }, 2, r->also },
		{ WEFT_OP_RESHAPE, { r->also }, 1, r->out },
	};
	for (size_t i = 0; i < sizeof op / sizeof *op; i++)
		assert_true(weft_graph_op(g, op[i].op, NULL, -1, op[i].in, op[i].n, &op[i].out, 1) >= 0);
	if (weft_graph_check(g, msg))
		fail_msg("%s", msg);
	for (int i = 0; i < 192; i++)
		r->value[i] = i * i - 7000;
}

/* Checks both outputs: four times the input, and three times. */
static void check_outputs(const struct reshapes *r, const void *more, const void *out)
{
	for (int i = 0; i < 192; i++) {
		assert_int_equal(((const int32_t *)more)[i], 4 * r->value[i]);
		assert_int_equal(((const int32_t *)out)[i], 3 * r->value[i]);
	}
}

/* What watch() sees of the tensors while golden runs. */
struct watch { const struct reshapes *r; const weft_tensor *all; const void *input, *sum; };

/* Golden calls this function behind each operator. It checks whose memory the results of RESHAPE have. */
static void watch(void *user, int n)
{
	struct watch *w = user;
	const struct reshapes *r = w->r;

	if (n == 0)
		w->input = w->all[r->input].data;
	if (n == 1)
		assert_ptr_equal(w->all[r->flat].data, w->input);     /* the input ended */
	if (n == 2)
		w->sum = w->all[r->sum].data;
	if (n == 3) {
		assert_ptr_equal(w->all[r->square].data, w->sum);     /* the sum ended */
		assert_null(w->all[r->sum].data);
	}
	if (n == 4)
		assert_ptr_not_equal(w->all[r->line].data, w->all[r->square].data);   /* both are read later */
}

/* The caller gives memory to both outputs, so the last RESHAPE copies its operand there. */
static void reshape_passes_memory_on(void **state)
{
	int32_t more[192], out[192];
	struct reshapes r;
	struct weft_vars vars;
	char msg[WEFT_MSG] = "";

	(void)state;
	reshapes_open(&r);
	weft_tensor in = r.g->tensors[r.input].t, *all = calloc((size_t)r.g->n_tensors, sizeof *all);
	assert_non_null(all);
	for (int i = 0; i < r.g->n_tensors; i++)
		all[i] = r.g->tensors[i].t;
	in.data = r.value;
	all[r.more].data = more;
	all[r.out].data = out;
	struct watch w = { .r = &r, .all = all };
	assert_int_equal(weft_vars_init(&vars, r.g), 0);
	assert_int_equal(weft_golden_exec_into(r.g, &vars, &in, all, watch, &w, msg), 0);
	check_outputs(&r, more, out);
	for (int i = 0; i < r.g->n_tensors; i++)
		assert_true(all[i].data == NULL || i == r.more || i == r.out);
	weft_vars_release(&vars);
	free(all);
	weft_graph_free(r.g);
}

/* The result of the first RESHAPE borrows the caller's input, which golden neither writes nor frees. */
static void reshape_of_borrowed_memory(void **state)
{
	int32_t more[192];
	struct reshapes r;
	struct weft_vars vars;
	struct weft_spares spares = { .n = 0 };
	char msg[WEFT_MSG] = "";

	(void)state;
	reshapes_open(&r);
	weft_tensor in = r.g->tensors[r.input].t, out[] = { r.g->tensors[r.more].t, r.g->tensors[r.out].t };
	weft_tensor *all = calloc((size_t)r.g->n_tensors, sizeof *all);
	assert_non_null(all);
	in.data = r.value;
	out[0].data = more;
	out[1].data = NULL;        /* golden's own memory */
	assert_int_equal(weft_vars_init(&vars, r.g), 0);
	for (int k = 0; k < 3; k++) {
		assert_int_equal(weft_golden_exec_borrow(r.g, &vars, &in, out, all, &spares, msg), 0);
		check_outputs(&r, more, all[r.out].data);
		for (int i = 0; i < 192; i++)
			assert_int_equal(r.value[i], i * i - 7000);
		weft_golden_give_back(r.g, &in, out, all);
		for (int i = 0; i < r.g->n_tensors; i++)
			assert_true(all[i].data == NULL || i == r.out);
		weft_golden_release(r.g, all);
	}
	weft_spares_free(&spares);
	weft_vars_release(&vars);
	free(all);
	weft_graph_free(r.g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_what_is_wanted), cmocka_unit_test(others_wait), cmocka_unit_test(bad_input),
		cmocka_unit_test(reshape_passes_memory_on), cmocka_unit_test(reshape_of_borrowed_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

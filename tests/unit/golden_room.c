/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden in memory that processes share: the tensors that were asked for, as
 * golden leaves them when it keeps all; and a process that was there before the
 * first of them sees each as it will be.
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_what_is_wanted), cmocka_unit_test(others_wait), cmocka_unit_test(bad_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

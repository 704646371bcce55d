/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/short_of_memory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/fail_at.h"
#include "userlib/graph/save.h"
#include "userlib/run/internal.h"

/* The file of a test, how it is loaded, and the graph that comes of it without failures. */
struct subject {
	const void *file; size_t n;
	const char *name;
	const struct weft_load_options *o;
	struct io graph;
};

/*
 * Loads with allocation `at` failing (0: none), and later ones too if go_on. The graph's bytes go to *graph, whose p
 * fail_free() frees; msg gets the line, *n the number of allocations. Returns the library's error.
 */
static int load(const struct subject *s, long at, bool go_on, struct io *graph, char msg[WEFT_MSG_LEN], long *n)
{
	struct weft_load_options o = s->o ? *s->o : weft_load_options_default();
	weft_net *net = NULL;
	char why[WEFT_MSG_LEN];

	*graph = (struct io){ .write = true };
	msg[0] = '\0';
	fail_begin(FAIL_MEMORY, at, go_on);
	int err = weft_net_load_with(s->file, s->n, s->name, &o, &net, msg);
	fail_pause(true);
	if (!err) {
		weft_graph *g = (weft_graph *)(uintptr_t)net->g;

		save_graph(graph, &g, why);
	}
	weft_net_free(net);
	*n = fail_end();
	return err;
}

/* One point. Prints what is wrong and returns false if the library broke its word. */
static bool point(struct short_of_memory *t, const struct subject *s, long at, bool go_on)
{
	char msg[WEFT_MSG_LEN];
	const char *wrong = NULL;
	struct io graph;
	long n;
	int err = load(s, at, go_on, &graph, msg, &n);

	t->points++;
	t->refused += err != 0;
	t->same += err == 0;
	if (err && (err != -ENOMEM || !strstr(msg, "out of memory") || strchr(msg, '\n')))
		wrong = "another error than out of memory";
	else if (!err && (graph.n != s->graph.n || memcmp(graph.p, s->graph.p, graph.n)))
		wrong = "another graph";
	fail_free(graph.p);
	if (!wrong && fail_live())
		wrong = "allocations that nobody frees";
	if (wrong)
		fprintf(stderr, "# %s, allocation %ld%s fails: %s (%d \"%s\")\n", s->name, at, go_on ? " and all later ones" : "", wrong, err, msg);
	return !wrong;
}

void short_of_memory(struct short_of_memory *t, const void *file, size_t n, const char *name, const struct weft_load_options *o)
{
	struct subject s = { file, n, name, o, { 0 } };
	char msg[WEFT_MSG_LEN];
	long all = 0;
	int err = load(&s, 0, false, &s.graph, msg, &all);

	for (long at = 1; !err && at <= all; at++)
		if (t->at++ % t->every == 0)
			t->wrong += !point(t, &s, at, t->points % 2);
	t->files += !err;
	fail_free(s.graph.p);
}

void short_of_memory_judge(const struct short_of_memory *s, long files)
{
	print_message("%ld networks, one in %llu of %llu points: %ld out of memory, %ld the same graph, %ld wrong\n", s->files,
	              (unsigned long long)s->every, (unsigned long long)s->at, s->refused, s->same, s->wrong);
	assert_true(s->files >= files && s->refused > 0);
	assert_int_equal(s->wrong, 0);
}

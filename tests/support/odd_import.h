/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a loader owes whoever hands it a file that is damaged in one place: a graph that passes the check,
 * or one of two errors and one line that says why.
 */
#ifndef TESTS_SUPPORT_ODD_IMPORT_H
#define TESTS_SUPPORT_ODD_IMPORT_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "userlib/graph/graph.h"

/* How often a damaged file loaded, and how often it was refused. */
struct odd_count { long loaded, refused; };

/*
 * Judges what an importer gave: its result `err`, the graph that it set (NULL if none) and its message. Frees the
 * graph and counts; prints what is wrong with the words of `what` and returns false if the importer broke its word.
 */
static inline bool odd_judge(int err, weft_graph *g, const char msg[WEFT_MSG], const char *what, struct odd_count *count)
{
	char rule[WEFT_MSG] = "";
	const char *wrong = NULL;

	if (!err) {
		count->loaded++;
		if (!g)
			wrong = "0, and no graph";
		else if (weft_graph_check(g, rule))
			wrong = rule;
		weft_graph_free(g);
	} else {
		count->refused++;
		if (g)
			wrong = "an error, and a graph";
		else if (err != -EINVAL && err != -ENOTSUP)
			wrong = strerror(-err);
		else if (!*msg)
			wrong = "no message";
		else if (strchr(msg, '\n') || strlen(msg) >= WEFT_MSG - 1)
			wrong = "a message that is cut off or has several lines";
	}
	if (wrong)
		print_error("%s: %s (%d \"%s\")\n", what, wrong, err, msg);
	return !wrong;
}

#endif

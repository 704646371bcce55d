/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft run --jobs N and --segment FILE: the network in segments, each a process.
 */
#include <errno.h>
#include <stdio.h>

#include "segments.h"

int run_one_segment(const char *file, const struct weft_session_options *o)
{
	char msg[WEFT_MSG_LEN] = "", line[WEFT_MSG_LEN] = "";
	int err = weft_segment_run(file, o, line, msg);

	if (*line)
		printf("%s: %s\n", file, line);
	return err ? fail(status_of(err), "%s: %s", file, msg) : 0;
}

int run_in_segments(const struct jobs *j, const struct weft_session_options *o, weft_session *s, const weft_tensor *in,
                    weft_tensor *out, struct weft_report **rep, char *msg)
{
	struct weft_segments g = { .n = j->n, .memory = o->memory, .check = o->check, .dir = j->dir, .device = o };
	int n = 0;

	int err = weft_session_run_segments(s, in, out, &g, &n, rep, msg);
	if (!err && j->dir)
		printf("%d checkpoints in %s; each: weft run --device rtl --segment FILE\n", n, j->dir);
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder for a captured failure and the waveform of its replay, made and
 * removed with a test's group; the signals of the waveform.
 */
#ifndef TESTS_SUPPORT_REPLAY_FILES_H
#define TESTS_SUPPORT_REPLAY_FILES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fstapi.h>

#include "tests/support/level.h"

static char dir[128], wcap[160], fst[160], gtkw[160];

static int replay_files_make(void **state)
{
	(void)state;
	test_path(dir, sizeof dir, "replay-XXXXXX");
	if (!mkdtemp(dir))
		return 1;
	snprintf(wcap, sizeof wcap, "%s/a.wcap", dir);
	snprintf(fst, sizeof fst, "%s/a.fst", dir);
	snprintf(gtkw, sizeof gtkw, "%s/a.gtkw", dir);
	return 0;
}

static int replay_files_drop(void **state)
{
	(void)state;
	remove(wcap);
	remove(fst);
	remove(gtkw);
	return rmdir(dir);
}

struct wave_names { char scope[512], full[1024]; };

/* The next signal of a waveform, its whole name without spaces in n->full; 0: no more. */
static fstHandle next_signal(void *x, struct wave_names *n)
{
	struct fstHier *h;

	while ((h = fstReaderIterateHier(x))) {
		if (h->htyp == FST_HT_SCOPE) {
			snprintf(n->scope + strlen(n->scope), sizeof n->scope - strlen(n->scope), "%s.", h->u.scope.name);
		} else if (h->htyp == FST_HT_UPSCOPE) {
			n->scope[strlen(n->scope) - 1] = '\0';
			char *dot = strrchr(n->scope, '.');
			n->scope[dot ? dot + 1 - n->scope : 0] = '\0';
		} else if (h->htyp == FST_HT_VAR) {
			snprintf(n->full, sizeof n->full, "%s%s", n->scope, h->u.var.name);
			char *space = strchr(n->full, ' ');
			if (space)
				memmove(space, space + 1, strlen(space));
			return h->u.var.handle;
		}
	}
	return 0;
}

#endif

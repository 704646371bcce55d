/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder for a captured failure and the waveform of its replay, made and
 * removed with a test's group.
 */
#ifndef TESTS_SUPPORT_REPLAY_FILES_H
#define TESTS_SUPPORT_REPLAY_FILES_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char dir[] = "/tmp/weft-replay-XXXXXX", wcap[64], fst[64], gtkw[64];

static int replay_files_make(void **state)
{
	(void)state;
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

#endif

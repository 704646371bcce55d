/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_TOOLS_SEGMENTS_H
#define WEFT_TOOLS_SEGMENTS_H

#include <sys/types.h>

#include "weft_cmd.h"

struct jobs {
	int n;                     /* 0: not in segments */
	const char *dir;           /* for the files; NULL: a temporary one */
	bool only_files;           /* --checkpoints: do not run them */
	const char *device, *plant;   /* as on the command line */
	char own[4096];
};

int run_one_segment(const char *file, const struct weft_session_options *o, const char *result);
/* struct weft_segments.run, user is struct jobs */
int run_jobs(void *user, const char *const *file, const char *const *result, int n);
/* Both return an exit status. */
int jobs_dir(struct jobs *j);
void jobs_clean(struct jobs *j, int n);

#endif

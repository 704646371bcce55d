/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_TOOLS_SEGMENTS_H
#define WEFT_TOOLS_SEGMENTS_H

#include "weft_cmd.h"

struct jobs {
	int n;                     /* 0: not in segments */
	const char *dir;           /* --checkpoints: only their files */
};

/* An exit status. */
int run_one_segment(const char *file, const struct weft_session_options *o);
/* o: what they shall run on; s: a session on the model. 0 or a negative errno */
int run_in_segments(const struct jobs *j, const struct weft_session_options *o, weft_session *s, const weft_tensor *in,
                    weft_tensor *out, struct weft_report **rep, char *msg);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file under way. It is written under a name of its own beside the place where it will be, which
 * it takes when all of it is on the disk: a failure leaves the old file. What is there and no
 * regular file (a device, a pipe) is never replaced; it is written to as it is.
 */
#ifndef WEFT_FILES_FILE_OUT_H
#define WEFT_FILES_FILE_OUT_H

#include <stdio.h>

struct weft_file_out {
	FILE *f;                   /* to write to */
	char *path, *part;         /* owned; part NULL: path itself is written */
};

/* Opens the file under way. Nothing is left to finish if it fails. Returns 0 or a negative errno. */
int weft_file_create(const char *path, struct weft_file_out *o) __attribute__((warn_unused_result));

/*
 * Ends it: flushed, on the disk, in its place; or gone, if err or one of these steps says so.
 * Returns err, or what failed.
 */
int weft_file_finish(struct weft_file_out *o, int err) __attribute__((warn_unused_result));

#endif

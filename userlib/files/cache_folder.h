/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder of files that can be made again, named by what they hold. It is this user's alone; several processes may
 * use it at once. A file comes into it whole or not at all (file_out.h), and those that were used longest ago go
 * first when there are too many. Names are WEFT_CACHE_HEX hexadecimal digits with WEFT_CACHE_ENDING behind; other files
 * of the folder are never touched, and links never followed.
 */
#ifndef WEFT_FILES_CACHE_FOLDER_H
#define WEFT_FILES_CACHE_FOLDER_H

#include <stddef.h>
#include <stdint.h>

#include "file_out.h"

#define WEFT_CACHE_HEX    64           /* hexadecimal digits of a name */
#define WEFT_CACHE_ENDING ".program"

/*
 * Makes the folder and those on the way to it that are not there, mode 0700. Returns 0; -EPERM if it is another
 * user's, or others may write to it; -ENAMETOOLONG; or the negative errno of making or opening it.
 */
WEFT_MUST_USE int weft_cache_folder(const char *folder);

/*
 * Reads the file `name` of the folder, of at most `most` bytes, into *data, *len bytes from malloc, and notes that it
 * was used, if that can be noted. Returns 0; -ENOENT if there is none; -ELOOP for a link; -ENAMETOOLONG; or as
 * weft_file_read(). After a failure *data is NULL and *len 0.
 */
WEFT_MUST_USE int weft_cache_read(const char *folder, const char *name, uint64_t most, uint8_t **data, size_t *len);

/*
 * Opens the file `name` of the folder to be written anew; weft_file_finish() must follow. What has this name and is no
 * regular file, such as a link, is removed first. Returns 0; -ENAMETOOLONG or the negative errno of removing it, with *o
 * untouched; or as weft_file_create().
 */
WEFT_MUST_USE int weft_cache_create(const char *folder, const char *name, struct weft_file_out *o);

/*
 * Removes the finished files that were used longest ago until those that are left have `limit` bytes at most, and
 * all temporary files that are an hour old or older, whose process must have been killed. A file that cannot be
 * removed, or that another process has just removed, is no error and counts as removed. Returns 0, or the negative
 * errno of opening or reading the folder, -ENOMEM among them; then no finished file is removed.
 */
WEFT_MUST_USE int weft_cache_trim(const char *folder, uint64_t limit);

#endif

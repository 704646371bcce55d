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
 * Reads the file `name` of the folder into *data, *len bytes from malloc, and notes that it was used. Returns 0;
 * -ENOENT if there is none; -ELOOP for a link; or as weft_file_read(). After a failure *data is NULL.
 */
WEFT_MUST_USE int weft_cache_read(const char *folder, const char *name, uint64_t most, uint8_t **data, size_t *len);

/*
 * Opens the file `name` of the folder to be written anew; weft_file_finish() must follow. What has this name and is no
 * regular file, such as a link, is removed first. Returns 0 or as weft_file_create().
 */
WEFT_MUST_USE int weft_cache_create(const char *folder, const char *name, struct weft_file_out *o);

/*
 * Removes the files that were used longest ago until those that are left have `limit` bytes at most, and temporary
 * files that are an hour old, whose process must have been killed. Returns 0, or the negative errno of reading the
 * folder, -ENOMEM among them; what another process has just removed, or what cannot be removed, is no error.
 */
WEFT_MUST_USE int weft_cache_trim(const char *folder, uint64_t limit);

#endif

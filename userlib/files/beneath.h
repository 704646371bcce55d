/* SPDX-License-Identifier: Apache-2.0 */
/* Files that another file names, and which must lie in its folder. */
#ifndef WEFT_FILES_BENEATH_H
#define WEFT_FILES_BENEATH_H

#include <weft/api.h>

/*
 * Opens the regular file that the relative path `name` leads to from `folder`, for reading, without ever
 * leaving the folder: neither by "..", nor by a path from the root, nor through a link. Links that stay
 * inside are followed. Returns a descriptor that the caller closes; -EXDEV if the path leaves the folder;
 * -ELOOP for more than 40 links; -EISDIR if it leads to a folder; -EMEDIUMTYPE for a pipe, device or
 * socket, which is not waited for; -ENOENT if there is no such file or `name` is empty; or the negative
 * errno of opening folder or file. Where the kernel lacks openat2 or a sandbox refuses it (ENOSYS, EPERM,
 * EAGAIN, E2BIG, EINVAL), the path is walked folder by folder (weft_open_beneath_stepwise(), with its
 * errors).
 */
WEFT_MUST_USE int weft_open_beneath(const char *folder, const char *name);

/*
 * Opens the regular file that the relative path `name` leads to from `folder`, for reading, without
 * openat2 (Linux 5.6). It opens one folder after the other, and reads and follows links itself, so that
 * the path never leaves the folder. Returns a descriptor that the caller closes, or one of these:
 *
 *   -EXDEV         the path or a link on it begins with a slash, or a ".." leaves the folder
 *   -ELOOP         there are more than 40 links on the path
 *   -ENAMETOOLONG  path and links take PATH_MAX bytes or more, the path is more than 63 folders deep, or one of
 *                  its names is longer than the folder allows
 *   -ENOTDIR       a slash stands behind a file's name
 *   -EISDIR        the path ends at a folder
 *   -EMEDIUMTYPE   it ends at a pipe, a device or a socket
 *   -ENOENT        `name` is empty, or there is no such file
 *
 * or the negative errno of opening a folder or the file.
 */
WEFT_MUST_USE int weft_open_beneath_stepwise(const char *folder, const char *name);

#endif

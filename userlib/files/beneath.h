/* SPDX-License-Identifier: Apache-2.0 */
/* Files that another file names, and which must lie in its folder. */
#ifndef WEFT_FILES_BENEATH_H
#define WEFT_FILES_BENEATH_H

/*
 * Opens the regular file that the relative path `name` leads to from `folder`, for reading, without
 * ever leaving the folder: neither by "..", nor by a path from the root, nor through a link. Links
 * that stay inside are followed. Returns a descriptor that the caller
 * closes, or -EXDEV if the path leaves the folder, -ELOOP for more than 40 links, -EISDIR,
 * -EMEDIUMTYPE for a pipe, device or socket, which is not waited for, or what opening it said.
 */
int weft_open_beneath(const char *folder, const char *name) __attribute__((warn_unused_result));

/*
 * The same without the kernel's help (openat2, Linux 5.6): folder by folder, links read and followed
 * by hand. weft_open_beneath() uses it where the kernel or a sandbox refuses the call.
 */
int weft_open_beneath_stepwise(const char *folder, const char *name) __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seam between the library and the system: every call by which the library takes memory, reads,
 * writes or puts a file in its place, maps memory or starts a thread goes through this table. Tests
 * put functions in it that fail (tests/support/fail_at.h); nobody else changes it.
 *
 * For memory and threads no file has to know: the library's sources are compiled with
 * driver/sys_names.h in front, which gives malloc and the others the names of the functions of sys.c.
 * Files are read and written in userlib/files and onnx_external.c alone, which use the table. What
 * other libraries do for us (zlib, libpng, libjpeg, libc's stdio) is not seen here.
 */
#ifndef WEFT_DRIVER_SYS_H
#define WEFT_DRIVER_SYS_H

#include <pthread.h>
#include <stddef.h>
#include <sys/types.h>

struct weft_sys {
	void *(*take)(size_t n);                       /* malloc */
	void *(*take_zeroed)(size_t n, size_t bytes);  /* calloc */
	void *(*resize)(void *p, size_t n);            /* realloc */
	char *(*copy)(const char *s);                  /* strdup */
	void (*give)(void *p);                         /* free */
	int (*open_file)(const char *path, int flags, unsigned mode);
	ssize_t (*read_fd)(int fd, void *to, size_t n);
	ssize_t (*read_at)(int fd, void *to, size_t n, off_t at);   /* pread */
	ssize_t (*write_fd)(int fd, const void *from, size_t n);
	int (*sync_fd)(int fd);                        /* fsync */
	int (*move)(const char *from, const char *to); /* rename */
	void *(*map)(void *at, size_t n, int prot, int flags, int fd, off_t from);   /* mmap */
	int (*start)(pthread_t *t, const pthread_attr_t *a, void *(*fn)(void *), void *arg);   /* pthread_create */
};

/* The table in force; libc's functions unless a test has changed it. */
extern struct weft_sys weft_sys;

/* What a negative errno means, in words for a message: constant text or strerror()'s. */
const char *weft_sys_error(int err);

#endif

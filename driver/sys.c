/* SPDX-License-Identifier: Apache-2.0 */
/* The functions behind the names of sys_names.h; see sys.h. This file is compiled without them. */
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* open() with its third argument always there. */
static int open_file(const char *path, int flags, unsigned mode)
{
	return open(path, flags, (mode_t)mode);
}

struct weft_sys weft_sys = {
	.take = malloc, .take_zeroed = calloc, .resize = realloc, .copy = strdup, .give = free,
	.open_file = open_file, .read_fd = read, .read_at = pread, .write_fd = write, .sync_fd = fsync, .move = rename,
	.map = mmap, .start = pthread_create,
};

void *weft_sys_malloc(size_t n);
void *weft_sys_calloc(size_t n, size_t bytes);
void *weft_sys_realloc(void *p, size_t n);
char *weft_sys_strdup(const char *s);
void weft_sys_free(void *p);
void *weft_sys_mmap(void *at, size_t n, int prot, int flags, int fd, off_t from);
int weft_sys_thread(pthread_t *t, const pthread_attr_t *a, void *(*fn)(void *), void *arg);

/* Each does what the function of that name does, by the table. */
void *weft_sys_malloc(size_t n) { return weft_sys.take(n); }
void *weft_sys_calloc(size_t n, size_t bytes) { return weft_sys.take_zeroed(n, bytes); }
void *weft_sys_realloc(void *p, size_t n) { return weft_sys.resize(p, n); }
char *weft_sys_strdup(const char *s) { return weft_sys.copy(s); }
void weft_sys_free(void *p) { weft_sys.give(p); }
void *weft_sys_mmap(void *at, size_t n, int prot, int flags, int fd, off_t from) { return weft_sys.map(at, n, prot, flags, fd, from); }
int weft_sys_thread(pthread_t *t, const pthread_attr_t *a, void *(*fn)(void *), void *arg) { return weft_sys.start(t, a, fn, arg); }

const char *weft_sys_error(int err)
{
	return err == -ENOMEM ? "out of memory" : strerror(-err);
}

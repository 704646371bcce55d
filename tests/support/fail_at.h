/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failures of the system at a chosen point: the library's table (driver/sys.h) gets functions that
 * count calls and fail the k-th one, alone or with all that follow; and that know what the library
 * has taken and not given back. One test program at a time, from one thread; the library's threads are
 * counted with it.
 */
#ifndef WEFT_TESTS_FAIL_AT_H
#define WEFT_TESTS_FAIL_AT_H

#include <stdbool.h>

/* What fails, as a set: memory with ENOMEM; opening with EMFILE; reading and writing back (fsync, rename) with EIO;
 * writing with ENOSPC; mmap with ENOMEM; threads with EAGAIN. */
enum {
	FAIL_MEMORY = 1, FAIL_OPEN = 2, FAIL_READ = 4, FAIL_WRITE = 8, FAIL_SYNC = 16, FAIL_MOVE = 32, FAIL_MAP = 64, FAIL_THREAD = 128,
	FAIL_FILES = FAIL_OPEN | FAIL_READ | FAIL_WRITE | FAIL_SYNC | FAIL_MOVE,
};

/* Count calls of these kinds from 1, and fail call number `at` (0: none), or from it on. Forgets what is live. */
void fail_begin(unsigned kinds, long at, bool go_on);

/* Stop counting and failing. Returns how many calls there were. */
long fail_end(void);

/* Neither counts nor fails while on; what is taken meanwhile is live all the same. */
void fail_pause(bool on);

/* Frees what the library has taken. */
void fail_free(void *p);

/* Allocations since fail_begin() that are not freed. */
long fail_live(void);

/* The kind of the call that failed first since fail_begin(); 0: none did. */
unsigned fail_kind(void);

/* Its name, for messages. */
const char *fail_kind_name(unsigned kind);

#endif

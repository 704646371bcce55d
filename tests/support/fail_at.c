/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/fail_at.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "driver/sys.h"

#define SLOTS (1 << 20)

static struct weft_sys real;   /* what was in the table */
static struct {
	pthread_mutex_t lock;
	bool on, paused, go_on;
	unsigned kinds, hit;
	long n, at;
	void *slot[SLOTS]; long n_live;
	uint32_t used[SLOTS], n_used;   /* slots that are not NULL: few, where thousands of operations begin one after the other */
} s = { .lock = PTHREAD_MUTEX_INITIALIZER };

static char gone;              /* marks a slot whose search goes on behind it */

/* Counts a call of this kind. Shall it fail? */
static bool fails(unsigned kind, int err)
{
	bool now = false;

	pthread_mutex_lock(&s.lock);
	if (s.on && !s.paused && (s.kinds & kind))
		now = ++s.n >= s.at && s.at && (s.go_on || s.n == s.at);
	if (now && !s.hit)
		s.hit = kind;
	pthread_mutex_unlock(&s.lock);
	if (now)
		errno = err;
	return now;
}

static size_t home(const void *p)
{
	return ((uintptr_t)p >> 4) * 0x9e3779b97f4a7c15u >> 44;
}

static void *note(void *p)
{
	pthread_mutex_lock(&s.lock);
	for (size_t i = home(p); s.on && p; i = (i + 1) % SLOTS)
		if (!s.slot[i] || s.slot[i] == &gone) {
			if (!s.slot[i])
				s.used[s.n_used++] = (uint32_t)i;
			s.slot[i] = p;
			s.n_live++;
			break;
		}
	pthread_mutex_unlock(&s.lock);
	return p;
}

static void forget(void *p)
{
	pthread_mutex_lock(&s.lock);
	for (size_t i = home(p); p && s.slot[i]; i = (i + 1) % SLOTS)
		if (s.slot[i] == p) {
			s.slot[i] = &gone;
			s.n_live--;
			break;
		}
	pthread_mutex_unlock(&s.lock);
}

static void *take(size_t n) { return fails(FAIL_MEMORY, ENOMEM) ? NULL : note(real.take(n)); }
static void *take_zeroed(size_t n, size_t bytes) { return fails(FAIL_MEMORY, ENOMEM) ? NULL : note(real.take_zeroed(n, bytes)); }
static char *copy(const char *t) { return fails(FAIL_MEMORY, ENOMEM) ? NULL : note(real.copy(t)); }

static void *resize(void *p, size_t n)
{
	if (fails(FAIL_MEMORY, ENOMEM))
		return NULL;
	forget(p);
	return note(real.resize(p, n));
}

static void give(void *p)
{
	forget(p);
	real.give(p);
}

static int open_file(const char *path, int flags, unsigned mode)
{
	return fails(FAIL_OPEN, EMFILE) ? -1 : real.open_file(path, flags, mode);
}

static ssize_t read_fd(int fd, void *to, size_t n) { return fails(FAIL_READ, EIO) ? -1 : real.read_fd(fd, to, n); }
static ssize_t read_at(int fd, void *to, size_t n, off_t at) { return fails(FAIL_READ, EIO) ? -1 : real.read_at(fd, to, n, at); }
static ssize_t write_fd(int fd, const void *from, size_t n) { return fails(FAIL_WRITE, ENOSPC) ? -1 : real.write_fd(fd, from, n); }
static int sync_fd(int fd) { return fails(FAIL_SYNC, EIO) ? -1 : real.sync_fd(fd); }
static int move(const char *from, const char *to) { return fails(FAIL_MOVE, EIO) ? -1 : real.move(from, to); }

static void *map(void *at, size_t n, int prot, int flags, int fd, off_t from)
{
	return fails(FAIL_MAP, ENOMEM) ? MAP_FAILED : real.map(at, n, prot, flags, fd, from);
}

static int start(pthread_t *t, const pthread_attr_t *a, void *(*fn)(void *), void *arg)
{
	return fails(FAIL_THREAD, EAGAIN) ? EAGAIN : real.start(t, a, fn, arg);
}

void fail_begin(unsigned kinds, long at, bool go_on)
{
	if (!real.take) {
		real = weft_sys;
		weft_sys = (struct weft_sys){ take, take_zeroed, resize, copy, give, open_file, read_fd, read_at, write_fd, sync_fd, move, map, start };
	}
	while (s.n_used)
		s.slot[s.used[--s.n_used]] = NULL;
	s.paused = false;
	s.n_live = s.n = 0;
	s.kinds = kinds;
	s.hit = 0;
	s.at = at;
	s.go_on = go_on;
	s.on = true;
}

long fail_end(void)
{
	s.on = false;
	return s.n;
}

void fail_pause(bool on)
{
	s.paused = on;
}

void fail_free(void *p)
{
	give(p);
}

long fail_live(void)
{
	return s.n_live;
}

unsigned fail_kind(void)
{
	return s.hit;
}

const char *fail_kind_name(unsigned kind)
{
	static const char *const names[] = { "allocation", "open", "read", "write", "fsync", "rename", "mmap", "thread" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (kind == 1u << i)
			return names[i];
	return "call";
}

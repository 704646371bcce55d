/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the heap in use, by functions in front of libc's own. For one program,
 * whose main file includes this; not under sanitizers, which bring theirs.
 */
#ifndef WEFT_TESTS_HEAP_H
#define WEFT_TESTS_HEAP_H

#include "../support/mutate.h"

#if !defined(__SANITIZE_ADDRESS__)
#include <malloc.h>

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t align, size_t n);
extern void __libc_free(void *p);

static size_t in_use, peak, base;

static void *took(void *p)
{
	size_t now = p ? __atomic_add_fetch(&in_use, malloc_usable_size(p), __ATOMIC_RELAXED) : 0;

	if (now > peak)
		peak = now;
	return p;
}

static void gave(void *p)
{
	if (p)
		__atomic_sub_fetch(&in_use, malloc_usable_size(p), __ATOMIC_RELAXED);
}

void *malloc(size_t n) { return took(__libc_malloc(n)); }
void *calloc(size_t n, size_t size) { return took(__libc_calloc(n, size)); }
void *memalign(size_t align, size_t n) { return took(__libc_memalign(align, n)); }
void *aligned_alloc(size_t align, size_t n) { return took(__libc_memalign(align, n)); }

int posix_memalign(void **p, size_t align, size_t n)
{
	*p = took(__libc_memalign(align, n));
	return *p ? 0 : 12;
}

void free(void *p)
{
	gave(p);
	__libc_free(p);
}

void *realloc(void *p, size_t n)
{
	size_t was = p ? malloc_usable_size(p) : 0;
	void *q = __libc_realloc(p, n);

	if (q || !n) {
		__atomic_sub_fetch(&in_use, was, __ATOMIC_RELAXED);
		took(q);
	}
	return q;
}

size_t heap_peak(int reset)
{
	size_t above = peak - base;

	if (reset)
		peak = base = in_use;
	return above;
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "mutate.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "include/le.h"
#include "tensors.h"

static uint64_t draw(uint64_t *rng, uint64_t below)
{
	return below ? test_random(rng) % below : 0;
}

struct bytes bytes_read(const char *path)
{
	struct bytes b = { 0 };
	FILE *f = fopen(path, "rb");

	if (!f)
		return b;
	fseek(f, 0, SEEK_END);
	b.n = (size_t)ftell(f);
	rewind(f);
	b.p = malloc(b.n + 1);
	if (b.p && fread(b.p, 1, b.n, f) != b.n) {
		free(b.p);
		b.p = NULL;
	}
	fclose(f);
	return b;
}

/* Anywhere, or in the first or last 4 KiB, where files keep their structure. */
static size_t place(const struct bytes *b, uint64_t *rng)
{
	size_t edge = b->n < 4096 ? b->n : 4096;

	switch (draw(rng, 3)) {
	case 0: return draw(rng, b->n);
	case 1: return draw(rng, edge);
	default: return b->n - 1 - draw(rng, edge);
	}
}

/* A word that could be a length or an offset becomes another one. */
static void change_length(struct bytes *b, uint64_t *rng)
{
	static const uint32_t edges[] = { 0, 1, 2, 4, 127, 255, 256, 65535, 65536, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff };

	for (int tries = 0; tries < 64 && b->n >= 4; tries++) {
		size_t at = place(b, rng) & ~(size_t)3;
		if (at + 4 > b->n)
			continue;
		uint32_t v = get32(b->p + at);
		if (v > b->n && (int32_t)v > 0)
			continue;
		switch (draw(rng, 5)) {
		case 0: v = edges[draw(rng, sizeof(edges) / sizeof(edges[0]))]; break;
		case 1: v += (uint32_t)draw(rng, 9) - 4; break;
		case 2: v *= 2; break;
		case 3: v = (uint32_t)draw(rng, b->n + 8); break;
		default: v = (uint32_t)(b->n - at); break;
		}
		put32(b->p + at, v);
		return;
	}
}

static void splice(struct bytes *b, uint64_t *rng)
{
	size_t from = place(b, rng), to = place(b, rng), n = 1 + draw(rng, 200);
	size_t max = b->n - (from > to ? from : to);

	memmove(b->p + to, b->p + from, n < max ? n : max);
}

static void cut_or_grow(struct bytes *b, uint64_t *rng)
{
	size_t at = place(b, rng), n = 1 + draw(rng, 64);

	if (draw(rng, 2)) {
		n = n < b->n - at ? n : b->n - at;
		memmove(b->p + at, b->p + at + n, b->n - at - n);
		b->n -= n;
		return;
	}
	uint8_t *p = realloc(b->p, b->n + n);
	if (!p)
		return;
	b->p = p;
	memmove(p + at + n, p + at, b->n - at);
	for (size_t i = 0; i < n; i++)
		p[at + i] = (uint8_t)test_random(rng);
	b->n += n;
}

static void once(struct bytes *b, uint64_t *rng)
{
	if (!b->n)
		return;
	switch (draw(rng, 8)) {
	case 0:
		b->n = draw(rng, 3) ? b->n - draw(rng, b->n < 64 ? b->n : 64) : draw(rng, b->n);
		return;
	case 1:
	case 2:
		b->p[place(b, rng)] ^= (uint8_t)(1 << draw(rng, 8));
		return;
	case 3:
		b->p[place(b, rng)] = (uint8_t)test_random(rng);
		return;
	case 4:
		splice(b, rng);
		return;
	case 5:
		cut_or_grow(b, rng);
		return;
	default:
		change_length(b, rng);
		return;
	}
}

struct bytes mutate(const struct bytes *from, uint64_t seed)
{
	uint64_t rng = seed * 0x9e3779b97f4a7c15u + 1;
	struct bytes b = { malloc(from->n + 1), from->n };
	int n = draw(&rng, 3) ? 1 : 2 + (int)draw(&rng, 7);

	if (!b.p)
		abort();
	memcpy(b.p, from->p, from->n);
	for (int i = 0; i < n; i++)
		once(&b, &rng);
	return b;
}

/* tests/fuzz/heap.h has one that counts. */
__attribute__((weak)) size_t heap_peak(int reset)
{
	(void)reset;
	return 0;
}

/* ---- trying ---- */

struct shared { long at; struct mutate_result r; };

/* Seconds of processor time. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A signal ends the program after s seconds of processor time, or after WAITS * s seconds by the clock, in case that it
 * sleeps. With s = 0 none does. */
#define WAITS 30
static void end_after(int s)
{
	const struct itimerval t = { .it_value.tv_sec = s };

	if (setitimer(ITIMER_PROF, &t, NULL))
		abort();
	alarm(WAITS * (unsigned)s);
}

/* The bytes once more, their end right before a page that cannot be read. */
struct fence { uint8_t *map; size_t n_map; };

static struct bytes fenced(const struct bytes *b, struct fence *f)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (b->n + page - 1) / page * page;

	f->n_map = room + page;
	f->map = mmap(NULL, f->n_map, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (f->map == MAP_FAILED || mprotect(f->map + room, page, PROT_NONE))
		abort();
	memcpy(f->map + room - b->n, b->p, b->n);
	return (struct bytes){ f->map + room - b->n, b->n };
}

static void try_one(struct shared *s, const struct bytes *from, uint64_t seed, mutate_fn *fn, size_t limit_bytes, int limit_s)
{
	struct bytes own = mutate(from, seed);
	struct fence fence;
	struct bytes b = fenced(&own, &fence);
	int accepted = 0;
	double start = now();

	end_after(limit_s);
	heap_peak(1);
	const char *wrong = fn(&b, &accepted);
	size_t used = heap_peak(0);
	end_after(0);
	s->r.done++;
	s->r.accepted += accepted;
	s->r.peak_bytes = used > s->r.peak_bytes ? used : s->r.peak_bytes;
	double took_s = now() - start;
	s->r.slowest_s = took_s > s->r.slowest_s ? took_s : s->r.slowest_s;
	if (wrong)
		snprintf(s->r.wrong, sizeof(s->r.wrong), "mutation %llu: %s", (unsigned long long)seed, wrong);
	else if (limit_bytes && used > limit_bytes)
		snprintf(s->r.wrong, sizeof(s->r.wrong), "mutation %llu: %zu bytes of heap > %zu", (unsigned long long)seed,
		         used, limit_bytes);
	free(own.p);
	munmap(fence.map, fence.n_map);
}

void mutate_all(const struct bytes *from, uint64_t first, long n, mutate_fn *fn, size_t limit_bytes, int limit_s,
                struct mutate_result *r)
{
	struct shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = 0;

	if (s == MAP_FAILED)
		abort();
	memset(s, 0, sizeof(*s));
	fflush(NULL);
	pid_t child = fork();
	if (child < 0)
		abort();
	if (!child) {
		/* cmocka catches these to go on with the next case; here they are the child's end. */
		static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
		for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
			signal(fatal[i], SIG_DFL);
		for (s->at = 0; s->at < n && !s->r.wrong[0]; s->at++)
			try_one(s, from, first + (uint64_t)s->at, fn, limit_bytes, limit_s);
		fflush(NULL);
		_exit(0);
	}
	waitpid(child, &status, 0);
	if (!s->r.wrong[0] && status)
		snprintf(s->r.wrong, sizeof(s->r.wrong), "mutation %llu: ended by %s %d",
		         (unsigned long long)first + (unsigned long long)s->at, WIFSIGNALED(status) ? "signal" : "status",
		         WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	*r = s->r;
	munmap(s, sizeof(*s));
}

/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "userlib/run/golden_room.h"

/* Tensors begin at multiples of so many bytes, for golden's fast implementations. */
#define ALIGN 64

/* The first bytes of the memory; the tensors follow behind. */
struct progress { atomic_int n; };

struct weft_golden_room {
	const weft_graph *g;
	weft_tensor *t;            /* the graph's tensors; data lies in the memory, or is the graph's, or is NULL */
	struct progress *done;     /* the memory; n is 0, then 1: the inputs are there, then 1 more for each operator */
	size_t bytes;              /* the memory's length */
};

struct weft_golden_room *weft_golden_room_new(const weft_graph *g, const bool *want, bool shared)
{
	struct weft_golden_room *r = calloc(1, sizeof(*r));
	size_t *at = calloc((size_t)g->n_tensors + 1, sizeof(*at));

	if (r) {
		r->g = g;
		r->bytes = ALIGN;
		r->t = calloc((size_t)g->n_tensors + 1, sizeof(*r->t));
	}
	for (int i = 0; r && at && i < g->n_tensors; i++) {
		if (!want[i] || g->tensors[i].t.data)
			continue;
		at[i] = r->bytes;
		r->bytes += (weft_tensor_bytes(&g->tensors[i].t) + ALIGN - 1) / ALIGN * ALIGN;
	}
	void *p = r && at && r->t ? mmap(NULL, r->bytes, PROT_READ | PROT_WRITE, (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS |
	                                 MAP_NORESERVE, -1, 0) : MAP_FAILED;
	for (int i = 0; p != MAP_FAILED && i < g->n_tensors; i++) {
		r->t[i] = g->tensors[i].t;
		if (at[i])
			r->t[i].data = (uint8_t *)p + at[i];
	}
	free(at);
	if (p != MAP_FAILED) {
		r->done = p;
		return r;
	}
	weft_golden_room_free(r);
	return NULL;
}

/*
 * Frees the room and unmaps its tensors in this process; other processes that share them keep theirs.
 * NULL is fine.
 */
void weft_golden_room_free(struct weft_golden_room *r)
{
	if (!r)
		return;
	if (r->done)
		munmap(r->done, r->bytes);
	free(r->t);
	free(r);
}

weft_tensor *weft_golden_room_tensors(struct weft_golden_room *r)
{
	return r->t;
}

/* The callback of weft_golden_exec_into(): notes that n operators have run. user is the room. */
static void on_done(void *user, int n)
{
	struct weft_golden_room *r = user;

	atomic_store(&r->done->n, n + 1);
}

int weft_golden_room_fill(struct weft_golden_room *r, struct weft_vars *vars, const weft_tensor *inputs, char *msg)
{
	return weft_golden_exec_into(r->g, vars, inputs, r->t, on_done, r, msg);
}

void weft_golden_room_wait(const struct weft_golden_room *r, int tensor)
{
	const struct timespec pause = { 0, 200000 };

	while (atomic_load(&r->done->n) < r->g->tensors[tensor].producer + 2)
		nanosleep(&pause, NULL);
}

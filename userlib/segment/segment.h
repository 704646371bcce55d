/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segments of a run: what a checkpoint holds, and what a segment leaves.
 */
#ifndef WEFT_RUN_SEGMENT_H
#define WEFT_RUN_SEGMENT_H

#include <stdio.h>

#include "userlib/run/internal.h"

/* State at a point of the program, between two commands with nothing under way. */
struct weft_state {
	struct weft_point at;
	uint8_t *sp, *arena;
	bool lent;                 /* these two */
	uint8_t *host;             /* host tensors one after another: index, bytes, data */
	uint64_t n_host;
};

/* One checkpoint file. Everything owned. */
struct weft_segment {
	uint32_t k, n;             /* this one, of so many */
	uint8_t memory;            /* enum weft_memory */
	bool check;
	uint8_t *program;          /* a .weft container */
	uint64_t n_program;
	uint8_t *inputs;           /* all of them, one after another */
	uint64_t n_inputs;
	uint64_t sp_bytes, arena_bytes;
	struct weft_state from, to;
};

void weft_state_free(struct weft_state *s);
void weft_segment_free(struct weft_segment *s);

/** The file's bytes, from malloc. @return 0 or -ENOMEM */
int weft_segment_write(struct weft_segment *s, uint8_t **out, size_t *n);
/** Trusts nothing. @return 0, -EINVAL (msg says why), -ENOMEM */
int weft_segment_read(const uint8_t *data, size_t n, struct weft_segment *s, char *msg);

/** What a segment measured and compared, of a session; written, or added to what the session has. */
int weft_segment_result_write(weft_session *s, uint8_t **out, size_t *n);
int weft_segment_result_add(weft_session *s, const uint8_t *data, size_t n, char *msg);

/* One that another process has begun. */
struct weft_segment_part {
	struct weft_golden_room *room; /* where it makes golden's tensors, or NULL; becomes the segment's */
	bool verified;             /* the stream in which the segment begins, on a device of the same features */
	/* At the end: until `to` of the segment is there, or what is done instead of comparing with it. */
	int (*end)(void *user, weft_session *s);
	void *user;
	bool compare;
	FILE *result;              /* for what was measured */
};

/** Run one whose program net->loaded is. part: may be NULL. @return as weft_segment_run() */
int weft_segment_go(const weft_net *net, const struct weft_segment *g, const weft_tensor *inputs,
                    const struct weft_session_options *given, const struct weft_segment_part *part, char *line, char *msg);

/** Forget what was measured so far, for weft_segment_result_add(). */
void weft_session_forget_measures(weft_session *s);

/* ---- jobs.c: n segments in processes of this machine, for s->states and s->points ---- */

struct weft_jobs;

struct weft_jobs *weft_jobs_open(weft_session *s, const weft_tensor *inputs, const struct weft_segments *o, int n);
/** At so many points the model's state is wanted, from the first on. */
int weft_jobs_n_states(const struct weft_jobs *j);
/** The state at point i is there: what begins there starts. @return 0 or a negative errno */
int weft_jobs_at(struct weft_jobs *j, int i);
/** Wait for all, and add up what they found. @return 0, -EBADMSG: something differs, or why one did not run; with msg */
int weft_jobs_join(struct weft_jobs *j, char *msg);
/** Ends what still runs. */
void weft_jobs_close(struct weft_jobs *j);

/** Commands [from, to) of a step as a stream of its own. NULL: out of memory. */
uint64_t *weft_cut_stream(const weft_program *p, const struct weft_step *step, uint32_t from, uint32_t to, size_t *n_words);

/**
 * Points that cut the program into about n parts which a simulator ends at the same time:
 * between any two commands, but where a sum is kept in the array.
 * golden: it is made first, and only the first part begins before it is there.
 * points[0] is the start; room for n + 1. @return how many parts, or -ENOMEM
 */
int weft_cut_points(const weft_program *p, const struct weft_config *cfg, enum weft_memory memory, bool golden, int n,
                    struct weft_point *points);

#endif

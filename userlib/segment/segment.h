/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segments of a run: what a checkpoint holds, how a segment runs, and what it leaves.
 */
#ifndef WEFT_RUN_SEGMENT_H
#define WEFT_RUN_SEGMENT_H

#include <stdio.h>

#include "userlib/run/internal.h"

/* The state at a point of the program, between two commands with none under way. */
struct weft_state {
	struct weft_point at;
	uint8_t *sp, *arena;       /* the bytes of scratchpad and arena */
	bool lent;                 /* sp and arena belong to somebody else */
	uint8_t *host;             /* the host's tensors one after another: index, number of bytes (8 bytes each), data */
	uint64_t n_host;           /* bytes of host */
};

/* One segment, as a checkpoint file has it. It owns everything that it points to. */
struct weft_segment {
	uint32_t k, n;             /* the segment's number from 0, and the number of segments */
	uint8_t memory;            /* enum weft_memory: the profile in which it runs */
	bool check;                /* compare it with golden */
	uint8_t *program;          /* a .weft container of n_program bytes */
	uint64_t n_program;
	uint8_t *inputs;           /* the network's inputs one after another, n_inputs bytes */
	uint64_t n_inputs;
	uint64_t sp_bytes, arena_bytes;    /* bytes of scratchpad and arena in each state */
	struct weft_state from, to;        /* where it begins, and where it must end */
};

/** Free what a state, or a segment, owns, and clear it. */
void weft_state_free(struct weft_state *s);
void weft_segment_free(struct weft_segment *s);

/** Write a segment as a checkpoint file's *n bytes, from malloc. @return 0 or -ENOMEM */
WEFT_MUST_USE int weft_segment_write(struct weft_segment *s, uint8_t **out, size_t *n);
/**
 * Read a checkpoint file's n bytes, which may come from anywhere. Whether its parts fit its program is
 * not checked here.
 * @return 0 with *s to be freed; otherwise *s is empty: -EINVAL with one line in msg (WEFT_MSG_LEN
 *         bytes); -ENOMEM, perhaps without one
 */
WEFT_MUST_USE int weft_segment_read(const uint8_t *data, size_t n, struct weft_segment *s, char *msg);

/**
 * Write what a segment has measured and compared in session s, as *n bytes from malloc; and add such a
 * result to what session s has. @return 0, -ENOMEM; -EINVAL: it is no result of this network, with one
 * line in msg
 */
WEFT_MUST_USE int weft_segment_result_write(weft_session *s, uint8_t **out, size_t *n);
WEFT_MUST_USE int weft_segment_result_add(weft_session *s, const uint8_t *data, size_t n, char *msg);

/* What the process of a segment has from the process that started it. */
struct weft_segment_part {
	struct weft_golden_room *room; /* where golden's tensors are being made, or NULL; the segment's session takes it over */
	bool verified;             /* the stream in which the segment begins has been verified for the same features */
	/* Called when the segment has run: waits until the state `to` is there, or does something else at the end. */
	int (*end)(void *user, weft_session *s);
	void *user;                /* the first argument of end */
	bool compare;              /* compare the end with the state `to` */
	FILE *result;              /* what was measured is written here */
};

/**
 * Run one segment of the program net->loaded on a device of its own, from the state g->from. The
 * scratchpad is filled with zeros at the beginning of each step.
 * @param given  The session's options; configuration, memory profile and check are the segment's.
 * @param part   NULL: compare the end, leave no result. Its room is the session's from then on if the
 *               session could be opened.
 * @param line, msg  Room for WEFT_MSG_LEN bytes each: what was run and compared, written only if all of
 *              it ran; what went wrong.
 * @return as weft_segment_run()
 */
WEFT_MUST_USE int weft_segment_go(const weft_net *net, const struct weft_segment *g, const weft_tensor *inputs,
                    const struct weft_session_options *given, const struct weft_segment_part *part, char *line, char *msg);

/** Set all measurements of the run to 0, before weft_segment_result_add(). */
void weft_session_forget_measures(weft_session *s);

/* ---- segment_jobs.c: n segments in processes of this machine, at s->points with s->states ---- */

struct weft_jobs;

/**
 * Prepare n segments, of which none runs yet: shared memory for the states at their n + 1 borders, which
 * s->states[0..n] use until weft_jobs_close(), and for outputs. inputs and *o are not copied and have to
 * stay until then. @return what weft_jobs_close() frees; NULL: out of memory
 */
struct weft_jobs *weft_jobs_open(weft_session *s, const weft_tensor *inputs, const struct weft_segments *o, int n);
/** Returns at how many points, from the first on, the model's state is wanted: n, or n + 1. */
int weft_jobs_n_states(const struct weft_jobs *j);
/**
 * Notes that the state at point i is there; tells those who wait for it, and starts the segment that begins
 * there; with the first one golden is made, too. @return 0 or a negative errno
 */
WEFT_MUST_USE int weft_jobs_at(struct weft_jobs *j, int i);
/**
 * Wait for all segments and, if all ran, make what they measured and compared the session's
 * measurements in place of those that it has, and the outputs that the last one left its host copies.
 * @return 0; -EBADMSG: something differs; the first negative errno of one that did not run; or -EINVAL,
 *         -EIO or -ENOMEM for a result that cannot be taken; one line in msg, except for these last two
 */
WEFT_MUST_USE int weft_jobs_join(struct weft_jobs *j, char *msg);
/** Kill the processes that still run and free everything; NULL is fine. */
void weft_jobs_close(struct weft_jobs *j);

/* ---- segment_cut.c ---- */

/**
 * Returns the commands from..to-1 of a step as a stream of its own, *n_words words from malloc: waits
 * are less by the commands of each unit before `from` (at least 0), and an END with tag 0xffffffff
 * follows. END itself, and what cannot be decoded, ends the commands early. NULL: out of memory.
 */
uint64_t *weft_cut_stream(const weft_program *p, const struct weft_step *step, uint32_t from, uint32_t to, size_t *n_words);

/**
 * Choose points that cut the program into at most n parts, which simulators that start them as the
 * model comes to them end at about the same time. A point lies between two steps, or in an NPU step
 * behind a command that is no load and no conv whose sums stay in the array for the next one, but not
 * behind the last two commands of the step.
 * @param golden  All of golden is made before any but the first part begins.
 * @param points  Room for n + 1: points[0] is the program's start, the one behind the last part its
 *                end.
 * @return how many parts, at least 1; points then has one more entry. Or -ENOMEM
 */
WEFT_MUST_USE int weft_cut_points(const weft_program *p, const struct weft_config *cfg, enum weft_memory memory, bool golden, int n,
                    struct weft_point *points);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run did, and when: the units cycle by cycle (on the RTL) or by counters (on a card),
 * operators, the host, transfers. A profile is written as a trace (Trace Event Format, which Perfetto and
 * chrome://tracing open) and as a table.
 *
 * There are two clocks: the NPU's cycles, counted through all streams one after another, and the
 * host's time since the run began.
 */
#ifndef WEFT_RUN_PROFILE_H
#define WEFT_RUN_PROFILE_H

#include "userlib/run/internal.h"

/* States of a unit: enum weft_does, and behind it, for each unit, that commands of that unit are waited for. */
#define WEFT_PROF_WAIT_UNIT WEFT_N_DOES
#define WEFT_PROF_STATES (WEFT_N_DOES + WEFT_N_UNITS)

/* Some successive cycles of a track: how many from `from` on were spent in each state. */
struct weft_prof_slice {
	uint64_t from;
	uint32_t n[WEFT_PROF_STATES];
};

/* What one unit did. */
struct weft_prof_track {
	struct weft_prof_slice *s; /* n_s slices in order of time */
	size_t n_s, cap_s;
	uint64_t total[WEFT_PROF_STATES];   /* cycles of the whole run, by state */
	unsigned state;            /* the state in the last cycle */
	uint64_t run;              /* for how many cycles without interruption */
	struct weft_prof_slice mix; /* runs shorter than the grain that are not a slice yet */
	uint64_t mixed;            /* cycles in mix */
	bool measured;             /* the device tells something about this track */
};

/* A command of a step: when it was issued, when its unit was free for it, and when it retired. */
struct weft_prof_cmd {
	int32_t step;
	uint32_t cmd;
	uint64_t issued, from, to;
};

/*
 * The cycles from..to-1 between one operator's end and the next one's, and what each track did in
 * them. entry is the operator whose end it is, as an entry of the report; -1: the stream's end.
 */
struct weft_prof_window {
	int entry;
	uint64_t from, to;
	uint64_t n[WEFT_N_TRACKS][WEFT_PROF_STATES];
};

/*
 * The work of one operator's own commands, in whatever window it was done: busy cycles of units, bytes
 * moved.
 */
struct weft_prof_work { uint64_t busy[WEFT_N_UNITS], rd_bytes, wr_bytes; };

/* What a span of host time is: an operator on the host, a job, a transfer over the link. */
enum weft_prof_lane { WEFT_LANE_HOST, WEFT_LANE_JOB, WEFT_LANE_LINK };

/* Something on the host's clock, in nanoseconds since the run began. */
struct weft_prof_span {
	enum weft_prof_lane lane;
	char name[80];
	uint64_t from_ns, to_ns, bytes;
};

struct weft_profile {
	const weft_session *s;
	int *entry, n_entries;     /* for each operator of the graph its entry in the report; number of entries */
	uint64_t grain, begin_ns;  /* states shorter than `grain` cycles share a slice; when the run began */
	bool by_cycle;             /* the device is watched in each cycle; false: only its counters are read */
	uint64_t cycles;           /* cycles of all streams that have ended */
	struct weft_prof_track track[WEFT_N_TRACKS];
	struct weft_prof_work *work;       /* by entry */
	struct weft_prof_window *win;      size_t n_win, cap_win;
	struct weft_prof_cmd *cmd;         size_t n_cmd, cap_cmd;
	struct weft_prof_span *span;       size_t n_span, cap_span;
	struct { uint32_t rd, wr; } *bin;  size_t n_bin, cap_bin;   /* bytes moved in each bin_cycles cycles */
	uint64_t bin_cycles;               /* cycles of a bin */
	/* Of the current stream: */
	int step;
	uint32_t *queue[WEFT_N_UNITS];     /* the commands of each unit, n_queue of them, in order */
	uint64_t *waits[WEFT_N_UNITS];     /* for which each waits: 16 bits for each unit */
	uint64_t *issued_at[WEFT_N_UNITS]; /* the cycle at which each was issued */
	uint32_t n_queue[WEFT_N_UNITS], issued[WEFT_N_UNITS], retired[WEFT_N_UNITS];   /* numbers of commands */
	uint64_t free_at[WEFT_N_UNITS];    /* when the unit's last command retired */
	uint32_t *left;                    /* by entry: commands that have not retired, loads apart */
	struct weft_prof_window now;       /* the current window */
	int err;                           /* -ENOMEM: memory ran out; otherwise 0 */
};

/**
 * Make an empty profile for the session's next run: by cycle on the RTL, otherwise by counters; with
 * the grain of options.profile_grain or, if that is 0, one chosen by the estimated cycles. On a card
 * the tracks of the four units count as measured, on the RTL all, elsewhere none. The host's clock
 * starts here.
 * @return it, which weft_profile_free() frees; NULL: out of memory
 */
struct weft_profile *weft_profile_new(const weft_session *s);
void weft_profile_free(struct weft_profile *p);

/**
 * A stream, that of step `step`, begins; the commands of the one before are forgotten, and a window
 * begins at p->cycles. On a device that can be watched, weft_profile_sample() is called afterwards in
 * each of its cycles. @return 0, -ENOMEM
 */
WEFT_MUST_USE int weft_profile_begin(struct weft_profile *p, int step);
void weft_profile_sample(void *user, const struct weft_sample *w);
/**
 * Note that the stream has ended. counters: all that is known of a stream that was not watched, which becomes
 * one window; p->cycles grows by its cycles. NULL: it was watched, or nothing is known; open runs of states
 * become slices, a window that is not empty ends as that of the stream's end, and p->cycles becomes the
 * stream's last cycle plus 1. @return 0, or -ENOMEM if memory ran out since the run began
 */
WEFT_MUST_USE int weft_profile_end(struct weft_profile *p, const struct weft_counters *counters);

/**
 * Add one window by its counters, which begins where the last one ended: what each of the four units
 * did (the array's stalls apart from its work). p->cycles becomes its end. entry is the entry of the report
 * whose end it is, to whose work the bytes and the busy cycles of array and vector engine are then added;
 * or -1: the stream's end.
 * @return 0, or -ENOMEM if memory ran out here or since the run began
 */
WEFT_MUST_USE int weft_profile_window(struct weft_profile *p, int entry, const struct weft_counters *c);

WEFT_MUST_USE int weft_profile_span(struct weft_profile *p, enum weft_prof_lane lane, const char *name, uint64_t from_ns, uint64_t bytes);
/**
 * The device's callback for a transfer over the link that has ended; user is the profile. Failures stay
 * in p->err.
 */
void weft_profile_transfer(void *user, const struct weft_transfer *t);

/** Returns a state in words, "?" if there is no such state. */
const char *weft_profile_state(unsigned state);

/* ---- profile_card.c ---- */

/**
 * Measure how the cycles of a step that has run on a card divide among its operators, by running
 * ever longer beginnings of it. before: the arena before the step; all: the counters of the whole step.
 * @return 0 or a negative errno
 */
WEFT_MUST_USE int weft_profile_card(weft_session *s, const struct weft_step *step, const uint8_t *before, const struct weft_counters *all);

/* ---- profile_write.c: writes the trace; profile_text.c: returns the table, from malloc ---- */

WEFT_MUST_USE int weft_profile_write(const struct weft_profile *p, const char *path, char *msg);
char *weft_profile_text(const struct weft_profile *p);

#endif

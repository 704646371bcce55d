/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run did, and when: the units cycle by cycle (RTL) or by counters (a
 * card), operators, the host, transfers. Written as a trace (Trace Event Format,
 * which Perfetto and chrome://tracing open) and as a table.
 *
 * Two clocks: the NPU's cycles, all streams one after another, and the host's
 * time since the run began.
 */
#ifndef WEFT_RUN_PROFILE_H
#define WEFT_RUN_PROFILE_H

#include "userlib/run/internal.h"

/* States of a unit: enum weft_does, and for which unit's commands it waits. */
#define WEFT_PROF_WAIT_UNIT WEFT_N_DOES
#define WEFT_PROF_STATES (WEFT_N_DOES + WEFT_N_UNITS)

/* Cycles of a track from `from` on, by state, in whatever order. */
struct weft_prof_slice {
	uint64_t from;
	uint32_t n[WEFT_PROF_STATES];
};

struct weft_prof_track {
	struct weft_prof_slice *s;
	size_t n_s, cap_s;
	uint64_t total[WEFT_PROF_STATES];
	unsigned state;            /* of the run under way */
	uint64_t run;              /* its cycles so far */
	struct weft_prof_slice mix; /* runs shorter than the grain, not yet a slice */
	uint64_t mixed;            /* cycles in it */
	bool measured;             /* the device says something of this track */
};

/* A command from when its unit was free for it to its retirement. */
struct weft_prof_cmd {
	int32_t step;
	uint32_t cmd;
	uint64_t issued, from, to;
};

/* Cycles from one operator's end to the next one's. entry: in the report; -1: the stream's end. */
struct weft_prof_window {
	int entry;
	uint64_t from, to;
	uint64_t n[WEFT_N_TRACKS][WEFT_PROF_STATES];
};

/* Work of one operator's own commands, wherever it was done. */
struct weft_prof_work { uint64_t busy[WEFT_N_UNITS], rd_bytes, wr_bytes; };

enum weft_prof_lane { WEFT_LANE_HOST, WEFT_LANE_JOB, WEFT_LANE_LINK };

/* Something on the host's clock. */
struct weft_prof_span {
	enum weft_prof_lane lane;
	char name[80];
	uint64_t from_ns, to_ns, bytes;
};

struct weft_profile {
	const weft_session *s;
	int *entry, n_entries;     /* by graph operator: its entry in the report */
	uint64_t grain, begin_ns;
	bool by_cycle;             /* else by counters */
	uint64_t cycles;           /* of streams that have ended; then of all */
	struct weft_prof_track track[WEFT_N_TRACKS];
	struct weft_prof_work *work;
	struct weft_prof_window *win;      size_t n_win, cap_win;
	struct weft_prof_cmd *cmd;         size_t n_cmd, cap_cmd;
	struct weft_prof_span *span;       size_t n_span, cap_span;
	struct { uint32_t rd, wr; } *bin;  size_t n_bin, cap_bin;   /* bytes, bin_cycles each */
	uint64_t bin_cycles;
	/* of the stream under way */
	int step;
	uint32_t *queue[WEFT_N_UNITS];     /* its commands by unit */
	uint64_t *waits[WEFT_N_UNITS];     /* their waits, 16 bits a unit */
	uint64_t *issued_at[WEFT_N_UNITS];
	uint32_t n_queue[WEFT_N_UNITS], issued[WEFT_N_UNITS], retired[WEFT_N_UNITS];
	uint64_t free_at[WEFT_N_UNITS];
	uint32_t *left;                    /* by entry: commands to retire, loads apart */
	struct weft_prof_window now;
	int err;
};

/** @return NULL: out of memory */
struct weft_profile *weft_profile_new(const weft_session *s);
void weft_profile_free(struct weft_profile *p);

/** A stream begins; afterwards weft_profile_sample() is called in each of its cycles. @return 0, -ENOMEM */
int weft_profile_begin(struct weft_profile *p, int step);
void weft_profile_sample(void *user, const struct weft_sample *w);
/** It has ended. counters: what the device said, where nothing was watched; else NULL. @return 0, -ENOMEM */
int weft_profile_end(struct weft_profile *p, const struct weft_counters *counters);

/** One window of the stream that just ended, by counters: up to the end of an entry of the report, or -1. */
int weft_profile_window(struct weft_profile *p, int entry, const struct weft_counters *c);

int weft_profile_span(struct weft_profile *p, enum weft_prof_lane lane, const char *name, uint64_t from_ns, uint64_t bytes);
void weft_profile_transfer(void *user, const struct weft_transfer *t);

const char *weft_profile_state(unsigned state);

/* ---- profile_card.c ---- */

/** The operators of a step that has run on a card, by running its beginnings. before: the arena as it was. */
int weft_profile_card(weft_session *s, const struct weft_step *step, const uint8_t *before, const struct weft_counters *all);

/* ---- profile_write.c: the trace; profile_text.c: the table, from malloc ---- */

int weft_profile_write(const struct weft_profile *p, const char *path, char *msg);
char *weft_profile_text(const struct weft_profile *p);

#endif

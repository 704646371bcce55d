/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of userlib/run share. See include/weft/weft.h for the meaning.
 */
#ifndef WEFT_RUN_INTERNAL_H
#define WEFT_RUN_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include <weft/gen/config.h>
#include <weft/gen/regs.h>
#include <weft/weft.h>

#include "userlib/compile/program.h"
#include "userlib/graph/graph.h"
#include "userlib/run/golden_exec.h"
#include "userlib/run/golden_room.h"

struct weft_net {
	weft_graph *graph;         /* owned, unless loaded is set */
	weft_program *loaded;      /* from a .weft file; holds the graph */
	const weft_graph *g;       /* whichever */
};

/* What one run has measured of each graph operator's group. */
struct weft_op_measure {
	uint64_t halves;           /* half cycles that counted for it, see weft_share_cycles() */
	uint64_t rd_bytes, wr_bytes;
};

/* State of the comparison with golden. */
struct weft_checker {
	const weft_graph *g;
	const weft_program *p;
	const weft_tensor *golden; /* all tensors, or NULL: only capture */
	const struct weft_golden_room *room; /* where they come to be while this runs, or NULL: they are there */
	weft_tensor *seen;         /* what the device made, or NULL: only compare */
	int64_t *covered;          /* elements compared, by tensor */
	uint64_t elements, mismatches;
	struct weft_mismatch first;
	uint8_t *row;              /* scratch */
	size_t cap_row;
};

/* Before command cmd of a step. */
struct weft_point { int32_t step; uint32_t cmd; };

struct weft_cmd;
struct weft_state;
struct weft_jobs;
struct weft_profile;

struct weft_session {
	pthread_mutex_t starting;  /* guards the next */
	struct weft_async *async;  /* runs that were submitted (async.c), or NULL: none was */
	pthread_mutex_t running;   /* held by the thread that runs */
	_Atomic(atomic_bool *) cancel;     /* of the run under way: shall it end? NULL: it cannot be cancelled */
	_Atomic weft_job job;      /* the device's job under way, plus 1; 0: none */
	const weft_net *net;
	struct weft_session_options o;
	const struct weft_config *cfg;
	const weft_program *p;
	weft_program *own_program;
	weft_program *plan;        /* golden: what a device would run, once someone has asked */
	weft_dev *dev;
	weft_buf *consts, *arena;
	uint64_t *words;           /* own streams, where some fields are known only now; else NULL */
	struct weft_vars vars;     /* the network's variables, as golden has them */
	struct weft_vars host_vars;  /* and as the host's operators beside a device have them */
	/* of the run under way */
	weft_tensor *host;         /* by graph tensor: the host's copies; data NULL where none */
	weft_tensor *golden;       /* all of golden's tensors; data NULL unless checking */
	struct weft_golden_room *room; /* where they are, or NULL: each in memory of its own */
	struct weft_golden_room *given_room; /* for the next run, which need not make them; or NULL */
	struct weft_checker check;
	struct weft_op_measure *measure;
	int i_step;
	uint32_t first_cmd;        /* of the stream under way, where it is part of a step's */
	uint64_t *ended;           /* when the commands of that step retired, since first_cmd began; NULL: none has */
	struct weft_point from, to; /* what to run; to 0, 0: all of it */
	bool verified;             /* the stream in which `from` is, as the program has it */
	bool clean;                /* steps begin with a scratchpad of zeros */
	/* States to be taken at n_points points, in order. */
	const struct weft_point *points;
	struct weft_state *states;
	int n_points, i_point;
	struct weft_jobs *jobs;    /* that start there, or NULL */
	uint64_t cycles_before;    /* of earlier streams */
	uint64_t work_done, work_all; /* commands, for progress */
	struct weft_counters counters;
	double seconds, cpu_seconds;
	uint64_t sim_cycles;
	uint8_t *before;           /* the arena as the step began, or NULL: no capture */
	bool captured;
	int capture_error;         /* of the last attempt */
	struct weft_profile *profile;      /* options.profile, or NULL */
	char *error;               /* msg of the run under way */
};

/* ---- net.c ---- */

/** Does a network that gives the bits of one runtime serve for another? If not, msg says so. */
bool weft_runtime_fits(enum weft_runtime is, enum weft_runtime want, char *msg);

/* ---- session.c, for segments ---- */

int weft_session_prepare(weft_session *s, const weft_tensor *inputs);
int weft_session_steps(weft_session *s);
int weft_session_outputs(weft_session *s, weft_tensor *outputs);
struct weft_report *weft_session_report(weft_session *s);

/** Do the caller's outputs have types, shapes and memory? @return 0, -EINVAL with msg */
int weft_session_check_outputs(const weft_session *s, const weft_tensor *outputs, char *msg);

/** weft_session_run_into() that ends with -ECANCELED soon after *cancel becomes true; outputs were checked. */
int weft_session_run_until(weft_session *s, const weft_tensor *inputs, const weft_tensor *outputs, atomic_bool *cancel,
                           struct weft_report **rep, char *msg);

/** Make *cancel true; if that run is under way its device is told. From any thread; does not wait. */
void weft_session_stop(weft_session *s, atomic_bool *cancel);

/* ---- async.c ---- */

/** Cancels what is under way and ends the thread. */
void weft_session_async_free(weft_session *s);

/* ---- segment.c ---- */

/** The state as it is, if one is wanted at this point. */
int weft_session_take_state(weft_session *s, int step, uint32_t cmd);
int weft_session_clean_sp(weft_session *s);

/* ---- check.c ---- */

int weft_checker_begin(struct weft_checker *c, const weft_graph *g, const weft_program *p,
                       const weft_tensor *golden, bool keep);
void weft_checker_end(struct weft_checker *c);

/** Mark the tensors of golden that a check of the program looks at. */
void weft_checker_wants(const weft_program *p, bool *want);

/**
 * A command has retired: take and compare what it wrote.
 * @return 0 or a negative errno; differences are counted, not returned
 */
int weft_checker_retire(struct weft_checker *c, weft_dev *dev, const struct weft_step *step,
                        const struct weft_retire *r);

/** The same for one record, of the program's command cmd, whose elements lie in data, row after row. */
int weft_checker_record(struct weft_checker *c, const struct weft_prec *q, const uint8_t *data, uint32_t cmd);

/** A byte of memory that is not what the run with added stores left there. */
void weft_checker_byte(struct weft_checker *c, uint64_t addr, uint8_t expected, uint8_t got);

/** An element as the numbers of a difference show it: integers as they are, the codes of floats as signed integers. */
int64_t weft_element_value(weft_dtype t, const void *p);

/** Compare a tensor that is wholly in memory. cmd -1. */
void weft_checker_tensor(struct weft_checker *c, int tensor, const void *data);

/** Tensors of which every element was compared; one that was compared in part counts as different. */
uint64_t weft_checker_tensors(struct weft_checker *c);

/* ---- session.c: the host's copy of a tensor, fetched if need be. *err: 0 or negative errno ---- */

const weft_tensor *weft_session_tensor(weft_session *s, int tensor, int *err);

/* ---- late.c: what this step needs and is not in the program. 0 or negative errno ---- */

int weft_session_late(weft_session *s, int step);

/* The program's streams as this session runs them. */
static inline const uint64_t *weft_session_words(const weft_session *s)
{
	return s->words ? s->words : s->p->words;
}

/* ---- trace.c ---- */

/** Check a step that has run, by running it again with stores added. before: the arena as it was. */
int weft_trace_step(weft_session *s, const struct weft_step *step, const uint8_t *before);
/** Compare the arena with another buffer of its size. */
int weft_trace_same(weft_session *s, weft_buf *other);

/* ---- capture_session.c ---- */

/** An NPU step is about to start. @return 0 or a negative errno */
int weft_session_remember(weft_session *s);

/**
 * A step went wrong: write options.capture, once.
 * @param r  What the device said, or NULL.
 * @return 0 (also without a capture asked for), or a negative errno
 */
int weft_session_capture(weft_session *s, int step, int status, const char *why, const struct weft_job_result *r);

/** Bytes that a load or a store moves. */
uint64_t weft_moved_bytes(const struct weft_cmd *c);

/* ---- report.c ---- */

struct weft_report *weft_report_new(const weft_session *s);

/* ---- host_cost.c ---- */

/** Processor time that an operator takes on the host, roughly, in ms; negative: nobody knows. */
double weft_host_ms(const weft_graph *g, const struct weft_gop *o, uint64_t macs);

/** By graph operator its entry in a report, of n; from malloc. NULL: out of memory */
int *weft_report_entries(const weft_program *p, int *n);

/** Does a host operator stand in the middle? Then 1, and msg names it. */
int weft_plan_breaks_strict(const weft_program *p, char *msg);

/** The first element that its type does not have (bool, 2 and 4 bits, int48), and its value; -1: none. */
int64_t weft_beyond_type(const weft_tensor *t, int64_t *value);

#endif

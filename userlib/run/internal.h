/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of userlib/run share, and what other folders need of sessions. include/weft/weft.h
 * describes the public functions.
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
#include "userlib/run/program_cache.h"

struct weft_net {
	weft_graph *graph;         /* the imported graph, owned; NULL if loaded is set */
	weft_program *loaded;      /* the program of a .weft file, which owns its graph; or NULL */
	const weft_graph *g;       /* the network's graph: graph, or that of loaded */
	bool no_compress;          /* of the options with which it was loaded: programs compiled for it have no coded weights */
};

/* What one run has measured for one operator of the graph. */
struct weft_op_measure {
	uint64_t halves;           /* half cycles that count for it, see weft_share_cycles() */
	uint64_t rd_bytes, wr_bytes;   /* bytes that its commands loaded and stored */
};

/* State of the comparison of one run with golden. */
struct weft_checker {
	const weft_graph *g;
	const weft_program *p;
	const weft_tensor *golden; /* golden's tensors, by index; NULL: values are only kept */
	const struct weft_golden_room *room; /* golden's tensors are still being made there; NULL: they are complete */
	weft_tensor *seen;         /* the tensors as the device made them, by index; NULL: they are not kept */
	int64_t *covered;          /* for each tensor, how many elements were seen */
	uint64_t elements, mismatches;   /* elements that were compared, and that differ */
	struct weft_mismatch first;      /* the first difference */
	uint8_t *row;              /* room for one row, cap_row bytes */
	size_t cap_row;
};

/* A point in a program: before command cmd of step `step`. */
struct weft_point { int32_t step; uint32_t cmd; };

struct weft_async;
struct weft_cards;
struct weft_cmd;
struct weft_state;
struct weft_jobs;
struct weft_profile;

struct weft_session {
	pthread_mutex_t starting;  /* guards async */
	struct weft_async *async;  /* the queue of submitted runs (async.c); NULL until it is first needed */
	pthread_mutex_t running;   /* held by the thread that runs the network */
	_Atomic(atomic_bool *) cancel;     /* true there: the current run shall end; NULL: it cannot be cancelled */
	_Atomic weft_job job;      /* the number of the device's current job, plus 1; 0: none */
	const weft_net *net;
	struct weft_session_options o;
	const struct weft_config *cfg;
	const weft_program *p;     /* the program that runs: the net's, own_program or plan */
	weft_program *own_program; /* compiled for this session, or NULL; owned */
	struct weft_program_cache cache;   /* where own_program is kept, and what came of that */
	weft_program *plan;        /* golden: what a device would run, compiled when it is asked for; owned */
	weft_dev *dev;             /* NULL on golden and over several cards */
	struct weft_cards *cards;  /* the cards over which the session runs; NULL: it runs on dev, or on golden */
	weft_session **each;       /* over cards: the session on each of them, with this one's program; owned */
	weft_session *over;        /* the session over several cards, of which this one is on one; or NULL */
	atomic_bool claimed;       /* over cards: a session of `each` has written the capture, or is about to */
	uint64_t cost;             /* cycles that a run is expected to take, at least 1 */
	weft_buf *consts, *arena;  /* the windows of the program's streams */
	uint64_t *words;           /* an own copy of all streams, if fields in them are known only in the run; otherwise NULL */
	struct weft_vars vars;     /* the values of variables as golden has them */
	struct weft_vars host_vars;  /* and as the host's operators beside a device have them */
	struct weft_spares spares; /* golden's memory between two operators and two runs */
	/* Of the current or the last run: */
	weft_tensor *host;         /* by tensor of the graph: the host's copy; data NULL if it has none */
	weft_tensor *golden;       /* all of golden's tensors; NULL unless the run is checked or on golden */
	struct weft_golden_room *room; /* the memory that holds them, or NULL: each has memory of its own */
	struct weft_golden_room *given_room; /* golden's tensors of the next run, made by somebody else; or NULL */
	struct weft_checker check;
	struct weft_op_measure *measure;   /* by operator of the graph */
	int i_step;                /* the step that runs */
	uint32_t first_cmd;        /* the first command of the current stream, if it is only a part of the step's */
	uint64_t *ended;           /* by command of the step: the cycle, since first_cmd began, at which it retired; or NULL */
	struct weft_point from, to; /* the part of the program to run; to 0, 0: up to its end */
	bool verified;             /* the stream in which `from` lies has been verified by the parent process */
	bool clean;                /* the scratchpad is filled with zeros before each step */
	/* States are taken (segment.c) at n_points points, in order; i_point is the next one. */
	const struct weft_point *points;
	struct weft_state *states;
	int n_points, i_point;
	struct weft_jobs *jobs;    /* the processes that start at these points, or NULL */
	uint64_t cycles_before;    /* cycles of the streams that have ended */
	uint64_t work_done, work_all; /* commands that have retired, and all, for options.progress */
	struct weft_counters counters;     /* sums over streams, as the next three */
	double seconds, cpu_seconds;
	uint64_t sim_cycles;
	uint8_t *before;           /* the arena as the step began; NULL: no capture is wanted */
	bool captured;             /* a capture was written */
	int capture_error;         /* the negative errno of the last attempt to write one, or 0 */
	struct weft_profile *profile;      /* the profile that options.profile asks for, or NULL */
	bool profiling;            /* the device reports to it: during a run */
	char *error;               /* the caller's message buffer in the current run, WEFT_MSG_LEN bytes */
};

/* ---- net.c ---- */

/**
 * Says whether a network that gives the results of runtime `is` serves for runtime `want`: if they
 * are the same, or either is ANY. If not, msg (WEFT_MSG_LEN bytes) has one line.
 */
bool weft_runtime_fits(enum weft_runtime is, enum weft_runtime want, char *msg);

/** weft_runtime_fits() for the arithmetic of sums. */
bool weft_requant_fits(enum weft_requant is, enum weft_requant want, char *msg);

/* ---- session.c ---- */

/**
 * Open a session as weft_session_open() does.
 * @param program  A program that another session on the same network and configuration has, and keeps;
 *                 NULL: the loaded one, or one compiled here.
 * @return 0 with the session in *out; or a negative errno with one line in msg, and *out untouched: -ENOENT
 *         (no such configuration), -EINVAL (another runtime, a bad option, a waveform of a command that
 *         is not there, or strict), -ENOMEM, or as the compiler and weft_dev_open()
 */
WEFT_MUST_USE int weft_session_open_with(const weft_net *net, const struct weft_session_options *o, const weft_program *program,
                           weft_session **s, char *msg);

/* ---- session.c, for segments: the parts of a run, in this order; each is described there ---- */

WEFT_MUST_USE int weft_session_prepare(weft_session *s, const weft_tensor *inputs, const weft_tensor *outputs);
WEFT_MUST_USE int weft_session_steps(weft_session *s);
WEFT_MUST_USE int weft_session_outputs(weft_session *s, weft_tensor *outputs);
struct weft_report *weft_session_report(weft_session *s);

/**
 * Check that each of the caller's outputs has memory and the type, rank and dimensions of the
 * network's.
 * @return 0; -EINVAL with one line in msg (WEFT_MSG_LEN bytes) about the first that has not
 */
WEFT_MUST_USE int weft_session_check_outputs(const weft_session *s, const weft_tensor *outputs, char *msg);

/**
 * Run the network once on the session's one device, or on golden, into the memory of `outputs`, which
 * are not checked; waits for another run of the session that is under way. If cancel is not NULL, the
 * run ends with -ECANCELED soon after *cancel becomes true.
 * @return as weft_session_run_into(), with one line in msg on failure
 */
WEFT_MUST_USE int weft_session_run_until(weft_session *s, const weft_tensor *inputs, const weft_tensor *outputs, atomic_bool *cancel,
                           struct weft_report **rep, char *msg);

/**
 * Make *cancel true, and if the session's current run was given this flag and has a job on the device,
 * cancel that job. Any thread may call it; it does not wait.
 */
void weft_session_stop(weft_session *s, atomic_bool *cancel);

/* ---- async.c ---- */

/**
 * End and free the session's queue: none of its runs begins any more, those under way are cancelled and
 * waited for, the queue leaves its pool (which is freed too, threads and all, unless it is that of
 * cards), and all runs are freed with their reports, waited for or not. s->async becomes NULL. Nothing
 * is done if there is no queue.
 */
void weft_session_async_free(weft_session *s);

/* ---- segment.c ---- */

/*
 * weft_session_take_state(): take the device's state and the run's, if one is wanted before command
 * cmd of the step. weft_session_clean_sp(): fill the scratchpad with zeros. Both return 0 or a
 * negative errno; see segment.c.
 */
WEFT_MUST_USE int weft_session_take_state(weft_session *s, int step, uint32_t cmd);
WEFT_MUST_USE int weft_session_clean_sp(weft_session *s);

/* ---- compare.c ---- */

WEFT_MUST_USE int weft_checker_begin(struct weft_checker *c, const weft_graph *g, const weft_program *p,
                       const weft_tensor *golden, bool keep);
void weft_checker_end(struct weft_checker *c);

/**
 * Set want[i] for each tensor i that a comparison of the program with golden looks at: tensors that
 * a debug record names, and the graph's outputs. Others are left as they are.
 */
void weft_checker_wants(const weft_program *p, bool *want);

/**
 * Read from the device's scratchpad what a command of the step has just left there, as its debug
 * records say, note it as covered, compare it with golden if there is golden, and keep it if values are
 * kept. A command without records does nothing.
 * @param r  The command that retired, counted within the step, and when.
 * @return 0; -EINVAL: the step has no such command; -ENOMEM; or the device's negative errno.
 *         Differences are counted in *c, not returned
 */
WEFT_MUST_USE int weft_checker_retire(struct weft_checker *c, weft_dev *dev, const struct weft_step *step,
                        const struct weft_retire *r);

/**
 * Note the elements of one record q as covered, compare them with golden if there is golden, and keep
 * them if values are kept. `data` holds these elements, pixel after pixel without gaps. cmd is the
 * command, counted through the program, that made them.
 * @return 0 or -ENOMEM; differences are counted in *c
 */
WEFT_MUST_USE int weft_checker_record(struct weft_checker *c, const struct weft_prec *q, const uint8_t *data, uint32_t cmd);

/**
 * Note, if it is the first, a byte at offset addr of the arena that is `got` in the run proper and
 * `expected` in the run with added stores.
 */
void weft_checker_byte(struct weft_checker *c, uint64_t addr, uint8_t expected, uint8_t got);

/**
 * Returns the element of type t at p as the number that a difference shows: bool, uint8 and uint16
 * unsigned, all other types of 1, 2 and 4 bytes as signed integers (floats by their bits), and
 * everything else as an int64 of 8 bytes. p need not be aligned.
 */
int64_t weft_element_value(weft_dtype t, const void *p);

/**
 * Compare a whole tensor, whose elements lie at data, with golden, if there is golden. A difference
 * has command -1.
 */
void weft_checker_tensor(struct weft_checker *c, int tensor, const void *data);

/**
 * Returns how many of the tensors that the NPU makes were seen with at least as many elements as its
 * steps make (all but those of folded channels). Each other one adds 1 to c->mismatches; if there was
 * no difference before, c->first names it, with "never seen" as its operator and the number of elements
 * seen as its index. Call it once a run, since a second call would add the same differences again.
 */
uint64_t weft_checker_tensors(struct weft_checker *c);

/* ---- session.c ---- */

/**
 * Returns the host's copy of a tensor, or the graph's constant, after reading it from the device if
 * the host has none yet. *err becomes 0 or a negative errno; after a failure the tensor has no values.
 */
const weft_tensor *weft_session_tensor(weft_session *s, int tensor, int *err);

/* ---- late_values.c ---- */

/** Give a step, before it runs, what only the run knows. @return 0 or a negative errno */
WEFT_MUST_USE int weft_session_late(weft_session *s, int step);

/* Returns the words of the program's streams as this session runs them: its own copy, or the program's. */
static inline const uint64_t *weft_session_words(const weft_session *s)
{
	return s->words ? s->words : s->p->words;
}

/* ---- compare_on_card.c ---- */

/**
 * Compare a step that has run on a card with golden, by running its stream again with stores added, in
 * as many passes as the trace window needs, waiting for each as long as it takes. A step without debug
 * records is not run again. The arena that a pass leaves has to be the session's, which is as the
 * step left it and is not changed; the first byte that differs is noted (weft_trace_same()).
 * @param before  The arena as it was before the step.
 * @return 0 or the first negative errno; differences are counted in s->check
 */
WEFT_MUST_USE int weft_trace_step(weft_session *s, const struct weft_step *step, const uint8_t *before);
/**
 * Compare the session's arena with another buffer of its size, reading both whole; the first byte that
 * differs, and no other, is noted in s->check (weft_checker_byte).
 * @return 0, differences or not; -ENOMEM; or the device's negative errno
 */
WEFT_MUST_USE int weft_trace_same(weft_session *s, weft_buf *other);

/* ---- capture_session.c ---- */

/**
 * Copy the arena as it is on the device before an NPU step to s->before, which gets memory the first
 * time. Nothing if the options ask for no capture or one was written.
 * @return 0, -ENOMEM, or the device's negative errno
 */
WEFT_MUST_USE int weft_session_remember(weft_session *s);

/**
 * Write options.capture for NPU step `step` that went wrong, with the arena that
 * weft_session_remember() kept. Nothing is written if the options ask for none, one was written or could
 * not be, no arena was kept, status is -ENOMEM, or, over several cards, another card's session has
 * written one or is about to. s->captured, or the errno in s->capture_error, says
 * what became of it; constants that had changed on the device are put right.
 * @param status  The run's negative errno.
 * @param why     One line about what went wrong.
 * @param r       What the device said, or NULL.
 */
void weft_session_capture(weft_session *s, int step, int status, const char *why, const struct weft_job_result *r);

/** Returns the bytes of memory that a load or store moves, for that configuration. */
uint64_t weft_moved_bytes(const struct weft_cmd *c, const struct weft_config *cfg);

/* ---- report.c ---- */

struct weft_report *weft_report_new(const weft_session *s);

/* ---- host_cost.c ---- */

/**
 * Returns roughly the processor time, in ms of one core, that an operator takes on the host;
 * negative if that depends on the data. macs: its multiplications, or 0 if they are not counted.
 */
double weft_host_ms(const weft_graph *g, const struct weft_gop *o, uint64_t macs);

/* ---- switches.c ---- */

/* Host time as cycles of an NPU, to compare both: at 100 MHz. */
#define WEFT_HOST_CYCLES_PER_MS 100000.0

/**
 * List the tensors at which a program switches between NPU and host: those that the NPU makes and a
 * host operator reads, or the other way round, in the graph's order, each once. Operators that do not run
 * are looked through: the tensor in front of them is named. Host operators of quantisation and softmax at
 * the network's beginning or end do not count.
 * @param[out] names  An array from calloc, which the caller frees in each case; the *n names in it stay
 *                    the graph's.
 * @return 0, or -ENOMEM with *n 0
 */
WEFT_MUST_USE int weft_list_switches(const weft_program *p, const char ***names, int *n);

/**
 * Return estimate / (estimate + host_ms as cycles) of a report, 0 to 1; 1 if both are 0.
 */
double weft_share_of_cycles(const struct weft_report *r);

/* ---- report.c ---- */

/**
 * Returns, for each operator of the graph, the number of its entry in a report (that of its source
 * operator's group), and sets *n to the number of entries. From malloc; the caller frees it. NULL: out
 * of memory.
 */
int *weft_report_entries(const weft_program *p, int *n);

/**
 * Says whether a program breaks options.strict, that is, whether a host step's operator is neither at
 * the network's beginning (of an admitted kind, with operands that are inputs, constants or made by
 * such operators) nor at its end (of an admitted kind, with results that only such operators read).
 * @return 0: no; -EINVAL: yes, and msg (WEFT_MSG_LEN bytes) names the first such operator and why it
 *         runs on the host; -ENOMEM, also with a line
 */
WEFT_MUST_USE int weft_plan_breaks_strict(const weft_program *p, char *msg);

/* ---- input.c ---- */

/**
 * Returns the index of the first element of t that its type (bool, a type of 2 or 4 bits, fp4, int48)
 * does not have, with that element in *value; -1 if there is none (*value is then of no use), and
 * always for other types.
 */
int64_t weft_beyond_type(const weft_tensor *t, int64_t *value);

#endif

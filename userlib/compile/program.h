/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compiled network: what runs where, in which order, and the bytes for it.
 *
 * The windows of every NPU step (weft/dev.h): WEFT_WIN_CONST is `consts`, packed
 * weights, parameter records and constant tensors, read only; WEFT_WIN_ARENA is
 * `arena_bytes` of device memory that keep their contents from the first step
 * to the last.
 *
 * Running a program:
 *   write every graph input with place ARENA to the arena (lifetime starts at
 *   step 0), keep the others in host memory;
 *   for each step in order:
 *     NPU:  submit words[first_word...n_words] with both windows, wait;
 *     HOST: run graph operator `op`: inputs come from host memory or, when
 *           their place is ARENA and the host has no copy, from the arena;
 *           an output with place ARENA is written there as well;
 *   read graph outputs: place ARENA from the arena, place HOST from the host.
 * Two tensors may share arena bytes at different steps; a tensor is valid in
 * the arena from `first_step` (written) to `last_step` (last read), and outputs
 * to the end.
 */
#ifndef WEFT_COMPILE_PROGRAM_H
#define WEFT_COMPILE_PROGRAM_H

#include <weft/dev.h>

#include "userlib/graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_PROGRAM_VERSION 11
#define WEFT_N_MEMORIES 2

enum weft_place {
	WEFT_PLACE_NONE = 0,   /* never in memory: fused away, or only in the scratchpad */
	WEFT_PLACE_HOST,       /* host memory only */
	WEFT_PLACE_ARENA,      /* device memory, at offset */
	WEFT_PLACE_CONST,      /* a constant of the graph; its data is there */
};

struct weft_ptensor {          /* one per graph tensor, same index */
	uint8_t place;         /* enum weft_place */
	bool on_npu;           /* NPU steps make all of it: debug records name all its elements but those of folded channels */
	uint32_t folded;       /* channels (indices along the last dimension) that no step makes, since nothing needs them
	                        * (fold/); the tensor then is nowhere in memory */
	int32_t alias_of;      /* the tensor that has the same elements in the same order; -1: none */
	int32_t first_step, last_step;   /* steps in which its bytes in the arena are first written and last read */
	uint64_t offset;       /* ARENA: bytes from its start, a multiple of 64 */
	uint64_t bytes;
};

enum weft_unit_kind {
	WEFT_ON_NONE = 0,      /* nothing to execute (constants, aliases) */
	WEFT_ON_NPU,
	WEFT_ON_HOST,
};

struct weft_pop {              /* one per graph operator, same index */
	uint8_t unit;          /* enum weft_unit_kind */
	int32_t into;          /* NPU: operator whose output the group writes (itself, or the
	                        * one that this is fused into); else -1 */
	int32_t step;          /* step that executes it, or -1 */
	uint64_t macs;         /* multiplications of the operator as the graph states it */
	uint64_t done[WEFT_N_MEMORIES]; /* NPU, at `into`: cycle of the step in which the group should be
	                        * done, by enum weft_memory; else 0 */
	uint64_t halves[WEFT_N_MEMORIES]; /* NPU, at `into`: half cycles expected, see weft_share_cycles() */
	int32_t stripes;       /* NPU, at `into`: first operator of those that run in stripes with
	                        * it, so that only the sum of their cycles says anything; else -1 */
	char *reason;          /* owned; why there, for people: "conv 3x3 on the array" */
};

enum weft_step_kind { WEFT_STEP_NPU = 1, WEFT_STEP_HOST };

struct weft_step {
	uint8_t kind;          /* enum weft_step_kind */
	int32_t op;            /* HOST: graph operator */
	uint32_t first_word;   /* NPU: index in words */
	uint32_t n_words;      /* NPU: 64-bit words, END included */
	uint32_t first_cmd;    /* NPU: index in cmds of the stream's command 0 */
	uint32_t n_cmds;       /* NPU: END included */
	uint64_t estimate[WEFT_N_MEMORIES]; /* NPU: cycles expected */
};

/*
 * What a command is for. When it retires, for each of its records, all
 *   iy < n_y, ix < n_x, c < n_c:
 *   element first + iy*y_elems + ix*x_elems + c (row-major) of the tensor
 *   == sp[(addr + iy*y_bytes + ix*x_bytes + c*E) mod 2^20], E: bytes of an element
 */
struct weft_pcmd {
	int32_t op;            /* graph operator it works for, or -1 */
	uint32_t first_rec, n_recs;
};

struct weft_prec {
	int32_t tensor;        /* the tensor whose elements the command leaves in the scratchpad */
	uint32_t addr;         /* scratchpad address of the first of them */
	uint32_t n_y, n_x, n_c;       /* counts of rows, pixels of a row, channels of a pixel */
	uint32_t y_bytes, x_bytes;    /* bytes from row to row, from pixel to pixel in the scratchpad */
	uint64_t first, y_elems, x_elems;   /* index of the first element; elements from row to row, pixel to pixel */
};

/* Before the step, the host writes the value of a tensor into the field log2_scale of a convolution command. */
struct weft_pscale {
	int32_t step;          /* the NPU step */
	uint32_t word;         /* index in words of the command's first word */
	int32_t tensor;        /* tensor of one int32 */
};

/*
 * Weights that are a tensor [k][cols] of bytes: before the step, the host writes
 * them into the arena at offset in the array's order: per tile of N columns, per
 * chunk of N rows, per column, N bytes; 0 where there is no element.
 */
struct weft_ppack {
	int32_t step, tensor;  /* the NPU step before which that is done; the tensor */
	uint32_t k, cols;      /* rows and columns of the tensor */
	uint64_t offset;       /* bytes from the start of the arena */
};

typedef struct weft_program {
	char config[16];       /* name of the configuration it was compiled for */
	uint64_t arena_bytes;  /* that a run needs, for what lies in memory beside the constants */
	uint8_t *consts;       /* owned */
	uint64_t n_consts;     /* bytes; 0 where there are none */
	uint64_t *words;       /* owned; the streams, one after another */
	uint32_t n_words;      /* of 64 bits */
	struct weft_step *steps;      int n_steps;      /* in the order of the run; these lists are owned, too */
	struct weft_ptensor *tensors; int n_tensors;    /* one for each tensor of the graph */
	struct weft_pop *ops;         int n_ops;        /* one for each operator of the graph */
	struct weft_pcmd *cmds;       uint32_t n_cmds;  /* one for each command in words, in that order */
	struct weft_prec *recs;       uint32_t n_recs;  /* debug records of commands: which elements they make */
	struct weft_pscale *scales;   int n_scales;     /* values of log2_scale that only the run knows */
	struct weft_ppack *packs;     int n_packs;      /* weights that the host packs while the program runs */
	const weft_graph *graph;      /* borrowed from weft_compile's caller, or own_graph */
	weft_graph *own_graph;        /* weft_program_parse: freed with the program */
} weft_program;

struct weft_compile_options {
	const char *config;    /* a name of WEFT_CONFIG_NAMES; NULL: "w16" */
	bool host_only;        /* everything on the host: for comparison */
	bool no_fuse;          /* one NPU group per operator, nothing kept across: for finding faults */
	uint32_t sp_limit;     /* use only so many bytes of the scratchpad; 0: all. For tests */
	bool of_model;         /* for the functional model, which may have more features than the RTL */
	bool quick;            /* the first plan that fits, nothing tuned: for tests of many programs */
	uint8_t threads;       /* to compile with, at most; 0: one. The program does not depend on it */
	bool no_fold;          /* compute also channels that nothing needs (fold/): for comparison */
	bool no_compress;      /* all constants plain, also where loads could decode them */
	uint8_t reserved[43];
};

/**
 * Compile a graph that weft_graph_check() accepts.
 *
 * The program borrows g, which must outlive it. What the NPU cannot do becomes
 * a host step, never an error. The same graph and options give the same bytes.
 *
 * @param o    NULL: defaults
 * @param msg  WEFT_MSG bytes
 * @return 0, -EINVAL (no such configuration), -ENOMEM, -E2BIG (arena or stream
 *         beyond what a window can address)
 */
WEFT_MUST_USE int weft_compile(const weft_graph *g, const struct weft_compile_options *o,
                 weft_program **p, char *msg);

void weft_program_free(weft_program *p);

/**
 * Write a program as a .weft container into memory. *out comes from malloc and has *n_out bytes.
 * @return 0, -EINVAL (a value that a container cannot hold) or -ENOMEM, with one
 *         line in msg (WEFT_MSG bytes)
 */
WEFT_MUST_USE int weft_program_write(const weft_program *p, uint8_t **out, size_t *n_out, char *msg);

/* Where weft_program_write_to() writes a container, which need not be in memory as a whole. */
struct weft_program_out {
	/* Puts n bytes at offset `at`, which is at most the number of bytes put so far. Returns 0 or a negative errno. */
	int (*put)(void *user, uint64_t at, const void *bytes, size_t n);
	void *user;            /* the first argument of put */
	bool bare;             /* if set, the graph is left out and nothing is compressed: for weft_program_parse_for() */
};

/**
 * Write the container of weft_program_write(), or a bare one, a piece at a time. After a failure a part of it has been
 * put.
 * @return as weft_program_write(), or what put() returned, then without a line in msg
 */
WEFT_MUST_USE int weft_program_write_to(const weft_program *p, const struct weft_program_out *out, char *msg);

/**
 * Parse a .weft container; trusts nothing. Streams are checked by the driver's
 * verifier when they are submitted, not here; the graph passes weft_graph_check.
 * @return 0, -EINVAL with one line in msg (WEFT_MSG bytes), -ENOMEM
 */
WEFT_MUST_USE int weft_program_parse(const uint8_t *data, size_t n, weft_program **p, char *msg);

/**
 * Parse a bare container (struct weft_program_out) as weft_program_parse() does. g is the graph whose program it holds:
 * tables are checked against g, and the program borrows g, which must live as long.
 */
WEFT_MUST_USE int weft_program_parse_for(const uint8_t *data, size_t n, const weft_graph *g, weft_program **p, char *msg);

/** True when data begins as a .weft container does. */
bool weft_program_is(const uint8_t *data, size_t n);

/**
 * Count the multiplications of an operator that the host computes by a kernel of its own (node_macs.c).
 *
 * @return Those of matrices in ONNX_NODE and TFL_LSTM; 0 for all other operators.
 */
uint64_t weft_node_macs(const weft_graph *g, const struct weft_gop *o);

/* A command of a stream that ran. */
struct weft_ran {
	uint8_t unit;          /* enum weft_unit */
	int32_t who;           /* for whom it worked, or -1 */
	uint32_t wait[4];      /* retired commands of each unit that it waited for */
	uint64_t end;          /* cycle of its retirement */
};

/**
 * Share out the cycles of a stream.
 *
 * A cycle in which the array or the vector engine works counts for whom it does,
 * half each if both work for different ones; a cycle in which neither works counts
 * for the one whose command begins next, at the end for the one whose retired last.
 *
 * @param c      In the stream's order.
 * @param halves Indexed by who: half cycles are added. Of all together 2 * total,
 *               if there was anyone.
 * @return 0, -ENOMEM
 */
WEFT_MUST_USE int weft_share_cycles(const struct weft_ran *c, uint32_t n, uint64_t total, uint64_t *halves);

#ifdef __cplusplus
}
#endif
#endif

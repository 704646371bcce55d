/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft bench: targets of networks, and what becomes of a measurement.
 */
#ifndef TOOLS_WEFT_BENCH_H
#define TOOLS_WEFT_BENCH_H

#include <cjson/cJSON.h>

#include "tools/weft/weft_cmd.h"

#define BENCH_MAX_PEERS 8

/* A line of the table of targets (tools/bench_targets.tsv). Cycles; 0: no figure. */
struct bench_target {
	char file[128], memory[8], name[64];
	double target;
	double peer[BENCH_MAX_PEERS];
};

struct bench_targets {
	char peer[BENCH_MAX_PEERS][32];  /* "U55-256": what stands behind the dash is its MACs a cycle */
	int n_peers;
	struct bench_target *line;
	int n;
};

/** Read the table; 0, or a status with a message. bench_targets_free() also after failure. */
int bench_targets_read(const char *file, struct bench_targets *t);
void bench_targets_free(struct bench_targets *t);

/** The line of that file name in that profile, or NULL. */
const struct bench_target *bench_target_find(const struct bench_targets *t, const char *file, const char *memory);

/** What the table calls that file, in whichever profile; else the file's name. */
const char *bench_name(const struct bench_targets *t, const char *file);

/** The fastest peer with as many MACs a cycle, or -1. */
int bench_best_peer(const struct bench_targets *t, const struct bench_target *line, uint32_t macs_per_cycle);

/* ---- output ---- */

/** Table's head, and a line per network or single operator, on standard output. */
void bench_print_head(void);
void bench_print(const struct bench_targets *t, const char *file, const struct weft_session_options *o,
                 const struct weft_report *r);

/** The same as JSON. */
cJSON *bench_json(const struct bench_targets *t, const char *model, const struct weft_session_options *o,
                  const struct weft_report *r);

/* ---- bench_host.c: lines of print and entries of list ---- */

/** Append a measurement. */
void bench_add(cJSON *list, const char *name, double value, const char *unit);

/** Golden's convolutions in MACs a second of processor time. 0, or a status with a message. */
int bench_golden(bool print, cJSON *list);
/** Processor time and memory of compiling a file, in a process of its own. */
int bench_compile(const char *path, bool print, cJSON *list);

/* ---- bench_run.c ---- */

/** Processor time of a whole network on golden or the functional model, and of opening its session; likewise. */
int bench_run(const char *path, enum weft_device device, bool print, cJSON *list);

#endif

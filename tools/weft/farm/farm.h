/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft farm: many jobs, on this machine or on a cluster. All that belongs to a farm lies in one folder:
 *
 *	request     the words that made it; the same ones go on with it
 *	jobs        the list of jobs
 *	weft        a link to the command, which an engine starts in this folder: no name goes through a shell
 *	N.result    what job N gave; it appears at once and whole (written aside, renamed)
 *	slurm.id, batch.sh, slurm-N.log    what belongs to Slurm
 *	dask_farm.py    what belongs to Dask
 *	report      the jobs' results in order
 *	times.tsv   the time that each took, and where
 */
#ifndef TOOLS_WEFT_FARM_H
#define TOOLS_WEFT_FARM_H

#include "tools/weft/weft_cmd.h"

/* Words that lie one after the other in memory, each with a zero byte behind. */
struct words { char *data; size_t len, room; bool failed; };

/** Append a word; without memory w->failed is set. */
void words_add(struct words *w, const char *word);

/* One job: where and with which seed it runs what. */
struct job {
	const char *folder;        /* its working folder */
	const char *seed;          /* for WEFT_SEED, with WEFT_N=1; "": none */
	char **argv;               /* its program and arguments, NULL behind the last; the array is owned */
};

struct farm {
	const char *dir;           /* the folder */
	int (*engine)(const struct farm *);    /* engine_local() and so on */
	const char *scheduler;     /* the address of Dask's scheduler; NULL: workers on this machine */
	uint64_t slots;            /* at most so many jobs at a time; 0: as many as the engine likes */
	const char **sbatch;       /* more arguments for sbatch, NULL behind the last */
	struct words list;         /* the file `jobs` */
	struct job *jobs;          /* n of them, which point into list */
	size_t n;
};

/** Append a job to the list in words. argv ends with NULL. */
void list_add(struct words *w, const char *folder, const char *seed, char *const *argv);

/** Cut f->list into f->jobs. @return 0, or a status with a message */
int list_cut(struct farm *f);

/** Name file `name` in the farm's folder; room bytes. @return path */
char *farm_path(const struct farm *f, char *path, size_t room, const char *format, ...) __attribute__((format(printf, 4, 5)));

/* What one job gave. */
struct result { int status; double cpu_seconds, seconds; char host[65]; uint8_t *file; const char *text; size_t len; };

/** Returns whether result i exists. */
bool result_there(const struct farm *f, size_t i);

/**
 * Read the result of job i; r->file is owned. @return 0, or a status with a message
 */
int result_read(const struct farm *f, size_t i, struct result *r);

/**
 * Run job i, unless its result is there, and leave its result. @return 0: the result is there, whatever it
 * says; or a status with a message
 */
int job_run(const struct farm *f, size_t i);

/** Let the engine run all jobs without a result, and wait. @return 0: all results are there; or a status with a message */
int engine_local(const struct farm *f);
int engine_slurm(const struct farm *f);
int engine_dask(const struct farm *f);

/** Return how many jobs have no result. */
size_t farm_missing(const struct farm *f);

/**
 * Run a program in the farm's folder that takes the numbers of the jobs without a result from its standard
 * input, a line for each, and wait for it. What it prints on its standard output is dropped. Nothing is run
 * if all results are there.
 * @param[out] status  The program's exit status: 127 it is not there, 128 and a signal's number if one ended it.
 * @return 0: all results are there; -1: some are missing; or a status with a message
 */
int engine_feed(const struct farm *f, const char *const *argv, int *status);

/** The most tasks of a job array; task t runs the jobs t, t + FARM_TASKS, ... (Slurm's MaxArraySize is 1001 if nobody says otherwise.) */
#define FARM_TASKS 1000

#endif

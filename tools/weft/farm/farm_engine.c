/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engines GNU parallel, on this machine, and Slurm, on a cluster. Both start `./weft farm . --job N` in the
 * farm's folder. What they have done is told by the results alone.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/file.h>

#include "farm.h"

#define TICK_US 500000         /* between two looks at the cluster */
#define LOST_TICKS 20          /* so many looks without a job in the queue: its results will not come */
#define SUBMISSIONS 3          /* so often jobs are submitted that were killed without a result */
#define MUTE_TICKS 240         /* so many looks without an answer of the controller */

size_t farm_missing(const struct farm *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++)
		n += !result_there(f, i);
	return n;
}

/*
 * Starts a program in the farm's folder, with a pipe from its standard output, and one to its standard
 * input if `to` is not NULL. Returns its process number or a negative errno.
 */
static pid_t start(const struct farm *f, const char *const *argv, int *from, int *to)
{
	int out[2], in[2] = { -1, -1 };

	if (pipe2(out, O_CLOEXEC) || (to && pipe2(in, O_CLOEXEC)))
		return -errno;
	fflush(NULL);
	const pid_t pid = fork();
	if (!pid) {
		if (chdir(f->dir) || dup2(out[1], 1) < 0 || (to && dup2(in[0], 0) < 0))
			_exit(126);
		execvp(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	close(out[1]);
	if (to)
		close(in[0]);
	if (pid < 0)
		return -errno;
	*from = out[0];
	if (to)
		*to = in[1];
	return pid;
}

/* Waits for a program that start() began. Returns its exit status; 128 and the signal's number if one ended it. */
static int ended(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Runs a program and takes what it prints, cut at room - 1 bytes. Returns its exit status, 127: it is not there. */
static int ask(const struct farm *f, const char *const *argv, char *text, size_t room)
{
	size_t len = 0;
	int from;
	char more[4096];
	const pid_t pid = start(f, argv, &from, NULL);

	text[0] = '\0';
	if (pid < 0)
		return 127;
	for (ssize_t n; (n = read(from, more, sizeof(more))) > 0 || (n < 0 && errno == EINTR);) {
		const size_t take = n < 0 ? 0 : (size_t)n < room - 1 - len ? (size_t)n : room - 1 - len;
		memcpy(text + len, more, take);
		len += take;
	}
	text[len] = '\0';
	close(from);
	return ended(pid);
}

/* ---- this machine ---- */

int engine_feed(const struct farm *f, const char *const *argv, int *status)
{
	char unused[4096];
	int from, to;

	*status = 0;
	if (!farm_missing(f))
		return 0;
	const pid_t pid = start(f, argv, &from, &to);
	if (pid < 0)
		return fail(EXIT_DEVICE, "%s: %s", argv[0], strerror((int)-pid));
	/* A program that ends before it has read them says by its exit status why. */
	void (*const before)(int) = signal(SIGPIPE, SIG_IGN);
	FILE *numbers = fdopen(to, "w");
	for (size_t i = 0; numbers && i < f->n; i++)
		if (!result_there(f, i))
			fprintf(numbers, "%zu\n", i);
	if (numbers)
		fclose(numbers);
	signal(SIGPIPE, before);
	for (ssize_t n; (n = read(from, unused, sizeof(unused))) > 0 || (n < 0 && errno == EINTR);)
		;
	close(from);
	*status = ended(pid);
	return farm_missing(f) ? -1 : 0;
}

int engine_local(const struct farm *f)
{
	char slots[24];
	const char *const argv[] = { "parallel", "--will-cite", "-j", slots, "./weft", "farm", ".", "--job", "{}", NULL };
	int ended;

	snprintf(slots, sizeof(slots), f->slots ? "%llu" : "100%%", (unsigned long long)f->slots);
	const int status = engine_feed(f, argv, &ended);
	if (status >= 0)
		return status;
	if (ended == 127)
		return fail(EXIT_DEVICE, "parallel is not there: install GNU parallel");
	return fail(EXIT_DEVICE, "%zu of %zu jobs have no result (parallel's exit status is %d)", farm_missing(f), f->n, ended);
}

/* ---- Slurm ---- */

/* Each task's own log; everything else of a task is in its jobs' results. */
static const char batch[] =
	"#!/bin/sh\n"
	"# Written by weft farm. A task that is requeued finds its results, or makes them.\n"
	"#SBATCH --job-name=weft-farm\n"
	"#SBATCH --requeue\n"
	"#SBATCH --open-mode=append\n"
	"#SBATCH --output=/dev/null\n"
	"exec ./weft farm . --task \"$SLURM_ARRAY_TASK_ID\" >>\"slurm-$SLURM_ARRAY_TASK_ID.log\" 2>&1\n";

/* Submits an array of tasks. Returns 0 with its number in id, of 32 bytes, and in the file slurm.id; or a status with a message. */
static int submit(const struct farm *f, char *id)
{
	char path[4096], array[64], text[4096];
	const char *argv[64] = { "sbatch", "--parsable", "--chdir=.", array };
	size_t n = 4, tasks = f->n < FARM_TASKS ? f->n : FARM_TASKS;

	int status = write_file(farm_path(f, path, sizeof(path), "batch.sh"), (const uint8_t *)batch, sizeof(batch) - 1);
	if (status)
		return status;
	snprintf(array, sizeof(array), f->slots ? "--array=0-%zu%%%llu" : "--array=0-%zu", tasks - 1, (unsigned long long)f->slots);
	for (size_t i = 0; f->sbatch[i] && n < 60; i++)
		argv[n++] = f->sbatch[i];
	argv[n++] = "batch.sh";
	status = ask(f, argv, text, sizeof(text));
	if (status == 127)
		return fail(EXIT_DEVICE, "sbatch is not there: install Slurm's commands (slurm-client)");
	if (status || !isdigit((unsigned char)text[0]))
		return fail(EXIT_DEVICE, "sbatch: exit status %d", status);
	snprintf(id, 32, "%.*s", (int)strspn(text, "0123456789"), text);
	return write_file(farm_path(f, path, sizeof(path), "slurm.id"), (const uint8_t *)id, strlen(id));
}

/* Says whether the array has tasks in Slurm's queue: 1, 0, or -1 if the controller does not answer. */
static int queued(const struct farm *f, const char *id)
{
	const char *const one[] = { "squeue", "--noheader", "--jobs", id, "--format=%i", NULL };
	const char *const alive[] = { "scontrol", "ping", NULL };
	char text[4096];

	if (!ask(f, one, text, sizeof(text)))
		return text[0] != '\0';
	/* squeue fails for a job that the controller has forgotten, and where there is no controller. */
	return ask(f, alive, text, sizeof(text)) || !strstr(text, "UP") ? -1 : 0;
}

/* Says how the array's tasks ended, as far as Slurm's accounting knows. */
static void explain(const struct farm *f, const char *id)
{
	const char *const argv[] = { "sacct", "--noheader", "--allocations", "--parsable2", "--jobs", id, "--format=JobID,State,ExitCode", NULL };
	char text[16384], *rest = text, *line;

	if (ask(f, argv, text, sizeof(text)))
		return;
	while ((line = strsep(&rest, "\n")))
		if (*line && !strstr(line, "|COMPLETED|"))
			fail(0, "slurm: %s", line);
}

/*
 * Waits until all results are there. Returns 0; -1: the array is not in the queue any more, and results are
 * missing; or a status with a message.
 */
static int follow(const struct farm *f, const char *id)
{
	const char *const cancel[] = { "scancel", "--quiet", id, NULL };
	int lost = 0, mute = 0;
	char unused[64];

	while (farm_missing(f)) {
		const int is = queued(f, id);
		lost = is ? 0 : lost + 1;
		mute = is < 0 ? mute + 1 : 0;
		if (mute > MUTE_TICKS)
			return fail(EXIT_DEVICE, "slurm: the controller does not answer; array %s goes on, and the same command follows it", id);
		if (lost > LOST_TICKS)
			return -1;
		usleep(TICK_US);
	}
	/* Tasks that were requeued after their results were there have nothing left to do. */
	(void)ask(f, cancel, unused, sizeof(unused));
	return 0;
}

int engine_slurm(const struct farm *f)
{
	char path[4096], id[32] = "";
	FILE *old = fopen(farm_path(f, path, sizeof(path), "slurm.id"), "r");

	if (old && fscanf(old, "%31[0-9]", id) != 1)
		id[0] = '\0';
	if (old)
		fclose(old);
	if (!farm_missing(f))
		return 0;
	/* An array of an earlier call that is still in the queue is followed, not submitted again. */
	int status = *id && queued(f, id) == 1 ? 0 : submit(f, id);
	for (int i = 1; !status && (status = follow(f, id)) < 0 && i < SUBMISSIONS; i++) {
		fail(0, "%zu of %zu jobs were ended without a result: submitted again", farm_missing(f), f->n);
		status = submit(f, id);
	}
	if (status >= 0)
		return status;
	explain(f, id);
	return fail(EXIT_DEVICE, "%zu of %zu jobs have no result after %d submissions; see %s/slurm-*.log", farm_missing(f), f->n, SUBMISSIONS, f->dir);
}

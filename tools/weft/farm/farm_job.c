/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One job, as an engine starts it: it runs its program, and leaves status, times and output as its
 * result. The result appears whole, by a rename, so that a job that is killed leaves none, and one that
 * is run twice leaves one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <weft/file.h>

#include "farm.h"
#include "tools/clock.h"

/* The first line of a result, always of the same length: it is written last. */
#define HEAD "status %3d cpu_us %14llu us %14llu host %64.64s\n"
#define HEAD_READ "status %d cpu_us %llu us %llu host %64s"

bool result_there(const struct farm *f, size_t i)
{
	char path[4096];

	return !access(farm_path(f, path, sizeof(path), "%zu.result", i), F_OK);
}

int result_read(const struct farm *f, size_t i, struct result *r)
{
	unsigned long long cpu, us;
	char path[4096], head[160];

	memset(r, 0, sizeof(*r));
	int status = read_whole(farm_path(f, path, sizeof(path), "%zu.result", i), &r->file, &r->len);
	if (status)
		return status;
	const int n = snprintf(head, sizeof(head), HEAD, 0, 0ull, 0ull, "");
	memcpy(head, r->file, r->len < (size_t)n ? r->len : (size_t)n);
	head[n] = '\0';
	if (r->len < (size_t)n || sscanf(head, HEAD_READ, &r->status, &cpu, &us, r->host) != 4) {
		free(r->file);
		r->file = NULL;
		return fail(EXIT_USAGE, "%s: no result of a job", path);
	}
	r->cpu_seconds = (double)cpu * 1e-6;
	r->seconds = (double)us * 1e-6;
	r->text = (const char *)r->file + n;
	r->len -= (size_t)n;
	return 0;
}

/* In the child: the job's folder, seed and output; does not return. */
static void become(const struct job *j, int out)
{
	const int none = open("/dev/null", O_RDONLY);

	/* An engine that gives a job up kills the command; then the program shall not go on without it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (none < 0 || dup2(none, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
		_exit(126);
	if (*j->seed && (setenv("WEFT_SEED", j->seed, 1) || setenv("WEFT_N", "1", 1)))
		_exit(126);
	if (chdir(j->folder)) {
		fail(0, "%s: %s", j->folder, strerror(errno));
		_exit(126);
	}
	execvp(j->argv[0], j->argv);
	fail(0, "%s: %s", j->argv[0], strerror(errno));
	_exit(127);
}

/* Runs the job with its output to `out` behind the head, which is written when it has ended. Returns 0 or a negative errno. */
static int run_to(const struct job *j, int out)
{
	const double begin = now_seconds();
	char head[160], host[65] = "?";
	struct rusage use;
	int status;

	const int n = snprintf(head, sizeof(head), HEAD, 0, 0ull, 0ull, "?");
	if (pwrite(out, head, (size_t)n, 0) != n || lseek(out, n, SEEK_SET) != n)
		return errno ? -errno : -EIO;
	const pid_t pid = fork();
	if (!pid)
		become(j, out);
	if (pid < 0)
		return -errno;
	while (wait4(pid, &status, 0, &use) < 0)
		if (errno != EINTR)
			return -errno;
	const double cpu = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) + 1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
	gethostname(host, sizeof(host) - 1);
	snprintf(head, sizeof(head), HEAD, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), (unsigned long long)(cpu * 1e6),
	         (unsigned long long)((now_seconds() - begin) * 1e6), *host ? host : "?");
	if (pwrite(out, head, (size_t)n, 0) != n || fsync(out))
		return errno ? -errno : -EIO;
	return 0;
}

int job_run(const struct farm *f, size_t i)
{
	char aside[4096], path[4096];

	if (result_there(f, i))
		return 0;
	/* In the farm's folder, so that a job whose folder is "." runs there. */
	farm_path(f, path, sizeof(path), "%zu.result", i);
	farm_path(f, aside, sizeof(aside), "%zu.aside-XXXXXX", i);
	const int out = mkostemp(aside, O_CLOEXEC);
	int err = out < 0 ? -errno : 0;
	if (!err)
		err = run_to(&f->jobs[i], out);
	if (out >= 0)
		close(out);
	if (!err && rename(aside, path))
		err = -errno;
	if (err && out >= 0)
		unlink(aside);
	return err ? fail(EXIT_DEVICE, "job %zu: %s: %s", i, path, weft_file_error(err)) : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft run --jobs N and --segment FILE: the network in segments, each a process.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "segments.h"

extern char **environ;

int run_one_segment(const char *file, const struct weft_session_options *o, const char *result)
{
	char msg[WEFT_MSG_LEN] = "", line[WEFT_MSG_LEN] = "";
	int err = weft_segment_run(file, o, result, line, msg);

	if (*line)
		printf("%s: %s\n", file, line);
	return err ? fail(status_of(err), "%s: %s", file, msg) : 0;
}

static int start(const struct jobs *j, const char *file, const char *result, pid_t *pid)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		return -errno;
	self[n] = '\0';
	char *argv[] = { self, "run", "--segment", (char *)(uintptr_t)file, "--result", (char *)(uintptr_t)result,
		"--device", (char *)(uintptr_t)(j->device ? j->device : "model"), j->plant ? "--plant" : NULL, (char *)(uintptr_t)j->plant, NULL };
	posix_spawn_file_actions_t quiet;

	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", 1, 0);
	int err = posix_spawn(pid, self, &quiet, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&quiet);
	return -err;
}

/* As many processes as there are segments; 1 of any of them: something differs. */
int run_jobs(void *user, const char *const *file, const char *const *result, int n)
{
	const struct jobs *j = user;
	pid_t *pid = calloc((size_t)n + 1, sizeof(*pid));
	int err = pid ? 0 : -ENOMEM, differ = 0;

	for (int i = 0; i < n && pid && !err; i++)
		err = start(j, file[i], result[i], &pid[i]);
	for (int i = 0; i < n && pid; i++) {
		int status = 0;
		if (pid[i] <= 0)
			continue;
		while (waitpid(pid[i], &status, 0) < 0 && errno == EINTR)
			;
		if (WIFEXITED(status) && WEXITSTATUS(status) == 1)
			differ = 1;
		else if (!WIFEXITED(status) || WEXITSTATUS(status))
			err = err ? err : -EIO;
	}
	free(pid);
	return err ? err : differ ? -EBADMSG : 0;
}

int jobs_dir(struct jobs *j)
{
	const char *tmp = getenv("TMPDIR");

	if (j->dir)
		return make_dir(j->dir);
	snprintf(j->own, sizeof(j->own), "%.4000s/weft.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(j->own))
		return fail(EXIT_USAGE, "%s: %s", j->own, strerror(errno));
	j->dir = j->own;
	return 0;
}

void jobs_clean(struct jobs *j, int n)
{
	static const char *const suffix[] = { ".seg", ".result" };
	char path[4200];

	if (!*j->own)
		return;
	for (int i = 0; i < n; i++)
		for (int k = 0; k < 2; k++) {
			snprintf(path, sizeof(path), "%s/%03d%s", j->own, i, suffix[k]);
			unlink(path);
		}
	rmdir(j->own);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft farm: makes the list of jobs, lets an engine run them, and collects their results.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/file.h>

#include "farm.h"

enum { OPT_ENGINE, OPT_SLOTS, OPT_SBATCH, OPT_SCHEDULER, OPT_JOB, OPT_TASK };

static const struct option_def defs[] = {
	{ "--engine", true }, { "--slots", true }, { "--sbatch", true }, { "--scheduler", true }, { "--job", true }, { "--task", true }, { NULL, false },
};

/* ---- the lists ---- */

/* Runs this command again with these arguments. Returns its exit status. */
static int run_self(char *const *argv)
{
	int status = 0;
	fflush(NULL);
	const pid_t pid = fork();

	if (!pid) {
		execv("/proc/self/exe", argv);
		_exit(127);
	}
	if (pid < 0)
		return fail(EXIT_DEVICE, "fork: %s", strerror(errno));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_DEVICE;
}

/* The value of an option among arguments of weft run; NULL: it is not there. */
static const char *value_of(const char *option, char *const *argv)
{
	const size_t n = strlen(option);

	for (; *argv; argv++) {
		if (!strncmp(*argv, option, n) && (*argv)[n] == '=')
			return *argv + n + 1;
		if (!strcmp(*argv, option))
			return argv[1];
	}
	return NULL;
}

/* segments MODEL [options of weft run] --jobs N: writes the checkpoints, and makes a job of each. Returns 0, or a status with a message. */
static int list_segments(struct farm *f, int argc, char **argv)
{
	char **run = calloc((size_t)argc + 8, sizeof(*run)), path[4096];
	const char *device = value_of("--device", argv);
	int n = 0;

	if (!run)
		return fail(EXIT_DEVICE, "out of memory");
	run[n++] = (char *)(uintptr_t)"weft";
	run[n++] = (char *)(uintptr_t)"run";
	for (int i = 0; i < argc; i++)
		run[n++] = argv[i];
	run[n++] = (char *)(uintptr_t)"--checkpoints";
	run[n++] = (char *)(uintptr_t)f->dir;
	int status = argc && value_of("--jobs", argv) ? run_self(run) : fail(EXIT_USAGE, "farm: segments MODEL [options of weft run] --jobs N");
	free(run);
	for (int i = 0; !status && i < 1000; i++) {
		char name[16];
		snprintf(name, sizeof(name), "%03d.seg", i);
		if (access(farm_path(f, path, sizeof(path), "%s", name), F_OK))
			break;
		char *const job[] = { (char *)(uintptr_t)"./weft", (char *)(uintptr_t)"run", (char *)(uintptr_t)"--device",
		                      (char *)(uintptr_t)(device ? device : "model"), (char *)(uintptr_t)"--segment", name, NULL };
		list_add(&f->list, ".", "", job);
	}
	return status;
}

/* Adds a job that runs argv with `value` in place of each "{}". Returns 0, or a status with a message. */
static int add_filled(struct farm *f, const char *folder, const char *seed, char **argv, int n, char *value)
{
	char **filled = calloc((size_t)n + 1, sizeof(*filled));

	if (!filled)
		return fail(EXIT_DEVICE, "out of memory");
	for (int i = 0; i < n; i++)
		filled[i] = strcmp(argv[i], "{}") ? argv[i] : value;
	list_add(&f->list, folder, seed, filled);
	free(filled);
	return 0;
}

/* seeds FIRST..LAST PROGRAM [ARG...]. Returns 0, or a status with a message. */
static int list_seeds(struct farm *f, const char *folder, int argc, char **argv)
{
	unsigned long long first, last;
	char seed[32], more;
	int status = 0;

	if (argc < 2 || sscanf(argv[0], "%llu..%llu%c", &first, &last, &more) != 2 || last < first || last - first >= 1000000)
		return fail(EXIT_USAGE, "farm: seeds FIRST..LAST PROGRAM [ARGUMENT...], at most 1000000 of them");
	for (unsigned long long i = first; !status && i <= last; i++) {
		snprintf(seed, sizeof(seed), "%llu", i);
		status = add_filled(f, folder, seed, argv + 1, argc - 1, seed);
	}
	return status;
}

/* each PROGRAM [ARG...] ::: NAME...: a job for each name, which takes the place of "{}". Returns 0, or a status with a message. */
static int list_each(struct farm *f, const char *folder, int argc, char **argv)
{
	int n = 0, status = 0;

	while (n < argc && strcmp(argv[n], ":::"))
		n++;
	if (!n || n + 1 >= argc)
		return fail(EXIT_USAGE, "farm: each PROGRAM [ARGUMENT...] ::: NAME...");
	for (int i = n + 1; !status && i < argc; i++)
		status = add_filled(f, folder, "", argv, n, argv[i]);
	return status;
}

/* Makes the list of jobs that the words ask for. Returns 0, or a status with a message. */
static int make_list(struct farm *f, int argc, char **argv)
{
	char folder[PATH_MAX];

	if (!getcwd(folder, sizeof(folder)))
		return fail(EXIT_DEVICE, "this folder: %s", strerror(errno));
	if (!strcmp(argv[0], "segments"))
		return list_segments(f, argc - 1, argv + 1);
	if (!strcmp(argv[0], "seeds"))
		return list_seeds(f, folder, argc - 1, argv + 1);
	if (!strcmp(argv[0], "each"))
		return list_each(f, folder, argc - 1, argv + 1);
	return fail(EXIT_USAGE, "farm: \"%s\" is not segments, seeds or each", argv[0]);
}

/* ---- the folder ---- */

/* Reads the list of jobs. Returns 0, or a status with a message. */
static int read_list(struct farm *f)
{
	char path[4096];
	uint8_t *data;
	size_t len;
	int status = read_whole(farm_path(f, path, sizeof(path), "jobs"), &data, &len);

	if (!status)
		f->list = (struct words){ .data = (char *)data, .len = len, .room = len };
	return status ? status : list_cut(f);
}

/* Puts the link to this command into the folder. Returns 0, or a status with a message. */
static int link_self(const struct farm *f)
{
	char self[PATH_MAX], path[4096];
	const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		return fail(EXIT_DEVICE, "/proc/self/exe: %s", strerror(errno));
	self[n] = '\0';
	farm_path(f, path, sizeof(path), "weft");
	unlink(path);
	return symlink(self, path) ? fail(EXIT_USAGE, "%s: %s", path, strerror(errno)) : 0;
}

/*
 * Makes the folder's files for what the words ask for, or goes on with those that the same words made.
 * Returns 0, or a status with a message.
 */
static int open_farm(struct farm *f, int argc, char **argv)
{
	struct words request = { 0 };
	char path[4096];
	uint8_t *old = NULL;
	size_t len;

	for (int i = 0; i < argc; i++)
		words_add(&request, argv[i]);
	if (request.failed)
		return fail(EXIT_DEVICE, "out of memory");
	int status = make_dir(f->dir);
	if (!status)
		status = link_self(f);
	farm_path(f, path, sizeof(path), "request");
	if (!status && !access(path, F_OK)) {
		status = read_whole(path, &old, &len);
		if (!status && (len != request.len || memcmp(old, request.data, len)))
			status = fail(EXIT_USAGE, "%s: it has the jobs of other words than these; another folder, or remove it", f->dir);
		free(old);
		free(request.data);
		return status ? status : read_list(f);
	}
	if (!status)
		status = make_list(f, argc, argv);
	if (!status)
		status = list_cut(f);
	if (!status)
		status = write_file(farm_path(f, path, sizeof(path), "jobs"), (const uint8_t *)f->list.data, f->list.len);
	/* The last one: what is there without it is made again. */
	if (!status)
		status = write_file(farm_path(f, path, sizeof(path), "request"), (const uint8_t *)request.data, request.len);
	free(request.data);
	return status;
}

/* Removes what jobs that were killed have left. */
static void clean(const struct farm *f)
{
	char path[4096];
	glob_t found;

	/* Letters that the pattern would take for its own stand for themselves. */
	char *at = path;
	for (const char *c = f->dir; *c && at < path + sizeof(path) - 32; c++) {
		if (strchr("*?[\\", *c))
			*at++ = '\\';
		*at++ = *c;
	}
	snprintf(at, 32, "/*.aside-??????");
	if (glob(path, 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		unlink(found.gl_pathv[i]);
	globfree(&found);
}

/* ---- the report ---- */

/* Writes a job's part of the report: its words, its status, its output. */
static void report_job(FILE *out, const struct farm *f, size_t i, const struct result *r)
{
	const struct job *j = &f->jobs[i];

	fprintf(out, "== job %zu:", i);
	if (*j->seed)
		fprintf(out, " seed %s:", shown(j->seed));
	for (char **a = j->argv; *a; a++)
		fprintf(out, " %s", shown(*a));
	fprintf(out, ": status %d\n%.*s%s", r->status, (int)r->len, r->text, r->len && r->text[r->len - 1] != '\n' ? "\n" : "");
}

/* Writes report and times, and says in one line on standard output what came of the jobs. Returns a status. */
static int collect(const struct farm *f)
{
	char *report = NULL, *times = NULL, path[4096];
	size_t n_report, n_times, bad = 0;
	FILE *out = open_memstream(&report, &n_report), *t = open_memstream(&times, &n_times);
	double cpu = 0, over = 0;
	int status = out && t ? 0 : fail(EXIT_DEVICE, "out of memory");

	if (t)
		fprintf(t, "job\tstatus\tcpu_seconds\tseconds\thost\n");
	for (size_t i = 0; !status && i < f->n; i++) {
		struct result r;
		if ((status = result_read(f, i, &r)))
			break;
		report_job(out, f, i, &r);
		fprintf(t, "%zu\t%d\t%.6f\t%.6f\t%s\n", i, r.status, r.cpu_seconds, r.seconds, shown(r.host));
		bad += r.status != 0;
		cpu += r.cpu_seconds;
		over += r.seconds;
		free(r.file);
	}
	if (!status)
		fprintf(out, "== %zu jobs, %zu failed\n", f->n, bad);
	const bool full = (out && fclose(out)) | (t && fclose(t));
	if (!status && full)
		status = fail(EXIT_DEVICE, "out of memory");
	if (!status)
		status = write_file(farm_path(f, path, sizeof(path), "report"), (const uint8_t *)report, n_report);
	if (!status)
		status = write_file(farm_path(f, path, sizeof(path), "times.tsv"), (const uint8_t *)times, n_times);
	if (!status)
		printf("%zu jobs, %zu failed; %.3f s of processor time in %.3f s of jobs; report: %s/report\n", f->n, bad, cpu, over, shown(f->dir));
	free(report);
	free(times);
	return status ? status : bad ? EXIT_DIFFERS : 0;
}

/* ---- the command ---- */

/* Runs job `number`, or with `task` the jobs of that task of an array. Returns 0, or a status with a message. */
static int run_jobs(struct farm *f, uint64_t number, bool task)
{
	int status = read_list(f);

	if (!status && number >= f->n)
		status = fail(EXIT_USAGE, "--job %llu: there are %zu", (unsigned long long)number, f->n);
	for (size_t i = (size_t)number; !status && i < f->n; i += task ? FARM_TASKS : f->n)
		status = job_run(f, i);
	return status;
}

/* Lets the engine run what the words ask for, and collects. Returns a status. */
static int farm_all(struct farm *f, int argc, char **argv)
{
	if (!argc)
		return fail(EXIT_USAGE, "farm: which jobs? segments, seeds or each; see weft farm --help");
	int status = open_farm(f, argc, argv);
	if (!status)
		status = f->engine(f);
	if (!status) {
		clean(f);
		status = collect(f);
	}
	return status;
}

/* Takes the option --engine. Returns 0, or a status with a message. */
static int take_engine(struct farm *f, const char *name)
{
	static const struct { const char *name; int (*run)(const struct farm *); } engines[] = {
		{ "local", engine_local }, { "slurm", engine_slurm }, { "dask", engine_dask },
	};

	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++)
		if (!strcmp(name, engines[i].name))
			return f->engine = engines[i].run, 0;
	return fail(EXIT_USAGE, "--engine: \"%s\" is not local, slurm or dask", name);
}

static int farm_main(int argc, char **argv)
{
	struct farm f = { .engine = engine_local };
	const char *v, **sbatch = calloc((size_t)argc + 1, sizeof(*sbatch));
	uint64_t job = UINT64_MAX;
	bool task = false;
	int at = 0, opt = -1, status = sbatch ? 0 : fail(EXIT_DEVICE, "out of memory");
	size_t n = 0;

	f.sbatch = sbatch;
	/* The farm's own options stand before the words; those behind them are the jobs'. */
	while (!status && at < argc && (!f.dir || argv[at][0] == '-')) {
		opt = next_option(&at, argc, argv, defs, &v);
		if (opt == -3 || (opt == OPT_SLOTS && parse_number("--slots", v, 100000, &f.slots)) ||
		    ((opt == OPT_JOB || opt == OPT_TASK) && parse_number(defs[opt].name, v, 10000000, &job)))
			status = EXIT_USAGE;
		else if (opt == OPT_ENGINE)
			status = take_engine(&f, v);
		else if (opt == OPT_SCHEDULER)
			f.scheduler = v;
		else if (opt == OPT_TASK)
			task = true;
		else if (opt == OPT_SBATCH)
			sbatch[n++] = v;
		else if (opt == -1)
			f.dir = v;
	}
	if (!status && !f.dir)
		status = fail(EXIT_USAGE, "farm: no folder is named; see weft farm --help");
	if (!status)
		status = job != UINT64_MAX ? run_jobs(&f, job, task) : farm_all(&f, argc - at, argv + at);
	for (size_t i = 0; i < f.n; i++)
		free(f.jobs[i].argv);
	free(f.jobs);
	free(f.list.data);
	free(sbatch);
	return status;
}

const struct subcommand cmd_farm = {
	"farm", "many jobs on this machine or on a cluster",
	"usage: weft farm DIR [options] segments MODEL --jobs N [--device D] [--check] [other\n"
	"                                options of weft run]\n"
	"       weft farm DIR [options] seeds FIRST..LAST PROGRAM [ARGUMENT...]\n"
	"       weft farm DIR [options] each PROGRAM [ARGUMENT...] ::: NAME...\n\n"
	"Runs jobs, and writes what they gave to DIR/report, in order; how long each took is in\n"
	"DIR/times.tsv. The same command again goes on where it was left.\n\n"
	"  segments            the parts of one run (docs/segments.md)\n"
	"  seeds               a program for each seed, which it has as WEFT_SEED and as {}\n"
	"                      (WEFT_N is 1)\n"
	"  each                a program for each name, which takes the place of {}\n"
	"  --engine E          local (default: GNU parallel here), slurm (a job array) or dask (its\n"
	"                      workers; python3 has it); DIR is where all nodes see it\n"
	"  --slots N           at most so many jobs at a time (default: here as many as there are\n"
	"                      cores, on a cluster as many as it likes)\n"
	"  --scheduler ADDRESS  Dask's, such as tcp://host:8786 (default: workers on this machine)\n"
	"  --sbatch ARG        one more argument for sbatch, such as --partition=NAME; repeatable\n"
	"  --job N             what an engine runs: job N of DIR, unless its result is there\n"
	"  --task N            the same for the jobs N, N + 1000, ... of a job array\n",
	farm_main,
};

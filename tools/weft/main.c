/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/file.h>

#include "weft_cmd.h"

static const struct subcommand *const commands[] = {
	&cmd_run, &cmd_info, &cmd_compile, &cmd_dump, &cmd_verify, &cmd_convert, &cmd_quantize, &cmd_cast,
	&cmd_accuracy, &cmd_conform, &cmd_bench, &cmd_devices, &cmd_card, &cmd_diag, &cmd_replay, &cmd_reduce,
	&cmd_regs, &cmd_peek, &cmd_poke, &cmd_log, &cmd_reset, &cmd_farm,
};
#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

int fail(int status, const char *format, ...)
{
	char line[8192];
	va_list ap;

	va_start(ap, format);
	vsnprintf(line, sizeof line, format, ap);
	va_end(ap);
	weft_one_line(line, sizeof line);
	fprintf(stderr, "weft: %s\n", line);
	return status;
}

const char *shown(const char *name)
{
	static _Thread_local char line[2][1024];
	static _Thread_local int next;
	char *p = line[next++ % 2];

	snprintf(p, sizeof line[0], "%s", name);
	weft_one_line(p, sizeof line[0]);
	return p;
}

int status_of(int err)
{
	switch (err) {
	case 0:
		return EXIT_DONE;
	case -EBADMSG:
		return EXIT_DIFFERS;
	case -EIO:
	case -ETIMEDOUT:
	case -ENODEV:
	case -EBUSY:
	case -EACCES:
	case -ECONNRESET:
	case -ECANCELED:
	case -EPROTO:
	case -ENOMEM:
		return EXIT_DEVICE;
	default:
		return EXIT_USAGE;
	}
}

int run_status(int err)
{
	return err == -ENOSPC || err == -EDQUOT || err == -EFBIG ? EXIT_DEVICE : status_of(err);
}

int file_status(int err)
{
	return !err ? EXIT_DONE : err == -ENOMEM ? EXIT_DEVICE : EXIT_USAGE;
}

int output_status(int err)
{
	switch (err) {
	case 0:
		return EXIT_DONE;
	case -ENOENT:
	case -ENOTDIR:
	case -EISDIR:
	case -EACCES:
	case -EPERM:
	case -EROFS:
	case -ELOOP:
	case -ENAMETOOLONG:
		return EXIT_USAGE;
	default:
		return EXIT_DEVICE;
	}
}

static int help(FILE *f)
{
	fprintf(f, "usage: weft COMMAND ...\n\n");
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(f, "  %-9s %s\n", commands[i]->name, commands[i]->brief);
	fprintf(f, "\n  weft COMMAND --help, weft help COMMAND   what a command takes\n"
	           "  weft --version\n"
	           "\nExit status: 0 done, 1 tensors differ, 2 bad usage or input, 3 device, memory or output error.\n");
	return 0;
}

static const struct subcommand *find(const char *name)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (!strcmp(name, commands[i]->name))
			return commands[i];
	fail(0, "\"%s\" is not a command; see weft --help", name);
	return NULL;
}

static int help_on(const struct subcommand *c)
{
	printf("%s", c->usage);
	return EXIT_DONE;
}

static int run(int argc, char **argv)
{
	const bool asks = argc >= 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help") || !strcmp(argv[1], "-h"));

	if (argc < 2)
		return help(stderr), EXIT_USAGE;
	if (asks && argc == 2)
		return help(stdout);
	if (!strcmp(argv[1], "--version"))
		return printf("weft %s%s%s\n", weft_version(), *WEFT_COMMIT ? ", commit " : "", WEFT_COMMIT), EXIT_DONE;
	const struct subcommand *c = find(argv[asks ? 2 : 1]);
	if (!c || asks)
		return c ? help_on(c) : EXIT_USAGE;
	for (int k = 2; k < argc; k++)
		if (!strcmp(argv[k], "--help") || !strcmp(argv[k], "-h"))
			return help_on(c);
	return c->main(argc - 2, argv + 2);
}

/* What was printed and did not get there is an error, too. */
int main(int argc, char **argv)
{
	int status = run(argc, argv);

	errno = 0;
	if (fflush(stdout) || ferror(stdout))
		return status ? status : fail(EXIT_DEVICE, "standard output: %s", strerror(errno ? errno : EIO));
	return status;
}

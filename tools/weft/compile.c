/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft compile, dump, verify: programs as files.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft_cmd.h"

enum { CONFIG = N_LOAD, OUT };

/* -o is the last, compile's alone. */
static const struct option_def compile_defs[] = { LOAD_OPTIONS, { "--config", true }, { "-o", true }, { NULL, false } };
static const struct option_def read_defs[] = { LOAD_OPTIONS, { "--config", true }, { NULL, false } };

struct args { const char *model, *config, *out; struct load_args load; };

static int take(struct args *a, const char *command, int opt, const char *v)
{
	if (opt >= 0 && opt < N_LOAD)
		return take_load(&a->load, opt, v);
	const char **to = opt == CONFIG ? &a->config : opt == OUT ? &a->out : &a->model;
	if (opt < 0 && a->model)
		return fail(-1, "%s: \"%s\": one file at a time", command, v);
	*to = v;
	return 0;
}

/* Arguments, and the network that they name. 0, or a status with a message. */
static int begin(int argc, char **argv, const char *command, const struct option_def *defs, struct args *a, weft_net **net)
{
	const bool writes = defs == compile_defs;
	const char *v;
	int at = 0, opt, bad = 0;

	*a = (struct args){ 0 };
	while (!bad && (opt = next_option(&at, argc, argv, defs, &v)) != -2)
		bad = opt == -3 ? -1 : take(a, command, opt, v);
	if (!bad && !a->model)
		bad = fail(-1, "%s: no file is named", command);
	if (!bad && writes && !a->out)
		bad = fail(-1, "%s: no -o FILE", command);
	int status = bad ? EXIT_USAGE : load_net(a->model, &a->load, net);
	load_release(&a->load);
	return status;
}

static int compile_main(int argc, char **argv)
{
	char msg[WEFT_MSG_LEN] = "";
	struct args a;
	weft_net *net;
	int status = begin(argc, argv, "compile", compile_defs, &a, &net);

	if (status)
		return status;
	const int err = weft_net_save_file(net, a.config, a.out, msg);
	if (err == -EINVAL || err == -E2BIG || err == -ENOMEM)
		status = fail(status_of(err), "%s: %s", a.model, msg);
	else if (err)
		status = fail(output_status(err), "%s", msg);
	weft_net_free(net);
	return status;
}

static int dump_main(int argc, char **argv)
{
	char msg[WEFT_MSG_LEN] = "";
	struct args a;
	weft_net *net;
	char *text = NULL;
	int status = begin(argc, argv, "dump", read_defs, &a, &net);

	if (status)
		return status;
	int err = weft_net_disassemble(net, a.config, &text, msg);
	if (err)
		status = fail(status_of(err), "%s: %s", a.model, msg);
	else
		fputs(text, stdout);
	free(text);
	weft_net_free(net);
	return status;
}

static int verify_main(int argc, char **argv)
{
	char msg[WEFT_MSG_LEN] = "";
	struct args a;
	weft_net *net;
	int status = begin(argc, argv, "verify", read_defs, &a, &net);

	if (status)
		return status;
	int err = weft_net_verify(net, a.config, msg);
	if (err)
		status = fail(EXIT_USAGE, "%s: %s", a.model, msg);
	else
		printf("%s: verified\n", a.model);
	weft_net_free(net);
	return status;
}

const struct subcommand cmd_compile = {
	"compile", "compile a network into a .weft program",
	"usage: weft compile MODEL -o FILE.weft [options]\n\n"
	"  --config C          " WEFT_CONFIG_NAMES " (default: w16)\n" LOAD_USAGE, compile_main,
};
const struct subcommand cmd_dump = {
	"dump", "print a program's commands",
	"usage: weft dump FILE [options]\n\nFILE is a .weft program, or a model that is compiled first:\n\n"
	"  --config C          " WEFT_CONFIG_NAMES " (default: w16)\n" LOAD_USAGE, dump_main,
};
const struct subcommand cmd_verify = {
	"verify", "check a program against every static rule",
	"usage: weft verify FILE [options]\n\nFILE is a .weft program, or a model that is compiled first:\n\n"
	"  --config C          " WEFT_CONFIG_NAMES " (default: w16)\n" LOAD_USAGE, verify_main,
};

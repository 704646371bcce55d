/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft compile, dump, verify: programs as files.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft_cmd.h"

static const struct option_def defs[] = { { "--config", true }, { "-o", true }, { "--requant", true }, { "--bind", true }, { "--level", true },
	{ NULL, false } };

struct args { const char *model, *config, *out; struct load_args load; };

static int take_args(int argc, char **argv, const char *command, struct args *a)
{
	const char *v;
	int at = 0, opt;

	*a = (struct args){ 0 };
	while ((opt = next_option(&at, argc, argv, defs, &v)) != -2) {
		if (opt == -3)
			return EXIT_USAGE;
		if (opt == 0)
			a->config = v;
		else if (opt == 1)
			a->out = v;
		else if (opt >= 2 && opt <= 4) {
			if (opt == 4 ? take_level(&a->load, v) : opt == 2 ? take_requant(&a->load, v) : take_bind(&a->load, v))
				return EXIT_USAGE;
		}
		else if (a->model)
			return fail(EXIT_USAGE, "%s: \"%s\": one file at a time", command, v);
		else
			a->model = v;
	}
	return a->model ? 0 : fail(EXIT_USAGE, "%s: no file is named", command);
}

static int load(struct args *a, weft_net **net)
{
	char msg[WEFT_MSG_LEN] = "";
	int err = weft_net_load_file_with(a->model, &a->load.o, net, msg);

	load_release(&a->load);
	return err ? fail(status_of(err), "%s", msg) : 0;
}

static int compile_main(int argc, char **argv)
{
	char msg[WEFT_MSG_LEN] = "";
	struct args a;
	weft_net *net;
	uint8_t *data = NULL;
	size_t len;
	int status = take_args(argc, argv, "compile", &a);

	if (!status && !a.out)
		status = fail(EXIT_USAGE, "compile: no -o FILE");
	if (status || (status = load(&a, &net)))
		return status;
	int err = weft_net_save(net, a.config, &data, &len, msg);
	status = err ? fail(status_of(err), "%s: %s", a.model, msg) : write_file(a.out, data, len);
	free(data);
	weft_net_free(net);
	return status;
}

static int dump_main(int argc, char **argv)
{
	char msg[WEFT_MSG_LEN] = "";
	struct args a;
	weft_net *net;
	char *text = NULL;
	int status = take_args(argc, argv, "dump", &a);

	if (status || (status = load(&a, &net)))
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
	int status = take_args(argc, argv, "verify", &a);

	if (status || (status = load(&a, &net)))
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
	"usage: weft compile MODEL -o FILE.weft [--config w16]\n\n" LOAD_USAGE, compile_main,
};
const struct subcommand cmd_dump = {
	"dump", "print a program's commands",
	"usage: weft dump FILE [--config w16]\n\nFILE is a .weft program, or a model that is compiled first.\n", dump_main,
};
const struct subcommand cmd_verify = {
	"verify", "check a program against every static rule",
	"usage: weft verify FILE [--config w16]\n\nFILE is a .weft program, or a model that is compiled first.\n", verify_main,
};

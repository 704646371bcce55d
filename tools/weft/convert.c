/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft convert: any network as TOSA 1.0.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft_cmd.h"

enum { OUT = N_LOAD, STRICT };

static const struct option_def defs[] = { LOAD_OPTIONS, { "-o", true }, { "--strict", false }, { NULL, false } };

struct args { const char *model, *out; bool strict; struct load_args load; };

static int take_args(int argc, char **argv, struct args *a)
{
	const char *v;
	int at = 0, opt;

	while ((opt = next_option(&at, argc, argv, defs, &v)) != -2) {
		if (opt == -3)
			return EXIT_USAGE;
		if (opt >= 0 && opt < N_LOAD) {
			if (take_load(&a->load, opt, v))
				return EXIT_USAGE;
		} else if (opt == OUT) {
			a->out = v;
		} else if (opt == STRICT) {
			a->strict = true;
		} else if (a->model) {
			return fail(EXIT_USAGE, "convert: \"%s\": one file at a time", v);
		} else {
			a->model = v;
		}
	}
	if (!a->model || !a->out)
		return fail(EXIT_USAGE, "convert: wants MODEL and -o FILE.tosa");
	return 0;
}

static int convert(const struct args *a, const weft_net *net)
{
	char msg[WEFT_MSG_LEN] = "", note[WEFT_MSG_LEN] = "";
	uint8_t *data;
	size_t len;
	int err = weft_net_convert(net, a->strict, &data, &len, note, msg);

	if (err)
		return fail(status_of(err), "%s: %s", a->model, msg);
	int status = write_file(a->out, data, len);
	free(data);
	if (!status && *note)
		fprintf(stderr, "weft: %s: written as CUSTOM of domain \"weft\": %s\n", a->out, note);
	return status;
}

static int run(int argc, char **argv)
{
	struct args a = { 0 };
	weft_net *net;
	int status = take_args(argc, argv, &a);

	if (!status)
		status = load_net(a.model, &a.load, &net);
	load_release(&a.load);
	if (status)
		return status;
	status = convert(&a, net);
	weft_net_free(net);
	return status;
}

const struct subcommand cmd_convert = {
	"convert", "write a network as TOSA 1.0",
	"usage: weft convert MODEL -o FILE.tosa [--strict]\n\n"
	"  -o FILE    the file to write\n"
	"  --strict   refuse operators that TOSA cannot express exactly; without it\n"
	"             they become CUSTOM of domain \"weft\", and are listed\n" LOAD_USAGE,
	run,
};

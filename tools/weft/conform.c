/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft conform: TOSA conformance vectors, operator by operator and type by type.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include <weft/conform.h>
#include "weft_cmd.h"

#define EXPECTED "tests/expected/conform.tsv"

struct row {
	char op[48], types[48];
	int passed, refused, failed, unsupported, npu;
};

/* A test that is known not to pass: a path or pattern, and the reason. */
struct known { char *path, *reason; };

struct tally {
	struct row *rows;
	int n_rows, cap_rows;
	struct row all;
	struct known *known;
	int n_known;
	bool json, verbose;
	cJSON *failures, *tests;
};

/* ---- tests/expected ---- */

static int add_known(struct tally *t, char *line)
{
	char *tab = strchr(line, '\t');
	struct known *k;

	line[strcspn(line, "\n")] = '\0';
	if (!line[0] || line[0] == '#')
		return 0;
	if (!tab || !tab[1])
		return fail(EXIT_USAGE, "expected: \"%.100s\" has no tab and reason", line);
	*tab = '\0';
	k = realloc(t->known, ((size_t)t->n_known + 1) * sizeof *k);
	if (!k)
		return fail(EXIT_DEVICE, "out of memory");
	t->known = k;
	k[t->n_known].path = strdup(line);
	k[t->n_known].reason = strdup(tab + 1);
	if (!k[t->n_known].path || !k[t->n_known].reason)
		return fail(EXIT_DEVICE, "out of memory");
	t->n_known++;
	return 0;
}

/* Without --expected the project's own file, if it is there. */
static int read_known(struct tally *t, const char *file)
{
	FILE *f = fopen(file ? file : EXPECTED, "r");
	char line[1024];
	int status = 0;

	if (!f)
		return file ? fail(EXIT_USAGE, "%s: %s", file, strerror(errno)) : 0;
	while (!status && fgets(line, sizeof line, f))
		status = add_known(t, line);
	fclose(f);
	return status;
}

static const struct known *find_known(const struct tally *t, const char *path)
{
	for (int i = 0; i < t->n_known; i++)
		if (!fnmatch(t->known[i].path, path, 0))
			return &t->known[i];
	return NULL;
}

/* ---- counting ---- */

static struct row *row_of(struct tally *t, const struct weft_conform_case *c)
{
	for (int i = t->n_rows - 1; i >= 0; i--)
		if (!strcmp(t->rows[i].op, c->op) && !strcmp(t->rows[i].types, c->types))
			return &t->rows[i];
	if (t->n_rows == t->cap_rows) {
		int cap = t->cap_rows ? 2 * t->cap_rows : 64;
		struct row *r = realloc(t->rows, (size_t)cap * sizeof *r);
		if (!r)
			return NULL;
		t->rows = r;
		t->cap_rows = cap;
	}
	struct row *r = &t->rows[t->n_rows++];
	*r = (struct row){ 0 };
	snprintf(r->op, sizeof r->op, "%s", c->op);
	snprintf(r->types, sizeof r->types, "%s", c->types);
	return r;
}

static void count(struct row *r, const struct weft_conform_case *c, const struct known *k)
{
	if (c->verdict == WEFT_PASSED && !k && c->error_expected)
		r->refused++;
	else if (c->verdict == WEFT_PASSED && !k)
		r->passed++;
	else if (c->verdict != WEFT_PASSED && k)
		r->unsupported++;
	else
		r->failed++;
	r->npu += c->npu;
}

static void tell(struct tally *t, const struct weft_conform_case *c, const struct known *k)
{
	const bool bad = (c->verdict == WEFT_PASSED) == (k != NULL);
	const char *why = c->verdict == WEFT_PASSED ? "passes, but is listed as known not to" : c->why;

	if (bad && t->json) {
		cJSON *f = cJSON_CreateObject();
		cJSON_AddStringToObject(f, "test", c->path);
		cJSON_AddStringToObject(f, "why", why);
		cJSON_AddItemToArray(t->failures, f);
	} else if (bad && !t->json) {
		printf("FAIL %s: %s\n", c->path, why);
	}
	if (t->json && t->verbose) {
		cJSON *o = cJSON_CreateObject();
		cJSON_AddStringToObject(o, "test", c->path);
		cJSON_AddStringToObject(o, "verdict", bad ? "failed" : k ? "unsupported" : c->error_expected ? "refused" : "passed");
		cJSON_AddBoolToObject(o, "npu", c->npu);
		if (c->host) {
			cJSON_AddStringToObject(o, "host", c->host);
			cJSON_AddStringToObject(o, "reason", c->reason ? c->reason : "");
		}
		cJSON_AddItemToArray(t->tests, o);
	}
	if (!bad && t->verbose && !t->json)
		printf("%-4s %s%s%s\n", k ? "skip" : "ok", c->path, k || c->error_expected ? ": " : "",
		       k ? k->reason : c->error_expected ? c->why : "");
}

static int seen(void *user, const struct weft_conform_case *c)
{
	struct tally *t = user;
	const struct known *k = find_known(t, c->path);
	struct row *r = row_of(t, c);

	if (!r)
		return -ENOMEM;
	count(r, c, k);
	count(&t->all, c, k);
	tell(t, c, k);
	return 0;
}

/* ---- printing ---- */

static void print_row(const struct row *r)
{
	printf("%-24s %-12s %7d %7d %7d %11d\n", r->op, r->types, r->passed, r->refused, r->failed, r->unsupported);
}

static int by_name(const void *pa, const void *pb)
{
	const struct row *a = pa, *b = pb;
	int c = strcmp(a->op, b->op);

	return c ? c : strcmp(a->types, b->types);
}

static void print_table(struct tally *t, bool device)
{
	printf("%-24s %-12s %7s %7s %7s %11s\n", "operator", "types", "passed", "refused", "failed", "unsupported");
	for (int i = 0; i < t->n_rows; i++)
		print_row(&t->rows[i]);
	snprintf(t->all.op, sizeof t->all.op, "all");
	print_row(&t->all);
	if (device)
		printf("%d tests ran on the NPU, at least in part\n", t->all.npu);
}

static cJSON *json_counts(const struct row *r)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddNumberToObject(j, "cases", r->passed + r->refused + r->failed + r->unsupported);
	cJSON_AddNumberToObject(j, "passed", r->passed + r->refused);
	cJSON_AddNumberToObject(j, "refused", r->refused);
	cJSON_AddNumberToObject(j, "failed", r->failed);
	cJSON_AddNumberToObject(j, "unsupported", r->unsupported);
	cJSON_AddNumberToObject(j, "npu", r->npu);
	return j;
}

static void print_json_table(struct tally *t)
{
	cJSON *j = json_counts(&t->all), *rows = cJSON_AddArrayToObject(j, "rows");

	for (int i = 0; i < t->n_rows; i++) {
		cJSON *r = json_counts(&t->rows[i]);
		cJSON_AddStringToObject(r, "op", t->rows[i].op);
		cJSON_AddStringToObject(r, "types", t->rows[i].types);
		cJSON_AddItemToArray(rows, r);
	}
	cJSON_AddItemToObject(j, "failures", t->failures);
	if (t->verbose)
		cJSON_AddItemToObject(j, "tests", t->tests);
	else
		cJSON_Delete(t->tests);
	t->failures = t->tests = NULL;
	char *s = cJSON_Print(j);
	if (s)
		puts(s);
	free(s);
	cJSON_Delete(j);
}

/* ---- the command ---- */

static const struct option_def defs[] = {
	{ "--device", true }, { "--config", true }, { "--memory", true }, { "-o", true }, { "--expected", true },
	{ "--json", false }, { "-v", false }, { NULL, false },
};

struct args { const char *dir, *expected; struct weft_conform_options o; };

static int take_args(int argc, char **argv, struct args *a, struct tally *t)
{
	const char *v;
	int at = 0, opt;

	while ((opt = next_option(&at, argc, argv, defs, &v)) != -2) {
		int bad = opt == -3;
		switch (opt) {
		case 0: bad = parse_device(v, &a->o.session); break;
		case 1: a->o.session.config = v; break;
		case 2: bad = parse_memory(v, &a->o.session.memory); break;
		case 3: a->o.out_dir = v; break;
		case 4: a->expected = v; break;
		case 5: t->json = true; break;
		case 6: t->verbose = true; break;
		case -1:
			if (a->dir)
				return fail(EXIT_USAGE, "conform: \"%s\": one folder at a time", v);
			a->dir = v;
			break;
		default: break;
		}
		if (bad)
			return EXIT_USAGE;
	}
	return a->dir ? 0 : fail(EXIT_USAGE, "conform: no folder is named");
}

static int conform(struct args *a, struct tally *t)
{
	char msg[WEFT_MSG_LEN] = "";
	int status = read_known(t, a->expected);

	if (!status && a->o.out_dir)
		status = make_dir(a->o.out_dir);
	if (status)
		return status;
	t->failures = cJSON_CreateArray();
	t->tests = cJSON_CreateArray();
	int err = weft_conform(a->dir, &a->o, seen, t, msg);
	if (err)
		return fail(status_of(err), "%s", *msg ? msg : strerror(-err));
	if (t->n_rows)
		qsort(t->rows, (size_t)t->n_rows, sizeof *t->rows, by_name);
	if (t->json)
		print_json_table(t);
	else
		print_table(t, a->o.session.device != WEFT_DEVICE_GOLDEN);
	return t->all.failed ? EXIT_DIFFERS : EXIT_DONE;
}

static int run(int argc, char **argv)
{
	struct args a = { .o.session = weft_session_options_default() };
	struct tally t = { 0 };

	a.o.session.device = WEFT_DEVICE_GOLDEN;
	int status = take_args(argc, argv, &a, &t);
	if (!status)
		status = conform(&a, &t);
	for (int i = 0; i < t.n_known; i++) {
		free(t.known[i].path);
		free(t.known[i].reason);
	}
	free(t.known);
	free(t.rows);
	cJSON_Delete(t.failures);
	cJSON_Delete(t.tests);
	return status;
}

const struct subcommand cmd_conform = {
	"conform", "run TOSA conformance vectors and judge the results",
	"usage: weft conform DIR [options]\n\n"
	"DIR holds tests: folders with test.json and test.tosa, at any depth.\n\n"
	"  --device D          where operators run: golden (default), model or rtl\n"
	"  --config C          " WEFT_CONFIG_NAMES " (default: w16)\n"
	"  --memory M          rtl: ddr (default) or sram\n"
	"  -o OUT              write results as OUT/<op>/<test>/out-<k>.npy\n"
	"  --expected FILE     tests known not to pass: path, tab, reason; * matches\n"
	"                      (" EXPECTED " if it is there)\n"
	"  --json              the counts as one JSON object\n"
	"  -v                  a line for every test; with --json an object for each\n\n"
	"Exit status: 0 only if no test failed. A listed test that passes has failed.\n",
	run,
};

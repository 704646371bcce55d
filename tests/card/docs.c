/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What README.md and docs/ tell a user to type: README's commands are run, on the
 * project's own networks and a simulated card; of all pages, the options are those of
 * --help, the tests are there, and so are the files. HACKING.md's table of places to start
 * names files and words in them, and both are there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ctype.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/card_process.h"
#include "tests/support/file.h"
#include "tests/support/level.h"
#include "tests/support/shell.h"
#include <weft/npy.h>

#define TEXT 65536

/* ---- README's commands ---- */

struct swap { const char *from; char to[PATH_MAX + 64]; };

/* Every place of it, in line. */
static void replace(char *line, size_t len, const struct swap *s)
{
	char *at = line;

	while ((at = strstr(at, s->from))) {
		size_t from = strlen(s->from), to = strlen(s->to), rest = strlen(at + from);
		if ((size_t)(at - line) + to + rest >= len)
			fail_msg("too long: %s", line);
		memmove(at + to, at + from, rest + 1);
		memcpy(at, s->to, to);
		at += to;
	}
}

/* What a line must end with; 0 if it is not here. */
static int status_of(const char *line)
{
	static const struct { const char *starts; int status; } ends[] = {
		{ "weft replay", 1 },      /* something differs, as is wanted */
		{ "weft reduce", 2 },      /* this network does not fail */
	};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (strstr(line, ends[i].starts))
			return ends[i].status;
	return 0;
}

static void readme(void **state)
{
	char dir[128], root[PATH_MAX], build[PATH_MAX], msg[WEFT_NPY_MSG], npy[160];
	char *page = test_file("README.md", NULL);
	struct card_process c;
	int n = 0;

	(void)state;
	assert_non_null(page);
	assert_non_null(getcwd(root, sizeof(root)));
	assert_non_null(realpath(test_env("WEFT_BUILD", "build"), build));
	test_path(dir, sizeof(dir), "readme-XXXXXX");
	assert_non_null(mkdtemp(dir));
	int8_t pixels[64] = { 0 };
	const weft_tensor x = { .dtype = WEFT_INT8, .rank = 4, .dim = { 1, 8, 8, 1, 1, 1, 1, 1 }, .data = pixels };
	snprintf(npy, sizeof(npy), "%s/x.npy", dir);
	assert_int_equal(weft_npy_write(npy, &x, msg), 0);
	/* net.wcap: a run that failed. */
	assert_int_equal(shell("cd %s && %s/weft run %s/tests/models/digits_int8.tflite --device rtl --check --plant pe:0,0,9 "
	                       "--capture net.wcap >/dev/null 2>&1", dir, build, root), 1);
	card_process_start(&c, "README", NULL);
	struct swap swaps[] = { { "build/weft", "" }, { "MODEL.tflite", "" }, { "MODEL.onnx", "" }, { "MODEL ", "" }, { "calibrate DIR", "" },
		{ "conform DIR", "" }, { "120±", "12±" }, { "usb:@card.sock", "usb" },
		{ "--device usb", "" }, { "/weft regs", "" }, { "peek status", "" }, { "/weft log", "" } };
	snprintf(swaps[0].to, sizeof(swaps[0].to), "%s/weft", build);
	snprintf(swaps[1].to, sizeof(swaps[1].to), "%s/tests/models/digits_int8.tflite", root);
	snprintf(swaps[2].to, sizeof(swaps[2].to), "%s/tests/models/digits_float.onnx", root);
	snprintf(swaps[3].to, sizeof(swaps[3].to), "%s/tests/models/digits_int8.tflite ", root);
	snprintf(swaps[4].to, sizeof(swaps[4].to), "calibrate %s/tests/models/digits", root);
	char data[PATH_MAX] = "/nowhere";
	if (!access(test_data(), R_OK))
		assert_non_null(realpath(test_data(), data));
	snprintf(swaps[5].to, sizeof(swaps[5].to), "conform %s/tosa_1_0/abs", data);
	snprintf(swaps[8].to, sizeof(swaps[8].to), "--device %s", c.device);
	snprintf(swaps[9].to, sizeof(swaps[9].to), "/weft regs %s", c.device);
	snprintf(swaps[10].to, sizeof(swaps[10].to), "peek status --device %s", c.device);
	snprintf(swaps[11].to, sizeof(swaps[11].to), "/weft log %s", c.device);
	for (char *save, *p = strtok_r(page, "\n", &save); p; p = strtok_r(NULL, "\n", &save)) {
		char line[4096];
		if (strncmp(p, "    build/weft ", 15) || (strstr(p, "conform") && access(test_data(), R_OK)))
			continue;
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(p, "#"), p);
		for (size_t i = 0; i < sizeof(swaps) / sizeof(swaps[0]); i++)
			replace(line, sizeof(line), &swaps[i]);
		int status = shell("(cd %s && set -e && %s) >%s/said 2>&1", dir, line, dir);
		if (status != status_of(line)) {
			shell("tail -3 %s/said", dir);
			fail_msg("%s: exit status %d", p, status);
		}
		n++;
	}
	card_process_stop(&c);
	printf("%d of README's commands ran\n", n);
	assert_true(n >= 15);
	assert_int_equal(shell("rm -r %s", dir), 0);
	free(page);
}

/* ---- all pages ---- */

static char help[TEXT];

/* --help of a command; NULL: there is none of that name. */
static const char *help_of(bool card, const char *name)
{
	int status = card ? shell("%s/weft-card --help >/dev/null", test_env("WEFT_BUILD", "build")) : 0;

	assert_int_equal(status, 0);
	if (!card)
		return run_line(help, sizeof(help), "help %s", name) ? NULL : help;
	char line[PATH_MAX + 32];
	snprintf(line, sizeof(line), "%s/weft-card --help", test_env("WEFT_BUILD", "build"));
	FILE *f = popen(line, "r");
	assert_non_null(f);
	help[fread(help, 1, sizeof(help) - 1, f)] = '\0';
	pclose(f);
	return help;
}

static bool word_in(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = strstr(text, word); p; p = strstr(p + 1, word))
		if (!isalnum((unsigned char)p[n]) && p[n] != '-')
			return true;
	return false;
}

/* The options behind a command, as far as it goes: to the line's end or what a shell or the page ends it with. */
static int check_options(const char *file, const char *at, const char *name, const char *text)
{
	char rest[512], *save;
	int n = 0;

	snprintf(rest, sizeof(rest), "%.*s", (int)strcspn(at, "`\n;|#&(\""), at);
	for (char *p = strtok_r(rest, " ,:)", &save); p; p = strtok_r(NULL, " ,:)", &save)) {
		p[strcspn(p, "=")] = '\0';
		if (p[0] != '-' || p[1] != '-' || !p[2])
			continue;
		n++;
		if (!word_in(text, p))
			fail_msg("%s: %s %s: --help does not have it", file, name, p);
	}
	return n;
}

static int commands_of(const char *file, const char *page)
{
	int n = 0;

	for (const char *p = strstr(page, "weft"); p; p = strstr(p + 4, "weft")) {
		const bool card = !strncmp(p, "weft-card ", 10);
		char name[32] = "weft-card";
		const char *at = p + (card ? 10 : 5);
		if ((p > page && !strchr(" /`'\n", p[-1])) || (!card && p[4] != ' '))
			continue;
		if (!card) {
			size_t k = strspn(at, "abcdefghijklmnopqrstuvwxyz");
			snprintf(name, sizeof(name), "%.*s", (int)(k < 31 ? k : 31), at);
			at += k;
		}
		if (*name && strchr(" \n`", *at)) {
			const char *text = strstr(at, "--") ? help_of(card, name) : NULL;
			n += text ? check_options(file, at, name, text) : 0;
		}
	}
	return n;
}

/* Is it a test, or a theorem of `make formal`? Either may be a pattern. */
static bool runs(const char *name)
{
	const int block = (int)strcspn(name, "/");
	char path[600];
	glob_t g;

	snprintf(path, sizeof(path), "tests/%s.c", name);
	int none = glob(path, 0, NULL, &g);
	if (none) {
		snprintf(path, sizeof(path), "hw/%.*s/formal/%s.toml", block, name, name + block + 1);
		none = glob(path, 0, NULL, &g);
	}
	if (!none)
		globfree(&g);
	return !none;
}

/* T=kind/name, or T='a b*', which may go over several lines: each is a test or a theorem. */
static int tests_of(const char *file, const char *page)
{
	int n = 0;

	for (const char *p = strstr(page, "T="); p; p = strstr(p + 2, "T=")) {
		char list[1024], *save;
		const char *at = p + 2 + (p[2] == '\'');
		if (p > page && !strchr(" `(", p[-1]))
			continue;
		size_t length = strcspn(at, p[2] == '\'' ? "'" : " `,;)\n");
		assert_true(length < sizeof(list));
		snprintf(list, sizeof(list), "%.*s", (int)length, at);
		for (char *t = strtok_r(list, " \n", &save); t; t = strtok_r(NULL, " \n", &save)) {
			if (strchr(t, '/') && !runs(t))
				fail_msg("%s: T=%s is neither a test nor a theorem", file, t);
			n += strchr(t, '/') != NULL;
		}
	}
	return n;
}

/* `folder/.../file.ext` of the tree. */
static int files_of(const char *file, const char *page)
{
	static const char *const folders[] = { "userlib/", "driver/", "sim/", "hw/", "tools/", "tests/", "include/", "firmware/", "docs/" };
	int n = 0;

	for (const char *p = strchr(page, '`'); p; p = strchr(p + 1, '`')) {
		char path[256];
		size_t k = strspn(p + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./*");
		bool ours = false;
		for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
			ours |= !strncmp(p + 1, folders[i], strlen(folders[i]));
		if (!ours || p[1 + k] != '`' || k >= sizeof(path))
			continue;
		snprintf(path, sizeof(path), "%.*s", (int)k, p + 1);
		glob_t g;
		if (glob(path, 0, NULL, &g))
			fail_msg("%s: %s is not there", file, path);
		globfree(&g);
		n++;
	}
	return n;
}

static bool is_source(const char *path)
{
	static const char *const ends[] = { ".c", ".h", ".cc", ".sv", ".S", ".py", ".sh", ".fbs", ".proto", ".toml", ".tsv" };
	const char *end = strrchr(path, '.');

	for (size_t i = 0; end && i < sizeof(ends) / sizeof(ends[0]); i++)
		if (!strcmp(end, ends[i]))
			return true;
	return false;
}

/*
 * A folder's README names sources by their path from the folder, from the one above, or from the root. The blocks of
 * hw/ speak of each other's modules by name alone.
 */
static int files_beside(const char *file, const char *page)
{
	const char *name = strrchr(file, '/');
	int n = 0;

	if (!name || strcmp(name, "/README.md") || !strncmp(file, "hw/", 3))
		return 0;
	for (const char *p = strchr(page, '`'); p; p = strchr(p + 1, '`')) {
		char path[256], beside[512], above[512];
		size_t k = strspn(p + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./");
		if (p[1 + k] != '`' || k >= sizeof(path))
			continue;
		snprintf(path, sizeof(path), "%.*s", (int)k, p + 1);
		if (!is_source(path))
			continue;
		snprintf(beside, sizeof(beside), "%.*s/%s", (int)(name - file), file, path);
		snprintf(above, sizeof(above), "%.*s/../%s", (int)(name - file), file, path);
		if (access(beside, R_OK) && access(above, R_OK) && access(path, R_OK))
			fail_msg("%s: %s is neither beside it, nor a folder above, nor at that path of the tree", file, path);
		n++;
	}
	return n;
}

/*
 * docs/HACKING.md, "To change X, start at Y": each row names a file of the tree and a word
 * that stands in it, so that a row whose function has moved away is noticed.
 */
static void change_table(void **state)
{
	char *page = test_file("docs/HACKING.md", NULL), files[100][128], *save;
	int n = 0;

	(void)state;
	assert_non_null(page);
	char *at = strstr(page, "## To change X, start at Y");
	assert_non_null(at);
	char *end = strstr(at + 3, "\n## ");
	if (end)
		*end = '\0';
	for (char *row = strtok_r(at, "\n", &save); row; row = strtok_r(NULL, "\n", &save)) {
		char what[200], word[100], *text;
		if (*row != '|' || sscanf(row, "| %199[^|]| `%127[^`]` | `%99[^`]` |", what, files[n], word) != 3)
			continue;
		text = test_file(files[n], NULL);
		if (!text)
			fail_msg("%s: %s is not there", what, files[n]);
		if (!strstr(text, word))
			fail_msg("%s: %s does not have %s", what, files[n], word);
		free(text);
		for (int i = 0; i < n; i++)
			if (!strcmp(files[i], files[n]))
				fail_msg("%s: %s stands in two rows", what, files[n]);
		assert_true(++n < 100);
	}
	printf("%d rows\n", n);
	assert_true(n >= 20);
	free(page);
}

static void pages(void **state)
{
	static const char *const where[] = { "README.md", "docs/*.md", "*/README.md", "*/*/README.md", "*/*/*/README.md", "*/*/*/*/README.md" };
	int n_options = 0, n_tests = 0, n_files = 0;
	glob_t g = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(where) / sizeof(where[0]); i++) {
		int none = glob(where[i], i ? GLOB_APPEND : 0, NULL, &g);
		assert_true(!none || (i && none == GLOB_NOMATCH));
	}
	for (size_t i = 0; i < g.gl_pathc; i++) {
		if (!strncmp(g.gl_pathv[i], "build", 5))
			continue;
		char *page = test_file(g.gl_pathv[i], NULL);
		assert_non_null(page);
		n_options += commands_of(g.gl_pathv[i], page);
		n_tests += tests_of(g.gl_pathv[i], page);
		n_files += files_of(g.gl_pathv[i], page);
		n_files += files_beside(g.gl_pathv[i], page);
		free(page);
	}
	printf("%zu pages: %d options, %d tests, %d files\n", g.gl_pathc, n_options, n_tests, n_files);
	assert_true(n_options > 60 && n_tests > 60 && n_files > 40);
	globfree(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(readme), cmocka_unit_test(pages), cmocka_unit_test(change_table) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

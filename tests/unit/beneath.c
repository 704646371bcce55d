/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths that stay in a folder, resolved by the kernel and step by step: the two have to agree on
 * every path, and both know where the tree below ends. And text within a line.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/file.h>

#include "tests/support/level.h"
#include "tests/support/shell.h"
#include "userlib/files/beneath.h"

static char top[160];

/* Makes top/model and what is in it, and top/outside, which nothing in there may reach. */
static int make_tree(void **state)
{
	static const char *const folders[] = { "model", "model/sub", "model/sub/deep", "other" };
	static const char *const files[] = { "model/a", "model/sub/b", "model/sub/deep/c", "outside", "other/d" };
	static const char *const links[][2] = {
		{ "a", "model/to_a" }, { "sub/b", "model/to_b" }, { "../a", "model/sub/up_a" }, { "sub/deep", "model/to_deep" },
		{ "to_a", "model/chain" }, { "../../a", "model/sub/deep/up2" }, { "sub/../a", "model/round" }, { ".", "model/here" },
		{ "../outside", "model/out" }, { "..", "model/up" }, { "../../outside", "model/sub/out" }, { "/etc", "model/etc" },
		{ "../model/a", "model/in_again" }, { "loop2", "model/loop1" }, { "loop1", "model/loop2" }, { "/dev/null", "model/null" },
		{ "nothing", "model/dangling" }, { "../../other/d", "model/sub/other" },
	};
	char path[300];

	(void)state;
	test_path(top, sizeof top, "beneath-XXXXXX");
	assert_non_null(mkdtemp(top));
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		snprintf(path, sizeof path, "%s/%s", top, folders[i]);
		assert_int_equal(mkdir(path, 0777), 0);
	}
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		snprintf(path, sizeof path, "%s/%s", top, files[i]);
		assert_int_equal(weft_file_write(path, (const uint8_t *)files[i], strlen(files[i])), 0);
	}
	for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
		snprintf(path, sizeof path, "%s/%s", top, links[i][1]);
		assert_int_equal(symlink(links[i][0], path), 0);
	}
	snprintf(path, sizeof path, "%s/model/fifo", top);
	assert_int_equal(mkfifo(path, 0666), 0);
	snprintf(path, sizeof path, "%s/model/socket", top);
	assert_int_equal(mknod(path, S_IFSOCK | 0666, 0), 0);
	return 0;
}

/* Removes the tree. */
static int drop_tree(void **state)
{
	(void)state;
	return shell("rm -rf %s", top);
}

static const struct { const char *path; int err; const char *holds; } cases[] = {
	{ "a", 0, "model/a" }, { "./a", 0, "model/a" }, { "sub/b", 0, "model/sub/b" }, { "sub//b", 0, "model/sub/b" },
	{ "sub/deep/c", 0, "model/sub/deep/c" }, { "sub/../a", 0, "model/a" }, { "sub/deep/../../a", 0, "model/a" },
	{ "to_a", 0, "model/a" }, { "to_b", 0, "model/sub/b" }, { "sub/up_a", 0, "model/a" }, { "to_deep/c", 0, "model/sub/deep/c" },
	{ "chain", 0, "model/a" }, { "sub/deep/up2", 0, "model/a" }, { "round", 0, "model/a" }, { "here/here/sub/b", 0, "model/sub/b" },
	{ "to_deep/../b", 0, "model/sub/b" },
	{ "..", -EXDEV, NULL }, { "../outside", -EXDEV, NULL }, { "sub/../../outside", -EXDEV, NULL }, { "/etc/passwd", -EXDEV, NULL },
	{ "out", -EXDEV, NULL }, { "up/outside", -EXDEV, NULL }, { "sub/out", -EXDEV, NULL }, { "etc/passwd", -EXDEV, NULL },
	{ "in_again", -EXDEV, NULL }, { "null", -EXDEV, NULL }, { "../model/a", -EXDEV, NULL }, { "sub/other", -EXDEV, NULL },
	{ "to_deep/../../../outside", -EXDEV, NULL }, { "here/../a", -EXDEV, NULL },
	{ "loop1", -ELOOP, NULL }, { "dangling", -ENOENT, NULL }, { "none", -ENOENT, NULL }, { "", -ENOENT, NULL }, { "sub", -EISDIR, NULL }, { ".", -EISDIR, NULL },
	{ "a/b", -ENOTDIR, NULL }, { "a/", -ENOTDIR, NULL }, { "fifo", -EMEDIUMTYPE, NULL },
	{ "socket", -EMEDIUMTYPE, NULL },
};

/* One path by one of the two ways. */
static void one(const char *way, int (*fn)(const char *, const char *), size_t i)
{
	char folder[200], text[64] = "";

	snprintf(folder, sizeof folder, "%s/model", top);
	const int fd = fn(folder, cases[i].path);
	if ((fd < 0 ? fd : 0) != cases[i].err)
		fail_msg("%s: \"%s\" gives %d, not %d", way, cases[i].path, fd < 0 ? fd : 0, cases[i].err);
	if (fd < 0)
		return;
	const ssize_t n = read(fd, text, sizeof text - 1);
	close(fd);
	if (n < 0 || strcmp(text, cases[i].holds))
		fail_msg("%s: \"%s\" leads to \"%s\", not \"%s\"", way, cases[i].path, text, cases[i].holds);
}

static void by_the_kernel(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		one("openat2", weft_open_beneath, i);
}

static void step_by_step(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		one("stepwise", weft_open_beneath_stepwise, i);
}

/* A name of 256 characters is too long: it does not lead to the file with the first 255 of them. */
static void long_name(void **state)
{
	char name[NAME_MAX + 2], path[sizeof top + sizeof name + 8], folder[sizeof top + 8];

	(void)state;
	memset(name, 'n', sizeof name);
	name[NAME_MAX] = '\0';
	snprintf(folder, sizeof folder, "%s/model", top);
	snprintf(path, sizeof path, "%s/%s", folder, name);
	const int made = open(path, O_CREAT | O_WRONLY, 0666);
	assert_true(made >= 0);
	close(made);
	for (int k = 0; k < 2; k++) {
		int (*fn)(const char *, const char *) = k ? weft_open_beneath_stepwise : weft_open_beneath;

		name[NAME_MAX] = '\0';
		int fd = fn(folder, name);
		assert_true(fd >= 0);
		close(fd);
		name[NAME_MAX] = 'n';
		name[NAME_MAX + 1] = '\0';
		assert_int_equal(fn(folder, name), -ENAMETOOLONG);
	}
}

/* No descriptor stays open, whatever came of a path. */
static void descriptors(void **state)
{
	const int before = dup(0);

	(void)state;
	close(before);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		one("openat2", weft_open_beneath, i);
		one("stepwise", weft_open_beneath_stepwise, i);
	}
	const int after = dup(0);
	close(after);
	assert_int_equal(before, after);
}

static void one_line(void **state)
{
	static const struct { const char *text; size_t room; const char *want; } lines[] = {
		{ "plain text", 64, "plain text" }, { "a\nb", 64, "a\\x0ab" }, { "\x1b[31m", 64, "\\x1b[31m" }, { "\x7f", 64, "\\x7f" },
		{ "gr\xc3\xbc\xc3\x9f", 64, "gr\xc3\xbc\xc3\x9f" }, { "\xe6\x97\xa5", 64, "\xe6\x97\xa5" }, { "\xf0\x9f\x98\x80", 64, "\xf0\x9f\x98\x80" },
		{ "\xc2\x9b""31m", 64, "\\xc2\\x9b31m" }, { "\x9b", 64, "\\x9b" }, { "\xe6\x97", 64, "\\xe6\\x97" }, { "\xff", 64, "\\xff" },
		{ "\xe2\x80\xae""txt", 64, "\\xe2\\x80\\xaetxt" }, { "\xc0\xaf", 64, "\\xc0\\xaf" },
		{ "ab\n", 6, "ab" }, { "ab\n", 7, "ab\\x0a" }, { "\n\n", 6, "\\x0a" }, { "", 1, "" },
	};
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		memset(text, '#', sizeof text);
		strcpy(text, lines[i].text);
		weft_one_line(text, lines[i].room);
		assert_string_equal(text, lines[i].want);
		for (size_t k = lines[i].room; k < sizeof text; k++)
			assert_int_equal(text[k], '#');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_the_kernel), cmocka_unit_test(step_by_step), cmocka_unit_test(long_name), cmocka_unit_test(descriptors),
		cmocka_unit_test(one_line),
	};

	return cmocka_run_group_tests(tests, make_tree, drop_tree);
}

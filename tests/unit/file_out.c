/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that are written: nobody else's file is touched, a device stays a device, and a disk that
 * is full leaves the old file and nothing beside it. Files that are read: no pipes, no devices.
 */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <weft/file.h>

#include "tests/support/level.h"

static void content(const char *path, const char *want)
{
	uint8_t *data;
	size_t len;

	assert_int_equal(weft_file_read(path, 1000, &data, &len), 0);
	assert_int_equal(len, strlen(want));
	assert_memory_equal(data, want, len);
	free(data);
}

static int n_files(const char *folder)
{
	DIR *d = opendir(folder);
	int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void folder(char *out, size_t len, const char *name)
{
	test_path(out, len, "%s", name);
	assert_int_equal(mkdir(out, 0700), 0);
}

/* Somebody has put a link where the file under way used to be. */
static void planted_link(void **state)
{
	char dir[300], out[400], part[400], other[400];

	(void)state;
	folder(dir, sizeof dir, "planted");
	snprintf(out, sizeof out, "%s/out", dir);
	snprintf(part, sizeof part, "%s/out.part", dir);
	snprintf(other, sizeof other, "%s/other", dir);
	assert_int_equal(weft_file_write(other, (const uint8_t *)"keep", 4), 0);
	assert_int_equal(symlink(other, part), 0);
	assert_int_equal(weft_file_write(out, (const uint8_t *)"new", 3), 0);
	content(other, "keep");
	content(out, "new");
	assert_int_equal(n_files(dir), 3);
	unlink(part);
	unlink(other);
	unlink(out);
	rmdir(dir);
}

/* A name as long as a folder takes: the file under way has a shorter one. */
static void long_name(void **state)
{
	char dir[300], out[600], name[256];

	(void)state;
	folder(dir, sizeof dir, "long");
	memset(name, 'n', 255);
	name[255] = '\0';
	snprintf(out, sizeof out, "%s/%s", dir, name);
	assert_int_equal(weft_file_write(out, (const uint8_t *)"new", 3), 0);
	content(out, "new");
	assert_int_equal(n_files(dir), 1);
	unlink(out);
	rmdir(dir);
}

static void device(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(weft_file_write("/dev/full", (const uint8_t *)"x", 1), -ENOSPC);
	assert_int_equal(stat("/dev/full", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(weft_file_write("/dev/null", (const uint8_t *)"x", 1), 0);
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
}

/* A limit on the size of files stands for a disk without room. */
static void full_disk(void **state)
{
	static uint8_t big[100000];
	struct rlimit was, small = { 4096, 4096 };
	char dir[300], out[400];

	(void)state;
	folder(dir, sizeof dir, "full");
	snprintf(out, sizeof out, "%s/out", dir);
	assert_int_equal(weft_file_write(out, (const uint8_t *)"old", 3), 0);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	small.rlim_max = was.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	int err = weft_file_write(out, big, sizeof big);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	assert_int_equal(err, -EFBIG);
	content(out, "old");
	assert_int_equal(n_files(dir), 1);
	unlink(out);
	rmdir(dir);
}

static void read_pipe(void **state)
{
	char path[300];
	uint8_t *data;
	size_t len;

	(void)state;
	test_path(path, sizeof path, "pipe");
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(20);
	assert_int_equal(weft_file_read(path, 1000, &data, &len), -EMEDIUMTYPE);
	alarm(0);
	assert_null(data);
	unlink(path);
	assert_int_equal(weft_file_read("/dev/zero", 1000, &data, &len), -EMEDIUMTYPE);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(planted_link), cmocka_unit_test(long_name), cmocka_unit_test(device),
	                                    cmocka_unit_test(full_disk), cmocka_unit_test(read_pipe) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

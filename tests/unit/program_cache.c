/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cache of compiled programs: what it gives is what the compiler makes, whatever has happened to the folder, and
 * a folder that cannot be used costs nothing but time.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <weft/file.h>
#include <weft/weft.h>

#include "tests/support/fail_at.h"
#include "tests/support/level.h"
#include "tests/support/random_graph.h"
#include "tests/support/tensors.h"
#include "userlib/files/cache_folder.h"
#include "userlib/run/program_cache.h"

#define FOLDER 300

/* A folder of this test's, which is not there yet. */
static void name_folder(char out[FOLDER], const char *name)
{
	test_path(out, FOLDER, "cache-%s", name);
}

static void remove_folder(const char *folder)
{
	char command[FOLDER + 20];

	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	assert_int_equal(system(command), 0);
}

/* How many files the folder has, and the path of the one that is listed last. */
static int files(const char *folder, char path[2 * FOLDER])
{
	DIR *d = opendir(folder);
	int n = 0;

	assert_non_null(d);
	for (struct dirent *f; (f = readdir(d)); ) {
		if (f->d_name[0] == '.')
			continue;
		snprintf(path, 2 * FOLDER, "%s/%s", folder, f->d_name);
		n++;
	}
	closedir(d);
	return n;
}

static void same_program(const weft_program *a, const weft_program *b)
{
	char msg[WEFT_MSG];
	uint8_t *pa, *pb;
	size_t na, nb;

	assert_int_equal(weft_program_write(a, &pa, &na, msg), 0);
	assert_int_equal(weft_program_write(b, &pb, &nb, msg), 0);
	assert_int_equal(na, nb);
	assert_memory_equal(pa, pb, na);
	free(pa);
	free(pb);
}

/* Takes the program of network `seed` by way of the folder; it must be the compiler's, and the cache in this state. */
static void expect_of(const char *folder, uint64_t most, uint64_t seed, const struct weft_compile_options *o, enum weft_cache_state state)
{
	struct weft_program_cache c = { .folder = folder, .most = most };
	weft_program *p, *fresh;
	struct random_net r;
	char msg[WEFT_MSG];

	random_net_make(&r, seed, 16, false, WEFT_INT8);
	assert_int_equal(weft_program_cached(&c, r.g, o, &p, msg), 0);
	if (c.state != state)
		fail_msg("state %d, not %d; %s", c.state, state, c.why);
	assert_int_equal(c.why[0] != '\0', state == WEFT_CACHE_FAILED);
	assert_ptr_equal(p->graph, r.g);
	assert_int_equal(weft_compile(r.g, o, &fresh, msg), 0);
	same_program(p, fresh);
	weft_program_free(p);
	weft_program_free(fresh);
	random_net_free(&r);
}

static void expect(const char *folder, uint64_t seed, enum weft_cache_state state)
{
	expect_of(folder, WEFT_CACHE_BYTES, seed, &(struct weft_compile_options){ .config = "w16" }, state);
}

/* A program is found again, but not for another network, configuration or option. */
static void hit_and_miss(void **state)
{
	const struct weft_compile_options other[] = { { .config = "w8" }, { .config = "w16", .of_model = true }, { .config = "w16", .no_fold = true },
		{ .config = "w16", .no_fuse = true }, { .config = "w16", .quick = true }, { .config = "w16", .sp_limit = 1 << 17 } };
	char folder[FOLDER], inner[FOLDER + 20], path[2 * FOLDER];
	struct stat st;

	(void)state;
	name_folder(folder, "hit");
	snprintf(inner, sizeof inner, "%s/deep/er", folder);
	for (uint64_t seed = 1; seed <= 8; seed++)
		expect(inner, seed, WEFT_CACHE_MADE);
	for (uint64_t seed = 1; seed <= 8; seed++)
		expect(inner, seed, WEFT_CACHE_HIT);
	for (size_t i = 0; i < sizeof other / sizeof *other; i++)
		expect_of(inner, WEFT_CACHE_BYTES, 1, &other[i], WEFT_CACHE_MADE);
	expect_of(inner, WEFT_CACHE_BYTES, 1, &(struct weft_compile_options){ .config = "w16", .threads = 2 }, WEFT_CACHE_HIT);
	assert_int_equal(files(inner, path), 14);
	assert_int_equal(stat(inner, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	remove_folder(folder);
}

/* Makes the entry of network `seed`, the first one in the folder, and returns its bytes, *n of them; path becomes its path. */
static uint8_t *first_entry(const char *folder, uint64_t seed, char path[2 * FOLDER], size_t *n)
{
	uint8_t *bytes;

	expect(folder, seed, WEFT_CACHE_MADE);
	assert_int_equal(files(folder, path), 1);
	assert_int_equal(weft_file_read(path, 1 << 30, &bytes, n), 0);
	return bytes;
}

/* Two networks that differ in one bit of one constant. */
static void content(void **state)
{
	struct weft_compile_options o = { .config = "w16" };
	char folder[FOLDER], msg[WEFT_MSG];
	struct random_net r;
	weft_program *p;

	(void)state;
	name_folder(folder, "content");
	struct weft_program_cache c = { .folder = folder, .most = WEFT_CACHE_BYTES };
	random_net_make(&r, 2, 16, false, WEFT_INT8);
	for (int i = 0, k = 0; i < r.g->n_tensors && k < 5; i++) {
		weft_tensor *t = &r.g->tensors[i].t;
		if (!t->data || t->dtype != WEFT_INT8 || !weft_tensor_bytes(t))
			continue;
		((uint8_t *)t->data)[weft_tensor_bytes(t) - 1] ^= 1;
		assert_int_equal(weft_program_cached(&c, r.g, &o, &p, msg), 0);
		assert_int_equal(c.state, WEFT_CACHE_MADE);
		weft_program_free(p);
		k++;
	}
	random_net_free(&r);
	remove_folder(folder);
}

/* Writes `byte` over byte `at` of a file, or cuts the file there if byte is negative. */
static void damage(const char *path, off_t at, int byte)
{
	const int fd = open(path, O_WRONLY);

	assert_true(fd >= 0);
	const uint8_t b = (uint8_t)byte;
	assert_int_equal(byte < 0 ? ftruncate(fd, at) : pwrite(fd, &b, 1, at) - 1, 0);
	close(fd);
}

/* Wherever an entry is damaged, it is made anew, and then is in order. */
static void damaged_bad(void **state)
{
	char folder[FOLDER], path[2 * FOLDER];
	uint64_t rng = 7;
	size_t n;

	(void)state;
	name_folder(folder, "damaged");
	uint8_t *bytes = first_entry(folder, 3, path, &n);
	for (int i = 0; i < 60; i++) {
		const size_t at = i < 30 ? (size_t)i * 2 : test_random(&rng) % n;

		damage(path, (off_t)at, i % 3 ? bytes[at] ^ (1 << i % 8) : -1);
		expect(folder, 3, WEFT_CACHE_MADE);
		expect(folder, 3, WEFT_CACHE_HIT);
	}
	assert_int_equal(files(folder, path), 1);
	free(bytes);
	remove_folder(folder);
}

/* An entry that another library, or another network, has put under this name is made anew. */
static void other_key_bad(void **state)
{
	char folder[FOLDER], first[2 * FOLDER], both[2 * FOLDER];
	size_t n;

	(void)state;
	name_folder(folder, "key");
	uint8_t *bytes = first_entry(folder, 4, first, &n);
	assert_int_equal(unlink(first), 0);
	expect_of(folder, WEFT_CACHE_BYTES, 4, &(struct weft_compile_options){ .config = "w8" }, WEFT_CACHE_MADE);
	assert_int_equal(files(folder, both), 1);
	assert_int_equal(weft_file_write(both, bytes, n), 0);
	expect_of(folder, WEFT_CACHE_BYTES, 4, &(struct weft_compile_options){ .config = "w8" }, WEFT_CACHE_MADE);
	/* An older form of entries. */
	assert_int_equal(weft_file_write(first, bytes, n), 0);
	damage(first, 7, '0');
	expect(folder, 4, WEFT_CACHE_MADE);
	expect(folder, 4, WEFT_CACHE_HIT);
	free(bytes);
	remove_folder(folder);
}

/* Processes that make and take the same entries, and remove them, all at once. */
static void processes(void **state)
{
	char folder[FOLDER], path[2 * FOLDER], msg[WEFT_MSG];
	pid_t pid[4];

	(void)state;
	name_folder(folder, "processes");
	for (size_t i = 0; i < 4; i++) {
		pid[i] = fork();
		if (pid[i])
			continue;
		int bad = 0;
		for (uint64_t k = 0; k < 12 && !bad; k++) {
			struct weft_program_cache c = { .folder = folder, .most = i == 3 ? 20000 : WEFT_CACHE_BYTES };
			struct random_net r;
			weft_program *p, *fresh;
			uint8_t *pa, *pb;
			size_t na, nb;

			random_net_make(&r, 1 + k % 3, 16, false, WEFT_INT8);
			bad = weft_program_cached(&c, r.g, NULL, &p, msg) || weft_compile(r.g, NULL, &fresh, msg) ||
			      (c.state == WEFT_CACHE_FAILED && i != 3);
			bad = bad || weft_program_write(p, &pa, &na, msg) || weft_program_write(fresh, &pb, &nb, msg) || na != nb || memcmp(pa, pb, na);
		}
		_exit(bad);
	}
	for (int i = 0; i < 4; i++) {
		int status;
		assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
		assert_int_equal(status, 0);
	}
	assert_true(files(folder, path) <= 3);
	remove_folder(folder);
}

/* The disk is full, or files cannot be opened, synchronised or put in their places. */
static void full_bad(void **state)
{
	const unsigned kinds[] = { FAIL_WRITE, FAIL_SYNC, FAIL_MOVE, FAIL_OPEN };
	char folder[FOLDER], path[2 * FOLDER];

	(void)state;
	name_folder(folder, "full");
	expect(folder, 5, WEFT_CACHE_MADE);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		for (long at = 1; at <= (kinds[i] == FAIL_WRITE ? 3 : 1); at++) {
			fail_begin(kinds[i], at, true);
			expect(folder, 6, WEFT_CACHE_FAILED);
			fail_end();
			assert_int_equal(files(folder, path), 1);
		}
	}
	expect(folder, 5, WEFT_CACHE_HIT);
	fail_begin(FAIL_READ, 1, true);
	expect(folder, 5, WEFT_CACHE_MADE);
	fail_end();
	remove_folder(folder);
}

/* The folder cannot be made, it is another user's, or others may write to it. */
static void folder_bad(void **state)
{
	char folder[FOLDER], inner[FOLDER + 20];

	(void)state;
	name_folder(folder, "bad");
	assert_int_equal(weft_file_write(folder, (const uint8_t *)"x", 1), 0);
	expect(folder, 7, WEFT_CACHE_FAILED);
	snprintf(inner, sizeof inner, "%s/inner", folder);
	expect(inner, 7, WEFT_CACHE_FAILED);
	expect("/proc/weft", 7, WEFT_CACHE_FAILED);
	assert_int_equal(unlink(folder), 0);
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(chmod(folder, 0770), 0);
	expect(folder, 7, WEFT_CACHE_FAILED);
	assert_int_equal(chmod(folder, 0750), 0);
	expect(folder, 7, WEFT_CACHE_MADE);
	if (!geteuid()) {
		assert_int_equal(chown(folder, 65534, 65534), 0);
		expect(folder, 7, WEFT_CACHE_FAILED);
		assert_int_equal(chown(folder, 0, 0), 0);
	}
	remove_folder(folder);
}

/* If a link, a pipe or a folder has an entry's name, the link's target is neither read nor written. */
static void links_bad(void **state)
{
	char folder[FOLDER], path[2 * FOLDER], other[FOLDER];
	size_t n, n_after;
	struct stat st;
	uint8_t *after;

	(void)state;
	name_folder(folder, "links");
	name_folder(other, "target");
	uint8_t *bytes = first_entry(folder, 8, path, &n);
	assert_int_equal(rename(path, other), 0);
	assert_int_equal(symlink(other, path), 0);
	expect(folder, 8, WEFT_CACHE_MADE);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(weft_file_read(other, 1 << 30, &after, &n_after), 0);
	assert_int_equal(n, n_after);
	assert_memory_equal(bytes, after, n);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/dev/null", path), 0);
	expect(folder, 8, WEFT_CACHE_MADE);
	expect(folder, 8, WEFT_CACHE_HIT);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	expect(folder, 8, WEFT_CACHE_MADE);
	expect(folder, 8, WEFT_CACHE_HIT);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	expect(folder, 8, WEFT_CACHE_FAILED);
	free(bytes);
	free(after);
	unlink(other);
	remove_folder(folder);
}

/* Sets when a file was used last: so many seconds ago. */
static void aged(const char *path, time_t seconds)
{
	const struct timespec t[2] = { { time(NULL) - seconds, 0 }, { time(NULL) - seconds, 0 } };

	assert_int_equal(utimensat(AT_FDCWD, path, t, 0), 0);
}

/* Makes a file of n bytes in the folder, used so many seconds ago. */
static void make_file(const char *folder, const char *name, size_t n, time_t seconds)
{
	char path[2 * FOLDER];
	uint8_t *zeros = calloc(1, n + 1);

	snprintf(path, sizeof path, "%s/%s", folder, name);
	assert_int_equal(weft_file_write(path, zeros, n), 0);
	aged(path, seconds);
	free(zeros);
}

static bool there(const char *folder, const char *name)
{
	char path[2 * FOLDER];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return !access(path, F_OK);
}

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde"

/* What was used longest ago goes first; a hit counts as use; nobody else's file goes. */
static void limit(void **state)
{
	char folder[FOLDER], path[2 * FOLDER];
	struct stat st;

	(void)state;
	name_folder(folder, "limit");
	expect(folder, 9, WEFT_CACHE_MADE);
	assert_int_equal(files(folder, path), 1);
	assert_int_equal(stat(path, &st), 0);
	const uint64_t own = (uint64_t)st.st_size;
	aged(path, 100000);
	make_file(folder, HEX "1.program", 500, 300);
	make_file(folder, HEX "2.program", 500, 400);
	make_file(folder, HEX "3.program", 500, 200);
	make_file(folder, "notes.program", 500, 99999);
	make_file(folder, HEX "4.program.0123456789abcdef.part", 500, 3500);
	make_file(folder, HEX "5.program.0123456789abcdef.part", 500, 3700);
	make_file(folder, HEX "6.program.copy", 500, 99999);
	expect(folder, 9, WEFT_CACHE_HIT);                    /* now the youngest */
	assert_int_equal(weft_cache_trim(folder, own + 1500), 0);
	assert_true(there(folder, HEX "2.program") && !there(folder, HEX "5.program.0123456789abcdef.part"));
	assert_int_equal(weft_cache_trim(folder, own + 1499), 0);
	assert_true(there(folder, HEX "1.program") && !there(folder, HEX "2.program"));
	assert_int_equal(weft_cache_trim(folder, own + 500), 0);
	assert_true(there(folder, HEX "3.program") && !there(folder, HEX "1.program"));
	assert_true(there(folder, "notes.program") && there(folder, HEX "6.program.copy"));
	assert_true(there(folder, HEX "4.program.0123456789abcdef.part"));
	expect_of(folder, own, 9, &(struct weft_compile_options){ .config = "w16" }, WEFT_CACHE_HIT);
	assert_true(there(folder, HEX "3.program"));          /* only what is added makes others go */
	assert_int_equal(unlink(path), 0);
	expect_of(folder, own, 9, &(struct weft_compile_options){ .config = "w16" }, WEFT_CACHE_MADE);
	assert_true(!there(folder, HEX "3.program"));
	expect(folder, 9, WEFT_CACHE_HIT);
	assert_int_equal(unlink(path), 0);
	expect_of(folder, own - 1, 9, &(struct weft_compile_options){ .config = "w16" }, WEFT_CACHE_FAILED);
	assert_false(!access(path, F_OK));
	remove_folder(folder);
}

/* Sessions keep nothing unless a folder is named, and golden compiles nothing for it. */
static void sessions(void **state)
{
	struct weft_session_options o = weft_session_options_default();
	const enum weft_device device[] = { WEFT_DEVICE_GOLDEN, WEFT_DEVICE_MODEL, WEFT_DEVICE_MODEL, WEFT_DEVICE_MODEL };
	const enum weft_cache_state want[] = { WEFT_CACHE_OFF, WEFT_CACHE_MADE, WEFT_CACHE_HIT, WEFT_CACHE_OFF };
	char folder[FOLDER], msg[WEFT_MSG_LEN] = "";
	int8_t pixels[64] = { 1, 2, 3 };
	weft_tensor first = { 0 };
	weft_session *s;
	const char *why;
	weft_net *net;

	(void)state;
	name_folder(folder, "session");
	assert_int_equal(weft_net_load_file("tests/models/digits_int8.tflite", &net, msg), 0);
	for (int i = 0; i < 4; i++) {
		const weft_tensor in = { .dtype = WEFT_INT8, .rank = 4, .dim = { 1, 8, 8, 1, 1, 1, 1, 1 }, .data = pixels };
		weft_tensor out = { 0 };

		o.device = device[i];
		o.check = device[i] != WEFT_DEVICE_GOLDEN;
		o.cache = i < 3 ? folder : NULL;
		assert_int_equal(weft_session_open(net, &o, &s, msg), 0);
		assert_int_equal(weft_session_cache(s, &why), want[i]);
		assert_string_equal(why, "");
		assert_int_equal(weft_session_run(s, &in, &out, NULL, msg), 0);
		if (i)
			assert_memory_equal(first.data, out.data, weft_tensor_bytes(&out));
		if (i)
			weft_tensor_release(&out);
		else
			first = out;
		weft_session_close(s);
	}
	o.cache = "/proc/weft";
	assert_int_equal(weft_session_open(net, &o, &s, msg), 0);
	assert_int_equal(weft_session_cache(s, &why), WEFT_CACHE_FAILED);
	assert_non_null(strstr(why, "/proc/weft"));
	weft_session_close(s);
	weft_tensor_release(&first);
	weft_net_free(net);
	remove_folder(folder);
}

/* Runs the command with these variables; returns its status. */
static int command(const char *variables, const char *arguments)
{
	char line[2048];

	snprintf(line, sizeof line, "env -u WEFT_CACHE -u XDG_CACHE_HOME -u HOME %s %s/weft %s >/dev/null 2>'%s/err'", variables,
	         test_env("WEFT_BUILD", "build"), arguments, test_env("TMPDIR", "/tmp"));
	const int status = system(line);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* How many bytes the last command has written to its standard error. */
static long said(void)
{
	char path[FOLDER];
	struct stat st;

	snprintf(path, sizeof path, "%s/err", test_env("TMPDIR", "/tmp"));
	assert_int_equal(stat(path, &st), 0);
	unlink(path);
	return (long)st.st_size;
}

/* In which folder commands keep programs follows from variables and --no-cache. */
static void commands(void **state)
{
	static const char run[] = "run tests/models/digits_int8.tflite --no-capture", info[] = "info tests/models/digits_int8.tflite";
	const struct { const char *variables, *option, *folder; int n; bool says; } c[] = {
		{ "WEFT_CACHE=%1$s/a XDG_CACHE_HOME=%1$s/x HOME=%1$s", "", "a", 1, false }, { "XDG_CACHE_HOME=%1$s/x HOME=%1$s", "", "x/weft", 1, false },
		{ "XDG_CACHE_HOME=x HOME=%1$s", "", ".cache/weft", 1, false }, { "WEFT_CACHE=none HOME=%1$s", "", ".cache/weft", -1, false },
		{ "HOME=%1$s", " --no-cache", ".cache/weft", -1, false }, { "HOME=%1$s/none", "", "none", -1, false }, { "A=%1$s", "", "a", -1, false },
		{ "WEFT_CACHE=/proc/weft/%1$s", "", "a", -1, true },
	};
	char folder[FOLDER], variables[4 * FOLDER], arguments[200], inner[2 * FOLDER], path[2 * FOLDER];

	(void)state;
	name_folder(folder, "command");
	for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
		assert_int_equal(mkdir(folder, 0700), 0);
		snprintf(variables, sizeof variables, c[i].variables, folder);
		snprintf(inner, sizeof inner, "%s/%s", folder, c[i].folder);
		for (int k = 0; k < 3; k++) {
			snprintf(arguments, sizeof arguments, "%s%s", k < 2 ? run : info, c[i].option);
			assert_int_equal(command(variables, arguments), 0);
			assert_int_equal(said() > 0, c[i].says);
			assert_int_equal(!access(inner, F_OK) ? files(inner, path) : -1, c[i].n);
		}
		remove_folder(folder);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hit_and_miss), cmocka_unit_test(content), cmocka_unit_test(damaged_bad), cmocka_unit_test(other_key_bad),
		cmocka_unit_test(processes), cmocka_unit_test(full_bad), cmocka_unit_test(folder_bad), cmocka_unit_test(links_bad),
		cmocka_unit_test(limit), cmocka_unit_test(sessions), cmocka_unit_test(commands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

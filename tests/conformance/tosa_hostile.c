/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hostile .tosa files and the command: cycles, shapes of 10^9 elements, nesting a
 * thousand deep, blocks that contain themselves, damaged bytes. Each ends in exit
 * status 2 and one line (damaged ones: or in 0), within a second of processor time
 * and 100 MB.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/level.h"
#include "tests/support/tensors.h"
#include "tests/unit/tosa_build.h"

#define MAX_SECONDS 1.0
#define MAX_KB      100000

static char command[512], file[128];
static double slowest;
static long largest;

static void write_file(const void *p, size_t n)
{
	FILE *f = fopen(file, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, n, f), n);
	fclose(f);
}

/* Exit status of `weft what file`, judged by what it took; says: what it said. */
static int run(const char *what, char *says, size_t len)
{
	struct rusage u;
	int fd[2], status;

	assert_int_equal(pipe(fd), 0);
	pid_t pid = fork();
	if (!pid) {
		int null = open("/dev/null", O_WRONLY);
		dup2(null, 1);
		dup2(fd[1], 2);
		execl(command, command, what, file, (char *)NULL);
		_exit(99);
	}
	close(fd[1]);
	size_t n = 0;
	ssize_t got;
	while (n < len - 1 && (got = read(fd[0], says + n, len - 1 - n)) > 0)
		n += (size_t)got;
	says[n] = '\0';
	close(fd[0]);
	assert_int_equal(wait4(pid, &status, 0, &u), pid);
	double s = (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
	slowest = s > slowest ? s : slowest;
	largest = u.ru_maxrss > largest ? u.ru_maxrss : largest;
	if (!WIFEXITED(status) || s > MAX_SECONDS || u.ru_maxrss > MAX_KB)
		fail_msg("weft %s: status %x, %.2f s, %ld kB: %s", what, status, s, u.ru_maxrss, says);
	return WEXITSTATUS(status);
}

static void refused(struct tosa_build *t, const char *why)
{
	static const char *const commands[] = { "info", "run" };
	struct fbw w = tb_end(t);
	char says[1000];

	write_file(w.p, w.n);
	free(w.p);
	for (int i = 0; i < 2; i++) {
		int status = run(commands[i], says, sizeof says);
		const char *line = strchr(says, '\n');
		if (status != 2 || !strstr(says, why) || !line || line[1])
			fail_msg("weft %s: exit status %d: %s, wants 2 and \"%s\" in one line", commands[i], status, says, why);
	}
}

static void cycle(void)
{
	struct tosa_build t;

	tb_begin(&t, 1);
	tb_tensor(&t, "x", WEFT_INT32, 1, 4, 1, NULL);
	tb_tensor(&t, "p", WEFT_INT32, 1, 4, 1, NULL);
	tb_tensor(&t, "q", WEFT_INT32, 1, 4, 1, NULL);
	tb_add(&t, TOSA_ADD, "x q", "p");
	tb_add(&t, TOSA_ADD, "x p", "q");
	tb_ports(&t, "x", "q");
	refused(&t, "cycle");
}

static void large(int64_t d0, int64_t d1)
{
	struct tosa_build t;

	tb_begin(&t, 1);
	tb_tensor(&t, "x", WEFT_INT8, 2, d0, d1, NULL);
	tb_tensor(&t, "y", WEFT_INT8, 2, d0, d1, NULL);
	tb_add(&t, TOSA_IDENTITY, "x", "y");
	tb_ports(&t, "x", "y");
	refused(&t, "elements");
}

/* Many tensors that are each allowed. */
static void many(void)
{
	struct tosa_build t;
	char a[16], b[16];

	tb_begin(&t, 1);
	tb_tensor(&t, "t0", WEFT_INT32, 1, 1 << 26, 1, NULL);
	for (int i = 1; i < 100; i++) {
		snprintf(a, sizeof a, "t%d", i - 1);
		snprintf(b, sizeof b, "t%d", i);
		tb_tensor(&t, b, WEFT_INT32, 1, 1 << 26, 1, NULL);
		tb_add(&t, TOSA_IDENTITY, a, b);
	}
	tb_ports(&t, "t0", "t99");
	refused(&t, "memory");
}

/* Block i is a COND_IF on block i + 1; the last one on block `back`, or an IDENTITY. */
static void nested(int depth, int back, const char *why)
{
	struct tosa_build t;
	char next[16];

	tb_begin(&t, depth);
	for (int i = 0; i < depth; i++) {
		t.x.b = &t.x.blocks[i];
		tb_tensor(&t, "c", WEFT_BOOL, 0, 1, 1, NULL);
		tb_tensor(&t, "x", WEFT_INT32, 1, 4, 1, NULL);
		tb_tensor(&t, "y", WEFT_INT32, 1, 4, 1, NULL);
		snprintf(next, sizeof next, "b%d", i < depth - 1 ? i + 1 : back);
		if (i < depth - 1 || back >= 0)
			tb_flow(&t, TOSA_COND_IF, next, next, "c c x", "y");
		else
			tb_add(&t, TOSA_IDENTITY, "x", "y");
		tb_ports(&t, "c x", "y");
	}
	refused(&t, why);
}

static void hostile(void **state)
{
	(void)state;
	cycle();
	large(1000000000, 1);
	large(31623, 31623);
	large(65536, 65536);
	many();
	nested(1000, -1, "nesting");
	nested(1000, 0, "nesting");
	nested(10, 0, "itself");
	nested(10, 5, "itself");
	print_message("at most %.2f s and %ld kB\n", slowest, largest);
}

/* Bytes of p changed, a few at a time, also whole words to extremes; q has room for them. */
static int damage(const uint8_t *p, uint8_t *q, size_t n, uint64_t *seed, int i)
{
	static const uint32_t words[] = { 0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 1000000000, 0x10000 };
	/* The tables stand in front of and among the constants: most changes near the beginning. */
	size_t range = i % 2 ? n : n < 4000 ? n : 4000;
	char says[1000];

	memcpy(q, p, n);
	for (int k = 0; k <= i % 3; k++) {
		size_t at = test_random(seed) % (range - 4);
		if (test_random(seed) % 2)
			q[at] = (uint8_t)test_random(seed);
		else
			memcpy(q + at / 4 * 4, &words[test_random(seed) % 7], 4);
	}
	write_file(q, i % 7 == 6 ? test_random(seed) % n : n);
	int status = run(i % 2 ? "info" : "run", says, sizeof says);
	if (status != 0 && status != 2)
		fail_msg("damage %d: exit status %d: %s", i, status, says);
	return status == 0;
}

/* PAD, SLICE and TILE with shapes that are inputs, NEGATE with zero points that are. */
static struct fbw dynamic_file(void)
{
	struct tosa_build t;
	int8_t zero = 0;

	tb_begin(&t, 1);
	tb_tensor(&t, "x", WEFT_INT8, 1, 5, 1, NULL);
	tb_tensor(&t, "zx", WEFT_INT8, 1, 1, 1, NULL);
	tb_tensor(&t, "zero", WEFT_INT8, 1, 1, 1, &zero);
	tb_tensor(&t, "n", WEFT_INT8, 1, 5, 1, NULL);
	tb_tensor(&t, "p", WEFT_INT8, 1, 9, 1, NULL);
	tb_tensor(&t, "s", WEFT_INT8, 1, 3, 1, NULL);
	tb_tensor(&t, "y", WEFT_INT8, 1, 6, 1, NULL);
	assert_true(x_shape(&t.x, "pads", NULL, 2) >= 0);
	assert_true(x_shape(&t.x, "start", NULL, 1) >= 0);
	assert_true(x_shape(&t.x, "size", NULL, 1) >= 0);
	assert_true(x_shape(&t.x, "times", NULL, 1) >= 0);
	tb_add(&t, TOSA_CONST, "", "zero");
	tb_add(&t, TOSA_NEGATE, "x zx zero", "n");
	tb_add(&t, TOSA_PAD, "n pads zero", "p");
	tb_add(&t, TOSA_SLICE, "p start size", "s");
	tb_add(&t, TOSA_TILE, "s times", "y");
	tb_ports(&t, "x zx pads start size times", "y");
	return tb_end(&t);
}

static void damaged(void **state)
{
	FILE *f = fopen("tests/models/digits_fp8.tosa", "rb");
	uint8_t *p = malloc(1 << 20), *q = malloc(1 << 20);
	uint64_t seed = test_seed(1);
	int n_runs = test_level() == 2 ? 2000 : 60, good = 0;
	struct fbw w = dynamic_file();
	char says[1000];

	(void)state;
	write_file(w.p, w.n);
	assert_int_equal(run("info", says, sizeof says), 0);
	assert_non_null(f);
	size_t n = fread(p, 1, 1 << 20, f);
	fclose(f);
	for (int i = 0; i < n_runs; i++) {
		good += damage(p, q, n, &seed, i);
		good += damage(w.p, q, w.n, &seed, i);
	}
	assert_true(good > 0 && good < 2 * n_runs);
	print_message("%d damaged files, %d still sound; at most %.2f s and %ld kB\n", 2 * n_runs, good, slowest, largest);
	free(w.p);
	free(p);
	free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(hostile), cmocka_unit_test(damaged) };
	const char *build = getenv("WEFT_BUILD");

	snprintf(command, sizeof command, "%s/weft", build ? build : "build");
	test_path(file, sizeof file, "hostile-%ld.tosa", (long)getpid());
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(file);
	return failed;
}

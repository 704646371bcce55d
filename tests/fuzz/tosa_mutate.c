/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Damaged TOSA files: whatever the bytes, the importer gives a graph or one
 * line, soon and within 100 MB, and what it gives can be run. Sound files
 * come from our exporter (the demo network, a loop) and, where there, from the
 * conformance vectors. WEFT_SEED and WEFT_N choose the sequence and its length.
 */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <weft/weft.h>

#include "tests/support/level.h"
#include "tests/support/tensors.h"
#include "userlib/export/tosa.h"
#include "userlib/import/tosa/tosa.h"
#include "userlib/run/golden_exec.h"

#define MAX_FILES 256
#define MAX_BYTES (64 << 10)
#define MAX_ELEMENTS 20000     /* of graphs that are also run */
#define HANG_SECONDS 60         /* an import that takes longer hangs, on any machine */

struct file { uint8_t *p; size_t n; };

static struct file files[MAX_FILES];
static int n_files;

static void add_file(const char *path)
{
	struct stat st;
	FILE *f = n_files < MAX_FILES && !stat(path, &st) && st.st_size <= MAX_BYTES ? fopen(path, "rb") : NULL;

	if (!f)
		return;
	struct file *x = &files[n_files];
	x->p = malloc((size_t)st.st_size + 1);
	x->n = x->p ? fread(x->p, 1, (size_t)st.st_size, f) : 0;
	fclose(f);
	n_files += x->n > 0;
}

static int not_hidden(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

/* The first test of every operator and the first that names an error. */
static void add_vectors(const char *root)
{
	struct dirent **ops;
	int n = scandir(root, &ops, not_hidden, alphasort);

	for (int i = 0; i < n; i++) {
		char dir[768], path[1280];
		struct dirent **tests;
		snprintf(dir, sizeof dir, "%.400s/%.300s", root, ops[i]->d_name);
		int m = scandir(dir, &tests, not_hidden, alphasort);
		for (int k = 0; k < m; k++) {
			snprintf(path, sizeof path, "%.700s/%.300s/test.tosa", dir, tests[k]->d_name);
			if (k == 0 || k == m / 2)
				add_file(path);
			free(tests[k]);
		}
		if (m >= 0)
			free(tests);
		free(ops[i]);
	}
	if (n >= 0)
		free(ops);
}

static void add_converted(const char *model)
{
	char msg[WEFT_MSG_LEN], note[WEFT_MSG_LEN];
	weft_net *net;

	if (weft_net_load_file(model, &net, msg))
		fail_msg("%s", msg);
	if (weft_net_convert(net, false, &files[n_files].p, &files[n_files].n, note, msg))
		fail_msg("%s", msg);
	n_files++;
	weft_net_free(net);
}

static int setup(void **state)
{
	char root[512];

	(void)state;
	add_converted("tests/models/digits_int8.tflite");
	snprintf(root, sizeof root, "%s/tosa_1_0", test_data());
	add_vectors(root);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (int i = 0; i < n_files; i++)
		free(files[i].p);
	return 0;
}

static void put32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, 4);
}

/* One or a few changes; *n may shrink. p has room for *n bytes. */
static void damage(uint8_t *p, size_t *n, uint64_t *r)
{
	static const uint32_t words[] = { 0, 1, 2, 3, 4, 7, 8, 63, 64, 0x7fffffff, 0x80000000, 0xffffffff, 1000000000, 65536, 75 };

	for (uint64_t k = 1 + test_random(r) % 4; k && *n > 16; k--) {
		size_t at = test_random(r) % (*n - 8);
		switch (test_random(r) % 8) {
		case 0: p[at] ^= (uint8_t)(1u << test_random(r) % 8); break;
		case 1: p[at] = (uint8_t)test_random(r); break;
		case 2:
		case 3: put32(p + at / 4 * 4, words[test_random(r) % (sizeof words / sizeof words[0])]); break;
		case 4: put32(p + at / 4 * 4, (uint32_t)(test_random(r) % 512)); break;
		case 5: p[at / 2 * 2] = (uint8_t)(test_random(r) % 64); break;
		case 6: {
			size_t from = test_random(r) % (*n - 8), len = 1 + test_random(r) % 8;
			memmove(p + at, p + from, len);
			break;
		}
		default:
			if (test_random(r) % 8 == 0)
				*n = at;
			break;
		}
	}
}

/* Run what was imported, if it is small, on zeros. */
static void run(const weft_graph *g)
{
	weft_tensor *in = calloc((size_t)g->n_inputs + 1, sizeof *in), *all = calloc((size_t)g->n_tensors + 1, sizeof *all);
	int64_t total = 0;
	char msg[WEFT_MSG] = "";

	for (int i = 0; i < g->n_tensors; i++)
		total += weft_tensor_elements(&g->tensors[i].t);
	if (total <= MAX_ELEMENTS && !g->n_subs) {
		for (int i = 0; i < g->n_inputs; i++) {
			in[i] = g->tensors[g->inputs[i]].t;
			in[i].data = calloc(1, weft_tensor_bytes(&in[i]) + 1);
		}
		int err = weft_golden_exec(g, in, all, true, msg);
		assert_true(err == 0 || err == -EINVAL || err == -ENOTSUP);
		weft_golden_release(g, all);
		for (int i = 0; i < g->n_inputs; i++)
			free(in[i].data);
	}
	free(in);
	free(all);
}

static uint64_t importing;      /* the seed of the file that is being imported */

/* Ends the program when an import hangs (SIGALRM). */
static void hangs(int number)
{
	char text[100];
	int n = snprintf(text, sizeof text, "seed %llu: the import does not end in %d s\n", (unsigned long long)importing, HANG_SECONDS);

	(void)number;
	(void)!write(STDOUT_FILENO, text, (size_t)n);
	_exit(1);
}

static void damaged_files(void **state)
{
	const long n = test_count(20000, 200000, 2000000);
	const uint64_t seed = test_seed(1);
	uint8_t *p = malloc(MAX_BYTES * 4);
	long imported = 0;
	struct rusage before, after;

	(void)state;
	signal(SIGALRM, hangs);
	getrusage(RUSAGE_SELF, &before);
	for (long i = 0; i < n; i++) {
		uint64_t r = seed + (uint64_t)i;
		const struct file *f = &files[test_random(&r) % (uint64_t)n_files];
		char msg[WEFT_MSG] = "";
		weft_graph *g = NULL;
		size_t len = f->n;
		if (len > MAX_BYTES * 4)
			continue;
		memcpy(p, f->p, len);
		damage(p, &len, &r);
		importing = seed + (uint64_t)i;
		alarm(HANG_SECONDS);
		int err = weft_import_tosa(p, len, "damaged", &g, msg);
		alarm(0);
		assert_true(err == 0 || err == -EINVAL || err == -ENOTSUP);
		assert_true((err == 0) == (g != NULL));
		assert_true(err == 0 || (msg[0] && !strchr(msg, '\n')));
		if (g) {
			imported++;
			run(g);
			weft_graph_free(g);
		}
	}
	getrusage(RUSAGE_SELF, &after);
	free(p);
	printf("%ld of %ld damaged files are still networks\n", imported, n);
	/* Kilobytes; sanitizers keep what is freed for a while. */
	if (!test_sanitized())
		assert_true(after.ru_maxrss - before.ru_maxrss < 100 << 10);
	assert_true(imported > n / 100 && imported < n);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(damaged_files) };

	return cmocka_run_group_tests(tests, setup, teardown);
}

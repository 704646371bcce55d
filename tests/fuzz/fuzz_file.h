/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of mutated files share. */
#ifndef WEFT_TESTS_FUZZ_FILE_H
#define WEFT_TESTS_FUZZ_FILE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <unistd.h>

#include <weft/weft.h>

#include "../support/level.h"
#include "../support/mutate.h"
#include "heap.h"
#include "userlib/run/internal.h"

/* Bytes of heap that reading a file may take: 64 MB and eight times the file. */
#define FUZZ_HEAP(file) (((size_t)64 << 20) + 8 * (file))
#define FUZZ_SECONDS 60

/* An error is a negative errno and one line, neither empty nor with a newline. */
static inline const char *fuzz_judge(int err, const char *msg)
{
	if (err > 0 || err < -4095)
		return "returns neither 0 nor a negative errno";
	if (!err)
		return NULL;
	if (!memchr(msg, '\0', WEFT_MSG_LEN))
		return "message is not terminated";
	if (!*msg)
		return "message is empty";
	for (const char *p = msg; *p; p++)
		if ((unsigned char)*p < ' ')
			return "message has a control character";
	return NULL;
}

/*
 * Tuning tries plans that an untuned program could have as well, and takes most
 * of the time: of so many files one is tuned, and always the same one.
 */
#define FUZZ_TUNED_OF 40

static inline bool fuzz_is_tuned(const struct bytes *b)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < b->n; i++)
		sum = sum * 31 + b->p[i];
	return sum / 7 % FUZZ_TUNED_OF == 0;
}

/* Load a network and compile it. *accepted: both went well; *err is the load's. */
static inline const char *fuzz_compile(const struct bytes *b, int *accepted, int *err)
{
	const struct weft_compile_options o = { .config = "w16", .quick = !fuzz_is_tuned(b) };
	char msg[WEFT_MSG_LEN] = "";
	uint8_t *out = NULL;
	size_t len = 0;
	weft_net *net = NULL;
	weft_program *p = NULL;
	int compiled = 0;

	*err = weft_net_load(b->p, b->n, "mutated", &net, msg);
	if (!*err)
		compiled = weft_compile(net->g, &o, &p, msg);
	if (p && !net->g->n_vars)                    /* which a .weft file cannot hold */
		compiled = weft_program_write(p, &out, &len, msg);
	free(out);
	weft_program_free(p);
	weft_net_free(net);
	*accepted = !*err && !compiled;
	return fuzz_judge(*err ? *err : compiled, msg);
}

static inline void fuzz_file(const char *test, const char *name, const struct bytes *b, long n, mutate_fn *fn)
{
	uint64_t first = test_seed(1);
	struct mutate_result r;

	/* The file itself must pass, or the mutations prove little. */
	int accepted = 0;
	const char *wrong = fn(b, &accepted);
	if (wrong || !accepted)
		fail_msg("%s: not accepted as it is: %s", name, wrong ? wrong : "refused");
	mutate_all(b, first, n, fn, FUZZ_HEAP(b->n), FUZZ_SECONDS, &r);
	printf("%s: %ld mutations, %ld accepted, %.2f s the slowest, ", name, r.done, r.accepted, r.slowest_s);
	if (r.peak_bytes)
		printf("at most %.1f MB of heap\n", (double)r.peak_bytes / 1e6);
	else
		printf("heap not measured under sanitizers\n");
	fflush(stdout);
	if (r.wrong[0])
		fail_msg("%s: %s; again: make check T=fuzz/%s SEED=<that> N=1", name, r.wrong, test);
	assert_int_equal(r.done, n);
}

static inline void fuzz_path(const char *test, const char *path, long n, mutate_fn *fn)
{
	struct bytes b = bytes_read(path);

	assert_non_null(b.p);
	fuzz_file(test, path, &b, n, fn);
	free(b.p);
}

/* The files of a list that are in the data folder; without any the test is skipped. */
static inline void fuzz_foreign(const char *test, const char *const *list, size_t n_list, long n, mutate_fn *fn)
{
	int found = 0;

	for (size_t i = 0; i < n_list; i++) {
		char path[512];

		snprintf(path, sizeof(path), "%s/%s", test_data(), list[i]);
		if (access(path, R_OK)) {
			printf("%s is absent\n", path);
			continue;
		}
		found++;
		fuzz_path(test, path, n, fn);
	}
	fflush(stdout);
	if (!found)
		skip();
}

#endif

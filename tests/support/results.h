/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What operators make of fixed calls, as a table of tests/expected has it: a line for each operator with how many calls it accepts, refuses
 * and does not support, and a checksum of its results.
 */
#ifndef WEFT_TESTS_RESULTS_H
#define WEFT_TESTS_RESULTS_H

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <weft/file.h>

#include "sim/golden/onnx/ref/ref.h"

/* What calls of an operator have together. */
struct results {
	int good, invalid, unsupported;
	uint32_t crc;
};

/* The number that stands for a float in the checksum, with 12 bits: sums and libm's last bit are not the same everywhere. */
static inline int64_t results_code(double v)
{
	int e;
	const double m = frexp(v, &e);

	if (v != v || fabs(v) == INFINITY)
		return v != v ? 1 : v < 0 ? 2 : 3;
	return e < -19 ? 0 : (int64_t)rint(m * 4096) * 4096 + (e & 0xfff);
}

/* Adds a call that ended with err, and if that is 0 its n results. */
static inline void results_add(struct results *s, int err, weft_tensor *const *y, int n)
{
	s->good += !err;
	s->invalid += err == -EINVAL;
	s->unsupported += err == -ENOTSUP;
	for (int k = 0; k < n && !err; k++) {
		s->crc = (uint32_t)crc32(s->crc, (const Bytef *)y[k]->dim, (uInt)(sizeof y[k]->dim[0] * (size_t)y[k]->rank));
		for (int64_t i = 0, all = weft_tensor_elements(y[k]); i < all; i++) {
			const int64_t code = ref_floats(y[k]->dtype) ? results_code(ref_f(y[k], i)) : ref_i(y[k], i);
			s->crc = (uint32_t)crc32(s->crc, (const Bytef *)&code, sizeof code);
		}
	}
}

/* The table at `path`, and where the lines of now are written to: NULL, or the file that the environment's variable `name` has. */
struct results_table { const char *path; char *expected; FILE *written; };

/* Reads the table. Returns whether that went well. */
static inline bool results_open(struct results_table *t, const char *path, const char *name)
{
	const char *to = getenv(name);
	uint8_t *p;
	size_t n;

	*t = (struct results_table){ .path = path };
	if (weft_file_read(path, 1 << 20, &p, &n))
		return false;
	t->expected = malloc(n + 1);
	if (t->expected) {
		memcpy(t->expected, p, n);
		t->expected[n] = '\0';
	}
	free(p);
	if (t->expected && to && *to) {
		t->written = fopen(to, "w");
		if (t->written)
			fprintf(t->written, "%.*s\n", (int)strcspn(t->expected, "\n"), t->expected);
	}
	return t->expected && (t->written || !to || !*to);
}

/* Compares the line of operator `name`, of several of that name number `same`, with the table's. Returns 1, with the line printed, if it is another. */
static inline int results_judge(const struct results_table *t, const char *name, int same, const struct results *s)
{
	char line[160];

	snprintf(line, sizeof line, "\n%s\t%d\t%d\t%d\t%d\t%08" PRIx32 "\n", name, same, s->good, s->invalid, s->unsupported, s->crc);
	if (t->written)
		fputs(line + 1, t->written);
	if (strstr(t->expected, line))
		return 0;
	print_error("%s does not have: %s", t->path, line + 1);
	return 1;
}

/* Returns whether all could be written. */
static inline bool results_close(struct results_table *t)
{
	free(t->expected);
	return !t->written || !fclose(t->written);
}

#endif

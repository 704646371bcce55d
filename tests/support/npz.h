/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NumPy's .npy and .npz files, as far as test data needs them: row-major,
 * little-endian numbers; members stored or deflated.
 */
#ifndef WEFT_TESTS_NPZ_H
#define WEFT_TESTS_NPZ_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

struct npz_array {
	char name[128];            /* member's name without ".npy" */
	char kind;                 /* 'i', 'u', 'f' or 'b' */
	int item_bytes;
	int rank;
	int64_t dim[8];
	int64_t n;                 /* elements */
	void *data;                /* owned */
};

struct npz {
	int n;
	struct npz_array *a;       /* owned */
};

/* 0, or -1 when the file is missing or not of this kind. */
int npz_load(const char *path, struct npz *z);
int npy_load(const char *path, struct npz_array *a);
void npz_free(struct npz *z);

/* NULL if there is no such member. */
const struct npz_array *npz_find(const struct npz *z, const char *name);

/* Element i of an integer array. */
int64_t npz_int(const struct npz_array *a, int64_t i);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions made for the array: one column tile, one tap, every PE's operands known,
 * so that what a fault would do can be computed and compared with what came back.
 */
#ifndef WEFT_USERLIB_DIAG_ARRAY_H
#define WEFT_USERLIB_DIAG_ARRAY_H

#include "userlib/diag/diag.h"

/* k elements a sum, groups of N pixels. a and w as they are in memory. */
struct array_conv {
	int k, groups, x_zp, w_zp;
	int16_t *a;                /* [groups][n][k] */
	int8_t *w;                 /* [n][k] */
	size_t out;                /* of the results in the arena */
};

#define ARRAY_CONVS 80

struct array_set {
	int n, mode;               /* 0, 1; sums are written raw */
	int acc_bits, a_bits;      /* of a sum; of an activation's register */
	struct array_conv conv[ARRAY_CONVS];
	int n_convs;
	bool failed;               /* out of memory */
};

/* A further convolution, all zeros. NULL: out of memory. */
struct array_conv *array_add(struct array_set *s, int k, int groups, int x_zp, int w_zp);
void array_free(struct array_set *s);

/* The same in all places of a group, of the weights. */
void array_fill_a(const struct array_set *s, struct array_conv *c, int group, int value);
void array_fill_w(const struct array_set *s, struct array_conv *c, int value);
void array_random(const struct array_set *s, struct array_conv *c, uint64_t *seed);

/* A sum as the device wrote it. */
int64_t array_sum(const struct array_set *s, const struct array_conv *c, const uint8_t *results, int group, int row, int col);

/* Say what is wrong with the results, mode in words. Nothing if they are right. */
void array_judge(struct weft_diag *d, const struct array_set *s, const struct diag_out *out, const char *mode);

#endif

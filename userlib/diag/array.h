/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions made for the array: one column tile, one tap, every PE's operands known,
 * so that what a fault would do can be computed and compared with what came back.
 */
#ifndef WEFT_USERLIB_DIAG_ARRAY_H
#define WEFT_USERLIB_DIAG_ARRAY_H

#include "userlib/diag/diag.h"

/*
 * One convolution of N channels over `groups` groups of N pixels each, where N is the size of the
 * array. Pixel r of a group and channel c give one sum, made by the PE in row r and column c, of k
 * products (a - x_zp) * (w - w_zp).
 */
struct array_conv {
	int k, groups, x_zp, w_zp; /* k is a multiple of N; x_zp and w_zp are the zero points */
	int16_t *a;                /* [groups][n][k] activations before the zero point is taken off */
	int8_t *w;                 /* [n][k] weights before the zero point is taken off */
	size_t out;                /* offset of the results in the arena, in bytes */
};

#define ARRAY_CONVS 80         /* the most convolutions of a set */

/* Convolutions that run in one stream. */
struct array_set {
	int n, mode;               /* N; WEFT_POST_MODE_INT8 or _INT16 */
	int acc_bits, a_bits;      /* bits of a sum, and of the register that holds an activation */
	struct array_conv conv[ARRAY_CONVS];
	int n_convs;
	bool failed;               /* memory ran out for some convolution */
};

/*
 * Appends a convolution to the set: k products a sum, `groups` groups of N pixels, zero points x_zp and
 * w_zp; activations and weights are 0 until the caller changes them. Returns it, valid as long as the
 * set; or NULL if memory ran out for this or an earlier one (s->failed is set; it counts in s->n_convs
 * all the same). Aborts the process if the set has ARRAY_CONVS convolutions.
 */
struct array_conv *array_add(struct array_set *s, int k, int groups, int x_zp, int w_zp);
/* Frees the operands of all convolutions and empties the set. */
void array_free(struct array_set *s);

/*
 * Returns the last row to which PEs pass on weights from row `row`: the array's last one, or with pairs, where weights
 * enter at rows 0 and N/2, the last one of that half.
 */
static inline int array_last_row(const struct weft_config *cfg, int row)
{
	int n = (int)cfg->n;

	return cfg->has_pairs && row < n / 2 ? n / 2 - 1 : n - 1;
}

/* Sets all activations of one group of c to value, truncated to 16 bits. Does nothing if c is NULL. */
void array_fill_a(const struct array_set *s, struct array_conv *c, int group, int value);
/* Sets all weights of c to value, truncated to 8 bits. Does nothing if c is NULL. */
void array_fill_w(const struct array_set *s, struct array_conv *c, int value);
/*
 * Fills all activations of c with random numbers of the mode's type (int8 or int16) and all weights
 * with random int8. *seed is the generator's state and advances. Does nothing if c is NULL.
 */
void array_random(const struct array_set *s, struct array_conv *c, uint64_t *seed);

/*
 * Returns the sum of PE (row, col) for pixel group `group` of c, read from `results`, the contents of
 * the arena as a device or the model wrote them: 4 bytes in mode int8, 8 in mode int16, sign-extended.
 */
int64_t array_sum(const struct array_set *s, const struct array_conv *c, const uint8_t *results, int group, int row, int col);

/*
 * Compares the device's sums (out->got) with the model's (out->want) and reports one finding if some
 * differ: a single PE (DIAG-ARRAY-1 to -4), a row or column that is wrong up to the array's end
 * (DIAG-ARRAY-2, -3, -5, -6), other PEs of one row or column (DIAG-ARRAY-7), or how many PEs in which
 * rows and columns (DIAG-ARRAY-8); with register and bit if exactly one fault explains all wrong PEs'
 * sums. mode is the arithmetic's name in messages. Returns 0 whatever it found, or -ENOMEM.
 */
WEFT_MUST_USE int array_judge(struct weft_diag *d, const struct array_set *s, const struct diag_out *out, const char *mode);

#endif

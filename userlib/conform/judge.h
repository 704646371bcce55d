/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a result within what TOSA 1.0 allows?
 *
 * The rules are those of the specification's precision requirements, in the
 * form in which conformance vectors state them (compare.mode of a test.json):
 * an FP64 reference, for some an FP64 bound, and a few numbers.
 */
#ifndef WEFT_RUN_JUDGE_H
#define WEFT_RUN_JUDGE_H

#include <stdbool.h>

#include <weft/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

enum weft_judge_mode {
	WEFT_JUDGE_EXACT, WEFT_JUDGE_ULP, WEFT_JUDGE_RELATIVE, WEFT_JUDGE_ABS_ERROR, WEFT_JUDGE_REDUCE_PRODUCT,
	WEFT_JUDGE_DOT_PRODUCT, WEFT_JUDGE_FP_SPECIAL, WEFT_JUDGE_RESCALE_INEXACT,
	WEFT_N_JUDGE_MODES
};

/* Numbers that a mode uses; 0: not stated. */
struct weft_judge {
	enum weft_judge_mode mode;
	double ulp, ulp_lower;                 /* ULP */
	double max, scale, ulp_bound;          /* RELATIVE */
	double n;                              /* REDUCE_PRODUCT */
	double base_bound, lower_bound, normal_divisor, max_compare;  /* ABS_ERROR */
	bool bound_as_magnitude;
	double s, ksb, abs_bound, variance_error_bound;               /* DOT_PRODUCT */
	bool unsigned_data;                    /* RESCALE_INEXACT */
};

/** Mode by its name in test.json, or -1. */
int weft_judge_mode_of(const char *name);

/**
 * Judge one output.
 *
 * @param y         As computed.
 * @param expected  A result of the same shape and element size; integers must equal it.
 * @param ref       FP64 reference (RESCALE_INEXACT: least value, in y's type), or NULL: expected.
 * @param bound     FP64 bound (RESCALE_INEXACT: greatest value), or NULL.
 * @param msg       WEFT_JUDGE_MSG bytes; the first element that fails and why.
 * @return 0: allowed; 1: not
 */
#define WEFT_JUDGE_MSG 160
int weft_judge(const struct weft_judge *j, const weft_tensor *y, const weft_tensor *expected, const weft_tensor *ref,
               const weft_tensor *bound, char *msg);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says whether a result is within what TOSA 1.0 allows.
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

/*
 * How one output is to be judged: the mode and the numbers that it uses, by their names in
 * test.json. The comment of each line is the mode. A number of 0 means that test.json does not
 * state it.
 */
struct weft_judge {
	enum weft_judge_mode mode;
	double ulp, ulp_lower;                 /* ULP: units in the last place that are allowed; ulp_lower towards zero */
	double max, scale, ulp_bound;          /* RELATIVE: the larger of max * scale and ulp_bound units is allowed */
	double n;                              /* REDUCE_PRODUCT: the number of factors */
	double base_bound, lower_bound, normal_divisor, max_compare;  /* ABS_ERROR; see abs_error() */
	bool bound_as_magnitude;               /* ABS_ERROR: the bound tensor holds magnitudes */
	double s, ksb, abs_bound, variance_error_bound;               /* DOT_PRODUCT: s is the number of the data set */
	bool unsigned_data;                    /* RESCALE_INEXACT: integers of 1 and 2 bytes are unsigned */
};

/**
 * Returns the mode (enum weft_judge_mode) whose name in test.json is `name`, in capitals; -1 if there is
 * none.
 */
int weft_judge_mode_of(const char *name);

/**
 * Judge one output.
 *
 * @param y         The output as it was computed.
 * @param expected  A result of the same shape and element size; integers must equal it.
 * @param ref       The FP64 reference (in mode RESCALE_INEXACT the least value allowed, in y's
 *                  type), or NULL: expected is the reference.
 * @param bound     The FP64 bound (in mode RESCALE_INEXACT the greatest value allowed), or NULL.
 * @param msg       Room for WEFT_JUDGE_MSG bytes: one line that says why the output is refused.
 * @return 0 if the output is allowed; 1 if it is not, or if a shape or element size differs
 */
#define WEFT_JUDGE_MSG 160
int weft_judge(const struct weft_judge *j, const weft_tensor *y, const weft_tensor *expected, const weft_tensor *ref,
               const weft_tensor *bound, char *msg);

#ifdef __cplusplus
}
#endif
#endif

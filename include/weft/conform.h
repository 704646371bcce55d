/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TOSA conformance vectors: find, run, judge.
 *
 * A test is a folder with test.json, test.tosa and arrays (.npy). Integers must
 * match exactly, floats obey the rule that the test states, and a graph that
 * breaks a rule must be refused when it is loaded.
 */
#ifndef WEFT_CONFORM_H
#define WEFT_CONFORM_H

#include <weft/api.h>
#include <weft/weft.h>

#ifdef __cplusplus
extern "C" {
#endif

enum weft_verdict {
	WEFT_PASSED,               /* result allowed, or a broken graph refused */
	WEFT_FAILED,
	WEFT_UNSUPPORTED,          /* refused with -ENOTSUP although it is a good graph */
};

struct weft_conform_case {
	const char *path;          /* folder relative to the root: "add/add_1_i32_a" */
	const char *op, *types;    /* "CONV2D", "i8xi8" */
	bool error_expected;
	enum weft_verdict verdict;
	bool npu;                  /* some of it ran on the NPU */
	const char *host;          /* an operator that ran on the host, or NULL; constants apart */
	const char *reason;        /* why there, as the compiler says; NULL with host */
	const char *why;           /* of a verdict other than passed; what refused a broken graph */
};

struct weft_conform_options {
	struct weft_session_options session;   /* device and so on */
	const char *out_dir;       /* write OUT/<op>/<test>/out-<k>.npy here, or NULL */
};

/**
 * Run every test below a folder, in order of names.
 *
 * @param seen  Called after each test; strings are valid during the call only.
 *              Anything but 0 ends the walk and is returned.
 * @param msg   WEFT_MSG_LEN bytes; one line on failure.
 * @return 0 (also if tests failed: count in seen), -ENOENT (no test there), or
 *         what opening a device or writing a file says
 */
WEFT_API int weft_conform(const char *dir, const struct weft_conform_options *o,
                 int (*seen)(void *user, const struct weft_conform_case *c), void *user, char msg WEFT_ROOM(WEFT_MSG_LEN));

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TOSA conformance vectors: finds, runs and judges them.
 *
 * A test is a folder with test.json, test.tosa and arrays (.npy). Integers must match exactly,
 * floats must obey the rule that the test states, and a graph that breaks a rule must be refused
 * when it is loaded. One call at a time in a process, from any thread.
 */
#ifndef WEFT_CONFORM_H
#define WEFT_CONFORM_H

#include <weft/api.h>
#include <weft/weft.h>

#ifdef __cplusplus
extern "C" {
#endif

enum weft_verdict {
	WEFT_PASSED,               /* TOSA allows the result; or a broken graph was refused, as it should be */
	WEFT_FAILED,
	WEFT_UNSUPPORTED,          /* the graph is good, but was refused with -ENOTSUP */
};

/* What came of one test. */
struct weft_conform_case {
	const char *path;          /* its folder relative to the root: "add/add_1_i32_a" */
	const char *op, *types;    /* operator and types: "CONV2D", "i8xi8" */
	bool error_expected;       /* the graph is broken and must be refused */
	enum weft_verdict verdict;
	bool npu;                  /* some operator ran on the NPU */
	const char *host;          /* an operator, constants apart, that ran on the host; NULL: there is none */
	const char *reason;        /* why it ran there, as the compiler says; NULL if host is */
	const char *why;           /* why the test did not pass, or what refused a broken graph; may be "" */
};

struct weft_conform_options {
	struct weft_session_options session;   /* with what tests are run: device and so on */
	const char *out_dir;       /* results are written to OUT_DIR/<op>/<test>/out-<k>.npy; NULL: they are not */
};

/**
 * Run every test below a folder, in alphabetical order.
 *
 * @param seen  Called with `user` after each test; strings are valid during the call only. Anything but 0
 *              ends the walk and is returned.
 * @param msg   WEFT_MSG_LEN bytes; one line on failure, but not if `seen` ended the walk or a path below
 *              is too long.
 * @return 0, also if tests failed (seen can count them); -ENOENT: there is no test below the folder;
 *         -ENAMETOOLONG; or the negative errno of a folder that cannot be read
 */
WEFT_API int weft_conform(const char *dir, const struct weft_conform_options *o,
                 int (*seen)(void *user, const struct weft_conform_case *c), void *user, char msg WEFT_ROOM(WEFT_MSG_LEN));

#ifdef __cplusplus
}
#endif
#endif

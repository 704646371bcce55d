/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of a device, block by block from the outside in.
 * What is wrong is said of the first block that fails, as closely as the evidence allows.
 *
 *	weft_diag_open(&options, &d, msg);
 *	for (i = 0; i < weft_diag_count(); i++)
 *		weft_diag_run(d, i, &result);
 *	weft_diag_close(d);
 *
 * Expected values are those of the functional model, which runs the same streams, or
 * follow from what a test wrote. One thread.
 */
#ifndef WEFT_DIAG_H
#define WEFT_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/api.h>
#include <weft/dev.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_diag weft_diag;

/** Tests, in the order in which they make sense. */
WEFT_API size_t weft_diag_count(void);
WEFT_API const char *weft_diag_name(size_t test);    /* "scratchpad" */
WEFT_API const char *weft_diag_brief(size_t test);
/** @return its number, or -1 */
WEFT_API int weft_diag_find(const char *name);

/* What can be said; each has a section in docs/bringup.md. */
struct weft_diag_message {
	const char *id;            /* "DIAG-SP-1" */
	const char *block;         /* "scratchpad": what is at fault */
	const char *brief;
};
WEFT_API const struct weft_diag_message *weft_diag_messages(size_t *n);

#define WEFT_DIAG_TEXT 240

/* One thing that is wrong. What the evidence does not single out is -1. */
struct weft_diag_finding {
	const char *id, *block;
	char text[WEFT_DIAG_TEXT];
	int row, col;              /* PE; col also: a lane of the post unit */
	int bit;                   /* of what the text names */
	int bank;                  /* of the scratchpad */
	int64_t addr;              /* scratchpad or memory byte, register */
};

enum weft_diag_state {
	WEFT_DIAG_PASSED, WEFT_DIAG_FAILED,
	WEFT_DIAG_ABSENT,          /* the device has nothing of the kind */
	WEFT_DIAG_BLOCKED,         /* what it builds on has failed before */
};

#define WEFT_DIAG_FINDINGS 8

struct weft_diag_result {
	enum weft_diag_state state;
	char note[WEFT_DIAG_TEXT]; /* what was measured, or why it did not run; "" */
	uint64_t cycles, checks;   /* of the NPU; comparisons made */
	double seconds;
	size_t n_findings;         /* all; the first WEFT_DIAG_FINDINGS are kept */
	struct weft_diag_finding findings[WEFT_DIAG_FINDINGS];
};

/**
 * Take a device for tests. Options as for weft_dev_open(); cosim and wave mean nothing.
 *
 * @param[out] d  Set only on success.
 * @param msg     WEFT_DEV_MSG bytes; one line on failure.
 * @return as weft_dev_open()
 */
WEFT_API int weft_diag_open(const struct weft_dev_options *o, weft_diag **d, char msg WEFT_ROOM(WEFT_DEV_MSG));
WEFT_API void weft_diag_close(weft_diag *d);

/** Run one test. @return 0; -ENOENT: no such test; or the device does not answer any more */
WEFT_API int weft_diag_run(weft_diag *d, size_t test, struct weft_diag_result *r);

/** Forget what has failed, so that nothing is blocked by it. */
WEFT_API void weft_diag_forget(weft_diag *d);

/** For tests: a fault in the device, see weft_dev_plant(). @return 0, -ENOTSUP, -EINVAL */
WEFT_API int weft_diag_plant(weft_diag *d, const struct weft_plant *p);

/** Close the device, open it anew, without a fault, forget. @return as weft_dev_open() */
WEFT_API int weft_diag_renew(weft_diag *d);

/** The device that is being tested, NULL where a card answers only to messages now. */
WEFT_API weft_dev *weft_diag_device(weft_diag *d);

#ifdef __cplusplus
}
#endif
#endif

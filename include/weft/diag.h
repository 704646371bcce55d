/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of a device, block by block from the outside in. The first block that fails is reported,
 * with the place of the fault as closely as the evidence allows.
 *
 *	weft_diag_open(&options, &d, msg);
 *	for (i = 0; i < weft_diag_count(); i++)
 *		weft_diag_run(d, i, &result);
 *	weft_diag_close(d);
 *
 * Expected values are those of the functional model, which runs the same streams, or
 * follow from what a test wrote. A weft_diag belongs to one thread at a time.
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

/** Returns the number of tests. They have the numbers 0..count-1 and should run in this order. */
WEFT_API size_t weft_diag_count(void);
/** Returns a test's name ("scratchpad"), or one line about it; NULL if there is no such test. */
WEFT_API const char *weft_diag_name(size_t test);
WEFT_API const char *weft_diag_brief(size_t test);
/** Returns the number of the test of that name; -1 if there is none. */
WEFT_API int weft_diag_find(const char *name);

/* A kind of finding; each has a section in docs/bringup.md. */
struct weft_diag_message {
	const char *id;            /* "DIAG-SP-1" */
	const char *block;         /* the block at fault: "scratchpad" */
	const char *brief;         /* one line about it */
};
/** Returns all kinds of findings, *n of them; constant. */
WEFT_API const struct weft_diag_message *weft_diag_messages(size_t *n);

#define WEFT_DIAG_TEXT 240     /* bytes of a finding's text, and of a note */

/* One thing that is wrong. Numbers that the evidence does not single out are -1. */
struct weft_diag_finding {
	const char *id, *block;    /* as in struct weft_diag_message */
	char text[WEFT_DIAG_TEXT]; /* one line for the user */
	int row, col;              /* row and column of a PE; col is also a lane of the post unit */
	int bit;                   /* a bit of what the text names */
	int bank;                  /* a bank of the scratchpad */
	int64_t addr;              /* a byte of the scratchpad or of memory, or a register's address */
};

enum weft_diag_state {
	WEFT_DIAG_PASSED, WEFT_DIAG_FAILED,
	WEFT_DIAG_ABSENT,          /* the device does not have what the test is for */
	WEFT_DIAG_BLOCKED,         /* a test that it builds on has failed before, so it was not run */
};

#define WEFT_DIAG_FINDINGS 8   /* the most findings that a result holds */

struct weft_diag_result {
	enum weft_diag_state state;
	char note[WEFT_DIAG_TEXT]; /* what was measured, or why the test did not run; or "" */
	uint64_t cycles, checks;   /* cycles of the NPU (of the simulation, if it has no others); comparisons made */
	double seconds;            /* time that the test took */
	size_t n_findings;         /* how many findings there were; the first WEFT_DIAG_FINDINGS are kept */
	struct weft_diag_finding findings[WEFT_DIAG_FINDINGS];
};

/**
 * Open a device for tests.
 *
 * @param o       Options as for weft_dev_open(); cosim and wave are ignored.
 * @param[out] d  Set only on success; weft_diag_close() frees it.
 * @param msg     WEFT_DEV_MSG bytes; one line on failure (none for -ENOMEM).
 * @return as weft_dev_open()
 */
WEFT_API int weft_diag_open(const struct weft_dev_options *o, weft_diag **d, char msg WEFT_ROOM(WEFT_DEV_MSG));
/** Close the device and free d. NULL is fine. */
WEFT_API void weft_diag_close(weft_diag *d);

/**
 * Run one test. A test that builds on one that has failed is not run but blocked.
 * @param[out] r  What the test found.
 * @return 0 whatever it found; -ENOENT: there is no such test; another negative errno: the device does
 *         not answer any more, results cannot be read from it, or memory ran out
 */
WEFT_API int weft_diag_run(weft_diag *d, size_t test, struct weft_diag_result *r);

/** Forget which tests have failed, so that no test is blocked by them. */
WEFT_API void weft_diag_forget(weft_diag *d);

/**
 * Plant a fault in the device, for tests of these tests; see weft_dev_plant(). A device that was closed
 * is opened. The test networks plants the same fault in its own device; after a failure it plants none.
 * @return 0; -ENOTSUP: no fault can be planted in this device; -EINVAL: it has no such place; or as
 *         weft_dev_open()
 */
WEFT_API int weft_diag_plant(weft_diag *d, const struct weft_plant *p);

/**
 * Close the device, open it anew without a planted fault, and forget which tests have failed. Results
 * of the model are kept.
 * @return as weft_dev_open(); after a failure the device is closed
 */
WEFT_API int weft_diag_renew(weft_diag *d);

/** Returns the device that is being tested; NULL while the card's firmware is spoken to instead. */
WEFT_API weft_dev *weft_diag_device(weft_diag *d);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures: a job that went wrong, in one file (.wcap). It holds the program with its debug map,
 * the step that failed, device memory before and after that step, what the device said, and the
 * versions: enough to run the job again, bit for bit (weft/replay.h). The functions may be called from any thread; a struct weft_capture belongs to one at a time.
 */
#ifndef WEFT_CAPTURE_H
#define WEFT_CAPTURE_H

#include <weft/api.h>
#include <weft/weft.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_CAPTURE_VERSION 1 /* of the file's format */

struct weft_capture {
	/* What ran, and where: */
	char device[64];           /* the device: "rtl", "model", "usb" */
	char config[16];           /* the configuration: "w16" */
	uint32_t memory;           /* enum weft_memory: the memory profile of a simulated device */
	char versions[128];        /* versions of the hardware, for people */
	char model[128];           /* the network's name */
	struct weft_plant plant;   /* a fault that was planted in the device, for tests */
	int32_t step;              /* number of the step in the program */
	/* How the step ended: */
	int32_t status;            /* the run's negative errno */
	char message[WEFT_MSG_LEN];    /* and its message */
	uint32_t fault[5];         /* the fault's code, unit, command, tag and info; all 0: there was none */
	uint64_t cycles;           /* cycles of the job; 0 if they are not known */
	/* The first wrong element that the run itself saw, if mismatch is true: */
	bool mismatch;
	int32_t op;                /* index of its operator in the source file, or -1 */
	uint64_t index;            /* index of the element in its tensor, row-major */
	int64_t cmd, expected, got;    /* the command in the step's stream that made it (-1: not known), and the values */
	char tensor[128];          /* the tensor's name, perhaps cut off */
	/* Memory, all of it owned: */
	uint8_t *program;          /* a .weft container of n_program bytes */
	uint64_t n_program;
	uint8_t *before, *after;   /* the arena's n_arena bytes as the step began, and as the device left them */
	uint64_t n_arena;
	uint8_t *consts;           /* the n_consts bytes of constants as the device holds them */
	uint64_t n_consts;
};

/**
 * Free program, memory and constants that c owns, and set these pointers to NULL; c itself is the
 * caller's. Its other fields stay.
 */
WEFT_API void weft_capture_release(struct weft_capture *c);

/**
 * Write a capture to a file, which replaces an older one only when it is complete. *c is not changed.
 * @param msg  WEFT_MSG_LEN bytes; one line with the path on failure.
 * @return 0, -ENOMEM, or another negative errno of the file
 */
WEFT_API int weft_capture_write(const char *path, const struct weft_capture *c, char msg WEFT_ROOM(WEFT_MSG_LEN));

/**
 * Read a capture from a file, which may come from anywhere: nothing in it is trusted. Whether its
 * program can be run is for weft_replay() to check.
 * @param[out] c  Owns its memory on success, and is to be released; owns nothing on failure.
 * @param msg     WEFT_MSG_LEN bytes; one line with the path on failure.
 * @return 0; -EINVAL (not a capture, damaged, or of another version); -ENOMEM; or another negative
 *         errno of the file, as for one that is too large
 */
WEFT_API int weft_capture_read(const char *path, struct weft_capture *c, char msg WEFT_ROOM(WEFT_MSG_LEN));

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job that went wrong, in one file (.wcap): the program with its debug map,
 * the step that failed, device memory before and after it, what the device
 * said, and the versions. Enough to run the job again, bit for bit.
 */
#ifndef WEFT_CAPTURE_H
#define WEFT_CAPTURE_H

#include <weft/api.h>
#include <weft/weft.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_CAPTURE_VERSION 1

struct weft_capture {
	/* what ran, where */
	char device[64];           /* "rtl", "model", "usb:0001" */
	char config[16];
	uint32_t memory;           /* enum weft_memory of a simulated device */
	char versions[128];        /* of library and hardware, for people */
	char model[128];           /* the network's name */
	struct weft_plant plant;   /* a fault that was planted, for tests */
	int32_t step;              /* of the program */
	/* how it ended */
	int32_t status;            /* negative errno of the run */
	char message[WEFT_MSG_LEN];
	uint32_t fault[5];         /* code, unit, command, tag, info; zero: none */
	uint64_t cycles;
	/* the first wrong element that the run itself saw, if it looked */
	bool mismatch;
	int32_t op;
	uint64_t index;
	int64_t cmd, expected, got;
	char tensor[128];
	/* memory; owned */
	uint8_t *program;          /* a .weft container */
	uint64_t n_program;
	uint8_t *before, *after;   /* the arena, as the step began and as the device left it */
	uint64_t n_arena;
	uint8_t *consts;           /* the constants as the device holds them */
	uint64_t n_consts;
};

/** Frees what c owns, not c. */
WEFT_API void weft_capture_release(struct weft_capture *c);

/** @return 0, -EIO, -ENOMEM; msg: WEFT_MSG_LEN bytes */
WEFT_API int weft_capture_write(const char *path, const struct weft_capture *c, char msg WEFT_ROOM(WEFT_MSG_LEN));

/**
 * Read a file from anywhere; trusts nothing.
 * @param[out] c  Owns its memory on success.
 * @return 0, -EINVAL (not a capture, damaged, another version), -EIO, -ENOMEM
 */
WEFT_API int weft_capture_read(const char *path, struct weft_capture *c, char msg WEFT_ROOM(WEFT_MSG_LEN));

#ifdef __cplusplus
}
#endif
#endif

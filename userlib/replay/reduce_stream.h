/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A captured stream made small: the fewest commands that still differ, with the
 * scratchpad bytes that they read loaded before them and what they make stored
 * behind. The result is a capture of its own, which weft replay runs.
 */
#ifndef WEFT_RUN_REDUCE_STREAM_H
#define WEFT_RUN_REDUCE_STREAM_H

#include "capture.h"

#ifdef __cplusplus
extern "C" {
#endif

struct weft_stream_options {
	enum weft_device device;   /* RTL, USB, MODEL */
	const char *usb, *rtl_dir;
};

struct weft_stream_case {
	struct weft_capture capture;       /* owned */
	uint32_t before;           /* commands of the captured stream */
	uint32_t kept, loads, stores;      /* of the case: commands of the stream, and those added */
	int runs;                  /* streams tried on the device */
	char text[1024];           /* the last kept command */
};

/**
 * A fault that the capture says was planted is planted again.
 *
 * @param[out] r  Set on success; weft_capture_release(&r->capture) frees it.
 * @return 0; -ENOENT: nothing differs, or only the constants in the device's memory did, or the stream does not
 *         differ on this device; -EINVAL: the capture; what opening the device says. msg: WEFT_MSG_LEN bytes
 */
int weft_reduce_stream(const struct weft_capture *c, const struct weft_stream_options *o, struct weft_stream_case *r,
                       char *msg);

#ifdef __cplusplus
}
#endif
#endif

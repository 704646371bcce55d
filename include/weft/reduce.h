/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A failing network made small: the fewest operators that still fail on the
 * device, fed with what golden computes in front of them.
 *
 * A captured stream made small: the fewest commands that still differ, with the
 * scratchpad bytes that they read loaded before them and what they make stored
 * behind. The result is a capture of its own, which weft_replay() runs.
 *
 * All functions may be called from any thread; they block until the search is over.
 */
#ifndef WEFT_REDUCE_H
#define WEFT_REDUCE_H

#include <weft/api.h>
#include <weft/capture.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_reduction {
	weft_net *net;             /* owned */
	weft_tensor *inputs;       /* owned, with data; weft_net_n_inputs(net) of them */
	int ops_before, ops;       /* operators of the graph, and of the reduced one */
	int runs;                  /* networks tried */
	int status;                /* how it fails: -EBADMSG, -EIO, -ETIMEDOUT */
	char why[WEFT_MSG_LEN];    /* of the reduced one */
};

/**
 * @param inputs  Of the network, as for weft_session_run().
 * @param o       Device, configuration, planted fault; check is always on.
 * @param[out] r  Set on success; weft_reduction_release() frees what it owns.
 * @return 0; -ENOENT: the network does not fail; -ENOTSUP: it has control flow
 *         or variables; what opening the device says. msg: WEFT_MSG_LEN bytes
 */
WEFT_API int weft_reduce(const weft_net *net, const weft_tensor *inputs, const struct weft_session_options *o,
                struct weft_reduction *r, char msg WEFT_ROOM(WEFT_MSG_LEN));

WEFT_API void weft_reduction_release(struct weft_reduction *r);

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
WEFT_API int weft_reduce_stream(const struct weft_capture *c, const struct weft_stream_options *o, struct weft_stream_case *r,
                       char msg WEFT_ROOM(WEFT_MSG_LEN));

#ifdef __cplusplus
}
#endif
#endif

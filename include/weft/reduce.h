/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reduction of failures.
 *
 * weft_reduce() makes a failing network small: it looks for the fewest operators that still fail on
 * the device, with the values that golden computes for their inputs.
 *
 * weft_reduce_stream() makes a captured stream small: it looks for the fewest commands that still
 * go wrong, puts loads of the scratchpad bytes that they read before them and stores of what they
 * make behind. The result is a capture of its own, which weft_replay() runs.
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

/* A network that was made small. */
struct weft_reduction {
	weft_net *net;             /* the small network; owned */
	weft_tensor *inputs;       /* its weft_net_n_inputs(net) inputs with data; owned */
	int ops_before, ops;       /* numbers of operators of the whole graph, and of the small one */
	int runs;                  /* how many networks were run */
	int status;                /* how both fail: -EBADMSG, -EIO or -ETIMEDOUT */
	char why[WEFT_MSG_LEN];    /* the message of the small network's failure */
};

/**
 * Look for the fewest operators of a network that fail on a device as the whole network does.
 *
 * @param inputs  The network's inputs, as for weft_session_run().
 * @param o       Device, configuration, planted fault; check is always on.
 * @param[out] r  Set on success; weft_reduction_release() frees what it owns.
 * @param msg     WEFT_MSG_LEN bytes; one line on failure.
 * @return 0; -ENOENT: the network does not fail; -ENOTSUP: it has control flow
 *         or variables; -ENOMEM; or why the network cannot be run at all
 */
WEFT_API int weft_reduce(const weft_net *net, const weft_tensor *inputs, const struct weft_session_options *o,
                struct weft_reduction *r, char msg WEFT_ROOM(WEFT_MSG_LEN));

/** Free the network and the inputs of a reduction. */
WEFT_API void weft_reduction_release(struct weft_reduction *r);

struct weft_stream_options {
	enum weft_device device;   /* the device on which streams are tried: RTL, USB or MODEL */
	const char *usb, *rtl_dir; /* as in struct weft_dev_options */
};

/* A stream that was made small. */
struct weft_stream_case {
	struct weft_capture capture;       /* a capture of the small stream; owned */
	uint32_t before;           /* number of commands of the captured stream */
	uint32_t kept, loads, stores;      /* of the small one: commands kept, loads and stores added */
	int runs;                  /* how many streams were run on the device */
	char text[1024];           /* the command that goes wrong, disassembled; it is the last kept one */
};

/**
 * Look for the fewest commands of a captured stream that still go wrong on a device. On the RTL, a
 * fault that the capture says was planted is planted again.
 *
 * @param[out] r  Set on success; weft_capture_release(&r->capture) frees it.
 * @param msg     WEFT_MSG_LEN bytes; one line on failure.
 * @return 0; -ENOENT: nothing differs, or only the constants in the device's memory do, or the stream
 *         does not go wrong on this device; -EINVAL: the capture is broken; -ENOMEM; or as
 *         weft_dev_open()
 */
WEFT_API int weft_reduce_stream(const struct weft_capture *c, const struct weft_stream_options *o, struct weft_stream_case *r,
                       char msg WEFT_ROOM(WEFT_MSG_LEN));

#ifdef __cplusplus
}
#endif
#endif

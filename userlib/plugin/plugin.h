/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the library's plugins for other runtimes share: their options, the sessions of the parts
 * that they took, and what they say of a run that differs.
 */
#ifndef WEFT_PLUGIN_H
#define WEFT_PLUGIN_H

#include <weft/weft.h>

#define PLUGIN_PATH 1024       /* bytes of a file's name, with its end */

/* The runtime that a plugin is in; each has options of its own. */
enum plugin_host { PLUGIN_ONNX = 1, PLUGIN_TFLITE = 2 };

struct plugin_options {
	enum weft_device device;
	char usb[112];             /* which card; "": any */
	char config[16];
	bool check;
	char profile[PLUGIN_PATH]; /* where traces go; "": nowhere */
	bool rescale, requant_runtime; /* .onnx: how sums become 8 bits; see struct weft_load_options */
	enum weft_runtime runtime; /* .tflite: whose bits */
};

/** A card if one is plugged in, else the functional model; w16, no check, the newest bits. */
struct plugin_options plugin_defaults(void);

/**
 * Take one option.
 * @return 0; -EINVAL with msg: the runtime's plugin has no such option, or the value is none of it
 */
int plugin_take(struct plugin_options *o, enum plugin_host host, const char *key, const char *value, char msg WEFT_ROOM(WEFT_MSG_LEN));

/*
 * A device on which several parts run, one at a time, since a card cannot be opened twice. It is
 * opened with the first part and closed when plugin_leave() was called and its parts are closed.
 */
struct plugin_device;

/* A part of somebody's graph that the library runs: all zero, or as plugin_open() leaves it. */
struct plugin_part {
	weft_net *net;             /* plugin_close() frees it */
	weft_session *session;
	struct plugin_device *device;
	struct plugin_options options;
	char trace[PLUGIN_PATH];
};

/**
 * Open the session of part->net with these options, which are copied. Its trace, if one is wanted,
 * goes to the file that they name; that of part 1 to the same with ".1" behind it, and so on.
 * @param part     Its net is set, the rest is zero; plugin_close() in each case.
 * @param i        The part's number, from 0.
 * @param threads  To compile with, at most; 0: one.
 * @param device   The device of the parts beside it; NULL there: it is opened, for plugin_leave().
 * @return as weft_session_open(), and as weft_dev_open()
 */
int plugin_open(struct plugin_part *part, const struct plugin_options *o, int i, unsigned threads, struct plugin_device **device,
                char msg WEFT_ROOM(WEFT_MSG_LEN));

/** Open a part's session again, with another network, which becomes the part's in each case. @return as plugin_open() */
int plugin_replace(struct plugin_part *part, weft_net *net, unsigned threads, char msg WEFT_ROOM(WEFT_MSG_LEN));

/** No more parts will be opened on it. device may be NULL. */
void plugin_leave(struct plugin_device *device);

/** Close a part's session and free its network; it is all zero then. Any part may run meanwhile. */
void plugin_close(struct plugin_part *part);

/**
 * weft_session_run_into(); where the options ask for a check, msg says which element differs first.
 * @return as weft_session_run_into()
 */
int plugin_run(const struct plugin_part *part, const weft_tensor *inputs, const weft_tensor *outputs, char msg WEFT_ROOM(WEFT_MSG_LEN));

#endif

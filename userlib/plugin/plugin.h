/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the library's plugins for other runtimes share: their options, the sessions of the parts
 * that they took, and what they say of a run that differs.
 */
#ifndef WEFT_PLUGIN_H
#define WEFT_PLUGIN_H

#include <weft/dev.h>
#include <weft/weft.h>

#define PLUGIN_PATH 1024       /* bytes of a file's name, with its end */

/* The runtime that a plugin is in; each has options of its own. */
enum plugin_host { PLUGIN_ONNX = 1, PLUGIN_TFLITE = 2 };

struct plugin_options {
	enum weft_device device;
	char usb[PLUGIN_PATH];     /* of WEFT_DEVICE_USB: the card's serial or "@SOCKET"; "": any card; or several (weft/cards.h) */
	char config[16];           /* the name of the NPU's configuration; "": that of the card or cards, or w16 */
	bool check;                /* compare every run with golden */
	char profile[PLUGIN_PATH]; /* where traces go; "": nowhere */
	bool rescale, requant_runtime, requant_avx2; /* .onnx: how sums become 8 bits; see struct weft_load_options */
	enum weft_runtime runtime; /* .tflite: whose bits */
};

/**
 * Return the options that hold if none is stated: a card if a broker has them or should be asked but is named
 * badly (weft_dev_broker()), or if one is plugged in (the cards are listed for that), else the functional
 * model; the device's own configuration; no check, no trace, .onnx sums exact; .tflite with LiteRT's newest bits.
 */
struct plugin_options plugin_defaults(void);

#define PLUGIN_DEVICE (WEFT_DEV_WHERE + PLUGIN_PATH)

/**
 * Write the device that these options name, for a line of log, to text, which has room for PLUGIN_DEVICE bytes: "model",
 * "usb:SERIAL"; of usb without a name also whether that is a broker's socket or the USB.
 */
void plugin_device_text(const struct plugin_options *o, char *text, size_t room);

/**
 * Return the name of the configuration that these options mean, for a line of log; "its own" as long as that of a card or cards,
 * which the options leave to them, is not known.
 */
const char *plugin_config_text(const struct plugin_options *o);

/**
 * Take one option, a key and its value as words, into *o.
 * @return 0; -EINVAL, without a change of *o and with one line in msg that names what would be right:
 *         this runtime's plugin has no option `key`, or `value` is none of its values or too long
 */
WEFT_MUST_USE int plugin_take(struct plugin_options *o, enum plugin_host host, const char *key, const char *value, char msg WEFT_ROOM(WEFT_MSG_LEN));

/*
 * A device on which several parts run, one at a time, since a card cannot be opened twice; or several
 * cards, among which the runs of all parts are divided. It is opened with the first part and closed when
 * plugin_leave() was called and its parts are closed. Cards that are open in this process are shared by
 * all who name them with the same words and want the same configuration.
 */
struct plugin_device;

/* A part of somebody's graph that the library runs: all zero, or as plugin_open() leaves it. */
struct plugin_part {
	weft_net *net;             /* plugin_close() frees it */
	weft_session *session;     /* NULL: not open */
	struct plugin_device *device;   /* on which it runs; the part counts as one of its users */
	struct plugin_options options;
	char trace[PLUGIN_PATH];   /* the file of its trace, if options.profile names one */
};

/**
 * Open the device that the options name, unless *device is one already. It takes samples if the options ask for a profile, and on
 * the RTL it compares with the model if they ask for a check. If the option usb names several cards (weft_cards_named()), all of
 * these are opened. For golden nothing is opened. If the options name no configuration, the function writes the device's configuration
 * into them.
 * @param device   *device is NULL, or what an earlier call left there; the caller gives it to plugin_leave() once no more parts
 *                 follow.
 * @return 0; -ENOMEM; or as weft_dev_open() or weft_cards_open(); with one line in msg, and nothing changed
 */
WEFT_MUST_USE int plugin_device(struct plugin_options *o, struct plugin_device **device, char msg WEFT_ROOM(WEFT_MSG_LEN));

/**
 * Open the device with plugin_device(), and on it the session of part->net with these options, which are copied. If they ask for a
 * profile, the trace of part 0 goes to the file that they name, that of part 1 to the same name with ".1" behind it, and so on.
 * @param part     Its net is set, the rest is zero; plugin_close() in each case.
 * @param i        The part's number, from 0.
 * @param threads  To compile with, at most; 0: one.
 * @param device   The device of the parts beside it, for plugin_device().
 * @return 0; -ENOMEM; or as plugin_device() (part->device is then NULL) or weft_session_open(); with one
 *         line in msg
 */
WEFT_MUST_USE int plugin_open(struct plugin_part *part, struct plugin_options *o, int i, unsigned threads, struct plugin_device **device,
                char msg WEFT_ROOM(WEFT_MSG_LEN));

/**
 * Close a part's session and free its network, and open one for net on the same device. net becomes the
 * part's in each case, also if that fails; the part has no session then.
 * @return as weft_session_open()
 */
WEFT_MUST_USE int plugin_replace(struct plugin_part *part, weft_net *net, unsigned threads, char msg WEFT_ROOM(WEFT_MSG_LEN));

/**
 * Say that the caller opens no more parts on the device. It is closed and freed when the last part on it
 * is closed, or now if there is none; free memory then goes back to the system. device may be NULL, which
 * does nothing.
 */
void plugin_leave(struct plugin_device *device);

/**
 * Close a part's session, free its network and leave its device; it is all zero then. Other parts on
 * the device may run meanwhile: it waits for a run that is under way.
 */
void plugin_close(struct plugin_part *part);

/**
 * Run the part, whose session is open, with weft_session_run_into(), after waiting for other parts on its
 * device, unless that is several cards. If it ends with -ENODEV (unplugged), the device is marked as lost, so
 * that whoever next opens these cards without a *device of his own opens them anew. If the options ask for a
 * check and results differ (-EBADMSG), msg says how many elements do, and which is the first.
 * @return as weft_session_run_into()
 */
WEFT_MUST_USE int plugin_run(const struct plugin_part *part, const weft_tensor *inputs, const weft_tensor *outputs, char msg WEFT_ROOM(WEFT_MSG_LEN));

#endif

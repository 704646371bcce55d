/* SPDX-License-Identifier: Apache-2.0 */
/* The options of the plugins: pairs of words that the runtimes hand over. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <weft/dev.h>
#include <weft/gen/config.h>

#include "plugin.h"

/*
 * Bytes that a value may have: it fits into each field of PLUGIN_PATH bytes with the number that plugin_open()
 * puts behind a file's name. plugin_take() has checked that before one of the functions below reads it.
 */
enum { MOST_BYTES = PLUGIN_PATH - 17 };

/*
 * Reads the option "device", of at most MOST_BYTES bytes: a name of weft_device_name() from golden to usb, or
 * "usb:" followed by the name of a card or of several (weft/cards.h), which must not be empty. Sets o->device,
 * and o->usb to the cards or to "". Returns 0, or -EINVAL without a change for anything else.
 */
static int take_device(struct plugin_options *o, const char *v)
{
	if (!strncmp(v, "usb:", 4) && v[4]) {
		o->device = WEFT_DEVICE_USB;
		strcpy(o->usb, v + 4);
		return 0;
	}
	for (enum weft_device d = WEFT_DEVICE_GOLDEN; d <= WEFT_DEVICE_USB; d++) {
		if (!strcmp(v, weft_device_name(d))) {
			o->device = d;
			o->usb[0] = '\0';
			return 0;
		}
	}
	return -EINVAL;
}

/*
 * Reads the option "config" into o->config: the name of a configuration that weft_config_find() knows, of
 * at most 15 characters. Returns 0, or -EINVAL without a change.
 */
static int take_config(struct plugin_options *o, const char *v)
{
	if (!weft_config_find(v) || strlen(v) >= sizeof(o->config))
		return -EINVAL;
	strcpy(o->config, v);
	return 0;
}

/*
 * Reads the option "check", "0" or "1", into o->check. Returns 0, or -EINVAL without a change for
 * anything else.
 */
static int take_check(struct plugin_options *o, const char *v)
{
	if (strcmp(v, "0") && strcmp(v, "1"))
		return -EINVAL;
	o->check = *v == '1';
	return 0;
}

/*
 * Reads the option "profile", the name of a file of at most MOST_BYTES bytes, into o->profile. Returns 0, or
 * -EINVAL without a change if it is empty.
 */
static int take_profile(struct plugin_options *o, const char *v)
{
	if (!*v)
		return -EINVAL;
	strcpy(o->profile, v);
	return 0;
}

/*
 * Reads the option "requant": "rescale" sets o->rescale and clears o->requant_runtime, "runtime" does the
 * opposite, and "exact" clears both; "runtime-avx2" is "runtime" with o->requant_avx2, which the others clear. Returns 0,
 * or -EINVAL without a change for another word.
 */
static int take_requant(struct plugin_options *o, const char *v)
{
	const bool avx2 = !strcmp(v, "runtime-avx2");

	if (strcmp(v, "exact") && strcmp(v, "rescale") && strcmp(v, "runtime") && !avx2)
		return -EINVAL;
	o->rescale = !strcmp(v, "rescale");
	o->requant_runtime = !strcmp(v, "runtime") || avx2;
	o->requant_avx2 = avx2;
	return 0;
}

/*
 * Reads the option "runtime", a name that weft_runtime_named() knows, into o->runtime. Returns 0, or
 * -EINVAL without a change.
 */
static int take_runtime(struct plugin_options *o, const char *v)
{
	enum weft_runtime r = weft_runtime_named(v);

	if (!r)
		return -EINVAL;
	o->runtime = r;
	return 0;
}

static const struct {
	const char *key, *values;
	unsigned hosts;            /* those that have it, enum plugin_host */
	int (*take)(struct plugin_options *, const char *);
} known[] = {
	{ "device", "golden, model, rtl, usb, usb:SERIAL, usb:@SOCKET, a list of these cards or usb:*", PLUGIN_ONNX | PLUGIN_TFLITE, take_device },
	{ "config", "the name of a configuration, such as w16", PLUGIN_ONNX | PLUGIN_TFLITE, take_config },
	{ "check", "0 or 1", PLUGIN_ONNX | PLUGIN_TFLITE, take_check },
	{ "profile", "the name of a file", PLUGIN_ONNX | PLUGIN_TFLITE, take_profile },
	{ "requant", "exact, rescale, runtime or runtime-avx2", PLUGIN_ONNX, take_requant },
	{ "runtime", "litert-2.3, tflite-2.14 or tflm", PLUGIN_TFLITE, take_runtime },
};

enum { N_KNOWN = sizeof(known) / sizeof(known[0]) };

/*
 * Writes the keys of the options that the plugin of this runtime has to `list`, with ", " between them
 * and a zero byte at the end; what does not fit into `room` bytes is cut.
 */
static void list_keys(enum plugin_host host, char *list, size_t room)
{
	size_t len = 0;

	for (size_t i = 0; i < N_KNOWN; i++)
		if (known[i].hosts & host && len < room)
			len += (size_t)snprintf(list + len, room - len, "%s%s", len ? ", " : "", known[i].key);
}

enum { SHOWN = 64 };           /* bytes of a word that a message shows */

/*
 * Writes a word for a message to text, which has room for SHOWN + 32 bytes: in quotation marks, with "?" for control
 * characters. Of a longer word its first SHOWN bytes, and how many it has.
 */
static void quote(const char *word, char text[static SHOWN + 32])
{
	const size_t len = strlen(word), shown = len < SHOWN ? len : SHOWN;
	char *at = text;

	*at++ = '"';
	for (size_t i = 0; i < shown; i++)
		*at++ = (unsigned char)word[i] < ' ' || word[i] == 0x7f ? '?' : word[i];
	snprintf(at, 31, len > shown ? "...\" (%zu bytes)" : "\"", len);
}

int plugin_take(struct plugin_options *o, enum plugin_host host, const char *key, const char *value, char msg[static WEFT_MSG_LEN])
{
	char keys[128] = "", word[SHOWN + 32];

	for (size_t i = 0; i < N_KNOWN; i++) {
		if (!(known[i].hosts & host) || strcmp(key, known[i].key))
			continue;
		const bool fits = strlen(value) <= MOST_BYTES;
		if (fits && !known[i].take(o, value))
			return 0;
		quote(value, word);
		if (!fits)
			snprintf(msg, WEFT_MSG_LEN, "option %s: %s is longer than %d bytes", key, word, MOST_BYTES);
		else
			snprintf(msg, WEFT_MSG_LEN, "option %s: %s is not %s", key, word, known[i].values);
		return -EINVAL;
	}
	list_keys(host, keys, sizeof(keys));
	quote(key, word);
	snprintf(msg, WEFT_MSG_LEN, "there is no option %s; there are %s", word, keys);
	return -EINVAL;
}

struct plugin_options plugin_defaults(void)
{
	struct plugin_options o = { .device = WEFT_DEVICE_MODEL };
	char where[WEFT_DEV_WHERE], msg[WEFT_DEV_MSG];
	size_t n = 0;

	if (weft_dev_broker(where, msg) || where[0] || (!weft_dev_list(NULL, 0, &n, msg) && n))
		o.device = WEFT_DEVICE_USB;
	return o;
}

void plugin_device_text(const struct plugin_options *o, char *text, size_t room)
{
	char where[WEFT_DEV_WHERE] = "", msg[WEFT_DEV_MSG];

	if (o->device == WEFT_DEVICE_USB && !o->usb[0] && !weft_dev_broker(where, msg))
		snprintf(text, room, where[0] ? "usb (the broker at %s)" : "usb (a card on the USB, no broker)", where + 1);
	else
		snprintf(text, room, "%s%s%s", weft_device_name(o->device), o->usb[0] ? ":" : "", o->usb);
}

const char *plugin_config_text(const struct plugin_options *o)
{
	return o->config[0] ? o->config : o->device == WEFT_DEVICE_USB ? "its own" : "w16";
}

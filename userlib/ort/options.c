/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider's options. ONNX Runtime keeps them among the session's configuration entries,
 * under the provider's name in small letters.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <weft/dev.h>
#include <weft/gen/config.h>

#include "ep.h"

#define PREFIX "ep.weftexecutionprovider."

/*
 * Reads the option "device": a name of weft_device_name(), or "usb:" and a card. Returns 0, or -EINVAL
 * without a change.
 */
static int take_device(struct provider_options *o, const char *v)
{
	if (!strncmp(v, "usb:", 4) && v[4] && strlen(v + 4) < sizeof(o->usb)) {
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
 * Reads the option "config", the name of a configuration. Returns 0, or -EINVAL without a change if
 * there is none of that name.
 */
static int take_config(struct provider_options *o, const char *v)
{
	if (!weft_config_find(v) || strlen(v) >= sizeof(o->config))
		return -EINVAL;
	strcpy(o->config, v);
	return 0;
}

/* Reads the option "check", 0 or 1. Returns 0, or -EINVAL without a change. */
static int take_check(struct provider_options *o, const char *v)
{
	if (strcmp(v, "0") && strcmp(v, "1"))
		return -EINVAL;
	o->check = *v == '1';
	return 0;
}

/* Reads the option "requant": exact, rescale or runtime. Returns 0, or -EINVAL without a change. */
static int take_requant(struct provider_options *o, const char *v)
{
	if (strcmp(v, "exact") && strcmp(v, "rescale") && strcmp(v, "runtime"))
		return -EINVAL;
	o->rescale = !strcmp(v, "rescale");
	o->runtime = !strcmp(v, "runtime");
	return 0;
}

/* The options: key, the values that it takes in words, and the function that reads one. */
static const struct {
	const char *key, *values;
	int (*take)(struct provider_options *, const char *);
} known[] = {
	{ "device", "golden, model, rtl, usb, usb:SERIAL or usb:@SOCKET", take_device },
	{ "config", "the name of a configuration, such as w16", take_config },
	{ "check", "0 or 1", take_check },
	{ "requant", "exact, rescale or runtime", take_requant },
};

/*
 * Reads one option into *out. Returns NULL, or a status that names an unknown key or a value that is
 * not allowed.
 */
static struct ort_status *take(const struct ort_api *api, const char *key, const char *value, struct provider_options *out)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(key, known[i].key))
			continue;
		if (!known[i].take(out, value))
			return NULL;
		return fail_ort(api, ORT_INVALID_ARGUMENT, ORT_PROVIDER ": option %s: \"%.64s\" is not %s", key, value, known[i].values);
	}
	return fail_ort(api, ORT_INVALID_ARGUMENT, ORT_PROVIDER ": there is no option \"%.64s\"; there are device, config, check and requant", key);
}

/*
 * Returns the options' defaults: a card if one is plugged in, otherwise the functional model;
 * configuration w16; no check.
 */
static struct provider_options defaults(void)
{
	struct provider_options o = { .device = WEFT_DEVICE_MODEL, .config = "w16" };
	char msg[WEFT_DEV_MSG];
	size_t n = 0;

	if (!weft_dev_list(NULL, 0, &n, msg) && n)
		o.device = WEFT_DEVICE_USB;
	return o;
}

struct ort_status *take_options(const struct ort_api *api, const struct ort_session_options *o, struct provider_options *out)
{
	const char *const *keys, *const *values;
	struct ort_status *status;
	struct ort_pairs *pairs;
	size_t n;

	*out = defaults();
	status = api->session_entries(o, &pairs);
	if (status)
		return status;
	api->pairs(pairs, &keys, &values, &n);
	for (size_t i = 0; !status && i < n; i++)
		if (!strncmp(keys[i], PREFIX, strlen(PREFIX)))
			status = take(api, keys[i] + strlen(PREFIX), values[i], out);
	api->release_pairs(pairs);
	return status;
}

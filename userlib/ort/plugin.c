/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ONNX Runtime finds when it loads the library: a factory, which makes a provider for
 * each session.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hardware.h"

#define EXPORTED __attribute__((visibility("default")))

/* ort comes first, so that a pointer to it is one to this. */
struct factory {
	struct ort_factory ort;
	const struct ort_api *api;
	struct hardware hardware;  /* the cards, or the virtual NPU */
};

struct ort_status *fail_ort(const struct ort_api *api, int code, const char *format, ...)
{
	char line[WEFT_MSG_LEN + 64];
	va_list ap;

	va_start(ap, format);
	vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	return api->create_status(code, line);
}

bool ort_ok(const struct ort_api *api, struct ort_status *status)
{
	if (status)
		api->release_status(status);
	return !status;
}

/* Returns the provider's name. */
static const char *factory_name(const struct ort_factory *f)
{
	(void)f;
	return ORT_PROVIDER;
}

/* Returns the provider's vendor. */
static const char *factory_vendor(const struct ort_factory *f)
{
	(void)f;
	return "Weft";
}

/* Returns the library's version. */
static const char *factory_version(const struct ort_factory *f)
{
	(void)f;
	return weft_version();
}

/* Returns 0: Weft has no vendor number, and ONNX Runtime compares names. */
static uint32_t factory_vendor_id(const struct ort_factory *f)
{
	(void)f;
	return 0;
}

/* Returns the provider's name. */
static const char *provider_name(const struct ort_ep *ep)
{
	(void)ep;
	return ORT_PROVIDER;
}

/*
 * Offers the provider on the first processor among the n pieces of hardware, one of which is always there.
 * Writes that device to out[0] and 1 to *made. Returns NULL or a status.
 */
static struct ort_status *on_processor(struct ort_factory *f, const struct ort_hardware *const *hardware, size_t n, struct ort_ep_device **out,
                                       size_t *made)
{
	const struct ort_api *api = ((struct factory *)f)->api;

	for (size_t i = 0; i < n; i++) {
		if (api->hardware_type(hardware[i]) != ORT_HARDWARE_CPU)
			continue;
		struct ort_status *status = api->ep_api()->create_device(f, hardware[i], NULL, NULL, out);
		*made = !status;
		return status;
	}
	return NULL;
}

/*
 * Offers the provider on each card that is plugged in; without one on a virtual NPU; and in releases of
 * ONNX Runtime to which no hardware can be added on the processor. ONNX Runtime asks once, when the
 * library is registered, and shows the n pieces of hardware that it has found. Writes at most `room`
 * devices to out and their number to *made. Returns NULL or a status.
 */
static struct ort_status *devices(struct ort_factory *f, const struct ort_hardware *const *hardware, size_t n, struct ort_ep_device **out,
                                  size_t room, size_t *made)
{
	struct factory *ours = (struct factory *)f;
	struct hardware *h = &ours->hardware;

	*made = 0;
	if (!room)
		return NULL;
	if (!h->makes)
		return on_processor(f, hardware, n, out, made);
	struct ort_status *status = h->n ? NULL : hardware_make(ours->api, h, room);
	for (size_t i = 0; !status && i < h->n && i < room; i++) {
		status = h->makes->create_device(f, h->made[i], NULL, NULL, &out[i]);
		*made += !status;
	}
	return status;
}

/*
 * Takes the options in the session's entries, where ONNX Runtime keeps them under the provider's name in
 * small letters, into *out; what is not stated stays as it is. Returns NULL, or a status that names an
 * unknown option or value.
 */
static struct ort_status *take_options(const struct ort_api *api, const struct ort_session_options *o, struct plugin_options *out)
{
	static const char prefix[] = "ep.weftexecutionprovider.";
	const char *const *keys, *const *values;
	char msg[WEFT_MSG_LEN];
	struct ort_status *status;
	struct ort_pairs *pairs;
	size_t n;

	status = api->session_entries(o, &pairs);
	if (status)
		return status;
	api->pairs(pairs, &keys, &values, &n);
	for (size_t i = 0; !status && i < n; i++)
		if (!strncmp(keys[i], prefix, strlen(prefix)) && plugin_take(out, PLUGIN_ONNX, keys[i] + strlen(prefix), values[i], msg))
			status = fail_ort(api, ORT_INVALID_ARGUMENT, ORT_PROVIDER ": %s", msg);
	api->release_pairs(pairs);
	return status;
}

/*
 * Sets in *out what the session's entries ask for of EPContext nodes: enable and embed, if
 * ep.context_enable and ep.context_embed_mode are "1" (any other word is a no), and path; an entry that
 * is not there leaves its field as it is. Returns NULL; the status of reading the entries; or one for a
 * path of PLUGIN_PATH bytes or more.
 */
static struct ort_status *take_context(const struct ort_api *api, const struct ort_session_options *o, struct context_options *out)
{
	const char *const *keys, *const *values;
	struct ort_pairs *pairs;
	size_t n;
	struct ort_status *status = api->session_entries(o, &pairs);

	if (status)
		return status;
	api->pairs(pairs, &keys, &values, &n);
	for (size_t i = 0; !status && i < n; i++) {
		if (!strcmp(keys[i], "ep.context_enable"))
			out->enable = !strcmp(values[i], "1");
		else if (!strcmp(keys[i], "ep.context_embed_mode"))
			out->embed = !strcmp(values[i], "1");
		else if (!strcmp(keys[i], "ep.context_file_path") && snprintf(out->path, sizeof(out->path), "%s", values[i]) >= (int)sizeof(out->path))
			status = fail_ort(api, ORT_INVALID_ARGUMENT, ORT_PROVIDER ": ep.context_file_path: a path of more than %d bytes", PLUGIN_PATH - 1);
	}
	api->release_pairs(pairs);
	return status;
}

/*
 * Makes the provider for one session of ONNX Runtime, with the session's options. Where they name no
 * device it is that of the hardware: one card, or several, among which runs are divided; one piece of
 * hardware that is no card leaves the default. Returns NULL with the provider in *out, or a status with
 * *out untouched: no memory, several pieces of hardware that are not all cards, or options that
 * take_options() or take_context() refuses.
 */
static struct ort_status *create_ep(struct ort_factory *f, const struct ort_hardware *const *hardware, const struct ort_pairs *const *metadata,
                                    size_t n, const struct ort_session_options *options, const struct ort_logger *log, struct ort_ep **out)
{
	const struct ort_api *api = ((struct factory *)f)->api;
	struct provider *p = calloc(1, sizeof(*p));

	(void)metadata;
	if (!p)
		return fail_ort(api, ORT_FAIL, ORT_PROVIDER ": not enough memory");
	*p = (struct provider){ .ort = { .version = ORT_ABI_VERSION, .name = provider_name, .capability = find_parts,
	                                 .compile = compile_parts, .release_computes = release_parts },
	                        .api = api, .log = log };
	p->options = plugin_defaults();
	const bool cards = hardware_cards(api, hardware, n, &p->options);
	struct ort_status *status = cards || n == 1 ? take_options(api, options, &p->options)
	                                            : fail_ort(api, ORT_INVALID_ARGUMENT, ORT_PROVIDER ": %zu devices, must be 1, or cards", n);
	if (!status)
		status = take_context(api, options, &p->context);
	if (status) {
		free(p);
		return status;
	}
	*out = &p->ort;
	return NULL;
}

/* Closes the parts that the provider has kept, leaves its device and frees it. */
static void release_ep(struct ort_factory *f, struct ort_ep *ep)
{
	(void)f;
	forget_kept((struct provider *)ep);
	free((struct provider *)ep);
}

/*
 * Answers that there is no object of that kind, by NULL in *out: tensors lie in the processor's memory,
 * so that the provider has no allocator, no copies and no streams of its own. Returns NULL.
 */
static struct ort_status *no_object(struct ort_factory *f, void **out)
{
	(void)f;
	*out = NULL;
	return NULL;
}

/* Answers that there is no object for that memory and those options, by NULL in *out. Returns NULL. */
static struct ort_status *no_object_for(struct ort_factory *f, const void *memory, const struct ort_pairs *options, void **out)
{
	(void)memory;
	(void)options;
	return no_object(f, out);
}

/* Nothing has to be released: the provider has no allocator. */
static void no_release(struct ort_factory *f, void *allocator)
{
	(void)f;
	(void)allocator;
}

/* Returns false: the provider has no streams. */
static bool no_streams(const struct ort_factory *f)
{
	(void)f;
	return false;
}

/*
 * Returns the table by which a provider makes hardware; NULL: this release of ONNX Runtime, "1.MINOR.PATCH",
 * is older than that. It would complain on standard error if it were asked for the version.
 */
static const struct ort_ep_api *makes_hardware(const struct ort_api_base *base)
{
	unsigned major, minor;

	if (sscanf(base->release(), "%u.%u", &major, &minor) != 2 || (major == 1 && minor < ORT_MAKES_HARDWARE))
		return NULL;
	const struct ort_api *api = base->get_api(ORT_MAKES_HARDWARE);
	return api ? api->ep_api() : NULL;
}

/*
 * Makes the status for a release of ONNX Runtime that does not have our version of its interface, with the function that all
 * versions have first. Returns NULL if the release does not have the first version either.
 */
static struct ort_status *too_old(const struct ort_api_base *base)
{
	const struct ort_api *first = base->get_api(1);
	char line[192];

	snprintf(line, sizeof(line), ORT_PROVIDER ": ONNX Runtime %.32s does not have version %d of its interface; 1.%d or later does", base->release(),
	         ORT_ABI_VERSION, ORT_ABI_VERSION);
	return first ? first->create_status(ORT_FAIL, line) : NULL;
}

/**
 * ONNX Runtime's entry into the library: makes the factory of providers, writes it to out[0] and 1
 * to *made.
 * @return NULL, or a status, and *made is 0: there is no room or no memory, or this release of ONNX Runtime does not have our
 *         version of the interface
 */
EXPORTED struct ort_status *CreateEpFactories(const char *registered, const struct ort_api_base *base, const struct ort_logger *log,
                                              struct ort_factory **out, size_t room, size_t *made);

/*
 * ONNX Runtime's entry into the library: makes the factory of providers, writes it to out[0] and its
 * number, 1, to *made. Returns NULL, or a status, with *made 0, if there is no room for it or no memory, or
 * this release of ONNX Runtime does not have our version of its interface; without even the first version
 * nothing can make a status, and NULL with *made 0 is all.
 */
struct ort_status *CreateEpFactories(const char *registered, const struct ort_api_base *base, const struct ort_logger *log,
                                     struct ort_factory **out, size_t room, size_t *made)
{
	const struct ort_api *api = base->get_api(ORT_ABI_VERSION);

	(void)registered;
	(void)log;
	*made = 0;
	if (!api)
		return too_old(base);
	if (!room)
		return fail_ort(api, ORT_INVALID_ARGUMENT, ORT_PROVIDER ": room for 0 factories, must be at least 1");
	struct factory *f = calloc(1, sizeof(*f));
	if (!f)
		return fail_ort(api, ORT_FAIL, ORT_PROVIDER ": not enough memory");
	*f = (struct factory){ .ort = { .version = ORT_ABI_VERSION, .name = factory_name, .vendor = factory_vendor, .devices = devices,
	                                .create_ep = create_ep, .release_ep = release_ep, .vendor_id = factory_vendor_id,
	                                .provider_version = factory_version, .create_allocator = no_object_for,
	                                .release_allocator = no_release, .create_transfer = no_object, .stream_aware = no_streams,
	                                .create_stream = no_object_for },
	                       .api = api };
	f->hardware.makes = makes_hardware(base);
	out[0] = &f->ort;
	*made = 1;
	return NULL;
}

/** ONNX Runtime's second entry into the library: frees the factory and the hardware that it made. @return NULL */
EXPORTED struct ort_status *ReleaseEpFactory(struct ort_factory *f);

struct ort_status *ReleaseEpFactory(struct ort_factory *f)
{
	hardware_release(&((struct factory *)f)->hardware);
	free((struct factory *)f);
	return NULL;
}

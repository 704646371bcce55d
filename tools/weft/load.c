/* SPDX-License-Identifier: Apache-2.0 */
/* Loading a model, and the options of that. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/file.h>
#include <weft/npy.h>
#include "weft_cmd.h"

static int take_requant(struct load_args *a, const char *v)
{
	a->o.requant = weft_requant_named(v);
	return a->o.requant ? 0 : fail(-1, "--requant: \"%s\" is not exact, rescale, runtime or runtime-avx2", v);
}

/* NAME=1x3x224x224: a shape. False: a file. */
static bool shape(struct weft_bound *b, const char *text)
{
	char *end = (char *)text;

	b->value = (weft_tensor){ .rank = 0 };
	for (int i = 0; i < WEFT_MAX_RANK; i++)
		b->value.dim[i] = 1;
	while (b->value.rank < WEFT_MAX_RANK) {
		b->value.dim[b->value.rank++] = strtoll(text, &end, 10);
		if (end == text || *end != 'x')
			break;
		text = end + 1;
	}
	return !*end && end != text;
}

static int take_level(struct load_args *a, const char *v)
{
	if (strcmp(v, "none") && strcmp(v, "8K"))
		return fail(-1, "--level: \"%s\" is not none or 8K", v);
	a->o.level_8k = v[0] == '8';
	return 0;
}

static int take_runtime(struct load_args *a, const char *v)
{
	a->o.runtime = weft_runtime_named(v);
	return a->o.runtime ? 0 : fail(-1, "--runtime: \"%s\" is not litert-2.3, tflite-2.14 or tflm", v);
}

static int take_bind(struct load_args *a, const char *v)
{
	const char *eq = strchr(v, '=');
	char msg[WEFT_MSG_LEN] = "";

	if (!eq || eq == v || !eq[1] || a->o.n_bound == MAX_BOUND)
		return fail(-1, "--bind: \"%s\" is not NAME=SIZE, NAME=1x2x3 or NAME=FILE.npy (at most %d)", v, MAX_BOUND);
	struct weft_bound *b = &a->bound[a->o.n_bound];
	if (!shape(b, eq + 1) && weft_npy_read(eq + 1, &b->value, msg))
		return fail(-1, "--bind: \"%s\" is no shape (1x2x3), and as a file: %s", eq + 1, msg);
	b->name = strndup(v, (size_t)(eq - v));
	if (!b->name)
		return fail(-1, "out of memory");
	a->o.n_bound++;
	a->o.bound = a->bound;
	return 0;
}

/*
 * Loads a library of custom operators, which stays until the process ends, as its functions have to. A name without a folder
 * is a file of the current one: the system's folders of libraries are not searched.
 */
static int take_custom(struct load_args *a, const char *v)
{
	char *path = malloc(strlen(v) + 3);
	weft_custom_entry *entry;

	if (!path)
		return fail(-1, "out of memory");
	sprintf(path, "%s%s", strchr(v, '/') ? "" : "./", v);
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	free(path);
	if (!library)
		return fail(-1, "--custom: %s", dlerror());
	*(void **)&entry = dlsym(library, WEFT_CUSTOM_ENTRY);
	if (!entry)
		return fail(-1, "--custom: %s: it has no function " WEFT_CUSTOM_ENTRY "() (weft/custom.h)", v);
	a->o.custom = entry();
	return a->o.custom ? 0 : fail(-1, "--custom: %s: " WEFT_CUSTOM_ENTRY "() of it returned no operators", v);
}

int take_load(struct load_args *a, int option, const char *v)
{
	switch (option) {
	case LOAD_REQUANT: return take_requant(a, v);
	case LOAD_BIND:    return take_bind(a, v);
	case LOAD_LEVEL:   return take_level(a, v);
	case LOAD_RUNTIME: return take_runtime(a, v);
	case LOAD_CUSTOM:  return take_custom(a, v);
	case LOAD_SIGNATURE: a->o.signature = v; return 0;
	case LOAD_NO_COMPRESS: a->o.no_compress = true; return 0;
	default:           a->o.backbone = true; return 0;
	}
}

/* The whole file as bytes of no type. */
static int read_bytes(const char *file, weft_tensor *t)
{
	uint8_t *data;
	size_t n;
	int err = weft_file_read(file, INT32_MAX, &data, &n);

	if (err)
		return err;
	*t = (weft_tensor){ .rank = 1, .dim = { (int64_t)n, 1, 1, 1, 1, 1, 1, 1 }, .data = data };
	return 0;
}

int take_given(struct load_args *a, const char *arg)
{
	const char *eq = strchr(arg, '='), *dot = eq ? strrchr(eq, '.') : NULL;
	char msg[WEFT_MSG_LEN];

	if (!dot || eq == arg || a->o.n_given == MAX_GIVEN || (strcmp(dot, ".npy") && strcmp(dot, ".bin")))
		return 0;
	struct weft_bound *b = &a->given[a->o.n_given];
	int err = dot[1] == 'n' ? weft_npy_read(eq + 1, &b->value, msg) : read_bytes(eq + 1, &b->value);
	if (err == -ENOMEM)
		return fail(EXIT_DEVICE, "%s: out of memory", eq + 1);
	if (err)
		return 0;                        /* who reads it as an input says what is wrong */
	b->name = strndup(arg, (size_t)(eq - arg));
	if (!b->name)
		return fail(EXIT_DEVICE, "out of memory");
	a->o.n_given++;
	a->o.given = a->given;
	return 0;
}

bool was_given(const struct load_args *a, const char *arg)
{
	const size_t n = strcspn(arg, "=");

	for (int i = 0; i < a->o.n_given; i++)
		if (strlen(a->given[i].name) == n && !memcmp(a->given[i].name, arg, n))
			return true;
	return false;
}

int load_net(const char *model, const struct load_args *a, weft_net **net)
{
	char msg[WEFT_MSG_LEN] = "";
	int err = weft_net_load_file_with(model, a ? &a->o : NULL, net, msg);

	return err ? fail(file_status(err), "%s", msg) : 0;
}

void load_release(struct load_args *a)
{
	for (int i = 0; i < a->o.n_given; i++) {
		free((char *)a->given[i].name);
		weft_tensor_release(&a->given[i].value);
	}
	for (int i = 0; i < a->o.n_bound; i++) {
		free((char *)a->bound[i].name);
		weft_tensor_release(&a->bound[i].value);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft regs: every register and field of the specification as the device has them,
 * against their reset values, or against an earlier dump.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <weft/gen/regs.h>

#include "tools/weft/target.h"
#include "tools/weft/weft_cmd.h"

#define NAME_LEN 48

/* One register, or one of an array. */
struct reg { const struct weft_reg_info *info; unsigned i; uint32_t value; };
struct regs { struct reg *r; size_t n; };

static void reg_name(const struct reg *r, char *name)
{
	if (r->info->count > 1)
		snprintf(name, NAME_LEN, "%.32s[%u]", r->info->name, r->i);
	else
		snprintf(name, NAME_LEN, "%.32s", r->info->name);
}

static uint32_t reg_offset(const struct reg *r)
{
	return r->info->offset + r->i * r->info->stride;
}

static uint32_t field(const struct weft_reg_field_info *f, uint32_t value)
{
	return value >> f->lsb & (f->bits < 32 ? (1u << f->bits) - 1 : UINT32_MAX);
}

static const char *who(const struct weft_reg_info *g)
{
	return !g->job ? "nothing but a reset or a write changes it" : !strcmp(g->job, "hw") ? "a job changes it" : "written for a job";
}

/* 0, or a negative errno with msg. */
static int read_all(struct target *t, struct regs *all, char *msg)
{
	size_t n = 0;

	for (size_t i = 0; i < WEFT_N_REGS; i++)
		n += weft_reg_list()[i].count;
	*all = (struct regs){ calloc(n, sizeof(*all->r)), 0 };
	if (!all->r) {
		snprintf(msg, WEFT_ADMIN_MSG, "out of memory");
		return -ENOMEM;
	}
	for (size_t i = 0; i < WEFT_N_REGS; i++) {
		for (unsigned k = 0; k < weft_reg_list()[i].count; k++) {
			struct reg *r = &all->r[all->n++];
			*r = (struct reg){ &weft_reg_list()[i], k, 0 };
			int err = target_reg_read(t, reg_offset(r), &r->value, msg);
			if (err)
				return err;
		}
	}
	return 0;
}

/* ---- as text and as JSON ---- */

static void print_reg(const struct reg *r)
{
	char name[NAME_LEN];

	reg_name(r, name);
	printf("0x%03x  0x%08x  %s", reg_offset(r), r->value, name);
	for (int k = 0; k < r->info->n_fields; k++)
		printf("%s%s %u", k ? ", " : ": ", r->info->fields[k].name, field(&r->info->fields[k], r->value));
	printf("\n");
}

static cJSON *to_json(const struct target *t, const struct regs *all)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "device", t->name);
	cJSON *list = cJSON_AddArrayToObject(j, "registers");
	for (size_t i = 0; i < all->n; i++) {
		const struct reg *r = &all->r[i];
		char name[NAME_LEN];
		cJSON *o = cJSON_CreateObject();
		reg_name(r, name);
		cJSON_AddStringToObject(o, "name", name);
		cJSON_AddNumberToObject(o, "offset", reg_offset(r));
		cJSON_AddStringToObject(o, "access", r->info->access);
		if (r->info->job)
			cJSON_AddStringToObject(o, "job", r->info->job);
		cJSON_AddNumberToObject(o, "value", r->value);
		cJSON *fields = r->info->n_fields ? cJSON_AddObjectToObject(o, "fields") : NULL;
		for (int k = 0; k < r->info->n_fields; k++)
			cJSON_AddNumberToObject(fields, r->info->fields[k].name, field(&r->info->fields[k], r->value));
		cJSON_AddItemToArray(list, o);
	}
	return j;
}

static int write_dump(const struct target *t, const struct regs *all, const char *file)
{
	cJSON *j = to_json(t, all);
	char *text = cJSON_Print(j);
	int status = text ? write_file(file, (const uint8_t *)text, strlen(text)) : fail(EXIT_DEVICE, "out of memory");

	free(text);
	cJSON_Delete(j);
	return status;
}

static void print_json_regs(const struct target *t, const struct regs *all)
{
	cJSON *j = to_json(t, all);
	char *text = cJSON_Print(j);

	if (text)
		puts(text);
	free(text);
	cJSON_Delete(j);
}

/* ---- differences ---- */

static uint32_t value_of(const struct regs *all, uint32_t offset)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->r[i].info->offset == offset)
			return all->r[i].value;
	return 0;
}

/* What a register reads after a reset. config and features do not change; no configuration may have both. */
static uint32_t reset_value(const struct regs *all, const struct reg *r)
{
	uint32_t config = value_of(all, WEFT_REG_CONFIG), features = value_of(all, WEFT_REG_FEATURES);

	if (!weft_config_of_device(config, features))
		return r->info->reset;
	return r->info->offset == WEFT_REG_CONFIG     ? config
	       : r->info->offset == WEFT_REG_FEATURES ? features
	                                              : r->info->reset;
}

/* The same register in a dump; false: it is not there. */
static bool dumped(const cJSON *list, const struct reg *r, uint32_t *value)
{
	char name[NAME_LEN];
	const cJSON *o;

	reg_name(r, name);
	cJSON_ArrayForEach(o, list) {
		const cJSON *n = cJSON_GetObjectItemCaseSensitive(o, "name"), *v = cJSON_GetObjectItemCaseSensitive(o, "value");
		if (!cJSON_IsString(n) || strcmp(n->valuestring, name) || !cJSON_IsNumber(v))
			continue;
		if (!(v->valuedouble >= 0 && v->valuedouble <= UINT32_MAX))
			return false;
		*value = (uint32_t)v->valuedouble;
		return true;
	}
	return false;
}

static void print_change(const struct reg *r, uint32_t was)
{
	char name[NAME_LEN];
	bool any = false;

	reg_name(r, name);
	for (int k = 0; k < r->info->n_fields; k++) {
		const struct weft_reg_field_info *f = &r->info->fields[k];
		if (field(f, was) == field(f, r->value))
			continue;
		printf("0x%03x  %s.%s: %u, was %u (%s)\n", reg_offset(r), name, f->name, field(f, r->value), field(f, was), who(r->info));
		any = true;
	}
	/* No fields, or bits that are none. */
	if (!any)
		printf("0x%03x  %s: 0x%x, was 0x%x (%s)\n", reg_offset(r), name, r->value, was, who(r->info));
}

static int print_differences(const struct regs *all, const cJSON *list)
{
	int n = 0;

	for (size_t i = 0; i < all->n; i++) {
		uint32_t was = reset_value(all, &all->r[i]);
		char name[NAME_LEN];
		if (list && !dumped(list, &all->r[i], &was)) {
			reg_name(&all->r[i], name);
			return fail(EXIT_USAGE, "the dump has no register %s", name);
		}
		if (was == all->r[i].value)
			continue;
		print_change(&all->r[i], was);
		n++;
	}
	if (!n)
		printf("nothing differs\n");
	return n ? EXIT_DIFFERS : EXIT_DONE;
}

static int differ(const struct regs *all, const char *against)
{
	uint8_t *data = NULL;
	size_t len = 0;

	if (!strcmp(against, "RESET"))
		return print_differences(all, NULL);
	int status = read_whole(against, &data, &len);
	if (status)
		return status;
	cJSON *j = cJSON_ParseWithLength((const char *)data, len);
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(j, "registers");
	status = cJSON_IsArray(list) ? print_differences(all, list) : fail(EXIT_USAGE, "%s: not a dump of weft regs", against);
	cJSON_Delete(j);
	free(data);
	return status;
}

/* ---- the command ---- */

int regs_print(struct target *t, char *msg)
{
	struct regs all;
	int err = read_all(t, &all, msg);

	for (size_t i = 0; !err && i < all.n; i++)
		print_reg(&all.r[i]);
	free(all.r);
	return err;
}

int regs_dump(struct target *t, const char *file)
{
	char msg[WEFT_ADMIN_MSG] = "";
	struct regs all;
	int err = read_all(t, &all, msg), status = err ? fail(status_of(err), "%s", msg) : 0;

	if (!status)
		status = write_dump(t, &all, file);
	free(all.r);
	return status;
}

struct args { const char *device, *config, *against, *file; bool json; };

static int show(const struct args *a, const struct target *t, const struct regs *all)
{
	int status = a->file ? write_dump(t, all, a->file) : 0;

	if (status)
		return status;
	if (a->against)
		return differ(all, a->against);
	if (a->json)
		print_json_regs(t, all);
	for (size_t i = 0; i < all->n && !a->json && !a->file; i++)
		print_reg(&all->r[i]);
	return EXIT_DONE;
}

static int regs_main(int argc, char **argv)
{
	static const struct option_def defs[] = { { "--device", true }, { "--config", true }, { "--json", false }, { "--diff", true },
		{ "-o", true }, { NULL, false } };
	struct args a = { .device = "usb", .config = "w16" };
	struct regs all = { 0 };
	char msg[WEFT_ADMIN_MSG] = "";
	struct target t;
	const char *v;
	int at = 0, opt;

	while ((opt = next_option(&at, argc, argv, defs, &v)) != -2) {
		switch (opt) {
		case -1: case 0: a.device = v; break;
		case 1: a.config = v; break;
		case 2: a.json = true; break;
		case 3: a.against = v; break;
		case 4: a.file = v; break;
		default: return EXIT_USAGE;
		}
	}
	int status = target_open(&t, a.device, a.config);
	if (!status) {
		int err = read_all(&t, &all, msg);
		status = err ? fail(status_of(err), "%s", msg) : 0;
	}
	if (!status)
		status = show(&a, &t, &all);
	free(all.r);
	target_close(&t);
	return status;
}

const struct subcommand cmd_regs = {
	"regs", "a device's registers, decoded, and what changed in them",
	"usage: weft regs [usb:SERIAL | usb:@SOCKET] [options]\n\n"
	"Every register and field of the NPU (docs/registers.md).\n\n"
	"  --device D       usb (default: any card), rtl: a new one, as after reset\n"
	"  --config C       rtl: " WEFT_CONFIG_NAMES " (default: w16)\n"
	"  --diff RESET     only what differs from the values after a reset\n"
	"  --diff DUMP      only what differs from a dump, and who may change it; weft run\n"
	"                   --regs DUMP leaves one of any device after a run\n"
	"  -o DUMP          write a dump (JSON)\n"
	"  --json           the dump on standard output\n\n"
	"Exit status: 1 where --diff finds a difference.\n",
	regs_main,
};

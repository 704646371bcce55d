/* SPDX-License-Identifier: Apache-2.0 */
/* weft diag: says whether the device is in order, and if not, where the fault is. */
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/diag.h>

#include "weft_cmd.h"

#define MAX_TESTS 64

struct wishes {
	struct weft_dev_options dev;
	struct weft_plant plant;
	size_t test[MAX_TESTS];
	size_t n_tests;
	uint64_t loops;
	bool json, list;
};

static const char *const state_names[] = { "passed", "FAILED", "absent", "blocked" };

static int show_list(bool json)
{
	cJSON *all = json ? cJSON_CreateArray() : NULL;

	for (size_t i = 0; i < weft_diag_count(); i++) {
		if (!json) {
			printf("%-14s %s\n", weft_diag_name(i), weft_diag_brief(i));
			continue;
		}
		cJSON *t = cJSON_CreateObject();
		cJSON_AddStringToObject(t, "name", weft_diag_name(i));
		cJSON_AddStringToObject(t, "brief", weft_diag_brief(i));
		cJSON_AddItemToArray(all, t);
	}
	if (json) {
		char *text = cJSON_Print(all);
		printf("%s\n", text ? text : "[]");
		free(text);
		cJSON_Delete(all);
	}
	return EXIT_DONE;
}

static void add_known(cJSON *o, const char *name, int64_t value)
{
	if (value >= 0)
		cJSON_AddNumberToObject(o, name, (double)value);
}

static cJSON *json_result(size_t test, uint64_t loop, const struct weft_diag_result *r)
{
	cJSON *o = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(o, "findings");

	cJSON_AddStringToObject(o, "test", weft_diag_name(test));
	cJSON_AddNumberToObject(o, "loop", (double)loop);
	cJSON_AddStringToObject(o, "state", r->state == WEFT_DIAG_FAILED ? "failed" : state_names[r->state]);
	cJSON_AddStringToObject(o, "note", r->note);
	cJSON_AddNumberToObject(o, "cycles", (double)r->cycles);
	cJSON_AddNumberToObject(o, "checks", (double)r->checks);
	cJSON_AddNumberToObject(o, "seconds", r->seconds);
	for (size_t i = 0; i < r->n_findings && i < WEFT_DIAG_FINDINGS; i++) {
		const struct weft_diag_finding *f = &r->findings[i];
		cJSON *e = cJSON_CreateObject();
		cJSON_AddStringToObject(e, "id", f->id);
		cJSON_AddStringToObject(e, "block", f->block);
		cJSON_AddStringToObject(e, "text", f->text);
		add_known(e, "row", f->row);
		add_known(e, "column", f->col);
		add_known(e, "bit", f->bit);
		add_known(e, "bank", f->bank);
		add_known(e, "address", f->addr);
		cJSON_AddItemToArray(list, e);
	}
	return o;
}

static void show(size_t test, const struct weft_diag_result *r)
{
	printf("%-14s %-8s", weft_diag_name(test), state_names[r->state]);
	if (r->cycles)
		printf(" %8" PRIu64 " cycles", r->cycles);
	printf("%s%s\n", *r->note ? "  " : "", r->note);
	for (size_t i = 0; i < r->n_findings && i < WEFT_DIAG_FINDINGS; i++)
		printf("  %s: %s\n", r->findings[i].id, r->findings[i].text);
	if (r->n_findings > WEFT_DIAG_FINDINGS)
		printf("  and %zu more\n", r->n_findings - WEFT_DIAG_FINDINGS);
	fflush(stdout);
}

static int run_all(const struct wishes *w, weft_diag *d, cJSON *list)
{
	int status = EXIT_DONE;

	for (uint64_t loop = 0; loop < w->loops; loop++) {
		weft_diag_forget(d);
		for (size_t i = 0; i < w->n_tests; i++) {
			struct weft_diag_result r;
			int err = weft_diag_run(d, w->test[i], &r);
			if (w->json)
				cJSON_AddItemToArray(list, json_result(w->test[i], loop, &r));
			else
				show(w->test[i], &r);
			if (r.state == WEFT_DIAG_FAILED)
				status = EXIT_DIFFERS;
			if (err) {
				fail(0, "%s: %s%s%s", weft_diag_name(w->test[i]), strerror(-err), *r.note ? ": " : "", r.note);
				return status ? status : status_of(err);
			}
		}
	}
	if (status && !w->json)
		printf("docs/bringup.md has a section on each message\n");
	return status;
}

static int run(const struct wishes *w)
{
	char msg[WEFT_DEV_MSG] = "";
	weft_diag *d;
	int err = weft_diag_open(&w->dev, &d, msg);

	if (err)
		return fail(status_of(err), "%s", msg);
	if (w->plant.kind && weft_diag_plant(d, &w->plant)) {
		weft_diag_close(d);
		return fail(EXIT_USAGE, "--plant: only --device rtl can be disturbed");
	}
	cJSON *list = w->json ? cJSON_CreateArray() : NULL;
	int status = run_all(w, d, list);
	if (w->json) {
		char *text = cJSON_Print(list);
		printf("%s\n", text ? text : "[]");
		free(text);
		cJSON_Delete(list);
	}
	weft_diag_close(d);
	return status;
}

static int take_device(const char *v, struct wishes *w)
{
	struct weft_session_options s = weft_session_options_default();

	if (parse_device(v, &s))
		return -1;
	if (s.device == WEFT_DEVICE_GOLDEN)
		return fail(-1, "--device golden: not a device; model, rtl or usb");
	w->dev.kind = weft_device_kind(s.device);
	w->dev.usb = s.usb;
	return 0;
}

static int diag_main(int argc, char **argv)
{
	enum { DEVICE, CONFIG, MEMORY, LIST, LOOP, JSON, PLANT, RTL, WAIT };
	static const struct option_def defs[] = {
		[DEVICE] = { "--device", true }, [CONFIG] = { "--config", true }, [MEMORY] = { "--memory", true },
		[LIST] = { "--list", false }, [LOOP] = { "--loop", true }, [JSON] = { "--json", false }, [PLANT] = { "--plant", true },
		[RTL] = { "--rtl", true }, [WAIT] = { "--wait", true }, { NULL, false },
	};
	struct wishes w = { .dev = weft_dev_options_default(), .loops = 1 };
	const char *v;
	uint64_t wait = 0;
	int at = 0, k;

	w.dev.kind = WEFT_DEV_RTL;
	w.dev.config = NULL;
	w.dev.memory = WEFT_MEMORY_SRAM;
	while ((k = next_option(&at, argc, argv, defs, &v)) != -2) {
		int bad = 0, test;
		switch (k) {
		case DEVICE: bad = take_device(v, &w); break;
		case CONFIG: w.dev.config = v; break;
		case MEMORY: bad = parse_memory(v, &w.dev.memory); break;
		case LIST: w.list = true; break;
		case LOOP: bad = parse_number("--loop", v, UINT32_MAX, &w.loops); break;
		case JSON: w.json = true; break;
		case PLANT: bad = parse_plant(v, &w.plant); break;
		case RTL: w.dev.rtl_dir = v; break;
		case WAIT: bad = parse_number("--wait", v, 3600000, &wait); break;
		case -1:
			test = weft_diag_find(v);
			if (test < 0)
				return fail(EXIT_USAGE, "\"%s\" is not a test; see weft diag --list", v);
			if (w.n_tests == MAX_TESTS)
				return fail(EXIT_USAGE, "more than %d tests are named", MAX_TESTS);
			w.test[w.n_tests++] = (size_t)test;
			break;
		default: bad = 1;
		}
		if (bad)
			return EXIT_USAGE;
	}
	if (!w.loops)
		return fail(EXIT_USAGE, "--loop: 1 or more");
	if (!w.dev.config && w.dev.kind != WEFT_DEV_USB)
		w.dev.config = "w16";
	w.dev.usb_wait_ms = (unsigned)wait;
	if (w.list)
		return show_list(w.json);
	if (!w.n_tests)
		while (w.n_tests < weft_diag_count()) {
			w.test[w.n_tests] = w.n_tests;
			w.n_tests++;
		}
	return run(&w);
}

const struct subcommand cmd_diag = {
	"diag", "test a device block by block, and say what is wrong",
	"usage: weft diag [TEST...] [options]\n\n"
	"Tests the device from the outside in. Without TEST: all, in order; one that builds on\n"
	"a test that failed is left out. What is wrong is named as closely as the evidence\n"
	"allows; docs/bringup.md explains every message.\n\n"
	"  --list              the tests\n"
	"  --device D          rtl (default), model, or a card: usb (any), usb:SERIAL, usb:@SOCKET\n"
	"  --config C          " WEFT_CONFIG_NAMES " (default: the card's, or w16)\n"
	"  --memory M          rtl: sram (default) or ddr\n"
	"  --loop N            N times\n"
	"  --json              results as JSON\n"
	"  --wait MS           usb: wait so long for the card to be plugged in\n"
	"  --plant P           rtl: pe:ROW,COL,BIT, lane:LANE,BIT or sp:ADDRESS,BIT stuck at 1\n"
	"  --rtl DIR           where weft-rtl-CONFIG.so lies\n\n"
	"Exit status: 0 nothing is wrong, 1 something is, 2 bad usage, 3 the device\n"
	"does not answer, or not any more.\n",
	diag_main,
};

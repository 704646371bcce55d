/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tests in their order, and what each builds on.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/clock.h"
#include "driver/device.h"
#include "userlib/diag/diag.h"

/* A device that retires no command for so many cycles counts as hung; no command here takes a tenth of it. */
#define HANG_CYCLES 60000

#define AFTER(test) (1u << (test))
#define BASE (AFTER(DIAG_REGISTERS) | AFTER(DIAG_UNITS))
#define MEMORY (BASE | AFTER(DIAG_MEMORY) | AFTER(DIAG_DMA) | AFTER(DIAG_SCRATCHPAD))
#define ARRAY (MEMORY | AFTER(DIAG_ARRAY8) | AFTER(DIAG_ARRAY16))

/*
 * The tests by number (enum diag_test): name, one line for people, function, and the tests that it
 * builds on, one bit each: if one of these has failed, the test is blocked.
 */
static const struct {
	const char *name, *brief;
	int (*run)(struct weft_diag *d);
	uint32_t needs;
} tests[DIAG_N_TESTS] = {
	[DIAG_IDENTIFY] = { "identify", "who the device is: versions, configuration; a card's serial, firmware, USB speed and packets", diag_identify, 0 },
	[DIAG_LINK] = { "link", "a card's link: echoes, blocks, CRC errors, throughput, latency", diag_link, AFTER(DIAG_IDENTIFY) },
	[DIAG_CORE] = { "core", "a card's tests of itself: core, timer and watchdog, memory, flash", diag_core, AFTER(DIAG_IDENTIFY) },
	[DIAG_REGISTERS] = { "registers", "reset values, walking bits in every field that software writes", diag_registers, 0 },
	[DIAG_UNITS] = { "units", "each unit runs a command of its own and retires it", diag_units, AFTER(DIAG_REGISTERS) },
	[DIAG_MEMORY] = { "memory", "card memory: data lines, address lines, March C-", diag_memory, BASE },
	[DIAG_DMA] = { "dma", "alignment, bursts, 4 KiB borders, strides of both signs, both directions at once", diag_dma, BASE },
	[DIAG_SCRATCHPAD] = { "scratchpad", "data lines, address lines, March C- over all banks", diag_scratchpad, BASE | AFTER(DIAG_DMA) },
	[DIAG_ARRAY8] = { "array-int8", "every PE in int8: operands, sums, each bit", diag_array_int8, MEMORY },
	[DIAG_ARRAY16] = { "array-int16", "the same in int16x8, and the upper bits of the sums", diag_array_int16, MEMORY },
	[DIAG_POST] = { "post", "post unit: factors, shifts, rounding, limits, second addends in every mode", diag_post, ARRAY },
	[DIAG_ARRAYF8] = { "array-float8", "every PE in float8, with NaN and infinity", diag_array_float8, ARRAY | AFTER(DIAG_POST) },
	[DIAG_ALU] = { "alu", "every operation of alu in every type", diag_alu_ops, MEMORY },
	[DIAG_COMMANDS] = { "commands", "every fault of the command processor, and that it recovers", diag_commands, BASE },
	[DIAG_COUNTERS] = { "counters", "counters and interrupts of a stream that is known", diag_counters, BASE },
	[DIAG_RESTART] = { "reset", "a reset ends, and the device works afterwards", diag_restart, 0 },
	[DIAG_SENSORS] = { "sensors", "temperature and supply, where a board has them", diag_sensors, 0 },
	[DIAG_NETWORKS] = { "networks", "three small networks, every tensor compared", diag_networks, ARRAY | AFTER(DIAG_POST) },
};

size_t weft_diag_count(void)
{
	return DIAG_N_TESTS;
}

const char *weft_diag_name(size_t test)
{
	return test < DIAG_N_TESTS ? tests[test].name : NULL;
}

const char *weft_diag_brief(size_t test)
{
	return test < DIAG_N_TESTS ? tests[test].brief : NULL;
}

int weft_diag_find(const char *name)
{
	for (int i = 0; i < DIAG_N_TESTS; i++)
		if (!strcmp(tests[i].name, name))
			return i;
	return -1;
}

/* ---- device ---- */

/*
 * Makes sure that d->dev, the device for streams, is open, and that it takes streams that break rules
 * without checking them first. If it was not open, the card's administration link is closed before
 * (d->admin becomes NULL), since a card serves one at a time. Returns 0, or the negative errno of
 * weft_dev_open(), whose reason becomes the running test's note, if a test runs.
 */
int diag_use_dev(struct weft_diag *d)
{
	char msg[WEFT_DEV_MSG] = "";

	if (d->dev)
		return 0;
	weft_admin_close(d->admin);
	d->admin = NULL;
	int err = weft_dev_open(&d->o, &d->dev, msg);
	if (err && d->r)
		diag_note(d, "%.200s", msg);
	if (!err)
		weft_dev_trust(d->dev, true);   /* streams that break rules are part of the tests */
	return err;
}

/*
 * Makes sure that d->admin, the card's administration link, is open, waiting up to 10 s for the card.
 * If it was not, the device for streams is closed before (d->dev becomes NULL), since a card serves one
 * at a time. Returns 0; -ENOTSUP, with nothing done, for devices that are no card; or the negative
 * errno of weft_admin_open(), whose reason becomes the running test's note, if a test runs.
 */
int diag_use_admin(struct weft_diag *d)
{
	char msg[WEFT_ADMIN_MSG] = "";

	if (d->o.kind != WEFT_DEV_USB)
		return -ENOTSUP;
	if (d->admin)
		return 0;
	weft_dev_close(d->dev);
	d->dev = NULL;
	int err = weft_admin_open(d->o.usb ? d->o.usb : "", 10000, &d->admin, msg);
	if (err && d->r)
		diag_note(d, "%.200s", msg);
	return err;
}

/*
 * Opens the device that o describes, and the functional model of the same configuration beside it,
 * for diagnostics; both run streams without checking them first, and no test runs yet. cosim and wave of o are
 * ignored, and a stream on the RTL counts as hanging after HANG_CYCLES cycles. Returns 0 and sets *out, which
 * weft_diag_close() frees; or, with *out untouched, a negative errno of weft_dev_open() with one line in msg
 * (none for -ENOMEM of *out itself).
 */
int weft_diag_open(const struct weft_dev_options *o, weft_diag **out, char msg WEFT_ROOM(WEFT_DEV_MSG))
{
	struct weft_diag *d = calloc(1, sizeof(*d));
	struct weft_dev_options m = weft_dev_options_default();

	if (!d)
		return -ENOMEM;
	d->o = *o;
	d->o.cosim = false;
	d->o.wave = NULL;
	d->o.hang_cycles = HANG_CYCLES;
	int err = weft_dev_open(&d->o, &d->dev, msg);
	if (!err) {
		m.config = d->o.config = d->dev->cfg->name;
		d->cfg = o->kind == WEFT_DEV_MODEL ? weft_config_of_model(m.config) : weft_config_find(m.config);
		err = weft_dev_open(&m, &d->model, msg);
	}
	if (err) {
		weft_diag_close(d);
		return err;
	}
	weft_dev_trust(d->dev, true);
	weft_dev_trust(d->model, true);
	*out = d;
	return 0;
}

/*
 * Closes the device, the model and the administration link, and frees d with the results that it kept.
 * NULL is fine.
 */
void weft_diag_close(weft_diag *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->n_expected; i++)
		free(d->expected[i].data);
	free(d->expected);
	weft_dev_close(d->dev);
	weft_dev_close(d->model);
	weft_admin_close(d->admin);
	free(d);
}

weft_dev *weft_diag_device(weft_diag *d)
{
	return d->dev;
}

void weft_diag_forget(weft_diag *d)
{
	d->failed = 0;
}

int weft_diag_plant(weft_diag *d, const struct weft_plant *p)
{
	int err = diag_use_dev(d);

	if (!err)
		err = weft_dev_plant(d->dev, p);
	d->plant = err ? (struct weft_plant){ .kind = WEFT_PLANT_NONE } : *p;
	return err;
}

int weft_diag_renew(weft_diag *d)
{
	weft_dev_close(d->dev);
	d->dev = NULL;
	d->failed = 0;
	d->plant.kind = WEFT_PLANT_NONE;
	return diag_use_dev(d);
}

/* ---- saying what is wrong ---- */

/*
 * Marks the running test as failed, counts a finding in d->r->n_findings, and, if that is one of the
 * first WEFT_DIAG_FINDINGS, records it: id, the block that messages.c gives for it ("" if it has no
 * such id), the place `at`, and the text of format and what follows, one line for the user, cut to its
 * room.
 */
void diag_find(struct weft_diag *d, const char *id, struct diag_place at, const char *format, ...)
{
	size_t n;
	const struct weft_diag_message *m = weft_diag_messages(&n);
	va_list ap;

	d->r->state = WEFT_DIAG_FAILED;
	if (d->r->n_findings++ >= WEFT_DIAG_FINDINGS)
		return;
	struct weft_diag_finding *f = &d->r->findings[d->r->n_findings - 1];
	*f = (struct weft_diag_finding){ .id = id, .block = "", .row = at.row, .col = at.col, .bit = at.bit,
		.bank = at.bank, .addr = at.addr };
	for (size_t i = 0; i < n; i++)
		if (!strcmp(m[i].id, id)) {
			f->id = m[i].id;
			f->block = m[i].block;
		}
	va_start(ap, format);
	vsnprintf(f->text, sizeof(f->text), format, ap);
	va_end(ap);
}

/*
 * Replaces the remark in the report of the running test by the text of format and what follows, cut to
 * its room.
 */
void diag_note(struct weft_diag *d, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(d->r->note, sizeof(d->r->note), format, ap);
	va_end(ap);
}

void diag_absent(struct weft_diag *d, const char *why)
{
	d->r->state = WEFT_DIAG_ABSENT;
	diag_note(d, "%s", why);
}

/*
 * Says whether a failed test lets tests that build on it be skipped: if a finding is of another block
 * than "usb". A card that is only slow or has wrong descriptors answers all the same.
 */
static bool blocks(const struct weft_diag_result *r)
{
	for (size_t i = 0; i < r->n_findings && i < WEFT_DIAG_FINDINGS; i++)
		if (strcmp(r->findings[i].block, "usb"))
			return true;
	return false;
}

/*
 * Runs one test, 0..DIAG_N_TESTS-1, and fills *r with its state, findings, note, checks, cycles and
 * seconds. A test that builds on a failed one is not run: its state is WEFT_DIAG_BLOCKED, and the note
 * names the first failed one. If the test fails, tests that build on it are blocked from now on (but
 * not for findings of block "usb" alone). Returns 0 whatever the test found; -ENOENT with *r all zeros
 * if there is no such test; or a negative errno if the device or memory is gone (*r then has what was
 * found before).
 */
int weft_diag_run(weft_diag *d, size_t test, struct weft_diag_result *r)
{
	uint64_t begin = weft_now_ns();

	memset(r, 0, sizeof(*r));
	if (test >= DIAG_N_TESTS)
		return -ENOENT;
	d->r = r;
	d->test = (unsigned)test;
	d->seq = 0;
	uint32_t why = tests[test].needs & d->failed;
	if (why) {
		r->state = WEFT_DIAG_BLOCKED;
		diag_note(d, "builds on %s, which failed", tests[__builtin_ctz(why)].name);
		d->r = NULL;
		return 0;
	}
	int err = tests[test].run(d);
	if (r->state == WEFT_DIAG_FAILED && blocks(r))
		d->failed |= AFTER(test);
	r->seconds = (double)(weft_now_ns() - begin) * 1e-9;
	d->r = NULL;
	return err;
}

/*
 * Returns the next 32 bits of a xorshift64* generator, the same on every machine, and advances *state,
 * which must not be 0.
 */
uint32_t diag_random(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return (uint32_t)((x * UINT64_C(0x2545f4914f6cdd1d)) >> 32);
}

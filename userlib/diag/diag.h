/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests share: the device, streams made by hand and their expected results,
 * and how to say what is wrong.
 */
#ifndef WEFT_USERLIB_DIAG_H
#define WEFT_USERLIB_DIAG_H

#include <weft/admin.h>
#include <weft/diag.h>
#include <weft/gen/cmd.h>
#include <weft/gen/config.h>
#include <weft/gen/regs.h>

/* Tests by number; the table in diag.c has this order. */
enum diag_test {
	DIAG_IDENTIFY, DIAG_LINK, DIAG_CORE, DIAG_REGISTERS, DIAG_UNITS, DIAG_MEMORY, DIAG_DMA, DIAG_SCRATCHPAD,
	DIAG_ARRAY8, DIAG_ARRAY16, DIAG_POST, DIAG_ARRAYF8, DIAG_ALU, DIAG_COMMANDS, DIAG_COUNTERS,
	DIAG_RESTART, DIAG_SENSORS, DIAG_NETWORKS, DIAG_N_TESTS,
};

/* What the model makes of one stream; it does not depend on the device. */
struct diag_expected {
	unsigned test, seq;        /* the test's number, and the stream's number within the test */
	uint8_t *data;             /* the arena after the stream, len bytes; owned */
	size_t len;
};

struct weft_diag {
	struct weft_dev_options o; /* how the device is opened */
	const struct weft_config *cfg;
	weft_dev *dev, *model;     /* the device (NULL while admin is open), and the model beside it */
	weft_admin *admin;         /* the link to a card's firmware; open only while dev is closed */
	struct weft_plant plant;   /* the fault that was planted in the device, for tests */
	uint32_t failed;           /* one bit for each test: it has failed, and blocks tests that build on it */
	struct diag_expected *expected;   /* results of the model, kept for tests that run again */
	size_t n_expected;
	/* The running test: its number, how many streams it has run, and its result. */
	unsigned test, seq;
	struct weft_diag_result *r;
};

/* ---- saying what is wrong ---- */

/* The place of a fault, as in struct weft_diag_finding; what is not known is -1. */
struct diag_place { int row, col, bit, bank; int64_t addr; };
#define DIAG_NOWHERE ((struct diag_place){ -1, -1, -1, -1, -1 })

/*
 * Reports a finding and marks the running test as failed. id is one of messages.c; the text of
 * format is one line for the user.
 */
void diag_find(struct weft_diag *d, const char *id, struct diag_place at, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Replaces the remark in the running test's report by the text of format, cut to its room. */
void diag_note(struct weft_diag *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
/*
 * Marks the running test as absent, because the device has nothing of the kind; why becomes the note.
 */
void diag_absent(struct weft_diag *d, const char *why);

/* ---- streams ---- */

/*
 * A command stream that a test puts together, with its constants. It starts as all zeros. If
 * memory runs out while it grows, `failed` is set, later additions may be lost, and diag_exec()
 * reports -ENOMEM.
 */
struct diag_stream {
	uint64_t *words;           /* encoded commands; room for max_words */
	size_t n_words, max_words;
	uint8_t *data;             /* contents of window WEFT_WIN_CONST in bytes; room for max_data */
	size_t n_data, max_data;
	size_t out_bytes;          /* size of window WEFT_WIN_ARENA in bytes */
	uint32_t count[WEFT_N_UNITS];   /* commands of each unit so far */
	bool loose, failed, no_end;     /* loose: the caller sets waits; no_end: diag_exec() appends no END */
	bool known;                /* the test knows itself what to expect: diag_exec() does not ask the model */
};

#define DIAG_FILL 0xa5         /* every byte of window WEFT_WIN_ARENA before a stream runs */

/* Frees the stream's commands and constants and makes it empty. */
void diag_stream_free(struct diag_stream *s);
/*
 * Appends len bytes of constants at the next multiple of 64 (bytes between are 0); bytes NULL means
 * zeros. Returns their offset in the window WEFT_WIN_CONST; 0 with s->failed set if there is no memory.
 */
size_t diag_data(struct diag_stream *s, const void *bytes, size_t len);
/*
 * Encodes c and appends it to the stream. Unless s->loose is set, the waits in *c are set so that it
 * starts when all commands of other units before it have retired (a unit runs its own in order). Counts
 * it in s->count of its unit. If there is no memory, s->failed is set and nothing is appended.
 */
void diag_add(struct diag_stream *s, struct weft_cmd *c);
/*
 * Appends a load or store (op) of one row: len bytes between offset off of a window and scratchpad
 * address sp.
 */
void diag_transfer(struct diag_stream *s, unsigned op, unsigned window, size_t off, uint32_t sp, uint32_t len);
/* Appends a load of len bytes of the constants from offset off to scratchpad address sp. */
void diag_load(struct diag_stream *s, size_t off, uint32_t sp, uint32_t len);
/* Appends len bytes of constants (bytes NULL: zeros) and a load of them to scratchpad address sp. */
void diag_put(struct diag_stream *s, uint32_t sp, const void *bytes, size_t len);
/*
 * Appends a store of len bytes from scratchpad address sp into the arena, at the next multiple of 64
 * bytes behind what is stored already. Returns the offset there.
 */
size_t diag_store(struct diag_stream *s, uint32_t sp, uint32_t len);

/* What a stream left in the arena, and what it should have left. */
struct diag_out {
	uint8_t *got;              /* the arena's len bytes; freed by diag_out_free() */
	const uint8_t *want;       /* the same on the model, kept by struct weft_diag; NULL for `known` streams */
	size_t len;
	struct weft_job_result job;   /* how the stream ended */
};

enum { DIAG_RAN = 0, DIAG_STOPPED = 1 };

/*
 * Runs a stream on the device and, unless s->known is set or out is NULL, on the model, to know what to
 * expect. END is appended before, unless s->no_end is set, and s is freed in each case. The device is
 * opened if it is not; d->seq advances; the job's cycles (or the simulation's, if the device has counted
 * none), and s->out_bytes as checks, are added to the running test's report. out may be NULL if only the
 * stream's end matters.
 *
 * Returns DIAG_RAN: it reached END, and the caller frees *out by diag_out_free(); DIAG_STOPPED: it did
 * not, out->job says why, and out has no data; or a negative errno, with nothing to free: out of
 * memory, the model refuses the stream, the device is gone, or what the stream left cannot be read.
 */
WEFT_MUST_USE int diag_exec(struct weft_diag *d, struct diag_stream *s, struct diag_out *out);
/*
 * Runs a stream that must end with a fault on the model (result in *want) and then on the device
 * (*got), without comparing them. END is appended unless s->no_end is set, and s is freed. The device's
 * cycles of simulation are added to the running test's. Returns 0, however both ended; -ENOMEM;
 * -ENODEV; or another negative errno if a job could not be run.
 */
WEFT_MUST_USE int diag_exec_fault(struct weft_diag *d, struct diag_stream *s, struct weft_job_result *got, struct weft_job_result *want);
/* Frees what diag_exec() left in *out. */
void diag_out_free(struct diag_out *out);

/*
 * Reports that a stream, which did `doing`, did not end as it should. After a fault: the fault, with
 * the message of its unit (DIAG-RUN-2 to -5 for load, store, array, vector engine; DIAG-RUN-1 for
 * others). Otherwise the message of the unit that was busy most, if that was about half of the
 * simulated cycles or more; or else the message with id suspect (NULL: DIAG-RUN-1). Only out->job is
 * looked at.
 */
void diag_stopped(struct weft_diag *d, const struct diag_out *out, const char *doing, const char *suspect);

/* ---- device ---- */

/*
 * Make sure that the device, or the link to the card's firmware, is open, and close the other one.
 * Both return 0 or a negative errno; diag_use_admin() -ENOTSUP if the device is no card.
 */
WEFT_MUST_USE int diag_use_dev(struct weft_diag *d);
WEFT_MUST_USE int diag_use_admin(struct weft_diag *d);
/*
 * Read and write one of the NPU's registers. -ENOTSUP: the model has none. -EPERM from writing: the
 * card's firmware keeps this register to itself.
 */
WEFT_MUST_USE int diag_reg_read(struct weft_diag *d, uint32_t addr, uint32_t *value);
WEFT_MUST_USE int diag_reg_write(struct weft_diag *d, uint32_t addr, uint32_t value);

/* ---- numbers ---- */

/* The next 32 bits of a xorshift64* generator, the same on every machine. *state must not be 0. */
uint32_t diag_random(uint64_t *state);

/* ---- tests ---- */

/*
 * The tests. Each writes its findings to d->r and returns 0 whatever it found, or a negative errno
 * as diag_exec().
 */
WEFT_MUST_USE int diag_identify(struct weft_diag *d);
/*
 * Part of identify: judges how the card, which is open, lies on the USB (diag_usb_judge) and writes a
 * few words about it (numbers, port, speed, packet size) to note, which has room for len bytes. serial
 * is the one that the firmware gives. If the USB cannot tell, that is a finding (DIAG-USB-1) and note
 * is "".
 */
void diag_usb(struct weft_diag *d, const char *serial, char *note, size_t len);
void diag_usb_judge(struct weft_diag *d, const struct weft_usb_info *u, const char *serial);
WEFT_MUST_USE int diag_registers(struct weft_diag *d);
WEFT_MUST_USE int diag_units(struct weft_diag *d);
WEFT_MUST_USE int diag_dma(struct weft_diag *d);
WEFT_MUST_USE int diag_scratchpad(struct weft_diag *d);
/*
 * Runs the test of the scratchpad within another test. If it finds a fault of the scratchpad, its
 * findings become the running test's, and the result is true.
 */
bool diag_is_scratchpad(struct weft_diag *d);
WEFT_MUST_USE int diag_array_int8(struct weft_diag *d);
WEFT_MUST_USE int diag_array_int16(struct weft_diag *d);
WEFT_MUST_USE int diag_post(struct weft_diag *d);
WEFT_MUST_USE int diag_array_float8(struct weft_diag *d);
WEFT_MUST_USE int diag_alu_ops(struct weft_diag *d);
WEFT_MUST_USE int diag_commands(struct weft_diag *d);
WEFT_MUST_USE int diag_counters(struct weft_diag *d);
int diag_sensors(struct weft_diag *d);
WEFT_MUST_USE int diag_link(struct weft_diag *d);
int diag_core(struct weft_diag *d);
WEFT_MUST_USE int diag_memory(struct weft_diag *d);
WEFT_MUST_USE int diag_restart(struct weft_diag *d);
WEFT_MUST_USE int diag_networks(struct weft_diag *d);

#endif

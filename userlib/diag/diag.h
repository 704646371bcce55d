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

/* Results that were expected of a stream; they do not depend on the device. */
struct diag_expected {
	unsigned test, seq;
	uint8_t *data;
	size_t len;
};

struct weft_diag {
	struct weft_dev_options o;
	const struct weft_config *cfg;
	weft_dev *dev, *model;
	weft_admin *admin;         /* instead of dev, while messages are asked for */
	struct weft_plant plant;   /* what the device is disturbed with */
	uint32_t failed;           /* bit per test */
	struct diag_expected *expected;
	size_t n_expected;
	/* of the test that runs */
	unsigned test, seq;
	struct weft_diag_result *r;
};

/* ---- saying what is wrong ---- */

/* Where; what is not known is -1. */
struct diag_place { int row, col, bit, bank; int64_t addr; };
#define DIAG_NOWHERE ((struct diag_place){ -1, -1, -1, -1, -1 })

/* id is one of messages.c. The test has failed. */
void diag_find(struct weft_diag *d, const char *id, struct diag_place at, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void diag_note(struct weft_diag *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The device has nothing to test; why. */
void diag_absent(struct weft_diag *d, const char *why);

/* ---- streams ---- */

/*
 * Commands are queued so that each waits for all before it, unless loose is set. Memory
 * errors stick and are reported by diag_exec().
 */
struct diag_stream {
	uint64_t *words;
	size_t n_words, max_words;
	uint8_t *data;             /* window WEFT_WIN_CONST */
	size_t n_data, max_data;
	size_t out_bytes;          /* of window WEFT_WIN_ARENA */
	uint32_t count[WEFT_N_UNITS];
	bool loose, failed, no_end;
	bool known;                /* the test knows itself what to expect: no want from diag_exec() */
};

#define DIAG_FILL 0xa5         /* what window WEFT_WIN_ARENA holds before */

void diag_stream_free(struct diag_stream *s);
/* Append constants at a multiple of 64; returns their offset. bytes NULL: zeros. */
size_t diag_data(struct diag_stream *s, const void *bytes, size_t len);
/* Append; waits are set here unless loose. */
void diag_add(struct diag_stream *s, struct weft_cmd *c);
/* One row, of a load or a store. */
void diag_transfer(struct diag_stream *s, unsigned op, unsigned window, size_t off, uint32_t sp, uint32_t len);
void diag_load(struct diag_stream *s, size_t off, uint32_t sp, uint32_t len);
/* Constants, and their load. */
void diag_put(struct diag_stream *s, uint32_t sp, const void *bytes, size_t len);
/* To the arena, behind what is stored already; returns the offset there. */
size_t diag_store(struct diag_stream *s, uint32_t sp, uint32_t len);

/* What came back, and what should have. */
struct diag_out {
	uint8_t *got;
	const uint8_t *want;
	size_t len;
	struct weft_job_result job;
};

enum { DIAG_RAN = 0, DIAG_STOPPED = 1 };

/*
 * END is appended; s is freed. out may be NULL: only that it ends is wanted.
 * @return DIAG_RAN with *out to be freed; DIAG_STOPPED: it did not reach END, out->job
 *         says why; negative: out of memory, or no device any more
 */
int diag_exec(struct weft_diag *d, struct diag_stream *s, struct diag_out *out);
/* A stream that must end with a fault: what the device says of it, and the model. Negative as above. */
int diag_exec_fault(struct weft_diag *d, struct diag_stream *s, struct weft_job_result *got, struct weft_job_result *want);
void diag_out_free(struct diag_out *out);

/* A stream that was expected to end did not: say so; suspect is a message for the case that nothing points elsewhere, or NULL. */
void diag_stopped(struct weft_diag *d, const struct diag_out *out, const char *doing, const char *suspect);

/* ---- device ---- */

/* The device is closed while the card's firmware is spoken to, and the other way round. */
int diag_use_dev(struct weft_diag *d);
int diag_use_admin(struct weft_diag *d);
/* -ENOTSUP: this device has no registers to look at. */
int diag_reg_read(struct weft_diag *d, uint32_t addr, uint32_t *value);
int diag_reg_write(struct weft_diag *d, uint32_t addr, uint32_t value);

/* ---- numbers ---- */

/* xorshift64*; the same everywhere. */
uint32_t diag_random(uint64_t *state);

/* ---- tests ---- */

/* Each returns 0 whatever it found, or negative as diag_exec(). */
int diag_identify(struct weft_diag *d);
/* usb.c: what identify finds there; a few words of it for the note. */
void diag_usb(struct weft_diag *d, const char *serial, char *note, size_t len);
void diag_usb_judge(struct weft_diag *d, const struct weft_usb_info *u, const char *serial);
int diag_registers(struct weft_diag *d);
int diag_units(struct weft_diag *d);
int diag_dma(struct weft_diag *d);
int diag_scratchpad(struct weft_diag *d);
/* Runs that, and says what it finds, if that lies in the scratchpad. */
bool diag_is_scratchpad(struct weft_diag *d);
int diag_array_int8(struct weft_diag *d);
int diag_array_int16(struct weft_diag *d);
int diag_post(struct weft_diag *d);
int diag_array_float8(struct weft_diag *d);
int diag_alu_ops(struct weft_diag *d);
int diag_commands(struct weft_diag *d);
int diag_counters(struct weft_diag *d);
int diag_sensors(struct weft_diag *d);
int diag_link(struct weft_diag *d);
int diag_core(struct weft_diag *d);
int diag_memory(struct weft_diag *d);
int diag_restart(struct weft_diag *d);
int diag_networks(struct weft_diag *d);

#endif

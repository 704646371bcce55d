/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a backend must provide. Above this nothing knows whether silicon, RTL or
 * a model is underneath.
 */
#ifndef WEFT_DRIVER_BACKEND_H
#define WEFT_DRIVER_BACKEND_H

#include <weft/dev.h>
#include <weft/gen/config.h>

/* A job as a backend gets it: verified (or trusted), windows open. */
struct weft_backend_job {
	const uint64_t *words;
	size_t n_words;
	struct weft_backend_window {
		uint8_t *data;         /* NULL: closed */
		uint64_t len;
		bool rd, wr;
	} win[WEFT_N_WINDOWS];     /* win[0] is the stream */
	weft_observer *observer;   /* or NULL */
	void *user;
	uint64_t deadline_ns;      /* CLOCK_MONOTONIC; 0: none */
};

struct weft_backend {
	const char *name;

	/* *state set on success. msg: WEFT_DEV_MSG bytes, one line on failure. */
	int (*open)(const struct weft_dev_options *o, const struct weft_config *cfg, void **state, char *msg);
	void (*close)(void *state);

	/* Runs to the end; afterwards the device is idle and usable, whatever
	 * happened. Fills *r; returns r->status. msg: one line on failure. */
	int (*run)(void *state, const struct weft_backend_job *job, struct weft_job_result *r, char *msg);

	/* Each may be NULL where the device cannot. */
	int (*peek_sp)(void *state, uint32_t addr, uint32_t len, uint8_t *out);
	int (*plant)(void *state, const struct weft_plant *p);
	int (*reset)(void *state);
	uint32_t (*reg_read)(void *state, uint32_t addr);
	const struct weft_cosim_diff *(*cosim)(void *state);
};

extern const struct weft_backend weft_backend_model, weft_backend_rtl;

/* Monotonic time in nanoseconds. */
uint64_t weft_now_ns(void);

/* Processor time of this thread in nanoseconds. */
uint64_t weft_cpu_ns(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a backend must provide. Above this nothing knows whether silicon, RTL or
 * a model is underneath.
 */
#ifndef WEFT_DRIVER_BACKEND_H
#define WEFT_DRIVER_BACKEND_H

#include <weft/dev.h>
#include <weft/gen/config.h>

#include "driver/clock.h"

/* A job as a backend gets it: verified (or trusted), windows open. */
struct weft_backend_job {
	const uint64_t *words;
	size_t n_words;
	struct weft_backend_window {
		uint8_t *data;         /* NULL: closed */
		uint64_t len;
		bool rd, wr;
		void *buf;             /* backends with async: theirs */
	} win[WEFT_N_WINDOWS];     /* win[0] is the stream */
	weft_observer *observer;   /* or NULL */
	void *user;
};

struct weft_events;
struct weft_event_source;

/*
 * Devices with memory of their own, which work while the host does other
 * things. All calls are made with the device's lock held. All negative returns leave one line in msg (WEFT_DEV_MSG bytes).
 */
struct weft_backend_async {
	/* shadow: len bytes of the host's, there until buf_free(). */
	int (*buf_new)(void *state, uint8_t *shadow, uint64_t len, void **buf, char *msg);
	void (*buf_free)(void *state, void *buf);
	/* The host is about to write the shadow there. */
	int (*buf_write)(void *state, void *buf, uint64_t off, uint64_t len, char *msg);
	/* Make the shadow true there. */
	int (*buf_read)(void *state, void *buf, uint64_t off, uint64_t len, char *msg);
	int (*buf_discard)(void *state, void *buf, char *msg);
	/* What the shadow holds and the host has not written since is not to be believed. */
	int (*buf_doubt)(void *state, void *buf, char *msg);

	/* job->words are the backend's to copy. */
	int (*submit)(void *state, weft_job id, const struct weft_backend_job *job, char *msg);
	/* As weft_wait(); once it has ended, the job is forgotten afterwards. */
	int (*wait)(void *state, weft_job id, uint64_t until_ns, struct weft_job_result *r, char *msg);
	int (*cancel)(void *state, weft_job id);
	int (*forget)(void *state, weft_job id);
	int (*n_ended)(void *state);           /* jobs that nobody has waited for yet */

	/* What happens to the device by itself; nothing of it may wait. */
	void (*source)(void *state, struct weft_event_source *out);
	/* From now on whoever waits does so there. */
	void (*use)(void *state, struct weft_events *e);
	/* In a forked process: free memory, and leave the device alone. */
	void (*disown)(void *state);

	void (*info)(void *state, struct weft_card_info *out);
	int (*usb)(void *state, struct weft_usb_info *out, char *msg);
	void (*traffic)(void *state, weft_traffic *fn, void *user);
};

struct weft_backend {
	const char *name;

	/*
	 * *state set on success. If cfg is NULL, which only a card takes, the card may have any configuration, and info() says which.
	 * msg: WEFT_DEV_MSG bytes, one line on failure.
	 */
	int (*open)(const struct weft_dev_options *o, const struct weft_config *cfg, void **state, char *msg);
	void (*close)(void *state);

	/*
	 * Run a job until that time, at least one step of it. @return -EAGAIN: it has not ended, and
	 * goes on when this is called again with the same job; until then only stop(), close() and
	 * what looks inside may be called. Otherwise it has ended, and the device is idle and usable,
	 * whatever happened: *r is filled, and returns r->status. msg: one line on failure.
	 */
	int (*run)(void *state, const struct weft_backend_job *job, uint64_t until_ns, struct weft_job_result *r, char *msg);
	/* Give up the job that has not ended. */
	void (*stop)(void *state);

	/* Each may be NULL where the device cannot. addr and len lie in the scratchpad. */
	int (*peek_sp)(void *state, uint32_t addr, uint32_t len, uint8_t *out);
	/* The next job begins with this in the scratchpad. */
	int (*poke_sp)(void *state, uint32_t addr, uint32_t len, const uint8_t *data);
	int (*plant)(void *state, const struct weft_plant *p);
	int (*reset)(void *state);
	uint32_t (*reg_read)(void *state, uint32_t addr);
	int (*reg_write)(void *state, uint32_t addr, uint32_t value);
	const struct weft_fault_point *(*points)(void *state, uint32_t *n);
	const struct weft_cosim_diff *(*cosim)(void *state);
	int (*sample)(void *state, weft_sampler *fn, void *user);
	/* Where the device records around a command: which one of the next stream; -1: none. */
	int (*wave)(void *state, int64_t cmd);
	/* It records no more, and the file is in its place. msg: one line on failure, but for -ENOMEM. */
	int (*wave_end)(void *state, char *msg);

	const struct weft_backend_async *async;   /* or NULL; then run is */
};

/*
 * The backends. Each one is defined where what it drives lives, so that the driver
 * includes nothing of the simulators: sim/model/backend.c, sim/rtl/backend.c and
 * driver/usb/backend_usb.c.
 */
extern const struct weft_backend weft_backend_model, weft_backend_rtl, weft_backend_usb;

#endif

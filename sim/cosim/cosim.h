/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Co-simulation: as each command retires on a device, the bytes that it wrote
 * are compared with those that the functional model writes for it; when the stream has
 * ended, the whole scratchpad and all windows are, so that a write that no command asked
 * for is seen, too. A byte that later commands of the same unit write as well is left to them.
 *
 * The model runs in stream order, the device retires in its own; the model runs
 * ahead as far as it must, and keeps what each command wrote until that command
 * retires on the device.
 */
#ifndef WEFT_SIM_COSIM_COSIM_H
#define WEFT_SIM_COSIM_COSIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weft/gen/config.h"

#ifdef __cplusplus
extern "C" {
#endif

struct weft_cosim;

struct weft_cosim_window {
	const uint8_t *data;      /* what the device reads and writes; borrowed */
	uint64_t len;
	bool rd, wr;
};

/* Where the device differs from the model. */
struct weft_cosim_found {
	size_t cmd;
	bool in_sp;
	unsigned window;
	uint64_t addr;
	uint8_t expected, got;
	bool model_fault;         /* the model faults on this command instead */
	unsigned fault_code;
};

typedef void weft_cosim_peek(void *user, uint32_t addr, uint32_t len, uint8_t *out);

/**
 * @param words    The stream; borrowed. It must have passed the verifier.
 * @param windows  WEFT_N_WINDOWS of them; copied now, so the device must not have
 *                 started.
 * @param peek     Reads the device's scratchpad.
 * @return NULL: out of memory
 */
struct weft_cosim *weft_cosim_new(const struct weft_config *cfg, const uint64_t *words, size_t n_words,
                                  const struct weft_cosim_window *windows,
                                  weft_cosim_peek *peek, void *user);
void weft_cosim_free(struct weft_cosim *c);

/** The scratchpad as the stream finds it, all of it: what no command writes is to stay so. */
void weft_cosim_poke_sp(struct weft_cosim *c, const uint8_t *data, size_t len);

/**
 * Command number cmd has just retired on the device.
 * @return 0: same bytes; 1: *d says where they differ; -ENOMEM
 */
int weft_cosim_retire(struct weft_cosim *c, size_t cmd, struct weft_cosim_found *d);

/**
 * All commands have retired: compare the whole of the windows and the scratchpad, also where no command was to write.
 * @return 0: equal; 1: *d says where not, with the last command for want of a better one; -ENOMEM
 */
int weft_cosim_end(struct weft_cosim *c, struct weft_cosim_found *d);

#ifdef __cplusplus
}
#endif
#endif

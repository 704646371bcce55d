/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functional model: what every command does to the scratchpad and to
 * memory, with no notion of time.
 *
 * As with the backends, the driver says here what a model must provide, and sim/model
 * provides it: what is above the driver can execute single commands and be told of every
 * byte that they write, and includes nothing of the simulators.
 *
 * Written from the prose in include/spec/cmd.toml alone; the RTL was too, so
 * that their agreement is evidence. Commands execute one after another in
 * stream order, which the static rules make one of the orders that hardware
 * may take.
 *
 * Nothing outside the model's own memory and the windows is ever read or
 * written, whatever a command says. How long one command can take is not
 * bounded here; driver/verify/verify.h refuses streams that are too long.
 */
#ifndef WEFT_DRIVER_MODEL_H
#define WEFT_DRIVER_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/gen/cmd.h>
#include <weft/gen/config.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_model;

/* Memory that LD and ST reach as window i. data may be NULL if size is 0. */
struct weft_model_window {
	uint8_t *data;
	uint64_t size;     /* bytes; an access at or beyond it is fault WINDOW */
	bool rd, wr;       /* permissions; breaking them is fault WINDOW */
};

/* Why a command stopped. */
struct weft_model_fault {
	enum weft_fault code;
	uint32_t info;     /* low 32 bits of the offending address or header word */
};

enum weft_model_space { WEFT_MODEL_SP, WEFT_MODEL_MEM };

/*
 * One contiguous run of bytes that a command has just written. Called after
 * the write, so the new bytes can be read from weft_model_sp() or the window.
 * Runs come in the order of the writes; writes whose bytes adjoin are joined. A byte
 * written twice by one command appears twice.
 */
typedef void (*weft_model_log_fn)(void *user, enum weft_model_space space,
				  unsigned window, uint64_t addr, uint64_t len);

/* cfg must outlive the model. NULL without memory. The scratchpad is zero. */
struct weft_model *weft_model_new(const struct weft_config *cfg);
void weft_model_free(struct weft_model *m);

/* Clear the scratchpad and the sums of the array; windows and log stay. */
void weft_model_reset(struct weft_model *m);

/* w is copied, its data is borrowed. index < WEFT_N_WINDOWS, else ignored. */
void weft_model_set_window(struct weft_model *m, unsigned index,
			   const struct weft_model_window *w);

/* fn NULL: no log. */
void weft_model_set_log(struct weft_model *m, weft_model_log_fn fn, void *user);

/*
 * Execute one command. END does nothing.
 *
 * @return 0, or -EFAULT with *f filled (f may be NULL). What a faulting command
 *   should have written holds old or new bytes.
 */
int weft_model_exec(struct weft_model *m, const struct weft_cmd *c,
		    struct weft_model_fault *f);

/*
 * Decode and execute a whole stream up to END. *i_cmd (may be NULL) is the
 * index of the faulting command, or the count of commands before END.
 */
int weft_model_run(struct weft_model *m, const uint64_t *words, size_t n_words,
		   size_t *i_cmd, struct weft_model_fault *f);

/* sp_bytes bytes; valid until weft_model_free(). */
const uint8_t *weft_model_sp(const struct weft_model *m);

/* For tests: overwrite scratchpad bytes. Beyond the end is cut off. */
void weft_model_poke_sp(struct weft_model *m, uint32_t addr, const void *data, size_t len);

#ifdef __cplusplus
}
#endif
#endif

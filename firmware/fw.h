/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the firmware proper share; the boot ROM has none of it. */
#ifndef WEFT_FIRMWARE_FW_H
#define WEFT_FIRMWARE_FW_H

#include "chip.h"

/* Counters since start: the words of struct weft_msg_stats_reply that nobody else counts. */
struct stats {
	uint32_t jobs_ok, jobs_fault, jobs_deadline, jobs_cancelled, jobs_refused;
	uint32_t npu_resets, npu_hard_resets;
	uint32_t messages, messages_bad, link_resets;
};
extern struct stats stats;

/* log.c */
void log_init(bool keep);
void log_add(enum weft_log code, uint32_t a, uint32_t b);
uint32_t log_next(void);
void log_reply(uint32_t index);

/* npu.c: the NPU's registers and how to stop it. */
void npu_init(void);
/*
 * End the stream that runs; *forced says whether that took force. Returns false if the NPU does not answer any
 * more.
 */
bool npu_stop(bool *forced);
/* Windows and stream registers may hold anything: the next job sets all of them. */
void npu_forget(void);
void npu_start(const struct weft_msg_window *windows, uint32_t n_windows, uint32_t stream_base, uint32_t stream_words);
extern bool npu_dead;
/* Let REG_READ show the registers as they are now, until a job or REG_WRITE changes them. */
void npu_keep(void);
void npu_unkeep(void);
uint32_t npu_register(uint32_t offset);

/* client.c: whose card memory is. */
/*
 * Called once after a reset: closes card memory to the link. After power-on a new note of the client says that all memory
 * is clear. After another reset the old note stays if it is whole; otherwise a new one says that any memory may have been
 * written.
 */
void client_init(const struct boot_info *b);
/*
 * A HELLO of session `session` has come. If it is another session than before, or that has sent RELEASE, what
 * was left in card memory and scratchpad is cleared first; if the scratchpad cannot be cleared, the NPU counts
 * as dead until the next reset. Then card memory is open to the link.
 */
void client_hello(uint32_t session);
/* The link has been reset: card memory is closed to it until the next HELLO. */
void client_link_reset(void);
/*
 * Carries out the message RELEASE: ends the session, closes card memory to the link, answers, and then clears
 * what was written. Only if the link has said HELLO since its last reset, the message's word says how far it
 * wrote.
 */
void client_release(void);
/*
 * Notes that a job comes which may write card memory below address `end`, and lets REG_READ show running values
 * again.
 */
void client_job(uint32_t end);

/* jobs.c */
void jobs_submit(void);
void jobs_query(void);
void jobs_cancel(void);
void jobs_abort_all(void);
bool jobs_any(void);                   /* queued or running */
/* End and forget all. Returns how many were queued or running. */
uint32_t jobs_drop(void);
/* Let what runs end, start the next. True: something changed. */
void jobs_poll(void);
uint64_t jobs_deadline(void);          /* when the running job must end; all ones: never */
bool jobs_report(void);                /* send one DONE that is due, tx being free */

/* selftest.c */
void self_test(void);

#endif

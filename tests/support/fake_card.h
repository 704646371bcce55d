/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A card that means ill, behind a socket: usb-redir, frames and messages made by hand, so that each of
 * them can be wrong. Without a behaviour it is a plain and correct card, whose jobs run on the functional model.
 */
#ifndef WEFT_TESTS_FAKE_CARD_H
#define WEFT_TESTS_FAKE_CARD_H

#include <stdbool.h>
#include <sys/types.h>

/* Each one: its name, and whether the results of jobs may be wrong without that the driver can know. */
#define FAKE_BEHAVIOURS(X) \
	X(none, false) \
	/* right, but it looks at what came every fake_card_interval_ms only; any register counts how often it did */ \
	X(interval, false) \
	/* HELLO and ABORT_ALL */ \
	X(hello_never, false) X(hello_short, false) X(hello_error, false) X(hello_major, false) X(hello_rescue, false) \
	X(hello_config, false) X(hello_no_jobs, false) X(hello_reversed, false) X(hello_huge, false) X(hello_serial, false) \
	X(hello_reboots, false) X(hello_empty_forever, false) X(hello_type, false) X(hello_twice, false) X(hello_late, false) \
	X(abort_never, false) X(abort_error, false) \
	/* endpoint 0 */ \
	X(ctrl_never, false) X(ctrl_stall, false) X(ctrl_late, false) X(cancel_ignored, false) \
	/* WRITE */ \
	X(write_never, false) X(write_crc_forever, false) X(write_crc_once, false) X(write_fence, false) X(write_junk, false) \
	X(write_resync, false) X(ack_dup, false) X(ack_seq, false) X(ack_late, false) X(out_stall, false) X(out_short, false) \
	X(out_never, false) X(out_error, false) \
	/* SUBMIT */ \
	X(submit_never, false) X(submit_full, false) X(submit_full_once, false) X(submit_error, false) X(submit_job, false) \
	X(submit_type, false) X(submit_short, false) X(submit_dead, false) \
	/* DONE and CANCEL */ \
	X(done_never, false) X(done_silent, false) X(done_job, false) X(done_state, false) X(done_result, false) \
	X(done_short, false) X(done_dup, false) X(done_fault, false) X(done_forgotten, false) X(done_early, false) \
	X(done_twice, false) X(done_reboots, false) X(cancel_never, false) X(cancel_runs_on, false) X(job_lie, true) \
	/* READ */ \
	X(read_never, false) X(read_empty_forever, false) X(read_acks_forever, false) X(read_msgs_forever, false) \
	X(read_short, false) X(read_trunc, false) X(read_long, false) X(read_huge, false) X(read_addr, false) \
	X(read_crc_forever, false) X(read_crc_once, false) X(read_head, false) X(read_dup, false) X(read_ack, false) \
	X(read_reply, false) X(read_lie, true) X(read_stall, false) X(read_drip, false) X(read_two, false) X(read_seq, false) \
	/* the socket */ \
	X(sock_close, false) X(sock_half, false) X(sock_silent, false) X(sock_garbage, false) X(sock_length, false) \
	X(sock_id, false) X(sock_dup, false) X(sock_lie, false) X(sock_unplug, false) X(sock_flood, false) X(sock_stops, false) X(sock_others, false)

enum fake_behaviour {
#define FAKE_ENUM(name, lies) FAKE_##name,
	FAKE_BEHAVIOURS(FAKE_ENUM)
	FAKE_N
};

struct fake_info { const char *name; bool lies; };
extern const struct fake_info fake_infos[FAKE_N];

/** Milliseconds between two looks of FAKE_interval; cards that are started later take it. 1 at first. */
extern unsigned fake_card_interval_ms;

/** A process that serves one host after another at that path. @return its pid; end it with SIGKILL */
pid_t fake_card_start(const char *path, enum fake_behaviour b);

#endif

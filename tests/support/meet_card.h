/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cards that mean ill (fake_card.h) meet the calls of the driver, each pair in a process of its own: what crashes or hangs
 * does so there. The call ends within the bound that include/weft/dev.h states, and bytes that are taken for
 * a job's results are the job's results.
 */
#ifndef WEFT_TESTS_MEET_CARD_H
#define WEFT_TESTS_MEET_CARD_H

#include <stdbool.h>
#include <stddef.h>

#include <weft/dev.h>

#include "fake_card.h"
#include "random_stream.h"

enum call { WAIT_0, WAIT_LIMIT, WAIT_FOREVER, READ, WRITE, RUN, CLOSE, N_CALLS };
extern const char *const call_names[N_CALLS];

struct outcome {
	bool over, right, refused;             /* right bytes; an error instead */
	bool wrong, late;
	unsigned ms, bound_ms;                 /* of the slowest call in it */
	char what[WEFT_DEV_MSG];
};

/* How cards are reached. */
struct meet_way {
	unsigned timeout_ms, boot_ms, call_ms; /* as the driver's options have them */
	unsigned slack_ms;                     /* a busy machine's share of each call */
	int at_once;                           /* so many meetings at a time */
	bool (*meets)(int b, int call);        /* whether they do */
	/* In the process of a meeting: makes the card, and writes how weft_dev_options.usb names it. false: it cannot be made */
	bool (*come)(int b, char *usb, size_t len);
	void (*go)(void);                      /* it has been met */
};

struct tally { unsigned met, right, refused, lied, slowest; int bad; };

/* The job of all meetings; meet_setup() makes it. */
extern struct random_stream meet_stream;

/* For cmocka's groups. */
int meet_setup(void **state);
int meet_teardown(void **state);

/* All meetings. Prints those that went wrong, with WEFT_VERBOSE all of them. */
void meet_everybody(const struct meet_way *way, struct tally *t);

/* How that meeting went. */
const struct outcome *meet_outcome(int b, int call);

#endif

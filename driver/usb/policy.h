/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a card is waited for, and how often anything is tried again. All of the
 * driver's numbers of this kind are here; docs/card.md has them in a table.
 */
#ifndef WEFT_DRIVER_POLICY_H
#define WEFT_DRIVER_POLICY_H

#include <stdint.h>

#include <weft/dev.h>

struct weft_policy {
	/* Times. */
	uint64_t timeout_ns;       /* the oldest request is answered within so long and as long again for
	                            * each slow_bytes of it, or the link counts as broken */
	uint64_t slow_bytes;
	uint64_t boot_ns;          /* a chip that was reset may take so long before it answers */
	uint64_t call_ns;          /* a call without a time limit of its own takes, beside its bytes */
	uint64_t ask_ns;           /* a job that says nothing is asked after */
	uint64_t cancel_ns;        /* a job that is to end has ended on the card, or the card is reset */
	uint64_t pause_ns;         /* between two tries to put a card right */
	uint64_t recover_ns;       /* all such tries together, or the card is given up */
	uint64_t hello_ns;         /* opening: the link alone is tried for so long, then the chip is reset */
	/* Counts. */
	unsigned link_tries;       /* of the link, before the chip is reset, */
	unsigned chip_tries;       /* of the chip, before the card is given up */
	unsigned req_tries;        /* a request is sent */
	unsigned fence_tries;      /* of them refused by the fence of card memory, which firmware opens when it starts */
	unsigned job_repeats;      /* a job starts anew after the card forgot everything */
	unsigned job_troubles;     /* the card is put right while a job is on it, before that job is given up */
	unsigned full_tries;       /* an idle card says that its queue is full, before the job is given up */
};

/** The policy that options ask for; zeros there mean the defaults. */
struct weft_policy weft_policy_of(const struct weft_dev_options *o);

/** When a call that begins now and moves so many bytes is to be over. */
uint64_t weft_policy_call_until(const struct weft_policy *p, uint64_t bytes);

#endif

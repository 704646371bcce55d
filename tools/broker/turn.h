/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose turn it is on a card. Each client has a clock that advances by the cycles that its jobs keep the card busy;
 * the client whose clock is behind all others that want something is next. A client that wanted nothing for a
 * while does not save its turns: when it comes back its clock is set to the one that is furthest behind among those
 * that waited meanwhile. What a job will cost is not known when it starts, so it is charged with what the client's
 * last job cost, and put right at its end.
 */
#ifndef TOOLS_BROKER_TURN_H
#define TOOLS_BROKER_TURN_H

#include <stdbool.h>
#include <stdint.h>

struct turn_use {
	uint64_t clock;            /* cycles, with those that it is charged with */
	uint64_t charged;          /* cycles that it is charged with for jobs that have not ended */
	uint64_t cycles, jobs;     /* what it has had of the card */
	uint64_t last;             /* cycles of its last job */
	bool waiting;              /* it has jobs that have not ended */
};

/**
 * Note that the client has work again. Of the other clients' clocks without what they are charged with, `least` is the smallest of those that
 * have work, UINT64_MAX if none has, and `newest` the largest of all.
 */
void turn_come(struct turn_use *u, uint64_t least, uint64_t newest);

/** Charge the client for a job that starts. @return the cycles that it is charged with */
uint64_t turn_start(struct turn_use *u);

/** Put the charge right for a job that has ended after so many cycles; `charged` is what turn_start() returned for it. */
void turn_end(struct turn_use *u, uint64_t charged, uint64_t cycles);

#endif

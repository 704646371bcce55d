/* SPDX-License-Identifier: Apache-2.0 */
#include "turn.h"

void turn_come(struct turn_use *u, uint64_t least, uint64_t newest)
{
	const uint64_t from = least == UINT64_MAX ? newest : least;

	if (!u->waiting && u->clock < from)
		u->clock = from;
	u->waiting = true;
}

uint64_t turn_start(struct turn_use *u)
{
	/* Never nothing: two clients that are new take turns, too. */
	const uint64_t charge = u->last ? u->last : 1;

	u->clock += charge;
	u->charged += charge;
	return charge;
}

void turn_end(struct turn_use *u, uint64_t charged, uint64_t cycles)
{
	const uint64_t real = cycles ? cycles : 1;

	u->clock += real - charged;
	u->charged -= charged;
	u->last = real;
	u->cycles += cycles;
	u->jobs++;
}

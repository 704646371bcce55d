/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state in which registers and memories begin. Simulators that are built with
 * assertions (--x-initial unique) take it from a random number generator, with another seed
 * for every device that the process opens, in order: what fails fails again. In the others
 * everything begins at 0, whatever the seed.
 */
#ifndef WEFT_RTL_POWER_UP_H
#define WEFT_RTL_POWER_UP_H

#include <atomic>

#include "verilated.h"

inline void power_up_at_random(VerilatedContext &ctx)
{
	static std::atomic<int> n_opened{ 0 };

	ctx.randReset(2);
	ctx.randSeed(++n_opened);
	ctx.assertOn(false);         /* until reset_is_over() */
}

/* Every register that needs one has its value: from here on assertions hold. */
inline void reset_is_over(VerilatedContext &ctx)
{
	ctx.assertOn(true);
}

#endif

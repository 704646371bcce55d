/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Benches of the host link, of the NPU's registers, of resets and timers, and of the flash controller, each block by
 * itself. They return 0, or -1 and say in msg (WEFT_BLOCKS_MSG bytes) what went wrong. The
 * shared object's only exported symbol is weft_blocks_bench_api().
 */
#ifndef WEFT_RTL_BLOCKS_H
#define WEFT_RTL_BLOCKS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_BLOCKS_MSG 256

struct weft_blocks_bench_api {
	/* WRITE and READ at the edges of the fence, of the memory and of their lengths. */
	int (*link_edges)(char *msg);
	/* n WRITEs of random lengths to a memory that is slow to acknowledge; *most: the most bursts that waited. */
	int (*link_slow)(uint64_t seed, unsigned n, unsigned *most, char *msg);
	/* n messages of random words each way, of any length, the first ones of the greatest: words, numbers, checksums. */
	int (*link_messages)(uint64_t seed, unsigned n, char *msg);
	/* n cycles of random events and requests: every counter and both interrupts, against sums in C. */
	int (*registers)(uint64_t seed, unsigned n, char *msg);
	/* n requests for a reset, each one cycle long: how long it lasts, what caused it, that no timer is due behind it. */
	int (*resets)(uint64_t seed, unsigned n, char *msg);
	/*
	 * n selections of a flash whose second half is the chip's window, unlocked and locked, each with a random command and address:
	 * which bytes the flash sees. *passed and *refused: how many it saw, and did not see.
	 */
	int (*flash_window)(uint64_t seed, unsigned n, unsigned *passed, unsigned *refused, char *msg);
};

const struct weft_blocks_bench_api *weft_blocks_bench_api(void);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bench of the SDRAM controller against a model of the memory at its pins. It returns 0, or -1 and says in
 * msg (WEFT_BOARD_MSG bytes) what went wrong. The shared object's only exported symbol is
 * weft_board_bench_api().
 */
#ifndef WEFT_RTL_BOARD_H
#define WEFT_RTL_BOARD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_BOARD_MSG 256

struct weft_board_bench_api {
	/*
	 * n rounds of random bursts, reads beside writes; *cycles and *beats count. *outside of the bursts lie behind the last byte, where
	 * each beat has to be answered with an error and nothing may be written.
	 */
	int (*sdram)(uint64_t seed, unsigned n, uint64_t *cycles, uint64_t *beats, unsigned *outside, char *msg);
};

const struct weft_board_bench_api *weft_board_bench_api(void);

#ifdef __cplusplus
}
#endif
#endif

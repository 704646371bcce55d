/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Benches of the SDRAM controller and of the USB bridge, each against a model
 * of the chip at its pins. They return 0, or -1 and say in msg (WEFT_BOARD_MSG
 * bytes) what went wrong. The shared object's only exported symbol is
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
	/* n rounds of random bursts, reads beside writes; *cycles and *beats count. */
	int (*sdram)(uint64_t seed, unsigned n, uint64_t *cycles, uint64_t *beats, char *msg);
	/* n frames out, bytes in meanwhile. */
	int (*fx2)(uint64_t seed, unsigned n, uint64_t *cycles, uint64_t *bytes, char *msg);
};

const struct weft_board_bench_api *weft_board_bench_api(void);

#ifdef __cplusplus
}
#endif
#endif

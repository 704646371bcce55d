/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bench of the NPU with AXI ports (hw/top/weft_npu_axi.sv) at w8b. The NPU stands between a memory and a master of its
 * registers, which are slow at random on every channel. The bench is built twice: weft-soc.so without check bits in the
 * NPU's memories (Ecc = 0), weft-soc_ecc.so with them (Ecc = 1).
 */
#ifndef WEFT_RTL_SOC_H
#define WEFT_RTL_SOC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_SOC_MSG 256
#define WEFT_SOC_CHANNELS 10   /* AW, W, B, AR, R of the memory's port, then those of the registers' port */

/* What interrupts a stream. */
enum weft_soc_event {
	WEFT_SOC_NOTHING,        /* the stream runs to its end */
	WEFT_SOC_READ_ERROR,     /* the memory answers one beat of a read burst, and all later beats of that burst, with an error */
	WEFT_SOC_WRITE_ERROR,    /* the memory answers one write burst with an error */
	WEFT_SOC_RESET,          /* the master sets ctrl.reset */
	WEFT_SOC_HARD_RESET,     /* the NPU and the memory are reset */
	WEFT_SOC_EVENTS,
};

struct weft_soc_job {
	uint64_t seed;           /* of all delays and of all register accesses that the stream does not need */
	const uint64_t *words;   /* the stream */
	size_t n_words;
	uint8_t *data[3];        /* contents of windows 0 to 2; the NPU may write window 2 only */
	uint64_t len_bytes[3];   /* of these windows */
	enum weft_soc_event event;
	uint32_t at;             /* number of the beat (READ_ERROR) or of the burst (WRITE_ERROR), from 0; resets: cycles after the start */
	unsigned response;       /* of an error: 2 is SLVERR, 3 is DECERR */
	/*
	 * Which bits of memories change in most cycles, if the memories have check bits. No byte is changed twice in a run.
	 *   0  none
	 *   1  one bit of a byte, in the scratchpad or in a queue of commands
	 *   2  two bits of a byte in the scratchpad
	 *   3  two bits of a byte in a queue of commands
	 */
	unsigned flips;
};

/* What the runs of a bench counted together. Each run adds to the numbers; the caller clears them before the first run. */
struct weft_soc_counts {
	uint64_t cycles;
	uint64_t reads, writes;                  /* bursts of the NPU */
	uint64_t accesses;                       /* reads and writes of registers */
	uint64_t refused;                        /* writes of registers with one to three strobes, which are answered with SLVERR */
	uint64_t waits[WEFT_SOC_CHANNELS];       /* cycles in which valid was high and ready was low */
	uint64_t at_once[WEFT_SOC_CHANNELS];     /* transfers for which ready was high in the first cycle of valid */
	uint64_t events[WEFT_SOC_EVENTS];        /* events that came and that the registers reported; NOTHING: streams that ended */
	uint64_t fixed;                          /* words that the NPU corrected */
	uint64_t found[2];                       /* runs that ended with the fault ECC: of the scratchpad, of a queue of commands */
};

struct weft_soc_bench_api {
	/*
	 * Resets the NPU and runs a stream until its interrupt. If an event or a fault ECC ends the stream earlier, run
	 * judges what the registers report, clears window 2, and runs the stream once more without an event.
	 * Returns 0; or -1 if something is wrong, and msg (WEFT_SOC_MSG bytes) says what.
	 */
	int (*run)(const struct weft_soc_job *job, struct weft_soc_counts *counts, char *msg);
	/*
	 * The first steps of the bring-up list in docs/soc.md: registers, strobes, the interrupt of an empty stream.
	 * Returns as run does.
	 */
	int (*bring_up)(uint64_t seed, char *msg);
};

/* The functions of weft-soc.so and of weft-soc_ecc.so. */
const struct weft_soc_bench_api *weft_soc_bench_api(void);
const struct weft_soc_bench_api *weft_soc_ecc_bench_api(void);

#ifdef __cplusplus
}
#endif
#endif

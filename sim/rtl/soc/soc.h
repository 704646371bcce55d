/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bench of the NPU with AXI ports (hw/top/weft_npu_axi.sv) at w8b, between a memory and a bus
 * master that are slow at random on every channel. The shared object's only exported symbol is
 * weft_soc_bench_api().
 */
#ifndef WEFT_RTL_SOC_H
#define WEFT_RTL_SOC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_SOC_MSG 256
#define WEFT_SOC_CHANNELS 10   /* of both ports: AW, W, B, AR, R of the memory, then of the registers */

/* What happens in the middle of a stream. */
enum weft_soc_event {
	WEFT_SOC_NOTHING,
	WEFT_SOC_READ_ERROR,     /* a beat that is read, and all behind it in its burst, get an error */
	WEFT_SOC_WRITE_ERROR,    /* a burst that is written does */
	WEFT_SOC_RESET,          /* ctrl.reset is written */
	WEFT_SOC_HARD_RESET,     /* NPU and memory are reset */
	WEFT_SOC_EVENTS,
};

struct weft_soc_job {
	uint64_t seed;           /* of all delays and register accesses */
	const uint64_t *words;
	size_t n_words;
	uint8_t *data[3];        /* windows 0 to 2; only window 2 is written */
	uint64_t len_bytes[3];
	enum weft_soc_event event;
	uint32_t at;             /* errors: number of the beat or burst; resets: cycles behind the start */
	unsigned response;       /* errors: 2 SLVERR, 3 DECERR */
	/* With check bits: bits of memories are changed all the while. 1: one of a byte, of which none is
	 * changed twice; 2: two of a byte in the scratchpad; 3: of a command in a queue. */
	unsigned flips;
};

/* Sums over runs: the caller clears them. */
struct weft_soc_counts {
	uint64_t cycles, reads, writes;          /* bursts */
	uint64_t accesses, refused;              /* of registers; those with some strobes */
	uint64_t waits[WEFT_SOC_CHANNELS];       /* cycles in which something was offered and not taken */
	uint64_t before[WEFT_SOC_CHANNELS];      /* transfers that were taken when they were first offered */
	uint64_t events[WEFT_SOC_EVENTS];        /* that came, each of which the registers told */
	uint64_t fixed;                          /* words that were put right */
	uint64_t found[2];                       /* runs that two wrong bits stopped: in the scratchpad, in a queue */
};

struct weft_soc_bench_api {
	/*
	 * Runs a stream from reset to its interrupt. Where an event ends it before, what the
	 * registers say is judged, window 2 is cleared, and the stream runs once more without one.
	 * 0; or -1, and msg (WEFT_SOC_MSG bytes) says what went wrong.
	 */
	int (*run)(const struct weft_soc_job *job, struct weft_soc_counts *counts, char *msg);
	/* The first steps of docs/soc.md's bring-up list: registers, strobes, the interrupt of an empty stream. */
	int (*bring_up)(uint64_t seed, char *msg);
};

const struct weft_soc_bench_api *weft_soc_bench_api(void);
/* Of another shared object, weft-ecc.so: the same with check bits in its memories (Ecc = 1). */
const struct weft_soc_bench_api *weft_ecc_bench_api(void);

#ifdef __cplusplus
}
#endif
#endif

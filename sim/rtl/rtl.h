/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C interface of the Verilated NPU.
 *
 * One shared object holds one configuration; its only exported symbol is
 * weft_rtl_api(). The harness plays the bus: memory with a chosen bandwidth and
 * latency. It knows registers and the retirement pulses, nothing of programs.
 */
#ifndef WEFT_RTL_H
#define WEFT_RTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/dev.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_RTL_API_VERSION 9

enum weft_rtl_profile {
	WEFT_RTL_SRAM,   /* one bus word a cycle each way, latency 8 */
	WEFT_RTL_DDR,    /* half a bus word a cycle, both ways together, latency 100 */
};

/* What a step ended on. */
struct weft_rtl_event {
	uint32_t retired;   /* bit per unit: commands that retired in this cycle */
	bool irq;
	uint64_t cycle;     /* cycles since reset */
	const char *broken; /* the rule of AXI that the NPU broke on its memory port; NULL: none. Ends every step. */
};

/* Stuck-at-1 faults for tests; the names are those of hw's fault hooks. */
enum weft_rtl_plant_kind { WEFT_RTL_PLANT_NONE, WEFT_RTL_PLANT_PE, WEFT_RTL_PLANT_LANE, WEFT_RTL_PLANT_SP };

struct weft_rtl_plant {
	enum weft_rtl_plant_kind kind;
	uint32_t row, col;   /* PE */
	uint32_t lane;       /* LANE */
	uint32_t addr;       /* SP: byte address */
	uint32_t bit;        /* PE: of the accumulator; LANE: of the product; SP: of the byte */
};

/*
 * A place where the build with fault points can be disturbed: rows x cols elements of
 * so many bits. storage: it can also be read, as bridges and flips need.
 */
struct weft_rtl_point {
	const char *name;    /* path from the NPU's top: "u_post.s1_min_q" */
	uint32_t bits, rows, cols;
	bool storage;
};

enum weft_rtl_how {
	WEFT_RTL_STUCK0, WEFT_RTL_STUCK1,
	WEFT_RTL_AND, WEFT_RTL_OR,   /* bit and bit2 are wired together */
	WEFT_RTL_FLIP,               /* bit is inverted once, in that cycle */
};

struct weft_rtl_fault {
	enum weft_rtl_how how;
	uint32_t point, row, col, bit, bit2;
	uint64_t cycle;      /* FLIP: cycles since reset */
};

struct weft_rtl;

struct weft_rtl_api {
	uint32_t version;
	const char *config;

	/* NULL: out of memory. Comes out of reset. all_clocks: units' clocks never rest,
	 * which is slower and gives the same. */
	struct weft_rtl *(*open)(enum weft_rtl_profile profile, bool all_clocks);
	void (*close)(struct weft_rtl *r);

	/* Let bus addresses [addr, addr+len) be this memory; data stays the
	 * caller's and is accessed directly. len 0 unmaps. -ENOSPC: too many.
	 * Accesses elsewhere answer SLVERR. */
	int (*map)(struct weft_rtl *r, uint64_t addr, uint8_t *data, uint64_t len);

	void (*reg_write)(struct weft_rtl *r, uint32_t addr, uint32_t value);
	uint32_t (*reg_read)(struct weft_rtl *r, uint32_t addr);

	/* Run until something retires, the interrupt rises, a rule of AXI is broken or max_cycles pass.
	 * Returns cycles run. */
	uint64_t (*step)(struct weft_rtl *r, uint64_t max_cycles, struct weft_rtl_event *ev);

	void (*peek_sp)(struct weft_rtl *r, uint32_t addr, uint32_t len, uint8_t *out);
	void (*poke_sp)(struct weft_rtl *r, uint32_t addr, uint32_t len, const uint8_t *data);
	int (*plant)(struct weft_rtl *r, const struct weft_rtl_plant *p);

	/* Activation operand that PE(row, col) holds. 0 outside the array. */
	int32_t (*operand)(struct weft_rtl *r, uint32_t row, uint32_t col);

	/* Waveform to file (FST); NULL ends it, and the file is in its place then. 0, or the negative errno
	 * for which there is no waveform; -ENOTSUP: not built to record. */
	int (*wave)(struct weft_rtl *r, const char *file);
	uint64_t (*cycle)(struct weft_rtl *r);

	/* Be called in every cycle from a stream's start to its END; NULL: no more.
	 * -ENOTSUP: not built for it. */
	int (*sample)(struct weft_rtl *r, weft_sampler *fn, void *user);

	/* Fault points; none in the ordinary build. NULL takes a fault away. */
	const struct weft_rtl_point *(*points)(struct weft_rtl *r, uint32_t *n);
	int (*fault)(struct weft_rtl *r, const struct weft_rtl_fault *f);
};

const struct weft_rtl_api *weft_rtl_api(void);

#ifdef __cplusplus
}
#endif
#endif

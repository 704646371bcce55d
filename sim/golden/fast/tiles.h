/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of products of one tile: some output pixels by some output channels, which stay in registers
 * while the windows of the pixels pass by. Each kind of processor that has such a kernel has it in a
 * file of its own; all give the same sums, modulo 2^32.
 *
 * The window of a pixel is n_runs runs of `units` words of 4 bytes: 4 elements of 8 bits, or 2 of
 * 16. A word of the window meets a word of each channel's weights, and the products of their elements are
 * added to the channel's sum.
 */
#ifndef WEFT_GOLDEN_TILES_H
#define WEFT_GOLDEN_TILES_H

#include <stdbool.h>
#include <stdint.h>

#define TILE_PIXELS 8          /* pixels of a tile at most */

struct weft_tile {
	const uint8_t *x[TILE_PIXELS];   /* the windows' first bytes */
	int32_t *y[TILE_PIXELS];   /* where each pixel's sums go, from the first channel on; pixels that are not wanted share a
	                            * row that nobody reads */
	const int64_t *offset;     /* where each run begins, in bytes from the window's first */
	int64_t n_runs, units;
	const uint8_t *w;          /* [run][unit][lanes][4], lanes: the channels filled up to whole registers */
	const int32_t *start;      /* [lanes]: what sums begin with; NULL: with what y holds */
	int64_t channels;          /* sums that are written of each pixel */
};

/* What a processor can do. */
struct weft_tiling {
	int elem_bytes;            /* 1, for weights of zero point 0, or 2 */
	uint8_t flip;              /* elem_bytes 1: bits of x that are inverted, 0x80 where the kernel takes it as uint8 */
	int lanes;                 /* channels that a register holds */
	int registers;             /* registers of channels that a tile has at most */
	int64_t units;             /* so many words of a channel's weights should meet all pixels before the next ones do, so that
	                            * they stay in a cache; 0: no limit */
	int (*pixels)(int registers);    /* how many pixels a tile with that many registers has, at most TILE_PIXELS */
	void (*multiply)(const struct weft_tile *t, int registers);
};

/*
 * Returns the fastest tiling for this processor, or NULL if it has none; has_zero_point: the weights have a
 * zero point other than 0.
 */
const struct weft_tiling *weft_tiling(bool has_zero_point);

/* Returns the i-th of all tilings that this program has for this processor, NULL behind the last. For tests. */
const struct weft_tiling *weft_tiling_at(int i);

/* Each returns the tiling of its file; NULL where the processor or the compiler does not have its instructions. */
const struct weft_tiling *weft_tiling_vnni(void);
const struct weft_tiling *weft_tiling_avx2(void);
const struct weft_tiling *weft_tiling_neon(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop that all kernels of tiles share. Each defines the types SUMS (a register of sums), WEIGHTS (one
 * of a word of each channel's weights) and SAME (a word of the window for all lanes), and the functions
 *
 *   SUMS begin(tile, pixel, register), WEIGHTS load(w, register), SAME spread(x),
 *   SUMS add(SUMS, SAME, WEIGHTS), void end(tile, pixel, register, SUMS)
 *
 * Every sum is a variable of its own, since gcc keeps neither arrays nor structures in registers through
 * the loop. Comparisons of constants vanish.
 */
#ifndef WEFT_GOLDEN_TILES_LOOP_H
#define WEFT_GOLDEN_TILES_LOOP_H

#define DECLARE(p)     SUMS s##p##0, s##p##1, s##p##2, s##p##3;
#define BEGIN_(p, r)   if ((r) < n_registers) s##p##r = begin(t, p, r);
#define BEGIN(p)       if ((p) < n_pixels) { BEGIN_(p, 0) BEGIN_(p, 1) BEGIN_(p, 2) BEGIN_(p, 3) }
#define LOAD(r)        if ((r) < n_registers) w##r = load(at, r);
#define ADD_(p, r)     if ((r) < n_registers) s##p##r = add(s##p##r, x, w##r);
#define ADD(p)         if ((p) < n_pixels) { const SAME x = spread(t->x[p] + i); ADD_(p, 0) ADD_(p, 1) ADD_(p, 2) ADD_(p, 3) }
#define END_(p, r)     if ((r) < n_registers) end(t, p, r, s##p##r);
#define END(p)         if ((p) < n_pixels) { END_(p, 0) END_(p, 1) END_(p, 2) END_(p, 3) }
#define EACH_PIXEL(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)

/*
 * The body of a function of const struct weft_tile *t, const int n_pixels (at most TILE_PIXELS) and const int
 * n_registers (at most 4), which must be constants where it is inlined.
 */
#define MULTIPLY_TILE \
	const uint8_t *at = t->w; \
	EACH_PIXEL(DECLARE) \
 \
	EACH_PIXEL(BEGIN) \
	for (int64_t run = 0; run < t->n_runs; run++) { \
		const int64_t last = t->offset[run] + 4 * t->units; \
 \
		for (int64_t i = t->offset[run]; i < last; i += 4, at += 4 * LANES * n_registers) { \
			WEIGHTS w0, w1, w2, w3; \
 \
			LOAD(0) LOAD(1) LOAD(2) LOAD(3) \
			EACH_PIXEL(ADD) \
		} \
	} \
	EACH_PIXEL(END)

#endif

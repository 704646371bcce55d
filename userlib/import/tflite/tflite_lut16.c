/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of one int16. TensorFlow Lite makes a table of 513 entries with straight
 * lines between them; that is TOSA's TABLE and a RESCALE that rounds its seven bits of
 * fraction away.
 *
 * Entry i is the function at input_min + i * step, moved by half the error that
 * the line has in the middle of its interval; all in float32. TensorFlow Lite
 * keeps slopes in 16 bits, where they wrap, and TOSA's do not wrap: if one is too
 * steep for 16 bits, the function becomes a table of all 65536 values.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "tflite_lower.h"

#define STEPS 512
#define VALUES 65536

/* Returns v limited to the range of int16, its fraction cut off. */
static int16_t limited(float v)
{
	return (int16_t)fmaxf(-32768.0f, fminf(32767.0f, v));
}

/*
 * Fills table with STEPS + 1 points of function f of int16 values with scale x_scale, as int16 with
 * scale y_scale, as TFLite does: each point but the last is moved by half the error of the straight
 * line at the middle of its step.
 */
static void fill(const struct tfl_function *f, float x_scale, float y_scale, int16_t table[STEPS + 1])
{
	const float from = x_scale * -32768.0f, to = x_scale * 32767.0f, low = y_scale * -32768.0f, high = y_scale * 32767.0f;
	const float step = (to - from) / STEPS, half = step / 2, up = 65536.0f / (high - low);

	for (int i = 0; i < STEPS; i++) {
		const float at = roundf(f->of(f, from + (float)i * step) * up);
		const float next = f->of(f, from + (float)(i + 1) * step) * up;
		const float middle = roundf(f->of(f, from + (float)i * step + half) * up);
		const float line = roundf((next + at) / 2);

		table[i] = limited(at - roundf((line - middle) / 2));
	}
	table[STEPS] = limited(roundf(f->of(f, to) * up));
}

/* Says whether the difference of each two neighbouring points fits 16 bits, as TABLE demands. */
static bool is_gentle(const int16_t table[STEPS + 1])
{
	for (int i = 0; i < STEPS; i++)
		if (table[i + 1] - table[i] != (int16_t)(table[i + 1] - table[i]))
			return false;
	return true;
}

/*
 * Returns the value of the table's straight lines at int16 x, as TFLite computes it, with slopes
 * that wrap to 16 bits.
 */
static int16_t look_up(const int16_t table[STEPS + 1], int x)
{
	const int i = 256 + (x >> 7), slope = (int16_t)(table[i + 1] - table[i]);

	return (int16_t)(table[i] + ((slope * (x & 127) + 64) >> 7));
}

/*
 * Emits int16 values[x + 32768] for each element x of int16 tensor x, by GATHER; values, 65536 from
 * tfl_alloc(), are taken over. last: the result is the operator's own. Returns the graph tensor, or
 * a negative errno.
 */
int tfl_lookup_all(struct tfl_lower *l, int x, int16_t *values, bool last)
{
	weft_tensor t = l->g->tensors[x].t;
	int64_t n = weft_tensor_elements(&t), dim[3] = { 1, VALUES, 1 };
	int v = tfl_data(l, "values", WEFT_INT16, 3, dim, values), at = v < 0 ? v : tfl_widen(l, x, 0, 0);

	if (at >= 0)
		at = tfl_add_int(l, at, 32768, false);
	if (at >= 0)
		at = tfl_step(l, WEFT_OP_RESHAPE, NULL, &at, 1, WEFT_INT32, 2, (int64_t[]){ 1, n }, false);
	int y = at < 0 ? at : tfl_step(l, WEFT_OP_GATHER, NULL, (int[]){ v, at }, 2, WEFT_INT16, 3, (int64_t[]){ 1, n, 1 }, false);
	return y < 0 ? y : tfl_step(l, WEFT_OP_RESHAPE, NULL, &y, 1, WEFT_INT16, t.rank, t.dim, last);
}

/*
 * Emits the values of the table's straight lines for int16 x as the operator's result, with all
 * 65536 of them computed beforehand. Returns the result's tensor, or a negative errno.
 */
static int by_values(struct tfl_lower *l, int x, const int16_t table[STEPS + 1])
{
	int16_t *values = tfl_alloc(l, VALUES, sizeof *values);

	if (!values)
		return l->err;
	for (int i = 0; i < VALUES; i++)
		values[i] = look_up(table, i - 32768);
	return tfl_lookup_all(l, x, values, true);
}

/*
 * Emits function f of int16 x, with the scales of x and of the result, as the operator's result: a
 * TABLE and a RESCALE if the steps between points fit 16 bits, else a lookup of all 65536 values.
 * Returns the result's tensor, or a negative errno.
 */
int tfl_lut16(struct tfl_lower *l, int x, const struct tfl_function *f, float x_scale, float y_scale)
{
	struct tfl_factor seventh = { .multiplier = 1 << 30, .shift = 37 };
	struct tfl_rescale r = { .to = WEFT_INT16, .rounding = WEFT_SINGLE_ROUND, .n = 1, .f = &seventh };
	weft_tensor t = l->g->tensors[x].t;
	int64_t n = STEPS + 1;
	int16_t *table = tfl_alloc(l, n, sizeof *table);

	if (!table)
		return l->err;
	fill(f, x_scale, y_scale, table);
	if (!is_gentle(table)) {
		int y = by_values(l, x, table);
		free(table);
		return y;
	}
	int i = tfl_data(l, "table", WEFT_INT16, 1, &n, table);
	int y = i < 0 ? i : tfl_step(l, WEFT_OP_TABLE, NULL, (int[]){ x, i }, 2, WEFT_INT32, t.rank, t.dim, false);
	return y < 0 ? y : tfl_rescale(l, y, &r, true);
}

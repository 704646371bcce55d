/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the array in the modes int8 and int16x8, whose sums can be written to memory as they are,
 * without a RESCALE. Operands and sums take patterns in which every bit is 0 in some and 1 in
 * others, and differs from its neighbour in some.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userlib/diag/array.h"
#include "userlib/diag/ops.h"

struct array_conv *array_add(struct array_set *s, int k, int groups, int x_zp, int w_zp)
{
	struct array_conv *c = &s->conv[s->n_convs];

	if (s->n_convs == ARRAY_CONVS)
		abort();               /* the sets are constant, so this is a mistake in the source */
	*c = (struct array_conv){ k, groups, x_zp, w_zp, calloc((size_t)(groups * s->n * k), sizeof(*c->a)),
		calloc((size_t)(s->n * k), sizeof(*c->w)), 0 };
	s->n_convs++;
	if (!c->a || !c->w)
		s->failed = true;
	return s->failed ? NULL : c;
}

/* Frees the operands of all convolutions and sets s->n_convs to 0; s->failed stays. */
void array_free(struct array_set *s)
{
	for (int i = 0; i < s->n_convs; i++) {
		free(s->conv[i].a);
		free(s->conv[i].w);
	}
	s->n_convs = 0;
}

void array_fill_a(const struct array_set *s, struct array_conv *c, int group, int value)
{
	for (int i = 0; c && i < s->n * c->k; i++)
		c->a[group * s->n * c->k + i] = (int16_t)value;
}

void array_fill_w(const struct array_set *s, struct array_conv *c, int value)
{
	for (int i = 0; c && i < s->n * c->k; i++)
		c->w[i] = (int8_t)value;
}

void array_random(const struct array_set *s, struct array_conv *c, uint64_t *seed)
{
	for (int i = 0; c && i < c->groups * s->n * c->k; i++)
		c->a[i] = (int16_t)(s->mode ? (int16_t)diag_random(seed) : (int8_t)diag_random(seed));
	for (int i = 0; c && i < s->n * c->k; i++)
		c->w[i] = (int8_t)diag_random(seed);
}

int64_t array_sum(const struct array_set *s, const struct array_conv *c, const uint8_t *results, int group, int row, int col)
{
	int bytes = s->mode ? 8 : 4;
	const uint8_t *p = results + c->out + (size_t)(((group * s->n + row) * s->n + col) * bytes);
	uint64_t v = 0;

	for (int i = 0; i < bytes; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return s->mode ? (int64_t)v : (int32_t)v;
}

/* ---- to the device ---- */

/* Where in the scratchpad weights, parameter records and results lie; activations lie at address 0. */
static uint32_t at_weights(const struct weft_config *cfg) { return cfg->sp_bytes / 4; }
static uint32_t at_records(const struct weft_config *cfg) { return cfg->sp_bytes / 2 - 64 * cfg->n; }
static uint32_t at_results(const struct weft_config *cfg) { return cfg->sp_bytes / 2; }

/*
 * Writes c's weights to `to`, n * k bytes, in the order in which the array reads them: chunk by chunk
 * of n elements of the sum, and within a chunk n bytes for each channel.
 */
static void put_weights(uint8_t *to, const struct array_set *s, const struct array_conv *c)
{
	for (int chunk = 0; chunk < c->k / s->n; chunk++)
		for (int ch = 0; ch < s->n; ch++)
			for (int j = 0; j < s->n; j++)
				*to++ = (uint8_t)c->w[ch * c->k + chunk * s->n + j];
}

/*
 * Adds convolution c to the stream: loads of its activations and weights, the conv command with raw sums, and a store of the sums;
 * c->out becomes their offset in the arena. The parameter records must have been loaded. Returns 0 or -ENOMEM (st->failed says if the
 * stream itself ran out of memory).
 */
static int add_conv(struct diag_stream *st, const struct weft_config *cfg, const struct array_set *s, struct array_conv *c)
{
	int bytes = s->mode ? 2 : 1, n_a = c->groups * s->n * c->k, n_w = s->n * c->k;
	uint8_t *data = malloc((size_t)(n_a * bytes + n_w));

	if (!data)
		return -ENOMEM;
	for (int i = 0; i < n_a; i++) {
		data[i * bytes] = (uint8_t)c->a[i];
		if (bytes == 2)
			data[i * 2 + 1] = (uint8_t)((uint16_t)c->a[i] >> 8);
	}
	put_weights(data + n_a * bytes, s, c);
	diag_put(st, 0, data, (size_t)(n_a * bytes));
	diag_put(st, at_weights(cfg), data + n_a * bytes, (size_t)n_w);
	free(data);
	struct weft_cmd cmd = diag_conv(cfg, 0, at_weights(cfg), at_records(cfg), at_results(cfg), s->mode, c->groups * s->n, (uint32_t)(c->k * bytes));
	cmd.conv.x_zp = c->x_zp;
	cmd.conv.w_zp = c->w_zp;
	diag_raw(&cmd);
	diag_add(st, &cmd);
	c->out = diag_store(st, at_results(cfg), (uint32_t)(c->groups * s->n * s->n * (s->mode ? 8 : 4)));
	return 0;
}

/*
 * Runs all convolutions of the set in one stream on the device, and reports with diag_stopped() that
 * the stream does not end, or with array_judge() which sums differ from the model's. mode names the
 * arithmetic in messages. Frees the set's operands. Returns 0 whatever it found; -ENOMEM, also if
 * s->failed is set; or another negative errno as diag_exec().
 */
static int run(struct weft_diag *d, struct array_set *s, const char *mode)
{
	struct diag_stream st = { 0 };
	struct diag_out out = { 0 };
	int err = s->failed ? -ENOMEM : 0;

	diag_params(&st, at_records(d->cfg), d->cfg->n, 1 << 30, 30, 0);
	for (int i = 0; i < s->n_convs && !err; i++)
		err = add_conv(&st, d->cfg, s, &s->conv[i]);
	if (err)
		diag_stream_free(&st);
	else
		err = diag_exec(d, &st, &out);
	if (err == DIAG_STOPPED)
		diag_stopped(d, &out, mode, NULL);
	if (err == DIAG_RAN)
		err = array_judge(d, s, &out, mode);
	diag_out_free(&out);
	array_free(s);
	return err < 0 ? err : 0;
}

/* ---- patterns ---- */

/*
 * Adds a convolution of k products a sum in which all activations are a and all weights are w, so that
 * the running sum grows by (a - x_zp) * (w - w_zp) at each step: with 1 it counts through the low bits,
 * with a power of two through higher ones.
 */
static void counting(struct array_set *s, int k, int a, int x_zp, int w, int w_zp)
{
	struct array_conv *c = array_add(s, k, 1, x_zp, w_zp);

	array_fill_a(s, c, 0, a);
	array_fill_w(s, c, w);
}

/*
 * Adds two convolutions with one group of pixels for each of the n_values activations, with weights of
 * 1: in the first all elements of a group have that value; in the second too, but only the first weight
 * of each channel is 1 and the others are 0. Then two convolutions for each of the n_weights weights,
 * which all weights have: with all activations 1, and with 1 only in the first element of each sum.
 */
static void walking(struct array_set *s, const int *values, int n_values, const int *weights, int n_weights)
{
	/* First all elements of a sum count, then (hot) only the first one. */
	for (int hot = 0; hot < 2; hot++) {
		struct array_conv *c = array_add(s, s->n, n_values, 0, 0);
		array_fill_w(s, c, !hot);
		for (int ch = 0; c && hot && ch < s->n; ch++)
			c->w[ch * c->k] = 1;
		for (int g = 0; g < n_values; g++)
			array_fill_a(s, c, g, values[g]);
	}
	for (int hot = 0; hot < 2; hot++)
		for (int i = 0; i < n_weights; i++) {
			struct array_conv *c = array_add(s, s->n, 1, 0, 0);
			array_fill_w(s, c, weights[i]);
			array_fill_a(s, c, 0, !hot);
			for (int r = 0; c && hot && r < s->n; r++)
				c->a[r * c->k] = 1;
		}
}

/* ---- column tiles in pairs ---- */

enum { PAIRS_CONVS = 12 };

/* One convolution of column tiles in pairs: its channels, bytes of a sum, and where its sums lie in the arena, in bytes. */
struct pairs_conv { uint32_t channels, elem; size_t out, bytes; };

/*
 * Adds a convolution of two or three column tiles to the stream, with random operands and zero points, and describes it in *c. The
 * first two tiles run as a pair; if there is a third tile, it runs alone. The caller must have loaded the parameter records. If memory
 * is out, the function sets st->failed.
 */
static void add_pairs(struct diag_stream *st, const struct weft_config *cfg, int mode, uint64_t *seed, struct pairs_conv *c)
{
	const uint32_t n = cfg->n, tiles = 2 + (uint32_t)(diag_random(seed) & 1), chunks = 1 + (uint32_t)(diag_random(seed) % 4);
	const uint32_t pixels = 1 + (uint32_t)(diag_random(seed) % (2 * n)), run_len = chunks * n * diag_in_bytes(mode);
	const uint32_t n_a = pixels * run_len, n_w = tiles * chunks * n * n;
	uint8_t *data = malloc(n_a + n_w);

	if (!data) {
		st->failed = true;
		return;
	}
	for (uint32_t i = 0; i < n_a + n_w; i++)
		data[i] = (uint8_t)diag_random(seed);
	diag_put(st, 0, data, n_a);
	diag_put(st, at_weights(cfg), data + n_a, n_w);
	free(data);
	struct weft_cmd cmd = diag_conv(cfg, 0, at_weights(cfg), at_records(cfg), at_results(cfg), mode, (int)pixels, run_len);
	cmd.conv.pairs = 1;
	cmd.conv.x_zp = mode ? 0 : (int8_t)diag_random(seed);
	cmd.conv.w_zp = (int8_t)diag_random(seed);
	cmd.conv.post.oc = (int32_t)(tiles * n);
	diag_raw(&cmd);
	diag_add(st, &cmd);
	const uint32_t elem = mode ? 8 : 4;
	*c = (struct pairs_conv){ tiles * n, elem, 0, (size_t)pixels * tiles * n * elem };
	c->out = diag_store(st, at_results(cfg), (uint32_t)c->bytes);
}

/* Reports the first byte of the convolution that is not the model's. Returns whether there is one. */
static bool judge_pairs(struct weft_diag *d, const struct pairs_conv *c, const struct diag_out *out, const char *words)
{
	const uint8_t *got = out->got + c->out, *want = out->want + c->out;
	struct diag_place place = DIAG_NOWHERE;
	size_t at = 0;

	while (at < c->bytes && got[at] == want[at])
		at++;
	if (at == c->bytes)
		return false;
	const uint32_t channel = (uint32_t)(at / c->elem % c->channels), n = d->cfg->n;
	place.col = (int)(channel % n);
	diag_find(d, "DIAG-ARRAY-9", place,
	          "column tiles in pairs, %s: pixel %zu, channel %u, tile %u of %u: byte %zu of the sum is 0x%02x, not 0x%02x; one tile at a time is right", words,
	          at / c->elem / c->channels, channel, channel / n, c->channels / n, at % c->elem, got[at], want[at]);
	return true;
}

/*
 * Runs PAIRS_CONVS convolutions of column tiles in pairs in this mode, with their sums written as they are, and reports the first
 * convolution whose sums are not the model's as DIAG-ARRAY-9. Does nothing if the configuration has no pairs or the test has failed
 * already. Returns 0 whatever it found, or a negative errno as
 * diag_exec().
 */
static int pairs(struct weft_diag *d, int mode, const char *words)
{
	struct pairs_conv conv[PAIRS_CONVS] = { { 0 } };
	struct diag_stream st = { 0 };
	struct diag_out out = { 0 };
	uint64_t seed = 0x13579bdf;

	if (!d->cfg->has_pairs || d->r->state != WEFT_DIAG_PASSED)
		return 0;
	diag_params(&st, at_records(d->cfg), 3 * d->cfg->n, 1 << 30, 30, 0);
	for (int i = 0; i < PAIRS_CONVS; i++)
		add_pairs(&st, d->cfg, mode, &seed, &conv[i]);
	int err = diag_exec(d, &st, &out);
	if (err == DIAG_STOPPED)
		diag_stopped(d, &out, "column tiles in pairs", "DIAG-RUN-4");
	for (int i = 0; err == DIAG_RAN && i < PAIRS_CONVS && !judge_pairs(d, &conv[i], &out, words);)
		i++;
	diag_out_free(&out);
	return err < 0 ? err : 0;
}

static const int weights[] = { 0, -1, 0x55, -86, 1, 2, 4, 8, 16, 32, 64, -128, 127 };

/*
 * Test array-int8: every PE in int8, with operands that walk through their bits, random ones with zero points at
 * both ends, and sums that grow in equal steps with each product; then column tiles in pairs. Findings go to d->r; absent if the
 * configuration cannot write raw sums. Returns 0 whatever it found, or a negative errno as diag_exec().
 */
int diag_array_int8(struct weft_diag *d)
{
	static const int values[] = { 0, -1, 0x55, -86, 1, 2, 4, 8, 16, 32, 64, -128, 127 };
	struct array_set s = { .n = (int)d->cfg->n, .mode = WEFT_POST_MODE_INT8, .acc_bits = 32, .a_bits = d->cfg->has_int16 ? 16 : 9 };
	uint64_t seed = 0x8899aabb;

	if (!d->cfg->has_raw) {
		diag_absent(d, "this configuration does not write sums as they are (feature raw)");
		return 0;
	}
	walking(&s, values, sizeof(values) / sizeof(values[0]), weights, sizeof(weights) / sizeof(weights[0]));
	/* Differences to the zero points that need nine bits: 255, -255, and in between. */
	for (int i = 0; i < 4; i++) {
		struct array_conv *c = array_add(&s, 4 * s.n, 2, i & 1 ? 127 : -128, i & 2 ? 127 : -128);
		array_random(&s, c, &seed);
		if (c)
			c->a[0] = c->w[0] = i & 1 ? -128 : 127;
	}
	counting(&s, 256, 1, 0, 1, 0);
	counting(&s, 256, 16, 0, 8, 0);
	counting(&s, 256, 0, -128, 0, -128);
	counting(&s, 256, 0, -128, 0, 127);
	int err = run(d, &s, "int8");
	return err ? err : pairs(d, WEFT_POST_MODE_INT8, "int8");
}

/*
 * Test array-int16: every PE in int16 by int8, with operands that walk through their bits, random ones, and sums
 * that grow in equal steps with each product, up to the upper of the 48 bits; then column tiles in pairs. Findings go to d->r; absent if the
 * configuration has no int16x8 or cannot write raw sums. Returns 0 whatever it found, or a negative errno as
 * diag_exec().
 */
int diag_array_int16(struct weft_diag *d)
{
	static const int values[] = { 0, -1, 0x5555, -21846, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384,
		-32768, 32767 };
	struct array_set s = { .n = (int)d->cfg->n, .mode = WEFT_POST_MODE_INT16, .acc_bits = 48, .a_bits = 16 };
	uint64_t seed = 0x778899;

	if (!d->cfg->has_raw || !d->cfg->has_int16) {
		diag_absent(d, d->cfg->has_int16 ? "this configuration does not write sums as they are (feature raw)"
		                                 : "this configuration has no int16x8");
		return 0;
	}
	walking(&s, values, sizeof(values) / sizeof(values[0]), weights, sizeof(weights) / sizeof(weights[0]));
	for (int i = 0; i < 4; i++) {
		struct array_conv *c = array_add(&s, 4 * s.n, 2, 0, i & 2 ? 127 : -128);
		array_random(&s, c, &seed);
	}
	counting(&s, 256, 1, 0, 1, 0);
	counting(&s, 256, 256, 0, 1, 0);
	counting(&s, 256, 4096, 0, 8, 0);
	counting(&s, 1024, -32768, 0, -128, 0);
	counting(&s, 1024, -32768, 0, 127, -128);
	counting(&s, 1024, 32767, 0, -128, 127);
	int err = run(d, &s, "int16x8");
	return err ? err : pairs(d, WEFT_POST_MODE_INT16, "int16x8");
}

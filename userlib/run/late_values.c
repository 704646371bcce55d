/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that a program needs but only the run knows: log2_scale of float8 convolutions, and
 * weights that are a tensor of the network.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "weft/gen/cmd.h"

/*
 * Writes *value into the field log2_scale of the conv command at word p->word of s->words, the
 * session's own. Returns 0; or -EINVAL with one line in s->error, and the words unchanged, if the value
 * lies outside -32..31 or there is no conv.
 */
static int set_scale(weft_session *s, const struct weft_pscale *p, const int32_t *value)
{
	uint64_t *at = s->words + p->word;
	struct weft_cmd c;

	if (*value < -32 || *value > 31) {
		snprintf(s->error, WEFT_MSG_LEN, "\"%.80s\": log2_scale %d, must be -32..31", s->net->g->tensors[p->tensor].name,
		         (int)*value);
		return -EINVAL;
	}
	if (weft_cmd_decode(at, s->p->n_words - p->word, &c) || c.h.op != WEFT_CMD_CONV) {
		snprintf(s->error, WEFT_MSG_LEN, "the program has a scale for what is no convolution");
		return -EINVAL;
	}
	c.conv.log2_scale = *value;
	weft_cmd_encode(&c, at);
	return 0;
}

/*
 * Says whether a type has -0 (the FNUZ types have not). The array does not take -0 as a product; +0,
 * which is put in its place, adds the same.
 */
static bool minus_zero_is_a_value(weft_dtype t)
{
	return t == WEFT_FP8E4M3 || t == WEFT_FP8E5M2;
}

/*
 * Packs the matrix w of p->k rows and p->cols columns of bytes into `to`, which holds zeros and has
 * room for both rounded up to n, in the array's order of weights: for each n columns, for each n rows,
 * column by column n bytes; 0 where there is no element, and +0 for -0 if the type has a -0.
 * userlib/compile/lower/pack_weights.c does the same with constants.
 */
static void pack(const struct weft_ppack *p, const weft_tensor *w, uint32_t n, uint8_t *to)
{
	const uint8_t *from = w->data;
	bool zero = minus_zero_is_a_value(w->dtype);

	for (uint32_t t = 0; t < p->cols; t += n)
		for (uint32_t q = 0; q < p->k; q += n)
			for (uint32_t c = t; c < t + n; c++)
				for (uint32_t k = q; k < q + n; k++, to++) {
					if (c >= p->cols || k >= p->k)
						continue;
					*to = from[(size_t)k * p->cols + c];
					if (zero && *to == 0x80)
						*to = 0;
				}
}

/*
 * Packs tensor w, whose values the host has, in the array's order of weights and writes it to its place
 * p->offset in the device's arena. Returns 0, -ENOMEM or the errno of weft_buf_write().
 */
static int write_pack(weft_session *s, const struct weft_ppack *p, const weft_tensor *w)
{
	uint32_t n = s->cfg->n;
	size_t bytes = ((size_t)p->cols + n - 1) / n * (((size_t)p->k + n - 1) / n) * n * n;
	uint8_t *b = calloc(1, bytes);

	if (!b)
		return -ENOMEM;
	pack(p, w, n, b);
	int err = weft_buf_write(s->arena, p->offset, b, bytes);
	free(b);
	return err;
}

/*
 * Gives the session its own copy of all streams, s->words, unless it has one, so that fields in them
 * can change. Returns 0 or -ENOMEM.
 */
static int own_words(weft_session *s)
{
	if (s->words)
		return 0;
	s->words = malloc(((size_t)s->p->n_words + 1) * sizeof(*s->words));
	if (!s->words)
		return -ENOMEM;
	memcpy(s->words, s->p->words, (size_t)s->p->n_words * sizeof(*s->words));
	return 0;
}

/*
 * Gives a step what only the run knows, before the step runs: values of log2_scale into the commands of
 * the session's own words (which are made if the program has any such value, in whatever step), and
 * packed weights into the arena. Operands that lie on the device are fetched. Returns 0; -EINVAL with a
 * line in s->error for a bad value; -ENOMEM; or the device's negative errno.
 */
int weft_session_late(weft_session *s, int step)
{
	const weft_program *p = s->p;
	int err = p->n_scales ? own_words(s) : 0;

	for (int i = 0; i < p->n_scales && !err; i++) {
		if (p->scales[i].step != step)
			continue;
		const weft_tensor *t = weft_session_tensor(s, p->scales[i].tensor, &err);
		if (!err)
			err = set_scale(s, &p->scales[i], t->data);
	}
	for (int i = 0; i < p->n_packs && !err; i++) {
		if (p->packs[i].step != step)
			continue;
		const weft_tensor *t = weft_session_tensor(s, p->packs[i].tensor, &err);
		if (!err)
			err = write_pack(s, &p->packs[i], t);
	}
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program gets to know when it runs: log2_scale of float8 convolutions,
 * and weights that are a tensor.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "weft/gen/cmd.h"

/*
 * Writes a log2_scale that has become known into the field of its conv command. Values outside
 * -32..31 are refused.
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

/* -0 is no product to the array where it is a value at all; it adds what +0 adds. */
static bool minus_zero_is_a_value(weft_dtype t)
{
	return t == WEFT_FP8E4M3 || t == WEFT_FP8E5M2;
}

/*
 * Packs a matrix of k rows and cols columns in the array's order of weights, as
 * userlib/compile/lower/pack_weights.c does with constants.
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

/* Packs weights that are a tensor in the array's order and writes them to their place in the arena. */
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

/* Gives the session a copy of the stream of its own, before a field in it changes. */
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
 * Gives the step what is only known in the run: values of log2_scale into its commands, packed
 * weights into the arena. Returns 0 or a negative errno with a line in the session's message.
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

/* SPDX-License-Identifier: Apache-2.0 */
/* load: a strided block from memory to the scratchpad. */
#include <errno.h>

#include "state.h"

/* Two elements a byte, the first in the low half. */
static int load_int4(struct weft_model *m, uint32_t sp, const uint8_t *from, uint32_t n)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < n; i++) {
		uint8_t half = i & 1 ? from[i / 2] >> 4 : from[i / 2] & 15;
		uint8_t wide = half & 8 ? half | 0xf0 : half;

		ret = model_write(m, (sp + i) & SP_ADDR_MASK, &wide, 1);
	}
	return ret;
}

/* A stream of units of n bits that memory holds in len bytes; behind these, units are zero. n is a multiple of 8. */
struct units {
	const uint8_t *from;
	uint64_t len, at;      /* bytes of it, and where the next unit begins */
	uint32_t n;
	uint8_t centre;        /* added to each byte that they make */
};

static uint8_t unit_byte(const struct units *u, uint64_t at)
{
	return at < u->len ? u->from[at] : 0;
}

/* The width of word i of those whose widths begin at byte `at`: four bits, of which a value above 8 counts as 8. */
static unsigned width(const struct units *u, uint64_t at, uint32_t i)
{
	unsigned w = unit_byte(u, at + i / 2) >> 4 * (i & 1) & 15;

	return w < 8 ? w : 8;
}

/* Makes a word of n bytes of the next `bits` units: bit i of the b-th unit is bit b of byte i, and bytes are sign extended. */
static void decode_word(struct units *u, unsigned bits, uint8_t *word)
{
	for (uint32_t i = 0; i < u->n; i++) {
		unsigned v = 0;

		for (unsigned b = 0; b < bits; b++)
			v |= (unsigned)(unit_byte(u, u->at + b * u->n / 8 + i / 8) >> i % 8 & 1) << b;
		if (bits && bits < 8 && v >> (bits - 1) & 1)
			v |= 0xffu << bits;
		word[i] = (uint8_t)(v + u->centre);
	}
	u->at += bits * u->n / 8;
}

/* Decodes a row, which becomes `bytes` bytes from scratchpad address sp on. */
static int load_coded(struct weft_model *m, uint32_t sp, struct units u, uint32_t bytes)
{
	uint8_t word[LANES_MAX];
	uint64_t widths = 0;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < bytes / u.n; i++) {
		if (i % (2 * u.n) == 0) {
			widths = u.at;
			u.at += u.n;
		}
		decode_word(&u, width(&u, widths, i % (2 * u.n)), word);
		ret = model_write(m, (sp + i * u.n) & SP_ADDR_MASK, word, u.n);
	}
	return ret;
}

static int load_row(struct weft_model *m, const struct weft_cmd_load *c, uint32_t sp, int64_t off)
{
	const struct weft_model_window *w = &m->win[c->window];
	uint64_t len = c->coded ? (uint64_t)c->coded * m->n : c->int4 ? ((uint64_t)c->row_bytes + 1) / 2 : (uint64_t)c->row_bytes;

	if (!w->rd || off < 0 || (uint64_t)off > w->size || w->size - (uint64_t)off < len)
		return model_fault(m, WEFT_FAULT_WINDOW, (uint64_t)off);
	if (c->coded)
		return load_coded(m, sp, (struct units){ w->data + off, len, 0, m->n, (uint8_t)c->centre }, (uint32_t)c->row_bytes);
	return c->int4 ? load_int4(m, sp, w->data + off, (uint32_t)c->row_bytes)
		       : model_write(m, sp, w->data + off, (uint32_t)len);
}

int model_rows(struct weft_model *m, const struct weft_cmd_load *c, model_row *row)
{
	for (int64_t i3 = 0; i3 < c->n3; i3++)
	for (int64_t i2 = 0; i2 < c->n2; i2++)
	for (int64_t i1 = 0; i1 < c->n1; i1++) {
		/* Below 2^53 in size: 16-bit counts times 32-bit strides. */
		int64_t off = c->dram_off + i1 * c->dram_stride1 + i2 * c->dram_stride2 +
			      i3 * c->dram_stride3;
		int64_t sp = c->sp_addr + i1 * c->sp_stride1 + i2 * c->sp_stride2 +
			     i3 * c->sp_stride3;
		int ret = row(m, c, (uint32_t)sp & SP_ADDR_MASK, off);

		if (ret)
			return ret;
	}
	return 0;
}

int model_load(struct weft_model *m, const struct weft_cmd_load *c)
{
	return model_rows(m, c, load_row);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All bytes of a box: rows that each repeat the same pattern of bytes.
 *
 * The address of a byte is base + row + column + its place in the item, modulo
 * 2^20. First the columns of a row are gathered into disjoint spans, then every
 * distinct row uses them once, however often kernels come back to it.
 */
#include <errno.h>
#include <string.h>

#include "verify_state.h"

/* Visit the items of an axis that lie inside its limit. */
#define AXIS_EACH(a, i, j, coord) \
	for (uint32_t i = 0; i < (a)->n1; i++) \
		for (uint32_t j = 0; j < (a)->n2; j++) \
			for (int64_t coord = (a)->c0 + i * (a)->c1 + j * (a)->c2, once = 1; \
			     once && (!(a)->limit || (coord >= 0 && coord < (a)->limit)); once = 0)

struct bit_range {
	uint32_t lo, hi;        /* words of the bitmap that may be set */
};

static uint64_t mask(uint32_t from, uint32_t len)
{
	return (len == 64 ? ~UINT64_C(0) : (UINT64_C(1) << len) - 1) << from;
}

static void set_bits(uint64_t *map, struct bit_range *r, uint32_t at, uint32_t len)
{
	while (len) {
		uint32_t room = 64 - at % 64, piece = len < room ? len : room, word = at / 64;

		map[word] |= mask(at % 64, piece);
		r->lo = word < r->lo ? word : r->lo;
		r->hi = word > r->hi ? word : r->hi;
		at = (at + piece) & SP_MASK;
		len -= piece;
	}
}

static void add_span(uint32_t *spans, uint32_t *n, uint32_t from, uint32_t to, uint64_t *bytes)
{
	if (*n < SPANS_MAX) {
		spans[2 * *n] = from;
		spans[2 * *n + 1] = to - from;
	}
	++*n;
	*bytes += to - from;
}

/* Turn the bitmap into spans and clear it. Those beyond SPANS_MAX only count. */
static uint32_t take_spans(uint64_t *map, const struct bit_range *r, uint32_t *spans, uint64_t *bytes)
{
	uint32_t n = 0, open = SP_SIZE;

	*bytes = 0;
	if (r->lo > r->hi)
		return 0;
	for (uint32_t w = r->lo; w <= r->hi; w++) {
		uint64_t bits = map[w];
		uint32_t at = 0;

		map[w] = 0;
		while (at < 64) {
			/* Up to the next bit that begins or ends a span. */
			uint64_t rest = (open == SP_SIZE ? bits : ~bits) >> at;

			if (!rest)
				break;
			at += (uint32_t)__builtin_ctzll(rest);
			if (open == SP_SIZE) {
				open = w * 64 + at;
			} else {
				add_span(spans, &n, open, w * 64 + at, bytes);
				open = SP_SIZE;
			}
		}
	}
	if (open != SP_SIZE)
		add_span(spans, &n, open, (r->hi + 1) * 64, bytes);
	return n;
}

/* One joined piece of a row into the bitmap. */
static void put_piece(struct verify *v, struct bit_range *r, int64_t begin, int64_t end)
{
	if (end > begin)
		set_bits(v->columns, r, (uint32_t)begin & SP_MASK,
			 end - begin < SP_SIZE ? (uint32_t)(end - begin) : SP_SIZE);
}

/*
 * The spans of a row. *items counts the bytes with repetition, *bytes without.
 * Neighbouring items are joined before they reach the bitmap.
 */
static uint32_t gather(struct verify *v, const struct box *b, uint64_t *items, uint64_t *bytes)
{
	struct bit_range r = {SP_SIZE / 64, 0};
	int64_t begin = 0, end = 0;

	*items = 0;
	AXIS_EACH(&b->x, i, j, coord) {
		int64_t at = i * b->x.a1 + j * b->x.a2, to = at + b->len;

		if (b->clip_limit) {
			/* Address and coordinate both count bytes. */
			to = coord + b->len > b->clip_limit ? to - (coord + b->len - b->clip_limit) : to;
			at = coord < 0 ? at - coord : at;
			if (at >= to)
				continue;
		}
		*items += (uint64_t)(to - at);
		if (at <= end && at >= begin && end > begin) {
			end = to > end ? to : end;
			continue;
		}
		put_piece(v, &r, begin, end);
		begin = at;
		end = to;
	}
	put_piece(v, &r, begin, end);
	return take_spans(v->columns, &r, v->spans, bytes);
}

static int use_row(struct verify *v, const struct box *b, uint32_t row, uint32_t n_spans)
{
	for (uint32_t s = 0; s < n_spans; s++) {
		uint32_t at = (b->base + row + v->spans[2 * s]) & SP_MASK;
		int ret = verify_sp_use(v, b->use, b->object, at, v->spans[2 * s + 1]);

		if (ret)
			return ret;
	}
	return 0;
}

static int use_rows(struct verify *v, const struct box *b, uint32_t n_spans, uint64_t bytes)
{
	AXIS_EACH(&b->y, i, j, coord) {
		uint32_t row = (uint32_t)(i * b->y.a1 + j * b->y.a2) & SP_MASK;
		uint64_t bit = UINT64_C(1) << row % 64;
		int ret;

		if (v->rows[row / 64] & bit) {
			if (b->use == USE_WRITE)
				return verify_fail(v, WEFT_VERIFY_OVERLAP_SELF, "%s 0x%x is written twice",
						   b->object, (b->base + row) & SP_MASK);
			continue;
		}
		v->rows[row / 64] |= bit;
		/* A span costs about as much as eight items. */
		ret = verify_work(v, 8 * (uint64_t)n_spans + bytes / 16);
		if (!ret)
			ret = use_row(v, b, row, n_spans);
		if (ret)
			return ret;
	}
	return 0;
}

static void forget_rows(struct verify *v, const struct box *b)
{
	AXIS_EACH(&b->y, i, j, coord)
		v->rows[((uint32_t)(i * b->y.a1 + j * b->y.a2) & SP_MASK) / 64] = 0;
}

int verify_box(struct verify *v, const struct box *b)
{
	uint64_t items, bytes;
	uint32_t n_spans;
	int ret = verify_work(v, (uint64_t)b->x.n1 * b->x.n2 + 2 * (uint64_t)b->y.n1 * b->y.n2);

	if (ret)
		return ret;
	n_spans = gather(v, b, &items, &bytes);
	if (n_spans > SPANS_MAX)
		return verify_fail(v, WEFT_VERIFY_TOO_LARGE, "%s pieces of a row %u > %u", b->object,
				   n_spans, SPANS_MAX);
	if (b->use == USE_WRITE && items != bytes)
		return verify_fail(v, WEFT_VERIFY_OVERLAP_SELF, "%s pixels of %u bytes overlap", b->object, b->len);
	/* USE_WRITE_ORDERED may come back to a row; what it uses is the same. */
	ret = use_rows(v, b, n_spans, bytes);
	forget_rows(v, b);
	return ret;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory: windows, and LD and ST that meet in one.
 *
 * ST commands write memory in order and LD commands only read it, so that only
 * a load and a store can race. A command is compared with those of the other
 * unit that are before it in the stream but not known to have retired.
 */
#include <errno.h>
#include <stdlib.h>

#include "verify_state.h"

/* The memory side of the command, outer dimensions first joined with inner ones that they continue. A word of the
 * scratchpad has `word` bytes. */
static void describe(const struct weft_cmd_load *c, uint32_t word, struct dma *d)
{
	const int32_t n[3] = {c->n1, c->n2, c->n3};
	const int32_t stride[3] = {c->dram_stride1, c->dram_stride2, c->dram_stride3};
	uint32_t dims = 0;

	*d = (struct dma){.off = c->dram_off, .row = weft_cmd_load_bytes(c, word), .n = {1, 1, 1}, .window = (uint8_t)c->window};
	for (unsigned i = 0; i < 3; i++) {
		if (n[i] == 1)
			continue;
		if (!dims && stride[i] == (int64_t)d->row) {
			d->row *= (uint32_t)n[i];
			continue;
		}
		d->n[dims] = (uint16_t)n[i];
		d->stride[dims++] = stride[i];
	}
}

/* Lowest and highest byte; both are reached, at corners of the block. */
static void bounds(const struct dma *d, int64_t *lo, int64_t *hi)
{
	*lo = d->off;
	*hi = d->off + (int64_t)d->row;
	for (unsigned i = 0; i < 3; i++) {
		int64_t reach = (int64_t)(d->n[i] - 1) * d->stride[i];

		if (reach < 0)
			*lo += reach;
		else
			*hi += reach;
	}
}

static int window(struct verify *v, const struct dma *d, int64_t lo, int64_t hi)
{
	bool load = v->unit == WEFT_UNIT_LD;

	if (load ? !v->win->w[d->window].rd : !v->win->w[d->window].wr)
		return verify_fail(v, WEFT_VERIFY_WINDOW_PERM, "window %u is not open for %s", d->window,
				   load ? "reading" : "writing");
	if (lo < 0)
		return verify_fail(v, WEFT_VERIFY_WINDOW, "window %u offset %lld < 0", d->window, (long long)lo);
	if ((uint64_t)hi > v->win->w[d->window].size)
		return verify_fail(v, WEFT_VERIFY_WINDOW, "window %u offset %lld > %lld", d->window,
				   (long long)hi - 1, (long long)v->win->w[d->window].size - 1);
	return 0;
}

static int compare_u64(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

#define DMA_EACH(d, at) \
	for (uint32_t i2 = 0; i2 < (d)->n[2]; i2++) \
	for (uint32_t i1 = 0; i1 < (d)->n[1]; i1++) \
	for (uint32_t i0 = 0; i0 < (d)->n[0]; i0++) \
	for (uint64_t at = (uint64_t)((d)->off + (int64_t)i0 * (d)->stride[0] + \
				      (int64_t)i1 * (d)->stride[1] + (int64_t)i2 * (d)->stride[2]), \
		      once = 1; once; once = 0)

static uint64_t rows_of(const struct dma *d)
{
	return (uint64_t)d->n[0] * d->n[1] * d->n[2];
}

/* Rows of a that could meet b, in order of address. */
static size_t sorted_rows(struct verify *v, const struct dma *a, const struct dma *b)
{
	size_t n = 0;

	DMA_EACH(a, at)
		if (at < b->hi && at + a->row > b->lo)
			v->sort[n++] = at;
	qsort(v->sort, n, sizeof(*v->sort), compare_u64);
	return n;
}

/* First row of the n that ends behind at. */
static size_t first_behind(const uint64_t *rows, size_t n, uint64_t len, uint64_t at)
{
	size_t lo = 0;

	while (lo < n) {
		size_t mid = lo + (n - lo) / 2;

		if (rows[mid] + len > at)
			n = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/* A byte that both touch, or UINT64_MAX. Their bounds are known to overlap. */
static uint64_t meeting(struct verify *v, const struct dma *a, const struct dma *b)
{
	size_t n = sorted_rows(v, a, b);

	DMA_EACH(b, at) {
		size_t i = first_behind(v->sort, n, a->row, at);

		if (i < n && v->sort[i] < at + b->row)
			return v->sort[i] > at ? v->sort[i] : at;
	}
	return UINT64_MAX;
}

static int pair(struct verify *v, const struct dma *d, unsigned other, uint32_t index)
{
	const struct timeline *t = &v->line[other];
	const struct dma *o = &t->dma[index];
	uint64_t at;

	if (o->window != d->window || o->lo >= d->hi || d->lo >= o->hi)
		return 0;
	/* Sorting and searching take some 16 steps a row. */
	if (verify_work(v, 16 * (rows_of(d) + rows_of(o))))
		return -EINVAL;
	if (!v->sort)
		v->sort = malloc(WEFT_VERIFY_MAX_ROWS * sizeof(*v->sort));
	if (!v->sort)
		return -ENOMEM;
	at = meeting(v, o, d);
	if (at == UINT64_MAX)
		return 0;
	return verify_fail(v, WEFT_VERIFY_MEM_RACE, "window %u offset 0x%llx %s by cmd %u; wait_%s %u < %u",
			   d->window, (unsigned long long)at, other == WEFT_UNIT_ST ? "written" : "read",
			   t->cmd[index], other == WEFT_UNIT_ST ? "st" : "ld", v->now.retired[other], index + 1);
}

int verify_mem(struct verify *v)
{
	unsigned other = v->unit == WEFT_UNIT_LD ? WEFT_UNIT_ST : WEFT_UNIT_LD;
	struct dma *d = &v->line[v->unit].dma[v->index];
	int64_t lo, hi;
	int ret;

	describe(&v->c.load, v->cfg->n, d);
	bounds(d, &lo, &hi);
	ret = window(v, d, lo, hi);
	if (ret)
		return ret;
	d->lo = (uint64_t)lo;
	d->hi = (uint64_t)hi;
	/* A window that only one of the two can use has no races. */
	if (!v->win->w[d->window].rd || !v->win->w[d->window].wr)
		return 0;
	ret = verify_work(v, v->line[other].count - v->now.retired[other]);
	for (uint32_t i = v->now.retired[other]; !ret && i < v->line[other].count; i++)
		ret = pair(v, d, other, i);
	return ret;
}

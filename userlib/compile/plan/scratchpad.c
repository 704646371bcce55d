/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses in the scratchpad. Larger areas are placed first, each where it shares
 * fewest regions with what the same nodes use: two units in one region wait for each
 * other (hw/sp).
 */
#include <errno.h>
#include <stdlib.h>

#include "plan.h"

struct alloc {
	struct npu_step *s;
	int64_t compact;       /* areas above so many bytes take the lowest free address, whatever the regions */
	int64_t sp_bytes, align, region;   /* bytes of the scratchpad, of a word, of a region; the last two are powers of two */
	int region_log2;       /* the logarithm of `region` */
	int *order, *rank;     /* the areas, largest first; where each area stands among them */
	struct placed { int64_t lo, hi; int t0, t1, area; } *placed;   /* areas that have an address, by address, with their
	                        * first and last nodes when they got it */
	int n_placed;
	/* For each area, from rival[first[area]] on: areas placed before it which are in use together with it, and for how
	 * many quarter cycles. */
	struct rival { int area; int64_t cycles; } *rival; uint32_t cap_rival;
	uint32_t *first;
	/* For the area at hand and each region: quarter cycles in which placed areas are in use together with it, times how
	 * much of these areas lies there, in 64ths. */
	int64_t busy[WEFT_SP_REGIONS];
	bool busy_known;       /* busy[] holds for the area at hand */
};

/* Returns whether the closed intervals [a0, a1] and [b0, b1] have a number in common. */
static bool overlap(int a0, int a1, int b0, int b1)
{
	return a0 <= b1 && b0 <= a1;
}

/*
 * Returns by how many bytes the larger of two parts of area a at address addr is more than half of the area:
 * the part in the first region that it touches and the rest. 0 is best. A tensor is read from its first rows
 * while its last ones are still being written, which goes best with its halves in two regions.
 */
static int64_t lopsided(const struct alloc *al, const struct area *a, int64_t addr)
{
	int64_t first = min64(al->region - addr % al->region, a->bytes), most = max64(first, a->bytes - first);

	return max64(most - a->bytes / 2, 0);
}

/*
 * Returns how much of an area of `bytes` bytes at this address lies in region r, which it touches, in 64ths
 * of the area.
 */
static int64_t part_of(const struct alloc *al, int64_t addr, int64_t bytes, int64_t r)
{
	int64_t lo = max64(addr, r * al->region), hi = min64(addr + bytes, (r + 1) * al->region);

	return hi - lo == bytes ? 64 : (uint32_t)(hi - lo) * 64 / (uint32_t)bytes;
}

/* Returns the regions that an area of `bytes` bytes at this address touches: the first one and how many. */
static struct span touched(const struct alloc *al, int64_t addr, int64_t bytes)
{
	int64_t first = addr >> al->region_log2, last = (addr + bytes - 1) >> al->region_log2;

	return (struct span){ first, min64(last, WEFT_SP_REGIONS - 1) + 1 - first };
}

/*
 * Returns the expected cycles in which nodes i and j of stripe group g both run: all of i's if they are the
 * same node, none if both need the same engine (array or vector engine), otherwise the product of both nodes'
 * cycles (s->work) divided by g->cycles, as if each ran at random moments of the group's time.
 */
static int64_t both_run(const struct npu_step *s, const struct group *g, int i, int j)
{
	int64_t a = s->work[i + 1] - s->work[i], b = s->work[j + 1] - s->work[j];

	if (i == j)
		return a;
	return on_array(step_node(s, i)) == on_array(step_node(s, j)) ? 0 : a * b / g->cycles;
}

/*
 * Returns the quarter cycles in which two areas of one stripe group are accessed at the same time: for each
 * use that is noted of one and each of the other, the cycles in which both nodes run (both_run()) times the
 * densities of both, in eighths.
 */
static int64_t together_in_group(const struct npu_step *s, const struct area *a, const struct area *b)
{
	int64_t sum = 0;

	for (int i = 0; i < a->n_use; i++)
		for (int j = 0; j < b->n_use; j++)
			sum += both_run(s, &s->group[a->group - 1], a->use[i].node, b->use[j].node) *
			       a->use[i].density * b->use[j].density;
	return sum / 16;
}

/*
 * Returns the quarter cycles in which two areas are in use at the same time: those of the nodes that use
 * both, or within one stripe group those of together_in_group(). A node still runs while the next one begins,
 * so areas of consecutive nodes count as well, with params.neighbours quarters of the shorter node's cycles.
 */
static int64_t together(const struct alloc *al, const struct area *a, const struct area *b)
{
	int64_t from = max64(a->use0, b->use0), to = min64(a->use1, b->use1);

	if (a->group && a->group == b->group)
		return together_in_group(al->s, a, b);
	if (from <= to)
		return 4 * (al->s->work[to + 1] - al->s->work[max64(from, 0)]);
	if (from > to + 1)
		return 0;
	return al->s->params.neighbours * min64(al->s->work[from + 1] - al->s->work[from], al->s->work[to + 1] - al->s->work[max64(to, 0)]);
}

/*
 * Returns how much area a at this address and the areas placed so far would be in each other's way: a number that grows
 * with the time in which they are used together and with how much of both lies in one region. 0 is best. An area whose
 * head and rest are in each other's way (area.head) counts as well. With
 * params.halves_apart, an area that lies mostly in one region counts as well, unless it is for weights. If the number
 * is `enough` or more, any number from `enough` on may be returned. al->busy must be known.
 */
static int64_t conflicts(const struct alloc *al, const struct area *a, int64_t addr, int64_t enough)
{
	int64_t sum = a->weights || !al->s->params.halves_apart ? 0 : lopsided(al, a, addr);
	struct span in = touched(al, addr, a->bytes);

	if (a->head && (addr + a->head - 1) >> al->region_log2 == (addr + a->head) >> al->region_log2)
		sum += a->head_cycles * 64 * 64;
	for (int64_t r = in.lo; r < in.lo + in.n && sum < enough; r++)
		sum += al->busy[r] ? al->busy[r] * part_of(al, addr, a->bytes, r) : 0;
	return sum;
}

/* Insert an area that has got its address into the list of placed areas, which is sorted by address. */
static void put_placed(struct alloc *al, int area)
{
	const struct area *a = &al->s->area[area];
	int i = al->n_placed++;

	for (; i && al->placed[i - 1].lo > a->addr; i--)
		al->placed[i] = al->placed[i - 1];
	al->placed[i] = (struct placed){ a->addr, a->addr + a->bytes, a->t0, a->t1, area };
}

/* Remove from the list of placed areas all but the n largest of the step, which then keep their addresses. */
static void drop_placed(struct alloc *al, int n)
{
	int all = al->n_placed;

	al->n_placed = 0;
	for (int i = 0; i < all; i++)
		if (al->rank[al->placed[i].area] < n)
			al->placed[al->n_placed++] = al->placed[i];
}

/*
 * Set al->busy[r] for each region r, from the area's rivals, which all have addresses: for how many quarter
 * cycles each is in use together with this area, times how many 64ths of the rival lie in r. Sets
 * al->busy_known.
 */
static void find_busy(struct alloc *al, int area)
{
	al->busy_known = true;
	for (int r = 0; r < WEFT_SP_REGIONS; r++)
		al->busy[r] = 0;
	for (uint32_t i = al->first[area]; i < al->first[area + 1]; i++) {
		const struct rival *v = &al->rival[i];
		const struct area *b = &al->s->area[v->area];
		struct span in = touched(al, b->addr, b->bytes);
		for (int64_t r = in.lo; r < in.lo + in.n; r++)
			al->busy[r] += v->cycles * part_of(al, b->addr, b->bytes, r);
	}
}

/* Nodes that use an area, and its rank; apart from the areas so that many fit the cache. */
struct uses { int first, last, rank; };

/*
 * Append to al->rival[*n ...] the areas that are placed before this one (lower rank) and are in use together
 * with it, with the time; *n advances, and al->first[area] is set. u[] has the uses of all areas. Returns 0
 * or -ENOMEM.
 */
static int add_rivals(struct alloc *al, int area, const struct uses *u, uint32_t *n)
{
	const struct area *all = al->s->area;
	const struct uses a = u[area];

	al->first[area] = *n;
	for (int k = 0; k < (int)al->s->n_area; k++) {
		if (u[k].rank >= a.rank || !overlap(a.first, a.last + 1, u[k].first, u[k].last + 1))
			continue;
		int64_t cycles = together(al, &all[area], &all[k]);
		int err = cycles ? cc_grow(&al->rival, *n, &al->cap_rival, sizeof *al->rival) : 0;
		if (err)
			return err;
		if (cycles)
			al->rival[(*n)++] = (struct rival){ k, cycles };
	}
	return 0;
}

/*
 * List for every area its rivals, the areas placed before it which are in use together with it, and for how
 * long: fills al->rival, and al->first with where each area's rivals begin (one entry more marks the end).
 * Returns 0 or -ENOMEM.
 */
static int list_rivals(struct alloc *al)
{
	struct uses *u = malloc((al->s->n_area + 1) * sizeof *u);
	uint32_t n = 0;
	int err = u ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < al->s->n_area && !err; i++)
		u[i] = (struct uses){ al->s->area[i].use0, al->s->area[i].use1, al->rank[i] };
	for (uint32_t i = 0; i < al->s->n_area && !err; i++)
		err = add_rivals(al, (int)i, u, &n);
	al->first[al->s->n_area] = n;
	free(u);
	return err;
}

/* The best address so far, -1 none, and its conflicts. */
struct choice { int64_t addr, conflicts; };

/*
 * Round addr down to a whole word. If area a fits there into the gap [lo, hi) with fewer conflicts than *c,
 * the best choice so far, that address becomes *c. A choice without conflicts stays as it is, since nothing
 * is better.
 */
static void consider(struct alloc *al, const struct area *a, int64_t lo, int64_t hi, int64_t addr, struct choice *c)
{
	addr &= -al->align;
	/* An address without conflicts cannot be improved upon. */
	if (addr < lo || addr + a->bytes > hi || !c->conflicts)
		return;
	if (!al->busy_known)
		find_busy(al, (int)(a - al->s->area));
	int64_t n = conflicts(al, a, addr, c->conflicts);
	if (n < c->conflicts)
		*c = (struct choice){ addr, n };
}

/*
 * Try the addresses in the gap [lo, hi) that can be best for area a: the ends of the gap, and those where the
 * area begins, ends, has its middle or the end of its head at a border of regions; *c keeps the best. Nothing happens if the gap,
 * from its first aligned address on, is too small. An area above al->compact bytes takes the start of the
 * first gap that is large enough.
 */
static void consider_gap(struct alloc *al, const struct area *a, int64_t lo, int64_t hi, struct choice *c)
{
	lo = (lo + al->align - 1) & -al->align;
	if (hi - lo < a->bytes)
		return;
	if (a->bytes > al->compact) {
		if (c->addr < 0)
			c->addr = lo;
		return;
	}
	consider(al, a, lo, hi, lo, c);
	for (int64_t r = (lo + al->region - 1) & -al->region; r < hi && c->conflicts; r += al->region) {
		consider(al, a, lo, hi, r, c);
		consider(al, a, lo, hi, r - a->bytes, c);
		consider(al, a, lo, hi, r - a->bytes / 2, c);
		if (a->head)
			consider(al, a, lo, hi, r - a->head, c);
	}
	consider(al, a, lo, hi, hi - a->bytes, c);
}

/*
 * Returns whether no address behind *c, the best choice so far for area a, can be better: it is without conflicts, or
 * a takes the first gap that is large enough.
 */
static bool is_settled(const struct alloc *al, const struct area *a, const struct choice *c)
{
	return !c->conflicts || (c->addr >= 0 && a->bytes > al->compact);
}

/*
 * Set a->addr to an address in a gap between the placed areas that are occupied during one of a's nodes:
 * the one that consider_gap() finds best. Returns false, with a->addr -1, if no gap is large enough.
 */
static bool place_one(struct alloc *al, struct area *a)
{
	struct choice c = { -1, INT64_MAX };
	int64_t at = 0;

	al->busy_known = false;
	for (int i = 0; i < al->n_placed; i++) {
		const struct placed *p = &al->placed[i];
		if (!overlap(a->t0, a->t1, p->t0, p->t1))
			continue;
		if (p->lo - at >= a->bytes)
			consider_gap(al, a, at, p->lo, &c);
		if (is_settled(al, a, &c))
			break;
		at = max64(at, p->hi);
	}
	if (!is_settled(al, a, &c))
		consider_gap(al, a, at, al->sp_bytes, &c);
	a->addr = c.addr;
	return c.addr >= 0;
}

/* An area and its size, for sorting. */
struct sort_key { int64_t bytes; int i; };

/* Compare two sort_keys for qsort(): the one with more bytes comes first, of equals the lower number. */
static int by_bytes(const void *pa, const void *pb)
{
	const struct sort_key *a = pa, *b = pb;

	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return a->i < b->i ? -1 : 1;
}

/*
 * Fill al->order with the step's areas from the largest to the smallest (of equal ones the lower number first)
 * and al->rank with where each area stands in that order; both have room for all areas. Returns 0 or -ENOMEM.
 */
static int sort_areas(struct alloc *al)
{
	uint32_t n = al->s->n_area;
	struct sort_key *k = malloc((n + 1) * sizeof *k);

	if (!k)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		k[i] = (struct sort_key){ al->s->area[i].bytes, (int)i };
	qsort(k, n, sizeof *k, by_bytes);
	for (uint32_t i = 0; i < n; i++) {
		al->order[i] = k[i].i;
		al->rank[k[i].i] = (int)i;
	}
	free(k);
	return 0;
}

/* Free an attempt to find addresses; NULL is allowed. */
void alloc_free(struct alloc *al)
{
	if (!al)
		return;
	free(al->order);
	free(al->rank);
	free(al->placed);
	free(al->first);
	free(al->rival);
	free(al);
}

/*
 * Prepare to find addresses for the areas of a step: sort them by size and list which of them are in use
 * together. Returns NULL if there is no memory; alloc_free() frees it.
 */
struct alloc *alloc_new(struct npu_step *s)
{
	struct alloc *al = malloc(sizeof *al);
	size_t n = (size_t)s->n_area + 1;

	if (!al)
		return NULL;
	*al = (struct alloc){ .s = s, .sp_bytes = s->cc->sp_bytes, .align = s->cc->n, .region = s->cc->cfg->sp_bytes / WEFT_SP_REGIONS };
	al->region_log2 = __builtin_ctzll((uint64_t)al->region);
	al->order = malloc(n * sizeof *al->order);
	al->rank = malloc(n * sizeof *al->rank);
	al->placed = malloc(n * sizeof *al->placed);
	al->first = malloc(n * sizeof *al->first);
	if (al->order && al->rank && al->placed && al->first && !sort_areas(al) && !list_rivals(al))
		return al;
	alloc_free(al);
	return NULL;
}

/* Returns where this area stands when all areas are sorted by size; 0 is the largest. */
int alloc_rank(const struct alloc *al, int area)
{
	return al->rank[area];
}

/*
 * Give addresses to all areas of the step, the largest first, except the `from` largest, which keep those of
 * the call before. Areas that are occupied during the same node never overlap. One of at most `compact` bytes
 * also goes where it shares fewest regions with those that are used at the same time, as far as there is room;
 * larger ones take the lowest free address. Returns -1 if all have an address, else the number of the area for
 * which there was no room; smaller ones have no valid address then.
 */
int alloc_areas(struct alloc *al, int from, int64_t compact)
{
	al->compact = compact;
	drop_placed(al, from);
	for (int i = al->n_placed; i < (int)al->s->n_area; i++) {
		if (!place_one(al, &al->s->area[al->order[i]]))
			return al->order[i];
		put_placed(al, al->order[i]);
	}
	return -1;
}

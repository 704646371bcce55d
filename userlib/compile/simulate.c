/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When commands run, if their costs are right: units in parallel, each in its
 * own order, commands waiting for the counts that they state. A command
 * occupies its unit and retires some cycles later; the next may begin in
 * between. Units slow each other down
 * - at the post unit, which takes one row a cycle and serves the array first,
 * - in the scratchpad's regions: post writes before the array reads before the
 *   vector engine reads before DMA (hw/sp/README.md),
 * - on a memory that serves one direction at a time.
 * With the order of the stream given, its fetch and the queues in front of the
 * units count as well.
 */
#include <errno.h>
#include <stdlib.h>

#include "plan.h"

#define ONE 256                /* fixed point of work, rates and densities */
#define LEAST (ONE / 16)       /* slower than that nothing gets: what is in the way pauses now and then */
#define ISSUED 8               /* issued and not retired, hw/cmd */
#define TURN (ONE / 8)         /* of the post unit's rows, kept for the vector engine, hw/post */
#define TURNS (3 * ONE / 7)    /* where three of the array's four passes take turns with it */
#define TURN_COMES 5           /* cycles until a read of parameters goes before all others, hw/sp */
#define FETCHED 64             /* words of the stream on chip, hw/cmd */
#define FETCH_CYCLES 24        /* from the doorbell to the first command, beside the memory's latency */
#define END_CYCLES 8           /* from the last retirement to the stream's end */

/* Scratchpad accesses a cycle in each region, of ONE, while the command runs at full speed. */
struct heat { uint8_t of[N_PORTS][WEFT_SP_REGIONS]; uint8_t banks[N_PORTS]; bool any; };

struct unit {
	uint32_t *cmd, n;      /* its commands, in order */
	uint32_t next;         /* the next to start */
	uint32_t pushed;       /* so many are in its queue or have left it */
	uint32_t retired;
	bool busy;
	uint32_t now;          /* busy: which */
	struct heat heat;      /* busy: of that */
	uint64_t left;         /* busy: work, in 1/ONE cycles */
	uint64_t *retire;      /* when the k-th retires, for those that have left the unit */
	uint32_t n_left;       /* so many have left */
};

struct sim {
	const struct cmds *c;
	const uint32_t *order; /* of the stream; NULL: every unit has all its commands */
	uint32_t dispatched;
	uint64_t decoded;      /* order: when the next command is */
	uint64_t fetched;      /* words */
	bool slow;             /* memory */
	int64_t region;        /* bytes */
	struct unit u[WEFT_N_UNITS];
	uint64_t rate[WEFT_N_UNITS];
	bool changed;          /* since rates were found, a unit has begun or ended */
	uint64_t t, *start, *end;
};

/* ---- what commands do to the scratchpad's regions ---- */

static void add_heat(struct heat *h, const struct access *a, uint32_t cost, int64_t region)
{
	int64_t lo = (int64_t)a->lo, hi = (int64_t)(a->hi + (a->n - 1) * a->step), all = (int64_t)a->count * ONE;

	if (a->space != SPACE_SP || !a->count)
		return;
	h->any = true;
	h->banks[a->port] = a->banks > h->banks[a->port] ? a->banks : h->banks[a->port];
	for (int r = 0; r < WEFT_SP_REGIONS; r++) {
		int64_t part = overlap64(lo, hi, r * region, (r + 1) * region);
		if (!part)
			continue;
		int64_t d = h->of[a->port][r] + (part == hi - lo ? all : all * part / (hi - lo)) / cost;
		h->of[a->port][r] = (uint8_t)min64(d, ONE - 1);
	}
}

static void find_heat(const struct sim *s, const struct cmd *c, struct heat *h)
{
	*h = (struct heat){ 0 };
	for (int k = 0; k < c->n_acc; k++)
		add_heat(h, &c->acc[k], s->slow && c->slow ? c->slow : c->cost, s->region);
}

static const struct heat *heat_of(const struct sim *s, int k)
{
	return s->u[k].busy && s->u[k].heat.any ? &s->u[k].heat : NULL;
}

/* Of a region's cycles, those that a port with such accesses does not get because of h's port p. */
static uint64_t taken(const struct heat *h, int p, int r, uint8_t banks, uint64_t rate)
{
	uint64_t d = h->of[p][r] * rate / ONE;

	if (banks == BANKS_BOTH || h->banks[p] == BANKS_BOTH || banks != h->banks[p])
		return d;
	/* Both stay in one bank, which is the same or not; or take turns, which they soon do in step. */
	return banks == BANKS_SAME ? 5 * d / 8 : d / 4;
}

/* Of region r's cycles, those that ports in `before` (bits, per unit) take. */
static uint64_t lost_in(const struct sim *s, int r, uint8_t banks, const uint8_t before[WEFT_N_UNITS])
{
	uint64_t lost = 0;

	for (int u = 0; u < WEFT_N_UNITS; u++) {
		const struct heat *other = before[u] ? heat_of(s, u) : NULL;
		for (int q = 0; other && q < N_PORTS; q++)
			if (before[u] >> q & 1)
				lost += taken(other, q, r, banks, s->rate[u]);
	}
	return lost;
}

/* How much longer unit k's port p takes, of ONE, with the ports in `before` served first. */
static uint64_t delay(const struct sim *s, int k, int p, const uint8_t before[WEFT_N_UNITS])
{
	const struct heat *h = heat_of(s, k);
	uint64_t sum = 0;

	for (int r = 0; r < WEFT_SP_REGIONS; r++) {
		if (!h->of[p][r])
			continue;
		uint64_t lost = lost_in(s, r, h->banks[p], before);
		uint64_t room = lost + LEAST < ONE ? ONE - lost : LEAST;
		sum += h->of[p][r] * ONE / room;
	}
	return sum > ONE ? sum - ONE : 0;
}

/*
 * The array takes a word of each port every cycle and stalls without one. Its own
 * rows come in bursts, while which it stalls; those of the vector engine go on
 * meanwhile.
 */
static uint64_t array_delay(const struct sim *s, int p)
{
	const struct heat *h = heat_of(s, WEFT_UNIT_CV), *ve = heat_of(s, WEFT_UNIT_VE);
	uint64_t sum = 0, all = 0;

	for (int r = 0; r < WEFT_SP_REGIONS; r++) {
		uint64_t d = h->of[p][r];
		if (!d)
			continue;
		uint64_t own = taken(h, PORT_WRITE, r, h->banks[p], ONE), other = 0;
		/* The vector engine writes to one bank for long, and the array soon needs that one. */
		if (ve)
			other = taken(ve, PORT_WRITE, r, h->banks[p] == BANKS_SAME ? BANKS_BOTH : h->banks[p], s->rate[WEFT_UNIT_VE]);
		uint64_t room = other + LEAST < ONE ? ONE - other : LEAST;
		sum += d * (own + other * ONE / room);
		all += d;
	}
	return all ? sum / all : 0;
}

/* A few reads of parameters, but without them unit k stands. Each gets its turn in the end. */
static uint64_t starved(const struct sim *s, int k, int p, const uint8_t before[WEFT_N_UNITS])
{
	const struct heat *h = heat_of(s, k);
	uint64_t sum = 0;

	for (int r = 0; r < WEFT_SP_REGIONS; r++) {
		if (!h->of[p][r])
			continue;
		uint64_t lost = lost_in(s, r, h->banks[p], before);
		uint64_t room = lost + ONE / TURN_COMES < ONE ? ONE - lost : ONE / TURN_COMES;
		sum += (uint64_t)h->of[p][r] * ONE / room;
	}
	return sum > ONE ? sum - ONE : 0;
}

/* The vector engine's own words and parameters in one region take turns. */
static uint64_t own_parameters(const struct sim *s)
{
	const struct heat *h = heat_of(s, WEFT_UNIT_VE);
	uint64_t sum = 0;

	for (int r = 0; r < WEFT_SP_REGIONS; r++)
		sum += (uint64_t)h->of[PORT_W][r] * h->of[PORT_X][r] / ONE;
	return sum;
}

#define BIT(p) (1 << PORT_##p)
#define ALL    ((1 << N_PORTS) - 1)

/* Rate at which unit k gets at its operands. */
static uint64_t scratchpad_rate(const struct sim *s, int k)
{
	/* Aligned words of the array change banks often enough for its own records. */
	static const uint8_t ve_par[WEFT_N_UNITS] = { [WEFT_UNIT_VE] = BIT(WRITE) | BIT(X) };
	static const uint8_t par[WEFT_N_UNITS] = { [WEFT_UNIT_CV] = BIT(X), [WEFT_UNIT_VE] = BIT(WRITE) | BIT(X) };
	static const uint8_t ve[WEFT_N_UNITS] = { [WEFT_UNIT_CV] = BIT(WRITE) | BIT(X) | BIT(W), [WEFT_UNIT_VE] = BIT(WRITE) };
	static const uint8_t ld[WEFT_N_UNITS] = { [WEFT_UNIT_CV] = ALL, [WEFT_UNIT_VE] = ALL };
	static const uint8_t st[WEFT_N_UNITS] = { [WEFT_UNIT_CV] = ALL, [WEFT_UNIT_VE] = ALL, [WEFT_UNIT_LD] = BIT(WRITE) };
	uint64_t more = 0;

	if (!heat_of(s, k))
		return ONE;
	switch (k) {
	case WEFT_UNIT_CV: more = array_delay(s, PORT_X) + array_delay(s, PORT_W) + starved(s, k, PORT_P, heat_of(s, k)->banks[PORT_X] == BANKS_BOTH ? par : ve_par); break;
	case WEFT_UNIT_VE: more = delay(s, k, PORT_X, ve) + delay(s, k, PORT_R, ve) + starved(s, k, PORT_W, ve) + own_parameters(s); break;
	case WEFT_UNIT_LD: more = delay(s, k, PORT_WRITE, ld); break;
	default:           more = delay(s, k, PORT_X, st);
	}
	return ONE * ONE / (ONE + more);
}

/* ---- units ---- */

static int open_units(struct sim *s)
{
	for (int u = 0; u < WEFT_N_UNITS; u++) {
		s->u[u].cmd = malloc((s->c->n + 1) * sizeof *s->u[u].cmd);
		s->u[u].retire = malloc((s->c->n + 1) * sizeof *s->u[u].retire);
		if (!s->u[u].cmd || !s->u[u].retire)
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < s->c->n; i++) {
		struct unit *u = &s->u[s->c->p[i].unit];
		u->cmd[u->n++] = i;
	}
	for (int u = 0; u < WEFT_N_UNITS && !s->order; u++)
		s->u[u].pushed = s->u[u].n;
	s->decoded = s->order ? FETCH_CYCLES + (s->slow ? MEMORY_FAR : MEMORY_NEAR) : 0;
	return 0;
}

/* Commands into the queues, in the stream's order, a word a cycle. */
static void dispatch(struct sim *s)
{
	while (s->order && s->dispatched < s->c->n && s->decoded <= s->t) {
		const struct cmd *c = &s->c->p[s->order[s->dispatched]];
		struct unit *u = &s->u[c->unit];
		if (u->pushed - u->next >= WEFT_QUEUE_DEPTH)
			return;
		uint64_t words = weft_cmd_info((unsigned)c->c.h.op)->n_words;
		/* Fetched from the memory that loads want as well. */
		s->fetched += words;
		if (s->u[WEFT_UNIT_LD].busy && s->fetched > FETCHED)
			s->u[WEFT_UNIT_LD].left += words * ONE / (s->slow ? 1 : 2);
		u->pushed++;
		s->dispatched++;
		s->decoded = s->t + words;
	}
}

static bool may_start(const struct sim *s, int k)
{
	const struct unit *u = &s->u[k];
	const struct cmd *c = &s->c->p[u->cmd[u->next]];

	/* The array takes a second command, the vector engine none, DMA several. */
	uint32_t under_way = u->next - u->retired, most = k == WEFT_UNIT_CV ? 2 : k == WEFT_UNIT_VE ? 1 : ISSUED;
	if (under_way >= most)
		return false;
	for (int i = 0; i < WEFT_N_UNITS; i++)
		if (c->wait[i] > s->u[i].retired)
			return false;
	return true;
}

static void start_heads(struct sim *s)
{
	for (int k = 0; k < WEFT_N_UNITS; k++) {
		struct unit *u = &s->u[k];
		if (u->busy || u->next == u->pushed || !may_start(s, k))
			continue;
		s->changed = u->busy = true;
		u->now = u->cmd[u->next++];
		const struct cmd *c = &s->c->p[u->now];
		u->left = (uint64_t)(s->slow && c->slow ? c->slow : c->cost) * ONE;
		find_heat(s, c, &u->heat);
		s->start[u->now] = s->t;
	}
}

/* Rows a cycle that the unit's command hands to the post unit, of ONE. */
static uint64_t rows_rate(const struct sim *s, int k)
{
	const struct unit *u = &s->u[k];

	if (!u->busy)
		return 0;
	const struct cmd *c = &s->c->p[u->now];
	uint64_t r = (uint64_t)c->rows * ONE / (c->cost ? c->cost : 1);
	return r > ONE ? ONE : r;
}

/* Rate at which unit k gets rid of its rows. */
static uint64_t post_rate(const struct sim *s, int k)
{
	uint64_t want = rows_rate(s, k), other = rows_rate(s, k == WEFT_UNIT_CV ? WEFT_UNIT_VE : WEFT_UNIT_CV), room;

	if (k == WEFT_UNIT_CV) {
		room = ONE - (uint64_t)min64((int64_t)other, s->c->p[s->u[k].now].turns ? TURNS : TURN);
		return want <= room ? ONE : room * ONE / want;
	}
	/* Rows of the array come at once and delay the vector engine's where it has some. */
	other = other * s->rate[WEFT_UNIT_CV] / ONE;
	other = (uint64_t)min64((int64_t)other, ONE - TURN);
	return ONE * ONE / (ONE + want * other / (ONE - other));
}

/* In the order in which the scratchpad serves them. */
static void find_rates(struct sim *s)
{
	static const int order[] = { WEFT_UNIT_CV, WEFT_UNIT_VE, WEFT_UNIT_LD, WEFT_UNIT_ST };

	if (!s->changed)
		return;
	s->changed = false;
	for (int i = 0; i < WEFT_N_UNITS; i++)
		s->rate[i] = ONE;
	for (int i = 0; i < 2; i++)
		s->rate[order[i]] = s->u[order[i]].busy ? post_rate(s, order[i]) : ONE;
	for (int i = 0; i < WEFT_N_UNITS; i++) {
		int k = order[i];
		if (s->u[k].busy)
			s->rate[k] = (uint64_t)min64((int64_t)scratchpad_rate(s, k),
			                             (int64_t)(k == WEFT_UNIT_CV || k == WEFT_UNIT_VE ? post_rate(s, k) : ONE));
	}
	/* Slow memory serves one direction at a time. */
	if (s->slow && s->u[WEFT_UNIT_LD].busy && s->u[WEFT_UNIT_ST].busy) {
		s->rate[WEFT_UNIT_LD] = (uint64_t)min64((int64_t)s->rate[WEFT_UNIT_LD], ONE / 2);
		s->rate[WEFT_UNIT_ST] = (uint64_t)min64((int64_t)s->rate[WEFT_UNIT_ST], ONE / 2);
	}
}

/* ---- time ---- */

static uint64_t sooner(uint64_t dt, uint64_t d)
{
	return d && (!dt || d < dt) ? d : dt;
}

/* Cycles until something changes; 0: nothing is under way. */
static uint64_t next_event(const struct sim *s)
{
	uint64_t dt = s->order && s->dispatched < s->c->n && s->decoded > s->t ? s->decoded - s->t : 0;

	for (int k = 0; k < WEFT_N_UNITS; k++) {
		const struct unit *u = &s->u[k];
		if (u->busy)
			dt = sooner(dt, s->rate[k] == ONE ? (u->left + ONE - 1) / ONE : (u->left + s->rate[k] - 1) / s->rate[k]);
		if (u->retired < u->n_left)
			dt = sooner(dt, u->retire[u->retired] - s->t);
	}
	return dt;
}

static uint64_t latency_of(const struct sim *s, const struct cmd *c)
{
	bool dma = c->unit == WEFT_UNIT_LD || c->unit == WEFT_UNIT_ST;

	return c->latency + (dma ? s->slow ? MEMORY_FAR : MEMORY_NEAR : 0);
}

static void advance(struct sim *s, uint64_t dt)
{
	s->t += dt;
	for (int k = 0; k < WEFT_N_UNITS; k++) {
		struct unit *u = &s->u[k];
		if (u->busy) {
			uint64_t done = s->rate[k] * dt;
			u->left = u->left > done ? u->left - done : 0;
			if (!u->left) {
				s->changed = true;
				u->busy = false;
				u->retire[u->n_left++] = s->end[u->now] = s->t + latency_of(s, &s->c->p[u->now]);
			}
		}
		while (u->retired < u->n_left && u->retire[u->retired] <= s->t)
			u->retired++;
	}
}

int simulate(const struct seg *seg, const uint32_t *order, bool slow_memory, uint64_t *start, uint64_t *end, uint64_t *total)
{
	struct sim s = { .c = &seg->cmds, .order = order, .slow = slow_memory, .start = start, .end = end,
	                 .region = seg->cc->cfg->sp_bytes / WEFT_SP_REGIONS };
	int err = open_units(&s);

	while (!err) {
		dispatch(&s);
		start_heads(&s);
		find_rates(&s);
		uint64_t dt = next_event(&s);
		if (!dt)
			break;
		advance(&s, dt);
	}
	*total = s.t + END_CYCLES;
	for (int u = 0; u < WEFT_N_UNITS; u++) {
		free(s.u[u].cmd);
		free(s.u[u].retire);
	}
	return err;
}

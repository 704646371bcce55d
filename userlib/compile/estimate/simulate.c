/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When commands run, if their costs are right. Units work in parallel, each in its own
 * order; commands wait for the counts that they state. A command occupies its unit and
 * retires some cycles later; the next one may begin in between. Units slow each other
 * down
 * - at the post unit, which takes one row a cycle and serves the array first;
 * - in the scratchpad's regions: post writes come before reads of the array, these
 *   before those of the vector engine, and these before DMA (hw/sp/README.md);
 * - on a memory that serves one direction at a time.
 *
 * If the order of the stream is given, its fetch and the queues in front of the units
 * count as well, and operands that lie in several regions are in one of them at a time.
 * If it is not, a command uses all of its regions as long as it runs, since what it
 * meets where is not settled then.
 *
 * Time goes from event to event: a unit's command begins, ends, or comes to another
 * region, or a command retires. Between events every unit works at a constant rate
 * (find_rates()). Work, rates and densities are fixed point, ONE being 1.
 */
#include <errno.h>
#include <stdlib.h>

#include "userlib/compile/estimate/cost.h"
#include "userlib/compile/plan/plan.h"

#define ONE COST_ONE

/* What a command accesses in the scratchpad while it runs at full speed. */
struct traffic {
	uint8_t of[N_PORTS][WEFT_SP_REGIONS];   /* accesses a cycle (of ONE) of each port in each region */
	uint8_t banks[N_PORTS];      /* which banks the accesses of each port take: enum banks */
	uint8_t both[N_PORTS]; /* part (of ONE) of each port's accesses that take both banks of a region */
	uint8_t in[N_PORTS];   /* regions that each port accesses, as bits: those where `of` is not 0 */
	uint8_t bank_overlap;         /* part (of ONE) of the vector engine's writes that meet its reads in their bank */
	bool any;              /* it accesses anything at all */
};

struct unit {
	uint32_t *cmd, n;      /* its commands, in order, and their number */
	uint32_t next;         /* index in cmd of the next command to begin */
	uint32_t pushed;       /* how many of its commands are in its queue or have left the queue */
	uint32_t retired;      /* how many of its commands have retired */
	uint64_t since;        /* cycle from which on its next command has waited for other units alone; NEVER: there is no such cycle */
	bool busy;             /* a command is under way: */
	uint32_t now;          /* its number among the step's commands, */
	struct traffic traffic;      /* its accesses at present, */
	uint64_t left;         /* the work that is left of it, in 1/ONE cycles, */
	uint64_t moves;        /* and how much is left when its accesses come to another region */
	uint64_t *retire;      /* cycle in which the k-th command retires, of those that have left the unit */
	uint32_t n_left;       /* how many commands have left the unit, though perhaps not retired */
};

#define NEVER UINT64_MAX

struct sim {
	const struct cmds *c;  /* the step's commands */
	const uint32_t *order; /* the stream's order; NULL: every unit has all its commands from the start */
	uint32_t dispatched, read;   /* how many commands have been put into queues, and how many have been decoded */
	uint64_t load_at;      /* cycle in which the last load came into its queue */
	uint64_t owed;         /* work, in 1/ONE cycles, that the next load gets besides for words fetched meanwhile */
	uint64_t load_end;     /* cycle in which the last load left its unit */
	uint64_t decoded;      /* with an order: cycle in which the next command is decoded */
	uint64_t words, asked, taken;   /* words of the stream in all, those asked for, those decoded */
	uint64_t arrive[COST_FETCH_WORDS / COST_FETCH_BURST];   /* cycles in which the bursts of words arrive that are on chip
	                        * or asked for */
	bool slow;             /* the memory is slow */
	int64_t region;        /* bytes of a region */
	int64_t n;             /* channels of a block */
	bool load_port;        /* loads write beside other accesses of a bank */
	bool plan_ahead;       /* the vector engine plans depthwise commands while they wait for other units */
	struct unit u[WEFT_N_UNITS];
	uint64_t rate[WEFT_N_UNITS];    /* the rate (of ONE) at which each unit works */
	bool asks;             /* the array asks for activations all the time, since it is slower than it could be */
	bool changed;          /* a unit has begun, ended or come to another region since rates were found */
	uint64_t t, *start, *end;   /* the cycle at hand; cycles in which each command begins and retires */
};

/* ---- what commands do to the scratchpad's regions ---- */

/*
 * Returns how many times command c goes through the bytes that it accesses at a port. Weights and parameters are
 * gone through once, and so is what loads and stores access. All else is gone through once for each block of N
 * channels of the command's result, or of 2 N where a convolution takes column tiles in pairs. For commands whose order is not modelled (loop nests) the number is above
 * COST_MOST_SWEEPS.
 */
static int64_t sweeps_of(const struct sim *s, const struct cmd *c, int port)
{
	const struct weft_cmd *k = &c->c;
	int64_t oc = 1;

	if (port == PORT_P || port == PORT_W)
		return 1;
	switch (k->h.op) {
	case WEFT_CMD_CONV: oc = k->conv.pairs ? ceil_div(k->conv.post.oc, 2) : k->conv.post.oc; break;
	case WEFT_CMD_DW:   oc = k->dw.post.oc; break;
	case WEFT_CMD_POOL: oc = k->pool.post.oc; break;
	case WEFT_CMD_ELT:  oc = k->elt.post.oc; break;
	case WEFT_CMD_LOAD: case WEFT_CMD_STORE: return 1;
	default: return COST_MOST_SWEEPS + 1;
	}
	return ceil_div(oc, s->n);
}

/* Returns the address behind the last byte of the access's last range. */
static int64_t last_of(const struct access *a)
{
	return (int64_t)(a->hi + (a->n - 1) * a->step);
}

/*
 * Returns whether the simulation must know at which address command c is in its access a: a must be a counted
 * access to several regions of the scratchpad, through which the command goes at most COST_MOST_SWEEPS times. It
 * is false, too, if the stream's order is not given.
 */
static bool walks(const struct sim *s, const struct cmd *c, const struct access *a)
{
	return s->order && a->space == SPACE_SP && a->count && (int64_t)a->lo / s->region != (last_of(a) - 1) / s->region &&
	       sweeps_of(s, c, a->port) <= COST_MOST_SWEEPS;
}

/*
 * Returns the address at which command c is in its access a when it has done `done` of the work `all`. The command
 * is taken to go through the bytes evenly, from the first to the last, sweeps_of() times.
 */
static int64_t address_at(const struct sim *s, const struct cmd *c, const struct access *a, uint64_t done, uint64_t all)
{
	int64_t lo = (int64_t)a->lo, len = last_of(a) - lo;
	uint64_t k = (uint64_t)sweeps_of(s, c, a->port) * done % all;

	return lo + (int64_t)(k * (uint64_t)len / all);
}

/*
 * Returns how much more work command c does, after `done` of `all`, before its access a comes to another region or
 * has reached the last byte and begins with the first one again; at least 1.
 */
static uint64_t until_next(const struct sim *s, const struct cmd *c, const struct access *a, uint64_t done, uint64_t all)
{
	int64_t lo = (int64_t)a->lo, len = last_of(a) - lo, sweeps = sweeps_of(s, c, a->port);
	int64_t at = address_at(s, c, a, done, all), next = min64((at / s->region + 1) * s->region, lo + len);
	uint64_t sweep = (uint64_t)sweeps * done / all;
	uint64_t then = ((sweep * (uint64_t)len + (uint64_t)(next - lo)) * all + (uint64_t)(len * sweeps) - 1) / (uint64_t)(len * sweeps);

	return then > done ? then - done : 1;
}

/*
 * Add access a, of a command that costs `cost` cycles, to the traffic h, as if it were spread evenly over the
 * addresses [lo, hi). For each region, h->of gets the density there (ONE - 1 at most), and h->in the region's bit.
 * h->banks and h->both get how the access takes banks; if a port has several accesses, the one that disturbs most
 * counts. `region` is the size of a region in bytes.
 */
static void add_traffic(struct traffic *h, const struct access *a, uint32_t cost, int64_t region, int64_t lo, int64_t hi)
{
	int64_t all = (int64_t)a->count * ONE;

	h->any = true;
	h->banks[a->port] = a->banks > h->banks[a->port] ? a->banks : h->banks[a->port];
	if (a->banks == BANKS_BOTH)
		h->both[a->port] = (uint8_t)max64(h->both[a->port], ONE - 1 - a->one * ONE / 16);
	for (int64_t r = lo / region; r * region < hi; r++) {
		int64_t part = overlap64(lo, hi, r * region, (r + 1) * region);
		int64_t d = h->of[a->port][r] + (part == hi - lo ? all : all * part / (hi - lo)) / cost;
		h->of[a->port][r] = (uint8_t)min64(d, ONE - 1);
		h->in[a->port] |= (uint8_t)(d ? 1 << r : 0);
	}
}

/*
 * Set h->bank_overlap for vector command c, whose reads of input stay in one bank while it works on a block of
 * channels, and whose writes do so as well: the part (of ONE) of the writes that meet the reads in their bank. Whether
 * a block is written to the bank that it is read from follows from the addresses; but its last COST_VECTOR_ROWS_LATE
 * rows are written while the next block is read, from the other bank. Nothing changes if the command has no counted
 * read of input or no counted write.
 */
static void find_bank_overlap(const struct sim *s, const struct cmd *c, struct traffic *h)
{
	const struct access *x = NULL, *y = NULL;

	for (int k = 0; k < c->n_acc; k++)
		if (c->acc[k].space == SPACE_SP && c->acc[k].count) {
			x = !x && c->acc[k].port == PORT_X ? &c->acc[k] : x;
			y = !y && c->acc[k].port == PORT_WRITE ? &c->acc[k] : y;
		}
	if (!x || !y)
		return;
	int64_t rows = max64(1, y->count / sweeps_of(s, c, PORT_WRITE)), late = min64(rows, COST_VECTOR_ROWS_LATE);
	bool same = (x->lo / (uint64_t)s->n + y->lo / (uint64_t)s->n) % 2 == 0;
	h->bank_overlap = (uint8_t)((ONE - 1) * (same ? rows - late : late) / rows);
}

/*
 * Set u->traffic to the counted accesses that the unit's command makes in each region of the scratchpad at
 * present, and u->moves to the work that will be left when one that walks() comes to another region (0:
 * none does). For a vector command that reads from one bank and writes to one bank, find_bank_overlap()
 * says how these meet; for all others they meet all the time.
 */
static void find_traffic(const struct sim *s, struct unit *u)
{
	const struct cmd *c = &s->c->p[u->now];
	uint32_t cost = s->slow && c->slow ? c->slow : c->cost;
	uint64_t all = (uint64_t)cost * ONE, done = all > u->left ? all - u->left : 0, until = u->left;

	u->traffic = (struct traffic){ 0 };
	for (int k = 0; k < c->n_acc; k++) {
		const struct access *a = &c->acc[k];
		if (a->space != SPACE_SP || !a->count)
			continue;
		if (!walks(s, c, a)) {
			add_traffic(&u->traffic, a, cost, s->region, (int64_t)a->lo, last_of(a));
			continue;
		}
		int64_t at = address_at(s, c, a, done, all);
		add_traffic(&u->traffic, a, cost, s->region, at, at + 1);
		uint64_t d = until_next(s, c, a, done, all);
		until = d < until ? d : until;
	}
	u->moves = u->left - until;
	u->traffic.bank_overlap = ONE - 1;
	if (c->unit == WEFT_UNIT_VE && u->traffic.banks[PORT_X] == BANKS_SAME && u->traffic.banks[PORT_WRITE] == BANKS_SAME)
		find_bank_overlap(s, c, &u->traffic);
}

/* Returns the traffic of unit k's command, or NULL if the unit is idle or its command accesses nothing. */
static const struct traffic *traffic_of(const struct sim *s, int k)
{
	return s->u[k].busy && s->u[k].traffic.any ? &s->u[k].traffic : NULL;
}

/* What a port does with a region's banks. */
struct bank_use { uint8_t banks, both; };

/* Returns how the accesses at port p of traffic h take a region's banks. */
static struct bank_use bank_use_of(const struct traffic *h, int p)
{
	return (struct bank_use){ h->banks[p], h->both[p] };
}

/*
 * Returns the part (of ONE) of each cycle of region r that a port with bank use w does not get because of
 * port p of h, whose unit works at this rate (of ONE). If neither takes both banks with one access, all of
 * p's accesses count where one of the two takes turns and the other stays; half of them if both stay in one
 * bank; a quarter if both take turns. If one of them does so with part of its accesses (w.both, h->both[p]),
 * all of p's accesses count but half of those that take one bank and meet one that takes one bank.
 */
static uint64_t taken(const struct traffic *h, int p, int r, struct bank_use w, uint64_t rate)
{
	uint64_t d = h->of[p][r] * rate / ONE;

	/* Unless both take one bank, and not the same. */
	if (w.banks == BANKS_BOTH || h->banks[p] == BANKS_BOTH)
		return d * (ONE - (uint64_t)(ONE - w.both) * (uint64_t)(ONE - h->both[p]) / ONE / 2) / ONE;
	if (w.banks != h->banks[p])
		return d;
	/* Both stay in one bank, which is the same or not; or take turns, which they soon do in step. */
	return w.banks == BANKS_SAME ? d / 2 : d / 4;
}

/*
 * Returns the regions, as bits, that any of the ports in `before` accesses; before[u] has a bit for each port
 * of unit u.
 */
static unsigned used(const struct sim *s, const uint8_t before[WEFT_N_UNITS])
{
	unsigned in = 0;

	for (int u = 0; u < WEFT_N_UNITS; u++) {
		const struct traffic *other = before[u] ? traffic_of(s, u) : NULL;
		for (unsigned left = other ? before[u] : 0; left; left &= left - 1)
			in |= other->in[__builtin_ctz(left)];
	}
	return in;
}

/*
 * Returns the part (of ONE) of each cycle of region r that the ports in `before` together take from a port
 * with bank use w, which is the sum of what each of them takes and may exceed ONE; before[u] has a bit for
 * each port of unit u. Each port counts at its unit's rate, but the array's input at full speed while s->asks
 * is set.
 */
static uint64_t lost_in(const struct sim *s, int r, struct bank_use w, const uint8_t before[WEFT_N_UNITS])
{
	uint64_t lost = 0;

	for (int u = 0; u < WEFT_N_UNITS; u++) {
		const struct traffic *other = before[u] ? traffic_of(s, u) : NULL;
		for (unsigned left = other ? before[u] : 0; left; left &= left - 1) {
			const int q = __builtin_ctz(left);
			if (other->in[q] >> r & 1)
				lost += taken(other, q, r, w, u == WEFT_UNIT_CV && q == PORT_X && s->asks ? ONE : s->rate[u]);
		}
	}
	return lost;
}

/*
 * Returns the cycles, in units of 1/ONE, that an access of unit k's port p takes in region r if the ports in
 * `before` are served first: ONE if they take nothing there. Accesses that need both banks and those that
 * need one wait for each other's ends, so their times are added, not the parts lost. An access of the array
 * that stays in one bank counts as one of both. At least COST_LEAST_RATE of the cycles is always left.
 */
static uint64_t access_time(const struct sim *s, int k, int p, int r, const uint8_t before[WEFT_N_UNITS])
{
	const struct traffic *h = traffic_of(s, k);
	struct bank_use w = bank_use_of(h, p);

	/* The vector engine writes to one bank for long, and the array soon needs that one. */
	if (k == WEFT_UNIT_CV && w.banks == BANKS_SAME)
		w = (struct bank_use){ BANKS_BOTH, ONE - 1 };
	uint64_t lost = lost_in(s, r, w, before), both = w.both, time;
	if (!lost)
		return ONE;
	if (w.banks != BANKS_BOTH || both == ONE - 1)
		return ONE * ONE / (lost + COST_LEAST_RATE < ONE ? ONE - lost : COST_LEAST_RATE);
	w.both = ONE - 1;
	lost = lost_in(s, r, w, before);
	time = both * ONE / (lost + COST_LEAST_RATE < ONE ? ONE - lost : COST_LEAST_RATE);
	w.both = 0;
	lost = lost_in(s, r, w, before);
	return time + (ONE - both) * ONE / (lost + COST_LEAST_RATE < ONE ? ONE - lost : COST_LEAST_RATE);
}

/*
 * Returns how much longer, in 1/ONE of a cycle for each cycle of work, unit k takes because the ports in
 * `before` are served before its port p; 0 if they share no region, or if p's accesses, though delayed, still
 * fit in the cycle.
 */
static uint64_t delay(const struct sim *s, int k, int p, const uint8_t before[WEFT_N_UNITS])
{
	const struct traffic *h = traffic_of(s, k);
	uint64_t sum = 0;

	if (!h->in[p] || !(h->in[p] & used(s, before)))
		return 0;
	for (unsigned left = h->in[p]; left; left &= left - 1) {
		const int r = __builtin_ctz(left);
		sum += h->of[p][r] * access_time(s, k, p, r, before) / ONE;
	}
	return sum > ONE ? sum - ONE : 0;
}

/*
 * Returns how much longer, in 1/ONE of a cycle for each cycle of work, the array takes because its reads at
 * port p wait for its own writes and for the vector engine's: the mean of its accesses, since it needs a
 * word in every cycle and stalls without one. Its own rows come in bursts, during which it stalls; the
 * vector engine's writes go on meanwhile.
 */
static uint64_t array_delay(const struct sim *s, int p)
{
	static const uint8_t ve[WEFT_N_UNITS] = { [WEFT_UNIT_VE] = 1 << PORT_WRITE };
	const struct traffic *h = traffic_of(s, WEFT_UNIT_CV);
	uint64_t sum = 0, all = 0;

	if (!(h->in[p] & (h->in[PORT_WRITE] | used(s, ve))))
		return 0;
	for (unsigned left = h->in[p]; left; left &= left - 1) {
		const int r = __builtin_ctz(left);
		uint64_t d = h->of[p][r];
		sum += d * (taken(h, PORT_WRITE, r, bank_use_of(h, p), ONE) + access_time(s, WEFT_UNIT_CV, p, r, ve) - ONE);
		all += d;
	}
	return all ? sum / all : 0;
}

/*
 * Returns the cycles, in 1/ONE for each cycle of work, in which unit k's parameters come through port p if
 * the ports in `before` are served first; each read gets its turn in the end. 0 means that nothing delays
 * them.
 */
static uint64_t fetch(const struct sim *s, int k, int p, const uint8_t before[WEFT_N_UNITS])
{
	const struct traffic *h = traffic_of(s, k);
	uint64_t sum = 0;

	if (!h->in[p] || !(h->in[p] & used(s, before)))
		return 0;
	for (unsigned left = h->in[p]; left; left &= left - 1) {
		const int r = __builtin_ctz(left);
		uint64_t lost = lost_in(s, r, bank_use_of(h, p), before);
		uint64_t room = lost + ONE / COST_PARAMETER_WAIT < ONE ? ONE - lost : ONE / COST_PARAMETER_WAIT;
		sum += (uint64_t)h->of[p][r] * ONE / room;
	}
	return sum;
}

/* Returns the part of each cycle of work (of ONE) that a unit's own port q takes from its port p. */
static uint64_t shared(const struct traffic *h, int p, int q)
{
	uint64_t sum = 0;

	for (unsigned left = h->in[p] & h->in[q]; left; left &= left - 1) {
		const int r = __builtin_ctz(left);
		sum += taken(h, q, r, bank_use_of(h, p), ONE) * h->of[p][r] / ONE;
	}
	return sum;
}

#define BIT(p) (1 << PORT_##p)
#define ALL    ((1 << N_PORTS) - 1)

/* Returns whether the array reads weights in every cycle, as it does for two column tiles at a time, and not in every other. */
static bool weights_each_cycle(const struct traffic *h)
{
	uint64_t sum = 0;

	for (unsigned left = h->in[PORT_W]; left; left &= left - 1)
		sum += h->of[PORT_W][__builtin_ctz(left)];
	return sum > 3 * ONE / 4;
}

/*
 * Returns the cycles, in 1/ONE, that the array takes for each cycle of undisturbed work: ONE, what delays its
 * input and its weights, and, if its input or its weights take both banks all the time, what these take from its records. The records
 * come while it works on the tile before, so if their fetch takes longer than all this, it alone counts.
 */
static uint64_t array_time(const struct sim *s)
{
	static const uint8_t others[WEFT_N_UNITS] = { [WEFT_UNIT_VE] = BIT(WRITE) | BIT(X) };
	const struct traffic *h = traffic_of(s, WEFT_UNIT_CV);
	uint64_t time = ONE + array_delay(s, PORT_X) + array_delay(s, PORT_W);

	if (h->banks[PORT_X] == BANKS_BOTH)
		time += shared(h, PORT_P, PORT_X);
	if (weights_each_cycle(h))
		time += shared(h, PORT_P, PORT_W);
	return (uint64_t)max64((int64_t)time, (int64_t)fetch(s, WEFT_UNIT_CV, PORT_P, others));
}

/*
 * Returns the part of each cycle of work (of ONE) that the vector engine's writes take from its reads of
 * input in regions that both use: what shared() says, or if reads and writes each stay in one bank, the
 * part bank_overlap of the writes.
 */
static uint64_t own_writes(const struct traffic *h)
{
	uint64_t sum = 0;

	if (h->bank_overlap == ONE - 1)
		return shared(h, PORT_X, PORT_WRITE);
	for (int r = 0; (h->in[PORT_X] & h->in[PORT_WRITE]) >> r; r++)
		sum += (uint64_t)h->of[PORT_X][r] * h->of[PORT_WRITE][r] / ONE * h->bank_overlap / ONE;
	return sum;
}

/*
 * Returns the cycles, in 1/ONE, that the vector engine takes for each cycle of undisturbed work: ONE, what the
 * array's accesses and its own writes delay its reads of input and second operand, and what its own reads of
 * input and its writes take from its weights and records. These come while it works, so if their fetch takes
 * longer than all this, it alone counts.
 */
static uint64_t engine_time(const struct sim *s)
{
	static const uint8_t cv[WEFT_N_UNITS] = { [WEFT_UNIT_CV] = BIT(WRITE) | BIT(X) | BIT(W) };
	const struct traffic *h = traffic_of(s, WEFT_UNIT_VE);
	uint64_t time = ONE + delay(s, WEFT_UNIT_VE, PORT_X, cv) + delay(s, WEFT_UNIT_VE, PORT_R, cv) +
	                own_writes(h) + shared(h, PORT_R, PORT_WRITE) +
	                shared(h, PORT_W, PORT_X) + shared(h, PORT_W, PORT_WRITE);

	return (uint64_t)max64((int64_t)time, (int64_t)fetch(s, WEFT_UNIT_VE, PORT_W, cv));
}

/*
 * Returns the rate (of ONE) at which unit k works as far as its operands in the scratchpad allow: writes of the
 * engines go before the array's reads, these before the vector engine's, these before loads, these before stores
 * (but see fetch() for parameters). Loads with a port of their own neither wait nor keep others waiting. ONE if the unit is idle or its command accesses nothing.
 */
static uint64_t scratchpad_rate(const struct sim *s, int k)
{
	static const uint8_t engines[WEFT_N_UNITS] = { [WEFT_UNIT_CV] = ALL, [WEFT_UNIT_VE] = ALL };
	static const uint8_t all[WEFT_N_UNITS] = { [WEFT_UNIT_CV] = ALL, [WEFT_UNIT_VE] = ALL, [WEFT_UNIT_LD] = BIT(WRITE) };

	if (!traffic_of(s, k) || (k == WEFT_UNIT_LD && s->load_port))
		return ONE;
	switch (k) {
	case WEFT_UNIT_CV: return ONE * ONE / array_time(s);
	case WEFT_UNIT_VE: return ONE * ONE / engine_time(s);
	case WEFT_UNIT_LD: return ONE * ONE / (ONE + delay(s, k, PORT_WRITE, engines));
	default:           return ONE * ONE / (ONE + delay(s, k, PORT_X, s->load_port ? engines : all));
	}
}

/* ---- units ---- */

/* Returns whether command c waits for a command that has not retired yet. */
static bool waits(const struct sim *s, const struct cmd *c)
{
	for (int i = 0; i < WEFT_N_UNITS; i++)
		if (c->wait[i] > s->u[i].retired)
			return true;
	return false;
}

/* Returns how many 64-bit words the stream's k-th command has. */
static uint64_t words_of(const struct sim *s, uint32_t k)
{
	return weft_cmd_info((unsigned)s->c->p[s->order[k]].c.h.op)->n_words;
}

/*
 * Returns the cycles until the memory has answered everything that was asked for before cycle `at`: its
 * latency, the load that is under way and the loads in the queue that wait for nothing (of the last one what
 * it can have asked for by then), up to what may be queued.
 */
static uint64_t backlog(const struct sim *s, uint64_t at)
{
	const struct unit *u = &s->u[WEFT_UNIT_LD];
	uint64_t beat = s->slow ? 2 : 1, most = beat * COST_QUEUED_BEATS, sum = (s->slow ? COST_MEMORY_FAR : COST_MEMORY_NEAR) + (u->busy ? u->left / ONE : 0);

	for (uint32_t k = u->next; k < u->pushed && sum < most; k++) {
		const struct cmd *c = &s->c->p[u->cmd[k]];
		uint64_t cost = s->slow ? c->slow : c->cost, asked = at > s->load_at + COST_LOAD_STARTS ? (at - s->load_at - COST_LOAD_STARTS) * beat * COST_BURST_BEATS : 0;
		if (waits(s, c))
			break;
		sum += k + 1 == u->pushed && asked < cost ? asked : cost;
	}
	return sum < most ? sum : most;
}

/*
 * Ask for more words of the stream as long as there is room on chip for a burst, and note in s->arrive when
 * each burst arrives. Words share the memory with loads: if a load is under way, it takes that much longer,
 * or if it is nearly done, the load behind it does (s->owed).
 */
static void fetch_words(struct sim *s)
{
	while (s->asked < s->words && s->asked + COST_FETCH_BURST <= s->taken + COST_FETCH_WORDS) {
		struct unit *u = &s->u[WEFT_UNIT_LD];
		uint64_t ago = s->taken + COST_FETCH_WORDS - s->asked - COST_FETCH_BURST, at = s->t > ago ? s->t - ago : 0;
		s->arrive[s->asked / COST_FETCH_BURST % (COST_FETCH_WORDS / COST_FETCH_BURST)] = at + backlog(s, at);
		s->asked += COST_FETCH_BURST;
		/* What is asked for already comes first. */
		uint64_t beats = COST_FETCH_BURST * ONE / (s->slow ? 1 : 2);
		if (u->busy && u->left > COST_QUEUED_BEATS * ONE * (s->slow ? 2 : 1))
			u->left += beats;
		else if (u->busy)
			s->owed += beats;
	}
}

/*
 * Allocate the units' lists, list the commands of each, and set the state at the stream's start. Without an
 * order all commands are in their queues at once. Returns 0 or -ENOMEM; simulate() frees the lists in both
 * cases.
 */
static int open_units(struct sim *s)
{
	for (int u = 0; u < WEFT_N_UNITS; u++) {
		s->u[u].since = NEVER;
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
	for (uint32_t i = 0; s->order && i < s->c->n; i++)
		s->words += words_of(s, i);
	if (s->order)
		fetch_words(s);
	s->decoded = s->order ? COST_STREAM_START + (s->slow ? COST_MEMORY_FAR : COST_MEMORY_NEAR) : 0;
	return 0;
}

/*
 * Put the commands whose words are decoded by now into their units' queues, in the stream's order, and find
 * when the next one is decoded (s->decoded): one cycle for each of its words, counted from now or, if that is
 * later, from when its last word arrives. Decoding makes room for words, of which more are asked for. A full
 * queue holds up all that follow. Nothing happens if no order is given.
 */
static void dispatch(struct sim *s)
{
	while (s->order && s->dispatched < s->c->n && s->decoded <= s->t) {
		const struct cmd *c = &s->c->p[s->order[s->dispatched]];
		struct unit *u = &s->u[c->unit];
		if (s->read == s->dispatched) {
			s->taken += words_of(s, s->read++);
			fetch_words(s);
		}
		if (u->pushed - u->next >= WEFT_QUEUE_DEPTH)
			return;
		s->dispatched++;
		u->pushed++;
		if (c->unit == WEFT_UNIT_LD)
			s->load_at = s->t;
		if (s->dispatched == s->c->n)
			return;
		uint64_t words = words_of(s, s->dispatched), last = s->taken + words - 1;
		uint64_t there = s->arrive[last / COST_FETCH_BURST % (COST_FETCH_WORDS / COST_FETCH_BURST)];
		s->decoded = (there > s->t ? there : s->t) + words;
	}
}

/*
 * Returns whether u, which is unit number k, can begin its next command as soon as all that the command waits for has retired. To do so, the
 * unit must be idle and have a command in its queue. Also, only so many of its commands, this one included, may have begun and not retired: 2 of
 * the array, 1 of the vector engine, COST_DMA_ISSUED of loads and of stores.
 */
static bool is_free(const struct unit *u, int k)
{
	uint32_t under_way = u->next - u->retired, most = k == WEFT_UNIT_CV ? 2 : k == WEFT_UNIT_VE ? 1 : COST_DMA_ISSUED;

	return !u->busy && u->next != u->pushed && under_way < most;
}

/*
 * Returns how many cycles less command c, which unit u begins now, takes because the unit has planned it while it waited for other
 * units. The result is 0 if the unit does not plan such commands ahead.
 */
static uint64_t planned_ahead(const struct sim *s, const struct unit *u, const struct cmd *c)
{
	if (!s->plan_ahead || c->c.h.op != WEFT_CMD_DW || c->c.dw.table)
		return 0;
	return (uint64_t)min64((int64_t)(s->t - u->since), COST_DW_PLAN);
}

/*
 * Begin the next command of every unit that is_free() if all that the command waits for has retired. This
 * sets its work, traffic and start cycle, and s->changed. A load that follows the one before without a
 * pause also gets the work that is owed for words fetched meanwhile; any load clears that debt.
 */
static void start_heads(struct sim *s)
{
	for (int k = 0; k < WEFT_N_UNITS; k++) {
		struct unit *u = &s->u[k];
		if (!is_free(u, k))
			continue;
		const struct cmd *c = &s->c->p[u->cmd[u->next]];
		u->since = u->since == NEVER ? s->t : u->since;
		if (waits(s, c))
			continue;
		s->changed = u->busy = true;
		u->now = u->cmd[u->next++];
		u->left = ((s->slow && c->slow ? c->slow : c->cost) - planned_ahead(s, u, c)) * ONE;
		u->since = NEVER;
		if (k == WEFT_UNIT_LD) {
			u->left += s->load_end == s->t ? s->owed : 0;
			s->owed = 0;
		}
		find_traffic(s, u);
		s->start[u->now] = s->t;
	}
}

/*
 * Returns how many rows a cycle (of ONE, at most ONE) unit k's command hands to the post unit at full speed;
 * 0 if the unit is idle.
 */
static uint64_t rows_rate(const struct sim *s, int k)
{
	const struct unit *u = &s->u[k];

	if (!u->busy)
		return 0;
	const struct cmd *c = &s->c->p[u->now];
	uint64_t r = (uint64_t)c->rows * ONE / (c->cost ? c->cost : 1);
	return r > ONE ? ONE : r;
}

/*
 * Returns the part (of ONE) of the post unit's cycles that the vector engine gets even if the array has a row for the post unit
 * in every cycle. If the array is idle, the function returns COST_POST_SHARE.
 */
static int64_t least_share(const struct sim *s)
{
	const struct unit *u = &s->u[WEFT_UNIT_CV];

	return u->busy && s->c->p[u->now].c.conv.turns ? COST_POST_SHARE_TURNS : COST_POST_SHARE;
}

/*
 * Returns the largest part (of ONE) of the post unit's cycles that the vector engine can take from the array's command, which
 * is under way.
 */
static int64_t most_share(const struct sim *s)
{
	const struct cmd *c = &s->c->p[s->u[WEFT_UNIT_CV].now];

	return c->passes > 1 && !c->c.conv.turns ? COST_POST_SHARE_PASSES(c->passes) : least_share(s);
}

/*
 * Returns the rate (of ONE) at which unit k, array or vector engine, which is busy, works as far as the post unit
 * takes its rows. The array gets the cycles that the rows of the vector engine leave, and at least all but most_share()
 * of the cycles. The vector engine waits where its rows meet the
 * array's, which come at the rate found for the array; a pooling command, if the stream's order is known,
 * only where both together are more than a row a cycle, since it reads on meanwhile.
 */
static uint64_t post_rate(const struct sim *s, int k)
{
	uint64_t want = rows_rate(s, k), other = rows_rate(s, k == WEFT_UNIT_CV ? WEFT_UNIT_VE : WEFT_UNIT_CV), room;

	if (k == WEFT_UNIT_CV) {
		room = ONE - (uint64_t)min64((int64_t)other, most_share(s));
		return want <= room ? ONE : room * ONE / want;
	}
	/* Rows of the array come at once and delay the vector engine's where it has some. */
	other = other * s->rate[WEFT_UNIT_CV] / ONE;
	other = (uint64_t)min64((int64_t)other, ONE - least_share(s));
	/* It may read the next window meanwhile, that being several words. */
	if (s->order && s->c->p[s->u[k].now].c.h.op == WEFT_CMD_POOL)
		return want <= ONE - other ? ONE : (ONE - other) * ONE / want;
	return ONE * ONE / (ONE + want * other / (ONE - other));
}

/*
 * Returns the rate (of ONE) of unit k, array or vector engine: what its operands or what its rows allow,
 * whichever is less. ONE if it is idle.
 */
static uint64_t engine_rate(const struct sim *s, int k)
{
	return s->u[k].busy ? (uint64_t)min64((int64_t)scratchpad_rate(s, k), (int64_t)post_rate(s, k)) : ONE;
}

/*
 * Sets s->rate[] of array and vector engine (ONE for an idle one), which slow each other down: each rate is found from
 * the other one's, in turn, until that of the vector engine stays, at most COST_RATE_ROUNDS times. The first
 * assumption for the vector engine is ONE, or what post_rate() allows it next to rows of the array that it cannot crowd
 * out. Sets s->asks to whether the array is slower than its rows alone would let it, so that it asks again and again for
 * a word that is refused.
 */
static void find_engine_rates(struct sim *s)
{
	s->asks = false;
	s->rate[WEFT_UNIT_CV] = s->rate[WEFT_UNIT_VE] = ONE;
	/* The vector engine cannot crowd out rows that take turns with its own, or that take all of the post unit. */
	if (s->u[WEFT_UNIT_CV].busy && s->u[WEFT_UNIT_VE].busy &&
	    (s->c->p[s->u[WEFT_UNIT_CV].now].passes > 1 || rows_rate(s, WEFT_UNIT_CV) >= (uint64_t)(ONE - least_share(s))))
		s->rate[WEFT_UNIT_VE] = post_rate(s, WEFT_UNIT_VE);
	for (int n = 0; n < COST_RATE_ROUNDS; n++) {
		uint64_t assumed = s->rate[WEFT_UNIT_VE];
		s->rate[WEFT_UNIT_CV] = engine_rate(s, WEFT_UNIT_CV);
		/* A word refused is asked for until it comes, and keeps those behind it waiting as well. */
		s->asks = s->u[WEFT_UNIT_CV].busy && s->rate[WEFT_UNIT_CV] < post_rate(s, WEFT_UNIT_CV);
		s->rate[WEFT_UNIT_VE] = engine_rate(s, WEFT_UNIT_VE);
		if (s->rate[WEFT_UNIT_VE] == assumed)
			break;
	}
}

/*
 * Sets s->rate[] of loads and stores (ONE for idle ones) to what their accesses to the scratchpad allow beside the
 * engines, whose rates have been found. Slow memory serves one direction at a time: if both are under way then, each
 * gets at most half.
 */
static void find_memory_rates(struct sim *s)
{
	static const int units[] = { WEFT_UNIT_LD, WEFT_UNIT_ST };
	const bool shared = s->slow && s->u[WEFT_UNIT_LD].busy && s->u[WEFT_UNIT_ST].busy;

	for (int i = 0; i < 2; i++)
		s->rate[units[i]] = s->u[units[i]].busy ? scratchpad_rate(s, units[i]) : ONE;
	for (int i = 0; i < 2 && shared; i++)
		s->rate[units[i]] = (uint64_t)min64((int64_t)s->rate[units[i]], ONE / 2);
}

/*
 * Finds the rates of all units anew, s->rate[] and s->asks, if a unit has begun, ended or come to another region since
 * they were found (s->changed, which is cleared). Otherwise they stay.
 */
static void find_rates(struct sim *s)
{
	if (!s->changed)
		return;
	s->changed = false;
	/* While the engines' rates are found, loads and stores count as unhindered. */
	s->rate[WEFT_UNIT_LD] = s->rate[WEFT_UNIT_ST] = ONE;
	find_engine_rates(s);
	find_memory_rates(s);
}

/* ---- time ---- */

/* Returns the lesser of two spans of time, of which 0 means that there is none. */
static uint64_t sooner(uint64_t dt, uint64_t d)
{
	return d && (!dt || d < dt) ? d : dt;
}

/*
 * Returns the cycles until something changes: a command is decoded, ends or comes to another region, or a
 * command retires. 0 if nothing is under way.
 */
static uint64_t next_event(const struct sim *s)
{
	uint64_t dt = s->order && s->dispatched < s->c->n && s->decoded > s->t ? s->decoded - s->t : 0;

	for (int k = 0; k < WEFT_N_UNITS; k++) {
		const struct unit *u = &s->u[k];
		if (u->busy)
			dt = sooner(dt, s->rate[k] == ONE ? (u->left - u->moves + ONE - 1) / ONE : (u->left - u->moves + s->rate[k] - 1) / s->rate[k]);
		if (u->retired < u->n_left)
			dt = sooner(dt, u->retire[u->retired] - s->t);
	}
	return dt;
}

/* Returns the cycles from the end of command c's work to its retirement, the memory's latency included. */
static uint64_t latency_of(const struct sim *s, const struct cmd *c)
{
	bool dma = c->unit == WEFT_UNIT_LD || c->unit == WEFT_UNIT_ST;

	return c->latency + (dma ? s->slow ? COST_MEMORY_FAR : COST_MEMORY_NEAR : 0);
}

/*
 * Let dt cycles pass, which must not be more than next_event(): s->t moves on and work is done at the
 * units' rates. A command whose work is done leaves its unit, which sets its retirement in s->end; commands
 * whose latency is over retire. For one that comes to another region the traffic is found anew. s->changed
 * is set if a command has left its unit or come to another region.
 */
static void advance(struct sim *s, uint64_t dt)
{
	s->t += dt;
	for (int k = 0; k < WEFT_N_UNITS; k++) {
		struct unit *u = &s->u[k];
		if (u->busy) {
			uint64_t done = s->rate[k] * dt;
			u->left = u->left > done ? u->left - done : 0;
			if (u->left && u->left <= u->moves) {
				s->changed = true;
				find_traffic(s, u);
			} else if (!u->left) {
				s->changed = true;
				u->busy = false;
				s->load_end = k == WEFT_UNIT_LD ? s->t : s->load_end;
				u->retire[u->n_left++] = s->end[u->now] = s->t + latency_of(s, &s->c->p[u->now]);
			}
		}
		while (u->retired < u->n_left && u->retire[u->retired] <= s->t)
			u->retired++;
	}
}

/*
 * Simulate the step's emitted commands with fast or slow memory. `order` is the stream's order (order[i]:
 * the command at place i), whose fetch and queues then count, or NULL for every unit by itself. Sets
 * start[i] and end[i], the cycles in which command i begins and retires, and *total, the cycle in which all
 * is done, which is COST_STREAM_END behind the last retirement. Returns 0 or -ENOMEM, after which these
 * mean nothing.
 */
int simulate(const struct npu_step *step, const uint32_t *order, bool slow_memory, uint64_t *start, uint64_t *end, uint64_t *total)
{
	struct sim s = { .c = &step->cmds, .order = order, .slow = slow_memory, .start = start, .end = end,
	                 .region = step->cc->cfg->sp_bytes / WEFT_SP_REGIONS, .n = step->cc->n,
	                 .load_port = step->cc->cfg->load_port, .plan_ahead = step->cc->cfg->plan_ahead };
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
	*total = s.t + COST_STREAM_END;
	for (int u = 0; u < WEFT_N_UNITS; u++) {
		free(s.u[u].cmd);
		free(s.u[u].retire);
	}
	return err;
}

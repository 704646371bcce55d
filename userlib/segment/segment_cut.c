/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a program is cut into segments, and its parts as streams of their own.
 *
 * A command's waits count the commands of each unit that have retired since the stream's start. A
 * part starts when all commands before it have retired, so its waits are less by the commands of
 * that unit before it, and at least zero.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "segment.h"
#include "weft/gen/cmd.h"

uint64_t *weft_cut_stream(const weft_program *p, const struct weft_step *step, uint32_t from, uint32_t to, size_t *n_words)
{
	const uint64_t *w = p->words + step->first_word;
	uint64_t *out = malloc(((size_t)step->n_words + WEFT_CMD_MAX_WORDS) * sizeof(*out));
	uint32_t before[WEFT_N_UNITS] = { 0 };
	struct weft_cmd c, end;
	size_t n = 0, at = 0;

	if (!out)
		return NULL;
	for (uint32_t i = 0; i < to && at < step->n_words && !weft_cmd_decode(w + at, step->n_words - at, &c); i++) {
		unsigned unit = weft_cmd_info((unsigned)c.h.op)->unit;
		at += (size_t)c.h.n_words;
		if (unit >= WEFT_N_UNITS)
			break;
		if (i < from) {
			before[unit]++;
			continue;
		}
		for (int u = 0; u < WEFT_N_UNITS; u++)
			c.h.wait[u] = (uint32_t)c.h.wait[u] > before[u] ? (int32_t)((uint32_t)c.h.wait[u] - before[u]) : 0;
		n += weft_cmd_encode(&c, out + n);
	}
	weft_cmd_init(&end, WEFT_CMD_END);
	end.h.tag = UINT32_MAX;
	*n_words = n + weft_cmd_encode(&end, out + n);
	return out;
}

/*
 * Work is the processor time that a simulator takes, in sixteenths of what it takes for a cycle. Apart
 * from cycles it takes time for beats of loads and stores, in which the simulated memory works, and for
 * elements, which the model beside it makes as well and which are compared. The figures are fitted to
 * the processor time of 31 segments of three networks and are within 4 % of it.
 */
#define CYCLE    16            /* a cycle */
#define LOADED   10            /* a beat of the bus that is loaded */
#define STORED   35            /* a beat of the bus that is stored */
#define ELEMENT  2             /* an element of a tensor that is made and compared */

/* The work that the simulator does, and the work that the model running ahead does, which has no cycles. */
struct cost { uint64_t device, model; };

/* Returns the number of elements of the graph's tensors that a command makes, by its debug records. */
static uint64_t elements_of(const weft_program *p, const struct weft_pcmd *c)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < c->n_recs; i++)
		n += (uint64_t)p->recs[c->first_rec + i].n_y * p->recs[c->first_rec + i].n_x * p->recs[c->first_rec + i].n_c;
	return n;
}

/* Returns n / of, rounded up. */
static uint64_t groups(uint64_t n, uint64_t of)
{
	return (n + of - 1) / of;
}

/* Returns roughly the cycles that a conv command takes in an array of n x n. */
static uint64_t array_cycles(const struct weft_cmd_conv *c, uint64_t n)
{
	uint64_t rows = groups((uint64_t)c->post.ow * (uint64_t)c->post.oh, n), columns = groups((uint64_t)c->post.oc, n);

	return rows * columns * (uint64_t)c->n_ky * (uint64_t)c->n_kx * groups((uint64_t)c->run_len, n) * n;
}

/*
 * Returns the work that command c causes beside its cycles, in units of a sixteenth of the time for a cycle.
 * For the device: LOADED or STORED units for each beat on the bus, and ELEMENT for each element to make and
 * compare. For the model: a quarter of a unit for each element, and, for a conv, a third of one for each
 * cycle of the array. `at` is c's debug entry, which has the elements.
 */
static struct cost side_work(const weft_program *p, const struct weft_config *cfg, const struct weft_pcmd *at, const struct weft_cmd *c)
{
	uint64_t elements = elements_of(p, at);
	struct cost k = { ELEMENT * elements, elements / 4 };

	switch (c->h.op) {
	case WEFT_CMD_LOAD:
		k.device += LOADED * weft_moved_bytes(c, cfg) / cfg->axi_bytes;
		break;
	case WEFT_CMD_STORE:
		k.device += STORED * weft_moved_bytes(c, cfg) / cfg->axi_bytes;
		break;
	case WEFT_CMD_CONV:
		k.model += array_cycles(&c->conv, cfg->n) / 3;
		break;
	default:
		break;
	}
	return k;
}

/*
 * The work that a simulator does in a millisecond on the machine whose times weft_host_ms() gives.
 * Seven networks were within 8 % of it.
 */
#define PER_MS    36000
/* Milliseconds for a byte of memory that is used for the first time, since the machine makes a page for it. */
#define MS_A_BYTE 0.67e-6
/*
 * Milliseconds by which a later segment's process takes longer to begin than the first: its device gets
 * the state.
 */
#define LATER_MS  5
/*
 * Milliseconds to verify a stream, begin a model beside the simulator and end both; measured on
 * networks of 13 steps.
 */
#define STREAM_MS 3

/* Returns the estimated time of operator op on the host in ms; 0 if it is not known. */
static double host_ms(const weft_program *p, int op)
{
	double ms = weft_host_ms(p->graph, &p->graph->ops[op], p->ops[op].macs);

	return ms > 0 ? ms : 0;
}

/*
 * Returns the work, in sixteenths of the time for a cycle (PER_MS of them are a millisecond), that must
 * be done before a later segment can compare: all of golden (host_ms of each operator), LATER_MS, and
 * the first use of the memory for scratchpad, arena and the tensors that a comparison looks at. 0 if
 * there is no memory.
 */
static uint64_t golden_work(const weft_program *p, const struct weft_config *cfg)
{
	const weft_graph *g = p->graph;
	bool *kept = calloc((size_t)g->n_tensors + 1, sizeof(*kept));
	double bytes = (double)cfg->sp_bytes + (double)p->arena_bytes, ms = 0;

	if (!kept)
		return 0;
	weft_checker_wants(p, kept);
	for (int i = 0; i < g->n_ops; i++)
		ms += host_ms(p, i);
	for (int i = 0; i < g->n_tensors; i++)
		if (kept[i])
			bytes += (double)weft_tensor_bytes(&g->tensors[i].t);
	free(kept);
	return (uint64_t)((ms + LATER_MS + MS_A_BYTE * bytes) * PER_MS);
}

/*
 * Returns the work of a step without that of its commands: an operator's on the host, or the estimated
 * cycles of an NPU step.
 */
static uint64_t step_work(const weft_program *p, const struct weft_step *step, enum weft_memory memory)
{
	if (step->kind == WEFT_STEP_HOST)
		return (uint64_t)(host_ms(p, step->op) * PER_MS);
	return CYCLE * step->estimate[memory];
}

/*
 * Returns the work before the first command of step i, to begin a stream. The first step has none,
 * since every segment begins one stream anyway.
 */
static uint64_t stream_work(const weft_program *p, int i)
{
	return i && p->steps[i].kind == WEFT_STEP_NPU ? STREAM_MS * PER_MS : 0;
}

/*
 * Returns the estimated work of the whole program, in sixteenths of the time for a cycle, for the
 * simulator in that memory profile (device) and for the model that runs ahead: cycles, streams and side
 * work of NPU steps, and the host's steps for both. A stream that cannot be decoded counts up to there.
 */
static struct cost all_work(const weft_program *p, const struct weft_config *cfg, enum weft_memory memory)
{
	struct cost all = { 0, 0 };
	struct weft_cmd c;

	for (int i = 0; i < p->n_steps; i++) {
		const struct weft_step *step = &p->steps[i];
		size_t at = 0;
		uint64_t own = step_work(p, step, memory);
		all.device += own + stream_work(p, i);
		if (step->kind != WEFT_STEP_NPU) {
			all.model += own;
			continue;
		}
		for (uint32_t k = 0; k < step->n_cmds; k++) {
			if (weft_cmd_decode(p->words + step->first_word + at, step->n_words - at, &c))
				break;
			at += (size_t)c.h.n_words;
			struct cost side = side_work(p, cfg, &p->cmds[step->first_cmd + k], &c);
			all.device += side.device;
			all.model += side.model;
		}
	}
	return all;
}

/* The walk through the program in search of points to cut at. */
struct walk {
	const weft_program *p;
	const struct weft_config *cfg;
	enum weft_memory memory;
	uint32_t *last;            /* for each operator its last command in the current step that is no load */
	uint64_t begin, side;      /* work of cycles before the current step; work beside cycles so far */
	struct cost total;         /* the work of the whole program */
	uint64_t golden;           /* work until the second segment may begin, apart from the model's */
	int n, have;               /* parts that are wanted; points chosen so far */
	struct weft_point *points; /* the points chosen */
	struct weft_point last_at; /* the point that was offered last, */
	uint64_t offered, cut;     /* the work before it, and the work before the last chosen point */
};

/*
 * Notes for each operator, in k->last, the number within the step of its last command that is no load;
 * 0 for operators without one. A stream that cannot be decoded counts up to there.
 */
static void find_last(struct walk *k, const struct weft_step *step)
{
	const uint64_t *w = k->p->words + step->first_word;
	struct weft_cmd c;
	size_t at = 0;

	memset(k->last, 0, ((size_t)k->p->n_ops + 1) * sizeof(*k->last));
	for (uint32_t i = 0; i < step->n_cmds && !weft_cmd_decode(w + at, step->n_words - at, &c); i++) {
		int op = k->p->cmds[step->first_cmd + i].op;
		at += (size_t)c.h.n_words;
		if (op >= 0 && c.h.op != WEFT_CMD_LOAD)
			k->last[op] = i;
	}
}

/* Returns the sum 1 + r + r^2 + ... of n terms. */
static double series(double r, int n)
{
	double sum = 0;

	while (n-- > 0)
		sum = sum * r + 1;
	return sum;
}

/*
 * Returns the work of the program, for the simulator, that should lie before the next point to be
 * chosen, number k->have. The first segment begins at once, the others when golden is there and the
 * model has come to them, and all shall end together. If x[i] is the share of the work before segment
 * i, and g and m are what golden (at most 0.4) and the model (0.001 to 0.5) take of it, then x[1] is
 * the time that each segment has, and x[i + 1] - x[i] is that time less g + m x[i].
 */
static uint64_t work_due(const struct walk *k)
{
	double device = (double)k->total.device + 1, model = (double)k->total.model / device, golden = (double)k->golden / device;

	/* Limit the shares, so that there is work left for later segments. */
	model = model < 0.001 ? 0.001 : model > 0.5 ? 0.5 : model;
	golden = golden > 0.4 ? 0.4 : golden;
	double time = (1 + golden * series(1 - model, k->n - 1)) / series(1 - model, k->n);
	double before = time * series(1 - model, k->have) - golden * series(1 - model, k->have - 1);
	return (uint64_t)((double)k->total.device * before);
}

/*
 * Offers a point at which the program may be cut, with the work before it; points come in order. When the
 * work reaches what is due before the next cut (work_due), the nearer of this point and the one offered
 * before it (this one if both are equally near) becomes k->points[k->have], and if that was the one before,
 * this point is offered for the next cut. Does nothing once k->n points have been chosen.
 */
static void offer(struct walk *k, struct weft_point at, uint64_t work)
{
	if (k->have == k->n)
		return;
	uint64_t due = work_due(k);
	if (work >= due) {
		bool before = k->offered > k->cut && due - k->offered < work - due;
		k->points[k->have++] = before ? k->last_at : at;
		k->cut = before ? k->offered : work;
		if (before) {
			k->offered = k->cut;
			offer(k, at, work);
			return;
		}
	}
	k->last_at = at;
	k->offered = work;
}

/*
 * The n commands of a step from `first` on, since the last command of some operator. For each:
 * whether a cut may follow (may), and the work beside cycles up to there (at). done and side are
 * the cycles of the step and the work beside them before the first.
 */
struct span { uint32_t first, n; uint64_t done, side; uint64_t *at; bool *may; };

/*
 * Offers to k those points of a span of commands of step i_step that may be cut (s->may), at whose end
 * the step is in cycle `done`; the span's cycles are spread over the points in proportion to the work
 * beside them, or all lie before each point if there is no such work. Then the span starts anew behind its commands, with no points.
 */
static void offer_span(struct walk *k, int i_step, struct span *s, uint64_t done)
{
	uint64_t side = s->n ? s->at[s->n - 1] - s->side : 0;

	for (uint32_t i = 0; i < s->n; i++) {
		double part = side ? (double)(s->at[i] - s->side) / (double)side : 1;
		uint64_t cycles = s->done + (uint64_t)(part * (double)(done - s->done));
		if (s->may[i])
			offer(k, (struct weft_point){ i_step, s->first + i + 1 }, k->begin + CYCLE * cycles + s->at[i]);
	}
	s->first += s->n;
	s->n = 0;
	s->done = done;
	s->side = k->side;
}

/*
 * Says whether the stream may be cut behind command c: behind every command but loads and convolutions
 * whose sums stay in the array for the next command.
 */
static bool may_cut(const struct weft_cmd *c)
{
	return c->h.op != WEFT_CMD_LOAD && (c->h.op != WEFT_CMD_CONV || !c->conv.keep);
}

/*
 * Goes through the commands of an NPU step but its last two, adds the device's work of each to k->side,
 * and offers each place behind a command where may_cut() allows it, with the work up to there. Commands
 * are taken in spans that end with an operator's last command but loads; the cycles between two such
 * ends are spread over the span by the work beside them. Nothing is offered behind the last such
 * command. A command that cannot be decoded ends the walk. Returns 0 or -ENOMEM.
 */
static int cut_step(struct walk *k, int i_step)
{
	const struct weft_step *step = &k->p->steps[i_step];
	const uint64_t *w = k->p->words + step->first_word;
	struct span s = { .side = k->side, .at = malloc((step->n_cmds + 1) * sizeof(*s.at)), .may = malloc((step->n_cmds + 1) * sizeof(*s.may)) };
	struct weft_cmd c;
	size_t at = 0;

	find_last(k, step);
	for (uint32_t i = 0; s.at && s.may && i + 2 < step->n_cmds && !weft_cmd_decode(w + at, step->n_words - at, &c); i++) {
		int op = k->p->cmds[step->first_cmd + i].op;
		at += (size_t)c.h.n_words;
		k->side += side_work(k->p, k->cfg, &k->p->cmds[step->first_cmd + i], &c).device;
		s.may[s.n] = may_cut(&c);
		s.at[s.n++] = k->side;
		if (op < 0 || c.h.op == WEFT_CMD_LOAD || k->last[op] != i)
			continue;
		uint64_t end = k->p->ops[op].done[k->memory];
		offer_span(k, i_step, &s, end > s.done ? end : s.done);
	}
	int err = s.at && s.may ? 0 : -ENOMEM;
	free(s.at);
	free(s.may);
	return err;
}

int weft_cut_points(const weft_program *p, const struct weft_config *cfg, enum weft_memory memory, bool golden, int n,
                    struct weft_point *points)
{
	struct walk k = { .p = p, .cfg = cfg, .memory = memory, .last = malloc(((size_t)p->n_ops + 1) * sizeof(uint32_t)),
	                  .total = all_work(p, cfg, memory), .golden = golden ? golden_work(p, cfg) : 0, .n = n, .points = points, .have = 1 };

	if (!k.last)
		return -ENOMEM;
	points[0] = (struct weft_point){ 0, 0 };
	int err = 0;
	for (int i = 0; i < p->n_steps && !err; i++) {
		/* The program may also be cut between two steps. */
		if (i)
			offer(&k, (struct weft_point){ i, 0 }, k.begin + k.side);
		k.begin += stream_work(p, i);
		if (p->steps[i].kind == WEFT_STEP_NPU)
			err = cut_step(&k, i);
		k.begin += step_work(p, &p->steps[i], memory);
	}
	points[k.have] = (struct weft_point){ p->n_steps, 0 };
	free(k.last);
	return err ? err : k.have;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a part of a stream a stream of its own: loads of the scratchpad bytes that it reads, the
 * kept commands with their waits counted anew, stores of what the last one (the target) makes.
 */
#include "reduce_stream_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "driver/verify/verify.h"

#define ROW_MAX (1u << 19)     /* the most bytes of one load or store */
#define BUS 64u                /* alignment in memory, in bytes */

struct build {
	const struct weft_part *k;
	struct weft_part_stream *s;
	bool *block;               /* for each block of the scratchpad: it must be loaded */
	uint64_t consts_at, out_at; /* offsets of the program's constants in the constants, of the results in the arena */
	uint32_t retired[WEFT_N_UNITS];    /* commands of each unit so far */
	int err;                   /* the first failure's negative errno, or 0 */
};

/* Returns n rounded up to a multiple of BUS. */
static uint64_t align(uint64_t n)
{
	return (n + BUS - 1) / BUS * BUS;
}

/*
 * Appends a command to the part's stream and counts it in s->n_cmds and for its unit. A failure
 * (-ENOMEM) is left in b->err, and nothing is counted.
 */
static void append(struct build *b, const struct weft_cmd *c)
{
	unsigned u = weft_cmd_info((unsigned)c->h.op)->unit;
	int err = weft_words_add(&b->s->stream, c);

	if (err) {
		b->err = err;
		return;
	}
	b->s->n_cmds++;
	if (u < WEFT_N_UNITS)
		b->retired[u]++;
}

/* Says whether any kept command loads from or stores to that window of the program. */
static bool reaches(const struct weft_part *k, int window)
{
	for (uint32_t i = k->from; i <= k->target; i++)
		if (k->keep[i] && (k->cmds[i].h.op == WEFT_CMD_LOAD || k->cmds[i].h.op == WEFT_CMD_STORE) &&
		    k->cmds[i].load.window == window)
			return true;
	return false;
}

/*
 * Makes the part's constants (room for an image of the scratchpad, then the program's own constants if
 * kept commands load or store there) and its arena (a copy of the program's if kept commands use it,
 * then room for the target's results if they are in the scratchpad), with their lengths; b->consts_at
 * and b->out_at become the offsets of the second parts. Returns 0 or -ENOMEM.
 */
static int lay_out_memory(struct build *b)
{
	const struct weft_part *k = b->k;
	struct weft_part_stream *s = b->s;
	uint64_t image = k->cfg->sp_bytes, own = reaches(k, WEFT_WIN_CONST) ? k->p->n_consts : 0;
	uint64_t arena = reaches(k, WEFT_WIN_ARENA) ? k->p->arena_bytes : 0;

	b->consts_at = align(image);
	s->n_consts = b->consts_at + own;
	b->out_at = align(arena);
	s->n_arena = b->out_at + (k->out.in_sp ? k->out.hi - k->out.lo : 0);
	s->consts = calloc(1, s->n_consts + 1);
	s->arena = calloc(1, s->n_arena + 1);
	if (!s->consts || !s->arena)
		return -ENOMEM;
	if (own)
		memcpy(s->consts + b->consts_at, k->p->consts, own);
	if (arena)
		memcpy(s->arena, k->arena, arena);
	return 0;
}

/*
 * Copies the blocks of the scratchpad that must be loaded (b->block) into the image at the beginning of
 * the constants, and appends their loads, neighbouring blocks in one row of at most ROW_MAX bytes;
 * s->loads counts them. A failure is left in b->err.
 */
static void load_blocks(struct build *b)
{
	const uint32_t n = b->k->cfg->sp_bytes / WEFT_PART_BLOCK, most = ROW_MAX / WEFT_PART_BLOCK;

	for (uint32_t i = 0, run; i < n; i += run) {
		struct weft_cmd c;
		run = 1;
		if (!b->block[i])
			continue;
		while (i + run < n && run < most && b->block[i + run])
			run++;
		weft_cmd_init(&c, WEFT_CMD_LOAD);
		c.load.window = WEFT_WIN_CONST;
		c.load.dram_off = (int64_t)i * WEFT_PART_BLOCK;
		c.load.sp_addr = (int32_t)(i * WEFT_PART_BLOCK);
		c.load.row_bytes = (int32_t)(run * WEFT_PART_BLOCK);
		memcpy(b->s->consts + (size_t)i * WEFT_PART_BLOCK, b->k->sp + (size_t)i * WEFT_PART_BLOCK, (size_t)run * WEFT_PART_BLOCK);
		append(b, &c);
		b->s->loads++;
	}
}

/*
 * Appends the kept commands of from..target; the last one's place becomes s->target, and s->kept their
 * number. Their waits, which count retired commands of each unit, are counted anew: only kept commands,
 * and, for commands of other units than LD, all loads added in front. Offsets of loads and stores in
 * the constants move behind the scratchpad's image. A failure is left in b->err.
 */
static void keep_commands(struct build *b)
{
	const struct weft_part *k = b->k;
	const uint32_t loads = b->s->loads;
	/* kept[u][i]: how many of the first i commands of unit u are kept; n[u]: commands of unit u so far. */
	uint32_t *kept[WEFT_N_UNITS], n[WEFT_N_UNITS] = { 0 };

	for (int u = 0; u < WEFT_N_UNITS; u++) {
		kept[u] = calloc(k->target + 2u, sizeof *kept[u]);
		b->err = kept[u] ? b->err : -ENOMEM;
	}
	for (uint32_t i = 0; !b->err && i <= k->target; i++) {
		unsigned u = weft_cmd_info((unsigned)k->cmds[i].h.op)->unit;
		bool in = i >= k->from && k->keep[i];
		struct weft_cmd c = k->cmds[i];
		for (int w = 0; in && w < WEFT_N_UNITS; w++)
			c.h.wait[w] = (int32_t)kept[w][(uint32_t)c.h.wait[w] < n[w] ? (uint32_t)c.h.wait[w] : n[w]];
		if (in && u != WEFT_UNIT_LD)
			c.h.wait[WEFT_UNIT_LD] += (int32_t)loads;
		if (in && (c.h.op == WEFT_CMD_LOAD || c.h.op == WEFT_CMD_STORE) && c.load.window == WEFT_WIN_CONST)
			c.load.dram_off += (int64_t)b->consts_at;
		if (in) {
			b->s->target = b->s->n_cmds;
			append(b, &c);
			b->s->kept++;
		}
		if (u < WEFT_N_UNITS) {
			n[u]++;
			kept[u][n[u]] = kept[u][n[u] - 1] + in;
		}
	}
	for (int u = 0; u < WEFT_N_UNITS; u++)
		free(kept[u]);
}

/*
 * Appends stores of what the target wrote into the scratchpad, rows of at most ROW_MAX bytes, to the
 * arena from b->out_at on, so that it can be seen in memory; they wait for all commands before them,
 * and s->stores counts them. Nothing if the target writes to memory itself. A failure is left in
 * b->err.
 */
static void store_results(struct build *b)
{
	const struct weft_part_out *o = &b->k->out;

	for (uint64_t at = o->lo, part; o->in_sp && at < o->hi; at += part) {
		struct weft_cmd c;
		part = o->hi - at < ROW_MAX ? o->hi - at : ROW_MAX;
		weft_cmd_init(&c, WEFT_CMD_STORE);
		c.load.window = WEFT_WIN_ARENA;
		c.load.dram_off = (int64_t)(b->out_at + at - o->lo);
		c.load.sp_addr = (int32_t)at;
		c.load.row_bytes = (int32_t)part;
		for (int u = 0; u < WEFT_N_UNITS; u++)
			c.h.wait[u] = (int32_t)b->retired[u];
		append(b, &c);
		b->s->stores++;
	}
}

/*
 * Writes the part's stream anew: loads of the blocks in b->block, kept commands, stores of results,
 * END, with all counts of *b->s. A failure is left in b->err.
 */
static void write_stream(struct build *b)
{
	struct weft_part_stream *s = b->s;
	struct weft_cmd end;

	s->stream.n = 0;
	s->n_cmds = s->loads = s->stores = s->kept = 0;
	memset(b->retired, 0, sizeof b->retired);
	load_blocks(b);
	keep_commands(b);
	store_results(b);
	weft_cmd_init(&end, WEFT_CMD_END);
	append(b, &end);
}

/*
 * Marks the block of the byte that the verifier says is read before anything writes it, to be loaded.
 * Returns false if the verifier objects to something else, or the block is loaded already.
 */
static bool add_missing(struct build *b, const struct weft_verify_result *r)
{
	if (r->rule != WEFT_VERIFY_USE_BEFORE_LOAD || r->sp_addr >= b->k->cfg->sp_bytes || b->block[r->sp_addr / WEFT_PART_BLOCK])
		return false;
	b->block[r->sp_addr / WEFT_PART_BLOCK] = true;
	return true;
}

int weft_part_build(const struct weft_part *k, struct weft_part_stream *s)
{
	struct build b = { .k = k, .s = s };
	struct weft_verify_result r;

	memset(s, 0, sizeof *s);
	b.block = calloc(k->cfg->sp_bytes / WEFT_PART_BLOCK + 1, 1);
	b.err = b.block ? lay_out_memory(&b) : -ENOMEM;
	while (!b.err) {
		const struct weft_verify_windows win = { .w = {
			[WEFT_WIN_STREAM] = { 0, true, false }, [WEFT_WIN_CONST] = { s->n_consts, true, false },
			[WEFT_WIN_ARENA] = { s->n_arena, true, true } } };
		write_stream(&b);
		if (b.err)
			break;
		b.err = weft_verify(k->cfg, s->stream.words, s->stream.n, &win, &r);
		if (!b.err)
			break;
		if (b.err == -EINVAL && add_missing(&b, &r))
			b.err = 0;
	}
	free(b.block);
	if (b.err)
		weft_part_release(s);
	return b.err;
}

void weft_part_release(struct weft_part_stream *s)
{
	free(s->stream.words);
	free(s->consts);
	free(s->arena);
	memset(s, 0, sizeof *s);
}

/* ---- as a program ---- */

/* The program that is made of a part, with the tables that p points to. */
struct program {
	weft_program p;
	struct weft_step step;     /* its only step */
	struct weft_ptensor *tensors;
	struct weft_pop *ops;
	weft_graph *g;             /* an IDENTITY for each tensor that the target makes, from an even tensor to an odd one */
};

/*
 * Returns the new graph's tensor for a tensor of the captured program that the target makes, found by
 * its name. When it is first asked for, an input "x" and it are added, as operand and result of an
 * IDENTITY with the name and number of the source operator for which the target works (number 0 and ""
 * if there is none). Negative: -ENOMEM.
 */
static int take_tensor(struct program *q, const struct weft_part *k, int tensor)
{
	const struct weft_gtensor *t = &k->p->graph->tensors[tensor];
	const int op = k->p->cmds[k->step->first_cmd + k->target].op;
	const weft_graph *g = k->p->graph;
	const struct weft_gsrc *src = op >= 0 && g->ops[op].src >= 0 ? &g->srcs[g->ops[op].src] : NULL;

	for (int i = 1; i < q->g->n_tensors; i += 2)
		if (!strcmp(q->g->tensors[i].name, t->name))
			return i;
	int in = weft_graph_tensor(q->g, "x", t->t.dtype, t->t.rank, t->t.dim);
	int out = in < 0 ? in : weft_graph_tensor(q->g, t->name, t->t.dtype, t->t.rank, t->t.dim);
	int s = out < 0 ? out : weft_graph_src(q->g, src ? src->index : 0, src ? src->name : "");
	if (s >= 0)
		q->g->srcs[s].out = out;
	int made = s < 0 ? s : weft_graph_op(q->g, WEFT_OP_IDENTITY, NULL, s, &in, 1, &out, 1);
	return made < 0 ? made : out;
}

/*
 * Makes the even tensors of the graph its inputs and the odd ones, the results, its outputs. Returns 0
 * or -ENOMEM.
 */
static int mark_ports(weft_graph *g)
{
	g->inputs = calloc((size_t)g->n_tensors + 1, sizeof(int));
	g->outputs = calloc((size_t)g->n_tensors + 1, sizeof(int));
	if (!g->inputs || !g->outputs)
		return -ENOMEM;
	for (int i = 0; i < g->n_tensors; i += 2) {
		g->inputs[g->n_inputs++] = i;
		g->tensors[i].is_input = true;
		g->outputs[g->n_outputs++] = i + 1;
		g->tensors[i + 1].is_output = true;
	}
	return 0;
}

/*
 * Makes the program's tables of tensors and operators, with all operators on the NPU and no tensor at a
 * place in memory, so that it can be saved and run as any other. The caller frees q->tensors, q->ops
 * and each reason, also after a failure. Returns 0 or -ENOMEM.
 */
static int fill_tables(struct program *q)
{
	q->tensors = calloc((size_t)q->g->n_tensors + 1, sizeof *q->tensors);
	q->ops = calloc((size_t)q->g->n_ops + 1, sizeof *q->ops);
	if (!q->tensors || !q->ops)
		return -ENOMEM;
	for (int i = 0; i < q->g->n_tensors; i++)
		q->tensors[i] = (struct weft_ptensor){ .place = WEFT_PLACE_NONE, .on_npu = i & 1, .alias_of = -1,
			.bytes = weft_tensor_bytes(&q->g->tensors[i].t) };
	for (int i = 0; i < q->g->n_ops; i++) {
		q->ops[i] = (struct weft_pop){ .unit = WEFT_ON_NPU, .into = i, .step = 0, .stripes = -1, .reason = strdup("a part of a stream") };
		if (!q->ops[i].reason)
			return -ENOMEM;
	}
	q->p.tensors = q->tensors;
	q->p.n_tensors = q->g->n_tensors;
	q->p.ops = q->ops;
	q->p.n_ops = q->g->n_ops;
	return 0;
}

/*
 * Copies the target's debug records to command `target` of the new program, for the new tensors, which
 * are added to q->g with its inputs and outputs; all other commands have no records and work for
 * nobody. The caller frees q->p.recs, also after a failure. Returns 0 or -ENOMEM.
 */
static int take_records(struct program *q, const struct weft_part *k, uint32_t target)
{
	const struct weft_pcmd *from = &k->p->cmds[k->step->first_cmd + k->target];

	q->p.recs = calloc(from->n_recs + 1u, sizeof *q->p.recs);
	if (!q->p.recs)
		return -ENOMEM;
	for (uint32_t i = 0; i < from->n_recs; i++) {
		q->p.recs[i] = k->p->recs[from->first_rec + i];
		int t = take_tensor(q, k, q->p.recs[i].tensor);
		if (t < 0)
			return t;
		q->p.recs[i].tensor = t;
	}
	q->p.n_recs = from->n_recs;
	for (uint32_t i = 0; i < q->p.n_cmds; i++)
		q->p.cmds[i] = (struct weft_pcmd){ .op = -1 };
	if (from->n_recs)
		q->p.cmds[target] = (struct weft_pcmd){ 0, 0, from->n_recs };
	return mark_ports(q->g);
}

int weft_part_program(const struct weft_part *k, const struct weft_part_stream *s, uint8_t **out, uint64_t *n, char *msg)
{
	struct program q = { .step = { .kind = WEFT_STEP_NPU, .op = -1, .n_words = (uint32_t)s->stream.n, .n_cmds = s->n_cmds } };
	size_t len = 0;

	memcpy(q.p.config, k->p->config, sizeof q.p.config);
	q.p.arena_bytes = s->n_arena;
	q.p.consts = s->consts;
	q.p.n_consts = s->n_consts;
	q.p.words = s->stream.words;
	q.p.n_words = (uint32_t)s->stream.n;
	q.p.steps = &q.step;
	q.p.n_steps = 1;
	q.p.n_cmds = s->n_cmds;
	q.p.cmds = calloc(s->n_cmds + 1u, sizeof *q.p.cmds);
	q.p.graph = q.g = weft_graph_new(k->p->graph->name ? k->p->graph->name : "");
	int err = q.p.cmds && q.g ? take_records(&q, k, s->target) : -ENOMEM;
	if (!err)
		err = fill_tables(&q);
	if (!err)
		err = weft_program_write(&q.p, out, &len, msg);
	*n = len;
	for (int i = 0; q.ops && i < q.g->n_ops; i++)
		free(q.ops[i].reason);
	free(q.ops);
	free(q.tensors);
	free(q.p.recs);
	free(q.p.cmds);
	weft_graph_free(q.g);
	return err;
}

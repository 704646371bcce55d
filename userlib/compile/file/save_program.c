/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of a program inside a container. Each save_ function writes a section or
 * reads it; save_check() judges what was read as a whole.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/gen/config.h>

#include "save_program.h"

/*
 * When reading, allocate *p with n zeroed entries of `elem` bytes and one entry more; when writing, or after
 * an earlier failure, do nothing. Returns whether the caller may go on: false after any failure, of this
 * allocation (io->err -ENOMEM) or before it.
 */
static bool room(struct io *io, void **p, size_t n, size_t elem)
{
	if (!io->write && !io->err) {
		*p = calloc(n + 1, elem);
		if (!*p)
			io->err = -ENOMEM;
	}
	return !io->err;
}

/*
 * Write or read section HEAD: the configuration's name and the bytes of the arena. When reading, a name
 * that does not fit in p->config fails with io->err -EINVAL, and in both directions an arena of more than
 * 2^32 - 1 bytes.
 */
void save_head(struct io *io, weft_program *p)
{
	char *config = p->config;

	io_string(io, &config);
	if (!io->write) {
		if (!io->err && strlen(config) >= sizeof p->config)
			io_fail(io, "the configuration's name is too long");
		if (!io->err)
			strcpy(p->config, config);
		free(config);
	}
	io_u64(io, &p->arena_bytes);
	if (p->arena_bytes > UINT32_MAX)
		io_fail(io, "the arena is larger than a window");
}

/*
 * Write or read section STEP, the steps of the program with their estimates. When reading, p->steps is
 * allocated and p->n_steps set. A failure sets io->err.
 */
void save_steps(struct io *io, weft_program *p)
{
	void *v = p->steps;

	io_count(io, &p->n_steps, 37);
	if (!room(io, &v, (size_t)p->n_steps, sizeof *p->steps))
		return;
	p->steps = v;
	for (int i = 0; i < p->n_steps; i++) {
		struct weft_step *s = &p->steps[i];
		io_u8(io, &s->kind);
		io_i32(io, &s->op);
		io_u32(io, &s->first_word);
		io_u32(io, &s->n_words);
		io_u32(io, &s->first_cmd);
		io_u32(io, &s->n_cmds);
		for (int m = 0; m < WEFT_N_MEMORIES; m++)
			io_u64(io, &s->estimate[m]);
	}
}

/*
 * Write or read section TENS: place, lifetime and size of each tensor. When reading, p->tensors is allocated
 * and p->n_tensors set. More than SAVE_MAX_TENSORS, or another failure, sets io->err.
 */
void save_tensors(struct io *io, weft_program *p)
{
	void *v = p->tensors;

	io_count(io, &p->n_tensors, 34);
	if (p->n_tensors > SAVE_MAX_TENSORS)
		io_fail(io, "more tensors than a container holds");
	if (!room(io, &v, (size_t)p->n_tensors, sizeof *p->tensors))
		return;
	p->tensors = v;
	for (int i = 0; i < p->n_tensors; i++) {
		struct weft_ptensor *t = &p->tensors[i];
		io_u8(io, &t->place);
		io_bool(io, &t->on_npu);
		io_u32(io, &t->folded);
		io_i32(io, &t->alias_of);
		io_i32(io, &t->first_step);
		io_i32(io, &t->last_step);
		io_u64(io, &t->offset);
		io_u64(io, &t->bytes);
	}
}

/*
 * Write or read section OPER: unit, step, estimates and reason of each operator. When reading, p->ops is
 * allocated with its reasons and p->n_ops set. More than SAVE_MAX_OPS, or another failure, sets io->err.
 */
void save_ops(struct io *io, weft_program *p)
{
	void *v = p->ops;

	io_count(io, &p->n_ops, 41 + 8 * WEFT_N_MEMORIES);
	if (p->n_ops > SAVE_MAX_OPS)
		io_fail(io, "more operators than a container holds");
	if (!room(io, &v, (size_t)p->n_ops, sizeof *p->ops))
		return;
	p->ops = v;
	for (int i = 0; i < p->n_ops; i++) {
		struct weft_pop *o = &p->ops[i];
		io_u8(io, &o->unit);
		io_i32(io, &o->into);
		io_i32(io, &o->step);
		io_u64(io, &o->macs);
		for (int m = 0; m < WEFT_N_MEMORIES; m++)
			io_u64(io, &o->done[m]);
		for (int m = 0; m < WEFT_N_MEMORIES; m++)
			io_u64(io, &o->halves[m]);
		io_i32(io, &o->stripes);
		io_string(io, &o->reason);
	}
}

/*
 * Write or read section DBGC: for each command the operator that it works for, and the range of debug
 * records (first_rec, n_recs) that say which elements it makes. When reading, p->cmds is allocated and
 * p->n_cmds set. A failure sets io->err.
 */
void save_cmds(struct io *io, weft_program *p)
{
	int n = (int)p->n_cmds;
	void *v = p->cmds;

	io_count(io, &n, 12);
	if (!room(io, &v, (size_t)n, sizeof *p->cmds))
		return;
	p->n_cmds = (uint32_t)n;
	p->cmds = v;
	for (int i = 0; i < n; i++) {
		io_i32(io, &p->cmds[i].op);
		io_u32(io, &p->cmds[i].first_rec);
		io_u32(io, &p->cmds[i].n_recs);
	}
}

/*
 * Write or read section DBGR: the debug records, which say where in the scratchpad a command leaves which
 * elements of a tensor. When reading, p->recs is allocated and p->n_recs set. A failure sets io->err.
 */
void save_recs(struct io *io, weft_program *p)
{
	int n = (int)p->n_recs;
	void *v = p->recs;

	io_count(io, &n, 52);
	if (!room(io, &v, (size_t)n, sizeof *p->recs))
		return;
	p->n_recs = (uint32_t)n;
	p->recs = v;
	for (int i = 0; i < n; i++) {
		struct weft_prec *r = &p->recs[i];
		io_i32(io, &r->tensor);
		io_u32(io, &r->addr);
		io_u32(io, &r->n_y);
		io_u32(io, &r->n_x);
		io_u32(io, &r->n_c);
		io_u32(io, &r->y_bytes);
		io_u32(io, &r->x_bytes);
		io_u64(io, &r->first);
		io_u64(io, &r->y_elems);
		io_u64(io, &r->x_elems);
	}
}

/*
 * Write or read section LATE, the values that are known only when the program runs: tensors that hold the
 * log2_scale of a command (p->scales), and weights that the host packs into the arena (p->packs). When
 * reading, both arrays are allocated and their counts set. A failure sets io->err.
 */
void save_late(struct io *io, weft_program *p)
{
	void *v = p->scales;

	io_count(io, &p->n_scales, 12);
	if (!room(io, &v, (size_t)p->n_scales, sizeof *p->scales))
		return;
	p->scales = v;
	for (int i = 0; i < p->n_scales; i++) {
		io_i32(io, &p->scales[i].step);
		io_u32(io, &p->scales[i].word);
		io_i32(io, &p->scales[i].tensor);
	}
	v = p->packs;
	io_count(io, &p->n_packs, 24);
	if (!room(io, &v, (size_t)p->n_packs, sizeof *p->packs))
		return;
	p->packs = v;
	for (int i = 0; i < p->n_packs; i++) {
		io_i32(io, &p->packs[i].step);
		io_i32(io, &p->packs[i].tensor);
		io_u32(io, &p->packs[i].k);
		io_u32(io, &p->packs[i].cols);
		io_u64(io, &p->packs[i].offset);
	}
}

/* Returns whether [first, first + n) lies within [0, all). */
static bool within(uint64_t first, uint64_t n, uint64_t all)
{
	return first <= all && n <= all - first;
}

/*
 * Fail (io->err -EINVAL) if step s is of no known kind, if it is a host step and names an operator that is
 * not there, or if it is an NPU step and its words or commands lie outside the program's.
 */
static void check_step(struct io *io, const weft_program *p, const struct weft_step *s)
{
	if (s->kind == WEFT_STEP_HOST) {
		if (s->op < 0 || s->op >= p->n_ops)
			io_fail(io, "a step runs an operator that is not there");
	} else if (s->kind != WEFT_STEP_NPU) {
		io_fail(io, "a step is of no known kind");
	} else if (!within(s->first_word, s->n_words, p->n_words) || !within(s->first_cmd, s->n_cmds, p->n_cmds)) {
		io_fail(io, "a step's stream lies beyond the end");
	}
}

/*
 * Fail (io->err -EINVAL, with the first reason found) if the entry of tensor i cannot be true: an unknown
 * place, a size that is not that of its shape, no channel that is computed, a constant without data, bytes
 * beyond the arena, or an alias of itself, of no tensor, of one of another size or of one that is an alias
 * too. Chains of aliases are refused so that following one ends.
 */
static void check_tensor(struct io *io, const weft_program *p, int i)
{
	const struct weft_ptensor *t = &p->tensors[i];

	if (t->place > WEFT_PLACE_CONST)
		io_fail(io, "a tensor is at no known place");
	/* No chains, so that following one ends. */
	if (t->alias_of < -1 || t->alias_of >= p->n_tensors || t->alias_of == i ||
	    (t->alias_of >= 0 && p->tensors[t->alias_of].alias_of >= 0)) {
		io_fail(io, "a tensor shares the bytes of one that is none itself");
		return;
	}
	const weft_tensor *x = &p->graph->tensors[i].t;
	if (t->folded && (!x->rank || t->folded >= x->dim[x->rank - 1]))
		io_fail(io, "a tensor has as many folded channels as channels");
	if (t->bytes != weft_tensor_bytes(&p->graph->tensors[i].t))
		io_fail(io, "a tensor has not the bytes of its shape");
	if (t->alias_of >= 0 && p->tensors[t->alias_of].bytes != t->bytes)
		io_fail(io, "a tensor shares bytes with one of another size");
	if (t->place == WEFT_PLACE_CONST && !p->graph->tensors[i].t.data)
		io_fail(io, "a tensor is said to be constant and is not");
	if (t->place == WEFT_PLACE_ARENA && !within(t->offset, t->bytes, p->arena_bytes))
		io_fail(io, "a tensor lies beyond the arena");
}

/*
 * Fail (io->err -EINVAL) if an operator's entry names an unknown unit, or operators or steps that are not
 * there, or if it says when the operator is done without a step.
 */
static void check_op(struct io *io, const weft_program *p, const struct weft_pop *o)
{
	if (o->unit > WEFT_ON_HOST || o->into < -1 || o->into >= p->n_ops || o->step < -1 || o->step >= p->n_steps ||
	    o->stripes < -1 || o->stripes >= p->n_ops)
		io_fail(io, "an operator's entry is out of range");
	for (int m = 0; m < WEFT_N_MEMORIES; m++)
		if (o->done[m] && o->step < 0)
			io_fail(io, "an operator is done in no step");
}

/*
 * Returns the distance from the first of n things (n at least 1) to the last, where neighbours are `step`
 * apart.
 */
static uint64_t reach(uint64_t n, uint64_t step)
{
	return (n - 1) * step;
}

/*
 * Fail (io->err -EINVAL) if a debug record names no tensor of the graph, no elements, elements beyond its
 * tensor's end, or more elements than the tensor has.
 */
static void check_rec(struct io *io, const weft_program *p, const struct weft_prec *r)
{
	if (r->tensor < 0 || r->tensor >= p->n_tensors || !r->n_y || !r->n_x || !r->n_c) {
		io_fail(io, "a record names no tensor");
		return;
	}
	uint64_t all = (uint64_t)weft_tensor_elements(&p->graph->tensors[r->tensor].t);
	if (r->first >= all || r->y_elems > all || r->x_elems > all ||
	    r->first + reach(r->n_y, r->y_elems) + reach(r->n_x, r->x_elems) + r->n_c > all ||
	    reach(r->n_y, r->y_elems) >= all || reach(r->n_x, r->x_elems) >= all)
		io_fail(io, "a record names elements beyond its tensor");
	if ((uint64_t)r->n_y * r->n_x > all || (uint64_t)r->n_y * r->n_x * r->n_c > all)
		io_fail(io, "a record names more elements than its tensor has");
}

/* Returns the NPU step of this number; NULL: there is none. */
static const struct weft_step *npu_step(const weft_program *p, int32_t step)
{
	return step >= 0 && step < p->n_steps && p->steps[step].kind == WEFT_STEP_NPU ? &p->steps[step] : NULL;
}

/*
 * Fail (io->err -EINVAL) if the word that a scale patches does not lie in the NPU step that it names, or if
 * its value comes from no int32 tensor of the graph.
 */
static void check_scale(struct io *io, const weft_program *p, const struct weft_pscale *s)
{
	const struct weft_step *step = npu_step(p, s->step);

	if (!step || s->word < step->first_word || s->word - step->first_word >= step->n_words)
		io_fail(io, "a scale belongs to no command of its step");
	else if (s->tensor < 0 || s->tensor >= p->n_tensors || p->graph->tensors[s->tensor].t.dtype != WEFT_INT32)
		io_fail(io, "a scale is no int32");
}

/*
 * Fail (io->err -EINVAL) if weights that the host packs belong to no NPU step or tensor, if their rows times
 * columns are not the tensor's bytes, or if they lie beyond the arena once both are rounded up to the array's
 * size.
 */
static void check_pack(struct io *io, const weft_program *p, const struct weft_ppack *k)
{
	const struct weft_config *cfg = weft_config_find(p->config);
	uint64_t n = cfg ? cfg->n : 1;

	if (!npu_step(p, k->step) || k->tensor < 0 || k->tensor >= p->n_tensors || !k->k || !k->cols)
		io_fail(io, "weights that come late belong nowhere");
	else if ((uint64_t)k->k * k->cols != weft_tensor_bytes(&p->graph->tensors[k->tensor].t))
		io_fail(io, "weights that come late have not the bytes of their tensor");
	/* Both below 2^32, so that no product wraps. */
	else if (!within(k->offset, (k->cols + n - 1) / n * ((k->k + n - 1) / n) * n * n, p->arena_bytes))
		io_fail(io, "weights that come late lie beyond the arena");
}

/*
 * Judge a program that has been read, graph included: fail (io->err -EINVAL, io->why for people) if its
 * tables do not have one entry for each tensor and operator of the graph, or name things that are not there.
 */
void save_check(struct io *io, const weft_program *p)
{
	if (p->n_tensors != p->graph->n_tensors || p->n_ops != p->graph->n_ops)
		io_fail(io, "the tables are not those of the graph");
	for (int i = 0; i < p->n_steps && !io->err; i++)
		check_step(io, p, &p->steps[i]);
	for (int i = 0; i < p->n_tensors && !io->err; i++)
		check_tensor(io, p, i);
	for (int i = 0; i < p->n_ops && !io->err; i++)
		check_op(io, p, &p->ops[i]);
	for (uint32_t i = 0; i < p->n_cmds && !io->err; i++)
		if (!within(p->cmds[i].first_rec, p->cmds[i].n_recs, p->n_recs) || p->cmds[i].op < -1 || p->cmds[i].op >= p->n_ops)
			io_fail(io, "a command's entry is out of range");
	for (uint32_t i = 0; i < p->n_recs && !io->err; i++)
		check_rec(io, p, &p->recs[i]);
	for (int i = 0; i < p->n_scales && !io->err; i++)
		check_scale(io, p, &p->scales[i]);
	for (int i = 0; i < p->n_packs && !io->err; i++)
		check_pack(io, p, &p->packs[i]);
}

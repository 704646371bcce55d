/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports of runs: one entry for each operator of the source network, or for each group of
 * operators that the compiler fused or runs in stripes. A group is led by its first operator.
 */
#define _GNU_SOURCE
#include "userlib/run/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which source operators belong together ---- */

/*
 * Returns the leader of source operator i's group, and shortens the way to it for later calls. group[i]
 * is i for a leader, otherwise another operator of the group that is nearer to the leader.
 */
static int find(int *group, int i)
{
	while (group[i] != i)
		i = group[i] = group[group[i]];
	return i;
}

/*
 * Joins the groups of source operators i and k, if they are not one already. The smaller of their
 * leaders leads both, so that groups are reported in the file's order.
 */
static void unite(int *group, int i, int k)
{
	int a = find(group, i), b = find(group, k);

	if (a < b)
		group[b] = a;
	else
		group[a] = b;
}

/*
 * Returns an array with, for each source operator, itself or another one of its group that is nearer to the
 * leader (see find()). Of the graph's operators that run on the NPU, those that share a node (into) are one
 * group, and so are those whose nodes run together in stripes; all others stay alone. Each operator must have a
 * source operator, as each that an importer or a container gives has. From malloc; the caller frees it. NULL:
 * out of memory.
 */
static int *groups(const weft_program *p)
{
	const weft_graph *g = p->graph;
	int *group = malloc(((size_t)g->n_srcs + 1) * sizeof(*group));

	if (!group)
		return NULL;
	for (int i = 0; i < g->n_srcs; i++)
		group[i] = i;
	for (int i = 0; i < g->n_ops; i++) {
		if (p->ops[i].unit != WEFT_ON_NPU || p->ops[i].into < 0)
			continue;
		unite(group, g->ops[i].src, g->ops[p->ops[i].into].src);
		if (p->ops[i].stripes >= 0)
			unite(group, g->ops[i].src, g->ops[p->ops[i].stripes].src);
	}
	return group;
}

/* Holds the members of all groups as linked lists of indices. The index -1 ends a list. */
struct members {
	int *src, *next_src;   /* a leader's first source operator; a source operator's next one in its group */
	int *op, *next_op;     /* the same for operators of the graph */
	bool any_npu;          /* the program has an NPU step */
};

static void members_free(struct members *m)
{
	free(m->src);
	free(m->next_src);
	free(m->op);
	free(m->next_op);
}

/* Fills in *m for the program's groups, as groups() returns them. Returns 0 or -ENOMEM; members_free() must follow in both cases. */
static int find_members(struct members *m, const weft_program *p, int *group)
{
	const weft_graph *g = p->graph;
	const size_t n = (size_t)g->n_srcs + 1, n_ops = (size_t)g->n_ops + 1;

	*m = (struct members){ malloc(n * sizeof(int)), malloc(n * sizeof(int)), malloc(n * sizeof(int)), malloc(n_ops * sizeof(int)), false };
	if (!m->src || !m->next_src || !m->op || !m->next_op)
		return -ENOMEM;
	for (int i = 0; i < g->n_srcs; i++)
		m->src[i] = m->op[i] = -1;
	for (int i = 0; i < p->n_steps && !m->any_npu; i++)
		m->any_npu = p->steps[i].kind == WEFT_STEP_NPU;
	/* From the last to the first, so that each list begins with the first. */
	for (int i = g->n_srcs - 1; i >= 0; i--) {
		const int lead = find(group, i);
		m->next_src[i] = m->src[lead];
		m->src[lead] = i;
	}
	for (int i = g->n_ops - 1; i >= 0; i--) {
		const int lead = find(group, g->ops[i].src);
		m->next_op[i] = m->op[lead];
		m->op[lead] = i;
	}
	return 0;
}

int *weft_report_entries(const weft_program *p, int *n)
{
	const weft_graph *g = p->graph;
	int *group = groups(p), *of_src = malloc(((size_t)g->n_srcs + 1) * sizeof(*of_src));
	int *of_op = malloc(((size_t)g->n_ops + 1) * sizeof(*of_op));

	*n = 0;
	for (int i = 0; group && of_src && i < g->n_srcs; i++)
		if (find(group, i) == i)
			of_src[i] = (*n)++;
	for (int i = 0; group && of_src && of_op && i < g->n_ops; i++)
		of_op[i] = of_src[find(group, g->ops[i].src)];
	if (!group || !of_src) {
		free(of_op);
		of_op = NULL;
	}
	free(group);
	free(of_src);
	return of_op;
}

/* ---- one entry ---- */

/* Returns "old+name", or a copy of name if old is NULL, from malloc; frees old. NULL: out of memory. */
static char *join(char *old, const char *name)
{
	char *s;

	if (!old)
		return strdup(name);
	if (asprintf(&s, "%s+%s", old, name) < 0)
		s = NULL;
	free(old);
	return s;
}

/*
 * Returns where the group that `lead` leads runs: on the host if one of its operators that are no VARIABLE_READ or
 * VARIABLE_WRITE runs there, if all its operators are such, or if the program has no NPU step; otherwise on the
 * NPU, which also gets operators that are executed nowhere (aliases, folded ones) and groups without operators.
 */
static enum weft_run_unit unit_of(const weft_program *p, const struct members *m, int lead)
{
	const weft_graph *g = p->graph;
	bool moves = false, others = false;

	for (int i = m->op[lead]; i >= 0; i = m->next_op[i]) {
		if (weft_moves_variable(&g->ops[i])) {
			moves = true;
			continue;
		}
		others = true;
		if (p->ops[i].unit == WEFT_ON_HOST)
			return WEFT_RUN_HOST;
	}
	return m->any_npu && (others || !moves) ? WEFT_RUN_NPU : WEFT_RUN_HOST;
}

/*
 * Returns how well the reason of operator i suits as the reason of its group; the highest is shown. 0: it has
 * no reason; otherwise 1: it moves a variable; otherwise 4: it runs on the host; 3: it has multiplications; 2: it
 * runs on the NPU without any; 1: it runs nowhere.
 */
static int rank_reason(const weft_program *p, int i)
{
	const struct weft_pop *o = &p->ops[i];

	if (!o->reason || !*o->reason)
		return 0;
	if (weft_moves_variable(&p->graph->ops[i]))
		return 1;
	return o->unit == WEFT_ON_HOST ? 4 : o->macs ? 3 : o->unit == WEFT_ON_NPU ? 2 : 1;
}

/*
 * Adds the estimated host time of operator i, if it runs on the host, to the entry's host_ms. A time
 * that is not known makes the sum -1.
 */
static void add_host(struct weft_op_report *r, const weft_program *p, int i)
{
	double ms = p->ops[i].unit == WEFT_ON_HOST ? weft_host_ms(p->graph, &p->graph->ops[i], p->ops[i].macs) : 0;

	r->host_ms = ms < 0 || r->host_ms < 0 ? -1 : r->host_ms + ms;
}

/* Returns the part of the channels of tensor t of program p that is computed, 0 to 1. */
static double part_made(const weft_program *p, int t)
{
	const weft_tensor *x = &p->graph->tensors[t].t;

	return p->tensors[t].folded ? 1 - p->tensors[t].folded / (double)x->dim[x->rank - 1] : 1;
}

/*
 * Returns how many multiplications of operator i of program p nothing does, because they belong to folded
 * channels of its result or, of a CONV2D, of its operand.
 */
static uint64_t folded_macs(const weft_program *p, int i)
{
	const struct weft_gop *o = &p->graph->ops[i];
	double part = 1;

	if (o->op == WEFT_OP_CONV2D || o->op == WEFT_OP_DEPTHWISE_CONV2D)
		part = part_made(p, o->out[0]);
	if (o->op == WEFT_OP_CONV2D)
		part *= part_made(p, o->in[0]);
	return p->ops[i].macs - (uint64_t)((double)p->ops[i].macs * part + 0.5);
}

/*
 * Sets *names to the names of the group's source operators joined by "+", from malloc, in the file's order, and
 * *last to the last of these operators. `lead` leads the group. Returns 0, or -ENOMEM with *names NULL.
 */
static int join_names(const weft_graph *g, const struct members *m, int lead, char **names, int *last)
{
	*names = NULL;
	*last = lead;
	for (int i = m->src[lead]; i >= 0; i = m->next_src[i]) {
		*names = join(*names, g->srcs[i].name);
		if (!*names)
			return -ENOMEM;
		*last = i;
	}
	return 0;
}

/*
 * Adds to entry *r what the graph's operators of the group that `lead` leads take: multiplications, folded
 * ones, host time (which becomes -1 if that of any operator depends on the data), and, after a run, the bytes
 * that commands moved for them. Returns the reason that rank_reason() ranks highest, of equal ones the first; "" if
 * no operator has one, and NULL if the group has no operator in the graph.
 */
static const char *add_operators(struct weft_op_report *r, const weft_session *s, const struct members *m, int lead)
{
	const weft_program *p = s->p;
	const char *reason = NULL;
	int best = 0;

	for (int i = m->op[lead]; i >= 0; i = m->next_op[i]) {
		reason = reason ? reason : "";
		r->macs += p->ops[i].macs;
		r->macs_folded += folded_macs(p, i);
		add_host(r, p, i);
		if (s->measure) {
			r->dram_read_bytes += s->measure[i].rd_bytes;
			r->dram_write_bytes += s->measure[i].wr_bytes;
		}
		if (rank_reason(p, i) > best) {
			best = rank_reason(p, i);
			reason = p->ops[i].reason;
		}
	}
	return reason;
}

/* Says whether a source operator is a custom one that the import left out, so that its operands became outputs. */
static bool was_left_out(const struct weft_gsrc *src)
{
	return src->out < 0 && !strncmp(src->name, "CUSTOM:", 7);
}

/*
 * Fills entry *r, all zeros before, of the group that `lead` leads: the leader's index; the names
 * (join_names()); the name of the last operator's output ("" if it has none); the unit (unit_of(), but the host
 * for an operator that was left out); and what its operators take (add_operators()). The reason says that the
 * operator was left out, if it was; otherwise that the group was computed when loading, if it has no operators
 * in the graph; otherwise it is the leader's note, if the group is the host's and the leader has one; otherwise
 * that of add_operators(). Cycles are not set. Returns 0, or -ENOMEM with r->op NULL.
 */
static int fill_entry(struct weft_op_report *r, const weft_session *s, const struct members *m, int lead)
{
	const weft_graph *g = s->p->graph;
	const struct weft_gsrc *const src = &g->srcs[lead];
	char *names;
	int last, err = join_names(g, m, lead, &names, &last);

	if (err)
		return err;
	const char *reason = add_operators(r, s, m, lead);
	r->index = src->index;
	r->op = names;
	r->name = g->srcs[last].out >= 0 ? g->tensors[g->srcs[last].out].name : "";
	r->unit = was_left_out(src) ? WEFT_RUN_HOST : unit_of(s->p, m, lead);
	if (was_left_out(src))
		r->reason = "not supported: left out, its operands are outputs";
	else if (!reason)
		r->reason = "computed when loading";
	else
		r->reason = r->unit == WEFT_RUN_HOST && src->note ? src->note : reason;
	return 0;
}

/*
 * Turns half cycles into whole cycles in the estimate (if `expected` is set) or else the measured
 * cycles of every entry. An entry becomes the difference of the running sums before and after it, each
 * rounded down, so that all entries add up to half of all halves.
 */
static void whole_cycles(struct weft_report *r, bool expected)
{
	uint64_t before = 0;

	for (int i = 0; i < r->n_ops; i++) {
		uint64_t *v = expected ? &r->ops[i].estimate : &r->ops[i].cycles, end = before + *v;
		*v = end / 2 - before / 2;
		before = end;
	}
}

/*
 * Adds estimated (for the session's memory profile) and, after a run, measured half cycles of every
 * operator of the graph to its group's entry, and makes whole cycles of both. group is as groups()
 * returns it; entry_of[leader] is the number of a group's entry in r->ops.
 */
static void add_cycles(struct weft_report *r, const weft_session *s, int *group, const int *entry_of)
{
	const weft_graph *g = s->p->graph;

	for (int i = 0; i < g->n_ops; i++) {
		struct weft_op_report *o = &r->ops[entry_of[find(group, g->ops[i].src)]];
		o->estimate += s->p->ops[i].halves[s->o.memory];
		o->cycles += s->measure ? s->measure[i].halves : 0;
	}
	whole_cycles(r, true);
	whole_cycles(r, false);
}

/*
 * Adds to r->channels the channels of the results of all CONV2D and DEPTHWISE_CONV2D of program p, and
 * to r->folded those of them that no step makes.
 */
static void count_channels(struct weft_report *r, const weft_program *p)
{
	const weft_graph *g = p->graph;

	for (int i = 0; i < g->n_ops; i++) {
		if (g->ops[i].op != WEFT_OP_CONV2D && g->ops[i].op != WEFT_OP_DEPTHWISE_CONV2D)
			continue;
		const weft_tensor *y = &g->tensors[g->ops[i].out[0]].t;
		r->channels += (uint64_t)y->dim[y->rank - 1];
		r->folded += p->tensors[g->ops[i].out[0]].folded;
	}
}

/*
 * Makes a report of the session's program: an entry for each group of source operators, with what the last
 * run measured if there was one; multiplications (macs: those on the NPU, after a run on golden all;
 * macs_all: all; macs_folded: those saved by folding), and how many channels are folded; the program's
 * estimate for the session's memory profile; host_ms; npu_cycles; and switches. Cycles of the whole, times,
 * counters and the comparison stay 0. weft_report_free() frees it. NULL: out of memory.
 */
struct weft_report *weft_report_new(const weft_session *s)
{
	const weft_graph *g = s->p->graph;
	struct weft_report *r = calloc(1, sizeof(*r));
	int *group = groups(s->p);
	int *entry_of = calloc((size_t)g->n_srcs + 1, sizeof(int)), err = 0;
	struct members m = { 0 };

	if (!r || !group || !entry_of || find_members(&m, s->p, group) || !(r->ops = calloc((size_t)g->n_srcs + 1, sizeof(*r->ops)))) {
		free(r);
		r = NULL;
		goto out;
	}
	for (int i = 0; i < g->n_srcs && !err; i++) {
		if (find(group, i) != i)
			continue;
		entry_of[i] = r->n_ops;
		err = fill_entry(&r->ops[r->n_ops], s, &m, i);
		r->host_ms += r->ops[r->n_ops].host_ms > 0 ? r->ops[r->n_ops].host_ms : 0;
		r->n_ops++;
	}
	if (err) {
		weft_report_free(r);
		r = NULL;
		goto out;
	}
	/* Counted by lowered operator: a convolution whose conversion from uint8 the host does is an operator
	 * of the host in the list, but its products are the device's. On golden all products count. */
	for (int i = 0; i < g->n_ops; i++) {
		if (s->p->ops[i].unit == WEFT_ON_NPU || (s->measure && s->o.device == WEFT_DEVICE_GOLDEN))
			r->macs += s->p->ops[i].macs;
		r->macs_folded += folded_macs(s->p, i);
		r->macs_all += s->p->ops[i].macs;
	}
	count_channels(r, s->p);
	add_cycles(r, s, group, entry_of);
	for (int i = 0; i < s->p->n_steps; i++)
		r->estimate += s->p->steps[i].estimate[s->o.memory];
	r->npu_cycles = weft_share_of_cycles(r);
	if (weft_list_switches(s->p, &r->switches, &r->n_switches)) {
		weft_report_free(r);
		r = NULL;
	}
out:
	members_free(&m);
	free(group);
	free(entry_of);
	return r;
}

/* Frees a report; NULL is fine. */
void weft_report_free(struct weft_report *r)
{
	if (!r)
		return;
	for (int i = 0; i < r->n_ops; i++)
		free((char *)(uintptr_t)r->ops[i].op);
	free(r->ops);
	free(r->switches);
	free(r);
}

/* ---- strict ---- */

/*
 * Says whether operator op is of a kind that the option `strict` lets run on the host at either end of a network, between
 * its inputs or outputs and the NPU. These kinds are TFL_QUANTIZE, TFL_DEQUANTIZE, ONNX_QUANTIZE, ONNX_DEQUANTIZE, RESCALE,
 * RESHAPE, TRANSPOSE, IDENTITY, ARGMAX and TFL_SOFTMAX, those that move a variable's value, and every operator that the importer made of one called "Softmax" in
 * the file. src is the file's operator of which op was made; it is not NULL. ends_network() names more kinds, which are
 * allowed at outputs alone.
 */
static bool is_edge_kind(const struct weft_gop *op, const struct weft_gsrc *src)
{
	switch (op->op) {
	case WEFT_OP_TFL_SOFTMAX: case WEFT_OP_TFL_QUANTIZE: case WEFT_OP_TFL_DEQUANTIZE: case WEFT_OP_ARGMAX: case WEFT_OP_RESCALE:
	case WEFT_OP_RESHAPE: case WEFT_OP_ONNX_QUANTIZE: case WEFT_OP_ONNX_DEQUANTIZE: case WEFT_OP_TRANSPOSE: case WEFT_OP_IDENTITY:
	case WEFT_OP_VARIABLE_READ: case WEFT_OP_VARIABLE_WRITE:
		return true;
	default:
		return !strcmp(src->name, "Softmax");
	}
}

/*
 * Says whether a source operator may run on the host at the network's end, since it makes
 * probabilities, unit vectors or an index out of results: a log softmax, QLinearSoftmax, sigmoid, tanh,
 * L2 or Lp normalisation, or the index of a maximum or minimum, by its name in the file, since an
 * importer may take such an operator apart (an ARG_MAX of 64 bits becomes ARGMAX and a cast).
 */
static bool ends_network(const struct weft_gsrc *src)
{
	static const char *const names[] = { "LOG_SOFTMAX", "LogSoftmax", "QLinearSoftmax", "LOGISTIC", "Sigmoid", "TANH", "Tanh",
		"L2_NORMALIZATION", "LpNormalization", "ARG_MAX", "ARG_MIN", "ArgMax", "ArgMin" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(src->name, names[i]))
			return true;
	return false;
}

/*
 * Sets edge[i] for each operator of the graph that is_edge_kind() admits and whose operands are all
 * inputs, constants, or made by such operators; clears it for all others.
 */
static void find_begin(const weft_program *p, bool *edge)
{
	const weft_graph *g = p->graph;

	for (int i = 0; i < g->n_ops; i++) {
		const struct weft_gop *op = &g->ops[i];

		edge[i] = op->src >= 0 && is_edge_kind(op, &g->srcs[op->src]);
		for (int k = 0; k < op->n_in && edge[i]; k++) {
			const struct weft_gtensor *t = &g->tensors[op->in[k]];
			edge[i] = t->is_input || t->t.data || (t->producer >= 0 && edge[t->producer]);
		}
	}
}

/*
 * Also sets edge[i] for each operator that has a source, that is_edge_kind() or ends_network() admits,
 * and whose results only such operators read, wherever these run; other entries stay. inner[] has one
 * entry for each tensor, false when called; it becomes true for tensors that other operators read.
 */
static void find_end(const weft_program *p, bool *edge, bool *inner)
{
	const weft_graph *g = p->graph;

	for (int i = g->n_ops - 1; i >= 0; i--) {
		const struct weft_gop *op = &g->ops[i];
		bool end = op->src >= 0 && (is_edge_kind(op, &g->srcs[op->src]) || ends_network(&g->srcs[op->src]));

		for (int k = 0; k < op->n_out; k++)
			end = end && !inner[op->out[k]];
		for (int k = 0; k < op->n_in && !end; k++)
			inner[op->in[k]] = true;
		edge[i] = edge[i] || end;
	}
}

int weft_plan_breaks_strict(const weft_program *p, char *msg)
{
	bool *edge = calloc((size_t)p->graph->n_ops + 1, sizeof(*edge)), *inner = calloc((size_t)p->graph->n_tensors + 1, sizeof(*inner));
	int bad = 0;

	if (!edge || !inner) {
		snprintf(msg, WEFT_MSG_LEN, "out of memory");
		bad = -ENOMEM;
	} else {
		find_begin(p, edge);
		find_end(p, edge, inner);
	}
	for (int i = 0; i < p->n_steps && !bad; i++) {
		const struct weft_step *s = &p->steps[i];
		if (s->kind != WEFT_STEP_HOST || edge[s->op])
			continue;
		const struct weft_gop *op = &p->graph->ops[s->op];
		const struct weft_gsrc *src = weft_graph_src_of(p->graph, s->op);
		const char *reason = src->note ? src->note : p->ops[s->op].reason;
		snprintf(msg, WEFT_MSG_LEN, "strict: operator %d %s runs on the host: %.160s", src->index, src->name,
		         reason ? reason : weft_op_name(op->op));
		bad = -EINVAL;
	}
	free(edge);
	free(inner);
	return bad;
}

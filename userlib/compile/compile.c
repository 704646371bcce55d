/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the stages. If a node turns out not to be expressible, its operator is
 * forbidden and everything starts again without it, so the stages never have to undo.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/file.h>

#include "userlib/compile/fold/fold.h"
#include "userlib/compile/plan/plan.h"

/* Attempts before all runs on the host. Not measured: each forbids one operator, and few networks need any. */
#define MAX_ATTEMPTS 64

/* Commands emitted for all splits of a step that are tried when everything has its place. Measured as the bounds of
 * search/search.c: none at all costs 0.2 % (MobileNetV2 1.1 % in sram), half as many 0.1 %; twice as many gain 0.1 %. */
#define MAX_TUNED 60000

/* Nodes of one NPU step at most. On the ten networks of search/search.c 64 gains 0.3 % in ddr and 0.1 % in sram
 * (EfficientNet-B0 3.0 %, since a search of fewer nodes gets farther) and takes half as much time again; 2048 changes
 * nothing. */
#define STEP_NODES 512

/* What attempts so far have found not to work. */
struct attempt {
	char **forbidden;      /* for each operator of the graph why it cannot run on the device, or NULL */
	int step_nodes;        /* nodes of one NPU step at most */
	bool no_im2col;        /* neither windows nor kernel rows are copied side by side (lower/im2col.c, join_rows.c) */
	bool *whole;           /* for each tensor of the graph: none of its channels is folded */
	struct folding *fold;  /* the graph without the channels that nothing needs; NULL: all are computed */
};

/*
 * Returns whether any operand or result of operator o of graph g has no elements, since a dimension of it is
 * 0.
 */
static bool is_empty(const weft_graph *g, const struct weft_gop *o)
{
	bool empty = false;

	for (int k = 0; k < o->n_in + o->n_out; k++)
		empty |= weft_tensor_elements(&g->tensors[k < o->n_in ? o->in[k] : o->out[k - o->n_in]].t) == 0;
	return empty;
}

/*
 * Begin an attempt on *cc, whose g, cfg and o are set: note which features the configuration has, allocate
 * the tables of operators and tensors and the program, all zeroed, and mark the operators that must run on
 * the host. These are the forbidden ones of `a`, those with arguments that are not constant, and those with
 * an operand or result that has no elements; each gets its reason, for people. Returns 0 or -ENOMEM;
 * cc_clear() frees what was allocated in both cases.
 */
static int cc_start(struct cc *cc, const struct attempt *a)
{
	const weft_graph *g = cc->g;

	cc->bad_node = -1;
	cc->has_alu = cc->cfg->features & WEFT_FEATURE_ALU;
	cc->has_int4 = cc->cfg->features & WEFT_FEATURE_INT4;
	cc->has_raw = cc->cfg->features & WEFT_FEATURE_RAW;
	cc->has_even = cc->cfg->features & WEFT_FEATURE_EVEN;
	cc->has_dwk = cc->cfg->features & WEFT_FEATURE_DWK;
	cc->has_dwtable = cc->cfg->features & WEFT_FEATURE_DWTABLE;
	cc->has_pairs = cc->cfg->features & WEFT_FEATURE_PAIRS;
	cc->has_coded = cc->cfg->features & WEFT_FEATURE_CODED && !cc->o->no_compress;
	cc->has_table = cc->cfg->features & WEFT_FEATURE_TABLE;
	cc->has_sub = cc->cfg->features & WEFT_FEATURE_SUB;
	cc->has_mul = cc->cfg->features & WEFT_FEATURE_MUL;
	cc->ops = calloc((size_t)g->n_ops + 1, sizeof *cc->ops);
	cc->n_roots = g->n_tensors;
	cc->cap_roots = (uint32_t)g->n_tensors + 1;
	cc->ten = calloc(cc->cap_roots, sizeof *cc->ten);
	cc->p = calloc(1, sizeof *cc->p);
	if (!cc->ops || !cc->ten || !cc->p)
		return -ENOMEM;
	for (int i = 0; i < g->n_ops; i++) {
		const char *why = a->forbidden[i] ? a->forbidden[i] : is_dynamic(&g->ops[i]) ? "arguments that are not constant" :
		                  is_empty(g, &g->ops[i]) ? "a tensor without elements" : NULL;
		int err = why ? cc_reason(cc, i, "%s", why) : 0;
		if (err)
			return err;
		cc->ops[i].forbidden = why;
	}
	return 0;
}

/*
 * Free all that an attempt allocated, the program cc->p (which may be NULL) included. *cc itself belongs to
 * the caller.
 */
static void cc_clear(struct cc *cc)
{
	for (int i = 0; cc->ops && i < cc->g->n_ops; i++)
		free(cc->ops[i].reason);
	free(cc->ops);
	free(cc->ten);
	free(cc->uses);
	free(cc->nodes);
	free(cc->nests);
	free(cc->items);
	free(cc->consts.p);
	free(cc->units.p);
	weft_program_free(cc->p);
}

/*
 * Cut the ordered items (cc->items) into the steps of the program: consecutive nodes share one NPU step, at
 * most step_nodes of them, and each host operator is a step of its own. Allocates p->steps, sets p->n_steps,
 * kind and op of each step, and the step number of each item. Returns 0 or -ENOMEM.
 */
static int make_steps(struct cc *cc, int step_nodes)
{
	int n = 0, in_step = 0;

	cc->p->steps = calloc((size_t)cc->n_items + 1, sizeof *cc->p->steps);
	if (!cc->p->steps)
		return -ENOMEM;
	for (int i = 0; i < cc->n_items; i++) {
		bool join = i && !cc->items[i].host && !cc->items[i - 1].host && in_step < step_nodes;
		if (!join) {
			cc->p->steps[n++] = (struct weft_step){
				.kind = cc->items[i].host ? WEFT_STEP_HOST : WEFT_STEP_NPU,
				.op = cc->items[i].host ? cc->items[i].index : -1,
			};
			in_step = 0;
		}
		in_step++;
		cc->items[i].step = n - 1;
	}
	cc->p->n_steps = n;
	return 0;
}

/*
 * Allocate *npu, one struct npu_step for each NPU step of the program in order, and set *n_npu to their
 * number. Of each the first item, the count of nodes, the step's number and the number of threads (the
 * option's, within 1..MAX_THREADS) are set. Returns 0, or -ENOMEM with *npu NULL; the caller frees *npu.
 */
static int list_npu_steps(struct cc *cc, struct npu_step **npu, int *n_npu)
{
	struct npu_step *s = calloc((size_t)cc->p->n_steps + 1, sizeof *s);
	int n = 0;

	*npu = s;
	*n_npu = 0;
	if (!s)
		return -ENOMEM;
	for (int i = 0; i < cc->n_items; i++) {
		if (cc->items[i].host)
			continue;
		if (!n || s[n - 1].step != cc->items[i].step)
			s[n++] = (struct npu_step){ .cc = cc, .first_item = i, .step = cc->items[i].step,
			                       .threads = (int)max64(1, min64(cc->o->threads, MAX_THREADS)) };
		s[n - 1].n++;
	}
	*n_npu = n;
	return 0;
}

/*
 * Note in every node of a stripe group of this step which operator leads the group: node->stripes becomes 1 +
 * the operator whose result the group's first node writes. Other nodes keep 0.
 */
static void note_stripes(struct npu_step *s)
{
	for (uint32_t i = 0; i < s->n_group; i++)
		for (int k = 0; k < s->group[i].n; k++)
			step_node(s, s->group[i].first + k)->stripes = 1 + step_node(s, s->group[i].first)->last;
}

/*
 * Plan every NPU step (step_place()), choose offsets in the arena for the tensors that need one, then for
 * each step search the splits of nodes with at most MAX_TUNED emitted commands, append its command stream
 * to the program, put records beside weights, and note in each node its stripe group. The plans are freed
 * in any case. Returns 0, -ENOMEM, -E2BIG if the arena or a stream of several nodes becomes too large (or a
 * pooling job in it, emit_regions()), or -ERANGE if one node cannot be expressed: cc->bad_node then is that
 * node and cc->bad_why the reason. A stream of a single node that is too large counts as -ERANGE. The
 * constants have their size before (cc_pack_weights()).
 */
static int compile_steps(struct cc *cc)
{
	struct npu_step *npu;
	int n, err = list_npu_steps(cc, &npu, &n);

	for (int i = 0; i < n && !err; i++)
		err = step_place(&npu[i]);
	if (!err)
		err = cc_place_arena(cc);
	for (int i = 0; i < n && !err; i++) {
		err = step_search_splits(&npu[i], MAX_TUNED);
		if (!err)
			err = step_pack_weights(&npu[i]);
		if (!err)
			err = step_schedule(&npu[i]);
		if (err == -E2BIG && npu[i].n == 1) {
			cc->bad_node = cc->items[npu[i].first_item].index;
			cc->bad_why = "it would take more commands than a stream can count";
			err = -ERANGE;
		}
		note_stripes(&npu[i]);
		step_clear(&npu[i]);
		memset(&npu[i], 0, sizeof npu[i]);
	}
	for (int i = 0; i < n; i++)
		step_clear(&npu[i]);
	free(npu);
	return err;
}

/*
 * Run all stages of one attempt in their order, from views to the program's tables. With the option no_fuse,
 * pixel groups and all copies of windows are left out; with a->no_im2col, only the copies are. Returns 0 with
 * cc->p complete; -ENOMEM; -E2BIG; or -ERANGE: cc->bad_node is a node that cannot be expressed, or if that is
 * -1, folded tensors that the host needs whole have been marked in a->whole, and folding must be done anew
 * without them.
 */
static int run_passes(struct cc *cc, const struct attempt *a)
{
	int err;

	if ((err = cc_start(cc, a)) || (err = cc_fold_views(cc)) || (err = cc_match(cc)))
		return err;
	if (!cc->o->no_fuse)
		cc_group_pixels(cc);
	if (!a->no_im2col && !cc->o->no_fuse && ((err = cc_im2col(cc)) || (err = cc_join_rows(cc))))
		return err;
	cc_flatten_rows(cc);
	if ((err = cc_order_nodes(cc)))
		return err;
	if (a->fold && fold_pin_host(a->fold, cc, a->whole))
		return -ERANGE;
	if ((err = cc_pack_weights(cc)) || (err = make_steps(cc, a->step_nodes)) || (err = compile_steps(cc)) ||
	    (err = cc_program_tables(cc)))
		return err;
	return a->fold ? fold_restore(a->fold, cc->p) : 0;
}

/*
 * Change `a` so that the next attempt avoids what made this one fail. If the node cc->bad_node reads its
 * input in strips (im2col) or has its kernel rows joined, both are switched off, since the convolution itself
 * may be expressible; otherwise the node's operator is forbidden with cc->bad_why as its reason, and will run
 * on the host. Returns 0 or -ENOMEM.
 */
static int forbid(struct cc *cc, struct attempt *a)
{
	const struct node *nd = &cc->nodes[cc->bad_node];
	int op = nd->op;

	if ((nd->split_columns || nd->joined_rows) && !a->no_im2col) {
		a->no_im2col = true;
		return 0;
	}

	free(a->forbidden[op]);
	a->forbidden[op] = strdup(cc->bad_why);
	return a->forbidden[op] ? 0 : -ENOMEM;
}

/*
 * Fold the channels of the graph anew (fold/), but not those of tensors in a->whole. a->fold becomes the
 * result, and NULL if there is nothing to fold or option host_only, no_fuse or no_fold is set; what it was
 * before is freed. Returns 0 or -ENOMEM.
 */
static int fold_anew(const struct cc *base, struct attempt *a)
{
	fold_free(a->fold);
	a->fold = NULL;
	if (base->o->host_only || base->o->no_fuse || base->o->no_fold)
		return 0;
	return fold_channels(base->full, (int)base->n, a->whole, &a->fold);
}

/*
 * Make `a` fit for the next attempt after the one of *cc, number k, has failed with err. A node that cannot be
 * expressed (-ERANGE with cc->bad_node) is forbidden; -ERANGE without a node needs no change here. After -E2BIG
 * steps have half as many nodes, and with none left *k is set so that only the last attempt remains, with all on
 * the host. Returns -ERANGE if there is to be another attempt, or the errno with which the compilation fails.
 */
static int next_attempt(struct cc *cc, struct attempt *a, int err, int *k)
{
	if (err == -ERANGE && cc->bad_node >= 0)
		return forbid(cc, a) ? -ENOMEM : -ERANGE;
	if (err != -E2BIG || *k >= MAX_ATTEMPTS)
		return err;
	/* Shorter steps; if even those do not do, all on the host. */
	a->step_nodes /= 2;
	if (!a->step_nodes)
		*k = MAX_ATTEMPTS - 1;
	return -ERANGE;
}

/*
 * Attempt to compile the graph of *base until an attempt succeeds. After each attempt that a node made fail,
 * forbid() removes the cause; after one whose stream or memory became too large (-E2BIG), NPU steps may have
 * half as many nodes; after one that put a folded tensor on the host, that tensor is whole. Once MAX_ATTEMPTS
 * have failed, or steps cannot become shorter, the last attempt puts all operators on the host. Returns 0 with
 * *p set (the caller frees it), -ENOMEM, or the errno with which the last attempt failed.
 */
static int compile(struct cc *base, weft_program **p)
{
	struct attempt a = { .forbidden = calloc((size_t)base->g->n_ops + 1, sizeof(char *)), .step_nodes = STEP_NODES,
	                     .whole = calloc((size_t)base->g->n_tensors + 1, 1) };
	struct weft_compile_options host = *base->o;
	int err = a.forbidden && a.whole && !fold_anew(base, &a) ? -ERANGE : -ENOMEM;

	host.host_only = true;
	for (int k = 0; err == -ERANGE && k <= MAX_ATTEMPTS; k++) {
		struct cc cc = *base;
		if (k == MAX_ATTEMPTS) {
			cc.o = &host;
			fold_free(a.fold);
			a.fold = NULL;
		}
		cc.g = a.fold ? &a.fold->g : base->full;
		err = run_passes(&cc, &a);
		if (!err) {
			*p = cc.p;
			cc.p = NULL;
		} else {
			err = next_attempt(&cc, &a, err, &k);
		}
		bool stale = err == -ERANGE && cc.bad_node < 0;
		cc_clear(&cc);
		if (stale && fold_anew(base, &a))
			err = -ENOMEM;
	}
	for (int i = 0; a.forbidden && i < base->g->n_ops; i++)
		free(a.forbidden[i]);
	free(a.forbidden);
	free(a.whole);
	fold_free(a.fold);
	return err;
}

/*
 * Compile graph g, which weft_graph_check() accepts and which must outlive the program, for the
 * configuration and with the options of o (NULL: defaults, configuration w16). With of_model the
 * configuration has the functional model's features; sp_limit bounds the scratchpad, rounded down to whole
 * words of N bytes. Operators that the NPU cannot run become host steps. Returns 0 with *p set, which the
 * caller frees by weft_program_free(); -EINVAL: no such configuration; -ENOMEM; -E2BIG: the arena or a
 * stream is beyond what a window can address. On failure msg (WEFT_MSG bytes) has one line and *p is
 * unchanged.
 */
int weft_compile(const weft_graph *g, const struct weft_compile_options *o, weft_program **p, char *msg)
{
	static const struct weft_compile_options none;
	struct cc cc = { .g = g, .full = g, .o = o ? o : &none, .msg = msg };
	const char *name = cc.o->config ? cc.o->config : "w16";

	cc.cfg = cc.o->of_model ? weft_config_of_model(name) : weft_config_find(name);
	if (!cc.cfg) {
		snprintf(msg, WEFT_MSG, "configuration \"%.40s\" is not known; " WEFT_CONFIG_NAMES, name);
		return -EINVAL;
	}
	cc.n = cc.cfg->n;
	cc.sp_bytes = cc.o->sp_limit && cc.o->sp_limit < cc.cfg->sp_bytes ? cc.o->sp_limit : cc.cfg->sp_bytes;
	cc.sp_bytes = cc.sp_bytes / cc.n * cc.n;
	int err = compile(&cc, p);
	if (err == -ENOMEM)
		snprintf(msg, WEFT_MSG, "out of memory while compiling");
	else if (err)
		snprintf(msg, WEFT_MSG, "cannot compile: %s", weft_file_error(err));
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which nodes the provider takes.
 *
 * A node is a candidate if it quantises or dequantises, if it computes on integers of 8 or 16 bits,
 * or if it is a float node between DequantizeLinear and QuantizeLinear. Every node gets a level:
 * along an edge the level never falls, and it rises by 1 where a candidate follows on a node that is
 * none, or the other way round. Connected candidates of one level are a group, and groups are
 * therefore convex: no path leaves one and comes back. Of each group, the longest run of nodes (in
 * topological order) that the library can load, as far as bisection finds it, becomes a part, if the
 * NPU then has multiplications to do or its device cannot be opened, which Compile reports, and so on
 * behind it. A part never ends between DequantizeLinear and the node that it feeds.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "ep.h"

#define NONE ((size_t)-1)      /* no node */
#define LOADS_MOST 200         /* the most attempts for one graph: each loads a whole part */

/* A value of the graph, and the index of the node that makes it. */
struct value {
	const char *name;
	size_t node;
};

/* What is found out about one node. */
struct info {
	bool candidate, is_float, quantize, dequantize;   /* is_float: it computes on floats */
	bool in_group;             /* a float node whose float inputs all come from DequantizeLinear or such nodes */
	bool feeds_group;          /* a float node whose readers all are QuantizeLinear or such nodes */
	bool taken;                /* a part has it */
	bool placed;               /* it is in its group's list already */
	bool read, kept;           /* some node reads its results; they are outputs of the graph, or a subgraph reads them */
	size_t level, component;   /* component: another node of its group, or itself; see root() */
	size_t last;               /* the place in its group of the last node that reads a float value of it */
	int part;                  /* the number of the last attempt to load it, counted from 1 */
};

/* The search in one graph. */
struct finder {
	struct provider *p;
	const struct ort_graph *graph;
	struct node *nodes;        /* the n nodes in topological order */
	struct info *info;         /* of each node */
	size_t n;
	struct value *values;      /* the n_values results of all nodes, sorted by name */
	size_t n_values;
	int loads, parts;          /* attempts to load a part, and parts that were taken */
	size_t taken;              /* nodes in these parts */
	uint64_t macs, npu_macs;   /* multiplications of the whole graph, and those of the parts on the NPU */
};

/* For qsort() and bsearch(): compares two struct value by their names. */
static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct value *)a)->name, ((const struct value *)b)->name);
}

/* Returns the index of the node that makes value v; NONE if no node does or v is left out. */
static size_t maker(const struct finder *f, const struct ort_value_info *v)
{
	struct value key = { .name = name_of(f->p->api, v) };
	const struct value *found = *key.name && f->n_values ? bsearch(&key, f->values, f->n_values, sizeof(key), by_name) : NULL;

	return found ? found->node : NONE;
}

/*
 * Returns ONNX Runtime's number of the element type of v; 0 if v is left out or no tensor, or the type
 * cannot be read.
 */
static int element_type(const struct finder *f, const struct ort_value_info *v)
{
	const struct ort_api *api = f->p->api;
	const struct ort_type_info *info;
	const struct ort_shape *s = NULL;
	int type = 0;

	if (!v || !ort_ok(api, api->value_type(v, &info)) || !ort_ok(api, api->tensor_info(info, &s)) || !s ||
	    !ort_ok(api, api->element_type(s, &type)))
		return 0;
	return type;
}

/* Says whether v is a constant or left out. */
static bool is_constant(const struct finder *f, const struct ort_value_info *v)
{
	bool is = false;

	return !v || (ort_ok(f->p->api, f->p->api->is_constant(v, &is)) && is);
}

/* Says whether a type number is float32, float16, float64 or bfloat16. */
static bool float_type(int type)
{
	return type == 1 || type == 10 || type == 11 || type == 16;
}

/* Says whether a type number is an integer of 8 or 16 bits. */
static bool small_integer(int type)
{
	return type >= 2 && type <= 5;
}

/* Says whether an operator multiplies integers whose scales, if it has any, are operands of their own. */
static bool on_integers(const char *op)
{
	return !strncmp(op, "QLinear", 7) || !strcmp(op, "QGemm") || !strcmp(op, "ConvInteger") || !strcmp(op, "MatMulInteger");
}

/*
 * Fills in node i's is_float, quantize, dequantize and candidate, from its operator and the element types
 * of its results and of its inputs that are not constant; float inputs behind the first of an operator on
 * integers (on_integers()) are scales and do not count. A candidate is QuantizeLinear, DequantizeLinear,
 * or a node with integers of 8 or 16 bits and no floats. QuantizeLinear and DequantizeLinear themselves are
 * never float, EPContext nodes are none of the four, and nodes with subgraphs, or whose subgraphs cannot be
 * counted, neither float nor candidates. Float nodes become candidates only later, in
 * find_groups().
 */
static void look_at(struct finder *f, size_t i)
{
	const struct node *n = &f->nodes[i];
	struct info *info = &f->info[i];
	bool integers = false;
	size_t subgraphs = 1;

	if (context_any(n))
		return;
	info->quantize = !strcmp(n->op, "QuantizeLinear");
	info->dequantize = !strcmp(n->op, "DequantizeLinear");
	for (size_t k = 0; k < n->n_in + n->n_out; k++) {
		const struct ort_value_info *v = k < n->n_in ? n->in[k] : n->out[k - n->n_in];
		int type = element_type(f, v);
		/* Scales do not say on what an operator computes, also where they are inputs of the network. */
		if (k < n->n_in && (is_constant(f, v) || (k && float_type(type) && on_integers(n->op))))
			continue;
		info->is_float |= float_type(type);
		integers |= small_integer(type);
	}
	if (info->quantize || info->dequantize)
		info->is_float = false;
	if (!ort_ok(f->p->api, f->p->api->n_subgraphs(n->ort, &subgraphs)) || subgraphs) {
		info->is_float = false;
		return;
	}
	info->candidate = info->quantize || info->dequantize || (integers && !info->is_float);
}

/*
 * Says whether all of a node's float inputs, constants apart, come from DequantizeLinear or from nodes
 * with in_group, and there is at least one.
 */
static bool all_dequantised(const struct finder *f, const struct node *n)
{
	bool any = false;

	for (size_t k = 0; k < n->n_in; k++) {
		if (is_constant(f, n->in[k]) || !float_type(element_type(f, n->in[k])))
			continue;
		size_t m = maker(f, n->in[k]);
		if (m == NONE || !(f->info[m].dequantize || f->info[m].in_group))
			return false;
		any = true;
	}
	return any;
}

/*
 * Makes candidates of the float nodes between DequantizeLinear and QuantizeLinear. Sets in_group of all
 * nodes. Then feeds_group, which find_readers() has set, stays set only of float nodes with in_group whose
 * results are read, by nothing but QuantizeLinear and nodes of this kind, and are neither outputs of the
 * graph nor read by a subgraph. These nodes become candidates.
 */
static void find_groups(struct finder *f)
{
	for (size_t i = 0; i < f->n; i++)
		f->info[i].in_group = f->info[i].is_float && all_dequantised(f, &f->nodes[i]);
	for (size_t i = f->n; i-- > 0;) {
		const struct node *n = &f->nodes[i];
		struct info *info = &f->info[i];
		info->feeds_group &= info->is_float && info->in_group && info->read && !info->kept;
		info->candidate |= info->feeds_group;
		for (size_t k = 0; k < n->n_read; k++) {
			size_t m = maker(f, n->in[k]);
			if (m != NONE && !info->quantize && !info->feeds_group)
				f->info[m].feeds_group = false;
		}
	}
}

/*
 * Sets, for all nodes: read, if some node reads one of its results; kept, if one is an output of the
 * graph or read by a subgraph; and feeds_group to true, from which find_groups() starts.
 */
static void find_readers(struct finder *f)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct node *n = &f->nodes[i];
		f->info[i].feeds_group = true;
		for (size_t k = 0; k < n->n_out; k++) {
			bool out = false;
			if (n->out[k] && ort_ok(f->p->api, f->p->api->is_graph_output(n->out[k], &out)))
				f->info[i].kept |= out;
		}
		for (size_t k = 0; k < n->n_read; k++) {
			size_t m = maker(f, n->in[k]);
			if (m == NONE)
				continue;
			f->info[m].read = true;
			f->info[m].kept |= k >= n->n_in;
		}
	}
}

/*
 * Gives each node its level: the highest of the levels of the nodes that it reads, each plus 1 if of
 * the two only one is a candidate; 0 if it reads none.
 */
static void find_levels(struct finder *f)
{
	for (size_t i = 0; i < f->n; i++) {
		for (size_t k = 0; k < f->nodes[i].n_read; k++) {
			size_t m = maker(f, f->nodes[i].in[k]);
			if (m == NONE)
				continue;
			size_t level = f->info[m].level + (f->info[m].candidate != f->info[i].candidate);
			if (f->info[i].level < level)
				f->info[i].level = level;
		}
	}
}

/*
 * Raises the level of each DequantizeLinear to the lowest level among the candidates that read it,
 * unless a node that is no candidate reads it too. One of a constant would otherwise stay at level 0.
 * Levels still never fall along an edge. Without memory nothing is changed, and fewer nodes are taken.
 */
static void move_dequantize(struct finder *f)
{
	size_t *lowest = malloc((f->n + 1) * sizeof(*lowest));

	/* Without memory, nodes stay at their levels, and fewer nodes are taken. */
	for (size_t i = 0; lowest && i < f->n; i++)
		lowest[i] = NONE;
	for (size_t i = f->n; lowest && i-- > 0;) {
		struct info *info = &f->info[i];
		if (info->dequantize && lowest[i] != NONE && lowest[i] > info->level)
			info->level = lowest[i];
		for (size_t k = 0; k < f->nodes[i].n_read; k++) {
			size_t m = maker(f, f->nodes[i].in[k]);
			/* A reader that is no candidate keeps it at its level. */
			size_t level = info->candidate ? info->level : 0;
			if (m != NONE && level < lowest[m])
				lowest[m] = level;
		}
	}
	free(lowest);
}

/* Returns the node that stands for the group of node i. */
static size_t root(const struct finder *f, size_t i)
{
	while (f->info[i].component != i)
		i = f->info[i].component;
	return i;
}

/*
 * Joins candidates of the same level, one of which reads a result of the other, into groups: two nodes are in
 * one group if root() gives the same number for both. Every other node is a group by itself.
 */
static void find_components(struct finder *f)
{
	for (size_t i = 0; i < f->n; i++)
		f->info[i].component = i;
	for (size_t i = 0; i < f->n; i++) {
		for (size_t k = 0; k < f->nodes[i].n_in; k++) {
			size_t m = maker(f, f->nodes[i].in[k]);
			if (m != NONE && f->info[m].candidate && f->info[i].candidate && f->info[m].level == f->info[i].level)
				f->info[root(f, m)].component = root(f, i);
		}
	}
}

/* Says whether value v is among the n values of the list, by its name. */
static bool listed(const struct ort_value_info **list, size_t n, const struct ort_value_info *v, const struct ort_api *api)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(name_of(api, list[i]), name_of(api, v)))
			return true;
	return false;
}

/*
 * Finds the values at a part's edge. Members are the nodes whose info.part is `mark`. part->in gets the
 * values that members read and no member makes, constants apart, each once; part->out the results of
 * members that are outputs of the graph or read by other nodes. Both arrays have room.
 */
static void find_edges(const struct finder *f, struct part *part, int mark)
{
	const struct ort_api *api = f->p->api;

	for (size_t i = 0; i < part->n; i++) {
		const struct node *n = part->nodes[i];
		for (size_t k = 0; k < n->n_in; k++) {
			size_t m = maker(f, n->in[k]);
			if ((m == NONE || f->info[m].part != mark) && *name_of(api, n->in[k]) && !is_constant(f, n->in[k]) &&
			    !listed(part->in, part->n_in, n->in[k], api))
				part->in[part->n_in++] = n->in[k];
		}
		for (size_t k = 0; k < n->n_out; k++) {
			bool out = false;
			if (n->out[k] && ort_ok(api, api->is_graph_output(n->out[k], &out)) && out)
				part->out[part->n_out++] = n->out[k];
		}
	}
	for (size_t i = 0; i < f->n; i++) {
		for (size_t k = 0; f->info[i].part != mark && k < f->nodes[i].n_read; k++) {
			size_t m = maker(f, f->nodes[i].in[k]);
			if (m != NONE && f->info[m].part == mark && !listed(part->out, part->n_out, f->nodes[i].in[k], api))
				part->out[part->n_out++] = f->nodes[i].in[k];
		}
	}
}

/* Returns how many inputs and results n nodes have together, plus 1. */
static size_t count_values(const struct node *const *nodes, size_t n)
{
	size_t count = 1;

	for (size_t i = 0; i < n; i++)
		count += nodes[i]->n_in + nodes[i]->n_out;
	return count;
}

/*
 * Writes these nodes as one ONNX model and loads it. Each call counts as an attempt in f->loads; its
 * number, counted from 1, is noted in info.part of the nodes. Returns true with the network in *net,
 * which the caller frees; false if that is not possible for any reason, no memory included, or if
 * LOADS_MOST attempts have been made before.
 */
static bool load(struct finder *f, const struct node *const *nodes, size_t n, weft_net **net)
{
	size_t room = count_values(nodes, n);
	struct part part = { .graph = f->graph, .nodes = nodes, .n = n };
	char msg[WEFT_MSG_LEN];
	int mark = ++f->loads;

	if (mark > LOADS_MOST)
		return false;
	part.in = calloc(room, sizeof(*part.in));
	part.out = calloc(room, sizeof(*part.out));
	bool good = part.in && part.out;
	for (size_t i = 0; i < n; i++)
		f->info[nodes[i] - f->nodes].part = mark;
	if (good)
		find_edges(f, &part, mark);
	good = good && !part_load(f->p, &part, net, msg);
	free(part.in);
	free(part.out);
	return good;
}

/*
 * Sets *is to whether the nodes of a network of n nodes are to be taken: the NPU has multiplications to do in
 * it, or the provider's device cannot be opened, which Compile will report. In the first case the network is
 * kept for Compile at the front of p->kept, with its session on the provider's device, it counts in
 * p->n_parts, and its multiplications are added to f->macs and f->npu_macs; in all others it is freed.
 * Returns NULL, also with *is false for a network that cannot be compiled or has no multiplications for the
 * NPU; or a status if there is no memory for the list's entry.
 */
static struct ort_status *worth(struct finder *f, weft_net *net, size_t n, bool *is)
{
	struct provider *p = f->p;
	struct kept *k = calloc(1, sizeof(*k));
	struct weft_report *r = NULL;
	char msg[WEFT_MSG_LEN];

	*is = false;
	if (!k) {
		weft_net_free(net);
		return fail_ort(p->api, ORT_FAIL, ORT_PROVIDER ": not enough memory");
	}
	k->part.net = net;
	k->n_nodes = n;
	int err = plugin_open(&k->part, &p->options, p->n_parts, 0, &p->device, msg);
	if (!err)
		err = weft_session_plan(k->part.session, &r, msg);
	/*
	 * ONNX Runtime takes an error of GetCapability as "no nodes" and goes on without the provider.
	 * If the device is not there, the nodes are taken, and Compile says so.
	 */
	bool no_device = err && !k->part.device;
	*is = no_device || (!err && r->macs);
	for (int i = 0; *is && !no_device && i < r->n_ops; i++)
		f->macs += r->ops[i].macs;
	f->npu_macs += *is && !no_device ? r->macs : 0;
	weft_report_free(r);
	if (!*is || no_device) {
		plugin_close(&k->part);
		free(k);
		return NULL;
	}
	p->n_parts++;
	k->next = p->kept;
	p->kept = k;
	return NULL;
}

/*
 * Writes to cuts[] the places (numbers of nodes before them) at which parts of a group may begin and end,
 * in ascending order: not between two nodes of the list that a float value joins. Place 0 is always the
 * first. cuts has room for n + 1; info.last of the list's nodes, and of others whose float results it reads, is
 * overwritten. Returns how many places there are.
 */
static size_t find_cuts(struct finder *f, const struct node *const *list, size_t n, size_t *cuts)
{
	size_t n_cuts = 0, reach = 0;

	for (size_t i = 0; i < n; i++)
		f->info[list[i] - f->nodes].last = 0;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < list[i]->n_in; k++) {
			size_t m = maker(f, list[i]->in[k]);
			if (m != NONE && float_type(element_type(f, list[i]->in[k])))
				f->info[m].last = i;
		}
	}
	for (size_t at = 0; at <= n; at++) {
		size_t last = at ? f->info[list[at - 1] - f->nodes].last : 0;
		if (reach < last)
			reach = last;
		if (reach < at || !at)
			cuts[n_cuts++] = at;
	}
	return n_cuts;
}

/*
 * Finds by bisection how long a run of nodes, from place cuts[0] on, can be loaded as one network; runs
 * end at cuts[1] to cuts[n_cuts - 1], and the longest is tried first. Returns the index in cuts[] of the
 * run's end, with the network in *net, which the caller frees; 0, with *net NULL, if none of those tried
 * loads. Each try counts in f->loads.
 */
static size_t longest(struct finder *f, const struct node *const *list, const size_t *cuts, size_t n_cuts, weft_net **net)
{
	size_t low = 0, high = n_cuts - 1;

	if (load(f, list + cuts[0], cuts[high] - cuts[0], net))
		return high;
	*net = NULL;
	while (low + 1 < high) {
		size_t middle = (low + high) / 2;
		weft_net *longer = NULL;
		if (load(f, list + cuts[0], cuts[middle] - cuts[0], &longer)) {
			weft_net_free(*net);
			*net = longer;
			low = middle;
		} else {
			high = middle;
		}
	}
	return low;
}

/*
 * Tells ONNX Runtime that the provider takes these n nodes as one, without their constants as inputs.
 * Marks them as taken, and counts them in f->taken and the part in f->parts, also if the call then fails.
 * Returns NULL, or a status if the call fails or there is no memory.
 */
static struct ort_status *fuse(struct finder *f, struct ort_support *support, const struct node *const *list, size_t n)
{
	struct ort_fusion fusion = { .version = ORT_ABI_VERSION, .drop_constants = true };
	const struct ort_node **nodes = calloc(n, sizeof(*nodes));

	if (!nodes)
		return fail_ort(f->p->api, ORT_FAIL, ORT_PROVIDER ": not enough memory");
	for (size_t i = 0; i < n; i++) {
		nodes[i] = list[i]->ort;
		f->info[list[i] - f->nodes].taken = true;
	}
	struct ort_status *status = f->p->api->ep_api()->fuse(support, nodes, n, &fusion);
	free(nodes);
	f->taken += n;
	f->parts++;
	return status;
}

/*
 * Takes what can be taken of a group, whose n nodes are `list`: from the first place (find_cuts()) on the
 * run that longest() finds by bisection, if worth() says so: the NPU has multiplications to do in it, or
 * the device cannot be opened. Taken or not, the search goes on one place behind the run's end, because
 * the nodes up to there do not load together with the run; it ends after LOADS_MOST loads, those of all
 * groups of the graph together. cuts has room for n + 1 and is overwritten. Returns NULL or a status.
 */
static struct ort_status *take_group(struct finder *f, struct ort_support *support, const struct node *const *list, size_t n, size_t *cuts)
{
	size_t n_cuts = find_cuts(f, list, n, cuts), at = 0;
	struct ort_status *status = NULL;

	while (!status && at + 1 < n_cuts && f->loads < LOADS_MOST) {
		weft_net *net = NULL;
		bool take = false;
		size_t length = longest(f, list, cuts + at, n_cuts - at, &net);
		if (length)
			status = worth(f, net, cuts[at + length] - cuts[at], &take);
		if (take)
			status = fuse(f, support, list + cuts[at], cuts[at + length] - cuts[at]);
		/* The piece up to the next place did not load together with the run; the search goes on behind it. */
		at += length + 1;
	}
	return status;
}

/*
 * Writes the nodes of the group whose root() is `group` to list[] in topological order, but each
 * DequantizeLinear just before the first node that it feeds, and notes that in info.placed: those of
 * constants would otherwise all come first, and parts could end nowhere. DequantizeLinear that feed no
 * node of the group come last. Returns how many nodes.
 */
static size_t list_group(struct finder *f, size_t group, const struct node **list)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++) {
		if (!f->info[i].candidate || root(f, i) != group || f->info[i].dequantize)
			continue;
		for (size_t k = 0; k < f->nodes[i].n_in; k++) {
			size_t m = maker(f, f->nodes[i].in[k]);
			if (m == NONE || !f->info[m].dequantize || root(f, m) != group || f->info[m].placed)
				continue;
			f->info[m].placed = true;
			list[n++] = &f->nodes[m];
		}
		list[n++] = &f->nodes[i];
	}
	/* The DequantizeLinear that are left feed nodes of other groups. */
	for (size_t i = 0; i < f->n; i++)
		if (f->info[i].dequantize && root(f, i) == group && !f->info[i].placed)
			list[n++] = &f->nodes[i];
	return n;
}

/*
 * Takes the provider's own EPContext nodes, each as a part of one node, also those whose context does not
 * load or is not worth it: what is wrong with one is said by Compile. Networks that load and have
 * multiplications for the NPU are kept for Compile (worth()). Returns NULL or a status.
 */
static struct ort_status *take_contexts(struct finder *f, struct ort_support *support)
{
	struct ort_status *status = NULL;
	char msg[WEFT_MSG_LEN];
	weft_net *net;
	bool worthy;

	for (size_t i = 0; !status && i < f->n; i++) {
		const struct node *n = &f->nodes[i];
		if (!context_ours(f->p->api, n))
			continue;
		if (!context_load(f->p, f->graph, n, &net, msg))
			status = worth(f, net, 1, &worthy);
		if (!status)
			status = fuse(f, support, &n, 1);
	}
	return status;
}

/*
 * Takes what can be taken of every group of the graph, with at most LOADS_MOST loads for all of them: groups
 * that come later get nothing once these are used up. Returns NULL or a status.
 */
static struct ort_status *take_groups(struct finder *f, struct ort_support *support)
{
	const struct node **list = calloc(f->n + 1, sizeof(*list));
	size_t *cuts = calloc(f->n + 1, sizeof(*cuts));
	struct ort_status *status = list && cuts ? NULL : fail_ort(f->p->api, ORT_FAIL, ORT_PROVIDER ": not enough memory");

	for (size_t r = 0; !status && r < f->n; r++) {
		size_t n = f->info[r].candidate && root(f, r) == r ? list_group(f, r, list) : 0;
		if (n)
			status = take_group(f, support, list, n, cuts);
	}
	free(list);
	free(cuts);
	return status;
}

/*
 * Reads the graph's nodes, sorts their results by name, and finds candidates, levels and groups.
 * Returns false if the graph cannot be read or there is no memory; the caller frees what there is.
 */
static bool prepare(struct finder *f)
{
	size_t room = 1;

	f->nodes = nodes_read(f->p->api, f->graph, &f->n);
	for (size_t i = 0; f->nodes && i < f->n; i++)
		room += f->nodes[i].n_out;
	f->info = calloc(f->n + 1, sizeof(*f->info));
	f->values = calloc(room, sizeof(*f->values));
	if (!f->nodes || !f->info || !f->values)
		return false;
	for (size_t i = 0; i < f->n; i++)
		for (size_t k = 0; k < f->nodes[i].n_out; k++)
			f->values[f->n_values++] = (struct value){ name_of(f->p->api, f->nodes[i].out[k]), i };
	qsort(f->values, f->n_values, sizeof(*f->values), by_name);
	for (size_t i = 0; i < f->n; i++)
		look_at(f, i);
	find_readers(f);
	find_groups(f);
	find_levels(f);
	move_dequantize(f);
	find_components(f);
	return true;
}

/*
 * Logs, as information, how many of the graph's nodes were taken, in how many parts, for which device,
 * and the NPU's share of the graph's multiplications. Adds those of the nodes that were not taken to
 * f->macs.
 */
static void say(struct finder *f)
{
	char line[WEFT_MSG_LEN + PLUGIN_DEVICE], device[PLUGIN_DEVICE];

	for (size_t i = 0; i < f->n; i++)
		f->macs += f->info[i].taken ? 0 : macs_of(f->p->api, &f->nodes[i]);
	plugin_device_text(&f->p->options, device, sizeof(device));
	snprintf(line, sizeof(line), ORT_PROVIDER ": %zu of %zu nodes in %d parts, device %s, configuration %s, %.1f %% of %llu MACs", f->taken, f->n,
	         f->parts, device, plugin_config_text(&f->p->options),
	         f->macs ? 100.0 * (double)f->npu_macs / (double)f->macs : 0.0, (unsigned long long)f->macs);
	(void)ort_ok(f->p->api, f->p->api->log(f->p->log, ORT_LOG_INFO, line, "capability.c", 0, "say"));
}

struct ort_status *find_parts(struct ort_ep *ep, const struct ort_graph *graph, struct ort_support *support)
{
	struct finder f = { .p = (struct provider *)ep, .graph = graph };
	const struct ort_node *parent = NULL;
	struct ort_status *status = NULL;

	/* Graphs inside of nodes stay with ONNX Runtime. */
	if (!ort_ok(f.p->api, f.p->api->parent_node(graph, &parent)) || parent)
		return NULL;
	status = prepare(&f) ? take_contexts(&f, support) : fail_ort(f.p->api, ORT_FAIL, ORT_PROVIDER ": the graph cannot be read");
	if (!status)
		status = take_groups(&f, support);
	if (!status)
		say(&f);
	nodes_free(f.nodes, f.n);
	free(f.info);
	free(f.values);
	return status;
}

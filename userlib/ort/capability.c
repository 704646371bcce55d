/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which nodes the provider takes.
 *
 * A node is a candidate if it quantises or dequantises, if it computes on 8 or 16 bit
 * integers, or if it is a float node between DequantizeLinear and QuantizeLinear. Candidates
 * get levels: along an edge the level never falls, and it rises where a candidate follows
 * on another node or the other way round. Connected candidates of one level are
 * therefore convex: no path leaves them and comes back. Of such a group the longest run
 * of nodes, in topological order, that the library loads becomes a part, if the NPU then
 * has multiplications to do; a part never ends between DequantizeLinear and the node
 * that it feeds.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ep.h"

#define NONE ((size_t)-1)
#define LOADS_MOST 200         /* attempts for one graph: each loads a whole part */

struct value {
	const char *name;
	size_t node;               /* that makes it */
};

struct info {
	bool candidate, is_float, quantize, dequantize;
	bool in_group;             /* float: all its inputs are dequantised */
	bool feeds_group;          /* float: everything that reads it ends in QuantizeLinear */
	bool placed;               /* in its group's list */
	bool read, kept;           /* something reads it; the graph gives it away, or a subgraph reads it */
	size_t level, component;
	size_t last;               /* place in its group of the last node that reads a float value of it */
	int part;                  /* the last part that was tried with it, counted from 1 */
};

struct finder {
	const struct provider *p;
	const struct ort_graph *graph;
	struct node *nodes;
	struct info *info;
	size_t n;
	struct value *values;      /* sorted by name */
	size_t n_values;
	int loads, parts;
	size_t taken;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct value *)a)->name, ((const struct value *)b)->name);
}

/* The node that makes a value, or NONE. */
static size_t maker(const struct finder *f, const struct ort_value_info *v)
{
	struct value key = { .name = name_of(f->p->api, v) };
	const struct value *found = *key.name && f->n_values ? bsearch(&key, f->values, f->n_values, sizeof(key), by_name) : NULL;

	return found ? found->node : NONE;
}

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

static bool is_constant(const struct finder *f, const struct ort_value_info *v)
{
	bool is = false;

	return !v || (ort_ok(f->p->api, f->p->api->is_constant(v, &is)) && is);
}

static bool float_type(int type)
{
	return type == 1 || type == 10 || type == 11 || type == 16;
}

static bool small_integer(int type)
{
	return type >= 2 && type <= 5;
}

/* What a node computes on: constants do not count, its own outputs do. */
static void look_at(struct finder *f, size_t i)
{
	const struct node *n = &f->nodes[i];
	struct info *info = &f->info[i];
	bool integers = false;
	size_t subgraphs = 1;

	info->quantize = !strcmp(n->op, "QuantizeLinear");
	info->dequantize = !strcmp(n->op, "DequantizeLinear");
	for (size_t k = 0; k < n->n_in + n->n_out; k++) {
		const struct ort_value_info *v = k < n->n_in ? n->in[k] : n->out[k - n->n_in];
		int type = element_type(f, v);
		if (k < n->n_in && is_constant(f, v))
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

/* Float nodes between DequantizeLinear and QuantizeLinear are candidates. */
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
 * A DequantizeLinear moves to the level of the node that it feeds: one of a constant would
 * else stay at level 0. Levels still never fall along an edge. If nodes of several
 * levels read it, it moves to the lowest.
 */
static void move_dequantize(struct finder *f)
{
	size_t *lowest = malloc((f->n + 1) * sizeof(*lowest));

	/* Without memory they stay: fewer nodes are then taken. */
	for (size_t i = 0; lowest && i < f->n; i++)
		lowest[i] = NONE;
	for (size_t i = f->n; lowest && i-- > 0;) {
		struct info *info = &f->info[i];
		if (info->dequantize && lowest[i] != NONE && lowest[i] > info->level)
			info->level = lowest[i];
		for (size_t k = 0; k < f->nodes[i].n_read; k++) {
			size_t m = maker(f, f->nodes[i].in[k]);
			/* Beside another kind of node it stays where it is. */
			size_t level = info->candidate ? info->level : 0;
			if (m != NONE && level < lowest[m])
				lowest[m] = level;
		}
	}
	free(lowest);
}

static size_t root(const struct finder *f, size_t i)
{
	while (f->info[i].component != i)
		i = f->info[i].component;
	return i;
}

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

static bool listed(const struct ort_value_info **list, size_t n, const struct ort_value_info *v, const struct ort_api *api)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(name_of(api, list[i]), name_of(api, v)))
			return true;
	return false;
}

/* The values at a part's edge; members are marked with the part's number. */
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

static size_t count_values(const struct node *const *nodes, size_t n)
{
	size_t count = 1;

	for (size_t i = 0; i < n; i++)
		count += nodes[i]->n_in + nodes[i]->n_out;
	return count;
}

/* Does the library load these nodes as one network? */
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

/* Are there multiplications that the NPU does? The functional model stands for every device. */
static struct ort_status *worth(const struct finder *f, const weft_net *net, bool *is)
{
	struct provider p = *f->p;
	struct weft_report *r = NULL;
	weft_session *s;
	char msg[WEFT_MSG_LEN];

	p.options.device = WEFT_DEVICE_MODEL;
	p.options.usb[0] = '\0';
	*is = false;
	/* What the network is to blame for leaves the nodes to ONNX Runtime; what the options are is an error. */
	int err = open_session(&p, net, &s, msg);
	if (err)
		return err == -ENOENT ? fail_ort(p.api, ORT_INVALID_ARGUMENT, ORT_PROVIDER ": %s", msg) : NULL;
	*is = !weft_session_plan(s, &r, msg) && r->macs;
	weft_report_free(r);
	weft_session_close(s);
	return NULL;
}

/*
 * Where parts of a group may begin and end: not between two nodes that a float value joins.
 * @return how many places, the first 0 and the last n
 */
static size_t find_cuts(struct finder *f, const struct node *const *list, size_t n, size_t *cuts)
{
	size_t n_cuts = 0, reach = 0;

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
 * The longest run that loads, from the first of the places on where it may end, by bisection.
 * @return the number of the place where it ends, 0: not even the shortest one loads
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

static struct ort_status *fuse(struct finder *f, struct ort_support *support, const struct node *const *list, size_t n)
{
	struct ort_fusion fusion = { .version = ORT_ABI_VERSION, .drop_constants = true };
	const struct ort_node **nodes = calloc(n, sizeof(*nodes));

	if (!nodes)
		return fail_ort(f->p->api, ORT_FAIL, ORT_PROVIDER ": not enough memory");
	for (size_t i = 0; i < n; i++)
		nodes[i] = list[i]->ort;
	struct ort_status *status = f->p->api->ep_api()->fuse(support, nodes, n, &fusion);
	free(nodes);
	f->taken += n;
	f->parts++;
	return status;
}

/* Take what can be taken of a group; cuts has room for n + 1 places. */
static struct ort_status *take_group(struct finder *f, struct ort_support *support, const struct node *const *list, size_t n, size_t *cuts)
{
	size_t n_cuts = find_cuts(f, list, n, cuts), at = 0;
	struct ort_status *status = NULL;

	while (!status && at + 1 < n_cuts && f->loads < LOADS_MOST) {
		weft_net *net = NULL;
		bool take = false;
		size_t length = longest(f, list, cuts + at, n_cuts - at, &net);
		if (length)
			status = worth(f, net, &take);
		if (take)
			status = fuse(f, support, list + cuts[at], cuts[at + length] - cuts[at]);
		weft_net_free(net);
		/* What comes next does not load behind it; the search goes on after that. */
		at += length + 1;
	}
	return status;
}

/*
 * The nodes of a group in topological order, each DequantizeLinear just before the first node
 * that it feeds: those of constants would else all come first, and keep parts from ending anywhere.
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
	/* What is left feeds other nodes than these. */
	for (size_t i = 0; i < f->n; i++)
		if (f->info[i].dequantize && root(f, i) == group && !f->info[i].placed)
			list[n++] = &f->nodes[i];
	return n;
}

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

static void say(const struct finder *f)
{
	char line[WEFT_MSG_LEN];

	snprintf(line, sizeof(line), ORT_PROVIDER ": %zu of %zu nodes in %d parts, device %s%s%s, configuration %s", f->taken, f->n, f->parts,
	         weft_device_name(f->p->options.device), f->p->options.usb[0] ? ":" : "", f->p->options.usb, f->p->options.config);
	(void)ort_ok(f->p->api, f->p->api->log(f->p->log, ORT_LOG_INFO, line, "capability.c", 0, "say"));
}

struct ort_status *find_parts(struct ort_ep *ep, const struct ort_graph *graph, struct ort_support *support)
{
	struct finder f = { .p = (const struct provider *)ep, .graph = graph };
	const struct ort_node *parent = NULL;
	struct ort_status *status = NULL;

	/* Graphs inside of nodes stay with ONNX Runtime. */
	if (!ort_ok(f.p->api, f.p->api->parent_node(graph, &parent)) || parent)
		return NULL;
	status = prepare(&f) ? take_groups(&f, support) : fail_ort(f.p->api, ORT_FAIL, ORT_PROVIDER ": the graph cannot be read");
	if (!status)
		say(&f);
	nodes_free(f.nodes, f.n);
	free(f.info);
	free(f.values);
	return status;
}

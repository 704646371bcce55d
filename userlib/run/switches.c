/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often a network changes between NPU and host, and how much of its work runs on
 * the NPU.
 *
 * A switch is a tensor that one side makes and the other reads, counted from the
 * program, once for each tensor however many read it. The network's inputs are made by
 * neither side, nor is what a variable holds when a run begins; and a variable's new value leaves
 * the network as an output does. QUANTIZE, DEQUANTIZE and SOFTMAX on the host between a network's input or
 * output and the NPU belong to that edge, and so does a RESHAPE there, whose result is the same bytes: tensors between
 * them and the NPU do not count.
 */
#include "userlib/run/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Who makes a tensor; EDGE_BEGIN: an operator of the edge that reads nothing but inputs. */
enum side { NOBODY, NPU, HOST, EDGE_BEGIN };

/*
 * Says whether operator o is one that an edge of the network may have: TFL_SOFTMAX, TFL_ or ONNX_
 * QUANTIZE or DEQUANTIZE, or RESHAPE; a RESCALE with unsigned values on a side; or anything that comes from a
 * source operator called QUANTIZE, DEQUANTIZE, SOFTMAX, QuantizeLinear, DequantizeLinear, Softmax or
 * QLinearSoftmax, since importers also lower these to other operators.
 */
static bool is_edge_kind(const weft_graph *g, const struct weft_gop *o)
{
	static const char *const names[] = { "QUANTIZE", "DEQUANTIZE", "SOFTMAX", "QuantizeLinear", "DequantizeLinear", "Softmax",
		"QLinearSoftmax" };

	switch (o->op) {
	case WEFT_OP_TFL_SOFTMAX: case WEFT_OP_TFL_QUANTIZE: case WEFT_OP_TFL_DEQUANTIZE:
	case WEFT_OP_ONNX_QUANTIZE: case WEFT_OP_ONNX_DEQUANTIZE: case WEFT_OP_RESHAPE:
		return true;
	case WEFT_OP_RESCALE:
		if (o->attr.rescale.x_unsigned || o->attr.rescale.y_unsigned)
			return true;
		break;
	default:
		break;
	}
	for (size_t i = 0; o->src >= 0 && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(g->srcs[o->src].name, names[i]))
			return true;
	return false;
}

/* Says whether operator i runs on the host and is of a kind that belongs to an edge. */
static bool may_be_edge(const weft_program *p, int i)
{
	const struct weft_gop *o = &p->graph->ops[i];

	return p->ops[i].unit == WEFT_ON_HOST && (weft_moves_variable(o) || is_edge_kind(p->graph, o));
}

/*
 * Says whether operator i has operands but does not run, so that its result is the bytes of its first
 * operand, under another shape.
 */
static bool is_alias(const weft_program *p, int i)
{
	return p->ops[i].unit == WEFT_ON_NONE && p->graph->ops[i].n_in > 0;
}

/*
 * Sets same[t] to the tensor whose bytes tensor t is: itself, or, if operators that do not run (is_alias()) lie
 * between, operand 0 of the first of them. Sets side[t], which is 0 (NOBODY) before, to who makes t: NPU, HOST,
 * or EDGE_BEGIN for a host operator of an edge's kind whose operands are inputs, constants or made by such
 * operators. Results of operators that do not run, inputs and constants stay NOBODY.
 */
static void find_sides(const weft_program *p, uint8_t *side, int *same)
{
	const weft_graph *g = p->graph;

	for (int t = 0; t < g->n_tensors; t++)
		same[t] = t;
	for (int i = 0; i < g->n_ops; i++) {
		const struct weft_gop *o = &g->ops[i];
		bool begins = may_be_edge(p, i);

		for (int k = 0; k < o->n_in && begins; k++) {
			const struct weft_gtensor *x = &g->tensors[same[o->in[k]]];
			begins = x->is_input || x->t.data || side[same[o->in[k]]] == EDGE_BEGIN;
		}
		for (int k = 0; k < o->n_out; k++) {
			if (is_alias(p, i))
				same[o->out[k]] = same[o->in[0]];
			else if (p->ops[i].unit != WEFT_ON_NONE)
				side[o->out[k]] = p->ops[i].unit == WEFT_ON_NPU ? NPU : begins ? EDGE_BEGIN : HOST;
		}
	}
}

/*
 * Sets end[i] of each operator to whether only the end of the network lies behind it: it is a host
 * operator of the edge's kinds or one that does not run, and no operators but such read its results.
 * inner has one entry for each tensor, all false before; it becomes true for tensors that other
 * operators read.
 */
static void find_end(const weft_program *p, bool *end, bool *inner)
{
	const weft_graph *g = p->graph;

	for (int i = g->n_ops - 1; i >= 0; i--) {
		const struct weft_gop *o = &g->ops[i];

		end[i] = may_be_edge(p, i) || is_alias(p, i);
		for (int k = 0; k < o->n_out && end[i]; k++)
			end[i] = !inner[o->out[k]];
		for (int k = 0; k < o->n_in && !end[i]; k++)
			inner[o->in[k]] = true;
	}
}

/*
 * Sets is_switch of each tensor that operator i reads and the other side makes: NPU for an operator of the
 * host, HOST (not EDGE_BEGIN) for one of the NPU. It is set for the tensor whose bytes it is (same). Nothing
 * for an operator that does not run.
 */
static void note_reads(const weft_program *p, int i, const uint8_t *side, const int *same, bool *is_switch)
{
	const struct weft_gop *o = &p->graph->ops[i];
	const uint8_t other = p->ops[i].unit == WEFT_ON_NPU ? HOST : p->ops[i].unit == WEFT_ON_HOST ? NPU : NOBODY;

	for (int k = 0; k < o->n_in; k++)
		if (other != NOBODY && side[same[o->in[k]]] == other)
			is_switch[same[o->in[k]]] = true;
}

int weft_list_switches(const weft_program *p, const char ***names, int *n)
{
	const size_t n_tensors = (size_t)p->graph->n_tensors + 1, n_ops = (size_t)p->graph->n_ops + 1;
	uint8_t *side = calloc(n_tensors, sizeof(*side));
	int *same = calloc(n_tensors, sizeof(*same));
	bool *is_switch = calloc(n_tensors, sizeof(*is_switch)), *inner = calloc(n_tensors, sizeof(*inner));
	bool *end = calloc(n_ops, sizeof(*end));
	int err = -ENOMEM;

	*names = calloc(n_tensors, sizeof(**names));
	*n = 0;
	if (*names && side && same && is_switch && inner && end) {
		find_sides(p, side, same);
		find_end(p, end, inner);
		for (int i = 0; i < p->graph->n_ops; i++)
			if (!end[i])
				note_reads(p, i, side, same, is_switch);
		for (int t = 0; t < p->graph->n_tensors; t++)
			if (is_switch[t])
				(*names)[(*n)++] = p->graph->tensors[t].name;
		err = 0;
	}
	free(side);
	free(same);
	free(is_switch);
	free(inner);
	free(end);
	return err;
}

double weft_share_of_cycles(const struct weft_report *r)
{
	const double npu = (double)r->estimate, host = r->host_ms * WEFT_HOST_CYCLES_PER_MS;

	return npu + host > 0 ? npu / (npu + host) : 1;
}

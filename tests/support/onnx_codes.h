/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks between a DequantizeLinear and a QuantizeLinear, made by ob_node(), that run on a device and are
 * compared with exact values: the codes at both ends and their parameters.
 */
#ifndef WEFT_TESTS_ONNX_CODES_H
#define WEFT_TESTS_ONNX_CODES_H

#include <math.h>
#include <stdio.h>

#include <weft/weft.h>

#include "onnx_build.h"
#include "short_of_memory.h"
#include "tensors.h"

struct q { float s; int z, type; };       /* ONNX's 2: uint8, 3: int8, 4: uint16, 5: int16 */

static inline double between(uint64_t *r, double lo, double hi)
{
	return lo + (hi - lo) * (double)test_below(r, 1000003) / 1000003;
}

static inline bool is_16_bit(const struct q *q) { return q->type >= 4; }
static inline int lowest(const struct q *q) { return q->type == 5 ? INT16_MIN : q->type == 3 ? -128 : 0; }
static inline int highest(const struct q *q) { return lowest(q) + (is_16_bit(q) ? 65535 : 255); }

static inline struct q quantisation(uint64_t *r, double range)
{
	struct q q = { .s = (float)(range / 255), .type = 2 + (int)test_below(r, 2) };

	q.z = lowest(&q) + (int)test_below(r, 256);
	return q;
}

/* Of int16, with a zero point of 0. */
static inline struct q wide(double range)
{
	return (struct q){ .s = (float)(range / 65535), .type = 5 };
}

/* Of uint16 or int16, with a zero point anywhere, often at an end. */
static inline struct q offset(uint64_t *r, double range)
{
	struct q q = { .s = (float)(range / 65535), .type = 4 + (int)test_below(r, 2) };
	const int way = (int)test_below(r, 4);

	q.z = way == 0 ? lowest(&q) : way == 1 ? highest(&q) : lowest(&q) + (int)test_below(r, 65536);
	return q;
}

static inline void parameters(struct ob *g, const char *s, const char *zp, const struct q *q)
{
	const int16_t z = (int16_t)q->z;

	ob_tensor(g, s, 1, 0, NULL, &q->s, 4);
	ob_tensor(g, zp, q->type, 0, NULL, &z, is_16_bit(q) ? 2 : 1);
}

/* Begins a graph: input x [dim], its floats fx, and the parameters of both ends. */
static inline struct ob begin(const struct q *x, const struct q *y, int rank, const int64_t *dim)
{
	struct ob g = { 0 };

	parameters(&g, "sx", "zx", x);
	parameters(&g, "sy", "zy", y);
	ob_port(&g, 11, "x", x->type, rank, dim);
	ob_node(&g, "DequantizeLinear", "x sx zx", "fx", NULL);
	return g;
}

static struct short_of_memory shortage = { .every = 31 };
static int codes_opset = 17;              /* of the networks that end() makes */

/* Ends it: y of the floats f; also_float: f is an output, too, which keeps the nodes as they stand. */
static inline weft_net *end(struct ob *g, const struct q *y, int rank, const int64_t *dim, bool rescale, bool also_float)
{
	struct weft_load_options o = weft_load_options_default();
	struct ob model = { 0 };
	char msg[WEFT_MSG_LEN] = "";
	weft_net *net;

	ob_node(g, "QuantizeLinear", "f sy zy", "y", NULL);
	ob_port(g, 12, "y", y->type, rank, dim);
	if (also_float)
		ob_port(g, 12, "f", 1, rank, dim);
	ob_model(&model, g, codes_opset);
	o.requant_rescale = rescale;
	if (weft_net_load_with(model.p, model.n, "net", &o, &net, msg))
		fail_msg("%s", msg);
	short_of_memory(&shortage, model.p, model.n, "norm", &o);
	free(model.p);
	return net;
}

/* Of the last run(): switches between NPU and host, multiplications on the host, and the NPU's share of the cycles. */
static struct { int switches; uint64_t host_macs; double npu_cycles; } last_run;

/*
 * Runs it; y is to be released, a second result of its type has to be the same bytes. alone: nothing may be
 * on the host in the middle; if it is 2, at the ends, too.
 */
static inline weft_tensor run(const weft_net *net, enum weft_device device, const weft_tensor *x, int alone)
{
	struct weft_session_options o = weft_session_options_default();
	weft_tensor y[2] = { { 0 } };
	char msg[WEFT_MSG_LEN] = "";
	struct weft_report *rep;
	weft_session *s;

	o.device = device;
	o.check = device != WEFT_DEVICE_GOLDEN;
	if (weft_session_open(net, &o, &s, msg) || weft_session_run(s, x, y, &rep, msg))
		fail_msg("%s", msg);
	if (alone && rep->n_switches)
		fail_msg("%d switches: %s is on the host", rep->n_switches, rep->switches[0]);
	if (alone == 2 && rep->npu_cycles < 1)
		fail_msg("only %g of the cycles on the NPU", rep->npu_cycles);
	assert_int_equal(rep->mismatches, 0);
	last_run.switches = rep->n_switches;
	last_run.host_macs = rep->macs_all - rep->macs;
	last_run.npu_cycles = rep->npu_cycles;
	weft_report_free(rep);
	weft_session_close(s);
	if (y[1].data && y[1].dtype == y[0].dtype)
		assert_memory_equal(y[0].data, y[1].data, weft_tensor_bytes(&y[0]));
	weft_tensor_release(&y[1]);
	return y[0];
}

/* Codes all over the range, near each other, the same, or at its ends. */
static inline weft_tensor make_codes(const struct q *q, int rank, const int64_t *dim, int64_t row, uint64_t *r)
{
	weft_tensor t = { .dtype = q->type == 5 ? WEFT_INT16 : q->type == 4 ? WEFT_UINT16 : q->type == 3 ? WEFT_INT8 : WEFT_UINT8, .rank = rank };

	memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
	t.data = malloc(weft_tensor_bytes(&t));
	for (int64_t i = 0; i < weft_tensor_elements(&t); i++) {
		int v = (int)test_below(r, 256);
		const int way = (int)(i / row % 6);
		v = way == 1 ? 100 + v % 9 : way == 2 ? 77 : way == 3 ? (v & 1) * 255 : way == 4 ? (i % row ? 3 : 255) : way == 5 ? 128 + (v & 1) : v;
		if (is_16_bit(q))
			v = way == 1 ? 30000 + v : way == 5 ? 32768 + (v & 1) : way == 0 ? (int)test_below(r, 65536) : v * 257;
		tensor_set(&t, i, lowest(q) + v);
	}
	return t;
}

/* Counts elements that are not the exact codes; more than one step is a failure. */
static inline int64_t count_differing(const weft_tensor *y, const double *exact, const struct q *q, const char *what)
{
	int64_t differ = 0;

	for (int64_t i = 0; i < weft_tensor_elements(y); i++) {
		const double v = fmin(fmax(rint(exact[i] / (double)q->s) + q->z, lowest(q)), highest(q));
		const int64_t got = tensor_get(y, i);
		differ += (double)got != v;
		if (fabs((double)got - v) > 1)
			fail_msg("%s: element %lld is %lld, exactly %g", what, (long long)i, (long long)got, v);
	}
	return differ;
}

/*
 * Runs net on the model and frees it and the data of *in, its first input. Returns how many elements of the result are
 * not the exact codes with y (count_differing()), and adds the number of elements to *all; NULL is allowed.
 */
static inline int64_t differing_codes(weft_net *net, weft_tensor *in, int alone, const double *exact, const struct q *y,
                                      const char *what, int64_t *all)
{
	weft_tensor out = run(net, WEFT_DEVICE_MODEL, in, alone);
	const int64_t differ = count_differing(&out, exact, y, what);

	if (all)
		*all += weft_tensor_elements(&out);
	weft_tensor_release(&out);
	weft_net_free(net);
	free(in->data);
	return differ;
}

#endif

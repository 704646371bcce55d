/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `weft info` says of the processor time of operators on the host. Golden's time on this machine is
 * measured and printed beside it for whoever corrects the table in host_cost.c, but decides nothing: it depends on the
 * processor and on what else runs. What is asserted is that the time said is a possible one for the
 * operator's work (a digit lost or a unit confused is not), that it grows with the work, and that the report's sum is theirs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <time.h>
#include <unistd.h>

#include "../support/level.h"
#include "../support/tensors.h"
#include "../unit/tflite_build.h"
#include "userlib/run/golden_exec.h"
#include "userlib/run/internal.h"

#define LEAST_NS 0.01          /* nanoseconds that one multiplication or one element can take: from a vector instruction's share, */
#define MOST_NS  200.0         /* to several calls of the mathematical library */
#define CALL_NS 1000.0         /* nanoseconds that a call can take */
#define PRINTED_MS 0.02        /* the time from which an operator is printed */

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* Returns golden's processor time in ms for operator i, the least of three runs; all: the operands, computed before. */
static double measure(const weft_graph *g, int i, weft_tensor *all)
{
	const struct weft_gop *o = &g->ops[i];
	const weft_tensor *x[WEFT_OP_MAX_INPUTS];
	weft_tensor *y[WEFT_OP_MAX_OUTPUTS];
	char msg[WEFT_MSG_LEN];
	struct weft_vars vars;
	double best = 1e9;

	assert_int_equal(weft_vars_init(&vars, g), 0);
	for (int k = 0; k < o->n_in; k++)
		x[k] = &all[o->in[k]];
	for (int k = 0; k < o->n_out; k++)
		y[k] = &all[o->out[k]];
	for (int k = 0; k < 3; k++) {
		double t = cpu_ms();
		assert_int_equal(weft_golden_exec_op(g, &vars, i, x, y, true, msg), 0);
		t = cpu_ms() - t;
		best = t < best ? t : best;
	}
	weft_vars_release(&vars);
	return best;
}

/* Returns what the operator has to do: its multiplications, or the elements of its largest operand or result if these are more. */
static double work_of(const weft_graph *g, const struct weft_gop *o, uint64_t macs)
{
	int64_t most = (int64_t)macs;

	for (int k = 0; k < o->n_in + o->n_out; k++) {
		int64_t n = weft_tensor_elements(&g->tensors[k < o->n_in ? o->in[k] : o->out[k - o->n_in]].t);
		most = n > most ? n : most;
	}
	return (double)most;
}

/*
 * Asserts that every operator on the host has a possible time and that the report has their sum, and prints the times.
 * Returns the number of operators on the host.
 */
static int compare(const weft_session *s, const struct weft_report *r, weft_tensor *all)
{
	const weft_graph *g = s->net->g;
	double sum = 0;
	int n = 0;

	for (int i = 0; i < g->n_ops; i++) {
		if (s->p->ops[i].unit != WEFT_ON_HOST)
			continue;
		double said = weft_host_ms(g, &g->ops[i], s->p->ops[i].macs), work = work_of(g, &g->ops[i], s->p->ops[i].macs);
		n++;
		sum += said;
		if (1e6 * said < LEAST_NS * work || 1e6 * said > CALL_NS + MOST_NS * work)
			fail_msg("operator %d %s: %g ms for %g elements or multiplications", i, weft_op_name(g->ops[i].op), said, work);
		if (said >= PRINTED_MS)
			printf("%-22s %8.3f ms here, %8.3f said\n", weft_op_name(g->ops[i].op), measure(g, i, all), said);
	}
	assert_true(r->host_ms >= 0.999 * sum && r->host_ms <= 1.001 * sum);
	return n;
}

/* Takes net. Sets *host_ms to the time said for all its operators on the host and returns their number. */
static int one_net(weft_net *net, const char *name, double *host_ms)
{
	struct weft_session_options o = weft_session_options_default();
	char msg[WEFT_MSG_LEN] = "";
	struct weft_report *r;
	weft_session *s;
	uint64_t rng = 3;

	o.device = WEFT_DEVICE_MODEL;
	if (weft_session_open(net, &o, &s, msg) || weft_session_plan(s, &r, msg))
		fail_msg("%s", msg);
	weft_tensor *in = calloc((size_t)net->g->n_inputs + 1, sizeof(*in));
	weft_tensor *all = calloc((size_t)net->g->n_tensors + 1, sizeof(*all));
	for (int i = 0; i < net->g->n_inputs; i++) {
		in[i] = net->g->tensors[net->g->inputs[i]].t;
		size_t bytes = weft_tensor_bytes(&in[i]);
		in[i].data = malloc(bytes + 1);
		for (size_t k = 0; k < bytes; k++)
			((uint8_t *)in[i].data)[k] = (uint8_t)test_random(&rng);
	}
	if (weft_golden_exec(net->g, in, all, true, msg))
		fail_msg("%s: %s", name, msg);
	int n = compare(s, r, all);
	*host_ms = r->host_ms;
	weft_golden_release(net->g, all);
	for (int i = 0; i < net->g->n_inputs; i++)
		free(in[i].data);
	free(in);
	free(all);
	weft_report_free(r);
	weft_session_close(s);
	weft_net_free(net);
	return n;
}

static int one(const char *path)
{
	char msg[WEFT_MSG_LEN] = "", full[512];
	double host_ms;
	weft_net *net;

	snprintf(full, sizeof(full), "%s/%s", test_data(), path);
	if (access(full, R_OK))
		return 0;
	if (weft_net_load_file(full, &net, msg))
		fail_msg("%s", msg);
	return one_net(net, path, &host_ms);
}

/* Returns the ms said for an operator of int8 on rows x width elements. */
static double built(int code, float scale, int64_t zp, int32_t rows, int32_t width)
{
	struct tb *b = calloc(1, sizeof(*b));
	char msg[WEFT_MSG_LEN] = "";
	weft_net *net;
	double host_ms;
	size_t n;

	assert_non_null(b);
	b->in[b->n_in++] = tb_add(b, TFL_INT8, 2, (int32_t[]){ rows, width }, 0.0625f, 3);
	b->out[b->n_out++] = tb_add(b, TFL_INT8, 2, (int32_t[]){ rows, width }, scale, zp);
	struct tb_op *o = tb_op(b, code, 0);
	o->in[o->n_in++] = 0;
	o->out[o->n_out++] = 1;
	uint8_t *file = tb_file(b, &n);
	if (weft_net_load(file, n, "built", &net, msg))
		fail_msg("%s", msg);
	printf("%d of %d elements:\n", (int)rows, (int)width);
	free(file);
	free(b);
	assert_int_equal(one_net(net, "built", &host_ms), 1);
	return host_ms;
}

static void test_built(void **state)
{
	(void)state;
	for (int32_t width = 8; width <= 4096; width *= 8) {
		double norm = built(TFL_L2_NORMALIZATION, 0.0078125f, 0, 32768 / width, width);
		double softmax = built(TFL_LOG_SOFTMAX, 0.0625f, 127, 32768 / width, width);
		double twice = built(TFL_L2_NORMALIZATION, 0.0078125f, 0, 65536 / width, width);

		assert_true(softmax > norm);          /* a logarithm and exponentials */
		assert_true(twice > 1.9 * norm && twice < 2 * norm); /* the call's own time is not doubled */
	}
}

static void test_host_cost(void **state)
{
	static const char *const files[] = { "tflite_micro/trained_lstm_int8.tflite", "litert/simple_quantized_ops.tflite",
		"coral_test_data/deeplabv3_mnv2_dm05_pascal_quant.tflite", "coral_test_data/movenet_single_pose_lightning_ptq.tflite" };
	int n = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		n += one(files[i]);
	if (!n) {
		printf("no foreign networks in %s\n", test_data());
		fflush(stdout);
		skip();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_built), cmocka_unit_test(test_host_cost) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

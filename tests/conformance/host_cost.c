/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `weft info` says of operators on the host, against golden's processor time
 * here. The table is of another machine and knows nothing of caches, so a factor
 * of 5 is allowed; a digit lost or a unit confused is more.
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

#define FACTOR  5
#define LEAST_MS 0.02          /* what takes less is not compared */

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* The quickest of three, after all that is before it has run. */
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

static int compare(const weft_session *s, const struct weft_report *r, weft_tensor *all)
{
	const weft_graph *g = s->net->g;
	double sum = 0;
	int n = 0;

	for (int i = 0; i < g->n_ops; i++) {
		if (s->p->ops[i].unit != WEFT_ON_HOST)
			continue;
		double said = weft_host_ms(g, &g->ops[i], s->p->ops[i].macs), ms = measure(g, i, all);
		assert_true(said > 0);
		sum += said;
		if (ms < LEAST_MS && said < LEAST_MS)
			continue;
		n++;
		printf("%-22s %8.3f ms here, %8.3f said\n", weft_op_name(g->ops[i].op), ms, said);
		if (ms > FACTOR * said || said > FACTOR * ms)
			fail_msg("operator %d %s", i, weft_op_name(g->ops[i].op));
	}
	assert_true(r->host_ms >= 0.999 * sum && r->host_ms <= 1.001 * sum);
	return n;
}

/* Takes net. */
static int one_net(weft_net *net, const char *name)
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
	weft_net *net;

	snprintf(full, sizeof(full), "%s/%s", test_data(), path);
	if (access(full, R_OK))
		return 0;
	if (weft_net_load_file(full, &net, msg))
		fail_msg("%s", msg);
	return one_net(net, path);
}

/* Operators of int8 that none of the files has, of so many rows. */
static int built(int code, float scale, int64_t zp, int32_t rows, int32_t width)
{
	struct tb *b = calloc(1, sizeof(*b));
	char msg[WEFT_MSG_LEN] = "";
	weft_net *net;
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
	return one_net(net, "built");
}

static void test_built(void **state)
{
	(void)state;
	if (test_sanitized())
		skip();
	for (int32_t width = 8; width <= 4096; width *= 8) {
		assert_int_equal(built(TFL_L2_NORMALIZATION, 0.0078125f, 0, 32768 / width, width), 1);
		assert_int_equal(built(TFL_LOG_SOFTMAX, 0.0625f, 127, 32768 / width, width), 1);
	}
}

static void test_host_cost(void **state)
{
	static const char *const files[] = { "tflite_micro/trained_lstm_int8.tflite", "litert/simple_quantized_ops.tflite",
		"coral_test_data/deeplabv3_mnv2_dm05_pascal_quant.tflite", "coral_test_data/movenet_single_pose_lightning_ptq.tflite" };
	int n = 0;

	(void)state;
	if (test_sanitized()) {
		printf("sanitizers slow golden down\n");
		fflush(stdout);
		skip();
	}
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

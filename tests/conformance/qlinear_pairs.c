/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QLinearConv over all pairs of its options against exact rational arithmetic
 * in Python (qlinear_pairs.py writes models, inputs and outputs): on golden, on
 * the functional model and on the RTL, where every tensor is compared as well.
 *
 * The nearest RESCALE, which is an option, is counted: how many elements differ
 * from ONNX's, and by how much.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/weft.h>

#include "../support/file.h"
#include "../support/level.h"

#define MAX_INPUTS 9

struct block { const uint8_t *p; uint32_t n; };

struct one {
	struct block what, model, y, name[MAX_INPUTS], x[MAX_INPUTS];
	uint32_t n_inputs;
};

struct file { uint8_t *p; size_t n, at; };

static uint32_t number(struct file *f)
{
	uint32_t v;

	assert_true(f->at + 4 <= f->n);
	memcpy(&v, f->p + f->at, 4);
	f->at += 4;
	return v;
}

static struct block block(struct file *f)
{
	struct block b = { NULL, number(f) };

	assert_true(f->at + b.n <= f->n);
	b.p = f->p + f->at;
	f->at += b.n;
	return b;
}

static void read_one(struct file *f, struct one *c)
{
	c->what = block(f);
	c->model = block(f);
	struct block listed = block(f);
	struct file in = { (uint8_t *)(uintptr_t)listed.p, listed.n, 0 };
	c->n_inputs = number(&in);
	assert_true(c->n_inputs <= MAX_INPUTS);
	for (uint32_t i = 0; i < c->n_inputs; i++) {
		c->name[i] = block(&in);
		c->x[i] = block(&in);
	}
	c->y = block(f);
}

static struct file generated(long count, uint64_t seed)
{
	char path[300], line[700];
	struct file f = { 0 };

	snprintf(path, sizeof path, "%s/qlinear_pairs.%ld.bin", test_env("WEFT_BUILD", "build"), (long)getpid());
	snprintf(line, sizeof line, "python3 tests/conformance/qlinear_pairs.py %ld %" PRIu64 " %s", count, seed, path);
	if (system(line))
		fail_msg("%s", line);
	f.p = test_file(path, &f.n);
	assert_non_null(f.p);
	remove(path);
	assert_true(f.n > 8 && !memcmp(f.p, "QLP1", 4));
	f.at = 4;
	assert_int_equal(number(&f), count);
	return f;
}

/* ---- one case ---- */

struct tally { long cases, on_npu, elements, differ; int most; };

static weft_net *load(const struct one *c, bool rescale)
{
	struct weft_load_options o = weft_load_options_default();
	char msg[WEFT_MSG_LEN] = "";
	weft_net *net = NULL;

	o.requant_rescale = rescale;
	if (weft_net_load_with(c->model.p, c->model.n, "pairs", &o, &net, msg))
		fail_msg("%.*s: %s", (int)c->what.n, (const char *)c->what.p, msg);
	return net;
}

static const struct block *input(const struct one *c, const char *name)
{
	for (uint32_t i = 0; i < c->n_inputs; i++)
		if (strlen(name) == c->name[i].n && !memcmp(name, c->name[i].p, c->name[i].n))
			return &c->x[i];
	return NULL;
}

static int difference(const weft_tensor *y, const struct block *want, uint32_t i)
{
	int a = y->dtype == WEFT_UINT8 ? ((uint8_t *)y->data)[i] : ((int8_t *)y->data)[i];
	int b = y->dtype == WEFT_UINT8 ? want->p[i] : (int8_t)want->p[i];

	return abs(a - b);
}

static void run(const struct one *c, enum weft_device device, bool rescale, struct tally *t)
{
	struct weft_session_options o = weft_session_options_default();
	struct weft_report *report = NULL;
	weft_net *net = load(c, rescale);
	weft_tensor in[MAX_INPUTS] = { 0 }, y = { 0 };
	char msg[WEFT_MSG_LEN] = "";
	weft_session *s;

	o.device = device;
	o.check = device != WEFT_DEVICE_GOLDEN;
	assert_int_equal(weft_net_n_inputs(net), c->n_inputs);
	for (uint32_t i = 0; i < c->n_inputs; i++) {
		struct weft_port p;
		weft_net_input(net, (int)i, &p);
		const struct block *x = input(c, p.name);
		in[i] = (weft_tensor){ .dtype = p.dtype, .rank = p.rank };
		memcpy(in[i].dim, p.dim, sizeof in[i].dim);
		assert_true(x && x->n == weft_tensor_bytes(&in[i]));
		in[i].data = (void *)(uintptr_t)x->p;
	}
	if (weft_session_open(net, &o, &s, msg) || weft_session_run(s, in, &y, &report, msg))
		fail_msg("%.*s: device %d: %s", (int)c->what.n, (const char *)c->what.p, (int)device, msg);
	assert_int_equal(weft_tensor_bytes(&y), c->y.n);
	for (uint32_t i = 0; i < c->y.n; i++) {
		int d = difference(&y, &c->y, i);
		t->differ += d > 0;
		t->most = d > t->most ? d : t->most;
		if (d && !rescale)
			fail_msg("%.*s: device %d: element %u is off by %d", (int)c->what.n, (const char *)c->what.p, (int)device, i, d);
	}
	t->cases++;
	t->elements += (long)c->y.n;
	t->on_npu += report->macs > 0;
	weft_report_free(report);
	weft_tensor_release(&y);
	weft_session_close(s);
	weft_net_free(net);
}

static void pairs(void **state)
{
	const char *const names[] = { "golden", "model", "rtl" };
	long count = test_count(60, 500, 2000);
	bool rtl = test_have_rtl("w16");
	struct file f = generated(count, test_seed(1));
	struct tally t[4] = { 0 };

	(void)state;
	for (long i = 0; i < count; i++) {
		struct one c;

		read_one(&f, &c);
		run(&c, WEFT_DEVICE_GOLDEN, false, &t[0]);
		run(&c, WEFT_DEVICE_MODEL, false, &t[1]);
		if (rtl)
			run(&c, WEFT_DEVICE_RTL, false, &t[2]);
		run(&c, WEFT_DEVICE_GOLDEN, true, &t[3]);
	}
	assert_int_equal(f.at, f.n);
	for (int d = 0; d < 3; d++)
		printf("%s: %ld cases, %ld on the NPU, %ld elements, %ld differ\n", names[d], t[d].cases, t[d].on_npu, t[d].elements, t[d].differ);
	printf("nearest RESCALE: %ld of %ld elements differ, by %d at most\n", t[3].differ, t[3].elements, t[3].most);
	fflush(stdout);
	assert_int_equal(t[0].differ + t[1].differ + t[2].differ, 0);
	assert_true(t[1].on_npu * 8 > count);
	assert_true(t[3].most <= 1);
	free(f.p);
	if (!rtl)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(pairs) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compile a graph, verify every stream, run it on the functional model and
 * compare every byte that a debug record names, every tensor in the arena and
 * every output with golden. Included by the tests of the compiler.
 */
#ifndef WEFT_TESTS_COMPILE_RUN_H
#define WEFT_TESTS_COMPILE_RUN_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/dev.h>

#include "driver/verify/verify.h"
#include "sim/golden/golden.h"
#include "driver/model.h"
#include "userlib/compile/program.h"
#include "userlib/run/golden_exec.h"
#include "tests/support/level.h"
#include "tests/support/tensors.h"

struct compile_run {
	const weft_graph *g;
	weft_program *p;
	const struct weft_config *cfg;
	struct weft_model *m;
	uint8_t *arena;
	weft_tensor *all;          /* golden's */
	weft_tensor *host;         /* the host's copies */
	struct weft_vars vars;     /* the host's variables */
	uint64_t checked;          /* elements compared at retirement */
	uint64_t *checked_of;      /* the same by tensor */
	char what[160];            /* for failures */
};

/* A tensor of a graph for these tests; also as an input or output. */
static inline int run_tensor(weft_graph *g, weft_dtype type, int rank, const int64_t *dim, bool input, bool output)
{
	int t = weft_graph_tensor(g, "t", type, rank, dim);

	assert_true(t >= 0);
	if (input) {
		g->tensors[t].is_input = true;
		g->inputs = realloc(g->inputs, ((size_t)g->n_inputs + 1) * sizeof *g->inputs);
		g->inputs[g->n_inputs++] = t;
	}
	if (output) {
		g->tensors[t].is_output = true;
		g->outputs = realloc(g->outputs, ((size_t)g->n_outputs + 1) * sizeof *g->outputs);
		g->outputs[g->n_outputs++] = t;
	}
	return t;
}

static void check_rec(struct compile_run *c, const struct weft_prec *r, uint32_t cmd)
{
	const uint8_t *sp = weft_model_sp(c->m);
	const weft_tensor *want = &c->all[r->tensor];
	uint64_t size = weft_dtype_bytes(want->dtype);

	for (uint64_t y = 0; y < r->n_y; y++)
		for (uint64_t x = 0; x < r->n_x; x++)
			for (uint64_t k = 0; k < r->n_c; k++) {
				uint64_t e = r->first + y * r->y_elems + x * r->x_elems + k;
				uint32_t a = (uint32_t)((r->addr + y * r->y_bytes + x * r->x_bytes + k * size) & 0xfffff);
				uint64_t bits = 0;
				for (uint64_t i = size; i-- > 0; )
					bits = bits << 8 | sp[(a + i) & 0xfffff];
				bool is_unsigned = want->dtype == WEFT_BOOL || want->dtype == WEFT_UINT8 || want->dtype == WEFT_UINT16;
				int64_t got = is_unsigned ? (int64_t)bits
				              : (int64_t)(bits << (64 - 8 * size)) >> (64 - 8 * size);
				c->checked++;
				c->checked_of[r->tensor]++;
				if (got != tensor_get(want, (int64_t)e))
					fail_msg("%s: tensor %d element %llu: expected %lld, got %lld (command %u)", c->what, r->tensor,
					         (unsigned long long)e, (long long)tensor_get(want, (int64_t)e), (long long)got, cmd);
			}
}

/* Depthwise commands that look their input up in a table, of the programs which ran so far. */
static uint64_t compile_run_tables;

/* Loads of coded rows, of the programs which ran so far. */
static uint64_t compile_run_coded;

/* Commands with parameter records of 16 and of 8 bytes, of the programs which ran so far. */
static uint64_t compile_run_records[2];

static void count_records(const struct weft_cmd *c)
{
	if (c->h.op == WEFT_CMD_CONV)
		compile_run_records[c->conv.p_short]++;
	else if (c->h.op == WEFT_CMD_DW)
		compile_run_records[c->dw.p_short]++;
}

static void run_npu(struct compile_run *c, const struct weft_step *s)
{
	const uint64_t *w = c->p->words + s->first_word;
	struct weft_verify_windows win = { 0 };
	struct weft_verify_result v;
	size_t at = 0;

	win.w[WEFT_WIN_CONST].size = c->p->n_consts;
	win.w[WEFT_WIN_CONST].rd = true;
	win.w[WEFT_WIN_ARENA].size = c->p->arena_bytes;
	win.w[WEFT_WIN_ARENA].rd = win.w[WEFT_WIN_ARENA].wr = true;
	if (weft_verify(c->cfg, w, s->n_words, &win, &v))
		fail_msg("%s: verifier: %s", c->what, v.text);
	weft_model_reset(c->m);
	for (uint32_t i = 0; i < s->n_cmds; i++) {
		struct weft_cmd cmd;
		struct weft_model_fault f;
		const struct weft_pcmd *k = &c->p->cmds[s->first_cmd + i];
		assert_int_equal(weft_cmd_decode(w + at, s->n_words - at, &cmd), WEFT_FAULT_NONE);
		at += (size_t)cmd.h.n_words;
		count_records(&cmd);
		compile_run_coded += cmd.h.op == WEFT_CMD_LOAD && cmd.load.coded;
		compile_run_tables += cmd.h.op == WEFT_CMD_DW && cmd.dw.table;
		if (weft_model_exec(c->m, &cmd, &f))
			fail_msg("%s: command %u faults: %s", c->what, i, weft_fault_brief(f.code));
		for (uint32_t r = 0; r < k->n_recs; r++)
			check_rec(c, &c->p->recs[k->first_rec + r], i);
	}
	assert_int_equal(at, s->n_words);
}

static weft_tensor host_tensor(struct compile_run *c, int t)
{
	weft_tensor h = c->g->tensors[t].t;

	if (h.data)
		return h;
	const struct weft_ptensor *p = &c->p->tensors[t];
	if (p->place == WEFT_PLACE_ARENA)
		h.data = c->arena + p->offset;
	else if (p->place == WEFT_PLACE_HOST)
		h.data = c->host[t].data;
	if (!h.data)
		fail_msg("%s: tensor %d is nowhere", c->what, t);
	return h;
}

static void run_host(struct compile_run *c, const struct weft_step *s)
{
	const struct weft_gop *o = &c->g->ops[s->op];
	weft_tensor x[WEFT_OP_MAX_INPUTS], y[4], *py[4];
	const weft_tensor *px[WEFT_OP_MAX_INPUTS];
	char msg[WEFT_MSG];

	for (int i = 0; i < o->n_in; i++) {
		x[i] = host_tensor(c, o->in[i]);
		px[i] = &x[i];
	}
	for (int i = 0; i < o->n_out; i++) {
		c->host[o->out[i]].data = calloc(1, c->p->tensors[o->out[i]].bytes + 1);
		y[i] = host_tensor(c, o->out[i]);
		py[i] = &y[i];
	}
	if (weft_golden_exec_op(c->g, &c->vars, s->op, px, py, true, msg))
		fail_msg("%s: host operator %d: %s", c->what, s->op, msg);
}

static void compare_tensor(struct compile_run *c, int t, const char *where)
{
	weft_tensor h = host_tensor(c, t);
	size_t n = c->p->tensors[t].bytes;

	for (size_t i = 0; i < n; i++)
		if (((uint8_t *)h.data)[i] != ((uint8_t *)c->all[t].data)[i])
			fail_msg("%s: %s tensor %d byte %zu: expected %d, got %d", c->what, where, t, i,
			         ((int8_t *)c->all[t].data)[i], ((int8_t *)h.data)[i]);
}

/* What a step has written to the arena and is still valid. */
static void compare_arena(struct compile_run *c, int step)
{
	for (int t = 0; t < c->p->n_tensors; t++) {
		const struct weft_ptensor *p = &c->p->tensors[t];
		int made = c->g->tensors[t].producer;
		if (made >= 0 && c->g->ops[made].op == WEFT_OP_CONCAT)
			continue;            /* perhaps not all of it yet */
		if (p->place == WEFT_PLACE_ARENA && made >= 0 && p->last_step > step && p->first_step <= step &&
		    c->p->ops[made].step >= 0 && c->p->ops[made].step <= step && c->p->ops[made].into == made)
			compare_tensor(c, t, "arena");
	}
}

/* Channels that the programs which ran so far did not compute, over all their tensors. */
static uint64_t compile_run_folded;

/* Every element that the device makes is named once; of a CONCAT those that it had to copy. */
static void check_complete(struct compile_run *c)
{
	for (int t = 0; t < c->p->n_tensors; t++) {
		const weft_tensor *x = &c->g->tensors[t].t;
		uint64_t folded = c->p->tensors[t].folded, n = (uint64_t)weft_tensor_elements(x);
		compile_run_folded += folded;
		n -= folded ? n / (uint64_t)x->dim[x->rank - 1] * folded : 0;
		int op = c->g->tensors[t].producer;
		bool concat = op >= 0 && c->g->ops[op].op == WEFT_OP_CONCAT;
		uint64_t most = c->p->tensors[t].on_npu || concat ? n : 0, least = c->p->tensors[t].on_npu ? n : 0;
		if (c->checked_of[t] > most || c->checked_of[t] < least)
			fail_msg("%s: tensor %d: %llu elements compared of %llu", c->what, t,
			         (unsigned long long)c->checked_of[t], (unsigned long long)n);
	}
}

/* Convolutions of the programs which ran so far whose kernel rows lie side by side. */
static uint64_t compile_run_joined;

/* Multiplications of operators that the last program has on the NPU. */
static uint64_t compile_run_macs;

static void count_macs(const weft_program *p)
{
	compile_run_macs = 0;
	for (int i = 0; i < p->n_ops; i++)
		if (p->ops[i].unit == WEFT_ON_NPU)
			compile_run_macs += p->ops[i].macs;
}

static void count_joined(const weft_program *p)
{
	for (int i = 0; i < p->n_ops; i++)
		compile_run_joined += p->ops[i].reason && strstr(p->ops[i].reason, "kernel rows side by side");
}

/* Run with these inputs; o as for weft_compile. Returns elements that were compared on the device. */
static inline uint64_t compile_run(const weft_graph *g, const struct weft_compile_options *o, const weft_tensor *inputs,
                            const char *what)
{
	static unsigned n_calls;
	struct compile_run c = { .g = g };
	struct weft_compile_options own = o ? *o : (struct weft_compile_options){ 0 };
	char msg[WEFT_MSG] = "";

	/* The search for a plan takes most of the time. Where tests run in part, only every fourth compilation searches. */
	own.quick |= test_in_part() && n_calls++ % 4;
	o = &own;
	snprintf(c.what, sizeof c.what, "%s", what);
	const char *config = o->config ? o->config : "w16";
	c.cfg = o->of_model ? weft_config_of_model(config) : weft_config_find(config);
	if (weft_compile(g, o, &c.p, msg))
		fail_msg("%s: %s", what, msg);
	c.all = calloc((size_t)g->n_tensors + 1, sizeof *c.all);
	c.host = calloc((size_t)g->n_tensors + 1, sizeof *c.host);
	c.checked_of = calloc((size_t)g->n_tensors + 1, sizeof *c.checked_of);
	assert_int_equal(weft_vars_init(&c.vars, g), 0);
	c.arena = malloc(c.p->arena_bytes + 1);
	memset(c.arena, 0x5a, c.p->arena_bytes);
	if (weft_golden_exec(g, inputs, c.all, true, msg))
		fail_msg("%s: golden: %s", what, msg);
	c.m = weft_model_new(c.cfg);
	assert_non_null(c.m);
	weft_model_set_window(c.m, WEFT_WIN_CONST, &(struct weft_model_window){ c.p->consts, c.p->n_consts, true, false });
	weft_model_set_window(c.m, WEFT_WIN_ARENA, &(struct weft_model_window){ c.arena, c.p->arena_bytes, true, true });
	for (int i = 0; i < g->n_inputs; i++) {
		int t = g->inputs[i];
		c.host[t].data = calloc(1, c.p->tensors[t].bytes + 1);
		memcpy(host_tensor(&c, t).data, inputs[i].data, c.p->tensors[t].bytes);
	}
	for (int i = 0; i < c.p->n_steps; i++) {
		if (c.p->steps[i].kind == WEFT_STEP_NPU)
			run_npu(&c, &c.p->steps[i]);
		else
			run_host(&c, &c.p->steps[i]);
		compare_arena(&c, i);
	}
	for (int i = 0; i < g->n_outputs; i++)
		compare_tensor(&c, g->outputs[i], "output");
	check_complete(&c);
	count_joined(c.p);
	count_macs(c.p);
	for (int t = 0; t < g->n_tensors; t++)
		free(c.host[t].data);
	weft_golden_release(g, c.all);
	weft_vars_release(&c.vars);
	weft_model_free(c.m);
	free(c.all);
	free(c.host);
	free(c.checked_of);
	free(c.arena);
	weft_program_free(c.p);
	return c.checked;
}

/* Full-range inputs from seed; free with free_inputs. */
static inline weft_tensor *make_inputs(const weft_graph *g, uint64_t seed)
{
	weft_tensor *in = calloc((size_t)g->n_inputs + 1, sizeof *in);

	for (int i = 0; i < g->n_inputs; i++) {
		in[i] = g->tensors[g->inputs[i]].t;
		size_t n = weft_tensor_bytes(&in[i]);
		in[i].data = malloc(n + 1);
		if (in[i].dtype == WEFT_FP32)
			for (size_t k = 0; k < n / 4; k++)
				((float *)in[i].data)[k] = (float)(test_random(&seed) % 2001) / 1000.0f - 1;
		else
			for (size_t k = 0; k < n; k++)
				((uint8_t *)in[i].data)[k] = (uint8_t)test_random(&seed);
	}
	return in;
}

static inline void free_inputs(const weft_graph *g, weft_tensor *in)
{
	for (int i = 0; i < g->n_inputs; i++)
		free(in[i].data);
	free(in);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One random graph: plain golden, then its program on a device, every tensor
 * compared bit for bit.
 */
#ifndef WEFT_TESTS_COMPARE_NET_H
#define WEFT_TESTS_COMPARE_NET_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <weft/gen/cmd.h>

#include "../support/level.h"
#include "../support/random_graph.h"
#include "userlib/run/golden_exec.h"
#include "userlib/run/internal.h"

struct compare_total {
	unsigned commands[256];    /* executed, by opcode */
	/* Convolutions of two column tiles at a time: all; those with a tile left over, with a second addend, of int16, with
	 * sums that stay for the next command. */
	struct { unsigned all, odd, add, int16, keep; } pairs;
	/* Convolutions whose windows were copied side by side: all, and those of several pixels taken as one. */
	struct { unsigned all, groups; } strips;
	unsigned npu_ops, host_ops;
	uint64_t elements, cycles;
};

/* What a seed stands for, beside the graph. */
struct compare_case {
	uint64_t seed;
	weft_dtype type;
	bool large, no_fuse;
	uint32_t sp_limit;
	enum weft_memory memory;
	const char *config;        /* NULL: w16 */
	random_net_maker *make;    /* makes the graph; NULL: random_net_make() or random_net_make_alu() */
	const char *kind;          /* the name of what `make` makes */
};

static inline struct compare_case compare_case_of(uint64_t seed, weft_dtype type)
{
	static const uint32_t limits[] = { 16 << 10, 20 << 10, 24 << 10, 32 << 10 };

	return (struct compare_case){ .seed = seed, .type = type, .large = seed % 8 == 7, .no_fuse = seed % 10 == 4,
		.sp_limit = seed % 4 == 3 ? limits[seed / 4 % 4] : 0,
		.memory = seed % 2 ? WEFT_MEMORY_DDR : WEFT_MEMORY_SRAM };
}

struct compare_run {
	struct compare_case c;
	const char *device;
	struct random_net net;
	weft_tensor *want;         /* plain golden, all tensors */
	weft_program *p;
};

static inline void compare_fail(const struct compare_run *r, const char *what)
{
	printf("seed %llu, %s, on %s%s%s, scratchpad %u: %s\n", (unsigned long long)r->c.seed, weft_dtype_name(r->c.type), r->device,
	       r->c.kind ? r->c.kind : r->c.large ? ", large" : "", r->c.no_fuse ? ", not fused" : "", r->c.sp_limit, what);
	random_net_print(&r->net, stdout);
	printf("again: make check T=cosim/random SEED=%llu N=1\n", (unsigned long long)r->c.seed);
	fflush(stdout);
	fail_msg("seed %llu: %s", (unsigned long long)r->c.seed, what);
}

static inline void compare_report(const struct compare_run *r, const struct weft_report *rep)
{
	const struct weft_mismatch *f = &rep->first;
	char line[768];
	int n = 0;

	if (f->found)
		n = snprintf(line, sizeof(line), "operator %d %s, tensor %s, index %lld: expected %lld, got %lld (command %lld, cycle %llu)",
		             f->op, f->op_name, f->tensor, (long long)f->index, (long long)f->expected, (long long)f->got,
		             (long long)f->cmd, (unsigned long long)f->cycle);
	if (f->bytes.found)
		snprintf(line + n, sizeof(line) - (size_t)n, "%smodel and RTL: command %zu, %s 0x%llx: expected 0x%02x, got 0x%02x",
		         n ? "; " : "", f->bytes.cmd, f->bytes.in_sp ? "scratchpad" : "memory", (unsigned long long)f->bytes.addr,
		         f->bytes.expected, f->bytes.got);
	compare_fail(r, line);
}

/* The container comes back as it was written. */
static inline void compare_container(const struct compare_run *r)
{
	char msg[WEFT_MSG] = "";
	weft_program *again = NULL;
	uint8_t *a = NULL, *b = NULL;
	size_t na = 0, nb = 0;

	if (weft_program_write(r->p, &a, &na, msg) || weft_program_parse(a, na, &again, msg) ||
	    weft_program_write(again, &b, &nb, msg))
		compare_fail(r, msg);
	if (na != nb || memcmp(a, b, na))
		compare_fail(r, "container: written, read and written again it differs");
	free(a);
	free(b);
	weft_program_free(again);
}

/* Count c if it is a convolution of two column tiles at a time on an array of n columns. */
static inline void compare_count_pairs(const struct weft_cmd *c, int32_t n, struct compare_total *total)
{
	const struct weft_cmd_post *p = &c->conv.post;

	if (c->h.op != WEFT_CMD_CONV || !c->conv.pairs || p->oc <= n)
		return;
	total->pairs.all++;
	total->pairs.odd += (p->oc + n - 1) / n % 2;
	total->pairs.add += (unsigned)p->add;
	total->pairs.int16 += p->mode == WEFT_POST_MODE_INT16;
	total->pairs.keep += (unsigned)c->conv.keep;
}

/*
 * Count c if it is a convolution whose windows were copied side by side, of a graph that begins with a convolution and has no
 * other. Rows and columns of its result are exchanged; steps over more bytes than a pixel has are those of several pixels.
 */
static inline void compare_count_strips(const struct weft_cmd *c, const struct compare_run *r, struct compare_total *total)
{
	const struct weft_gop *first = &r->net.g->ops[0];

	if (c->h.op != WEFT_CMD_CONV || first->op != WEFT_OP_CONV2D || c->conv.post.oh < 2 || c->conv.post.out_x_stride <= c->conv.post.out_y_stride)
		return;
	total->strips.all++;
	total->strips.groups += c->conv.post.out_y_stride > r->net.g->tensors[first->out[0]].t.dim[3] * (c->conv.post.mode == WEFT_POST_MODE_INT16 ? 2 : 1);
}

static inline void compare_count(const struct compare_run *r, struct compare_total *total)
{
	for (int i = 0; i < r->p->n_steps; i++) {
		const struct weft_step *s = &r->p->steps[i];
		struct weft_cmd c;
		for (size_t at = 0; s->kind == WEFT_STEP_NPU && at < s->n_words; at += (size_t)c.h.n_words) {
			assert_int_equal(weft_cmd_decode(r->p->words + s->first_word + at, s->n_words - at, &c), 0);
			total->commands[c.h.op & 0xff]++;
			compare_count_pairs(&c, (int32_t)weft_config_find(r->c.config ? r->c.config : "w16")->n, total);
			compare_count_strips(&c, r, total);
		}
	}
	for (int i = 0; i < r->p->n_ops; i++) {
		total->npu_ops += r->p->ops[i].unit == WEFT_ON_NPU;
		total->host_ops += r->p->ops[i].unit == WEFT_ON_HOST;
	}
}

/* Tensors that the session kept, against golden of this test's own. */
static inline void compare_kept(const struct compare_run *r, weft_session *s)
{
	struct weft_kept k;
	char line[256];

	for (int i = 0; i < weft_session_n_kept(s); i++) {
		assert_int_equal(weft_session_kept(s, i, &k), 0);
		if (!k.tensor || !k.tensor->data)
			continue;
		const uint8_t *got = k.tensor->data, *want = r->want[i].data;
		for (size_t b = 0; b < weft_tensor_bytes(k.tensor); b++) {
			if (got[b] == want[b])
				continue;
			snprintf(line, sizeof(line), "operator %d, tensor %s, byte %zu: golden 0x%02x, got 0x%02x", k.op,
			         k.name, b, want[b], got[b]);
			compare_fail(r, line);
		}
	}
}

static inline void compare_outputs(const struct compare_run *r, const weft_tensor *out)
{
	for (int i = 0; i < r->net.g->n_outputs; i++) {
		const weft_tensor *want = &r->want[r->net.g->outputs[i]];
		if (memcmp(out[i].data, want->data, weft_tensor_bytes(want)))
			compare_fail(r, "an output differs from golden");
	}
}

static inline void compare_session(const struct compare_run *r, enum weft_device device, struct compare_total *total)
{
	struct weft_net net = { .loaded = r->p, .g = r->net.g };
	struct weft_session_options o = weft_session_options_default();
	weft_tensor *out = calloc((size_t)r->net.g->n_outputs, sizeof(*out));
	struct weft_report *rep = NULL;
	char msg[WEFT_MSG_LEN] = "";
	weft_session *s;

	assert_non_null(out);
	o.device = device;
	o.memory = r->c.memory;
	if (r->c.config)
		o.config = r->c.config;
	o.check = o.keep = true;
	if (weft_session_open(&net, &o, &s, msg))
		compare_fail(r, msg);
	int err = weft_session_run(s, r->net.inputs, out, &rep, msg);
	if (rep && rep->mismatches)
		compare_report(r, rep);
	if (err)
		compare_fail(r, msg);
	compare_kept(r, s);
	compare_outputs(r, out);
	total->elements += rep->elements;
	total->cycles += rep->cycles;
	weft_report_free(rep);
	for (int i = 0; i < r->net.g->n_outputs; i++)
		weft_tensor_release(&out[i]);
	free(out);
	weft_session_close(s);
}

/* Returns the RTL if its simulator is there, beside which compare_net() runs the model; otherwise the model alone. */
static inline enum weft_device compare_device(void)
{
	return test_have_rtl("w16") ? WEFT_DEVICE_RTL : WEFT_DEVICE_MODEL;
}

/*
 * Compares the case's graph on the device. If that is the RTL, the same program then also runs on the model, so that it is compiled
 * only once; both configurations have to have the same features.
 */
static inline void compare_net(const struct compare_case *c, enum weft_device device, struct compare_total *total)
{
	bool model = device == WEFT_DEVICE_MODEL;
	const char *config = c->config ? c->config : "w16";
	const struct weft_config *cfg = model ? weft_config_of_model(config) : weft_config_find(config);
	struct weft_compile_options o = { .config = config, .sp_limit = c->sp_limit, .no_fuse = c->no_fuse, .of_model = model };
	/* Where there is an alu, half of the integer graphs use it. */
	bool alu = cfg->features & WEFT_FEATURE_ALU && cfg->features & WEFT_FEATURE_RAW && c->seed % 2 &&
	           (c->type == WEFT_INT8 || c->type == WEFT_INT16);
	struct compare_run r = { .c = *c, .device = device == WEFT_DEVICE_RTL ? "rtl" : "model" };
	char msg[WEFT_MSG] = "";

	if (c->make)
		c->make(&r.net, c->seed, (int)cfg->n, c->type);
	else
		(alu ? random_net_make_alu : random_net_make)(&r.net, c->seed, (int)cfg->n, c->large, c->type);
	r.want = calloc((size_t)r.net.g->n_tensors, sizeof(*r.want));
	assert_non_null(r.want);
	if (weft_graph_check(r.net.g, msg) || weft_golden_exec(r.net.g, r.net.inputs, r.want, false, msg) ||
	    weft_compile(r.net.g, &o, &r.p, msg))
		compare_fail(&r, msg);
	compare_container(&r);
	compare_count(&r, total);
	compare_session(&r, device, total);
	if (!model) {
		struct compare_total beside = { 0 };
		assert_int_equal(cfg->features, weft_config_of_model(config)->features);
		r.device = "model";
		compare_session(&r, WEFT_DEVICE_MODEL, &beside);
	}
	weft_program_free(r.p);
	weft_golden_release(r.net.g, r.want);
	free(r.want);
	random_net_free(&r.net);
}

static inline void compare_print(const struct compare_total *t, long n)
{
	printf("%ld graphs: %u operators on the NPU, %u on the host; %llu elements compared; %llu cycles; commands:", n,
	       t->npu_ops, t->host_ops, (unsigned long long)t->elements, (unsigned long long)t->cycles);
	for (int i = 0; i < WEFT_N_CMDS; i++)
		printf(" %s %u", weft_cmd_list()[i].name, t->commands[weft_cmd_list()[i].op]);
	printf("; conv of pairs %u (odd %u, add %u, int16 %u, keep %u)", t->pairs.all, t->pairs.odd, t->pairs.add, t->pairs.int16, t->pairs.keep);
	printf("; of windows side by side %u (of several pixels %u)\n", t->strips.all, t->strips.groups);
	fflush(stdout);
}

/* A kind of command that the graphs never cause is a kind that is not tested; but for those that
 * the configuration's RTL has not. */
static inline void compare_all_kinds(const struct compare_total *t)
{
	for (int i = 0; i < WEFT_N_CMDS; i++)
		if (!weft_cmd_lacks(&weft_cmd_list()[i], weft_config_find("w16")) && !t->commands[weft_cmd_list()[i].op])
			fail_msg("no %s command was ever executed", weft_cmd_list()[i].name);
}

#endif

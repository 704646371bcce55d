/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands that no compiler would write: the model stays inside its memory (run
 * with SAN=1 to see more), the verifier judges every stream, and what it passes
 * the model executes without a fault.
 */
#include "brute.h"

#include "driver/verify/verify.h"

#define MEM 4096
#define GUARD 256

/* Any value of the field, small and extreme ones more often. */
static int64_t any_value(struct rng *r, const struct weft_field_info *f)
{
	uint64_t span = (uint64_t)(f->max - f->min), bits = rng_next(r);

	switch (rng_int(r, 0, 5)) {
	case 0:
		return f->max - (int64_t)(bits % 4 <= span ? bits % 4 : 0);
	case 1:
		return f->min + (int64_t)(bits % 4 <= span ? bits % 4 : 0);
	case 2:
		return f->min + (int64_t)(bits % (span + 1));
	}
	return f->min + (int64_t)((bits >> rng_int(r, 0, 60)) % (span + 1));
}

static void any_command(struct rng *r, const struct weft_config *cfg, struct weft_cmd *c)
{
	const struct weft_cmd_info *info = &weft_cmd_list()[rng_int(r, 0, WEFT_N_CMDS - 1)];

	weft_cmd_init(c, info->op);
	for (unsigned i = 0; i < info->n_fields; i++) {
		const struct weft_field_info *f = &info->fields[i];
		int64_t v = any_value(r, f);

		if (!strcmp(f->name, "op") || !strcmp(f->name, "n_words") || !strncmp(f->name, "wait_", 5))
			continue;
		/* Sizes and addresses small enough to be legal, half the time. */
		if (f->unit[0] && rng_int(r, 0, 1))
			v = f->min <= 0 ? v % 512 : 1 + (v & 7);
		weft_cmd_set(c, f, f->align_n ? v / cfg->n * cfg->n : v);
	}
}

/* No field that the mode does not have, and whole elements. */
static void suit_mode(struct weft_cmd *c)
{
	const struct weft_cmd_info *info = weft_cmd_info((unsigned)c->h.op);
	struct weft_cmd_post *p = &c->conv.post;
	bool sums = c->h.op == WEFT_CMD_CONV || c->h.op == WEFT_CMD_DW;

	for (unsigned i = 0; i < info->n_fields; i++)
		if (!(info->fields[i].modes >> p->mode & 1))
			weft_cmd_set(c, &info->fields[i], 0);
	p->scale16 &= sums;
	p->double_round &= !p->scale16;
	if (sums)
		p->x_fmt &= 3;
	if (p->mode == 2 && c->h.op == WEFT_CMD_POOL)
		c->pool.sum = 0;
	for (unsigned i = 0; i < info->n_fields; i++) {
		const struct weft_field_info *f = &info->fields[i];
		int64_t v = weft_cmd_get(c, f);

		if (f->elem && v % (int64_t)weft_cmd_elem_bytes(c, (enum weft_elem)f->elem))
			weft_cmd_set(c, f, v < f->max ? v + 1 : v - 1);
	}
}

/* Does the command have the fields of the post unit? */
static bool has_post(const struct weft_cmd *c)
{
	return c->h.op == WEFT_CMD_CONV || c->h.op == WEFT_CMD_DW || c->h.op == WEFT_CMD_POOL || c->h.op == WEFT_CMD_ELT;
}

/* Rough count of what the command does; long ones are not worth the wait. */
static double effort(const struct weft_cmd *c)
{
	const struct weft_cmd_post *p = &c->conv.post;
	double out = (double)p->ow * p->oh * p->oc;

	switch (c->h.op) {
	case WEFT_CMD_LOAD:
	case WEFT_CMD_STORE:
		return (double)c->load.row_bytes * c->load.n1 * c->load.n2 * c->load.n3;
	case WEFT_CMD_CONV:
		return out * c->conv.n_ky * c->conv.n_kx * c->conv.run_len;
	case WEFT_CMD_POOL:
		return out * c->pool.n_ky * c->pool.n_kx;
	case WEFT_CMD_ALU:
		return (double)c->alu.n0 * c->alu.n1 * c->alu.n2 * c->alu.n3;
	}
	return out;
}

static void model_stays_inside(void **state)
{
	static uint8_t mem[GUARD + MEM + GUARD], outside[GUARD];
	const struct weft_config *cfg = weft_config_find("w8");
	struct weft_model *m = weft_model_new(cfg);
	struct rng r = rng_start();
	long ran = 0, ok = 0;

	(void)state;
	rng_fill(&r, mem, sizeof(mem));
	memcpy(outside, mem, GUARD);
	memcpy(mem + GUARD + MEM, outside, GUARD);
	for (unsigned i = 0; i < WEFT_N_WINDOWS; i++) {
		struct weft_model_window w = {mem + GUARD, MEM, i != 1, i != 2};

		weft_model_set_window(m, i, &w);
	}
	for (long i = 0; i < env_number("WEFT_N", 30000); i++) {
		struct weft_model_fault f;
		struct weft_cmd c;

		any_command(&r, cfg, &c);
		if (has_post(&c) && rng_int(&r, 0, 3))
			suit_mode(&c);
		if (effort(&c) > 1e6)
			continue;
		ran++;
		ok += weft_model_exec(m, &c, &f) == 0;
		assert_memory_equal(mem, outside, GUARD);
		assert_memory_equal(mem + GUARD + MEM, outside, GUARD);
	}
	print_message("%ld commands, %ld without a fault\n", ran, ok);
	assert_true(ok * 10 > ran && ok < ran);
	weft_model_free(m);
}

/* Values that no encoding has. */
static void model_refuses_values(void **state)
{
	struct weft_model *m = weft_model_new(weft_config_find("w16"));
	struct rng r = rng_start();

	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct weft_model_fault f = {WEFT_FAULT_NONE, 0};
		struct weft_cmd c;

		rng_fill(&r, &c, sizeof(c));
		if (i % 2)
			c.h.op = weft_cmd_list()[rng_int(&r, 1, WEFT_N_CMDS - 1)].op;
		assert_true(weft_model_exec(m, &c, &f) < 0);
		assert_int_not_equal(f.code, WEFT_FAULT_NONE);
	}
	weft_model_free(m);
}

static void verdict(const struct weft_config *cfg, const uint64_t *words, size_t n, struct weft_verify_result *r)
{
	struct weft_verify_windows win;
	int ret;

	memset(&win, 0, sizeof(win));
	for (unsigned i = 0; i < WEFT_N_WINDOWS; i++) {
		win.w[i].size = MEM;
		win.w[i].rd = i != 1;
		win.w[i].wr = i != 2;
	}
	ret = weft_verify(cfg, words, n, &win, r);
	assert_true(ret == 0 || ret == -22 /* EINVAL */);
	assert_int_equal(ret == 0, r->rule == WEFT_VERIFY_NONE);
	assert_int_equal(ret == 0, r->text[0] == '\0');
	assert_true(r->word <= n);
}

/* Make likelier that only the addresses matter. */
static void tame(struct rng *r, const struct weft_config *cfg, struct weft_cmd *c)
{
	struct weft_cmd_post *p = &c->conv.post;

	if (!has_post(c))
		return;
	c->h.wait[WEFT_UNIT_LD] = 1;
	if (p->mode == 0) {
		p->y_zp = (int8_t)p->y_zp;
		p->y_min = (int8_t)p->y_min;
		p->y_max = (int8_t)p->y_max;
		p->a_zp = (int8_t)p->a_zp;
		p->b_zp = (int8_t)p->b_zp;
		p->s_zp = (int8_t)p->s_zp;
		p->s_min = (int8_t)p->s_min;
		p->s_max = (int8_t)p->s_max;
	}
	brute_order(&p->y_min, &p->y_max);
	brute_order(&p->s_min, &p->s_max);
	if (p->mode == 2) {
		p->y_min = p->s_min = (int16_t)0xfc00;
		p->y_max = p->s_max = 0x7c00;
	}
	p->add = 0;
	if (rng_int(r, 0, 3)) {
		p->out_base = (int32_t)cfg->sp_bytes / 2 + p->out_base % 1024;
		p->out_x_stride = (p->mode ? 2 : 1) * p->oc + p->out_x_stride % 8;
		p->out_y_stride = (int32_t)((int64_t)p->ow * p->out_x_stride & 0xfffff);
	}
	if (c->h.op == WEFT_CMD_CONV)
		c->conv.keep = 0;
	suit_mode(c);
}

static size_t loaded_and(const struct weft_config *cfg, const struct weft_cmd *c, uint64_t *words)
{
	struct weft_cmd other;
	size_t n;

	weft_cmd_init(&other, WEFT_CMD_LOAD);
	other.load.row_bytes = MEM;
	other.load.n1 = (int32_t)cfg->sp_bytes / MEM;
	other.load.sp_stride1 = MEM;
	n = weft_cmd_encode(&other, words);
	n += weft_cmd_encode(c, words + n);
	weft_cmd_init(&other, WEFT_CMD_END);
	return n + weft_cmd_encode(&other, words + n);
}

/*
 * A load that fills all of the scratchpad, one command, END: the two must agree
 * on whether all its addresses are there.
 */
static void verifier_agrees_with_model(void **state)
{
	static uint8_t mem[MEM];
	const struct weft_config *cfg = weft_config_find("w8");
	struct weft_model *m = weft_model_new(cfg);
	struct rng r = rng_start();
	long passed = 0, of_mode[3] = {0}, out = 0, rounds = env_number("WEFT_N", 30000);

	(void)state;
	for (unsigned k = 0; k < WEFT_N_WINDOWS; k++) {
		struct weft_model_window w = {mem, MEM, k != 1, k != 2};

		weft_model_set_window(m, k, &w);
	}
	for (long i = 0; i < rounds; i++) {
		uint64_t words[3 * WEFT_CMD_MAX_WORDS];
		struct weft_verify_result res;
		struct weft_model_fault f = {WEFT_FAULT_NONE, 0};
		struct weft_cmd c;
		size_t n, ran;

		any_command(&r, cfg, &c);
		tame(&r, cfg, &c);
		if (effort(&c) > 1e6)
			continue;
		n = loaded_and(cfg, &c, words);
		verdict(cfg, words, n, &res);
		if (res.rule != WEFT_VERIFY_NONE && res.rule != WEFT_VERIFY_SP_RANGE)
			continue;
		passed += res.rule == WEFT_VERIFY_NONE;
		if (res.rule == WEFT_VERIFY_NONE && has_post(&c))
			of_mode[c.conv.post.mode]++;
		out += res.rule == WEFT_VERIFY_SP_RANGE;
		weft_model_reset(m);
		weft_model_run(m, words, n, &ran, &f);
		if (f.code != (res.rule ? WEFT_FAULT_SP_RANGE : WEFT_FAULT_NONE))
			fail_msg("round %ld: %s, but fault %s 0x%x", i, res.rule ? res.text : "passed",
				 weft_fault_name(f.code), f.info);
	}
	print_message("%ld passed, by mode %ld %ld %ld; %ld out of range\n", passed, of_mode[0], of_mode[1],
		      of_mode[2], out);
	assert_true(passed * 200 > rounds && out * 100 > rounds);
	for (int mode = 0; mode < 3; mode++)
		assert_true(of_mode[mode] * 1000 > rounds);
	weft_model_free(m);
}

/* Words of any kind, with right and with wrong headers. */
static void verifier_judges_anything(void **state)
{
	const struct weft_config *cfg = weft_config_find("w16");
	struct rng r = rng_start();

	(void)state;
	for (long i = 0; i < env_number("WEFT_N", 2000); i++) {
		uint64_t words[64];
		struct weft_verify_result res;
		size_t n = (size_t)rng_int(&r, 0, 64), at = 0;

		rng_fill(&r, words, sizeof(words));
		while (i % 2 && at < n) {
			const struct weft_cmd_info *info = &weft_cmd_list()[rng_int(&r, 0, WEFT_N_CMDS - 1)];

			for (size_t k = 0; k < info->n_words && at + k < n; k++)
				words[at + k] &= info->used[k];
			words[at] = (words[at] & ~UINT64_C(0xffff)) | info->op | (uint64_t)info->n_words << 8;
			at += info->n_words;
		}
		verdict(cfg, words, n, &res);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(model_stays_inside),
		cmocka_unit_test(model_refuses_values),
		cmocka_unit_test(verifier_agrees_with_model),
		cmocka_unit_test(verifier_judges_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

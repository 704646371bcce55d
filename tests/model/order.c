/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the verifier passes does not depend on timing, nor on what the
 * scratchpad held before.
 *
 * Random streams run in stream order on a clean scratchpad, and again on one
 * full of other bytes in a random order that their waits allow: units overlap,
 * commands of one unit overlap, a command may read all its inputs when it
 * starts or when it retires, and writes when it retires. Whatever was written
 * must be the same.
 */
#include "brute.h"

#include "driver/verify/verify.h"

#define SLOT 2048
#define SLOTS 12
#define SP_USED (SLOT * SLOTS)
#define MEM 16384
#define MAX_CMDS (SLOTS + 16)
#define WRITES_MAX 65536
#define FLIGHTS 2                       /* commands of a unit at a time */

struct stream {
	struct weft_cmd c[MAX_CMDS];
	size_t n, of_unit[4];
	uint64_t words[MAX_CMDS * WEFT_CMD_MAX_WORDS];
	size_t n_words;
};

struct device {
	struct weft_model *m;
	uint8_t constants[MEM], arena[MEM];
};

/* One command's writes, waiting for its retirement. */
struct writes {
	const struct device *from;
	size_t n;
	struct {
		bool sp;
		uint32_t at;
		uint8_t byte;
	} w[WRITES_MAX];
};

struct flight {
	const struct weft_cmd *c;
	bool early;
	struct writes writes;
};

static int32_t slot(struct rng *r)
{
	return SLOT * rng_int(r, 0, SLOTS - 1);
}

static void random_dma(struct rng *r, struct weft_cmd *c)
{
	struct weft_cmd_load *l = &c->load;

	weft_cmd_init(c, rng_int(r, 0, 1) ? WEFT_CMD_LOAD : WEFT_CMD_STORE);
	l->window = 2;
	l->dram_off = 1024 * rng_int(r, 0, 3) + rng_int(r, 0, 1) * 64;
	l->sp_addr = slot(r) + rng_int(r, 0, 1) * 64;
	l->row_bytes = 1 << rng_int(r, 4, 8);
	l->n1 = rng_int(r, 1, 3);
	l->dram_stride1 = l->row_bytes * rng_int(r, 1, 2);
	l->sp_stride1 = l->row_bytes * rng_int(r, 1, 2);
}

/* Formats instead of zero points and scales; fp16 input where the command may. */
static void random_formats(struct rng *r, struct weft_cmd_post *p, int32_t x_most)
{
	struct weft_cmd_post none = {.mode = 2, .a_shift = 2, .b_shift = 2, .s_shift = 2};

	*p = none;
	p->x_fmt = rng_int(r, 0, x_most);
	p->w_fmt = rng_int(r, 0, 3);
	p->b_fmt = rng_int(r, 0, 4);
	p->out_fmt = rng_int(r, 0, 4);
	p->saturate = rng_int(r, 0, 1);
	p->y_min = p->s_min = (int16_t)0xfc00;
	p->y_max = p->s_max = 0x7c00;
}

/* Room for an element. */
static int32_t room(const struct weft_cmd_post *p)
{
	return p->mode ? 2 : 1;
}

/* Everything that computes: a few pixels, one or two blocks of channels. */
static void random_shape(struct rng *r, struct weft_cmd_post *p, int32_t x_most)
{
	random_post(r, p);
	if (rng_int(r, 0, 3) == 0)
		random_formats(r, p, x_most);
	p->oc = rng_int(r, 1, 12);
	p->ow = rng_int(r, 1, 5);
	p->oh = rng_int(r, 1, 5);
	p->out_x_stride = room(p) * (p->oc + 4 * rng_int(r, 0, 1));
	p->out_y_stride = p->ow * p->out_x_stride;
	p->out_base = slot(r);
	p->b_base = slot(r);
	p->b_x_stride = p->out_x_stride;
	p->b_y_stride = p->out_y_stride;
}

static void random_conv(struct rng *r, struct weft_cmd *c)
{
	struct weft_cmd_conv *v = &c->conv;
	int32_t e;

	weft_cmd_init(c, WEFT_CMD_CONV);
	random_shape(r, &v->post, 3);
	random_scale(r, &v->post);
	e = room(&v->post);
	v->post.add = rng_int(r, 0, 1);
	v->run_len = 9 * e;
	v->n_ky = rng_int(r, 1, 3);
	v->ox_step = 3 * e;
	v->oy_step = v->ky_step = 24 * e;
	v->in_h = rng_int(r, 1, 6);
	v->iy_start = -rng_int(r, 0, 1);
	v->x_limit = 24 * e;
	v->xb_start = -3 * e * rng_int(r, 0, 1);
	v->in_base = slot(r) + 64;
	v->w_base = slot(r);
	v->p_base = slot(r);
}

static void random_dw(struct rng *r, struct weft_cmd *c)
{
	struct weft_cmd_dw *d = &c->dw;

	weft_cmd_init(c, WEFT_CMD_DW);
	random_shape(r, &d->post, 3);
	random_scale(r, &d->post);
	d->in_base = slot(r);
	d->in_x_stride = room(&d->post) * d->post.oc;
	d->in_y_stride = 6 * d->in_x_stride;
	d->in_h = d->in_w = 6;
	d->iy_start = d->ix_start = -1;
	d->w_base = slot(r);
	d->p_base = slot(r);
}

static void random_pool(struct rng *r, struct weft_cmd *c)
{
	struct weft_cmd_pool *k = &c->pool;

	weft_cmd_init(c, WEFT_CMD_POOL);
	random_shape(r, &k->post, 4);
	k->sum = k->post.mode < 2 && rng_int(r, 0, 1);
	k->n_ky = rng_int(r, 1, 2);
	k->n_kx = rng_int(r, 1, 2);
	k->in_base = rng_int(r, 0, 2) ? slot(r) : k->post.out_base;
	k->ox_step = k->kx_step = k->post.out_x_stride;
	k->oy_step = k->ky_step = k->post.out_y_stride;
}

static void random_elt(struct rng *r, struct weft_cmd *c)
{
	struct weft_cmd_elt *e = &c->elt;

	weft_cmd_init(c, WEFT_CMD_ELT);
	random_shape(r, &e->post, 4);
	e->post.add = rng_int(r, 0, 1);
	e->in_base = rng_int(r, 0, 2) ? slot(r) : e->post.out_base;
	e->in_x_stride = e->post.out_x_stride;
	e->in_y_stride = e->post.out_y_stride;
}

/* Mostly wait for all that came before, sometimes for less. */
static void random_waits(struct rng *r, const struct stream *s, struct weft_cmd *c)
{
	for (int u = 0; u < 4; u++) {
		int32_t all = (int32_t)s->of_unit[u];

		c->h.wait[u] = rng_int(r, 0, 3) ? all : rng_int(r, 0, all);
		if (u == WEFT_UNIT_LD && c->h.wait[u] < SLOTS && all >= SLOTS)
			c->h.wait[u] = SLOTS;
	}
}

static void append(struct stream *s)
{
	struct weft_cmd *c = &s->c[s->n++];

	s->n_words += weft_cmd_encode(c, s->words + s->n_words);
	weft_cmd_decode(s->words + s->n_words - weft_cmd_info((unsigned)c->h.op)->n_words,
			WEFT_CMD_MAX_WORDS, c);
	if (c->h.op != WEFT_CMD_END)
		s->of_unit[weft_cmd_info((unsigned)c->h.op)->unit]++;
}

static void random_stream(struct rng *r, struct stream *s)
{
	static void (*const make[])(struct rng *r, struct weft_cmd *c) = {
		random_dma, random_dma, random_conv, random_dw, random_pool, random_elt
	};
	int count = rng_int(r, 2, 12);

	memset(s, 0, sizeof(*s));
	for (int i = 0; i < SLOTS; i++) {
		struct weft_cmd *c = &s->c[s->n];

		weft_cmd_init(c, WEFT_CMD_LOAD);
		c->load.window = 1;
		c->load.sp_addr = SLOT * i;
		c->load.row_bytes = SLOT;
		c->load.dram_off = 512 * i;
		append(s);
	}
	for (int i = 0; i < count; i++) {
		make[rng_int(r, 0, 5)](r, &s->c[s->n]);
		random_waits(r, s, &s->c[s->n]);
		append(s);
	}
	weft_cmd_init(&s->c[s->n], WEFT_CMD_END);
	append(s);
}

static void connect(struct device *d)
{
	struct weft_model_window w1 = {d->constants, MEM, true, false}, w2 = {d->arena, MEM, true, true};

	weft_model_set_window(d->m, 1, &w1);
	weft_model_set_window(d->m, 2, &w2);
}

static void exec(struct device *d, const struct weft_cmd *c)
{
	struct weft_model_fault f;
	char text[2048];

	if (!weft_model_exec(d->m, c, &f))
		return;
	weft_cmd_print(c, text, sizeof(text));
	fail_msg("the verifier passed what faults: %s 0x%x\n%s", weft_fault_name(f.code), f.info, text);
}

static void note_writes(void *user, enum weft_model_space space, unsigned window, uint64_t addr, uint64_t len)
{
	struct writes *x = user;

	(void)window;
	for (uint64_t i = 0; i < len; i++) {
		assert_true(x->n < WRITES_MAX);
		x->w[x->n].sp = space == WEFT_MODEL_SP;
		x->w[x->n].at = (uint32_t)(addr + i);
		x->w[x->n++].byte = space == WEFT_MODEL_SP ? weft_model_sp(x->from->m)[addr + i]
							   : x->from->arena[addr + i];
	}
}

/* Read now, write later: run on a copy and keep what it writes. */
static void read_early(struct device *real, struct device *copy, struct flight *f)
{
	weft_model_poke_sp(copy->m, 0, weft_model_sp(real->m), SP_USED);
	memcpy(copy->constants, real->constants, MEM);
	memcpy(copy->arena, real->arena, MEM);
	f->writes.from = copy;
	f->writes.n = 0;
	weft_model_set_log(copy->m, note_writes, &f->writes);
	exec(copy, f->c);
}

static void retire(struct device *real, const struct flight *f)
{
	if (!f->early) {
		exec(real, f->c);
		return;
	}
	for (size_t i = 0; i < f->writes.n; i++) {
		if (f->writes.w[i].sp)
			weft_model_poke_sp(real->m, f->writes.w[i].at, &f->writes.w[i].byte, 1);
		else
			real->arena[f->writes.w[i].at] = f->writes.w[i].byte;
	}
}

/* Place in the stream of a unit's k-th command; past the end if there is none. */
static size_t command_of(const struct stream *s, unsigned unit, size_t k)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (weft_cmd_info((unsigned)s->c[i].h.op)->unit == unit && !k--)
			break;
	return i;
}

static bool may_start(const struct stream *s, unsigned unit, size_t started, const size_t retired[4])
{
	size_t i = command_of(s, unit, started);

	if (i == s->n || started - retired[unit] == FLIGHTS)
		return false;
	for (int u = 0; u < 4; u++)
		if ((size_t)s->c[i].h.wait[u] > retired[u])
			return false;
	return true;
}

static void run_any_order(struct rng *r, const struct stream *s, struct device *real, struct device *copy)
{
	static struct flight air[4][FLIGHTS];
	size_t started[4] = {0}, retired[4] = {0}, left = s->n - 1;

	while (left) {
		unsigned u = (unsigned)rng_int(r, 0, 3);

		if (rng_int(r, 0, 1) && may_start(s, u, started[u], retired)) {
			struct flight *f = &air[u][started[u]++ % FLIGHTS];

			f->c = &s->c[command_of(s, u, started[u] - 1)];
			f->early = rng_int(r, 0, 1);
			if (f->early)
				read_early(real, copy, f);
		} else if (retired[u] < started[u]) {
			retire(real, &air[u][retired[u]++ % FLIGHTS]);
			left--;
		}
	}
}

static void verified_is_deterministic(void **state)
{
	static struct stream s;
	static struct device a, b, copy;
	static uint8_t garbage[SP_USED];
	const struct weft_config *cfg = weft_config_find("w8");
	struct weft_verify_windows win = {.w = {[1] = {MEM, true, false}, [2] = {MEM, true, true}}};
	struct weft_verify_result res;
	struct rng r = rng_start();
	long passed = 0, rounds = env_number("WEFT_N", 4000);

	(void)state;
	a.m = weft_model_new(cfg);
	b.m = weft_model_new(cfg);
	copy.m = weft_model_new(cfg);
	connect(&a);
	connect(&b);
	connect(&copy);
	for (long i = 0; i < rounds; i++) {
		random_stream(&r, &s);
		if (weft_verify(cfg, s.words, s.n_words, &win, &res))
			continue;
		passed++;
		rng_fill(&r, a.constants, MEM);
		rng_fill(&r, a.arena, MEM);
		memcpy(b.constants, a.constants, MEM);
		memcpy(b.arena, a.arena, MEM);
		rng_fill(&r, garbage, SP_USED);
		weft_model_reset(a.m);
		weft_model_poke_sp(b.m, 0, garbage, SP_USED);
		for (size_t k = 0; k < s.n; k++)
			exec(&a, &s.c[k]);
		run_any_order(&r, &s, &b, &copy);
		if (memcmp(a.arena, b.arena, MEM) || memcmp(weft_model_sp(a.m), weft_model_sp(b.m), SP_USED)) {
			for (size_t k = SLOTS; k < s.n; k++) {
				char text[2048];

				weft_cmd_print(&s.c[k], text, sizeof(text));
				print_message("%zu %s\n", k, text);
			}
			fail_msg("round %ld: another order gives another result", i);
		}
	}
	print_message("%ld of %ld streams passed the verifier\n", passed, rounds);
	assert_true(passed * 50 > rounds);
	weft_model_free(a.m);
	weft_model_free(b.m);
	weft_model_free(copy.m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(verified_is_deterministic)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The digits network on a card, step by step through link frames and firmware:
 * every tensor that lies in card memory and every output has golden's bits.
 */
#include "tests/unit/compile_run.h"

#include <weft/gen/config.h>

#include "tests/support/card.h"
#include "tests/support/file.h"
#include "tests/support/level.h"
#include "userlib/import/tflite/tflite.h"
#include "userlib/import/tosa/tosa.h"

#define DRAM (1u << 20)

static struct card card;
static uint32_t next_job = 1;

struct on_card {
	struct compile_run run;    /* arena: the host's copy of the card's */
	uint32_t consts, words, arena;
	uint64_t cycles;
};

static uint32_t align(uint64_t at)
{
	return (uint32_t)((at + 63) / 64 * 64);
}

static weft_graph *load_graph(const char *path)
{
	char msg[WEFT_MSG];
	weft_graph *g;
	size_t n;
	void *data = test_file(path, &n);

	assert_non_null(data);
	int err = strstr(path, ".tosa") ? weft_import_tosa(data, n, path, &g, msg) : weft_import_tflite(data, n, path, &g, msg);
	if (err)
		fail_msg("%s: %s", path, msg);
	free(data);
	return g;
}

static void npu_step(struct on_card *o, const struct weft_step *s)
{
	struct compile_run *c = &o->run;
	const struct weft_msg_window w[2] = { { o->consts, (uint32_t)c->p->n_consts, WEFT_MSG_PERM_READ },
		{ o->arena, (uint32_t)c->p->arena_bytes, WEFT_MSG_PERM_READ | WEFT_MSG_PERM_WRITE } };
	struct weft_msg_done_reply d;
	uint32_t job = next_job++;

	assert_int_equal(card_write(&card, o->words, c->p->words + s->first_word, 8 * s->n_words), 0);
	assert_int_equal(card_submit(&card, job, 100000000, o->words, s->n_words, w, 2, NULL), WEFT_MSG_ERR_OK);
	if (!card_wait(&card, job, 200000000, &d) || d.result != WEFT_MSG_RESULT_OK)
		fail_msg("%s: step %td does not end well", c->what, s - c->p->steps);
	o->cycles += d.counters[0];
	assert_int_equal(card_read(&card, o->arena, c->arena, (uint32_t)c->p->arena_bytes), 0);
}

static void start(struct on_card *o, const weft_tensor *inputs)
{
	struct compile_run *c = &o->run;
	char msg[WEFT_MSG];

	if (weft_golden_exec(c->g, inputs, c->all, true, msg))
		fail_msg("%s: golden: %s", c->what, msg);
	memset(c->arena, 0x5a, c->p->arena_bytes);
	for (int i = 0; i < c->g->n_inputs; i++) {
		int t = c->g->inputs[i];
		if (!c->host[t].data)
			c->host[t].data = calloc(1, c->p->tensors[t].bytes + 1);
		memcpy(host_tensor(c, t).data, inputs[i].data, c->p->tensors[t].bytes);
	}
}

static void one_image(struct on_card *o, const weft_tensor *inputs)
{
	struct compile_run *c = &o->run;

	start(o, inputs);
	for (int i = 0; i < c->p->n_steps; i++) {
		assert_int_equal(card_write(&card, o->arena, c->arena, (uint32_t)c->p->arena_bytes), 0);
		if (c->p->steps[i].kind == WEFT_STEP_NPU)
			npu_step(o, &c->p->steps[i]);
		else
			run_host(c, &c->p->steps[i]);
		compare_arena(c, i);
	}
	for (int i = 0; i < c->g->n_outputs; i++)
		compare_tensor(c, c->g->outputs[i], "output");
	weft_golden_release(c->g, c->all);
}

static void network(const struct weft_chip_ops *ops, const char *config, const char *path, int n_images)
{
	const struct weft_compile_options options = { .config = config };
	struct on_card o = { .run = { 0 } };
	struct compile_run *c = &o.run;
	struct weft_msg_hello_reply h;
	char msg[WEFT_MSG];

	card_open_quick(&card, ops, config, DRAM);
	assert_true(card_hello(&card, &h));
	c->g = load_graph(path);
	snprintf(c->what, sizeof(c->what), "%s on %s", path, config);
	if (weft_compile(c->g, &options, &c->p, msg))
		fail_msg("%s: %s", c->what, msg);
	c->all = calloc((size_t)c->g->n_tensors + 1, sizeof(*c->all));
	c->host = calloc((size_t)c->g->n_tensors + 1, sizeof(*c->host));
	c->arena = malloc(c->p->arena_bytes + 1);
	o.consts = align(h.host_base);
	o.words = align(o.consts + c->p->n_consts);
	o.arena = align(o.words + 8ull * c->p->n_words);
	assert_true(o.arena + c->p->arena_bytes <= h.host_limit);
	assert_int_equal(card_write(&card, o.consts, c->p->consts, (uint32_t)c->p->n_consts), 0);
	for (int i = 0; i < n_images; i++) {
		weft_tensor *in = make_inputs(c->g, (uint64_t)i + 1);
		one_image(&o, in);
		free_inputs(c->g, in);
		for (int t = 0; t < c->g->n_tensors; t++) {
			free(c->host[t].data);
			c->host[t].data = NULL;
		}
	}
	printf("%s on %s: %d images with golden's bits, %llu NPU cycles each\n", path, ops ? ops->name : "model", n_images,
	       (unsigned long long)o.cycles / (unsigned)n_images);
	weft_program_free(c->p);
	weft_graph_free((weft_graph *)c->g);
	free(c->all);
	free(c->host);
	free(c->arena);
	card_close(&card);
}

static const struct { const char *path; uint32_t mode; } networks[] = {
	{ "tests/models/digits_int8.tflite", WEFT_FEATURE_INT8 }, { "tests/models/digits_int16x8.tflite", WEFT_FEATURE_INT16 },
	{ "tests/models/digits_fp8.tosa", WEFT_FEATURE_FP8 },
};

static void on_model(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < WEFT_N_CONFIGS; k++)
			if (weft_config_list()[k].features & networks[i].mode)
				network(NULL, weft_config_list()[k].name, networks[i].path, (int)test_count(2, 10, 100));
}

static void on_rtl(void **state)
{
	const struct weft_chip_ops *rtl = card_rtl("w16");

	(void)state;
	if (!rtl)
		skip();
	for (int i = 0; i < 3; i++)
		network(rtl, "w16", networks[i].path, (int)test_count(1, 1, 10));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(on_model), cmocka_unit_test(on_rtl) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

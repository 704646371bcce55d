/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutated .weft programs: loaded, verified, and where they pass, run on the
 * model; 0 or a negative errno with one line. Once as files, where checksums
 * catch most, and once section by section beneath the checksums.
 */
#include <zlib.h>

#include "fuzz_file.h"
#include "tests/support/recorded_nets.h"
#include "userlib/run/internal.h"

/* The layout is described in userlib/compile/file/container.c. */
#define N_SECTIONS 10
#define ENTRY_BYTES 24
#define TABLE_AT 16
#define HEAD_BYTES (TABLE_AT + N_SECTIONS * ENTRY_BYTES)

static struct bytes compiled(const char *path)
{
	char msg[WEFT_MSG_LEN] = "";
	struct bytes b = { 0 };
	weft_net *net;

	if (weft_net_load_file(path, &net, msg) || weft_net_save(net, "w16", &b.p, &b.n, msg))
		fail_msg("%s: %s", path, msg);
	weft_net_free(net);
	return b;
}

/* Running takes what the program asks for; only those that ask for little are run. */
static bool is_small(const weft_net *net)
{
	for (int i = 0; i < net->g->n_vars; i++)
		if (weft_tensor_elements(&net->g->vars[i].t) > 1 << 20)
			return false;
	for (int i = 0; i < net->g->n_tensors; i++)
		if (weft_tensor_elements(&net->g->tensors[i].t) > 1 << 20)
			return false;
	return net->loaded && net->loaded->arena_bytes < 1 << 24;
}

static int run_on_model(const weft_net *net, char *msg)
{
	struct weft_session_options o = weft_session_options_default();
	weft_tensor in[8] = { { 0 } }, out[8] = { { 0 } };
	int n_in = weft_net_n_inputs(net), n_out = weft_net_n_outputs(net);
	struct weft_port port;
	weft_session *s = NULL;

	if (n_in > 8 || n_out > 8)
		return 0;
	int err = weft_session_open(net, &o, &s, msg);
	for (int i = 0; i < n_in && !err; i++) {
		weft_net_input(net, i, &port);
		in[i] = (weft_tensor){ .dtype = port.dtype, .rank = port.rank };
		memcpy(in[i].dim, port.dim, sizeof(port.dim));
		in[i].data = calloc(1, weft_tensor_bytes(&in[i]) + 1);
		assert_non_null(in[i].data);
	}
	if (!err)
		err = weft_session_run(s, in, out, NULL, msg);
	for (int i = 0; i < n_in; i++)
		weft_tensor_release(&in[i]);
	for (int i = 0; i < n_out && !err; i++)
		weft_tensor_release(&out[i]);
	weft_session_close(s);
	return err;
}

static const char *load_and_run(const struct bytes *b, int *accepted)
{
	char msg[WEFT_MSG_LEN] = "";
	weft_net *net = NULL;
	int err = weft_net_load(b->p, b->n, "mutated", &net, msg);

	if (!err) {
		err = weft_net_verify(net, "w16", msg);
		*accepted = !err;
		if (!err && is_small(net))
			err = run_on_model(net, msg);
		weft_net_free(net);
	}
	return fuzz_judge(err, msg);
}

/* ---- beneath the checksums ---- */

static struct bytes section[N_SECTIONS];   /* raw */
static uint8_t head[HEAD_BYTES];           /* as it was */
static int at_section;                     /* which one is mutated */

static uint64_t get(const uint8_t *p, int n)
{
	uint64_t v = 0;

	for (int i = 0; i < n; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return v;
}

static void put(uint8_t *p, uint64_t v, int n)
{
	for (int i = 0; i < n; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

static void take_apart(const struct bytes *b)
{
	size_t at = HEAD_BYTES + 4;

	assert_true(b->n > at);
	memcpy(head, b->p, HEAD_BYTES);
	assert_int_equal(get(head + 12, 4), N_SECTIONS);
	for (int i = 0; i < N_SECTIONS; i++) {
		const uint8_t *e = head + TABLE_AT + i * ENTRY_BYTES;
		uLongf n = (uLongf)get(e + 8, 8);
		size_t stored = (size_t)get(e + 16, 8);
		section[i] = (struct bytes){ malloc(n + 1), n };
		assert_non_null(section[i].p);
		assert_true(stored <= b->n - at);
		assert_int_equal(uncompress(section[i].p, &n, b->p + at, stored), Z_OK);
		assert_int_equal(n, section[i].n);
		at += stored;
	}
	assert_int_equal(at, b->n);
}

/* The container again, with other bytes in one section and checksums that fit. */
static struct bytes put_together(const struct bytes *changed)
{
	size_t room = HEAD_BYTES + 4, at = room;

	for (int i = 0; i < N_SECTIONS; i++)
		room += compressBound(i == at_section ? changed->n : section[i].n);
	struct bytes b = { malloc(room), 0 };
	assert_non_null(b.p);
	memcpy(b.p, head, HEAD_BYTES);
	for (int i = 0; i < N_SECTIONS; i++) {
		const struct bytes *raw = i == at_section ? changed : &section[i];
		uint8_t *e = b.p + TABLE_AT + i * ENTRY_BYTES;
		uLongf n = room - at;
		assert_int_equal(compress2(b.p + at, &n, raw->p, raw->n, 0), Z_OK);
		put(e + 4, crc32_z(0, b.p + at, n), 4);
		put(e + 8, raw->n, 8);
		put(e + 16, n, 8);
		at += n;
	}
	put(b.p + HEAD_BYTES, crc32_z(0, b.p, HEAD_BYTES), 4);
	b.n = at;
	return b;
}

static const char *section_load_and_run(const struct bytes *changed, int *accepted)
{
	struct bytes b = put_together(changed);
	const char *wrong = load_and_run(&b, accepted);

	free(b.p);
	return wrong;
}

static void test_file(void **state)
{
	struct bytes b = compiled("tests/models/digits_int8.tflite");

	(void)state;
	fuzz_file("weft_mutate", "digits_int8.weft", &b, test_count(100, 1000, 10000), load_and_run);
	free(b.p);
}

static void each_section(struct bytes *b, const char *net)
{
	take_apart(b);
	for (at_section = 0; at_section < N_SECTIONS; at_section++) {
		char name[96];
		snprintf(name, sizeof(name), "%.40s.weft section %.4s", net, (char *)head + TABLE_AT + at_section * ENTRY_BYTES);
		fuzz_file("weft_mutate", name, &section[at_section], test_count(30, 500, 5000), section_load_and_run);
	}
	for (int i = 0; i < N_SECTIONS; i++)
		free(section[i].p);
	free(b->p);
}

static void test_sections(void **state)
{
	struct bytes b = compiled("tests/models/digits_int8.tflite");

	(void)state;
	each_section(&b, "digits_int8");
}

/* A network that keeps variables. */
static void test_variables(void **state)
{
	struct reader r = open_recorded("tests/models/tflite_nets.gz", "TFLNETS1");
	struct bytes b = { 0 };
	char msg[WEFT_MSG_LEN];
	weft_net *net;

	(void)state;
	while (r.at < r.n && !b.p) {
		struct one c = read_one(&r);
		if (strncmp(c.name, "stream", 6))
			continue;
		if (weft_net_load(c.file, c.file_bytes, c.name, &net, msg) || weft_net_save(net, "w16", &b.p, &b.n, msg))
			fail_msg("%s", msg);
		assert_true(net->g->n_vars > 0);
		weft_net_free(net);
	}
	assert_non_null(b.p);
	free(r.p);
	each_section(&b, "stream");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_file), cmocka_unit_test(test_sections), cmocka_unit_test(test_variables) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

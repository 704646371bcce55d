/* SPDX-License-Identifier: Apache-2.0 */
/*
 * EXT-DYNAMIC: every constant of a network of one operator becomes an input, shapes
 * too, and gets its old value when the network runs. Nothing may differ.
 */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include <weft/weft.h>

#include "tests/support/level.h"
#include "tests/support/tensors.h"
#include "userlib/export/tosa_out.h"
#include "userlib/graph/graph.h"
#include "userlib/import/tosa/tosa.h"

#define MAX_VALUES 64

/* What was a constant, as the network takes it. */
struct value { char name[64]; uint8_t *data; size_t bytes; };
struct values { struct value v[MAX_VALUES]; int n; };

static void keep(struct values *all, const char *name, const void *data, size_t bytes)
{
	struct value *v = &all->v[all->n++];

	assert_true(all->n <= MAX_VALUES);
	snprintf(v->name, sizeof v->name, "%s", name);
	v->data = malloc(bytes + 1);
	v->bytes = bytes;
	memcpy(v->data, data, bytes);
}

static void drop_const(struct xblock *b, const char *name)
{
	for (int i = 0; i < b->n_ops; i++)
		if ((b->ops[i].code == TOSA_CONST || b->ops[i].code == TOSA_CONST_SHAPE) && !strcmp(b->ops[i].out[0], name)) {
			x_drop(&b->ops[i]);
			memmove(&b->ops[i], &b->ops[i + 1], (size_t)(b->n_ops - i - 1) * sizeof *b->ops);
			b->n_ops--;
			return;
		}
}

static void add_input(struct xblock *b, const char *name)
{
	struct xop o = { .in = b->in, .n_in = b->n_in };

	assert_int_equal(x_in(&o, name), 0);
	b->in = o.in;
	b->n_in = o.n_in;
}

/* Constants of types that the file packs stay what they are. */
static void free_constants(struct xblock *b, struct values *all)
{
	for (int i = 0; i < b->n_tensors; i++) {
		struct xtensor *t = &b->tensors[i];
		if (!t->data || t->variable || t->type == TOSA_INT4 || t->type == TOSA_INT48 || strlen(t->name) > 60)
			continue;
		keep(all, t->name, t->data, t->data_len);
		free(t->data);
		t->data = NULL;
		drop_const(b, t->name);
		add_input(b, t->name);
	}
	for (int i = 0; i < b->n_shapes; i++) {
		struct xshape *s = &b->shapes[i];
		keep(all, s->name, s->v, (size_t)s->n * 8);
		s->known = false;
		drop_const(b, s->name);
		add_input(b, s->name);
	}
}

static uint8_t *read_file(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	uint8_t *p = malloc(1 << 22);

	if (!f)
		fail_msg("%s: %s", path, strerror(errno));
	*n = fread(p, 1, 1 << 22, f);
	fclose(f);
	return p;
}

/* The file again with inputs for constants; how many in all->n. */
static struct fbw make_dynamic(const uint8_t *file, size_t n, struct values *all)
{
	char msg[WEFT_MSG] = "", custom[WEFT_MSG] = "";
	struct xout x = { .msg = msg, .custom = custom, .i_op = -1 };
	struct fbw w = { 0 };
	weft_graph *g;

	if (weft_import_tosa(file, n, "", &g, msg))
		fail_msg("%s", msg);
	x.outer = g;
	if (x_convert(&x))
		fail_msg("%s", msg);
	free_constants(&x.blocks[0], all);
	assert_int_equal(x_write(&x, &w), 0);
	x_release(&x);
	weft_graph_free(g);
	return w;
}

/* The value that was a constant, else small numbers that depend on the name. */
static void fill(const struct weft_port *p, const struct values *all, weft_tensor *t)
{
	uint64_t seed = 1;

	*t = (weft_tensor){ .dtype = p->dtype, .rank = p->rank };
	memcpy(t->dim, p->dim, sizeof p->dim);
	size_t n = weft_tensor_bytes(t);
	t->data = malloc(n + 8);
	for (int i = 0; all && i < all->n; i++)
		if (!strcmp(all->v[i].name, p->name)) {
			assert_int_equal(all->v[i].bytes, n);
			memcpy(t->data, all->v[i].data, n);
			return;
		}
	for (const char *c = p->name; *c; c++)
		seed = seed * 31 + (uint8_t)*c;
	for (size_t k = 0; k < n; k++)
		((uint8_t *)t->data)[k] = k % weft_dtype_bytes(p->dtype) ? 0 : (uint8_t)(test_random(&seed) % 3);
}

static int run(const uint8_t *file, size_t n, const struct values *all, enum weft_device device, weft_tensor out[4], char *msg)
{
	struct weft_session_options o = weft_session_options_default();
	weft_tensor in[MAX_VALUES + 8];
	weft_session *s = NULL;
	weft_net *net;
	int err = weft_net_load(file, n, "dynamic", &net, msg);

	if (err)
		return err;
	o.device = device;
	o.check = device == WEFT_DEVICE_MODEL;
	int n_in = weft_net_n_inputs(net);
	for (int i = 0; i < n_in; i++) {
		struct weft_port p;
		weft_net_input(net, i, &p);
		fill(&p, all, &in[i]);
	}
	err = weft_session_open(net, &o, &s, msg);
	if (!err)
		err = weft_session_run(s, in, out, NULL, msg);
	weft_session_close(s);
	for (int i = 0; i < n_in; i++)
		free(in[i].data);
	weft_net_free(net);
	return err;
}

struct total { int files, ran, values, refused; };

static void try_file(const char *path, bool device, struct total *total)
{
	size_t n;
	uint8_t *file = read_file(path, &n);
	struct values all = { 0 };
	struct fbw w = make_dynamic(file, n, &all);
	weft_tensor a[4] = { 0 }, b[4] = { 0 };
	char msg[WEFT_MSG_LEN] = "", msg2[WEFT_MSG_LEN] = "";
	int err = run(file, n, NULL, WEFT_DEVICE_GOLDEN, a, msg);
	int err2 = run(w.p, w.n, &all, device ? WEFT_DEVICE_MODEL : WEFT_DEVICE_GOLDEN, b, msg2);

	if (err != err2)
		fail_msg("%s: %d %s; with inputs for constants %d %s", path, err, msg, err2, msg2);
	for (int i = 0; i < 4 && !err; i++) {
		if (!a[i].data != !b[i].data || (a[i].data && memcmp(a[i].data, b[i].data, weft_tensor_bytes(&a[i]))))
			fail_msg("%s: output %d differs with inputs for constants", path, i);
		weft_tensor_release(&a[i]);
		weft_tensor_release(&b[i]);
	}
	total->files++;
	total->ran += !err;
	total->values += all.n;
	/* Shapes that do not fit are an error of the run, never more. */
	bool shapes = false;
	for (int i = 0; i < all.n && !err; i++)
		for (size_t k = 0; strncmp(all.v[i].name, "weft.", 5) == 0 && all.v[i].bytes >= 16 && k < all.v[i].bytes; k += 8) {
			all.v[i].data[k] ^= 0x55;
			shapes = true;
		}
	if (shapes) {
		err = run(w.p, w.n, &all, WEFT_DEVICE_GOLDEN, b, msg2);
		if (err != -EINVAL)
			fail_msg("%s: with wrong shapes %d", path, err);
		total->refused++;
	}
	for (int i = 0; i < all.n; i++)
		free(all.v[i].data);
	free(w.p);
	free(file);
}

static int visible(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

/* Vectors that are no errors, by their folders' names. */
static void try_folder(const char *op, struct total *total)
{
	char dir[512], path[1200];
	struct dirent **list;
	struct stat st;
	struct total here = { 0 };

	snprintf(dir, sizeof dir, "%s/tosa_1_0/%s", test_data(), op);
	int n = scandir(dir, &list, visible, alphasort), step = test_level() == 2 ? 1 : 3;
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof path, "%s/%.300s/test.tosa", dir, list[i]->d_name);
		if (i % step == 0 && !strstr(list[i]->d_name, "ERRORIF") && !stat(path, &st) && st.st_size < 100000)
			try_file(path, i % (4 * step) == 0, &here);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	if (!here.ran || !here.values)
		fail_msg("%s: %d of %d files ran, %d values", op, here.ran, here.files, here.values);
	total->files += here.files;
	total->ran += here.ran;
	total->values += here.values;
	total->refused += here.refused;
}

static void constants_as_inputs(void **state)
{
	static const char *const ops[] = {
		"avg_pool2d", "conv2d", "conv3d", "depthwise_conv2d", "transpose_conv2d", "matmul", "mul", "negate", "pad", "rescale",
		"reshape", "resize", "slice", "table", "tile",
	};
	struct total t = { 0 };
	char dir[512];
	struct stat st;

	(void)state;
	snprintf(dir, sizeof dir, "%s/tosa_1_0", test_data());
	if (stat(dir, &st)) {
		printf("no conformance vectors in %s\n", dir);
		fflush(stdout);
		skip();
	}
	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
		try_folder(ops[i], &t);
	print_message("%d networks ran with %d inputs for constants; %d with wrong shapes refused\n", t.ran, t.values, t.refused);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(constants_as_inputs) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

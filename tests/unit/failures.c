/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command, with the system failing under it at every point: each allocation, open, read, write,
 * fsync, rename, mmap and thread of the library and of the command (tests/support/fail_at.h), once and
 * from there on. Whatever fails:
 *
 * - exit 0 (or what the operation ends with when nothing fails) comes with the same bytes as ever;
 * - otherwise one line says why: "out of memory" and exit 3; the file and the error, exit 3 for an
 *   output and 2 for an input; the old output is still there, and nothing else is;
 * - all memory has been given back.
 *
 * At least 200 points of each operation, drawn by the seed, with make test; all in test-full. The
 * commands' sources are linked into this test with another main().
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/file.h>
#include <weft/npy.h>
#include <weft/weft.h>

#include "tests/support/card.h"
#include "tests/support/card_process.h"
#include "tests/support/fail_at.h"
#include "tests/support/level.h"
#include "tests/support/onnx_build.h"
#include "tests/support/shell.h"
#include "tests/unit/tflite_build.h"

int weft_command(int argc, char **argv);

static char dir[128];          /* all files of this test */
static struct card_process card;

/* ---- running a command ---- */

struct result { int status; char *out, *err; uint8_t *file; size_t n_file; };

struct operation {
	const char *name;
	const char *line;          /* what follows "weft"; @ is the folder, % the card */
	const char *out;           /* the file that it writes, below the folder; NULL: standard output counts */
	int status;                /* when nothing fails */
	bool times;                /* the file tells how long things took, and is another one each time */
};

/* The text of a file from its beginning; the caller frees it. */
static char *text_of(int fd)
{
	const off_t n = lseek(fd, 0, SEEK_END);
	char *text = calloc(1, (size_t)n + 1);

	assert_non_null(text);
	assert_int_equal(pread(fd, text, (size_t)n, 0), n);
	return text;
}

/* The words of an operation's line. Returns their count. */
static int words(const char *line, char *room, size_t bytes, char **argv)
{
	size_t n = 0;
	int argc = 0;

	for (const char *p = line; *p && n + 1 < bytes; p++) {
		const char *text = *p == '@' ? dir : *p == '%' ? card.device : p;
		n += (size_t)snprintf(room + n, bytes - n, "%.*s", text == p ? 1 : (int)sizeof dir, text);
	}
	argv[argc++] = "weft";
	for (char *w = strtok(room, " "); w; w = strtok(NULL, " "))
		argv[argc++] = w;
	argv[argc] = NULL;
	return argc;
}

/* What a card counts, its slots and its starts, is another number each time. */
static void hide_counts(char *text)
{
	static const char *const before[] = { "in slot ", "started " };

	for (int i = 0; i < 2; i++)
		for (char *p = strstr(text, before[i]); p; p = strstr(p, before[i])) {
			char *to = p += strlen(before[i]);
			while (*p >= '0' && *p <= '9')
				p++;
			memmove(to, p, strlen(p) + 1);
		}
}

/* Runs the command with its output in files. */
static void run(const struct operation *op, unsigned kinds, long at, bool go_on, struct result *r, long *calls)
{
	char room[1024], *argv[40], path[256];
	const int argc = words(op->line, room, sizeof room, argv);
	int was[2], to[2];

	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s/std%d", dir, i + 1);
		to[i] = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		assert_true(to[i] >= 0);
		unlink(path);
	}
	fflush(NULL);
	for (int i = 0; i < 2; i++) {
		was[i] = fcntl(i + 1, F_DUPFD_CLOEXEC, 10);
		dup2(to[i], i + 1);
	}
	fail_begin(kinds, at, go_on);
	r->status = weft_command(argc, argv);
	*calls = fail_end();
	fflush(stdout);
	for (int i = 0; i < 2; i++) {
		dup2(was[i], i + 1);
		close(was[i]);
	}
	r->out = text_of(to[0]);
	r->err = text_of(to[1]);
	hide_counts(r->out);
	close(to[0]);
	close(to[1]);
	r->file = NULL;
	r->n_file = 0;
	if (!op->out)
		return;
	snprintf(path, sizeof path, "%s/%s", dir, op->out);
	(void)!weft_file_read(path, 1 << 28, &r->file, &r->n_file);
}

static void drop(struct result *r)
{
	free(r->out);
	free(r->err);
	fail_free(r->file);
}

/* ---- judging ---- */

static const uint8_t old[] = "what was there before";

/* Puts an old file where the operation writes. */
static void put_old(const struct operation *op)
{
	char path[256];

	if (!op->out)
		return;
	snprintf(path, sizeof path, "%s/%s", dir, op->out);
	assert_int_equal(weft_file_write(path, old, sizeof old), 0);
}

/* How many entries a folder has in all its depth. */
static int entries(const char *path)
{
	DIR *d = opendir(path);
	char below[512];
	int n = 0;

	for (struct dirent *e; d && (e = readdir(d)); ) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		snprintf(below, sizeof below, "%.250s/%.250s", path, e->d_name);
		n += 1 + (e->d_type == DT_DIR ? entries(below) : 0);
	}
	if (d)
		closedir(d);
	return n;
}

/* Are the bytes of two results the same: of the file, else of standard output? */
static bool same(const struct operation *op, const struct result *a, const struct result *b)
{
	if (!op->out)
		return !strcmp(a->out, b->out);
	if (op->times)
		return a->file && a->n_file > 2 && !memcmp(a->file + a->n_file - 2, "}\n", 2);
	return a->file && a->n_file == b->n_file && !memcmp(a->file, b->file, a->n_file);
}

/* May the command end so when a call of this kind has failed? */
static bool may_end_so(unsigned kind, int status)
{
	if (kind == FAIL_READ)
		return status == 2;
	if (kind == FAIL_OPEN)         /* of an input 2, of an output 3; the line names the file */
		return status == 2 || status == 3;
	return status == 3;
}

/* What is wrong with a result; NULL: nothing. */
static const char *judge(const struct operation *op, const struct result *r, const struct result *want)
{
	const unsigned kind = fail_kind();
	const bool resource = kind == FAIL_MEMORY || kind == FAIL_MAP;

	/* Tensors differ, whether that could be kept or not. */
	if (r->status == 1 && op->status == 1 && strstr(r->err, "not kept") && r->n_file == sizeof old && !memcmp(r->file, old, sizeof old))
		return NULL;
	if (r->status == want->status)
		return same(op, r, want) ? NULL : "another result";
	if (!may_end_so(kind, r->status))
		return "another exit status";
	/* Memory ran out when the run that differs had been kept. */
	if (op->status == 1 && resource && strstr(r->err, "out of memory") && strstr(r->err, "weft: kept in") && same(op, r, want))
		return NULL;
	if (strncmp(r->err, "weft: ", 6) || strchr(r->err, '\n') != r->err + strlen(r->err) - 1)
		return "not one line";
	if (resource && !strstr(r->err, "out of memory"))
		return "the line does not say \"out of memory\"";
	if (!resource && kind != FAIL_THREAD && !strstr(r->err, dir) && !strstr(r->err, "tests/models"))
		return "the line names no file";
	if (op->out && (r->n_file != sizeof old || memcmp(r->file, old, sizeof old)))
		return "the old file is not there any more";
	return NULL;
}

/* One point. n[0] counts points where the result was the same, n[1] the others. */
static void one_point(const struct operation *op, unsigned kinds, long at, bool go_on, const struct result *want, int n_files, long n[2])
{
	struct result r;
	long calls;

	put_old(op);
	run(op, kinds, at, go_on, &r, &calls);
	const char *wrong = judge(op, &r, want);
	if (!wrong && fail_live())
		wrong = "memory is not given back";
	if (!wrong && entries(dir) != n_files)
		wrong = "files are left";
	if (wrong)
		fail_msg("%s: %s %ld%s fails: %s (exit %d, %ld live, \"%s\")", op->name, fail_kind_name(fail_kind()), at,
		         go_on ? " and all later ones" : "", wrong, r.status, fail_live(), r.err);
	n[r.status != want->status]++;
	drop(&r);
}

/* Points of one set of kinds of an operation. */
static void points(const struct operation *op, unsigned kinds, const char *what)
{
	uint64_t rng = test_seed(1);
	long n[2] = { 0 }, all = 0;
	struct result want;

	for (int i = 0; i < 2; i++) {
		put_old(op);
		run(op, kinds, 0, false, &want, &all);
		if (want.status != op->status)
			fail_msg("%s: exit %d: %s%s", op->name, want.status, want.out, want.err);
		if (!i)
			drop(&want);
	}
	const int n_files = entries(dir);
	assert_true(all > 0);
	const long most = test_count(40, 200, 2 * all), tries = most < 2 * all ? most : 2 * all;
	for (long i = 0; i < tries; i++) {
		rng = rng * 6364136223846793005u + 1442695040888963407u;
		const long k = tries == 2 * all ? i / 2 : i < tries / 4 ? all - 1 - i / 2 : (long)((rng >> 33) % (uint64_t)all);
		one_point(op, kinds, 1 + k, i % 2, &want, n_files, n);
	}
	printf("%s, %s: %ld of %ld points, seed %llu: %ld errors, %ld the same result\n", op->name, what, tries, 2 * all,
	       (unsigned long long)test_seed(1), n[1], n[0]);
	fflush(stdout);
	drop(&want);
}

/* ---- operations ---- */

#define OUT "0_probabilities.npy"

static const struct operation operations[] = {
	{ "load .tflite", "info tests/models/digits_int8.tflite", NULL, 0, false },
	{ "load .onnx", "info tests/models/digits_qdq.onnx", NULL, 0, false },
	{ "load .tosa", "info tests/models/digits_fp8.tosa", NULL, 0, false },
	{ "load 20 operators of .tflite", "info @/deep.tflite", NULL, 0, false },
	{ "load 20 operators of .onnx", "info @/deep.onnx", NULL, 0, false },
	{ "load 20 operators of .tosa", "info @/deep.tosa", NULL, 0, false },
	{ "load a program", "info @/digits.weft", NULL, 0, false },
	{ "compile .tflite", "compile tests/models/digits_int8.tflite -o @/out", "out", 0, false },
	{ "compile .onnx", "compile tests/models/digits_qdq.onnx -o @/out", "out", 0, false },
	{ "compile .tosa", "compile tests/models/digits_fp8.tosa -o @/out", "out", 0, false },
	{ "compile 20 operators", "compile @/deep.tflite -o @/out", "out", 0, false },
	{ "convert .tflite", "convert tests/models/digits_int8.tflite -o @/out", "out", 0, false },
	{ "convert .onnx", "convert tests/models/digits_qdq.onnx -o @/out", "out", 0, false },
	{ "convert 20 operators", "convert @/deep.tflite -o @/out", "out", 0, false },
	{ "run on golden", "run tests/models/digits_int8.tflite -i @/0_x.npy --device golden -o @", OUT, 0, false },
	{ "run on the model", "run tests/models/digits_int8.tflite --device model --no-capture -o @", OUT, 0, false },
	{ "run on the model, checked", "run tests/models/digits_qdq.onnx --device model --check --no-capture -o @", NULL, 0, false },
	{ "run 20 operators on the model", "run @/deep.tflite --device model --check --no-capture -o @", NULL, 0, false },
	{ "run on a card", "run tests/models/digits_int8.tflite --device % --no-capture -o @", OUT, 0, false },
	{ "run on the RTL", "run tests/models/digits_int8.tflite --device rtl --no-capture -o @", OUT, 0, false },
	{ "profile", "run tests/models/digits_int8.tflite --device model --no-capture --profile @/out", "out", 0, true },
	{ "quantize", "quantize tests/models/digits_float.onnx -o @/out --calibrate @/samples", "out", 0, false },
	{ "capture", "run tests/models/digits_int8.tflite --device rtl --check --plant pe:3,3,2 --capture @/out", "out", 1, false },
	{ "replay", "replay @/digits.wcap --device model", NULL, 1, false },
};

/* Memory that processes share, and the threads of a compiler: a run in segments has both. */
static const struct operation segments = { "run in segments", "run tests/models/digits_int8.tflite --device model --check --no-capture --jobs 2 -o @", OUT, 0, false };

static void maps_and_threads(void **state)
{
	(void)state;
	points(&segments, FAIL_MAP | FAIL_THREAD, "maps and threads");
}

static void each(unsigned kinds, const char *what)
{
	for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
		if (strstr(operations[i].line, "--device rtl") && !test_have_rtl("w16"))
			continue;
		points(&operations[i], kinds, what);
	}
}

static void memory(void **state) { (void)state; each(FAIL_MEMORY, "allocations"); }
static void files(void **state) { (void)state; each(FAIL_FILES, "files"); }

/* ---- files that operations read ---- */

static void write_as(const char *name, const void *data, size_t n)
{
	char path[256];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	assert_int_equal(weft_file_write(path, data, n), 0);
}

/* Twenty operators of int8, of five kinds, some on the array's neighbours and some on the host. */
static void make_tflite(void)
{
	static const int32_t dim[] = { 1, 4, 4, 8 };
	struct tb *b = calloc(1, sizeof *b);
	size_t n;
	int t = tb_add(b, TFL_INT8, 4, dim, 0.05f, 3), x = t;

	b->in[b->n_in++] = x;
	for (int i = 0; i < 20; i++) {
		static const int codes[] = { TFL_CODE_RELU, TFL_ADD, TFL_CODE_TANH, TFL_LOGISTIC, TFL_MUL };
		const int code = codes[i % 5], y = tb_add(b, TFL_INT8, 4, dim, code == TFL_CODE_TANH ? 0x1p-7f : code == TFL_LOGISTIC ? 0x1p-8f : 0.05f,
		                                          code == TFL_CODE_TANH ? 0 : code == TFL_LOGISTIC ? -128 : 3);
		struct tb_op *o = tb_op(b, code, 0);
		o->in[o->n_in++] = t;
		if (code == TFL_ADD || code == TFL_MUL)
			o->in[o->n_in++] = x;
		o->out[o->n_out++] = t = y;
	}
	b->out[b->n_out++] = t;
	uint8_t *p = tb_file(b, &n);
	write_as("deep.tflite", p, n);
	free(p);
	free(b);
}

/* Twenty nodes of float32. */
static void make_onnx(void)
{
	static const char *const types[] = { "Abs", "Add", "Relu", "Sigmoid", "Mul", "Tanh", "Neg", "Floor", "Exp", "Sub" };
	static const int64_t dim[] = { 2, 8 };
	struct ob g = { 0 }, model = { 0 };
	char from[16] = "x", to[16];

	for (int i = 0; i < 20; i++) {
		const char *type = types[i % 10];
		const bool two = strlen(type) == 3 && strchr("AMS", *type) && strcmp(type, "Abs");
		char in[20];
		snprintf(to, sizeof to, i == 19 ? "y" : "v%d", i);
		snprintf(in, sizeof in, two ? "%s x" : "%s", from);
		ob_node(&g, type, in, to, NULL);
		strcpy(from, to);
	}
	ob_port(&g, 11, "x", 1, 2, dim);
	ob_port(&g, 12, "y", 1, 2, dim);
	ob_model(&model, &g, 13);
	write_as("deep.onnx", model.p, model.n);
	free(model.p);
}

/* Runs a command whose result other operations read. */
static void prepare(const char *line, int status)
{
	const struct operation op = { line, line, NULL, status, false };
	struct result r;
	long calls;

	run(&op, 0, 0, false, &r, &calls);
	if (r.status != status)
		fail_msg("%s: exit %d: %s", line, r.status, r.err);
	drop(&r);
}

/*
 * New firmware for a card: whatever failed, the card can be asked and updated afterwards (the next point does), and what its
 * flash says to start is an image that was whole.
 */
static void updates(void **state)
{
	static const struct operation update = { "update", "card % --update @/fw.img", NULL, 0, false };

	(void)state;
	points(&update, FAIL_FILES, "files");
	points(&update, FAIL_MEMORY, "allocations");
	prepare("card %", 0);
}

static int setup(void **state)
{
	weft_tensor t = { .dtype = WEFT_FP32, .rank = 4, .dim = { 1, 1, 8, 8, 1, 1, 1, 1 } };
	float values[64];
	char path[256], msg[WEFT_NPY_MSG];

	(void)state;
	test_path(dir, sizeof dir, "failures-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/samples", dir);
	assert_int_equal(mkdir(path, 0777), 0);
	for (int i = 0; i < 64; i++)
		values[i] = (float)(i * 7 % 17);
	t.data = values;
	snprintf(path, sizeof path, "%s/samples/0_image.npy", dir);
	assert_int_equal(weft_npy_write(path, &t, msg), 0);
	weft_tensor x = { .dtype = WEFT_INT8, .rank = 4, .dim = { 1, 8, 8, 1, 1, 1, 1, 1 }, .data = values };
	snprintf(path, sizeof path, "%s/0_x.npy", dir);
	assert_int_equal(weft_npy_write(path, &x, msg), 0);
	make_tflite();
	make_onnx();
	card_process_start(&card, "FAIL1", NULL);
	size_t n;
	uint8_t *image = card_file("weft-fw.img", &n);
	write_as("fw.img", image, n);
	free(image);
	prepare("convert @/deep.tflite -o @/deep.tosa", 0);
	prepare("compile tests/models/digits_int8.tflite -o @/digits.weft", 0);
	if (test_have_rtl("w16"))
		prepare("run tests/models/digits_int8.tflite --device rtl --check --plant pe:3,3,2 --capture @/digits.wcap", 1);
	return 0;
}

/* Removes the folder. */
static int teardown(void **state)
{
	(void)state;
	card_process_stop(&card);
	return shell("rm -rf %s", dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files), cmocka_unit_test(maps_and_threads), cmocka_unit_test(memory), cmocka_unit_test(updates),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

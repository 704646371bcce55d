/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft run in segments: the report of one process but for cycles; checkpoints
 * as files for GNU parallel; and what must be noticed: a fault in a segment, a
 * segment that ends elsewhere than the next begins, a damaged file.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <cjson/cJSON.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/file.h"
#include "../support/level.h"
#include "userlib/segment/segment.h"

static char dir[128];

/* $D: a folder of our own, $W: the command, $M: the digits. Exit status. */
static int sh(const char *command)
{
	int status = system(command);

	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static char *slurp(const char *path, size_t *n)
{
	char *text = test_file(path, n);

	assert_non_null(text);
	return text;
}

static cJSON *json_of(const char *name)
{
	char path[256];
	size_t n;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	char *text = slurp(path, &n);
	cJSON *j = cJSON_Parse(text);
	assert_non_null(j);
	free(text);
	return j;
}

/* Everything but what depends on time. */
static void strip(cJSON *j)
{
	static const char *const timely[] = { "cycles", "utilization", "seconds", "sim_cycles_per_second" };
	cJSON *op;

	for (size_t i = 0; i < sizeof(timely) / sizeof(*timely); i++)
		cJSON_DeleteItemFromObject(j, timely[i]);
	cJSON_ArrayForEach(op, cJSON_GetObjectItem(j, "ops")) {
		cJSON_DeleteItemFromObject(op, "cycles");
		cJSON_DeleteItemFromObject(op, "utilization");
	}
}

static double number(const cJSON *j, const char *name)
{
	return cJSON_GetNumberValue(cJSON_GetObjectItem(j, name));
}

static void same_report(const char *model, const char *device, int jobs)
{
	char command[4096];

	snprintf(command, sizeof(command), "$W run %s --device %s --check --memory sram --json -o $D/out >$D/one.json && mv $D/out $D/one && "
	         "$W run %s --device %s --check --memory sram --json --jobs %d -o $D/out >$D/parts.json && diff -r $D/one $D/out && "
	         "rm -r $D/one $D/out", model, device, model, device, jobs);
	if (sh(command))
		fail_msg("%s on %s", model, device);
	cJSON *one = json_of("one.json"), *parts = json_of("parts.json");
	/* Segments do not overlap, so they take longer, but not by much. */
	if (!strcmp(device, "rtl")) {
		assert_true(number(parts, "cycles") >= number(one, "cycles"));
		assert_true(number(parts, "cycles") <= 1.5 * number(one, "cycles") + 1000 * jobs);
	}
	strip(one);
	strip(parts);
	char *a = cJSON_Print(one), *b = cJSON_Print(parts);
	if (strcmp(a, b))
		fail_msg("%s, %d segments on %s: the reports differ", model, jobs, device);
	assert_true(number(cJSON_GetObjectItem(one, "check"), "elements") > 0);
	cJSON_free(a);
	cJSON_free(b);
	cJSON_Delete(one);
	cJSON_Delete(parts);
}

/* Networks with one and with many steps, cut into few and many parts. */
static void report_is_the_same_model(void **state)
{
	static const char *const files[] = { "mlperf_tiny/kws_ref_model.tflite", "coral_test_data/mobilenet_v1_0.25_128_quant.tflite",
		"mlperf_tiny/ad01_int8.tflite", "tflite_micro/person_detect.tflite" };
	struct stat st;
	char path[4096];

	(void)state;
	same_report("$M", "model", 1);
	same_report("$M", "model", 4);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(path, sizeof(path), "%s/%s", test_data(), files[i]);
		if (!stat(path, &st))
			same_report(path, "model", i % 2 ? 12 : 3);
	}
}

static void report_is_the_same_rtl(void **state)
{
	char path[4096];
	struct stat st;

	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	same_report("$M", "rtl", 2);
	snprintf(path, sizeof(path), "%s/mlperf_tiny/vww_96_int8.tflite", test_data());
	if (!stat(path, &st))
		same_report(path, "rtl", 5);
}

static void parallel(void **state)
{
	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	if (sh("command -v parallel >/dev/null")) {
		printf("GNU parallel is not installed (package parallel)\n");
		skip();
	}
	assert_int_equal(sh("$W run $M --device rtl --check --jobs 3 --checkpoints $D/ck >$D/out && grep -q '3 checkpoints' $D/out"), 0);
	assert_int_equal(sh("parallel --will-cite -j 2 $W run --device rtl --segment {} ::: $D/ck/*.seg >$D/lines"), 0);
	assert_int_equal(sh("[ $(grep -c ' 0 mismatches' $D/lines) = 3 ]"), 0);
	/* One of them fails: so does parallel. */
	assert_int_equal(sh("parallel --will-cite -j 2 $W run --device rtl --plant pe:0,0,12 --segment {} ::: $D/ck/000.seg "
	                    ">$D/lines 2>$D/err"), 1);
}

static void fault_is_found(void **state)
{
	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	assert_int_equal(sh("$W run $M --device rtl --check --jobs 2 --plant pe:2,3,9 --no-capture >$D/out 2>$D/err"), 1);
	assert_int_equal(sh("grep -q 'first difference: operator' $D/err"), 0);
	/* Without golden as well: the next segment's state is compared with. */
	assert_int_equal(sh("$W run $M --device rtl --jobs 2 --plant pe:2,3,9 --no-capture >$D/out 2>$D/err"), 1);
	assert_int_equal(sh("grep -q 'does not end where the next begins' $D/err"), 0);
}

/* $L in the background, and something done to it, $p, while its segments $1 and $2 run. Its exit status; 99: one of them still works. */
static int after(const char *what)
{
	char command[1024];

	snprintf(command, sizeof(command), "mkdir -p $D/tmp; TMPDIR=$D/tmp $W run $L --device rtl --check --jobs 2 --no-capture >$D/out 2>$D/err & p=$!; "
	         "for i in $(seq 6000); do set -- $(cat /proc/$p/task/$p/children); [ $# = 2 ] && break; sleep 0.01; done; %s; "
	         "wait $p; s=$?; for i in $(seq 1000); do grep -qs '^State:.[^Z]' /proc/$1/status /proc/$2/status || exit $s; sleep 0.01; done; exit 99", what);
	return sh(command);
}

static void somebody_dies(void **state)
{
	char path[4096];
	struct stat st;

	(void)state;
	snprintf(path, sizeof(path), "%s/hapv3/mobilenet_v2_224_int8.tflite", test_data());
	if (!test_have_rtl("w16") || stat(path, &st)) {
		printf("%s and the RTL at w16 are needed\n", path);
		skip();
	}
	assert_int_equal(setenv("L", path, 1), 0);
	assert_int_equal(after("kill -9 $1"), 3);
	assert_int_equal(sh("grep -q 'segment 1 of 2: ended by signal 9' $D/err"), 0);
	/* Segments do not survive the parent. */
	assert_int_equal(after("kill -9 $p"), 128 + 9);
	/* Stopped like any other run: no segment goes on, and no file is left. */
	assert_int_equal(after("kill -TERM $p"), 128 + 15);
	assert_int_equal(sh("rmdir $D/tmp"), 0);
}

static void rewrite(const char *name, int what)
{
	char path[256], msg[WEFT_MSG_LEN];
	struct weft_segment g;
	uint8_t *out;
	size_t n;

	snprintf(path, sizeof(path), "%s/ck1/000.seg", dir);
	char *data = slurp(path, &n);
	assert_int_equal(weft_segment_read((uint8_t *)data, n, &g, msg), 0);
	if (what == 0)
		g.to.arena[g.arena_bytes / 2] ^= 1;
	else if (what == 1)
		g.to.sp[g.sp_bytes - 1] ^= 0x80;
	else if (what == 2)
		g.from.at.cmd = 1 << 30;
	else
		g.n_inputs = 1;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(weft_segment_write(&g, &out, &n), 0);
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(out, 1, n, f), n);
	fclose(f);
	free(out);
	free(data);
	weft_segment_free(&g);
}

static void bad_files(void **state)
{
	(void)state;
	assert_int_equal(sh("$W run $M --device model --check --jobs 2 --checkpoints $D/ck1 >/dev/null"), 0);
	assert_int_equal(sh("$W run --device model --segment $D/ck1/000.seg >/dev/null"), 0);
	rewrite("arena", 0);
	assert_int_equal(sh("$W run --device model --segment $D/arena >/dev/null 2>$D/err"), 1);
	assert_int_equal(sh("grep -q 'does not end where the next begins: memory' $D/err"), 0);
	rewrite("sp", 1);
	assert_int_equal(sh("$W run --device model --segment $D/sp >/dev/null 2>$D/err"), 1);
	assert_int_equal(sh("grep -q 'does not end where the next begins: scratchpad' $D/err"), 0);
	rewrite("point", 2);
	assert_int_equal(sh("$W run --device model --segment $D/point >/dev/null 2>$D/err"), 2);
	rewrite("inputs", 3);
	assert_int_equal(sh("$W run --device model --segment $D/inputs >/dev/null 2>$D/err"), 2);
	assert_int_equal(sh("head -c 2000 $D/ck1/000.seg >$D/short; $W run --segment $D/short 2>$D/err"), 2);
	assert_int_equal(sh("$W run --segment $D/none 2>$D/err"), 2);
	assert_int_equal(sh("$W run --segment $M 2>$D/err; [ $? = 2 ] && [ $(wc -l <$D/err) = 1 ]"), 0);
	assert_int_equal(sh("$W run $M --jobs 0 2>$D/err"), 2);
	assert_int_equal(sh("$W run $M --checkpoints $D/x 2>$D/err"), 2);
}

static int open_dir(void **state)
{
	char weft[4096];

	(void)state;
	snprintf(weft, sizeof(weft), "%s/weft", test_env("WEFT_BUILD", "build"));
	test_path(dir, sizeof(dir), "segments-XXXXXX");
	return !mkdtemp(dir) || setenv("D", dir, 1) || setenv("W", weft, 1) || setenv("M", "tests/models/digits_int8.tflite", 1);
}

static int close_dir(void **state)
{
	(void)state;
	return sh("rm -rf $D");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(report_is_the_same_model), cmocka_unit_test(report_is_the_same_rtl), cmocka_unit_test(parallel),
		cmocka_unit_test(fault_is_found), cmocka_unit_test(somebody_dies), cmocka_unit_test(bad_files),
	};

	return cmocka_run_group_tests(tests, open_dir, close_dir);
}

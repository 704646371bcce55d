/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What make bench stands on: the written networks are right and always the
 * same, weft bench says what it measured as JSON, and the page is drawn.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include <weft/weft.h>

#include "tests/support/file.h"
#include "tests/support/level.h"

static char dir[128];

/* Exit status of a command; $D is the folder of this test, $W the program. */
static int sh(const char *command)
{
	int status = system(command);

	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int setup(void **state)
{
	char weft[4096];

	(void)state;
	snprintf(weft, sizeof(weft), "%s/weft", test_env("WEFT_BUILD", "build"));
	test_path(dir, sizeof(dir), "bench-XXXXXX");
	if (!mkdtemp(dir) || setenv("D", dir, 1) || setenv("W", weft, 1))
		return -1;
	return sh("python3 -B tools/train/standard_nets.py --tiny $D/nets");
}

static int teardown(void **state)
{
	(void)state;
	return sh("rm -r $D");
}

static char *slurp(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	char *text = test_file(path, NULL);
	assert_non_null(text);
	assert_true(*text);
	return text;
}

static cJSON *json_of(const char *name)
{
	char *text = slurp(name);
	const char *end = NULL;
	cJSON *j = cJSON_ParseWithOpts(text, &end, false);

	assert_non_null(j);
	assert_string_equal(end + strspn(end, "\n"), "");  /* one object, nothing else */
	free(text);
	return j;
}

static double number(const cJSON *j, const char *field)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(j, field);

	if (!cJSON_IsNumber(v))
		fail_msg("no number \"%s\"", field);
	return v->valuedouble;
}

static const char *string(const cJSON *j, const char *field)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(j, field);

	if (!cJSON_IsString(v))
		fail_msg("no string \"%s\"", field);
	return v->valuestring;
}

static cJSON *list(const cJSON *j, const char *field, int n)
{
	cJSON *v = cJSON_GetObjectItemCaseSensitive(j, field);

	assert_true(cJSON_IsArray(v));
	assert_int_equal(cJSON_GetArraySize(v), n);
	return v;
}

static void writes_the_same_twice(void **state)
{
	(void)state;
	assert_int_equal(sh("python3 -B tools/train/standard_nets.py --tiny $D/again"), 0);
	assert_int_equal(sh("test $(ls $D/nets | wc -l) = 2 && diff -r $D/nets $D/again"), 0);
	assert_int_not_equal(sh("python3 -B tools/train/standard_nets.py 2>/dev/null"), 0);
}

/* Every element checked; no tensor collapses, and those behind
 * a convolution or addition span 40 of the 255 steps even in so small a net. */
static void runs_and_fills_int8(const char *file, size_t n_tensors)
{
	struct weft_session_options o = weft_session_options_default();
	char path[256], msg[WEFT_MSG_LEN] = "";
	static int8_t input[40 * 40 * 3];
	struct weft_report *r = NULL;
	struct weft_port p;
	weft_tensor out = { 0 };
	weft_session *s;
	weft_net *net;
	uint32_t x = 1;

	snprintf(path, sizeof(path), "%s/nets/%s", dir, file);
	assert_int_equal(weft_net_load_file(path, &net, msg), 0);
	assert_int_equal(weft_net_input(net, 0, &p), 0);
	assert_int_equal(p.rank, 4);
	for (size_t i = 0; i < sizeof(input); i++)
		input[i] = (int8_t)((x = x * 1664525 + 1013904223) >> 24);
	weft_tensor in = { .dtype = p.dtype, .rank = p.rank, .data = input };
	memcpy(in.dim, p.dim, sizeof(in.dim));
	assert_true(weft_tensor_bytes(&in) <= sizeof(input));
	o.check = o.keep = true;
	assert_int_equal(weft_session_open(net, &o, &s, msg), 0);
	assert_int_equal(weft_session_run(s, &in, &out, &r, msg), 0);
	assert_int_equal(r->mismatches, 0);
	assert_true(r->tensors >= n_tensors);
	for (int i = 0; i < weft_session_n_kept(s); i++) {
		struct weft_kept k;
		assert_int_equal(weft_session_kept(s, i, &k), 0);
		if (!k.tensor || k.tensor->dtype != WEFT_INT8 || k.op < 0 || k.internal)
			continue;
		const int8_t *v = k.tensor->data;
		int low = 127, high = -128;
		for (int64_t e = 0; e < weft_tensor_elements(k.tensor); e++) {
			low = v[e] < low ? v[e] : low;
			high = v[e] > high ? v[e] : high;
		}
		int least = strncmp(k.name, "conv", 4) && strncmp(k.name, "depth", 5) && strncmp(k.name, "add", 3) ? 10 : 40;
		if (high - low < least)
			fail_msg("%s: %s has only %d to %d", file, k.name, low, high);
	}
	weft_tensor_release(&out);
	weft_report_free(r);
	weft_session_close(s);
	weft_net_free(net);
}

static void networks_run(void **state)
{
	(void)state;
	runs_and_fills_int8("resnet_tiny_int8.tflite", 15);
	runs_and_fills_int8("mobilenet_tiny_int8.tflite", 11);
}

static void check_network(const cJSON *n)
{
	const cJSON *op;
	double macs = 0, estimate = 0;

	assert_true(number(n, "cycles") > 0 && number(n, "macs") > 0 && number(n, "sim_cycles_per_second") > 0);
	assert_true(number(n, "dram_read_bytes") > 0 && number(n, "dram_write_bytes") > 0);
	assert_true(number(n, "bound") == (double)(uint64_t)(number(n, "macs") / 256));
	assert_float_equal(number(n, "utilization"), number(n, "macs") / number(n, "cycles") / 256, 1e-6);
	assert_string_equal(string(n, "config"), "w16");
	cJSON_ArrayForEach(op, cJSON_GetObjectItem(n, "ops")) {
		string(op, "name");
		assert_true(strlen(string(op, "op")) > 0 && number(op, "index") >= 0);
		assert_true(number(op, "cycles") == 0 || number(op, "utilization") >= 0);
		number(op, "dram_read_bytes");
		number(op, "dram_write_bytes");
		if (!strcmp(string(op, "unit"), "npu"))
			macs += number(op, "macs");
		estimate += number(op, "estimate");
	}
	assert_true(macs == number(n, "macs"));
	/* The stream's end comes a little after the last operator's. */
	assert_true(estimate > 0 && estimate <= number(n, "estimate") && estimate >= number(n, "estimate") - 100);
}

static void says_what_it_measured(void **state)
{
	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	assert_int_equal(sh("printf '# file\\tmemory\\tnetwork\\ttarget\\tA-256\\tB-256\\tC-128\\n"
	                    "resnet_tiny_int8.tflite\\tddr\\tsmall one\\t99\\t120\\t110.5\\t7\\n' >$D/targets.tsv"), 0);
	assert_int_equal(sh("$W bench --json --note here --targets $D/targets.tsv $D/nets/mobilenet_tiny_int8.tflite "
	                    "$D/nets/none.tflite --memory=ddr $D/nets/resnet_tiny_int8.tflite >$D/b.json 2>$D/err"), 2);
	cJSON *j = json_of("b.json"), *n = list(j, "networks", 3);
	assert_string_equal(string(j, "note"), "here");
	check_network(cJSON_GetArrayItem(n, 0));
	assert_string_equal(string(cJSON_GetArrayItem(n, 0), "memory"), "sram");
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(cJSON_GetArrayItem(n, 0), "target")));
	assert_non_null(strstr(string(cJSON_GetArrayItem(n, 1), "error"), "none.tflite"));
	const cJSON *last = cJSON_GetArrayItem(n, 2);
	check_network(last);
	assert_string_equal(string(last, "memory"), "ddr");
	assert_string_equal(string(last, "name"), "small one");
	assert_true(number(last, "target") == 99000);
	assert_string_equal(string(last, "best_peer"), "B-256");
	assert_true(number(cJSON_GetObjectItem(last, "peers"), "B-256") == 110500);
	cJSON_Delete(j);
}

/* MACs a cycle of the i-th. */
static double rate(const cJSON *micro, int i)
{
	const cJSON *m = cJSON_GetArrayItem(micro, i);

	return number(m, "macs") / number(m, "cycles");
}

/* The table and the file at once; then the page, which fetches nothing. */
static void draws_it(void **state)
{
	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	assert_int_equal(sh("$W bench --micro --save $D/s.json --memory ddr $D/nets/resnet_tiny_int8.tflite >$D/table"), 0);
	char *table = slurp("table");
	assert_non_null(strstr(table, "resnet_tiny_int8.tflite"));
	free(table);
	cJSON *j = json_of("s.json");
	const cJSON *micro = list(j, "micro", 14);
	assert_true(number(cJSON_GetArrayItem(micro, 0), "cycles") > 7056);  /* its bound */
	/* The array works at one rate in all modes; int16 fills two words. */
	assert_true(rate(micro, 4) > 0.99 * rate(micro, 1));
	assert_true(rate(micro, 6) > 0.99 * rate(micro, 1));
	assert_true(rate(micro, 3) >= 0.5 * rate(micro, 0));
	assert_true(rate(micro, 5) >= 0.5 * rate(micro, 0));
	/* Depthwise; few channels; few pixels; what an addition behind a convolution may cost. */
	assert_true(rate(micro, 0) >= 120);
	assert_true(rate(micro, 7) >= 100);
	assert_true(rate(micro, 8) >= 130);
	assert_true(rate(micro, 10) >= rate(micro, 9) / 1.05);
	/* Depthwise 5x5, 7x7, 5x5 in int16. */
	assert_true(rate(micro, 11) >= 60);
	assert_true(rate(micro, 12) >= 60);
	assert_true(rate(micro, 13) >= 60);
	cJSON_Delete(j);
	assert_int_equal(sh("python3 tools/bench_html.py $D/s.json $D/page.html"), 0);
	char *page = slurp("page.html");
	assert_non_null(strstr(page, "resnet_tiny_int8"));
	assert_non_null(strstr(page, "</html>"));
	assert_null(strstr(page, "http"));
	assert_null(strstr(page, "src="));
	assert_null(strstr(page, "url("));
	free(page);
	assert_int_equal(sh("echo '{}' >$D/empty.json; python3 tools/bench_html.py $D/empty.json $D/x.html 2>$D/err"), 1);
	assert_int_equal(sh("test $(wc -l <$D/err) = 1"), 0);
}

static void refuses_bad(void **state)
{
	(void)state;
	assert_int_equal(sh("$W bench 2>$D/err"), 2);
	assert_int_equal(sh("$W bench --memory dram $D/nets/resnet_tiny_int8.tflite 2>$D/err"), 2);
	assert_int_equal(sh("$W bench --targets $D/no.tsv $D/nets/resnet_tiny_int8.tflite 2>$D/err"), 2);
	assert_int_equal(sh("printf '# a\\tb\\tc\\td\\te\\nfile\\tsram\\tname\\tmany\\t1\\n' >$D/bad.tsv; "
	                    "$W bench --targets $D/bad.tsv $D/nets/resnet_tiny_int8.tflite 2>$D/err"), 2);
	char *err = slurp("err");
	assert_non_null(strstr(err, "bad.tsv: line 2"));
	free(err);
}

/* Golden and the model are timed without the RTL, and a file that is no network is refused. */
static void host_times(void **state)
{
	(void)state;
	assert_int_equal(sh("python3 -B tools/train/speed_nets.py $D/speed"), 0);
	assert_int_equal(sh("$W bench --json --golden $D/speed/tanh_int8.tflite --model $D/nets/mobilenet_tiny_int8.tflite > $D/times.json"), 0);
	char *text = slurp("times.json");
	cJSON *j = cJSON_Parse(text);
	static const char *const names[] = { "golden tanh_int8.tflite", "golden tanh_int8.tflite", "open golden tanh_int8.tflite",
		"model mobilenet_tiny_int8.tflite", "model mobilenet_tiny_int8.tflite", "open model mobilenet_tiny_int8.tflite" };

	const cJSON *host = cJSON_GetObjectItem(j, "host");
	assert_int_equal(cJSON_GetArraySize(host), sizeof(names) / sizeof(*names));
	for (int i = 0; i < cJSON_GetArraySize(host); i++) {
		const cJSON *h = cJSON_GetArrayItem(host, i);
		assert_string_equal(cJSON_GetObjectItem(h, "name")->valuestring, names[i]);
		if (i % 3 == 0 || i == 4)      /* TANH alone multiplies nothing */
			assert_true(cJSON_GetObjectItem(h, "value")->valuedouble > 0);
	}
	cJSON_Delete(j);
	free(text);
	assert_int_equal(sh("$W bench --json --golden tests/models/README.md > /dev/null 2> /dev/null"), 2);
}

/* make bench-speed without a peer: our figure stands alone, and a row that cannot be measured fails the run. */
static void speed_rows(void **state)
{
	(void)state;
	assert_int_equal(sh("cd $D && mkdir -p alone && T=$OLDPWD && case $W in /*) P=$W;; *) P=$T/$W;; esac && O=alone WEFT_DATA=none "
	                    "WEFT_VENV=none python3 -B $T/tools/bench_speed.py --weft $P --rounds 1 --only tanh_int8 --save speed.json > /dev/null 2>&1"), 0);
	char *text = slurp("speed.json");
	cJSON *j = cJSON_Parse(text), *rows = cJSON_GetObjectItem(j, "rows");

	assert_int_equal(cJSON_GetArraySize(rows), 1);
	const cJSON *row = cJSON_GetArrayItem(rows, 0);
	assert_string_equal(cJSON_GetObjectItem(row, "name")->valuestring, "tanh_int8.tflite");
	assert_true(cJSON_GetObjectItem(row, "value")->valuedouble > 0);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(row, "peers")), 0);
	cJSON_Delete(j);
	free(text);
	assert_int_equal(sh("python3 -B tools/bench_speed.py --weft /bin/false --rounds 1 > /dev/null 2>&1"), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_the_same_twice),
		cmocka_unit_test(networks_run),
		cmocka_unit_test(says_what_it_measured),
		cmocka_unit_test(draws_it),
		cmocka_unit_test(refuses_bad),
		cmocka_unit_test(host_times),
		cmocka_unit_test(speed_rows),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registers, words, log and reset from the command line, on the RTL and on a
 * simulated card: everything that the specification names is there, and a job
 * changes only what the specification says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "tests/support/card.h"
#include "tests/support/card_process.h"
#include "tests/support/file.h"
#include "tests/support/level.h"
#include "weft/gen/regs.h"

#define MODEL "tests/models/digits_int8.tflite"
#define TEXT 65536

static char text[TEXT], before[128], after[128];

static cJSON *registers(const char *device)
{
	int status = run_line(text, TEXT, "regs --json %s", device);

	if (status)
		fail_msg("%s: %d: %s", device, status, text);
	cJSON *j = cJSON_Parse(text);
	assert_non_null(j);
	return j;
}

static const cJSON *find(const cJSON *j, const char *name)
{
	const cJSON *r;

	cJSON_ArrayForEach(r, cJSON_GetObjectItemCaseSensitive(j, "registers"))
		if (!strcmp(cJSON_GetObjectItemCaseSensitive(r, "name")->valuestring, name))
			return r;
	return NULL;
}

/* The specification itself, line by line: [reg.NAME], array = ..., fields = { a = ..., b = ... }. */
static int named_as_specified(const cJSON *j)
{
	FILE *f = fopen("include/spec/regs.toml", "r");
	char line[512], name[64] = "", indexed[80] = "";
	int n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof line, f)) {
		if (sscanf(line, "[reg.%63[a-z0-9_]]", name) == 1) {
			snprintf(indexed, sizeof indexed, "%s", name);
		} else if (!strncmp(line, "array", 5)) {
			snprintf(indexed, sizeof indexed, "%s[7]", name);
		} else if (!strncmp(line, "doc", 3)) {
			if (!find(j, indexed))
				fail_msg("register %s is not named", indexed);
			n++;
		} else if (!strncmp(line, "fields", 6)) {
			const cJSON *fields = cJSON_GetObjectItemCaseSensitive(find(j, indexed), "fields");
			for (char *p = strchr(line, '{') + 1; p; p = strstr(p, "],")) {
				char field[32];
				assert_int_equal(sscanf(p, *p == ']' ? "], %31[a-z0-9_]" : " %31[a-z0-9_]", field), 1);
				if (!cJSON_GetObjectItemCaseSensitive(fields, field))
					fail_msg("%s.%s is not named", indexed, field);
				p++;
				n++;
			}
		}
	}
	fclose(f);
	return n;
}

static void check_names(const char *device)
{
	cJSON *j = registers(device);
	int fields = 0;

	for (size_t i = 0; i < WEFT_N_REGS; i++)
		fields += weft_reg_list()[i].n_fields;
	assert_int_equal(named_as_specified(j), (int)WEFT_N_REGS + fields);
	cJSON_Delete(j);
}

static void value_of(const cJSON *j, const char *name, double *value)
{
	const cJSON *r = find(j, name);

	assert_non_null(r);
	*value = cJSON_GetObjectItemCaseSensitive(r, "value")->valuedouble;
}

/* Two dumps, straight from the files: only registers with "job" differ; some do. */
static void only_what_a_job_changes(const char *file_a, const char *file_b)
{
	const char *const files[] = { file_a, file_b };
	cJSON *j[2];
	int changed = 0;

	for (int i = 0; i < 2; i++) {
		char *whole = test_file(files[i], NULL);
		assert_non_null(whole);
		j[i] = cJSON_Parse(whole);
		assert_non_null(j[i]);
		free(whole);
	}
	for (size_t i = 0; i < WEFT_N_REGS; i++) {
		for (unsigned k = 0; k < weft_reg_list()[i].count; k++) {
			char name[64];
			double a, b;
			snprintf(name, sizeof name, weft_reg_list()[i].count > 1 ? "%s[%u]" : "%s", weft_reg_list()[i].name, k);
			value_of(j[0], name, &a);
			value_of(j[1], name, &b);
			if (a != b && !weft_reg_list()[i].job)
				fail_msg("%s was %f, is %f: nothing says that a job changes it", name, a, b);
			changed += a != b;
		}
	}
	double done, cycles, words;
	value_of(j[1], "status", &done);
	value_of(j[1], "cnt_cycles", &cycles);
	value_of(j[1], "stream_words", &words);
	assert_true(done == WEFT_REG_STATUS_DONE_MASK && cycles > 1000 && words > 50 && changed > 15);
	cJSON_Delete(j[0]);
	cJSON_Delete(j[1]);
}

/* The differences as printed: each says who may change it. */
static void check_diff(const char *device)
{
	assert_int_equal(run_line(text, TEXT, "regs --diff %s %s", before, device), 1);
	assert_non_null(strstr(text, "status.done: 1, was 0 (a job changes it)\n"));
	assert_non_null(strstr(text, "win_ctrl[2].write: 1, was 0 (written for a job)\n"));
	assert_null(strstr(text, "nothing but"));
	assert_null(strstr(text, "0x008"));
}

static void rtl(void **state)
{
	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	check_names("--device rtl");
	assert_int_equal(run_line(text, TEXT, "regs --device rtl --diff RESET"), 0);
	assert_string_equal(text, "nothing differs\n");
	assert_int_equal(run_line(text, TEXT, "regs --device rtl -o %s", before), 0);
	assert_int_equal(run_line(text, TEXT, "run " MODEL " --device rtl --regs %s", after), 0);
	only_what_a_job_changes(before, after);
	/* The other way round: a new device against that of the run. */
	assert_int_equal(run_line(text, TEXT, "regs --device rtl --diff %s", after), 1);
	assert_non_null(strstr(text, "status.done: 0, was 1 (a job changes it)\n"));
	assert_null(strstr(text, "nothing but"));
	assert_int_equal(run_line(text, TEXT, "peek version --device rtl"), 0);
	assert_string_equal(text, "0x00000004  00010001\n");
}

static void simulated_card(const char *chip)
{
	char *const extra[] = { "--chip", (char *)(uintptr_t)chip, NULL };
	struct card_process c;
	char at[160];

	card_process_start(&c, "REGS", extra);
	snprintf(at, sizeof at, "%s", c.device);
	check_names(at);
	assert_int_equal(run_line(text, TEXT, "regs %s --diff RESET", at), 0);
	assert_int_equal(run_line(text, TEXT, "regs %s -o %s", at, before), 0);
	assert_int_equal(run_line(text, TEXT, "run " MODEL " --device %s", at), 0);
	assert_int_equal(run_line(text, TEXT, "regs %s -o %s", at, after), 0);
	only_what_a_job_changes(before, after);
	check_diff(at);
	/* Words: of registers by name, of memory, where what one client writes is not there for the next. */
	assert_int_equal(run_line(text, TEXT, "poke win_size[7] 0x1230 %s", at), 0);
	assert_int_equal(run_line(text, TEXT, "peek 0x178 %s", at), 0);
	assert_string_equal(text, "0x00000178  00001230\n");
	assert_int_equal(run_line(text, TEXT, "poke mem:0x40004 0xabcd1234 %s", at), 0);
	assert_int_equal(run_line(text, TEXT, "peek mem:0x40000 2 %s", at), 0);
	assert_string_equal(text, "0x00040000  00000000 00000000\n");
	assert_int_equal(run_line(text, TEXT, "poke ctrl 1 %s", at), 3);
	assert_string_equal(text, "weft: card: reg_write: no register there, or it may not be written\n");
	assert_int_equal(run_line(text, TEXT, "peek mem:0 %s", at), 3);
	assert_non_null(strstr(text, "weft: card: memory at 0x0: the host may use 0x10000 to "));
	/* The log tells of the reset, which brings the reset values back. */
	assert_int_equal(run_line(text, TEXT, "log %s", at), 0);
	assert_null(strstr(text, "start 2 since power"));
	assert_int_equal(run_line(text, TEXT, "reset %s", at), 0);
	assert_int_equal(run_line(text, TEXT, "log %s", at), 0);
	assert_non_null(strstr(text, "start 2 since power, cause 3 (the host asked for it over USB)"));
	assert_int_equal(run_line(text, TEXT, "regs %s --diff RESET", at), 0);
	card_process_stop(&c);
}

static void card(void **state)
{
	(void)state;
	simulated_card("model");
}

/* The Verilated chip, with the same firmware. */
static void chip(void **state)
{
	(void)state;
	if (!card_rtl("w16"))
		skip();
	simulated_card("rtl");
}

static void refused_bad(void **state)
{
	static const struct { const char *line, *says; } lines[] = {
		{ "regs --device model", "weft: model has no registers; --device rtl or usb\n" },
		{ "regs --device golden", "weft: golden is no device\n" },
		{ "regs --device rtl --diff /nowhere", "weft: /nowhere: No such file or directory\n" },
		{ "regs --device rtl --diff " MODEL, "weft: " MODEL ": not a dump of weft regs\n" },
		{ "peek foo", "weft: \"foo\" is no register, no mem:ADDRESS and no sp:ADDRESS, multiples of 4\n" },
		{ "peek 0x16", "weft: \"0x16\" is no register, no mem:ADDRESS and no sp:ADDRESS, multiples of 4\n" },
		{ "peek win_size[8]", "weft: \"win_size[8]\" is no register, no mem:ADDRESS and no sp:ADDRESS, multiples of 4\n" },
		{ "peek 0x400", "weft: 0x400: registers end at 0x400; card memory is mem:0x400\n" },
		{ "peek 0x3fc 2", "weft: peek: 2 words from 0x3fc\n" },
		{ "peek mem:0 --device model", "weft: model shows no memory of its own\n" },
		{ "poke sp:0 1 --device model", "weft: model shows no scratchpad that would keep it\n" },
		{ "poke status", "weft: poke: wants an ADDRESS and a VALUE\n" },
		{ "poke status 0x100000000", "weft: poke: VALUE: \"0x100000000\" is not a number from 0 to 4294967295\n" },
		{ "log --device model", "weft: model shows no log: it has no firmware\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		if (strstr(lines[i].line, "rtl") && !test_have_rtl("w16"))
			continue;
		int status = run_line(text, TEXT, "%s", lines[i].line);
		if (status != 2 || strcmp(text, lines[i].says))
			fail_msg("%s: exit status %d: %s", lines[i].line, status, text);
	}
}

static int drop(void **state)
{
	(void)state;
	unlink(before);
	unlink(after);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(rtl), cmocka_unit_test(card), cmocka_unit_test(chip),
		cmocka_unit_test(refused_bad) };

	test_path(before, sizeof before, "regs-%d-a.json", (int)getpid());
	test_path(after, sizeof after, "regs-%d-b.json", (int)getpid());
	return cmocka_run_group_tests(tests, NULL, drop);
}

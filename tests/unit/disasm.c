/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The printed form of a command says all of it: random commands are printed,
 * the text is read back field by field, and both must encode to the same words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/gen/cmd.h>

static uint64_t next(uint64_t *s)
{
	/* splitmix64 */
	uint64_t z = *s += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* A value within the range, often one of its ends or zero. */
static int64_t value_of(uint64_t *s, const struct weft_field_info *f)
{
	uint64_t pick = next(s), span = (uint64_t)f->max - (uint64_t)f->min + 1;

	switch (pick % 8) {
	case 0:
		return f->min;
	case 1:
		return f->max;
	case 2:
		return f->min <= 0 && f->max >= 0 ? 0 : f->min;
	}
	pick = next(s);
	return (int64_t)((uint64_t)f->min + (span ? pick % span : pick));
}

static bool implied(const struct weft_field_info *f)
{
	return !strcmp(f->name, "op") || !strcmp(f->name, "n_words");
}

static void random_command(uint64_t *s, const struct weft_cmd_info *info, struct weft_cmd *c)
{
	weft_cmd_init(c, info->op);
	for (unsigned i = 0; i < info->n_fields; i++)
		if (!implied(&info->fields[i]))
			weft_cmd_set(c, &info->fields[i], value_of(s, &info->fields[i]));
}

static const struct weft_field_info *field_named(const struct weft_cmd_info *info, const char *name)
{
	for (unsigned i = 0; i < info->n_fields; i++)
		if (!strcmp(info->fields[i].name, name))
			return &info->fields[i];
	return NULL;
}

static const struct weft_cmd_info *command_named(const char *name)
{
	for (size_t i = 0; i < WEFT_N_CMDS; i++)
		if (!strcmp(weft_cmd_list()[i].name, name))
			return &weft_cmd_list()[i];
	return NULL;
}

/* Fields that are not named are zero. */
static void assemble(char *text, struct weft_cmd *c)
{
	char *rest = NULL, *word = strtok_r(text, " ", &rest);
	const struct weft_cmd_info *info = word ? command_named(word) : NULL;

	assert_non_null(info);
	memset(c, 0, sizeof(*c));
	c->h.op = info->op;
	while ((word = strtok_r(NULL, " ", &rest))) {
		char *equals = strchr(word, '='), *end;
		const struct weft_field_info *f;

		assert_non_null(equals);
		*equals = '\0';
		f = field_named(info, word);
		if (!f)
			fail_msg("no field is called %s", word);
		weft_cmd_set(c, f, strtoll(equals + 1, &end, 0));
		assert_int_equal(*end, '\0');
	}
}

static void print_and_read_back(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (size_t i = 0; i < WEFT_N_CMDS; i++)
		for (int round = 0; round < 500; round++) {
			uint64_t words[WEFT_CMD_MAX_WORDS] = {0}, again[WEFT_CMD_MAX_WORDS] = {0};
			char text[4096], small[40];
			struct weft_cmd c, back;
			size_t n;
			int len;

			random_command(&seed, &weft_cmd_list()[i], &c);
			n = weft_cmd_encode(&c, words);
			assert_int_equal(weft_cmd_decode(words, n, &back), WEFT_FAULT_NONE);
			len = weft_cmd_print(&back, text, sizeof(text));
			assert_int_equal(len, (int)strlen(text));
			assert_null(strchr(text, '\n'));
			/* A short buffer holds the beginning. */
			assert_int_equal(weft_cmd_print(&back, small, sizeof(small)), len);
			assert_int_equal(strlen(small), len < 39 ? len : 39);
			assert_int_equal(strncmp(small, text, strlen(small)), 0);
			assemble(text, &back);
			assert_int_equal(weft_cmd_encode(&back, again), n);
			assert_memory_equal(words, again, sizeof(words));
		}
}

/* Some lines as they should look. */
static void examples(void **state)
{
	struct weft_cmd c;
	char text[1024];

	(void)state;
	weft_cmd_init(&c, WEFT_CMD_LOAD);
	c.h.tag = 7;
	c.h.wait[WEFT_UNIT_CV] = 3;
	c.load.window = 2;
	c.load.dram_off = 0xabc0;
	c.load.sp_addr = 0x80;
	c.load.row_bytes = 64;
	c.load.dram_stride2 = -256;
	weft_cmd_print(&c, text, sizeof(text));
	assert_string_equal(text, "load tag=7 wait_cv=3 window=2 dram_off=0xabc0 sp_addr=0x80 row_bytes=64 "
			    "n1=1 n2=1 n3=1 dram_stride2=-256");
	weft_cmd_init(&c, WEFT_CMD_END);
	weft_cmd_print(&c, text, sizeof(text));
	assert_string_equal(text, "end");
	c.h.op = 0x99;
	weft_cmd_print(&c, text, sizeof(text));
	assert_non_null(strstr(text, "0x99"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(print_and_read_back),
		cmocka_unit_test(examples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

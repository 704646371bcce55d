/* SPDX-License-Identifier: Apache-2.0 */
/* Commands between words and struct: encode, decode, ranges, text. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weft/gen/cmd.h>
#include <weft/gen/regs.h>

static uint64_t next_random(uint64_t *state)
{
	/* xorshift64*; any mix of bits will do here */
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(0x2545f4914f6cdd1d);
}

/* Any words with a right header survive decode and encode, but for reserved bits. */
static void words_round_trip(void **state)
{
	(void)state;
	uint64_t seed = 1;
	for (size_t i = 0; i < WEFT_N_CMDS; i++) {
		const struct weft_cmd_info *info = &weft_cmd_list()[i];
		for (int round = 0; round < 200; round++) {
			uint64_t w[WEFT_CMD_MAX_WORDS], back[WEFT_CMD_MAX_WORDS];
			struct weft_cmd c;
			for (size_t k = 0; k < info->n_words; k++)
				w[k] = next_random(&seed) & info->used[k];
			w[0] = (w[0] & ~UINT64_C(0xffff)) | info->op | (uint64_t)info->n_words << 8;
			assert_int_equal(weft_cmd_decode(w, info->n_words, &c), WEFT_FAULT_NONE);
			assert_int_equal(c.h.n_words, info->n_words);
			assert_int_equal(weft_cmd_encode(&c, back), info->n_words);
			assert_memory_equal(w, back, info->n_words * sizeof *w);
		}
	}
}

/* Each field at its bounds keeps its value, and alone decides the range check. */
static void fields_at_their_bounds(void **state)
{
	(void)state;
	for (size_t i = 0; i < WEFT_N_CMDS; i++) {
		const struct weft_cmd_info *info = &weft_cmd_list()[i];
		for (size_t k = 2; k < info->n_fields; k++) { /* op and n_words are fixed */
			const struct weft_field_info *f = &info->fields[k];
			const int64_t bounds[] = {f->min, f->max};
			for (size_t b = 0; b < 2; b++) {
				uint64_t w[WEFT_CMD_MAX_WORDS];
				struct weft_cmd c, back;
				weft_cmd_init(&c, info->op);
				weft_cmd_set(&c, f, bounds[b]);
				assert_int_equal(weft_cmd_get(&c, f), bounds[b]);
				assert_int_equal(weft_cmd_check_ranges(&c, NULL, NULL, NULL, NULL), 0);
				assert_int_equal(weft_cmd_encode(&c, w), info->n_words);
				assert_int_equal(weft_cmd_check_reserved(w, NULL, NULL), 0);
				assert_int_equal(weft_cmd_decode(w, info->n_words, &back), WEFT_FAULT_NONE);
				assert_memory_equal(&c, &back, sizeof c);
			}
		}
	}
}

static void out_of_range_bad(void **state)
{
	(void)state;
	struct weft_cmd c;
	const char *field = NULL;
	int64_t value = 0, min = 0, max = 0;
	weft_cmd_init(&c, WEFT_CMD_CONV);
	c.conv.stride_y = 8193;
	assert_int_equal(weft_cmd_check_ranges(&c, &field, &value, &min, &max), -ERANGE);
	assert_string_equal(field, "stride_y");
	assert_int_equal(value, 8193);
	assert_int_equal(min, 1);
	assert_int_equal(max, 8192);
	c.conv.stride_y = 1;
	c.conv.w_zp = -129;
	assert_int_equal(weft_cmd_check_ranges(&c, &field, &value, &min, &max), -ERANGE);
	assert_string_equal(field, "w_zp");
	/* A value too wide for its field is seen before it is cut. */
	c.conv.w_zp = 0;
	c.conv.post.ow = 65536 + 1;
	assert_int_equal(weft_cmd_check_ranges(&c, &field, NULL, NULL, NULL), -ERANGE);
	assert_string_equal(field, "ow");
	c.h.op = 0xee;
	assert_int_equal(weft_cmd_check_ranges(&c, NULL, NULL, NULL, NULL), -EINVAL);
}

static void alignment_bad(void **state)
{
	(void)state;
	struct weft_cmd c;
	const char *field = NULL;
	int64_t value = 0;
	weft_cmd_init(&c, WEFT_CMD_DW);
	c.dw.w_base = 32;
	c.dw.p_base = 24;
	assert_int_equal(weft_cmd_check_align(&c, 8, NULL, NULL), 0);
	assert_int_equal(weft_cmd_check_align(&c, 16, &field, &value), -ERANGE);
	assert_string_equal(field, "p_base");
	assert_int_equal(value, 24);
}

/* Half elements, in a mode where they have two bytes. */
static void elements_bad(void **state)
{
	(void)state;
	struct weft_cmd c;
	const char *field = NULL;
	int64_t value = 0;
	weft_cmd_init(&c, WEFT_CMD_ELT);
	c.elt.in_x_stride = 7;
	assert_int_equal(weft_cmd_elem_bytes(&c, WEFT_ELEM_X), 1);
	assert_int_equal(weft_cmd_check_elems(&c, NULL, NULL), 0);
	c.elt.post.mode = 1;
	assert_int_equal(weft_cmd_elem_bytes(&c, WEFT_ELEM_X), 2);
	assert_int_equal(weft_cmd_check_elems(&c, &field, &value), -ERANGE);
	assert_string_equal(field, "in_x_stride");
	assert_int_equal(value, 7);
	c.elt.in_x_stride = 8;
	assert_int_equal(weft_cmd_check_elems(&c, NULL, NULL), 0);
	weft_cmd_init(&c, WEFT_CMD_CONV);
	c.conv.post.mode = 1;
	c.conv.run_len = c.conv.x_limit = 2;
	c.conv.xb_start = -3;
	assert_int_equal(weft_cmd_check_elems(&c, &field, &value), -ERANGE);
	assert_string_equal(field, "xb_start");
	assert_int_equal(value, -3);
	weft_cmd_init(&c, WEFT_CMD_LOAD);
	assert_int_equal(weft_cmd_check_elems(&c, NULL, NULL), 0);
}

static void header_bad(void **state)
{
	(void)state;
	uint64_t w[WEFT_CMD_MAX_WORDS] = {0};
	struct weft_cmd c;
	weft_cmd_init(&c, WEFT_CMD_LOAD);
	size_t n = weft_cmd_encode(&c, w);
	assert_int_equal(weft_cmd_decode(w, 0, &c), WEFT_FAULT_STREAM_END);
	assert_int_equal(weft_cmd_decode(w, n - 1, &c), WEFT_FAULT_STREAM_END);
	w[0] ^= UINT64_C(1) << 8;
	assert_int_equal(weft_cmd_decode(w, n, &c), WEFT_FAULT_BAD_LEN);
	w[0] = 0xff;
	assert_int_equal(weft_cmd_decode(w, n, &c), WEFT_FAULT_BAD_OP);
	c.h.op = 0xff;
	assert_int_equal(weft_cmd_encode(&c, w), 0);
}

static void reserved_bits_bad(void **state)
{
	(void)state;
	uint64_t w[WEFT_CMD_MAX_WORDS], bits = 0;
	size_t word = 0;
	struct weft_cmd c;
	weft_cmd_init(&c, WEFT_CMD_STORE);
	weft_cmd_encode(&c, w);
	w[6] |= UINT64_C(1) << 63;
	assert_int_equal(weft_cmd_check_reserved(w, &word, &bits), -EINVAL);
	assert_int_equal(word, 6);
	assert_true(bits == UINT64_C(1) << 63);
}

/* The order in which hardware looks: opcode, length, bits, then ranges. */
static void fault_of_a_command(void **state)
{
	(void)state;
	uint64_t w[WEFT_CMD_MAX_WORDS];
	struct weft_cmd c;
	weft_cmd_init(&c, WEFT_CMD_DW);
	size_t n = weft_cmd_encode(&c, w);
	assert_int_equal(weft_cmd_fault(w, n, weft_config_find("w16")), WEFT_FAULT_NONE);
	assert_int_equal(weft_cmd_fault(w, n - 1, weft_config_find("w16")), WEFT_FAULT_STREAM_END);
	c.dw.post.mode = 3;
	c.dw.stride_x = 0;
	weft_cmd_encode(&c, w);
	assert_int_equal(weft_cmd_fault(w, n, weft_config_find("w16")), WEFT_FAULT_BAD_MODE);
	c.dw.post.ow = 0;
	weft_cmd_encode(&c, w);
	assert_int_equal(weft_cmd_fault(w, n, weft_config_find("w16")), WEFT_FAULT_BAD_FIELD);
	weft_cmd_init(&c, WEFT_CMD_DW);
	c.dw.post.mode = 1;
	c.dw.post.out_base = 1;
	weft_cmd_encode(&c, w);
	assert_int_equal(weft_cmd_fault(w, n, weft_config_find("w16")), WEFT_FAULT_BAD_FIELD);
	c.dw.post.mode = 0;
	weft_cmd_encode(&c, w);
	assert_int_equal(weft_cmd_fault(w, n, weft_config_find("w16")), WEFT_FAULT_NONE);
	c.dw.p_base = 8;
	weft_cmd_encode(&c, w);
	assert_int_equal(weft_cmd_fault(w, n, weft_config_find("w16")), WEFT_FAULT_BAD_FIELD);
	assert_int_equal(weft_cmd_fault(w, n, weft_config_find("w8")), WEFT_FAULT_NONE);
	w[0] |= UINT64_C(1) << 16;
	assert_int_equal(weft_cmd_fault(w, n, weft_config_find("w8")), WEFT_FAULT_BAD_FIELD);
	w[0] ^= UINT64_C(1) << 8;
	assert_int_equal(weft_cmd_fault(w, n, weft_config_find("w8")), WEFT_FAULT_BAD_LEN);
	w[0] |= 0xff;
	assert_int_equal(weft_cmd_fault(w, n, weft_config_find("w8")), WEFT_FAULT_BAD_OP);
}

static void text_names_what_is_set(void **state)
{
	(void)state;
	char text[200], cut[8];
	struct weft_cmd c;
	weft_cmd_init(&c, WEFT_CMD_LOAD);
	c.h.tag = 7;
	c.h.wait[WEFT_UNIT_CV] = 3;
	c.load.window = 2;
	c.load.dram_off = 0x1234;
	c.load.row_bytes = 64;
	c.load.dram_stride1 = -64;
	int n = weft_cmd_print(&c, text, sizeof text);
	assert_string_equal(text, "load tag=7 wait_cv=3 window=2 dram_off=0x1234 row_bytes=64 n1=1 n2=1 n3=1 "
	                          "dram_stride1=-64");
	assert_int_equal(n, strlen(text));
	assert_int_equal(weft_cmd_print(&c, cut, sizeof cut), n);
	assert_string_equal(cut, "load ta");
	assert_int_equal(weft_cmd_print(&c, NULL, 0), n);
}

static void names_of_units_and_faults(void **state)
{
	(void)state;
	assert_string_equal(weft_unit_name(WEFT_UNIT_VE), "VE");
	assert_string_equal(weft_unit_name(9), "?");
	assert_string_equal(weft_fault_name(WEFT_FAULT_DEADLOCK), "DEADLOCK");
	assert_string_equal(weft_fault_name(200), "?");
	assert_string_equal(weft_fault_brief(200), "unknown fault");
}

/* What the driver compares is what the generator packed for hardware. */
static void configuration_word(void **state)
{
	(void)state;
	for (size_t i = 0; i < WEFT_N_CONFIGS; i++) {
		const struct weft_config *c = &weft_config_list()[i];
		uint32_t word = c->n << WEFT_REG_CONFIG_N_LSB | c->log2_sp_bytes << WEFT_REG_CONFIG_LOG2_SP_BYTES_LSB
		                | c->axi_bytes << WEFT_REG_CONFIG_AXI_BYTES_LSB
		                | (uint32_t)WEFT_N_WINDOWS << WEFT_REG_CONFIG_N_WINDOWS_LSB;
		assert_int_equal(c->reg_config, word);
		assert_int_equal(c->sp_bytes, 1u << c->log2_sp_bytes);
		assert_ptr_equal(weft_config_find(c->name), c);
		assert_ptr_equal(weft_config_of_device(c->reg_config, c->features), c); /* no two read alike */
		assert_null(weft_config_of_device(c->reg_config, ~c->features));
	}
	assert_null(weft_config_find("w0"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_round_trip),
		cmocka_unit_test(fields_at_their_bounds),
		cmocka_unit_test(out_of_range_bad),
		cmocka_unit_test(alignment_bad),
		cmocka_unit_test(elements_bad),
		cmocka_unit_test(header_bad),
		cmocka_unit_test(reserved_bits_bad),
		cmocka_unit_test(fault_of_a_command),
		cmocka_unit_test(text_names_what_is_set),
		cmocka_unit_test(names_of_units_and_faults),
		cmocka_unit_test(configuration_word),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is the array systolic? A convolution whose operands are all one is stepped
 * cycle by cycle; PE(r,c) must see its first operand r + c cycles after
 * PE(0,0), because operands move one PE a cycle, and none earlier, as a
 * broadcast would bring.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/gen/cmd.h>
#include <weft/gen/config.h>
#include <weft/gen/regs.h>

#include "sim/rtl/rtl.h"
#include "tests/support/bench_so.h"

#define BASE UINT64_C(0x10000000)
#define CHANNELS 64            /* one column tile after another, four chunks each */
#define CYCLES_MAX 5000

/* load ones; one convolution of a row of n pixels; end */
static size_t stream(uint64_t *words, const struct weft_config *cfg)
{
	struct weft_cmd c;
	size_t n = 0;
	int size = (int)cfg->n, region = (int)cfg->sp_bytes / WEFT_SP_REGIONS;

	weft_cmd_init(&c, WEFT_CMD_LOAD);
	c.load.window = 1;
	c.load.row_bytes = 8192;
	c.load.n1 = 3;             /* input, weights and records in regions of their own: no stalls */
	c.load.sp_stride1 = region;
	n += weft_cmd_encode(&c, words + n);
	weft_cmd_init(&c, WEFT_CMD_CONV);
	c.h.wait[WEFT_UNIT_LD] = 1;
	c.conv.post.out_base = 3 * region;
	c.conv.post.out_x_stride = CHANNELS;
	c.conv.post.ow = size;
	c.conv.post.oc = size;
	c.conv.post.y_max = 127;
	c.conv.ox_step = CHANNELS;
	c.conv.run_len = CHANNELS;
	c.conv.x_limit = CHANNELS * size;
	c.conv.w_base = region;
	c.conv.p_base = 2 * region;
	n += weft_cmd_encode(&c, words + n);
	weft_cmd_init(&c, WEFT_CMD_END);
	return n + weft_cmd_encode(&c, words + n);
}

static void window(const struct weft_rtl_api *api, struct weft_rtl *r, unsigned i, void *data, uint32_t len)
{
	uint64_t base = BASE + ((uint64_t)i << 24);

	assert_int_equal(api->map(r, base, data, len), 0);
	api->reg_write(r, WEFT_REG_WIN_BASE_LO(i), (uint32_t)base);
	api->reg_write(r, WEFT_REG_WIN_SIZE(i), len);
	api->reg_write(r, WEFT_REG_WIN_CTRL(i), WEFT_REG_WIN_CTRL_READ_MASK);
}

static void operands_move_one_pe_a_cycle(void **state)
{
	static uint64_t words[64];
	static uint8_t ones[8192];
	const struct weft_config *cfg = weft_config_find("w16");
	const struct weft_rtl_api *api = so_api("rtl/weft-rtl-w16.so", "weft_rtl_api");
	int64_t first[64][64];
	uint32_t n = cfg->n;

	(void)state;
	if (!api) {
		print_message("no build/rtl/weft-rtl-w16.so\n");
		skip();
	}
	memset(ones, 1, sizeof(ones));
	memset(first, -1, sizeof(first));
	struct weft_rtl *r = api->open(WEFT_RTL_SRAM, false);
	assert_non_null(r);
	size_t n_words = stream(words, cfg);
	window(api, r, 0, words, sizeof(words));
	window(api, r, 1, ones, sizeof(ones));
	api->reg_write(r, WEFT_REG_STREAM_WORDS, (uint32_t)n_words);
	api->reg_write(r, WEFT_REG_IRQ_ENABLE, 3);
	api->reg_write(r, WEFT_REG_CTRL, WEFT_REG_CTRL_START_MASK);
	struct weft_rtl_event ev = { 0 };
	for (int t = 0; t < CYCLES_MAX && !ev.irq; t++) {
		api->step(r, 1, &ev);
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t k = 0; k < n; k++)
				if (first[i][k] < 0 && api->operand(r, i, k))
					first[i][k] = t;
	}
	assert_true(ev.irq);
	assert_true(api->reg_read(r, WEFT_REG_STATUS) & WEFT_REG_STATUS_DONE_MASK);
	assert_true(first[0][0] >= 0);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < n; k++)
			if (first[i][k] - first[0][0] != i + k)
				fail_msg("PE(%u,%u) starts %lld cycles after PE(0,0), not %u", i, k,
				         (long long)(first[i][k] - first[0][0]), i + k);
	print_message("PE(%u,%u) starts %lld cycles after PE(0,0)\n", n - 1, n - 1,
	              (long long)(first[n - 1][n - 1] - first[0][0]));
	api->close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operands_move_one_pe_a_cycle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

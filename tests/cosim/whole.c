/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What co-simulation sees beyond the bytes that a command has just written: a stray write to the scratchpad
 * or to a window, which no command reads again; and what it does not take for a difference: bytes that the
 * next command of the same unit has overwritten already. Below a second.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/cosim/cosim.h"
#include "tests/support/card_stream.h"
#include "tests/support/level.h"

#define N_CONSTS 256
#define N_ARENA  64

static uint8_t sp[1 << 20];    /* of a device that we play */

static void peek(void *user, uint32_t addr, uint32_t len, uint8_t *out)
{
	(void)user;
	memcpy(out, sp + addr, len);
}

static void load(struct card_stream *s, int64_t off, int sp_addr, int bytes)
{
	struct weft_cmd c;

	weft_cmd_init(&c, WEFT_CMD_LOAD);
	c.load.window = WEFT_WIN_CONST;
	c.load.dram_off = off;
	c.load.sp_addr = sp_addr;
	c.load.row_bytes = bytes;
	stream_put(s, &c);
}

/*
 * Two loads, 0..63 and 32..95, of a device that has executed both when the first one's retirement is seen.
 * One byte is then not what it should be. @return in which of the three looks it is found: 0: none, 1, 2, 3: the end
 */
static int play(int wrong_at, struct weft_cosim_found *d)
{
	const struct weft_config *cfg = weft_config_find("w16");
	uint8_t consts[N_CONSTS];
	struct weft_cosim_window win[WEFT_N_WINDOWS] = { [WEFT_WIN_CONST] = { consts, N_CONSTS, true, false } };
	struct card_stream s = { .n = 0 };
	int found = 0;

	for (int i = 0; i < N_CONSTS; i++)
		consts[i] = (uint8_t)(i * 7 + 1);
	load(&s, 0, 0, 64);
	load(&s, 128, 32, 64);
	stream_end(&s);
	memset(sp, 0x5a, sizeof(sp));
	struct weft_cosim *c = weft_cosim_new(cfg, s.words, s.n, win, peek, NULL);
	assert_non_null(c);
	weft_cosim_poke_sp(c, sp, cfg->sp_bytes);
	memcpy(sp, consts, 64);
	memcpy(sp + 32, consts + 128, 64);
	if (wrong_at >= 0)
		sp[wrong_at] ^= 0x10;
	if (weft_cosim_retire(c, 0, d))
		found = 1;
	else if (weft_cosim_retire(c, 1, d))
		found = 2;
	else if (weft_cosim_end(c, d))
		found = 3;
	weft_cosim_free(c);
	return found;
}

static void overlap(void **state)
{
	static const struct { int at, look; } cases[] = { { -1, 0 }, { 10, 1 }, { 31, 1 }, { 40, 2 }, { 63, 2 }, { 95, 2 }, { 96, 3 },
		{ 5000, 3 }, { (512 << 10) - 1, 3 } };
	struct weft_cosim_found d;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int look = play(cases[i].at, &d);
		if (look != cases[i].look || (look && (!d.in_sp || d.addr != (uint64_t)cases[i].at)))
			fail_msg("wrong byte at %d: found in look %d at 0x%llx", cases[i].at, look, (unsigned long long)d.addr);
	}
}

/* Somebody else writes while the RTL runs. */
struct stray { weft_dev *dev; weft_buf *buf; bool in_sp; uint32_t at; };

static int on_retire(void *user, const struct weft_retire *r)
{
	const struct stray *w = user;
	uint8_t byte = 0x77;

	if (r->cmd)
		return 0;
	return w->in_sp ? weft_dev_poke_sp(w->dev, w->at, 1, &byte) : weft_buf_write(w->buf, w->at, &byte, 1);
}

static const struct weft_cosim_diff *run(weft_dev *dev, const struct weft_window *win, struct stray *w)
{
	struct card_stream s;
	struct weft_job_result r;
	weft_job job;

	stream_copy(&s, WEFT_WIN_CONST, 0, WEFT_WIN_ARENA, 0, 16);
	weft_dev_observe(dev, w ? on_retire : NULL, w);
	assert_int_equal(weft_submit(dev, s.words, s.n, win, 2, &job), 0);
	assert_int_equal(weft_wait(dev, job, WEFT_FOREVER, &r), 0);
	assert_int_equal(r.status, 0);
	return weft_dev_cosim(dev);
}

static void planted(void **state)
{
	static const uint8_t zeros[N_CONSTS];
	struct weft_window win[2] = { { .rd = true }, { .rd = true, .wr = true } };
	struct weft_dev_options o = weft_dev_options_default();
	char msg[WEFT_DEV_MSG] = "";
	weft_dev *dev;

	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	o.kind = WEFT_DEV_RTL;
	o.cosim = true;
	if (weft_dev_open(&o, &dev, msg))
		fail_msg("%s", msg);
	assert_int_equal(weft_buf_alloc(dev, N_CONSTS, &win[0].buf), 0);
	assert_int_equal(weft_buf_alloc(dev, N_ARENA, &win[1].buf), 0);
	struct stray strays[] = { { dev, NULL, true, 0x12345 }, { dev, NULL, true, 16 }, { dev, win[0].buf, false, 200 },
		{ dev, win[1].buf, false, 63 } };
	for (size_t i = 0; i < sizeof(strays) / sizeof(strays[0]); i++) {
		assert_false(run(dev, win, NULL)->found);
		const struct weft_cosim_diff *d = run(dev, win, &strays[i]);
		if (!d->found || d->in_sp != strays[i].in_sp || d->addr != strays[i].at || d->got != 0x77)
			fail_msg("stray write %zu: found %d in %s at 0x%llx", i, d->found, d->in_sp ? "the scratchpad" : "memory",
			         (unsigned long long)d->addr);
		if (strays[i].buf)
			assert_int_equal(weft_buf_write(strays[i].buf, strays[i].at, zeros, 1), 0);
	}
	for (int i = 0; i < 2; i++)
		weft_buf_free(win[i].buf);
	weft_dev_close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(overlap), cmocka_unit_test(planted) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Co-simulation at the end of a stream: a byte that no command was to write is found, wherever it lies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>

#include "sim/cosim/cosim.h"
#include "weft/dev.h"
#include "weft/gen/cmd.h"

#define BYTES 1000

static void no_peek(void *user, uint32_t addr, uint32_t len, uint8_t *out)
{
	(void)user;
	(void)addr;
	memset(out, 0, len);
}

static void stray_write(void **state)
{
	static const uint64_t at[] = { 0, 1, 517, BYTES - 1 };
	uint64_t words[WEFT_CMD_MAX_WORDS];
	uint8_t consts[BYTES] = { 0 }, arena[BYTES];
	struct weft_cosim_window w[WEFT_N_WINDOWS] = { 0 };
	struct weft_cosim_found f;
	struct weft_cmd end;

	(void)state;
	weft_cmd_init(&end, WEFT_CMD_END);
	size_t n = weft_cmd_encode(&end, words);
	w[WEFT_WIN_CONST] = (struct weft_cosim_window){ .data = consts, .len = BYTES, .rd = true };
	w[WEFT_WIN_ARENA] = (struct weft_cosim_window){ .data = arena, .len = BYTES, .rd = true, .wr = true };
	memset(arena, 0x5a, sizeof(arena));
	struct weft_cosim *c = weft_cosim_new(weft_config_find("w16"), words, n, w, no_peek, NULL);
	assert_non_null(c);
	assert_int_equal(weft_cosim_end(c, &f), 0);
	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
		arena[at[i]] ^= 0xff;
		assert_int_equal(weft_cosim_end(c, &f), 1);
		assert_int_equal(f.window, WEFT_WIN_ARENA);
		assert_int_equal(f.addr, at[i]);
		assert_int_equal(f.expected, 0x5a);
		assert_int_equal(f.got, 0xa5);
		arena[at[i]] ^= 0xff;
	}
	/* A window that the device may only read is compared as well: a write there is a stray one. */
	consts[3] ^= 1;
	assert_int_equal(weft_cosim_end(c, &f), 1);
	assert_int_equal(f.window, WEFT_WIN_CONST);
	assert_int_equal(f.addr, 3);
	consts[3] ^= 1;
	assert_int_equal(weft_cosim_end(c, &f), 0);
	weft_cosim_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(stray_write) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

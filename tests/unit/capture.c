/* SPDX-License-Identifier: Apache-2.0 */
/* The .wcap file: what is written is read back, and damage is refused with one line. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "include/le.h"
#include "tests/support/file.h"
#include "tests/support/level.h"
#include "tests/support/tensors.h"
#include <weft/capture.h>

static char path[128];

static struct weft_capture sample(void)
{
	static uint8_t before[5000], after[5000], consts[300], program[77];
	struct weft_capture c = { .device = "usb:0001", .config = "w16", .model = "net.tflite", .step = 3, .status = -EIO,
		.message = "card: fault 4", .fault = { 4, 2, 17, 9, 0xdeadbeef }, .cycles = 1234567890123, .mismatch = true, .op = 5,
		.index = 99, .cmd = 17, .expected = -3, .got = 4, .tensor = "conv1", .n_arena = sizeof before,
		.n_consts = sizeof consts, .n_program = sizeof program, .before = before, .after = after, .consts = consts,
		.program = program };

	for (size_t i = 0; i < sizeof before; i++) {
		before[i] = (uint8_t)(i * i);
		after[i] = (uint8_t)(i / 7);
	}
	return c;
}

static void round_trip(void **state)
{
	struct weft_capture c = sample(), d;
	char msg[WEFT_MSG_LEN] = "";

	(void)state;
	assert_int_equal(weft_capture_write(path, &c, msg), 0);
	assert_int_equal(weft_capture_read(path, &d, msg), 0);
	assert_string_equal(d.device, c.device);
	assert_string_equal(d.message, c.message);
	assert_memory_equal(d.fault, c.fault, sizeof c.fault);
	assert_true(d.cycles == c.cycles && d.step == 3 && d.status == -EIO && d.mismatch && d.op == 5 && d.index == 99);
	assert_true(d.cmd == 17 && d.expected == -3 && d.got == 4 && d.n_arena == c.n_arena && d.n_consts == c.n_consts);
	assert_memory_equal(d.before, c.before, c.n_arena);
	assert_memory_equal(d.after, c.after, c.n_arena);
	assert_memory_equal(d.program, c.program, c.n_program);
	weft_capture_release(&d);
}

static size_t read_all(uint8_t **p)
{
	size_t n = 0;

	*p = test_file(path, &n);
	assert_non_null(*p);
	return n;
}

static int with_bytes(const uint8_t *p, size_t n, char *msg)
{
	struct weft_capture d;
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, n, f), n);
	fclose(f);
	int err = weft_capture_read(path, &d, msg);
	if (!err)
		weft_capture_release(&d);
	return err;
}

/* Every byte changed, and every length: the checksum sees it, or the head does. */
static void damaged_bad(void **state)
{
	struct weft_capture c = sample();
	char msg[WEFT_MSG_LEN] = "";
	uint8_t *p;

	(void)state;
	assert_int_equal(weft_capture_write(path, &c, msg), 0);
	size_t n = read_all(&p);
	for (size_t i = 0; i < n; i++) {
		p[i] ^= 0x10;
		assert_int_equal(with_bytes(p, n, msg), -EINVAL);
		p[i] ^= 0x10;
	}
	for (size_t i = 0; i < n; i += 7) {
		assert_int_equal(with_bytes(p, i, msg), -EINVAL);
		assert_null(strchr(msg, '\n'));
	}
	assert_int_equal(with_bytes(p, n, msg), 0);
	free(p);
	assert_int_equal(weft_capture_read("/tmp/weft-no-such-file", &c, msg), -ENOENT);
}

/* Bytes changed with the checksum put right: whatever is in them, nothing breaks. */
static void hostile_bad(void **state)
{
	struct weft_capture c = sample();
	char msg[WEFT_MSG_LEN] = "";
	uint64_t seed = 5;
	uint8_t *p;

	(void)state;
	assert_int_equal(weft_capture_write(path, &c, msg), 0);
	size_t n = read_all(&p);
	for (int i = 0; i < 2000; i++) {
		size_t at = 16 + test_random(&seed) % (n - 16);
		uint8_t old = p[at];
		p[at] = (uint8_t)test_random(&seed);
		put32(p + 12, (uint32_t)crc32_z(0, p + 16, n - 16));
		int err = with_bytes(p, n, msg);
		assert_true(err == 0 || err == -EINVAL || err == -ENOMEM);
		p[at] = old;
	}
	/* A section that says it is huge. */
	memset(p + 16, 0xff, 8);
	put32(p + 12, (uint32_t)crc32_z(0, p + 16, n - 16));
	assert_int_equal(with_bytes(p, n, msg), -EINVAL);
	assert_non_null(strstr(msg, "larger than the file allows"));
	free(p);
}

static int make(void **state)
{
	(void)state;
	test_path(path, sizeof path, "capture-XXXXXX");
	return mkstemp(path) < 0;
}

static int drop(void **state)
{
	(void)state;
	return remove(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip), cmocka_unit_test(damaged_bad), cmocka_unit_test(hostile_bad),
	};

	return cmocka_run_group_tests(tests, make, drop);
}

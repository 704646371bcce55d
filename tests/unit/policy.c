/* SPDX-License-Identifier: Apache-2.0 */
/* Times and retries of a card: what options ask for, what holds without them, and how long a call of many bytes may take. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <weft/dev.h>

#include "driver/clock.h"
#include "driver/usb/policy.h"

#define MS UINT64_C(1000000)

/* Returns by how many timeouts the limit of a call that moves so many bytes is longer than call_ns. */
static uint64_t beyond(const struct weft_policy *p, uint64_t bytes)
{
	const uint64_t before = weft_now_ns(), until = weft_policy_call_until(p, bytes), after = weft_now_ns();
	const uint64_t extra = (until - before - p->call_ns) / p->timeout_ns * p->timeout_ns;

	/* The clock went on by less than a timeout. */
	assert_in_range(until, before + p->call_ns + extra, after + p->call_ns + extra);
	return extra / p->timeout_ns;
}

/* A call has one timeout for each slow_bytes that it begins, and none if it moves no bytes. */
static void calls(void **state)
{
	struct weft_dev_options o = weft_dev_options_default();

	(void)state;
	o.usb_timeout_ms = 100000;
	o.usb_call_ms = 7;
	const struct weft_policy p = weft_policy_of(&o);
	assert_true(p.call_ns == 7 * MS && p.timeout_ns == 100000 * MS && p.slow_bytes == 65536);
	assert_int_equal(beyond(&p, 0), 0);
	assert_int_equal(beyond(&p, 1), 1);
	assert_int_equal(beyond(&p, 65535), 1);
	assert_int_equal(beyond(&p, 65536), 1);
	assert_int_equal(beyond(&p, 65537), 2);
	assert_int_equal(beyond(&p, 10 * 65536), 10);
}

/* What follows from the options, and what holds where they are 0. */
static void times(void **state)
{
	struct weft_dev_options o = weft_dev_options_default();

	(void)state;
	o.usb_timeout_ms = o.usb_boot_ms = o.usb_call_ms = 0;
	struct weft_policy p = weft_policy_of(&o);
	assert_true(p.timeout_ns == 2000 * MS && p.boot_ns == 30000 * MS && p.call_ns == 60000 * MS);
	assert_true(p.ask_ns == 500 * MS && p.cancel_ns == 8000 * MS && p.hello_ns == 6000 * MS);
	assert_true(p.recover_ns == (48 * 2000 + 2 * 30000) * MS);
	o.usb_timeout_ms = 40;
	o.usb_boot_ms = 100;
	p = weft_policy_of(&o);
	assert_true(p.timeout_ns == 40 * MS && p.boot_ns == 100 * MS && p.call_ns == 60000 * MS);
	assert_true(p.ask_ns == 10 * MS && p.cancel_ns == 160 * MS && p.hello_ns == 100 * MS);
	assert_true(p.recover_ns == (48 * 40 + 2 * 100) * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(calls), cmocka_unit_test(times) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

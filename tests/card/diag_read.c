/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft diag over a card that runs jobs but whose results never come across whole: the test cannot be
 * made, which is no finding against the NPU.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "include/weft/diag.h"
#include "tests/support/fake_card.h"
#include "tests/support/level.h"

/* Tests that run streams; none of them asks for registers, which that card does not have. */
static const char *const names[] = { "units", "memory", "dma", "scratchpad", "array-int8", "array-int16", "post", "alu" };

static void run(enum fake_behaviour b, int want_err)
{
	struct weft_dev_options o = weft_dev_options_default();
	struct weft_diag_result r;
	char path[100], where[160], msg[WEFT_DEV_MSG] = "";
	weft_diag *d;

	test_path(path, sizeof(path), "fake-diag-%d.sock", (int)b);
	snprintf(where, sizeof(where), "@%s", path);
	o.kind = WEFT_DEV_USB;
	o.usb = where;
	o.usb_timeout_ms = 50;
	o.usb_boot_ms = 100;
	o.usb_call_ms = 500;
	pid_t card = fake_card_start(path, b);
	assert_true(card > 0);
	if (weft_diag_open(&o, &d, msg))
		fail_msg("%s", msg);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		int err = weft_diag_run(d, (size_t)weft_diag_find(names[i]), &r);
		if (err != want_err || r.n_findings)
			fail_msg("%s of %s: %d, not %d, with %u findings: %s", names[i], fake_infos[b].name, err, want_err, (unsigned)r.n_findings,
			         r.n_findings ? r.findings[0].text : r.note);
	}
	weft_diag_close(d);
	kill(card, SIGKILL);
	waitpid(card, NULL, 0);
	unlink(path);
}

static void test_reads(void **state)
{
	(void)state;
	run(FAKE_none, 0);
}

static void test_read_fails(void **state)
{
	(void)state;
	run(FAKE_read_crc_forever, -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_reads), cmocka_unit_test(test_read_fails) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

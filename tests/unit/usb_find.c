/* SPDX-License-Identifier: Apache-2.0 */
/* Who has a device's node open: a file stands for the node, a child of this process for the other process. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "driver/usb/usb_find.h"

/* A child that has the file open n times, and says so. */
static pid_t has_open(const char *path, int n)
{
	int ready[2];
	char c;

	assert_int_equal(pipe(ready), 0);
	const pid_t child = fork();
	if (!child) {
		/* It does not outlive a test that fails. */
		bool good = !prctl(PR_SET_PDEATHSIG, SIGKILL);

		for (int i = 0; i < n; i++)
			good &= open(path, O_RDONLY) >= 0;
		if (!good || write(ready[1], "1", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_true(child > 0);
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return child;
}

static void ends(pid_t child)
{
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

static void users(void **state)
{
	char path[] = "/tmp/weft-node-XXXXXX", longer[64], says[64] = "?", want[64];
	const int mine = mkstemp(path);

	(void)state;
	assert_true(mine >= 0);
	/* A file whose name only begins like this one is another. */
	snprintf(longer, sizeof(longer), "%sx", path);
	assert_int_equal(link(path, longer), 0);
	const pid_t other = has_open(longer, 1);
	/* The child has what this process had open. */
	weft_usb_user_of(path, says, sizeof(says));
	snprintf(want, sizeof(want), "usb_find (pid %d)", (int)other);
	assert_string_equal(says, want);
	ends(other);
	/* What this process has open does not count. */
	weft_usb_user_of(path, says, sizeof(says));
	assert_string_equal(says, "");
	assert_int_equal(close(mine), 0);
	const pid_t third = has_open(longer, 1);
	weft_usb_user_of(path, says, sizeof(says));
	assert_string_equal(says, "");
	const pid_t user = has_open(path, 2);
	weft_usb_user_of(path, says, sizeof(says));
	snprintf(want, sizeof(want), "usb_find (pid %d)", (int)user);
	assert_string_equal(says, want);
	/* Cut off where there is no room. */
	weft_usb_user_of(path, says, 9);
	assert_string_equal(says, "usb_find");
	ends(third);
	ends(user);
	weft_usb_user_of(path, says, sizeof(says));
	assert_string_equal(says, "");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(unlink(longer), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(users) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

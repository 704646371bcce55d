/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder in which a test's sessions keep the programs that they compile (weft_session_options.cache), so that a network is compiled
 * once for all of its inputs. It is set up and removed with the test's group.
 */
#ifndef WEFT_TESTS_KEPT_PROGRAMS_H
#define WEFT_TESTS_KEPT_PROGRAMS_H

#include "level.h"
#include "shell.h"

static char kept_programs[300];

static int kept_programs_begin(void **state)
{
	(void)state;
	test_path(kept_programs, sizeof kept_programs, "programs");
	return 0;
}

static int kept_programs_end(void **state)
{
	(void)state;
	return shell("rm -rf '%s'", kept_programs);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of foreign cases that do not pass: NAME, what the refusal says, reason; between tabs.
 * A name may have "*"; the first that fits counts, and "passes" takes names out of the patterns behind it.
 */
#ifndef WEFT_TESTS_EXPECTED_H
#define WEFT_TESTS_EXPECTED_H

#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Whether the list has the name; what its refusal says, in `says` of n bytes. */
static inline bool expected_says(const char *path, const char *name, char *says, size_t n)
{
	FILE *f = fopen(path, "r");
	char line[1024];
	bool found = false;

	while (f && !found && fgets(line, sizeof line, f)) {
		char *tab = strchr(line, '\t');

		if (*line == '#' || !tab)
			continue;
		*tab = '\0';
		if (fnmatch(line, name, 0))
			continue;
		char *reason = strchr(tab + 1, '\t');
		assert_non_null(reason);
		*reason = '\0';
		snprintf(says, n, "%s", tab + 1);
		if (!strcmp(says, "passes"))
			break;
		found = true;
	}
	if (f)
		fclose(f);
	return found;
}

#endif

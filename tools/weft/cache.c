/* SPDX-License-Identifier: Apache-2.0 */
/* The folder in which commands keep compiled programs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "weft_cmd.h"

const char *cache_folder(char folder[CACHE_PATH])
{
	const char *given = getenv("WEFT_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int n;

	if (given && *given) {
		if (!strcmp(given, "none"))
			return NULL;
		n = snprintf(folder, CACHE_PATH, "%s", given);
	} else if (xdg && xdg[0] == '/') {                 /* its specification has others ignored */
		n = snprintf(folder, CACHE_PATH, "%s/weft", xdg);
	} else if (home && home[0] == '/' && !access(home, F_OK)) {   /* a system's user may have none */
		n = snprintf(folder, CACHE_PATH, "%s/.cache/weft", home);
	} else {
		return NULL;
	}
	return n < CACHE_PATH ? folder : NULL;
}

void say_cache(const weft_session *s)
{
	const char *why;

	if (weft_session_cache(s, &why) == WEFT_CACHE_FAILED)
		fail(0, "%s; the compiled program is not kept (--no-cache: without asking)", why);
}

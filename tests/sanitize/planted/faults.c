/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the sanitizers must report: `faults NAME` misuses the driver's sets of ranges so that the library's own
 * code breaks a rule of C, and then ends with status 0, as if nothing had been. tests/sanitize/c runs each.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/ranges.h"

/* driver/ranges.c reads a range behind the end of an allocation. */
static int heap(void)
{
	struct weft_range *one = malloc(sizeof(*one)), part;
	struct weft_ranges s = { one, 2, 2 };

	*one = (struct weft_range){ 1, 2 };
	int found = weft_ranges_first(&s, 8, 9, &part);
	free(one);
	return found;
}

/* driver/ranges.c reads a set through a pointer that no set can have. */
static int undefined(void)
{
	char bytes[sizeof(struct weft_ranges) + 1] = "";
	struct weft_range part;

	return weft_ranges_first((const struct weft_ranges *)(const void *)(bytes + 1), 0, 1, &part);
}

/* Nobody frees what driver/ranges.c allocated. */
static int leak(void)
{
	struct weft_ranges s = { 0 };
	int err = weft_ranges_add(&s, 1, 2);

	memset(&s, 0, sizeof(s));
	return err;
}

static void *add(void *set)
{
	return weft_ranges_add(set, 1, 2) ? set : NULL;
}

/* Two threads change a set that has no lock. */
static int race(void)
{
	struct weft_ranges s = { 0 };
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, add, &s))
			abort();
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	weft_ranges_clear(&s);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct { const char *name; int (*make)(void); } faults[] = {
		{ "heap", heap }, { "undefined", undefined }, { "leak", leak }, { "race", race },
	};

	for (size_t i = 0; argc == 2 && i < sizeof(faults) / sizeof(faults[0]); i++)
		if (!strcmp(argv[1], faults[i].name)) {
			faults[i].make();
			return 0;
		}
	fprintf(stderr, "faults: heap, undefined, leak or race\n");
	return 2;
}

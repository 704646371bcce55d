/* SPDX-License-Identifier: Apache-2.0 */
/* What the compiler calls by itself. */
#include "chip.h"

void *memset(void *to, int value, size_t n)
{
	uint8_t *p = to;

	while (n--)
		*p++ = (uint8_t)value;
	return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	uint8_t *p = to;
	const uint8_t *q = from;

	while (n--)
		*p++ = *q++;
	return to;
}

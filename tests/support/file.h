/* SPDX-License-Identifier: Apache-2.0 */
/* A whole file for a test. Include behind cmocka.h. */
#ifndef WEFT_TESTS_FILE_H
#define WEFT_TESTS_FILE_H

#include <stdio.h>
#include <stdlib.h>

/* From malloc, a zero byte behind it; NULL where the file cannot be opened. A test that cannot read it then ends. n may be NULL. */
static inline void *test_file(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");

	if (n)
		*n = 0;
	if (!f)
		return NULL;
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	const long size = ftell(f);
	assert_true(size >= 0);
	rewind(f);
	char *p = malloc((size_t)size + 1);
	assert_non_null(p);
	assert_int_equal(fread(p, 1, (size_t)size, f), size);
	p[size] = '\0';
	fclose(f);
	if (n)
		*n = (size_t)size;
	return p;
}

#endif

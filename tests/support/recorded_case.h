/* SPDX-License-Identifier: Apache-2.0 */
/* What recorded networks have in common, whatever is known of their outputs: a name and a file. */
#ifndef TESTS_SUPPORT_RECORDED_CASE_H
#define TESTS_SUPPORT_RECORDED_CASE_H

#include "tests/support/recorded.h"

#include <stdbool.h>
#include <string.h>

#include <weft/weft.h>

#define CASE_NAME 64

/* Reads a case's name, of at most CASE_NAME bytes with its end, and steps over its file. Returns the file's *n_file bytes. */
static inline const uint8_t *read_file(struct reader *r, char *name, uint32_t *n_file)
{
	const uint32_t n = number(r, 2);

	assert_true(n < CASE_NAME);
	memcpy(name, take(r, n), n);
	*n_file = number(r, 4);
	return take(r, *n_file);
}

/* A recorded network of one operator, without the inputs and outputs that were recorded. */
struct one_operator {
	char name[CASE_NAME];
	const uint8_t *file;
	uint32_t file_bytes;
};

/* Reads the next network of a TFLOPS1 file (tools/train/record_ops.py describes the format) and skips its inputs and outputs. */
static inline struct one_operator read_operator(struct reader *r)
{
	struct one_operator c = { .name = "" };

	c.file = read_file(r, c.name, &c.file_bytes);
	take(r, 4 * (size_t)number(r, 1));
	take(r, 4 * (size_t)number(r, 1));
	return c;
}

/* The network as it comes out of a .weft file, in place of itself. */
static inline weft_net *saved(weft_net *net, const char *name)
{
	char msg[WEFT_MSG_LEN] = "";
	weft_net *again = NULL;
	uint8_t *p;
	size_t n;

	if (weft_net_save(net, "w16", &p, &n, msg) || weft_net_load(p, n, name, &again, msg))
		fail_msg("%s saved: %s", name, msg);
	free(p);
	weft_net_free(net);
	return again;
}

#endif

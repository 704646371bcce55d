/* SPDX-License-Identifier: Apache-2.0 */
/* What the quantisers of all formats share: memory that lives until the end, and messages. */
#ifndef WEFT_QUANTIZE_BLOCKS_H
#define WEFT_QUANTIZE_BLOCKS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Blocks of memory that are freed together; all zero: none yet. */
struct blocks {
	void **p;                  /* n blocks, room for cap */
	int n, cap;
	bool failed;               /* memory ran out once, so that a result may lack something */
};

/* Returns n zeroed bytes that live until blocks_free(); NULL, with b->failed set, without memory. */
void *blocks_alloc(struct blocks *b, size_t n);

/* Frees all blocks and leaves *b without any. */
void blocks_free(struct blocks *b);

/* Writes one line into msg (WEFT_MSG_LEN bytes), with control characters, of names in the file, as '?'. */
void quantize_line(char *msg, const char *format, va_list ap);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the fuzz targets share. A target is a file NAME_fuzz.c with one function, by the convention of
 * libFuzzer and OSS-Fuzz; it takes any bytes and returns 0. A finding is a crash, a sanitizer's report,
 * or a broken promise (fuzz_require).
 */
#ifndef WEFT_TESTS_FUZZ_H
#define WEFT_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the program if a promise is broken. */
static inline void fuzz_require(bool kept, const char *promise)
{
	if (kept)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	abort();
}

/* A failure is a negative errno with one line of text. */
static inline void fuzz_judge(int err, const char *msg)
{
	fuzz_require(err <= 0, "0 or a negative errno");
	fuzz_require(!err || (*msg && !strchr(msg, '\n')), "one line for a failure");
}

/* Loads a network. What loads can be written as TOSA or says why not, and what was written loads. */
static inline void fuzz_net(const char *name, const uint8_t *data, size_t size)
{
	char msg[WEFT_MSG_LEN] = "", note[WEFT_MSG_LEN] = "";
	weft_net *net = NULL, *again = NULL;
	uint8_t *tosa = NULL;
	size_t n = 0;
	int err = weft_net_load(data, size, name, &net, msg);

	fuzz_judge(err, msg);
	if (err)
		return;
	err = weft_net_convert(net, false, &tosa, &n, note, msg);
	fuzz_judge(err, msg);
	if (!err) {
		err = weft_net_load(tosa, n, "again.tosa", &again, msg);
		if (err)
			fprintf(stderr, "%s\n", msg);
		fuzz_require(!err, "what is written as TOSA can be read");
	}
	free(tosa);
	weft_net_free(again);
	weft_net_free(net);
}

#endif

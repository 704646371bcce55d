/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/recorded_seeds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

#include "tests/support/recorded_case.h"
#include "tests/support/random_stream.h"
#include "tests/support/recorded_values.h"

/* Longer files take the fuzzer longer, and show it nothing new. */
#define SMALL_BYTES 4096

/* A network, and what it becomes as TOSA, if that can be and both are small. */
static void both(recorded_seed *give, const char *name, const uint8_t *p, size_t n)
{
	char msg[WEFT_MSG_LEN] = "", note[WEFT_MSG_LEN] = "";
	weft_net *net = NULL;
	uint8_t *tosa = NULL;
	size_t n_tosa = 0;

	if (n > SMALL_BYTES)
		return;
	give("tflite", name, p, n);
	if (!weft_net_load(p, n, name, &net, msg) && !weft_net_convert(net, false, &tosa, &n_tosa, note, msg) && n_tosa <= SMALL_BYTES)
		give("tosa", name, tosa, n_tosa);
	weft_net_free(net);
	free(tosa);
}

/* One of each name, where the same ones follow each other. */
static void operators(recorded_seed *give, const char *path)
{
	struct reader r = open_recorded(path, "TFLOPS1\n");
	char last[CASE_NAME] = "";

	while (r.at < r.n) {
		const struct one_operator c = read_operator(&r);

		if (strcmp(c.name, last))
			both(give, c.name, c.file, c.file_bytes);
		memcpy(last, c.name, sizeof last);
	}
	free(r.p);
}

/* Random streams for the configuration of the target, which fit its windows. */
static void streams(recorded_seed *give, const char *target, const char *config)
{
	for (uint64_t i = 0; i < 400; i++) {
		struct random_stream s;
		char name[32];

		random_stream_make(&s, i, weft_config_find(config));
		snprintf(name, sizeof name, "random.%d", (int)i);
		if (8 * s.n_words <= SMALL_BYTES / 2 && s.n_consts <= 16384 && s.n_arena <= 65536)
			give(target, name, (const uint8_t *)s.words, 8 * s.n_words);
		random_stream_free(&s);
	}
}

void recorded_seeds(recorded_seed *give)
{
	struct reader r;

	streams(give, "stream", "w8");
	streams(give, "rtl", "w16");
	operators(give, "tests/models/tflite_ops.gz");
	operators(give, "tests/models/litert_host_ops.gz");
	r = open_recorded("tests/models/litert_flow.gz", "TFLFLOW1");
	while (r.at < r.n) {
		const struct values c = read_values(&r);

		both(give, c.name, c.file, c.file_bytes);
	}
	free(r.p);
}

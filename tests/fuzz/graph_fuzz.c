/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden against the functional model: bytes choose a random graph of ours and its type, which is
 * compiled and run; no element that the device made may differ.
 */
#include "fuzz.h"
#include "tests/support/random_graph.h"
#include "userlib/run/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const weft_dtype types[] = { WEFT_INT8, WEFT_INT16, WEFT_FP8E4M3 };
	struct weft_session_options o = weft_session_options_default();
	uint8_t choice[9] = { 0 };
	uint64_t seed;
	struct random_net r;
	char msg[WEFT_MSG_LEN] = "";
	struct weft_report *report = NULL;
	weft_session *s = NULL;

	memcpy(choice, data, size < sizeof choice ? size : sizeof choice);
	memcpy(&seed, choice + 1, sizeof seed);
	const weft_dtype type = types[choice[0] % 3];
	if (choice[0] & 4 && type != WEFT_FP8E4M3)
		random_net_make_alu(&r, seed, 16, false, type);
	else
		random_net_make(&r, seed, 16, false, type);
	weft_net net = { .g = r.g };
	weft_tensor out[64] = { { 0 } };
	o.device = WEFT_DEVICE_MODEL;
	o.check = true;
	int err = r.g->n_outputs > 64 ? 0 : weft_session_open(&net, &o, &s, msg);
	if (!err && s)
		err = weft_session_run(s, r.inputs, out, &report, msg);
	if (err)
		fprintf(stderr, "%s\n", msg);
	fuzz_require(!err && (!report || !report->mismatches), "golden and model agree");
	for (int i = 0; i < r.g->n_outputs && i < 64; i++)
		free(out[i].data);
	weft_report_free(report);
	weft_session_close(s);
	random_net_free(&r);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden against the functional model: bytes choose a random graph of ours, its type and how it is
 * compiled, and it runs; no element that the device made may differ.
 */
#include "fuzz.h"
#include "tests/support/random_graph.h"
#include "userlib/run/internal.h"

/* Bits of the first byte: the type is its two lower ones. */
enum { ALU = 4, SMALL = 8, APART = 16, TUNED = 0xe0 };

static void make(struct random_net *r, unsigned choice, uint64_t seed)
{
	static const weft_dtype types[] = { WEFT_INT8, WEFT_INT16, WEFT_FP8E4M3, WEFT_INT8 };
	const weft_dtype type = types[choice % 4];

	if (choice & ALU && type != WEFT_FP8E4M3)
		random_net_make_alu(r, seed, 16, false, type);
	else
		random_net_make(r, seed, 16, false, type);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static weft_dev *dev;
	struct weft_dev_options d = weft_dev_options_default();
	struct weft_session_options o = weft_session_options_default();
	uint8_t choice[9] = { 0 };
	uint64_t seed;
	struct random_net r;
	char msg[WEFT_MSG_LEN] = "";
	struct weft_report *report = NULL;
	weft_session *s = NULL;
	weft_program *p = NULL;

	if (!dev) {
		d.kind = WEFT_DEV_MODEL;
		fuzz_require(!weft_dev_open(&d, &dev, msg), "a device");
	}
	memcpy(choice, data, size < sizeof choice ? size : sizeof choice);
	memcpy(&seed, choice + 1, sizeof seed);
	make(&r, *choice, seed);
	weft_net net = { .g = r.g };
	weft_tensor out[64] = { { 0 } };
	/* The search for the best plan takes longer than all the rest: one program in eight is what it finds. */
	const struct weft_compile_options c = { .config = "w16", .of_model = true, .quick = (*choice & TUNED) != TUNED, .no_fuse = *choice & APART,
	                                        .sp_limit = *choice & SMALL ? 24 << 10 : 0 };
	o.device = WEFT_DEVICE_MODEL;
	o.on = dev;
	o.check = true;
	int err = r.g->n_outputs > 64 ? 0 : weft_compile(r.g, &c, &p, msg);
	if (!err && p)
		err = weft_session_open_with(&net, &o, p, &s, msg);
	if (!err && s)
		err = weft_session_run(s, r.inputs, out, &report, msg);
	if (err)
		fprintf(stderr, "%s\n", msg);
	fuzz_require(!err && (!report || !report->mismatches), "golden and model agree");
	for (int i = 0; i < r.g->n_outputs && i < 64; i++)
		free(out[i].data);
	weft_report_free(report);
	weft_session_close(s);
	weft_program_free(p);
	random_net_free(&r);
	return 0;
}

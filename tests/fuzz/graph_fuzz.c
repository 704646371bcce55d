/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden against the functional model: bytes choose a random graph of ours, its type, the configuration and how it is
 * compiled, and it runs; no element that the device made may differ.
 *
 * The bytes: how it is compiled and its type, eight of a seed, the configuration, and then one for each choice that the
 * making of the graph begins with; the rest and all elements come from the seed. With configuration WHOLE it is w16 and the
 * graph has up to 20000 elements a tensor; otherwise it is a small one, which takes a tenth of the time.
 */
#include "fuzz.h"
#include "tests/support/random_graph.h"
#include "userlib/run/internal.h"

/* Bits of the first byte: the type is its two lower ones. */
enum { ALU = 4, SMALL = 8, APART = 16, TUNED = 0xe0 };

enum { AT_SEED = 1, AT_CONFIG = 9, AT_CHOICES = 10 };

/* Bits of the configuration's byte, whose three lower ones choose it. */
enum { TUNED_SMALL = 0x30, WHOLE = 0xff };

/* The configurations of small graphs, the quick ones more than once: a wide array takes longer to model. */
static const struct { const char *name; int lanes; } configs[] = { { "w4", 4 }, { "w8", 8 }, { "w4", 4 }, { "w8b", 8 }, { "w4", 4 }, { "w8", 8 }, { "w4", 4 }, { "w16", 16 } };

enum { N_CONFIGS = sizeof(configs) / sizeof(configs[0]) };

static void make(struct random_net *r, const uint8_t *data, size_t size, int lanes)
{
	static const weft_dtype types[] = { WEFT_INT8, WEFT_INT16, WEFT_FP8E4M3, WEFT_INT8 };
	const weft_dtype type = types[data[0] % 4];
	const bool alu = data[0] & ALU && type != WEFT_FP8E4M3;
	uint64_t seed;

	memcpy(&seed, data + AT_SEED, sizeof(seed));
	if (data[AT_CONFIG] != WHOLE)
		random_net_make_small(r, seed, lanes, type, alu, data + AT_CHOICES, size - AT_CHOICES);
	else if (alu)
		random_net_make_alu(r, seed, lanes, false, type);
	else
		random_net_make(r, seed, lanes, false, type);
}

/* The model of that configuration, which stays open. */
static weft_dev *device(unsigned config)
{
	static weft_dev *devices[N_CONFIGS];
	struct weft_dev_options d = weft_dev_options_default();
	char msg[WEFT_MSG_LEN] = "";

	d.kind = WEFT_DEV_MODEL;
	d.config = configs[config].name;
	fuzz_require(devices[config] || !weft_dev_open(&d, &devices[config], msg), "a device");
	return devices[config];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct weft_session_options o = weft_session_options_default();
	uint8_t bytes[256] = { 0 };
	struct random_net r;
	char msg[WEFT_MSG_LEN] = "";
	struct weft_report *report = NULL;
	weft_session *s = NULL;
	weft_program *p = NULL;

	size = size < sizeof(bytes) ? size : sizeof(bytes);
	memcpy(bytes, data, size);
	const bool whole = bytes[AT_CONFIG] == WHOLE;
	const unsigned config = whole ? N_CONFIGS - 1 : bytes[AT_CONFIG] % N_CONFIGS;
	make(&r, bytes, size < AT_CHOICES ? AT_CHOICES : size, configs[config].lanes);
	weft_net net = { .g = r.g };
	weft_tensor out[64] = { { 0 } };
	/* The search for the best plan takes ten times as long as all the rest: one program in 32 is what it finds, of whole graphs one in eight. */
	const bool tuned = (bytes[0] & TUNED) == TUNED && (bytes[AT_CONFIG] & TUNED_SMALL) == TUNED_SMALL;
	const struct weft_compile_options c = { .config = configs[config].name, .of_model = true, .quick = !tuned, .no_fuse = bytes[0] & APART,
	                                        .sp_limit = !(bytes[0] & SMALL) ? 0 : whole ? 24 << 10 : 2 << 10 };
	o.device = WEFT_DEVICE_MODEL;
	o.on = device(config);
	o.config = configs[config].name;
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

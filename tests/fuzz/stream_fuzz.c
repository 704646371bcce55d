/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any words as a command stream: what the verifier accepts runs on the functional model without a
 * fault. The windows are small: 16 KiB of constants, 64 KiB of arena, and so is the configuration, because what the verifier
 * keeps of a scratchpad grows with it.
 */
#include <weft/dev.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static weft_dev *dev;
	static weft_buf *consts, *arena;
	struct weft_dev_options o = weft_dev_options_default();
	struct weft_job_result r = { 0 };
	uint64_t words[4096];
	char msg[WEFT_DEV_MSG] = "";
	weft_job job;

	if (!dev) {
		o.kind = WEFT_DEV_MODEL;
		o.config = "w8";
		fuzz_require(!weft_dev_open(&o, &dev, msg) && !weft_buf_alloc(dev, 16384, &consts) && !weft_buf_alloc(dev, 65536, &arena), "a device");
	}
	const struct weft_window win[] = { { .buf = consts, .rd = true }, { .buf = arena, .rd = true, .wr = true } };
	const size_t n = size / 8 < 4096 ? size / 8 : 4096;
	memcpy(words, data, n * 8);
	int err = n ? weft_submit(dev, words, n, win, 2, &job) : -1;
	fuzz_require(err <= 0, "0 or a negative errno");
	if (!n || err)
		return 0;
	fuzz_require(!weft_finish(dev, job, 60000, &r), "what is accepted ends");
	if (r.status)
		fprintf(stderr, "status %d, fault %u\n", r.status, r.fault_code);
	fuzz_require(!r.status, "what the verifier accepts makes no fault");
	return 0;
}

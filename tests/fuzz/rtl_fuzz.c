/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any words as a command stream, on the functional model and on the RTL: what the verifier accepts leaves the same bytes
 * in both, in memory and in how it ended. Without a simulator of the RTL there is nothing to compare.
 */
#include <weft/dev.h>
#include <weft/gen/cmd.h>
#include <weft/gen/config.h>

#include "fuzz.h"
#include "tests/support/level.h"

enum { CONSTS = 16384, ARENA = 65536, WORDS = 512 };

/* One of the two, and its memory. */
struct side { weft_dev *dev; weft_buf *consts, *arena; };

/* The scratchpad holds anything after power-up, and streams may read what they did not write: both get the same bytes. */
static void fill(struct side *s)
{
	const struct weft_window win = { .buf = s->arena, .rd = true };
	struct weft_job_result r = { 0 };
	struct weft_cmd c;
	uint64_t words[32];
	weft_job job;

	weft_cmd_init(&c, WEFT_CMD_LOAD);
	c.load.window = 1;
	c.load.row_bytes = c.load.sp_stride1 = ARENA;
	c.load.n1 = (int32_t)(weft_config_find("w16")->sp_bytes / ARENA);
	weft_cmd_encode(&c, words);
	size_t n = (size_t)c.h.n_words;
	weft_cmd_init(&c, WEFT_CMD_END);
	weft_cmd_encode(&c, words + n);
	n += (size_t)c.h.n_words;
	if (weft_submit(s->dev, words, n, &win, 1, &job) || weft_finish(s->dev, job, 60000, &r) || r.status)
		fuzz_require(false, weft_dev_error(s->dev));
}

static bool open_side(struct side *s, enum weft_dev_kind kind)
{
	struct weft_dev_options o = weft_dev_options_default();
	char msg[WEFT_DEV_MSG] = "", dir[512];

	o.kind = kind;
	snprintf(dir, sizeof dir, "%s/rtl", test_env("WEFT_BUILD", "build"));
	if (kind == WEFT_DEV_RTL && weft_dev_open(&o, &s->dev, msg))
		o.rtl_dir = dir;
	if (!s->dev && weft_dev_open(&o, &s->dev, msg)) {
		fprintf(stderr, "%s\n", msg);
		return false;
	}
	fuzz_require(!weft_buf_alloc(s->dev, CONSTS, &s->consts) && !weft_buf_alloc(s->dev, ARENA, &s->arena), "memory");
	fill(s);
	return true;
}

/* Runs the words with memory of a fixed pattern. Returns what submitting says; *r and after: what came of it. */
static int run(struct side *s, const uint64_t *words, size_t n, struct weft_job_result *r, uint8_t *after)
{
	const struct weft_window win[] = { { .buf = s->consts, .rd = true }, { .buf = s->arena, .rd = true, .wr = true } };
	static uint8_t pattern[ARENA];
	weft_job job;

	for (size_t i = 0; i < ARENA; i++)
		pattern[i] = (uint8_t)(i * 167 + (i >> 8) * 13);
	fuzz_require(!weft_buf_write(s->consts, 0, pattern, CONSTS) && !weft_buf_write(s->arena, 0, pattern, ARENA), "memory is written");
	const int err = weft_submit(s->dev, words, n, win, 2, &job);
	if (err)
		return err;
	fuzz_require(!weft_finish(s->dev, job, 60000, r), "what is accepted ends");
	fuzz_require(!weft_buf_read(s->arena, 0, after, ARENA), "memory is read");
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t after[2][ARENA];
	static struct side side[2];
	static int there;              /* 1: both; -1: no RTL */
	struct weft_job_result r[2] = { { 0 } };
	uint64_t words[WORDS];

	if (!there)
		there = open_side(&side[1], WEFT_DEV_RTL) && open_side(&side[0], WEFT_DEV_MODEL) ? 1 : -1;
	if (there < 0 || size < 8)
		return 0;
	const size_t n = size / 8 < WORDS ? size / 8 : WORDS;
	memcpy(words, data, n * 8);
	const int err = run(&side[0], words, n, &r[0], after[0]);
	fuzz_require(run(&side[1], words, n, &r[1], after[1]) == err, "both accept the same");
	if (err)
		return 0;
	fuzz_require(!r[0].status && !r[1].status, "what the verifier accepts makes no fault");
	fuzz_require(!memcmp(after[0], after[1], ARENA), "model and RTL leave the same bytes");
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One random stream: through the verifier, then the model alone, then the RTL
 * with the model beside it. The same bytes, command by command and at the end.
 */
#ifndef WEFT_TESTS_COMPARE_STREAM_H
#define WEFT_TESTS_COMPARE_STREAM_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../support/level.h"
#include "../support/random_stream.h"

static inline weft_dev *stream_device_with(enum weft_dev_kind kind, enum weft_memory memory, const char *config, bool all_clocks)
{
	struct weft_dev_options o = weft_dev_options_default();
	char msg[WEFT_DEV_MSG] = "";
	weft_dev *dev;

	o.kind = kind;
	o.config = config;
	o.memory = memory;
	o.cosim = kind == WEFT_DEV_RTL;
	o.all_clocks = all_clocks;
	if (weft_dev_open(&o, &dev, msg))
		fail_msg("%s", msg);
	return dev;
}

static inline weft_dev *stream_device(enum weft_dev_kind kind, enum weft_memory memory, const char *config)
{
	return stream_device_with(kind, memory, config, false);
}

static inline void stream_print_cmd(const struct random_stream *s, size_t index)
{
	char line[2048];
	struct weft_cmd c;
	size_t at = 0;

	for (size_t i = 0; i <= index && !weft_cmd_decode(s->words + at, s->n_words - at, &c); i++)
		at += (size_t)c.h.n_words;
	weft_cmd_print(&c, line, sizeof(line));
	printf("command %zu: %s\n", index, line);
}

static inline void stream_fail(uint64_t seed, const char *device, const char *what)
{
	printf("again: make check T=cosim/stream_random SEED=%llu N=1\n", (unsigned long long)seed);
	fflush(stdout);
	fail_msg("seed %llu on %s: %s", (unsigned long long)seed, device, what);
}

/* Run on a device; out gets the arena. Returns cycles. */
static inline uint64_t stream_run(uint64_t seed, weft_dev *dev, const char *device, const struct random_stream *s, uint8_t *out)
{
	struct weft_window win[2] = { { .rd = true }, { .rd = true, .wr = true } };
	struct weft_job_result r;
	weft_job job;

	assert_int_equal(weft_buf_alloc(dev, s->n_consts, &win[0].buf), 0);
	assert_int_equal(weft_buf_alloc(dev, s->n_arena, &win[1].buf), 0);
	assert_int_equal(weft_buf_write(win[0].buf, 0, s->consts, s->n_consts), 0);
	if (weft_submit(dev, s->words, s->n_words, win, 2, &job))
		stream_fail(seed, device, weft_dev_error(dev));
	assert_int_equal(weft_wait(dev, job, WEFT_FOREVER, &r), 0);
	const struct weft_cosim_diff *d = weft_dev_cosim(dev);
	if (d->found) {
		char line[160];
		stream_print_cmd(s, d->cmd);
		snprintf(line, sizeof(line), "command %zu, %s 0x%llx, cycle %llu: expected 0x%02x, got 0x%02x", d->cmd,
		         d->in_sp ? "scratchpad" : "memory", (unsigned long long)d->addr, (unsigned long long)d->cycle,
		         d->expected, d->got);
		stream_fail(seed, device, line);
	}
	if (r.status)
		stream_fail(seed, device, weft_dev_error(dev));
	assert_int_equal(weft_buf_read(win[1].buf, 0, out, s->n_arena), 0);
	weft_buf_free(win[0].buf);
	weft_buf_free(win[1].buf);
	return r.cycles;
}

/* devices[1] may be NULL. */
static inline uint64_t stream_compare(uint64_t seed, weft_dev *const devices[2], const struct weft_config *cfg,
                                      unsigned count[256], unsigned modes[RANDOM_STREAM_MODES])
{
	struct random_stream s;
	uint64_t cycles = 0;

	random_stream_make(&s, seed, cfg);
	uint8_t *want = malloc(s.n_arena), *got = malloc(s.n_arena);
	assert_non_null(want);
	assert_non_null(got);
	stream_run(seed, devices[0], "model", &s, want);
	if (devices[1]) {
		cycles = stream_run(seed, devices[1], "rtl", &s, got);
		for (uint64_t i = 0; i < s.n_arena; i++) {
			char line[96];
			if (want[i] == got[i])
				continue;
			snprintf(line, sizeof(line), "memory 0x%llx at the end: expected 0x%02x, got 0x%02x",
			         (unsigned long long)i, want[i], got[i]);
			stream_fail(seed, "rtl", line);
		}
	}
	for (int i = 0; i < 256; i++)
		count[i] += s.count[i];
	for (int i = 0; i < RANDOM_STREAM_MODES; i++)
		modes[i] += s.modes[i];
	free(want);
	free(got);
	random_stream_free(&s);
	return cycles;
}

static inline void stream_print_count(const unsigned count[256], const unsigned modes[RANDOM_STREAM_MODES],
                                      long n, uint64_t cycles)
{
	printf("%ld streams, %llu cycles; commands:", n, (unsigned long long)cycles);
	for (int i = 0; i < WEFT_N_CMDS; i++)
		printf(" %s %u", weft_cmd_list()[i].name, count[weft_cmd_list()[i].op]);
	printf("; modes: int8 %u, int16 %u, float8 %u; raw sums %u, loads of int4 %u, coded ones %u\n", modes[0], modes[1], modes[2], modes[3],
	       modes[4], modes[5]);
	fflush(stdout);
}

#endif

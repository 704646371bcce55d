/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of a card's link: echoes of all lengths and patterns, blocks to the card and back, how many
 * broken frames the card counted meanwhile, and how fast all that was. Then the card's tests of itself,
 * and the test of a reset.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/file.h>

#include "driver/clock.h"
#include "userlib/diag/diag.h"

#define BLOCK (128 * 1024)
#define ECHO_WORDS 127

/*
 * Asks the card's firmware, over the administration link, which is opened if necessary, for its counts
 * of frames, and writes them to *s. Returns 0 or a negative errno.
 */
static int stats(struct weft_diag *d, struct weft_msg_stats_reply *s)
{
	char msg[WEFT_ADMIN_MSG] = "";
	int err = diag_use_admin(d);
	int n = err ? err : weft_admin_ask(d->admin, (uint32_t[]){ WEFT_MSG_STATS }, 1, (uint32_t *)s, sizeof(*s) / 4, msg);

	return n < 0 ? n : 0;
}

/*
 * Sends pings of 0 to ECHO_WORDS words over the open administration link, with walking ones, all ones
 * or random words, and reports the first wrong word that comes back as DIAG-LINK-1; no more pings are
 * sent then. If all are right, *latency_us becomes the mean time of one ping in microseconds; otherwise
 * it is untouched. Returns 0, or the negative errno of a ping that failed.
 */
static int echoes(struct weft_diag *d, double *latency_us)
{
	uint32_t words[1 + ECHO_WORDS], reply[1 + ECHO_WORDS];
	char msg[WEFT_ADMIN_MSG] = "";
	uint64_t seed = 0xec40, begin = weft_now_ns();

	for (unsigned n = 0; n <= ECHO_WORDS; n++) {
		words[0] = WEFT_MSG_PING;
		for (unsigned i = 0; i < n; i++)
			words[1 + i] = n % 3 == 0 ? UINT32_C(1) << i % 32 : n % 3 == 1 ? UINT32_MAX : diag_random(&seed);
		int got = weft_admin_ask(d->admin, words, 1 + n, reply, 1 + ECHO_WORDS, msg);
		if (got < 0)
			return got;
		d->r->checks += 4 * n;
		for (unsigned i = 0; i < n; i++)
			if (got != (int)n + 1 || reply[1 + i] != words[1 + i]) {
				diag_find(d, "DIAG-LINK-1", DIAG_NOWHERE, "an echo of %u words comes back with %d words, word %u is 0x%08x, not 0x%08x", n,
				          got - 1, i, reply[1 + i], words[1 + i]);
				return 0;
			}
	}
	*latency_us = (double)(weft_now_ns() - begin) / 1000 / (ECHO_WORDS + 1);
	return 0;
}

/*
 * Opens the card for streams, if it is not, which closes the administration link. Then writes a block of
 * 128 KiB to the card, lets a job copy it through the scratchpad to another buffer (within
 * 60 s), and reads it back. The first wrong byte, which the frames' CRC has let pass, is reported as
 * DIAG-LINK-2; the bytes compared count as checks of the running test. *up becomes BLOCK by the time of the
 * job, with the transfer to the card that it waits for, *down BLOCK by the time of reading back, both in
 * MB/s; after a failure they mean nothing. Returns 0, or the negative errno of what failed, the job's too.
 */
static int blocks(struct weft_diag *d, double *up, double *down)
{
	struct weft_window win[2] = { { .rd = true }, { .rd = true, .wr = true } };
	struct diag_stream s = { 0 };
	struct weft_cmd end;
	struct weft_job_result r;
	uint8_t *data = malloc(BLOCK), *back = malloc(BLOCK);
	uint64_t seed = 0xb10c, at[3] = { 0 };
	uint32_t half = d->cfg->sp_bytes / 2 < BLOCK ? d->cfg->sp_bytes / 2 : BLOCK;
	weft_job job;
	int err = data && back ? diag_use_dev(d) : -ENOMEM;

	for (uint32_t i = 0; data && i < BLOCK; i++)
		data[i] = i < 4096 ? (uint8_t)(1u << i % 8) : i < 8192 ? 0xff : i < 12288 ? 0 : (uint8_t)diag_random(&seed);
	for (uint32_t i = 0; i < BLOCK; i += half) {
		diag_load(&s, i, 0, half);
		diag_transfer(&s, WEFT_CMD_STORE, WEFT_WIN_ARENA, i, 0, half);
	}
	weft_cmd_init(&end, WEFT_CMD_END);
	diag_add(&s, &end);
	if (!err && s.failed)
		err = -ENOMEM;
	if (!err && !(err = weft_buf_alloc(d->dev, BLOCK, &win[0].buf)) &&
	    !(err = weft_buf_alloc(d->dev, BLOCK, &win[1].buf)) && !(err = weft_buf_write(win[0].buf, 0, data, BLOCK))) {
		at[0] = weft_now_ns();
		err = weft_submit(d->dev, s.words, s.n_words, win, 2, &job);
		if (!err)
			err = weft_finish(d->dev, job, 60000, &r);
		at[1] = weft_now_ns();
		if (!err)
			err = r.status ? r.status : weft_buf_read(win[1].buf, 0, back, BLOCK);
		at[2] = weft_now_ns();
	}
	if (!err) {
		uint32_t i = 0;
		while (i < BLOCK && back[i] == data[i])
			i++;
		d->r->checks += BLOCK;
		if (i < BLOCK)
			diag_find(d, "DIAG-LINK-2", DIAG_NOWHERE, "a block comes back wrong: byte %u is 0x%02x, not 0x%02x", i, back[i], data[i]);
	}
	*up = BLOCK * 1000.0 / (double)(at[1] - at[0] + 1);
	*down = BLOCK * 1000.0 / (double)(at[2] - at[1] + 1);
	weft_buf_free(win[1].buf);
	weft_buf_free(win[0].buf);
	diag_stream_free(&s);
	free(data);
	free(back);
	return err;
}

/*
 * Test link: sends echoes, and a block to the card and back; data that come back wrong are findings
 * (DIAG-LINK-1, DIAG-LINK-2). If the card counted broken frames meanwhile, one finding states how many
 * (DIAG-LINK-4), even though they were repeated. The note gives the mean time of an echo and the speed
 * both ways. If the link breaks off (-EIO, -ETIMEDOUT, -EPROTO), that is a finding (DIAG-LINK-3), and
 * there is no note. The state is absent if the device is no card. Returns 0 whatever it found, or
 * another negative errno.
 */
int diag_link(struct weft_diag *d)
{
	struct weft_msg_stats_reply before, after;
	double latency = 0, up = 0, down = 0;

	if (d->o.kind != WEFT_DEV_USB) {
		diag_absent(d, "the device is no card");
		return 0;
	}
	int err = stats(d, &before);
	if (!err)
		err = echoes(d, &latency);
	if (!err)
		err = blocks(d, &up, &down);
	if (!err)
		err = stats(d, &after);
	if (err == -EIO || err == -ETIMEDOUT || err == -EPROTO) {
		diag_find(d, "DIAG-LINK-3", DIAG_NOWHERE, "the link breaks off (%s)", weft_file_error(err));
		return 0;
	}
	if (err)
		return err;
	/* Opening the card resets the link but not the card's counters. */
	if (after.header_errors != before.header_errors || after.payload_errors != before.payload_errors)
		diag_find(d, "DIAG-LINK-4", DIAG_NOWHERE, "the card counted %u frames with a broken header and %u with a broken payload; all were repeated",
		          after.header_errors - before.header_errors, after.payload_errors - before.payload_errors);
	diag_note(d, "%.0f us an echo, %.1f MB/s to the card, %.1f MB/s from it", latency, up, down);
	return 0;
}

/*
 * Test core: asks the card to test itself (core, arithmetic, timer, registers, memory, flash), counts
 * the parts that it ran as checks, and has a finding for each part that it reports as failed (the
 * card's memory DIAG-CORE-2, others DIAG-CORE-1), with the address that the card gives. The state is
 * absent if the device is no card. Returns 0 whatever it found, or a negative errno if the card does
 * not answer.
 */
int diag_core(struct weft_diag *d)
{
	static const char *const names[] = { "RAM of the core", "CRC and arithmetic", "timer and watchdog", "NPU registers", "card memory",
		"flash" };
	uint32_t words[2] = { WEFT_MSG_SELF_TEST, 63 };
	struct weft_msg_self_test_reply r = { 0 };
	char msg[WEFT_ADMIN_MSG] = "";

	if (d->o.kind != WEFT_DEV_USB) {
		diag_absent(d, "the device is no card");
		return 0;
	}
	int err = diag_use_admin(d);
	int n = err ? err : weft_admin_ask(d->admin, words, 2, (uint32_t *)&r, sizeof(r) / 4, msg);
	if (n < 0 && r.head >> 16 != WEFT_MSG_ERR_SELF_TEST)
		return n;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct diag_place at = DIAG_NOWHERE;
		at.addr = r.where;
		d->r->checks += r.ran >> i & 1;
		if (r.failed >> i & 1)
			diag_find(d, i == 4 ? "DIAG-CORE-2" : "DIAG-CORE-1", at, "self-test \"%s\" fails: at 0x%x 0x%x, not 0x%x", names[i], r.where,
			          r.got, r.expected);
	}
	return 0;
}

/*
 * Test reset. On a card: it must answer after a reset (else DIAG-RST-2), and its count of starts must have
 * changed (else DIAG-RST-3). On the RTL: a reset of the NPU must end (else DIAG-RST-1). On the model
 * nothing is done, but a check is counted. Findings go to d->r. Returns 0 whatever it found, or a negative
 * errno if the device cannot be opened.
 */
int diag_restart(struct weft_diag *d)
{
	char msg[WEFT_ADMIN_MSG] = "";

	if (d->o.kind != WEFT_DEV_USB) {
		int err = d->o.kind == WEFT_DEV_RTL ? diag_use_dev(d) : 0;
		if (!err && d->o.kind == WEFT_DEV_RTL && weft_dev_reset(d->dev))
			diag_find(d, "DIAG-RST-1", DIAG_NOWHERE, "ctrl.reset: status.busy does not fall");
		d->r->checks++;
		return err;
	}
	int err = diag_use_admin(d);
	if (err)
		return err;
	uint32_t before = weft_admin_hello(d->admin)->boot_count;
	err = weft_admin_reset(d->admin, msg);
	if (err) {
		diag_find(d, "DIAG-RST-2", DIAG_NOWHERE, "after a reset the card does not answer: %.160s", msg);
		return 0;
	}
	d->r->checks++;
	if (weft_admin_hello(d->admin)->boot_count == before)
		diag_find(d, "DIAG-RST-3", DIAG_NOWHERE, "after a reset the card has not started anew (%u starts)", before);
	return 0;
}

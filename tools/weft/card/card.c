/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft card: one card's own affairs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/admin.h>
#include <weft/gen/chip.h>
#include <weft/gen/cmd.h>

#include "tools/weft/target.h"
#include <weft/file.h>
#include "tools/weft/weft_cmd.h"

#define TIMEOUT_MS 10000

struct wishes {
	const char *which, *update, *slot, *floor;
	bool log, stats, test, regs, reset, rescue;
};

static void show_who(const weft_admin *a)
{
	const struct weft_msg_hello_reply *h = weft_admin_hello(a);
	char serial[sizeof(h->serial) + 1] = "";

	memcpy(serial, h->serial, sizeof(h->serial));
	printf("card %s: ", serial);
	if (h->slot > 1)
		printf("the boot ROM answers: no firmware is good, or a rescue was asked for; load one with --update\n");
	else
		printf("firmware %u.%u.%u in slot %u%s, started %u times since power, last because %s\n", h->fw_version >> 16,
		       h->fw_version >> 8 & 255, h->fw_version & 255, h->slot, h->trial ? " (new, confirmed now)" : "",
		       h->boot_count, weft_chip_cause_text(h->reset_cause));
	if (h->development)
		printf("development key: anybody can sign firmware for this card\n");
	else if (h->key_id)
		printf("owner's key %08x\n", h->key_id);
	if (h->key_id)
		printf("security version %u, none below %u is started\n", h->security_version, h->floor);
}

/* A number of an entry in words, or NULL. */
static const char *in_words(uint32_t code, uint32_t a, uint32_t b)
{
	switch (code) {
	case WEFT_LOG_BOOT:        return weft_chip_cause_text(a);
	case WEFT_LOG_JOB_FAULT:   return weft_fault_brief(b & 0xff);
	case WEFT_LOG_JOB_REFUSED: return weft_msg_error_text(b);
	default:                   return NULL;
	}
}

int card_log(weft_admin *a, char *msg)
{
	uint32_t at = 0, next;

	do {
		uint32_t words[2] = { WEFT_MSG_LOG_READ, at }, reply[WEFT_FRAME_MSG_MAX / 4];
		int n = weft_admin_ask(a, words, 2, reply, WEFT_FRAME_MSG_MAX / 4, msg);

		if (n < 2)
			return n < 0 ? n : -EPROTO;
		next = reply[1];
		for (int i = 2; i + 4 < n; i += 5) {
			const char *format = weft_log_format(reply[i + 2]);
			const char *words_too = in_words(reply[i + 2], reply[i + 3], reply[i + 4]);

			printf("%6u %12llu  ", reply[i], (unsigned long long)reply[i + 1] << 10);
			printf(format ? format : "code %3$u: %1$u %2$u", reply[i + 3], reply[i + 4], reply[i + 2]);
			printf("%s%s%s\n", words_too ? " (" : "", words_too ? words_too : "", words_too ? ")" : "");
			if (reply[i] < at) {   /* a card that repeats itself would never end */
				snprintf(msg, WEFT_ADMIN_MSG, "card: log_read: entry %u behind %u", reply[i], at);
				return -EPROTO;
			}
			at = reply[i] + 1;
		}
		if (n < 7)
			break;
	} while (at != next);
	return 0;
}

static int show_stats(weft_admin *a, char *msg)
{
	static const char *const names[] = { "jobs that reached END", "jobs that faulted", "jobs stopped at their deadline",
		"jobs cancelled", "SUBMITs refused", "NPU resets", "of them by force", "messages", "messages refused",
		"link resets", "frames in", "frames out", "frames with a broken header", "frames with a broken payload",
		"frames refused", "starts since power", "of them by the watchdog", "of them after a trap", "log entries" };
	struct weft_msg_stats_reply s;
	const uint32_t *v = &s.jobs_ok;
	int n = weft_admin_ask(a, (uint32_t[]){ WEFT_MSG_STATS }, 1, (uint32_t *)&s, sizeof(s) / 4, msg);

	if (n < 0)
		return n;
	printf("%12llu  cycles since start\n", (unsigned long long)s.time_hi << 32 | s.time_lo);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		printf("%12u  %s\n", v[i], names[i]);
	return 0;
}

_Static_assert(sizeof(struct weft_msg_stats_reply) == 4 * (3 + 19), "names of show_stats()");

static int run_test(weft_admin *a, char *msg)
{
	static const char *const names[] = { "RAM of the core", "CRC and arithmetic", "timer and watchdog", "NPU registers",
		"card memory", "flash" };
	uint32_t words[2] = { WEFT_MSG_SELF_TEST, 63 };
	struct weft_msg_self_test_reply r;
	int n = weft_admin_ask(a, words, 2, (uint32_t *)&r, sizeof(r) / 4, msg);

	if (n < 0 && r.head >> 16 != WEFT_MSG_ERR_SELF_TEST)
		return n;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		printf("%-20s %s\n", names[i], r.failed >> i & 1 ? "FAILED" : r.ran >> i & 1 ? "passed" : "not run");
	if (!r.failed)
		return 0;
	snprintf(msg, WEFT_ADMIN_MSG, "self-test failed: at 0x%x expected 0x%x, got 0x%x", r.where, r.expected, r.got);
	return -EBADMSG;
}

static int update(weft_admin *a, const char *name, char *msg)
{
	uint8_t *image;
	size_t n;
	/* What is larger does not fit, and says so itself. */
	int err = weft_file_read(name, 2 * WEFT_FLASH_SLOT_BYTES, &image, &n);

	if (err) {
		snprintf(msg, WEFT_ADMIN_MSG, "%s: %s", name, weft_file_error(err));
		return err == -ENOMEM ? err : -EINVAL;
	}
	err = weft_admin_update(a, image, n, NULL, NULL, msg);
	free(image);
	return err;
}

/* A message with one number, which the card may refuse. */
static int order(weft_admin *a, uint32_t type, const char *text, uint32_t most, char *msg)
{
	char *end;
	const unsigned long v = strtoul(text, &end, 10);

	if (!*text || *end || text[0] == '-' || v > most) {
		snprintf(msg, WEFT_ADMIN_MSG, "\"%s\" is not a number from 0 to %u", text, most);
		return -EINVAL;
	}
	const int n = weft_admin_ask(a, (uint32_t[]){ type, (uint32_t)v }, 2, NULL, 0, msg);
	return n == -EPROTO ? -EINVAL : n < 0 ? n : 0;
}

static int start_slot(weft_admin *a, const char *slot, char *msg)
{
	const int err = order(a, WEFT_MSG_FW_BOOT, slot, 1, msg);

	return err ? err : weft_admin_reset(a, msg);
}

/* And greet it again: then it says what the floor is. */
static int raise_floor(weft_admin *a, const char *floor, char *msg)
{
	const int err = order(a, WEFT_MSG_FW_FLOOR, floor, WEFT_FLASH_IMAGE_SECURITY, msg);

	return err ? err : weft_admin_reset(a, msg);
}

static int serve(weft_admin *a, const struct wishes *w, char *msg)
{
	int err = 0;

	if (w->update)
		err = update(a, w->update, msg);
	if (!err && w->slot)
		err = start_slot(a, w->slot, msg);
	if (!err && w->floor)
		err = raise_floor(a, w->floor, msg);
	if (!err && w->reset)
		err = weft_admin_reset(a, msg);
	if (err)
		return err;
	show_who(a);
	if (w->test)
		err = run_test(a, msg);
	if (!err && w->stats)
		err = show_stats(a, msg);
	if (!err && w->regs)
		err = regs_print(&(struct target){ .a = a }, msg);
	if (!err && w->log)
		err = card_log(a, msg);
	return err;
}

static int card_main(int argc, char **argv)
{
	static const struct option_def defs[] = { { "--update", true }, { "--log", false }, { "--stats", false },
		{ "--test", false }, { "--regs", false }, { "--reset", false }, { "--rescue", false }, { "--slot", true },
		{ "--floor", true }, { NULL, false } };
	struct wishes w = { .which = "" };
	bool *const flags[] = { NULL, &w.log, &w.stats, &w.test, &w.regs, &w.reset, &w.rescue };
	char msg[WEFT_ADMIN_MSG] = "";
	weft_admin *a = NULL;
	const char *v;
	int at = 0, opt;

	while ((opt = next_option(&at, argc, argv, defs, &v)) != -2) {
		if (opt == -3)
			return EXIT_USAGE;
		if (opt == -1)
			w.which = !strncmp(v, "usb:", 4) ? v + 4 : v;
		else if (opt == 0)
			w.update = v;
		else if (opt == 7)
			w.slot = v;
		else if (opt == 8)
			w.floor = v;
		else
			*flags[opt] = true;
	}
	if (!w.which[0])
		say_broker();
	int err = w.rescue ? weft_admin_open_rescue(w.which, TIMEOUT_MS, &a, msg) : weft_admin_open(w.which, TIMEOUT_MS, &a, msg);
	if (!err)
		err = serve(a, &w, msg);
	weft_admin_close(a);
	return err ? fail(status_of(err), "%s", msg[0] ? msg : weft_file_error(err)) : EXIT_DONE;
}

const struct subcommand cmd_card = {
	"card", "a card's firmware, log, counters, self-test",
	"usage: weft card [usb:SERIAL | usb:@SOCKET] [OPTIONS]\n\n"
	"Says who the card is; then, in this order:\n"
	"  --update IMAGE   load firmware, start it, and see that it answers (otherwise the\n"
	"                   card goes back to what it ran before)\n"
	"  --rescue         before anything else: stop whatever firmware the card runs, by resets that\n"
	"                   no firmware can prevent; the boot ROM answers and takes --update\n"
	"  --slot N         start the image of slot 0 or 1 from now on\n"
	"  --floor N        for ever: start no image of a security version below N\n"
	"  --reset          reset the card\n"
	"  --test           let the card test itself; exit status 1 if a test fails\n"
	"  --stats          counters since its start\n"
	"  --regs           registers of the NPU; weft regs does more with them\n"
	"  --log            the log, which survives resets: number, cycle, what\n",
	card_main,
};

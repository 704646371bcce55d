/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session over several cards: four simulated ones, each a process. How runs are divided, that their
 * order is kept, that one card may go in the middle, and what is refused. Takes some seconds.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <weft/cards.h>
#include <weft/weft.h>

#include "tests/support/card_process.h"
#include "tests/support/level.h"

#define NET "tests/models/digits_int8.tflite"
#define CARDS 4
#define RUNS 64
#define ROOM 4096

struct bench {
	struct card_process card[CARDS];
	char all[CARDS * 128];     /* their names, as a list */
	weft_net *net;
	weft_session *s;
	weft_tensor in[RUNS], out[RUNS];
	uint8_t data[RUNS][ROOM], want[RUNS][ROOM], got[RUNS][ROOM];
	size_t n_out;              /* bytes of an output */
	uint64_t cycles;           /* of a run on one card */
};

static struct bench b;

static weft_tensor tensor_of(const struct weft_port *p, void *data)
{
	weft_tensor t = { .dtype = p->dtype, .rank = p->rank, .data = data };

	memcpy(t.dim, p->dim, sizeof(t.dim));
	assert_true(weft_tensor_bytes(&t) <= ROOM);
	return t;
}

/* The answers of golden, RUNS of them, which differ. */
static void make_answers(void)
{
	struct weft_session_options o = weft_session_options_default();
	struct weft_port in, out;
	char msg[WEFT_MSG_LEN];
	int differ = 0;

	o.device = WEFT_DEVICE_GOLDEN;
	assert_int_equal(weft_net_load_file(NET, &b.net, msg), 0);
	assert_int_equal(weft_session_open(b.net, &o, &b.s, msg), 0);
	weft_net_input(b.net, 0, &in);
	weft_net_output(b.net, 0, &out);
	for (int i = 0; i < RUNS; i++) {
		for (int k = 0; k < ROOM; k++)
			b.data[i][k] = (uint8_t)(k * (2 * i + 3) + i);
		b.in[i] = tensor_of(&in, b.data[i]);
		b.out[i] = tensor_of(&out, b.want[i]);
		assert_int_equal(weft_session_run_into(b.s, &b.in[i], &b.out[i], NULL, msg), 0);
		b.out[i] = tensor_of(&out, b.got[i]);
		differ += i && memcmp(b.want[0], b.want[i], weft_tensor_bytes(&b.out[i])) != 0;
	}
	assert_true(differ > RUNS / 2);
	b.n_out = weft_tensor_bytes(&b.out[0]);
	weft_session_close(b.s);
}

static int open_session(const char *usb, char *msg)
{
	struct weft_session_options o = weft_session_options_default();

	o.device = WEFT_DEVICE_USB;
	o.usb = usb;
	o.usb_wait_ms = 5000;
	return weft_session_open(b.net, &o, &b.s, msg);
}

static void must_open(const char *usb)
{
	char msg[WEFT_MSG_LEN] = "";

	if (open_session(usb, msg))
		fail_msg("%s: %s", usb, msg);
}

/* Four cards, with more arguments for each. */
static void start(char *const extra[])
{
	char serial[16];

	memset(&b, 0, sizeof(b));
	for (int i = 0; i < CARDS; i++) {
		snprintf(serial, sizeof(serial), "CARDS%d", i);
		card_process_start(&b.card[i], serial, extra);
		snprintf(b.all + strlen(b.all), sizeof(b.all) - strlen(b.all), "%s%s", i ? "," : "", b.card[i].where);
	}
	make_answers();
}

static void stop(void)
{
	weft_session_close(b.s);
	weft_net_free(b.net);
	for (int i = 0; i < CARDS; i++)
		if (b.card[i].pid)
			card_process_stop(&b.card[i]);
}

/* The socket breaks, as if the cable was pulled. */
static void kill_card(int i)
{
	kill(b.card[i].pid, SIGKILL);
	waitpid(b.card[i].pid, NULL, 0);
	unlink(b.card[i].path);
	b.card[i].pid = 0;
}

static struct weft_cards_info info(int i)
{
	struct weft_cards_info c;

	assert_int_equal(weft_cards_info(weft_session_cards(b.s), i, &c), 0);
	return c;
}

/*
 * RUNS runs in a row, in order. kill_at: when so many have ended, card 1 is killed; -1: it is not. Each
 * answer must be there, in order, and right.
 */
static void run_all(int kill_at)
{
	char msg[WEFT_MSG_LEN] = "";
	weft_run run[RUNS], ended;

	memset(b.got, 0xa5, sizeof(b.got));
	const int fd = weft_session_fd(b.s);
	for (int i = 0; i < RUNS; i++)
		if (weft_session_submit(b.s, &b.in[i], &b.out[i], &run[i], msg))
			fail_msg("run %d: %s", i, msg);
	for (int i = 0; i < RUNS; i++) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		assert_int_equal(poll(&p, 1, 120000), 1);
		assert_int_equal(weft_session_poll(b.s, &ended), 1);
		assert_int_equal(ended, run[i]);
		if (weft_session_wait(b.s, ended, 0, NULL, msg))
			fail_msg("run %d: %s", i, msg);
		assert_memory_equal(b.got[i], b.want[i], b.n_out);
		if (i == kill_at)
			kill_card(1);
	}
	assert_int_equal(weft_session_poll(b.s, &ended), 0);
}

/* The cycles of one run on one card, alone. */
static uint64_t cycles_alone(void)
{
	struct weft_report *r = NULL;
	char msg[WEFT_MSG_LEN] = "";

	must_open(b.card[0].where);
	assert_null(weft_session_cards(b.s));
	if (weft_session_run_into(b.s, &b.in[0], &b.out[0], &r, msg))
		fail_msg("%s", msg);
	const uint64_t cycles = r->cycles;
	weft_report_free(r);
	weft_session_close(b.s);
	assert_true(cycles > 0);
	return cycles;
}

/* Runs divided by the busiest card's cycles: at least 3.5 times what one card does in them. */
static void divided_on(char *const extra[])
{
	uint64_t busiest = 0, runs = 0;

	start(extra);
	const uint64_t alone = cycles_alone();
	must_open(b.all);
	assert_int_equal(weft_cards_count(weft_session_cards(b.s)), CARDS);
	run_all(-1);
	for (int i = 0; i < CARDS; i++) {
		const struct weft_cards_info c = info(i);
		assert_string_equal(c.name, b.card[i].where);
		assert_false(c.lost);
		assert_int_equal(c.repeated, 0);
		busiest = c.cycles > busiest ? c.cycles : busiest;
		runs += c.runs;
	}
	assert_int_equal(runs, RUNS);
	const double gain = (double)RUNS / (double)busiest * (double)alone;
	printf("%d runs on %d cards, %llu cycles each: the busiest works %llu cycles, %.2f times one card\n", RUNS, CARDS,
	       (unsigned long long)alone, (unsigned long long)busiest, gain);
	assert_true(gain >= 3.5);
	stop();
}

static void divided(void **state)
{
	static char *const rtl[] = { "--chip", "rtl", NULL };

	(void)state;
	divided_on(NULL);
	if (test_level() > 0)
		divided_on(rtl);
}

/* One card is killed in the middle: no answer is wrong, none is lost, and the rest goes on. */
static void lost(void **state)
{
	char msg[WEFT_MSG_LEN];
	weft_tensor out = { 0 };

	(void)state;
	start(NULL);
	must_open(b.all);
	run_all(10);
	uint64_t runs = 0;
	for (int i = 0; i < CARDS; i++) {
		runs += info(i).runs;
		if (i != 1)
			assert_false(info(i).lost);
	}
	assert_int_equal(runs, RUNS);
	/* If it was killed between two runs, the next one finds out. */
	run_all(-1);
	assert_true(info(1).lost);
	assert_true(info(1).repeated >= 1);
	/* What the driver was at says which of its lines it is. */
	assert_true(info(1).why[0]);
	for (int i = 0; i < CARDS; i++)
		if (i != 1)
			kill_card(i);
	assert_int_equal(weft_session_run(b.s, b.in, &out, NULL, msg), -ENODEV);
	assert_non_null(strstr(msg, "none of 4 cards is left; the last: "));
	assert_int_equal(weft_session_run_into(b.s, b.in, b.out, NULL, msg), -ENODEV);
	stop();
}

/* One card gives an error where the others do not: it is left out after the second. */
static void faulty(void **state)
{
	/* Two of its loads get a bus error, which ends their jobs. */
	static char *const bus[] = { "--fault", "bus@60,0", "--fault", "bus@120,0", NULL };
	struct card_process bad;
	char list[1024];

	(void)state;
	start(NULL);
	card_process_start(&bad, "CARDSBAD", bus);
	snprintf(list, sizeof(list), "%s,%s", bad.where, b.all);
	must_open(list);
	run_all(-1);
	run_all(-1);
	uint64_t runs = 0;
	for (int i = 0; i <= CARDS; i++) {
		runs += info(i).runs;
		assert_int_equal(info(i).lost, i == 0);
	}
	assert_int_equal(runs, 2 * RUNS);
	assert_int_equal(info(0).repeated, 2);
	assert_non_null(strstr(info(0).why, "fault"));
	card_process_stop(&bad);
	stop();
}

struct caller { int first; char msg[WEFT_MSG_LEN]; };

static void *call(void *user)
{
	struct caller *const c = user;

	for (int i = c->first; i < RUNS; i += CARDS)
		if (weft_session_run_into(b.s, &b.in[i], &b.out[i], NULL, c->msg))
			return c;
	return NULL;
}

/* Threads that wait for their runs use all cards, and neither poll nor the descriptor tell of these runs. */
static void threads(void **state)
{
	struct caller c[CARDS];
	pthread_t t[CARDS];
	weft_run ended;
	void *bad;

	(void)state;
	start(NULL);
	must_open(b.all);
	for (int i = 0; i < CARDS; i++) {
		c[i].first = i;
		assert_int_equal(pthread_create(&t[i], NULL, call, &c[i]), 0);
	}
	for (int i = 0; i < CARDS; i++) {
		pthread_join(t[i], &bad);
		if (bad)
			fail_msg("%s", c[i].msg);
		assert_int_equal(weft_session_poll(b.s, &ended), 0);
	}
	for (int i = 0; i < RUNS; i++)
		assert_memory_equal(b.got[i], b.want[i], b.n_out);
	for (int i = 0; i < CARDS; i++)
		assert_in_range(info(i).runs, RUNS / CARDS - 1, RUNS / CARDS + 1);
	stop();
}

/* Two sessions on the same cards, at the same time, one of them checked; runs are cancelled, a session closed in the middle. */
static void shared(void **state)
{
	struct weft_session_options o = weft_session_options_default();
	struct weft_dev_options d = weft_dev_options_default();
	char msg[WEFT_MSG_LEN] = "";
	weft_session *s[2];
	weft_cards *cards;
	weft_run run[RUNS];
	int cancelled = 0;

	(void)state;
	start(NULL);
	d.kind = WEFT_DEV_USB;
	d.usb = b.all;
	if (weft_cards_open(&d, &cards, msg))
		fail_msg("%s", msg);
	o.device = WEFT_DEVICE_USB;
	o.on_cards = cards;
	for (int k = 0; k < 2; k++) {
		o.check = k;
		assert_int_equal(weft_session_open(b.net, &o, &s[k], msg), 0);
	}
	for (int i = 0; i < RUNS; i++)
		assert_int_equal(weft_session_submit(s[i % 2], &b.in[i], &b.out[i], &run[i], msg), 0);
	for (int i = RUNS / 2; i < RUNS; i += 3)
		assert_int_equal(weft_session_cancel(s[i % 2], run[i]), 0);
	for (int i = 0; i < RUNS; i++) {
		const int err = weft_session_wait(s[i % 2], run[i], -1, NULL, msg);
		const bool may = i >= RUNS / 2 && (i - RUNS / 2) % 3 == 0;
		if (err && (!may || err != -ECANCELED))
			fail_msg("run %d: %d %s", i, err, msg);
		cancelled += err == -ECANCELED;
		if (!err)
			assert_memory_equal(b.got[i], b.want[i], b.n_out);
	}
	assert_true(cancelled > 0);
	for (int i = 0; i < RUNS / 2; i++)
		assert_int_equal(weft_session_submit(s[0], &b.in[i], &b.out[i], &run[i], msg), 0);
	weft_session_close(s[0]);
	assert_int_equal(weft_session_run_into(s[1], &b.in[0], &b.out[0], NULL, msg), 0);
	weft_session_close(s[1]);
	weft_cards_close(cards);
	b.s = NULL;
	stop();
}

/* A session with these options is one for w8; its runs are right. */
static void is_for_w8(const struct weft_session_options *o)
{
	char msg[WEFT_MSG_LEN] = "";

	if (weft_session_open(b.net, o, &b.s, msg))
		fail_msg("%s", msg);
	assert_string_equal(weft_session_config(b.s), "w8");
	run_all(-1);
	weft_session_close(b.s);
	b.s = NULL;
}

/* Without a configuration the session has that of its cards, which all have to have the same. */
static void own_configuration(void **state)
{
	static char *const w8[] = { "--config", "w8", NULL };
	struct weft_session_options o = weft_session_options_default();
	struct weft_dev_options d = weft_dev_options_default();
	struct card_process other;
	weft_cards *cards;
	char text[8192], msg[WEFT_MSG_LEN] = "";

	(void)state;
	start(w8);
	o.device = WEFT_DEVICE_USB;
	o.usb = b.all;
	o.config = NULL;
	is_for_w8(&o);
	/* The same on cards that the caller has opened. */
	d.kind = WEFT_DEV_USB;
	d.usb = b.all;
	d.config = NULL;
	if (weft_cards_open(&d, &cards, msg))
		fail_msg("%s", msg);
	assert_string_equal(weft_cards_config(cards), "w8");
	o.usb = NULL;
	o.on_cards = cards;
	is_for_w8(&o);
	weft_cards_close(cards);
	assert_int_equal(run_line(text, sizeof(text), "run " NET " --device usb:%s --check --no-capture", b.all), 0);
	assert_non_null(strstr(text, "0 mismatches"));
	card_process_start(&other, "CARDSW16", NULL);
	assert_int_equal(run_line(text, sizeof(text), "run " NET " --device usb:%s,%s", b.card[0].where, other.where), 3);
	assert_non_null(strstr(text, "card has configuration w16, not w8"));
	assert_int_equal(run_line(text, sizeof(text), "run " NET " --device usb:%s --config w16", b.all), 3);
	assert_non_null(strstr(text, "card has configuration w8, not w16"));
	card_process_stop(&other);
	stop();
}

/* The same words in the command, and what one cannot say. */
static void command(void **state)
{
	char text[8192], folder[256];

	(void)state;
	start(NULL);
	assert_int_equal(run_line(text, sizeof(text), "run " NET " --device usb:%s --check --no-capture", b.all), 0);
	assert_non_null(strstr(text, "0 mismatches"));
	/* All sockets that fit; their folder is this test's own. */
	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(b.card[0].path, '/') - b.card[0].path), b.card[0].path);
	if (run_line(text, sizeof(text), "run " NET " --device 'usb:@%s/weft-CARDS*-%d.sock' --no-capture", folder, (int)getpid()))
		fail_msg("%s", text);
	assert_int_equal(run_line(text, sizeof(text), "run " NET " --device 'usb:@%s/NONE*.sock'", folder), 3);
	assert_non_null(strstr(text, "usb: no socket fits"));
	assert_int_equal(run_line(text, sizeof(text), "run " NET " --device usb:%s,%s", b.card[0].where, b.card[0].where), 2);
	assert_non_null(strstr(text, "is named twice"));
	assert_int_equal(run_line(text, sizeof(text), "run " NET " --device usb:%s,", b.card[0].where), 2);
	assert_non_null(strstr(text, "an entry of the list is empty"));
	assert_int_equal(run_line(text, sizeof(text), "run " NET " --device usb:%s --dump %s", b.all, folder), 2);
	assert_non_null(strstr(text, "several cards: tensors are kept of a run on one card; name one card"));
	assert_int_equal(run_line(text, sizeof(text), "run " NET " --device usb:%s --profile %s/p.json", b.all, folder), 2);
	assert_non_null(strstr(text, "several cards: a profile is one of a run on one card; name one card"));
	assert_int_equal(run_line(text, sizeof(text), "card usb:%s", b.all), 2);
	assert_non_null(strstr(text, "names several cards; here goes one, such as usb:SERIAL"));
	assert_int_equal(run_line(text, sizeof(text), "run " NET " --device usb:%s,@%s/none.sock", b.all, folder), 3);
	assert_non_null(strstr(text, "no simulated card answers"));
	b.s = NULL;
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(divided), cmocka_unit_test(lost), cmocka_unit_test(faulty), cmocka_unit_test(threads),
		cmocka_unit_test(shared), cmocka_unit_test(own_configuration), cmocka_unit_test(command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

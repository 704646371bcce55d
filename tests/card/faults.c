/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thing goes wrong at one transfer of a run, for every transfer and every
 * kind. The run then gives the right bytes or an error, in time; never wrong
 * bytes, a crash or a hang. A run with nothing wrong follows each.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <unistd.h>

#include "../support/inproc.h"
#include "../support/level.h"
#include "../support/random_stream.h"
#include "../support/stub_chip.h"
#include "driver/backend.h"

#define N_JOBS 3
#define JOB_MS 3000
#define N_KINDS 6              /* of transfers: drop .. disconnect */

/* Each job has its stream and its buffers; the last one runs in the first one's once more. */
struct plan {
	struct random_stream s[N_JOBS - 1];
	uint8_t *want[N_JOBS - 1];
};

struct outcome {
	int status;                /* the first error */
	char what[WEFT_DEV_MSG];
	bool wrong;
	struct weft_card_info card;
};

static const struct weft_chip_ops *ops = &stub_chip;
static void *chip;

static void expect(struct plan *p)
{
	struct weft_dev_options o = weft_dev_options_default();
	char msg[WEFT_DEV_MSG] = "";
	weft_dev *dev;

	assert_int_equal(weft_dev_open(&o, &dev, msg), 0);
	for (int i = 0; i < N_JOBS - 1; i++) {
		struct random_stream *s = &p->s[i];
		struct weft_window win[2] = { { .rd = true }, { .rd = true, .wr = true } };
		struct weft_job_result r;
		weft_job job;
		assert_int_equal(weft_buf_alloc(dev, s->n_consts, &win[0].buf), 0);
		assert_int_equal(weft_buf_alloc(dev, s->n_arena, &win[1].buf), 0);
		assert_int_equal(weft_buf_write(win[0].buf, 0, s->consts, s->n_consts), 0);
		assert_int_equal(weft_submit(dev, s->words, s->n_words, win, 2, &job), 0);
		assert_int_equal(weft_wait(dev, job, 0, &r), 0);
		assert_int_equal(r.status, 0);
		p->want[i] = malloc(s->n_arena);
		assert_int_equal(weft_buf_read(win[1].buf, 0, p->want[i], s->n_arena), 0);
		weft_buf_free(win[0].buf);
		weft_buf_free(win[1].buf);
	}
	weft_dev_close(dev);
}

static void note(struct outcome *o, int err, weft_dev *dev)
{
	if (!err || o->status)
		return;
	o->status = err;
	snprintf(o->what, sizeof(o->what), "%s", dev ? weft_dev_error(dev) : "");
}

static void compare(struct outcome *o, weft_dev *dev, weft_buf *arena, const struct plan *p, int i)
{
	size_t n = p->s[i].n_arena;
	uint8_t *got = malloc(n);
	int err = weft_buf_read(arena, 0, got, n);

	note(o, err, dev);
	if (!err && memcmp(got, p->want[i], n))
		o->wrong = true;
	free(got);
}

static void run(const struct plan *p, struct outcome *o)
{
	struct weft_dev_options d = weft_dev_options_default();
	struct weft_window win[N_JOBS - 1][2];
	weft_job job[N_JOBS] = { 0 };
	struct weft_job_result r;
	weft_dev *dev;

	memset(o, 0, sizeof(*o));
	d.kind = WEFT_DEV_USB;
	d.usb_ops = &inproc_ops;
	d.usb_timeout_ms = 10;
	d.usb_boot_ms = 200;
	o->status = weft_dev_open(&d, &dev, o->what);
	if (o->status)
		return;
	memset(win, 0, sizeof(win));
	for (int i = 0; i < N_JOBS - 1; i++) {
		win[i][0].rd = win[i][1].rd = win[i][1].wr = true;
		note(o, weft_buf_alloc(dev, p->s[i].n_consts, &win[i][0].buf), dev);
		note(o, weft_buf_alloc(dev, p->s[i].n_arena, &win[i][1].buf), dev);
		note(o, weft_buf_write(win[i][0].buf, 0, p->s[i].consts, p->s[i].n_consts), dev);
		note(o, weft_submit(dev, p->s[i].words, p->s[i].n_words, win[i], 2, &job[i]), dev);
	}
	for (int i = 0; i < N_JOBS; i++) {
		int k = i % (N_JOBS - 1);
		if (i == N_JOBS - 1) {
			/* Again from zero. */
			uint8_t *zero = calloc(1, p->s[k].n_arena);
			int err = weft_buf_write(win[k][1].buf, 0, zero, p->s[k].n_arena);
			note(o, err, dev);
			free(zero);
			job[i] = 0;
			if (!err)
				note(o, weft_submit(dev, p->s[k].words, p->s[k].n_words, win[k], 2, &job[i]), dev);
		}
		if (!job[i])
			continue;
		note(o, weft_wait(dev, job[i], JOB_MS, &r), dev);
		note(o, r.status, dev);
		if (!r.status)
			compare(o, dev, win[k][1].buf, p, k);
	}
	assert_int_equal(weft_dev_card(dev, &o->card), 0);
	for (int i = 0; i < N_JOBS - 1; i++) {
		weft_buf_free(win[i][0].buf);
		weft_buf_free(win[i][1].buf);
	}
	weft_dev_close(dev);
}

/* How many transfers a run takes. */
static uint64_t clean(const struct plan *p)
{
	struct usbdev *d = usbdev_new(ops, chip, "CLEAN", NULL, 0);
	struct outcome o;

	inproc_plug(d);
	run(p, &o);
	if (o.status || o.wrong)
		fail_msg("a run without faults: %d %s%s", o.status, o.what, o.wrong ? "wrong bytes" : "");
	uint64_t n = usbdev_n_transfers(d);
	usbdev_free(d);
	return n;
}

struct tally { unsigned injected, recovered, reported, not_met; double slowest; };

static void inject(const struct plan *p, uint64_t seed, enum usbdev_fault_kind kind, uint64_t at, struct tally *t)
{
	/* Longer than the driver waits; a pulled card stays away. */
	struct usbdev_fault f = { .kind = kind, .at = at, .arg = kind == USBDEV_DELAY ? 15 : 0 };
	struct usbdev *d = usbdev_new(ops, chip, "FAULTY", &f, 1);
	struct outcome o;
	uint64_t begin = weft_now_ns();

	inproc_plug(d);
	run(p, &o);
	double s = (double)(weft_now_ns() - begin) * 1e-9;
	if (s > t->slowest)
		t->slowest = s;
	t->injected += f.done;
	t->not_met += !f.done;
	t->recovered += f.done && !o.status;
	t->reported += f.done && o.status;
	if (getenv("WEFT_FAULTS_VERBOSE"))
		printf("%s@%llu: %d %s (%.3f s)\n", usbdev_fault_name(kind), (unsigned long long)at, o.status, o.what, s);
	if (o.wrong)
		fail_msg("seed %llu, %s@%llu: wrong bytes and no error", (unsigned long long)seed, usbdev_fault_name(kind),
		         (unsigned long long)at);
	if (s > N_JOBS * JOB_MS * 1e-3)
		fail_msg("seed %llu, %s@%llu: took %.1f s", (unsigned long long)seed, usbdev_fault_name(kind),
		         (unsigned long long)at, s);
	if (o.status > 0 || (o.status && !o.what[0]))
		fail_msg("seed %llu, %s@%llu: status %d and no message", (unsigned long long)seed,
		         usbdev_fault_name(kind), (unsigned long long)at, o.status);
	usbdev_free(d);
	clean(p);
}

static void test_every_transfer(void **state)
{
	const struct weft_config *cfg = weft_config_find("w16");
	struct weft_chip_options co = { .config = "w16" };
	char msg[WEFT_DEV_MSG] = "";
	struct tally t = { 0 };
	uint64_t first = test_seed(1);
	long n = test_count(400, 1100, 6000);

	(void)state;
	assert_int_equal(ops->open(&co, &chip, msg), 0);
	for (uint64_t seed = first; (long)t.injected < n; seed++) {
		struct plan p;
		for (int i = 0; i < N_JOBS - 1; i++)
			random_stream_make(&p.s[i], 2 * seed + (uint64_t)i, cfg);
		expect(&p);
		uint64_t n_transfers = clean(&p);
		for (int kind = 0; kind < N_KINDS; kind++)
			for (uint64_t at = 0; at < n_transfers; at++)
				inject(&p, seed, (enum usbdev_fault_kind)kind, at, &t);
		for (int i = 0; i < N_JOBS - 1; i++) {
			random_stream_free(&p.s[i]);
			free(p.want[i]);
		}
	}
	ops->close(chip);
	printf("injected %u, recovered %u, reported %u; slowest run %.2f s\n", t.injected, t.recovered, t.reported,
	       t.slowest);
	fflush(stdout);
	assert_int_equal(t.injected, t.recovered + t.reported);
	/* Everything but a pulled cable can be put right. */
	assert_true(t.recovered >= t.injected * 4 / 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_transfer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

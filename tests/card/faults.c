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

#include "../support/card.h"
#include "../support/file.h"
#include "../support/inproc.h"
#include "../support/level.h"
#include "../support/random_stream.h"
#include "../support/stub_chip.h"
#include "driver/clock.h"

#define N_JOBS 3
#define SLOWEST_MS 640         /* of a machine that is too busy for shorter timeouts, the longest one that is tried */
#define JOB_MS 3000
#define HANG_SECONDS 10        /* a call that takes longer hangs, on any machine */
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

/* How long the driver waits for an answer. Longer where the machine is so slow that good answers come later (clean()). */
static unsigned patience_ms = 10;

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
		assert_int_equal(weft_wait(dev, job, WEFT_FOREVER, &r), 0);
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
	d.usb_timeout_ms = patience_ms;
	d.usb_boot_ms = 20 * patience_ms;
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
		note(o, weft_finish(dev, job[i], JOB_MS, &r), dev);
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

/* One run with nothing wrong. Returns how many transfers it took. */
static uint64_t clean_run(const struct plan *p, struct outcome *o)
{
	struct usbdev *d = usbdev_new(ops, chip, "CLEAN", NULL, 0);

	inproc_plug(d);
	run(p, o);
	const uint64_t n = usbdev_n_transfers(d);
	usbdev_free(d);
	return n;
}

/* How many transfers a run takes. A machine that is too busy for it gets twice the time, from then on. */
static uint64_t clean(const struct plan *p)
{
	struct outcome o;
	uint64_t n = clean_run(p, &o);

	for (; o.status && !o.wrong && patience_ms < SLOWEST_MS; n = clean_run(p, &o)) {
		patience_ms *= 2;
		printf("a run without faults: %s; %u ms from now on\n", o.what, patience_ms);
	}
	if (o.status || o.wrong)
		fail_msg("a run without faults: %d %s%s", o.status, o.what, o.wrong ? "wrong bytes" : "");
	return n;
}

static void make_plan(struct plan *p, uint64_t seed)
{
	for (int i = 0; i < N_JOBS - 1; i++)
		random_stream_make(&p->s[i], 2 * seed + (uint64_t)i, weft_config_find("w16"));
	expect(p);
}

static void free_plan(struct plan *p)
{
	for (int i = 0; i < N_JOBS - 1; i++) {
		random_stream_free(&p->s[i]);
		free(p->want[i]);
	}
}

/* One device, with buffers for the plan's first stream. */
struct one { weft_dev *dev; struct weft_window win[2]; };

static void one_open(struct one *t, const struct plan *p, struct usbdev *d, unsigned timeout_ms, unsigned boot_ms)
{
	struct weft_dev_options o = weft_dev_options_default();
	char msg[WEFT_DEV_MSG] = "";

	*t = (struct one){ .win = { { .rd = true }, { .rd = true, .wr = true } } };
	inproc_plug(d);
	o.kind = WEFT_DEV_USB;
	o.usb_ops = &inproc_ops;
	o.usb_timeout_ms = timeout_ms;
	o.usb_boot_ms = boot_ms;
	if (weft_dev_open(&o, &t->dev, msg))
		fail_msg("%s", msg);
	assert_int_equal(weft_buf_alloc(t->dev, p->s[0].n_consts, &t->win[0].buf), 0);
	assert_int_equal(weft_buf_alloc(t->dev, p->s[0].n_arena, &t->win[1].buf), 0);
	assert_int_equal(weft_buf_write(t->win[0].buf, 0, p->s[0].consts, p->s[0].n_consts), 0);
}

static weft_job one_submit(struct one *t, const struct plan *p)
{
	weft_job job = 0;

	assert_int_equal(weft_submit(t->dev, p->s[0].words, p->s[0].n_words, t->win, 2, &job), 0);
	return job;
}

/* Did it compute what it should? */
static void one_right(struct one *t, const struct plan *p)
{
	struct outcome out = { 0 };

	compare(&out, t->dev, t->win[1].buf, p, 0);
	assert_true(!out.status && !out.wrong);
}

static void one_close(struct one *t)
{
	weft_buf_free(t->win[0].buf);
	weft_buf_free(t->win[1].buf);
	weft_dev_close(t->dev);
}

struct tally { unsigned injected, recovered, reported; double slowest; };

/* A fault longer than the driver waits; a pulled card stays away. */
static struct usbdev_fault fault(enum usbdev_fault_kind kind, uint64_t at)
{
	return (struct usbdev_fault){ .kind = kind, .at = at, .arg = kind == USBDEV_DELAY ? patience_ms * 3 / 2 : 0 };
}

static void inject(const struct plan *p, uint64_t seed, struct usbdev_fault *f, size_t n, struct tally *t)
{
	struct usbdev *d = usbdev_new(ops, chip, "FAULTY", f, n);
	char what[64];
	struct outcome o;
	uint64_t begin = weft_now_ns();

	inproc_plug(d);
	run(p, &o);
	double s = (double)(weft_now_ns() - begin) * 1e-9;
	if (s > t->slowest)
		t->slowest = s;
	bool met = f[0].done;
	t->injected += met;
	t->recovered += met && !o.status;
	t->reported += met && o.status;
	snprintf(what, sizeof(what), "seed %llu, %s@%llu", (unsigned long long)seed, usbdev_fault_name(f[0].kind),
	         (unsigned long long)f[0].at);
	if (getenv("WEFT_FAULTS_VERBOSE"))
		printf("%s: %d %s (%.3f s)\n", what, o.status, o.what, s);
	if (o.wrong)
		fail_msg("%s: wrong bytes, status %d %s", what, o.status, o.what);
	if (s > (N_JOBS * JOB_MS + 60 * (patience_ms - 10)) * 1e-3)
		fail_msg("%s: took %.1f s", what, s);
	if (o.status > 0 || (o.status && !o.what[0]))
		fail_msg("%s: status %d and no message", what, o.status);
	usbdev_free(d);
	clean(p);
}

static void every_transfer(long n)
{
	struct tally t = { 0 };
	uint64_t first = test_seed(1);

	for (uint64_t seed = first; (long)t.injected < n; seed++) {
		struct plan p;
		make_plan(&p, seed);
		uint64_t n_transfers = clean(&p);
		for (int kind = 0; kind < N_KINDS; kind++)
			for (uint64_t at = 0; at < n_transfers; at++) {
				struct usbdev_fault f = fault((enum usbdev_fault_kind)kind, at);
				inject(&p, seed, &f, 1, &t);
			}
		free_plan(&p);
	}
	printf("injected %u, recovered %u, reported %u; slowest run %.2f s\n", t.injected, t.recovered, t.reported,
	       t.slowest);
	fflush(stdout);
	assert_int_equal(t.injected, t.recovered + t.reported);
	/* Everything but a pulled cable can be put right. */
	assert_true(t.recovered >= t.injected * 4 / 5);
}

static void test_every_transfer(void **state)
{
	(void)state;
	every_transfer(test_count(400, 1100, 6000));
}

static uint8_t *read_file(const char *name, size_t *len)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/firmware/%s", test_env("WEFT_BUILD", "build"), name);
	uint8_t *data = test_file(path, len);
	if (!data)
		fail_msg("%s is not there: make firmware", path);
	return data;
}

/* The same on the chip whose core runs the firmware. */
static void test_firmware(void **state)
{
	struct weft_chip_options co = { .config = "w16", .flash_bytes = WEFT_FLASH_BYTES };
	char msg[WEFT_DEV_MSG] = "";
	void *stub = chip;
	size_t n_signed, n_image;

	(void)state;
	uint8_t *rom = read_file("boot.bin", &co.rom_bytes), *whole = read_file("weft-fw.img", &n_signed);
	/* Timeouts are short here, and it starts often: nothing that takes time to be judged. */
	uint8_t *image = card_image_unsigned(whole, n_signed, &n_image);

	free(whole);
	co.rom = rom;
	co.flash = malloc(WEFT_FLASH_BYTES);
	assert_int_equal(weft_flash_format(co.flash, WEFT_FLASH_BYTES, "FAULTS", image, n_image), 0);
	ops = weft_chip_model();
	if (ops->open(&co, &chip, msg))
		fail_msg("%s", msg);
	every_transfer(test_count(150, 180, 1000));
	ops->close(chip);
	ops = &stub_chip;
	chip = stub;
	free(rom);
	free(image);
	free(co.flash);
}

/* Two to five at a time, so that recovery itself is disturbed. */
static void test_several(void **state)
{
	uint64_t seed = test_seed(1), x = seed * 2654435761u;
	struct tally t = { 0 };
	long n = test_count(100, 250, 4000);
	struct plan p;

	(void)state;
	make_plan(&p, seed);
	uint64_t n_transfers = clean(&p);
	/* A clean run on a busy machine may have had more transfers than the one that is struck: then nothing was. */
	for (long i = 0; (long)t.injected < n && i < 2 * n; i++) {
		struct usbdev_fault f[5];
		x = x * 6364136223846793005u + 1442695040888963407u;
		size_t k = 2 + (x >> 60) % 4;
		uint64_t at = (x >> 33) % n_transfers;
		for (size_t j = 0; j < k; j++, at += (x >> (8 * j)) % 4)
			f[j] = fault((enum usbdev_fault_kind)((x >> (5 * j + 20)) % (N_KINDS - 1)), at + (j ? 1 : 0));
		inject(&p, seed, f, k, &t);
	}
	free_plan(&p);
	printf("runs with two to five %u, recovered %u, reported %u; slowest run %.2f s\n", t.injected, t.recovered,
	       t.reported, t.slowest);
	fflush(stdout);
	assert_int_equal(t.injected, n);
	assert_true(t.recovered >= t.injected * 4 / 5);
}

/*
 * So many transfers in a row come too late that in the end the chip is reset, and the answer to the HELLO behind it comes while the
 * driver sleeps. What waits behind HELLO may not go to the chip, whose memory is gone, before the driver has seen that it was reset.
 */
static void test_late_hello(void **state)
{
	struct tally t = { 0 };
	struct plan p;

	(void)state;
	make_plan(&p, test_seed(1));
	const uint64_t n_transfers = clean(&p);
	for (uint64_t at = n_transfers / 3; at < n_transfers; at++)
		for (uint64_t late = 8; late <= 9; late++)
			for (uint64_t gap = 0; gap < 3; gap++) {
				struct usbdev_fault f[10];
				for (uint64_t i = 0; i < late; i++)
					f[i] = fault(USBDEV_DELAY, at + i);
				f[late] = (struct usbdev_fault){ .kind = USBDEV_DELAY, .at = at + late + gap, .arg = 3 };
				inject(&p, test_seed(1), f, late + 1, &t);
			}
	free_plan(&p);
	printf("late answers %u, recovered %u, reported %u\n", t.injected, t.recovered, t.reported);
	assert_true(t.recovered && t.reported);
}

/* A device that takes everything and answers nothing: the call comes back because of its limit, each time. */
static void test_deadline(void **state)
{
	struct usbdev_fault f[64];
	struct weft_job_result r;
	struct one t;
	struct plan p;

	(void)state;
	make_plan(&p, 3);
	for (int i = 0; i < 64; i++)
		f[i] = fault(USBDEV_DROP, 8 + (uint64_t)i);
	struct usbdev *d = usbdev_new(ops, chip, "DEAF", f, 64);
	one_open(&t, &p, d, 40, 0);
	for (int i = 0; i < 3; i++) {
		uint64_t begin = weft_now_ns();
		assert_int_equal(weft_finish(t.dev, one_submit(&t, &p), 100, &r), 0);
		double s = (double)(weft_now_ns() - begin) * 1e-9;
		assert_int_equal(r.status, -ETIMEDOUT);
		if (s > HANG_SECONDS)
			fail_msg("waited %.2f s, the limit was 0.1", s);
	}
	/* Those are used up some time; then all is well again. */
	for (int i = 0; i < 64; i++)
		f[i].done = true;
	assert_int_equal(weft_wait(t.dev, one_submit(&t, &p), 5000, &r), 0);
	assert_int_equal(r.status, 0);
	one_right(&t, &p);
	one_close(&t);
	usbdev_free(d);
	free_plan(&p);
}

/* A job that was given up is on the card when that hangs and is reset: it ends with the reset, and the next one runs. */
static void test_given_up(void **state)
{
	unsigned resets = 0;
	struct plan p;

	(void)state;
	make_plan(&p, 3);
	for (uint64_t at = 4; at < 16; at++) {
		struct usbdev_fault f = { .kind = USBDEV_HANG, .at = at };
		struct usbdev *d = usbdev_new(ops, chip, "GIVENUP", &f, 1);
		struct weft_card_info card;
		struct weft_job_result r;
		struct one t;
		one_open(&t, &p, d, 20, 2000);
		assert_int_equal(weft_finish(t.dev, one_submit(&t, &p), 5, &r), 0);
		/* Its buffer is wanted again: the card is put right for that. */
		assert_int_equal(weft_buf_discard(t.win[1].buf), 0);
		assert_int_equal(weft_buf_write(t.win[0].buf, 0, p.s[0].consts, p.s[0].n_consts), 0);
		uint8_t *zero = calloc(1, p.s[0].n_arena);
		assert_int_equal(weft_buf_write(t.win[1].buf, 0, zero, p.s[0].n_arena), 0);
		free(zero);
		assert_int_equal(weft_wait(t.dev, one_submit(&t, &p), 5000, &r), 0);
		if (r.status)
			fail_msg("hang@%d: %s", (int)at, weft_dev_error(t.dev));
		one_right(&t, &p);
		assert_int_equal(weft_dev_card(t.dev, &card), 0);
		resets += card.chip_resets > 0;
		one_close(&t);
		usbdev_free(d);
	}
	assert_true(resets > 4);
	free_plan(&p);
}

/* Cancelled before it runs: said so, and the next one runs. */
static void test_cancel(void **state)
{
	struct usbdev *d = usbdev_new(ops, chip, "CANCEL", NULL, 0);
	struct weft_job_result r;
	struct one t;
	struct plan p;
	weft_job job[2];

	(void)state;
	make_plan(&p, 4);
	one_open(&t, &p, d, 0, 0);
	for (int i = 0; i < 2; i++)
		job[i] = one_submit(&t, &p);
	assert_int_equal(weft_buf_write(t.win[0].buf, 0, p.s[0].consts, 1), -EBUSY);
	assert_int_equal(weft_cancel(t.dev, job[1] + 1), -ENOENT);
	assert_int_equal(weft_cancel(t.dev, job[0]), 0);
	assert_int_equal(weft_wait(t.dev, job[0], 2000, &r), 0);
	assert_int_equal(r.status, -ECANCELED);
	assert_int_equal(weft_wait(t.dev, job[0], 2000, &r), -ENOENT);
	assert_int_equal(weft_wait(t.dev, job[1], 2000, &r), 0);
	assert_int_equal(r.status, 0);
	one_right(&t, &p);
	one_close(&t);
	usbdev_free(d);
	free_plan(&p);
}

/* Cancelled while the card has it, but says nothing: it has not ended before the card is put right. */
static void test_cancel_running(void **state)
{
	unsigned n_on_card = 0;
	struct plan p;

	(void)state;
	make_plan(&p, 3);
	for (uint64_t at = 4; at < 16; at++) {
		struct usbdev_fault f = { .kind = USBDEV_HANG, .at = at };
		struct usbdev *d = usbdev_new(ops, chip, "CANCELLATE", &f, 1);
		struct weft_job_result r;
		struct one t;

		one_open(&t, &p, d, 100, 2000);
		weft_job job = one_submit(&t, &p);
		int err = weft_wait(t.dev, job, 5, &r);
		if (err == -ETIMEDOUT) {
			assert_int_equal(weft_cancel(t.dev, job), 0);
			err = weft_wait(t.dev, job, 0, &r);
			n_on_card += err == -ETIMEDOUT;
		}
		if (err)
			assert_int_equal(weft_wait(t.dev, job, 10000, &r), 0);
		one_close(&t);
		usbdev_free(d);
	}
	assert_true(n_on_card > 0);
	free_plan(&p);
}

static int set_up(void **state)
{
	struct weft_chip_options co = { .config = "w16" };
	char msg[WEFT_DEV_MSG] = "";

	(void)state;
	return ops->open(&co, &chip, msg);
}

static int tear_down(void **state)
{
	(void)state;
	ops->close(chip);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_transfer), cmocka_unit_test(test_firmware), cmocka_unit_test(test_several),
		cmocka_unit_test(test_late_hello), cmocka_unit_test(test_deadline),
		cmocka_unit_test(test_given_up), cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_cancel_running),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

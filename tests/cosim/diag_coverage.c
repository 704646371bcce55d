/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What weft diag finds: stuck bits, bridges and single flips are injected in the RTL's
 * registers, memories and lines (make fault), seeded, one at a time; the tests run in
 * order until one fails, and what it says is compared with what was injected. The matrix
 * is printed. WEFT_SEED is the first seed, WEFT_N the count; WEFT_VERBOSE=1 shows each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include <weft/diag.h>

#include "tests/support/level.h"
#include "tests/support/random_stream.h"

/* w8 has the same modules as the others and takes a third of the time. */
#define CONFIG test_env("WEFT_CONFIG", "w8")

enum class { ARRAY, SCRATCHPAD, POST, DMA, REGISTERS, N_CLASSES };
enum kind { STUCK, BRIDGE, FLIP, N_KINDS };

static const char *const class_names[N_CLASSES] = { "array", "scratchpad", "post", "dma", "registers" };
static const char *const kind_names[N_KINDS] = { "stuck", "bridged", "flipped" };

struct cell { unsigned n, found, block, place, silent; };

struct bench {
	weft_diag *d;
	weft_dev *model;
	const struct weft_config *cfg;
	struct weft_fault_point *points;   /* a copy: the device is opened anew for each fault */
	uint32_t n_points;
	struct cell cell[N_CLASSES][N_KINDS];
	unsigned by_test[64];
	uint64_t number;           /* of the fault: its seed */
	bool verbose;
};

static uint32_t random_of(uint64_t *state, uint32_t n)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (uint32_t)(((*state * UINT64_C(0x2545f4914f6cdd1d)) >> 32) % n);
}

static bool starts(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

static enum class class_of(const char *name)
{
	static const struct { const char *path; enum class class; } of[] = {
		{ "u_conv.u_array.", ARRAY }, { "u_sp.", SCRATCHPAD }, { "u_post.", POST }, { "u_load.", DMA }, { "u_store.", DMA },
		{ "load_ar", DMA }, { "u_regs.", REGISTERS }, { "stream_", REGISTERS },
		{ "windows", REGISTERS },
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		if (starts(name, of[i].path))
			return of[i].class;
	return N_CLASSES;
}

/* Of the scratchpad's points: cells, data lines, address lines. */
static int part_of(const char *name)
{
	return strstr(name, ".mem") ? 0 : strstr(name, "bank_rdata") ? 1 : 2;
}

/* ---- one fault ---- */

static struct weft_plant choose(const struct bench *b, enum class class, enum kind kind, uint64_t *seed)
{
	struct weft_plant p = { .kind = WEFT_PLANT_POINT };
	const struct weft_fault_point *at;
	int part = (int)random_of(seed, kind == FLIP ? 2 : 3);   /* an address line keeps nothing that could flip */

	do {
		p.point = random_of(seed, b->n_points);
		at = &b->points[p.point];
	} while (class_of(at->name) != class || (class == SCRATCHPAD && part_of(at->name) != part) ||
	         (kind == BRIDGE && at->bits < 2) || (kind == FLIP && !at->storage) ||
	         (kind == BRIDGE && !at->storage && (class != SCRATCHPAD || part != 2)));
	p.row = random_of(seed, at->rows);
	p.col = random_of(seed, at->cols);
	p.bit = random_of(seed, kind == BRIDGE ? at->bits - 1 : at->bits);
	p.bit2 = p.bit + (kind == BRIDGE);
	p.how = kind == FLIP ? WEFT_HOW_FLIP : (enum weft_plant_how)((kind == BRIDGE ? WEFT_HOW_AND : WEFT_HOW_STUCK0) + random_of(seed, 2));
	p.cycle = random_of(seed, 200000);
	return p;
}

static unsigned bank_of(const char *name)
{
	const char *open = strchr(name, '[');

	return open ? (unsigned)atoi(open + 1) : 0;
}

/* Does what was said single out the right PE, or the right bit of memory? */
static bool right_place(const struct bench *b, const struct weft_plant *p, const struct weft_diag_finding *f)
{
	const char *name = b->points[p->point].name, *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;
	uint32_t n = b->cfg->n;

	if (class_of(name) == ARRAY) {
		/* The second index of a skew buffer is a row (skew_a) or a column (skew_w). late_w holds weights that wait for the
		 * lower half of the rows; its second index is a column, too. */
		if (starts(last, "skew_a"))
			return f->row == (int)p->col;
		if (starts(last, "skew_w") || starts(last, "late_w"))
			return f->col == (int)p->col;
		/* The others lie in one piece, row after row, or in two. */
		uint32_t index = b->points[p->point].cols == 1 ? p->row : p->row * n + p->col;
		return f->row == (int)(index / n) && f->col == (int)(index % n);
	}
	if (class_of(name) != SCRATCHPAD)
		return false;
	unsigned bank = part_of(name) == 1 ? p->row : bank_of(name);
	if (part_of(name))
		return f->bank == (int)bank && f->bit == (int)p->bit;
	uint32_t addr = bank / 2 * (b->cfg->sp_bytes / 8) + p->row * 2 * n + (bank & 1) * n + p->bit / 8;
	return f->addr == addr && f->bit == (int)(p->bit % 8);
}

/* Random streams: does anything that comes back differ, or does one not end? */
static bool changes_a_result(struct bench *b)
{
	weft_dev *const dev[2] = { weft_diag_device(b->d), b->model };
	long n = test_level() == 2 ? 60 : 12;

	for (long k = 0; k < n; k++) {
		struct random_stream s;
		struct weft_job_result r[2];
		uint8_t *out[2];
		random_stream_make(&s, 5000 + (uint64_t)k, b->cfg);
		for (int i = 0; i < 2; i++) {
			struct weft_window w[2] = { { .rd = true }, { .rd = true, .wr = true } };
			weft_job job;
			out[i] = calloc(1, s.n_arena + 1);
			assert_non_null(out[i]);
			assert_int_equal(weft_buf_alloc(dev[i], s.n_consts + 1, &w[0].buf), 0);
			assert_int_equal(weft_buf_alloc(dev[i], s.n_arena + 1, &w[1].buf), 0);
			assert_int_equal(weft_buf_write(w[0].buf, 0, s.consts, s.n_consts), 0);
			assert_int_equal(weft_submit(dev[i], s.words, s.n_words, w, 2, &job), 0);
			assert_int_equal(weft_wait(dev[i], job, WEFT_FOREVER, &r[i]), 0);
			assert_int_equal(weft_buf_read(w[1].buf, 0, out[i], s.n_arena), 0);
			weft_buf_free(w[0].buf);
			weft_buf_free(w[1].buf);
		}
		bool differs = r[0].status != r[1].status || memcmp(out[0], out[1], s.n_arena);
		free(out[0]);
		free(out[1]);
		random_stream_free(&s);
		if (differs)
			return true;
	}
	return false;
}

static void describe(const struct bench *b, const struct weft_plant *p, const char *what, const struct weft_diag_finding *f)
{
	static const char *const how[] = { "stuck at 0", "stuck at 1", "wired and", "wired or", "flipped" };

	printf("%5.1f s  seed %llu %-9s %s[%u][%u] bit %u %s: %s %s\n", (double)clock() / CLOCKS_PER_SEC,
	       (unsigned long long)b->number, what, b->points[p->point].name, p->row, p->col, p->bit, how[p->how], f ? f->id : "-",
	       f ? f->text : "");
	fflush(stdout);
}

static void inject(struct bench *b, enum class class, enum kind kind, uint64_t *seed)
{
	struct weft_plant p = choose(b, class, kind, seed);
	struct cell *c = &b->cell[class][kind];
	struct weft_diag_result r = { 0 };
	size_t test = 0;

	assert_int_equal(weft_diag_renew(b->d), 0);
	assert_int_equal(weft_diag_plant(b->d, &p), 0);
	for (; test < weft_diag_count() && r.state != WEFT_DIAG_FAILED; test++)
		assert_int_equal(weft_diag_run(b->d, test, &r), 0);
	c->n++;
	if (r.state != WEFT_DIAG_FAILED) {
		/* A flip has passed; nobody can say any more what it would have changed. */
		bool silent = kind != FLIP && !changes_a_result(b);
		c->silent += silent;
		if (b->verbose)
			describe(b, &p, kind == FLIP ? "passed" : silent ? "silent" : "MISSED", NULL);
		return;
	}
	const struct weft_diag_finding *f = &r.findings[0];
	bool block = !strcmp(f->block, class_names[class]), place = block && right_place(b, &p, f);
	c->found++;
	c->block += block;
	c->place += place;
	b->by_test[test - 1]++;
	if (b->verbose)
		describe(b, &p, !block ? "BLOCK" : place || class > SCRATCHPAD ? "found" : "PLACE", f);
}

/* ---- all of them ---- */

static struct cell sum(const struct bench *b, unsigned classes, unsigned kinds)
{
	struct cell s = { 0 };

	for (unsigned c = 0; c < N_CLASSES; c++)
		for (unsigned k = 0; k < N_KINDS; k++)
			if (classes >> c & 1 && kinds >> k & 1) {
				const struct cell *x = &b->cell[c][k];
				s.n += x->n;
				s.found += x->found;
				s.block += x->block;
				s.place += x->place;
				s.silent += x->silent;
			}
	return s;
}

static void print_row(const char *a, const char *k, const struct cell *c, bool place)
{
	printf("%-11s %-8s %5u injected %5u change nothing %5u found of %5u %5u right block", a, k, c->n, c->silent, c->found,
	       c->n - c->silent, c->block);
	if (place)
		printf(" %5u right place", c->place);
	printf("\n");
}

static void print_matrix(const struct bench *b)
{
	for (unsigned c = 0; c < N_CLASSES; c++)
		for (unsigned k = 0; k < N_KINDS; k++)
			print_row(class_names[c], kind_names[k], &b->cell[c][k], c <= SCRATCHPAD);
	for (size_t t = 0; t < weft_diag_count(); t++)
		printf("%s %u%s", weft_diag_name(t), b->by_test[t], t + 1 < weft_diag_count() ? ", " : "\n");
}

static void bench_open(struct bench *b)
{
	struct weft_dev_options o = weft_dev_options_default(), m = o;
	char msg[WEFT_DEV_MSG] = "";

	memset(b, 0, sizeof(*b));
	b->verbose = *test_env("WEFT_VERBOSE", "") != '\0';
	b->cfg = weft_config_find(CONFIG);
	o.kind = WEFT_DEV_RTL;
	o.config = m.config = CONFIG;
	o.memory = WEFT_MEMORY_SRAM;
	o.rtl_dir = test_env("WEFT_FAULT_DIR", "build/rtl/fault");
	if (weft_diag_open(&o, &b->d, msg) || weft_dev_open(&m, &b->model, msg))
		fail_msg("%s", msg);
	const struct weft_fault_point *points = weft_dev_points(weft_diag_device(b->d), &b->n_points);
	assert_true(b->n_points > 100);
	b->points = malloc(b->n_points * sizeof(*points));
	assert_non_null(b->points);
	memcpy(b->points, points, b->n_points * sizeof(*points));
}

static void bench_close(struct bench *b)
{
	weft_diag_close(b->d);
	weft_dev_close(b->model);
	free(b->points);
}

/* Without a fault nothing is found. */
static void test_clean(void **state)
{
	struct weft_diag_result r;
	struct bench b;

	(void)state;
	bench_open(&b);
	for (size_t i = 0; i < weft_diag_count(); i++) {
		assert_int_equal(weft_diag_run(b.d, i, &r), 0);
		if (r.state == WEFT_DIAG_FAILED || r.state == WEFT_DIAG_BLOCKED)
			fail_msg("%s: %s", weft_diag_name(i), r.findings[0].text);
	}
	bench_close(&b);
}

static unsigned share(unsigned n, unsigned percent)
{
	unsigned most = n * percent / 100;

	return most ? most : 1;
}

static void test_faults(void **state)
{
	struct bench b;
	long n = test_count(20, 40, 600);
	const unsigned all = (1u << N_CLASSES) - 1, permanent = 1u << STUCK | 1u << BRIDGE;

	(void)state;
	bench_open(&b);
	for (long i = 0; i < n; i++) {
		uint64_t number = test_seed(1) + (uint64_t)i, seed = number * UINT64_C(0x9e3779b97f4a7c15);
		uint32_t k = random_of(&seed, 10);
		b.number = number;
		inject(&b, (enum class)(number % N_CLASSES), k < 7 ? STUCK : k < 9 ? BRIDGE : FLIP, &seed);
	}
	print_matrix(&b);
	struct cell p = sum(&b, all, permanent), t = sum(&b, all, 1u << FLIP),
	            m = sum(&b, 1u << ARRAY | 1u << SCRATCHPAD, permanent);
	print_row("permanent", "", &p, false);
	print_row("of them array, scratchpad", "", &m, true);
	print_row("transient", "", &t, false);
	fflush(stdout);
	/* Of a small sample one may always be missed. */
	assert_true(p.found + share(p.n - p.silent, 2) >= p.n - p.silent);
	assert_true(p.block + share(p.found, 5) >= p.found);
	assert_true(m.place + share(m.found, 10) >= m.found);
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_clean), cmocka_unit_test(test_faults) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

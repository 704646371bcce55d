/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loop nests: made simple they read and write the same bytes as before, in as few dimensions as their steps
 * allow; what is too long for a command is split where it divides; pieces keep the limits of a command and of
 * the scratchpad.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

#include "userlib/compile/match/loop_nest.h"

#include "tests/support/level.h"
#include "tests/support/tensors.h"

#define COUNTED 65535          /* the longest dimension that a command counts */
#define WORK    (1 << 24)      /* the most elements of a command */
#define MOST_DIMS 5

/*
 * A nest of up to MOST_DIMS short dimensions, whose operands are numbers or lie in memory: one element behind
 * the other in the order of the dimensions or in another one, some the same along a dimension, some with gaps.
 */
static struct loop_nest random_nest(uint64_t *r)
{
	static const int types[] = { WEFT_ALU_A_TYPE_INT8, WEFT_ALU_A_TYPE_INT16, WEFT_ALU_A_TYPE_INT32,
		WEFT_ALU_A_TYPE_INT48 };
	const int func = test_below(r, 2) ? WEFT_ALU_FUNC_ADD : WEFT_ALU_FUNC_SUM;
	struct loop_nest s = { .func = func, .n_dims = 1 + (int)test_below(r, MOST_DIMS), .axis = -1 };

	for (int d = 0; d < NEST_DIMS; d++)
		s.dim[d] = d < s.n_dims ? 1 + test_below(r, 4) : 1;
	if (s.func == WEFT_ALU_FUNC_SUM)
		s.axis = (int)test_below(r, s.n_dims);
	for (int k = 0; k < NEST_OPERANDS; k++) {
		struct nest_operand *o = nest_operand(&s, k);
		const bool turned = !test_below(r, 4), gaps = !test_below(r, 4);

		*o = (struct nest_operand){ .root = -1, .t = -1, .type = types[test_below(r, 4)] };
		if (k == NEST_Y || test_below(r, 3))
			o->root = k;
		int64_t step = alu_bytes(o->type);
		for (int i = s.n_dims - 1; i >= 0 && o->root >= 0; i--) {
			const int d = turned ? s.n_dims - 1 - i : i;
			if (d == s.axis && k == NEST_Y)
				continue;
			if (k != NEST_Y && !test_below(r, 5))
				continue;
			o->step[d] = step;
			step = step * s.dim[d] + (gaps ? alu_bytes(o->type) * test_below(r, 3) : 0);
		}
	}
	return s;
}

/*
 * All elements of a nest: how many, and a sum over what each reads and writes, which does not depend on their
 * order.
 */
struct elements { int64_t n; uint64_t sum; };

static struct elements elements_of(const struct loop_nest *s)
{
	struct elements e = { 0 };
	int64_t at[NEST_DIMS] = { 0 }, all = 1;

	for (int d = 0; d < s->n_dims; d++)
		all *= s->dim[d];
	for (e.n = 0; e.n < all; e.n++) {
		uint64_t hash = s->axis >= 0 ? (uint64_t)at[s->axis] + 1 : 0;

		for (int k = 0; k < NEST_OPERANDS; k++) {
			const struct nest_operand *o = nest_operand((struct loop_nest *)s, k);
			int64_t off = o->off;
			for (int d = 0; d < s->n_dims; d++)
				off += at[d] * o->step[d];
			hash = (hash ^ (uint64_t)off) * 0x9e3779b97f4a7c15u;
			hash ^= hash >> 29;
		}
		e.sum += hash;
		for (int d = s->n_dims - 1; d >= 0 && ++at[d] == s->dim[d]; d--)
			at[d] = 0;
	}
	return e;
}

/* Whether dimensions d and d + 1 could be one. */
static bool continues(const struct loop_nest *s, int d)
{
	bool all = d != s->axis && d + 1 != s->axis;

	for (int k = 0; k < NEST_OPERANDS; k++) {
		const struct nest_operand *o = nest_operand((struct loop_nest *)s, k);
		all = all && (o->root < 0 || o->step[d] == o->step[d + 1] * s->dim[d + 1]);
	}
	return all;
}

static void simple_ones_do_the_same(void **state)
{
	long fewer = 0, n = test_count(3000, 20000, 100000);
	const uint64_t first = test_seed(1);

	(void)state;
	for (long i = 0; i < n; i++) {
		uint64_t r = first + (uint64_t)i;
		const struct loop_nest s = random_nest(&r);
		struct loop_nest t = s;

		nest_simplify(&t);
		const struct elements want = elements_of(&s), got = elements_of(&t);
		if (got.n != want.n || got.sum != want.sum)
			fail_msg("seed %llu: other elements", (unsigned long long)first + (uint64_t)i);
		assert_int_equal(t.axis, s.axis >= 0 ? 0 : -1);
		for (int d = s.axis >= 0; d < t.n_dims; d++) {
			assert_true(t.dim[d] > 1);
			assert_true(d + 1 == t.n_dims || t.y.step[d] >= t.y.step[d + 1]);
			assert_true(d + 1 == t.n_dims || !continues(&t, d));
		}
		fewer += t.n_dims < s.n_dims;
	}
	assert_in_range(fewer, n / 4, n);
}

/* The largest size within 64..4096 that divides n; 0: there is none. */
static int64_t inner_of(int64_t n)
{
	int64_t best = 0;

	for (int64_t f = 64; f <= 4096; f++)
		best = n % f ? best : f;
	return best;
}

static void long_ones_are_split(void **state)
{
	uint64_t r = test_seed(1);
	int split = 0, whole = 0;

	(void)state;
	for (int64_t i = 0; i < 2000; i++) {
		const int64_t any = 1 + test_below(&r, 1 << 22);
		const int64_t n = i < 200 ? 65400 + i : i < 400 ? (i - 180) * 4097 : any, inner = inner_of(n);
		struct loop_nest s = { .func = WEFT_ALU_FUNC_MOVE, .n_dims = 1, .axis = -1, .dim = { n } };

		s.b.root = s.c.root = -1;
		s.a.step[0] = s.y.step[0] = 2;
		nest_simplify(&s);
		if (n <= COUNTED || !inner) {
			assert_int_equal(s.n_dims, n > 1);
			assert_true(n == 1 || s.dim[0] == n);
			whole++;
			continue;
		}
		assert_int_equal(s.n_dims, 2);
		assert_int_equal(s.dim[0], n / inner);
		assert_int_equal(s.dim[1], inner);
		for (int k = NEST_A; k <= NEST_Y; k += NEST_Y - NEST_A) {
			assert_int_equal(nest_operand(&s, k)->step[0], 2 * inner);
			assert_int_equal(nest_operand(&s, k)->step[1], 2);
		}
		split++;
	}
	assert_true(split > 500 && whole > 200);
}

/* Bytes of a piece's operands that are in the mask. */
static int64_t bytes_of(const struct loop_nest *s, unsigned packed, const int64_t *n)
{
	int64_t sum = 0;

	for (int k = 0; k < NEST_OPERANDS; k++) {
		const struct nest_operand *o = nest_operand((struct loop_nest *)s, k);
		int64_t bytes = alu_bytes(o->type);
		for (int d = 0; d < s->n_dims; d++)
			bytes *= o->step[d] ? n[d] : 1;
		sum += packed >> k & 1 && o->root >= 0 ? (bytes + 15) / 16 * 16 : 0;
	}
	return sum;
}

static void pieces_fit(void **state)
{
	long fit = 0, cut = 0, n = test_count(3000, 20000, 100000);
	const uint64_t first = test_seed(1);

	(void)state;
	for (long i = 0; i < n; i++) {
		uint64_t r = first + (uint64_t)i;
		struct loop_nest s = random_nest(&r);
		const unsigned packed = (unsigned)test_below(&r, 16);
		const int64_t bytes = 64 << test_below(&r, 14);
		int64_t size[NEST_DIMS], all = 1, least[NEST_DIMS];
		int long_ones = 0, whole = 1;

		for (int d = 0; d < s.n_dims; d++)
			s.dim[d] *= test_below(&r, 3) ? 1 : 1 + test_below(&r, 40000);
		/* So far apart that no element has bytes of another one, whatever the sizes. */
		for (int k = 0; k < NEST_OPERANDS; k++)
			for (int d = 0; d < s.n_dims; d++)
				nest_operand(&s, k)->step[d] *= 1000003;
		if (s.axis > 0)         /* as nest_simplify() leaves it */
			continue;
		for (int d = 0; d < NEST_DIMS; d++)
			least[d] = d == s.axis ? s.dim[d] : 1;
		if (!nest_fit(&s, packed, bytes, 16, size)) {
			assert_true((s.axis >= 0 && s.dim[0] > COUNTED) ||
			            bytes_of(&s, packed, least) > bytes);
			continue;
		}
		fit++;
		for (int d = 0; d < NEST_DIMS; d++) {
			assert_in_range(size[d], 1, d < s.n_dims ? s.dim[d] : 1);
			assert_in_range(size[d], 1, COUNTED);
			all *= size[d];
			long_ones += size[d] > 1;
			whole &= size[d] == s.dim[d];
		}
		assert_in_range(all, 1, WORK);
		assert_true(long_ones <= 4);
		assert_true(bytes_of(&s, packed, size) <= bytes);
		assert_true(s.axis < 0 || size[0] == s.dim[0]);
		cut += !whole;
	}
	printf("%ld of %ld fit, %ld of these in pieces\n", fit, n, cut);
	fflush(stdout);
	assert_true(fit > n / 4 && cut > n / 10 && fit > cut);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(simple_ones_do_the_same), cmocka_unit_test(long_ones_are_split),
		cmocka_unit_test(pieces_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who wrote and who read each byte of the scratchpad last, and whether the
 * command under way is ordered behind them.
 *
 * Per unit only the last writer and the last reader are kept. Earlier ones are
 * covered: a later writer had to be ordered behind them, and being ordered
 * behind it means being ordered behind them too.
 *
 * Commands of one unit have their effects in order, so that a unit never races
 * with itself but in one way: reading what an earlier command of the same unit
 * wrote, which may still be on its way out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verify_state.h"

/* Long runs of marks want the vectoriser. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

static bool writes_sp(unsigned unit)
{
	return unit != WEFT_UNIT_ST;
}

static bool reads_sp(unsigned unit)
{
	return unit != WEFT_UNIT_LD;
}

static int16_t mark_of(uint32_t index)
{
	return (int16_t)((int32_t)index + 1 - MARK_BIAS);
}

static uint32_t index_of(int16_t mark)
{
	return (uint32_t)(mark + MARK_BIAS - 1);
}

int verify_sp_open(struct verify *v)
{
	size_t bytes = v->cfg->sp_bytes, blocks = bytes / BLOCK, each = bytes + blocks;
	int16_t *at = malloc(2 * (WEFT_N_UNITS - 1) * each * sizeof(*at));

	v->mark_memory = at;
	v->written = calloc(blocks, sizeof(*v->written));
	v->columns = calloc(SP_SIZE / 64, sizeof(*v->columns));
	v->rows = calloc(SP_SIZE / 64, sizeof(*v->rows));
	v->spans = malloc(2 * (size_t)SPANS_MAX * sizeof(*v->spans));
	if (!at || !v->written || !v->columns || !v->rows || !v->spans)
		return -ENOMEM;
	for (unsigned i = 0; i < 2 * WEFT_N_UNITS; i++) {
		unsigned u = i / 2;
		struct marks *m = i % 2 ? &v->reader[u] : &v->writer[u];

		if (i % 2 ? !reads_sp(u) : !writes_sp(u))
			continue;
		m->byte = at;
		m->block = at + bytes;
		for (size_t k = 0; k < blocks; k++)
			m->block[k] = MARK_NONE;
		at += each;
	}
	return 0;
}

void verify_sp_close(struct verify *v)
{
	free(v->mark_memory);
	free(v->written);
	free(v->columns);
	free(v->rows);
	free(v->spans);
}

static int16_t max_of(const int16_t *at, uint32_t len)
{
	int16_t max = MARK_NONE;

	for (uint32_t i = 0; i < len; i++)
		max = at[i] > max ? at[i] : max;
	return max;
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Latest mark in a range. */
static int16_t marks_max(const struct marks *m, uint32_t addr, uint32_t len)
{
	int16_t max = MARK_NONE;

	while (len) {
		uint32_t piece = min_u32(len, BLOCK - addr % BLOCK);
		int16_t one = m->block[addr / BLOCK];

		if (one == MARK_MIXED)
			one = max_of(m->byte + addr, piece);
		max = one > max ? one : max;
		addr += piece;
		len -= piece;
	}
	return max;
}

static void fill(int16_t *at, uint32_t len, int16_t mark)
{
	for (uint32_t i = 0; i < len; i++)
		at[i] = mark;
}

static void marks_set(struct marks *m, uint32_t addr, uint32_t len, int16_t mark)
{
	while (len) {
		uint32_t piece = min_u32(len, BLOCK - addr % BLOCK);
		int16_t *block = &m->block[addr / BLOCK];

		if (piece == BLOCK) {
			*block = mark;
		} else if (*block != mark) {
			if (*block != MARK_MIXED)
				fill(m->byte + addr / BLOCK * BLOCK, BLOCK, *block);
			*block = MARK_MIXED;
			fill(m->byte + addr, piece, mark);
		}
		addr += piece;
		len -= piece;
	}
}

/* First byte of the range whose mark is above the limit. */
static uint32_t first_above(const struct marks *m, uint32_t addr, int16_t limit)
{
	while (marks_max(m, addr, 1) <= limit)
		addr++;
	return addr;
}

static uint64_t bits_of(uint32_t addr, uint32_t piece)
{
	uint64_t bits = piece == 64 ? ~UINT64_C(0) : (UINT64_C(1) << piece) - 1;

	return bits << addr % 64;
}

/* First byte of the range that nobody wrote, or the end of the range. */
static uint32_t first_unwritten(const uint64_t *written, uint32_t addr, uint32_t len)
{
	uint32_t end = addr + len;

	while (addr < end) {
		uint32_t piece = min_u32(end - addr, 64 - addr % 64);
		uint64_t missing = ~written[addr / 64] & bits_of(addr, piece);

		if (missing)
			return addr / 64 * 64 + (uint32_t)__builtin_ctzll(missing);
		addr += piece;
	}
	return end;
}

static void set_written(uint64_t *written, uint32_t addr, uint32_t len)
{
	while (len) {
		uint32_t piece = min_u32(len, 64 - addr % 64);

		written[addr / 64] |= bits_of(addr, piece);
		addr += piece;
		len -= piece;
	}
}

/* Checks that the command is ordered behind the marks that one unit left in the range. */
static int ordered(struct verify *v, const struct marks *m, unsigned unit, enum weft_verify_rule rule,
		   const char *verb, const char *object, uint32_t addr, uint32_t len)
{
	uint32_t known = v->now.retired[unit], at, index, other;
	/* 1 + index <= known, both with the bias of marks. */
	int16_t limit = (int16_t)((int32_t)known - MARK_BIAS);

	if (marks_max(m, addr, len) <= limit)
		return 0;
	at = first_above(m, addr, limit);
	index = index_of(marks_max(m, at, 1));
	other = v->line[unit].cmd[index];
	return verify_fail(v, rule, "%s 0x%x %s cmd %u; wait_%c%c %u < %u", object, at, verb, other,
			   weft_unit_name(unit)[0] | 0x20, weft_unit_name(unit)[1] | 0x20, known, index + 1);
}

static int use_read(struct verify *v, enum use use, const char *object, uint32_t addr, uint32_t len)
{
	uint32_t bare = first_unwritten(v->written, addr, len);

	if (bare < addr + len) {
		v->r->sp_addr = bare;
		return verify_fail(v, WEFT_VERIFY_USE_BEFORE_LOAD, "%s 0x%x was never written", object, bare);
	}
	for (unsigned u = 0; u < WEFT_N_UNITS; u++) {
		int ret = writes_sp(u) ? ordered(v, &v->writer[u], u, WEFT_VERIFY_RACE_RAW, "written by",
						 object, addr, len) : 0;

		if (ret)
			return ret;
	}
	/* In place, the write that follows orders what the read would. */
	if (use == USE_READ)
		marks_set(&v->reader[v->unit], addr, len, mark_of(v->index));
	return 0;
}

/* Bytes that this very command read, or wrote already. */
static int overlap(struct verify *v, enum use use, const char *object, uint32_t addr, uint32_t len)
{
	int16_t mine = mark_of(v->index), below = (int16_t)(mine - 1);

	if (reads_sp(v->unit) && marks_max(&v->reader[v->unit], addr, len) == mine)
		return verify_fail(v, WEFT_VERIFY_OVERLAP_SELF, "%s 0x%x is also read by this command", object,
				   first_above(&v->reader[v->unit], addr, below));
	if (use == USE_WRITE && marks_max(&v->writer[v->unit], addr, len) == mine)
		return verify_fail(v, WEFT_VERIFY_OVERLAP_SELF, "%s 0x%x is written twice", object,
				   first_above(&v->writer[v->unit], addr, below));
	return 0;
}

static int use_write(struct verify *v, enum use use, const char *object, uint32_t addr, uint32_t len)
{
	int ret = overlap(v, use, object, addr, len);

	for (unsigned u = 0; u < WEFT_N_UNITS && !ret; u++) {
		if (u == v->unit)
			continue;
		if (writes_sp(u))
			ret = ordered(v, &v->writer[u], u, WEFT_VERIFY_RACE_WAW, "written by", object, addr, len);
		if (!ret && reads_sp(u))
			ret = ordered(v, &v->reader[u], u, WEFT_VERIFY_RACE_WAR, "read by", object, addr, len);
	}
	if (ret)
		return ret;
	marks_set(&v->writer[v->unit], addr, len, mark_of(v->index));
	set_written(v->written, addr, len);
	return 0;
}

int verify_sp_use(struct verify *v, enum use use, const char *object, uint32_t addr, uint32_t len)
{
	while (len) {
		uint32_t piece = min_u32(len, SP_SIZE - addr);
		int ret;

		if (addr >= v->cfg->sp_bytes || piece > v->cfg->sp_bytes - addr)
			return verify_fail(v, WEFT_VERIFY_SP_RANGE, "%s 0x%x > 0x%x", object,
					   addr + piece - 1, v->cfg->sp_bytes - 1);
		ret = use == USE_READ || use == USE_READ_IN_PLACE ? use_read(v, use, object, addr, piece)
								 : use_write(v, use, object, addr, piece);
		if (ret)
			return ret;
		addr = (addr + piece) & SP_MASK;
		len -= piece;
	}
	return 0;
}

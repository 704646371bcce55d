/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test of the DMA. First plain copies at all alignments, which tell a data line of the bus from one
 * inside; then strided transfers of up to four dimensions, with steps of both signs, across 4 KiB
 * borders, of every length that a burst can have; then both directions at once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userlib/diag/diag.h"

#define REGIONS WEFT_SP_REGIONS

/* Fills len bytes with the random numbers that follow from seed. */
static void fill_random(uint8_t *p, size_t len, uint64_t seed)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)diag_random(&seed);
}

/* ---- plain copies ---- */

/*
 * The wrong bits of all copies as bits of a word of N bytes, by three alignments: that of the byte
 * where it was read from memory, where it lay in the scratchpad, and where it was written. The
 * alignment in which all wrong bits are a single one is that of the line at fault.
 */
struct lanes { uint8_t read[64], sp[64], write[64]; };

/*
 * A plain copy of len bytes: from this offset of the constants, through scratchpad address sp, to that
 * offset of the arena.
 */
struct copy { size_t from, to; uint32_t sp; size_t len; };

/*
 * Returns the number of the bit that alone is set in a mask of n bytes; -1 if none or several are set.
 */
static int alone(const uint8_t *mask, uint32_t n)
{
	int found = -1;

	for (uint32_t i = 0; i < 8 * n; i++)
		if (mask[i / 8] >> (i % 8) & 1) {
			if (found >= 0)
				return -1;
			found = (int)i;
		}
	return found;
}

/* Returns the bank in which scratchpad address sp lies. */
static int bank_of(const struct weft_config *cfg, uint32_t sp)
{
	return (int)(2 * (sp / (cfg->sp_bytes / REGIONS)) + (sp / cfg->n & 1));
}

/*
 * Reports, as DIAG-DMA-9 with its offset, the first byte of the whole arena that is not as the model
 * left it; called when all copies are right, so that it lies beside them.
 */
static void surroundings(struct weft_diag *d, const struct diag_out *out)
{
	for (size_t i = 0; i < out->len; i++)
		if (out->got[i] != out->want[i]) {
			struct diag_place at = DIAG_NOWHERE;
			at.addr = (int64_t)i;
			diag_find(d, "DIAG-DMA-9", at, "copies are right, but memory beside them is written, first at offset 0x%zx", i);
			return;
		}
}

/*
 * Compares the n_copies copies with what they should have brought. If all are right, surroundings()
 * looks at the bytes beside them. If the wrong bytes lie in one bank and the scratchpad's own test
 * finds it at fault, that test's findings are all. Otherwise one finding: if all wrong bits lie on one data line
 * of bus reads, that line (DIAG-DMA-1); if on one of bus writes, that one (DIAG-DMA-2); if on one bit of words on
 * the way to the scratchpad, but on no one line of the bus, that bit (DIAG-DMA-3), each stuck at 0, at 1 or at a
 * wrong value. In all other cases, also if a line of reads and one of writes would each explain it, how many
 * bytes are wrong, and the first (DIAG-DMA-4).
 */
static void judge_copies(struct weft_diag *d, const struct diag_out *out, const struct copy *c, size_t n_copies)
{
	const uint32_t n = d->cfg->n;
	struct lanes l = { { 0 }, { 0 }, { 0 } };
	uint32_t banks = 0, bad = 0, high = 0;
	size_t first = SIZE_MAX, first_copy = 0;

	for (size_t k = 0; k < n_copies; k++)
		for (size_t i = 0; i < c[k].len; i++) {
			uint8_t got = out->got[c[k].to + i], want = out->want[c[k].to + i], wrong = got ^ want;
			if (!wrong)
				continue;
			if (first == SIZE_MAX) {
				first = i;
				first_copy = k;
			}
			bad++;
			high |= (got & wrong) != 0;
			high |= (uint32_t)((want & wrong) != 0) << 1;
			l.read[(c[k].from + i) % n] |= wrong;
			l.sp[(c[k].sp + i) % n] |= wrong;
			l.write[(c[k].to + i) % n] |= wrong;
			banks |= 1u << bank_of(d->cfg, c[k].sp + (uint32_t)i);
		}
	if (!bad) {
		surroundings(d, out);
		return;
	}
	if (!(banks & (banks - 1)) && diag_is_scratchpad(d))
		return;
	struct diag_place at = DIAG_NOWHERE;
	int r = alone(l.read, n), s = alone(l.sp, n), w = alone(l.write, n);
	const char *how = high == 1 ? "1" : high == 2 ? "0" : "a wrong value";
	at.bit = r >= 0 ? r : w >= 0 ? w : s;
	if (r >= 0 && w < 0)
		diag_find(d, "DIAG-DMA-1", at, "data line %d of bus reads is stuck at %s (%u bytes wrong)", r, how, bad);
	else if (w >= 0 && r < 0)
		diag_find(d, "DIAG-DMA-2", at, "data line %d of bus writes is stuck at %s (%u bytes wrong)", w, how, bad);
	else if (s >= 0 && r < 0)
		diag_find(d, "DIAG-DMA-3", at, "bit %d of words between DMA and scratchpad is stuck at %s in all banks", s, how);
	else
		diag_find(d, "DIAG-DMA-4", DIAG_NOWHERE, "copies come back wrong in %u bytes of several banks; first: memory offset 0x%zx, scratchpad 0x%05zx",
		          bad, c[first_copy].from + first, c[first_copy].sp + first);
}

/*
 * Called when copies did not end: runs a stream of 24 loads alone. Returns "DIAG-RUN-2", the load
 * engine's message, if that does not end either; otherwise, also if it could not be run, "DIAG-RUN-3",
 * the store engine's. Its cycles and bytes count in the running test.
 */
static const char *who_hangs(struct weft_diag *d)
{
	struct diag_stream s = { .known = true };
	struct diag_out out;

	for (uint32_t k = 0; k < 24; k++)
		diag_put(&s, 1000 * k, NULL, 200 + 13 * k);
	int err = diag_exec(d, &s, &out);
	diag_out_free(&out);
	return err == DIAG_STOPPED ? "DIAG-RUN-2" : "DIAG-RUN-3";
}

/*
 * Copies random bytes of the constants through each region of the scratchpad into the arena, three
 * times at different alignments of reads, scratchpad and writes. Reports what is wrong (judge_copies),
 * or that the stream does not end, with who_hangs() as the suspect. Returns 0 whatever it found, or a
 * negative errno as diag_exec().
 */
static int copies(struct weft_diag *d)
{
	const uint32_t n = d->cfg->n, region = d->cfg->sp_bytes / REGIONS;
	struct copy c[3 * REGIONS];
	struct diag_stream s = { 0 };
	struct diag_out out;
	uint8_t *data = malloc(REGIONS * 1024);
	size_t n_copies = 0;

	if (!data)
		return -ENOMEM;
	fill_random(data, REGIONS * 1024, 0x9e3779b97f4a7c15);
	size_t base = diag_data(&s, data, REGIONS * 1024);
	free(data);
	s.out_bytes = 3 * REGIONS * 512;
	for (uint32_t k = 0; k < 3 * REGIONS; k++) {
		/* Offsets in memory, in the scratchpad and in the results have different alignments. */
		struct copy *p = &c[n_copies++];
		*p = (struct copy){ base + 1024 * (k % REGIONS) + (k < REGIONS ? 0 : 5 * k + 1), 512 * k + (k < 2 * REGIONS ? 0 : k % n),
			(k % REGIONS) * region + (k < REGIONS ? 0 : (3 * k + 2) % 64), (k < REGIONS ? 16 : 13) * n - k };
		diag_load(&s, p->from, p->sp, (uint32_t)p->len);
		diag_transfer(&s, WEFT_CMD_STORE, WEFT_WIN_ARENA, p->to, p->sp, (uint32_t)p->len);
	}
	int err = diag_exec(d, &s, &out);
	if (err == DIAG_STOPPED)
		diag_stopped(d, &out, "plain copies", who_hangs(d));
	if (err == DIAG_RAN)
		judge_copies(d, &out, c, n_copies);
	diag_out_free(&out);
	return err < 0 ? err : 0;
}

/* ---- strided transfers ---- */

/*
 * The first byte of the arena that is wrong: its offset, its values, and the place to report, nowhere
 * at first.
 */
struct wrong { size_t at; uint8_t got, want; struct diag_place place; };

/*
 * Runs a stream, which is freed, and looks for its first byte in the arena that is not the model's.
 * Returns 1 with its offset and values in *w, place nowhere, for the caller to report; 0 if there is
 * none, if the stream did not end (reported here: doing and suspect as for diag_stopped()), or if the
 * scratchpad's own test finds a fault, which it then has reported; negative as diag_exec().
 */
static int first_wrong(struct weft_diag *d, struct diag_stream *s, const char *doing, const char *suspect, struct wrong *w)
{
	struct diag_out out;
	int err = diag_exec(d, s, &out);
	size_t i = 0;

	if (err == DIAG_STOPPED)
		diag_stopped(d, &out, doing, suspect);
	while (err == DIAG_RAN && i < out.len && out.got[i] == out.want[i])
		i++;
	const bool found = err == DIAG_RAN && i < out.len;
	if (found)
		*w = (struct wrong){ i, out.got[i], out.want[i], DIAG_NOWHERE };
	diag_out_free(&out);
	return err < 0 ? err : found && !diag_is_scratchpad(d);
}

#define AREA 65536             /* bytes of memory that strided transfers touch */

/*
 * Chooses random steps for the three outer dimensions of c, whose sizes and row_bytes are set, such
 * that every byte of the transfer lies in [0, room) and no byte is touched twice, and writes them to
 * c's strides in memory (memory true) or in the scratchpad. room must hold all rows. *seed advances.
 * Returns the offset, within room, at which the transfer begins, which may be in the middle since steps
 * have both signs.
 */
static int64_t shape(struct weft_cmd_load *c, uint64_t *seed, uint32_t room, bool memory)
{
	const uint32_t n[3] = { (uint32_t)c->n1, (uint32_t)c->n2, (uint32_t)c->n3 };
	int64_t step[3], low = 0, span = c->row_bytes;
	uint32_t outer = n[0] * n[1] * n[2];

	for (int k = 0; k < 3; k++) {
		outer /= n[k];
		/* A step is at least span, so that nothing overlaps, and leaves room for the outer dimensions. */
		uint32_t most = room / (n[k] * outer), slack = most - (uint32_t)span;
		step[k] = span + (slack ? diag_random(seed) % (slack + 1) : 0);
		span = step[k] * (n[k] - 1) + span;
		if (diag_random(seed) & 1) {
			low -= step[k] * (n[k] - 1);
			step[k] = -step[k];
		}
	}
	if (memory) {
		c->dram_stride1 = (int32_t)step[0];
		c->dram_stride2 = (int32_t)step[1];
		c->dram_stride3 = (int32_t)step[2];
	} else {
		c->sp_stride1 = (int32_t)(step[0] & 0xfffff);
		c->sp_stride2 = (int32_t)(step[1] & 0xfffff);
		c->sp_stride3 = (int32_t)(step[2] & 0xfffff);
	}
	return (span < room ? diag_random(seed) % (uint32_t)(room - span) : 0) - low;
}

/*
 * Returns a random legal load or store (op) of up to four dimensions, with steps of both signs, that
 * stays within mem_room bytes of its window and sp_room bytes of the scratchpad, both from 0 on. One in
 * four has long rows, and few of them. *seed advances.
 */
static struct weft_cmd strided(unsigned op, uint64_t *seed, uint32_t mem_room, uint32_t sp_room)
{
	struct weft_cmd c;

	weft_cmd_init(&c, op);
	/* Either few long rows or many short ones. */
	bool large = diag_random(seed) % 4 == 0;
	c.load.row_bytes = (int32_t)(1 + diag_random(seed) % (large ? 1300 : 67));
	c.load.n1 = (int32_t)(1 + diag_random(seed) % (large ? 3 : 13));
	c.load.n2 = (int32_t)(1 + diag_random(seed) % (large ? 2 : 3));
	c.load.n3 = (int32_t)(1 + diag_random(seed) % (large ? 2 : 3));
	c.load.window = op == WEFT_CMD_LOAD ? WEFT_WIN_CONST : WEFT_WIN_ARENA;
	c.load.dram_off = shape(&c.load, seed, mem_room, true);
	c.load.sp_addr = (int32_t)shape(&c.load, seed, sp_room, false);
	return c;
}

#define MANY 1021              /* rows: nine bits of a counter are 1 at the end */

/*
 * Returns a load or store (op) of MANY rows of three bytes in dimension `which` (0, 1 or 2), so that each bit of
 * that counter changes. Its place in the scratchpad ends some 64 bytes before sp_room. In dimension 1 the steps
 * in memory are negative.
 */
static struct weft_cmd many(unsigned op, int which, uint32_t sp_room)
{
	struct weft_cmd c;

	weft_cmd_init(&c, op);
	c.load.row_bytes = 3;
	c.load.n1 = which == 0 ? MANY : 1;
	c.load.n2 = which == 1 ? MANY : 1;
	c.load.n3 = which == 2 ? MANY : 1;
	c.load.dram_stride1 = c.load.dram_stride2 = c.load.dram_stride3 = which == 1 ? -7 : 7;
	c.load.sp_stride1 = c.load.sp_stride2 = c.load.sp_stride3 = 5;
	c.load.dram_off = which == 1 ? MANY * 7 : 11;
	c.load.sp_addr = (int32_t)(sp_room - MANY * 5 - 64);
	c.load.window = op == WEFT_CMD_LOAD ? WEFT_WIN_CONST : WEFT_WIN_ARENA;
	return c;
}

/*
 * Fills a part of sp_room bytes of each quarter of the scratchpad, runs 48 random strided loads into
 * these parts (with some of int4, if the configuration has it) and three of MANY rows, stores the parts
 * whole, and reports the first wrong byte as DIAG-DMA-5. A stream that does not end is reported with
 * the load engine as the suspect. data has AREA bytes. Returns 0 whatever it found, or a negative errno
 * as diag_exec().
 */
static int strided_loads(struct weft_diag *d, const uint8_t *data, uint32_t sp_room)
{
	struct diag_stream s = { 0 };
	struct wrong w;
	uint64_t seed = 0x1234567;
	const uint32_t quarter = d->cfg->sp_bytes / 4;

	diag_data(&s, data, AREA);
	for (uint32_t q = 0; q < 4; q++)
		diag_load(&s, AREA - (q + 1) * sp_room, q * quarter, sp_room);
	for (int k = 0; k < 48; k++) {
		struct weft_cmd c = strided(WEFT_CMD_LOAD, &seed, AREA, sp_room);
		c.load.sp_addr += (int32_t)((uint32_t)k % 4 * quarter);
		if (d->cfg->has_int4 && k % 5 == 3 && c.load.n1 > 1) {
			c.load.int4 = 1;
			c.load.row_bytes = c.load.row_bytes > 2 ? c.load.row_bytes / 2 : 1;
		}
		diag_add(&s, &c);
	}
	for (int k = 0; k < 3; k++) {
		struct weft_cmd c = many(WEFT_CMD_LOAD, k, sp_room);
		diag_add(&s, &c);
		diag_store(&s, (uint32_t)c.load.sp_addr, MANY * 5);
	}
	for (uint32_t q = 0; q < 4; q++)
		diag_store(&s, q * quarter, sp_room);
	int err = first_wrong(d, &s, "strided loads", "DIAG-RUN-2", &w);
	if (err > 0)
		diag_find(d, "DIAG-DMA-5", w.place, "strided loads put a wrong byte in the scratchpad: byte %zu of what is read back is 0x%02x, not 0x%02x; plain copies are right",
		          w.at, w.got, w.want);
	return err < 0 ? err : 0;
}

/*
 * Fills sp_room bytes of each quarter of the scratchpad, runs 48 random strided stores and three of
 * MANY rows, and reports the first wrong byte in memory as DIAG-DMA-6 with its offset. A stream that
 * does not end is reported with the store engine as the suspect. data has AREA bytes. Returns 0
 * whatever it found, or a negative errno as diag_exec().
 */
static int strided_stores(struct weft_diag *d, const uint8_t *data, uint32_t sp_room)
{
	struct diag_stream s = { 0 };
	struct wrong w;
	uint64_t seed = 0x7654321;
	const uint32_t quarter = d->cfg->sp_bytes / 4;

	for (uint32_t q = 0; q < 4; q++)
		diag_put(&s, q * quarter, data + q * (AREA - sp_room) / 4, sp_room);
	s.out_bytes = AREA;
	for (int k = 0; k < 48; k++) {
		struct weft_cmd c = strided(WEFT_CMD_STORE, &seed, AREA, sp_room);
		c.load.sp_addr += (int32_t)((uint32_t)k % 4 * quarter);
		diag_add(&s, &c);
	}
	for (int k = 0; k < 3; k++) {
		struct weft_cmd c = many(WEFT_CMD_STORE, k, sp_room);
		diag_add(&s, &c);
	}
	int err = first_wrong(d, &s, "strided stores", "DIAG-RUN-3", &w);
	if (err > 0) {
		w.place.addr = (int64_t)w.at;
		diag_find(d, "DIAG-DMA-6", w.place, "strided stores leave 0x%02x at memory offset 0x%zx, not 0x%02x; plain copies are right",
		          w.got, w.at, w.want);
	}
	return err < 0 ? err : 0;
}

/*
 * Loads and stores rows of 1, 2, 4 ... 4096 bytes that end exactly at the scratchpad's end, which is
 * not out of range, and reports the first wrong byte as DIAG-DMA-4, or that the stream does not end.
 * data has at least 8192 bytes. Returns 0 whatever it found, or a negative errno as diag_exec().
 */
static int to_the_end(struct weft_diag *d, const uint8_t *data)
{
	struct diag_stream s = { 0 };
	struct wrong w;

	size_t off = diag_data(&s, data, 8192);
	for (uint32_t len = 1; len <= 4096; len *= 2) {
		diag_load(&s, off + 8192 - len, d->cfg->sp_bytes - len, len);
		diag_store(&s, d->cfg->sp_bytes - len, len);
	}
	int err = first_wrong(d, &s, "transfers up to the end of the scratchpad", NULL, &w);
	if (err > 0)
		diag_find(d, "DIAG-DMA-4", w.place, "copies at the end of the scratchpad come back wrong, first in byte %zu", w.at);
	return err < 0 ? err : 0;
}

/*
 * Runs two stores and two loads of 6000 bytes at the same time, so that many bursts that cross 4 KiB
 * borders are outstanding, and reports the first wrong byte as DIAG-DMA-7, or that the stream does not
 * end. data has AREA bytes. Returns 0 whatever it found, or a negative errno as diag_exec().
 */
static int both_ways(struct weft_diag *d, const uint8_t *data)
{
	const uint32_t half = d->cfg->sp_bytes / 2, len = 12000;
	struct diag_stream s = { 0 };
	struct wrong w;
	struct weft_cmd c;

	size_t off = diag_data(&s, data, AREA);
	diag_load(&s, off + 3, half + 5, len);
	s.loose = true;
	for (uint32_t k = 0; k < 2; k++) {
		weft_cmd_init(&c, WEFT_CMD_STORE);
		c.h.wait[WEFT_UNIT_LD] = 1;
		c.load.window = WEFT_WIN_ARENA;
		c.load.dram_off = 1 + k * (len / 2);
		c.load.sp_addr = (int32_t)(half + 5 + k * (len / 2));
		c.load.row_bytes = (int32_t)(len / 2);
		diag_add(&s, &c);
		diag_load(&s, off + AREA / 2 + 7 + k * len / 2, 9 + k * (len / 2), len / 2);
	}
	s.loose = false;
	s.out_bytes = len + 64;
	diag_store(&s, 9, len);
	int err = first_wrong(d, &s, "loads and stores at the same time", NULL, &w);
	if (err > 0)
		diag_find(d, "DIAG-DMA-7", w.place, "loads and stores at the same time: byte %zu of the results is 0x%02x, not 0x%02x",
		          w.at, w.got, w.want);
	return err < 0 ? err : 0;
}

/*
 * If the configuration has coded loads: runs 32 of random bytes, whose widths are then random, too, with fewer and with
 * more of them than the words need, and reports the first wrong byte as DIAG-DMA-10. A stream that does not end is reported with
 * the load engine as the suspect. data has AREA bytes. Returns 0 whatever it found, or a negative errno as diag_exec().
 */
static int coded_loads(struct weft_diag *d, const uint8_t *data)
{
	const uint32_t n = d->cfg->n, most = d->cfg->sp_bytes / 2 / n;
	struct diag_stream s = { 0 };
	struct wrong w;
	uint64_t seed = 0x2468ace;

	if (!d->cfg->has_coded)
		return 0;
	diag_data(&s, data, AREA);
	for (int k = 0; k < 32; k++) {
		uint32_t words = 1 + (uint32_t)(diag_random(&seed) % (k % 4 ? 2 * n + 5 : 9 * n)), at = (uint32_t)(diag_random(&seed) % most);
		uint32_t coded = words - words / 4 + (uint32_t)(diag_random(&seed) % (words / 2 + 3));
		struct weft_cmd c;
		weft_cmd_init(&c, WEFT_CMD_LOAD);
		c.load.window = WEFT_WIN_CONST;
		c.load.dram_off = (int64_t)(diag_random(&seed) % (AREA / n - coded)) * n;
		c.load.sp_addr = (int32_t)(at * n);
		c.load.row_bytes = (int32_t)(words * n);
		c.load.coded = (int32_t)coded;
		c.load.centre = k % 2 ? (int32_t)(diag_random(&seed) % 256) - 128 : 0;
		diag_add(&s, &c);
		diag_store(&s, (uint32_t)c.load.sp_addr, words * n);
	}
	int err = first_wrong(d, &s, "coded loads", "DIAG-RUN-2", &w);
	if (err > 0)
		diag_find(d, "DIAG-DMA-10", w.place, "coded loads put a wrong byte in the scratchpad: byte %zu of what is read back is 0x%02x, not 0x%02x; plain ones are right",
		          w.at, w.got, w.want);
	return err < 0 ? err : 0;
}

/*
 * Test dma: plain copies, strided loads, strided stores, both directions at once, transfers up to
 * the scratchpad's end, and coded loads; each only if what came before is right. Findings go to d->r; if the wrong bytes
 * are the scratchpad's fault, they are those of the test of the scratchpad. Returns 0 whatever it
 * found, or a negative errno as diag_exec().
 */
int diag_dma(struct weft_diag *d)
{
	/* Strided transfers use a part of each quarter of the scratchpad. */
	const uint32_t sp_room = d->cfg->sp_bytes / 4 > 16384 ? 16384 : d->cfg->sp_bytes / 4;
	uint8_t *data = malloc(AREA);
	int err = copies(d);

	if (data)
		fill_random(data, AREA, 0xd1b54a32d192ed03);
	else
		err = -ENOMEM;
	if (!err && d->r->state == WEFT_DIAG_PASSED)
		err = strided_loads(d, data, sp_room);
	if (!err && d->r->state == WEFT_DIAG_PASSED)
		err = strided_stores(d, data, sp_room);
	if (!err && d->r->state == WEFT_DIAG_PASSED)
		err = both_ways(d, data);
	if (!err && d->r->state == WEFT_DIAG_PASSED)
		err = to_the_end(d, data);
	if (!err && d->r->state == WEFT_DIAG_PASSED)
		err = coded_loads(d, data);
	free(data);
	return err;
}

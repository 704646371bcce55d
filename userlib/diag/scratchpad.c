/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test of the scratchpad: data lines and address lines of each bank, then March C- over all cells.
 *
 * The march is { w B; up: r B, w ~B; up: r ~B, w B; down: r B, w ~B; down: r ~B, w B; r B }, where B is
 * a pattern in which neighbouring bits and many neighbouring words differ, w is writing, r reading. It
 * goes in chunks of CHUNK_WORDS words: a chunk is read, then written. On the way down, the words of a
 * chunk come in descending order, too. A word has N bytes, N being the size of the array; a row of a
 * bank is one word.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userlib/diag/diag.h"

#define CHUNK_WORDS 64

/*
 * Returns the scratchpad address in bytes of a row of a bank. Banks 2r and 2r + 1 are the even and the
 * odd words of region r.
 */
static uint32_t address(const struct weft_config *cfg, unsigned bank, uint32_t row)
{
	return bank / 2 * (cfg->sp_bytes / WEFT_SP_REGIONS) + row * 2 * cfg->n + (bank & 1) * cfg->n;
}

/* Returns the bank in which scratchpad address addr lies. */
static unsigned bank_of(const struct weft_config *cfg, uint32_t addr)
{
	return 2 * (addr / (cfg->sp_bytes / WEFT_SP_REGIONS)) + (addr / cfg->n & 1);
}

/* Returns the row, within its bank, in which scratchpad address addr lies. */
static uint32_t row_of(const struct weft_config *cfg, uint32_t addr)
{
	return addr % (cfg->sp_bytes / WEFT_SP_REGIONS) / (2 * cfg->n);
}

#define BITS_MAX 64            /* the most bytes of a word */

/* What was seen wrong in one bank. */
struct bank {
	uint32_t n_bad;            /* words that were read wrong, counted at each read */
	uint32_t row;              /* the first wrong word's row */
	bool other_row;            /* wrong words lie in more than one row */
	uint8_t high[BITS_MAX], low[BITS_MAX];   /* bits of a word that were read 1 instead of 0, and 0 instead of 1 */
};

/*
 * Compares one word (N bytes) read from scratchpad address addr with what was written there, and adds a
 * difference to the record of its bank in banks[]: the count, the first row and whether there are
 * others, and the bits that read 1 instead of 0 and 0 instead of 1.
 */
static void look(const struct weft_config *cfg, struct bank *banks, uint32_t addr, const uint8_t *got, const uint8_t *want)
{
	if (!memcmp(got, want, cfg->n))
		return;
	struct bank *b = &banks[bank_of(cfg, addr)];
	uint32_t row = row_of(cfg, addr);
	if (!b->n_bad++)
		b->row = row;
	b->other_row |= row != b->row;
	for (uint32_t i = 0; i < cfg->n; i++) {
		b->high[i] |= got[i] & ~want[i];
		b->low[i] |= want[i] & ~got[i];
	}
}

/*
 * Returns how many of the 8n bits are set in a or b. *first and *second become the numbers of the
 * lowest two of them; -1 where there is none.
 */
static int count_bits(const uint8_t *a, const uint8_t *b, uint32_t n, int *first, int *second)
{
	int count = 0;

	*first = *second = -1;
	for (uint32_t i = 0; i < 8 * n; i++)
		if ((a[i / 8] | b[i / 8]) >> (i % 8) & 1) {
			if (count == 0)
				*first = (int)i;
			if (count == 1)
				*second = (int)i;
			count++;
		}
	return count;
}

/* Says whether any of n bytes is not 0. */
static bool any(const uint8_t *p, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (p[i])
			return true;
	return false;
}

/*
 * Returns true if exactly one bank has wrong reads. If several have, the fault lies before the banks,
 * since they fail one by one: that is reported as DIAG-DMA-8 and the result is false. doing names the
 * test.
 */
static bool one_bank(struct weft_diag *d, const struct bank *banks, const char *doing)
{
	unsigned n = 0;

	for (unsigned k = 0; k < WEFT_SP_BANKS; k++)
		n += banks[k].n_bad > 0;
	if (n > 1)
		diag_find(d, "DIAG-DMA-8", DIAG_NOWHERE, "%u banks of the scratchpad at once are wrong (%s): not the banks, but the way to them",
		          n, doing);
	return n == 1;
}

/* ---- data lines ---- */

/*
 * The bits of a word that were read wrong in a bank: how many, the lowest two (-1: none), and whether
 * some were read 1 instead of 0 (up), and some 0 instead of 1 (down).
 */
struct bits { int n, first, second; bool up, down; };

/* Returns a summary of the wrong bits of bank b. */
static struct bits bits_of(const struct weft_diag *d, const struct bank *b)
{
	struct bits w = { .up = any(b->high, d->cfg->n), .down = any(b->low, d->cfg->n) };

	w.n = count_bits(b->high, b->low, d->cfg->n, &w.first, &w.second);
	return w;
}

/*
 * Reports the data lines that are wrong in the one bank in which reads were wrong, if at least four of
 * its reads are: a line that is stuck (DIAG-SP-1), two lines that are wrong in one direction, that is,
 * connected (DIAG-SP-2), or how many lines are wrong (DIAG-SP-3). Fewer wrong reads are left to the
 * march, as faults of cells. If several banks have wrong reads, only that is reported (DIAG-DMA-8).
 */
static void judge_lines(struct weft_diag *d, const struct bank *banks)
{
	if (!one_bank(d, banks, "data lines"))
		return;
	for (unsigned k = 0; k < WEFT_SP_BANKS; k++) {
		const struct bank *b = &banks[k];
		struct diag_place at = DIAG_NOWHERE;
		const struct bits w = bits_of(d, b);
		if (b->n_bad < 4)
			continue;          /* single cells are left to the march */
		at.bank = (int)k;
		at.bit = w.n <= 2 ? w.first : -1;
		if (w.n == 1 && w.up != w.down)
			diag_find(d, "DIAG-SP-1", at, "scratchpad bank %u: data line %d stuck at %d", k, w.first, w.up);
		else if (w.n == 2 && w.up != w.down)
			diag_find(d, "DIAG-SP-2", at, "scratchpad bank %u: data lines %d and %d are connected", k, w.first, w.second);
		else
			diag_find(d, "DIAG-SP-3", at, "scratchpad bank %u: %d data lines are wrong", k, w.n);
	}
}

/*
 * Writes words with a single one, and words with a single zero, at every bit to the first 16 * N rows
 * of all banks, reads them back and reports data lines that are wrong (judge_lines), or that the stream
 * does not end. Returns 0 whatever it found, or a negative errno as diag_exec().
 */
static int data_lines(struct weft_diag *d)
{
	const uint32_t n = d->cfg->n, rows = 8 * n;
	struct bank banks[WEFT_SP_BANKS];
	uint8_t *one = calloc(2 * rows, 2 * n);
	int err = one ? 0 : -ENOMEM;

	memset(banks, 0, sizeof(banks));
	/* Row i of both banks of a region has only bit i set; row `rows` + i has all bits but i. */
	for (uint32_t i = 0; one && i < rows; i++)
		for (uint32_t half = 0; half < 2; half++) {
			uint8_t *up = one + (i * 2 + half) * n, *down = one + ((rows + i) * 2 + half) * n;
			memset(down, 0xff, n);
			up[i / 8] |= (uint8_t)(1u << i % 8);
			down[i / 8] &= (uint8_t)~(1u << i % 8);
		}
	struct diag_stream s = { .known = true };
	struct diag_out out = { 0 };
	if (!err) {
		size_t off = diag_data(&s, one, 4 * rows * n);
		for (unsigned r = 0; r < WEFT_SP_REGIONS; r++)
			diag_load(&s, off, address(d->cfg, 2 * r, 0), 4 * rows * n);
		for (unsigned r = 0; r < WEFT_SP_REGIONS; r++)
			diag_store(&s, address(d->cfg, 2 * r, 0), 4 * rows * n);
		err = diag_exec(d, &s, &out);
	}
	if (err == DIAG_STOPPED)
		diag_stopped(d, &out, "walking bits", NULL);
	if (err == DIAG_RAN) {
		for (unsigned r = 0; r < WEFT_SP_REGIONS; r++)
			for (uint32_t w = 0; w < 4 * rows; w++)
				look(d->cfg, banks, address(d->cfg, 2 * r, 0) + w * n, out.got + r * 4 * rows * n + w * n, one + w * n);
		judge_lines(d, banks);
	}
	diag_out_free(&out);
	free(one);
	return err < 0 ? err : 0;
}

/* ---- address lines ---- */

/*
 * Makes *c a load or store (op) of row `row` of all banks: two words side by side, one of each bank, in
 * each of the eight regions. In memory they lie one behind the other; window and offset are left to the
 * caller.
 */
static void rows_of_all(struct weft_cmd *c, const struct weft_config *cfg, unsigned op, uint32_t row)
{
	weft_cmd_init(c, op);
	c->load.row_bytes = (int32_t)(2 * cfg->n);
	c->load.n1 = WEFT_SP_REGIONS;
	c->load.sp_addr = (int32_t)(row * 2 * cfg->n);
	c->load.sp_stride1 = (int32_t)(cfg->sp_bytes / WEFT_SP_REGIONS);
	c->load.dram_stride1 = (int32_t)(2 * cfg->n);
}

#define LINES 24               /* the most rows that one round of the test of address lines writes */

/*
 * Compares the first n bytes of each row that was read (got) with those of every other row that
 * was written (data); rows lie `set` bytes apart in both. Returns how many pairs are equal. same[],
 * LINES entries, becomes true for both rows of each such pair and false for all others. n_rows is at
 * most LINES.
 */
static unsigned strangers(const uint8_t *got, const uint8_t *data, uint32_t n_rows, uint32_t set, uint32_t n, bool *same)
{
	unsigned count = 0;

	memset(same, 0, LINES * sizeof(*same));
	for (uint32_t i = 0; i < n_rows; i++)
		for (uint32_t j = 0; j < n_rows; j++)
			if (i != j && !memcmp(got + (size_t)i * set, data + (size_t)j * set, n)) {
				same[i] = same[j] = true;
				count++;
			}
	return count;
}

/*
 * Reports the address fault of a bank that has shown one: a line that is stuck, if only its row was
 * another's, and the base row's in both rounds (DIAG-SP-4); two lines that are connected, if their two
 * rows alone were, and the base row in one round only (DIAG-SP-10); otherwise words that are each
 * other's (DIAG-SP-5). same[round][k] is true if row k of that round read as another row did; row 0 is
 * the base row, and row k + 1 differs from it in line k. n_rows counts the base row too.
 */
static void judge_bank_address(struct weft_diag *d, unsigned bank, bool same[2][LINES], uint32_t n_rows)
{
	struct diag_place at = DIAG_NOWHERE;
	int line[2] = { -1, -1 }, n = 0;

	at.bank = (int)bank;
	for (uint32_t k = 1; k < n_rows; k++)
		if (same[0][k] || same[1][k]) {
			if (n < 2)
				line[n] = (int)k - 1;
			n++;
		}
	/* If a line is stuck, its row is the same as the base row in both rounds. If two lines are
	 * connected, their rows are the same in one round, and the same as the base row in the other. */
	if (n == 1 && same[0][0] && same[1][0]) {
		at.bit = line[0];
		diag_find(d, "DIAG-SP-4", at, "scratchpad bank %u: address line %d makes no difference: stuck", bank, line[0]);
	} else if (n == 2 && same[0][0] != same[1][0]) {
		at.bit = line[0];
		diag_find(d, "DIAG-SP-10", at, "scratchpad bank %u: address lines %d and %d are connected", bank, line[0], line[1]);
	} else {
		diag_find(d, "DIAG-SP-5", at, "scratchpad bank %u: words at addresses that differ in one line are each other's", bank);
	}
}

/*
 * Compares what was read of the rows, `got`, with what had been written, `data`, and reports the
 * address fault if one bank's rows answered with another row's contents (judge_bank_address). Both have
 * two rounds of n_rows rows of `set` bytes, in which each bank has one word. If several banks are wrong,
 * only that is reported (DIAG-DMA-8).
 */
static void judge_addresses(struct weft_diag *d, const uint8_t *got, const uint8_t *data, uint32_t n_rows, uint32_t set)
{
	const uint32_t n = d->cfg->n;
	struct bank banks[WEFT_SP_BANKS];
	bool same[WEFT_SP_BANKS][2][LINES];

	memset(banks, 0, sizeof(banks));
	for (unsigned b = 0; b < WEFT_SP_BANKS; b++)
		for (unsigned round = 0; round < 2; round++) {
			size_t at = (size_t)round * n_rows * set + b * n;
			banks[b].n_bad += strangers(got + at, data + at, n_rows, set, n, same[b][round]);
		}
	if (!one_bank(d, banks, "address lines"))
		return;
	for (unsigned b = 0; b < WEFT_SP_BANKS; b++)
		if (banks[b].n_bad)
			judge_bank_address(d, b, same[b], n_rows);
}

/*
 * Writes random words to row 0 and to all rows 2^k of every bank and reads them back; a second round
 * does the same with the last row and those that differ from it in one bit. Reports an address line
 * that is wrong (judge_addresses), or that the stream does not end. Returns 0 whatever it found, or a
 * negative errno as diag_exec().
 */
static int address_lines(struct weft_diag *d)
{
	const struct weft_config *cfg = d->cfg;
	const uint32_t rows = cfg->sp_bytes / WEFT_SP_BANKS / cfg->n, set = 2 * cfg->n * WEFT_SP_REGIONS;
	uint32_t lines = 0;
	uint64_t seed = 0xabcdef;
	struct diag_stream s = { .known = true };
	struct diag_out out = { 0 };

	while (1u << lines < rows)
		lines++;
	const uint32_t n_rows = lines + 1;
	uint8_t *data = malloc((size_t)2 * n_rows * set);
	if (!data)
		return -ENOMEM;
	for (size_t i = 0; i < (size_t)2 * n_rows * set; i++)
		data[i] = (uint8_t)diag_random(&seed);
	size_t off = diag_data(&s, data, (size_t)2 * n_rows * set);
	for (uint32_t round = 0; round < 2; round++)
		for (int pass = 0; pass < 2; pass++)
			for (uint32_t k = 0; k < n_rows; k++) {
				uint32_t row = (round ? rows - 1 : 0) ^ (k ? 1u << (k - 1) : 0);
				struct weft_cmd c;
				rows_of_all(&c, cfg, pass ? WEFT_CMD_STORE : WEFT_CMD_LOAD, row);
				c.load.window = pass ? WEFT_WIN_ARENA : WEFT_WIN_CONST;
				c.load.dram_off = (int64_t)((pass ? 0 : off) + (round * n_rows + k) * set);
				diag_add(&s, &c);
			}
	s.out_bytes = (size_t)2 * n_rows * set;
	int err = diag_exec(d, &s, &out);
	if (err == DIAG_STOPPED)
		diag_stopped(d, &out, "address lines", NULL);
	if (err == DIAG_RAN)
		judge_addresses(d, out.got, data, n_rows, set);
	diag_out_free(&out);
	free(data);
	return err < 0 ? err : 0;
}

/* ---- march ---- */

/* The march: offsets of the patterns B and ~B in the constants, bytes of a chunk, and number of chunks. */
struct march { size_t b[2]; uint32_t chunk, n_chunks; };

/*
 * Makes *c a load or store (op) of one chunk: `chunk` bytes between scratchpad address `at` and offset
 * `dram` of a window, which the caller sets. With `down`, the chunk's words are transferred from the
 * last to the first.
 */
static void chunk_cmd(struct weft_cmd *c, const struct weft_config *cfg, unsigned op, uint32_t at, uint32_t chunk,
                      size_t dram, bool down)
{
	weft_cmd_init(c, op);
	if (!down) {
		c->load.row_bytes = (int32_t)chunk;
		c->load.sp_addr = (int32_t)at;
		c->load.dram_off = (int64_t)dram;
		return;
	}
	c->load.row_bytes = (int32_t)cfg->n;
	c->load.n1 = (int32_t)(chunk / cfg->n);
	c->load.sp_addr = (int32_t)(at + chunk - cfg->n);
	c->load.sp_stride1 = (int32_t)((0x100000 - cfg->n) & 0xfffff);
	c->load.dram_off = (int64_t)(dram + chunk - cfg->n);
	c->load.dram_stride1 = -(int32_t)cfg->n;
}

/*
 * Adds the commands for one step of the march over all chunks, from the last to the first if `down` is
 * set. Each chunk is first stored to the arena at `read` plus the chunk's own address, unless read is
 * SIZE_MAX. Then the pattern at offset *write of the constants is loaded into it, unless write is NULL.
 * The stream must be loose: the first store waits for all loads before it, and each load for all stores
 * before it.
 */
static void element(struct diag_stream *s, const struct weft_config *cfg, const struct march *m, size_t read,
                    const size_t *write, bool down)
{
	struct weft_cmd c;

	for (uint32_t i = 0; i < m->n_chunks; i++) {
		uint32_t k = down ? m->n_chunks - 1 - i : i, at = k * m->chunk;
		if (read != SIZE_MAX) {
			/* At the first chunk, wait for all loads of the element before. */
			chunk_cmd(&c, cfg, WEFT_CMD_STORE, at, m->chunk, read + at, down);
			c.load.window = WEFT_WIN_ARENA;
			uint32_t need = i == 0 ? s->count[WEFT_UNIT_LD] : 0;
			c.h.wait[WEFT_UNIT_LD] = (int32_t)need;
			diag_add(s, &c);
		}
		if (write) {
			chunk_cmd(&c, cfg, WEFT_CMD_LOAD, at, m->chunk, *write, down);
			c.load.window = WEFT_WIN_CONST;
			c.h.wait[WEFT_UNIT_ST] = (int32_t)s->count[WEFT_UNIT_ST];
			diag_add(s, &c);
		}
	}
}

/*
 * Reports the fault of the one bank in which the march read wrong words. If they lie in several rows,
 * how many reads (DIAG-SP-6); otherwise the cell that is stuck (DIAG-SP-7), two cells of a word that
 * are wrong in one direction, that is, connected (DIAG-SP-8), or the word (DIAG-SP-9), with the byte
 * address. If several banks are wrong, only that is reported (DIAG-DMA-8); if none is, nothing.
 */
static void judge_cells(struct weft_diag *d, const struct bank *banks)
{
	if (!one_bank(d, banks, "March C-"))
		return;
	for (unsigned k = 0; k < WEFT_SP_BANKS; k++) {
		const struct bank *b = &banks[k];
		struct diag_place at = DIAG_NOWHERE;
		const struct bits w = bits_of(d, b);
		if (!b->n_bad)
			continue;
		at.bank = (int)k;
		if (b->other_row) {
			at.bit = w.n == 1 ? w.first : -1;
			diag_find(d, "DIAG-SP-6", at, "scratchpad bank %u: %u reads of several rows are wrong, %d bits among them", k, b->n_bad, w.n);
			continue;
		}
		at.addr = address(d->cfg, k, b->row) + (uint32_t)w.first / 8;
		at.bit = w.n <= 2 ? w.first % 8 : -1;
		if (w.n == 1 && w.up != w.down)
			diag_find(d, "DIAG-SP-7", at, "scratchpad address 0x%05x (bank %u, row %u): bit %d stuck at %d", (unsigned)at.addr, k,
			          b->row, w.first % 8, w.up);
		else if (w.n == 2 && w.up != w.down)
			diag_find(d, "DIAG-SP-8", at, "scratchpad address 0x%05x (bank %u, row %u): bits %d and %d are connected",
			          (unsigned)at.addr, k, b->row, w.first % 8, w.second % 8 + (w.second / 8 - w.first / 8) * 8);
		else
			diag_find(d, "DIAG-SP-9", at, "scratchpad word 0x%05x (bank %u, row %u): %u reads are wrong", address(d->cfg, k, b->row), k,
			          b->row, b->n_bad);
	}
}

/*
 * Fills a chunk with the march's pattern: words of n bytes, which are all 0xaa in words whose number (from
 * 0) has an odd count of ones in binary, and 0x55 in all others; `turn` is XORed to every byte.
 */
static void background(uint8_t *p, uint32_t n, uint32_t chunk, uint8_t turn)
{
	for (uint32_t i = 0; i < chunk; i++)
		p[i] = (uint8_t)((__builtin_popcount(i / n) & 1 ? 0xaa : 0x55) ^ turn);
}

/*
 * March C- over all cells of the scratchpad: the DMA writes and reads the banks up and down in chunks
 * of CHUNK_WORDS words, everything that was read is compared, and judge_cells() reports what is wrong;
 * a stream that does not end is reported, too. Returns 0 whatever it found, or a negative errno as
 * diag_exec().
 */
static int march(struct weft_diag *d)
{
	const struct weft_config *cfg = d->cfg;
	struct diag_stream s = { .loose = true, .known = true };
	struct diag_out out = { 0 };
	struct march m = { .chunk = CHUNK_WORDS * cfg->n };
	uint8_t b[2][CHUNK_WORDS * 64] = { { 0 } };
	struct bank banks[WEFT_SP_BANKS];
	const size_t all = cfg->sp_bytes;

	memset(banks, 0, sizeof(banks));
	m.n_chunks = cfg->sp_bytes / m.chunk;
	for (int k = 0; k < 2; k++) {
		background(b[k], cfg->n, m.chunk, k ? 0xff : 0);
		m.b[k] = diag_data(&s, b[k], m.chunk);
	}
	element(&s, cfg, &m, SIZE_MAX, &m.b[0], false);
	element(&s, cfg, &m, 0, &m.b[1], false);
	element(&s, cfg, &m, all, &m.b[0], false);
	element(&s, cfg, &m, 2 * all, &m.b[1], true);
	element(&s, cfg, &m, 3 * all, &m.b[0], true);
	element(&s, cfg, &m, 4 * all, NULL, false);
	s.out_bytes = 5 * all;
	s.loose = false;
	int err = diag_exec(d, &s, &out);
	if (err == DIAG_STOPPED)
		diag_stopped(d, &out, "March C-", NULL);
	if (err == DIAG_RAN) {
		for (unsigned e = 0; e < 5; e++)
			for (uint32_t at = 0; at < cfg->sp_bytes; at += cfg->n)
				look(cfg, banks, at, out.got + e * all + at, b[e & 1] + at % m.chunk);
		judge_cells(d, banks);
	}
	diag_out_free(&out);
	return err < 0 ? err : 0;
}

/*
 * Runs the test of the scratchpad from within another test, which saw wrong bytes. If its first finding
 * is of block "scratchpad", its findings replace those of the running test, which has failed then, and
 * the result is true. Otherwise, also if it could not be run, its findings are dropped and the result
 * is false. Its cycles are added to the running test's either way, its checks are not.
 */
bool diag_is_scratchpad(struct weft_diag *d)
{
	struct weft_diag_result *mine = d->r, theirs = { .state = WEFT_DIAG_PASSED };
	unsigned seq = d->seq;

	d->r = &theirs;
	d->seq = 1000;                 /* a number of streams that no other test reaches, since expected results are kept by it */
	int err = diag_scratchpad(d);
	d->r = mine;
	d->seq = seq;
	mine->cycles += theirs.cycles;
	if (err || theirs.state != WEFT_DIAG_FAILED || strcmp(theirs.findings[0].block, "scratchpad"))
		return false;
	mine->state = WEFT_DIAG_FAILED;
	mine->n_findings = theirs.n_findings;
	memcpy(mine->findings, theirs.findings, sizeof(mine->findings));
	return true;
}

/*
 * Test scratchpad: address lines, then data lines, then all cells; each only if what came before is
 * right. Findings go to d->r. Returns 0 whatever it found, or a negative errno as diag_exec().
 */
int diag_scratchpad(struct weft_diag *d)
{
	int err = address_lines(d);    /* data lines come second: they are tried at many addresses */

	if (!err && d->r->state == WEFT_DIAG_PASSED)
		err = data_lines(d);
	if (!err && d->r->state == WEFT_DIAG_PASSED)
		err = march(d);
	return err;
}

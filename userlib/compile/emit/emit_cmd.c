/* SPDX-License-Identifier: Apache-2.0 */
/*
 * New commands with the bytes that they touch, the post group that all compute
 * commands share, debug records, and the commands of DMA.
 */
#include <errno.h>
#include <string.h>

#include "driver/verify/verify.h"
#include "userlib/compile/estimate/cost.h"
#include "emit.h"

/* Ranges of one operand; if there are more, the bytes between them count as touched, too. Not measured. */
#define MAX_RANGES   128

/* Commands of one unit in one stream: wait counts have 16 bits. */
#define MAX_PER_UNIT 65000

/*
 * Returns a new command of operation `op` for the node at hand, with all fields as weft_cmd_init() leaves
 * them. It lies behind the step's last command and counts only once emit_done() is called; the next
 * emit_new() would overwrite it. Returns NULL if there is no memory.
 */
struct cmd *emit_new(struct emit *e, unsigned op)
{
	struct cmds *l = &e->s->cmds;

	if (cc_grow(&l->p, l->n, &l->cap, sizeof *l->p))
		return NULL;
	const struct weft_cmd_info *info = weft_cmd_info(op);
	struct cmd *c = &l->p[l->n];
	*c = (struct cmd){ .c = e->fresh[info - weft_cmd_list()], .unit = info->unit, .node = e->node, .first_rec = l->n_rec,
	                   .by_pixel = e->s->placed };
	return c;
}

/*
 * Note that command c reads, or with `write` writes, r.n ranges of bytes, r.step apart, the first of which is
 * [r.lo, r.hi). More than MAX_RANGES ranges, or ranges that touch, are noted as one that covers them all; an
 * empty range is not noted.
 */
void emit_access_rows(struct cmd *c, enum space space, bool write, struct ranges r)
{
	if (r.lo >= r.hi)
		return;
	if (r.n > MAX_RANGES || r.step <= r.hi - r.lo) {
		r.hi += (r.n - 1) * r.step;
		r.n = 1;
	}
	c->acc[c->n_acc++] = (struct access){ .space = space, .write = write, .n = (uint32_t)r.n,
	                                       .lo = (uint64_t)r.lo, .hi = (uint64_t)r.hi, .step = (uint64_t)r.step };
}

/* Note that command c reads or writes bytes [lo, hi) of the scratchpad or arena. */
void emit_access(struct cmd *c, enum space space, bool write, int64_t lo, int64_t hi)
{
	emit_access_rows(c, space, write, (struct ranges){ lo, hi, 1, 0 });
}

/*
 * Share out `count` accesses at a port of the scratchpad among those noted accesses of c, from number `first`
 * on, that have no count yet, in proportion to their bytes; those to the arena take a share, too. The share of
 * each of an access's ranges is rounded down; if it is below one access, the access's count stays 0. `banks`
 * says which banks successive ones take.
 */
void emit_traffic(struct cmd *c, int first, enum port port, int64_t count, enum banks banks)
{
	int64_t bytes = 0;

	for (int i = first; i < c->n_acc; i++)
		if (!c->acc[i].count)
			bytes += (int64_t)(c->acc[i].hi - c->acc[i].lo) * c->acc[i].n;
	for (int i = first; i < c->n_acc; i++) {
		struct access *a = &c->acc[i];
		if (a->count)
			continue;
		a->port = (uint8_t)port;
		a->banks = (uint8_t)(banks > BANKS_BOTH ? BANKS_BOTH : banks);
		a->one = (uint8_t)(banks > BANKS_BOTH ? banks - BANKS_BOTH : 0);
		a->count = (uint32_t)min64(count * (int64_t)(a->hi - a->lo) / bytes * a->n, UINT32_MAX);
	}
}

/*
 * Returns how successive accesses of `bytes` bytes take banks if the largest power of two that divides all
 * their addresses is the one that divides `addresses`: in turn if every access begins at a word, else
 * BANKS_BOTH + n, where n of 16 accesses lie within one word.
 */
enum banks emit_across(const struct cc *cc, int64_t addresses, int64_t bytes)
{
	int64_t all = addresses | cc->n, grid = all & -all;

	/* Counted: of the places in a word at which such an access may begin, those from which it fits in the word. */
	return grid >= cc->n ? BANKS_ALTERNATE : (enum banks)(BANKS_BOTH + min64(15, 16 * (max64(0, cc->n - bytes) + grid) / cc->n));
}

/*
 * Returns how successive reads of a word of each pixel of o take banks of the scratchpad. If address and
 * steps are whole words, they take the two banks in turn, or the same one if pixels are a multiple of two
 * words apart; else they lie across words as emit_across() says.
 */
enum banks emit_read_banks(const struct cc *cc, const struct operand *o)
{
	if ((o->addr | o->xs | o->ys) % cc->n)
		return emit_across(cc, o->addr | o->xs | o->ys, cc->n);
	return o->xs % (2 * cc->n) ? BANKS_ALTERNATE : BANKS_SAME;
}

/*
 * Returns how successive writes of n_ch channels of each pixel of o take banks of the scratchpad. If no write
 * lies across two words, they take the banks in turn, or the same one if pixels are a multiple of two words
 * apart; else it is the average of emit_across() over blocks of N channels, of which the last may be smaller.
 */
enum banks emit_write_banks(const struct cc *cc, const struct operand *o, int64_t n_ch)
{
	/* The largest power of two that divides all addresses. */
	int64_t all = o->addr | o->xs | o->ys | cc->n, grid = all & -all, n = ceil_div(n_ch, cc->n), tail = n_ch - (n - 1) * cc->n;

	if (min64((n > 1 ? cc->n : tail) * o->elem, cc->n) <= grid)
		return o->xs % (2 * cc->n) ? BANKS_ALTERNATE : BANKS_SAME;
	/* Channels of the last block are fewer. */
	int64_t most = emit_across(cc, grid, min64(cc->n * o->elem, cc->n)), last = emit_across(cc, grid, min64(tail * o->elem, cc->n));
	return (enum banks)(((n - 1) * most + last) / n);
}

/*
 * Returns the cycles in which an engine reads `count` elements side by side of o: N elements a cycle if all
 * addresses are whole words, else N bytes a cycle.
 */
int64_t emit_reads(const struct cc *cc, const struct operand *o, int64_t count)
{
	bool aligned = (o->addr | o->xs | o->ys) % cc->n == 0;

	return ceil_div(aligned ? count : count * o->elem, cc->n);
}

/*
 * Note that command c reads or writes `bytes` bytes of each of rows x cols pixels of o; those of the first pixel begin at
 * address lo. Each row is noted as a range, with what lies between its pixels. But each pixel is noted as a range of its
 * own if c->by_pixel is set, these are not all bytes of a pixel, and the pixels lie at equal distances and are at most
 * MAX_RANGES. Commands for other channels then do not count as touching the same bytes.
 */
void emit_pixels(struct cmd *c, bool write, const struct operand *o, struct block_of_pixels p)
{
	bool even = p.rows == 1 || o->ys == p.cols * o->xs;

	if (c->by_pixel && even && p.bytes < o->xs && p.rows * p.cols <= MAX_RANGES)
		emit_access_rows(c, SPACE_SP, write, (struct ranges){ p.lo, p.lo + p.bytes, p.rows * p.cols, o->xs });
	else
		emit_access_rows(c, SPACE_SP, write, (struct ranges){ p.lo, p.lo + (p.cols - 1) * o->xs + p.bytes, p.rows, o->ys });
}

/* Note that command c reads or writes channels [ch, +n_ch) of the job's output pixels in o (emit_pixels()). */
void emit_rows(struct cmd *c, bool write, const struct operand *o, const struct job *j, int64_t ch, int64_t n_ch)
{
	emit_pixels(c, write, o, (struct block_of_pixels){ o->addr + (ch - j->c) * o->elem, j->oh, j->ow, n_ch * o->elem });
}

/*
 * Returns the part of job j that makes only the output pixels [oy, +oh) x [ox, +ow), which lie within the
 * job. The addresses of output and second operand move to the part's first pixel; the input operand stays the
 * whole job's.
 */
struct job job_part(const struct job *j, int64_t oy, int64_t oh, int64_t ox, int64_t ow)
{
	struct job k = *j;

	k.y.addr += (oy - j->oy) * j->y.ys + (ox - j->ox) * j->y.xs;
	k.r.addr += (oy - j->oy) * j->r.ys + (ox - j->ox) * j->r.xs;
	k.oy = oy;
	k.oh = oh;
	k.ox = ox;
	k.ow = ow;
	return k;
}

/*
 * Set the fields of the post group that describe the second operand of node nd for the job's channels from
 * ch on. A table takes its address alone; a factor address, steps and zero point; the operand of a sum also
 * whether it is subtracted, the sum's limits, and its format, or for integers both scales, the sum's zero
 * point and its rounding.
 */
static void set_sum(struct weft_cmd_post *p, const struct node *nd, const struct job *j, int64_t ch)
{
	p->b_base = (int32_t)(j->r.addr + (ch - j->c) * j->r.elem);
	if (by_table(nd))
		return;
	p->b_x_stride = j->ow > 1 ? (int32_t)j->r.xs : 0;
	p->b_y_stride = j->oh > 1 ? (int32_t)j->r.ys : 0;
	p->b_zp = nd->post.b_zp;
	if (is_product(nd))
		return;
	p->add = 1;
	p->sub = nd->sub;
	p->s_min = nd->post.s_min;
	p->s_max = nd->post.s_max;
	p->b_fmt = nd->post.b_fmt;
	if (nd->mode == WEFT_POST_MODE_FLOAT8)
		return;
	p->s_zp = nd->post.s_zp;
	p->b_mul = nd->post.b.mul;
	p->b_shift = nd->post.b.shift;
	p->s_mul = nd->post.s.mul;
	p->s_shift = nd->post.s.shift;
	p->s_even = nd->post.s.round == ROUND_EVEN;
}

/*
 * Set the post group of a command for channels [ch, +n_ch) of the job: arithmetic, output address and steps
 * (0 along a dimension of one pixel), counts, rounding, zero point and limits, formats, and the second
 * operand if there is one. Pre-shift and scale of the value are set only for integers with a second
 * operand, in pooling and in elementwise nodes; other scales come from the records.
 */
void emit_post(struct weft_cmd_post *p, const struct node *nd, const struct job *j, int64_t ch, int64_t n_ch)
{
	p->mode = nd->mode;
	p->scale16 = nd->post.scale16;
	p->raw = nd->post.raw;
	p->out_base = (int32_t)(j->y.addr + (ch - j->c) * j->y.elem);
	p->out_x_stride = j->ow > 1 ? (int32_t)j->y.xs : 0;
	p->out_y_stride = j->oh > 1 ? (int32_t)j->y.ys : 0;
	p->ow = (int32_t)j->ow;
	p->oh = (int32_t)j->oh;
	p->oc = (int32_t)n_ch;
	p->double_round = nd->post.round == ROUND_TWICE;
	p->even = nd->post.round == ROUND_EVEN;
	p->y_zp = nd->post.y_zp;
	p->y_min = nd->post.y_min;
	p->y_max = nd->post.y_max;
	p->x_fmt = nd->post.x_fmt;
	p->w_fmt = nd->wt.w_fmt;
	p->out_fmt = nd->post.out_fmt;
	p->saturate = nd->post.saturate;
	if (nd->mode != WEFT_POST_MODE_FLOAT8 && (nd->add || nd->kind == NODE_POOL || nd->kind == NODE_ELT)) {
		p->pre_shift = nd->post.pre_shift;
		p->a_zp = nd->post.a_zp;
		p->a_mul = nd->post.a.mul;
		p->a_shift = nd->post.a.shift;
	}
	if (nd->add)
		set_sum(p, nd, j, ch);
}

/* Add a debug record to command c, which must be the newest one of the step. Returns 0 or -ENOMEM. */
int emit_rec(struct emit *e, struct cmd *c, const struct weft_prec *rec)
{
	struct cmds *l = &e->s->cmds;
	int err = cc_grow(&l->rec, l->n_rec, &l->cap_rec, sizeof *l->rec);

	if (err)
		return err;
	l->rec[l->n_rec++] = *rec;
	c->n_recs++;
	return 0;
}

/*
 * Add the debug record that says which elements of the graph's tensor the command writes, for channels [ch,
 * +n_ch) of the job; nothing if the node's result is no tensor. Returns 0 or -ENOMEM.
 */
int emit_record(struct emit *e, struct cmd *c, const struct node *nd, const struct job *j, int64_t ch, int64_t n_ch)
{
	if (nd->y_tensor < 0)
		return 0;
	/* Records count elements; every step is a multiple of theirs. */
	const struct view *v = &nd->dbg;
	int64_t elem = view_elem(v);
	return emit_rec(e, c, &(struct weft_prec){
		.tensor = nd->y_tensor,
		.addr = (uint32_t)(j->y.addr + (ch - j->c) * j->y.elem),
		.n_y = (uint32_t)j->oh, .n_x = (uint32_t)j->ow, .n_c = (uint32_t)n_ch,
		/* Steps of one row or pixel may be longer than the tensor. */
		.y_bytes = j->oh > 1 ? (uint32_t)j->y.ys : 0, .x_bytes = j->ow > 1 ? (uint32_t)j->y.xs : 0,
		.first = (uint64_t)((v->off + j->n * v->step[0] + j->oy * v->step[1] + j->ox * v->step[2]) / elem + ch),
		.y_elems = j->oh > 1 ? (uint64_t)(v->step[1] / elem) : 0, .x_elems = j->ow > 1 ? (uint64_t)(v->step[2] / elem) : 0,
	});
}

/*
 * Complete the command of emit_new(): check its fields, find what it waits for, and count it. After a
 * failure it does not count. Returns 0; -ENOMEM; -E2BIG: its unit has as many commands as one stream can
 * count (MAX_PER_UNIT); -ERANGE: a field is out of range or an address not aligned, and cc->bad_node is the
 * node at hand, cc->bad_why the reason.
 */
int emit_done(struct emit *e, struct cmd *c)
{
	struct cc *cc = e->s->cc;

	if (weft_cmd_check_ranges(&c->c, NULL, NULL, NULL, NULL) || weft_cmd_check_align(&c->c, (unsigned)cc->n, NULL, NULL)) {
		cc->bad_node = e->node;
		cc->bad_why = "a field of its command would be out of range";
		return -ERANGE;
	}
	if (e->n_unit[c->unit] >= MAX_PER_UNIT)
		return -E2BIG;
	int err = hazards_add(e->h, c, e->n_unit[c->unit]);
	if (err)
		return err;
	e->n_unit[c->unit]++;
	e->s->cmds.n++;
	return 0;
}

/*
 * Simplify a copy without changing which bytes it moves: repeats of one go, and rows that touch on both
 * sides become one longer row, as long as a row may be (SP_MASK bytes; never with int4). Repeats that are
 * not used have count 1 and no step.
 */
static void tidy(struct dma *d)
{
	int out = 0;

	for (int k = 0; k < 3; k++) {
		if (d->n[k] <= 1)
			continue;
		if (!out && !d->int4 && d->mem_step[k] == d->row && d->sp_step[k] == d->row && d->row * d->n[k] <= SP_MASK) {
			d->row *= d->n[k];
			continue;
		}
		d->n[out] = d->n[k];
		d->mem_step[out] = d->mem_step[k];
		d->sp_step[out++] = d->sp_step[k];
	}
	for (; out < 3; out++) {
		d->n[out] = 1;
		d->mem_step[out] = d->sp_step[out] = 0;
	}
}

/*
 * Returns the cycles in which slow memory moves so many beats in so many bursts: two for a beat, or if that is more, the
 * time of the bursts, of which only COST_BURSTS_READ or, of a store, COST_BURSTS_WRITE are under way.
 */
static int64_t slow_cycles(int64_t beats, int64_t bursts, bool store)
{
	return max64(2 * beats, bursts * (COST_MEMORY_FAR + COST_BURST_OVERHEAD) / (store ? COST_BURSTS_WRITE : COST_BURSTS_READ));
}

/*
 * Set cost, slow cost and latency of a load or store in cycles, and its traffic in the scratchpad: `rows`
 * rows from offset `off` of the window. A beat of the bus takes a cycle, with one cycle more for the
 * command; a row that does not begin at a beat may take one more. Slow memory takes slow_cycles().
 */
static void cost_dma(const struct cc *cc, struct cmd *c, const struct dma *d, int64_t off, int64_t rows)
{
	int64_t bus = cc->cfg->axi_bytes, in = d->mem_step[0] | d->mem_step[1] | d->mem_step[2] ? bus / 2 : off % bus;
	int64_t beats = ceil_div(d->row + (rows > 1 && !((off | d->mem_step[0] | d->mem_step[1] | d->mem_step[2]) % bus) ? 0 : in), bus);
	int64_t bursts = rows * ceil_div(beats, COST_BURST_BEATS);
	int64_t at = d->sp | d->sp_step[0] | d->sp_step[1] | d->sp_step[2] | off | d->mem_step[0] | d->mem_step[1] | d->mem_step[2];

	c->cost = (uint32_t)(rows * beats + 1);
	c->slow = (uint32_t)slow_cycles(rows * beats, bursts, d->store) + 1;
	c->latency = d->store ? COST_STORE_LATENCY : COST_LOAD_LATENCY;
	emit_traffic(c, 0, d->store ? PORT_X : PORT_WRITE, rows * beats, emit_across(cc, at, cc->n));
}

/*
 * Returns how many words of memory the row of d takes if it is coded, or 0 if it is plain. It is plain if it may not be
 * coded, if it does not consist of whole words, or if coding does not pay (code_pays()).
 */
static int64_t coded_length(const struct cc *cc, const struct dma *d)
{
	int64_t words = d->row / cc->n, coded;

	if (!d->codable || d->row % cc->n || d->sp % cc->n || d->off % cc->n || !code_pays(cc, words, d->units))
		return 0;
	coded = coded_words(cc, words, d->units);
	return coded <= WEFT_CMD_LOAD_CODED_MAX ? coded : 0;
}

/*
 * Set cost, slow cost, latency and traffic of the load of a coded row as cost_dma() does. The bus brings `coded` words, and
 * two words a cycle leave the decoder, which needs a cycle for widths before each 2N words.
 */
static void cost_coded(const struct cc *cc, struct cmd *c, const struct dma *d, int64_t coded)
{
	int64_t words = d->row / cc->n, decoded = ceil_div(words, 2) + ceil_div(words, 2 * cc->n);

	c->cost = (uint32_t)max64(coded, decoded) + 1;
	c->slow = (uint32_t)max64(slow_cycles(coded, ceil_div(coded, COST_BURST_BEATS), false), decoded) + 1;
	c->latency = COST_LOAD_LATENCY + COST_DECODE_LATENCY;
	emit_traffic(c, 0, PORT_WRITE, words, emit_across(cc, d->sp, cc->n));
}

/*
 * Emit copy d as one load or store command, with its cost; it touches its bytes of the scratchpad and,
 * unless they are constants, of the arena. Returns 0, -ENOMEM, -E2BIG (more commands than a stream can
 * count), or -ERANGE with cc->bad_node and cc->bad_why: a field is out of range, or its rows are more than
 * the verifier allows.
 */
int emit_dma(struct emit *e, struct dma d)
{
	const struct cc *cc = e->s->cc;
	const struct cten *t = d.root < 0 ? NULL : &cc->ten[d.root];
	bool consts = !t || t->in_const;
	struct cmd *c = emit_new(e, d.store ? WEFT_CMD_STORE : WEFT_CMD_LOAD);

	if (!c)
		return -ENOMEM;
	tidy(&d);
	int64_t off = d.off + (t ? (int64_t)t->offset : 0), coded = coded_length(cc, &d);
	struct weft_cmd_load *l = &c->c.load;
	l->window = consts ? WEFT_WIN_CONST : WEFT_WIN_ARENA;
	l->dram_off = off;
	l->sp_addr = (int32_t)d.sp;
	l->row_bytes = (int32_t)d.row;
	l->int4 = d.int4;
	l->coded = (int32_t)coded;
	l->centre = coded ? d.centre : 0;
	l->n1 = (int32_t)d.n[0];
	l->n2 = (int32_t)d.n[1];
	l->n3 = (int32_t)d.n[2];
	l->dram_stride1 = (int32_t)d.mem_step[0];
	l->dram_stride2 = (int32_t)d.mem_step[1];
	l->dram_stride3 = (int32_t)d.mem_step[2];
	l->sp_stride1 = (int32_t)d.sp_step[0];
	l->sp_stride2 = (int32_t)d.sp_step[1];
	l->sp_stride3 = (int32_t)d.sp_step[2];
	int64_t mem_hi = off + weft_cmd_load_bytes(l, (uint32_t)cc->n), sp_hi = d.sp + d.row, rows = 1;
	for (int k = 0; k < 3; k++) {
		mem_hi += (d.n[k] - 1) * d.mem_step[k];
		sp_hi += (d.n[k] - 1) * d.sp_step[k];
		rows *= d.n[k];
	}
	if ((uint64_t)rows > WEFT_VERIFY_MAX_ROWS) {
		e->s->cc->bad_node = e->node;
		e->s->cc->bad_why = "its data lie in too many small pieces";
		return -ERANGE;
	}
	emit_access(c, SPACE_SP, !d.store, d.sp, sp_hi);
	if (!consts)
		emit_access(c, SPACE_ARENA, d.store, off, mem_hi);
	if (coded)
		cost_coded(cc, c, &d, coded);
	else
		cost_dma(cc, c, &d, off, rows);
	return emit_done(e, c);
}

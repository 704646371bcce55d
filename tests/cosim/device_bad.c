/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams that the verifier refuses, given to the device all the same: the
 * fault that it latches, the memory that it must not touch, and the good job
 * that it must do next.
 */
#include "compare_stream.h"

#define WIN_BYTES 8192
#define WORD 16                /* bytes of a word of the scratchpad */
#define OPEN_AT 1024           /* where the good commands of a bad stream put their bytes */
#define GOOD_SEED 7
#define GUARD 0x5c
#define DATA_BYTES 4096        /* of zeros at the scratchpad's end */

/* Configurations with an end of the scratchpad: w32 has every address. */
static const char *const configs[] = { "w4", "w8", "w8b", "w16" };
#define N_CONFIGS (sizeof(configs) / sizeof(*configs))

struct bad {
	const char *name;
	unsigned op;               /* command to start from; WEFT_CMD_END: build writes words itself */
	unsigned code, unit, cmd;
	void (*change)(struct weft_cmd *c);
	size_t (*build)(uint64_t *words);
};

static uint32_t sp_bytes(void)
{
	return weft_config_find("w16")->sp_bytes;
}

/* A small legal command of each kind; all that they read lies in 0..4095. */
static void legal(struct weft_cmd *c, unsigned op)
{
	weft_cmd_init(c, op);
	switch (op) {
	case WEFT_CMD_LOAD:
	case WEFT_CMD_STORE:
		c->load.window = op == WEFT_CMD_LOAD ? WEFT_WIN_CONST : WEFT_WIN_ARENA;
		c->load.row_bytes = 64;
		return;
	case WEFT_CMD_CONV:
		c->conv.post.oc = 16;
		c->conv.post.out_base = 8192;
		c->conv.run_len = 16;
		c->conv.in_h = 1;
		c->conv.x_limit = 16;
		c->conv.w_base = 1024;
		c->conv.p_base = 2048;
		c->conv.post.y_max = 127;
		return;
	case WEFT_CMD_DW:
		c->dw.post.oc = 16;
		c->dw.post.out_base = 8192;
		c->dw.in_x_stride = c->dw.in_y_stride = 16;
		c->dw.w_base = 1024;
		c->dw.p_base = 2048;
		return;
	case WEFT_CMD_ALU:
		c->alu.func = WEFT_ALU_FUNC_LOOKUP;
		c->alu.n0 = 30;
		c->alu.n1 = 2;
		c->alu.a_type = WEFT_ALU_A_TYPE_UINT8;
		c->alu.a_s0 = c->alu.out_s0 = 1;
		c->alu.a_s1 = 30;
		c->alu.b_base = 1024;
		c->alu.idx_step = 1;
		c->alu.idx_last = 255;
		c->alu.c_imm = 1;
		c->alu.out_base = 8192;
		c->alu.out_s1 = 64;
		return;
	default:
		c->pool.post.oc = 16;
		c->pool.post.out_base = 8192;
		return;
	}
}

/* ---- what is wrong ---- */

static void load_beyond(struct weft_cmd *c) { c->load.dram_off = WIN_BYTES - 16; }
static void load_before(struct weft_cmd *c) { c->load.n1 = 2; c->load.dram_stride1 = -64; c->load.sp_stride1 = 64; }
static void load_far(struct weft_cmd *c) { c->load.dram_off = INT64_C(1) << 39; }
static void load_forbidden(struct weft_cmd *c) { c->load.window = 3; }
static void load_closed(struct weft_cmd *c) { c->load.window = 5; }
static void store_read_only(struct weft_cmd *c) { c->load.window = WEFT_WIN_CONST; }
static void store_stream(struct weft_cmd *c) { c->load.window = WEFT_WIN_STREAM; }
static void store_int4(struct weft_cmd *c) { c->load.int4 = 1; }
static void load_int4_beyond(struct weft_cmd *c)
{
	c->load.int4 = 1;
	c->load.row_bytes = 17;
	c->load.dram_off = WIN_BYTES - 8;
}
static void store_coded(struct weft_cmd *c) { c->load.coded = 1; }
static void store_centre(struct weft_cmd *c) { c->load.centre = -1; }
static void load_centre(struct weft_cmd *c) { c->load.centre = 1; }
/* A good coded row, of which each of those below changes one thing. */
static void coded_row(struct weft_cmd *c)
{
	c->load.row_bytes = 4 * WORD;
	c->load.coded = 2;
}
static void load_coded_beyond(struct weft_cmd *c)
{
	coded_row(c);
	c->load.dram_off = WIN_BYTES - WORD;
}
static void load_coded_rows(struct weft_cmd *c)
{
	coded_row(c);
	c->load.n2 = 2;
}
static void load_coded_int4(struct weft_cmd *c)
{
	coded_row(c);
	c->load.int4 = 1;
}
static void load_coded_bytes(struct weft_cmd *c)
{
	coded_row(c);
	c->load.row_bytes++;
}
static void load_coded_off(struct weft_cmd *c)
{
	coded_row(c);
	c->load.dram_off = WORD / 2;
}
static void load_coded_aside(struct weft_cmd *c)
{
	coded_row(c);
	c->load.sp_addr = 1;
}
static void load_coded_sp(struct weft_cmd *c)
{
	coded_row(c);
	c->load.sp_addr = (int32_t)sp_bytes() - 3 * WORD;
}
static void raw_add(struct weft_cmd *c) { c->conv.post.raw = c->conv.post.add = 1; }
static void raw_set(struct weft_cmd *c) { c->pool.post.raw = 1; }
static void raw_dw_beyond(struct weft_cmd *c) { c->dw.post.raw = 1; c->dw.post.out_base = (int32_t)sp_bytes() - 63; }
static void raw_conv_beyond(struct weft_cmd *c) { c->conv.post.raw = 1; c->conv.post.out_base = (int32_t)sp_bytes() - 63; }
static void store_beyond(struct weft_cmd *c) { c->load.dram_off = WIN_BYTES - 8; }
static void store_forbidden(struct weft_cmd *c) { c->load.window = 3; }
static void dma_sp(struct weft_cmd *c) { c->load.sp_addr = (int32_t)sp_bytes() - 8; }
static void dma_sp_rows(struct weft_cmd *c) { c->load.n1 = 2; c->load.sp_stride1 = (int32_t)sp_bytes(); }

static void conv_input(struct weft_cmd *c) { c->conv.in_base = (int32_t)sp_bytes() - 8; }
static void conv_weights(struct weft_cmd *c) { c->conv.w_base = (int32_t)sp_bytes() - 16; }
static void conv_records(struct weft_cmd *c) { c->conv.p_base = (int32_t)sp_bytes() - 16; }
static void conv_output(struct weft_cmd *c) { c->conv.post.out_base = (int32_t)sp_bytes() - 8; }
static void conv_addend(struct weft_cmd *c) { c->conv.post.add = 1; c->conv.post.b_base = (int32_t)sp_bytes() - 8; }
static void conv_input_far(struct weft_cmd *c) { c->conv.in_base = (int32_t)sp_bytes() + 8; }
static void conv_output_far(struct weft_cmd *c) { c->conv.post.out_base = 0xffff0; }
static void conv_addend_far(struct weft_cmd *c) { c->conv.post.add = 1; c->conv.post.b_base = (int32_t)sp_bytes(); }
static void dw_input(struct weft_cmd *c) { c->dw.in_base = (int32_t)sp_bytes() + 64; }
static void dw_weights(struct weft_cmd *c) { c->dw.w_base = (int32_t)sp_bytes() - 16; }
static void dw_records(struct weft_cmd *c) { c->dw.p_base = (int32_t)sp_bytes() - 16; }
static void dw_output(struct weft_cmd *c) { c->dw.post.out_base = (int32_t)sp_bytes() - 8; }
static void pool_input(struct weft_cmd *c) { c->pool.in_base = (int32_t)sp_bytes() - 8; }
static void pool_output(struct weft_cmd *c) { c->pool.post.out_base = (int32_t)sp_bytes() - 8; }
static void elt_input(struct weft_cmd *c) { c->elt.in_base = (int32_t)sp_bytes() - 8; }
static void elt_output(struct weft_cmd *c) { c->elt.post.out_base = (int32_t)sp_bytes() - 8; }
static void elt_addend(struct weft_cmd *c) { c->elt.post.add = 1; c->elt.post.b_base = (int32_t)sp_bytes() - 8; }
static void elt_factor(struct weft_cmd *c) { c->elt.mul = 1; c->elt.post.b_base = (int32_t)sp_bytes() - 8; }
static void elt_table(struct weft_cmd *c) { c->elt.table = 1; c->elt.post.b_base = (int32_t)sp_bytes() - 128; }
static void elt_table_first(struct weft_cmd *c) { elt_table(c); elt_input(c); elt_output(c); }
static void elt_table_aside(struct weft_cmd *c) { c->elt.table = 1; c->elt.post.b_base = 8; }
static void elt_table_add(struct weft_cmd *c) { c->elt.table = c->elt.post.add = 1; }
static void dw_table(struct weft_cmd *c) { c->dw.table = 1; c->dw.post.b_base = (int32_t)sp_bytes() - 128; }
static void dw_table_first(struct weft_cmd *c) { dw_table(c); dw_input(c); dw_weights(c); dw_output(c); }
static void dw_table_aside(struct weft_cmd *c) { c->dw.table = 1; c->dw.post.b_base = 8; }
static void dw_table_int16(struct weft_cmd *c) { c->dw.table = c->dw.post.mode = 1; }
static void elt_table_int16(struct weft_cmd *c) { c->elt.table = c->elt.post.mode = 1; }

static void row_zero(struct weft_cmd *c) { c->load.row_bytes = 0; }
static void shift_small(struct weft_cmd *c) { c->pool.post.a_shift = 1; }
static void zp_large(struct weft_cmd *c) { c->conv.x_zp = 128; }
static void not_aligned(struct weft_cmd *c) { c->conv.w_base = 1032; }
static void mode_seven(struct weft_cmd *c) { c->conv.post.mode = 7; }
static void keep_pixels(struct weft_cmd *c) { c->conv.keep = 1; c->conv.post.ow = 17; }
static void keep_channels(struct weft_cmd *c) { c->conv.keep = 1; c->conv.post.oc = 17; }
static void keep_pairs(struct weft_cmd *c) { c->conv.keep = c->conv.pairs = 1; c->conv.post.oc = 32; }
static void keep_pairs_pixels(struct weft_cmd *c) { keep_pairs(c); c->conv.post.ow = 9; c->conv.post.oh = 1; }
static void keep_pairs_channels(struct weft_cmd *c) { keep_pairs(c); c->conv.post.oc = 33; c->conv.post.ow = c->conv.post.oh = 1; }
static void pairs_float8(struct weft_cmd *c) { c->conv.pairs = 1; c->conv.post.mode = 2; }
static void dw_line(struct weft_cmd *c) { c->dw.post.ow = 255; }
static void dw_kernel_line(struct weft_cmd *c) { c->dw.n_ky = 5; c->dw.n_kx = 3; c->dw.post.ow = 121; }
static void dw_kernel_rows(struct weft_cmd *c) { c->dw.n_kx = 3; }
static void dw_kernel_columns(struct weft_cmd *c) { c->dw.n_ky = 3; c->dw.n_kx = 2; }
static void dw_kernel_wide(struct weft_cmd *c) { c->dw.n_ky = 3; c->dw.n_kx = 10; }
static void dw_add(struct weft_cmd *c) { c->dw.post.add = 1; }
static void pool_add(struct weft_cmd *c) { c->pool.post.add = 1; }
static void wait_ld(struct weft_cmd *c) { c->h.wait[WEFT_UNIT_LD] = 9; }
static void wait_self(struct weft_cmd *c) { c->h.wait[WEFT_UNIT_CV] = 1; }
static void wait_most(struct weft_cmd *c) { c->h.wait[WEFT_UNIT_VE] = 65535; }

/* Look-ups: a block's indices are read while the entries of the block before are. */
static void alu_index(struct weft_cmd *c) { c->alu.a_base = (int32_t)sp_bytes() - 10; }
static void alu_first_index(struct weft_cmd *c) { c->alu.a_base = (int32_t)sp_bytes(); }
static void alu_entry(struct weft_cmd *c) { c->alu.b_base = (int32_t)sp_bytes() - 128; }
static void alu_late_entry(struct weft_cmd *c) { c->alu.b_base = (int32_t)sp_bytes() - 250; }
static void alu_output(struct weft_cmd *c) { c->alu.out_base = (int32_t)sp_bytes() - 10; }
static void alu_first_output(struct weft_cmd *c) { c->alu.out_base = (int32_t)sp_bytes() - 2; }

static void alu_output_after_index(struct weft_cmd *c)
{
	alu_output(c);
	c->alu.a_base = (int32_t)sp_bytes() - 12;
}

static void alu_output_before_index(struct weft_cmd *c)
{
	alu_output(c);
	c->alu.a_base = (int32_t)sp_bytes() - 8;
}

static void alu_single_elements(struct weft_cmd *c)
{
	c->alu.out_s0 = 2;
	c->alu.out_base = (int32_t)sp_bytes() - 9;
	c->alu.b_base = (int32_t)sp_bytes() - 220;
}

static void alu_interp(struct weft_cmd *c)
{
	c->alu.func = WEFT_ALU_FUNC_INTERP;
	c->alu.a_type = c->alu.b_type = WEFT_ALU_A_TYPE_INT16;
	c->alu.a_s0 = c->alu.idx_step = 2;
	c->alu.out_type = WEFT_ALU_A_TYPE_INT32;
	c->alu.out_s0 = 4;
	c->alu.out_s1 = 256;
	c->alu.idx_last = 511;
	c->alu.b_base = (int32_t)sp_bytes() - 900;
}

/* One index of two bytes, which are the two behind the scratchpad's end; the next would not lie beside it. */
static void alu_single_index(struct weft_cmd *c)
{
	alu_interp(c);
	c->alu.n0 = c->alu.n1 = 1;
	c->alu.a_s0 = 4;
	c->alu.a_base = (int32_t)sp_bytes();
	c->alu.b_base = 1024;
}

/* ---- streams that are wrong as a whole ---- */

static size_t put(uint64_t *words, unsigned op)
{
	struct weft_cmd c;

	legal(&c, op);
	return weft_cmd_encode(&c, words);
}

static size_t no_words(uint64_t *words)
{
	(void)words;
	return 0;
}

static size_t no_end(uint64_t *words)
{
	return put(words, WEFT_CMD_LOAD);
}

static size_t cut_short(uint64_t *words)
{
	return put(words, WEFT_CMD_CONV) - 3;
}

static size_t opcode(uint64_t *words, uint64_t op)
{
	size_t n = put(words, WEFT_CMD_LOAD);

	words[0] = (words[0] & ~UINT64_C(0xff)) | op;
	return n + put(words + n, WEFT_CMD_END);
}

static size_t opcode_77(uint64_t *words) { return opcode(words, 0x77); }
static size_t opcode_0(uint64_t *words) { return opcode(words, 0); }

static size_t length_wrong(uint64_t *words)
{
	size_t n = put(words, WEFT_CMD_LOAD);

	words[0] += 1 << 8;
	return n + put(words + n, WEFT_CMD_END);
}

static size_t length_zero(uint64_t *words)
{
	size_t n = put(words, WEFT_CMD_LOAD);

	words[0] &= ~UINT64_C(0xff00);
	return n + put(words + n, WEFT_CMD_END);
}

static size_t reserved_bit(uint64_t *words)
{
	size_t n = put(words, WEFT_CMD_LOAD);

	words[2] |= UINT64_C(1) << 5;
	return n + put(words + n, WEFT_CMD_END);
}

/* LD waits for CV, CV for LD. */
static size_t circle(uint64_t *words)
{
	struct weft_cmd c;

	legal(&c, WEFT_CMD_LOAD);
	c.h.wait[WEFT_UNIT_CV] = 1;
	size_t n = weft_cmd_encode(&c, words);
	legal(&c, WEFT_CMD_CONV);
	c.h.wait[WEFT_UNIT_LD] = 1;
	n += weft_cmd_encode(&c, words + n);
	return n + put(words + n, WEFT_CMD_END);
}

#define LD WEFT_UNIT_LD
#define ST WEFT_UNIT_ST
#define CV WEFT_UNIT_CV
#define VE WEFT_UNIT_VE
#define CP WEFT_UNIT_CP

/* Behind two good commands a changed one has index 2. */
#define CHANGED(how, op, code, unit) { #how, WEFT_CMD_##op, WEFT_FAULT_##code, unit, 2, how, NULL }
#define BUILT(how, code, cmd) { #how, WEFT_CMD_END, WEFT_FAULT_##code, CP, cmd, NULL, how }

static const struct bad bads[] = {
	CHANGED(load_beyond, LOAD, WINDOW, LD), CHANGED(load_before, LOAD, WINDOW, LD),
	CHANGED(load_far, LOAD, WINDOW, LD), CHANGED(load_forbidden, LOAD, WINDOW, LD),
	CHANGED(load_closed, LOAD, WINDOW, LD), CHANGED(store_read_only, STORE, WINDOW, ST),
	CHANGED(store_stream, STORE, WINDOW, ST), CHANGED(store_beyond, STORE, WINDOW, ST),
	CHANGED(store_forbidden, STORE, WINDOW, ST),
	CHANGED(dma_sp, LOAD, SP_RANGE, LD), CHANGED(dma_sp, STORE, SP_RANGE, ST),
	CHANGED(dma_sp_rows, LOAD, SP_RANGE, LD), CHANGED(dma_sp_rows, STORE, SP_RANGE, ST),
	CHANGED(conv_input, CONV, SP_RANGE, CV), CHANGED(conv_weights, CONV, SP_RANGE, CV),
	CHANGED(conv_records, CONV, SP_RANGE, CV), CHANGED(conv_output, CONV, SP_RANGE, CV),
	CHANGED(conv_addend, CONV, SP_RANGE, CV), CHANGED(conv_input_far, CONV, SP_RANGE, CV),
	CHANGED(conv_output_far, CONV, SP_RANGE, CV), CHANGED(conv_addend_far, CONV, SP_RANGE, CV),
	CHANGED(alu_index, ALU, SP_RANGE, VE), CHANGED(alu_first_index, ALU, SP_RANGE, VE),
	CHANGED(alu_entry, ALU, SP_RANGE, VE), CHANGED(alu_late_entry, ALU, SP_RANGE, VE),
	CHANGED(alu_output, ALU, SP_RANGE, VE), CHANGED(alu_first_output, ALU, SP_RANGE, VE),
	CHANGED(alu_output_after_index, ALU, SP_RANGE, VE), CHANGED(alu_output_before_index, ALU, SP_RANGE, VE),
	CHANGED(alu_single_elements, ALU, SP_RANGE, VE), CHANGED(alu_interp, ALU, SP_RANGE, VE),
	CHANGED(alu_single_index, ALU, SP_RANGE, VE),
	CHANGED(dw_input, DW, SP_RANGE, VE), CHANGED(dw_weights, DW, SP_RANGE, VE),
	CHANGED(dw_records, DW, SP_RANGE, VE), CHANGED(dw_output, DW, SP_RANGE, VE),
	CHANGED(pool_input, POOL, SP_RANGE, VE), CHANGED(pool_output, POOL, SP_RANGE, VE),
	CHANGED(elt_input, ELT, SP_RANGE, VE), CHANGED(elt_output, ELT, SP_RANGE, VE),
	CHANGED(elt_addend, ELT, SP_RANGE, VE), CHANGED(elt_factor, ELT, SP_RANGE, VE),
	CHANGED(elt_table, ELT, SP_RANGE, VE), CHANGED(elt_table_first, ELT, SP_RANGE, VE),
	CHANGED(elt_table_aside, ELT, BAD_FIELD, CP), CHANGED(elt_table_add, ELT, BAD_FIELD, CP),
	CHANGED(elt_table_int16, ELT, BAD_FIELD, CP),
	CHANGED(dw_table, DW, SP_RANGE, VE), CHANGED(dw_table_first, DW, SP_RANGE, VE),
	CHANGED(dw_table_aside, DW, BAD_FIELD, CP), CHANGED(dw_table_int16, DW, BAD_FIELD, CP),
	CHANGED(store_int4, STORE, BAD_FIELD, CP), CHANGED(load_int4_beyond, LOAD, WINDOW, LD),
	CHANGED(store_coded, STORE, BAD_FIELD, CP), CHANGED(store_centre, STORE, BAD_FIELD, CP),
	CHANGED(load_centre, LOAD, BAD_FIELD, CP), CHANGED(load_coded_beyond, LOAD, WINDOW, LD),
	CHANGED(load_coded_rows, LOAD, BAD_FIELD, CP), CHANGED(load_coded_int4, LOAD, BAD_FIELD, CP),
	CHANGED(load_coded_bytes, LOAD, BAD_FIELD, CP), CHANGED(load_coded_off, LOAD, BAD_FIELD, CP),
	CHANGED(load_coded_aside, LOAD, BAD_FIELD, CP), CHANGED(load_coded_sp, LOAD, SP_RANGE, LD),
	CHANGED(raw_add, CONV, BAD_FIELD, CP), CHANGED(raw_set, POOL, BAD_FIELD, CP), CHANGED(raw_set, ELT, BAD_FIELD, CP),
	CHANGED(raw_dw_beyond, DW, SP_RANGE, VE), CHANGED(raw_conv_beyond, CONV, SP_RANGE, CV),
	CHANGED(row_zero, LOAD, BAD_FIELD, CP), CHANGED(row_zero, STORE, BAD_FIELD, CP),
	CHANGED(shift_small, POOL, BAD_FIELD, CP), CHANGED(zp_large, CONV, BAD_FIELD, CP),
	CHANGED(not_aligned, CONV, BAD_FIELD, CP), CHANGED(keep_pixels, CONV, BAD_FIELD, CP),
	CHANGED(keep_channels, CONV, BAD_FIELD, CP), CHANGED(dw_line, DW, BAD_FIELD, CP),
	CHANGED(keep_pairs_pixels, CONV, BAD_FIELD, CP), CHANGED(keep_pairs_channels, CONV, BAD_FIELD, CP),
	CHANGED(pairs_float8, CONV, BAD_FIELD, CP),
	CHANGED(dw_kernel_line, DW, BAD_FIELD, CP), CHANGED(dw_kernel_rows, DW, BAD_FIELD, CP),
	CHANGED(dw_kernel_columns, DW, BAD_FIELD, CP), CHANGED(dw_kernel_wide, DW, BAD_FIELD, CP),
	CHANGED(dw_add, DW, BAD_FIELD, CP), CHANGED(pool_add, POOL, BAD_FIELD, CP),
	CHANGED(mode_seven, CONV, BAD_MODE, CP), CHANGED(mode_seven, ELT, BAD_MODE, CP),
	CHANGED(wait_ld, CONV, DEADLOCK, CP), CHANGED(wait_self, CONV, DEADLOCK, CP),
	CHANGED(wait_most, ELT, DEADLOCK, CP), CHANGED(wait_ld, STORE, DEADLOCK, CP),
	BUILT(circle, DEADLOCK, 0),
	BUILT(no_words, STREAM_END, 0), BUILT(no_end, STREAM_END, 1), BUILT(cut_short, STREAM_END, 0),
	BUILT(opcode_77, BAD_OP, 0), BUILT(opcode_0, BAD_OP, 0),
	BUILT(length_wrong, BAD_LEN, 0), BUILT(length_zero, BAD_LEN, 0), BUILT(reserved_bit, BAD_FIELD, 0),
};

/*
 * Good load, good store; then the bad command; then a store to GUARD's place
 * that waits for it.
 */
static size_t with_neighbours(const struct bad *b, uint64_t *words)
{
	unsigned unit = weft_cmd_info(b->op)->unit;
	struct weft_cmd c;
	size_t n;

	legal(&c, WEFT_CMD_LOAD);
	c.load.row_bytes = 4096;
	n = weft_cmd_encode(&c, words);
	legal(&c, WEFT_CMD_STORE);
	c.load.dram_off = OPEN_AT;
	c.h.wait[WEFT_UNIT_LD] = 1;
	n += weft_cmd_encode(&c, words + n);
	legal(&c, b->op);
	c.h.wait[WEFT_UNIT_LD] = 1;
	c.h.wait[WEFT_UNIT_ST] = 1;
	b->change(&c);
	n += weft_cmd_encode(&c, words + n);
	legal(&c, WEFT_CMD_STORE);
	c.load.row_bytes = 512;
	c.h.wait[unit] = unit == WEFT_UNIT_LD || unit == WEFT_UNIT_ST ? 2 : 1;
	n += weft_cmd_encode(&c, words + n);
	return n + put(words + n, WEFT_CMD_END);
}

struct bench {
	weft_dev *dev;
	weft_buf *consts, *arena, *guard;
	uint8_t data[WIN_BYTES];   /* of consts */
	struct random_stream good;
	uint8_t *want;             /* what the good stream leaves */
};

static void fill_buf(weft_buf *b, uint8_t v)
{
	uint8_t data[WIN_BYTES];

	memset(data, v, sizeof(data));
	assert_int_equal(weft_buf_write(b, 0, data, sizeof(data)), 0);
}

static void expect_bytes(const char *name, const char *what, weft_buf *b, size_t from, size_t to, const uint8_t *want)
{
	uint8_t got[WIN_BYTES];

	assert_int_equal(weft_buf_read(b, 0, got, sizeof(got)), 0);
	for (size_t i = from; i < to; i++)
		if (got[i] != (want ? want[i] : GUARD))
			fail_msg("%s: %s byte %zu: expected 0x%02x, got 0x%02x", name, what, i, want ? want[i] : GUARD, got[i]);
}

static void bench_open(struct bench *b, enum weft_dev_kind kind)
{
	const struct weft_config *cfg = weft_config_find("w16");
	uint64_t rng = 1;

	b->dev = stream_device(kind, WEFT_MEMORY_SRAM, "w16");
	assert_int_equal(weft_buf_alloc(b->dev, WIN_BYTES, &b->consts), 0);
	assert_int_equal(weft_buf_alloc(b->dev, WIN_BYTES, &b->arena), 0);
	assert_int_equal(weft_buf_alloc(b->dev, WIN_BYTES, &b->guard), 0);
	for (size_t i = 0; i < sizeof(b->data); i++)
		b->data[i] = (uint8_t)(rng = rng * 6364136223846793005u + 1442695040888963407u, rng >> 56);
	assert_int_equal(weft_buf_write(b->consts, 0, b->data, sizeof(b->data)), 0);
	random_stream_make(&b->good, GOOD_SEED, cfg);
	b->want = malloc(b->good.n_arena);
	assert_non_null(b->want);
	weft_dev *model = stream_device(WEFT_DEV_MODEL, WEFT_MEMORY_SRAM, "w16");
	stream_run(GOOD_SEED, model, "model", &b->good, b->want);
	weft_dev_close(model);
}

static void bench_close(struct bench *b)
{
	weft_buf_free(b->consts);
	weft_buf_free(b->arena);
	weft_buf_free(b->guard);
	weft_dev_close(b->dev);
	random_stream_free(&b->good);
	free(b->want);
}

static void good_job(struct bench *b, const char *name)
{
	uint8_t *got = malloc(b->good.n_arena);

	assert_non_null(got);
	stream_run(GOOD_SEED, b->dev, name, &b->good, got);
	for (uint64_t i = 0; i < b->good.n_arena; i++)
		if (got[i] != b->want[i])
			fail_msg("after %s: good job, memory 0x%llx: expected 0x%02x, got 0x%02x", name,
			         (unsigned long long)i, b->want[i], got[i]);
	free(got);
}

/* Returns whether the fault is the expected one; all else that is wrong ends the test. */
static bool one(struct bench *b, const struct bad *bad)
{
	const struct weft_window win[] = { { b->consts, true, false }, { b->arena, true, true }, { b->guard, false, false } };
	uint64_t words[128];
	size_t n = bad->build ? bad->build(words) : with_neighbours(bad, words);
	struct weft_job_result r;
	weft_job job;

	fill_buf(b->arena, GUARD);
	fill_buf(b->guard, GUARD);
	weft_dev_trust(b->dev, false);
	if (weft_submit(b->dev, words, n, win, 3, &job) != -EINVAL)
		fail_msg("%s: the verifier does not refuse it", bad->name);
	const char *why = weft_dev_error(b->dev);
	if (!*why || strchr(why, '\n'))
		fail_msg("%s: refused with \"%s\"", bad->name, why);
	weft_dev_trust(b->dev, true);
	assert_int_equal(weft_submit(b->dev, words, n, win, 3, &job), 0);
	assert_int_equal(weft_wait(b->dev, job, 60000, &r), 0);
	weft_dev_trust(b->dev, false);
	bool same = r.status == -EIO && r.fault_code == bad->code && r.fault_unit == bad->unit && r.fault_cmd == bad->cmd;
	if (!same)
		printf("%s (%s): expected fault %s of %s, command %u; got status %d, %s of %s, command %u, info 0x%x\n",
		         bad->name, weft_cmd_info(bad->op)->name, weft_fault_name(bad->code), weft_unit_name(bad->unit),
		         bad->cmd, r.status, weft_fault_name(r.fault_code), weft_unit_name(r.fault_unit), r.fault_cmd,
		         r.fault_info);
	if (!r.status) {
		good_job(b, bad->name);
		return false;
	}
	/* The good store before it may have run; nothing else was written but where a bad store may write. */
	expect_bytes(bad->name, "arena", b->arena, bad->op == WEFT_CMD_STORE ? 128 : 0, OPEN_AT, NULL);
	expect_bytes(bad->name, "arena", b->arena, OPEN_AT + 64, WIN_BYTES - 8, NULL);
	if (!bad->build && bad->change != store_beyond)
		expect_bytes(bad->name, "arena", b->arena, WIN_BYTES - 8, WIN_BYTES, NULL);
	expect_bytes(bad->name, "guard", b->guard, 0, WIN_BYTES, NULL);
	expect_bytes(bad->name, "constants", b->consts, 0, WIN_BYTES, b->data);
	good_job(b, bad->name);
	return same;
}

/* Is "DEVICE NAME" a line of tests/expected/device_bad.txt? */
static bool is_known(const char *device, const char *name)
{
	FILE *f = fopen("tests/expected/device_bad.txt", "r");
	char line[512], d[32], n[64];
	bool found = false;

	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f))
		found = line[0] != '#' && sscanf(line, "%31s %63s", d, n) == 2 && !strcmp(d, device) && !strcmp(n, name);
	fclose(f);
	return found;
}

static void all(enum weft_dev_kind kind)
{
	const char *device = kind == WEFT_DEV_RTL ? "rtl" : "model";
	struct bench *b = calloc(1, sizeof(*b));
	size_t n = sizeof(bads) / sizeof(bads[0]), other = 0, known = 0;

	assert_non_null(b);
	bench_open(b, kind);
	good_job(b, "opening");
	for (size_t i = 0; i < n; i++) {
		bool same = one(b, &bads[i]), expected = !is_known(device, bads[i].name);
		if (same && !expected)
			printf("%s: right, though tests/expected/device_bad.txt lists it\n", bads[i].name);
		other += same != expected;
		known += !expected;
	}
	bench_close(b);
	free(b);
	printf("%zu bad streams, %zu of them known to fault otherwise; %zu surprises\n", n, known, other);
	fflush(stdout);
	assert_int_equal(other, 0);
}

static void test_model(void **state)
{
	(void)state;
	all(WEFT_DEV_MODEL);
}

static void test_rtl(void **state)
{
	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	all(WEFT_DEV_RTL);
}

/* What may end behind the scratchpad's end, in words of N bytes. */
static const struct across {
	const char *name;
	unsigned op, unit;
	bool records, is_short;
	uint32_t words;                /* 0: N */
} acrosses[] = {
	{ "conv weights", WEFT_CMD_CONV, WEFT_UNIT_CV, false, false, 0 },
	{ "conv records", WEFT_CMD_CONV, WEFT_UNIT_CV, true, false, WEFT_PARAM_BYTES },
	{ "dw weights", WEFT_CMD_DW, WEFT_UNIT_VE, false, false, 9 },
	{ "dw records", WEFT_CMD_DW, WEFT_UNIT_VE, true, false, WEFT_PARAM_BYTES },
	{ "short conv records", WEFT_CMD_CONV, WEFT_UNIT_CV, true, true, WEFT_PARAM_SHORT_BYTES },
	{ "short dw records", WEFT_CMD_DW, WEFT_UNIT_VE, true, true, WEFT_PARAM_SHORT_BYTES },
};

/*
 * A command whose parameter records or weights end behind_end bytes behind the scratchpad's end. Both
 * addresses are multiples of N, so that a record, or a pair of words of weights, can lie across it.
 */
static size_t ends_behind(const struct weft_config *cfg, const struct across *a, uint32_t behind_end, uint64_t *words)
{
	const int32_t data = (int32_t)cfg->sp_bytes - DATA_BYTES;
	const int32_t base = (int32_t)(cfg->sp_bytes + behind_end - cfg->n * (a->words ? a->words : cfg->n));
	struct weft_cmd c;
	size_t n;

	legal(&c, WEFT_CMD_LOAD);
	c.load.row_bytes = DATA_BYTES;
	c.load.sp_addr = data;
	n = weft_cmd_encode(&c, words);
	legal(&c, a->op);
	c.h.wait[WEFT_UNIT_LD] = 1;
	if (a->op == WEFT_CMD_CONV) {
		c.conv.post.oc = c.conv.run_len = c.conv.x_limit = (int32_t)cfg->n;
		c.conv.in_base = c.conv.w_base = c.conv.p_base = data;
		c.conv.p_short = a->is_short;
		*(a->records ? &c.conv.p_base : &c.conv.w_base) = base;
	} else {
		c.dw.post.oc = (int32_t)cfg->n;
		c.dw.in_base = c.dw.w_base = c.dw.p_base = data;
		c.dw.p_short = a->is_short;
		*(a->records ? &c.dw.p_base : &c.dw.w_base) = base;
	}
	n += weft_cmd_encode(&c, words + n);
	return n + put(words + n, WEFT_CMD_END);
}

/* Records and weights that end at the scratchpad's end, and one word of N bytes after the other behind it. */
static void across_the_end(enum weft_dev_kind kind, const char *config)
{
	const struct weft_config *cfg = weft_config_find(config);
	weft_dev *dev = stream_device(kind, WEFT_MEMORY_SRAM, config);
	const uint8_t data[WIN_BYTES] = { 0 };
	struct weft_window win[] = { { NULL, true, false } };
	unsigned wrong = 0;

	assert_int_equal(weft_buf_alloc(dev, WIN_BYTES, &win[0].buf), 0);
	assert_int_equal(weft_buf_write(win[0].buf, 0, data, sizeof(data)), 0);
	weft_dev_trust(dev, true);
	for (size_t i = 0; i < sizeof(acrosses) / sizeof(*acrosses); i++) {
		const struct across *a = &acrosses[i];
		if (a->is_short && !cfg->has_p_short)
			continue;
		for (uint32_t behind = 0; behind <= cfg->n * (a->words ? a->words : cfg->n); behind += cfg->n) {
			uint64_t words[128];
			size_t n = ends_behind(cfg, a, behind, words);
			struct weft_job_result r;
			weft_job job;

			assert_int_equal(weft_submit(dev, words, n, win, 1, &job), 0);
			assert_int_equal(weft_wait(dev, job, 60000, &r), 0);
			if (behind ? r.status == -EIO && r.fault_code == WEFT_FAULT_SP_RANGE && r.fault_unit == a->unit &&
			             r.fault_cmd == 1 && r.fault_info == cfg->sp_bytes : r.status == 0)
				continue;
			printf("%s: %s end %u bytes behind the scratchpad: status %d, %s of %s, command %u, info 0x%x\n", config,
			       a->name, behind, r.status, weft_fault_name(r.fault_code), weft_unit_name(r.fault_unit), r.fault_cmd,
			       r.fault_info);
			wrong++;
		}
	}
	weft_buf_free(win[0].buf);
	weft_dev_close(dev);
	assert_int_equal(wrong, 0);
}

static void test_end_model(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_CONFIGS; i++)
		across_the_end(WEFT_DEV_MODEL, configs[i]);
}

static void test_end_rtl(void **state)
{
	unsigned n = 0;

	(void)state;
	for (size_t i = 0; i < N_CONFIGS; i++) {
		if (!test_have_rtl(configs[i]))
			continue;
		across_the_end(WEFT_DEV_RTL, configs[i]);
		n++;
	}
	if (!n)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_model), cmocka_unit_test(test_rtl),
		cmocka_unit_test(test_end_model), cmocka_unit_test(test_end_rtl) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

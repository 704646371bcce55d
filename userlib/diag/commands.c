/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the command processor: every fault that a stream can provoke, with all that the
 * hardware latches of it, and that the device is usable after a fault. And the test of the
 * command alu, whose operations no other test covers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userlib/diag/ops.h"

/* ---- faults ---- */

enum provoke { BAD_OP, BAD_LEN, BAD_FIELD, SP_RANGE, WINDOW_END, WINDOW_READ, WINDOW_WRITE, DEADLOCK, STREAM_END, BAD_MODE,
               N_PROVOKE };

static const char *const provoked[N_PROVOKE] = { "an unknown opcode", "a wrong length", "a field out of range",
	"an address behind the scratchpad", "an offset behind the window", "reading a closed window", "writing a window to be read",
	"waiting for what never comes", "a stream without END", "a mode that is not there" };

/*
 * Returns an arithmetic mode that this configuration leaves out: 1 (int16x8), else 2 (float8), else -1.
 */
static int missing_mode(const struct weft_config *cfg)
{
	return !cfg->has_int16 ? 1 : !cfg->has_fp8 ? 2 : -1;
}

/*
 * Says whether this configuration can be made to fail in that way. Only BAD_MODE may be impossible: if
 * no mode is missing.
 */
static bool possible(const struct weft_config *cfg, enum provoke what)
{
	return what != BAD_MODE || missing_mode(cfg) >= 0;
}

/*
 * Adds a load of 128 bytes and a store of 64 that are correct to the stream, and then one command that
 * must end with the fault `what` (for STREAM_END: a correct load, and s->no_end is set so that END is
 * missing). The wrong command's tag is 0xd1a60000 + what, by which the latched tag is recognised. If
 * memory runs out, s->failed is set.
 */
static void provoke(const struct weft_config *cfg, struct diag_stream *s, enum provoke what)
{
	struct weft_cmd c;

	diag_put(s, 0, NULL, 128);
	diag_store(s, 0, 64);
	weft_cmd_init(&c, what == WINDOW_WRITE ? WEFT_CMD_STORE : WEFT_CMD_LOAD);
	c.h.tag = INT64_C(0xd1a60000) + what;
	c.load.window = WEFT_WIN_CONST;
	c.load.row_bytes = 64;
	switch (what) {
	case SP_RANGE:
		c.load.sp_addr = (int32_t)cfg->sp_bytes - 32;
		break;
	case WINDOW_END:
		c.load.dram_off = 1 << 20;
		break;
	case WINDOW_READ:
		c.load.window = 5;
		break;
	case BAD_MODE:
		c = diag_elt(0, 0x1000, missing_mode(cfg), 1, 1, cfg->n);
		c.h.tag = INT64_C(0xd1a60000) + what;
		break;
	default:
		break;
	}
	size_t at = s->n_words;
	diag_add(s, &c);
	if (s->failed)
		return;
	if (what == BAD_OP)
		s->words[at] = (s->words[at] & ~UINT64_C(0xff)) | 0x77;
	if (what == BAD_LEN)
		s->words[at] = (s->words[at] & ~UINT64_C(0xff00)) | 0x0900;
	if (what == BAD_FIELD)
		s->words[at + WEFT_CMD_LOAD_N1_WORD] &= ~WEFT_CMD_LOAD_N1_MASK;
	if (what == DEADLOCK)
		s->words[at + 1] |= 7;         /* waits for seven loads */
	if (what == STREAM_END)
		s->no_end = true;
}

/*
 * Provokes each fault that a stream can provoke on this configuration, and compares code, unit, command
 * number, tag and info that the device latched with the model's (five checks each). One finding for
 * each that differs: DIAG-CMD-4 if the model's unit is the load or store engine and the code is
 * another; DIAG-CMD-1 if no fault came or another code or unit; DIAG-CMD-2 if only other latched values
 * differ. For an address behind the scratchpad, info is not compared: the model reports the byte,
 * hardware the row. Returns 0 or a negative errno as diag_exec().
 */
static int faults(struct weft_diag *d)
{
	for (enum provoke p = 0; p < N_PROVOKE; p++) {
		struct diag_stream s = { 0 };
		struct weft_job_result got, want;

		if (!possible(d->cfg, p))
			continue;
		provoke(d->cfg, &s, p);
		int err = diag_exec_fault(d, &s, &got, &want);
		if (err)
			return err;
		/* For an address out of range, the model reports the byte and hardware the row. */
		if (p == SP_RANGE)
			want.fault_info = got.fault_info;
		d->r->checks += 5;
		struct diag_place at = DIAG_NOWHERE;
		bool range = want.fault_unit == WEFT_UNIT_LD || want.fault_unit == WEFT_UNIT_ST;
		if (range && got.fault_code != want.fault_code)
			diag_find(d, "DIAG-CMD-4", at, "%s: unit %s does not stop with fault %s, but with %s", provoked[p],
			          weft_unit_name(want.fault_unit), weft_fault_name(want.fault_code), weft_fault_name(got.fault_code));
		else if (got.status && !got.fault_code)
			diag_find(d, "DIAG-CMD-1", at, "%s is not answered by a fault; the stream neither ends nor stops", provoked[p]);
		else if (got.fault_code != want.fault_code || got.fault_unit != want.fault_unit)
			diag_find(d, "DIAG-CMD-1", at, "%s: fault %s of unit %s, not %s of unit %s", provoked[p], weft_fault_name(got.fault_code),
			          weft_unit_name(got.fault_unit), weft_fault_name(want.fault_code), weft_unit_name(want.fault_unit));
		else if (got.fault_cmd != want.fault_cmd || got.fault_tag != want.fault_tag || got.fault_info != want.fault_info)
			diag_find(d, "DIAG-CMD-2", at, "%s: latched command %u, tag 0x%x, info 0x%x, not %u, 0x%x, 0x%x", provoked[p], got.fault_cmd,
			          got.fault_tag, got.fault_info, want.fault_cmd, want.fault_tag, want.fault_info);
	}
	return 0;
}

/*
 * Runs a plain copy of 256 bytes and reports DIAG-CMD-3 if it does not end or comes back wrong. Called
 * after faults: the device must work as before. Returns 0 or a negative errno as diag_exec().
 */
static int usable(struct weft_diag *d)
{
	struct diag_stream s = { 0 };
	struct diag_out out = { 0 };
	uint8_t data[256];

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7);
	diag_put(&s, 64, data, sizeof(data));
	diag_store(&s, 64, sizeof(data));
	int err = diag_exec(d, &s, &out);
	if (err == DIAG_STOPPED || (err == DIAG_RAN && memcmp(out.got, out.want, out.len)))
		diag_find(d, "DIAG-CMD-3", DIAG_NOWHERE, "after a fault and a reset a plain copy does not work any more");
	diag_out_free(&out);
	return err < 0 ? err : 0;
}

/*
 * Test commands: every fault that a stream can provoke, and then whether the device still works.
 * Findings go to d->r. Returns 0 whatever it found, or a negative errno as diag_exec().
 */
int diag_commands(struct weft_diag *d)
{
	int err = faults(d);

	return err ? err : usable(d);
}

/* ---- alu ---- */

#define FUNCS (WEFT_ALU_FUNC_ARGMAX + 1)
#define ELEMS 24

static const char *const func_names[FUNCS] = { "move", "add", "sub", "rsub", "mul", "max", "min", "abs", "and", "or", "xor",
	"shl", "shr", "eq", "gt", "ge", "select", "clz", "rescale", "lookup", "interp", "scatter", "sum", "rmax", "rmin", "rand",
	"ror", "dot", "argmax" };
#define TYPES 7
static const int type_bytes[TYPES] = { 1, 2, 4, 8, 1, 2, 4 };

/*
 * Returns a command alu of the given function (WEFT_ALU_FUNC_...) and operand type (0..6, of
 * type_bytes[] bytes) on ELEMS elements, with random zero points, shifts and limits that are legal for
 * it; *seed advances. Operands lie at scratchpad addresses 0, 0x400 and 0x800, the result at 0xc00, of
 * the operands' type, or int48 for dot and mul. Reductions go over 3 elements along i1; lookup, interp
 * and scatter take four or five indices along i1.
 */
static struct weft_cmd alu(unsigned func, int type, uint64_t *seed)
{
	struct weft_cmd c;
	int bytes = type_bytes[type];

	weft_cmd_init(&c, WEFT_CMD_ALU);
	c.alu.n0 = ELEMS;
	c.alu.n1 = func >= WEFT_ALU_FUNC_SUM ? 3 : 1;     /* reductions go along i1 */
	c.alu.a_base = 0;
	c.alu.b_base = 0x400;
	c.alu.c_base = 0x800;
	c.alu.out_base = 0xc00;
	c.alu.a_type = c.alu.b_type = type;
	c.alu.c_type = 0;
	c.alu.out_type = func == WEFT_ALU_FUNC_DOT || func == WEFT_ALU_FUNC_MUL ? WEFT_ALU_OUT_TYPE_INT48 : type;
	c.alu.a_s0 = c.alu.b_s0 = bytes;
	c.alu.a_s1 = c.alu.b_s1 = bytes * ELEMS;
	c.alu.c_s0 = 1;
	c.alu.out_s0 = type_bytes[c.alu.out_type];
	c.alu.a_zp = (int32_t)(diag_random(seed) % 64) - 32;
	c.alu.out_zp = (int32_t)(diag_random(seed) % 64) - 32;
	c.alu.func = (int32_t)func;
	c.alu.shift = func == WEFT_ALU_FUNC_MUL ? (int32_t)(diag_random(seed) % 40) : 0;
	c.alu.round = func == WEFT_ALU_FUNC_SHR || func == WEFT_ALU_FUNC_RESCALE;
	c.alu.c_imm = func == WEFT_ALU_FUNC_RESCALE;
	c.alu.c_value = c.alu.c_imm ? 2 + (int32_t)(diag_random(seed) % 45) : 0;
	c.alu.clamp = diag_random(seed) & 1;
	c.alu.lo = -(int32_t)(diag_random(seed) % 100);
	c.alu.hi = (int32_t)(diag_random(seed) % 100);
	if (func == WEFT_ALU_FUNC_SHL || func == WEFT_ALU_FUNC_SHR) {
		c.alu.b_imm = 1;
		c.alu.b_value = (int32_t)(diag_random(seed) % 20);
	}
	if (func >= WEFT_ALU_FUNC_LOOKUP && func <= WEFT_ALU_FUNC_SCATTER) {
		const bool scatter = func == WEFT_ALU_FUNC_SCATTER;
		/* Indices come from the first operand, in scatter from the second. */
		c.alu.idx_last = ELEMS - 2;
		c.alu.idx_step = scatter ? c.alu.out_s0 : bytes;
		c.alu.a_zp = 0;
		c.alu.n1 = scatter ? 5 : 4;
		c.alu.n0 = 1;
		c.alu.a_s1 = bytes;
		c.alu.b_s1 = scatter ? bytes : 0;
		c.alu.out_s1 = scatter ? 0 : c.alu.out_s0;
	}
	return c;
}

/*
 * Returns a reduction like alu()'s whose operand lies dense along the reduced dimension (8 results of
 * 29 elements each), so that the hardware takes a whole word of it at a time. The operand's zero
 * point is 0, and there are no limits; the result's zero point is random.
 */
static struct weft_cmd alu_along(unsigned func, int type, uint64_t *seed)
{
	struct weft_cmd c = alu(func, type, seed);

	c.alu.n0 = 8;
	c.alu.n1 = 29;
	c.alu.a_zp = 0;
	c.alu.clamp = 0;
	c.alu.a_s1 = c.alu.b_s1 = type_bytes[type];
	c.alu.a_s0 = c.alu.b_s0 = 29 * type_bytes[type];
	return c;
}

/*
 * Adds an alu command that looks up each of a table's 256 entries once, and a store of the results.
 * Returns the offset of the 256 result bytes in the arena.
 */
static size_t lookup_all(struct diag_stream *s)
{
	uint8_t data[512];
	uint64_t seed = 0x7ab1e;
	struct weft_cmd c;

	for (int i = 0; i < 256; i++) {
		data[i] = (uint8_t)i;
		data[256 + i] = (uint8_t)diag_random(&seed);
	}
	diag_put(s, 0, data, sizeof(data));
	weft_cmd_init(&c, WEFT_CMD_ALU);
	c.alu.func = WEFT_ALU_FUNC_LOOKUP;
	c.alu.n1 = 256;
	c.alu.a_zp = -128;
	c.alu.a_s1 = c.alu.out_s1 = 1;
	c.alu.b_base = 256;
	c.alu.idx_step = 1;
	c.alu.idx_last = 255;
	c.alu.out_base = 0x1000;
	diag_add(s, &c);
	return diag_store(s, 0x1000, 256);
}

/*
 * Compares the len bytes at offset `at` of the arena with the model's and reports only the first that
 * differs, as DIAG-VEC-2 with the command's function and type (along: it was one of alu_along()).
 * Nothing is reported if all are equal.
 */
static void compare_alu(struct weft_diag *d, const struct diag_out *out, size_t at, size_t len, unsigned func, int type, bool along)
{
	for (size_t i = 0; i < len; i++)
		if (out->got[at + i] != out->want[at + i]) {
			diag_find(d, "DIAG-VEC-2", DIAG_NOWHERE, "alu %s of type %d%s: byte %zu of the result is 0x%02x, not 0x%02x",
			          func_names[func], type, along ? " along what is dense" : "", i, out->got[at + i], out->want[at + i]);
			return;
		}
}

/*
 * Test alu: every function of the command alu with every type, reductions also along a dense dimension,
 * and a lookup of each of a table's 256 entries, all in one stream. A stream that does not end
 * (diag_stopped), and the first wrong byte of each command and of the table (DIAG-VEC-2), are findings
 * in d->r; the state is absent if the configuration has no alu. Returns 0 whatever it found, or a
 * negative errno as diag_exec().
 */
int diag_alu_ops(struct weft_diag *d)
{
	struct diag_stream s = { 0 };
	struct diag_out out = { 0 };
	uint8_t data[0xc00], fill[0x400];
	uint64_t seed = 0xa10a10;
	size_t at[2][FUNCS][TYPES];

	if (!d->cfg->has_alu) {
		diag_absent(d, "this configuration has no alu");
		return 0;
	}
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)diag_random(&seed);
	memset(fill, 0, sizeof(fill));
	diag_put(&s, 0, data, sizeof(data));
	for (int along = 0; along < 2; along++)
		for (unsigned f = along ? WEFT_ALU_FUNC_SUM : 0; f < FUNCS; f++)
			for (int k = 0; k < TYPES; k++) {
				struct weft_cmd c = along ? alu_along(f, k, &seed) : alu(f, k, &seed);
				c.alu.even = d->cfg->has_even && f == 18 && k & 1;
				diag_put(&s, 0xc00, fill, sizeof(fill));
				diag_add(&s, &c);
				at[along][f][k] = diag_store(&s, 0xc00, sizeof(fill));
			}
	size_t table = lookup_all(&s);
	int err = diag_exec(d, &s, &out);
	if (err == DIAG_STOPPED)
		diag_stopped(d, &out, "alu", NULL);
	for (size_t i = 0; err == DIAG_RAN && i < 256; i++)
		if (out.got[table + i] != out.want[table + i]) {
			diag_find(d, "DIAG-VEC-2", DIAG_NOWHERE, "alu lookup: index %zu of a table of 256 gives 0x%02x, not 0x%02x", i,
			          out.got[table + i], out.want[table + i]);
			break;
		}
	for (int along = 0; err == DIAG_RAN && along < 2; along++)
		for (unsigned f = along ? WEFT_ALU_FUNC_SUM : 0; f < FUNCS; f++)
			for (int k = 0; k < TYPES; k++)
				compare_alu(d, &out, at[along][f][k], sizeof(fill), f, k, along);
	diag_out_free(&out);
	return err < 0 ? err : 0;
}

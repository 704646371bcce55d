/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes RV32IM instructions, for tests of the control core. Written from the
 * manual's tables, apart from the decoder that it tests.
 */
#ifndef WEFT_TESTS_RV32_ASM_H
#define WEFT_TESTS_RV32_ASM_H

#include <assert.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t rv_r(uint32_t op, uint32_t f3, uint32_t f7, uint32_t rd, uint32_t rs1, uint32_t rs2)
{
	return f7 << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | rd << 7 | op;
}

static inline uint32_t rv_i(uint32_t op, uint32_t f3, uint32_t rd, uint32_t rs1, int32_t imm)
{
	return (uint32_t)imm << 20 | rs1 << 15 | f3 << 12 | rd << 7 | op;
}

static inline uint32_t rv_s(uint32_t f3, uint32_t rs1, uint32_t rs2, int32_t imm)
{
	uint32_t u = (uint32_t)imm;

	return (u >> 5 & 0x7f) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | (u & 0x1f) << 7 | 0x23;
}

static inline uint32_t rv_b(uint32_t f3, uint32_t rs1, uint32_t rs2, int32_t off)
{
	uint32_t u = (uint32_t)off;

	return (u >> 12 & 1) << 31 | (u >> 5 & 0x3f) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 |
	       (u >> 1 & 0xf) << 8 | (u >> 11 & 1) << 7 | 0x63;
}

static inline uint32_t rv_u(uint32_t op, uint32_t rd, uint32_t imm)
{
	return (imm & 0xfffff000u) | rd << 7 | op;
}

static inline uint32_t rv_jal(uint32_t rd, int32_t off)
{
	uint32_t u = (uint32_t)off;

	return (u >> 20 & 1) << 31 | (u >> 1 & 0x3ff) << 21 | (u >> 11 & 1) << 20 | (u >> 12 & 0xff) << 12 | rd << 7 | 0x6f;
}

#define RV_NOP 0x00000013u
#define RV_ECALL 0x00000073u
#define RV_EBREAK 0x00100073u
#define RV_MRET 0x30200073u
#define RV_WFI 0x10500073u

static inline uint32_t rv_addi(uint32_t rd, uint32_t rs1, int32_t imm) { return rv_i(0x13, 0, rd, rs1, imm); }
static inline uint32_t rv_lui(uint32_t rd, uint32_t imm) { return rv_u(0x37, rd, imm); }
static inline uint32_t rv_jalr(uint32_t rd, uint32_t rs1, int32_t imm) { return rv_i(0x67, 0, rd, rs1, imm); }
static inline uint32_t rv_lw(uint32_t rd, uint32_t rs1, int32_t imm) { return rv_i(0x03, 2, rd, rs1, imm); }
static inline uint32_t rv_sw(uint32_t rs2, uint32_t rs1, int32_t imm) { return rv_s(2, rs1, rs2, imm); }
static inline uint32_t rv_csrrw(uint32_t rd, uint32_t csr, uint32_t rs1) { return rv_i(0x73, 1, rd, rs1, (int32_t)csr); }
static inline uint32_t rv_csrrs(uint32_t rd, uint32_t csr, uint32_t rs1) { return rv_i(0x73, 2, rd, rs1, (int32_t)csr); }
static inline uint32_t rv_csrrsi(uint32_t rd, uint32_t csr, uint32_t imm) { return rv_i(0x73, 6, rd, imm, (int32_t)csr); }
static inline uint32_t rv_csrrci(uint32_t rd, uint32_t csr, uint32_t imm) { return rv_i(0x73, 7, rd, imm, (int32_t)csr); }

/* A program as it grows. */
struct rv_program {
	uint32_t word[4096];
	unsigned n;
};

static inline void rv_emit(struct rv_program *p, uint32_t word)
{
	assert(p->n < sizeof(p->word) / sizeof(p->word[0]));
	p->word[p->n++] = word;
}

/* Always two instructions, so that addresses do not depend on the value. */
static inline void rv_li(struct rv_program *p, uint32_t rd, uint32_t value)
{
	uint32_t high = (value + 0x800) & 0xfffff000u;

	rv_emit(p, rv_lui(rd, high));
	rv_emit(p, rv_addi(rd, rd, (int32_t)(value - high)));
}

/* Instructions by name. */
enum rv_format { RV_FORMAT_R, RV_FORMAT_I, RV_FORMAT_SHIFT, RV_FORMAT_LOAD, RV_FORMAT_STORE, RV_FORMAT_BRANCH };

struct rv_op {
	const char *name;
	enum rv_format format;
	uint32_t f3, f7;
};

static const struct rv_op rv_ops[] = {
	{ "add", RV_FORMAT_R, 0, 0 },       { "sub", RV_FORMAT_R, 0, 0x20 },    { "sll", RV_FORMAT_R, 1, 0 },
	{ "slt", RV_FORMAT_R, 2, 0 },       { "sltu", RV_FORMAT_R, 3, 0 },      { "xor", RV_FORMAT_R, 4, 0 },
	{ "srl", RV_FORMAT_R, 5, 0 },       { "sra", RV_FORMAT_R, 5, 0x20 },    { "or", RV_FORMAT_R, 6, 0 },
	{ "and", RV_FORMAT_R, 7, 0 },       { "mul", RV_FORMAT_R, 0, 1 },       { "mulh", RV_FORMAT_R, 1, 1 },
	{ "mulhsu", RV_FORMAT_R, 2, 1 },    { "mulhu", RV_FORMAT_R, 3, 1 },     { "div", RV_FORMAT_R, 4, 1 },
	{ "divu", RV_FORMAT_R, 5, 1 },      { "rem", RV_FORMAT_R, 6, 1 },       { "remu", RV_FORMAT_R, 7, 1 },
	{ "addi", RV_FORMAT_I, 0, 0 },      { "slti", RV_FORMAT_I, 2, 0 },      { "sltiu", RV_FORMAT_I, 3, 0 },
	{ "xori", RV_FORMAT_I, 4, 0 },      { "ori", RV_FORMAT_I, 6, 0 },       { "andi", RV_FORMAT_I, 7, 0 },
	{ "slli", RV_FORMAT_SHIFT, 1, 0 },  { "srli", RV_FORMAT_SHIFT, 5, 0 },  { "srai", RV_FORMAT_SHIFT, 5, 0x20 },
	{ "lb", RV_FORMAT_LOAD, 0, 0 },     { "lh", RV_FORMAT_LOAD, 1, 0 },     { "lw", RV_FORMAT_LOAD, 2, 0 },
	{ "lbu", RV_FORMAT_LOAD, 4, 0 },    { "lhu", RV_FORMAT_LOAD, 5, 0 },
	{ "sb", RV_FORMAT_STORE, 0, 0 },    { "sh", RV_FORMAT_STORE, 1, 0 },    { "sw", RV_FORMAT_STORE, 2, 0 },
	{ "beq", RV_FORMAT_BRANCH, 0, 0 },  { "bne", RV_FORMAT_BRANCH, 1, 0 },  { "blt", RV_FORMAT_BRANCH, 4, 0 },
	{ "bge", RV_FORMAT_BRANCH, 5, 0 },  { "bltu", RV_FORMAT_BRANCH, 6, 0 }, { "bgeu", RV_FORMAT_BRANCH, 7, 0 },
};

#define RV_N_OPS (sizeof(rv_ops) / sizeof(rv_ops[0]))

static inline const struct rv_op *rv_find(const char *name)
{
	for (unsigned i = 0; i < RV_N_OPS; i++)
		if (!strcmp(rv_ops[i].name, name))
			return &rv_ops[i];
	return NULL;
}

/* rd, rs1 and rs2 or an immediate, as the format has them. */
static inline uint32_t rv_encode(const struct rv_op *op, uint32_t rd, uint32_t rs1, uint32_t rs2, int32_t imm)
{
	switch (op->format) {
	case RV_FORMAT_R: return rv_r(0x33, op->f3, op->f7, rd, rs1, rs2);
	case RV_FORMAT_I: return rv_i(0x13, op->f3, rd, rs1, imm);
	case RV_FORMAT_SHIFT: return rv_i(0x13, op->f3, rd, rs1, (int32_t)(op->f7 << 5) | (imm & 0x3f));
	case RV_FORMAT_LOAD: return rv_i(0x03, op->f3, rd, rs1, imm);
	case RV_FORMAT_STORE: return rv_s(op->f3, rs1, rs2, imm);
	default: return rv_b(op->f3, rs1, rs2, imm);
	}
}

#endif

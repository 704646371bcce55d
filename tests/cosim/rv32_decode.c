/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control core's decoder against the manual's instruction listings, written
 * here as masks and matches. Levels check and test: every opcode, funct3 and
 * funct7 with several other fields, and every SYSTEM instruction with small
 * registers. test-full: all 2^32 words.
 */
#include "rv32_bench.h"

#include <inttypes.h>

/* KIND_, ALU_ and A_ of hw/ctrl/weft_rv32_pkg.sv. */
enum { ILLEGAL, ALU, LOAD, STORE, BRANCH, JUMP, MUL, DIV, CSR, ECALL, EBREAK, MRET, WFI, FENCE, FENCEI };
enum { A_RS1, A_PC, A_ZERO };
enum imm { IMM_NONE, IMM_I, IMM_S, IMM_B, IMM_U, IMM_J };

struct pattern {
	uint32_t mask, match;
	uint8_t kind, alu, a, rs1, rs2, rd, jalr;
	enum imm imm;
};

/* Which bits matter: opcode, funct3 and funct7 as the format has them. */
#define OP 0x0000007fu
#define OP3 0x0000707fu
#define OP7 0xfe00707fu
#define M3(op, f3) ((op) | (f3) << 12)
#define M7(op, f3, f7) ((op) | (f3) << 12 | (uint32_t)(f7) << 25)

static const struct pattern patterns[] = {
	{ OP, 0x37, ALU, 0, A_ZERO, 0, 0, 1, 0, IMM_U },          /* LUI */
	{ OP, 0x17, ALU, 0, A_PC, 0, 0, 1, 0, IMM_U },            /* AUIPC */
	{ OP, 0x6f, JUMP, 0, 0, 0, 0, 1, 0, IMM_J },              /* JAL */
	{ OP3, M3(0x67, 0), JUMP, 0, 0, 1, 0, 1, 1, IMM_I },      /* JALR */
	{ OP3, M3(0x63, 0), BRANCH, 0, 0, 1, 1, 0, 0, IMM_B },
	{ OP3, M3(0x63, 1), BRANCH, 0, 0, 1, 1, 0, 0, IMM_B },
	{ OP3, M3(0x63, 4), BRANCH, 0, 0, 1, 1, 0, 0, IMM_B },
	{ OP3, M3(0x63, 5), BRANCH, 0, 0, 1, 1, 0, 0, IMM_B },
	{ OP3, M3(0x63, 6), BRANCH, 0, 0, 1, 1, 0, 0, IMM_B },
	{ OP3, M3(0x63, 7), BRANCH, 0, 0, 1, 1, 0, 0, IMM_B },
	{ OP3, M3(0x03, 0), LOAD, 0, 0, 1, 0, 1, 0, IMM_I },
	{ OP3, M3(0x03, 1), LOAD, 0, 0, 1, 0, 1, 0, IMM_I },
	{ OP3, M3(0x03, 2), LOAD, 0, 0, 1, 0, 1, 0, IMM_I },
	{ OP3, M3(0x03, 4), LOAD, 0, 0, 1, 0, 1, 0, IMM_I },
	{ OP3, M3(0x03, 5), LOAD, 0, 0, 1, 0, 1, 0, IMM_I },
	{ OP3, M3(0x23, 0), STORE, 0, 0, 1, 1, 0, 0, IMM_S },
	{ OP3, M3(0x23, 1), STORE, 0, 0, 1, 1, 0, 0, IMM_S },
	{ OP3, M3(0x23, 2), STORE, 0, 0, 1, 1, 0, 0, IMM_S },
	{ OP3, M3(0x13, 0), ALU, 0x0, A_RS1, 1, 0, 1, 0, IMM_I },    /* ADDI */
	{ OP3, M3(0x13, 2), ALU, 0x2, A_RS1, 1, 0, 1, 0, IMM_I },
	{ OP3, M3(0x13, 3), ALU, 0x3, A_RS1, 1, 0, 1, 0, IMM_I },
	{ OP3, M3(0x13, 4), ALU, 0x4, A_RS1, 1, 0, 1, 0, IMM_I },
	{ OP3, M3(0x13, 6), ALU, 0x6, A_RS1, 1, 0, 1, 0, IMM_I },
	{ OP3, M3(0x13, 7), ALU, 0x7, A_RS1, 1, 0, 1, 0, IMM_I },
	{ OP7, M7(0x13, 1, 0x00), ALU, 0x1, A_RS1, 1, 0, 1, 0, IMM_I },
	{ OP7, M7(0x13, 5, 0x00), ALU, 0x5, A_RS1, 1, 0, 1, 0, IMM_I },
	{ OP7, M7(0x13, 5, 0x20), ALU, 0xd, A_RS1, 1, 0, 1, 0, IMM_I },
	{ OP7, M7(0x33, 0, 0x00), ALU, 0x0, A_RS1, 1, 1, 1, 0, IMM_NONE },
	{ OP7, M7(0x33, 0, 0x20), ALU, 0x8, A_RS1, 1, 1, 1, 0, IMM_NONE },
	{ OP7, M7(0x33, 1, 0x00), ALU, 0x1, A_RS1, 1, 1, 1, 0, IMM_NONE },
	{ OP7, M7(0x33, 2, 0x00), ALU, 0x2, A_RS1, 1, 1, 1, 0, IMM_NONE },
	{ OP7, M7(0x33, 3, 0x00), ALU, 0x3, A_RS1, 1, 1, 1, 0, IMM_NONE },
	{ OP7, M7(0x33, 4, 0x00), ALU, 0x4, A_RS1, 1, 1, 1, 0, IMM_NONE },
	{ OP7, M7(0x33, 5, 0x00), ALU, 0x5, A_RS1, 1, 1, 1, 0, IMM_NONE },
	{ OP7, M7(0x33, 5, 0x20), ALU, 0xd, A_RS1, 1, 1, 1, 0, IMM_NONE },
	{ OP7, M7(0x33, 6, 0x00), ALU, 0x6, A_RS1, 1, 1, 1, 0, IMM_NONE },
	{ OP7, M7(0x33, 7, 0x00), ALU, 0x7, A_RS1, 1, 1, 1, 0, IMM_NONE },
	{ OP7, M7(0x33, 0, 1), MUL, 0, 0, 1, 1, 1, 0, IMM_NONE },
	{ OP7, M7(0x33, 1, 1), MUL, 0, 0, 1, 1, 1, 0, IMM_NONE },
	{ OP7, M7(0x33, 2, 1), MUL, 0, 0, 1, 1, 1, 0, IMM_NONE },
	{ OP7, M7(0x33, 3, 1), MUL, 0, 0, 1, 1, 1, 0, IMM_NONE },
	{ OP7, M7(0x33, 4, 1), DIV, 0, 0, 1, 1, 1, 0, IMM_NONE },
	{ OP7, M7(0x33, 5, 1), DIV, 0, 0, 1, 1, 1, 0, IMM_NONE },
	{ OP7, M7(0x33, 6, 1), DIV, 0, 0, 1, 1, 1, 0, IMM_NONE },
	{ OP7, M7(0x33, 7, 1), DIV, 0, 0, 1, 1, 1, 0, IMM_NONE },
	{ OP3, M3(0x0f, 0), FENCE, 0, 0, 0, 0, 0, 0, IMM_NONE },
	{ OP3, M3(0x0f, 1), FENCEI, 0, 0, 0, 0, 0, 0, IMM_NONE },
	{ ~0u, 0x00000073, ECALL, 0, 0, 0, 0, 0, 0, IMM_NONE },
	{ ~0u, 0x00100073, EBREAK, 0, 0, 0, 0, 0, 0, IMM_NONE },
	{ ~0u, 0x30200073, MRET, 0, 0, 0, 0, 0, 0, IMM_NONE },
	{ ~0u, 0x10500073, WFI, 0, 0, 0, 0, 0, 0, IMM_NONE },
	{ OP3, M3(0x73, 1), CSR, 0, 0, 1, 0, 1, 0, IMM_NONE },
	{ OP3, M3(0x73, 2), CSR, 0, 0, 1, 0, 1, 0, IMM_NONE },
	{ OP3, M3(0x73, 3), CSR, 0, 0, 1, 0, 1, 0, IMM_NONE },
	{ OP3, M3(0x73, 5), CSR, 0, 0, 0, 0, 1, 0, IMM_NONE },
	{ OP3, M3(0x73, 6), CSR, 0, 0, 0, 0, 1, 0, IMM_NONE },
	{ OP3, M3(0x73, 7), CSR, 0, 0, 0, 0, 1, 0, IMM_NONE },
};

#define N_PATTERNS (sizeof(patterns) / sizeof(patterns[0]))

static const struct pattern *find(uint32_t w)
{
	const struct pattern *found = NULL;

	for (unsigned i = 0; i < N_PATTERNS; i++) {
		if ((w & patterns[i].mask) != patterns[i].match)
			continue;
		assert_null(found);
		found = &patterns[i];
	}
	return found;
}

/* The core has those of chip.toml; the numbers are the privileged manual's. */
static bool csr_legal(uint32_t w)
{
	static const uint16_t there[] = { 0x300, 0x301, 0x304, 0x305, 0x340, 0x341, 0x342, 0x343, 0x344, 0xb00, 0xb02, 0xb80,
		0xb82, 0xf11, 0xf12, 0xf13, 0xf14 };
	const uint32_t n = w >> 20, f3 = w >> 12 & 7, source = w >> 15 & 31;
	const bool writes = f3 == 1 || f3 == 5 || source != 0;

	/* Protection: four and sixteen registers, of which a half are there in full. */
	if ((n >= 0x3a0 && n <= 0x3a3) || (n >= 0x3b0 && n <= 0x3bf))
		return true;
	for (unsigned i = 0; i < sizeof(there) / sizeof(there[0]); i++)
		if (there[i] == n)
			return !(writes && n >= 0xc00);
	return false;
}

/* Sign extension by arithmetic on 64 bits, field by field. */
static uint32_t immediate(uint32_t w, enum imm form)
{
	const int64_t sign = w >> 31 ? -1 : 0;

	switch (form) {
	case IMM_I: return (uint32_t)(sign * 2048 + (int64_t)(w >> 20 & 0x7ff));
	case IMM_S: return (uint32_t)(sign * 2048 + (int64_t)(w >> 25 & 0x3f) * 32 + (w >> 7 & 0x1f));
	case IMM_B: return (uint32_t)(sign * 4096 + (int64_t)(w >> 7 & 1) * 2048 + (w >> 25 & 0x3f) * 32 + (w >> 8 & 0xf) * 2);
	case IMM_U: return w & 0xfffff000u;
	case IMM_J:
		return (uint32_t)(sign * 1048576 + (int64_t)(w >> 12 & 0xff) * 4096 + (w >> 20 & 1) * 2048 + (w >> 21 & 0x3ff) * 2);
	default: return 0;
	}
}

static bool same(uint32_t w, struct weft_rv32_decoded *d)
{
	const struct pattern *p = find(w);

	api->decode(bench, w, d);
	if (p && p->kind == CSR && !csr_legal(w))
		p = NULL;
	if (!p)
		return d->kind == ILLEGAL && d->rd == 0;
	if (d->kind != p->kind || d->rs1_used != p->rs1 || d->rs2_used != p->rs2 || d->rd != (p->rd ? w >> 7 & 31 : 0))
		return false;
	if (p->imm != IMM_NONE && d->imm != immediate(w, p->imm))
		return false;
	if (p->kind == ALU && (d->alu != p->alu || d->a != p->a || d->b_imm != (p->imm != IMM_NONE)))
		return false;
	return p->kind != JUMP || d->jalr == p->jalr;
}

static unsigned n_legal;

static void check_word(uint32_t w)
{
	struct weft_rv32_decoded d;

	if (!same(w, &d))
		fail_msg("word 0x%08x: kind %u alu %u a %u rd %u rs1 %d rs2 %d imm 0x%08x", w, d.kind, d.alu, d.a, d.rd,
		         d.rs1_used, d.rs2_used, d.imm);
	n_legal += d.kind != ILLEGAL;
}

static void test_fields(void **state)
{
	static const uint32_t others[] = { 0x00000000, 0x01ff8f80, 0x00100000, 0x00508280, 0x01050500, 0x00000080, 0x00008000,
		0x000a8a80 };
	uint64_t n = 0;

	(void)state;
	n_legal = 0;
	for (uint32_t f7 = 0; f7 < 128; f7++)
		for (uint32_t f3 = 0; f3 < 8; f3++)
			for (uint32_t op = 0; op < 128; op++)
				for (unsigned k = 0; k < sizeof(others) / sizeof(others[0]); k++, n++)
					check_word(f7 << 25 | f3 << 12 | op | others[k]);
	for (uint32_t csr = 0; csr < 4096; csr++)
		for (uint32_t low = 0; low < 8 * 4; low++, n++)
			check_word(csr << 20 | (low & 1) << 15 | (low >> 2) << 12 | (low >> 1 & 1) << 7 | 0x73);
	print_message("%" PRIu64 " words, %u of them instructions\n", n, n_legal);
	assert_true(n_legal > 10000);
}

static void test_all_words(void **state)
{
	(void)state;
	if (test_level() < 2) {
		printf("all 2^32 words: at level test-full\n");
		fflush(stdout);
		skip();
	}
	n_legal = 0;
	uint32_t w = 0;
	do {
		check_word(w);
	} while (++w);
	print_message("4294967296 words, %u of them instructions\n", n_legal);
}

static int setup(void **state)
{
	(void)state;
	return bench_open(bench_api("rv32"), 4096, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(bench_there), cmocka_unit_test(test_fields),
		cmocka_unit_test(test_all_words) };

	return cmocka_run_group_tests(tests, setup, bench_close);
}

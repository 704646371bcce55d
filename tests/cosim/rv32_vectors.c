/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operand and result rows of riscv-tests (data/riscv_vectors) on the Verilated
 * control core and on that of the functional chip, each as a program with the
 * registers and the distances between instructions that its macro's name says.
 *
 * The rows are stored for 64 bits. What is expected here is computed for 32 by
 * the plain C below; where a row's operands and result are sign-extended words,
 * or its operation only looks at low halves, the stored result must say the same.
 */
#include "rv32_bench.h"
#include "tests/support/rv32_model.h"

#include <inttypes.h>
#include <stdlib.h>

#define MAX_FIELDS 12

struct row {
	char text[512];
	char *field[MAX_FIELDS];
	int n;
	const char *file, *macro;
};

struct tally {
	unsigned run, rv64, illegal, stored;
};

/* RV32IM's integer operations, from the manual's text. */
static uint32_t compute(const char *name, uint32_t a, uint32_t b)
{
	int32_t sa = (int32_t)a, sb = (int32_t)b;
	char base[8];
	size_t n = strlen(name);

	/* Immediate forms compute the same. */
	snprintf(base, sizeof(base), "%s", name);
	if (!strcmp(name, "sltiu"))
		strcpy(base, "sltu");
	else if (n > 1 && base[n - 1] == 'i')
		base[n - 1] = '\0';
	if (!strcmp(base, "add")) return a + b;
	if (!strcmp(base, "sub")) return a - b;
	if (!strcmp(base, "sll")) return a << (b & 31);
	if (!strcmp(base, "slt")) return sa < sb;
	if (!strcmp(base, "sltu")) return a < b;
	if (!strcmp(base, "xor")) return a ^ b;
	if (!strcmp(base, "srl")) return a >> (b & 31);
	if (!strcmp(base, "sra")) return (uint32_t)(((int64_t)sa) >> (b & 31));
	if (!strcmp(base, "or")) return a | b;
	if (!strcmp(base, "and")) return a & b;
	if (!strcmp(base, "mul")) return (uint32_t)((uint64_t)a * b);
	if (!strcmp(base, "mulh")) return (uint32_t)((uint64_t)((int64_t)sa * sb) >> 32);
	if (!strcmp(base, "mulhsu")) return (uint32_t)((uint64_t)((int64_t)sa * (int64_t)b) >> 32);
	if (!strcmp(base, "mulhu")) return (uint32_t)((uint64_t)a * b >> 32);
	if (!strcmp(base, "div")) return b == 0 ? UINT32_MAX : a == 0x80000000u && sb == -1 ? a : (uint32_t)(sa / sb);
	if (!strcmp(base, "divu")) return b == 0 ? UINT32_MAX : a / b;
	if (!strcmp(base, "rem")) return b == 0 ? a : a == 0x80000000u && sb == -1 ? 0 : (uint32_t)(sa % sb);
	if (!strcmp(base, "remu")) return b == 0 ? a : a % b;
	fail_msg("no arithmetic for %s", name);
	return 0;
}

static bool branch_taken(const char *name, uint32_t a, uint32_t b)
{
	int32_t sa = (int32_t)a, sb = (int32_t)b;

	if (!strcmp(name, "beq")) return a == b;
	if (!strcmp(name, "bne")) return a != b;
	if (!strcmp(name, "blt")) return sa < sb;
	if (!strcmp(name, "bge")) return sa >= sb;
	if (!strcmp(name, "bltu")) return a < b;
	assert_string_equal(name, "bgeu");
	return a >= b;
}

/* Results whose low half depends on low halves of the operands only. */
static bool low_half(const char *name)
{
	static const char *const names[] = { "add", "addi", "sub", "xor", "xori", "or", "ori", "and", "andi", "mul" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static bool is_word(uint64_t v)
{
	return (int64_t)v == (int32_t)v;
}

/* Signed operations on sign-extended words are the same in 64 bits. */
static bool signed_words(const char *name)
{
	return !strcmp(name, "slt") || !strcmp(name, "slti") || !strcmp(name, "sltu") || !strcmp(name, "sltiu") ||
	       !strcmp(name, "sra") || !strcmp(name, "srai") || !strcmp(name, "div") || !strcmp(name, "rem");
}

/* A number, or one shifted left: -1<<63. */
static uint64_t number(const char *text)
{
	char *end;
	uint64_t v = text[0] == '-' ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);

	return !strncmp(end, "<<", 2) ? v << strtoul(end + 2, NULL, 0) : v;
}

/* 12-bit immediates are written as they stand in the instruction. */
static int32_t immediate(const char *text)
{
	int32_t v = (int32_t)number(text) & 0xfff;

	return v & 0x800 ? v - 0x1000 : v;
}

static void nops(struct rv_program *p, unsigned n)
{
	while (n--)
		rv_emit(p, RV_NOP);
}

static void complain(const struct row *r, uint32_t expected, uint32_t got)
{
	char line[160] = "";

	for (int i = 0; i < r->n; i++) {
		strncat(line, r->field[i], sizeof(line) - strlen(line) - 2);
		strcat(line, " ");
	}
	fail_msg("%s %s %s: expected 0x%08x, got 0x%08x", r->file, r->macro, line, expected, got);
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static void run_and_compare(const struct row *r, struct rv_program *p, unsigned reg, uint32_t expected)
{
	rv_emit(p, RV_ECALL);
	bench_start(p);
	uint32_t pc = bench_run(200);
	if (pc != RAM + 4 * (p->n - 1))
		complain(r, RAM + 4 * (p->n - 1), pc);
	if (api->reg(bench, reg) != expected)
		complain(r, expected, api->reg(bench, reg));
}

/* Register numbers follow the macros: x1 and x2 in, x14 out, x6 after a bypass. */
static bool arithmetic(const struct row *r, struct tally *t)
{
	const char *m = r->macro;
	const bool imm_form = begins(m, "TEST_IMM");
	struct rv_program p = { .n = 0 };
	int f = 0;
	unsigned gap[2] = { 0, 0 };
	bool swap = strstr(m, "SRC21") != NULL;

	if (strstr(m, "BYPASS")) {
		gap[0] = (unsigned)number(r->field[++f]);
		if (strstr(m, "SRC12") || strstr(m, "SRC21"))
			gap[1] = (unsigned)number(r->field[++f]);
	}
	const struct rv_op *op = rv_find(r->field[++f]);
	assert_non_null(op);
	bool has_result = !strstr(m, "ZERODEST");
	uint64_t result = has_result ? number(r->field[++f]) : 0;
	uint64_t in[2] = { 0, 0 };
	bool zero1 = strstr(m, "ZEROSRC1") != NULL, zero2 = strstr(m, "ZEROSRC2") || strstr(m, "ZEROSRC12");
	if (!zero1)
		in[0] = number(r->field[++f]);
	if (strstr(m, "SRC12_EQ_DEST"))
		in[1] = in[0];
	else if (!zero2)
		in[1] = imm_form ? (uint64_t)(int64_t)immediate(r->field[++f]) : number(r->field[++f]);
	assert_int_equal(f, r->n - 1);

	unsigned rd = has_result ? 14 : 0, rs1 = zero1 ? 0 : 1, rs2 = zero2 ? 0 : 2;
	if (strstr(m, "SRC1_EQ_DEST"))
		rd = rs1;
	if (strstr(m, "SRC2_EQ_DEST"))
		rd = rs2;
	if (strstr(m, "SRC12_EQ_DEST"))
		rd = rs2 = rs1;

	const unsigned first = swap ? 2 : 1, second = swap ? 1 : 2;
	rv_li(&p, first, (uint32_t)in[first - 1]);
	if (strstr(m, "SRC1_BYPASS") || strstr(m, "SRC12_BYPASS") || swap)
		nops(&p, gap[0]);
	if (!imm_form) {
		rv_li(&p, second, (uint32_t)in[second - 1]);
		nops(&p, gap[1]);
	}
	if (op->format == RV_FORMAT_SHIFT && (in[1] & 0x3f) >= 32) {
		/* Shift amounts of 32 and more are no RV32 instructions. */
		rv_emit(&p, rv_encode(op, rd, rs1, rs2, (int32_t)in[1]));
		bench_start(&p);
		assert_int_equal(bench_run(200), RAM + 4 * (p.n - 1));
		t->illegal++;
		return true;
	}
	rv_emit(&p, rv_encode(op, rd, rs1, rs2, (int32_t)in[1]));
	unsigned out = rd;
	if (strstr(m, "DEST_BYPASS")) {
		nops(&p, gap[0]);
		rv_emit(&p, rv_addi(6, rd, 0));
		out = 6;
	}
	uint32_t expected = has_result ? compute(op->name, (uint32_t)in[0], (uint32_t)in[1]) : 0;
	run_and_compare(r, &p, out, expected);
	if (has_result && (low_half(op->name) ||
	                   (signed_words(op->name) && is_word(in[0]) && is_word(in[1]) && is_word(result)))) {
		/* 64-bit quotients of words differ in the one overflow. */
		if (strcmp(op->name, "div") || in[1] != UINT64_MAX || (uint32_t)in[0] != 0x80000000u) {
			if ((uint32_t)result != expected)
				complain(r, (uint32_t)result, expected);
			t->stored++;
		}
	}
	return true;
}

static bool branch(const struct row *r, struct tally *t)
{
	struct rv_program p = { .n = 0 };
	int f = 0;
	unsigned gap[2] = { 0, 0 };
	const bool bypass = strstr(r->macro, "BYPASS") != NULL;

	if (bypass) {
		gap[0] = (unsigned)number(r->field[++f]);
		gap[1] = (unsigned)number(r->field[++f]);
	}
	const struct rv_op *op = rv_find(r->field[++f]);
	assert_non_null(op);
	uint32_t a = (uint32_t)number(r->field[f + 1]), b = (uint32_t)number(r->field[f + 2]);
	assert_int_equal(f + 2, r->n - 1);
	bool taken = branch_taken(op->name, a, b);
	/* The stored expectation is the macro's name; bypass rows are not taken. */
	assert_int_equal(taken, !bypass && !strstr(r->macro, "NOTTAKEN"));
	t->stored++;

	/* Once forward and once backward; x5 counts how often the branch went. */
	rv_li(&p, 1, a);
	nops(&p, gap[0]);
	rv_li(&p, 2, b);
	nops(&p, gap[1]);
	rv_emit(&p, rv_encode(op, 0, 1, 2, 12));
	rv_emit(&p, rv_addi(5, 5, 1));
	rv_emit(&p, rv_jal(0, 16));
	rv_emit(&p, rv_addi(5, 5, 16));
	rv_emit(&p, rv_encode(op, 0, 1, 2, -8));
	rv_emit(&p, rv_addi(5, 5, 4));
	api->set_reg(bench, 5, 0);
	run_and_compare(r, &p, 5, taken ? 16 : 1);
	return true;
}

/* tdat, tdat1, tdat2, ... are words of the access's size, one after the other. */
static int32_t label(const char *text, unsigned size)
{
	assert_true(begins(text, "tdat"));
	return text[4] ? (atoi(text + 4) - 1) * (int32_t)size : 0;
}

static unsigned size_of(const struct rv_op *op)
{
	return 1u << (op->f3 & 3);
}

/* What stands at tdat of each load's file follows from its rows at tdat. */
static uint8_t memory[5][16];

static void remember(const struct row *r)
{
	if (strcmp(r->macro, "TEST_LD_OP") || strcmp(r->field[r->n - 1], "tdat"))
		return;
	const struct rv_op *op = rv_find(r->field[1]);
	if (!op)
		return;
	uint64_t v = number(r->field[2]);
	memcpy(&memory[op - rv_find("lb")][number(r->field[3])], &v, size_of(op));
}

static bool load(const struct row *r, struct tally *t)
{
	struct rv_program p = { .n = 0 };
	int f = 0;
	unsigned gap = strstr(r->macro, "BYPASS") ? (unsigned)number(r->field[++f]) : 0;
	const struct rv_op *op = rv_find(r->field[++f]);
	uint64_t stored = number(r->field[f + 1]);
	int32_t offset = (int32_t)number(r->field[f + 2]);
	unsigned size = size_of(op);
	uint32_t base = RAM + 0x8000 + (uint32_t)label(r->field[f + 3], size), expected = 0;

	memcpy(&expected, memory[op - rv_find("lb")] + (base + (uint32_t)offset - RAM - 0x8000), size);
	if (!(op->f3 & 4) && size < 4)
		expected = size == 1 ? (uint32_t)(int8_t)expected : (uint32_t)(int16_t)expected;
	if (expected != (uint32_t)stored)
		complain(r, (uint32_t)stored, expected);
	t->stored++;

	assert_true(api->load(bench, RAM + 0x8000, memory[op - rv_find("lb")], 16));
	rv_li(&p, 13, base);
	if (strstr(r->macro, "SRC1_BYPASS"))
		nops(&p, gap);
	rv_emit(&p, rv_encode(op, 14, 13, 0, offset));
	unsigned out = 14;
	if (strstr(r->macro, "DEST_BYPASS")) {
		nops(&p, gap);
		rv_emit(&p, rv_addi(6, 14, 0));
		out = 6;
	}
	run_and_compare(r, &p, out, expected);
	return true;
}

/* A store and a load of the same place. */
static bool store(const struct row *r, struct tally *t)
{
	struct rv_program p = { .n = 0 };
	int f = 0;
	unsigned gap[2] = { 0, 0 };
	const bool swap = strstr(r->macro, "SRC21") != NULL;

	if (strstr(r->macro, "SRC12") || swap) {
		gap[0] = (unsigned)number(r->field[++f]);
		gap[1] = (unsigned)number(r->field[++f]);
	}
	const struct rv_op *ld = rv_find(r->field[f + 1]), *st = rv_find(r->field[f + 2]);
	uint64_t stored = number(r->field[f + 3]);
	int32_t offset = (int32_t)number(r->field[f + 4]);
	uint32_t base = RAM + 0x8020 + (uint32_t)label(r->field[f + 5], size_of(st));
	uint32_t value = (uint32_t)stored, expected = 0;

	/* Around it stands what those files put there: 0xdeadbeef, or its low part. */
	uint8_t want[64], after[64];
	for (unsigned i = 0; i < sizeof(want); i++)
		want[i] = (uint8_t)(0xdeadbeefu >> 8 * (i % size_of(st)));
	assert_true(api->load(bench, RAM + 0x8010, want, sizeof(want)));
	uint8_t *at = want + (base + (uint32_t)offset - RAM - 0x8010);
	memcpy(at, &value, size_of(st));
	memcpy(&expected, at, size_of(ld));
	if (!(ld->f3 & 4) && size_of(ld) < 4)
		expected = size_of(ld) == 1 ? (uint32_t)(int8_t)expected : (uint32_t)(int16_t)expected;
	if (expected != (uint32_t)stored)
		complain(r, (uint32_t)stored, expected);
	t->stored++;

	rv_li(&p, swap ? 2 : 1, swap ? base : value);
	nops(&p, gap[0]);
	rv_li(&p, swap ? 1 : 2, swap ? value : base);
	nops(&p, gap[1]);
	rv_emit(&p, rv_encode(st, 0, 2, 1, offset));
	rv_emit(&p, rv_encode(ld, 14, 2, 0, offset));
	run_and_compare(r, &p, 14, expected);
	/* Nothing beside it was written. */
	assert_true(api->peek(bench, RAM + 0x8010, after, sizeof(after)));
	assert_memory_equal(after, want, sizeof(want));
	return true;
}

/* W forms, doublewords and LWU are not in RV32. */
static bool rv64_only(const struct row *r)
{
	for (int i = 1; i < r->n; i++) {
		size_t n = strlen(r->field[i]);
		if (!strcmp(r->field[i], "ld") || !strcmp(r->field[i], "sd") || !strcmp(r->field[i], "lwu"))
			return true;
		if (n > 2 && r->field[i][n - 1] == 'w' && strcmp(r->field[i], "lw") && strcmp(r->field[i], "sw"))
			return true;
	}
	return false;
}

static void run_row(const struct row *r, struct tally *t)
{
	bool known = false;

	if (rv64_only(r)) {
		t->rv64++;
		return;
	}
	/* One line is the body of a macro, not a row. */
	if (strstr(r->field[2], "__riscv_xlen"))
		return;
	if (begins(r->macro, "TEST_RR") || begins(r->macro, "TEST_IMM"))
		known = arithmetic(r, t);
	else if (begins(r->macro, "TEST_BR2"))
		known = branch(r, t);
	else if (begins(r->macro, "TEST_LD_ST") || begins(r->macro, "TEST_ST"))
		known = store(r, t);
	else if (begins(r->macro, "TEST_LD"))
		known = load(r, t);
	if (!known)
		fail_msg("unknown macro %s", r->macro);
	t->run++;
}

static bool read_row(FILE *f, struct row *r)
{
	do {
		if (!fgets(r->text, sizeof(r->text), f))
			return false;
	} while (r->text[0] == '#');
	r->text[strcspn(r->text, "\n")] = '\0';
	char *save, *field = strtok_r(r->text, "\t", &save);
	r->file = field;
	r->macro = strtok_r(NULL, "\t", &save);
	assert_non_null(r->macro);
	for (r->n = 0; r->n < MAX_FIELDS && (field = strtok_r(NULL, "\t", &save)); r->n++)
		r->field[r->n] = field;
	return true;
}

static void test_vectors(void **state)
{
	char path[512];
	struct row r;
	struct tally t = { 0 };

	(void)state;
	snprintf(path, sizeof(path), "%s/riscv_vectors/riscv_tests_ui_um.tsv", test_data());
	FILE *f = fopen(path, "r");
	if (!f) {
		printf("%s is not there\n", path);
		fflush(stdout);
		skip();
	}
	while (read_row(f, &r))
		if (!rv64_only(&r))
			remember(&r);
	rewind(f);
	while (read_row(f, &r))
		run_row(&r, &t);
	fclose(f);
	print_message("%u rows pass (%u as illegal shifts), of which %u have a stored result that means the same in 32 bits; "
	              "%u rows of 64-bit instructions left out\n", t.run, t.illegal, t.stored, t.rv64);
	assert_true(t.run > 1000);
}

static int setup(void **state)
{
	(void)state;
	return bench_open(bench_api("rv32"), 4096, 1);
}

static int setup_model(void **state)
{
	(void)state;
	return bench_open(rv32_model_api(), 4096, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(bench_there), cmocka_unit_test(test_vectors) };

	int failed = cmocka_run_group_tests_name("functional", tests, setup_model, bench_close);

	return failed + cmocka_run_group_tests_name("rtl", tests, setup, bench_close);
}

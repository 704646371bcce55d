/* SPDX-License-Identifier: Apache-2.0 */
/* RV32IM: decode and execute, traps, CSRs. */
#include "rv32.h"

#include <string.h>

#include "rv32_seen.h"

#include <weft/gen/chip.h>

#define MSTATUS_MIE  (1u << 3)
#define MSTATUS_MPIE (1u << 7)
#define MSTATUS_MPP  (3u << 11)   /* there is only machine mode */
#define MIE_BITS     (RV32_MIP_MTIP | RV32_MIP_MEIP)
#define MISA         (1u << 30 | 1u << ('I' - 'A') | 1u << ('M' - 'A'))

/* Estimated cycles beyond the first. */
enum { COST_TAKEN = 1, COST_MEM = 1, COST_DEVICE = 3, COST_MUL = 3, COST_DIV = 33, COST_TRAP = 3 };

void rv32_reset(struct rv32 *c, uint32_t pc)
{
	memset(c->x, 0, sizeof(c->x));
	c->pc = pc;
	c->mstatus = MSTATUS_MPP;
	c->mie = c->mip = c->mtvec = c->mscratch = c->mepc = c->mcause = c->mtval = 0;
	memset(c->pmp_cfg, 0, sizeof(c->pmp_cfg));
	memset(c->pmp_addr, 0, sizeof(c->pmp_addr));
	c->pmp_on = false;
	c->pmp_fetch = 0;
	c->cycle = c->instret = 0;
	c->wfi = false;
}

void rv32_skip(struct rv32 *c, uint64_t cycles)
{
	c->cycle += cycles;
	c->n_cycles += cycles;
}

static void trap(struct rv32 *c, uint32_t cause, uint32_t value)
{
	c->mepc = c->pc;
	c->mcause = cause;
	c->mtval = value;
	c->mstatus = MSTATUS_MPP | (c->mstatus & MSTATUS_MIE ? MSTATUS_MPIE : 0);
	c->pc = c->mtvec;
	rv32_skip(c, COST_TRAP);
}

/* ---- protection ---- */

enum { PMP_R = 1, PMP_W = 2, PMP_X = 4, PMP_TOR = 8, PMP_MODE = 0x18, PMP_LOCK = 0x80 };

/* Of an address in units of four bytes: what an entry keeps. Pages of 4 KiB in ROM and RAM, else regions of 256 MiB. */
static uint32_t legal_addr(uint32_t v)
{
	const uint32_t region = v & 0x3c000000;

	return region | (region <= 0x04000000 ? v & 0x00003c00 : 0);
}

/* May it? want: PMP_R, PMP_W or PMP_X. Accesses are aligned, so that they lie in one page. */
static bool granted(const struct rv32 *c, uint32_t addr, uint8_t want)
{
	uint32_t from = 0;

	if (!c->pmp_on)
		return true;
	for (unsigned i = 0; i < RV32_N_PMP; i++) {
		const uint32_t to = c->pmp_addr[i];

		if ((c->pmp_cfg[i] & PMP_MODE) == PMP_TOR && addr >> 2 >= from && addr >> 2 < to)
			return !(c->pmp_cfg[i] & PMP_LOCK) || (c->pmp_cfg[i] & want);
		from = to;
	}
	return true;
}

static bool may_fetch(struct rv32 *c)
{
	const uint32_t page = c->pc >> 12;

	if (!c->pmp_on || c->pmp_fetch == page + 1)
		return true;
	if (!granted(c, c->pc, PMP_X))
		return false;
	c->pmp_fetch = page + 1;
	return true;
}

/* The manual's reserved and absent settings become legal ones: no other mode than TOR, no W without R. */
static uint8_t legal_cfg(uint32_t v)
{
	uint8_t cfg = v & (PMP_LOCK | PMP_X | PMP_R);

	if ((v & PMP_MODE) == PMP_TOR)
		cfg |= PMP_TOR;
	if ((v & (PMP_W | PMP_R)) == (PMP_W | PMP_R))
		cfg |= PMP_W;
	return cfg;
}

static bool is_pmp(uint32_t n)
{
	return (n >= 0x3a0 && n < 0x3a4) || (n >= 0x3b0 && n < 0x3c0);
}

static uint32_t pmp_read(const struct rv32 *c, uint32_t n)
{
	uint32_t v = 0;

	if (n >= 0x3b0)
		return n - 0x3b0 < RV32_N_PMP ? c->pmp_addr[n - 0x3b0] : 0;
	for (unsigned i = 0; i < 4 && 4 * (n - 0x3a0) < RV32_N_PMP; i++)
		v |= (uint32_t)c->pmp_cfg[4 * (n - 0x3a0) + i] << 8 * i;
	return v;
}

static void pmp_write(struct rv32 *c, uint32_t n, uint32_t v)
{
	const uint32_t at = n - 0x3b0, first = 4 * (n - 0x3a0);

	if (n >= 0x3b0 && at < RV32_N_PMP) {
		const uint8_t above = at + 1 < RV32_N_PMP ? c->pmp_cfg[at + 1] : 0;
		const bool frozen = (c->pmp_cfg[at] & PMP_LOCK) || ((above & PMP_LOCK) && (above & PMP_MODE) == PMP_TOR);

		if (!frozen)
			c->pmp_addr[at] = legal_addr(v);
	}
	for (unsigned i = 0; n < 0x3a4 && i < 4 && first < RV32_N_PMP; i++)
		if (!(c->pmp_cfg[first + i] & PMP_LOCK))
			c->pmp_cfg[first + i] = legal_cfg(v >> 8 * i);
	c->pmp_fetch = 0;
	for (unsigned i = 0; i < RV32_N_PMP; i++)
		c->pmp_on |= (c->pmp_cfg[i] & PMP_LOCK) != 0;
}

static struct rv32_mem *find(struct rv32 *c, uint32_t addr, uint32_t len)
{
	for (unsigned i = 0; i < RV32_N_MEM; i++) {
		struct rv32_mem *m = &c->mem[i];
		uint32_t off = addr - m->base;

		if (off < m->size && m->size - off >= len)
			return m;
	}
	return NULL;
}

static uint32_t get_le(const uint8_t *p, uint32_t len)
{
	uint32_t v = p[0];

	if (len > 1)
		v |= (uint32_t)p[1] << 8;
	if (len > 2)
		v |= (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
	return v;
}

static void put_le(uint8_t *p, uint32_t len, uint32_t v)
{
	for (uint32_t i = 0; i < len; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

static bool load(struct rv32 *c, uint32_t addr, uint32_t len, uint32_t *value)
{
	if (addr & (len - 1)) {
		trap(c, WEFT_CHIP_MCAUSE_LOAD_MISALIGNED, addr);
		return false;
	}
	if (!granted(c, addr, PMP_R)) {
		trap(c, WEFT_CHIP_MCAUSE_LOAD_FAULT, addr);
		return false;
	}
	const struct rv32_mem *m = find(c, addr, len);
	if (m) {
		*value = get_le(m->data + (addr - m->base), len);
		rv32_skip(c, COST_MEM + m->wait);
		return true;
	}
	rv32_skip(c, COST_DEVICE);
	if (len == 4 && c->bus.load(c->bus.user, addr, value))
		return true;
	trap(c, WEFT_CHIP_MCAUSE_LOAD_FAULT, addr);
	return false;
}

static bool store(struct rv32 *c, uint32_t addr, uint32_t len, uint32_t value)
{
	if (addr & (len - 1)) {
		trap(c, WEFT_CHIP_MCAUSE_STORE_MISALIGNED, addr);
		return false;
	}
	if (!granted(c, addr, PMP_W)) {
		trap(c, WEFT_CHIP_MCAUSE_STORE_FAULT, addr);
		return false;
	}
	struct rv32_mem *m = find(c, addr, len);
	if (m && !m->rom) {
		put_le(m->data + (addr - m->base), len, value);
		rv32_skip(c, COST_MEM + m->wait);
		return true;
	}
	rv32_skip(c, COST_DEVICE);
	if (!m && len == 4 && c->bus.store(c->bus.user, addr, value))
		return true;
	trap(c, WEFT_CHIP_MCAUSE_STORE_FAULT, addr);
	return false;
}

/* ---- CSRs ---- */

/* Where the CSR lives; NULL: computed or absent. */
static uint32_t *csr_plain(struct rv32 *c, uint32_t n)
{
	switch (n) {
	case 0x304:
		return &c->mie;
	case 0x305:
		return &c->mtvec;
	case 0x340:
		return &c->mscratch;
	case 0x341:
		return &c->mepc;
	case 0x342:
		return &c->mcause;
	case 0x343:
		return &c->mtval;
	}
	return NULL;
}

static bool csr_read(struct rv32 *c, uint32_t n, uint32_t *v)
{
	const uint32_t *plain = csr_plain(c, n);

	if (plain) {
		*v = *plain;
		return true;
	}
	if (is_pmp(n)) {
		*v = pmp_read(c, n);
		return true;
	}
	switch (n) {
	case 0x300:
		*v = c->mstatus;
		return true;
	case 0x301:
		*v = MISA;
		return true;
	case 0x344:
		*v = c->mip;
		return true;
	case 0xb00:
		*v = (uint32_t)c->cycle;
		return true;
	case 0xb80:
		*v = (uint32_t)(c->cycle >> 32);
		return true;
	case 0xb02:
		*v = (uint32_t)c->instret;
		return true;
	case 0xb82:
		*v = (uint32_t)(c->instret >> 32);
		return true;
	case 0xf11: /* mvendorid, marchid, mimpid, mhartid */
	case 0xf12:
	case 0xf13:
	case 0xf14:
		*v = 0;
		return true;
	}
	return false;
}

static void set_half(uint64_t *v, bool high, uint32_t half)
{
	*v = high ? (uint64_t)half << 32 | (uint32_t)*v : (*v >> 32 << 32) | half;
}

/* n exists and is not read only. */
static void csr_write(struct rv32 *c, uint32_t n, uint32_t v)
{
	if (is_pmp(n))
		pmp_write(c, n, v);
	switch (n) {
	case 0x300:
		c->mstatus = MSTATUS_MPP | (v & (MSTATUS_MIE | MSTATUS_MPIE));
		break;
	case 0x304:
		c->mie = v & MIE_BITS;
		break;
	case 0x305:
	case 0x341:
		*csr_plain(c, n) = v & ~3u;
		break;
	case 0x340:
	case 0x342:
	case 0x343:
		*csr_plain(c, n) = v;
		break;
	case 0xb00:
	case 0xb80:
		set_half(&c->cycle, n == 0xb80, v);
		break;
	case 0xb02:
	case 0xb82:
		/* This instruction counts first, then writes; retire() must not count again. */
		c->instret++;
		set_half(&c->instret, n == 0xb82, v);
		c->instret--;
		break;
	}
	c->limit = 0; /* an interrupt may be possible now */
}

/* False: illegal. */
static bool csr_op(struct rv32 *c, uint32_t insn)
{
	uint32_t n = insn >> 20, f3 = insn >> 12 & 7, rs1 = insn >> 15 & 31, rd = insn >> 7 & 31;
	uint32_t old, with = f3 & 4 ? rs1 : c->x[rs1];
	bool writes = (f3 & 3) == 1 || rs1;

	if (!csr_read(c, n, &old) || (writes && n >> 10 == 3))
		return false;
	if (writes)
		csr_write(c, n, (f3 & 3) == 1 ? with : (f3 & 3) == 2 ? old | with : old & ~with);
	if (rd)
		c->x[rd] = old;
	return true;
}

/* ---- instructions ---- */

static uint32_t imm_i(uint32_t i)
{
	return (uint32_t)((int32_t)i >> 20);
}

static uint32_t imm_s(uint32_t i)
{
	return (uint32_t)((int32_t)(i & 0xfe000000) >> 20) | (i >> 7 & 31);
}

static uint32_t imm_b(uint32_t i)
{
	return (uint32_t)((int32_t)(i & 0x80000000) >> 19) | (i << 4 & 0x800) | (i >> 20 & 0x7e0) | (i >> 7 & 0x1e);
}

static uint32_t imm_j(uint32_t i)
{
	return (uint32_t)((int32_t)(i & 0x80000000) >> 11) | (i & 0xff000) | (i >> 9 & 0x800) | (i >> 20 & 0x7fe);
}

static bool op_m(struct rv32 *c, uint32_t f3, uint32_t a, uint32_t b, uint32_t *r)
{
	int32_t sa = (int32_t)a, sb = (int32_t)b;
	bool over = a == 0x80000000 && b == 0xffffffff;

	rv32_skip(c, f3 < 4 ? COST_MUL : COST_DIV);
	switch (f3) {
	case 0:
		*r = a * b;
		break;
	case 1:
		*r = (uint32_t)((int64_t)sa * sb >> 32);
		break;
	case 2:
		*r = (uint32_t)((int64_t)sa * (int64_t)(uint64_t)b >> 32);
		break;
	case 3:
		*r = (uint32_t)((uint64_t)a * b >> 32);
		break;
	case 4:
		*r = !b ? ~0u : over ? a : (uint32_t)(sa / sb);
		break;
	case 5:
		*r = !b ? ~0u : a / b;
		break;
	case 6:
		*r = !b ? a : over ? 0 : (uint32_t)(sa % sb);
		break;
	case 7:
		*r = !b ? a : a % b;
		break;
	}
	return true;
}

/* The eight operations of OP and OP-IMM; alt: SUB, SRA. */
static uint32_t op_i(uint32_t f3, bool alt, uint32_t a, uint32_t b)
{
	switch (f3) {
	case 0:
		return alt ? a - b : a + b;
	case 1:
		return a << (b & 31);
	case 2:
		return (int32_t)a < (int32_t)b;
	case 3:
		return a < b;
	case 4:
		return a ^ b;
	case 5:
		return alt ? (uint32_t)((int32_t)a >> (b & 31)) : a >> (b & 31);
	case 6:
		return a | b;
	}
	return a & b;
}

static bool op(struct rv32 *c, uint32_t insn, uint32_t a, uint32_t b, uint32_t *r)
{
	uint32_t f7 = insn >> 25, f3 = insn >> 12 & 7;

	if (f7 == 1)
		return op_m(c, f3, a, b, r);
	if (f7 != 0 && !(f7 == 0x20 && (f3 == 0 || f3 == 5)))
		return false;
	*r = op_i(f3, f7 == 0x20, a, b);
	return true;
}

static bool op_imm(uint32_t insn, uint32_t a, uint32_t *r)
{
	uint32_t f7 = insn >> 25, f3 = insn >> 12 & 7;

	if ((f3 == 1 && f7) || (f3 == 5 && f7 && f7 != 0x20))
		return false;
	*r = op_i(f3, f3 == 5 && f7, a, imm_i(insn));
	return true;
}

/* -1: no such branch. */
static int branch(uint32_t f3, uint32_t a, uint32_t b)
{
	switch (f3) {
	case 0:
		return a == b;
	case 1:
		return a != b;
	case 4:
		return (int32_t)a < (int32_t)b;
	case 5:
		return (int32_t)a >= (int32_t)b;
	case 6:
		return a < b;
	case 7:
		return a >= b;
	}
	return -1;
}

/* Jump, or trap at a target that is no multiple of 4. */
static bool jump(struct rv32 *c, uint32_t target)
{
	if (target & 3) {
		trap(c, WEFT_CHIP_MCAUSE_FETCH_MISALIGNED, target);
		return false;
	}
	c->pc = target;
	rv32_skip(c, COST_TAKEN);
	return true;
}

static void retire(struct rv32 *c)
{
	c->instret++;
	c->n_instr++;
}

static void system_op(struct rv32 *c, uint32_t insn)
{
	if (insn == 0x00000073) {
		trap(c, WEFT_CHIP_MCAUSE_ECALL, 0);
	} else if (insn == 0x00100073) {
		trap(c, WEFT_CHIP_MCAUSE_BREAKPOINT, 0);
	} else if (insn == 0x30200073) { /* mret */
		c->mstatus = MSTATUS_MPP | MSTATUS_MPIE | (c->mstatus & MSTATUS_MPIE ? MSTATUS_MIE : 0);
		c->pc = c->mepc;
		c->limit = 0;
		retire(c);
	} else if (insn == 0x10500073) { /* wfi */
		c->pc += 4;
		c->wfi = !(c->mip & c->mie);
		c->limit = 0;
		retire(c);
	} else if ((insn >> 12 & 3) && csr_op(c, insn)) {
		c->pc += 4;
		retire(c);
	} else {
		trap(c, WEFT_CHIP_MCAUSE_ILLEGAL, insn);
	}
}

static void do_load(struct rv32 *c, uint32_t insn, uint32_t rd)
{
	uint32_t f3 = insn >> 12 & 7, v;

	if (f3 == 3 || f3 > 5) {
		trap(c, WEFT_CHIP_MCAUSE_ILLEGAL, insn);
		return;
	}
	if (!load(c, c->x[insn >> 15 & 31] + imm_i(insn), 1u << (f3 & 3), &v))
		return;
	if (f3 == 0)
		v = (uint32_t)(int8_t)v;
	else if (f3 == 1)
		v = (uint32_t)(int16_t)v;
	if (rd)
		c->x[rd] = v;
	c->pc += 4;
	retire(c);
}

static void do_store(struct rv32 *c, uint32_t insn)
{
	uint32_t f3 = insn >> 12 & 7;

	if (f3 > 2) {
		trap(c, WEFT_CHIP_MCAUSE_ILLEGAL, insn);
		return;
	}
	if (store(c, c->x[insn >> 15 & 31] + imm_s(insn), 1u << f3, c->x[insn >> 20 & 31])) {
		c->pc += 4;
		retire(c);
	}
}

static void execute(struct rv32 *c, uint32_t insn)
{
	uint32_t rd = insn >> 7 & 31, a = c->x[insn >> 15 & 31], b = c->x[insn >> 20 & 31];
	uint32_t r = 0, next = c->pc + 4;
	int taken;

	rv32_skip(c, 1);
	switch (insn & 0x7f) {
	case 0x37: /* lui */
		r = insn & 0xfffff000;
		break;
	case 0x17: /* auipc */
		r = c->pc + (insn & 0xfffff000);
		break;
	case 0x13:
		if (!op_imm(insn, a, &r))
			goto illegal;
		break;
	case 0x33:
		if (!op(c, insn, a, b, &r))
			goto illegal;
		break;
	case 0x03:
		do_load(c, insn, rd);
		return;
	case 0x23:
		do_store(c, insn);
		return;
	case 0x63:
		taken = branch(insn >> 12 & 7, a, b);
		if (taken < 0)
			goto illegal;
		if (!taken)
			c->pc = next;
		else if (!jump(c, c->pc + imm_b(insn)))
			return;
		retire(c);
		return;
	case 0x6f: /* jal */
		if (!jump(c, c->pc + imm_j(insn)))
			return;
		goto link;
	case 0x67: /* jalr */
		if (insn >> 12 & 7)
			goto illegal;
		if (!jump(c, (a + imm_i(insn)) & ~1u))
			return;
		goto link;
	case 0x0f: /* fence, fence.i */
		if ((insn >> 12 & 7) > 1)
			goto illegal;
		rd = 0;
		break;
	case 0x73:
		system_op(c, insn);
		return;
	default:
		goto illegal;
	}
	c->pc = next;
	if (rd)
		c->x[rd] = r;
	retire(c);
	return;
link:
	if (rd)
		c->x[rd] = next;
	retire(c);
	return;
illegal:
	trap(c, WEFT_CHIP_MCAUSE_ILLEGAL, insn);
}

static void interrupt(struct rv32 *c)
{
	uint32_t pending = c->mip & c->mie;

	if (pending)
		c->wfi = false;
	if (!pending || !(c->mstatus & MSTATUS_MIE))
		return;
	trap(c, pending & RV32_MIP_MEIP ? WEFT_CHIP_MCAUSE_EXTERNAL_IRQ : WEFT_CHIP_MCAUSE_TIMER_IRQ, 0);
}

void rv32_run(struct rv32 *c)
{
	interrupt(c);
	while (!c->wfi && c->n_cycles < c->limit) {
		const struct rv32_mem *m = may_fetch(c) ? find(c, c->pc, 4) : NULL;

		if (!m) {
			trap(c, WEFT_CHIP_MCAUSE_FETCH_FAULT, c->pc);
			rv32_skip(c, 1);
			continue;
		}
		uint32_t insn = get_le(m->data + (c->pc - m->base), 4);
		RV32_SEEN(c->pc, insn);
		execute(c, insn);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The model's state, access to its scratchpad, and dispatch. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

/* Elements want the vectoriser even where the build asks for -O2. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

struct weft_model *weft_model_new(const struct weft_config *cfg)
{
	struct weft_model *m;

	if (!cfg || !cfg->n || cfg->n > LANES_MAX || !cfg->sp_bytes ||
	    cfg->sp_bytes > SP_ADDR_MASK + 1)
		return NULL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	m->cfg = cfg;
	m->n = cfg->n;
	m->sp_bytes = cfg->sp_bytes;
	/* All weights of a column tile lie in the scratchpad together, so a
	 * tile has at most sp_bytes of them; its pixel group has as many. */
	m->operand_elems = cfg->sp_bytes;
	m->sp = calloc(1, cfg->sp_bytes);
	m->acc = calloc((size_t)cfg->n * cfg->n, sizeof(*m->acc));
	m->act = malloc(m->operand_elems * sizeof(*m->act));
	m->wgt = malloc(m->operand_elems * sizeof(*m->wgt));
	m->product = malloc((FLOAT_NONE + 1) * 256 * sizeof(*m->product));
	if (!m->sp || !m->acc || !m->act || !m->wgt || !m->product) {
		weft_model_free(m);
		return NULL;
	}
	return m;
}

void weft_model_free(struct weft_model *m)
{
	if (!m)
		return;
	free(m->sp);
	free(m->acc);
	free(m->act);
	free(m->wgt);
	free(m->product);
	free(m);
}

void weft_model_reset(struct weft_model *m)
{
	memset(m->sp, 0, m->sp_bytes);
	m->kept = false;
}

void weft_model_set_window(struct weft_model *m, unsigned index,
			   const struct weft_model_window *w)
{
	if (index < WEFT_N_WINDOWS)
		m->win[index] = *w;
}

void weft_model_set_log(struct weft_model *m, weft_model_log_fn fn, void *user)
{
	m->log = fn;
	m->log_user = user;
}

const uint8_t *weft_model_sp(const struct weft_model *m)
{
	return m->sp;
}

void weft_model_poke_sp(struct weft_model *m, uint32_t addr, const void *data, size_t len)
{
	if (addr >= m->sp_bytes || !len)
		return;
	if (len > m->sp_bytes - addr)
		len = m->sp_bytes - addr;
	memcpy(m->sp + addr, data, len);
}

int model_fault(struct weft_model *m, enum weft_fault code, uint64_t info)
{
	m->fault.code = code;
	m->fault.info = (uint32_t)info;
	return -EFAULT;
}

static void log_flush(struct weft_model *m)
{
	if (m->log && m->run.len)
		m->log(m->log_user, m->run.space, m->run.window, m->run.addr, m->run.len);
	m->run.len = 0;
}

void model_log(struct weft_model *m, enum weft_model_space space, unsigned window,
	       uint64_t addr, uint64_t len)
{
	if (!m->log)
		return;
	if (m->run.len && m->run.space == space && m->run.window == window &&
	    m->run.addr + m->run.len == addr) {
		m->run.len += len;
		return;
	}
	log_flush(m);
	m->run.space = space;
	m->run.window = window;
	m->run.addr = addr;
	m->run.len = len;
}

/*
 * How many of len bytes at addr lie side by side. Addresses wrap at 2^20, so
 * with a scratchpad of that size a run may continue at 0.
 */
static int sp_piece(struct weft_model *m, uint32_t addr, uint32_t len, uint32_t *piece)
{
	if (addr >= m->sp_bytes)
		return model_fault(m, WEFT_FAULT_SP_RANGE, addr);
	*piece = min_u32(len, m->sp_bytes - addr);
	return 0;
}

int model_read(struct weft_model *m, uint64_t addr, void *out, uint32_t len)
{
	uint32_t a = (uint32_t)addr & SP_ADDR_MASK, piece = 0;
	uint8_t *to = out;

	for (; len; len -= piece, to += piece, a = (a + piece) & SP_ADDR_MASK) {
		if (sp_piece(m, a, len, &piece))
			return -EFAULT;
		memcpy(to, m->sp + a, piece);
	}
	return 0;
}

int model_write(struct weft_model *m, uint64_t addr, const void *data, uint32_t len)
{
	uint32_t a = (uint32_t)addr & SP_ADDR_MASK, piece = 0;
	const uint8_t *from = data;

	for (; len; len -= piece, from += piece, a = (a + piece) & SP_ADDR_MASK) {
		if (sp_piece(m, a, len, &piece))
			return -EFAULT;
		memcpy(m->sp + a, from, piece);
		model_log(m, WEFT_MODEL_SP, 0, a, piece);
	}
	return 0;
}

/* A NaN of fp16 keeps its sign only. */
static int16_t fp16_in(int16_t pattern)
{
	uint16_t h = (uint16_t)pattern;

	return (int16_t)((h & 0x7fff) > 0x7c00 ? (h & 0x8000) | 0x7e00 : h);
}

static int16_t elem_in(enum elem e, const uint8_t *raw)
{
	switch (e) {
	case ELEM_INT8:
		return (int8_t)*raw;
	case ELEM_INT16:
		return bytes_i16(raw);
	case ELEM_FP16:
		return fp16_in(bytes_i16(raw));
	default:
		return (int16_t)float_decode((int32_t)e - ELEM_FLOAT8, *raw);
	}
}

int model_read_elems(struct weft_model *m, enum elem e, uint64_t addr, int16_t *out, uint32_t n)
{
	uint32_t size = elem_bytes(e);
	uint8_t raw[2 * LANES_MAX];
	int ret = model_read(m, addr, raw, n * size);

	if (ret)
		return ret;
	/* Most are int8; a loop of nothing else is many at once. */
	if (e == ELEM_INT8)
		for (uint32_t i = 0; i < n; i++)
			out[i] = (int8_t)raw[i];
	else
		for (uint32_t i = 0; i < n; i++)
			out[i] = elem_in(e, raw + i * size);
	return 0;
}

int model_write_elems(struct weft_model *m, enum elem e, bool saturate, uint64_t addr,
		      const int16_t *data, uint32_t n)
{
	uint32_t size = elem_bytes(e);
	uint8_t raw[2 * LANES_MAX];

	for (uint32_t i = 0; e == ELEM_INT8 && i < n; i++)
		raw[i] = (uint8_t)data[i];
	for (uint32_t i = 0; e != ELEM_INT8 && i < n; i++) {
		uint16_t v = (uint16_t)data[i];

		if (e >= ELEM_FLOAT8 && e < ELEM_FP16)
			v = float_encode((int32_t)e - ELEM_FLOAT8, saturate, v);
		raw[i * size] = (uint8_t)v;
		if (size == 2)
			raw[2 * i + 1] = (uint8_t)(v >> 8);
	}
	return model_write(m, addr, raw, n * size);
}

int model_bad(struct weft_model *m, const struct weft_cmd *c, enum weft_fault code)
{
	return model_fault(m, code, (uint32_t)c->h.op | (uint32_t)c->h.n_words << 8);
}

/* In the order of weft_cmd_fault(), which looks at words. */
static int check_fields(struct weft_model *m, const struct weft_cmd *c)
{
	const struct weft_cmd_info *info = weft_cmd_info((unsigned)c->h.op);

	if (!info || weft_cmd_lacks(info, m->cfg))
		return model_bad(m, c, WEFT_FAULT_BAD_OP);
	if (weft_cmd_check_align(c, m->n, NULL, NULL) || weft_cmd_check_elems(c, NULL, NULL) ||
	    weft_cmd_check_modes(c, NULL, NULL))
		return model_bad(m, c, WEFT_FAULT_BAD_FIELD);
	for (size_t i = 0; i < info->n_fields; i++) {
		const struct weft_field_info *f = &info->fields[i];
		int64_t value = weft_cmd_get(c, f);

		if (value < f->min || value > f->max || weft_field_lacks(f, value, m->cfg))
			return model_bad(m, c, (enum weft_fault)f->fault);
	}
	return 0;
}

/* Are the fields of a load right together? With coded, it has one row, whose offset, length and scratchpad address are
 * multiples of N, and no int4; without, it has no centre. */
static bool coded_fits(const struct weft_model *m, const struct weft_cmd_load *c)
{
	if (!c->coded)
		return !c->centre;
	return c->n1 == 1 && c->n2 == 1 && c->n3 == 1 && !c->int4 && !(c->row_bytes % (int32_t)m->n) &&
	       !(c->dram_off % m->n) && !(c->sp_addr % (int32_t)m->n);
}

static int execute(struct weft_model *m, const struct weft_cmd *c)
{
	int ret = check_fields(m, c);

	if (ret)
		return ret;
	switch (c->h.op) {
	case WEFT_CMD_END:
		return 0;
	case WEFT_CMD_LOAD:
		return !coded_fits(m, &c->load) ? model_bad(m, c, WEFT_FAULT_BAD_FIELD) : model_load(m, &c->load);
	case WEFT_CMD_STORE:
		if (c->load.int4 || c->load.coded || c->load.centre)
			return model_bad(m, c, WEFT_FAULT_BAD_FIELD);
		return model_store(m, &c->load);
	case WEFT_CMD_CONV:
		return model_conv(m, c);
	case WEFT_CMD_DW:
		return model_dw(m, c);
	case WEFT_CMD_POOL:
		return model_pool(m, c);
	case WEFT_CMD_ELT:
		return model_elt(m, c);
	case WEFT_CMD_ALU:
		return model_alu(m, c);
	}
	return model_bad(m, c, WEFT_FAULT_BAD_OP);
}

int weft_model_exec(struct weft_model *m, const struct weft_cmd *c, struct weft_model_fault *f)
{
	int ret;

	m->fault.code = WEFT_FAULT_NONE;
	m->fault.info = 0;
	ret = execute(m, c);
	log_flush(m);
	if (f)
		*f = m->fault;
	return ret;
}

int weft_model_run(struct weft_model *m, const uint64_t *words, size_t n_words,
		   size_t *i_cmd, struct weft_model_fault *f)
{
	struct weft_cmd c;
	size_t at = 0, count = 0;
	int ret = 0;

	for (;; count++) {
		int code = weft_cmd_decode(words + at, n_words - at, &c);

		if (code) {
			model_fault(m, (enum weft_fault)code, 0);
			if (f)
				*f = m->fault;
			ret = -EFAULT;
			break;
		}
		ret = weft_model_exec(m, &c, f);
		if (ret || c.h.op == WEFT_CMD_END)
			break;
		at += (size_t)c.h.n_words;
	}
	if (i_cmd)
		*i_cmd = count;
	return ret;
}

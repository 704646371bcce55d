/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands between words and struct weft_cmd, driven by the field tables that
 * are generated from include/spec/cmd.toml.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <weft/gen/cmd.h>

const struct weft_cmd_info *weft_cmd_info(unsigned op)
{
	const struct weft_cmd_info *all = weft_cmd_list();

	for (size_t i = 0; i < WEFT_N_CMDS; i++)
		if (all[i].op == op)
			return &all[i];
	return NULL;
}

/* Compilers ask for every field of every command that they try. */
static inline int64_t get(const struct weft_cmd *c, const struct weft_field_info *f)
{
	const char *member = (const char *)c + f->c_offset;
	if (f->c_bytes == 8) {
		int64_t v;
		memcpy(&v, member, sizeof v);
		return v;
	}
	uint32_t v;
	memcpy(&v, member, sizeof v);
	/* Only unsigned 32-bit fields are uint32_t in the struct. */
	return !f->is_signed && f->bits == 32 ? (int64_t)v : (int32_t)v;
}

int64_t weft_cmd_get(const struct weft_cmd *c, const struct weft_field_info *f)
{
	return get(c, f);
}

static inline void set(struct weft_cmd *c, const struct weft_field_info *f, int64_t value)
{
	char *member = (char *)c + f->c_offset;
	if (f->c_bytes == 8) {
		memcpy(member, &value, sizeof value);
	} else {
		uint32_t v = (uint32_t)value;
		memcpy(member, &v, sizeof v);
	}
}

void weft_cmd_set(struct weft_cmd *c, const struct weft_field_info *f, int64_t value)
{
	set(c, f, value);
}

static uint64_t mask_of(const struct weft_field_info *f)
{
	return f->bits == 64 ? UINT64_MAX : (UINT64_C(1) << f->bits) - 1;
}

static int64_t extract(uint64_t word, const struct weft_field_info *f)
{
	uint64_t v = word >> f->lsb & mask_of(f);
	if (f->is_signed && v >> (f->bits - 1) & 1)
		v |= ~mask_of(f);
	return (int64_t)v;
}

void weft_cmd_init(struct weft_cmd *c, unsigned op)
{
	const struct weft_cmd_info *info = weft_cmd_info(op);
	memset(c, 0, sizeof *c);
	if (!info)
		return;
	for (size_t i = 0; i < info->n_fields; i++) {
		const struct weft_field_info *f = &info->fields[i];
		set(c, f, f->min > 0 ? f->min : f->max < 0 ? f->max : 0);
	}
	c->h.op = info->op;
	c->h.n_words = info->n_words;
}

int weft_cmd_decode(const uint64_t *w, size_t n, struct weft_cmd *out)
{
	if (n < 1)
		return WEFT_FAULT_STREAM_END;
	unsigned op = (w[WEFT_CMD_HEADER_OP_WORD] & WEFT_CMD_HEADER_OP_MASK) >> WEFT_CMD_HEADER_OP_LSB;
	unsigned n_words = (w[WEFT_CMD_HEADER_N_WORDS_WORD] & WEFT_CMD_HEADER_N_WORDS_MASK)
	                   >> WEFT_CMD_HEADER_N_WORDS_LSB;
	const struct weft_cmd_info *info = weft_cmd_info(op);
	if (!info)
		return WEFT_FAULT_BAD_OP;
	if (n_words != info->n_words)
		return WEFT_FAULT_BAD_LEN;
	if (n < info->n_words)
		return WEFT_FAULT_STREAM_END;
	memset(out, 0, sizeof *out);
	for (size_t i = 0; i < info->n_fields; i++)
		set(out, &info->fields[i], extract(w[info->fields[i].word], &info->fields[i]));
	return WEFT_FAULT_NONE;
}

size_t weft_cmd_encode(const struct weft_cmd *c, uint64_t *w)
{
	const struct weft_cmd_info *info = weft_cmd_info((unsigned)c->h.op);
	if (!info)
		return 0;
	memset(w, 0, info->n_words * sizeof *w);
	for (size_t i = 0; i < info->n_fields; i++) {
		const struct weft_field_info *f = &info->fields[i];
		w[f->word] |= ((uint64_t)get(c, f) & mask_of(f)) << f->lsb;
	}
	w[WEFT_CMD_HEADER_N_WORDS_WORD] &= ~WEFT_CMD_HEADER_N_WORDS_MASK;
	w[WEFT_CMD_HEADER_N_WORDS_WORD] |= (uint64_t)info->n_words << WEFT_CMD_HEADER_N_WORDS_LSB;
	return info->n_words;
}

int weft_cmd_check_ranges(const struct weft_cmd *c, const char **field, int64_t *value,
                          int64_t *min, int64_t *max)
{
	const struct weft_cmd_info *info = weft_cmd_info((unsigned)c->h.op);
	if (!info)
		return -EINVAL;
	for (size_t i = 0; i < info->n_fields; i++) {
		const struct weft_field_info *f = &info->fields[i];
		int64_t v = get(c, f);
		if (f->min <= v && v <= f->max)
			continue;
		if (field)
			*field = f->name;
		if (value)
			*value = v;
		if (min)
			*min = f->min;
		if (max)
			*max = f->max;
		return -ERANGE;
	}
	return 0;
}

int weft_cmd_check_align(const struct weft_cmd *c, unsigned n, const char **field, int64_t *value)
{
	const struct weft_cmd_info *info = weft_cmd_info((unsigned)c->h.op);
	/* Configurations have powers of two; no division then. */
	int64_t low = n & (n - 1) ? 0 : (int64_t)n - 1;
	if (!info)
		return -EINVAL;
	for (size_t i = 0; i < info->n_fields; i++) {
		const struct weft_field_info *f = &info->fields[i];
		if (!f->align_n)
			continue;
		int64_t v = get(c, f);
		if (low ? !(v & low) : v % (int64_t)n == 0)
			continue;
		if (field)
			*field = f->name;
		if (value)
			*value = v;
		return -ERANGE;
	}
	return 0;
}

int weft_cmd_check_elems(const struct weft_cmd *c, const char **field, int64_t *value)
{
	const struct weft_cmd_info *info = weft_cmd_info((unsigned)c->h.op);
	if (!info)
		return -EINVAL;
	for (size_t i = 0; i < info->n_fields; i++) {
		const struct weft_field_info *f = &info->fields[i];
		int64_t v = get(c, f);
		if (!f->elem || v % (int64_t)weft_cmd_elem_bytes(c, (enum weft_elem)f->elem) == 0)
			continue;
		if (field)
			*field = f->name;
		if (value)
			*value = v;
		return -ERANGE;
	}
	return 0;
}

int weft_cmd_check_modes(const struct weft_cmd *c, const char **field, int64_t *value)
{
	const struct weft_cmd_info *info = weft_cmd_info((unsigned)c->h.op);
	if (!info)
		return -EINVAL;
	for (size_t i = 0; i < info->n_fields; i++) {
		const struct weft_field_info *f = &info->fields[i];
		int64_t v = get(c, f);
		/* Commands without a mode have no field with modes. */
		if (f->modes == 0xff || v == 0 || f->modes >> (c->conv.post.mode & 7) & 1)
			continue;
		if (field)
			*field = f->name;
		if (value)
			*value = v;
		return -ERANGE;
	}
	return 0;
}

int weft_cmd_check_reserved(const uint64_t *w, size_t *word, uint64_t *bits)
{
	const struct weft_cmd_info *info = weft_cmd_info(w[WEFT_CMD_HEADER_OP_WORD] & WEFT_CMD_HEADER_OP_MASK);
	assert(info);
	for (size_t i = 0; i < info->n_words; i++) {
		uint64_t extra = w[i] & ~info->used[i];
		if (!extra)
			continue;
		if (word)
			*word = i;
		if (bits)
			*bits = extra;
		return -EINVAL;
	}
	return 0;
}

int weft_field_lacks(const struct weft_field_info *f, int64_t value, const struct weft_config *cfg)
{
	return (f->is_feature && !(cfg->features >> value & 1)) ||
	       (f->needs && value && !(cfg->features >> (f->needs - 1) & 1));
}

int weft_cmd_lacks(const struct weft_cmd_info *info, const struct weft_config *cfg)
{
	return info->needs && !(cfg->features >> (info->needs - 1) & 1);
}

uint32_t weft_cmd_load_bytes(const struct weft_cmd_load *l, uint32_t n)
{
	if (l->coded)
		return (uint32_t)l->coded * n;
	return (uint32_t)(l->int4 ? (l->row_bytes + 1) / 2 : l->row_bytes);
}

unsigned weft_cmd_fault(const uint64_t *w, size_t n_left, const struct weft_config *cfg)
{
	struct weft_cmd c;
	int fault = weft_cmd_decode(w, n_left, &c);
	if (n_left && fault != WEFT_FAULT_BAD_OP &&
	    weft_cmd_lacks(weft_cmd_info(w[WEFT_CMD_HEADER_OP_WORD] & WEFT_CMD_HEADER_OP_MASK), cfg))
		return WEFT_FAULT_BAD_OP;
	if (fault)
		return (unsigned)fault;
	if (weft_cmd_check_reserved(w, NULL, NULL) || weft_cmd_check_align(&c, cfg->n, NULL, NULL) ||
	    weft_cmd_check_elems(&c, NULL, NULL) || weft_cmd_check_modes(&c, NULL, NULL))
		return WEFT_FAULT_BAD_FIELD;
	const struct weft_cmd_info *info = weft_cmd_info((unsigned)c.h.op);
	for (size_t i = 0; i < info->n_fields; i++) {
		const struct weft_field_info *f = &info->fields[i];
		int64_t v = get(&c, f);
		if (v < f->min || v > f->max || weft_field_lacks(f, v, cfg))
			return f->fault;
	}
	return WEFT_FAULT_NONE;
}

/* Text so far and the room it has; length may exceed room, as in snprintf. */
struct text {
	char *buf;
	size_t room, length;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	size_t left = t->length < t->room ? t->room - t->length : 0;
	int n = vsnprintf(left ? t->buf + t->length : NULL, left, format, args);
	va_end(args);
	t->length += n > 0 ? (size_t)n : 0;
}

int weft_cmd_print(const struct weft_cmd *c, char *buf, size_t n)
{
	struct text t = {buf, n, 0};
	const struct weft_cmd_info *info = weft_cmd_info((unsigned)c->h.op);
	if (!info) {
		add(&t, "? op=0x%02x", (unsigned)c->h.op);
		return (int)t.length;
	}
	add(&t, "%s", info->name);
	for (size_t i = 0; i < info->n_fields; i++) {
		const struct weft_field_info *f = &info->fields[i];
		int64_t v = get(c, f);
		/* The name already says opcode and length. */
		int implied = f->word == WEFT_CMD_HEADER_OP_WORD && f->lsb < WEFT_CMD_HEADER_TAG_LSB;
		if (implied || v == 0)
			continue;
		if (f->is_address && v > 0)
			add(&t, " %s=0x%" PRIx64, f->name, (uint64_t)v);
		else
			add(&t, " %s=%" PRId64, f->name, v);
	}
	return (int)t.length;
}

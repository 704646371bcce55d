/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walk over a stream: decoding, waits, what happens before what, END.
 *
 * A unit starts its commands in order and retires them in order. So when
 * command k starts, it is known to have retired: what k waits for; what was
 * known when the command before it in its unit started; and, for each unit, all
 * that was known when the last command of it known to have retired started.
 */
#include "verify.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify_state.h"

static const char *const rules[] = {
#define X(name, brief) #name,
	WEFT_VERIFY_RULES(X)
#undef X
};

const char *weft_verify_rule_name(enum weft_verify_rule rule)
{
	return (unsigned)rule < WEFT_VERIFY_N_RULES ? rules[rule] : "?";
}

int verify_fail(struct verify *v, enum weft_verify_rule rule, const char *format, ...)
{
	struct weft_verify_result *r = v->r;
	va_list args;
	int n;

	r->rule = rule;
	n = snprintf(r->text, sizeof(r->text), "cmd %zu %s: %s: ", r->cmd,
		     v->info ? v->info->name : "?", rules[rule]);
	va_start(args, format);
	if (n > 0 && (size_t)n < sizeof(r->text))
		vsnprintf(r->text + n, sizeof(r->text) - (size_t)n, format, args);
	va_end(args);
	return -EINVAL;
}

int verify_work(struct verify *v, uint64_t steps)
{
	v->work += steps;
	if (v->work > WEFT_VERIFY_MAX_WORK)
		return verify_fail(v, WEFT_VERIFY_TOO_LARGE, "steps to verify > %llu",
				   (unsigned long long)WEFT_VERIFY_MAX_WORK);
	return 0;
}

static int decode(struct verify *v, const uint64_t *w, size_t left)
{
	unsigned long long head = left ? w[0] : 0;
	size_t word = 0;
	uint64_t bits = 0;

	v->info = left ? weft_cmd_info(head & 0xff) : NULL;
	switch (weft_cmd_decode(w, left, &v->c)) {
	case WEFT_FAULT_NONE:
		break;
	case WEFT_FAULT_BAD_OP:
		return verify_fail(v, WEFT_VERIFY_BAD_OP, "opcode 0x%02llx", head & 0xff);
	case WEFT_FAULT_BAD_LEN:
		return verify_fail(v, WEFT_VERIFY_BAD_LEN, "n_words %llu != %u", head >> 8 & 0xff,
				   (unsigned)v->info->n_words);
	default:
		if (!left)
			return verify_fail(v, WEFT_VERIFY_NO_END, "the stream has no end command");
		return verify_fail(v, WEFT_VERIFY_TRUNCATED, "words left %zu < %u", left,
				   (unsigned)v->info->n_words);
	}
	if (weft_cmd_check_reserved(w, &word, &bits))
		return verify_fail(v, WEFT_VERIFY_RESERVED_BITS, "word %zu bits 0x%llx", word,
				   (unsigned long long)bits);
	return 0;
}

static void learn(struct clock *to, const struct clock *from)
{
	for (unsigned u = 0; u < WEFT_N_UNITS; u++)
		if (from->retired[u] > to->retired[u])
			to->retired[u] = from->retired[u];
}

/* Check the wait counts and derive what is known when the command starts. */
static int waits(struct verify *v)
{
	const struct timeline *own = v->unit < WEFT_N_UNITS ? &v->line[v->unit] : NULL;

	memset(&v->now, 0, sizeof(v->now));
	if (own && own->count)
		v->now = own->clock[own->count - 1];
	for (unsigned u = 0; u < WEFT_N_UNITS; u++) {
		uint32_t wait = (uint32_t)v->c.h.wait[u];

		if (wait > v->line[u].count)
			return verify_fail(v, WEFT_VERIFY_WAIT_FUTURE, "wait for %s %u > %u commands before",
					   weft_unit_name(u), wait, v->line[u].count);
		if (wait > v->now.retired[u])
			v->now.retired[u] = (uint16_t)wait;
		if (wait)
			learn(&v->now, &v->line[u].clock[wait - 1]);
	}
	return 0;
}

static int grow(void *pointer, uint32_t room, size_t each)
{
	void **p = pointer, *more = realloc(*p, room * each);

	if (!more)
		return -ENOMEM;
	*p = more;
	return 0;
}

/* Add the command to its unit's timeline. */
static int append(struct verify *v)
{
	struct timeline *t = &v->line[v->unit];

	if (t->count == WEFT_VERIFY_MAX_CMDS)
		return verify_fail(v, WEFT_VERIFY_TOO_MANY_COMMANDS, "%s commands > %u",
				   weft_unit_name(v->unit), WEFT_VERIFY_MAX_CMDS);
	if (t->count == t->room) {
		uint32_t room = t->room ? 2 * t->room : 256;

		if (grow(&t->clock, room, sizeof(*t->clock)) || grow(&t->cmd, room, sizeof(*t->cmd)))
			return -ENOMEM;
		if (v->unit <= WEFT_UNIT_ST && grow(&t->dma, room, sizeof(*t->dma)))
			return -ENOMEM;
		t->room = room;
	}
	t->clock[t->count] = v->now;
	t->cmd[t->count] = (uint32_t)v->r->cmd;
	v->index = t->count++;
	return 0;
}

/* Sums that one conv command leaves must suit the next command of the array. */
static int keep(struct verify *v)
{
	const struct weft_cmd_conv *c = &v->c.conv;
	uint64_t pixels = (uint64_t)c->post.ow * (uint64_t)c->post.oh;
	uint32_t n = v->cfg->n, oc = (uint32_t)c->post.oc;
	uint32_t tiles = c->pairs && oc > n ? 2 : 1;    /* that the array computes at a time */

	if (v->kept && pixels != v->kept_pixels)
		return verify_fail(v, WEFT_VERIFY_KEEP_SHAPE, "pixels %llu != %u of cmd %zu",
				   (unsigned long long)pixels, v->kept_pixels, v->kept_cmd);
	if (v->kept && oc != v->kept_oc)
		return verify_fail(v, WEFT_VERIFY_KEEP_SHAPE, "oc %u != %u of cmd %zu", oc,
				   v->kept_oc, v->kept_cmd);
	if (v->kept && c->post.mode != v->kept_mode)
		return verify_fail(v, WEFT_VERIFY_KEEP_SHAPE, "mode %d != %d of cmd %zu", c->post.mode,
				   v->kept_mode, v->kept_cmd);
	if (v->kept && c->pairs != v->kept_pairs)
		return verify_fail(v, WEFT_VERIFY_KEEP_SHAPE, "pairs %d != %d of cmd %zu", c->pairs,
				   v->kept_pairs, v->kept_cmd);
	v->kept = c->keep;
	if (!c->keep)
		return 0;
	if (pixels > n / tiles)
		return verify_fail(v, WEFT_VERIFY_KEEP_SHAPE, "pixels %llu > %u",
				   (unsigned long long)pixels, n / tiles);
	if (oc > tiles * n)
		return verify_fail(v, WEFT_VERIFY_KEEP_SHAPE, "oc %u > %u", oc, tiles * n);
	v->kept_pixels = (uint32_t)pixels;
	v->kept_oc = oc;
	v->kept_mode = c->post.mode;
	v->kept_pairs = c->pairs;
	v->kept_cmd = v->r->cmd;
	v->kept_word = v->r->word;
	return 0;
}

static int end(struct verify *v, size_t left)
{
	if (v->kept) {
		v->r->cmd = v->kept_cmd;
		v->r->word = v->kept_word;
		v->info = weft_cmd_info(WEFT_CMD_CONV);
		return verify_fail(v, WEFT_VERIFY_KEEP_DANGLING, "no conv command follows");
	}
	if (left > v->info->n_words)
		return verify_fail(v, WEFT_VERIFY_AFTER_END, "words behind it %zu > 0",
				   left - v->info->n_words);
	return 0;
}

static int command(struct verify *v, const uint64_t *w, size_t left)
{
	int ret = decode(v, w, left);

	if (ret)
		return ret;
	v->unit = v->info->unit;
	ret = verify_fields(v);
	if (!ret)
		ret = waits(v);
	if (ret)
		return ret;
	if (v->c.h.op == WEFT_CMD_END)
		return end(v, left);
	if (v->c.h.op == WEFT_CMD_CONV)
		ret = keep(v);
	if (!ret)
		ret = append(v);
	if (!ret && v->unit <= WEFT_UNIT_ST)
		ret = verify_mem(v);
	if (!ret)
		ret = verify_use(v);
	return ret;
}

static int walk(struct verify *v, const uint64_t *words, size_t n_words)
{
	for (size_t at = 0;; at += v->info->n_words, v->r->cmd++) {
		int ret;

		v->r->word = at;
		ret = command(v, words + at, n_words - at);
		if (ret)
			return ret;
		if (v->c.h.op == WEFT_CMD_END)
			break;
	}
	v->r->cmd++;
	return 0;
}

int weft_verify(const struct weft_config *cfg, const uint64_t *words, size_t n_words,
		const struct weft_verify_windows *win, struct weft_verify_result *r)
{
	static const struct weft_verify_windows closed;
	struct verify *v = calloc(1, sizeof(*v));
	int ret = -ENOMEM;

	memset(r, 0, sizeof(*r));
	if (!v) {
		snprintf(r->text, sizeof(r->text), "verifier: out of memory");
		return ret;
	}
	v->cfg = cfg;
	v->win = win ? win : &closed;
	v->r = r;
	if (!verify_sp_open(v))
		ret = walk(v, words, n_words);
	if (ret == -ENOMEM)
		snprintf(r->text, sizeof(r->text), "verifier: out of memory");
	verify_sp_close(v);
	for (unsigned u = 0; u < WEFT_N_UNITS; u++) {
		free(v->line[u].clock);
		free(v->line[u].cmd);
		free(v->line[u].dma);
	}
	free(v->sort);
	free(v);
	return ret;
}

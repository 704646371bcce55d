/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs in segments. The functional model runs ahead; at chosen points, between
 * two commands with nothing under way, its state becomes a checkpoint. Commands
 * execute in stream order there, and a device that has retired all before a
 * point holds the same bytes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userlib/run/file.h"
#include "userlib/run/segment.h"

/* ---- states ---- */

static int put(uint8_t **p, uint64_t *n, uint64_t *cap, const void *data, uint64_t len)
{
	if (*n + len > *cap) {
		uint64_t room = 2 * (*n + len);
		uint8_t *q = realloc(*p, room);
		if (!q)
			return -ENOMEM;
		*p = q;
		*cap = room;
	}
	memcpy(*p + *n, data, len);
	*n += len;
	return 0;
}

/* Host tensors that are there: index, bytes, data. */
static int take_host(const weft_session *s, struct weft_state *st)
{
	uint64_t cap = 0;
	int err = 0;

	for (int i = 0; i < s->net->g->n_tensors && !err; i++) {
		uint64_t head[2] = { (uint64_t)i, 0 };
		if (!s->host[i].data)
			continue;
		head[1] = weft_tensor_bytes(&s->host[i]);
		err = put(&st->host, &st->n_host, &cap, head, sizeof(head));
		if (!err)
			err = put(&st->host, &st->n_host, &cap, s->host[i].data, head[1]);
	}
	return err;
}

static int give_host(weft_session *s, const struct weft_state *st)
{
	const weft_graph *g = s->net->g;

	for (uint64_t at = 0; at < st->n_host; ) {
		uint64_t head[2];
		if (st->n_host - at < sizeof(head))
			return -EINVAL;
		memcpy(head, st->host + at, sizeof(head));
		at += sizeof(head);
		if (head[0] >= (uint64_t)g->n_tensors || head[1] != weft_tensor_bytes(&g->tensors[head[0]].t) || head[1] > st->n_host - at)
			return -EINVAL;
		weft_tensor *t = &s->host[head[0]];
		free(t->data);
		*t = g->tensors[head[0]].t;
		t->data = malloc(head[1] + 1);
		if (!t->data)
			return -ENOMEM;
		memcpy(t->data, st->host + at, head[1]);
		at += head[1];
	}
	return 0;
}

int weft_session_take_state(weft_session *s, int step, uint32_t cmd)
{
	if (s->i_point >= s->n_points || s->points[s->i_point].step != step || s->points[s->i_point].cmd != cmd)
		return 0;
	struct weft_state *st = &s->states[s->i_point];
	st->at = s->points[s->i_point++];
	st->sp = malloc(s->cfg->sp_bytes);
	st->arena = malloc(s->p->arena_bytes + 1);
	if (!st->sp || !st->arena)
		return -ENOMEM;
	int err = weft_dev_peek_sp(s->dev, 0, s->cfg->sp_bytes, st->sp);
	if (!err)
		err = weft_buf_read(s->arena, 0, st->arena, s->p->arena_bytes);
	return err ? err : take_host(s, st);
}

/* ---- files ---- */

static int write_file(const char *path, const uint8_t *data, size_t n, char *msg)
{
	FILE *f = fopen(path, "wb");
	bool ok = f && fwrite(data, 1, n, f) == n;

	if (f && fclose(f))
		ok = false;
	if (!ok)
		snprintf(msg, WEFT_MSG_LEN, "%.200s: %s", path, errno ? strerror(errno) : "cannot be written");
	return ok ? 0 : -EIO;
}

static int read_file(const char *path, uint8_t **data, size_t *n, char *msg)
{
	int err = weft_file_read(path, SIZE_MAX, data, n);

	if (err)
		snprintf(msg, WEFT_MSG_LEN, "%.200s: %s", path, strerror(-err));
	return err && err != -ENOMEM ? -EINVAL : err;
}

static int collect_inputs(const weft_session *s, const weft_tensor *inputs, struct weft_segment *g)
{
	uint64_t cap = 0;
	int err = 0;

	for (int i = 0; i < s->net->g->n_inputs && !err; i++)
		err = put(&g->inputs, &g->n_inputs, &cap, inputs[i].data, weft_tensor_bytes(&inputs[i]));
	return err;
}

static int write_checkpoints(weft_session *s, const weft_tensor *inputs, const struct weft_segments *o,
                             char *const *file, int n, char *msg)
{
	struct weft_segment g = { .n = (uint32_t)n, .memory = (uint8_t)o->memory, .check = o->check,
		.sp_bytes = s->cfg->sp_bytes, .arena_bytes = s->p->arena_bytes };
	size_t len = 0;
	int err = weft_program_write(s->p, &g.program, &len, msg);

	g.n_program = len;
	if (!err)
		err = collect_inputs(s, inputs, &g);
	for (int i = 0; i < n && !err; i++) {
		uint8_t *data = NULL;
		g.k = (uint32_t)i;
		/* Lent, not given. */
		g.from = s->states[i];
		g.to = s->states[i + 1];
		err = weft_segment_write(&g, &data, &len);
		if (!err)
			err = write_file(file[i], data, len, msg);
		free(data);
	}
	free(g.program);
	free(g.inputs);
	return err;
}

/* ---- all of them ---- */

static char **names(const char *dir, const char *suffix, int n)
{
	char **p = calloc((size_t)n + 1, sizeof(*p));

	for (int i = 0; p && i < n; i++) {
		size_t len = strlen(dir) + 32;
		p[i] = malloc(len);
		if (p[i])
			snprintf(p[i], len, "%s/%03d%s", dir, i, suffix);
	}
	return p;
}

static void free_names(char **p, int n)
{
	for (int i = 0; p && i < n; i++)
		free(p[i]);
	free(p);
}

/* What the segments found, instead of what the model did. */
static int join(weft_session *s, char *const *result, int n, char *msg)
{
	int err = 0;

	s->cycles_before = s->sim_cycles = 0;
	s->seconds = s->cpu_seconds = 0;
	memset(&s->counters, 0, sizeof(s->counters));
	memset(s->measure, 0, ((size_t)s->net->g->n_ops + 1) * sizeof(*s->measure));
	for (int i = 0; i < n && !err; i++) {
		uint8_t *data = NULL;
		size_t len = 0;
		err = read_file(result[i], &data, &len, msg);
		if (!err)
			err = weft_segment_result_add(s, data, len, msg);
		free(data);
		if (err)
			err = -EIO;
	}
	return err;
}

static int run_ahead(weft_session *s, const weft_tensor *inputs, const struct weft_segments *o, int *n, char *msg)
{
	struct weft_point *points = calloc((size_t)o->n + 2, sizeof(*points));
	bool check = s->o.check;

	*n = points ? weft_cut_points(s->p, o->memory, o->n, points) : -ENOMEM;
	s->states = calloc((size_t)o->n + 2, sizeof(*s->states));
	s->points = points;
	s->n_points = *n < 0 ? 0 : *n + 1;
	s->i_point = 0;
	int err = *n < 0 || !s->states ? -ENOMEM : 0;
	/* The model needs no check: what it leaves is what devices are compared with. */
	s->o.check = false;
	if (!err)
		err = weft_session_prepare(s, inputs);
	if (!err)
		err = weft_session_steps(s);
	s->o.check = check;
	if (!err && s->i_point != s->n_points) {
		snprintf(msg, WEFT_MSG_LEN, "the model never came to point %d of %d", s->i_point, s->n_points);
		err = -EIO;
	}
	s->points = NULL;
	s->n_points = 0;
	free(points);
	return err;
}

static int run_and_join(weft_session *s, const struct weft_segments *o, char *const *file, int n, char *msg)
{
	char **result = names(o->dir, ".result", n);
	int err = result ? o->run(o->user, (const char *const *)file, (const char *const *)result, n) : -ENOMEM;

	if (err && err != -EBADMSG)
		snprintf(msg, WEFT_MSG_LEN, "a segment did not run");
	if (!err || err == -EBADMSG) {
		int bad = join(s, result, n, msg);
		err = bad ? bad : err;
	}
	free_names(result, n);
	return err;
}

static int check_begin(weft_session *s, const weft_tensor *inputs)
{
	const weft_graph *g = s->net->g;

	s->golden = calloc((size_t)g->n_tensors + 1, sizeof(*s->golden));
	int err = s->golden ? weft_golden_exec_vars(g, &s->vars, inputs, s->golden, true, s->error) : -ENOMEM;

	return err ? err : weft_checker_begin(&s->check, g, s->p, s->golden, false);
}

int weft_session_run_segments(weft_session *s, const weft_tensor *inputs, weft_tensor *outputs,
                              const struct weft_segments *o, int *n_files, struct weft_report **rep, char *msg)
{
	struct weft_report *r = NULL;
	int n = 0;

	s->error = msg;
	msg[0] = '\0';
	*n_files = 0;
	int err = s->dev && s->o.device == WEFT_DEVICE_MODEL ? run_ahead(s, inputs, o, &n, msg) : -EINVAL;
	char **file = err ? NULL : names(o->dir, ".seg", n);
	if (!err)
		err = file ? write_checkpoints(s, inputs, o, file, n, msg) : -ENOMEM;
	for (int i = 0; s->states && i <= o->n + 1; i++)
		weft_state_free(&s->states[i]);
	free(s->states);
	s->states = NULL;
	*n_files = err ? 0 : n;
	if (!err && o->check)
		err = check_begin(s, inputs);
	int ran = err || !o->run ? err : run_and_join(s, o, file, n, msg);
	free_names(file, n);
	if (!ran || ran == -EBADMSG)
		err = weft_session_outputs(s, outputs);
	else
		err = ran;
	if (!err && o->run && !(r = weft_session_report(s)))
		err = -ENOMEM;
	if (err == -ENOMEM)
		snprintf(msg, WEFT_MSG_LEN, "out of memory");
	if (!err && (ran || (r && r->mismatches))) {
		snprintf(msg, WEFT_MSG_LEN, "%llu elements differ from golden", r ? (unsigned long long)r->mismatches : 0);
		err = -EBADMSG;
	}
	*rep = r;
	return err;
}

/* ---- one of them ---- */

static int open_inputs(const weft_net *net, const struct weft_segment *g, weft_tensor *in, char *msg)
{
	uint64_t at = 0;

	for (int i = 0; i < weft_net_n_inputs(net); i++) {
		struct weft_port p;
		weft_net_input(net, i, &p);
		in[i] = (weft_tensor){ .dtype = p.dtype, .rank = p.rank };
		memcpy(in[i].dim, p.dim, sizeof(in[i].dim));
		if (weft_tensor_bytes(&in[i]) > g->n_inputs - at) {
			snprintf(msg, WEFT_MSG_LEN, "checkpoint: its inputs end too early");
			return -EINVAL;
		}
		in[i].data = g->inputs + at;
		at += weft_tensor_bytes(&in[i]);
	}
	return 0;
}

static bool point_ok(const weft_program *p, const struct weft_point *at)
{
	if (at->step < 0 || at->step > p->n_steps)
		return false;
	return !at->cmd || (at->step < p->n_steps && p->steps[at->step].kind == WEFT_STEP_NPU && at->cmd < p->steps[at->step].n_cmds);
}

/* Begin where the checkpoint says. */
static int restore(weft_session *s, const struct weft_segment *g, char *msg)
{
	const struct weft_point *a = &g->from.at, *b = &g->to.at;

	if (g->sp_bytes != s->cfg->sp_bytes || g->arena_bytes != s->p->arena_bytes || !point_ok(s->p, a) || !point_ok(s->p, b) ||
	    a->step > b->step || (a->step == b->step && a->cmd >= b->cmd)) {
		snprintf(msg, WEFT_MSG_LEN, "checkpoint: it does not fit its program");
		return -EINVAL;
	}
	s->from = *a;
	s->to = *b;
	int err = weft_buf_write(s->arena, 0, g->from.arena, g->arena_bytes);
	if (!err)
		err = give_host(s, &g->from);
	/* A step begins with nothing that counts; a part of one with what the commands before it left. */
	if (!err && a->cmd)
		err = weft_dev_poke_sp(s->dev, 0, s->cfg->sp_bytes, g->from.sp);
	if (err && !*msg)
		snprintf(msg, WEFT_MSG_LEN, "checkpoint: its state cannot be taken: %s", strerror(-err));
	return err;
}

/* Later steps begin with a clean scratchpad, as on the model that ran ahead. */
int weft_session_clean_sp(weft_session *s)
{
	uint8_t *zero = calloc(1, s->cfg->sp_bytes);
	int err = zero ? weft_dev_poke_sp(s->dev, 0, s->cfg->sp_bytes, zero) : -ENOMEM;

	free(zero);
	return err;
}

static uint64_t first_difference(const uint8_t *a, const uint8_t *b, uint64_t n)
{
	uint64_t i = 0;

	while (i < n && a[i] == b[i])
		i++;
	return i;
}

/* Does the segment end in the state where the next one begins? */
static int compare_end(weft_session *s, const struct weft_segment *g, char *msg)
{
	uint8_t *sp = malloc(g->sp_bytes + 1), *arena = malloc(g->arena_bytes + 1);
	int err = sp && arena ? 0 : -ENOMEM;

	if (!err && g->to.at.cmd)
		err = weft_dev_peek_sp(s->dev, 0, (uint32_t)g->sp_bytes, sp);
	if (!err)
		err = weft_buf_read(s->arena, 0, arena, g->arena_bytes);
	uint64_t i = err ? 0 : first_difference(arena, g->to.arena, g->arena_bytes);
	uint64_t k = err || !g->to.at.cmd ? g->sp_bytes : first_difference(sp, g->to.sp, g->sp_bytes);
	if (!err && (i < g->arena_bytes || k < g->sp_bytes)) {
		bool in_sp = k < g->sp_bytes;
		snprintf(msg, WEFT_MSG_LEN, "segment %u of %u does not end where the next begins: %s 0x%llx: expected 0x%02x, got 0x%02x",
		         g->k + 1, g->n, in_sp ? "scratchpad" : "memory", (unsigned long long)(in_sp ? k : i),
		         in_sp ? g->to.sp[k] : g->to.arena[i], in_sp ? sp[k] : arena[i]);
		err = -EBADMSG;
	}
	free(sp);
	free(arena);
	return err;
}

static int write_result(weft_session *s, const char *path, char *msg)
{
	uint8_t *data = NULL;
	size_t n = 0;
	int err = path ? weft_segment_result_write(s, &data, &n) : 0;

	if (!err && path)
		err = write_file(path, data, n, msg);
	free(data);
	return err;
}

static int run_segment(const weft_net *net, const struct weft_segment *g, const struct weft_session_options *given,
                       const char *result, char *line, char *msg)
{
	struct weft_session_options o = *given;
	weft_tensor *in = calloc((size_t)weft_net_n_inputs(net) + 1, sizeof(*in));
	weft_session *s = NULL;

	o.config = net->loaded->config;
	o.memory = (enum weft_memory)g->memory;
	o.check = g->check;
	int err = in ? open_inputs(net, g, in, msg) : -ENOMEM;
	if (!err)
		err = weft_session_open(net, &o, &s, msg);
	if (!err) {
		s->error = msg;
		s->clean = true;
		err = weft_session_prepare(s, in);
	}
	if (!err)
		err = restore(s, g, msg);
	if (!err)
		err = weft_session_steps(s);
	if (!err) {
		err = compare_end(s, g, msg);
		int bad = write_result(s, result, msg);
		err = bad ? bad : err;
		bool differs = s->check.mismatches || s->check.first.bytes.found;
		if (!err && differs) {
			snprintf(msg, WEFT_MSG_LEN, "segment %u of %u: elements differ from golden or the model: %llu", g->k + 1, g->n,
			         (unsigned long long)s->check.mismatches);
			err = -EBADMSG;
		}
		snprintf(line, WEFT_MSG_LEN, "segment %u of %u: %llu cycles, %llu elements compared, %llu mismatches", g->k + 1, g->n,
		         (unsigned long long)s->cycles_before, (unsigned long long)s->check.elements,
		         (unsigned long long)s->check.mismatches);
	}
	weft_session_close(s);
	free(in);
	return err;
}

int weft_segment_run(const char *file, const struct weft_session_options *o, const char *result, char *line, char *msg)
{
	struct weft_segment g;
	uint8_t *data = NULL;
	weft_net *net = NULL;
	size_t n = 0;

	msg[0] = line[0] = '\0';
	int err = read_file(file, &data, &n, msg);
	if (err)
		return err;
	err = weft_segment_read(data, n, &g, msg);
	free(data);
	if (err)
		return err;
	err = weft_net_load(g.program, (size_t)g.n_program, "checkpoint", &net, msg);
	if (!err && !net->loaded) {
		snprintf(msg, WEFT_MSG_LEN, "checkpoint: it holds no program");
		err = -EINVAL;
	}
	if (!err)
		err = run_segment(net, &g, o, result, line, msg);
	weft_net_free(net);
	weft_segment_free(&g);
	return err;
}

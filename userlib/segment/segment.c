/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs in segments. The functional model runs ahead; at chosen points, between two commands with none
 * under way, its state becomes a checkpoint, in which a segment begins. The model executes commands in
 * the stream's order, and a device that has retired all commands before a point holds the same bytes
 * there.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/file.h>
#include "segment.h"

/* ---- states ---- */

/*
 * Appends len bytes of data to the buffer *p of *n bytes with room for *cap, which is reallocated with
 * twice the room needed if it is full. Returns 0, or -ENOMEM with nothing changed.
 */
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

/*
 * Appends all tensors of which the host has a copy to st->host: index, number of bytes (8 bytes each)
 * and bytes of each. st->host must be NULL and st->n_host 0 before. Returns 0, or -ENOMEM with some of
 * them there.
 */
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

/*
 * Makes the tensors of a state's st->host the session's host copies, in place of those that it has.
 * Returns 0, -ENOMEM, or -EINVAL if the bytes are cut off or a tensor does not fit the graph; those
 * before it are then the session's.
 */
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

/*
 * If the next point at which a state is wanted (s->i_point) is the one right before command cmd of the
 * step, copies scratchpad, arena and the host's tensors into its state, advances s->i_point, and starts the
 * segment that begins there if segments run as processes. Returns 0, also if nothing is wanted here;
 * -ENOMEM; or a negative errno of the device or of weft_jobs_at().
 */
int weft_session_take_state(weft_session *s, int step, uint32_t cmd)
{
	if (s->i_point >= s->n_points || s->points[s->i_point].step != step || s->points[s->i_point].cmd != cmd)
		return 0;
	struct weft_state *st = &s->states[s->i_point];
	st->at = s->points[s->i_point++];
	if (!st->lent) {
		st->sp = malloc(s->cfg->sp_bytes);
		st->arena = malloc(s->p->arena_bytes + 1);
	}
	if (!st->sp || !st->arena)
		return -ENOMEM;
	int err = weft_dev_peek_sp(s->dev, 0, s->cfg->sp_bytes, st->sp);
	if (!err)
		err = weft_buf_read(s->arena, 0, st->arena, s->p->arena_bytes);
	if (!err)
		err = take_host(s, st);
	return err || !s->jobs ? err : weft_jobs_at(s->jobs, s->i_point - 1);
}

/* ---- files ---- */

/*
 * Writes n bytes to a file, in place of one that is there. Returns 0, or -EIO, whatever the reason,
 * with the path and the reason in msg.
 */
static int write_file(const char *path, const uint8_t *data, size_t n, char *msg)
{
	int err = weft_file_write(path, data, n);

	if (err)
		snprintf(msg, WEFT_MSG_LEN, "%.200s: %s", path, weft_file_error(err));
	return err ? -EIO : 0;
}

/*
 * Reads a file of any size into *data, *n bytes from malloc. Returns 0; -ENOMEM; or -EINVAL for a file
 * that cannot be read, whatever the reason; with one line in msg on failure.
 */
static int read_file(const char *path, uint8_t **data, size_t *n, char *msg)
{
	int err = weft_file_read(path, SIZE_MAX, data, n);

	if (err)
		snprintf(msg, WEFT_MSG_LEN, "%s", weft_file_error(err));
	return err && err != -ENOMEM ? -EINVAL : err;
}

/*
 * Appends the values of all inputs of the network to g->inputs, one after another. Returns 0 or
 * -ENOMEM; the caller frees g->inputs in each case.
 */
static int collect_inputs(const weft_session *s, const weft_tensor *inputs, struct weft_segment *g)
{
	uint64_t cap = 0;
	int err = 0;

	for (int i = 0; i < s->net->g->n_inputs && !err; i++)
		err = put(&g->inputs, &g->n_inputs, &cap, inputs[i].data, weft_tensor_bytes(&inputs[i]));
	return err;
}

/*
 * Writes one file for each of the n segments, file[i]: program, inputs, the state in which it begins
 * (s->states[i]) and the one in which it must end (s->states[i + 1]). Returns 0, -ENOMEM, -EIO for a
 * file that cannot be written, or another negative errno for a program that cannot, with one line in
 * msg except for -ENOMEM. Files written before a failure stay.
 */
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
		/* g only borrows the session's states. */
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

/* Frees n names and their array; NULL is fine. */
static void free_names(char **p, int n)
{
	for (int i = 0; p && i < n; i++)
		free(p[i]);
	free(p);
}

/*
 * Returns the names DIR/000.seg, DIR/001.seg ... of n checkpoint files, for free_names(), or NULL if
 * memory is out.
 */
static char **names(const char *dir, int n)
{
	const size_t len = strlen(dir) + 32;
	char **p = calloc((size_t)n + 1, sizeof(*p));

	for (int i = 0; p && i < n; i++) {
		p[i] = malloc(len);
		if (!p[i]) {
			free_names(p, i);
			return NULL;
		}
		snprintf(p[i], len, "%s/%03d.seg", dir, i);
	}
	return p;
}

/*
 * Sets cycles, times, counters and measurements of the run to 0, so that only what the segments found
 * counts and not what the model did that ran ahead.
 */
void weft_session_forget_measures(weft_session *s)
{
	s->cycles_before = s->sim_cycles = 0;
	s->seconds = s->cpu_seconds = 0;
	memset(&s->counters, 0, sizeof(s->counters));
	memset(s->measure, 0, ((size_t)s->net->g->n_ops + 1) * sizeof(*s->measure));
}

/* Frees the states of n segments, n + 1 of them, and their array. */
static void free_states(weft_session *s, int n)
{
	for (int i = 0; s->states && i <= n; i++)
		weft_state_free(&s->states[i]);
	free(s->states);
	s->states = NULL;
}

/*
 * Runs the model on the inputs up to the last of the n points at s->points and takes its state at each
 * of them. Nothing is compared with golden: what the model leaves is what devices are compared with.
 * s->o.check is as before afterwards. Returns 0, -EIO with one line in msg if it did not come to a
 * point, or the negative errno of preparing or of a step.
 */
static int run_ahead(weft_session *s, const weft_tensor *inputs, int n, char *msg)
{
	bool check = s->o.check;

	s->n_points = n;
	s->to = s->points[n - 1];
	s->i_point = 0;
	/* The model is not compared with golden: devices are compared with what it leaves. */
	s->o.check = false;
	int err = weft_session_prepare(s, inputs, NULL);
	if (!err)
		err = weft_session_steps(s);
	s->o.check = check;
	if (!err && s->i_point != s->n_points) {
		snprintf(msg, WEFT_MSG_LEN, "the model never came to point %d of %d", s->i_point, s->n_points);
		err = -EIO;
	}
	s->n_points = 0;
	s->to = (struct weft_point){ 0, 0 };
	return err;
}

/*
 * Lets the model run ahead through all n segments and writes their checkpoints to the folder o->dir,
 * which must exist, without running any segment. Returns 0, -ENOMEM, -EIO or another negative errno,
 * with one line in msg except for -ENOMEM.
 */
static int only_files(weft_session *s, const weft_tensor *inputs, const struct weft_segments *o, int n, char *msg)
{
	char **file = names(o->dir, n);
	int err = file ? run_ahead(s, inputs, n + 1, msg) : -ENOMEM;

	if (!err)
		err = write_checkpoints(s, inputs, o, file, n, msg);
	free_names(file, n);
	return err;
}

/*
 * Runs n segments as processes of this machine while the model runs ahead, waits for them and adds up
 * their results in the session; processes that still run after a failure are killed. Returns 0,
 * -EBADMSG if a segment found a difference, or the negative errno of what failed, with one line in msg
 * except for -ENOMEM.
 */
static int in_processes(weft_session *s, const weft_tensor *inputs, const struct weft_segments *o, int n, char *msg)
{
	s->jobs = weft_jobs_open(s, inputs, o, n);
	int err = s->jobs ? run_ahead(s, inputs, weft_jobs_n_states(s->jobs), msg) : -ENOMEM;

	if (!err && o->check)
		err = weft_checker_begin(&s->check, s->net->g, s->p, s->golden, false);
	if (!err)
		err = weft_jobs_join(s->jobs, msg);
	weft_jobs_close(s->jobs);
	s->jobs = NULL;
	return err;
}

int weft_session_run_segments(weft_session *s, const weft_tensor *inputs, weft_tensor *outputs,
                              const struct weft_segments *o, int *n_segments, struct weft_report **rep, char msg WEFT_ROOM(WEFT_MSG_LEN))
{
	struct weft_point *points = calloc((size_t)o->n + 2, sizeof(*points));
	struct weft_report *r = NULL;
	int err = -EINVAL, n = 0;

	s->error = msg;
	msg[0] = '\0';
	if (s->net->g->n_vars)
		snprintf(msg, WEFT_MSG_LEN, "a network with variables does not run in segments; it does without --jobs");
	else if (!s->dev || s->o.device != WEFT_DEVICE_MODEL)
		snprintf(msg, WEFT_MSG_LEN, "segments are cut where the model has been; a session on the model wanted");
	else
		err = n = points ? weft_cut_points(s->p, s->cfg, o->memory, o->check && !o->dir, o->n, points) : -ENOMEM;
	s->states = n > 0 ? calloc((size_t)n + 1, sizeof(*s->states)) : NULL;
	s->points = points;
	if (n > 0)
		err = !s->states ? -ENOMEM : o->dir ? only_files(s, inputs, o, n, msg) : in_processes(s, inputs, o, n, msg);
	free_states(s, n);
	s->points = NULL;
	free(points);
	int ran = err;
	if (!err || err == -EBADMSG)
		err = weft_session_outputs(s, outputs);
	if (!err && !o->dir && !(r = weft_session_report(s)))
		err = -ENOMEM;
	if (err == -ENOMEM)
		snprintf(msg, WEFT_MSG_LEN, "out of memory");
	if (!err && r && r->mismatches)
		snprintf(msg, WEFT_MSG_LEN, "%llu elements differ from golden", (unsigned long long)r->mismatches);
	if (!err && (ran || (r && r->mismatches)))
		err = -EBADMSG;
	*n_segments = err && err != -EBADMSG ? 0 : n;
	*rep = r;
	return err;
}

/* ---- one of them ---- */

/*
 * Makes in[] the network's inputs with types and shapes; their data lie in g->inputs, one after
 * another, and stay the checkpoint's. Returns 0, or -EINVAL with one line in msg if the checkpoint has
 * fewer bytes; more are ignored.
 */
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

/*
 * Says whether a point lies in the program: before a step, before a command within an NPU step, or at
 * the end.
 */
static bool point_ok(const weft_program *p, const struct weft_point *at)
{
	if (at->step < 0 || at->step > p->n_steps)
		return false;
	return !at->cmd || (at->step < p->n_steps && p->steps[at->step].kind == WEFT_STEP_NPU && at->cmd < p->steps[at->step].n_cmds);
}

/*
 * Sets the device's arena and the host's tensors to the state in which segment g begins, and s->from
 * and s->to to the part of the program that it runs. The scratchpad is only restored if the segment
 * begins within a step. Returns 0; -EINVAL if sizes or points of the checkpoint do not fit its program
 * or it does not end behind its beginning (then nothing is changed), or if its tensors do not fit the
 * graph; -ENOMEM; or the device's negative errno; with one line in msg.
 */
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
	/* Only within a step does the scratchpad matter: it holds what the commands before have left. */
	if (!err && a->cmd)
		err = weft_dev_poke_sp(s->dev, 0, s->cfg->sp_bytes, g->from.sp);
	if (err && !*msg)
		snprintf(msg, WEFT_MSG_LEN, "checkpoint: its state cannot be taken: %s", weft_file_error(err));
	return err;
}

/*
 * Fills the device's scratchpad with zeros, so that each step begins as it did on the model that ran
 * ahead. Returns 0, -ENOMEM or the device's negative errno.
 */
int weft_session_clean_sp(weft_session *s)
{
	uint8_t *zero = calloc(1, s->cfg->sp_bytes);
	int err = zero ? weft_dev_poke_sp(s->dev, 0, s->cfg->sp_bytes, zero) : -ENOMEM;

	free(zero);
	return err;
}

/* Returns the index of the first of n bytes in which a and b differ; n if they are equal. */
static uint64_t first_difference(const uint8_t *a, const uint8_t *b, uint64_t n)
{
	uint64_t i = 0;

	while (i < n && a[i] == b[i])
		i++;
	return i;
}

/*
 * Compares the device's arena and, if the segment ends within a step, scratchpad with g->to, the state
 * in which the next segment begins. Returns 0; -EBADMSG with one line in msg that names the first byte
 * that differs, in the scratchpad if any differs there; -ENOMEM; or the device's negative errno.
 */
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

/*
 * Writes what the segment measured and compared to f at its position and flushes it; nothing if f is
 * NULL. Returns 0; -ENOMEM; or -EIO with one line in msg if the file cannot be written.
 */
static int write_result(weft_session *s, FILE *f, char *msg)
{
	uint8_t *data = NULL;
	size_t n = 0;
	int err = f ? weft_segment_result_write(s, &data, &n) : 0;

	if (!err && f && (fwrite(data, 1, n, f) != n || fflush(f))) {
		snprintf(msg, WEFT_MSG_LEN, "its result cannot be written: %s", weft_file_error(-errno));
		err = -EIO;
	}
	free(data);
	return err;
}

/*
 * Ends a segment that has run: calls end->end (if end is not NULL), compares its state with the one that
 * the next segment begins in unless end->compare is false, and writes its result to end->result, also if
 * the state differs. If end->end() fails, nothing is compared, and no result is written. One line about
 * cycles and differences is written to `line` whatever the outcome. Returns 0; -EBADMSG if the state,
 * elements or bytes differ; or another negative errno; with one line in msg for -EBADMSG.
 */
static int judge(weft_session *s, const struct weft_segment *g, const struct weft_segment_part *end, char *line, char *msg)
{
	int err = end ? end->end(end->user, s) : 0;

	if (!err && (!end || end->compare))
		err = compare_end(s, g, msg);
	int bad = !err || err == -EBADMSG ? write_result(s, end ? end->result : NULL, msg) : 0;
	err = bad ? bad : err;
	if (!err && (s->check.mismatches || s->check.first.bytes.found)) {
		snprintf(msg, WEFT_MSG_LEN, "segment %u of %u: elements differ from golden or the model: %llu", g->k + 1, g->n,
		         (unsigned long long)s->check.mismatches);
		err = -EBADMSG;
	}
	snprintf(line, WEFT_MSG_LEN, "segment %u of %u: %llu cycles, %llu elements compared, %llu mismatches", g->k + 1, g->n,
	         (unsigned long long)s->cycles_before, (unsigned long long)s->check.elements,
	         (unsigned long long)s->check.mismatches);
	return err;
}

int weft_segment_go(const weft_net *net, const struct weft_segment *g, const weft_tensor *inputs,
                    const struct weft_session_options *given, const struct weft_segment_part *part, char *line, char *msg)
{
	struct weft_session_options o = *given;
	weft_session *s = NULL;

	o.config = net->loaded->config;
	o.memory = (enum weft_memory)g->memory;
	o.check = g->check;
	int err = weft_session_open(net, &o, &s, msg);
	if (!err) {
		s->error = msg;
		s->clean = true;
		s->given_room = part ? part->room : NULL;
		s->verified = part && part->verified;
		err = weft_session_prepare(s, inputs, NULL);
	}
	if (!err)
		err = restore(s, g, msg);
	if (!err)
		err = weft_session_steps(s);
	if (!err)
		err = judge(s, g, part, line, msg);
	weft_session_close(s);
	return err;
}

int weft_segment_run(const char *file, const struct weft_session_options *o, char line WEFT_ROOM(WEFT_MSG_LEN), char msg WEFT_ROOM(WEFT_MSG_LEN))
{
	struct weft_segment g = { 0 };
	weft_tensor *in = NULL;
	uint8_t *data = NULL;
	weft_net *net = NULL;
	size_t n = 0;

	msg[0] = line[0] = '\0';
	int err = read_file(file, &data, &n, msg);
	if (!err)
		err = weft_segment_read(data, n, &g, msg);
	free(data);
	if (!err)
		err = weft_net_load(g.program, (size_t)g.n_program, "checkpoint", &net, msg);
	if (!err && !net->loaded) {
		snprintf(msg, WEFT_MSG_LEN, "checkpoint: it holds no program");
		err = -EINVAL;
	}
	if (!err)
		err = (in = calloc((size_t)weft_net_n_inputs(net) + 1, sizeof(*in))) ? open_inputs(net, &g, in, msg) : -ENOMEM;
	if (!err)
		err = weft_segment_go(net, &g, in, o, NULL, line, msg);
	free(in);
	weft_net_free(net);
	weft_segment_free(&g);
	if (err == -ENOMEM)
		snprintf(msg, WEFT_MSG_LEN, "out of memory");
	return err;
}

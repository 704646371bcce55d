/* SPDX-License-Identifier: Apache-2.0 */
#include <weft/file.h>
#include <weft/replay.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/model.h"
#include "userlib/run/internal.h"
#include "weft/gen/cmd.h"

#define WAVE_LONGEST 20000               /* the most cycles of a wave from the wrong byte to the retirement, about 3 MB */
#define TRACE_LIMIT ((uint64_t)1 << 31)  /* the most bytes of a correct run's writes */

/* One write of command cmd: len bytes at addr of the scratchpad or the arena. */
struct write {
	uint32_t cmd;
	bool in_sp;
	uint64_t addr, len;
	uint64_t at;               /* where its bytes are in the trace's pool */
};

/* All that a correct run writes, command by command. */
struct trace {
	struct write *w;           /* n writes in order */
	size_t n, cap;
	uint8_t *pool;             /* the bytes written, n_pool of them */
	uint64_t n_pool, cap_pool;
	size_t *first;             /* for each command the index of its first write; one more at the end */
	size_t n_cmds;
	int err;                   /* -ENOMEM: memory ran out or there is too much; otherwise 0 */
};

struct replay {
	const struct weft_capture *c;      /* the caller's, as are the options */
	const struct weft_replay_options *o;
	struct weft_replay_report *r;      /* the caller's report */
	char *msg;                 /* the caller's room of WEFT_MSG_LEN bytes */
	weft_net *net;             /* the captured program */
	const weft_program *p;
	const struct weft_step *step;      /* its step that failed */
	const struct weft_config *cfg;     /* the capture's configuration */
	struct trace t;            /* what each command writes in the correct run */
	uint8_t *arena;            /* the arena of the correct run */
	struct weft_model *model;  /* of the correct run, which writes to arena */
	uint32_t now;              /* the command that the model executes */
	weft_dev *dev;             /* the simulator, and its windows */
	weft_buf *dev_consts, *dev_arena;
	uint8_t *row;              /* room for what was read of the device, cap_row bytes */
	uint64_t cap_row;
	struct weft_replay_place harmless;     /* the first wrong byte that belongs to no tensor */
	/* The search for the cycle in which the first wrong byte was written: */
	uint64_t sampled, changed; /* the last cycle seen, and the one in which the byte was seen to change */
	uint8_t byte;              /* its last value */
};

/* Writes `what` to the message and returns err. */
static int fail(struct replay *x, int err, const char *what)
{
	snprintf(x->msg, WEFT_MSG_LEN, "%s", what);
	return err;
}

/* ---- the correct run ---- */

/*
 * Makes room for `need` elements of `elem` bytes in the array *p of *cap elements, by doubling. Returns
 * false, without a change, if there is no memory.
 */
static bool grow(void **p, uint64_t *cap, uint64_t need, size_t elem)
{
	uint64_t n = *cap ? *cap : 1024;

	while (n < need)
		n *= 2;
	if (n == *cap)
		return true;
	void *q = realloc(*p, n * elem);
	if (!q)
		return false;
	*p = q;
	*cap = n;
	return true;
}

/*
 * The model's callback; user is the struct replay: it wrote len bytes at addr of the scratchpad or of a
 * window. Keeps address and bytes in the trace as the current command's; other windows than the arena
 * do not count. If there is no memory, or the trace would be longer than TRACE_LIMIT bytes, the trace's
 * err becomes -ENOMEM, and nothing more is kept.
 */
static void log_write(void *user, enum weft_model_space space, unsigned window, uint64_t addr, uint64_t len)
{
	struct replay *x = user;
	struct trace *t = &x->t;
	uint64_t cap = t->cap;
	const uint8_t *from = space == WEFT_MODEL_SP ? weft_model_sp(x->model) : x->arena;

	if (t->err || (space == WEFT_MODEL_MEM && window != WEFT_WIN_ARENA))
		return;
	if (t->n_pool + len > TRACE_LIMIT || !grow((void **)&t->pool, &t->cap_pool, t->n_pool + len, 1) ||
	    !grow((void **)&t->w, &cap, t->n + 1, sizeof *t->w)) {
		t->err = -ENOMEM;
		return;
	}
	t->cap = cap;
	t->w[t->n++] = (struct write){ x->now, space == WEFT_MODEL_SP, addr, len, t->n_pool };
	memcpy(t->pool + t->n_pool, from + addr, len);
	t->n_pool += len;
}

/*
 * Runs the commands of the captured step on the model, one by one; log_write() records what each writes
 * in the trace x->t. t.first[k] is where command k's entries begin, and one more entry marks the end.
 * Returns 0; or with one line in x->msg -EINVAL if the stream does not decode or faults on the model,
 * or -ENOMEM.
 */
static int run_model(struct replay *x)
{
	const uint64_t *words = x->p->words + x->step->first_word;
	struct weft_model_fault f;
	struct weft_cmd cmd;
	size_t at = 0;

	for (x->now = 0; x->now < x->step->n_cmds && !x->t.err; x->now++) {
		if (weft_cmd_decode(words + at, x->step->n_words - at, &cmd))
			return fail(x, -EINVAL, "capture: its stream does not decode");
		x->t.first[x->now] = x->t.n;
		if (weft_model_exec(x->model, &cmd, &f))
			return fail(x, -EINVAL, "capture: its stream faults on the model");
		at += (size_t)cmd.h.n_words;
	}
	x->t.first[x->now] = x->t.n;
	return x->t.err ? fail(x, x->t.err, "out of memory for the correct run") : 0;
}

/*
 * Prepares the model with the program's constants and a copy of the captured memory, and runs the step
 * as it should have run: x->t becomes the trace, x->arena the correct arena after it. Returns 0, or
 * -EINVAL or -ENOMEM with one line in x->msg; x owns what was made in each case.
 */
static int correct_run(struct replay *x)
{
	const uint64_t n = x->c->n_arena;
	struct weft_model_window k = { x->p->consts, x->p->n_consts, true, false }, a;

	x->t.first = calloc((size_t)x->step->n_cmds + 1, sizeof *x->t.first);
	x->arena = malloc(n + 1);
	x->model = weft_model_new(x->cfg);
	if (!x->t.first || !x->arena || !x->model)
		return fail(x, -ENOMEM, "out of memory");
	memcpy(x->arena, x->c->before, n);
	a = (struct weft_model_window){ x->arena, n, true, true };
	weft_model_set_window(x->model, WEFT_WIN_CONST, &k);
	weft_model_set_window(x->model, WEFT_WIN_ARENA, &a);
	weft_model_set_log(x->model, log_write, x);
	return run_model(x);
}

/* ---- naming what is wrong ---- */

/*
 * Says whether `kept`, an array of `size` bytes, holds the name `whole` or the beginning of it that
 * fits.
 */
static bool same_name(const char *whole, const char *kept, size_t size)
{
	return !strncmp(whole, kept, size - 1);
}

/* Writes the coordinates of element `index` (row-major) of t to at[]. */
static void coordinates(const weft_tensor *t, uint64_t index, int64_t *at)
{
	for (int d = t->rank - 1; d >= 0; d--) {
		at[d] = (int64_t)(index % (uint64_t)t->dim[d]);
		index /= (uint64_t)t->dim[d];
	}
}

/*
 * Notes in *f that the wrong byte belongs to element `index` (row-major) of that tensor: its name,
 * number, rank and the element's coordinates; the tile becomes this one element.
 */
static void name_tensor(struct replay *x, struct weft_replay_place *f, int tensor, uint64_t index)
{
	const struct weft_gtensor *t = &x->p->graph->tensors[tensor];

	f->element = true;
	f->graph_tensor = tensor;
	f->index = index;
	f->rank = t->t.rank;
	snprintf(f->tensor, sizeof f->tensor, "%s", t->name);
	coordinates(&t->t, index, f->at);
	for (int d = 0; d < f->rank; d++)
		f->tile[d][0] = f->tile[d][1] = (uint64_t)f->at[d];
}

/*
 * Says whether byte address addr of the scratchpad lies in an element that record q places there.
 * *index then becomes that element's number in the tensor, row-major; otherwise it is untouched.
 */
static bool in_record(const weft_graph *g, const struct weft_prec *q, uint64_t addr, uint64_t *index)
{
	const uint32_t size = (uint32_t)weft_dtype_bytes(g->tensors[q->tensor].t.dtype);

	for (uint32_t y = 0; y < q->n_y; y++) {
		for (uint32_t i = 0; i < q->n_x; i++) {
			uint32_t off = ((uint32_t)addr - q->addr - y * q->y_bytes - i * q->x_bytes) & 0xfffff;
			if (off < q->n_c * size) {
				*index = q->first + y * q->y_elems + i * q->x_elems + off / size;
				return true;
			}
		}
	}
	return false;
}

/*
 * Sets f->tile to the coordinates of the first and the last element of record q: the tile that its
 * command made.
 */
static void tile_of(const weft_graph *g, const struct weft_prec *q, struct weft_replay_place *f)
{
	int64_t first[8] = { 0 }, last[8] = { 0 };
	const weft_tensor *t = &g->tensors[q->tensor].t;

	coordinates(t, q->first, first);
	coordinates(t, q->first + (q->n_y - 1) * q->y_elems + (q->n_x - 1) * q->x_elems + q->n_c - 1, last);
	for (int d = 0; d < t->rank; d++) {
		f->tile[d][0] = (uint64_t)first[d];
		f->tile[d][1] = (uint64_t)last[d];
	}
}

/*
 * Finds the element at the wrong scratchpad address f->addr by the debug records of command f->cmd, and
 * notes it and the record's tile in *f. Leaves *f as it is if no record has it.
 */
static void name_by_records(struct replay *x, struct weft_replay_place *f)
{
	const struct weft_pcmd *k = &x->p->cmds[x->step->first_cmd + f->cmd];
	uint64_t index;

	for (uint32_t i = 0; i < k->n_recs; i++) {
		const struct weft_prec *q = &x->p->recs[k->first_rec + i];
		if (!in_record(x->p->graph, q, f->addr, &index))
			continue;
		name_tensor(x, f, q->tensor, index);
		tile_of(x->p->graph, q, f);
		return;
	}
}

/*
 * Says whether a store that works for operator op brings that tensor's bytes to the arena: if the NPU
 * makes the tensor, and op or the operator into which op is fused is its producer. Several tensors may
 * lie at the same place.
 */
static bool stored_by(const struct replay *x, int tensor, int op)
{
	const weft_graph *g = x->p->graph;
	int made = g->tensors[tensor].producer;

	return x->p->tensors[tensor].on_npu && made >= 0 && op >= 0 && (made == op || x->p->ops[op].into == made);
}

/*
 * Finds the element at the wrong arena offset f->addr by the tensors' places in the arena, among those
 * that a store of operator op brings there (of several tensors the first), and notes it in *f. Leaves *f
 * as it is if there is none.
 */
static void name_by_offset(struct replay *x, struct weft_replay_place *f, int op)
{
	for (int i = 0; i < x->p->n_tensors; i++) {
		const struct weft_ptensor *t = &x->p->tensors[i];

		if (t->place != WEFT_PLACE_ARENA || f->addr < t->offset || f->addr - t->offset >= t->bytes || !stored_by(x, i, op))
			continue;
		name_tensor(x, f, i, (f->addr - t->offset) / weft_dtype_bytes(x->p->graph->tensors[i].t.dtype));
		return;
	}
}

/*
 * Notes in *f what the wrong command f->cmd is: its operator's number in the source file (-1: none) and
 * name, disassembly, unit, and, if debug records (scratchpad) or tensors' places (arena) tell, tensor
 * and element of the wrong byte f->addr.
 */
static void name_place(struct replay *x, struct weft_replay_place *f)
{
	const struct weft_pcmd *k = &x->p->cmds[x->step->first_cmd + f->cmd];
	const weft_graph *g = x->p->graph;
	const uint64_t *words = x->p->words + x->step->first_word;
	struct weft_cmd cmd;
	size_t at = 0;

	f->op = -1;
	if (k->op >= 0 && k->op < g->n_ops && g->ops[k->op].src >= 0) {
		const struct weft_gsrc *src = &g->srcs[g->ops[k->op].src];
		f->op = src->index;
		snprintf(f->op_name, sizeof f->op_name, "%s", src->name);
	}
	for (size_t i = 0; i <= f->cmd && !weft_cmd_decode(words + at, x->step->n_words - at, &cmd); i++)
		at += (size_t)cmd.h.n_words;
	weft_cmd_print(&cmd, f->text, sizeof f->text);
	f->unit = weft_cmd_info((unsigned)cmd.h.op)->unit;
	if (f->in_sp)
		name_by_records(x, f);
	else
		name_by_offset(x, f, k->op);
}

/* ---- the simulated run ---- */

/* Reads the bytes of write w from the device into x->row. Returns 0 or a negative errno. */
static int read_device(struct replay *x, const struct write *w)
{
	if (w->len > x->cap_row && !grow((void **)&x->row, &x->cap_row, w->len, 1))
		return -ENOMEM;
	return w->in_sp ? weft_dev_peek_sp(x->dev, (uint32_t)w->addr, (uint32_t)w->len, x->row)
	                : weft_buf_read(x->dev_arena, w->addr, x->row, w->len);
}

/*
 * Says whether the byte at addr of write i was written again by the same command, so that the later
 * write counts.
 */
static bool written_later(const struct trace *t, size_t i, uint64_t addr)
{
	for (size_t k = i + 1; k < t->first[t->w[i].cmd + 1]; k++)
		if (t->w[k].in_sp == t->w[i].in_sp && addr >= t->w[k].addr && addr - t->w[k].addr < t->w[k].len)
			return true;
	return false;
}

/*
 * Sets f->want and f->have to the value, as it should be (trace) and as it is (x->row), of the element
 * around byte number `byte` of write w, whose first byte begins an element. Nothing if the element is
 * not known or reaches beyond w.
 */
static void element_values(struct replay *x, const struct write *w, uint64_t byte, struct weft_replay_place *f)
{
	if (!f->element)
		return;
	const weft_dtype t = x->p->graph->tensors[f->graph_tensor].t.dtype;
	const uint64_t size = weft_dtype_bytes(t), at = byte - byte % size;

	if (at + size > w->len)
		return;
	f->want = weft_element_value(t, x->t.pool + w->at + at);
	f->have = weft_element_value(t, x->row + at);
}

/*
 * The simulator's callback for a command that has retired: as long as no first difference is known,
 * compares every byte that the model says it writes with what the device has; of a byte that the command
 * writes several times, only the last write counts. A wrong byte sets simulation_differs. The first that
 * lies in an element of a tensor becomes the report's first difference. The first that does not, such as a
 * load of wrong memory makes, is only kept in x->harmless, and the search goes on to what it spoils.
 * Returns 0, -EINVAL if the step has no such command, or the errno of reading the device.
 */
static int on_retire(void *user, const struct weft_retire *ret)
{
	struct replay *x = user;
	const struct trace *t = &x->t;

	if (ret->cmd >= x->step->n_cmds)
		return -EINVAL;
	for (size_t i = t->first[ret->cmd]; i < t->first[ret->cmd + 1]; i++) {
		const struct write *w = &t->w[i];
		int err = x->r->first.found ? 0 : read_device(x, w);
		if (err)
			return err;
		if (x->r->first.found || !memcmp(x->row, t->pool + w->at, w->len))
			continue;
		for (uint64_t b = 0; b < w->len; b++) {
			uint8_t want = t->pool[w->at + b];
			if (x->row[b] == want || written_later(t, i, w->addr + b))
				continue;
			struct weft_replay_place f = { .found = true, .cmd = ret->cmd, .cycle = ret->cycle, .in_sp = w->in_sp,
				.addr = w->addr + b, .expected = want, .got = x->row[b] };
			x->r->simulation_differs = true;
			name_place(x, &f);
			element_values(x, w, b, &f);
			if (f.element)  /* a load of wrong memory makes no tensor: go on to what it spoils */
				x->r->first = f;
			else if (!x->harmless.found)
				x->harmless = f;
			break;
		}
	}
	return 0;
}

/*
 * Opens the simulator with the captured configuration, memory profile and, if the options want it,
 * fault, fills its memory with the captured constants and arena, and lets it record a wave of the
 * cycles wave_from..wave_to if wave is not NULL. Returns 0, or a negative errno with one line in
 * x->msg: -ENOTSUP if the fault cannot be planted. In each case the caller calls close_device().
 */
static int open_device(struct replay *x, const char *wave, uint64_t wave_from, uint64_t wave_to)
{
	struct weft_dev_options d = weft_dev_options_default();
	int err;

	d.kind = weft_device_kind(x->o->device);
	d.config = x->c->config;
	d.memory = (enum weft_memory)x->c->memory;
	d.rtl_dir = x->o->rtl_dir;
	d.wave = wave;
	d.samples = x->o->wave != NULL;
	d.wave_from = wave_from;
	d.wave_to = wave_to;
	if ((err = weft_dev_open(&d, &x->dev, x->msg)))
		return err;
	if (weft_buf_alloc(x->dev, x->c->n_consts, &x->dev_consts) || weft_buf_alloc(x->dev, x->c->n_arena, &x->dev_arena))
		return fail(x, -ENOMEM, "out of memory");
	if ((err = weft_buf_write(x->dev_consts, 0, x->c->consts, x->c->n_consts)) ||
	    (err = weft_buf_write(x->dev_arena, 0, x->c->before, x->c->n_arena)))
		return fail(x, err, weft_file_error(err));
	if (x->o->plant && x->c->plant.kind != WEFT_PLANT_NONE && weft_dev_plant(x->dev, &x->c->plant))
		return fail(x, -ENOTSUP, "the captured fault cannot be planted in this device");
	return 0;
}

/* Closes the simulator and frees its two buffers, for constants and arena; x has none of them afterwards. */
static void close_device(struct replay *x)
{
	weft_buf_free(x->dev_consts);
	weft_buf_free(x->dev_arena);
	weft_dev_close(x->dev);
	x->dev_consts = x->dev_arena = NULL;
	x->dev = NULL;
}

/*
 * Runs the captured step on the simulator, as long as it takes; observer (NULL: none) is called with x
 * for each command. The job's result goes to x->r->result. Returns 0, also if the job ended with a
 * fault; -ENOMEM, also if that is how the job ended; or another negative errno; after a
 * failure x->msg has one line.
 */
static int run_device(struct replay *x, weft_observer *observer)
{
	const struct weft_window win[] = {
		{ .buf = x->dev_consts, .rd = true }, { .buf = x->dev_arena, .rd = true, .wr = true },
	};
	weft_job job;

	weft_dev_observe(x->dev, observer, x);
	int err = weft_submit(x->dev, x->p->words + x->step->first_word, x->step->n_words, win, 2, &job);
	if (err)
		return fail(x, err, err == -ENOMEM || !*weft_dev_error(x->dev) ? weft_file_error(err) : weft_dev_error(x->dev));
	err = weft_wait(x->dev, job, WEFT_FOREVER, &x->r->result);
	if (err)
		return fail(x, err, weft_file_error(err));
	/* A lack of memory here is nothing that the device did. */
	if (x->r->result.status == -ENOMEM)
		err = fail(x, -ENOMEM, "out of memory");
	return err;
}

/* Says whether a job ended with the fault of the capture, or without a fault as the capture did. */
static bool same_fault(const struct weft_capture *c, const struct weft_job_result *r)
{
	return c->fault[0] == r->fault_code && (!r->fault_code || (c->fault[1] == r->fault_unit && c->fault[2] == r->fault_cmd));
}

/*
 * Runs the capture in simulation, comparing each command (on_retire), and notes in the report whether
 * it left the same memory and the same fault as the device had (reproduced), and whether the simulation
 * itself went wrong (simulation_differs). Closes the simulator. Returns 0 or a negative errno.
 */
static int simulate(struct replay *x)
{
	uint8_t *after = malloc(x->c->n_arena + 1);
	int err = after ? open_device(x, NULL, 0, 0) : fail(x, -ENOMEM, "out of memory");

	if (!err)
		err = run_device(x, on_retire);
	if (!err && (err = weft_buf_read(x->dev_arena, 0, after, x->c->n_arena)))
		fail(x, err, weft_file_error(err));
	if (!err) {
		x->r->reproduced = !memcmp(after, x->c->after, x->c->n_arena) && same_fault(x->c, &x->r->result);
		x->r->simulation_differs |= x->r->result.status != 0;
	}
	close_device(x);
	free(after);
	return err;
}

/* ---- what only the device's memory shows ---- */

/*
 * Returns the command of this step that last wrote byte addr of the arena in the correct run; SIZE_MAX
 * if none did.
 */
static size_t writer(const struct replay *x, uint64_t addr)
{
	for (size_t i = x->t.n; i-- > 0;) {
		const struct write *w = &x->t.w[i];
		if (!w->in_sp && addr >= w->addr && addr - w->addr < w->len)
			return w->cmd;
	}
	return SIZE_MAX;
}

/*
 * If the report has no first difference yet, takes over the one that the failed run itself saw, if its
 * command is in this step and has a record of a tensor of that name; the address is then the record's
 * beginning, and no bytes are known.
 */
static void believe_the_run(struct replay *x)
{
	const struct weft_capture *c = x->c;
	struct weft_replay_place f = { .found = true, .cmd = (size_t)c->cmd, .element = true, .index = c->index, .want = c->expected,
		.have = c->got, .in_sp = true };
	const struct weft_pcmd *k;

	if (x->r->first.found || !c->mismatch || c->cmd < 0 || (uint64_t)c->cmd >= x->step->n_cmds)
		return;
	k = &x->p->cmds[x->step->first_cmd + f.cmd];
	for (uint32_t i = 0; i < k->n_recs; i++) {
		const struct weft_prec *q = &x->p->recs[k->first_rec + i];
		if (!same_name(x->p->graph->tensors[q->tensor].name, c->tensor, sizeof c->tensor))
			continue;
		f.addr = q->addr;
		name_place(x, &f);
		name_tensor(x, &f, q->tensor, c->index);
		tile_of(x->p->graph, q, &f);
		x->r->first = f;
		return;
	}
}

/*
 * Compares the arena that the device left (the capture's) with the correct one and sets device_differs
 * if a byte is wrong. If the report has no first difference yet, the earliest command that last wrote a
 * wrong byte in the correct run becomes it, with the first of its wrong bytes; bytes that no command
 * writes are not attributed.
 */
static void look_in_memory(struct replay *x)
{
	const uint8_t *got = x->c->after;
	struct weft_replay_place f = { .cmd = SIZE_MAX };

	for (uint64_t b = 0; b < x->c->n_arena; b++) {
		if (got[b] == x->arena[b])
			continue;
		x->r->device_differs = true;
		if (x->r->first.found)
			return;
		size_t cmd = writer(x, b);
		if (cmd < f.cmd)
			f = (struct weft_replay_place){ .found = true, .cmd = cmd, .addr = b, .expected = x->arena[b], .got = got[b] };
	}
	if (!f.found)
		return;
	name_place(x, &f);
	if (f.element) {
		const weft_dtype t = x->p->graph->tensors[f.graph_tensor].t.dtype;
		uint64_t at = x->p->tensors[f.graph_tensor].offset + f.index * weft_dtype_bytes(t);
		f.want = weft_element_value(t, x->arena + at);
		f.have = weft_element_value(t, got + at);
	}
	x->r->first = f;
}

/* Says whether command c, for words of `word` bytes, is a load that reads byte `at` of the constants (offset in their window). */
static bool reads(const struct weft_cmd *c, uint32_t word, uint64_t at)
{
	const struct weft_cmd_load *l = &c->load;

	if (c->h.op != WEFT_CMD_LOAD || l->window != WEFT_WIN_CONST)
		return false;
	for (int64_t i = 0; i < l->n3; i++)
		for (int64_t j = 0; j < l->n2; j++)
			for (int64_t k = 0; k < l->n1; k++) {
				uint64_t row = (uint64_t)(l->dram_off + i * l->dram_stride3 + j * l->dram_stride2 + k * l->dram_stride1);
				if (at >= row && at - row < weft_cmd_load_bytes(l, word))
					return true;
			}
	return false;
}

/*
 * Compares the captured constants of the device's memory with the program's, and counts the bytes that
 * differ in memory_bytes. If some do, sets `memory`, the first one's offset and values, and memory_cmd,
 * the first command of the step that loads it; memory_cmd is SIZE_MAX if none does.
 */
static void look_in_constants(struct replay *x)
{
	const uint64_t *words = x->p->words + x->step->first_word;
	struct weft_cmd cmd;
	size_t at = 0;

	for (uint64_t b = 0; b < x->c->n_consts; b++) {
		if (x->c->consts[b] == x->p->consts[b])
			continue;
		if (!x->r->memory_bytes++) {
			x->r->memory = true;
			x->r->memory_at = b;
			x->r->memory_expected = x->p->consts[b];
			x->r->memory_got = x->c->consts[b];
		}
	}
	x->r->memory_cmd = SIZE_MAX;
	for (size_t i = 0; x->r->memory && i < x->step->n_cmds && !weft_cmd_decode(words + at, x->step->n_words - at, &cmd); i++) {
		if (reads(&cmd, x->cfg->n, x->r->memory_at)) {
			x->r->memory_cmd = i;
			return;
		}
		at += (size_t)cmd.h.n_words;
	}
}

/* ---- all of it ---- */

/*
 * Loads the captured program into x->net and checks that it is a .weft container, that configuration,
 * step, memory sizes and memory profile fit it, and that the verifier accepts it; sets x->p, x->cfg,
 * x->step and the report's first_cmd. Returns 0, or -EINVAL or -ENOMEM with one line in x->msg.
 */
static int check_capture(struct replay *x)
{
	const struct weft_capture *c = x->c;

	const int err = weft_net_load(c->program, c->n_program, "captured program", &x->net, x->msg);
	if (err)
		return err == -ENOMEM ? err : -EINVAL;
	x->p = x->net->loaded;
	if (!x->p)
		return fail(x, -EINVAL, "capture: its program is not a .weft container");
	x->cfg = weft_config_find(c->config);
	if (!x->cfg || strcmp(c->config, x->p->config))
		return fail(x, -EINVAL, "capture: program and capture are of different configurations");
	if (c->step < 0 || c->step >= x->p->n_steps || x->p->steps[c->step].kind != WEFT_STEP_NPU)
		return fail(x, -EINVAL, "capture: its step is none of the program's streams");
	if (c->n_arena != x->p->arena_bytes || c->n_consts != x->p->n_consts)
		return fail(x, -EINVAL, "capture: its memory has not the program's size");
	if (c->memory > WEFT_MEMORY_SRAM)
		return fail(x, -EINVAL, "capture: its memory profile is none");
	x->step = &x->p->steps[c->step];
	x->r->first_cmd = x->step->first_cmd;
	return weft_net_verify(x->net, c->config, x->msg);
}

/* ---- the moment ---- */

/*
 * Returns the value of the report's first wrong byte, in the scratchpad or the arena, at this moment of
 * the simulation; 0 if it cannot be read.
 */
static uint8_t first_byte(const struct replay *x)
{
	uint8_t b = 0;

	if (x->r->first.in_sp)
		weft_dev_peek_sp(x->dev, (uint32_t)x->r->first.addr, 1, &b);
	else
		weft_buf_read(x->dev_arena, x->r->first.addr, &b, 1);
	return b;
}

/*
 * The simulator's callback for each sample; user is the struct replay. If the watched byte has another
 * value than in the sample before, x->changed becomes this sample's cycle; x->sampled becomes it in any
 * case. What a cycle writes is seen in the next one.
 */
static void look(void *user, const struct weft_sample *w)
{
	struct replay *x = user;
	uint8_t b = first_byte(x);

	if (b != x->byte)
		x->changed = w->cycle;
	x->byte = b;
	x->sampled = w->cycle;
}

/*
 * The simulator's callback for a command that has retired; user is the struct replay. If it is the
 * wrong one, f->cycle of the report's first difference becomes its cycle, and, if the wrong byte has
 * its wrong value now and was seen to change, f->written the cycle in which that was. Returns 0.
 */
static int note_moment(void *user, const struct weft_retire *ret)
{
	struct replay *x = user;
	struct weft_replay_place *f = &x->r->first;

	if (ret->cmd != f->cmd)
		return 0;
	f->cycle = ret->cycle;
	if (first_byte(x) == f->got && x->changed)
		f->written = ret->cycle - (x->sampled - x->changed);
	return 0;
}

/*
 * Runs the step once more on a newly opened simulator and watches the first wrong byte, to set the
 * report's cycle and, if it was seen, `written`, the cycle in which the byte was written. Closes the
 * simulator. Returns 0 or a negative errno.
 */
static int find_moment(struct replay *x)
{
	int err = open_device(x, NULL, 0, 0);

	x->byte = err ? 0 : first_byte(x);
	x->changed = x->sampled = 0;
	if (!err)
		weft_dev_sample(x->dev, look, x);
	if (!err)
		err = run_device(x, note_moment);
	close_device(x);
	return err;
}

/*
 * If options ask for a wave, a first difference is known and the device is the RTL, runs the step twice
 * more (find_moment(), then with the wave), each time on a newly opened simulator, and records the wave:
 * from wave_cycles before the wrong byte was written (before its command retired, if that is not known)
 * to as many after its command retired, or, if more than WAVE_LONGEST cycles lie between the two moments,
 * to as many after the write. The report's result becomes that of the last run. Closes the simulator.
 * Returns 0, also if nothing was to be done, or a negative errno, also that of a file that could not be written.
 */
static int record_wave(struct replay *x)
{
	const struct weft_replay_place *f = &x->r->first;
	const uint64_t n = x->o->wave_cycles;

	if (!x->o->wave || !f->found || x->o->device != WEFT_DEVICE_RTL)
		return 0;
	int err = find_moment(x);
	uint64_t from = f->written ? f->written : f->cycle, to = f->cycle;
	if (to - from > WAVE_LONGEST)
		to = from;
	if (!err)
		err = open_device(x, x->o->wave, from > n ? from - n : 0, to + n + 1);
	if (!err)
		err = run_device(x, NULL);
	if (!err && (err = weft_dev_wave_end(x->dev)))
		err = fail(x, err, weft_dev_error(x->dev));
	close_device(x);
	return err;
}

int weft_replay(const struct weft_capture *c, const struct weft_replay_options *o, struct weft_replay_report *r, char msg WEFT_ROOM(WEFT_MSG_LEN))
{
	struct replay x = { .c = c, .o = o, .r = r, .msg = msg };

	memset(r, 0, sizeof *r);
	int err = check_capture(&x);
	if (!err)
		err = correct_run(&x);
	if (!err) {
		look_in_constants(&x);
		err = simulate(&x);
	}
	if (!err) {
		believe_the_run(&x);
		look_in_memory(&x);
		if (!r->first.found)
			r->first = x.harmless;
		err = record_wave(&x);
	}
	weft_model_free(x.model);
	free(x.t.w);
	free(x.t.pool);
	free(x.t.first);
	free(x.arena);
	free(x.row);
	weft_net_free(x.net);
	return err;
}

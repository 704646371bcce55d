/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segments in processes of this machine.
 *
 * The functional model runs ahead in the parent. Where a segment begins, the parent forks: the new
 * process has program, inputs and state at once, without a file, and runs while the model goes on.
 * Golden is made after the first segment has begun, in memory that all processes share. The states at
 * the borders lie in shared memory, too, so that a process can compare its end with the state in which
 * the next one began. A process leaves what it has measured in a temporary file without a name.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <weft/file.h>

#include "segment.h"

/* How a segment ended: 0 or a negative errno, and its message. */
struct slot { int err; char msg[WEFT_MSG_LEN]; };

/* The beginning of the shared memory. */
struct shared {
	atomic_int n_states;       /* how many states are complete */
	struct slot slot[];        /* one for each segment */
};

struct weft_jobs {
	weft_session *s;           /* the session in which the model runs ahead */
	const weft_tensor *inputs; /* the network's inputs */
	const struct weft_segments *o; /* the caller's options */
	int n;                     /* number of segments */
	struct shared *shared;     /* the shared memory, `bytes` long */
	size_t bytes;
	uint8_t *states;           /* in it: scratchpad and arena at each point */
	uint8_t *outputs;          /* in it: the outputs one after another, if the last segment makes them instead of the model */
	pid_t *pid;                /* for each segment its process; 0: none, or it has ended */
	FILE **result;             /* for each segment the file with its result */
};

/* Returns the bytes of scratchpad and arena together. */
static size_t state_bytes(const weft_session *s)
{
	return s->cfg->sp_bytes + s->p->arena_bytes;
}

/* Returns the bytes of all outputs of the graph together. */
static size_t output_bytes(const weft_graph *g)
{
	size_t n = 0;

	for (int i = 0; i < g->n_outputs; i++)
		n += weft_tensor_bytes(&g->tensors[g->outputs[i]].t);
	return n;
}

/*
 * Says whether the last segment's end is not compared with the model that runs ahead, which then need
 * not run that far. It is so if the RTL is checked and there are several segments: beside it runs a
 * model that compares all memory with its own at the end of each stream, which is the same comparison.
 */
static bool last_alone(const struct weft_jobs *j)
{
	return j->n > 1 && j->o->check && j->o->device->device == WEFT_DEVICE_RTL;
}

int weft_jobs_n_states(const struct weft_jobs *j)
{
	return last_alone(j) ? j->n : j->n + 1;
}

/* Lets the session leave the state at point i in the shared memory instead of memory of its own. */
static void lend(struct weft_jobs *j, struct weft_state *st, int i)
{
	st->sp = j->states + (size_t)i * state_bytes(j->s);
	st->arena = st->sp + j->s->cfg->sp_bytes;
	st->lent = true;
}

/*
 * Kills the processes that still run, waits for them, closes result files, unmaps the shared states and
 * outputs, which s->states then must not use any more, and frees *j; NULL is fine.
 */
void weft_jobs_close(struct weft_jobs *j)
{
	if (!j)
		return;
	for (int i = 0; j->pid && i < j->n; i++) {
		if (j->pid[i] <= 0)
			continue;
		kill(j->pid[i], SIGKILL);
		waitpid(j->pid[i], NULL, 0);
	}
	for (int i = 0; j->result && i < j->n; i++)
		if (j->result[i])
			fclose(j->result[i]);
	if (j->shared)
		munmap(j->shared, j->bytes);
	free(j->pid);
	free(j->result);
	free(j);
}

/*
 * Prepares n segments as processes, of which none runs yet: shared memory for the states at their n + 1
 * borders, which s->states[0..n] use until weft_jobs_close(), and for outputs. inputs and *o are not
 * copied and have to stay until then. Returns what weft_jobs_close() frees, or NULL if there is no
 * memory.
 */
struct weft_jobs *weft_jobs_open(weft_session *s, const weft_tensor *inputs, const struct weft_segments *o, int n)
{
	struct weft_jobs *j = calloc(1, sizeof(*j));
	size_t head = (sizeof(struct shared) + (size_t)n * sizeof(struct slot) + 63) / 64 * 64;

	if (!j)
		return NULL;
	*j = (struct weft_jobs){ .s = s, .inputs = inputs, .o = o, .n = n, .bytes = head + (size_t)(n + 1) * state_bytes(s) + output_bytes(s->net->g) };
	j->pid = calloc((size_t)n + 1, sizeof(*j->pid));
	j->result = calloc((size_t)n + 1, sizeof(*j->result));
	void *p = mmap(NULL, j->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	j->shared = p == MAP_FAILED ? NULL : p;
	if (!j->pid || !j->result || !j->shared) {
		weft_jobs_close(j);
		return NULL;
	}
	j->states = (uint8_t *)p + head;
	j->outputs = j->states + (size_t)(n + 1) * state_bytes(s);
	for (int i = 0; i <= n; i++)
		lend(j, &s->states[i], i);
	return j;
}

/* ---- in the process of a segment ---- */

/* The process of segment i. */
struct child { const struct weft_jobs *j; int i; };

/*
 * Waits until the model has made the state in which the segment of *user (struct child) must end,
 * looking every millisecond. There is no time limit: the process is killed if its parent, where the
 * model runs, dies. Returns 0.
 */
static int wait_for_end(void *user, weft_session *s)
{
	const struct child *c = user;
	const struct timespec ms = { 0, 1000000 };

	(void)s;
	while (atomic_load(&c->j->shared->n_states) < c->i + 2)
		nanosleep(&ms, NULL);
	return 0;
}

/*
 * At the end of the last segment: copies the network's outputs, fetched from the device if necessary,
 * one after another into the shared memory. user is its struct child. Returns 0 or the negative errno
 * of fetching.
 */
static int leave_outputs(void *user, weft_session *s)
{
	const struct child *c = user;
	const weft_graph *g = s->net->g;
	uint8_t *to = c->j->outputs;
	int err = 0;

	for (int i = 0; i < g->n_outputs && !err; i++) {
		size_t n = weft_tensor_bytes(&g->tensors[g->outputs[i]].t);
		const weft_tensor *t = weft_session_tensor(s, g->outputs[i], &err);
		if (!err)
			memcpy(to, t->data, n);
		to += n;
	}
	return err;
}

/*
 * Says whether the stream in which segment i begins has been verified: if it begins within a step, the
 * parent's model has done so, provided that it has the same features as the segment's device.
 */
static bool is_verified(const struct weft_jobs *j, int i)
{
	return j->s->points[i].cmd && weft_config_of_model(j->s->cfg->name)->features == j->s->cfg->features;
}

/*
 * In the process of segment i: runs the segment from its state on a device of its own (device, rtl_dir,
 * plant and timeout_ms of j->o->device) and leaves errno and message in its slot and its result in its
 * file. The last segment, if it runs alone to the program's end (last_alone()), leaves the outputs
 * instead of comparing its end; all others wait for the state in which they must end.
 */
static void run_child(const struct weft_jobs *j, int i)
{
	const weft_session *s = j->s;
	struct slot *slot = &j->shared->slot[i];
	char line[WEFT_MSG_LEN];
	struct weft_net net = { .loaded = (weft_program *)(uintptr_t)s->p, .g = s->net->g };
	struct weft_segment g = { .k = (uint32_t)i, .n = (uint32_t)j->n, .memory = (uint8_t)j->o->memory, .check = j->o->check,
		.sp_bytes = s->cfg->sp_bytes, .arena_bytes = s->p->arena_bytes, .from = s->states[i] };
	struct weft_session_options o = weft_session_options_default();
	struct child c = { j, i };
	const bool alone = i == j->n - 1 && last_alone(j);

	o.device = j->o->device->device;
	o.rtl_dir = j->o->device->rtl_dir;
	o.plant = j->o->device->plant;
	o.timeout_ms = j->o->device->timeout_ms;
	lend((struct weft_jobs *)(uintptr_t)j, &g.to, i + 1);
	g.to.at = s->points[i + 1];
	struct weft_segment_part part = { .room = s->room, .verified = is_verified(j, i), .user = &c, .result = j->result[i],
		.end = alone ? leave_outputs : wait_for_end, .compare = !alone };
	slot->err = weft_segment_go(&net, &g, j->inputs, &o, &part, line, slot->msg);
}

/* ---- in the parent ---- */

/*
 * Forks the process of segment i, which is killed when its parent dies. Its slot says -EIO until it has
 * run. Returns 0, or the negative errno of making its result file or of fork(), in the parent; the
 * process itself does not return.
 */
static int start(struct weft_jobs *j, int i)
{
	pid_t parent = getpid();

	j->shared->slot[i].err = -EIO;
	j->result[i] = tmpfile();
	if (!j->result[i])
		return -errno;
	j->pid[i] = fork();
	if (j->pid[i] < 0)
		return -errno;
	if (j->pid[i])
		return 0;
	/* The process shall not live longer than its parent. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent)
		run_child(j, i);
	_exit(0);
}

/*
 * Makes the memory s->room in which golden's tensors are shared by all segments, and s->golden, its
 * tensors; only those that a comparison looks at get room. Returns 0 or -ENOMEM.
 */
static int new_room(struct weft_jobs *j)
{
	weft_session *s = j->s;
	bool *want = calloc((size_t)s->net->g->n_tensors + 1, sizeof(*want));

	if (want) {
		weft_checker_wants(s->p, want);
		s->room = weft_golden_room_new(s->net->g, want, j->n > 1);
	}
	free(want);
	s->golden = s->room ? weft_golden_room_tensors(s->room) : NULL;
	return s->room ? 0 : -ENOMEM;
}

/*
 * Computes golden's tensors, if the run is checked. Returns 0 or a negative errno with a line in the
 * session's message.
 */
static int make_golden(struct weft_jobs *j)
{
	return j->o->check ? weft_golden_room_fill(j->s->room, &j->s->vars, j->inputs, j->s->error) : 0;
}

/*
 * Makes the room for golden's tensors if the run is compared, starts the first segment, which needs no
 * state, before the model runs, and makes golden beside it. With a single segment golden is made first,
 * so that only one process works at a time. Returns 0 or a negative errno.
 */
static int start_first(struct weft_jobs *j)
{
	int err = j->o->check ? new_room(j) : 0;

	/* With one segment, only one process shall work at a time. */
	if (!err && j->n == 1)
		err = make_golden(j);
	if (!err)
		err = start(j, 0);
	if (!err && j->n > 1)
		err = make_golden(j);
	return err;
}

int weft_jobs_at(struct weft_jobs *j, int i)
{
	atomic_store(&j->shared->n_states, i + 1);
	if (i >= j->n)
		return 0;
	return i ? start(j, i) : start_first(j);
}

/*
 * Reads a segment's result, the whole file f, and adds it to the run of session s. Returns 0; -EIO or
 * -ENOMEM if it cannot be read; or as weft_segment_result_add(), with a line in msg if the result is
 * broken.
 */
static int add_result(weft_session *s, FILE *f, char *msg)
{
	long n = fseek(f, 0, SEEK_END) ? -1 : ftell(f);
	uint8_t *data = n < 0 ? NULL : malloc((size_t)n + 1);
	int err = data ? 0 : -ENOMEM;

	rewind(f);
	if (!err && fread(data, 1, (size_t)n, f) != (size_t)n)
		err = -EIO;
	if (!err)
		err = weft_segment_result_add(s, data, (size_t)n, msg);
	free(data);
	return err;
}

/*
 * Copies the outputs out of the shared memory into the session's copies on the host, in place of those
 * that it has. Returns 0 or -ENOMEM.
 */
static int take_outputs(const struct weft_jobs *j)
{
	weft_session *s = j->s;
	const weft_graph *g = s->net->g;
	const uint8_t *from = j->outputs;

	for (int i = 0; i < g->n_outputs; i++) {
		weft_tensor *t = &s->host[g->outputs[i]];
		size_t n = weft_tensor_bytes(&g->tensors[g->outputs[i]].t);
		free(t->data);
		*t = g->tensors[g->outputs[i]].t;
		t->data = malloc(n + 1);
		if (!t->data)
			return -ENOMEM;
		memcpy(t->data, from, n);
		from += n;
	}
	return 0;
}

/*
 * Keeps the worst result of all segments in *worst (0 at first), with one line in msg: that of a
 * segment that could not run comes before that of one that differs (-EBADMSG), and the first of either
 * kind stays. status is segment i's exit status; one that ended by a signal counts as -EIO, others as
 * their slot says.
 */
static void note(struct weft_jobs *j, int i, int status, int *worst, char *msg)
{
	const struct slot *slot = &j->shared->slot[i];
	int err = WIFSIGNALED(status) ? -EIO : slot->err;

	if (!err || (*worst && (*worst != -EBADMSG || err == -EBADMSG)))
		return;
	*worst = err;
	if (WIFSIGNALED(status))
		snprintf(msg, WEFT_MSG_LEN, "segment %d of %d: ended by signal %d", i + 1, j->n, WTERMSIG(status));
	else if (!strncmp(slot->msg, "segment ", 8))
		snprintf(msg, WEFT_MSG_LEN, "%s", slot->msg);
	else
		snprintf(msg, WEFT_MSG_LEN, "segment %d of %d: %.200s", i + 1, j->n, *slot->msg ? slot->msg : weft_file_error(err));
}

int weft_jobs_join(struct weft_jobs *j, char *msg)
{
	int worst = 0;

	for (int i = 0; i < j->n; i++) {
		int status = 0;
		while (waitpid(j->pid[i], &status, 0) < 0 && errno == EINTR)
			;
		j->pid[i] = 0;
		note(j, i, status, &worst, msg);
	}
	if (worst && worst != -EBADMSG)
		return worst;
	weft_session_forget_measures(j->s);
	for (int i = 0; i < j->n; i++) {
		int err = add_result(j->s, j->result[i], msg);
		if (err)
			return err;
	}
	int err = last_alone(j) ? take_outputs(j) : 0;
	return err ? err : worst;
}

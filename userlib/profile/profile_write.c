/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profile as a trace: a JSON object of the Trace Event Format with complete events (X),
 * counters (C) and names (M). Process 1 is the NPU, where a microsecond stands for a cycle; process 2 is
 * the host. On one thread (a line of the trace) events do not overlap. The totals of every unit stand
 * under "weft".
 */
#include "profile.h"
#include "userlib/files/file_out.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/file.h>

#include "weft/gen/cmd.h"

enum { NPU = 1, HOST };
#define OPERATORS 1            /* numbers of the NPU's threads: operators, */
#define UNIT_TID 10            /* the first of the units, */
#define COMMAND_TID 30         /* and the first of the units' commands */
#define LANES 64               /* threads for transfers that overlap */

/* The file, and whether no event was written yet. */
struct out { FILE *f; bool first; };

/*
 * Writes s as a JSON string with its quotes; quotes, backslashes and control characters are escaped,
 * other bytes stay.
 */
static void text(FILE *f, const char *s)
{
	putc('"', f);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c < 0x20)
			fprintf(f, "\\u%04x", c);
		else
			putc(c, f);
	}
	putc('"', f);
}

/*
 * Begins an event of kind ph ("X", "C" or "M") of a process and thread: {"ph":"X","pid":1,"tid":3. The
 * caller writes its other members and the closing brace.
 */
static void event(struct out *o, const char *ph, int pid, int tid)
{
	fprintf(o->f, "%s\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d", o->first ? "" : ",", ph, pid, tid);
	o->first = false;
}

/*
 * Writes two events that name a thread of the trace and fix its place among the process's threads, by
 * its number.
 */
static void name_thread(struct out *o, int pid, int tid, const char *name)
{
	event(o, "M", pid, tid);
	fprintf(o->f, ",\"name\":\"thread_name\",\"args\":{\"name\":");
	text(o->f, name);
	fprintf(o->f, "}}");
	event(o, "M", pid, tid);
	fprintf(o->f, ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%d}}", tid);
}

/* Writes an event that names a process of the trace. */
static void name_process(struct out *o, int pid, const char *name)
{
	event(o, "M", pid, 0);
	fprintf(o->f, ",\"name\":\"process_name\",\"args\":{\"name\":");
	text(o->f, name);
	fprintf(o->f, "}}");
}

/*
 * Begins a complete event with its name, start and duration: in cycles for the NPU, in microseconds for
 * the host. The caller writes its other members and the closing brace.
 */
static void slice(struct out *o, int pid, int tid, const char *name, double ts, double dur)
{
	event(o, "X", pid, tid);
	fprintf(o->f, ",\"name\":");
	text(o->f, name);
	fprintf(o->f, pid == NPU ? ",\"ts\":%.0f,\"dur\":%.0f" : ",\"ts\":%.3f,\"dur\":%.3f", ts, dur);
}

/* ---- the NPU ---- */

/*
 * Writes the states that occurred, with their cycles, as members of a JSON object without its braces;
 * the cycles are n[] or, if n is NULL, wide[].
 */
static void write_states(FILE *f, const uint32_t *n, const uint64_t *wide)
{
	bool first = true;

	for (unsigned i = 0; i < WEFT_PROF_STATES; i++) {
		uint64_t v = n ? n[i] : wide[i];
		if (!v)
			continue;
		fprintf(f, "%s\"%s\":%llu", first ? "" : ",", weft_profile_state(i), (unsigned long long)v);
		first = false;
	}
}

/*
 * Writes the slices of track t as events, each named by the state that most of its cycles were in, with
 * all states if there are several. Slices that are only idle are left out.
 */
static void write_track(struct out *o, const struct weft_profile *p, int t)
{
	const struct weft_prof_track *k = &p->track[t];

	for (size_t i = 0; i < k->n_s; i++) {
		const struct weft_prof_slice *s = &k->s[i];
		uint64_t all = 0;
		unsigned most = 0, kinds = 0;
		for (unsigned j = 0; j < WEFT_PROF_STATES; j++) {
			all += s->n[j];
			kinds += s->n[j] > 0;
			most = s->n[j] > s->n[most] ? j : most;
		}
		/* Slices that are only idle become gaps in the trace. */
		if (kinds == 1 && most == WEFT_DOES_IDLE)
			continue;
		slice(o, NPU, UNIT_TID + t, weft_profile_state(most), (double)s->from, (double)all);
		fprintf(o->f, ",\"cat\":\"%s\"", most == WEFT_DOES_IDLE ? "idle" : most == WEFT_DOES_BUSY ? "busy" : "stalled");
		if (kinds > 1) {
			fprintf(o->f, ",\"args\":{");
			write_states(o->f, s->n, NULL);
			fprintf(o->f, "}");
		}
		fprintf(o->f, "}");
	}
}

/*
 * Writes a counter event with the bytes read and written for each bin of time, at the bin's first
 * cycle.
 */
static void write_bytes(struct out *o, const struct weft_profile *p)
{
	for (size_t i = 0; i < p->n_bin; i++) {
		event(o, "C", NPU, 0);
		fprintf(o->f, ",\"name\":\"bytes in %llu cycles\",\"ts\":%llu,\"args\":{\"read\":%u,\"written\":%u}}",
		        (unsigned long long)p->bin_cycles, (unsigned long long)(i * p->bin_cycles), p->bin[i].rd, p->bin[i].wr);
	}
}

/*
 * Writes each window as an event on the thread of operators, with number and name of the operator whose
 * end it is, its tensor and its multiplications; "end" alone at a stream's end. Empty windows are left
 * out. r is the run's report.
 */
static void write_operators(struct out *o, const struct weft_profile *p, const struct weft_report *r)
{
	char name[160];

	for (size_t i = 0; i < p->n_win; i++) {
		const struct weft_prof_window *w = &p->win[i];
		const struct weft_op_report *e = w->entry >= 0 ? &r->ops[w->entry] : NULL;
		if (w->to == w->from)
			continue;
		if (e)
			snprintf(name, sizeof name, "%d %s", e->index, e->op);
		slice(o, NPU, OPERATORS, e ? name : "end", (double)w->from, (double)(w->to - w->from));
		if (e) {
			fprintf(o->f, ",\"args\":{\"tensor\":");
			text(o->f, e->name);
			fprintf(o->f, ",\"macs\":%llu}", (unsigned long long)e->macs);
		}
		fprintf(o->f, "}");
	}
}

/* For qsort(): compares two commands by the cycle of their retirement. */
static int by_time(const void *a, const void *b)
{
	const struct weft_prof_cmd *x = a, *y = b;

	return x->to < y->to ? -1 : x->to > y->to;
}

/* Where a command of the program begins in the session's words, and its unit. */
struct placed { size_t word; unsigned unit; };

/*
 * Returns, for each command of the program, where it begins in the session's words, and its unit; zeros for
 * one that cannot be decoded and those behind it in its step. From calloc; the caller frees it. NULL: out of
 * memory.
 */
static struct placed *place_commands(const struct weft_profile *p)
{
	const weft_program *prog = p->s->p;
	const uint64_t *words = weft_session_words(p->s);
	struct placed *all = calloc((size_t)prog->n_cmds + 1, sizeof *all);

	for (int i = 0; all && i < prog->n_steps; i++) {
		const struct weft_step *s = &prog->steps[i];
		struct weft_cmd c;
		size_t at = 0;
		for (uint32_t k = 0; s->kind == WEFT_STEP_NPU && k < s->n_cmds; k++) {
			if (weft_cmd_decode(words + s->first_word + at, s->n_words - at, &c))
				break;
			all[s->first_cmd + k] = (struct placed){ s->first_word + at, weft_cmd_info((unsigned)c.h.op)->unit };
			at += (size_t)c.h.n_words;
		}
	}
	return all;
}

/*
 * Sorts p->cmd by the cycle of retirement and writes each command as an event on its unit's thread,
 * from when it was issued and the unit free for it to its retirement, with step, number, operator (its
 * index in the network's file; -1: it works for none), time of issue and disassembly. Commands that cannot
 * be decoded are left out. Returns 0 or -ENOMEM.
 */
static int write_commands(struct out *o, const struct weft_profile *p)
{
	const weft_program *prog = p->s->p;
	struct placed *place = place_commands(p);
	char line[512];

	if (!place)
		return -ENOMEM;
	if (p->n_cmd)
		qsort(p->cmd, p->n_cmd, sizeof *p->cmd, by_time);
	for (size_t i = 0; i < p->n_cmd; i++) {
		const struct weft_prof_cmd *k = &p->cmd[i];
		uint32_t whole = prog->steps[k->step].first_cmd + k->cmd;
		struct weft_cmd c;
		if (weft_cmd_decode(weft_session_words(p->s) + place[whole].word, WEFT_CMD_MAX_WORDS, &c))
			continue;
		slice(o, NPU, COMMAND_TID + (int)place[whole].unit, weft_cmd_info((unsigned)c.h.op)->name, (double)k->from,
		      (double)(k->to - k->from));
		int op = prog->cmds[whole].op;
		weft_cmd_print(&c, line, sizeof line);
		fprintf(o->f, ",\"args\":{\"step\":%d,\"cmd\":%u,\"op\":%d,\"issued\":%llu,\"fields\":", k->step, k->cmd,
		        weft_graph_src_of(prog->graph, op)->index, (unsigned long long)k->issued);
		text(o->f, line);
		fprintf(o->f, "}}");
	}
	free(place);
	return 0;
}

/*
 * Writes the NPU's process: names of its threads (those of measured units, and of commands only if each
 * cycle was watched), operators, units, bytes, commands. r is the run's report. Returns 0 or -ENOMEM.
 */
static int write_npu(struct out *o, const struct weft_profile *p, const struct weft_report *r)
{
	static const char *const commands[] = { "LD commands", "ST commands", "CV commands", "VE commands" };

	name_process(o, NPU, p->by_cycle ? "NPU, by cycle (1 us is 1 cycle)" : "NPU, by counters (1 us is 1 cycle)");
	name_thread(o, NPU, OPERATORS, "operators");
	for (int t = 0; t < WEFT_N_TRACKS; t++)
		if (p->track[t].measured)
			name_thread(o, NPU, UNIT_TID + t, weft_track_name((unsigned)t));
	for (int u = 0; p->by_cycle && u < WEFT_N_UNITS; u++)
		name_thread(o, NPU, COMMAND_TID + u, commands[u]);
	write_operators(o, p, r);
	for (int t = 0; t < WEFT_N_TRACKS; t++)
		if (p->track[t].measured)
			write_track(o, p, t);
	write_bytes(o, p);
	return write_commands(o, p);
}

/* ---- the host ---- */

/* For qsort(): compares two spans by their start. */
static int by_start(const void *a, const void *b)
{
	const struct weft_prof_span *x = a, *y = b;

	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

/*
 * Sorts the spans of host time and writes the host's process: operators that the host ran, jobs, and
 * transfers, each on the first of LANES threads that is free at that time (left out if none is).
 */
static void write_host(struct out *o, const struct weft_profile *p)
{
	uint64_t busy[LANES] = { 0 };
	int lanes = 0;
	char name[32];

	name_process(o, HOST, "host (us since the run began)");
	name_thread(o, HOST, 1, "host operators");
	name_thread(o, HOST, 2, "jobs");
	if (p->n_span)
		qsort(p->span, p->n_span, sizeof *p->span, by_start);
	for (size_t i = 0; i < p->n_span; i++) {
		const struct weft_prof_span *s = &p->span[i];
		int tid = 1 + s->lane, k = 0;
		if (s->lane == WEFT_LANE_LINK) {
			while (k < LANES - 1 && busy[k] > s->from_ns)
				k++;
			/* More transfers overlap than there are threads for them: this one is left out. */
			if (busy[k] > s->from_ns)
				continue;
			busy[k] = s->to_ns;
			tid = 10 + k;
			lanes = k >= lanes ? k + 1 : lanes;
		}
		slice(o, HOST, tid, s->name, (double)s->from_ns * 1e-3, (double)(s->to_ns - s->from_ns) * 1e-3);
		if (s->bytes)
			fprintf(o->f, ",\"args\":{\"bytes\":%llu}", (unsigned long long)s->bytes);
		fprintf(o->f, "}");
	}
	for (int k = 0; k < lanes; k++) {
		snprintf(name, sizeof name, "USB %d", k + 1);
		name_thread(o, HOST, 10 + k, name);
	}
}

/* ---- the file ---- */

/*
 * Writes the member "weft" of the trace: configuration, cycles, grain, and the total cycles of each
 * measured unit in each state, for tests and scripts.
 */
static void write_totals(FILE *f, const struct weft_profile *p)
{
	fprintf(f, "\"weft\":{\"config\":\"%s\",\"cycles\":%llu,\"grain\":%llu,\"units\":{", p->s->cfg->name, (unsigned long long)p->cycles,
	        (unsigned long long)p->grain);
	for (int t = 0, any = 0; t < WEFT_N_TRACKS; t++) {
		if (!p->track[t].measured)
			continue;
		fprintf(f, "%s\n\"%s\":{", any++ ? "," : "", weft_track_name((unsigned)t));
		write_states(f, NULL, p->track[t].total);
		fprintf(f, "}");
	}
	fprintf(f, "}}");
}

/*
 * Writes the profile to the file `path`, which replaces an older one only when it is complete, as JSON
 * in the Trace Event Format, with the totals in front. Lists of p are sorted. Returns 0; -ENOMEM; or
 * another negative errno of the file; with one line in msg (WEFT_MSG_LEN bytes).
 */
int weft_profile_write(const struct weft_profile *p, const char *path, char *msg)
{
	struct weft_report *r = weft_report_new(p->s);
	struct weft_file_out file = { 0 };
	struct out o = { NULL, true };
	int err = r ? weft_file_create(path, &file) : -ENOMEM;

	if (!err) {
		o.f = file.f;
		fprintf(o.f, "{\"displayTimeUnit\":\"ns\",");
		write_totals(o.f, p);
		fprintf(o.f, ",\n\"traceEvents\":[");
		err = write_npu(&o, p, r);
		write_host(&o, p);
		fprintf(o.f, "\n]}\n");
		err = weft_file_finish(&file, err);
	}
	weft_report_free(r);
	if (err)
		snprintf(msg, WEFT_MSG_LEN, "%.200s: %s", path, weft_file_error(err));
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/clock.h"
#include "weft/gen/cmd.h"

/* By default the grain grows by a cycle for each 2^SLICES cycles that the run is expected to take. */
#define SLICES 17
#define MIX_GRAINS 16          /* states shorter than the grain are collected in slices of so many grains */
#define BIN_CYCLES 64          /* cycles of a bin of bytes, for a grain of 1 */
#define FIRST_WORD 6           /* cycles from a command's issue to its first word in the array, hw/feed */

/* The tracks that are units with commands, and these units. */
static const struct { enum weft_track track; unsigned unit; } units[] = {
	{ WEFT_TRACK_LD, WEFT_UNIT_LD }, { WEFT_TRACK_ST, WEFT_UNIT_ST }, { WEFT_TRACK_CV, WEFT_UNIT_CV }, { WEFT_TRACK_VE, WEFT_UNIT_VE },
};

const char *weft_profile_state(unsigned state)
{
	static const char *const waits[] = { "waits for LD", "waits for ST", "waits for CV", "waits for VE" };

	return state < WEFT_PROF_WAIT_UNIT ? weft_does_text(state) : state < WEFT_PROF_STATES ? waits[state - WEFT_PROF_WAIT_UNIT] : "?";
}

/*
 * Appends one element of `size` bytes, all zeros, to the array *a of *n elements with room for *cap,
 * which is doubled (from 256) if it is full, and returns it. NULL, without a change, if there is no
 * memory.
 */
static void *more(void **a, size_t *n, size_t *cap, size_t size)
{
	if (*n == *cap) {
		size_t want = *cap ? 2 * *cap : 256;
		void *q = realloc(*a, want * size);
		if (!q)
			return NULL;
		*a = q;
		*cap = want;
	}
	void *e = (char *)*a + (*n)++ * size;
	memset(e, 0, size);
	return e;
}

#define MORE(p, list) more((void **)&(p)->list, &(p)->n_##list, &(p)->cap_##list, sizeof *(p)->list)

struct weft_profile *weft_profile_new(const weft_session *s)
{
	struct weft_profile *p = calloc(1, sizeof *p);
	uint64_t expected = 0;

	if (!p)
		return NULL;
	p->s = s;
	p->begin_ns = weft_now_ns();
	p->by_cycle = s->o.device == WEFT_DEVICE_RTL;
	p->entry = weft_report_entries(s->p, &p->n_entries);
	p->work = calloc((size_t)p->n_entries + 1, sizeof *p->work);
	p->left = calloc((size_t)p->n_entries + 1, sizeof *p->left);
	for (int i = 0; i < s->p->n_steps; i++)
		expected += s->p->steps[i].estimate[s->o.memory];
	p->grain = s->o.profile_grain ? s->o.profile_grain : 1 + (expected >> SLICES);
	p->bin_cycles = BIN_CYCLES * p->grain;
	for (int t = 0; t < WEFT_N_TRACKS; t++)
		p->track[t].measured = p->by_cycle || (s->o.device == WEFT_DEVICE_USB && t >= WEFT_TRACK_LD && t <= WEFT_TRACK_VE);
	if (p->entry && p->work && p->left)
		return p;
	weft_profile_free(p);
	return NULL;
}

/* Frees the lists of the current step's commands for each unit and sets them to NULL. */
static void free_queues(struct weft_profile *p)
{
	for (unsigned u = 0; u < WEFT_N_UNITS; u++) {
		free(p->queue[u]);
		free(p->waits[u]);
		free(p->issued_at[u]);
		p->queue[u] = NULL;
		p->waits[u] = p->issued_at[u] = NULL;
	}
}

/* Frees a profile; NULL is fine. */
void weft_profile_free(struct weft_profile *p)
{
	if (!p)
		return;
	free_queues(p);
	for (int t = 0; t < WEFT_N_TRACKS; t++)
		free(p->track[t].s);
	free(p->entry);
	free(p->work);
	free(p->left);
	free(p->win);
	free(p->cmd);
	free(p->span);
	free(p->bin);
	free(p);
}

/* ---- slices ---- */

/* Appends a copy of slice s to a track. If there is no memory, p->err becomes -ENOMEM. */
static void put_slice(struct weft_profile *p, struct weft_prof_track *t, const struct weft_prof_slice *s)
{
	struct weft_prof_slice *e = MORE(t, s);

	if (e)
		*e = *s;
	else
		p->err = -ENOMEM;
}

/*
 * Makes a slice of the short runs that the track has collected, if there are any, and starts collecting
 * anew.
 */
static void end_mix(struct weft_profile *p, struct weft_prof_track *t)
{
	if (t->mixed)
		put_slice(p, t, &t->mix);
	memset(&t->mix, 0, sizeof t->mix);
	t->mixed = 0;
}

/*
 * Ends the run of cycles in which the track was in t->state, at cycle `at` (the first that is not part
 * of it), and sets t->run to 0. The run is added to the track's totals. A run of at least the profile's
 * grain becomes a slice; the short runs that were collected before it become a slice first. A shorter run
 * joins the collected ones, and these become a slice when they have MIX_GRAINS grains together. If
 * memory is out, p->err becomes -ENOMEM.
 */
static void end_run(struct weft_profile *p, struct weft_prof_track *t, uint64_t at)
{
	struct weft_prof_slice s = { .from = at - t->run };

	t->total[t->state] += t->run;
	if (t->run >= p->grain) {
		end_mix(p, t);
		s.n[t->state] = (uint32_t)t->run;
		if (t->run)
			put_slice(p, t, &s);
	} else if (t->run) {
		if (!t->mixed)
			t->mix.from = s.from;
		t->mix.n[t->state] += (uint32_t)t->run;
		t->mixed += t->run;
		if (t->mixed >= MIX_GRAINS * p->grain)
			end_mix(p, t);
	}
	t->run = 0;
}

/*
 * Notes that a track is in this state in cycle `at`: the current run of equal states grows by a cycle,
 * or, if it was another state or the run has UINT32_MAX cycles, it ends (end_run) and a new one begins.
 */
static void set_state(struct weft_profile *p, struct weft_prof_track *t, unsigned state, uint64_t at)
{
	if (state != t->state || t->run == UINT32_MAX) {
		end_run(p, t, at);
		t->state = state;
	}
	t->run++;
}

/* ---- a stream ---- */

/*
 * Returns the entry in the report of the operator for which command cmd of the current step works; -1
 * if it works for none.
 */
static int entry_of(const struct weft_profile *p, uint32_t cmd)
{
	int op = p->s->p->cmds[p->s->p->steps[p->step].first_cmd + cmd].op;

	return op >= 0 ? p->entry[op] : -1;
}

/*
 * Lists the commands of a step for each unit, in order, with what each waits for, resets the counts of
 * issued and retired commands, and adds to p->left, for each entry of the report, its commands but
 * loads. What cannot be decoded ends the list. Returns 0 or -ENOMEM; free_queues() frees the lists in
 * each case.
 */
static int queue_commands(struct weft_profile *p, const struct weft_step *step)
{
	const uint64_t *w = weft_session_words(p->s) + step->first_word;
	struct weft_cmd c;
	size_t at = 0;

	for (unsigned u = 0; u < WEFT_N_UNITS; u++) {
		p->queue[u] = calloc(step->n_cmds + 1u, sizeof *p->queue[u]);
		p->waits[u] = calloc(step->n_cmds + 1u, sizeof *p->waits[u]);
		p->issued_at[u] = calloc(step->n_cmds + 1u, sizeof *p->issued_at[u]);
		if (!p->queue[u] || !p->waits[u] || !p->issued_at[u])
			return -ENOMEM;
		p->n_queue[u] = p->issued[u] = p->retired[u] = 0;
		p->free_at[u] = p->cycles;
	}
	for (uint32_t i = 0; i < step->n_cmds && !weft_cmd_decode(w + at, step->n_words - at, &c); i++) {
		unsigned u = weft_cmd_info((unsigned)c.h.op)->unit;
		at += (size_t)c.h.n_words;
		if (u >= WEFT_N_UNITS)
			continue;
		for (int k = 0; k < WEFT_N_UNITS; k++)
			p->waits[u][p->n_queue[u]] |= (uint64_t)(uint16_t)c.h.wait[k] << (16 * k);
		p->queue[u][p->n_queue[u]++] = i;
		int e = entry_of(p, i);
		if (e >= 0 && u != WEFT_UNIT_LD)
			p->left[e]++;
	}
	return 0;
}

int weft_profile_begin(struct weft_profile *p, int step)
{
	free_queues(p);
	memset(p->left, 0, ((size_t)p->n_entries + 1) * sizeof *p->left);
	p->step = step;
	memset(&p->now, 0, sizeof p->now);
	p->now.from = p->cycles;
	return queue_commands(p, &p->s->p->steps[step]);
}

/*
 * Ends the current window, the cycles from one operator's end to the next one's, at cycle `to`: it is
 * kept as that of `entry` (-1: the stream's end), and the next one begins there. If there is no memory,
 * p->err becomes -ENOMEM, and the window goes on.
 */
static void end_window(struct weft_profile *p, int entry, uint64_t to)
{
	struct weft_prof_window *w = MORE(p, win);

	if (!w) {
		p->err = -ENOMEM;
		return;
	}
	*w = p->now;
	w->entry = entry;
	w->to = to;
	memset(&p->now, 0, sizeof p->now);
	p->now.from = to;
}

/*
 * Returns, as a state (WEFT_PROF_WAIT_UNIT + its number), the first unit for whose commands unit u's
 * next command that has not been issued still waits; WEFT_DOES_WAIT_COMMAND if it waits for none or
 * there is no next command.
 */
static unsigned waits_for(const struct weft_profile *p, unsigned u)
{
	if (p->issued[u] >= p->n_queue[u])
		return WEFT_DOES_WAIT_COMMAND;
	for (unsigned k = 0; k < WEFT_N_UNITS; k++)
		if ((p->waits[u][p->issued[u]] >> (16 * k) & 0xffff) > p->retired[k])
			return WEFT_PROF_WAIT_UNIT + k;
	return WEFT_DOES_WAIT_COMMAND;
}

/*
 * Notes that unit u has retired its oldest command by cycle `at`: keeps when it was issued, when the
 * unit was free for it, and `at`, and ends the window of its operator's entry if this was the last
 * command of that in the step but loads. Does nothing if the unit has no command left. If there is no
 * memory, p->err becomes -ENOMEM.
 */
static void retire(struct weft_profile *p, unsigned u, uint64_t at)
{
	if (p->retired[u] >= p->n_queue[u])
		return;
	uint32_t k = p->retired[u]++;
	struct weft_prof_cmd *c = MORE(p, cmd);
	int e = entry_of(p, p->queue[u][k]);

	if (!c) {
		p->err = -ENOMEM;
		return;
	}
	c->step = p->step;
	c->cmd = p->queue[u][k];
	c->issued = p->issued_at[u][k];
	c->from = c->issued > p->free_at[u] ? c->issued : p->free_at[u];
	c->to = p->free_at[u] = at;
	if (e >= 0 && u != WEFT_UNIT_LD && !--p->left[e])
		end_window(p, e, at);
}

/*
 * Returns the place in unit u's list of the command for which the unit works in cycle `at`: its oldest
 * one that has not retired. The array, which takes the words of one command while earlier ones still
 * pass through it, works for the last command issued, or for the one before until FIRST_WORD cycles
 * after that.
 */
static uint32_t worker(const struct weft_profile *p, unsigned u, uint64_t at)
{
	uint32_t k = p->issued[u];

	if (u != WEFT_UNIT_CV || k <= p->retired[u])
		return p->retired[u];
	return k > p->retired[u] + 1 && at < p->issued_at[u][k - 1] + FIRST_WORD ? k - 2 : k - 1;
}

/*
 * Adds one sampled cycle, `at`, to the busy cycles of those entries whose commands the busy units are
 * running, and the bytes read and written in it to those of the load and the store.
 */
static void count_work(struct weft_profile *p, const struct weft_sample *w, uint64_t at)
{
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		unsigned u = units[i].unit;
		if (w->state[units[i].track] != WEFT_DOES_BUSY || p->retired[u] >= p->n_queue[u])
			continue;
		int e = entry_of(p, p->queue[u][worker(p, u, at)]);
		if (e < 0)
			continue;
		p->work[e].busy[u]++;
		if (u == WEFT_UNIT_LD)
			p->work[e].rd_bytes += w->rd_bytes;
		if (u == WEFT_UNIT_ST)
			p->work[e].wr_bytes += w->wr_bytes;
	}
}

/*
 * Adds the bytes that crossed the bus in cycle `at` to the bin of that time, p->bin[at /
 * p->bin_cycles], which is made with all before it if it is not there. Nothing if there are none. If
 * there is no memory, p->err becomes -ENOMEM.
 */
static void count_bytes(struct weft_profile *p, const struct weft_sample *w, uint64_t at)
{
	if (!w->rd_bytes && !w->wr_bytes)
		return;
	while (p->n_bin <= at / p->bin_cycles) {
		if (!MORE(p, bin)) {
			p->err = -ENOMEM;
			return;
		}
	}
	p->bin[at / p->bin_cycles].rd += w->rd_bytes;
	p->bin[at / p->bin_cycles].wr += w->wr_bytes;
}

/*
 * Takes one sampled cycle of the simulator, which calls it, counted from the stream's beginning: states
 * of all units (a unit without a command gets the unit for which it waits), their share in the current
 * window, commands issued and retired, work and bytes. user is the profile. Does nothing after a
 * failure (p->err).
 */
void weft_profile_sample(void *user, const struct weft_sample *w)
{
	struct weft_profile *p = user;
	uint64_t at = p->cycles + w->cycle;

	if (p->err)
		return;
	for (int t = 0; t < WEFT_N_TRACKS; t++) {
		unsigned state = w->state[t];
		if (state == WEFT_DOES_WAIT_COMMAND && t >= WEFT_TRACK_LD && t <= WEFT_TRACK_VE)
			state = waits_for(p, units[t - WEFT_TRACK_LD].unit);
		set_state(p, &p->track[t], state, at);
		p->now.n[t][state]++;
	}
	count_work(p, w, at);
	count_bytes(p, w, at);
	for (unsigned u = 0; u < WEFT_N_UNITS; u++)
		if (w->issued >> u & 1 && p->issued[u] < p->n_queue[u])
			p->issued_at[u][p->issued[u]++] = at;
	p->now.to = at + 1;
	for (unsigned u = 0; u < WEFT_N_UNITS; u++)
		if (w->retired >> u & 1)
			retire(p, u, at + 1);
}

/* ---- by counters ---- */

/*
 * Divides the `cycles` cycles of the current window of one track among states: parts[i] cycles go to
 * states[i], for the n of them in order, until none are left, and the rest counts as idle. If counters
 * overlap, so that their sum exceeds the window, the later ones lose the excess. The result becomes the
 * window's share of that track, is added to the track's totals and, unless the window is empty, becomes
 * a slice.
 */
static void spread(struct weft_profile *p, enum weft_track track, const uint32_t *parts, const unsigned *states, int n, uint64_t cycles)
{
	struct weft_prof_track *t = &p->track[track];
	struct weft_prof_slice s = { .from = p->now.from };
	uint64_t left = cycles;

	for (int i = 0; i < n; i++) {
		uint64_t k = parts[i] < left ? parts[i] : left;
		s.n[states[i]] += (uint32_t)k;
		left -= k;
	}
	s.n[WEFT_DOES_IDLE] += (uint32_t)left;
	for (int i = 0; i < WEFT_PROF_STATES; i++) {
		t->total[i] += s.n[i];
		p->now.n[track][i] = s.n[i];
	}
	if (cycles)
		put_slice(p, t, &s);
}

int weft_profile_window(struct weft_profile *p, int entry, const struct weft_counters *c)
{
	const unsigned busy[] = { WEFT_DOES_BUSY };
	const unsigned array[] = { WEFT_DOES_WAIT_POST, WEFT_DOES_WAIT_ACT, WEFT_DOES_WAIT_WGT, WEFT_DOES_BUSY };
	uint32_t waits = c->cv_stall_post + c->cv_stall_act + c->cv_stall_wgt;
	const uint32_t cv[] = { c->cv_stall_post, c->cv_stall_act, c->cv_stall_wgt, c->cv_busy > waits ? c->cv_busy - waits : 0 };

	spread(p, WEFT_TRACK_LD, &c->ld_busy, busy, 1, c->cycles);
	spread(p, WEFT_TRACK_ST, &c->st_busy, busy, 1, c->cycles);
	spread(p, WEFT_TRACK_CV, cv, array, 4, c->cycles);
	spread(p, WEFT_TRACK_VE, &c->ve_busy, busy, 1, c->cycles);
	if (entry >= 0) {
		struct weft_prof_work *w = &p->work[entry];
		w->busy[WEFT_UNIT_CV] += cv[3];
		w->busy[WEFT_UNIT_VE] += c->ve_busy;
		w->rd_bytes += c->rd_bytes;
		w->wr_bytes += c->wr_bytes;
	}
	p->cycles = p->now.from + c->cycles;
	end_window(p, entry, p->cycles);
	return p->err;
}

int weft_profile_end(struct weft_profile *p, const struct weft_counters *counters)
{
	if (counters)
		return weft_profile_window(p, -1, counters);
	uint64_t end = p->now.to > p->now.from ? p->now.to : p->now.from;
	for (int t = 0; t < WEFT_N_TRACKS; t++) {
		end_run(p, &p->track[t], end);
		end_mix(p, &p->track[t]);
	}
	if (end > p->now.from)
		end_window(p, -1, end);
	p->cycles = end;
	return p->err;
}

/* ---- the host's clock ---- */

/*
 * Adds a span of host time that began at from_ns (weft_now_ns(); before the profile's beginning: there)
 * and ends now: what it is (lane), its name, cut to 79 characters, and the bytes moved. Returns 0 or
 * -ENOMEM.
 */
int weft_profile_span(struct weft_profile *p, enum weft_prof_lane lane, const char *name, uint64_t from_ns, uint64_t bytes)
{
	struct weft_prof_span *s = MORE(p, span);

	if (!s)
		return -ENOMEM;
	s->lane = lane;
	snprintf(s->name, sizeof s->name, "%s", name);
	s->from_ns = from_ns > p->begin_ns ? from_ns - p->begin_ns : 0;
	s->to_ns = weft_now_ns() - p->begin_ns;
	s->bytes = bytes;
	return 0;
}

void weft_profile_transfer(void *user, const struct weft_transfer *t)
{
	struct weft_profile *p = user;

	if (weft_profile_span(p, WEFT_LANE_LINK, t->what, t->from_ns, t->bytes))
		p->err = -ENOMEM;
}

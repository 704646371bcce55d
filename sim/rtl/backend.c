/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backend: the Verilated RTL, loaded from weft-rtl-<config>.so, driven through
 * its registers as silicon is.
 */
#define _GNU_SOURCE
#include "driver/backend.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/cosim/cosim.h"
#include "sim/rtl/rtl.h"
#include "weft/gen/cmd.h"
#include "weft/gen/regs.h"

/* Cycles without any retirement after which the device counts as hung. No
 * command takes longer: the verifier bounds its work. */
#define HANG_CYCLES (1ull << 26)
#define RESET_CYCLES 100000

/* Cycles that a job gets at a time: some 10 ms. */
#define STEP_CYCLES 10000

/* The stream's commands by unit, so that a retirement pulse finds its command. */
struct index {
	uint32_t *cmd[WEFT_N_UNITS];
	uint32_t n[WEFT_N_UNITS], at[WEFT_N_UNITS];
};

/* First pass of a windowed waveform: finds the cycle in which the command retires. */
struct finder { size_t cmd; uint64_t cycle; };

/* A job under way. */
struct run {
	bool on, started;          /* the stream itself, or its first pass */
	struct index x;
	uint64_t base[WEFT_N_WINDOWS];         /* addresses of the windows */
	struct weft_cosim *cosim;
	bool finding;              /* in the first pass */
	struct finder finder;
	uint8_t *saved[WEFT_N_WINDOWS];        /* what the windows held before it */
	uint64_t wave_from, wave_to;           /* cycles since start; wave_to UINT64_MAX: never, what comes
	                                        * behind the stream goes into the same file */
	uint64_t begin, idle;      /* cycles: its start; without a retirement */
};

struct state {
	const struct weft_config *cfg;
	void *lib;
	const struct weft_rtl_api *api;
	struct weft_rtl *rtl;
	bool want_cosim;
	bool used;                 /* since it was reset: the next job resets it */
	char *wave;
	int64_t wave_cmd;          /* -1: not around a command */
	int64_t wave_here;         /* the same, of the next stream: -1: that is not recorded */
	bool waving;               /* the file is open */
	int wave_err;              /* why it could not be written; it is not tried again then */
	uint64_t wave_cycles, wave_from, wave_to;
	uint64_t hang_cycles;
	uint64_t n_jobs;           /* that were begun */
	weft_sampler *sampler;
	void *sampler_user;
	struct weft_cosim_diff diff;
	struct weft_fault_point *points;
	uint32_t n_points;
	struct run run;
};

static uint32_t rd(struct state *s, uint32_t reg)
{
	return s->api->reg_read(s->rtl, reg);
}

static void wr(struct state *s, uint32_t reg, uint32_t value)
{
	s->api->reg_write(s->rtl, reg, value);
}

/* ---- opening ---- */

static void *try_dir(const char *dir, size_t dir_len, const char *sub, const char *config)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%.*s/%sweft-rtl-%s.so", (int)dir_len, dir, sub, config);

	if (n < 0 || (size_t)n >= sizeof(path) || access(path, R_OK))
		return NULL;
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *try_beside(const char *file, const char *config)
{
	const char *slash = strrchr(file, '/');
	size_t len = slash ? (size_t)(slash - file) : 0;
	void *lib = NULL;

	if (slash && !(lib = try_dir(file, len, "rtl/", config)) &&
	    !(lib = try_dir(file, len, "", config)) &&
	    !(lib = try_dir(file, len, "weft/", config)) &&
	    !(lib = try_dir(file, len, "../weft/", config)))
		lib = try_dir(file, len, "../lib/weft/", config);
	return lib;
}

static void *find_lib(const char *dir, const char *config)
{
	char exe[PATH_MAX];
	Dl_info info;
	void *lib = NULL;

	if (dir)
		return try_dir(dir, strlen(dir), "", config);
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	if (n > 0) {
		exe[n] = '\0';
		lib = try_beside(exe, config);
	}
	if (!lib && dladdr((void *)(uintptr_t)&find_lib, &info) && info.dli_fname)
		lib = try_beside(info.dli_fname, config);
	return lib;
}

static int check_device(struct state *s, char *msg)
{
	uint32_t version = rd(s, WEFT_REG_VERSION) >> WEFT_REG_VERSION_MAJOR_LSB;
	uint32_t config = rd(s, WEFT_REG_CONFIG), features = rd(s, WEFT_REG_FEATURES);

	if (version != WEFT_HW_MAJOR) {
		snprintf(msg, WEFT_DEV_MSG, "rtl: device has command version %u, driver %u", version, WEFT_HW_MAJOR);
		return -EPROTO;
	}
	if (config != s->cfg->reg_config || features != s->cfg->features) {
		snprintf(msg, WEFT_DEV_MSG, "rtl: device has configuration 0x%08x, features 0x%x; %s is 0x%08x, 0x%x",
		         config, features, s->cfg->name, s->cfg->reg_config, s->cfg->features);
		return -EPROTO;
	}
	return 0;
}

static void end_run(struct state *s);

static void rtl_close(void *state)
{
	struct state *s = state;

	end_run(s);
	if (s->rtl)
		s->api->close(s->rtl);
	/* The library stays loaded: Verilator's runtime does not survive unloading. */
	free(s->wave);
	free(s->points);
	free(s);
}

static int load(struct state *s, const struct weft_dev_options *o, char *msg)
{
	const bool slow = o->wave || o->samples;
	char name[32];

	snprintf(name, sizeof(name), "%s%s", s->cfg->name, slow ? "-wave" : "");
	s->lib = find_lib(o->rtl_dir, name);
	if (!s->lib) {
		const char *why = dlerror();
		snprintf(msg, WEFT_DEV_MSG, "rtl: weft-rtl-%s.so cannot be loaded (%s); build it with: make sim CONFIGS=%s%s%s",
		         name, why ? why : "not found", s->cfg->name, slow ? " WAVES=" : "", slow ? s->cfg->name : "");
		return -ENOENT;
	}
	const struct weft_rtl_api *(*get)(void);
	*(void **)&get = dlsym(s->lib, "weft_rtl_api");
	s->api = get ? get() : NULL;
	if (!s->api || s->api->version != WEFT_RTL_API_VERSION) {
		snprintf(msg, WEFT_DEV_MSG, "rtl: weft-rtl-%s.so is of another build; run make sim", name);
		return -EPROTO;
	}
	s->rtl = s->api->open(o->memory == WEFT_MEMORY_SRAM ? WEFT_RTL_SRAM : WEFT_RTL_DDR, o->all_clocks);
	return s->rtl ? check_device(s, msg) : -ENOMEM;
}

/* Before a long run, not behind it. */
static int try_wave(const char *path, char *msg)
{
	const bool there = !access(path, F_OK);
	struct stat st;

	/* What writes waveforms unlinks what is there: a device node would be gone. */
	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		snprintf(msg, WEFT_DEV_MSG, "rtl: %.200s: not a regular file, which a waveform needs", path);
		return -EINVAL;
	}
	FILE *f = fopen(path, "ab");
	if (!f) {
		snprintf(msg, WEFT_DEV_MSG, "rtl: %.200s: %s", path, strerror(errno));
		return -EINVAL;
	}
	fclose(f);
	if (!there)
		remove(path);
	return 0;
}

static int rtl_open(const struct weft_dev_options *o, const struct weft_config *cfg, void **out, char *msg)
{
	struct state *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->cfg = cfg;
	s->want_cosim = o->cosim;
	s->wave = o->wave ? strdup(o->wave) : NULL;
	s->wave_cmd = s->wave_here = o->wave_cmd;
	s->wave_cycles = o->wave_cycles;
	s->wave_from = o->wave_from;
	s->wave_to = o->wave_to;
	s->hang_cycles = o->hang_cycles ? o->hang_cycles : HANG_CYCLES;
	int err = o->wave && !s->wave ? -ENOMEM : load(s, o, msg);
	if (!err && s->wave)
		err = try_wave(s->wave, msg);
	if (err) {
		rtl_close(s);
		return err;
	}
	*out = s;
	return 0;
}

/* ---- running ---- */

/*
 * Chooses addresses for the windows of the next job: others than the job before had, in all of the 40 bits, and
 * each window in an eighth of them. They are multiples of 4 KiB, so that the same stream takes the same cycles
 * wherever its windows lie.
 */
static void place_windows(struct state *s)
{
	uint64_t r = ++s->n_jobs * UINT64_C(0x9e3779b97f4a7c15);

	for (unsigned i = 0; i < WEFT_N_WINDOWS; i++) {
		r ^= r >> 29;
		r *= UINT64_C(0xbf58476d1ce4e5b9);
		s->run.base[i] = ((i + s->n_jobs) % WEFT_N_WINDOWS << 37) + (r >> 28 & ~UINT64_C(4095));
	}
}

static int index_stream(struct index *x, const uint64_t *words, size_t n_words)
{
	struct weft_cmd c;

	memset(x, 0, sizeof(*x));
	for (unsigned u = 0; u < WEFT_N_UNITS; u++) {
		x->cmd[u] = malloc((n_words / 2 + 1) * sizeof(uint32_t));
		if (!x->cmd[u])
			return -ENOMEM;
	}
	uint32_t i = 0;
	for (size_t w = 0; w < n_words && !weft_cmd_decode(words + w, n_words - w, &c); w += (size_t)c.h.n_words) {
		unsigned u = weft_cmd_info((unsigned)c.h.op)->unit;
		if (u < WEFT_N_UNITS)
			x->cmd[u][x->n[u]++] = i;
		i++;
	}
	return 0;
}

static void index_free(struct index *x)
{
	for (unsigned u = 0; u < WEFT_N_UNITS; u++)
		free(x->cmd[u]);
}

static int open_windows(struct state *s, const struct weft_backend_job *job, char *msg)
{
	place_windows(s);
	for (unsigned i = 0; i < WEFT_N_WINDOWS; i++) {
		const struct weft_backend_window *w = &job->win[i];
		uint64_t base = s->run.base[i];

		if (w->len > UINT32_MAX) {
			snprintf(msg, WEFT_DEV_MSG, "rtl: window %u: %llu bytes > %u", i,
			         (unsigned long long)w->len, UINT32_MAX);
			return -EINVAL;
		}
		s->api->map(s->rtl, base, w->data, w->data ? w->len : 0);
		wr(s, WEFT_REG_WIN_BASE_LO(i), (uint32_t)base);
		wr(s, WEFT_REG_WIN_BASE_HI(i), (uint32_t)(base >> 32));
		wr(s, WEFT_REG_WIN_SIZE(i), w->data ? (uint32_t)w->len : 0);
		wr(s, WEFT_REG_WIN_CTRL(i), (w->rd ? WEFT_REG_WIN_CTRL_READ_MASK : 0) |
		   (w->wr ? WEFT_REG_WIN_CTRL_WRITE_MASK : 0));
	}
	return 0;
}

static void start(struct state *s, const struct weft_backend_job *job)
{
	s->run.started = true;
	wr(s, WEFT_REG_STREAM_OFF, 0);
	wr(s, WEFT_REG_STREAM_WORDS, (uint32_t)job->n_words);
	wr(s, WEFT_REG_IRQ_STATUS, WEFT_REG_IRQ_STATUS_DONE_MASK | WEFT_REG_IRQ_STATUS_FAULT_MASK);
	wr(s, WEFT_REG_IRQ_ENABLE, WEFT_REG_IRQ_ENABLE_DONE_MASK | WEFT_REG_IRQ_ENABLE_FAULT_MASK);
	wr(s, WEFT_REG_CTRL, WEFT_REG_CTRL_START_MASK);
}

static void peek(void *user, uint32_t addr, uint32_t len, uint8_t *out)
{
	struct state *s = user;

	s->api->peek_sp(s->rtl, addr, len, out);
}

static int differ(struct state *s, int r, const struct weft_cosim_found *f, uint64_t cycle, char *msg)
{
	if (r < 0) {
		snprintf(msg, WEFT_DEV_MSG, "rtl: co-simulation stopped: %s", strerror(-r));
		return r;
	}
	if (s->diff.found)
		return 0;
	s->diff = (struct weft_cosim_diff){ .found = true, .cmd = f->cmd, .in_sp = f->in_sp,
		.window = f->window, .addr = f->addr, .cycle = cycle,
		.expected = f->expected, .got = f->got };
	return 0;
}

/* All commands that retired in one cycle, in stream order. */
static int on_retire(struct state *s, const struct weft_backend_job *job, uint32_t units, uint64_t cycle, char *msg)
{
	struct index *x = &s->run.x;

	while (units) {
		unsigned best = WEFT_N_UNITS;
		for (unsigned u = 0; u < WEFT_N_UNITS; u++)
			if (units >> u & 1 && x->at[u] < x->n[u] &&
			    (best == WEFT_N_UNITS || x->cmd[u][x->at[u]] < x->cmd[best][x->at[best]]))
				best = u;
		if (best == WEFT_N_UNITS) {
			snprintf(msg, WEFT_DEV_MSG, "rtl: more retirements than commands (units 0x%x)", units);
			return -EIO;
		}
		units &= ~(1u << best);
		struct weft_retire ret = { .cmd = x->cmd[best][x->at[best]++], .unit = best, .cycle = cycle };
		struct weft_cosim_found f;
		if (s->run.finding) {
			if (ret.cmd == s->run.finder.cmd)
				s->run.finder.cycle = cycle;
			continue;
		}
		int r = s->run.cosim ? weft_cosim_retire(s->run.cosim, ret.cmd, &f) : 0;
		if (r)
			r = differ(s, r, &f, cycle, msg);
		if (!r && job->observer)
			r = job->observer(job->user, &ret);
		if (r)
			return r;
	}
	return 0;
}

/* A file that cannot be written is no failure of the job: rtl_wave_end() says so. */
static void end_wave(struct state *s)
{
	if (s->waving)
		s->wave_err = s->api->wave(s->rtl, NULL);
	s->waving = false;
}

/* Starts or stops recording if now is the time to do so. */
static void turn_wave(struct state *s, uint64_t now)
{
	const struct run *run = &s->run;

	if (s->waving && now >= run->wave_to)
		end_wave(s);
	if (!s->wave || s->waving || s->wave_err || run->finding || now < run->wave_from || now >= run->wave_to)
		return;
	s->wave_err = s->api->wave(s->rtl, s->wave);
	s->waving = !s->wave_err;
}

/* So many cycles until something other than the stream wants to be looked after. */
static uint64_t next_stop(const struct state *s, uint64_t now)
{
	uint64_t limit = s->hang_cycles < STEP_CYCLES ? s->hang_cycles : STEP_CYCLES;

	if (s->run.wave_from > now && s->run.wave_from - now < limit)
		limit = s->run.wave_from - now;
	if (s->run.wave_to > now && s->run.wave_to - now < limit)
		limit = s->run.wave_to - now;
	return limit;
}

static int hung(struct state *s, uint64_t cycle, char *msg)
{
	snprintf(msg, WEFT_DEV_MSG, "rtl: hung after %llu cycles; retired LD %u ST %u CV %u VE %u", (unsigned long long)cycle,
	         rd(s, WEFT_REG_RETIRED_LD), rd(s, WEFT_REG_RETIRED_ST), rd(s, WEFT_REG_RETIRED_CV), rd(s, WEFT_REG_RETIRED_VE));
	return -ETIMEDOUT;
}

/* Until the interrupt (0), until that time (-EAGAIN), or until something is wrong. */
static int run_stream(struct state *s, const struct weft_backend_job *job, uint64_t until_ns, struct weft_job_result *r,
                      char *msg)
{
	struct run *run = &s->run;
	int err = 0;

	for (;;) {
		const uint64_t now = s->api->cycle(s->rtl) - run->begin;
		struct weft_rtl_event ev;

		turn_wave(s, now);
		uint64_t n = s->api->step(s->rtl, next_stop(s, now), &ev);
		r->sim_cycles += n;
		run->idle = ev.retired ? 0 : run->idle + n;
		if (ev.retired)
			err = on_retire(s, job, ev.retired, ev.cycle - run->begin, msg);
		if (!err && ev.broken) {
			snprintf(msg, WEFT_DEV_MSG, "rtl: the memory port broke a rule of AXI in cycle %llu: %s",
			         (unsigned long long)(ev.cycle - run->begin), ev.broken);
			err = -EIO;
		}
		if (err || ev.irq)
			break;
		if (run->idle >= s->hang_cycles) {
			err = hung(s, ev.cycle - run->begin, msg);
			break;
		}
		if (weft_now_ns() >= until_ns)
			return -EAGAIN;
	}
	if (run->wave_to != UINT64_MAX)
		end_wave(s);
	return err;
}

static void read_result(struct state *s, struct weft_job_result *r, char *msg)
{
	uint32_t *c = (uint32_t *)&r->counters;

	for (unsigned i = 0; i < sizeof(r->counters) / sizeof(*c); i++)
		c[i] = rd(s, WEFT_REG_CNT_CYCLES + 4 * i);
	r->cycles = r->counters.cycles;
	if (!(rd(s, WEFT_REG_STATUS) & WEFT_REG_STATUS_FAULT_MASK))
		return;
	uint32_t f = rd(s, WEFT_REG_FAULT);
	r->fault_code = (f & WEFT_REG_FAULT_CODE_MASK) >> WEFT_REG_FAULT_CODE_LSB;
	r->fault_unit = (f & WEFT_REG_FAULT_UNIT_MASK) >> WEFT_REG_FAULT_UNIT_LSB;
	r->fault_cmd = rd(s, WEFT_REG_FAULT_CMD);
	r->fault_tag = rd(s, WEFT_REG_FAULT_TAG);
	r->fault_info = rd(s, WEFT_REG_FAULT_INFO);
	r->status = -EIO;
	snprintf(msg, WEFT_DEV_MSG, "rtl: command %u (%s): fault %s (%s), info 0x%x", r->fault_cmd,
	         weft_unit_name(r->fault_unit), weft_fault_name(r->fault_code),
	         weft_fault_brief(r->fault_code), r->fault_info);
}

static int rtl_reset(void *state)
{
	struct state *s = state;
	struct weft_rtl_event ev;

	/* With the interrupt pending no cycle would pass. */
	wr(s, WEFT_REG_IRQ_ENABLE, 0);
	s->used = false;
	wr(s, WEFT_REG_CTRL, WEFT_REG_CTRL_RESET_MASK);
	for (int i = 0; i < RESET_CYCLES; i++) {
		s->api->step(s->rtl, 1, &ev);
		if (!(rd(s, WEFT_REG_STATUS) & WEFT_REG_STATUS_BUSY_MASK))
			return 0;
	}
	return -EIO;
}

/* The first pass may write the windows: what they hold is put back behind it. */
static int save_windows(struct state *s, const struct weft_backend_job *job)
{
	for (unsigned i = 0; i < WEFT_N_WINDOWS; i++) {
		if (!job->win[i].wr || !job->win[i].len)
			continue;
		s->run.saved[i] = malloc(job->win[i].len);
		if (!s->run.saved[i])
			return -ENOMEM;
		memcpy(s->run.saved[i], job->win[i].data, job->win[i].len);
	}
	return 0;
}

static void put_windows_back(struct state *s, const struct weft_backend_job *job)
{
	for (unsigned i = 0; i < WEFT_N_WINDOWS; i++) {
		if (s->run.saved[i])
			memcpy(job->win[i].data, s->run.saved[i], job->win[i].len);
		free(s->run.saved[i]);
		s->run.saved[i] = NULL;
	}
}

/* The first pass is over: the second one records around the cycle that it found. */
static int found(struct state *s, const struct weft_backend_job *job, char *msg)
{
	struct run *run = &s->run;

	run->finding = false;
	rtl_reset(s);
	memset(run->x.at, 0, sizeof(run->x.at));
	put_windows_back(s, job);
	if (run->finder.cycle == UINT64_MAX) {
		snprintf(msg, WEFT_DEV_MSG, "rtl: command %lld does not retire in this stream", (long long)s->wave_here);
		return -EINVAL;
	}
	run->wave_from = run->finder.cycle > s->wave_cycles ? run->finder.cycle - s->wave_cycles : 0;
	run->wave_to = run->finder.cycle + s->wave_cycles + 1;
	return 0;
}

static struct weft_cosim *start_cosim(struct state *s, const struct weft_backend_job *job)
{
	struct weft_cosim_window w[WEFT_N_WINDOWS];

	for (unsigned i = 0; i < WEFT_N_WINDOWS; i++)
		w[i] = (struct weft_cosim_window){ job->win[i].data, job->win[i].data ? job->win[i].len : 0,
			job->win[i].rd, job->win[i].wr };
	struct weft_cosim *c = weft_cosim_new(s->cfg, job->words, job->n_words, w, peek, s);
	uint8_t *sp = c ? malloc(s->cfg->sp_bytes) : NULL;
	if (sp) {
		s->api->peek_sp(s->rtl, 0, s->cfg->sp_bytes, sp);
		weft_cosim_poke_sp(c, sp, s->cfg->sp_bytes);
	} else {
		weft_cosim_free(c);
		c = NULL;
	}
	free(sp);
	return c;
}

/* A write that no command asked for. */
static int compare_memory(struct state *s, struct weft_cosim *cosim, uint64_t cycle, char *msg)
{
	struct weft_cosim_found f;
	int r = weft_cosim_end(cosim, &f);

	return r ? differ(s, r, &f, cycle, msg) : 0;
}

/* Nothing of a run is left, and its memory is out of the simulator's reach. */
static void end_run(struct state *s)
{
	struct run *run = &s->run;

	for (unsigned i = 0; i < WEFT_N_WINDOWS; i++) {
		if (s->rtl)
			s->api->map(s->rtl, run->base[i], NULL, 0);
		free(run->saved[i]);
	}
	weft_cosim_free(run->cosim);
	index_free(&run->x);
	memset(run, 0, sizeof(*run));
}

/* The stream proper starts: with co-simulation beside it, if that is wanted. */
static int start_stream(struct state *s, const struct weft_backend_job *job)
{
	if (s->want_cosim && !(s->run.cosim = start_cosim(s, job)))
		return -ENOMEM;
	s->api->sample(s->rtl, s->sampler, s->sampler_user);
	s->run.begin = s->api->cycle(s->rtl);
	s->run.idle = 0;
	start(s, job);
	return 0;
}

static int begin_run(struct state *s, const struct weft_backend_job *job, char *msg)
{
	struct run *run = &s->run;

	memset(&s->diff, 0, sizeof(s->diff));
	run->on = true;
	run->wave_to = UINT64_MAX;
	int err = index_stream(&run->x, job->words, job->n_words);
	if (s->used)
		rtl_reset(s);
	if (!err)
		err = open_windows(s, job, msg);
	if (s->wave && s->wave_cmd < 0 && s->wave_to) {
		run->wave_from = s->wave_from;
		run->wave_to = s->wave_to;
	}
	if (s->wave_cmd >= 0)
		run->wave_to = 0;
	if (err || !s->wave || s->wave_cmd < 0 || s->wave_here < 0)
		return err ? err : start_stream(s, job);
	run->finding = true;
	run->finder = (struct finder){ .cmd = (size_t)s->wave_here, .cycle = UINT64_MAX };
	run->begin = s->api->cycle(s->rtl);
	err = save_windows(s, job);
	if (!err)
		start(s, job);
	return err;
}

/* -EAGAIN: that time has come. */
static int go_on(struct state *s, const struct weft_backend_job *job, uint64_t until_ns, struct weft_job_result *r, char *msg)
{
	struct weft_job_result dry = { 0 };
	int err = s->run.finding ? run_stream(s, job, until_ns, &dry, msg) : 0;

	if (err == -EAGAIN)
		return err;
	if (s->run.finding) {
		int bad = found(s, job, msg);
		err = err ? err : bad;
		if (!err)
			err = start_stream(s, job);
	}
	return err ? err : run_stream(s, job, until_ns, r, msg);
}

/* The stream has ended, well or not. */
static int finish(struct state *s, int err, struct weft_job_result *r, char *msg)
{
	s->api->sample(s->rtl, NULL, NULL);
	read_result(s, r, msg);
	if (!err && !r->status && s->run.cosim)
		err = compare_memory(s, s->run.cosim, r->cycles, msg);
	/* Until the next job its registers can be read, unless it was stopped in the middle. */
	s->used = true;
	if (err)
		rtl_reset(s);
	return err;
}

static int rtl_run(void *state, const struct weft_backend_job *job, uint64_t until_ns, struct weft_job_result *r, char *msg)
{
	struct state *s = state;
	const uint64_t begin = weft_now_ns(), cpu = weft_cpu_ns();
	int err = 0;

	if (!s->run.on) {
		memset(r, 0, sizeof(*r));
		err = begin_run(s, job, msg);
	}
	if (!err)
		err = go_on(s, job, until_ns, r, msg);
	r->seconds += (double)(weft_now_ns() - begin) * 1e-9;
	r->cpu_seconds += (double)(weft_cpu_ns() - cpu) * 1e-9;
	if (err == -EAGAIN)
		return err;
	if (s->run.started)
		err = finish(s, err, r, msg);
	end_run(s);
	if (err)
		r->status = err;
	return r->status;
}

static void rtl_stop(void *state)
{
	struct state *s = state;

	if (s->run.wave_to != UINT64_MAX)
		end_wave(s);
	s->api->sample(s->rtl, NULL, NULL);
	rtl_reset(s);
	end_run(s);
}

/* ---- diagnostics ---- */

static int rtl_peek_sp(void *state, uint32_t addr, uint32_t len, uint8_t *out)
{
	struct state *s = state;

	s->api->peek_sp(s->rtl, addr, len, out);
	return 0;
}

static int rtl_poke_sp(void *state, uint32_t addr, uint32_t len, const uint8_t *data)
{
	struct state *s = state;

	s->api->poke_sp(s->rtl, addr, len, data);
	return 0;
}

static int rtl_plant(void *state, const struct weft_plant *p)
{
	struct state *s = state;
	const bool point = p->kind == WEFT_PLANT_POINT;
	const struct weft_rtl_plant q = { point ? WEFT_RTL_PLANT_NONE : (enum weft_rtl_plant_kind)p->kind, p->row, p->col,
		p->lane, p->addr, p->bit };
	const struct weft_rtl_fault f = { (enum weft_rtl_how)p->how, p->point, p->row, p->col, p->bit, p->bit2,
		s->api->cycle(s->rtl) + p->cycle };
	int err = s->api->fault(s->rtl, point ? &f : NULL);

	return err ? err : s->api->plant(s->rtl, &q);
}

static const struct weft_fault_point *rtl_points(void *state, uint32_t *n)
{
	struct state *s = state;
	uint32_t have;
	const struct weft_rtl_point *p = s->api->points(s->rtl, &have);

	if (!s->points && have) {
		s->points = calloc(have, sizeof(*s->points));
		s->n_points = s->points ? have : 0;
		for (uint32_t i = 0; i < s->n_points; i++)
			s->points[i] = (struct weft_fault_point){ p[i].name, p[i].bits, p[i].rows, p[i].cols, p[i].storage };
	}
	*n = s->n_points;
	return s->points;
}

static uint32_t rtl_reg_read(void *state, uint32_t addr)
{
	return rd(state, addr);
}

static int rtl_reg_write(void *state, uint32_t addr, uint32_t value)
{
	wr(state, addr, value);
	return 0;
}

static const struct weft_cosim_diff *rtl_cosim(void *state)
{
	return &((struct state *)state)->diff;
}

static int rtl_sample(void *state, weft_sampler *fn, void *user)
{
	struct state *s = state;
	int err = s->api->sample(s->rtl, fn, user);

	/* Not before a job runs. */
	s->api->sample(s->rtl, NULL, NULL);
	s->sampler = err ? NULL : fn;
	s->sampler_user = user;
	return err;
}

static int rtl_wave(void *state, int64_t cmd)
{
	((struct state *)state)->wave_here = cmd;
	return 0;
}

static int rtl_wave_end(void *state, char *msg)
{
	struct state *s = state;

	end_wave(s);
	const int err = s->wave_err;
	s->wave_err = 0;
	if (err && err != -ENOMEM)
		snprintf(msg, WEFT_DEV_MSG, "rtl: %.200s: %s", s->wave, strerror(-err));
	return err;
}

const struct weft_backend weft_backend_rtl = {
	.name = "rtl",
	.open = rtl_open,
	.close = rtl_close,
	.run = rtl_run,
	.stop = rtl_stop,
	.peek_sp = rtl_peek_sp,
	.poke_sp = rtl_poke_sp,
	.plant = rtl_plant,
	.reset = rtl_reset,
	.reg_read = rtl_reg_read,
	.reg_write = rtl_reg_write,
	.points = rtl_points,
	.cosim = rtl_cosim,
	.sample = rtl_sample,
	.wave = rtl_wave,
	.wave_end = rtl_wave_end,
};

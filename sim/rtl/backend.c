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
#include <unistd.h>

#include "sim/cosim/cosim.h"
#include "sim/rtl/rtl.h"
#include "weft/gen/cmd.h"
#include "weft/gen/regs.h"

/* Cycles without any retirement after which the device counts as hung. No
 * command takes longer: the verifier bounds its work. */
#define HANG_CYCLES (1ull << 26)
#define RESET_CYCLES 100000

struct state {
	const struct weft_config *cfg;
	void *lib;
	const struct weft_rtl_api *api;
	struct weft_rtl *rtl;
	bool want_cosim;
	bool used;                 /* since it was reset: the next job resets it */
	bool poked;                /* the next job's model begins with the scratchpad as it is */
	char *wave;
	int64_t wave_cmd;          /* -1: not around a command */
	int64_t wave_here;         /* the same, of the next stream: -1: that is not recorded */
	bool waving;               /* the file is open */
	uint64_t wave_cycles, wave_from, wave_to;
	uint64_t hang_cycles;
	weft_sampler *sampler;
	void *sampler_user;
	struct weft_cosim_diff diff;
	struct weft_fault_point *points;
	uint32_t n_points;
};

/* The stream's commands by unit, so that a retirement pulse finds its command. */
struct index {
	uint32_t *cmd[WEFT_N_UNITS];
	uint32_t n[WEFT_N_UNITS], at[WEFT_N_UNITS];
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
	    !(lib = try_dir(file, len, "weft/", config)))
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

static void rtl_close(void *state)
{
	struct state *s = state;

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
	s->rtl = s->api->open(o->memory == WEFT_MEMORY_SRAM ? WEFT_RTL_SRAM : WEFT_RTL_DDR);
	return s->rtl ? check_device(s, msg) : -ENOMEM;
}

/* Before a long run, not behind it. */
static int try_wave(const char *path, char *msg)
{
	const bool there = !access(path, F_OK);
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

static uint64_t window_base(unsigned i)
{
	return (uint64_t)(i + 1) << 32;
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
	for (unsigned i = 0; i < WEFT_N_WINDOWS; i++) {
		const struct weft_backend_window *w = &job->win[i];
		uint64_t base = window_base(i);

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
static int on_retire(struct state *s, const struct weft_backend_job *job, struct index *x,
                     struct weft_cosim *cosim, uint32_t units, uint64_t cycle, char *msg)
{
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
		int r = cosim ? weft_cosim_retire(cosim, ret.cmd, &f) : 0;
		if (r)
			r = differ(s, r, &f, cycle, msg);
		if (!r && job->observer)
			r = job->observer(job->user, &ret);
		if (r)
			return r;
	}
	return 0;
}

static void end_wave(struct state *s)
{
	if (s->waving)
		s->api->wave(s->rtl, NULL);
	s->waving = false;
}

/*
 * From start to interrupt. [wave_from, wave_to) are cycles since start; a wave_to of
 * UINT64_MAX is never: what comes behind the stream goes into the same file.
 */
static int run_stream(struct state *s, const struct weft_backend_job *job, struct index *x,
                      struct weft_cosim *cosim, uint64_t wave_from, uint64_t wave_to,
                      struct weft_job_result *r, char *msg)
{
	uint64_t begin = s->api->cycle(s->rtl), idle = 0;
	int err = 0;

	start(s, job);
	for (;;) {
		uint64_t now = s->api->cycle(s->rtl) - begin, limit = s->hang_cycles < 100000 ? s->hang_cycles : 100000;
		if (s->wave && !s->waving && now >= wave_from && now < wave_to) {
			if (s->api->wave(s->rtl, s->wave)) {
				snprintf(msg, WEFT_DEV_MSG, "rtl: %s: cannot be written", s->wave);
				err = -EIO;
				break;
			}
			s->waving = true;
		}
		if (s->waving && now >= wave_to)
			end_wave(s);
		if (wave_from > now && wave_from - now < limit)
			limit = wave_from - now;
		if (wave_to > now && wave_to - now < limit)
			limit = wave_to - now;
		struct weft_rtl_event ev;
		uint64_t n = s->api->step(s->rtl, limit, &ev);
		r->sim_cycles += n;
		idle = ev.retired ? 0 : idle + n;
		if (ev.retired)
			err = on_retire(s, job, x, cosim, ev.retired, ev.cycle - begin, msg);
		if (!err && ev.broken) {
			snprintf(msg, WEFT_DEV_MSG, "rtl: the memory port broke a rule of AXI in cycle %llu: %s",
			         (unsigned long long)(ev.cycle - begin), ev.broken);
			err = -EIO;
		}
		if (err || ev.irq)
			break;
		if (idle >= s->hang_cycles || (job->deadline_ns && weft_now_ns() > job->deadline_ns)) {
			snprintf(msg, WEFT_DEV_MSG, "rtl: %s after %llu cycles; retired LD %u ST %u CV %u VE %u",
			         idle >= s->hang_cycles ? "hung" : "time limit reached",
			         (unsigned long long)(ev.cycle - begin), rd(s, WEFT_REG_RETIRED_LD),
			         rd(s, WEFT_REG_RETIRED_ST), rd(s, WEFT_REG_RETIRED_CV), rd(s, WEFT_REG_RETIRED_VE));
			err = -ETIMEDOUT;
			break;
		}
	}
	if (wave_to != UINT64_MAX)
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

/* First pass of a windowed waveform: at which cycle does the command retire? */
struct finder { size_t cmd; uint64_t cycle; };

static int find_cycle(void *user, const struct weft_retire *r)
{
	struct finder *f = user;

	if (r->cmd == f->cmd)
		f->cycle = r->cycle;
	return 0;
}

static int find_wave_window(struct state *s, const struct weft_backend_job *job, struct index *x,
                            uint64_t *from, uint64_t *to, char *msg)
{
	struct weft_backend_job dry = *job;
	uint8_t *saved[WEFT_N_WINDOWS] = { 0 };
	struct finder f = { .cmd = (size_t)s->wave_here, .cycle = UINT64_MAX };
	struct weft_job_result r = { 0 };
	char *wave = s->wave;
	int err = 0;

	for (unsigned i = 0; i < WEFT_N_WINDOWS && !err; i++) {
		if (!job->win[i].wr || !job->win[i].len)
			continue;
		saved[i] = malloc(job->win[i].len);
		if (!saved[i])
			err = -ENOMEM;
		else
			memcpy(saved[i], job->win[i].data, job->win[i].len);
	}
	dry.observer = find_cycle;
	dry.user = &f;
	s->wave = NULL;
	if (!err)
		err = run_stream(s, &dry, x, NULL, 0, 0, &r, msg);
	s->wave = wave;
	rtl_reset(s);
	memset(x->at, 0, sizeof(x->at));
	for (unsigned i = 0; i < WEFT_N_WINDOWS; i++) {
		if (saved[i])
			memcpy(job->win[i].data, saved[i], job->win[i].len);
		free(saved[i]);
	}
	if (!err && f.cycle == UINT64_MAX) {
		snprintf(msg, WEFT_DEV_MSG, "rtl: command %lld does not retire in this stream", (long long)s->wave_here);
		err = -EINVAL;
	}
	*from = f.cycle > s->wave_cycles ? f.cycle - s->wave_cycles : 0;
	*to = f.cycle + s->wave_cycles + 1;
	return err;
}

static struct weft_cosim *start_cosim(struct state *s, const struct weft_backend_job *job)
{
	struct weft_cosim_window w[WEFT_N_WINDOWS];

	for (unsigned i = 0; i < WEFT_N_WINDOWS; i++)
		w[i] = (struct weft_cosim_window){ job->win[i].data, job->win[i].data ? job->win[i].len : 0,
			job->win[i].rd, job->win[i].wr };
	struct weft_cosim *c = weft_cosim_new(s->cfg, job->words, job->n_words, w, peek, s);
	uint8_t *sp = s->poked && c ? malloc(s->cfg->sp_bytes) : NULL;
	if (sp) {
		s->api->peek_sp(s->rtl, 0, s->cfg->sp_bytes, sp);
		weft_cosim_poke_sp(c, sp, s->cfg->sp_bytes);
	} else if (s->poked && c) {
		weft_cosim_free(c);
		c = NULL;
	}
	free(sp);
	return c;
}

/* A write that no command asked for. */
static void compare_memory(struct state *s, struct weft_cosim *cosim, uint64_t cycle, char *msg)
{
	struct weft_cosim_found f;

	if (weft_cosim_end(cosim, &f))
		differ(s, 1, &f, cycle, msg);
}

static int rtl_run(void *state, const struct weft_backend_job *job, struct weft_job_result *r, char *msg)
{
	struct state *s = state;
	struct index x;
	struct weft_cosim *cosim = NULL;
	uint64_t from = 0, to = UINT64_MAX, begin = weft_now_ns(), cpu = weft_cpu_ns();

	memset(r, 0, sizeof(*r));
	memset(&s->diff, 0, sizeof(s->diff));
	int err = index_stream(&x, job->words, job->n_words);
	if (s->used)
		rtl_reset(s);
	if (!err)
		err = open_windows(s, job, msg);
	if (s->wave && s->wave_cmd < 0 && s->wave_to) {
		from = s->wave_from;
		to = s->wave_to;
	}
	if (s->wave_cmd >= 0)
		to = 0;
	if (!err && s->wave && s->wave_cmd >= 0 && s->wave_here >= 0)
		err = find_wave_window(s, job, &x, &from, &to, msg);
	if (!err && s->want_cosim && !(cosim = start_cosim(s, job)))
		err = -ENOMEM;
	if (!err) {
		s->api->sample(s->rtl, s->sampler, s->sampler_user);
		err = run_stream(s, job, &x, cosim, from, to, r, msg);
		s->api->sample(s->rtl, NULL, NULL);
		read_result(s, r, msg);
		if (!err && !r->status && cosim)
			compare_memory(s, cosim, r->cycles, msg);
		/* Until the next job its registers can be read, unless it was stopped in the middle. */
		s->used = true;
		if (err)
			rtl_reset(s);
	}
	s->poked = false;
	weft_cosim_free(cosim);
	index_free(&x);
	for (unsigned i = 0; i < WEFT_N_WINDOWS; i++)
		s->api->map(s->rtl, window_base(i), NULL, 0);
	r->seconds = (double)(weft_now_ns() - begin) * 1e-9;
	r->cpu_seconds = (double)(weft_cpu_ns() - cpu) * 1e-9;
	if (err)
		r->status = err;
	return r->status;
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
	s->poked = true;
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

const struct weft_backend weft_backend_rtl = {
	.name = "rtl",
	.open = rtl_open,
	.close = rtl_close,
	.run = rtl_run,
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
};

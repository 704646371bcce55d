/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions: a program, a device, and runs of one on the other.
 */
#include "userlib/run/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/file.h>

#include "sim/golden/golden.h"
#include "driver/clock.h"
#include "driver/device.h"
#include "userlib/run/async.h"
#include "userlib/run/cards.h"
#include "userlib/run/golden_exec.h"
#include "userlib/profile/profile.h"
#include "userlib/segment/segment.h"
#include "weft/gen/cmd.h"

#define RUN_TRIES 3

struct weft_session_options weft_session_options_default(void)
{
	return (struct weft_session_options){ .device = WEFT_DEVICE_MODEL, .config = "w16", .wave_cmd = -1 };
}

const char *weft_device_name(enum weft_device d)
{
	static const char *const names[] = { "golden", "model", "rtl", "usb" };

	return names[d];
}

enum weft_dev_kind weft_device_kind(enum weft_device d)
{
	return d == WEFT_DEVICE_RTL ? WEFT_DEV_RTL : d == WEFT_DEVICE_USB ? WEFT_DEV_USB : WEFT_DEV_MODEL;
}

/* ---- opening ---- */

/*
 * Makes the device that the caller has opened (options.on) the session's, s->dev; it stays the
 * caller's. Returns 0, or -EINVAL with one line in msg if it was opened for another configuration.
 */
static int take_device(weft_session *s, char *msg)
{
	if (strcmp(s->o.on->cfg->name, s->cfg->name)) {
		snprintf(msg, WEFT_MSG_LEN, "device: it was opened for configuration %s, the session is for %s", s->o.on->cfg->name, s->cfg->name);
		return -EINVAL;
	}
	s->dev = s->o.on;
	return 0;
}

/*
 * Writes to msg that the device's memory cannot hold the network, with the bytes of its constants and values:
 * and those of the memory if the device is a card that says them and they are too few, else what err means.
 */
static void say_no_room(const weft_session *s, int err, char *msg)
{
	const unsigned long long consts = s->p->n_consts, values = s->p->arena_bytes;
	struct weft_card_info card;

	if (!weft_dev_card(s->dev, &card) && consts + values > card.dram_bytes)
		snprintf(msg, WEFT_MSG_LEN, "device: weights of %llu and values of %llu bytes are more than its memory of %llu bytes", consts, values,
		         (unsigned long long)card.dram_bytes);
	else
		snprintf(msg, WEFT_MSG_LEN, "device: weights of %llu and values of %llu bytes of its memory: %s", consts, values, weft_file_error(err));
}

/* Opens the device of the session's options. Returns as weft_dev_open(). */
static int open_own(weft_session *s, char *msg)
{
	struct weft_dev_options d = weft_dev_options_default();

	d.kind = weft_device_kind(s->o.device);
	d.usb = s->o.usb;
	d.usb_wait_ms = s->o.usb_wait_ms;
	d.config = s->o.config;
	d.memory = s->o.memory;
	d.rtl_dir = s->o.rtl_dir;
	d.cosim = s->o.check && s->o.device == WEFT_DEVICE_RTL;
	d.wave = s->o.wave;
	d.wave_cmd = s->o.wave_cmd;
	d.wave_cycles = s->o.wave_cycles;
	d.samples = s->o.profile != NULL;
	return weft_dev_open(&d, &s->dev, msg);
}

/*
 * Opens the session's device with its options unless choose_config() has, or takes the caller's (options.on), allocates the
 * buffers for constants and arena, plants the fault that the options name, and writes the constants.
 * Cosimulation is on if the run is checked on the RTL. Nothing is done on golden. Returns 0 or a
 * negative errno with one line in msg; *s then keeps what was made so far.
 */
static int open_device(weft_session *s, char *msg)
{
	if (s->o.device == WEFT_DEVICE_GOLDEN)
		return 0;
	int err = s->o.on ? take_device(s, msg) : s->dev ? 0 : open_own(s, msg);
	if (err)
		return err;
	err = weft_buf_alloc(s->dev, s->p->n_consts, &s->consts);
	if (!err)
		err = weft_buf_alloc(s->dev, s->p->arena_bytes, &s->arena);
	if (err) {
		say_no_room(s, err, msg);
		return err;
	}
	if (s->o.plant.kind != WEFT_PLANT_NONE && (err = weft_dev_plant(s->dev, &s->o.plant))) {
		snprintf(msg, WEFT_MSG_LEN, err == -EINVAL ? "device: it has no such place for a fault" : "device: no fault can be planted in it");
		return err;
	}
	err = weft_buf_write(s->consts, 0, s->p->consts, s->p->n_consts);
	if (err)
		snprintf(msg, WEFT_MSG_LEN, "device: constants cannot be written: %s", err != -ENOMEM && *weft_dev_error(s->dev) ? weft_dev_error(s->dev) : weft_file_error(err));
	return err;
}

/*
 * Sets s->p to the net's loaded program if it is for the session's configuration, whatever plan and the options
 * say; otherwise to one compiled for the session, without folding channels if options.keep is set. The first such
 * program becomes s->own_program; when one is asked for again, s->plan is made, and kept for later calls. plan false:
 * the program puts everything on the host, which is all that golden needs. plan true: it comes from the folder that
 * options.cache names, if it is there, and is left there. Returns 0, or a negative errno of the compiler with
 * one line in msg and s->p not usable.
 */
static int get_program(weft_session *s, bool plan, char *msg)
{
	struct weft_compile_options c = { .config = s->cfg->name, .host_only = !plan,
	                                  .threads = (uint8_t)(s->o.threads > UINT8_MAX ? UINT8_MAX : s->o.threads),
	                                  .of_model = s->o.device == WEFT_DEVICE_MODEL && !s->o.for_rtl, .no_fold = s->o.keep,
	                                  .no_compress = s->net->no_compress };

	s->p = s->net->loaded;
	if (s->p && !strcmp(s->p->config, s->cfg->name))
		return 0;
	weft_program **own = s->own_program ? &s->plan : &s->own_program;
	int err = 0;
	if (!*own && plan && s->o.cache) {
		s->cache.folder = s->o.cache;
		s->cache.most = WEFT_CACHE_BYTES;
		err = weft_program_cached(&s->cache, s->net->g, &c, own, msg);
	} else if (!*own) {
		err = weft_compile(s->net->g, &c, own, msg);
	}
	s->p = *own;
	return err;
}

enum weft_cache_state weft_session_cache(const weft_session *s, const char **why)
{
	*why = s->cache.why;
	return s->cache.state;
}

const char *weft_session_config(const weft_session *s)
{
	return s->cfg->name;
}

/* Says whether the current run of the session at `user` has been told to end. */
static bool is_cancelled(void *user)
{
	weft_session *const s = user;
	atomic_bool *const cancel = atomic_load(&s->cancel);

	return cancel && atomic_load(cancel);
}

/*
 * Sets the session's configuration to the one that its options name. If they name none, it is that of the caller's device or cards;
 * without these, on the USB, that of the card or cards, which this function then opens; and otherwise w16. The options name it
 * afterwards. Returns 0; -ENOENT if there is no such configuration; or as weft_dev_open() and weft_session_cards_take(); with one line
 * in msg on failure.
 */
static int choose_config(weft_session *s, char *msg)
{
	const char *name = s->o.config;

	if (!name && s->o.on) {
		name = s->o.on->cfg->name;
	} else if (!name && s->o.device == WEFT_DEVICE_USB) {
		const bool several = weft_over_cards(&s->o);
		int err = several ? weft_session_cards_take(s, msg) : open_own(s, msg);
		if (err)
			return err;
		name = several ? weft_cards_config(s->cards) : s->dev->cfg->name;
	}
	s->cfg = weft_config_find(name ? name : "w16");
	if (!s->cfg) {
		snprintf(msg, WEFT_MSG_LEN, "configuration \"%.40s\" is not known; " WEFT_CONFIG_NAMES, name);
		return -ENOENT;
	}
	s->o.config = s->cfg->name;
	return 0;
}

/*
 * Open a session as weft_session_open() does.
 *  @param program  A program that another session on the same network and configuration has, and keeps;
 *                  NULL: the loaded one, or one compiled here.
 *  @return 0 with the session in *out; or a negative errno with one line in msg, and *out untouched: -ENOENT
 *          (no such configuration), -EINVAL (another runtime or requant, a bad option, a waveform of a command that
 *          is not there, or strict), -ENOMEM, or as the compiler and weft_dev_open()
 */
int weft_session_open_with(const weft_net *net, const struct weft_session_options *o, const weft_program *program, weft_session **out, char *msg)
{
	weft_session *s = calloc(1, sizeof(*s));
	int err = 0;

	if (!s) {
		snprintf(msg, WEFT_MSG_LEN, "out of memory");
		return -ENOMEM;
	}
	pthread_mutex_init(&s->running, NULL);
	pthread_mutex_init(&s->starting, NULL);
	s->net = net;
	s->o = *o;
	s->p = program;
	err = choose_config(s, msg);
	if (!err && (!weft_runtime_fits(net->g->runtime, o->runtime, msg) || !weft_requant_fits(net->g->requant, o->requant, msg)))
		err = -EINVAL;
	if (!err && ((err = weft_vars_init(&s->vars, net->g)) || (err = weft_vars_init(&s->host_vars, net->g))))
		snprintf(msg, WEFT_MSG_LEN, "out of memory");
	for (int i = 0; !err && i < 2; i++) {
		struct weft_vars *v = i ? &s->host_vars : &s->vars;
		v->timeout_ms = o->timeout_ms;
		v->stop = is_cancelled;
		v->user = s;
	}
	if (!err && !program)
		err = get_program(s, o->device != WEFT_DEVICE_GOLDEN || o->strict, msg);
	if (!err && o->strict)
		err = weft_plan_breaks_strict(s->p, msg);
	if (!err && o->wave && o->device == WEFT_DEVICE_RTL && o->wave_cmd >= (int64_t)s->p->n_cmds) {
		snprintf(msg, WEFT_MSG_LEN, "waveform of command %lld: the program's last is %lld", (long long)o->wave_cmd,
		         (long long)s->p->n_cmds - 1);
		err = -EINVAL;
	}
	if (!err)
		err = weft_over_cards(o) ? weft_session_cards_open(s, msg) : open_device(s, msg);
	if (err) {
		weft_session_close(s);
		return err;
	}
	*out = s;
	return 0;
}

int weft_session_open(const weft_net *net, const struct weft_session_options *o, weft_session **s, char msg WEFT_ROOM(WEFT_MSG_LEN))
{
	return weft_session_open_with(net, o, NULL, s, msg);
}

/* Returns the network's graph. */
static const weft_graph *graph(const weft_session *s)
{
	return s->net->g;
}

/* Frees n tensors with their data and the array itself; NULL is fine. */
static void free_tensors(weft_tensor *t, int n)
{
	for (int i = 0; t && i < n; i++)
		free(t[i].data);
	free(t);
}

/*
 * Frees what the last run has left: comparison, the host's copies, golden's tensors with their room,
 * measurements; and sets cycles, counters and times to 0. The profile, variables and the device's
 * memory stay.
 */
static void forget_run(weft_session *s)
{
	int n = s->net ? s->net->g->n_tensors : 0;

	if (s->check.g)
		weft_checker_end(&s->check);
	free_tensors(s->host, n);
	if (s->golden && !s->room) {
		weft_golden_release(graph(s), s->golden);
		free(s->golden);
	}
	weft_golden_room_free(s->room);
	free(s->measure);
	s->host = s->golden = NULL;
	s->room = NULL;
	s->measure = NULL;
	s->cycles_before = s->sim_cycles = 0;
	s->seconds = s->cpu_seconds = 0;
	memset(&s->counters, 0, sizeof(s->counters));
}

/*
 * The device no longer reports to the session's profile, which stays for weft_session_profile_text(). Without this a card's
 * link would report to it when the session that it belonged to is freed.
 */
static void stop_profile(weft_session *s)
{
	if (!s->profiling)
		return;
	weft_dev_sample(s->dev, NULL, NULL);
	weft_dev_traffic(s->dev, NULL, NULL);
	s->profiling = false;
}

/*
 * Cancels submitted runs and waits for those under way, closes the sessions on cards and the device
 * (unless it is the caller's, options.on), and frees everything that belongs to the session, reports of
 * runs that were not waited for too; NULL is fine.
 */
void weft_session_close(weft_session *s)
{
	if (!s)
		return;
	weft_session_async_free(s);
	weft_session_cards_free(s);
	forget_run(s);
	stop_profile(s);
	weft_profile_free(s->profile);
	weft_vars_release(&s->vars);
	weft_vars_release(&s->host_vars);
	weft_spares_free(&s->spares);
	weft_buf_free(s->consts);
	weft_buf_free(s->arena);
	if (!s->o.on)
		weft_dev_close(s->dev);
	free(s->before);
	weft_program_free(s->own_program);
	weft_program_free(s->plan);
	free(s->words);
	pthread_mutex_destroy(&s->running);
	pthread_mutex_destroy(&s->starting);
	free(s);
}

/* ---- tensors between host and device ---- */

/*
 * Makes the host's copy of tensor t, with the graph's type and shape and all zeros, in s->host[t],
 * unless there is one. Returns 0 or -ENOMEM.
 */
static int new_data(weft_session *s, int t)
{
	if (s->host[t].data)
		return 0;
	s->host[t] = graph(s)->tensors[t].t;
	s->host[t].data = calloc(1, weft_tensor_bytes(&s->host[t]) + 1);
	return s->host[t].data ? 0 : -ENOMEM;
}

/* Returns the tensor whose bytes tensor t shares, through all aliases; t itself if it shares none. */
static int origin(const weft_session *s, int t)
{
	while (s->p->tensors[t].alias_of >= 0)
		t = s->p->tensors[t].alias_of;
	return t;
}

/*
 * Makes sure that the host has the values of tensor t: a constant, its copy, or a new copy, made from
 * the host's tensor whose bytes t shares or else read from the device's arena. Returns 0; or, with no
 * copy in s->host[t], -EINVAL with a line in s->error if the tensor is nowhere, the device's negative
 * errno, or -ENOMEM.
 */
static int fetch(weft_session *s, int t)
{
	const struct weft_ptensor *p = &s->p->tensors[t];
	int from = origin(s, t);

	if (s->host[t].data || graph(s)->tensors[t].t.data)
		return 0;
	int err = new_data(s, t);
	if (err)
		return err;
	const weft_tensor *src = s->host[from].data ? &s->host[from] : &graph(s)->tensors[from].t;
	if (from != t && src->data) {
		memcpy(s->host[t].data, src->data, weft_tensor_bytes(&s->host[t]));
		return 0;
	}
	if (p->place != WEFT_PLACE_ARENA)
		p = &s->p->tensors[from];
	if (p->place != WEFT_PLACE_ARENA) {
		weft_tensor_release(&s->host[t]);
		snprintf(s->error, WEFT_MSG_LEN, "tensor %d \"%.80s\" is needed on the host and is nowhere", t,
		         graph(s)->tensors[t].name);
		return -EINVAL;
	}
	err = weft_buf_read(s->arena, p->offset, s->host[t].data, weft_tensor_bytes(&s->host[t]));
	if (err)
		weft_tensor_release(&s->host[t]);
	return err;
}

/* Returns the host's copy of tensor t, or the graph's tensor (a constant) if there is none. */
static const weft_tensor *operand(weft_session *s, int t)
{
	return s->host[t].data ? &s->host[t] : &graph(s)->tensors[t].t;
}

const weft_tensor *weft_session_tensor(weft_session *s, int tensor, int *err)
{
	*err = fetch(s, tensor);
	return operand(s, tensor);
}

/*
 * Writes the host's copy of tensor t, which must be there, to its place in the device's arena; nothing
 * if it has no place there. Returns 0 or the errno of weft_buf_write().
 */
static int to_arena(weft_session *s, int t)
{
	const struct weft_ptensor *p = &s->p->tensors[t];

	if (p->place != WEFT_PLACE_ARENA)
		return 0;
	return weft_buf_write(s->arena, p->offset, s->host[t].data, weft_tensor_bytes(&s->host[t]));
}

/*
 * Checks all inputs and, if there is a device, copies their values to the host's copies and to their places in
 * its arena; without one golden reads or copies them. Each must have data, the network's type and number of bytes
 * (the shape may differ), and only elements that its type has. Returns 0; -EINVAL with one line in s->error for a bad input;
 * -ENOMEM; or the device's negative errno.
 */
static int take_inputs(weft_session *s, const weft_tensor *inputs)
{
	const weft_graph *g = graph(s);

	for (int i = 0; i < g->n_inputs; i++) {
		int t = g->inputs[i];
		const weft_tensor *want = &g->tensors[t].t;
		int64_t value, bad;
		if (!inputs[i].data) {
			snprintf(s->error, WEFT_MSG_LEN, "input %d \"%.80s\" has no data", i, g->tensors[t].name);
			return -EINVAL;
		}
		if (inputs[i].dtype != want->dtype || weft_tensor_bytes(&inputs[i]) != weft_tensor_bytes(want)) {
			snprintf(s->error, WEFT_MSG_LEN, "input %d \"%.80s\": %s of %zu bytes, the network wants %s of %zu",
			         i, g->tensors[t].name, weft_dtype_name(inputs[i].dtype), weft_tensor_bytes(&inputs[i]),
			         weft_dtype_name(want->dtype), weft_tensor_bytes(want));
			return -EINVAL;
		}
		if ((bad = weft_beyond_type(&inputs[i], &value)) >= 0) {
			snprintf(s->error, WEFT_MSG_LEN, "input %d \"%.80s\": element %lld is %lld, which %s does not have", i,
			         g->tensors[t].name, (long long)bad, (long long)value, weft_dtype_name(want->dtype));
			return -EINVAL;
		}
		if (!s->dev)
			continue;
		int err = new_data(s, t);
		if (err)
			return err;
		memcpy(s->host[t].data, inputs[i].data, weft_tensor_bytes(want));
		if ((err = to_arena(s, t)))
			return err;
	}
	return 0;
}

/* ---- steps ---- */

/*
 * Runs the operator of a host step: fetches operands that lie on the device, makes new host copies of
 * its results, computes them with golden, writes them to the device if they have a place there, and
 * adds the time to the profile's host lane, if there is a profile. Returns 0, or a negative errno, for
 * which s->error has a line only if golden failed or an operand is nowhere.
 */
static int host_step(weft_session *s, const struct weft_step *step)
{
	const struct weft_gop *op = &graph(s)->ops[step->op];
	const uint64_t begin = weft_now_ns();
	const weft_tensor *x[WEFT_OP_MAX_INPUTS];
	weft_tensor *y[WEFT_OP_MAX_OUTPUTS];
	int err = 0;

	for (int i = 0; i < op->n_in && !err; i++) {
		err = fetch(s, op->in[i]);
		x[i] = operand(s, op->in[i]);
	}
	for (int i = 0; i < op->n_out && !err; i++) {
		free(s->host[op->out[i]].data);
		s->host[op->out[i]].data = NULL;
		err = new_data(s, op->out[i]);
		y[i] = &s->host[op->out[i]];
	}
	if (!err)
		err = weft_golden_exec_op(graph(s), &s->host_vars, step->op, x, y, true, s->error);
	for (int i = 0; i < op->n_out && !err; i++)
		err = to_arena(s, op->out[i]);
	if (!err && s->profile)
		err = weft_profile_span(s->profile, WEFT_LANE_HOST, weft_graph_src_of(graph(s), step->op)->name, begin, 0);
	return err;
}

uint64_t weft_moved_bytes(const struct weft_cmd *c, const struct weft_config *cfg)
{
	const struct weft_cmd_load *l = &c->load;

	return (uint64_t)weft_cmd_load_bytes(l, cfg->n) * (uint64_t)l->n1 * (uint64_t)l->n2 * (uint64_t)l->n3;
}

/*
 * Adds the bytes that the commands from..to-1 of a step load and store to rd_bytes and wr_bytes of the
 * operators that they work for (s->measure). Commands of no operator are not counted; a command that
 * cannot be decoded ends the count.
 */
static void count_bytes(weft_session *s, const struct weft_step *step, uint32_t from, uint32_t to)
{
	const uint64_t *w = s->p->words + step->first_word;
	struct weft_cmd c;

	for (size_t at = 0, k = 0; at < step->n_words && k < to; at += (size_t)c.h.n_words, k++) {
		int op = s->p->cmds[step->first_cmd + k].op;
		if (weft_cmd_decode(w + at, step->n_words - at, &c))
			return;
		if (k < from)
			continue;
		if (op >= 0 && c.h.op == WEFT_CMD_LOAD)
			s->measure[op].rd_bytes += weft_moved_bytes(&c, s->cfg);
		if (op >= 0 && c.h.op == WEFT_CMD_STORE)
			s->measure[op].wr_bytes += weft_moved_bytes(&c, s->cfg);
	}
}

/*
 * The device's callback for each command that has retired; user is the session, part->cmd counts within
 * the job. Reports progress, notes the cycle in s->ended if that is there, compares what the command
 * made with golden if the run is checked and keeps it if values are kept (weft_checker_retire()), and
 * takes a state if one is wanted behind the command. Returns 0, also if something differs, which is only
 * counted; or a negative errno, with which the job ends: -EINVAL if the step has no such command.
 */
static int on_retire(void *user, const struct weft_retire *part)
{
	weft_session *s = user;
	const struct weft_step *step = &s->p->steps[s->i_step];
	struct weft_retire whole = *part, *r = &whole;

	r->cmd += s->first_cmd;
	if (r->cmd >= step->n_cmds)
		return -EINVAL;
	if (s->o.progress)
		s->o.progress(s->o.progress_user, ++s->work_done, s->work_all);
	if (s->ended)
		s->ended[r->cmd] = r->cycle;
	int err = s->check.g ? weft_checker_retire(&s->check, s->dev, step, r) : 0;
	return err ? err : weft_session_take_state(s, s->i_step, (uint32_t)r->cmd + 1);
}

/*
 * Distributes the cycles of the job that ran the commands from..to-1 over the operators for which they
 * worked (weft_share_cycles), by the times at which they retired (s->ended), and adds the half cycles
 * to s->measure. END and what cannot be decoded end the list of commands. Returns 0, or -ENOMEM or
 * another errno of weft_share_cycles() with s->measure unchanged.
 */
static int share_out(weft_session *s, const struct weft_step *step, uint32_t from, uint32_t to, uint64_t cycles)
{
	const uint64_t *w = s->p->words + step->first_word;
	struct weft_ran *ran = calloc((size_t)(to - from) + 1, sizeof(*ran));
	uint32_t before[WEFT_N_UNITS] = { 0 }, n = 0;
	struct weft_cmd c;

	if (!ran)
		return -ENOMEM;
	for (size_t at = 0, k = 0; at < step->n_words && k < to; at += (size_t)c.h.n_words, k++) {
		if (weft_cmd_decode(w + at, step->n_words - at, &c) || c.h.op == WEFT_CMD_END)
			break;
		unsigned unit = weft_cmd_info((unsigned)c.h.op)->unit;
		if (k < from) {
			before[unit]++;
			continue;
		}
		ran[n] = (struct weft_ran){ .unit = (uint8_t)unit, .who = s->p->cmds[step->first_cmd + k].op, .end = s->ended[k] };
		/* All commands before the part had retired when it began. */
		for (int u = 0; u < WEFT_N_UNITS; u++)
			ran[n].wait[u] = (uint32_t)c.h.wait[u] > before[u] ? (uint32_t)c.h.wait[u] - before[u] : 0;
		n++;
	}
	uint64_t *halves = calloc((size_t)graph(s)->n_ops + 1, sizeof(*halves));
	int err = halves ? weft_share_cycles(ran, n, cycles, halves) : -ENOMEM;
	for (int i = 0; i < graph(s)->n_ops && !err; i++)
		s->measure[i].halves += halves[i];
	free(halves);
	free(ran);
	return err;
}

/*
 * Adds the counters of one job, *r, its cycles, simulated cycles, seconds and processor seconds to the
 * session's sums for the run.
 */
static void add_counters(weft_session *s, const struct weft_job_result *r)
{
	const uint32_t *from = (const uint32_t *)&r->counters;
	uint32_t *to = (uint32_t *)&s->counters;

	for (size_t i = 0; i < sizeof(s->counters) / sizeof(*to); i++)
		to[i] += from[i];
	s->cycles_before += r->cycles;
	s->sim_cycles += r->sim_cycles;
	s->seconds += r->seconds;
	s->cpu_seconds += r->cpu_seconds;
}

/*
 * Says whether the current step's stream has been verified by the process from which this one was
 * forked, and is still the same.
 */
static bool is_verified(const weft_session *s)
{
	return s->verified && s->i_step == s->from.step && !s->words;
}

/*
 * Submits the commands from..to-1 of a step as one job with the two windows win; *job becomes its
 * number. A whole step is submitted as it is. Of a part the whole stream is verified here (unless that
 * was done before), because the verifier would refuse a part for reading bytes that an earlier part
 * wrote; then the part is cut out and submitted as trusted, and afterwards the device verifies again, also
 * if it had been told not to (weft_dev_trust). Returns 0, -ENOMEM, or a negative errno of the verifier or
 * the device.
 */
static int submit_part(weft_session *s, const struct weft_step *step, uint32_t from, uint32_t to,
                       const struct weft_window *win, weft_job *job)
{
	const uint64_t *words = weft_session_words(s) + step->first_word;
	size_t n_words = step->n_words;
	weft_program as_run = *s->p;

	as_run.words = (uint64_t *)(uintptr_t)weft_session_words(s);
	if (!from && to == step->n_cmds)
		return weft_submit(s->dev, words, n_words, win, 2, job);
	int err = is_verified(s) ? 0 : weft_dev_verify(s->dev, words, n_words, win, 2);
	if (err)
		return err;
	uint64_t *part = weft_cut_stream(&as_run, step, from, to, &n_words);
	if (!part)
		return -ENOMEM;
	weft_dev_trust(s->dev, true);
	err = weft_submit(s->dev, part, n_words, win, 2, job);
	weft_dev_trust(s->dev, false);
	free(part);
	return err;
}

/*
 * Waits for a job, for at most options.timeout_ms (0: as long as it takes), and fills *r. Meanwhile
 * s->job tells weft_session_stop() which job to cancel; if the run is cancelled already, the job is
 * cancelled here. Returns 0, or the negative errno of weft_finish(); how the job ended is in r->status.
 */
static int finish(weft_session *s, weft_job job, struct weft_job_result *r)
{
	atomic_store(&s->job, job + 1);
	/* The run may have been cancelled before weft_session_stop() could see the job. */
	if (is_cancelled(s))
		weft_cancel(s->dev, job);
	int err = weft_finish(s->dev, job, s->o.timeout_ms ? s->o.timeout_ms : WEFT_FOREVER, r);
	atomic_store(&s->job, 0);
	return err;
}

void weft_session_stop(weft_session *s, atomic_bool *cancel)
{
	atomic_store(cancel, true);
	/* Read the job before the flag: when s->cancel is this run's, the job of an earlier run is not there any more. */
	const weft_job job = atomic_load(&s->job);
	if (job && s->dev && atomic_load(&s->cancel) == cancel)
		weft_cancel(s->dev, job - 1);
}

/*
 * Adds a job that has ended, with or without success, to the run's profile: the span since `begin`
 * (weft_now_ns) as "step N", and closes the step's part of the profile. If the job succeeded on a card
 * (`before`, the arena before the step, is not NULL), the step is run again first to measure what each
 * unit did (weft_profile_card()). Returns 0 or a negative errno.
 */
static int profile_step(weft_session *s, const struct weft_step *step, const uint8_t *before, const struct weft_job_result *r,
                        uint64_t begin)
{
	char name[32];

	snprintf(name, sizeof(name), "step %d", s->i_step);
	int err = weft_profile_span(s->profile, WEFT_LANE_JOB, name, begin, 0);
	if (err || r->status || s->profile->by_cycle)
		return err ? err : weft_profile_end(s->profile, NULL);
	return before ? weft_profile_card(s, step, before, &r->counters) : weft_profile_end(s->profile, NULL);
}

/*
 * Returns the number within the step of command cmd of the program; -1 if it belongs to another step.
 */
static int64_t command_in(const struct weft_step *step, int64_t cmd)
{
	cmd -= step->first_cmd;
	return cmd >= 0 && cmd < (int64_t)step->n_cmds ? cmd : -1;
}

/*
 * Prepares the session and its device for the job that runs the commands of a step from `from` on: if
 * `from` is 0, keeps the arena for a capture and, with s->clean, fills the scratchpad with zeros; opens
 * the step's part of the profile, if there is one; has the device call on_retire() and write the waveform
 * that the options ask for; and makes s->ended on the RTL, which the caller frees in each case. Returns 0,
 * -ENOMEM, or the device's negative errno.
 */
static int prepare_job(weft_session *s, const struct weft_step *step, uint32_t from)
{
	int err = from ? 0 : weft_session_remember(s);

	s->first_cmd = from;
	if (!err && s->profile)
		err = weft_profile_begin(s->profile, s->i_step);
	if (!err && s->clean && !from)
		err = weft_session_clean_sp(s);

	weft_dev_observe(s->dev, on_retire, s);
	if (s->o.wave && s->o.wave_cmd >= 0)
		weft_dev_wave(s->dev, command_in(step, s->o.wave_cmd));
	/* Only the RTL tells at which cycles commands retire. */
	if (!err && s->o.device == WEFT_DEVICE_RTL && !(s->ended = calloc((size_t)step->n_cmds + 1, sizeof(*s->ended))))
		err = -ENOMEM;
	return err;
}

/*
 * Notes what went wrong in the part of a step that begins at command `from`, which ended with err and, if
 * the device has run it, with *r. If err is not 0, s->error gets its line. If the device found a byte that
 * differs from the model's (on the RTL), s->check.first.bytes becomes that byte, unless it has one. If
 * `from` is 0 and err is not 0 or anything has differed so far in the run, the capture is written
 * (weft_session_capture()).
 */
static void note_trouble(weft_session *s, const struct weft_step *step, uint32_t from, int err, const struct weft_job_result *r)
{
	if (err)
		snprintf(s->error, WEFT_MSG_LEN, "%s", err == -ENOMEM ? weft_file_error(err) : *weft_dev_error(s->dev) ? weft_dev_error(s->dev)
		                                      : "the program's debug map does not fit its stream");
	if (!s->check.first.bytes.found) {
		s->check.first.bytes = *weft_dev_cosim(s->dev);
		s->check.first.bytes.cmd += step->first_cmd + from;
	}
	if (!from && (err || s->check.mismatches || s->check.first.bytes.found))
		weft_session_capture(s, s->i_step, err ? err : -EBADMSG, err ? s->error : "tensors differ from golden", r);
}

/*
 * Runs the commands from..to-1 of a step on the device as one job (prepare_job(), submit_part(), finish()).
 * If the job has ended, with success or with a fault, adds its counters, bytes, cycles of operators (RTL
 * only) and its part of the profile to the run's; a failure before that adds nothing. before: see
 * profile_step(). Returns 0, or a negative errno with one line in s->error: what could not be prepared or
 * submitted, or how the job ended, which counts more than an error in adding. Differences are only counted;
 * they and failures are noted, and captured if that is asked for (note_trouble()).
 */
static int submit_step(weft_session *s, const struct weft_step *step, uint32_t from, uint32_t to, const uint8_t *before)
{
	const struct weft_window win[] = {
		{ .buf = s->consts, .rd = true },
		{ .buf = s->arena, .rd = true, .wr = true },
	};
	struct weft_job_result r = { 0 };
	weft_job job;
	const uint64_t begin = weft_now_ns();
	int err = prepare_job(s, step, from);

	if (!err)
		err = submit_part(s, step, from, to, win, &job);
	if (!err)
		err = finish(s, job, &r);
	if (!err) {
		add_counters(s, &r);
		count_bytes(s, step, from, to);
		err = s->profile ? profile_step(s, step, before, &r, begin) : 0;
		if (!err && s->ended)
			err = share_out(s, step, from, to, r.cycles);
		err = r.status ? r.status : err;
	}
	free(s->ended);
	s->ended = NULL;
	note_trouble(s, step, from, err, &r);
	return err;
}

/*
 * Runs the commands from..to-1 of an NPU step, after giving it the values that only the run knows, and
 * compares them with golden if the run is checked. On a card, which shows nothing while it runs, the
 * step is run again with stores added for that. Returns 0, or a negative errno with one line in
 * s->error; differences are only counted.
 */
static int npu_step(weft_session *s, const struct weft_step *step, uint32_t from, uint32_t to)
{
	uint8_t *before = NULL;
	bool card = s->o.device == WEFT_DEVICE_USB, trace = card && s->check.g;
	int err = weft_session_late(s, s->i_step);

	if (!err && (trace || (card && s->profile))) {
		before = malloc(s->p->arena_bytes + 1);
		err = before ? weft_buf_read(s->arena, 0, before, s->p->arena_bytes) : -ENOMEM;
	}
	if (!err)
		err = submit_step(s, step, from, to, before);
	if (!err && trace)
		err = weft_trace_step(s, step, before);
	if (err && !*s->error)
		snprintf(s->error, WEFT_MSG_LEN, "%s", err == -ENOMEM || !*weft_dev_error(s->dev) ? weft_file_error(err) : weft_dev_error(s->dev));
	free(before);
	return err;
}

/*
 * Runs the steps of the program from s->from up to s->to, or up to the end if s->to is 0, 0, and takes states
 * before steps and at the program's end, at points where they are wanted. Before each step it looks whether the
 * run is cancelled. Returns 0; -ECANCELED with a line in s->error; or the negative errno of the step or state
 * that failed.
 */
int weft_session_steps(weft_session *s)
{
	const struct weft_point end = s->to.step || s->to.cmd ? s->to : (struct weft_point){ s->p->n_steps, 0 };
	int err = 0;

	for (s->i_step = s->from.step; !err && s->i_step < s->p->n_steps; s->i_step++) {
		const struct weft_step *step = &s->p->steps[s->i_step];
		uint32_t from = s->i_step == s->from.step ? s->from.cmd : 0;
		uint32_t to = s->i_step == end.step ? end.cmd : step->n_cmds;
		if ((err = weft_session_take_state(s, s->i_step, 0)))
			break;
		if (s->i_step > end.step || (s->i_step == end.step && !end.cmd))
			break;
		if (is_cancelled(s)) {
			snprintf(s->error, WEFT_MSG_LEN, "the run was cancelled");
			return -ECANCELED;
		}
		err = step->kind == WEFT_STEP_HOST ? host_step(s, step) : npu_step(s, step, from, to);
	}
	return err ? err : weft_session_take_state(s, s->p->n_steps, 0);
}

/* ---- a run ---- */

/*
 * Frees the session's profile and replaces it by a new one if the options ask for one and there is a
 * device (s->profile is NULL otherwise); the device then reports samples and transfers to it, if it
 * can, until stop_profile(). Returns 0 or -ENOMEM.
 */
static int new_profile(weft_session *s)
{
	stop_profile(s);
	weft_profile_free(s->profile);
	s->profile = NULL;
	if (!s->o.profile || !s->dev)
		return 0;
	if (!(s->profile = weft_profile_new(s)))
		return -ENOMEM;
	/* If the device offers neither, the profile has only the host's clock. */
	s->profiling = true;
	weft_dev_sample(s->dev, weft_profile_sample, s->profile);
	weft_dev_traffic(s->dev, weft_profile_transfer, s->profile);
	return 0;
}

weft_dev *weft_session_device(weft_session *s)
{
	for (int i = 0; s->cards && i < weft_cards_count(s->cards); i++)
		if (s->each[i])
			return s->each[i]->dev;
	return s->dev;
}

char *weft_session_profile_text(const weft_session *s)
{
	return s->profile ? weft_profile_text(s->profile) : NULL;
}

/* Says whether golden uses the caller's memory for inputs and outputs. run_through() takes it out of golden's tensors again. */
static bool borrows(const weft_session *s)
{
	return !s->dev && !s->o.keep;
}

/*
 * Makes the session ready to run its program on the inputs: forgets the previous run, makes the tables
 * of host tensors and measurements and a new profile, discards what the device's arena held, and takes
 * the inputs. If golden's results are needed (a check, or a session on golden) and nobody has provided
 * them (s->given_room, which is taken over), all of golden is computed here. Prepares the comparison if
 * there is a device and options check or keep. outputs is the memory that the caller has for them, or NULL if it has none
 * yet; golden may write there. Returns 0 or a negative errno, for which s->error has a line but
 * perhaps for -ENOMEM and for inputs that the device did not take.
 */
int weft_session_prepare(weft_session *s, const weft_tensor *inputs, const weft_tensor *outputs)
{
	const weft_graph *g = graph(s);
	bool golden = s->o.check || s->o.device == WEFT_DEVICE_GOLDEN;
	int err;

	forget_run(s);
	s->work_done = 0;
	s->work_all = s->p->n_cmds;
	s->host = calloc((size_t)g->n_tensors + 1, sizeof(*s->host));
	s->room = s->given_room;
	s->given_room = NULL;
	s->golden = s->room ? weft_golden_room_tensors(s->room)
	                    : golden ? calloc((size_t)g->n_tensors + 1, sizeof(*s->golden)) : NULL;
	s->measure = calloc((size_t)g->n_ops + 1, sizeof(*s->measure));
	if (!s->host || !s->measure || (golden && !s->golden))
		return -ENOMEM;
	/* Everything in the arena is made from the inputs, so what it held before does not matter. */
	err = new_profile(s);
	if (!err && s->dev)
		err = weft_buf_discard(s->arena);
	if (err)
		snprintf(s->error, WEFT_MSG_LEN, "%s", err == -ENOMEM || !*weft_dev_error(s->dev) ? weft_file_error(err) : weft_dev_error(s->dev));
	if (!err)
		err = take_inputs(s, inputs);
	if (!err && golden && !s->room)
		err = borrows(s) && outputs ? weft_golden_exec_borrow(g, &s->vars, inputs, outputs, s->golden, &s->spares, s->error)
		                            : weft_golden_exec_vars(g, &s->vars, inputs, s->golden, true, s->error);
	if (!err && s->dev && (s->o.check || s->o.keep))
		err = weft_checker_begin(&s->check, g, s->p, s->golden, s->o.keep);
	s->check.room = s->room;
	return err;
}

/*
 * Says whether golden's memory for tensor t, which is output i, may be given away. It may if an operator makes the tensor and no later
 * output is the same one.
 */
static bool may_move(const weft_session *s, int i, int t)
{
	const weft_graph *g = graph(s);

	for (int k = i + 1; k < g->n_outputs; k++)
		if (g->outputs[k] == t)
			return false;
	for (int k = 0; k < g->n_inputs; k++)
		if (g->inputs[k] == t)
			return false;
	return borrows(s) && !g->tensors[t].t.data;
}

/*
 * Hands all outputs (fetched from the device, or golden's) to the caller and compares them
 * with golden if the run is checked. outputs[i] becomes the graph's tensor; if its data was not NULL,
 * the values are written to that memory; otherwise it gets memory from malloc, which is the caller's,
 * also after a failure. If nothing else needs golden's own memory for the output, the caller gets that. Returns 0, -ENOMEM, -EINVAL
 * or the device's negative errno; differences are only counted.
 */
int weft_session_outputs(weft_session *s, weft_tensor *outputs)
{
	const weft_graph *g = graph(s);

	for (int i = 0; i < g->n_outputs; i++) {
		int t = g->outputs[i];
		int err = s->dev ? fetch(s, t) : 0;
		if (err)
			return err;
		const weft_tensor *src = s->dev ? operand(s, t) : &s->golden[t];
		if (s->check.g)
			weft_checker_tensor(&s->check, t, src->data);
		weft_tensor out = *src;
		if (!outputs[i].data && may_move(s, i, t)) {
			s->golden[t].data = NULL;
			outputs[i] = out;
			continue;
		}
		/* Write to the caller's memory, if it gave some and golden has not written there. */
		out.data = outputs[i].data ? outputs[i].data : malloc(weft_tensor_bytes(src) + 1);
		if (!out.data)
			return -ENOMEM;
		if (out.data != src->data)
			memcpy(out.data, src->data, weft_tensor_bytes(src));
		outputs[i] = out;
	}
	return 0;
}

/*
 * Returns the last run's report: weft_report_new(), cycles, utilization, times, counters and, if it was
 * compared with golden, the result of that. Tensors that were seen only in part are added to s->check's
 * differences here, so that it is called once a run. A byte that differs from the RTL's model counts as
 * one difference if there is no other. weft_report_free() frees it; NULL: out of memory.
 */
struct weft_report *weft_session_report(weft_session *s)
{
	struct weft_report *r = weft_report_new(s);
	double per_cycle = (double)s->cfg->n * s->cfg->n;

	if (!r)
		return NULL;
	r->cycles = s->cycles_before;
	r->utilization = r->cycles ? (double)(r->macs - r->macs_folded) / ((double)r->cycles * per_cycle) : 0;
	r->counters = s->counters;
	r->seconds = s->seconds;
	r->cpu_seconds = s->cpu_seconds;
	r->sim_cycles = s->sim_cycles;
	if (s->check.g && s->golden) {
		r->checked = true;
		r->tensors = weft_checker_tensors(&s->check);
		r->elements = s->check.elements;
		r->first = s->check.first;
		r->mismatches = s->check.mismatches + (s->check.first.bytes.found && !s->check.mismatches);
	}
	return r;
}

/*
 * Returns the number of the program's last NPU step, to which a difference is attributed that only the
 * outputs show; 0 if there is none, -1 if there are no steps at all.
 */
static int last_npu_step(const weft_session *s)
{
	int i = s->p->n_steps - 1;

	while (i > 0 && s->p->steps[i].kind != WEFT_STEP_NPU)
		i--;
	return i;
}

int weft_session_captured(const weft_session *s)
{
	int captured = 0;

	for (int i = 0; s->cards && i < weft_cards_count(s->cards) && captured <= 0; i++) {
		const int one = s->each[i] ? weft_session_captured(s->each[i]) : 0;
		captured = one ? one : captured;
	}
	if (s->cards)
		return captured;
	return s->captured ? 1 : s->capture_error;
}

/* A session's variables, golden's and the host's, as a run finds them; empty if it may not be repeated or has none. */
struct found_vars { struct weft_vars golden, host; };

/*
 * Copies the session's variables to *found if a run may be repeated, which is so on a card; otherwise *found
 * becomes empty. Returns 0, or -ENOMEM with *found empty; release_found() frees it.
 */
static int keep_found(const weft_session *s, struct found_vars *found)
{
	const bool card = s->o.device == WEFT_DEVICE_USB && graph(s)->n_vars;
	int err = 0;

	*found = (struct found_vars){ 0 };
	if (card && !(err = weft_vars_init(&found->golden, graph(s))))
		err = weft_vars_init(&found->host, graph(s));
	if (err) {
		weft_vars_release(&found->golden);
		return err;
	}
	if (card) {
		weft_vars_copy(&found->golden, &s->vars);
		weft_vars_copy(&found->host, &s->host_vars);
	}
	return 0;
}

/* Frees the copies of variables. */
static void release_found(struct found_vars *found)
{
	weft_vars_release(&found->golden);
	weft_vars_release(&found->host);
}

/*
 * Prepares a run, runs all its steps (on golden, preparing has computed everything) and hands over its outputs
 * as weft_session_outputs() does. If the card was reset meanwhile (-ECONNRESET), starts over from the inputs and
 * from the variables as the run has found them, RUN_TRIES (3) times in all. Returns 0 or a negative errno, for
 * which s->error has a line or is "" (out of memory, or inputs and outputs that the device did not take or
 * give); what a run that failed has done to the variables stays.
 */
static int run_through(weft_session *s, const weft_tensor *inputs, weft_tensor *out)
{
	struct found_vars found;
	int err = keep_found(s, &found);

	for (int tries = 0; tries < RUN_TRIES && (tries ? err == -ECONNRESET : !err); tries++) {
		s->error[0] = '\0';
		if (tries) {
			weft_vars_copy(&s->vars, &found.golden);
			weft_vars_copy(&s->host_vars, &found.host);
		}
		err = weft_session_prepare(s, inputs, out);
		if (!err && s->dev)
			err = weft_session_steps(s);
		if (!err)
			err = weft_session_outputs(s, out);
	}
	if (borrows(s) && s->golden)
		weft_golden_give_back(graph(s), inputs, out, s->golden);
	release_found(&found);
	return err;
}

/*
 * Ends the waveform of the run, which is over with err. Returns err, or, if that is 0, the negative errno for which
 * the file could not be written; what became of the file is then in msg, behind what is already there.
 */
static int end_wave(weft_session *s, int err, char *msg)
{
	const int bad = s->dev && s->o.wave ? weft_dev_wave_end(s->dev) : 0;
	const size_t n = strlen(msg);

	if (bad)
		snprintf(msg + n, WEFT_MSG_LEN - n, "%s%s", n ? "; " : "", weft_dev_error(s->dev));
	return err ? err : bad;
}

/*
 * Runs the network once and hands over outputs (run_through(), which starts over if a card was reset
 * meanwhile), writes the profile and the end of the waveform, makes the report. Data of `out` is the caller's memory, or NULL and then
 * allocated, which the caller frees even if the run fails. *rep (rep may be NULL) gets the report on success
 * and on -EBADMSG, and is untouched otherwise. Returns 0, -EBADMSG if elements differ from golden (then the
 * capture is written, if asked for), or another negative errno, with one line in msg, which is "" on success.
 * Called with s->running held.
 */
static int run_once(weft_session *s, const weft_tensor *inputs, weft_tensor *out, struct weft_report **rep, char *msg)
{
	struct weft_report *r = NULL;

	s->error = msg;
	msg[0] = '\0';
	int err = run_through(s, inputs, out);
	if (!err && !(r = weft_session_report(s)))
		err = -ENOMEM;
	/* It replaces an older file, so it comes behind all that can end the run. */
	if (!err && s->profile)
		err = weft_profile_write(s->profile, s->o.profile, msg);
	if (err == -ENOMEM)
		snprintf(msg, WEFT_MSG_LEN, "out of memory");
	/* Inputs that could not be written, or outputs that could not be read, have no line yet. */
	else if (err && !*msg)
		snprintf(msg, WEFT_MSG_LEN, "%s", s->dev && *weft_dev_error(s->dev) ? weft_dev_error(s->dev) : weft_file_error(err));
	if (!err && r->mismatches) {
		snprintf(msg, WEFT_MSG_LEN, "%llu elements differ from golden", (unsigned long long)r->mismatches);
		err = -EBADMSG;
		weft_session_capture(s, last_npu_step(s), err, msg, NULL);
	}
	err = end_wave(s, err, msg);
	stop_profile(s);
	if (rep && (!err || err == -EBADMSG))
		*rep = r;
	else
		weft_report_free(r);
	return err;
}

/* Does as run_once(), one thread at a time: waits until no other thread runs the session. */
static int run_here(weft_session *s, const weft_tensor *inputs, weft_tensor *out, struct weft_report **rep, char *msg)
{
	pthread_mutex_lock(&s->running);
	int err = run_once(s, inputs, out, rep, msg);
	pthread_mutex_unlock(&s->running);
	return err;
}

/*
 * Runs the network once on one of the session's cards and waits. out[i], all zeros before, becomes the
 * graph's tensor with memory from malloc, which the caller frees also if the run fails. Returns as
 * weft_session_run(), with one line in msg on failure.
 */
static int run_on_cards(weft_session *s, const weft_tensor *inputs, weft_tensor *out, struct weft_report **rep, char *msg)
{
	const weft_graph *g = graph(s);

	for (int i = 0; i < g->n_outputs; i++) {
		out[i] = g->tensors[g->outputs[i]].t;
		out[i].data = malloc(weft_tensor_bytes(&out[i]) + 1);
		if (!out[i].data) {
			snprintf(msg, WEFT_MSG_LEN, "out of memory");
			return -ENOMEM;
		}
	}
	return weft_session_run_spread(s, inputs, out, rep, msg);
}

/*
 * Runs the network once and waits for it. outputs are set on success only, with data from malloc that
 * the caller frees; after any failure, -EBADMSG too, they are untouched. *rep (rep may be NULL) gets
 * the report on success and on -EBADMSG, which the caller frees. Returns 0, -EBADMSG if elements differ
 * from golden, or another negative errno, with one line in msg; see weft.h.
 */
int weft_session_run(weft_session *s, const weft_tensor *inputs, weft_tensor *outputs,
                     struct weft_report **rep, char msg WEFT_ROOM(WEFT_MSG_LEN))
{
	int n_out = graph(s)->n_outputs;
	weft_tensor *out = calloc((size_t)n_out + 1, sizeof(*out));

	if (!out) {
		snprintf(msg, WEFT_MSG_LEN, "out of memory");
		return -ENOMEM;
	}
	int err = s->cards ? run_on_cards(s, inputs, out, rep, msg) : run_here(s, inputs, out, rep, msg);
	for (int i = 0; i < n_out; i++) {
		if (err)
			free(out[i].data);
		else
			outputs[i] = out[i];
	}
	free(out);
	return err;
}

int weft_session_check_outputs(const weft_session *s, const weft_tensor *outputs, char *msg)
{
	const weft_graph *g = graph(s);

	for (int i = 0; i < g->n_outputs; i++) {
		const weft_tensor *want = &g->tensors[g->outputs[i]].t, *t = &outputs[i];
		if (t->data && t->dtype == want->dtype && t->rank == want->rank &&
		    !memcmp(t->dim, want->dim, sizeof(*t->dim) * (size_t)want->rank))
			continue;
		snprintf(msg, WEFT_MSG_LEN, "output %d \"%.100s\": %s", i, g->tensors[g->outputs[i]].name,
		         t->data ? "type or shape is not the network's" : "has no memory");
		return -EINVAL;
	}
	return 0;
}

int weft_session_run_until(weft_session *s, const weft_tensor *inputs, const weft_tensor *outputs, atomic_bool *cancel,
                           struct weft_report **rep, char *msg)
{
	const size_t n_out = (size_t)graph(s)->n_outputs;
	weft_tensor *out = malloc((n_out + 1) * sizeof(*out));

	if (!out) {
		snprintf(msg, WEFT_MSG_LEN, "out of memory");
		return -ENOMEM;
	}
	memcpy(out, outputs, n_out * sizeof(*out));
	pthread_mutex_lock(&s->running);
	atomic_store(&s->cancel, cancel);
	int err = run_once(s, inputs, out, rep, msg);
	atomic_store(&s->cancel, NULL);
	pthread_mutex_unlock(&s->running);
	free(out);
	return err;
}

int weft_session_run_into(weft_session *s, const weft_tensor *inputs, const weft_tensor *outputs,
                          struct weft_report **rep, char msg WEFT_ROOM(WEFT_MSG_LEN))
{
	int err = weft_session_check_outputs(s, outputs, msg);

	if (err)
		return err;
	return s->cards ? weft_session_run_spread(s, inputs, outputs, rep, msg)
	                : weft_session_run_until(s, inputs, outputs, NULL, rep, msg);
}

int weft_session_plan(weft_session *s, struct weft_report **rep, char msg WEFT_ROOM(WEFT_MSG_LEN))
{
	const weft_program *p = s->p;
	int err = s->own_program && s->o.device == WEFT_DEVICE_GOLDEN && !s->o.strict ? get_program(s, true, msg) : 0;

	*rep = err ? NULL : weft_report_new(s);
	s->p = p;
	if (!err && !*rep) {
		snprintf(msg, WEFT_MSG_LEN, "out of memory");
		err = -ENOMEM;
	}
	return err;
}

void weft_tensor_release(weft_tensor *t)
{
	free(t->data);
	t->data = NULL;
}

/* ---- tensors of the last run ---- */

int weft_session_n_kept(const weft_session *s)
{
	return graph(s)->n_tensors;
}

int weft_session_kept(const weft_session *s, int i, struct weft_kept *k)
{
	const weft_graph *g = graph(s);

	if (i < 0 || i >= g->n_tensors)
		return -ERANGE;
	const struct weft_gtensor *t = &g->tensors[i];
	const weft_tensor *data = NULL;
	if (!s->dev && s->golden && s->golden[i].data)
		data = &s->golden[i];
	else if (s->check.seen && s->check.seen[i].data && s->check.covered[i] >= weft_tensor_elements(&t->t))
		data = &s->check.seen[i];
	else if (s->host && s->host[i].data)
		data = &s->host[i];
	const int op = weft_graph_src_of(g, t->producer)->index;
	*k = (struct weft_kept){ .op = op, .name = t->name, .internal = t->internal, .tensor = data };
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device lifetime, buffers and the job queue. See include/weft/dev.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/backend.h"
#include "driver/usb/usb.h"
#include "driver/verify/verify.h"

#define QUEUE_MAX 16   /* jobs; devices that run in weft_wait() */
#define STREAM_ALIGN_WORDS 8   /* the stream's window is padded to 64 bytes */

struct weft_buf {
	weft_dev *dev;
	uint8_t *data;
	size_t len;
	void *card;                /* the backend's, if it has memory of its own */
};

struct job {
	weft_job id;
	bool cancelled;
	uint64_t *words;           /* owned; padded with zero words */
	size_t n_words;
	struct weft_window win[WEFT_N_WINDOWS];
};

struct weft_dev {
	const struct weft_backend *be;
	const struct weft_config *cfg;
	void *state;
	struct job queue[QUEUE_MAX];
	size_t n_queued;
	weft_job next_id;
	weft_observer *observer;
	void *observer_user;
	bool trusted;
	char error[WEFT_DEV_MSG];
};

struct weft_dev_options weft_dev_options_default(void)
{
	return (struct weft_dev_options){ .config = "w16", .wave_cmd = -1 };
}

int weft_dev_open(const struct weft_dev_options *o, weft_dev **out, char *msg)
{
	const char *name = o->config ? o->config : "w16";
	const struct weft_config *cfg = o->kind == WEFT_DEV_RTL ? weft_config_find(name) : weft_config_of_model(name);
	weft_dev *dev;

	*msg = '\0';
	if (!cfg) {
		snprintf(msg, WEFT_DEV_MSG, "configuration \"%.40s\" is not known; " WEFT_CONFIG_NAMES, name);
		return -ENOENT;
	}
	dev = calloc(1, sizeof(*dev));
	if (!dev) {
		snprintf(msg, WEFT_DEV_MSG, "device: out of memory");
		return -ENOMEM;
	}
	dev->cfg = cfg;
	dev->next_id = 1;
	dev->be = o->kind == WEFT_DEV_RTL ? &weft_backend_rtl : o->kind == WEFT_DEV_USB ? &weft_backend_usb
	                                                                              : &weft_backend_model;
	int err = dev->be->open(o, cfg, &dev->state, msg);
	if (err) {
		if (!*msg)
			snprintf(msg, WEFT_DEV_MSG, "device: %s", strerror(-err));
		free(dev);
		return err;
	}
	*out = dev;
	return 0;
}

void weft_dev_close(weft_dev *dev)
{
	if (!dev)
		return;
	for (size_t i = 0; i < dev->n_queued; i++)
		free(dev->queue[i].words);
	dev->be->close(dev->state);
	free(dev);
}

const char *weft_dev_error(const weft_dev *dev)
{
	return dev->error;
}

/* ---- buffers ---- */

int weft_buf_alloc(weft_dev *dev, size_t len_bytes, weft_buf **buf)
{
	weft_buf *b = calloc(1, sizeof(*b));

	if (b)
		b->data = calloc(1, len_bytes ? len_bytes : 1);
	if (!b || !b->data) {
		free(b);
		return -ENOMEM;
	}
	b->dev = dev;
	b->len = len_bytes;
	int err = dev->be->async ? dev->be->async->buf_new(dev->state, b->data, len_bytes, &b->card, dev->error) : 0;
	if (err) {
		free(b->data);
		free(b);
		return err;
	}
	*buf = b;
	return 0;
}

void weft_buf_free(weft_buf *buf)
{
	if (!buf)
		return;
	if (buf->card)
		buf->dev->be->async->buf_free(buf->dev->state, buf->card);
	free(buf->data);
	free(buf);
}

static bool outside(const weft_buf *buf, size_t off, size_t len)
{
	return off > buf->len || len > buf->len - off;
}

int weft_buf_write(weft_buf *buf, size_t off_bytes, const void *data, size_t len_bytes)
{
	int err = 0;

	if (outside(buf, off_bytes, len_bytes))
		return -ERANGE;
	if (buf->card)
		err = buf->dev->be->async->buf_write(buf->dev->state, buf->card, off_bytes, len_bytes, buf->dev->error);
	if (!err && len_bytes)
		memcpy(buf->data + off_bytes, data, len_bytes);
	return err;
}

int weft_buf_read(weft_buf *buf, size_t off_bytes, void *data, size_t len_bytes)
{
	int err = 0;

	if (outside(buf, off_bytes, len_bytes))
		return -ERANGE;
	if (buf->card)
		err = buf->dev->be->async->buf_read(buf->dev->state, buf->card, off_bytes, len_bytes, buf->dev->error);
	if (!err && len_bytes)
		memcpy(data, buf->data + off_bytes, len_bytes);
	return err;
}

int weft_buf_discard(weft_buf *buf)
{
	return buf->card ? buf->dev->be->async->buf_discard(buf->dev->state, buf->card, buf->dev->error) : 0;
}

int weft_buf_doubt(weft_buf *buf)
{
	return buf->card ? buf->dev->be->async->buf_doubt(buf->dev->state, buf->card, buf->dev->error) : 0;
}

/* ---- jobs ---- */

static int verify(weft_dev *dev, const uint64_t *words, size_t n_words,
                  const struct weft_window *win, size_t n_win)
{
	struct weft_verify_windows w = { 0 };
	struct weft_verify_result r;

	w.w[WEFT_WIN_STREAM].size = n_words * 8;
	w.w[WEFT_WIN_STREAM].rd = true;
	for (size_t i = 0; i < n_win; i++) {
		w.w[i + 1].size = win[i].buf ? win[i].buf->len : 0;
		w.w[i + 1].rd = win[i].rd;
		w.w[i + 1].wr = win[i].wr;
	}
	int err = weft_verify(dev->cfg, words, n_words, &w, &r);
	if (err)
		snprintf(dev->error, sizeof(dev->error), "%s", r.text);
	return err;
}

int weft_dev_verify(weft_dev *dev, const uint64_t *words, size_t n_words, const struct weft_window *windows,
                    size_t n_windows)
{
	return verify(dev, words, n_words, windows, n_windows);
}

static int submit_async(weft_dev *dev, const uint64_t *words, size_t n_words,
                        const struct weft_window *windows, size_t n_windows, weft_job *job)
{
	struct weft_backend_job b = { .words = words, .n_words = n_words };

	for (size_t i = 0; i < n_windows; i++)
		if (windows[i].buf)
			b.win[i + 1] = (struct weft_backend_window){ windows[i].buf->data, windows[i].buf->len,
				windows[i].rd, windows[i].wr, windows[i].buf->card };
	int err = dev->be->async->submit(dev->state, dev->next_id, &b, dev->error);
	if (!err)
		*job = dev->next_id++;
	return err;
}

int weft_submit(weft_dev *dev, const uint64_t *words, size_t n_words,
                const struct weft_window *windows, size_t n_windows, weft_job *job)
{
	size_t padded = (n_words + STREAM_ALIGN_WORDS - 1) / STREAM_ALIGN_WORDS * STREAM_ALIGN_WORDS;

	dev->error[0] = '\0';
	if (n_windows > WEFT_N_WINDOWS - 1) {
		snprintf(dev->error, sizeof(dev->error), "submit: %zu windows > %d", n_windows, WEFT_N_WINDOWS - 1);
		return -EINVAL;
	}
	if (dev->n_queued == QUEUE_MAX) {
		snprintf(dev->error, sizeof(dev->error), "submit: %d jobs are queued; wait for one", QUEUE_MAX);
		return -EAGAIN;
	}
	int err = dev->trusted ? 0 : verify(dev, words, n_words, windows, n_windows);
	if (err)
		return err;
	if (dev->be->async)
		return submit_async(dev, words, n_words, windows, n_windows, job);
	struct job *j = &dev->queue[dev->n_queued];
	memset(j, 0, sizeof(*j));
	j->words = calloc(padded ? padded : 1, sizeof(uint64_t));
	if (!j->words)
		return -ENOMEM;
	memcpy(j->words, words, n_words * sizeof(uint64_t));
	j->n_words = n_words;
	for (size_t i = 0; i < n_windows; i++)
		j->win[i + 1] = windows[i];
	j->id = dev->next_id++;
	dev->n_queued++;
	*job = j->id;
	return 0;
}

static void run(weft_dev *dev, const struct job *j, unsigned timeout_ms, struct weft_job_result *r)
{
	struct weft_backend_job b = { .words = j->words, .n_words = j->n_words,
		.observer = dev->observer, .user = dev->observer_user };

	b.win[WEFT_WIN_STREAM].data = (uint8_t *)j->words;
	b.win[WEFT_WIN_STREAM].len = (j->n_words + STREAM_ALIGN_WORDS - 1) / STREAM_ALIGN_WORDS * STREAM_ALIGN_WORDS * 8;
	b.win[WEFT_WIN_STREAM].rd = true;
	for (unsigned i = 1; i < WEFT_N_WINDOWS; i++) {
		if (!j->win[i].buf)
			continue;
		b.win[i] = (struct weft_backend_window){ j->win[i].buf->data, j->win[i].buf->len,
			j->win[i].rd, j->win[i].wr, NULL };
	}
	b.deadline_ns = timeout_ms ? weft_now_ns() + (uint64_t)timeout_ms * 1000000u : 0;
	dev->be->run(dev->state, &b, r, dev->error);
}

/* Jobs run in order: everything queued before this one runs first. */
int weft_wait(weft_dev *dev, weft_job job, unsigned timeout_ms, struct weft_job_result *result)
{
	size_t at = 0;

	dev->error[0] = '\0';
	if (dev->be->async)
		return dev->be->async->wait(dev->state, job, timeout_ms ? weft_now_ns() + (uint64_t)timeout_ms * 1000000u : 0,
		                            result, dev->error);
	while (at < dev->n_queued && dev->queue[at].id != job)
		at++;
	if (at == dev->n_queued) {
		snprintf(dev->error, sizeof(dev->error), "wait: no job %llu", (unsigned long long)job);
		return -ENOENT;
	}
	for (size_t i = 0; i <= at; i++) {
		if (dev->queue[i].cancelled)
			*result = (struct weft_job_result){ .status = -ECANCELED };
		else
			run(dev, &dev->queue[i], timeout_ms, result);
		free(dev->queue[i].words);
	}
	memmove(dev->queue, dev->queue + at + 1, (dev->n_queued - at - 1) * sizeof(dev->queue[0]));
	dev->n_queued -= at + 1;
	return 0;
}

int weft_cancel(weft_dev *dev, weft_job job)
{
	if (dev->be->async)
		return dev->be->async->cancel(dev->state, job);
	for (size_t i = 0; i < dev->n_queued; i++) {
		if (dev->queue[i].id == job) {
			dev->queue[i].cancelled = true;
			return 0;
		}
	}
	return -ENOENT;
}

/* ---- cards ---- */

int weft_dev_list(struct weft_dev_info *out, size_t max, size_t *n, char *msg)
{
	return weft_usb_list(out, max, n, msg);
}

int weft_dev_watch(weft_dev_watcher *fn, void *user, unsigned timeout_ms, char *msg)
{
	msg[0] = '\0';
	return weft_usb_watch(fn, user, timeout_ms ? weft_now_ns() + timeout_ms * 1000000ull : UINT64_MAX, msg);
}

int weft_dev_card(const weft_dev *dev, struct weft_card_info *out)
{
	if (!dev->be->async)
		return -ENOTSUP;
	dev->be->async->info(dev->state, out);
	return 0;
}

int weft_dev_usb(weft_dev *dev, struct weft_usb_info *out)
{
	if (!dev->be->async)
		return -ENOTSUP;
	dev->error[0] = '\0';
	return dev->be->async->usb(dev->state, out, dev->error);
}

int weft_dev_traffic(weft_dev *dev, weft_traffic *fn, void *user)
{
	if (!dev->be->async)
		return -ENOTSUP;
	dev->be->async->traffic(dev->state, fn, user);
	return 0;
}

/* ---- looking inside ---- */

void weft_dev_observe(weft_dev *dev, weft_observer *fn, void *user)
{
	dev->observer = fn;
	dev->observer_user = user;
}

int weft_dev_sample(weft_dev *dev, weft_sampler *fn, void *user)
{
	return dev->be->sample ? dev->be->sample(dev->state, fn, user) : -ENOTSUP;
}

const char *weft_track_name(unsigned track)
{
	static const char *const names[] = { "CP", "LD", "ST", "CV", "VE", "post", "bus read", "bus write" };

	return track < WEFT_N_TRACKS ? names[track] : "?";
}

const char *weft_does_text(unsigned does)
{
	static const char *const texts[] = { "idle", "busy", "fills or drains", "waits for a command", "waits for a queue",
		"waits for memory", "waits for an answer", "waits for the scratchpad", "waits for the post unit",
		"waits for activations", "waits for weights" };

	return does < WEFT_N_DOES ? texts[does] : "?";
}

static int in_sp(const weft_dev *dev, uint32_t addr, uint32_t len)
{
	return addr > dev->cfg->sp_bytes || len > dev->cfg->sp_bytes - addr ? -ERANGE : 0;
}

int weft_dev_peek_sp(weft_dev *dev, uint32_t addr, uint32_t len_bytes, void *out)
{
	if (dev->be->peek_sp && in_sp(dev, addr, len_bytes))
		return -ERANGE;
	return dev->be->peek_sp ? dev->be->peek_sp(dev->state, addr, len_bytes, out) : -ENOTSUP;
}

int weft_dev_poke_sp(weft_dev *dev, uint32_t addr, uint32_t len_bytes, const void *data)
{
	if (dev->be->poke_sp && in_sp(dev, addr, len_bytes))
		return -ERANGE;
	return dev->be->poke_sp ? dev->be->poke_sp(dev->state, addr, len_bytes, data) : -ENOTSUP;
}

const struct weft_cosim_diff *weft_dev_cosim(const weft_dev *dev)
{
	static const struct weft_cosim_diff none;

	return dev->be->cosim ? dev->be->cosim(dev->state) : &none;
}

int weft_dev_wave(weft_dev *dev, int64_t cmd)
{
	return dev->be->wave ? dev->be->wave(dev->state, cmd) : -ENOTSUP;
}

/* A place that the device has? The bits are those of the RTL's hooks. */
static bool plantable(const struct weft_config *c, const struct weft_plant *p)
{
	switch (p->kind) {
	case WEFT_PLANT_PE:   return p->row < c->n && p->col < c->n && p->bit < 48;
	case WEFT_PLANT_LANE: return p->lane < c->n && p->bit < 64;
	case WEFT_PLANT_SP:   return p->addr < c->sp_bytes && p->bit < 8;
	default:              return true;
	}
}

int weft_dev_plant(weft_dev *dev, const struct weft_plant *p)
{
	if (dev->be->plant && !plantable(dev->cfg, p))
		return -EINVAL;
	return dev->be->plant ? dev->be->plant(dev->state, p) : -ENOTSUP;
}

void weft_dev_trust(weft_dev *dev, bool trusted)
{
	dev->trusted = trusted;
}

int weft_dev_reset(weft_dev *dev)
{
	return dev->be->reset ? dev->be->reset(dev->state) : 0;
}

uint32_t weft_dev_reg_read(weft_dev *dev, uint32_t addr)
{
	return dev->be->reg_read ? dev->be->reg_read(dev->state, addr) : 0;
}

bool weft_dev_has_regs(const weft_dev *dev)
{
	return dev->be->reg_read != NULL;
}

int weft_dev_reg_write(weft_dev *dev, uint32_t addr, uint32_t value)
{
	return dev->be->reg_write ? dev->be->reg_write(dev->state, addr, value) : -ENOTSUP;
}

const struct weft_fault_point *weft_dev_points(weft_dev *dev, uint32_t *n)
{
	*n = 0;
	return dev->be->points ? dev->be->points(dev->state, n) : NULL;
}

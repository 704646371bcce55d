/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judging streams. The verifier (driver/verify) promises of a stream that it reaches no memory but its windows', that
 * what it writes does not depend on what the scratchpad held, so not on another client's job either, and that it ends.
 * It may take seconds over one that is made to be slow, so it has a thread of its own, and whoever took least of that
 * thread's time is next.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker.h"
#include "tools/clock.h"

/*
 * Returns a stream of this worker's clients that waits to be judged, and sets *whose to its client: the one on
 * whose streams the checker has spent the least time. NULL if there is none. Called with broker.lock held.
 */
static struct stream *next_stream(struct worker *w, struct client **whose)
{
	struct stream *best = NULL;

	for (struct client *c = w->b->clients; c; c = c->next) {
		if (c->w != w || c->dead || (best && c->check_ns >= (*whose)->check_ns))
			continue;
		for (struct stream *s = c->streams; s; s = s->next) {
			if (s->verdict != VERDICT_OPEN)
				continue;
			best = s;
			*whose = c;
		}
	}
	return best;
}

/*
 * Judges a stream with its windows by the verifier of the model, which has as much memory as anybody asks for
 * and takes none of it before it is used. Returns VERDICT_GOOD, or VERDICT_BAD also if memory is out.
 */
static enum verdict judge(weft_dev *model, const struct stream *s)
{
	struct weft_window win[WEFT_MSG_WINDOWS_MAX] = { 0 };
	int err = 0;

	for (int i = 0; i < WEFT_MSG_WINDOWS_MAX && !err; i++) {
		if (!s->win[i].size)
			continue;
		err = weft_buf_alloc(model, s->win[i].size, &win[i].buf);
		win[i].rd = s->win[i].perm & WEFT_MSG_PERM_READ;
		win[i].wr = s->win[i].perm & WEFT_MSG_PERM_WRITE;
	}
	if (!err)
		err = weft_dev_verify(model, s->words, s->n_words, win, WEFT_MSG_WINDOWS_MAX);
	for (int i = 0; i < WEFT_MSG_WINDOWS_MAX; i++)
		weft_buf_free(win[i].buf);
	return err ? VERDICT_BAD : VERDICT_GOOD;
}

/*
 * Returns a model of configuration cfg: `old` if that is one, else a new one after closing `old`. *of is the
 * configuration of what is returned; NULL if no model can be opened.
 */
static weft_dev *model_of(const struct weft_config *cfg, weft_dev *old, const struct weft_config **of)
{
	struct weft_dev_options o = weft_dev_options_default();
	char msg[WEFT_DEV_MSG];

	if (old && *of == cfg)
		return old;
	weft_dev_close(old);
	old = NULL;
	o.config = cfg->name;
	*of = cfg;
	return weft_dev_open(&o, &old, msg) ? NULL : old;
}

bool check_once(struct worker *w, struct checker *k)
{
	struct client *c = NULL;
	struct stream *s = w->cfg ? next_stream(w, &c) : NULL;
	const struct weft_config *cfg = w->cfg;

	if (!s)
		return false;
	s->verdict = VERDICT_BUSY;
	pthread_mutex_unlock(&w->b->lock);
	const uint64_t from = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	k->model = model_of(cfg, k->model, &k->cfg);
	const enum verdict v = k->model ? judge(k->model, s) : VERDICT_BAD;
	const uint64_t took = clock_ns(CLOCK_THREAD_CPUTIME_ID) - from;
	if (v == VERDICT_BAD && w->b->o.verbose)
		fprintf(stderr, "weft-broker: a stream of client %u, %s (pid %u): %s\n", c->number, c->peer.name, c->peer.pid,
		        k->model ? weft_dev_error(k->model) : "out of memory");
	pthread_mutex_lock(&w->b->lock);
	s->verdict = v;
	c->check_ns += took;
	worker_wake(w);
	return true;
}

void *check_run(void *worker)
{
	struct worker *w = worker;
	struct checker k = { 0 };

	pthread_mutex_lock(&w->b->lock);
	while (!w->b->stop)
		if (!check_once(w, &k))
			pthread_cond_wait(&w->check, &w->b->lock);
	pthread_mutex_unlock(&w->b->lock);
	weft_dev_close(k.model);
	return NULL;
}

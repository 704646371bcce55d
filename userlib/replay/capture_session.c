/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a session captures a failure. If options ask for a capture, the session copies the arena of
 * device memory before each NPU step, because the capture needs the memory as the failed step began.
 */
#include "userlib/run/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/capture.h>

int weft_session_remember(weft_session *s)
{
	const uint64_t n = s->p->arena_bytes;

	if (!s->o.capture || s->captured)
		return 0;
	if (!s->before)
		s->before = malloc(n + 1);
	return s->before ? weft_buf_read(s->arena, 0, s->before, n) : -ENOMEM;
}

/*
 * Fills the head of capture *c, whose step is set, from the session: device, configuration, versions
 * (read from the device's registers), model, memory profile, planted fault, and the first difference if
 * there is one, whose command is counted within the step (-1: none). Status, message and fault are not
 * set.
 */
static void describe(const weft_session *s, struct weft_capture *c)
{
	const struct weft_mismatch *m = &s->check.first;

	snprintf(c->device, sizeof c->device, "%s", weft_device_name(s->o.device));
	snprintf(c->config, sizeof c->config, "%s", s->cfg->name);
	snprintf(c->model, sizeof c->model, "%s", s->net->g->name ? s->net->g->name : "");
	snprintf(c->versions, sizeof c->versions, "device version 0x%08x, configuration 0x%08x, features 0x%08x",
	         weft_dev_reg_read(s->dev, WEFT_REG_VERSION), weft_dev_reg_read(s->dev, WEFT_REG_CONFIG),
	         weft_dev_reg_read(s->dev, WEFT_REG_FEATURES));
	c->memory = (uint32_t)s->o.memory;
	c->plant = s->o.plant;
	c->mismatch = m->found;
	if (!m->found)
		return;
	c->op = m->op;
	c->index = (uint64_t)m->index;
	c->cmd = m->cmd < 0 ? -1 : m->cmd - (int64_t)s->p->steps[c->step].first_cmd;
	c->expected = m->expected;
	c->got = m->got;
	snprintf(c->tensor, sizeof c->tensor, "%s", m->tensor);
}

/*
 * Reads back the constants as the device holds them into c->consts, which has c->n_consts bytes; if the
 * device cannot be read, the program's are taken. If some have changed on the device, the program's are
 * written there anew, so that later runs are right. Returns 0, -ENOMEM, or the negative errno of that
 * writing.
 */
static int read_consts(weft_session *s, struct weft_capture *c)
{
	int err = weft_buf_doubt(s->consts);

	if (!err)
		err = weft_buf_read(s->consts, 0, c->consts, c->n_consts);
	if (err == -ENOMEM)
		return err;
	/* Of a device that is gone nothing else is known. */
	if (err)
		memcpy(c->consts, s->p->consts, c->n_consts);
	else if (memcmp(c->consts, s->p->consts, c->n_consts))
		return weft_buf_write(s->consts, 0, s->p->consts, c->n_consts);
	return 0;
}

/*
 * Puts the program as it ran (with the session's own words), the arena and the constants as the device
 * holds them into the capture, which owns them, also after a failure; the arena becomes zeros if it
 * cannot be read. Returns 0, -ENOMEM or another negative errno; msg has one line if the program cannot
 * be written.
 */
static int read_memory(weft_session *s, struct weft_capture *c, char *msg)
{
	size_t n;
	weft_program as_run = *s->p;
	/* The session's own words, if it has some: in them, fields that only the run knows have their values. */
	as_run.words = (uint64_t *)(uintptr_t)weft_session_words(s);
	int err = weft_program_write(&as_run, &c->program, &n, msg);

	if (err)
		return err;
	c->n_program = n;
	c->n_arena = s->p->arena_bytes;
	c->n_consts = s->p->n_consts;
	c->after = malloc(c->n_arena + 1);
	c->consts = malloc(c->n_consts + 1);
	if (!c->after || !c->consts)
		return -ENOMEM;
	/* If the device is gone, the arena becomes zeros; the rest of the capture still helps. */
	err = weft_buf_read(s->arena, 0, c->after, c->n_arena);
	if (err == -ENOMEM)
		return err;
	if (err)
		memset(c->after, 0, c->n_arena);
	return read_consts(s, c);
}

void weft_session_capture(weft_session *s, int step, int status, const char *why, const struct weft_job_result *r)
{
	struct weft_capture c = { .step = step, .status = status };
	char msg[WEFT_MSG_LEN] = "";

	/* The first failure or none: a later one would be another. */
	if (!s->o.capture || s->captured || s->capture_error || !s->before)
		return;
	/* The device has not failed, and for a capture there is no memory either. */
	if (status == -ENOMEM)
		return;
	/* Over several cards there is one capture. */
	if (s->over && atomic_exchange(&s->over->claimed, true))
		return;
	describe(s, &c);
	snprintf(c.message, sizeof c.message, "%s", why);
	if (r) {
		const uint32_t f[5] = { r->fault_code, r->fault_unit, r->fault_cmd, r->fault_tag, r->fault_info };
		memcpy(c.fault, f, sizeof f);
		c.cycles = r->cycles;
	}
	c.before = s->before;
	int err = read_memory(s, &c, msg);
	if (!err)
		err = weft_capture_write(s->o.capture, &c, msg);
	c.before = NULL;  /* it belongs to the session */
	weft_capture_release(&c);
	s->captured = !err;
	s->capture_error = err;
}

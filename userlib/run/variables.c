/* SPDX-License-Identifier: Apache-2.0 */
/* The variables of a network, and their values in a session: golden's and the host's beside a device. */
#include <errno.h>
#include <string.h>

#include "userlib/run/internal.h"

int weft_net_n_variables(const weft_net *net)
{
	return net->g->n_vars;
}

int weft_net_variable(const weft_net *net, int i, struct weft_port *p)
{
	if (i < 0 || i >= net->g->n_vars)
		return -ERANGE;
	const struct weft_gvar *v = &net->g->vars[i];
	*p = (struct weft_port){ .name = v->name, .dtype = v->t.dtype, .rank = v->t.rank };
	memcpy(p->dim, v->t.dim, sizeof(p->dim));
	return 0;
}

/*
 * Says whether `value` can hold variable i of the session's network: 0; -ERANGE if there is no variable i; or -EINVAL
 * if it has no data, another type or another number of bytes.
 */
static int judge(const weft_session *s, int i, const weft_tensor *value)
{
	const weft_graph *g = s->net->g;

	if (i < 0 || i >= g->n_vars)
		return -ERANGE;
	return value->data && value->dtype == g->vars[i].t.dtype && weft_tensor_bytes(value) == weft_tensor_bytes(&g->vars[i].t) ? 0 : -EINVAL;
}

int weft_session_get_variable(weft_session *s, int i, const weft_tensor *value)
{
	int err = judge(s, i, value);

	if (err)
		return err;
	pthread_mutex_lock(&s->running);
	const struct weft_vars *v = s->o.device == WEFT_DEVICE_GOLDEN ? &s->vars : &s->host_vars;
	if (!v->written[i])
		err = -ENODATA;
	else
		memcpy(value->data, v->t[i].data, weft_tensor_bytes(value));
	pthread_mutex_unlock(&s->running);
	return err;
}

int weft_session_set_variable(weft_session *s, int i, const weft_tensor *value)
{
	int err = judge(s, i, value);

	if (err)
		return err;
	pthread_mutex_lock(&s->running);
	for (int k = 0; k < 2; k++) {
		struct weft_vars *v = k ? &s->host_vars : &s->vars;
		memcpy(v->t[i].data, value->data, weft_tensor_bytes(value));
		v->written[i] = true;
	}
	pthread_mutex_unlock(&s->running);
	return 0;
}

/*
 * Gives all variables in *v the values that network g begins with. One for which g has none becomes unwritten, and
 * its bytes stay.
 */
static void reset(struct weft_vars *v, const weft_graph *g)
{
	for (int i = 0; i < g->n_vars; i++) {
		const weft_tensor *first = &g->vars[i].t;
		v->written[i] = first->data;
		if (first->data)
			memcpy(v->t[i].data, first->data, weft_tensor_bytes(first));
	}
}

void weft_session_reset_variables(weft_session *s)
{
	pthread_mutex_lock(&s->running);
	reset(&s->vars, s->net->g);
	reset(&s->host_vars, s->net->g);
	pthread_mutex_unlock(&s->running);
}

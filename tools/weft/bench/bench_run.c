/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a network takes on golden and on the functional model, in processor time of one thread.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/clock.h"
#include "bench.h"

#define ENOUGH_SECONDS 0.3

struct timing {
	double open, run;          /* seconds: opening the session, and its fastest run */
	uint64_t macs;             /* of all operators */
};

/* Run the session until enough time is spent, once at least. in, out: all inputs and outputs, with memory. */
static int run_often(weft_session *s, const weft_tensor *in, const weft_tensor *out, struct timing *t, char *msg)
{
	double start = cpu_seconds();

	do {
		struct weft_report *r = NULL;
		double before = cpu_seconds();
		int err = weft_session_run_into(s, in, out, &r, msg);
		double spent = cpu_seconds() - before;

		if (err)
			return err;
		t->run = t->run <= 0 || spent < t->run ? spent : t->run;
		t->macs = r->macs_all;
		weft_report_free(r);
	} while (cpu_seconds() - start < ENOUGH_SECONDS);
	return 0;
}

/* Gives *t the type and shape of output i, and memory. Returns 0 or -ENOMEM. */
static int room_for(const weft_net *net, int i, weft_tensor *t)
{
	struct weft_port p;

	weft_net_output(net, i, &p);
	*t = tensor_for(&p);
	t->data = malloc(weft_tensor_bytes(t) + 1);
	return t->data ? 0 : -ENOMEM;
}

static int measure(const char *path, const struct weft_session_options *o, struct timing *t, char *msg)
{
	weft_tensor *in = NULL, *out = NULL;
	weft_session *s = NULL;
	weft_net *net = NULL;
	int n_in = 0, n_out = 0, err = weft_net_load_file(path, &net, msg);

	if (!err) {
		n_in = weft_net_n_inputs(net);
		n_out = weft_net_n_outputs(net);
		in = calloc((size_t)n_in + 1, sizeof(*in));
		out = calloc((size_t)n_out + 1, sizeof(*out));
		double before = cpu_seconds();
		err = weft_session_open(net, o, &s, msg);
		t->open = cpu_seconds() - before;
	}
	for (int i = 0; i < n_in + n_out && !err; i++)
		if (!in || !out || (i < n_in ? random_input(net, i, 0, &in[i]) : room_for(net, i - n_in, &out[i - n_in]))) {
			snprintf(msg, WEFT_MSG_LEN, "out of memory");
			err = -ENOMEM;
		}
	if (!err)
		err = run_often(s, in, out, t, msg);
	for (int i = 0; in && i < n_in; i++)
		weft_tensor_release(&in[i]);
	for (int i = 0; out && i < n_out; i++)
		weft_tensor_release(&out[i]);
	free(in);
	free(out);
	weft_session_close(s);
	weft_net_free(net);
	return err;
}

int bench_run(const char *path, enum weft_device device, bool print, cJSON *list)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *where = weft_device_name(device);
	struct weft_session_options o = weft_session_options_default();
	char msg[WEFT_MSG_LEN] = "", text[256];
	struct timing t = { 0 };

	o.device = device;
	int err = measure(path, &o, &t, msg);
	if (err)
		return fail(status_of(err), "%s: %s", path, msg);
	if (print)
		printf("%-34s %-5s %10.3f ms %12.1f GMAC/s, opened in %.3f s\n", name, where, t.run * 1e3, (double)t.macs / t.run * 1e-9, t.open);
	snprintf(text, sizeof(text), "%s %.200s", where, name);
	bench_add(list, text, t.run * 1e3, "ms");
	bench_add(list, text, (double)t.macs / t.run * 1e-9, "GMAC/s");
	snprintf(text, sizeof(text), "open %s %.200s", where, name);
	bench_add(list, text, t.open, "processor seconds");
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams that tests put together: how they grow, and how they run on the device and, to know what
 * to expect, on the model.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userlib/diag/diag.h"

#define TIMEOUT_MS 60000

/*
 * Makes sure that the array *p, of *max elements of `size` bytes, has room for `need` elements, by
 * doubling *max (from 256) as often as necessary. Returns true, or false, without a change, if there is
 * no memory.
 */
static bool room(void **p, size_t *max, size_t need, size_t size)
{
	if (need <= *max)
		return true;
	size_t want = *max ? *max : 256;
	while (want < need)
		want *= 2;
	void *q = realloc(*p, want * size);
	if (!q)
		return false;
	*p = q;
	*max = want;
	return true;
}

void diag_stream_free(struct diag_stream *s)
{
	free(s->words);
	free(s->data);
	memset(s, 0, sizeof(*s));
}

size_t diag_data(struct diag_stream *s, const void *bytes, size_t len)
{
	size_t off = (s->n_data + 63) / 64 * 64;

	if (!room((void **)&s->data, &s->max_data, off + len, 1)) {
		s->failed = true;
		return 0;
	}
	memset(s->data + s->n_data, 0, off - s->n_data);
	if (bytes)
		memcpy(s->data + off, bytes, len);
	else
		memset(s->data + off, 0, len);
	s->n_data = off + len;
	return off;
}

void diag_add(struct diag_stream *s, struct weft_cmd *c)
{
	unsigned unit = weft_cmd_info((unsigned)c->h.op)->unit;

	if (!s->loose)
		for (unsigned u = 0; u < WEFT_N_UNITS; u++)
			c->h.wait[u] = u == unit ? 0 : (int32_t)s->count[u];
	if (!room((void **)&s->words, &s->max_words, s->n_words + WEFT_CMD_MAX_WORDS, sizeof(uint64_t))) {
		s->failed = true;
		return;
	}
	s->n_words += weft_cmd_encode(c, s->words + s->n_words);
	if (unit < WEFT_N_UNITS)
		s->count[unit]++;
}

void diag_transfer(struct diag_stream *s, unsigned op, unsigned window, size_t off, uint32_t sp, uint32_t len)
{
	struct weft_cmd c;

	weft_cmd_init(&c, op);
	c.load.window = (int32_t)window;
	c.load.dram_off = (int64_t)off;
	c.load.sp_addr = (int32_t)sp;
	c.load.row_bytes = (int32_t)len;
	diag_add(s, &c);
}

void diag_load(struct diag_stream *s, size_t off, uint32_t sp, uint32_t len)
{
	diag_transfer(s, WEFT_CMD_LOAD, WEFT_WIN_CONST, off, sp, len);
}

void diag_put(struct diag_stream *s, uint32_t sp, const void *bytes, size_t len)
{
	diag_load(s, diag_data(s, bytes, len), sp, (uint32_t)len);
}

/*
 * Adds a command that stores len bytes of the scratchpad, from address sp on, into the arena at the
 * next multiple of 64 bytes behind s->out_bytes, which becomes the end of the stored bytes. Returns the
 * offset in the arena.
 */
size_t diag_store(struct diag_stream *s, uint32_t sp, uint32_t len)
{
	size_t off = (s->out_bytes + 63) / 64 * 64;

	diag_transfer(s, WEFT_CMD_STORE, WEFT_WIN_ARENA, off, sp, len);
	s->out_bytes = off + len;
	return off;
}

void diag_out_free(struct diag_out *out)
{
	free(out->got);
	out->got = NULL;
}

/*
 * Runs the stream on dev with fresh buffers as its two windows: the constants, and an arena of
 * s->out_bytes bytes that begins as DIAG_FILL; waits at most TIMEOUT_MS. *r says how it ended; unless
 * its status is -ENODEV, the arena is read back into out, which has s->out_bytes bytes. Returns 0 (also
 * after a fault; see r->status) or a negative errno if the job could not be run or the arena not be read;
 * out is of no use then.
 */
static int run_on(weft_dev *dev, const struct diag_stream *s, uint8_t *out, struct weft_job_result *r)
{
	struct weft_window win[2] = { { .rd = true }, { .rd = true, .wr = true } };
	weft_job job;
	int err = weft_buf_alloc(dev, s->n_data ? s->n_data : 64, &win[0].buf);

	if (!err)
		err = weft_buf_alloc(dev, s->out_bytes ? s->out_bytes : 64, &win[1].buf);
	if (!err && s->n_data)
		err = weft_buf_write(win[0].buf, 0, s->data, s->n_data);
	if (!err && s->out_bytes) {
		memset(out, DIAG_FILL, s->out_bytes);
		err = weft_buf_write(win[1].buf, 0, out, s->out_bytes);
	}
	if (!err)
		err = weft_submit(dev, s->words, s->n_words, win, 2, &job);
	if (!err)
		err = weft_finish(dev, job, TIMEOUT_MS, r);
	if (!err && s->out_bytes && r->status != -ENODEV)
		err = weft_buf_read(win[1].buf, 0, out, s->out_bytes);
	weft_buf_free(win[1].buf);
	weft_buf_free(win[0].buf);
	return err;
}

/* Returns the kept result of the running test's current stream, or NULL. */
static const struct diag_expected *find_expected(const struct weft_diag *d)
{
	for (size_t i = 0; i < d->n_expected; i++)
		if (d->expected[i].test == d->test && d->expected[i].seq == d->seq)
			return &d->expected[i];
	return NULL;
}

/*
 * Sets *want to the arena that the functional model leaves after the stream, s->out_bytes bytes that d
 * owns. Results are kept by test and number of the stream (d->test, d->seq) and taken from there if the
 * length is the same, since tests run again with the same streams. Returns 0, -ENOMEM, or another
 * negative errno if the model refuses the stream; for all but -ENOMEM of the list the note says so.
 */
static int expect(struct weft_diag *d, const struct diag_stream *s, const uint8_t **want)
{
	const struct diag_expected *known = find_expected(d);

	if (known && known->len == s->out_bytes) {
		*want = known->data;
		return 0;
	}
	struct diag_expected *all = realloc(d->expected, (d->n_expected + 1) * sizeof(*all));
	if (!all)
		return -ENOMEM;
	d->expected = all;
	struct diag_expected e = { d->test, d->seq, malloc(s->out_bytes ? s->out_bytes : 1), s->out_bytes };
	struct weft_job_result r;
	int err = e.data ? run_on(d->model, s, e.data, &r) : -ENOMEM;
	if (!err && r.status)
		err = r.status;
	if (err) {
		diag_note(d, "the model refuses the stream: %.160s", weft_dev_error(d->model));
		free(e.data);
		return err;
	}
	all[d->n_expected++] = e;
	*want = e.data;
	return 0;
}

int diag_exec(struct weft_diag *d, struct diag_stream *s, struct diag_out *out)
{
	struct diag_out none;
	struct weft_cmd end;
	bool wanted = out != NULL;

	if (!out)
		out = &none;
	memset(out, 0, sizeof(*out));
	weft_cmd_init(&end, WEFT_CMD_END);
	if (!s->no_end)
		diag_add(s, &end);
	int err = s->failed ? -ENOMEM : diag_use_dev(d);
	if (!err && wanted && !s->known)
		err = expect(d, s, &out->want);
	d->seq++;
	out->len = s->out_bytes;
	out->got = malloc(s->out_bytes ? s->out_bytes : 1);
	if (!err && !out->got)
		err = -ENOMEM;
	if (!err)
		err = run_on(d->dev, s, out->got, &out->job);
	diag_stream_free(s);
	d->r->cycles += out->job.cycles ? out->job.cycles : out->job.sim_cycles;
	d->r->checks += out->len;
	if (!err && out->job.status == -ENODEV)
		err = -ENODEV;
	if (err || out->job.status || !wanted)
		diag_out_free(out);
	return err ? err : out->job.status ? DIAG_STOPPED : DIAG_RAN;
}

int diag_exec_fault(struct weft_diag *d, struct diag_stream *s, struct weft_job_result *got, struct weft_job_result *want)
{
	struct weft_cmd end;
	uint8_t *out = malloc(s->out_bytes ? s->out_bytes : 1);

	weft_cmd_init(&end, WEFT_CMD_END);
	if (!s->no_end)
		diag_add(s, &end);
	int err = s->failed || !out ? -ENOMEM : diag_use_dev(d);
	if (!err)
		err = run_on(d->model, s, out, want);
	if (!err)
		err = run_on(d->dev, s, out, got);
	if (!err && got->status == -ENODEV)
		err = -ENODEV;
	d->r->cycles += err ? 0 : got->sim_cycles;
	free(out);
	diag_stream_free(s);
	return err;
}

void diag_stopped(struct weft_diag *d, const struct diag_out *out, const char *doing, const char *suspect)
{
	static const char *const ids[] = { "DIAG-RUN-2", "DIAG-RUN-3", "DIAG-RUN-4", "DIAG-RUN-5" };
	const struct weft_job_result *r = &out->job;
	const struct weft_counters *c = &r->counters;
	const uint32_t busy[WEFT_N_UNITS] = { c->ld_busy, c->st_busy, c->cv_busy, c->ve_busy };

	if (r->fault_code) {
		const char *id = r->fault_unit < WEFT_N_UNITS ? ids[r->fault_unit] : "DIAG-RUN-1";
		diag_find(d, id, DIAG_NOWHERE, "%s: fault %s of unit %s at command %u, info 0x%x; there is nothing wrong with the command",
		          doing, weft_fault_name(r->fault_code), weft_unit_name(r->fault_unit), r->fault_cmd, r->fault_info);
		return;
	}
	unsigned last = WEFT_N_UNITS;
	for (unsigned u = 0; u < WEFT_N_UNITS; u++)
		if (busy[u] && busy[u] + 64 > r->sim_cycles / 2 && (last == WEFT_N_UNITS || busy[u] > busy[last]))
			last = u;
	diag_find(d, last < WEFT_N_UNITS ? ids[last] : suspect ? suspect : "DIAG-RUN-1", DIAG_NOWHERE, "%s: does not end; %u commands have retired, %s",
	          doing, c->cmds, last < WEFT_N_UNITS ? "a unit stays busy" : "no unit has one under way");
}

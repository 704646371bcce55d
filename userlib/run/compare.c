/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The comparison of what the device makes with golden, as each command retires.
 *
 * The program's records (struct weft_prec) say which elements of which tensor a command leaves
 * where in the scratchpad. They are read there at the moment when the command retires, also elements of
 * tensors that never leave the scratchpad. How many elements of each tensor were seen is counted: a
 * tensor of which some element was never seen counts as different, not as right.
 */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void weft_checker_wants(const weft_program *p, bool *want)
{
	for (uint32_t i = 0; i < p->n_recs; i++)
		want[p->recs[i].tensor] = true;
	for (int i = 0; i < p->graph->n_outputs; i++)
		want[p->graph->outputs[i]] = true;
}

/*
 * Prepares *c for the comparison of a run of program p on graph g with golden's tensors; golden may be
 * NULL if values are only kept. keep: the device's values are kept in c->seen. weft_checker_end() frees
 * everything, also after a failure. If golden's tensors are still being made, the caller sets c->room
 * afterwards, which is NULL here. Returns 0 or -ENOMEM.
 */
int weft_checker_begin(struct weft_checker *c, const weft_graph *g, const weft_program *p,
                       const weft_tensor *golden, bool keep)
{
	memset(c, 0, sizeof(*c));
	c->g = g;
	c->p = p;
	c->golden = golden;
	c->covered = calloc((size_t)g->n_tensors + 1, sizeof(*c->covered));
	if (!c->covered)
		return -ENOMEM;
	if (!keep)
		return 0;
	c->seen = calloc((size_t)g->n_tensors + 1, sizeof(*c->seen));
	return c->seen ? 0 : -ENOMEM;
}

/* Frees what the comparison has collected and clears *c. */
void weft_checker_end(struct weft_checker *c)
{
	for (int i = 0; c->seen && i < c->g->n_tensors; i++)
		free(c->seen[i].data);
	free(c->seen);
	free(c->covered);
	free(c->row);
	memset(c, 0, sizeof(*c));
}

int64_t weft_element_value(weft_dtype t, const void *p)
{
	switch (weft_dtype_bytes(t)) {
	case 1: return t == WEFT_UINT8 || t == WEFT_BOOL ? *(const uint8_t *)p : *(const int8_t *)p;
	case 2: { int16_t v; memcpy(&v, p, 2); return t == WEFT_UINT16 ? (uint16_t)v : v; }
	case 4: { int32_t v; memcpy(&v, p, 4); return v; }
	default: { int64_t v; memcpy(&v, p, 8); return v; }
	}
}

/*
 * Compares n elements of a tensor, from element `first` on, with golden, which must be there; got
 * points to the first of them as the device made it. If golden is still being made (c->room), waits
 * until that tensor is there. Adds n to c->elements and the differences, bit for bit, to c->mismatches;
 * if there was none before, the first one is described in c->first with command cmd (counted through
 * the program; -1: none) and its cycle.
 */
static void compare(struct weft_checker *c, int tensor, int64_t first, int64_t n, const void *got,
                    int64_t cmd, uint64_t cycle)
{
	const struct weft_gtensor *t = &c->g->tensors[tensor];
	size_t size = weft_dtype_bytes(t->t.dtype);
	const uint8_t *want = (const uint8_t *)c->golden[tensor].data + (size_t)first * size;

	if (c->room)
		weft_golden_room_wait(c->room, tensor);
	c->elements += (uint64_t)n;
	if (!memcmp(want, got, (size_t)n * size))
		return;
	for (int64_t i = 0; i < n; i++) {
		const uint8_t *w = want + (size_t)i * size, *g = (const uint8_t *)got + (size_t)i * size;
		if (!memcmp(w, g, size))
			continue;
		if (!c->mismatches++) {
			const struct weft_gsrc *src = t->producer >= 0 ? weft_graph_src_of(c->g, t->producer) : NULL;
			c->first = (struct weft_mismatch){ .found = true, .op = src ? src->index : -1,
				.op_name = src ? src->name : "input", .tensor = t->name, .index = first + i,
				.expected = weft_element_value(t->t.dtype, w), .got = weft_element_value(t->t.dtype, g), .cmd = cmd, .cycle = cycle };
		}
	}
}

/*
 * Copies n elements of a tensor, from element `first` on, as the device made them (got) into c->seen,
 * whose tensor gets memory, all zeros, the first time. Returns 0 or -ENOMEM.
 */
static int capture(struct weft_checker *c, int tensor, int64_t first, int64_t n, const void *got)
{
	const weft_tensor *t = &c->g->tensors[tensor].t;
	weft_tensor *s = &c->seen[tensor];

	if (!s->data) {
		*s = *t;
		s->data = calloc(1, weft_tensor_bytes(t) + 1);
		if (!s->data)
			return -ENOMEM;
	}
	size_t size = weft_dtype_bytes(t->dtype);
	memcpy((uint8_t *)s->data + (size_t)first * size, got, (size_t)n * size);
	return 0;
}

/*
 * Reads n elements of a tensor, from element `first` on, from the scratchpad's byte address addr (taken
 * modulo 1 MiB) into c->row, which grows if needed; adds n to the tensor's c->covered; compares them
 * with golden if there is golden; and keeps them in c->seen if values are kept. r has the command that
 * made them, counted through the program, and its cycle. Returns 0, -ENOMEM or the errno of
 * weft_dev_peek_sp(); differences are only counted.
 */
static int row(struct weft_checker *c, weft_dev *dev, int tensor, uint32_t addr, int64_t first, int64_t n,
               const struct weft_retire *r)
{
	size_t bytes = (size_t)n * weft_dtype_bytes(c->g->tensors[tensor].t.dtype);

	if (bytes > c->cap_row) {
		uint8_t *p = realloc(c->row, bytes);
		if (!p)
			return -ENOMEM;
		c->row = p;
		c->cap_row = bytes;
	}
	int err = weft_dev_peek_sp(dev, addr & 0xfffff, (uint32_t)bytes, c->row);
	if (err)
		return err;
	c->covered[tensor] += n;
	if (c->golden)
		compare(c, tensor, first, n, c->row, (int64_t)r->cmd, r->cycle);
	return c->seen ? capture(c, tensor, first, n, c->row) : 0;
}

/*
 * Reads and compares all elements that record q places in the scratchpad, one pixel's channels at a
 * time, or one line at a time if its pixels lie side by side there and in the tensor. r has the command
 * that made them and its cycle. Returns 0 or the first negative errno of row(); differences are only
 * counted.
 */
static int record(struct weft_checker *c, weft_dev *dev, const struct weft_prec *q, const struct weft_retire *r)
{
	/* If the pixels of a line lie side by side, the line is compared as one row. */
	size_t size = weft_dtype_bytes(c->g->tensors[q->tensor].t.dtype);
	bool joined = q->x_bytes == q->n_c * size && q->x_elems == q->n_c;
	uint32_t n_x = joined ? 1 : q->n_x;
	int64_t n_c = joined ? (int64_t)q->n_x * q->n_c : q->n_c;

	for (uint32_t y = 0; y < q->n_y; y++) {
		for (uint32_t x = 0; x < n_x; x++) {
			uint64_t first = q->first + y * q->y_elems + x * q->x_elems;
			int err = row(c, dev, q->tensor, q->addr + y * q->y_bytes + x * q->x_bytes,
			              (int64_t)first, n_c, r);
			if (err)
				return err;
		}
	}
	return 0;
}

int weft_checker_retire(struct weft_checker *c, weft_dev *dev, const struct weft_step *step,
                        const struct weft_retire *r)
{
	if (r->cmd >= step->n_cmds)
		return -EINVAL;
	const struct weft_pcmd *cmd = &c->p->cmds[step->first_cmd + r->cmd];
	struct weft_retire of_program = *r;
	of_program.cmd += step->first_cmd;
	for (uint32_t i = 0; i < cmd->n_recs; i++) {
		int err = record(c, dev, &c->p->recs[cmd->first_rec + i], &of_program);
		if (err)
			return err;
	}
	return 0;
}

int weft_checker_record(struct weft_checker *c, const struct weft_prec *q, const uint8_t *data, uint32_t cmd)
{
	size_t size = weft_dtype_bytes(c->g->tensors[q->tensor].t.dtype);

	for (uint32_t y = 0; y < q->n_y; y++) {
		for (uint32_t x = 0; x < q->n_x; x++, data += q->n_c * size) {
			int64_t first = (int64_t)(q->first + y * q->y_elems + x * q->x_elems);
			c->covered[q->tensor] += q->n_c;
			if (c->golden)
				compare(c, q->tensor, first, q->n_c, data, cmd, 0);
			if (c->seen && capture(c, q->tensor, first, q->n_c, data))
				return -ENOMEM;
		}
	}
	return 0;
}

void weft_checker_byte(struct weft_checker *c, uint64_t addr, uint8_t expected, uint8_t got)
{
	if (!c->first.bytes.found)
		c->first.bytes = (struct weft_cosim_diff){ .found = true, .window = WEFT_WIN_ARENA, .addr = addr,
			.expected = expected, .got = got };
}

void weft_checker_tensor(struct weft_checker *c, int tensor, const void *data)
{
	if (c->golden)
		compare(c, tensor, 0, weft_tensor_elements(&c->g->tensors[tensor].t), data, -1, 0);
}

/*
 * Returns the number of elements of tensor t that no step makes, because nothing needs their channels.
 */
static int64_t n_folded(const struct weft_checker *c, int t)
{
	const weft_tensor *x = &c->g->tensors[t].t;

	return c->p->tensors[t].folded ? weft_tensor_elements(x) / x->dim[x->rank - 1] * c->p->tensors[t].folded : 0;
}

uint64_t weft_checker_tensors(struct weft_checker *c)
{
	uint64_t n = 0;

	for (int i = 0; i < c->g->n_tensors; i++) {
		if (!c->p->tensors[i].on_npu)
			continue;
		if (c->covered[i] >= weft_tensor_elements(&c->g->tensors[i].t) - n_folded(c, i)) {
			n++;
			continue;
		}
		if (!c->mismatches++) {
			c->first = (struct weft_mismatch){ .found = true, .op = -1, .op_name = "never seen",
				.tensor = c->g->tensors[i].name, .index = c->covered[i], .cmd = -1 };
		}
	}
	return n;
}

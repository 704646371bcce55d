/* SPDX-License-Identifier: Apache-2.0 */
/* A library for weft --custom, which cosim/tflite_custom compiles: the operator Rows of its network. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <weft/custom.h>

/* The rows whose number the options' byte divides; the file leaves their number open. */
static int shapes(void *user, const struct weft_custom_call *c)
{
	(void)user;
	if (c->n_options != 1 || !c->options[0]) {
		snprintf(c->msg, c->n_msg, "%zu bytes of options", c->n_options);
		return -EINVAL;
	}
	c->out[0].dim[1] = c->in[0].dim[1] / c->options[0];
	return 0;
}

static int run(void *user, const struct weft_custom_call *c)
{
	const size_t row = (size_t)(c->in[0].dim[2] * c->in[0].dim[3]);

	(void)user;
	for (int64_t i = 0; i < c->out[0].dim[1]; i++)
		memcpy((char *)c->out[0].data + (size_t)i * row, (const char *)c->in[0].data + (size_t)(i * c->options[0]) * row, row);
	return 0;
}

static const struct weft_custom_op ops[] = { { .name = "Rows", .shapes = shapes, .run = run } };
static const struct weft_custom_table table = { .ops = ops, .n_ops = 1 };

weft_custom_entry weft_custom_operators;

const struct weft_custom_table *weft_custom_operators(void)
{
	return &table;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Which values the tensors of a float .onnx model take over the samples. */
#include <errno.h>
#include <stdlib.h>

#include "quantize.h"

/*
 * Sets `tensor` of each value of the model that is not constant to the index of the fp32 tensor of the
 * graph z->g with the same name; the values of others keep -1.
 */
static void find_tensors(struct qz *z)
{
	for (int i = 0; i < z->g->n_tensors; i++) {
		struct qz_value *v = qz_value(z, z->g->tensors[i].name);

		if (v && v->init < 0 && z->g->tensors[i].t.dtype == WEFT_FP32)
			v->tensor = i;
	}
}

/*
 * Finds the range of every value over all samples, see weft_observe(), and notes tensor, seen, lo and hi
 * in z->value. z->g must be the model's graph, and the model be indexed. Returns 0; -EINVAL if there are
 * no samples; -ENOMEM, also noted in z->no_memory; or another negative errno; with one line in the
 * message.
 */
int qz_ranges(struct qz *z)
{
	struct observed *all = calloc((size_t)z->n_value + 1, sizeof *all);

	if (!all)
		return qz_fail(z, -ENOMEM, "out of memory");
	find_tensors(z);
	for (int i = 0; i < z->n_value; i++)
		all[i].tensor = z->value[i].tensor;
	const int err = weft_observe(z->g, z->o, all, z->n_value, z->msg);
	for (int i = 0; i < z->n_value && !err; i++) {
		z->value[i].seen = all[i].seen;
		z->value[i].lo = all[i].lo;
		z->value[i].hi = all[i].hi;
	}
	z->no_memory |= err == -ENOMEM;
	free(all);
	return err;
}

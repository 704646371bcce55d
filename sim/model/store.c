/* SPDX-License-Identifier: Apache-2.0 */
/* store: a strided block from the scratchpad to memory. */
#include <errno.h>

#include "state.h"

static int store_row(struct weft_model *m, const struct weft_cmd_load *c, uint32_t sp, int64_t off)
{
	const struct weft_model_window *w = &m->win[c->window];
	uint64_t len = (uint64_t)c->row_bytes;
	int ret;

	if (!w->wr || off < 0 || (uint64_t)off > w->size || w->size - (uint64_t)off < len)
		return model_fault(m, WEFT_FAULT_WINDOW, (uint64_t)off);
	ret = model_read(m, sp, w->data + off, (uint32_t)len);
	if (!ret)
		model_log(m, WEFT_MODEL_MEM, (unsigned)c->window, (uint64_t)off, len);
	return ret;
}

int model_store(struct weft_model *m, const struct weft_cmd_load *c)
{
	return model_rows(m, c, store_row);
}

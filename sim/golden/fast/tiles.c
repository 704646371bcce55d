/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "tiles.h"

const struct weft_tiling *weft_tiling_at(int i)
{
	const struct weft_tiling *all[] = { weft_tiling_vnni(), weft_tiling_avx2(), weft_tiling_neon() };

	for (size_t k = 0; k < sizeof(all) / sizeof(*all); k++)
		if (all[k] && i-- == 0)
			return all[k];
	return NULL;
}

const struct weft_tiling *weft_tiling(bool has_zero_point)
{
	const struct weft_tiling *t;

	for (int i = 0; (t = weft_tiling_at(i)); i++)
		if (t->elem_bytes == 2 || !has_zero_point)
			return t;
	return NULL;
}

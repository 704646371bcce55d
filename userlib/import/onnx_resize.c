/* SPDX-License-Identifier: Apache-2.0 */
/* Resize: placeholder for the real file, replaced below. */
#include <errno.h>
#include "onnx_lower.h"
int ox_resize(struct ox *l)
{
	return ox_fail(l, -ENOTSUP, "not supported");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The version of the library; the Makefile gives WEFT_VERSION. */
#include <weft/api.h>

const char *weft_version(void)
{
	return WEFT_VERSION;
}

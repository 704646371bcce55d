/* SPDX-License-Identifier: Apache-2.0 */
/* What the firmware lets the boot ROM do. */
#include "fw.h"

enum weft_msg_error image_check(uint32_t slot, struct weft_flash_image *h, bool load)
{
	return BOOT_INFO->check(slot, h, load);
}

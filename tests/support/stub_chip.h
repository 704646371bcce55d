/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chip without a core: link and messages written straight from the prose of
 * msg.toml, around the functional model of the NPU. Quick, and a second opinion
 * on the protocol beside the firmware's.
 */
#ifndef WEFT_TESTS_STUB_CHIP_H
#define WEFT_TESTS_STUB_CHIP_H

#include <weft/chip.h>

extern const struct weft_chip_ops stub_chip;

#endif

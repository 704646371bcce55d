// SPDX-License-Identifier: Apache-2.0
//
// Benches of the USB device behind a C interface.
#include "sim/rtl/usb/usb.h"

#include <algorithm>
#include <string>

#include "sim/rtl/usb/controller.h"
#include "sim/rtl/usb/random.h"
#include "sim/rtl/usb/rules.h"

static_assert(WEFT_USB_MSG >= kBenchMsg, "room for a message");

namespace {

void use_descriptors(const uint8_t *(*of)(unsigned which, size_t *len_bytes))
{
	usb::Device::source = of;
}

} // namespace

extern "C" __attribute__((visibility("default"))) const struct weft_usb_bench_api *weft_usb_bench_api(void)
{
	static const struct weft_usb_bench_api api = { use_descriptors, usb::random_run, usb::run_rule };
	return &api;
}

extern "C" __attribute__((visibility("default"))) const struct weft_usb_phy_ops *weft_usb_phy_api(void)
{
	return &usb::kPhyOps;
}

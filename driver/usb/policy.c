/* SPDX-License-Identifier: Apache-2.0 */
#include "policy.h"

#include "driver/clock.h"

#define MS UINT64_C(1000000)
/* What a request may take where nobody says otherwise. A simulated chip needs it for 64 KiB. */
#define TIMEOUT_MS 2000
#define SLOW_BYTES (64u << 10)
/* A Verilated chip starts in some seconds. */
#define BOOT_MS 30000
#define CALL_MS 60000

struct weft_policy weft_policy_of(const struct weft_dev_options *o)
{
	const uint64_t timeout = (o->usb_timeout_ms ? o->usb_timeout_ms : TIMEOUT_MS) * MS;
	const uint64_t boot = (o->usb_boot_ms ? o->usb_boot_ms : BOOT_MS) * MS;

	return (struct weft_policy){
		.timeout_ns = timeout,
		.slow_bytes = SLOW_BYTES,
		.boot_ns = boot,
		.call_ns = (o->usb_call_ms ? o->usb_call_ms : CALL_MS) * MS,
		.ask_ns = timeout / 4,
		.cancel_ns = 4 * timeout,
		.pause_ns = 5 * MS,
		/* Twelve tries of at most four timeouts each, and two starts of the chip. */
		.recover_ns = 48 * timeout + 2 * boot,
		.hello_ns = boot < 3 * timeout ? boot : 3 * timeout,
		.link_tries = 3,
		.chip_tries = 2,
		.req_tries = 8,
		.fence_tries = 2,
		.job_repeats = 2,
		.job_troubles = 8,
		.full_tries = 8,
	};
}

uint64_t weft_policy_call_until(const struct weft_policy *p, uint64_t bytes)
{
	return weft_now_ns() + p->call_ns + p->timeout_ns * ((bytes + p->slow_bytes - 1) / p->slow_bytes);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Whose memory a card's is: a client has a number from open to close, and says when it goes. */
#include <string.h>
#include <sys/random.h>

#include "driver/clock.h"
#include "usb_link.h"

#define RELEASE_NS 500000000ull        /* that a card has for its answer */
#define SESSIONS   (1u << 16 | 2u)     /* the first protocol that knows them, below WEFT_MSG_MAJOR + 1 */

_Static_assert(WEFT_HELLO_OLD_BYTES == offsetof(struct weft_msg_hello, session), "HELLO");

bool weft_hello_too_long(uint32_t head)
{
	const uint32_t error = head >> 16;

	/* The boot ROM's rescue code says TYPE. */
	return error == WEFT_MSG_ERR_LENGTH || error == WEFT_MSG_ERR_TYPE;
}

uint32_t weft_session_new(void)
{
	uint32_t n;

	if (getrandom(&n, sizeof(n), GRND_NONBLOCK) != sizeof(n))
		n = (uint32_t)weft_now_ns();
	return n ? n : 1;
}

static void released(struct weft_req *r)
{
	*(bool *)r->user = true;
}

void weft_session_end(struct weft_link *l, uint32_t protocol, uint32_t limit)
{
	const struct weft_msg_release m = { WEFT_MSG_RELEASE, limit };
	const uint64_t patience = l->policy->timeout_ns < RELEASE_NS ? l->policy->timeout_ns : RELEASE_NS;
	const uint64_t until = weft_now_ns() + patience;
	bool over = false;
	struct weft_req r = { .type = WEFT_FRAME_MSG, .len = sizeof(m), .done = released, .user = &over };

	if (protocol < SESSIONS || l->broken || l->gone || l->stopped)
		return;
	memcpy(r.msg, &m, sizeof(m));
	weft_link_queue(l, &r);
	while (!over && !l->broken && !l->gone && weft_now_ns() < until)
		weft_link_poll(l, until);
	if (!over)
		weft_link_drop(l, &r);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backend: a card on the USB, or a simulated one behind a socket.
 */
#include <errno.h>

#include "usb_card.h"

#define REG_NS 1000000000ull   /* a register is read in so long, or reads 0 */

static int usb_open(const struct weft_dev_options *o, const struct weft_config *cfg, void **out, char *msg)
{
	struct card *c;
	int err = weft_card_open(o, cfg, &c, msg);

	if (!err)
		*out = c;
	return err;
}

static void usb_close(void *state)
{
	weft_card_close(state);
}

static uint32_t usb_reg_read(void *state, uint32_t addr)
{
	const struct weft_msg_reg_read m = { WEFT_MSG_REG_READ, addr, 1 };
	uint64_t until = weft_now_ns() + REG_NS;
	uint32_t reply[2];

	return weft_card_ask(state, &m, sizeof(m), reply, sizeof(reply), until) == sizeof(reply) ? reply[1] : 0;
}

static void usb_info(void *state, struct weft_card_info *out)
{
	const struct card *c = state;

	*out = c->info;
	out->frames_repeated = c->link.n_retried;
}

static void usb_traffic(void *state, weft_traffic *fn, void *user)
{
	struct card *c = state;

	c->link.traffic = fn;
	c->link.traffic_user = user;
}

static int watch_fds(void *state, struct pollfd *out, int max)
{
	struct card *c = state;

	return c->ops->fds ? c->ops->fds(c->t, out, max) : -1;
}

static void wait_blindly(void *state, uint64_t until_ns)
{
	struct card *c = state;

	c->ops->poll(c->t, until_ns);
}

static void usb_source(void *state, struct weft_event_source *out)
{
	const struct card *c = state;

	*out = (struct weft_event_source){ state, weft_card_process, weft_card_next_ns, c->ops->fds ? watch_fds : NULL,
		wait_blindly };
}

static void usb_use(void *state, struct weft_events *e)
{
	((struct card *)state)->events = e;
}

static void usb_disown(void *state)
{
	weft_card_disown(state);
}

static const struct weft_backend_async async = {
	.buf_new = weft_card_buf_new,
	.buf_free = weft_card_buf_free,
	.buf_write = weft_card_buf_write,
	.buf_read = weft_card_buf_read,
	.buf_discard = weft_card_buf_discard,
	.buf_doubt = weft_card_buf_doubt,
	.submit = weft_card_submit,
	.wait = weft_card_wait,
	.cancel = weft_card_cancel,
	.forget = weft_card_forget,
	.n_ended = weft_card_n_ended,
	.source = usb_source,
	.use = usb_use,
	.disown = usb_disown,
	.info = usb_info,
	.usb = weft_card_usb,
	.traffic = usb_traffic,
};

const struct weft_backend weft_backend_usb = {
	.name = "usb",
	.open = usb_open,
	.close = usb_close,
	.reg_read = usb_reg_read,
	.async = &async,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A card whose USB is the Verilated device of hw/usb behind a simulated host controller
 * (weft-card --usb-phy): a network's run, each tensor compared, descriptors and packets at full
 * speed, resets of link and chip, halts. Over usb-redir, on the functional chip and on the Verilated one.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <weft/dev.h>
#include <weft/gen/msg.h>
#include <weft/weft.h>

#include "tests/support/card.h"
#include "tests/support/card_process.h"
#include "tests/support/level.h"
#include "tests/support/usb_phy.h"
#include "tools/card/usbdev.h"

#define NET "tests/models/digits_int8.tflite"
#define RUNS 3

/* A simulated bus is slow, on a machine that does other things slower still. */
static void open_slowly(const char *where, weft_dev **dev)
{
	struct weft_dev_options o = weft_dev_options_default();
	char msg[WEFT_DEV_MSG] = "";

	o.kind = WEFT_DEV_USB;
	o.usb = where;
	o.usb_wait_ms = 5000;
	o.usb_timeout_ms = 60000;
	o.usb_boot_ms = 120000;
	if (weft_dev_open(&o, dev, msg))
		fail_msg("%s", msg);
}

/* Runs of digits, of other inputs each time, every tensor that the card makes compared with golden's. */
static void run_digits(weft_dev *dev)
{
	struct weft_session_options o = weft_session_options_default();
	static uint8_t data[65536];
	char msg[WEFT_MSG_LEN] = "";
	struct weft_port port;
	weft_session *s;
	weft_net *net;

	o.device = WEFT_DEVICE_USB;
	o.check = true;
	o.on = dev;
	assert_int_equal(weft_net_load_file(NET, &net, msg), 0);
	if (weft_session_open(net, &o, &s, msg))
		fail_msg("%s", msg);
	assert_int_equal(weft_net_input(net, 0, &port), 0);
	for (int i = 0; i < RUNS; i++) {
		weft_tensor in = { .dtype = port.dtype, .rank = port.rank, .data = data }, out = { 0 };
		struct weft_report *r = NULL;
		memcpy(in.dim, port.dim, sizeof(in.dim));
		for (size_t k = 0; k < weft_tensor_bytes(&in); k++)
			data[k] = (uint8_t)(k * (2 * (size_t)i + 3) + (size_t)i);
		if (weft_session_run(s, &in, &out, &r, msg))
			fail_msg("%s", msg);
		assert_true(r->checked && r->tensors >= 4 && r->elements > 2000);
		assert_int_equal(r->mismatches, 0);
		weft_report_free(r);
		weft_tensor_release(&out);
	}
	weft_session_close(s);
	weft_net_free(net);
}

static void digits_on(const char *chip)
{
	struct card_process c;
	weft_dev *dev = NULL;

	card_process_start(&c, "PHY", (char *[]){ "--usb-phy", "--dram", "4", "--chip", (char *)(uintptr_t)chip, NULL });
	open_slowly(c.where, &dev);
	run_digits(dev);
	weft_dev_close(dev);
	card_process_stop(&c);
}

static void test_digits(void **state)
{
	(void)state;
	digits_on("model");
}

static void test_digits_rtl(void **state)
{
	(void)state;
	if (!card_rtl("w16"))
		skip();
	digits_on("rtl");
}

/* What a host sees of it: full speed and no other, packets of 64, the serial of the board. */
static void test_info(void **state)
{
	struct weft_usb_info u;
	struct card_process c;
	weft_dev *dev = NULL;

	(void)state;
	card_process_start(&c, "SIXTEEN-LETTERS!", (char *[]){ "--usb-phy", "--dram", "4", NULL });
	open_slowly(c.where, &dev);
	if (weft_dev_usb(dev, &u))
		fail_msg("%s", weft_dev_error(dev));
	assert_int_equal(u.vendor, WEFT_USB_VENDOR_ID);
	assert_int_equal(u.product_id, WEFT_USB_PRODUCT_ID);
	assert_string_equal(u.manufacturer, WEFT_USB_MANUFACTURER);
	assert_string_equal(u.product, WEFT_USB_PRODUCT);
	assert_string_equal(u.serial, "SIXTEEN-LETTERS!");
	assert_int_equal(u.packet_0, 64);
	assert_int_equal(u.packet_in, WEFT_USB_PACKET_FULL);
	assert_int_equal(u.packet_out, WEFT_USB_PACKET_FULL);
	assert_int_equal(u.speed, WEFT_USB_SPEED_FULL);
	assert_false(u.high_capable);
	weft_dev_close(dev);
	card_process_stop(&c);
}

/* ---- in this process ---- */

struct bench {
	struct card card;
	struct usbdev *d;
	void *phy;
	bool over;
};

static void on_done(struct usbdev_xfer *x)
{
	((struct bench *)x->user)->over = true;
}

/* A transfer to its end; its status. */
static int transfer(struct bench *b, struct usbdev_xfer *x)
{
	uint64_t wake;

	x->done = on_done;
	x->user = b;
	b->over = false;
	usbdev_bulk(b->d, x);
	for (int i = 0; i < 20000 && !b->over; i++)
		usbdev_step(b->d, &wake);
	if (!b->over) {
		usbdev_cancel(b->d, x);
		return -ETIMEDOUT;
	}
	return x->status;
}

static int request(struct bench *b, uint8_t kind, uint8_t number, uint8_t ep, uint8_t len, uint8_t *data)
{
	const uint8_t setup[8] = { kind, number, 0, 0, ep, 0, len };

	return usbdev_control(b->d, setup, data);
}

static void bench_open(struct bench *b)
{
	const struct weft_usb_phy_ops *phy = usb_phy_ops();

	assert_non_null(phy);
	memset(b, 0, sizeof(*b));
	card_open_quick(&b->card, weft_chip_model(), "w16", 1 << 20);
	b->d = usbdev_new(b->card.ops, b->card.chip, "BENCH", NULL, 0);
	b->phy = phy->open(b->card.ops, b->card.chip, "BENCH");
	assert_non_null(b->phy);
	usbdev_use_phy(b->d, phy, b->phy);
}

static void bench_close(struct bench *b)
{
	usbdev_free(b->d);
	usb_phy_ops()->close(b->phy);
	card_close(&b->card);
}

/* A HELLO and its answer, in transfers as a host's. */
static int hello(struct bench *b)
{
	uint32_t w[4] = { WEFT_FRAME_MAGIC | WEFT_FRAME_MSG << 8 | 7 << 16, 0, 12 };
	struct weft_msg_hello m = { WEFT_MSG_HELLO, WEFT_MSG_VERSION_VALUE, 1 };
	struct weft_msg_hello_reply h;
	uint8_t frame[32], answer[512];
	struct usbdev_xfer out = { .data = frame, .len = sizeof(frame) }, in = { .in = true, .data = answer, .len = sizeof(answer) };

	w[3] = usb_phy_crc32(w, 12);
	memcpy(frame, w, 16);
	memcpy(frame + 16, &m, 12);
	w[0] = usb_phy_crc32(&m, 12);
	memcpy(frame + 28, w, 4);
	int err = transfer(b, &out);
	if (!err)
		err = transfer(b, &in);
	if (err)
		return err;
	assert_int_equal(in.actual, 20 + sizeof(h));
	memcpy(&h, answer + 16, sizeof(h));
	assert_int_equal(h.head, WEFT_MSG_HELLO | WEFT_MSG_REPLY);
	return 0;
}

/* Vendor requests reach the chip: what was broken is mended by them, and they are counted. */
static void test_requests(void **state)
{
	struct usbdev_xfer junk = { .data = (uint8_t[100]){ 1, 2, 3 }, .len = 100 };
	struct bench b;
	uint8_t s[8];

	(void)state;
	bench_open(&b);
	assert_int_equal(hello(&b), 0);
	assert_int_equal(request(&b, 0xc0, WEFT_USB_REQ_GET_STATUS, 0, 8, s), 8);
	assert_int_equal(s[0] & (WEFT_USB_STATUS_LINK_ERROR | WEFT_USB_STATUS_IN_PENDING), 0);
	assert_int_equal(s[4], 0);
	/* No header: the link is in its error state until it is reset. */
	assert_int_equal(transfer(&b, &junk), 0);
	assert_int_equal(request(&b, 0xc0, WEFT_USB_REQ_GET_STATUS, 0, 8, s), 8);
	assert_int_equal(s[0] & WEFT_USB_STATUS_LINK_ERROR, WEFT_USB_STATUS_LINK_ERROR);
	assert_int_equal(request(&b, 0x40, WEFT_USB_REQ_LINK_RESET, 0, 0, NULL), 0);
	assert_int_equal(request(&b, 0xc0, WEFT_USB_REQ_GET_STATUS, 0, 8, s), 8);
	assert_int_equal(s[0] & WEFT_USB_STATUS_LINK_ERROR, 0);
	assert_int_equal(s[4], 1);
	assert_int_equal(hello(&b), 0);
	assert_int_equal(request(&b, 0x40, WEFT_USB_REQ_CHIP_RESET, 0, 0, NULL), 0);
	assert_int_equal(hello(&b), 0);
	assert_int_equal(request(&b, 0xc0, WEFT_USB_REQ_GET_STATUS, 0, 8, s), 8);
	assert_int_equal(s[4], 2);
	usbdev_port_reset(b.d);
	assert_int_equal(hello(&b), 0);
	bench_close(&b);
}

/* A halt of either endpoint ends transfers until it is cleared, and what follows is whole. */
static void test_halts(void **state)
{
	const uint8_t eps[] = { WEFT_USB_EP_OUT, WEFT_USB_EP_IN };
	struct bench b;
	uint8_t s[2];

	(void)state;
	bench_open(&b);
	for (int i = 0; i < 4; i++) {
		const uint8_t ep = eps[i % 2];
		assert_int_equal(hello(&b), 0);
		assert_int_equal(request(&b, 2, 3, ep, 0, NULL), 0);
		assert_int_equal(request(&b, 0x82, 0, ep, 2, s), 2);
		assert_int_equal(s[0], 1);
		assert_int_equal(hello(&b), -EPIPE);
		assert_int_equal(request(&b, 2, 1, ep, 0, NULL), 0);
		/* The answer to the HELLO before, if that went out. */
		assert_int_equal(request(&b, 0x40, WEFT_USB_REQ_LINK_RESET, 0, 0, NULL), 0);
	}
	assert_int_equal(hello(&b), 0);
	/* Unknown requests are refused as ever. */
	assert_int_equal(request(&b, 0xc0, 0x77, 0, 4, s), -EPIPE);
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_info), cmocka_unit_test(test_requests), cmocka_unit_test(test_halts), cmocka_unit_test(test_digits),
		cmocka_unit_test(test_digits_rtl),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What weft diag identify says of a card's USB: nothing of one in order, and which of
 * cable and hub it is where one runs too slow.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "userlib/diag/diag.h"

static const struct weft_usb_info good = {
	.vendor = 0x1209, .product_id = 1, .usb_bcd = 0x210, .device_bcd = 0x100, .serial = "A1", .packet_0 = 64, .packet_in = 512,
	.packet_out = 512, .high_capable = true, .speed = WEFT_USB_SPEED_HIGH, .hub_speed = WEFT_USB_SPEED_HIGH, .port = "1-2.3",
};

static struct weft_diag_result judge_as(struct weft_usb_info u, const char *serial)
{
	struct weft_diag_result r = { 0 };
	struct weft_diag d = { .r = &r };

	diag_usb_judge(&d, &u, serial);
	return r;
}

static struct weft_diag_result judge(struct weft_usb_info u)
{
	return judge_as(u, "A1");
}

/* One finding, with that identifier, that says so. */
static void finds(struct weft_usb_info u, const char *id, const char *says)
{
	struct weft_diag_result r = judge(u);

	assert_int_equal(r.state, WEFT_DIAG_FAILED);
	assert_int_equal(r.n_findings, 1);
	assert_string_equal(r.findings[0].id, id);
	assert_string_equal(r.findings[0].block, "usb");
	if (!strstr(r.findings[0].text, says))
		fail_msg("\"%s\" does not say \"%s\"", r.findings[0].text, says);
}

static void test_good(void **state)
{
	struct weft_usb_info u = good;

	(void)state;
	assert_int_equal(judge(u).state, WEFT_DIAG_PASSED);
	assert_true(judge(u).checks > 0);
	/* Nobody tells of hubs, or even of the speed. */
	u.hub_speed = WEFT_USB_SPEED_UNKNOWN;
	assert_int_equal(judge(u).n_findings, 0);
	u.speed = WEFT_USB_SPEED_UNKNOWN;
	assert_int_equal(judge(u).n_findings, 0);
	/* Faster still is no fault. */
	u.speed = WEFT_USB_SPEED_SUPER;
	u.packet_in = u.packet_out = 1024;
	assert_int_equal(judge(u).n_findings, 0);
}

static void test_numbers(void **state)
{
	struct weft_usb_info u = good;

	(void)state;
	u.product_id = 0x5740;
	finds(u, "DIAG-USB-1", "1209:5740, not 1209:0001");
	u = good;
	strcpy(u.serial, "A2");
	finds(u, "DIAG-USB-1", "the USB serial is \"A2\", the firmware's \"A1\"");
	/* The flash has no board record. */
	assert_int_equal(judge_as(u, "").n_findings, 0);
}

static void test_packets(void **state)
{
	struct weft_usb_info u = good;

	(void)state;
	u.packet_in = 64;
	finds(u, "DIAG-USB-2", "512 bytes to the card and 64 from it; at high speed, 480 Mbit/s a bulk packet has 512");
	u.packet_in = 0;
	finds(u, "DIAG-USB-2", "no bulk endpoint 0x81");
	u = good;
	u.packet_out = 0;
	finds(u, "DIAG-USB-2", "no bulk endpoint 0x01");
}

static void test_slow(void **state)
{
	struct weft_usb_info u = good;

	(void)state;
	u.speed = WEFT_USB_SPEED_FULL;
	u.packet_in = u.packet_out = 64;
	u.hub_speed = WEFT_USB_SPEED_FULL;
	finds(u, "DIAG-USB-3", "full speed, 12 Mbit/s, because a hub between it and the host does");
	u.hub_speed = WEFT_USB_SPEED_HIGH;
	finds(u, "DIAG-USB-4", "can do high speed and the hubs before it do: cable");
	u.hub_speed = WEFT_USB_SPEED_UNKNOWN;
	finds(u, "DIAG-USB-4", "can do high speed: cable");
	/* A card that has no other speed is in order, behind whichever hub. */
	u.high_capable = false;
	assert_int_equal(judge(u).n_findings, 0);
	u.hub_speed = WEFT_USB_SPEED_FULL;
	assert_int_equal(judge(u).n_findings, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good), cmocka_unit_test(test_numbers), cmocka_unit_test(test_packets), cmocka_unit_test(test_slow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

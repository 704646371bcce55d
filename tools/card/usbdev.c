/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/clock.h"
#include "usbdev.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft/gen/msg.h"

#define RUN_CYCLES 20000
#define PACE_CYCLES 5000       /* the same with a pace: a chip that becomes idle among them does not wait for their end */
/* Bytes that go through the USB device in one step: the chip runs in between. */
#define STEP_BYTES 2048

struct usbdev {
	const struct weft_chip_ops *ops;
	void *chip;
	char serial[24];
	struct usbdev_fault *faults;
	size_t n_faults;
	uint64_t n;                /* transfers so far */
	struct usbdev_xfer *first[2], **last[2];   /* OUT, IN */
	bool halted[2];
	bool zlp;                  /* the next IN transfer begins with the short packet of the frame before */
	bool attached, configured;
	uint64_t back_ns;          /* comes back then; 0: not by itself */
	uint32_t n_link_resets;
	const void *owner;
	uint32_t pace_khz;         /* 0: the chip runs as fast as it can be simulated */
	bool rests;                /* the chip was idle when it ran last */
	uint64_t due_ns;           /* with a pace: when the cycles that the chip has run are over */
	const struct weft_usb_phy_ops *phy_ops;    /* NULL: transfers reach the chip without a USB device of its own */
	void *phy;
};

struct usbdev *usbdev_new(const struct weft_chip_ops *ops, void *chip, const char *serial,
                          struct usbdev_fault *faults, size_t n_faults)
{
	struct usbdev *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->ops = ops;
	d->chip = chip;
	snprintf(d->serial, sizeof(d->serial), "%s", serial);
	d->faults = faults;
	d->n_faults = n_faults;
	d->attached = true;
	for (int i = 0; i < 2; i++)
		d->last[i] = &d->first[i];
	return d;
}

void usbdev_use_phy(struct usbdev *d, const struct weft_usb_phy_ops *ops, void *phy)
{
	d->phy_ops = ops;
	d->phy = phy;
}

bool usbdev_high_speed(const struct usbdev *d)
{
	return !d->phy_ops;
}

unsigned usbdev_packet(const struct usbdev *d)
{
	return usbdev_high_speed(d) ? WEFT_USB_PACKET_HIGH : WEFT_USB_PACKET_FULL;
}

void usbdev_free(struct usbdev *d)
{
	free(d);
}

void usbdev_pace(struct usbdev *d, uint32_t khz)
{
	d->pace_khz = khz;
	d->rests = true;
}

bool usbdev_claim(struct usbdev *d, const void *who)
{
	if (!d->owner)
		d->owner = who;
	return d->owner == who;
}

void usbdev_release(struct usbdev *d, const void *who)
{
	if (d->owner == who)
		d->owner = NULL;
}

uint64_t usbdev_n_transfers(const struct usbdev *d)
{
	return d->n;
}

const char *usbdev_serial(const struct usbdev *d)
{
	return d->serial;
}

/* ---- faults ---- */

static const char *const fault_names[USBDEV_N_KINDS] = {
	"drop", "stall", "short", "corrupt", "delay", "disconnect", "hang", "memory", "bus", "pe",
};

const char *usbdev_fault_name(enum usbdev_fault_kind kind)
{
	return fault_names[kind];
}

int usbdev_parse_fault(const char *text, struct usbdev_fault *f)
{
	const char *at = strchr(text, '@');
	char *end;

	*f = (struct usbdev_fault){ .arg = 100 };
	for (int k = 0; at && k < USBDEV_N_KINDS; k++) {
		if (strlen(fault_names[k]) != (size_t)(at - text) || strncmp(text, fault_names[k], (size_t)(at - text)))
			continue;
		f->kind = (enum usbdev_fault_kind)k;
		f->at = strtoull(at + 1, &end, 0);
		if (end == at + 1)
			return -EINVAL;
		if (*end == ',')
			f->arg = strtoull(end + 1, &end, 0);
		return *end ? -EINVAL : 0;
	}
	return -EINVAL;
}

static void finish(struct usbdev *d, struct usbdev_xfer *x, int status)
{
	int i = x->in;
	struct usbdev_xfer **p = &d->first[i];

	while (*p != x)
		p = &(*p)->next;
	*p = x->next;
	if (!*p)
		d->last[i] = p;
	x->status = status;
	x->done(x);
}

static void pull(struct usbdev *d, uint64_t ms)
{
	d->attached = d->configured = false;
	d->back_ns = ms ? now_ns() + ms * 1000000 : 0;
	d->halted[0] = d->halted[1] = d->zlp = false;
	for (int i = 0; i < 2; i++)
		while (d->first[i])
			finish(d, d->first[i], -ENODEV);
	/* The card lives on the bus's power. */
	d->ops->reset(d->chip, WEFT_CHIP_CAUSE_POWER);
	if (d->phy_ops)
		d->phy_ops->power(d->phy);
}

/* The fault of the transfer that comes now, or NULL. What strikes the chip does so here. */
static struct usbdev_fault *next_fault(struct usbdev *d)
{
	uint64_t n = d->n++;
	struct weft_chip_plant p = { 0 };

	for (size_t i = 0; i < d->n_faults; i++) {
		struct usbdev_fault *f = &d->faults[i];
		if (f->done || f->at != n)
			continue;
		f->done = true;
		switch (f->kind) {
		case USBDEV_HANG:
			p.kind = WEFT_CHIP_PLANT_HANG;
			d->ops->plant(d->chip, &p);
			break;
		case USBDEV_MEMORY:
			p = (struct weft_chip_plant){ WEFT_CHIP_PLANT_MEMORY, f->arg / 8, (uint32_t)(f->arg % 8) };
			d->ops->plant(d->chip, &p);
			break;
		case USBDEV_BUS:
			p = (struct weft_chip_plant){ WEFT_CHIP_PLANT_NPU_FAULT, f->arg, 0 };
			d->ops->plant(d->chip, &p);
			break;
		case USBDEV_PE:
			p = (struct weft_chip_plant){ WEFT_CHIP_PLANT_PE, f->arg / 64, (uint32_t)(f->arg % 64) };
			d->ops->plant(d->chip, &p);
			break;
		default:
			return f;
		}
	}
	return NULL;
}

/* ---- endpoint 0 ---- */

static int give(uint8_t *data, const void *from, size_t n, unsigned w_length)
{
	size_t k = n < w_length ? n : w_length;

	memcpy(data, from, k);
	return (int)k;
}

static int get_string(const struct usbdev *d, unsigned index, uint8_t *data, unsigned w_length)
{
	static const char *const fixed[] = { NULL, WEFT_USB_MANUFACTURER, WEFT_USB_PRODUCT };
	const char *text = index == 3 ? d->serial : index < 3 ? fixed[index] : NULL;
	uint8_t s[128] = { 4, 3, 0x09, 0x04 };     /* languages: English */

	if (index && !text)
		return -EPIPE;
	if (index) {
		s[0] = (uint8_t)(2 + 2 * strlen(text));
		memset(s + 2, 0, sizeof(s) - 2);
		for (size_t i = 0; text[i]; i++)
			s[2 + 2 * i] = (uint8_t)text[i];
	}
	return give(data, s, s[0], w_length);
}

static int give_descriptor(enum weft_usb_descriptor which, uint8_t *data, unsigned w_length)
{
	size_t len;
	const uint8_t *p = weft_usb_descriptor(which, &len);

	return give(data, p, (unsigned)len, w_length);
}

static int get_descriptor(const struct usbdev *d, unsigned value, uint8_t *data, unsigned w_length)
{
	/* A high-speed device also says what it would be at full speed. */
	static const uint8_t qualifier[10] = { 10, 6, 0x10, 2, 0, 0, 0, 64, 1, 0 };

	switch (value >> 8) {
	case 1:  return give_descriptor(WEFT_USB_DESCRIPTOR_DEVICE, data, w_length);
	case 2:  return give_descriptor(WEFT_USB_DESCRIPTOR_CONFIG, data, w_length);
	case 3:  return get_string(d, value & 0xff, data, w_length);
	case 6:  return give(data, qualifier, sizeof(qualifier), w_length);
	case 15: return give_descriptor(WEFT_USB_DESCRIPTOR_BOS, data, w_length);
	default: return -EPIPE;
	}
}

static int endpoint_index(unsigned address)
{
	return address == WEFT_USB_EP_OUT ? 0 : address == WEFT_USB_EP_IN ? 1 : -1;
}

static int standard(struct usbdev *d, const uint8_t *s, unsigned value, unsigned index, uint8_t *data, unsigned len)
{
	int ep = endpoint_index(index & 0xff);
	uint8_t two[2] = { 0 };

	switch (s[0] << 8 | s[1]) {
	case 0x8006:               /* GET_DESCRIPTOR */
		return get_descriptor(d, value, data, len);
	case 0x8008:               /* GET_CONFIGURATION */
		two[0] = d->configured;
		return give(data, two, 1, len);
	case 0x0009:               /* SET_CONFIGURATION */
		if (value > 1)
			return -EPIPE;
		d->configured = value == 1;
		d->halted[0] = d->halted[1] = false;
		return 0;
	case 0x0005:               /* SET_ADDRESS */
	case 0x010b:               /* SET_INTERFACE */
		return value && s[1] == 0x0b ? -EPIPE : 0;
	case 0x810a:               /* GET_INTERFACE */
		return give(data, two, 1, len);
	case 0x8000:               /* GET_STATUS: device, interface, endpoint */
	case 0x8100:
		return give(data, two, 2, len);
	case 0x8200:
		if (ep < 0)
			return -EPIPE;
		two[0] = d->halted[ep];
		return give(data, two, 2, len);
	case 0x0201:               /* CLEAR_FEATURE, SET_FEATURE: ENDPOINT_HALT */
	case 0x0203:
		if (ep < 0 || value)
			return -EPIPE;
		d->halted[ep] = s[1] == 3;
		return 0;
	default:
		return -EPIPE;
	}
}

static int vendor(struct usbdev *d, const uint8_t *s, unsigned index, uint8_t *data, unsigned len)
{
	bool in = s[0] & 0x80;

	if (s[0] == 0xc0 && s[1] == WEFT_USB_MS_VENDOR_CODE && index == 7)
		return give_descriptor(WEFT_USB_DESCRIPTOR_MSOS20, data, len);
	if ((s[0] & 0x1f) != 0)    /* only the device */
		return -EPIPE;
	if (!in && (s[1] == WEFT_USB_REQ_LINK_RESET || s[1] == WEFT_USB_REQ_CHIP_RESET)) {
		if (s[1] == WEFT_USB_REQ_LINK_RESET)
			d->ops->link_reset(d->chip);
		else
			d->ops->reset(d->chip, WEFT_CHIP_CAUSE_HOST);
		d->zlp = false;
		d->n_link_resets++;
		return 0;
	}
	if (in && s[1] == WEFT_USB_REQ_GET_STATUS) {
		const uint32_t w[2] = { d->ops->status(d->chip), d->n_link_resets };
		uint8_t b[8];
		for (int i = 0; i < 8; i++)
			b[i] = (uint8_t)(w[i / 4] >> i % 4 * 8);
		return give(data, b, sizeof(b), len);
	}
	return -EPIPE;
}

int usbdev_control(struct usbdev *d, const uint8_t *s, uint8_t *data)
{
	unsigned value = s[2] | s[3] << 8u, index = s[4] | s[5] << 8u, len = s[6] | s[7] << 8u;

	if (!d->attached)
		return -ENODEV;
	/* What the host's system asks by itself is not counted. */
	const struct usbdev_fault *f = s[0] & 0x40 || (s[0] == 2 && s[1] == 1) ? next_fault(d) : NULL;
	if (f && f->kind == USBDEV_DROP)
		return -ETIMEDOUT;
	if (f && (f->kind == USBDEV_STALL || f->kind == USBDEV_CORRUPT || f->kind == USBDEV_SHORT))
		return -EPIPE;
	if (f && f->kind == USBDEV_DISCONNECT) {
		pull(d, f->arg);
		return -ENODEV;
	}
	if (f && f->kind == USBDEV_DELAY) {
		struct timespec t = { (time_t)(f->arg / 1000), (long)(f->arg % 1000) * 1000000 };
		nanosleep(&t, NULL);
	}
	if (d->phy_ops)
		return d->phy_ops->control(d->phy, s, data);
	switch (s[0] & 0x60) {
	case 0x00:
		return standard(d, s, value, index, data, len);
	case 0x40:
		return vendor(d, s, index, data, len);
	default:
		return -EPIPE;
	}
}

/* ---- bulk ---- */

void usbdev_bulk(struct usbdev *d, struct usbdev_xfer *x)
{
	int i = x->in;

	x->next = NULL;
	x->actual = 0;
	x->counted = x->ready = false;
	x->skip = x->len;
	x->at_ns = 0;
	*d->last[i] = x;
	d->last[i] = &x->next;
}

bool usbdev_cancel(struct usbdev *d, struct usbdev_xfer *x)
{
	int i = x->in;

	for (struct usbdev_xfer **p = &d->first[i]; *p; p = &(*p)->next) {
		if (*p != x)
			continue;
		*p = x->next;
		if (!*p)
			d->last[i] = p;
		return true;
	}
	return false;
}

/* Halts an endpoint: of the USB device, if there is one, by the request that does so. */
static void halt(struct usbdev *d, bool in)
{
	const uint8_t set[8] = { 0x02, 0x03, 0, 0, in ? WEFT_USB_EP_IN : WEFT_USB_EP_OUT };

	if (d->phy_ops)
		d->phy_ops->control(d->phy, set, NULL);
	else
		d->halted[in] = true;
}

/* What happens to the whole transfer before its bytes move. True: it is finished, or the device gone. */
static bool strike(struct usbdev *d, struct usbdev_xfer *x, const struct usbdev_fault *f)
{
	switch (f->kind) {
	case USBDEV_STALL:
		halt(d, x->in);
		finish(d, x, -EPIPE);
		return true;
	case USBDEV_DISCONNECT:
		pull(d, f->arg);
		return true;
	case USBDEV_DELAY:
		x->at_ns = now_ns() + f->arg * 1000000;
		return false;
	case USBDEV_DROP:
		x->skip = 0;
		return false;
	case USBDEV_SHORT:
		x->skip = x->in ? x->actual / 2 : x->len / 2;
		return false;
	case USBDEV_CORRUPT: {
		uint32_t n = x->in ? x->actual : x->len;
		if (n)
			x->data[n / 2] ^= 1u << (n % 8);
		return false;
	}
	default:
		return false;
	}
}

/*
 * Packets of the transfer through the USB device, as many as it takes, at most those of STEP_BYTES. Returns the bytes,
 * or -EPIPE, -ETIMEDOUT: then the transfer is over.
 */
static int phy_out(struct usbdev *d, const struct usbdev_xfer *x)
{
	uint32_t n = 0;

	while (n < STEP_BYTES && x->actual + n < x->skip) {
		const uint32_t left = x->skip - x->actual - n, len = left < WEFT_USB_PHY_PACKET ? left : WEFT_USB_PHY_PACKET;
		int err = d->phy_ops->out(d->phy, x->data + x->actual + n, len);
		if (err == -EAGAIN)
			break;
		if (err)
			return err;
		n += len;
		d->phy_ops->pump(d->phy);
	}
	return (int)n;
}

/*
 * Packets of the USB device for the transfer, as many as it has, at most those of STEP_BYTES; sets ready behind the
 * last one. Returns whether some came, or -EPIPE, -ETIMEDOUT.
 */
static int phy_in(struct usbdev *d, struct usbdev_xfer *x)
{
	uint8_t packet[WEFT_USB_PHY_PACKET];
	uint32_t n_step = 0;
	int n, moved = 0;

	while (!x->ready && n_step < STEP_BYTES) {
		n = d->phy_ops->in(d->phy, packet);
		if (n == -EAGAIN)
			break;
		if (n < 0)
			return n;
		if ((uint32_t)n > x->len - x->actual)
			return -ETIMEDOUT;     /* babble: more than the host asked for */
		memcpy(x->data + x->actual, packet, (size_t)n);
		x->actual += (uint32_t)n;
		n_step += (uint32_t)n;
		moved = 1;
		x->ready = n < WEFT_USB_PHY_PACKET || x->actual == x->len;
		d->phy_ops->pump(d->phy);
	}
	return moved;
}

/* A little of the first OUT transfer. True: something moved. */
static bool step_out(struct usbdev *d)
{
	struct usbdev_xfer *x = d->first[0];
	size_t n = 0;

	if (!x)
		return false;
	if (d->halted[0]) {
		finish(d, x, -EPIPE);
		return true;
	}
	if (!x->counted) {
		const struct usbdev_fault *f = next_fault(d);
		x->counted = true;
		if (f && strike(d, x, f))
			return true;
	}
	if (x->at_ns && now_ns() < x->at_ns)
		return false;
	if (x->actual < x->skip && d->phy_ops) {
		int got = phy_out(d, x);
		if (got < 0) {
			finish(d, x, got);
			return true;
		}
		n = (size_t)got;
		x->actual += (uint32_t)n;
	} else if (x->actual < x->skip) {
		n = d->ops->put(d->chip, x->data + x->actual, x->skip - x->actual);
		x->actual += (uint32_t)n;
	}
	if (x->actual < x->skip)
		return n > 0;
	x->actual = x->len;
	finish(d, x, 0);
	return true;
}

/* The transfer has all that it will get. */
static bool end_in(struct usbdev *d, struct usbdev_xfer *x)
{
	if (!x->counted) {
		const struct usbdev_fault *f = next_fault(d);
		x->counted = true;
		x->skip = x->actual;
		if (f && strike(d, x, f))
			return true;
		if (f && f->kind == USBDEV_DROP) {
			/* The host still waits for what comes next. */
			x->counted = x->ready = false;
			x->actual = 0;
			return true;
		}
		x->actual = x->skip;
	}
	if (x->at_ns && now_ns() < x->at_ns)
		return false;
	finish(d, x, 0);
	return true;
}

static bool step_in(struct usbdev *d)
{
	struct usbdev_xfer *x = d->first[1];
	bool end = false, moved = false;

	if (!x)
		return false;
	if (d->halted[1]) {
		finish(d, x, -EPIPE);
		return true;
	}
	if (d->phy_ops && !x->ready) {
		int got = phy_in(d, x);
		if (got < 0) {
			finish(d, x, got);
			return true;
		}
		return x->ready ? end_in(d, x) : got > 0;
	}
	if (d->zlp && !x->ready) {
		d->zlp = false;
		x->ready = true;
	}
	while (!d->phy_ops && !x->ready && x->actual < x->len) {
		size_t n = d->ops->get(d->chip, x->data + x->actual, x->len - x->actual, &end);
		x->actual += (uint32_t)n;
		moved |= n > 0;
		if (n && end)
			x->ready = true;
		else if (!n)
			break;
	}
	if (!x->ready && x->actual == x->len)
		x->ready = true;
	if (x->ready && end && x->actual == x->len && x->len % usbdev_packet(d) == 0)
		d->zlp = true;
	return x->ready ? end_in(d, x) : moved;
}

/*
 * Lets the chip work. With a pace it waits until the time of the cycles that it ran before is over: then *wake_ns is that time and
 * nothing happens. A chip that was kept from running (another process had the processor) makes up for it, as one does whose clock
 * went on; time in which it had nothing to do is not made up. Returns whether it is at work.
 */
static bool run_chip(struct usbdev *d, uint64_t *wake_ns)
{
	if (!d->pace_khz)
		return d->ops->run(d->chip, RUN_CYCLES);
	const uint64_t now = now_ns(), before = d->ops->cycles(d->chip);
	if (now < d->due_ns) {
		*wake_ns = d->due_ns;
		return false;
	}
	if (d->rests)
		d->due_ns = now;
	d->rests = !d->ops->run(d->chip, PACE_CYCLES);
	d->due_ns += d->rests ? 0 : (d->ops->cycles(d->chip) - before) * 1000000 / d->pace_khz;
	return !d->rests;
}

bool usbdev_step(struct usbdev *d, uint64_t *wake_ns)
{
	bool busy = false;

	*wake_ns = UINT64_MAX;
	if (!usbdev_attached(d)) {
		*wake_ns = d->back_ns ? d->back_ns : UINT64_MAX;
		return false;
	}
	busy |= step_out(d);
	busy |= run_chip(d, wake_ns);
	if (d->phy_ops)
		busy |= d->phy_ops->pump(d->phy);
	busy |= step_in(d);
	for (int i = 0; i < 2; i++)
		if (d->first[i] && d->first[i]->at_ns > now_ns() && d->first[i]->at_ns < *wake_ns)
			*wake_ns = d->first[i]->at_ns;
	return busy;
}

bool usbdev_attached(struct usbdev *d)
{
	if (!d->attached && d->back_ns && now_ns() >= d->back_ns)
		usbdev_attach(d, true);
	return d->attached;
}

void usbdev_attach(struct usbdev *d, bool attached)
{
	if (d->attached && !attached)
		pull(d, 0);
	d->attached = attached;
	d->back_ns = 0;
}

void usbdev_port_reset(struct usbdev *d)
{
	d->configured = d->halted[0] = d->halted[1] = d->zlp = false;
	if (d->phy_ops)
		d->phy_ops->port_reset(d->phy);
	else
		d->ops->link_reset(d->chip);
}

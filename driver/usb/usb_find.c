/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which cards are on the USB, and who uses them.
 */
#include "usb_find.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "weft/gen/msg.h"

int weft_usb_errno(int err)
{
	switch (err) {
	case 0:                         return 0;
	case LIBUSB_ERROR_NO_DEVICE:    return -ENODEV;
	case LIBUSB_ERROR_NOT_FOUND:    return -ENODEV;
	case LIBUSB_ERROR_BUSY:         return -EBUSY;
	case LIBUSB_ERROR_ACCESS:       return -EACCES;
	case LIBUSB_ERROR_NO_MEM:       return -ENOMEM;
	case LIBUSB_ERROR_PIPE:         return -EPIPE;
	default:                        return -EIO;
	}
}

bool weft_usb_is_card(libusb_device *dev, struct libusb_device_descriptor *desc)
{
	return !libusb_get_device_descriptor(dev, desc) && desc->idVendor == WEFT_USB_VENDOR_ID &&
	       desc->idProduct == WEFT_USB_PRODUCT_ID;
}

void weft_usb_user_of(const char *node, char *out, size_t len)
{
	char path[300], to[64];
	DIR *proc = opendir("/proc");
	struct dirent *e;

	out[0] = '\0';
	while (proc && !out[0] && (e = readdir(proc))) {
		int pid = atoi(e->d_name);
		snprintf(path, sizeof(path), "/proc/%d/fd", pid);
		DIR *fds = pid > 0 && pid != getpid() ? opendir(path) : NULL;
		struct dirent *f;
		while (fds && !out[0] && (f = readdir(fds))) {
			snprintf(path, sizeof(path), "/proc/%d/fd/%.20s", pid, f->d_name);
			ssize_t n = readlink(path, to, sizeof(to) - 1);
			if (n <= 0)
				continue;
			to[n] = '\0';
			if (strcmp(to, node))
				continue;
			char name[32] = "";
			snprintf(path, sizeof(path), "/proc/%d/comm", pid);
			FILE *comm = fopen(path, "r");
			if (comm && fgets(name, sizeof(name), comm))
				name[strcspn(name, "\n")] = '\0';
			if (comm)
				fclose(comm);
			snprintf(out, len, "%s (pid %d)", name[0] ? name : "a process", pid);
		}
		if (fds)
			closedir(fds);
	}
	if (proc)
		closedir(proc);
}

/* "1-2.3", as the kernel names it; "" for a root hub. At most seven hubs are in a row. */
static void port_of(libusb_device *dev, char *out, size_t len)
{
	uint8_t ports[7];
	int n = libusb_get_port_numbers(dev, ports, sizeof(ports));
	size_t at = 0;

	out[0] = '\0';
	for (int i = 0; i < n && at < len; i++)
		at += (size_t)(i ? snprintf(out + at, len - at, ".%u", ports[i])
		                 : snprintf(out, len, "%u-%u", libusb_get_bus_number(dev), ports[i]));
}

/*
 * Reads a string, such as the serial number, of the device in this port from sysfs. libusb would have to open the device to read
 * it.
 */
static void sysfs_string(const char *port, const char *what, char *out, size_t len)
{
	char path[256];

	out[0] = '\0';
	if (!port[0])
		return;
	snprintf(path, sizeof(path), "/sys/bus/usb/devices/%s/%s", port, what);
	FILE *f = fopen(path, "r");
	if (f && fgets(out, (int)len, f))
		out[strcspn(out, "\n")] = '\0';
	if (f)
		fclose(f);
}

void weft_usb_where(libusb_device *dev, char *out, size_t len)
{
	snprintf(out, len, "bus %u device %u", libusb_get_bus_number(dev), libusb_get_device_address(dev));
}

static enum weft_usb_speed speed_of(libusb_device *dev)
{
	switch (libusb_get_device_speed(dev)) {
	case LIBUSB_SPEED_UNKNOWN: return WEFT_USB_SPEED_UNKNOWN;
	case LIBUSB_SPEED_LOW:     return WEFT_USB_SPEED_LOW;
	case LIBUSB_SPEED_FULL:    return WEFT_USB_SPEED_FULL;
	case LIBUSB_SPEED_HIGH:    return WEFT_USB_SPEED_HIGH;
	default:                   return WEFT_USB_SPEED_SUPER;
	}
}

void weft_usb_place(libusb_device *dev, struct weft_usb_info *i)
{
	port_of(dev, i->port, sizeof(i->port));
	i->speed = speed_of(dev);
	i->hub_speed = WEFT_USB_SPEED_UNKNOWN;
	for (libusb_device *hub = libusb_get_parent(dev); hub; hub = libusb_get_parent(hub)) {
		enum weft_usb_speed s = speed_of(hub);
		if (s && (!i->hub_speed || s < i->hub_speed))
			i->hub_speed = s;
	}
}

/*
 * Makes a string that a device gave fit for a line of text: bytes that are no printing ASCII become '?'. Bytes of
 * text that are among special become '?' too.
 */
static void tame(char *text, const char *special)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~' || strchr(special, *text))
			*text = '?';
}

void weft_usb_describe(libusb_device *dev, struct weft_dev_info *i)
{
	char node[64];
	struct libusb_device_descriptor desc = { 0 };
	libusb_device_handle *h = NULL;

	memset(i, 0, sizeof(*i));
	libusb_get_device_descriptor(dev, &desc);
	weft_usb_where(dev, i->where, sizeof(i->where));
	port_of(dev, i->port, sizeof(i->port));
	sysfs_string(i->port, "serial", i->serial, sizeof(i->serial));
	sysfs_string(i->port, "product", i->product, sizeof(i->product));
	snprintf(node, sizeof(node), "/dev/bus/usb/%03u/%03u", libusb_get_bus_number(dev),
	         libusb_get_device_address(dev));
	weft_usb_user_of(node, i->used_by, sizeof(i->used_by));
	i->access = weft_usb_errno(libusb_open(dev, &h));
	if (!i->access && !i->serial[0])
		libusb_get_string_descriptor_ascii(h, desc.iSerialNumber, (uint8_t *)i->serial, sizeof(i->serial));
	if (!i->access && !i->product[0])
		libusb_get_string_descriptor_ascii(h, desc.iProduct, (uint8_t *)i->product, sizeof(i->product));
	/* In the name of a device '@' stands in front of a socket, ',' between cards, and '*' for all of them. */
	tame(i->serial, "@,*");
	tame(i->product, "");
	snprintf(i->name, sizeof(i->name), "%s", i->serial[0] ? i->serial : i->port);
	if (!i->access && libusb_kernel_driver_active(h, WEFT_USB_INTERFACE) == 1)
		i->access = -EBUSY;
	if (h)
		libusb_close(h);
	if (i->used_by[0])
		i->access = -EBUSY;
}

int weft_usb_start(libusb_context **ctx, char *msg)
{
	int err = libusb_init(ctx);

	if (err)
		snprintf(msg, WEFT_DEV_MSG, "usb: libusb cannot start: %s", libusb_strerror(err));
	return err ? -EIO : 0;
}

int weft_usb_each(int (*fn)(void *user, libusb_device *dev), void *user, char *msg)
{
	struct libusb_device_descriptor desc;
	libusb_device **list = NULL;
	libusb_context *ctx;
	int err = weft_usb_start(&ctx, msg), stop = 0;

	if (err)
		return err;
	ssize_t all = libusb_get_device_list(ctx, &list);
	for (ssize_t i = 0; i < all && !stop; i++)
		if (weft_usb_is_card(list[i], &desc))
			stop = fn(user, list[i]);
	if (list)
		libusb_free_device_list(list, 1);
	libusb_exit(ctx);
	if (all < 0)
		snprintf(msg, WEFT_DEV_MSG, "usb: %s", libusb_strerror((int)all));
	return all < 0 ? -EIO : stop;
}

void weft_usb_tell_apart(const struct weft_dev_info *other, struct weft_dev_info *i)
{
	if (!strcmp(i->serial, other->serial))
		memcpy(i->name, i->port, sizeof(i->name));
}

struct listing { struct weft_dev_info *out; size_t max, n; };

static int add(void *user, libusb_device *dev)
{
	struct listing *l = user;

	if (l->n < l->max)
		weft_usb_describe(dev, &l->out[l->n]);
	l->n++;
	return 0;
}

int weft_usb_list(struct weft_dev_info *out, size_t max, size_t *n, char *msg)
{
	struct listing l = { out, max, 0 };
	int err = weft_usb_each(add, &l, msg);

	for (size_t i = 0; i < l.n && i < max; i++)
		for (size_t k = 0; k < l.n && k < max; k++)
			if (k != i)
				weft_usb_tell_apart(&out[k], &out[i]);
	*n = l.n;
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft-card: a card without a board. A USB device whose inside is a simulated
 * chip running the card's firmware.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/clock.h"
#include "card.h"
#include "weft/gen/msg.h"

#define MAX_FAULTS 256
#define MAX_FDS 64
#define BOOT_CYCLES 30000000ull    /* twice what the boot ROM takes for an image of 48 KiB */
#define BOOT_STEP 20000            /* cycles between two looks whether to stop */

struct options {
	const char *listen, *flash, *serial, *rom, *image, *chip_dir;
	unsigned usbip;
	bool rtl, usb_phy, verbose;
	unsigned long pace_khz;
	struct weft_chip_options chip;
	struct usbdev_fault faults[MAX_FAULTS];
	size_t n_faults;
};

static const char usage[] =
	"usage: weft-card --listen SOCKET [--usbip PORT] [options]\n\n"
	"A simulated card. QEMU takes it with -chardev socket,path=SOCKET and -device\n"
	"usb-redir; weft with --device usb:@SOCKET; any Linux machine with usbip attach.\n\n"
	"  --listen SOCKET     speak usb-redir on this Unix socket\n"
	"  --usbip PORT        speak USB/IP on this TCP port of the loopback (usual: 3240)\n"
	"  --chip model|rtl    functional chip (default) or the Verilated one\n"
	"  --usb-phy           through the Verilated USB device of hw/usb, at full speed, and a\n"
	"                      simulated host controller\n"
	"  --config C          w4, w8, w8b, w16 (default) or w32\n"
	"  --memory ddr|sram   rtl: profile of the simulated memory\n"
	"  --dram MIB          card memory (default 64)\n"
	"  --pace KHZ          the chip's cycles take as long as at so many kHz (default: as fast\n"
	"                      as it can be simulated); the card is one of 100000\n"
	"  --serial S          serial number (default WEFT0001)\n"
	"  --flash FILE        keep the flash here; made if it is not there\n"
	"  --rom F --image F   boot ROM and firmware (default: those that were built or installed)\n"
	"  --wave F.fst        rtl: waveform\n"
	"  --fault KIND@N[,A]  at transfer N: drop, stall, short, corrupt, delay (A ms),\n"
	"                      disconnect (for A ms, 0: for good), hang (the core), memory\n"
	"                      (flip bit A of card memory), bus (command A, a load, gets a bus\n"
	"                      error), pe (rtl: bit A % 64 of the sum of PE A / 64, row * 256 +\n"
	"                      column, stuck at 1); repeatable\n"
	"  --verbose           say what happens\n\n"
	"SIGUSR1 pulls the cable, SIGUSR2 plugs it in again.\n";

static volatile sig_atomic_t stop, pull, plug;

static void on_signal(int number)
{
	if (number == SIGUSR1)
		pull = 1;
	else if (number == SIGUSR2)
		plug = 1;
	else
		stop = 1;
}

static int bad(const char *format, const char *text)
{
	fprintf(stderr, "weft-card: ");
	fprintf(stderr, format, text);
	fputc('\n', stderr);
	return 2;
}

/* ---- files ---- */

/* FILE as it is, or name in one of the places where a build or an installation has it. */
static char *find_file(const char *name)
{
	static const char *const places[] = { "firmware/", "../lib/firmware/weft/", "../lib/weft/firmware/" };
	char exe[PATH_MAX], path[PATH_MAX + 128];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (n <= 0)
		return NULL;
	exe[n] = '\0';
	*(strrchr(exe, '/') + 1) = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%s%s%s", exe, places[i], name);
		if (!access(path, R_OK))
			return strdup(path);
	}
	return NULL;
}

static uint8_t *read_file(const char *given, const char *name, size_t *len)
{
	char *path = given ? strdup(given) : find_file(name);
	struct stat st;
	uint8_t *data = NULL;

	if (!path) {
		fprintf(stderr, "weft-card: %s is not there; build it with: make firmware\n", name);
		return NULL;
	}
	FILE *f = fopen(path, "rb");
	if (f && !fstat(fileno(f), &st) && (data = malloc((size_t)st.st_size + 1)))
		*len = fread(data, 1, (size_t)st.st_size, f);
	if (!data || *len != (size_t)st.st_size) {
		fprintf(stderr, "weft-card: %s: %s\n", path, strerror(errno));
		free(data);
		data = NULL;
	}
	if (f)
		fclose(f);
	free(path);
	return data;
}

/* The file of --flash, of full length; *fresh: made now. @return -1: said why */
static int open_flash_file(const char *name, bool *fresh)
{
	struct stat st;
	int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0 || fstat(fd, &st)) {
		fprintf(stderr, "weft-card: %s: %s\n", name, strerror(errno));
	} else if (!S_ISREG(st.st_mode) || (st.st_size != WEFT_FLASH_BYTES && st.st_size)) {
		fprintf(stderr, "weft-card: %s: not a file of 4 MiB\n", name);
	} else {
		int err = st.st_size ? 0 : posix_fallocate(fd, 0, WEFT_FLASH_BYTES);
		*fresh = !st.st_size;
		if (!err)
			return fd;
		fprintf(stderr, "weft-card: %s: %s\n", name, strerror(err));
		unlink(name);
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Firmware and serial into an empty flash; false: said why. */
static bool format_flash(const struct options *o, uint8_t *flash)
{
	size_t n = 0;
	uint8_t *image = read_file(o->image, "weft-fw.img", &n);
	int err = image ? weft_flash_format(flash, WEFT_FLASH_BYTES, o->serial, image, n) : -ENOENT;

	if (image && err)
		fprintf(stderr, "weft-card: the firmware image of %zu bytes or serial \"%s\" does not fit the flash\n", n, o->serial);
	free(image);
	return !err;
}

/* The flash: in a file, mapped, so that it survives the process; else in memory only. */
static uint8_t *open_flash(const struct options *o)
{
	bool fresh = true;
	int fd = o->flash ? open_flash_file(o->flash, &fresh) : -1;

	if (o->flash && fd < 0)
		return NULL;
	uint8_t *flash = mmap(NULL, WEFT_FLASH_BYTES, PROT_READ | PROT_WRITE,
	                      fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
	if (flash == MAP_FAILED)
		bad("no memory for the flash: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	if (flash != MAP_FAILED && (!fresh || format_flash(o, flash)))
		return flash;
	if (flash != MAP_FAILED)
		munmap(flash, WEFT_FLASH_BYTES);
	if (fresh && o->flash)
		unlink(o->flash);
	return NULL;
}

/* ---- the chip ---- */

static void *try_lib(const char *dir, const char *sub, const char *name)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s%sweft-%s.so", dir, sub, name);
	return access(path, R_OK) ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* A simulator, weft-NAME.so, where a build or an installation has it; NULL if there is none, or it cannot be loaded. */
static void *find_lib(const char *name)
{
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (n <= 0)
		return NULL;
	exe[n] = '\0';
	*(strrchr(exe, '/') + 1) = '\0';
	void *lib = try_lib(exe, "rtl/", name);
	return lib ? lib : try_lib(exe, "../lib/weft/", name);
}

/* The USB device's simulator; NULL: said why. */
static const struct weft_usb_phy_ops *phy_ops(void)
{
	const struct weft_usb_phy_ops *(*get)(void) = NULL;
	void *lib = find_lib("usb");

	if (lib)
		*(void **)&get = dlsym(lib, "weft_usb_phy_api");
	const struct weft_usb_phy_ops *ops = get ? get() : NULL;
	if (ops && ops->version == WEFT_USB_PHY_VERSION)
		return ops;
	const char *why = ops ? "of another build" : dlerror();
	fprintf(stderr, "weft-card: weft-usb.so cannot be used (%s); build it with: make sim\n", why ? why : "not found");
	return NULL;
}

static const struct weft_chip_ops *rtl_ops(const char *config)
{
	char name[128];

	snprintf(name, sizeof(name), "chip-%s", config);
	void *lib = find_lib(name);
	const struct weft_chip_ops *(*get)(void) = NULL;
	if (lib)
		*(void **)&get = dlsym(lib, "weft_chip_api");
	const struct weft_chip_ops *ops = get ? get() : NULL;
	if (!ops || ops->version != WEFT_CHIP_API_VERSION) {
		const char *why = ops ? "of another build" : dlerror();
		fprintf(stderr, "weft-card: weft-chip-%s.so cannot be used (%s); build it with: make chip CHIP_CONFIGS=%s\n", config,
		        why ? why : "not found", config);
		return NULL;
	}
	return ops;
}

/* ---- options ---- */

static int take(struct options *o, int opt, const char *v)
{
	char *end = NULL;

	switch (opt) {
	case 'l': o->listen = v; return 0;
	case 'u':
		o->usbip = (unsigned)strtoul(v, &end, 0);
		return *end || !o->usbip || o->usbip > 65535 ? bad("--usbip: \"%s\" is not a port", v) : 0;
	case 'c':
		if (strcmp(v, "model") && strcmp(v, "rtl"))
			return bad("--chip: \"%s\" is not model or rtl", v);
		o->rtl = !strcmp(v, "rtl");
		return 0;
	case 'C': o->chip.config = v; return 0;
	case 'm':
		if (strcmp(v, "ddr") && strcmp(v, "sram"))
			return bad("--memory: \"%s\" is not ddr or sram", v);
		o->chip.memory = !strcmp(v, "sram") ? WEFT_MEMORY_SRAM : WEFT_MEMORY_DDR;
		return 0;
	case 'd':
		o->chip.dram_bytes = strtoull(v, &end, 0);
		if (*end || !o->chip.dram_bytes || o->chip.dram_bytes > WEFT_CHIP_DRAM_SIZE >> 20)
			return bad("--dram: \"%s\" is not 1 to 1024 MiB", v);
		o->chip.dram_bytes <<= 20;
		return 0;
	case 's':
		o->serial = v;
		return strlen(v) < 1 || strlen(v) > 16 ? bad("--serial: \"%s\" is not 1 to 16 characters", v) : 0;
	case 'p':
		o->pace_khz = strtoul(v, &end, 0);
		return *end || o->pace_khz < 1000 || o->pace_khz > 1000000 ? bad("--pace: \"%s\" is not 1000 to 1000000 kHz", v) : 0;
	case 'f': o->flash = v; return 0;
	case 'r': o->rom = v; return 0;
	case 'i': o->image = v; return 0;
	case 'w': o->chip.wave = v; return 0;
	case 'F':
		if (o->n_faults == MAX_FAULTS || usbdev_parse_fault(v, &o->faults[o->n_faults]))
			return bad("--fault: \"%s\" is not KIND@N or KIND@N,ARG; see --help", v);
		o->n_faults++;
		return 0;
	case 'P': o->usb_phy = true; return 0;
	case 'v': o->verbose = true; return 0;
	case ':': return bad("%s wants a value", v);
	default:  return bad("option %s is not known; see --help", v);
	}
}

static int parse(struct options *o, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "listen", 1, NULL, 'l' }, { "usbip", 1, NULL, 'u' }, { "chip", 1, NULL, 'c' },
		{ "config", 1, NULL, 'C' }, { "memory", 1, NULL, 'm' }, { "dram", 1, NULL, 'd' },
		{ "serial", 1, NULL, 's' }, { "flash", 1, NULL, 'f' }, { "rom", 1, NULL, 'r' },
		{ "image", 1, NULL, 'i' }, { "wave", 1, NULL, 'w' }, { "fault", 1, NULL, 'F' },
		{ "pace", 1, NULL, 'p' }, { "usb-phy", 0, NULL, 'P' }, { "verbose", 0, NULL, 'v' }, { "help", 0, NULL, 'h' }, { NULL, 0, NULL, 0 },
	};
	int opt, err = 0;

	/* The ':' in front: no lines of getopt's own, and a missing value is ':'. */
	while (!err && (opt = getopt_long(argc, argv, ":hv", longs, NULL)) != -1) {
		if (opt == 'h') {
			fputs(usage, stdout);
			exit(0);
		}
		err = take(o, opt, opt == '?' || opt == ':' ? argv[optind - 1] : optarg);
	}
	if (!err && optind < argc)
		err = bad("\"%s\" is not an option; see --help", argv[optind]);
	if (!err && !o->listen && !o->usbip)
		err = bad("%s", "neither --listen nor --usbip is given; see --help");
	if (!err && o->chip.wave && !o->rtl)
		err = bad("%s", "--wave is for --chip rtl");
	return err;
}

/* ---- running ---- */

static void signals(struct usbdev *d, bool verbose)
{
	if (pull || plug) {
		usbdev_attach(d, !pull);
		if (verbose)
			fprintf(stderr, "weft-card: %s\n", pull ? "unplugged" : "plugged in");
	}
	pull = plug = 0;
}

/*
 * Checks that the simulated chip has not broken a rule of its memory bus; if it has, nothing that it does is
 * worth more than the message.
 */
static int check_bus(const struct weft_chip_ops *ops, void *chip)
{
	const char *broken = ops->broken ? ops->broken(chip) : NULL;

	if (broken)
		fprintf(stderr, "weft-card: the chip's memory port broke a rule of AXI: %s\n", broken);
	return broken ? 3 : 0;
}

static void loop(struct usbdev *d, struct server **s, int n, bool verbose)
{
	struct pollfd p[MAX_FDS];

	while (!stop) {
		uint64_t wake, now;
		int n_fds = 0;
		signals(d, verbose);
		for (int i = 0; i < n; i++)
			s[i]->ops->work(s[i]);
		bool busy = usbdev_step(d, &wake);
		for (int i = 0; i < n; i++)
			n_fds += s[i]->ops->fds(s[i], p + n_fds, MAX_FDS - n_fds);
		now = now_ns();
		uint64_t ns = busy || wake <= now ? 0 : wake - now < 100000000 ? wake - now : 100000000;
		struct timespec t = { 0, (long)ns };
		if (ns)
			ppoll(p, (nfds_t)n_fds, &t, NULL);
	}
}

/*
 * Lets the Verilated chip start, until its core waits for somebody: hosts lose patience with a simulated boot ROM that
 * checks a signature, and reset it in the middle. A chip that never waits is left after twice the longest start.
 */
static void boot(const struct weft_chip_ops *ops, void *chip)
{
	fprintf(stderr, "weft-card: the chip starts; with a signed image this takes its simulator some 20 s\n");
	while (!stop && ops->cycles(chip) < BOOT_CYCLES && ops->run(chip, BOOT_STEP))
		;
}

static int serve(const struct options *o, struct usbdev *d)
{
	struct server *s[2];
	char msg[256] = "";
	int n = 0;

	if (o->listen && (s[n] = redir_listen(o->listen, d, msg, sizeof(msg))))
		n++;
	if (!msg[0] && o->usbip && (s[n] = usbip_listen(o->usbip, d, msg, sizeof(msg))))
		n++;
	if (!msg[0]) {
		if (o->verbose)
			fprintf(stderr, "weft-card: card %s is ready\n", o->serial);
		loop(d, s, n, o->verbose);
	}
	for (int i = 0; i < n; i++)
		s[i]->ops->close(s[i]);
	return msg[0] ? bad("%s", msg) : 0;
}

int main(int argc, char **argv)
{
	struct options o = { .serial = "WEFT0001", .chip.config = "w16" };
	const struct weft_chip_ops *ops = weft_chip_model();
	struct sigaction act = { .sa_handler = on_signal };
	const int numbers[] = { SIGTERM, SIGINT, SIGUSR1, SIGUSR2 };
	char msg[WEFT_DEV_MSG] = "";
	void *chip;
	int err = parse(&o, argc, argv);

	if (err)
		return err;
	uint8_t *rom = read_file(o.rom, "boot.bin", &o.chip.rom_bytes);
	uint8_t *flash = rom ? open_flash(&o) : NULL;
	const struct weft_usb_phy_ops *phy = NULL;
	if (!flash || (o.rtl && !(ops = rtl_ops(o.chip.config))) || (o.usb_phy && !(phy = phy_ops()))) {
		free(rom);
		return 2;
	}
	o.chip.rom = rom;
	o.chip.flash = flash;
	o.chip.flash_bytes = WEFT_FLASH_BYTES;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaction(numbers[i], &act, NULL);
	signal(SIGPIPE, SIG_IGN);
	err = ops->open(&o.chip, &chip, msg);
	free(rom);
	if (err) {
		fprintf(stderr, "weft-card: %s\n", msg);
		return 2;
	}
	if (o.rtl)
		boot(ops, chip);
	struct usbdev *d = usbdev_new(ops, chip, o.serial, o.faults, o.n_faults);
	void *device = d && phy ? phy->open(ops, chip, o.serial) : NULL;
	if (device)
		usbdev_use_phy(d, phy, device);
	if (d)
		usbdev_pace(d, (uint32_t)o.pace_khz);
	err = !d || (phy && !device) ? (bad("%s", "out of memory"), 3) : serve(&o, d);
	if (!err)
		err = check_bus(ops, chip);
	usbdev_free(d);
	if (device)
		phy->close(device);
	ops->close(chip);
	munmap(flash, WEFT_FLASH_BYTES);
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices: open one, give it buffers, submit command streams, wait.
 *
 * The same calls drive the functional model, the Verilated RTL and a card.
 *
 *	weft_dev_open(&options, &dev, msg);
 *	weft_buf_alloc(dev, bytes, &buf);  weft_buf_write(buf, 0, data, bytes);
 *	weft_submit(dev, words, n_words, windows, n_windows, &job, msg);
 *	weft_wait(dev, job, timeout_ms, &result);
 *	weft_buf_read(buf, 0, out, bytes);
 *
 * Thread safety: one device, one thread at a time; different devices may be
 * used from different threads.
 */
#ifndef WEFT_DEV_H
#define WEFT_DEV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_dev weft_dev;
typedef struct weft_buf weft_buf;
typedef uint64_t weft_job;

#define WEFT_DEV_MSG 256

/* What the DMA windows are for. */
enum { WEFT_WIN_STREAM = 0, WEFT_WIN_CONST = 1, WEFT_WIN_ARENA = 2 };

enum weft_dev_kind { WEFT_DEV_MODEL, WEFT_DEV_RTL, WEFT_DEV_USB };
enum weft_memory { WEFT_MEMORY_DDR, WEFT_MEMORY_SRAM };

struct weft_dev_options {
	enum weft_dev_kind kind;
	const char *config;        /* named configuration; "w16" */
	enum weft_memory memory;   /* RTL only: the simulated memory's profile */
	const char *rtl_dir;       /* RTL only: where weft-rtl-<config>.so lies; NULL: beside the
	                            * program or library, in rtl/ there, or in weft/ there */
	bool cosim;                /* RTL only: run the model beside it and compare the bytes that
	                            * each command wrote, as it retires */
	const char *wave;          /* RTL only: FST file, or NULL */
	int64_t wave_cmd;          /* command of each stream around which to record (weft_dev_wave() changes
	                            * it), or -1: everything until weft_dev_close() */
	uint64_t wave_cycles;      /* cycles before and after that command's retirement */
	bool samples;              /* RTL only: weft_dev_sample() will be used; simulates slower */
	uint64_t wave_from, wave_to; /* or, with wave_cmd -1 and wave_to not 0: these cycles, as weft_retire counts */
	const char *usb;           /* USB only: which card. NULL or "": any that is free; its serial;
	                            * or @PATH, the socket of a simulated card (weft-card --listen) */
	unsigned usb_timeout_ms;   /* USB only: without an answer for so long the card counts as stuck
	                            * and is put right; 0: 2000 */
	unsigned usb_boot_ms;      /* USB only: how long it may take to start; 0: 30000 */
	unsigned usb_wait_ms;      /* USB only: wait so long for the card to appear */
	unsigned reserved0;        /* zero */
	const struct weft_usb_ops *usb_ops;    /* tests: another transport (driver/usb/usb.h), or NULL */
	uint64_t hang_cycles;      /* RTL only: retiring nothing for so long counts as hung; 0: 2^26 */
	uint64_t reserved[3];      /* zero */
};

/** Defaults: the model, w16, ddr, nothing recorded. */
struct weft_dev_options weft_dev_options_default(void);

/**
 * Open a device.
 *
 * @param[out] dev  Set only on success; weft_dev_close() frees it.
 * @param msg       WEFT_DEV_MSG bytes; one line on failure.
 * @return 0, -EINVAL (option), -ENOENT (no such configuration or simulator),
 *         -EPROTO (device of another version or configuration), -ENOMEM;
 *         USB: -ENODEV (no such card), -EBUSY (in use; msg says by whom),
 *         -EACCES (no permission), -EIO, -ETIMEDOUT (it does not answer)
 */
int weft_dev_open(const struct weft_dev_options *o, weft_dev **dev, char *msg);
void weft_dev_close(weft_dev *dev);

/** The last error in words, "" if none. Valid until the next call on dev. */
const char *weft_dev_error(const weft_dev *dev);

/**
 * Device memory, zeroed. On a card, what the host writes is sent with the next
 * job that uses the buffer, and what jobs wrote is fetched when it is read.
 * @return 0, -ENOMEM, -ENODEV
 */
int weft_buf_alloc(weft_dev *dev, size_t len_bytes, weft_buf **buf);
/** Before weft_dev_close(). Jobs that were submitted with the buffer must have been waited for. */
void weft_buf_free(weft_buf *buf);
/**
 * @return 0, -ERANGE (outside the buffer; nothing copied), -EBUSY (write: a
 *         job that was not waited for uses it); a card also: -EIO, -ENODEV,
 *         -ETIMEDOUT, -ECONNRESET (read: the card was reset since, the contents are gone)
 */
int weft_buf_write(weft_buf *buf, size_t off_bytes, const void *data, size_t len_bytes);
int weft_buf_read(weft_buf *buf, size_t off_bytes, void *data, size_t len_bytes);
/**
 * What the buffer holds does not matter any more: nothing of it needs to be sent or kept. Until something is
 * written there it holds anything; a read says what. @return 0, -EBUSY, -ENOMEM
 */
int weft_buf_discard(weft_buf *buf);

/**
 * Look at the device's memory itself: the next read fetches from a card even what the host wrote there and no job
 * did. For finding out whether that memory is sound. @return 0, -EBUSY, -ENOMEM
 */
int weft_buf_doubt(weft_buf *buf);

/* What a job may reach. windows[i] is DMA window i+1; window 0 is the stream. */
struct weft_window {
	weft_buf *buf;             /* NULL: closed */
	bool rd, wr;
};

/**
 * Queue one command stream.
 *
 * The stream is verified first (driver/verify/verify.h); nothing unverified reaches a
 * device, unless weft_dev_trust() said so.
 *
 * @param words    Commands, little-endian 64-bit words; copied before return.
 * @param windows  Windows 1..n_windows; buffers must outlive weft_wait().
 * @param[out] job Set only on success.
 * A card starts at once and works through its jobs in order while the host does
 * other things; all other devices run in weft_wait().
 *
 * @return 0; -EINVAL: breaks a rule, weft_dev_error() names command and rule;
 *         -EAGAIN: queue full, retry after weft_wait(); -ENOMEM; -ENODEV
 */
int weft_submit(weft_dev *dev, const uint64_t *words, size_t n_words,
                const struct weft_window *windows, size_t n_windows, weft_job *job);

/** Would weft_submit() take this stream? @return 0, -EINVAL (weft_dev_error() says why), -ENOMEM */
int weft_dev_verify(weft_dev *dev, const uint64_t *words, size_t n_words, const struct weft_window *windows,
                    size_t n_windows);

/* The device's counters (include/spec/regs.toml, cnt_*). All in cycles but the named ones. */
struct weft_counters {
	uint32_t cycles, ld_busy, st_busy, cv_busy, ve_busy;
	uint32_t cv_stall_act, cv_stall_wgt, cv_stall_post, sp_conflict;
	uint32_t rd_bytes, wr_bytes, cmds;
};

struct weft_job_result {
	int status;                /* 0, -EIO: fault, -ETIMEDOUT, -ECANCELED, -EBADMSG: model and RTL
	                            * differ; a card: -ENODEV, unplugged; -ECONNRESET, it was reset
	                            * and what earlier jobs left in its memory is gone */
	uint64_t cycles;           /* from start to END; 0 on the model */
	uint32_t fault_code, fault_unit, fault_cmd, fault_tag, fault_info;
	struct weft_counters counters;
	double seconds;            /* host time spent */
	double cpu_seconds;        /* of it, this thread's processor time */
	uint64_t sim_cycles;       /* RTL: cycles simulated in that time */
};

/**
 * Wait for a job; runs it where the device is simulated.
 *
 * @param timeout_ms  0: no limit. A simulated device checks it between commands.
 * @return 0 (see result->status), -ENOENT: no such job
 */
int weft_wait(weft_dev *dev, weft_job job, unsigned timeout_ms, struct weft_job_result *result);

/** Give a job up; weft_wait() then reports -ECANCELED, or how it had ended. @return 0, -ENOENT */
int weft_cancel(weft_dev *dev, weft_job job);

/* ---- cards ---- */

/* A card on the USB. */
struct weft_dev_info {
	char serial[24];           /* for options.usb */
	char product[48];
	char where[32];            /* "bus 1 device 4" */
	char used_by[64];          /* "weft (pid 123)", "" if free or unknown */
	int access;                /* 0, -EACCES: not for this user, -EBUSY */
};

/** Cards that are plugged in. @return 0 with *n found, at most max written; -EIO, -ENOTSUP */
int weft_dev_list(struct weft_dev_info *out, size_t max, size_t *n, char *msg);

/** A card was plugged in (here), or is gone. A non-zero return ends weft_dev_watch(), which returns it. */
typedef int weft_dev_watcher(void *user, const struct weft_dev_info *card, bool here);

/**
 * Be told of the cards on the USB: first of those that are there, then of each
 * that comes and goes. None is claimed, so others may take them meanwhile.
 * @param timeout_ms  0: no limit
 * @return what fn returned; 0: that time is over; -EIO, -ENOMEM
 */
int weft_dev_watch(weft_dev_watcher *fn, void *user, unsigned timeout_ms, char *msg);

/* An open card, and what has happened on the way to it. */
struct weft_card_info {
	char serial[24];
	char config[8];
	uint32_t fw_version, protocol, chip_version;   /* major << 16 | minor ... */
	uint64_t dram_bytes;
	uint32_t clock_khz, slot, boot_count, reset_cause;
	/* since it was opened */
	uint64_t frames_repeated, link_resets, chip_resets, jobs_repeated, jobs;
};
/** @return 0, -ENOTSUP: not a card */
int weft_dev_card(const weft_dev *dev, struct weft_card_info *out);

enum weft_usb_speed { WEFT_USB_SPEED_UNKNOWN, WEFT_USB_SPEED_LOW, WEFT_USB_SPEED_FULL, WEFT_USB_SPEED_HIGH, WEFT_USB_SPEED_SUPER };
/** "high speed, 480 Mbit/s" */
const char *weft_usb_speed_text(enum weft_usb_speed speed);

/* How a card shows itself on the USB, and how it hangs there. */
struct weft_usb_info {
	uint16_t vendor, product_id;
	uint16_t usb_bcd, device_bcd;          /* 0x0210 is 2.10 */
	char manufacturer[64], product[64], serial[64];        /* "" without a string */
	uint8_t packet_0;          /* most bytes of a packet: endpoint 0, */
	uint16_t packet_in, packet_out;        /* the bulk endpoints of messages and data; 0: there is none */
	bool high_capable;         /* it says what it would be at the other speed, so it can do high speed */
	enum weft_usb_speed speed; /* at which it runs */
	enum weft_usb_speed hub_speed;         /* of the slowest hub between it and the host; unknown: none, or nobody tells */
	char port[32];             /* "1-2.3": bus 1, port 3 of the hub in port 2; "" if nobody tells */
};
/**
 * Read an open card's USB descriptors, and what the host knows of its port.
 * @return 0, -ENOTSUP: not a card; -EIO, -ENODEV, -ETIMEDOUT: weft_dev_error() says which descriptor
 */
int weft_dev_usb(weft_dev *dev, struct weft_usb_info *out);

/* One request to a card and its answer. */
struct weft_transfer {
	const char *what;          /* "WRITE", "READ", or the message's name */
	uint32_t bytes;            /* of its payload */
	uint64_t from_ns, to_ns;   /* sent, answered: CLOCK_MONOTONIC */
};
typedef void weft_traffic(void *user, const struct weft_transfer *t);

/** Be called as each request is answered; cards only. fn NULL: no more. @return 0, -ENOTSUP */
int weft_dev_traffic(weft_dev *dev, weft_traffic *fn, void *user);

/* One command has just retired. */
struct weft_retire {
	size_t cmd;                /* index in the stream */
	unsigned unit;             /* enum weft_unit */
	uint64_t cycle;            /* since the stream's start; 0 on the model */
};

/**
 * Be called as each command retires, in the order of retirement. From inside,
 * weft_dev_peek_sp() and weft_buf_read() show what the device holds at that
 * moment. A non-zero return stops the job with that status.
 */
typedef int weft_observer(void *user, const struct weft_retire *r);
void weft_dev_observe(weft_dev *dev, weft_observer *fn, void *user);

/* Units and channels of the bus, and what each does in one cycle. */
enum weft_track {
	WEFT_TRACK_CP, WEFT_TRACK_LD, WEFT_TRACK_ST, WEFT_TRACK_CV, WEFT_TRACK_VE, WEFT_TRACK_POST,
	WEFT_TRACK_RD, WEFT_TRACK_WR, WEFT_N_TRACKS
};
enum weft_does {
	WEFT_DOES_IDLE,            /* no command; a channel: nothing outstanding */
	WEFT_DOES_BUSY,
	WEFT_DOES_FILL,            /* CV: a command fills or leaves the array */
	WEFT_DOES_WAIT_COMMAND,    /* its next command waits for others to retire */
	WEFT_DOES_WAIT_QUEUE,      /* CP: the unit's queue is full */
	WEFT_DOES_WAIT_MEMORY,     /* data, or room, from the bus */
	WEFT_DOES_WAIT_ANSWER,     /* WR: written, not yet acknowledged */
	WEFT_DOES_WAIT_SP,         /* the scratchpad's port went to another */
	WEFT_DOES_WAIT_POST,
	WEFT_DOES_WAIT_ACT,        /* CV: an activation word */
	WEFT_DOES_WAIT_WGT,        /* CV: a weight word */
	WEFT_N_DOES
};
/** "CV"; "waits for the post unit" */
const char *weft_track_name(unsigned track);
const char *weft_does_text(unsigned does);

/* One cycle of a running stream. */
struct weft_sample {
	uint64_t cycle;            /* from 0, at the stream's start */
	uint8_t state[WEFT_N_TRACKS];   /* enum weft_does */
	uint16_t rd_bytes, wr_bytes;    /* that LD and ST moved */
	uint8_t issued, retired;   /* bit per enum weft_unit */
};
typedef void weft_sampler(void *user, const struct weft_sample *w);

/** Be called in every cycle of jobs to come; RTL only, with options.samples. fn NULL: no more. @return 0, -ENOTSUP */
int weft_dev_sample(weft_dev *dev, weft_sampler *fn, void *user);

/** Scratchpad bytes. @return 0, -ERANGE, -ENOTSUP: this device cannot show them */
int weft_dev_peek_sp(weft_dev *dev, uint32_t addr, uint32_t len_bytes, void *out);

/**
 * Scratchpad bytes for the next job to begin with; simulated devices only. That
 * job finds the rest as the job before it left it.
 * @return 0, -ERANGE, -ENOTSUP
 */
int weft_dev_poke_sp(weft_dev *dev, uint32_t addr, uint32_t len_bytes, const void *data);

/* Difference that co-simulation found. */
struct weft_cosim_diff {
	bool found;
	size_t cmd;
	bool in_sp;                /* else in window */
	unsigned window;
	uint64_t addr, cycle;
	uint8_t expected, got;
};
/** The first difference of the last job, if cosim was asked for. */
const struct weft_cosim_diff *weft_dev_cosim(const weft_dev *dev);

/* For tests: stuck-at-1 faults in the RTL, and streams that skip the verifier. */
enum weft_plant_kind { WEFT_PLANT_NONE, WEFT_PLANT_PE, WEFT_PLANT_LANE, WEFT_PLANT_SP, WEFT_PLANT_POINT };
enum weft_plant_how { WEFT_HOW_STUCK0, WEFT_HOW_STUCK1, WEFT_HOW_AND, WEFT_HOW_OR, WEFT_HOW_FLIP };
struct weft_plant {
	enum weft_plant_kind kind;
	uint32_t row, col, lane, addr, bit;
	/* POINT: element row, col of weft_dev_points()[point] */
	uint32_t point, bit2;      /* AND, OR: bit and bit2 are wired together */
	enum weft_plant_how how;
	uint64_t cycle;            /* FLIP: bit is inverted once, so many cycles from now */
};
/** @return 0, -ENOTSUP (not in this device), -EINVAL (no such place or bit) */
int weft_dev_plant(weft_dev *dev, const struct weft_plant *p);

/* A place of the RTL that can be disturbed: rows x cols elements of so many bits. */
struct weft_fault_point {
	const char *name;          /* "u_post.s1_min_q" */
	uint32_t bits, rows, cols;
	bool storage;              /* bridges and flips are possible */
};
/** Only builds with fault points (make fault) have any. Valid as long as the device. */
const struct weft_fault_point *weft_dev_points(weft_dev *dev, uint32_t *n);
void weft_dev_trust(weft_dev *dev, bool trusted);
/**
 * Of a device opened to record around a command (options.wave, wave_cmd): which command of the
 * streams to come that is; -1: they are not recorded. @return 0, -ENOTSUP
 */
int weft_dev_wave(weft_dev *dev, int64_t cmd);
/** Reset the device after a fault. weft_wait() does so by itself. @return 0, -EIO */
int weft_dev_reset(weft_dev *dev);
/** Registers as the last job left them; the model has none, they read 0. */
uint32_t weft_dev_reg_read(weft_dev *dev, uint32_t addr);
bool weft_dev_has_regs(const weft_dev *dev);
/** Between jobs only. @return 0, -ENOTSUP: this device takes no such writes */
int weft_dev_reg_write(weft_dev *dev, uint32_t addr, uint32_t value);

#ifdef __cplusplus
}
#endif
#endif

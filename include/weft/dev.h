/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices: open one, give it buffers, submit command streams, wait.
 *
 * The same calls drive the functional model, the Verilated RTL and a card.
 *
 *	weft_dev_open(&options, &dev, msg);
 *	weft_buf_alloc(dev, bytes, &buf);  weft_buf_write(buf, 0, data, bytes);
 *	weft_submit(dev, words, n_words, windows, n_windows, &job);
 *	weft_wait(dev, job, timeout_ms, &result);
 *	weft_buf_read(buf, 0, out, bytes);
 *
 * Time limits. A function that takes timeout_ms looks once and returns if that is 0,
 * and waits without a limit if it is WEFT_FOREVER. What every other function may take
 * stands beside it; "the call limit" is options.usb_call_ms. No function waits longer,
 * whatever a card does or leaves undone. A card that is lost ends every wait, also one
 * with WEFT_FOREVER: when nothing has come from it for options.usb_timeout_ms it is
 * put right step by step, and it is given up when that has not helped within the
 * recovery limit, 2 * usb_boot_ms + 48 * usb_timeout_ms. What ran or waited then ends
 * with -EIO; so does a job when the card has to be put right for the ninth time while
 * the job is there. (A job that the card says is running is not lost: with WEFT_FOREVER a
 * wait takes as long as the job.)
 *
 * Events. A card's answers have to be taken and its next jobs submitted while the
 * program does other things. By default a thread of the library does that for a card;
 * with WEFT_EVENTS_CALLER the program does it, in weft_dev_process(), and weft_dev_fd()
 * says when. Simulated devices run their jobs inside weft_wait() and weft_dev_process(),
 * unless WEFT_EVENTS_THREAD asks for a thread.
 *
 * Threads. Calls on one device may come from several threads at a time; each waits at
 * most for the one step, of some milliseconds, that another is in. One buffer and one
 * job belong to one thread at a time. Different devices are independent. Functions that are called back
 * (observer, sampler, traffic) run with the device locked: from inside them a function
 * that would wait returns -EDEADLK.
 *
 * Processes. After fork() an open card stays the parent's: in the child every call on
 * it returns -EPERM, and only weft_dev_close() is useful, which frees memory there and
 * says nothing to the card. Simulated devices are copied by fork() like other memory,
 * unless they have a thread; then they are like cards.
 */
#ifndef WEFT_DEV_H
#define WEFT_DEV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/api.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_dev weft_dev;
typedef struct weft_buf weft_buf;
typedef uint64_t weft_job;

/* Bytes of a message, with its end. */
#define WEFT_DEV_MSG 256

/* As timeout_ms: without a limit. */
#define WEFT_FOREVER 0xffffffffu

/* What the DMA windows are for. */
enum { WEFT_WIN_STREAM = 0, WEFT_WIN_CONST = 1, WEFT_WIN_ARENA = 2 };

enum weft_dev_kind { WEFT_DEV_MODEL, WEFT_DEV_RTL, WEFT_DEV_USB };
enum weft_memory { WEFT_MEMORY_DDR, WEFT_MEMORY_SRAM };

/* Who lets a device's events happen. */
enum weft_events_by {
	WEFT_EVENTS_DEFAULT,       /* a card: the thread; a simulated device: the caller */
	WEFT_EVENTS_CALLER,        /* weft_dev_process(), and any call that waits */
	WEFT_EVENTS_THREAD,        /* a thread of the library, from open to close */
};

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
	unsigned usb_call_ms;      /* USB only: how long a call without a time limit of its own may take,
	                            * and usb_timeout_ms more for each 64 KiB that it moves; 0: 60000 */
	const struct weft_usb_ops *usb_ops;    /* tests: another transport (driver/usb/usb.h), or NULL */
	uint64_t hang_cycles;      /* RTL only: retiring nothing for so long counts as hung; 0: 2^26 */
	enum weft_events_by events;
	uint32_t all_clocks;       /* RTL only, for tests: not 0 lets the clock of every unit run in every
	                            * cycle. Simulates slower; results and cycles are the same */
	uint64_t reserved[2];      /* zero */
};

/** Defaults: the model, w16, ddr, nothing recorded. */
WEFT_API struct weft_dev_options weft_dev_options_default(void);

/**
 * Open a device.
 *
 * @param[out] dev  Set only on success; weft_dev_close() frees it.
 * @param msg       WEFT_DEV_MSG bytes; one line on failure.
 * @return 0, -EINVAL (option), -ENOENT (no such configuration or simulator),
 *         -EPROTO (device of another version or configuration), -ENOMEM;
 *         USB: -ENODEV (no such card), -EBUSY (in use; msg says by whom),
 *         -EACCES (no permission), -EIO, -ETIMEDOUT (it does not answer)
 *
 * Thread-safe. A card takes at most usb_wait_ms + 2 * usb_boot_ms + 5 s.
 */
WEFT_API int weft_dev_open(const struct weft_dev_options *o, weft_dev **dev, char msg WEFT_ROOM(WEFT_DEV_MSG));

/**
 * Close a device and free all that belongs to it but its buffers, which must have been
 * freed before. Jobs that have not ended are given up. dev may be NULL.
 *
 * No other thread may use dev any more. A card takes at most 7 s, of which 5 s only if
 * its endpoints are halted and it does not answer; other devices end the command that is under way.
 */
WEFT_API void weft_dev_close(weft_dev *dev);

/**
 * What went wrong in this thread's last call on dev that can fail.
 * @return one line, "" if nothing did; valid until this thread's next call on any device. Does not wait.
 */
WEFT_API const char *weft_dev_error(const weft_dev *dev);

/* ---- events ---- */

/**
 * A descriptor for poll(), select() or epoll that is readable when weft_dev_process()
 * has something to do, or when a job has ended since weft_dev_process() was last called.
 *
 * @return the descriptor, the device's own until weft_dev_close(): do not read or close it;
 *         -EMFILE, -ENFILE, -ENOMEM, -EPERM (forked). Thread-safe. Does not wait.
 */
WEFT_API int weft_dev_fd(weft_dev *dev);

/**
 * Let happen what can happen now: take a card's answers, submit its next jobs, put it
 * right; let a simulated device work on its first job for some milliseconds.
 *
 * @return how many jobs have ended and were not yet waited for; -EPERM (forked), -EDEADLK
 *
 * Thread-safe. Does not wait; it takes a few milliseconds on a card, and on a simulated
 * device at most as long as one command or 10 000 cycles.
 */
WEFT_API int weft_dev_process(weft_dev *dev);

/* ---- buffers ---- */

/**
 * Device memory, zeroed. On a card, what the host writes is sent with the next
 * job that uses the buffer, and what jobs wrote is fetched when it is read.
 *
 * @param[out] buf  Set only on success; weft_buf_free() frees it.
 * @return 0, -ENOMEM, -ENODEV, -EPERM (forked). Thread-safe. Does not wait.
 */
WEFT_API int weft_buf_alloc(weft_dev *dev, size_t len_bytes, weft_buf **buf);

/**
 * Free a buffer, before weft_dev_close(). Jobs that were submitted with it must have
 * been waited for or forgotten. buf may be NULL. Thread-safe. Does not wait.
 */
WEFT_API void weft_buf_free(weft_buf *buf);

/**
 * Write to a buffer, or read from it.
 *
 * @return 0, -ERANGE (outside the buffer; nothing copied), -EBUSY (a job that was not
 *         waited for uses the buffer; read: may write it), -EPERM (forked); a card also:
 *         -EIO, -ENODEV, -ETIMEDOUT (the call limit), -EDEADLK (from a callback),
 *         -ECONNRESET (read: the card was reset since, the contents are gone).
 *         On an error data is untouched.
 *
 * Thread-safe. A simulated device does not wait. On a card a read takes at most the call
 * limit; a write waits only, and at most so long, where a job with the buffer was
 * forgotten and the card has not ended it yet.
 */
WEFT_API int weft_buf_write(weft_buf *buf, size_t off_bytes, const void *data, size_t len_bytes);
WEFT_API int weft_buf_read(weft_buf *buf, size_t off_bytes, void *data, size_t len_bytes);

/**
 * What the buffer holds does not matter any more: nothing of it needs to be sent or kept. Until something is
 * written there it holds anything; a read says what. @return 0, -EBUSY, -ENOMEM, and as weft_buf_write(), which
 * says also how long it takes
 */
WEFT_API int weft_buf_discard(weft_buf *buf);

/**
 * Look at the device's memory itself: the next read fetches from a card even what the host wrote there and no job
 * did. For finding out whether that memory is sound. @return 0, -EBUSY, -ENOMEM, and as weft_buf_write(), which
 * says also how long it takes
 */
WEFT_API int weft_buf_doubt(weft_buf *buf);

/* ---- jobs ---- */

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
 * A card starts at once and works through its jobs while the host does other things, in
 * their order where one uses what another writes. All other devices run their jobs one
 * after the other, in weft_wait() and weft_dev_process().
 *
 * @param words    Commands, little-endian 64-bit words; copied before return.
 * @param windows  Windows 1..n_windows; copied. The buffers must outlive weft_wait() or weft_forget().
 * @param[out] job Set only on success. weft_wait() or weft_forget() ends its life.
 *
 * @return 0; -EINVAL: breaks a rule, weft_dev_error() names command and rule;
 *         -EAGAIN: queue full, retry after weft_wait() (a card holds 64 jobs and 16 different
 *         streams, other devices 16 jobs, each until it was waited for); -ENOMEM; -ENODEV;
 *         -EPERM (forked)
 *
 * Thread-safe. Does not wait; verifying takes up to some seconds for the longest streams
 * that are allowed (driver/README.md).
 */
WEFT_API int weft_submit(weft_dev *dev, const uint64_t *words, size_t n_words,
                const struct weft_window *windows, size_t n_windows, weft_job *job);

/**
 * Would weft_submit() take this stream?
 * @return 0, -EINVAL (weft_dev_error() says why), -ENOMEM. Thread-safe. As long as weft_submit().
 */
WEFT_API int weft_dev_verify(weft_dev *dev, const uint64_t *words, size_t n_words, const struct weft_window *windows,
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
 * Wait for a job's end. On a simulated device that runs the job, and those before it.
 *
 * @param timeout_ms  0: look whether it has ended. WEFT_FOREVER: until it has.
 * @param[out] result Set only if the job has ended.
 *
 * @return 0: ended; result->status says how, weft_dev_error() in words. The job is forgotten.
 *         -ETIMEDOUT: not ended within that time. Nothing has changed: it goes on, and can be
 *         waited for again, cancelled or forgotten.
 *         -ENOENT: no such job; -EPERM (forked); -EDEADLK (from a callback)
 *
 * Thread-safe. Returns at its time limit, and on a simulated device when the command or the
 * 10 000 cycles then under way are over. Each call gets at least that far, so that a job
 * that is only ever looked at ends, too.
 */
WEFT_API int weft_wait(weft_dev *dev, weft_job job, unsigned timeout_ms, struct weft_job_result *result);

/**
 * weft_wait(), then weft_forget() if the job has not ended by then: whatever happens, no job is left behind.
 *
 * @return 0: result->status says how it ended, -ETIMEDOUT: it was given up; -ENOENT, -EPERM, -EDEADLK as weft_wait()
 */
WEFT_API int weft_finish(weft_dev *dev, weft_job job, unsigned timeout_ms, struct weft_job_result *result);

/**
 * Give a job up; weft_wait() then reports -ECANCELED, or how it had ended: at once where it
 * does not run yet and on a simulated device, and when the card has stopped it on a card.
 * @return 0, -ENOENT, -EPERM (forked). Thread-safe. Does not wait.
 */
WEFT_API int weft_cancel(weft_dev *dev, weft_job job);

/**
 * Give a job up, and forget it: its result is not wanted. Its buffers may be freed; a card may
 * write them until it has stopped the job, which weft_buf_write() and weft_buf_read() wait for.
 * @return 0, -ENOENT, -EPERM (forked). Thread-safe. Does not wait.
 */
WEFT_API int weft_forget(weft_dev *dev, weft_job job);

/* ---- cards ---- */

/* A card on the USB. */
struct weft_dev_info {
	char serial[24];           /* for options.usb */
	char product[48];
	char where[32];            /* "bus 1 device 4" */
	char used_by[64];          /* "weft (pid 123)", "" if free or unknown */
	int access;                /* 0, -EACCES: not for this user, -EBUSY */
};

/**
 * Cards that are plugged in.
 * @return 0 with *n found, at most max written; -EIO, -ENOTSUP. Thread-safe. Waits for nothing but the
 *         kernel, which may take some milliseconds for each device on the USB.
 */
WEFT_API int weft_dev_list(struct weft_dev_info *out, size_t max, size_t *n, char msg WEFT_ROOM(WEFT_DEV_MSG));

/** A card was plugged in (here), or is gone. A non-zero return ends weft_dev_watch(), which returns it. */
typedef int weft_dev_watcher(void *user, const struct weft_dev_info *card, bool here);

/**
 * Be told of the cards on the USB: first of those that are there, then of each
 * that comes and goes. None is claimed, so others may take them meanwhile.
 * @param timeout_ms  0: only of those that are there; WEFT_FOREVER: until fn says so
 * @return what fn returned; 0: that time is over; -EIO, -ENOMEM. Thread-safe.
 */
WEFT_API int weft_dev_watch(weft_dev_watcher *fn, void *user, unsigned timeout_ms, char msg WEFT_ROOM(WEFT_DEV_MSG));

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
/** @return 0, -ENOTSUP: not a card; -EPERM (forked). Thread-safe. Does not wait. */
WEFT_API int weft_dev_card(weft_dev *dev, struct weft_card_info *out);

enum weft_usb_speed { WEFT_USB_SPEED_UNKNOWN, WEFT_USB_SPEED_LOW, WEFT_USB_SPEED_FULL, WEFT_USB_SPEED_HIGH, WEFT_USB_SPEED_SUPER };
/** "high speed, 480 Mbit/s" */
WEFT_API const char *weft_usb_speed_text(enum weft_usb_speed speed);

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
 * @return 0, -ENOTSUP: not a card; -EIO, -ENODEV, -ETIMEDOUT: weft_dev_error() says which descriptor;
 *         -EPERM (forked), -EDEADLK (from a callback). Thread-safe. At most 8 s, one for each descriptor.
 */
WEFT_API int weft_dev_usb(weft_dev *dev, struct weft_usb_info *out);

/* One request to a card and its answer. */
struct weft_transfer {
	const char *what;          /* "WRITE", "READ", or the message's name */
	uint32_t bytes;            /* of its payload */
	uint64_t from_ns, to_ns;   /* sent, answered: CLOCK_MONOTONIC */
};
typedef void weft_traffic(void *user, const struct weft_transfer *t);

/**
 * Be called as each request is answered; cards only. fn NULL: no more. Which thread calls fn depends on
 * options.events. @return 0, -ENOTSUP, -EPERM (forked). Thread-safe. Does not wait.
 */
WEFT_API int weft_dev_traffic(weft_dev *dev, weft_traffic *fn, void *user);

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
WEFT_API void weft_dev_observe(weft_dev *dev, weft_observer *fn, void *user);

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
WEFT_API const char *weft_track_name(unsigned track);
WEFT_API const char *weft_does_text(unsigned does);

/* One cycle of a running stream. */
struct weft_sample {
	uint64_t cycle;            /* from 0, at the stream's start */
	uint8_t state[WEFT_N_TRACKS];   /* enum weft_does */
	uint16_t rd_bytes, wr_bytes;    /* that LD and ST moved */
	uint8_t issued, retired;   /* bit per enum weft_unit */
};
typedef void weft_sampler(void *user, const struct weft_sample *w);

/** Be called in every cycle of jobs to come; RTL only, with options.samples. fn NULL: no more. @return 0, -ENOTSUP */
WEFT_API int weft_dev_sample(weft_dev *dev, weft_sampler *fn, void *user);

/** Scratchpad bytes. @return 0, -ERANGE, -ENOTSUP: this device cannot show them */
WEFT_API int weft_dev_peek_sp(weft_dev *dev, uint32_t addr, uint32_t len_bytes, void *out);

/**
 * Scratchpad bytes for the next job to begin with; simulated devices only. That
 * job finds the rest as the job before it left it.
 * @return 0, -ERANGE, -ENOTSUP
 */
WEFT_API int weft_dev_poke_sp(weft_dev *dev, uint32_t addr, uint32_t len_bytes, const void *data);

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
WEFT_API const struct weft_cosim_diff *weft_dev_cosim(const weft_dev *dev);

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
WEFT_API int weft_dev_plant(weft_dev *dev, const struct weft_plant *p);

/* A place of the RTL that can be disturbed: rows x cols elements of so many bits. */
struct weft_fault_point {
	const char *name;          /* "u_post.s1_min_q" */
	uint32_t bits, rows, cols;
	bool storage;              /* bridges and flips are possible */
};
/** Only builds with fault points (make fault) have any. Valid as long as the device. */
WEFT_API const struct weft_fault_point *weft_dev_points(weft_dev *dev, uint32_t *n);
WEFT_API void weft_dev_trust(weft_dev *dev, bool trusted);
/**
 * Of a device opened to record around a command (options.wave, wave_cmd): which command of the
 * streams to come that is; -1: they are not recorded. @return 0, -ENOTSUP
 */
WEFT_API int weft_dev_wave(weft_dev *dev, int64_t cmd);
/** Reset a simulated device after a fault. weft_wait() does so by itself. @return 0, -EIO. Does not wait. */
WEFT_API int weft_dev_reset(weft_dev *dev);
/**
 * Registers as the last job left them. Those of the model, which has none, read 0, and so do those of a card
 * that does not answer within 1 s, the longest that this takes.
 */
WEFT_API uint32_t weft_dev_reg_read(weft_dev *dev, uint32_t addr);
WEFT_API bool weft_dev_has_regs(const weft_dev *dev);
/** Between jobs only. @return 0, -ENOTSUP: this device takes no such writes */
WEFT_API int weft_dev_reg_write(weft_dev *dev, uint32_t addr, uint32_t value);

#ifdef __cplusplus
}
#endif
#endif

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
 * and waits without a limit if it is WEFT_FOREVER. How long every other function may take
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

/* What the DMA windows are for: the stream itself, constants, and memory that streams read and write. */
enum { WEFT_WIN_STREAM = 0, WEFT_WIN_CONST = 1, WEFT_WIN_ARENA = 2 };

enum weft_dev_kind { WEFT_DEV_MODEL, WEFT_DEV_RTL, WEFT_DEV_USB };
/* Profiles of simulated memory: as slow as DDR, where reads and writes share a budget, or as fast as SRAM. */
enum weft_memory { WEFT_MEMORY_DDR, WEFT_MEMORY_SRAM };

/* Who lets a device's events happen (see above). */
enum weft_events_by {
	WEFT_EVENTS_DEFAULT,       /* a card: the thread; a simulated device: the caller */
	WEFT_EVENTS_CALLER,        /* weft_dev_process(), and any call that waits */
	WEFT_EVENTS_THREAD,        /* a thread of the library, from open to close */
};

struct weft_dev_options {
	enum weft_dev_kind kind;
	const char *config;        /* named configuration; NULL: "w16", or on USB the one that the card has */
	enum weft_memory memory;   /* RTL only: the simulated memory's profile */
	const char *rtl_dir;       /* RTL only: where weft-rtl-<config>.so lies; NULL: beside the
	                            * program or library, in rtl/ there, or in weft/ there */
	bool cosim;                /* RTL only: run the model beside it and compare the bytes that
	                            * each command wrote, as it retires */
	const char *wave;          /* RTL only: record waves to this FST file; NULL: record none */
	int64_t wave_cmd;          /* command of each stream around which to record (weft_dev_wave() changes
	                            * it), or -1: everything until weft_dev_close() */
	uint64_t wave_cycles;      /* cycles before and after that command's retirement */
	bool samples;              /* RTL only: weft_dev_sample() will be used; simulates slower */
	uint64_t wave_from, wave_to; /* or, with wave_cmd -1 and wave_to not 0: these cycles, as weft_retire counts */
	const char *usb;           /* USB only: which card. NULL or "": any that is free, through the broker where
	                            * there is one (weft_dev_broker()); its serial;
	                            * or @PATH, the socket of a simulated card (weft-card --listen)
	                            * or of weft-broker, through which many processes use a card.
	                            * Several cards: weft/cards.h */
	unsigned usb_timeout_ms;   /* USB only: without an answer for so long the card counts as stuck
	                            * and is put right; 0: 2000 */
	unsigned usb_boot_ms;      /* USB only: how long it may take to start; 0: 30000 */
	unsigned usb_wait_ms;      /* USB only: wait so long for the card to appear */
	unsigned usb_call_ms;      /* USB only: how long a call without a time limit of its own may take,
	                            * and usb_timeout_ms more for each 64 KiB that it moves; 0: 60000 */
	const struct weft_usb_ops *usb_ops;    /* tests: another transport (driver/usb/usb.h), or NULL */
	uint64_t hang_cycles;      /* RTL only: a stream that retires nothing for so many cycles counts as hung; 0: 2^26 */
	enum weft_events_by events;    /* who lets the device's events happen */
	uint32_t all_clocks;       /* RTL only, for tests: not 0 lets the clock of every unit run in every
	                            * cycle. Simulates slower; results and cycles are the same */
	uint64_t reserved[2];      /* zero */
};

/** Returns the defaults: the functional model, configuration w16, memory DDR, nothing recorded. */
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
 * No other thread may use dev any more. A card takes at most 8 s, of which 5 s only if
 * its endpoints are halted and it does not answer, and half of one for its word that it clears its memory; other devices end the command that is under way.
 */
WEFT_API void weft_dev_close(weft_dev *dev);

/**
 * Returns one line about what went wrong in this thread's last call on dev that can fail; "" if
 * nothing did. Valid until this thread's next call on any device. Does not wait.
 */
WEFT_API const char *weft_dev_error(const weft_dev *dev);

/* ---- events ---- */

/**
 * Returns a descriptor for poll(), select() or epoll that is readable when weft_dev_process()
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
 * Allocate a buffer of device memory, filled with zeros. On a card, what the host writes to it is sent
 * with the next job that uses the buffer, and what jobs wrote is fetched when it is read.
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
 * @return 0, -ERANGE (outside the buffer; nothing copied), -EBUSY (a job uses the
 *         buffer, for a read: may write it, and has perhaps not ended: wait for it), -EPERM (forked); a card also:
 *         -EIO, -ENODEV, -ETIMEDOUT (the call limit), -EDEADLK (from a callback),
 *         -ECONNRESET (read: the card was reset since, the contents are gone; so for each read
 *         and job with the buffer until it is written whole or discarded).
 *         On an error data is untouched.
 *
 * Thread-safe. A simulated device does not wait. On a card a read takes at most the call
 * limit; a write waits only, and at most so long, where a job with the buffer was
 * forgotten and the card has not ended it yet.
 */
WEFT_API int weft_buf_write(weft_buf *buf, size_t off_bytes, const void *data, size_t len_bytes);
WEFT_API int weft_buf_read(weft_buf *buf, size_t off_bytes, void *data, size_t len_bytes);

/**
 * Discard what a buffer holds, so that nothing of it needs to be sent to a card or kept. Until something
 * is written there, its contents are undefined.
 * @return 0, -EBUSY, -ENOMEM, or as weft_buf_write(), which also says how long it takes
 */
WEFT_API int weft_buf_discard(weft_buf *buf);

/**
 * Let the next read fetch a buffer's contents from the card's memory, even those that the host wrote
 * there and no job has changed, to find out whether that memory is sound.
 * @return 0, -EBUSY, -ENOMEM, or as weft_buf_write(), which also says how long it takes
 */
WEFT_API int weft_buf_doubt(weft_buf *buf);

/* ---- jobs ---- */

/* A DMA window: memory that a job may reach. windows[i] is window i + 1; window 0 is the stream. */
struct weft_window {
	weft_buf *buf;             /* the buffer; NULL: the window is closed */
	bool rd, wr;               /* the job may read it, and write it */
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
 * Check whether weft_submit() would take this stream.
 * @return 0; -EINVAL: it breaks a rule, weft_dev_error() names command and rule; -ENOMEM.
 *         Thread-safe. Takes as long as weft_submit().
 */
WEFT_API int weft_dev_verify(weft_dev *dev, const uint64_t *words, size_t n_words, const struct weft_window *windows,
                    size_t n_windows);

/*
 * The device's counters of one stream (include/spec/regs.toml, cnt_*): cycles in all, in which each
 * unit was busy, and in which the array waited for activations, weights or the post unit; requests
 * to the scratchpad that lost arbitration, counted in each cycle; bytes read and written; commands.
 */
struct weft_counters {
	uint32_t cycles, ld_busy, st_busy, cv_busy, ve_busy;
	uint32_t cv_stall_act, cv_stall_wgt, cv_stall_post, sp_conflict;
	uint32_t rd_bytes, wr_bytes, cmds;
};

/* How a job ended. */
struct weft_job_result {
	int status;                /* 0; -EIO: a fault; -ETIMEDOUT: given up or hung; -ECANCELED; -EBADMSG: model
	                            * and RTL differ; a card: -ENODEV: unplugged; -ECONNRESET: it was reset,
	                            * and what earlier jobs left in its memory is gone */
	uint64_t cycles;           /* cycles from the stream's start to END; 0 on the model */
	uint32_t fault_code, fault_unit, fault_cmd, fault_tag, fault_info;   /* the fault; code 0: there was none */
	struct weft_counters counters;
	double seconds;            /* time on the host that the job took */
	double cpu_seconds;        /* processor time of this thread within it */
	uint64_t sim_cycles;       /* RTL: cycles simulated in that time */
};

/**
 * Wait for a job's end. On a simulated device this runs the job, and those before it.
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
 * Call weft_wait(), and weft_forget() if the job has not ended by then: whatever happens, no job is
 * left behind.
 *
 * @return 0: result->status says how the job ended, -ETIMEDOUT if it was given up; -ENOENT, -EPERM,
 *         -EDEADLK as weft_wait()
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

/* A card that is plugged in to the USB. */
struct weft_dev_info {
	char name[32];             /* for options.usb: its serial, or its port if it has none or another card in the list has the same */
	char serial[24];           /* its serial; '?' for what does not print and for '@', ',' and '*' */
	char product[48];          /* its product name, '?' likewise */
	char port[32];             /* "1-2.3": bus 1, port 3 of the hub in port 2; it stays the same when the card is plugged in again */
	char where[32];            /* "bus 1 device 4" */
	char used_by[64];          /* who has it open: "weft (pid 123)"; "" if nobody does or it is not known */
	int access;                /* 0: it can be opened; -EACCES: not by this user; -EBUSY: it is in use */
};

/* The path of the machine's broker, and the environment variable that names another broker's, or "none". */
#define WEFT_BROKER_SOCKET "/run/weft/broker.sock"
#define WEFT_BROKER_ENV "WEFT_BROKER"
#define WEFT_DEV_WHERE 109     /* bytes of "@PATH" for the longest path of a socket */

/**
 * Say where a card without a name is opened. If the environment variable WEFT_BROKER is set, that is the broker
 * (weft-broker) whose socket it names, or the USB itself if it is "none". If it is not set, that is the broker if a file
 * WEFT_BROKER_SOCKET exists, and else the USB. Whether the broker answers does not matter: if it does not, or answers
 * with an error, opening the card fails.
 * @param[out] where  "@PATH", a name for options.usb: the broker's socket. "": the USB.
 * @return 0; -EINVAL: WEFT_BROKER is empty or too long, with one line in msg. Thread-safe, but for changes of
 *         the environment. Does not wait.
 */
WEFT_API int weft_dev_broker(char where WEFT_ROOM(WEFT_DEV_WHERE), char msg WEFT_ROOM(WEFT_DEV_MSG));

/**
 * List the cards that are plugged in.
 * @param[out] out  At most max cards are written here.
 * @param[out] n    How many cards there are.
 * @return 0, -EIO, -ENOTSUP, with one line in msg on failure. Thread-safe. Waits for nothing but the
 *         kernel, which may take some milliseconds for each device on the USB.
 */
WEFT_API int weft_dev_list(struct weft_dev_info *out, size_t max, size_t *n, char msg WEFT_ROOM(WEFT_DEV_MSG));

/**
 * Called when a card is there (here is true), or is gone. A return other than 0 ends weft_dev_watch(),
 * which returns it.
 */
typedef int weft_dev_watcher(void *user, const struct weft_dev_info *card, bool here);

/**
 * Call fn for the cards on the USB: first for those that are there, then for each
 * that comes and goes. None is claimed, so others may take them meanwhile.
 * @param timeout_ms  0: only for those that are there; WEFT_FOREVER: until fn says so
 * @return what fn returned if that is not 0; 0: the time is over; -EIO, -ENOMEM. Thread-safe.
 */
WEFT_API int weft_dev_watch(weft_dev_watcher *fn, void *user, unsigned timeout_ms, char msg WEFT_ROOM(WEFT_DEV_MSG));

/* What an open card says of itself, and what has happened on the way to it. */
struct weft_card_info {
	char serial[24];
	char config[8];            /* the name of its configuration */
	uint32_t fw_version, protocol, chip_version;   /* of firmware, protocol and chip: major << 16 | minor ... */
	uint64_t dram_bytes;       /* bytes of its memory */
	uint32_t clock_khz, slot, boot_count, reset_cause;     /* clock, the firmware's slot, starts, why it started last */
	/* Since it was opened: frames sent again, resets of the link and of the chip, jobs sent again, and all jobs. */
	uint64_t frames_repeated, link_resets, chip_resets, jobs_repeated, jobs;
	bool development_key;      /* its boot ROM starts images of anybody, since everyone has the key that it asks for */
	uint32_t key_id;           /* the first bytes of its owner's public key; 0: firmware that does not say */
	uint32_t security_version; /* of the firmware that runs */
};
/**
 * Fill *out for an open card.
 * @return 0; -ENOTSUP: it is no card; -EPERM (forked). Thread-safe. Does not wait.
 */
WEFT_API int weft_dev_card(weft_dev *dev, struct weft_card_info *out);

enum weft_usb_speed { WEFT_USB_SPEED_UNKNOWN, WEFT_USB_SPEED_LOW, WEFT_USB_SPEED_FULL, WEFT_USB_SPEED_HIGH, WEFT_USB_SPEED_SUPER };
/** Returns a speed in words, such as "high speed, 480 Mbit/s". */
WEFT_API const char *weft_usb_speed_text(enum weft_usb_speed speed);

/* What a card's descriptors say, and how it is connected to the USB. */
struct weft_usb_info {
	uint16_t vendor, product_id;
	uint16_t usb_bcd, device_bcd;          /* 0x0210 is 2.10 */
	char manufacturer[64], product[64], serial[64];        /* "": the card has no such string */
	uint8_t packet_0;          /* the most bytes of a packet of endpoint 0 */
	uint16_t packet_in, packet_out;        /* and of the two bulk endpoints; 0: there is no such endpoint */
	bool high_capable;         /* it says what it would be at the other speed, so it can do high speed */
	enum weft_usb_speed speed; /* the speed at which it runs */
	enum weft_usb_speed hub_speed;         /* of the slowest hub between it and the host; unknown: none, or not known */
	char port[32];             /* "1-2.3": bus 1, port 3 of the hub in port 2; "" if it is not known */
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
	uint32_t bytes;            /* bytes of its payload */
	uint64_t from_ns, to_ns;   /* when it was sent and answered, by CLOCK_MONOTONIC */
};
typedef void weft_traffic(void *user, const struct weft_transfer *t);

/**
 * Have fn called as each request to a card is answered; NULL ends that. Which thread calls fn depends
 * on options.events.
 * @return 0; -ENOTSUP: it is no card; -EPERM (forked). Thread-safe. Does not wait.
 */
WEFT_API int weft_dev_traffic(weft_dev *dev, weft_traffic *fn, void *user);

/* One command has just retired. */
struct weft_retire {
	size_t cmd;                /* the command's index in the stream */
	unsigned unit;             /* its unit, enum weft_unit */
	uint64_t cycle;            /* the cycle since the stream's start; 0 on the model */
};

/**
 * Have fn called as each command of jobs to come retires, in the order of retirement, on simulated
 * devices; NULL ends that. From inside, weft_dev_peek_sp() and weft_buf_read() show what the device
 * holds at that moment. A return other than 0 stops the job with that status.
 */
typedef int weft_observer(void *user, const struct weft_retire *r);
WEFT_API void weft_dev_observe(weft_dev *dev, weft_observer *fn, void *user);

/* Units and channels of the bus, and what each does in one cycle. */
enum weft_track {
	WEFT_TRACK_CP, WEFT_TRACK_LD, WEFT_TRACK_ST, WEFT_TRACK_CV, WEFT_TRACK_VE, WEFT_TRACK_POST,
	WEFT_TRACK_RD, WEFT_TRACK_WR, WEFT_N_TRACKS
};
enum weft_does {
	WEFT_DOES_IDLE,            /* it has no command; a channel of the bus: nothing is outstanding */
	WEFT_DOES_BUSY,            /* it works, or moves data */
	WEFT_DOES_FILL,            /* CV: a command fills or leaves the array */
	WEFT_DOES_WAIT_COMMAND,    /* its next command waits for others to retire */
	WEFT_DOES_WAIT_QUEUE,      /* CP: the unit's queue is full */
	WEFT_DOES_WAIT_MEMORY,     /* it waits for data, or for room, from the bus */
	WEFT_DOES_WAIT_ANSWER,     /* WR: data are written, but not yet acknowledged */
	WEFT_DOES_WAIT_SP,         /* the scratchpad's port was given to another unit */
	WEFT_DOES_WAIT_POST,       /* it waits for the post unit */
	WEFT_DOES_WAIT_ACT,        /* CV: it waits for an activation word */
	WEFT_DOES_WAIT_WGT,        /* CV: it waits for a weight word */
	WEFT_N_DOES
};
/**
 * Return the name of a track ("CV"), and of a state ("waits for the post unit"); "?" for a number that
 * is none.
 */
WEFT_API const char *weft_track_name(unsigned track);
WEFT_API const char *weft_does_text(unsigned does);

/* One cycle of a running stream. */
struct weft_sample {
	uint64_t cycle;            /* counted from 0, the stream's start */
	uint8_t state[WEFT_N_TRACKS];   /* enum weft_does */
	uint16_t rd_bytes, wr_bytes;    /* bytes that LD and ST moved over the bus in this cycle */
	uint8_t issued, retired;   /* units, one bit for each enum weft_unit, that got a command, and that retired one */
};
typedef void weft_sampler(void *user, const struct weft_sample *w);

/**
 * Have fn called in every cycle of jobs to come, on the RTL opened with options.samples; NULL ends that.
 * @return 0, -ENOTSUP
 */
WEFT_API int weft_dev_sample(weft_dev *dev, weft_sampler *fn, void *user);

/**
 * Read len_bytes bytes of the scratchpad from address addr.
 * @return 0; -ERANGE: outside the scratchpad; -ENOTSUP: this device cannot show it
 */
WEFT_API int weft_dev_peek_sp(weft_dev *dev, uint32_t addr, uint32_t len_bytes, void *out);

/**
 * Write len_bytes bytes of the scratchpad at address addr, with which the next job begins; simulated
 * devices only. That job finds the rest as the job before it left it.
 * @return 0; -ERANGE: outside the scratchpad; -ENOTSUP
 */
WEFT_API int weft_dev_poke_sp(weft_dev *dev, uint32_t addr, uint32_t len_bytes, const void *data);

/* A difference between the RTL and the model beside it. */
struct weft_cosim_diff {
	bool found;                /* there is one */
	size_t cmd;                /* the command after which it was seen */
	bool in_sp;                /* it is in the scratchpad; false: in a window */
	unsigned window;           /* which window */
	uint64_t addr, cycle;      /* the byte's address or offset there, and the cycle */
	uint8_t expected, got;     /* the model's value, and the RTL's */
};
/**
 * Returns the first difference of the last job; found is false if there was none or options.cosim was
 * not set.
 */
WEFT_API const struct weft_cosim_diff *weft_dev_cosim(const weft_dev *dev);

/*
 * For tests: faults planted in the RTL. PE: bit `bit` of the sum of the PE in row `row`, column `col`
 * is stuck at 1. LANE: bit `bit` in lane `lane` of the post unit is. SP: bit `bit` of the
 * scratchpad's byte `addr` is. POINT: bit `bit` of element row, col of weft_dev_points()[point] is
 * disturbed as `how` says.
 */
enum weft_plant_kind { WEFT_PLANT_NONE, WEFT_PLANT_PE, WEFT_PLANT_LANE, WEFT_PLANT_SP, WEFT_PLANT_POINT };
enum weft_plant_how { WEFT_HOW_STUCK0, WEFT_HOW_STUCK1, WEFT_HOW_AND, WEFT_HOW_OR, WEFT_HOW_FLIP };
struct weft_plant {
	enum weft_plant_kind kind;
	uint32_t row, col, lane, addr, bit;
	uint32_t point, bit2;      /* AND, OR: bit and bit2 are wired together, so that both are their AND or OR */
	enum weft_plant_how how;   /* POINT: what is wrong with the bit */
	uint64_t cycle;            /* FLIP: the bit is inverted once, so many cycles from now */
};
/** Plant a fault. @return 0; -ENOTSUP: not in this device; -EINVAL: there is no such place or bit */
WEFT_API int weft_dev_plant(weft_dev *dev, const struct weft_plant *p);

/* A place of the RTL where faults can be planted: rows x cols elements of `bits` bits. */
struct weft_fault_point {
	const char *name;          /* "u_post.s1_min_q" */
	uint32_t bits, rows, cols;
	bool storage;              /* it stores its value, so that bits can be wired together and inverted, too */
};
/**
 * Returns all such places, *n of them; they are valid as long as the device. Only the RTL built with
 * fault points (make fault) has any.
 */
WEFT_API const struct weft_fault_point *weft_dev_points(weft_dev *dev, uint32_t *n);
/** With true, submit streams without verifying them, until it is called with false. For tests. */
WEFT_API void weft_dev_trust(weft_dev *dev, bool trusted);
/**
 * Choose the command of the streams to come around which waves are recorded, on a device opened for
 * that (options.wave, wave_cmd). -1: they are not recorded. @return 0, -ENOTSUP
 */
WEFT_API int weft_dev_wave(weft_dev *dev, int64_t cmd);
/**
 * End the recording of waves: options.wave replaces an older file now, if all of it could be written; else no such file is
 * made. The next stream that is recorded begins another. weft_dev_close() ends it too, and cannot say whether it is there.
 *
 * @return 0, also if nothing was recorded; -ENOMEM; or the negative errno of the file, with a line in weft_dev_error().
 * Does not wait, but for the disk.
 */
WEFT_API int weft_dev_wave_end(weft_dev *dev);
/**
 * Reset a simulated device after a fault; weft_wait() does so by itself.
 * @return 0; -EIO: the reset does not end. Does not wait.
 */
WEFT_API int weft_dev_reset(weft_dev *dev);
/**
 * Returns the value of the register at byte address addr, as the last job left it. 0 on the model,
 * which has no registers, and on a card that does not answer within 1 s, the longest that this takes.
 */
WEFT_API uint32_t weft_dev_reg_read(weft_dev *dev, uint32_t addr);
/** Says whether the device has registers. */
WEFT_API bool weft_dev_has_regs(const weft_dev *dev);
/**
 * Write the register at byte address addr, between jobs only.
 * @return 0; -ENOTSUP: this device takes no such writes
 */
WEFT_API int weft_dev_reg_write(weft_dev *dev, uint32_t addr, uint32_t value);

#ifdef __cplusplus
}
#endif
#endif

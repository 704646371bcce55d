/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole chip in simulation: control core, firmware, flash, host link, NPU.
 *
 * Two implementations behind the same functions: the functional one in libweft
 * (weft_chip_model: an instruction-set simulator running the same firmware
 * binary, the functional model as NPU, estimated time), and the Verilated RTL,
 * one shared object per configuration, weft-chip-<config>.so, which exports
 *
 *	const struct weft_chip_ops *weft_chip_api(void);
 *
 * What crosses here is what a USB bridge would see: two byte streams and two
 * sideband resets (docs/protocol.md). One chip, one thread at a time.
 */
#ifndef WEFT_CHIP_H
#define WEFT_CHIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/api.h>
#include <weft/dev.h>
#include <weft/gen/chip.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_CHIP_API_VERSION 2

struct weft_chip_options {
	const char *config;        /* named configuration */
	uint64_t dram_bytes;       /* card memory, a multiple of 64 KiB; 0: 64 MiB */
	const uint8_t *rom;        /* contents of the boot ROM (build/firmware/boot.bin); copied */
	size_t rom_bytes;          /* at most WEFT_CHIP_ROM_SIZE, a multiple of 4 */
	uint8_t *flash;            /* WEFT_FLASH_BYTES; the caller's, lives longer than the chip, persists */
	size_t flash_bytes;
	enum weft_memory memory;   /* Verilated chip: the memory's profile */
	const char *wave;          /* Verilated chip: FST file, or NULL */
	uint64_t reserved[8];      /* zero */
};

/* Faults on command. */
enum weft_chip_plant_kind {
	WEFT_CHIP_PLANT_NONE,      /* undo what was planted and lasts, or has not happened yet */
	WEFT_CHIP_PLANT_HANG,      /* the core executes nothing until its next reset */
	WEFT_CHIP_PLANT_MEMORY,    /* flip bit `bit` of the card memory's byte `addr`, once */
	WEFT_CHIP_PLANT_NPU_FAULT, /* a stream ends with fault BUS of unit LD at command `addr`: the next one
	                            * that has a load there */
	WEFT_CHIP_PLANT_NPU_HANG,  /* the next stream never ends, whatever ctrl says; sys_control resets it */
	WEFT_CHIP_PLANT_POWER_CUT, /* power fails in the middle of flash program or erase number `addr`
	                            * from now, counting from 0, then comes back: cause power */
	WEFT_CHIP_PLANT_PE,        /* Verilated chip: bit `bit` of the sum of the PE in row `addr` / 256,
	                            * column `addr` % 256 is stuck at 1 */
};

struct weft_chip_plant {
	enum weft_chip_plant_kind kind;
	uint64_t addr;
	uint32_t bit;
};

struct weft_chip_ops {
	uint32_t version;          /* WEFT_CHIP_API_VERSION */
	const char *name;          /* "model", "rtl" */

	/* The chip comes out of a power-on reset; nothing runs before run().
	 * msg: WEFT_DEV_MSG bytes, one line on failure. 0, -EINVAL, -ENOMEM. */
	int (*open)(const struct weft_chip_options *o, void **chip, char msg WEFT_ROOM(WEFT_DEV_MSG));
	void (*close)(void *chip);

	/* Bytes to the card. Returns how many were taken, perhaps 0: then the chip
	 * has no credit and needs run() or get(). Frames may be cut anywhere. */
	size_t (*put)(void *chip, const uint8_t *data, size_t len);

	/* Bytes from the card. Never goes beyond the end of a frame: *frame_end says
	 * whether the last byte given was a frame's last. */
	size_t (*get)(void *chip, uint8_t *data, size_t len, bool *frame_end);

	/* Let at most so many cycles pass. False: the chip is idle, that is, the core
	 * waits for an interrupt, the NPU does nothing, and no byte can move inside;
	 * until bytes come or leave only the firmware's own timers would do something.
	 * An idle chip may return early, without letting the rest of the time pass. */
	bool (*run)(void *chip, uint64_t cycles);

	void (*link_reset)(void *chip);
	/* POWER clears memory and scratch registers; HOST is the sideband reset.
	 * Both reset the link. Others are not for callers. */
	void (*reset)(void *chip, enum weft_chip_cause cause);

	/* enum weft_usb_status */
	uint32_t (*status)(void *chip);

	/* 0, -ENOTSUP, -EINVAL */
	int (*plant)(void *chip, const struct weft_chip_plant *p);

	uint64_t (*cycles)(void *chip);    /* since open */
	uint64_t (*instret)(void *chip);   /* instructions of the core since open; 0 if unknown */
	uint8_t *(*dram)(void *chip);      /* card memory; valid until close */

	/* The rule of its memory bus that the chip broke first, in words; NULL: none. NULL
	 * instead of the function: nobody looks. */
	const char *(*broken)(void *chip);
};

/** The functional chip. @return its functions; constant, valid for ever. Thread-safe. */
WEFT_API const struct weft_chip_ops *weft_chip_model(void);

/*
 * A fresh flash: board record with serial (at most 16 characters), image (may be
 * NULL) in slot A with a confirmed boot record. Everything else is erased.
 * -EINVAL: too large or too long.
 */
WEFT_API int weft_flash_format(uint8_t *flash, size_t flash_bytes, const char *serial,
		      const uint8_t *image, size_t image_bytes);

#ifdef __cplusplus
}
#endif
#endif

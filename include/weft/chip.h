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
 * These functions show a chip as a USB bridge would see it: two byte streams and two sideband
 * resets (docs/protocol.md). A chip belongs to one thread at a time.
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

#define WEFT_CHIP_API_VERSION 3    /* of the table struct weft_chip_ops */

struct weft_chip_options {
	const char *config;        /* name of the configuration */
	uint64_t dram_bytes;       /* bytes of card memory, a multiple of 64 KiB; 0: 64 MiB */
	const uint8_t *rom;        /* contents of the boot ROM (build/firmware/boot.bin); copied */
	size_t rom_bytes;          /* its bytes: at most WEFT_CHIP_ROM_SIZE, a multiple of 4 */
	uint8_t *flash;            /* contents of the flash: the caller's memory, which the chip uses while it lives */
	size_t flash_bytes;        /* its bytes: WEFT_FLASH_BYTES */
	enum weft_memory memory;   /* Verilated chip: the memory's profile */
	const char *wave;          /* Verilated chip: FST file to record, there when the chip is closed if it could be written; or NULL */
	uint64_t reserved[8];      /* zero */
};

/* Faults that a test can plant in a chip. */
enum weft_chip_plant_kind {
	WEFT_CHIP_PLANT_NONE,      /* undo what was planted and lasts, or has not happened yet */
	WEFT_CHIP_PLANT_HANG,      /* the core executes nothing until its next reset */
	WEFT_CHIP_PLANT_MEMORY,    /* flip bit `bit` of the card memory's byte `addr`, once */
	WEFT_CHIP_PLANT_NPU_FAULT, /* the next stream whose command `addr` is a load ends there with fault BUS of
	                            * unit LD */
	WEFT_CHIP_PLANT_NPU_HANG,  /* the next stream never ends, whatever ctrl says; sys_control resets it */
	WEFT_CHIP_PLANT_POWER_CUT, /* power fails in the middle of flash program or erase number `addr`
	                            * from now, counting from 0, then comes back: cause power */
	WEFT_CHIP_PLANT_PE,        /* Verilated chip: bit `bit` of the sum of the PE in row `addr` / 256,
	                            * column `addr` % 256 is stuck at 1 */
	WEFT_CHIP_PLANT_RAM,       /* functional chip: bits `bit` and `bit` + 1 of the word at offset `addr` of the
	                            * control core's RAM touch: both become 0 as soon as one of them is */
	WEFT_CHIP_PLANT_FLASH_ID,  /* the flash answers JEDEC_ID with the low 24 bits of `addr` */
};

/* A fault to plant; the comments above say what addr and bit mean. */
struct weft_chip_plant {
	enum weft_chip_plant_kind kind;
	uint64_t addr;
	uint32_t bit;
};

/* The functions of one implementation of a chip; `chip` is what open() gave. */
struct weft_chip_ops {
	uint32_t version;          /* WEFT_CHIP_API_VERSION */
	const char *name;          /* "model", "rtl" */

	/* Makes a chip that has just come out of a power-on reset, in *chip; nothing runs before run().
	 * Returns 0, -EINVAL or -ENOMEM, with one line in msg (WEFT_DEV_MSG bytes) on failure. */
	int (*open)(const struct weft_chip_options *o, void **chip, char msg WEFT_ROOM(WEFT_DEV_MSG));
	void (*close)(void *chip);

	/* Hands len bytes to the card. Returns how many it took, perhaps 0: then the chip
	 * has no credit and needs run() or get(). Frames may be cut anywhere. */
	size_t (*put)(void *chip, const uint8_t *data, size_t len);

	/* Takes at most len bytes from the card and returns how many, never beyond the end of a
	 * frame: *frame_end says whether the last byte given was a frame's last. */
	size_t (*get)(void *chip, uint8_t *data, size_t len, bool *frame_end);

	/* Lets at most so many cycles pass. Returns false if the chip is idle, that is, if the core
	 * waits for an interrupt, the NPU does nothing, and no byte can move inside;
	 * until bytes come or leave only the firmware's own timers would do something.
	 * An idle chip may return early, without letting the rest of the time pass. */
	bool (*run)(void *chip, uint64_t cycles);

	/* The sideband reset of the link alone. */
	void (*link_reset)(void *chip);
	/* Resets the chip: cause POWER clears memory and scratch registers, too; HOST is the sideband
	 * reset. Both reset the link. Callers use no other causes. */
	void (*reset)(void *chip, enum weft_chip_cause cause);

	/* Returns enum weft_usb_status. */
	uint32_t (*status)(void *chip);

	/* Plants a fault. Returns 0; -ENOTSUP: this chip has no such faults; -EINVAL: no such place. */
	int (*plant)(void *chip, const struct weft_chip_plant *p);

	uint64_t (*cycles)(void *chip);    /* Returns the cycles since open(). */
	uint64_t (*instret)(void *chip);   /* Returns the core's instructions since open(); 0 if they are not known. */
	uint8_t *(*dram)(void *chip);      /* Returns the card memory; valid until close(). */

	/* Returns the rule of its memory bus that the chip broke first, in words; NULL if it broke
	 * none. The pointer is NULL if this chip is not watched. */
	const char *(*broken)(void *chip);

	/* The board's button, held or not from now on: what a start finds (sys_strap). Resets do not change it; it is
	 * not held after open(). The pointer is NULL if there is none. */
	void (*strap)(void *chip, bool held);
};

/** Returns the functions of the functional chip; constant. Thread-safe. */
WEFT_API const struct weft_chip_ops *weft_chip_model(void);

/**
 * Fill the contents of a fresh flash: a board record with the serial (at most 16 characters), and
 * image (may be NULL) in slot A with a confirmed boot record. Everything else is erased.
 * @return 0; -EINVAL: the image is too large, the serial too long, or flash_bytes wrong
 */
WEFT_API int weft_flash_format(uint8_t *flash, size_t flash_bytes, const char *serial,
		      const uint8_t *image, size_t image_bytes);

#ifdef __cplusplus
}
#endif
#endif

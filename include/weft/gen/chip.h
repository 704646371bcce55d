/* Generated from include/spec/chip.toml by tools/gen.py; edit that and run `make gen`. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_GEN_CHIP_H
#define WEFT_GEN_CHIP_H

#include <stddef.h>
#include <stdint.h>

#include <weft/api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the chip around the NPU: sys_version. */
#define WEFT_CHIP_ID_VALUE 0x50484357u
#define WEFT_CHIP_VERSION_VALUE 0x00010001u
#define WEFT_CHIP_MAJOR 1

/* What mcause reads. */
#define WEFT_CHIP_MCAUSE_FETCH_MISALIGNED 0x0u /* jump to an address that is no multiple of 4 */
#define WEFT_CHIP_MCAUSE_FETCH_FAULT 0x1u /* instruction outside ROM, RAM and card memory, or refused by memory protection */
#define WEFT_CHIP_MCAUSE_ILLEGAL 0x2u /* unknown instruction or CSR */
#define WEFT_CHIP_MCAUSE_BREAKPOINT 0x3u /* ebreak */
#define WEFT_CHIP_MCAUSE_LOAD_MISALIGNED 0x4u /* load from an address that is no multiple of its size */
#define WEFT_CHIP_MCAUSE_LOAD_FAULT 0x5u /* load where nothing answers, of less than 32 bits from a register, or refused by memory protection */
#define WEFT_CHIP_MCAUSE_STORE_MISALIGNED 0x6u /* store to an address that is no multiple of its size */
#define WEFT_CHIP_MCAUSE_STORE_FAULT 0x7u /* store where nothing answers, into the ROM, of less than 32 bits to a register, or refused by memory protection */
#define WEFT_CHIP_MCAUSE_ECALL 0xbu /* ecall */
#define WEFT_CHIP_MCAUSE_TIMER_IRQ 0x80000007u /* timer interrupt */
#define WEFT_CHIP_MCAUSE_EXTERNAL_IRQ 0x8000000bu /* external interrupt: see irq_pending */

/* Address map of the core. */
/* Boot ROM; stores fault */
#define WEFT_CHIP_ROM_BASE 0x00000000u
#define WEFT_CHIP_ROM_SIZE 0x4000u
/* RAM of the core; bytes can be written; keeps its contents through every reset but power */
#define WEFT_CHIP_RAM_BASE 0x10000000u
#define WEFT_CHIP_RAM_SIZE 0x10000u
/* Registers of the NPU (registers.md); whole words only. While sys_control.npu_reset is 1 they read 0 and ignore writes */
#define WEFT_CHIP_NPU_BASE 0x20000000u
#define WEFT_CHIP_NPU_SIZE 0x400u
/* Registers below; whole words only. A hole reads 0 and ignores writes */
#define WEFT_CHIP_CHIP_BASE 0x30000000u
#define WEFT_CHIP_CHIP_SIZE 0x1000u
/* Card memory, sys_dram_bytes of it; the core's path is slow and uncached */
#define WEFT_CHIP_DRAM_BASE 0x80000000u
#define WEFT_CHIP_DRAM_SIZE 0x40000000u

/* Buffers: offsets from WEFT_CHIP_CHIP_BASE, as those of the registers. */
/* Payload of the message that arrived, while link_status.rx_valid (ro) */
#define WEFT_CHIP_LINK_RX 0x800
#define WEFT_CHIP_LINK_RX_BYTES 0x200
/* Payload of the message to send; not to be written while link_status.tx_busy. Reads 0 (wo) */
#define WEFT_CHIP_LINK_TX 0xa00
#define WEFT_CHIP_LINK_TX_BYTES 0x200

#define WEFT_CHIP_KICK_VALUE 0x4b49434bu /* the only value that wdt_kick takes */
#define WEFT_CHIP_BOOT_PERIOD 0x200000u /* cycles that the boot ROM gives the watchdog */

/* Reads 0x50484357, 'WCHP' (ro) */
#define WEFT_CHIP_SYS_ID 0x000

/* Version of the chip around the NPU; firmware of another major is not booted (ro) */
#define WEFT_CHIP_SYS_VERSION 0x004
#define WEFT_CHIP_SYS_VERSION_MINOR_LSB 0
#define WEFT_CHIP_SYS_VERSION_MINOR_MASK 0x0000ffffu
#define WEFT_CHIP_SYS_VERSION_MAJOR_LSB 16
#define WEFT_CHIP_SYS_VERSION_MAJOR_MASK 0xffff0000u

/* Bytes of card memory, a multiple of 64 KiB, at most map.dram.size (ro) */
#define WEFT_CHIP_SYS_DRAM_BYTES 0x008

/* Clock of core, NPU and timer, kHz (ro) */
#define WEFT_CHIP_SYS_CLOCK_KHZ 0x00c

/* Why the core started last: enum weft_chip_cause (ro) */
#define WEFT_CHIP_SYS_RESET_CAUSE 0x010
#define WEFT_CHIP_SYS_RESET_CAUSE_CAUSE_LSB 0
#define WEFT_CHIP_SYS_RESET_CAUSE_CAUSE_MASK 0x00000007u

/* npu_reset: hold the NPU in reset. Bus transactions that it had under way are finished or thrown away by the chip; 16 cycles after the 1 was written it may be taken back (rw) */
#define WEFT_CHIP_SYS_CONTROL 0x014
#define WEFT_CHIP_SYS_CONTROL_NPU_RESET_LSB 0
#define WEFT_CHIP_SYS_CONTROL_NPU_RESET_MASK 0x00000001u

/* Reset core, NPU, link and registers; cause software (w1s) */
#define WEFT_CHIP_SYS_RESET 0x018
#define WEFT_CHIP_SYS_RESET_CHIP_LSB 0
#define WEFT_CHIP_SYS_RESET_CHIP_MASK 0x00000001u

/* rescue: the board's button is held now; the boot ROM then starts no image, and answers itself (ro) */
#define WEFT_CHIP_SYS_STRAP 0x01c
#define WEFT_CHIP_SYS_STRAP_RESCUE_LSB 0
#define WEFT_CHIP_SYS_STRAP_RESCUE_MASK 0x00000001u

/* Free for software; 0 after power (rw) */
#define WEFT_CHIP_SYS_SCRATCH(i) (0x020 + (i) * 0x4)
#define WEFT_CHIP_SYS_SCRATCH_COUNT 4

/* External interrupt while (irq_pending & irq_enable) is not 0. Levels: link_rx (rx_valid), link_tx (not tx_busy), npu (its interrupt). Latched until 1 is written: wdt (a quarter of the watchdog's period is left), link_reset (the link was reset by the host) (w1c) */
#define WEFT_CHIP_IRQ_PENDING 0x100
#define WEFT_CHIP_IRQ_PENDING_LINK_RX_LSB 0
#define WEFT_CHIP_IRQ_PENDING_LINK_RX_MASK 0x00000001u
#define WEFT_CHIP_IRQ_PENDING_LINK_TX_LSB 1
#define WEFT_CHIP_IRQ_PENDING_LINK_TX_MASK 0x00000002u
#define WEFT_CHIP_IRQ_PENDING_NPU_LSB 2
#define WEFT_CHIP_IRQ_PENDING_NPU_MASK 0x00000004u
#define WEFT_CHIP_IRQ_PENDING_WDT_LSB 3
#define WEFT_CHIP_IRQ_PENDING_WDT_MASK 0x00000008u
#define WEFT_CHIP_IRQ_PENDING_LINK_RESET_LSB 4
#define WEFT_CHIP_IRQ_PENDING_LINK_RESET_MASK 0x00000010u

/* Which of irq_pending interrupt (rw) */
#define WEFT_CHIP_IRQ_ENABLE 0x104
#define WEFT_CHIP_IRQ_ENABLE_LINK_RX_LSB 0
#define WEFT_CHIP_IRQ_ENABLE_LINK_RX_MASK 0x00000001u
#define WEFT_CHIP_IRQ_ENABLE_LINK_TX_LSB 1
#define WEFT_CHIP_IRQ_ENABLE_LINK_TX_MASK 0x00000002u
#define WEFT_CHIP_IRQ_ENABLE_NPU_LSB 2
#define WEFT_CHIP_IRQ_ENABLE_NPU_MASK 0x00000004u
#define WEFT_CHIP_IRQ_ENABLE_WDT_LSB 3
#define WEFT_CHIP_IRQ_ENABLE_WDT_MASK 0x00000008u
#define WEFT_CHIP_IRQ_ENABLE_LINK_RESET_LSB 4
#define WEFT_CHIP_IRQ_ENABLE_LINK_RESET_MASK 0x00000010u

/* Cycles since reset, low half. Read hi, lo, hi until both hi agree (ro) */
#define WEFT_CHIP_TIMER_LO 0x200

/* High half (ro) */
#define WEFT_CHIP_TIMER_HI 0x204

/* Timer interrupt (mip.MTIP) while the 64-bit time is at or beyond the 64-bit comparison value (rw) */
#define WEFT_CHIP_TIMER_CMP_LO 0x208
#define WEFT_CHIP_TIMER_CMP_LO_RESET 0xffffffffu

/* High half (rw) */
#define WEFT_CHIP_TIMER_CMP_HI 0x20c
#define WEFT_CHIP_TIMER_CMP_HI_RESET 0xffffffffu

/* Cycles from a kick to the bite. Once enabled, writes are ignored (rw) */
#define WEFT_CHIP_WDT_PERIOD 0x300
#define WEFT_CHIP_WDT_PERIOD_RESET 0xffffffffu

/* enable: writing 1 starts it with a kick; stays 1 until the next reset (rw) */
#define WEFT_CHIP_WDT_CONTROL 0x304
#define WEFT_CHIP_WDT_CONTROL_ENABLE_LSB 0
#define WEFT_CHIP_WDT_CONTROL_ENABLE_MASK 0x00000001u

/* Writing KICK_VALUE starts the period again; anything else is ignored. The bite resets core, NPU, link and registers, cause watchdog (w1s) */
#define WEFT_CHIP_WDT_KICK 0x308

/* Cycles until the bite; all ones while not enabled (ro) */
#define WEFT_CHIP_WDT_LEFT 0x30c

/* cs: the flash chip is selected (its CS# pin is low) (rw) */
#define WEFT_CHIP_FLASH_CONTROL 0x400
#define WEFT_CHIP_FLASH_CONTROL_CS_LSB 0
#define WEFT_CHIP_FLASH_CONTROL_CS_MASK 0x00000001u

/* Writing shifts bits 7:0 out, bit 7 first, while 8 bits shift in; reading waits until that is done and gives them. SPI mode 0 at half the clock. Any access to a flash register waits for a shift under way (rw) */
#define WEFT_CHIP_FLASH_BYTE 0x404
#define WEFT_CHIP_FLASH_BYTE_DATA_LSB 0
#define WEFT_CHIP_FLASH_BYTE_DATA_MASK 0x000000ffu

/* The same with four bytes, bits 7:0 first out and first in (rw) */
#define WEFT_CHIP_FLASH_WORD 0x408

/* lock: writing 1 locks flash.locked_bytes from address 0 on; stays 1 until the next reset. From then on the first write to flash_byte or flash_word after one to flash_control must be of a command that reads (READ, READ_STATUS, JEDEC_ID) or WRITE_ENABLE, or flash_word with PROGRAM or SECTOR_ERASE and an address beyond, modulo the chip's window of the flash. That is flash.bytes, or less if a board keeps its bitstream in the same flash. Another one deselects the flash and shifts nothing (rw) */
#define WEFT_CHIP_FLASH_LOCK 0x40c
#define WEFT_CHIP_FLASH_LOCK_LOCK_LSB 0
#define WEFT_CHIP_FLASH_LOCK_LOCK_MASK 0x00000001u

/* rx_valid: a message is in link_rx. tx_busy: link_tx is being sent, or waits for it. error: a broken frame header came; everything is discarded until the host resets the link (ro) */
#define WEFT_CHIP_LINK_STATUS 0x500
#define WEFT_CHIP_LINK_STATUS_RX_VALID_LSB 0
#define WEFT_CHIP_LINK_STATUS_RX_VALID_MASK 0x00000001u
#define WEFT_CHIP_LINK_STATUS_TX_BUSY_LSB 1
#define WEFT_CHIP_LINK_STATUS_TX_BUSY_MASK 0x00000002u
#define WEFT_CHIP_LINK_STATUS_ERROR_LSB 2
#define WEFT_CHIP_LINK_STATUS_ERROR_MASK 0x00000004u

/* Payload bytes of the message, a multiple of 4 (ro) */
#define WEFT_CHIP_LINK_RX_LEN 0x504

/* Its sequence number (ro) */
#define WEFT_CHIP_LINK_RX_SEQ 0x508

/* done: the buffer is free for the next message (w1s) */
#define WEFT_CHIP_LINK_RX_DONE 0x50c
#define WEFT_CHIP_LINK_RX_DONE_DONE_LSB 0
#define WEFT_CHIP_LINK_RX_DONE_DONE_MASK 0x00000001u

/* Payload bytes to send, 4..512, a multiple of 4 (rw) */
#define WEFT_CHIP_LINK_TX_LEN 0x510

/* Sequence number to send (rw) */
#define WEFT_CHIP_LINK_TX_SEQ 0x514

/* send: the message goes out; tx_busy from now on (w1s) */
#define WEFT_CHIP_LINK_TX_SEND 0x518
#define WEFT_CHIP_LINK_TX_SEND_SEND_LSB 0
#define WEFT_CHIP_LINK_TX_SEND_SEND_MASK 0x00000001u

/* First byte of card memory that WRITE and READ may touch (rw) */
#define WEFT_CHIP_LINK_FENCE_BASE 0x520

/* First byte behind it (rw) */
#define WEFT_CHIP_LINK_FENCE_LIMIT 0x524

/* Whether they may at all (rw) */
#define WEFT_CHIP_LINK_FENCE_PERM 0x528
#define WEFT_CHIP_LINK_FENCE_PERM_READ_LSB 0
#define WEFT_CHIP_LINK_FENCE_PERM_READ_MASK 0x00000001u
#define WEFT_CHIP_LINK_FENCE_PERM_WRITE_LSB 1
#define WEFT_CHIP_LINK_FENCE_PERM_WRITE_MASK 0x00000002u

/* block: the highest 64 KiB of card memory that a WRITE went to, if any is 1. Writing anything sets any and block to 0. counts: 1; chips without this register answer 0 (rw) */
#define WEFT_CHIP_LINK_WRITTEN 0x52c
#define WEFT_CHIP_LINK_WRITTEN_BLOCK_LSB 0
#define WEFT_CHIP_LINK_WRITTEN_BLOCK_MASK 0x0000ffffu
#define WEFT_CHIP_LINK_WRITTEN_ANY_LSB 30
#define WEFT_CHIP_LINK_WRITTEN_ANY_MASK 0x40000000u
#define WEFT_CHIP_LINK_WRITTEN_COUNTS_LSB 31
#define WEFT_CHIP_LINK_WRITTEN_COUNTS_MASK 0x80000000u

/* Frames with a good header that came (ro) */
#define WEFT_CHIP_LINK_FRAMES_IN 0x540

/* Frames sent (ro) */
#define WEFT_CHIP_LINK_FRAMES_OUT 0x544

/* Frames with a broken header: magic or CRC (ro) */
#define WEFT_CHIP_LINK_HEADER_ERRORS 0x548

/* Frames with a broken payload CRC (ro) */
#define WEFT_CHIP_LINK_PAYLOAD_ERRORS 0x54c

/* WRITE and READ outside the fence, unknown types, bad lengths (ro) */
#define WEFT_CHIP_LINK_REFUSED 0x550

/* Why the core started. */
enum weft_chip_cause {
	WEFT_CHIP_CAUSE_POWER    = 0, /* power was applied */
	WEFT_CHIP_CAUSE_WATCHDOG = 1, /* the watchdog bit */
	WEFT_CHIP_CAUSE_SOFTWARE = 2, /* sys_reset */
	WEFT_CHIP_CAUSE_HOST     = 3, /* the host asked for it over USB */
};

/* Flash. */
#define WEFT_FLASH_BYTES 0x400000u
#define WEFT_FLASH_SECTOR_BYTES 0x1000u
#define WEFT_FLASH_PAGE_BYTES 0x100u
#define WEFT_FLASH_RECORD_A 0x0u
#define WEFT_FLASH_RECORD_B 0x1000u
#define WEFT_FLASH_BOARD 0x2000u
#define WEFT_FLASH_FLOOR 0x3000u
#define WEFT_FLASH_SLOT_A 0x10000u
#define WEFT_FLASH_SLOT_B 0x90000u
#define WEFT_FLASH_SLOT_BYTES 0x80000u
#define WEFT_FLASH_REQUEST 0x110000u
#define WEFT_FLASH_REQUEST_ENTRIES 0xcu
#define WEFT_FLASH_LOCKED_BYTES 0x10000u
#define WEFT_FLASH_JEDEC_ID 0xef4016u
#define WEFT_FLASH_BOOT_TRIES 0x3u
#define WEFT_FLASH_RESCUE_RESETS 0x5u
#define WEFT_FLASH_CMD_WRITE_STATUS 0x01 /* not used */
#define WEFT_FLASH_CMD_PROGRAM 0x02 /* 3 address bytes, 1..256 data bytes within a page */
#define WEFT_FLASH_CMD_READ 0x03 /* 3 address bytes, then data as long as selected */
#define WEFT_FLASH_CMD_READ_STATUS 0x05 /* bit 0: busy, bit 1: write enabled */
#define WEFT_FLASH_CMD_WRITE_ENABLE 0x06 /* before each program and erase */
#define WEFT_FLASH_CMD_SECTOR_ERASE 0x20 /* 3 address bytes */
#define WEFT_FLASH_CMD_HALF_ERASE 0x52 /* 32 KiB; not used */
#define WEFT_FLASH_CMD_BLOCK_ERASE 0xd8 /* 64 KiB; not used */
#define WEFT_FLASH_CMD_CHIP_ERASE 0xc7 /* all of it; not used */
#define WEFT_FLASH_CMD_JEDEC_ID 0x9f /* three bytes, the high one first; the simulated flash answers jedec_id */

#define WEFT_FLASH_IMAGE_MAGIC 0x4d494657u
#define WEFT_FLASH_IMAGE_VERSION 0x2u /* of the header */
#define WEFT_FLASH_IMAGE_UNSIGNED 0x1u /* of a header without a signature */
#define WEFT_FLASH_IMAGE_SECURITY 0x100u /* greatest security_version */
#define WEFT_FLASH_RECORD_MAGIC 0x43524257u
#define WEFT_FLASH_REQUEST_MAGIC 0x51524257u
#define WEFT_FLASH_REQUEST_CONFIRM 0x1u
#define WEFT_FLASH_REQUEST_SLOT 0x2u
#define WEFT_FLASH_REQUEST_FLOOR 0x3u
#define WEFT_FLASH_FLOOR_MAGIC 0x4c464257u
#define WEFT_FLASH_BOARD_MAGIC 0x52424257u

/* Header of a firmware image, at the slot's first byte; the image follows. The signature is of the words before it and of the image, by the owner's key, whose public half is in the boot ROM. Version 1 of the header ends behind crc and has no signature; only a boot ROM with the development key, which everyone has, takes it. */
struct weft_flash_image {
	uint32_t magic; /* 0x4d494657, 'WFIM' */
	uint32_t header_version; /* 2 */
	uint32_t image_bytes; /* bytes behind the header, a multiple of 4 */
	uint32_t load; /* where in RAM the image goes */
	uint32_t entry; /* where it starts */
	uint32_t fw_version; /* major << 16 | minor << 8 | patch */
	uint32_t chip_version; /* sys_version that it was built for; another major is refused */
	uint32_t protocol; /* version of the messages that it speaks */
	uint32_t security_version; /* counts repaired holes, at most 256: a card may have been told to start none below */
	uint32_t key_id; /* the first four bytes of the public key that the signature is for */
	uint32_t reserved[4]; /* 0 */
	uint32_t image_crc; /* of the image */
	uint32_t crc; /* of the words before */
	uint32_t signature[16]; /* Ed25519 (RFC 8032), 64 bytes */
};

/* Boot record, at its sector's first byte. The valid one with the highest seq counts; tries and confirmed are programmed bit by bit and stand outside the crc. */
struct weft_flash_record {
	uint32_t magic; /* 0x43524257, 'WBRC' */
	uint32_t seq; /* counts switches */
	uint32_t slot; /* 0 or 1 */
	uint32_t reserved; /* 0 */
	uint32_t crc; /* of the words before */
	uint32_t tries; /* all ones; each start on trial clears the lowest bit that is 1 */
	uint32_t confirmed; /* all ones while on trial; anything else: confirmed */
};

/* The rollback floor, at its sector's first byte: images of a lower security_version are not started. It is the number of bits that are 0, so that it only rises until the sector is erased, which nobody can while flash_lock is set. Without the magic it is 0. */
struct weft_flash_floor {
	uint32_t magic; /* 0x4c464257, 'WBFL' */
	uint32_t bits[8]; /* all ones: 0 */
};

/* What the boot ROM is to do at the next start, before it locks the flash: entries from the sector's first byte, carried out in this order, and erased then. Doing them again changes nothing. Entries without magic and crc are left out. */
struct weft_flash_request {
	uint32_t magic; /* 0x51524257, 'WBRQ' */
	uint32_t what; /* 1: confirm the boot record; 2: another boot record; 3: raise the floor */
	uint32_t seq; /* 1: of the record that is meant; 2: of the new record, one more than that of the valid one; 3: 0 */
	uint32_t value; /* 1: 0; 2: the slot; 3: the floor, at least what it is, and not above the lower security_version of two good images */
	uint32_t crc; /* of the words before */
};

/* Board record. */
struct weft_flash_board {
	uint32_t magic; /* 0x52424257, 'WBBR' */
	uint32_t board; /* board type, 0: simulated */
	uint32_t serial[4]; /* up to 16 characters, filled with 0 */
	uint32_t crc; /* of the words before */
};

#ifdef __cplusplus
}
#endif
#endif

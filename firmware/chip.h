/* SPDX-License-Identifier: Apache-2.0 */
/* Registers, CSRs and the few things that all of boot ROM and firmware need. */
#ifndef WEFT_FIRMWARE_CHIP_H
#define WEFT_FIRMWARE_CHIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/gen/chip.h>
#include <weft/gen/config.h>
#include <weft/gen/msg.h>
#include <weft/gen/regs.h>

#include "layout.h"

#define CHIP(reg) (*(volatile uint32_t *)(WEFT_CHIP_CHIP_BASE + (reg)))
#define NPU(reg)  (*(volatile uint32_t *)(WEFT_CHIP_NPU_BASE + (reg)))

#define csr_read(name)         ({ uint32_t v_; __asm__ volatile("csrr %0, " #name : "=r"(v_) : : "memory"); v_; })
#define csr_write(name, value) __asm__ volatile("csrw " #name ", %0" : : "rK"(value) : "memory")
#define csr_set(name, bits)    __asm__ volatile("csrs " #name ", %0" : : "rK"(bits) : "memory")
#define csr_clear(name, bits)  __asm__ volatile("csrc " #name ", %0" : : "rK"(bits) : "memory")

#define MSTATUS_MIE 8u
#define MIE_TIMER   (1u << 7)
#define MIE_EXT     (1u << 11)

/* Slot number of the rescue code. */
#define SLOT_RESCUE 2

#define BOOT_INFO_MAGIC 0x4f464e49u

/* Left in RAM by the boot ROM. */
struct boot_info {
	uint32_t magic;
	uint32_t slot;         /* that runs */
	uint32_t trial;        /* it is on trial */
	uint32_t record;       /* flash address of the boot record that counted; 0xffffffff: none valid */
	uint32_t record_seq;   /* highest seq of a valid record; 0: none */
	uint32_t boot_count, cause;
	uint32_t refused[2];   /* enum weft_msg_error per slot; 0: not tried, or good */
	uint32_t fw_version, fw_crc;
	uint32_t boot_id;      /* of this start; 0: nobody has asked yet */
	uint32_t key_id;       /* of the owner's key in the ROM */
	uint32_t development;  /* that is the development key */
	uint32_t security_version;     /* of the image */
	enum weft_msg_error (*check)(uint32_t slot, struct weft_flash_image *header, bool load); /* the ROM's image_check() */
	void (*worked)(void);  /* the ROM's: the running slot has done a job, so that its bad ends before count no more */
};

#define BOOT_INFO ((struct boot_info *)RAM_BOOT_INFO)

/* sys_scratch: what survives a reset. */
enum { SCRATCH_BOOTS = 0, SCRATCH_BITES = 1, SCRATCH_TRAPS = 2, SCRATCH_ID = 3 };

static inline void wdt_kick(void)
{
	CHIP(WEFT_CHIP_WDT_KICK) = WEFT_CHIP_KICK_VALUE;
}

static inline uint64_t time_now(void)
{
	uint32_t hi, lo;

	do {
		hi = CHIP(WEFT_CHIP_TIMER_HI);
		lo = CHIP(WEFT_CHIP_TIMER_LO);
	} while (CHIP(WEFT_CHIP_TIMER_HI) != hi);
	return (uint64_t)hi << 32 | lo;
}

/* crc32.c: crc of words, going on from crc (0 at the start). */
uint32_t crc32_words(uint32_t crc, const uint32_t *words, uint32_t n);
uint32_t crc32_word(uint32_t crc, uint32_t word);

/* flash.c. Addresses and lengths are multiples of 4. */
uint32_t flash_id(void);
void flash_read(uint32_t addr, uint32_t *to, uint32_t n_words);
/* Each reads back what it wrote. n_words stay within a page. */
bool flash_program(uint32_t addr, const uint32_t *words, uint32_t n_words);
bool flash_erase_sector(uint32_t addr);

/*
 * image.c, in the ROM: is this slot's image whole, ours, and signed by the owner? Gives its header; loads it into
 * RAM if load. Kicks the watchdog. The firmware has the ROM's own code called (rom.c), so that both judge alike.
 */
enum weft_msg_error image_check(uint32_t slot, struct weft_flash_image *header, bool load);

/* Bytes of flash in front of the code. */
static inline uint32_t header_bytes(const struct weft_flash_image *h)
{
	return h->header_version == WEFT_FLASH_IMAGE_UNSIGNED ? offsetof(struct weft_flash_image, signature) : sizeof(*h);
}

static inline uint32_t slot_address(uint32_t slot)
{
	return slot ? WEFT_FLASH_SLOT_B : WEFT_FLASH_SLOT_A;
}

/* record.c: boot records, read. */
struct boot_choice {
	uint32_t record;       /* address of the valid record with the highest seq, or 0xffffffff */
	uint32_t seq;          /* its seq, or 0 */
	uint32_t slot;
	bool trial;            /* it is not confirmed yet */
	uint32_t tries_left;
};
void record_choose(struct boot_choice *c);
/* The rollback floor that is in force. */
uint32_t floor_read(void);
/* Reads the floor's record from the flash into *f; if there is none, *f becomes one of floor 0. Returns false in that case: the
 * sector must then be erased before it is written. */
bool floor_get(struct weft_flash_floor *f);
uint32_t floor_count(const struct weft_flash_floor *f);
#define FLOOR_BIT_WORDS (sizeof(((struct weft_flash_floor *)0)->bits) / 4)
/* Entry i of the requests. False: it is none, or was cut short. */
bool request_read(uint32_t i, struct weft_flash_request *q);
/* Entries up to the last that is not blank. */
uint32_t request_count(void);

/* record_write.c, in the ROM. Use up one try of the record at this address. */
void record_burn_try(uint32_t record);
/* Do what the last image has asked for, and forget it. */
void requests_carry_out(void);

/*
 * Changes of boot record and floor, which two files implement. Those of request.c, in the firmware, ask the boot ROM for a
 * change, which counts from the next start on. Those of record_write.c, in the ROM, make it at once.
 *
 * ask_confirm() confirms the boot record with number seq; only the firmware has it. ask_slot() has the image in a slot
 * started on trial, and writes its record's number to *seq. ask_floor() raises the rollback floor; the value that it has
 * already is allowed.
 */
enum weft_msg_error ask_confirm(uint32_t seq);
enum weft_msg_error ask_slot(uint32_t slot, uint32_t *seq);
enum weft_msg_error ask_floor(uint32_t floor);
uint32_t asked_floor(void);            /* in force from the next start on */

/* link.c: one message in, one message out. */
extern uint32_t msg_in[WEFT_FRAME_MSG_MAX / 4];
extern uint32_t msg_words;             /* of msg_in */
bool msg_take(void);                   /* false: none there */
/* Only while tx is free. */
void reply_begin(uint32_t type, enum weft_msg_error error);
void reply_send(uint32_t seq);
extern volatile uint32_t *reply_at;    /* next word of the message */
uint32_t msg_seq(void);

static inline void reply_put(uint32_t word)
{
	*reply_at++ = word;
}

/* Words between registers, buffers and RAM; n is a small number. */
static inline void copy_words(volatile uint32_t *to, const volatile uint32_t *from, uint32_t n)
{
	#pragma GCC unroll 8
	for (uint32_t i = 0; i < n; i++)
		to[i] = from[i];
}

static inline bool tx_free(void)
{
	return !(CHIP(WEFT_CHIP_LINK_STATUS) & WEFT_CHIP_LINK_STATUS_TX_BUSY_MASK);
}

/* hello.c: the answer to HELLO, by whichever code runs. */
void hello(void);

/* update.c: carries out a message of type FW_*. Returns whether it is one of these. */
bool update_message(uint32_t type);
/* Called as things happen; the boot ROM has no log. */
void update_log(enum weft_log code, uint32_t a, uint32_t b);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The orders of which inputs of target broker consist: the first byte, modulo their number. */
#ifndef WEFT_TESTS_FUZZ_BROKER_H
#define WEFT_TESTS_FUZZ_BROKER_H

enum broker_fuzz_order {
	BROKER_FUZZ_RAW,           /* a frame of any type: u8 type, u32 addr, u8 len, the body; then up to 256 bytes as they are */
	BROKER_FUZZ_MSG,           /* u8 words - 1, the words */
	BROKER_FUZZ_WRITE,         /* u24 offset, u16 bytes - 1, the bytes */
	BROKER_FUZZ_READ,          /* u32 address, u24 bytes */
	BROKER_FUZZ_SUBMIT,        /* u8 job, u16 stream / 64, u16 words, u8 windows, of each: u16 offset / 64, u24 bytes, u8 permissions */
	BROKER_FUZZ_LINK_RESET,
	BROKER_FUZZ_CHIP_RESET,
	BROKER_FUZZ_TURNS,         /* let it work */
	BROKER_FUZZ_ORDERS,
};

#endif

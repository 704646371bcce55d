/* Generated from include/spec/regs.toml by tools/gen.py; edit that and run `make gen`. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_GEN_REGS_H
#define WEFT_GEN_REGS_H

#include <stddef.h>
#include <stdint.h>

#include <weft/api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reads 0x57454654, 'WEFT' (ro) */
#define WEFT_REG_ID 0x000

/* Version of registers and commands; the driver refuses another major (ro) */
#define WEFT_REG_VERSION 0x004
#define WEFT_REG_VERSION_MINOR_LSB 0
#define WEFT_REG_VERSION_MINOR_BITS 16
#define WEFT_REG_VERSION_MINOR_MASK 0x0000ffffu
#define WEFT_REG_VERSION_MAJOR_LSB 16
#define WEFT_REG_VERSION_MAJOR_BITS 16
#define WEFT_REG_VERSION_MAJOR_MASK 0xffff0000u

/* Configuration (ro) */
#define WEFT_REG_CONFIG 0x008
#define WEFT_REG_CONFIG_N_LSB 0
#define WEFT_REG_CONFIG_N_BITS 8
#define WEFT_REG_CONFIG_N_MASK 0x000000ffu
#define WEFT_REG_CONFIG_LOG2_SP_BYTES_LSB 8
#define WEFT_REG_CONFIG_LOG2_SP_BYTES_BITS 8
#define WEFT_REG_CONFIG_LOG2_SP_BYTES_MASK 0x0000ff00u
#define WEFT_REG_CONFIG_AXI_BYTES_LSB 16
#define WEFT_REG_CONFIG_AXI_BYTES_BITS 8
#define WEFT_REG_CONFIG_AXI_BYTES_MASK 0x00ff0000u
#define WEFT_REG_CONFIG_N_WINDOWS_LSB 24
#define WEFT_REG_CONFIG_N_WINDOWS_BITS 8
#define WEFT_REG_CONFIG_N_WINDOWS_MASK 0xff000000u

/* Each bit says that the configuration has a feature. int8, int16 and fp8 are arithmetic modes. alu: it has the command alu. raw: conv and dw can write sums as they are. int4: load can widen int4 to int8. even: RESCALE can round ties to even. table, mul: elt can look elements up in a table, and multiply two tensors. sub: the post unit can subtract the second addend. dwk: dw can have kernels other than 3x3. dwtable: dw can look its input up in a table. pairs: conv can compute two column tiles at a time. p_short: parameter records can have 8 bytes. coded: load can decode coded rows. turns: rows of conv and of the vector engine can take turns at the post unit (ro) */
#define WEFT_REG_FEATURES 0x00c
#define WEFT_REG_FEATURES_INT8_LSB 0
#define WEFT_REG_FEATURES_INT8_BITS 1
#define WEFT_REG_FEATURES_INT8_MASK 0x00000001u
#define WEFT_REG_FEATURES_INT16_LSB 1
#define WEFT_REG_FEATURES_INT16_BITS 1
#define WEFT_REG_FEATURES_INT16_MASK 0x00000002u
#define WEFT_REG_FEATURES_FP8_LSB 2
#define WEFT_REG_FEATURES_FP8_BITS 1
#define WEFT_REG_FEATURES_FP8_MASK 0x00000004u
#define WEFT_REG_FEATURES_ALU_LSB 8
#define WEFT_REG_FEATURES_ALU_BITS 1
#define WEFT_REG_FEATURES_ALU_MASK 0x00000100u
#define WEFT_REG_FEATURES_RAW_LSB 9
#define WEFT_REG_FEATURES_RAW_BITS 1
#define WEFT_REG_FEATURES_RAW_MASK 0x00000200u
#define WEFT_REG_FEATURES_INT4_LSB 10
#define WEFT_REG_FEATURES_INT4_BITS 1
#define WEFT_REG_FEATURES_INT4_MASK 0x00000400u
#define WEFT_REG_FEATURES_EVEN_LSB 11
#define WEFT_REG_FEATURES_EVEN_BITS 1
#define WEFT_REG_FEATURES_EVEN_MASK 0x00000800u
#define WEFT_REG_FEATURES_TABLE_LSB 12
#define WEFT_REG_FEATURES_TABLE_BITS 1
#define WEFT_REG_FEATURES_TABLE_MASK 0x00001000u
#define WEFT_REG_FEATURES_SUB_LSB 13
#define WEFT_REG_FEATURES_SUB_BITS 1
#define WEFT_REG_FEATURES_SUB_MASK 0x00002000u
#define WEFT_REG_FEATURES_MUL_LSB 14
#define WEFT_REG_FEATURES_MUL_BITS 1
#define WEFT_REG_FEATURES_MUL_MASK 0x00004000u
#define WEFT_REG_FEATURES_DWK_LSB 15
#define WEFT_REG_FEATURES_DWK_BITS 1
#define WEFT_REG_FEATURES_DWK_MASK 0x00008000u
#define WEFT_REG_FEATURES_DWTABLE_LSB 16
#define WEFT_REG_FEATURES_DWTABLE_BITS 1
#define WEFT_REG_FEATURES_DWTABLE_MASK 0x00010000u
#define WEFT_REG_FEATURES_PAIRS_LSB 17
#define WEFT_REG_FEATURES_PAIRS_BITS 1
#define WEFT_REG_FEATURES_PAIRS_MASK 0x00020000u
#define WEFT_REG_FEATURES_P_SHORT_LSB 18
#define WEFT_REG_FEATURES_P_SHORT_BITS 1
#define WEFT_REG_FEATURES_P_SHORT_MASK 0x00040000u
#define WEFT_REG_FEATURES_CODED_LSB 19
#define WEFT_REG_FEATURES_CODED_BITS 1
#define WEFT_REG_FEATURES_CODED_MASK 0x00080000u
#define WEFT_REG_FEATURES_TURNS_LSB 20
#define WEFT_REG_FEATURES_TURNS_BITS 1
#define WEFT_REG_FEATURES_TURNS_MASK 0x00100000u

/* start: run the stream. reset: abandon everything, clear done, fault, counters and queues; bus transactions under way are finished first. irq_status, irq_enable, the stream and the windows keep their values (w1s) */
#define WEFT_REG_CTRL 0x010
#define WEFT_REG_CTRL_START_LSB 0
#define WEFT_REG_CTRL_START_BITS 1
#define WEFT_REG_CTRL_START_MASK 0x00000001u
#define WEFT_REG_CTRL_RESET_LSB 1
#define WEFT_REG_CTRL_RESET_BITS 1
#define WEFT_REG_CTRL_RESET_MASK 0x00000002u

/* busy: a stream is running or a reset is under way. done: last stream reached END. fault: a fault is latched (ro) */
#define WEFT_REG_STATUS 0x014
#define WEFT_REG_STATUS_BUSY_LSB 0
#define WEFT_REG_STATUS_BUSY_BITS 1
#define WEFT_REG_STATUS_BUSY_MASK 0x00000001u
#define WEFT_REG_STATUS_DONE_LSB 1
#define WEFT_REG_STATUS_DONE_BITS 1
#define WEFT_REG_STATUS_DONE_MASK 0x00000002u
#define WEFT_REG_STATUS_FAULT_LSB 2
#define WEFT_REG_STATUS_FAULT_BITS 1
#define WEFT_REG_STATUS_FAULT_MASK 0x00000004u

/* Which of done and fault raise the interrupt (rw) */
#define WEFT_REG_IRQ_ENABLE 0x018
#define WEFT_REG_IRQ_ENABLE_DONE_LSB 0
#define WEFT_REG_IRQ_ENABLE_DONE_BITS 1
#define WEFT_REG_IRQ_ENABLE_DONE_MASK 0x00000001u
#define WEFT_REG_IRQ_ENABLE_FAULT_LSB 1
#define WEFT_REG_IRQ_ENABLE_FAULT_BITS 1
#define WEFT_REG_IRQ_ENABLE_FAULT_MASK 0x00000002u

/* Interrupt causes since they were last cleared; ctrl.reset keeps them (w1c) */
#define WEFT_REG_IRQ_STATUS 0x01c
#define WEFT_REG_IRQ_STATUS_DONE_LSB 0
#define WEFT_REG_IRQ_STATUS_DONE_BITS 1
#define WEFT_REG_IRQ_STATUS_DONE_MASK 0x00000001u
#define WEFT_REG_IRQ_STATUS_FAULT_LSB 1
#define WEFT_REG_IRQ_STATUS_FAULT_BITS 1
#define WEFT_REG_IRQ_STATUS_FAULT_MASK 0x00000002u

/* Byte offset of the stream in window 0, a multiple of 64 (rw) */
#define WEFT_REG_STREAM_OFF 0x020

/* 64-bit words of the stream (rw) */
#define WEFT_REG_STREAM_WORDS 0x024

/* First fault: code and unit (ro) */
#define WEFT_REG_FAULT 0x030
#define WEFT_REG_FAULT_CODE_LSB 0
#define WEFT_REG_FAULT_CODE_BITS 8
#define WEFT_REG_FAULT_CODE_MASK 0x000000ffu
#define WEFT_REG_FAULT_UNIT_LSB 8
#define WEFT_REG_FAULT_UNIT_BITS 8
#define WEFT_REG_FAULT_UNIT_MASK 0x0000ff00u

/* Index in the stream, from 0, of the command that faulted (ro) */
#define WEFT_REG_FAULT_CMD 0x034

/* Its tag (ro) */
#define WEFT_REG_FAULT_TAG 0x038

/* Low 32 bits of the offending address, or the offending header word (ro) */
#define WEFT_REG_FAULT_INFO 0x03c

/* LD commands retired since start (ro) */
#define WEFT_REG_RETIRED_LD 0x040

/* ST commands retired since start (ro) */
#define WEFT_REG_RETIRED_ST 0x044

/* CV commands retired since start (ro) */
#define WEFT_REG_RETIRED_CV 0x048

/* VE commands retired since start (ro) */
#define WEFT_REG_RETIRED_VE 0x04c

/* Base address of the window, low half; a multiple of 64 (rw) */
#define WEFT_REG_WIN_BASE_LO(i) (0x100 + (i) * 0x10)

/* Base address, bits 39:32 (rw) */
#define WEFT_REG_WIN_BASE_HI(i) (0x104 + (i) * 0x10)

/* Size in bytes (rw) */
#define WEFT_REG_WIN_SIZE(i) (0x108 + (i) * 0x10)

/* Permissions (rw) */
#define WEFT_REG_WIN_CTRL(i) (0x10c + (i) * 0x10)
#define WEFT_REG_WIN_CTRL_READ_LSB 0
#define WEFT_REG_WIN_CTRL_READ_BITS 1
#define WEFT_REG_WIN_CTRL_READ_MASK 0x00000001u
#define WEFT_REG_WIN_CTRL_WRITE_LSB 1
#define WEFT_REG_WIN_CTRL_WRITE_BITS 1
#define WEFT_REG_WIN_CTRL_WRITE_MASK 0x00000002u

/* Cycles from start to END (ro) */
#define WEFT_REG_CNT_CYCLES 0x200

/* Cycles with an LD command under way (ro) */
#define WEFT_REG_CNT_LD_BUSY 0x204

/* Cycles with an ST command under way (ro) */
#define WEFT_REG_CNT_ST_BUSY 0x208

/* Cycles with a CV command under way (ro) */
#define WEFT_REG_CNT_CV_BUSY 0x20c

/* Cycles with a VE command under way (ro) */
#define WEFT_REG_CNT_VE_BUSY 0x210

/* Cycles in which the array waited for an activation word (ro) */
#define WEFT_REG_CNT_CV_STALL_ACT 0x214

/* Cycles in which the array waited for a weight word (ro) */
#define WEFT_REG_CNT_CV_STALL_WGT 0x218

/* Cycles in which the array waited for the post unit (ro) */
#define WEFT_REG_CNT_CV_STALL_POST 0x21c

/* Scratchpad requests that lost arbitration, summed over cycles (ro) */
#define WEFT_REG_CNT_SP_CONFLICT 0x220

/* Bytes of memory that LD moved (ro) */
#define WEFT_REG_CNT_RD_BYTES 0x224

/* Bytes of memory that ST moved (ro) */
#define WEFT_REG_CNT_WR_BYTES 0x228

/* Commands retired (ro) */
#define WEFT_REG_CNT_CMDS 0x22c

/* Words of scratchpad and commands in which a wrong bit was put right when they were read; 0 where the memories have no check bits (hw/top, parameter Ecc) (ro) */
#define WEFT_REG_CNT_ECC 0x230

/* Values that hardware reports and the driver compares. */
#define WEFT_REG_ID_VALUE 0x57454654u
#define WEFT_REG_VERSION_VALUE 0x00010001u

#define WEFT_REG_SPACE 0x400 /* bytes of addresses */
#define WEFT_N_REGS 35

struct weft_reg_field_info {
	const char *name;
	uint8_t lsb, bits;
};

struct weft_reg_info {
	const char *name;
	uint16_t offset;  /* of the first one */
	uint16_t stride;  /* bytes between them */
	uint8_t count;    /* 1, or the array's length */
	uint8_t n_fields; /* 0: the whole register is one value */
	const char *access; /* "ro", "rw", "w1s", "w1c" */
	uint32_t writable; /* bits that keep what is written */
	const char *job; /* who changes it for a job: "hw", "sw"; NULL: nobody */
	uint32_t reset; /* config and features: see weft_reg_reset() */
	const struct weft_reg_field_info *fields;
	const char *doc;
};

/** All WEFT_N_REGS registers, in order of the spec. Constant. */
WEFT_API const struct weft_reg_info *weft_reg_list(void);

#ifdef __cplusplus
}
#endif
#endif

/* Generated from include/spec/cmd.toml by tools/gen.py; edit that and run `make gen`. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_GEN_CMD_H
#define WEFT_GEN_CMD_H

#include <stddef.h>
#include <stdint.h>

#include <weft/gen/config.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opcodes. */
enum weft_cmd_op {
	WEFT_CMD_END   = 0x01, /* End of stream: the job is done when all earlier commands have retired */
	WEFT_CMD_LOAD  = 0x10, /* Copy a strided block of up to four dimensions from memory to the scratchpad */
	WEFT_CMD_STORE = 0x11, /* Copy a strided block of up to four dimensions from the scratchpad to memory */
	WEFT_CMD_CONV  = 0x20, /* Convolution of an input tile with all its taps: systolic array and post unit */
	WEFT_CMD_DW    = 0x30, /* Depthwise convolution 3x3, channel multiplier 1 */
	WEFT_CMD_POOL  = 0x31, /* Maximum or sum over a window without padding, per channel */
	WEFT_CMD_ELT   = 0x32, /* Elementwise: RESCALE and clamp of one tensor, or of the sum of two */
};

/* Units that execute commands; wait[] of the header is indexed by the first ones. */
enum weft_unit {
	WEFT_UNIT_LD = 0, /* DMA, memory to scratchpad */
	WEFT_UNIT_ST = 1, /* DMA, scratchpad to memory */
	WEFT_UNIT_CV = 2, /* systolic array */
	WEFT_UNIT_VE = 3, /* depthwise, pooling and elementwise engine */
	WEFT_UNIT_CP = 15, /* command processor itself */
};

/* What reg.fault reports. */
enum weft_fault {
	WEFT_FAULT_NONE       = 0, /* no fault */
	WEFT_FAULT_BAD_OP     = 1, /* unknown opcode */
	WEFT_FAULT_BAD_LEN    = 2, /* word count in the header is not the opcode's */
	WEFT_FAULT_BAD_FIELD  = 3, /* a field is outside its range */
	WEFT_FAULT_SP_RANGE   = 4, /* scratchpad address beyond its end */
	WEFT_FAULT_WINDOW     = 5, /* memory access outside its window, or not permitted there */
	WEFT_FAULT_BUS        = 6, /* the bus answered with an error */
	WEFT_FAULT_DEADLOCK   = 7, /* every unit idle and every waiting command unsatisfied */
	WEFT_FAULT_STREAM_END = 8, /* the stream ended without END */
	WEFT_FAULT_BAD_MODE   = 9, /* arithmetic mode not in this configuration */
};

/* Kinds of elements that a command works on; they may differ in size. */
enum weft_elem {
	WEFT_ELEM_NONE = 0, /* bytes */
	WEFT_ELEM_X    = 1,
	WEFT_ELEM_B    = 2,
	WEFT_ELEM_OUT  = 3,
};

#define WEFT_N_CMDS 7
#define WEFT_CMD_HEADER_WORDS 2
#define WEFT_CMD_END_WORDS 2
#define WEFT_CMD_LOAD_WORDS 7
#define WEFT_CMD_STORE_WORDS 7
#define WEFT_CMD_CONV_WORDS 16
#define WEFT_CMD_DW_WORDS 13
#define WEFT_CMD_POOL_WORDS 12
#define WEFT_CMD_ELT_WORDS 10

#define WEFT_CMD_HEADER_OP_WORD 0
#define WEFT_CMD_HEADER_OP_LSB 0
#define WEFT_CMD_HEADER_OP_BITS 8
#define WEFT_CMD_HEADER_OP_MASK UINT64_C(0xff)
#define WEFT_CMD_HEADER_OP_MIN 0
#define WEFT_CMD_HEADER_OP_MAX 255
#define WEFT_CMD_HEADER_N_WORDS_WORD 0
#define WEFT_CMD_HEADER_N_WORDS_LSB 8
#define WEFT_CMD_HEADER_N_WORDS_BITS 8
#define WEFT_CMD_HEADER_N_WORDS_MASK UINT64_C(0xff00)
#define WEFT_CMD_HEADER_N_WORDS_MIN 0
#define WEFT_CMD_HEADER_N_WORDS_MAX 255
#define WEFT_CMD_HEADER_TAG_WORD 0
#define WEFT_CMD_HEADER_TAG_LSB 32
#define WEFT_CMD_HEADER_TAG_BITS 32
#define WEFT_CMD_HEADER_TAG_MASK UINT64_C(0xffffffff00000000)
#define WEFT_CMD_HEADER_TAG_MIN 0
#define WEFT_CMD_HEADER_TAG_MAX INT64_C(4294967295)
#define WEFT_CMD_HEADER_WAIT_LD_WORD 1
#define WEFT_CMD_HEADER_WAIT_LD_LSB 0
#define WEFT_CMD_HEADER_WAIT_LD_BITS 16
#define WEFT_CMD_HEADER_WAIT_LD_MASK UINT64_C(0xffff)
#define WEFT_CMD_HEADER_WAIT_LD_MIN 0
#define WEFT_CMD_HEADER_WAIT_LD_MAX 65535
#define WEFT_CMD_HEADER_WAIT_ST_WORD 1
#define WEFT_CMD_HEADER_WAIT_ST_LSB 16
#define WEFT_CMD_HEADER_WAIT_ST_BITS 16
#define WEFT_CMD_HEADER_WAIT_ST_MASK UINT64_C(0xffff0000)
#define WEFT_CMD_HEADER_WAIT_ST_MIN 0
#define WEFT_CMD_HEADER_WAIT_ST_MAX 65535
#define WEFT_CMD_HEADER_WAIT_CV_WORD 1
#define WEFT_CMD_HEADER_WAIT_CV_LSB 32
#define WEFT_CMD_HEADER_WAIT_CV_BITS 16
#define WEFT_CMD_HEADER_WAIT_CV_MASK UINT64_C(0xffff00000000)
#define WEFT_CMD_HEADER_WAIT_CV_MIN 0
#define WEFT_CMD_HEADER_WAIT_CV_MAX 65535
#define WEFT_CMD_HEADER_WAIT_VE_WORD 1
#define WEFT_CMD_HEADER_WAIT_VE_LSB 48
#define WEFT_CMD_HEADER_WAIT_VE_BITS 16
#define WEFT_CMD_HEADER_WAIT_VE_MASK UINT64_C(0xffff000000000000)
#define WEFT_CMD_HEADER_WAIT_VE_MIN 0
#define WEFT_CMD_HEADER_WAIT_VE_MAX 65535

#define WEFT_CMD_POST_OUT_BASE_WORD 2
#define WEFT_CMD_POST_OUT_BASE_LSB 0
#define WEFT_CMD_POST_OUT_BASE_BITS 20
#define WEFT_CMD_POST_OUT_BASE_MASK UINT64_C(0xfffff)
#define WEFT_CMD_POST_OUT_BASE_MIN 0
#define WEFT_CMD_POST_OUT_BASE_MAX 1048575
#define WEFT_CMD_POST_OUT_X_STRIDE_WORD 2
#define WEFT_CMD_POST_OUT_X_STRIDE_LSB 20
#define WEFT_CMD_POST_OUT_X_STRIDE_BITS 20
#define WEFT_CMD_POST_OUT_X_STRIDE_MASK UINT64_C(0xfffff00000)
#define WEFT_CMD_POST_OUT_X_STRIDE_MIN 0
#define WEFT_CMD_POST_OUT_X_STRIDE_MAX 1048575
#define WEFT_CMD_POST_OUT_Y_STRIDE_WORD 2
#define WEFT_CMD_POST_OUT_Y_STRIDE_LSB 40
#define WEFT_CMD_POST_OUT_Y_STRIDE_BITS 20
#define WEFT_CMD_POST_OUT_Y_STRIDE_MASK UINT64_C(0xfffff0000000000)
#define WEFT_CMD_POST_OUT_Y_STRIDE_MIN 0
#define WEFT_CMD_POST_OUT_Y_STRIDE_MAX 1048575
#define WEFT_CMD_POST_OW_WORD 3
#define WEFT_CMD_POST_OW_LSB 0
#define WEFT_CMD_POST_OW_BITS 16
#define WEFT_CMD_POST_OW_MASK UINT64_C(0xffff)
#define WEFT_CMD_POST_OW_MIN 1
#define WEFT_CMD_POST_OW_MAX 65535
#define WEFT_CMD_POST_OH_WORD 3
#define WEFT_CMD_POST_OH_LSB 16
#define WEFT_CMD_POST_OH_BITS 16
#define WEFT_CMD_POST_OH_MASK UINT64_C(0xffff0000)
#define WEFT_CMD_POST_OH_MIN 1
#define WEFT_CMD_POST_OH_MAX 65535
#define WEFT_CMD_POST_OC_WORD 3
#define WEFT_CMD_POST_OC_LSB 32
#define WEFT_CMD_POST_OC_BITS 16
#define WEFT_CMD_POST_OC_MASK UINT64_C(0xffff00000000)
#define WEFT_CMD_POST_OC_MIN 1
#define WEFT_CMD_POST_OC_MAX 65535
#define WEFT_CMD_POST_MODE_WORD 3
#define WEFT_CMD_POST_MODE_LSB 48
#define WEFT_CMD_POST_MODE_BITS 3
#define WEFT_CMD_POST_MODE_MASK UINT64_C(0x7000000000000)
#define WEFT_CMD_POST_MODE_MIN 0
#define WEFT_CMD_POST_MODE_MAX 2
#define WEFT_CMD_POST_DOUBLE_ROUND_WORD 3
#define WEFT_CMD_POST_DOUBLE_ROUND_LSB 51
#define WEFT_CMD_POST_DOUBLE_ROUND_BITS 1
#define WEFT_CMD_POST_DOUBLE_ROUND_MASK UINT64_C(0x8000000000000)
#define WEFT_CMD_POST_DOUBLE_ROUND_MIN 0
#define WEFT_CMD_POST_DOUBLE_ROUND_MAX 1
#define WEFT_CMD_POST_SCALE16_WORD 3
#define WEFT_CMD_POST_SCALE16_LSB 52
#define WEFT_CMD_POST_SCALE16_BITS 1
#define WEFT_CMD_POST_SCALE16_MASK UINT64_C(0x10000000000000)
#define WEFT_CMD_POST_SCALE16_MIN 0
#define WEFT_CMD_POST_SCALE16_MAX 1
#define WEFT_CMD_POST_ADD_WORD 3
#define WEFT_CMD_POST_ADD_LSB 53
#define WEFT_CMD_POST_ADD_BITS 1
#define WEFT_CMD_POST_ADD_MASK UINT64_C(0x20000000000000)
#define WEFT_CMD_POST_ADD_MIN 0
#define WEFT_CMD_POST_ADD_MAX 1
#define WEFT_CMD_POST_PRE_SHIFT_WORD 3
#define WEFT_CMD_POST_PRE_SHIFT_LSB 54
#define WEFT_CMD_POST_PRE_SHIFT_BITS 5
#define WEFT_CMD_POST_PRE_SHIFT_MASK UINT64_C(0x7c0000000000000)
#define WEFT_CMD_POST_PRE_SHIFT_MIN 0
#define WEFT_CMD_POST_PRE_SHIFT_MAX 30
#define WEFT_CMD_POST_OUT_FMT_WORD 3
#define WEFT_CMD_POST_OUT_FMT_LSB 59
#define WEFT_CMD_POST_OUT_FMT_BITS 3
#define WEFT_CMD_POST_OUT_FMT_MASK UINT64_C(0x3800000000000000)
#define WEFT_CMD_POST_OUT_FMT_MIN 0
#define WEFT_CMD_POST_OUT_FMT_MAX 4
#define WEFT_CMD_POST_SATURATE_WORD 3
#define WEFT_CMD_POST_SATURATE_LSB 62
#define WEFT_CMD_POST_SATURATE_BITS 1
#define WEFT_CMD_POST_SATURATE_MASK UINT64_C(0x4000000000000000)
#define WEFT_CMD_POST_SATURATE_MIN 0
#define WEFT_CMD_POST_SATURATE_MAX 1
#define WEFT_CMD_POST_Y_ZP_WORD 4
#define WEFT_CMD_POST_Y_ZP_LSB 0
#define WEFT_CMD_POST_Y_ZP_BITS 16
#define WEFT_CMD_POST_Y_ZP_MASK UINT64_C(0xffff)
#define WEFT_CMD_POST_Y_ZP_MIN -32768
#define WEFT_CMD_POST_Y_ZP_MAX 32767
#define WEFT_CMD_POST_Y_MIN_WORD 4
#define WEFT_CMD_POST_Y_MIN_LSB 16
#define WEFT_CMD_POST_Y_MIN_BITS 16
#define WEFT_CMD_POST_Y_MIN_MASK UINT64_C(0xffff0000)
#define WEFT_CMD_POST_Y_MIN_MIN -32768
#define WEFT_CMD_POST_Y_MIN_MAX 32767
#define WEFT_CMD_POST_Y_MAX_WORD 4
#define WEFT_CMD_POST_Y_MAX_LSB 32
#define WEFT_CMD_POST_Y_MAX_BITS 16
#define WEFT_CMD_POST_Y_MAX_MASK UINT64_C(0xffff00000000)
#define WEFT_CMD_POST_Y_MAX_MIN -32768
#define WEFT_CMD_POST_Y_MAX_MAX 32767
#define WEFT_CMD_POST_A_ZP_WORD 4
#define WEFT_CMD_POST_A_ZP_LSB 48
#define WEFT_CMD_POST_A_ZP_BITS 16
#define WEFT_CMD_POST_A_ZP_MASK UINT64_C(0xffff000000000000)
#define WEFT_CMD_POST_A_ZP_MIN -32768
#define WEFT_CMD_POST_A_ZP_MAX 32767
#define WEFT_CMD_POST_B_BASE_WORD 5
#define WEFT_CMD_POST_B_BASE_LSB 0
#define WEFT_CMD_POST_B_BASE_BITS 20
#define WEFT_CMD_POST_B_BASE_MASK UINT64_C(0xfffff)
#define WEFT_CMD_POST_B_BASE_MIN 0
#define WEFT_CMD_POST_B_BASE_MAX 1048575
#define WEFT_CMD_POST_B_X_STRIDE_WORD 5
#define WEFT_CMD_POST_B_X_STRIDE_LSB 20
#define WEFT_CMD_POST_B_X_STRIDE_BITS 20
#define WEFT_CMD_POST_B_X_STRIDE_MASK UINT64_C(0xfffff00000)
#define WEFT_CMD_POST_B_X_STRIDE_MIN 0
#define WEFT_CMD_POST_B_X_STRIDE_MAX 1048575
#define WEFT_CMD_POST_B_Y_STRIDE_WORD 5
#define WEFT_CMD_POST_B_Y_STRIDE_LSB 40
#define WEFT_CMD_POST_B_Y_STRIDE_BITS 20
#define WEFT_CMD_POST_B_Y_STRIDE_MASK UINT64_C(0xfffff0000000000)
#define WEFT_CMD_POST_B_Y_STRIDE_MIN 0
#define WEFT_CMD_POST_B_Y_STRIDE_MAX 1048575
#define WEFT_CMD_POST_B_ZP_WORD 6
#define WEFT_CMD_POST_B_ZP_LSB 0
#define WEFT_CMD_POST_B_ZP_BITS 16
#define WEFT_CMD_POST_B_ZP_MASK UINT64_C(0xffff)
#define WEFT_CMD_POST_B_ZP_MIN -32768
#define WEFT_CMD_POST_B_ZP_MAX 32767
#define WEFT_CMD_POST_S_ZP_WORD 6
#define WEFT_CMD_POST_S_ZP_LSB 16
#define WEFT_CMD_POST_S_ZP_BITS 16
#define WEFT_CMD_POST_S_ZP_MASK UINT64_C(0xffff0000)
#define WEFT_CMD_POST_S_ZP_MIN -32768
#define WEFT_CMD_POST_S_ZP_MAX 32767
#define WEFT_CMD_POST_S_MIN_WORD 6
#define WEFT_CMD_POST_S_MIN_LSB 32
#define WEFT_CMD_POST_S_MIN_BITS 16
#define WEFT_CMD_POST_S_MIN_MASK UINT64_C(0xffff00000000)
#define WEFT_CMD_POST_S_MIN_MIN -32768
#define WEFT_CMD_POST_S_MIN_MAX 32767
#define WEFT_CMD_POST_S_MAX_WORD 6
#define WEFT_CMD_POST_S_MAX_LSB 48
#define WEFT_CMD_POST_S_MAX_BITS 16
#define WEFT_CMD_POST_S_MAX_MASK UINT64_C(0xffff000000000000)
#define WEFT_CMD_POST_S_MAX_MIN -32768
#define WEFT_CMD_POST_S_MAX_MAX 32767
#define WEFT_CMD_POST_A_MUL_WORD 7
#define WEFT_CMD_POST_A_MUL_LSB 0
#define WEFT_CMD_POST_A_MUL_BITS 32
#define WEFT_CMD_POST_A_MUL_MASK UINT64_C(0xffffffff)
#define WEFT_CMD_POST_A_MUL_MIN 0
#define WEFT_CMD_POST_A_MUL_MAX 2147483647
#define WEFT_CMD_POST_B_MUL_WORD 7
#define WEFT_CMD_POST_B_MUL_LSB 32
#define WEFT_CMD_POST_B_MUL_BITS 32
#define WEFT_CMD_POST_B_MUL_MASK UINT64_C(0xffffffff00000000)
#define WEFT_CMD_POST_B_MUL_MIN 0
#define WEFT_CMD_POST_B_MUL_MAX 2147483647
#define WEFT_CMD_POST_S_MUL_WORD 8
#define WEFT_CMD_POST_S_MUL_LSB 0
#define WEFT_CMD_POST_S_MUL_BITS 32
#define WEFT_CMD_POST_S_MUL_MASK UINT64_C(0xffffffff)
#define WEFT_CMD_POST_S_MUL_MIN 0
#define WEFT_CMD_POST_S_MUL_MAX 2147483647
#define WEFT_CMD_POST_A_SHIFT_WORD 8
#define WEFT_CMD_POST_A_SHIFT_LSB 32
#define WEFT_CMD_POST_A_SHIFT_BITS 6
#define WEFT_CMD_POST_A_SHIFT_MASK UINT64_C(0x3f00000000)
#define WEFT_CMD_POST_A_SHIFT_MIN 2
#define WEFT_CMD_POST_A_SHIFT_MAX 62
#define WEFT_CMD_POST_B_SHIFT_WORD 8
#define WEFT_CMD_POST_B_SHIFT_LSB 40
#define WEFT_CMD_POST_B_SHIFT_BITS 6
#define WEFT_CMD_POST_B_SHIFT_MASK UINT64_C(0x3f0000000000)
#define WEFT_CMD_POST_B_SHIFT_MIN 2
#define WEFT_CMD_POST_B_SHIFT_MAX 62
#define WEFT_CMD_POST_S_SHIFT_WORD 8
#define WEFT_CMD_POST_S_SHIFT_LSB 48
#define WEFT_CMD_POST_S_SHIFT_BITS 6
#define WEFT_CMD_POST_S_SHIFT_MASK UINT64_C(0x3f000000000000)
#define WEFT_CMD_POST_S_SHIFT_MIN 2
#define WEFT_CMD_POST_S_SHIFT_MAX 62
#define WEFT_CMD_POST_X_FMT_WORD 8
#define WEFT_CMD_POST_X_FMT_LSB 54
#define WEFT_CMD_POST_X_FMT_BITS 3
#define WEFT_CMD_POST_X_FMT_MASK UINT64_C(0x1c0000000000000)
#define WEFT_CMD_POST_X_FMT_MIN 0
#define WEFT_CMD_POST_X_FMT_MAX 4
#define WEFT_CMD_POST_W_FMT_WORD 8
#define WEFT_CMD_POST_W_FMT_LSB 57
#define WEFT_CMD_POST_W_FMT_BITS 2
#define WEFT_CMD_POST_W_FMT_MASK UINT64_C(0x600000000000000)
#define WEFT_CMD_POST_W_FMT_MIN 0
#define WEFT_CMD_POST_W_FMT_MAX 3
#define WEFT_CMD_POST_B_FMT_WORD 8
#define WEFT_CMD_POST_B_FMT_LSB 59
#define WEFT_CMD_POST_B_FMT_BITS 3
#define WEFT_CMD_POST_B_FMT_MASK UINT64_C(0x3800000000000000)
#define WEFT_CMD_POST_B_FMT_MIN 0
#define WEFT_CMD_POST_B_FMT_MAX 4

#define WEFT_CMD_LOAD_WINDOW_WORD 2
#define WEFT_CMD_LOAD_WINDOW_LSB 0
#define WEFT_CMD_LOAD_WINDOW_BITS 3
#define WEFT_CMD_LOAD_WINDOW_MASK UINT64_C(0x7)
#define WEFT_CMD_LOAD_WINDOW_MIN 0
#define WEFT_CMD_LOAD_WINDOW_MAX 7
#define WEFT_CMD_LOAD_DRAM_OFF_WORD 2
#define WEFT_CMD_LOAD_DRAM_OFF_LSB 8
#define WEFT_CMD_LOAD_DRAM_OFF_BITS 40
#define WEFT_CMD_LOAD_DRAM_OFF_MASK UINT64_C(0xffffffffff00)
#define WEFT_CMD_LOAD_DRAM_OFF_MIN 0
#define WEFT_CMD_LOAD_DRAM_OFF_MAX INT64_C(1099511627775)
#define WEFT_CMD_LOAD_SP_ADDR_WORD 3
#define WEFT_CMD_LOAD_SP_ADDR_LSB 0
#define WEFT_CMD_LOAD_SP_ADDR_BITS 20
#define WEFT_CMD_LOAD_SP_ADDR_MASK UINT64_C(0xfffff)
#define WEFT_CMD_LOAD_SP_ADDR_MIN 0
#define WEFT_CMD_LOAD_SP_ADDR_MAX 1048575
#define WEFT_CMD_LOAD_ROW_BYTES_WORD 3
#define WEFT_CMD_LOAD_ROW_BYTES_LSB 20
#define WEFT_CMD_LOAD_ROW_BYTES_BITS 20
#define WEFT_CMD_LOAD_ROW_BYTES_MASK UINT64_C(0xfffff00000)
#define WEFT_CMD_LOAD_ROW_BYTES_MIN 1
#define WEFT_CMD_LOAD_ROW_BYTES_MAX 1048575
#define WEFT_CMD_LOAD_N1_WORD 3
#define WEFT_CMD_LOAD_N1_LSB 40
#define WEFT_CMD_LOAD_N1_BITS 16
#define WEFT_CMD_LOAD_N1_MASK UINT64_C(0xffff0000000000)
#define WEFT_CMD_LOAD_N1_MIN 1
#define WEFT_CMD_LOAD_N1_MAX 65535
#define WEFT_CMD_LOAD_N2_WORD 4
#define WEFT_CMD_LOAD_N2_LSB 0
#define WEFT_CMD_LOAD_N2_BITS 16
#define WEFT_CMD_LOAD_N2_MASK UINT64_C(0xffff)
#define WEFT_CMD_LOAD_N2_MIN 1
#define WEFT_CMD_LOAD_N2_MAX 65535
#define WEFT_CMD_LOAD_N3_WORD 4
#define WEFT_CMD_LOAD_N3_LSB 16
#define WEFT_CMD_LOAD_N3_BITS 16
#define WEFT_CMD_LOAD_N3_MASK UINT64_C(0xffff0000)
#define WEFT_CMD_LOAD_N3_MIN 1
#define WEFT_CMD_LOAD_N3_MAX 65535
#define WEFT_CMD_LOAD_DRAM_STRIDE1_WORD 4
#define WEFT_CMD_LOAD_DRAM_STRIDE1_LSB 32
#define WEFT_CMD_LOAD_DRAM_STRIDE1_BITS 32
#define WEFT_CMD_LOAD_DRAM_STRIDE1_MASK UINT64_C(0xffffffff00000000)
#define WEFT_CMD_LOAD_DRAM_STRIDE1_MIN INT64_C(-2147483648)
#define WEFT_CMD_LOAD_DRAM_STRIDE1_MAX 2147483647
#define WEFT_CMD_LOAD_DRAM_STRIDE2_WORD 5
#define WEFT_CMD_LOAD_DRAM_STRIDE2_LSB 0
#define WEFT_CMD_LOAD_DRAM_STRIDE2_BITS 32
#define WEFT_CMD_LOAD_DRAM_STRIDE2_MASK UINT64_C(0xffffffff)
#define WEFT_CMD_LOAD_DRAM_STRIDE2_MIN INT64_C(-2147483648)
#define WEFT_CMD_LOAD_DRAM_STRIDE2_MAX 2147483647
#define WEFT_CMD_LOAD_DRAM_STRIDE3_WORD 5
#define WEFT_CMD_LOAD_DRAM_STRIDE3_LSB 32
#define WEFT_CMD_LOAD_DRAM_STRIDE3_BITS 32
#define WEFT_CMD_LOAD_DRAM_STRIDE3_MASK UINT64_C(0xffffffff00000000)
#define WEFT_CMD_LOAD_DRAM_STRIDE3_MIN INT64_C(-2147483648)
#define WEFT_CMD_LOAD_DRAM_STRIDE3_MAX 2147483647
#define WEFT_CMD_LOAD_SP_STRIDE1_WORD 6
#define WEFT_CMD_LOAD_SP_STRIDE1_LSB 0
#define WEFT_CMD_LOAD_SP_STRIDE1_BITS 20
#define WEFT_CMD_LOAD_SP_STRIDE1_MASK UINT64_C(0xfffff)
#define WEFT_CMD_LOAD_SP_STRIDE1_MIN 0
#define WEFT_CMD_LOAD_SP_STRIDE1_MAX 1048575
#define WEFT_CMD_LOAD_SP_STRIDE2_WORD 6
#define WEFT_CMD_LOAD_SP_STRIDE2_LSB 20
#define WEFT_CMD_LOAD_SP_STRIDE2_BITS 20
#define WEFT_CMD_LOAD_SP_STRIDE2_MASK UINT64_C(0xfffff00000)
#define WEFT_CMD_LOAD_SP_STRIDE2_MIN 0
#define WEFT_CMD_LOAD_SP_STRIDE2_MAX 1048575
#define WEFT_CMD_LOAD_SP_STRIDE3_WORD 6
#define WEFT_CMD_LOAD_SP_STRIDE3_LSB 40
#define WEFT_CMD_LOAD_SP_STRIDE3_BITS 20
#define WEFT_CMD_LOAD_SP_STRIDE3_MASK UINT64_C(0xfffff0000000000)
#define WEFT_CMD_LOAD_SP_STRIDE3_MIN 0
#define WEFT_CMD_LOAD_SP_STRIDE3_MAX 1048575

#define WEFT_CMD_CONV_IN_BASE_WORD 9
#define WEFT_CMD_CONV_IN_BASE_LSB 0
#define WEFT_CMD_CONV_IN_BASE_BITS 20
#define WEFT_CMD_CONV_IN_BASE_MASK UINT64_C(0xfffff)
#define WEFT_CMD_CONV_IN_BASE_MIN 0
#define WEFT_CMD_CONV_IN_BASE_MAX 1048575
#define WEFT_CMD_CONV_OY_STEP_WORD 9
#define WEFT_CMD_CONV_OY_STEP_LSB 20
#define WEFT_CMD_CONV_OY_STEP_BITS 20
#define WEFT_CMD_CONV_OY_STEP_MASK UINT64_C(0xfffff00000)
#define WEFT_CMD_CONV_OY_STEP_MIN 0
#define WEFT_CMD_CONV_OY_STEP_MAX 1048575
#define WEFT_CMD_CONV_OX_STEP_WORD 9
#define WEFT_CMD_CONV_OX_STEP_LSB 40
#define WEFT_CMD_CONV_OX_STEP_BITS 20
#define WEFT_CMD_CONV_OX_STEP_MASK UINT64_C(0xfffff0000000000)
#define WEFT_CMD_CONV_OX_STEP_MIN 0
#define WEFT_CMD_CONV_OX_STEP_MAX 1048575
#define WEFT_CMD_CONV_KY_STEP_WORD 10
#define WEFT_CMD_CONV_KY_STEP_LSB 0
#define WEFT_CMD_CONV_KY_STEP_BITS 20
#define WEFT_CMD_CONV_KY_STEP_MASK UINT64_C(0xfffff)
#define WEFT_CMD_CONV_KY_STEP_MIN 0
#define WEFT_CMD_CONV_KY_STEP_MAX 1048575
#define WEFT_CMD_CONV_KX_STEP_WORD 10
#define WEFT_CMD_CONV_KX_STEP_LSB 20
#define WEFT_CMD_CONV_KX_STEP_BITS 20
#define WEFT_CMD_CONV_KX_STEP_MASK UINT64_C(0xfffff00000)
#define WEFT_CMD_CONV_KX_STEP_MIN 0
#define WEFT_CMD_CONV_KX_STEP_MAX 1048575
#define WEFT_CMD_CONV_RUN_LEN_WORD 10
#define WEFT_CMD_CONV_RUN_LEN_LSB 40
#define WEFT_CMD_CONV_RUN_LEN_BITS 20
#define WEFT_CMD_CONV_RUN_LEN_MASK UINT64_C(0xfffff0000000000)
#define WEFT_CMD_CONV_RUN_LEN_MIN 1
#define WEFT_CMD_CONV_RUN_LEN_MAX 1048575
#define WEFT_CMD_CONV_N_KY_WORD 11
#define WEFT_CMD_CONV_N_KY_LSB 0
#define WEFT_CMD_CONV_N_KY_BITS 12
#define WEFT_CMD_CONV_N_KY_MASK UINT64_C(0xfff)
#define WEFT_CMD_CONV_N_KY_MIN 1
#define WEFT_CMD_CONV_N_KY_MAX 4095
#define WEFT_CMD_CONV_N_KX_WORD 11
#define WEFT_CMD_CONV_N_KX_LSB 12
#define WEFT_CMD_CONV_N_KX_BITS 12
#define WEFT_CMD_CONV_N_KX_MASK UINT64_C(0xfff000)
#define WEFT_CMD_CONV_N_KX_MIN 1
#define WEFT_CMD_CONV_N_KX_MAX 4095
#define WEFT_CMD_CONV_STRIDE_Y_WORD 11
#define WEFT_CMD_CONV_STRIDE_Y_LSB 24
#define WEFT_CMD_CONV_STRIDE_Y_BITS 14
#define WEFT_CMD_CONV_STRIDE_Y_MASK UINT64_C(0x3fff000000)
#define WEFT_CMD_CONV_STRIDE_Y_MIN 1
#define WEFT_CMD_CONV_STRIDE_Y_MAX 8192
#define WEFT_CMD_CONV_DIL_Y_WORD 11
#define WEFT_CMD_CONV_DIL_Y_LSB 40
#define WEFT_CMD_CONV_DIL_Y_BITS 14
#define WEFT_CMD_CONV_DIL_Y_MASK UINT64_C(0x3fff0000000000)
#define WEFT_CMD_CONV_DIL_Y_MIN 1
#define WEFT_CMD_CONV_DIL_Y_MAX 8192
#define WEFT_CMD_CONV_KEEP_WORD 11
#define WEFT_CMD_CONV_KEEP_LSB 56
#define WEFT_CMD_CONV_KEEP_BITS 1
#define WEFT_CMD_CONV_KEEP_MASK UINT64_C(0x100000000000000)
#define WEFT_CMD_CONV_KEEP_MIN 0
#define WEFT_CMD_CONV_KEEP_MAX 1
#define WEFT_CMD_CONV_IN_H_WORD 12
#define WEFT_CMD_CONV_IN_H_LSB 0
#define WEFT_CMD_CONV_IN_H_BITS 16
#define WEFT_CMD_CONV_IN_H_MASK UINT64_C(0xffff)
#define WEFT_CMD_CONV_IN_H_MIN 1
#define WEFT_CMD_CONV_IN_H_MAX 65535
#define WEFT_CMD_CONV_IY_START_WORD 12
#define WEFT_CMD_CONV_IY_START_LSB 16
#define WEFT_CMD_CONV_IY_START_BITS 16
#define WEFT_CMD_CONV_IY_START_MASK UINT64_C(0xffff0000)
#define WEFT_CMD_CONV_IY_START_MIN -32768
#define WEFT_CMD_CONV_IY_START_MAX 32767
#define WEFT_CMD_CONV_X_LIMIT_WORD 12
#define WEFT_CMD_CONV_X_LIMIT_LSB 32
#define WEFT_CMD_CONV_X_LIMIT_BITS 20
#define WEFT_CMD_CONV_X_LIMIT_MASK UINT64_C(0xfffff00000000)
#define WEFT_CMD_CONV_X_LIMIT_MIN 1
#define WEFT_CMD_CONV_X_LIMIT_MAX 1048575
#define WEFT_CMD_CONV_XB_START_WORD 13
#define WEFT_CMD_CONV_XB_START_LSB 0
#define WEFT_CMD_CONV_XB_START_BITS 21
#define WEFT_CMD_CONV_XB_START_MASK UINT64_C(0x1fffff)
#define WEFT_CMD_CONV_XB_START_MIN -1048576
#define WEFT_CMD_CONV_XB_START_MAX 1048575
#define WEFT_CMD_CONV_X_ZP_WORD 13
#define WEFT_CMD_CONV_X_ZP_LSB 24
#define WEFT_CMD_CONV_X_ZP_BITS 16
#define WEFT_CMD_CONV_X_ZP_MASK UINT64_C(0xffff000000)
#define WEFT_CMD_CONV_X_ZP_MIN -128
#define WEFT_CMD_CONV_X_ZP_MAX 127
#define WEFT_CMD_CONV_W_ZP_WORD 13
#define WEFT_CMD_CONV_W_ZP_LSB 40
#define WEFT_CMD_CONV_W_ZP_BITS 9
#define WEFT_CMD_CONV_W_ZP_MASK UINT64_C(0x1ff0000000000)
#define WEFT_CMD_CONV_W_ZP_MIN -128
#define WEFT_CMD_CONV_W_ZP_MAX 127
#define WEFT_CMD_CONV_W_BASE_WORD 14
#define WEFT_CMD_CONV_W_BASE_LSB 0
#define WEFT_CMD_CONV_W_BASE_BITS 20
#define WEFT_CMD_CONV_W_BASE_MASK UINT64_C(0xfffff)
#define WEFT_CMD_CONV_W_BASE_MIN 0
#define WEFT_CMD_CONV_W_BASE_MAX 1048575
#define WEFT_CMD_CONV_P_BASE_WORD 14
#define WEFT_CMD_CONV_P_BASE_LSB 20
#define WEFT_CMD_CONV_P_BASE_BITS 20
#define WEFT_CMD_CONV_P_BASE_MASK UINT64_C(0xfffff00000)
#define WEFT_CMD_CONV_P_BASE_MIN 0
#define WEFT_CMD_CONV_P_BASE_MAX 1048575
#define WEFT_CMD_CONV_LOG2_SCALE_WORD 15
#define WEFT_CMD_CONV_LOG2_SCALE_LSB 0
#define WEFT_CMD_CONV_LOG2_SCALE_BITS 6
#define WEFT_CMD_CONV_LOG2_SCALE_MASK UINT64_C(0x3f)
#define WEFT_CMD_CONV_LOG2_SCALE_MIN -32
#define WEFT_CMD_CONV_LOG2_SCALE_MAX 31

#define WEFT_CMD_DW_IN_BASE_WORD 9
#define WEFT_CMD_DW_IN_BASE_LSB 0
#define WEFT_CMD_DW_IN_BASE_BITS 20
#define WEFT_CMD_DW_IN_BASE_MASK UINT64_C(0xfffff)
#define WEFT_CMD_DW_IN_BASE_MIN 0
#define WEFT_CMD_DW_IN_BASE_MAX 1048575
#define WEFT_CMD_DW_IN_X_STRIDE_WORD 9
#define WEFT_CMD_DW_IN_X_STRIDE_LSB 20
#define WEFT_CMD_DW_IN_X_STRIDE_BITS 20
#define WEFT_CMD_DW_IN_X_STRIDE_MASK UINT64_C(0xfffff00000)
#define WEFT_CMD_DW_IN_X_STRIDE_MIN 0
#define WEFT_CMD_DW_IN_X_STRIDE_MAX 1048575
#define WEFT_CMD_DW_IN_Y_STRIDE_WORD 9
#define WEFT_CMD_DW_IN_Y_STRIDE_LSB 40
#define WEFT_CMD_DW_IN_Y_STRIDE_BITS 20
#define WEFT_CMD_DW_IN_Y_STRIDE_MASK UINT64_C(0xfffff0000000000)
#define WEFT_CMD_DW_IN_Y_STRIDE_MIN 0
#define WEFT_CMD_DW_IN_Y_STRIDE_MAX 1048575
#define WEFT_CMD_DW_IN_H_WORD 10
#define WEFT_CMD_DW_IN_H_LSB 0
#define WEFT_CMD_DW_IN_H_BITS 16
#define WEFT_CMD_DW_IN_H_MASK UINT64_C(0xffff)
#define WEFT_CMD_DW_IN_H_MIN 1
#define WEFT_CMD_DW_IN_H_MAX 65535
#define WEFT_CMD_DW_IN_W_WORD 10
#define WEFT_CMD_DW_IN_W_LSB 16
#define WEFT_CMD_DW_IN_W_BITS 16
#define WEFT_CMD_DW_IN_W_MASK UINT64_C(0xffff0000)
#define WEFT_CMD_DW_IN_W_MIN 1
#define WEFT_CMD_DW_IN_W_MAX 65535
#define WEFT_CMD_DW_IY_START_WORD 10
#define WEFT_CMD_DW_IY_START_LSB 32
#define WEFT_CMD_DW_IY_START_BITS 16
#define WEFT_CMD_DW_IY_START_MASK UINT64_C(0xffff00000000)
#define WEFT_CMD_DW_IY_START_MIN -32768
#define WEFT_CMD_DW_IY_START_MAX 32767
#define WEFT_CMD_DW_IX_START_WORD 10
#define WEFT_CMD_DW_IX_START_LSB 48
#define WEFT_CMD_DW_IX_START_BITS 16
#define WEFT_CMD_DW_IX_START_MASK UINT64_C(0xffff000000000000)
#define WEFT_CMD_DW_IX_START_MIN -32768
#define WEFT_CMD_DW_IX_START_MAX 32767
#define WEFT_CMD_DW_W_BASE_WORD 11
#define WEFT_CMD_DW_W_BASE_LSB 0
#define WEFT_CMD_DW_W_BASE_BITS 20
#define WEFT_CMD_DW_W_BASE_MASK UINT64_C(0xfffff)
#define WEFT_CMD_DW_W_BASE_MIN 0
#define WEFT_CMD_DW_W_BASE_MAX 1048575
#define WEFT_CMD_DW_P_BASE_WORD 11
#define WEFT_CMD_DW_P_BASE_LSB 20
#define WEFT_CMD_DW_P_BASE_BITS 20
#define WEFT_CMD_DW_P_BASE_MASK UINT64_C(0xfffff00000)
#define WEFT_CMD_DW_P_BASE_MIN 0
#define WEFT_CMD_DW_P_BASE_MAX 1048575
#define WEFT_CMD_DW_STRIDE_Y_WORD 11
#define WEFT_CMD_DW_STRIDE_Y_LSB 40
#define WEFT_CMD_DW_STRIDE_Y_BITS 4
#define WEFT_CMD_DW_STRIDE_Y_MASK UINT64_C(0xf0000000000)
#define WEFT_CMD_DW_STRIDE_Y_MIN 1
#define WEFT_CMD_DW_STRIDE_Y_MAX 15
#define WEFT_CMD_DW_STRIDE_X_WORD 11
#define WEFT_CMD_DW_STRIDE_X_LSB 44
#define WEFT_CMD_DW_STRIDE_X_BITS 4
#define WEFT_CMD_DW_STRIDE_X_MASK UINT64_C(0xf00000000000)
#define WEFT_CMD_DW_STRIDE_X_MIN 1
#define WEFT_CMD_DW_STRIDE_X_MAX 15
#define WEFT_CMD_DW_X_ZP_WORD 11
#define WEFT_CMD_DW_X_ZP_LSB 48
#define WEFT_CMD_DW_X_ZP_BITS 8
#define WEFT_CMD_DW_X_ZP_MASK UINT64_C(0xff000000000000)
#define WEFT_CMD_DW_X_ZP_MIN -128
#define WEFT_CMD_DW_X_ZP_MAX 127
#define WEFT_CMD_DW_W_ZP_WORD 11
#define WEFT_CMD_DW_W_ZP_LSB 56
#define WEFT_CMD_DW_W_ZP_BITS 8
#define WEFT_CMD_DW_W_ZP_MASK UINT64_C(0xff00000000000000)
#define WEFT_CMD_DW_W_ZP_MIN -128
#define WEFT_CMD_DW_W_ZP_MAX 127
#define WEFT_CMD_DW_LOG2_SCALE_WORD 12
#define WEFT_CMD_DW_LOG2_SCALE_LSB 0
#define WEFT_CMD_DW_LOG2_SCALE_BITS 6
#define WEFT_CMD_DW_LOG2_SCALE_MASK UINT64_C(0x3f)
#define WEFT_CMD_DW_LOG2_SCALE_MIN -32
#define WEFT_CMD_DW_LOG2_SCALE_MAX 31

#define WEFT_CMD_POOL_IN_BASE_WORD 9
#define WEFT_CMD_POOL_IN_BASE_LSB 0
#define WEFT_CMD_POOL_IN_BASE_BITS 20
#define WEFT_CMD_POOL_IN_BASE_MASK UINT64_C(0xfffff)
#define WEFT_CMD_POOL_IN_BASE_MIN 0
#define WEFT_CMD_POOL_IN_BASE_MAX 1048575
#define WEFT_CMD_POOL_OY_STEP_WORD 9
#define WEFT_CMD_POOL_OY_STEP_LSB 20
#define WEFT_CMD_POOL_OY_STEP_BITS 20
#define WEFT_CMD_POOL_OY_STEP_MASK UINT64_C(0xfffff00000)
#define WEFT_CMD_POOL_OY_STEP_MIN 0
#define WEFT_CMD_POOL_OY_STEP_MAX 1048575
#define WEFT_CMD_POOL_OX_STEP_WORD 9
#define WEFT_CMD_POOL_OX_STEP_LSB 40
#define WEFT_CMD_POOL_OX_STEP_BITS 20
#define WEFT_CMD_POOL_OX_STEP_MASK UINT64_C(0xfffff0000000000)
#define WEFT_CMD_POOL_OX_STEP_MIN 0
#define WEFT_CMD_POOL_OX_STEP_MAX 1048575
#define WEFT_CMD_POOL_KY_STEP_WORD 10
#define WEFT_CMD_POOL_KY_STEP_LSB 0
#define WEFT_CMD_POOL_KY_STEP_BITS 20
#define WEFT_CMD_POOL_KY_STEP_MASK UINT64_C(0xfffff)
#define WEFT_CMD_POOL_KY_STEP_MIN 0
#define WEFT_CMD_POOL_KY_STEP_MAX 1048575
#define WEFT_CMD_POOL_KX_STEP_WORD 10
#define WEFT_CMD_POOL_KX_STEP_LSB 20
#define WEFT_CMD_POOL_KX_STEP_BITS 20
#define WEFT_CMD_POOL_KX_STEP_MASK UINT64_C(0xfffff00000)
#define WEFT_CMD_POOL_KX_STEP_MIN 0
#define WEFT_CMD_POOL_KX_STEP_MAX 1048575
#define WEFT_CMD_POOL_X_ZP_WORD 10
#define WEFT_CMD_POOL_X_ZP_LSB 40
#define WEFT_CMD_POOL_X_ZP_BITS 8
#define WEFT_CMD_POOL_X_ZP_MASK UINT64_C(0xff0000000000)
#define WEFT_CMD_POOL_X_ZP_MIN -128
#define WEFT_CMD_POOL_X_ZP_MAX 127
#define WEFT_CMD_POOL_SUM_WORD 10
#define WEFT_CMD_POOL_SUM_LSB 48
#define WEFT_CMD_POOL_SUM_BITS 1
#define WEFT_CMD_POOL_SUM_MASK UINT64_C(0x1000000000000)
#define WEFT_CMD_POOL_SUM_MIN 0
#define WEFT_CMD_POOL_SUM_MAX 1
#define WEFT_CMD_POOL_N_KY_WORD 11
#define WEFT_CMD_POOL_N_KY_LSB 0
#define WEFT_CMD_POOL_N_KY_BITS 16
#define WEFT_CMD_POOL_N_KY_MASK UINT64_C(0xffff)
#define WEFT_CMD_POOL_N_KY_MIN 1
#define WEFT_CMD_POOL_N_KY_MAX 65535
#define WEFT_CMD_POOL_N_KX_WORD 11
#define WEFT_CMD_POOL_N_KX_LSB 16
#define WEFT_CMD_POOL_N_KX_BITS 16
#define WEFT_CMD_POOL_N_KX_MASK UINT64_C(0xffff0000)
#define WEFT_CMD_POOL_N_KX_MIN 1
#define WEFT_CMD_POOL_N_KX_MAX 65535

#define WEFT_CMD_ELT_IN_BASE_WORD 9
#define WEFT_CMD_ELT_IN_BASE_LSB 0
#define WEFT_CMD_ELT_IN_BASE_BITS 20
#define WEFT_CMD_ELT_IN_BASE_MASK UINT64_C(0xfffff)
#define WEFT_CMD_ELT_IN_BASE_MIN 0
#define WEFT_CMD_ELT_IN_BASE_MAX 1048575
#define WEFT_CMD_ELT_IN_X_STRIDE_WORD 9
#define WEFT_CMD_ELT_IN_X_STRIDE_LSB 20
#define WEFT_CMD_ELT_IN_X_STRIDE_BITS 20
#define WEFT_CMD_ELT_IN_X_STRIDE_MASK UINT64_C(0xfffff00000)
#define WEFT_CMD_ELT_IN_X_STRIDE_MIN 0
#define WEFT_CMD_ELT_IN_X_STRIDE_MAX 1048575
#define WEFT_CMD_ELT_IN_Y_STRIDE_WORD 9
#define WEFT_CMD_ELT_IN_Y_STRIDE_LSB 40
#define WEFT_CMD_ELT_IN_Y_STRIDE_BITS 20
#define WEFT_CMD_ELT_IN_Y_STRIDE_MASK UINT64_C(0xfffff0000000000)
#define WEFT_CMD_ELT_IN_Y_STRIDE_MIN 0
#define WEFT_CMD_ELT_IN_Y_STRIDE_MAX 1048575

struct weft_cmd_header {
	int32_t wait[4]; /* by unit: commands of it that must have retired; 0..65535 */
	int32_t op; /* Opcode; 0..255 */
	int32_t n_words; /* Words of this command, header included; 0..255 */
	uint32_t tag; /* Free for the compiler; reported with a fault; 0..4294967295 */
};

/* Part of conv, dw, pool, elt. */
struct weft_cmd_post {
	int32_t out_base; /* Scratchpad address of output pixel (0,0), channel 0; 0..1048575 bytes, whole elements of out */
	int32_t out_x_stride; /* Step to the next output pixel of the row; 0..1048575 bytes, whole elements of out */
	int32_t out_y_stride; /* Step to the next output row; 0..1048575 bytes, whole elements of out */
	int32_t ow; /* Output width; 1..65535 pixels */
	int32_t oh; /* Output height; 1..65535 rows */
	int32_t oc; /* Output channels; 1..65535 channels */
	int32_t mode; /* 0 int8, 1 int16x8, 2 float8. Must be among the configuration's modes; 0..2 */
	int32_t double_round; /* RESCALE of the first stage rounds twice; mode 0 or 1 only; 0..1 */
	int32_t scale16; /* RESCALE of the first stage takes a 48-bit value and a 16-bit multiplier; conv and dw only; mode 1 only; 0..1 */
	int32_t add; /* Add a second tensor behind the first stage; 0..1 */
	int32_t pre_shift; /* Left shift of both addends before their RESCALE; mode 0 or 1 only; 0..30 bits */
	int32_t out_fmt; /* Format of the output; mode 2 only; 0..4 */
	int32_t saturate; /* Values beyond the output's format become its largest finite; mode 2 only; 0..1 */
	int32_t y_zp; /* Zero point added behind the first stage; mode 0 or 1 only; -32768..32767 */
	int32_t y_min; /* Lower clamp of the first stage; -32768..32767 */
	int32_t y_max; /* Upper clamp of the first stage; -32768..32767 */
	int32_t a_zp; /* Zero point of the first addend; mode 0 or 1 only; -32768..32767 */
	int32_t b_base; /* Scratchpad address of the second addend, pixel (0,0), channel 0; 0..1048575 bytes, whole elements of b */
	int32_t b_x_stride; /* Its step to the next pixel of the row; 0..1048575 bytes, whole elements of b */
	int32_t b_y_stride; /* Its step to the next row; 0..1048575 bytes, whole elements of b */
	int32_t b_zp; /* Zero point of the second addend; mode 0 or 1 only; -32768..32767 */
	int32_t s_zp; /* Zero point of the sum; mode 0 or 1 only; -32768..32767 */
	int32_t s_min; /* Lower clamp of the sum; -32768..32767 */
	int32_t s_max; /* Upper clamp of the sum; -32768..32767 */
	uint32_t a_mul; /* Multiplier of the first addend (pool: of the result); mode 0 or 1 only; 0..2147483647 */
	uint32_t b_mul; /* Multiplier of the second addend; mode 0 or 1 only; 0..2147483647 */
	uint32_t s_mul; /* Multiplier of the sum; mode 0 or 1 only; 0..2147483647 */
	int32_t a_shift; /* Shift of the first addend (pool: of the result); 2..62 */
	int32_t b_shift; /* Shift of the second addend; 2..62 */
	int32_t s_shift; /* Shift of the sum; 2..62 */
	int32_t x_fmt; /* Format of the input; mode 2 only; 0..4 */
	int32_t w_fmt; /* Format of the weights; mode 2 only; 0..3 */
	int32_t b_fmt; /* Format of the second tensor; mode 2 only; 0..4 */
};

/* load, store: Copy a strided block of up to four dimensions from memory to the scratchpad. */
struct weft_cmd_load {
	int32_t window; /* DMA window; 0..7 */
	int64_t dram_off; /* Offset in the window; 0..1099511627775 bytes */
	int32_t sp_addr; /* Scratchpad address; 0..1048575 bytes */
	int32_t row_bytes; /* Contiguous bytes of the innermost dimension; 1..1048575 bytes */
	int32_t n1; /* Count of the second dimension; 1..65535 */
	int32_t n2; /* Count of the third dimension; 1..65535 */
	int32_t n3; /* Count of the outermost dimension; 1..65535 */
	int32_t dram_stride1; /* Memory step of the second dimension; -2147483648..2147483647 bytes */
	int32_t dram_stride2; /* Memory step of the third dimension; -2147483648..2147483647 bytes */
	int32_t dram_stride3; /* Memory step of the outermost dimension; -2147483648..2147483647 bytes */
	int32_t sp_stride1; /* Scratchpad step of the second dimension; 0..1048575 bytes */
	int32_t sp_stride2; /* Scratchpad step of the third dimension; 0..1048575 bytes */
	int32_t sp_stride3; /* Scratchpad step of the outermost dimension; 0..1048575 bytes */
};

/* conv: Convolution of an input tile with all its taps: systolic array and post unit. */
struct weft_cmd_conv {
	struct weft_cmd_post post;
	int32_t in_base; /* Scratchpad address of output pixel (0,0), tap (0,0), byte 0, modulo 2^20; 0..1048575 bytes, whole elements of x */
	int32_t oy_step; /* Address step from one output row to the next; 0..1048575 bytes, whole elements of x */
	int32_t ox_step; /* Address step from one output pixel to the next; 0..1048575 bytes, whole elements of x */
	int32_t ky_step; /* Address step from one kernel row to the next; 0..1048575 bytes, whole elements of x */
	int32_t kx_step; /* Address step from one kernel column to the next; 0..1048575 bytes, whole elements of x */
	int32_t run_len; /* Bytes of a run; 1..1048575 bytes, whole elements of x */
	int32_t n_ky; /* Kernel rows; 1..4095 */
	int32_t n_kx; /* Kernel columns; 1 where they are joined with the channels; 1..4095 */
	int32_t stride_y; /* Rows from one output row to the next; 1..8192 */
	int32_t dil_y; /* Rows from one kernel row to the next; 1..8192 */
	int32_t keep; /* Leave the sums in the array; 0..1 */
	int32_t in_h; /* Rows present; others are padding; 1..65535 rows */
	int32_t iy_start; /* Row of output row 0, kernel row 0 (negative: padding); -32768..32767 rows */
	int32_t x_limit; /* Bytes present in a row; others are padding; 1..1048575 bytes, whole elements of x */
	int32_t xb_start; /* Byte in the row of output pixel 0, kernel column 0 (negative: padding); -1048576..1048575 bytes, whole elements of x */
	int32_t x_zp; /* Zero point of the input; mode 0 only; -128..127 */
	int32_t w_zp; /* Zero point of the weights; mode 0 or 1 only; -128..127 */
	int32_t w_base; /* Scratchpad address of the weights, a multiple of N; 0..1048575 bytes, multiple of N */
	int32_t p_base; /* Scratchpad address of the parameter records, a multiple of N; 0..1048575 bytes, multiple of N */
	int32_t log2_scale; /* Products are multiplied by 2 to this power; mode 2 only; -32..31 */
};

/* dw: Depthwise convolution 3x3, channel multiplier 1. */
struct weft_cmd_dw {
	struct weft_cmd_post post;
	int32_t in_base; /* Scratchpad address of input row 0, column 0, channel 0; 0..1048575 bytes, whole elements of x */
	int32_t in_x_stride; /* Step to the next input column; 0..1048575 bytes, whole elements of x */
	int32_t in_y_stride; /* Step to the next input row; 0..1048575 bytes, whole elements of x */
	int32_t in_h; /* Input rows present; 1..65535 rows */
	int32_t in_w; /* Input columns present; 1..65535 pixels */
	int32_t iy_start; /* Row of output row 0, kernel row 0 (negative: padding); -32768..32767 rows */
	int32_t ix_start; /* Column of output column 0, kernel column 0; -32768..32767 pixels */
	int32_t w_base; /* Scratchpad address of the weights, a multiple of N; 0..1048575 bytes, multiple of N */
	int32_t p_base; /* Scratchpad address of the parameter records, a multiple of N; 0..1048575 bytes, multiple of N */
	int32_t stride_y; /* Rows from one output row to the next; 1..15 */
	int32_t stride_x; /* Columns from one output column to the next; 1..15 */
	int32_t x_zp; /* Zero point of the input; mode 0 only; -128..127 */
	int32_t w_zp; /* Zero point of the weights; mode 0 or 1 only; -128..127 */
	int32_t log2_scale; /* Products are multiplied by 2 to this power; mode 2 only; -32..31 */
};

/* pool: Maximum or sum over a window without padding, per channel. */
struct weft_cmd_pool {
	struct weft_cmd_post post;
	int32_t in_base; /* Scratchpad address of output pixel (0,0), tap (0,0), channel 0; 0..1048575 bytes, whole elements of x */
	int32_t oy_step; /* Address step from one output row to the next; 0..1048575 bytes, whole elements of x */
	int32_t ox_step; /* Address step from one output pixel to the next; 0..1048575 bytes, whole elements of x */
	int32_t ky_step; /* Address step from one window row to the next; 0..1048575 bytes, whole elements of x */
	int32_t kx_step; /* Address step from one window column to the next; 0..1048575 bytes, whole elements of x */
	int32_t x_zp; /* Zero point subtracted from every element of a sum; mode 0 or 1 only; -128..127 */
	int32_t sum; /* 0 maximum, 1 sum; 0..1 */
	int32_t n_ky; /* Window rows; 1..65535 */
	int32_t n_kx; /* Window columns; 1..65535 */
};

/* elt: Elementwise: RESCALE and clamp of one tensor, or of the sum of two. */
struct weft_cmd_elt {
	struct weft_cmd_post post;
	int32_t in_base; /* Scratchpad address of pixel (0,0), channel 0; 0..1048575 bytes, whole elements of x */
	int32_t in_x_stride; /* Step to the next pixel of the row; 0..1048575 bytes, whole elements of x */
	int32_t in_y_stride; /* Step to the next row; 0..1048575 bytes, whole elements of x */
};

/** A decoded command; h.op says which member of the union is meant. */
struct weft_cmd {
	struct weft_cmd_header h;
	union {
		struct weft_cmd_load load; /* also store */
		struct weft_cmd_conv conv;
		struct weft_cmd_dw dw;
		struct weft_cmd_pool pool;
		struct weft_cmd_elt elt;
	};
};

/** One bit field: its place in the encoding, in struct weft_cmd, and its range. */
struct weft_field_info {
	const char *name;
	uint8_t word, lsb, bits; /* 64-bit word of the command, lowest bit, width */
	uint8_t is_signed;       /* two's complement */
	uint8_t align_n;         /* value is a multiple of the configuration's n */
	uint8_t elem;            /* enum weft_elem of whose bytes the value is a multiple */
	uint8_t modes;           /* bit m: may differ from 0 in mode m */
	uint8_t is_feature;      /* value is the number of a bit of weft_config.features */
	uint8_t is_address;      /* reads best in hexadecimal */
	uint8_t fault;           /* enum weft_fault of a value outside min..max */
	uint8_t c_bytes;         /* size of the member, 4 or 8 */
	uint16_t c_offset;       /* of the member in struct weft_cmd */
	int64_t min, max;        /* inclusive */
	const char *unit;        /* "" for none */
	const char *doc;
};

struct weft_cmd_info {
	const char *name;
	uint8_t op, unit, n_words;
	uint8_t n_fields;        /* header included */
	const struct weft_field_info *fields;
	const uint64_t *used;    /* n_words masks of the bits that belong to a field */
	const char *brief;
};

/** All commands, in the order of the spec. */
extern const struct weft_cmd_info weft_cmd_infos[WEFT_N_CMDS];

/** The command with this opcode, NULL if there is none. */
const struct weft_cmd_info *weft_cmd_info(unsigned op);

/** Value of a field. @p f belongs to the command that @p c holds. */
int64_t weft_cmd_get(const struct weft_cmd *c, const struct weft_field_info *f);

/** Set a field; the value is not checked, see weft_cmd_check_ranges(). */
void weft_cmd_set(struct weft_cmd *c, const struct weft_field_info *f, int64_t value);

/**
 * Start a command: opcode, word count, and in every field the legal value
 * nearest to zero. Unknown opcodes give an all-zero command.
 */
void weft_cmd_init(struct weft_cmd *c, unsigned op);

/**
 * Decode the command at @p w, of which @p n words may be read.
 *
 * @return WEFT_FAULT_NONE (0); the command took out->h.n_words words. Or
 *   WEFT_FAULT_BAD_OP      no such opcode
 *   WEFT_FAULT_BAD_LEN     the header's word count is not the opcode's
 *   WEFT_FAULT_STREAM_END  fewer words are left than the command has
 * and then *out is untouched. Ranges and reserved bits are not checked here.
 */
int weft_cmd_decode(const uint64_t *w, size_t n, struct weft_cmd *out);

/**
 * Encode into @p w, which has room for WEFT_CMD_MAX_WORDS. The word count comes
 * from the opcode, not from c->h.n_words. Values are cut to their fields.
 *
 * @return words written, 0 for an unknown opcode.
 */
size_t weft_cmd_encode(const struct weft_cmd *c, uint64_t *w);

/**
 * Is every field within its range?
 *
 * @param[out] field,value,min,max  Say what is wrong, set only on failure; may
 *                                  each be NULL.
 * @return 0, -ERANGE, or -EINVAL for an unknown opcode (nothing set).
 */
int weft_cmd_check_ranges(const struct weft_cmd *c, const char **field, int64_t *value,
                          int64_t *min, int64_t *max);

/** As above for fields that are multiples of @p n: 0, -ERANGE or -EINVAL. */
int weft_cmd_check_align(const struct weft_cmd *c, unsigned n, const char **field, int64_t *value);

/** Bytes of an element, 1 or 2. @p c is a command with the group post. */
unsigned weft_cmd_elem_bytes(const struct weft_cmd *c, enum weft_elem elem);

/** As above for fields that are multiples of weft_cmd_elem_bytes(): 0, -ERANGE or -EINVAL. */
int weft_cmd_check_elems(const struct weft_cmd *c, const char **field, int64_t *value);

/** As above for fields that have to be 0 in the command's mode: 0, -ERANGE or -EINVAL. */
int weft_cmd_check_modes(const struct weft_cmd *c, const char **field, int64_t *value);

/**
 * Are reserved bits of an encoded command zero? @p w holds a whole command
 * that weft_cmd_decode() accepts.
 *
 * @param[out] word,bits  Where and which are not; may be NULL.
 * @return 0 or -EINVAL.
 */
int weft_cmd_check_reserved(const uint64_t *w, size_t *word, uint64_t *bits);

/**
 * The fault that hardware raises on taking this command from a stream of which
 * @p n_left words are left: BAD_OP, BAD_LEN, STREAM_END, then reserved bits,
 * alignment and fields that the mode does not have (BAD_FIELD), then the first
 * field outside its range or the features of @p cfg.
 *
 * @return an enum weft_fault, WEFT_FAULT_NONE if it is taken.
 */
unsigned weft_cmd_fault(const uint64_t *w, size_t n_left, const struct weft_config *cfg);

/**
 * One line of text: name, tag, waits, then every field that is not zero.
 * Returns as snprintf does.
 */
int weft_cmd_print(const struct weft_cmd *c, char *buf, size_t n);

/** "LD"; "?" for an index that no unit has. */
const char *weft_unit_name(unsigned unit);

/** "BAD_OP"; "?" for an unknown code. */
const char *weft_fault_name(unsigned code);

/** "unknown opcode"; "unknown fault" for an unknown code. */
const char *weft_fault_brief(unsigned code);

#ifdef __cplusplus
}
#endif
#endif

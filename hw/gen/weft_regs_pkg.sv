// Generated from include/spec/regs.toml by tools/gen.py; edit that and run `make gen`.
// SPDX-License-Identifier: Apache-2.0
/* verilator lint_off UNUSEDPARAM */
package weft_regs_pkg;
  localparam int unsigned ADDR_W = 10;

  // Reads 0x57454654, 'WEFT' (ro)
  localparam logic [9:0] ID_ADDR = 10'h0;

  // Version of registers and commands; the driver refuses another major (ro)
  localparam logic [9:0] VERSION_ADDR = 10'h4;
  localparam int unsigned VERSION_MINOR_LSB = 0;
  localparam int unsigned VERSION_MINOR_W = 16;
  localparam int unsigned VERSION_MAJOR_LSB = 16;
  localparam int unsigned VERSION_MAJOR_W = 16;

  // Configuration (ro)
  localparam logic [9:0] CONFIG_ADDR = 10'h8;
  localparam int unsigned CONFIG_N_LSB = 0;
  localparam int unsigned CONFIG_N_W = 8;
  localparam int unsigned CONFIG_LOG2_SP_BYTES_LSB = 8;
  localparam int unsigned CONFIG_LOG2_SP_BYTES_W = 8;
  localparam int unsigned CONFIG_AXI_BYTES_LSB = 16;
  localparam int unsigned CONFIG_AXI_BYTES_W = 8;
  localparam int unsigned CONFIG_N_WINDOWS_LSB = 24;
  localparam int unsigned CONFIG_N_WINDOWS_W = 8;

  // Each bit says that the configuration has a feature. int8, int16 and fp8 are arithmetic modes. alu: it has the command alu. raw: conv and dw can write sums as they are. int4: load can widen int4 to int8. even: RESCALE can round ties to even. table, mul: elt can look elements up in a table, and multiply two tensors. sub: the post unit can subtract the second addend. dwk: dw can have kernels other than 3x3. dwtable: dw can look its input up in a table. pairs: conv can compute two column tiles at a time. p_short: parameter records can have 8 bytes. coded: load can decode coded rows. turns: rows of conv and of the vector engine can take turns at the post unit (ro)
  localparam logic [9:0] FEATURES_ADDR = 10'hc;
  localparam int unsigned FEATURES_INT8_LSB = 0;
  localparam int unsigned FEATURES_INT8_W = 1;
  localparam int unsigned FEATURES_INT16_LSB = 1;
  localparam int unsigned FEATURES_INT16_W = 1;
  localparam int unsigned FEATURES_FP8_LSB = 2;
  localparam int unsigned FEATURES_FP8_W = 1;
  localparam int unsigned FEATURES_ALU_LSB = 8;
  localparam int unsigned FEATURES_ALU_W = 1;
  localparam int unsigned FEATURES_RAW_LSB = 9;
  localparam int unsigned FEATURES_RAW_W = 1;
  localparam int unsigned FEATURES_INT4_LSB = 10;
  localparam int unsigned FEATURES_INT4_W = 1;
  localparam int unsigned FEATURES_EVEN_LSB = 11;
  localparam int unsigned FEATURES_EVEN_W = 1;
  localparam int unsigned FEATURES_TABLE_LSB = 12;
  localparam int unsigned FEATURES_TABLE_W = 1;
  localparam int unsigned FEATURES_SUB_LSB = 13;
  localparam int unsigned FEATURES_SUB_W = 1;
  localparam int unsigned FEATURES_MUL_LSB = 14;
  localparam int unsigned FEATURES_MUL_W = 1;
  localparam int unsigned FEATURES_DWK_LSB = 15;
  localparam int unsigned FEATURES_DWK_W = 1;
  localparam int unsigned FEATURES_DWTABLE_LSB = 16;
  localparam int unsigned FEATURES_DWTABLE_W = 1;
  localparam int unsigned FEATURES_PAIRS_LSB = 17;
  localparam int unsigned FEATURES_PAIRS_W = 1;
  localparam int unsigned FEATURES_P_SHORT_LSB = 18;
  localparam int unsigned FEATURES_P_SHORT_W = 1;
  localparam int unsigned FEATURES_CODED_LSB = 19;
  localparam int unsigned FEATURES_CODED_W = 1;
  localparam int unsigned FEATURES_TURNS_LSB = 20;
  localparam int unsigned FEATURES_TURNS_W = 1;

  // start: run the stream. reset: abandon everything, clear done, fault, counters and queues; bus transactions under way are finished first. irq_status, irq_enable, the stream and the windows keep their values (w1s)
  localparam logic [9:0] CTRL_ADDR = 10'h10;
  localparam int unsigned CTRL_START_LSB = 0;
  localparam int unsigned CTRL_START_W = 1;
  localparam int unsigned CTRL_RESET_LSB = 1;
  localparam int unsigned CTRL_RESET_W = 1;

  // busy: a stream is running or a reset is under way. done: last stream reached END. fault: a fault is latched (ro)
  localparam logic [9:0] STATUS_ADDR = 10'h14;
  localparam int unsigned STATUS_BUSY_LSB = 0;
  localparam int unsigned STATUS_BUSY_W = 1;
  localparam int unsigned STATUS_DONE_LSB = 1;
  localparam int unsigned STATUS_DONE_W = 1;
  localparam int unsigned STATUS_FAULT_LSB = 2;
  localparam int unsigned STATUS_FAULT_W = 1;

  // Which of done and fault raise the interrupt (rw)
  localparam logic [9:0] IRQ_ENABLE_ADDR = 10'h18;
  localparam logic [31:0] IRQ_ENABLE_RESET = 32'h0;
  localparam int unsigned IRQ_ENABLE_DONE_LSB = 0;
  localparam int unsigned IRQ_ENABLE_DONE_W = 1;
  localparam int unsigned IRQ_ENABLE_FAULT_LSB = 1;
  localparam int unsigned IRQ_ENABLE_FAULT_W = 1;

  // Interrupt causes since they were last cleared; ctrl.reset keeps them (w1c)
  localparam logic [9:0] IRQ_STATUS_ADDR = 10'h1c;
  localparam int unsigned IRQ_STATUS_DONE_LSB = 0;
  localparam int unsigned IRQ_STATUS_DONE_W = 1;
  localparam int unsigned IRQ_STATUS_FAULT_LSB = 1;
  localparam int unsigned IRQ_STATUS_FAULT_W = 1;

  // Byte offset of the stream in window 0, a multiple of 64 (rw)
  localparam logic [9:0] STREAM_OFF_ADDR = 10'h20;
  localparam logic [31:0] STREAM_OFF_RESET = 32'h0;

  // 64-bit words of the stream (rw)
  localparam logic [9:0] STREAM_WORDS_ADDR = 10'h24;
  localparam logic [31:0] STREAM_WORDS_RESET = 32'h0;

  // First fault: code and unit (ro)
  localparam logic [9:0] FAULT_ADDR = 10'h30;
  localparam int unsigned FAULT_CODE_LSB = 0;
  localparam int unsigned FAULT_CODE_W = 8;
  localparam int unsigned FAULT_UNIT_LSB = 8;
  localparam int unsigned FAULT_UNIT_W = 8;

  // Index in the stream, from 0, of the command that faulted (ro)
  localparam logic [9:0] FAULT_CMD_ADDR = 10'h34;

  // Its tag (ro)
  localparam logic [9:0] FAULT_TAG_ADDR = 10'h38;

  // Low 32 bits of the offending address, or the offending header word (ro)
  localparam logic [9:0] FAULT_INFO_ADDR = 10'h3c;

  // LD commands retired since start (ro)
  localparam logic [9:0] RETIRED_LD_ADDR = 10'h40;

  // ST commands retired since start (ro)
  localparam logic [9:0] RETIRED_ST_ADDR = 10'h44;

  // CV commands retired since start (ro)
  localparam logic [9:0] RETIRED_CV_ADDR = 10'h48;

  // VE commands retired since start (ro)
  localparam logic [9:0] RETIRED_VE_ADDR = 10'h4c;

  // Base address of the window, low half; a multiple of 64 (rw)
  localparam logic [9:0] WIN_BASE_LO_ADDR = 10'h100;
  localparam int unsigned WIN_BASE_LO_COUNT = 8;
  localparam int unsigned WIN_BASE_LO_STRIDE = 16;
  localparam logic [31:0] WIN_BASE_LO_RESET = 32'h0;

  // Base address, bits 39:32 (rw)
  localparam logic [9:0] WIN_BASE_HI_ADDR = 10'h104;
  localparam int unsigned WIN_BASE_HI_COUNT = 8;
  localparam int unsigned WIN_BASE_HI_STRIDE = 16;
  localparam logic [31:0] WIN_BASE_HI_RESET = 32'h0;

  // Size in bytes (rw)
  localparam logic [9:0] WIN_SIZE_ADDR = 10'h108;
  localparam int unsigned WIN_SIZE_COUNT = 8;
  localparam int unsigned WIN_SIZE_STRIDE = 16;
  localparam logic [31:0] WIN_SIZE_RESET = 32'h0;

  // Permissions (rw)
  localparam logic [9:0] WIN_CTRL_ADDR = 10'h10c;
  localparam int unsigned WIN_CTRL_COUNT = 8;
  localparam int unsigned WIN_CTRL_STRIDE = 16;
  localparam logic [31:0] WIN_CTRL_RESET = 32'h0;
  localparam int unsigned WIN_CTRL_READ_LSB = 0;
  localparam int unsigned WIN_CTRL_READ_W = 1;
  localparam int unsigned WIN_CTRL_WRITE_LSB = 1;
  localparam int unsigned WIN_CTRL_WRITE_W = 1;

  // Cycles from start to END (ro)
  localparam logic [9:0] CNT_CYCLES_ADDR = 10'h200;

  // Cycles with an LD command under way (ro)
  localparam logic [9:0] CNT_LD_BUSY_ADDR = 10'h204;

  // Cycles with an ST command under way (ro)
  localparam logic [9:0] CNT_ST_BUSY_ADDR = 10'h208;

  // Cycles with a CV command under way (ro)
  localparam logic [9:0] CNT_CV_BUSY_ADDR = 10'h20c;

  // Cycles with a VE command under way (ro)
  localparam logic [9:0] CNT_VE_BUSY_ADDR = 10'h210;

  // Cycles in which the array waited for an activation word (ro)
  localparam logic [9:0] CNT_CV_STALL_ACT_ADDR = 10'h214;

  // Cycles in which the array waited for a weight word (ro)
  localparam logic [9:0] CNT_CV_STALL_WGT_ADDR = 10'h218;

  // Cycles in which the array waited for the post unit (ro)
  localparam logic [9:0] CNT_CV_STALL_POST_ADDR = 10'h21c;

  // Scratchpad requests that lost arbitration, summed over cycles (ro)
  localparam logic [9:0] CNT_SP_CONFLICT_ADDR = 10'h220;

  // Bytes of memory that LD moved (ro)
  localparam logic [9:0] CNT_RD_BYTES_ADDR = 10'h224;

  // Bytes of memory that ST moved (ro)
  localparam logic [9:0] CNT_WR_BYTES_ADDR = 10'h228;

  // Commands retired (ro)
  localparam logic [9:0] CNT_CMDS_ADDR = 10'h22c;

  // Words of scratchpad and commands in which a wrong bit was put right when they were read; 0 where the memories have no check bits (hw/top, parameter Ecc) (ro)
  localparam logic [9:0] CNT_ECC_ADDR = 10'h230;

  // What the constant registers read; the others of that kind are in weft_cfg_pkg.
  localparam logic [31:0] ID_VALUE = 32'h57454654;
  localparam logic [31:0] VERSION_VALUE = 32'h00010001;
endpackage
/* verilator lint_on UNUSEDPARAM */

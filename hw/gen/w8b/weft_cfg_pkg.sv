// Generated from include/spec/config.toml by tools/gen.py; edit that and run `make gen`.
// SPDX-License-Identifier: Apache-2.0
/* verilator lint_off UNUSEDPARAM */
package weft_cfg_pkg;
  // w8b: 8x8 in int8, fits a mid-size ECP5
  localparam int unsigned VERSION_MAJOR = 1;
  localparam int unsigned VERSION_MINOR = 1;
  localparam int unsigned N = 8;
  localparam int unsigned SP_BYTES = 131072;
  localparam int unsigned AXI_BITS = 64;
  localparam int unsigned DW_LINE = 256;
  localparam int unsigned N_WINDOWS = 8;
  localparam int unsigned DRAM_ADDR_BITS = 40;
  localparam int unsigned SP_ADDR_BITS = 20;
  localparam int unsigned SP_REGIONS = 8;
  localparam int unsigned SP_BANKS = 16;
  localparam int unsigned N_UNITS = 4;
  localparam int unsigned ACC_BITS = 48;
  localparam int unsigned DW_TAPS = 9;
  localparam int unsigned CMD_MAX_WORDS = 16;
  localparam int unsigned QUEUE_DEPTH = 4;
  localparam int unsigned LOG2_N = 3;
  localparam int unsigned LOG2_SP_BYTES = 17;
  localparam int unsigned AXI_BYTES = 8;
  localparam int unsigned LOG2_AXI_BYTES = 3;
  localparam logic [31:0] FEATURES_VALUE = 32'h0000b601;
  localparam logic HAS_INT8 = 1'b1;
  localparam logic HAS_INT16 = 1'b0;
  localparam logic HAS_FP8 = 1'b0;
  localparam logic HAS_ALU = 1'b0;
  localparam logic HAS_RAW = 1'b1;
  localparam logic HAS_INT4 = 1'b1;
  localparam logic HAS_EVEN = 1'b0;
  localparam logic HAS_TABLE = 1'b1;
  localparam logic HAS_SUB = 1'b1;
  localparam logic HAS_MUL = 1'b0;
  localparam logic HAS_DWK = 1'b1;
  localparam logic [31:0] CONFIG_VALUE = 32'h08081108;

  // A byte address in the scratchpad, or a distance or a count of bytes there; sums wrap
  typedef logic [SP_ADDR_BITS-1:0] sp_addr_t;
  // A byte address in memory, or a distance or a count of bytes there; sums wrap
  typedef logic [DRAM_ADDR_BITS-1:0] mem_addr_t;
  // A word of the scratchpad, as wide as a beat of the bus
  typedef logic [8*N-1:0] sp_word_t;
  // What a read of the scratchpad returns: the two words from its address on
  typedef logic [16*N-1:0] sp_pair_t;
  // A row is what the N lanes hold for one pixel. One bit for each lane, or for each byte of a word
  typedef logic [N-1:0] row_mask_t;
  // A row of the states of float8 sums: 0 finite, 1 +inf, 2 -inf, 3 NaN
  typedef logic [2*N-1:0] row_state_t;
  // A row of shifts of RESCALE
  typedef logic [6*N-1:0] row_shift_t;
  // A row of operands: int8 in the low half of the row, or int16 or fp16
  typedef logic [16*N-1:0] row_half_t;
  // A row of multipliers of RESCALE, or of results of 32 bits
  typedef logic [32*N-1:0] row_mul_t;
  // A row of sums
  typedef logic [ACC_BITS*N-1:0] row_acc_t;
endpackage
/* verilator lint_on UNUSEDPARAM */

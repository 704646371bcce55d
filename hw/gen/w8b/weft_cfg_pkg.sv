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
  localparam int unsigned PARAM_BYTES = 16;
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
endpackage
/* verilator lint_on UNUSEDPARAM */

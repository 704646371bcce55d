// SPDX-License-Identifier: Apache-2.0
//
// Parameter records as reads of two words of the scratchpad bring them.
//
// The records of N channels lie side by side. A read brings N/8 of them, or N/4 short ones
// (p_short of conv and dw); for N = 4 two reads bring one. Functions ask for the record of one lane.
package weft_param_pkg;
  localparam int N        = weft_cfg_pkg::N;
  localparam int LongBits = 8 * weft_cmd_pkg::PARAM_BYTES;
  localparam int HalfBits = 8 * weft_cmd_pkg::PARAM_SHORT_BYTES;

  localparam logic TWICE = N < 8;                      // a record comes with two reads
  localparam int   LONGS  = TWICE ? 1 : N / 8;         // records that a read brings, or two of them
  localparam int   SHORTS = weft_cfg_pkg::HAS_P_SHORT ? N / 4 : 1;
  localparam int   BITS   = TWICE ? LongBits : 16 * N;  // of these records

  // The number of the last read for N records, of which the first is 0.
  function automatic logic [2:0] last_read(input logic is_short);
    last_read = is_short ? 3'(weft_cmd_pkg::PARAM_SHORT_BYTES / 2 - 1) : 3'(weft_cmd_pkg::PARAM_BYTES / 2 - 1);
  endfunction

  // The number of the read with which the record of this lane is there.
  function automatic logic [2:0] read_of(input int lane, input logic is_short);
    read_of = is_short ? 3'(lane / SHORTS) : TWICE ? 3'(2 * lane + 1) : 3'(lane / LONGS);
  endfunction

  /* verilator lint_off UNUSEDSIGNAL */  // each takes one field of either kind
  // Fields of the record of this lane, out of what that read brings, behind what the one before brought if TWICE.
  function automatic logic [47:0] bias(input logic [BITS-1:0] words, input int lane, input logic is_short);
    weft_cmd_pkg::param_t       long;
    weft_cmd_pkg::param_short_t half;
    long = words[LongBits*(lane % LONGS) +: LongBits];
    half = words[HalfBits*(lane % SHORTS) +: HalfBits];
    bias = is_short ? 48'($signed(half.bias)) : long.bias;
  endfunction

  function automatic logic [31:0] mul(input logic [BITS-1:0] words, input int lane, input logic is_short);
    weft_cmd_pkg::param_t       long;
    weft_cmd_pkg::param_short_t half;
    long = words[LongBits*(lane % LONGS) +: LongBits];
    half = words[HalfBits*(lane % SHORTS) +: HalfBits];
    mul  = is_short ? half.mul : long.mul;
  endfunction

  // 6 bits are significant.
  function automatic logic [5:0] shift(input logic [BITS-1:0] words, input int lane, input logic is_short);
    weft_cmd_pkg::param_t       long;
    weft_cmd_pkg::param_short_t half;
    long  = words[LongBits*(lane % LONGS) +: LongBits];
    half  = words[HalfBits*(lane % SHORTS) +: HalfBits];
    shift = is_short ? half.shift[5:0] : long.shift[5:0];
  endfunction
  /* verilator lint_on UNUSEDSIGNAL */
endpackage

// SPDX-License-Identifier: Apache-2.0
//
// This module collects the parameter records of N lanes from reads of the scratchpad.
//
// The records of N channels lie side by side in the scratchpad, and a read brings two words. These
// hold N/8 records of 16 bytes, or N/4 records of 8 bytes if is_short_i is set (p_short of conv and
// dw). For N = 4 a record of 16 bytes takes two reads. If en_i is set, rdata_i holds the words of read
// number read_i. Reads come in the order 0 to last_read_o. All N records are on the outputs in the
// cycle after the last read.
module weft_param_row (
  input  logic                   clk_i,
  input  logic                   is_short_i,
  output logic [2:0]             last_read_o,
  input  logic                   en_i,
  input  logic [2:0]             read_i,
  input  weft_cfg_pkg::sp_pair_t rdata_i,

  output weft_cfg_pkg::row_acc_t   bias_o,
  output weft_cfg_pkg::row_mul_t   mul_o,
  output weft_cfg_pkg::row_shift_t shift_o
);
  localparam int N         = weft_cfg_pkg::N;
  localparam int LongBits  = 8 * weft_cmd_pkg::PARAM_BYTES;
  localparam int ShortBits = 8 * weft_cmd_pkg::PARAM_SHORT_BYTES;
  localparam logic Twice   = N < 8;                            // a record comes with two reads
  localparam int Longs     = Twice ? 1 : N / 8;                // records of a read, or of two
  localparam int Shorts    = weft_cfg_pkg::HAS_P_SHORT ? N / 4 : 1;
  localparam int Bits      = Twice ? LongBits : 16 * N;        // of these records

  logic            is_short;
  logic [Bits-1:0] words;

  assign is_short    = weft_cfg_pkg::HAS_P_SHORT && is_short_i;
  assign last_read_o = is_short ? 3'(weft_cmd_pkg::PARAM_SHORT_BYTES / 2 - 1) : 3'(weft_cmd_pkg::PARAM_BYTES / 2 - 1);

  if (Twice) begin : g_twice
    weft_cfg_pkg::sp_pair_t low_q;   // what the read before brought
    assign words = {rdata_i, low_q};
    always_ff @(posedge clk_i) if (en_i) low_q <= rdata_i;
  end else begin : g_once
    assign words = rdata_i;
  end

  // Returns the number of the read that completes the record of this lane.
  function automatic logic [2:0] read_of(input int lane, input logic half);
    read_of = half ? 3'(lane / Shorts) : Twice ? 3'(2 * lane + 1) : 3'(lane / Longs);
  endfunction

  /* verilator lint_off BLKSEQ */
  /* verilator lint_off UNUSEDSIGNAL */  // spare bits
  weft_cmd_pkg::param_t       long;
  weft_cmd_pkg::param_short_t half;
  /* verilator lint_on UNUSEDSIGNAL */
  always_ff @(posedge clk_i) begin
    if (en_i) begin
      // A comparison per lane: a slice at a variable place is a shifter.
      for (int l = 0; l < N; l++) begin
        if (read_i == read_of(l, is_short)) begin
          long                = words[LongBits*(l % Longs) +: LongBits];
          half                = words[ShortBits*(l % Shorts) +: ShortBits];
          bias_o[48*l +: 48] <= is_short ? 48'($signed(half.bias)) : long.bias;
          mul_o[32*l +: 32]  <= is_short ? half.mul : long.mul;
          shift_o[6*l +: 6]  <= is_short ? half.shift[5:0] : long.shift[5:0];   // 6 bits are significant
        end
      end
    end
  end
  /* verilator lint_on BLKSEQ */
endmodule

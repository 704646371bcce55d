// SPDX-License-Identifier: Apache-2.0
//
// Pooling: N accumulators, one word of a window a cycle; maximum, or sum of
// (element - zero point) in 32 bits. Of float elements (fp_i) the maximum in fp16.
//
// The row is there in the cycle behind the window's last word. It is held
// while the next window runs; that one's last word waits until it is taken.
//
// Model: sim/model/pool.c   Theory: hw/vec/README.md
module weft_vec_pool (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic flush_i,

  input  logic       sum_i,     // else maximum
  input  logic [7:0] x_zp_i,
  input  logic       int16_i,   // two bytes an element, else one, in the low half of the word
  input  logic       fp_i,
  input  logic [2:0] x_fmt_i,

  input  logic                    word_valid_i,
  output logic                    word_ready_o,
  input  weft_cfg_pkg::row_half_t word_i,
  input  logic                    first_i,
  input  logic                    last_i,

  output logic                   row_valid_o,
  input  logic                   row_ready_i,
  output weft_cfg_pkg::row_acc_t row_o
);

  localparam int N = weft_cfg_pkg::N;

  logic valid_q, go;

  assign word_ready_o = !last_i || !valid_q || row_ready_i;
  assign go           = word_valid_i && word_ready_o;
  assign row_valid_o  = valid_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= 1'b0;
    else if (flush_i) valid_q <= 1'b0;
    else if (go && last_i) valid_q <= 1'b1;
    else if (row_ready_i) valid_q <= 1'b0;
  end

  logic signed [31:0] acc [N];
  logic signed [31:0] v [N];
  logic [N-1:0]       nan;
  logic [15:0]        h;

  /* verilator lint_off BLKSEQ */  // this block owns the arrays
  always @(posedge clk_i) begin
    if (go) begin
      if (int16_i) begin
        for (int c = 0; c < N; c++) v[c] = 32'($signed(word_i[16*c +: 16]));
      end else begin
        for (int c = 0; c < N; c++) v[c] = 32'($signed(word_i[8*c +: 8]));
      end
      if (weft_cfg_pkg::HAS_FP8 && fp_i) begin
        // The pattern as a number of the same order, and beside it: has there been a NaN?
        for (int c = 0; c < N; c++) begin
          h = x_fmt_i[2] ? v[c][15:0] : weft_float_pkg::to_half(v[c][7:0], x_fmt_i[1:0]);
          nan[c] = (nan[c] && !first_i) || weft_float_pkg::state(h) == weft_float_pkg::STATE_NAN;
          v[c] = 32'($signed(weft_float_pkg::order(h)));
        end
      end
      for (int c = 0; c < N; c++) begin
        if (sum_i) acc[c] = (first_i ? 32'sd0 : acc[c]) + (v[c] - 32'($signed(x_zp_i)));
        else if (first_i || v[c] > acc[c]) acc[c] = v[c];
        if (last_i) row_o[48*c +: 48] <= 48'(acc[c]);
      end
      if (weft_cfg_pkg::HAS_FP8 && fp_i && last_i) begin
        for (int c = 0; c < N; c++) begin
          row_o[48*c +: 16] <= nan[c] ? 16'h7e00 : weft_float_pkg::order(acc[c][15:0]);
        end
      end
    end
  end
  /* verilator lint_on BLKSEQ */

`ifdef WEFT_ASSERT
  logic                   held_q;
  weft_cfg_pkg::row_acc_t row_held_q;
  always_ff @(posedge clk_i) begin
    held_q     <= rst_ni && !flush_i && row_valid_o && !row_ready_i;
    row_held_q <= row_o;
    if (rst_ni && held_q && !flush_i) assert (row_valid_o && row_o == row_held_q);
    if (rst_ni && !flush_i) assert (!(word_valid_i && word_ready_o && last_i && row_valid_o && !row_ready_i));
  end
`endif

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Elementwise: words become rows for the post unit.
//
// two_i: words q and r alternate; a row holds q in each lane, sign-extended,
// and r as it came in b_o; with mul_i (q - a_zp) * (r - b_zp), of which the low
// bytes count, of int16 q * r. With once_i (only with mul_i) one word r comes first,
// and each word q behind it makes a row, until the next first word. Else a row for each word, (q - a_zp) << pre_shift modulo 2^32.
// Float elements (fp_i) become fp16 in the low bits of a lane, r does not.
// One word a cycle; the row is there in the cycle behind its last word.
//
// Model: sim/model/elt.c   Theory: hw/vec/README.md
module weft_vec_elt (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic flush_i,

  input  logic        two_i,
  input  logic        mul_i,     // with two_i
  input  logic        once_i,    // with mul_i
  input  logic        int16_i,   // two bytes an element of q, else one, in the low half of the word
  input  logic        fp_i,
  input  logic [2:0]  x_fmt_i,
  input  logic [15:0] a_zp_i,
  input  logic [7:0]  b_zp_i,
  input  logic [4:0]  pre_shift_i,

  input  logic                    word_valid_i,
  output logic                    word_ready_o,
  input  weft_cfg_pkg::row_half_t word_i,
  input  logic                    first_i,
  input  logic                    last_i,

  output logic                    row_valid_o,
  input  logic                    row_ready_i,
  output weft_cfg_pkg::row_acc_t  row_o,
  output weft_cfg_pkg::row_half_t b_o
);

  localparam int N = weft_cfg_pkg::N;

  logic valid_q, go;

  // row_o changes with the first word, b_o with the last; with mul_i it, too, waits for both
  assign word_ready_o = !valid_q || row_ready_i;
  assign go           = word_valid_i && word_ready_o;
  assign row_valid_o  = valid_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= 1'b0;
    else if (flush_i) valid_q <= 1'b0;
    else if (go && last_i) valid_q <= 1'b1;
    else if (row_ready_i) valid_q <= 1'b0;
  end

  logic [31:0] v [N];
  // Differences of bytes, or int16 as they came: qz of the first word, rz of the last one.
  logic [7:0]         first_zp, last_zp;
  logic signed [15:0] qz [N];
  logic signed [15:0] rz;
  logic signed [31:0] p;

  assign first_zp = once_i ? b_zp_i : a_zp_i[7:0];
  assign last_zp  = once_i ? a_zp_i[7:0] : b_zp_i;

  /* verilator lint_off BLKSEQ */  // v, qz, rz, p only
  always @(posedge clk_i) begin
    if (go && first_i) begin
      if (int16_i) begin
        for (int c = 0; c < N; c++) v[c] = 32'($signed(word_i[16*c +: 16]));
      end else begin
        for (int c = 0; c < N; c++) v[c] = 32'($signed(word_i[8*c +: 8]));
      end
      if (weft_cfg_pkg::HAS_FP8 && fp_i) begin
        for (int c = 0; c < N; c++) begin
          if (!x_fmt_i[2]) v[c][15:0] = weft_float_pkg::to_half(v[c][7:0], x_fmt_i[1:0]);
          else if (weft_float_pkg::state(v[c][15:0]) == weft_float_pkg::STATE_NAN) v[c][9:0] = 10'h200;
        end
      end
      for (int c = 0; c < N; c++) begin
        if (!two_i && !fp_i) v[c] = (v[c] - 32'($signed(a_zp_i))) << pre_shift_i;
        row_o[48*c +: 48] <= {16'd0, v[c]};
      end
      if (weft_cfg_pkg::HAS_MUL && mul_i) begin
        for (int c = 0; c < N; c++) qz[c] = v[c][15:0] - (int16_i ? '0 : 16'($signed(first_zp)));
      end
    end
    if (weft_cfg_pkg::HAS_MUL && mul_i && go && last_i) begin
      for (int c = 0; c < N; c++) begin
        rz = int16_i ? word_i[16*c +: 16] : 16'($signed(word_i[8*c +: 8])) - 16'($signed(last_zp));
        p = qz[c] * rz;
        row_o[48*c +: 48] <= 48'(p);
      end
    end
    if (go && last_i) b_o <= word_i;
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

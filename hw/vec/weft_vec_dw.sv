// SPDX-License-Identifier: Apache-2.0
//
// Depthwise 3x3: the pixel stream of weft_vec_scan (N channels a pixel) becomes
// a stream of rows of N sums.
//
// One pixel a cycle. A row leaves five cycles after the pixel that completes
// its window. row_i: first pixel of a row; emit_i: the window that ends here is
// wanted, of it the columns and rows in col_on_i and row_on_i; block_i: it is
// the first such of a block. That pixel enters the window only when the block's
// weights are there (wts_valid_i), and takes them. A row that is not taken
// stops everything.
//
// Behind the line buffers everything is one block with blocking assignments,
// from the last stage to the first: see hw/array. Products and sums are
// computed for wanted windows only.
//
// Model: sim/model/dw.c   Theory: hw/vec/README.md
module weft_vec_dw (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic flush_i,

  input  logic [7:0] x_zp_i,

  input  logic                         pix_valid_i,
  output logic                         pix_ready_o,
  input  logic [8*weft_cfg_pkg::N-1:0] pix_i,
  input  logic                         row_i,
  input  logic                         emit_i,
  input  logic                         block_i,
  input  logic [2:0]                   col_on_i,
  input  logic [2:0]                   row_on_i,

  input  logic                          wts_valid_i,
  output logic                          wts_take_o,
  input  logic [81*weft_cfg_pkg::N-1:0] wts_i,

  output logic                          row_valid_o,
  input  logic                          row_ready_i,
  output logic [48*weft_cfg_pkg::N-1:0] row_o
);

  localparam int N        = weft_cfg_pkg::N;
  localparam int LineBits = $clog2(weft_cfg_pkg::DW_LINE);

  // Stage 1: pixel beside the two above it, on their way out of the line buffers.
  logic                s1_valid_q, s1_emit_q, s1_block_q;
  logic [8:0]          s1_on_q, s2_on_q;     // taps that are not padding
  logic [LineBits-1:0] s1_x_q, x;
  logic [8*N-1:0]      s1_pix_q;
  // Stage 2: windows. 3: products. 4: sums of three. 5: row_o.
  logic                s2_emit_q, s3_valid_q, s4_valid_q, s5_valid_q;

  logic adv, s1_go, s0_go;

  assign adv         = !s5_valid_q || row_ready_i;
  assign s1_go       = s1_valid_q && adv && (!s1_block_q || wts_valid_i);
  assign pix_ready_o = !s1_valid_q || s1_go;
  assign s0_go       = pix_valid_i && pix_ready_o;
  assign wts_take_o  = s1_go && s1_block_q;
  assign row_valid_o = s5_valid_q;
  assign x           = row_i ? '0 : s1_x_q + LineBits'(1);

  // The row above and the one above that; shifted down as the pixel goes by.
  logic [8*N-1:0] above1, above2;

  weft_vec_line #(.Bits(8*N), .Depth(weft_cfg_pkg::DW_LINE)) u_line1 (
    .clk_i(clk_i), .re_i(s0_go), .raddr_i(x), .rdata_o(above1),
    .we_i(s1_go), .waddr_i(s1_x_q), .wdata_i(s1_pix_q));

  weft_vec_line #(.Bits(8*N), .Depth(weft_cfg_pkg::DW_LINE)) u_line2 (
    .clk_i(clk_i), .re_i(s0_go), .raddr_i(x), .rdata_o(above2),
    .we_i(s1_go), .waddr_i(s1_x_q), .wdata_i(above1));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      s1_valid_q <= 1'b0;
      s2_emit_q  <= 1'b0;
      s3_valid_q <= 1'b0;
      s4_valid_q <= 1'b0;
      s5_valid_q <= 1'b0;
    end else if (flush_i) begin
      s1_valid_q <= 1'b0;
      s2_emit_q  <= 1'b0;
      s3_valid_q <= 1'b0;
      s4_valid_q <= 1'b0;
      s5_valid_q <= 1'b0;
    end else begin
      if (s0_go) s1_valid_q <= 1'b1;
      else if (s1_go) s1_valid_q <= 1'b0;
      if (adv) begin
        s2_emit_q  <= s1_go && s1_emit_q;
        s3_valid_q <= s2_emit_q;
        s4_valid_q <= s3_valid_q;
        s5_valid_q <= s4_valid_q;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (s0_go) begin
      s1_emit_q  <= emit_i;
      s1_block_q <= block_i;
      s1_x_q     <= x;
      s1_pix_q   <= pix_i;
      for (int k = 0; k < 3; k++) s1_on_q[3*k +: 3] <= row_on_i[k] ? col_on_i : 3'd0;
    end
    if (s1_go) s2_on_q <= s1_on_q;
  end

  // Tap t = 3*ky + kx of lane c is element N*t + c.
  logic signed [8:0]  win  [9*N];   // pixel minus zero point
  logic signed [8:0]  wgt  [9*N];   // weight minus zero point
  logic signed [16:0] prod [9*N];   // both within +-255
  logic signed [18:0] part [3*N];
  logic signed [20:0] sum;

  /* verilator lint_off BLKSEQ */  // this block owns the arrays
  always @(posedge clk_i) begin
    if (adv && s4_valid_q) begin
      for (int c = 0; c < N; c++) begin
        sum = 21'(part[c]) + 21'(part[N + c]) + 21'(part[2*N + c]);
        row_o[48*c +: 48] <= 48'(sum);
      end
    end
    if (adv && s3_valid_q) begin
      for (int k = 0; k < 3; k++) begin
        for (int c = 0; c < N; c++) begin
          part[N*k + c] = 19'(prod[3*N*k + c]) + 19'(prod[3*N*k + N + c]) + 19'(prod[3*N*k + 2*N + c]);
        end
      end
    end
    if (adv && s2_emit_q) begin
      for (int k = 0; k < 9; k++) begin
        if (s2_on_q[k]) begin
          for (int c = 0; c < N; c++) prod[N*k + c] = 17'(win[N*k + c]) * 17'(wgt[N*k + c]);
        end else begin
          for (int c = 0; c < N; c++) prod[N*k + c] = '0;
        end
      end
    end
    if (s1_go) begin
      for (int c = 0; c < N; c++) begin
        for (int k = 0; k < 3; k++) begin
          win[3*N*k + c]     = win[3*N*k + N + c];
          win[3*N*k + N + c] = win[3*N*k + 2*N + c];
        end
        win[2*N + c] = 9'($signed(above2[8*c +: 8])) - 9'($signed(x_zp_i));
        win[5*N + c] = 9'($signed(above1[8*c +: 8])) - 9'($signed(x_zp_i));
        win[8*N + c] = 9'($signed(s1_pix_q[8*c +: 8])) - 9'($signed(x_zp_i));
      end
      if (s1_block_q) begin
        for (int i = 0; i < 9*N; i++) wgt[i] = $signed(wts_i[9*i +: 9]);
      end
    end
  end
  /* verilator lint_on BLKSEQ */

`ifdef WEFT_ASSERT
  logic                          held_q;
  logic [48*weft_cfg_pkg::N-1:0] row_held_q;
  always_ff @(posedge clk_i) begin
    held_q     <= !flush_i && row_valid_o && !row_ready_i;
    row_held_q <= row_o;
    if (held_q && !flush_i) assert (row_valid_o && row_o == row_held_q);
  end
`endif

endmodule

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
// float8 (fp_i) sums its taps one after the other, because infinities and sums out
// of range depend on the order: a chain of five links, two taps each, that take
// two cycles. A wanted window takes two cycles, and begins in an even one; a row
// leaves twelve cycles after its pixel.
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
  // Stable while pixels are in flight:
  input  logic       int16_i,   // else bytes, in the low half of the pixel
  input  logic       fp_i,
  input  logic [1:0] x_fmt_i,
  input  logic [1:0] w_fmt_i,
  input  logic [5:0] log2_scale_i,

  input  logic                         pix_valid_i,
  output logic                         pix_ready_o,
  input  logic [16*weft_cfg_pkg::N-1:0] pix_i,
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
  output logic [48*weft_cfg_pkg::N-1:0] row_o,
  output logic [2*weft_cfg_pkg::N-1:0]  row_state_o
);

  localparam int N        = weft_cfg_pkg::N;
  localparam int LineBits = $clog2(weft_cfg_pkg::DW_LINE);

  // Stage 1: pixel beside the two above it, on their way out of the line buffers.
  logic                s1_valid_q, s1_emit_q, s1_block_q;
  logic [8:0]          s1_on_q, s2_on_q;     // taps that are not padding
  logic [LineBits-1:0] s1_x_q, x;
  logic [16*N-1:0]     s1_pix_q;
  // Stage 2: windows. 3: products. 4: sums of three. 5: row_o.
  logic                s2_emit_q, s3_valid_q, s4_valid_q, s5_valid_q;

  logic adv, s1_go, s0_go;

  logic       fp, hold;
  logic       odd_q;             // float8: second cycle of the links
  logic       begun_q;           // link 0 has added a tap of the window in stage 2
  logic [4:1] link_q;            // the others that are in use

  assign fp          = weft_cfg_pkg::HAS_FP8 && fp_i;
  assign hold        = fp && s2_emit_q && !(odd_q && begun_q);
  assign adv         = !s5_valid_q || row_ready_i;
  assign s1_go       = s1_valid_q && adv && !hold && (!s1_block_q || wts_valid_i);
  assign pix_ready_o = !s1_valid_q || s1_go;
  assign s0_go       = pix_valid_i && pix_ready_o;
  assign wts_take_o  = s1_go && s1_block_q;
  assign row_valid_o = s5_valid_q;
  assign x           = row_i ? '0 : s1_x_q + LineBits'(1);

  // The row above and the one above that; shifted down as the pixel goes by.
  // Each is a pair of memories: pixels of bytes alternate between them, pixels
  // of int16 take both.
  localparam int Half = weft_cfg_pkg::DW_LINE / 2;
  logic [LineBits-2:0] x_row, s1_x_row;
  logic [1:0]          re, we;
  logic [16*N-1:0]     out1, out2, above1, above2, s1_both;

  assign x_row    = int16_i ? x[LineBits-2:0] : x[LineBits-1:1];
  assign s1_x_row = int16_i ? s1_x_q[LineBits-2:0] : s1_x_q[LineBits-1:1];
  assign re       = {s0_go && (int16_i || x[0]), s0_go && (int16_i || !x[0])};
  assign we       = {s1_go && (int16_i || s1_x_q[0]), s1_go && (int16_i || !s1_x_q[0])};
  assign above1   = !int16_i && s1_x_q[0] ? {out1[16*N-1:8*N], out1[16*N-1:8*N]} : out1;
  assign above2   = !int16_i && s1_x_q[0] ? {out2[16*N-1:8*N], out2[16*N-1:8*N]} : out2;
  assign s1_both  = int16_i ? s1_pix_q : {s1_pix_q[8*N-1:0], s1_pix_q[8*N-1:0]};

  for (genvar h = 0; h < 2; h++) begin : g_line
    weft_vec_line #(.Bits(8*N), .Depth(Half)) u_line1 (
      .clk_i(clk_i), .re_i(re[h]), .raddr_i(x_row), .rdata_o(out1[8*N*h +: 8*N]),
      .we_i(we[h]), .waddr_i(s1_x_row), .wdata_i(s1_both[8*N*h +: 8*N]));

    weft_vec_line #(.Bits(8*N), .Depth(Half)) u_line2 (
      .clk_i(clk_i), .re_i(re[h]), .raddr_i(x_row), .rdata_o(out2[8*N*h +: 8*N]),
      .we_i(we[h]), .waddr_i(s1_x_row), .wdata_i(h == 1 && !int16_i ? above1[8*N-1:0] : above1[8*N*h +: 8*N]));
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      s1_valid_q <= 1'b0;
      s2_emit_q  <= 1'b0;
      s3_valid_q <= 1'b0;
      s4_valid_q <= 1'b0;
      s5_valid_q <= 1'b0;
      odd_q      <= 1'b0;
      begun_q    <= 1'b0;
      link_q     <= '0;
    end else if (flush_i) begin
      s1_valid_q <= 1'b0;
      s2_emit_q  <= 1'b0;
      s3_valid_q <= 1'b0;
      s4_valid_q <= 1'b0;
      s5_valid_q <= 1'b0;
      odd_q      <= 1'b0;
      begun_q    <= 1'b0;
      link_q     <= '0;
    end else begin
      if (s0_go) s1_valid_q <= 1'b1;
      else if (s1_go) s1_valid_q <= 1'b0;
      if (fp && adv) begin
        odd_q   <= !odd_q && (s2_emit_q || link_q != '0);
        begun_q <= !odd_q && s2_emit_q;
        if (odd_q) link_q <= {link_q[3:1], begun_q};
      end
      if (adv) begin
        if (!hold) s2_emit_q <= s1_go && s1_emit_q;
        s3_valid_q <= s2_emit_q && !fp;
        s4_valid_q <= s3_valid_q;
        s5_valid_q <= s4_valid_q || (odd_q && link_q[4]);
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
  logic signed [15:0] win  [9*N];   // pixel minus zero point
  logic signed [8:0]  wgt  [9*N];   // weight minus zero point, within +-255
  logic signed [24:0] prod [9*N];
  logic signed [26:0] part [3*N];
  logic signed [28:0] sum;
  // float8: link k of lane c is element N*k + c.
  logic [18:0]        fprod [5*N];    // the product of the tap before
  logic [49:0]        fsum  [5*N];    // and the sum of those before that
  logic [8:0]         fx    [4][9*N]; // behind link k: taps to come, bit 8: no product
  logic [7:0]         fw    [4][9*N];
  logic [8:0]         x_now;
  logic [7:0]         w_now;

  /* verilator lint_off BLKSEQ */  // this block owns the arrays
  always @(posedge clk_i) begin
    if (adv && s4_valid_q) begin
      for (int c = 0; c < N; c++) begin
        sum = 29'(part[c]) + 29'(part[N + c]) + 29'(part[2*N + c]);
        row_o[48*c +: 48] <= 48'(sum);
      end
    end
    if (weft_cfg_pkg::HAS_FP8 && fp_i && adv && (s2_emit_q || link_q != '0)) begin
      // Link k adds tap 2k-1, then tap 2k, and multiplies one tap ahead.
      for (int i = 0; i < 5*N; i++) begin
        fsum[i] = i < N && !odd_q ? 50'd0 : weft_float_pkg::accumulate(fsum[i], fprod[i]);
      end
      for (int k = 0; k < 5; k++) begin
        for (int c = 0; c < N; c++) begin
          if (k == 0) begin
            x_now = odd_q ? {!s2_on_q[1], win[N + c][7:0]} : {!s2_on_q[0], win[c][7:0]};
            w_now = odd_q ? wgt[N + c][7:0] : wgt[c][7:0];
          end else if (k == 4) begin
            x_now = fx[3][8*N + c];
            w_now = fw[3][8*N + c];
          end else begin
            x_now = odd_q ? fx[k-1][N*(2*k + 1) + c] : fx[k-1][2*N*k + c];
            w_now = odd_q ? fw[k-1][N*(2*k + 1) + c] : fw[k-1][2*N*k + c];
          end
          fprod[N*k + c] = weft_float_pkg::product(weft_float_pkg::operand(x_now[7:0], x_fmt_i),
                                                   weft_float_pkg::weight(w_now, w_fmt_i), log2_scale_i);
          if (x_now[8]) fprod[N*k + c] = '0;
        end
      end
      if (odd_q) begin
        for (int c = 0; c < N; c++) begin
          row_o[48*c +: 48] <= fsum[4*N + c][47:0];
          row_state_o[2*c +: 2] <= fsum[4*N + c][49:48];
        end
        // The windows move on by a link.
        for (int i = 5*N - 1; i >= N; i--) begin
          fsum[i] = fsum[i - N];
          fprod[i] = fprod[i - N];
        end
        for (int k = 3; k > 0; k--) begin
          for (int i = 2*N*(k + 1); i < 9*N; i++) begin
            fx[k][i] = fx[k-1][i];
            fw[k][i] = fw[k-1][i];
          end
        end
        for (int i = 2*N; i < 9*N; i++) begin
          fx[0][i] = {!s2_on_q[i / N], win[i][7:0]};
          fw[0][i] = wgt[i][7:0];
        end
      end
    end
    if (adv && s3_valid_q) begin
      for (int k = 0; k < 3; k++) begin
        for (int c = 0; c < N; c++) begin
          part[N*k + c] = 27'(prod[3*N*k + c]) + 27'(prod[3*N*k + N + c]) + 27'(prod[3*N*k + 2*N + c]);
        end
      end
    end
    if (adv && s2_emit_q) begin
      for (int k = 0; k < 9; k++) begin
        if (s2_on_q[k]) begin
          for (int c = 0; c < N; c++) prod[N*k + c] = 25'(win[N*k + c]) * 25'(wgt[N*k + c]);
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
      end
      if (int16_i) begin
        for (int c = 0; c < N; c++) begin
          win[2*N + c] = $signed(above2[16*c +: 16]);
          win[5*N + c] = $signed(above1[16*c +: 16]);
          win[8*N + c] = $signed(s1_pix_q[16*c +: 16]);
        end
      end else begin
        for (int c = 0; c < N; c++) begin
          win[2*N + c] = 16'($signed(above2[8*c +: 8])) - 16'($signed(x_zp_i));
          win[5*N + c] = 16'($signed(above1[8*c +: 8])) - 16'($signed(x_zp_i));
          win[8*N + c] = 16'($signed(s1_pix_q[8*c +: 8])) - 16'($signed(x_zp_i));
        end
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

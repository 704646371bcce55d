// SPDX-License-Identifier: Apache-2.0
//
// Depthwise: the pixel stream of weft_vec_scan (N channels a pixel) becomes
// a stream of rows of N sums.
//
// One pixel a cycle. A row leaves five cycles after the pixel that completes
// its window. row_i: first pixel of a row; emit_i: the window that ends here is
// wanted, of it the taps in on_i; block_i: it is
// the first such of a block. That pixel enters the window only when the block's
// weights are there (wts_valid_i), and takes them. A row that is not taken
// stops everything.
//
// float8 (fp_i) sums its taps one after the other, because infinities and sums out
// of range depend on the order: a chain of five links, two taps each, that take
// two cycles. A wanted window takes two cycles, and begins in an even one; a row
// leaves twelve cycles after its pixel. At w8, where area counts, it is one link,
// and a wanted window takes ten cycles.
//
// by_row_i: a window is one row of nine pixels; its sum is added to the one that the
// window at the same place of the pass before (first_i: none) has left, and becomes a row
// only with last_i. block_i is then the first window of each pass.
//
// two_i: a pass serves two output rows, a and b, of a kernel of at most five columns. Taps 0 to 4 multiply the window's first five
// pixels by the kernel row of a. Taps 5 to 9 multiply the same pixels by the kernel row of b, whose columns 1, 0, 3, 2 and 4 they
// have in this order. Each window has two sums. A pass is the last one of a (last_i), or of b (b_last_i), or of neither.
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
  input  logic       by_row_i,
  input  logic       int16_i,   // else bytes, in the low half of the pixel
  input  logic       fp_i,
  input  logic [1:0] x_fmt_i,
  input  logic [1:0] w_fmt_i,
  input  logic [5:0] log2_scale_i,

  input  logic                    pix_valid_i,
  output logic                    pix_ready_o,
  input  weft_cfg_pkg::row_half_t pix_i,
  input  logic                    row_i,
  input  logic                    emit_i,
  input  logic                    block_i,
  input  logic [9:0]              on_i,  // tap 3*ky + kx, with by_row_i kx
  input  logic                    first_i,
  input  logic                    last_i,
  input  logic                    two_i,     // only with by_row_i
  input  logic                    b_first_i,
  input  logic                    b_last_i,

  input  logic                          wts_valid_i,
  output logic                          wts_take_o,
  input  logic [90*weft_cfg_pkg::N-1:0] wts_i,  // that of tap 9 counts with two_i only

  output logic                     row_valid_o,
  input  logic                     row_ready_i,
  output weft_cfg_pkg::row_acc_t   row_o,
  output weft_cfg_pkg::row_state_t row_state_o
);

  localparam int N        = weft_cfg_pkg::N;
  localparam int LineBits = $clog2(weft_cfg_pkg::DW_LINE);

  // Stage 1: pixel beside the two above it, on their way out of the line buffers.
  logic                    s1_valid_q, s1_emit_q, s1_block_q;
  logic [9:0]              s1_on_q, s2_on_q;  // taps that are not padding
  logic [LineBits-1:0]     s1_x_q, x;
  weft_cfg_pkg::row_half_t s1_pix_q;
  // Stage 2: windows. 3: products. 4: sums of three. 5: row_o.
  logic                s2_emit_q, s3_valid_q, s4_valid_q, s5_valid_q;

  // by_row_i: of the window, first and last pass, and its place in the row.
  logic                s1_first_q, s1_last_q, s2_first_q, s2_last_q, s3_first_q, s3_last_q, s4_first_q, s4_last_q;
  logic                s1_b_first_q, s1_b_last_q, s2_b_first_q, s2_b_last_q, s3_b_first_q, s3_b_last_q, s4_b_first_q, s4_b_last_q;
  logic [LineBits-2:0] s2_x_q, s3_x_q, s4_x_q, s5_x_q;
  logic                s5_keep_q;            // row_o is a sum to be kept

  logic adv, s1_go, s0_go, by_row, two;
  assign by_row = weft_cfg_pkg::HAS_DWK && by_row_i;
  assign two    = by_row && weft_cfg_pkg::DW_ROWS == 2 && two_i;

  logic       fp, hold;
  localparam int Links = N <= 8 ? 1 : 5;
  localparam int Each  = 10 / Links;   // cycles of a link: a tap each, and one to add the last
  localparam int Second = Links > 1 ? 1 : 0;
  logic [3:0]       turn_q;      // of those
  logic             begun_q;     // link 0 has the window in stage 2
  logic [Links-1:0] link_q;      // links in use, but link 0 by begun_q
  logic             turn_end;

  assign fp          = weft_cfg_pkg::HAS_FP8 && fp_i;
  assign turn_end    = turn_q == 4'(Each - 1);
  assign hold        = fp && s2_emit_q && !(turn_end && begun_q);
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
  logic [LineBits-2:0]     x_row, s1_x_row;
  logic [1:0]              re, we;
  weft_cfg_pkg::row_half_t out1, out2, above1, above2, s1_both;

  assign x_row    = int16_i ? x[LineBits-2:0] : x[LineBits-1:1];
  assign s1_x_row = int16_i ? s1_x_q[LineBits-2:0] : s1_x_q[LineBits-1:1];
  assign re       = {s0_go && !by_row && (int16_i || x[0]), s0_go && !by_row && (int16_i || !x[0])};
  assign we       = {s1_go && !by_row && (int16_i || s1_x_q[0]), s1_go && !by_row && (int16_i || !s1_x_q[0])};
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

  // The sums of a row: of 135 products of 9 by 9 or of 16 by 9 bits.
  localparam int SumBits = weft_cfg_pkg::HAS_INT16 ? 32 : 25;
  logic [SumBits*N-1:0] sums, b_sums;
  logic [SumBits*N-1:0] b_keep_q;        // sums of b that are to be kept

  if (weft_cfg_pkg::HAS_DWK) begin : g_sums
    logic [SumBits*N-1:0] keep;
    for (genvar c = 0; c < N; c++) begin : g_lane
      assign keep[SumBits*c +: SumBits] = row_o[48*c +: SumBits];
    end

    weft_vec_line #(.Bits(SumBits*N), .Depth(Half)) u_sums (
      .clk_i(clk_i), .re_i(by_row && adv && s3_valid_q && !s3_first_q), .raddr_i(s3_x_q), .rdata_o(sums),
      .we_i(s5_keep_q), .waddr_i(s5_x_q), .wdata_i(keep));
  end else begin : g_no_sums
    assign sums = '0;
  end

  if (weft_cfg_pkg::DW_ROWS == 2) begin : g_b_sums
    weft_vec_line #(.Bits(SumBits*N), .Depth(Half)) u_b_sums (
      .clk_i(clk_i), .re_i(two && adv && s3_valid_q && !s3_b_first_q), .raddr_i(s3_x_q), .rdata_o(b_sums),
      .we_i(two && s5_keep_q), .waddr_i(s5_x_q), .wdata_i(b_keep_q));
  end else begin : g_no_b_sums
    logic unused_keep;
    assign unused_keep = ^b_keep_q;
    assign b_sums      = '0;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      s1_valid_q <= 1'b0;
      s2_emit_q  <= 1'b0;
      s3_valid_q <= 1'b0;
      s4_valid_q <= 1'b0;
      s5_valid_q <= 1'b0;
      s5_keep_q  <= 1'b0;
      turn_q     <= '0;
      begun_q    <= 1'b0;
      link_q     <= '0;
    end else if (flush_i) begin
      s1_valid_q <= 1'b0;
      s2_emit_q  <= 1'b0;
      s3_valid_q <= 1'b0;
      s4_valid_q <= 1'b0;
      s5_valid_q <= 1'b0;
      s5_keep_q  <= 1'b0;
      turn_q     <= '0;
      begun_q    <= 1'b0;
      link_q     <= '0;
    end else begin
      if (s0_go) s1_valid_q <= 1'b1;
      else if (s1_go) s1_valid_q <= 1'b0;
      if (fp && adv) begin
        turn_q  <= turn_end || !(s2_emit_q || link_q != '0) ? 4'd0 : turn_q + 4'd1;
        begun_q <= !turn_end && (begun_q || (turn_q == 4'd0 && s2_emit_q));
        if (turn_end) link_q <= (link_q | Links'(begun_q)) << 1;
      end
      if (adv) begin
        if (!hold) s2_emit_q <= s1_go && s1_emit_q;
        s3_valid_q <= s2_emit_q && !fp;
        s4_valid_q <= s3_valid_q;
        s5_keep_q  <= s4_valid_q && by_row && (two ? !s4_b_last_q : !s4_last_q);
        s5_valid_q <= (s4_valid_q && (!by_row || s4_last_q || (two && s4_b_last_q))) || (turn_end && (Links == 1 ? begun_q : link_q[Links-1]));
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (s0_go) begin
      s1_emit_q  <= emit_i;
      s1_block_q <= block_i;
      s1_x_q     <= x;
      s1_pix_q   <= pix_i;
      s1_on_q    <= on_i;
      s1_first_q <= first_i;
      s1_last_q  <= last_i;
      if (two) begin
        s1_b_first_q <= b_first_i;
        s1_b_last_q  <= b_last_i;
      end
    end
    if (s1_go) s2_on_q <= s1_on_q;
    if (by_row && s1_go && s1_emit_q) begin
      s2_first_q <= s1_first_q;
      s2_last_q  <= s1_last_q;
      s2_x_q     <= s1_block_q ? '0 : s2_x_q + 1'b1;
      if (two) begin
        s2_b_first_q <= s1_b_first_q;
        s2_b_last_q  <= s1_b_last_q;
      end
    end
    if (by_row && adv) begin
      s3_first_q <= s2_first_q;
      s3_last_q  <= s2_last_q;
      s3_x_q     <= s2_x_q;
      s4_first_q <= s3_first_q;
      s4_last_q  <= s3_last_q;
      s4_x_q     <= s3_x_q;
      s5_x_q     <= s4_x_q;
    end
    if (two && adv) begin
      s3_b_first_q <= s2_b_first_q;
      s3_b_last_q  <= s2_b_last_q;
      s4_b_first_q <= s3_b_first_q;
      s4_b_last_q  <= s3_b_last_q;
    end
  end

  // Products without a multiplier block: at w8 the others, with 101 elsewhere in NPU and
  // chip, are the 156 that an LFE5U-85F has; at w4, with 37, they are 69 of an LFE5U-45F's 72.
  localparam int Fabric = N < 8 ? 4 : N == 8 ? 17 : 0;

  // Pixels minus their zero point, products, sums of three and of nine of them.
  localparam int WinBits  = weft_cfg_pkg::HAS_INT16 ? 16 : 9;
  localparam int ProdBits = WinBits + 9;
  localparam int PartBits = WinBits + 11;
  localparam int NineBits = WinBits + 13;

  // Tap t (3*ky + kx, by_row kx) of lane c is element N*t + c. The arrays have a power of two of
  // places, of which the last are not used: simulators need not look at indices then.
  /* verilator lint_off UNUSEDSIGNAL */
  /* verilator lint_off UNDRIVEN */
  logic signed [WinBits-1:0]  win  [16*N];  // pixel minus zero point
  logic signed [8:0]          wgt  [16*N];  // weight minus zero point, within +-255
  logic signed [ProdBits-1:0] prod [16*N];
  logic signed [PartBits-1:0] part [4*N];
  /* verilator lint_on UNDRIVEN */
  /* verilator lint_on UNUSEDSIGNAL */
  logic signed [NineBits-1:0] sum;
  logic signed [31:0] total, b_total;
  logic signed [WinBits-1:0] seen;          // the pixel that a tap multiplies
  // float8: link k of lane c is element N*k + c.
  logic [18:0]        fprod [Links*N];      // the product of the tap before
  logic [49:0]        fsum  [Links*N];      // and the sum of those before that
  logic [8:0]         fx    [Links][9*N];   // of link k: taps to come, bit 8: no product
  logic [7:0]         fw    [Links][9*N];
  logic [8:0]         x_now [Links*N];
  logic [7:0]         w_now [Links*N];

  /* verilator lint_off BLKSEQ */  // this block owns the arrays
  always @(posedge clk_i) begin
    if (adv && s4_valid_q) begin
      for (int c = 0; c < N; c++) begin
        sum = NineBits'(part[c]) + NineBits'(part[N + c]) + NineBits'(part[2*N + c]);
        row_o[48*c +: 48] <= 48'(sum);
      end
      if (by_row && !two && !s4_first_q) begin
        for (int c = 0; c < N; c++) begin
          sum   = NineBits'(part[c]) + NineBits'(part[N + c]) + NineBits'(part[2*N + c]);
          total = 32'(sum) + 32'($signed(sums[SumBits*c +: SumBits]));
          row_o[48*c +: 48] <= 48'(total);
        end
      end
      if (two) begin
        for (int c = 0; c < N; c++) begin
          sum     = NineBits'(part[c]) + NineBits'(part[N + c]);
          total   = 32'(sum);
          sum     = NineBits'(part[2*N + c]) + NineBits'(part[3*N + c]);
          b_total = 32'(sum);
          if (!s4_first_q) total = total + 32'($signed(sums[SumBits*c +: SumBits]));
          if (!s4_b_first_q) b_total = b_total + 32'($signed(b_sums[SumBits*c +: SumBits]));
          if (s4_b_last_q) total = b_total;
          row_o[48*c +: 48] <= 48'(total);
          b_keep_q[SumBits*c +: SumBits] <= b_total[SumBits-1:0];
        end
      end
    end
    if (weft_cfg_pkg::HAS_FP8 && fp_i && adv && (s2_emit_q || link_q != '0)) begin
      // Link k adds the last tap of the link before, then its own, and multiplies one
      // tap ahead. Link 0's taps are the window.
      for (int i = 0; i < Links*N; i++) begin
        fsum[i] = i < N && turn_q == 4'd0 ? 50'd0 : weft_float_pkg::accumulate(fsum[i], fprod[i]);
      end
      for (int k = 0; k < Links; k++) begin
        for (int j = 0; j < Each && Each*k + j < 9; j++) begin
          if (turn_q == 4'(j)) begin
            for (int c = 0; c < N; c++) begin
              x_now[N*k + c] = k == 0 ? {!s2_on_q[j], win[N*j + c][7:0]} : fx[k][N*(Each*k + j) + c];
              w_now[N*k + c] = k == 0 ? wgt[N*j + c][7:0] : fw[k][N*(Each*k + j) + c];
            end
          end
        end
      end
      for (int i = 0; i < Links*N; i++) begin
        fprod[i] = weft_float_pkg::product(weft_float_pkg::operand(x_now[i][7:0], x_fmt_i),
                                           weft_float_pkg::weight(w_now[i], w_fmt_i), log2_scale_i);
        if (x_now[i][8]) fprod[i] = '0;
      end
      if (turn_end) begin
        for (int c = 0; c < N; c++) begin
          row_o[48*c +: 48] <= fsum[(Links - 1)*N + c][47:0];
          row_state_o[2*c +: 2] <= fsum[(Links - 1)*N + c][49:48];
        end
        // The windows move on by a link.
        for (int i = Links*N - 1; i >= N; i--) begin
          fsum[i] = fsum[i - N];
          fprod[i] = fprod[i - N];
        end
        for (int k = Links - 1; k > 1; k--) begin
          for (int i = Each*N*k; i < 9*N; i++) begin
            fx[k][i] = fx[k-1][i];
            fw[k][i] = fw[k-1][i];
          end
        end
        if (Links > 1) begin
          for (int i = Each*N; i < 9*N; i++) begin
            fx[Second][i] = {!s2_on_q[i / N], win[i][7:0]};
            fw[Second][i] = wgt[i][7:0];
          end
        end
      end
    end
    if (adv && s3_valid_q) begin
      for (int k = 0; k < 3; k++) begin
        for (int c = 0; c < N; c++) begin
          part[N*k + c] = PartBits'(prod[3*N*k + c]) + PartBits'(prod[3*N*k + N + c]) + PartBits'(prod[3*N*k + 2*N + c]);
        end
      end
      if (two) begin
        for (int c = 0; c < N; c++) begin
          part[N + c]   = PartBits'(prod[3*N + c]) + PartBits'(prod[4*N + c]);
          part[3*N + c] = PartBits'(prod[5*N + c]) + PartBits'(prod[9*N + c]);
        end
      end
    end
    if (adv && s2_emit_q) begin
      for (int k = 0; k < 9; k++) begin
        if (s2_on_q[k]) begin
          for (int c = 0; c < N; c++) begin
            seen = win[N*k + c];
            if (two && k > 4) seen = win[N*((k - 5) ^ 1) + c];
            if (N*k + c < Fabric) prod[N*k + c] = ProdBits'(seen) * (* fabric *) ProdBits'(wgt[N*k + c]);
            else prod[N*k + c] = ProdBits'(seen) * ProdBits'(wgt[N*k + c]);
          end
        end else begin
          for (int c = 0; c < N; c++) prod[N*k + c] = '0;
        end
      end
      if (two) begin
        for (int c = 0; c < N; c++) begin
          prod[9*N + c] = ProdBits'(win[4*N + c]) * ProdBits'(wgt[9*N + c]);
          if (!s2_on_q[9]) prod[9*N + c] = '0;
        end
      end
    end
    if (s1_go) begin
      if (by_row) begin
        for (int i = 0; i < 8*N; i++) win[i] = win[N + i];
        if (int16_i) begin
          for (int c = 0; c < N; c++) win[8*N + c] = WinBits'($signed(s1_pix_q[16*c +: 16]));
        end else begin
          for (int c = 0; c < N; c++) win[8*N + c] = WinBits'($signed(s1_pix_q[8*c +: 8])) - WinBits'($signed(x_zp_i));
        end
      end else begin
        for (int c = 0; c < N; c++) begin
          for (int k = 0; k < 3; k++) begin
            win[3*N*k + c]     = win[3*N*k + N + c];
            win[3*N*k + N + c] = win[3*N*k + 2*N + c];
          end
        end
        if (int16_i) begin
          for (int c = 0; c < N; c++) begin
            win[2*N + c] = WinBits'($signed(above2[16*c +: 16]));
            win[5*N + c] = WinBits'($signed(above1[16*c +: 16]));
            win[8*N + c] = WinBits'($signed(s1_pix_q[16*c +: 16]));
          end
        end else begin
          for (int c = 0; c < N; c++) begin
            win[2*N + c] = WinBits'($signed(above2[8*c +: 8])) - WinBits'($signed(x_zp_i));
            win[5*N + c] = WinBits'($signed(above1[8*c +: 8])) - WinBits'($signed(x_zp_i));
            win[8*N + c] = WinBits'($signed(s1_pix_q[8*c +: 8])) - WinBits'($signed(x_zp_i));
          end
        end
      end
      if (s1_block_q) begin
        for (int i = 0; i < 9*N; i++) wgt[i] = $signed(wts_i[9*i +: 9]);
        if (weft_cfg_pkg::DW_ROWS == 2) begin
          for (int i = 9*N; i < 10*N; i++) wgt[i] = $signed(wts_i[9*i +: 9]);
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
  end
`endif

endmodule

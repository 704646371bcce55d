// SPDX-License-Identifier: Apache-2.0
//
// The pixel stream of a depthwise command: input addresses in raster order per
// block of N channels, one a cycle, and which windows are wanted when.
//
// A window ends at virtual (padded) pixel (oy*stride_y + 2, ox*stride_x + 2).
// The first two virtual rows and columns end no window. So up to two rows and
// two columns of padding, the upper and left ones first, are left out of the
// stream: what ends in a missing column ends where the next row's first pixel
// comes by instead, what ends in a missing row ends while the next block
// comes by. on_o says which taps of the wanted window are not padding; the
// others hold anything.
//
// With n_ky_i, a kernel of n_ky_i by n_kx_i, the stream is not that of the input
// but of passes, the rows of windows: per output row its kernel rows that exist
// (weft_vec_rows), the same columns of padding left out. A window is one row then and
// ends at the ninth pixel from its first, some pixels behind its last. first_o, last_o:
// the pass is the first, the last of its output row. With two_i a pass serves two output rows. Then bits 5 to 9 of on_o are for the
// second one, in the order that weft_vec_dw states, and b_first_o and b_last_o say of it what first_o and last_o say of the first.
//
// Behind start_i ready_o is low for six cycles. When it rises, wide_o says that
// a virtual row exceeds the line buffer, and nothing follows; else the first
// pixel is valid in the cycle after, one a cycle follows, and valid_o falls
// behind the last wanted window. skip_o: not read (padding; between windows of strides
// above 3; behind the last block). row_o: first pixel of a row. emit_o: a
// window ends here; block_o: it is the first such of a block, with n_ky_i of a pass.
//
// The command's fields are stable from start_i until the last pixel.
module weft_vec_scan (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic flush_i,
  input  logic start_i,

  input  weft_cfg_pkg::sp_addr_t base_i,      // row 0, column 0, channel 0
  input  weft_cfg_pkg::sp_addr_t x_step_i,
  input  weft_cfg_pkg::sp_addr_t y_step_i,
  input  logic [15:0]            in_h_i,
  input  logic [15:0]            in_w_i,
  input  logic [15:0]            iy_start_i,  // signed
  input  logic [15:0]            ix_start_i,  // signed
  input  logic [15:0]            ow_i,
  input  logic [15:0]            oh_i,
  input  logic [15:0]            oc_i,
  input  logic                   int16_i,     // channels are two bytes apart, else one
  input  logic [3:0]             stride_x_i,
  input  logic [3:0]             stride_y_i,
  input  logic [3:0]             n_ky_i,
  input  logic [3:0]             n_kx_i,
  input  logic                   two_i,

  output logic                   ready_o,
  output logic                   wide_o,
  output logic                   valid_o,
  input  logic                   ready_i,
  output weft_cfg_pkg::sp_addr_t addr_o,
  output logic [6:0]             lanes_o,
  output logic                   skip_o,
  output logic                   row_o,
  output logic                   emit_o,
  output logic                   block_o,
  output logic [9:0]             on_o,  // tap 3*ky + kx, with n_ky_i kx
  output logic                   first_o,
  output logic                   last_o,
  output logic                   b_first_o,
  output logic                   b_last_o
);

  localparam int unsigned N      = weft_cfg_pkg::N;
  localparam int unsigned AddrW  = weft_cfg_pkg::SP_ADDR_BITS;
  localparam int unsigned DwLine = weft_cfg_pkg::DW_LINE;

  // How many of at most max rows (columns) of padding to leave out.
  function automatic logic [3:0] leave_out(input logic signed [21:0] padding, input logic [3:0] max);
    leave_out = padding <= 22'sd0 ? 4'd0 : padding >= $signed({18'd0, max}) ? max : padding[3:0];
  endfunction

  logic       by_row;                 // not 3x3
  logic [3:0] kx;
  assign by_row = weft_cfg_pkg::HAS_DWK && n_ky_i != '0;
  assign kx     = by_row ? n_kx_i : 4'd3;

  // ---- plan: six products, one a cycle --------------------------------------------

  typedef enum logic [2:0] {Idle, BaseY, BaseX, SpanX, SpanY, GapRow, GapBlock, Begin} state_e;
  state_e state_q;

  logic [3:0]             cut_l_q;             // left
  logic [1:0]             cut_t_q, cut_y_q;    // top, top and bottom
  weft_cfg_pkg::sp_addr_t base_q;              // first pixel of the stream
  weft_cfg_pkg::sp_addr_t span_x_q, span_y_q;  // (ow - 1) * stride_x; at most 15 * 65534
  logic [8:0]             len_q;               // pixels of a row
  logic [20:0]            rows_q;              // rows of a block
  logic [12:0]            gap_row_q;           // pixels from the last window of a row to the next
  logic [9:0]             gap_block_q;         // the same between blocks
  logic [9:0]             gap_first_q;         // pixels before the first window's last

  weft_cfg_pkg::sp_addr_t mul_a, mul_b, mul_p;
  logic [1:0]             mul_hi;
  logic [3:0]             max_x, cut_l, cut_r;
  logic [1:0]             cut_t, cut_b;
  logic signed [21:0]     iy_start, ix_start, over_x, over_y;  // over: padding behind

  assign iy_start = 22'($signed(iy_start_i));
  assign ix_start = 22'($signed(ix_start_i));
  // A row of one pixel would meet itself in the line buffer; of less than three, in the sums.
  assign max_x    = by_row ? kx - (ow_i == 16'd1 ? 4'd3 : ow_i == 16'd2 ? 4'd2 : 4'd1) : ow_i == 16'd1 ? 4'd1 : 4'd2;
  assign cut_l    = leave_out(-ix_start, max_x);
  assign cut_t    = 2'(leave_out(-iy_start, 4'd2));
  assign over_x   = ix_start + $signed({2'd0, span_x_q}) + $signed({18'd0, kx}) - $signed({6'd0, in_w_i});
  assign over_y   = iy_start + $signed({2'd0, span_y_q}) + 22'sd3 - $signed({6'd0, in_h_i});
  assign cut_r    = leave_out(over_x, max_x - cut_l_q);
  assign cut_b    = 2'(leave_out(over_y, 4'd2 - {2'd0, cut_t_q}));

  // The pass that comes next, and where its first pixel lies.
  logic                   pass_next, pass_first, pass_last, pass_end, pass_on;
  logic                   pass_b_on, pass_b_first, pass_b_last;
  logic [20:0]            pass_row;
  weft_cfg_pkg::sp_addr_t ahead_q, line_next_q;  // ahead: row 0 in its block
  logic                   unused_pass;
  assign unused_pass = pass_row[20];

  if (weft_cfg_pkg::HAS_DWK) begin : g_rows
    logic [3:0] unused_ky, unused_b_ky;
    weft_vec_rows u_rows (
      .clk_i(clk_i), .start_i(start_i), .next_i(pass_next), .two_i(two_i), .n_ky_i(n_ky_i), .stride_y_i(stride_y_i),
      .iy_start_i(iy_start_i), .in_h_i(in_h_i), .oh_i(oh_i), .ky_o(unused_ky), .b_ky_o(unused_b_ky), .row_o(pass_row),
      .on_o(pass_on), .first_o(pass_first), .last_o(pass_last), .b_on_o(pass_b_on), .b_first_o(pass_b_first),
      .b_last_o(pass_b_last), .end_o(pass_end));
  end else begin : g_no_rows
    logic unused_two;
    assign unused_two = two_i;
    assign {pass_row, pass_on, pass_first, pass_last, pass_b_on, pass_b_first, pass_b_last, pass_end} = '0;
  end

  always_comb begin
    mul_a = pass_row[AddrW-1:0];
    mul_b = y_step_i;
    case (state_q)
      BaseY: mul_a = by_row ? '0 : {{4{iy_start_i[15]}}, iy_start_i} + {18'd0, cut_t_q};
      BaseX: begin
        mul_a = {{4{ix_start_i[15]}}, ix_start_i} + {16'd0, cut_l_q};
        mul_b = x_step_i;
      end
      SpanX: begin
        mul_a = {4'd0, ow_i} - 20'd1;
        mul_b = {16'd0, stride_x_i};
      end
      SpanY: begin
        mul_a = {4'd0, oh_i} - 20'd1;
        mul_b = {16'd0, stride_y_i};
      end
      GapRow: begin
        mul_a = {11'd0, len_q};
        mul_b = by_row ? 20'd1 : {16'd0, stride_y_i};
      end
      GapBlock: if (!by_row) begin
        mul_a = {11'd0, len_q};
        mul_b = 20'd3 - {18'd0, cut_y_q};
      end
      default: ;
    endcase
    // Modulo 2^20, of which one multiplier block of 18 x 18 bits does all but the
    // upper two bits of either factor.
    mul_hi = (mul_a[0] ? mul_b[19:18] : 2'd0) + (mul_a[1] ? {mul_b[18], 1'b0} : 2'd0)
             + (mul_b[0] ? mul_a[19:18] : 2'd0) + (mul_b[1] ? {mul_a[18], 1'b0} : 2'd0);
    mul_p  = AddrW'(mul_a[17:0]) * AddrW'(mul_b[17:0]) + {mul_hi, 18'd0};
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= Idle;
    else if (flush_i) state_q <= Idle;
    else if (start_i) state_q <= BaseY;
    else begin
      case (state_q)
        BaseY:    state_q <= BaseX;
        BaseX:    state_q <= SpanX;
        SpanX:    state_q <= SpanY;
        SpanY:    state_q <= GapRow;
        GapRow:   state_q <= GapBlock;
        GapBlock: state_q <= Begin;
        default:  state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      cut_t_q <= cut_t;
      cut_l_q <= cut_l;
    end
    case (state_q)
      BaseY: base_q <= base_i + mul_p;
      BaseX: base_q <= base_q + mul_p;
      SpanX: span_x_q <= mul_p;
      SpanY: begin
        span_y_q <= mul_p;
        len_q    <= span_x_q[8:0] + {5'd0, kx} - {5'd0, cut_l_q + cut_r};
        wide_o   <= span_x_q > (by_row ? AddrW'(DwLine/2 - 9) : int16_i ? AddrW'(DwLine/2 - 3) : AddrW'(DwLine - 3));
      end
      GapRow: begin
        gap_row_q <= mul_p[12:0] - {4'd0, span_x_q[8:0]};
        cut_y_q   <= cut_t_q + cut_b;
        rows_q    <= {1'b0, span_y_q} + 21'd3 - {19'd0, cut_t_q + cut_b};
      end
      GapBlock: begin
        gap_block_q <= mul_p[9:0] - {1'b0, span_x_q[8:0]};
        gap_first_q <= by_row ? 10'd8 - {6'd0, cut_l_q}
                              : (cut_t_q == 2'd0 ? {len_q, 1'b0} : cut_t_q == 2'd1 ? {1'b0, len_q} : 10'd0)
                                + 10'd2 - {6'd0, cut_l_q};
      end
      default: ;
    endcase
  end

  // ---- the stream -----------------------------------------------------------------

  logic                   run_q, tail_q;          // tail: behind the last block
  logic [15:0]            chans_q;                // channels left, this block included
  weft_cfg_pkg::sp_addr_t block_q, line_q, addr_q;
  logic [20:0]            iy_q, ix_q;             // signed; at most 2^15 + 15*2^16
  logic [8:0]             col_q;                  // pixels left in the row, this one included
  logic [20:0]            row_q;                  // rows left in the block
  logic [3:0]             left_y_q, left_x_q;     // rows and columns to the next window's end
  logic                   first_q;
  logic                   pass_on_q, pass_end_q;  // the pass at hand: it exists; it is the block's last

  logic                   begin_run, step, end_x, end_y, used;
  weft_cfg_pkg::sp_addr_t next_block;

  assign begin_run = state_q == Begin && !wide_o;
  assign step      = run_q && ready_i;
  assign next_block = block_q + (int16_i ? AddrW'(2*N) : AddrW'(N));
  assign end_x     = col_q == 9'd1;
  assign end_y     = by_row ? pass_end_q : row_q == 21'd1;
  assign used      = (by_row ? pass_on_q : iy_q < {5'd0, in_h_i} && left_y_q <= 4'd2)
                     && ix_q < {5'd0, in_w_i}     // as unsigned numbers: negative ones are large
                     && left_x_q < kx;
  assign pass_next = by_row && (begin_run || (step && end_x));

  always_ff @(posedge clk_i) begin
    if (begin_run || step) begin
      first_q <= begin_run || end_x;
      if (begin_run || end_x) begin
        col_q    <= len_q;
        left_x_q <= kx - 4'd1 - cut_l_q;
        ix_q     <= ix_start[20:0] + {17'd0, cut_l_q};
        if (begin_run || end_y) begin
          tail_q   <= !begin_run && (tail_q || chans_q <= 16'(N));
          chans_q  <= begin_run ? oc_i : chans_q - 16'(N);
          row_q    <= rows_q;
          left_y_q <= 4'd2 - {2'd0, cut_t_q};
          iy_q     <= iy_start[20:0] + {19'd0, cut_t_q};
          block_q  <= begin_run ? base_q : next_block;
          line_q   <= begin_run ? base_q : next_block;
          addr_q   <= begin_run ? base_q : next_block;
        end else begin
          row_q    <= row_q - 21'd1;
          left_y_q <= left_y_q == '0 ? stride_y_i - 4'd1 : left_y_q - 4'd1;
          iy_q     <= iy_q + 21'd1;
          line_q   <= line_q + y_step_i;
          addr_q   <= line_q + y_step_i;
        end
      end else begin
        col_q    <= col_q - 9'd1;
        left_x_q <= left_x_q == '0 ? stride_x_i - 4'd1 : left_x_q - 4'd1;
        ix_q     <= ix_q + 21'd1;
        addr_q   <= addr_q + x_step_i;
      end
      if (pass_next) addr_q <= line_next_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (by_row) begin
      line_next_q <= ahead_q + mul_p;   // of use from GapBlock on
      if (state_q == SpanX) ahead_q <= base_q;
      else if (pass_next && pass_end) ahead_q <= ahead_q + (int16_i ? AddrW'(2*N) : AddrW'(N));
    end
    if (pass_next) begin
      pass_on_q  <= pass_on || pass_b_on;
      pass_end_q <= pass_end;
    end
  end

  // ---- wanted windows -------------------------------------------------------------

  logic [12:0] gap_q;                   // pixels before the next window's last
  logic [15:0] e_chans_q, oy_q, ox_q;
  logic [20:0] wy_q, wx_q;              // its first row and column, signed
  logic        e_end_x, e_end_y, e_last;

  // What the passes under way are: with few columns the last windows of a pass end in
  // the third behind it.
  logic [6:0]  pass_q [4];
  logic [1:0]  in_q, out_q;             // the next pass of the stream; that of the windows
  logic        e_on, e_first, e_last_pass, e_b_on, e_block;
  assign {e_b_on, b_first_o, b_last_o, e_on, e_first, e_last_pass, e_block} = pass_q[out_q];

  always_ff @(posedge clk_i) begin
    if (pass_next) begin
      pass_q[begin_run ? 2'd0 : in_q] <= {pass_b_on, pass_b_first, pass_b_last, pass_on, pass_first, pass_last, pass_end};
      in_q <= begin_run ? 2'd1 : in_q + 2'd1;
    end
    if (begin_run) out_q <= '0;
    else if (by_row && step && emit_o && e_end_x) out_q <= out_q + 2'd1;
  end

  assign e_end_x = ox_q + 16'd1 == ow_i;
  assign e_end_y = by_row ? e_block : oy_q + 16'd1 == oh_i;
  assign e_last  = e_end_x && e_end_y && e_chans_q <= 16'(N);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) run_q <= 1'b0;
    else if (flush_i) run_q <= 1'b0;
    else if (begin_run) run_q <= 1'b1;
    else if (step && emit_o && e_last) run_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (begin_run) begin
      gap_q     <= {3'd0, gap_first_q};
      e_chans_q <= oc_i;
      oy_q      <= '0;
      ox_q      <= '0;
      wy_q      <= iy_start[20:0];
      wx_q      <= ix_start[20:0];
    end else if (step) begin
      gap_q <= gap_q - 13'd1;
      if (emit_o) begin
        gap_q <= {9'd0, stride_x_i} - 13'd1;
        ox_q  <= ox_q + 16'd1;
        wx_q  <= wx_q + {17'd0, stride_x_i};
        if (e_end_x) begin
          gap_q <= gap_row_q - 13'd1;
          ox_q  <= '0;
          wx_q  <= ix_start[20:0];
          oy_q  <= oy_q + 16'd1;
          wy_q  <= wy_q + {17'd0, stride_y_i};
          if (e_end_y) begin
            if (!by_row) gap_q <= {3'd0, gap_block_q} - 13'd1;
            oy_q      <= '0;
            wy_q      <= iy_start[20:0];
            e_chans_q <= e_chans_q - 16'(N);
          end
        end
      end
    end
  end

  // Columns of the window that are not padding: from pad_l to in front of end_r.
  logic [20:0] left;
  logic signed [21:0] right;
  logic [3:0]  pad_l, end_r;
  logic [8:0]  col_on;
  assign left   = -wx_q;
  assign right  = $signed({6'd0, in_w_i}) - $signed({wx_q[20], wx_q});
  assign pad_l  = !wx_q[20] ? 4'd0 : left > 21'd9 ? 4'd9 : left[3:0];
  assign end_r  = right <= 22'sd0 ? 4'd0 : right >= $signed({18'd0, kx}) ? kx : right[3:0];

  always_comb begin
    col_on = (9'h1ff << pad_l) & ~(9'h1ff << end_r);
    on_o[9] = 1'b0;
    for (int k = 0; k < 3; k++) on_o[3*k +: 3] = wy_q + 21'(k) < {5'd0, in_h_i} ? col_on[2:0] : 3'd0;
    if (by_row) on_o = {1'b0, e_on ? col_on : 9'd0};
    if (weft_cfg_pkg::DW_ROWS == 2 && two_i)
      on_o[9:5] = e_b_on ? {col_on[4], col_on[2], col_on[3], col_on[0], col_on[1]} : '0;
  end

  assign ready_o = state_q == Idle || state_q == Begin;
  assign valid_o = run_q;
  assign addr_o  = addr_q;
  assign lanes_o = chans_q <= 16'(N) ? chans_q[6:0] : 7'(N);
  assign skip_o  = tail_q || !used;
  assign row_o   = first_q;
  assign emit_o  = gap_q == '0;
  assign block_o = emit_o && (by_row || oy_q == '0) && ox_q == '0;
  assign first_o = e_first;
  assign last_o  = e_last_pass;

`ifdef WEFT_ASSERT
  logic [2:0] passes_q;                 // in pass_q
  always_ff @(posedge clk_i) begin
    if (begin_run) passes_q <= 3'd1;
    else if (by_row && step) passes_q <= passes_q + 3'(end_x) - 3'(emit_o && e_end_x);
    if (rst_ni && run_q && by_row) assert (passes_q <= 3'd4 && (!emit_o || passes_q != '0));
  end
`endif

endmodule

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
// comes by. col_on_o and row_on_o say which columns and rows of the wanted
// window are not padding; the others hold anything.
//
// Behind start_i ready_o is low for six cycles. When it rises, wide_o says that
// a virtual row exceeds the line buffer, and nothing follows; else the first
// pixel is valid in the cycle after, one a cycle follows, and valid_o falls
// behind the last wanted window. skip_o: not read (padding; between windows of strides
// above 3; behind the last block). row_o: first pixel of a row. emit_o: a
// window ends here; block_o: it is the first such of a block.
//
// The command's fields are stable from start_i until the last pixel.
module weft_vec_scan (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic flush_i,
  input  logic start_i,

  input  logic [19:0] base_i,         // row 0, column 0, channel 0
  input  logic [19:0] x_step_i,
  input  logic [19:0] y_step_i,
  input  logic [15:0] in_h_i,
  input  logic [15:0] in_w_i,
  input  logic [15:0] iy_start_i,     // signed
  input  logic [15:0] ix_start_i,     // signed
  input  logic [15:0] ow_i,
  input  logic [15:0] oh_i,
  input  logic [15:0] oc_i,
  input  logic        int16_i,          // channels are two bytes apart, else one
  input  logic [3:0]  stride_x_i,
  input  logic [3:0]  stride_y_i,

  output logic        ready_o,
  output logic        wide_o,
  output logic        valid_o,
  input  logic        ready_i,
  output logic [19:0] addr_o,
  output logic [6:0]  lanes_o,
  output logic        skip_o,
  output logic        row_o,
  output logic        emit_o,
  output logic        block_o,
  output logic [2:0]  col_on_o,
  output logic [2:0]  row_on_o
);

  localparam int unsigned N      = weft_cfg_pkg::N;
  localparam int unsigned DwLine = weft_cfg_pkg::DW_LINE;

  // How many of at most max rows (columns) of padding to leave out.
  function automatic logic [1:0] leave_out(input logic signed [21:0] padding, input logic [1:0] max);
    leave_out = padding <= 22'sd0 ? 2'd0 : padding >= $signed({20'd0, max}) ? max : padding[1:0];
  endfunction

  // ---- plan: six products, one a cycle --------------------------------------------

  typedef enum logic [2:0] {Idle, BaseY, BaseX, SpanX, SpanY, GapRow, GapBlock, Begin} state_e;
  state_e state_q;

  logic [1:0]  cut_l_q, cut_t_q, cut_y_q;           // left, top, top and bottom
  logic [19:0] base_q;                              // first pixel of the stream
  logic [19:0] span_x_q, span_y_q;                  // (ow - 1) * stride_x; at most 15 * 65534
  logic [8:0]  len_q;                               // pixels of a row
  logic [20:0] rows_q;                              // rows of a block
  logic [12:0] gap_row_q;                           // pixels from the last window of a row to the next
  logic [9:0]  gap_block_q;                         // the same between blocks
  logic [9:0]  gap_first_q;                         // pixels before the first window's last

  logic [19:0] mul_a, mul_b, mul_p;
  logic [1:0]  mul_hi;
  logic [1:0]  max_x, cut_l, cut_t, cut_r, cut_b;
  logic signed [21:0] iy_start, ix_start, over_x, over_y;  // over: padding behind

  assign iy_start = 22'($signed(iy_start_i));
  assign ix_start = 22'($signed(ix_start_i));
  assign max_x    = ow_i == 16'd1 ? 2'd1 : 2'd2;    // a row of one pixel would meet itself in the line buffer
  assign cut_l    = leave_out(-ix_start, max_x);
  assign cut_t    = leave_out(-iy_start, 2'd2);
  assign over_x   = ix_start + $signed({2'd0, span_x_q}) + 22'sd3 - $signed({6'd0, in_w_i});
  assign over_y   = iy_start + $signed({2'd0, span_y_q}) + 22'sd3 - $signed({6'd0, in_h_i});
  assign cut_r    = leave_out(over_x, max_x - cut_l_q);
  assign cut_b    = leave_out(over_y, 2'd2 - cut_t_q);

  always_comb begin
    mul_a = {{4{iy_start_i[15]}}, iy_start_i} + {18'd0, cut_t};
    mul_b = y_step_i;
    case (state_q)
      BaseX: begin
        mul_a = {{4{ix_start_i[15]}}, ix_start_i} + {18'd0, cut_l};
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
        mul_b = {16'd0, stride_y_i};
      end
      GapBlock: begin
        mul_a = {11'd0, len_q};
        mul_b = 20'd3 - {18'd0, cut_y_q};
      end
      default: ;
    endcase
    // Modulo 2^20, of which one multiplier block of 18 x 18 bits does all but the
    // upper two bits of either factor.
    mul_hi = (mul_a[0] ? mul_b[19:18] : 2'd0) + (mul_a[1] ? {mul_b[18], 1'b0} : 2'd0)
             + (mul_b[0] ? mul_a[19:18] : 2'd0) + (mul_b[1] ? {mul_a[18], 1'b0} : 2'd0);
    mul_p  = 20'(mul_a[17:0]) * 20'(mul_b[17:0]) + {mul_hi, 18'd0};
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
    case (state_q)
      BaseY: begin
        base_q  <= base_i + mul_p;
        cut_t_q <= cut_t;
      end
      BaseX: begin
        base_q  <= base_q + mul_p;
        cut_l_q <= cut_l;
      end
      SpanX: span_x_q <= mul_p;
      SpanY: begin
        span_y_q <= mul_p;
        len_q    <= span_x_q[8:0] + 9'd3 - {7'd0, cut_l_q + cut_r};
        wide_o   <= span_x_q > (int16_i ? 20'(DwLine/2 - 3) : 20'(DwLine - 3));
      end
      GapRow: begin
        gap_row_q <= mul_p[12:0] - {4'd0, span_x_q[8:0]};
        cut_y_q   <= cut_t_q + cut_b;
        rows_q    <= {1'b0, span_y_q} + 21'd3 - {19'd0, cut_t_q + cut_b};
      end
      GapBlock: begin
        gap_block_q <= mul_p[9:0] - {1'b0, span_x_q[8:0]};
        gap_first_q <= (cut_t_q == 2'd0 ? {len_q, 1'b0} : cut_t_q == 2'd1 ? {1'b0, len_q} : 10'd0)
                       + 10'd2 - {8'd0, cut_l_q};
      end
      default: ;
    endcase
  end

  // ---- the stream -----------------------------------------------------------------

  logic        run_q, tail_q;           // tail: behind the last block
  logic [15:0] chans_q;                 // channels left, this block included
  logic [19:0] block_q, line_q, addr_q;
  logic [20:0] iy_q, ix_q;              // signed; at most 2^15 + 15*2^16
  logic [8:0]  col_q;                   // pixels left in the row, this one included
  logic [20:0] row_q;                   // rows left in the block
  logic [3:0]  left_y_q, left_x_q;      // rows and columns to the next window's end
  logic        first_q;

  logic begin_run, step, end_x, end_y, used;
  logic [19:0] next_block;

  assign begin_run = state_q == Begin && !wide_o;
  assign step      = run_q && ready_i;
  assign next_block = block_q + (int16_i ? 20'(2*N) : 20'(N));
  assign end_x     = col_q == 9'd1;
  assign end_y     = row_q == 21'd1;
  assign used      = iy_q < {5'd0, in_h_i} && ix_q < {5'd0, in_w_i}  // as unsigned numbers: negative ones are large
                     && left_y_q <= 4'd2 && left_x_q <= 4'd2;

  always_ff @(posedge clk_i) begin
    if (begin_run || step) begin
      first_q <= begin_run || end_x;
      if (begin_run || end_x) begin
        col_q    <= len_q;
        left_x_q <= 4'd2 - {2'd0, cut_l_q};
        ix_q     <= ix_start[20:0] + {19'd0, cut_l_q};
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
    end
  end

  // ---- wanted windows -------------------------------------------------------------

  logic [12:0] gap_q;                   // pixels before the next window's last
  logic [15:0] e_chans_q, oy_q, ox_q;
  logic [20:0] wy_q, wx_q;              // its first row and column, signed
  logic        e_end_x, e_end_y, e_last;

  assign e_end_x = ox_q + 16'd1 == ow_i;
  assign e_end_y = oy_q + 16'd1 == oh_i;
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
            gap_q     <= {3'd0, gap_block_q} - 13'd1;
            oy_q      <= '0;
            wy_q      <= iy_start[20:0];
            e_chans_q <= e_chans_q - 16'(N);
          end
        end
      end
    end
  end

  always_comb begin
    for (int k = 0; k < 3; k++) begin
      row_on_o[k] = wy_q + 21'(k) < {5'd0, in_h_i};
      col_on_o[k] = wx_q + 21'(k) < {5'd0, in_w_i};
    end
  end

  assign ready_o = state_q == Idle || state_q == Begin;
  assign valid_o = run_q;
  assign addr_o  = addr_q;
  assign lanes_o = chans_q <= 16'(N) ? chans_q[6:0] : 7'(N);
  assign skip_o  = tail_q || !used;
  assign row_o   = first_q;
  assign emit_o  = gap_q == '0;
  assign block_o = emit_o && oy_q == '0 && ox_q == '0;

endmodule

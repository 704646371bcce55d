// SPDX-License-Identifier: Apache-2.0
//
// Input addresses of pool and elt: per block of N channels, output row and
// column, every tap of the window; with two_i, behind each tap the word of a
// second tensor at the same pixel (used with windows of one tap). With once_i as
// well, the second tensor has the same word for all pixels, and its address comes
// once a block, in front of the taps.
//
// The first address is valid in the cycle after start_i; one a cycle; valid_o
// falls behind the last. first_o and last_o mark the window's first and last
// word; with once_i the second tensor's word is first_o, all others are last_o. The command's fields are stable from start_i until then.
module weft_vec_tap (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic flush_i,
  input  logic start_i,

  input  weft_cfg_pkg::sp_addr_t base_i,
  input  weft_cfg_pkg::sp_addr_t oy_step_i,
  input  weft_cfg_pkg::sp_addr_t ox_step_i,
  input  weft_cfg_pkg::sp_addr_t ky_step_i,
  input  weft_cfg_pkg::sp_addr_t kx_step_i,
  input  logic [15:0]            n_ky_i,
  input  logic [15:0]            n_kx_i,
  input  logic                   two_i,
  input  logic                   once_i,   // only with two_i
  input  logic                   x_two_i,  // channels are two bytes apart, else one
  input  logic                   b_two_i,  // the same of the second tensor
  input  weft_cfg_pkg::sp_addr_t b_base_i,
  input  weft_cfg_pkg::sp_addr_t b_oy_step_i,
  input  weft_cfg_pkg::sp_addr_t b_ox_step_i,
  input  logic [15:0]            ow_i,
  input  logic [15:0]            oh_i,
  input  logic [15:0]            oc_i,

  output logic                   valid_o,
  input  logic                   ready_i,
  output weft_cfg_pkg::sp_addr_t addr_o,
  output logic [6:0]             lanes_o,
  output logic                   second_o,  // it is the second tensor's
  output logic                   first_o,
  output logic                   last_o
);

  localparam int unsigned N = weft_cfg_pkg::N;
  localparam int unsigned AddrW = weft_cfg_pkg::SP_ADDR_BITS;

  logic                   run_q;
  logic                   second_q;                         // the second tensor's turn
  logic [15:0]            chans_q, oy_q, ox_q, ky_q, kx_q;  // chans_q: left, this block included
  weft_cfg_pkg::sp_addr_t block_q, line_q, pixel_q, tap_row_q, tap_q;
  weft_cfg_pkg::sp_addr_t b_block_q, b_line_q, b_pixel_q;

  logic end_kx, end_ky, end_x, end_y, last_block, step;

  assign end_kx     = kx_q + 16'd1 == n_kx_i;
  assign end_ky     = ky_q + 16'd1 == n_ky_i;
  assign end_x      = ox_q + 16'd1 == ow_i;
  assign end_y      = oy_q + 16'd1 == oh_i;
  assign last_block = chans_q <= 16'(N);
  assign step       = run_q && ready_i && (once_i ? !second_q : second_q || !two_i);

  assign valid_o = run_q;
  assign addr_o  = second_q ? b_pixel_q : tap_q;
  assign lanes_o = last_block ? chans_q[6:0] : 7'(N);
  assign second_o = second_q;
  assign first_o = once_i ? second_q : !second_q && kx_q == '0 && ky_q == '0;
  assign last_o  = second_q == (two_i && !once_i) && end_kx && end_ky;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) run_q <= 1'b0;
    else if (flush_i) run_q <= 1'b0;
    else if (start_i) run_q <= 1'b1;
    else if (step && end_kx && end_ky && end_x && end_y && last_block) run_q <= 1'b0;
  end

  // Where the next pixel begins: start_i, or all taps of this one are through.
  weft_cfg_pkg::sp_addr_t next_block, next_line, next_pixel, next_tap_row;
  weft_cfg_pkg::sp_addr_t b_next_block, b_next_line, b_next_pixel;

  assign next_block   = block_q + (x_two_i ? AddrW'(2*N) : AddrW'(N));
  assign next_line    = end_y ? next_block : line_q + oy_step_i;
  assign next_pixel   = end_x ? next_line : pixel_q + ox_step_i;
  assign next_tap_row = tap_row_q + ky_step_i;
  assign b_next_block = b_block_q + (b_two_i ? AddrW'(2*N) : AddrW'(N));
  assign b_next_line  = end_y ? b_next_block : b_line_q + b_oy_step_i;
  assign b_next_pixel = end_x ? b_next_line : b_pixel_q + b_ox_step_i;

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      second_q  <= once_i;
      chans_q   <= oc_i;
      oy_q      <= '0;
      ox_q      <= '0;
      ky_q      <= '0;
      kx_q      <= '0;
      block_q   <= base_i;
      line_q    <= base_i;
      pixel_q   <= base_i;
      tap_row_q <= base_i;
      tap_q     <= base_i;
      b_block_q <= b_base_i;
      b_line_q  <= b_base_i;
      b_pixel_q <= b_base_i;
    end else if (run_q && ready_i) begin
      second_q <= once_i ? step && end_x && end_y : two_i && !second_q;
      if (step) begin
        kx_q  <= end_kx ? '0 : kx_q + 16'd1;
        tap_q <= tap_q + kx_step_i;
        if (end_kx) begin
          ky_q      <= end_ky ? '0 : ky_q + 16'd1;
          tap_row_q <= end_ky ? next_pixel : next_tap_row;
          tap_q     <= end_ky ? next_pixel : next_tap_row;
        end
        if (end_kx && end_ky) begin
          ox_q      <= end_x ? '0 : ox_q + 16'd1;
          pixel_q   <= next_pixel;
          b_pixel_q <= b_next_pixel;
          if (end_x) begin
            oy_q     <= end_y ? '0 : oy_q + 16'd1;
            line_q   <= next_line;
            b_line_q <= b_next_line;
            if (end_y) begin
              chans_q   <= chans_q - 16'(N);
              block_q   <= next_block;
              b_block_q <= b_next_block;
            end
          end
        end
      end
    end
  end

`ifdef WEFT_ASSERT
  weft_cfg_pkg::sp_addr_t old_base_q, old_oy_q, old_ox_q;
  logic [47:0]            old_shape_q;
  logic                   old_run_q, old_wait_q;
  weft_cfg_pkg::sp_addr_t old_addr_q;
  always_ff @(posedge clk_i) begin
    old_run_q   <= rst_ni && !flush_i && (start_i || run_q);
    old_wait_q  <= rst_ni && !flush_i && !start_i && run_q && !ready_i;
    old_addr_q  <= addr_o;
    old_base_q  <= base_i;
    old_oy_q    <= oy_step_i;
    old_ox_q    <= ox_step_i;
    old_shape_q <= {ow_i, oh_i, oc_i};
    if (rst_ni && !flush_i) begin
      if (run_q && old_run_q)
        assert (base_i == old_base_q && oy_step_i == old_oy_q && ox_step_i == old_ox_q && {ow_i, oh_i, oc_i} == old_shape_q);
      if (old_wait_q) assert (valid_o && addr_o == old_addr_q);   // an address that is not taken stays
      assert (!(start_i && run_q));
      if (run_q) assert (chans_q != '0 && lanes_o != '0 && lanes_o <= 7'(N));
      if (run_q && two_i) assert (n_ky_i == 16'd1 && n_kx_i == 16'd1);
      if (run_q && once_i) assert (two_i && b_oy_step_i == '0 && b_ox_step_i == '0 && first_o != last_o);
    end
  end
`endif

endmodule

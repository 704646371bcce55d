// SPDX-License-Identifier: Apache-2.0
//
// Where the rows of a command go: per block of N channels, output row and
// column, an address and the mask of the channels that exist.
//
// valid_o from the cycle after start_i until the last row has been taken with
// next_i; one row a cycle. bad_o: this row would leave the scratchpad.
// block_o: next_i takes the last row of a block.
module weft_vec_out (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic flush_i,
  input  logic start_i,

  input  weft_cfg_pkg::sp_addr_t base_i,
  input  weft_cfg_pkg::sp_addr_t x_step_i,
  input  weft_cfg_pkg::sp_addr_t y_step_i,
  input  logic [15:0]            ow_i,
  input  logic [15:0]            oh_i,
  input  logic [15:0]            oc_i,
  input  logic [1:0]             log_i,  // channels are 1 << log_i bytes apart

  output logic                    valid_o,
  input  logic                    next_i,
  output weft_cfg_pkg::sp_addr_t  addr_o,
  output weft_cfg_pkg::row_mask_t mask_o,
  output logic                    block_o,
  output logic                    bad_o,
  output weft_cfg_pkg::sp_addr_t  bad_addr_o
);

  localparam int unsigned N = weft_cfg_pkg::N;
  localparam int unsigned AddrW = weft_cfg_pkg::SP_ADDR_BITS;

  logic                    run_q;
  logic [15:0]             chans_q, oy_q, ox_q;  // chans_q: left, this block included
  weft_cfg_pkg::sp_addr_t  block_q, line_q, addr_q;
  weft_cfg_pkg::row_mask_t mask_q;

  // next_: of the row that is shown behind the next edge. Whether it would leave the scratchpad is decided
  // there and kept, because all that wait for the scratchpad wait for bad_o.
  logic [15:0]            next_chans;
  logic [6:0]             next_lanes;
  weft_cfg_pkg::sp_addr_t next_block, next_line, next_addr, next_bad_addr;
  logic                   end_x, end_y, last_block, new_line, new_block, next_bad, bad_q;

  assign end_x      = ox_q + 16'd1 == ow_i;
  assign end_y      = oy_q + 16'd1 == oh_i;
  assign last_block = chans_q <= 16'(N);
  assign new_line   = start_i || end_x;
  assign new_block  = start_i || (end_x && end_y);
  assign next_chans = start_i ? oc_i : new_block ? chans_q - 16'(N) : chans_q;
  assign next_block = start_i ? base_i : block_q + (AddrW'(N) << log_i);
  assign next_line  = line_q + y_step_i;
  assign next_addr  = new_block ? next_block : new_line ? next_line : addr_q + x_step_i;
  assign next_lanes = next_chans <= 16'(N) ? next_chans[6:0] : 7'(N);

  weft_vec_range u_range (.addr_i(next_addr), .bytes_i({2'd0, next_lanes} << log_i), .bad_o(next_bad),
                          .bad_addr_o(next_bad_addr));

  assign valid_o = run_q;
  assign addr_o  = addr_q;
  assign mask_o  = mask_q;
  assign block_o = end_x && end_y;
  assign bad_o   = run_q && bad_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) run_q <= 1'b0;
    else if (flush_i) run_q <= 1'b0;
    else if (start_i) run_q <= 1'b1;
    else if (run_q && next_i && end_x && end_y && last_block) run_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (start_i || (run_q && next_i)) begin
      ox_q       <= new_line ? '0 : ox_q + 16'd1;
      addr_q     <= next_addr;
      bad_q      <= next_bad;
      bad_addr_o <= next_bad_addr;
      if (new_line) begin
        oy_q   <= new_block ? '0 : oy_q + 16'd1;
        line_q <= next_addr;
      end
      if (new_block) begin
        chans_q <= next_chans;
        block_q <= next_block;
        mask_q  <= next_chans >= 16'(N) ? '1 : ~({N{1'b1}} << next_chans[5:0]);
      end
    end
  end

`ifdef WEFT_ASSERT
  always_ff @(posedge clk_i) begin
    if (rst_ni && !flush_i) begin
      assert (!(start_i && run_q));
      assert (!(next_i && !valid_o));
      assert (!(next_i && bad_o));
      if (run_q) assert (mask_q[0] && (mask_q & (mask_q + N'(1))) == '0);   // the first channels, one at least
    end
  end
`endif

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Weight feeder: reads two words at a time, in the order of use, and offers
// one word for each column of each chunk, or two where two column tiles are
// computed at a time.
//
// Follows the activation feeder's steps: a read at each even row, with two tiles
// at each row. At the end of a group that is not the tile's last, the tile's words start again. start_i
// is a pulse; cmd_i is stable from then until idle_o.
//
// A byte beyond the scratchpad is never requested: fault_o stays high until clr_i, and
// fault_addr_o is where the read would begin.
//
// Model: sim/model/conv.c   Theory: hw/feed/README.md
module weft_feed_wgt (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic clr_i,

  input  logic               start_i,
  input  weft_cmd_pkg::cmd_t cmd_i,
  output logic               idle_o,

  input  logic                         step_i,
  output logic                         step_ready_o,
  input  logic                         step_odd_i,
  input  logic                         step_pair_i,  // two column tiles at a time
  input  logic                         group_end_i,
  input  logic                         tile_end_i,

  output weft_cfg_pkg::sp_read_t read_o,
  input  logic                   gnt_i,
  input  weft_cfg_pkg::sp_pair_t rdata_i,

  output logic                   valid_o,
  input  logic                   ready_i,
  output weft_cfg_pkg::sp_word_t word_o,
  output weft_cfg_pkg::sp_word_t second_o,  // of the second of two tiles, else the same
  output logic [7:0]             zp_o,      // float8: the format

  output logic                   fault_o,
  output weft_cfg_pkg::sp_addr_t fault_addr_o
);
  localparam int N = weft_cfg_pkg::N;
  localparam int unsigned AddrW = weft_cfg_pkg::SP_ADDR_BITS;
  localparam int SP_BITS = weft_cfg_pkg::LOG2_SP_BYTES;

  weft_cfg_pkg::sp_addr_t w_base;
  logic [7:0]             w_zp;
  assign w_base = cmd_i[weft_cmd_pkg::CONV_W_BASE_LSB +: AddrW];
  assign w_zp   = weft_cfg_pkg::HAS_FP8 && cmd_i[weft_cmd_pkg::POST_MODE_LSB +: weft_cmd_pkg::POST_MODE_W] == weft_cmd_pkg::POST_MODE_V_FLOAT8
                  ? 8'(cmd_i[weft_cmd_pkg::POST_W_FMT_LSB +: weft_cmd_pkg::POST_W_FMT_W])
                  : cmd_i[weft_cmd_pkg::CONV_W_ZP_LSB +: 8];
  logic unused_cmd;  // fields of other modules
  assign unused_cmd = ^cmd_i;

  weft_cfg_pkg::sp_addr_t addr_q, tile_addr_q;

  // Request, then data
  logic                   b_valid_q, b_room, b_bad_q, b_go, b_ready, b_pair_q, c_pair_q;
  logic                   reads;      // a step that reads
  weft_cfg_pkg::sp_addr_t next_addr;
  weft_cfg_pkg::sp_addr_t b_addr_q;
  logic [7:0]             b_zp_q, c_zp_q;
  logic                   c_valid_q;
  // Pairs of words
  weft_cfg_pkg::row_half_t fifo_q [4];
  logic [7:0]              fifo_zp_q [4];
  logic [3:0]              fifo_pair_q;
  logic [1:0]              fifo_wr_q, fifo_rd_q;
  logic [2:0]              fifo_n_q;
  logic                    odd_q, pop, pair, pop_both;

  assign b_room  = (fifo_n_q + 3'(c_valid_q)) < 3'd4;
  assign read_o.req   = b_valid_q && b_room && !b_bad_q;
  assign read_o.wide = 1'b1;
  assign read_o.addr  = b_addr_q & AddrW'(weft_cfg_pkg::SP_BYTES - 1);
  assign b_go    = read_o.req && gnt_i;
  assign b_ready = !b_valid_q || b_go;
  assign reads   = !step_odd_i || step_pair_i;
  assign step_ready_o = !reads || b_ready;
  assign next_addr = addr_q + (reads ? AddrW'(2*N) : '0);
  assign idle_o  = !b_valid_q;
  assign fault_o = b_valid_q && b_bad_q;
  assign fault_addr_o = b_addr_q;

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      addr_q      <= w_base;
      tile_addr_q <= w_base;
    end else if (step_i) begin
      addr_q <= group_end_i && !tile_end_i ? tile_addr_q : next_addr;
      if (tile_end_i) tile_addr_q <= next_addr;
    end
  end

  assign pop      = valid_o && ready_i;
  assign pair     = weft_cfg_pkg::HAS_PAIRS && fifo_pair_q[fifo_rd_q];
  assign pop_both = pop && (odd_q || pair);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      b_valid_q <= 1'b0;
      c_valid_q <= 1'b0;
      fifo_wr_q <= '0;
      fifo_rd_q <= '0;
      fifo_n_q  <= '0;
      odd_q     <= 1'b0;
    end else if (clr_i) begin
      b_valid_q <= 1'b0;
      c_valid_q <= 1'b0;
      fifo_wr_q <= '0;
      fifo_rd_q <= '0;
      fifo_n_q  <= '0;
      odd_q     <= 1'b0;
    end else begin
      if (b_ready) b_valid_q <= step_i && reads;
      if (b_ready && step_i && reads) begin
        b_addr_q <= addr_q;
        b_pair_q <= step_pair_i;
        // w_base is a multiple of N: a pair of words crosses the end if its first word is the last one.
        b_bad_q  <= (addr_q >> SP_BITS) != 20'd0 || (SP_BITS < AddrW && &addr_q[SP_BITS-1:weft_cfg_pkg::LOG2_N]);
        b_zp_q   <= w_zp;
      end
      c_valid_q <= b_go;
      if (b_go) begin
        c_zp_q   <= b_zp_q;
        c_pair_q <= b_pair_q;
      end
      if (c_valid_q) begin
        fifo_q[fifo_wr_q]    <= rdata_i;
        fifo_zp_q[fifo_wr_q] <= c_zp_q;
        fifo_pair_q[fifo_wr_q] <= c_pair_q;
        fifo_wr_q            <= fifo_wr_q + 2'd1;
      end
      if (pop) begin
        odd_q <= !odd_q && !pair;
        if (pop_both) fifo_rd_q <= fifo_rd_q + 2'd1;
      end
      fifo_n_q <= fifo_n_q + 3'(c_valid_q) - 3'(pop_both);
    end
  end

  assign valid_o = fifo_n_q != 3'd0;
  assign word_o  = odd_q ? fifo_q[fifo_rd_q][16*N-1:8*N] : fifo_q[fifo_rd_q][8*N-1:0];
  assign second_o = pair ? fifo_q[fifo_rd_q][16*N-1:8*N] : word_o;
  assign zp_o    = fifo_zp_q[fifo_rd_q];

`ifdef WEFT_ASSERT
  always @(posedge clk_i) begin
    if (rst_ni && !clr_i) begin
      assert (fifo_n_q <= 3'd4);
      assert (!(ready_i && !valid_o));
      assert (!(valid_o && odd_q && pair));   // pairs begin with a row that is even
    end
  end
`endif
endmodule

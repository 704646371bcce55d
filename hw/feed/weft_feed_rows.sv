// SPDX-License-Identifier: Apache-2.0
//
// Row walker: for every output row of a conv command, in the order in which
// the array delivers them, its address, lane mask and second addend.
//
// Where two column tiles are computed at a time (pairs), the rows of up to N/2 pixels for the
// first tile are followed by those of the same pixels for the second, whose addresses
// are remembered.
//
// start_i is a pulse; cmd_i is stable until the last row is taken. Rows are
// prepared ahead, up to four, one a cycle, or one in two where an addend of 2N
// bytes does not begin at a multiple of N. A row or addend whose first byte
// lies beyond the scratchpad is never offered: fault_o stays high until clr_i.
//
// Model: sim/model/conv.c   Theory: hw/feed/README.md
module weft_feed_rows (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic clr_i,

  input  logic               start_i,
  input  weft_cmd_pkg::cmd_t cmd_i,

  output weft_cfg_pkg::sp_read_t read_o,
  input  logic                   gnt_i,
  input  weft_cfg_pkg::sp_pair_t rdata_i,

  output logic                    valid_o,
  input  logic                    ready_i,
  output weft_cfg_pkg::sp_addr_t  row_addr_o,
  output weft_cfg_pkg::row_mask_t row_mask_o,
  output weft_cfg_pkg::row_half_t row_b_o,  // bytes in the low half, or int16
  output logic                    tile_last_o,
  output logic                    cmd_last_o,
  output logic                    other_o,     // the records of the row are those of the tile behind the next one to end

  output logic                   fault_o,
  output weft_cfg_pkg::sp_addr_t fault_addr_o
);
  localparam int N = weft_cfg_pkg::N;
  localparam int unsigned AddrW = weft_cfg_pkg::SP_ADDR_BITS;
  localparam int LOG2_N = weft_cfg_pkg::LOG2_N;
  localparam int SP_BITS = weft_cfg_pkg::LOG2_SP_BYTES;

  weft_cfg_pkg::sp_addr_t out_base, out_x, out_y, b_base, b_x, b_y;
  logic [15:0]            ow, oh, oc;
  logic                   pairs;
  logic                   add, b_two, out_two;  // elements of two bytes
  logic                   raw;                  // output of four, in mode 1 of eight
  logic [1:0]             out_log;              // log2 of the output's
  assign out_base = cmd_i[weft_cmd_pkg::POST_OUT_BASE_LSB +: AddrW];
  assign out_x    = cmd_i[weft_cmd_pkg::POST_OUT_X_STRIDE_LSB +: AddrW];
  assign out_y    = cmd_i[weft_cmd_pkg::POST_OUT_Y_STRIDE_LSB +: AddrW];
  assign b_base   = cmd_i[weft_cmd_pkg::POST_B_BASE_LSB +: AddrW];
  assign b_x      = cmd_i[weft_cmd_pkg::POST_B_X_STRIDE_LSB +: AddrW];
  assign b_y      = cmd_i[weft_cmd_pkg::POST_B_Y_STRIDE_LSB +: AddrW];
  assign ow       = cmd_i[weft_cmd_pkg::POST_OW_LSB +: 16];
  assign oh       = cmd_i[weft_cmd_pkg::POST_OH_LSB +: 16];
  assign oc       = cmd_i[weft_cmd_pkg::POST_OC_LSB +: 16];
  assign add      = cmd_i[weft_cmd_pkg::POST_ADD_LSB];
  assign pairs    = weft_cfg_pkg::HAS_PAIRS && cmd_i[weft_cmd_pkg::CONV_PAIRS_LSB];
  logic        int16, fp;
  assign int16    = weft_cfg_pkg::HAS_INT16 && cmd_i[weft_cmd_pkg::POST_MODE_LSB +: weft_cmd_pkg::POST_MODE_W] == weft_cmd_pkg::POST_MODE_V_INT16;
  assign fp       = weft_cfg_pkg::HAS_FP8 && cmd_i[weft_cmd_pkg::POST_MODE_LSB +: weft_cmd_pkg::POST_MODE_W] == weft_cmd_pkg::POST_MODE_V_FLOAT8;
  assign b_two    = int16 || (fp && cmd_i[weft_cmd_pkg::POST_B_FMT_LSB + 2]);
  assign out_two  = int16 || (fp && cmd_i[weft_cmd_pkg::POST_OUT_FMT_LSB + 2]);
  assign raw      = weft_cfg_pkg::HAS_RAW && cmd_i[weft_cmd_pkg::POST_RAW_LSB];
  assign out_log  = raw ? {1'b1, int16} : {1'b0, out_two};
  logic unused_cmd;  // fields of other modules
  assign unused_cmd = ^cmd_i;

  // Walker
  logic                   run_q;
  logic [15:0]            ox_q, oy_q, oc_left_q;
  weft_cfg_pkg::sp_addr_t o_off_q, b_off_q;  // bytes of the column tiles before
  weft_cfg_pkg::sp_addr_t o_addr_q, o_row_q, b_addr_q, b_row_q;
  logic                   x_end, y_end, tile_end, cmd_end, step;
  weft_cfg_pkg::sp_addr_t o_off_next, b_off_next, o_span, b_span, span, o_tile, b_tile, o_addr, b_addr;

  // Two column tiles at a time
  logic                   pair, second_q, whole_q;  // two tiles; the second one's rows; its last group is that of the pixels
  logic                   half_end;                 // the last row of a group for one of the tiles
  logic [LOG2_N-1:0]      half_q, half_last_q;      // row in the group; the last one
  weft_cfg_pkg::sp_addr_t half_o_q [N/2];           // addresses of the first tile's rows
  weft_cfg_pkg::sp_addr_t half_b_q [N/2];
  logic [15:0]            oc_left;
  logic                   bad_out, bad_b;

  // Row waiting for its addend
  logic                    r_other_q, c_other_q;
  logic                    r_valid_q, r_tile_last_q, r_cmd_last_q, r_go, r_bad_out_q, r_bad_q, r_room;
  weft_cfg_pkg::sp_addr_t  r_addr_q, r_b_q;
  weft_cfg_pkg::row_mask_t r_mask_q, mask;
  logic                    r_aligned, r_first, r_second_q;  // two reads
  logic                    c_valid_q, c_tile_last_q, c_cmd_last_q;
  logic                    c_first_q, c_split_q;
  weft_cfg_pkg::sp_word_t  c_low_q;
  weft_cfg_pkg::sp_addr_t  c_addr_q;
  weft_cfg_pkg::row_mask_t c_mask_q;

  weft_cfg_pkg::row_half_t fifo_b_q [4];
  logic [N+AddrW+2:0]      fifo_q [4];
  logic [1:0]              fifo_wr_q, fifo_rd_q;
  logic [2:0]              fifo_n_q;

  assign r_room    = (fifo_n_q + 3'(c_valid_q)) < 3'd4;
  assign read_o.req     = r_valid_q && add && !r_bad_q && r_room;
  assign read_o.addr    = (r_b_q + (r_second_q ? AddrW'(N) : '0)) & AddrW'(weft_cfg_pkg::SP_BYTES - 1);
  assign r_aligned = r_b_q[LOG2_N-1:0] == '0;
  assign read_o.wide    = b_two && r_aligned;
  assign r_first   = b_two && !r_aligned && !r_second_q;
  assign r_go      = r_valid_q && !r_bad_q && r_room && ((gnt_i && !r_first) || !add);
  assign step      = run_q && (!r_valid_q || r_go);
  assign fault_o   = r_valid_q && r_bad_q;
  assign fault_addr_o = r_bad_out_q ? r_addr_q : r_b_q;

  // What a step needs is computed in it only.
  // verilator lint_off BLKSEQ
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      run_q <= 1'b0;
    end else if (clr_i) begin
      run_q <= 1'b0;
    end else if (start_i) begin
      run_q      <= 1'b1;
      ox_q       <= '0;
      oy_q       <= '0;
      oc_left_q  <= oc;
      o_off_q    <= '0;
      b_off_q    <= '0;
      o_addr_q   <= out_base;
      o_row_q    <= out_base;
      b_addr_q   <= b_base;
      b_row_q    <= b_base;
      second_q   <= 1'b0;
      half_q     <= '0;
    end else if (step) begin
      pair   = pairs && oc_left_q > 16'(N);
      o_tile = AddrW'(N) << out_log;
      b_tile = b_two ? AddrW'(2*N) : AddrW'(N);
      x_end = ox_q + 16'd1 == ow;
      y_end = oy_q + 16'd1 == oh;
      half_end = second_q ? half_q == half_last_q : half_q == LOG2_N'(N/2 - 1) || (x_end && y_end);
      tile_end = second_q ? half_end && whole_q : x_end && y_end;
      oc_left = second_q ? oc_left_q - 16'(N) : oc_left_q;
      o_addr = second_q ? half_o_q[half_q[LOG2_N-2:0]] + o_tile : o_addr_q;
      b_addr = second_q ? half_b_q[half_q[LOG2_N-2:0]] + b_tile : b_addr_q;
      cmd_end = tile_end && oc_left <= 16'(N);
      // The first and the last byte of what the mask uses.
      mask = oc_left >= 16'(N) ? '1 : ~({N{1'b1}} << oc_left[LOG2_N-1:0]);
      span = oc_left >= 16'(N) ? AddrW'(N - 1) : AddrW'(oc_left[LOG2_N-1:0]) - 20'd1;
      o_span = ((span + 20'd1) << out_log) - 20'd1;
      b_span = b_two ? {span[18:0], 1'b1} : span;
      bad_out = ((o_addr | (o_addr + o_span)) >> SP_BITS) != 20'd0;
      bad_b = add && ((b_addr | (b_addr + b_span)) >> SP_BITS) != 20'd0;
      r_addr_q      <= o_addr;
      r_b_q         <= b_addr;
      r_mask_q      <= mask;
      r_tile_last_q <= tile_end;
      r_cmd_last_q  <= cmd_end;
      r_other_q     <= second_q && !whole_q;
      r_bad_out_q   <= bad_out;
      r_bad_q       <= bad_out || bad_b;
      o_off_next = o_off_q + (second_q ? o_tile << 1 : o_tile);
      b_off_next = b_off_q + (second_q ? b_tile << 1 : b_tile);
      if (weft_cfg_pkg::HAS_PAIRS && pair) begin
        half_q <= half_end ? '0 : half_q + LOG2_N'(1);
        if (half_end) second_q <= !second_q;
        if (!second_q) begin
          half_o_q[half_q[LOG2_N-2:0]] <= o_addr_q;
          half_b_q[half_q[LOG2_N-2:0]] <= b_addr_q;
          half_last_q <= half_q;
          whole_q     <= x_end && y_end;
        end
      end
      if (second_q ? !tile_end : pair && x_end && y_end) begin
        // The walker waits: for the second tile's rows, or at the last pixel for what follows these.
      end else if (!second_q && !x_end) begin
        ox_q     <= ox_q + 16'd1;
        o_addr_q <= o_addr_q + out_x;
        b_addr_q <= b_addr_q + b_x;
      end else if (!second_q && !y_end) begin
        ox_q     <= '0;
        oy_q     <= oy_q + 16'd1;
        o_addr_q <= o_row_q + out_y;
        o_row_q  <= o_row_q + out_y;
        b_addr_q <= b_row_q + b_y;
        b_row_q  <= b_row_q + b_y;
      end else begin
        run_q      <= !cmd_end;
        ox_q       <= '0;
        oy_q       <= '0;
        oc_left_q  <= oc_left - 16'(N);
        o_off_q    <= o_off_next;
        b_off_q    <= b_off_next;
        o_addr_q   <= out_base + o_off_next;
        o_row_q    <= out_base + o_off_next;
        b_addr_q   <= b_base + b_off_next;
        b_row_q    <= b_base + b_off_next;
      end
    end
  end
  // verilator lint_on BLKSEQ

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      r_valid_q  <= 1'b0;
      r_second_q <= 1'b0;
      c_valid_q  <= 1'b0;
      c_first_q  <= 1'b0;
      fifo_wr_q <= '0;
      fifo_rd_q <= '0;
      fifo_n_q  <= '0;
    end else if (clr_i) begin
      r_valid_q  <= 1'b0;
      r_second_q <= 1'b0;
      c_valid_q  <= 1'b0;
      c_first_q  <= 1'b0;
      fifo_wr_q <= '0;
      fifo_rd_q <= '0;
      fifo_n_q  <= '0;
    end else begin
      if (!r_valid_q || r_go) r_valid_q <= run_q;
      if (r_go) r_second_q <= 1'b0;
      else if (read_o.req && gnt_i) r_second_q <= 1'b1;
      c_first_q <= read_o.req && gnt_i && r_first;
      if (c_first_q) c_low_q <= rdata_i[8*N-1:0];
      c_valid_q <= r_go;
      if (r_go) begin
        c_split_q     <= r_second_q;
        c_addr_q      <= r_addr_q;
        c_mask_q      <= r_mask_q;
        c_tile_last_q <= r_tile_last_q;
        c_cmd_last_q  <= r_cmd_last_q;
        c_other_q     <= r_other_q;
      end
      if (c_valid_q) begin
        fifo_q[fifo_wr_q] <= {c_other_q, c_cmd_last_q, c_tile_last_q, c_mask_q, c_addr_q};
        if (add) fifo_b_q[fifo_wr_q] <= c_split_q ? {rdata_i[8*N-1:0], c_low_q} : rdata_i;
        fifo_wr_q <= fifo_wr_q + 2'd1;
      end
      if (ready_i) fifo_rd_q <= fifo_rd_q + 2'd1;
      fifo_n_q <= fifo_n_q + 3'(c_valid_q) - 3'(ready_i);
    end
  end

  assign valid_o     = fifo_n_q != 3'd0;
  assign row_addr_o  = fifo_q[fifo_rd_q][AddrW-1:0];
  assign row_mask_o  = fifo_q[fifo_rd_q][AddrW +: N];
  assign tile_last_o = fifo_q[fifo_rd_q][N + AddrW];
  assign cmd_last_o  = fifo_q[fifo_rd_q][N + AddrW + 1];
  assign other_o     = weft_cfg_pkg::HAS_PAIRS && fifo_q[fifo_rd_q][N + AddrW + 2];
  assign row_b_o     = fifo_b_q[fifo_rd_q];

`ifdef WEFT_ASSERT
  always @(posedge clk_i) begin
    if (rst_ni && !clr_i) begin
      assert (fifo_n_q <= 3'd4);
      assert (!(ready_i && !valid_o));
      assert (!(start_i && run_q));
    end
  end
`endif
endmodule

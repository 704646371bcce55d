// SPDX-License-Identifier: Apache-2.0
//
// weft_dma_store with any commands, windows that change at any time, any bus and any
// scratchpad. path is the burst that is about to be committed. One burst is followed: that
// which both the FIFO of addresses and the FIFO of data picked when it was committed.
// Its beats are seen where they enter the FIFO in front of the data channel.
module store_window (
  input logic          clk_i,
  input logic          rst_ni,
  input logic          cmd_valid_i,
  input weft_cmd_pkg::move_t cmd_i,
  input logic          abort_i,
  input logic          aw_ready_i,
  input logic          w_ready_i,
  input logic          b_valid_i,
  input logic          b_error_i,
  input logic          str_gnt_i,
  input logic [8*weft_cfg_pkg::N-1:0]  str_rdata_i,
  input weft_cfg_pkg::windows_t        win_i
);

  localparam int unsigned N         = weft_cfg_pkg::N;
  localparam int unsigned Log2N     = weft_cfg_pkg::LOG2_N;
  localparam int unsigned BytesBits = Log2N + 5;

  logic started_q;
  initial started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  logic cmd_ready, aw_valid;
  weft_cfg_pkg::mem_burst_t aw;

  weft_dma_store u_dut (
    .clk_i, .rst_ni, .need_o(), .cmd_valid_i, .cmd_ready_o(cmd_ready), .cmd_i, .state_o(), .abort_i, .win_i, .aw_valid_o(aw_valid), .aw_ready_i,
    .aw_o(aw), .w_valid_o(), .w_ready_i, .w_o(), .b_valid_i,
    .b_ready_o(), .b_error_i, .str_o(), .str_gnt_i, .str_rdata_i, .bytes_o()
  );

  logic                 row_valid, row_ready, row_ok, part_valid, part_fault, part_emit, burst_valid;
  weft_cfg_pkg::sp_addr_t row_bytes, part_left;
  weft_cfg_pkg::mem_addr_t row_base, part_addr, base;
  weft_cfg_pkg::dma_burst_t burst;
  logic [31:0]          row_size, size;

  window_path #(
    .BytesBits(BytesBits)
  ) u_path (
    .clk_i, .check_i(started_q && rst_ni), .cmd_take_i(cmd_valid_i && cmd_ready),
    .cmd_window_i(cmd_i[weft_cmd_pkg::LOAD_WINDOW_LSB +: 3]), .win_base_i(win_i.base), .win_size_i(win_i.size), .win_ok_i(win_i.write),
    .row_valid_i(row_valid), .row_base_i(row_base), .row_size_i(row_size), .row_ok_i(row_ok), .row_bytes_i(row_bytes),
    .row_take_i(row_valid && row_ready), .part_valid_i(part_valid), .part_fault_i(part_fault), .part_addr_i(part_addr),
    .part_left_i(part_left), .part_emit_i(part_emit), .burst_valid_i(burst_valid), .burst_fault_i(burst.fault),
    .burst_addr_i(burst.addr), .burst_bytes_i(burst.bytes), .burst_len_i(burst.len), .base_o(base), .size_o(size)
  );

  // The fields of store are where those of load are.

  // ---- the burst that is followed

  logic addr_take, addr_picked, addr_head, data_take, data_picked, data_head, data_empty;
  logic read, inside, got, got_last;
  logic [47:0]                addr_entry;
  logic [20+BytesBits+Log2N-1:0] data_entry;
  logic [BytesBits-1:0]       left;
  logic [N-1:0]               got_strb;

  logic                 at_aw_q, at_w_q;         // it is in the FIFO of addresses, of data
  weft_cfg_pkg::mem_addr_t first_q, base_q;         // its first byte, its window
  logic [31:0]          size_q;
  logic [BytesBits-1:0] bytes_q;
  logic [7:0]           len_q;
  logic [4:0]           beat_q, got_beat_q;      // beats read
  logic                 got_q;                   // a beat of it has been read
  logic                 pick, read_it;
  assign pick    = addr_take && data_take;
  assign read_it = read && at_w_q && data_head;

  always_ff @(posedge clk_i) begin
    got_q      <= rst_ni && read_it;
    got_beat_q <= beat_q;
    if (!rst_ni) begin
      at_aw_q <= 1'b0;
      at_w_q  <= 1'b0;
    end else if (pick && !at_aw_q && !at_w_q && !got_q) begin
      at_aw_q <= 1'b1;
      at_w_q  <= 1'b1;
      first_q <= burst.addr;
      bytes_q <= burst.bytes;
      len_q   <= burst.len;
      base_q  <= base;
      size_q  <= size;
      beat_q  <= '0;
    end else begin
      if (addr_head && aw_ready_i) at_aw_q <= 1'b0;
      if (read_it) begin
        beat_q <= beat_q + 5'd1;
        if (8'(beat_q) == len_q) at_w_q <= 1'b0;
      end
    end
  end

  weft_cfg_pkg::mem_addr_t final_byte, lane_addr;
  logic [N-1:0] in_row;
  always_comb begin
    final_byte = first_q + 40'(bytes_q) - 40'd1;
    lane_addr  = '0;
    in_row     = '0;
    for (int unsigned i = 0; i < N; i++) begin
      lane_addr = ((first_q >> Log2N) << Log2N) + (40'(got_beat_q) << Log2N) + 40'(i);
      in_row[i] = lane_addr - first_q < 40'(bytes_q);
    end
  end

  // Bytes of the row in front of the next beat to be read, counted from its first beat.
  logic [BytesBits-1:0] before;
  assign before = (BytesBits'(beat_q) << Log2N) - BytesBits'(first_q[Log2N-1:0]);

  always_comb begin
    if (!started_q) reset: assume (!rst_ni);
    if (cmd_valid_i) begin
      command_checked: assume (cmd_i[weft_cmd_pkg::LOAD_ROW_BYTES_LSB +: 20] != '0 &&
                               cmd_i[weft_cmd_pkg::LOAD_N1_LSB +: 16] != '0 && cmd_i[weft_cmd_pkg::LOAD_N2_LSB +: 16] != '0 &&
                               cmd_i[weft_cmd_pkg::LOAD_N3_LSB +: 16] != '0);
    end
    if (started_q && rst_ni) begin
      if (at_aw_q || at_w_q || got_q) begin
        in_window: assert (bytes_q != '0 && {1'b0, first_q - base_q} + 41'(bytes_q) <= {9'd0, size_q});
        in_page:   assert (final_byte[39:12] == first_q[39:12] && len_q < 8'd16 &&
                           40'(len_q) == (final_byte >> Log2N) - (first_q >> Log2N));
      end
      if (at_aw_q) begin
        addr_kept: assert (addr_picked && addr_entry == {first_q[39:Log2N], Log2N'(0), len_q});
        if (aw_valid && addr_head) address: assert (aw.addr == (first_q >> Log2N) << Log2N && aw.len == len_q);
      end
      if (at_w_q) begin
        data_kept: assert (data_picked && data_entry[BytesBits+Log2N-1:0] == {bytes_q, first_q[Log2N-1:0]});
        if (data_head) begin
          reading: assert (inside == (beat_q != '0) && 8'(beat_q) <= len_q && (!inside || left == bytes_q - before));
        end else begin
          not_yet: assert (beat_q == '0);
        end
      end
      between: assert (!data_empty || !inside);
      if (got_q) begin
        got_it:  assert (got && 8'(got_beat_q) <= len_q);
        strobes: assert (got_strb == in_row);
        last:    assert (got_last == (8'(got_beat_q) == len_q));
        reached: cover (got_last && got_beat_q == 5'd3 && got_strb[0] && !got_strb[N-1] && base_q[0]);
      end
    end
  end

endmodule

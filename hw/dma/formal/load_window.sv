// SPDX-License-Identifier: Apache-2.0
//
// weft_dma_load with any commands, windows that change at any time, any bus and any
// scratchpad. path is the burst that stands in front of the address channel.
module load_window (
  input logic          clk_i,
  input logic          rst_ni,
  input logic          cmd_valid_i,
  input weft_cmd_pkg::move_t cmd_i,
  input logic          abort_i,
  input logic          ar_ready_i,
  input logic          r_valid_i,
  input logic          ldw_gnt_i,
  input weft_cfg_pkg::mem_beat_t r_i,
  input weft_cfg_pkg::windows_t        win_i
);

  localparam int unsigned Log2N     = weft_cfg_pkg::LOG2_N;
  localparam int unsigned BytesBits = Log2N + 5;

  logic started_q;
  initial started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  logic cmd_ready, ar_valid;
  weft_cfg_pkg::mem_burst_t ar;

  weft_dma_load u_dut (
    .clk_i, .rst_ni, .need_o(), .cmd_valid_i, .cmd_ready_o(cmd_ready), .cmd_i, .state_o(), .abort_i, .win_i, .ar_valid_o(ar_valid), .ar_ready_i,
    .ar_o(ar), .r_valid_i, .r_ready_o(), .r_i, .ldw_o(), .ldw_gnt_i, .bytes_o()
  );

  logic                 row_valid, row_ready, part_valid, part_fault, part_emit, burst_valid;
  logic                 row_ok;
  weft_cfg_pkg::sp_addr_t row_bytes, part_left;
  weft_cfg_pkg::mem_addr_t row_base, part_addr, base;
  weft_cfg_pkg::dma_burst_t burst;
  logic [31:0]          row_size, size;

  window_path #(
    .BytesBits(BytesBits)
  ) u_path (
    .clk_i, .check_i(started_q && rst_ni), .cmd_take_i(cmd_valid_i && cmd_ready), .cmd_window_i(cmd_i[weft_cmd_pkg::LOAD_WINDOW_LSB +: 3]),
    .win_base_i(win_i.base), .win_size_i(win_i.size), .win_ok_i(win_i.read), .row_valid_i(row_valid), .row_base_i(row_base),
    .row_size_i(row_size), .row_ok_i(row_ok), .row_bytes_i(row_bytes), .row_take_i(row_valid && row_ready), .part_valid_i(part_valid), .part_fault_i(part_fault), .part_addr_i(part_addr),
    .part_left_i(part_left), .part_emit_i(part_emit), .burst_valid_i(burst_valid), .burst_fault_i(burst.fault),
    .burst_addr_i(burst.addr), .burst_bytes_i(burst.bytes), .burst_len_i(burst.len), .base_o(base), .size_o(size)
  );

  // First and last byte of the row in the beats that are asked for.
  weft_cfg_pkg::mem_addr_t first_byte, final_byte;
  assign first_byte = burst.addr;
  assign final_byte = burst.addr + 40'(burst.bytes) - 40'd1;

  always_comb begin
    if (!started_q) reset: assume (!rst_ni);
    if (cmd_valid_i) begin
      command_checked: assume (cmd_i[weft_cmd_pkg::LOAD_ROW_BYTES_LSB +: 20] != '0 &&
                               cmd_i[weft_cmd_pkg::LOAD_N1_LSB +: 16] != '0 && cmd_i[weft_cmd_pkg::LOAD_N2_LSB +: 16] != '0 &&
                               cmd_i[weft_cmd_pkg::LOAD_N3_LSB +: 16] != '0);
    end
    if (started_q && rst_ni && ar_valid) begin
      first_beat: assert (ar.addr == (first_byte >> Log2N) << Log2N && first_byte - base < 40'(size));
      final_beat: assert (ar.addr + (40'(ar.len) << Log2N) == (final_byte >> Log2N) << Log2N);
      final_in: assert (final_byte - base < 40'(size));
      reached:    cover (ar.len == 8'd15 && first_byte != base);
    end
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Follows the window of a command through weft_dma_rows and weft_dma_split, and asserts
// what holds of rows and bursts on their way. row_*, part_* and burst_* are what the block
// under proof has in weft_dma_rows, in weft_dma_split and at its output.
module window_path #(
  parameter int unsigned BytesBits = 8
) (
  input  logic                                  clk_i,
  input  logic                                  check_i,       // reset has been
  input  logic                                  cmd_take_i,
  input  logic [2:0]                            cmd_window_i,
  input  logic [weft_cfg_pkg::N_WINDOWS*40-1:0] win_base_i,
  input  logic [weft_cfg_pkg::N_WINDOWS*32-1:0] win_size_i,
  input  logic [weft_cfg_pkg::N_WINDOWS-1:0]    win_ok_i,

  input  logic                 row_valid_i,
  input  weft_cfg_pkg::mem_addr_t row_base_i,
  input  logic [31:0]          row_size_i,
  input  logic                 row_ok_i,
  input  weft_cfg_pkg::sp_addr_t row_bytes_i,
  input  logic                 row_take_i,   // a row goes on to weft_dma_split
  input  logic                 part_valid_i,
  input  logic                 part_fault_i,
  input  weft_cfg_pkg::mem_addr_t part_addr_i,
  input  weft_cfg_pkg::sp_addr_t part_left_i,
  input  logic                 part_emit_i,  // its next burst goes to the output
  input  logic                 burst_valid_i,
  input  logic                 burst_fault_i,
  input  weft_cfg_pkg::mem_addr_t burst_addr_i,
  input  logic [BytesBits-1:0] burst_bytes_i,
  input  logic [7:0]           burst_len_i,

  output weft_cfg_pkg::mem_addr_t base_o,       // of the burst's command
  output logic [31:0]          size_o
);

  weft_cfg_pkg::mem_addr_t base_q, part_base_q, burst_base_q;
  logic [31:0] size_q, part_size_q, burst_size_q;
  logic        ok_q, part_ok_q, burst_ok_q;
  assign base_o = burst_base_q;
  assign size_o = burst_size_q;

  always_ff @(posedge clk_i) begin
    if (cmd_take_i) begin
      base_q <= win_base_i[40*cmd_window_i +: 40];
      size_q <= win_size_i[32*cmd_window_i +: 32];
      ok_q   <= win_ok_i[cmd_window_i];
    end
    if (row_take_i) begin
      part_base_q <= base_q;
      part_size_q <= size_q;
      part_ok_q   <= ok_q;
    end
    if (part_emit_i) begin
      burst_base_q <= part_base_q;
      burst_size_q <= part_size_q;
      burst_ok_q   <= part_ok_q;
    end
  end

  // Bytes between the window's begin and the end of what is left. 41 bits hold all.
  weft_cfg_pkg::mem_addr_t part_off, burst_off;
  weft_cfg_pkg::mem_addr_t final_byte;
  assign part_off   = part_addr_i - part_base_q;
  assign burst_off  = burst_addr_i - burst_base_q;
  assign final_byte = burst_addr_i + 40'(burst_bytes_i) - 40'd1;

  always_comb begin
    if (check_i && row_valid_i) begin
      row_not_empty: assert (row_bytes_i != '0);
      row_window: assert (row_base_i == base_q && row_size_i == size_q && row_ok_i == ok_q);
    end
    if (check_i && part_valid_i && !part_fault_i) begin
      part_inside: assert (part_ok_q && part_left_i != '0 &&
                           {1'b0, part_off} + 41'(part_left_i) <= {9'd0, part_size_q});
    end
    if (check_i && burst_valid_i && !burst_fault_i) begin
      burst_inside: assert (burst_ok_q && burst_bytes_i != '0 &&
                            {1'b0, burst_off} + 41'(burst_bytes_i) <= {9'd0, burst_size_q});
      // Its beats are those from that of its first byte to that of its last, in one page.
      burst_beats: assert (burst_len_i < 8'd16 && 40'(burst_len_i) == (final_byte >> weft_cfg_pkg::LOG2_N) -
                           (burst_addr_i >> weft_cfg_pkg::LOG2_N));
      burst_page: assert (final_byte[39:12] == burst_addr_i[39:12]);
    end
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Cuts rows into bus bursts of at most 16 beats.
//
// Cuts lie at multiples of 16 beats of the bus address; 16 beats divide 4 KiB,
// so no burst crosses one. One burst a cycle, also from row to row; the first
// two cycles after its row. burst_* stand until burst_ready_i. A faulty row
// becomes one burst with burst_fault_o, for order only. Of int4, a byte in memory
// is two in the scratchpad; in a burst with burst_odd_o the last one is one.
module weft_dma_split (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic clear_i,

  input  logic                    row_valid_i,
  output logic                    row_ready_o,
  input  weft_cfg_pkg::mem_addr_t row_addr_i,
  input  weft_cfg_pkg::sp_addr_t  row_sp_i,
  input  weft_cfg_pkg::sp_addr_t  row_bytes_i,
  input  logic                    row_int4_i,
  input  logic                    row_odd_i,
  input  logic                    row_last_i,
  input  logic                    row_fault_i,
  input  logic [7:0]              row_code_i,
  input  logic [31:0]             row_info_i,

  output logic                            burst_valid_o,
  input  logic                            burst_ready_i,
  output weft_cfg_pkg::mem_addr_t         burst_addr_o,   // first byte, not aligned
  output logic [7:0]                      burst_len_o,    // beats - 1
  output logic [weft_cfg_pkg::LOG2_N+4:0] burst_bytes_o,  // 1..16N
  output weft_cfg_pkg::sp_addr_t          burst_sp_o,
  output logic                            burst_int4_o,
  output logic                            burst_odd_o,
  output logic                            burst_last_o,   // of its command
  output logic                            burst_fault_o,

  output logic [7:0]                      fault_code_o,   // of the burst with burst_fault_o, and after it
  output logic [31:0]                     fault_info_o,

  output logic                            busy_o
);

  localparam int unsigned AddrW = weft_cfg_pkg::SP_ADDR_BITS;
  localparam int unsigned MemW = weft_cfg_pkg::DRAM_ADDR_BITS;

  localparam int unsigned Log2N     = weft_cfg_pkg::LOG2_N;
  localparam int unsigned Log2Burst = Log2N + 4;

  logic                    row_valid_q, row_last_q, row_fault_q, row_int4_q, row_odd_q;
  weft_cfg_pkg::mem_addr_t row_addr_q;
  weft_cfg_pkg::sp_addr_t  row_sp_q, row_left_q;

  logic [Log2Burst:0] room, bytes;
  logic               final_burst, emit;
  assign room        = {1'b1, Log2Burst'(0)} - {1'b0, row_addr_q[Log2Burst-1:0]};
  assign final_burst = row_fault_q || row_left_q <= AddrW'(room);
  assign bytes       = final_burst ? row_left_q[Log2Burst:0] : room;
  assign emit        = row_valid_q && (!burst_valid_o || burst_ready_i);
  assign row_ready_o = !row_valid_q || (emit && final_burst);

  // Bytes before and in the burst, counted from its first beat.
  logic [Log2Burst:0] span;
  assign span = {(Log2Burst+1-Log2N)'(0), row_addr_q[Log2N-1:0]} + bytes - 1'b1;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      row_valid_q   <= 1'b0;
      burst_valid_o <= 1'b0;
    end else if (clear_i) begin
      row_valid_q   <= 1'b0;
      burst_valid_o <= 1'b0;
    end else begin
      if (row_ready_o) row_valid_q <= row_valid_i;
      if (!burst_valid_o || burst_ready_i) burst_valid_o <= row_valid_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (row_ready_o && row_valid_i) begin
      row_addr_q  <= row_addr_i;
      row_sp_q    <= row_sp_i;
      row_left_q  <= row_bytes_i;
      row_last_q  <= row_last_i;
      row_int4_q  <= row_int4_i;
      row_odd_q   <= row_odd_i;
      row_fault_q <= row_fault_i;
      if (row_fault_i) begin
        fault_code_o <= row_code_i;
        fault_info_o <= row_info_i;
      end
    end else if (emit) begin
      row_addr_q <= row_addr_q + MemW'(room);
      row_sp_q   <= row_sp_q + (row_int4_q ? AddrW'(room) << 1 : AddrW'(room));
      row_left_q <= row_left_q - AddrW'(room);
    end
    if (emit) begin
      burst_addr_o  <= row_addr_q;
      burst_len_o   <= 8'(span >> Log2N);
      burst_bytes_o <= bytes;
      burst_sp_o    <= row_sp_q;
      burst_int4_o  <= row_int4_q;
      burst_odd_o   <= final_burst && row_odd_q;
      burst_last_o  <= final_burst && row_last_q;
      burst_fault_o <= row_fault_q;
    end
  end

  assign busy_o = row_valid_q || burst_valid_o;

`ifdef WEFT_ASSERT
  always_ff @(posedge clk_i) begin
    if (rst_ni && burst_valid_o && !burst_fault_o) begin
      assert (burst_bytes_o != '0 && burst_len_o < 8'd16);
      assert (13'(burst_addr_o[11:0]) + 13'(burst_bytes_o) <= 13'd4096);
    end
  end
`endif

endmodule

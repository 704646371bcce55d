// SPDX-License-Identifier: Apache-2.0
//
// Cuts rows into bus bursts of at most 16 beats.
//
// Cuts lie at multiples of 16 beats of the bus address; 16 beats divide 4 KiB,
// so no burst crosses one. One burst a cycle, also from row to row; the first
// two cycles after its row. burst_o stands until burst_ready_i. A faulty row
// becomes one burst with burst_o.fault, for order only. Of int4, a byte in memory
// is two in the scratchpad; in a burst with burst_o.odd the last one is one.
module weft_dma_split (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic clear_i,

  input  logic                   row_valid_i,
  output logic                   row_ready_o,
  input  weft_cfg_pkg::dma_row_t row_i,

  output logic                     burst_valid_o,
  input  logic                     burst_ready_i,
  output weft_cfg_pkg::dma_burst_t burst_o,

  output logic [7:0]  fault_code_o,   // of the burst with burst_o.fault, and after it
  output logic [31:0] fault_info_o,

  output logic        busy_o
);

  localparam int unsigned AddrW = weft_cfg_pkg::SP_ADDR_BITS;
  localparam int unsigned MemW = weft_cfg_pkg::DRAM_ADDR_BITS;

  localparam int unsigned Log2N     = weft_cfg_pkg::LOG2_N;
  localparam int unsigned Log2Burst = Log2N + 4;

  logic                    row_valid_q, row_last_q, row_fault_q, row_int4_q, row_odd_q, row_coded_q;
  logic [AddrW-Log2N-1:0]  row_words_q;
  logic [7:0]              row_centre_q;
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
      row_addr_q  <= row_i.addr;
      row_sp_q    <= row_i.sp;
      row_left_q  <= row_i.bytes;
      row_last_q  <= row_i.last;
      row_int4_q  <= row_i.int4;
      row_odd_q   <= row_i.odd;
      row_coded_q <= row_i.coded;
      row_words_q <= row_i.words;
      row_centre_q <= row_i.centre;
      row_fault_q <= row_i.fault;
      if (row_i.fault) begin
        fault_code_o <= row_i.code;
        fault_info_o <= row_i.info;
      end
    end else if (emit) begin
      row_addr_q <= row_addr_q + MemW'(room);
      row_sp_q   <= row_sp_q + (row_int4_q ? AddrW'(room) << 1 : AddrW'(room));
      row_left_q <= row_left_q - AddrW'(room);
    end
    if (emit) begin
      burst_o.addr  <= row_addr_q;
      burst_o.len   <= 8'(12'(span) >> Log2N);
      burst_o.bytes <= bytes;
      burst_o.sp    <= row_sp_q;
      burst_o.int4  <= row_int4_q;
      burst_o.odd   <= final_burst && row_odd_q;
      burst_o.coded <= row_coded_q;
      burst_o.words <= row_words_q;
      burst_o.centre <= row_centre_q;
      burst_o.last  <= final_burst && row_last_q;
      burst_o.fault <= row_fault_q;
    end
  end

  assign busy_o = row_valid_q || burst_valid_o;

`ifdef WEFT_ASSERT
  logic                     held_q;
  weft_cfg_pkg::dma_burst_t old_q;
  always_ff @(posedge clk_i) begin
    held_q <= rst_ni && !clear_i && burst_valid_o && !burst_ready_i;
    old_q  <= burst_o;
    if (rst_ni && held_q) assert (burst_valid_o && burst_o == old_q);
    if (rst_ni && burst_valid_o && !burst_o.fault) begin
      assert (burst_o.bytes != '0 && burst_o.len < 8'd16);
      assert (13'(burst_o.addr[11:0]) + 13'(burst_o.bytes) <= 13'd4096);
    end
  end
`endif

endmodule

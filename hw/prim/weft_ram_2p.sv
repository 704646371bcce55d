// SPDX-License-Identifier: Apache-2.0
//
// Two-port RAM of 32-bit words: port A reads, port B reads or writes bytes.
//
// Read data comes in the cycle after the enable and stays until the next read
// of that port. A read of A in the cycle in which B writes the same word gets
// either of the two (in simulation the old one). File: initial contents ($readmemh), "" for none.
module weft_ram_2p #(
  parameter int unsigned Depth = 1024,  // words, a power of two
  parameter              File  = ""
) (
  input  logic clk_i,

  input  logic                     a_en_i,
  input  logic [$clog2(Depth)-1:0] a_addr_i,
  output logic [31:0]              a_rdata_o,

  input  logic                     b_en_i,
  input  logic [$clog2(Depth)-1:0] b_addr_i,
  input  logic                     b_write_i,
  input  logic [3:0]               b_mask_i,
  input  logic [31:0]              b_wdata_i,
  output logic [31:0]              b_rdata_o
);

  // What block RAM of FPGAs leaves open is left open here too.
  (* no_rw_check *)
  logic [31:0] mem [Depth] /*verilator public_flat_rw*/;

  if (File != "") begin : g_file
    initial $readmemh(File, mem);
  end

  // One process owns the storage: blocking writes behind the reads cost the
  // simulator least (see weft_ram).
  /* verilator lint_off BLKSEQ */
  always @(posedge clk_i) begin
    if (a_en_i) a_rdata_o <= mem[a_addr_i];
    if (b_en_i) begin
      if (!b_write_i) b_rdata_o <= mem[b_addr_i];
      else begin
        for (int unsigned i = 0; i < 4; i++) begin
          if (b_mask_i[i]) mem[b_addr_i][8*i+:8] = b_wdata_i[8*i+:8];
        end
      end
    end
  end
  /* verilator lint_on BLKSEQ */

`ifdef WEFT_ASSERT
  // What was read stays until the next read.
  logic        a_read_q, b_read_q, a_known_q, b_known_q;
  logic [31:0] a_old_q, b_old_q;
  initial {a_known_q, b_known_q} = '0;
  always_ff @(posedge clk_i) begin
    a_read_q <= a_en_i;
    b_read_q <= b_en_i && !b_write_i;
    a_old_q  <= a_rdata_o;
    b_old_q  <= b_rdata_o;
    if (a_read_q) a_known_q <= 1'b1;
    if (b_read_q) b_known_q <= 1'b1;
    assert (a_read_q || !a_known_q || a_rdata_o == a_old_q);
    assert (b_read_q || !b_known_q || b_rdata_o == b_old_q);
    assert ((Depth & (Depth - 1)) == 0);
  end
`endif

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Single-port RAM with byte write enables: one read or one write a cycle.
//
// With en_i and write_i low, rdata_o holds the addressed word in the next cycle
// and keeps it until the next read. A write takes mask and data of source
// src_i and leaves rdata_o alone. Contents are undefined until written.
//
// The storage is owned by one process, with blocking writes behind the read:
// byte enables of a non-blocking memory cost Verilator a flag per byte and
// cycle. For the same reason the choice between the two sources is made here:
// an idle bank costs one test of en_i.
module weft_ram #(
  parameter int unsigned Bytes = 16,   // of a word
  parameter int unsigned Depth = 1024  // words, a power of two
) (
  input  logic clk_i,

  input  logic                     en_i,
  input  logic [$clog2(Depth)-1:0] addr_i,
  input  logic                     write_i,
  input  logic                     src_i,
  input  logic [Bytes-1:0]         wmask0_i,
  input  logic [8*Bytes-1:0]       wdata0_i,
  input  logic [Bytes-1:0]         wmask1_i,
  input  logic [8*Bytes-1:0]       wdata1_i,
  output logic [8*Bytes-1:0]       rdata_o
);

  logic [8*Bytes-1:0] mem [Depth] /*verilator public_flat_rw*/;

  logic [Bytes-1:0]   mask;
  logic [8*Bytes-1:0] data;

  /* verilator lint_off BLKSEQ */  // see above
  always @(posedge clk_i) begin
    if (en_i) begin
      if (!write_i) rdata_o <= mem[addr_i];
      else begin
        mask = src_i ? wmask1_i : wmask0_i;
        data = src_i ? wdata1_i : wdata0_i;
        for (int unsigned i = 0; i < Bytes; i++) begin
          if (mask[i]) mem[addr_i][8*i+:8] = data[8*i+:8];
        end
      end
    end
  end
  /* verilator lint_on BLKSEQ */

`ifdef WEFT_ASSERT
  // Every word has an address and no address is without a word.
  always_ff @(posedge clk_i) begin
    if (en_i) assert (32'(addr_i) < Depth && (Depth & (Depth - 1)) == 0);
  end
`endif

endmodule

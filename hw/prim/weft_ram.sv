// SPDX-License-Identifier: Apache-2.0
//
// RAM with byte write enables: one read or one write a cycle; with Beside a write of the
// second source as well, at another address.
//
// With en_i and write_i low, rdata_o holds the addressed word in the next cycle
// and keeps it until the next read. A write leaves rdata_o alone. A second source
// writes with addresses of its own: block RAM has two ports, so that neither
// addresses nor data are selected in front of it. Without Beside it goes before the first,
// which must be silent then. Contents are undefined until written.
//
// The storage is owned by one process, with blocking writes behind the read:
// byte enables of a non-blocking memory cost Verilator a flag per byte and
// cycle.
module weft_ram #(
  parameter int unsigned Bytes = 16,   // of a word
  parameter int unsigned Depth = 1024, // words, a power of two
  parameter int unsigned Lane  = 8,    // bits of a byte: 8, or the number of its check bits
  parameter bit          Beside = 1'b0 // both sources may be served in one cycle
) (
  input  logic clk_i,

  input  logic                     en_i,
  input  logic [$clog2(Depth)-1:0] addr_i,
  input  logic                     write_i,
  input  logic [Bytes-1:0]         mask_i,
  input  logic [Lane*Bytes-1:0]    wdata_i,
  output logic [Lane*Bytes-1:0]    rdata_o,

  input  logic                     b_write_i,
  input  logic [$clog2(Depth)-1:0] b_addr_i,
  input  logic [Bytes-1:0]         b_mask_i,
  input  logic [Lane*Bytes-1:0]    b_wdata_i
);

  // Both ports are never used in the same cycle for the same word.
  logic aside;   // the first source has to be silent
  assign aside = b_write_i && !Beside;

  (* no_rw_check *)
  logic [Lane*Bytes-1:0] mem [Depth] /*verilator public_flat_rw*/;

  /* verilator lint_off BLKSEQ */  // see above
  always @(posedge clk_i) begin
    if (en_i && !write_i && !aside) rdata_o <= mem[addr_i];
    // One statement writes for both: of a second one Yosys would make registers.
    for (int unsigned p = 0; p < 2; p++) begin
      if (p == 0 ? b_write_i : en_i && write_i && !aside) begin
        for (int unsigned i = 0; i < Bytes; i++) begin
          if (p == 0 ? b_mask_i[i] : mask_i[i]) begin
            mem[p == 0 ? b_addr_i : addr_i][Lane*i+:Lane] = p == 0 ? b_wdata_i[Lane*i+:Lane] : wdata_i[Lane*i+:Lane];
          end
        end
      end
    end
  end
  /* verilator lint_on BLKSEQ */

`ifdef WEFT_ASSERT
  // Every word has an address and no address is without a word.
  always_ff @(posedge clk_i) begin
    if (en_i) assert (32'(addr_i) < Depth && (Depth & (Depth - 1)) == 0);
    assert (!(en_i && b_write_i && (!Beside || addr_i == b_addr_i)));
  end
`endif

endmodule
